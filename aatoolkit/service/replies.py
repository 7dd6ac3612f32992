"""HTTP responses: JSON bodies, compressed once, sent in pieces; and a cache of them."""

from __future__ import annotations

import gzip
import json
import threading
from collections import OrderedDict
from collections.abc import Hashable, Mapping
from typing import Any
from uuid import uuid4

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

GZIP_FROM = 1024
"""Bodies of so many bytes are compressed for callers that accept gzip."""

_GZIP_LEVEL = 5
_PIECE = 1 << 16


class Body:
    """An encoded answer.

    Parameters
    ----------
    content
        A JSON object. A number that JSON has no word for raises ValueError.
    packed
        Whether it is compressed, if it is not too short for that.
    """

    def __init__(self, content: Mapping[str, Any], *, packed: bool = False) -> None:
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        self.content = text.encode()
        self.packed = packed and len(self.content) >= GZIP_FROM
        if self.packed:
            self.content = gzip.compress(self.content, _GZIP_LEVEL, mtime=0)

    def __len__(self) -> int:
        return len(self.content)


class BodyCache:
    """A cache of encoded answers by question; the least recently used are evicted."""

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._lock = threading.Lock()
        self._bodies: OrderedDict[Hashable, Body] = OrderedDict()
        self._size = 0

    def get(self, key: Hashable) -> Body | None:
        """Return the answer of a key; None if it is not cached."""
        with self._lock:
            found = self._bodies.get(key)
            if found is not None:
                self._bodies.move_to_end(key)
            return found

    def put(self, key: Hashable, body: Body) -> None:
        """Cache an answer, unless it is larger than a quarter of the cache."""
        if 4 * len(body) > self._most:
            return
        with self._lock:
            if key in self._bodies:
                self._size -= len(self._bodies.pop(key))
            self._bodies[key] = body
            self._size += len(body)
            while self._size > self._most:
                _, evicted = self._bodies.popitem(last=False)
                self._size -= len(evicted)


class Reply(Response):
    """A JSON response that is handed to the connection piece by piece.

    A slow reader then holds back the next piece instead of having all of it buffered.
    """

    def __init__(self, body: Body, status: int, headers: Mapping[str, str]) -> None:
        encoding = {"Content-Encoding": "gzip"} if body.packed else {}
        super().__init__(
            body.content,
            status,
            {
                **headers,
                **encoding,
                "Vary": "Authorization, Accept-Encoding",
                "X-Request-Id": uuid4().hex,
            },
            "application/json; charset=utf-8",
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response, each piece once the connection has taken the one before."""
        await send(
            {
                "type": "http.response.start",
                "status": self.status_code,
                "headers": self.raw_headers,
            }
        )
        content = bytes(self.body)
        for start in range(0, max(1, len(content)), _PIECE):
            end = start + _PIECE
            await send(
                {
                    "type": "http.response.body",
                    "body": content[start:end],
                    "more_body": end < len(content),
                }
            )
