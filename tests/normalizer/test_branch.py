"""Row shapes beyond lists of records: wrappers, grids, charts, arrays side by side, filters."""

from __future__ import annotations

import json
import warnings
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import aatoolkit as aa
from aatoolkit.normalizer.tables import Tables
from aatoolkit.sections import (
    Column,
    Rows,
    Section,
    Table,
    chart,
    columnar,
    grid,
    keyed,
    records,
    single,
)

DAY = Column("day", "string")
ANSWERS = Column("answers", "Int64")


def read(rows: Rows, *columns: Column, answer: Any, more: tuple[Table, ...] = ()) -> Tables:
    table = Table("t", "One row per row.", rows, (), columns)
    tables = aa.normalize(Section("mine", "Rows.", table, *more), answer, strict=True)
    assert tables.rebuild() == answer
    return tables


def cells(tables: Tables, name: str = "t") -> list[list[Any]]:
    frame = tables[name].astype(object)
    return frame.where(frame.notna(), None).to_numpy().tolist()


def test_rows_that_are_values_keep_them_beside_columns_of_objects() -> None:
    engine = Column("engine", "string", source=".")
    assert cells(read(records("engines"), engine, ANSWERS, answer={"engines": ["a", "b"]})) == [
        ["a", None],
        ["b", None],
    ]
    counts = keyed("counts", key="k")
    found = read(counts, Column("n", "Int64", source="."), ANSWERS, answer={"counts": {"a": 3}})
    assert cells(found) == [[3, None]]


def test_records_in_a_wrapper_are_rows_and_the_wrapper_is_around_them() -> None:
    answer = {"edges": [{"cursor": "x", "node": {"day": "a", "answers": 1}}, {"cursor": "y"}]}
    tables = read(
        records("edges", inside="node"),
        DAY,
        ANSWERS,
        Column("cursor", "string", source="^cursor"),
        answer={"edges": answer["edges"][:1]},
    )
    assert cells(tables) == [["a", 1, "x"]]


def test_attributes_are_a_wrapper_with_children() -> None:
    answer = {
        "data": [
            {"id": "p1", "attributes": {"day": "a", "engines": [{"engine": "x", "answers": 1}]}},
            {"id": "p2", "attributes": {"day": "b", "engines": []}},
        ]
    }
    children = Table(
        "children",
        "One row per engine.",
        records("data[].attributes.engines"),
        ("id", "engine"),
        (
            Column("id", "string", source="^id"),
            Column("engine", "string"),
            ANSWERS,
        ),
    )
    tables = read(
        records("data", inside="attributes"),
        Column("id", "string", source="^id"),
        DAY,
        answer=answer,
        more=(children,),
    )
    assert cells(tables) == [["p1", "a"], ["p2", "b"]]
    assert cells(tables, "children") == [["p1", "x", 1]]


@pytest.mark.parametrize("header", ["columns", "columns[].name"])
def test_a_grid_is_read_by_its_header_in_whatever_order(header: str) -> None:
    for order in (["day", "Answers"], ["Answers", "day"]):
        row = {"day": "a", "Answers": 1}
        names: list[Any] = [*order]
        if "[]" in header:
            names = [{"name": name, "type": "x"} for name in order]
        answer = {"columns": names, "rows": [[row[name] for name in order], [None, None]]}
        source = Column("answers", "Int64", source="[Answers]")
        tables = read(grid("rows", header=header), DAY, source, answer=answer)
        assert cells(tables) == [["a", 1], [None, None]]


def test_a_grid_names_what_is_new_and_what_is_absent() -> None:
    answer = {"columns": ["day", "extra"], "rows": [["a", 5], ["b", 6]]}
    table = Table("t", "Rows.", grid("rows", header="columns"), "day", (DAY, ANSWERS))
    with pytest.warns(aa.errors.SchemaDriftWarning):
        tables = aa.normalize(Section("mine", "Rows.", table), answer)
    assert tables.main["answers"].isna().all()
    drift = {(kind, path) for kind, path in tables.drift[["kind", "path"]].to_numpy().tolist()}
    assert drift == {("absent", "rows[][]"), ("new", "rows[][]")}
    assert tables.rebuild() == answer


