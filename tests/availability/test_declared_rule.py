"""A service's own rule: an object, a map, a field of rows, a header; taught in one line."""

from __future__ import annotations

import json
from typing import Any

import pytest

import aatoolkit as aa
from aatoolkit import Column, Section, Table
from aatoolkit.availability.detect import detect
from aatoolkit.sections import Rule, records

SECTION = Section(
    "probe",
    "Synthetic.",
    Table(
        "probe_rows",
        "One row per path.",
        records("rows"),
        "path",
        (Column("path", "string"), Column("visits", "Int64"), Column("q", "string")),
    ),
)
ROWS = [{"path": "/a", "visits": 0, "q": "amber"}, {"path": "/b", "visits": 3, "q": "green"}]


def read(rule: Rule, document: Any, headers: dict[str, str] | None = None) -> dict[Any, str]:
    signals = detect(document, rule, headers=headers).signals
    own = [signal for signal in signals if signal.rule == "declared"]
    return {(signal.scope, signal.target): str(signal.availability) for signal in own}


def test_rows_are_read_by_a_field_of_theirs() -> None:
    rule = Rule(at="rows[].q", words={"amber": "not_connected", "green": "available"})
    assert read(rule, {"rows": ROWS}) == {
        ("row", "rows[0]"): "unavailable (not connected)",
        ("row", "rows[1]"): "available",
    }
    # A word that nobody confirmed blanks no number.
    held = [{**row, "q": "on hold"} for row in ROWS]
    assert read(rule, {"rows": held})["row", "rows[1]"] == "partial (pending)"
    coded = Rule(at="rows[].q", words={"7": "pending"})
    rows = [{"q": 7, "n": 1}, {"q": 0, "n": 2}, {"q": None}, {"n": 1}, 3]
    assert read(coded, {"rows": rows}) == {("row", "rows[0]"): "unavailable (pending)"}


def test_a_sentence_that_names_an_engine_is_about_the_engine() -> None:
    rule = Rule(at="note", words={"From six answers. {engine} is not in the plan.": "forbidden"})
    answer = {"note": "From six answers. kea is not in the plan.", "rows": ROWS}
    assert read(rule, answer) == {("engine", "kea"): "unavailable (withheld)"}


def test_a_day_on_which_measuring_began_is_no_matter_of_lists_without_elements() -> None:
    rule = Rule(at="coverage{}", words={"off": "not_connected", "on": "available"})
    days = [{"date": "2026-01-01", "n": 1}, {"date": "2026-01-02", "n": 2}]
    answer = {"coverage": {"alpha": "on"}, "missingFields": ["sales"], "sales": None, "rows": days}
    signals = detect({**answer, "tags": []}, rule).signals
    assert [signal.target for signal in signals] == [s.target for s in detect(answer, rule).signals]


def test_a_field_within_a_cell_is_about_the_cell() -> None:
    rule = Rule(at="rows[].score.flag", words={"x": "forbidden"})
    rows = [{"score": {"value": 1, "flag": "x"}}, {"score": {"value": 2}}]
    assert read(rule, {"rows": rows}) == {("row", "rows[0].score"): "unavailable (withheld)"}


def test_a_map_is_read_by_engines_and_fields() -> None:
    rule = Rule(at="meta.lights{}", words={"red": "not_run"})
    visits = {"status": "red", "reason": "No log."}
    answer = {"meta": {"lights": {"gemini": "red", "visits": visits}}, "rows": ROWS}
    assert read(rule, answer) == {
        ("engine", "gemini"): "unavailable (not run)",
        ("field", "rows[].visits"): "unavailable (not run): No log.",
    }


def test_a_header_is_read() -> None:
    rule = Rule(at="header X-Data-State", words={"blue": "pending"})
    assert read(rule, {"rows": []}, {"x-data-state": "blue"}) == {
        ("section", None): "unavailable (pending)"
    }
    assert read(rule, {"rows": []}, {"x-other": "blue"}) == {}


def test_the_keys_of_a_map_may_be_engines_that_only_this_service_has() -> None:
    words = {"here": "available", "due": "not_run"}
    answer = {"state": {"owl": "here", "kite": "due"}, "rows": []}
    assert read(Rule(at="state{}", words=words, of="engine"), answer) == {
        ("engine", "owl"): "available",
        ("engine", "kite"): "unavailable (not run)",
        ("section", None): "partial (not run)",
    }
    odd = {**answer, "state": {"owl": "here", "kite": 7}}
    assert ("section", None) not in read(Rule(at="state{}", words=words, of="engine"), odd)
    assert {scope for scope, _ in read(Rule(at="state{}", words=words), answer)} == {"field"}
    with pytest.raises(ValueError, match="none of"):
        Rule(at="state{}", of="brand")


