"""Funnel of one row: counts of consecutive steps, linked by the declared rates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes

from aatoolkit.display.plot import canvas
from aatoolkit.display.plot.labels import capitalized, format_number, humanize, row_name
from aatoolkit.display.plot.options import PlotOptions
from aatoolkit.display.plot.reasons import why_missing
from aatoolkit.display.plot.roles import PlotData
from aatoolkit.display.plot.style import MUTED, OWN, UNMEASURED_FILL
from aatoolkit.sections.aggregation import FRACTION


@dataclass(frozen=True)
class Funnel:
    """Counts, each a part of the one above."""

    data: PlotData
    drawn: tuple[str, ...]

    @property
    def height(self) -> float:
        """The height in inches."""
        return 1.4 + 0.5 * len(self.drawn)

    @property
    def title(self) -> str:
        """The title."""
        title = capitalized(f"from {humanize(self.drawn[0])} to {humanize(self.drawn[-1])}")
        return f"{row}: {title}" if (row := row_name(self.data)) else title

    @property
    def values(self) -> list[float]:
        """The count at each step."""
        return [float(self.data.values(name)[0]) for name in self.drawn]

    @property
    def finding(self) -> str:
        """The main result in words, for the alternative text."""
        return "; ".join(
            f"{humanize(name)} {'not measured' if np.isnan(value) else format_number(value)}{of}"
            for name, value, of in zip(self.drawn, self.values, self._of_previous(), strict=True)
        )

    def _of_previous(self) -> list[str]:
        notes = [""]
        for before, value in zip(self.values, self.values[1:], strict=False):
            known = before > 0 and not np.isnan(value)
            notes.append(f" ({format_number(value / before, FRACTION)} of those)" if known else "")
        return notes

    def draw(self, axes: Axes) -> list[str]:
        """Draw the steps and return the notes."""
        values = self.values
        reach = max((value for value in values if not np.isnan(value)), default=0.0) or 1.0
        for row, (name, value, of) in enumerate(
            zip(self.drawn, values, self._of_previous(), strict=True)
        ):
            if np.isnan(value):
                axes.barh(row, reach, height=0.7, **UNMEASURED_FILL)
                words, where = why_missing(self.data, name, 0), 0.0
            else:
                colour = OWN.colour
                axes.barh(row, value, height=0.7, color=colour, edgecolor=MUTED, linewidth=0.6)
                words, where = format_number(value) + of, value
            canvas.row_note(axes, words, where, row, fontsize=9)
        axes.set_xlim(0, reach * 1.02)
        if np.isnan(values).all():
            axes.set_xticks([])
        canvas.style_axes(axes, "x")
        canvas.number_axis(axes.xaxis, None)
        names = [capitalized(humanize(name)) for name in self.drawn]
        canvas.row_labels(axes, names, [False] * len(names))
        canvas.label_axes(axes)
        return []


def plan(data: PlotData, options: PlotOptions) -> Funnel | None:
    """Plan the longest chain of counts in a row, each the whole of the next one's rate."""
    if len(data) != 1 or options.x or options.by:
        return None
    if options.y:
        return Funnel(data, options.y) if options.kind and len(options.y) > 1 else None
    follows = {
        rule.over[1]: rule.over[0]
        for name in reversed(data.numbers)
        if (rule := data.rule(name)) and rule.over and data.unit(name) == FRACTION
    }
    chains = []
    for start in (name for name in follows if name not in follows.values()):
        chain = [start]
        while chain[-1] in follows and follows[chain[-1]] not in chain:
            chain.append(follows[chain[-1]])
        chains.append(tuple(chain))
    longest = max(
        chains, key=lambda chain: (len(chain), -data.numbers.index(chain[0])), default=None
    )
    return Funnel(data, longest) if longest else None
