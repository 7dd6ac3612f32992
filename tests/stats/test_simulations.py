"""What no library computes, by simulation: coverage of intervals, false alarms, and power."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from effort import cells, explores, one_in
from prompts import DAY, RULES, Drawn, daily, framed, rates_of, runs_of, without_attrs

import aatoolkit as aa

Random = np.random.Generator


def holds(intervals: pd.DataFrame, name: str, truth: Any) -> float:
    """How often an interval holds a number."""
    low, high = intervals[f"{name}_low"], intervals[f"{name}_high"]
    return float(((low <= truth) & (high >= truth)).mean())


def moved(rates: Any, shift: float) -> Any:
    """Rates whose log odds move."""
    return rates * np.exp(shift) / (1 - rates + rates * np.exp(shift))


def sides(
    rng: Random, times: int, k: int, rate: float, icc: float, runs: float, **more: Any
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Some pairs of windows of the same prompts, whose log odds move by ``shifts``."""
    drawn: list[list[Drawn]] = [[], []]
    shifts = more.get("shifts", np.zeros(times))
    for at in range(times):
        rates = rates_of(rng, k, rate, icc)
        for side, now in zip(drawn, (rates, moved(rates, shifts[at])), strict=True):
            asked = runs_of(rng, k, runs, uneven=more.get("uneven", False))
            side.append((rng.binomial(asked, now), asked, {"at": at}))
    before, after = map(framed, drawn)
    return before, after


CASES = [
    (5, 0.3, 0.5, 30, False),
    (25, 0.0, 0.4, 30, False),
    (25, 0.3, 0.3, 20, True),
    (25, 0.8, 0.1, 30, False),
    (100, 0.3, 0.02, 15, True),
    (60, 0.5, 0.98, 10, False),
]


@pytest.mark.parametrize(("k", "icc", "rate", "runs", "uneven"), one_in(6, CASES))
def test_an_interval_over_prompts_covers(
    k: int, icc: float, rate: float, runs: int, uneven: bool
) -> None:
    rng = np.random.default_rng([k, int(100 * icc), int(100 * rate)])
    answers, _ = sides(rng, 3000 if explores() else 400, k, rate, icc, runs, uneven=uneven)
    intervals = answers.aa.interval("rate", by="at", cluster="prompt_id", rules=RULES)
    assert holds(intervals, "rate", rate) >= 0.92


