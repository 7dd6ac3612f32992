"""The Delta tables of an archive, its log of runs, and its checksums.

A run is one call that changes the archive, such as `Archive.add`. The table ``runs`` logs the
states of each run:

- ``begun``, before the run writes;
- ``alive``, while it writes;
- ``committed``, when all its rows are written;
- ``removing`` and ``removed``, if it was interrupted and its rows are deleted;
- ``forgotten``, when it deletes responses;
- ``rebuilding`` and ``rebuilt``, when it derives all tables again.

If two processes append to this log at the same time, the second fails and tries again.

Checksums find damaged files. Each run records the SHA-256 of its files in a new file of checksums,
which has its own SHA-256 as its name.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import json
import os
import random
import re
import secrets
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property, wraps
from pathlib import Path
from types import ModuleType
from typing import Any, Concatenate, ParamSpec, TypeVar
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.dataset as ds
from pyarrow.fs import FileSelector, FileSystem, LocalFileSystem, PyFileSystem, SubTreeFileSystem

from aatoolkit._util.defaults import needed
from aatoolkit._util.files import FilePath
from aatoolkit._util.text import json_text, visible
from aatoolkit.errors import AAToolkitError, ArchiveConflict, ArchiveError
from aatoolkit.study.files import sha256_of, versions

P = ParamSpec("P")
R = TypeVar("R")

MOMENT = pa.timestamp("us", tz="UTC")

TRIES = 20
"""How often a commit is tried while other processes commit."""

EXTENDED = "aatoolkit.extended"
"""The property of a table whose older files lack some columns."""

_FILE_FACTS = ("size_bytes", "num_records", "partition.month")
REMEDY = "archive.verify() says more, and archive.rebuild() makes tables anew from the responses"


def engine() -> ModuleType:
    """Import and return the package deltalake."""
    with needed("an archive needs", "archive"):
        import deltalake
    return deltalake


def duckdb() -> ModuleType:
    """Import and return the package duckdb."""
    with needed("an archive needs", "archive"):
        import duckdb as package
    return package


class ArchiveStore:
    """The Delta tables of an archive, in one folder or object store.

    ``storage_options`` are deltalake's options for the object store.
    """

    def __init__(self, root: FilePath, storage_options: Mapping[str, str] | None = None) -> None:
        uri = os.fspath(root)
        self.is_local = "://" not in uri
        try:
            uri.encode()
        except (UnicodeError, AttributeError):
            raise ArchiveError(
                f"no archive can be at {visible(str(root))}: it is no text that names a folder"
            ) from None
        self.root = str(Path(uri).expanduser().absolute()) if self.is_local else uri.rstrip("/")
        self.options = {name: str(value) for name, value in (storage_options or {}).items()}
        self._peeked_tables: dict[str, tuple[Any, Any]] = {}
        self._cached_rows: dict[str, tuple[Any, list[dict[str, Any]]]] = {}
        self.checksums: dict[str, dict[str, Any]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        # Open tables stay in their process.
        return ArchiveStore, (self.root, self.options)

    @cached_property
    def files(self) -> FileSystem:
        """The file system of the archive."""
        if self.is_local:
            # Not deltalake's file system, which is written in Python: if a thread of Arrow
            # releases it while the interpreter shuts down, the process ends with an error.
            return SubTreeFileSystem(self.root, LocalFileSystem())
        from deltalake.fs import DeltaStorageHandler

        return PyFileSystem(DeltaStorageHandler(self.root, self.options or None))

    def write(self, path: str, content: bytes) -> None:
        """Write a file of the archive, atomically."""
        if self.is_local:
            self.files.create_dir(path.rpartition("/")[0])
            with self.files.open_output_stream(f"{path}.part") as stream:
                stream.write(content)
            self.files.move(f"{path}.part", path)
            return
        # The stream of the handler itself would refuse the buffers of Arrow.
        stream = self.files.handler._handler.open_output_stream(path, None)
        stream.write(content)
        stream.close()

    def uri(self, name: str) -> str:
        """Return the path or address of a table."""
        return f"{self.root}/{name}"

    def open(self, name: str) -> Any | None:
        """Open the latest version of a Delta table, and return it; None if there is none."""
        deltalake = engine()
        with self.errors(name):
            if self.is_local and not Path(self.uri(name), "_delta_log").is_dir():
                return None
            try:
                return deltalake.DeltaTable(self.uri(name), storage_options=self.options or None)
            except deltalake.exceptions.TableNotFoundError:
                return None

    def peek(self, name: str) -> Any | None:
        """Return the latest version of a Delta table, from a cache if its files are unchanged."""
        last_log_state, table = self._peeked_tables.get(name, (None, None))
        log_state = self._log_state(name) if self.is_local else None
        if log_state is None or last_log_state != log_state:
            table = self.open(name)
            self._peeked_tables[name] = log_state, table
        return table

    def rows_of(self, name: str) -> list[dict[str, Any]] | None:
        """Return all rows of a small table as dicts, from a cache if they are unchanged.

        The result is None if there is no such table.
        """
        table = self.peek(name)
        if table is None:
            return None
        cached_table, rows = self._cached_rows.get(name, (None, []))
        if cached_table is not table:
            with self.errors(name):
                rows = self.dataset(name, table).to_table().to_pylist()
            self._cached_rows[name] = table, rows
        return list(rows)

    def dataset(self, name: str, table: Any) -> ds.Dataset:
        """Return a table as an Arrow dataset."""
        files = SubTreeFileSystem(self.uri(name), LocalFileSystem()) if self.is_local else None
        return table.to_pyarrow_dataset(filesystem=files)

    def _log_state(self, name: str) -> tuple[Any, ...] | None:
        """Return a tuple that changes with each commit to a table; None if the table has no log."""
        folder = Path(self.uri(name), "_delta_log")
        with contextlib.suppress(OSError, ValueError):
            last_file = max(file for file in os.listdir(folder) if file.endswith(".json"))
            file_stat = (folder / last_file).stat()
            return last_file, file_stat.st_ino, file_stat.st_mtime_ns, file_stat.st_size
        return None

    def create(
        self, name: str, schema: pa.Schema, *, configuration: Mapping[str, str] | None = None
    ) -> Any:
        """Return the Delta table ``name``; create it, or add missing columns, if needed.

        ``configuration`` has the properties of a new table.
        """
        deltalake = engine()
        table = self.open(name)
        if table is not None:
            field_names = {field.name for field in table.schema().fields}
            new_fields = [field for field in schema if field.name not in field_names]
            if not new_fields:
                return table
            with self.errors(name):
                # First, for readers must not expect the columns in the older files.
                table.alter.set_table_properties({EXTENDED: "true"}, raise_if_not_exists=False)
                table.alter.add_columns(deltalake.Schema.from_arrow(pa.schema(new_fields)).fields)
            return self.open(name)
        with self.errors(name), contextlib.suppress(deltalake.exceptions.DeltaError):
            deltalake.DeltaTable.create(
                self.uri(name),
                schema,
                mode="error",
                partition_by=["month"] if "month" in schema.names else None,
                name=name.rpartition("/")[2],
                configuration={"delta.checkpointInterval": "20", **(configuration or {})},
                storage_options=self.options or None,
                raise_if_key_not_exists=False,
            )
        table = self.open(name)
        if table is None:
            raise ArchiveError(
                f"the table {name} cannot be created at {self.root}; check that it may be "
                "written to",
                path=self.root,
            )
        return table

    def append(self, table: Any, data: pa.Table, *, transaction: int | None = None) -> None:
        """Append rows to a Delta table in one commit.

        If two processes commit with the same ``transaction`` number at the same time, the second
        fails.
        """
        deltalake = engine()
        options = {"mode": "append", "writer_properties": write_options()}
        if transaction is not None:
            transactions = [deltalake.Transaction("aatoolkit", transaction)]
            options["commit_properties"] = deltalake.CommitProperties(app_transactions=transactions)

        def commit() -> None:
            with self.errors(table.metadata().name or "a table"):
                deltalake.write_deltalake(table, data, **options)

        if transaction is None:
            retry(commit, table.update_incremental)
        else:
            commit()

    def actions(self, name: str, table: Any) -> list[dict[str, Any]]:
        """Return a dict per data file of a Delta table: its size, number of rows and month."""
        with self.errors(name):
            actions = pa.table(table.get_add_actions(flatten=True))
        column_names = [name for name in _FILE_FACTS if name in actions.column_names]
        return list(actions.select(column_names).to_pylist())

    @contextlib.contextmanager
    def errors(self, name: str) -> Iterator[None]:
        """Convert errors of deltalake and Arrow in a ``with`` block to errors of this package."""
        exceptions = engine().exceptions
        try:
            yield
        except exceptions.TableNotFoundError:
            raise
        except exceptions.CommitFailedError as error:
            raise ArchiveConflict(
                f"another process wrote to {name} at the same time, and was first "
                f"({one_line(error)}); try again",
                path=self.root,
            ) from None
        except (exceptions.DeltaError, OSError, pa.ArrowException) as error:
            raise ArchiveError(
                f"{name} at {self.root}: {one_line(error)}; what was committed before is whole: "
                f"{REMEDY}",
                path=self.root,
            ) from None

    @contextlib.contextmanager
    def typed(self) -> Iterator[None]:
        """Convert unexpected exceptions in a ``with`` block to `ArchiveError`."""
        try:
            yield
        except (AAToolkitError, Warning):
            raise
        except Exception as error:
            problem = one_line(f"{type(error).__name__}: {error}")
            raise ArchiveError(
                f"the archive at {self.root} cannot be used ({problem}); {REMEDY}", path=self.root
            ).with_traceback(error.__traceback__) from None


def one_line(message: object) -> str:
    """Return an error message as one line of text, without terminal colours."""
    line = " ".join(re.sub(r"\x1b\[[0-9;]*m", "", str(message)).split())
    return visible(line if len(line) <= 500 else f"{line[:499]}…")


def typed(method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """Decorate a method of `Archive`, so that it raises only errors of this package."""

    bind = inspect.signature(method).bind

    @wraps(method)
    def wrapper(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        bind(self, *args, **kwargs)  # wrong arguments raise a TypeError, as in any call
        with self._store.typed():
            return method(self, *args, **kwargs)

    return wrapper


def retry(action: Callable[[], R], before_retry: Callable[[], Any] = int) -> R:
    """Call a function until it does not raise `ArchiveConflict`; return its result.

    ``before_retry`` is called before each repeated call.
    """
    for attempt in range(TRIES - 1):
        try:
            return action()
        except ArchiveConflict:
            time.sleep(random.uniform(0.0, 0.02 * 2 ** min(attempt, 6)))
        before_retry()
    return action()


def write_options() -> Any:
    """Return deltalake's options for writing data files, which set the compression."""
    return engine().WriterProperties(compression="ZSTD", compression_level=6)


