"""The status of each group of an aggregate stays with its rows, whatever becomes of them."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

import aatoolkit as aa


def test_an_engine_of_the_demo_is_available_once_others_are_filtered_out(tmp_path: Path) -> None:
    engines = aa.demo().read("overview")["overview_engines"]
    found = engines.aa.aggregate("engine", "mention_rate")
    assert status(found) == "partial"
    assert status(found[found["engine"] == "chatgpt"]) == "available"
    assert status(found[["engine", "mention_rate"]].head(1)) == "partial"  # which is not said
    assert status(found[found["engine"] == "google-ai-overview"]) == "unavailable"
    assert status(found.set_index("engine").drop("google-ai-overview")) == "available"
    joined = found.aa.merge(engines[["engine"]].iloc[:2], on="engine")
    assert status(joined) == "available"
    file = tmp_path / "engines.parquet"
    found.aa.to_parquet(file)
    read = aa.read_parquet(file)
    assert status(read) == "partial"
    assert status(read[read["engine"] == "claude"]) == "available"


def status(frame: pd.DataFrame, column: str = "mention_rate") -> str:
    return str(frame.aa.availability.loc[column, "status"])
