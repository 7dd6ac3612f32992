"""Responses as rows of an archive's table ``responses``; equal bodies are stored only once."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from itertools import groupby
from typing import Any

import orjson
import pyarrow as pa

from aatoolkit._util.text import to_json_text
from aatoolkit.archive.schema import CONTEXT_SCHEMA, RESPONSES_TABLE, SYSTEM_SCHEMAS
from aatoolkit.archive.snapshot import Snapshot, make_in_condition
from aatoolkit.archive.store import ArchiveStore, RunLog
from aatoolkit.errors import AAToolkitError, ArchiveError, StatusError
from aatoolkit.metadata.column import Source
from aatoolkit.payload import Payload, find_day_window
from aatoolkit.scope import FILTERS, Scope

_COMPRESSION_CODEC = "zstd"
_COMPRESSION_LEVEL = 9

USABLE_SQL = "error IS NULL"
"""The SQL condition for usable responses, i.e. all rows but those of failed requests."""

ResponseKey = tuple[str, str, str, datetime, str]
"""Host, section and scope of a request, and time and SHA-256 of its response."""

RequestKey = tuple[str, str, str]
"""Host, section and scope of a request; the scope is a query string such as ``days=30``."""


@dataclass(frozen=True)
class ArchivedResponse:
    """One response in an archive, or one failed request with its error.

    The attributes are the columns of the table ``responses``. ``scope`` is a query string such as
    ``days=30``; ``headers`` and ``error`` are JSON. ``body`` is None if another row stores the same
    body.
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
    def from_payload(cls, run_name: str, payload: Payload) -> ArchivedResponse:
        """Create the row for a response; ``run_name`` is the name of the call that adds it."""
        if payload.host is None or payload.section is None or payload.scope is None:
            raise ArchiveError(
                "a response without host, section and scope cannot be archived; give payloads "
                "as project.fetch returns them"
            )
        day_window: Any = (None, None)
        with contextlib.suppress(orjson.JSONDecodeError):
            day_window = find_day_window(orjson.loads(payload.body))
        first_day, last_day = (iso_day and date.fromisoformat(iso_day) for iso_day in day_window)
        return cls(
            run_name,
            payload.host,
            payload.section,
            payload.scope._to_query(),
            payload.fetched_at.astimezone(UTC),
            payload.status,
            payload.sha256,
            len(payload.body),
            first_day,
            last_day,
            payload.stale,
            payload.url,
            to_json_text(dict(payload.headers)),
            None,
            payload.body,
        )

    @classmethod
    def from_error(
        cls, run_name: str, request_key: RequestKey, error: AAToolkitError, failed_at: datetime
    ) -> ArchivedResponse:
        """Create the row for a failed request, with its error as JSON.

        ``run_name`` is the name of the call that adds it.
        """
        body = error.body if isinstance(error, StatusError) else None
        return cls(
            run_name,
            *request_key,
            failed_at,
            int(getattr(error, "status", None) or 0),
            None,
            len(body or b""),
            None,
            None,
            False,
            str(getattr(error, "url", None) or ""),
            "{}",
            to_json_text({"kind": type(error).__name__, "message": error.message}),
            body or None,
        )

    @property
    def request_key(self) -> RequestKey:
        """A tuple that identifies the request: host, section and scope (such as ``days=30``)."""
        return self.host, self.section, self.scope

    @property
    def response_key(self) -> ResponseKey:
        """A tuple that identifies the response: its request, time of fetch and SHA-256."""
        return *self.request_key, self.fetched_at, self.sha256 or ""

    @property
    def month(self) -> str:
        """The month in which the response was fetched, such as ``2026-11``."""
        return f"{self.fetched_at:%Y-%m}"

    def payload(self) -> Payload:
        """Return the response as a `Payload`, the form in which clients return responses.

        Raise `ArchiveError` if its body is damaged.
        """
        payload = Payload(
            self.body or b"",
            url=self.url,
            status=self.status,
            fetched_at=self.fetched_at,
            from_cache=True,
            stale=self.stale,
            section=self.section,
            scope=Scope._from_query(self.scope),
            host=self.host,
            headers=json.loads(self.headers),
        )
        if self.body is None or payload.sha256 != self.sha256:
            raise ArchiveError(f"the body of {self.name} is not what was added; verify it")
        return payload

    @property
    def name(self) -> str:
        """A text that identifies the response in messages."""
        return f"{self.section} of {self.host}, {self.scope}, {self.fetched_at:%Y-%m-%d %H:%M}"

    @cached_property
    def context_value_by_column(self) -> dict[str, Any]:
        """A dict of the values that all rows made from the response have in their first columns.

        These columns are ``host``, ``days`` and so on.
        """
        scope = Scope._from_query(self.scope)
        attribute_names = (name for name in CONTEXT_SCHEMA.names if hasattr(self, name))
        return {
            "days": scope.days,
            **{
                f"filter_{name}": ",".join(scope._filters.get(name, ())) or None for name in FILTERS
            },
            **{name: getattr(self, name) for name in attribute_names},
        }


