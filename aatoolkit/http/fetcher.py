"""Fetch responses, from the cache or from the service, with retries."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path

from aatoolkit import errors
from aatoolkit._util.defaults import CACHE_BYTES, DEADLINE_SECONDS, EXPIRE_AFTER_SECONDS, WORKERS
from aatoolkit.http.cache import ResponseCache, resolve_cache_folder
from aatoolkit.http.endpoint import BaseUrl, Secret
from aatoolkit.http.judge import allows_stale_response, is_fresh, may_be_cached
from aatoolkit.http.transport import Transport, pause
from aatoolkit.payload import Payload, Request, Response

FetchOrInternalError = errors.FetchError | errors.InternalError

# Each later attempt waits up to twice as long. The quota is shared by all requests of a fetcher.
_MAX_ATTEMPTS = 3
_FIRST_BACKOFF_SECONDS = 0.5
_RETRY_QUOTA = 20.0


class Fetcher:
    """Fetches the responses of one service for one account, from the cache or by HTTP.

    It is thread-safe. The parameters are those of `Client`, and one more: ``sleep`` is the function
    that waits between retries.
    """

    def __init__(
        self,
        base_url: str,
        token: str | Secret | None = None,
        *,
        cache: bool | str | Path = True,
        cache_size: int = CACHE_BYTES,
        offline: bool = False,
        expire_after: float = EXPIRE_AFTER_SECONDS,
        deadline: float = DEADLINE_SECONDS,
        workers: int = WORKERS,
        sleep: Callable[[float], None] = pause,
    ) -> None:
        token = Secret.wrap(token)
        checked_token = token.check() if token is not None else None
        self.base = BaseUrl.parse(base_url)
        self.has_token = checked_token is not None
        self.offline = offline
        self.expire_after = _check_min(0, "expire_after", expire_after)
        self.deadline = _check_min(1e-3, "deadline", deadline)
        if offline and cache is False:
            raise errors.ArgumentError(
                "offline reads from the cache only, and there is none; leave out cache=False",
                argument="offline",
            )
        max_cache_bytes = int(_check_min(1, "cache_size", cache_size))
        self._cache = None
        if cache is not False:
            cache_folder = resolve_cache_folder(None if cache is True else cache)
            self._cache = ResponseCache(cache_folder, checked_token, max_cache_bytes)
        self._sleep = sleep
        self._retries_left = _RETRY_QUOTA
        self._transport = Transport(self.base, checked_token, workers)

    def get(self, request: Request) -> Payload:
        """Return the response to a request, from the cache or from the service.

        If the service fails and an expired response is in the cache, it is returned with a warning.

        Raises
        ------
        FetchError
            If there is no usable response.
        """
        request = request.with_base_url(self.base.url)
        max_age_seconds = request.expire_after
        max_age_seconds = (
            self.expire_after
            if max_age_seconds is None
            else _check_min(0, "expire_after", max_age_seconds)
        )
        cached_response = self._cache.get(request) if self._cache and not request.refresh else None
        is_stale = cached_response is None or not is_fresh(cached_response, max_age_seconds)
        if cached_response is not None and (self.offline or not is_stale):
            return Payload._from_response(cached_response, from_cache=True, stale=is_stale)
        if self._cache and self.offline:
            cached_requests = self._cache.list_requests_for_host(request)
            nearest_request = min(cached_requests, key=request.distance, default=None)
            sender_text = (
                "this token" if self.has_token else "requests without a token (none is set)"
            )
            problem_text = (
                f"{request} was never cached for {sender_text}; the nearest in the cache, of any "
                f"token: {nearest_request or 'none'}; ask for it once online, or set the token "
                "with which it was cached"
            )
            problem_text = (
                "refresh needs a connection; leave it out" if request.refresh else problem_text
            )
            raise errors.NotCached(
                f"offline: {problem_text}",
                url=request.url,
                section=request.section,
                scope=request.scope,
                nearest=nearest_request and str(nearest_request),
            )
        payload_or_error = self._send_with_retries(request)
        if isinstance(payload_or_error, Payload):
            return payload_or_error
        if cached_response is not None and allows_stale_response(payload_or_error):
            errors.warn(
                f"{payload_or_error.message}; a response of "
                f"{cached_response.fetched_at:%Y-%m-%d %H:%M} UTC was used instead",
                errors.StaleDataWarning,
            )
            return Payload._from_response(cached_response, from_cache=True, stale=True)
        if isinstance(payload_or_error, errors.DeadlineExceeded):
            payload_or_error.deadline = self.deadline
        payload_or_error.section = request.section
        payload_or_error.scope = request.scope
        raise payload_or_error

    def contains_token(self, content: bytes) -> bool:
        """Return whether bytes contain the token, in plain text, JSON-escaped or URL-encoded."""
        return self._transport.contains_token(content)

    def close(self) -> None:
        """Close the connections and the cache; later calls open them again."""
        self._transport.close()
        if self._cache is not None:
            self._cache.close()

    def _send_with_retries(self, request: Request) -> Payload | FetchOrInternalError:
        """Send a request, and repeat it if it fails.

        Return the response, or the error of the last attempt.
        """
        deadline_time = time.monotonic() + self.deadline
        attempt_count = 0
        while True:
            response_or_failure = self._transport.send_request(
                request, deadline_time - time.monotonic()
            )
            if isinstance(response_or_failure, Response):
                # Calls share a quota of retries, so that a failing service is not overloaded.
                self._retries_left = min(_RETRY_QUOTA, self._retries_left + 0.2)
                if self._cache is not None and may_be_cached(response_or_failure):
                    self._cache.put(response_or_failure)
                return Payload._from_response(response_or_failure)
            if response_or_failure.is_retryable:
                # The next attempt goes over a new connection: not just this one may be stale.
                self._transport.close()
            wait_seconds = getattr(response_or_failure.error, "retry_after", None)
            if wait_seconds is None:
                # Random, so that clients that failed together do not retry together.
                wait_seconds = random.uniform(0, _FIRST_BACKOFF_SECONDS * 2**attempt_count)
            attempt_count += 1
            is_last_attempt = (
                attempt_count == _MAX_ATTEMPTS or time.monotonic() + wait_seconds >= deadline_time
            )
            if is_last_attempt or not response_or_failure.is_retryable or self._retries_left < 1:
                return response_or_failure.error
            self._retries_left -= 1
            self._sleep(wait_seconds)


def _check_min(minimum: float, setting_name: str, value: float) -> float:
    """Return the value of a setting; raise `ArgumentError` if it is below the minimum."""
    if not value >= minimum:  # as a number that is none is not
        raise errors.ArgumentError(
            f"{setting_name}={value!r} is too small; the least is {minimum:g}",
            argument=setting_name,
        )
    return value
