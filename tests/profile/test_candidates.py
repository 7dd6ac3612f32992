"""Availability by contrast: places are pointed out, never applied before a person says so."""

from __future__ import annotations

from typing import Any

import pytest
from foreign import draft_of

import aatoolkit as aa
from aatoolkit.errors import ArgumentError
from aatoolkit.sections import Profile

OPTIONS = {
    "engines": [
        {"id": "alpha", "label": "Alpha", "configured": True, "lastRunDay": "2026-11-01"},
        {"id": "beta", "label": "Beta", "configured": True, "lastRunDay": "2026-11-01"},
        {"id": "gamma", "label": "Gamma", "configured": True, "lastRunDay": None},
    ],
    "topics": [],
    "categories": [],
    "brands": [],
    "days": [7, 30],
}
ANSWER = {
    "visibleTo": {"alpha": "shown_by_engine", "beta": "shown_by_engine", "gamma": "first_pass_due"},
    "totals": {"hits": 21},
    "remarks": ["Hits of gamma are still to come."],
    "stock": {"state": "in_stock"},
    "rows": [
        {"host": "a.example", "hits": 13, "dataState": "SETTLED"},
        {"host": "b.example", "hits": 8, "dataState": "SETTLED"},
        {"host": "c.example", "hits": 0, "dataState": "HELD_BACK"},
    ],
}


def reasons(answer: Any, *parts: Any) -> dict[str, str]:
    narrowed = {"crawl": {(str(at),): part for at, part in enumerate(parts)}}
    places = draft_of({"crawl": answer}, narrowed, OPTIONS)["crawl"].candidates
    return {place.at: place.why for place in places}


def named_engines(section: aa.profile.SectionDraft, answer: Any) -> set[str]:
    """The engines of which an answer states something, as a draft reads it."""
    states = aa.normalize(section.section, answer).availability
    return {*states[states["scope"] == "engine"]["target"]}


def test_what_names_an_engine_that_never_ran_comes_first():
    places = reasons(ANSWER)
    assert next(iter(places)) in ("visibleTo", "remarks")
    assert {"visibleTo", "remarks"} <= set(places)
    assert places["visibleTo"] == "names gamma, which never ran"


def test_a_field_of_rows_that_names_a_state_of_the_data_is_a_place():
    assert "rows[].dataState" in reasons(ANSWER)


def test_states_of_every_response_are_proposed_also_by_a_weak_word() -> None:
    engines = [{"engine": "alpha", "hits": 5, "state": "OK"}]
    first = {"engines": [*engines, {"engine": "gamma", "hits": 0, "state": "NEVER_RAN"}]}
    other = {"engines": [*engines, {"engine": "gamma", "hits": 0, "state": "DISABLED"}]}
    (place,) = draft_of({"crawl": first}, {"crawl": {("x",): other}}, OPTIONS)["crawl"].candidates
    assert {*place.words} == {"OK", "NEVER_RAN", "DISABLED"}


def test_numbers_that_are_texts_say_what_a_word_means_too() -> None:
    rows = [{"host": "a.example", "hits": "1,204"}]
    whole, alone = (
        {"coverage": word, "readiness": word == "AMBER_SIX", "rows": rows}
        for word in ("AMBER_SIX", "GREEN_SEVEN")
    )
    parts = {("alpha",): alone, ("beta",): {"coverage": "RED_NINE", "rows": []}}
    place, flag = draft_of({"crawl": whole}, {"crawl": parts}, OPTIONS)["crawl"].candidates
    # An engine alone says otherwise: the whole is a mixture.
    meanings = {"AMBER_SIX": "partial", "GREEN_SEVEN": "available", "RED_NINE": "unavailable"}
    assert place.words == meanings
    assert {*flag.words.values()} == {"partial"}


