"""Long regular answers, read part by part: the objects of one are gone before the next is parsed.

An answer of many megabytes is one long array in a small envelope. Each part of it is a smaller
answer, with the same envelope, and is read as such; the rows are joined. Whatever cannot be told
part by part, or differs from the declaration in values, is left to the reading of the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, NamedTuple

import orjson

from aatoolkit.availability.detect import Detection, Signal
from aatoolkit.errors import PayloadError
from aatoolkit.jsontree.chunks import Cut, NotInParts, cut
from aatoolkit.jsontree.decode import BOM, Inexact, is_exact
from aatoolkit.jsontree.layout import Survey
from aatoolkit.jsontree.paths import (
    Each,
    Entries,
    Field,
    Named,
    Step,
    format_path,
    parse_path,
    parse_pattern,
)
from aatoolkit.jsontree.vectors import MAX_FIELDS, Vector
from aatoolkit.metadata.attrs import Source
from aatoolkit.normalizer.abridge import longest_list
from aatoolkit.normalizer.column_availability import is_silent
from aatoolkit.normalizer.columns import BuiltTable
from aatoolkit.normalizer.draft import has_values
from aatoolkit.normalizer.drift import DriftReport, collect_unmapped
from aatoolkit.normalizer.field_map import field_map
from aatoolkit.normalizer.masking import denies_any
from aatoolkit.normalizer.rows import TablePlan, TableRows, plans, unread
from aatoolkit.payload import Payload
from aatoolkit.sections import Section

MANY_KEYS = 20_000
"""In answers of more keys the longest list is cut for detection, unless it is needed."""


class BuiltAnswer(NamedTuple):
    """What was read of an answer.

    Attributes
    ----------
    built : dict
        Its tables.
    report : DriftReport
        Where it differs from its declaration.
    detection : Detection
        What it states about its availability.
    source : Source
        Which answer it is.
    keys, most_keys : int
        How many keys its objects have, and the largest.
    document : Vector or None
        Its values; None where they are no longer there.
    is_error : bool
        Whether it is the reason why there are no tables.
    """

    built: dict[str, BuiltTable]
    report: DriftReport
    detection: Detection
    source: Source
    keys: int
    most_keys: int
    document: Vector | None = None
    is_error: bool = False


class _Unread:
    """Stands for the whole document, which is not there."""

    def __getattr__(self, name: str) -> Any:
        raise NotInParts


def in_parts(
    answer: Any,
    declared: Section,
    before: str,
    max_nodes: int,
    detect: Callable[..., Detection],
    source: Callable[[Any], Source],
) -> BuiltAnswer | None:
    """Read an answer part by part; None where it must be read as a whole."""
    body = answer.body if isinstance(answer, Payload) else answer
    parts = cut(body.removeprefix(BOM)) if isinstance(body, bytes) else None
    if parts is None:
        return None
    try:
        return _joined(parts, declared, before, max_nodes, detect, source)
    except (NotInParts, Inexact, PayloadError, orjson.JSONDecodeError):
        return None


def _joined(
    parts: Cut,
    declared: Section,
    before: str,
    max_nodes: int,
    detect: Callable[..., Detection],
    source: Callable[[Any], Source],
) -> BuiltAnswer:
    inside = _inside(declared, parts.names)
    if parts.names and longest_list(parts.envelope):
        raise NotInParts
    envelope, most_keys, nodes = _survey(Vector.of(parts.value([])), declared, max_nodes)
    lists = parts.parts()
    start = next(lists)
    top = parts.value(start)
    detection, origin = detect(Vector.of(top), True, False, _Unread()), source(top)
    # A statement about the whole is in the envelope; for any other all rows are to be seen.
    is_stated = detection.is_ruled and not detection.hints
    if not is_stated or denies_any(detection.signals):
        raise NotInParts
    if is_silent(declared, top, detection.signals):
        raise NotInParts
    early = [start]
    del top, start
    tables: dict[str, list[BuiltTable]] = {table.name: [] for table in declared}
    unmapped: list[DriftReport] = []
    keys, first = envelope, 0
    for elements in chain(_emptied(early), lists):
        document = parts.document(elements, first)
        counts = _survey(document, declared, max_nodes)
        keys += counts[0] - envelope
        most_keys, nodes = max(most_keys, counts[1]), nodes + counts[2]
        if not first and keys * len(parts.cuts) < MANY_KEYS:
            raise NotInParts
        chosen = [plan for plan in plans(declared) if not first or plan.table.name in inside]
        for table in _tables(document, chosen, before, detection.signals, origin):
            tables[table.table.name].append(table)
        unmapped.append(DriftReport())
        collect_unmapped(document, declared, unmapped[-1])
        unmapped[-1].kept.clear()
        first += len(elements)
        del document, elements
    if keys <= MANY_KEYS or most_keys > MAX_FIELDS or nodes > max_nodes:
        raise NotInParts
    if not is_exact(parts.body, keys):
        raise NotInParts
    report, built = DriftReport(), {}
    for name, pieces in tables.items():
        built[name] = pieces[0]
        built[name].join(pieces[1:], report)
        pieces.clear()
    _add_new(unmapped, report, format_path(_steps(parts.names)))
    if report.differences and not has_values(next(iter(built.values())).arrow):
        raise NotInParts
    for table in built.values():
        assert table.metadata
    return BuiltAnswer(built, report, detection, origin, keys, most_keys)


def _survey(document: Vector, declared: Section, max_nodes: int) -> tuple[int, int, int]:
    """Count the keys of a document's objects, those of the largest, and its paths."""
    counts = Survey(max_nodes)
    counts.walk(document, field_map(declared))
    return counts.keys, counts.most_keys, counts.count


