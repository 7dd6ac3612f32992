"""Calls that end together: whoever begins many can end them all, in whatever threads they are."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import ContextVar, copy_context
from typing import TypeVar

T = TypeVar("T")

_STOP: ContextVar[threading.Event | None] = ContextVar("stop", default=None)


class Together:
    """The calls that are run here.

    When it ends, those that still last end in an error, within a moment; nobody is left to see
    it.

    Examples
    --------
    >>> together = Together()
    >>> together.run(is_stopped), is_stopped()
    (False, False)
    >>> together.end()
    >>> together.run(is_stopped), is_stopped()
    (True, False)
    """

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._context = copy_context()
        self._context.run(_STOP.set, self._stop)

    def run(self, action: Callable[..., T], *arguments: object) -> T:
        """What an action gives whose calls belong here; many threads may run one each."""
        return self._context.copy().run(action, *arguments)

    def end(self) -> None:
        """End the calls."""
        self._stop.set()


def is_stopped() -> bool:
    """Whether the calls that this one belongs to have ended."""
    stop = _STOP.get()
    return stop is not None and stop.is_set()
