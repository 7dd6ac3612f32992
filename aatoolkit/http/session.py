"""Assemble the requests session with its requests-cache backend, and prepare its requests."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Mapping
from http.cookiejar import DefaultCookiePolicy
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import requests
from requests.auth import AuthBase
from requests_cache import NEVER_EXPIRE, CachedSession

from aatoolkit.http.address import BaseUrl
from aatoolkit.http.cache_backend import AnswerCache
from aatoolkit.http.cache_dir import VERSION
from aatoolkit.http.secret import Secret
from aatoolkit.http.transport import Transport

FINAL = (200, 203)
"""The statuses of final answers."""

EMPTY = (204, 205, 402, 404, 409, 410, 422, 423, 424, 428, 451, 501)
"""The statuses with which an answer explains that there is no data; valid for a short time.

Most such responses are errors; those that are answers are cached, also for offline use. Never among
them are refusals of the account (401, 403), and what is about to change (202, 425, 503).
"""


_ENVIRONMENT_SECONDS = 10.0
"""For how long settings of the environment are used; some systems keep proxies elsewhere."""

_VARIABLES = (
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    *("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "REQUEST_METHOD"),
)
"""The variables that proxies and certificates are read from."""


def open_session(
    base: BaseUrl,
    token: Secret | None,
    store: AnswerCache | None,
    *,
    max_body: int,
    connections: int,
) -> requests.Session:
    """Open a session to one service, with the cache in ``store`` or without a cache.

    Freshness is computed when an answer is read, from when it was fetched, so nothing expires in
    the cache itself. Cache hits are read from the store directly: requests-cache computes the keys
    and writes, but takes many times as long as the read itself to make a response of a hit. What
    must not be cached never arrives here: the transport returns complete answers or fails.
    """
    session = requests.Session() if store is None else _cached(base, token, store)
    session.headers.clear()
    session.headers.update(
        {"User-Agent": "aatoolkit", "Accept": "application/json", "Accept-Encoding": "gzip"}
    )
    # Without an auth object, requests would read credentials from ~/.netrc.
    session.auth = _NoAuth()
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=()))
    session.adapters.clear()
    transport = Transport(base, token, max_body=max_body, connections=connections)
    session.mount(base.origin, transport)
    return session


class Sender:
    """Prepares and sends the requests of one session.

    Parameters
    ----------
    session
        The session, which has no parameters, cookies or credentials of its own.
    base
        The service that all requests go to.
    """

    def __init__(self, session: requests.Session, base: BaseUrl) -> None:
        self._session = session
        self._base = base
        self._environment: tuple[Any, float, dict[str, Any]] | None = None

    def prepare(self, url: str, params: Mapping[str, str]) -> requests.PreparedRequest:
        """Prepare a GET request as ``Session.prepare_request`` does, with nothing to merge."""
        request = requests.PreparedRequest()
        request.prepare_method("GET")
        request.prepare_url(url, dict(params))
        request.prepare_headers(self._session.headers)
        request.prepare_hooks(None)
        return request

    def send(self, request: requests.PreparedRequest, timeout: float) -> Any:
        """Send a request to the service, and cache the answer.

        Raises
        ------
        AttemptFailed
            If no answer came back.
        """
        return self._session.send(
            request, **self._settings(), stream=False, timeout=timeout, allow_redirects=False
        )

    def _settings(self) -> dict[str, Any]:
        """The proxies and certificates of the environment, for the origin of the service."""
        now, variables = time.monotonic(), tuple(map(os.environ.get, _VARIABLES))
        known = self._environment
        if known is None or known[0] != variables or now - known[1] > _ENVIRONMENT_SECONDS:
            merged: Any = self._session.merge_environment_settings(
                self._base.url, {}, None, None, None
            )
            settings = {name: merged[name] for name in ("proxies", "verify", "cert")}
            if self._base.is_loopback:
                settings["proxies"] = {}
            known = self._environment = (variables, now, settings)
        return known[2]


def cache_key(base: BaseUrl, account: str, path: str, params: Iterable[tuple[str, str]]) -> str:
    """Return the cache key of a request: one per service, account, path and parameters.

    The order of parameters and of their values does not matter, nor does ``refresh``.
    """
    pairs = sorted(
        (name, ",".join(sorted(set(value.split(",")))))
        for name, value in params
        if name != "refresh"
    )
    parts = [VERSION, base.origin, account, path, pairs]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


class _WritingSession(CachedSession):
    """A session of requests-cache that sends each request, and caches each answer.

    ``CachedSession.send(force_refresh=True)`` does the same, after it has prepared conditional
    requests, ``Cache-Control`` and ``Vary``, of which nothing applies: a fifth of the time that
    sending a small request takes.
    """

    def send(self, request: requests.PreparedRequest, **options: Any) -> requests.Response:  # type: ignore[override]
        """Send a request; its answer is cached if its status is one of those to be cached."""
        response = requests.Session.send(self, request, **options)
        if response.status_code in self.settings.allowable_codes:
            self.cache.save_response(response, self.cache.create_key(request))
        return response


def _cached(base: BaseUrl, token: Secret | None, store: AnswerCache) -> CachedSession:
    return _WritingSession(
        backend=store,
        expire_after=NEVER_EXPIRE,
        cache_control=False,
        allowable_codes=(*FINAL, *EMPTY),
        allowable_methods=("GET",),
        stale_if_error=False,
        match_headers=False,
        key_fn=_key_function(base, store.account(token)),
    )


def _key_function(base: BaseUrl, account: str) -> Callable[..., str]:
    def key(request: requests.PreparedRequest, **_: object) -> str:
        parts = urlsplit(str(request.url))
        params = parse_qsl(parts.query, keep_blank_values=True)
        return cache_key(base, account, parts.path, params)

    return key


class _NoAuth(AuthBase):
    """Adds nothing: the token is added to the request below the cache."""

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        return request
