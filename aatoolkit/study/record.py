"""One line of a study's manifest: a request, and its response without the body."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from aatoolkit import errors
from aatoolkit._util.hosts import canonical_host
from aatoolkit._util.text import visible
from aatoolkit.errors import AAToolkitError, FetchError, StudyError
from aatoolkit.jsontree import decode
from aatoolkit.jsontree.layout import MAX_NODES
from aatoolkit.payload import Payload, Request, Response
from aatoolkit.scope import Scope
from aatoolkit.study.files import SHA256

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")

_FACTS = {
    "status": int,
    "code": str,
    "excerpt": str,
    "problem": str,
    "parameter": str,
    "retry_after": float,
}
"""The attributes of an error that are stored, beside its suggestions, and their types."""


@dataclass(frozen=True)
class Record:
    """One recorded request, and what is known of its response.

    Attributes
    ----------
    request : Request
        What was asked, with the base URL of the service.
    status : int
        The HTTP status of the response.
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
        The error, if the response is one.
    versions : mapping of str to str
        The versions of the software that recorded it.
    previous : str or None
        The SHA-256 of the line before in the manifest.
    max_nodes : int
        The number of different paths that the client which recorded it reads in a response.

    Examples
    --------
    >>> from aatoolkit.payload import Request
    >>> from aatoolkit.study import Record
    >>> request = Request.for_section("acme.example", "domains", Scope(days=7))
    >>> moment = datetime(2026, 11, 20, tzinfo=UTC)
    >>> record = Record(request.at("https://api.example"), 200, "0" * 64, 2, {}, moment)
    >>> record.host, record.section, record.scope
    ('acme.example', 'domains', Scope(days=7))
    """

    request: Request
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
    def of(
        cls, payload: Payload, versions: Mapping[str, str] | None = None, max_nodes: int = MAX_NODES
    ) -> Record:
        """Make the record of a usable response.

        Raises
        ------
        ValueError
            If its address is none of the API.
        """
        parts = urlsplit(payload.url)
        params = parse_qsl(parts.query, keep_blank_values=True)
        origin = f"{parts.scheme}://{parts.netloc}"
        return cls(
            Request.from_dict({"origin": origin, "path": parts.path, "params": params}),
            payload.status,
            payload.sha256,
            len(payload.body),
            dict(payload.headers),
            payload.fetched_at.astimezone(UTC),
            payload.stale,
            versions=versions,
            max_nodes=max_nodes,
        )

    @classmethod
    def of_error(cls, error: FetchError, payload: Payload, versions: Mapping[str, str]) -> Record:
        """Make the record of an error; the payload holds its bytes."""
        return replace(cls.of(payload, versions), error=serialize_error(error))

    @property
    def base_url(self) -> str:
        """The base URL of the service."""
        return self.request.base_url

    @property
    def host(self) -> str:
        """The project's domain."""
        return self.request.host

    @property
    def section(self) -> str | None:
        """The section; None for scope options and the combined view."""
        return self.request.section

    @property
    def scope(self) -> Scope | None:
        """The scope; None for scope options."""
        return self.request.scope

    @property
    def params(self) -> Mapping[str, str]:
        """The query parameters of the request."""
        return self.request.params

    @property
    def url(self) -> str:
        """The whole address of the request."""
        return self.request.url

    @property
    def is_options(self) -> bool:
        """Whether the scope options were asked for."""
        return self.request.resource == "scope-options"

    @property
    def name(self) -> str:
        """The request in words, for messages."""
        if self.is_options:
            return f"scope options of {self.host}"
        return visible(f"{self.section or 'combined view'} of {self.host}, {self.scope!r}")

    @property
    def identity(self) -> tuple[Any, ...]:
        """What no two records of a study share: address, time, status and hash."""
        return self.url, self.fetched_at, self.status, self.sha256

    def response(self, body: bytes) -> Response:
        """Build the recorded response from its bytes."""
        return Response(self.request, self.status, self.headers, self.fetched_at, body)

    def payload(self, body: bytes) -> Payload:
        """Build the payload of the recorded response from its bytes."""
        return Payload._of(self.response(body), from_cache=True, stale=self.stale)

    def to_error(self, body: bytes) -> FetchError | None:
        """Build the recorded error; None if the response is usable."""
        if self.error is None:
            return None
        error = deserialize_error(self.error, self.url, body)
        error.section, error.scope = self.section, self.scope
        return error

    def dumps(self) -> bytes:
        """Serialize to one line of canonical JSON, without a line break."""
        moment = self.fetched_at.replace(tzinfo=None).isoformat(timespec="microseconds")
        response: dict[str, Any] = {
            "fetched_at": f"{moment}Z",
            "headers": dict(self.headers),
            "sha256": self.sha256,
            "size": self.size,
            "stale": self.stale,
            "status": self.status,
        }
        if self.max_nodes != MAX_NODES:
            response["max_nodes"] = self.max_nodes
        return canonical(
            {
                "response": response,
                "error": self.error,
                "previous": self.previous,
                "request": self.request.to_dict(),
                "versions": dict(self.versions or {}),
            }
        )

    @classmethod
    def loads(cls, line: bytes) -> Record:
        """Parse a line of the manifest.

        Raises
        ------
        StudyError
            If it is not a line that `dumps` could have written.
        """
        try:
            record = cls._read(decode.decode(line))
            is_valid = record.dumps() == line
        except (AAToolkitError, KeyError, TypeError, ValueError, AttributeError):
            is_valid = False
        if not is_valid:
            raise StudyError("a line of the manifest is not valid")
        return record

    @classmethod
    def _read(cls, body: Any) -> Record:
        response, error, previous = body["response"], body["error"], body["previous"]
        request = Request.from_dict(body["request"])
        is_whole = (
            _TIME.fullmatch(response["fetched_at"])
            and canonical_host(request.host) == request.host
            and (request.scope is not None or {*request.params} <= {"refresh"})
            and all(
                SHA256.fullmatch(digest) for digest in (response["sha256"], previous or "0" * 64)
            )
        )
        if not is_whole:
            raise ValueError("its time, request or digest is not valid")
        return cls(
            request,
            _number(response["status"]),
            response["sha256"],
            _number(response["size"]),
            _texts(response["headers"]),
            datetime.fromisoformat(response["fetched_at"]),
            response["stale"] is True,
            None if error is None else validate_error(error),
            _texts(body["versions"]),
            previous,
            _number(response.get("max_nodes", MAX_NODES)),
        )