# -- the log of runs ----------------------------------------------------------------------------

RUNS = "runs"

RUNS_SCHEMA = pa.schema(
    {
        "run": "string",
        "state": "string",
        "at": MOMENT,
        "responses": "int64",
        "failed": "int64",
        "note": "string",
    }
)

DEAD_AFTER = timedelta(hours=24)
"""How long a run may log nothing before it counts as interrupted."""


def new_run() -> str:
    """Return a new name for a run (a call that changes the archive); names sort by time.

    Examples
    --------
    >>> len(new_run())
    31
    """
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}Z-{secrets.token_hex(4)}"


@dataclass(frozen=True)
class RunLog:
    """The rows of the table ``runs``: the calls that changed the archive, and their states."""

    rows: list[dict[str, Any]]
    exists: bool = True

    def _runs_in(self, *states: str) -> frozenset[str]:
        return frozenset(row["run"] for row in self.rows if row["state"] in states)

    @property
    def committed(self) -> frozenset[str]:
        """The names of the finished runs, whose rows are visible to readers."""
        return self._runs_in("committed")

    @property
    def unfinished(self) -> frozenset[str]:
        """The names of the runs that have begun, but were neither committed nor removed."""
        return self._runs_in("begun", "alive") - self._runs_in("committed", "removed")

    @property
    def begun(self) -> frozenset[str]:
        """The names of all runs, finished or not, that may have rows in the tables."""
        return self._runs_in("begun", "alive", "committed") - self._runs_in("removed")

    @property
    def removing(self) -> frozenset[str]:
        """The names of the interrupted runs whose rows are being removed or were removed."""
        return self._runs_in("removing", "removed")

    @property
    def rebuilding(self) -> frozenset[str]:
        """The names of the calls of `Archive.rebuild` that have not finished."""
        return self._runs_in("rebuilding") - self._runs_in("rebuilt")

    def dead(self, now: datetime) -> frozenset[str]:
        """Return the names of the unfinished runs that have not written to the log for a day."""
        last_log_times: dict[str, datetime] = {}
        for row in self.rows:
            last_log_times[row["run"]] = max(row["at"], last_log_times.get(row["run"], row["at"]))
        return frozenset(run for run in self.unfinished if now - last_log_times[run] > DEAD_AFTER)


