"""Calls end: look-ups, connections and waits are bounded, and an interrupt ends all at once."""

from __future__ import annotations

import errno
import gc
import select
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from hostile.cases import TOKEN
from hostile.measure import open_sockets
from hostile.server import SLACK, HostileServer, Wire, head, one_by_one, replying, whole

import aatoolkit as aa
from aatoolkit import errors
from aatoolkit.http import Fetcher, sockets
from aatoolkit.http.retry import Quota
from aatoolkit.payload import Request


def ask(fetcher: Fetcher, topic: str = "a") -> Any:
    params = {"section": "urls", "topic": topic}
    return fetcher.get(Request("agent-analytics", "acme.example", params=params)).json


@pytest.fixture
def fetcher(tmp_path: Path) -> Iterator[Callable[..., Fetcher]]:
    made: list[Fetcher] = []

    def make(url: str, **settings: Any) -> Fetcher:
        made.append(Fetcher(url, TOKEN, **{"cache": tmp_path, "deadline": 0.4, **settings}))
        return made[-1]

    yield make
    for one in made:
        one.close()


@contextmanager
def black_hole() -> Iterator[tuple[str, int]]:
    """An address that neither accepts nor refuses: its queue of connections is full."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        waiting = [socket.socket() for _ in range(8)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(listener.getsockname())
        time.sleep(0.05)
        try:
            yield listener.getsockname()
        finally:
            for one in waiting:
                one.close()


def leading_to(monkeypatch: pytest.MonkeyPatch, *found: tuple[str, int] | Exception) -> list[str]:
    """Have every name lead to these addresses; the names that are looked up."""
    looked_up: list[str] = []

    def look_up(host: str, *_: Any, **__: Any) -> Any:
        looked_up.append(host)
        for each in found:
            if isinstance(each, Exception):
                raise each
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", address) for address in found]

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
        if thread.name == "aatoolkit-dns":
            thread.join(10)


# -- looking up and connecting ---------------------------------------------------------------


def test_a_look_up_that_hangs_ends_at_the_deadline_and_is_done_once(
    fetcher: Any, silent_dns: list[str]
) -> None:
    asking = fetcher("https://slow.example", deadline=0.3)
    began = time.monotonic()
    with ThreadPoolExecutor(4) as pool:
        calls = [pool.submit(ask, asking, str(n)) for n in range(4)]
        for call in calls:
            assert isinstance(call.exception(), errors.DeadlineExceeded)
    with pytest.raises(errors.DeadlineExceeded):
        ask(asking)
    assert time.monotonic() - began < 0.6 + SLACK
    assert silent_dns == ["slow.example"]


@pytest.mark.parametrize("fault", [socket.gaierror(-2, "x"), OSError(), UnicodeError("x")])
def test_an_unknown_name_is_reported_as_unknown(
    fetcher: Any, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    looked_up = leading_to(monkeypatch, fault)
    with pytest.raises(errors.ConnectionFailed, match="name of the service is not known"):
        ask(fetcher("https://api.example", deadline=9, sleep=lambda _: None))
    assert looked_up == ["api.example"] * 3


def test_an_address_that_does_not_answer_ends_at_the_deadline(fetcher: Any) -> None:
    with black_hole() as (host, port):
        began = time.monotonic()
        with pytest.raises(errors.DeadlineExceeded) as caught:
            ask(fetcher(f"http://{host}:{port}"))
        assert 0.35 < time.monotonic() - began < 0.4 + SLACK
        assert caught.value.status is None


@pytest.mark.thorough
def test_the_next_address_gets_its_share_of_the_time(
    fetcher: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with black_hole() as hole, HostileServer(replying(whole())) as server:
        leading_to(monkeypatch, hole, hole, ("127.0.0.1", server.port))
        url = server.url.replace("127.0.0.1", "localhost")
        assert ask(fetcher(url, deadline=4.5)) == {"ok": True}


def test_refusal_by_one_address_is_not_the_end(
    fetcher: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as closed, HostileServer(replying(whole())) as server:
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
    with HostileServer(replying(whole())) as server:
        asking = fetcher(server.url.replace("127.0.0.1", "localhost"), deadline=5)
        with pytest.raises(errors.ConnectionFailed, match="leads elsewhere"):
            ask(asking)
        assert server.gone()
    assert server.heads == []


# -- retries ---------------------------------------------------------------------------------


@pytest.mark.thorough
def test_second_attempts_stop_when_most_calls_fail(fetcher: Any) -> None:
    with HostileServer(replying(whole(b"{}", "503 Busy"))) as server:
        asking = fetcher(server.url, deadline=30, sleep=lambda _: None)
        for turn in range(60):
            with pytest.raises(errors.ServerFailed):
                ask(asking, str(turn))
        assert 80 <= len(server.heads) <= 85
        server.script = replying(whole())
        for turn in range(50):
            ask(asking, f"fine {turn}")
        server.script = lambda wire: replying(
            whole(b"{}", "503 Busy") if len(server.heads) % 2 else whole()
        )(wire)
        assert ask(asking, "again") == {"ok": True}


def test_a_connection_that_is_gone_when_used_again_is_no_failed_attempt(fetcher: Any) -> None:
    with HostileServer(one_by_one(whole(), Wire.reset)) as server:
        asking = fetcher(server.url, deadline=30, sleep=lambda _: None)
        for turn in range(30):  # more than there is quota for
            assert ask(asking, str(turn)) == {"ok": True}
        assert len(server.heads) == 2 * 30 - 1
        assert server.connections == 30


def test_a_new_connection_that_breaks_is_a_failed_attempt(fetcher: Any) -> None:
    with HostileServer(one_by_one(Wire.reset)) as server:
        asking = fetcher(server.url, deadline=30, sleep=lambda _: None)
        with pytest.raises(errors.ConnectionFailed, match="broke off"):
            ask(asking)
        assert len(server.heads) == 3


def test_a_quota_refills_by_answers_and_by_time() -> None:
    now = [0.0]
    quota = Quota(2, per_answer=0.5, per_second=0.1, clock=lambda: now[0])
    assert [quota.take() for _ in range(3)] == [True, True, False]
    quota.refill()
    assert not quota.take()
    quota.refill()
    assert [quota.take(), quota.take()] == [True, False]
    now[0] = 1000
    assert [quota.take() for _ in range(3)] == [True, True, False]


# -- closing ---------------------------------------------------------------------------------


def test_after_closing_no_connection_is_kept(fetcher: Any) -> None:
    with HostileServer(one_by_one(whole(), whole(), whole())) as server:
        asking = fetcher(server.url, deadline=20, cache=False)
        assert ask(asking) == {"ok": True}
        asking.close()
        for _ in range(2):
            assert ask(asking) == {"ok": True}
            assert server.gone(), "a connection was kept"
        assert server.connections == 3


@pytest.mark.parametrize("turns", [3, pytest.param(60, marks=pytest.mark.thorough)])
def test_what_threads_abandoned_keeps_no_connection_after_closing(fetcher: Any, turns: int) -> None:
    arrived = threading.Event()

    def slowly(wire: Wire) -> None:
        arrived.set()
        wire.wait(0.02)
        wire.send(whole())

    with HostileServer(one_by_one(*[slowly] * 9)) as server:
        for _ in range(turns):
            asking = fetcher(server.url, deadline=20, cache=False, workers=2)
            arrived.clear()
            with ThreadPoolExecutor(3) as pool:
                calls = [pool.submit(ask, asking, str(number)) for number in range(6)]
                assert arrived.wait(SLACK)
                asking.close()
            assert [call.result() for call in calls] == [{"ok": True}] * 6
            assert server.gone(), "a connection was kept"


@pytest.mark.thorough
@pytest.mark.parametrize("noticed", [True, False])
def test_a_connection_that_breaks_as_it_opens_is_closed(
    fetcher: Any, monkeypatch: pytest.MonkeyPatch, noticed: bool
) -> None:
    connect = sockets.Socket.connect_within

    def and_lose(opened: sockets.Socket, address: Any, seconds: float) -> None:
        with suppress(ConnectionResetError):
            connect(opened, address, seconds)
        select.select([opened], [], [], SLACK)
        if noticed:
            raise ConnectionResetError(errno.ECONNRESET, "reset")

    monkeypatch.setattr(sockets.Socket, "connect_within", and_lose)
    with HostileServer(Wire.reset) as server:
        asking = fetcher(server.url, deadline=20, sleep=lambda _: None)
        with pytest.raises(errors.ConnectionFailed, match="broke off"):
            ask(asking)
        assert server.connections == 3
    gc.collect()  # one that was left open would warn, and warnings are errors


# -- interrupts ------------------------------------------------------------------------------


@pytest.fixture(params=[True, False], ids=["interrupting", "restarting"])
def _signals(request: pytest.FixtureRequest) -> Iterator[None]:
    """Some libraries have system calls go on after a signal."""
    signal.siginterrupt(signal.SIGINT, request.param)
    yield
    signal.siginterrupt(signal.SIGINT, True)


@contextmanager
def interrupted(after: float = 0.15) -> Iterator[None]:
    """Interrupt the block, which has to end in that, and soon."""
    main = threading.main_thread().ident
    assert main is not None
    timer = threading.Timer(after, signal.pthread_kill, (main, signal.SIGINT))
    began = time.monotonic()
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt) as caught:
            yield
    finally:
        timer.join()
    assert time.monotonic() - began < after + SLACK
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None


STALLS = {
    "before the head": replying(Wire.stall),
    "in the head": replying(b"HTTP/1.1 200", Wire.stall),
    "in the body": replying(head("200 OK", "Content-Length: 99"), b"{", Wire.stall),
    "in drips": replying(head(), lambda wire: wire.drip_for_ever(b" ")),
    "in an error": replying(head("500 No"), Wire.stall),
    "between attempts": replying(whole(b"", "429 Slow", "Retry-After: 9")),
}


@pytest.mark.usefixtures("_signals")
@pytest.mark.parametrize("script", STALLS.values(), ids=STALLS)
def test_an_interrupt_ends_a_call_at_once_and_nothing_is_left(fetcher: Any, script: Any) -> None:
    sockets = open_sockets()
    with HostileServer(script) as server:
        asking = fetcher(server.url, deadline=20)
        with interrupted():
            ask(asking)
        assert server.gone(), "a connection was left open"
        server.script = one_by_one(whole(), whole())
        assert ask(asking) == {"ok": True}
        assert ask(asking) == {"ok": True}
        assert len(server.heads) == 2, "what came later was kept"
        asking.close()
    assert open_sockets() == sockets


@pytest.mark.usefixtures("_signals")
def test_an_interrupt_ends_a_look_up(fetcher: Any, silent_dns: list[str]) -> None:
    asking = fetcher("https://slow.example", deadline=20)
    with interrupted():
        ask(asking)


@pytest.mark.usefixtures("_signals")
def test_an_interrupt_ends_connecting(fetcher: Any) -> None:
    with black_hole() as (host, port):
        asking = fetcher(f"http://{host}:{port}", deadline=20)
        with interrupted():
            ask(asking)


@pytest.mark.usefixtures("_signals")
@pytest.mark.parametrize("call", ["scope_options", "fetch", "read", "combined", "read_all"])
def test_an_interrupt_ends_whatever_a_project_does(tmp_path: Path, call: str) -> None:
    arguments = {"fetch": ["urls"], "read": ["urls"]}.get(call, [])
    before = set(threading.enumerate())
    with (
        HostileServer(replying(Wire.stall)) as server,
        aa.project("acme.example", base_url=server.url, token=TOKEN, cache=tmp_path) as project,
    ):
        with interrupted(0.3):
            getattr(project, call)(*arguments)
        ends = time.monotonic() + SLACK
        for thread in set(threading.enumerate()) - before:
            if thread.name.startswith("aatoolkit"):
                thread.join(max(0.0, ends - time.monotonic()))
                assert not thread.is_alive(), "a call goes on"
        assert server.gone(SLACK), "a connection was left open"
        server.script = replying(whole(b"{}"))
        assert project.fetch("ads").json == {}
