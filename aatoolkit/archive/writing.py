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
    USABLE_SQL,
    ArchivedResponse,
    ResponseIndex,
    ResponseKey,
    read_response_groups,
    responses_to_arrow,
)
from aatoolkit.archive.schema import (
    CONTEXT_COLUMNS,
    CONTEXT_SCHEMA,
    FRAMES_TABLE,
    RESPONSES_TABLE,
    STATEMENT_ROW_SCHEMAS,
    SYSTEM_SCHEMAS,
    StoredTable,
    fit_to_schema,
)
from aatoolkit.archive.snapshot import Snapshot, make_in_condition
from aatoolkit.archive.store import (
    RUNS_TABLE,
    ArchiveStore,
    RunLog,
    add_checksums,
    log_run_state,
    new_run_name,
    retry_on_conflict,
)
from aatoolkit.availability import Status
from aatoolkit.client.reading import ReadingOptions
from aatoolkit.errors import AAToolkitError, ArchiveConflict, ArchiveError
from aatoolkit.jsontree.decode import gc_paused
from aatoolkit.metadata.attrs import FrameMetadata
from aatoolkit.normalizer.column_availability import list_signal_rows
from aatoolkit.payload import Payload
from aatoolkit.sections import Section

# -- responses to rows ---------------------------------------------------------------------------


@dataclass(frozen=True)
class DerivedResponse:
    """The tables made from one response, or the error if it could not be converted.

    Parameters
    ----------
    declaration : Section or str
        The declaration of the section with its tables and columns; or the name of the section if
        this package declares it.
    prefix : str
        A text before the names of tables in the metadata of DataFrames.
    tables : mapping of str to pyarrow.Table
        The tables by name. Tables without rows are left out.
    statement_rows : list of (str, tuple)
        Pairs of the name of one of the archive's own tables, ``frames`` or ``availability``, and a
        row for it. These rows say what the response could measure.
    error : AAToolkitError, optional
        The error, if there are no tables.
    """

    declaration: Section | str
    prefix: str = ""
    tables: Mapping[str, pa.Table] = field(default_factory=dict)
    statement_rows: list[tuple[str, tuple[Any, ...]]] = field(default_factory=list)
    error: AAToolkitError | None = None


@gc_paused()
def derive_responses(
    payloads: Sequence[Payload], reading_options: ReadingOptions
) -> list[DerivedResponse]:
    """Convert responses to tables; return a `DerivedResponse` (tables or error) for each."""
    return [_derive_response(payload, reading_options) for payload in payloads]


def _derive_response(payload: Payload, reading_options: ReadingOptions) -> DerivedResponse:
    try:
        section_tables = reading_options.tables(str(payload.section), payload)
        if section_tables.drafted:
            raise ArchiveError(
                f"the tables of {section_tables.section} were inferred from this response, and "
                "another may give others: draft a profile, and make them by "
                "archive.rebuild(profile=…)"
            )
    except AAToolkitError as error:
        return DerivedResponse(payload.section or "", error=error)
    section_name = section_tables.section
    built_tables = section_tables._origin.built_tables
    statement_rows = [
        ("availability", (section_name, *row))
        for row in list_signal_rows(section_tables._origin.signals)
    ]
    for table_name, built_table in built_tables.items():
        column_metadata = built_table.metadata.columns.values()
        # Rows that a response lacks were withdrawn only if it could measure all of them.
        is_complete = not any(column.statements for column in column_metadata) and 2 * sum(
            column.availability.status == Status.AVAILABLE for column in column_metadata
        ) > len(column_metadata)
        metadata_json = FrameMetadata(built_table.metadata.columns).dumps()
        statement_rows.append(
            (
                FRAMES_TABLE,
                (section_name, table_name, metadata_json, is_complete, built_table.row_count),
            )
        )
    arrow_table_by_name = {
        table_name: built_table.arrow_table
        for table_name, built_table in built_tables.items()
        if built_table.row_count
    }
    section_declaration: Any = section_tables.declaration
    if sections.default_profile().get(section_name) is section_declaration:
        section_declaration = section_name
    return DerivedResponse(
        section_declaration, section_tables._prefix, arrow_table_by_name, statement_rows
    )


