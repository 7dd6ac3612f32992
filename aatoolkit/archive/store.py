"""The Delta tables of an archive: open, create, append, with typed errors."""

from __future__ import annotations

import contextlib
import errno
import os
import random
import re
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, wraps
from pathlib import Path
from types import ModuleType
from typing import Any, Concatenate, ParamSpec, TypeVar
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.dataset as ds
from pyarrow.fs import FileSystem, LocalFileSystem, PyFileSystem, SubTreeFileSystem

from aatoolkit._util.defaults import needed
from aatoolkit._util.text import visible
from aatoolkit.errors import AAToolkitError, ArchiveConflict, ArchiveError

P = ParamSpec("P")
R = TypeVar("R")

TRIES = 20
"""How often a commit that another writer overtook is tried again."""


def engine() -> ModuleType:
    """The package deltalake.

    Raises
    ------
    PackageMissing
        If it is not installed; it says what to install.
    """
    with needed("an archive needs", "archive"):
        import deltalake
    return deltalake


def duckdb() -> ModuleType:
    """The package duckdb.

    Raises
    ------
    PackageMissing
        If it is not installed; it says what to install.
    """
    with needed("an archive needs", "archive"):
        import duckdb as found
    return found


class ArchiveStore:
    """Delta tables below one folder or one prefix of an object store.

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
        self._peeked: dict[str, tuple[Any, Any]] = {}
        self._rows: dict[str, tuple[Any, list[dict[str, Any]]]] = {}
        self.options = {name: str(value) for name, value in (storage_options or {}).items()}
        self.checksums: dict[str, dict[str, Any]] = {}

    def __getstate__(self) -> dict[str, Any]:
        # Open tables stay in their process.
        state = self.__dict__ | {"_peeked": {}, "_rows": {}, "checksums": {}}
        return {name: value for name, value in state.items() if name != "files"}

    @cached_property
    def files(self) -> FileSystem:
        """All files of the archive.

        The files of a folder are read by Arrow alone. A file system written in Python, as deltalake
        gives, is released by threads of Arrow, which end the process with an error where the
        interpreter is being shut down meanwhile.
        """
        if self.is_local:
            return SubTreeFileSystem(self.root, LocalFileSystem())
        from deltalake.fs import DeltaStorageHandler

        return PyFileSystem(DeltaStorageHandler(self.root, self.options or None))

    def write(self, path: str, content: bytes) -> None:
        """Write a file, which is whole or not there."""
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
        """The address of a table."""
        return f"{self.root}/{name}"

    def address(self, uri: str) -> str:
        """The address of a table's file for other engines: a path, or the URL of an object."""
        return unquote(uri) if self.is_local else uri

    def open(self, name: str, version: int | None = None) -> Any | None:
        """A table as it is now, as a ``DeltaTable``; None if there is none."""
        deltalake = engine()
        with self.errors(name):
            if self.is_local and not Path(self.uri(name), "_delta_log").is_dir():
                return None
        derived = not name.startswith(("responses", "runs"))
        hint = "; remove its folder and run archive.rebuild()" if derived else ""
        with self.errors(name, hint if self.is_local else ""):
            try:
                table = deltalake.DeltaTable(
                    self.uri(name), version=version, storage_options=self.options or None
                )
            except deltalake.exceptions.TableNotFoundError:
                return None
        return table

    def peek(self, name: str) -> Any | None:
        """A table as it is now, to be read only; None if there is none.

        It is opened again only if its log has changed, which the name and the time of the last
        file of the log show. In an object store it is opened each time.
        """
        last = self._last(name)
        known, table = self._peeked.get(name, (None, None))
        if last is None or known != last:
            table = self.open(name)
            if last is not None:
                self._peeked[name] = last, table
        return table

    def rows_of(self, name: str) -> list[dict[str, Any]] | None:
        """All rows of a small table as it is now; None if there is none."""
        table = self.peek(name)
        if table is None:
            return None
        known, rows = self._rows.get(name, (None, []))
        if known is not table:
            with self.errors(name):
                rows = self.dataset(name, table).to_table().to_pylist()
            self._rows[name] = table, rows
        return list(rows)

    def dataset(self, name: str, table: Any) -> ds.Dataset:
        """A table as an Arrow dataset."""
        local = self.is_local
        files = SubTreeFileSystem(self.uri(name), LocalFileSystem()) if local else None
        return table.to_pyarrow_dataset(filesystem=files)

    def _last(self, name: str) -> tuple[Any, ...] | None:
        """The identity of a table's newest log file; None where it cannot be looked up."""
        if not self.is_local:
            return None
        folder = Path(self.uri(name), "_delta_log")
        try:
            last = max((one for one in os.listdir(folder) if one.endswith(".json")), default=None)
            if last is None:
                return None
            facts = (folder / last).stat()
        except OSError:
            return None
        return last, facts.st_ino, facts.st_mtime_ns, facts.st_size

    def create(
        self,
        name: str,
        schema: pa.Schema,
        *,
        partitioned: bool = True,
        description: str | None = None,
        configuration: Mapping[str, str] | None = None,
    ) -> Any:
        """Open a table, creating it where it is missing; of two processes only one creates it."""
        deltalake = engine()
        found = self.open(name)
        if found is not None:
            return found
        settings = {"delta.checkpointInterval": "20", **(configuration or {})}
        with self.errors(name), contextlib.suppress(deltalake.exceptions.DeltaError):
            deltalake.DeltaTable.create(
                self.uri(name),
                schema,
                mode="error",
                partition_by=["month"] if partitioned else None,
                name=name.rpartition("/")[2],
                description=description,
                configuration=settings,
                storage_options=self.options or None,
                raise_if_key_not_exists=False,
            )
        found = self.open(name)
        if found is None:
            raise ArchiveError(
                f"the table {name} cannot be created at {self.root}; check that it may be "
                "written to",
                path=self.root,
            )
        return found

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
        commit = None
        if transaction is not None:
            marked = deltalake.Transaction("aatoolkit", transaction)
            commit = deltalake.CommitProperties(app_transactions=[marked])

        def commit_rows() -> None:
            with self.errors(table.metadata().name or "a table"):
                deltalake.write_deltalake(
                    table,
                    data,
                    mode="append",
                    writer_properties=written(),
                    commit_properties=commit,
                )

        if transaction is None:
            again(commit_rows, table.update_incremental)
        else:
            commit_rows()

    def actions(self, name: str, table: Any) -> list[dict[str, Any]]:
        """The data files of an open table: path, bytes, rows, and the range of their runs."""
        with self.errors(name):
            actions = pa.table(table.get_add_actions(flatten=True))
        kept = [name for name in _FACTS if name in actions.column_names]
        return list(actions.select(kept).to_pylist())

    @contextlib.contextmanager
    def errors(self, what: str, hint: str = "") -> Iterator[None]:
        """Convert the errors of the engines to errors of this package, without secrets."""
        found = engine().exceptions
        conflict, problem = False, ""
        try:
            yield
        except found.CommitFailedError as error:
            conflict, problem = True, self.masked(str(error))
        except (found.TableNotFoundError, found.SchemaMismatchError):
            raise
        except (found.DeltaError, found.DeltaProtocolError, OSError, pa.ArrowException) as error:
            problem = self.masked(str(error))
        if conflict:
            raise ArchiveConflict(
                f"another process wrote to {what} at the same time, and was first ({problem}); "
                "try again",
                path=self.root,
            )
        if problem:
            hint = hint or _remedy(problem)
            raise ArchiveError(f"{what} at {self.root}: {problem}{hint}", path=self.root)

    @contextlib.contextmanager
    def typed(self) -> Iterator[None]:
        """Convert whatever the content of an archive leads to, to `ArchiveError`.

        An archive may hold anything: rows of other shapes, metadata that is no JSON.
        """
        cause: Exception | None = None
        try:
            yield
        except (AAToolkitError, Warning):
            raise
        except Exception as error:
            cause = error
        if cause is not None:
            words = self.masked(f"{type(cause).__name__}: {cause}")
            raise ArchiveError(
                f"the archive at {self.root} cannot be used ({words}); archive.verify() says more, "
                "and archive.rebuild() makes tables anew from the responses",
                path=self.root,
            ).with_traceback(cause.__traceback__)

    def masked(self, text: str) -> str:
        """A message of an engine, on one line, without the values of options or secrets."""
        hidden = [
            value
            for name, value in (*self.options.items(), *os.environ.items())
            if len(value) > 5 and any(word in name.upper() for word in _SECRET)
        ]
        for value in sorted(hidden, key=len, reverse=True):
            text = text.replace(value, "…")
        line = " ".join(_COLOUR.sub("", text).split())
        return visible(line if len(line) <= 500 else f"{line[:499]}…")


