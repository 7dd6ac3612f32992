"""``df.aa.plain``: dtypes that other libraries know."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from serving import demo_dataset

TABLES = [(section, table) for section, tables in demo_dataset().items() for table in tables]


@pytest.mark.parametrize(("section", "table"), TABLES)
def test_every_table_has_ordinary_dtypes_and_the_same_values(section: str, table: str) -> None:
    frame = demo_dataset()[section][table]
    plain = frame.aa.plain()
    assert type(plain) is pd.DataFrame
    assert plain.attrs == {}
    assert [*plain.columns] == [*frame.columns]
    assert all(isinstance(kind, np.dtype) for kind in plain.dtypes)
    for name in frame.columns:
        assert plain[name].isna().tolist() == frame[name].isna().tolist()
        kinds = {type(value) for value in plain[name]} if plain[name].dtype == object else set()
        assert kinds <= {str, bool, type(None)}
        if pd.api.types.is_numeric_dtype(frame[name].dtype):
            assert plain[name].dropna().tolist() == frame[name].dropna().tolist()
    with closing(sqlite3.connect(":memory:")) as connection:
        plain.to_sql("t", connection, index=False)
        assert connection.execute("SELECT count(*) FROM t").fetchone() == (len(frame),)


def test_lists_are_json_and_moments_are_in_utc() -> None:
    frame = pd.DataFrame(
        {
            "words": [("a", "b"), None],
            "at": pd.to_datetime(["2026-11-20T12:00+01:00", None], utc=True),
            "flag": pd.array([True, None], "boolean"),
            "large": pd.array([2**60 + 1, None], "Int64"),
        },
        index=pd.Index(["x", "x"], name="k"),
    )
    plain = frame.aa.plain()
    assert [*plain.columns] == ["k", *frame.columns]
    assert json.loads(plain["words"][0]) == ["a", "b"]
    assert plain["at"][0] == pd.Timestamp("2026-11-20T11:00")
    assert plain["flag"].tolist() == [True, None]
    assert plain["large"].tolist() == [2**60 + 1, None]
    assert pd.DataFrame().aa.plain().empty
