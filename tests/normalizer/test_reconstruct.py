"""Rebuild the answer from its tables, what no column took, and the provenance."""

from __future__ import annotations

import gc
import json
import warnings
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from effort import one_in

import aatoolkit as aa
from aatoolkit import sections
from aatoolkit.errors import PayloadError, SchemaDriftWarning
from aatoolkit.frame.parquet import write_tables
from aatoolkit.normalizer.provenance import rebuild
from aatoolkit.sections import Column, Rows, Section, Table, keyed, records

SAMPLES = Path(__file__).parents[2] / "data" / "samples"

THINGS = aa.Section(
    "things",
    "Synthetic.",
    aa.Table(
        "things",
        "One row per thing.",
        records("things"),
        key="name",
        columns=(
            aa.Column("name", "string"),
            aa.Column("count", "Int64"),
            aa.Column("score", "Float64"),
            aa.Column("seen_at", "timestamp"),
            aa.Column("day", "date"),
            aa.Column("kind", "category", levels=("a", "b")),
            aa.Column("topic", "string", null="(all)"),
            aa.Column("words", "list<string>"),
            aa.Column("own", "boolean", source="detail.own"),
        ),
    ),
    aa.Table(
        "thing_days",
        "One row per thing and day.",
        keyed("things[].byDay", key="day"),
        key=("name", "day"),
        columns=(
            aa.Column("name", "string", source="^name"),
            aa.Column("day", "date"),
            aa.Column("n", "Int64", source="."),
        ),
    ),
)


def read(answer: Any, section: aa.Section = THINGS, **options: Any) -> aa.Tables:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SchemaDriftWarning)
        return aa.normalize(section, answer, **options)


def text(value: Any) -> str:
    """A JSON value as text that tells 1 from 1.0 and true, whatever the order of keys."""
    return json.dumps(value, sort_keys=True)


@pytest.mark.parametrize(
    "fields",
    one_in(
        3,
        [
            {},
            {"count": None},
            {"count": 5.0},
            {"count": -0.0},
            {"score": 5},
            {"score": 2**53 + 1},
            {"score": -0.0},
            {"seenAt": "2026-11-20T06:10:00Z"},
            {"seenAt": "2026-11-20T06:10:00.000Z"},
            {"seenAt": "2026-11-20 06:10+01:30"},
            {"seenAt": "2026-11-20T06:10:00.12-0500"},
            {"seenAt": "2026-11-20T06:10:00"},
            {"seenAt": "0001-01-01T00:00:00Z"},
            {"day": "2026-11-20"},
            {"day": "20 November"},
            {"kind": "c"},
            {"topic": None},
            {"topic": "(all)"},
            {"words": []},
            {"words": ["a", None]},
            {"words": ["a", 1]},
            {"words": None},
            {"detail": {}},
            {"detail": None},
            {"detail": {"own": None}},
            {"detail": {"own": {"deep": [[], {}]}}},
            {"detail": [{"own": True}]},
            {"byDay": {}},
            {"byDay": {"2026-11-20": 1, "x": None, "": [1]}},
            {"byDay": [1, 2]},
        ],
    ),
)
def test_whatever_a_field_holds_comes_back_beside_others_that_differ(fields: Any) -> None:
    usual = {
        "name": "u",
        "count": 1,
        "score": 0.5,
        "seenAt": "2026-11-20T06:10:00Z",
        "day": "2026-11-20",
        "kind": "a",
        "topic": "t",
        "words": ["w"],
        "detail": {"own": True},
        "byDay": {"2026-11-19": 3},
    }
    for listed in ([{"name": "x", **fields}], [usual, {"name": "x", **fields}, usual, None]):
        answer = {"things": listed}
        assert text(read(answer).rebuild()) == text(answer)
        assert text(read(answer, dtype_backend="pyarrow").rebuild()) == text(answer)


def test_an_array_in_the_place_of_a_value_comes_back_whatever_else_is_claimed_of_it() -> None:
    section = Section(
        "both",
        "One array that one table takes for rows and another for a value.",
        Table(
            "rows",
            "One row an element.",
            records("all"),
            (),
            (Column("n", "string", missing=("n/a",)),),
        ),
        Table("value", "One row an answer.", Rows((), one=True), (), (Column("all", "timestamp"),)),
    )
    answer = {"all": [{"id": 0, "n": None}, {"id": 0, "n": "n/a"}, {"id": 1, "n": "a"}]}
    with pytest.warns(SchemaDriftWarning, match="wrong type"):
        assert text(aa.normalize(section, answer).rebuild()) == text(answer)


def test_what_is_changed_in_a_frame_is_changed_in_the_answer() -> None:
    tables = read(
        {"things": [{"name": "x", "seenAt": "2026-11-20T06:10Z", "count": 1.0, "new": 1}]}
    )
    tables.main.loc[0, "name"] = "y"
    tables.main.loc[0, "seen_at"] = pd.Timestamp("2026-11-21T00:00:30Z")
    tables.main.loc[0, "count"] = 7
    tables.extra.loc[0, "value"] = "[2]"
    assert text(tables.rebuild()) == text(
        {
            "things": [
                {"name": "y", "seenAt": "2026-11-21T00:00:30.000000Z", "count": 7.0, "new": [2]}
            ]
        }
    )


