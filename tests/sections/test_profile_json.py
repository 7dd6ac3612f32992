"""Profiles as JSON: nothing of a declaration is lost, and nothing else is taken for one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

import aatoolkit as aa
from aatoolkit.errors import AAToolkitError
from aatoolkit.sections import Column, Profile, Section, Table, computed, records
from aatoolkit.sections.profile import fingerprint
from aatoolkit.sections.profile_json import dump_profile, load_profile

SHIPPED = aa.sections.default_profile()


def again(profile: Profile) -> Profile:
    return load_profile(json.loads(json.dumps(dump_profile(profile))))


@pytest.mark.parametrize("name", sorted(SHIPPED))
def test_a_shipped_section_comes_back_as_it_was(name: str) -> None:
    mine = Profile("mine", SHIPPED[name], doc="Theirs.", baseline={"drift": {name: [["a", "b"]]}})
    loaded = again(mine)
    assert loaded[name] == mine[name]
    # The fingerprint also compares what equality leaves out, such as the paths of columns.
    assert fingerprint(loaded[name]) == fingerprint(mine[name])
    assert (loaded.name, loaded.doc) == ("mine", "Theirs.")
    assert dict(loaded.baseline) == dict(mine.baseline)


def test_rows_filters_sentinels_and_rules_come_back_with_their_types() -> None:
    column = Column(
        "hits", "Float64", source="h", parse="number", scale=0.01, missing=(-1, -1.0, "", True)
    )
    table = Table(
        "t",
        "Rows.",
        records("a.b").where(without={"kind": ("total", None, 0, False)}, only={"x": (1.5,)}),
        ("name",),
        (Column("name", "string", units={"a": "b"}), column),
    )
    section = Section("mine", "Mine.", table).with_rule(at="meta.s", words={"red": "partial"})
    loaded = again(Profile("mine", section))["mine"]
    assert repr(loaded) == repr(section)
    assert [type(mark) for mark in loaded["t"]["hits"].missing] == [int, float, str, bool]


def test_rows_that_a_function_makes_are_left_out() -> None:
    computed_table = Table("t", "Rows.", computed("a", list), "n", (Column("n", "Int64"),))
    plain = Table("u", "Rows.", records("a"), "n", (Column("n", "Int64"),))
    profile = Profile("mine", Section("one", "One.", computed_table), Section("two", "Two.", plain))
    assert again(profile).names == ("two",)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=4),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["name", "doc", "sections", "tables", "baseline", "rows", "columns"]
                ),
                inner,
            )
        ),
        max_leaves=12,
    )
)
def test_what_is_no_profile_is_refused_in_a_known_way(value: Any) -> None:
    try:
        result = load_profile(value)
    except (ValueError, TypeError, LookupError, AttributeError, AAToolkitError):
        return
    assert isinstance(result, Profile)
