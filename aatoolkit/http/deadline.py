"""The limits of one call: its deadline, its size, and the token that signs it.

The sockets that carry a call consult it before every step. Each step is short, so no server can
make a call take longer or grow larger than allowed, whatever it sends.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from aatoolkit._util.cancellation import is_cancelled
from aatoolkit.http.secret import Secret

STEP = 0.1
"""The longest single wait, in seconds, before deadline and cancellation are checked again."""

HEAD_LIMIT = 1 << 18
"""The most bytes that may arrive before the body begins, interim responses included."""

UNSIGNED = b"\r\nAuthorization: Bearer ***\r\n"
"""The header as everything above the connection sees it."""


class DeadlineReached(OSError):
    """The deadline of the call has passed."""


class CallCancelled(OSError):
    """The group of calls that this one belongs to was cancelled."""


class ResponseTooLarge(OSError):
    """More bytes arrived than the call may receive."""


class Call:
    """The limits of one exchange with the service.

    Parameters
    ----------
    seconds
        How long it may take.
    token
        The token that signs the request; None leaves it unsigned.
    """

    def __init__(self, seconds: float, token: Secret | None = None) -> None:
        self._deadline = time.monotonic() + seconds
        self._token = token
        self._bytes_left = HEAD_LIMIT
        self._is_new_connection = False
        self._has_response = False

    @staticmethod
    def current() -> Call:
        """Return the active call of this thread."""
        return _CURRENT.get()

    @contextmanager
    def active(self) -> Iterator[None]:
        """Make this the call that the connections of this thread carry."""
        before = _CURRENT.set(self)
        try:
            yield
        finally:
            _CURRENT.reset(before)

    @property
    def is_expired(self) -> bool:
        """Whether the deadline has passed."""
        return time.monotonic() >= self._deadline

    def remaining(self) -> float:
        """Return the seconds until the deadline.

        Raises
        ------
        DeadlineReached, CallCancelled
            If there are none.
        """
        if is_cancelled():
            raise CallCancelled
        seconds = self._deadline - time.monotonic()
        if seconds <= 0:
            raise DeadlineReached
        return seconds

    def step(self) -> float:
        """Return the timeout of the next step, in seconds; raises as `remaining` does."""
        return min(STEP, self.remaining())

    def mark_connected(self) -> None:
        """Note that a connection was opened for this call."""
        self._is_new_connection = True

    @property
    def is_stale_connection(self) -> bool:
        """Whether the call went out over a reused connection and nothing has come back.

        A service may close such a connection just as it is reused, so a break says nothing about
        this request.
        """
        return not self._is_new_connection and not self._has_response

    def count_bytes(self, count: int) -> None:
        """Count received bytes; raises `ResponseTooLarge` beyond the limit."""
        self._has_response = self._has_response or count > 0
        self._bytes_left -= count
        if self._bytes_left < 0:
            raise ResponseTooLarge

    def limit_bytes(self, count: int) -> None:
        """Set how many more bytes may arrive."""
        self._bytes_left = count

    @property
    def headers(self) -> dict[str, str]:
        """The Authorization header, with a placeholder for the token."""
        return {} if self._token is None else {"Authorization": "Bearer ***"}

    def signed(self, data: bytes) -> bytes:
        """Return the head of a request with the token in it: the only bytes that ever hold it."""
        if self._token is None:
            return data
        return data.replace(UNSIGNED, UNSIGNED.replace(b"***", self._token.reveal().encode()), 1)


_CURRENT: ContextVar[Call] = ContextVar("call")


def pause(seconds: float) -> None:
    """Sleep in short steps, so that an interrupt or a cancellation ends it at once."""
    ends = time.monotonic() + seconds
    while (left := ends - time.monotonic()) > 0 and not is_cancelled():
        time.sleep(min(STEP, left))