def read_runs(store: ArchiveStore) -> RunLog:
    """Read the log of runs, i.e. of all calls that changed the archive."""
    rows = store.rows_of(RUNS)
    return RunLog(rows or [], rows is not None)


def log(
    store: ArchiveStore,
    run: str,
    state: str,
    *,
    check: Callable[[RunLog], None] = lambda _: None,
    **counts: int,
) -> None:
    """Append a row to the log of runs, i.e. of calls that change the archive.

    Parameters
    ----------
    store : ArchiveStore
        The Delta tables of the archive.
    run : str
        The name of the run.
    state : str
        The new state of the run, such as ``"committed"``.
    check : callable, optional
        A function that is called with the current log. If it raises an error, no row is appended.
    **counts : int
        The numbers of ``responses`` and of ``failed`` requests.
    """
    note, now = json_text(versions()), datetime.now(UTC)
    row = {"run": run, "state": state, "at": now, "note": note, **counts}
    data = pa.Table.from_pylist([row], RUNS_SCHEMA)

    def append() -> None:
        table = store.create(RUNS, RUNS_SCHEMA)
        with store.errors(RUNS):
            rows = store.dataset(RUNS, table).to_table().to_pylist()
        check(RunLog(rows))
        store.append(table, data, transaction=int(table.version()))

    retry(append)


