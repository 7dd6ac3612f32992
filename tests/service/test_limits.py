"""Limits of the service: slow and idle connections, work at the same time, abandoned requests."""

from __future__ import annotations

import select
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from secrets import token_hex
from typing import Any

import pytest
import requests

from aatoolkit.service import (
    Accounts,
    RunningServer,
    Service,
    Store,
    connections,
    start_server,
    workers,
)
from aatoolkit.service.answer import SectionAnswer, SectionAvailability, ServiceSection
from aatoolkit.service.observations import Observations

HOST = "acme.example"
TOKEN = "a-token-of-the-tests"
HEADERS = {"Authorization": f"Bearer {TOKEN}"}
PATH = f"/api/domains/{HOST}/agent-analytics"
REQUEST = (
    f"GET {PATH}?section=quick HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n"
    f"Authorization: Bearer {TOKEN}\r\n"
)

# Hours of work, if it is not interrupted.
ENDLESS = "SELECT sum(sin(range)) FROM range(1000000000000)"


def quick(_: Observations) -> SectionAnswer:
    """A section that is computed at once."""
    return SectionAnswer({"text": "x" * 300_000}, SectionAvailability())


class Blocking:
    """A section that computes until the test opens the gate, and counts how often it began."""

    def __init__(self) -> None:
        self.begun = threading.Semaphore(0)
        self.gate = threading.Event()
        self.count = 0

    def __call__(self, _: Observations) -> SectionAnswer:
        self.count += 1
        self.begun.release()
        assert self.gate.wait(20)
        return SectionAnswer({}, SectionAvailability())


class Querying:
    """A section whose query takes minutes; says when it began and how it ended."""

    def __init__(self) -> None:
        self.begun, self.ended = threading.Event(), threading.Event()

    def __call__(self, o: Observations) -> SectionAnswer:
        self.begun.set()
        try:
            o.value(ENDLESS)
        finally:
            self.ended.set()
        raise AssertionError("the query was expected to be interrupted")


@contextmanager
def serving(
    store: Store, sections: dict[str, Callable[[Observations], SectionAnswer]], **limits: int
) -> Iterator[RunningServer]:
    made = {name: ServiceSection(name, ask) for name, ask in sections.items()}
    with start_server(Service(store, Accounts.single(TOKEN), sections=made, **limits)) as server:
        yield server


@contextmanager
def connected(server: RunningServer, sent: str = "") -> Iterator[socket.socket]:
    """A bare connection to which something was sent."""
    port = int(server.base_url.rpartition(":")[2])
    with closing(socket.create_connection(("127.0.0.1", port), timeout=20)) as client:
        client.sendall(sent.encode())
        yield client


def received(client: socket.socket) -> bytes:
    """What arrives until the server closes the connection."""
    parts = []
    while part := client.recv(1 << 16):
        parts.append(part)
    return b"".join(parts)


def get(server: RunningServer, query: str) -> requests.Response:
    return requests.get(f"{server.base_url}{PATH}?{query}", headers=HEADERS, timeout=20)


def test_a_half_sent_request_is_given_up(
    tiny_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 0.3)
    with serving(tiny_store, {"quick": quick}) as server, connected(server, REQUEST) as client:
        assert received(client).startswith(b"HTTP/1.1 408 ")


def test_bytes_that_trickle_in_do_not_extend_the_deadline(
    tiny_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 0.5)
    with serving(tiny_store, {"quick": quick}) as server, connected(server, REQUEST) as client:
        for _ in range(100):
            client.sendall(b"X-More: 1\r\n")
            time.sleep(0.1)
            if select.select([client], [], [], 0)[0]:
                break
        assert received(client).startswith(b"HTTP/1.1 408 ")


