"""The verb that draws: `plot`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, overload

import pandas as pd

from aatoolkit._util.extras import needed
from aatoolkit.errors import ArgumentError
from aatoolkit.frame.aggregate import aggregate
from aatoolkit.frame.periods import by_period
from aatoolkit.metadata.arrow_schema import declared
from aatoolkit.metadata.attrs import metadata_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from aatoolkit.display.plot.interactive import InteractivePicture


class Plot:
    """The method that draws a frame."""

    _frame: pd.DataFrame

    @overload
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
        color: str | Iterable[str] | None = None,
        facet: str | None = None,
        theme: str = "auto",
        interactive: Literal[False] = False,
    ) -> Axes: ...

    @overload
    def plot(
        self,
        kind: str | None = None,
        *,
        x: str | None = None,
        y: str | Iterable[str] | None = None,
        by: str | None = None,
        freq: str | None = None,
        top: int | None = None,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
        color: str | Iterable[str] | None = None,
        facet: str | None = None,
        theme: str = "auto",
        interactive: Literal[True],
    ) -> InteractivePicture: ...

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
        color: str | Iterable[str] | None = None,
        facet: str | None = None,
        theme: str = "auto",
        interactive: bool = False,
    ) -> Axes | InteractivePicture:
        """Draw the picture that fits the frame: a trend, a ranking, shares, a heat map, a gap ….

        The picture is chosen from what the columns are declared to be. What was not measured
        is hatched, and nothing else is; it breaks the line, and is never drawn as zero. Units,
        sample sizes and the source come from the metadata; without any, the picture says so.

        Parameters
        ----------
        kind : str, optional
            ``line``, ``bars``, ``shares``, ``heatmap``, ``gap``, ``figures``, ``funnel``,
            ``scatter``, ``spans``, ``verdicts``, ``counts``; of results of statistics
            ``comparison``, ``waterfall``, ``ranks``, ``overlap``, ``effect``, ``stability``,
            ``concentration``, ``samples``, ``interval``, ``changes`` or ``stages``; by default
            the first that fits.
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
        color : str or list of str, optional
            The colour, or the colours of the series in their order; of a heat map the colour of
            its largest number. Hatches and markers stay.
        facet : str, optional
            A column with a panel for each of its values, at most 12, on one scale. Several
            hosts or windows of one frame have panels by default: they are never added up.
        theme : {"auto", "light", "dark"}
            ``auto`` is what ``aa.set_theme`` has set, else dark where matplotlib's own style is,
            or the axes given as ``ax``.
        interactive : bool, default False
            Whether to return a figure of plotly (``pip install "aatoolkit[interactive]"``): the
            same marks, intervals, hatches and captions, with number, interval, counts and
            availability of a mark where the mouse is on it. It needs no network.

        Returns
        -------
        matplotlib.axes.Axes or plotly.graph_objects.Figure
            Theirs, or a new one: its ``kind`` is what was chosen, and its ``finding`` says in
            words what the picture shows; of an interactive one, both are in ``layout.meta``. Its
            ``explain(mark)`` goes from a mark to the bytes behind it, also of a panel, and on
            axes given as ``ax``, where it is about what was drawn last.

        Raises
        ------
        ColumnNotFound
            If there is no such column.
        AvailabilityError
            If the columns do not make a picture of that kind, or rows
            that share a mark do not combine.
        ConfigurationError
            If there is no such kind, colour or theme, or ``top``, ``ax``, ``facet`` or
            ``figsize`` cannot be used.

        Warns
        -----
        AAToolkitWarning
            If no installed font has some of the letters, which are drawn as boxes.
        PackageMissing
            If matplotlib, or plotly for an interactive picture, is not installed; it says what
            to install.

        Examples
        --------
        >>> frame = pd.DataFrame({"engine": ["chatgpt", "claude"], "n": [3, None]})
        >>> frame.aa.plot(y="n")
        <Picture: N by engine: chatgpt 3; 1 not measured>
        """
        if not isinstance(interactive, bool):
            raise ArgumentError("interactive= is True or False", argument="interactive")
        with needed("pictures need", "interactive" if interactive else "plot"):
            from aatoolkit.display.plot.draw import plot
        if interactive:
            with needed("interactive pictures need", "interactive"):
                from aatoolkit.display.plot.interactive import check_axes, interactive_form
            check_axes(ax)
        frame = self._frame
        if freq is not None:
            given = None if y is None else _with_parts(frame, [y] if isinstance(y, str) else [*y])
            # Hosts stay apart, and so do the panels.
            hosts = "host" if "host" in frame.columns and frame["host"].nunique() > 1 else None
            kept = [name for name in dict.fromkeys((by, facet, hosts)) if name is not None]
            frame = aggregate(frame, by_period(frame, kept, freq), given, False, {}, True)
        axes = plot(frame, kind, x, y, by, top, ax, title, figsize, color, facet, theme)
        return interactive_form(axes) if interactive else axes


def _with_parts(frame: pd.DataFrame, names: list[str]) -> list[str]:
    """The columns with those that their intervals are computed from."""
    known = metadata_of(frame).columns
    columns = (declared(known[name]) for name in names if name in known)
    parts = [part for column in columns if column for part in column.aggregate.over or ()]
    return [*dict.fromkeys([*names, *(part for part in parts if part in frame.columns)])]
