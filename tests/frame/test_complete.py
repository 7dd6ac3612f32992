"""``df.aa.complete``, ``require``, ``measured``: what was not reported is said."""

from __future__ import annotations

import pandas as pd
import pytest
from carried import MEASURED, NOT_CONNECTED, ColumnMetadata, FrameMetadata, attach
from serving import shared_dataset

import aatoolkit as aa
from aatoolkit import Availability, Cause, Status
from aatoolkit.errors import AvailabilityError, ItemNotFound

ENGINES = pd.DataFrame(
    {
        "scope": ["section", "engine", "engine", "engine"],
        "target": [None, "claude", "gemini", "copilot"],
        "status": ["available", "not_applicable", "unavailable", "available"],
        "cause": [None, "not_supported", "not_run", None],
        "reason": [None, "It shows no queries.", "No run yet.", None],
    }
)


def queries(state: Availability = MEASURED) -> pd.DataFrame:
    """Queries by engine, with a key; synthetic."""
    frame = pd.DataFrame(
        {
            "query": pd.array(["b", "a", "b"], "string"),
            "engine": pd.array(["chatgpt", "chatgpt", "perplexity"], "string"),
            "occurrences": pd.array([3, 0, 2], "Int64"),
        }
    )
    table = "fanout_query_engines"
    columns = {
        "query": ColumnMetadata(f"{table}.query", MEASURED),
        "engine": ColumnMetadata(f"{table}.engine", MEASURED),
        "occurrences": ColumnMetadata(f"{table}.occurrences", state),
    }
    return attach(frame, FrameMetadata(columns, ("query", "engine")))


def test_the_levels_are_crossed_with_the_rest_of_the_key() -> None:
    frame = queries()
    completed = frame.aa.complete(engine=["chatgpt", "perplexity", "claude"])
    assert completed["query"].tolist() == ["b", "a", "b", "b", "a", "a"]
    assert completed["engine"].tolist()[3:] == ["claude", "perplexity", "claude"]
    pd.testing.assert_frame_equal(completed.iloc[:3][[*frame.columns]], frame)
    assert completed["occurrences"].tolist() == [3, 0, 2, pd.NA, pd.NA, pd.NA]
    assert completed["availability"].tolist() == ["available"] * 3 + ["unknown"] * 3
    assert completed["availability_cause"].tolist() == [pd.NA] * 3 + ["no_row"] * 3
    assert completed.dtypes[frame.columns].tolist() == frame.dtypes.tolist()
    assert completed.aa.codebook["of"].tolist()[:3] == frame.aa.codebook["of"].tolist()


@pytest.mark.parametrize("skip_missing", [False, True])
def test_what_nobody_reported_takes_nothing_from_what_was(skip_missing: bool) -> None:
    frame = queries()
    completed = frame.aa.complete(engine=["chatgpt", "perplexity", "grok"])
    for by in (None, "query"):
        sums = completed.aa.aggregate(by, "occurrences", skip_missing)
        plain = frame.aa.aggregate(by, "occurrences", skip_missing)
        assert sums["occurrences"].tolist() == plain["occurrences"].tolist()
        assert sums.aa.availability.loc["occurrences", "status"] == "available"
    engines = completed.aa.aggregate("engine", "occurrences", skip_missing).set_index("engine")
    assert engines["occurrences"].tolist() == [3, pd.NA, 2]
    assert engines.loc["grok", "occurrences_availability_cause"] == "no_row"
    steps = engines.reset_index().aa.aggregate(None, "occurrences", skip_missing)
    assert steps["occurrences"].tolist() == [5]


def test_a_group_by_passes_over_none_of_them() -> None:
    engines = ["chatgpt", "claude", "gemini", "copilot"]
    sums = queries().aa.aggregate("engine")
    completed = sums.aa.complete(engine=engines, availability=ENGINES)
    result = completed.aa.aggregate("engine").set_index("engine")
    assert [*result.index] == ["chatgpt", "claude", "copilot", "gemini", "perplexity"]
    assert result["occurrences"].tolist() == [3, pd.NA, pd.NA, pd.NA, 2]
    assert result["occurrences_availability"].tolist() == [
        "available",
        "not_applicable",
        "unknown",
        "unavailable",
        "available",
    ]
    measured = completed[completed["engine"].isin(["chatgpt", "perplexity", "claude"])]
    assert measured.aa.aggregate()["occurrences"].tolist() == [5]


@pytest.mark.parametrize("kept", [["engine", "answer_count"], ["answer_count"]])
def test_unknown_rows_do_not_pass_where_nothing_marks_them_any_longer(kept: list[str]) -> None:
    engines = shared_dataset()["overview"]["overview_engines"]
    completed = engines.aa.complete(engine=[*engines["engine"], "copilot"])
    with pytest.raises(AvailabilityError, match="not measured in every row: answer_count: unknown"):
        completed[kept].aa.require("answer_count")
    measured = completed[completed["engine"] == "chatgpt"][kept]
    assert measured.aa.require("answer_count") is measured


