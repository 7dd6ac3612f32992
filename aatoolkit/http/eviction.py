"""A cache that stays within its limit: which answers were used last, and which make room.

Uses are counted, not timed, so that no clock can be wrong. They are remembered here and written
down with the next answer: a hit does not write.
"""

from __future__ import annotations

import sqlite3
import threading

_MANY = 512
_SPARE = 64
"""Pruning goes on until this fraction of the limit is free, so that it is not always at it."""


class Uses:
    """The keys that were used, in order, until they are written down."""

    def __init__(self) -> None:
        self._keys: dict[str, None] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, key: str) -> bool:
        """Remember a use; whether there are so many that they should be written down."""
        with self._lock:
            self._keys.pop(key, None)
            self._keys[key] = None
            return len(self._keys) >= _MANY

    def write_down(self, connection: sqlite3.Connection) -> None:
        """Write the uses into the register, and forget them."""
        with self._lock:
            keys, self._keys = self._keys, {}
        query = "SELECT coalesce(max(used), 0) + 1 FROM register"
        first = int(connection.execute(query).fetchone()[0])
        connection.executemany(
            "UPDATE register SET used = ? WHERE key = ?",
            [(first + place, key) for place, key in enumerate(keys)],
        )


def prune(connection: sqlite3.Connection, limit: int) -> int:
    """Remove what was used least recently until the rest is within the limit; how many."""
    excess = _taken(connection) - limit
    if excess <= 0:
        return 0
    going, freed = [], 0
    # The last one is what has just been kept.
    query = "SELECT key, size FROM register ORDER BY used LIMIT (SELECT count(*) - 1 FROM register)"
    for key, size in connection.execute(query):
        going.append((key,))
        freed += size
        if freed >= excess + limit // _SPARE:
            break
    connection.executemany("DELETE FROM answers WHERE key = ?", going)
    connection.executemany("DELETE FROM register WHERE key = ?", going)
    return len(going)


def _taken(connection: sqlite3.Connection) -> int:
    """The bytes of the file that are in use."""
    pages, free, size = (
        int(connection.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size
