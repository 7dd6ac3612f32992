"""`Spec`, the description of a picture before it is drawn: marks (bars, dots, lines) and texts.

The function of each kind of picture returns a `Spec`. The module ``layout`` computes the positions
of its parts, in points. The modules ``draw`` and ``interactive`` draw the parts with matplotlib and
plotly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from aatoolkit._util.text import join_some, visible
from aatoolkit.display.plot.data import Numbers, PlotData
from aatoolkit.display.plot.style import INK_STYLE, Style, Texts
from aatoolkit.errors import ArgumentError, ItemNotFound
from aatoolkit.stats.explain import Explainer, Explanation

ROW_HEIGHT = 21.0
"""The usual height of a row of a picture, in points."""


class DisplayName(NamedTuple):
    """The name of a row or column of a picture, and whether it is an own brand or site."""

    text: str
    is_own: bool = False

    @property
    def full_text(self) -> str:
        """The name as it is drawn: "(own)" follows the name of an own brand or site."""
        return f"{self.text} (own)" if self.is_own and self.text else self.text


@dataclass(frozen=True)
class Scale:
    """A horizontal or vertical scale of a picture: of numbers, times or names.

    - ``low``, ``high``: the values at its left and right end, or its lower and upper end. ``low``
      is the larger one if the scale is reversed, as for ranks.
    - ``kind``: ``number``; ``time``, in days since 1970; ``names``, which stand at 0, 1, 2 …; or
      ``none``, without ticks.
    - ``label``: the label of the axis, or "".
    - ``category_names``: the names on a scale of names.
    - ``is_whole``: whether ticks are integers.
    - ``tick_days``: the times that may have ticks, in days since 1970.
    """

    low: float = 0.0
    high: float = 1.0
    kind: str = "number"
    unit: str | None = None
    label: str = ""
    category_names: Sequence[DisplayName] = ()
    is_whole: bool = False
    tick_days: Sequence[float] = ()

    def clip(self, values: Any) -> Numbers:
        """Return values clipped to the ends of the scale."""
        lower_bound, upper_bound = sorted((self.low, self.high))
        return np.clip(to_floats(values), lower_bound, upper_bound)

    def to_fraction(self, value: float) -> float:
        """Return the position of a value on the scale, from 0 at ``low`` to 1 at ``high``."""
        return (value - self.low) / ((self.high - self.low) or 1.0)


NO_SCALE = Scale(kind="none")


# --- marks ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mark:
    """A set of marks (boxes, dots, lines, bands or texts) of one kind and style, drawn together.

    - ``kind``: ``boxes`` from ``x`` to ``ends``, vertically centred at ``y``; ``line``, with a gap
      at NaN; ``dots``; ``band``, the area from ``y`` up to ``ends``; or ``words``, i.e. texts.
    - ``x``, ``y``, ``ends``: the positions; an infinite value stands for the end of the scale.
    - ``size``: of boxes, the height as a fraction of a row; of dots and lines, the size in points.
    - ``texts``, ``tooltips``: the text and the tooltip of each mark.
    - ``colour_strength``: how strong the colour of each cell of a heat map is, from 0 to 1.
    - ``text_offset``: how many points right of its position a text begins; 0 means that the text is
      centred there.
    """

    kind: str
    x: Numbers
    y: Numbers
    style: Style = INK_STYLE
    ends: Numbers | None = None
    size: float = 0.7
    texts: Texts = ()
    tooltips: Texts = ()
    colour_strength: Numbers | None = None
    text_offset: float = 8.0

    def __len__(self) -> int:
        return len(self.x)

    def rectangle_bounds(self, spec: Spec) -> tuple[Numbers, Numbers, Numbers, float]:
        """Return arrays of the starts, ends and vertical centres of boxes, and their height.

        All are in units of the scales.
        """
        starts, ends = (spec.x.clip(x_values) for x_values in (self.x, self.ends))
        if np.isinf(self.size):
            middles = np.full(len(self), (spec.y.low + spec.y.high) / 2)
            return starts, ends, middles, abs(spec.y.high - spec.y.low)
        return starts, ends, self.y, self.size


def to_floats(numbers: npt.ArrayLike) -> Numbers:
    """Return a number or several numbers as a one-dimensional array of floats."""
    return np.atleast_1d(np.asarray(numbers, np.float64))


def make_line_segments(
    x_starts: npt.ArrayLike, x_ends: npt.ArrayLike, y_starts: npt.ArrayLike, y_ends: npt.ArrayLike,
    style: Style, line_width: float,
) -> Mark:  # fmt: skip
    """Create a mark of straight lines.

    The lines lead from (``x_starts``, ``y_starts``) to (``x_ends``, ``y_ends``). Lines that start
    or end at NaN are not seen. ``line_width`` is the line width in points.
    """
    segments = np.transpose(
        np.broadcast_arrays(*map(to_floats, (x_starts, x_ends, np.nan, y_starts, y_ends, np.nan)))
    )
    return Mark(
        "line",
        segments[:, :3].ravel(),
        segments[:, 3:].ravel(),
        replace(style, symbol=""),
        size=line_width,
    )


# --- pictures ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class TextColumn:
    """A column of texts beside a picture's rows, with a heading.

    ``texts`` are the texts. ``symbol_styles`` has for each text the style of a symbol before it,
    or None; it is empty if there are no symbols.
    """

    texts: Texts
    heading: str = ""
    align: str = "left"
    is_bold: bool = False
    symbol_styles: Sequence[Style | None] = ()


_MAX_EXPLAINED_ROWS = 500
"""The maximum number of counted rows that are explained one by one."""


@dataclass(frozen=True)
class Spec:
    """A picture before it is drawn: marks on two scales, and texts.

    - ``data``: the rows that are drawn.
    - ``columns``: the columns that are drawn, the main one first. A picture that counts rows has
      the columns that rows are grouped by.
    - ``headline``: the main result, as short as a title; empty if there is none.
    - ``reading_note``: a sentence on how to read the picture.
    - ``window_text``: the days and filters that the picture is about.
    - ``extent_text``: how many of all rows and columns are drawn; empty if all are.
    - ``sample_note``: a part of the caption: the size of the sample, or what is not drawn.
    - ``caption``: the parts of the caption; parts that do not fit are left out.
    - ``legend``: the text, the style, and the kind of mark (such as ``dots``) of each entry.
    - ``text_columns``: the columns of texts to the right of the rows.
    - ``line_labels``: the names of lines at their right ends: the value at the end, text and style.
    - ``height``: the height of the area of marks in points, if there is room.
    - ``mark_columns``: the names of the columns whose values name a mark, besides the key columns.
    - ``interval_frame``: the columns ``…_low`` and ``…_high`` of the drawn confidence intervals.
    """

    kind: str
    data: PlotData
    columns: Texts
    title: str
    x: Scale
    y: Scale
    marks: Sequence[Mark]
    headline: str = ""
    reading_note: str = ""
    window_text: str = ""
    extent_text: str = ""
    sample_note: str = ""
    caption: Texts = ()
    legend: Sequence[tuple[str, Style, str]] = ()
    text_columns: Sequence[TextColumn] = ()
    line_labels: Sequence[tuple[float, str, Style]] = ()
    height: float = 180.0
    mark_columns: Texts = ()
    interval_frame: pd.DataFrame | None = None

    @property
    def title_with_extent(self) -> str:
        """The title, followed by how many of all rows and columns are drawn."""
        return f"{self.title}, {self.extent_text}".removesuffix(", ")

    @property
    def finding(self) -> str:
        """The picture in words: its title, its headline, and the texts of its marks or rows."""
        texts_by_label: dict[str, list[str]] = {}
        rows_and_tooltips = [
            (y * (self.y.kind == "names"), tooltip)
            # Of a gap, the dot that is drawn last, over the other, is named first.
            for mark in self.marks[:: -1 if self.kind == "gap" else 1]
            for y, tooltip in zip(mark.y, mark.tooltips, strict=False)
        ]
        # In the order of the rows, also if an own brand is a mark of its own.
        for _, tooltip in sorted(rows_and_tooltips, key=itemgetter(0)):
            mark_label, label_text = f"{tooltip}\n".split("\n")[:2]
            if self.x.kind in ("time", "names"):
                mark_label, _, position = mark_label.rpartition(", ")
                label_text = f"{position} {label_text}"
            texts_by_label.setdefault(mark_label, []).append(label_text.replace(": ", " "))
        for row, name in enumerate(self.y.category_names if not texts_by_label else ()):
            column_texts = [
                f"{column.heading} {column.texts[row]}".strip()
                for column in self.text_columns
                if column.texts[row]
            ]
            texts_by_label[name.full_text or str(row + 1)] = column_texts
        row_texts = [f"{mark_label}: {join_some([*dict.fromkeys(label_texts)], 6)}"
                     for mark_label, label_texts in texts_by_label.items()]  # fmt: skip
        notes = [mark_text for mark in self.marks if not texts_by_label for mark_text in mark.texts]
        sentences = filter(None, [self.headline, *notes, join_some(row_texts, 12, "; ")])
        return visible(f"{self.title_with_extent}: {'; '.join(sentences)}")

    def explain(
        self, mark: Any = None, column: str | None = None, *, within: Any = None
    ) -> Explanation:
        """Explain where the number of a bar, point or cell comes from.

        Parameters
        ----------
        mark : str, mapping, date or int, optional
            The name of the mark, such as ``"chatgpt"`` or a day. Or a mapping from columns to
            values, such as ``{"date": "2026-11-15", "engine": "chatgpt"}``. Or the position of its
            row in ``data``. By default the first mark without a number, else the first mark.
        column : str, optional
            The column of the number; by default the main column of the picture. For the ends of an
            interval, add ``_low`` or ``_high`` to its name.
        within : Study, Archive, Tables, Dataset, or a list of these, optional
            Where to look for the API responses, besides memory.

        Returns
        -------
        Explanation
            The same tree as from ``df.aa.explain``.

        Raises
        ------
        ArgumentError
            If nothing is drawn. If the marks count rows and ``mark`` is left out.
        ItemNotFound
            If there is no such column. If there is no such mark, or several.
        """
        frame = self.data.frame
        bounds = self.interval_frame
        explainer = Explainer(within)
        row = self._row_selector(mark)
        if self.kind == "counts":
            return self._explain_count(row, explainer)
        if bounds is None or column in frame or column not in bounds:
            return explainer.explain(frame, row, column or next(iter(self.columns), None))
        # The end of an interval is in another frame, in the same row or that with the same key.
        if isinstance(row, Mapping):
            row = np.flatnonzero(explainer.rows_with(frame, row)).tolist()[0]
        columns = [name for name in self._label_columns if name in bounds]
        key_values = {name: frame[name].iloc[row] for name in columns} if row is not None else {}
        return explainer.explain(bounds, key_values or row, column)

    @property
    def _label_columns(self) -> list[str]:
        """The names of the columns that identify a mark: label columns, then key columns."""
        mark_columns = self.mark_columns or [self.data.label_column or ""]
        return [*dict.fromkeys(filter(None, (*mark_columns, *self.data.key_columns)))]

    def _row_selector(self, mark: Any) -> Any:
        """Return the row of a mark: None, a position, or a mapping of columns to values.

        A name or a date is looked up in the columns that name marks.
        """
        if mark is None or isinstance(mark, Mapping | int):
            return mark
        label = pd.Timestamp(mark).date().isoformat() if hasattr(mark, "isoformat") else str(mark)
        examples: list[str] = []
        for column in self._label_columns:
            cell_texts = [*map(str, self.data.frame[column])]
            # The text of a time begins with its day.
            if {label, f"{label} 00:00:00"} & {*cell_texts}:
                return {column: label}
            examples += cell_texts[:4]
        message = f"no mark is named {label!r}; there are {', '.join(dict.fromkeys(examples))} …"
        raise ItemNotFound(message, key=mark)

    def _explain_count(self, row: Any, explainer: Explainer) -> Explanation:
        """Return the explanation of a mark that counts rows; its children explain these rows."""
        frame = self.data.frame
        columns = self.columns
        if not isinstance(row, Mapping):
            message = f"a mark counts rows: name it by {' and '.join(columns)}"
            raise ArgumentError(message, argument="mark")
        matching_positions = np.flatnonzero(explainer.rows_with(frame, row)).tolist()
        conditions = " and ".join(f"{name} is {value}" for name, value in row.items())
        return Explanation(
            len(matching_positions), "rows", row, operation="count",
            formula=f"{len(matching_positions):,} of {len(frame):,} rows where {conditions}",
            rows=len(matching_positions),
            children=tuple(explainer.explain(frame, matching_position, columns[0])
                           for matching_position in
                           matching_positions[:_MAX_EXPLAINED_ROWS]),
        )  # fmt: skip
