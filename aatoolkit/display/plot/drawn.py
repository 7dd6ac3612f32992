"""The rows and columns behind the marks of a picture, and the explanation of a mark."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from aatoolkit.errors import ArgumentError, ItemNotFound
from aatoolkit.stats.explain.explanation import plain

if TYPE_CHECKING:
    from aatoolkit.display.plot.data import PlotData
    from aatoolkit.stats.explain import Explainer, Explanation

Place = tuple[int | Mapping[str, Any], str | None]
"""The row of a mark, by position or by the values of columns, and its column."""

PlaceAt = Callable[[float, float], Place | None]
"""From a point of a panel to the mark that is there."""

_MOST_ROWS = 500


@dataclass(frozen=True)
class Drawn:
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
    counts : bool
        Whether the marks are numbers of rows.
    facet : str, optional
        The column whose values have panels of their own.
    level : str
        The value that the panel stands for.
    panels : mapping of str to Drawn
        The rows of all panels, by value.
    """

    frame: pd.DataFrame
    columns: tuple[str, ...]
    labels: tuple[str, ...] = ()
    bounds: pd.DataFrame | None = None
    counts: bool = False
    facet: str | None = None
    level: str = ""
    panels: Mapping[str, Drawn] = field(default_factory=dict)

    def explain(
        self, mark: Any, column: str | None, within: Any, place_at: PlaceAt | None = None
    ) -> Explanation:
        """Explain the number of a mark; see `Picture.explain`."""
        from aatoolkit.stats.explain import Explainer

        if self.facet is not None:
            return self._of_panel(self.facet, mark, column, within, place_at)
        explainer = within if isinstance(within, Explainer) else Explainer(within)
        row, named = self._row(mark, place_at)
        column = column or named or (self.columns[0] if self.columns else None)
        if self.counts:
            return self._count(row, explainer)
        bounds = self.bounds
        is_end = bounds is not None and column in bounds.columns
        if bounds is not None and is_end and column not in self.frame.columns:
            return explainer.explain(bounds, row, column)
        return explainer.explain(self.frame, row, column)

    def _of_panel(
        self, facet: str, mark: Any, column: str | None, within: Any, place_at: PlaceAt | None
    ) -> Explanation:
        """Explain a mark of a panel: of that which the mark names, else of this one."""
        level = self.level
        if isinstance(mark, Mapping) and facet in mark:
            level = str(plain(mark[facet]))
            mark = {name: value for name, value in mark.items() if name != facet} or None
        panel = self.panels.get(level)
        if panel is None:
            listed = ", ".join(self.panels)
            raise ItemNotFound(f"no panel is of {level!r}; there are {listed}", key=level)
        explained = replace(panel, facet=None).explain(mark, column, within, place_at)
        return replace(explained, row={facet: level, **explained.row})

    def _row(self, mark: Any, place_at: PlaceAt | None) -> tuple[Any, str | None]:
        if isinstance(mark, tuple) and len(mark) == 2:
            place = place_at(float(mark[0]), float(mark[1])) if place_at else None
            if place is None:
                named = " and ".join(self.labels) or "its values"
                why = f"there is no mark at {mark!r}; name it by {named}"
                raise ArgumentError(why, argument="mark")
            return place
        if mark is None or isinstance(mark, Mapping | int):
            return mark, None
        word = pd.Timestamp(mark).date().isoformat() if hasattr(mark, "isoformat") else str(mark)
        for name in self.labels:
            if word in self._texts(name):
                return {name: word}, None
        listed = ", ".join(dict.fromkeys(t for n in self.labels for t in self._texts(n)[:4]))
        raise ItemNotFound(f"no mark is named {word!r}; there are {listed} …", key=mark)

    def _texts(self, name: str) -> list[str]:
        values = self.frame[name]
        if pd.api.types.is_datetime64_any_dtype(values.dtype):
            values = values.dt.strftime("%Y-%m-%d")
        return [str(value) for value in values]

    def _count(self, row: Any, explainer: Explainer) -> Explanation:
        """Explain the number of rows that a mark counts, with those rows."""
        from aatoolkit.stats.explain import Explanation

        if not isinstance(row, Mapping):
            words = f"a mark counts rows: name it by {' and '.join(self.columns)}"
            raise ArgumentError(words, argument="mark")
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


def drawn_of(data: PlotData, columns: Sequence[str], *labels: str | None, **more: Any) -> Drawn:
    """The rows behind a panel that has one mark a row, named by its labels and its keys."""
    named = (*labels, *([] if labels else [data.label_column]), *data.keys)
    names = tuple(dict.fromkeys(name for name in named if name))
    return Drawn(data.frame, tuple(columns), names, **more)
