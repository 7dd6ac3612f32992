"""Statements about some rows, from the answer to the frame that was filtered."""

from __future__ import annotations

from typing import Any

import pytest
from carried import metadata_of

import aatoolkit as aa
from aatoolkit import Section, Table
from aatoolkit.sections import SUM, date, integer, number, records, single, text, words

pytestmark = pytest.mark.filterwarnings("ignore::aatoolkit.errors.SchemaDriftWarning")

SECTION = Section(
    "probe",
    "Synthetic.",
    Table(
        "probe_days",
        "One row per day and engine.",
        records("days"),
        ("date", "engine"),
        (
            date("date"),
            text("engine"),
            integer("visits", aggregate=SUM),
            text("label"),
        ),
    ),
    Table(
        "probe_totals",
        "One row.",
        single("totals"),
        (),
        (integer("visits", aggregate=SUM), text("name")),
    ),
    Table(
        "probe_pages",
        "One row per page.",
        records("pages"),
        "path",
        (text("path"), integer("visits", aggregate=SUM)),
    ),
)


def read(**more: Any) -> aa.Tables:
    days = [
        {"date": f"2026-11-{day}", "engine": engine, "visits": visits, "label": "x"}
        for day in (18, 19, 20)
        for engine, visits in (("chatgpt", day), ("gemini", None))
    ]
    body = {"days": days, "totals": {"visits": 57, "name": "all"}, "pages": []}
    return aa.normalize(SECTION, {"hasData": True, **body, **more})


def status(frame: Any, column: str = "visits") -> str:
    return str(frame.aa.availability.loc[column, "status"])


def test_an_engine_concerns_its_rows_whatever_the_column_of_engines_is_called() -> None:
    columns = (text("assistant"), integer("visits", aggregate=SUM))
    table = Table("t", "One row per assistant.", records("rows"), "assistant", columns)
    rows = [{"assistant": "kea", "visits": 3}, {"assistant": "moa", "visits": None}]
    body = {"hasData": True, "enginesWithoutData": ["moa"], "rows": rows}
    frame = aa.normalize(Section("probe", "Synthetic.", table), body).main
    totals = frame.aa.aggregate("assistant", "visits", status=True)
    assert totals["visits_availability"].tolist() == ["available", "unavailable"]


def test_an_engine_concerns_its_rows_and_a_table_without_engines_as_a_whole() -> None:
    tables = read(enginesWithoutData=["gemini"])
    days = tables["probe_days"]
    assert status(days) == "partial"
    assert status(days[days["engine"] == "chatgpt"]) == "available"
    assert status(days[days["engine"] == "gemini"]) == "unavailable"
    assert status(tables["probe_totals"]) == "partial"
    assert tables["probe_totals"].aa.availability.loc["visits", "reason"].startswith("gemini: ")
    assert status(tables["probe_totals"], "name") == "available"
    assert tables["probe_totals"]["visits"].tolist() == [57]
    assert "engine = gemini" in [*tables.availability["rows"].dropna()]


def test_an_engine_without_rows_concerns_no_row() -> None:
    tables = read(enginesWithoutData=["grok"])
    assert status(tables["probe_days"]) == "available"
    assert status(tables["probe_totals"]) == "partial"


def test_complete_up_to_a_day_concerns_later_days() -> None:
    tables = read(dataThrough="2026-11-19", window={"from": "2026-11-18", "to": "2026-11-20"})
    days = tables["probe_days"]
    assert "date > 2026-11-19" in [*tables.availability["rows"].dropna()]
    assert status(days) == "partial"
    assert status(days[days["date"] <= "2026-11-19"]) == "available"
    late = days[days["date"] > "2026-11-19"].aa.availability.loc["visits"]
    assert late[["status", "cause"]].tolist() == ["partial", "pending"]
    assert status(tables["probe_totals"]) == "partial"


