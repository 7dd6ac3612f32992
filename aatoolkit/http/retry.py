"""Further attempts, and identical requests of several threads."""

from __future__ import annotations

import copy
import random
import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from aatoolkit._util.cancellation import is_cancelled
from aatoolkit.errors import DeadlineExceeded, FetchError, InternalError
from aatoolkit.http.attempt import STEP, pause
from aatoolkit.http.transport import Failure

T = TypeVar("T")
Error = FetchError | InternalError

_ATTEMPTS = 3
_BASE, _LONGEST_BACKOFF = 0.5, 8.0


class Quota:
    """How many retries a client has left, for all its calls together.

    Each retry takes one; every five responses give one back, and so does every ten seconds. Calls
    to a service that fails now and then are always retried; soon none are to one that fails most
    calls, so that a loop over many projects does not overload it, or wait for it at every turn.
    """

    most, per_response, per_second = 20.0, 0.2, 0.1

    def __init__(self) -> None:
        self._left, self._since = self.most, time.monotonic()
        self._lock = threading.Lock()

    def change(self, by: float) -> bool:
        """Add some retries or, below zero, take some if they are there; returns whether."""
        with self._lock:
            now = time.monotonic()
            left = min(self.most, self._left + (now - self._since) * self.per_second)
            is_enough = left + by >= 0
            self._left, self._since = min(self.most, left + by) if is_enough else left, now
            return is_enough


@dataclass(frozen=True)
class Retry:
    """Retry with exponential backoff and full jitter, within one deadline.

    The backoff doubles, up to a longest one; the wait is drawn evenly
    between zero and that, so that clients which failed together do not return together. A wait
    that the service asks for (``Retry-After``) is respected; if it would outlast the deadline
    there is no retry.
    """

    sleep: Callable[[float], None] = pause
    quota: Quota = field(default_factory=Quota)

    def run(self, attempt: Callable[[float], T | Failure], deadline: float) -> T | Error:
        """Call ``attempt`` with the seconds left, until it succeeds or a retry would not help.

        The error is returned, not raised, so that the caller raises it outside every handler.
        """
        ends = time.monotonic() + deadline
        for turn in range(_ATTEMPTS):
            outcome = attempt(ends - time.monotonic())
            if not isinstance(outcome, Failure):
                self.quota.change(Quota.per_response)
                return outcome
            wait = outcome.retry_after
            if wait is None:
                wait = random.uniform(0, min(_LONGEST_BACKOFF, _BASE * 2**turn))
            last = turn == _ATTEMPTS - 1
            if last or not outcome.is_retryable or time.monotonic() + wait >= ends:
                break
            if not self.quota.change(-1):
                break
            self.sleep(wait)
        return outcome.error  # type: ignore[union-attr]


class SingleFlight(Generic[T]):
    """Sends each request once at a time, however many threads make it.

    The first caller sends the request; the others wait, each no longer than its own deadline.
    They share the response, and the error; but if the first was interrupted, or had a shorter
    deadline, one of them sends it again.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._flights: dict[Hashable, Future[T | Error | None]] = {}

    def run(self, key: Hashable, send: Callable[[float], T | Error], deadline: float) -> T | Error:
        """Call ``send``, or wait for the same request in another thread; return the outcome."""
        ends = time.monotonic() + deadline
        while True:
            with self._lock:
                flight = self._flights.get(key)
                if flight is None:
                    mine = self._flights[key] = Future()
            if flight is None:
                return self._lead(key, mine, send, ends - time.monotonic())
            while not wait([flight], min(STEP, max(0.0, ends - time.monotonic()))).done:
                if time.monotonic() >= ends or is_cancelled():
                    return DeadlineExceeded(
                        "no complete response came before the deadline; ask for less, or raise "
                        "the deadline"
                    )
            outcome = flight.result()
            if outcome is not None:  # which an interrupted or shorter call leaves
                # A copy of an error for each caller: raising it adds a traceback.
                return copy.copy(outcome) if isinstance(outcome, Exception) else outcome

    def _lead(
        self,
        key: Hashable,
        flight: Future[T | Error | None],
        send: Callable[[float], T | Error],
        left: float,
    ) -> T | Error:
        shared: T | Error | None = None
        try:
            outcome = send(left)
            if not isinstance(outcome, DeadlineExceeded) and not is_cancelled():
                shared = outcome
            return outcome
        finally:
            with self._lock:
                del self._flights[key]
            flight.set_result(shared)