def _emptied(lists: list[list[Any]]) -> Iterator[list[Any]]:
    """Yield lists and let go of them."""
    while lists:
        yield lists.pop(0)


def _tables(
    document: Vector,
    chosen: list[TablePlan],
    before: str,
    signals: list[Signal],
    source: Source,
) -> list[BuiltTable]:
    """The tables of one part, which has nothing that its declaration has not but fields."""
    report = DriftReport()
    rows = [TableRows(document, plan) for plan in chosen]
    built = [BuiltTable(table, before, signals, source, report, False, True) for table in rows]
    if any(kind != "absent" for kind, _ in report.differences):
        raise NotInParts
    if any(len(there) for _, there in unread(rows)):
        raise NotInParts
    return [table.as_part() for table in built]


def _add_new(reports: list[DriftReport], report: DriftReport, place: str) -> None:
    """List the fields that no part declares; those outside the array are in each part."""
    first = reports[0].differences
    if any(other.differences.keys() != first.keys() for other in reports):
        raise NotInParts
    for (kind, path), drift in first.items():
        if kind != "new":
            raise NotInParts
        counts = [other.differences[kind, path].count for other in reports]
        count = sum(counts) if path.startswith(place) else counts[0]
        report.record(kind, path, count, drift.example)


def _steps(names: tuple[str, ...]) -> tuple[Step, ...]:
    return (*map(Field, names), Each())


def _inside(declared: Section, names: tuple[str, ...]) -> set[str]:
    """The tables whose rows are elements of an array, or below; the others have nothing of it.

    Raises
    ------
    NotInParts
        If a table is neither.
    """
    steps, inside = _steps(names), set()
    for plan in plans(declared):
        table, rows = plan.table, plan.table.rows
        sources = [column.source or "" for column in table.columns]
        sources += [source for source, _ in (*rows.without, *rows.only)]
        roots = [parse_path(source[1:].lstrip(".")) for source in sources if source[0] == "$"]
        plain = (source.lstrip("^") for source in sources)
        paths = [parse_path(source) for source in plain if source and source[0] not in "$@#[."]
        roots += [step.header for path in paths for step in path if isinstance(step, Named)]
        if rows.header is not None:
            roots.append(rows.header)
        if any(reading and reading.year is not None for reading in plan.readings.values()):
            raise NotInParts
        if all(spelling[: len(steps)] == steps for spelling in plan.spellings):
            inside.add(table.name)
        else:
            roots += [parse_pattern(column.pattern) for column in table.columns]
            roots += plan.spellings if rows.function else ()
        if any(_touches(root, names) for root in roots):
            raise NotInParts
    return inside


def _touches(path: tuple[Step, ...], names: tuple[str, ...]) -> bool:
    """Whether a path leads to an array, or to what encloses it."""
    pairs = zip(path, names, strict=False)
    return all(isinstance(step, Entries) or step == Field(name) for step, name in pairs)
