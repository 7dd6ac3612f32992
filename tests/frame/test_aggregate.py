"""``df.aa.aggregate``: each column by its rule, and what was not measured stays missing."""

from __future__ import annotations

import pandas as pd
import pytest
from carried import MEASURED, ColumnMetadata, FrameMetadata, Source, attach
from samples import sample
from serving import demo_dataset

import aatoolkit as aa
from aatoolkit.errors import (
    AAToolkitWarning,
    ArgumentError,
    AvailabilityError,
)
from aatoolkit.sections import (
    CURRENCY,
    MAX,
    Aggregation,
    Section,
    Table,
    integer,
    number,
    ratio,
    records,
    text,
    weighted,
)


def described(frame: pd.DataFrame, *key: str, **of: str) -> pd.DataFrame:
    """A frame whose columns are the declared ones named, all of them measured."""
    columns = {name: ColumnMetadata(what, MEASURED) for name, what in of.items()}
    return attach(frame, FrameMetadata(columns, key))


def rows(*cells: tuple[float | None, str | None]) -> pd.DataFrame:
    """A frame ``x`` whose rows say what is known of them; synthetic."""
    return pd.DataFrame(
        {
            "x": pd.array([value for value, _ in cells], dtype="Int64"),
            "availability": pd.array([status for _, status in cells], dtype="string"),
        }
    )


def test_where_groups_differ_each_says_what_is_known_of_it() -> None:
    frame = rows((1, None), (None, "unavailable"), (None, "not_applicable"))
    frame["availability_cause"] = pd.array([None, "not_run", "not_supported"], "string")
    frame["availability_reason"] = pd.array([None, "No run yet.", None], "string")
    frame["g"] = ["a", "b", "c"]
    result = described(frame, x="nowhere.x").aa.aggregate("g", rules={"x": "sum"})
    assert [*result.columns] == [
        "g",
        "x",
        "x_availability",
        "x_availability_cause",
        "x_availability_reason",
    ]
    assert result["x_availability"].tolist() == ["available", "unavailable", "not_applicable"]
    assert result["x_availability_cause"].tolist() == [pd.NA, "not_run", "not_supported"]
    assert result["x_availability_reason"].tolist() == [pd.NA, "No run yet.", pd.NA]
    again = result.aa.aggregate(rules={"x": "sum"})
    assert again["x"].isna().all()
    assert again.aa.availability.loc["x"].tolist() == ["partial", "not_run", "No run yet."]


def overview(**more: list[object]) -> pd.DataFrame:
    """Days of the overview's trend, synthetic."""
    frame = pd.DataFrame(
        {
            "date": pd.to_datetime(["2026-11-01", "2026-11-02", "2026-11-03"]),
            "answer_count": pd.array([10, 30, 0], "Int64"),
            "mention_count": pd.array([5, 3, 0], "Int64"),
            "mention_rate": pd.array([0.5, 0.1, None], "Float64"),
            "average_position": pd.array([1.0, 3.0, None], "Float64"),
            "position_count": pd.array([5, 3, 0], "Int64"),
            **{name: pd.array(values, "Int64") for name, values in more.items()},
        }
    )
    return described(frame, "date", **{name: f"overview_trend.{name}" for name in frame.columns})


def test_rates_are_recomputed_and_positions_weighted() -> None:
    result = overview().aa.aggregate()
    assert [*result.columns] == [
        "answer_count",
        "mention_count",
        "mention_rate",
        "average_position",
        "position_count",
    ]
    assert result.loc[0].tolist() == [40, 8, pytest.approx(0.2), pytest.approx(1.75), 8]
    assert {*result.aa.availability["status"]} == {"available"}
    assert result.aa.codebook.loc["mention_rate", "unit"] == "fraction 0-1"


def test_over_nothing_there_is_no_rate_and_no_mean() -> None:
    result = overview().iloc[[2]].aa.aggregate()
    assert result["mention_count"].tolist() == [0]
    for name in ("mention_rate", "average_position"):
        assert result[name].isna().all()
        assert result.aa.availability.loc[name, "status"] == "not_applicable"
    assert result.aa.availability.loc["mention_rate", "reason"] == "the denominator is 0"


