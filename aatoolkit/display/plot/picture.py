"""`Picture`: axes that display themselves in a notebook, without pyplot."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING, Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from aatoolkit._util.attributes import missing_attribute
from aatoolkit.display.plot.marks import Marks
from aatoolkit.errors import ConfigurationError

if TYPE_CHECKING:
    from aatoolkit.frame.explain import Explanation

_DPI = 144


class Picture(Axes):
    """Axes that display themselves in a notebook, without pyplot.

    Attributes
    ----------
    kind : str
        The kind of picture.
    finding : str
        The main result in words: the alternative text.
    data : pandas.DataFrame
        The rows that are drawn, after they were chosen, ordered and aggregated.
    """

    name = "aatoolkit"
    kind: str = ""
    finding: str = ""
    dark: bool = False
    marks: Marks | None = None

    @property
    def data(self) -> pd.DataFrame:
        """The rows that are drawn."""
        return pd.DataFrame() if self.marks is None else self.marks.frame

    def explain(
        self, mark: Any = None, column: str | None = None, *, within: Any = None
    ) -> Explanation:
        """Explain what a bar, a point, a cell or the end of a whisker shows.

        Parameters
        ----------
        mark : str, mapping, date, int or pair of float, optional
            The mark: what it is named, such as ``"chatgpt"`` or a day; the values of columns,
            such as ``{"date": "2026-11-15", "engine": "chatgpt"}``; its row in ``data``; or where
            it is on the axes, as ``(event.xdata, event.ydata)`` of a click. By default the first
            that is missing, or the first of all.
        column : str, optional
            Which of its numbers; by default the first that is drawn. The ends of whiskers and
            bands end in ``_low`` and ``_high``.
        within : Study, Archive, Tables, Dataset, or a list of these, optional
            As for ``df.aa.explain``.

        Returns
        -------
        Explanation
            As of ``df.aa.explain``.

        Raises
        ------
        ConfigurationError
            If nothing is known to be drawn at a point, or nothing is drawn.
        ItemNotFound
            If there is no such mark, or several.
        ColumnNotFound
            If there is no such column.
        """
        if self.marks is None:
            raise ConfigurationError("nothing is drawn here that is known", setting="mark")
        return self.marks.explain(mark, column, within)

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> tuple[dict[str, str], dict[str, Any]]:
        figure = figure_of(self)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=_DPI)
        width, height = (round(96 * inches) for inches in figure.get_size_inches())
        shown = {"image/png": base64.b64encode(buffer.getvalue()).decode(), "text/plain": str(self)}
        return shown, {"image/png": {"width": width, "height": height, "alt": self.finding}}

    if not TYPE_CHECKING:  # type checkers go by what is declared

        def __getattr__(self, name: str) -> Any:
            if name in ("save", "savefig", "write_image"):
                hint = "save its figure: picture.figure.savefig('picture.png')"
                raise AttributeError(f"a picture has no {name!r}; {hint}")
            raise missing_attribute("a picture", name, dir(type(self)))

    def __repr__(self) -> str:
        return f"<Picture: {self.finding}>" if self.finding else super().__repr__()

    __str__ = __repr__


def figure_of(axes: Axes) -> Figure:
    """Return the figure of axes."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    return figure
