"""Assemble the requests session, prepare its requests, and compute the keys of their answers."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterable, Mapping
from http.cookiejar import DefaultCookiePolicy
from typing import Any

import requests
from requests.auth import AuthBase

from aatoolkit.http.address import BaseUrl
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
    base: BaseUrl, token: Secret | None, *, max_body: int, connections: int
) -> requests.Session:
    """Open a session, which sends requests to one service and knows of no cache.

    The cache is a backend of requests-cache, which the fetcher reads and writes itself: what the
    session of requests-cache does around it (headers, conditional requests, expiry) would decide
    nothing, and takes longer than the exchange. What must not be cached never arrives there: the
    transport returns complete answers or fails.
    """
    session = requests.Session()
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
        """Send a request to the service.

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


class _NoAuth(AuthBase):
    """Adds nothing: the token is added to the request below the cache."""

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        return request
