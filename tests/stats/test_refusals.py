"""What forbids a statement is stated before any p-value: a table of cases and functions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

import aatoolkit as aa
from aatoolkit.errors import AvailabilityError

DAY = pd.Timestamp("2026-11-01")
Frames = tuple[pd.DataFrame, pd.DataFrame]


def answers(prompts: int, first: int = 0) -> pd.DataFrame:
    """Six answers to each prompt, of two engines, with a source each."""
    rng = np.random.default_rng(prompts)
    at = np.arange(prompts * 6)
    return pd.DataFrame(
        {
            "prompt_id": [f"p{first + each}" for each in at // 6],
            "engine": np.array([*"xy"])[at % 2],
            "chat_id": at,
            "date": DAY + pd.to_timedelta(at % 6 - 3, unit="D"),
            "mentioned": pd.array(rng.random(len(at)) < 0.5, dtype="boolean"),
            "site": rng.choice([*"abcde"], len(at)),
            "one": 1,
        }
    )


def unmeasured(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(mentioned=pd.array([pd.NA] * len(frame), dtype="boolean"))


VERBS: dict[str, Callable[[Frames], pd.DataFrame]] = {
    "interval": lambda both: both[0].aa.interval("mentioned", cluster="prompt_id"),
    "compare": lambda both: both[0].aa.compare(both[1], "mentioned"),
    "decompose": lambda both: both[0].aa.decompose(both[1], "mentioned"),
    "stability": lambda both: both[0].aa.stability(),
    "changes": lambda both: both[0].aa.changes("mentioned"),
    "rank": lambda both: both[0].aa.rank("one", "site", rules={"one": "sum"}),
    "overlap": lambda both: both[0].aa.overlap("site"),
    "effect": lambda both: aa.stats.effect(both[0], DAY, sorted({*both[0]["prompt_id"]})[:3]),
}


def reason(verb: str, both: Frames) -> str:
    """Why there is no verdict: an error, or a row without any p-value."""
    try:
        found = VERBS[verb](both)
    except AvailabilityError as error:
        return str(error)
    row = found.iloc[0]
    assert pd.isna(row.get("p"))
    words = [str(row[name]) for name in found.columns if name.endswith(("verdict", "why"))]
    assert any(each.startswith("cannot say") for each in words), words
    return " ".join(words)


FEW, MANY = (answers(4), answers(4)), (answers(12), answers(12))

CASES = [
    ("interval", FEW, "4 different values of prompt_id"),
    ("compare", FEW, "4 prompt_id on one side or both; at least 5"),
    ("stability", FEW, "4 prompt_id were asked again|4 prompt_id .* takes 5"),
    ("changes", FEW, "6 days with answers, and at least 20"),
    ("rank", FEW, "4 different values of prompt_id; it takes 5"),
    ("overlap", FEW, "4 prompt_id have two answers of each engine.* takes 5"),
    ("effect", FEW, "3 treated prompt_id .* and 1 control .* takes 5"),
    ("interval", (unmeasured(MANY[0]), MANY[1]), "no answers|unknown|not measured"),
    ("compare", (unmeasured(MANY[0]), MANY[1]), "now: "),
    ("compare", (MANY[0], unmeasured(MANY[1])), "before: "),
    ("decompose", (unmeasured(MANY[0]), MANY[1]), "now: nothing was measured"),
    ("effect", (unmeasured(MANY[0]), MANY[1]), "0 treated prompt_id"),
]


@pytest.mark.parametrize(("verb", "both", "why"), CASES, ids=lambda each: str(each)[:24])
def test_it_is_stated_before_any_p_value(verb: str, both: Frames, why: str) -> None:
    stated = reason(verb, both)
    assert pd.Series([stated]).str.contains(why).all(), stated


def test_other_prompts_are_two_samples_and_a_changed_set_is_stated() -> None:
    other = answers(12).aa.compare(answers(12, first=50), "mentioned").iloc[0]
    assert "two samples of prompt_id" in other["method"]
    by_name = answers(12).aa.compare(answers(12, first=50), "mentioned", pair="prompt_id").iloc[0]
    assert (by_name["verdict"], by_name["why"][:27]) == (
        "cannot say",
        "no prompt_id is on both sid",
    )
    changed = answers(12).aa.compare(answers(12, first=4), "mentioned").iloc[0]
    assert "the set of prompt_id changed (4 entered, 4 left)" in changed["why"]
    assert changed["clusters"] == 8


def test_windows_that_overlap_are_stated() -> None:
    project = aa.demo()
    week, month = (project.read("prompts", days=days).main for days in (7, 30))
    for found in (
        week.aa.compare(month, "mention_rate"),
        week.aa.decompose(month, "mention_rate"),
    ):
        assert found["verdict"][0] == "cannot say"
        assert "overlap" in found["why"][0]
        assert found["p"].isna().all()


def test_a_share_with_counts_has_intervals_of_rows_and_no_other() -> None:
    frame = aa.demo().read("ranking").main
    same = frame.aa.compare(frame, "share_of_voice", by="brand")
    assert same["why"].str.contains("the same answers are on both sides").all()
    assert frame.aa.interval("share_of_voice")["share_of_voice_low"].notna().any()
