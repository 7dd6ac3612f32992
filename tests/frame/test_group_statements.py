"""The status of each group of an aggregate stays with its rows, whatever becomes of them."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

import aatoolkit as aa


def test_an_engine_of_the_demo_is_available_once_others_are_filtered_out(tmp_path: Path) -> None:
    engines = aa.demo().read("overview")["overview_engines"]
    rates = engines.aa.aggregate("engine", "mention_rate")
    assert status(rates) == "partial"
    assert status(rates[rates["engine"] == "chatgpt"]) == "available"
    assert status(rates[["engine", "mention_rate"]].head(1)) == "available"
    assert status(rates[rates["engine"] == "google-ai-overview"]) == "unavailable"
    assert status(rates.set_index("engine").drop("google-ai-overview")) == "available"
    joined = rates.aa.merge(engines[["engine"]].iloc[:2], on="engine")
    assert status(joined) == "available"
    file = tmp_path / "engines.parquet"
    rates.aa.to_parquet(file)
    read = aa.read_parquet(file)
    assert status(read) == "partial"
    assert status(read[read["engine"] == "claude"]) == "available"


def test_part_weeks_are_marked_after_a_selection_and_whole_ones_never(tmp_path: Path) -> None:
    engines = aa.demo().read("overview", days=90, split="engine")["overview_trend"]
    for by, where in ((None, {"engine": "chatgpt"}), ("engine", {})):
        days = engines[engines["engine"].isin(where.values())] if where else engines
        weeks = days.aa.aggregate(by, "answer_count", freq="W")
        rows = weeks["answer_count_availability"].tolist()
        few = weeks[[*(["engine"] if by else []), "date", "answer_count"]]
        few.aa.to_parquet(tmp_path / "few.parquet")
        for frame in (few, few[::-1][::-1], aa.read_parquet(tmp_path / "few.parquet")):
            assert frame.aa.to_long()["availability"].tolist() == rows
        assert repr(few).count("*") == repr(weeks).count("*") > 2
        bare = repr(weeks[["answer_count"]])
        assert "*" not in bare
        assert "partial in some of the rows" in bare
        keyless = few[["answer_count"]].assign(week=range(len(few)))
        assert {*keyless.aa.to_long()["availability"]} == {"unknown"}
        assert "*" not in repr(keyless.aa.aggregate("week", "answer_count"))


def status(frame: pd.DataFrame) -> str:
    return str(frame.aa.availability.loc["mention_rate", "status"])
