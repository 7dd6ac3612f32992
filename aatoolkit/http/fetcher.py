"""Get responses, from the cache or from the service: once each, and again where that may help."""

from __future__ import annotations

import copy
import random
import threading
import time
import warnings
from collections.abc import Callable, Hashable
from concurrent.futures import Future, wait
from pathlib import Path

from aatoolkit import errors
from aatoolkit._util.cancellation import is_cancelled
from aatoolkit._util.defaults import CACHE_SIZE, DEADLINE, EXPIRE_AFTER, MAX_BODY, WORKERS
from aatoolkit.http.cache import ResponseCache, default_folder
from aatoolkit.http.endpoint import BaseUrl, Secret
from aatoolkit.http.judge import allows_stale, is_fresh, may_be_kept
from aatoolkit.http.transport import STEP, Failure, Transport, pause
from aatoolkit.payload import Payload, Request, Response

Error = errors.FetchError | errors.InternalError

_ATTEMPTS = 3
_BASE, _LONGEST_BACKOFF = 0.5, 8.0


class Retry:
    """Retry with exponential backoff and full jitter, within one deadline.

    The backoff doubles, up to a longest one; the wait is drawn evenly
    between zero and that, so that clients which failed together do not return together. A wait
    that the service asks for (``Retry-After``) is respected; if it would outlast the deadline
    there is no retry.

    A client has a quota of retries for all its calls together: each retry takes one; every five
    responses give one back, and so does every ten seconds. Calls to a service that fails now and
    then are always retried; soon none are to one that fails most calls, so that a loop over many
    projects does not overload it, or wait for it at every turn.
    """

    most, per_response, per_second = 20.0, 0.2, 0.1

    def __init__(self, sleep: Callable[[float], None]) -> None:
        self._sleep, self._lock = sleep, threading.Lock()
        self._left, self._since = self.most, time.monotonic()

    def _change(self, by: float) -> bool:
        """Add some retries or, below zero, take some if they are there; returns whether."""
        with self._lock:
            now = time.monotonic()
            left = min(self.most, self._left + (now - self._since) * self.per_second)
            is_enough = left + by >= 0
            self._left, self._since = min(self.most, left + by) if is_enough else left, now
            return is_enough

    def run(
        self, attempt: Callable[[float], Response | Failure], deadline: float
    ) -> Response | Error:
        """Call ``attempt`` with the seconds left, until it succeeds or a retry would not help.

        The error is returned, not raised, so that the caller raises it outside every handler.
        """
        ends = time.monotonic() + deadline
        for turn in range(_ATTEMPTS):
            outcome = attempt(ends - time.monotonic())
            if not isinstance(outcome, Failure):
                self._change(self.per_response)
                return outcome
            wait = outcome.retry_after
            if wait is None:
                wait = random.uniform(0, min(_LONGEST_BACKOFF, _BASE * 2**turn))
            is_last = turn == _ATTEMPTS - 1 or time.monotonic() + wait >= ends
            if is_last or not outcome.is_retryable or not self._change(-1):
                break
            self._sleep(wait)
        return outcome.error  # type: ignore[union-attr]


