"""The combined view: split wherever its sections sit, kept whole where none is found."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from effort import examples
from hypothesis import HealthCheck, given, settings, strategies as st
from samples import payload_of, sample

from aatoolkit import sections
from aatoolkit.client import reading
from aatoolkit.errors import AAToolkitWarning

NAMES = sections.names()
SAMPLES = {name: sample(name) for name in NAMES}


chosen = st.lists(st.sampled_from(NAMES), min_size=2, max_size=6, unique=True)
wrappers = st.lists(
    st.sampled_from(
        [
            lambda inner: {"data": inner},
            lambda inner: {"ok": True, "result": inner, "meta": {"prompts": 3}},
            lambda inner: [inner],
            lambda inner: {"window": {"days": 30}, "a.b": {"": inner}},
            lambda inner: {"rows": [{"domain": "x.example"}] * 40, "view": inner},
        ]
    ),
    max_size=12,
)


@settings(
    max_examples=examples(100),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(chosen, wrappers, st.booleans())
def test_sections_are_found_however_deep_they_sit(
    names: list[str], around: list[Any], is_array: bool
) -> None:
    document: Any = {name: SAMPLES[name] for name in names}
    if is_array:
        document = [{**SAMPLES[name], "section": name} for name in names]
    for wrap in around:
        document = wrap(document)
    parts = reading.split_by_section(payload_of(document), sections.names())
    assert [*parts] == names
    for name, part in parts.items():
        assert part.json == {**SAMPLES[name], "section": name}
        assert (part.section, part.host, part.url) == (
            name,
            "acme.example",
            "https://api.example/agent",
        )


@pytest.mark.thorough
@settings(
    max_examples=examples(30, fast=10),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(st.sampled_from(NAMES), st.sampled_from(["view", "odd key", "x.y"]))
def test_an_answer_that_cannot_be_split_is_kept_whole(name: str, key: str) -> None:
    answer = {key: SAMPLES[name], "count": 1}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AAToolkitWarning)
        dataset = reading.read_combined(payload_of(answer), reading.ReadingOptions())
    assert [*dataset] == ["combined"]
    assert dataset["combined"].rebuild() == answer
