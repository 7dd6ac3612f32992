"""Pictures of statistics: each draws its result, and its notes say what is shown."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from prompts import RULES
from serving import shared_dataset

import aatoolkit as aa
from aatoolkit.client.dataset import Dataset

pytest.importorskip("matplotlib").use("agg")


def notes(axes: object) -> str:
    return " ".join(axes.figure.get_supxlabel().split())  # type: ignore[attr-defined]


def words(axes: object) -> list[str]:
    return [text.get_text() for text in axes.texts]  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def demo() -> aa.Project:
    return aa.demo()


@pytest.fixture(scope="module")
def cited(demo: aa.Project) -> pd.DataFrame:
    chats = demo.read("chats", days=30)
    rows = chats["chat_citations"].query("cited")
    return rows.aa.merge(chats["chats"][["chat_id", "prompt_id", "engine"]], on="chat_id")


def test_ranks_show_their_sets(cited: pd.DataFrame) -> None:
    found = cited.assign(one=1).aa.rank("one", "source_domain", rules={"one": "sum"})
    axes = found.aa.plot()
    assert axes.kind == "ranks"
    assert "rank 1 of 40" in words(axes)
    assert "hold together with 95%" in notes(axes)
    lines = {
        int(y): [x, to]
        for mark in axes.panel.marks
        if mark.kind == "spans"
        for y, x, to in zip(mark.y, mark.x, mark.to, strict=True)
    }
    assert [lines[row] for row in range(20)] == found[["rank_low", "rank_high"]].head(20).to_numpy(
        float
    ).tolist()


def test_an_overlap_stands_beside_its_ceiling(cited: pd.DataFrame) -> None:
    found = cited.aa.overlap("source_domain", order="n")
    axes = found.aa.plot()
    assert axes.kind == "overlap"
    assert "Tick: the ceiling" in notes(axes)
    assert "95% interval over prompts" in notes(axes)
    dots = {line.get_color() for line in axes.get_lines() if line.get_marker() == "o"}
    assert dots == {"#a9b8c4"}  # grey: nothing is shown to differ


def test_an_effect_stands_above_its_checks(demo: aa.Project) -> None:
    answers = aa.stats.answers(demo.read("chats", days=30))
    axes = aa.stats.effect(answers, "2026-11-05", [*answers["prompt_id"].unique()[:10]]).aa.plot()
    assert axes.kind == "effect"
    labels = [text.get_text() for text in axes.get_yticklabels()]
    assert labels[:2] == ["effect of 2026-11-05", "pre-trend"]
    assert "takes the verdict away" in notes(axes)
    agreement = answers.aa.stability().aa.plot()
    assert agreement.kind == "stability"
    assert "95% bootstrap interval" in notes(agreement)


def test_a_funnel_hatches_what_was_not_measured(demo: aa.Project) -> None:
    dataset = demo.read_all(sections=["crawl", "conversions"], days=30, progress=False)
    axes = dataset.funnel().aa.plot()
    assert axes.kind == "stages"
    hatched = [patch for patch in axes.patches if patch.get_hatch() == "////"]
    assert len(hatched) == int(dataset.funnel()[["crawled", "cited", "visited"]].isna().sum().sum()
                               + dataset.funnel()["converted"].isna().sum())  # fmt: skip
    assert "no number" in words(axes)
    assert "Hatched: no number, which is not 0." in notes(axes)
    alone = Dataset({"crawl": dataset["crawl"]}, {}).funnel().aa.plot()
    assert "not measured" in words(alone)
    assert "visited not measured" in alone.finding


def test_changes_are_steps_with_the_days_that_hold_them() -> None:
    days = pd.date_range("2026-01-01", periods=60)
    hits = np.random.default_rng(1).binomial(20, [0.2] * 30 + [0.6] * 30)
    frame = pd.DataFrame({"date": days, "hits": hits, "runs": 20, "rate": hits / 20})
    axes = frame.aa.changes("rate", rules=RULES).aa.plot()
    assert axes.kind == "changes"
    assert axes.finding.startswith("When the rate changed: up on 2026-01-3")
    assert "days that hold it with 95%" in [t.get_text() for t in axes.get_legend().get_texts()]
    flat = frame.head(25).aa.changes("rate", rules=RULES).aa.plot()
    assert "No change is shown" in flat.finding
    short = frame.head(9).aa.changes("rate", rules=RULES).aa.plot()
    assert "cannot say" in short.finding
    short.figure.savefig(io.BytesIO())


def test_concentration_says_what_its_interval_leaves_out(demo: aa.Project) -> None:
    engines = demo.read("domains", days=30)["source_domain_engines"]
    axes = engines.aa.concentration("citation_count", by="engine").aa.plot()
    assert axes.kind == "concentration"
    assert "the least uncertainty there is" in notes(axes)


def test_intervals_without_their_numbers_are_drawn() -> None:
    engines = shared_dataset()["overview"]["overview_engines"].set_index("engine")
    axes = engines.aa.interval("mention_rate").aa.plot()
    assert axes.kind == "interval"
    assert "claude: 0.04 to 0.62" in axes.finding
    assert "google-ai-overview: no interval" in axes.finding


def test_a_plan_of_samples_shows_what_it_takes() -> None:
    axes = aa.stats.samples(rate=0.3, margin=0.05, icc=0.3).aa.plot()
    assert axes.kind == "samples"
    assert "1 run: 326 answers to 326 prompts" in axes.finding


def test_a_result_of_one_row_has_its_interval_and_its_verdict() -> None:
    axes = aa.stats.cited_and_mentioned(shared_dataset()["chats"]).aa.plot()
    assert "Odds ratio 0.90 (0.46 to 1.80)" in axes.finding
    assert "Low" not in axes.finding
    assert "Mantel-Haenszel odds ratio" in axes.figure.get_supxlabel()
