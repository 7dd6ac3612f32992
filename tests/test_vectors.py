"""All values at one path, side by side, with the way back to each."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aatoolkit.vectors import MISSING, Vector, leaves

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
def domains() -> Vector:
    return Vector.of(DOCUMENT).field("domains").each()


def test_a_field_is_aligned_and_tells_missing_from_null(domains: Vector) -> None:
    assert domains.field("domain").values == ["a", None, MISSING, MISSING]
    assert repr(MISSING) == "MISSING"


def test_elements_and_entries_know_their_row_and_label(domains: Vector) -> None:
    entries = domains.field("byEngine").entries()
    assert entries.values == [1, None]
    assert (list(entries.rows), entries.labels) == ([0, 0], ["chatgpt", "gem.ini"])  # type: ignore[arg-type]
    tags = domains.field("tags").each()
    assert tags.values == ["x", [], "y"]
    assert (list(tags.rows), tags.labels) == ([3, 3, 3], [0, 1, 2])  # type: ignore[arg-type]


def test_entries_may_be_limited_to_some_keys(domains: Vector) -> None:
    found = domains.field("byEngine").entries(("gem.ini", "gone"))
    assert (found.values, found.labels) == ([None], ["gem.ini"])


def test_a_path_leads_back_to_each_value(domains: Vector) -> None:
    assert domains.path(2) == "$.domains[2]"
    assert domains.field("byEngine").entries().path(1) == '$.domains[0].byEngine["gem.ini"]'
    assert domains.field("tags").each().path(2) == "$.domains[3].tags[2]"
    assert Vector.of(1).path(0) == "$"


def test_the_record_around_a_value(domains: Vector) -> None:
    around, rows = domains.field("tags").each().enclosing()
    assert around is domains
    assert rows.tolist() == [3, 3, 3]
    with pytest.raises(LookupError, match="not enclosed"):
        Vector.of(1).field("a").enclosing()


def test_the_record_around_entries_of_entries_is_that_of_the_array() -> None:
    pages = Vector.of({"pages": [{}, {"a": {"x": {"y": 1}}}]}).field("pages").each()
    around, rows = pages.field("a").entries().entries().enclosing()
    assert around is pages
    assert rows.tolist() == [1]


def test_what_no_object_holds_is_absent_and_below_null_nothing_is(domains: Vector) -> None:
    assert domains.field("gone").absent
    assert domains.field("gone").field("further").absent
    assert not domains.field("domain").absent
    assert not Vector.of({"a": None}).field("a").field("b").absent
    assert not Vector.of([]).field("a").absent
    assert not Vector.of({"a": []}).field("a").each().field("b").absent


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
    assert Vector.of({key: 1}).field(key).path(0) == path
    assert Vector.of({key: 1}).entries().path(0) == path
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
