"""Replayed frames, which can explain their cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
import pandas as pd

from aatoolkit.frame.explain.evidence import TrailEnd
from aatoolkit.frame.explain.explanation import Explanation
from aatoolkit.frame.explain.text import plain
from aatoolkit.frame.groupby import flattened
from aatoolkit.metadata.arrow_schema import declared
from aatoolkit.metadata.attrs import FrameMetadata, attach, metadata_of
from aatoolkit.metadata.row_codes import load_rows, load_values


class Made(Protocol):
    """A replayed frame that can explain its cells."""

    frame: pd.DataFrame
    known: FrameMetadata

    def explain(self, at: int, column: str) -> Explanation:
        """Explain the value of a column, or index level, in a row, by position."""


class View:
    """A replayed frame with plain pandas steps: rows taken, columns dropped or set, an index.

    Parameters
    ----------
    base : Made or None
        What it was made of; None where that is not known.
    changes : mapping
        The changes that a recipe records.
    foreign : str or None
        Why it is not known.

    Raises
    ------
    TrailEnd
        If it is not known which rows were taken.
    """

    known: FrameMetadata

    def __init__(
        self, base: Made | None, changes: Mapping[str, Any], foreign: str | None = None
    ) -> None:
        if "lost" in changes:
            raise TrailEnd(changes["lost"])
        if base is None and changes.get("unknown"):
            raise TrailEnd(f"{foreign}; it is too large to be carried along")
        self._base, self._foreign = base, foreign
        self._set = {name: load_values(body) for name, body in changes.get("values", {}).items()}
        self._unknown = {*changes.get("unknown", ())}
        frame = (
            pd.DataFrame(index=range(changes.get("size", 0)))
            if base is None
            else flattened(base.frame)
        )
        if isinstance(base, View):
            # Between two views the metadata was attached anew, of the rows as they were then.
            frame = attach(frame.copy(deep=False), base.known)
        self._rows = np.arange(len(frame))
        if "rows" in changes:
            self._rows = load_rows(changes["rows"])
            frame = frame.iloc[self._rows]
        self.frame = self._changed(frame, changes)
        self.known = metadata_of(self.frame)

    def _changed(self, frame: pd.DataFrame, changes: Mapping[str, Any]) -> pd.DataFrame:
        index = changes.get("index")
        if index == "range":
            frame = frame.reset_index(drop=True)
        kept = changes.get("columns")
        if kept is not None:
            frame = frame[[name for name in kept if name in frame.columns]]
        frame = frame.drop(columns=[name for name in self._unknown if name in frame.columns])
        if self._set:
            frame = frame.assign(
                **{name: values.set_axis(frame.index) for name, values in self._set.items()}
            )
        if isinstance(index, list) and any(index):
            frame = frame.set_index([name for name in index if name])
        return frame

    def has_set(self, column: str) -> bool:
        """Whether plain pandas set a column, whose values the recipe holds."""
        return column in self._set

    def explain(self, at: int, column: str) -> Explanation:
        """Explain the value of a column in a row, by position."""
        if column in self._set or column in self._unknown or self._base is None:
            why = self._foreign or f"{column} was set by a plain pandas step"
            found = self._set.get(column)
            value = None if found is None else plain(found.iloc[at])
            return Explanation(value, column, row_of(self.known, self.frame, at), end=why)
        return self._base.explain(int(self._rows[at]), column)


class Result:
    """The replayed result of a verb.

    Parameters
    ----------
    verb : str
        Its name.
    frame : pandas.DataFrame
        The result.
    inputs : sequence of Made
        The frames that went into it.
    arguments : mapping
        Its arguments.
    """

    def __init__(
        self, verb: str, frame: pd.DataFrame, inputs: list[Made], arguments: Mapping[str, Any]
    ) -> None:
        self.verb, self.frame, self.inputs, self.arguments = verb, frame, inputs, arguments
        self.known = metadata_of(frame, levels=True)

    def explain(self, at: int, column: str) -> Explanation:
        """Explain the value of a column in a row, by position."""
        raise NotImplementedError

    def value(self, at: int, column: str) -> Any:
        """The value of a column, or index level, in a row."""
        return plain(flattened(self.frame)[column].iloc[at])

    def described(self, at: int, column: str) -> Explanation:
        """Explain a cell by its metadata, without how it was made."""
        metadata = self.known.columns.get(column)
        what = None if metadata is None else declared(metadata)
        return Explanation(
            self.value(at, column),
            column,
            row_of(self.known, self.frame, at),
            unit=what.unit if what else None,
            meaning=(what.doc or None) if what else None,
            operation=self.verb,
            availability=str(metadata.availability) if metadata else None,
        )

    def passed(self, found: Explanation, at: int, column: str, note: str) -> Explanation:
        """Explain a cell that the verb took over from an input unchanged."""
        row = row_of(self.known, self.frame, at) or found.row
        renamed = (f"{column} was {found.column} before",) if column != found.column else ()
        return replace(found, column=column, row=row, notes=(*found.notes, note, *renamed))


def row_of(known: FrameMetadata, frame: pd.DataFrame, at: int) -> dict[str, Any]:
    """The values of the key in a row."""
    flat = flattened(frame)
    return {name: plain(flat[name].iloc[at]) for name in known.key if name in flat.columns}