def test_data_that_are_complete_to_the_end_of_the_window_are_available() -> None:
    tables = read(dataThrough="2026-11-20", window={"from": "2026-11-18", "to": "2026-11-20"})
    assert status(tables["probe_days"]) == status(tables["probe_totals"]) == "available"


def test_rows_are_named_by_their_key() -> None:
    pages = [{"path": "/a", "visits": 0, "noData": True}, {"path": "/b", "visits": 3}]
    frame = read(pages=pages)["probe_pages"]
    (statement,) = metadata_of(frame).columns["visits"].statements
    assert list(map(str, statement.rows)) == ["path = /a"]
    assert frame["visits"].isna().tolist() == [True, False]
    assert status(frame) == "partial"
    assert status(frame[frame["path"] == "/b"]) == "available"
    assert status(frame[frame["path"] == "/a"]) == "unavailable"


def test_rows_that_one_column_of_the_key_picks_are_named_by_it_and_others_by_the_whole() -> None:
    rows = [
        {"date": day, "engine": engine, "visits": None if lacks else 1, "noData": lacks}
        for day, engine, lacks in (
            ("2026-11-18", "a", True),
            ("2026-11-18", "b", True),
            ("2026-11-19", "a", False),
            ("2026-11-19", "b", False),
        )
    ]
    frame = read(days=rows)["probe_days"]
    concerned = {str(c) for s in metadata_of(frame).columns["visits"].statements for c in s.rows}
    assert "date = 2026-11-18" in concerned
    assert status(frame[frame["date"] > "2026-11-18"]) == "available"
    rows[3] = {**rows[3], "visits": None, "noData": True}
    frame = read(days=rows)["probe_days"]
    assert status(frame[(frame["date"] == "2026-11-19") & (frame["engine"] == "a")]) == "available"
    assert status(frame[(frame["date"] == "2026-11-19") & (frame["engine"] == "b")]) == (
        "unavailable"
    )


def test_rows_that_no_key_picks_make_the_column_partial() -> None:
    pages = [{"path": "/a", "visits": 0, "noData": True}, {"path": "/a", "visits": 3}]
    with pytest.warns(aa.errors.SchemaDriftWarning):
        frame = read(pages=pages)["probe_pages"]
    assert metadata_of(frame).columns["visits"].statements == ()
    assert status(frame) == "partial"


def test_a_row_of_several_engines_is_partial_where_the_answer_denies_one() -> None:
    columns = (text("path"), words("engine"), integer("n"))
    pages = Table("pages", "One row per page.", records("pages"), "path", columns)
    rows = [{"path": "/a", "engine": ["chatgpt", "gemini"], "n": 3}]
    stated = {"engines": {"gemini": {"status": "not_connected"}, "chatgpt": "ok"}}
    answer = {"pages": rows, "availability": stated}
    frame = aa.normalize(Section("mine", "Pages.", pages), answer).main
    assert frame["n"].tolist() == [3]
    assert status(frame, "n") == "partial"


def test_a_denied_row_makes_its_columns_partial_and_is_in_the_table() -> None:
    points: list[dict[str, Any]] = [
        {"date": "2026-11-19", "visibility": 0, "label": None, "hasData": False},
        {"date": "2026-11-20", "visibility": 0.4, "label": None, "hasData": True},
    ]
    columns = (
        text("date"),
        number("visibility"),
        text("label"),
    )
    table = Table("points", "One row per day.", records("points"), "date", columns)
    tables = aa.normalize(Section("mine", "Points.", table), {"points": points})
    assert tables.main.aa.availability.loc["visibility", "status"] == "partial"
    availability = tables.availability
    assert availability["scope"].tolist() == ["row", "row"]
    assert availability["target"].tolist() == ["points[0]", "points[1]"]
    assert availability["evidence"].tolist() == ["$.points[0].hasData", "$.points[1].hasData"]
    assert availability["raw"].tolist() == ["false", "true"]
    assert availability["rule"].tolist() == ["row flag", "row flag"]
