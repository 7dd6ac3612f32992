"""Verify an archive: every file, every answer against its hash, every table against the answers."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aatoolkit._util.text import visible
from aatoolkit.archive import tables as declared
from aatoolkit.archive.answers import ANSWERS, unpacked
from aatoolkit.archive.buffer import TableBuffer
from aatoolkit.archive.checksums import FOLDER, Checksums
from aatoolkit.archive.derive import derive_stored
from aatoolkit.archive.index import groups_of, usable
from aatoolkit.archive.runs import RUNS
from aatoolkit.archive.schema import fitted
from aatoolkit.archive.snapshot import Snapshot, identifier, run
from aatoolkit.archive.statement_tables import BESIDE, FRAMES
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
    answers, tables : int
        How many were checked.
    found : tuple of (str, str)
        The table concerned, and what is wrong.
    unchecked : int
        The files without a checksum, such as those of a compaction that was interrupted;
        `Archive.compact` records them as they are.
    """

    path: str
    answers: int
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

        return pd.DataFrame(
            {
                name: pd.array([row[at] for row in self.found], "string")
                for at, name in enumerate(("table", "problem"))
            }
        )

    def __repr__(self) -> str:
        state = "all as stored" if self.ok else f"{len(self.found)} problems"
        if self.unchecked:
            state += f"; {self.unchecked:,} files have no checksum, which compact() records"
        lines = [f"<ArchiveCheck: {self.answers:,} answers, {self.tables} tables: {state}>"]
        lines += [visible(f"  {name}: {problem}") for name, problem in self.found[:_LISTED]]
        return "\n".join(lines)


def verify(
    store: ArchiveStore, profile: Profile | None, max_nodes: int, *, replay: bool
) -> ArchiveCheck:
    """Check every file, answer and table; with ``replay``, also that answers give these rows."""
    checksums = Checksums(store, anew=True)
    found: list[tuple[str, str]] = [
        (FOLDER, f"the file {name} is not what was written") for name in checksums.damaged
    ]
    # Files are compared before any is read as a table, which damage would end.
    logs = (RUNS, declared.CATALOG, declared.CHANGES)
    names = dict.fromkeys((*logs, ANSWERS, *BESIDE, *checksums.files))
    found += [(name, problem) for name in names for problem in checksums.problems(name)]
    answers = 0
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
    if not found and snapshot.files(ANSWERS).table is not None:
        try:
            answers, problems = _answers(snapshot)
            found += problems
            found += _counts(snapshot, declared.stored_tables(store))
            if replay and not found:
                found += _replayed(snapshot, profile, max_nodes)
        except ArchiveError as error:
            found.append(("archive", error.message))
    return ArchiveCheck(
        store.root, answers, len(names) - len(logs), tuple(found), checksums.unchecked
    )


def _answers(snapshot: Snapshot) -> tuple[int, list[tuple[str, str]]]:
    """Check every body against its hash, and that no answer is there twice."""
    found: list[tuple[str, str]] = []
    dataset, needed = snapshot.dataset(ANSWERS)
    seen: Counter[tuple[Any, ...]] = Counter()
    bodies, referred = set(), set()
    count = 0
    columns = ["host", "section", "scope", "fetched_at", "sha256", "size", "error", "body"]
    with snapshot.store.errors(ANSWERS):
        for batch in dataset.scanner(columns=columns, filter=needed, batch_size=512).to_batches():
            for row in batch.to_pylist():
                question = (row["host"], row["section"], row["scope"], row["sha256"])
                if row["error"] is not None:
                    continue
                count += 1
                seen[(*question, row["fetched_at"])] += 1
                if row["body"] is None:
                    referred.add(question)
                    continue
                bodies.add(question)
                problem = _body_problem(row)
                if problem:
                    found.append((ANSWERS, f"{' '.join(question[:3])}: {problem}"))
    found += [
        (ANSWERS, f"{' '.join(question[:3])}: its body is nowhere")
        for question in referred - bodies
    ]
    found += [
        (ANSWERS, f"{' '.join(place[:3])}, {place[4]}: it is there {times} times")
        for place, times in seen.items()
        if times > 1
    ]
    return count, found


