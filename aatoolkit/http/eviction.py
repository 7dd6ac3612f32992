"""Eviction: keep the cache within its size limit, least recently used answers first.

Uses are counted, not timed, so that no clock can be wrong. They are collected in memory and
written with the next answer: a cache hit does not write.
"""

from __future__ import annotations

import sqlite3
import threading

_MANY = 512
_SPARE = 64
"""Eviction frees this fraction of the limit in addition, so that it does not run at every write."""


class RecentUses:
    """The keys of cache hits, in order, until they are written to the file."""

    def __init__(self) -> None:
        self._keys: dict[str, None] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, key: str) -> bool:
        """Add a use; returns whether there are so many that they should be written."""
        with self._lock:
            self._keys.pop(key, None)
            self._keys[key] = None
            return len(self._keys) >= _MANY

    def flush(self, connection: sqlite3.Connection) -> None:
        """Write the uses to the register, and clear them."""
        with self._lock:
            keys, self._keys = self._keys, {}
        query = "SELECT coalesce(max(used), 0) + 1 FROM register"
        first = int(connection.execute(query).fetchone()[0])
        connection.executemany(
            "UPDATE register SET used = ? WHERE key = ?",
            [(first + place, key) for place, key in enumerate(keys)],
        )


def evict(connection: sqlite3.Connection, limit: int) -> int:
    """Delete the least recently used answers until the file is within the limit; how many."""
    excess = _bytes_used(connection) - limit
    if excess <= 0:
        return 0
    evicted, freed = [], 0
    # The last one is the answer that has just been stored.
    query = "SELECT key, size FROM register ORDER BY used LIMIT (SELECT count(*) - 1 FROM register)"
    for key, size in connection.execute(query):
        evicted.append((key,))
        freed += size
        if freed >= excess + limit // _SPARE:
            break
    connection.executemany("DELETE FROM answers WHERE key = ?", evicted)
    connection.executemany("DELETE FROM register WHERE key = ?", evicted)
    return len(evicted)


def _bytes_used(connection: sqlite3.Connection) -> int:
    """The bytes of the file that are in use."""
    query = (
        "SELECT (page_count - freelist_count) * page_size"
        " FROM pragma_page_count, pragma_freelist_count, pragma_page_size"
    )
    return int(connection.execute(query).fetchone()[0])
