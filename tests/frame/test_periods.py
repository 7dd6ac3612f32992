"""Weeks and months: by the column of days, and partial where some of their days are missing."""

from __future__ import annotations

import pandas as pd
import pytest
from carried import MEASURED, ColumnMetadata, FrameMetadata, attach
from helpers.serving import demo_dataset

from aatoolkit.errors import ArgumentError
from aatoolkit.sections import ratio

SUM = {"n": "sum"}


def days(start: str = "2026-11-02", size: int = 14, **more: object) -> pd.DataFrame:
    return pd.DataFrame({"date": pd.date_range(start, periods=size), "n": 1, **more})


@pytest.mark.parametrize("freq", ["W", "MS", "ME", "7D", "2W", "QS", "D", "W-SAT", "YE"])
@pytest.mark.parametrize("size", [5, 14, 45])
def test_sums_are_those_of_pandas_and_part_periods_are_those_pandas_cuts(
    freq: str, size: int
) -> None:
    frame = days(size=size)
    result = frame.aa.aggregate(freq=freq, rules=SUM)
    plain = frame.groupby(pd.Grouper(key="date", freq=freq))["n"].sum()
    assert result["date"].tolist() == plain.index.tolist()
    assert result["n"].tolist() == plain.tolist()
    # By hand: a period is whole where the days around it belong to others.
    more = days("2024-01-01", 2500)
    sizes = more.groupby(pd.Grouper(key="date", freq=freq))["n"].sum()
    if freq in ("7D", "2W"):  # they begin with the first day of the frame
        sizes = pd.Series({"7D": 7, "2W": 14}[freq], index=plain.index)
    part = plain.lt(sizes.reindex(plain.index)).tolist()
    status = result.get("n_availability", pd.Series(["available"] * len(result))).tolist()
    if any(part) and not all(part):
        assert [state == "partial" for state in status] == part
    reason = result.aa.availability.loc["n", "reason"]
    assert (pd.notna(reason) and " of the " in reason) == any(part)


def test_a_part_week_says_how_many_days_it_has() -> None:
    weeks = days(size=10).aa.aggregate(freq="W", rules=SUM)
    assert weeks["n"].tolist() == [7, 3]
    words = weeks["n_availability_reason"].tolist()
    assert words[1] == "3 of the 7 days from 2026-11-09 to 2026-11-15"
    assert "3 of the 7 days" in weeks.aa.availability.loc["n", "reason"]
    hours = pd.DataFrame(
        {"at": pd.date_range("2026-11-02", periods=240, freq="h", tz="Asia/Tokyo"), "n": 1}
    )
    weeks, by_hour = (hours.aa.aggregate(freq=freq, rules=SUM) for freq in ("W", "h"))
    assert weeks["n_availability"].tolist()[1] == "partial"
    assert "n_availability" not in by_hour
    assert weeks["at"].dt.tz is None != by_hour["at"].dt.tz


def test_a_grouper_without_a_frequency_is_a_column_beside_the_weeks() -> None:
    frame = days(size=10, kind="a")
    week = pd.Grouper(key="date", freq="W")
    by_name, by_grouper = (
        frame.aa.aggregate([week, kind], rules=SUM) for kind in ("kind", pd.Grouper(key="kind"))
    )
    assert by_grouper["n_availability"].tolist()[1] == "partial"
    pd.testing.assert_frame_equal(by_grouper, by_name)


@pytest.mark.parametrize("freq", ["M", "weekly", "", 7])
def test_what_is_no_frequency_is_refused(freq: object) -> None:
    with pytest.raises(ArgumentError, match="'MS'") as caught:
        days().aa.aggregate(freq=freq, rules=SUM)  # type: ignore[arg-type]
    assert caught.value.argument == "freq"


def test_no_time_or_several_are_refused() -> None:
    with pytest.raises(ArgumentError, match="there are none"):
        days().drop(columns="date").aa.aggregate(freq="W", rules=SUM)
    with pytest.raises(ArgumentError, match="there are date, seen; name it"):
        days(seen=pd.Timestamp("2026-11-02")).aa.aggregate(freq="W", rules=SUM)
    with pytest.raises(ArgumentError, match="not both"):
        days().aa.aggregate(pd.Grouper(key="date", freq="D"), freq="W", rules=SUM)
    with pytest.raises(ArgumentError, match="freq='w w'"):
        days().aa.plot(y="n", freq="w w")
    crawl = demo_dataset()["crawl"]["crawl_timeseries"]
    weeks = crawl.aa.aggregate(freq="W", skip_missing=True)["requests"]
    assert crawl.aa.plot(freq="W").lines[0].get_ydata().tolist() == weeks.tolist()


