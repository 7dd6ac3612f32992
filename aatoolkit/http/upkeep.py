"""Looking into a cache folder, and emptying it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from aatoolkit.errors import ConfigurationError
from aatoolkit.http.session import default_folder
from aatoolkit.http.store import FILE_NAME, connect


@dataclass(frozen=True)
class CacheInfo:
    """What a cache folder holds; ``oldest`` and ``newest`` are None where it holds nothing."""

    folder: Path
    answers: int
    bytes: int
    oldest: datetime | None
    newest: datetime | None


def cache_info(folder: str | Path | None = None) -> CacheInfo:
    """What a cache folder holds; the usual folder where none is named.

    Raises
    ------
    ConfigurationError
        If the file cannot be read.
    """
    place = _place(folder)
    file = place / FILE_NAME
    if not file.exists():
        return CacheInfo(place, 0, 0, None, None)
    query = "SELECT count(*), min(fetched_at), max(fetched_at) FROM answers"
    try:
        with closing(connect(file)) as connection:
            count, oldest, newest = connection.execute(query).fetchone()
    except (sqlite3.Error, OSError) as error:
        raise ConfigurationError(
            f"the cache {file} cannot be read ({error}); clearing it helps", setting="cache"
        ) from None
    size = sum(part.stat().st_size for part in place.glob(f"{FILE_NAME}*"))
    return CacheInfo(place, count, size, _moment(oldest), _moment(newest))


def clear_cache(folder: str | Path | None = None) -> int:
    """Remove every answer of a cache folder and say how many there were.

    A file that cannot be read as a cache is removed as a whole, and counts for none.
    """
    file = _place(folder) / FILE_NAME
    if not file.exists():
        return 0
    try:
        with closing(connect(file)) as connection:
            count = connection.execute("DELETE FROM answers").rowcount
            connection.execute("VACUUM")
            return int(count)
    except sqlite3.OperationalError as error:
        raise ConfigurationError(
            f"the cache {file} is in use ({error}); try again later", setting="cache"
        ) from None
    except sqlite3.DatabaseError:
        for part in file.parent.glob(f"{FILE_NAME}*"):
            part.unlink()
        return 0


def _place(folder: str | Path | None) -> Path:
    return default_folder() if folder is None else Path(folder).expanduser()


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
