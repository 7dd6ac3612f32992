"""The colour theme of pictures (for light or dark backgrounds), which `set_theme` sets."""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack

from aatoolkit.errors import ArgumentError, unknown

THEMES = ("auto", "light", "dark")

_current_theme_name = "auto"


def set_theme(theme: str) -> AbstractContextManager[object]:
    """Set whether pictures are drawn for a light or a dark background.

    Python cannot detect the theme of a notebook, so call this once, in the first cell.

    Parameters
    ----------
    theme : {"auto", "light", "dark"}
        ``auto`` takes the theme from the background colour of matplotlib's style. The arguments
        ``theme`` and ``ax`` of ``df.aa.plot`` take precedence.

    Returns
    -------
    context manager
        For use in ``with``: at the end of the block, the earlier theme is set again.

    Raises
    ------
    ArgumentError
        If there is no such theme.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> with aa.set_theme("dark"):
    ...     picture = aa.demo().read("ranking").main.aa.plot()
    """
    global _current_theme_name
    resolve_theme(theme)  # raises
    earlier_theme = _current_theme_name
    _current_theme_name = theme
    theme_block = ExitStack()
    theme_block.callback(set_theme, earlier_theme)
    return theme_block


def resolve_theme(theme: str) -> str:
    """Return ``theme``, with ``auto`` replaced by the theme that `set_theme` has set."""
    if theme not in THEMES:
        raise ArgumentError(unknown("theme", theme, THEMES), argument="theme")
    return _current_theme_name if theme == "auto" else theme
