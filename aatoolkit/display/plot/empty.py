"""The picture of a frame that cannot be drawn, with the reason."""

from __future__ import annotations

from dataclasses import dataclass, replace

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from aatoolkit.availability import Availability, Status
from aatoolkit.display.plot import canvas, fonts
from aatoolkit.display.plot.labels import capitalized, joined_reasons, table_words
from aatoolkit.display.plot.roles import PlotData
from aatoolkit.display.plot.style import INK, NO_VALUE_FILL, NOTHING_FILL, UNMEASURED_FILL

_FILLS = {Status.AVAILABLE: NOTHING_FILL, Status.UNKNOWN: NO_VALUE_FILL}
"""How the area looks that has no rows, unless that is because nothing was measured."""


@dataclass(frozen=True)
class EmptyPlot:
    """The reason why there is no picture; hatched where nothing was measured."""

    data: PlotData

    height = 2.3
    drawn: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The title."""
        return capitalized(table_words(self.data)) or "A frame"

    @property
    def finding(self) -> str:
        """The reason why there is no picture."""
        if len(self.data):
            rows, columns = self.data.frame.shape
            return (
                f"A table shows this better: {rows:,} {'row' if rows == 1 else 'rows'} and "
                f"{columns} {'column' if columns == 1 else 'columns'}, and nothing to compare."
            )
        state = self._state
        words = {
            Status.AVAILABLE: "Measured, with no rows.",
            Status.UNKNOWN: "No rows; the reason is not known.",
            Status.PARTIAL: f"No rows. What was read was measured in part: {state.reason}",
        }
        return words.get(state.status) or f"Not measured. {capitalized(str(state))}"

    @property
    def _state(self) -> Availability:
        """What is known of the columns that are no keys."""
        names = [name for name in self.data.known.columns if name not in self.data.keys]
        state = self.data.state(names or self.data.known.columns)
        return replace(state, reason=joined_reasons([state.reason or ""]) or None)

    def draw(self, axes: Axes) -> list[str]:
        """Draw the area; it has no notes."""
        axes.set_axis_off()
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1)
        if not len(self.data):
            fill = _FILLS.get(self._state.status, UNMEASURED_FILL)
            axes.add_patch(Rectangle((0, 0), 1, 1, **fill))
        axes.text(
            0.5,
            0.5,
            fonts.wrap(self.finding, 88),
            ha="center",
            va="center",
            **fonts.literal_text(
                fontsize=10,
                color=INK if not len(self.data) else canvas.text_colour(axes),
                bbox={"facecolor": "white" if not len(self.data) else "none", "edgecolor": "none"},
            ),
        )
        return []
