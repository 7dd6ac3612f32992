"""A progress bar on terminals and in notebooks."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from typing import Any, TypeVar

from aatoolkit.errors import ConfigurationError

T = TypeVar("T")


def progress_bar(items: Iterable[T], wanted: bool | None, *, total: int, unit: str) -> Iterable[T]:
    """Wrap an iterable with a progress bar.

    Parameters
    ----------
    items
        The iterable.
    total
        The number of items.
    unit
        What one item is called.
    wanted
        Whether to show a bar; None shows one on a terminal and in a notebook.

    Raises
    ------
    ConfigurationError
        If a bar is wanted and tqdm is not installed.
    """
    if wanted is None:
        wanted = find_spec("tqdm") is not None and _is_interactive()
    if not wanted:
        return items
    try:
        with warnings.catch_warnings():
            # Without ipywidgets tqdm warns and draws with plain characters, which is fine.
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm
    except ImportError:
        raise ConfigurationError(
            "a progress bar needs tqdm: pip install tqdm", setting="progress"
        ) from None
    if not _is_widget(tqdm):
        return tqdm(items, total=total, unit=unit, leave=False)
    return _on_page(tqdm(items, total=total, unit=unit, leave=False, display=False))


def _is_widget(bar: Any) -> bool:
    notebook = sys.modules.get("tqdm.notebook")
    return bool(notebook and notebook.IProgress and issubclass(bar, notebook.tqdm))


def _on_page(bar: Any) -> Iterator[Any]:
    """Show a bar that is a widget, and remove it: a page that is saved would have it at 0 %."""
    from IPython.display import display

    show: Any = display
    shown = show(bar.container, display_id=True)
    bar.displayed = True
    try:
        yield from bar
    finally:
        bar.close()
        if shown is not None:
            shown.update({"text/plain": ""}, raw=True)


def _is_interactive() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if hasattr(shell, "kernel"):
        return True
    # A dumb terminal, such as that of an editor, cannot go back to the beginning of a line.
    return bool(sys.stderr and sys.stderr.isatty() and os.environ.get("TERM") != "dumb")