def canonical(body: Any) -> bytes:
    """Serialize to canonical JSON: sorted keys, no spaces, UTF-8."""
    text = json.dumps(body, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.encode()


def serialize_error(error: FetchError) -> dict[str, Any]:
    """Convert an error's class, message and attributes to JSON values."""
    facts = {name: getattr(error, name, None) for name in (*_FACTS, "suggestions")}
    return {
        "kind": type(error).__name__,
        "message": visible(error.message),
        "facts": {
            name: [*fact] if isinstance(fact, tuple) else fact
            for name, fact in facts.items()
            if fact is not None
        },
    }


def deserialize_error(stored: Mapping[str, Any], url: str, body: bytes) -> FetchError:
    """Rebuild an error that was validated, with the address and the bytes of its response."""
    kind = getattr(errors, stored["kind"])
    facts = {
        name: tuple(fact) if isinstance(fact, list) else fact
        for name, fact in stored["facts"].items()
    }
    if "body" in kind.facts:
        facts["body"] = body
    error: FetchError = kind(stored["message"], url=url, **facts)
    return error


def validate_error(stored: Any) -> dict[str, Any]:
    """Return a stored error if `serialize_error` could have written it; raise otherwise.

    Raises
    ------
    ValueError, KeyError, TypeError
        If it is not: a manifest may be forged.
    """
    kind, facts = getattr(errors, stored["kind"], None), stored["facts"]
    if not (isinstance(kind, type) and issubclass(kind, FetchError)):
        raise ValueError("its error is of no known class")
    texts = [stored["message"], *facts.get("suggestions", ())]
    for name, fact in facts.items():
        if name not in kind.facts:
            raise ValueError("its error has an unknown attribute")
        if type(fact) is not (list if name == "suggestions" else _FACTS[name]):
            raise ValueError("an attribute of its error has the wrong type")
        texts += [fact] if isinstance(fact, str) else []
    if set(stored) != {"kind", "message", "facts"} or not all(
        isinstance(text, str) and visible(text) == text for text in texts
    ):
        raise ValueError("its error has other fields, or holds text that controls a terminal")
    return dict(stored)


def _texts(mapping: Any) -> dict[str, str]:
    if not all(isinstance(text, str) for pair in mapping.items() for text in pair):
        raise ValueError("it is not a mapping of texts")
    return dict(mapping)


def _number(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError("it is not a number of bytes, paths or an HTTP status")
    return value
