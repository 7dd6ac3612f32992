"""Fingerprints: cell hashes that detect whether a column was changed since it was read.

pandas keeps ``attrs`` through steps after which they no longer hold: sums by group, a column
that is assigned anew, two names that are swapped. So the metadata comes with hashes of cells: 64
bits a value, equal for equal values of any dtype (numbers are hashed as floats, times as
microseconds, all else as text). In memory those are all cells, four bytes each, computed when they
are first needed. The text of the metadata holds a sample of at most `SAMPLE_SIZE` rows, which is
what frames that went through a pickle are checked by: every row of a small frame, the first ones
and an even choice of a larger one.

`FingerprintCheck` matches a row by its label, or by its key once labels were made anew. A column is
accepted if the matched rows hold what they held, and if no row is a new one. Selecting, sorting,
repeating and dropping rows, dropping columns, moving the key into the index and converting to a
dtype of the same values all leave it accepted.

What cannot be detected: a change of rows outside the sample of a frame that went through a
pickle, and numbers alone that equal by chance, one by one, as many that were read. Rows without
their key might be sums; they are accepted only where sums cannot look like them.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd
    import pyarrow as pa

    Array = Any
    """An array of pandas; there is no public type for all that its arrays can do."""
    Hashes = npt.NDArray[np.uint64]
    Mask = npt.NDArray[np.bool_]
    Places = npt.NDArray[np.intp]

_MISSING = 0x9E3779B97F4A7C15

_MANY = 10_000
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
    if len(values) >= _MANY and isinstance(values.dtype, (pd.StringDtype, pd.ArrowDtype)):
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

    if len(values) >= _MANY and {*map(type, values)} == {tuple}:
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


SAMPLE_SIZE = 32
"""The most rows that are sampled: every day of a month."""

_ROW, _CELL = 0xFFFF_FFFF_0000, 0xFFFF
"""The bits of a hash that a sample keeps of rows, and those of cells."""

_WHOLE_ROW, _WHOLE_CELL = 0xFFFF_FFFF_FFFF_FFFF, 0xFFFF_FFFF
"""The same where every row is hashed: of a million rows, no two are to share a hash."""

OVERWRITTEN = "overwritten"
MOVED = "its rows are not those that were read; df.aa.aggregate, merge and concat keep its state"


@dataclass(frozen=True)
class Fingerprint:
    """Hashes of some rows of a frame.

    Parameters
    ----------
    rows : int
        The rows that the frame had.
    index : tuple of str or None
        The names of its index.
    span : tuple of int or None
        The smallest and the largest label, where labels were plain numbers.
    labels : tuple of int
        The hashes of the sampled rows' labels.
    keys : tuple of int
        The hashes of their keys; none where there is no key, or one that repeats.
    cells : mapping of str to tuple of int
        By column, how many values were missing, and the hash of each sampled cell.
    beside : tuple of str
        The columns that count as part of the labels, where labels repeat.
    is_sample : bool
        Whether it is of some rows, in short.
    """

    rows: int = 0
    index: tuple[str | None, ...] = (None,)
    span: tuple[int, int] | None = None
    labels: Sequence[int] | Hashes = ()
    keys: Sequence[int] | Hashes = ()
    cells: Mapping[str, tuple[int, Sequence[int] | npt.NDArray[Any]]] = field(default_factory=dict)
    beside: tuple[str, ...] = ()
    is_sample: bool = True

    @property
    def bits(self) -> int:
        """The bits of a cell's hash that are kept."""
        return _CELL if self.is_sample else _WHOLE_CELL

    @property
    def row_bits(self) -> int:
        """The bits of a row's hash that are kept."""
        return _ROW if self.is_sample else _WHOLE_ROW

    @cached_property
    def whole(self) -> bool:
        """Whether every row is in the sample."""
        return all(len(hashes) == self.rows for _, hashes in self.cells.values())

    def rows_of(self, names: Iterable[str]) -> list[Hashes]:
        """The hashes of all rows' cells in some columns, a column each."""
        import numpy as np

        return [np.asarray(self.cells[name][1], dtype=np.uint64) for name in names]

    @cached_property
    def by_label(self) -> HashedRows:
        """The rows by the hashes of their labels."""
        return HashedRows(self.labels)

    @cached_property
    def by_key(self) -> HashedRows:
        """The rows by the hashes of their keys."""
        return HashedRows(self.keys)


