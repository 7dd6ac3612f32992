"""Answer requests, from the cache or from the service."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from aatoolkit import errors
from aatoolkit._util.defaults import CACHE_SIZE, DEADLINE, EXPIRE_AFTER, MAX_BODY, WORKERS
from aatoolkit.http.address import BaseUrl
from aatoolkit.http.cache_backend import ANONYMOUS, AnswerCache, CachedAnswer
from aatoolkit.http.cache_dir import default_folder
from aatoolkit.http.deadline import pause
from aatoolkit.http.retry import Retry
from aatoolkit.http.secret import Secret
from aatoolkit.http.session import EMPTY, Sender, cache_key, open_session
from aatoolkit.http.single_flight import SingleFlight
from aatoolkit.http.transport import FinalResponse
from aatoolkit.payload import Payload, Request

EMPTY_SECONDS = 300.0
"""For how long an answer without data is fresh at most."""


class Fetcher:
    """Fetches answers of one service as one account; safe to use from several threads.

    Parameters
    ----------
    base_url : str
        The address of the service: https, or http on this machine.
    token : str or Secret, optional
        The bearer token; without one, none is sent.
    cache : bool or path
        Whether to cache answers, or the folder to cache them in.
    cache_size : int
        The size limit of the cache in bytes; the least recently used answers are evicted.
    offline : bool
        Answer from the cache only, whatever the age; no socket is opened.
    expire_after : float
        For how many seconds an answer is fresh.
    deadline : float
        The seconds that one call may take, retries and waits included.
    max_body : int
        The limit of the size of an answer, in bytes.
    workers : int
        The size of the connection pool.
    sleep : callable
        The function that waits between attempts.

    Raises
    ------
    ConfigurationError
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
        self._secret = secret
        self.has_token: bool = secret is not None
        self.offline = offline
        self.expire_after: float = _seconds("expire_after", expire_after)
        self.deadline: float = _seconds("deadline", deadline, least=1e-3)
        self.folder: Path | None = _folder(cache)
        if offline and self.folder is None:
            raise errors.ConfigurationError(
                "offline without a cache answers nothing; leave the cache on",
                setting="offline",
            )
        self._retry = Retry(sleep=sleep)
        limit = _bytes("cache_size", cache_size)
        self._store = None if self.folder is None else AnswerCache(self.folder, limit)
        self._account = ANONYMOUS if self._store is None else self._store.account(secret)
        self._single_flight: SingleFlight[FinalResponse | CachedAnswer] = SingleFlight()
        self._session = open_session(
            self.base, secret, self._store, max_body=max_body, connections=max(1, workers)
        )
        self._sender = Sender(self._session, self.base)

    def get(self, request: Request) -> Payload:
        """Answer a request from the cache, or else from the service.

        A request with ``refresh`` always goes out and replaces what is cached; a stale answer is
        never used for it.

        Raises
        ------
        FetchError
            If no usable answer came back.
        """
        given, deadline = request.expire_after, self.deadline
        age = self.expire_after if given is None else _seconds("expire_after", given)
        path = self.base.path + request.path
        key = cache_key(self.base, self._account, path, request.params.items())
        ended = self._single_flight.ended
        cached = None if request.refresh else self._cached(key)
        if cached is not None and (self.offline or _is_fresh(cached, age)):
            return _payload(cached, request, stale=not _is_fresh(cached, age))
        if self.offline:
            raise _not_cached(request, self.base)
        found: Any
        if request.refresh:
            # An answer that another thread requested earlier may not be the latest.
            found = self._send(request, deadline)
        else:

            def send_once(left: float) -> Any:
                # Another thread may have cached the answer meanwhile.
                meanwhile = self._single_flight.may_have_ended(key, ended)
                now = self._cached(key) if meanwhile else None
                fresh = now is not None and _is_fresh(now, age)
                return now if fresh else self._send(request, left)

            found = self._single_flight.run(key, send_once, deadline)
        if not isinstance(found, errors.FetchError | errors.InternalError):
            return _payload(found, request)
        if cached is not None and _allows_stale(found):
            _warn_stale(cached, found)
            return _payload(cached, request, stale=True)
        if isinstance(found, errors.DeadlineExceeded):
            found.deadline = deadline
        found.section, found.scope = request.section, request.scope
        raise found

    def repeats_token(self, text: bytes) -> bool:
        """Whether a text holds the token that requests carry."""
        secret = self._secret
        return secret is not None and secret.is_distinct and secret.is_in(text)

    def close(self) -> None:
        """Close the connections, and write what waits for the cache's lock."""
        self._session.close()
        if self._store is not None:
            self._store.responses.close()

    def _send(self, request: Request, deadline: float) -> Any:
        """Return the service's answer, or the error that the last attempt ended in."""
        prepared = self._sender.prepare(self.base.url + request.path, request.params)
        return self._retry.run(lambda left: self._sender.send(prepared, left), deadline)

    def _cached(self, key: str) -> CachedAnswer | None:
        return None if self._store is None else self._store.find(key)


def _payload(
    response: FinalResponse | CachedAnswer, request: Request, *, stale: bool = False
) -> Payload:
    return Payload(
        response.content,
        url=response.url,
        status=response.status_code,
        fetched_at=response.fetched_at,
        from_cache=response.from_cache,
        stale=stale,
        host=request.host,
        section=request.section,
        scope=request.scope,
        headers={name.lower(): value for name, value in response.headers.items()},
    )


def _is_fresh(cached: CachedAnswer, limit: float) -> bool:
    age = (datetime.now(UTC) - cached.fetched_at).total_seconds()
    if cached.status_code in EMPTY:
        limit = min(limit, EMPTY_SECONDS)
    # An answer from the future means that a clock was moved: its age is unknown.
    return 0 <= age < limit


def _allows_stale(error: errors.FetchError | errors.InternalError) -> bool:
    """Whether a stale answer may be used instead: when the service failed, not when it refused."""
    if isinstance(error, errors.DecodeError):
        return error.problem == "truncated"
    return isinstance(error, errors.ConnectionFailed | errors.ServerFailed)


def _warn_stale(cached: CachedAnswer, error: errors.AAToolkitError) -> None:
    warnings.warn(
        f"{error.message}; an answer of {cached.fetched_at:%Y-%m-%d %H:%M} UTC was used instead",
        errors.StaleDataWarning,
        stacklevel=3,
    )


def _not_cached(request: Request, base: BaseUrl) -> errors.NotCached:
    why = (
        "a refresh has to go out; leave refresh out"
        if request.refresh
        else "this answer was never cached for this account; ask once online, with the same token"
    )
    return errors.NotCached(
        f"offline: {why}",
        url=request.at(base.url).url,
        section=request.section,
        scope=request.scope,
    )


def _seconds(setting: str, value: float, *, least: float = 0.0) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        raise errors.ConfigurationError(
            f"{setting} is a number of seconds, not {value!r}", setting=setting
        )
    if value < least:
        raise errors.ConfigurationError(f"{setting} is too small: {value!r}", setting=setting)
    return float(value)


def _bytes(setting: str, value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
        raise errors.ConfigurationError(
            f"{setting} is a number of bytes, not {value!r}", setting=setting
        )
    return value


def _folder(cache: bool | str | Path) -> Path | None:
    if cache is False:
        return None
    return default_folder() if cache is True else Path(cache).expanduser()
