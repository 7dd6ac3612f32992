"""Availability by contrast: places are pointed out, never applied before a person says so."""

from __future__ import annotations

import json
from pathlib import Path
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
        {"id": "gamma", "label": "Gamma Ray", "configured": True, "lastRunDay": None},
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


CASES = json.loads(Path(__file__).with_name("places.json").read_bytes())


@pytest.mark.filterwarnings("ignore::aatoolkit.errors.SchemaDriftWarning")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_places_are_found_and_their_words_are_proposed(case: dict[str, Any]) -> None:
    """``places.json``: responses (``body``, ``parts``, hosts ``beside``), ``places``, ``hints``."""
    parts = {(name,): part for name, part in case.get("parts", ())}
    beside = {host: {"crawl": body} for host, body in case.get("beside", {}).items()}
    section = draft_of({"crawl": case["body"]}, {"crawl": parts}, OPTIONS, by_host=beside)["crawl"]
    assert {place.at: place.meaning_by_word for place in section.possible_fields} == case["places"]
    hints = {*aa.normalize(section.section, case["body"]).hints["path"]}
    assert {*case.get("hints", ())} <= hints
    for question in aa.profile.Draft.confirm({"crawl": section}):
        assert question.field.total_field in str(question)
        question.confirm()
    answer = [case["body"], *case.get("beside", {}).values()][-1]
    states = aa.normalize(section.section, answer).availability["status"]
    assert set(states) == set(case.get("states", ["unknown"]))


def reasons(answer: Any, *parts: Any) -> dict[str, str]:
    narrowed = {"crawl": {(str(at),): part for at, part in enumerate(parts)}}
    places = draft_of({"crawl": answer}, narrowed, OPTIONS)["crawl"].possible_fields
    return {place.at: place.why for place in places}


def named_engines(section: aa.profile.SectionDraft, answer: Any) -> set[str]:
    """The engines of which an answer states something, as a draft reads it."""
    states = aa.normalize(section.section, answer).availability
    return {*states[states["scope"] == "engine"]["target"]}


def test_what_names_an_engine_that_never_ran_comes_first():
    places = reasons(ANSWER)
    assert next(iter(places)) in ("visibleTo", "remarks")
    assert {*places} == {"visibleTo", "remarks", "rows[].dataState"}
    assert places["visibleTo"] == "names gamma, which never ran"


@pytest.mark.parametrize("figures", [{"share": "33.40 %"}, {"daily": [{"answerPct": 7}]}])
def test_a_word_beside_numbers_however_deep_is_not_unavailable(figures: Any) -> None:
    for name, of in (("engineId", "engine"), ("place", None)):
        states = [{"collectionState": word} for word in ("fullyGathered", "neverStarted")]
        rows = [{name: "otter", "n": figures}, {name: "puffin", "n": {"share": None}}]
        beside = [{**row, **state} for row, state in zip(rows, states, strict=True)]
        below = [{**row, "about": state} for row, state in zip(rows, states, strict=True)]
        for records in (beside, below):
            section = draft_of({"crawl": {"groups": records}})["crawl"]
            (rule,) = section.proposals()
            assert rule["words"] == {"fullyGathered": "available", "neverStarted": "not_run"}
            assert rule.get("of") == of


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
                       unmeasured={"crawl": answer("gamma")})["crawl"]  # fmt: skip
    words = {place.at: dict(place.meaning_by_word) for place in section.possible_fields}
    assert words["openness"] == {"OPEN": "available", "SHUT": "unavailable", "ASLEEP": "not_run"}
    assert words["blots"] == {"{engine}: half of it": "unavailable"}
    assert words["brands[].by[].mark"] == {"SOUND": "available", "ZILCH": "unavailable"}
    section.set_rule(at="brands[].by[].mark")
    assert named_engines(section, answer(*engines)) == {*engines}


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
    before = Profile.load(draft.save(tmp_path / "before.py"))
    tables = aa.normalize("crawl", ANSWER, profile=before)
    hints = tables.hints.set_index("path")["value"]
    assert "$.visibleTo" in hints
    assert hints["$.rows[2].dataState"] == '"HELD_BACK"'
    assert tables.availability["status"].eq("unknown").all()
    words = {"shown_by_engine": "available", "first_pass_due": "not_run"}
    section.set_rule(at="visibleTo{}", words=words)
    after = Profile.load(draft.save(tmp_path / "after.py"))
    response = aa.normalize("crawl", ANSWER, profile=after)
    states = response.availability.set_index("evidence")["status"]
    assert states["$.visibleTo.gamma"] == "unavailable"
    assert section.section.availability.of == "engine"
    assert {*response._availability_texts.values()} == {
        "partial (not run): gamma: unavailable (not run)"
    }
    assert states["$.visibleTo.alpha"] == "available"
    assert "$.visibleTo" not in set(response.hints["path"])
    assert response.rebuild() == ANSWER