class HashedRows:
    """The hashes of rows that were read, to find rows of a frame among them."""

    def __init__(self, hashes: Sequence[int] | Hashes) -> None:
        import numpy as np

        self.hashes: Hashes = np.asarray(hashes, dtype=np.uint64)

    @cached_property
    def _order(self) -> npt.NDArray[np.uint32]:
        import numpy as np

        return np.argsort(self.hashes, kind="stable").astype(np.uint32)

    @cached_property
    def distinct(self) -> bool:
        """Whether no two rows have the same hash."""
        import numpy as np

        rising = np.sort(self.hashes)
        return bool((rising[1:] != rising[:-1]).all())

    def places(self, hashes: Hashes, near: Places | None = None) -> Places:
        """For each hash, the number of a row that has it; -1 where there is none."""
        import numpy as np

        if np.array_equal(hashes, self.hashes) and self.distinct:
            return np.arange(len(hashes))
        if near is not None and np.array_equal(self.hashes[near], hashes) and self.distinct:
            return near
        if not len(self.hashes):
            return np.full(len(hashes), -1)
        rising = self.hashes[self._order]
        at = np.minimum(np.searchsorted(rising, hashes), len(rising) - 1)
        return np.where(rising[at] == hashes, self._order[at].astype(np.intp), -1)


def fingerprint_of(
    rows: pd.DataFrame | pa.Table,
    names: Iterable[str],
    key: tuple[str, ...],
    *,
    sample: bool = False,
) -> Fingerprint:
    """Hash the rows of a frame, or of the Arrow table it was made of.

    Parameters
    ----------
    rows : pandas.DataFrame or pyarrow.Table
        The rows; those of a table are labelled by their numbers.
    names : iterable of str
        The columns, or levels of the index, to hash.
    key : tuple of str
        The columns that identify a row.
    sample : bool
        Whether to hash some rows, in short, and not all.
    """
    import numpy as np
    import pandas as pd

    index = rows.index if isinstance(rows, pd.DataFrame) else pd.RangeIndex(len(rows))
    arrays = arrays_of(rows)
    names = [name for name in names if name in arrays]
    taken = {name: arrays[name] for name in (*names, *key) if name in arrays}
    labels = index
    if sample:
        at = np.array(_sampled(len(rows)), np.intp)
        taken, labels = {name: array.take(at) for name, array in taken.items()}, index[at]
    hashed = {name: hash_cells(array) for name, array in taken.items()}
    bits, row_bits = (_CELL, _ROW) if sample else (_WHOLE_CELL, _WHOLE_ROW)
    beside = []
    if not (sample or index.is_unique):
        beside = [name for name in names if arrays[name].dtype.kind not in "biuf"]
    of_labels = [hash_cells(level) for level in index_levels(labels)]
    keys: Sequence[int] | Hashes = ()
    if key and {*key} <= {*hashed}:
        keys = row_hashes([hashed[name] for name in key], row_bits)
    return Fingerprint(
        len(rows),
        index_names(index),
        label_span(index),
        row_hashes([*of_labels, *(hashed[name] for name in beside)], row_bits),
        keys if HashedRows(keys).distinct else (),
        {
            name: (int(arrays[name].isna().sum()), (hashed[name] & np.uint64(bits)).astype("u4"))
            for name in names
        },
        tuple(beside),
        sample,
    )


@lru_cache(maxsize=1024)
def row_numbers(rows: int) -> Hashes:
    """The hashes of sampled labels where these are the numbers of rows, as in a new frame."""
    import numpy as np
    import pandas as pd

    numbers = pd.array(np.array(_sampled(rows), dtype=np.int64))
    return row_hashes([hash_cells(numbers)])


def arrays_of(rows: pd.DataFrame | pa.Table) -> dict[str, Array]:
    """The values of every column and index level whose name is unique."""
    import pandas as pd

    if not isinstance(rows, pd.DataFrame):
        return dict(zip(rows.column_names, map(arrow_array, rows.columns), strict=True))
    names = [str(name) for name in rows.columns]
    twice = {name for name, count in Counter(names).items() if count > 1}
    arrays = {
        str(name): rows.index.get_level_values(level).array
        for level, name in enumerate(rows.index.names)
        if name is not None
    }
    arrays |= {name: column.array for name, (_, column) in zip(names, rows.items(), strict=True)}
    return {name: array for name, array in arrays.items() if name not in twice}


