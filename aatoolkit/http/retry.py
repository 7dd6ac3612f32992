"""When to try again, and when not to."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from aatoolkit.errors import DecodeError, FetchError, StatusError

T = TypeVar("T")

PASSING = frozenset({429, 502, 503, 504})
"""The statuses that may be over at the next attempt."""


class Failure(Exception):
    """One attempt that failed.

    Parameters
    ----------
    error
        The error that it ends in, should no other attempt follow.
    again
        Whether another attempt may help.
    wait
        The seconds that the service asked to wait.
    """

    def __init__(self, error: FetchError, *, again: bool, wait: float | None = None) -> None:
        super().__init__(error.message)
        self.error = error
        self.again = again
        self.wait = wait


def may_pass(error: FetchError) -> bool:
    """Whether what a response said may be over at the next attempt."""
    if isinstance(error, StatusError):
        return error.status in PASSING
    return isinstance(error, DecodeError) and error.problem == "truncated"


@dataclass(frozen=True)
class Retry:
    """A few attempts within one deadline, with full jitter between them.

    The waits double from ``base`` to ``cap`` seconds; what is slept is drawn evenly between
    nothing and that, so that clients which failed together do not return together. A wait that
    the service asks for is kept, or not begun where it would outlast the deadline.
    """

    attempts: int = 3
    base: float = 0.5
    cap: float = 8.0
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    draw: Callable[[float, float], float] = random.uniform

    def run(self, attempt: Callable[[float], T], deadline: float) -> T | FetchError:
        """Call ``attempt`` with the seconds that are left, until it succeeds or none may help.

        The error is returned, not raised, so that the caller raises it outside every handler.
        """
        ends = self.clock() + deadline
        for turn in range(self.attempts):
            try:
                return attempt(ends - self.clock())
            except Failure as failure:
                error, again, asked = failure.error, failure.again, failure.wait
            wait = self.draw(0, min(self.cap, self.base * 2**turn)) if asked is None else asked
            last = turn == self.attempts - 1
            if last or not again or self.clock() + wait >= ends:
                break
            self.sleep(wait)
        return error
