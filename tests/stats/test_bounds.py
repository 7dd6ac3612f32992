"""The interval beside a number: over prompts wherever they are known, else one that says so."""

from __future__ import annotations

import numpy as np
import pytest

import aatoolkit as aa
from aatoolkit.stats.interval import bounds


@pytest.fixture(scope="module")
def data() -> aa.Dataset:
    return aa.demo().read_all(sections=["overview", "prompts"], progress=False)


def test_a_mark_has_the_interval_over_the_prompts_of_another_table(data: aa.Dataset) -> None:
    engines, prompts = data["overview"]["overview_engines"], data["prompts"]["prompt_engines"]
    drawn = bounds(engines, "mention_rate", prompts, ["engine"])
    expected = prompts.aa.interval("mention_rate", "engine", "prompt_id").set_index("engine")
    rates = engines.set_index("engine")["mention_rate"]
    for at, engine in enumerate(rates.index):
        if engine in expected.index and not np.isnan(expected["mention_rate"][engine]):
            assert drawn.low[at] == expected["mention_rate_low"][engine]
            assert drawn.high[at] == expected["mention_rate_high"][engine]
            assert rates[engine] == expected["mention_rate"][engine]
    alone = bounds(engines, "mention_rate")
    assert not alone.is_over_prompts
    assert "independent" in alone.method
    assert np.nansum(drawn.high - drawn.low) > np.nansum(alone.high - alone.low)


def test_prompts_that_count_something_else_are_not_those_of_a_mark(data: aa.Dataset) -> None:
    engines, prompts = data["overview"]["overview_engines"], data["prompts"]["prompt_engines"]
    some = prompts[prompts["prompt_id"] != prompts["prompt_id"].iloc[0]]
    assert not bounds(engines, "mention_rate", some, ["engine"]).is_over_prompts
    one = prompts.aa.aggregate(columns="mention_rate")
    assert bounds(one, "mention_rate", prompts).is_over_prompts


def test_a_declared_interval_is_the_one(data: aa.Dataset) -> None:
    prompts = data["prompts"].main
    frame = prompts.aa.interval("mention_rate", "topic", "prompt_id")
    drawn = bounds(frame, "mention_rate", prompts, ["topic"])
    assert np.array_equal(
        drawn.low, frame["mention_rate_low"].to_numpy(float, na_value=np.nan), True
    )
    assert drawn.method.startswith("Wilson interval on the effective sample size")
