"""The arguments of ``df.aa.plot``, validated."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral

from matplotlib.colors import is_color_like, to_hex

from aatoolkit.display.plot.data import PlotData
from aatoolkit.errors import ArgumentError, did_you_mean, near_matches
from aatoolkit.frame.groupby import find


@dataclass(frozen=True)
class PlotOptions:
    """The options of ``df.aa.plot``; None means the default."""

    kind: str | None = None
    x: str | None = None
    y: tuple[str, ...] = ()
    color: str | None = None
    top: int | None = None
    palette: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()
    """The series of all panels, in the order of their styles."""

    @property
    def is_chosen(self) -> bool:
        """Whether columns were chosen."""
        return bool(self.x or self.y or self.color)


_ALIASES = {"bar": "bars", "barh": "bars", "lines": "line", "heat": "heatmap", "points": "scatter"}
_LARGEST = 200.0
"""The longest side of a figure, in inches."""


def validate(
    data: PlotData, kinds: Iterable[str], kind: str | None, x: str | None,
    y: str | Iterable[str] | None, color: str | None, top: int | None,
    palette: str | Iterable[str] | None,
) -> PlotOptions:  # fmt: skip
    """Validate the arguments of ``df.aa.plot``.

    Raises
    ------
    ArgumentError
        If there is no such kind or colour, or ``top`` is no whole number from 1.
    ArgumentError
        If there is no such column, or it holds no numbers where some are needed.
    """
    known = list(kinds)
    kind = _ALIASES.get(kind, kind) if isinstance(kind, str) else kind
    if kind is not None and kind not in known:
        hint = did_you_mean(near_matches(str(kind), known), f"there are {', '.join(known)}")
        raise ArgumentError(f"kind={kind!r} is not known; {hint}", argument="kind")
    if top is not None and (isinstance(top, bool) or not isinstance(top, Integral) or top < 1):
        raise ArgumentError(f"top={top!r} is no whole number from 1", argument="top")
    wanted = (y,) if isinstance(y, str) else tuple(y or ())
    if color is not None and color not in data.kinds and _are_colours(color):
        raise ArgumentError(
            f"color={color!r} is no column but a colour; colours are palette=, and color= is the "
            "column that tells series apart",
            argument="color",
        )
    find(data.frame, [*(name for name in (x, color) if name is not None), *wanted])
    wordy = [
        f"{name}: it holds no numbers but {data.frame[name].dtype}"
        for name in wanted
        if data.kinds[name] != "number"
    ]
    if wordy:
        raise ArgumentError(f"these columns cannot be drawn: {'; '.join(wordy)}", argument="y")
    top = None if top is None else int(top)
    return PlotOptions(kind, x, wanted, color, top, _palette(palette))


def _are_colours(values: object) -> bool:
    listed = [values] if isinstance(values, str) else list(values or ())  # type: ignore[call-overload]
    return bool(listed) and all(isinstance(c, str) and is_color_like(c) for c in listed)


def _palette(palette: str | Iterable[str] | None) -> tuple[str, ...]:
    if palette is None:
        return ()
    colours = (palette,) if isinstance(palette, str) else tuple(palette)
    if not _are_colours(colours):
        raise ArgumentError(
            f"palette={palette!r} is no colour, nor a list of colours, such as '#0072b2'; color= "
            "draws a series for each value of a column",
            argument="palette",
        )
    return tuple(map(to_hex, colours))


def check_theme(theme: str, ax: object | None) -> str:
    """Validate the theme: ``auto``, ``light`` or ``dark``.

    Raises
    ------
    ArgumentError
        If there is no such theme, or ``ax`` has a background already.
    """
    if theme not in ("auto", "light", "dark"):
        raise ArgumentError(
            f"theme={theme!r} is not known; there are auto, light and dark", argument="theme"
        )
    if ax is not None and theme != "auto":
        raise ArgumentError("theme= is that of the figure of ax=", argument="theme")
    return theme


def check_figsize(
    figsize: tuple[float, float] | None, ax: object | None
) -> tuple[float, float] | None:
    """Validate the size of the figure in inches; None for the default.

    Raises
    ------
    ArgumentError
        If it is not two positive numbers, or ``ax`` has a figure already.
    """
    if figsize is None:
        return None
    if ax is not None:
        raise ArgumentError("figsize= is set on the figure of ax=", argument="figsize")
    try:
        width, height = (float(side) for side in figsize)
    except (TypeError, ValueError):
        width = height = 0.0
    if not (0 < width <= _LARGEST and 0 < height <= _LARGEST):
        raise ArgumentError(
            f"figsize={figsize!r} is not a width and a height in inches", argument="figsize"
        )
    return width, height
