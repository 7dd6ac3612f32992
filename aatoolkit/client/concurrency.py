"""Many questions at once: a few under way, their outcomes in the order of the questions."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TypeVar

from aatoolkit._util.cancellation import Together

Q = TypeVar("Q")
R = TypeVar("R")

_STEP = 0.1
"""How long, in seconds, an interrupt may have to wait."""

_AHEAD = 2
"""How many questions for each worker are asked before an outcome is taken."""


def in_order(
    ask: Callable[[Q], R], questions: Iterable[Q], workers: int
) -> Generator[tuple[Q, Future[R]]]:
    """Ask many questions in threads; each with its outcome, which is there, in the order asked.

    However many questions there are, no more than twice as many outcomes as workers wait to be
    taken. When it is closed, or interrupted, what is under way ends and what waits is left out.
    """
    together, waiting = Together(), deque[tuple[Q, Future[R]]]()
    pool = ThreadPoolExecutor(workers, "aatoolkit")
    try:
        for question in questions:
            waiting.append((question, pool.submit(together.run, ask, question)))
            if len(waiting) >= _AHEAD * workers:
                yield _landed(waiting)
        while waiting:
            yield _landed(waiting)
    finally:
        # Not waited for, so that an interrupt ends the call at once.
        together.end()
        pool.shutdown(wait=False, cancel_futures=True)


def _landed(waiting: deque[tuple[Q, Future[R]]]) -> tuple[Q, Future[R]]:
    """The first of those that wait, once its outcome is there; waited for in short steps.

    A long wait cannot be interrupted once some library has taken over the signal, as Polars does.
    """
    question, outcome = waiting.popleft()
    while not wait([outcome], _STEP).done:
        pass
    return question, outcome
