"""Sources of columns that lead past their rows: bound steps, single elements, names in a header."""

from __future__ import annotations

import json

import pytest

import aatoolkit as aa
from aatoolkit.sections import Column, Section, Table, keyed, records

CHART = {
    "panels": [
        {
            "days": ["2026-11-03", "2026-11-04", "2026-11-05"],
            "lines": [{"name": "a", "hits": [1, 2]}, {"name": "b", "hits": [4, 5, 6]}],
        }
    ]
}
WIDE = {"hits": {"a": 3, "b": 1}, "rate": {"b": 0.5, "a": 0.1}, "seen": {"a": True}}
CELLS = {
    "header": [{"name": "host"}, {"name": "hits"}],
    "rows": [{"cells": [{"v": "a.example"}, {"v": 3}]}, {"cells": [{"v": "b.example"}]}],
}
SHEET = {"values": [["host", "hits"], ["a.example", 3], ["b.example", 1, "late"]]}


def _read(rows, *columns: tuple[str, str, str], document, key):
    table = Table("t", "Rows.", rows, key, tuple(Column(n, d, source=s) for n, d, s in columns))
    tables = aa.normalize(Section("s", "A section.", table), json.dumps(document).encode())
    assert tables.rebuild() == document
    return tables


def test_an_array_of_a_record_around_is_read_at_the_position_of_the_row():
    columns = (
        ("day", "string", "$.panels[@0].days[@2]"),
        ("line", "string", "^name"),
        ("hits", "Int64", "."),
    )
    tables = _read(records("panels[].lines[].hits"), *columns, document=CHART, key=("line", "day"))
    assert tables.main["day"].tolist() == [
        *CHART["panels"][0]["days"][:2],
        *CHART["panels"][0]["days"],
    ]
    assert tables.main["line"].tolist() == ["a", "a", "b", "b", "b"]
    assert not len(tables.extra)


def test_objects_of_the_same_keys_are_columns_side_by_side():
    columns = (
        ("site", "string", "@0"),
        ("hits", "Int64", "."),
        ("rate", "Float64", "$.rate{@0}"),
        ("seen", "boolean", "$.seen{@0}"),
    )
    tables = _read(keyed("hits", key="site"), *columns, document=WIDE, key="site")
    assert tables.main["rate"].tolist() == [0.1, 0.5]
    assert tables.main["seen"].isna().tolist() == [False, True]


@pytest.mark.filterwarnings("ignore::aatoolkit.errors.SchemaDriftWarning")
def test_cells_are_read_at_the_position_that_a_header_names():
    columns = (
        ("host", "string", 'cells["header[].name"="host"].v'),
        ("hits", "Int64", 'cells["header[].name"="hits"].v'),
    )
    for document in (CELLS, {**CELLS, "header": CELLS["header"][::-1]}):
        tables = _read(records("rows"), *columns, document=document, key="host")
        first = tables.main["host" if document is CELLS else "hits"]
        assert first.notna().tolist()[0] == (document is CELLS)
    tables = _read(records("rows"), *columns, document=CELLS, key="host")
    assert tables.main["hits"].isna().tolist() == [False, True]
    first_tag = ("tag", "string", 'cells["header[].name"="tags"][0]')
    tables = _read(records("rows"), *columns, first_tag, document=CELLS, key="host")
    assert tables.main["tag"].isna().all()


@pytest.mark.filterwarnings("ignore::aatoolkit.errors.SchemaDriftWarning")
def test_a_first_row_may_name_the_columns_and_what_no_column_reads_is_kept():
    names = [("host", "string"), ("hits", "Int64")]
    columns = [(name, dtype, f'["values[0][]"="{name}"]') for name, dtype in names]
    tables = _read(records("values", first=1), *columns, document=SHEET, key="host")
    assert tables.main["host"].tolist() == ["a.example", "b.example"]
    assert {*zip(tables.extra["value"], tables.extra["why"], strict=True)} == {
        ('"host"', "known"),
        ('"hits"', "known"),
        ('"late"', "new"),
    }


def test_single_elements_are_columns():
    document = {"rows": [{"keys": ["a", "b"], "n": 1}, {"keys": ["c", "d"], "n": 2}]}
    columns = (("one", "string", "keys[0]"), ("two", "string", "keys[1]"), ("n", "Int64", "n"))
    tables = _read(records("rows"), *columns, document=document, key="one")
    assert tables.main["two"].tolist() == ["b", "d"]
    assert not len(tables.extra)


@pytest.mark.filterwarnings("ignore::aatoolkit.errors.SchemaDriftWarning")
def test_objects_at_one_position_come_back_beside_plain_values_at_others():
    money = {"amount": 3, "currency": "EUR", "note": "net"}
    cells = [[{"v": "a"}, {"v": money}], [{"v": "b"}, {"v": {**money, "amount": 4}}]]
    columns = (
        ("name", "string", "cells[0].v"),
        ("amount", "Int64", "cells[1].v.amount"),
        ("currency", "string", "cells[1].v.currency"),
    )
    document = {"rows": [{"cells": row} for row in cells]}
    tables = _read(records("rows"), *columns, document=document, key="name")
    assert tables.main["amount"].tolist() == [3, 4]
    assert tables.extra["value"].tolist() == ['"net"', '"net"']
