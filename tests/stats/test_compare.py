"""Comparisons: no false alarms, the power that is promised, and refusals before p-values."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest
from effort import cells, explores
from prompts import RULES, Drawn, counted, framed, rates_of, runs_of

import aatoolkit as aa
from aatoolkit.stats import estimate


def rows(found: pd.DataFrame) -> pd.Series:
    (row,) = (found.iloc[at] for at in range(len(found)))
    return row


def test_pairs_are_the_cluster_robust_regression_of_statsmodels() -> None:
    api = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(2)
    rates = rates_of(rng, 9, 0.4, 0.3)
    before, now = (counted(rng, rates, runs_of(rng, 9, 12)) for _ in range(2))
    found = rows(now.aa.compare(before, "rate", rules=RULES))
    y, side, codes = [], [], []
    for at, frame in enumerate((before, now)):
        for code, (hits, runs) in enumerate(zip(frame["hits"], frame["runs"], strict=True)):
            y += [1] * hits + [0] * (runs - hits)
            side += [at] * runs
            codes += [code] * runs
    kinds = {"groups": np.array(codes), "use_correction": False}
    fit = api.OLS(y, api.add_constant(side)).fit(cov_type="cluster", cov_kwds=kinds)
    error = fit.bse[1] * np.sqrt(9 / 8)
    assert found["change"] == pytest.approx(fit.params[1], abs=1e-9)
    half = (found["high"] - found["low"]) / 2
    df = float(found["method"].split("t of ")[1].split()[0])
    stats = pytest.importorskip("scipy.stats")
    assert half == pytest.approx(stats.t.ppf(0.975, df) * error, rel=2e-3)
    assert 1 <= df <= 8


def test_the_errors_of_changes_are_those_of_statsmodels() -> None:
    api = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(8)
    parts, errors, scores = [], [], []
    for _ in range(2):
        runs = rng.integers(3, 20, 12).astype(float)
        hits = rng.binomial(runs.astype(int), rates_of(rng, 12, 0.4, 0.3)).astype(float)
        parts += [hits, runs]
        kinds = {"groups": np.arange(12), "use_correction": False}
        model = api.WLS(hits / runs, np.ones(12), weights=runs)
        errors.append(model.fit(cov_type="cluster", cov_kwds=kinds).bse[0] * np.sqrt(12 / 11))
        scores.append((hits - runs * hits.sum() / runs.sum()) / runs.sum())
    samples = (estimate.sample_of(*parts[:2], "1"), estimate.sample_of(*parts[2:], "0"))
    two = estimate.changed_samples(*samples, 0.95)
    assert two.error == pytest.approx(np.hypot(*errors), abs=1e-9)
    one = estimate.changed(*parts, 0.95)
    covariance = 12 / 11 * (scores[0] * scores[1]).sum()
    together = errors[0] ** 2 + errors[1] ** 2 - 2 * covariance
    assert one.error == pytest.approx(np.sqrt(together), abs=1e-9)


def test_answers_taken_for_independent_are_compared_as_statsmodels_does() -> None:
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    now = pd.DataFrame({"hits": [45], "runs": [100], "rate": [0.45]})
    before = pd.DataFrame({"hits": [30], "runs": [90], "rate": [1 / 3]})
    found = rows(now.aa.compare(before, "rate", rules=RULES))
    low, high = proportion.confint_proportions_2indep(45, 100, 30, 90, method="newcomb")
    _, p = proportion.proportions_ztest([45, 30], [100, 90])
    assert found["low"] == pytest.approx(low, abs=1e-9)
    assert found["high"] == pytest.approx(high, abs=1e-9)
    assert found["p"] == pytest.approx(p, abs=1e-9)
    assert "independent" in found["method"]


def test_totals_have_the_design_effect_and_the_degrees_of_freedom_of_prompts() -> None:
    stats = pytest.importorskip("scipy.stats")
    parts = [np.array([number]) for number in (45.0, 100.0, 30.0, 90.0)]
    found = estimate.changed_totals(*parts, 0.95, 2.0, 8.0)
    pooled = 75 / 190
    error = np.sqrt(pooled * (1 - pooled) * (2 / 100 + 2 / 90))
    assert found.p == pytest.approx(2 * stats.t.sf((0.45 - 1 / 3) / error, 8), abs=1e-9)
    normal = estimate.changed_totals(*parts, 0.95, 2.0, np.inf)
    assert found.low < normal.low < normal.high < found.high


@pytest.mark.parametrize("correct", ["holm", "bh"])
def test_p_values_are_adjusted_as_statsmodels_does(correct: str) -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    p = np.random.default_rng(1).random(30) ** 3
    method = {"holm": "holm", "bh": "fdr_bh"}[correct]
    expected = multitest.multipletests(p, method=method)[1]
    assert estimate.adjusted(p, correct) == pytest.approx(expected, abs=1e-9)


@pytest.mark.thorough
@pytest.mark.parametrize("uneven", [False, True])
def test_flat_families_raise_few_alarms(uneven: bool) -> None:
    assert alarms(120, 25, 0.3, 0.4, 4, uneven) <= 0.09


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("rate", "icc", "k", "uneven"),
    cells([0.5, 0.05, 0.95], [0.0, 0.3, 0.8], [5, 12, 25, 100], [False, True], of=3),
)
def test_flat_families_raise_few_alarms_everywhere(
    k: int, icc: float, rate: float, uneven: bool
) -> None:
    # Of 800 families 5 % are 40, with a standard error of 6; of 200 they are 10, and 3.
    times, most = (800, 0.065) if explores() else (200, 0.08)
    assert alarms(times, k, icc, rate, 5, uneven) <= most


def alarms(times: int, k: int, icc: float, rate: float, groups: int, uneven: bool) -> float:
    """How many of some families of comparisons without a change have one called a change."""
    rng = np.random.default_rng([k, int(100 * icc), int(100 * rate), groups, uneven])
    sides: list[list[Drawn]] = [[], []]
    for at in range(times * groups):
        rates = rates_of(rng, k, rate, icc)
        for side in sides:
            runs = runs_of(rng, k, 10, uneven=uneven)
            group = {"family": at // groups, "engine": at % groups}
            side.append((rng.binomial(runs, rates), runs, group))
    before, now = map(framed, sides)
    found = now.aa.compare(before, "rate", by=["family", "engine"], correct=None, rules=RULES)
    adjust = found.groupby("family")["p"].transform(
        lambda p: estimate.adjusted(p.to_numpy(float, na_value=np.nan), "holm")
    )
    return float((adjust < 0.05).fillna(False).groupby(found["family"]).any().mean())


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("k", "rate", "icc", "runs"),
    [
        (6, 0.35, 0.3, 160),
        (7, 0.4, 0.1, 40),
        (25, 0.35, 0.3, 16),
        (25, 0.35, 0.3, 160),
        (10, 0.35, 0.3, 16),
        (40, 0.4, 0.0, 20),
    ],
)
def test_the_detectable_change_is_detected_as_often_as_it_says(
    k: int, rate: float, icc: float, runs: int
) -> None:
    power(500, k, rate, icc, runs)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("icc", "k", "rate"), cells([0.0, 0.1, 0.4], [25, 60, 150], [0.4, 0.15], of=3)
)
def test_the_detectable_change_is_detected_as_often_as_it_says_everywhere(
    k: int, icc: float, rate: float
) -> None:
    power(1500 if explores() else 400, k, rate, icc, 20)


def power(times: int, k: int, rate: float, icc: float, mean: int) -> None:
    """Four of five are found of changes as large as is promised, and one in 20 of none."""
    rng = np.random.default_rng([k, int(100 * icc), int(100 * rate), mean])

    def compared(count: int, shift: float) -> pd.DataFrame:
        sides: list[list[Drawn]] = [[], []]
        for at in range(count):
            rates = rates_of(rng, k, rate, icc)
            # Every prompt moves, and none beyond 0 or 1.
            moved = rates + shift * 4 * rates * (1 - rates)
            for side, now in zip(sides, (rates, moved), strict=True):
                runs = runs_of(rng, k, mean)
                side.append((rng.binomial(runs, np.clip(now, 0, 1)), runs, {"at": at}))
        before, after = map(framed, sides)
        return after.aa.compare(before, "rate", by="at", correct=None, rules=RULES)

    flat = compared(times, 0.0)
    assert (flat["p"] < 0.05).mean() <= 0.05 + 2 * (0.05 / times) ** 0.5
    promised = float(flat["detectable"].fillna(1.0).median())
    draws = [rates_of(rng, k, rate, icc) for _ in range(400)]
    moved = np.mean([(4 * each * (1 - each)).mean() for each in draws])
    shown = (compared(times, promised / moved)["verdict"] == "up").mean()
    assert 0.8 - 2 * (0.16 / times) ** 0.5 <= shown <= 0.92, (shown, promised)


def test_no_change_beyond_the_scale_is_promised() -> None:
    rates = np.array([0.05, 0.1, 0.4, 0.9, 0.95])
    now, before = (
        framed([(np.round(20 * (rates + 0.05 * step)).astype(int), np.full(5, 20), {})])
        for step in (np.array([1, -1, 1, -1, 0]), 0)
    )
    row = rows(now.aa.compare(before, "rate", rules=RULES))
    assert row["verdict"] == "no evidence"
    assert pd.isna(row["detectable"]) or row["detectable"] <= 1
    assert "no possible change would have shown in 4 of 5" in row["why"]


def test_a_planted_change_is_found_in_its_direction() -> None:
    rng = np.random.default_rng(1)
    rates, runs = rates_of(rng, 25, 0.4, 0.3), runs_of(rng, 25, 20)
    before, now = counted(rng, rates, runs), counted(rng, np.clip(rates + 0.2, 0, 1), runs)
    assert rows(now.aa.compare(before, "rate", rules=RULES))["verdict"] == "up"
    assert rows(before.aa.compare(now, "rate", rules=RULES))["verdict"] == "down"


def test_no_evidence_stands_beside_what_could_have_been_seen() -> None:
    rng = np.random.default_rng(5)
    rates = rates_of(rng, 25, 0.4, 0.3)
    before, now = (counted(rng, rates, runs_of(rng, 25, 5)) for _ in range(2))
    found = rows(now.aa.compare(before, "rate", rules=RULES))
    assert found["verdict"] == "no evidence"
    assert found["detectable"] > abs(found["change"])
    assert "would have shown in 4 of 5" in found["why"]
    narrow = rows(now.aa.compare(before, "rate", level=0.9, rules=RULES))
    ends = f"{100 * narrow['low']:+.1f} points to {100 * narrow['high']:+.1f} points"
    assert f"90 % interval of the change, for this row alone: {ends}" in narrow["why"]


@pytest.fixture(scope="module")
def project() -> aa.Project:
    return aa.demo()


def test_overlapping_windows_are_stated_before_any_number(project: aa.Project) -> None:
    week, month = (project.read("prompts", days=days).main for days in (7, 30))
    found = rows(week.aa.compare(month, "mention_rate"))
    assert found["verdict"] == "cannot say"
    assert "overlap" in found["why"]
    assert pd.isna(found["p"])
    assert "both hold" in rows(week.aa.compare(week, "mention_rate"))["why"]


def test_other_rows_of_one_answer_can_be_compared(project: aa.Project) -> None:
    prompts = project.read("prompts", days=30).main
    branded = prompts["branded"].fillna(False)
    found = rows(prompts[branded].aa.compare(prompts[~branded], "mention_rate"))
    assert found["verdict"] == "cannot say"  # two branded prompts
    assert "at least 5" in found["why"]
    startups = prompts["topic"].eq("CRM for startups").fillna(False)
    found = rows(prompts[startups].aa.compare(prompts[~startups], "mention_rate"))
    assert "two samples" in found["method"]
    assert found["verdict"] in ("up", "no evidence")


def test_the_values_of_two_hosts_are_explained_by_their_columns() -> None:
    sides = [aa.demo(host).read("overview", days=30) for host in ("acme.example", "globex.example")]
    now, baseline = (side["overview_engines"] for side in sides)
    found = now.aa.compare(baseline=baseline, column="mention_rate", by="engine")
    for name in ("acme.example", "globex.example", "n_baseline"):
        assert float(found.aa.explain(0, name).value) == pytest.approx(float(found[name][0]))


def test_an_engine_that_never_ran_is_no_change(project: aa.Project) -> None:
    engines = project.read("overview", days=30)["overview_engines"]
    other = aa.demo("globex.example").read("overview", days=30)["overview_engines"]
    found = engines.aa.compare(other, "mention_rate", by="engine").set_index("engine")
    never = found.loc["google-ai-overview"]
    assert never["verdict"] == "cannot say"
    assert never["why"].startswith("acme.example:")
    assert {*found["host"]} == {"acme.example"}
    assert {*found["baseline_host"]} == {"globex.example"}
    assert "Its value in globex.example" in found.aa.codebook.loc["globex.example", "doc"]
    ends = found["acme.example"] - found["globex.example"]
    assert (found["change"] - ends).abs().max() < 1e-12
    assert {"n", "n_baseline"} < {*found.columns}
    assert not {"before", "after", "n_before"} & {*found.columns}
    shown = repr(found.reset_index()).splitlines()
    assert {"baseline_host: globex.example", "host: acme.example"} < {*shown}
    assert len(shown) < 5 + 2 * len(found) + 12
    assert pd.isna(never["change"])
    assert found.aa.codebook.loc["change", "unit"] == "absolute pp as fraction"
    assert len(found.aa.sources) == 2


def test_prompts_of_another_host_are_other_prompts(project: aa.Project) -> None:
    one = project.read("prompts", days=30).main
    two = aa.demo("globex.example").read("prompts", days=30).main
    assert {*one["prompt_id"]} & {*two["prompt_id"]}
    assert "two samples" in rows(one.aa.compare(two, "mention_rate"))["method"]


def test_a_changed_set_of_prompts_is_stated() -> None:
    rng = np.random.default_rng(7)
    rates = rates_of(rng, 20, 0.4, 0.3)
    before, now = (counted(rng, rates, runs_of(rng, 20, 10)) for _ in range(2))
    found = rows(now.tail(15).aa.compare(before.head(17), "rate", rules=RULES))
    assert "(3 entered, 5 left): compared are the 12" in found["why"]
    assert found["clusters"] == 12


def moved_alike(seed: int, shift: int) -> pd.DataFrame:
    """Prompts whose rates all move by as much, up to what floats round."""
    rng = np.random.default_rng(seed)
    runs = 10 * rng.integers(1, 9, 11)
    hits = rng.integers(1, 5, 11) * runs // 10 + shift * runs // 10
    names = [f"p{number}" for number in range(11)]
    return pd.DataFrame({"prompt_id": names, "hits": hits, "runs": runs, "rate": hits / runs})


@pytest.mark.parametrize("seed", range(12))
def test_a_group_that_cannot_be_judged_ends_no_other(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rates, runs = rates_of(rng, 25, 0.4, 0.3), runs_of(rng, 25, 20)
    sides = []
    for shift in (0, 2):
        moved = counted(rng, np.clip(rates + shift / 8, 0, 1), runs, group="varied")
        sides.append(pd.concat([moved_alike(seed, shift).assign(group="alike"), moved]))
    before, now = sides
    found = now.aa.compare(before, "rate", by="group", rules=RULES).set_index("group")
    assert found.loc["alike", "verdict"] == "cannot say"
    assert "nothing differs between 11 prompt_id" in found.loc["alike", "why"]
    assert found.loc["varied", "verdict"] == "up"
    days = pd.concat(
        [moved_alike(seed, shift).assign(date=f"2026-10-{5 + 7 * shift:02}") for shift in (0, 2)]
    )
    days["date"] = pd.to_datetime(days["date"])
    effect = aa.stats.effect(days, "2026-10-10", days["prompt_id"][:5], column="rate", rules=RULES)
    assert effect["verdict"][0] == "cannot say"
    assert "nothing differs" in effect["why"][0]


def test_refusals() -> None:
    frame = pd.DataFrame({"prompt_id": [*"abcdef"], "named": [True, False] * 3})
    with pytest.raises(ValueError, match="correct"):
        frame.aa.compare(frame, "named", correct="bonferroni")
    with pytest.raises(ValueError, match="paired, or they are not"):
        frame.aa.compare(frame, "named", pair="prompt_id", cluster="named")
    assert rows(frame.aa.compare(frame, "named"))["verdict"] == "cannot say"  # nothing differs
    assert rows(frame.head(3).aa.compare(frame, "named"))["verdict"] == "cannot say"


def test_a_hundred_thousand_rows_take_less_than_a_second() -> None:
    rng = np.random.default_rng(1)

    def side() -> pd.DataFrame:
        return pd.DataFrame(
            {
                "prompt_id": rng.integers(0, 2000, 100_000),
                "engine": rng.choice([*"abcdef"], 100_000),
                "named": rng.random(100_000) < 0.3,
            }
        )

    now, before = side(), side()
    began = time.process_time()
    now.aa.compare(before, "named", by="engine")
    assert time.process_time() - began < 2  # two frames
