"""Client.collect: many hosts over one client, against real sockets."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest
from samples import sample

import aatoolkit as aa
from aatoolkit import errors
from aatoolkit.client import reading

HOSTS = [f"host-{number}.example" for number in range(6)]
SOME = ["urls", "domains"]


def host_of(request: Any) -> str:
    return str(request.path.split("/")[3])


@pytest.fixture
def client(scripted: Any, reply: Any, opened: Any) -> Callable[..., aa.Client]:
    """Makes clients of the scripted server, which answers with the reference shapes."""
    scripted.script = lambda request: reply(sample(request.params["section"]))
    usual = {"base_url": scripted.url, "token": "a-token-of-somebody", "cache": False}
    return lambda **settings: opened(aa.Client(**{**usual, **settings}))


# -- what is asked ---------------------------------------------------------------------------


def test_hosts_and_scopes_come_in_the_order_requested_each_once(client: Any, scripted: Any) -> None:
    scopes = [aa.Scope(days=30), aa.Scope(days=7), aa.Scope()]
    collected = client().collect(["B.example", "a.example", "b.example."], SOME, scopes)
    assert collected.hosts == ("b.example", "a.example")
    assert collected.scopes == (aa.Scope(days=30), aa.Scope(days=7))
    assert list(collected) == [(host, scope) for host in collected.hosts for scope in scopes[:2]]
    assert all(list(dataset) == SOME for dataset in collected.values())
    assert len(scripted.requests) == 2 * 2 * 2


def test_one_host_one_section_and_one_scope_need_no_list(client: Any) -> None:
    collected = client().collect("a.example", "urls", aa.Scope(days=7))
    assert list(collected) == [("a.example", aa.Scope(days=7))]
    assert list(collected["a.example"]) == ["urls"]
    assert collected["a.example"] is collected["a.example", aa.Scope(days=7)]


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [
        ((["a.example", "not a host"], SOME), "host"),
        ((["a.example", 7], SOME), "host"),
        ((["a.example"], SOME, [7, 30]), "scope"),
        ((["a.example"], SOME, {"days": 7}), "scope"),
        ((["a.example"], ["url"]), "section"),
    ],
)
def test_what_cannot_be_requested_is_refused_before_anything_goes_out(
    client: Any, scripted: Any, arguments: Any, parameter: str
) -> None:
    with pytest.raises(errors.ScopeError) as caught:
        client().collect(*arguments)
    assert caught.value.parameter == parameter
    assert scripted.requests == []


# -- what comes back -------------------------------------------------------------------------


def test_failures_are_reported_answer_by_answer(client: Any, scripted: Any, reply: Any) -> None:
    broken = {(HOSTS[1], "urls"): reply({}, 500), (HOSTS[2], "domains"): reply(b"<html>")}
    scripted.script = lambda request: (
        broken.get((host_of(request), request.params["section"]))
        or reply(
            {} if host_of(request) == HOSTS[3] else sample(request.params["section"]),
            404 if host_of(request) == HOSTS[3] else 200,
        )
    )
    collected = client().collect(HOSTS[:5], sections=SOME)
    scope = aa.Scope()
    assert {request: type(error).__name__ for request, error in collected.errors.items()} == {
        (HOSTS[1], scope, "urls"): "ServerFailed",
        (HOSTS[2], scope, "domains"): "DecodeError",
        (HOSTS[3], scope, "urls"): "NotVisible",
        (HOSTS[3], scope, "domains"): "NotVisible",
    }
    assert len(collected) == 5
    assert len(collected[HOSTS[3]]) == 0
    text = repr(collected)
    assert "5 hosts, 4 responses failed" in text
    assert "urls: ServerFailed" in text


def test_a_wrong_token_is_one_error_and_soon(client: Any, scripted: Any, reply: Any) -> None:
    scripted.script = reply({}, 401)
    with pytest.raises(errors.NotAuthorized):
        client(workers=2).collect([f"h-{n}.example" for n in range(200)], sections=SOME)
    assert len(scripted.requests) < 20


# -- one table of all ------------------------------------------------------------------------


def test_what_failed_is_not_forgotten_in_the_whole(client: Any, scripted: Any, reply: Any) -> None:
    late = {"status": "partial", "reason": "Still counting."}

    def answer(request: Any) -> Any:
        body, host = sample(request.params["section"]), host_of(request)
        return reply(
            body | ({"availability": late} if host == HOSTS[2] else {}),
            500 if host == HOSTS[1] else 200,
        )

    scripted.script = answer
    collected = client().collect(HOSTS[:3], sections="domains")
    states_of_one = collected[HOSTS[0]]["domains"].main.aa.availability
    assert "3 hosts, 1 response failed" in repr(collected)
    stacked = collected.concat("domains")
    states = stacked.aa.availability
    assert states_of_one.loc["citation_count", "status"] == "available"
    assert states.loc["citation_count", "status"] == "partial"
    for words in ("1 of 3 responses failed", "Still counting"):
        assert words in states.loc["citation_count", "reason"]
    total = stacked.aa.aggregate(columns="citation_count").aa.availability
    assert "1 of 3 responses failed" in total.loc["citation_count", "reason"]
    hosts = stacked.aa.aggregate("host", "citation_count").set_index("host")
    assert hosts.loc[HOSTS[0], "citation_count_availability"] == "available"
    scripted.script = reply({}, 500)
    with pytest.raises(KeyError, match="no section 'domains'"):
        client().collect(HOSTS[:2], sections="domains").concat("domains")


def test_no_more_is_asked_ahead_than_twice_what_runs_together() -> None:
    numbers = iter(range(100))
    with closing(reading.run_in_order(str, numbers, 2)) as results:
        assert next(results)[1].result() == "0"
    assert next(numbers) == 4


def test_an_interrupt_ends_collecting_at_once(client: Any, scripted: Any, reply: Any) -> None:
    release, once = threading.Event(), threading.Lock()

    def interrupt(request: Any) -> Any:
        if len(scripted.requests) == 2 and once.acquire(blocking=False):
            release.wait(0.5)
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        release.wait(30)
        return reply(sample(request.params["section"]))

    scripted.script = interrupt
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        client(workers=2).collect(HOSTS, sections=SOME)
    assert time.monotonic() - began < 10
    for thread in threading.enumerate():
        if thread.name.startswith("aatoolkit_"):
            thread.join(10)
            assert not thread.is_alive(), "nothing goes on"
    release.set()
    assert len(scripted.requests) == 2, "what waited was left out"