def responses_to_arrow(responses: Iterable[ArchivedResponse]) -> pa.Table:
    """Convert responses to rows of the table ``responses``, with compressed bodies."""
    codec = pa.Codec(_COMPRESSION_CODEC, _COMPRESSION_LEVEL)
    response_rows = []
    for response in responses:
        compressed_body = (
            None if response.body is None else codec.compress(response.body, asbytes=True)
        )
        has_body = compressed_body is not None
        response_rows.append(
            {
                **vars(response),
                **response.context_value_by_column,
                "has_body": has_body,
                "body": compressed_body,
            }
        )
    return pa.Table.from_pylist(response_rows, schema=SYSTEM_SCHEMAS[RESPONSES_TABLE])


def row_to_response(response_row: Mapping[str, Any]) -> ArchivedResponse:
    """Create an `ArchivedResponse` from a row of the table ``responses``; decompress its body."""
    value_by_attribute = {
        field.name: response_row[field.name] for field in fields(ArchivedResponse)
    }
    value_by_attribute["fetched_at"] = value_by_attribute["fetched_at"].astimezone(UTC)
    try:
        if response_row["body"] is not None:  # nothing can be decompressed to nothing
            codec = pa.Codec(_COMPRESSION_CODEC)
            body_size = response_row["size"]
            value_by_attribute["body"] = (
                codec.decompress(response_row["body"], body_size, asbytes=True)
                if body_size
                else b""
            )
    except (pa.ArrowException, OSError, ValueError):
        raise ArchiveError(
            "the body of a response is damaged; archive.verify() lists what is"
        ) from None
    return ArchivedResponse(**value_by_attribute)


def row_to_source(response_row: Mapping[str, Any]) -> Source:
    """Create a `Source`, which describes a response in a frame's metadata.

    ``response_row`` is the row of the response in the table ``responses``.
    """
    fetched_at = response_row["fetched_at"].astimezone(UTC)
    return Source(
        response_row["host"],
        response_row["section"],
        response_row["scope"],
        response_row["url"],
        fetched_at.isoformat(timespec="seconds").replace("+00:00", "Z"),
        response_row["sha256"],
        bool(response_row["stale"]),
        response_row["window_start"] and response_row["window_start"].isoformat(),
        response_row["window_end"] and response_row["window_end"].isoformat(),
    )


# -- the index of stored responses -------------------------------------------------------------


