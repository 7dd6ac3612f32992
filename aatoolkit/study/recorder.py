"""Recording: a study keeps every answer before anybody sees it."""

from __future__ import annotations

import platform
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import pandas as pd
import pyarrow as pa

from aatoolkit import __version__
from aatoolkit.errors import (
    DecodeError,
    FetchError,
    NotAuthorized,
    RateLimited,
    StatusError,
    TokenRepeated,
    UnexpectedRedirect,
)
from aatoolkit.payload import Payload, Request
from aatoolkit.study.record import Record

_ABOUT_THE_CALL = (NotAuthorized, RateLimited, UnexpectedRedirect)
"""What a service says of the call that was made, and not of what was asked."""

_ESCAPE = re.compile(rb"(?:%|\\u00)([0-7][0-9A-Fa-f])")

Keep = Callable[[Record, bytes], object]


@lru_cache(maxsize=1)
def versions() -> Mapping[str, str]:
    """What answers are recorded and read with."""
    return {
        "aatoolkit": __version__,
        "pandas": pd.__version__,
        "pyarrow": pa.__version__,
        "python": platform.python_version(),
    }


class Recorder:
    """What asks as a client's fetcher does, and keeps every answer before it gives it.

    Parameters
    ----------
    fetcher
        What is asked.
    keep
        What takes a record and the bytes of its answer.
    """

    def __init__(self, fetcher: Any, keep: Keep) -> None:
        self._fetcher = fetcher
        self._keep = keep
        self.offline: bool = fetcher.offline
        self.has_token: bool = fetcher.has_token

    def close(self) -> None:
        """Close the connections."""
        self._fetcher.close()

    def get(self, request: Request) -> Payload:
        """Ask, keep what came, and give it.

        Raises
        ------
        FetchError
            If no usable answer came back; one about what was asked is kept too.
        TokenRepeated
            If the answer holds the token; it is not kept.
        """
        failure: FetchError | None = None
        try:
            payload: Payload = self._fetcher.get(request)
        except (StatusError, DecodeError) as error:
            failure = error
        if failure is None:
            self._take(Record.from_answer(payload, versions()), payload.body)
            return payload
        body = _answer_in(failure)
        if body is not None:
            told = Payload(
                body,
                url=str(failure.url),
                status=int(failure.status or 0),
                fetched_at=datetime.now(UTC),
            )
            self._take(Record.from_error(failure, told, versions()), body)
        raise failure

    def _take(self, record: Record, body: bytes) -> None:
        said = b"\n".join((body, record.url.encode(), *map(str.encode, record.headers.values())))
        if self._fetcher.repeats_token(said) or self._fetcher.repeats_token(_unescaped(said)):
            raise TokenRepeated(
                f"the answer to {record.name} holds the token, and was not kept; tell those who "
                "run the service, and have the token replaced"
            )
        self._keep(record, body)


def _unescaped(text: bytes) -> bytes:
    """A text without the escapes of URLs and JSON, which may stand for any letter."""
    return _ESCAPE.sub(lambda found: bytes([int(found[1], 16)]), text)


def _answer_in(error: FetchError) -> bytes | None:
    """The bytes of an answer that is an error about what was asked; None of any other error."""
    if isinstance(error, StatusError):
        return None if isinstance(error, _ABOUT_THE_CALL) else error.body or b""
    return b"" if getattr(error, "problem", None) == "empty" else None
