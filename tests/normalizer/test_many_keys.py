"""Objects of very many keys: a few nodes hold them, and what has too many nodes is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

import aatoolkit as aa
from aatoolkit.errors import PayloadError
from aatoolkit.sections import Column, Section, Table, records, single

MIXED: list[Any] = [1, "a", None, 0.5, True, [1, "b"], {"x": 1}, {}, []]
MANY = 3000
SECTION = Section(
    "mine",
    "Items.",
    Table("items", "One row per item.", records("items"), "id", (Column("id", "string"),)),
    Table("facts", "One row.", single(), (), (Column("total", "Int64", optional=True),)),
)


def keys(start: int = 0, stop: int = MANY) -> dict[str, Any]:
    return {f"k{n}": MIXED[n % len(MIXED)] for n in range(start, stop)}


DOCUMENTS = {
    "beside declared fields": {"total": 1, **keys(), "items": [{"id": "a"}]},
    "in a record": {"items": [{"id": "a"}, {**keys(), "id": "b"}, {"id": "c"}]},
    "a few in each record": {
        "items": [{"id": str(n), **keys(n * 20, n * 20 + 20)} for n in range(MANY // 20)]
    },
    "in an object that no column takes": {"items": [], "other": keys()},
    "in objects of an array": {"items": [], "other": [keys(), keys(5), 1, keys(0, 2)]},
}


@pytest.mark.filterwarnings("ignore::aatoolkit.errors.SchemaDriftWarning")
@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS)
def test_many_keys_take_few_nodes_and_nothing_is_lost(document: Any) -> None:
    tables = aa.normalize(SECTION, json.dumps(document).encode(), max_nodes=100)
    assert tables.rebuild() == document
    assert aa.unshred(aa.shred(document)) == document


@pytest.mark.filterwarnings("ignore::aatoolkit.errors.SchemaDriftWarning")
def test_keys_that_are_too_many_are_one_drift_and_each_is_in_extra() -> None:
    tables = aa.normalize(SECTION, DOCUMENTS["beside declared fields"])
    assert tables["facts"]["total"].tolist() == [1]
    (drift,) = tables.drift.itertuples()
    assert (drift.kind, drift.path, drift.count) == ("new", "{}", MANY)
    assert {"$.k0", "$.k5[1]", "$.k6.x"} <= set(tables.extra["path"])


@pytest.mark.parametrize(
    "read", [aa.shred, lambda answer, **how: aa.normalize(SECTION, answer, **how)]
)
def test_too_many_different_paths_are_refused(read: Any) -> None:
    deep = {f"a{n}": {f"b{n}_{m}": {"c": m, "d": "x"} for m in range(2)} for n in range(40)}
    with pytest.raises(PayloadError, match="more than 50 different paths") as caught:
        read({"items": deep}, max_nodes=50)
    assert caught.value.limit == 50


@pytest.mark.filterwarnings("ignore::aatoolkit.errors.SchemaDriftWarning")
@pytest.mark.parametrize("name", ["items", "other"])
def test_no_more_keys_are_read_for_their_words_than_an_object_may_have(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    monkeypatch.setattr("aatoolkit.availability.detect.response_scan.echoes_request", read.append)
    rows = [
        {"id": str(n), **dict.fromkeys(f"{name}{n}_{m}" for m in range(100))} for n in range(40)
    ]
    tables = aa.normalize(SECTION, {"items": [{"id": "a"}], name: rows, f"x{name}": 1})
    assert 0 < len({*read}) < 1100
    assert len(tables.extra) >= 4000
