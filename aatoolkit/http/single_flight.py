"""Questions that are under way: who asks the same at the same time waits for the one answer."""

from __future__ import annotations

import copy
import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from aatoolkit._util.cancellation import is_stopped
from aatoolkit.errors import DeadlineExceeded, FetchError
from aatoolkit.http.deadline import STEP

T = TypeVar("T")


class _Flight(Generic[T]):
    """One question under way, and what came of it; None where nobody else can use that."""

    def __init__(self) -> None:
        self.landed = threading.Event()
        self.outcome: T | FetchError | None = None


class Flights(Generic[T]):
    """Many callers, each question asked once at a time.

    The first to ask a question asks it in its own thread; the others wait, each no longer than
    its own deadline. They share the answer, and the error; but if the first was interrupted, or
    had less time than they have, one of them asks anew.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: dict[str, _Flight[T]] = {}

    def share(
        self, key: str, ask: Callable[[float], T | FetchError], deadline: float
    ) -> T | FetchError:
        """What ``ask`` gives, called with the seconds left, or what another caller's gave."""
        ends = time.monotonic() + deadline
        while True:
            with self._lock:
                flight = self._under_way.get(key)
                if flight is None:
                    mine = self._under_way[key] = _Flight()
            if flight is None:
                return self._lead(key, mine, ask, ends)
            while not flight.landed.wait(min(STEP, max(0.0, ends - time.monotonic()))):
                if time.monotonic() >= ends or is_stopped():
                    return DeadlineExceeded(
                        "no whole answer came before the deadline; ask for less, or raise the "
                        "deadline"
                    )
            if flight.outcome is not None:
                return _for_another(flight.outcome)

    def _lead(
        self,
        key: str,
        flight: _Flight[T],
        ask: Callable[[float], T | FetchError],
        ends: float,
    ) -> T | FetchError:
        try:
            outcome = ask(ends - time.monotonic())
            if not isinstance(outcome, DeadlineExceeded) and not is_stopped():
                flight.outcome = outcome
            return outcome
        finally:
            with self._lock:
                del self._under_way[key]
            flight.landed.set()


def _for_another(outcome: T) -> T:
    """An error is told each caller as one of its own: it gets a traceback, and a question."""
    return copy.copy(outcome) if isinstance(outcome, FetchError) else outcome
