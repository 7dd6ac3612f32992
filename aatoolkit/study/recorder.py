"""Record every answer in a study before it is returned."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import pandas as pd
import pyarrow as pa

from aatoolkit import __version__
from aatoolkit.errors import DecodeError, FetchError, NotAuthorized, RateLimited, StatusError
from aatoolkit.jsontree.layout import MAX_NODES
from aatoolkit.payload import Payload, Request
from aatoolkit.study.record import Record

Store = Callable[[Record, bytes], object]


@lru_cache(maxsize=1)
def versions() -> Mapping[str, str]:
    """The versions of the software that records and reads answers."""
    return {
        "aatoolkit": __version__,
        "pandas": pd.__version__,
        "pyarrow": pa.__version__,
        "python": platform.python_version(),
    }


class Recorder:
    """A client's fetcher that stores every answer before it returns it.

    Parameters
    ----------
    fetcher
        The fetcher that sends the requests.
    keep
        Called with a record and the bytes of its answer.
    max_nodes
        The limit that the answers are read with; a replay reads them with the same.
    """

    def __init__(self, fetcher: Any, keep: Store, max_nodes: int = MAX_NODES) -> None:
        self._fetcher = fetcher
        self._keep = keep
        self._max_nodes = max_nodes
        self.offline: bool = fetcher.offline
        self.has_token: bool = fetcher.has_token

    def close(self) -> None:
        """Close the connections."""
        self._fetcher.close()

    def get(self, request: Request) -> Payload:
        """Send the request, store the answer and return it.

        Raises
        ------
        FetchError
            If there is no usable answer; an error about the request itself is stored too.
        DecodeError
            If the answer contains the token; it is not stored.
        """
        failure: FetchError | None = None
        try:
            payload: Payload = self._fetcher.get(request)
        except (StatusError, DecodeError) as error:
            failure = error
        if failure is None:
            record = Record.from_answer(payload, versions(), self._max_nodes)
            self._take(record, payload.body)
            return payload
        body = _answer_in(failure)
        if body is not None:
            answer = Payload(
                body,
                url=str(failure.url),
                status=int(failure.status or 0),
                fetched_at=datetime.now(UTC),
            )
            self._take(Record.from_error(failure, answer, versions()), body)
        raise failure

    def _take(self, record: Record, body: bytes) -> None:
        text = b"\n".join((body, record.url.encode(), *map(str.encode, record.headers.values())))
        if self._fetcher.repeats_token(text):
            raise DecodeError(
                f"the answer to {record.name} contains the token, and was not stored; tell the "
                "operator of the service, and have the token replaced",
                problem="token",
            )
        self._keep(record, body)


def _answer_in(error: FetchError) -> bytes | None:
    """Return the body of an error about the request itself; None for other errors."""
    if isinstance(error, StatusError):
        is_about_the_call = isinstance(error, NotAuthorized | RateLimited)
        is_redirect = 300 <= (error.status or 0) < 400
        return None if is_about_the_call or is_redirect else error.body or b""
    return b"" if getattr(error, "problem", None) == "empty" else None