# -- checksums -------------------------------------------------------------------------------------

CHECKSUMS = "checksums"


class Checksums:
    """The recorded SHA-256 of an archive's files; the dict ``files`` has them by table and path.

    With ``ignores_cache``, the files of checksums are read again.
    """

    def __init__(self, store: ArchiveStore, *, ignores_cache: bool = False) -> None:
        self._store = store
        self.damaged: list[str] = []
        self.files: dict[str, dict[str, str]] = {}
        self.runs: set[str] = set()
        self.unchecked = 0
        if ignores_cache:
            store.checksums.clear()
        with store.errors(CHECKSUMS):
            file_infos = store.files.get_file_info(FileSelector(CHECKSUMS, allow_not_found=True))
            self.names = sorted(info.base_name for info in file_infos if info.is_file)
            contents = {
                name: self._read_content(name) for name in self.names if name.endswith(".json")
            }
        replaced_names = {
            old_name for content in contents.values() for old_name in content.get("replaces", ())
        }
        for name, content in contents.items():
            if name not in replaced_names and content:
                self.runs.update(content["runs"])
                for table, digests in content["files"].items():
                    self.files.setdefault(table, {}).update(digests)

    def _read_content(self, name: str) -> dict[str, Any]:
        """Return the content of one file of checksums; empty if the file is damaged."""
        cache = self._store.checksums
        if name not in cache:
            with self._store.files.open_input_stream(f"{CHECKSUMS}/{name}") as stream:
                data = stream.read()
            if f"{sha256_of(data)}.json" != name:
                self.damaged.append(name)
                return {}
            cache[name] = json.loads(data)
        return cache[name]

    def problems(self, name: str) -> Iterator[str]:
        """Yield a sentence for each missing or altered file of a table."""
        try:
            table = self._store.open(name)
            if table is not None:
                yield from self._file_problems(name, table)
            elif name in self.files:
                yield "the table is missing"
        except (ArchiveError, OSError) as error:
            yield str(error)

    def _file_problems(self, name: str, table: Any) -> Iterator[str]:
        recorded_digests, store = self.files.get(name, {}), self._store
        max_version = max(map(_read_log_version, recorded_digests), default=-1)
        if table.version() < max_version:
            yield f"its last commits are gone: it is at {table.version()}, and was at {max_version}"
        for path in paths_of(store, name, table):
            self.unchecked += path not in recorded_digests
            full_path = f"{name}/{path}"
            # Reading a pipe or a device might never end.
            if not store.files.get_file_info(full_path).is_file:
                yield f"the file {path} is missing, or no file"
            elif (digest := _sha256(store, full_path)) != recorded_digests.get(path, digest):
                yield f"the file {path} is not what was written"


