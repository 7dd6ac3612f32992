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

from aatoolkit._util.defaults import CACHE_BYTES
from aatoolkit.errors import ArgumentError, warn
from aatoolkit.http.endpoint import Secret
from aatoolkit.payload import Request, Response

T = TypeVar("T")

CACHE_FILE_NAME = "responses.sqlite"
FORMAT_VERSION = "v2"
"""The version of the file format; each version has its own folder."""

CACHE_FILE_ERRORS = (sqlite3.Error, OSError, MemoryError, ValueError, OverflowError)
"""The exceptions that a damaged or locked file can cause."""

# The number in the header of an SQLite file by which files of this package are recognised.
_APPLICATION_ID = 0x61617463
_TABLE = "responses"
# How long to wait for the lock of another connection.
_LOCK_TIMEOUT_SECONDS = 2.0
_PAUSE_AFTER_LOCK_SECONDS = 60.0
"""For how long the file is not used after it was found locked."""

_MAX_WAL_BYTES = 16 * 2**20
"""The size in bytes at which the write-ahead log is moved to the file."""

_HASH_SIZE = hashlib.sha256().digest_size
# How many bytes of a stored response are read to get its line of JSON.
_HEADER_SIZE = 1 << 15
_EVICTION_MARGIN_DIVISOR = 64
"""When responses are evicted, the limit divided by this is freed in addition."""


# -- values ----------------------------------------------------------------------------------


def _serialize_response(cache_key: str, response: Response) -> bytes:
    """Serialize a response to bytes for the cache: a SHA-256, a line of JSON, and the body."""
    header_line = orjson.dumps({"key": cache_key, **response.to_dict()}) + b"\n"
    return hashlib.sha256(header_line).digest() + header_line + response.body


def _parse_header(stored_bytes: bytes) -> tuple[dict[str, Any], int]:
    """Parse the line of JSON in a stored response.

    Return it as a dict, and the position in the bytes at which the body begins.
    """
    body_start = stored_bytes.index(b"\n", _HASH_SIZE) + 1
    header_line = stored_bytes[_HASH_SIZE:body_start]
    if hashlib.sha256(header_line).digest() != stored_bytes[:_HASH_SIZE]:
        raise ValueError("its head has changed")
    return orjson.loads(header_line), body_start


def _parse_response(stored_bytes: bytes, cache_key: str, request: Request) -> Response:
    """Convert the stored bytes to the response to ``request``.

    If they are damaged or were stored under another key, raise ValueError.
    """
    if not isinstance(stored_bytes, bytes):
        raise ValueError("it is no value of a cache")
    header_dict, body_start = _parse_header(stored_bytes)
    if header_dict["key"] != cache_key:
        raise ValueError("it is the response to another request")
    return Response.from_dict(header_dict, stored_bytes[body_start:], request)


# -- the file --------------------------------------------------------------------------------


