"""A cache of responses, in one SQLite file that only its owner can read.

A stored value consists of a hash, a line of JSON, and the body of the response. If the file cannot
be used, a warning is issued, and responses are fetched from the service.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import stat
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

import orjson
from platformdirs import user_cache_path
from requests_cache.backends.sqlite import SQLiteDict

from aatoolkit._util.defaults import CACHE_SIZE
from aatoolkit.errors import ArgumentError, warn
from aatoolkit.http.endpoint import Secret
from aatoolkit.payload import Request, Response

T = TypeVar("T")

FILE_NAME = "responses.sqlite"
VERSION = "v2"
"""The version of the file format; each version has its own folder."""

FAULTS = (sqlite3.Error, OSError, MemoryError, ValueError, OverflowError)
"""The exceptions that a damaged or locked file can cause."""

_APPLICATION_ID = 0x61617463
_TABLE = "responses"
_BUSY_SECONDS = 2.0
_REST_SECONDS = 60.0
"""For how long a locked file is not used."""

_LOG_SIZE = 16 * 2**20
"""The size in bytes at which the write-ahead log is moved to the file."""

_HASH_SIZE = hashlib.sha256().digest_size
_HEAD_SIZE = 1 << 15
_SPARE_DIVISOR = 64
"""The fraction of the limit (1/64) that is freed in addition when responses are evicted."""


# -- values ----------------------------------------------------------------------------------


def _dump(key: str, response: Response) -> bytes:
    """Serialize a response to bytes for the cache: a SHA-256, a line of JSON, and the body."""
    header_line = orjson.dumps({"key": key, **response.to_dict()}) + b"\n"
    return hashlib.sha256(header_line).digest() + header_line + response.body


def _parse_header(value: bytes) -> tuple[dict[str, Any], int]:
    """Parse the line of JSON in a stored value; return it with the position of the body."""
    body_start = value.index(b"\n", _HASH_SIZE) + 1
    header_line = value[_HASH_SIZE:body_start]
    if hashlib.sha256(header_line).digest() != value[:_HASH_SIZE]:
        raise ValueError("its head has changed")
    return orjson.loads(header_line), body_start


def _load(value: bytes, key: str, request: Request) -> Response:
    """Parse a stored value to a response; raise ValueError if it was stored under another key."""
    if not isinstance(value, bytes):
        raise ValueError("it is no value of a cache")
    header, body_start = _parse_header(value)
    if header["key"] != key:
        raise ValueError("it is the response to another request")
    return Response.from_dict(header, value[body_start:], request)


# -- the file --------------------------------------------------------------------------------


class _Table(SQLiteDict):
    """The table of responses in an SQLite file, as a dict-like object."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        super().__init__(folder / FILE_NAME, _TABLE)

    def init_db(self) -> None:
        """Open the SQLite file, and create its tables if it is new."""
        self._connection = connect(self._folder)

    @contextmanager
    def _acquire_sqlite_lock(self) -> Iterator[None]:
        """Begin an SQLite transaction, with a timeout for its lock."""
        connection: sqlite3.Connection = self._connection  # type: ignore[assignment]
        with self._lock, connection:  # which commits, or rolls back
            # With SQLite's timeout; requests-cache itself would wait forever.
            connection.execute("BEGIN IMMEDIATE")
            yield


