"""All values at one path, side by side, with the way back to each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aatoolkit.jsontree.paths import leaves
from aatoolkit.jsontree.vectors import MISSING, Vector

DOCUMENT: dict[str, Any] = {
    "domains": [
        {"domain": "a", "byEngine": {"chatgpt": 1, "gem.ini": None}},
        {"domain": None, "byEngine": {}},
        5,
        {"byEngine": None, "tags": ["x", [], "y"]},
    ],
}

documents = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=15,
)


@pytest.fixture
def domains() -> Iterator[Vector]:
    document = Vector.of(DOCUMENT)
    yield document.field("domains").each()
    assert len(document) == 1, "it was held until here"


def test_a_field_is_aligned_and_distinguishes_missing_from_null(domains: Vector) -> None:
    assert domains.field("domain").values == ["a", None, MISSING, MISSING]
    assert repr(MISSING) == "MISSING"


def test_elements_and_entries_know_their_row_and_label(domains: Vector) -> None:
    entries = domains.field("byEngine").entries()
    assert entries.values == [1, None]
    assert (list(entries.level.parents), entries.level.keys) == ([0, 0], ["chatgpt", "gem.ini"])
    tags = domains.field("tags").each()
    assert tags.values == ["x", [], "y"]
    assert (list(tags.level.parents), list(tags.level.positions)) == ([3, 3, 3], [0, 1, 2])


def test_entries_may_be_limited_to_some_keys(domains: Vector) -> None:
    found = domains.field("byEngine").entries(("gem.ini", "gone"))
    assert (found.values, found.level.keys) == ([None], ["gem.ini"])


def test_a_path_leads_back_to_each_value(domains: Vector) -> None:
    assert domains.path(2) == "$.domains[2]"
    assert domains.field("byEngine").entries().path(1) == '$.domains[0].byEngine["gem.ini"]'
    assert domains.field("tags").each().path(2) == "$.domains[3].tags[2]"
    assert Vector.of(1).path(0) == "$"


def test_the_same_step_is_taken_once(domains: Vector) -> None:
    assert domains.field("tags").each() is domains.field("tags").each()
    entries = domains.field("byEngine")
    assert entries.entries(["chatgpt"]) is entries.entries(("chatgpt",))
    assert entries.entries() is not entries.entries(("chatgpt",))


@pytest.mark.parametrize(
    ("key", "path"),
    [
        ("plain_1", "$.plain_1"),
        ("a.b", '$["a.b"]'),
        ("a b", '$["a b"]'),
        ('say "x"', '$["say \\"x\\""]'),
        ("", '$[""]'),
        ("été", '$["été"]'),
        ("0", '$["0"]'),
        ("[0]", '$["[0]"]'),
        ("back\\slash", '$["back\\\\slash"]'),
        ("line\nend", '$["line\\nend"]'),
        ("trailing\n", '$["trailing\\n"]'),
    ],
)
def test_any_key_has_a_path_of_its_own(key: str, path: str) -> None:
    document = Vector.of({key: 1})
    assert document.field(key).path(0) == path
    assert document.entries().path(0) == path
    assert leaves({key: 1}, "$") == [(path, "1")]


def test_leaves_are_json_and_empty_containers_are_leaves() -> None:
    assert leaves({"a": {}, "b": [[], None, True, "é"], "c": 2**70}, "$.x") == [
        ("$.x.a", "{}"),
        ("$.x.b[0]", "[]"),
        ("$.x.b[1]", "null"),
        ("$.x.b[2]", "true"),
        ("$.x.b[3]", '"é"'),
        ("$.x.c", str(2**70)),
    ]


def test_values_alone_do_not_hold_their_document() -> None:
    found = Vector.of({"a": [1]}).field("a").each()
    assert found.values == [1]
    with pytest.raises(LookupError, match="no longer held"):
        found.path(0)


@given(documents)
def test_no_two_leaves_share_a_path_and_none_is_lost(document: object) -> None:
    found = leaves(document, "$")
    assert len({path for path, _ in found}) == len(found)
    texts = [text for _, text in found]
    assert sorted(texts) == sorted(json.dumps(leaf, ensure_ascii=False) for leaf in flat(document))


def flat(value: object) -> list[object]:
    if isinstance(value, dict | list) and value:
        inner = value.values() if isinstance(value, dict) else value
        return [leaf for item in inner for leaf in flat(item)]
    return [value]
