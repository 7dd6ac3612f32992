"""A progress bar on terminals and in notebooks."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from importlib.util import find_spec
from typing import TypeVar

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
    return tqdm(items, total=total, unit=unit, leave=False)


def _is_interactive() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel") or bool(sys.stderr and sys.stderr.isatty())
