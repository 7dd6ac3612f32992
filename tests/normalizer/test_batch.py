"""Answers that are read together give what each gives alone, or are left to be read alone."""

from __future__ import annotations

import json
import random
import warnings
from copy import deepcopy
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from effort import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import aatoolkit as aa
from aatoolkit import sections
from aatoolkit.errors import AAToolkitError
from aatoolkit.normalizer.batch import BatchAnswer, can_batch, normalize_batch
from aatoolkit.normalizer.normalize import normalize
from aatoolkit.payload import Payload
from aatoolkit.sections import Column, Section, Table
from aatoolkit.sections.row_shapes import (
    chart,
    columnar,
    computed,
    grid,
    keyed,
    matrix,
    pairs,
    records,
    single,
)

pytestmark = [pytest.mark.filterwarnings("ignore::Warning"), pytest.mark.timeout(600)]

SAMPLES = {
    name: json.loads(
        (Path(__file__).parents[2] / "data" / "samples" / f"{name}.json").read_text("utf-8")
    )
    for name in sections.names()
}
AT = datetime(2026, 11, 20, tzinfo=UTC)


def payload_of(name: str, document: Any, status: int = 200) -> Payload:
    body = json.dumps(document).encode()
    return Payload(
        body, "https://a.example/x", status, fetched_at=AT, section=name, host="a.example"
    )


def alone(section: Section, owner: str, payload: Payload) -> Any:
    """What an answer gives by itself; None if it is refused."""
    try:
        return normalize(section if owner == "own" else section.name, payload)
    except AAToolkitError:
        return None


