"""Weeks and months: by the column of days, and partial where some of their days are missing."""

from __future__ import annotations

import pandas as pd
import pytest
from serving import shared_client

from aatoolkit.errors import ArgumentError, AvailabilityError

SUM = {"n": "sum"}


def days(start: str = "2026-11-02", size: int = 14, **more: object) -> pd.DataFrame:
    return pd.DataFrame({"date": pd.date_range(start, periods=size), "n": 1, **more})


@pytest.mark.parametrize("freq", ["W", "MS", "ME", "7D", "2W", "QS", "D", "W-SAT", "YE"])
@pytest.mark.parametrize("size", [5, 14, 45])
def test_sums_are_those_of_pandas_and_part_periods_are_those_pandas_cuts(
    freq: str, size: int
) -> None:
    frame = days(size=size)
    found = frame.aa.aggregate(freq=freq, rules=SUM)
    plain = frame.groupby(pd.Grouper(key="date", freq=freq))["n"].sum()
    assert found["date"].tolist() == plain.index.tolist()
    assert found["n"].tolist() == plain.tolist()
    # By hand: a period is whole where the days around it belong to others.
    more = days("2024-01-01", 2500)
    whole = more.groupby(pd.Grouper(key="date", freq=freq))["n"].sum()
    if freq in ("7D", "2W"):  # they begin with the first day of the frame
        whole = pd.Series({"7D": 7, "2W": 14}[freq], index=plain.index)
    part = plain.lt(whole.reindex(plain.index)).tolist()
    status = found.get("n_availability", pd.Series(["available"] * len(found))).tolist()
    if any(part) and not all(part):
        assert [state == "partial" for state in status] == part
    reason = found.aa.availability.loc["n", "reason"]
    assert (pd.notna(reason) and "in part: " in reason) == any(part)


def test_a_part_week_says_how_many_days_it_has() -> None:
    found = days(size=10).aa.aggregate(freq="W", rules=SUM)
    assert found["n"].tolist() == [7, 3]
    words = found["n_availability_reason"].tolist()
    assert words[1] == "3 of the 7 days from 2026-11-09 to 2026-11-15"
    assert "3 of the 7 days" in found.aa.availability.loc["n", "reason"]
    hours = pd.DataFrame(
        {"at": pd.date_range("2026-11-02", periods=240, freq="h", tz="UTC"), "n": 1}
    )
    assert hours.aa.aggregate(freq="W", rules=SUM)["n_availability"].tolist()[1] == "partial"
    assert "n_availability" not in hours.aa.aggregate(freq="h", rules=SUM)


@pytest.mark.thorough
def test_a_weekly_trend_by_engine_is_one_line_in_either_backend() -> None:
    project = shared_client().project("acme.example")
    for backend in ("numpy_nullable", "pyarrow"):
        trend = project.read("overview", days=90, dtype_backend=backend)["overview_trend"]
        found = trend.aa.aggregate(columns="mention_rate", freq="W")
        indexed = trend.set_index("date").aa.aggregate(columns="mention_rate", freq="W")
        assert len(found) == len(indexed) == 14
        counts = trend.groupby(trend["date"].astype("datetime64[us]").dt.to_period("W-SUN"))[
            ["mention_count", "answer_count"]
        ].sum()
        rates = counts["mention_count"] / counts["answer_count"]
        assert found["mention_rate"].tolist() == pytest.approx(rates.tolist())
        # The window starts on a Sunday and ends on a Friday; a gap of days without a row counts.
        part = found["mention_rate_availability_reason"].str.contains("of the 7 days")
        assert part.fillna(False).tolist() == [True, *[False] * 12, True]
        holes = trend[trend["date"].astype("datetime64[us]").dt.day != 1]
        again = holes.aa.aggregate(columns="mention_rate", freq="W")
        lacking = again["mention_rate_availability_reason"].str.contains("6 of the 7 days")
        assert lacking.fillna(False).sum() == 3
        assert found["date"].dtype == trend["date"].dtype
        assert found.aa.explain(3, "mention_rate").is_complete


def test_what_does_not_add_up_over_days_is_refused() -> None:
    history = shared_client().project("acme.example").read("ranking")["ranking_history"]
    with pytest.raises(AvailabilityError, match="rank: its rows do not become one"):
        history.aa.aggregate("brand", "rank", freq="W")


@pytest.mark.parametrize(
    ("freq", "words"),
    [
        ("M", "'MS'"),
        ("weekly", "'MS'"),
        ("", "'MS'"),
        (7, "is no text"),
        (["W"], "no text"),
    ],
)
def test_what_is_no_frequency_is_refused(freq: object, words: str) -> None:
    with pytest.raises(ArgumentError, match=words) as caught:
        days().aa.aggregate(freq=freq, rules=SUM)  # type: ignore[arg-type]
    assert caught.value.argument == "freq"


def test_no_time_or_several_are_refused() -> None:
    with pytest.raises(ArgumentError, match="no column of days or times"):
        days().drop(columns="date").aa.aggregate(freq="W", rules=SUM)
    with pytest.raises(ArgumentError, match="there are date, seen; name it"):
        days(seen=pd.Timestamp("2026-11-02")).aa.aggregate(freq="W", rules=SUM)
    with pytest.raises(ArgumentError, match="not both"):
        days().aa.aggregate(pd.Grouper(key="date", freq="D"), freq="W", rules=SUM)
    with pytest.raises(ArgumentError, match="freq='w w'"):
        days().aa.plot(y="n", freq="w w")
