"""A service's own rule: an object, a map, a field of rows, a header; taught in one line."""

from __future__ import annotations

import json
from pathlib import Path
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
CASES = json.loads(Path(__file__).with_name("rules.json").read_bytes())
ROWS = [{"path": "/a", "visits": 0, "q": "amber"}, {"path": "/b", "visits": 3, "q": "green"}]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_rule_reads_what_is_at_its_place(case: dict[str, Any]) -> None:
    """``rules.json``: a rule, a response, what the rule reads, and what other rules speak, too."""
    about = {name: case[name] for name in ("headers", "days") if name in case}
    before = json.dumps(case["body"])
    signals = detect(case["body"], Rule(**case["rule"]), **about).signals  # without a warning
    assert json.dumps(case["body"]) == before
    read = [signal for signal in signals if signal.rule == "declared"]
    subjects = [" ".join(filter(None, (signal.scope, signal.target))) for signal in read]
    states = [str(signal.availability) for signal in read]
    assert [*map(list, zip(subjects, states, strict=True))] == case["reads"]
    others = {signal.rule for signal in signals if signal not in read}
    assert others == {*case.get("others", ())}


def test_a_day_on_which_measuring_began_is_no_matter_of_lists_without_elements() -> None:
    rule = Rule(at="coverage{}", words={"off": "not_connected", "on": "available"})
    days = [{"date": "2026-01-01", "n": 1}, {"date": "2026-01-02", "n": 2}]
    answer = {"coverage": {"alpha": "on"}, "missingFields": ["sales"], "sales": None, "rows": days}
    signals = detect({**answer, "tags": []}, rule).signals
    assert [signal.target for signal in signals] == [s.target for s in detect(answer, rule).signals]


@pytest.mark.parametrize(
    "odd", [{"at": ""}, {"at": "rows[0].q"}, {"at": "state{}", "of": "brand"}], ids=str
)
def test_a_rule_that_cannot_be_read_is_refused(odd: dict[str, Any]) -> None:
    refusal = "none of" if "of" in odd else r"no place of availability|cannot be read|not a path"
    with pytest.raises(ValueError, match=refusal):
        Rule(**odd)


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


def test_what_does_not_apply_to_an_engine_is_not_missing() -> None:
    states = Rule(
        at="engines[].state",
        engines="id",
        of="engine",
        words={"on": "available", "none": "not_applicable"},
    )
    counts = Rule(
        at="engines[].answers",
        engines="id",
        of="engine",
        total="due",
        words={"full": "available", None: "not_run"},
    )
    engines = [
        {"id": "kea", "state": "on", "answers": 30, "due": 30},
        {"id": "tui", "state": "none", "answers": None, "due": None},
    ]
    for rules in ((states, counts), (counts, states)):
        detection = detect({"engines": engines, "rows": [{"path": "/a", "visits": 3}]}, rules)
        statuses = {signal.availability.status for signal in detection.signals}
        assert statuses == {"available", "not_applicable"}
