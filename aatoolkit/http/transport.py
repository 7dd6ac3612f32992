"""The adapter below the cache: one exchange with the service, and what became of it.

What leaves here for the cache above is a whole answer or a ``Failure``. The request it belongs to
has no token, and of the response's headers only the listed ones are left, so that nothing above
can keep what must not be kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from requests.structures import CaseInsensitiveDict
from requests.utils import select_proxy

from aatoolkit import errors
from aatoolkit.availability.detect import tells
from aatoolkit.http.address import BaseUrl
from aatoolkit.http.body import PIECE, read_body
from aatoolkit.http.deadline import HEAD, Call
from aatoolkit.http.error_mapping import LATE, Mishap, NoBundle, UnfitProxy, let_go, mishap
from aatoolkit.http.response import ANSWERS, is_passing, judge, retry_after
from aatoolkit.http.retry import Failure, may_pass
from aatoolkit.http.secret import Secret
from aatoolkit.http.sockets import POOLS, tls_context
from aatoolkit.jsontree.decode import excerpt

KEPT_HEADERS = ("content-type", "date", "etag", "last-modified", "retry-after", "x-request-id")
"""The response headers that anything above sees, beside those that speak of availability."""

READ_HEADERS = ("content-encoding", "location")
"""The response headers that are read here and not kept."""

WORDS = 1 << 16
"""How much of the body is read where the status says that it is no answer, in bytes."""

WORDS_SECONDS = 2.0
"""How long that may take."""

_SHOWN = 1 << 12


class Answer(requests.Response):
    """A whole answer, without anything that must not be kept."""

    fetched_at: datetime
    from_cache = False
    is_passing = False


@dataclass
class _Received:
    """What has come of a response so far."""

    url: str
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytearray = field(default_factory=bytearray)


class Transport(HTTPAdapter):
    """Sends one request: has it signed, bounds time and size, and judges the response.

    Parameters
    ----------
    base
        The only origin that the token goes to.
    token
        The token, or None to send none.
    max_body
        The largest body that is read, in bytes.
    connections
        The most connections that are kept open.
    """

    def __init__(
        self, base: BaseUrl, token: Secret | None, *, max_body: int, connections: int
    ) -> None:
        super().__init__(pool_connections=1, pool_maxsize=connections)
        self._base = base
        self._token = token
        self._max_body = max_body
        self._connections = connections

    def init_poolmanager(self, *arguments: Any, **options: Any) -> None:
        """Pool connections that are bounded by the call they carry."""
        super().init_poolmanager(*arguments, ssl_context=tls_context(), **options)
        self.poolmanager.pool_classes_by_scheme = POOLS

    def proxy_manager_for(self, proxy: str, **options: Any) -> Any:
        """Pool such connections through a proxy too."""
        if proxy not in self.proxy_manager:
            options |= {"ssl_context": tls_context(), "proxy_ssl_context": tls_context()}
        manager = super().proxy_manager_for(proxy, **options)
        manager.pool_classes_by_scheme = POOLS
        return manager

    def close(self) -> None:
        """Close the connections now; urllib3 would leave it to the garbage collector."""
        for manager in (self.poolmanager, *self.proxy_manager.values()):
            for key in manager.pools.keys():  # noqa: SIM118  (it has no other iteration)
                pool = manager.pools.get(key)
                if pool is not None:
                    pool.close()
        super().close()

    def send(  # type: ignore[override]
        self, request: requests.PreparedRequest, timeout: float = 60.0, **options: Any
    ) -> requests.Response:
        """Send a request; ``timeout`` is what the whole exchange may take, in seconds.

        Raises
        ------
        Failure
            If no answer came; it holds neither the request nor the library's exception.
        """
        outcome = self._outcome(request, timeout, options)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    def _outcome(
        self, request: requests.PreparedRequest, timeout: float, options: dict[str, Any]
    ) -> Answer | BaseException:
        """What became of an exchange; of an exception, nothing of where it came from.

        The frames and exceptions of the libraries hold requests, sockets and bytes. An interrupt
        comes out of them too.
        """
        received = _Received(str(request.url))
        call = Call(timeout, self._token if self._base.owns(received.url) else None)
        # Each break of a connection kept from before takes that one away.
        for kept in reversed(range(self._connections + 1)):
            try:
                with call.under_way():
                    return self._exchange(request, call, received, options)
            except Exception as error:
                what = LATE if call.is_late else mishap(error)
                let_go(error)
            except BaseException as error:
                let_go(error)
                return error
            if not (kept and what.again and call.is_stale):
                break
        return self._failure(what, received)

    def _exchange(
        self,
        request: requests.PreparedRequest,
        call: Call,
        received: _Received,
        options: dict[str, Any],
    ) -> Answer | Failure:
        asked = request.copy()
        # What requests-cache tells itself in this header is not meant for the service.
        asked.headers.pop("Cache-Control", None)
        asked.headers.update(call.headers)
        options |= {"stream": True, "timeout": call.left()}
        _refuse_unfit(received.url, options)
        response = super().send(asked, **options)
        raw = response.raw
        # Given back by us, after a whole answer alone: one that breaks may leave anything behind.
        connection, raw._connection = raw.connection, None
        try:
            received.status = response.status_code
            received.headers = CaseInsensitiveDict(
                (name, self._masked_text(value))
                for name, value in response.headers.items()
                if _is_kept(name) or name.lower() in READ_HEADERS
            )
            self._receive(raw, call, received)
            if raw.closed:
                raw._connection, connection = connection, None
                raw.release_conn()
        finally:
            if connection is not None:
                connection.close()
            raw.close()
        return self._judged(request, received)

    def _receive(self, raw: Any, call: Call, received: _Received) -> None:
        """Read the body: all of an answer, and a little of what is none."""
        coding = received.headers.get("content-encoding", "").strip().lower()
        pieces = iter(lambda: raw.read(PIECE, decode_content=False), b"")
        if received.status in ANSWERS:
            # Framing may make a body as large again; beyond that, it is no way to send one.
            call.allow(2 * self._max_body + HEAD)
            read_body(pieces, coding, self._max_body, received.body)
            call.left()
            return
        # The status says what happened; the body only adds words, as far as it comes.
        brief = Call(min(WORDS_SECONDS, call.left()))
        with suppress(Exception), brief.under_way():
            read_body(pieces, coding, WORDS, received.body)

    def _judged(self, request: requests.PreparedRequest, received: _Received) -> Answer | Failure:
        url, body, headers = received.url, bytes(received.body), received.headers
        status = received.status or 0
        if status in ANSWERS and self._repeats_token(body):
            error: errors.FetchError | None = errors.DecodeError(
                "the answer repeats the token, and is not used, lest the token get into tables "
                "and files; tell who runs the service",
                problem="token",
                **self._facts(received),
            )
        else:
            error = judge(url, status, headers, body, self._masked)
        if error is not None:
            return Failure(error, again=may_pass(error), wait=retry_after(headers))
        answer = Answer()
        answer.status_code, answer.url, answer.request = status, url, request
        answer.headers.update({name: value for name, value in headers.items() if _is_kept(name)})
        answer.fetched_at = datetime.now(UTC)
        answer.is_passing = status in ANSWERS and is_passing(body)
        # Errors may repeat what was sent.
        answer._content = body if status in ANSWERS else self._masked(body)
        return answer

    def _failure(self, what: Mishap, received: _Received) -> Failure:
        """The failure that a mishap is, with what had come until then."""
        facts = self._facts(received)
        if what.kind == "late":
            message = f"{what.reason}; ask for less, or raise the deadline"
            error: errors.FetchError = errors.DeadlineExceeded(message, **facts)
        elif what.kind == "too_large" and received.status is not None:
            error = errors.TooLarge(
                f"the answer is larger than {self._max_body} bytes; narrow the scope, or raise "
                "max_body",
                problem="truncated",
                limit=self._max_body,
                **facts,
            )
        elif what.kind == "packed":
            error = errors.DecodeError(what.reason, problem="encoding", **facts)
        else:
            message = f"no answer: {what.reason}; check the base URL and the network"
            error = errors.ConnectionFailed(message, **facts)
        return Failure(error, again=what.again)

    def _facts(self, received: _Received) -> dict[str, Any]:
        shown = excerpt(self._masked(bytes(received.body[:_SHOWN])))
        came = received.status is not None
        return {
            "url": received.url,
            "status": received.status,
            "excerpt": shown if came else None,
        }

    def _repeats_token(self, body: bytes) -> bool:
        return self._token is not None and self._token.is_distinct and self._token.is_in(body)

    def _masked_text(self, text: str) -> str:
        return self._masked(text.encode("utf-8", "surrogateescape")).decode(errors="replace")

    def _masked(self, text: bytes) -> bytes:
        return text if self._token is None else self._token.hide_in(text)


def _refuse_unfit(url: str, options: Mapping[str, Any]) -> None:
    """Refuse what the environment may ask for, and a bounded connection cannot give."""
    proxy = select_proxy(url, options.get("proxies"))
    if proxy is not None and not proxy.lower().startswith(("http://", "https://")):
        raise UnfitProxy
    bundle = options.get("verify")
    if isinstance(bundle, str) and not Path(bundle).exists():
        raise NoBundle


def _is_kept(header: str) -> bool:
    return header.lower() in KEPT_HEADERS or tells(header)
