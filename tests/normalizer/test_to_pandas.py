"""Arrow tables as DataFrames: what pyarrow itself makes of them, and what is a copy."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from aatoolkit.normalizer.to_pandas import to_frame

NULLABLE: dict[pa.DataType, Any] = {
    pa.string(): pd.StringDtype(),
    pa.int64(): pd.Int64Dtype(),
    pa.float64(): pd.Float64Dtype(),
    pa.bool_(): pd.BooleanDtype(),
}
AT = pa.timestamp("us", tz="UTC")
INSTANT = datetime(2026, 11, 20, 5, 30, tzinfo=UTC)


def table(full: bool) -> pa.Table:
    """One column of each kind, in two pieces, with or without missing values."""
    columns: dict[str, tuple[list[Any], pa.DataType]] = {
        "text": (["naïve", "", "café"], pa.string()),
        "count": ([2**53 + 1, -1, 7], pa.int64()),
        "rate": ([0.1, -0.0, 2.5], pa.float64()),
        "own": ([True, False, True], pa.bool_()),
        "day": ([date(2026, 11, 20 + n) for n in range(3)], pa.date32()),
        "ran_at": ([INSTANT + n * timedelta(hours=1) for n in range(3)], AT),
        "tone": (["good", "bad", "good"], pa.dictionary(pa.int32(), pa.string())),
        "words": ([["a", None], [], ["b"]], pa.list_(pa.string())),
    }
    return pa.table(
        {
            name: pa.chunked_array(
                [
                    pa.array(values[:1], kind),
                    pa.array([values[1] if full else None, values[2]], kind),
                ]
            )
            for name, (values, kind) in columns.items()
        }
    ).unify_dictionaries()


def by_pyarrow(held: pa.Table, backend: str) -> pd.DataFrame:
    def dtype(kind: pa.DataType) -> Any:
        if pa.types.is_dictionary(kind):
            return None
        if backend == "pyarrow":
            return pd.ArrowDtype(kind)
        return NULLABLE.get(kind)

    if backend == "numpy_nullable":
        day = held.column_names.index("day")
        held = held.set_column(day, "day", held["day"].cast(pa.timestamp("us")))
    frame: pd.DataFrame = held.to_pandas(types_mapper=dtype)
    if backend == "numpy_nullable":
        lists = held["words"].to_pylist()
        frame["words"] = pd.Series([pd.NA if v is None else tuple(v) for v in lists], dtype=object)
    return frame


HELD = [
    *(table(True), table(False), table(True)[:0]),
    *(table(full).combine_chunks() for full in (True, False)),
    *(table(full).combine_chunks()[1:] for full in (True, False)),
]
"""In two pieces, in one, and a part of one."""


@pytest.mark.parametrize("backend", ["numpy_nullable", "pyarrow"])
@pytest.mark.parametrize("held", HELD, ids=len)
def test_a_frame_is_what_pyarrow_makes_of_the_table(held: pa.Table, backend: str) -> None:
    frame, expected = to_frame(held, backend), by_pyarrow(held, backend)
    pd.testing.assert_frame_equal(frame, expected, check_exact=True)
    assert [repr(dtype) for dtype in frame.dtypes] == [repr(dtype) for dtype in expected.dtypes]
    assert isinstance(frame.index, pd.RangeIndex)
    zones = [type(getattr(dtype, "tz", None)) for dtype in expected.dtypes]
    assert [type(getattr(dtype, "tz", None)) for dtype in frame.dtypes] == zones


@pytest.mark.parametrize("backend", ["numpy_nullable", "pyarrow"])
@pytest.mark.parametrize("held", [table(True), table(True).combine_chunks()])
def test_a_frame_can_be_written_to_and_the_table_stays(held: pa.Table, backend: str) -> None:
    before, frame = held.to_pylist(), to_frame(held, backend)
    for name in frame.columns:
        frame.loc[1, name] = frame.loc[0, name] if name != "words" else None
        assert name == "words" or frame.loc[1, name] == frame.loc[0, name]
        frame.loc[0, name] = None if name == "words" else pd.NA
        assert frame[name].isna().tolist() == [True, name == "words", False]
    assert held.to_pylist() == before
