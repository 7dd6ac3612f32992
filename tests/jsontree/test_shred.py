"""Shredding: what the tables look like, and what is refused."""

from __future__ import annotations

import json
import pickle
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from aatoolkit import shred, unshred
from aatoolkit.errors import DecodeError, MetadataError, PayloadError

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


def test_there_are_samples() -> None:
    assert len(SAMPLES) > 17


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_every_sample_comes_back(path: Path, tmp_path: Path) -> None:
    body = path.read_bytes()
    tables = shred(body)
    assert spelled(unshred(tables)) == spelled(json.loads(body))
    assert spelled(unshred(saved(tables, tmp_path))) == spelled(json.loads(body))


NASTY = {
    "an integer, then text": [1, "1", True, 1.0, None],
    "an integer beyond 2**53 beside a float": [{"a": 9007199254740993}, {"a": 0.5}],
    "integers beyond 64 bits beside nulls": [{"a": 2**64}, {"a": None}, {"a": -(2**80)}, {"a": 1}],
    "one and one as a float": [1, 1.0, -0.0, 0],
    "nothing in many ways": [
        {"a": None},
        {"a": {}},
        {"a": []},
        {},
        {"a": [[]]},
        {"a": [{}]},
        [],
        None,
    ],
    "null or an object": [{"a": None}, {"a": {"b": 1}}],
    "an object or a list": [{"a": {"b": 1}}, {"a": [1]}, {"a": 1}],
    "lists of lists": [[1, [2, [3, []]]], [], [[[None]]]],
    "a key with a dot beside a path": {"a.b": 1, "a": {"b": 2}},
    "keys like our columns": [{"_parent": 1, "_pos": 2, "_key": 3, "_value": 4, "_value@kind": 5}],
    "keys like our suffixes": [{"x": 1, "x@string": "a", "x[]": 2, "x@kind": 3}, {"x": "b"}],
    "an empty key": {"": {"": [{"": 1}]}},
    "keys in two cases": [{"a": 1, "A": 2}],
    "letters out of the ordinary": {"ключ": "значение", "\U0001f600": "\u2028\0", "é": "e\u0301"},
    "dates as keys": {"days": {f"2026-11-{day:02}": {"n": day} for day in range(1, 29)}},
    "a map that is a list in one row": [{"m": {"1": 0, "2": 1, "3": 2}}, {"m": []}, {"m": None}],
    "a map in many rows": [{"m": {f"site{n}.example": n, "b.example": None}} for n in range(9)],
    "300 levels of names": {"k" * 300: [{"k" * 300: [1]}]},
    "a field only the last row has": [{"a": 1}] * 999 + [{"a": 2, "b": [{"c": "d"}]}],
    "a kind only the last row has": [{"a": 1}] * 999 + [{"a": "1"}],
    "text like dates": ["2026-11-20", "2026-11-20T00:00:00Z", "12:00"],
    "128 levels": json.loads("[" * 128 + "]" * 128),
}


@pytest.mark.parametrize("value", NASTY.values(), ids=NASTY)
def test_what_is_nasty_comes_back(value: Any, tmp_path: Path) -> None:
    tables = shred(value)
    assert spelled(unshred(tables)) == spelled(value)
    assert spelled(unshred(saved(tables, tmp_path))) == spelled(value)


@pytest.mark.parametrize("value", [None, True, 0, -1.5, "a", "", [], {}, [[]], [{}], 2**70])
def test_a_document_may_be_anything(value: Any, tmp_path: Path) -> None:
    tables = shred(json.dumps(value))
    assert spelled(unshred(saved(tables, tmp_path))) == spelled(value)


def columns(value: Any, name: str = "[]") -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = shred(value)[name].to_pydict()
    return {name: values for name, values in found.items() if name not in ("_parent", "_pos")}


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


def a_service_model(draw: random.Random) -> Any:
    """Thousands of shapes that refer to one another, as service models have them."""
    kinds = ["structure", "list", "map", "string", "integer", "timestamp"]
    shapes = {}
    for n in range(3000):
        shape: dict[str, Any] = {"type": draw.choice(kinds)}
        if shape["type"] == "structure":
            shape["members"] = {
                f"Member{draw.randrange(500)}": {"shape": f"Shape{draw.randrange(3000)}"}
                for _ in range(draw.randrange(9))
            }
        if draw.random() < 0.2:
            shape[draw.choice(["min", "max", "pattern", "enum"])] = draw.choice([1, "[a-z]", ["A"]])
        shapes[f"Shape{n}"] = shape
    return {"version": "2.0", "metadata": {"apiVersion": "2026-11-20"}, "shapes": shapes}


def a_compatibility_table(draw: random.Random) -> Any:
    """Objects below objects, all keyed by data, as browser-compatibility data has them."""

    def feature(depth: int) -> dict[str, Any]:
        support = {
            browser: draw.choice(
                [
                    {"version_added": draw.choice([True, False, None, "12", "≤37"])},
                    [{"notes": ["a"]}],
                ]
            )
            for browser in draw.sample(["chrome", "firefox", "safari", "opera", "edge"], 3)
        }
        below = {f"feature_{draw.randrange(900)}": feature(depth - 1) for _ in range(depth and 9)}
        return {"__compat": {"support": support, "status": {"deprecated": False}}, **below}

    return {"api": {f"Interface{n}": feature(2) for n in range(40)}, "css": feature(3)}


@pytest.mark.thorough
@pytest.mark.parametrize("make", [a_service_model, a_compatibility_table])
def test_large_irregular_documents_come_back(make: Any, tmp_path: Path) -> None:
    value = make(random.Random(20261120))
    tables = shred(json.dumps(value))
    assert spelled(unshred(tables)) == spelled(value)
    assert spelled(unshred(saved(tables, tmp_path))) == spelled(value)
    assert len(tables) < 150


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b'{"a": 1, "a": 2}', "duplicate_key"),
        (b"[NaN]", "not_finite"),
        (rb'["\ud800"]', "encoding"),
        (b'["\xff"]', "encoding"),
        (b"[" * 129 + b"]" * 129, "too_deep"),
        (b"{} {}", "not_json"),
        (b'[{"a": 1}', "truncated"),
        ("\ud800", "encoding"),
        ([float("inf")], "not_finite"),
        (["\ud800"], "encoding"),
    ],
)
def test_what_is_no_document_is_refused(body: Any, problem: str) -> None:
    with pytest.raises(DecodeError) as caught:
        shred(body)
    assert caught.value.problem == problem


@pytest.mark.parametrize("value", [{1: 2}, (1, 2), {"a": {3}}, [object()], {"a": (1,)}])
def test_what_is_no_json_value_is_refused(value: Any) -> None:
    with pytest.raises(PayloadError, match="not a JSON value"):
        shred(value)


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


def test_a_pickle_of_a_table_holds_no_other_table() -> None:
    rows = [{"id": f"{n}", "n": n, "text": "x" * 100, "tag": None} for n in range(900)]
    tables = shred({"host": "a.example", "asOf": "2026-11-20", "rows": rows})
    assert len(pickle.dumps(tables["$"])) < 3_000
    assert len(pickle.dumps(tables["rows[]"])) < 2 * tables["rows[]"].nbytes


def test_the_deepest_documents_need_not_much_of_the_stack() -> None:
    value: Any = {}
    for _ in range(63):
        value = [{"a": value, "b": 1}, None]

    def below(frames: int) -> Any:
        return below(frames - 1) if frames else unshred(shred(value))

    assert below(150) == value
