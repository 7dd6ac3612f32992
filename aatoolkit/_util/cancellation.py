"""Cancel a group of calls together, even if they run in several threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import ContextVar, copy_context
from typing import TypeVar

T = TypeVar("T")

_CANCELLED: ContextVar[threading.Event | None] = ContextVar("cancelled", default=None)


class CallGroup:
    """A group of calls that can be cancelled together.

    A running call has to check `is_cancelled` from time to time, and end if it is True; `cancel`
    does not wait for this.

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
        """Call a function as a member of the group, in any thread, and return its result."""
        return self._context.copy().run(action, *arguments)

    def cancel(self) -> None:
        """Cancel all calls of the group: those that are running, and all later ones."""
        self._event.set()


def is_cancelled() -> bool:
    """Return whether the current call belongs to a cancelled group."""
    event = _CANCELLED.get()
    return event is not None and event.is_set()
