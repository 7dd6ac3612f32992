"""Replay a recipe over the answers it names, such that each cell of the result can be explained."""

from __future__ import annotations

from typing import Protocol

import pandas as pd

from aatoolkit.explain.cells import TableCells
from aatoolkit.explain.evidence import AnswerFinder, TrailEnd
from aatoolkit.explain.explanation import Explanation
from aatoolkit.metadata.attrs import FrameMetadata, metadata_of
from aatoolkit.metadata.recipe import END, READ, Recipe


class Made(Protocol):
    """A frame that was made again, and can explain its cells."""

    frame: pd.DataFrame
    known: FrameMetadata

    def explain(self, at: int, column: str) -> Explanation:
        """How the value of a column in the row at a position is known."""


def replay(recipe: Recipe, stored: FrameMetadata, evidence: AnswerFinder) -> Made:
    """Make a frame again.

    Raises
    ------
    TrailEnd
        If it cannot be made again, with the reason.
    """
    kind, *rest = recipe
    if kind == READ:
        return _read(rest[0], rest[1], stored, evidence)
    if kind == END:
        raise TrailEnd(rest[0])
    raise TrailEnd(f"{kind} cannot be replayed by this version")


def _read(number: int, name: str, stored: FrameMetadata, evidence: AnswerFinder) -> Made:
    if not 0 <= number < len(stored.sources):
        raise TrailEnd("its metadata does not name the answer it was read from")
    answer = evidence.find(stored.sources[number])
    table = name.rpartition(":")[2]
    if table not in answer.tables:
        raise TrailEnd(f"the answer has no table {table} as it is declared now")
    frame = answer.tables[table]
    return TableCells(answer, table, frame, metadata_of(frame))
