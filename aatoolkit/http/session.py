"""Assemble the requests session with its requests-cache backend."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
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


def open_session(
    base: BaseUrl,
    token: Secret | None,
    store: AnswerCache | None,
    *,
    max_body: int,
    connections: int,
) -> requests.Session:
    """Open a session, with the cache in ``store`` or without a cache.

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


def send(session: requests.Session, request: requests.PreparedRequest, timeout: float) -> Any:
    """Send a request to the service, bypassing the cache, and cache the answer.

    Raises
    ------
    AttemptFailed
        If no answer came back.
    """
    url = str(request.url)
    settings: Any = session.merge_environment_settings(url, {}, None, None, None)
    options: dict[str, Any] = dict(settings)
    if _is_loopback(url):
        options["proxies"] = {}
    if isinstance(session, CachedSession):
        options["force_refresh"] = True
    return session.send(
        request, **{**options, "stream": False, "timeout": timeout, "allow_redirects": False}
    )


def _cached(base: BaseUrl, token: Secret | None, store: AnswerCache) -> CachedSession:
    return CachedSession(
        backend=store,
        expire_after=NEVER_EXPIRE,
        cache_control=False,
        allowable_codes=(*FINAL, *EMPTY),
        allowable_methods=("GET",),
        stale_if_error=False,
        match_headers=False,
        key_fn=_key_function(base, store.account(token)),
    )


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


def _key_function(base: BaseUrl, account: str) -> Callable[..., str]:
    def key(request: requests.PreparedRequest, **_: object) -> str:
        parts = urlsplit(str(request.url))
        params = parse_qsl(parts.query, keep_blank_values=True)
        return cache_key(base, account, parts.path, params)

    return key


def _is_loopback(url: str) -> bool:
    parts = urlsplit(url)
    return BaseUrl(parts.scheme, parts.hostname or "", parts.port or 0, "").is_loopback


class _NoAuth(AuthBase):
    """Adds nothing: the token is added to the request below the cache."""

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        return request
