"""`Spec`, a picture before it is drawn: marks (bars, dots, lines, cells) on two scales, and texts.

Each kind of picture makes a `Spec`. ``layout`` computes the positions of its parts, in points;
``draw`` and ``interactive`` draw them with matplotlib and plotly. Tooltips and explanations are
made from the same `Spec`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from aatoolkit._util.text import some_of, visible
from aatoolkit.display.plot.data import Numbers, PlotData
from aatoolkit.display.plot.style import INK, Style
from aatoolkit.errors import ArgumentError, ItemNotFound
from aatoolkit.stats.explain import Explainer, Explanation

PITCH = 21.0
"""The height of a row in points."""


class Name(NamedTuple):
    """The name of a row or column, and whether it is the project's own brand or site."""

    text: str
    is_own: bool = False

    @property
    def full(self) -> str:
        """The name as it is drawn, with "(own)" after an own brand or site."""
        return f"{self.text} (own)" if self.is_own and self.text else self.text


@dataclass(frozen=True)
class Scale:
    """A horizontal or vertical scale of a picture: of numbers, times or names.

    Parameters
    ----------
    low, high : float
        The ends; ``high`` is below ``low`` if the scale is reversed, as for ranks.
    kind : str
        ``number``, ``time`` in days, ``names`` at 0, 1, 2 …, or ``none`` without ticks.
    unit : str, optional
        The unit of numbers.
    label : str
        The name of the numbers, if the title does not name them.
    names : tuple of Name
        The names of rows or columns.
    is_whole : bool
        Whether ticks are whole numbers.
    days : tuple of float
        The times, in days, if each has a tick of its own.
    """

    low: float = 0.0
    high: float = 1.0
    kind: str = "number"
    unit: str | None = None
    label: str = ""
    names: tuple[Name, ...] = ()
    is_whole: bool = False
    days: tuple[float, ...] = ()

    def within(self, values: Any) -> Numbers:
        """Return values, clipped to the ends of the scale."""
        low, high = sorted((self.low, self.high))
        return np.clip(floats(values), low, high)

    def share(self, value: float) -> float:
        """Return the position of a value on the scale: 0 at the low end, 1 at the high end."""
        return (value - self.low) / ((self.high - self.low) or 1.0)


NONE = Scale(kind="none")


# --- marks ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mark:
    """Marks of one kind and style, drawn together.

    Parameters
    ----------
    kind : str
        ``boxes`` from ``x`` to ``to``, centred at ``y``; ``line``, with a gap at NaN; ``dots``;
        ``band`` from ``y`` to ``to``; ``words``, i.e. texts.
    x, y, to : array of float
        The positions of the marks; infinite means the end of the scale.
    style : Style
        Their colour, symbol, dash and fill.
    size : float
        For boxes the height, as a fraction of a row, or infinite for the height of all rows; for
        dots the size and for lines the width, in points.
    words : sequence of str
        The text of each mark.
    tips : sequence of str
        The tooltip of each mark.
    strength : array of float, optional
        For the cells of a heat map and the texts on them: how strong the colour of each cell is,
        from 0 to 1.
    shift : float
        For texts: how many points to the right of its position a text begins. If 0, the text is
        centred at its position.
    """

    kind: str
    x: Numbers
    y: Numbers
    style: Style = INK
    to: Numbers | None = None
    size: float = 0.7
    words: Sequence[str] = ()
    tips: Sequence[str] = ()
    strength: Numbers | None = None
    shift: float = 5.0

    def __len__(self) -> int:
        return len(self.x)

    def corners(self, spec: Spec, height: float) -> tuple[Numbers, Numbers, Numbers, float]:
        """Return the starts and ends of boxes along x, their middles along y, and their height.

        ``height`` is the height of the area of marks in points.
        """
        starts, ends = (spec.x.within(part) for part in (self.x, self.to))
        y_range = abs(spec.y.high - spec.y.low)
        if np.isinf(self.size):
            return starts, ends, np.full(len(self), (spec.y.low + spec.y.high) / 2), y_range
        # Few rows in much room are far apart, not fat.
        max_height = 1.0 if self.size >= 1 else min(1.0, 2 * PITCH * y_range / height)
        return starts, ends, self.y, self.size * max_height


