"""From a mark of a picture, such as a bar, a point or a cell, to the numbers that it shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from aatoolkit.errors import ConfigurationError, ItemNotFound
from aatoolkit.frame.explain.text import plain

if TYPE_CHECKING:
    from aatoolkit.frame.explain import Explainer, Explanation

Place = tuple[int | Mapping[str, Any], str | None]
"""The row of a mark, by position or by the values of columns, and its column."""

_MOST_ROWS = 500


@dataclass(frozen=True)
class Marks:
    """The rows and columns that the marks of a picture were drawn from.

    Parameters
    ----------
    frame : pandas.DataFrame
        The rows that are drawn, one a mark; of a picture of counts, those that are counted.
    columns : tuple of str
        The numbers that are drawn, the first one first; of a picture of counts, what is counted.
    labels : tuple of str
        The columns that name a mark.
    bounds : pandas.DataFrame, optional
        The ends of the intervals that are drawn.
    at : callable, optional
        From a point of the axes to the mark that is there.
    counts : bool
        Whether the marks are numbers of rows.
    facet : str, optional
        The column whose values have panels of their own.
    level : str
        The value that the panel stands for.
    panels : mapping of str to Marks
        The marks of all panels, by value.
    """

    frame: pd.DataFrame
    columns: tuple[str, ...]
    labels: tuple[str, ...] = ()
    bounds: pd.DataFrame | None = None
    at: Callable[[float, float], Place | None] | None = None
    counts: bool = False
    facet: str | None = None
    level: str = ""
    panels: Mapping[str, Marks] = field(default_factory=dict)

    def explain(
        self, mark: Any = None, column: str | None = None, within: Any = None
    ) -> Explanation:
        """Explain the number of a mark; see `Picture.explain`."""
        from aatoolkit.frame.explain import Explainer

        if self.facet is not None:
            return self._of_panel(self.facet, mark, column, within)
        explainer = within if isinstance(within, Explainer) else Explainer(within)
        row, named = self._row(mark)
        column = column or named or (self.columns[0] if self.columns else None)
        if self.counts:
            return self._count(row, explainer)
        ends = self.bounds
        if ends is not None and column in ends.columns and column not in self.frame.columns:
            return explainer.explain(ends, row, column)
        return explainer.explain(self.frame, row, column)

    def _of_panel(self, facet: str, mark: Any, column: str | None, within: Any) -> Explanation:
        """Explain a mark of a panel: of that which the mark names, else of this one."""
        level = self.level
        if isinstance(mark, Mapping) and facet in mark:
            level = str(plain(mark[facet]))
            mark = {name: value for name, value in mark.items() if name != facet} or None
        panel = self.panels.get(level)
        if panel is None:
            listed = ", ".join(self.panels)
            raise ItemNotFound(f"no panel is of {level!r}; there are {listed}", key=level)
        found = replace(panel, facet=None).explain(mark, column, within)
        return replace(found, row={facet: level, **found.row})

    def _row(self, mark: Any) -> tuple[Any, str | None]:
        if isinstance(mark, tuple) and len(mark) == 2:
            found = None if self.at is None else self.at(float(mark[0]), float(mark[1]))
            if found is None:
                named = " and ".join(self.labels) or "its values"
                why = f"no mark is known to be at {mark!r}; name it by {named}"
                raise ConfigurationError(why, setting="mark")
            return found
        if mark is None or isinstance(mark, Mapping | int):
            return mark, None
        given = pd.Timestamp(mark).date().isoformat() if hasattr(mark, "isoformat") else str(mark)
        for name in self.labels:
            if given in self._texts(name):
                return {name: given}, None
        listed = ", ".join(dict.fromkeys(t for n in self.labels for t in self._texts(n)[:4]))
        raise ItemNotFound(f"no mark is named {given!r}; there are {listed} …", key=mark)

    def _texts(self, name: str) -> list[str]:
        values = self.frame[name]
        if pd.api.types.is_datetime64_any_dtype(values.dtype):
            values = values.dt.strftime("%Y-%m-%d")
        return [str(value) for value in values]

    def _count(self, row: Any, explainer: Explainer) -> Explanation:
        """Explain the number of rows that a mark counts, with those rows."""
        from aatoolkit.frame.explain import Explanation

        if not isinstance(row, Mapping):
            words = f"a mark counts rows: name it by {' and '.join(self.columns)}"
            raise ConfigurationError(words, setting="mark")
        there = np.flatnonzero(explainer.rows_with(self.frame, row))
        cells = tuple(
            explainer.explain(self.frame, int(at), self.columns[0]) for at in there[:_MOST_ROWS]
        )
        words = " and ".join(f"{name} is {value}" for name, value in row.items())
        return Explanation(
            len(there),
            "rows",
            row,
            operation="count",
            formula=f"{len(there):,} of {len(self.frame):,} rows where {words}",
            rows=len(there),
            children=cells,
        )


def marks_of(drawn: Any) -> Marks:
    """The rows and columns that the marks of what is drawn were drawn from."""
    made: Callable[[], Marks] | None = getattr(drawn, "marks", None)
    if made is not None:
        return made()
    data = drawn.data
    labels = [data.label_column, *data.keys]
    return Marks(data.frame, drawn.drawn, tuple(dict.fromkeys(each for each in labels if each)))


def row_with(*conditions: tuple[Sequence[Any], Any]) -> Place | None:
    """The first row whose values are given ones; None if there is none."""
    rows = [
        at
        for at, values in enumerate(zip(*(values for values, _ in conditions), strict=True))
        if all(value == one for value, (_, one) in zip(values, conditions, strict=True))
    ]
    return (rows[0], None) if rows else None


def of_rows(rows: int) -> Callable[[float, float], Place | None]:
    """The mark at a point, of a picture with one row of the axes for each row of its frame."""

    def at(x: float, y: float) -> Place | None:
        del x
        row = round(y)
        return (row, None) if 0 <= row < rows else None

    return at
