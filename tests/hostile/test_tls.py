"""TLS and proxies: who cannot prove who it is gets no token, and a proxy sees none."""

from __future__ import annotations

import base64
import datetime
import socket
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import trustme
from hostile.cases import DEADLINE, TOKEN
from hostile.measure import open_sockets
from hostile.server import SLACK, HostileServer, Script, Wire, message, one_by_one, replying
from hostile.trial import ask

from aatoolkit import errors
from aatoolkit.http import Fetcher

LONG_AGO = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def _trusted(authority: trustme.CA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment names the authority, as that of a company would."""
    file = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(file)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(file))


@pytest.fixture
def fetcher(opened: Any) -> Callable[..., Fetcher]:
    usual = {"cache": False, "deadline": 10, "sleep": lambda _: None}
    return lambda url, **settings: opened(Fetcher(url, TOKEN, **{**usual, **settings}))


def proving(certificate: trustme.LeafCert) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    return context


def fails(fetcher: Fetcher, says: str) -> errors.ConnectionFailed:
    with pytest.raises(errors.ConnectionFailed, match=says) as caught:
        ask(fetcher)
    assert caught.value.__context__ is None
    return caught.value


@pytest.mark.usefixtures("_trusted")
def test_a_proven_service_gets_the_token_and_nobody_the_keys(
    authority: trustme.CA, fetcher: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = tmp_path / "keys.log"
    monkeypatch.setenv("SSLKEYLOGFILE", str(keys))
    with HostileServer(
        one_by_one(message(), message()), proving(authority.issue_cert("localhost"))
    ) as server:
        asking = fetcher(server.url)
        assert [ask(asking, "a"), ask(asking, "b")] == [{"ok": True}] * 2
    assert server.connections == 1, "a connection is used again"
    assert all(f"Bearer {TOKEN}".encode() in head for head in server.heads)
    assert not keys.exists()


def bad_certificates(authority: trustme.CA) -> dict[str, trustme.LeafCert]:
    return {
        "of an unknown authority": trustme.CA().issue_cert("localhost"),
        "for another name": authority.issue_cert("elsewhere.example"),
        "for another address": authority.issue_cert("127.0.0.9"),
        "expired": authority.issue_cert("localhost", not_after=LONG_AGO),
    }


@pytest.mark.usefixtures("_trusted")
@pytest.mark.parametrize(
    "fault",
    ["of an unknown authority", "for another name", "for another address", "expired"],
)
def test_a_service_that_cannot_prove_who_it_is_gets_nothing(
    authority: trustme.CA, fetcher: Any, fault: str
) -> None:
    certificate = bad_certificates(authority)[fault]
    with HostileServer(replying(message()), proving(certificate)) as server:
        fails(fetcher(server.url), "could not prove who it is")
        assert server.gone()
    assert server.heads == []
    assert server.connections == 1, "another attempt does not help"


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_certificates_that_are_not_there_are_named(
    fetcher: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str | None
) -> None:
    file = tmp_path / "bundle.pem"
    if content is not None:
        file.write_text(content)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(file))
    with HostileServer(replying(message())) as server:
        says = "REQUESTS_CA_BUNDLE names" if content is None else "TLS"
        fails(fetcher(server.url.replace("http://127.0.0.1", "https://localhost")), says)


HANDSHAKES: dict[str, tuple[Script, int]] = {
    "HTTP on a TLS port": (lambda w: (w.connection.recv(999), w.send(message())), 1),
    "nothing": (lambda w: w.connection.recv(9999), 3),
    "a reset": (lambda w: (w.connection.recv(9999), w.reset()), 3),
    "a reset before it begins": (Wire.reset, 3),
    "an alert": (lambda w: (w.connection.recv(9999), w.send(b"\x15\3\3\0\2\2\x28")), 1),
    "noise": (lambda w: (w.connection.recv(9999), w.send(bytes(range(256)) * 9)), 1),
}


@pytest.mark.parametrize("name", HANDSHAKES)
def test_a_handshake_that_fails_is_an_error(fetcher: Any, name: str) -> None:
    script, attempts = HANDSHAKES[name]
    with HostileServer(script) as server:
        asking = fetcher(server.url.replace("http://127.0.0.1", "https://localhost"))
        fails(asking, "no response")
        assert server.connections == attempts
        asking.close()
    assert open_sockets(server.port) == 0


@pytest.mark.parametrize(
    "script",
    [
        Wire.stall,
        lambda w: w.drip_for_ever(b"\x16\3\3\x40\0" + bytes(500)),
        lambda w: (w.connection.recv(9999), w.send(b"\x16\3\3\x40\0\2"), w.drip(bytes(9999))),
    ],
    ids=["silent", "in drips", "in drips, later"],
)
def test_a_handshake_ends_at_the_deadline(fetcher: Any, script: Script) -> None:
    with HostileServer(script) as server:
        url = server.url.replace("http://127.0.0.1", "https://localhost")
        began = time.monotonic()
        with pytest.raises((errors.DeadlineExceeded, errors.ConnectionFailed)):
            ask(fetcher(url, deadline=DEADLINE))
        assert time.monotonic() - began < DEADLINE + SLACK


# -- proxies ---------------------------------------------------------------------------------


def tunnel(port: int, seen: bytearray) -> Script:
    """A proxy that connects to this port whatever it is asked for, and notes what passes."""

    def pump(source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                seen.extend(data)
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)

    def script(wire: Wire) -> None:
        seen.extend(wire.request())
        with socket.create_connection(("127.0.0.1", port), timeout=10) as further:
            wire.send(b"HTTP/1.1 200 Connected\r\n\r\n")
            back = threading.Thread(target=pump, args=(further, wire.connection))
            back.start()
            pump(wire.connection, further)
            back.join(10)

    return script


@pytest.mark.usefixtures("_trusted")
@pytest.mark.parametrize("name", ["https_proxy", "HTTPS_PROXY", "ALL_PROXY"])
def test_a_proxy_sees_no_token(
    authority: trustme.CA, fetcher: Any, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    seen = bytearray()
    context = proving(authority.issue_cert("api.example"))
    with (
        HostileServer(one_by_one(message()), context) as server,
        HostileServer(tunnel(server.port, seen)) as proxy,
    ):
        monkeypatch.setenv(name, proxy.url.replace("//", "//user:pass@"))
        assert ask(fetcher("https://api.example")) == {"ok": True}
    assert f"Bearer {TOKEN}".encode() in server.heads[0]
    assert seen.startswith(b"CONNECT api.example:443 ")
    assert base64.b64encode(b"user:pass") in seen
    assert TOKEN.encode() not in seen
    assert b"Authorization: Bearer" not in seen


@pytest.mark.parametrize(
    "script",
    [
        replying(message(b"", "407 Pay", "Proxy-Authenticate: Basic")),
        replying(message(b"{}", "502 No")),
        replying(b"garbage\r\n\r\n"),
        replying(b""),
    ],
    ids=["wants a password", "fails", "garbage", "hangs up"],
)
def test_a_proxy_that_fails_is_an_error_without_its_password(
    fetcher: Any, monkeypatch: pytest.MonkeyPatch, script: Script
) -> None:
    with HostileServer(script) as proxy:
        monkeypatch.setenv("https_proxy", proxy.url.replace("//", "//user:proxy-password@"))
        error = fails(fetcher("https://api.example"), "no response")
    assert "proxy-password" not in repr(vars(error)) + str(error)
    assert all(TOKEN.encode() not in head for head in proxy.heads)


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:9", "socks5h://127.0.0.1:9", "ftp://a:1"])
def test_other_proxies_are_refused(
    fetcher: Any, monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    monkeypatch.setenv("https_proxy", proxy)
    fails(fetcher("https://api.example"), "only http:// and https:// proxies")
