"""`Explainer`: from a cell of a frame to its explanation."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from aatoolkit.errors import ArgumentError
from aatoolkit.frame.explain.cells import TableCells
from aatoolkit.frame.explain.evidence import AnswerFinder, TrailEnd
from aatoolkit.frame.explain.explanation import Explanation
from aatoolkit.frame.explain.made import Made
from aatoolkit.frame.explain.missing import without_row
from aatoolkit.frame.explain.replay import replay
from aatoolkit.frame.explain.rows import matched, matching, position_of, same
from aatoolkit.frame.explain.samples import with_samples
from aatoolkit.frame.explain.text import plain, shown
from aatoolkit.frame.groupby import find, flattened
from aatoolkit.metadata.arrow_schema import declared
from aatoolkit.metadata.attrs import NOTHING, FrameMetadata, metadata_of, stored_of, text_of
from aatoolkit.metadata.fingerprint import OVERWRITTEN
from aatoolkit.metadata.recorded import is_intact

_NO_METADATA = "nothing is known of where this frame comes from: it has no metadata"
_NO_RECIPE = "the frame does not say how it was made"


class Explainer:
    """Explains many numbers, and reads each answer once.

    It takes a frame that it has seen for unchanged: after a change in place, use a new one.

    Parameters
    ----------
    within : Study, Archive, Tables, Dataset, or several of these, optional
        Where the answers are looked for beside those that a frame still holds.
    samples : bool
        Whether the sampled chats behind a number are looked for.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> tables = aa.demo().read("overview", days=7)
    >>> explainer = Explainer(tables)
    >>> kpis = tables["overview_kpis"]
    >>> explainer.explain(kpis, {"metric": "mentionRate"}, "value").is_complete
    True
    """

    def __init__(self, within: Any = None, *, samples: bool = True) -> None:
        self.evidence = AnswerFinder(within)
        self._samples = samples
        self._made: dict[str, Made | str] = {}
        self._changed: dict[tuple[int, str], bool] = {}
        self._frames: dict[int, tuple[pd.DataFrame, pd.DataFrame, FrameMetadata]] = {}

    def explain(
        self,
        frame: pd.DataFrame,
        row: int | Hashable | Mapping[str, Any] | None = None,
        column: str | None = None,
    ) -> Explanation:
        """Explain a number of a frame; with sampled chats, where ``within`` has them.

        Parameters
        ----------
        frame : pandas.DataFrame
            The frame.
        row : int, label or mapping of str to object, optional
            The row: its label, its position, or the values of columns that identify it. By
            default the first without a value in the column, or the first of all if none is.
        column : str
            The column; a single argument that names a column is the column.

        Raises
        ------
        ItemNotFound
            If there is no such column.
        ItemNotFound
            If there is no such row, or several.
        MetadataError
            If the frame's metadata is damaged, or newer than this version can read.
        """
        _, flat, known = self._seen_before(frame)
        if column is None and isinstance(row, str) and row in flat.columns:
            row, column = None, row
        if column is None and isinstance(row, str) and row not in flat.index:
            find(flat, [row])
        if column is None:
            raise ArgumentError(
                "explain takes a column: explain(row, column) or explain(column=...)",
                argument="column",
            )
        find(flat, [column])
        if row is not None:
            found = self._explained(frame, position_of(frame, row), column)
        elif len(flat):
            named: str = column
            found = without_row(flat, column, known, lambda at: self._explained(frame, at, named))
        else:
            found = self._of_no_rows(frame, column, known)
        return with_samples(found, self.evidence) if self._samples else found

    def _of_no_rows(self, frame: pd.DataFrame, column: str, known: FrameMetadata) -> Explanation:
        """A column of a frame without rows: what is known of why there are none."""
        state = known.columns[column].availability
        found = Explanation(
            None,
            column,
            operation="column",
            availability=str(state),
            missing=f"the frame has no rows; {column} is {state}",
        )
        stored, answers = stored_of(frame)
        self.evidence.hold(answers)
        try:
            made = self._replayed(frame, stored)
        except TrailEnd as end:
            return replace(found, end=str(end))
        return made.about(found) if isinstance(made, TableCells) else found

    def _seen_before(self, frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame, FrameMetadata]:
        """A frame, flat, and its metadata; looked at once."""
        if id(frame) not in self._frames:
            flat = flattened(frame)
            self._frames[id(frame)] = frame, flat, metadata_of(flat)
        return self._frames[id(frame)]

    def _explained(self, frame: pd.DataFrame, at: int, column: str) -> Explanation:
        """Explain a number without samples."""
        _, flat, known = self._seen_before(frame)
        stored, answers = stored_of(frame)
        self.evidence.hold(answers)
        seen = self._seen(flat, at, column, known)
        try:
            made = self._replayed(frame, stored)
            there = self._position(frame, at, made, column, known)
            found = made.explain(there, column)
        except TrailEnd as end:
            return replace(seen, end=str(end))
        value = made.frame[column].iloc[there]
        if same(value, flat[column].iloc[at]):
            if self._is_changed(flat, column, known, stored):
                why = f"{column} was changed by a plain pandas step; this cell is as it was"
                return replace(seen, end=why, children=(found,))
            return found if seen.row == found.row else replace(found, row=seen.row or found.row)
        why = f"the value was changed since by a plain pandas step: it was {shown(value)}"
        return replace(seen, end=why, children=(found,))

    def _is_changed(
        self, flat: pd.DataFrame, column: str, known: FrameMetadata, stored: FrameMetadata
    ) -> bool:
        """Whether a column was changed, be it in other cells."""
        before = stored.columns.get(column, NOTHING).availability.reason
        if known.columns[column].availability.reason == OVERWRITTEN != before:
            return True
        place = id(flat), column
        if place not in self._changed:
            self._changed[place] = is_intact(flat, column) is False
        return self._changed[place]

    @staticmethod
    def rows_with(frame: pd.DataFrame, row: Mapping[str, Any]) -> npt.NDArray[np.bool_]:
        """Mask of the rows that have some values.

        Raises
        ------
        ItemNotFound
            If there is no such column.
        """
        find(frame, row)
        mask = np.ones(len(frame), bool)
        for name, value in row.items():
            mask &= matching(frame[name], value)
        return mask

    def _replayed(self, frame: pd.DataFrame, stored: FrameMetadata) -> Made:
        if stored.recipe is None:
            raise TrailEnd(_NO_RECIPE if stored.columns or stored.sources else _NO_METADATA)
        name = str(text_of(frame))
        if name not in self._made:
            try:
                self._made[name] = replay(stored.recipe, stored.sources, self.evidence)
            except TrailEnd as end:
                self._made[name] = str(end)
            except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
                self._made[name] = f"what the frame says of how it was made is damaged: {error}"
        made = self._made[name]
        if isinstance(made, str):
            raise TrailEnd(made)
        return made

    def _position(
        self, frame: pd.DataFrame, at: int, made: Made, column: str, known: FrameMetadata
    ) -> int:
        """Find the row of the replayed frame that is a row of the frame."""
        if column not in made.frame.columns:
            raise TrailEnd(f"{column} was added or renamed by a plain pandas step")
        found = matched(frame, at, made.frame, made.known.key, column)
        if isinstance(found, str):
            raise TrailEnd(found)
        return found

    def _seen(self, frame: pd.DataFrame, at: int, column: str, known: FrameMetadata) -> Explanation:
        """Explain a cell by the frame's own metadata, without its origin."""
        metadata = known.columns[column]
        what = declared(metadata)
        key = [name for name in known.key if name in frame.columns]
        return Explanation(
            plain(frame[column].iloc[at]),
            column,
            {name: plain(frame[name].iloc[at]) for name in key},
            unit=what.unit if what else None,
            meaning=what.doc if what and what.doc else None,
            availability=str(metadata.availability),
        )
