"""The declarations against the contract's lists of tables and columns.

A section is found by looking, so a new one is tested as soon as its module is there; the
contract says nothing of it, so it is held to what any declaration must be.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from aatoolkit import sections
from aatoolkit.errors import ScopeError
from aatoolkit.sections import Aggregation, Column, Section, Table

HERE = Path(__file__).parent
SECTIONS = sections.all()

Row = dict[str, str]


def contract(name: str) -> list[Row]:
    with (HERE / "contract" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


TABLE_ROWS = contract("tables")
COLUMN_ROWS = contract("columns")
COLUMNS = {(row["table"], row["column"]): row for row in COLUMN_ROWS}
LISTED = {row["section"].replace("-", "_"): row["section"] for row in TABLE_ROWS}
TABLES = {table.name: table for section in SECTIONS.values() for table in section}
LISTED_TABLES = [row["table"] for row in TABLE_ROWS]

each_section = pytest.mark.parametrize("section", SECTIONS.values(), ids=SECTIONS)
each_table = pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
each_listed_section = pytest.mark.parametrize("section", [*map(sections.get, LISTED)], ids=LISTED)
each_listed_table = pytest.mark.parametrize(
    "table", [*map(sections.table, LISTED_TABLES)], ids=LISTED_TABLES
)

# --- what is declared is what the contract lists --------------------------------------------

MAIN_TABLES = {"crawl": "crawl_bots", "conversions": "conversion_engines"}
"""Main tables that are not the first of the contract's."""


def test_no_two_tables_have_one_name() -> None:
    assert len(TABLES) == sum(len(section.tables) for section in SECTIONS.values())


@each_listed_section
def test_tables_are_in_the_contracts_order_after_the_main_table(section: Section) -> None:
    names = [row["table"] for row in TABLE_ROWS if row["section"] == LISTED[section.name]]
    main = MAIN_TABLES.get(section.name, names[0])
    assert [table.name for table in section] == [main, *(name for name in names if name != main)]


@each_listed_section
def test_columns_are_the_contracts_in_name_order_and_dtype(section: Section) -> None:
    rows = [row for row in COLUMN_ROWS if row["section"] == LISTED[section.name]]
    for table in section:
        assert [(column.name, column.dtype) for column in table.columns] == [
            (row["column"], row["dtype"].removesuffix(" UTC"))
            for row in rows
            if row["table"] == table.name
        ]


@each_listed_section
def test_keys_are_the_contracts(section: Section) -> None:
    keys = {row["table"]: tuple(row["primary_key"].split(" + ")) for row in TABLE_ROWS}
    assert [table.key for table in section] == [keys[table.name] for table in section]


# --- units, levels and aggregation ----------------------------------------------------------

REMARKS_NOT_UNITS = {
    ("chat_citations", "cited"): "false = retrieved only",
    ("fanout_engine_support", "exposes_fanouts"): (
        "false → rows absent mean not_applicable, not 0"
    ),
}
"""What the contract has in its column of units that is none: it is in the docs."""


@each_listed_table
def test_units_are_the_contracts(table: Table) -> None:
    """The contract's text is the unit, or the unit and after it a remark."""
    for column in table.columns:
        text = COLUMNS[table.name, column.name]["unit_or_levels"]
        if column.dtype == "category" or (table.name, column.name) in REMARKS_NOT_UNITS:
            assert column.unit is None
            assert text == REMARKS_NOT_UNITS.get((table.name, column.name), text)
        elif column.unit is None:
            assert text == ""
        else:
            rest = text.removeprefix(column.unit)
            assert rest != text
            assert rest == "" or rest.startswith((" ", ","))


@each_table
def test_categories_have_levels_and_nothing_else_has(table: Table) -> None:
    for column in table.columns:
        assert bool(column.levels) == (column.dtype == "category")
        assert len(set(column.levels)) == len(column.levels)


@each_listed_table
def test_levels_and_their_order_are_the_contracts(table: Table) -> None:
    for column in table.columns:
        text = COLUMNS[table.name, column.name]["unit_or_levels"].partition(" — ")[0]
        assert column.ordered == (column.dtype == "category" and "<" in text)
        if column.dtype == "category" and text:
            assert column.levels == tuple(text.split("<" if column.ordered else "/"))


