"""The cache of answers: a requests-cache backend over one private SQLite file, without pickle.

A body is kept as it was received, once the content coding of the transfer (gzip) is undone: those
are the bytes that ``Payload.body`` holds. A seal over key, head and body tells when any of them
has changed; such an answer is not used.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import sqlite3
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

from requests import Response
from requests.structures import CaseInsensitiveDict
from requests_cache.backends.base import BaseCache, BaseStorage
from requests_cache.models.response import CachedResponse

from aatoolkit.errors import CacheWarning
from aatoolkit.http.database import Database
from aatoolkit.http.eviction import Uses, prune
from aatoolkit.http.secret import Secret

ANONYMOUS = "anonymous"
CACHE_SIZE = 2 * 10**9
"""The bytes that a cache may take unless another limit is given."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A kept answer, as far as a payload is made of it."""

    url: str
    status_code: int
    headers: dict[str, str]
    fetched_at: datetime
    content: bytes
    from_cache: ClassVar[bool] = True


class AnswerStorage(BaseStorage[str, CachedResponse]):
    """The answers by key: a short JSON head and the body, bytes as they came."""

    def __init__(self, folder: Path, limit: int) -> None:
        super().__init__(serializer=None)
        self.file = Database(folder)
        self._limit = limit
        self._uses = Uses()

    def close(self) -> None:
        """Write down what was used, and close the connections that are not in use."""
        if self._uses:
            self.file.write(self._uses.write_down, None)
        self.file.close()

    def find(self, key: str) -> Kept | None:
        """A kept answer, if there is one and every byte of it is as it was."""
        query = "SELECT head, seal, body FROM answers WHERE key = ?"
        row = self.file.read(lambda connection: connection.execute(query, (key,)).fetchone(), None)
        if row is None:
            return None
        kept = _read(key, *row)
        if kept is None:
            self._remove(key)
            warnings.warn(
                "a kept answer is damaged and is not used; it is asked for again",
                CacheWarning,
                stacklevel=2,
            )
        elif self._uses.add(key):
            self.file.write(self._uses.write_down, None)
        return kept

    def __getitem__(self, key: str) -> CachedResponse:
        kept = self.find(key)
        if kept is None:
            raise KeyError(key)
        return CachedResponse(
            url=kept.url,
            status_code=kept.status_code,
            headers=CaseInsensitiveDict(kept.headers),
            content=kept.content,
            created_at=kept.fetched_at,
        )

    def __setitem__(self, key: str, value: CachedResponse) -> None:
        head, body = _head(value), value.content
        size = len(head) + len(body)
        if size > self._limit:
            return
        origin, host = _place(value.url)
        moment = value.created_at.isoformat()

        def keep(connection: sqlite3.Connection) -> int:
            self._uses.write_down(connection)
            row = (key, head, _seal(key, head, body), body)
            connection.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?)", row)
            entry = (key, origin, host, moment, size)
            connection.execute(
                "INSERT OR REPLACE INTO register VALUES (?, ?, ?, ?, ?,"
                " (SELECT coalesce(max(used), 0) + 1 FROM register))",
                entry,
            )
            return prune(connection, self._limit)

        if self.file.write(keep, 0):
            self.file.settle()

    def __delitem__(self, key: str) -> None:
        if not self._remove(key):
            raise KeyError(key)

    def _remove(self, key: str) -> int:
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
    """The requests-cache backend over ``AnswerStorage``; redirects are refused, so none are kept.

    Parameters
    ----------
    folder
        Where the file lies; a new folder is made private to its owner.
    limit
        The bytes that it may take; what was used least recently makes room.
    """

    responses: AnswerStorage

    def __init__(self, folder: Path, limit: int = CACHE_SIZE) -> None:
        super().__init__(cache_name=str(folder))
        self.responses = AnswerStorage(folder, limit)

    def find(self, key: str) -> Kept | None:
        """A kept answer, without making a response of it."""
        return self.responses.find(key)

    def save_response(
        self, response: Response, cache_key: str | None = None, expires: datetime | None = None
    ) -> None:
        """Keep an answer; when it was fetched is kept with it, when it expires is not.

        One that is soon another is not kept, nor does it take the place of what is. (A filter of
        requests-cache would have that deleted.)
        """
        if getattr(response, "is_passing", False):  # one that was kept before is not
            return
        self.responses[cache_key or self.create_key(response.request)] = CachedResponse(
            url=response.url,
            status_code=response.status_code,
            headers=response.headers,
            content=response.content,
            created_at=response.fetched_at,  # type: ignore[attr-defined]
        )

    def account(self, token: Secret | None) -> str:
        """The name under which the answers of one account are kept; the token cannot be told."""
        if token is None:
            return ANONYMOUS
        digest = hmac.new(self._account_key(), token.reveal().encode(), hashlib.sha256)
        return digest.hexdigest()[:16]

    def _account_key(self) -> bytes:
        """The random key of this file, made once by whoever comes first."""
        query = "SELECT value FROM facts WHERE name = 'account_key'"
        fresh = secrets.token_bytes(32)

        def find(connection: sqlite3.Connection) -> bytes | None:
            row = connection.execute(query).fetchone()
            return None if row is None else bytes(row[0])

        def make(connection: sqlite3.Connection) -> bytes:
            connection.execute("INSERT OR IGNORE INTO facts VALUES ('account_key', ?)", (fresh,))
            return find(connection) or fresh

        return self.responses.file.read(find, None) or self.responses.file.write(make, fresh)


def _head(answer: CachedResponse) -> str:
    """What is kept of an answer beside its body."""
    facts = {
        "url": answer.url,
        "status": answer.status_code,
        "headers": {name.lower(): value for name, value in answer.headers.items()},
        "fetched_at": answer.created_at.isoformat(),
    }
    return json.dumps(facts)


def _seal(key: str, head: str, body: bytes) -> str:
    """What changes with any byte of an answer, or of the key that it is found by."""
    seal = hashlib.sha256(f"{key}\n{head}\n".encode())
    seal.update(body)
    return seal.hexdigest()


def _read(key: str, head: str, seal: str, body: bytes) -> Kept | None:
    """A kept answer, or None where a byte of it has changed since."""
    try:
        if seal != _seal(key, head, body):
            raise ValueError("it has changed")
        facts = json.loads(head)
        moment = datetime.fromisoformat(facts["fetched_at"])
        return Kept(facts["url"], facts["status"], facts["headers"], moment, body)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _place(url: str) -> tuple[str, str]:
    """The origin of an answer, and the host that it is about."""
    parts = urlsplit(url)
    segments = parts.path.split("/")
    host = segments[-2] if len(segments) > 1 else ""
    return f"{parts.scheme}://{parts.netloc}", host
