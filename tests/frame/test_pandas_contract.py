"""What pandas does to what is known: 100 operations and more, and not one false claim.

Each line of `OPERATIONS` is an operation and the columns that are still believed after it. It
is written down here so that a new release of pandas shows up as a readable difference.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from carried import (
    MEASURED,
    NOT_CONNECTED,
    PARTIAL,
    ColumnMetadata,
    FrameMetadata,
    attach,
    described,
    metadata_of,
)
from effort import one_in
from hypothesis import given, settings, strategies as st

from aatoolkit import Status

CLAIMS = {
    "brand": MEASURED,
    "engine": MEASURED,
    "day": MEASURED,
    "count": MEASURED,
    "rate": PARTIAL,
    "revenue": NOT_CONNECTED,
}
KNOWN = FrameMetadata(
    {name: ColumnMetadata(f"t.{name}", state) for name, state in CLAIMS.items()},
    ("brand", "engine"),
)


def known(brands: list[str], days: Any, counts: list[Any], rates: list[Any]) -> pd.DataFrame:
    """Two engines a brand, and no revenue."""
    rows = len(brands)
    frame = pd.DataFrame(
        {
            "brand": pd.array(brands, "string"),
            "engine": pd.Categorical(
                ["chatgpt", "gemini"] * (rows // 2), ["chatgpt", "gemini", "copilot"]
            ),
            "day": days,
            "count": pd.array(counts, "Int64"),
            "rate": pd.array(rates, "Float64"),
            "revenue": pd.array([None] * rows, "Int64"),
        }
    )
    return attach(frame, KNOWN)


def small() -> pd.DataFrame:
    """Six rows; the counts of one brand are missing, and one count is a measured zero."""
    return known(
        ["Acme", "Acme", "Globex", "Globex", "Initech", "Initech"],
        pd.to_datetime(["2026-11-02", "2026-11-03", "2026-11-05"] * 2).as_unit("us"),
        [70, 0, 31, 17, None, None],
        [0.5, 0.125, 0.75, 0.625, None, 0.875],
    )


def large() -> pd.DataFrame:
    """Ninety rows, more than are remembered."""
    rows = range(90)
    return known(
        [f"brand {row // 2:03}" for row in rows],
        pd.date_range("2026-08-01", periods=90, unit="us"),
        [None if row % 9 == 8 else row * 7 % 89 for row in rows],
        [None if row == 4 else row * 5 % 64 / 64 for row in rows],
    )


ALL = {*CLAIMS}
EMPTY = {"revenue"}
NONE: set[str] = set()
ROWS = ALL - {"count", "rate"}

Frame = pd.DataFrame


def plain() -> Frame:
    return pd.DataFrame({"brand": ["Acme", "Globex"], "owner": ["x", "y"]})


def set_item(frame: Frame) -> Frame:
    frame = frame.copy()
    frame["rate"] = 0.5
    return frame


def set_cells(frame: Frame) -> Frame:
    frame = frame.copy()
    frame.loc[:, "count"] = 1
    return frame


def inserted(frame: Frame) -> Frame:
    frame = frame.copy()
    frame.insert(1, "mine", 1)
    return frame


def popped(frame: Frame) -> Frame:
    frame = frame.copy()
    frame.pop("day")
    return frame


def updated(frame: Frame) -> Frame:
    frame = frame.copy()
    frame.update(pd.DataFrame({"count": [5, 5, 5]}))
    return frame


def in_parquet(frame: Frame) -> Frame:
    buffer = io.BytesIO()
    frame.to_parquet(buffer)
    return pd.read_parquet(buffer)


OPERATIONS: dict[str, tuple[Callable[[Frame], Any], set[str]]] = {
    "df[[…]]": (lambda df: df[["count", "rate"]], ALL),
    "loc mask": (lambda df: df.loc[df["rate"].gt(0.5).fillna(False)], ALL),
    "loc slice": (lambda df: df.loc[1:3], ALL),
    "iloc": (lambda df: df.iloc[2:5], ALL),
    "df[mask]": (lambda df: df[df["engine"] == "gemini"], ALL),
    "query": (lambda df: df.query("rate > 0.2"), ALL),
    "query, its key gone": (lambda df: df.query("rate > 0.2")[["engine", "rate"]], ALL),
    "query, numbers alone": (lambda df: df.query("rate > 0.2")[["rate"]], ALL),
    "head": (lambda df: df.head(2), ALL),
    "head, its key gone": (lambda df: df[["day", "count"]].head(2), {"day"}),
    "head, numbers alone": (lambda df: df[["count"]].head(2), NONE),
    "sample": (lambda df: df.sample(4, random_state=1), ALL),
    "sample with repeats": (lambda df: df.sample(9, replace=True, random_state=1), ALL),
    "nlargest": (lambda df: df.nlargest(3, "rate"), ALL),
    "drop columns": (lambda df: df.drop(columns="brand"), ALL),
    "drop rows": (lambda df: df.drop(index=[0, 3]), ALL),
    "drop_duplicates": (lambda df: df.drop_duplicates("brand"), ALL),
    "no rows": (lambda df: df.iloc[:0], ALL),
    "no columns": (lambda df: df[[]], ALL),
    "pop": (popped, ALL),
    "copy": (lambda df: df.copy(), ALL),
    "pickle": (lambda df: pickle.loads(pickle.dumps(df)), ALL),
    "Parquet by pandas": (in_parquet, ALL),
    "sort_values": (lambda df: df.sort_values("rate"), ALL),
    "sort_values, new labels": (lambda df: df.sort_values("rate", ignore_index=True), ALL),
    "reset_index": (lambda df: df.query("rate > 0.2").reset_index(drop=True), ALL),
    "set_index key": (lambda df: df.set_index(["brand", "engine"]), ALL),
    "set_index and back": (lambda df: df.set_index("brand").reset_index(), ALL),
    "set_index other": (lambda df: df.set_index("day"), ALL),
    "set_index, key gone": (lambda df: df[["day", "rate"]].set_index("day"), NONE),
    "reindex columns": (lambda df: df.reindex(columns=["rate", "brand"]), ALL),
    "reindex columns anew": (lambda df: df.reindex(columns=["rate", "new"]), ALL),
    "reindex rows": (lambda df: df.reindex([2, 1, 0]), ALL),
    "convert_dtypes": (lambda df: df.convert_dtypes(), ALL),
    "astype wider": (lambda df: df.astype({"count": "Float64"}), ALL),
    "astype object": (lambda df: df.astype(object), ALL),
    "astype arrow": (lambda df: df.astype({"count": "int64[pyarrow]"}), ALL),
    "add_prefix": (lambda df: df.add_prefix("x_"), NONE),
    "explode": (lambda df: df.assign(tags=[["a", "b"]] * len(df)).explode("tags"), ALL),
    "insert": (inserted, ALL),
    "concat of its parts": (lambda df: pd.concat([df.iloc[3:], df.iloc[:3]]), ALL),
    "concat of itself": (lambda df: pd.concat([df, df], ignore_index=True), ALL),
    "concat beside": (lambda df: pd.concat([df[["brand", "engine"]], df[["rate"]]], axis=1), ALL),
    "groupby.head": (lambda df: df.groupby("brand").head(1), ALL),
    "melt keeps ids": (lambda df: df.melt(["brand", "engine"], ["count"]), ALL),
    "rename": (lambda df: df.rename(columns={"count": "n"}), ALL),
    "rename swaps": (lambda df: df.rename(columns={"count": "rate", "rate": "count"}), ROWS),
    "rename takes a name": (
        lambda df: df.drop(columns="rate").rename(columns={"count": "rate"}),
        ROWS,
    ),
    "set_axis": (lambda df: df.set_axis(list("abcdef"), axis=1), NONE),
    "set_axis turns names": (
        lambda df: df.set_axis([*df.columns[3:], *df.columns[:3]], axis=1),
        NONE,
    ),
    "names alike": (lambda df: df[["count", "count"]], NONE),
    "assign new": (lambda df: df.assign(mine=df["count"] * 2), ALL),
    "assign same": (lambda df: df.assign(count=df["count"]), ALL),
    "assign over": (lambda df: df.assign(count=5), ALL - {"count"}),
    "assign over the key": (lambda df: df.assign(brand="Acme"), ALL - {"brand"}),
    "assign over the unmeasured": (lambda df: df.assign(revenue=0), ALL - {"revenue"}),
    "set item": (set_item, ALL - {"rate"}),
    "loc over": (set_cells, ALL - {"count"}),
    "over, then filtered": (lambda df: df.assign(count=5).head(3), ALL - {"count"}),
    "fillna": (lambda df: df.fillna({"count": 0}), ALL - {"count"}),
    "fillna of the unmeasured": (lambda df: df.fillna({"revenue": 0}), ALL - {"revenue"}),
    "ffill": (lambda df: df.ffill(), ALL - {"count", "rate"}),
    "replace": (lambda df: df.replace({"count": {0: 1}}), ALL - {"count"}),
    "clip": (lambda df: df[["rate"]].clip(0.3, 0.6), NONE),
    "where": (lambda df: df[["count"]].where(df["rate"] > 0.6), NONE),
    "map": (lambda df: df[["count"]].map(lambda cell: 3), NONE),
    "update": (updated, ALL - {"count"}),
    "eval": (lambda df: df.eval("rate = rate * 2"), ALL - {"rate"}),
    "shift": (lambda df: df.shift(1), EMPTY),
    "times 100": (lambda df: df[["rate"]] * 100, NONE),
    "times 1": (lambda df: df[["rate"]] * 1, ALL),
    "comparison": (lambda df: df[["rate"]] > 0.5, NONE),
    "cumsum": (lambda df: df[["count", "rate"]].cumsum(), NONE),
    "sum to frame": (lambda df: df.sum(numeric_only=True).to_frame().T, NONE),
    "quantile": (lambda df: df[["count", "rate"]].quantile([0.3, 0.6]), NONE),
    "rolling": (lambda df: df[["rate"]].astype(float).rolling(2).mean(), NONE),
    "value_counts": (lambda df: df[["engine"]].value_counts().reset_index(), NONE),
    "compare": (lambda df: df.compare(df.assign(count=5)), NONE),
    "groupby.sum": (lambda df: df.groupby("engine").sum(numeric_only=True), NONE),
    "groupby.sum by key": (
        lambda df: df.groupby(["brand", "engine"], observed=True)[["count"]].sum(),
        NONE,
    ),
    "groupby.sum, no index": (
        lambda df: df.groupby("engine", as_index=False)[["count", "rate"]].sum(),
        NONE,
    ),
    "groupby.sum, sorted": (
        lambda df: df.groupby("brand", as_index=False)[["count"]].sum().sort_values("count"),
        NONE,
    ),
    "groupby.sum of no rows": (
        lambda df: df.groupby("engine", observed=False, as_index=False)["count"].sum(),
        NONE,
    ),
    "groupby.mean": (lambda df: df.groupby("engine")[["count", "rate"]].mean(), NONE),
    "groupby.agg": (lambda df: df.groupby("engine").agg({"count": "sum"}), NONE),
    "groupby.size": (lambda df: df.groupby("engine").size().reset_index(name="count"), NONE),
    "groupby.transform": (lambda df: df.groupby("engine")[["count"]].transform("sum"), NONE),
    "resample.sum": (lambda df: df.set_index("day")[["count"]].resample("D").sum(), NONE),
    "pivot_table": (
        lambda df: df.pivot_table("count", "brand", "engine", aggfunc="sum", observed=False),
        NONE,
    ),
    "pivot": (lambda df: df.pivot(index="brand", columns="engine", values="count"), NONE),
    "melt": (lambda df: df[["count", "rate"]].melt(), NONE),
    "stack": (lambda df: df[["count", "rate"]].stack().to_frame("count"), NONE),
    "T": (lambda df: df.T, NONE),
    "crosstab": (lambda df: pd.crosstab(df["brand"], df["engine"]), NONE),
    "reindex with new rows": (lambda df: df.reindex([0, 1, 1000]), EMPTY),
    "reindex filled": (lambda df: df[["count"]].reindex([0, 1, 1000], fill_value=0), NONE),
    "merge with a plain frame": (lambda df: df.merge(plain(), on="brand"), ALL),
    "merge with itself": (
        lambda df: df.merge(df[["brand", "engine", "rate"]], on=["brand", "engine"]),
        ALL - {"rate"},
    ),
    "join with itself": (lambda df: df[["brand", "rate"]].join(df[["count"]]), ALL),
    "merge, not all match": (
        lambda df: df[["brand", "engine"]].merge(
            df[["brand", "engine", "rate"]].iloc[:3], how="left", on=["brand", "engine"]
        ),
        {"brand", "engine"},
    ),
    "concat with a plain frame": (lambda df: pd.concat([df, plain()]), NONE),
    "concat with rows of one's own": (
        lambda df: pd.concat([df, attach(df.assign(count=1), KNOWN)], ignore_index=True),
        NONE,
    ),
    "append a row": (lambda df: pd.concat([df, df.assign(count=-1).iloc[:1]]), ALL - {"count"}),
    "the constructor": (lambda df: pd.DataFrame(df), NONE),
    "CSV and back": (lambda df: pd.read_csv(io.StringIO(df.to_csv(index=False))), NONE),
}
"""An operation, and the columns that are believed after it, of those that are still there."""


each_frame = pytest.mark.parametrize("make", one_in(2, [large, small]))
each_operation = pytest.mark.parametrize(
    ("operation", "expected"), OPERATIONS.values(), ids=list(OPERATIONS)
)


@each_frame
@each_operation
def test_what_is_believed_after_an_operation(
    make: Callable[[], Frame], operation: Callable[[Frame], Frame], expected: set[str]
) -> None:
    before = make()
    after = operation(before)
    columns = metadata_of(after).columns
    assert {name for name, column in columns.items() if column.declared_name} == expected & {
        str(name) for name in after.columns
    }
    for name, column in columns.items():
        believed = column.declared_name is not None
        assert column.availability == CLAIMS[name] if believed else not column.availability.cause
        assert believed or column.availability.status == Status.UNKNOWN
        if believed:  # by the values alone: none that was not read, and none went missing
            read, held = before[name], after[name]
            assert {*held.dropna()} <= {*read.dropna()}
            assert not held.isna().any() or read.isna().any()


def test_the_measured_zero_and_the_zero_that_pandas_makes_are_distinguished() -> None:
    frame = small()
    assert frame["count"].tolist()[:2] == [70, 0]
    summed = frame.groupby("brand")[["count"]].sum()
    assert summed["count"].tolist() == [70, 48, 0]
    assert "its rows do not match those" in metadata_of(summed).columns["count"].availability.reason
    filled = frame.fillna({"count": 0})
    assert metadata_of(filled).columns["count"].availability.reason == "overwritten"


cells = st.lists(
    st.tuples(st.sampled_from("abc"), st.none() | st.integers(0, 2)), min_size=1, max_size=7
)


@settings(deadline=None)
@given(cells, st.sampled_from([["kind"], ["key"]]), st.booleans(), st.booleans())
def test_no_sum_over_what_is_missing_is_believed(
    rows: list[tuple[str, int | None]], by: list[str], words: bool, observed: bool
) -> None:
    """Small numbers and zeros, which are often equal by chance: a sum may look as if read."""
    kinds, counts = zip(*rows, strict=True)
    frame = pd.DataFrame(
        {
            "key": [f"key {row}" for row in range(len(rows))],
            "kind": pd.Categorical(kinds, [*"abcd"]),
            "n": pd.array(counts, "Int64"),
        }
    )
    described(frame, "t", ("key",))
    helped = frame.assign(missing=frame["n"].isna(), rows=1)
    summed = helped.groupby(by, observed=observed, as_index=not words).sum(numeric_only=True)
    for result in (summed, summed.reset_index(drop=not words), summed.head(2)):
        for derived in (result, result.sort_values("n"), result[result["n"] == 0]):
            if metadata_of(derived.drop(columns=["missing", "rows"])).columns["n"].declared_name:
                assert not derived["missing"].any()
                assert derived["rows"].all() or len(derived) == len(frame)


def test_every_cell_is_checked_and_a_sample_after_a_pickle() -> None:
    frame = large()
    for row in (41, 3):
        changed = frame.copy()
        changed.loc[row, "rate"] = 0.99
        assert not metadata_of(changed).columns["rate"].declared_name
    longer = pd.concat([frame] * (10_000 // len(frame) + 1), ignore_index=True)
    longer["brand"] = [f"brand {row}" for row in range(len(longer))]
    attach(longer, KNOWN)
    changed = longer.copy()
    changed.loc[41, "rate"] = 0.99
    assert not metadata_of(changed).columns["rate"].declared_name
    sampled = pickle.loads(pickle.dumps(longer))
    sampled.loc[41, "rate"] = 0.99
    assert metadata_of(sampled).columns["rate"].declared_name
    sampled.loc[3, "rate"] = 0.99
    assert not metadata_of(sampled).columns["rate"].declared_name