@pytest.mark.parametrize(("icc", "rate"), one_in(3, [(0.3, 0.5), (0.0, 0.3), (0.8, 0.2)]))
def test_an_interval_of_a_fixed_panel_covers_the_rate_of_its_prompts(
    icc: float, rate: float
) -> None:
    rng = np.random.default_rng(4)
    rates, runs = rates_of(rng, 25, rate, icc), runs_of(rng, 25, 12)
    answers = framed([(rng.binomial(runs, rates), runs, {"at": at}) for at in range(400)])
    how = {"by": "at", "cluster": "prompt_id", "panel": "fixed", "rules": RULES}
    intervals = answers.aa.interval("rate", **how)
    assert holds(intervals, "rate", (rates * runs).sum() / runs.sum()) >= 0.93


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("rate", "icc", "k", "uneven"),
    cells([0.5, 0.05, 0.95], [0.0, 0.3, 0.8], [5, 12, 25, 100], [False, True], of=4),
)
def test_families_without_a_change_raise_few_alarms(
    rate: float, icc: float, k: int, uneven: bool
) -> None:
    times, rng = 800 if explores() else 200, np.random.default_rng([k, int(100 * icc)])
    before, now = sides(rng, 5 * times, k, rate, icc, 10, uneven=uneven)
    before, now = (
        frame.assign(family=frame["at"] // 5, engine=frame["at"] % 5) for frame in (before, now)
    )
    alarms = []
    for family in range(times):
        after, earlier = (frame[frame["family"] == family] for frame in (now, before))
        changes = after.aa.compare(earlier, "rate", by="engine", rules=RULES)
        alarms.append(changes["verdict"].isin(["up", "down"]).any())
    # Of 800 families 5 % are 40, with a standard error of 6; of 200 they are 10, and 3.
    assert np.mean(alarms) <= (0.065 if explores() else 0.08)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("k", "rate", "icc", "runs", "uneven"),
    [(6, 0.5, 0.1, 160, False), (25, 0.35, 0.3, 16, False), (40, 0.4, 0.0, 20, False),
     (12, 0.35, 0.1, 30, True), (25, 0.35, 0.1, 30, True), (60, 0.35, 0.3, 30, True)],
)  # fmt: skip
def test_the_detectable_change_is_detected_as_often_as_it_says(
    k: int, rate: float, icc: float, runs: int, uneven: bool
) -> None:
    """Four of five are found of rises and falls as large as is promised, and one in 20 of none."""
    rng, times = np.random.default_rng([k, runs]), 1500 if explores() else 500

    def compared(shifts: Any) -> pd.DataFrame:
        before, after = sides(rng, times, k, rate, icc, runs, shifts=shifts, uneven=uneven)
        return after.aa.compare(before, "rate", by="at", correct=None, rules=RULES)

    flat = compared(np.zeros(times))
    assert (flat["p"] < 0.05).mean() <= 0.05 + 2 * (0.05 / times) ** 0.5
    promised = flat["detectable"].fillna(1.0).to_numpy(float)
    if uneven:  # some promise nothing: the middle promise holds, the others vary more
        promised[:] = np.median(promised)
    rates, shifts = rates_of(rng, 10_000, rate, icc), np.linspace(-9, 9, 361)
    changes = [(moved(rates, shift) - rates).mean() for shift in shifts]
    up, down = (compared(np.interp(sign * promised, changes, shifts)) for sign in (1, -1))
    power = ((up["verdict"] == "up").mean() + (down["verdict"] == "down").mean()) / 2
    assert 0.8 - 2 * (0.16 / times) ** 0.5 <= power <= 0.92, (power, promised)