class ResponseCache:
    """The cached responses of one account.

    All accounts share one file, but each reads only its own responses.
    """

    def __init__(self, folder: Path, token: Secret | None = None, limit: int = CACHE_SIZE) -> None:
        self.folder = folder
        self._token, self._limit = token, limit
        self._lock = threading.Lock()
        self._table: _Table | None = None
        self._reads_resume_at = self._writes_resume_at = 0.0
        self._has_warned = False
        _OPEN_CACHES.add(self)

    def get(self, request: Request) -> Response | None:
        """Return the cached response to a request, or None."""
        key = self._key(request)
        query = f"SELECT value FROM {_TABLE} WHERE key = ?"
        row = self._use(lambda connection: connection.execute(query, (key,)).fetchone())
        if not row:
            return None
        try:
            return _load(row[0], key, request)
        except ValueError:
            self._use(
                lambda connection: connection.execute(_DELETE, (key,)), writes=True, commit=True
            )
            warn("a cached response is damaged and is not used; it is requested again")
            return None

    def requests_like(self, request: Request) -> list[Request]:
        """Return the cached requests for the same host, including those of other accounts."""
        query = f"SELECT substr(value, 1, {_HEAD_SIZE}) FROM {_TABLE} WHERE instr(key, ?)"
        host_key = self._key(request).rpartition("|")[0] + "|"
        rows = self._use(lambda connection: connection.execute(query, (host_key,)).fetchall())
        return [Request.from_dict(_parse_header(head)[0]["request"]) for (head,) in rows or ()]

    def put(self, response: Response) -> None:
        """Store a response, and delete the oldest ones if the cache is full."""
        key = self._key(response.request)
        value = _dump(key, response)
        if len(value) > self._limit:
            return

        def store(connection: sqlite3.Connection) -> bool:
            next_number = f"(SELECT coalesce(max(expires), 0) + 1 FROM {_TABLE})"
            statement = f"INSERT OR REPLACE INTO {_TABLE} VALUES (?, ?, {next_number})"
            connection.execute(statement, (key, value))
            return _evict(connection, self._limit)

        if self._use(store, writes=True, commit=True):
            self._use(shrink, writes=True)

    def close(self) -> None:
        """Close the cache file; the next call opens it again."""
        table, self._table = self._table, None
        if table is not None:
            table.close()  # type: ignore[no-untyped-call]

    @cached_property
    def _account_key(self) -> str:
        """The account in the keys of the cache: ``anonymous``, or a hash of the token."""
        if self._token is None:
            return "anonymous"
        token = self._token.reveal().encode()
        return hashlib.scrypt(token, salt=b"aatoolkit", n=2**12, r=8, p=1, dklen=16).hex()

    def _key(self, request: Request) -> str:
        """Return the key under which the response to a request is cached."""
        key_json = orjson.dumps([self._account_key, *request.key])
        origin = "/".join(request.base_url.split("/", 3)[:3])
        return f"{origin}|{request.host}|{hashlib.sha256(key_json).hexdigest()}"

    def _use(
        self, action: Callable[[sqlite3.Connection], T], writes: bool = False, commit: bool = False
    ) -> T | None:
        """Call a function with an SQLite connection; return its result, or None if the file fails.

        ``writes`` says whether the function changes the file, and ``commit`` whether to run it in a
        transaction.
        """
        if time.monotonic() < max(self._reads_resume_at, self._writes_resume_at if writes else 0.0):
            return None
        try:
            table = self._open_table()
            # From Python 3.12 on, threads that share a statement can get each other's rows.
            with table._lock, table.connection(commit=commit) as connection:
                return action(connection)
        except FAULTS as error:
            self._handle_error(error, writes)
            return None

    def _open_table(self) -> _Table:
        """Return the table of responses; open its file if it is not open."""
        with self._lock:
            if self._table is None:
                self._table = _Table(self.folder)
            return self._table

    def _handle_error(self, error: Exception, writes: bool) -> None:
        """Handle an SQLite error: stop using the file, for a while or for good, and warn once.

        ``writes`` says whether the failed operation was to change the file.
        """
        error_code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if isinstance(error, sqlite3.ProgrammingError):
            return  # another thread has closed it; it is opened again
        is_locked = error_code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
        retry_at = time.monotonic() + _REST_SECONDS if is_locked else float("inf")
        if writes and error_code not in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            self._writes_resume_at = retry_at
        else:
            self._reads_resume_at = retry_at
        was_warned, self._has_warned = self._has_warned, True
        if not was_warned:
            warn(
                f"the cache in {self.folder} cannot be used ({error}); "
                "responses come from the network. `aatoolkit cache --clear` empties "
                "it; it can also be in another folder"
            )


_DELETE = f"DELETE FROM {_TABLE} WHERE key = ?"

_OPEN_CACHES: weakref.WeakSet[ResponseCache] = weakref.WeakSet()


def _close_all() -> None:
    """Close the files of all caches; called before the process forks."""
    # A child process must not inherit SQLite's locks.
    for cache in list(_OPEN_CACHES):
        cache.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_close_all)


