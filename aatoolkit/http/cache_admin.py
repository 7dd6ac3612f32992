"""Inspect and clear a cache folder."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from aatoolkit.errors import ConfigurationError
from aatoolkit.http.cache_dir import FILE_NAME, default_folder, parts_of
from aatoolkit.http.database import FAULTS, OtherVersionError, connect, shrink

T = TypeVar("T")


@dataclass(frozen=True)
class HostInfo:
    """The cached answers of one host at one service; ``bytes`` is the size of the answers."""

    origin: str
    host: str
    answers: int
    bytes: int
    oldest: datetime
    newest: datetime


@dataclass(frozen=True)
class CacheInfo:
    """The contents of a cache folder; ``oldest`` and ``newest`` are None where it is empty.

    ``bytes`` is the size of its files, free space in them included.
    """

    folder: Path
    answers: int
    bytes: int
    oldest: datetime | None
    newest: datetime | None
    hosts: tuple[HostInfo, ...] = ()


def cache_info(folder: str | Path | None = None) -> CacheInfo:
    """Return what a cache folder holds, by default the user's.

    Raises
    ------
    ConfigurationError
        If the file cannot be read.
    """
    path = _path(folder)
    query = (
        "SELECT origin, host, count(*), sum(size), min(fetched_at), max(fetched_at)"
        " FROM register GROUP BY origin, host ORDER BY origin, host"
    )
    with _typed(path):
        found: list[Any] = _run(path, lambda c: c.execute(query).fetchall(), [])
        hosts = tuple(
            HostInfo(origin, host, count, size, *map(datetime.fromisoformat, moments))
            for origin, host, count, size, *moments in found
        )
        size = sum(map(_size, parts_of(path)))
    return CacheInfo(
        path,
        sum(host.answers for host in hosts),
        size,
        min((host.oldest for host in hosts), default=None),
        max((host.newest for host in hosts), default=None),
        hosts,
    )


def clear_cache(folder: str | Path | None = None, host: str | None = None) -> int:
    """Delete the answers of a cache folder, or those of one host; returns how many.

    The bytes are erased from the files. A file that cannot be read as a cache is deleted as a
    whole and counts as zero answers; but not when only one host is to be cleared.

    Raises
    ------
    ConfigurationError
        If the file is in use, or cannot be changed.
    """
    path = _path(folder)

    def clear(connection: sqlite3.Connection) -> int:
        connection.execute("PRAGMA secure_delete=ON")
        connection.execute("BEGIN IMMEDIATE")
        where, given = ("", ()) if host is None else (" WHERE host = ?", (host,))
        of = f" WHERE key IN (SELECT key FROM register{where})" if where else ""
        connection.execute(f"DELETE FROM answers{of}", given)
        count = connection.execute(f"DELETE FROM register{where}", given).rowcount
        connection.execute("COMMIT")
        shrink(connection)
        return int(count)

    with _typed(path):
        try:
            return _run(path, clear, 0)
        except FAULTS as error:
            if host is not None or not _is_damaged(error):
                raise
        for part in parts_of(path):
            part.unlink()
    return 0


def _size(file: Path) -> int:
    """The bytes of a file; none of one that another process has just removed."""
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def _run(folder: Path, action: Callable[[sqlite3.Connection], T], default: T) -> T:
    """Run an action on the file of a folder; returns ``default`` where there is no file."""
    if not parts_of(folder):
        return default
    with closing(connect(folder)) as connection:
        return action(connection)


@contextmanager
def _typed(folder: Path) -> Iterator[None]:
    """Convert any failure of the file to an error with its remedy."""
    try:
        yield
        return
    except (*FAULTS, ValueError, TypeError) as error:
        advice = "clear it" if _is_damaged(error) else "fix that, and try again"
        message = f"the cache {folder / FILE_NAME} cannot be read ({error}); {advice}"
    raise ConfigurationError(message, setting="cache")


def _is_damaged(error: Exception) -> bool:
    """Whether the file is useless to everybody, not just locked by another process."""
    if isinstance(error, OtherVersionError | ValueError):
        return True
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)


def _path(folder: str | Path | None) -> Path:
    return default_folder() if folder is None else Path(folder).expanduser()
