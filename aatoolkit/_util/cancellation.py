"""Cancel several calls together, also in other threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import ContextVar, copy_context
from typing import TypeVar

T = TypeVar("T")

# The event that is set if the group of the current call is cancelled; None without a group.
_CANCEL_EVENT: ContextVar[threading.Event | None] = ContextVar("cancelled", default=None)


class CallGroup:
    """A group of function calls, in any threads, that can be cancelled together.

    A called function must check `is_cancelled` from time to time, and return early if it is True.

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
        self._context.run(_CANCEL_EVENT.set, self._event)

    def run(self, function: Callable[..., T], *arguments: object) -> T:
        """Call ``function(*arguments)`` as a member of this group, and return its result."""
        return self._context.copy().run(function, *arguments)

    def cancel(self) -> None:
        """Mark all running and all later calls of the group as cancelled."""
        self._event.set()


def is_cancelled() -> bool:
    """Return whether the current call belongs to a cancelled group."""
    cancel_event = _CANCEL_EVENT.get()
    return cancel_event is not None and cancel_event.is_set()
