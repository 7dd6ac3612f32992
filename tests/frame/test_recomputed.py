"""Numbers of the demonstration after every verb, against plain Python over the JSON of the answers.

The other side of each comparison reads the bytes of an answer, or the bare cells of a frame, and
uses neither metadata nor any code of the frames.
"""

from __future__ import annotations

import json
import math
import warnings
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from helpers.effort import is_thorough
from serving import demo_dataset

import aatoolkit as aa
from aatoolkit.errors import AAToolkitWarning, AvailabilityError
from aatoolkit.sections import Aggregation

Row = dict[str, Any]


def document(section: str, **scope: Any) -> dict[str, Any]:
    """The JSON of an answer."""
    tables = aa.demo().read(section, **scope) if scope else demo_dataset()[section]
    assert tables.payload is not None
    found: dict[str, Any] = json.loads(tables.payload.body)
    return found


def rows_of(frame: pd.DataFrame) -> list[Row]:
    """The bare cells, None where one is missing."""
    plain = pd.DataFrame({name: frame[name].array for name in frame}).astype(object)
    return [
        {name: None if missing(cell) else cell for name, cell in row.items()}
        for row in plain.to_dict("records")
    ]


def missing(cell: Any) -> bool:
    return cell is None or (
        not isinstance(cell, list) and bool(pd.api.types.is_scalar(cell)) and bool(pd.isna(cell))
    )


def expected(rows: list[Row], name: str, rule: Aggregation) -> float | None:
    """What becomes of the rows of a group; None if nothing does."""
    if rule.over:
        above, below = rule.over
        both = [row for row in rows if row[above] is not None and row[below] is not None]
        trials = sum(row[below] for row in both)
        return sum(row[above] for row in both) / trials if trials else None
    there = [row for row in rows if row[name] is not None]
    if rule.by:
        there = [row for row in there if row[rule.by] is not None]
        weight = sum(row[rule.by] for row in there)
        return sum(row[name] * row[rule.by] for row in there) / weight if weight else None
    values = [row[name] for row in there]
    if not values:
        return None
    makers: dict[str, Any] = {
        "sum": math.fsum,
        "min": min,
        "max": max,
        "mean": lambda each: math.fsum(each) / len(each),
        "first": lambda each: each[0],
        "last": lambda each: each[-1],
    }
    found: float = makers[rule.rule](values)
    return found


def aggregated(frame: pd.DataFrame, by: str | None, **options: Any) -> pd.DataFrame | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AAToolkitWarning)
        try:
            return frame.aa.aggregate(by, **options)
        except AvailabilityError:
            return None


def compared(frame: pd.DataFrame, table: str, by: str | None) -> Iterator[tuple[Any, Any]]:
    """Each number of an aggregate beside what it should be."""
    result = aggregated(frame, by, skip_missing=True)
    if result is None:
        return
    groups: dict[Any, list[Row]] = defaultdict(list)
    for row in rows_of(frame):
        groups[None if by is None else row[by]].append(row)
    for made in rows_of(result):
        rows = groups[None if by is None else made[by]]
        for column in aa.sections.table(table).columns:
            has_rule = column.aggregate.rule not in ("none", "key")
            if column.name in made and column.name != by and has_rule:
                yield made[column.name], expected(rows, column.name, column.aggregate)


def is_same(one: Any, two: Any) -> bool:
    if one is None or two is None:
        return one is two
    return math.isclose(one, two, rel_tol=1e-9) if isinstance(one, int | float) else one == two


FAST = ("overview", "conversions", "gaps")
"""The sections of a fast run; a thorough one takes all."""


@pytest.mark.thorough
def test_every_aggregate_of_the_demonstration_is_that_of_its_cells() -> None:
    wrong, tried = [], 0
    for section, tables in demo_dataset().items():
        for table, frame in tables.items() if is_thorough() or section in FAST else ():
            for by in (None, *(name for name in frame if name in aa.sections.table(table).key)):
                for at, (found, wanted) in enumerate(compared(frame, table, by)):
                    tried += 1
                    if not is_same(found, wanted):
                        wrong.append((table, by, at, found, wanted))
    assert wrong == []
    assert tried > (500 if is_thorough() else 150), tried


