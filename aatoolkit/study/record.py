"""One line of a study's manifest: a request and its answer."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from aatoolkit._util.hosts import canonical_host
from aatoolkit._util.text import visible
from aatoolkit.errors import AAToolkitError, FetchError, StudyError
from aatoolkit.jsontree import decode
from aatoolkit.jsontree.layout import MAX_NODES
from aatoolkit.payload import Payload
from aatoolkit.scope import Scope
from aatoolkit.study.recorded_error import deserialize_error, serialize_error, validate_error

SHA256 = re.compile(r"[0-9a-f]{64}")

_ORIGIN = re.compile(r"https?://[^\s/?#@\\]+")
_PATH = re.compile(r"((?:/[^\s/?#\\]+)*)/api/domains/([^\s/?#\\]+)/(scope-options|agent-analytics)")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


@dataclass(frozen=True)
class Record:
    """One recorded request and its answer.

    Attributes
    ----------
    origin, path : str
        The address of the request, without its parameters.
    params : mapping of str to str
        Its query parameters.
    status : int
        The HTTP status of the answer.
    sha256 : str
        The SHA-256 of its body, under which the body is stored.
    size : int
        The length of its body in bytes.
    headers : mapping of str to str
        The response headers that are stored.
    fetched_at : datetime.datetime
        When the service sent it, in UTC.
    stale : bool
        Whether it came from a cache after it had expired.
    error : mapping or None
        The error, if the answer is one.
    versions : mapping of str to str
        The versions of the software that recorded it.
    previous : str or None
        The SHA-256 of the line before in the manifest.
    max_nodes : int
        The number of different paths that the client which recorded it reads in an answer.

    Examples
    --------
    >>> from aatoolkit.study.record import Record
    >>> record = Record(
    ...     "https://api.example",
    ...     "/api/domains/acme.example/agent-analytics",
    ...     {"section": "domains", "days": "7"},
    ...     status=200,
    ...     sha256="0" * 64,
    ...     size=2,
    ...     headers={},
    ...     fetched_at=datetime(2026, 11, 20, tzinfo=UTC),
    ... )
    >>> record.host, record.section, record.scope
    ('acme.example', 'domains', Scope(days=7))
    """

    origin: str
    path: str
    params: Mapping[str, str]
    status: int
    sha256: str
    size: int
    headers: Mapping[str, str]
    fetched_at: datetime
    stale: bool = False
    error: Mapping[str, Any] | None = None
    versions: Mapping[str, str] | None = None
    previous: str | None = None
    max_nodes: int = MAX_NODES

    @classmethod
    def from_answer(
        cls, payload: Payload, versions: Mapping[str, str], max_nodes: int = MAX_NODES
    ) -> Record:
        """Make the record of a usable answer."""
        return cls(
            *_question_of(payload.url),
            status=payload.status,
            sha256=payload.sha256,
            size=len(payload.body),
            headers=dict(payload.headers),
            fetched_at=payload.fetched_at.astimezone(UTC),
            stale=payload.stale,
            versions=versions,
            max_nodes=max_nodes,
        )

    @classmethod
    def from_error(cls, error: FetchError, payload: Payload, versions: Mapping[str, str]) -> Record:
        """Make the record of an error answer; the payload holds its bytes."""
        return replace(cls.from_answer(payload, versions), error=serialize_error(error))

    @cached_property
    def _path_parts(self) -> tuple[str, str, str]:
        """The base path, the host and the resource in the path."""
        found = _PATH.fullmatch(self.path)
        if found is None:
            raise _invalid("path")
        return found[1], found[2], found[3]

    @property
    def base_url(self) -> str:
        """The base URL of the service."""
        return self.origin + self._path_parts[0]

    @property
    def host(self) -> str:
        """The project's domain."""
        return self._path_parts[1]

    @property
    def resource(self) -> str:
        """The endpoint: ``scope-options`` or ``agent-analytics``."""
        return self._path_parts[2]

    @property
    def section(self) -> str | None:
        """The section; None for scope options and the combined view."""
        return self.params.get("section")

    @cached_property
    def scope(self) -> Scope | None:
        """The scope; None for scope options."""
        if self.resource == "scope-options":
            return None
        return Scope.from_query(
            urlencode({name: value for name, value in self.params.items() if name != "section"})
        )

    @property
    def url(self) -> str:
        """The whole address of the request."""
        return f"{self.origin}{self.path}" + (f"?{urlencode(self.params)}" if self.params else "")

    @property
    def request_key(self) -> tuple[str, ...]:
        """A key that is equal for equal requests."""
        return request_key(self.base_url, self.host, self.resource, self.params)

    @property
    def name(self) -> str:
        """The request in words, for messages."""
        if self.resource == "scope-options":
            return f"scope options of {self.host}"
        return visible(f"{self.section or 'combined view'} of {self.host}, {self.scope!r}")

    def payload(self, body: bytes) -> Payload:
        """Build the payload of the recorded answer from its bytes."""
        return Payload(
            body,
            url=self.url,
            status=self.status,
            fetched_at=self.fetched_at,
            from_cache=True,
            stale=self.stale,
            section=self.section,
            scope=self.scope,
            host=self.host,
            headers=self.headers,
        )

    def to_error(self, body: bytes) -> FetchError | None:
        """Build the recorded error; None if the answer is usable."""
        if self.error is None:
            return None
        found = deserialize_error(self.error, self.url, body)
        found.section, found.scope = self.section, self.scope
        return found

    def dumps(self) -> bytes:
        """Serialize to one line of canonical JSON, without a line break."""
        moment = self.fetched_at.replace(tzinfo=None).isoformat(timespec="microseconds")
        answer: dict[str, Any] = {
            "fetched_at": f"{moment}Z",
            "headers": dict(self.headers),
            "sha256": self.sha256,
            "size": self.size,
            "stale": self.stale,
            "status": self.status,
        }
        if self.max_nodes != MAX_NODES:
            answer["max_nodes"] = self.max_nodes
        request = {"method": "GET", "origin": self.origin, "path": self.path}
        body = {
            "answer": answer,
            "error": self.error,
            "previous": self.previous,
            # A list of pairs: the order of the parameters is that of the address.
            "request": {**request, "params": [[*pair] for pair in self.params.items()]},
            "versions": dict(self.versions or {}),
        }
        return canonical(body)

    @classmethod
    def loads(cls, line: bytes) -> Record:
        """Parse a line of the manifest.

        Raises
        ------
        StudyError
            If it is not a line that `dumps` could have written.
        """
        try:
            body = decode.decode(line)
            record = cls._read(body)
            is_valid = record.dumps() == line
        except (AAToolkitError, KeyError, TypeError, ValueError, AttributeError):
            is_valid = False
        if not is_valid:
            raise StudyError("a line of the manifest is not valid")
        return record

    @classmethod
    def _read(cls, body: Any) -> Record:
        answer, request = body["answer"], body["request"]
        if not _TIME.fullmatch(answer["fetched_at"]):
            raise _invalid("time")
        record = cls(
            request["origin"],
            request["path"],
            _words(dict(request["params"])),
            status=_number(answer["status"]),
            sha256=answer["sha256"],
            size=_number(answer["size"]),
            headers=_words(answer["headers"]),
            fetched_at=datetime.fromisoformat(answer["fetched_at"]),
            stale=answer["stale"] is True,
            error=None if body["error"] is None else validate_error(body["error"]),
            versions=_words(body["versions"]),
            previous=body["previous"],
            max_nodes=_number(answer.get("max_nodes", MAX_NODES)),
        )
        if not _ORIGIN.fullmatch(record.origin) or canonical_host(record.host) != record.host:
            raise _invalid("origin")
        if not all(SHA256.fullmatch(one) for one in (record.sha256, record.previous or "0" * 64)):
            raise _invalid("digest")
        if record.scope is None and not {*record.params} <= {"refresh"}:
            raise _invalid("question")
        return record


