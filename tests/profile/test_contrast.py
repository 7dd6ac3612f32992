"""Availability by contrast: what answers state only where nothing was measured."""

from __future__ import annotations

from typing import Any

import pytest

import aatoolkit as aa
from aatoolkit.errors import SchemaDriftWarning
from aatoolkit.sections import Profile

SECTIONS = ["domains", "urls", "ads"]
OPTIONS = {
    "engines": [
        {"id": "alpha", "lastRunDay": "2026-11-01"},
        {"id": "beta", "lastRunDay": "2026-11-01"},
        {"id": "gamma", "configured": True, "lastRunDay": None},
    ],
    "topics": [],
    "categories": [],
    "brands": [],
    "days": [7, 30],
}


def answer(section: str, engines: list[str]) -> Any:
    """Of ``gamma`` nothing was measured: domains give a reason, urls and ads are just empty."""
    measured = engines != ["gamma"]
    rows = [{"host": f"{n}.example", "hits": 3 * n * (len(engines) or 2)} for n in range(1, 9)]
    items = rows if measured else []
    if section == "domains":
        why = {} if measured else {"dueCode": "FIRST_PASS_DUE", "dueOn": "2026-12-01"}
        return {"served": "LIVE" if measured else "IDLE", "rows": items, **why}
    return {"result": "OK", "items": items} if section == "urls" else items


@pytest.fixture
def draft(scripted: Any, reply: Any) -> aa.profile.Draft:
    def answers(request: Any) -> Any:
        if "scope-options" in request.path:
            return reply(OPTIONS)
        engines = [engine for engine in request.params.get("engine", "").split(",") if engine]
        section = request.params.get("section")
        parts = {engine: answer(engine, engines) for engine in SECTIONS[1:]}
        return reply({"parts": parts} if section is None else answer(section, engines))

    scripted.script = answers
    with aa.Client(scripted.url, token="t", cache=False) as client:
        return aa.profile.draft(client.project("a.example"), sections=SECTIONS, progress=False)


def test_an_engine_that_never_ran_is_requested_alone_once(draft, scripted):
    alone = [request for request in scripted.requests if request.params.get("engine") == "gamma"]
    # The combined view answers for urls and ads; domains is requested by itself.
    assert len(alone) == 2
    assert sum("nothing was measured" in str(request) for request in draft.requests) == 2
    assert len(scripted.requests) == len(draft.requests)
    assert set(draft.responses.unmeasured) == set(SECTIONS)


def test_what_speaks_only_where_nothing_was_measured_is_offered_as_a_rule(draft):
    places = draft["domains"].availability.set_index("at")
    why = 'numbers are missing beside IDLE; is "IDLE" where nothing was measured'
    assert places.loc["served", "why"] == why
    assert places.loc["served", "rule"] == (
        "set_rule(at='served', words={'IDLE': 'unavailable', 'LIVE': 'available'})"
    )
    assert "where nothing was measured" in places.loc["dueCode", "why"]
    assert (
        places.loc["dueCode", "rule"]
        == "set_rule(at='dueCode', words={'FIRST_PASS_DUE': 'unavailable'})"
    )


def test_rows_that_are_gone_without_a_word_are_pointed_out_and_are_no_zero(draft, tmp_path):
    profile = Profile.load(draft.save(tmp_path / "mine.py"))
    assert (profile["urls"].emptied, profile["ads"].emptied) == (("items",), ("$",))
    silent = aa.normalize("urls", answer("urls", ["gamma"]), profile=profile)
    hints = silent.hints.set_index("path")["why"]
    assert "not read as zero" in hints["$.items"]
    assert silent.availability["status"].eq("unknown").all()
    assert aa.normalize("ads", [], profile=profile).hints["path"].tolist() == ["$"]
    full = aa.normalize("urls", answer("urls", ["alpha"]), profile=profile)
    assert "$.items" not in {*full.hints["path"]}
    reason = {"result": "OK", "items": [], "reason": "No data: not connected."}
    with pytest.warns(SchemaDriftWarning):
        explained = aa.normalize("urls", reason, profile=profile)
    assert "$.items" not in {*explained.hints["path"]}
