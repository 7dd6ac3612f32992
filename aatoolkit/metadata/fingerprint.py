"""Witnesses: a few cells by which a frame shows that it still holds what was described.

pandas keeps ``attrs`` through steps after which they no longer hold: sums by group, a column
that is assigned anew, two names that change places. So the carrier remembers the digests of
some rows, at most `LIMIT`: every row of a small table, the first ones and an even choice of a
larger one. A row is found again by its label, or by its key once labels were made anew. A
column is believed if the rows that are found hold what they held, and if no row came from
elsewhere. Selecting, sorting, repeating and dropping rows, dropping columns, moving the key
into the index and changing to a dtype of the same values all leave it believed.

What the witnesses cannot notice: a change of other rows of a table longer than `LIMIT`, and
numbers alone that equal by chance, one by one, as many that were read. Rows without their key
might be sums; `Trial` says when they are believed all the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING

from aatoolkit.metadata.cell_hash import words, words_at

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from aatoolkit.metadata.cell_hash import Array, Words

    Trace = tuple[Words, Words]
    Looked = tuple[list[Words], dict[str, Words], dict[str, int]]

LIMIT = 32
"""The rows that are remembered at most: every day of a month."""

_ROW, _CELL = 0xFFFF_FFFF_0000, 0xFFFF
"""The bits of a number that tell a row, and those that tell a cell."""

OVERWRITTEN = "overwritten"
MOVED = "its rows are not those that were read"


@dataclass(frozen=True)
class Witnesses:
    """What is remembered of a frame's rows.

    Parameters
    ----------
    rows : int
        The rows that the frame had.
    index : tuple of str or None
        The names of its index.
    span : tuple of int or None
        The least and the greatest label, where rows bore plain numbers.
    labels : tuple of int
        The digests of the remembered rows' labels.
    keys : tuple of int
        The digests of their keys; none, where there is no key, or one that repeats.
    cells : mapping of str to tuple of int
        By column, how many values were missing, and the digest of each remembered cell.
    """

    rows: int = 0
    index: tuple[str | None, ...] = (None,)
    span: tuple[int, int] | None = None
    labels: tuple[int, ...] = ()
    keys: tuple[int, ...] = ()
    cells: Mapping[str, tuple[int, tuple[int, ...]]] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        """Whether every row is remembered."""
        return all(len(digests) == self.rows for _, digests in self.cells.values())


def witnesses_of(
    frame: pd.DataFrame,
    names: Iterable[str],
    key: tuple[str, ...],
    limit: int = LIMIT,
    table: pa.Table | None = None,
) -> Witnesses:
    """Remember some rows of a frame, of the columns or index levels named.

    The rows of a new frame are remembered at less cost by the ``table`` that it was made of.
    """
    look = _at_frame if table is None else partial(_at_table, table)
    wanted = [*dict.fromkeys((*names, *key))]
    labels, told, missing = look(frame, wanted, _chosen(len(frame), limit))
    keys = _row_words([told[name] for name in key]).tolist() if key and {*key} <= {*told} else []
    return Witnesses(
        len(frame),
        _names(frame.index),
        _span(frame.index),
        tuple(_row_words(labels).tolist()),
        tuple(keys) if len({*keys}) == len(keys) else (),
        {
            name: (missing[name], tuple(_digests(told[name]).tolist()))
            for name in names
            if name in told
        },
    )


def _at_frame(frame: pd.DataFrame, names: list[str], places: list[int]) -> Looked:
    """What stands in some rows of a frame: labels, cells by column, how many lack a value."""
    import numpy as np

    at = np.array(places, dtype=np.intp)
    arrays = {name: array for name, array in arrays_of(frame).items() if name in {*names}}
    return (
        [words(level) for level in _levels(frame.index[at])],
        {name: words(array.take(at)) for name, array in arrays.items()},
        {name: int(array.isna().sum()) for name, array in arrays.items()},
    )


def _at_table(table: pa.Table, _: pd.DataFrame, names: list[str], places: list[int]) -> Looked:
    """The same of a frame that was made of a table, whose labels are the numbers of its rows."""
    columns = {name: table[name] for name in names if name in table.column_names}
    labels, *told = words_at(columns.values(), places)
    return (
        [labels],
        dict(zip(columns, told, strict=True)),
        {name: column.null_count for name, column in columns.items()},
    )


class Trial:
    """A frame before its witnesses: which columns still hold what was described.

    Rows are found again in one way only, that to which the fewest columns object: a column
    that was written over objects alone, and new labels make nearly all object.
    """

    def __init__(self, frame: pd.DataFrame, witnesses: Witnesses, key: tuple[str, ...]) -> None:
        self._index = frame.index
        self._arrays = arrays_of(frame)
        self._witnesses = witnesses
        self._key = key

    def is_empty(self, name: str) -> bool:
        """Whether a column, or level of the index, is there and holds no value."""
        values = self._arrays.get(name)
        return values is not None and bool(values.isna().all())

    def objection(self, name: str) -> str | None:
        """Why a column is not believed; None if it is."""
        return self._objections.get(name) if name in self._witnesses.cells else MOVED

    @cached_property
    def _objections(self) -> Mapping[str, str]:
        cells = self._witnesses.cells
        there = [name for name in cells if name in self._arrays]
        alike = dict.fromkeys({*cells}.difference(there), "not one column of this name")
        if len(self._index) == 0:
            return alike
        found: dict[str, str] | None = None
        for trace in self._traces():
            objections = {name: OVERWRITTEN for name in there if self._differs(name, trace)}
            objections |= self._doubts(trace, objections)
            if found is None or len(objections) < len(found):
                found = objections
            if not found:
                break
        return alike | (dict.fromkeys(there, MOVED) if found is None else found)

    def _doubts(self, trace: Trace, objections: Mapping[str, str]) -> Mapping[str, str]:
        """The columns that might hold sums: rows without their key, which agree by chance.

        Sums bear numbers as labels too. As many rows are believed if words agree, or all
        columns; fewer or more if both, in the columns of which no value was missing: a sum
        over what is missing would else pass for what was read beside it.
        """
        import numpy as np

        cells = {name: cell for name, cell in self._witnesses.cells.items() if name in self._arrays}
        agreeing = {*cells} - {*objections}
        if self._key and agreeing >= {*self._key}:
            return {}
        words = any(self._arrays[name].dtype.kind not in "biuf" for name in agreeing)
        if len(self._index) == self._witnesses.rows:
            return {} if words or not objections else dict.fromkeys(cells, MOVED)
        if objections or not words or not np.isin(*trace).any():
            return dict.fromkeys(cells, MOVED)
        return {name: MOVED for name, (missing, _) in cells.items() if missing}

    def _differs(self, name: str, trace: Trace) -> bool:
        """Whether a found row holds something else, or other rows were filled or emptied."""
        import numpy as np

        values, (missing, digests) = self._arrays[name], self._witnesses.cells[name]
        now, before = trace
        found = np.isin(now, before)
        told = before + np.asarray(digests, dtype=np.uint64)
        held = now[found] + _digests(words(values[found]))
        return not self._lacks_as_before(name, missing) or not np.isin(held, told).all()

    def _lacks_as_before(self, name: str, missing: int) -> bool:
        """Whether as many values are missing as can be, were rows dropped or repeated."""
        if self._witnesses.whole:
            return True
        now, before = len(self._index), self._witnesses.rows
        lacking = int(self._arrays[name].isna().sum())
        if now == before:
            return lacking == missing
        return lacking * before <= missing * max(now, before)

    def _traces(self) -> Iterator[Trace]:
        """How rows are told apart, here and among the witnesses; where none is a stranger."""
        known = self._witnesses
        if _names(self._index) == known.index:
            trace = self._trace(_levels(self._index), known.labels)
            numbered = known.span is not None and not known.whole
            if _within(_span(self._index), known.span) if numbered else self._meets(trace):
                yield trace
        if known.keys and all(self._is_filled(name) for name in self._key):
            trace = self._trace([self._arrays[name] for name in self._key], known.keys)
            if self._meets(trace):
                yield trace

    def _trace(self, parts: list[Array], known: tuple[int, ...]) -> Trace:
        import numpy as np

        return _row_words([words(part) for part in parts]), np.asarray(known, dtype=np.uint64)

    def _meets(self, trace: Trace) -> bool:
        """Whether witnesses are met: one where not every row is remembered, else in every row."""
        import numpy as np

        found = np.isin(*trace)
        return bool(found.all() if self._witnesses.whole else found.any())

    def _is_filled(self, name: str) -> bool:
        """Whether a column of the key is there, with no more missing than were described."""
        missing, _ = self._witnesses.cells.get(name, (0, ()))
        return name in self._arrays and self._lacks_as_before(name, missing)


def arrays_of(frame: pd.DataFrame) -> dict[str, Array]:
    """The values of every column that is alone of its name, and of the index levels' names."""
    names = [str(name) for name in frame.columns]
    twice = {name for name, count in Counter(names).items() if count > 1}
    arrays = {
        str(name): frame.index.get_level_values(level).array
        for level, name in enumerate(frame.index.names)
        if name is not None
    }
    arrays |= {name: column.array for name, (_, column) in zip(names, frame.items(), strict=True)}
    return {name: array for name, array in arrays.items() if name not in twice}


