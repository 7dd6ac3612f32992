"""JSON values as typed Arrow arrays, exactly: what does not fit is named, never bent."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import date, datetime
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aatoolkit.jsontree.chunks import Piece, filled, joined, laid_out
from aatoolkit.jsontree.grouping import Places, Rows
from aatoolkit.jsontree.nodes import BOOLEAN, INTEGER, NUMBER, STRING, Place
from aatoolkit.jsontree.vectors import MISSING

ARROW: dict[str, pa.DataType] = {
    "string": pa.string(),
    "Int64": pa.int64(),
    "Float64": pa.float64(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "category": pa.dictionary(pa.int32(), pa.string()),
    "list<string>": pa.list_(pa.string()),
}
"""The Arrow type of each declared dtype."""

Array: TypeAlias = "pa.Array | pa.ChunkedArray"
"""A column in one piece or in several."""

_Read = tuple[Array, list[Rows]]
_Reader = Callable[[Place, int], _Read]

_EXACT = 2**53
_YEAR = r"(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])"
_DAY = rf"\A{_YEAR}-[0-9]{{2}}-[0-9]{{2}}\z"
_INSTANT = (
    rf"\A{_YEAR}-[0-9]{{2}}-[0-9]{{2}}"
    r"[T ](?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:[.][0-9]{1,6})?)?"
    r"(?:Z|[+-](?:[01][0-9]|2[0-3]):?[0-5][0-9])\z"
)


def typed(values: Sequence[Any], dtype: str) -> tuple[pa.Array, list[int]]:
    """An Arrow array of a declared dtype, and the rows whose value does not fit it.

    Nothing is converted that could be another thing: a boolean is no number, a number in
    quotes is text, an instant without a zone is no instant. Such a value is null in the
    array. Null and missing values are null and fit.

    Parameters
    ----------
    values : sequence
        JSON values, with `MISSING` where there is none.
    dtype : str
        A dtype of `ARROW`; a ``category`` comes back as plain text.

    Examples
    --------
    >>> array, odd = typed([1, None, "2", True], "Int64")
    >>> array.to_pylist(), odd
    ([1, None, None, None], [2, 3])
    """
    clean = [None if value is MISSING else value for value in values]
    try:
        array, odd = column(_grown(clean), dtype, len(clean))
    except UnicodeEncodeError:
        # Half a surrogate pair is no text; an object in its place fits no dtype either.
        array, odd = column(_grown([v if _is_unicode(v) else {} for v in clean]), dtype, len(clean))
    whole = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    return whole, odd.tolist()


def column(place: Place | None, dtype: str, size: int) -> tuple[Array, Places]:
    """The same of what stands at a place, in a table of so many rows; no loop over its rows."""
    if place is None or not place.rows:
        return pa.nulls(size, _plain(dtype)), np.empty(0, np.int64)
    read, takes = _READERS[dtype]
    array, odd = read(place, size)
    odd += _others(place, takes)
    return array, np.unique(joined(odd)) if odd else np.empty(0, np.int64)


def _grown(values: list[Any]) -> Place:
    place = Place()
    if values:
        place.grow(values, range(len(values)), 0)
    return place


def _is_unicode(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _plain(dtype: str) -> pa.DataType:
    return pa.string() if dtype == "category" else ARROW[dtype]


def _others(place: Place, takes: frozenset[str]) -> list[Rows]:
    """The rows of all values but null and those of some kinds."""
    found: list[Rows] = []
    for kind, pieces in place.scalars.items():
        if kind not in takes:
            found += (filled(piece)[1] for piece in pieces)
    if place.record is not None:
        found += place.record.rows
    for name, child in (("items", place.items), ("entries", place.entries)):
        if child is not None and name not in takes:
            found += (rows for _, rows in child.lengths)
    return found


def _laid(pieces: list[Piece], kind: pa.DataType, size: int) -> Array:
    return laid_out(pieces, kind, size) if pieces else pa.nulls(size, kind)


def _text(place: Place, size: int) -> _Read:
    return _laid(place.scalars.get(STRING, []), pa.string(), size), []


def _booleans(place: Place, size: int) -> _Read:
    return _laid(place.scalars.get(BOOLEAN, []), pa.bool_(), size), []


def _integers(place: Place, size: int) -> _Read:
    """Whole numbers; also those written as floats, where the float is exact."""
    pieces, odd = list(place.scalars.get(INTEGER, [])), []
    for array, rows in map(filled, place.scalars.get(NUMBER, [])):
        numbers = array.to_numpy()
        whole = (numbers == np.floor(numbers)) & (np.abs(numbers) <= _EXACT)
        whole &= ~((numbers == 0) & np.signbit(numbers))  # no integer is less than no zero
        pieces.append((pa.array(numbers[whole].astype(np.int64)), rows[whole]))
        odd.append(rows[~whole])
    return _laid(pieces, pa.int64(), size), odd


def _floats(place: Place, size: int) -> _Read:
    """Floats, and whole numbers that a float can hold."""
    pieces, odd = list(place.scalars.get(NUMBER, [])), []
    for array, rows in map(filled, place.scalars.get(INTEGER, [])):
        numbers = array.to_numpy()
        exact = (numbers <= _EXACT) & (numbers >= -_EXACT)
        pieces.append((pa.array(numbers[exact].astype(np.float64)), rows[exact]))
        odd.append(rows[~exact])
    return _laid(pieces, pa.float64(), size), odd


def _moments(pattern: str, usual: bytes, kind: pa.DataType, parse: Callable[[str], Any]) -> _Reader:
    def read(place: Place, size: int) -> _Read:
        text, _ = _text(place, size)
        plain = all(_is_spelt(chunk, usual) for chunk in _chunks(text))
        fits = None if plain else pc.match_substring_regex(text, pattern)
        if plain or pc.all(fits).as_py() is not False:
            try:
                return text.cast(kind), []
            except pa.ArrowInvalid:
                pass  # it looks like one, but no calendar has it
        fits = pc.match_substring_regex(text, pattern) if fits is None else fits
        known = pa.array([one for one in pc.unique(text).to_pylist() if _parses(one)], pa.string())
        fits = pc.and_(fits, pc.is_in(text, known))
        odd = pc.indices_nonzero(pc.invert(fits)).to_numpy().astype(np.int64)
        return pc.if_else(fits, text, None).cast(kind), [odd]

    def _parses(one: str | None) -> bool:
        try:
            return one is not None and parse(one) is not None
        except ValueError:
            return False

    return read


def _chunks(array: Array) -> list[pa.Array]:
    return array.chunks if isinstance(array, pa.ChunkedArray) else [array]


def _is_spelt(text: pa.Array, usual: bytes) -> bool:
    """Whether all texts are as long as the usual one, with digits for its 0, of no year 0.

    Arrow reads such as are days and instants rightly, and refuses all others. To look takes a
    fraction of the time of a regular expression, which is made anew at each use.
    """
    if text.null_count or not len(text):
        return not len(text)
    start, stop = text.offset, text.offset + len(text) + 1
    _, bounds, data = text.buffers()
    ends = np.frombuffer(bounds, np.int32)[start:stop]
    if (np.diff(ends) != len(usual)).any():
        return False
    codes = np.frombuffer(data, np.uint8)[ends[0] : ends[-1]].reshape(-1, len(usual))
    digits = np.frombuffer(usual, np.uint8) == ord("0")
    return bool(
        ((codes[:, digits] - np.uint8(48)) < 10).all() and (codes[:, :4] != ord("0")).any(1).all()
    )


def _words(place: Place, size: int) -> _Read:
    """Arrays of nothing but text and null."""
    items, kind = place.items, ARROW["list<string>"]
    if items is None:
        return pa.nulls(size, kind), []
    text, _ = _text(items.place, items.size)
    odd = joined(_others(items.place, frozenset((STRING,))))
    lengths = laid_out(items.lengths, pa.int32(), size)
    lengths = lengths.combine_chunks() if isinstance(lengths, pa.ChunkedArray) else lengths
    ends = np.cumsum(lengths.fill_null(0).to_numpy(zero_copy_only=False), dtype=np.int32)
    words = text.combine_chunks() if isinstance(text, pa.ChunkedArray) else text
    offsets = pa.array(np.concatenate([np.zeros(1, np.int32), ends]))
    mask = np.asarray(lengths.is_null())
    parents = _parents(items.parents)[odd] if len(odd) else odd
    mask[parents] = True
    return pa.ListArray.from_arrays(offsets, words, mask=pa.array(mask)), [np.unique(parents)]


def _parents(pieces: list[pa.Array]) -> Places:
    found: Places = np.concatenate([piece.to_numpy() for piece in pieces])
    return found


_READERS: dict[str, tuple[_Reader, frozenset[str]]] = {
    "string": (_text, frozenset((STRING,))),
    "category": (_text, frozenset((STRING,))),
    "Int64": (_integers, frozenset((INTEGER, NUMBER))),
    "Float64": (_floats, frozenset((INTEGER, NUMBER))),
    "boolean": (_booleans, frozenset((BOOLEAN,))),
    "date": (_moments(_DAY, b"0000-00-00", pa.date32(), date.fromisoformat), frozenset((STRING,))),
    "timestamp": (
        _moments(_INSTANT, b"0000-00-00T00:00:00Z", ARROW["timestamp"], datetime.fromisoformat),
        frozenset((STRING,)),
    ),
    "list<string>": (_words, frozenset(("items",))),
}
"""How a place is read as each dtype, and the kinds of values that are looked at."""
