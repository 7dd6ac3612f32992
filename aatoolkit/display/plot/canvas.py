"""Axes that display themselves, with title, notes and legend, and text that is safe to draw."""

from __future__ import annotations

import base64
import io
import textwrap
from functools import lru_cache
from typing import Any

import matplotlib as mpl
import matplotlib.dates as mdates
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from aatoolkit.display.plot.labels import elide_middle
from aatoolkit.display.plot.style import GRID, INK, MISSING, MUTED, PAPER

WIDTH = 7.6
"""The default width in inches."""

_DPI = 144
_SMALL = 8
_LEGEND_COLUMNS = 5
_FALLBACKS = (
    "Noto Sans",
    "Noto Sans CJK JP",
    "Noto Sans CJK SC",
    "Noto Sans Arabic",
    "Noto Sans Hebrew",
    "Noto Sans Devanagari",
    "Noto Sans Symbols 2",
    "Hiragino Sans",
    "Yu Gothic",
    "Microsoft YaHei",
    "Segoe UI Symbol",
    "Arial Unicode MS",
)
"""Fonts for scripts that the default fonts lack, if installed."""


class Picture(Axes):
    """Axes that display themselves in a notebook, without pyplot.

    Attributes
    ----------
    kind : str
        The kind of picture.
    finding : str
        The main result in words: the alternative text.
    """

    name = "aatoolkit"
    kind: str = ""
    finding: str = ""

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> tuple[dict[str, str], dict[str, Any]]:
        figure = figure_of(self)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=_DPI)
        width, height = (round(96 * inches) for inches in figure.get_size_inches())
        shown = {"image/png": base64.b64encode(buffer.getvalue()).decode(), "text/plain": str(self)}
        return shown, {"image/png": {"width": width, "height": height, "alt": self.finding}}

    def __repr__(self) -> str:
        return f"<Picture: {self.finding}>" if self.finding else super().__repr__()

    __str__ = __repr__


def new_axes(figsize: tuple[float, float]) -> Picture:
    """Axes on a new figure, which pyplot does not manage."""
    figure = Figure(figsize=figsize, facecolor=PAPER)
    figure.set_layout_engine("constrained", w_pad=0.1, h_pad=0.08)
    axes = figure.add_subplot(axes_class=Picture)
    assert isinstance(axes, Picture)
    axes.set_facecolor(PAPER)
    return axes


def figure_of(axes: Axes) -> Figure:
    """The figure of axes."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    return figure


def svg_of(picture: Picture, salt: str) -> str:
    """The picture as SVG with text as text; the same picture and salt give the same SVG."""
    buffer = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": salt}):
        figure_of(picture).savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return buffer.getvalue()


def text_colour(axes: Axes) -> str:
    """The colour of text; on the user's own axes the colour set in matplotlib."""
    return INK if isinstance(axes, Picture) else str(mpl.rcParams["text.color"])


def muted_colour(axes: Axes) -> str:
    """The colour of secondary text."""
    return MUTED if isinstance(axes, Picture) else str(mpl.rcParams["text.color"])


def literal_text(**properties: Any) -> dict[str, Any]:
    """Text properties for literal text: no mathematics, no TeX, with fallback fonts."""
    return {"parse_math": False, "usetex": False, "fontfamily": list(_families()), **properties}


def row_note(
    axes: Axes, words: str, end: float, row: int, *, gap: int = 5, **properties: Any
) -> None:
    """Write some words after the end of what is drawn in a row."""
    text = literal_text(**{"fontsize": 8, "color": text_colour(axes), **properties})
    axes.annotate(
        words, (end, row), xytext=(gap, 0), textcoords="offset points", va="center", **text
    )


def safe_text(text: str, most: int = 200) -> str:
    """Text that can be drawn: elided, and with a box for characters that no font has."""
    covered = _covered(_families())
    shown = elide_middle(text, most)
    return "".join(char if char in "\n" or ord(char) in covered else "□" for char in shown)


def _families() -> tuple[str, ...]:
    usual = mpl.rcParams["font.family"]
    installed = _installed()
    return (*usual, *(name for name in _FALLBACKS if name in installed))


@lru_cache(maxsize=1)
def _installed() -> frozenset[str]:
    return frozenset(font_manager.fontManager.get_font_names())


@lru_cache(maxsize=8)
def _covered(families: tuple[str, ...]) -> frozenset[int]:
    """The characters that the fonts cover, in regular and in bold."""
    weights = []
    for weight in ("normal", "bold"):
        found: set[int] = set()
        for family in families:
            font = font_manager.FontProperties(family=[family], weight=weight)
            found |= font_manager.get_font(font_manager.findfont(font)).get_charmap().keys()
        weights.append(found)
    return frozenset(set.intersection(*weights))