def _sampled(rows: int) -> list[int]:
    """The positions of the rows to sample: all, or the first ones and evenly spaced others."""
    if rows <= SAMPLE_SIZE:
        return [*range(rows)]
    first = SAMPLE_SIZE // 2
    step = rows - 1 - first
    return [*range(first), *(first + step * n // (first - 1) for n in range(first))]


def index_names(index: pd.Index) -> tuple[str | None, ...]:
    """The names of the levels of an index."""
    return tuple(None if name is None else str(name) for name in index.names)


def index_levels(index: pd.Index) -> list[Array]:
    """The values of each level of an index."""
    return [index.get_level_values(level).array for level in range(index.nlevels)]


def label_span(index: pd.Index) -> tuple[int, int] | None:
    """The smallest and the largest label, if labels are plain numbers, as in a new frame."""
    if index.nlevels > 1 or index.name is not None or index.dtype.kind not in "iu" or index.empty:
        return None
    return int(index.min()), int(index.max())


def row_hashes(parts: list[Hashes], bits: int = _ROW) -> Hashes:
    """Combine hashes of columns to one per row; low bits stay free for a cell's in a sample."""
    import numpy as np

    total = np.zeros(len(parts[0]), dtype=np.uint64)
    for part in parts:
        total = total * np.uint64(1_000_003) + part
    return total & np.uint64(bits)


def has_more(rows: list[Hashes], read: Iterable[list[Hashes]]) -> bool:
    """Whether some rows hold one row more often than any of several others does.

    Parameters
    ----------
    rows : list of array
        By column the hashes of the rows' cells.
    read : iterable of list of array
        The same columns of the others.
    """
    import numpy as np
    import pandas as pd

    def counts(columns: list[Hashes]) -> pd.Series:
        hashes = row_hashes([column & np.uint64(_WHOLE_CELL) for column in columns], _WHOLE_ROW)
        return pd.Index(hashes).value_counts()

    now, most = counts(rows), pd.concat([*map(counts, read)]).groupby(level=0).max()
    return bool((now > most.reindex(now.index, fill_value=0)).any())


def is_over(rows: list[Hashes], known: Fingerprint, names: Sequence[str]) -> bool:
    """Whether rows hold one that was read more often than different rows of what is left of it.

    Parameters
    ----------
    rows : list of array
        By column the hashes of the rows' cells.
    known : Fingerprint
        The rows that were read.
    names : sequence of str
        The columns of these hashes.
    """
    import numpy as np
    import pandas as pd

    def hashed(columns: list[Hashes]) -> Hashes:
        return row_hashes([column & np.uint64(known.bits) for column in columns], _WHOLE_ROW)

    _, different = np.unique(hashed(known.rows_of(known.cells)), return_index=True)
    read = pd.Index(hashed([column[different] for column in known.rows_of(names)])).value_counts()
    now = pd.Index(hashed(rows)).value_counts().reindex(read.index, fill_value=0)
    return bool((now > read).any())


def mixed(rows: Hashes, cells: Hashes) -> Hashes:
    """Combine the hashes of rows with those of their cells."""
    import numpy as np

    return (rows ^ (rows >> np.uint64(29))) * np.uint64(0x9E37_79B9_7F4A_7C15) + cells


@dataclass(frozen=True)
class RowMatch:
    """A match between the rows of a frame and the rows that were hashed.

    Parameters
    ----------
    hashes : array of uint64
        The hashes of the frame's rows.
    known : HashedRows
        The rows that were read.
    places : array of intp
        The number of the row that each is; -1 where it is none of them.
    """

    hashes: Hashes
    known: HashedRows
    places: Places

    @cached_property
    def found(self) -> Mask:
        """Mask of the frame's rows that are among the hashed ones."""
        return self.places >= 0


class FingerprintCheck:
    """Check a frame against its fingerprint: which columns still hold what was read.

    Rows are matched by label or by key, whichever leaves the fewest columns changed: a column
    that was overwritten differs alone, and with new labels nearly all differ.
    """

    def __init__(self, frame: pd.DataFrame, fingerprint: Fingerprint, key: tuple[str, ...]) -> None:
        self._index = frame.index
        self._arrays = arrays_of(frame)
        self._fingerprint = fingerprint
        self._key = key
        self._hashed: dict[str, Hashes] = {}
        self._differing: dict[tuple[bool, str], bool] = {}

    @property
    def hashed(self) -> set[str]:
        """The columns whose cells were hashed."""
        return {*self._fingerprint.cells}

    def placed(self) -> tuple[Places, set[str]] | None:
        """Each row's position when it was hashed, and the unchanged columns; None if not sure.

        Rows found by their key are sure even where `change` is not: what they hold is compared
        with what they held.
        """
        import numpy as np

        known = self._fingerprint
        there = [name for name in known.cells if name in self._arrays]
        if len(self._index) == 0:
            return np.empty(0, np.intp), {*there}
        moved = any(why == MOVED for why in self._changes.values())
        best: tuple[Places, set[str]] | None = None
        for match in self._row_matches():
            by_key = match.known is known.by_key
            if not (known.whole and match.known.distinct and match.found.all()):
                continue
            if moved and not by_key:
                continue
            same = {name for name in there if not self._differs(name, match)}
            same |= {*self._key} if by_key else set()
            if best is None or len(same) > len(best[1]):
                best = match.places, same
            if len(same) == len(there):
                break
        if best is not None or known.whole or moved:
            return best
        is_numbered = known.span == (0, known.rows - 1) and _within(
            label_span(self._index), known.span
        )
        if not is_numbered or index_names(self._index) != known.index:
            return None
        same = {name for name in there if self.change(name) is None}
        return self._index.to_numpy().astype(np.intp), same

    def repeated(self, tables: Mapping[str, Sequence[str]]) -> set[str]:
        """The tables of which the frame holds a row more often than the rows that were hashed.

        Parameters
        ----------
        tables : mapping of str to sequence of str
            By table the columns of the frame that are its own.
        """
        import numpy as np

        if not tables or not len(self._index):
            return set()
        placed = self.placed()
        if placed is not None:
            return {*tables} if np.bincount(placed[0]).max() > 1 else set()
        if not self._fingerprint.whole:
            is_repeated = len(self._index) > self._fingerprint.rows or not self._index.is_unique
            return {*tables} if is_repeated else set()
        return {table for table, names in tables.items() if self._exceeds(names)}

    def exceeds_distinct(self, key: Collection[str]) -> bool:
        """Whether a row is here more often than different ones like it were read.

        Asked of what is left of rows that were read with their key, whether or not they match.
        """
        known = self._fingerprint
        if not known.whole or not {*key} <= {*known.cells}:
            return False
        left = [name for name in known.cells if name in self._arrays]
        if not left or not len(self._index):
            return False
        return is_over([self._hashes(name) for name in left], known, left)

    def _exceeds(self, names: Sequence[str]) -> bool:
        """Whether rows of some columns, as far as they are unchanged, are more than were hashed."""
        names = [name for name in names if self.change(name) is None]
        now = [self._hashes(name) for name in names]
        return bool(names) and has_more(now, [self._fingerprint.rows_of(names)])

    def _hashes(self, name: str) -> Hashes:
        """The hashes of a column's cells, computed once."""
        if name not in self._hashed:
            self._hashed[name] = hash_cells(self._arrays[name])
        return self._hashed[name]

    def is_empty(self, name: str) -> bool:
        """Whether a column, or level of the index, is there and holds no value."""
        values = self._arrays.get(name)
        return values is not None and bool(values.isna().all())

    def change(self, name: str) -> str | None:
        """Return the reason why a column is not accepted; None if it is."""
        return self._changes.get(name) if name in self._fingerprint.cells else MOVED

    @cached_property
    def _changes(self) -> Mapping[str, str]:
        cells = self._fingerprint.cells
        there = [name for name in cells if name in self._arrays]
        alike = dict.fromkeys({*cells}.difference(there), "not one column of this name")
        if len(self._index) == 0:
            return alike
        found: dict[str, str] | None = None
        for match in self._row_matches():
            changes = {name: OVERWRITTEN for name in there if self._differs(name, match)}
            changes |= self._possible_sums(match.found, changes)
            if found is None or len(changes) < len(found):
                found = changes
            if not found:
                break
        return alike | (dict.fromkeys(there, MOVED) if found is None else found)

    def _possible_sums(self, matched: Mask, changes: Mapping[str, str]) -> Mapping[str, str]:
        """The columns that may hold sums of rows which agree with the hashes only by chance.

        Sums have numbers as labels too. As many rows are accepted if text agrees, or all
        columns; fewer or more if both, in the columns of which no value was missing: a sum
        over missing values would else pass for what was read beside it.
        """
        cells = {
            name: cell for name, cell in self._fingerprint.cells.items() if name in self._arrays
        }
        agreeing = {*cells} - {*changes}
        if self._key and agreeing >= {*self._key}:
            return {}
        has_text = any(self._arrays[name].dtype.kind not in "biuf" for name in agreeing)
        if len(self._index) == self._fingerprint.rows:
            return {} if has_text or not changes else dict.fromkeys(cells, MOVED)
        if changes or not has_text or not matched.any():
            return dict.fromkeys(cells, MOVED)
        return {name: MOVED for name, (missing, _) in cells.items() if missing}

    def _differs(self, name: str, match: RowMatch) -> bool:
        """Whether a matched row holds something else, or other rows were filled or emptied."""
        place = match.known is self._fingerprint.by_key, name
        if place not in self._differing:
            self._differing[place] = self._is_differing(name, match)
        return self._differing[place]

    def _is_differing(self, name: str, match: RowMatch) -> bool:
        import numpy as np

        values, (missing, hashes) = self._arrays[name], self._fingerprint.cells[name]
        if not self._lacks_as_before(name, missing):
            return True
        known, found = np.asarray(hashes, dtype=np.uint64), match.found
        whole = self._fingerprint.whole or found.all()
        kept = self._hashes(name)[found] if whole else hash_cells(values[found])
        kept = kept & np.uint64(self._fingerprint.bits)
        if match.known.distinct:
            return not np.array_equal(known[match.places[found]], kept)
        read = mixed(match.known.hashes, known)
        return not np.isin(mixed(match.hashes[found], kept), read).all()

    def _lacks_as_before(self, name: str, missing: int) -> bool:
        """Whether the number of missing values fits rows that were only dropped or repeated."""
        if self._fingerprint.whole:
            return True
        now, before = len(self._index), self._fingerprint.rows
        lacking = int(self._arrays[name].isna().sum())
        if now == before:
            return lacking == missing
        if missing - lacking > before - now > 0 and self._index.is_unique:
            return False  # more were missing than rows are gone: some were filled
        return lacking * before <= missing * max(now, before)

    def _row_matches(self) -> Iterator[RowMatch]:
        """Yield the ways to match the frame's rows with hashed ones, without any new row."""
        if self._by_label is not None:
            yield self._by_label
        if self._by_key is not None:
            yield self._by_key

    @cached_property
    def _by_label(self) -> RowMatch | None:
        known = self._fingerprint
        beside = [name for name in known.beside if name in self._arrays]
        if index_names(self._index) != known.index or len(beside) < len(known.beside):
            return None
        labels = [hash_cells(level) for level in index_levels(self._index)]
        match = self._row_match([*labels, *map(self._hashes, beside)], known.by_label)
        if known.span is not None and not known.whole:
            return match if _within(label_span(self._index), known.span) else None
        return match if self._matches(match) else None

    @cached_property
    def _by_key(self) -> RowMatch | None:
        known = self._fingerprint
        if not len(known.keys) or not all(self._is_filled(name) for name in self._key):
            return None
        match = self._row_match([*map(self._hashes, self._key)], known.by_key)
        return match if self._matches(match) else None

    def _row_match(self, parts: list[Hashes], known: HashedRows) -> RowMatch:
        hashes = row_hashes(parts, self._fingerprint.row_bits)
        return RowMatch(hashes, known, known.places(hashes, self._numbers))

    @cached_property
    def _numbers(self) -> Places | None:
        """Labels that may be the numbers that all rows had: the first places to look at."""
        import numpy as np

        known = self._fingerprint
        if not (known.whole and known.span == (0, known.rows - 1)):
            return None
        is_within = _within(label_span(self._index), known.span)
        return self._index.to_numpy().astype(np.intp) if is_within else None

    def _matches(self, match: RowMatch) -> bool:
        """Whether rows match the sample: every row if all were sampled, else at least one."""
        return bool(match.found.all() if self._fingerprint.whole else match.found.any())

    def _is_filled(self, name: str) -> bool:
        """Whether a key column is there, with no more values missing than when it was read."""
        missing, _ = self._fingerprint.cells.get(name, (0, ()))
        return name in self._arrays and self._lacks_as_before(name, missing)


def _within(inner: tuple[int, int] | None, outer: tuple[int, int] | None) -> bool:
    return bool(inner and outer and outer[0] <= inner[0] and inner[1] <= outer[1])
