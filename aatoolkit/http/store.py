"""The cache of answers: one SQLite file in a private folder, without pickle.

Threads share the file, not a connection: each borrows one from a small stock and puts it back,
so no connection is ever used by two threads at once. Every fault of the file costs one warning;
from then on the cache is as good as empty, and answers come from the network.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import sqlite3
import threading
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from requests import Response
from requests_cache.backends.base import BaseCache, BaseStorage
from requests_cache.models.response import CachedResponse

from aatoolkit.errors import CacheWarning
from aatoolkit.http.secret import Secret

T = TypeVar("T")
FILE_NAME = "answers.sqlite"
ANONYMOUS = "anonymous"

_BUSY_SECONDS = 2.0
_SCHEMA = """
CREATE TABLE IF NOT EXISTS answers
    (key TEXT PRIMARY KEY, fetched_at TEXT NOT NULL, head TEXT NOT NULL, body BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value BLOB NOT NULL);
"""


def connect(file: Path) -> sqlite3.Connection:
    """Open the file: private to its owner, and never waited for longer than two seconds."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Made before SQLite could: it would let others read it. Its side files take after it.
    os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
    connection = sqlite3.connect(
        file, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


class AnswerStorage(BaseStorage[str, CachedResponse]):
    """The answers by key: a short JSON head and the body, bytes as they came."""

    def __init__(self, folder: Path) -> None:
        super().__init__(serializer=None)
        self.file = folder / FILE_NAME
        self.failed = False
        self._lock = threading.Lock()
        self._idle: deque[sqlite3.Connection] = deque()
        self._finalizer = weakref.finalize(self, _close_all, self._idle)
        self.run(lambda connection: connection.executescript(_SCHEMA), None)

    def run(self, action: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        """What an action on the file gives; ``otherwise`` where the file cannot be used."""
        if self.failed:
            return otherwise
        try:
            connection = self._idle.pop() if self._idle else connect(self.file)
        except IndexError:  # another thread took the last one in between
            return self.run(action, otherwise)
        except (sqlite3.Error, OSError) as error:
            self._give_up(error)
            return otherwise
        try:
            return action(connection)
        except sqlite3.Error as error:
            self._give_up(error)
            return otherwise
        finally:
            self._idle.append(connection)

    def close(self) -> None:
        """Close the connections that are not in use."""
        _close_all(self._idle)

    def _give_up(self, error: Exception) -> None:
        with self._lock:
            known, self.failed = self.failed, True
        if not known:
            warnings.warn(
                f"the cache in {self.file.parent} cannot be used ({error}); answers come from "
                "the network",
                CacheWarning,
                stacklevel=2,
            )

    def __getitem__(self, key: str) -> CachedResponse:
        query = "SELECT head, body FROM answers WHERE key = ?"
        row = self.run(lambda connection: connection.execute(query, (key,)).fetchone(), None)
        kept = None if row is None else _read(*row)
        if kept is None:
            raise KeyError(key)
        return kept

    def __setitem__(self, key: str, value: CachedResponse) -> None:
        body = bytes(value.content)
        head = {
            "url": value.url,
            "status": value.status_code,
            "headers": dict(value.headers),
            "fetched_at": value.created_at.isoformat(),
            "sha256": hashlib.sha256(body).hexdigest(),
        }
        row = (key, head["fetched_at"], json.dumps(head), body)
        self.run(
            lambda connection: connection.execute(
                "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?)", row
            ),
            None,
        )

    def __delitem__(self, key: str) -> None:
        query = "DELETE FROM answers WHERE key = ?"
        gone = self.run(lambda connection: connection.execute(query, (key,)).rowcount, 0)
        if not gone:
            raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        query = "SELECT key FROM answers ORDER BY key"
        rows: list[Any] = self.run(lambda connection: connection.execute(query).fetchall(), [])
        return iter([key for (key,) in rows])

    def __len__(self) -> int:
        query = "SELECT count(*) FROM answers"
        return self.run(lambda connection: int(connection.execute(query).fetchone()[0]), 0)


class AnswerCache(BaseCache):
    """The requests-cache backend over ``AnswerStorage``; redirects are refused, so none are kept.

    Parameters
    ----------
    folder
        Where the file lies; a new folder is made private to its owner.
    """

    responses: AnswerStorage

    def __init__(self, folder: Path) -> None:
        super().__init__(cache_name=str(folder))
        self.responses = AnswerStorage(folder)

    @property
    def failed(self) -> bool:
        """Whether the file cannot be used."""
        return self.responses.failed

    def save_response(
        self, response: Response, cache_key: str | None = None, expires: datetime | None = None
    ) -> None:
        """Keep an answer; when it was fetched is kept with it, when it expires is not."""
        key = cache_key or self.create_key(response.request)
        kept = CachedResponse(
            url=response.url,
            status_code=response.status_code,
            headers=response.headers,
            content=response.content,
            created_at=response.fetched_at,  # type: ignore[attr-defined]
        )
        self.responses[key] = kept

    def account(self, token: Secret | None) -> str:
        """The name under which the answers of one account are kept; the token cannot be told."""
        if token is None:
            return ANONYMOUS
        digest = hmac.new(self._account_key(), token.reveal().encode(), hashlib.sha256)
        return digest.hexdigest()[:16]

    def _account_key(self) -> bytes:
        """The random key of this file, made once by whoever comes first."""
        fresh = secrets.token_bytes(32)

        def find_or_make(connection: sqlite3.Connection) -> bytes:
            connection.execute("INSERT OR IGNORE INTO facts VALUES ('account_key', ?)", (fresh,))
            query = "SELECT value FROM facts WHERE name = 'account_key'"
            return bytes(connection.execute(query).fetchone()[0])

        return self.responses.run(find_or_make, fresh)


def _read(head: str, body: bytes) -> CachedResponse | None:
    """A kept answer, or None where a byte of it has changed since."""
    try:
        facts = json.loads(head)
        if facts["sha256"] != hashlib.sha256(body).hexdigest():
            raise ValueError("the body has changed")
        return CachedResponse(
            url=facts["url"],
            status_code=facts["status"],
            headers=facts["headers"],
            content=body,
            created_at=datetime.fromisoformat(facts["fetched_at"]),
        )
    except (ValueError, KeyError, TypeError):
        warnings.warn(
            "a kept answer is damaged and is not used; it is asked for again",
            CacheWarning,
            stacklevel=2,
        )
        return None


def _close_all(connections: deque[sqlite3.Connection]) -> None:
    while connections:
        connections.pop().close()
