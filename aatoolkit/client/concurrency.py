"""A bounded thread pool whose results come in the order of the arguments."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

from aatoolkit._util.cancellation import CallGroup

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
