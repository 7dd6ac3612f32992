"""The headline measures of two windows: changes of totals, and what says how they vary."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from effort import cells, effort
from prompts import rates_of, runs_of

import aatoolkit as aa
from aatoolkit.stats.difference import independent, paired, unpaired
from aatoolkit.stats.headline import compared_design


@pytest.fixture(scope="module")
def project() -> aa.Project:
    return aa.demo()


def test_datasets_without_a_change_are_called_so(project: aa.Project) -> None:
    sections = ["overview", "prompts"]
    dataset = project.read_all(sections=sections, progress=False)
    found = dataset.compare()
    assert not found["verdict"].isin(["up", "down"]).any()
    figures = found[found["subject"] == "key figure"].set_index("name")
    assert figures.loc["averagePosition", "verdict"] == "cannot say"
    for share, of in (("shareOfVoice", "mentions"), ("citationShare", "citations")):
        assert figures.loc[share, "verdict"] == "cannot say"
        why = f"nothing says how {of} vary between prompts"
        assert str(figures.loc[share, "why"]).startswith(why)
        assert figures.loc[share, ["before", "after"]].notna().all()
    method = figures.loc["mentionRate", "method"]
    assert "the design effect of the own mention rate over prompts" in method
    freedom = float(method.split("t test of ")[1].split()[0])
    assert 4 <= freedom <= dataset["prompts"].main["prompt_id"].nunique() - 1
    kpis = dataset["overview"]["overview_kpis"].set_index("metric")
    assert figures.loc["mentionRate", "after"] == kpis.loc["mentionRate", "value"]
    assert figures.loc["mentionRate", "before"] == kpis.loc["mentionRate", "previous_value"]
    same = dataset.compare(dataset)
    assert set(same["verdict"]) == {"cannot say"}
    assert set(
        dataset.compare(project.read_all(sections=["crawl"], progress=False))["verdict"]
    ) == {"cannot say"}


def test_the_share_of_voice_has_a_verdict_where_its_mentions_by_prompt_were_read(
    project: aa.Project,
) -> None:
    sections = ["overview", "prompts", "ranking"]
    dataset = project.read_all(sections=sections, progress=False)
    found = dataset.compare()
    (row,) = found[found["measure"] == "shareOfVoice"].to_dict("records")
    kpis = dataset["overview"]["overview_kpis"].set_index("metric")
    assert row["after"] == pytest.approx(kpis.loc["shareOfVoice", "value"], abs=1e-12)
    assert row["verdict"] == "no evidence"
    assert row["method"].startswith("paired by prompt_id")
    voices = dataset.compare(dataset)[lambda frame: frame["measure"] == "share_of_voice"]
    assert voices["name"].tolist() == ["Acme CRM"]
    assert voices["why"].str.contains("the same answers are on both sides").all()


def test_totals_are_refused_where_nothing_says_how_prompts_differ(
    project: aa.Project,
) -> None:
    def read(topic: str, *sections: str) -> aa.Dataset:
        return project.read_all(scope=aa.Scope(topic=topic), sections=sections, progress=False)

    both = ("overview", "prompts")
    many, few = read("CRM for startups", *both), read("Support & service", *both)
    found = many.compare(few)
    assert set(found["verdict"]) == {"cannot say"}
    engines = found[(found["subject"] == "engine") & found["change"].notna()]
    assert engines["why"].str.contains("how prompts differ: 4 prompt_id on one side").all()
    assert engines[["p", "low", "high", "detectable"]].isna().all(axis=None)
    found = many.compare(read("Sales automation", "overview"))
    assert set(found["verdict"]) == {"cannot say"}
    brands = found[found["subject"] == "brand"]
    assert brands["why"].str.contains("before: the section prompts was not read").all()
    # Two windows or topics with other prompts are two samples, and totals have their design effect.
    found = many.compare(read("Sales automation", *both))
    assert found.loc[found["subject"] == "brand", "p"].notna().all()
    whole = found[found["subject"] == "all prompts"].iloc[0]
    assert "two samples of prompt_id" in whole["method"]
    assert whole["why"].count("This engine has not run yet") == 1
    tested = found[found["p"].notna() & (found["unit"] == "fraction 0-1")]
    room = np.maximum(tested["before"], 1 - tested["before"])
    impossible = (tested["detectable"] > room).astype(bool)
    stated = tested["why"].str.contains("no change that is possible would have shown")
    assert impossible.any()
    assert not impossible.all()
    assert (stated.astype(bool) == impossible).all()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("is_paired", "k", "icc", "uneven"),
    cells([True, False], [5, 12, 25, 100], [0.0, 0.3, 0.6], [False, True], of=6),
)
def test_flat_totals_raise_few_alarms(is_paired: bool, k: int, icc: float, uneven: bool) -> None:
    """Totals of another brand, with the design effect of the own one and as much correlation."""
    rng = np.random.default_rng([is_paired, k, int(100 * icc), uneven])
    times, whole, labels = effort(400), np.array([0]), [pd.RangeIndex(k)] * 2
    found = []
    for _ in range(times):
        runs = [runs_of(rng, k, 10, uneven=uneven) for _ in range(2)]
        counts = []
        for rate in (0.4, 0.3):
            first = rates_of(rng, k, rate, icc)
            second = first if is_paired else rates_of(rng, k, rate, icc)
            counts.append(
                [
                    rng.binomial(each, rates).astype(float)
                    for each, rates in zip(runs, (first, second), strict=True)
                ]
            )
        parts = [(np.arange(k), y, n.astype(float)) for y, n in zip(counts[0], runs, strict=True)]
        own = paired(parts, labels, "p", 0.95)[0] if is_paired else unpaired(parts, "p", 0.95)
        design = compared_design(own)
        totals = [
            (whole, np.array([y.sum()]), np.array([float(n.sum())]))
            for y, n in zip(counts[1], runs, strict=True)
        ]
        if not design.why:
            tested = independent(totals, [whole] * 2, True, 0.95, design.deff, design.df)
            found.append(tested.p < 0.05)
    assert len(found) >= 0.9 * times
    assert np.mean(found) <= 0.08