def test_a_chart_is_one_row_for_each_value() -> None:
    answer = {
        "labels": ["mon", "tue"],
        "series": [{"name": "x", "data": [1, 2]}, {"name": "y", "data": [3]}],
    }
    tables = read(
        chart("series[].data", axis="labels", name="day"),
        DAY,
        Column("engine", "string", source="^name"),
        Column("answers", "Int64", source="."),
        answer=answer,
    )
    assert cells(tables) == [["mon", "x", 1], ["tue", "x", 2], ["mon", "y", 3]]


def test_each_of_several_charts_has_an_axis_of_its_own() -> None:
    answer = {
        "panels": [
            {"id": "p", "axis": ["mon", "tue"], "series": [{"data": [1, 2]}, {"data": [3, 4]}]},
            {"id": "q", "axis": ["wed", "unused"], "series": [{"data": [5]}]},
            {"id": "r", "axis": [], "series": [{"data": [6]}]},
        ]
    }
    tables = read(
        chart("panels[].series[].data", axis="panels[].axis", name="day"),
        Column("panel", "string", source="^^id"),
        DAY,
        Column("answers", "Int64", source="."),
        answer=answer,
    )
    assert cells(tables) == [
        ["p", "mon", 1],
        ["p", "tue", 2],
        ["p", "mon", 3],
        ["p", "tue", 4],
        ["q", "wed", 5],
        ["r", None, 6],
    ]


def test_arrays_side_by_side_are_columns() -> None:
    answer = {"trend": {"days": ["mon", "tue", "wed"], "answers": [1, 2], "cited": [7, 8, 9, 10]}}
    tables = read(
        columnar("trend", axis="days"),
        Column("day", "string", source="."),
        ANSWERS,
        Column("cited", "Int64", source="&cited"),
        answer=answer,
    )
    assert cells(tables) == [["mon", 1, 7], ["tue", 2, 8], ["wed", None, 9]]
    assert tables.extra[["path", "value"]].to_numpy().tolist() == [["$.trend.cited[3]", "10"]]


def test_each_of_several_objects_of_arrays_is_by_itself() -> None:
    answer = {"p": [{"id": "x", "t": ["a"], "n": [1]}, {"id": "y", "t": ["b", "c"], "n": [2, 3]}]}
    tables = read(
        columnar("p[]", axis="t"),
        Column("id", "string", source="^id"),
        Column("t", "string", source="."),
        Column("n", "Int64"),
        answer=answer,
    )
    assert cells(tables) == [["x", "a", 1], ["y", "b", 2], ["y", "c", 3]]


def test_totals_are_left_out_and_kept() -> None:
    rows = [
        {"day": "mon", "answers": 1, "by": {"x": 1}},
        {"day": "tue", "answers": 2, "by": {"x": 2}},
        {"day": "Total", "answers": 3, "by": {"x": 3}},
        {"answers": 3},
    ]
    without = records("rows").where(without={"day": ("Total", None)})
    by = Table(
        "by",
        "One row per day and engine.",
        keyed("rows[].by", key="engine").where(without={"^day": ("Total",)}),
        ("day", "engine"),
        (
            Column("day", "string", source="^day"),
            Column("engine", "string"),
            Column("answers", "Int64", source="."),
        ),
    )
    tables = read(without, DAY, ANSWERS, answer={"rows": rows}, more=(by,))
    assert cells(tables) == [["mon", 1], ["tue", 2]]
    assert cells(tables, "by") == [["mon", "x", 1], ["tue", "x", 2]]
    left = tables.extra[tables.extra["why"] == "left out"]
    assert dict(zip(left["path"], left["value"], strict=True)) == {
        "$.rows[2].day": '"Total"',
        "$.rows[2].answers": "3",
        "$.rows[2].by.x": "3",
        "$.rows[3].answers": "3",
    }


