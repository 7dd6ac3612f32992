"""Concentration: known values, comparable groups, intervals that cover."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest

import aatoolkit as aa
from aatoolkit.errors import AvailabilityError


def frame(counts: object, **more: object) -> pd.DataFrame:
    counts = np.asarray(counts)
    return pd.DataFrame({"site": range(len(counts)), "n": counts}).assign(**more)


def test_equal_members_are_as_many_as_they_are() -> None:
    found = frame([1000] * 10).aa.concentration("n").iloc[0]
    assert found["effective"] == pytest.approx(10, rel=0.02)
    assert found["gini"] == pytest.approx(0, abs=1e-12)
    assert found["top_share"] == pytest.approx(0.5)
    one = frame([500]).aa.concentration("n").iloc[0]
    assert one["hhi"] == 1


def test_the_gini_coefficient_is_half_the_relative_mean_difference() -> None:
    counts = np.array([1, 3, 8, 40, 100])
    expected = np.abs(counts[:, None] - counts).mean() / (2 * counts.mean())
    assert frame(counts).aa.concentration("n")["gini"].item() == pytest.approx(expected)


def test_groups_of_one_kind_look_alike_whatever_their_size() -> None:
    rng = np.random.default_rng(1)
    shares = rng.dirichlet(np.full(60, 0.5))
    sizes = (100, 4000)
    whole = pd.concat([frame(rng.multinomial(size, shares), engine=size) for size in sizes])
    found = whole.aa.concentration("n", by="engine").set_index("engine")
    assert found["depth"].tolist() == [100, 100]
    assert found.loc[4000, "gini"] == pytest.approx(found.loc[100, "gini"], abs=0.08)
    plain = whole.aa.concentration("n", by="engine", rarefy=False).set_index("engine")
    assert plain.loc[4000, "gini"] > found.loc[4000, "gini"] + 0.05


def test_the_interval_of_the_index_covers_it() -> None:
    rng = np.random.default_rng(2)
    shares = rng.dirichlet(np.full(40, 0.7))
    truth = (shares**2).sum()
    whole = pd.concat([frame(rng.multinomial(400, shares), at=at) for at in range(80)])
    found = whole.aa.concentration("n", by="at")
    covered = (found["hhi_low"] <= truth) & (truth <= found["hhi_high"])
    assert covered.mean() >= 0.87


@pytest.mark.parametrize("shares", [np.full(50, 0.02), 1 / np.arange(1, 60.0)])
def test_intervals_hold_where_members_tie_and_where_they_do_not(shares: np.ndarray) -> None:
    rng = np.random.default_rng(3)
    shares = shares / shares.sum()
    whole = pd.concat([frame(rng.multinomial(400, shares), at=at) for at in range(60)])
    found = whole.aa.concentration("n", by="at")
    top = np.sort(shares)[-5:].sum()
    for name, truth in (("top_share", top), ("effective", 1 / (shares**2).sum())):
        covered = (found[f"{name}_low"] <= truth) & (truth <= found[f"{name}_high"])
        assert covered.mean() >= 0.87, name


def test_little_cannot_say_and_rates_are_refused() -> None:
    found = frame([3, 2]).aa.concentration("n").iloc[0]
    assert found["verdict"].startswith("cannot say")
    assert pd.isna(found["hhi"])
    prompts = aa.demo().read("prompts", days=30).main
    with pytest.raises(AvailabilityError, match="no sum"):
        prompts.aa.concentration("mention_rate")


def test_the_demo_has_it_by_engine_with_metadata() -> None:
    engines = aa.demo().read("domains", days=30)["source_domain_engines"]
    found = engines.aa.concentration("citation_count", by="engine")
    assert found.aa.codebook.loc["hhi", "unit"] == "fraction 0-1"
    assert len(found.aa.sources) == 1
    measured = found[~found["verdict"].str.startswith("cannot say")]
    assert (measured["hhi_low"] <= measured["hhi"]).all()


@pytest.mark.thorough
def test_a_hundred_thousand_members_take_a_few_seconds_at_most() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"site": np.arange(100_000), "n": rng.integers(1, 9, 100_000)})
    began = time.process_time()
    found = frame.aa.concentration("n")
    assert time.process_time() - began < 4
    low, value, high = found[["effective_low", "effective", "effective_high"]].iloc[0]
    assert low < value < high < 1.1 * low
