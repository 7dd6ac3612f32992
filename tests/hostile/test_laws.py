"""Laws on inputs nobody thought of: addresses, tokens, excerpts, and responses at random."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
import requests
from effort import examples
from hostile.server import HostileServer, Wire, chunked, head, message
from hypothesis import HealthCheck, given, settings, strategies as st

from aatoolkit import errors
from aatoolkit._util.hosts import canonical_host
from aatoolkit.http import BaseUrl, Fetcher, Secret
from aatoolkit.jsontree.decode import make_excerpt
from aatoolkit.payload import Request

TEXT = st.text(st.characters(codec="utf-8"), max_size=30)
PIECES = st.sampled_from(
    ["https://", "http://", "HTTPS:", "//", "/", "\\", "@", ":", "?", "#", "%", "%2e", "%2f", "..",
     ".", "localhost", "127.0.0.1", "[::1]", "0x7f.1", "2130706433", "api.example", "evil.example",
     "xn--", "é", "。", "\u2024", "\uff0f", "443", "80", "99999", "user", "pw", "\t", "\n", " ",
     "\0", "\x1b", "v1", "a", "-", "_", "ſ", "\u200d", "file:", "javascript:"]
)  # fmt: skip
ADDRESSES = TEXT | st.lists(PIECES, max_size=8).map("".join)


def prepared(url: str) -> str:
    return str(requests.Request("GET", url).prepare().url)


@settings(max_examples=examples(600), deadline=None)
@given(ADDRESSES | ADDRESSES.map("https://{}".format))
def test_a_base_url_is_refused_or_is_where_requests_go(text: str) -> None:
    try:
        base = BaseUrl.parse(text)
    except errors.ArgumentError:
        return
    assert BaseUrl.parse(base.url) == base
    assert base.scheme == "https" or base.is_loopback
    url = f"{base.url}/api/domains/acme.example/scope-options"
    parts = urlsplit(prepared(url))
    port = parts.port or {"https": 443, "http": 80}[parts.scheme]
    assert (parts.scheme, parts.hostname, port) == (base.scheme, base.host, base.port)
    assert (parts.username, parts.password, parts.query, parts.fragment) == (None, None, "", "")
    assert parts.path.endswith("/api/domains/acme.example/scope-options")
    assert ".." not in parts.path.split("/")


@settings(max_examples=examples(600), deadline=None)
@given(ADDRESSES | st.lists(PIECES, max_size=5).map(lambda some: ".".join(some)))
def test_a_host_never_leaves_its_segment(text: str) -> None:
    try:
        host = canonical_host(text)
    except errors.ScopeError:
        return
    assert canonical_host(host) == host
    url = prepared(f"https://api.example/api/domains/{host}/scope-options")
    assert url == f"https://api.example/api/domains/{host}/scope-options"
    assert len(urlsplit(url).path.split("/")) == 5


TOKENS = st.builds(
    str.__add__,
    st.text("abcXYZ0123456789-._~+/", min_size=16, max_size=40),
    st.sampled_from(["", "=", "=="]),
)


def in_json(text: str) -> str:
    return json.dumps(text)[1:-1].replace("/", r"\/")


def in_url_whole(text: str) -> str:
    return quote(text, safe="")


@settings(max_examples=examples(150), deadline=None)
@given(TOKENS, TEXT, TEXT, st.data())
def test_a_token_is_masked_wherever_and_however_it_is_written(
    token: str, before: str, after: str, data: st.DataObject
) -> None:
    secret = Secret(token).check()
    spell = data.draw(st.sampled_from([str, in_url_whole, in_json]))
    text = f"{before}{spell(token)}{after}".encode()
    hidden = secret.mask_in(text)
    assert b"***" in hidden
    assert secret.occurs_in(text)
    assert not secret.occurs_in(hidden)
    assert not any(token[at : at + 12].encode() in hidden for at in range(len(token) - 11))
    part = token[3:15].encode()
    assert part not in secret.mask_in(b"<" + part + b">")


@settings(max_examples=examples(300), deadline=None)
@given(st.binary(max_size=400))
def test_an_excerpt_is_one_safe_line(body: bytes) -> None:
    text = make_excerpt(body)
    assert text.isprintable()
    assert len(text) <= 200


# -- responses at random ---------------------------------------------------------------------

BODY = json.dumps({"rows": [{"a": n, "b": "é" * n} for n in range(9)], "more": None}).encode()
SOUND = [
    message(BODY),
    message(gzip.compress(BODY), "200 OK", "Content-Encoding: gzip"),
    chunked(BODY[:50], BODY[50:]),
    chunked(BODY, end=b"0\r\nTrailer: a\r\n\r\n"),
    head("100 Continue") + message(BODY),
    head("200 OK", "Connection: close", "Content-Type: application/json") + BODY,
    message(b'{"error": {"message": "no"}}', "503 Busy", "Retry-After: 0"),
    message(b"", "302 Found", "Location: https://elsewhere.example/"),
]
SPLICES = [
    b"", b"\r\n", b"\n", b"\r", b"\0", b" ", b":", b"0", b"ffff", b"-1", b"\xff", b"{", b"}", b'"',
    b"HTTP/1.1 200 OK\r\n", b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n",
    b"\r\n\r\n",
    b"Content-Encoding: gzip\r\n", b"A" * 70_000, b"HTTP/1.1 100 Continue\r\n\r\n",
    b"\x1f\x8b\x08",
]  # fmt: skip


class _Replayed:
    """A server that answers each connection with the same bytes, and hangs up."""

    def __init__(self) -> None:
        self.bytes = b""

    def __call__(self, wire: Wire) -> None:
        if wire.request():
            wire.send(self.bytes)


@pytest.fixture(scope="module")
def replayed() -> Iterator[tuple[_Replayed, Fetcher]]:
    script = _Replayed()
    with HostileServer(script) as server:
        fetcher = Fetcher(
            server.url, "a-token-for-fuzzing", cache=False, deadline=5, sleep=lambda _: None
        )
        yield script, fetcher
        fetcher.close()


@st.composite
def damaged(draw: Any) -> bytes:
    """A sound response with up to three cuts, each filled with something else."""
    response: bytes = draw(st.sampled_from(SOUND))
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(response)))
        end = draw(st.integers(start, min(len(response), start + 12)))
        filling = draw(st.sampled_from(SPLICES) | st.binary(max_size=4))
        response = response[:start] + filling + response[end:]
    return response


@settings(
    max_examples=examples(250),
    deadline=3000,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(damaged())
def test_a_damaged_response_is_an_answer_or_a_typed_error(replayed: Any, response: bytes) -> None:
    script, fetcher = replayed
    script.bytes = response
    result: Any
    try:
        result = fetcher.get(
            Request("agent-analytics", "acme.example", params={"section": "urls"})
        ).json
    except errors.FetchError as error:
        result = error
    if isinstance(result, errors.FetchError):
        assert type(result) is not errors.DeadlineExceeded
        assert str(result).isprintable()
        assert result.__context__ is None
    else:
        assert isinstance(result, dict | list)
