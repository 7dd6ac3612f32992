"""The parts of a change add up to it, whatever came and went."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from effort import effort
from hypothesis import given, settings
from hypothesis import strategies as st
from prompts import RULES, counted, rates_of, runs_of

import aatoolkit as aa


@settings(max_examples=effort(60), deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 12), st.integers(0, 6), st.integers(0, 6))
def test_the_parts_add_up_exactly(seed: int, k: int, entered: int, left: int) -> None:
    rng = np.random.default_rng(seed)
    whole = [
        counted(rng, rates_of(rng, k + 12, 0.4, 0.5), runs_of(rng, k + 12, 9, uneven=True))
        for _ in range(2)
    ]
    now, before = whole[0].iloc[: k + entered], whole[1].drop(index=range(k, k + 12 - left))
    found = now.aa.decompose(before, "rate", rules=RULES).set_index("part")["effect"]
    change = now["hits"].sum() / now["runs"].sum() - before["hits"].sum() / before["runs"].sum()
    assert abs(found["total"] - change) < 1e-12
    assert abs(found.drop("total").sum() - change) < 1e-12
    assert entered or found["entered"] == 0


def test_a_change_of_mix_is_no_change_of_rate() -> None:
    before = pd.DataFrame({"prompt_id": ["a", "b"], "hits": [10, 90], "runs": [100, 100]})
    now = pd.DataFrame({"prompt_id": ["a", "b"], "hits": [2, 162], "runs": [20, 180]})
    sides = [each.assign(rate=each["hits"] / each["runs"]) for each in (now, before)]
    found = sides[0].aa.decompose(sides[1], "rate", rules=RULES).set_index("part")
    assert found.loc["rate", "effect"] == pytest.approx(0, abs=1e-12)
    assert found.loc["rate", "verdict"] == "no evidence"
    assert found.loc["mix", "effect"] == pytest.approx(0.32)
    assert found.loc["mix", "verdict"] == "bookkeeping"


def test_overlapping_windows_have_no_verdict() -> None:
    project = aa.demo()
    week, month = (project.read("prompts", days=days).main for days in (7, 30))
    found = week.aa.decompose(month, "mention_rate")
    assert found["verdict"][0] == "cannot say"
    assert "overlap" in found["why"][0]
    assert found["low"].isna().all()
    assert found.aa.codebook["doc"].notna().all()