def _remedy(problem: str) -> str:
    """What to do about an error of a file system, as far as its number says it."""
    found = _NUMBER.search(problem)
    number = int(found[1]) if found else 0
    if number in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT):
        return "; make room and do it again: what was committed before is whole"
    if number in (errno.EACCES, errno.EPERM, errno.EROFS):
        return "; check that the folder may be read and written"
    return ""


_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_NUMBER = re.compile(r"(?:os error |Errno )(\d+)")

_SECRET = ("KEY", "SECRET", "TOKEN", "PASSWORD", "CREDENTIAL", "SAS", "SIGNATURE")


def typed(method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """Have a method of an archive raise errors of this package alone, see `ArchiveStore.typed`."""

    @wraps(method)
    def whole(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self._store.typed():
            return method(self, *args, **kwargs)

    return whole


def again(act: Callable[[], R], before: Callable[[], Any] = int) -> R:
    """Do what other writers may overtake, again where one did; each time after a longer wait.

    ``before`` is called before it is done again.
    """
    for tried in range(TRIES):
        try:
            return act()
        except ArchiveConflict:
            if tried == TRIES - 1:
                raise
        time.sleep(random.uniform(0.0, 0.02 * 2 ** min(tried, 6)))
        before()
    raise AssertionError("unreachable")


def written() -> Any:
    """How data files are written."""
    return engine().WriterProperties(compression="ZSTD", compression_level=6)


_FACTS = ("path", "size_bytes", "num_records", "partition.month", "min.run", "max.run")
