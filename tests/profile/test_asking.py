"""Asking a service that is slow or fails in parts, and other hosts beside the one drafted."""

from __future__ import annotations

import time
from typing import Any

import pytest

import aatoolkit as aa
from aatoolkit.client import reading

SECTIONS = ["domains", "urls", "prompts", "ads"]
OPTIONS = {
    "engines": [{"id": name, "lastRunDay": "2026-11-01"} for name in ("alpha", "beta")],
    "topics": [],
    "categories": [],
    "brands": [],
    "days": [7, 30],
}


class Slow:
    """A service that takes its time; ``stuck`` sections never answer within it."""

    def __init__(self, reply: Any) -> None:
        self.reply, self.stuck, self.seconds = reply, set[str](), 0.0
        self.failing = set[str]()

    def __call__(self, request: Any) -> Any:
        time.sleep(self.seconds)
        if "scope-options" in request.path:
            return self.reply(OPTIONS)
        section = request.params.get("section")
        if section in self.stuck:
            time.sleep(2.5)
        if section is None or section in self.failing:
            return self.reply({"error": {"code": "BROKEN"}}, status=500)
        share = 1 if request.params.get("engine") is None else 0.5
        return self.reply({"rows": [{"host": f"{n}.example", "hits": int(n * 8 * share)}
                                    for n in range(1, 9)]})  # fmt: skip


@pytest.fixture
def slow(scripted: Any, reply: Any) -> Slow:
    scripted.script = Slow(reply)
    return scripted.script


def client(scripted: Any, **more: Any) -> aa.Client:
    return aa.Client(scripted.url, token="t", **{"cache": False, **more})


def test_a_draft_ends_when_its_time_is_over_with_what_came_by_then(slow, scripted):
    slow.stuck = {"urls"}
    with client(scripted) as session:
        started = time.monotonic()
        draft = aa.profile.draft(
            session.project("a.example"), sections=SECTIONS, seconds=1.5, progress=False
        )
        took = time.monotonic() - started
    assert took < 8
    assert draft.stopped == "out of time"
    assert {"domains", "prompts", "ads"} == set(draft)
    assert "out of time" in repr(draft)
    assert "urls" not in draft.errors


def test_what_times_out_is_an_error_of_that_section(slow, scripted):
    slow.stuck = {"urls"}
    slow.failing = {"ads"}
    with client(scripted, deadline=0.5) as session:
        draft = aa.profile.draft(session.project("a.example"), sections=SECTIONS, progress=False)
    assert set(draft) == {"domains", "prompts"}
    assert {"urls", "ads"} <= set(draft.errors)
    assert not draft.stopped


def test_an_interrupt_keeps_what_came_and_the_cache_goes_on(slow, scripted, monkeypatch, tmp_path):
    real = reading._wait_for_next
    left = iter(range(4))

    def interrupted(waiting: Any, until: Any) -> Any:
        if next(left, None) is None:
            raise KeyboardInterrupt
        return real(waiting, until)

    with client(scripted, cache=tmp_path, workers=1) as session:
        project = session.project("a.example")
        with monkeypatch.context() as patch:
            patch.setattr(reading, "_wait_for_next", interrupted)
            draft = aa.profile.draft(project, sections=SECTIONS, progress=False)
        assert draft.stopped == "interrupted"
        assert {"domains", "urls"} <= set(draft)
        assert "draft again" in repr(draft)
        again = aa.profile.draft(project, sections=SECTIONS, progress=False)
        assert not again.stopped
        assert set(again) == set(SECTIONS)
        # Only what was not answered yet is asked for: at most the one that was under way, again.
        assert len(scripted.requests) <= len(again.requests) + 1


