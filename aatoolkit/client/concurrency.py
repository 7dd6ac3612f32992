"""A bounded thread pool whose results come in the order of the arguments, and its progress bar."""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from importlib.util import find_spec
from typing import Any, TypeVar

from aatoolkit._util.cancellation import CallGroup
from aatoolkit.errors import ArgumentError

Q = TypeVar("Q")
R = TypeVar("R")

_STEP = 0.1
"""How long, in seconds, an interrupt may have to wait."""

_AHEAD = 2
"""How many calls for each worker are submitted before a result is taken."""


def in_order(
    call: Callable[[Q], R], arguments: Iterable[Q], workers: int, *, until: float | None = None
) -> Generator[tuple[Q, Future[R]]]:
    """Call a function in threads; yields each argument with its finished future, in order.

    However many arguments there are, no more than twice as many results as workers are held at a
    time. Closing the generator, or an interrupt, cancels the running calls and drops the rest.

    Raises
    ------
    TimeoutError
        If the next result is not there at ``until``, of `time.monotonic`.
    """
    group, waiting = CallGroup(), deque[tuple[Q, Future[R]]]()
    has_threads = sys.platform != "emscripten"
    pool = ThreadPoolExecutor(workers, "aatoolkit") if has_threads else CallerExecutor()
    try:
        for argument in arguments:
            waiting.append((argument, pool.submit(group.run, call, argument)))
            if len(waiting) >= _AHEAD * workers:
                yield _next_done(waiting, until)
        while waiting:
            yield _next_done(waiting, until)
    finally:
        # Not waited for, so that an interrupt ends the call at once.
        group.cancel()
        pool.shutdown(wait=False, cancel_futures=True)


class CallerExecutor(Executor):
    """An executor without threads, which browsers lack: a call is run as it is submitted."""

    def submit(self, call: Callable[..., R], /, *args: Any, **kwargs: Any) -> Future[R]:
        """Run a call; the future has its result or its error."""
        done: Future[R] = Future()
        try:
            done.set_result(call(*args, **kwargs))
        except Exception as error:
            done.set_exception(error)
        return done


def _next_done(waiting: deque[tuple[Q, Future[R]]], until: float | None) -> tuple[Q, Future[R]]:
    """The first in the queue, once it is done; waited for in short steps.

    A long wait cannot be interrupted once some library has taken over the signal, as Polars does.
    """
    argument, future = waiting.popleft()
    while not wait([future], _STEP).done:
        if until is not None and time.monotonic() > until:
            raise TimeoutError
    return argument, future


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
    ArgumentError
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
        raise ArgumentError(
            "a progress bar needs tqdm: pip install tqdm", argument="progress"
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
