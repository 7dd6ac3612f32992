"""Availability that a service states, through HTTP to the tables and the last aggregate."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import aatoolkit as aa
from aatoolkit import Section, Table, errors
from aatoolkit.sections import SUM, Profile, Rule, integer, keyed, records, text

HOST = "acme.example"
COLUMNS = (
    text("bot"),
    integer("requests", aggregate=SUM),
    integer("rank", source="#1"),
    integer("sample_size"),
)
ENGINES = Table(
    "probe_engines",
    "One row per bot and engine.",
    keyed("bots[].byEngine", key="engine"),
    key=("bot", "engine"),
    columns=(
        text("bot", source="^bot"),
        text("engine"),
        integer("answers_count", source=".", aggregate=SUM),
    ),
)
PROBE = Section(
    "probe", "Synthetic.", Table("probe_bots", "A bot.", records("bots"), "bot", COLUMNS), ENGINES
)


PROFILE = Profile("probe", PROBE)


@pytest.fixture
def project(scripted: Any) -> Iterator[aa.Project]:
    token = "synthetic-account"
    with aa.Client(scripted.url, token=token, cache=False, profile=PROFILE) as client:
        yield client.project(HOST)


def bot(name: str, requests: object, **more: Any) -> dict[str, Any]:
    engines = more.pop("byEngine", {})
    return {"bot": name, "requests": requests, "sampleSize": 4, "byEngine": engines, **more}


Read = Callable[..., aa.Tables]


@pytest.fixture
def read(scripted: Any, reply: Any, project: aa.Project) -> Read:
    def read(body: Any, status: int = 200, headers: Any = None) -> aa.Tables:
        scripted.script = reply(body, status, headers or {})
        return project.read("probe")

    return read


def denied(tables: aa.Tables) -> dict[str, str]:
    extra = tables.extra[tables.extra["why"] == "denied"]
    return dict(zip(extra["path"], extra["value"], strict=True))


# --- numbers that are denied ----------------------------------------------------------------


def test_a_section_that_was_not_measured_has_no_numbers(read: Read) -> None:
    answer = {"availability": {"status": "not_connected", "reason": "No CNAME."}}
    tables = read({**answer, "bots": [bot("a", 0), bot("b", 3)]})
    frame = tables.main
    assert frame["requests"].isna().all()
    assert frame["sample_size"].tolist() == [4, 4]
    assert frame["rank"].tolist() == [1, 2]
    assert denied(tables) == {"$.bots[0].requests": "0", "$.bots[1].requests": "3"}
    total = frame.aa.aggregate(columns="requests", skip_missing=True)
    assert total.loc[0, "requests"] is pd.NA
    assert total.aa.availability.loc["requests"].tolist() == [
        "unavailable",
        "not_connected",
        "No CNAME.",
    ]
    assert frame.aa.aggregate("bot", columns="requests")["requests"].isna().all()


@pytest.mark.filterwarnings("ignore::aatoolkit.errors.SchemaDriftWarning")
def test_a_field_that_was_not_measured_has_no_numbers(read: Read) -> None:
    tables = read({"missingFields": ["requests"], "bots": [bot("a", 0), bot("b", None)]})
    assert tables.main["requests"].isna().all()
    assert denied(tables) == {"$.bots[0].requests": "0"}
    assert tables.main.aa.aggregate(columns="requests").loc[0, "requests"] is pd.NA
    assert tables.main.aa.availability.loc["requests", "status"] == "unavailable"


@pytest.mark.filterwarnings("ignore::aatoolkit.errors.SchemaDriftWarning")
def test_a_row_that_was_not_measured_has_no_number(read: Read) -> None:
    rows = [bot("a", 0, hasData=False), bot("b", 7, hasData=True), bot("c", 0)]
    tables = read({"bots": rows})
    frame = tables.main
    assert frame["requests"].tolist() == [pd.NA, 7, 0]
    assert denied(tables) == {"$.bots[0].requests": "0"}
    assert frame.aa.availability.loc["requests", "status"] == "partial"
    by_bot = frame.aa.aggregate("bot", columns="requests").set_index("bot")["requests"]
    assert by_bot["a"] is pd.NA
    total = frame.aa.aggregate(columns="requests")
    assert total.loc[0, "requests"] is pd.NA
    assert frame.aa.aggregate(columns="requests", skip_missing=True).loc[0, "requests"] == 7


def test_a_row_outweighs_its_section(read: Read) -> None:
    with pytest.warns(errors.SchemaDriftWarning):
        tables = read({"hasData": False, "bots": [bot("a", 0), bot("b", 7, hasData=True)]})
    assert tables.main["requests"].tolist() == [pd.NA, 7]


@pytest.mark.filterwarnings("ignore::aatoolkit.errors.SchemaDriftWarning")
def test_an_engine_that_could_not_report_has_no_numbers(read: Read) -> None:
    answer = {
        "engineSupport": {"chatgpt": "observed", "gemini": "not_supported"},
        "bots": [bot("a", 1, byEngine={"chatgpt": 0, "gemini": 0})],
    }
    frame = read(answer)["probe_engines"]
    assert frame["answers_count"].tolist() == [0, pd.NA]
    by_engine = frame.aa.aggregate("engine", skip_missing=True).set_index("engine")
    assert by_engine["answers_count"].tolist() == [0, pd.NA]


def test_scope_options_never_change_a_number_and_reading_does_not_depend_on_the_order_of_calls(
    scripted: Any, reply: Any, project: aa.Project
) -> None:
    options = {
        "domain": HOST,
        "engines": [
            {"id": "chatgpt", "label": "A", "configured": True, "lastRunDay": "2026-11-20"},
            {"id": "gemini", "label": "B", "configured": True, "lastRunDay": None},
        ],
    }
    late = bot("b", 1, byEngine={"gemini": 2})
    answer = {"bots": [bot("a", 1, byEngine={"chatgpt": 0, "gemini": 0}), late]}
    scripted.script = lambda request: (
        reply(options) if request.path.endswith("scope-options") else reply(answer)
    )
    before = project.read("probe")
    with pytest.warns(errors.SchemaDriftWarning):
        read = project.scope_options()
    explicit = aa.normalize("probe", answer, options=read, profile=PROFILE)
    assert explicit.availability[["scope", "target", "rule"]].values.tolist() == [
        ["engine", "gemini", "options"]
    ]
    after = (project.read("probe"), project.read_all(sections=["probe"])["probe"], explicit)
    for tables in after:
        frame = tables["probe_engines"]
        assert frame["answers_count"].tolist() == [0, 0, 2]
        pd.testing.assert_frame_equal(frame, before["probe_engines"])
        assert frame.aa.availability.equals(before["probe_engines"].aa.availability)
    for tables in after[:2]:
        pd.testing.assert_frame_equal(tables.availability, before.availability)


@pytest.mark.parametrize(
    ("state", "requests"),
    [("partial", 0), ("low_sample", 0), ("pending", pd.NA), ("recalculating", pd.NA)],
)
@pytest.mark.filterwarnings("ignore::aatoolkit.errors.SchemaDriftWarning")
def test_what_is_thin_keeps_its_zeros_and_what_is_to_come_does_not(
    read: Read, state: str, requests: object
) -> None:
    tables = read({"dataStatus": state, "bots": [{"bot": "a", "requests": 0}]})
    assert tables.main["requests"].tolist() == [requests]
    tables = read({"dataStatus": state, "bots": [{"bot": "a", "requests": 6}]})
    assert tables.main["requests"].tolist() == [6]
    assert tables.main.aa.availability.loc["requests", "status"] == "partial"


# --- statuses that say why there is no answer -----------------------------------------------

STATUSES = json.loads(Path(__file__).with_name("reasons.json").read_bytes())


def body_of(case: dict[str, Any]) -> Any:
    return case["body"].encode() if isinstance(case["body"], str) else case["body"]


@pytest.mark.parametrize("case", STATUSES["reasons"], ids=lambda case: case["name"])
def test_a_reason_gives_empty_tables_with_it(read: Read, case: dict[str, Any]) -> None:
    tables = read(body_of(case), case["status"])
    cause = case["cause"]
    for name, frame in tables.items():
        assert len(frame) == 0
        availability = frame.aa.availability
        assert {*availability["status"]} == {case["word"]}
        assert [*availability["cause"].dropna().unique()] == ([cause] if cause else [])
        assert tables._format_status(name).startswith(("○ ", "– "))
    assert tables.main["requests"].dtype == "Int64"
    assert tables.main.aa.aggregate(columns="requests").loc[0, "requests"] is pd.NA
    assert len(tables.drift) == 0
    assert tables.payload is not None
    assert tables.payload.status == case["status"]
    with pytest.raises(errors.AvailabilityError):
        tables.main.aa.require("requests")


def test_a_pending_answer_with_numbers_is_partial(read: Read) -> None:
    tables = read({"bots": [bot("a", 3)]}, 202)
    assert tables.main["requests"].tolist() == [3]
    availability = tables.main.aa.availability.loc["requests"]
    assert availability[["status", "cause"]].tolist() == ["partial", "pending"]


@pytest.mark.parametrize("case", STATUSES["errors"], ids=lambda case: case["name"])
def test_an_error_is_never_an_empty_frame(
    scripted: Any, reply: Any, project: aa.Project, case: dict[str, Any]
) -> None:
    scripted.script = reply(body_of(case), case["status"], {"Retry-After": "0"})
    with pytest.raises(getattr(errors, case["error"])):
        project.read("probe")
    with pytest.raises(errors.AAToolkitError):
        project.scope_options()


def test_what_only_a_section_can_state_is_an_error_elsewhere(
    scripted: Any, reply: Any, project: aa.Project
) -> None:
    scripted.script = reply({"code": "plan_required"}, 403)
    for ask in (project.scope_options, project.combined):
        with pytest.raises(errors.NotVisible):
            ask()


# --- headers, rules, envelopes --------------------------------------------------------------


def test_a_declared_rule_wins_over_recognition() -> None:
    words = {"green": "available", "red": "not_connected"}
    rule = Rule("theirs", at="meta", status="light", words=words)
    read = partial(aa.normalize, Section("probe", "Synthetic.", *PROBE, availability=rule))
    with pytest.warns(errors.SchemaDriftWarning):
        tables = read({"meta": {"light": "green"}, "hasData": False, "bots": [bot("a", 0)]})
    assert tables.main["requests"].tolist() == [0]
    assert tables.main.aa.availability.loc["requests", "status"] == "available"
    tables = read({"meta": {"light": "red"}, "bots": [bot("a", 0)]})
    assert tables.main["requests"].isna().all()
    assert tables.availability.loc[0, ["rule", "evidence"]].tolist() == ["theirs", "$.meta"]


def test_what_was_not_understood_is_pointed_out(read: Read) -> None:
    with pytest.warns(errors.SchemaDriftWarning):
        tables = read({"observability": "blind", "bots": []})
    assert tables.hints.to_dict("records") == [
        {
            "path": "$.observability",
            "value": '"blind"',
            "why": "the response is empty, and this is beside it",
        }
    ]
    assert "1 hint (see .hints)" in repr(tables)
    assert "1 hint (see .hints)" in tables._repr_html_()


def test_a_fault_in_normalising_is_reported_with_the_answer(
    scripted: Any, reply: Any, project: aa.Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise TypeError("x")

    monkeypatch.setattr("aatoolkit.normalizer.normalize.is_error_response", broken)
    scripted.script = lambda request: reply({"bots": [bot("a", 1)]})
    with pytest.raises(errors.InternalError, match="a fault of aatoolkit") as caught:
        project.read("probe")
    assert caught.value.section == "probe"
    assert caught.value.payload.json == {"bots": [bot("a", 1)]}
    dataset = project.read_all(sections=["probe"])
    assert isinstance(dataset.errors["probe"], errors.InternalError)
