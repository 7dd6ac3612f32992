"""Statements of an answer reach the columns they are about, and no other."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import aatoolkit as aa
from aatoolkit import Availability, Cause, Column, Section, Status, Table
from aatoolkit.availability.detect import Signal
from aatoolkit.jsontree.paths import Field, Position, Step
from aatoolkit.normalizer.column_availability import (
    TableStatements,
    in_words,
    section_state,
    signal_table,
    target_steps,
)
from aatoolkit.sections import keyed, records

POINTS = Table(
    "points",
    "One row per day.",
    records("points"),
    key="date",
    columns=(
        Column("date", "string"),
        Column("visibility", "Float64"),
        Column("label", "string"),
    ),
)
KPIS = Table(
    "kpis",
    "One row per metric.",
    keyed("kpis", key="metric"),
    key="metric",
    columns=(Column("metric", "string"), Column("value", "Float64")),
)
NOT_CONNECTED = Availability(Status.UNAVAILABLE, Cause.NOT_CONNECTED)
AVAILABLE = Availability(Status.AVAILABLE)
MISSING = Availability(Status.UNAVAILABLE)


def signal(scope: str, target: str | None, state: Availability, rule: str = "test") -> Signal:
    return Signal(scope, target, state, None, None, "$", rule)


def state(
    table: Table, name: str, *signals: Signal, absent: bool = False, measured: bool = True
) -> Availability:
    arrays = {table.key[0]: pa.array(["a", "b"])}
    row = "kpis.{}" if table is KPIS else "points[{}]"

    def path(number: int) -> str:
        label = "ab"[number] if table is KPIS else number
        return f"$.{row.format(label)}.{name}"

    return (
        TableStatements(table, signals, arrays, 2)
        .describe(table[name], name, absent, measured, path)
        .availability
    )


# --- rows -----------------------------------------------------------------------------------


def test_a_statement_about_a_row_applies_to_its_table_only_and_never_to_the_key() -> None:
    row = signal("row", "points[0]", MISSING)
    whole = signal("section", None, AVAILABLE)
    assert state(POINTS, "date", whole, row) == AVAILABLE
    assert state(KPIS, "value", whole, row) == AVAILABLE
    assert state(POINTS, "visibility", whole, signal("row", "pointsOfSale[0]", MISSING)) == (
        AVAILABLE
    )


def test_a_statement_about_a_cell_applies_to_its_column_only() -> None:
    whole = signal("section", None, AVAILABLE)
    cell = signal("row", "points[0].visibility", MISSING)
    assert state(POINTS, "visibility", whole, cell).status == Status.PARTIAL
    assert state(POINTS, "label", whole, cell) == AVAILABLE


# --- fields ---------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["points[].visibility", "visibility", "points", "points[]"])
def test_a_field_is_named_by_its_path_by_what_encloses_it_or_by_its_bare_name(
    target: str,
) -> None:
    whole = signal("section", None, AVAILABLE)
    field = signal("field", target, NOT_CONNECTED)
    assert state(POINTS, "visibility", whole, field, measured=False) == NOT_CONNECTED


@pytest.mark.parametrize("target", ["points[].vis", "totals.visibility", "visi", "label", "[]"])
def test_another_field_is_no_statement(target: str) -> None:
    whole = signal("section", None, AVAILABLE)
    assert state(POINTS, "visibility", whole, signal("field", target, MISSING)) == AVAILABLE


def test_two_statements_on_one_field_are_joined() -> None:
    fields = [signal("field", "visibility", AVAILABLE), signal("field", "visibility", MISSING)]
    assert state(POINTS, "visibility", *fields).status == Status.PARTIAL


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("points[0].a", (Field("points"), Position(0), Field("a"))),
        ('$["a b"][1]', (Field("a b"), Position(1))),
        ("points[", (Field("points["),)),
        ("", ()),
    ],
)
def test_the_steps_of_a_target(target: str, expected: tuple[Step, ...]) -> None:
    assert target_steps(target) == expected


# --- the section ----------------------------------------------------------------------------


def test_the_transport_outweighs_a_statement() -> None:
    transport = signal("section", None, MISSING, "transport")
    stated = signal("section", None, AVAILABLE)
    assert section_state([stated, transport]) == MISSING
    assert section_state([stated]) == AVAILABLE
    assert section_state([signal("field", "a", MISSING)]) is None


def test_statements_of_one_weight_are_joined() -> None:
    partial = Availability(Status.PARTIAL, Cause.TRUNCATED)
    assert section_state(
        [signal("section", None, AVAILABLE), signal("section", None, partial)]
    ) == (partial)


def test_engines_that_scope_options_name_do_not_touch_what_was_measured() -> None:
    table = Table(
        "rates",
        "Rates.",
        keyed("rates", key="engine"),
        key="engine",
        columns=(Column("engine", "string"), Column("rate", "Float64", source=".")),
    )
    whole = signal("section", None, AVAILABLE)
    assert state(table, "rate", whole, signal("engine", "x", NOT_CONNECTED, "options")) == AVAILABLE


def test_an_absent_field_is_unknown_unless_the_section_was_not_measured() -> None:
    assert state(POINTS, "label", absent=True, measured=False).cause == Cause.ABSENT
    whole = signal("section", None, NOT_CONNECTED)
    assert state(POINTS, "label", whole, absent=True, measured=False) == NOT_CONNECTED


# --- end to end -----------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::aatoolkit.errors.SchemaDriftWarning")
def test_a_denied_row_makes_its_columns_partial_and_is_in_the_table() -> None:
    points: list[dict[str, Any]] = [
        {"date": "2026-11-19", "visibility": 0, "label": None, "hasData": False},
        {"date": "2026-11-20", "visibility": 0.4, "label": None, "hasData": True},
    ]
    tables = aa.normalize(Section("mine", "Points.", POINTS), {"points": points})
    assert tables.main.aa.availability.loc["visibility", "status"] == "partial"
    availability = tables.availability
    assert availability["scope"].tolist() == ["row", "row"]
    assert availability["target"].tolist() == ["points[0]", "points[1]"]
    assert availability["evidence"].tolist() == ["$.points[0].hasData", "$.points[1].hasData"]
    assert availability["raw"].tolist() == ["false", "true"]
    assert availability["rule"].tolist() == ["row flag", "row flag"]


def test_without_statements_the_table_is_unknown() -> None:
    (row,) = signal_table([]).to_dict("records")
    assert (row["scope"], row["status"], row["rule"]) == ("section", "unknown", "nothing found")
    assert pd.isna(row["raw"])


def test_the_words_of_a_table_are_the_sections_while_they_agree() -> None:
    known = aa.normalize(Section("mine", "Points.", POINTS), {"points": []})
    assert known._words == {"points": "unknown"}
    from carried import metadata_of

    state = Availability(Status.UNKNOWN, None, "Nobody knows.")
    assert in_words(metadata_of(known.main), [signal("section", None, state)]) == (
        "unknown: Nobody knows."
    )