def connect(folder: Path) -> sqlite3.Connection:
    """Open the cache file in a folder, and return the SQLite connection."""
    make_private(folder)
    file = folder / FILE_NAME
    uri = file.absolute().as_uri()
    is_writable = os.access(file, os.W_OK) and os.access(folder, os.W_OK)
    if not is_writable:
        uri += "?immutable=1"  # without access to the folder SQLite reads no other file
    connection = sqlite3.connect(
        uri, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False, uri=True
    )
    try:
        if is_writable:
            _set_up(connection)
        if _pragma(connection, "application_id") != _APPLICATION_ID:
            raise sqlite3.DatabaseError("its file is not one of aatoolkit")
    except BaseException:
        connection.close()
        raise
    return connection


def _set_up(connection: sqlite3.Connection) -> None:
    """Create the table in a new file, and set the size limit of the write-ahead log."""
    deadline = time.monotonic() + _BUSY_SECONDS
    while not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        try:
            # In this order: the first must be set before the file has content.
            connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
            connection.execute("PRAGMA journal_mode=WAL")
            connection.executescript(_SCHEMA)
        except sqlite3.OperationalError as error:
            # SQLite does not wait for a lock while it changes the journal mode.
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute(f"PRAGMA journal_size_limit={_LOG_SIZE}")
    # A checkpoint waits for the disk, and every writer for the checkpoint.
    page_count = _LOG_SIZE // _pragma(connection, "page_size")
    connection.execute(f"PRAGMA wal_autocheckpoint={page_count}")
    connection.execute("PRAGMA mmap_size=0")  # a file cut short would end the process


_SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS {_TABLE} (key TEXT PRIMARY KEY, value BLOB, expires INTEGER);
CREATE INDEX IF NOT EXISTS expires_idx ON {_TABLE} (expires);
PRAGMA application_id={_APPLICATION_ID};
COMMIT;
"""
"""The same SQL as in requests-cache."""


def _evict(connection: sqlite3.Connection, limit: int) -> bool:
    """Delete the oldest responses if the file is larger than ``limit``; return whether it was."""
    page_size = _pragma(connection, "page_size")
    page_count = _pragma(connection, "page_count") - _pragma(connection, "freelist_count")
    if page_count * page_size <= limit:
        return False
    connection.execute(
        f"DELETE FROM {_TABLE} WHERE key IN (SELECT key FROM (SELECT key, expires,"
        f" sum(length(value) + {page_size} / 2) OVER (ORDER BY expires DESC) AS total"
        f" FROM {_TABLE}) WHERE total > ? AND expires < (SELECT max(expires) FROM {_TABLE}))",
        (limit - limit // _SPARE_DIVISOR,),
    )
    return True


def shrink(connection: sqlite3.Connection) -> None:
    """Return unused space in the SQLite file to the file system."""
    # As a script: `execute` would stop after the first page.
    connection.executescript("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)")


def _pragma(connection: sqlite3.Connection, pragma: str) -> int:
    """Return the integer value of an SQLite pragma, such as ``page_size``."""
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])


# -- the folder ------------------------------------------------------------------------------


def resolve_folder(folder: str | Path | None) -> Path:
    """Return the folder of a cache as a path; None stands for the current user's cache folder."""
    if folder is None:
        return user_cache_path("aatoolkit", appauthor=False) / VERSION
    return Path(folder).expanduser()


def cache_files(folder: Path) -> list[Path]:
    """Return the existing files of a cache."""
    paths = (folder / f"{FILE_NAME}{suffix}" for suffix in ("", "-wal", "-shm", "-journal"))
    return [path for path in paths if path.is_symlink() or path.exists()]