class TableBuffer:
    """Table rows that were made from responses, and are not written to the archive yet."""

    def __init__(self) -> None:
        self._responses: list[ArchivedResponse] = []
        self._tables_and_positions: dict[str, list[tuple[pa.Table, int]]] = {}
        self._statement_rows: list[tuple[int, str, tuple[Any, ...]]] = []
        self.table_by_path: dict[str, StoredTable] = {}
        self.byte_count = 0

    def __len__(self) -> int:
        return len(self._responses)

    def add(self, response: ArchivedResponse, derived_response: DerivedResponse) -> None:
        """Add the rows of the tables that were made from a response.

        ``derived_response`` has these tables.
        """
        response_position = len(self)
        self._responses.append(replace(response, body=None))  # bodies are stored by now
        self._statement_rows += (
            (response_position, *row) for row in derived_response.statement_rows
        )
        declaration = derived_response.declaration
        section = sections.get(declaration) if isinstance(declaration, str) else declaration
        for table in section.tables:
            stored_table = StoredTable(section.name, table, derived_response.prefix)
            self.table_by_path[stored_table.path] = stored_table
            if table.name in derived_response.tables:
                arrow_table = derived_response.tables[table.name]
                self._tables_and_positions.setdefault(stored_table.path, []).append(
                    (arrow_table, response_position)
                )
                self.byte_count += arrow_table.nbytes

    def table_rows(self, table_path: str, table_schema: pa.Schema) -> pa.Table | None:
        """Return the buffered rows of a table as an Arrow table; None if there are none.

        ``table_schema`` has the columns that the table has in the archive.
        """
        tables_and_positions = self._tables_and_positions.get(table_path, [])
        if not tables_and_positions:
            return None
        arrow_tables = [arrow_table for arrow_table, _ in tables_and_positions]
        to_stored_name = self.table_by_path[table_path].stored_name
        row_schema = pa.schema(
            [field for field in table_schema if field.name not in CONTEXT_COLUMNS]
        )
        converted_table = pa.concat_tables(
            fit_to_schema(
                arrow_table.rename_columns([*map(to_stored_name, arrow_table.column_names)]),
                row_schema,
            )
            for arrow_table in arrow_tables
        )
        response_positions = np.repeat(
            [position for _, position in tables_and_positions],
            [arrow_table.num_rows for arrow_table, _ in tables_and_positions],
        )
        return self._prepend_context_columns(response_positions, converted_table).select(
            table_schema.names
        )

    def statement_tables(self) -> Iterator[tuple[str, pa.Table]]:
        """Yield the name and the buffered rows of the tables ``frames`` and ``availability``."""
        for table_name, row_schema in STATEMENT_ROW_SCHEMAS.items():
            positions_and_rows = [
                (position, row_values)
                for position, statement_table, row_values in self._statement_rows
                if statement_table == table_name
            ]
            row_dicts = [
                dict(zip(row_schema.names, row_values, strict=True))
                for _, row_values in positions_and_rows
            ]
            response_positions = [position for position, _ in positions_and_rows]
            yield (
                table_name,
                self._prepend_context_columns(
                    response_positions, pa.Table.from_pylist(row_dicts, row_schema)
                ),
            )

    def drop_statement_rows(self, stored_table: StoredTable) -> None:
        """Delete the buffered rows of ``frames`` about a table, as it could not be stored."""
        dropped_row_key = FRAMES_TABLE, stored_table.section, stored_table.table.name
        self._statement_rows = [
            statement_row
            for statement_row in self._statement_rows
            if (statement_row[1], *statement_row[2][:2]) != dropped_row_key
        ]

    def _prepend_context_columns(self, response_positions: Any, arrow_rows: pa.Table) -> pa.Table:
        """Return rows of a table, with the columns ``host``, ``fetched_at`` and so on in front.

        ``response_positions`` says for each row which response in the buffer it was made from.
        """
        context_dicts = [response.context_value_by_column for response in self._responses]
        context_table = pa.Table.from_pylist(context_dicts, CONTEXT_SCHEMA)
        context_rows = context_table.take(pa.array(response_positions, "int64"))
        column_names = [*context_rows.column_names, *arrow_rows.column_names]
        return pa.table([*context_rows.columns, *arrow_rows.columns], column_names)


# -- one run -------------------------------------------------------------------------------------

