"""Ordinary pandas on the tables of the demonstration: no column passes for what it is not.

The oracle knows each row by its label, where the idiom leaves labels alone; else every row must
be one that was read, over all of the columns that pass at once.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import cache

import numpy as np
import pandas as pd
import pytest
from carried import attach, metadata_of
from effort import one_in
from helpers.effort import examples, is_thorough
from helpers.idioms import IDIOMS, KEEPING, numbers, texts
from hypothesis import given, settings, strategies as st

import aatoolkit as aa
from aatoolkit.errors import AAToolkitWarning, AvailabilityError

FAST = {
    "overview": ("overview_trend", "overview_engines", "overview_top_brands"),
    "domains": ("source_domains", "source_domain_engines"),
    "urls": ("cited_url_brands",),
    "prompts": ("prompts",),
    "perception": ("perception_sentiment", "perception_attributes"),
    "conversions": ("conversion_engines", "conversion_daily"),
    "ranking": ("ranking_leaderboard", "ranking_matrix"),
    "shopping": ("shopping_offers",),
    "gaps": ("gap_topics",),
}
"""The tables of a fast run; a thorough one takes every table of several rows."""


@cache
def tables() -> dict[str, pd.DataFrame]:
    """Tables of the demonstration that have numbers, text and several rows."""
    dataset = aa.demo().read_all(
        days=30, sections=None if is_thorough() else [*FAST], progress=False
    )
    return {
        name: frame
        for section, tables_of_section in dataset.items()
        for name, frame in tables_of_section.items()
        if (is_thorough() or name in FAST[section])
        and 2 < len(frame) < 300
        and numbers(frame)
        and texts(frame)
    }


def passing(frame: pd.DataFrame) -> dict[str, str]:
    """The columns that pass for declared ones, and for which."""
    columns = metadata_of(frame, with_index_levels=True).columns
    return {name: column.declared_name for name, column in columns.items() if column.declared_name}


def false_columns(before: pd.DataFrame, after: pd.DataFrame, keeps_labels: bool) -> list[str]:
    """The columns that pass for declared ones and hold something else than their rows did.

    Rows may also be those of their keys, where all of the key passes.
    """
    accepted = passing(after)
    wrong = [name for name, of in accepted.items() if of.rpartition(".")[2] not in before]
    flat = flattened(after)
    now = {name: texts_in(flat, name) for name in accepted if name not in wrong}
    origins = {name: accepted[name].rpartition(".")[2] for name in now}
    read = {name: before_texts(Kept(before), origin) for name, origin in origins.items()}
    there = before_rows(Kept(before), tuple(origins.values()))
    rows_read = all(row in there for row in zip(*now.values(), strict=True))
    named = {of.rpartition(".")[2] for of in accepted.values()}
    if rows_read and (not keeps_labels or {*metadata_of(before).key} <= named):
        return wrong
    if not keeps_labels:
        return [*wrong, *now]
    places = before.index.get_indexer(after.index)
    return wrong + [
        name
        for name in now
        if any(
            place < 0 or read[name][place] != cell
            for place, cell in zip(places, now[name], strict=True)
        )
    ]


def flattened(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.reset_index() if any(frame.index.names) else frame


class Kept:
    """A frame that no test changes, so that its cells are read once for all idioms."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self.frame = frame

    def __hash__(self) -> int:
        return id(self.frame)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kept) and other.frame is self.frame


@cache
def before_texts(kept: Kept, name: str) -> list[str]:
    return texts_in(kept.frame, name)


@cache
def before_rows(kept: Kept, names: tuple[str, ...]) -> set[tuple[str, ...]]:
    return {*zip(*(before_texts(kept, name) for name in names), strict=True)}


def texts_in(frame: pd.DataFrame, name: str) -> list[str]:
    """The cells of a column as texts."""
    return [*map(text_of, frame[name].tolist())]


def text_of(cell: object) -> str:
    """A cell as text, the same whatever its dtype; of numbers their value."""
    if isinstance(cell, str):
        return cell
    if type(cell) is int:
        return repr(float(cell))
    if isinstance(cell, list | np.ndarray | tuple):
        return repr([*map(text_of, cell)])
    if pd.isna(cell):  # type: ignore[call-overload]
        return "missing"
    if isinstance(cell, int | float | np.number | np.bool_):
        return repr(float(cell))
    return str(cell)


