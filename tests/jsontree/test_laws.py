"""``unshred(shred(x)) == x`` for every JSON value, types included, and after Parquet."""

from __future__ import annotations

import io
import json
import random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from effort import examples
from hypothesis import HealthCheck, example, given, settings, strategies as st

from aatoolkit import shred, unshred

LAW = settings(
    max_examples=examples(700),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

TEXT = st.text(st.characters(codec="utf-8"), max_size=6)
PLAIN = [
    "a",
    "b",
    "A",
    "",
    " ",
    "'",
    '"',
    "\\",
    "a\0",
    "é",
    "a.b",
    "/",
    "~",
    "$",
    "%",
    "%2E",
    "[]",
    "{}",
]
OURS = ["_parent", "_pos", "_key", "_value", "_value@kind", "a@kind", "a@string", "a[]", "a{}"]
DATA = ["2026-11-20", "2026-11-21", "x.example", "Acme CRM", "12"]
KEYS = TEXT | st.sampled_from(PLAIN + OURS + DATA)
SCALARS = (
    st.none()
    | st.booleans()
    | st.sampled_from([0, 1, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64, -(2**63), -(2**63) - 1])
    | st.integers()
    | st.sampled_from([0.0, -0.0, 1.0, 0.5, 1e300, 5e-324, 9.3e18])
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "a", "null", "2026-11-20", "2026-11-20T00:00:00Z", "1"])
    | TEXT
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=25,
)
FEW_KEYS = st.sampled_from(["a", "b", "2026-11-20", "2026-11-21", "x.example"])
RAGGED = st.lists(
    st.recursive(
        SCALARS,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FEW_KEYS, inner, max_size=5),
        max_leaves=8,
    ),
    max_size=12,
)


def spelled(value: Any) -> str:
    """A value as text: 1, 1.0 and true are three things, the order of keys is none."""
    return json.dumps(value, sort_keys=True)


def through_parquet(tables: dict[str, pa.Table]) -> dict[str, pa.Table]:
    read_tables = {}
    for name, table in tables.items():
        file = io.BytesIO()
        pq.write_table(table, file)
        read_tables[name] = pq.ParquetFile(io.BytesIO(file.getvalue())).read()
    return read_tables


@LAW
@example(2**64)
@given(JSON | RAGGED)
def test_any_value_comes_back(value: Any) -> None:
    assert spelled(unshred(shred(json.dumps(value, ensure_ascii=False)))) == spelled(value)


@settings(LAW, max_examples=examples(200))
@given(JSON | RAGGED)
def test_any_value_comes_back_from_parquet(value: Any) -> None:
    tables = shred(json.dumps(value).encode())
    assert spelled(unshred(through_parquet(tables))) == spelled(value)


@settings(LAW, max_examples=examples(300))
@given(RAGGED, st.randoms(use_true_random=False))
def test_names_do_not_depend_on_the_order_of_rows(rows: list[Any], draw: random.Random) -> None:
    shuffled = draw.sample(rows, len(rows))
    assert {name: table.column_names for name, table in shred(json.dumps(rows)).items()} == {
        name: table.column_names for name, table in shred(json.dumps(shuffled)).items()
    }
