"""Explanations of many cells of a dataset, each table checked and read again once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from aatoolkit.frame.explain import Explainer, Explanation
from aatoolkit.frame.explain.answers import TrailEnd
from aatoolkit.frame.explain.explainer import replay
from aatoolkit.frame.explain.explanation import same
from aatoolkit.frame.explain.results import Made
from aatoolkit.metadata.attrs import stored_of

if TYPE_CHECKING:
    from aatoolkit.client.dataset import Dataset


class CellExplainer:
    """Explains many cells of the tables of a dataset, and checks each table once.

    Parameters
    ----------
    dataset : Dataset
        The sections, whose answers are looked at.
    """

    def __init__(self, dataset: Dataset) -> None:
        self.any = Explainer(dataset, samples=False)
        self._made: dict[int, tuple[pd.DataFrame, Made | None]] = {}
        self._arrays: dict[tuple[int, str], Any] = {}

    def __call__(self, frame: pd.DataFrame, at: int, column: str) -> Explanation:
        """Explain the number in a column of the row at a position."""
        if id(frame) not in self._made:
            self._made[id(frame)] = frame, self._as_read(frame)
        _, made = self._made[id(frame)]
        if made is not None:
            found = made.explain(at, column)
            if (id(frame), column) not in self._arrays:
                self._arrays[id(frame), column] = frame[column].array
            if same(found.value, self._arrays[id(frame), column][at]):
                return found
        return self.any.explain(frame, frame.index[at], column)

    def _as_read(self, frame: pd.DataFrame) -> Made | None:
        """The table made again from its answer; None where rows or columns are not as read."""
        stored, answers = stored_of(frame)
        if stored.recipe is None:
            return None
        self.any.evidence.hold(answers)
        try:
            made = replay(stored.recipe, stored.sources, self.any.evidence)
        except TrailEnd:
            return None
        key = [name for name in made.known.key if name in made.frame.columns]
        is_whole = [*frame.columns] == [*made.frame.columns] and len(frame) == len(made.frame)
        return made if is_whole and frame[key].equals(made.frame[key]) else None