@pytest.mark.parametrize("lacking", ["answer_count", "mention_count"])
def test_a_rate_is_that_of_the_rows_of_which_both_sides_were_measured(lacking: str) -> None:
    frame = overview(**{lacking: [1, None, 1]})
    part, rest = frame.aa.aggregate(), frame.drop(index=1)
    assert part[lacking].isna().all()
    assert part.aa.availability.loc["mention_rate", "status"] == "partial"
    assert part.loc[0, "mention_rate"] == pytest.approx(
        rest["mention_count"].sum() / rest["answer_count"].sum()
    )
    assert part.loc[0, "mention_rate_coverage"] == pytest.approx(2 / 3)


@pytest.mark.parametrize("absent", [True, False])
def test_a_mean_whose_weights_are_not_reported_is_approximate_and_says_so(absent: bool) -> None:
    frame = overview(position_count=[None, None, None], mention_count=[1, 3, 0])
    if absent:
        frame = frame.drop(columns="position_count")
    with pytest.warns(AAToolkitWarning, match="average_position is approximate: weighted by"):
        result = frame.aa.aggregate(columns="average_position")
    assert result["average_position"].tolist() == [pytest.approx((1 * 1 + 3 * 3) / 4)]


def test_a_ratio_whose_part_was_overwritten_is_refused_and_names_the_part() -> None:
    frame = aa.normalize("ranking", sample("ranking")).main
    changed = frame.assign(first_position_count=frame["first_position_count"] * 2)
    words = "needs first_position_count as read"
    with pytest.raises(AvailabilityError, match=words):
        changed.aa.aggregate(columns="first_position_rate")
    assert words in changed.aa.codebook["caution"]["first_position_rate"]
    rest = frame.drop(columns="first_position_count")
    with pytest.warns(AAToolkitWarning, match="as first_position_count is not reported"):
        result = rest.aa.aggregate(columns="first_position_rate")
    assert result.aa.codebook["caution"]["first_position_rate"].startswith("approximate")


def test_one_step_is_two_steps() -> None:
    frame = overview()
    frame["week"], frame["half"] = ["a", "a", "b"], ["x", "y", "y"]
    direct = frame.aa.aggregate("week")
    steps = frame.aa.aggregate(["week", "half"]).aa.aggregate("week")
    pd.testing.assert_frame_equal(steps[[*direct.columns]], direct)


def test_the_parts_of_a_rule_are_found_by_what_they_are() -> None:
    frame = overview()
    named = frame.rename(columns={"mention_count": "m", "answer_count": "mention_count"})
    of = {"date": "date", "mention_count": "answer_count", "m": "mention_count"}
    of |= {name: name for name in ("mention_rate", "average_position", "position_count")}
    named = described(named, "date", **{k: f"overview_trend.{v}" for k, v in of.items()})
    assert named.aa.aggregate()["mention_rate"].tolist() == [pytest.approx(0.2)]


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        ("sum", 6.0),
        ("mean", 2.0),
        ("min", 1.0),
        ("max", 3.0),
        ("first", 2.0),
        ("last", 3.0),
        (MAX, 3.0),
        (weighted("w"), 2.5),
        (ratio("x", "w"), 1.5),
    ],
)
def test_rules_of_ones_own(rule: Aggregation | str, value: float) -> None:
    frame = pd.DataFrame({"x": [2, 1, 3], "w": [1, 0, 1 + 2]}).astype("Int64")
    result = frame.aa.aggregate(columns="x", rules={"x": rule})
    assert result["x"].tolist() == [pytest.approx(value if rule != weighted("w") else 11 / 4)]