def test_totals_may_be_a_table_of_their_own() -> None:
    rows = [{"day": "mon", "answers": 1}, {"day": "Total", "answers": 1}]
    totals = Table(
        "totals",
        "One row for each total.",
        records("rows").where(only={"day": ("Total",)}),
        (),
        (DAY, ANSWERS),
    )
    without = records("rows").where(without={"day": ("Total",)})
    tables = read(without, DAY, ANSWERS, answer={"rows": rows}, more=(totals,))
    assert cells(tables, "totals") == [["Total", 1]]
    assert not len(tables.extra)


def test_a_key_of_a_map_may_be_left_out() -> None:
    rows = keyed("by", key="engine").where(without={"@0": ("all",)})
    engine = Column("engine", "string")
    answer = {"by": {"x": 1, "y": 2, "all": 3}}
    tables = read(rows, engine, Column("answers", "Int64", source="."), answer=answer)
    assert cells(tables) == [["x", 1], ["y", 2]]


def test_flags_and_numbers_choose_rows_too() -> None:
    rows = [{"day": "a", "total": True}, {"day": "b", "total": False}, {"day": "c", "total": 1}]
    table = records("rows").where(without={"total": (True,)})
    flag = Column("total", "boolean", missing=(1,))
    assert cells(read(table, DAY, flag, answer={"rows": rows})) == [["b", False], ["c", None]]


def test_one_row_is_not_filtered_and_values_are_tuples() -> None:
    with pytest.raises(ValueError, match="not filtered"):
        single().where(without={"a": ("x",)})
    with pytest.raises(ValueError, match="tuple"):
        records("a").where(without={"a": "x"})  # type: ignore[dict-item]
    with pytest.raises(ValueError, match="columnar"):
        Table("t", "Rows.", records("a"), (), (Column("n", "Int64", source="&n"),))


_leaf = st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from(["a", "T", ""]))
_any = st.one_of(_leaf, st.lists(_leaf, max_size=3), st.dictionaries(st.sampled_from("ab"), _leaf))
_row = st.dictionaries(st.sampled_from(["a", "b", "node", "name", "data"]), _any, max_size=4)
_answer = st.fixed_dictionaries(
    {},
    optional={
        "columns": st.one_of(_any, st.lists(st.sampled_from(["a", "b", "c"]), max_size=4)),
        "rows": st.lists(st.one_of(_any, st.lists(_any, max_size=4), _row), max_size=4),
        "edges": st.lists(st.one_of(_any, _row), max_size=4),
        "series": st.lists(st.one_of(_any, _row), max_size=3),
        "labels": _any,
        "trend": st.one_of(_any, _row),
        "by": st.dictionaries(st.sampled_from(["x", "y", "T"]), _any, max_size=3),
    },
)
_SHAPES = Section(
    "mine",
    "Every shape.",
    Table(
        "g",
        "Grid.",
        grid("rows", header="columns").where(without={"[a]": ("T", None)}),
        (),
        (Column("a", "string"), Column("b", "Int64")),
    ),
    Table(
        "e",
        "Edges.",
        records("edges", inside="node").where(without={"a": ("T", 1)}),
        (),
        (Column("a", "string"), Column("b", "string", source="^b")),
    ),
    Table(
        "s",
        "Series.",
        chart("series[].data", axis="labels", name="label"),
        (),
        (
            Column("label", "string"),
            Column("name", "string", source="^name"),
            Column("value", "Int64", source=".", missing=(0,)),
        ),
    ),
    Table(
        "c",
        "Arrays.",
        columnar("trend", axis="a"),
        (),
        (Column("a", "string", source="."), Column("b", "Int64")),
    ),
    Table(
        "k",
        "Map.",
        keyed("by", key="engine").where(without={"@0": ("T",)}),
        (),
        (Column("engine", "string"), Column("n", "Int64", source=".")),
    ),
)


@given(_answer)
def test_a_document_of_any_shape_is_rebuilt(answer: Any) -> None:
    with warnings.catch_warnings(action="ignore"):
        tables = aa.normalize(_SHAPES, answer)
    assert json.dumps(tables.rebuild(), sort_keys=True) == json.dumps(answer, sort_keys=True)
