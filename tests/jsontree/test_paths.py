"""One grammar of paths: patterns and concrete paths are parsed and formatted alike."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from aatoolkit.jsontree.paths import (
    KEY_MARKER,
    Elements,
    Entries,
    Field,
    Position,
    Step,
    format_json_path,
    format_key,
    format_path,
    list_leaf_paths_and_texts,
    parse_path,
)

NAMES = st.text(max_size=6) | st.sampled_from(
    ["", "$", "~", "a.b", 'a"b', "[]", "a\\", "a\nb", "{"]
)
CONCRETE = st.lists(st.builds(Field, NAMES) | st.builds(Position, st.integers(0, 99)))
STEPS = st.lists(st.builds(Field, NAMES) | st.builds(Elements) | st.builds(Entries))


@given(CONCRETE)
def test_a_concrete_path_is_parsed_as_it_was_formatted(steps: list[Step]) -> None:
    path = format_json_path(steps)
    assert parse_path(path) == tuple(steps)
    assert path.startswith("$")
    assert not path.endswith(KEY_MARKER)


@given(STEPS)
def test_a_pattern_is_parsed_as_it_was_formatted(steps: list[Step]) -> None:
    assert parse_path(format_path(steps)) == parse_path(format_json_path(steps)) == tuple(steps)


@given(
    st.recursive(st.none() | st.text(max_size=3), lambda b: st.dictionaries(NAMES, b), max_leaves=9)
)
def test_the_path_of_a_leaf_leads_to_it(value: object) -> None:
    for path, _ in list_leaf_paths_and_texts(value, "$"):
        node = value
        for step in parse_path(path):
            assert isinstance(step, Field)
            assert isinstance(node, dict)
            node = node[step.name]
        assert not (isinstance(node, dict) and node)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("points[].a", (Field("points"), Elements(), Field("a"))),
        ('kpis{a,b}."x.y"', (Field("kpis"), Entries(("a", "b")), Field("x.y"))),
        ("$.points[0]", (Field("points"), Position(0))),
        ("$", ()),
        ("$price", (Field("$price"),)),
        ("a b.$", (Field("a b"), Field("$"))),
    ],
)
def test_paths_of_either_spelling(path: str, expected: tuple[Step, ...]) -> None:
    assert parse_path(path) == expected


@pytest.mark.parametrize("path", [".a", "a..b", "a[x]", "a[", 'a."b', "$..a", '"\\q"', "a]"])
def test_what_is_no_path_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="is not a path"):
        parse_path(path)


def test_one_key_as_a_step() -> None:
    assert [format_key(key) for key in ("a", "a b", "1", "")] == [".a", '["a b"]', '["1"]', '[""]']
