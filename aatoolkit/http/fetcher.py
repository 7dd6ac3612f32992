"""Get responses, from the cache or from the service."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

from aatoolkit import errors
from aatoolkit._util.defaults import CACHE_SIZE, DEADLINE, EXPIRE_AFTER, MAX_BODY, WORKERS
from aatoolkit.http.address import BaseUrl
from aatoolkit.http.attempt import pause
from aatoolkit.http.cache import ResponseCache, default_folder
from aatoolkit.http.policy import allows_stale, is_fresh, may_be_kept
from aatoolkit.http.retry import Error, Retry, SingleFlight
from aatoolkit.http.secret import Secret
from aatoolkit.http.transport import Transport
from aatoolkit.payload import Payload, Request, Response


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
        The size limit of the cache in bytes; the least recently used responses are evicted.
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
        self._retry = Retry(sleep=sleep)
        self._single_flight: SingleFlight[Payload] = SingleFlight()
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
            raise _not_cached(request)
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
            _warn_stale(cached, outcome)
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


def _warn_stale(cached: Response, error: errors.AAToolkitError) -> None:
    warnings.warn(
        f"{error.message}; a response of {cached.fetched_at:%Y-%m-%d %H:%M} UTC was used instead",
        errors.StaleDataWarning,
        stacklevel=3,
    )


def _not_cached(request: Request) -> errors.NotCached:
    why = (
        "offline=True cannot refresh; leave refresh out"
        if request.refresh
        else "this response was never cached for this account; ask once online, with the same token"
    )
    return errors.NotCached(
        f"offline: {why}", url=request.url, section=request.section, scope=request.scope
    )


def _at_least(least: float, setting: str, value: float) -> float:
    if not value >= least:  # as a number that is none is not
        raise errors.ArgumentError(f"{setting} is too small: {value!r}", argument=setting)
    return value


def _folder(cache: bool | str | Path) -> Path | None:
    if cache is False:
        return None
    return default_folder() if cache is True else Path(cache).expanduser()
