"""Payload and the strict JSON below it."""

from __future__ import annotations

import json
import pickle
from datetime import UTC, datetime
from typing import Any

import pytest
import requests
from hypothesis import given, strategies as st

from aatoolkit import Payload, Scope
from aatoolkit.jsontree import decode
from aatoolkit.payload import Request, Response

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def a_payload(body: bytes = b'{"rows": []}', **facts: Any) -> Payload:
    return Payload(body, **{"fetched_at": NOON, "host": "acme.example", **facts})


def test_a_payload_knows_its_hash_and_its_json() -> None:
    payload = a_payload(b'{"a":1}')
    assert payload.json == {"a": 1}
    assert payload.json is payload.json
    assert payload.sha256 == "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862"


def test_a_payload_is_frozen_comparable_and_picklable() -> None:
    payload = a_payload(section="urls", scope=Scope(days=7), headers={"date": "today"})
    assert payload.json == {"rows": []}
    with pytest.raises(AttributeError):
        payload.body = b""  # type: ignore[misc]
    copy = pickle.loads(pickle.dumps(payload))
    assert copy == payload
    assert hash(copy) == hash(payload)
    assert copy.json == payload.json


def test_a_payload_wants_a_time_zone() -> None:
    with pytest.raises(ValueError, match="time zone"):
        Payload(b"{}", fetched_at=datetime(2026, 11, 20))


def test_a_payload_shows_where_it_came_from() -> None:
    payload = a_payload(section="urls\u202e", scope=Scope(days=7), from_cache=True, stale=True)
    assert repr(payload) == (
        "<Payload acme.example, urls\\u202e, Scope(days=7), 2026-11-20 12:00:00+0000, "
        f"from stale cache, 12 bytes, sha256 {payload.sha256[:12]}>"
    )


def test_an_excerpt_neither_steers_a_terminal_nor_turns_text_around() -> None:
    assert decode.make_excerpt("\x1b[2J\u202eevil\x00".encode()) == r"\x1b[2J\u202eevil\x00"


# -- requests and responses, as stores keep them ----------------------------------------------

WORDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=6).filter(
    lambda word: word.strip() and "," not in word and "(none)" not in word
)
SCOPES = st.builds(
    Scope,
    days=st.sampled_from([7, 30, 90]),
    engine=st.lists(WORDS, max_size=3),
    topic=st.lists(WORDS, max_size=2),
)
BASES = st.sampled_from(["https://api.example", "https://api.example:8443/v1", "http://[::1]:80"])


@given(SCOPES, BASES, st.sampled_from(["urls", None]), st.binary(max_size=20))
def test_a_response_is_read_back_as_it_was_written_down(
    scope: Scope, base: str, section: str | None, body: bytes
) -> None:
    request = Request.for_section("acme.example", section, scope).with_base_url(base)
    prepared = requests.Request("GET", base + request.path, params=dict(request.params)).prepare()
    assert request.url == prepared.url
    response = Response(request, 200, {"etag": "a"}, datetime.now(UTC), body)
    facts = json.loads(json.dumps(response.to_dict()))
    again = Response.from_dict(facts, body)
    assert again == response
    assert (again.key, again.sha256) == (response.key, response.sha256)
    assert Payload._from_response(again).scope == request.scope
    for damaged in (body + b"x", b"y" + body[1:]):
        with pytest.raises(ValueError, match="not the one"):
            Response.from_dict(facts, damaged)


@pytest.mark.parametrize(
    "change",
    [
        {"request": None}, {"request": {}}, {"status": "200"}, {"headers": None}, {"sha256": 1},
        {"fetched_at": "yesterday"}, {"fetched_at": "2026-11-20T00:00:00"}, {"size": 1},
        {"request": {"origin": "https://a.example", "path": "/etc/passwd", "params": []}},
        {"request": {"origin": "ftp://a.example", "path": "/api/domains/a.example/scope-options",
                     "params": []}},
        {"request": {"origin": "https://a.example", "params": [["days", "x"]],
                     "path": "/api/domains/a.example/agent-analytics"}},
    ],
)  # fmt: skip
def test_what_is_no_response_is_not_read(change: dict[str, Any]) -> None:
    request = Request.for_scope_options("acme.example").with_base_url("https://api.example")
    facts = Response(request, 200, {}, datetime.now(UTC), b"{}").to_dict()
    assert Response.from_dict(facts, b"{}").request == request
    with pytest.raises(ValueError):  # noqa: PT011  (each has words of its own)
        Response.from_dict({**facts, **change}, b"{}")


@given(SCOPES, SCOPES)
def test_equal_requests_have_equal_keys(first: Scope, second: Scope) -> None:
    keys = [Request.for_section("a.example", "urls", scope).key for scope in (first, second)]
    assert (keys[0] == keys[1]) == (first == second)
    refreshed = Request.for_scope_options("a.example", refresh=True)
    assert refreshed.key == Request.for_scope_options("a.example").key
