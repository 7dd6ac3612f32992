"""Every leaf of an answer is in a column or in ``extra``, and together they make it again.

What a column holds is worked out here anew, from the declarations' patterns and the frames,
so that the reader under test cannot vouch for itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from functools import cache, lru_cache
from itertools import cycle
from typing import Any

import pandas as pd
import pytest
from declared_paths import fits_step, steps
from effort import examples, one_in
from hypothesis import HealthCheck, given, settings, strategies as st
from samples import sample

import aatoolkit as aa
from aatoolkit import sections
from aatoolkit._util.text import to_json_text
from aatoolkit.jsontree.paths import Step, parse_path
from aatoolkit.sections import Column, Table

# Whatever an answer holds: one that the declaration does not fit is read by a draft of itself.
pytestmark = pytest.mark.filterwarnings("ignore::aatoolkit.errors.SchemaDriftWarning")

SECTIONS = sections.all()
SAMPLES = {name: sample(name) for name in SECTIONS}

Node = tuple[str | int, ...]


def lost(name: str, answer: Any) -> list[str]:
    """The leaves of an answer that are nowhere in what was read of it."""
    tables = aa.normalize(aa.sections.get(name), answer)
    kept = dict(zip(tables.extra["path"], tables.extra["value"], strict=True))
    frames = {table.name: tables[table.name] for table in SECTIONS[name]}
    for frame in frames.values():
        frame.attrs = {}  # What is known of a frame is copied with each column.
    held = [
        {
            canonical(value, column.dtype)
            for value in values(frames[table.name][column.name], column)
        }
        for table, column, _ in declared(name)
    ]
    held += [set() for _ in kept_below(name)]
    return [
        path(place)
        for place, value in list_leaf_paths_and_texts(answer)
        if kept.get(path(place)) != json.dumps(value, ensure_ascii=False)
        and not holds(name, place, value, held)
    ]


@cache
def declared(name: str) -> list[tuple[Table, Column, tuple[Step, ...]]]:
    """The columns of a section, and where their values are."""
    return [
        (table, column, steps)
        for table in SECTIONS[name]
        for column in table.columns
        for steps in places_of(table, column)
    ]


@cache
def kept_below(name: str) -> list[tuple[Step, ...]]:
    """Where a section keeps what is in no column, and is not read."""
    return [parse_path(path)[:-1] for path in SECTIONS[name].kept if "." in path]


@lru_cache(maxsize=10_000)
def columns_at(name: str, place: Node) -> tuple[list[int], list[int]]:
    """Which columns have values at a place, and which there or below."""
    places = [*(steps for _, _, steps in declared(name)), *kept_below(name)]
    below = [
        at
        for at, steps in enumerate(places)
        if len(place) <= len(steps) and fits(place, steps[: len(place)])
    ]
    return [at for at in below if len(place) == len(places[at])], below


def holds(name: str, place: Node, value: Any, held: list[set[Any]]) -> bool:
    # Items of a list are at one place, as far as columns go.
    at, below = columns_at(name, tuple(0 if isinstance(key, int) else key for key in place))
    if value in (None, {}, []) and type(value) not in (bool, int, float):
        # Null among records is a leaf like others; null or nothing in the place of one is a gap.
        return bool(below if value is not None or isinstance(place[-1], str) else at)
    return any({("json", value), ("text", str(value))} & held[column] for column in at)


def fits(place: Node, steps: tuple[Step, ...]) -> bool:
    return all(map(fits_step, place, steps))


def places_of(table: Table, column: Column) -> Iterator[tuple[Step, ...]]:
    """Where the values of a column are, with the keys that its table is limited to."""
    if not column.is_label:
        yield steps(table, column)


def values(cells: pd.Series[Any], column: Column) -> Iterator[Any]:
    for value in cells:
        if column.dtype == "list<string>":
            yield from [] if value is pd.NA or value is None else value
        elif not pd.isna(value):
            yield value


def canonical(value: Any, dtype: str) -> tuple[str, Any]:
    """A value of a column as it stood in the answer, or as text where there are many ways."""
    if dtype == "date":
        return ("text", value.date().isoformat())
    if dtype == "timestamp":
        return ("text", value.isoformat().replace("+00:00", "Z"))
    return ("json", value.item() if hasattr(value, "item") else value)


def list_leaf_paths_and_texts(value: Any, place: Node = ()) -> Iterator[tuple[Node, Any]]:
    inner: Any = ()
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list):
        inner = enumerate(value)
    if not inner or not value:
        yield place, value
    for key, item in inner:
        yield from list_leaf_paths_and_texts(item, (*place, key))


def path(place: Node) -> str:
    return "$" + "".join(
        f"[{key}]"
        if isinstance(key, int)
        else f".{key}"
        if re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", key)
        else f"[{to_json_text(key)}]"
        for key in place
    )


@pytest.mark.parametrize("name", SECTIONS)
def test_no_leaf_of_a_sample_is_lost(name: str) -> None:
    assert lost(name, SAMPLES[name]) == []


@pytest.mark.thorough
@pytest.mark.parametrize("name", SECTIONS)
def test_no_leaf_is_lost_whichever_field_is_missing_null_or_of_another_kind(name: str) -> None:
    patterns: dict[tuple[Any, ...], Node] = {}
    for place in every_place(SAMPLES[name]):
        patterns.setdefault(tuple("[]" if isinstance(k, int) else k for k in place), place)
    # Each kind of change in turn: all of them everywhere would take a minute and a half.
    for place, change in zip(patterns.values(), cycle(CHANGES), strict=False):
        answer = changed(SAMPLES[name], place, change)
        assert lost(name, answer) == [], (place, change)


REMOVED = object()
CHANGES = (REMOVED, None, "odd", 7, [], {}, [None, 5], {"odd key": {"deep": [1]}}, True)
odd_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**65), 2**65)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


def every_place(value: Any, place: Node = ()) -> Iterator[Node]:
    if place:
        yield place
    inner: Any = value.items() if isinstance(value, dict) else ()
    for key, item in enumerate(value) if isinstance(value, list) else inner:
        yield from every_place(item, (*place, key))


def changed(answer: Any, place: Node, change: Any, key: str | None = None) -> Any:
    """A copy of an answer with one value removed, replaced, or moved to another key."""
    answer = deepcopy(answer)
    holder = answer
    for step in place[:-1]:
        holder = holder[step]
    if change is REMOVED:
        value = holder.pop(place[-1])
        if key is not None and isinstance(holder, dict):
            holder[key] = value
    else:
        holder[place[-1]] = change
    return answer


@st.composite
def answers(draw: st.DrawFn) -> tuple[str, Any]:
    name = draw(st.sampled_from([*SECTIONS]))
    answer = SAMPLES[name]
    for _ in range(draw(st.integers(1, 4))):
        places = [*every_place(answer)]
        if places:
            place = draw(st.sampled_from(places))
            change = draw(st.just(REMOVED) | odd_values)
            answer = changed(answer, place, change, draw(st.none() | st.text(max_size=6)))
    return name, answer


# --- the whole answer again -------------------------------------------------------------------


def read(name: str, answer: Any, **options: Any) -> aa.Tables:
    return aa.normalize(aa.sections.get(name), answer, **options)


def same(first: Any, second: Any) -> bool:
    """Whether two JSON values are the same: true is not 1, 1 is not 1.0, and 0.0 is not -0.0."""
    if type(first) is not type(second):
        return False
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(same(first[key], second[key]) for key in first)
    if isinstance(first, list):
        return len(first) == len(second) and all(map(same, first, second))
    return repr(first) == repr(second)


@pytest.mark.parametrize("backend", one_in(2, ["numpy_nullable", "pyarrow"]))
@pytest.mark.parametrize("name", SECTIONS)
def test_a_sample_is_rebuilt_whole(name: str, backend: str) -> None:
    assert same(read(name, SAMPLES[name], dtype_backend=backend).rebuild(), SAMPLES[name])


LAW = settings(
    max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


@LAW
@given(answers())
def test_a_changed_sample_is_rebuilt_whole_and_no_leaf_is_lost(
    changed_sample: tuple[str, Any],
) -> None:
    name, answer = changed_sample
    assert lost(name, answer) == []
    assert same(read(name, answer).rebuild(), answer)


@LAW
@given(
    st.sampled_from([*SECTIONS]), odd_values.filter(lambda value: isinstance(value, dict | list))
)
def test_any_document_is_rebuilt_whole_and_no_leaf_is_lost(name: str, answer: Any) -> None:
    assert lost(name, answer) == []
    assert same(read(name, answer).rebuild(), answer)


def bent(value: Any, draw: st.DrawFn) -> Any:
    """An answer of another make: rows as objects, objects as rows, one more level, an envelope."""
    how = draw(st.sampled_from(("keyed", "listed", "deeper", "texts", "plain", "plain")))
    if isinstance(value, dict):
        inner = {key: bent(item, draw) for key, item in value.items()}
        if how == "listed":
            return [{"key": key, "value": item} for key, item in inner.items()]
        return {key: {"value": item} for key, item in inner.items()} if how == "deeper" else inner
    if isinstance(value, list):
        items = [bent(item, draw) for item in value]
        return {f"row {at}": item for at, item in enumerate(items)} if how == "keyed" else items
    return str(value) if how == "texts" else value


@pytest.mark.thorough
@LAW
@given(st.data(), st.sampled_from([*SECTIONS]), st.booleans())
def test_an_answer_of_another_make_is_rebuilt_whole(
    data: st.DataObject, name: str, wrapped: bool
) -> None:
    answer = bent(SAMPLES[name], data.draw)
    answer = {"ok": True, "data": answer} if wrapped else answer
    if isinstance(answer, dict | list):
        assert same(read(name, answer).rebuild(), answer)
