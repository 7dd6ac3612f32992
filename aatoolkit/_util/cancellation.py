"""Cancel a group of calls at once, whatever threads they run in."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import ContextVar, copy_context
from typing import TypeVar

T = TypeVar("T")

_CANCELLED: ContextVar[threading.Event | None] = ContextVar("cancelled", default=None)


class CallGroup:
    """A group of calls that are cancelled together.

    After `cancel`, the calls that still run soon raise an error; `cancel` does not wait for them.

    Examples
    --------
    >>> group = CallGroup()
    >>> group.run(is_cancelled), is_cancelled()
    (False, False)
    >>> group.cancel()
    >>> group.run(is_cancelled), is_cancelled()
    (True, False)
    """

    def __init__(self) -> None:
        self._event = threading.Event()
        self._context = copy_context()
        self._context.run(_CANCELLED.set, self._event)

    def run(self, action: Callable[..., T], *arguments: object) -> T:
        """Call a function so that the group can cancel it, from any thread; return its result."""
        return self._context.copy().run(action, *arguments)

    def cancel(self) -> None:
        """Cancel all calls of the group, those that run and those still to come."""
        self._event.set()


def is_cancelled() -> bool:
    """Return whether the current call belongs to a cancelled group."""
    event = _CANCELLED.get()
    return event is not None and event.is_set()
