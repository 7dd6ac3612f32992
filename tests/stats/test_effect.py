"""Effects of actions: the regression of the literature, its checks, and refusals."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest
from effort import cells, explores
from prompts import RULES, rates_of, runs_of, without_attrs

import aatoolkit as aa
from aatoolkit.errors import AvailabilityError, ItemNotFound
from aatoolkit.stats.treatment import PromptDays, change_within, double_difference

ON = 30
DAY = pd.Timestamp("2026-10-31")


def sampled_days(
    rng: np.random.Generator,
    k: int,
    *,
    effect: float = 0.0,
    drift: float = 0.0,
    shared: float = 0.0,
    icc: float = 0.3,
    runs: float = 0.7,
    days: int = 60,
    uneven: bool = False,
) -> pd.DataFrame:
    """A row a prompt and day: half of the prompts are treated from the day on.

    Prompts have rates of their own, and all of them move together from week to week.
    """
    rates = np.clip(rates_of(rng, k, 0.4, icc), 0.1, 0.8)
    each = runs_of(rng, k, 10, uneven=uneven) / 10 * runs
    counts = rng.poisson(each[:, None], (k, days))
    treated = np.arange(k) < k // 2
    at = np.arange(days)
    weekly = rng.normal(0, shared, days // 7 + 1)[at // 7]
    shift = np.outer(treated, effect * (at >= ON) + drift * (at - ON) / days) + weekly
    hits = rng.binomial(counts, np.clip(rates[:, None] + shift, 0.01, 0.99))
    prompt, day = np.nonzero(counts)
    frame = pd.DataFrame({"prompt_id": prompt, "topic": np.where(prompt < k // 2, "a", "b")})
    frame["date"] = DAY + pd.to_timedelta(day - ON, unit="D")
    frame["hits"], frame["runs"] = hits[prompt, day], counts[prompt, day]
    return frame.assign(rate=frame["hits"] / frame["runs"])


def found(frame: pd.DataFrame, **more: object) -> pd.DataFrame:
    return aa.stats.effect(frame, DAY, {"topic": "a"}, column="rate", rules=RULES, **more)  # type: ignore[arg-type]


def test_it_is_the_fixed_effects_regression_of_statsmodels() -> None:
    api = pytest.importorskip("statsmodels.api")
    frame = sampled_days(np.random.default_rng(1), 16, effect=0.1)
    result = found(frame)
    days = (frame["date"] - DAY).dt.days.to_numpy()
    prompts = frame["prompt_id"].to_numpy()
    dummies = (prompts[:, None] == np.unique(prompts)).astype(float)
    weights, y = frame["runs"], frame["rate"]
    for kind, use, moved in (
        ("effect", np.ones(len(frame), bool), (days >= 0) * 1.0),
        ("pre-trend", days < 0, days * 1.0),
    ):
        sides = []
        for group in (prompts < 8, prompts >= 8):
            rows = use & group
            columns = np.column_stack([moved, dummies])[rows]
            columns = columns[:, (columns != 0).any(axis=0)]
            kinds = {"groups": prompts[rows], "use_correction": False}
            model = api.WLS(y[rows], columns, weights=weights[rows])
            fit = model.fit(cov_type="cluster", cov_kwds=kinds)
            sides.append((fit.params.iloc[0], fit.bse.iloc[0] * np.sqrt(8 / 7)))
        (one, error), (two, other) = sides
        row = result[result["kind"] == kind].iloc[0]
        span = 1.0 if kind == "effect" else np.arange(0, 30).mean() - np.arange(-30, 0).mean()
        assert row["change"] == pytest.approx(span * (one - two), abs=1e-9)
        if kind == "effect":
            panels = [
                PromptDays(
                    prompts[use],
                    days[use] * 1.0,
                    frame["hits"].to_numpy(float)[use],
                    frame["runs"].to_numpy(float)[use],
                    16,
                )
                for use in (prompts < 8, prompts >= 8)
            ]
            groups = [change_within(panel, 0.0) for panel in panels]
            exact = double_difference(kind, DAY, groups, 0.95).error
            assert exact == pytest.approx(np.hypot(error, other), abs=1e-9)
        df = float(row["method"].split("t of ")[1].split()[0])
        quantile = pytest.importorskip("scipy.stats").t.ppf(0.975, df)
        half = (row["high"] - row["low"]) / 2
        assert half == pytest.approx(quantile * span * np.hypot(error, other), rel=2e-3)


@pytest.mark.thorough
def test_an_effect_is_found_and_its_absence_is_no_effect() -> None:
    rng = np.random.default_rng(2)
    verdicts = [
        found(sampled_days(rng, 40, effect=0.2, shared=0.05))["verdict"][0] for _ in range(20)
    ]
    assert verdicts.count("up") >= 14  # a check fails in one of twenty, a trend may be in more
    flat = found(sampled_days(rng, 40, shared=0.05)).iloc[0]
    assert flat["verdict"] == "no evidence"
    assert "95 % interval of the difference, for this row alone: " in flat["why"]
    assert "would have shown in 4 of 5" in flat["why"]


def test_what_checks_detect_is_after_their_adjustment() -> None:
    stats = pytest.importorskip("scipy.stats")
    result = found(sampled_days(np.random.default_rng(2), 40))
    assert len(result) == 5
    for row, tests in zip(result.to_dict("records"), (1, 4, 4, 4, 4), strict=True):
        df = float(row["method"].split("t of ")[1].split()[0])
        error = (row["high"] - row["low"]) / 2 / stats.t.ppf(0.975, df)
        promised = row["detectable"] / (error / np.sqrt(stats.chi2.ppf(0.5, df) / df))
        power = stats.nct.sf(stats.t.ppf(1 - 0.025 / tests, df), df, promised)
        assert power == pytest.approx(0.8, abs=5e-3)


def test_groups_that_moved_apart_before_cannot_say() -> None:
    result = found(sampled_days(np.random.default_rng(3), 60, drift=0.9, runs=2.0))
    assert result["verdict"][0] == "cannot say"
    assert result["why"][0].startswith("the groups differed before already (pre-trend")
    assert "differs" in set(result["verdict"][1:])


@pytest.mark.parametrize(("drift", "runs"), [(0.3, 2.0), (0.4, 0.7)])
def test_a_trend_of_the_treated_alone_is_no_effect(drift: float, runs: float) -> None:
    rng = np.random.default_rng(6)
    rows = [found(sampled_days(rng, 40, drift=drift, runs=runs)).iloc[0] for _ in range(40)]
    assert sum(row["verdict"] == "up" for row in rows) <= 5  # 8 % of 40 are 3
    assert any("may have been moving already" in row["why"] for row in rows)
    steps = [found(sampled_days(rng, 40, effect=0.15, runs=2.0)).iloc[0] for _ in range(12)]
    assert sum(row["verdict"] == "up" for row in steps) >= 9


def alarms(times: int, k: int, uneven: bool, shared: float, icc: float) -> tuple[float, float]:
    """How often an effect is seen where there is none, and how often a check fails."""
    rng = np.random.default_rng([k, uneven, int(100 * shared), int(100 * icc)])
    frames = [
        without_attrs(found(sampled_days(rng, k, uneven=uneven, shared=shared, icc=icc)))
        for _ in range(times)
    ]
    effect = np.mean([frame["p"][0] < 0.05 for frame in frames])
    checks = np.mean([(frame["p_adjusted"][1:] < 0.05).any() for frame in frames])
    return float(effect), float(checks)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("k", "uneven", "shared", "icc"),
    cells([10, 24, 80], [False, True], [0.0, 0.1], [0.1, 0.5], of=2),
)
def test_prompts_that_move_alike_raise_few_alarms(
    k: int, uneven: bool, shared: float, icc: float
) -> None:
    times, most = (500, 0.07) if explores() else (100, 0.11)
    assert max(alarms(times, k, uneven, shared, icc)) <= most


@pytest.mark.parametrize(
    ("frame", "why"),
    [
        (sampled_days(np.random.default_rng(4), 8), "4 treated prompt_id have .* and 4 control"),
        (sampled_days(np.random.default_rng(4), 20).query("date < @DAY"), "0 treated prompt_id"),
        (sampled_days(np.random.default_rng(4), 20).assign(hits=0, rate=0.0), "nothing differs"),
        (
            sampled_days(np.random.default_rng(4), 20).query("date >= '2026-10-29'"),
            "too few days before",
        ),
        (
            sampled_days(np.random.default_rng(4), 20).query("prompt_id or date < @DAY"),
            "1 .*left out",
        ),
    ],
)
def test_what_limits_it_is_stated(frame: pd.DataFrame, why: str) -> None:
    row = found(frame).iloc[0]
    assert pd.Series([row["why"]]).str.contains(why).all(), row["why"]
    if "left out" not in why and "days" not in why:
        assert row["verdict"] == "cannot say"
        assert pd.isna(row["p"])


def test_refusals() -> None:
    frame = sampled_days(np.random.default_rng(5), 12)
    with pytest.raises(ValueError, match="no day"):
        aa.stats.effect(frame, "soon", [1], column="rate", rules=RULES)
    for written in ("05.11.2026", "05/11/2026", "5-11-2026"):
        with pytest.raises(ValueError, match="write it as 2026-11-05"):
            aa.stats.effect(frame, written, [1], column="rate", rules=RULES)
    with pytest.raises(ValueError, match="write it as 2026-11-05"):
        aa.stats.effect(frame, "11/25/2026", [1], column="rate", rules=RULES)
    with pytest.raises(ValueError, match="no day"):
        aa.stats.effect(frame, 20261105, [1], column="rate", rules=RULES)
    late = aa.stats.effect(frame, "2031-01-01", [1, 2], column="rate", rules=RULES)["why"].iloc[0]
    assert late.startswith("2031-01-01 is outside the days of the frame, ")
    with pytest.raises(ValueError, match="names no prompt_id"):
        aa.stats.effect(frame, DAY, ["pr_1"], column="rate", rules=RULES)
    with pytest.raises(ValueError, match="both treated and control"):
        aa.stats.effect(frame, DAY, [1, 2], [2, 3], column="rate", rules=RULES)
    with pytest.raises(ValueError, match="in some rows only"):
        aa.stats.effect(frame, DAY, {"date": [DAY]}, column="rate", rules=RULES)
    with pytest.raises(ItemNotFound):
        aa.stats.effect(frame, DAY, {"theme": "a"}, column="rate", rules=RULES)
    with pytest.raises(AvailabilityError, match="names no day"):
        found(frame.assign(date=frame["date"].where(frame["date"] != DAY)))


def test_the_demo_has_effects_with_metadata() -> None:
    project = aa.demo()
    answers = aa.stats.answers(project.read("chats", days=30))
    topics = project.read("prompts", days=30).main[["prompt_id", "topic"]]
    rows = answers.aa.merge(topics, on="prompt_id")
    result = aa.stats.effect(rows, "2026-11-05", {"topic": "CRM for startups"})
    assert result.aa.codebook.loc["change", "unit"] == "absolute pp as fraction"
    assert len(result.aa.sources) == 2
    assert {*result["kind"]} >= {"effect", "pre-trend", "placebo"}


def test_a_hundred_thousand_rows_take_less_than_a_second() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"prompt_id": rng.integers(0, 1000, 100_000)})
    frame["date"] = DAY + pd.to_timedelta(rng.integers(-45, 45, len(frame)), unit="D")
    frame["mentioned"] = rng.random(len(frame)) < 0.3
    began = time.process_time()
    aa.stats.effect(frame, DAY, [*range(500)])
    assert time.process_time() - began < 2
