"""Calls end: look-ups, connections and waits are bounded, and an interrupt ends all at once."""

from __future__ import annotations

import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from hostile.cases import DEADLINE, TOKEN
from hostile.measure import open_sockets
from hostile.server import SLACK, HostileServer, Wire, head, message, one_by_one, replying
from hostile.trial import ask

from aatoolkit import errors
from aatoolkit.http import Fetcher


@pytest.fixture
def fetcher(tmp_path: Path, opened: Any) -> Callable[..., Fetcher]:
    usual = {"cache": tmp_path, "deadline": DEADLINE}
    return lambda url, **settings: opened(Fetcher(url, TOKEN, **{**usual, **settings}))


@contextmanager
def black_hole() -> Iterator[tuple[str, int]]:
    """An address that neither accepts nor refuses: its queue of connections is full."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        with ExitStack() as waiting:
            with suppress(TimeoutError):
                while True:  # until one finds no room
                    further = waiting.enter_context(socket.socket())
                    further.settimeout(0.2)
                    further.connect(listener.getsockname())
            yield listener.getsockname()


def leading_to(
    monkeypatch: pytest.MonkeyPatch, *addresses: tuple[str, int] | Exception
) -> list[str]:
    """Have every name lead to these addresses; the names that are looked up."""
    looked_up: list[str] = []

    def look_up(host: str, *_: Any, **__: Any) -> Any:
        looked_up.append(host)
        for outcome in addresses:
            if isinstance(outcome, Exception):
                raise outcome
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", address) for address in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return looked_up


@pytest.fixture
def silent_dns(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Look-ups hang, until the test is over."""
    over = threading.Event()
    looked_up: list[str] = []

    def look_up(host: str, *_: Any, **__: Any) -> Any:
        looked_up.append(host)
        over.wait(20)
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    yield looked_up
    over.set()
    for thread in threading.enumerate():
        if thread.name == "aatoolkit-attempt":
            thread.join(10)


# -- looking up and connecting ---------------------------------------------------------------


def test_a_look_up_that_hangs_ends_at_the_deadline(fetcher: Any, silent_dns: list[str]) -> None:
    asking = fetcher("https://slow.example", deadline=0.3)
    began = time.monotonic()
    with ThreadPoolExecutor(4) as pool:
        calls = [pool.submit(ask, asking, str(n)) for n in range(4)]
        for call in calls:
            assert isinstance(call.exception(), errors.DeadlineExceeded)
    with pytest.raises(errors.DeadlineExceeded):
        ask(asking)
    assert time.monotonic() - began < 0.6 + SLACK


@pytest.mark.parametrize("fault", [socket.gaierror(-2, "x"), socket.gaierror(-3, "x")])
def test_an_unknown_name_is_reported_as_unknown(
    fetcher: Any, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    looked_up = leading_to(monkeypatch, fault)
    with pytest.raises(errors.ConnectionFailed, match="name of the service is not known"):
        ask(fetcher("https://api.example", deadline=9, sleep=lambda _: None))
    assert looked_up == ["api.example"] * 3


def test_an_address_that_does_not_answer_is_left_in_time(
    fetcher: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aatoolkit.http.transport.CONNECT_TIMEOUT_SECONDS", 0.1)
    waits: list[float] = []
    with black_hole() as (host, port):
        with pytest.raises(errors.ConnectionFailed, match="no connection in time") as caught:
            ask(fetcher(f"http://{host}:{port}", deadline=60, sleep=waits.append))
        assert len(waits) == 2
        assert caught.value.status is None


def test_refusal_by_one_address_is_not_the_end(
    fetcher: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as closed, HostileServer(replying(message())) as server:
        closed.bind(("127.0.0.1", 0))
        leading_to(monkeypatch, closed.getsockname(), ("127.0.0.1", server.port))
        asking = fetcher(server.url.replace("127.0.0.1", "localhost"), deadline=5)
        assert ask(asking) == {"ok": True}
        leading_to(monkeypatch, closed.getsockname())
        asking.close()
        with pytest.raises(errors.ConnectionFailed, match="refused"):
            ask(asking, "b")


def test_plain_http_goes_to_this_machine_or_nowhere(
    fetcher: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket.socket, "getpeername", lambda _: ("192.0.2.7", 80))
    with HostileServer(replying(message())) as server:
        asking = fetcher(server.url.replace("127.0.0.1", "localhost"), deadline=5)
        with pytest.raises(errors.ConnectionFailed, match="leads to another one"):
            ask(asking)
        assert server.gone()
    assert server.heads == []


# -- interrupts ------------------------------------------------------------------------------


@pytest.fixture(params=[True, False], ids=["interrupting", "restarting"])
def _signals(request: pytest.FixtureRequest) -> Iterator[None]:
    """Some libraries have system calls go on after a signal."""
    signal.siginterrupt(signal.SIGINT, request.param)
    yield
    signal.siginterrupt(signal.SIGINT, True)


@contextmanager
def interrupted(server: HostileServer) -> Iterator[None]:
    """Interrupt the block once its request has come; it has to end in that, and soon."""
    main = threading.main_thread().ident
    assert main is not None
    sent: list[float] = []

    def interrupt() -> None:
        while not server.heads and not server.closing.wait(0.01):
            pass
        server.closing.wait(0.1)
        sent.append(time.monotonic())
        signal.pthread_kill(main, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt) as caught:
            yield
    finally:
        thread.join()
    assert time.monotonic() - sent[0] < SLACK
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None


STALLS = {
    "before the head": replying(Wire.stall),
    "in the head": replying(b"HTTP/1.1 200", Wire.stall),
    "in the body": replying(head("200 OK", "Content-Length: 99"), b"{", Wire.stall),
    "in drips": replying(head(), lambda wire: wire.drip_for_ever(b" ")),
    "in an error": replying(head("500 No"), Wire.stall),
    "between attempts": replying(message(b"", "429 Slow", "Retry-After: 9")),
}


@pytest.mark.usefixtures("_signals")
@pytest.mark.parametrize("script", STALLS.values(), ids=STALLS)
def test_an_interrupt_ends_a_call_at_once_and_nothing_is_left(fetcher: Any, script: Any) -> None:
    with HostileServer(script) as server:
        asking = fetcher(server.url, deadline=20)
        with interrupted(server):
            ask(asking)
        assert server.gone(), "a connection was left open"
        heads = len(server.heads)
        server.script = one_by_one(message(), message())
        assert ask(asking) == {"ok": True}
        assert ask(asking) == {"ok": True}
        assert len(server.heads) == heads + 1, "what came later was kept"
        asking.close()
    assert open_sockets(server.port) == 0
