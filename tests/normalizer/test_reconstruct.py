"""Rebuild the answer from its tables, what no column took, and the provenance."""

from __future__ import annotations

import gc
import json
import warnings
from datetime import time
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from effort import one_in
from samples import payload_of, sample, sample_bytes

import aatoolkit as aa
from aatoolkit import sections
from aatoolkit._util.dtypes import DTYPES
from aatoolkit.errors import PayloadError, SchemaDriftWarning
from aatoolkit.frame.parquet import write_tables
from aatoolkit.jsontree import coerce
from aatoolkit.normalizer.provenance import rebuild_response
from aatoolkit.sections import (
    category,
    date,
    flag,
    integer,
    keyed,
    number,
    records,
    text,
    timestamp,
    words,
)

THINGS = aa.Section(
    "things",
    "Synthetic.",
    aa.Table(
        "things",
        "One row per thing.",
        records("things"),
        key="name",
        columns=(
            text("name"),
            integer("count"),
            number("score"),
            timestamp("seen_at"),
            date("day"),
            category("kind", levels=("a", "b")),
            text("topic", null="(all)"),
            words("words"),
            flag("own", source="detail.own"),
        ),
    ),
    aa.Table(
        "thing_days",
        "One row per thing and day.",
        keyed("things[].byDay", key="day"),
        key=("name", "day"),
        columns=(
            text("name", source="^name"),
            date("day"),
            integer("n", source="."),
        ),
    ),
)


def read(answer: Any) -> aa.Tables:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SchemaDriftWarning)
        return aa.normalize(THINGS, answer)


def text(value: Any) -> str:
    """A JSON value as text that tells 1 from 1.0 and true, whatever the order of keys."""
    return json.dumps(value, sort_keys=True)


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


def test_values_of_a_type_that_cells_cannot_write_are_kept_as_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for types in (coerce.ARROW_TYPE_BY_DTYPE, coerce._MEMORY_TYPE_BY_DTYPE):
        monkeypatch.setitem(types, "time", pa.time64("us"))
    monkeypatch.setitem(coerce._CONVERTER_BY_DTYPE, "time", time.fromisoformat)
    monkeypatch.setitem(coerce._EXACT_TYPES_BY_DTYPE, "time", {type(None)})
    monkeypatch.setitem(DTYPES, "time", DTYPES["string"])
    column = sections.Column("opens", "time", "When it opens.")
    table = aa.Table("shops", "", records("shops"), columns=(column,))
    answer = {"shops": [{"opens": "06:10"}, {"opens": None}]}
    tables = aa.normalize(aa.Section("shops", "", table), answer)
    assert tables.main["opens"][0] == time(6, 10)
    assert tables.rebuild() == answer


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
        rebuild_response(short, tables.extra, tables._provenance)
    narrow = {**tables, "things": tables.main.drop(columns="count")}
    with pytest.raises(PayloadError, match="column count of the table things is missing"):
        rebuild_response(narrow, tables.extra, tables._provenance)


@pytest.mark.parametrize("name", one_in(3, sections.all()))
def test_a_sample_comes_back_from_parquet(name: str, tmp_path: Path) -> None:
    answer = sample(name)
    tables = aa.normalize(name, answer)
    write_tables([tables], tmp_path)
    assert text(aa.rebuild(tmp_path / name)) == text(answer) == text(aa.rebuild(tables))


@pytest.mark.parametrize(
    "answer", [{"error": {"code": 503}}, {"error": "x"}, [{"error": "x"}], [[]], {}, [], {"a": {}}]
)
def test_an_answer_that_is_no_data_comes_back_too(answer: Any) -> None:
    for status in (200, 202, 404, 503):
        assert text(read(payload_of(answer, status=status)).rebuild()) == text(answer)


def test_a_folder_that_holds_no_tables_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PayloadError, match="holds no tables"):
        aa.rebuild(tmp_path)


def test_an_answer_is_freed_without_the_garbage_collector() -> None:
    def use(section: str) -> None:
        tables = aa.normalize(section, sample_bytes(section))
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