MAX_BUFFER_BYTES = 1 << 27
"""The size of buffered rows in memory at which they are written."""

MAX_BUFFERED_RESPONSES = 6_000
"""The number of responses in the buffer at which their rows are written."""

DeriveFunction = Callable[[Sequence[ArchivedResponse]], list[DerivedResponse]]


class _DuplicateResponses(Exception):
    """Raised if another process has added some of the same responses at the same time.

    ``response_keys`` identify all responses that others have added.
    """

    def __init__(self, response_keys: set[ResponseKey]) -> None:
        super().__init__()
        self.response_keys = response_keys


class RunWriter:
    """Writes the responses and tables of one run (one call of `Archive.add`), and commits it.

    ``response_index`` tells which responses the archive has already. ``derive_tables`` converts
    responses to tables.
    """

    def __init__(
        self, store: ArchiveStore, response_index: ResponseIndex, derive_tables: DeriveFunction
    ) -> None:
        self.store = store
        self._derive_tables = derive_tables
        self.error_by_name: dict[str, AAToolkitError] = {}
        self._buffer = TableBuffer()
        self._delta_table_by_path: dict[str, Any] = {}
        self._start_run(response_index)

    def _start_run(self, response_index: ResponseIndex) -> None:
        """Begin a run (one call of `Archive.add`) with a new name, and without responses."""
        self.run_name = new_run_name()
        self.response_index = response_index
        self.response_count = self.failed_count = 0
        # What was committed since the index was read may hold the same responses.
        self._last_run_log = response_index.run_log
        self._run_log_at_begin = RunLog([])
        self._has_begun = False

    def store_responses(self, responses: Iterable[ArchivedResponse]) -> list[ArchivedResponse]:
        """Store the responses that are new to the archive, and return them."""
        new_responses = []
        stored_responses = []
        for response in responses:
            if not self.response_index.has_response(response):
                new_responses.append(replace(response, run=self.run_name))
                has_stored_body = response.error is None and self.response_index.has_body(response)
                body = None if has_stored_body else response.body
                stored_responses.append(replace(new_responses[-1], body=body))
                self.response_index.add_response(stored_responses[-1])
        if stored_responses and not self._has_begun:
            log_run_state(self.store, self.run_name, "begun", check_log=self._check_before_begin)
            self._has_begun = True
        if stored_responses:
            self.store.append_rows(
                self._open_system_table(RESPONSES_TABLE), responses_to_arrow(stored_responses)
            )
        failed_count = sum(response.error is not None for response in stored_responses)
        self.failed_count += failed_count
        self.response_count += len(stored_responses) - failed_count
        return new_responses

    def _check_before_begin(self, run_log: RunLog) -> None:
        """Raise `ArchiveError` if the tables are being rebuilt; else remember the log of runs."""
        if run_log.rebuilding_run_names:
            raise ArchiveError(
                "the tables are being made anew, or that was interrupted; wait, or run "
                "archive.rebuild() again",
                path=self.store.root,
            )
        self._run_log_at_begin = run_log

    def buffer_tables(
        self, responses_and_tables: Iterable[tuple[ArchivedResponse, DerivedResponse]]
    ) -> None:
        """Buffer the rows of tables made from responses; write the buffer if it is large."""
        for response, derived_response in responses_and_tables:
            if derived_response.error is None:
                self._buffer.add(response, derived_response)
            else:
                self.error_by_name[response.name] = derived_response.error
        if self._buffer.byte_count > MAX_BUFFER_BYTES or len(self._buffer) > MAX_BUFFERED_RESPONSES:
            self.flush()
            log_run_state(self.store, self.run_name, "alive")

    def flush(self) -> None:
        """Write all buffered rows to the Delta tables."""
        table_buffer = self._buffer
        self._buffer = TableBuffer()
        new_tables = (
            stored_table
            for table_path, stored_table in table_buffer.table_by_path.items()
            if table_path not in self._delta_table_by_path
        )
        # Before the tables are created: the archive lists tables by these rows.
        schema.record_new_tables(self.store, new_tables)
        for table_path, stored_table in table_buffer.table_by_path.items():
            try:
                delta_table: Any = self._delta_table_by_path.get(table_path)
                stored_column_names = (
                    set()
                    if delta_table is None
                    else {field.name for field in delta_table.schema().fields}
                )
                if not {*stored_table.schema().names} <= stored_column_names:
                    delta_table = self._delta_table_by_path[table_path] = retry_on_conflict(
                        partial(schema.create_or_extend_table, self.store, stored_table)
                    )
                new_rows = table_buffer.table_rows(
                    table_path, pa.schema(delta_table.schema().to_arrow())
                )
            except ArchiveConflict:
                raise
            except ArchiveError as error:
                self.error_by_name[table_path] = error
                table_buffer.drop_statement_rows(stored_table)
                continue
            if new_rows is not None:
                self.store.append_rows(delta_table, new_rows)
        for table_path, new_rows in table_buffer.statement_tables():
            self.store.append_rows(self._open_system_table(table_path), new_rows)

    def commit(self) -> str | None:
        """Make the rows of this run visible to readers.

        Return the name of the run; None if it stored no response.
        """
        if not self._has_begun:
            return None
        self.flush()
        changes_table = self.store.cached_table(schema.CHANGES_TABLE)
        add_checksums(
            self.store,
            {**self._delta_table_by_path, schema.CHANGES_TABLE: changes_table},
            [self.run_name],
        )
        try:
            log_run_state(
                self.store,
                self.run_name,
                "committed",
                check_log=self._check_before_commit,
                responses=self.response_count,
                failed=self.failed_count,
            )
        except _DuplicateResponses as error:
            committed_response_keys = error.response_keys
        else:
            add_checksums(self.store, {RUNS_TABLE: self.store.cached_table(RUNS_TABLE)})
            return self.run_name
        # The run is written again under another name, without the responses of others.
        old_run_name = self.run_name
        self._start_run(ResponseIndex(self.store))
        snapshot = Snapshot(self.store, self._last_run_log.committed_run_names | {old_run_name})
        for response_group in read_response_groups(
            snapshot, make_in_condition("run", [old_run_name])
        ):
            new_responses = self.store_responses(
                response
                for response in response_group
                if response.response_key not in committed_response_keys
            )
            usable_responses = [response for response in new_responses if response.error is None]
            self.buffer_tables(
                zip(usable_responses, self._derive_tables(usable_responses), strict=True)
            )
        return self.commit()

    def _check_before_commit(self, run_log: RunLog) -> None:
        """Raise an error if another process changed the archive during this run."""
        if self.run_name in run_log.removed_run_names:
            raise ArchiveConflict(
                "this run gave no sign for so long that it was taken for dead and removed; add "
                "again",
                path=self.store.root,
            )
        earlier_runs_and_states = {
            (log_row["run"], log_row["state"]) for log_row in self._run_log_at_begin.log_rows
        }
        later_states = {
            log_row["state"]
            for log_row in run_log.log_rows
            if (log_row["run"], log_row["state"]) not in earlier_runs_and_states
        }
        if later_states & {"forgotten", "rebuilding", "rebuilt"}:
            raise ArchiveConflict(
                "responses were removed from the archive, or its tables made anew, while others "
                "were added to it; add again, which continues where this ended",
                path=self.store.root,
            )
        new_run_names = run_log.committed_run_names - self._last_run_log.committed_run_names
        if new_run_names:
            committed_response_keys = self._read_response_keys(new_run_names)
            if committed_response_keys & self._read_response_keys(frozenset({self.run_name})):
                raise _DuplicateResponses(committed_response_keys)
            self._last_run_log = run_log

    def _read_response_keys(self, run_names: frozenset[str]) -> set[ResponseKey]:
        """Return the keys (host, section, filters, time, hash) of the responses of some runs."""
        response_rows = Snapshot(self.store, run_names).query_rows(
            "SELECT host, section, scope, fetched_at, sha256 FROM responses "
            f"WHERE {USABLE_SQL} AND {make_in_condition('run', run_names)}",
            RESPONSES_TABLE,
        )
        return {tuple(response_row.values()) for response_row in response_rows}

    def _open_system_table(self, table_path: str) -> Any:
        """Return the Delta table ``table_path``, such as ``responses``, which every archive has."""
        if table_path not in self._delta_table_by_path:
            self._delta_table_by_path[table_path] = retry_on_conflict(
                lambda: self.store.open_or_create(table_path, SYSTEM_SCHEMAS[table_path])
            )
        return self._delta_table_by_path[table_path]
