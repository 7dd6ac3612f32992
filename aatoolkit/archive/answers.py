"""Answers as rows of the table ``answers``, and back; a body that did not change is stored once."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import cached_property
from typing import Any

import orjson
import pyarrow as pa

from aatoolkit._util.text import json_text
from aatoolkit.archive.schema import CONTEXT_FIELDS, MOMENT
from aatoolkit.errors import AAToolkitError, ArchiveError, FetchError, StatusError
from aatoolkit.payload import Payload, window_of
from aatoolkit.scope import FILTERS, Scope
from aatoolkit.study.record import deserialize_error, serialize_error, validate_error

ANSWERS = "answers"

SCHEMA = pa.schema(
    [
        pa.field("month", pa.string()),
        pa.field("run", pa.string()),
        pa.field("host", pa.string()),
        pa.field("section", pa.string()),
        pa.field("scope", pa.string()),
        pa.field("fetched_at", MOMENT),
        pa.field("status", pa.int64()),
        pa.field("sha256", pa.string()),
        pa.field("size", pa.int64()),
        pa.field("window_start", pa.date32()),
        pa.field("window_end", pa.date32()),
        pa.field("stale", pa.bool_()),
        pa.field("url", pa.string()),
        pa.field("headers", pa.string()),
        pa.field("error", pa.string()),
        pa.field("has_body", pa.bool_()),
        pa.field("body", pa.binary(), metadata={"comment": "zstd; null where stored before"}),
    ]
)

FACTS = tuple(name for name in SCHEMA.names if name not in ("month", "has_body", "body"))
"""The columns of an answer without its body."""

_CODEC = "zstd"
_LEVEL = 9

Identity = tuple[str, str, str, datetime, str]
Question = tuple[str, str, str]
"""Host, section and scope, as a query string."""


@dataclass(frozen=True)
class StoredAnswer:
    """One answer of an archive: where, when and what; a failed request has an error.

    Parameters
    ----------
    run : str
        The run that it was added by.
    host, section, scope : str
        The question; the scope as a query string.
    fetched_at : datetime.datetime
        When the service gave it, in UTC.
    status : int
        The HTTP status; 0 where no response came.
    sha256 : str or None
        The SHA-256 of its body; None for a failed request without one.
    size : int
        The length of its body in bytes.
    window_start, window_end : datetime.date or None
        The days that it says it covers.
    stale : bool
        Whether it came from a cache after it had expired.
    url : str
        The address of the request.
    headers : str
        The response headers that are kept, as JSON.
    error : str or None
        The error, as JSON.
    body : bytes or None
        The body as it came; None where it is elsewhere.
    """

    run: str
    host: str
    section: str
    scope: str
    fetched_at: datetime
    status: int
    sha256: str | None
    size: int
    window_start: date | None
    window_end: date | None
    stale: bool
    url: str
    headers: str
    error: str | None
    body: bytes | None = field(default=None, repr=False)

    @classmethod
    def of(cls, run: str, payload: Payload) -> StoredAnswer:
        """The row of a usable answer.

        Raises
        ------
        ArchiveError
            If it does not say of which host, section and scope it is.
        """
        if payload.host is None or payload.section is None or payload.scope is None:
            raise ArchiveError(
                "an answer without host, section and scope cannot be archived; give payloads "
                "as project.fetch returns them"
            )
        start, end = _window(payload.body)
        return cls(
            run,
            payload.host,
            payload.section,
            payload.scope.to_query(),
            payload.fetched_at.astimezone(UTC),
            payload.status,
            payload.sha256,
            len(payload.body),
            start,
            end,
            payload.stale,
            payload.url,
            json_text(dict(payload.headers)),
            None,
            payload.body,
        )

    @classmethod
    def of_error(
        cls, run: str, question: Question, error: AAToolkitError, moment: datetime
    ) -> StoredAnswer:
        """The row of a request that failed."""
        body = error.body if isinstance(error, StatusError) else None
        facts = (
            serialize_error(error)
            if isinstance(error, FetchError)
            else {"kind": type(error).__name__, "message": error.message, "facts": {}}
        )
        return cls(
            run,
            *question,
            moment,
            int(getattr(error, "status", None) or 0),
            None,
            len(body or b""),
            None,
            None,
            False,
            str(getattr(error, "url", None) or ""),
            "{}",
            json_text(facts),
            body or None,
        )

    @property
    def question(self) -> Question:
        """The key of the request: host, section and scope."""
        return self.host, self.section, self.scope

    @property
    def identity(self) -> Identity:
        """The key that no two answers of an archive share."""
        return *self.question, self.fetched_at, self.sha256 or ""

    @property
    def month(self) -> str:
        """The month that it was fetched in."""
        return f"{self.fetched_at:%Y-%m}"

    @property
    def has_body(self) -> bool:
        """Whether the body is stored in this row."""
        return self.body is not None

    def payload(self) -> Payload:
        """The answer, as it was read when it was added."""
        if self.body is None:
            raise ArchiveError(f"the body of {self.name} is not at hand")
        return Payload(
            self.body,
            url=self.url,
            status=self.status,
            fetched_at=self.fetched_at,
            from_cache=True,
            stale=self.stale,
            section=self.section,
            scope=Scope.from_query(self.scope),
            host=self.host,
            headers=json.loads(self.headers),
        )

    def to_error(self) -> AAToolkitError | None:
        """The error of a failed request; None for a usable answer."""
        if self.error is None:
            return None
        facts = json.loads(self.error)
        try:
            return deserialize_error(validate_error(facts), self.url, self.body or b"")
        except (ValueError, KeyError, TypeError):
            return FetchError(str(facts.get("message", "the request failed")), url=self.url)

    @property
    def name(self) -> str:
        """The answer in words, for messages."""
        return f"{self.section} of {self.host}, {self.scope}, {self.fetched_at:%Y-%m-%d %H:%M}"

    @cached_property
    def context(self) -> dict[str, Any]:
        """The values of the context columns in the rows of its tables."""
        scope = Scope.from_query(self.scope)
        return {
            "month": self.month,
            "host": self.host,
            "days": scope.days,
            "window_start": self.window_start,
            "window_end": self.window_end,
            **{
                f"filter_{name}": ",".join(scope._filters.get(name, ())) or None for name in FILTERS
            },
            "fetched_at": self.fetched_at,
            "run": self.run,
            "sha256": self.sha256,
        }


def to_arrow(answers: Iterable[StoredAnswer]) -> pa.Table:
    """Build the rows of the table ``answers``; bodies are compressed."""
    listed = list(answers)
    codec = pa.Codec(_CODEC, _LEVEL)
    columns: dict[str, list[Any]] = {
        name: [getattr(answer, name) for answer in listed] for name in SCHEMA.names[:-1]
    }
    columns["body"] = [
        None if answer.body is None else codec.compress(answer.body, asbytes=True)
        for answer in listed
    ]
    return pa.table(columns, schema=pa.schema([pa.field(f.name, f.type) for f in SCHEMA]))


def from_arrow(rows: pa.Table) -> list[StoredAnswer]:
    """Read answers from rows, with their bodies where the rows have them.

    Raises
    ------
    ArchiveError
        If a body cannot be decompressed.
    """
    return [from_row(row) for row in rows.to_pylist()]


def from_row(row: Mapping[str, Any]) -> StoredAnswer:
    """An answer from the facts of one row."""
    facts = {name: row[name] for name in FACTS}
    packed = row.get("body")
    body = None if packed is None else unpacked(packed, row["size"])
    facts["fetched_at"] = facts["fetched_at"].astimezone(UTC)
    return StoredAnswer(**facts, body=body)


def unpacked(packed: bytes, size: int) -> bytes:
    """Decompress the stored body of an answer.

    Raises
    ------
    ArchiveError
        If what is stored is no such body.
    """
    if size == 0:
        return b""
    try:
        return bytes(pa.Codec(_CODEC).decompress(packed, size, asbytes=True))
    except (pa.ArrowException, OSError, ValueError):
        pass
    raise ArchiveError("the body of an answer is damaged and cannot be decompressed")


def context_table(answers: Iterable[StoredAnswer]) -> pa.Table:
    """The context of answers, one row each."""
    contexts = [answer.context for answer in answers]
    return pa.table(
        {
            field.name: pa.array([context[field.name] for context in contexts], field.type)
            for field in CONTEXT_FIELDS
        }
    )


def _window(body: bytes) -> tuple[date | None, date | None]:
    """The days that an answer covers, where it is JSON and says so."""
    try:
        start, end = window_of(orjson.loads(body))
    except orjson.JSONDecodeError:
        return None, None
    return (
        None if start is None else date.fromisoformat(start),
        None if end is None else date.fromisoformat(end),
    )