class _ResponseTable(SQLiteDict):
    """The table of responses in an SQLite file, as a dict-like object."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        super().__init__(folder / CACHE_FILE_NAME, _TABLE)

    def init_db(self) -> None:
        """Open the SQLite file, and create its tables if it is new."""
        self._connection = connect_to_cache_file(self._folder)

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

    def __init__(
        self, folder: Path, token: Secret | None = None, max_bytes: int = CACHE_BYTES
    ) -> None:
        self.folder = folder
        self._token = token
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._table: _ResponseTable | None = None
        self._reads_resume_at = self._writes_resume_at = 0.0
        self._has_warned = False
        _OPEN_CACHES.add(self)

    def get(self, request: Request) -> Response | None:
        """Return the cached response to a request, or None."""
        cache_key = self._make_cache_key(request)
        select_sql = f"SELECT value FROM {_TABLE} WHERE key = ?"
        value_row = self._run_on_file(
            lambda connection: connection.execute(select_sql, (cache_key,)).fetchone()
        )
        if not value_row:
            return None
        try:
            return _parse_response(value_row[0], cache_key, request)
        except ValueError:
            self._run_on_file(
                lambda connection: connection.execute(_DELETE_SQL, (cache_key,)),
                is_write=True,
                in_transaction=True,
            )
            warn("a cached response is damaged and is not used; it is requested again")
            return None

    def list_requests_for_host(self, request: Request) -> list[Request]:
        """Return the cached requests, of all accounts, for the host of a request."""
        select_sql = f"SELECT substr(value, 1, {_HEADER_SIZE}) FROM {_TABLE} WHERE instr(key, ?)"
        host_key = self._make_cache_key(request).rpartition("|")[0] + "|"
        header_rows = self._run_on_file(
            lambda connection: connection.execute(select_sql, (host_key,)).fetchall()
        )
        return [
            Request.from_dict(_parse_header(header_bytes)[0]["request"])
            for (header_bytes,) in header_rows or ()
        ]

    def put(self, response: Response) -> None:
        """Store a response, and delete the oldest responses if the cache is full."""
        cache_key = self._make_cache_key(response.request)
        stored_bytes = _serialize_response(cache_key, response)
        if len(stored_bytes) > self._max_bytes:
            return

        def store_response(connection: sqlite3.Connection) -> bool:
            next_number_sql = f"(SELECT coalesce(max(expires), 0) + 1 FROM {_TABLE})"
            insert_sql = f"INSERT OR REPLACE INTO {_TABLE} VALUES (?, ?, {next_number_sql})"
            connection.execute(insert_sql, (cache_key, stored_bytes))
            return _evict_oldest(connection, self._max_bytes)

        if self._run_on_file(store_response, is_write=True, in_transaction=True):
            self._run_on_file(shrink_file, is_write=True)

    def close(self) -> None:
        """Close the cache file; the next call opens it again."""
        table = self._table
        self._table = None
        if table is not None:
            table.close()  # type: ignore[no-untyped-call]

    @cached_property
    def _account_hash(self) -> str:
        """The text for the account in cache keys: ``anonymous``, or a hash of the token."""
        if self._token is None:
            return "anonymous"
        token_bytes = self._token.reveal().encode()
        return hashlib.scrypt(token_bytes, salt=b"aatoolkit", n=2**12, r=8, p=1, dklen=16).hex()

    def _make_cache_key(self, request: Request) -> str:
        """Return the key under which the response to a request is cached."""
        key_json = orjson.dumps([self._account_hash, *request.key])
        origin = "/".join(request.base_url.split("/", 3)[:3])
        return f"{origin}|{request.host}|{hashlib.sha256(key_json).hexdigest()}"

    def _run_on_file(
        self,
        function: Callable[[sqlite3.Connection], T],
        is_write: bool = False,
        in_transaction: bool = False,
    ) -> T | None:
        """Call a function with an SQLite connection; return its result, or None if the file fails.

        ``is_write`` says whether the function may change the file, and ``in_transaction`` whether
        to run it in a transaction.
        """
        if time.monotonic() < max(
            self._reads_resume_at, self._writes_resume_at if is_write else 0.0
        ):
            return None
        try:
            table = self._open_response_table()
            # From Python 3.12 on, threads that share a statement can get each other's rows.
            with table._lock, table.connection(commit=in_transaction) as connection:
                return function(connection)
        except CACHE_FILE_ERRORS as error:
            self._stop_using_file(error, is_write)
            return None

    def _open_response_table(self) -> _ResponseTable:
        """Return the table of responses; open its file if it is not open."""
        with self._lock:
            if self._table is None:
                self._table = _ResponseTable(self.folder)
            return self._table

    def _stop_using_file(self, error: Exception, is_write: bool) -> None:
        """After an SQLite error, stop using the file for a while or for good, and warn once.

        ``is_write`` says whether the failed operation was to change the file. If so, only later
        changes are skipped, and the file is still read, unless it is damaged.
        """
        sqlite_code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if isinstance(error, sqlite3.ProgrammingError):
            return  # another thread has closed it; it is opened again
        is_locked = sqlite_code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
        resume_time = time.monotonic() + _PAUSE_AFTER_LOCK_SECONDS if is_locked else float("inf")
        if is_write and sqlite_code not in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            self._writes_resume_at = resume_time
        else:
            self._reads_resume_at = resume_time
        had_warned = self._has_warned
        self._has_warned = True
        if not had_warned:
            warn(
                f"the cache in {self.folder} cannot be used ({error}); "
                "responses come from the network. `aatoolkit cache --clear` empties "
                "it; it can also be in another folder"
            )


_DELETE_SQL = f"DELETE FROM {_TABLE} WHERE key = ?"

_OPEN_CACHES: weakref.WeakSet[ResponseCache] = weakref.WeakSet()


def _close_all_caches() -> None:
    """Close the files of all caches of this process; it is called before the process forks."""
    # A child process must not inherit SQLite's locks.
    for cache in list(_OPEN_CACHES):
        cache.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_close_all_caches)


def connect_to_cache_file(folder: Path) -> sqlite3.Connection:
    """Open the cache file in a folder, and return the SQLite connection."""
    make_cache_private(folder)
    cache_file_path = folder / CACHE_FILE_NAME
    cache_uri = cache_file_path.absolute().as_uri()
    is_writable = os.access(cache_file_path, os.W_OK) and os.access(folder, os.W_OK)
    if not is_writable:
        cache_uri += "?immutable=1"  # without access to the folder SQLite reads no other file
    connection = sqlite3.connect(
        cache_uri,
        timeout=_LOCK_TIMEOUT_SECONDS,
        isolation_level=None,
        check_same_thread=False,
        uri=True,
    )
    try:
        if is_writable:
            _set_up_database(connection)
        if _read_pragma_value(connection, "application_id") != _APPLICATION_ID:
            raise sqlite3.DatabaseError("its file is not one of aatoolkit")
    except BaseException:
        connection.close()
        raise
    return connection


def _set_up_database(connection: sqlite3.Connection) -> None:
    """Create the table in a new file, and set the size limit of the write-ahead log."""
    deadline_time = time.monotonic() + _LOCK_TIMEOUT_SECONDS
    while not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        try:
            # In this order: the first must be set before the file has content.
            connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
            connection.execute("PRAGMA journal_mode=WAL")
            connection.executescript(_SCHEMA_SQL)
        except sqlite3.OperationalError as error:
            # SQLite does not wait for a lock while it changes the journal mode.
            if "locked" not in str(error) or time.monotonic() > deadline_time:
                raise
            time.sleep(0.01)
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute(f"PRAGMA journal_size_limit={_MAX_WAL_BYTES}")
    # A checkpoint waits for the disk, and every writer for the checkpoint.
    max_log_page_count = _MAX_WAL_BYTES // _read_pragma_value(connection, "page_size")
    connection.execute(f"PRAGMA wal_autocheckpoint={max_log_page_count}")
    connection.execute("PRAGMA mmap_size=0")  # a file cut short would end the process


_SCHEMA_SQL = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS {_TABLE} (key TEXT PRIMARY KEY, value BLOB, expires INTEGER);
CREATE INDEX IF NOT EXISTS expires_idx ON {_TABLE} (expires);
PRAGMA application_id={_APPLICATION_ID};
COMMIT;
"""
"""The same SQL as in requests-cache."""


