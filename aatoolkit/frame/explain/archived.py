"""Explain cells of frames read from an archive: rows of many answers, one row each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pandas as pd

from aatoolkit.frame.explain.cells import TableCells
from aatoolkit.frame.explain.evidence import AnswerFinder, TrailEnd
from aatoolkit.frame.explain.explanation import Explanation
from aatoolkit.frame.explain.made import Result
from aatoolkit.frame.explain.rows import matching, same
from aatoolkit.frame.explain.text import plain, shown
from aatoolkit.frame.reshape import CONTEXT
from aatoolkit.metadata.attrs import metadata_of
from aatoolkit.metadata.column import Source

_HISTORY = ("first_seen", "last_seen", "last_changed", "revisions")
_MOST_TRIED = 50
"""The most answers in which the value of a history is looked for."""


class ArchivedCells(Result):
    """Cells of archived rows: each is found in the answer that its row names.

    Parameters
    ----------
    frame : pandas.DataFrame
        The frame, read again.
    sources : sequence of Source
        The answers it was read from.
    finder : AnswerFinder
        Finds them.
    """

    def __init__(
        self, frame: pd.DataFrame, sources: Sequence[Source], finder: AnswerFinder
    ) -> None:
        super().__init__("read", frame, [], {})
        self._sources, self._finder = sources, finder

    def explain(self, at: int, column: str) -> Explanation:
        """Explain the value of a column in a row, by position."""
        found = self.described(at, column)
        of = self.known.columns[column].of
        if of is None:
            is_history = column in _HISTORY
            note = "from the fetches in which the row was seen" if is_history else "of its answer"
            return replace(found, notes=(note,))
        table, _, name = of.rpartition(":")[2].partition(".")
        tried = 0
        why = "the archive names no answer for this row"
        for source in self._answers(at):
            tried += 1
            if tried > _MOST_TRIED:
                why = f"the value is in none of the {_MOST_TRIED} newest answers about the row"
                break
            try:
                answer = self._finder.find(source)
            except TrailEnd as end:
                why = str(end)
                continue
            if table not in answer.tables:
                continue
            frame = answer.tables[table]
            cells = TableCells(answer, table, frame, metadata_of(frame))
            there = self._row(at, table, cells)
            if there is not None and same(frame[name].iloc[there], found.value):
                return self.passed(cells.explain(there, name), at, column, "kept in the archive")
            why = f"no answer at hand has {shown(found.value)} in this row"
        return replace(found, end=why)

    def _answers(self, at: int) -> Iterator[Source]:
        """Yield the answers that a row may be of, the newest first."""
        row = self.frame.iloc[at]
        names = [name for name in CONTEXT if name in self.frame.columns]
        last = plain(row["fetched_at"] if "fetched_at" in names else row["last_seen"])
        last = str(last)[:19]
        for source in sorted(self._sources, key=lambda each: each.fetched_at or "", reverse=True):
            moment = (source.fetched_at or "")[:19]
            if source.host != plain(row["host"]) or moment > last:
                continue
            if "fetched_at" in names and (moment != last or not _has_scope(source, row)):
                continue
            yield source

    def _row(self, at: int, table: str, cells: TableCells) -> int | None:
        """Find the row of an answer's table that is a row of the frame."""
        names = {
            (what.of or "").rpartition(":")[2]: name for name, what in self.known.columns.items()
        }
        key = [name for name in cells.known.key if f"{table}.{name}" in names]
        if not key or len(key) < len(cells.known.key):
            return None
        mask = None
        for name in key:
            given = plain(self.frame[names[f"{table}.{name}"]].iloc[at])
            here = matching(cells.frame[name], given)
            mask = here if mask is None else mask & here
        if mask is None or mask.sum() != 1:
            return None
        return int(mask.argmax())


def _has_scope(source: Source, row: pd.Series) -> bool:
    days = plain(row.get("days"))
    return source.scope is None or days is None or f"days={days}" in source.scope.split("&")