def test_a_placement_holds_no_value_that_a_column_took() -> None:
    tables = read({"things": [{"name": "a name", "count": 4711, "words": ["a word"]}]})
    held = [table.to_pylist() for table in tables._provenance.values()]
    assert "a name" not in repr(held)
    assert "a word" not in repr(held)
    assert "4711" not in repr(held)


def test_a_frame_that_lost_rows_or_columns_is_refused() -> None:
    answer = {"things": [{"name": "x", "count": 1}, {"name": "y", "count": 2}]}
    tables = read(answer)
    short = {**tables, "things": tables.main.iloc[:1]}
    with pytest.raises(PayloadError):
        rebuild(short, tables.extra, tables._provenance)
    narrow = {**tables, "things": tables.main.drop(columns="count")}
    with pytest.raises(PayloadError, match="column count of the table things is missing"):
        rebuild(narrow, tables.extra, tables._provenance)


def test_cells_and_labels_of_a_matrix_come_back() -> None:
    cells = aa.Table(
        "cells",
        "One row per cell.",
        records("m.values[][]"),
        key=("brand", "engine"),
        columns=(
            aa.Column("brand", "string", source="$.m.brands[@0]"),
            aa.Column("engine", "string", source="$.m.engines[@1]"),
            aa.Column("rate", "Float64", source="."),
        ),
    )
    section = aa.Section("m", "Synthetic.", cells)
    grids: list[Any] = [[[0.1, None], [1, 0.5]], [[0.1]], [[1.5, 2, 3], []], [5, None, {}]]
    for values in grids:
        answer = {"m": {"brands": ["A", "B"], "engines": ["x", None], "values": values}}
        assert text(read(answer, section).rebuild()) == text(answer)


@pytest.mark.parametrize("name", one_in(3, sections.all()))
def test_a_sample_comes_back_from_parquet(name: str, tmp_path: Path) -> None:
    answer = json.loads((SAMPLES / f"{name}.json").read_text("utf-8"))
    tables = aa.normalize(name, answer)
    list(write_tables(tables, tmp_path))
    assert text(aa.rebuild(tmp_path / name)) == text(answer) == text(aa.rebuild(tables))


@pytest.mark.parametrize(
    "answer", [{"error": {"code": 503}}, {"error": "x"}, [{"error": "x"}], [[]], {}, [], {"a": {}}]
)
def test_an_answer_that_is_no_data_comes_back_too(answer: Any) -> None:
    for status in (200, 202, 404, 503):
        payload = aa.Payload(
            json.dumps(answer).encode(),
            url="https://api.example/agent",
            status=status,
            fetched_at=datetime(2026, 11, 20, tzinfo=UTC),
        )
        assert text(read(payload).rebuild()) == text(answer)


def test_a_folder_that_holds_no_tables_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PayloadError, match="holds no tables"):
        aa.rebuild(tmp_path)


def test_a_placement_is_arrow_tables() -> None:
    tables = read({"things": []})
    assert all(isinstance(table, pa.Table) for table in tables._provenance.values())
    assert tables.rebuild() == {"things": []}


def test_an_answer_is_freed_without_the_garbage_collector() -> None:
    def use(section: str) -> None:
        tables = aa.normalize(section, (SAMPLES / f"{section}.json").read_bytes())
        assert [tables[name] for name in tables]
        assert [tables.extra, tables.drift, tables.availability, tables._provenance]

    for section in sections.all():
        use(section)
    gc.collect()
    # What the process holds already is not looked at again: that alone takes a second.
    gc.freeze()
    gc.disable()
    try:
        for section in sections.all():
            use(section)
            assert gc.collect() == 0, f"{section}: reference cycles hold data until collected"
    finally:
        gc.enable()


@pytest.mark.filterwarnings("ignore::aatoolkit.errors.SchemaDriftWarning")
def test_a_long_answer_is_read_again_for_what_its_tables_do_not_hold() -> None:
    things = [{"name": f"t{n}", "count": n, "new": [n]} for n in range(12_000)]
    tables = read(json.dumps({"things": things}).encode())
    assert tables.rebuild() == {"things": things}
    assert tables.extra["path"].iloc[-1] == "$.things[11999].new[0]"
    assert tables.explain("$.things[11999].count").value == "11999"


def test_objects_whose_keys_are_rows_come_back_beside_others_that_only_look_like_them() -> None:
    members = {f"Field{number}": {"shape": f"Shape{number}"} for number in range(9)}
    shapes = {f"Shape{n}": {"type": "s", "members": members} for n in range(9)}
    table = aa.Table(
        "members",
        "One row per member.",
        keyed("shapes.Shape0.members", key="member"),
        key="member",
        columns=(aa.Column("member", "string"), aa.Column("shape", "string")),
    )
    names = [
        f"shapes.{name}.members.{member}.shape" for name in [*shapes][1:] for member in members
    ]
    facts = aa.Table(
        "facts",
        "One row.",
        aa.sections.single(),
        key=(),
        columns=tuple(aa.Column(f"c{n}", "string", source=name) for n, name in enumerate(names)),
    )
    answer = {"shapes": shapes}
    section = aa.Section("m", "Synthetic.", table, facts, kept=("shapes.Shape0.type",))
    assert text(read(answer, section).rebuild()) == text(answer)
