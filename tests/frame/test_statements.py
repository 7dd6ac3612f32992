"""Statements about some rows concern those rows, whatever becomes of the frame."""

from __future__ import annotations

import pandas as pd
import pytest
from carried import MEASURED, ColumnMetadata, FrameMetadata, Source, attach

import aatoolkit as aa
from aatoolkit.availability import Availability, Cause, Condition, Statement, Status

NEVER_RAN = Availability(Status.UNAVAILABLE, Cause.NOT_RUN, "gemini: No run yet.")
LATE = Availability(Status.PARTIAL, Cause.PENDING, "Complete up to 2026-11-19.")
SOURCE = Source("acme.example", "overview", "days=7")


def engines(*statements: Statement, source: Source = SOURCE) -> pd.DataFrame:
    """Mentions by engine and day, of which statements are about some rows; synthetic."""
    rows = [
        ("chatgpt", "2026-11-19", 4, 8),
        ("chatgpt", "2026-11-20", 2, 4),
        ("claude", "2026-11-19", 3, 6),
        ("claude", "2026-11-20", 3, 12),
        ("gemini", "2026-11-19", None, None),
        ("gemini", "2026-11-20", None, None),
    ]
    frame = pd.DataFrame(rows, columns=["engine", "date", "mention_count", "answer_count"])
    frame["date"] = pd.to_datetime(frame["date"])
    frame = frame.astype({"mention_count": "Int64", "answer_count": "Int64", "engine": "string"})
    frame["mention_rate"] = frame["mention_count"].astype("Float64") / frame["answer_count"]
    columns = {
        name: ColumnMetadata(f"overview_trend.{name}", MEASURED, statements if n > 1 else ())
        for n, name in enumerate(frame)
    }
    return attach(frame, FrameMetadata(columns, ("engine", "date"), (source,)))


STATED = (Statement(NEVER_RAN, (Condition("engine", "in", ("gemini",)),)),)


def status(frame: pd.DataFrame, column: str = "mention_count") -> str:
    return str(frame.aa.availability.loc[column, "status"])


def test_a_column_has_the_status_of_the_rows_that_are_there() -> None:
    frame = engines(*STATED)
    assert status(frame) == "partial"
    assert frame.aa.availability.loc["mention_count", "reason"] == "gemini: No run yet."
    assert status(frame[frame["engine"] == "chatgpt"]) == "available"
    assert status(frame.query("engine == 'gemini'")) == "unavailable"
    assert status(frame.sort_values("mention_count").iloc[::-1]) == "partial"
    assert status(frame[frame["engine"] != "gemini"].reset_index(drop=True)) == "available"
    assert status(frame.set_index(["engine", "date"])) == "partial"
    assert status(frame.set_index(["engine", "date"]).drop("gemini")) == "available"


def test_without_the_column_of_its_condition_a_statement_may_concern_any_row() -> None:
    frame = engines(*STATED).drop(columns="engine")
    assert status(frame) == "partial"
    assert status(engines(*STATED).rename(columns={"engine": "which"})) == "partial"
    kept = engines(*STATED).query("engine == 'chatgpt'").aa.rename(columns={"engine": "which"})
    assert status(kept) == "available"
    swapped = engines(*STATED).assign(engine="chatgpt")
    assert status(swapped) == "partial"


def test_sums_and_rates_by_engine_are_missing_for_that_engine_only() -> None:
    sums = (
        engines(*STATED).aa.aggregate("engine", rules={"mention_count": "sum"}).set_index("engine")
    )
    assert sums["mention_count"].tolist() == [6, 6, pd.NA]
    assert sums["mention_count_availability"].tolist() == ["available", "available", "unavailable"]
    assert sums["mention_count_availability_reason"].tolist()[2] == "gemini: No run yet."


def test_a_merge_keeps_them_and_names_their_columns_anew() -> None:
    left = engines(*STATED)
    right = pd.DataFrame({"engine": ["chatgpt", "gemini"], "vendor": ["O", "G"]})
    assert status(left.aa.merge(right, on="engine")) == "partial"
    assert status(left.aa.merge(right.iloc[:1], on="engine")) == "available"
    both = left.aa.merge(engines(*STATED), on="date")
    assert status(both[both["engine_x"] == "claude"], "mention_count_x") == "available"
    assert status(both[both["engine_x"] == "claude"], "mention_count_y") == "partial"


@pytest.mark.parametrize("ignore_index", [True, False])
@pytest.mark.parametrize("order", [1, -1])
def test_rows_of_two_answers_keep_what_each_of_them_states(ignore_index: bool, order: int) -> None:
    late = Statement(LATE, (Condition("date", ">", ("2026-11-19",)),))
    other = Source("globex.example", "overview", "days=7")
    frames = [engines(*STATED), engines(late, source=other)]
    named = [frame.aa.with_context() for frame in frames]
    stacked = aa.concat(named[::order], ignore_index=ignore_index)
    first, second = (stacked[stacked["host"] == f"{name}.example"] for name in ("acme", "globex"))
    assert [status(rows) for rows in (stacked, first, second)] == ["partial"] * 3
    assert status(first[first["engine"] == "chatgpt"]) == "available"
    assert status(second[second["date"] == "2026-11-19"]) == "available"
    assert status(first[first["engine"] == "gemini"]) == "unavailable"
    plain = aa.concat(frames[::order], ignore_index=ignore_index)
    assert status(plain) == "partial"
    assert plain.aa.codebook["of"].notna().all()


def test_a_partial_sum_names_what_was_left_out_as_not_applicable() -> None:
    frame = aa.demo().read("domains", split="engine").main
    for rows, is_left_out in ((frame, True), (frame[frame["engine"] != "gemini"], False)):
        sums = rows.aa.aggregate("domain_type", "retrieval_count")
        reason = sums.aa.availability.loc["retrieval_count", "reason"]
        assert reason.startswith("No answers were collected in this window")
        assert ("; Gemini shows cited sources only" in reason) is is_left_out
        assert [*sums] == ["domain_type", "retrieval_count"]
