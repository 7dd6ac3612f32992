"""The tables against the responses that they are made of: verify them, and make them anew."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from aatoolkit._util.text import visible
from aatoolkit.archive.checksums import FOLDER, Checksums, note_all, strays
from aatoolkit.archive.derive import BESIDE, FRAMES, DerivedResponse, TableBuffer, derive
from aatoolkit.archive.responses import RESPONSES, USABLE, ArchivedResponse, groups_of
from aatoolkit.archive.runs import RUNS, log, new_run, read_runs
from aatoolkit.archive.schema import (
    CHANGES,
    Change,
    StoredTable,
    declaration_of,
    differences,
    prepare,
    record,
    stored_tables,
)
from aatoolkit.archive.snapshot import Snapshot, identifier
from aatoolkit.archive.store import ArchiveStore, engine, written
from aatoolkit.archive.upkeep import all_tables
from aatoolkit.client.reading import progress_bar
from aatoolkit.errors import AAToolkitError, ArchiveConflict, ArchiveError
from aatoolkit.scope import FILTERS
from aatoolkit.sections import Profile

if TYPE_CHECKING:
    import pandas as pd

_PLACE = ("run", "host", "days", *(f"filter_{name}" for name in FILTERS), "fetched_at")
_LISTED = 20
_AT_ONCE = 2000
_SPOOL_BYTES = 1 << 27

Problem = tuple[str, str]
"""The table concerned, and what is wrong."""

# -- verify ------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class ArchiveCheck:
    """The result of verifying an archive; true if nothing is wrong.

    Attributes
    ----------
    path : str
        The archive.
    responses, tables : int
        How many were checked.
    found : tuple of (str, str)
        The table concerned, and what is wrong.
    unchecked : int
        The files without a checksum, such as those of a compaction that was interrupted;
        `Archive.compact` records them as they are.
    unused : int
        The data files that no commit names: replaced ones, and what an interrupted write left. No
        reader sees them, and `Archive.compact` removes them in time. Any other file that is of no
        table is a problem.
    """

    path: str
    responses: int
    tables: int
    found: tuple[Problem, ...]
    unchecked: int = 0
    unused: int = 0

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.found

    def __bool__(self) -> bool:
        return self.ok

    @property
    def problems(self) -> pd.DataFrame:
        """One row per problem: ``table``, ``problem``."""
        import pandas as pd

        return pd.DataFrame(self.found, columns=["table", "problem"], dtype="string")

    def __repr__(self) -> str:
        state = "all as stored" if self.ok else f"{len(self.found)} problems"
        if self.unchecked:
            state += f"; {self.unchecked:,} files have no checksum, which compact() records"
        if self.unused:
            state += f"; {self.unused:,} files are in no commit, and compact() removes them in time"
        lines = [f"<ArchiveCheck: {self.responses:,} responses, {self.tables} tables: {state}>"]
        lines += [visible(f"  {name}: {problem}") for name, problem in self.found[:_LISTED]]
        return "\n".join(lines)


def verify(
    store: ArchiveStore, profile: Profile | None, max_nodes: int, *, replay: bool
) -> ArchiveCheck:
    """Check every file, response and table; with ``replay``, also that these give the rows."""
    checksums = Checksums(store, anew=True)
    problems = [(FOLDER, f"the file {name} is not what was written") for name in checksums.damaged]
    # Files are compared before any is read as a table, which damage would end.
    names = dict.fromkeys((RUNS, CHANGES, RESPONSES, *BESIDE, *checksums.files))
    problems += [(name, problem) for name in names for problem in checksums.problems(name)]
    responses = unused = 0
    if not problems:
        snapshot = Snapshot(store)
        if not snapshot.exists:
            raise ArchiveError(f"there is no archive at {store.root} yet", path=store.root)
        for name in stored_tables(store).keys() - names.keys():
            names[name] = None
            problems += [(name, problem) for problem in checksums.problems(name)]
        lost = snapshot.runs.committed - checksums.runs
        if lost:
            problem = f"those of {len(lost)} runs are gone; compact() records files as they are"
            problems.append((FOLDER, problem))
        if snapshot.runs.rebuilding:
            problems.append((RUNS, "a rebuild was interrupted; run archive.rebuild() again"))
        strange, unused = strays(store, all_tables(store))
        for path in strange:
            folder, _, name = path.rpartition("/")
            problems.append((folder, f"the file {name} is of no table; take it away"))
    if not problems and snapshot.has(RESPONSES):
        try:
            responses, problems = _responses(snapshot)
            problems = problems or [*_counts(snapshot)]
            if replay and not problems:
                problems = _replayed(snapshot, profile, max_nodes)
        except ArchiveError as error:
            problems.append(("archive", error.message))
    counts = (len(names) - 2, tuple(problems), checksums.unchecked, unused)
    return ArchiveCheck(store.root, responses, *counts)


def _responses(snapshot: Snapshot) -> tuple[int, list[Problem]]:
    """Check every body against its hash, and that no response is there twice."""
    count, problems = 0, []
    for group in groups_of(snapshot):
        count += len(group)
        for row in group:
            try:
                row.payload()
            except ArchiveError as error:
                problems.append((RESPONSES, error.message))
    twice = snapshot.rows(
        f"SELECT host, section, scope, fetched_at, count(*) AS n FROM responses WHERE {USABLE} "
        "GROUP BY host, section, scope, fetched_at, sha256 HAVING n > 1",
        RESPONSES,
    )
    for facts in twice:
        *place, times = map(str, facts.values())
        problems.append((RESPONSES, f"{' '.join(place)}: it is there {times} times"))
    return count, problems


def _counts(snapshot: Snapshot) -> Iterator[Problem]:
    """Compare the number of rows of each table with what its responses gave."""
    place = ", ".join(_PLACE)
    same = " AND ".join(f"f.{column} IS NOT DISTINCT FROM t.{column}" for column in _PLACE)
    tables = stored_tables(snapshot.store).items() if snapshot.has(FRAMES) else ()
    for name, values in tables:
        rows = snapshot.rows(
            f"WITH f AS (SELECT {place}, sum(rows) AS n FROM frames WHERE rows > 0 AND "
            'section = $1 AND "table" = $2 GROUP BY ALL), '
            f"t AS (SELECT {place}, count(*) AS n FROM stored GROUP BY ALL) "
            "SELECT coalesce(f.host, t.host) AS host, coalesce(f.n, 0) AS wanted, "
            f"coalesce(t.n, 0) AS there FROM f FULL JOIN t ON {same} "
            f"WHERE f.n IS DISTINCT FROM t.n LIMIT {_LISTED}",
            FRAMES,
            values=[*values],
            stored=name,
        )
        for row in rows:
            yield name, f"{row['host']}: {row['there']} rows, its responses gave {row['wanted']}"


def _replayed(snapshot: Snapshot, profile: Profile | None, max_nodes: int) -> list[Problem]:
    """Derive the tables again from the responses, and compare them with the rows stored."""
    problems: list[Problem] = []
    buffer = TableBuffer()
    for row, derived in derive_stored(groups_of(snapshot), profile, max_nodes):
        if derived.error is None:
            buffer.add(row, derived)
        if len(buffer) > _AT_ONCE:
            problems += _compared(snapshot, buffer)
            buffer = TableBuffer()
    return [*problems, *_compared(snapshot, buffer)]


def _compared(snapshot: Snapshot, buffer: TableBuffer) -> Iterator[Problem]:
    """Yield the tables in which a derived row is missing; surplus rows show in the counts."""
    for name in buffer.declared:
        table = buffer.rows(name, declaration_of(snapshot.store, name).schema())
        if table is None:
            continue
        names = ", ".join(map(identifier, table.column_names))
        sql = (
            f"SELECT host FROM (SELECT {names} FROM derived EXCEPT ALL "
            f"SELECT {names} FROM stored SEMI JOIN derived USING (run, host))"
        )
        hosts = snapshot.query(sql, stored=name, derived=table)["host"].to_pylist()
        if hosts:
            place = ", ".join(sorted({*hosts})[:3])
            yield name, f"{place}: {len(hosts)} rows are others; rebuild()"


def derive_stored(
    groups: Iterable[Sequence[ArchivedResponse]], profile: Profile | None, max_nodes: int
) -> Iterator[tuple[ArchivedResponse, DerivedResponse]]:
    """Yield stored responses, grouped by host, scope and run, each with what is derived of it."""
    for group in groups:
        payloads = []
        for row in group:
            try:
                payloads.append((row, row.payload()))
            except ArchiveError as error:
                yield row, DerivedResponse(None, error=error)
        derived = derive([payload for _, payload in payloads], profile, max_nodes)
        yield from zip((row for row, _ in payloads), derived, strict=True)


# -- rebuild -----------------------------------------------------------------------------------


def rebuild(
    store: ArchiveStore, profile: Profile | None, max_nodes: int, progress: bool | None
) -> dict[str, AAToolkitError]:
    """Replace the rows of every table by those derived of the responses today.

    Each table changes in one commit. Until all have, nothing can be added; a rebuild that was
    interrupted is done again, and so ended. Returns the responses that give no tables, and why.
    """
    before = read_runs(store)[0]
    name = new_run()
    log(store, name, "rebuilding", note={})
    problems: dict[str, AAToolkitError] = {}
    tables: dict[str, StoredTable] = {}
    files: dict[str, list[Path]] = {}
    with tempfile.TemporaryDirectory(prefix="aatoolkit-") as folder:
        buffer = TableBuffer()

        def spool() -> None:
            tables.update(buffer.declared)
            rows = [(name, buffer.rows(name, t.schema())) for name, t in buffer.declared.items()]
            for name, part in (*rows, *buffer.beside()):
                if part is not None:
                    paths = files.setdefault(name, [])
                    paths.append(Path(folder, f"{len(files)}-{len(paths)}.parquet"))
                    pq.write_table(part, paths[-1], compression="zstd")

        watched = progress_bar(groups_of(Snapshot(store)), progress, total=0, unit="host")
        for row, derived in derive_stored(watched, profile, max_nodes):
            if derived.error is not None:
                problems[row.name] = derived.error
                continue
            buffer.add(row, derived)
            if buffer.size > _SPOOL_BYTES or len(buffer) >= _AT_ONCE:
                spool()
                buffer = TableBuffer()
        spool()
        if name not in read_runs(store)[0].rebuilding:
            raise ArchiveConflict(
                "the tables were made anew by another process meanwhile; nothing is left to do",
                path=store.root,
            )
        _replace(store, tables, files)
    for run in (*sorted(before.rebuilding), name):
        log(store, run, "rebuilt", note={})
    whole = all_tables(store)
    note_all(store, whole, anew={*whole} - {RESPONSES, RUNS})
    return problems


def _replace(
    store: ArchiveStore, tables: Mapping[str, StoredTable], files: Mapping[str, Sequence[Path]]
) -> None:
    """Replace the rows that are there, table by table."""
    there = stored_tables(store)
    changes: list[Change] = []
    for name, table in tables.items():
        with contextlib.suppress(ArchiveError):  # metadata that is damaged is made anew
            changes += _changes(declaration_of(store, name), table) if name in there else ()
        prepare(store, [table])
        facts = table.configuration()
        delta = store.create(name, table.schema(), description=table.table.doc, configuration=facts)
        _overwrite(store, name, delta, table.schema(), files.get(name, ()))
        with store.errors(name):
            delta.update_incremental()
            delta.alter.set_table_properties(facts, raise_if_not_exists=False)
    for name, (section, short) in there.items():
        delta = None if name in tables else store.open(name)
        if delta is not None:
            with store.errors(name):
                delta.delete()
        if name not in tables:
            changes.append((section, short, None, "no longer declared", None, None))
    for name, schema in BESIDE.items():
        _overwrite(store, name, store.create(name, schema), schema, files.get(name, ()))
    record(store, changes)


def _overwrite(
    store: ArchiveStore, name: str, delta: Any, schema: pa.Schema, files: Sequence[Path]
) -> None:
    """Replace the rows of a table in one commit."""
    how: dict[str, Any] = {"schema_mode": "overwrite", "writer_properties": written()}
    with store.errors(name):
        rows: Any = schema.empty_table()
        if files:
            rows = ds.dataset([*map(str, files)], schema=schema).scanner().to_reader()
        else:
            delta.delete()  # what has no rows would leave the old ones
        engine().write_deltalake(delta, rows, mode="overwrite", **how)


def _changes(old: StoredTable, new: StoredTable) -> Iterator[Change]:
    place = (new.section, new.table.name)
    for what, before, after in differences(old.table, new.table):
        column, _, fact = what.partition(": ")
        yield *place, column, f"changed {fact or what}", before, after
    for name in new.columns.keys() - old.columns.keys():
        yield *place, name, "new column", None, new.columns[name].dtype
    for name in old.columns.keys() - new.columns.keys():
        yield *place, name, "no longer declared", old.columns[name].dtype, None
