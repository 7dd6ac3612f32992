"""The theme of pictures: `set_theme`."""

from __future__ import annotations

from aatoolkit.errors import ArgumentError

THEMES = ("auto", "light", "dark")

_theme = "auto"


def set_theme(theme: str) -> None:
    """Set whether pictures are drawn for light or for dark paper, such as a dark notebook.

    A kernel is not told which theme its notebook has: set it once, in the first cell.

    Parameters
    ----------
    theme : {"auto", "light", "dark"}
        ``auto`` goes by matplotlib's style; ``df.aa.plot(theme=)`` and axes of one's own win.

    Raises
    ------
    ArgumentError
        If there is no such theme.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> aa.set_theme("dark")
    >>> aa.set_theme("auto")
    """
    global _theme
    if theme not in THEMES:
        raise ArgumentError(
            f"theme={theme!r} is not known; there are {', '.join(THEMES)}", argument="theme"
        )
    _theme = theme


def current() -> str:
    """The theme that is set."""
    return _theme
