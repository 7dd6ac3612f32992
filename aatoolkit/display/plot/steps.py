"""Change points as steps: the rate of each stretch of days, and the days that hold the change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import matplotlib.dates as mdates
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from aatoolkit.display.plot import canvas, fonts
from aatoolkit.display.plot.labels import axis_label, capitalized, format_number
from aatoolkit.display.plot.options import PlotOptions
from aatoolkit.display.plot.roles import BLANK, PlotData
from aatoolkit.display.plot.style import INK, OWN, SERIES, UNMEASURED_FILL
from aatoolkit.sections.aggregation import FRACTION

_NAMES = ("day", "first_day", "last_day", "before", "after", "from_day", "to_day")


@dataclass(frozen=True)
class Steps:
    """The rate of each stretch of days, with the interval of each change."""

    data: PlotData

    drawn = ("after",)
    height = 3.4

    @property
    def title(self) -> str:
        """The title."""
        return "When the rate changed" if self._changed() else "No change is shown"

    def _changed(self) -> bool:
        return any(day != BLANK for day in self.data.text("day"))

    @property
    def finding(self) -> str:
        """The main result in words, for the alternative text."""
        columns = [self.data.text(name) for name in ("day", "verdict", "why")]
        return "; ".join(
            f"{verdict} on {day}, {why}" if day != BLANK else f"{verdict}: {why}"
            for day, verdict, why in zip(*columns, strict=True)
        )

    def draw(self, axes: Axes) -> list[str]:
        """Draw the steps and return the notes."""
        data, unit = self.data, self.data.unit("after")
        day, first, last, start, end = (
            data.moments(name) for name in ("day", "first_day", "last_day", "from_day", "to_day")
        )
        before, after = data.values("before"), data.values("after")
        canvas.style_axes(axes, "y")
        if start.isna().all() or np.isnan(before).all():
            axes.set_ylim(0, 1)
            axes.set_yticks([])
            axes.axhspan(0, 1, **UNMEASURED_FILL)
            box = {"facecolor": "white", "edgecolor": "none", "pad": 4}
            words = fonts.wrap(data.text("why")[0], 70)
            middle: dict[str, Any] = {"transform": axes.transAxes, "ha": "center", "va": "center"}
            axes.text(0.5, 0.5, words, **middle, **fonts.literal_text(color=INK, bbox=box))
            axes.set_xticks([])
            return [f"{capitalized(data.text('method')[0])}."]
        for row in range(len(data)):
            turn = end[row] if day.isna()[row] else day[row]
            stretches = [(start[row], turn, before[row])]
            if not day.isna()[row]:
                axes.axvspan(first[row], last[row], color=SERIES[1].colour, alpha=0.18, linewidth=0)
                axes.axvline(turn, color=SERIES[1].colour, linewidth=1.4, linestyle=(0, (4, 2)))
                stretches.append((turn, end[row], after[row]))
            for left, right, rate in stretches[: 2 if row + 1 == len(data) else 1]:
                axes.hlines(rate, left, right, color=OWN.colour, linewidth=2.6)
                axes.annotate(
                    format_number(rate, unit),
                    (mdates.date2num(left) / 2 + mdates.date2num(right) / 2, rate),
                    xytext=(0, 5),
                    textcoords="offset points",
                    ha="center",
                    **fonts.literal_text(fontsize=9, color=canvas.text_colour(axes)),
                )
        most = float(np.nanmax([before, after]))
        axes.set_ylim(0, min(most * 1.35, 1.08) if unit == FRACTION else most * 1.35 or 1.0)
        axes.set_xlim(start.min(), end.max())
        canvas.date_axis(axes, 8)
        canvas.number_axis(axes.yaxis, unit)
        canvas.label_axes(axes, y=axis_label(data, "after").replace("after", "rate"))
        notes = ["Line: the rate of a stretch of days."]
        if self._changed():
            handles = [
                Line2D([], [], color=SERIES[1].colour, linestyle=(0, (4, 2))),
                Patch(color=SERIES[1].colour, alpha=0.18, linewidth=0),
            ]
            column = data.column("first_day")
            level = column.doc.split(" interval")[0].rsplit(" ", 1)[-1] if column else "the level"
            canvas.legend(axes, handles, ["most likely day", f"days that hold it with {level}"])
        return [*notes, f"{capitalized(data.text('method')[0])}."]


def plan(data: PlotData, options: PlotOptions) -> Steps | None:
    """Plan the changes of a series; None for other frames."""
    if options.x or options.y or options.by or not data.table.startswith("statistics:changes"):
        return None
    return Steps(data) if all(name in data.kinds for name in _NAMES) else None
