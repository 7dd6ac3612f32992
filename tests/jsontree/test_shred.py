"""Shredding: what the tables look like, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from aatoolkit import shred, unshred
from aatoolkit.errors import MetadataError, PayloadError

ROOT = Path(__file__).parents[2]
SAMPLES = sorted(
    path
    for folder in (ROOT / "data" / "samples", ROOT / "tests" / "sections" / "contract")
    for path in folder.rglob("*.json")
)


def spelled(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def saved(tables: dict[str, pa.Table], folder: Path) -> dict[str, pa.Table]:
    """The tables, each written to a file of its name and read back."""
    for name, table in tables.items():
        pq.write_table(table, folder / f"{name}.parquet")
    return {path.stem: pq.ParquetFile(path).read() for path in folder.glob("*.parquet")}


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_every_sample_comes_back(path: Path, tmp_path: Path) -> None:
    body = path.read_bytes()
    tables = shred(body)
    assert spelled(unshred(tables)) == spelled(json.loads(body))
    assert spelled(unshred(saved(tables, tmp_path))) == spelled(json.loads(body))


def columns(value: Any, name: str = "[]") -> dict[str, list[Any]]:
    lists: dict[str, list[Any]] = shred(value)[name].to_pydict()
    return {name: values for name, values in lists.items() if name not in ("_parent", "_pos")}


def test_integers_stay_integers_beside_nulls() -> None:
    table = shred([{"n": 2**62 + 1}, {"n": None}, {}])["[]"]
    assert table.schema.field("n").type == pa.int64()
    assert table["n"].to_pylist() == [2**62 + 1, None, None]


def test_kinds_are_distinguished_only_where_they_must_be() -> None:
    assert columns([{"a": 1}, {"a": None}]) == {"a": [1, None]}
    assert columns([{"a": 1}, {}]) == {"a": [1, None]}
    kinds = ["integer", "missing", "null"]
    assert columns([{"a": 1}, {}, {"a": None}]) == {"a": [1, None, None], "a@kind": kinds}
    assert columns([{"a": 1}, {"a": 0.5}]) == {"a": [1.0, 0.5]}
    assert columns([{"a": 1}, {"a": 2.0}]) == {"a@integer": [1, None], "a@number": [None, 2.0]}
    assert columns([{"a": []}, {"a": {"b": 1}}]) == {"a[]": [0, None], "a.b": [None, 1]}


def test_a_key_may_be_data() -> None:
    value = {"byDay": {"2026-11-18": {"n": 1}, "2026-11-19": {"n": 2}, "2026-11-20": {}}}
    assert columns(value, "byDay{}") == {
        "_key": ["2026-11-18", "2026-11-19", "2026-11-20"],
        "n": [1, 2, None],
    }
    assert columns(value, "$") == {"byDay{}": [3]}


KEYED = {
    "dates": {"2026-11-18": 1, "2026-11-19": "x", "2026-11-20": None},
    "hosts": {"a.example": 1, "b.example": 2, "www.c.example": 3},
    "names with spaces": {"Acme CRM": 1, "Globex Inc": 2, "Hooli One": 3},
    "numbers": {"1": "a", "2": "b", "30": "c"},
    "like objects": {name: {"value": 1, "unit": "x"} for name in ("rate", "share", "rank")},
    "many objects": {f"Shape{n}": {"type": "string"} if n % 2 else {"min": 1} for n in range(80)},
}
RECORDS = {
    "two keys": {"2026-11-18": 1, "2026-11-19": 2},
    "names of fields": {"high": 1, "medium": 2, "low": 0},
    "headings above values of all kinds": {"First Name": "a", "Last Name": "b", "Age": 3},
    "unlike objects": {"window": {"start": 1}, "filters": {"engine": None}, "sampling": {"n": 1}},
}


@pytest.mark.parametrize("value", KEYED.values(), ids=KEYED)
def test_objects_keyed_by_data_are_rows(value: Any) -> None:
    assert shred(value)["{}"]["_key"].to_pylist() == list(value)


@pytest.mark.parametrize("value", RECORDS.values(), ids=RECORDS)
def test_other_objects_are_columns(value: Any) -> None:
    assert "{}" not in shred(value)


def test_names_are_file_names() -> None:
    tables = shred({"a/b": [1], "..": [2], "x" * 500: [{"\n": [3]}], "y" * 500: [4]})
    assert "a%2Fb[]" in tables
    assert "%2E%2E[]" in tables
    assert len(tables) == 6
    assert all(len(name) < 200 and "/" not in name for name in tables)


def test_a_value_that_holds_itself_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(PayloadError, match="not a JSON value"):
        shred(value)


VALUE = {"a": [{"b": [1]}, {"b": [2, 3], "c": 1}]}


def broken(name: str, change: Any) -> dict[str, pa.Table]:
    tables = shred(VALUE)
    return {**tables, name: change(tables[name])}


BROKEN = {
    "a column is missing": ("a[]", lambda table: table.drop_columns(["c"])),
    "the lengths are missing": ("a[]", lambda table: table.drop_columns(["b[]"])),
    "a row is missing": ("a[].b[]", lambda table: table.slice(1)),
    "rows are out of order": ("a[].b[]", lambda table: table.take([2, 1, 0])),
    "a column is of another type": ("a[]", lambda table: table.set_column(2, "b[]", [["x", "y"]])),
    "a row stands twice": ("a[].b[]", lambda table: pa.concat_tables([table, table])),
}


@pytest.mark.parametrize(("name", "change"), BROKEN.values(), ids=BROKEN)
def test_broken_tables_are_refused(name: str, change: Any) -> None:
    with pytest.raises(PayloadError, match="give unshred all tables that shred made"):
        unshred(broken(name, change))


@pytest.mark.parametrize("name", ["$", "a[]", "a[].b[]"])
def test_a_missing_table_is_named(name: str) -> None:
    tables = shred(VALUE)
    del tables[name]
    with pytest.raises(PayloadError, match="is missing"):
        unshred(tables)


@pytest.mark.parametrize("plan", [None, b"{", b"[]", b"{}"])
def test_a_plan_that_cannot_be_read_is_refused(plan: bytes | None) -> None:
    metadata = {b"aatoolkit.shred": plan} if plan else None
    with pytest.raises(MetadataError, match="has no plan that can be read"):
        unshred(broken("a[]", lambda table: table.replace_schema_metadata(metadata)))


def test_a_plan_that_makes_no_sense_is_refused() -> None:
    plan = b'{"version": 1, "table": "a[]", "rows": 2, "cell": {"scalars": []}}'
    with pytest.raises(PayloadError, match="do not fit their plans"):
        unshred(
            broken("a[]", lambda table: table.replace_schema_metadata({b"aatoolkit.shred": plan}))
        )


def test_the_deepest_documents_need_not_much_of_the_stack() -> None:
    value: Any = {}
    for _ in range(63):
        value = [{"a": value, "b": 1}, None]

    def below(frames: int) -> Any:
        return below(frames - 1) if frames else unshred(shred(value))

    assert below(150) == value