def products(*currencies: str | None) -> pd.DataFrame:
    frame = pd.DataFrame(
        {
            "product_id": pd.array([*"abcd"][: len(currencies)], "string"),
            "brand": pd.array(["x", "x", "y", "y"][: len(currencies)], "string"),
            "price_min": pd.array(range(1, 1 + len(currencies)), "Float64"),
            "currency": pd.array(currencies, "string"),
            "mention_count": pd.array(range(len(currencies)), "Int64"),
        }
    )
    names = {name: f"shopping_products.{name}" for name in frame.columns}
    return described(frame, "product_id", **names)


def test_money_adds_up_within_one_currency() -> None:
    result = products("EUR", "EUR", "USD", "USD").aa.aggregate("brand")
    assert result[["brand", "currency", "price_min"]].values.tolist() == [
        ["x", "EUR", 1.0],
        ["y", "USD", 3.0],
    ]
    with pytest.raises(AvailabilityError, match="more than one currency; add 'currency' to by="):
        result.aa.aggregate(columns="price_min")
    with pytest.raises(ArgumentError, match="is said by rules="):
        result.aa.aggregate("brand", {"price_min": "sum"})


def test_a_rule_of_ones_own_adds_no_euros_to_pounds() -> None:
    columns = (text("id"), text("brand"), number("paid", unit=CURRENCY), text("paid_currency"))
    section = Section("x", "", Table("x", "", records("rows"), key="id", columns=columns))
    paid = [("a", 1.5, "EUR"), ("b", 2.5, "GBP"), ("c", 2.0, "GBP")]
    rows = [{"id": i, "brand": "x", "paid": n, "paidCurrency": unit} for i, n, unit in paid]
    frame = aa.normalize(section, {"rows": rows}).main
    with pytest.raises(AvailabilityError, match="add 'paid_currency' to by="):
        frame.aa.aggregate("brand", "paid", rules={"paid": "sum"})
    result = frame.aa.aggregate(["brand", "paid_currency"], "paid", rules={"paid": "sum"})
    assert result["paid"].tolist() == [1.5, 4.5]


def test_a_rule_whose_other_columns_are_gone_is_refused() -> None:
    frame = overview()[["date", "mention_count", "mention_rate"]]
    with pytest.raises(AvailabilityError, match=r"needs answer_count$"):
        frame.aa.aggregate(columns="mention_rate")
    with pytest.warns(AAToolkitWarning, match="left out: mention_rate"):
        assert [*frame.aa.aggregate().columns] == ["mention_count"]
    with pytest.raises(AvailabilityError, match="answer_count as read, and it was overwritten"):
        frame.assign(answer_count=1).aa.aggregate(columns="mention_rate")


def test_shares_add_up_within_one_answer_only() -> None:
    of = {
        name: ColumnMetadata(f"source_domains.{name}", MEASURED)
        for name in ("citation_share", "citation_count")
    }
    plain = pd.DataFrame({"citation_share": [0.25, 0.5], "citation_count": [1, 2]})
    shares = attach(plain.copy(), FrameMetadata(of, (), (Source("a.example"),)))
    assert shares.aa.aggregate().loc[0].tolist() == [0.75, 3]
    two = attach(plain, FrameMetadata(of, (), (Source("a.example"), Source("b.example"))))
    with pytest.raises(AvailabilityError, match="recompute from counts over engines or fetches"):
        two.aa.aggregate(columns="citation_share")
    with pytest.warns(AAToolkitWarning, match="left out: citation_share"):
        assert two.aa.aggregate().loc[0].tolist() == [3]


@pytest.mark.parametrize("dtype", ["Int64", "int64", "int64[pyarrow]"])
def test_whole_numbers_add_up_exactly(dtype: str) -> None:
    numbers = [2**62, 2**62 - 1, -(2**40), 7, -(2**62)]
    frame = pd.DataFrame({"g": [*"aaabb"], "x": pd.array(numbers, dtype)})
    result = frame.aa.aggregate("g", rules={"x": "sum"})
    assert result["x"].tolist() == [2**63 - 1 - 2**40, 7 - 2**62]
    assert str(result["x"].dtype) == ("int64[pyarrow]" if "arrow" in dtype else "Int64")


