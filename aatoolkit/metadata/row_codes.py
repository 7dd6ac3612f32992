"""Row numbers and small columns as short text, for recipes."""

from __future__ import annotations

import base64
import json
import re
import zlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

    Numbers = npt.NDArray[np.intp]

_RANGE = re.compile(r"(\d+):(\d+)")
_MOST_VALUES = 4000
_MOST_BYTES = 1 << 24
_LARGE = 1 << 14


def dump_rows(rows: Numbers) -> str:
    """Serialize row numbers, in their order and with repeats, to the shortest text.

    Examples
    --------
    >>> import numpy as np
    >>> dump_rows(np.array([2, 3, 4])), load_rows(dump_rows(np.array([5, 1, 1]))).tolist()
    ('2:5', [5, 1, 1])
    """
    import numpy as np

    if not len(rows):
        return "0:0"
    steps = np.diff(rows)
    if (steps == 1).all():
        return f"{rows[0]}:{rows[-1] + 1}"
    packed = {"d": _packed(np.diff(rows, prepend=0).astype("<i4").tobytes())}
    if (steps > 0).all():
        mask = np.zeros(int(rows[-1]) + 1, bool)
        mask[rows] = True
        packed["m"] = _packed(np.packbits(mask).tobytes())
    kind = min(packed, key=lambda each: len(packed[each]))
    return kind + base64.b85encode(packed[kind]).decode()


def load_rows(text: str) -> Numbers:
    """Parse row numbers.

    Raises
    ------
    ValueError
        If it is damaged.
    """
    import numpy as np

    span = _RANGE.fullmatch(text)
    if span:
        return np.arange(int(span[1]), int(span[2]))
    found = _unpacked(text[1:])
    if text[:1] == "m":
        return np.flatnonzero(np.unpackbits(np.frombuffer(found, np.uint8)))
    return np.cumsum(np.frombuffer(found, "<i4")).astype(np.intp)


def dump_values(values: pd.Series) -> list[Any] | None:
    """Serialize a column to its dtype and JSON values; None if it is long or would change.

    Examples
    --------
    >>> import pandas as pd
    >>> dump_values(pd.Series(["a", None], dtype="string"))
    ['string', ['a', None]]
    """
    if len(values) > _MOST_VALUES:
        return None
    missing = values.isna()
    cells = values.astype(object).where(~missing, None).tolist()
    cells = [
        cell if isinstance(cell, bool | int | float | str | None) else str(cell) for cell in cells
    ]
    body = [str(values.dtype), cells]
    try:
        back = load_values(json.loads(json.dumps(body)))
        is_same = back.dtype == values.dtype and back.equals(values.reset_index(drop=True))
    except (TypeError, ValueError):
        return None
    return body if is_same else None


def load_values(body: list[Any]) -> pd.Series:
    """Parse a column from its dtype and JSON values."""
    import pandas as pd

    kind, cells = body
    values: pd.Series = pd.Series(cells, dtype=kind)
    return values


def _packed(content: bytes) -> bytes:
    # What is large however hard it is compressed is left out of a recipe anyway.
    quick = zlib.compress(content, 1)
    return quick if len(quick) > _LARGE else zlib.compress(content, 9)


def _unpacked(text: str) -> bytes:
    stream = zlib.decompressobj()
    try:
        found = stream.decompress(base64.b85decode(text), _MOST_BYTES)
    except zlib.error:
        found = b""
    if not stream.eof:
        raise ValueError("row numbers are damaged")
    return found
