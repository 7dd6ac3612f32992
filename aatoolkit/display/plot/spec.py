"""`Spec`, the description of a picture before it is drawn: marks (bars, dots, lines) and texts.

Each kind of picture makes a `Spec`. The module ``layout`` computes the positions of its parts, in
points. The modules ``draw`` and ``interactive`` draw them with matplotlib and plotly.
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
from aatoolkit.display.plot.style import INK, Style, Texts
from aatoolkit.errors import ArgumentError, ItemNotFound
from aatoolkit.stats.explain import Explainer, Explanation

PITCH = 21.0
"""The height of a row in points."""


class Name(NamedTuple):
    """The name of a row or column of a picture, and whether it is the own brand or site."""

    text: str
    is_own: bool = False

    @property
    def full(self) -> str:
        """The name as drawn: an own brand or site is followed by "(own)"."""
        return f"{self.text} (own)" if self.is_own and self.text else self.text


@dataclass(frozen=True)
class Scale:
    """A horizontal or vertical scale of a picture: of numbers, times or names.

    - ``low``, ``high``: the ends; ``high`` is below ``low`` if the scale is reversed, as for ranks.
    - ``kind``: ``number``, ``time`` in days, ``names`` at 0, 1, 2 …, or ``none`` without ticks.
    - ``label``: the name of the numbers, if the title does not name them.
    - ``is_whole``: whether ticks are integers.
    - ``days``: the times, in days, if each has its own tick.
    """

    low: float = 0.0
    high: float = 1.0
    kind: str = "number"
    unit: str | None = None
    label: str = ""
    names: Sequence[Name] = ()
    is_whole: bool = False
    days: Sequence[float] = ()

    def within(self, values: Any) -> Numbers:
        """Return values clipped to the ends of the scale."""
        low, high = sorted((self.low, self.high))
        return np.clip(floats(values), low, high)

    def share(self, value: float) -> float:
        """Return the position of a value on the scale: 0 at the low end, 1 at the high end."""
        return (value - self.low) / ((self.high - self.low) or 1.0)


NONE = Scale(kind="none")


# --- marks ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mark:
    """A set of marks (bars, dots, lines or texts) of one kind and style, drawn together.

    - ``kind``: ``boxes`` from ``x`` to ``to``, centred at ``y``; ``line``, with a gap at NaN;
      ``dots``; ``band`` from ``y`` to ``to``; ``words``, i.e. texts.
    - ``x``, ``y``, ``to``: the positions; an infinite value stands for the end of the scale.
    - ``size``: of boxes, the height as a fraction of a row; of dots and lines, the size in points.
    - ``words``, ``tips``: the text and the tooltip of each mark.
    - ``strength``: the colour of each cell of a heat map, from 0 (weak) to 1 (strong).
    - ``shift``: how many points right of its position a text begins; 0 means that it is centred.
    """

    kind: str
    x: Numbers
    y: Numbers
    style: Style = INK
    to: Numbers | None = None
    size: float = 0.7
    words: Texts = ()
    tips: Texts = ()
    strength: Numbers | None = None
    shift: float = 5.0

    def __len__(self) -> int:
        return len(self.x)

    def corners(self, spec: Spec, height: float) -> tuple[Numbers, Numbers, Numbers, float]:
        """Return arrays of the starts, ends and vertical centres of boxes, and their height.

        ``height`` is the height of the area of marks in points.
        """
        starts, ends = (spec.x.within(part) for part in (self.x, self.to))
        y_range = abs(spec.y.high - spec.y.low)
        if np.isinf(self.size):
            return starts, ends, np.full(len(self), (spec.y.low + spec.y.high) / 2), y_range
        # If few rows have much room, boxes are far apart rather than high.
        max_height = 1.0 if self.size >= 1 else min(1.0, 2 * PITCH * y_range / height)
        return starts, ends, self.y, self.size * max_height


def floats(values: npt.ArrayLike) -> Numbers:
    """Return a number or several numbers as a one-dimensional array of floats."""
    return np.atleast_1d(np.asarray(values, np.float64))


def line_segments(
    x0: npt.ArrayLike, x1: npt.ArrayLike, y0: npt.ArrayLike, y1: npt.ArrayLike, style: Style,
    size: float,
) -> Mark:  # fmt: skip
    """Return a mark of straight lines from (``x0``, ``y0``) to (``x1``, ``y1``), without NaNs."""
    segments = np.transpose(np.broadcast_arrays(*map(floats, (x0, x1, np.nan, y0, y1, np.nan))))
    drawn = segments[~np.isnan(segments[:, :2]).any(axis=1)]
    xs, ys = drawn[:, :3].ravel(), drawn[:, 3:].ravel()
    return Mark("line", xs, ys, replace(style, symbol=""), size=size)


# --- panels and pictures ----------------------------------------------------------------------


@dataclass(frozen=True)
class WordColumn:
    """A column of texts beside a picture's rows, with a heading and a symbol before each text."""

    words: Texts
    heading: str = ""
    align: str = "left"
    is_bold: bool = False
    signs: Sequence[Style | None] = ()


