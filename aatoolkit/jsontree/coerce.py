"""Convert JSON values to typed Arrow arrays, exactly; what does not fit is reported."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import date, datetime
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aatoolkit.jsontree.chunks import ColumnChunk, concat_rows, to_column, without_nulls
from aatoolkit.jsontree.exactness import EXACT_FLOAT, is_unicode
from aatoolkit.jsontree.grouping import RowIndex, Rows
from aatoolkit.jsontree.kinds import BOOLEAN, INTEGER, NUMBER, STRING
from aatoolkit.jsontree.nodes import Node
from aatoolkit.jsontree.values import MISSING

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
_Codes = np.ndarray[tuple[int], np.dtype[np.uint8]]
_Reader = Callable[[Node, int], _Read]

_YEAR = r"(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])"
_DAY = rf"\A{_YEAR}-[0-9]{{2}}-[0-9]{{2}}\z"
_INSTANT = (
    rf"\A{_YEAR}-[0-9]{{2}}-[0-9]{{2}}"
    r"[T ](?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:[.][0-9]{1,6})?)?"
    r"(?:Z|[+-](?:[01][0-9]|2[0-3]):?[0-5][0-9])\z"
)


NO_ROWS: RowIndex = np.empty(0, np.int64)


def coerce_values(values: Sequence[Any], dtype: str) -> tuple[pa.Array, list[int]]:
    """Convert values to an Arrow array of a dtype; return it and the rows that do not fit.

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
    >>> array, odd = coerce_values([1, None, "2", True], "Int64")
    >>> array.to_pylist(), odd
    ([1, None, None, None], [2, 3])
    """
    clean = [None if value is MISSING else value for value in values]
    try:
        array, odd = column(node_of(clean), dtype, len(clean))
    except UnicodeEncodeError:
        # Half a surrogate pair is no text; an object in its place fits no dtype either.
        array, odd = column(
            node_of([v if is_unicode(_text_of(v)) else {} for v in clean]),
            dtype,
            len(clean),
        )
    whole = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    return whole, odd.tolist()


def column(node: Node | None, dtype: str, size: int) -> tuple[Array, RowIndex]:
    """Convert the values of a node to a typed array, without a loop over its rows."""
    if node is None or not node.rows:
        return pa.nulls(size, _plain(dtype)), NO_ROWS
    read, takes = _READERS[dtype]
    array, odd = read(node, size)
    odd += rows_of_other_kinds(node, takes)
    return array, np.unique(concat_rows(odd)) if odd else NO_ROWS


def node_of(values: list[Any]) -> Node:
    """Build a node from JSON values, one per row."""
    node = Node()
    if values:
        node.add_values(values, range(len(values)), 0)
    return node


def _text_of(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _plain(dtype: str) -> pa.DataType:
    return pa.string() if dtype == "category" else ARROW[dtype]


def rows_of_other_kinds(node: Node, takes: frozenset[str]) -> list[Rows]:
    """The rows of all values but null and those of some kinds."""
    found: list[Rows] = []
    for kind, chunks in node.scalars.items():
        if kind not in takes:
            found += (without_nulls(chunk)[1] for chunk in chunks)
    if node.record is not None:
        found += node.record.rows
    for name, child in (("items", node.items), ("entries", node.entries)):
        if child is not None and name not in takes:
            found += (rows for _, rows in child.lengths)
    return found


def _column_of(chunks: list[ColumnChunk], kind: pa.DataType, size: int) -> Array:
    return to_column(chunks, kind, size) if chunks else pa.nulls(size, kind)


def _text(node: Node, size: int) -> _Read:
    return _column_of(node.scalars.get(STRING, []), pa.string(), size), []


def _booleans(node: Node, size: int) -> _Read:
    return _column_of(node.scalars.get(BOOLEAN, []), pa.bool_(), size), []


def _integers(node: Node, size: int) -> _Read:
    """Whole numbers; also those written as floats, where the float is exact."""
    chunks, odd = list(node.scalars.get(INTEGER, [])), []
    for array, rows in map(without_nulls, node.scalars.get(NUMBER, [])):
        numbers = array.to_numpy()
        whole = (numbers == np.floor(numbers)) & (np.abs(numbers) <= EXACT_FLOAT)
        whole &= ~((numbers == 0) & np.signbit(numbers))  # no integer is less than no zero
        chunks.append((pa.array(numbers[whole].astype(np.int64)), rows[whole]))
        odd.append(rows[~whole])
    return _column_of(chunks, pa.int64(), size), odd


def _floats(node: Node, size: int) -> _Read:
    """Floats, and whole numbers that a float can hold."""
    chunks, odd = list(node.scalars.get(NUMBER, [])), []
    for array, rows in map(without_nulls, node.scalars.get(INTEGER, [])):
        numbers = array.to_numpy()
        exact = (numbers <= EXACT_FLOAT) & (numbers >= -EXACT_FLOAT)
        chunks.append((pa.array(numbers[exact].astype(np.float64)), rows[exact]))
        odd.append(rows[~exact])
    return _column_of(chunks, pa.float64(), size), odd


def _moments(pattern: str, usual: bytes, kind: pa.DataType, parse: Callable[[str], Any]) -> _Reader:
    def read(node: Node, size: int) -> _Read:
        text, _ = _text(node, size)
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
    """Whether texts have an example's length, digits for its 0s, and no year 0.

    Arrow reads such as are days and instants rightly, and refuses all others. To look takes a
    fraction of the time of a regular expression, which is made anew at each use.
    """
    if text.null_count or not len(text):
        return not len(text)
    start, stop = text.offset, text.offset + len(text) + 1
    _, bounds, data = text.buffers()
    ends = np.frombuffer(bounds, np.int32)[start:stop]
    if (ends[1:] - ends[:-1] != len(usual)).any():
        return False
    codes = np.frombuffer(data, np.uint8)[ends[0] : ends[-1]].reshape(-1, len(usual))
    least, span = _digits(usual)
    return bool((codes - least <= span).all() and (codes[:, :4] != ord("0")).any(1).all())


@cache
def _digits(usual: bytes) -> tuple[_Codes, _Codes]:
    """The least byte that each place of a text may have, and how far others are from it."""
    is_digit = np.frombuffer(usual, np.uint8) == ord("0")
    least, span = np.where(is_digit, ord("0"), 0), np.where(is_digit, 9, 255)
    return least.astype(np.uint8), span.astype(np.uint8)


def _words(node: Node, size: int) -> _Read:
    """An array of text and null."""
    items, kind = node.items, ARROW["list<string>"]
    if items is None:
        return pa.nulls(size, kind), []
    text, _ = _text(items.node, items.size)
    words = text.combine_chunks() if isinstance(text, pa.ChunkedArray) else text
    odd = concat_rows(rows_of_other_kinds(items.node, frozenset((STRING,))))
    lengths = to_column(items.lengths, pa.int32(), size)
    lengths = lengths.combine_chunks() if isinstance(lengths, pa.ChunkedArray) else lengths
    counts = lengths.fill_null(0) if lengths.null_count else lengths
    offsets = np.zeros(size + 1, np.int32)
    counts.to_numpy().cumsum(out=offsets[1:])
    if not lengths.null_count and not len(odd):
        return pa.ListArray.from_arrays(pa.array(offsets), words), []
    mask = np.asarray(lengths.is_null())
    parents = np.concatenate(items.parents)[odd] if len(odd) else odd
    mask[parents] = True
    return pa.ListArray.from_arrays(pa.array(offsets), words, mask=pa.array(mask)), [
        np.unique(parents)
    ]


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