def floats(values: npt.ArrayLike) -> Numbers:
    """Return one or several numbers as an array of floats."""
    return np.atleast_1d(np.asarray(values, np.float64))


def line_segments(
    x0: npt.ArrayLike, x1: npt.ArrayLike, y0: npt.ArrayLike, y1: npt.ArrayLike, style: Style,
    size: float,
) -> Mark:  # fmt: skip
    """Return a mark of straight lines from (``x0``, ``y0``) to (``x1``, ``y1``).

    Lines with a NaN in ``x0`` or ``x1`` are left out.
    """
    segments = np.transpose(np.broadcast_arrays(*map(floats, (x0, x1, np.nan, y0, y1, np.nan))))
    drawn = segments[~np.isnan(segments[:, :2]).any(axis=1)]
    xs, ys = drawn[:, :3].ravel(), drawn[:, 3:].ravel()
    return Mark("line", xs, ys, replace(style, symbol=""), size=size)


# --- panels and pictures ----------------------------------------------------------------------


@dataclass(frozen=True)
class WordColumn:
    """A column of texts beside the rows, with a heading; ``signs`` are drawn before the texts."""

    words: Sequence[str]
    heading: str = ""
    align: str = "left"
    is_bold: bool = False
    signs: Sequence[Style | None] = ()


_MOST_ROWS = 500