def test_a_rate_by_engine_is_that_of_the_answers() -> None:
    engines = demo_dataset()["overview"]["overview_engines"]
    stated = {row["engine"]: row for row in document("overview")["engines"]}
    interval = engines.aa.interval("mention_rate")
    for at, row in enumerate(rows_of(engines)):
        answers, mentions = (
            stated[row["engine"]][name] for name in ("answerCount", "mentionCount")
        )
        low, high = interval.iloc[at]
        if not answers:
            assert row["mention_rate"] is None
            assert pd.isna(low)
            continue
        z, rate = 1.959963984540054, mentions / answers
        half = z * math.sqrt(rate * (1 - rate) / answers + z * z / (4 * answers**2))
        centre = rate + z * z / (2 * answers)
        assert (low, high) == pytest.approx(
            ((centre - half) / (1 + z * z / answers), (centre + half) / (1 + z * z / answers))
        )
    whole = engines.aa.aggregate(columns=["mention_rate", "answer_count"], skip_missing=True)
    total = sum(row["answerCount"] or 0 for row in stated.values())
    assert whole.loc[0, "answer_count"] == total
    assert whole.loc[0, "mention_rate"] == pytest.approx(
        sum(row["mentionCount"] or 0 for row in stated.values()) / total
    )


def test_a_join_counts_each_citation_once() -> None:
    domains = demo_dataset()["domains"].main
    urls = demo_dataset()["urls"].main
    joined = domains.aa.merge(urls, on="source_domain")
    there = {*urls["source_domain"]}
    counts = {row["domain"]: row["citationCount"] for row in document("domains")["domains"]}
    name = "citation_count_x"
    total = joined.aa.aggregate(columns=name).loc[0, name]
    assert total == sum(counts[domain] for domain in there)
    assert total < joined[name].sum()


@pytest.mark.thorough
def test_windows_that_overlap_are_refused_and_each_alone_is_its_own() -> None:
    project = aa.demo()
    week, month = (project.read("domains", days=days).main for days in (7, 30))
    both = aa.concat([week.aa.with_context(), month.aa.with_context()])
    for order in (both, both.sample(frac=1, random_state=1)):
        with pytest.raises(AvailabilityError, match="overlap"):
            order.aa.aggregate("domain_type", columns="citation_count")
        found = order.aa.aggregate("days", columns="citation_count").set_index("days")
        for days in (7, 30):
            raw = document("domains", days=days)["domains"]
            assert found.loc[days, "citation_count"] == sum(row["citationCount"] for row in raw)


def test_answers_of_two_engines_add_up() -> None:
    project = aa.demo()
    parts = [
        project.read("domains", days=30, engine=engine).main for engine in ("chatgpt", "gemini")
    ]
    stacked = aa.concat([part.aa.with_context() for part in parts], ignore_index=True)
    total = sum(
        row["citationCount"]
        for engine in ("chatgpt", "gemini")
        for row in document("domains", days=30, engine=engine)["domains"]
    )
    assert stacked.aa.aggregate(columns="citation_count").loc[0, "citation_count"] == total


def test_the_long_form_has_each_cell_once() -> None:
    engines = demo_dataset()["overview"]["overview_engines"]
    long = engines.aa.to_long()
    cells = {
        (row["engine"], name): row[name]
        for row in rows_of(engines)
        for name in ("answer_count", "mention_count", "mention_rate")
    }
    found = {(row["engine"], row["variable"]): row["value"] for row in rows_of(long)}
    assert found.keys() == cells.keys()
    assert all(is_same(found[cell], cells[cell]) for cell in cells)


def test_explicit_rows_change_no_sum() -> None:
    domains = demo_dataset()["domains"]
    frame = domains["source_domain_engines"]
    counts: dict[str, int] = defaultdict(int)
    for row in document("domains")["domains"]:
        for engine, citations in row["byEngine"].items():
            counts[engine] += citations
    engines = [*counts, "one-that-was-never-asked"]
    whole = frame.aa.complete(engine=engines)
    assert len(whole) == len(domains.main) * len(engines)
    found = whole.aa.aggregate("engine", columns="citation_count")
    sums = {row["engine"]: row["citation_count"] for row in rows_of(found)}
    assert sums == {**counts, "one-that-was-never-asked": None}


@pytest.mark.thorough
def test_a_file_has_the_same_numbers(tmp_path: Path) -> None:
    for section in ("overview", "domains", "ranking") if is_thorough() else ("overview",):
        for table, frame in demo_dataset()[section].items():
            again = aa.read_parquet(frame.aa.to_parquet(tmp_path / f"{table}.parquet"))
            one, two = aggregated(frame, None), aggregated(again, None)
            assert (one is None) == (two is None)
            if one is not None and two is not None:
                pd.testing.assert_frame_equal(one, two)
                assert [*compared(again, table, None)] == [*compared(frame, table, None)]
