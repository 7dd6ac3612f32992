"""Frames handed to other engines, with the metadata of their columns."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import aatoolkit as aa
from aatoolkit.errors import ItemNotFound


@pytest.fixture(scope="module")
def tables() -> aa.Tables:
    return aa.demo().read("chats")


def test_arrow_has_the_keys_of_the_file(tables: aa.Tables, tmp_path: Path) -> None:
    table = pa.table(tables.main.aa)
    file = pq.read_schema(tables.main.aa.to_parquet(tmp_path / "chats.parquet"))
    assert table.schema.metadata == file.metadata
    assert pa.table(tables.main.aa).equals(table)


def test_other_engines_take_the_accessor(tables: aa.Tables) -> None:
    import duckdb
    import polars

    accessor = tables.main.aa
    assert polars.DataFrame(accessor).height == len(tables.main)
    relation = pa.table(accessor)  # DuckDB finds it by its name
    ((rows,),) = duckdb.sql("SELECT count(*) FROM relation").fetchall()
    assert rows == relation.num_rows == len(tables.main)


def test_only_what_was_measured() -> None:
    frame = pd.DataFrame(
        {
            "engine": ["a", "b", "c", "d"],
            "n": pd.array([0, None, 2, 0], "Int64"),
            "n_availability": ["available", "unavailable", "available", "unavailable"],
            "m": pd.array([1.0, None, None, 2.0], "Float64"),
        }
    )
    assert frame.aa.measured("n")["engine"].tolist() == ["a", "c"]
    assert frame.aa.measured("n", "m")["engine"].tolist() == ["a"]
    assert frame.aa.measured()["engine"].tolist() == ["a", "c", "d"]
    assert frame[["engine"]].aa.measured().equals(frame[["engine"]])
    with pytest.raises(ItemNotFound, match="did you mean 'engine'") as caught:
        frame.aa.measured("engin")
    assert isinstance(caught.value, KeyError)
    assert [*caught.value.columns] == ["engin"]
    assert (caught.value.key, caught.value.suggestions) == ("engin", ("engine",))
