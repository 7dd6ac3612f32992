"""Explain numbers from a store of responses: each is found by its source, checked and read again.

A study and an archive give explanations the same thing, a `StoredResponse`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aatoolkit.client.dataset import Dataset
from aatoolkit.errors import AAToolkitError, ScopeError, StudyError, did_you_mean, near_matches
from aatoolkit.metadata.column import Source
from aatoolkit.normalizer.tables import Tables
from aatoolkit.scope import Scope
from aatoolkit.study.record import Record
from aatoolkit.study.tables import quietly

if TYPE_CHECKING:
    from aatoolkit.study.study import Study


@dataclass(frozen=True, eq=False)
class StoredResponse:
    """A response of a store, as explanations read it.

    Parameters
    ----------
    source : Source
        Which response it is.
    sha256 : str or None
        The SHA-256 of its body.
    read_body : callable
        Returns its bytes, checked against their hash.
    read_tables : callable
        Returns its tables, normalised again, by section.
    """

    source: Source
    sha256: str | None
    read_body: Callable[[], bytes | None]
    read_tables: Callable[[], Dataset]

    @property
    def body(self) -> bytes | None:
        """Its bytes; of a part of a combined view, those of the part."""
        if self.source.sha256 in (None, self.sha256):
            return self.read_body()
        tables = self.tables()
        return None if tables is None or tables.payload is None else tables.payload.body

    def tables(self) -> Tables | None:
        """Its tables, normalised again."""
        return quietly(self.read_tables).get(self.source.section or "")


def source_of(record: Record) -> Source:
    """Describe a record as a source of frames."""
    scope = record.scope._to_query() if record.scope else None
    return Source(record.host, record.section, scope, sha256=record.sha256)


def stored_responses(study: Study, source: Source) -> Iterator[StoredResponse]:
    """Yield the recorded responses that may be the one of a source.

    Parameters
    ----------
    study
        The study.
    source
        Which response; without a hash, its host, section and filters count.
    """

    def stored(record: Record, source: Source) -> StoredResponse:
        return StoredResponse(
            source, record.sha256, lambda: study._response(record), lambda: study.tables(record)
        )

    usable = [record for record in study.records if record.error is None]
    for record in usable:
        own = source_of(record)
        if source.sha256 is None:
            same = (own.host, own.section) == (source.host, source.section)
            if same and source.scope in (None, own.scope):
                yield stored(record, own)
        elif record.sha256 == source.sha256:
            yield stored(record, source)
    for record in usable if source.sha256 is not None else ():
        if record.section is None and not record.is_options and record.host == source.host:
            part = stored(record, source)
            tables = part.tables()
            if tables is not None and tables.payload and tables.payload.sha256 == source.sha256:
                yield part


def recorded_table(
    study: Study, table: str, host: str | None, scope: Scope | None
) -> tuple[Record, Tables]:
    """Find the one recorded response that has a table; return it and its tables.

    Raises
    ------
    ScopeError
        If none has it, or several have.
    """
    section, _, name = table.rpartition(".")
    names: dict[str, None] = {}
    places: list[tuple[Record, Tables]] = []
    problem: AAToolkitError | None = None
    for record in study._current:
        is_wanted = (
            record.error is None
            and host in (None, record.host)
            and scope in (None, record.scope)
            and (not section or record.section in (None, section))
        )
        if not is_wanted:
            continue
        try:
            dataset = quietly(study.tables, record)
        except StudyError:
            raise
        except AAToolkitError as error:
            problem = error
            continue
        for own, tables in dataset.items():
            names |= {f"{own}.{each}": None for each in tables}
            if name in tables and section in ("", own):
                places.append((record, tables))
    if len(places) == 1:
        return places[0]
    if places:
        which = "; ".join(
            f"host {record.host}, {record.scope._to_query() if record.scope else 'no filters'}"
            for record, _ in places[:5]
        )
        message = f"{len(places)} responses have a table {name}: name host and scope ({which})"
    else:
        hint = did_you_mean(near_matches(table, [*names]))
        why = f"; {problem}" if problem is not None and not names else ""
        message = (
            f"no response of this study has a table {table!r}{f', {hint}' if hint else ''}{why}"
        )
    raise ScopeError(message, parameter="table", unknown=(table,))
