"""Declarations: the path language, where columns are, and what is refused."""

from __future__ import annotations

import pytest

from aatoolkit import Column, Section, Table
from aatoolkit._util.dtypes import DTYPES
from aatoolkit.jsontree.paths import format_path, parse_pattern
from aatoolkit.sections import Rows, integer, keyed, pairs, records, single, text
from aatoolkit.sections.column import SHORT_FORM_BY_DTYPE_AND_UNIT

TABLE = Table("t", "One row.", records("t"), "brand", (text("brand"),))


@pytest.mark.parametrize("text", ["a[0]", "a{", "a}", "a.", "a.[]", "a.{}"])
def test_what_is_no_path_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a path"):
        parse_pattern(text)


def test_keys_that_an_object_is_limited_to_are_left_out_of_the_text() -> None:
    assert format_path(parse_pattern("evidence{urls,prompts}[]")) == "evidence{}[]"


@pytest.mark.parametrize(
    ("rows", "path", "labels"),
    [
        (records("domains"), "domains[]", ()),
        (records("domains[]"), "domains[]", ()),
        (records("a[].b{x,y}[]", key="kind"), "a[].b{}[]", ("kind",)),
        (keyed("kpis", key="metric"), "kpis{}", ("metric",)),
        (keyed("p[].a", key=("engine", "what")), "p[].a{}{}", ("engine", "what")),
        (records("s.r{}", key="bot"), "s.r{}[]", ("bot",)),
        (records("m.v[][]"), "m.v[][]", ()),
        (pairs("terms", "term", "n"), "terms[]", ()),
        (single(), "", ()),
        (single("gateway"), "gateway", ()),
    ],
)
def test_the_shapes_of_rows(rows: Rows, path: str, labels: tuple[str, ...]) -> None:
    assert (rows.path, rows.labels) == (path, labels)
    assert rows.one == (path in ("", "gateway"))


def sole_column(rows: Rows, column: Column) -> Column:
    return Table("t", "One row.", rows, key=column.name, columns=(column,)).columns[0]


@pytest.mark.parametrize(
    ("rows", "name", "source", "pattern"),
    [
        (records("domains"), "citation_count", None, "domains[].citationCount"),
        (records("domains"), "x", "answer.text", "domains[].answer.text"),
        (records("domains"), "x", ".", "domains[]"),
        (records("domains"), "x", "#1", "domains[]"),
        (records("domains"), "x", "$.window.days", "window.days"),
        (records("domains"), "x", "$window", "window"),
        (records("chats[].mentions"), "x", "^chatId", "chats[].chatId"),
        (keyed("domains[].byEngine", key="engine"), "x", "^domain", "domains[].domain"),
        (keyed("a[].b[].c", key="k"), "x", "^^id", "a[].id"),
        (keyed("domains[].byEngine", key="engine"), "engine", None, "domains[].byEngine{}"),
        (keyed("domains[].byEngine", key="engine"), "n", ".", "domains[].byEngine{}"),
        (pairs("terms", "term", "n"), "n", None, "terms[][]"),
        (single("gateway"), "x", "cname.state", "gateway.cname.state"),
    ],
)
def test_where_a_column_is(rows: Rows, name: str, source: str | None, pattern: str) -> None:
    assert sole_column(rows, Column(name, "string", source=source)).pattern == pattern


def test_a_table_fills_in_what_its_columns_leave_open() -> None:
    assert TABLE.key == ("brand",)
    assert TABLE["brand"].aggregate.rule == "key"
    assert TABLE.names == ("brand",)
    with pytest.raises(KeyError):
        TABLE["gone"]


def test_a_rule_may_be_its_name() -> None:
    assert Column("n", "Int64", aggregate="sum").aggregate.rule == "sum"  # type: ignore[arg-type]


def test_a_dtype_that_is_not_known_is_refused() -> None:
    with pytest.raises(ValueError, match="dtype 'int64' is not one of string, Int64"):
        Column("n", "int64")


@pytest.mark.parametrize(
    ("key", "columns"),
    [
        ("brand", (text("engine"),)),
        ("brand", (text("brand"), integer("brand"))),
    ],
)
def test_a_key_or_columns_that_do_not_fit_are_refused(
    key: str, columns: tuple[Column, ...]
) -> None:
    with pytest.raises(ValueError, match=r"table 't': key or columns do not fit: \['brand'\]"):
        Table("t", "One row.", records("t"), key, columns)


def test_rows_that_nothing_encloses_are_refused() -> None:
    with pytest.raises(ValueError, match="no record encloses 'domains"):
        sole_column(records("domains"), Column("x", "string", source="^domain"))
    with pytest.raises(ValueError, match="no record encloses 'domains"):
        sole_column(records("domains").where(only={"^n": (3,)}), Column("x", "string"))


def test_a_section_needs_tables_of_different_names() -> None:
    with pytest.raises(ValueError, match="section 's' has no table"):
        Section("s", "Nothing.")
    with pytest.raises(ValueError, match="two tables of one name"):
        Section("s", "Twice.", TABLE, TABLE)


def test_each_dtype_has_a_short_form_which_drafts_are_written_in() -> None:
    assert {dtype for dtype, unit in SHORT_FORM_BY_DTYPE_AND_UNIT if unit is None} == {*DTYPES} - {
        "category"
    }


def test_a_section_is_its_tables() -> None:
    section = Section("s", "Some.", TABLE, kept=("sampling",))
    assert section["t"] is TABLE
    assert [*section] == [TABLE]
    assert section.kept == ("sampling",)
    with pytest.raises(KeyError):
        section["gone"]