def acted(rng: Random, k: int, **more: float) -> pd.DataFrame:
    frame = aa.stats.effect(
        daily(rng, k, **more), DAY, [*range(k // 2)], column="rate", rules=RULES
    )
    return without_attrs(frame)


def test_a_trend_of_the_treated_alone_is_no_effect_and_a_step_is_one() -> None:
    rng = np.random.default_rng(6)
    rows = [acted(rng, 40, drift=0.3).iloc[0] for _ in range(20)]
    assert sum(row["verdict"] == "up" for row in rows) <= 4  # 8 % of 20 are 2
    assert any("may have been moving already" in row["why"] for row in rows)
    steps = [acted(rng, 40, effect=0.15).iloc[0] for _ in range(8)]
    assert sum(row["verdict"] == "up" for row in steps) >= 6
    apart = acted(rng, 60, drift=0.9)
    assert apart["why"][0].startswith("the groups differed before already (pre-trend")


@pytest.mark.thorough
@pytest.mark.parametrize("k", [10, 24, 80])
def test_effects_and_their_checks_raise_few_alarms(k: int) -> None:
    rng, times = np.random.default_rng(k), 500 if explores() else 100
    frames = [acted(rng, k) for _ in range(times)]
    most = 0.07 if explores() else 0.11
    assert np.mean([frame["p"][0] < 0.05 for frame in frames]) <= most
    assert np.mean([(frame["p_adjusted"][1:] < 0.05).any() for frame in frames]) <= most


def series(rng: Random, levels: Any, kind: str = "ratio") -> pd.DataFrame:
    """A rate, an overdispersed count or a mean of each day; some days have few answers, or none."""
    levels = np.asarray(levels, float)
    frame = pd.DataFrame({"date": pd.date_range("2026-01-01", periods=len(levels))})
    if kind == "sum":
        return frame.assign(rate=rng.poisson(rng.gamma(8, 100 * levels / 8)))
    runs = rng.poisson(15, len(levels))
    if kind == "mean":
        places = rng.normal(10 * levels, 1 / np.sqrt(runs + 1))
        return frame.assign(rate=places)
    hits = rng.binomial(runs, np.clip(levels, 0.01, 0.99))
    return frame.assign(hits=hits, runs=runs, rate=hits / np.where(runs > 0, runs, np.nan))


def steps(frame: pd.DataFrame, kind: str = "ratio") -> pd.DataFrame:
    rules = RULES if kind == "ratio" else {"rate": kind}
    return without_attrs(frame.aa.changes("rate", rules=rules))


def autoregressive(rng: Random, days: int, by: float) -> Any:
    state = [rng.standard_normal()]
    for noise in rng.standard_normal(days - 1):
        state.append(by * state[-1] + np.sqrt(1 - by**2) * noise)
    return 0.35 + 0.08 * np.array(state)


@pytest.mark.thorough
def test_days_that_differ_by_themselves_raise_few_alarms() -> None:
    rng, times = np.random.default_rng(7), 600 if explores() else 200
    frames = [series(rng, rng.beta(2.4, 5.6, 20)).assign(at=at) for at in range(times)]
    before, now = (pd.concat(f[side] for f in frames) for side in (slice(10), slice(10, None)))
    changes = now.aa.compare(before, "rate", by="at", cluster="date", correct=None, rules=RULES)
    assert (changes["p"] < 0.05).mean() <= 0.05 + 2 * (0.05 / times) ** 0.5


@pytest.mark.parametrize("kind", ["ratio", "sum", "mean"])
def test_a_change_is_found_near_its_day(kind: str) -> None:
    rng, inside = np.random.default_rng(3), 0
    for _ in range(12):
        changes = steps(series(rng, [0.3] * 45 + [0.55] * 45, kind), kind)
        row = changes.iloc[int(changes["change"].abs().fillna(0).to_numpy(float).argmax())]
        assert row["verdict"] == "up"
        inside += row["first_day"] <= pd.Timestamp("2026-02-15") <= row["last_day"]
    assert inside >= 9
    twice = steps(series(rng, [0.2] * 50 + [0.5] * 40 + [0.25] * 40, kind), kind)
    assert twice["verdict"].iloc[[0, -1]].tolist() == ["up", "down"]
    assert twice["from_day"].iloc[1] == twice["day"].iloc[0]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("draw", "most"),
    [
        (lambda rng: np.full(60, 0.3), 0.05),
        (lambda rng: np.full(365 if explores() else 120, 0.05), 0.05),
        (lambda rng: rng.beta(0.3 * 4, 0.7 * 4, 90), 0.05),
        (lambda rng: autoregressive(rng, 60, 0.5), 0.08),
        (lambda rng: autoregressive(rng, 90, 0.9), 0.08),
        (lambda rng: autoregressive(rng, 120, 0.9), 0.08),
    ],
)
def test_flat_series_have_few_changes(draw: Callable[[Random], Any], most: float) -> None:
    rng, times = np.random.default_rng(8), 400 if explores() else 120
    series_changes = [steps(series(rng, draw(rng))) for _ in range(times)]
    alarms = np.mean([frame["day"].notna().any() for frame in series_changes])
    assert alarms <= most + 2 * (most / times) ** 0.5


@pytest.mark.thorough
def test_a_step_of_twelve_points_is_found_in_most_series_of_90_days() -> None:
    rng = np.random.default_rng(8)
    series_changes = [steps(series(rng, [0.35] * 45 + [0.47] * 45)) for _ in range(60)]
    assert np.mean([frame["day"].notna().any() for frame in series_changes]) >= 0.5


def ranked(rng: Random, k: int, means: list[float], shape: float) -> pd.DataFrame:
    """Ranks of members by counts; prompts differ in how much they bring of each."""
    counts = rng.poisson(rng.gamma(shape, np.array(means) / shape, (k, len(means))))
    rows, members = np.nonzero(counts)
    frame = pd.DataFrame({"prompt_id": rows, "site": members, "n": counts[rows, members]})
    return without_attrs(frame.aa.rank("n", "site", rules={"n": "sum"}))


@pytest.mark.parametrize(
    ("k", "means", "shape"),
    one_in(
        4, [(8, [5.0] * 10, 1.0), (25, [8, 5, 5, 4, 2, 1], 0.5), (12, [5.0] * 10, 1.0),
            (100, [3.0] * 20, 2.0)],
    ),
)  # fmt: skip
def test_rank_sets_hold_all_ranks_at_once(k: int, means: list[float], shape: float) -> None:
    rng, values = np.random.default_rng(k), np.array(means)
    best = 1 + (values[None, :] > values[:, None]).sum(axis=1)
    worst = len(values) - (values[None, :] < values[:, None]).sum(axis=1)
    held, times = 0, 400 if explores() else 60
    for _ in range(times):
        ranks = ranked(rng, k, means, shape)
        at = ranks["site"].to_numpy(int)  # of members that are equal any order is true
        held += bool(((ranks["rank_low"] <= worst[at]) & (ranks["rank_high"] >= best[at])).all())
    assert held / times >= 0.9
    clear = ranked(rng, 60, [60, 20, 5], 4.0)
    assert clear["verdict"].tolist() == ["rank 1 of 3", "rank 2 of 3", "rank 3 of 3"]


@pytest.mark.parametrize("shares", [np.full(50, 0.02), 1 / np.arange(1, 60.0)])
def test_concentration_holds_where_members_tie_and_where_they_do_not(shares: Any) -> None:
    rng, shares = np.random.default_rng(3), shares / shares.sum()
    draws = [pd.DataFrame({"n": rng.multinomial(400, shares), "at": at}) for at in range(60)]
    measures = pd.concat(draws).aa.concentration("n", by="at")
    squares = (shares**2).sum()
    truths = {"top_share": np.sort(shares)[-5:].sum(), "effective": 1 / squares, "hhi": squares}
    for name, truth in truths.items():
        assert holds(measures, name, truth) >= 0.87, name


@pytest.mark.parametrize(
    ("k", "runs", "icc"), one_in(4, [(60, 8, 0.3), (12, 8, 0.3), (25, 6, 0.1), (60, 8, 0.8)])
)
def test_the_correlation_of_repeats_is_found_and_covered(k: int, runs: int, icc: float) -> None:
    rng, results = np.random.default_rng(k), []
    for _ in range(120 if explores() else 24):
        named = rng.random(k * runs) < np.repeat(rates_of(rng, k, 0.4, icc), runs)
        frame = pd.DataFrame({"prompt_id": np.repeat(np.arange(k), runs), "mentioned": named})
        results.append(frame.aa.stability(by=["prompt_id"]))
    measures = pd.concat(results)
    assert abs(measures["icc"].mean() - icc) < 0.08
    assert holds(measures, "icc", icc) >= 0.87


def test_engines_with_one_pool_are_as_alike_as_repeats_and_others_are_not() -> None:
    rng = np.random.default_rng(1)

    def row(k: int, shared: float) -> pd.DataFrame:
        rows = []
        for prompt in range(k):
            pool, own = rng.integers(0, 200, 8), {name: rng.integers(0, 200, 8) for name in "xy"}
            for at, name in enumerate("xxxyyy"):
                drawn = pool if rng.random() < shared else own[name]
                rows += [(prompt, name, f"{prompt}-{at}", site) for site in {*rng.choice(drawn, 5)}]
        frame = pd.DataFrame(rows, columns=["prompt_id", "engine", "chat_id", "site"])
        return frame.aa.overlap("site")

    near = pd.concat([row(12, 1.0) for _ in range(20)])
    assert near["verdict"].eq("no evidence").mean() >= 0.85
    assert row(15, 0.3)["verdict"].item() == "less alike"