def _evict_oldest(connection: sqlite3.Connection, max_bytes: int) -> bool:
    """Delete the oldest responses if the file is larger than ``max_bytes``.

    Return whether the file was larger.
    """
    page_size = _read_pragma_value(connection, "page_size")
    used_page_count = _read_pragma_value(connection, "page_count") - _read_pragma_value(
        connection, "freelist_count"
    )
    if used_page_count * page_size <= max_bytes:
        return False
    connection.execute(
        f"DELETE FROM {_TABLE} WHERE key IN (SELECT key FROM (SELECT key, expires,"
        f" sum(length(value) + {page_size} / 2) OVER (ORDER BY expires DESC) AS total"
        f" FROM {_TABLE}) WHERE total > ? AND expires < (SELECT max(expires) FROM {_TABLE}))",
        (max_bytes - max_bytes // _EVICTION_MARGIN_DIVISOR,),
    )
    return True


def shrink_file(connection: sqlite3.Connection) -> None:
    """Return unused space in the SQLite file to the file system."""
    # As a script: `execute` would stop after the first page.
    connection.executescript("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)")


def _read_pragma_value(connection: sqlite3.Connection, pragma_name: str) -> int:
    """Return the integer value of an SQLite pragma, such as ``page_size``."""
    return int(connection.execute(f"PRAGMA {pragma_name}").fetchone()[0])


# -- the folder ------------------------------------------------------------------------------


def resolve_cache_folder(folder: str | Path | None) -> Path:
    """Return the folder of a cache as a path; None means the default folder of the current user."""
    if folder is None:
        return user_cache_path("aatoolkit", appauthor=False) / FORMAT_VERSION
    return Path(folder).expanduser()


def list_cache_files(folder: Path) -> list[Path]:
    """Return the existing files of a cache: the SQLite file, and SQLite's logs beside it."""
    possible_paths = (
        folder / f"{CACHE_FILE_NAME}{suffix}" for suffix in ("", "-wal", "-shm", "-journal")
    )
    return [path for path in possible_paths if path.is_symlink() or path.exists()]


def make_cache_private(folder: Path) -> None:
    """Create the cache's folder and file, readable only by their owner.

    A folder with other files in it keeps its permissions.

    Raises
    ------
    OSError
        If the folder or a file cannot be created, or other users own it or may write to it.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    file_stat = folder.stat()
    if _belongs_to_other_user(file_stat):
        raise PermissionError(f"{folder} belongs to another user")
    if file_stat.st_mode & 0o077 and all(
        file_name.startswith(CACHE_FILE_NAME) for file_name in os.listdir(folder)
    ):
        folder.chmod(0o700 & file_stat.st_mode)
    elif file_stat.st_mode & 0o022:
        raise PermissionError(f"other users may write to {folder}")
    for cache_file_path in list_cache_files(folder):
        file_stat = cache_file_path.lstat()
        if not stat.S_ISREG(file_stat.st_mode):
            raise PermissionError(f"{cache_file_path} is no plain file")
        if _belongs_to_other_user(file_stat):
            raise PermissionError(f"{cache_file_path} belongs to another user")
        if file_stat.st_mode & 0o077:
            cache_file_path.chmod(0o700 & file_stat.st_mode)
    # An existing file is not opened: closing it would release the locks that other connections
    # of this process hold on it.
    if not (folder / CACHE_FILE_NAME).exists():
        with suppress(FileExistsError):  # another process may be first
            os.close(os.open(folder / CACHE_FILE_NAME, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


def _belongs_to_other_user(file_stat: os.stat_result) -> bool:
    """Return whether a file belongs to another user; ``file_stat`` is its ``os.stat`` result."""
    return hasattr(os, "geteuid") and file_stat.st_uid != os.geteuid()


# -- listing and clearing --------------------------------------------------------------------


@dataclass(frozen=True)
class HostInfo:
    """The number and size of the cached responses of one host, and when they were fetched.

    ``responses`` is their number, and ``bytes`` their size. ``oldest`` and ``newest`` are the times
    of the first and the last one. ``origin`` is the beginning of the service's URL, such as
    ``https://api.example``.
    """

    origin: str
    host: str
    responses: int
    bytes: int
    oldest: datetime
    newest: datetime


@dataclass(frozen=True)
class CacheInfo:
    """The number of cached responses in a folder, and the size of the cache files.

    ``responses`` is the number of all responses, and ``bytes`` the size. ``hosts`` has one
    `HostInfo` for each host.
    """

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
    cache_folder = resolve_cache_folder(folder)
    select_sql = (
        f"SELECT key, length(value), substr(value, 1, {_HEADER_SIZE}) FROM {_TABLE} ORDER BY key"
    )
    with _convert_file_errors(cache_folder):
        response_rows = (
            _run_on_file(cache_folder, lambda connection: connection.execute(select_sql).fetchall())
            or []
        )
        host_infos = []
        for (origin, host), row_group in groupby(
            response_rows, key=lambda response_row: response_row[0].split("|")[:2]
        ):
            host_rows = list(row_group)
            fetch_times = [
                datetime.fromisoformat(_parse_header(response_row[2])[0]["fetched_at"])
                for response_row in host_rows
            ]
            byte_count = sum(response_row[1] for response_row in host_rows)
            host_infos.append(
                HostInfo(
                    origin, host, len(host_rows), byte_count, min(fetch_times), max(fetch_times)
                )
            )
        byte_count = sum(
            cache_file_path.stat().st_size for cache_file_path in list_cache_files(cache_folder)
        )
    return CacheInfo(cache_folder, len(response_rows), byte_count, tuple(host_infos))


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
    cache_folder = resolve_cache_folder(folder)

    def delete_responses(connection: sqlite3.Connection) -> int:
        connection.execute("PRAGMA secure_delete=ON")
        where_sql, sql_parameters = (
            ("", ()) if host is None else (" WHERE instr(key, ?)", (f"|{host}|",))
        )
        deleted_count = connection.execute(
            f"DELETE FROM {_TABLE}{where_sql}", sql_parameters
        ).rowcount
        shrink_file(connection)
        return deleted_count

    with _convert_file_errors(cache_folder):
        try:
            return _run_on_file(cache_folder, delete_responses) or 0
        except CACHE_FILE_ERRORS as error:
            if host is not None or not _is_corruption_error(error):
                raise
        for cache_file_path in list_cache_files(cache_folder):
            cache_file_path.unlink()
    return 0


def _run_on_file(folder: Path, function: Callable[[sqlite3.Connection], T]) -> T | None:
    """Call a function with a connection to the cache file in a folder, and return its result.

    If the folder has no cache file, the function is not called, and the result is None.
    """
    if not list_cache_files(folder):
        return None
    with closing(connect_to_cache_file(folder)) as connection:
        return function(connection)


@contextmanager
def _convert_file_errors(folder: Path) -> Iterator[None]:
    """Raise errors of the cache file in a ``with`` block as `ArgumentError` instead."""
    try:
        yield
        return
    except (*CACHE_FILE_ERRORS, TypeError, KeyError) as error:
        advice_text = "clear it" if _is_corruption_error(error) else "fix that, and try again"
        message = f"the cache {folder / CACHE_FILE_NAME} cannot be read ({error}); {advice_text}"
    raise ArgumentError(message, argument="cache")


def _is_corruption_error(error: Exception) -> bool:
    """Return whether an error means that the cache file is damaged."""
    corruption_codes = sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR
    return (
        isinstance(error, ValueError)
        or getattr(error, "sqlite_errorcode", 0) & 0xFF in corruption_codes
    )
