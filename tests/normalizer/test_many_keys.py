"""Objects of very many keys: a few nodes hold them, and what has too many nodes is refused."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import pytest

import aatoolkit as aa
from aatoolkit.errors import PayloadError
from aatoolkit.jsontree.cursor import Cursor
from aatoolkit.jsontree.keyed import MAX_FIELDS
from aatoolkit.jsontree.layout import NodeLimit
from aatoolkit.jsontree.nodes import Node
from aatoolkit.normalizer.abridge import abridge
from aatoolkit.normalizer.field_map import field_map
from aatoolkit.sections import Column, Section, Table, records, single

MIXED: list[Any] = [1, "a", None, 0.5, True, [1, "b"], {"x": 1}, {}, []]
MANY = 3 * MAX_FIELDS
SECTION = Section(
    "mine",
    "Items.",
    Table("items", "One row per item.", records("items"), "id", (Column("id", "string"),)),
    Table("facts", "One row.", single(), (), (Column("total", "Int64", optional=True),)),
)


def keys(start: int = 0, stop: int = MANY) -> dict[str, Any]:
    return {f"k{n}": MIXED[n % len(MIXED)] for n in range(start, stop)}


def nodes(value: Any) -> int:
    """How many nodes a parsed value has."""
    limit = NodeLimit()
    Node(field_map(SECTION), limit).add_values([value], range(1), 0)
    return limit.count


DOCUMENTS = {
    "beside declared fields": {"total": 1, **keys(), "items": [{"id": "a"}]},
    "in a record": {"items": [{"id": "a"}, {**keys(), "id": "b"}, {"id": "c"}]},
    "a few in each record": {
        "items": [{"id": str(n), **keys(n * 20, n * 20 + 20)} for n in range(MANY // 20)]
    },
    "in an object that no column takes": {"items": [], "other": keys()},
    "in objects of an array": {"items": [], "other": [keys(), keys(5), 1, keys(0, 2)]},
}


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::aatoolkit.errors.SchemaDriftWarning")
@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS)
def test_many_keys_take_few_nodes_and_nothing_is_lost(document: Any) -> None:
    assert nodes(document) < 100
    tables = aa.normalize(SECTION, json.dumps(document).encode())
    assert tables.rebuild() == document
    assert aa.unshred(aa.shred(document)) == document


@pytest.mark.filterwarnings("ignore::aatoolkit.errors.SchemaDriftWarning")
def test_keys_that_are_too_many_are_one_drift_and_each_is_in_extra() -> None:
    tables = aa.normalize(SECTION, DOCUMENTS["beside declared fields"])
    assert tables["facts"]["total"].tolist() == [1]
    (drift,) = tables.drift.itertuples()
    assert (drift.kind, drift.path, drift.count) == ("new", "{}", MANY)
    assert {"$.k0", "$.k5[1]", "$.k6.x"} <= set(tables.extra["path"])


def test_fields_up_to_the_limit_have_nodes_of_their_own() -> None:
    document = Cursor.of(Node())
    assert document.others() is None
    assert nodes({"items": [{"id": "a", **keys(0, MAX_FIELDS - 10)}]}) > MAX_FIELDS


@pytest.mark.parametrize("read", [aa.shred, lambda one, **how: aa.normalize(SECTION, one, **how)])
def test_too_many_different_paths_are_refused(read: Any) -> None:
    deep = {f"a{n}": {f"b{n}_{m}": {"c": m, "d": "x"} for m in range(2)} for n in range(40)}
    with pytest.raises(PayloadError, match="more than 50 different paths") as caught:
        read({"items": deep}, max_nodes=50)
    assert isinstance(caught.value, PayloadError)
    assert caught.value.limit == 50


def test_the_limit_is_not_per_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aatoolkit.jsontree.split._CHUNK", 600)
    monkeypatch.setattr("aatoolkit.jsontree.split._FIRST", 600)
    monkeypatch.setattr("aatoolkit.jsontree.arrow_reader._CHUNK", 600)
    rows = [{"id": "x" * 40, f"f{n}": n} for n in range(200)]
    with pytest.raises(PayloadError):
        aa.normalize(SECTION, json.dumps({"items": rows}).encode(), max_nodes=150)


@pytest.mark.filterwarnings("ignore::aatoolkit.errors.SchemaDriftWarning")
def test_a_statement_among_very_many_keys_is_read() -> None:
    stated = {"availability": {"status": "not_connected", "reason": "No CNAME."}}
    answer = {**keys(), **stated, **keys(MANY, 2 * MANY), "items": []}
    assert "not connected" in aa.normalize(SECTION, answer).words["items"]


def test_a_document_of_few_keys_is_not_shortened() -> None:
    document = {"items": [keys(0, 50)], **keys(0, 50)}
    assert abridge(document, None) == document
    assert len(abridge({"other": keys()}, None)["other"]) < MAX_FIELDS


CALLS_A_KEY = 20


def calls_for(objects: int) -> int:
    """How many calls it takes to read objects of which each has other keys."""
    rows = [{f"k{row}_{n}": n for n in range(20)} for row in range(objects)]
    body, calls = json.dumps({"rows": rows}).encode(), 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        aa.normalize("domains", body)
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.filterwarnings("ignore::aatoolkit.errors.AAToolkitWarning")
def test_objects_that_each_have_other_keys_take_as_many_steps_as_they_have_keys() -> None:
    calls_for(5)
    few, many = calls_for(30), calls_for(120)
    assert many < 5 * few
    assert many - few < 20 * (120 - 30) * CALLS_A_KEY


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::aatoolkit.errors.AAToolkitWarning")
@pytest.mark.parametrize("key", ["@" * 200_000, "gpt" + "1" * 200_000 + "!", "a." * 100_000 + "!"])
@pytest.mark.parametrize("section", [SECTION, "domains"])
def test_a_very_long_key_is_read_in_the_time_of_its_length(section: Any, key: str) -> None:
    answer = {"items": [{"id": "a", key: 3}, {"id": "b", key: 4}], "engines": {key: {"x": 1}}}
    start = time.process_time()
    tables = aa.normalize(section, json.dumps(answer).encode())
    assert len(tables.extra) + len(tables.hints) < 20
    assert time.process_time() - start < 5
