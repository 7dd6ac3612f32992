"""Identities: what proves a ratio, a sum or a share, and what only seems to."""

from __future__ import annotations

import numpy as np
import pytest

from aatoolkit.sections.inference.identities import (
    Operand,
    is_proved_sum,
    ratios,
    sibling_shares,
    whole_numerators,
)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def _counts(rng, rows, low=20, high=900):
    below = rng.integers(low, high, rows).astype(float)
    above = np.floor(below * rng.uniform(0.1, 0.9, rows))
    return above, below


def test_a_rounded_rate_is_the_ratio_of_its_counts(rng):
    above, below = _counts(rng, 30)
    printed = np.round(100 * above / below, 1)
    counts = [Operand("mentions", above, True), Operand("answers", below, True)]

    (found,) = ratios(printed, 1, 100.0, counts)

    assert (found.numerator.name, found.denominator.name, found.factor) == (
        "mentions",
        "answers",
        100.0,
    )


def test_one_row_that_does_not_fit_disproves_it(rng):
    above, below = _counts(rng, 30)
    printed = np.round(above / below, 4)
    printed[17] += 0.0002
    counts = [Operand("mentions", above, True), Operand("answers", below, True)]

    assert ratios(printed, 4, 1.0, counts) == []


def test_four_rows_are_not_enough_and_neither_is_one_row_repeated(rng):
    above, below = _counts(rng, 4)
    counts = [Operand("a", above, True), Operand("b", below, True)]
    assert ratios(np.round(above / below, 3), 3, 1.0, counts) == []

    same = [Operand(one.name, np.tile(one.numbers[:1], 40), True) for one in counts]
    assert ratios(np.round(same[0].numbers / same[1].numbers, 3), 3, 1.0, same) == []


def test_near_duplicates_of_a_denominator_all_survive(rng):
    above, below = _counts(rng, 20)
    counts = [
        Operand("mentions", above, True),
        Operand("answers", below, True),
        Operand("runs", below.copy(), True),
    ]
    found = ratios(np.round(above / below, 3), 3, 1.0, counts)

    assert {one.denominator.name for one in found} == {"answers", "runs"}


def test_wrong_pairs_do_not_pass_by_chance(rng):
    passed = 0
    for _ in range(300):
        above, below = _counts(rng, 6)
        other, more = _counts(rng, 6)
        printed = np.round(100 * above / below, 1)
        counts = [Operand("x", other, True), Operand("y", more, True)]
        passed += len(ratios(printed, 1, 100.0, counts))
    assert passed == 0


def test_a_numerator_that_is_not_shown_is_whole_on_every_row(rng):
    above, below = _counts(rng, 40)
    other = rng.integers(20, 900, 40).astype(float)
    counts = [Operand("answers", below, True), Operand("clicks", other, True)]

    found = whole_numerators(np.round(above / below, 4), 4, 1.0, counts)

    assert [one.denominator.name for one in found] == ["answers"]
    assert found[0].numerator is None


def test_coarse_rates_prove_no_hidden_numerator(rng):
    above, below = _counts(rng, 40)
    counts = [Operand("answers", below, True)]
    assert whole_numerators(np.round(100 * above / below), 0, 100.0, counts) == []


def test_small_sums_meet_by_chance_and_are_no_proof():
    assert not is_proved_sum(groups=1, rows=4, smallest=28, distinct=1)
    assert is_proved_sum(groups=1, rows=4, smallest=280, distinct=1)
    assert is_proved_sum(groups=6, rows=20, smallest=9, distinct=4)


def test_columns_that_sum_to_a_hundred_are_shares(rng):
    positive = np.round(rng.uniform(10, 60, 12), 1)
    neutral = np.round(rng.uniform(5, 30, 12), 1)
    rest = np.round(100 - positive - neutral, 1)
    score = np.round(rng.uniform(0, 100, 12), 1)
    columns = {"pos": (positive, 1), "neu": (neutral, 1), "neg": (rest, 1), "score": (score, 1)}

    assert sibling_shares(columns) == (("pos", "neu", "neg"), 100.0)
    assert sibling_shares({"pos": (positive, 1), "score": (score, 1)}) == ((), 0.0)
