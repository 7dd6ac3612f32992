"""From answers to rows: their tables, and what they say of themselves, as Arrow.

Answers of one host, scope and run are read together, as `read_all` reads them: what they share is
their envelope.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pyarrow as pa

from aatoolkit import sections
from aatoolkit.archive.answers import StoredAnswer
from aatoolkit.archive.statement_tables import AVAILABILITY, DRIFT, FRAMES, HINTS, Rows, dump_states
from aatoolkit.availability.detect import envelope_of
from aatoolkit.client.reading import to_tables
from aatoolkit.errors import AAToolkitError, ArchiveError
from aatoolkit.jsontree.decode import gc_paused, outline
from aatoolkit.jsontree.layout import MAX_NODES
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
    tables : mapping of str to pyarrow.Table
        Its tables, those without rows left out.
    beside : mapping of str to list of tuple
        The rows of `BESIDE`, without context.
    error : AAToolkitError or None
        Why it gives none.
    """

    declaration: Section | str | None
    prefix: str = ""
    tables: Mapping[str, pa.Table] = field(default_factory=dict)
    beside: Mapping[str, Rows] = field(default_factory=dict)
    error: AAToolkitError | None = None

    @property
    def section(self) -> Section | None:
        """The declaration that it was read by."""
        found = self.declaration
        return sections.get(found) if isinstance(found, str) else found


@gc_paused()
def derive(
    payloads: Sequence[Payload], profile: Profile | None = None, max_nodes: int = MAX_NODES
) -> list[DerivedAnswer]:
    """The tables of answers of one host, scope and run, whose envelope is what they share."""
    outlines = enumerate(outline(payload.body) for payload in payloads)
    shared = envelope_of({str(at): value for at, value in outlines if value is not None})
    how = {"profile": profile, "max_nodes": max_nodes, "envelope": shared}
    return [_derived(payload, **how) for payload in payloads]


def derive_many(
    groups: Sequence[Sequence[Payload]],
    profile: Profile | None = None,
    max_nodes: int = MAX_NODES,
) -> list[list[DerivedAnswer]]:
    """The tables of answers, group by group: those of each host, scope and run."""
    return [derive(group, profile, max_nodes) for group in groups]


def derive_stored(
    groups: Iterable[Sequence[StoredAnswer]], profile: Profile | None, max_nodes: int
) -> Iterator[tuple[StoredAnswer, DerivedAnswer]]:
    """Yield stored answers, grouped by host, scope and run, each with what is derived of it."""
    for group in groups:
        usable = [answer.payload() for answer in group if answer.has_body]
        derived = iter(derive(usable, profile, max_nodes))
        for answer in group:
            yield answer, next(derived) if answer.has_body else _lost(answer)


def _lost(answer: StoredAnswer) -> DerivedAnswer:
    return DerivedAnswer(None, error=ArchiveError(f"the body of {answer.name} is missing"))


def in_batches(groups: Iterable[G], size: Callable[[Any], int]) -> Iterator[list[G]]:
    """Groups of answers, as many as are made tables by one process at a time."""
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


def _derived(payload: Payload, **how: Any) -> DerivedAnswer:
    """Derive the tables of one answer."""
    try:
        tables = to_tables(str(payload.section), payload, **how)
    except AAToolkitError as error:
        return DerivedAnswer(None, error=error)
    parts, declared, name = tables._parts, tables.declaration, tables.section
    short = declared is not None and sections.default_profile().get(name) is declared
    beside: dict[str, Rows] = {
        FRAMES: [
            (name, table, arrow.num_rows, dump_states(metadata))
            for table, (arrow, metadata) in parts.arrows.items()
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
        DRIFT: [(name, one.kind, one.path, one.count, one.example) for one in parts.drifts],
        HINTS: [(name, one.path, one.value, one.why) for one in parts.hints],
    }
    kept = {table: arrow for table, (arrow, _) in parts.arrows.items() if arrow.num_rows}
    return DerivedAnswer(name if short else declared, tables._prefix, kept, beside)
