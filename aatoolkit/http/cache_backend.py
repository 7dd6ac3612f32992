"""The requests-cache backend: answers in one private SQLite file, without pickle.

A body is stored as it was received, after decompression: those are the bytes of ``Payload.body``.
A checksum over key, head and body detects when any of them has changed; such an answer is not used.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import sqlite3
import threading
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar, NamedTuple
from urllib.parse import urlsplit

from requests import Response
from requests.structures import CaseInsensitiveDict
from requests_cache.backends.base import BaseCache, BaseStorage
from requests_cache.models.response import CachedResponse

from aatoolkit._util.defaults import CACHE_SIZE
from aatoolkit.errors import CacheWarning
from aatoolkit.http.database import Database
from aatoolkit.http.eviction import RecentUses, evict
from aatoolkit.http.secret import Secret

ANONYMOUS = "anonymous"

_TRIES = 10
"""How often the rest is tried to be written at the end; each waits for a lock."""

_ROWS = 16
"""How many answers one statement writes."""

PENDING_SIZE = 32 * 2**20
"""The most bytes of answers that wait in memory for a lock; the oldest are not cached."""


class _Row(NamedTuple):
    """An answer as it is stored, and its entry in the register."""

    key: str
    head: str
    checksum: str
    body: bytes
    origin: str
    host: str
    fetched_at: str
    size: int


@dataclass(frozen=True, slots=True)
class CachedAnswer:
    """A cached answer: the facts and the body from which a payload is made."""

    url: str
    status_code: int
    headers: dict[str, str]
    fetched_at: datetime
    content: bytes
    from_cache: ClassVar[bool] = True


class AnswerStorage(BaseStorage[str, CachedResponse]):
    """Cached answers by key: a short JSON head, and the body as it was received."""

    def __init__(self, folder: Path, limit: int) -> None:
        super().__init__(serializer=None)
        self.file = Database(folder)
        self._limit = limit
        self._uses = RecentUses()
        # What could not be written yet, as another process held the lock.
        self._pending: dict[str, _Row] = {}
        self._lock = threading.Lock()

    def close(self) -> None:
        """Write what is pending, and close the idle connections."""
        for _ in range(_TRIES if self._pending else bool(self._uses)):
            self.file.retry()
            self._flush()
            if not self._pending:
                break
        if self._pending:
            self.file.warn("written to", f"it is locked; {len(self._pending)} answers were lost")
        self.file.close()

    def find(self, key: str) -> CachedAnswer | None:
        """Return a cached answer, if there is one and its checksum is right."""
        query = "SELECT head, seal, body FROM answers WHERE key = ?"
        pending = self._pending.get(key)
        row = (
            pending[1:4]
            if pending
            else self.file.read(
                lambda connection: connection.execute(query, (key,)).fetchone(), None
            )
        )
        if row is None:
            return None
        found = _read(key, *row)
        if found is None:
            self._remove(key)
            warnings.warn(
                "a cached answer is damaged and is not used; it is requested again",
                CacheWarning,
                stacklevel=2,
            )
        elif self._uses.add(key):
            self._flush()
        return found

    def __getitem__(self, key: str) -> CachedResponse:
        found = self.find(key)
        if found is None:
            raise KeyError(key)
        return CachedResponse(
            url=found.url,
            status_code=found.status_code,
            headers=CaseInsensitiveDict(found.headers),
            content=found.content,
            created_at=found.fetched_at,
        )

    def __setitem__(self, key: str, value: CachedResponse) -> None:
        self.put(key, value, value.created_at)

    def put(self, key: str, answer: Response | CachedResponse, fetched_at: datetime) -> None:
        """Store an answer; returns when it is written, or waits in memory for a lock."""
        head, body = _head(answer, fetched_at), answer.content
        size = len(head) + len(body)
        if size > self._limit:
            return
        origin, host = _origin_and_host(answer.url)
        checksum = _checksum(key, head, body)
        row = _Row(key, head, checksum, body, origin, host, fetched_at.isoformat(), size)
        with self._lock:
            self._pending.pop(key, None)
            self._pending[key] = row
            while sum(one.size for one in self._pending.values()) > max(size, PENDING_SIZE):
                del self._pending[next(iter(self._pending))]
        # Whoever writes also writes what the threads behind it have to write.
        with self.file.writing:
            if self._pending.get(key) is row:
                self._flush()

    def _flush(self) -> None:
        """Write what is pending in one transaction; what is locked out stays pending."""
        with self.file.writing:
            with self._lock:
                rows = [*self._pending.values()]
            evicted = self.file.write(lambda connection: self._store(connection, rows), None)
            if evicted is None and self.file.is_locked:
                return
            with self._lock:
                for row in rows:
                    if self._pending.get(row.key) is row:
                        del self._pending[row.key]
        if evicted:
            self.file.shrink()

    def _store(self, connection: sqlite3.Connection, rows: list[_Row]) -> int:
        """Write uses and answers, and evict what is too much; how many answers that were."""
        if self._uses:
            self._uses.flush(connection)
        # One statement for many rows: other threads may go first at each that is run.
        for first in range(0, len(rows), _ROWS):
            some = rows[first : first + _ROWS]
            answers = ["(?, ?, ?, ?)"] * len(some)
            last = "(SELECT coalesce(max(used), 0) FROM register)"
            entries = [f"(?, ?, ?, ?, ?, {last} + {number})" for number in range(1, len(some) + 1)]
            connection.execute(
                f"INSERT OR REPLACE INTO answers VALUES {', '.join(answers)}",
                [value for row in some for value in row[:4]],
            )
            connection.execute(
                f"INSERT OR REPLACE INTO register VALUES {', '.join(entries)}",
                [value for row in some for value in (row.key, *row[4:])],
            )
        return evict(connection, self._limit)

    def __delitem__(self, key: str) -> None:
        if not self._remove(key):
            raise KeyError(key)

    def _remove(self, key: str) -> int:
        with self._lock:
            self._pending.pop(key, None)

        def remove(connection: sqlite3.Connection) -> int:
            connection.execute("DELETE FROM register WHERE key = ?", (key,))
            return connection.execute("DELETE FROM answers WHERE key = ?", (key,)).rowcount

        return self.file.write(remove, 0)

    def __iter__(self) -> Iterator[str]:
        query = "SELECT key FROM register ORDER BY key"
        rows: list[Any] = self.file.read(lambda c: c.execute(query).fetchall(), [])
        return iter([key for (key,) in rows])

    def __len__(self) -> int:
        query = "SELECT count(*) FROM register"
        return self.file.read(lambda c: int(c.execute(query).fetchone()[0]), 0)


class AnswerCache(BaseCache):
    """The requests-cache backend over ``AnswerStorage``; redirects are refused, so none are stored.

    Parameters
    ----------
    folder
        The folder of the file; a new folder is private to its owner.
    limit
        The size limit in bytes; the least recently used answers are evicted.
    """

    responses: AnswerStorage

    def __init__(self, folder: Path, limit: int = CACHE_SIZE) -> None:
        super().__init__(cache_name=str(folder))
        self.responses = AnswerStorage(folder, limit)

    def find(self, key: str) -> CachedAnswer | None:
        """Return a cached answer, without making a response of it."""
        return self.responses.find(key)

    def save_response(
        self, response: Response, cache_key: str | None = None, expires: datetime | None = None
    ) -> None:
        """Store an answer, with the time when it was fetched but not when it expires.

        A temporary answer is not stored, nor does it replace what is. (With a filter of
        requests-cache the stored answer would be deleted.)
        """
        if getattr(response, "is_temporary", False):  # a CachedResponse never is
            return
        key = cache_key or self.create_key(response.request)
        fetched_at: datetime = response.fetched_at  # type: ignore[attr-defined]
        self.responses.put(key, response, fetched_at)

    def account(self, token: Secret | None) -> str:
        """Return the name of an account in cache keys; the token cannot be computed from it."""
        if token is None:
            return ANONYMOUS
        digest = hmac.new(self._account_key(), token.reveal().encode(), hashlib.sha256)
        return digest.hexdigest()[:16]

    def _account_key(self) -> bytes:
        """The random key of this file, made once by the first process that needs it."""
        query = "SELECT value FROM facts WHERE name = 'account_key'"
        fresh = secrets.token_bytes(32)

        def find(connection: sqlite3.Connection) -> bytes | None:
            row = connection.execute(query).fetchone()
            return None if row is None else bytes(row[0])

        def make(connection: sqlite3.Connection) -> bytes:
            connection.execute("INSERT OR IGNORE INTO facts VALUES ('account_key', ?)", (fresh,))
            return find(connection) or fresh

        return self.responses.file.read(find, None) or self.responses.file.write(make, fresh)


def _head(answer: Response | CachedResponse, fetched_at: datetime) -> str:
    """Serialize the facts of an answer that are stored beside its body."""
    facts = {
        "url": answer.url,
        "status": answer.status_code,
        "headers": {name.lower(): value for name, value in answer.headers.items()},
        "fetched_at": fetched_at.isoformat(),
    }
    return json.dumps(facts)


def _checksum(key: str, head: str, body: bytes) -> str:
    """The checksum of an answer and its key."""
    checksum = hashlib.sha256(f"{key}\n{head}\n".encode())
    checksum.update(body)
    return checksum.hexdigest()


def _read(key: str, head: str, checksum: str, body: bytes) -> CachedAnswer | None:
    """Read a stored row; None where a byte of it has changed."""
    try:
        if checksum != _checksum(key, head, body):
            raise ValueError("it has changed")
        facts = json.loads(head)
        moment = datetime.fromisoformat(facts["fetched_at"])
        return CachedAnswer(facts["url"], facts["status"], facts["headers"], moment, body)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _origin_and_host(url: str) -> tuple[str, str]:
    """The origin of an answer, and the host that it is about."""
    parts = urlsplit(url)
    segments = parts.path.split("/")
    host = segments[-2] if len(segments) > 1 else ""
    return f"{parts.scheme}://{parts.netloc}", host