@pytest.mark.parametrize("numbers", [[2**62, 2**62], [-(2**63), -1]])
def test_a_sum_that_does_not_fit_is_an_error_and_does_not_wrap(numbers: list[int]) -> None:
    frame = pd.DataFrame({"x": pd.array(numbers, "Int64")})
    with pytest.raises(AvailabilityError, match="too large for a 64-bit integer"):
        frame.aa.aggregate(rules={"x": "sum"})
    with pytest.raises(AvailabilityError, match="too large"):
        pd.DataFrame({"x": pd.array([2**63], "UInt64")}).aa.aggregate(rules={"x": "sum"})


def test_a_missing_key_is_a_group_and_levels_of_the_index_are_keys() -> None:
    frame = pd.DataFrame({"g": pd.array(["a", None, None], "string"), "x": [1, 2, 3]})
    for table in (frame, frame.set_index("g")):
        result = table.aa.aggregate("g", rules={"x": "sum"})
        assert result["g"].tolist() == ["a", pd.NA]
        assert result["x"].tolist() == [1, 5]


def test_a_number_that_was_taken_out_is_missing_whatever_is_stated_beside_it() -> None:
    frame = rows((1, None), (None, "unavailable")).assign(g=["a", "b"])
    result = described(frame, x="nowhere.x").aa.aggregate("g", rules={"x": "sum"})
    assert result["x_availability"].tolist() == ["available", "unavailable"]
    taken = result.iloc[:1].assign(x=pd.array([None], "Int64"))
    total = taken.aa.aggregate(rules={"x": "sum"})
    assert total["x"].iloc[0] is pd.NA
    assert total.aa.availability.loc["x", "status"] == "unknown"


def test_citations_of_competitors_add_over_domains_and_not_over_brands() -> None:
    document = sample("gaps")
    frame = aa.normalize("gaps", document)["gap_domain_competitors"]
    by_brand = frame.aa.aggregate("brand").set_index("brand")["citations"]
    for brand, total in by_brand.items():
        counts = [row["competitorCitations"].get(brand) for row in document["domainGaps"]]
        if None not in counts:
            assert total == sum(counts)
    for by in (None, "source_domain"):
        with pytest.raises(AvailabilityError, match="nothing shows that it adds over brand"):
            frame.aa.aggregate(by, columns="citations")


def test_values_of_several_units_are_not_added_and_one_unit_is_reported() -> None:
    units = {"ttfb": "milliseconds", "lag": "milliseconds", "size": "bytes"}
    value = integer("value", unit="per `metric`", units=units)
    columns = (text("page"), text("metric"), value)
    table = aa.Table("t", "Metrics.", records("rows"), ("page", "metric"), columns)
    rows = [
        {"page": page, "metric": metric, "value": number}
        for page in "ab"
        for number, metric in enumerate([*units, "odd"], 1)
    ]
    frame = aa.normalize(aa.Section("mine", "Mine.", table), {"rows": rows}).main
    assert frame.aa.codebook.loc["value", "unit"] == "per `metric`"
    with pytest.raises(AvailabilityError, match="mixes units"):
        frame.aa.aggregate("page", columns="value", rules={"value": "sum"})
    added = frame.aa.aggregate("metric", columns="value", rules={"value": "sum"})
    assert added["value"].sum() == 20
    times = frame[frame["metric"].isin(["ttfb", "lag"])]
    assert times.aa.codebook.loc["value", "unit"] == "milliseconds"
    assert times.aa.aggregate("page", columns="value", rules={"value": "max"})["value"].max() == 2
    odd = frame[frame["metric"].isin(["ttfb", "odd"])]
    with pytest.raises(AvailabilityError, match="mixes units"):
        odd.aa.aggregate("page", columns="value", rules={"value": "sum"})
    bare = demo_dataset()["overview"]["overview_kpis"].assign(unit=None)
    assert bare.aa.codebook.loc["value", "unit"] == "per `unit`"


