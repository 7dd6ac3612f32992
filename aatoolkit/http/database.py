"""One SQLite file for many threads and processes, which costs a warning at worst.

Threads share the file, not a connection: each borrows one from a small stock and puts it back,
so no connection is ever used by two threads at once. Of one process one thread writes at a time;
other processes are waited for, but not for long.
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
_REST_SECONDS = 60.0
"""For how long a file that others hold on to is left alone."""

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
"""Bodies stand apart from when they were used, which would else be written with the body."""

FAULTS = (sqlite3.Error, OSError, MemoryError, UnicodeError, OverflowError)
"""What a file can end in; a spoilt one in words that are no text, and in sizes beyond measure."""


class OtherVersionError(sqlite3.DatabaseError):
    """The file is a cache, but not one that this version reads."""


class Database:
    """The file in a folder; what fails is warned about once, and never raised.

    Parameters
    ----------
    folder
        Where the file lies; both are made, and made private to their owner.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._reads_from = self._writes_from = 0.0
        self._warned = False
        self._start()
        self.read(lambda connection: None, None)

    @property
    def failed(self) -> bool:
        """Whether the file cannot even be read."""
        return time.monotonic() < self._reads_from

    def read(self, action: Action[T], otherwise: T) -> T:
        """What an action on the file gives; ``otherwise`` where the file cannot be used."""
        self._check_process()
        return otherwise if self.failed else self._run(action, otherwise, writes=False)

    def write(self, action: Action[T], otherwise: T) -> T:
        """The same for an action that changes the file, wholly or not at all."""
        return self._write(lambda connection: _whole(connection, action), otherwise)

    def settle(self) -> None:
        """Give back to the system what the file no longer needs."""
        self._write(shrink, None)

    def close(self) -> None:
        """Close the connections that are not in use."""
        self._opened[:] = [each for each in self._opened if each not in self._idle]
        _close_all(self._idle)

    def _write(self, action: Action[T], otherwise: T) -> T:
        self._check_process()
        with self._writing:
            if time.monotonic() < max(self._reads_from, self._writes_from):
                return otherwise
            return self._run(action, otherwise, writes=True)

    def _run(self, action: Action[T], otherwise: T, *, writes: bool) -> T:
        try:
            connection = self._borrow()
        except FAULTS as error:
            self._note(error, writes=False)
            return otherwise
        try:
            return action(connection)
        except FAULTS as error:
            self._note(error, writes)
            return otherwise
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
        self._writing = threading.Lock()
        self._idle: deque[sqlite3.Connection] = deque()
        self._opened: list[sqlite3.Connection] = []
        weakref.finalize(self, _close_all, self._idle)

    def _check_process(self) -> None:
        """Begin anew after a fork: SQLite's locks are the parent's, and seem to be ours.

        Only once every copied connection is closed does SQLite see what is locked indeed.
        """
        if self._process == os.getpid():
            return
        in_use = len(self._opened) > len(self._idle)
        _close_all(self._idle)
        self._start()
        if in_use:
            self._note(OSError("this process was forked while it was in use"), writes=False)

    def _note(self, error: Exception, writes: bool) -> None:
        """Stop using what cannot be used, and say so the first time."""
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        busy = code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
        until = time.monotonic() + _REST_SECONDS if busy else float("inf")
        if writes and code not in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            self._writes_from = until
        else:
            self._reads_from = until
        known, self._warned = self._warned, True
        if not known:
            doing = "written to" if writes else "used"
            warnings.warn(
                f"the cache in {self.folder} cannot be {doing} ({error}); answers come from the "
                "network. `aatoolkit cache clear` empties it, cache= names another folder",
                CacheWarning,
                stacklevel=2,
            )


def connect(folder: Path) -> sqlite3.Connection:
    """Open the file of a folder: private to its owner, and read only where it has to be.

    Raises
    ------
    sqlite3.Error, OSError
        If it cannot be opened, or is not a cache of this version.
    """
    file = folder / FILE_NAME
    make_private(folder)
    uri = file.absolute().as_uri()
    if os.access(file, os.W_OK) and os.access(folder, os.W_OK):
        return _prepared(f"{uri}?mode=rw", _set_up)
    # Where it cannot write a side file, SQLite reads only what it may take to be unchanging.
    beside = file.with_name(f"{FILE_NAME}-wal")
    return _prepared(f"{uri}?{'mode=ro' if beside.exists() else 'immutable=1'}", _check)


def shrink(connection: sqlite3.Connection) -> None:
    """Cut off what is free in the file, and what has been moved into it from the log."""
    # As a script: a single statement would be left after its first page.
    connection.executescript("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)")


def _prepared(uri: str, prepare: Callable[[sqlite3.Connection], None]) -> sqlite3.Connection:
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
    connection.execute(f"PRAGMA journal_size_limit={16 * 2**20}")
    connection.execute("PRAGMA mmap_size=0")  # a file cut short would end the process


def _begin(connection: sqlite3.Connection) -> None:
    """Make the tables of a new file; the settings before them stay with it."""
    ends = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            # In this order: the first is fixed with the first byte, which the second writes.
            connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
            connection.execute("PRAGMA journal_mode=WAL")
            break
        except sqlite3.OperationalError as error:
            # Changing the mode does not wait for others that do the same.
            if "locked" not in str(error) or time.monotonic() > ends:
                raise
            time.sleep(0.01)
    _whole(connection, _make_tables)


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


def _whole(connection: sqlite3.Connection, action: Action[T]) -> T:
    """Take an action wholly, or not at all."""
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
