"""Single flight: identical requests of several threads are sent once and share one answer."""

from __future__ import annotations

import copy
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

from aatoolkit._util.cancellation import is_cancelled
from aatoolkit.errors import DeadlineExceeded, FetchError
from aatoolkit.http.deadline import STEP

T = TypeVar("T")

_REMEMBERED = 256
"""Of how many requests it is known that they have ended lately."""


class _Pending(Generic[T]):
    """A request being sent, and its outcome; None where no other caller can use that."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.outcome: T | FetchError | None = None


class SingleFlight(Generic[T]):
    """Sends each request once at a time, however many threads make it.

    The first caller sends the request in its own thread; the others wait, each no longer than its
    own deadline. They share the answer, and the error; but if the first was interrupted, or had a
    shorter deadline, one of them sends it again.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pending: dict[str, _Pending[T]] = {}
        self._ended, self._last = 0, deque[str](maxlen=_REMEMBERED)

    @property
    def ended(self) -> int:
        """How many requests have ended."""
        return self._ended

    def may_have_ended(self, key: str, since: int) -> bool:
        """Whether a request may have ended since so many had."""
        with self._lock:
            return self._ended - since > _REMEMBERED or (self._ended > since and key in self._last)

    def run(
        self, key: str, send: Callable[[float], T | FetchError], deadline: float
    ) -> T | FetchError:
        """Call ``send``, or wait for the same request in another thread; return the outcome."""
        ends = time.monotonic() + deadline
        while True:
            with self._lock:
                pending = self._pending.get(key)
                if pending is None:
                    mine = self._pending[key] = _Pending()
            if pending is None:
                return self._lead(key, mine, send, ends)
            while not pending.done.wait(min(STEP, max(0.0, ends - time.monotonic()))):
                if time.monotonic() >= ends or is_cancelled():
                    return DeadlineExceeded(
                        "no complete answer came before the deadline; ask for less, or raise the "
                        "deadline"
                    )
            if pending.outcome is not None:
                return _copy(pending.outcome)

    def _lead(
        self,
        key: str,
        pending: _Pending[T],
        send: Callable[[float], T | FetchError],
        ends: float,
    ) -> T | FetchError:
        try:
            outcome = send(ends - time.monotonic())
            if not isinstance(outcome, DeadlineExceeded) and not is_cancelled():
                pending.outcome = outcome
            return outcome
        finally:
            with self._lock:
                del self._pending[key]
                self._ended += 1
                self._last.append(key)
            pending.done.set()


def _copy(outcome: T) -> T:
    """Copy an error for each caller: raising it adds a traceback and the caller's request."""
    return copy.copy(outcome) if isinstance(outcome, FetchError) else outcome
