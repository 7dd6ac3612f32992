"""Change points: few in flat series, the right day in others."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from effort import cells, explores
from prompts import RULES, without_attrs

import aatoolkit as aa
from aatoolkit.errors import AvailabilityError


def series(rng: np.random.Generator, rates: object, *, varying: float = 0.0) -> pd.DataFrame:
    rates = np.asarray(rates, float)
    if varying:
        weight = (1 - varying) / varying
        rates = rng.beta(rates * weight, (1 - rates) * weight)
    runs = rng.poisson(15, len(rates))  # some days have few answers, or none
    hits = rng.binomial(runs, rates)
    days = pd.date_range("2026-01-01", periods=len(rates))
    frame = pd.DataFrame({"date": days, "hits": hits, "runs": runs})
    return frame.assign(rate=frame["hits"] / frame["runs"].where(frame["runs"] > 0))


def alike(rng: np.random.Generator, days: int, by: float) -> pd.DataFrame:
    """A flat series whose days resemble those before them, with gaps and growing numbers."""
    noise, level = rng.standard_normal(days), 0.0
    levels = [level := by * level + np.sqrt(1 - by**2) * each for each in noise]
    runs = rng.poisson(np.linspace(8, 24, days)) * (rng.random(days) > 0.1)
    hits = rng.binomial(runs, np.clip(0.3 + 0.08 * np.array(levels), 0.01, 0.99))
    frame = pd.DataFrame({"date": pd.date_range("2026-01-01", periods=days), "hits": hits})
    return frame.assign(runs=runs, rate=hits / np.where(runs > 0, runs, np.nan))


@pytest.mark.thorough
@pytest.mark.parametrize("days", [60, 180] if explores() else [60])
def test_days_that_resemble_their_neighbours_are_no_change(days: int) -> None:
    rng = np.random.default_rng(days)
    times, most = (400, 0.09) if explores() else (60, 0.15)
    drawn = (alike(rng, days, 0.5) for _ in range(times))
    found = [without_attrs(each.aa.changes("rate", rules=RULES)) for each in drawn]
    # Shuffled day by day, as if each were on its own, 15 to 20 % of them were.
    assert np.mean([each["day"].notna().any() for each in found]) <= most


def test_a_second_change_is_found_beside_the_first() -> None:
    rng = np.random.default_rng(1)
    frame = series(rng, [0.2] * 50 + [0.5] * 40 + [0.25] * 40)
    found = frame.aa.changes("rate", rules=RULES)
    assert found["verdict"].iloc[[0, -1]].tolist() == ["up", "down"]
    assert found["from_day"][1] == found["day"][0]


def alarms(times: int, days: int, rate: float, varying: float) -> float:
    rng = np.random.default_rng([days, int(100 * rate), int(100 * varying)])
    drawn = (series(rng, np.full(days, rate), varying=varying) for _ in range(times))
    found = [without_attrs(each.aa.changes("rate", rules=RULES)) for each in drawn]
    return float(np.mean([each["day"].notna().any() for each in found]))


@pytest.mark.thorough
def test_flat_series_have_few_changes() -> None:
    assert alarms(80, 60, 0.3, 0.0) <= 0.11


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("days", "rate", "varying"), cells([30, 90, 365], [0.5, 0.05], [0.0, 0.2], of=2)
)
def test_flat_series_have_few_changes_everywhere(days: int, rate: float, varying: float) -> None:
    # Of 400 series 5 % are 20, with a standard error of 4.4; of 150 they are 8, and 2.7.
    times, most = (400, 0.075) if explores() else (150, 0.09)
    assert alarms(times, days, rate, varying) <= most


def test_a_change_is_found_near_its_day() -> None:
    rng = np.random.default_rng(3)
    inside = 0
    for _ in range(30):
        found = series(rng, [0.3] * 45 + [0.55] * 45).aa.changes("rate", rules=RULES)
        assert len(found) >= 1
        row = found.iloc[int(found["change"].abs().to_numpy(float).argmax())]
        assert row["verdict"] == "up"
        inside += row["first_day"] <= pd.Timestamp("2026-02-15") <= row["last_day"]
    assert inside >= 25


def called(times: int, draw: Callable[[np.random.Generator], object]) -> tuple[float, set[str]]:
    """How often some series are called changed, and the reasons of those that cannot say."""
    rng = np.random.default_rng(8)
    found = [series(rng, draw(rng)).aa.changes("rate", rules=RULES).iloc[0] for _ in range(times)]
    reasons = {row["why"] for row in found if row["verdict"] == "cannot say"}
    return float(np.mean([row["verdict"] in ("up", "down") for row in found])), reasons


@pytest.mark.thorough
@pytest.mark.parametrize("days", [60, 90])
@pytest.mark.parametrize("alike", [0.8, 0.9])
def test_days_that_are_alike_take_steps_by_themselves(days: int, alike: float) -> None:
    def rates(rng: np.random.Generator) -> object:
        state = [rng.standard_normal()]
        for noise in rng.standard_normal(days - 1):
            state.append(alike * state[-1] + np.sqrt(1 - alike**2) * noise)
        return np.clip(0.35 + 0.08 * np.array(state), 0.02, 0.98)

    share, reasons = called(150, rates)
    assert share <= 0.08 + 0.03
    assert any("take steps by themselves" in reason for reason in reasons)


@pytest.mark.thorough
def test_a_step_of_twelve_points_is_found_in_most_series_of_90_days() -> None:
    share, _ = called(100, lambda _: [0.35] * 45 + [0.47] * 45)
    assert share >= 0.5


def counted_days(rng: np.random.Generator, kind: str, levels: object) -> pd.DataFrame:
    """Overdispersed counts, or means of unequal numbers of answers, of each day."""
    levels = np.asarray(levels, float)
    days = pd.date_range("2026-01-01", periods=len(levels))
    runs = rng.poisson(12, len(levels)) + 1
    values = rng.poisson(rng.gamma(8, levels / 8)) if kind == "sum" else levels / 10
    noise = rng.normal(0, 1, len(levels)) * (kind != "sum") / np.sqrt(runs)
    return pd.DataFrame({"date": days, "value": values + noise, "runs": runs})


@pytest.mark.parametrize("kind", ["sum", "mean"])
def test_counts_and_means_change_too(kind: str) -> None:
    rng = np.random.default_rng(9)
    rules = {"value": "sum" if kind == "sum" else aa.sections.Aggregation("mean", by="runs")}
    flat = [counted_days(rng, kind, [20.0] * 90) for _ in range(30)]
    found = [without_attrs(each.aa.changes("value", rules=rules)) for each in flat]
    assert sum(each["day"].notna().any() for each in found) <= 4  # 5 % of 30 are 1.5
    frame = counted_days(rng, kind, [20.0] * 60 + [32.0] * 60)
    frame.loc[20:26, "value"] = np.nan  # gaps stay gaps
    row = frame.aa.changes("value", rules=rules).iloc[0]
    assert row["verdict"] == "up"
    assert row["first_day"] <= pd.Timestamp("2026-03-02") <= row["last_day"]
    assert row["clusters"] == 113
    late = frame[frame["date"].between(row["day"], row["to_day"])].dropna()
    weights = late["runs"] if kind == "mean" else np.ones(len(late))
    assert row["after"] == pytest.approx(np.average(late["value"], weights=weights))


def test_a_day_with_a_missing_part_has_no_count() -> None:
    days = pd.date_range("2026-01-01", periods=40).repeat(2)
    frame = pd.DataFrame({"date": days, "value": pd.array([3] * 80, dtype="Int64")})
    frame.loc[7, "value"] = pd.NA
    row = frame.aa.changes("value", rules={"value": "sum"}).iloc[0]
    assert (row["clusters"], row["before"], row["verdict"]) == (39, 6.0, "no evidence")


def test_gaps_stay_gaps() -> None:
    rng = np.random.default_rng(4)
    frame = series(rng, [0.2] * 40 + [0.6] * 40)
    frame.loc[30:36, ["hits", "runs", "rate"]] = pd.NA
    found = frame.aa.changes("rate", rules=RULES)
    assert found["verdict"].tolist() == ["up"]
    assert found["clusters"][0] <= 73


def test_short_series_cannot_say_and_long_ones_are_refused() -> None:
    rng = np.random.default_rng(5)
    found = series(rng, [0.3] * 12).aa.changes("rate", rules=RULES)
    assert found["verdict"].tolist() == ["cannot say"]
    long = series(rng, [0.3] * 1200)
    with pytest.raises(AvailabilityError, match="aggregate to weeks"):
        long.aa.changes("rate", rules=RULES)


def test_the_longest_series_takes_less_than_a_second() -> None:
    frame = series(np.random.default_rng(6), [0.3] * 500 + [0.4] * 595)
    began = time.process_time()
    frame.aa.changes("rate", rules=RULES)
    assert time.process_time() - began < 1


def test_the_demo_has_a_series() -> None:
    trend = aa.demo().read("overview", days=90)["overview_trend"]
    found = trend.aa.changes("mention_rate")
    assert found.aa.codebook.loc["after", "unit"] == "fraction 0-1"
    assert found["n"].notna().all()