def check(section: Section, documents: list[Any], owner: str = "shipped") -> int:
    """Compare, and count the answers that were read together."""
    payloads = [payload_of(section.name, one) for one in documents]
    answers = [
        BatchAnswer(payload, document)
        for payload, document in zip(payloads, documents, strict=True)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        together = normalize_batch(section, owner, answers)
        singly = [alone(section, owner, payload) for payload in payloads]
    for tables, one in zip(together, singly, strict=True):
        if tables is None:
            continue
        assert one is not None
        assert not one.drafted
        assert not len(one.drift)
        parts = one._parts
        assert tables.prefix == one._prefix
        assert tables.signals == parts.signals
        assert tables.hints == parts.hints
        assert list(tables.tables) == list(parts.arrows)
        for name, (rows, known) in tables.tables.items():
            arrow, described = parts.arrows[name]
            assert rows.slice().schema.equals(arrow.schema), name
            assert rows.slice().equals(arrow), name
            assert known.columns == described.columns, name
            assert known.key == described.key
    return sum(one is not None for one in together)


OTHERS: tuple[Any, ...] = (
    None, 0, -0.0, 1, 2.5, 2**60, True, False, "", "x", "chatgpt", "2026-11-19", "n/a",
    [], {}, [None], [1], {"status": "unavailable"}, {"a": {"b": 1}}, "not_configured", "partial",
)  # fmt: skip


def changed(document: Any, draw: random.Random) -> Any:
    """A document with one thing changed, wherever it is."""
    document = deepcopy(document)
    places: list[tuple[Any, Any]] = []
    waiting = [document]
    while waiting:
        value = waiting.pop()
        keys = value if isinstance(value, dict) else range(len(value))
        for key in keys:
            places.append((value, key))
            if isinstance(value[key], dict | list):
                waiting.append(value[key])
    if not places:
        return document
    around, key = draw.choice(places)
    what = draw.randrange(6)
    if what == 0:
        del around[key]
    elif what == 1 and isinstance(around, list):
        around.append(deepcopy(around[key]))
    elif what == 2 and isinstance(around, dict):
        around[draw.choice(("status", "availability", "configured", "zzz", "notes"))] = draw.choice(
            OTHERS
        )
    elif what == 3 and isinstance(around[key], list):
        around[key] = around[key][: draw.randrange(2)]
    elif what == 4:
        value = around.pop(key)  # an object's keys in another order
        if isinstance(around, dict):
            around[key] = value
    else:
        around[key] = draw.choice(OTHERS)
    return document


@pytest.mark.parametrize("name", SAMPLES)
def test_answers_as_declared_are_read_together(name: str) -> None:
    other = json.loads(json.dumps(SAMPLES[name]).replace("acme", "globex"))
    assert check(sections.get(name), [SAMPLES[name], other, SAMPLES[name]]) == 3


@settings(
    max_examples=examples(300, 20), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
@given(st.sampled_from(sorted(SAMPLES)), st.integers(0, 2**32), st.integers(1, 4))
def test_what_is_read_together_is_what_is_read_alone(name: str, seed: int, times: int) -> None:
    draw = random.Random(seed)
    documents = [SAMPLES[name]]
    for _ in range(draw.randrange(1, 5)):
        document = SAMPLES[name]
        for _ in range(draw.randrange(times + 1)):
            document = changed(document, draw)
        documents.append(document)
    draw.shuffle(documents)
    assert check(sections.get(name), documents)


def column(name: str, dtype: str, source: str | None = None, **more: Any) -> Column:
    return Column(name, dtype, f"{name}.", source, **more)


SHAPES = Section(
    "shapes",
    "Rows of every shape.",
    Table(
        "brands", "Records in records.", records("groups[].brands"), "brand",
        (
            column("brand", "string", "name", null="?"),
            column("group", "string", "^name"),
            column("position", "Int64", "#1"),
            column("outer", "Int64", "^#0"),
            column("tone", "category", levels=("good", "bad")),
            column("rate", "Float64", parse="number", scale=0.01, missing=("n/a", -1)),
            column("day", "date", optional=True),
            column("tags", "list<string>"),
            column("title", "string", "$.meta.title"),
        ),
    ),
    Table(
        "engines", "Entries.", keyed("groups[].engines", key="engine"), ("engine",),
        (
            column("engine", "string"),
            column("group", "string", "^name"),
            column("mentions", "Int64", "mentions"),
            column("share", "Float64", "share", optional=True),
        ),
    ),
    Table(
        "cells", "A matrix.", matrix("m.values", rows="m.rows", columns="m.columns",
                                     names=("row", "col")), ("row", "col"),
        (column("row", "string"), column("col", "string"), column("cell", "Float64", ".")),
    ),
    Table(
        "terms", "Pairs.", pairs("terms", "term", "times"), "term",
        (column("term", "string", "[0]"), column("times", "Int64", "[1]")),
    ),
    Table(
        "line", "Columns.", columnar("line", axis="days"), "day",
        (column("day", "date", "."), column("count", "Int64", "&counts")),
    ),
    Table(
        "chart", "A chart.", chart("series[].data", axis="labels", name="label"),
        ("series", "label"),
        (column("series", "string", "^name"), column("label", "string"), column("n", "Int64", ".")),
    ),
    Table(
        "parts", "Rows but the total.",
        records("parts").where(without={"part": ("all", None)}), "part",
        (column("part", "string"), column("size", "Int64")),
    ),
    Table(
        "facts", "One row.", single("meta"), "title",
        (column("title", "string"), column("flag", "boolean", optional=True)),
    ),
)  # fmt: skip


def shaped(draw: random.Random) -> dict[str, Any]:
    """An answer of all the shapes, with few or no rows of each."""

    def some(most: int = 3) -> range:
        return range(draw.randrange(most + 1))

    def brand(n: int) -> dict[str, Any]:
        found = {
            "name": f"b{n}", "tone": draw.choice(("good", "bad", None)),
            "rate": draw.choice(("12%", 3, "n/a", None, -1)), "tags": draw.choice(([], ["x", "y"])),
        }  # fmt: skip
        return found | ({"day": "2026-11-0" + str(n + 1)} if draw.random() < 0.3 else {})

    rows, columns, days = some(2), some(2), some(2)
    return {
        "meta": {"title": draw.choice("abc")} | ({"flag": True} if draw.random() < 0.5 else {}),
        "groups": [
            {
                "name": f"g{g}", "brands": [brand(10 * g + n) for n in some(2)],
                "engines": {f"e{g}{n}": {"mentions": n} for n in some(2)},
            }
            for g in some()
        ],
        "m": {
            "values": [[draw.random() for _ in columns] for _ in rows],
            "rows": [f"r{n}" for n in rows], "columns": [f"c{n}" for n in columns],
        },
        "terms": [[f"t{n}", n] for n in some()],
        "line": {"days": [f"2026-11-1{n}" for n in days], "counts": list(days)},
        "labels": [f"l{n}" for n in columns],
        "series": [{"name": f"s{n}", "data": [1 for _ in columns]} for n in some(2)],
        "parts": [{"part": draw.choice(("a", "all", None)), "size": 1} for _ in some(1)],
    }  # fmt: skip


@settings(max_examples=examples(300, 12), deadline=None)
@given(st.integers(0, 2**32))
def test_every_shape_of_rows_is_read_together_as_alone(seed: int) -> None:
    draw = random.Random(seed)
    documents = [shaped(draw) for _ in range(draw.randrange(2, 6))]
    documents += [changed(shaped(draw), draw) for _ in range(draw.randrange(4))]
    draw.shuffle(documents)
    check(SHAPES, documents, "own")


def test_most_answers_of_odd_shapes_are_read_together() -> None:
    draw = random.Random(7)
    assert check(SHAPES, [shaped(draw) for _ in range(12)], "own") > 6


def test_numbers_that_are_denied_and_new_levels_are_left_alone() -> None:
    section = sections.get("domains")
    denied = SAMPLES["domains"] | {"availability": {"status": "not_connected"}}
    assert check(section, [SAMPLES["domains"], denied, SAMPLES["domains"]]) == 2
    assert check(section, [denied, denied]) == 0
    good = {"meta": {"title": "t"}, "parts": [], "terms": [], "labels": [], "series": []}
    good |= {"m": {"values": [], "rows": [], "columns": []}, "line": {"days": [], "counts": []}}
    brand = {"name": "b", "rate": 1, "tags": []}
    groups = [
        [{"name": "g", "brands": [brand | {"tone": tone}], "engines": {}}]
        for tone in ("good", "odd", "bad")
    ]
    assert check(SHAPES, [good | {"groups": group} for group in groups], "own") == 2


@pytest.mark.parametrize(
    "rows",
    [
        computed("a", lambda value: value),
        grid("a", header="b"),
        records("a").where(only={"kind": ("x",)}),
    ],
)
def test_rows_that_depend_on_the_whole_answer_are_never_read_together(rows: Any) -> None:
    table = Table("t", "Rows.", rows, (), (column("n", "Int64"),))
    assert not can_batch(Section("odd", "Odd.", table))
    assert can_batch(SHAPES)


def test_the_year_of_an_answer_is_its_own() -> None:
    day = column("day", "date", parse="month day", year="$.window.end")
    assert not can_batch(Section("odd", "Odd.", Table("t", "T.", records("a"), (), (day,))))


def test_errors_keys_twice_and_other_documents_are_left_alone() -> None:
    section = sections.get("domains")
    sample = SAMPLES["domains"]
    body = json.dumps(sample).encode()
    twice = body.replace(b'"section"', b'"section": 1, "section"', 1)
    bodies = [(body, 200), (body, 200), (b'{"error": "no"}', 500), (b"[]", 200)]
    answers = [
        BatchAnswer(
            Payload(
                text,
                "https://a.example/x",
                status,
                fetched_at=AT,
                section="domains",
                host="a.example",
            ),
            json.loads(text),
        )
        for text, status in bodies
    ]
    found = normalize_batch(section, "shipped", answers)
    assert [one is not None for one in found] == [True, True, False, False]
    answers[1] = BatchAnswer(aa.Payload(twice, answers[0].payload.url, 200, fetched_at=AT), sample)
    assert normalize_batch(section, "shipped", answers[:2]) == [None, None]