@pytest.mark.parametrize("figures", [{"share": "33.40 %"}, {"daily": [{"answerPct": 7}]}])
def test_a_word_beside_numbers_however_deep_is_not_unavailable(figures: Any) -> None:
    for name, of in (("engineId", "engine"), ("place", None)):
        states = [{"collectionState": word} for word in ("fullyGathered", "neverStarted")]
        rows = [{name: "otter", "n": figures}, {name: "puffin", "n": {"share": None}}]
        beside = [{**row, **state} for row, state in zip(rows, states, strict=True)]
        below = [{**row, "about": state} for row, state in zip(rows, states, strict=True)]
        for records, rule_of in ((beside, of), (below, None)):
            section = draft_of({"crawl": {"groups": records}})["crawl"]
            (rule,) = section.proposals()
            assert rule["words"] == {"fullyGathered": "available", "neverStarted": "not_run"}
            assert rule.get("of") == rule_of


def test_words_of_no_lexicon_are_places_and_mean_what_the_numbers_say() -> None:
    def answer(*engines: str) -> dict[str, Any]:
        numbers = {"alpha": 7, "beta": None, "gamma": None}
        marks = [{"tool": name, "n": numbers[name], "mark": "SOUND" if numbers[name] else "ZILCH"}
                 for name in engines]  # fmt: skip
        return {
            "openness": {name: {"alpha": "OPEN", "beta": "SHUT"}.get(name, "ASLEEP")
                         for name in engines},
            "blots": [f"{name}: half of it" for name in engines if name != "alpha"],
            "brands": [{"brand": brand, "by": marks} for brand in "xy"] if marks else [],
            "rows": [{"host": "a.example", "hits": 3}] if "alpha" in engines else [],
        }  # fmt: skip

    engines = "alpha", "beta", "gamma"
    parts = {names: answer(*names) for names in (engines[:1], engines[1:])}
    section = draft_of({"crawl": answer(*engines)}, {"crawl": parts}, OPTIONS,
                       empty={"crawl": answer("gamma")})["crawl"]  # fmt: skip
    words = {place.at: dict(place.words) for place in section.candidates}
    assert words["openness"] == {"OPEN": "available", "SHUT": "unavailable", "ASLEEP": "not_run"}
    assert words["blots"] == {"{engine}: half of it": "unavailable"}
    assert words["brands[].by[].mark"] == {"SOUND": "available", "ZILCH": "unavailable"}
    section.set_rule(at="brands[].by[].mark")
    assert named_engines(section, answer(*engines)) == {*engines}


def test_a_map_of_records_by_engine_states_what_holds_of_each_engine() -> None:
    words = {"alpha": "live", "beta": "live", "gamma": "queued"}
    document = {"told": {name: {"phase": word, "mode": word} for name, word in words.items()}}
    section = draft_of({"crawl": document}, {}, OPTIONS)["crawl"]
    for name in ("phase", "mode"):
        section.set_rule(at=f"told{{}}.{name}", words={"live": "available"})
    assert named_engines(section, document) == {*words}
    assert section.section.rules[1:]


def test_of_words_beside_numbers_the_commonest_alone_is_taken_for_available() -> None:
    marks = {"SOLID": 3, "FAINT": 1, "BARE": None}
    rows = [{"cost": 2, "lift": marks[mark], "mark": mark} for mark in ("SOLID", *marks)]
    (place,) = draft_of({"crawl": {"rows": rows}})["crawl"].candidates
    assert place.words == {"SOLID": "available", "FAINT": "partial", "BARE": "partial"}


def test_business_is_no_place():
    assert reasons({"rows": [{"sku": "a", "state": "in_stock"}], "totals": {"hits": 3}}) == {}
    assert reasons({"byEngine": {"alpha": 3, "beta": 4, "gamma": 0}}) == {}


def test_the_keys_of_maps_are_no_names_of_fields():
    answer = {
        "brands": {
            name: {"n": n, "engineReason": {"alpha": None, "gamma": "FIRST_PASS_DUE"}}
            for n, name in enumerate(("Acme", "Other", "More"), 3)
        },
        "names": ["Acme", "Other", "More"],
    }
    assert [*reasons(answer)] == ["brands{}.engineReason"]