def _chosen(rows: int, limit: int) -> list[int]:
    """The places of the rows to remember: all, or the first ones and an even choice."""
    if rows <= limit:
        return [*range(rows)]
    first = limit // 2
    rest = limit - first
    return [*range(first), *(first + (rows - 1 - first) * n // (rest - 1) for n in range(rest))]


def _names(index: pd.Index) -> tuple[str | None, ...]:
    return tuple(None if name is None else str(name) for name in index.names)


def _levels(index: pd.Index) -> list[Array]:
    return [index.get_level_values(level).array for level in range(index.nlevels)]


def _span(index: pd.Index) -> tuple[int, int] | None:
    """The least and the greatest label, if rows bear plain numbers as a fresh frame's do."""
    if index.nlevels > 1 or index.name is not None or index.dtype.kind not in "iu" or index.empty:
        return None
    return int(index.min()), int(index.max())


def _within(inner: tuple[int, int] | None, outer: tuple[int, int] | None) -> bool:
    return bool(inner and outer and outer[0] <= inner[0] and inner[1] <= outer[1])


def _row_words(parts: list[Words]) -> Words:
    """One number a row that tells its values apart, with room for a digest in the low bits."""
    import numpy as np

    total = np.zeros(len(parts[0]), dtype=np.uint64)
    for part in parts:
        total = total * np.uint64(1_000_003) + part
    return total & np.uint64(_ROW)


def _digests(told: Words) -> Words:
    """Two bytes a cell, which is what is remembered."""
    import numpy as np

    return told & np.uint64(_CELL)
