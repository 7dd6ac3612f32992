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

from aatoolkit._util.defaults import require_package
from aatoolkit._util.files import FilePath
from aatoolkit._util.text import clipped, to_json_text, visible
from aatoolkit.errors import AAToolkitError, ArchiveConflict, ArchiveError
from aatoolkit.study.files import sha256_of, software_versions

P = ParamSpec("P")
R = TypeVar("R")

MOMENT_TYPE = pa.timestamp("us", tz="UTC")

MAX_COMMIT_TRIES = 20
"""How often a commit is tried at most, while other processes commit."""

ADDED_COLUMNS_PROPERTY = "aatoolkit.extended"
"""The property of a Delta table to which columns were added, so that older files lack them."""

_FILE_FIELDS = ("size_bytes", "num_records", "partition.month")
FIX_HINT = "archive.verify() says more, and archive.rebuild() makes tables anew from the responses"
"""The end of error messages: what to do if the archive is damaged."""


def import_deltalake() -> ModuleType:
    """Import and return the package deltalake."""
    with require_package("an archive needs", "archive"):
        import deltalake
    return deltalake


def import_duckdb() -> ModuleType:
    """Import and return the package duckdb."""
    with require_package("an archive needs", "archive"):
        import duckdb as package
    return package


class ArchiveStore:
    """The Delta tables of an archive, in one folder or object store.

    ``storage_options`` are deltalake's options for the object store.
    """

    def __init__(self, root: FilePath, storage_options: Mapping[str, str] | None = None) -> None:
        root_uri = os.fspath(root)
        self.is_local = "://" not in root_uri
        try:
            root_uri.encode()
        except (UnicodeError, AttributeError):
            raise ArchiveError(
                f"no archive can be at {visible(str(root))}: it is no text that names a folder"
            ) from None
        self.root = (
            str(Path(root_uri).expanduser().absolute()) if self.is_local else root_uri.rstrip("/")
        )
        self.options = {
            option_name: str(option_value)
            for option_name, option_value in (storage_options or {}).items()
        }
        self._cached_table_by_path: dict[str, tuple[Any, Any]] = {}
        self._cached_rows_by_path: dict[str, tuple[Any, list[dict[str, Any]]]] = {}
        self.cached_checksums: dict[str, dict[str, Any]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        # Open tables stay in their process.
        return ArchiveStore, (self.root, self.options)

    @cached_property
    def file_system(self) -> FileSystem:
        """The file system of the archive."""
        if self.is_local:
            # Not deltalake's file system, which is written in Python: if a thread of Arrow
            # releases it while the interpreter shuts down, the process ends with an error.
            return SubTreeFileSystem(self.root, LocalFileSystem())
        from deltalake.fs import DeltaStorageHandler

        return PyFileSystem(DeltaStorageHandler(self.root, self.options or None))

    def write_file(self, file_path: str, content: bytes) -> None:
        """Write a file of the archive, atomically."""
        if self.is_local:
            self.file_system.create_dir(file_path.rpartition("/")[0])
            with self.file_system.open_output_stream(f"{file_path}.part") as stream:
                stream.write(content)
            self.file_system.move(f"{file_path}.part", file_path)
            return
        # The stream of the handler itself would refuse the buffers of Arrow.
        stream = self.file_system.handler._handler.open_output_stream(file_path, None)
        stream.write(content)
        stream.close()

    def table_uri(self, table_path: str) -> str:
        """Return the path of a Delta table, or its URI in an object store."""
        return f"{self.root}/{table_path}"

    def open_table(self, table_path: str) -> Any | None:
        """Open the latest version of a Delta table, and return it; None if there is none."""
        deltalake = import_deltalake()
        with self.convert_errors(table_path):
            if self.is_local and not Path(self.table_uri(table_path), "_delta_log").is_dir():
                return None
            try:
                return deltalake.DeltaTable(
                    self.table_uri(table_path), storage_options=self.options or None
                )
            except deltalake.exceptions.TableNotFoundError:
                return None

    def cached_table(self, table_path: str) -> Any | None:
        """Return the latest version of a Delta table, from a cache if its log is unchanged.

        The result is None if there is no such table.
        """
        cached_log_state, table = self._cached_table_by_path.get(table_path, (None, None))
        log_state = self._log_state(table_path) if self.is_local else None
        if log_state is None or cached_log_state != log_state:
            table = self.open_table(table_path)
            self._cached_table_by_path[table_path] = log_state, table
        return table

    def read_rows(self, table_path: str) -> list[dict[str, Any]] | None:
        """Return all rows of a small Delta table as dicts, from a cache if it is unchanged.

        The result is None if there is no such table.
        """
        table = self.cached_table(table_path)
        if table is None:
            return None
        cached_table, rows = self._cached_rows_by_path.get(table_path, (None, []))
        if cached_table is not table:
            with self.convert_errors(table_path):
                rows = self.arrow_dataset(table_path, table).to_table().to_pylist()
            self._cached_rows_by_path[table_path] = table, rows
        return list(rows)

    def arrow_dataset(self, table_path: str, table: Any) -> ds.Dataset:
        """Return a Delta table as an Arrow dataset, to read its rows."""
        file_system = (
            SubTreeFileSystem(self.table_uri(table_path), LocalFileSystem())
            if self.is_local
            else None
        )
        return table.to_pyarrow_dataset(filesystem=file_system)

    def _log_state(self, table_path: str) -> tuple[Any, ...] | None:
        """Return a tuple that changes with each commit to a Delta table; None if it has no log."""
        log_folder = Path(self.table_uri(table_path), "_delta_log")
        with contextlib.suppress(OSError, ValueError):
            last_log_file = max(
                file_name for file_name in os.listdir(log_folder) if file_name.endswith(".json")
            )
            file_stat = (log_folder / last_log_file).stat()
            return last_log_file, file_stat.st_ino, file_stat.st_mtime_ns, file_stat.st_size
        return None

    def open_or_create(
        self,
        table_path: str,
        schema: pa.Schema,
        *,
        table_properties: Mapping[str, str] | None = None,
    ) -> Any:
        """Return the Delta table ``table_path``; create it, or add missing columns, if needed.

        ``table_properties`` has the properties that a new table gets.
        """
        deltalake = import_deltalake()
        table = self.open_table(table_path)
        if table is not None:
            field_names = {field.name for field in table.schema().fields}
            missing_fields = [field for field in schema if field.name not in field_names]
            if not missing_fields:
                return table
            with self.convert_errors(table_path):
                # First, for readers must not expect the columns in the older files.
                table.alter.set_table_properties(
                    {ADDED_COLUMNS_PROPERTY: "true"}, raise_if_not_exists=False
                )
                table.alter.add_columns(
                    deltalake.Schema.from_arrow(pa.schema(missing_fields)).fields
                )
            return self.open_table(table_path)
        with self.convert_errors(table_path), contextlib.suppress(deltalake.exceptions.DeltaError):
            deltalake.DeltaTable.create(
                self.table_uri(table_path),
                schema,
                mode="error",
                partition_by=["month"] if "month" in schema.names else None,
                name=table_path.rpartition("/")[2],
                configuration={"delta.checkpointInterval": "20", **(table_properties or {})},
                storage_options=self.options or None,
                raise_if_key_not_exists=False,
            )
        table = self.open_table(table_path)
        if table is None:
            raise ArchiveError(
                f"the table {table_path} cannot be created at {self.root}; check that it may be "
                "written to",
                path=self.root,
            )
        return table

    def append_rows(
        self, table: Any, rows: pa.Table, *, transaction_number: int | None = None
    ) -> None:
        """Append rows to a Delta table in one commit.

        If two processes commit with the same ``transaction_number`` at the same time, the
        second fails.
        """
        deltalake = import_deltalake()
        write_options = {"mode": "append", "writer_properties": writer_properties()}
        if transaction_number is not None:
            transactions = [deltalake.Transaction("aatoolkit", transaction_number)]
            write_options["commit_properties"] = deltalake.CommitProperties(
                app_transactions=transactions
            )

        def commit_rows() -> None:
            with self.convert_errors(table.metadata().name or "a table"):
                deltalake.write_deltalake(table, rows, **write_options)

        if transaction_number is None:
            retry_on_conflict(commit_rows, table.update_incremental)
        else:
            commit_rows()

    def list_data_files(self, table_path: str, table: Any) -> list[dict[str, Any]]:
        """List the data files of a Delta table, as one dict per file.

        The dict has the size in bytes, the number of rows and the month.
        """
        with self.convert_errors(table_path):
            file_table = pa.table(table.get_add_actions(flatten=True))
        column_names = [name for name in _FILE_FIELDS if name in file_table.column_names]
        return list(file_table.select(column_names).to_pylist())

    @contextlib.contextmanager
    def convert_errors(self, table_path: str) -> Iterator[None]:
        """Convert errors of deltalake and Arrow in a ``with`` block to errors of this package.

        ``table_path`` is the path of the table, for the message.
        """
        deltalake_exceptions = import_deltalake().exceptions
        try:
            yield
        except deltalake_exceptions.TableNotFoundError:
            raise
        except deltalake_exceptions.CommitFailedError as error:
            raise ArchiveConflict(
                f"another process wrote to {table_path} at the same time, and was first "
                f"({to_one_line(error)}); try again",
                path=self.root,
            ) from None
        except (deltalake_exceptions.DeltaError, OSError, pa.ArrowException) as error:
            raise ArchiveError(
                f"{table_path} at {self.root}: {to_one_line(error)}; what was committed before is "
                f"whole: {FIX_HINT}",
                path=self.root,
            ) from None

    @contextlib.contextmanager
    def convert_unexpected_errors(self) -> Iterator[None]:
        """Convert unexpected exceptions in a ``with`` block to `ArchiveError`."""
        try:
            yield
        except (AAToolkitError, Warning):
            raise
        except Exception as error:
            problem = to_one_line(f"{type(error).__name__}: {error}")
            raise ArchiveError(
                f"the archive at {self.root} cannot be used ({problem}); {FIX_HINT}",
                path=self.root,
            ).with_traceback(error.__traceback__) from None


def to_one_line(message: object) -> str:
    """Return an error message as one line of text, without terminal colours."""
    return clipped(" ".join(re.sub(r"\x1b\[[0-9;]*m", "", str(message)).split()))


def raise_package_errors(
    method: Callable[Concatenate[Any, P], R],
) -> Callable[Concatenate[Any, P], R]:
    """Decorate a method of `Archive`, so that it raises only errors of this package.

    Wrong arguments still raise a TypeError.
    """

    bind_arguments = inspect.signature(method).bind

    @wraps(method)
    def wrapper(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        bind_arguments(self, *args, **kwargs)  # wrong arguments raise a TypeError, as in any call
        with self._store.convert_unexpected_errors():
            return method(self, *args, **kwargs)

    return wrapper


def retry_on_conflict(function: Callable[[], R], before_retry: Callable[[], Any] = int) -> R:
    """Call a function until it does not raise `ArchiveConflict`; return its result.

    ``before_retry`` is called before each repeated call.
    """
    for attempt in range(MAX_COMMIT_TRIES - 1):
        try:
            return function()
        except ArchiveConflict:
            time.sleep(random.uniform(0.0, 0.02 * 2 ** min(attempt, 6)))
        before_retry()
    return function()


def writer_properties() -> Any:
    """Return deltalake's options for writing data files, which set the compression."""
    return import_deltalake().WriterProperties(compression="ZSTD", compression_level=6)


# -- the log of runs ----------------------------------------------------------------------------

RUNS_TABLE = "runs"

RUNS_SCHEMA = pa.schema(
    {
        "run": "string",
        "state": "string",
        "at": MOMENT_TYPE,
        "responses": "int64",
        "failed": "int64",
        "note": "string",
    }
)

RUN_EXPIRY_AGE = timedelta(hours=24)
"""How long an unfinished run may log nothing before it counts as interrupted."""


def new_run_name() -> str:
    """Return a new name for a run (a call that changes the archive); names sort by time.

    Examples
    --------
    >>> len(new_run_name())
    31
    """
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}Z-{secrets.token_hex(4)}"


@dataclass(frozen=True)
class RunLog:
    """The rows of the table ``runs``: the calls that changed the archive, and their states.

    ``table_exists`` is False if there is no such table, and thus no archive.
    """

    log_rows: list[dict[str, Any]]
    table_exists: bool = True

    def _find_run_names(self, *states: str) -> frozenset[str]:
        """Return the names of the runs that are in the log with any of the given states."""
        return frozenset(log_row["run"] for log_row in self.log_rows if log_row["state"] in states)

    @property
    def committed_run_names(self) -> frozenset[str]:
        """The names of the finished runs, whose rows are visible to readers."""
        return self._find_run_names("committed")

    @property
    def unfinished_run_names(self) -> frozenset[str]:
        """The names of the runs that have begun, but were neither committed nor removed."""
        return self._find_run_names("begun", "alive") - self._find_run_names("committed", "removed")

    @property
    def begun_run_names(self) -> frozenset[str]:
        """The names of all runs, finished or not, that may have rows in the tables."""
        return self._find_run_names("begun", "alive", "committed") - self._find_run_names("removed")

    @property
    def removed_run_names(self) -> frozenset[str]:
        """The names of the interrupted runs whose rows are being removed or were removed."""
        return self._find_run_names("removing", "removed")

    @property
    def rebuilding_run_names(self) -> frozenset[str]:
        """The names of the calls of `Archive.rebuild` that have not finished."""
        return self._find_run_names("rebuilding") - self._find_run_names("rebuilt")

    def expired_run_names(self, now: datetime) -> frozenset[str]:
        """Return the names of the unfinished runs that have not written to the log for a day."""
        last_log_time_by_run: dict[str, datetime] = {}
        for log_row in self.log_rows:
            last_log_time_by_run[log_row["run"]] = max(
                log_row["at"], last_log_time_by_run.get(log_row["run"], log_row["at"])
            )
        return frozenset(
            run_name
            for run_name in self.unfinished_run_names
            if now - last_log_time_by_run[run_name] > RUN_EXPIRY_AGE
        )


def read_run_log(store: ArchiveStore) -> RunLog:
    """Read the log of runs, i.e. of all calls that changed the archive."""
    log_rows = store.read_rows(RUNS_TABLE)
    return RunLog(log_rows or [], log_rows is not None)


def log_run_state(
    store: ArchiveStore,
    run_name: str,
    state: str,
    *,
    check_log: Callable[[RunLog], None] = lambda _: None,
    **count_by_column: int,
) -> None:
    """Append a row to the log of runs, i.e. of calls that change the archive.

    Parameters
    ----------
    store : ArchiveStore
        The Delta tables of the archive.
    run_name : str
        The name of the run.
    state : str
        The new state of the run, such as ``"committed"``.
    check_log : callable, optional
        A function that is called with the current log. If it raises an error, no row is appended.
    **counts : int
        The numbers of ``responses`` and of ``failed`` requests.
    """
    versions_json = to_json_text(software_versions())
    logged_at = datetime.now(UTC)
    log_row = {
        "run": run_name,
        "state": state,
        "at": logged_at,
        "note": versions_json,
        **count_by_column,
    }
    new_rows = pa.Table.from_pylist([log_row], RUNS_SCHEMA)

    def append_row() -> None:
        table = store.open_or_create(RUNS_TABLE, RUNS_SCHEMA)
        with store.convert_errors(RUNS_TABLE):
            log_rows = store.arrow_dataset(RUNS_TABLE, table).to_table().to_pylist()
        check_log(RunLog(log_rows))
        store.append_rows(table, new_rows, transaction_number=int(table.version()))

    retry_on_conflict(append_row)


# -- checksums -------------------------------------------------------------------------------------

CHECKSUMS_FOLDER = "checksums"


class Checksums:
    """The recorded SHA-256 of an archive's files.

    The dict ``digests_by_table`` has the hashes by table, and then by the path of the file. They
    are read from the files of checksums in the archive, which are cached. If ``ignores_cache`` is
    true, these files are read again.
    """

    def __init__(self, store: ArchiveStore, *, ignores_cache: bool = False) -> None:
        self._store = store
        self.damaged_file_names: list[str] = []
        self.digests_by_table: dict[str, dict[str, str]] = {}
        self.run_names: set[str] = set()
        self.unchecked_count = 0
        if ignores_cache:
            store.cached_checksums.clear()
        with store.convert_errors(CHECKSUMS_FOLDER):
            file_infos = store.file_system.get_file_info(
                FileSelector(CHECKSUMS_FOLDER, allow_not_found=True)
            )
            self.file_names = sorted(
                file_info.base_name for file_info in file_infos if file_info.is_file
            )
            content_by_file_name = {
                file_name: self._read_content(file_name)
                for file_name in self.file_names
                if file_name.endswith(".json")
            }
        replaced_file_names = {
            replaced_file_name
            for content in content_by_file_name.values()
            for replaced_file_name in content.get("replaces", ())
        }
        for file_name, content in content_by_file_name.items():
            if file_name not in replaced_file_names and content:
                self.run_names.update(content["runs"])
                for table_path, digest_by_path in content["files"].items():
                    self.digests_by_table.setdefault(table_path, {}).update(digest_by_path)

    def _read_content(self, file_name: str) -> dict[str, Any]:
        """Return the content of one file of checksums; an empty dict if the file is damaged."""
        content_by_file_name = self._store.cached_checksums
        if file_name not in content_by_file_name:
            with self._store.file_system.open_input_stream(
                f"{CHECKSUMS_FOLDER}/{file_name}"
            ) as stream:
                content_bytes = stream.read()
            if f"{sha256_of(content_bytes)}.json" != file_name:
                self.damaged_file_names.append(file_name)
                return {}
            content_by_file_name[file_name] = json.loads(content_bytes)
        return content_by_file_name[file_name]

    def find_problems(self, table_path: str) -> Iterator[str]:
        """Yield a sentence for each missing or altered file of the Delta table ``table_path``."""
        try:
            table = self._store.open_table(table_path)
            if table is not None:
                yield from self._find_file_problems(table_path, table)
            elif table_path in self.digests_by_table:
                yield "the table is missing"
        except (ArchiveError, OSError) as error:
            yield str(error)

    def _find_file_problems(self, table_path: str, table: Any) -> Iterator[str]:
        recorded_digest_by_path = self.digests_by_table.get(table_path, {})
        store = self._store
        recorded_version = max(map(_read_log_version, recorded_digest_by_path), default=-1)
        if table.version() < recorded_version:
            yield (
                f"its last commits are gone: it is at {table.version()}, and was at "
                f"{recorded_version}"
            )
        for file_path in list_file_paths(store, table_path, table):
            self.unchecked_count += file_path not in recorded_digest_by_path
            full_path = f"{table_path}/{file_path}"
            # Reading a pipe or a device might never end.
            if not store.file_system.get_file_info(full_path).is_file:
                yield f"the file {file_path} is missing, or no file"
            elif (digest := _hash_file(store, full_path)) != recorded_digest_by_path.get(
                file_path, digest
            ):
                yield f"the file {file_path} is not what was written"


def add_checksums(
    store: ArchiveStore, table_by_path: Mapping[str, Any | None], run_names: Iterable[str] = ()
) -> None:
    """Record the SHA-256 of those files of Delta tables that have no recorded SHA-256 yet.

    ``table_by_path`` has the tables by their paths. ``run_names`` are the names of the runs (calls
    that changed the archive) which wrote the files.
    """
    digests_by_table = Checksums(store).digests_by_table
    new_digests_by_table = {}
    for table_path, table in table_by_path.items():
        recorded_digest_by_path = digests_by_table.get(table_path, {})
        new_digest_by_path = {
            file_path: digest
            for file_path, digest in _find_digests(
                store, table_path, table, recorded_digest_by_path
            )
            if file_path not in recorded_digest_by_path
        }
        if new_digest_by_path:
            new_digests_by_table[table_path] = new_digest_by_path
    if run_names or new_digests_by_table:
        _write_checksums(
            store, {"runs": sorted(run_names), "replaces": [], "files": new_digests_by_table}
        )


def replace_checksums(
    store: ArchiveStore,
    table_by_path: Mapping[str, Any | None],
    *,
    new_table_paths: Collection[str] = (),
) -> None:
    """Record the SHA-256 of all files in one new file of checksums, and delete the older ones.

    ``table_by_path`` has Delta tables by their paths. For those in ``new_table_paths``, the
    checksums are computed again.
    """
    committed_run_names = read_run_log(store).committed_run_names
    checksums = Checksums(store)
    digests_by_table = {
        table_path: dict(
            _find_digests(
                store,
                table_path,
                table,
                {}
                if table_path in new_table_paths
                else checksums.digests_by_table.get(table_path, {}),
            )
        )
        for table_path, table in table_by_path.items()
    }
    run_names = sorted(committed_run_names | checksums.run_names)
    new_file_name = _write_checksums(
        store, {"runs": run_names, "replaces": checksums.file_names, "files": digests_by_table}
    )
    with store.convert_errors(CHECKSUMS_FOLDER):
        for file_name in {*checksums.file_names} - {new_file_name}:
            store.file_system.delete_file(f"{CHECKSUMS_FOLDER}/{file_name}")


def _find_digests(
    store: ArchiveStore,
    table_path: str,
    table: Any | None,
    recorded_digest_by_path: Mapping[str, str],
) -> Iterator[tuple[str, str]]:
    """Yield the path and the SHA-256 of each file of a table.

    ``recorded_digest_by_path`` has the hashes that need not be computed again.
    """
    with store.convert_errors(table_path):
        for file_path in () if table is None else list_file_paths(store, table_path, table):
            yield (
                file_path,
                recorded_digest_by_path.get(file_path)
                or _hash_file(store, f"{table_path}/{file_path}"),
            )


def _write_checksums(store: ArchiveStore, checksums_content: Mapping[str, Any]) -> str:
    """Write a file of checksums, named after its own SHA-256, and return its name.

    ``checksums_content`` has the names of runs and of replaced files, and the hashes by table and
    file.
    """
    content_bytes = to_json_text(checksums_content).encode()
    file_name = f"{sha256_of(content_bytes)}.json"
    with store.convert_errors(CHECKSUMS_FOLDER):
        store.write_file(f"{CHECKSUMS_FOLDER}/{file_name}", content_bytes)
    return file_name


def list_file_paths(store: ArchiveStore, table_path: str, table: Any) -> Iterator[str]:
    """Yield the paths of the data files and log files of a Delta table, within its folder."""
    # Not get_add_actions, which converts the statistics of every column.
    for file_uri in table.file_uris():
        yield unquote(
            "/".join(file_uri.rsplit("/", 2)[-2 if "/month=" in unquote(file_uri) else -1 :])
        )
    log_file_selector = FileSelector(f"{table_path}/_delta_log", allow_not_found=True)
    for file_info in store.file_system.get_file_info(log_file_selector):
        if file_info.is_file and file_info.base_name[:1].isdigit():
            yield f"_delta_log/{file_info.base_name}"


def _read_log_version(file_path: str) -> int:
    """Return the table version in the name of a Delta log file; -1 for other files."""
    folder, _, file_name = file_path.partition("/")
    return int(file_name[:20]) if folder == "_delta_log" and file_name[20:] == ".json" else -1


def _hash_file(store: ArchiveStore, file_path: str) -> str:
    """Return the SHA-256 of a file of the archive, in hexadecimal."""
    with store.file_system.open_input_stream(file_path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