def false_sums(before: pd.DataFrame, after: pd.DataFrame) -> Iterator[str]:
    """The sums of a frame that are not those of the rows in it, each counted once."""
    metadata = metadata_of(before)
    accepted = {of.rpartition(".")[2]: name for name, of in passing(after).items()}
    if not after.columns.is_unique or not {*metadata.key} <= {*accepted} or not metadata.key:
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AAToolkitWarning)
            sums = after.aa.aggregate(skip_missing=True)
    except AvailabilityError:
        return
    names = [accepted[name] for name in metadata.key]
    rows = {tuple(map(text_of, row)) for row in flattened(after)[names].to_numpy(object)}
    chosen = [tuple(map(text_of, row)) in rows for row in before[[*metadata.key]].to_numpy(object)]
    for name in numbers(before):
        table, _, own = metadata.columns[name].declared_name.partition(".")
        column = aa.sections.table(table)[own]
        if accepted.get(name) not in sums or column.aggregate.rule != "sum":
            continue
        total = sums[accepted[name]].iloc[0]
        expected = before.loc[chosen, name].sum(min_count=1)
        if pd.notna(total) and (pd.isna(expected) or not np.isclose(total, expected)):
            yield f"{name}: {total} for {expected}"


def outcome(name: str, frame: pd.DataFrame) -> pd.DataFrame | None:
    """What an idiom makes of a frame; None where pandas refuses it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return IDIOMS[name](frame)
        except (TypeError, ValueError, KeyError, IndexError, AttributeError, NotImplementedError):
            return None


def chosen_tables(name: str) -> list[str]:
    """Twelve tables, others for each idiom; in a fast run one."""
    names = [*tables()]
    first, wanted = [*IDIOMS].index(name) % len(names), 12 if is_thorough() else 1
    return (names[first:] + names[:first])[:: len(names) // wanted][:wanted]


@pytest.mark.parametrize("name", one_in(2, IDIOMS))
def test_nothing_false_after_an_idiom(name: str) -> None:
    tried, false = 0, []
    for table in chosen_tables(name):
        frame = tables()[table]
        after = outcome(name, frame)
        if after is None:
            continue
        tried += 1
        wrong = [*false_columns(frame, after, name in KEEPING), *false_sums(frame, after)]
        false += [(table, claim) for claim in wrong]
    assert false == []
    assert tried >= (10 if is_thorough() else 0)


@cache
def large() -> pd.DataFrame:
    """A frame of so many rows that few of them are in a sample."""
    frame = tables()["source_domains"]
    rows = pd.concat([frame] * (12_000 // len(frame)), ignore_index=True)
    rows["source_domain"] = pd.array([f"site-{row}.example" for row in rows.index], "string")
    rows["citation_count"] = pd.array(range(len(rows)), "Int64")
    rows["retrieval_count"] = rows["citation_count"].mask(rows.index % 97 == 0)
    return attach(rows, metadata_of(frame))


def test_a_large_frame_that_was_filled_and_cut_is_not_taken_for_a_part_of_it() -> None:
    filled = large().fillna({"retrieval_count": 0}).iloc[1:]
    by_rank = filled.sort_values("rank")
    for after in (filled, filled.reset_index(drop=True), by_rank, by_rank.tail(3_000)):
        assert "retrieval_count" not in passing(after)
        assert "citation_count" in passing(after)
    assert "retrieval_count" in passing(large().iloc[1:])
    assert "retrieval_count" in passing(large().sample(frac=0.5, replace=True, random_state=1))


@pytest.mark.thorough
@settings(deadline=None, max_examples=examples(120, 8))
@given(st.data())
def test_nothing_false_after_a_chain_of_idioms(data: st.DataObject) -> None:
    table = data.draw(st.sampled_from([*tables()]))
    steps = data.draw(st.lists(st.sampled_from([*IDIOMS]), min_size=2, max_size=5))
    frame = after = tables()[table]
    keeps_labels = True
    for step in steps:
        result = outcome(step, after)
        if result is None or not isinstance(result, pd.DataFrame):
            continue
        after, keeps_labels = result, keeps_labels and step in KEEPING
        if not after.columns.is_unique or after.size > 20_000:
            return
        false = [*false_columns(frame, after, keeps_labels), *false_sums(frame, after)]
        assert false == [], (table, steps)
