"""The declarations against our own sample answers: nothing declared is absent, nothing lost.

A section is found by looking, so a new one is tested as soon as its module and its sample
are there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from declared_paths import fits_step, steps
from samples import SAMPLES

from aatoolkit import sections
from aatoolkit.jsontree.paths import Each, Entries, Step, parse_pattern
from aatoolkit.sections import Column, Section, Table

SECTIONS = sections.all()
ENVELOPE = ("section", "domain", "window", "filters", "generatedAt", "availability")

Place = tuple[str | int, ...]

each_section = pytest.mark.parametrize("section", SECTIONS.values(), ids=SECTIONS)


def sample(section: Section) -> dict[str, Any]:
    path = SAMPLES / f"{section.name}.json"
    body: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return body


@each_section
def test_every_column_is_in_the_sample_unless_it_may_be_absent(section: Section) -> None:
    body = sample(section)
    absent = [
        f"{table.name}.{column.name}"
        for table in section
        for column in table.columns
        if not column.optional and not reaches(body, steps(table, column))
    ]
    assert absent == []


@each_section
def test_every_leaf_of_the_sample_is_claimed(section: Section) -> None:
    claims = [pattern for table in section for pattern in patterns(table)]
    kept = [parse_pattern(path) for path in section.kept]
    unclaimed = [
        place
        for place, value in leaf_values(sample(section))
        if place[0] not in ENVELOPE
        and not any(fits(place[: len(path)], path) for path in kept)
        and not any(claimed(place, value, path) for path in claims)
    ]
    assert unclaimed == []


@each_section
def test_what_is_kept_is_in_the_sample_and_in_no_column(section: Section) -> None:
    claims = [pattern for table in section for pattern in patterns(table)]
    for path in map(parse_pattern, section.kept):
        assert reaches(sample(section), path)
        assert not any(claim[: len(path)] == path for claim in claims)


@each_section
def test_levels_hold_every_value_of_the_sample(section: Section) -> None:
    places = list(leaf_values(sample(section)))
    for table in section:
        for column in table.columns:
            if column.dtype == "category":
                values = {
                    read(table, column, *leaf) for leaf in places if takes(table, column, leaf)
                }
                assert values - {None} <= {*column.levels}, column.name


def patterns(table: Table) -> Iterator[tuple[Step, ...]]:
    yield from (steps(table, column) for column in table.columns)


def fits(place: Place, path: tuple[Step, ...]) -> bool:
    return len(place) == len(path) and all(map(fits_step, place, path))


def claimed(place: Place, value: object, path: tuple[Step, ...]) -> bool:
    """A value at the place; or, where nothing stands, a place on the way to one."""
    return fits(place, path[: len(place)]) and (len(place) == len(path) or value is None)


def leaf_values(value: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Every scalar; what is empty counts as nothing."""
    inner: Mapping[Any, Any] | None = None
    if isinstance(value, dict):
        inner = value
    elif isinstance(value, list):
        inner = dict(enumerate(value))
    if not inner:
        yield place, None if inner is not None else value
        return
    for name, child in inner.items():
        yield from leaf_values(child, (*place, name))


def reaches(value: Any, path: tuple[Step, ...]) -> bool:
    """Whether something, be it null, stands at the end of a path."""
    if not path or (path == (Each(),) and value == []):
        return True
    step, rest = path[0], path[1:]
    inner = dict(enumerate(value)) if isinstance(value, list) else value
    return isinstance(inner, dict) and any(
        fits_step(name, step) and reaches(child, rest) for name, child in inner.items()
    )


def read(table: Table, column: Column, place: Place, value: object) -> object:
    """What a column has for a place: its value, or the key on the way that labels it."""
    if column.source is None or not column.source.startswith("@"):
        return value
    entries = [at for at, step in enumerate(table.rows.steps) if isinstance(step, Entries)]
    return place[entries[int(column.source[1:])]]


def takes(table: Table, column: Column, leaf: tuple[Place, object]) -> bool:
    path = steps(table, column)
    labels = column.source is not None and column.source.startswith("@")
    return fits(leaf[0][: len(path)] if labels else leaf[0], path)
