"""Convert responses to tables, and write both to an archive.

A run is one call of `Archive.add`. Readers see its rows only after the run has committed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from aatoolkit import sections
from aatoolkit.archive import schema
from aatoolkit.archive.responses import (
    USABLE,
    ArchivedResponse,
    ResponseIndex,
    ResponseKey,
    read_groups,
    to_arrow,
)
from aatoolkit.archive.schema import (
    CONTEXT,
    CONTEXT_FIELDS,
    FRAMES,
    OWN_SCHEMAS,
    RESPONSES,
    STATEMENT_SCHEMAS,
    StoredTable,
    fit_to_schema,
)
from aatoolkit.archive.snapshot import Snapshot, sql_in
from aatoolkit.archive.store import RUNS, ArchiveStore, RunLog, add_checksums, log, new_run, retry
from aatoolkit.availability import Status
from aatoolkit.client.reading import ReadingOptions
from aatoolkit.errors import AAToolkitError, ArchiveConflict, ArchiveError
from aatoolkit.jsontree.decode import gc_paused
from aatoolkit.metadata.attrs import FrameMetadata
from aatoolkit.normalizer.column_availability import signal_rows
from aatoolkit.payload import Payload
from aatoolkit.sections import Section

# -- responses to rows ---------------------------------------------------------------------------


@dataclass(frozen=True)
class DerivedResponse:
    """The tables made from one response, or the error if it could not be converted.

    Parameters
    ----------
    declaration : Section or str
        The declared tables and columns; or the name of a section that this package declares.
    prefix : str
        A text before the names of tables in the metadata of DataFrames.
    tables : mapping of str to pyarrow.Table
        The tables by name.
    statement_rows : list of (str, tuple)
        Pairs of a table name, ``frames`` or ``availability``, and a row for this table.
    error : AAToolkitError, optional
        The error, if there are no tables.
    """

    declaration: Section | str
    prefix: str = ""
    tables: Mapping[str, pa.Table] = field(default_factory=dict)
    statement_rows: list[tuple[str, tuple[Any, ...]]] = field(default_factory=list)
    error: AAToolkitError | None = None


@gc_paused()
def derive(payloads: Sequence[Payload], options: ReadingOptions) -> list[DerivedResponse]:
    """Convert responses to tables, and return a `DerivedResponse` for each."""
    return [_derive_one(payload, options) for payload in payloads]


def _derive_one(payload: Payload, options: ReadingOptions) -> DerivedResponse:
    try:
        tables = options.tables(str(payload.section), payload)
        if tables.drafted:
            raise ArchiveError(
                f"the tables of {tables.section} were inferred from this response, and another may "
                "give others: draft a profile, and make them by archive.rebuild(profile=…)"
            )
    except AAToolkitError as error:
        return DerivedResponse(payload.section or "", error=error)
    section = tables.section
    built_tables = tables._parts.built
    statement_rows = [
        ("availability", (section, *row)) for row in signal_rows(tables._parts.signals)
    ]
    for name, built_table in built_tables.items():
        columns = built_table.metadata.columns.values()
        # Rows that a response lacks were withdrawn only if it could measure all of them.
        is_complete = not any(column.statements for column in columns) and 2 * sum(
            column.availability.status == Status.AVAILABLE for column in columns
        ) > len(columns)
        states_json = FrameMetadata(built_table.metadata.columns).dumps()
        statement_rows.append((FRAMES, (section, name, states_json, is_complete, built_table.size)))
    arrow_tables = {
        name: built_table.arrow for name, built_table in built_tables.items() if built_table.size
    }
    declaration: Any = tables.declaration
    if sections.default_profile().get(section) is declaration:
        declaration = section
    return DerivedResponse(declaration, tables._prefix, arrow_tables, statement_rows)


class TableBuffer:
    """A buffer of table rows that were made from responses and are not written yet."""

    def __init__(self) -> None:
        self._responses: list[ArchivedResponse] = []
        self._tables: dict[str, list[tuple[pa.Table, int]]] = {}
        self._statement_rows: list[tuple[int, str, tuple[Any, ...]]] = []
        self.declared_tables: dict[str, StoredTable] = {}
        self.size = 0

    def __len__(self) -> int:
        return len(self._responses)

    def add(self, response: ArchivedResponse, derived_response: DerivedResponse) -> None:
        """Add the rows of the tables that were made from a response."""
        response_number = len(self)
        self._responses.append(replace(response, body=None))  # bodies are stored by now
        self._statement_rows += ((response_number, *row) for row in derived_response.statement_rows)
        declaration = derived_response.declaration
        section = sections.get(declaration) if isinstance(declaration, str) else declaration
        for table in section.tables:
            stored_table = StoredTable(section.name, table, derived_response.prefix)
            self.declared_tables[stored_table.name] = stored_table
            if table.name in derived_response.tables:
                arrow_table = derived_response.tables[table.name]
                self._tables.setdefault(stored_table.name, []).append(
                    (arrow_table, response_number)
                )
                self.size += arrow_table.nbytes

    def rows(self, name: str, schema: pa.Schema) -> pa.Table | None:
        """Return the buffered rows of a table as an Arrow table of this schema, or None."""
        numbered_tables = self._tables.get(name, [])
        if not numbered_tables:
            return None
        tables = [table for table, _ in numbered_tables]
        if all(table.schema.equals(tables[0].schema) for table in tables):
            tables = [pa.concat_tables(tables)]
        stored_name = self.declared_tables[name].stored_name
        row_schema = pa.schema([field for field in schema if field.name not in CONTEXT])
        converted_table = pa.concat_tables(
            fit_to_schema(table.rename_columns([*map(stored_name, table.column_names)]), row_schema)
            for table in tables
        )
        response_numbers = np.repeat(
            [number for _, number in numbered_tables],
            [table.num_rows for table, _ in numbered_tables],
        )
        return self._with_context(response_numbers, converted_table).select(schema.names)

    def statement_tables(self) -> Iterator[tuple[str, pa.Table]]:
        """Yield the names and the rows of the tables ``frames`` and ``availability``."""
        for name, row_schema in STATEMENT_SCHEMAS.items():
            numbered_rows = [
                (number, row) for number, table, row in self._statement_rows if table == name
            ]
            rows = [dict(zip(row_schema.names, row, strict=True)) for _, row in numbered_rows]
            response_numbers = [number for number, _ in numbered_rows]
            yield name, self._with_context(response_numbers, pa.Table.from_pylist(rows, row_schema))

    def leave_out(self, stored_table: StoredTable) -> None:
        """Delete the entries about a table from ``frames``, as it could not be stored."""
        left_out = FRAMES, stored_table.section, stored_table.table.name
        self._statement_rows = [
            row for row in self._statement_rows if (row[1], *row[2][:2]) != left_out
        ]

    def _with_context(self, response_numbers: Any, rows: pa.Table) -> pa.Table:
        """Put the columns ``host``, ``fetched_at`` and so on in front of the rows of a table.

        ``response_numbers`` has one number per row: the position of its response in the buffer.
        """
        contexts = [response.context for response in self._responses]
        context_table = pa.Table.from_pylist(contexts, CONTEXT_FIELDS)
        context_rows = context_table.take(pa.array(response_numbers, "int64"))
        column_names = [*context_rows.column_names, *rows.column_names]
        return pa.table([*context_rows.columns, *rows.columns], column_names)


# -- one run -------------------------------------------------------------------------------------

FLUSH_BYTES = 1 << 27
"""The size of rows in memory at which they are written."""

FLUSH_RESPONSES = 6_000
"""The number of responses in memory at which their rows are written."""

Derive = Callable[[Sequence[ArchivedResponse]], list[DerivedResponse]]


class _DuplicateResponses(Exception):
    """Raised if another process has added some of the same responses at the same time."""

    def __init__(self, response_keys: set[ResponseKey]) -> None:
        super().__init__()
        self.response_keys = response_keys


class RunWriter:
    """Writes the responses and tables of one run (one call of `Archive.add`), and commits it.

    ``derive`` is a function that converts responses to tables.
    """

    def __init__(self, store: ArchiveStore, index: ResponseIndex, derive: Derive) -> None:
        self.store, self._derive = store, derive
        self.problems: dict[str, AAToolkitError] = {}
        self._buffer = TableBuffer()
        self._tables: dict[str, Any] = {}
        self._restart(index)

    def _restart(self, index: ResponseIndex) -> None:
        self.run, self.index = new_run(), index
        self.responses = self.failed = 0
        # What was committed since the index was read may hold the same responses.
        self._last_log, self._log_at_begin = index.runs, RunLog([])
        self._has_begun = False

    def put(self, responses: Iterable[ArchivedResponse]) -> list[ArchivedResponse]:
        """Store the responses that are new to the archive, and return them."""
        new_responses, stored_responses = [], []
        for response in responses:
            if not self.index.has(response):
                new_responses.append(replace(response, run=self.run))
                has_stored_body = response.error is None and self.index.has_body(response)
                body = None if has_stored_body else response.body
                stored_responses.append(replace(new_responses[-1], body=body))
                self.index.add(stored_responses[-1])
        if stored_responses and not self._has_begun:
            log(self.store, self.run, "begun", check=self._check_begin)
            self._has_begun = True
        if stored_responses:
            self.store.append(self._table(RESPONSES), to_arrow(stored_responses))
        failed_count = sum(response.error is not None for response in stored_responses)
        self.failed += failed_count
        self.responses += len(stored_responses) - failed_count
        return new_responses

    def _check_begin(self, runs: RunLog) -> None:
        if runs.rebuilding:
            raise ArchiveError(
                "the tables are being made anew, or that was interrupted; wait, or run "
                "archive.rebuild() again",
                path=self.store.root,
            )
        self._log_at_begin = runs

    def take(self, pairs: Iterable[tuple[ArchivedResponse, DerivedResponse]]) -> None:
        """Buffer the rows of tables made from responses; write the buffer if it is large."""
        for response, derived_response in pairs:
            if derived_response.error is None:
                self._buffer.add(response, derived_response)
            else:
                self.problems[response.name] = derived_response.error
        if self._buffer.size > FLUSH_BYTES or len(self._buffer) > FLUSH_RESPONSES:
            self.flush()
            log(self.store, self.run, "alive")

    def flush(self) -> None:
        """Write all buffered rows to the Delta tables."""
        buffer, self._buffer = self._buffer, TableBuffer()
        new_tables = (
            table for name, table in buffer.declared_tables.items() if name not in self._tables
        )
        # Before the tables are created: the archive lists tables by these rows.
        schema.record_new_tables(self.store, new_tables)
        for name, stored_table in buffer.declared_tables.items():
            try:
                table: Any = self._tables.get(name)
                names = set() if table is None else {field.name for field in table.schema().fields}
                if not {*stored_table.schema().names} <= names:
                    table = self._tables[name] = retry(
                        partial(schema.create_or_extend, self.store, stored_table)
                    )
                rows = buffer.rows(name, pa.schema(table.schema().to_arrow()))
            except ArchiveConflict:
                raise
            except ArchiveError as error:
                self.problems[name] = error
                buffer.leave_out(stored_table)
                continue
            if rows is not None:
                self.store.append(table, rows)
        for name, rows in buffer.statement_tables():
            self.store.append(self._table(name), rows)

    def commit(self) -> str | None:
        """Make the rows of this run visible to readers.

        Returns the name of the run; None if nothing was new.
        """
        if not self._has_begun:
            return None
        self.flush()
        changes_table = self.store.peek(schema.CHANGES)
        add_checksums(self.store, {**self._tables, schema.CHANGES: changes_table}, [self.run])
        try:
            log(
                self.store,
                self.run,
                "committed",
                check=self._check_commit,
                responses=self.responses,
                failed=self.failed,
            )
        except _DuplicateResponses as error:
            committed_keys = error.response_keys
        else:
            add_checksums(self.store, {RUNS: self.store.peek(RUNS)})
            return self.run
        # The run is written again under another name, without the responses of others.
        old_run = self.run
        self._restart(ResponseIndex(self.store))
        snapshot = Snapshot(self.store, self._last_log.committed | {old_run})
        for group in read_groups(snapshot, sql_in("run", [old_run])):
            new_responses = self.put(
                response for response in group if response.key not in committed_keys
            )
            usable_responses = [response for response in new_responses if response.error is None]
            self.take(zip(usable_responses, self._derive(usable_responses), strict=True))
        return self.commit()

    def _check_commit(self, runs: RunLog) -> None:
        """Raise an error if another process changed the archive during this run."""
        if self.run in runs.removing:
            raise ArchiveConflict(
                "this run gave no sign for so long that it was taken for dead and removed; add "
                "again",
                path=self.store.root,
            )
        earlier_entries = {(row["run"], row["state"]) for row in self._log_at_begin.rows}
        new_states = {
            row["state"] for row in runs.rows if (row["run"], row["state"]) not in earlier_entries
        }
        if new_states & {"forgotten", "rebuilding", "rebuilt"}:
            raise ArchiveConflict(
                "responses were removed from the archive, or its tables made anew, while others "
                "were added to it; add again, which continues where this ended",
                path=self.store.root,
            )
        new_runs = runs.committed - self._last_log.committed
        if new_runs:
            committed_keys = self._response_keys(new_runs)
            if committed_keys & self._response_keys(frozenset({self.run})):
                raise _DuplicateResponses(committed_keys)
            self._last_log = runs

    def _response_keys(self, runs: frozenset[str]) -> set[ResponseKey]:
        """Return the keys (host, section, filters, time, hash) of the responses of some runs."""
        rows = Snapshot(self.store, runs).rows(
            "SELECT host, section, scope, fetched_at, sha256 FROM responses "
            f"WHERE {USABLE} AND {sql_in('run', runs)}",
            RESPONSES,
        )
        return {tuple(row.values()) for row in rows}

    def _table(self, name: str) -> Any:
        if name not in self._tables:
            self._tables[name] = retry(lambda: self.store.create(name, OWN_SCHEMAS[name]))
        return self._tables[name]