@pytest.fixture
def draft(scripted: Any, reply: Any) -> aa.profile.Draft:
    def answers(request: Any) -> Any:
        if "scope-options" in request.path:
            return reply(OPTIONS)
        return reply(ANSWER if "section" in request.params else {"error": {}}, 200)

    scripted.script = answers
    with aa.Client(scripted.url, token="t", cache=False) as client:
        return aa.profile.draft(client.project("a.example"), sections=["crawl"], progress=False)


def test_a_place_is_a_hint_until_a_rule_reads_it(draft, tmp_path):
    section = draft["crawl"]
    assert list(section.availability.columns) == ["at", "value", "why", "rule"]
    before = Profile.load(draft.save(tmp_path / "before.py"))
    tables = aa.normalize("crawl", ANSWER, profile=before)
    assert "$.visibleTo" in set(tables.hints["path"])
    rare = tables.hints.set_index("path")["value"]
    assert rare["$.rows[2].dataState"] == '"HELD_BACK"'
    assert tables.availability["status"].eq("unknown").all()
    words = {"shown_by_engine": "available", "first_pass_due": "not_run"}
    section.set_rule(at="visibleTo{}", words=words)
    after = Profile.load(draft.save(tmp_path / "after.py"))
    response = aa.normalize("crawl", ANSWER, profile=after)
    states = response.availability.set_index("evidence")["status"]
    assert states["$.visibleTo.gamma"] == "unavailable"
    assert section.section.availability.of == "engine"
    assert {*response._words.values()} == {"partial (not run): gamma: unavailable (not run)"}
    assert states["$.visibleTo.alpha"] == "available"
    assert "$.visibleTo" not in set(response.hints["path"])
    assert response.rebuild() == ANSWER


def test_a_rule_that_cannot_be_one_is_refused(draft):
    with pytest.raises(ArgumentError, match="no rule"):
        draft["crawl"].set_rule(at="rows[0].inner")
    with pytest.raises(ArgumentError, match="no rule"):
        draft["crawl"].set_rule(where="states")


def test_the_words_are_proposed_by_the_numbers_beside_them(draft):
    rules = draft["crawl"].availability.set_index("at")["rule"]
    assert rules["visibleTo"] == (
        "set_rule(at='visibleTo{}', of='engine', words={'first_pass_due': 'not_run', "
        "'shown_by_engine': 'available'})"
    )
    draft["crawl"].set_rule(at="visibleTo{}")
    assert draft["crawl"].section.availability.words["first_pass_due"] == "not_run"


def test_a_draft_asks_what_to_confirm_and_goes_on_where_it_was_left(draft, tmp_path):
    questions: list[str] = []
    replies = iter(["n", "first_pass_due=blue", "q"])
    assert draft.confirm().ask(lambda _: next(replies), questions.append) == 0
    assert "does visibleTo state what was measured?" in questions[0]
    path = draft.save(tmp_path / "mine.py")
    replies = iter(["first_pass_due=pending", "what", "y"])
    kept = draft.confirm().ask(
        lambda _: next(replies), questions.append, lambda: draft.save(tmp_path / "mine.py")
    )
    assert (kept, repr(draft.confirm())) == (1, "nothing to confirm")
    draft["crawl"].remove_rule("visibleTo{}")
    assert "visibleTo" in repr(draft.confirm())
    draft.resume(path)
    assert draft["crawl"].section.availability.words["first_pass_due"] == "pending"
    assert list(draft.confirm()) == []


def test_a_widget_asks_one_question_at_a_time(draft):
    box = draft.confirm().widget()
    _, first, second, buttons = box.children
    assert (first.description, first.value) == ("first_pass_due", "not_run")
    second.value = "partial"
    buttons.children[0].click()
    assert draft["crawl"].section.availability.words["shown_by_engine"] == "partial"
    assert "Nothing more" in box.children[0].value