@pytest.mark.parametrize("key", ["engineId", "handle"])
def test_engines_are_found_by_their_keys_or_where_the_profile_says(key, slow, scripted, tmp_path):
    engines = [{"name": name.title(), key: name} for name in ("alpha", "beta", "gamma")]
    engines[2]["state"] = "never started"
    options = {"choices": {"engineSeats": engines, "topics": ["a"]}}
    scripted.script = lambda request: (
        slow.reply(options) if "scope-options" in request.path else slow(request)
    )
    path = f"choices.engineSeats[].{key}"
    profile = aa.sections.Profile("own", aa.sections.scope_options(engine=path))
    for declared in [None, profile] if key == "engineId" else [profile]:
        with client(scripted, profile=declared) as session:
            draft = aa.profile.draft(
                session.project("a.example"), sections=SECTIONS[:2], progress=False
            )
        alone = {request.scope.engine for request in draft.requests}
        states = {("beta", "gamma"), ("gamma",)} if key == "engineId" else {("beta",), ("gamma",)}
        assert alone == {(), ("alpha",), *states}
        assert "no list of engines" not in repr(draft)
    saved = aa.sections.Profile.load(draft.save(tmp_path / "drafted.py"))
    assert saved["scope_options"] == draft.profile()["scope_options"] == profile["scope_options"]


def states(host: str, section: str) -> dict[str, Any]:
    code = {"a.example": "FULL", "off.example": "NO_FEED"}[host]
    code = "SETTLING" if section == "urls" else code
    return {
        "q": {"code": code, "currency": "EUR"},
        "lag": host == "off.example",
        "rows": [{"host": f"{n}.example", "hits": n} for n in range(9)],
    }


def test_other_hosts_are_shown_beside_and_what_their_combined_view_lacks_is_asked(scripted, reply):
    def answer(request: Any) -> Any:
        host = request.path.split("/")[3]
        if "scope-options" in request.path:
            return reply(OPTIONS)
        section = request.params.get("section")
        if section is None:
            names = SECTIONS if host == "a.example" else [*SECTIONS[:2], SECTIONS[3]]
            return reply({"parts": {name: states(host, name) for name in names}})
        return reply(states(host, section))

    scripted.script = answer
    with client(scripted) as session:
        draft = aa.profile.draft(
            session.project("a.example"), sections=SECTIONS, hosts=["off.example"], progress=False
        )
    assert sum("off.example" in request.path for request in scripted.requests) == 3
    asked = [request.section for request in draft.requests if request.host == "off.example"]
    assert asked == ["scope-options", None, "prompts"]
    assert '"NO_FEED"' in set(draft["prompts"].availability.loc[0])
    places = draft["domains"].availability.set_index("at")
    assert places.loc["q.code", "value"] == '"FULL"'
    assert places.loc["q.code", "off.example"] == '"NO_FEED"'
    assert "differs for off.example" in places.loc["q.code", "why"]
    assert "'NO_FEED': 'not_connected'" in places.loc["q.code", "rule"]
    # Confirmed in one line, and not before.
    assert draft["domains"].section.availability is None
    draft["domains"].set_rule(at="q.code", words={"FULL": "available", "NO_FEED": "not_connected"})
    profile = draft.profile()
    there = aa.normalize("domains", states("off.example", "domains"), profile=profile)
    assert set(there.availability["status"]) == {"unavailable"}


def test_a_combined_view_may_be_a_list_and_a_host_without_runs_comes_first(scripted, reply):
    def answer(request: Any) -> Any:
        is_new = "/new.example/" in request.path
        if "scope-options" in request.path:
            engines = [{"id": "alpha", "lastRunDay": None if is_new else "2026-11-01"}]
            return reply({**OPTIONS, "engines": engines})
        bodies = {
            name: {"rows": [{"host": name, "hits": 3, "n": n} for n in range(6 * (not is_new))]}
            for name in SECTIONS
        }
        section = request.params.get("section")
        parts = [{"section": f"SECTION_{name.upper()}", "body": bodies[name]} for name in SECTIONS]
        return reply({"parts": parts} if section is None else bodies[section])

    scripted.script = answer
    hosts = ["old.example", "new.example"]
    with client(scripted) as session:
        draft = aa.profile.draft(
            session.project("a.example"), sections=SECTIONS, hosts=iter(hosts), progress=False
        )
    asked = [(request.host, request.section) for request in draft.requests if request.host]
    assert asked[2:] == [("new.example", None), ("old.example", None)]
    assert len(draft) == len(SECTIONS)