def rule(column: Column, text: str) -> Aggregation:
    """The rule the contract's words stand for, without its reason."""
    if text == "Σ/Σ":
        return Aggregation("ratio", over=("answers_with_shopping", "answers_checked"))
    if text.startswith("Σ"):
        numerator, denominator = text.replace("Σ", "").split("/")
        return Aggregation("ratio", over=(numerator, denominator))
    if "weighted by " in text:
        return Aggregation("mean", by=text.rpartition("weighted by ")[2])
    if text.startswith(("fk ", "none", "not additive")):
        return Aggregation("none")
    if text.startswith(("sum", "sums to")):
        return Aggregation("sum")
    assert text in ("key", "min", "max", "last", "mean"), text
    return Aggregation(text)


WITHIN = {
    ("overview_kpis", "value"): "metric",
    ("overview_kpis", "previous_value"): "metric",
    ("ranking_matrix", "value"): "metric",
    ("overview_kpis", "numerator"): "metric",
    ("overview_kpis", "denominator"): "metric",
    ("overview_kpis", "previous_numerator"): "metric",
    ("overview_kpis", "previous_denominator"): "metric",
    ("conversion_engines", "revenue"): "currency",
    ("conversion_landing_pages", "revenue"): "currency",
    ("conversion_totals", "ai_revenue"): "currency",
    ("shopping_products", "price_min"): "currency",
    ("shopping_products", "price_max"): "currency",
    ("shopping_offers", "price_amount"): "price_currency",
    ("shopping_merchants", "average_price"): "currency",
}
"""Columns that combine only where another column holds one value."""


@each_listed_table
def test_aggregation_is_the_contracts(table: Table) -> None:
    for column in table.columns:
        at = (table.name, column.name)
        text = COLUMNS[at]["aggregation"]
        expected = rule(column, text)
        declared = column.aggregate
        assert (declared.rule, declared.by, declared.over) == (
            expected.rule,
            expected.by,
            expected.over,
        )
        assert declared.within == WITHIN.get(at)
        used = {declared.by, declared.within, *(declared.over or ())} - {None}
        assert used <= {*table.names}


@each_listed_table
def test_a_refusal_that_has_a_reason_gives_it(table: Table) -> None:
    for column in table.columns:
        text = COLUMNS[table.name, column.name]["aggregation"]
        why = column.aggregate.why or ""
        if text.startswith("none ("):
            assert why.startswith(text[len("none (") : -1])
        elif text.startswith("not additive"):
            assert why.startswith(text.partition(" (")[0])
        elif text.startswith("sums to") or ("share" in column.name and text.startswith("sum")):
            assert why


# --- docs -----------------------------------------------------------------------------------


@each_section
def test_every_table_and_section_is_described(section: Section) -> None:
    for doc in (section.doc, *(table.doc for table in section)):
        assert doc.endswith(".")
        assert doc[0].isupper()
    assert all(table.doc.startswith("One row per ") for table in section)


@each_table
def test_every_column_is_described(table: Table) -> None:
    for column in table.columns:
        assert column.doc.endswith(".")
        assert column.doc[0].isupper()
        assert not column.doc.endswith("..")


@each_listed_table
def test_a_foreign_key_names_its_table(table: Table) -> None:
    for column in table.columns:
        text = COLUMNS[table.name, column.name]["aggregation"]
        if text.startswith("fk "):
            assert f"refers to `{text.removeprefix('fk ')}`" in column.doc


@each_table
def test_docs_refer_to_declared_tables_and_columns_only(table: Table) -> None:
    for column in table.columns:
        for name in column.doc.split("`")[1::2]:
            assert name in {*TABLES, *table.names}


# --- looking up -----------------------------------------------------------------------------


def test_an_unknown_section_is_refused_with_names_alike() -> None:
    with pytest.raises(ScopeError, match="did you mean 'domains'") as refused:
        sections.get("domain")
    assert refused.value.parameter == "section"
    assert refused.value.unknown == ("domain",)
    assert refused.value.suggestions == ("domains",)
