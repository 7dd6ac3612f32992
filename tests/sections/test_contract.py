"""Data contracts: the demo keeps them, and what breaks one is found."""

from __future__ import annotations

import pytest
from serving import demo_dataset

import aatoolkit as aa


@pytest.fixture(scope="module")
def dataset() -> aa.Dataset:
    return demo_dataset()


def test_prompts_that_never_mention_us_on_any_engine_are_one_line(dataset: aa.Dataset) -> None:
    engines, prompts = dataset["prompts"]["prompt_engines"], dataset["prompts"].main
    counts = engines.aa.aggregate("prompt_id", "mention_count").query("mention_count == 0")
    never = prompts.loc[prompts["mention_count"] == 0, "prompt_id"]
    assert len(never) > 0
    assert set(never) == set(counts["prompt_id"])