def test_a_date_that_describes_totals_is_no_time_of_the_rows() -> None:
    prompts, chats = (demo_dataset()[name].main for name in ("prompts", "chats"))
    bots = demo_dataset()["crawl"]["crawl_bots"]
    for frame, words in ((prompts, "created_at .*overview_trend"), (bots, "crawl_timeseries")):
        for verb in (frame.aa.aggregate, frame.aa.plot):
            with pytest.raises(ArgumentError, match=words):
                verb(freq="W")
    assert len(prompts.aa.aggregate(pd.Grouper(key="created_at", freq="YS"), "answer_count"))
    assert len(chats.aa.aggregate(freq="W", rules={"outcome": "count"}))


def october(days: int = 9) -> pd.DataFrame:
    """The last days of October, and all of November, of two engines with a rate of counts."""
    dates = pd.date_range("2026-11-01", periods=30).union(
        pd.date_range(end="2026-10-31", periods=days)
    )
    rows = [(date, engine) for date in dates for engine in ("a", "b")]
    frame = pd.DataFrame(rows, columns=["date", "engine"]).assign(n=10, k=4)
    columns = dict.fromkeys(frame, ColumnMetadata(None, MEASURED))
    return attach(frame, FrameMetadata(columns, ("date", "engine")))


RATE = {"n": "sum", "k": ratio("k", "n")}


@pytest.mark.parametrize("skip_missing", [False, True])
def test_coverage_is_that_of_the_period_that_was_asked_for(skip_missing: bool) -> None:
    for frame in (october(), october()[lambda frame: frame["date"] < "2026-11"]):
        months = frame.aa.aggregate("engine", freq="MS", rules=RATE, skip_missing=skip_missing)
        part = months[months["date"] == "2026-10-01"]
        for name in ("n", "k"):
            assert part[f"{name}_coverage"].tolist() == pytest.approx([9 / 31] * 2)
            assert part[f"{name}_availability"].tolist() == ["partial"] * 2
            reason = "9 of the 31 days from 2026-10-01 to 2026-10-31"
            assert part[f"{name}_availability_reason"].tolist() == [reason] * 2
            rest = months.drop(part.index)
            assert rest[f"{name}_coverage"].tolist() == [1.0] * len(rest)
            assert rest[f"{name}_availability"].tolist() == ["available"] * len(rest)
        assert part["n"].tolist() == [90, 90]


def test_weeks_and_months_that_are_aggregated_further_keep_their_coverage() -> None:
    weeks = october(31).aa.aggregate("engine", "n", freq="W", rules=SUM)
    again = weeks.aa.aggregate("engine", "n", freq="W", rules=SUM)
    assert again["n"].tolist() == weeks["n"].tolist()
    assert again["n_coverage"].tolist() == weeks["n_coverage"].tolist()
    assert set(again["n_availability"]) == {"available", "partial"}


@pytest.mark.parametrize("engines", [1, 2])
def test_a_day_without_a_row_between_the_first_and_the_last_is_missing(engines: int) -> None:
    rows = days(size=21).merge(pd.DataFrame({"engine": ["a", "b"][:engines]}), how="cross")
    gap = rows["date"].between("2026-11-10", "2026-11-15")
    columns = dict.fromkeys(rows, ColumnMetadata(None, MEASURED))
    frame = attach(rows[~gap].reset_index(drop=True), FrameMetadata(columns, ("date", "engine")))
    weeks = frame.aa.aggregate(freq="W", rules=SUM)
    assert weeks["n"].tolist() == [7 * engines, engines, 7 * engines]
    assert weeks["n_coverage"].tolist() == pytest.approx([1, 1 / 7, 1])
    words = weeks["n_availability_reason"].tolist()
    assert words[1] == "1 of the 7 days from 2026-11-09 to 2026-11-15"
