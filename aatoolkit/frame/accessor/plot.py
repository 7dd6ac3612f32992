"""The verb that draws: `plot`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pandas as pd

from aatoolkit.frame.aggregate import aggregate
from aatoolkit.frame.periods import by_period

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Plot:
    """The method that draws a frame."""

    _frame: pd.DataFrame

    def plot(
        self,
        kind: str | None = None,
        *,
        x: str | None = None,
        y: str | Iterable[str] | None = None,
        by: str | None = None,
        freq: str | None = None,
        top: int | None = None,
        ax: Axes | None = None,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
    ) -> Axes:
        """Draw the picture that fits the frame: a trend, a ranking, shares, a heat map, a gap ….

        The picture is chosen from what the columns are declared to be. What was not measured
        is hatched, or breaks the line; it is never drawn as zero. Units, sample sizes and the
        source come from the metadata; without any, the picture says that it is unknown.

        Parameters
        ----------
        kind : str, optional
            ``line``, ``bars``, ``shares``, ``heatmap``, ``gap``, ``figures``, ``funnel``,
            ``spans``, ``counts``; of results of statistics ``comparison``, ``waterfall``,
            ``ranks``, ``overlap``, ``effect``, ``stability``, ``concentration``, ``changes`` or
            ``stages``; by default the first that fits.
        x : str, optional
            What the marks stand for: a time, a brand, an engine. Rows that share a mark are
            aggregated by their declared rules, as ``aggregate(skip_missing=True)`` does; the
            picture says what is partial.
        y : str or list of str, optional
            The number to draw, or two for a gap, or several in one unit for lines.
        by : str, optional
            What tells series, colours or the rows of a heat map apart.
        freq : str, optional
            Periods to aggregate by first, such as ``W`` or ``MS``, as ``aggregate(freq=)`` does.
        top : int, optional
            As many bars, rows or series at most; the title says how many were left out.
        ax : matplotlib.axes.Axes, optional
            Where to draw. By default on a figure of its own, which shows itself in a notebook
            and of which pyplot knows nothing: ``ax.figure.savefig("it.png")`` keeps it.
        title : str, optional
            The title, instead of the default one.
        figsize : tuple of float, optional
            Width and height of the new figure in inches.

        Returns
        -------
        matplotlib.axes.Axes
            Theirs, or a new one: its ``kind`` is what was chosen, and its ``finding`` says in
            words what the picture shows.

        Raises
        ------
        ColumnNotFound
            If there is no such column.
        AvailabilityError
            If the columns do not make a picture of that kind, or rows
            that share a mark do not combine.
        ConfigurationError
            If there is no such kind, or ``top``, ``ax`` or ``figsize`` cannot be used.
        ImportError
            If matplotlib is not installed; it says what to install.

        Examples
        --------
        >>> frame = pd.DataFrame({"engine": ["chatgpt", "claude"], "n": [3, None]})
        >>> frame.aa.plot(y="n")
        <Picture: N by engine: chatgpt 3; 1 not measured>
        """
        try:
            from aatoolkit.display.plot.draw import plot
        except ModuleNotFoundError as error:
            missing = error.name
        else:
            frame = self._frame
            if freq is not None:
                given = y if y is None or isinstance(y, str) else [*y]
                frame = aggregate(frame, by_period(frame, by, freq), given, False, {}, True)
            return plot(frame, kind, x, y, by, top, ax, title, figsize)
        raise ImportError(
            f'pictures need {missing}, which is not installed: pip install "aatoolkit[plot]"'
        )
