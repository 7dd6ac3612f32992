"""Vectors of columns hold what vectors of values hold, for a walk and for detection."""

from __future__ import annotations

import copy
import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from availability.detect.test_variants import STATEMENTS
from effort import examples, one_in
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import aatoolkit as aa
from aatoolkit.availability.detect import FullDocument, Signal, signals_of
from aatoolkit.jsontree import split
from aatoolkit.jsontree.cursor import Cursor
from aatoolkit.jsontree.parse import parse_document
from aatoolkit.jsontree.vectors import LazyVector, Vector

HERE = Path(__file__).parents[1]
SCALARS = (
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.0, 0.5, 2**70, "", "a"])
)
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["a", "b", "2026-11-20", "2026-11-21", "x.y"]), inner)
    ),
    max_leaves=20,
)


def below(one: Vector, other: Vector) -> Iterator[tuple[Vector, Vector]]:
    """Two vectors of one place and all below them, side by side."""
    yield one, other
    assert sorted(one.fields()) == sorted(other.fields())
    if list in one.kinds:
        yield from below(one.each(), other.each())
    for name in one.fields():
        yield from below(one.field(name), other.field(name))


def plain(values: list[Any]) -> str:
    return json.dumps(values, sort_keys=True, default=repr)


@settings(max_examples=examples(300), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(JSON)
def test_columns_hold_what_values_hold(value: Any) -> None:
    document = Cursor.of(parse_document(json.dumps(value)).root)
    lazy, vector = LazyVector(document), Vector.of(value)
    for one, other in below(vector, lazy):
        assert (other.kinds, other.numbers) == (one.kinds, one.numbers)
        assert plain(other.values) == plain(one.values)
        assert len(other) == len(one)
        rows = range(len(one))
        assert [other.path(row) for row in rows] == [one.path(row) for row in rows]
        assert plain([other.value(row) for row in rows]) == plain(one.values)


def documents() -> Iterator[tuple[str, Any]]:
    """All answers that say something of themselves, and those that only seem to."""
    for path in sorted((HERE / "availability/detect/variants").glob("*.json")):
        yield path.stem, json.loads(path.read_bytes())
    yield from json.loads((HERE / "availability/detect/decoys.json").read_bytes()).items()
    yield from ((name, body) for name, (body, _) in STATEMENTS.items())
    for path in sorted((HERE.parent / "data" / "samples").glob("*.json")):
        body = json.loads(path.read_bytes())
        yield path.stem, body
        body.pop("availability", None)
        yield f"{path.stem} without a statement", body
    for key in ("failures", "engines", "engineStatuses", "sampling"):
        for states in (("failed", "not_run"), ("available", "not_run")):
            stated = zip(("chatgpt", "gemini"), states, strict=True)
            listed = [{"engine": engine, "status": state} for engine, state in stated]
            yield f"{key} {states[0]}", {key: listed, "rows": [{"requests": 12}]}


DOCUMENTS = dict(documents())


def lists(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The fields that lead to each list of objects."""
    if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        yield path
    for key, inner in value.items() if isinstance(value, dict) else ():
        yield from lists(inner, (*path, key))


def shortened(value: Any, path: tuple[str, ...]) -> Any:
    """A document with one element in one of its lists."""
    found = inner = copy.deepcopy(value)
    for key in path:
        inner = inner[key]
    del inner[1:]
    return found


@pytest.mark.filterwarnings("ignore::aatoolkit.errors.UnknownAvailabilityWarning")
@pytest.mark.parametrize("name", one_in(4, DOCUMENTS))
def test_statements_are_detected_in_columns(name: str) -> None:
    value = DOCUMENTS[name]
    document = Cursor.of(parse_document(value).root)
    expected = set(map(str, signals_of(value)))
    for path in lists(value):
        whole = FullDocument(LazyVector(document), path)
        assert set(map(str, signals_of(shortened(value, path), whole=whole))) == expected


def stated_by(body: bytes) -> list[Signal]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", aa.errors.AAToolkitWarning)
        found = aa.normalize("chats", body).availability
    return found.to_dict("records")  # type: ignore[return-value]


LATE = {
    "a row that says so": ({"outcome": None, "dataStatus": "not_run"}, {}),
    "a number": ({"position": 1}, {"status": "pending"}),
    "nothing": ({}, {"dataAvailability": "partial", "note": None}),
    "a list that is a statement": ({"code": "PARTIAL_DATA", "message": "Two engines failed."}, {}),
}


@pytest.mark.parametrize("late", LATE.values(), ids=LATE)
@pytest.mark.parametrize("key", ["chats", "warnings"])
def test_statements_late_in_a_long_list_are_detected(
    late: tuple[dict[str, Any], dict[str, Any]], key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    row, around = late
    rows = [{"chatId": f"c{n}", "position": None} for n in range(40)]
    body = json.dumps({**around, key: [*rows, {"chatId": "last", **row}]}).encode()
    expected = stated_by(body)
    monkeypatch.setattr(split, "_FIRST", 64)
    monkeypatch.setattr(split, "_CHUNK", 64)
    assert stated_by(body) == expected
