"""Retries: which failures are tried again, and after how long."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from aatoolkit.errors import DecodeError, FetchError, InternalError, StatusError
from aatoolkit.http.deadline import pause

T = TypeVar("T")

RETRYABLE = frozenset({429, 502, 503, 504})
"""The statuses that another attempt may help against."""


class AttemptFailed(Exception):
    """One attempt that failed.

    Parameters
    ----------
    error
        The error to raise if no other attempt follows.
    retryable
        Whether another attempt may help.
    retry_after
        The seconds that the service asked to wait.
    """

    def __init__(
        self,
        error: FetchError | InternalError,
        *,
        retryable: bool,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(error.message)
        self.error = error
        self.retryable = retryable
        self.retry_after = retry_after


def is_retryable(error: FetchError) -> bool:
    """Whether another attempt may help after such a response."""
    if isinstance(error, StatusError):
        return error.status in RETRYABLE
    return isinstance(error, DecodeError) and error.problem == "truncated"


class Quota:
    """The retry quota of a client: how many retries are left, for all its calls together.

    Each retry takes one; every five answers give one back, and so does every ten seconds. Calls
    to a service that fails now and then are always retried; soon none are to one that fails most
    calls, so that a loop over many projects does not overload it, or wait for it at every turn.
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
        """Take one, if there is one; returns whether there was."""
        with self._lock:
            now = self._clock()
            self._add((now - self._seen) * self._per_second)
            self._seen = now
            if self._left < 1:
                return False
            self._left -= 1
            return True

    def refill(self) -> None:
        """Give some back, after an answer."""
        with self._lock:
            self._add(self._per_answer)

    def _add(self, more: float) -> None:
        self._left = min(self._most, self._left + more)


@dataclass(frozen=True)
class Retry:
    """Retry with exponential backoff and full jitter, within one deadline.

    The backoff doubles from ``base`` to ``longest_backoff`` seconds; the wait is drawn evenly
    between zero and that, so that clients which failed together do not return together. A wait
    that the service asks for (``Retry-After``) is respected; if it would outlast the deadline
    there is no retry.
    """

    attempts: int = 3
    base: float = 0.5
    longest_backoff: float = 8.0
    sleep: Callable[[float], None] = pause
    clock: Callable[[], float] = time.monotonic
    draw: Callable[[float, float], float] = random.uniform
    quota: Quota = field(default_factory=Quota)

    def run(self, attempt: Callable[[float], T], deadline: float) -> T | FetchError | InternalError:
        """Call ``attempt`` with the seconds left, until it succeeds or a retry would not help.

        The error is returned, not raised, so that the caller raises it outside every handler.
        """
        ends = self.clock() + deadline
        for turn in range(self.attempts):
            try:
                found = attempt(ends - self.clock())
            except AttemptFailed as failure:
                error, retryable, delay = failure.error, failure.retryable, failure.retry_after
            else:
                self.quota.refill()
                return found
            wait = (
                self.draw(0, min(self.longest_backoff, self.base * 2**turn))
                if delay is None
                else delay
            )
            last = turn == self.attempts - 1
            if last or not retryable or self.clock() + wait >= ends or not self.quota.take():
                break
            self.sleep(wait)
        return error