class ResponseIndex:
    """An index of the responses that an archive has, so that no response is added twice.

    The index is read from the archive one month at a time, and has only the hosts ``hosts``.
    """

    def __init__(self, store: ArchiveStore, hosts: Collection[str] | None = None) -> None:
        self._snapshot = Snapshot(store)
        self.run_log: RunLog = self._snapshot.run_log
        self._where_sql = (
            USABLE_SQL if hosts is None else f"{USABLE_SQL} AND {make_in_condition('host', hosts)}"
        )
        self._loaded_months: set[str] = set()
        self._response_keys: set[ResponseKey] = set()
        self._body_keys: set[tuple[str, ...]] = set()
        self._requests_and_days: set[tuple[RequestKey, date]] = set()

    def _load_month(self, month: str) -> None:
        """Read the responses of a month and of the month before, unless they were read already.

        ``month`` is a text such as ``2026-11``.
        """
        first_day_of_month = date.fromisoformat(f"{month}-01")
        new_months = {
            month,
            f"{first_day_of_month - timedelta(days=1):%Y-%m}",
        } - self._loaded_months
        self._loaded_months |= new_months
        if not new_months or not self._snapshot.has_table(RESPONSES_TABLE):
            return
        for response_row in self._snapshot.query_rows(
            "SELECT host, section, scope, fetched_at, sha256, has_body FROM responses "
            f"WHERE {self._where_sql} AND {make_in_condition('month', new_months)}",
            RESPONSES_TABLE,
        ):
            request_key = response_row["host"], response_row["section"], response_row["scope"]
            fetched_at = response_row["fetched_at"].astimezone(UTC)
            self._response_keys.add((*request_key, fetched_at, response_row["sha256"]))
            self._requests_and_days.add((request_key, fetched_at.date()))
            if response_row["has_body"]:
                self._body_keys.add((*request_key, response_row["sha256"]))

    def has_response(self, response: ArchivedResponse) -> bool:
        """Return whether the archive has a response of the same request, time and body."""
        self._load_month(response.month)
        return response.error is None and response.response_key in self._response_keys

    def has_response_of_day(self, request_key: RequestKey, day: date) -> bool:
        """Return whether the archive has a response to a request that was fetched on ``day``."""
        self._load_month(f"{day:%Y-%m}")
        return (request_key, day) in self._requests_and_days

    def has_body(self, response: ArchivedResponse) -> bool:
        """Return whether the archive has the same body for the same request, from whatever day."""
        self._load_month(response.month)
        return (*response.request_key, response.sha256 or "") in self._body_keys

    def add_response(self, response: ArchivedResponse) -> None:
        """Add a response to the index, because it is being added to the archive."""
        if response.error is None:
            self._response_keys.add(response.response_key)
            if response.body is not None:
                self._body_keys.add((*response.request_key, response.sha256 or ""))


_RESPONSES_PER_BATCH = 2000
"""The number of responses that are in memory at a time."""


def read_response_groups(
    snapshot: Snapshot, condition_sql: str = USABLE_SQL
) -> Iterator[list[ArchivedResponse]]:
    """Yield lists of stored responses with their bodies; each list has one run, host and scope.

    A run is one call that added responses; a scope is the days and filters of a request.
    ``condition_sql`` is an SQL condition that selects the responses.
    """
    if not snapshot.has_table(RESPONSES_TABLE):
        return
    host_chunk_rows = snapshot.query_rows(
        "WITH counted AS (SELECT month, host, count(*) AS n FROM responses "
        f"WHERE {condition_sql} GROUP BY ALL), numbered AS (SELECT month, host, "
        f"(sum(n) OVER (ORDER BY month, host) - n) // {_RESPONSES_PER_BATCH} AS chunk FROM counted)"
        " SELECT month, list(host ORDER BY host) AS hosts FROM numbered "
        "GROUP BY month, chunk ORDER BY month, chunk",
        RESPONSES_TABLE,
    )
    for host_chunk_row in host_chunk_rows:
        hosts_sql = make_in_condition("host", host_chunk_row["hosts"])
        chunk_condition_sql = (
            f"({condition_sql}) AND month = '{host_chunk_row['month']}' AND {hosts_sql}"
        )
        response_rows = snapshot.query_rows(
            f"WITH chunk AS (SELECT * FROM responses WHERE {chunk_condition_sql}), bodies AS ("
            "SELECT sha256, any_value(body) AS kept FROM responses WHERE has_body AND sha256 IN "
            "(SELECT sha256 FROM chunk WHERE NOT has_body) GROUP BY sha256) "
            "SELECT chunk.* REPLACE (coalesce(body, kept) AS body) FROM chunk "
            "LEFT JOIN bodies USING (sha256) ORDER BY run, host, scope, section, fetched_at",
            RESPONSES_TABLE,
        )
        for _, response_group in groupby(
            map(row_to_response, response_rows),
            key=lambda response: (response.run, response.host, response.scope),
        ):
            yield [*response_group]