def test_a_rule_that_cannot_be_one_is_refused(draft):
    for name, path in {"at": "rows[0].inner", "where": "states"}.items():
        with pytest.raises(ArgumentError, match="no rule"):
            draft["crawl"].set_rule(**{name: path})
    with pytest.raises(ArgumentError, match=r"did you mean .*\? possible fields: visibleTo\{\}"):
        draft["crawl"].set_rule(at="visible", words={"a": "available"})


def test_a_draft_asks_what_to_confirm_and_goes_on_where_it_was_left(draft, tmp_path):
    questions: list[str] = []
    replies = iter(["first_pass_due=blue", "not_run", "q"])  # no "no", although it begins so
    assert draft.confirm().ask(lambda _: next(replies), questions.append) == 0
    assert "does visibleTo state what was measured?" in questions[0]
    assert draft["crawl"].section.rules == ()
    path = draft.save(tmp_path / "mine.py")
    replies = iter(["first_pass_due=pending", "what", "y", "n", "n"])
    kept = draft.confirm().ask(
        lambda _: next(replies), questions.append, lambda: draft.save(tmp_path / "mine.py")
    )
    assert (kept, repr(draft.confirm())) == (1, "nothing to confirm")
    draft["crawl"].remove_rule("visibleTo{}")
    assert [question.field.at for question in draft.confirm()] == ["visibleTo"]
    draft.resume(path)
    assert draft["crawl"].section.rules[-1].words["first_pass_due"] == "pending"
    assert list(draft.confirm()) == []


@pytest.mark.parametrize(("place", "of_urls"), [("coverage", "partial"), ("module", "available")])
def test_a_word_means_the_same_at_the_same_place_of_each_section(place: str, of_urls: str) -> None:
    def response(word: str, *hits: int | None, place: str = "coverage") -> dict[str, Any]:
        return {place: {"outcome": word}, "rows": [{"page": n, "hits": n} for n in hits]}

    short, met = response("quota_short", 13, None), response("quota_met", 13, 8)
    urls = response("quota_short", 13, 8, place=place)
    beside = {"crawl": met, "domains": met, "urls": response("quota_met", place=place)}
    documents = {"crawl": short, "domains": short, "urls": urls}
    draft = draft_of(documents, {}, OPTIONS, by_host={"b.example": beside})
    words = [
        place.meaning_by_word for section in draft.values() for place in section.possible_fields
    ]
    assert [meanings["quota_short"] for meanings in words] == ["partial", "partial", of_urls]


def test_what_is_asked_together_is_rejected_together() -> None:
    states = {"alpha": {"state": "OK", "hits": 3}, "gamma": {"state": "NEVER_RAN", "hits": 0}}
    body = {"first": states, "second": states, "rows": ANSWER["rows"]}
    section = draft_of({"crawl": body}, {}, OPTIONS)["crawl"]
    (question, *_) = aa.profile.Draft.confirm({"crawl": section})
    places = {question.field.at, *(place.at for place in question.field.similar_fields)}
    assert len(places) > 1
    question.reject()
    assert places <= {rule.at for rule in section.section.rules}


def test_a_widget_asks_one_question_at_a_time(draft):
    box = draft.confirm().widget()
    _, first, second, buttons = box.children
    assert (first.description, first.value) == ("first_pass_due", "not_run")
    second.value = "partial"
    buttons.children[0].click()
    assert draft["crawl"].section.availability.words["shown_by_engine"] == "partial"
    assert "does remarks state" in box.children[0].value
    box.children[-1].children[1].click()
    box.children[-1].children[1].click()
    assert "Nothing more" in box.children[0].value


def test_a_check_asks_the_service_even_if_its_responses_are_cached(scripted, reply, tmp_path):
    answer = {"rows": [{"host": "a.example", "hits": n} for n in range(3)]}
    scripted.script = lambda request: reply(OPTIONS if "options" in request.path else answer)
    with aa.Client(scripted.url, token="t", cache=tmp_path / "cache") as client:
        project = client.project("a.example")
        profile = aa.profile.draft(project, sections=["crawl"], progress=False).profile()
        same = aa.profile.check(profile, project, ["crawl"])
        assert "<p>nothing changed" in (same._repr_html_() or "")
        answer["rows"][0]["new"] = 1
        changes = aa.profile.check(profile, project, ["crawl"])
        assert changes["path"].tolist() == ["rows[].new"]
        assert "nothing" not in repr(changes[:0])


def test_a_place_is_confirmed_as_it_is_listed(draft):
    assert draft["crawl"].availability["at"][0] == "visibleTo"
    draft["crawl"].set_rule(at="visibleTo")
    assert draft["crawl"].section.rules[0].at == "visibleTo{}"


def test_money_that_a_person_lets_sum_is_added_within_one_currency():
    rows = [{"ad": n, "paid": 3.5 * n, "coin": "EUR", "paid_currency": "EUR"} for n in range(5)]
    section = draft_of({"crawl": {"rows": rows}})["crawl"]
    section.set("paid", unit="currency", aggregate="sum")
    columns = {column.name: column for table in section.section for column in table.columns}
    assert columns["paid"].aggregate.within == "paid_currency"