@pytest.mark.parametrize("sent", ["", REQUEST + "\r\n", REQUEST + "Content-Length: 9\r\n\r\n"])
def test_an_idle_connection_is_closed(
    tiny_store: Store, monkeypatch: pytest.MonkeyPatch, sent: str
) -> None:
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 0.5)
    with serving(tiny_store, {"quick": quick}) as server, connected(server, sent) as client:
        assert received(client).count(b"HTTP/1.1 200 OK") == bool(sent)


def test_a_request_half_sent_after_an_answer_is_given_up(
    tiny_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 0.5)
    sent = REQUEST + "\r\n" + REQUEST
    with serving(tiny_store, {"quick": quick}) as server, connected(server, sent) as client:
        answers = received(client)
        assert answers.startswith(b"HTTP/1.1 200 OK")
        assert b"HTTP/1.1 408 " in answers


@pytest.mark.thorough
def test_a_client_that_does_not_read_is_disconnected(
    tiny_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def large(_: Observations) -> SectionAnswer:
        text = token_hex(20_000_000)  # that does not compress well
        return SectionAnswer({"text": text}, SectionAvailability())

    monkeypatch.setattr(connections, "STALL_SECONDS", 0.5)
    sent = REQUEST.replace("quick", "large") + "\r\n"
    with serving(tiny_store, {"large": large}) as server, connected(server, sent) as client:
        assert client.recv(10)
        time.sleep(3)
        assert len(received(client)) < 20_000_000


def test_too_many_connections_are_refused(
    tiny_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 2)
    with (
        serving(tiny_store, {"quick": quick}) as server,
        connected(server, REQUEST),
        connected(server, REQUEST),
    ):
        time.sleep(0.1)
        with connected(server) as third:
            answer = received(third)
        assert answer.startswith(b"HTTP/1.1 503 ")
        assert b"Retry-After: 1" in answer


def test_work_beyond_the_bound_is_503_with_retry_after(tiny_store: Store) -> None:
    blocking = Blocking()
    with (
        serving(tiny_store, {"slow": blocking, "quick": quick}, running=1, waiting=1) as server,
        ThreadPoolExecutor(2) as pool,
    ):
        first = pool.submit(get, server, "section=slow&days=7")
        assert blocking.begun.acquire(timeout=10)
        second = pool.submit(get, server, "section=slow&days=30")
        time.sleep(0.5)
        refused = get(server, "section=quick")
        blocking.gate.set()
        assert refused.status_code == 503
        assert refused.headers["Retry-After"] == "1"
        assert refused.json()["error"]["code"] == "busy"
        assert [first.result().status_code, second.result().status_code] == [200, 200]
        assert get(server, "section=quick&days=7").status_code == 200


@pytest.mark.thorough
def test_who_would_wait_too_long_learns_when_to_come_back(
    tiny_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "MAX_WAIT_SECONDS", 0.7)

    def steady(_: Observations) -> SectionAnswer:
        time.sleep(0.2)
        return SectionAnswer({}, SectionAvailability())

    names = [f"steady-{number}" for number in range(9)]
    sections = dict.fromkeys(names, steady)
    with serving(tiny_store, sections, running=1) as server, ThreadPoolExecutor(8) as pool:
        assert get(server, f"section={names.pop()}").status_code == 200
        answers = list(pool.map(lambda name: get(server, f"section={name}"), names))
        refused = [n for n, a in zip(names, answers, strict=True) if a.status_code == 503]
        assert 0 < len(refused) < len(names)
        waits = {int(a.headers["Retry-After"]) for a in answers if a.status_code == 503}
        assert waits <= {1, 2}
        time.sleep(max(waits))
        again = [get(server, f"section={name}").status_code for name in refused]
        assert again == [200] * len(refused)


def test_identical_requests_are_computed_once(tiny_store: Store) -> None:
    blocking = Blocking()
    with (
        serving(tiny_store, {"slow": blocking}, running=2, waiting=2) as server,
        ThreadPoolExecutor(8) as pool,
    ):
        pending = [pool.submit(get, server, "section=slow") for _ in range(8)]
        assert blocking.begun.acquire(timeout=10)
        blocking.gate.set()
        assert {answer.result().status_code for answer in pending} == {200}
        assert blocking.count == 1
        assert get(server, "section=slow").status_code == 200
        assert blocking.count == 1


def test_an_abandoned_request_is_cancelled(tiny_store: Store) -> None:
    querying = Querying()
    sections: dict[str, Any] = {"endless": querying, "quick": quick}
    sent = REQUEST.replace("quick", "endless") + "\r\n"
    with serving(tiny_store, sections, running=1, waiting=0) as server:
        with connected(server, sent):
            assert querying.begun.wait(10)
        assert querying.ended.wait(10)
        until = time.monotonic() + 10
        while get(server, "section=quick").status_code == 503:
            assert time.monotonic() < until


@pytest.mark.parametrize("way", ["close", "reset", "pipelined"])
def test_many_that_leave_cost_no_more_work(tiny_store: Store, way: str) -> None:
    running = set[int]()
    began = []

    def endless(o: Observations) -> SectionAnswer:
        number = len(began)
        began.append(number)
        running.add(number)
        try:
            o.value(ENDLESS)
        finally:
            running.discard(number)
        raise AssertionError("the query was expected to be interrupted")

    def query(number: int) -> str:
        # The questions differ, so that none is shared.
        days, engine = (7, 30, 90)[number % 3], ("chatgpt", "gemini", "perplexity")[number // 3 % 3]
        more = (
            f"endless&days={days}&engine={engine}&topic={('CRM%20for%20startups', '')[number % 2]}"
        )
        return REQUEST.replace("quick", more) + "\r\n"

    with serving(tiny_store, {"endless": endless, "quick": quick}, running=2) as server:
        clients = []
        for number in range(24):
            many = 5 if way == "pipelined" else 1
            client = connected(server, query(number) * many)
            clients.append((client, client.__enter__()))
        until = time.monotonic() + 10
        while not running and time.monotonic() < until:
            time.sleep(0.02)
        assert running
        for client, bare in clients:
            if way == "reset":
                bare.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            client.__exit__(None, None, None)
        answer = get(server, "section=quick")
        until = time.monotonic() + 15
        while (running or answer.status_code == 503) and time.monotonic() < until:
            time.sleep(0.05)
            answer = get(server, "section=quick")
        assert answer.status_code == 200
        assert not running
        count = len(began)
        time.sleep(0.2)
        assert len(began) == count


def test_a_request_that_others_wait_for_is_not_cancelled(tiny_store: Store) -> None:
    blocking = Blocking()
    sent = REQUEST.replace("quick", "slow") + "\r\n"
    with (
        serving(tiny_store, {"slow": blocking}, running=1, waiting=0) as server,
        ThreadPoolExecutor(1) as pool,
    ):
        with connected(server, sent):
            assert blocking.begun.acquire(timeout=10)
            other = pool.submit(get, server, "section=slow")
            time.sleep(0.3)
        time.sleep(0.3)
        blocking.gate.set()
        assert other.result().status_code == 200
        assert blocking.count == 1


HOSTS = {
    **dict.fromkeys(("127.0.0.1:{port}", "localhost:{port}", "LOCALHOST", "[::1]:{port}"), 200),
    **dict.fromkeys(("127.9.9.9", "proxy.internal", "a.localhost", "localhost.", "[::1]:"), 200),
    **dict.fromkeys(("evil.example", "evil.example:{port}", "127.0.0.1.evil.example"), 421),
    **dict.fromkeys(("localhost.evil.example", "10.0.0.1", "127.1", "0.0.0.0", ""), 421),
    **dict.fromkeys(("localhost:80@evil.example", "evil.example@localhost"), 421),
    **dict.fromkeys(("localhost,evil.example", "localhost%00.evil.example"), 421),
    **dict.fromkeys(("127.0.0.1.nip.example", "localhost:{port}:{port}", "::1", "::1]"), 421),
    **dict.fromkeys(("evil.example#.localhost", "evil.example/.localhost", ".localhost"), 421),
    **dict.fromkeys(("evil.example\\.localhost", "[localhost]", "localhost:x", "[::1"), 421),
}


def test_on_the_loopback_interface_the_host_header_must_name_it(tiny_store: Store) -> None:
    service = Service(tiny_store, Accounts.single(TOKEN))
    with start_server(service, allowed_hosts=["Proxy.internal"]) as server:
        port = server.base_url.rpartition(":")[2]
        url = f"{server.base_url}/api/domains/{HOST}/scope-options"
        with requests.Session() as session:
            for host, status in HOSTS.items():
                headers = {**HEADERS, "Host": host.format(port=port)}
                answer = session.get(url, headers=headers, timeout=20)
                assert answer.status_code == status, host
                if status == 421:
                    assert answer.json()["error"]["code"] == "misdirected_request"


@pytest.mark.parametrize(
    ("target", "host", "status"),
    [
        ("http://localhost{path}", "localhost", b"200"),
        ("HTTP://[::1]:1{path}", "localhost", b"200"),
        ("http://localhost", "localhost", b"404"),
        ("http://localhost{path}", "evil.example", b"421"),
        ("http://evil.example{path}", "localhost", b"421"),
        ("http://localhost@evil.example{path}", "localhost", b"421"),
    ],
)
def test_a_target_in_absolute_form_is_answered_where_it_names_this_computer(
    tiny_store: Store, target: str, host: str, status: bytes
) -> None:
    line = f"GET {target.format(path=f'{PATH}?section=quick')} HTTP/1.1\r\n"
    sent = f"{line}Host: {host}\r\nAuthorization: Bearer {TOKEN}\r\nConnection: close\r\n\r\n"
    with serving(tiny_store, {"quick": quick}) as server, connected(server, sent) as client:
        assert received(client)[9:12] == status


@pytest.mark.parametrize(
    "head",
    [
        "GET {path} HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n",
        "GET {path} HTTP/1.1\r\nHost: evil.example\r\nHost: localhost\r\n",
        "GET {path} HTTP/1.1\r\nHost: localhost\r\n .evil.example\r\n",
        "GET {path} HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: localhost\r\n",
        "GET http://evil.example{path} HTTP/1.1\r\nHost: localhost\r\n",
        "GET {path} HTTP/1.0\r\n",
        "GET {path} HTTP/1.1\r\n",
    ],
)
def test_no_other_way_to_name_a_host_passes_the_check(tiny_store: Store, head: str) -> None:
    sent = head.format(path=f"{PATH}?section=quick") + f"Authorization: Bearer {TOKEN}\r\n\r\n"
    with serving(tiny_store, {"quick": quick}) as server, connected(server, sent) as client:
        client.shutdown(socket.SHUT_WR)
        assert received(client)[9:12] in (b"400", b"404", b"421")


def test_elsewhere_any_host_header_is_accepted(tiny_store: Store) -> None:
    with start_server(Service(tiny_store, Accounts.single(TOKEN)), host="0.0.0.0") as server:
        port = server.base_url.rpartition(":")[2]
        url = f"http://127.0.0.1:{port}/api/domains/{HOST}/scope-options"
        headers = {**HEADERS, "Host": "analytics.example"}
        assert requests.get(url, headers=headers, timeout=20).status_code == 200


def test_answers_leave_at_once_on_a_kept_connection(tiny_store: Store) -> None:
    with serving(tiny_store, {"quick": quick}) as server, requests.Session() as session:
        times = []
        for _ in range(15):
            began = time.perf_counter()
            session.get(f"{server.base_url}/nothing", timeout=20)
            times.append(time.perf_counter() - began)
    # With Nagle's algorithm on, none takes less than 40 ms.
    assert min(times[1:]) < 0.03
