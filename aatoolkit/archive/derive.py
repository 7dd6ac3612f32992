"""From answers to rows: their tables, and what they say of themselves, as Arrow.

Answers of one host, scope and run are read together, as `read_all` reads them: what they share is
their envelope.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pyarrow as pa

from aatoolkit import sections
from aatoolkit.archive.answers import StoredAnswer
from aatoolkit.archive.statement_tables import AVAILABILITY, DRIFT, FRAMES, HINTS, Rows, dump_states
from aatoolkit.availability.detect import envelope_of
from aatoolkit.client.read_many import to_tables
from aatoolkit.errors import AAToolkitError, ArchiveError
from aatoolkit.jsontree.decode import gc_paused, outline
from aatoolkit.jsontree.layout import MAX_NODES
from aatoolkit.metadata.attrs import FrameMetadata
from aatoolkit.normalizer.batch import (
    LONGEST_BATCHED,
    BatchAnswer,
    BatchTables,
    RowRange,
    can_batch,
    normalize_batch,
)
from aatoolkit.normalizer.draft import resolve
from aatoolkit.normalizer.drift import Drift
from aatoolkit.normalizer.tables import TableParts
from aatoolkit.payload import Payload
from aatoolkit.sections import Profile, Section

G = TypeVar("G", bound=Sequence[Any])

Place = tuple[int, int]
"""The number of a group, and that of an answer in it."""

_TOGETHER_BYTES = 1 << 22
"""Answers are made tables together until their bodies have so many bytes."""


@dataclass(frozen=True)
class DerivedAnswer:
    """The tables derived from one answer, and its rows in the statement tables.

    Parameters
    ----------
    declaration : Section or str or None
        How it was read; the name where the default profile has the declaration.
    prefix : str
        What the names of its tables begin with in metadata.
    tables : mapping of str to pyarrow.Table or RowRange
        Its tables, those without rows left out; some are part of a table of many answers.
    beside : mapping of str to list of tuple
        The rows of `BESIDE`, without context.
    error : AAToolkitError or None
        Why it gives none.
    """

    declaration: Section | str | None
    prefix: str = ""
    tables: Mapping[str, pa.Table | RowRange] = field(default_factory=dict)
    beside: Mapping[str, Rows] = field(default_factory=dict)
    error: AAToolkitError | None = None

    @property
    def section(self) -> Section | None:
        """The declaration that it was read by."""
        found = self.declaration
        return sections.get(found) if isinstance(found, str) else found


def derive(
    payloads: Sequence[Payload], profile: Profile | None = None, max_nodes: int = MAX_NODES
) -> list[DerivedAnswer]:
    """The tables of answers of one host, scope and run, in their order."""
    return derive_many([payloads], profile, max_nodes)[0]


def derive_many(
    groups: Sequence[Sequence[Payload]],
    profile: Profile | None = None,
    max_nodes: int = MAX_NODES,
) -> list[list[DerivedAnswer]]:
    """The tables of answers, group by group; those of one section are made together.

    Parameters
    ----------
    groups : sequence of sequences of Payload
        The answers of each host, scope and run, whose envelope is what they share.
    profile, max_nodes
        As for `derive`.
    """
    found: list[list[DerivedAnswer]] = []
    for some in in_batches(groups, lambda payload: len(payload.body)):
        found += _together(some, profile, max_nodes)
    return found


def derive_stored(
    groups: Iterable[Sequence[StoredAnswer]], profile: Profile | None, max_nodes: int
) -> Iterator[tuple[StoredAnswer, DerivedAnswer]]:
    """Yield stored answers, grouped by host, scope and run, each with what is derived of it."""
    for some in in_batches(groups, lambda answer: answer.size):
        usable = [[answer.payload() for answer in group if answer.has_body] for group in some]
        for group, found in zip(some, derive_many(usable, profile, max_nodes), strict=True):
            given = iter(found)
            for answer in group:
                yield answer, next(given) if answer.has_body else _lost(answer)


def _lost(answer: StoredAnswer) -> DerivedAnswer:
    return DerivedAnswer(None, error=ArchiveError(f"the body of {answer.name} is missing"))


def in_batches(groups: Iterable[G], size: Callable[[Any], int]) -> Iterator[list[G]]:
    """Groups of answers, as many as are made tables together."""
    waiting: list[G] = []
    total = 0
    for group in groups:
        waiting.append(group)
        total += sum(map(size, group))
        if total >= _TOGETHER_BYTES:
            yield waiting
            waiting, total = [], 0
    if waiting:
        yield waiting


@gc_paused()
def _together(
    groups: Sequence[Sequence[Payload]], profile: Profile | None, max_nodes: int
) -> list[list[DerivedAnswer]]:
    by_section: dict[str, list[tuple[Place, BatchAnswer]]] = {}
    envelopes: list[Collection[str]] = []
    for number, group in enumerate(groups):
        outlines = [outline(payload.body) for payload in group]
        shared = envelope_of({str(at): one for at, one in enumerate(outlines) if one is not None})
        envelopes.append(shared)
        for at, (payload, document) in enumerate(zip(group, outlines, strict=True)):
            if len(payload.body) <= LONGEST_BATCHED and type(document) is dict:
                one = (number, at), BatchAnswer(payload, document, shared)
                by_section.setdefault(str(payload.section), []).append(one)
    found: dict[Place, DerivedAnswer] = {}
    for name in [*by_section]:
        listed = by_section.pop(name)
        states: dict[int, str] = {}
        tables = _batched(name, [one for _, one in listed], profile, max_nodes)
        for (place, _), made in zip(listed, tables, strict=True):
            if made is not None:
                found[place] = _derived(made.section, made.prefix, made, made.tables, (), states)
    how = {"profile": profile, "max_nodes": max_nodes}
    return [
        [
            found.get((number, at)) or _alone(payload, envelope=envelopes[number], **how)
            for at, payload in enumerate(group)
        ]
        for number, group in enumerate(groups)
    ]


def _batched(
    name: str, answers: list[BatchAnswer], profile: Profile | None, max_nodes: int
) -> Sequence[BatchTables | None]:
    """The tables of answers of one section; None for each that is to be read alone."""
    alone = [None] * len(answers)
    if len(answers) < 2:
        return alone
    try:
        declared, _, owner = resolve(name, profile)
        if declared is None or not can_batch(declared):
            return alone
        return normalize_batch(declared, owner, answers, max_nodes)
    except AAToolkitError:
        return alone  # which of them it is shows when each is read alone


def _alone(payload: Payload, **how: Any) -> DerivedAnswer:
    """Derive the tables of one answer by itself, not in a batch."""
    try:
        tables = to_tables(str(payload.section), payload, **how)
    except AAToolkitError as error:
        return DerivedAnswer(None, error=error)
    parts = tables._parts
    return _derived(
        tables.declaration, tables._prefix, parts, parts.arrows, parts.drifts, {}, tables.section
    )


def _derived(
    declared: Section | None,
    prefix: str,
    parts: TableParts | BatchTables,
    arrows: Mapping[str, tuple[pa.Table | RowRange, FrameMetadata]],
    drifts: Iterable[Drift],
    states: dict[int, str],
    name: str = "",
) -> DerivedAnswer:
    """Build a `DerivedAnswer`; ``states`` caches the columns' metadata as JSON."""
    name = name or (declared.name if declared is not None else "")
    short = declared is not None and sections.default_profile().get(name) is declared
    beside: dict[str, Rows] = {
        FRAMES: [
            (name, table, arrow.num_rows, _states(known, states))
            for table, (arrow, known) in arrows.items()
        ],
        AVAILABILITY: [
            (
                name,
                signal.scope,
                signal.target,
                " and ".join(map(str, signal.rows)) or None,
                str(signal.availability.status),
                signal.availability.cause and str(signal.availability.cause),
                signal.availability.reason,
                signal.sample_size,
                signal.as_of,
                signal.path,
                signal.rule,
                signal.raw,
            )
            for signal in parts.signals
        ],
        DRIFT: [(name, one.kind, one.path, one.count, one.example) for one in drifts],
        HINTS: [(name, one.path, one.value, one.why) for one in parts.hints],
    }
    kept = {table: arrow for table, (arrow, _) in arrows.items() if arrow.num_rows}
    return DerivedAnswer(name if short else declared, prefix, kept, beside)


def _states(known: FrameMetadata, written: dict[int, str]) -> str:
    """The availability of a table's columns as JSON, written once for each metadata object."""
    found = written.get(id(known))
    if found is None:
        found = written[id(known)] = dump_states(known)
    return found
