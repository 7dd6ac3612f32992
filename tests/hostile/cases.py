"""What servers do wrong, and what each must come to: by name, a script and its outcome."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from hostile.server import SLACK, Script, Wire, chunked, head, one_by_one, replying, whole

from aatoolkit import errors

OK = {"ok": True}
BODY = b'{"ok": true}'
TOKEN = "canary-7f3a9c.TOKEN_~+/=="
DEADLINE = 0.4
MAX_BODY = 1 << 20


@dataclass(frozen=True)
class Case:
    """One misbehaviour.

    Parameters
    ----------
    script
        What each connection does.
    outcome
        The answer's JSON, or the exact kind of error.
    facts
        What the error says of itself.
    asks
        How many requests are made of the server; None leaves it open.
    calls
        How often the question is asked; the outcome is that of the last.
    within
        How long it may take, in seconds.
    pause
        How long after the last one the next question is asked, in seconds.
    memory
        What it may take, in bodies of the largest size: as bytes, and decoded.
    is_slow
        Whether the deadline is to be reached.
    """

    script: Script
    outcome: Any = field(default_factory=lambda: OK)
    facts: dict[str, Any] = field(default_factory=dict)
    asks: int | None = 1
    calls: int = 1
    within: float = 5.0
    pause: float = 0.0
    memory: int = 16
    is_slow: bool = False


def cases() -> Iterator[tuple[str, Case]]:
    yield from _status_lines()
    yield from _headers()
    yield from _framing()
    yield from _connections()
    yield from _codings()
    yield from _contents()
    yield from _statuses()
    yield from _redirects()
    yield from _waits()
    yield from _timing()


def _broken(*parts: bytes | Script, asks: int | None = 3, **more: Any) -> Case:
    """No answer came: the connection failed."""
    return Case(replying(*parts), errors.ConnectionFailed, asks=asks, **more)


def _malformed(*parts: bytes | Script, **more: Any) -> Case:
    """What came is not HTTP: asked once, and not again."""
    return _broken(*parts, asks=1, **more)


def _undecodable(problem: str, *parts: bytes | Script, asks: int = 1, **more: Any) -> Case:
    facts = {"problem": problem, **more.pop("facts", {})}
    return Case(replying(*parts), errors.DecodeError, facts, asks=asks, **more)


def _too_large(*parts: bytes | Script) -> Case:
    return Case(replying(*parts), errors.DecodeError, {"limit": MAX_BODY, "status": 200}, within=9)


def _late(*parts: bytes | Script, status: int | None = None) -> Case:
    facts = {"deadline": DEADLINE, "status": status}
    return Case(
        replying(*parts), errors.DeadlineExceeded, facts, within=DEADLINE + SLACK, is_slow=True
    )


def _status_lines() -> Iterator[tuple[str, Case]]:
    yield "no HTTP at all", _malformed(b"hello\r\n\r\n")
    yield "HTTP/0.9: a body without a head", _malformed(BODY)
    yield "a later HTTP", _malformed(b"HTTP/2.0 200 OK\r\n\r\n")
    yield "a status line without a status", _malformed(b"HTTP/1.1\r\n\r\n")
    for status in ("abc", "99", "1000", "-200", "2OO"):
        yield f"the status {status}", _malformed(b"HTTP/1.1 %b OK\r\n\r\n" % status.encode())
    yield "a status line of 70 kB", _malformed(b"HTTP/1.1 200 " + b"x" * 70_000 + b"\r\n\r\n")
    yield "a status line that never ends", _malformed(b"HTTP/1.1 200 ", lambda w: w.flood(b"x"))
    yield "a status line cut off", _malformed(b"HTTP/1.1 20")
    yield "nothing at all", _broken(b"")
    yield "a reset instead of an answer", _broken(Wire.reset)
    yield (
        "a banner before the request",
        Case(
            lambda w: (w.send(b"220 mail.example ESMTP\r\n"), w.request()),
            errors.ConnectionFailed,
        ),
    )


def _headers() -> Iterator[tuple[str, Case]]:
    length = f"Content-Length: {len(BODY)}"
    yield "a head cut off", _malformed(b"HTTP/1.1 200 OK\r\nContent-Len")
    yield "a reset in the head", _broken(b"HTTP/1.1 200 OK\r\nA: b", Wire.reset)
    for name, line in {
        "a header without a colon": "garbage",
        "a space before the colon": "Content-Length : 3",
        "a header without a name": ": value",
        "a fold first": " b",
    }.items():
        yield name, _malformed(head("200 OK", line, length) + BODY)
    yield "300 headers", _malformed(head("200 OK", *["A: b"] * 300, length) + BODY)
    yield "a header of 70 kB", _malformed(head("200 OK", "A: " + "b" * 70_000, length) + BODY)
    headers = head("200 OK", *["A: " + "b" * 50_000] * 20, length)
    yield "a megabyte of headers", _broken(headers)
    yield "a header that never ends", _malformed(head()[:-2] + b"A: ", lambda w: w.flood(b"b"))
    yield "headers that never end", _malformed(head()[:-2], lambda w: w.flood(b"A: b\r\n"))
    yield (
        "headers beyond ASCII",
        Case(replying(whole(BODY, "200 OK", "X-A: \xe9\xff", "X-B: \x1b[2J"))),
    )
    yield (
        "two content types",
        Case(replying(whole(BODY, "200 OK", "Content-Type: text/html", "Content-Type: a/b"))),
    )
    yield "lines that end in LF alone", Case(replying(whole().replace(b"\r\n", b"\n")))
    yield (
        "cookies",
        Case(replying(whole(BODY, "200 OK", "Set-Cookie: id=1; Path=/")), calls=2, asks=2),
    )
    yield "an answer as of HTTP/1.0", Case(replying(whole().replace(b"/1.1", b"/1.0")))


def _framing() -> Iterator[tuple[str, Case]]:
    def lengths(*values: str) -> bytes:
        return head("200 OK", *(f"Content-Length: {value}" for value in values)) + BODY

    yield "no length", Case(replying(head() + BODY))
    yield (
        "a length too long",
        _broken(lengths("99"), facts={"status": 200, "excerpt": '{"ok": true}'}),
    )
    yield (
        "a length too short",
        Case(
            replying(lengths("6"), Wire.stall), errors.DecodeError, {"problem": "truncated"}, asks=3
        ),
    )
    for value in ("-1", "abc", ""):
        yield f"the length {value!r:.20}", Case(replying(lengths(value)))
    yield "two lengths", _malformed(lengths("12", "6"))
    both = head("200 OK", "Content-Length: 12", "Transfer-Encoding: chunked")
    yield "a length and chunks", Case(replying(both + b"c\r\n" + BODY + b"\r\n0\r\n\r\n"))
    for coding in ("gzip, chunked", "xchunked"):
        lines = head("200 OK", f"Transfer-Encoding: {coding}")
        yield (
            f"the transfer coding {coding}",
            _undecodable("not_json", lines + b"c\r\n" + BODY + b"\r\n0\r\n\r\n"),
        )

    chunks = head("200 OK", "Transfer-Encoding: chunked")
    yield "chunks", Case(replying(chunked(BODY[:3], BODY[3:])))
    yield "a trailer", Case(replying(chunked(BODY, end=b"0\r\nX-A: b\r\n\r\n")))
    yield "chunks without the last empty line", Case(replying(chunked(BODY, end=b"0\r\n")))
    for size in ("xyz", "-c", "c c", "", "f" * 20):
        line = size.encode() + b"\r\n"
        yield f"a chunk of size {size!r}", _broken(chunks + line + BODY + b"\r\n0\r\n\r\n")
    yield "a chunk longer than its size", _broken(chunks + b"5\r\n" + BODY + b"\r\n0\r\n\r\n")
    yield "a chunk shorter than its size", _broken(chunks + b"20\r\n" + BODY + b"\r\n0\r\n\r\n")
    yield "a chunk cut off", _broken(chunks + b"c\r\n" + BODY[:5], facts={"excerpt": '{"ok"'})
    yield "a size cut off", Case(replying(chunks + b"c\r\n" + BODY + b"\r\n0"))
    yield "no last chunk", _broken(chunked(BODY, end=b""))
    yield "a reset between chunks", _broken(chunked(BODY[:5], end=b""), Wire.reset)
    yield "an extension that never ends", _malformed(chunks + b"c;", lambda w: w.flood(b"a"))
    yield (
        "a trailer that never ends",
        _late(chunked(BODY, end=b"0\r\n"), lambda w: w.flood(b"A: b\r\n"), status=200),
    )
    yield (
        "a trailer line that never ends",
        _malformed(chunked(BODY, end=b"0\r\n"), lambda w: w.flood(b"A")),
    )
    yield "chunks that never end", _too_large(chunks, lambda w: w.flood(b"c\r\n            \r\n"))
    yield "tiny chunks that never end", _too_large(chunks, lambda w: w.flood(b"8\r\n        \r\n"))
    yield (
        "one chunk that never ends",
        _too_large(chunks + b"fffffffffff\r\n", lambda w: w.flood(b" ")),
    )
    yield "a body that never ends", _too_large(head(), lambda w: w.flood(b" "))
    yield "a long answer with its length", _too_large(whole(b" " * (MAX_BODY + 1)))
    yield (
        "an answer as long as allowed",
        Case(replying(whole(BODY + b" " * (MAX_BODY - len(BODY))))),
    )


def _connections() -> Iterator[tuple[str, Case]]:
    """What may leak from one answer into the next."""
    mine, evil = whole(b'{"n": 1}'), whole(b'{"evil": true}')
    second = whole(BODY)

    def later(data: bytes) -> Script:
        def script(wire: Wire) -> None:
            wire.request()
            wire.send(mine)
            wire.wait(0.05)
            wire.send(data)
            if wire.request():
                wire.send(second)

        def first_then_sane(wire: Wire) -> None:
            script(wire) if wire.number == 1 else one_by_one(second)(wire)

        return first_then_sane

    def first(script: Script) -> Script:
        return lambda wire: (script if wire.number == 1 else one_by_one(second))(wire)

    yield (
        "another answer after the answer",
        Case(first(one_by_one(mine + evil, second)), calls=2, asks=2),
    )
    yield (
        "a large answer and another after it",
        Case(first(one_by_one(whole(b" " * 300_000 + b"{}") + evil, second)), calls=2, asks=2),
    )
    yield "another answer a little later", Case(later(evil), calls=2, asks=2, pause=0.15)
    yield "half a head a little later", Case(later(b"HTTP/1.1 2"), calls=2, asks=2, pause=0.15)
    yield (
        "another answer after chunks",
        Case(first(one_by_one(chunked(b"{}") + evil, second)), calls=2, asks=2),
    )
    yield (
        "bytes after 204",
        Case(first(one_by_one(head("204 No Content") + evil, second)), calls=2, asks=2),
    )
    yield (
        "an answer after an error",
        Case(first(one_by_one(whole(b"{}", "404 Not Found") + evil, second)), errors.NotVisible),
    )
    yield (
        "an answer before the request",
        Case(
            lambda w: (w.send(whole()), w.request(), w.wait(0.1)),
        ),
    )
    yield "hanging up between two requests", Case(one_by_one(second), calls=2, asks=2, pause=0.1)
    yield (
        "hanging up on the second request",
        Case(first(one_by_one(mine, Wire.reset)), calls=2, asks=3),
    )
    yield (
        "a connection said to close that stays",
        Case(replying(whole(BODY, "200 OK", "Connection: close"), Wire.stall), calls=2, asks=2),
    )
    yield (
        "a connection said to stay that closes",
        Case(
            replying(whole(BODY, "200 OK", "Connection: keep-alive")), calls=2, asks=2, pause=0.05
        ),
    )
    go_on, hints = head("100 Continue"), head("103 Early Hints", "Link: </a>")
    yield "100 first", Case(replying(go_on + whole()))
    yield "103 first", Case(replying(hints + whole()), calls=2, asks=2, pause=0.05)
    yield "many 102 first", Case(replying(head("102 Processing") * 50 + whole()))
    yield "100 for ever", _late(lambda w: w.flood(go_on))
    yield "103 for ever", _late(lambda w: w.flood(hints))
    yield "100 and nothing more", _broken(go_on)
    yield (
        "another protocol",
        Case(
            replying(head("101 Switching Protocols", "Upgrade: websocket"), Wire.stall),
            errors.StatusError,
            {"status": 101},
            within=SLACK,
        ),
    )


@cache
def _packed(level: int = 1, mebibytes: int = 64) -> bytes:
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=level) as bomb:
        for _ in range(mebibytes):
            bomb.write(b" " * 2**20)
    return out.getvalue()


def _codings() -> Iterator[tuple[str, Case]]:
    def coded(coding: str, body: bytes) -> bytes:
        return whole(body, "200 OK", f"Content-Encoding: {coding}")

    packed = gzip.compress(BODY)
    noise = gzip.compress(bytes(range(256)) * 40)
    for coding in ("gzip", "GZIP", "x-gzip"):
        yield f"{coding}", Case(replying(coded(coding, packed)))
    yield "identity", Case(replying(coded("identity", BODY)))
    yield (
        "two gzip members",
        Case(replying(coded("gzip", gzip.compress(BODY[:4]) + gzip.compress(BODY[4:])))),
    )
    yield "gzip cut off", _undecodable("truncated", coded("gzip", packed[:-12]), asks=3)
    yield "gzip cut off after its data", Case(replying(coded("gzip", packed[:-5])))
    yield "gzip cut off in its header", _undecodable("empty", coded("gzip", packed[:4]))
    yield "a second member cut off", _undecodable("not_json", coded("gzip", packed + noise[:20]))
    yield (
        "gzip with a wrong checksum",
        _undecodable("encoding", coded("gzip", packed[:-8] + b"12345678")),
    )
    yield "gzip with bytes after it", Case(replying(coded("gzip", packed + b"garbage")))
    yield "gzip that is none", _undecodable("encoding", coded("gzip", b"no gzip"))
    yield "gzip that is plain JSON", _undecodable("encoding", coded("gzip", BODY))
    yield "gzip of nothing", _undecodable("empty", coded("gzip", gzip.compress(b"")))
    yield "gzip and no body", _undecodable("empty", coded("gzip", b""))
    yield "gzip not declared", _undecodable("encoding", whole(packed))
    yield "gzip twice", Case(replying(coded("gzip, gzip", gzip.compress(packed))))
    yield (
        "gzip twice, declared once",
        _undecodable("encoding", coded("gzip", gzip.compress(packed))),
    )
    for coding in ("br", "zstd", "compress", "gzip;q=1", "\xe9"):
        yield f"the coding {coding}", _undecodable("encoding", coded(coding, zlib.compress(BODY)))
    yield (
        "empty gzip members that never end",
        _late(
            head("200 OK", "Content-Encoding: gzip"),
            lambda w: w.flood(gzip.compress(b"")),
            status=200,
        ),
    )
    yield "a bomb", _too_large(coded("gzip", _packed()))
    yield "a bomb in a bomb", _undecodable("encoding", coded("gzip", gzip.compress(_packed())))
    yield "a bomb of many members", _too_large(coded("gzip", gzip.compress(b" " * 50_000) * 200))
    yield (
        "a bomb in an error",
        Case(
            replying(whole(_packed(), "500 Broken", "Content-Encoding: gzip")),
            errors.ServerFailed,
            {"status": 500},
        ),
    )
    yield (
        "garbage in an error",
        Case(replying(whole(b"garbage", "401 No", "Content-Encoding: gzip")), errors.NotAuthorized),
    )


def _contents() -> Iterator[tuple[str, Case]]:
    def typed(kind: str, body: bytes) -> bytes:
        return whole(body, "200 OK", f"Content-Type: {kind}")

    login = b"<!DOCTYPE html>\n<html><form action=/login>\x1b[31m\xe2\x80\xae</form>"
    yield "an empty answer", _undecodable("empty", whole(b""))
    yield "only white space", _undecodable("empty", whole(b" \r\n\t "))
    yield "204", Case(replying(head("204 No Content")), None)
    yield "205", Case(replying(head("205 Reset Content", "Content-Length: 0")), None)
    yield "an answer in parts", _malformed(typed("multipart/mixed; boundary=a", b"--a--"))
    yield "a login page", _undecodable("html", typed("text/html", login))
    yield (
        "a login page that says it is JSON",
        _undecodable("html", typed("application/json", login)),
    )
    yield (
        "a captive portal",
        _undecodable("html", typed("text/html", b"<html><meta http-equiv=refresh>")),
    )
    yield "XML", _undecodable("html", typed("application/xml", b"<?xml version='1.0'?><a/>"))
    yield "plain text", _undecodable("not_json", typed("text/plain", b"try again later"))
    for kind in (
        "text/html",
        "application/octet-stream",
        "text/plain",
        "",
        "///",
    ):
        yield f"JSON as {kind!r}", Case(replying(typed(kind, BODY)))
    for body in (b"null", b"true", b"12", b'"text"', b"-0.5"):
        yield f"just {body.decode()}", _undecodable("wrong_type", whole(body))
    yield "a byte-order mark", Case(replying(whole(b"\xef\xbb\xbf" + BODY)))
    yield "UTF-16", _undecodable("encoding", whole('{"ok": true}'.encode("utf-16")))
    yield (
        "UTF-16 without a mark",
        _undecodable("encoding", whole('{"ok": true}'.encode("utf-16-le"))),
    )
    yield (
        "Latin-1",
        _undecodable("encoding", typed("application/json; charset=latin-1", b'{"a": "\xe9"}')),
    )
    yield (
        "UTF-8 said to be Latin-1",
        Case(
            replying(typed("application/json; charset=latin-1", '{"a": "é"}'.encode())), {"a": "é"}
        ),
    )
    yield "a charset nobody knows", Case(replying(typed("application/json; charset=martian", BODY)))
    yield "half a surrogate pair", _undecodable("encoding", whole(rb'{"a": "\ud800"}'))
    yield "NaN", _undecodable("not_finite", whole(b'{"a": NaN}'))
    yield "an integer beyond 64 bits", Case(replying(whole(b"[18446744073709551617]")), [2**64 + 1])
    yield "a key given twice", _undecodable("duplicate_key", whole(b'{"a": 1, "a": 2}'))
    yield "deep nesting", _undecodable("too_deep", whole(b"[" * 100_000 + b"]" * 100_000))
    yield "deep nesting cut off", _undecodable("too_deep", whole(b'{"a":' * 100_000), memory=32)
    yield (
        "JSON cut off",
        _undecodable("truncated", whole(b'{"a": [1, 2', "200 OK", "Connection: close"), asks=3),
    )
    yield "JSON cut off, without a length", _undecodable("truncated", head() + b'[{"a": ', asks=3)
    yield "the token", _undecodable("token", whole(b'{"you": "%b"}' % TOKEN.encode()))
    yield (
        "a million empty lists",
        Case(
            replying(whole(b"[" + b"[]," * 349_000 + b"1]")),
            [[]] * 349_000 + [1],
            within=5,
            memory=60,
        ),
    )


STATUSES = {
    400: errors.BadRequest, 401: errors.NotAuthorized, 403: errors.NotVisible,
    404: errors.NotVisible, 410: errors.NotVisible, 422: errors.BadRequest, 429: errors.RateLimited,
}  # fmt: skip


def _statuses() -> Iterator[tuple[str, Case]]:
    problem = b'{"error": {"code": "no_luck", "message": "No \\u001b[31mluck."}}'
    odd = (206, 207, 226, 299, 402, 405, 406, 407, 408, 409, 411, 412, 413, 414, 415, 416, 417)
    odd += (418, 421, 423, 424, 425, 426, 428, 431, 440, 444, 451, 494, 498, 499)
    failed = (500, 501, 502, 503, 504, 505, 506, 507, 508, 510, 511, 520, 522, 524, 527, 530, 598)
    for status in (*STATUSES, *odd, *failed, 600, 700, 999):
        default = errors.ServerFailed if status >= 500 else errors.StatusError
        facts = {"status": status, "code": "no_luck"}
        asks = 3 if status in (429, 502, 503, 504) else 1
        script = replying(whole(problem, f"{status} Whatever"))
        yield f"{status}", Case(script, STATUSES.get(status, default), facts, asks=asks)
    for status in (201, 202, 203):
        yield f"{status}", Case(replying(whole(BODY, f"{status} Fine")))
    for challenge in (
        'Basic realm="\x1b[2J"',
        "Digest nonce=a",
        "Negotiate",
        "NTLM",
        "Bearer error=x",
    ):
        script = replying(whole(b"", "401 No", f"WWW-Authenticate: {challenge}"))
        yield f"the challenge {challenge[:6]!r}", Case(script, errors.NotAuthorized)
    yield (
        "a proxy's challenge",
        Case(
            replying(whole(b"", "407 No", "Proxy-Authenticate: Basic realm=a")), errors.StatusError
        ),
    )
    yield (
        "an error cut off",
        Case(
            replying(head("403 No", "Content-Length: 99") + b'{"error'),
            errors.NotVisible,
            {"status": 403, "excerpt": '{"error'},
        ),
    )
    yield (
        "an error that never ends",
        Case(replying(head("500 No"), lambda w: w.flood(b"sorry ")), errors.ServerFailed),
    )
    yield (
        "an error of binary noise",
        Case(replying(whole(bytes(range(256)), "500 No")), errors.ServerFailed),
    )
    yield "an error that repeats the token", Case(
        replying(whole(b"Bearer " + TOKEN.encode(), "403 No")), errors.NotVisible,
        {"excerpt": "Bearer ***"},
    )  # fmt: skip


def _redirects() -> Iterator[tuple[str, Case]]:
    targets = {
        "https://elsewhere.example/x?token=1": "elsewhere.example",
        "//elsewhere.example": "elsewhere.example",
        "http://127.0.0.1:1/": "127.0.0.1",
        "/login": "127.0.0.1",
        "file:///etc/passwd": None,
        "javascript:alert(1)": None,
        "https://[::1": None,
        "https://user:pw@elsewhere.example": "elsewhere.example",
        "https://\x1b.example/": "\\x1b.example",
        "": "127.0.0.1",
    }
    for location, target in targets.items():
        script = replying(whole(b"", "302 Found", f"Location: {location}"))
        yield (
            f"a redirect to {location!r}",
            Case(script, errors.StatusError, {"target": target, "status": 302}),
        )
    for status in (300, 301, 303, 304, 305, 306, 307, 308):
        script = replying(whole(b"", f"{status} There", "Location: https://elsewhere.example/"))
        yield f"{status}", Case(script, errors.StatusError, {"status": status})
    yield (
        "a redirect to nowhere",
        Case(replying(whole(b"", "302 Found")), errors.StatusError),
    )


def _waits() -> Iterator[tuple[str, Case]]:
    def limited(wait: str, status: str = "429 Slow") -> Script:
        return replying(whole(b"", status, f"Retry-After: {wait}"))

    for wait, seconds in {"3600": 3600.0, "10.5": 10.5, "99999999999": 99999999999.0}.items():
        yield f"wait {wait} s", Case(limited(wait), errors.RateLimited, {"retry_after": seconds})
    yield (
        "wait an hour, says 503",
        Case(limited("3600", "503 Busy"), errors.ServerFailed, {"retry_after": 3600.0}),
    )
    yield "wait until 2099", Case(limited("Fri, 02 Jan 2099 00:00:00 GMT"), errors.RateLimited)
    yield "wait no time", Case(limited("0"), errors.RateLimited, {"retry_after": 0.0}, asks=3)
    yield (
        "wait until yesterday",
        Case(
            limited("Fri, 02 Jan 2009 00:00:00 GMT"),
            errors.RateLimited,
            {"retry_after": 0.0},
            asks=3,
        ),
    )
    for wait in ("soon", "-5", "nan", "inf", "1e999", "1_0", "\xb2", "1, 2", "9" * 5000, ""):
        yield (
            f"wait {wait[:10]!r}",
            Case(limited(wait), errors.RateLimited, {"retry_after": None}, asks=3),
        )


def _timing() -> Iterator[tuple[str, Case]]:
    chunks = head("200 OK", "Transfer-Encoding: chunked")
    long = head("200 OK", "Content-Length: 1000000")
    packed = gzip.compress(bytes(range(256)) * 400)
    yield "silence", _late(Wire.stall)
    yield "silence in the status line", _late(b"HTTP/1.1 20", Wire.stall)
    yield "silence in the head", _late(b"HTTP/1.1 200 OK\r\nA: b", Wire.stall)
    yield "silence after 100", _late(head("100 Continue"), Wire.stall)
    yield "silence after the head", _late(long, Wire.stall, status=200)
    yield "silence in the body", _late(long + b'{"a"', Wire.stall, status=200)
    yield "silence in a chunk", _late(chunks + b"ff\r\n{", Wire.stall, status=200)
    yield "silence in a size", _late(chunks + b"f", Wire.stall, status=200)
    yield "silence before the trailer", _late(chunked(BODY, end=b"0\r\n"), Wire.stall, status=200)
    yield (
        "silence in gzip",
        _late(head("200 OK", "Content-Encoding: gzip"), packed[:30], Wire.stall, status=200),
    )
    yield "silence without a length", _late(head() + BODY, Wire.stall, status=200)
    yield "a status line in drips", _late(lambda w: w.drip_for_ever(b"HTTP/1.1 200 OK"))
    yield "a head in drips", _late(head()[:-2], lambda w: w.drip_for_ever(b"A: bbbbbbbbbb\r\n"))
    yield "a header in drips", _late(head()[:-2] + b"A: ", lambda w: w.drip_for_ever(b"b"))
    yield "100 in drips", _late(lambda w: w.drip_for_ever(head("100 Continue"), 0.002))
    yield "a body in drips", _late(long, lambda w: w.drip_for_ever(b" "), status=200)
    yield (
        "a chunk in drips",
        _late(chunks + b"ffffff\r\n", lambda w: w.drip_for_ever(b" "), status=200),
    )
    yield (
        "chunks in drips",
        _late(chunks, lambda w: w.drip_for_ever(b"1\r\n \r\n", 0.005), status=200),
    )
    yield "a size in drips", _late(chunks, lambda w: w.drip_for_ever(b"0"), status=200)
    yield (
        "a trailer in drips",
        _late(chunked(BODY, end=b"0\r\n"), lambda w: w.drip_for_ever(b"A: b\r\n"), status=200),
    )
    yield (
        "gzip in drips",
        _late(head("200 OK", "Content-Encoding: gzip"), lambda w: w.drip(packed, 0.02), status=200),
    )
    yield (
        "an error in drips",
        Case(
            replying(head("404 No"), lambda w: w.drip_for_ever(b" ")),
            errors.NotVisible,
            within=DEADLINE + SLACK,
            is_slow=True,
        ),
    )
    yield (
        "silence in an error",
        Case(
            replying(head("401 No", "Content-Length: 9"), Wire.stall),
            errors.NotAuthorized,
            within=DEADLINE + SLACK,
            is_slow=True,
        ),
    )
    yield "a slow answer in time", Case(replying(lambda w: w.drip(whole(), 0.002)))


CASES = dict(cases())
