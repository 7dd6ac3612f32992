"""Cell hashes: 64 bits a value, equal for equal values of any dtype.

Numbers are hashed as floats, times as microseconds, all else as text. The cells of a frame and
those of the Arrow table that it was made of have the same hashes.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd
    import pyarrow as pa

    Array = Any
    """An array of pandas; there is no public type for all that its arrays can do."""
    Hashes = npt.NDArray[np.uint64]

_MISSING = 0x9E3779B97F4A7C15

_LARGE = 10_000
"""From this many texts on, hashes are kept as long as the Arrow array they are of."""

_kept: dict[int, tuple[weakref.ref[Any], Hashes]] = {}
"""By the identity of an Arrow array, which never changes: a weak reference to it, its hashes."""


def hash_cells(values: Array) -> Hashes:
    """Hash each value: equal values of any dtype hash alike, and so do all missing ones."""
    import numpy as np
    import pandas as pd

    if isinstance(values.dtype, pd.CategoricalDtype):
        levels: Hashes = np.append(hash_cells(values.categories.array), np.uint64(_MISSING))
        of_codes: Hashes = levels[values.codes]
        return of_codes
    if len(values) >= _LARGE and isinstance(values.dtype, (pd.StringDtype, pd.ArrowDtype)):
        return _hash_chunks(values)
    return _hash_array(values)


def _hash_chunks(values: Array) -> Hashes:
    """Hash a large Arrow-backed column and cache the result; repeated texts are hashed once."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    chunks = values.__arrow_array__()
    if not isinstance(chunks, pa.ChunkedArray):
        return _hash_array(values)
    number = id(chunks)
    reference, found = _kept.get(number, (None, None))
    if reference is not None and found is not None and reference() is chunks:
        return found
    first = chunks.slice(0, 1_000)
    if pa.types.is_large_string(chunks.type) or pa.types.is_string(chunks.type):
        few = pc.count_distinct(first).as_py() < len(first) // 5
    else:
        few = False
    if few:
        encoded = chunks.combine_chunks().dictionary_encode()
        texts = encoded.dictionary.to_numpy(zero_copy_only=False)
        levels = np.append(_hashed(texts), np.uint64(_MISSING))
        codes = encoded.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False)
        found = levels[codes]
    else:
        found = _hash_array(values)
    found.setflags(write=False)
    _kept[number] = weakref.ref(chunks, lambda _: _kept.pop(number, None)), found
    return found


def _hash_array(values: Array) -> Hashes:
    import numpy as np
    import pandas as pd

    missing = values.isna()
    if isinstance(values, pd.arrays.NumpyExtensionArray) and values.dtype.kind == "O":
        found: Hashes = np.full(len(values), _MISSING, dtype=np.uint64)
        inside = pd.Series(values[~missing])
        found[~missing] = _hash_objects(inside)
        return found
    found = _hashed(_plain(values))
    found[missing] = _MISSING
    return found


def _hash_objects(values: pd.Series) -> Hashes:
    """Hash objects; of many tuples of text each distinct one once."""
    import pandas as pd

    if len(values) >= _LARGE and {*map(type, values)} == {tuple}:
        codes, tuples = pd.factorize(values)
        # Equal tuples of other things need not have the same text: 1 and True.
        if all(isinstance(part, str) for each in tuples for part in each):
            hashes: Hashes = _hashed(_plain(pd.Series(tuples, dtype=object).array))[codes]
            return hashes
    return _hashed(_plain(values.infer_objects().array))


def arrow_array(column: pa.ChunkedArray) -> Array:
    """An Arrow column as an array of pandas, with days as moments and levels as their values."""
    import pandas as pd
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
    elif pa.types.is_date(kind):
        column = column.cast(pa.timestamp("us"))
    return pd.arrays.ArrowExtensionArray(column)


def _hashed(plain: Any) -> Hashes:
    import pandas as pd

    return pd.util.hash_array(plain, categorize=False)


def _plain(values: Array) -> Any:
    """Convert numbers to floats, times to microseconds, all else to text."""
    import numpy as np
    import pandas as pd

    kind = values.dtype.kind
    if kind in "biuf":
        return values.to_numpy("float64", na_value=np.nan) + 0.0
    if kind == "M":
        if isinstance(values.dtype, pd.ArrowDtype):
            return _microseconds(values.__arrow_array__())
        return values.to_numpy("datetime64[us]").astype("int64").astype("float64")
    is_arrow = isinstance(values.dtype, pd.ArrowDtype)
    if isinstance(values.dtype, pd.StringDtype) or (is_arrow and values.dtype.type is str):
        return values.to_numpy(object, na_value="")
    if is_arrow and _holds_text_lists(values.dtype.pyarrow_dtype):
        return _joined(values.__arrow_array__())
    return np.array([_text(value) for value in values.to_numpy(object)], dtype=object)


def _microseconds(moments: pa.ChunkedArray) -> Any:
    import pyarrow as pa

    zone = getattr(moments.type, "tz", None)  # a day has none
    numbers = moments.cast(pa.timestamp("us", zone)).cast(pa.int64()).fill_null(0)
    return numbers.to_numpy().astype("float64")


def _holds_text_lists(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_list(kind) and pa.types.is_string(kind.value_type))


def _joined(lists: pa.Array | pa.ChunkedArray) -> Any:
    """Join lists of text as `_text` does, without a Python object for each item."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(lists, pa.ChunkedArray):
        lists = lists.combine_chunks()
    if lists.flatten().null_count:
        return pa.array([_text(value) for value in lists.to_pylist()]).to_numpy(False)
    return pc.binary_join(lists, "\x1f").fill_null("").to_numpy(zero_copy_only=False)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        try:
            return "\x1f".join(value)
        except TypeError:
            pass  # not all of it is text
    import numpy as np

    if isinstance(value, (list, tuple, np.ndarray)):
        return "\x1f".join(map(_text, value))
    return str(value)