def add_title_and_notes(axes: Axes, title: str, notes: list[str]) -> None:
    """Add the title above and the notes below."""
    if not isinstance(axes, Picture):
        # The legend is between the axes and the title.
        box = axes.get_legend()
        rows = -(-len(box.get_texts()) // _LEGEND_COLUMNS) if box else 0
        pad = 6 + rows * _SMALL * 1.7
        axes.set_title(safe_text(title, 90), loc="left", pad=pad, **literal_text())
        below = "\n".join(wrap(note, 90) for note in notes)
        axes.set_xlabel(
            f"{axes.get_xlabel()}\n{below}".strip("\n"), **literal_text(fontsize=_SMALL, loc="left")
        )
        return
    figure = figure_of(axes)
    room = int(figure.get_figwidth() * 72 / (_SMALL * 0.6))
    figure.suptitle(
        wrap(title, int(room * 0.62)),
        **literal_text(x=0.012, ha="left", fontsize=12, fontweight="bold", color=INK),
    )
    below = "\n".join(wrap(note, room) for note in notes)
    figure.supxlabel(
        below, **literal_text(x=0.012, ha="left", fontsize=_SMALL, color=MUTED, linespacing=1.35)
    )


def wrap(text: str, width: int) -> str:
    """Safe text, wrapped to at most three lines."""
    lines = textwrap.wrap(safe_text(text, 3 * width), width, max_lines=3, placeholder=" …")
    return "\n".join(lines)


def style_axes(axes: Axes, grid: str) -> None:
    """Remove the box, and add a faint grid in one direction."""
    axes.spines[["top", "right"]].set_visible(False)
    faint = GRID if isinstance(axes, Picture) else text_colour(axes)
    axes.spines[["left", "bottom"]].set_color(faint)
    axes.grid(axis=grid, color=GRID, linewidth=0.8)  # type: ignore[arg-type]
    axes.set_axisbelow(True)
    axes.tick_params(colors=text_colour(axes), labelsize=9, length=0)


def label_axes(axes: Axes, x: str = "", y: str = "") -> None:
    """Label the axes."""
    axes.set_xlabel(safe_text(x, 70), **literal_text(color=muted_colour(axes), fontsize=9))
    axes.set_ylabel(safe_text(y, 50), **literal_text(color=muted_colour(axes), fontsize=9))


def row_labels(axes: Axes, labels: list[str], own: list[bool], most: int = 38) -> None:
    """Label the rows, the own brand in bold and marked as own."""
    axes.set_yticks(range(len(labels)))
    shown = [
        f"{safe_text(label, most)}{' (own)' if mine else ''}"
        for label, mine in zip(labels, own, strict=True)
    ]
    texts = axes.set_yticklabels(shown, **literal_text(fontsize=9, color=text_colour(axes)))
    for text, mine in zip(texts, own, strict=True):
        text.set_fontweight("bold" if mine else "normal")
    axes.set_ylim(len(labels) - 0.4, -0.6)


def date_axis(axes: Axes, most: int) -> None:
    """Label the horizontal axis with dates, at most so many; a day always has its month."""
    locator = mdates.AutoDateLocator(minticks=3, maxticks=most)
    day, minute = "%d %b", "%H:%M"
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(
        mdates.ConciseDateFormatter(
            locator,
            formats=["%Y", "%b", day, minute, minute, "%S.%f"],
            zero_formats=["", "%Y", day, day, minute, minute],
            offset_formats=["", "%Y", "%Y", "%Y-%m-%d", "%Y-%m-%d", "%Y-%m-%d %H:%M"],
        )
    )
    axes.xaxis.get_offset_text().set(size=8, color=muted_colour(axes))


def integer_axis(along: Axis) -> None:
    """Put ticks at whole numbers only."""
    along.set_major_locator(MaxNLocator("auto", integer=True))


def legend(axes: Axes, handles: list[Any], words: list[str]) -> None:
    """Add a legend above the data."""
    box = axes.legend(
        handles,
        [safe_text(word, 30) for word in words],
        loc="lower left",
        bbox_to_anchor=(0, 1.0),
        ncols=min(len(handles), _LEGEND_COLUMNS),
        frameon=False,
        fontsize=_SMALL,
        borderaxespad=0.2,
        handlelength=2.2,
        columnspacing=1.2,
    )
    for text in box.get_texts():
        text.set_parse_math(False)
        text.set_usetex(False)
        text.set_fontfamily(list(_families()))
        text.set_color(text_colour(axes))


def missing_patch() -> Patch:
    """The legend handle of values that were not measured."""
    return Patch(**MISSING)