def add_checksums(
    store: ArchiveStore, tables: Mapping[str, Any | None], runs: Iterable[str] = ()
) -> None:
    """Record the SHA-256 of each file for which none is recorded yet.

    ``tables`` are Delta tables by name. ``runs`` are the names of the runs (calls that changed the
    archive) which wrote the files.
    """
    digests_by_table = Checksums(store).files
    digests = {}
    for name, table in tables.items():
        recorded_digests = digests_by_table.get(name, {})
        new_digests = {
            path: digest
            for path, digest in _digests(store, name, table, recorded_digests)
            if path not in recorded_digests
        }
        if new_digests:
            digests[name] = new_digests
    if runs or digests:
        _write_checksums(store, {"runs": sorted(runs), "replaces": [], "files": digests})


def replace_checksums(
    store: ArchiveStore, tables: Mapping[str, Any | None], *, new_tables: Collection[str] = ()
) -> None:
    """Record the SHA-256 of all files in one new file of checksums, and delete the older ones.

    ``tables`` are Delta tables by name. For ``new_tables``, the checksums are computed again.
    """
    committed_runs = read_runs(store).committed
    old_checksums = Checksums(store)
    digests = {
        name: dict(
            _digests(
                store, name, table, {} if name in new_tables else old_checksums.files.get(name, {})
            )
        )
        for name, table in tables.items()
    }
    runs = sorted(committed_runs | old_checksums.runs)
    latest_name = _write_checksums(
        store, {"runs": runs, "replaces": old_checksums.names, "files": digests}
    )
    with store.errors(CHECKSUMS):
        for name in {*old_checksums.names} - {latest_name}:
            store.files.delete_file(f"{CHECKSUMS}/{name}")


def _digests(
    store: ArchiveStore, name: str, table: Any | None, recorded_digests: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield the path and the SHA-256 of each file of a table.

    ``recorded_digests`` has the hashes that need not be computed again.
    """
    with store.errors(name):
        for path in () if table is None else paths_of(store, name, table):
            yield path, recorded_digests.get(path) or _sha256(store, f"{name}/{path}")


def _write_checksums(store: ArchiveStore, content: Mapping[str, Any]) -> str:
    """Write a file of checksums, named after its own SHA-256, and return its name."""
    data = json_text(content).encode()
    name = f"{sha256_of(data)}.json"
    with store.errors(CHECKSUMS):
        store.write(f"{CHECKSUMS}/{name}", data)
    return name


def paths_of(store: ArchiveStore, name: str, table: Any) -> Iterator[str]:
    """Yield the paths of the data files and log files of a table."""
    # Not get_add_actions, which converts the statistics of every column.
    for uri in table.file_uris():
        yield unquote("/".join(uri.rsplit("/", 2)[-2 if "/month=" in unquote(uri) else -1 :]))
    log_files = FileSelector(f"{name}/_delta_log", allow_not_found=True)
    for info in store.files.get_file_info(log_files):
        if info.is_file and info.base_name[:1].isdigit():
            yield f"_delta_log/{info.base_name}"


def _read_log_version(path: str) -> int:
    """Return the version of a Delta table in the name of a log file; -1 for other files."""
    folder, _, name = path.partition("/")
    return int(name[:20]) if folder == "_delta_log" and name[20:] == ".json" else -1


def _sha256(store: ArchiveStore, path: str) -> str:
    with store.files.open_input_stream(path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
