"""The log of runs: rows become visible when a run's last entry, ``committed``, is written.

The table ``runs`` is a log. A run is ``begun`` before anything of it is written, ``alive`` while
it goes on, ``committed`` when all of it is in place; ``removing`` before what a dead one left is
swept, ``removed`` after. Other rows are about all runs: ``forgotten``, ``rebuilding`` and
``rebuilt``. Its appends exclude each other, by a transaction that every one of them carries: who
commits has seen all that was committed before.
"""

from __future__ import annotations

import platform
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa

from aatoolkit import __version__
from aatoolkit._util.text import json_text
from aatoolkit.archive.schema import MOMENT
from aatoolkit.archive.store import ArchiveStore, again

RUNS = "runs"

SCHEMA = pa.schema(
    [
        pa.field("run", pa.string()),
        pa.field("state", pa.string()),
        pa.field("at", MOMENT),
        pa.field("responses", pa.int64()),
        pa.field("failed", pa.int64()),
        pa.field("note", pa.string()),
    ]
)

DEAD_AFTER = timedelta(hours=24)
"""How long a run may give no sign before what it left behind is swept."""


def new_run() -> str:
    """Make a name for a run; names sort by time.

    Examples
    --------
    >>> len(new_run())
    31
    """
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}Z-{secrets.token_hex(4)}"


@dataclass(frozen=True)
class RunLog:
    """The log of runs as it was at one moment.

    Parameters
    ----------
    rows : list of dict
        The rows of the table, in any order.
    """

    rows: list[dict[str, Any]]

    def _of(self, *states: str) -> frozenset[str]:
        return frozenset(row["run"] for row in self.rows if row["state"] in states)

    @property
    def committed(self) -> frozenset[str]:
        """The runs that readers see."""
        return self._of("committed")

    @property
    def unfinished(self) -> frozenset[str]:
        """The runs that were begun, and of which rows may be in the tables."""
        return self._of("begun", "alive") - self._of("committed", "removed")

    @property
    def begun(self) -> frozenset[str]:
        """All runs of which rows may be in the tables, committed or not."""
        return self._of("begun", "alive", "committed") - self._of("removed")

    @property
    def removing(self) -> frozenset[str]:
        """The runs that are being or were swept: they cannot be committed any more."""
        return self._of("removing", "removed")

    @property
    def rebuilding(self) -> frozenset[str]:
        """The rebuilds that were begun, and neither ended nor done again."""
        return self._of("rebuilding") - self._of("rebuilt")

    def dead(self, now: datetime) -> frozenset[str]:
        """The unfinished runs that have given no sign for long."""
        signs: dict[str, datetime] = {}
        for row in self.rows:
            signs[row["run"]] = max(row["at"], signs.get(row["run"], row["at"]))
        return frozenset(run for run in self.unfinished if now - signs[run] > DEAD_AFTER)


def read_runs(store: ArchiveStore) -> tuple[RunLog, bool]:
    """The runs, and whether there is an archive."""
    rows = store.rows_of(RUNS)
    return RunLog(rows or []), rows is not None


def log(
    store: ArchiveStore,
    run: str,
    state: str,
    *,
    note: Mapping[str, Any] | None = None,
    check: Callable[[RunLog], None] = lambda _: None,
    **counts: int,
) -> None:
    """Append a row to the log; ``check`` sees what was appended before it, and may raise.

    Raises
    ------
    ArchiveConflict
        If other writers were first time and again.
    """
    facts = json_text(software() if note is None else note)
    row = {"run": run, "state": state, "at": datetime.now(UTC), "note": facts, **counts}
    data = pa.Table.from_pylist([row], SCHEMA)

    def append() -> None:
        table = store.create(RUNS, SCHEMA, partitioned=False, description="runs, and their states")
        with store.errors(RUNS):
            rows = store.dataset(RUNS, table).to_table().to_pylist()
        check(RunLog(rows))
        store.append(table, data, transaction=int(table.version()))

    again(append)


def software() -> dict[str, str]:
    """The versions of the software that writes a run."""
    return {
        "aatoolkit": __version__,
        "pyarrow": pa.__version__,
        "python": platform.python_version(),
    }