@dataclass(frozen=True)
class Spec:
    """A picture before it is drawn: marks on two scales, and texts.

    Parameters
    ----------
    kind : str
        The kind of picture.
    data : PlotData
        The rows that are drawn, with their metadata.
    columns : sequence of str
        The columns that are drawn, the main one first; in a picture of counts of rows, the columns
        that the rows are grouped by.
    title : str
        The title, which says what the picture shows.
    x, y : Scale
        The horizontal and the vertical scale.
    marks : sequence of Mark
        The marks (bars, dots, lines, cells), in the order of drawing.
    headline : str
        The main result, as short as a title; empty if there is none.
    how : str
        A sentence on how to read the picture.
    window : str
        The days and filters that the picture is about.
    extent : str
        How many of all rows and columns are drawn, if not all; it is written in any case.
    n : str
        A part of the caption: the size of the sample, or what is not drawn.
    caption : sequence of str
        The parts of the caption: the source, the sample, and what is missing. Parts that do not
        fit are left out.
    legend : sequence of (str, Style, str)
        The entries of the legend: the words, the style, and the kind of mark.
    beside : sequence of WordColumn
        The columns of words to the right of the rows.
    labels : sequence of (float, str, Style)
        The names of lines at their right ends.
    height : float
        The height of the area of marks in points, if there is room.
    by : sequence of str
        The columns whose values name a mark, besides the key columns.
    bounds : pandas.DataFrame, optional
        The ends of the intervals that are drawn.
    """

    kind: str
    data: PlotData
    columns: Sequence[str]
    title: str
    x: Scale
    y: Scale
    marks: Sequence[Mark]
    headline: str = ""
    how: str = ""
    window: str = ""
    extent: str = ""
    n: str = ""
    caption: Sequence[str] = ()
    legend: Sequence[tuple[str, Style, str]] = ()
    beside: Sequence[WordColumn] = ()
    labels: Sequence[tuple[float, str, Style]] = ()
    height: float = 180.0
    by: Sequence[str] = ()
    bounds: pd.DataFrame | None = None

    @property
    def whole_title(self) -> str:
        """The title, with how many of all rows and columns are drawn."""
        return f"{self.title}, {self.extent}".removesuffix(", ")

    @property
    def finding(self) -> str:
        """The picture in words: its title and headline, and the texts of its marks or rows."""
        facts_of: dict[str, list[str]] = {}
        for mark in self.marks:
            for tip in mark.tips:
                label, fact = f"{tip}\n".split("\n")[:2]
                if self.x.kind in ("time", "names"):
                    label, _, position = label.rpartition(", ")
                    fact = f"{position} {fact}"
                facts_of.setdefault(label, []).append(fact.replace(": ", " "))
        for row, name in enumerate(self.y.names if not facts_of else ()):
            words = [f"{c.heading} {c.words[row]}".strip() for c in self.beside if c.words[row]]
            facts_of[name.full or str(row + 1)] = words
        texts = [f"{label}: {some_of([*dict.fromkeys(facts)], 6)}"
                 for label, facts in facts_of.items()]  # fmt: skip
        notes = [word for mark in self.marks if not facts_of for word in mark.words]
        sentences = filter(None, [self.headline, *notes, some_of(texts, 12, "; ")])
        return visible(f"{self.whole_title}: {'; '.join(sentences)}")

    def explain(
        self, mark: Any = None, column: str | None = None, *, within: Any = None
    ) -> Explanation:
        """Explain the number of a mark (bar, dot or cell); see `Picture.explain`."""
        frame, bounds, explainer = self.data.frame, self.bounds, Explainer(within)
        row = self._row_selector(mark)
        if self.kind == "counts":
            return self._explain_count(row, explainer)
        if bounds is None or column in frame or column not in bounds:
            return explainer.explain(frame, row, column or next(iter(self.columns), None))
        # The end of an interval stands in another frame: in the same row, or named by its keys.
        if isinstance(row, Mapping):
            matches = np.flatnonzero(explainer.rows_with(frame, row)).tolist()
            if len(matches) != 1:
                return explainer.explain(frame, row, self.columns[0])
            row = matches[0]
        keys = [name for name in self._label_columns if name in bounds]
        key_values = {name: frame[name].iloc[row] for name in keys} if row is not None else {}
        return explainer.explain(bounds, key_values or row, column)

    @property
    def _label_columns(self) -> list[str]:
        """The names of the columns whose values identify a mark: label columns and key columns."""
        names = (*(self.by or (self.data.label_column or "",)), *self.data.keys)
        return [*dict.fromkeys(filter(None, names))]

    def _row_selector(self, mark: Any) -> Any:
        if mark is None or isinstance(mark, Mapping | int):
            return mark
        label = pd.Timestamp(mark).date().isoformat() if hasattr(mark, "isoformat") else str(mark)
        texts_by_column = {name: [*map(str, self.data.frame[name])] for name in self._label_columns}
        for name, words in texts_by_column.items():
            # The text of a time begins with its day.
            if {label, f"{label} 00:00:00"} & {*words}:
                return {name: label}
        examples = ", ".join(
            dict.fromkeys(text for words in texts_by_column.values() for text in words[:4])
        )
        raise ItemNotFound(f"no mark is named {label!r}; there are {examples} …", key=mark)

    def _explain_count(self, row: Any, explainer: Explainer) -> Explanation:
        """Explain the number of rows that a mark counts; each row is a child of the explanation."""
        frame, columns = self.data.frame, self.columns
        if not isinstance(row, Mapping):
            message = f"a mark counts rows: name it by {' and '.join(columns)}"
            raise ArgumentError(message, argument="mark")
        matches = np.flatnonzero(explainer.rows_with(frame, row)).tolist()
        conditions = " and ".join(f"{name} is {value}" for name, value in row.items())
        return Explanation(
            len(matches), "rows", row, operation="count",
            formula=f"{len(matches):,} of {len(frame):,} rows where {conditions}",
            rows=len(matches),
            children=tuple(explainer.explain(frame, match, columns[0]) for match in
                           matches[:_MOST_ROWS]),
        )  # fmt: skip