def test_such_a_rule_adds_to_the_general_ones_and_an_object_replaces_them() -> None:
    answer = {"hasData": False, "all": {"light": "red"}, "rows": [{"path": "/a", "q": "amber"}]}
    words = {"amber": "pending", "red": "not_connected"}
    for place in ("rows[].q", "all.light"):
        added = detect(answer, Rule(at=place, words=words)).signals
        assert {signal.rule for signal in added} == {"declared", "flag"}
    replaced = detect(answer, Rule(at="all", status="light", words=words)).signals
    assert {signal.rule for signal in replaced} == {"declared"}


@pytest.mark.parametrize(
    ("at", "answer"),
    [
        ("meta.dataState{}", {"meta": {"dataState": {"otter": "allIn", "puffin": "not_run"}}}),
        ("meta.dataState[].state", {"meta": {"dataState": [{"id": "n", "state": "not_run"}]}}),
        ("rows[].dataState", {"rows": [{"id": "a", "dataState": "not_run", "n": 3}, 5, None]}),
    ],
)
def test_a_rule_replaces_what_is_detected_at_its_place(at: str, answer: Any) -> None:
    rule = Rule(at=at, words={"allIn": "available", "not_run": "pending"}, of="engine")
    before = json.dumps(answer)
    signals = detect({**answer, "hasData": False}, rule).signals  # without a warning
    assert {signal.rule for signal in signals} == {"declared", "flag"}
    assert json.dumps(answer) == before


def test_what_says_that_nothing_is_there_covers_what_says_that_a_part_is_missing() -> None:
    rule = Rule(at="notes[]", of="section", words={"few": "partial", "none": "unavailable"})
    for rows, statuses in (([], ["unavailable"]), ([{"n": 3}], ["partial", "partial"])):
        read = detect({"notes": ["few", "none"], "rows": rows}, rule).signals
        assert [signal.availability.status for signal in read] == statuses


def test_where_all_that_a_rule_reads_is_missing_the_bounds_of_a_scale_are_no_measurement() -> None:
    rule = Rule(at="brands{}.why{}", words={"due": "not_run"})
    answer = {"brands": {"a": {"n": None, "why": {"owl": "due"}}}, "scale": {"n": [0, 100]}}
    assert read(rule, answer)["section", None] == "unavailable (not run)"


@pytest.mark.parametrize("at", ["", "rows[0].q"])
def test_a_place_that_cannot_be_read_is_refused(at: str) -> None:
    with pytest.raises(ValueError, match=r"no place of availability|cannot be read|not a path"):
        Rule(at=at)


def test_one_line_teaches_what_a_hint_points_out() -> None:
    answer = {"observability": "blind", "rows": [{"path": "/a", "visits": 0, "q": "green"}]}
    with pytest.warns(aa.errors.SchemaDriftWarning):
        tables = aa.normalize(SECTION, answer)
    assert tables.hints["path"].tolist() == ["$.observability"]
    assert tables.main["visits"].tolist() == [0]
    taught = SECTION.with_rule(at="observability", words={"blind": "not_connected"})
    tables = aa.normalize(taught, answer)
    assert tables.main.aa.availability.loc["visits", "cause"] == "not_connected"
    assert tables.main["visits"].isna().tolist() == [True]
    assert len(tables.hints) == 0


def test_rows_that_a_rule_denies_are_missing_in_the_table() -> None:
    taught = SECTION.with_rule(at="rows[].q", words={"amber": "not_connected"})
    frame = aa.normalize(taught, {"rows": ROWS}).main
    assert frame["visits"].isna().tolist() == [True, False]
    assert frame[frame["path"] == "/b"].aa.availability.loc["visits", "status"] == "available"


def test_a_count_of_days_is_read_by_the_window_of_the_request() -> None:
    rule = Rule(at="lanes[].read", of="engine", total="{days}", words={"some": "partial"})
    rows = {"lanes": [{"engine": "gemini", "read": 23}]}
    for days, status in {30: "partial", 7: "available", None: "unknown"}.items():
        signals = detect(rows, rule, days=days).signals
        assert [str(s.availability.status) for s in signals] == [status] * (days is not None)


@pytest.mark.filterwarnings("ignore::aatoolkit.errors.SchemaDriftWarning")
def test_beside_an_unknown_word_the_section_is_not_called_available() -> None:
    rule = Rule(at="rows[].letter", words={"G": "available"})
    rows = [{"letter": "G", "hits": 3}, {"letter": "Q", "hits": 2}]
    scopes = [
        {signal.scope for signal in detect({"rows": rows[:count]}, rule).signals}
        for count in (1, 2)
    ]
    assert scopes == [{"row", "section"}, {"row"}]


def test_what_some_engines_do_not_show_says_nothing_of_the_others() -> None:
    words = {"none": "not_applicable", "cards": "nothing"}
    rule = Rule(at="engines[].shows", words=words, of="engine")
    engines = [{"engine": "kea", "shows": "none"}, {"engine": "tui", "shows": "cards"}]
    assert set(read(rule, {"engines": engines, "rows": []})) == {("engine", "kea")}
