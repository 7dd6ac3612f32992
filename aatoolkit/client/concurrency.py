"""A bounded thread pool whose results come in the order of the arguments, and its progress bar."""

from __future__ import annotations

import os
import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from importlib.util import find_spec
from typing import TypeVar

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
    if sys.platform == "emscripten":  # Python in a browser has no threads
        yield from ((argument, _done(call, argument)) for argument in arguments)
        return
    group, waiting = CallGroup(), deque[tuple[Q, Future[R]]]()
    pool = ThreadPoolExecutor(workers, "aatoolkit")
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


def _done(call: Callable[[Q], R], argument: Q) -> Future[R]:
    """The future of a call that is made at once."""
    future: Future[R] = Future()
    try:
        future.set_result(call(argument))
    except Exception as error:
        future.set_exception(error)
    return future


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
        Whether to show a bar; None shows one on a terminal.

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
        from tqdm import tqdm
    except ImportError:
        raise ArgumentError(
            "a progress bar needs tqdm: pip install tqdm", argument="progress"
        ) from None
    return tqdm(items, total=total, unit=unit, leave=False)


def _is_interactive() -> bool:
    # A dumb terminal, such as that of an editor, cannot go back to the beginning of a line.
    return bool(sys.stderr and sys.stderr.isatty() and os.environ.get("TERM") != "dumb")