_MOST_ROWS = 500


@dataclass(frozen=True)
class Spec:
    """A picture before it is drawn: marks on two scales, and texts.

    - ``data``: the rows that are drawn.
    - ``columns``: the columns that are drawn, the main one first. A picture that counts rows has
      the columns that rows are grouped by.
    - ``headline``: the main result, as short as a title; empty if there is none.
    - ``how``: a sentence on how to read the picture.
    - ``window``: the days and filters that the picture is about.
    - ``extent``: how many of all rows and columns are drawn; empty if all are.
    - ``n``: a part of the caption: the size of the sample, or what is not drawn.
    - ``caption``: the parts of the caption; parts that do not fit are left out.
    - ``legend``: the words, the style, and the kind of mark of each entry.
    - ``beside``: the columns of words to the right of the rows.
    - ``labels``: the names of lines at their right ends.
    - ``height``: the height of the area of marks in points, if there is room.
    - ``by``: the columns whose values name a mark, besides the key columns.
    - ``bounds``: the ends of the intervals that are drawn.
    """

    kind: str
    data: PlotData
    columns: Texts
    title: str
    x: Scale
    y: Scale
    marks: Sequence[Mark]
    headline: str = ""
    how: str = ""
    window: str = ""
    extent: str = ""
    n: str = ""
    caption: Texts = ()
    legend: Sequence[tuple[str, Style, str]] = ()
    beside: Sequence[WordColumn] = ()
    labels: Sequence[tuple[float, str, Style]] = ()
    height: float = 180.0
    by: Texts = ()
    bounds: pd.DataFrame | None = None

    @property
    def whole_title(self) -> str:
        """The title, followed by how many of all rows and columns are drawn."""
        return f"{self.title}, {self.extent}".removesuffix(", ")

    @property
    def finding(self) -> str:
        """The picture in words: its title, its headline, and the texts of its marks or rows."""
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
        # The end of an interval is in another frame, in the same row or that with the same key.
        if isinstance(row, Mapping):
            row = np.flatnonzero(explainer.rows_with(frame, row)).tolist()[0]
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
        examples: list[str] = []
        for name in self._label_columns:
            words = [*map(str, self.data.frame[name])]
            # The text of a time begins with its day.
            if {label, f"{label} 00:00:00"} & {*words}:
                return {name: label}
            examples += words[:4]
        message = f"no mark is named {label!r}; there are {', '.join(dict.fromkeys(examples))} …"
        raise ItemNotFound(message, key=mark)

    def _explain_count(self, row: Any, explainer: Explainer) -> Explanation:
        """Explain the number of rows that a mark counts; each row becomes a child in the tree."""
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