class SingleFlight:
    """Sends each request once at a time, however many threads make it.

    The first caller sends the request; the others wait, each no longer than its own deadline.
    They share the response, and the error; but if the first was interrupted, or had a shorter
    deadline, one of them sends it again.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._flights: dict[Hashable, Future[Payload | Error | None]] = {}

    def run(
        self, key: Hashable, send: Callable[[float], Payload | Error], deadline: float
    ) -> Payload | Error:
        """Call ``send``, or wait for the same request in another thread; return the outcome."""
        ends = time.monotonic() + deadline
        while True:
            with self._lock:
                flight = self._flights.get(key)
                if flight is None:
                    mine = self._flights[key] = Future()
                    break
            while not wait([flight], min(STEP, max(0.0, ends - time.monotonic()))).done:
                if time.monotonic() >= ends or is_cancelled():
                    return errors.DeadlineExceeded(
                        "no complete response came before the deadline; ask for less, or raise "
                        "the deadline"
                    )
            outcome = flight.result()
            if outcome is not None:  # which an interrupted or shorter call leaves
                # A copy of an error for each caller: raising it adds a traceback.
                return copy.copy(outcome) if isinstance(outcome, Exception) else outcome
        shared: Payload | Error | None = None
        try:
            outcome = send(ends - time.monotonic())
            if not isinstance(outcome, errors.DeadlineExceeded) and not is_cancelled():
                shared = outcome
            return outcome
        finally:
            with self._lock:
                del self._flights[key]
            mine.set_result(shared)


class Fetcher:
    """Fetches responses of one service as one account; safe to use from several threads.

    Parameters
    ----------
    base_url : str
        The address of the service: https, or http on this machine.
    token : str or Secret, optional
        The bearer token; without one, none is sent.
    cache : bool or path
        Whether to cache responses, or the folder to cache them in.
    cache_size : int
        The size limit of the cache in bytes; the oldest responses are evicted.
    offline : bool
        Read from the cache only, whatever the age; no socket is opened.
    expire_after : float
        For how many seconds a response is fresh.
    deadline : float
        The seconds that one call may take, retries and waits included.
    max_body : int
        The limit of the size of a response, in bytes.
    workers : int
        The size of the connection pool.
    sleep : callable
        The function that waits between attempts.

    Raises
    ------
    ArgumentError
        If a setting cannot be used.
    """

    def __init__(
        self,
        base_url: str,
        token: str | Secret | None = None,
        *,
        cache: bool | str | Path = True,
        cache_size: int = CACHE_SIZE,
        offline: bool = False,
        expire_after: float = EXPIRE_AFTER,
        deadline: float = DEADLINE,
        max_body: int = MAX_BODY,
        workers: int = WORKERS,
        sleep: Callable[[float], None] = pause,
    ) -> None:
        token = Secret.wrap(token)
        secret = token.check() if token is not None else None
        self.base: BaseUrl = BaseUrl.parse(base_url)
        self.has_token: bool = secret is not None
        self.offline = offline
        self.expire_after: float = _at_least(0, "expire_after", expire_after)
        self.deadline: float = _at_least(1e-3, "deadline", deadline)
        self.folder: Path | None = _folder(cache)
        if offline and self.folder is None:
            raise errors.ArgumentError(
                "offline=True reads the cache alone; leave cache=True",
                argument="offline",
            )
        limit = int(_at_least(1, "cache_size", cache_size))
        self._cache = None if self.folder is None else ResponseCache(self.folder, secret, limit)
        self._retry = Retry(sleep)
        self._single_flight = SingleFlight()
        self._transport = Transport(
            self.base, secret, max_body=max_body, connections=max(1, workers)
        )

    def get(self, request: Request) -> Payload:
        """Get the response to a request from the cache, or else from the service.

        A request with ``refresh`` always goes out and replaces what is cached; a stale response
        is never used for it.

        Raises
        ------
        FetchError
            If no usable response came back.
        """
        request, deadline = request.at(self.base.url), self.deadline
        age = request.expire_after
        age = self.expire_after if age is None else _at_least(0, "expire_after", age)
        cached = None if request.refresh else self._cached(request)
        stale = cached is None or not is_fresh(cached, age)
        if cached is not None and (self.offline or not stale):
            return Payload._of(cached, from_cache=True, stale=stale)
        if self.offline:
            why = "this response was never cached for this account; ask once online, with the same"
            why = (
                "offline=True cannot refresh; leave refresh out"
                if request.refresh
                else f"{why} token"
            )
            raise errors.NotCached(
                f"offline: {why}", url=request.url, section=request.section, scope=request.scope
            )
        if request.refresh:
            # A response that another thread requested earlier may not be the latest.
            outcome = self._send(request, deadline)
        else:

            def send_once(left: float) -> Payload | Error:
                # Another thread may have cached the response meanwhile.
                meanwhile = self._cached(request)
                if meanwhile is not None and is_fresh(meanwhile, age):
                    return Payload._of(meanwhile, from_cache=True)
                return self._send(request, left)

            outcome = self._single_flight.run(request.key, send_once, deadline)
        if isinstance(outcome, Payload):
            return outcome
        if cached is not None and allows_stale(outcome):
            warnings.warn(
                f"{outcome.message}; a response of {cached.fetched_at:%Y-%m-%d %H:%M} UTC was used "
                "instead",
                errors.StaleDataWarning,
                stacklevel=2,
            )
            return Payload._of(cached, from_cache=True, stale=True)
        if isinstance(outcome, errors.DeadlineExceeded):
            outcome.deadline = deadline
        outcome.section, outcome.scope = request.section, request.scope
        raise outcome

    def repeats_token(self, text: bytes) -> bool:
        """Whether a text holds the token that requests carry."""
        return self._transport.repeats_token(text)

    def close(self) -> None:
        """Close the connections and the cache; both open again when they are used."""
        self._transport.close()
        if self._cache is not None:
            self._cache.close()

    def _send(self, request: Request, deadline: float) -> Payload | Error:
        """Return the service's response, kept if it may be, or the last attempt's error."""
        outcome = self._retry.run(lambda left: self._transport.ask(request, left), deadline)
        if not isinstance(outcome, Response):
            return outcome
        if self._cache is not None and may_be_kept(outcome):
            self._cache.put(outcome)
        return Payload._of(outcome)

    def _cached(self, request: Request) -> Response | None:
        return None if self._cache is None else self._cache.get(request)


def _at_least(least: float, setting: str, value: float) -> float:
    if not value >= least:  # as a number that is none is not
        raise errors.ArgumentError(f"{setting} is too small: {value!r}", argument=setting)
    return value


def _folder(cache: bool | str | Path) -> Path | None:
    if cache is False:
        return None
    return default_folder() if cache is True else Path(cache).expanduser()
