"""Agreement between repeats, and how much must be asked for a margin."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from effort import one_in
from prompts import rates_of

import aatoolkit as aa
from aatoolkit.errors import AvailabilityError


def repeats(rng: np.random.Generator, k: int, runs: int, icc: float) -> pd.DataFrame:
    rates = np.repeat(rates_of(rng, k, 0.4, icc), runs)
    names = np.repeat(np.arange(k), runs)
    return pd.DataFrame(
        {"prompt_id": names, "engine": "x", "mentioned": rng.random(k * runs) < rates}
    )


@pytest.mark.parametrize("icc", one_in(3, [0.3, 0.1, 0.8]))
def test_the_correlation_is_found_and_covered(icc: float) -> None:
    rng = np.random.default_rng(1)
    found = pd.concat([repeats(rng, 60, 8, icc).aa.stability() for _ in range(12)])
    assert abs(found["icc"].mean() - icc) < 0.06
    covered = (found["icc_low"] <= icc) & (icc <= found["icc_high"])
    assert covered.mean() >= 0.8


@pytest.mark.thorough
@pytest.mark.parametrize(("k", "runs", "icc"), [(12, 8, 0.3), (25, 6, 0.1), (60, 8, 0.8)])
def test_the_interval_of_the_correlation_covers_it(k: int, runs: int, icc: float) -> None:
    rng = np.random.default_rng(k)
    found = pd.concat([repeats(rng, k, runs, icc).aa.stability() for _ in range(120)])
    assert ((found["icc_low"] <= icc) & (icc <= found["icc_high"])).mean() >= 0.91


def test_agreement_counts_pairs() -> None:
    frame = pd.DataFrame(
        {"prompt_id": [*"aaabb"], "engine": "x", "mentioned": [True, True, False, True, True]}
    )
    found = frame.aa.stability().iloc[0]
    assert found["agreement"] == pytest.approx((1 / 3 + 1) / 2)
    assert found["verdict"].startswith("cannot say")
    once = frame.drop_duplicates("prompt_id").aa.stability().iloc[0]
    assert pd.isna(once["agreement"])
    assert "no combination was asked twice" in once["verdict"]


def test_what_is_no_outcome_is_refused() -> None:
    frame = pd.DataFrame({"prompt_id": [1, 1], "engine": "x", "place": [1.0, 2.0]})
    with pytest.raises(AvailabilityError):
        frame.aa.stability("place")


def test_a_sample_of_the_size_given_has_the_margin() -> None:
    rng = np.random.default_rng(2)
    row = aa.stats.samples(0.4, 0.1, icc=0.3, runs=[5]).iloc[0]
    halves = []
    for _ in range(40):
        found = repeats(rng, int(row["prompts"]), 5, 0.3).aa.interval(
            "mentioned", cluster="prompt_id"
        )
        halves.append(float((found["mentioned_high"] - found["mentioned_low"]).iloc[0]) / 2)
    assert np.mean(halves) == pytest.approx(0.1, rel=0.12)


def test_more_runs_help_less_than_more_prompts() -> None:
    found = aa.stats.samples(0.3, 0.05, icc=0.4)
    assert found["prompts"].is_monotonic_decreasing
    assert found["answers"].is_monotonic_increasing
    assert found["margin"].le(0.05).all()
    assert found.aa.codebook["doc"].notna().all()
    for wrong in ({"rate": 0}, {"margin": 1}, {"icc": 2}, {"runs": []}, {"runs": 0}):
        with pytest.raises(ValueError, match=r"rate|runs"):
            aa.stats.samples(**{"rate": 0.3, "margin": 0.05, **wrong})
