"""The Delta tables of an archive, its log of runs, and its checksums.

The table ``runs`` is a log. A run is ``begun`` before anything of it is written, ``alive`` while
it goes on, ``committed`` when all of it is in place; ``removing`` before what a dead one left is
swept, ``removed`` after. Other rows are about all runs: ``forgotten``, ``rebuilding`` and
``rebuilt``. Its appends exclude each other, by a transaction that every one of them carries: who
commits has seen all that was committed before.

Checksums find damage that Delta does not. Files of Delta tables never change: data files and the
entries of logs are written once. Each run writes a file of checksums before it is committed, and
upkeep one in place of them all. A file of checksums is named by its own SHA-256, and says of which
runs it is: damage to it shows, and so does its loss.
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
from aatoolkit._util.files import mismatches
from aatoolkit._util.text import json_text, visible
from aatoolkit.errors import AAToolkitError, ArchiveConflict, ArchiveError
from aatoolkit.study.files import versions

P = ParamSpec("P")
R = TypeVar("R")

MOMENT = pa.timestamp("us", tz="UTC")

TRIES = 20
"""How often a commit that another writer overtook is tried again."""

_FACTS = ("size_bytes", "num_records", "partition.month")
REBUILD = "archive.verify() says more, and archive.rebuild() makes tables anew from the responses"


def engine() -> ModuleType:
    """Import and return deltalake.

    Raises
    ------
    PackageMissing
        If it is not installed; it says what to install.
    """
    with needed("an archive needs", "archive"):
        import deltalake
    return deltalake


def duckdb() -> ModuleType:
    """Import and return duckdb.

    Raises
    ------
    PackageMissing
        If it is not installed; it says what to install.
    """
    with needed("an archive needs", "archive"):
        import duckdb as package
    return package


class ArchiveStore:
    """The Delta tables in one folder, or below one prefix of an object store.

    Parameters
    ----------
    root : str or path
        The folder, or an address such as ``s3://bucket/history``.
    storage_options : mapping of str to str, optional
        Options of the object store, as deltalake takes them. Credentials are better left to the
        environment. They are never written.

    Raises
    ------
    ArchiveError
        If Delta tables cannot be in such a folder.
    """

    def __init__(
        self, root: str | os.PathLike[str], storage_options: Mapping[str, str] | None = None
    ) -> None:
        text = os.fspath(root)
        self.is_local = "://" not in text
        try:
            text.encode()
        except (UnicodeError, AttributeError):
            raise ArchiveError(
                f"no archive can be at {visible(str(root))}: it is no text that names a folder"
            ) from None
        self.root = str(Path(text).expanduser().absolute()) if self.is_local else text.rstrip("/")
        self.options = {name: str(value) for name, value in (storage_options or {}).items()}
        self._forget()

    def _forget(self) -> None:
        self._peeked: dict[str, tuple[Any, Any]] = {}
        self._rows: dict[str, tuple[Any, list[dict[str, Any]]]] = {}
        self.checksums: dict[str, dict[str, Any]] = {}

    def __getstate__(self) -> dict[str, Any]:
        # Open tables stay in their process.
        return {name: getattr(self, name) for name in ("root", "is_local", "options")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()

    @cached_property
    def files(self) -> FileSystem:
        """The file system of the archive.

        The files of a folder are read by Arrow alone. A file system written in Python, as deltalake
        gives, is released by threads of Arrow, which end the process with an error where the
        interpreter is being shut down meanwhile.
        """
        if self.is_local:
            return SubTreeFileSystem(self.root, LocalFileSystem())
        from deltalake.fs import DeltaStorageHandler

        return PyFileSystem(DeltaStorageHandler(self.root, self.options or None))

    def write(self, path: str, content: bytes) -> None:
        """Write a file atomically."""
        if self.is_local:
            self.files.create_dir(path.rpartition("/")[0])
            with self.files.open_output_stream(f"{path}.part") as stream:
                stream.write(content)
            self.files.move(f"{path}.part", path)
            return
        # Not the handler's own stream, which refuses the buffers that Arrow gives it.
        stream = self.files.handler._handler.open_output_stream(path, None)
        stream.write(content)
        stream.close()

    def uri(self, name: str) -> str:
        """Return the path or URI of a table."""
        return f"{self.root}/{name}"

    def open(self, name: str) -> Any | None:
        """Open the latest version of a table; None if there is none."""
        deltalake = engine()
        with self.errors(name):
            if self.is_local and not Path(self.uri(name), "_delta_log").is_dir():
                return None
            try:
                return deltalake.DeltaTable(self.uri(name), storage_options=self.options or None)
            except deltalake.exceptions.TableNotFoundError:
                return None

    def peek(self, name: str) -> Any | None:
        """Return the latest version of a table, cached, to read only; None if there is none.

        It is opened again only if its log has changed, which the name and the time of the last
        file of the log show. In an object store it is opened each time.
        """
        before, table = self._peeked.get(name, (None, None))
        last = self._last(name) if self.is_local else None
        if last is None or before != last:
            table = self.open(name)
            self._peeked[name] = last, table
        return table

    def rows_of(self, name: str) -> list[dict[str, Any]] | None:
        """Return all rows of a small table, cached; None if there is none."""
        table = self.peek(name)
        if table is None:
            return None
        before, rows = self._rows.get(name, (None, []))
        if before is not table:
            with self.errors(name):
                rows = self.dataset(name, table).to_table().to_pylist()
            self._rows[name] = table, rows
        return list(rows)

    def dataset(self, name: str, table: Any) -> ds.Dataset:
        """Return a table as an Arrow dataset."""
        files = SubTreeFileSystem(self.uri(name), LocalFileSystem()) if self.is_local else None
        return table.to_pyarrow_dataset(filesystem=files)

    def _last(self, name: str) -> tuple[Any, ...] | None:
        """Return the identity of a table's latest log file; None if there is none."""
        folder = Path(self.uri(name), "_delta_log")
        with contextlib.suppress(OSError, ValueError):
            last = max(file for file in os.listdir(folder) if file.endswith(".json"))
            facts = (folder / last).stat()
            return last, facts.st_ino, facts.st_mtime_ns, facts.st_size
        return None

    def create(
        self,
        name: str,
        schema: pa.Schema,
        *,
        is_partitioned: bool = True,
        configuration: Mapping[str, str] | None = None,
    ) -> Any:
        """Open a table, and create it if it is missing."""
        deltalake = engine()
        table = self.open(name)
        if table is not None:
            return table
        with self.errors(name), contextlib.suppress(deltalake.exceptions.DeltaError):
            deltalake.DeltaTable.create(
                self.uri(name),
                schema,
                mode="error",
                partition_by=["month"] if is_partitioned else None,
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
        """Append rows in one commit.

        With a ``transaction`` the commit fails if any other such commit was made since the table
        was opened; without one, commits of other writers are no obstacle.

        Raises
        ------
        ArchiveConflict
            If another writer was first.
        """
        deltalake = engine()
        options = {"mode": "append", "writer_properties": write_options()}
        if transaction is not None:
            marks = [deltalake.Transaction("aatoolkit", transaction)]
            options["commit_properties"] = deltalake.CommitProperties(app_transactions=marks)

        def commit() -> None:
            with self.errors(table.metadata().name or "a table"):
                deltalake.write_deltalake(table, data, **options)

        if transaction is None:
            again(commit, table.update_incremental)
        else:
            commit()

    def actions(self, name: str, table: Any) -> list[dict[str, Any]]:
        """Return the data files of an open table: their bytes, rows and months."""
        with self.errors(name):
            actions = pa.table(table.get_add_actions(flatten=True))
        names = [name for name in _FACTS if name in actions.column_names]
        return list(actions.select(names).to_pylist())

    @contextlib.contextmanager
    def errors(self, name: str) -> Iterator[None]:
        """Convert errors of deltalake and Arrow to errors of this package."""
        kinds = engine().exceptions
        try:
            yield
        except (kinds.TableNotFoundError, kinds.SchemaMismatchError):
            raise
        except kinds.CommitFailedError as error:
            raise ArchiveConflict(
                f"another process wrote to {name} at the same time, and was first "
                f"({one_line(error)}); try again",
                path=self.root,
            ) from None
        except (kinds.DeltaError, kinds.DeltaProtocolError, OSError, pa.ArrowException) as error:
            raise ArchiveError(
                f"{name} at {self.root}: {one_line(error)}; what was committed before is whole: "
                f"{REBUILD}",
                path=self.root,
            ) from None

    @contextlib.contextmanager
    def typed(self) -> Iterator[None]:
        """Convert all errors that the files of an archive cause to `ArchiveError`.

        An archive may hold anything: rows of other shapes, metadata that is no JSON.
        """
        try:
            yield
        except (AAToolkitError, Warning):
            raise
        except Exception as error:
            words = one_line(f"{type(error).__name__}: {error}")
            raise ArchiveError(
                f"the archive at {self.root} cannot be used ({words}); {REBUILD}", path=self.root
            ).with_traceback(error.__traceback__) from None


def one_line(message: object) -> str:
    """Return the message of an error on one line, without colours."""
    line = " ".join(re.sub(r"\x1b\[[0-9;]*m", "", str(message)).split())
    return visible(line if len(line) <= 500 else f"{line[:499]}…")


def typed(method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """Decorate a method of an archive so that it raises only errors of this package."""

    bind = inspect.signature(method).bind

    @wraps(method)
    def wrapped(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        bind(self, *args, **kwargs)  # a wrong argument is the caller's, not the archive's
        with self._store.typed():
            return method(self, *args, **kwargs)

    return wrapped


def again(act: Callable[[], R], before: Callable[[], Any] = int) -> R:
    """Retry a function while another writer conflicts, with growing waits.

    ``before`` is called before each retry.
    """
    for attempt in range(TRIES - 1):
        try:
            return act()
        except ArchiveConflict:
            time.sleep(random.uniform(0.0, 0.02 * 2 ** min(attempt, 6)))
        before()
    return act()


def write_options() -> Any:
    """Return the options by which data files are written."""
    return engine().WriterProperties(compression="ZSTD", compression_level=6)


# -- the log of runs ----------------------------------------------------------------------------

RUNS = "runs"

RUNS_SCHEMA = pa.schema(
    {
        "run": pa.string(),
        "state": pa.string(),
        "at": MOMENT,
        "responses": pa.int64(),
        "failed": pa.int64(),
        "note": pa.string(),
    }
)

DEAD_AFTER = timedelta(hours=24)
"""How long a run may give no sign before what it left behind is swept."""


def new_run() -> str:
    """Create the name of a run; names sort by time.

    Examples
    --------
    >>> len(new_run())
    31
    """
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}Z-{secrets.token_hex(4)}"


@dataclass(frozen=True)
class RunLog:
    """The log of runs at one moment.

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
        """The runs whose rows are visible."""
        return self._of("committed")

    @property
    def unfinished(self) -> frozenset[str]:
        """The runs that were begun and not committed."""
        return self._of("begun", "alive") - self._of("committed", "removed")

    @property
    def begun(self) -> frozenset[str]:
        """The runs that may have rows in the tables, committed or not."""
        return self._of("begun", "alive", "committed") - self._of("removed")

    @property
    def removing(self) -> frozenset[str]:
        """The runs whose rows are being removed, or were: they cannot be committed."""
        return self._of("removing", "removed")

    @property
    def rebuilding(self) -> frozenset[str]:
        """The rebuilds that were begun and not completed."""
        return self._of("rebuilding") - self._of("rebuilt")

    def dead(self, now: datetime) -> frozenset[str]:
        """Return the unfinished runs that have logged nothing for long."""
        signs: dict[str, datetime] = {}
        for row in self.rows:
            signs[row["run"]] = max(row["at"], signs.get(row["run"], row["at"]))
        return frozenset(run for run in self.unfinished if now - signs[run] > DEAD_AFTER)


def read_runs(store: ArchiveStore) -> tuple[RunLog, bool]:
    """Return the log of runs, and whether the archive exists."""
    rows = store.rows_of(RUNS)
    return RunLog(rows or []), rows is not None


def log(
    store: ArchiveStore,
    run: str,
    state: str,
    *,
    check: Callable[[RunLog], None] = lambda _: None,
    **counts: int,
) -> None:
    """Append a row to the log of runs; ``check`` may raise after it saw the rows before.

    Raises
    ------
    ArchiveConflict
        If other writers were first time and again.
    """
    facts = {"run": run, "state": state, "note": json_text(versions()), **counts}
    row = {**facts, "at": datetime.now(UTC)}
    data = pa.Table.from_pylist([row], RUNS_SCHEMA)

    def append() -> None:
        table = store.create(RUNS, RUNS_SCHEMA, is_partitioned=False)
        with store.errors(RUNS):
            rows = store.dataset(RUNS, table).to_table().to_pylist()
        check(RunLog(rows))
        store.append(table, data, transaction=int(table.version()))

    again(append)


# -- checksums -------------------------------------------------------------------------------------

FOLDER = "checksums"

_BLOCK = 1 << 20


class Checksums:
    """The recorded checksums of the files of an archive.

    Parameters
    ----------
    store
        The archive.
    anew
        Whether to read them again, though they were read before.

    Attributes
    ----------
    files : dict of str to dict of str to str
        The SHA-256 of each file, by table and path.
    runs : set of str
        The runs whose files have checksums.
    damaged : list of str
        The names of files of checksums that are not what was written.
    unchecked : int
        The files met by `problems` that have no checksum.
    """

    def __init__(self, store: ArchiveStore, *, is_new: bool = False) -> None:
        self._store = store
        self.damaged: list[str] = []
        self.files: dict[str, dict[str, str]] = {}
        self.runs: set[str] = set()
        self.unchecked = 0
        if is_new:
            store.checksums.clear()
        with store.errors(FOLDER):
            infos = store.files.get_file_info(FileSelector(FOLDER, allow_not_found=True))
            self.names = sorted(info.base_name for info in infos if info.is_file)
            parts = {name: self._part(name) for name in self.names if name.endswith(".json")}
        replaced = {old for part in parts.values() for old in part.get("replaces", ())}
        for name, part in parts.items():
            if name not in replaced and part:
                self.runs.update(part["runs"])
                for table, sums in part["files"].items():
                    self.files.setdefault(table, {}).update(sums)

    def _part(self, name: str) -> dict[str, Any]:
        """Read one file of checksums; empty if it is damaged."""
        parts = self._store.checksums
        if name not in parts:
            with self._store.files.open_input_stream(f"{FOLDER}/{name}") as stream:
                text = stream.read()
            if f"{hashlib.sha256(text).hexdigest()}.json" != name:
                self.damaged.append(name)
                return {}
            parts[name] = json.loads(text)
        return parts[name]

    def problems(self, name: str) -> Iterator[str]:
        """Yield the differences of a table's files from their checksums."""
        try:
            table = self._store.open(name)
            if table is not None:
                yield from self._differing(name, table)
            elif name in self.files:
                yield "the table is missing"
        except (ArchiveError, OSError) as error:
            yield str(error)

    def _differing(self, name: str, table: Any) -> Iterator[str]:
        recorded, store = self.files.get(name, {}), self._store
        last = max(map(_version, recorded), default=-1)
        if table.version() < last:
            yield f"its last commits are gone: it is at {table.version()}, and was at {last}"
        paths = [*paths_of(store, name, table)]
        actual = {
            path: _sha256(store, f"{name}/{path}")
            for path in paths
            # A pipe or a device would be waited for, for ever.
            if store.files.get_file_info(f"{name}/{path}").is_file
        }
        self.unchecked += len({*paths} - {*recorded})
        expected = {path: recorded.get(path, actual.get(path, "")) for path in paths}
        for kind, path in mismatches(expected, actual):
            state = "missing, or no file" if kind == "missing" else "not what was written"
            yield f"the file {path} is {state}"


def note(store: ArchiveStore, tables: Mapping[str, Any | None], runs: Iterable[str] = ()) -> None:
    """Record the checksums of new files that some runs wrote."""
    recorded = Checksums(store).files
    sums = {}
    for name, table in tables.items():
        before = recorded.get(name, {})
        new = {
            path: digest for path, digest in _sums(store, name, table, before) if path not in before
        }
        if new:
            sums[name] = new
    if runs or sums:
        _write(store, {"runs": sorted(runs), "replaces": [], "files": sums})


def note_all(
    store: ArchiveStore, tables: Mapping[str, Any | None], *, new_tables: Collection[str] = ()
) -> None:
    """Record the checksums of all tables in one file, which replaces all others.

    Parameters
    ----------
    store
        The archive.
    tables
        All its tables, open.
    anew
        The tables that were just made of others, whatever they were before.
    """
    committed = read_runs(store)[0].committed
    old = Checksums(store)
    sums = {
        name: dict(_sums(store, name, table, {} if name in new_tables else old.files.get(name, {})))
        for name, table in tables.items()
    }
    runs = sorted(committed | old.runs)
    latest = _write(store, {"runs": runs, "replaces": old.names, "files": sums})
    with store.errors(FOLDER):
        for name in {*old.names} - {latest}:
            store.files.delete_file(f"{FOLDER}/{name}")


def _sums(
    store: ArchiveStore, name: str, table: Any | None, recorded: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Yield the files of a table with their checksums."""
    with store.errors(name):
        for path in () if table is None else paths_of(store, name, table):
            yield path, recorded.get(path) or _sha256(store, f"{name}/{path}")


def _write(store: ArchiveStore, content: Mapping[str, Any]) -> str:
    text = json_text(content).encode()
    name = f"{hashlib.sha256(text).hexdigest()}.json"
    with store.errors(FOLDER):
        store.write(f"{FOLDER}/{name}", text)
    return name


def paths_of(store: ArchiveStore, name: str, table: Any) -> Iterator[str]:
    """Yield the immutable files of a table: its data and its log."""
    # Not get_add_actions, which converts the statistics of every column.
    for uri in table.file_uris():
        yield unquote("/".join(uri.rsplit("/", 2)[-2 if "/month=" in unquote(uri) else -1 :]))
    log = FileSelector(f"{name}/_delta_log", allow_not_found=True)
    for info in store.files.get_file_info(log):
        if info.is_file and info.base_name[:1].isdigit():
            yield f"_delta_log/{info.base_name}"


def _version(path: str) -> int:
    """Return the version of a log file; -1 for another file."""
    folder, _, name = path.partition("/")
    return int(name[:20]) if folder == "_delta_log" and name[20:] == ".json" else -1


def _sha256(store: ArchiveStore, path: str) -> str:
    digest = hashlib.sha256()
    with store.files.open_input_stream(path) as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
