"""Experiments: what adds up over engines, what does not, and what was not tested."""

from __future__ import annotations

import numpy as np
import pytest

from aatoolkit.jsontree.paths import Each, Field
from aatoolkit.sections.inference.experiments import (
    Split,
    additivity,
    align,
    is_ignored,
    pooling_weights,
)
from aatoolkit.sections.inference.relations import Measure, Relation


def _relation(answers: list[dict[str, tuple[float, ...]]]) -> tuple[Relation, list[np.ndarray]]:
    """A relation with one row a key and answer, and its columns of numbers."""
    keys = [key for answer in answers for key in answer]
    held = [numbers for answer in answers for numbers in answer.values()]
    at = np.repeat(np.arange(len(answers)), [len(answer) for answer in answers])
    column = Measure("host", "host", "rows[].host", keys)
    relation = Relation("t", "records", (Field("rows"), Each()), "", [column], at, key=("host",))
    return relation, [np.array(one, float) for one in zip(*held, strict=True)]


ENGINES = Split("engine", 0, (1, 2))


def _split(parts: list[dict[str, tuple[float, ...]]], whole: dict[str, tuple[float, ...]]):
    relation, numbers = _relation([whole, *parts])
    aligned = align(relation, ENGINES)
    assert aligned is not None
    return aligned, numbers


def test_counts_that_add_up_are_proved():
    parts = [{"a": (3,), "b": (5,), "c": (9,)}, {"a": (1,), "b": (2,), "c": (4,)}]
    aligned, (numbers,) = _split(parts, {"a": (4,), "b": (7,), "c": (13,)})
    assert additivity(numbers, aligned, "engine").outcome == "adds"


def test_a_row_that_only_one_engine_has_proves_nothing():
    parts = [{"a": (3,), "b": (5,), "c": (9,)}, {"a": (0,), "b": (0,), "c": (0,)}]
    aligned, (numbers,) = _split(parts, {"a": (3,), "b": (5,), "c": (9,)})
    assert additivity(numbers, aligned, "engine").outcome == "untested"


def test_distinct_things_are_less_than_the_sum():
    parts = [{"a": (3,), "b": (5,), "c": (9,)}, {"a": (2,), "b": (4,), "c": (4,)}]
    aligned, (numbers,) = _split(parts, {"a": (4,), "b": (7,), "c": (9,)})
    assert additivity(numbers, aligned, "engine").outcome == "distinct"


def test_a_number_that_a_filter_does_not_change_proves_nothing():
    whole = {"a": (4,), "b": (7,), "c": (9,)}
    aligned, (numbers,) = _split([whole, whole, {"a": (4,)}], whole)
    assert additivity(numbers, aligned, "engine").outcome == "untested"


def test_rows_below_a_threshold_are_not_zero():
    parts = [
        {"a": (30,), "b": (50,), "c": (90,), "d": (8,)},
        {"a": (10,), "b": (20,), "c": (40,)},
    ]
    whole = {"a": (40,), "b": (70,), "c": (130,), "d": (10,), "e": (3,)}
    aligned, (numbers,) = _split(parts, whole)
    assert additivity(numbers, aligned, "engine").outcome == "adds"


def test_a_filter_that_was_ignored_tests_nothing():
    whole = {"a": (3,), "b": (5,), "c": (9,)}
    aligned, numbers = _split([whole, whole], whole)
    assert is_ignored(numbers, aligned)


def test_the_weight_by_which_rates_pool_is_found():
    rng = np.random.default_rng(3)
    count = rng.integers(5, 60, (2, 8)).astype(float)
    other = rng.integers(5, 60, (2, 8)).astype(float)
    rate = np.round(rng.uniform(1, 6, (2, 8)), 2)
    pooled = np.round((rate * count).sum(axis=0) / count.sum(axis=0), 2)
    keys = "abcdefgh"
    parts = [
        {key: (count[e, i], other[e, i], rate[e, i]) for i, key in enumerate(keys)} for e in (0, 1)
    ]
    whole = {key: (count[:, i].sum(), other[:, i].sum(), pooled[i]) for i, key in enumerate(keys)}
    aligned, (mentions, clicks, position) = _split(parts, whole)

    found = pooling_weights(position, 2, {"mentions": mentions, "clicks": clicks}, aligned)

    assert list(found) == ["mentions"]


@pytest.mark.parametrize(("pick", "outcome"), [(min, "least"), (max, "most")])
def test_the_best_of_the_parts_is_seen(pick, outcome):
    values = [{"a": 3, "b": 5, "c": 9, "d": 2}, {"a": 1, "b": 7, "c": 4, "d": 6}]
    whole = {key: (pick(part[key] for part in values),) for key in "abcd"}
    aligned, (numbers,) = _split([{k: (v,) for k, v in part.items()} for part in values], whole)
    assert additivity(numbers, aligned, "engine").outcome == outcome


def test_rows_known_by_their_place_alone_are_not_compared_between_answers():
    rows = Relation("ads", "records", (Field("rows"), Each()), None, [], np.array([0, 0, 1, 1]))
    rows.columns.append(Measure("position", "#0", "rows[]", [0, 1, 0, 1]))
    rows.key = ("position",)
    assert align(rows, Split("engine", 0, (1,))) is None