def test_what_holds_of_one_engine_no_longer_concerns_the_others() -> None:
    stained = queries(Availability(Status.PARTIAL, None, "gemini: No run yet."))
    assert stained.aa.aggregate().aa.availability.loc["occurrences", "status"] == "partial"
    completed = stained.aa.complete(availability=ENGINES)
    assert len(completed) == 3
    assert completed.aa.aggregate()["occurrences"].tolist() == [5]
    part = ENGINES.assign(status=["partial", "not_applicable", "unavailable", "available"])
    completed = stained.aa.complete(availability=part)
    again = completed.aa.aggregate()
    assert again.aa.availability.loc["occurrences", "status"] == "partial"


def test_rows_that_came_without_a_number_say_why() -> None:
    frame = aa.demo().read("ranking", split="engine", engine=["chatgpt", "copilot"]).main
    completed = frame.aa.complete(engine=["chatgpt", "copilot"])
    assert len(completed) == len(frame)
    states = completed.groupby("engine", observed=True)["availability"].unique()
    assert [*states["chatgpt"]] == ["available"]
    assert [*states["copilot"]] == ["unavailable"]
    assert completed["availability_reason"].notna().sum() == (frame["engine"] == "copilot").sum()


def test_what_was_observed_of_an_engine_stays_whatever_is_stated_of_it() -> None:
    tables = aa.demo().read("fanouts")
    support = tables["fanout_engine_support"]
    completed = support.aa.complete(engine=["copilot"], availability=tables.availability)
    shares = completed.aa.aggregate("engine", "exposes_fanouts", rules={"exposes_fanouts": "mean"})
    assert shares.set_index("engine").loc[["claude", "copilot"], "exposes_fanouts"].tolist() == [
        0,
        pd.NA,
    ]
    tables = aa.demo().read("overview", days=30)
    engines = tables["overview_engines"]
    completed = engines.aa.complete(engine=["copilot"], availability=tables.availability)
    assert completed.aa.measured("answer_count")["answer_count"].tolist() == (
        engines["answer_count"].tolist()
    )


@pytest.mark.parametrize(
    ("levels", "problem"),
    [
        ({"enginee": ["a"]}, "there is no column 'enginee'; did you mean 'engine'?"),
        ({"occurrences": ["many"]}, "the levels of 'occurrences' do not fit"),
        ({"engine": ["a", None]}, "a level is missing"),
        ({"size": ["huge"]}, "huge is not among the levels of the category"),
    ],
)
def test_levels_that_do_not_fit_are_refused(levels: dict[str, list[str]], problem: str) -> None:
    order = pd.CategoricalDtype(["small", "large"], ordered=True)
    frame = queries().assign(size=pd.Series(["small"] * 3, dtype=order))
    refused = (AvailabilityError, ItemNotFound)
    with pytest.raises(refused, match=problem.replace("?", "[?]")) as caught:
        frame.aa.complete(**levels)
    assert {*caught.value.columns} == {*levels}


def unmeasured() -> pd.DataFrame:
    frame = pd.DataFrame({"k": ["a"], "x": [None], "y": [1], "z": [None], "n_a": [None]})
    states = {
        "k": NOT_CONNECTED,
        "x": NOT_CONNECTED,
        "y": Availability(Status.PARTIAL),
        "n_a": Availability(Status.NOT_APPLICABLE, Cause.NOT_SUPPORTED),
    }
    columns = {name: ColumnMetadata(None, state) for name, state in states.items()}
    return attach(frame, FrameMetadata(columns, ("k",)))


def test_require_gives_the_frame_or_says_what_lacks_and_why() -> None:
    frame = unmeasured()
    assert frame.aa.require("y") is frame
    with pytest.raises(AvailabilityError, match="Create the CNAME") as caught:
        frame.aa.require("x", "y", "z", "n_a")
    assert caught.value.columns == {
        "x": "unavailable (not connected): Create the CNAME.",
        "z": "unknown",
        "n_a": "not applicable (not supported)",
    }
    with pytest.raises(ItemNotFound, match="there is no column 'w'"):
        frame.aa.require("w")


def overview() -> pd.DataFrame:
    return shared_dataset()["overview"]["overview_engines"]


def test_a_column_with_a_row_that_nobody_reported_is_unknown_and_not_required() -> None:
    engines = overview()
    measured = engines[engines["mention_count"].notna()]
    completed = measured.aa.complete(engine=[*measured["engine"], "new"])
    assert completed.aa.availability.loc["mention_count", "status"] == "unknown"
    assert completed.aa.availability.loc["engine", "status"] == "available"
    words = r"not measured in every row: mention_count: .*df\.aa\.measured"
    with pytest.raises(AvailabilityError, match=words):
        completed.aa.require("mention_count")


@pytest.mark.parametrize("status", [Status.AVAILABLE, Status.PARTIAL])
def test_a_column_without_a_value_in_the_rows_that_are_left_is_not_required(
    status: Status,
) -> None:
    frame = pd.DataFrame({"k": ["a", "b"], "n": pd.array([1, None], "Int64")})
    state = Availability(status)
    columns = {name: ColumnMetadata(f"overview_engines.{name}", state) for name in frame}
    frame = attach(frame, FrameMetadata(columns, ("k",)))
    assert frame.aa.require("n") is frame
    rest = frame[frame["n"].isna()]
    if status == Status.AVAILABLE:
        assert rest.aa.availability.loc["n"].tolist()[::2] == ["unknown", "no value is given"]
    with pytest.raises(AvailabilityError, match="hold no measurement: n"):
        rest.aa.require("n")
    assert frame.iloc[:0].aa.availability.loc["n", "status"] == status
