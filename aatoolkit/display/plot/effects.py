"""Comparisons as dots with intervals, and the parts of a change as a waterfall."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from aatoolkit.display.plot import canvas, fonts
from aatoolkit.display.plot.labels import capitalized, format_number, humanize
from aatoolkit.display.plot.options import PlotOptions
from aatoolkit.display.plot.roles import PlotData
from aatoolkit.display.plot.style import BAD, GOOD, MUTED, REST, UNMEASURED_FILL
from aatoolkit.sections.aggregation import FRACTION, FRACTION_CHANGE

_COMPARED = ("measure", "change", "low", "high", "verdict", "method")
_PARTS = ("part", "effect", "low", "high", "verdict", "method")
_SHOWN = {"up": GOOD, "down": BAD}


@dataclass(frozen=True)
class ChangeDots:
    """One dot a comparison with its interval; what is not shown to differ is grey."""

    data: PlotData
    left_out: int

    @property
    def drawn(self) -> tuple[str, ...]:
        """The columns that are drawn."""
        return ("change",)

    @property
    def height(self) -> float:
        """The height in inches."""
        return 1.9 + 0.3 * max(len(self.data), 3)

    @property
    def title(self) -> str:
        """The title."""
        most = f", the first {len(self.data)} of {len(self.data) + self.left_out}"
        return "What changed, and what is not shown to" + (most if self.left_out else "")

    @property
    def units(self) -> list[str | None]:
        """The unit of each change."""
        if "unit" not in self.data.kinds:
            return [self.data.unit("change")] * len(self.data)
        return [FRACTION_CHANGE if unit == FRACTION else None for unit in self.data.text("unit")]

    @property
    def labels(self) -> list[str]:
        """The label of each row: the things compared."""
        names = ["measure", *(key for key in self.data.keys if key != "measure")]
        columns = [self.data.text(name) for name in names]
        # A key figure is named after its metric, which then stands there once.
        return [
            " · ".join([humanize(row[0]), *(w for w in row[1:] if w not in ("(missing)", row[0]))])
            for row in zip(*columns, strict=True)
        ]

    @property
    def finding(self) -> str:
        """The main result in words, for the alternative text."""
        verdicts = self.data.text("verdict")
        sure = [
            f"{label} {format_number(change, unit)}"
            for label, change, verdict, unit in zip(
                self.labels, self.data.values("change"), verdicts, self.units, strict=True
            )
            if verdict in _SHOWN
        ]
        counts = [
            f"{verdicts.count(word)} {word}"
            for word in ("no evidence", "cannot say")
            if word in verdicts
        ]
        return "; ".join([*(sure or ["nothing is shown to have changed"]), *counts])

    def draw(self, axes: Axes) -> list[str]:
        """Draw the dots and return the notes."""
        data, verdicts = self.data, self.data.text("verdict")
        change, low, high = (data.values(name) for name in ("change", "low", "high"))
        decided = np.array([verdict != "cannot say" for verdict in verdicts])
        drawn = {unit for unit, is_decided in zip(self.units, decided, strict=True) if is_decided}
        common = drawn.pop() if len(drawn) == 1 else None
        ends = np.abs(np.concatenate([change[decided], low[decided], high[decided]]))
        reach = (
            1.0 if not len(ends) or np.isnan(ends).all() else float(np.nanmax(ends)) or 1.0
        ) * 1.08
        axes.axvline(0, color=canvas.muted_colour(axes), linewidth=0.9)
        for row, verdict in enumerate(verdicts):
            style = _SHOWN.get(verdict, REST)
            if verdict == "cannot say":
                axes.barh(row, 2 * reach, left=-reach, height=0.6, **UNMEASURED_FILL)
                words, at = "cannot say", 0.0
            else:
                axes.hlines(row, low[row], high[row], color=style.colour, linewidth=2)
                axes.plot(change[row], row, style.marker, color=style.colour, ms=7, zorder=3)
                words = f"{format_number(change[row], self.units[row])}  {verdict}"
                at = float(high[row])
            axes.annotate(
                words,
                (at, row),
                xytext=(6, 0),
                textcoords="offset points",
                va="center",
                **fonts.literal_text(fontsize=8, color=canvas.text_colour(axes)),
            )
        axes.set_xlim(-reach, reach * 1.25)
        canvas.style_axes(axes, "x")
        canvas.row_labels(axes, self.labels, [False] * len(data))
        canvas.label_axes(axes, "change")
        canvas.number_axis(axes.xaxis, common)
        method = next(
            (words for words in data.text("method") if words not in ("", "(missing)")), ""
        )
        doc = data.column("low")
        which = doc.doc.split(" of the change")[0].removeprefix("Lower end of the ") if doc else ""
        notes = [f"Whiskers: {which} of each change alone. {capitalized(method)}."] if which else []
        return [*notes, "Grey: not shown to differ after correction. Hatched: cannot be said."]


@dataclass(frozen=True)
class Waterfall:
    """The parts of a change, each beginning where the one before ends."""

    data: PlotData

    @property
    def drawn(self) -> tuple[str, ...]:
        """The columns that are drawn."""
        return ("effect",)

    @property
    def height(self) -> float:
        """The height in inches."""
        return 3.4

    @property
    def title(self) -> str:
        """The title."""
        return "Why it moved: other answers, or other questions"

    @property
    def finding(self) -> str:
        """The main result in words, for the alternative text."""
        unit = self.data.unit("effect")
        return "; ".join(
            f"{part} {format_number(value, unit)}"
            for part, value in zip(self.data.text("part"), self.data.values("effect"), strict=True)
        )

    def draw(self, axes: Axes) -> list[str]:
        """Draw the parts and return the notes."""
        parts, unit = self.data.text("part"), self.data.unit("effect")
        values = self.data.values("effect")
        low, high = (self.data.values(name) for name in ("low", "high"))
        start = 0.0
        for row, (part, value) in enumerate(zip(parts, values, strict=True)):
            if np.isnan(value):
                axes.barh(row, 1.0, height=0.6, **UNMEASURED_FILL)
                continue
            left = 0.0 if part == "total" else start
            style = REST if part == "total" else GOOD if value > 0 else BAD
            face: dict[str, Any] = {"color": style.colour, "hatch": style.hatch, "edgecolor": MUTED}
            axes.barh(row, value, left=left, height=0.6, linewidth=0.6, **face)
            if not np.isnan(low[row] + high[row]):
                axes.hlines(row, left + low[row], left + high[row], color=MUTED, linewidth=1.4)
            ends = [left, left + value, left + np.nan_to_num(high[row], nan=value)]
            axes.annotate(
                format_number(value, unit),
                (max(ends), row),
                xytext=(6, 0),
                textcoords="offset points",
                va="center",
                **fonts.literal_text(fontsize=9, color=canvas.text_colour(axes)),
            )
            start = left + value if part != "total" else start
        axes.axvline(0, color=canvas.muted_colour(axes), linewidth=0.9)
        axes.margins(x=0.2)
        canvas.style_axes(axes, "x")
        canvas.row_labels(axes, [capitalized(part) for part in parts], [False] * len(parts))
        canvas.label_axes(axes, "contribution to the change")
        canvas.number_axis(axes.xaxis, unit)
        method = self.data.text("method")[0]
        sure = not np.isnan(low[0])
        return [f"Whisker: interval of the rate alone. {method}."] if sure else [f"{method}."]


def comparison(data: PlotData, options: PlotOptions) -> ChangeDots | None:
    """Plan the changes of a comparison; None for other frames."""
    if options.x or options.y or options.by or not all(name in data.kinds for name in _COMPARED):
        return None
    most = options.top or 20
    rows = PlotData(data.frame.head(most).reset_index(drop=True), data.known)
    return ChangeDots(rows, max(len(data) - most, 0))


def waterfall(data: PlotData, options: PlotOptions) -> Waterfall | None:
    """Plan the parts of a decomposition; None for other frames."""
    if options.x or options.y or options.by or not all(name in data.kinds for name in _PARTS):
        return None
    return Waterfall(data)
