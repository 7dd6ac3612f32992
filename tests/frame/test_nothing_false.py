"""After any chain of ordinary pandas steps no column passes for what it no longer is."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from effort import examples, explores
from hypothesis import given, settings
from hypothesis import strategies as st

import aatoolkit as aa
from aatoolkit.metadata.attrs import attach, metadata_of

SAMPLES = Path(__file__).parents[2] / "data" / "samples"
SECTIONS = ("overview", "domains", "urls", "prompts", "perception", "crawl", "fanouts", "shopping")
ROW = "row number of the test"
"""A column without metadata that says of each row which one it was."""


@cache
def tables() -> dict[str, pd.DataFrame]:
    """The sample tables of several rows, each row numbered."""
    found = {}
    for section in SECTIONS:
        for name, frame in aa.normalize(
            section, (SAMPLES / f"{section}.json").read_bytes()
        ).items():
            if len(frame) > 1:
                found[name] = frame.assign(**{ROW: range(len(frame))})
    return found


def test_there_are_enough_tables() -> None:
    assert len(tables()) >= 10


Step = Callable[[pd.DataFrame, np.random.Generator], pd.DataFrame]


def column(frame: pd.DataFrame, draw: np.random.Generator) -> str | None:
    names = [name for name in frame.columns if name != ROW]
    return str(draw.choice(names)) if names else None


def changed(
    frame: pd.DataFrame, name: str | None, values: Callable[[pd.Series], object]
) -> pd.DataFrame:
    return frame if name is None else frame.assign(**{name: values(frame[name])})


def fill(frame: pd.DataFrame, draw: np.random.Generator) -> pd.DataFrame:
    def filled(values: pd.Series) -> pd.Series:
        if pd.api.types.is_numeric_dtype(values.dtype):
            return values.fillna(0)
        return values.ffill().bfill()

    return changed(frame, column(frame, draw), filled)


def shuffle(frame: pd.DataFrame, draw: np.random.Generator) -> pd.DataFrame:
    order = draw.permutation(len(frame))
    return changed(frame, column(frame, draw), lambda values: values.array.take(order))


def swap(frame: pd.DataFrame, draw: np.random.Generator) -> pd.DataFrame:
    one, two = column(frame, draw), column(frame, draw)
    return frame if one is None or two is None else frame.rename(columns={one: two, two: one})


def overwrite(frame: pd.DataFrame, draw: np.random.Generator) -> pd.DataFrame:
    return changed(frame, column(frame, draw), lambda values: values.shift(1))


def one_cell(frame: pd.DataFrame, draw: np.random.Generator) -> pd.DataFrame:
    name = column(frame, draw)
    if name is None or frame.empty:
        return frame
    values = frame[name].array.copy()
    values[int(draw.integers(len(values)))] = values[int(draw.integers(len(values)))]
    return frame.assign(**{name: values})


def cut(frame: pd.DataFrame, draw: np.random.Generator) -> pd.DataFrame:
    return frame[draw.random(len(frame)) < 0.6]


def drop(frame: pd.DataFrame, draw: np.random.Generator) -> pd.DataFrame:
    return frame.drop(columns=str(column(frame, draw))) if frame.shape[1] > 2 else frame


STEPS: dict[str, Step] = {
    "fill": fill,
    "shuffle": shuffle,
    "swap": swap,
    "overwrite": overwrite,
    "one cell": one_cell,
    "cut": cut,
    "head": lambda frame, draw: frame.head(int(draw.integers(1, 6))),
    "slice": lambda frame, draw: frame.iloc[int(draw.integers(0, 3)) :: int(draw.integers(1, 3))],
    "sort": lambda frame, draw: frame.sort_values(ROW, ascending=False),
    "sample": lambda frame, draw: frame.sample(frac=1, random_state=int(draw.integers(99))),
    "number anew": lambda frame, draw: frame.reset_index(drop=True),
    "drop": drop,
    "repeat": lambda frame, draw: pd.concat([frame, frame.head(2)]),
    "append": lambda frame, draw: pd.concat([frame, frame.head(2)], ignore_index=True),
    "add": lambda frame, draw: frame.assign(mine=1),
    "fill all": lambda frame, draw: frame.fillna(
        {name: 0 for name in frame.select_dtypes("number") if name != ROW}
    ),
}


def false_columns(frame: pd.DataFrame, before: pd.DataFrame, table: str) -> list[str]:
    """The columns that pass for declared ones and hold something else than their rows did.

    A row is the one of its number; or of its key, if all of the key passes for itself.
    """
    known = metadata_of(frame)
    accepted = {name: column.of for name, column in known.columns.items() if column.of}
    by_number = before.take(frame[ROW].to_numpy(np.int64))
    false = _differing(frame, by_number, accepted, table)
    key = [*metadata_of(before).key]
    if false and key and {*key} <= {*accepted} and not before.duplicated(key).any():
        places = pd.Series(range(len(before)), index=_texts(before, key)).reindex(
            _texts(frame, key)
        )
        if places.notna().all():
            false = _differing(frame, before.take(places.to_numpy(np.int64)), accepted, table)
    return false


def _texts(frame: pd.DataFrame, key: list[str]) -> list[str]:
    return [str(row) for row in frame[key].astype("string").itertuples(index=False, name=None)]


def _differing(
    frame: pd.DataFrame, rows: pd.DataFrame, accepted: dict[str, str], table: str
) -> list[str]:
    return [
        name
        for name, of in accepted.items()
        if of.partition(".")[0] != table or not all_same(frame[name], rows[of.partition(".")[2]])
    ]


def all_same(one: pd.Series, two: pd.Series) -> bool:
    if len(one) < 1_000:
        return all(map(same, zip(one.array, two.array, strict=True)))
    numeric = pd.api.types.is_numeric_dtype
    if numeric(one.dtype) and numeric(two.dtype):
        return one.array.astype("Float64").equals(two.array.astype("Float64"))
    return [*map(str, one.fillna(pd.NA))] == [*map(str, two.fillna(pd.NA))]


def same(pair: tuple[object, object]) -> bool:
    if missing(pair[0]) or missing(pair[1]):
        return missing(pair[0]) and missing(pair[1])
    one, two = (np.asarray(value, dtype=object).tolist() for value in pair)
    return bool(one == two)


def missing(value: object) -> bool:
    return bool(pd.api.types.is_scalar(value) and pd.isna(value))


@settings(deadline=None, max_examples=examples(400, 20))
@given(st.data(), st.integers(0, 2**32 - 1))
def test_no_chain_of_steps_leaves_a_column_that_passes_for_another(
    data: st.DataObject, seed: int
) -> None:
    name = data.draw(st.sampled_from([*tables()]))
    steps = data.draw(st.lists(st.sampled_from([*STEPS]), min_size=1, max_size=5))
    frame, draw = tables()[name], np.random.default_rng(seed)
    for step in steps:
        frame = STEPS[step](frame, draw)
        assert false_columns(frame, tables()[name], name) == [], (name, steps)


@cache
def large(rows: int) -> pd.DataFrame:
    """A frame of many rows with a key, categories, and values missing here and there."""
    frame = tables()["source_domains"].drop(columns="brands_mentioned")
    whole = pd.concat([frame] * (rows // len(frame) + 1), ignore_index=True).head(rows)
    draw = np.random.default_rng(rows)
    for name in whole.select_dtypes("number"):
        whole[name] = pd.array(draw.integers(0, 900, rows), "Int64").astype(whole[name].dtype)
        whole.loc[draw.random(rows) < draw.choice([0, 0.001, 0.2]), name] = pd.NA
    whole["source_domain"] = pd.array([f"d{row}.example" for row in range(rows)], "string")
    whole[ROW] = range(rows)
    return attach(whole, metadata_of(frame))


@pytest.mark.thorough
@settings(deadline=None, max_examples=60 if explores() else 12)
@given(
    st.sampled_from([20_000, 20_000, 100_000]),
    st.lists(st.sampled_from([*STEPS]), min_size=1, max_size=6),
    st.integers(0, 2**32 - 1),
)
def test_no_chain_of_steps_on_many_rows_leaves_a_column_that_passes_for_another(
    rows: int, steps: list[str], seed: int
) -> None:
    frame, draw = large(rows), np.random.default_rng(seed)
    for step in steps:
        frame = STEPS[step](frame, draw)
    assert false_columns(frame, large(rows), "source_domains") == [], steps


def test_the_check_itself_finds_what_is_false() -> None:
    name, frame = "source_domains", tables()["source_domains"]
    assert false_columns(frame, frame, name) == []
    other = frame.assign(citation_count=frame["citation_count"] + 1)
    assert false_columns(frame, other, name) == ["citation_count"]


@pytest.mark.parametrize("rows", [40, pytest.param(11_000, marks=pytest.mark.thorough)])
def test_one_changed_cell_in_any_row_is_noticed(rows: int) -> None:
    frame = pd.concat([tables()["source_domains"]] * rows, ignore_index=True).head(rows)
    frame["source_domain"] = [f"d{n}.example" for n in range(rows)]
    known = metadata_of(tables()["source_domains"])
    frame = aa.concat([attach(frame.copy(), known)])
    for row in (0, rows // 2 + 1, rows - 2):
        other = frame.copy()
        other.loc[row, "citation_count"] += 1
        assert metadata_of(other).columns["citation_count"].of is None
        assert metadata_of(other.loc[[row]]).columns["citation_count"].of is None
        assert metadata_of(other.drop(index=row)).columns["citation_count"].of
