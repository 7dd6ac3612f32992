"""When to try again, and when not to."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from aatoolkit.errors import DecodeError, FetchError, StatusError
from aatoolkit.http.deadline import pause

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


class Quota:
    """How many second attempts there may still be, of all calls of a client together.

    Each takes one; every five answers give one back, and so does every ten seconds. A service
    that fails now and then is asked again each time; one that fails most calls soon is not,
    so that a loop over many projects does not bury it, or wait for it at every turn.
    """

    def __init__(
        self,
        most: float = 20.0,
        per_answer: float = 0.2,
        per_second: float = 0.1,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most, self._per_answer, self._per_second = most, per_answer, per_second
        self._clock = clock
        self._left, self._seen = most, clock()
        self._lock = threading.Lock()

    def take(self) -> bool:
        """Take one, if there is one."""
        with self._lock:
            now = self._clock()
            self._add((now - self._seen) * self._per_second)
            self._seen = now
            if self._left < 1:
                return False
            self._left -= 1
            return True

    def answered(self) -> None:
        """Give back for an answer."""
        with self._lock:
            self._add(self._per_answer)

    def _add(self, more: float) -> None:
        self._left = min(self._most, self._left + more)


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
    sleep: Callable[[float], None] = pause
    clock: Callable[[], float] = time.monotonic
    draw: Callable[[float, float], float] = random.uniform
    quota: Quota = field(default_factory=Quota)

    def run(self, attempt: Callable[[float], T], deadline: float) -> T | FetchError:
        """Call ``attempt`` with the seconds that are left, until it succeeds or none may help.

        The error is returned, not raised, so that the caller raises it outside every handler.
        """
        ends = self.clock() + deadline
        for turn in range(self.attempts):
            try:
                found = attempt(ends - self.clock())
            except Failure as failure:
                error, again, asked = failure.error, failure.again, failure.wait
            else:
                self.quota.answered()
                return found
            wait = self.draw(0, min(self.cap, self.base * 2**turn)) if asked is None else asked
            last = turn == self.attempts - 1
            if last or not again or self.clock() + wait >= ends or not self.quota.take():
                break
            self.sleep(wait)
        return error
