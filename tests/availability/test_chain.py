"""Chains of plain and tracked steps, from HTTP to a file that other engines read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest
from serving import shared_client

import aatoolkit as aa
from aatoolkit.errors import AAToolkitWarning


@pytest.fixture(scope="module")
def client() -> aa.Client:
    return shared_client(1500)


def by_pandas(path: Path) -> pd.DataFrame:
    return pd.read_parquet(path)


def by_arrow(path: Path) -> pd.DataFrame:
    return pq.read_table(path).to_pandas(types_mapper=pd.ArrowDtype)


def by_polars(path: Path) -> pd.DataFrame:
    return pl.read_parquet(path).to_arrow().to_pandas(types_mapper=pd.ArrowDtype)


def by_duckdb(path: Path) -> pd.DataFrame:
    with duckdb.connect() as connection:
        rows = connection.execute("SELECT * FROM read_parquet(?)", [str(path)]).fetchall()
        names = [column[0] for column in connection.description]
    return pd.DataFrame(rows, columns=names).convert_dtypes()


ENGINES = [by_pandas, by_arrow, by_polars, by_duckdb]
Reader = Callable[[Path], pd.DataFrame]


def sum_in_sql(path: Path, column: str) -> object:
    with duckdb.connect() as connection:
        query = f'SELECT sum("{column}") FROM read_parquet(?)'
        (row,) = connection.execute(query, [str(path)]).fetchall()
    return row[0]


@pytest.mark.parametrize("read", ENGINES)
def test_what_is_not_connected_is_null_in_every_engine(
    client: aa.Client, read: Reader, tmp_path: Path
) -> None:
    tables = client.project("initech.example").read("crawl")
    frame = tables.main.assign(label="x").sort_values("bot", ignore_index=True)
    frame = frame.aa.rename(columns={"request_count": "requests"}).aa.adopt(tables.main)
    total = frame.aa.aggregate(columns="requests", skip_missing=True)
    both = aa.concat([total, total])
    path = both.aa.to_parquet(tmp_path / "crawl.parquet")
    assert read(path)["requests"].isna().tolist() == [True, True]
    assert sum_in_sql(path, "requests") is None
    status, cause, reason = aa.read_parquet(path).aa.availability.loc["requests"]
    assert (status, cause, bool(reason)) == ("unavailable", "not_connected", True)
    again = aa.read_parquet(path).aa.aggregate(columns="requests")
    assert again["requests"].isna().all()


@pytest.mark.parametrize("read", ENGINES)
def test_an_engine_without_fanouts_is_null_and_not_applicable_in_every_engine(
    client: aa.Client, read: Reader, tmp_path: Path
) -> None:
    project = client.project("acme.example")
    options = project.scope_options()
    tables = project.read("fanouts")
    frame = tables["fanout_query_engines"]
    mute = {*tables.availability.query("status == 'not_applicable'")["target"]}
    assert mute
    completed = frame.query("occurrences >= 0").aa.adopt(frame)
    completed = completed.aa.complete(
        engine=options.engines["engine"], availability=tables.availability
    )
    sums = completed.aa.aggregate("engine", "occurrences", skip_missing=True)
    labels = pd.DataFrame({"engine": sums["engine"], "label": sums["engine"].str.upper()})
    path = sums.aa.merge(labels, on="engine").aa.to_parquet(tmp_path / "fanouts.parquet")
    written = read(path).set_index("engine")
    plain = frame.groupby("engine")["occurrences"].sum()
    for engine in mute:
        assert pd.isna(written.loc[engine, "occurrences"])
        assert written.loc[engine, "occurrences_availability"] == "not_applicable"
    for engine in {*frame["engine"]} - mute:
        assert written.loc[engine, "occurrences"] == plain[engine]
    assert sum_in_sql(path, "occurrences") == plain[[*({*plain.index} - mute)]].sum()
    total = aa.read_parquet(path).aa.aggregate(columns="occurrences", skip_missing=True)
    assert total.loc[0, "occurrences"] == plain[[*({*plain.index} - mute)]].sum()


CONVERSIONS = {
    "section": "conversions",
    "domain": "acme.example",
    "window": {"start": "2026-10-22", "end": "2026-11-20", "days": 30},
    "missingFields": [{"field": "revenue", "reason": "No revenue is sent."}],
    "engines": [
        {
            "engine": engine,
            "sessions": 10,
            "users": 9,
            "conversions": conversions,
            "conversionRate": conversions / 10,
            "revenue": 0,
            "engagementRate": 0.5,
            "averageSessionSeconds": 60.0,
        }
        for engine, conversions in (("chatgpt", 0), ("gemini", 2))
    ],
}
"""Synthetic: a service that writes 0 where no revenue is sent, and states that elsewhere."""


@pytest.mark.parametrize("read", ENGINES)
@pytest.mark.filterwarnings("ignore::aatoolkit.errors.SchemaDriftWarning")
def test_conversions_without_revenue_are_null_where_the_service_wrote_0(
    scripted: Any, reply: Any, read: Reader, tmp_path: Path
) -> None:
    scripted.script = reply(CONVERSIONS)
    with aa.Client(scripted.url, token="synthetic-account", cache=False) as asking:
        tables = asking.project("acme.example").read("conversions")
    frame = tables.main
    assert frame["revenue"].isna().all()
    assert tables.extra.query("why == 'denied'")["value"].tolist() == ["0", "0"]
    wide = frame.aa.with_context()
    assert wide["window_start"].tolist() == [pd.Timestamp("2026-10-22")] * 2
    with pytest.warns(AAToolkitWarning, match="approximate"):
        sums = wide.aa.aggregate("host")
    path = sums.aa.to_parquet(tmp_path / "conversions.parquet")
    rows = read(path)
    assert rows["conversions"].tolist() == [2]
    assert rows["sessions"].tolist() == [20]
    assert rows["revenue"].isna().all()
    assert sum_in_sql(path, "revenue") is None
    revenue = aa.read_parquet(path).aa.availability.loc["revenue"]
    assert revenue[["status", "reason"]].tolist() == ["unavailable", "No revenue is sent."]
    long = aa.read_parquet(path).aa.to_long(["conversions", "revenue"]).set_index("variable")
    assert long.loc["revenue", "availability"] == "unavailable"
    assert pd.isna(long.loc["revenue", "value"])
