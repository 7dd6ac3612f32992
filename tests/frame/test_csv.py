"""CSV as other readers see it: what is missing has no text, and a text stays one."""

from __future__ import annotations

import io
import json
from datetime import date
from decimal import Decimal
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl

from aatoolkit.frame.csv import as_texts, csv_bytes

FRAME = pd.DataFrame(
    {
        "count": pd.array([1, None, 3], dtype="Int64"),
        "rate": pd.array([0.5, None, 1], dtype="Float64"),
        "text": ["", None, 'say "hi", or ""'],
        "day": pd.to_datetime(["2026-01-01", None, "2026-01-02"]),
        "ran": pd.array([True, None, False], dtype="boolean"),
    }
)


def test_missing_cells_leave_columns_their_kind_in_every_reader(tmp_path: Path) -> None:
    path = tmp_path / "cells.csv"
    path.write_bytes(csv_bytes(FRAME))
    assert path.read_bytes().splitlines()[1:3] == [b'1,0.5,"\'","2026-01-01","true"', b",,,,"]
    by_polars = pl.read_csv(path)
    assert by_polars.dtypes == [pl.Int64, pl.Float64, pl.String, pl.String, pl.Boolean]
    assert by_polars.null_count().row(0) == (1,) * 5
    types = duckdb.sql(f"select * from read_csv('{path}')").types
    assert [str(kind) for kind in types] == ["BIGINT", "DOUBLE", "VARCHAR", "DATE", "BOOLEAN"]
    by_pandas = pd.read_csv(path)
    assert by_pandas.isna().sum().tolist() == [1] * 5
    assert by_pandas["text"].tolist()[2] == 'say "hi", or ""'


def test_a_row_whose_only_cell_is_missing_is_a_row() -> None:
    for name in ("count", "text"):
        assert len(pd.read_csv(io.BytesIO(csv_bytes(FRAME[[name]])))) == len(FRAME)


def test_in_lists_what_json_lacks_is_text() -> None:
    moment = pd.Timestamp("2026-01-01T10:00Z")
    lists = [[date(2026, 1, 1), Decimal("1.50"), moment, pd.NA], [np.int64(3)]]
    texts = as_texts(pd.Series(lists))
    assert texts[0] == '["2026-01-01", "1.50", "2026-01-01T10:00:00+00:00", null]'
    assert texts[1] == "[3]"


def test_a_duration_is_written_as_one_in_lists_too() -> None:
    duration = pd.Timedelta("1 days 02:00:00")
    forms = [duration, duration.to_numpy(), np.array([duration]), duration.to_pytimedelta()]
    values = pd.Series([duration, forms, np.array(["NaT"], "m8[ns]")], dtype=object)
    text = str(duration)
    assert as_texts(values).tolist() == [text, json.dumps([text, text, [text], text]), "[null]"]
