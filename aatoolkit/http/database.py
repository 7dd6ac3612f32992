"""One SQLite file for many threads and processes, whose failures are warnings, never errors.

Threads share the file, not a connection: each takes one from a pool and returns it, so no
connection is ever used by two threads at once. Within a process one thread writes at a time;
locks of other processes are waited for, but not for long.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import warnings
import weakref
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from aatoolkit.errors import CacheWarning
from aatoolkit.http.cache_dir import FILE_NAME, make_private

T = TypeVar("T")
Action = Callable[[sqlite3.Connection], T]

_BUSY_SECONDS = 2.0
_REST_SECONDS = 1.0, 60.0
"""For how long a locked file is not used: at first, doubled each time, and at most."""

_PATIENCE = 60.0
"""How long a file may be locked before somebody has to know."""

_LOG_SIZE = 16 * 2**20
"""The bytes of the write-ahead log at which it is moved to the file."""

_APPLICATION = 0x61617463
_VERSION = 1
_SCHEMA = """
CREATE TABLE answers
    (key TEXT PRIMARY KEY, head TEXT NOT NULL, seal TEXT NOT NULL, body BLOB NOT NULL);
CREATE TABLE register
    (key TEXT PRIMARY KEY, origin TEXT NOT NULL, host TEXT NOT NULL, fetched_at TEXT NOT NULL,
     size INTEGER NOT NULL, used INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX by_use ON register (used, size);
CREATE TABLE facts (name TEXT PRIMARY KEY, value BLOB NOT NULL);
"""
"""Uses are in a table of their own, so that updating them does not rewrite the bodies."""

FAULTS = (sqlite3.Error, OSError, MemoryError, UnicodeError, OverflowError)
"""What using a file can raise; a damaged one also by invalid UTF-8 and impossible sizes."""


class OtherVersionError(sqlite3.DatabaseError):
    """The file is a cache of another version."""


class Database:
    """The SQLite file in a folder; the first failure is a warning, none is raised.

    Parameters
    ----------
    folder
        The folder; it and the file are created, private to their owner.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._reads_from = self._writes_from = 0.0
        # Since when reads (False) and writes (True) have met a lock.
        self._locked_since: dict[bool, float] = {}
        self._rest = _REST_SECONDS[0]
        self._warned = False
        self._start()
        self.read(lambda connection: None, None)

    @property
    def failed(self) -> bool:
        """Whether the file cannot be read."""
        return time.monotonic() < self._reads_from

    def read(self, action: Action[T], default: T) -> T:
        """Run an action that reads; returns ``default`` where the file cannot be used."""
        self._check_process()
        return default if self.failed else self._run(action, default, writes=False)

    def write(self, action: Action[T], default: T) -> T:
        """Run an action that writes, in a transaction."""
        return self._write(lambda connection: _transaction(connection, action), default)

    def shrink(self) -> None:
        """Return the free space of the file to the file system, unless that is a lock's."""
        self._write(_shrink_unlocked, None)

    def retry(self) -> None:
        """Use a locked file again now, without waiting until it has rested."""
        if self.is_locked:
            self._writes_from = self._reads_from = 0.0

    @property
    def is_locked(self) -> bool:
        """Whether a lock kept the file from being used the last time."""
        return bool(self._locked_since)

    def warn(self, doing: str, why: object) -> None:
        """Warn that the file cannot be used; once for each object."""
        known, self._warned = self._warned, True
        if not known:
            warnings.warn(
                f"the cache in {self.folder} cannot be {doing} ({why}); answers come from the "
                "network. `aatoolkit cache --clear` empties it; it can also be in another folder",
                CacheWarning,
                stacklevel=2,
            )

    @property
    def writing(self) -> threading.RLock:
        """What the thread that writes holds."""
        self._check_process()
        return self._writing

    def close(self) -> None:
        """Close the idle connections."""
        self._opened[:] = [each for each in self._opened if each not in self._idle]
        _close_all(self._idle)

    def _write(self, action: Action[T], default: T) -> T:
        self._check_process()
        with self._writing:
            if time.monotonic() < max(self._reads_from, self._writes_from):
                return default
            return self._run(action, default, writes=True)

    def _run(self, action: Action[T], default: T, *, writes: bool) -> T:
        try:
            connection = self._borrow()
        except FAULTS as error:
            self._fail(error, writes=False)
            return default
        try:
            found = action(connection)
            for kind in {False, writes} if self._locked_since else ():
                self._locked_since.pop(kind, None)
            return found
        except FAULTS as error:
            self._fail(error, writes)
            return default
        finally:
            self._idle.append(connection)

    def _borrow(self) -> sqlite3.Connection:
        try:
            return self._idle.pop()
        except IndexError:
            connection = connect(self.folder)
            self._opened.append(connection)
            return connection

    def _start(self) -> None:
        self._process = os.getpid()
        self._writing = threading.RLock()
        self._idle: deque[sqlite3.Connection] = deque()
        self._opened: list[sqlite3.Connection] = []
        weakref.finalize(self, _close_all, self._idle)

    def _check_process(self) -> None:
        """Start again after a fork: SQLite takes the parent's locks for its own.

        Only when every inherited connection is closed does SQLite see what is really locked.
        """
        if self._process == os.getpid():
            return
        in_use = len(self._opened) > len(self._idle)
        _close_all(self._idle)
        self._start()
        if in_use:
            self._fail(OSError("this process was forked while it was in use"), writes=False)

    def _fail(self, error: Exception, writes: bool) -> None:
        """Stop using the file: for a while if it is locked, else for good and with a warning."""
        now, code = time.monotonic(), getattr(error, "sqlite_errorcode", 0) & 0xFF
        until = float("inf")
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            least, most = _REST_SECONDS
            self._rest = min(2 * self._rest, most) if writes in self._locked_since else least
            self._locked_since.setdefault(writes, now)
            until = now + self._rest
        if writes and code not in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            self._writes_from = until
        else:
            self._reads_from = until
        # A lock alone costs nothing yet: what could not be written is written later.
        if until == float("inf") or now - self._locked_since[writes] > _PATIENCE:
            self.warn("written to" if writes else "used", error)


def connect(folder: Path) -> sqlite3.Connection:
    """Open the file of a folder, private to its owner; read-only where it cannot be written.

    Raises
    ------
    sqlite3.Error, OSError
        If it cannot be opened, or is not a cache of this version.
    """
    file = folder / FILE_NAME
    make_private(folder)
    uri = file.absolute().as_uri()
    if os.access(file, os.W_OK) and os.access(folder, os.W_OK):
        return _open(f"{uri}?mode=rw", _set_up)
    # Without write access to the folder SQLite only reads a file declared immutable.
    beside = file.with_name(f"{FILE_NAME}-wal")
    return _open(f"{uri}?{'mode=ro' if beside.exists() else 'immutable=1'}", _check)


def shrink(connection: sqlite3.Connection) -> None:
    """Truncate the free pages of the file, and the write-ahead log."""
    # As a script: `execute` would stop after the first page.
    connection.executescript("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)")


def _shrink_unlocked(connection: sqlite3.Connection) -> None:
    """Shrink the file if that needs no waiting: whoever waits for readers keeps out writers."""
    connection.execute("PRAGMA busy_timeout=0")
    try:
        shrink(connection)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise
    finally:
        connection.execute(f"PRAGMA busy_timeout={int(1000 * _BUSY_SECONDS)}")


def _open(uri: str, prepare: Callable[[sqlite3.Connection], None]) -> sqlite3.Connection:
    connection = sqlite3.connect(
        uri, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False, uri=True
    )
    try:
        prepare(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _set_up(connection: sqlite3.Connection) -> None:
    if _is_empty(connection):
        _begin(connection)
    _check(connection)
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute(f"PRAGMA journal_size_limit={_LOG_SIZE}")
    # A checkpoint waits for the disk, and every writer for the checkpoint.
    page_size = _number(connection, "page_size")
    connection.execute(f"PRAGMA wal_autocheckpoint={_LOG_SIZE // page_size}")
    connection.execute("PRAGMA mmap_size=0")  # a file cut short would end the process


def _begin(connection: sqlite3.Connection) -> None:
    """Create the tables of a new file, after the settings that are fixed with it."""
    ends = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            # In this order: the first must be set before the file has content.
            connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
            connection.execute("PRAGMA journal_mode=WAL")
            break
        except sqlite3.OperationalError as error:
            # SQLite does not wait for a lock while it changes the journal mode.
            if "locked" not in str(error) or time.monotonic() > ends:
                raise
            time.sleep(0.01)
    _transaction(connection, _make_tables)


def _is_empty(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("SELECT count(*) = 0 FROM sqlite_master").fetchone()[0])


def _make_tables(connection: sqlite3.Connection) -> None:
    if _is_empty(connection):  # no other process was first
        for statement in _SCHEMA.split(";"):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id={_APPLICATION}")
        connection.execute(f"PRAGMA user_version={_VERSION}")


def _check(connection: sqlite3.Connection) -> None:
    found = _number(connection, "application_id"), _number(connection, "user_version")
    if found[0] != _APPLICATION:
        raise sqlite3.DatabaseError("its file is not one of aatoolkit")
    if found[1] != _VERSION:
        raise OtherVersionError("its file is of another version of aatoolkit")


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])


def _transaction(connection: sqlite3.Connection, action: Action[T]) -> T:
    """Run an action in a transaction."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        found = action(connection)
        connection.execute("COMMIT")
        return found
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _close_all(connections: deque[sqlite3.Connection]) -> None:
    while connections:
        connections.pop().close()