def make_private(folder: Path) -> None:
    """Create the cache's folder and file, readable only by their owner.

    A folder with other files in it keeps its permissions.

    Raises
    ------
    OSError
        If the folder or a file cannot be created, or other users own it or may write to it.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    stat_result = folder.stat()
    if _is_foreign(stat_result):
        raise PermissionError(f"{folder} belongs to another user")
    if stat_result.st_mode & 0o077 and all(
        name.startswith(FILE_NAME) for name in os.listdir(folder)
    ):
        folder.chmod(0o700 & stat_result.st_mode)
    elif stat_result.st_mode & 0o022:
        raise PermissionError(f"other users may write to {folder}")
    for file in cache_files(folder):
        stat_result = file.lstat()
        if not stat.S_ISREG(stat_result.st_mode):
            raise PermissionError(f"{file} is no plain file")
        if _is_foreign(stat_result):
            raise PermissionError(f"{file} belongs to another user")
        if stat_result.st_mode & 0o077:
            file.chmod(0o700 & stat_result.st_mode)
    # An existing file is not opened: closing it would release the locks that other connections
    # of this process hold on it.
    if not (folder / FILE_NAME).exists():
        with suppress(FileExistsError):  # another process may be first
            os.close(os.open(folder / FILE_NAME, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


def _is_foreign(stat_result: os.stat_result) -> bool:
    """Return whether a file belongs to another user."""
    return hasattr(os, "geteuid") and stat_result.st_uid != os.geteuid()


# -- listing and clearing --------------------------------------------------------------------


@dataclass(frozen=True)
class HostInfo:
    """Facts about the cached responses of one host: their number, size in bytes, and times."""

    origin: str
    host: str
    responses: int
    bytes: int
    oldest: datetime
    newest: datetime


@dataclass(frozen=True)
class CacheInfo:
    """Facts about a cache folder: its size in ``bytes``, and the responses in all and by host."""

    folder: Path
    responses: int
    bytes: int
    hosts: tuple[HostInfo, ...] = ()


def cache_info(folder: str | Path | None = None) -> CacheInfo:
    """Count the cached responses by host.

    Parameters
    ----------
    folder : str or path, optional
        The folder of the cache; by default that of the current user.

    Returns
    -------
    CacheInfo
        The number of responses and of bytes, in all and by host.

    Raises
    ------
    ArgumentError
        If the cache file cannot be read.
    """
    path = resolve_folder(folder)
    query = f"SELECT key, length(value), substr(value, 1, {_HEAD_SIZE}) FROM {_TABLE} ORDER BY key"
    with _report_errors(path):
        rows = _run(path, lambda connection: connection.execute(query).fetchall()) or []
        hosts = []
        for (origin, host), group in groupby(rows, key=lambda row: row[0].split("|")[:2]):
            host_rows = list(group)
            fetch_times = [
                datetime.fromisoformat(_parse_header(row[2])[0]["fetched_at"]) for row in host_rows
            ]
            size = sum(row[1] for row in host_rows)
            hosts.append(
                HostInfo(origin, host, len(host_rows), size, min(fetch_times), max(fetch_times))
            )
        size = sum(file.stat().st_size for file in cache_files(path))
    return CacheInfo(path, len(rows), size, tuple(hosts))


def clear_cache(folder: str | Path | None = None, host: str | None = None) -> int:
    """Delete the cached responses of one host or of all hosts.

    Parameters
    ----------
    folder : str or path, optional
        The folder of the cache; by default that of the current user.
    host : str, optional
        The host, such as ``acme.example``; by default all hosts.

    Returns
    -------
    int
        The number of deleted responses; 0 if a damaged file was removed.

    Raises
    ------
    ArgumentError
        If the cache file is in use, or cannot be changed.
    """
    path = resolve_folder(folder)

    def clear(connection: sqlite3.Connection) -> int:
        connection.execute("PRAGMA secure_delete=ON")
        condition, values = ("", ()) if host is None else (" WHERE instr(key, ?)", (f"|{host}|",))
        deleted_count = connection.execute(f"DELETE FROM {_TABLE}{condition}", values).rowcount
        shrink(connection)
        return deleted_count

    with _report_errors(path):
        try:
            return _run(path, clear) or 0
        except FAULTS as error:
            if host is not None or not _is_damaged(error):
                raise
        for file in cache_files(path):
            file.unlink()
    return 0


def _run(folder: Path, action: Callable[[sqlite3.Connection], T]) -> T | None:
    """Call a function with a connection to the cache file, and return its result.

    If there is no such file, the function is not called, and the result is None.
    """
    if not cache_files(folder):
        return None
    with closing(connect(folder)) as connection:
        return action(connection)


@contextmanager
def _report_errors(folder: Path) -> Iterator[None]:
    """Convert errors of the cache file in a ``with`` block to `ArgumentError`."""
    try:
        yield
        return
    except (*FAULTS, TypeError, KeyError) as error:
        advice = "clear it" if _is_damaged(error) else "fix that, and try again"
        message = f"the cache {folder / FILE_NAME} cannot be read ({error}); {advice}"
    raise ArgumentError(message, argument="cache")


def _is_damaged(error: Exception) -> bool:
    """Return whether an error means that the file is damaged."""
    codes = sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR
    return isinstance(error, ValueError) or getattr(error, "sqlite_errorcode", 0) & 0xFF in codes
