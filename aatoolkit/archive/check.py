"""Verify an archive: every file, every response against its hash, every table against these."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aatoolkit._util.text import visible
from aatoolkit.archive import tables as declared
from aatoolkit.archive.archived import RESPONSES, USABLE, groups_of
from aatoolkit.archive.checksums import FOLDER, Checksums
from aatoolkit.archive.derive import BESIDE, FRAMES, TableBuffer, derive_stored
from aatoolkit.archive.runs import RUNS
from aatoolkit.archive.snapshot import Snapshot, identifier, run
from aatoolkit.archive.store import ArchiveStore
from aatoolkit.errors import ArchiveError
from aatoolkit.scope import FILTERS
from aatoolkit.sections import Profile

if TYPE_CHECKING:
    import pandas as pd

_PLACE = ("run", "host", "days", *(f"filter_{name}" for name in FILTERS), "fetched_at")
_LISTED = 20
_AT_ONCE = 2000


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
    """

    path: str
    responses: int
    tables: int
    found: tuple[tuple[str, str], ...]
    unchecked: int = 0

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
        lines = [f"<ArchiveCheck: {self.responses:,} responses, {self.tables} tables: {state}>"]
        lines += [visible(f"  {name}: {problem}") for name, problem in self.found[:_LISTED]]
        return "\n".join(lines)


def verify(
    store: ArchiveStore, profile: Profile | None, max_nodes: int, *, replay: bool
) -> ArchiveCheck:
    """Check every file, response and table; with ``replay``, also that answers give these rows."""
    checksums = Checksums(store, anew=True)
    found: list[tuple[str, str]] = [
        (FOLDER, f"the file {name} is not what was written") for name in checksums.damaged
    ]
    # Files are compared before any is read as a table, which damage would end.
    logs = (RUNS, declared.CHANGES)
    names = dict.fromkeys((*logs, RESPONSES, *BESIDE, *checksums.files))
    found += [(name, problem) for name in names for problem in checksums.problems(name)]
    responses = 0
    if not found:
        snapshot = Snapshot(store)
        if not snapshot.exists:
            raise ArchiveError(f"there is no archive at {store.root} yet", path=store.root)
        unwritten = declared.stored_tables(store).keys() - names.keys()
        names |= dict.fromkeys(unwritten)
        found += [(name, problem) for name in unwritten for problem in checksums.problems(name)]
        lost = snapshot.runs.committed - checksums.runs
        if lost:
            problem = f"those of {len(lost)} runs are gone; compact() records files as they are"
            found.append((FOLDER, problem))
        if snapshot.runs.rebuilding:
            found.append((RUNS, "a rebuild was interrupted; run archive.rebuild() again"))
    if not found and snapshot.has(RESPONSES):
        try:
            responses, problems = _responses(snapshot)
            found += problems
            found += _counts(snapshot, declared.stored_tables(store))
            if replay and not found:
                found += _replayed(snapshot, profile, max_nodes)
        except ArchiveError as error:
            found.append(("archive", error.message))
    return ArchiveCheck(
        store.root, responses, len(names) - len(logs), tuple(found), checksums.unchecked
    )


def _responses(snapshot: Snapshot) -> tuple[int, list[tuple[str, str]]]:
    """Check every body against its hash, and that no response is there twice."""
    count, problems = 0, []
    for group in groups_of(snapshot):
        for response in group:
            count += 1
            if response.body is None:
                problems.append(f"{' '.join(response.question)}: its body is nowhere")
            elif hashlib.sha256(response.body).hexdigest() != response.sha256:
                problems.append(f"{' '.join(response.question)}: its body is not that of its hash")
    twice = snapshot.rows(
        f"SELECT host, section, scope, fetched_at, count(*) AS n FROM responses WHERE {USABLE} "
        "GROUP BY host, section, scope, fetched_at, sha256 HAVING n > 1",
        RESPONSES,
    )
    problems += [
        f"{row['host']} {row['section']} {row['scope']}, {row['fetched_at']}: "
        f"it is there {row['n']} times"
        for row in twice
    ]
    return count, [(RESPONSES, problem) for problem in problems]


def _counts(snapshot: Snapshot, names: Mapping[str, tuple[str, str]]) -> list[tuple[str, str]]:
    """Compare the number of rows of each table with what its responses gave."""
    found: list[tuple[str, str]] = []
    if not snapshot.has(FRAMES):
        return found
    place = ", ".join(_PLACE)
    same = " AND ".join(f"f.{column} IS NOT DISTINCT FROM t.{column}" for column in _PLACE)
    for name, (section, table) in names.items():
        rows = snapshot.query(
            f"WITH f AS (SELECT {place}, sum(rows) AS n FROM frames WHERE rows > 0 AND "
            'section = $1 AND "table" = $2 GROUP BY ALL), '
            f"t AS (SELECT {place}, count(*) AS n FROM stored GROUP BY ALL) "
            "SELECT coalesce(f.host, t.host) AS host, coalesce(f.n, 0) AS wanted, "
            f"coalesce(t.n, 0) AS there FROM f FULL JOIN t ON {same} "
            f"WHERE f.n IS DISTINCT FROM t.n LIMIT {_LISTED}",
            FRAMES,
            values=[section, table],
            stored=name,
        ).to_pylist()
        found += [
            (name, f"{row['host']}: {row['there']} rows, and its responses gave {row['wanted']}")
            for row in rows
        ]
    return found


def _replayed(snapshot: Snapshot, profile: Profile | None, max_nodes: int) -> list[tuple[str, str]]:
    """Derive the tables again from the responses, and compare them with the rows stored."""
    found: list[tuple[str, str]] = []
    buffer = TableBuffer()
    for response, derived in derive_stored(groups_of(snapshot), profile, max_nodes):
        if derived.error is None:
            buffer.add(response, derived)
        if len(buffer) > _AT_ONCE:
            found += _compared(snapshot, buffer)
            buffer = TableBuffer()
    return found + _compared(snapshot, buffer)


def _compared(snapshot: Snapshot, buffer: TableBuffer) -> list[tuple[str, str]]:
    """The tables in which a derived row is missing; surplus rows show in the counts."""
    found: list[tuple[str, str]] = []
    for name in buffer.declared:
        stored = declared.load(snapshot.store, name)
        if stored is None:
            found.append((name, "the table is missing"))
            continue
        table = buffer.rows(name, stored[1].schema())
        if table is None:
            continue
        with snapshot.connect({"stored": name}) as connection:
            connection.register("derived", table)
            names = ", ".join(map(identifier, table.column_names))
            differ = run(
                connection,
                f"SELECT host FROM (SELECT {names} FROM derived EXCEPT ALL "
                f"SELECT {names} FROM stored SEMI JOIN derived USING (run, host))",
            )
        if differ.num_rows:
            hosts = ", ".join(sorted({*differ["host"].to_pylist()})[:3])
            found.append((name, f"{hosts}: {differ.num_rows} rows are others; rebuild()"))
    return found
