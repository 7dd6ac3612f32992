"""The checksums of the files of an archive, by which `verify` finds damage that Delta does not.

Files of Delta tables never change: data files and the entries of logs are written once. The table
``checksums`` has a row for each, with the table's version then, so that commits that are gone show.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
from pyarrow.fs import FileSelector, FileSystem, FileType

from aatoolkit.archive.store import ArchiveStore, engine
from aatoolkit.errors import ArchiveConflict, ArchiveError

CHECKSUMS = "checksums"

SCHEMA = pa.schema(
    [
        pa.field("table", pa.string()),
        pa.field("version", pa.int64()),
        pa.field("path", pa.string()),
        pa.field("sha256", pa.string()),
    ]
)

_BLOCK = 1 << 20


def note(store: ArchiveStore, tables: Mapping[str, Any | None]) -> None:
    """Record the checksums of those files of open tables that have none yet."""
    _, rows = _read(store, tables, ())
    if rows:
        table = store.create(CHECKSUMS, SCHEMA, partitioned=False)
        store.append(table, pa.Table.from_pylist(rows, schema=SCHEMA))


def note_all(
    store: ArchiveStore, tables: Mapping[str, Any | None], *, anew: Collection[str] = ()
) -> bool:
    """Record the checksums of all tables after upkeep; those of files long gone are dropped.

    Parameters
    ----------
    store
        The archive.
    tables
        All its tables, open.
    anew
        The tables that were just made of others, whatever they were before.

    Returns
    -------
    bool
        False if another process wrote some at the same time; the next upkeep does it again.
    """
    before, rows = _read(store, tables, anew)
    table = store.create(CHECKSUMS, SCHEMA, partitioned=False)
    try:
        with store.errors(CHECKSUMS):
            whole = pa.Table.from_pylist(before + rows, schema=SCHEMA)
            engine().write_deltalake(table, whole, mode="overwrite")
            table.vacuum(0, dry_run=False, enforce_retention_duration=False)
    except ArchiveConflict:
        return False
    return True


def _read(
    store: ArchiveStore, tables: Mapping[str, Any | None], anew: Collection[str]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The rows that are recorded and still hold, and those to add."""
    recorded = {
        (row["table"], row["path"]): row
        for row in store.rows_of(CHECKSUMS) or []
        if row["table"] not in anew
    }
    kept, rows = [], []
    for name, table in tables.items():
        if table is None:
            continue
        with store.errors(name):
            files = store.filesystem(name, table)
            for path in _paths(table, files):
                if (name, path) in recorded:
                    kept.append(recorded[name, path])
                else:
                    facts = {"table": name, "version": int(table.version()), "path": path}
                    rows.append({**facts, "sha256": _sha256(files, path)})
    return kept, rows


class Checksums:
    """The recorded checksums, compared with the files as they are.

    Parameters
    ----------
    store
        The archive.
    """

    def __init__(self, store: ArchiveStore) -> None:
        self.unchecked = 0
        self._sums: dict[tuple[str, str], str] = {}
        self._versions: dict[str, int] = {}
        for row in store.rows_of(CHECKSUMS) or []:
            self._sums[row["table"], row["path"]] = row["sha256"]
            known = self._versions.get(row["table"], 0)
            self._versions[row["table"]] = max(known, row["version"])

    def problems(self, name: str, store: ArchiveStore) -> Iterator[str]:
        """Yield what differs in a table from when it was written."""
        last, problem = self._versions.get(name), ""
        try:
            table = store.open(name)
            if table is None:
                problem = "" if last is None else "the table is missing"
            else:
                yield from self._differing(name, table, store.filesystem(name, table), last)
        except (ArchiveError, OSError) as error:
            problem = str(error)
        if problem:
            yield problem

    def _differing(
        self, name: str, table: Any, files: FileSystem, last: int | None
    ) -> Iterator[str]:
        if last is not None and table.version() < last:
            yield f"its last commits are gone: it is at {table.version()}, and was at {last}"
        for path in _paths(table, files):
            recorded = self._sums.get((name, path))
            self.unchecked += recorded is None
            if files.get_file_info(path).type == FileType.NotFound:
                yield f"the file {path} is missing"
            elif recorded is not None and _sha256(files, path) != recorded:
                yield f"the file {path} is not what was written"


def _paths(table: Any, files: FileSystem) -> Iterator[str]:
    """The files of a table that never change: its data, and the entries of its log."""
    # Not get_add_actions, which converts the statistics of every column.
    for uri in table.file_uris():
        yield unquote("/".join(uri.rsplit("/", 2)[-2 if "/month=" in unquote(uri) else -1 :]))
    for info in files.get_file_info(FileSelector("_delta_log", allow_not_found=True)):
        if info.is_file and info.base_name[:1].isdigit():
            yield f"_delta_log/{info.base_name}"


def _sha256(files: FileSystem, path: str) -> str:
    digest = hashlib.sha256()
    with files.open_input_stream(path) as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
