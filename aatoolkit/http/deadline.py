"""One call under way: when it has to be over, how much it may take, and what signs it.

The connection that carries a call asks here before every step. So each step is short, and no
server can make a call last longer or grow larger than it may, whatever it sends.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from aatoolkit._util.cancellation import is_stopped
from aatoolkit.http.secret import Secret

STEP = 0.1
"""The longest, in seconds, that anything waits before it looks up again."""

HEAD = 1 << 18
"""The most that may come before the body begins, interim responses included, in bytes."""

UNSIGNED = b"\r\nAuthorization: Bearer ***\r\n"
"""The header as everything above the connection sees it."""


class Late(OSError):
    """The call has to be over."""


class Stopped(OSError):
    """The calls that this one belongs to have ended."""


class Flooded(OSError):
    """More bytes came than the call may take."""


class Call:
    """What one exchange with the service may take.

    Parameters
    ----------
    seconds
        How long it may last.
    token
        What signs the request; None leaves it as it is.
    """

    def __init__(self, seconds: float, token: Secret | None = None) -> None:
        self.ends = time.monotonic() + seconds
        self._token = token
        self._bytes = HEAD
        self._is_fresh = False
        self._is_answered = False

    @staticmethod
    def current() -> Call:
        """The call of this thread."""
        return _CURRENT.get()

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """Let the connections of this thread carry this call."""
        before = _CURRENT.set(self)
        try:
            yield
        finally:
            _CURRENT.reset(before)

    @property
    def is_late(self) -> bool:
        """Whether it has to be over."""
        return time.monotonic() >= self.ends

    def left(self) -> float:
        """The seconds that are left.

        Raises
        ------
        Late, Stopped
            If none are.
        """
        if is_stopped():
            raise Stopped
        left = self.ends - time.monotonic()
        if left <= 0:
            raise Late
        return left

    def step(self) -> float:
        """How long to wait before looking up again, in seconds; raises as `left` does."""
        return min(STEP, self.left())

    def connected(self) -> None:
        """Note that a connection was opened for it."""
        self._is_fresh = True

    @property
    def is_stale(self) -> bool:
        """Whether it went out over a connection kept from before, and nothing has come back.

        A service may close such a connection just as it is used again, so that a break tells
        nothing of this request.
        """
        return not self._is_fresh and not self._is_answered

    def take(self, count: int) -> None:
        """Note bytes that came; raises `Flooded` if they are too many."""
        self._is_answered = self._is_answered or count > 0
        self._bytes -= count
        if self._bytes < 0:
            raise Flooded

    def allow(self, count: int) -> None:
        """Say how many more bytes may come."""
        self._bytes = count

    def hurry(self, seconds: float) -> None:
        """Have it over in this time, or sooner."""
        self.ends = min(self.ends, time.monotonic() + seconds)

    @property
    def headers(self) -> dict[str, str]:
        """What the request says of who asks: the token's place."""
        return {} if self._token is None else {"Authorization": "Bearer ***"}

    def signed(self, data: bytes) -> bytes:
        """The head of a request with the token in it: the only bytes that ever hold it."""
        if self._token is None:
            return data
        return data.replace(UNSIGNED, UNSIGNED.replace(b"***", self._token.reveal().encode()), 1)


_CURRENT: ContextVar[Call] = ContextVar("call")


def pause(seconds: float) -> None:
    """Wait, in steps that an interrupt or the end of the calls around can come between."""
    ends = time.monotonic() + seconds
    while (left := ends - time.monotonic()) > 0 and not is_stopped():
        time.sleep(min(STEP, left))
