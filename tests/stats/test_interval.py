"""Intervals over clusters: they cover what they promise, and say which question they answer."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest
from effort import cells, explores, one_in
from prompts import RULES, Drawn, counted, framed, rates_of, runs_of

import aatoolkit as aa
from aatoolkit.errors import AvailabilityError


def pooled(frame: pd.DataFrame, **more: object) -> pd.DataFrame:
    return frame.aa.interval("rate", cluster="prompt_id", rules=RULES, **more)


def test_the_variance_is_the_cluster_robust_one_of_statsmodels() -> None:
    api = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(1)
    frame = counted(rng, rates_of(rng, 12, 0.4, 0.3), runs_of(rng, 12, 15, uneven=True))
    found = pooled(frame).iloc[0]
    each = frame.loc[frame.index.repeat(frame["runs"])]
    y = np.concatenate(
        [[1] * h + [0] * (n - h) for h, n in zip(frame["hits"], frame["runs"], strict=True)]
    )
    codes = pd.factorize(each["prompt_id"])[0]
    fit = api.OLS(y, np.ones(len(y))).fit(cov_type="cluster", cov_kwds={"groups": codes})
    simple = found["rate"] * (1 - found["rate"]) / found["rate_n"]
    assert found["rate"] == pytest.approx(fit.params[0], abs=1e-9)
    assert found["rate_deff"] * simple == pytest.approx(fit.bse[0] ** 2, abs=1e-9)
    assert found["rate_n"] == len(y)
    assert found["rate_clusters"] == 12


def test_independent_clusters_of_one_answer_give_wilsons_interval_with_t() -> None:
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    stats = pytest.importorskip("scipy.stats")
    frame = pd.DataFrame({"prompt_id": range(400), "named": [True] * 200 + [False] * 200})
    found = frame.aa.interval("named", cluster="prompt_id").iloc[0]
    df = 200  # as many clusters as carry the hits
    level = 1 - 2 * stats.norm.sf(stats.t.ppf(0.975, df))
    low, high = proportion.proportion_confint(199.5, 399, alpha=1 - level, method="wilson")
    # The rate is a half; only the effective size is that of 399 answers.
    assert found["named_high"] - found["named_low"] == pytest.approx(high - low, abs=2e-4)
    assert found["named_deff"] == pytest.approx(400 / 399)


@pytest.mark.parametrize(
    ("k", "icc", "rate", "runs", "uneven"),
    one_in(
        3,
        [
            (5, 0.3, 0.5, 30, False),
            (25, 0.0, 0.4, 30, False),
            (25, 0.3, 0.3, 20, True),
            (25, 0.8, 0.1, 30, False),
            (100, 0.3, 0.02, 15, True),
            (60, 0.5, 0.98, 10, False),
        ],
    ),
)
def test_it_covers_what_it_promises(
    k: int, icc: float, rate: float, runs: int, uneven: bool
) -> None:
    assert 0.92 <= coverage(400, k, icc, rate, runs, uneven) <= 1


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("rate", "icc", "k", "uneven"),
    cells([0.5, 0.1, 0.02, 0.97], [0.0, 0.1, 0.3, 0.8], [5, 8, 25, 100, 200], [False, True], of=6),
)
def test_it_covers_what_it_promises_everywhere(
    k: int, icc: float, rate: float, uneven: bool
) -> None:
    times = 3000 if explores() else 600
    # One standard error of 600 is 0.009.
    beyond = 0.0 if explores() else 0.018
    found = coverage(times, k, icc, rate, 20, uneven)
    assert found >= 0.93 - beyond
    few_carry_the_hits = k * min(rate, 1 - rate) < 10 or (
        icc > 0.5 and k * min(rate, 1 - rate) < 25
    )
    assert found <= 0.975 + beyond or few_carry_the_hits or uneven


def coverage(
    times: int, k: int, icc: float, rate: float, runs: int, uneven: bool, **more: object
) -> float:
    """How often the interval holds the rate of all such prompts; one group a repetition."""
    rng = np.random.default_rng([k, int(100 * icc), int(100 * rate), runs, uneven])
    drawn: list[Drawn] = []
    for at in range(times):
        rates, answers = rates_of(rng, k, rate, icc), runs_of(rng, k, runs, uneven=uneven)
        drawn.append((rng.binomial(answers, rates), answers, {"at": at}))
    found = pooled(framed(drawn), by="at", **more)
    return float(found["rate_low"].le(rate).mul(found["rate_high"].ge(rate)).mean())


@pytest.mark.parametrize(("icc", "rate"), one_in(3, [(0.3, 0.5), (0.0, 0.3), (0.8, 0.2)]))
def test_a_fixed_panel_covers_the_rate_of_its_prompts(icc: float, rate: float) -> None:
    rng = np.random.default_rng(4)
    rates, runs = rates_of(rng, 25, rate, icc), runs_of(rng, 25, 12)
    whole = framed([(rng.binomial(runs, rates), runs, {"at": at}) for at in range(400)])
    found = pooled(whole, by="at", panel="fixed")
    truth = (rates * runs).sum() / runs.sum()
    covered = float(found["rate_low"].le(truth).mul(found["rate_high"].ge(truth)).mean())
    assert 0.93 <= covered <= 0.995


def test_the_interval_of_a_mean_is_that_of_statsmodels() -> None:
    api = pytest.importorskip("statsmodels.api")
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(3)
    codes = np.repeat(np.arange(8), 6)
    place = 1 + rng.poisson(rng.gamma(1.5, 1, 8)[codes])
    frame = pd.DataFrame({"prompt_id": codes, "place": place})
    found = frame.aa.interval("place", cluster="prompt_id", rules={"place": "mean"}).iloc[0]
    fit = api.OLS(place, np.ones(48)).fit(cov_type="cluster", cov_kwds={"groups": codes})
    half = stats.t.ppf(0.975, 7) * fit.bse[0]
    assert found["place_low"] == pytest.approx(fit.params[0] - half, abs=1e-9)
    assert found["place_high"] == pytest.approx(fit.params[0] + half, abs=1e-9)
    assert pd.isna(found["place_deff"])


def test_two_questions_are_distinguished_in_words(prompts: pd.DataFrame) -> None:
    sampled = prompts.aa.interval("mention_rate", cluster="prompt_id").iloc[0]
    fixed = prompts.aa.interval("mention_rate", cluster="prompt_id", panel="fixed").iloc[0]
    assert "like these" in sampled["mention_rate_method"]
    assert "these values" in fixed["mention_rate_method"]
    width = {
        p["mention_rate_method"]: p["mention_rate_high"] - p["mention_rate_low"]
        for p in (sampled, fixed)
    }
    first, second = width.values()
    assert first > 2 * second
    assert sampled["mention_rate_deff"] > 2


@pytest.fixture(scope="module")
def prompts() -> pd.DataFrame:
    return aa.demo().read("prompts", days=30).main


def test_a_result_has_codebook_availability_and_sources(prompts: pd.DataFrame) -> None:
    found = prompts.aa.interval("mention_rate", by="topic", cluster="prompt_id")
    assert found.aa.codebook.loc["mention_rate_low", "unit"] == "fraction 0-1"
    assert found.aa.codebook["doc"].notna().all()
    assert found.aa.availability.loc["mention_rate", "status"] == "partial"
    assert found.aa.sources["section"].tolist() == ["prompts"]
    assert set(found.aa.availability["status"]) <= {"available", "partial"}


def test_few_clusters_are_refused_with_the_reason_and_a_way_out(prompts: pd.DataFrame) -> None:
    found = prompts.aa.interval("mention_rate", by="topic", cluster="prompt_id")
    few = found[found["mention_rate_clusters"] < 5]
    assert len(few)
    assert few["mention_rate_low"].isna().all()
    assert few["mention_rate_verdict"].str.startswith("cannot say").all()
    assert few["mention_rate_verdict"].str.contains("takes 5").all()
    few_rows = prompts.head(3)
    with pytest.raises(AvailabilityError, match="panel='fixed'"):
        few_rows.aa.interval("mention_rate", cluster="prompt_id")


def test_what_was_not_measured_is_stated_and_is_no_zero() -> None:
    frame = pd.DataFrame({"prompt_id": list("abcdefg"), "hits": [1.0] * 6 + [None], "runs": 4})
    frame["engine"] = ["a"] * 6 + ["b"]
    frame["rate"] = frame["hits"] / frame["runs"]
    found = pooled(frame, by="engine").set_index("engine")
    assert pd.isna(found.loc["b", "rate"])
    assert found.loc["b", "rate_verdict"].startswith("cannot say")
    assert found.loc["a", "rate_n"] == 24
    ends = [f"{100 * found.loc['a', f'rate_{end}']:.1f} %" for end in ("low", "high")]
    assert found.loc["a", "rate_verdict"] == f"95 % interval: {' to '.join(ends)}"


def test_join_keeps_the_rows_and_their_metadata(prompts: pd.DataFrame) -> None:
    joined = prompts.aa.interval("mention_rate", by="topic", cluster="prompt_id", join=True)
    pd.testing.assert_frame_equal(
        joined[[*prompts.columns]], prompts, check_names=False, obj="rows"
    )
    assert joined.aa.codebook.loc["mention_rate", "of"] == "prompts.mention_rate"
    each = prompts.aa.interval("mention_rate", join=True)
    assert {"mention_rate_low", "mention_rate_high"} <= {*each.columns}
    with pytest.raises(AvailabilityError, match="already has"):
        each.aa.interval("mention_rate", join=True)


def test_rows_without_a_cluster_are_refused() -> None:
    frame = pd.DataFrame({"prompt_id": ["a", None] * 5, "named": True})
    with pytest.raises(AvailabilityError, match="5 rows with a number have none"):
        frame.aa.interval("named", cluster="prompt_id")


def test_questions_that_make_no_sense_are_refused(prompts: pd.DataFrame) -> None:
    with pytest.raises(ValueError, match="panel"):
        prompts.aa.interval("mention_rate", cluster="prompt_id", panel="both")
    with pytest.raises(ValueError, match="need cluster"):
        prompts.aa.interval("mention_rate", by="topic")
    with pytest.raises(AvailabilityError, match="no numerator"):
        prompts.aa.interval("mention_count", cluster="prompt_id")


def test_all_hits_and_no_hits_are_no_certainty() -> None:
    for named in (True, False):
        frame = pd.DataFrame({"prompt_id": [*range(10)] * 20, "named": named})
        found = frame.aa.interval("named", cluster="prompt_id").iloc[0]
        assert found["named_high"] - found["named_low"] > 0.2


def test_a_hundred_thousand_rows_take_less_than_a_second() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "prompt_id": rng.integers(0, 2000, 100_000),
            "engine": rng.choice(list("abcdef"), 100_000),
            "named": rng.random(100_000) < 0.3,
        }
    )
    began = time.process_time()
    frame.aa.interval("named", by="engine", cluster="prompt_id")
    assert time.process_time() - began < 1
