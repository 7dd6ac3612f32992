"""Answers of some megabytes are read part by part; what is read is the same as of the whole."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

import aatoolkit as aa
from aatoolkit.sections import Column, Section, Table, records

pytestmark = pytest.mark.filterwarnings("ignore::aatoolkit.errors.AAToolkitWarning")

COLUMNS = (
    Column("position", "Int64", source="#1"),
    Column("name", "string"),
    Column("tone", "category", levels=("good", "bad")),
    Column("count", "Int64"),
    Column("share", "Float64"),
    Column("day", "date"),
    Column("days", "Int64", source="$.window.days"),
)
PARTS = (
    Column("thing", "string", source="^name"),
    Column("thing_position", "Int64", source="^#0"),
    Column("word", "string"),
)
KINDS = (Column("kind", "string"), Column("kind_count", "Int64", source="count"))
SECTION = Section(
    "things",
    "Things.",
    Table("things", "One row per thing.", records("things"), "position", COLUMNS),
    Table("parts", "One row per part.", records("things[].parts"), ("thing", "word"), PARTS),
    Table("kinds", "One row per kind.", records("kinds"), "kind", KINDS),
)
ROWS = 12_000


def body(change: Callable[[list[Any]], object] = lambda rows: None, **how: Any) -> bytes:
    rows = [
        {
            "name": f'thing {n} "}},{{"name": 1',
            "tone": ("good", "bad", "odd")[n % 3 if n > ROWS // 2 else n % 2],
            "count": n if n % 5 else None,
            "share": n / 8,
            "day": f"2026-11-{n % 28 + 1:02}",
            "text": "–" * 20,
            "parts": [{"word": f"w{k}"} for k in range(n % 3)],
        }
        for n in range(ROWS)
    ]
    change(rows)
    answer = {
        "availability": {"status": "available", "reason": None, "sampleCount": 9, "asOf": None},
        "window": {"days": 30},
        "kinds": [{"kind": "a", "count": 1}],
        "things": rows,
        "n": 1,
    }
    return json.dumps(answer, **how).encode()


def check_same(answer: bytes, section: Any = SECTION, **how: Any) -> aa.Tables:
    """Compare what is read of bytes with what is read of objects, which are never cut."""
    tables, whole = aa.normalize(section, answer, **how), aa.normalize(section, json.loads(answer))
    for name in whole:
        pd.testing.assert_frame_equal(tables[name], whole[name])
        assert tables[name].attrs == whole[name].attrs
    for side in ("extra", "drift", "availability", "hints"):
        pd.testing.assert_frame_equal(getattr(tables, side), getattr(whole, side))
    assert tables.rebuild() == json.loads(answer)
    return tables


@pytest.mark.parametrize(
    "how", [{}, {"separators": (",", ":")}, {"indent": 1}, {"sort_keys": True}], ids=str
)
def test_a_long_answer_is_read_as_one_that_is_not_cut(how: dict[str, Any]) -> None:
    tables = check_same(body(**how))
    assert tables["things"]["position"].tolist() == list(range(1, ROWS + 1))
    assert tables["parts"]["thing_position"].iloc[-1] == ROWS - 1


CHANGES: dict[str, Callable[[list[Any]], object]] = {
    "a field in one row only": lambda rows: rows[-1].update(new={"deep": [1, 2]}),
    "a value of another type": lambda rows: rows[8000].update(count="many"),
    "a null row": lambda rows: rows.insert(8000, None),
    "a row that is no object": lambda rows: rows.insert(8000, [1]),
    "a field that later rows lack": lambda rows: [row.pop("share") for row in rows[4000:]],
    "a field that all rows lack": lambda rows: [row.pop("share") for row in rows],
    "a table that all rows lack": lambda rows: [row.pop("parts") for row in rows],
    "a table that is null": lambda rows: [row.update(parts=None) for row in rows],
    "an integer beyond 2**53": lambda rows: rows[8000].update(count=2**53 + 1, share=2**53 + 1),
    "an integer beyond 64 bits": lambda rows: rows[8000].update(count=2**70),
    "a key given twice": lambda rows: rows[8000].update(name=rows[0]["name"], count=1),
    "a row that states its availability": lambda rows: rows[8000].update(
        availability={"status": "unavailable", "reason": "not_connected"}
    ),
    "rows that state their availability": lambda rows: [
        row.update(availability={"status": "unavailable" if n % 2 else "available"})
        for n, row in enumerate(rows)
    ],
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_an_odd_long_answer_is_read_as_one_that_is_not_cut(
    change: Callable[[list[Any]], object],
) -> None:
    check_same(body(change))


@pytest.mark.parametrize("cut", [1, 1_000_000, 2_000_000])
def test_a_long_answer_that_is_truncated_is_no_document(cut: int) -> None:
    with pytest.raises(aa.errors.DecodeError):
        aa.normalize(SECTION, body()[:-cut])


def test_a_key_that_an_object_of_a_long_answer_has_twice_is_refused() -> None:
    with pytest.raises(aa.errors.DecodeError, match="twice"):
        aa.normalize(SECTION, body().replace(b'"count": 8001,', b'"count": 8001, "count": 8001,'))


def test_the_limit_of_paths_holds_for_all_parts_together() -> None:
    def name(rows: list[Any]) -> None:
        for n, row in enumerate(rows):
            row[f"field {n // 200}"] = {"a": 1}

    with pytest.raises(aa.errors.PayloadError, match="different paths"):
        aa.normalize(SECTION, body(name), max_nodes=100)
