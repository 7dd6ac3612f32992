"""Looking into a cache folder, and emptying it."""

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
    """What a cache folder holds of one host at one service; ``bytes`` are those of its answers."""

    origin: str
    host: str
    answers: int
    bytes: int
    oldest: datetime
    newest: datetime


@dataclass(frozen=True)
class CacheInfo:
    """What a cache folder holds; ``oldest`` and ``newest`` are None where it holds nothing.

    ``bytes`` are those of its files, free space in them included.
    """

    folder: Path
    answers: int
    bytes: int
    oldest: datetime | None
    newest: datetime | None
    hosts: tuple[HostInfo, ...] = ()


def cache_info(folder: str | Path | None = None) -> CacheInfo:
    """What a cache folder holds; the usual folder where none is named.

    Raises
    ------
    ConfigurationError
        If the file cannot be read.
    """
    place = _place(folder)
    query = (
        "SELECT origin, host, count(*), sum(size), min(fetched_at), max(fetched_at)"
        " FROM register GROUP BY origin, host ORDER BY origin, host"
    )
    with _typed(place):
        found: list[Any] = _run(place, lambda c: c.execute(query).fetchall(), [])
    hosts = tuple(
        HostInfo(origin, host, count, size, *map(datetime.fromisoformat, moments))
        for origin, host, count, size, *moments in found
    )
    return CacheInfo(
        place,
        sum(host.answers for host in hosts),
        sum(part.stat().st_size for part in parts_of(place)),
        min((host.oldest for host in hosts), default=None),
        max((host.newest for host in hosts), default=None),
        hosts,
    )


def clear_cache(folder: str | Path | None = None, host: str | None = None) -> int:
    """Remove the answers of a cache folder, or those of one host, and say how many there were.

    Nothing of them is left in the files. A file that cannot be read as a cache is removed as a
    whole, and counts for none; but not for the sake of one host.

    Raises
    ------
    ConfigurationError
        If the file is in use, or cannot be changed.
    """
    place = _place(folder)

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

    with _typed(place):
        try:
            return _run(place, clear, 0)
        except FAULTS as error:
            if host is not None or not _is_spoilt(error):
                raise
        for part in parts_of(place):
            part.unlink()
    return 0


def _run(folder: Path, action: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
    """What an action on the file of a folder gives; ``otherwise`` where there is no file."""
    if not parts_of(folder):
        return otherwise
    with closing(connect(folder)) as connection:
        return action(connection)


@contextmanager
def _typed(folder: Path) -> Iterator[None]:
    """Whatever the file fails with, as an error that says what to do."""
    try:
        yield
        return
    except FAULTS as error:
        advice = "clearing it helps" if _is_spoilt(error) else "see to that, and try again"
        said = f"the cache {folder / FILE_NAME} cannot be read ({error}); {advice}"
    raise ConfigurationError(said, setting="cache")


def _is_spoilt(error: Exception) -> bool:
    """Whether the file is of no use to anybody: not while another process holds on to it."""
    if isinstance(error, OtherVersionError | ValueError):
        return True
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)


def _place(folder: str | Path | None) -> Path:
    return default_folder() if folder is None else Path(folder).expanduser()