def test_an_aggregate_of_aggregates_is_covered_as_they_were() -> None:
    frame = pd.DataFrame({"day": [*"aabb"], "n": [1, None, 2, 3]})
    days = frame.aa.aggregate("day", skip_missing=True, rules={"n": "sum"})
    total = days.aa.aggregate(rules={"n": "sum"})
    assert total["n_coverage"].item() == 0.75
    assert total.aa.explain(0, "n_coverage").children[0].column == "n"


def test_one_metric_alone_is_aggregated_and_compared() -> None:
    kpis = aa.demo().read("overview", days=30).main
    rate = kpis[kpis["metric"] == "mentionRate"]
    assert rate.aa.aggregate()["value"].tolist() == pytest.approx(rate["value"].tolist())
    assert rate.aa.compare("previous", "value")["change"].notna().all()
    with pytest.raises(
        AvailabilityError, match="/denominator; take the rows of one metric, such as 'vis"
    ):
        kpis.aa.aggregate(None, "value")
    score = rate.assign(metric="visibilityScore")
    score["value"] *= 100
    with pytest.raises(AvailabilityError):
        aa.concat([score.assign(host=host) for host in "ab"]).aa.aggregate(None, "value")
    matrix = aa.demo().read("ranking", days=30)["ranking_matrix"]
    brands = matrix.aa.aggregate("brand").set_index("brand")["value"]
    weighted = matrix.assign(total=matrix["value"] * matrix["sample_count"]).groupby("brand")
    expected = weighted["total"].sum() / weighted["sample_count"].sum()
    pd.testing.assert_series_equal(brands, expected.astype("Float64"), check_names=False)


def test_a_sum_without_all_its_values_says_how_to_take_the_rest() -> None:
    own = pd.DataFrame({"k": ["a", "a", "b"], "n": pd.array([1, None, 2], "Int64")})
    shown = repr(own.aa.aggregate("k", rules={"n": "sum"}))
    assert "1 of 2 rows has no value; skip_missing=True adds the rest" in shown
    requests = aa.demo().read("crawl")["crawl_timeseries"].aa.aggregate("bot", "requests")
    assert "requests: missing (rows 4, 6-7): 5 of 720 hours" in " ".join(repr(requests).split())
    own["n"] = pd.array([None, None, 2], "Int64")
    assert "skip_missing" not in repr(own.aa.aggregate("k", rules={"n": "sum"}))


def test_days_without_answers_are_no_part_of_any_rate_or_mean() -> None:
    trend = aa.demo().read("overview", days=90, engine="claude")["overview_trend"]
    rates = ["mention_rate", "share_of_voice", "average_position"]
    assert [*trend.aa.aggregate(columns=rates)] == rates  # without a coverage
    weeks = trend.aa.aggregate(columns=rates, freq="W", status=True)
    states = [weeks[f"{name}_availability"].tolist()[:2] for name in rates]
    assert states == [["not_applicable", "available"]] * 3
    assert "skip_missing" not in repr(weeks)


def test_a_count_that_the_response_says_is_unavailable_is_not_nothing_to_count() -> None:
    trend = aa.demo().read("overview", days=90, engine="copilot")["overview_trend"]
    total = trend.aa.aggregate(columns=["mention_count", "mention_rate"], status=True)
    for name in ("mention_count", "mention_rate"):
        assert total[f"{name}_availability"].tolist() == ["unavailable"]
        assert total[f"{name}_availability_reason"].item().startswith("No answers were collected")


def test_a_period_of_which_nothing_was_measured_is_unavailable() -> None:
    hours = aa.demo().read("crawl", days=90)["crawl_timeseries"]
    weeks = hours.aa.aggregate("bot", "requests", freq="W")
    bare = weeks["requests_coverage"] == 0
    assert set(weeks["requests_availability"][bare]) == {"unavailable"}
    assert set(weeks["requests_availability"][~bare]) == {"partial"}