def request_key(
    base_url: str, host: str, resource: str, params: Mapping[str, str]
) -> tuple[str, ...]:
    """A key that is equal for equal requests, whatever the order of their values.

    Examples
    --------
    >>> one = request_key("https://api.example", "a.example", "agent-analytics", {"engine": "b,a"})
    >>> one[-1]
    'engine=a,b'
    """
    question = (
        f"{name}={','.join(sorted(set(value.split(','))))}"
        for name, value in sorted(params.items())
        # A refresh is the same request, which bypasses the service's cache.
        if name != "refresh"
    )
    return base_url, host, resource, *question


def canonical(body: Any) -> bytes:
    """Serialize to canonical JSON: sorted keys, no spaces, UTF-8."""
    text = json.dumps(body, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.encode()


def _question_of(url: str) -> tuple[str, str, dict[str, str]]:
    parts = urlsplit(url)
    params = dict(parse_qsl(parts.query, keep_blank_values=True))
    return f"{parts.scheme}://{parts.netloc}", parts.path, params


def _words(found: Any) -> dict[str, str]:
    if not isinstance(found, dict):
        raise _invalid("mapping")
    if not all(isinstance(word, str) for pair in found.items() for word in pair):
        raise _invalid("text")
    return found


def _number(found: Any) -> int:
    if type(found) is not int or found < 0:
        raise _invalid("number")
    return found


def _invalid(what: str) -> ValueError:
    return ValueError(f"its {what} is not valid")
