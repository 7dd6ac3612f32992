"""Explain numbers from a study, with every hash checked on the way."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aatoolkit.errors import (
    AAToolkitError,
    AAToolkitWarning,
    ScopeError,
    StudyError,
    did_you_mean,
    near_matches,
)
from aatoolkit.frame.explain import Explainer, Explanation
from aatoolkit.metadata.column import Source
from aatoolkit.normalizer.tables import Tables
from aatoolkit.scope import Scope

if TYPE_CHECKING:
    from pathlib import Path

    from aatoolkit.client.dataset import Dataset
    from aatoolkit.study.record import Record


@dataclass(frozen=True, eq=False)
class RecordedAnswer:
    """A recorded answer that can be normalised again.

    Parameters
    ----------
    study : StudyExplanations
        The study.
    record : Record
        Its line in the manifest.
    source : Source
        Which answer it is.
    """

    study: StudyExplanations
    record: Record
    source: Source

    @property
    def body(self) -> bytes | None:
        """The answer's recorded bytes, checked against their hash."""
        if self.record.sha256 == self.source.sha256:
            return self.study.answer(self.record)
        tables = self.tables()  # a part of a combined view has a body of its own
        payload = None if tables is None else tables.payload
        return None if payload is None else payload.body

    def tables(self) -> Tables | None:
        """The answer's tables, normalised again."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AAToolkitWarning)
            return self.study.tables(self.record).get(self.source.section or "")


class StudyExplanations:
    """The methods of a study that explain numbers; see `aatoolkit.Study`."""

    path: Path

    @property
    def records(self) -> tuple[Record, ...]:
        """Every record."""
        raise NotImplementedError

    @property
    def current(self) -> tuple[Record, ...]:
        """The records that a replay answers with."""
        raise NotImplementedError

    def answer(self, record: Record) -> bytes:
        """The bytes of an answer."""
        raise NotImplementedError

    def tables(self, record: Record) -> Dataset:
        """The tables of an answer."""
        raise NotImplementedError

    @property
    def kind_of_store(self) -> str:
        """The word for the study in explanations."""
        return f"the study {self.path.name}"

    def held_answers(self, source: Source) -> Iterator[RecordedAnswer]:
        """Yield the recorded answers that may be the one of a source.

        Parameters
        ----------
        source : Source
            Which answer; without a hash, its host, section and filters count.
        """
        for record in self.records:
            if record.error is not None:
                continue
            if source.sha256 is not None and record.sha256 == source.sha256:
                yield RecordedAnswer(self, record, source)
            elif source.sha256 is None and _answers(record, source):
                yield RecordedAnswer(self, record, _source_of(record))
        if source.sha256 is None:
            return
        for record in self.records:
            is_whole = record.section is None and record.resource != "scope-options"
            if is_whole and record.error is None and record.host == source.host:
                yield from self._parts(record, source)

    def _parts(self, record: Record, source: Source) -> Iterator[RecordedAnswer]:
        """Yield the part of a combined view that is the answer of a source, if one is."""
        found = RecordedAnswer(self, record, source)
        tables = found.tables()
        if tables is not None and tables.payload and tables.payload.sha256 == source.sha256:
            yield found

    def explain(
        self,
        table: str,
        row: int | Hashable | Mapping[str, Any] | None = None,
        column: str | None = None,
        *,
        host: str | None = None,
        scope: Scope | None = None,
    ) -> Explanation:
        """Explain a number of a recorded answer, down to its bytes.

        The bytes are compared with their hash on the way, and the manifest with the seal.

        Parameters
        ----------
        table : str
            The table: its name, or ``section.table``.
        row : int, label or mapping of str to object, optional
            The row, as for ``df.aa.explain``; by default the first without a value.
        column : str
            The column.
        host : str, optional
            The project, where the study holds several.
        scope : Scope, optional
            The filters, where the study holds several answers of the section.

        Returns
        -------
        Explanation
            A tree.

        Raises
        ------
        StudyError
            If the study is damaged.
        ScopeError
            If it has no such table, or several; the message names them.
        ColumnNotFound, ItemNotFound
            If the table has no such column or row.

        Examples
        --------
        >>> import tempfile
        >>> import aatoolkit as aa
        >>> folder = tempfile.mkdtemp()
        >>> with aa.Study.create(f"{folder}/mine") as study:
        ...     tables = study.record(aa.demo()).read("overview", days=7)
        >>> again = aa.Study(f"{folder}/mine")
        >>> found = again.explain("overview.overview_kpis", {"metric": "mentionRate"}, "value")
        >>> found.place.path, found.answer.found_in, found.answer.checked
        ('$.kpis.mentionRate.value', 'in the study mine', True)
        """
        _, tables = self.recorded_table(table, host=host, scope=scope)
        frame = tables[table.rpartition(".")[2]]
        return Explainer(self).explain(frame, row, column)

    def recorded_table(
        self, table: str, *, host: str | None = None, scope: Scope | None = None
    ) -> tuple[Record, Tables]:
        """Find the one recorded answer that has a table; return it and its tables.

        Raises
        ------
        ScopeError
            If none has it, or several have.
        """
        section, _, name = table.rpartition(".")
        there: dict[str, None] = {}
        found: list[tuple[Record, Tables]] = []
        problem: AAToolkitError | None = None
        for record in self.current:
            if record.error is not None or host not in (None, record.host):
                continue
            if scope is not None and record.scope != scope:
                continue
            if section and record.section not in (None, section):
                continue
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", AAToolkitWarning)
                    answers = self.tables(record)
            except StudyError:
                raise
            except AAToolkitError as error:
                problem = error
                continue
            for own, tables in answers.items():
                there |= {f"{own}.{each}": None for each in tables}
                if name in tables and section in ("", own):
                    found.append((record, tables))
        if len(found) == 1:
            return found[0]
        if found:
            which = "; ".join(
                f"host {record.host}, {record.scope.to_query() if record.scope else 'no filters'}"
                for record, _ in found[:5]
            )
            raise ScopeError(
                f"{len(found)} answers have a table {name}: name host and scope ({which})",
                parameter="table",
                unknown=(table,),
            )
        hint = did_you_mean(near_matches(table, [*there]))
        why = f"; {problem}" if problem is not None and not there else ""
        raise ScopeError(
            f"no answer of this study has a table {table!r}{f', {hint}' if hint else ''}{why}",
            parameter="table",
            unknown=(table,),
        )


def _answers(record: Record, source: Source) -> bool:
    scope = record.scope.to_query() if record.scope else None
    return record.host == source.host and (
        record.section == source.section and source.scope in (None, scope)
    )


def _source_of(record: Record) -> Source:
    return Source(
        record.host,
        record.section,
        record.scope.to_query() if record.scope else None,
        sha256=record.sha256,
    )