def _body_problem(row: dict[str, Any]) -> str | None:
    try:
        body = unpacked(row["body"], row["size"])
    except ArchiveError as error:
        return error.message
    if hashlib.sha256(body).hexdigest() != row["sha256"]:
        return "its body is not that of its hash"
    return None


def _counts(snapshot: Snapshot, names: Mapping[str, tuple[str, str]]) -> list[tuple[str, str]]:
    """Compare the number of rows of each table with what its answers gave."""
    found: list[tuple[str, str]] = []
    if snapshot.files(FRAMES).table is None:
        return found
    place = ", ".join(_PLACE)
    same = " AND ".join(f"f.{column} IS NOT DISTINCT FROM t.{column}" for column in _PLACE)
    with snapshot.connect({"frames": FRAMES}) as connection:
        connection.execute(
            f'CREATE TEMP TABLE wanted AS SELECT section, "table" AS name, {place}, sum(rows) AS n '
            "FROM frames WHERE rows > 0 GROUP BY ALL"
        )
        for name, (section, table) in names.items():
            view = name.replace("/", ".")
            snapshot.view(connection, view, name)
            rows = run(
                connection,
                "WITH f AS (SELECT * FROM wanted WHERE section = $1 AND name = $2), "
                f"t AS (SELECT {place}, count(*) AS n FROM {identifier(view)} GROUP BY ALL) "
                "SELECT coalesce(f.host, t.host) AS host, coalesce(f.n, 0) AS wanted, "
                f"coalesce(t.n, 0) AS there FROM f FULL JOIN t ON {same} "
                "WHERE f.n IS DISTINCT FROM t.n",
                [section, table],
            ).to_pylist()
            found += [
                (name, f"{row['host']}: {row['there']} rows, and its answers gave {row['wanted']}")
                for row in rows[:_LISTED]
            ]
    return found


def _replayed(snapshot: Snapshot, profile: Profile | None, max_nodes: int) -> list[tuple[str, str]]:
    """Derive the tables again from the answers, and compare them with the rows stored."""
    found: list[tuple[str, str]] = []
    runs = snapshot.runs.committed
    wanted = usable(runs)
    buffer = TableBuffer()
    groups = groups_of(snapshot.store, wanted, runs)
    for answer, derived in derive_stored(groups, profile, max_nodes):
        if derived.error is None:
            buffer.add(answer, derived)
        if len(buffer) > _AT_ONCE:
            found += _compared(snapshot, buffer)
            buffer = TableBuffer()
    return found + _compared(snapshot, buffer)


def _compared(snapshot: Snapshot, buffer: TableBuffer) -> list[tuple[str, str]]:
    """The tables in which a derived row is missing; surplus rows show in the counts."""
    found: list[tuple[str, str]] = []
    with snapshot.connect({}) as connection:
        for name, rows in buffer.tables():
            loaded = declared.load(snapshot.store, name)
            if loaded is None:
                found.append((name, "the table is missing"))
                continue
            view = name.replace("/", ".")
            snapshot.view(connection, view, name)
            table = fitted(rows, loaded[1].schema(), as_text=name in buffer.drafted)
            connection.register("derived", table)
            names = ", ".join(map(identifier, table.column_names))
            differ = run(
                connection,
                f"SELECT host FROM (SELECT {names} FROM derived EXCEPT ALL "
                f"SELECT {names} FROM {identifier(view)} SEMI JOIN derived USING (run, host))",
            )
            connection.unregister("derived")
            if differ.num_rows:
                hosts = ", ".join(sorted({*differ["host"].to_pylist()})[:3])
                found.append((name, f"{hosts}: {differ.num_rows} rows are others; rebuild()"))
    return found
