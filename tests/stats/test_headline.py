"""The headline measures of two windows: changes of totals, and what says how they vary."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from effort import cells
from prompts import rates_of, runs_of
from samples import sample

import aatoolkit as aa
from aatoolkit.sections import Profile, Section, Table, count, fraction, records, text
from aatoolkit.stats import estimate
from aatoolkit.stats.headline import design_effect_of

SAMPLE = sample("prompts")


@pytest.fixture(scope="module")
def project() -> aa.Project:
    return aa.demo()


def windows(rng: np.random.Generator, shift: float, k: int = 25, runs: float = 16) -> aa.Dataset:
    """An answer of `prompts` with both windows: each prompt moves by as much, on average."""
    rates = rates_of(rng, k, 0.35, 0.3)
    moved = rates + 4 * shift * rates * (1 - rates)
    rows = []
    for number in range(k):
        row: dict[str, object] = {**SAMPLE["rows"][2], "promptId": f"pr_{number}", "topic": None}
        for prefix, rate in (("a", moved[number]), ("previousA", rates[number])):
            m = "previousM" if prefix != "a" else "m"
            answers = int(rng.poisson(runs)) + 1
            hits = int(rng.binomial(answers, rate))
            row |= {f"{prefix}nswerCount": answers, f"{m}entionCount": hits}
            row[f"{m}entionRate"] = hits / answers
        rows.append(row)
    return aa.Dataset({"prompts": aa.normalize("prompts", {**SAMPLE, "rows": rows})})


def planned(changes: pd.DataFrame) -> pd.Series:
    (at,) = np.flatnonzero(changes["family"].str.startswith("planned").fillna(False))
    return changes.iloc[int(at)]


def test_the_window_before_is_paired_by_prompt_and_planted_changes_are_found() -> None:
    rng = np.random.default_rng(3)
    flat = [planned(windows(rng, 0.0).compare()) for _ in range(12)]
    assert {row["method"].split(",")[0] for row in flat} == {"paired by prompt_id"}
    assert sum(row["verdict"] != "no evidence" for row in flat) <= 3
    # 11 points over 8,000 answers, which the design effect between prompts would hide.
    planted = [planned(windows(rng, 0.16, runs=160).compare()) for _ in range(12)]
    assert sum(row["verdict"] == "up" for row in planted) >= 11
    # How often that is: test_simulations, of the comparison of the table itself.
    dataset = windows(rng, 0.1)
    alone = dataset["prompts"].main.aa.compare("previous", "mention_rate").iloc[0]
    assert planned(dataset.compare())[["p", "detectable"]].equals(alone[["p", "detectable"]])


def test_a_dataset_is_compared_with_the_window_before(project: aa.Project) -> None:
    dataset = project.read_all(sections=["overview", "prompts"], progress=False)
    changes = dataset.compare()
    headline = planned(changes)
    assert (headline["subject"], headline["measure"]) == ("all prompts", "mention_rate")
    assert changes.index[changes["family"].eq(headline["family"]).fillna(False)].tolist() == [0]
    assert headline["p_adjusted"] == headline["p"]
    kpis = dataset["overview"]["overview_kpis"].set_index("metric")
    assert headline["after"] == pytest.approx(kpis.loc["mentionRate", "value"], abs=1e-12)
    assert headline["before"] == pytest.approx(kpis.loc["mentionRate", "previous_value"], abs=1e-12)
    rest = changes[changes["p"].notna()].iloc[1:]
    assert rest["family"].eq(f"one of a family of {len(rest)}").all()
    assert rest["p_adjusted"].to_numpy(float) == pytest.approx(
        estimate.adjust_p_values(rest["p"].to_numpy(float), "holm")
    )
    engines = changes[(changes["subject"] == "engine") & changes["p"].notna()]
    assert len(engines) == 4
    assert engines["method"].str.startswith("paired by prompt_id").all()
    brands = changes[(changes["subject"] == "brand") & changes["p"].notna()]
    assert brands["method"].str.contains("design effect of the own mention rate").all()
    figures = changes[changes["subject"] == "key figure"]
    assert {*figures["measure"]} == {"sentiment_score", "citation_share", "share_of_voice"}
    assert (figures["verdict"] == "cannot say").all()
    assert figures[["before", "after"]].notna().all(axis=None)


def test_what_is_called_otherwise_is_found_by_its_counts_and_words() -> None:
    names = ("mentions", "replies", "mentions_before", "replies_before")
    columns = [*map(count, names), text("question"), text("theme")]
    columns += [fraction("seen", over=names[:2])]
    table = Table("asked", "Asked.", records("rows"), "question", tuple(columns))
    hits = np.random.default_rng(1).binomial(40, [[0.3], [0.6]], (2, 12)).tolist()
    counts = [
        {"mentions": now, "replies": 40, "mentionsBefore": before, "repliesBefore": 40}
        for before, now in zip(*hits, strict=True)
    ]
    rows = [
        {"question": f"q{at}", "theme": "ab"[at % 2], **row, "seen": row["mentions"] / 40}
        for at, row in enumerate(counts)
    ]
    keys = text("prompt_id"), text("engine_id")
    cells = Table(
        "cells", "By engine.", records("cells"), ("prompt_id", "engine_id"), (*keys, *columns[:4])
    )
    own = Profile("own", Section("prompts", "Prompts.", table, cells))
    of_cells = [{"promptId": f"q{at}", "engineId": "x", **row} for at, row in enumerate(counts)]
    body = {"rows": rows, "cells": of_cells}
    changes = aa.Dataset({"prompts": aa.normalize("prompts", body, profile=own)}).compare()
    row = planned(changes)
    assert (row["measure"], row["verdict"]) == ("mention_rate", "up")
    assert row["method"].startswith("paired by question")
    assert changes.loc[changes["subject"].eq("topic"), "name"].tolist() == ["a", "b"]
    (engine,) = changes.loc[changes["subject"].eq("engine"), "method"]
    assert engine.startswith("paired by prompt_id")


def test_no_number_stands_under_two_names(project: aa.Project) -> None:
    sections = ["overview", "prompts", "ranking"]
    changes = project.read_all(sections=sections, progress=False).compare()
    assert not changes["measure"].str.contains("[A-Z]", regex=True).any()
    pairs = changes.loc[changes["change"].notna() & (changes["change"] != 0), ["before", "after"]]
    assert not pairs.duplicated().any()
    (voice,) = changes[changes["measure"] == "share_of_voice"].to_dict("records")
    assert (voice["subject"], voice["name"]) == ("brand", "Acme CRM")
    assert voice["method"].startswith("paired by prompt_id")


def test_what_cannot_be_compared_says_so(project: aa.Project) -> None:
    dataset = project.read_all(sections=["overview", "prompts"], progress=False)
    same = dataset.compare(dataset)
    assert set(same["verdict"]) == {"cannot say"}
    crawl = project.read_all(sections=["crawl"], progress=False)
    assert set(dataset.compare(crawl)["verdict"]) == {"cannot say"}
    assert set(crawl.compare()["verdict"]) == {"cannot say"}
    overview = project.read_all(sections=["overview"], progress=False).compare()
    headline = overview.iloc[0]
    assert headline["measure"] == "mention_rate"
    assert overview.loc[overview["name"].eq("mention_rate"), "change"].notna().all()
    assert "the section prompts was not read" in headline["why"]


def test_two_datasets_without_prompts_are_compared_by_day(project: aa.Project) -> None:
    after, before = (
        project.read_all(scope=aa.Scope(topic=topic), sections=["overview"], progress=False)
        for topic in ("CRM for startups", "Sales automation")
    )
    headline = after.compare(before).iloc[0]
    assert (headline["subject"], headline["measure"]) == ("all answers", "mention_rate")
    assert "two samples of date" in headline["method"]
    assert headline["verdict"] in ("up", "no evidence")


def test_totals_are_refused_where_nothing_says_how_prompts_differ(
    project: aa.Project,
) -> None:
    def read(topic: str, *sections: str) -> aa.Dataset:
        return project.read_all(scope=aa.Scope(topic=topic), sections=sections, progress=False)

    both = ("overview", "prompts")
    many, few = read("CRM for startups", *both), read("Support & service", *both)
    changes = many.compare(few)
    assert set(changes["verdict"]) == {"cannot say"}
    brands = changes[(changes["subject"] == "brand") & changes["change"].notna()]
    assert (
        brands["why"]
        .str.contains("how prompts differ: .* only 4 of the 5 values of prompt_id")
        .all()
    )
    assert brands[["p", "low", "high", "detectable"]].isna().all(axis=None)
    # Two windows or topics with other prompts are two samples, and totals have their design effect.
    changes = many.compare(read("Sales automation", *both))
    assert changes.loc[changes["subject"] == "brand", "p"].notna().all()
    headline = changes[changes["subject"] == "all prompts"].iloc[0]
    assert "two samples of prompt_id" in headline["method"]
    assert headline["why"].count("This engine has not run yet") == 1
    tested = changes[changes["p"].notna() & (changes["unit"] == "fraction 0-1")]
    room = np.maximum(tested["before"], 1 - tested["before"])
    assert (tested["detectable"].fillna(0.0) <= room).all()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("is_paired", "k", "icc", "uneven"),
    cells([True, False], [5, 12, 25, 100], [0.0, 0.3, 0.6], [False, True], of=6),
)
def test_flat_totals_raise_few_alarms(is_paired: bool, k: int, icc: float, uneven: bool) -> None:
    """Totals of another brand, with the design effect of the own one and as much correlation."""
    rng = np.random.default_rng([is_paired, k, int(100 * icc), uneven])
    times, alarms = 400, []
    for _ in range(times):
        runs = [runs_of(rng, k, 10, uneven=uneven) for _ in range(2)]
        counts = []
        for rate in (0.4, 0.3):
            first = rates_of(rng, k, rate, icc)
            second = first if is_paired else rates_of(rng, k, rate, icc)
            counts.append(
                [
                    rng.binomial(sizes, rates).astype(float)
                    for sizes, rates in zip(runs, (first, second), strict=True)
                ]
            )
        now, before = zip(counts[0], [sizes.astype(float) for sizes in runs], strict=True)
        if is_paired:
            own = estimate.paired_change(*now, *before, 0.95, is_rate=True)
        else:
            samples = [estimate.estimate_sample(*side, "side") for side in (now, before)]
            own = estimate.two_sample_change(*samples, 0.95)
        if np.isfinite(own.p):
            totals = [
                np.array([float(part.sum())])
                for pair in zip(counts[1], runs, strict=True)
                for part in pair
            ]
            alarms.append(estimate.two_rate_change(*totals, 0.95, *design_effect_of(own)).p < 0.05)
    assert len(alarms) >= 0.85 * times  # of 5 uneven prompts one has most answers in 12 %
    assert np.mean(alarms) <= 0.08
