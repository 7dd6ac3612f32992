"""Errors of a request: `FetchError` and what descends from it, and faults of this package."""

from __future__ import annotations

from typing import Any

from aatoolkit.errors.base import AAToolkitError


class FetchError(AAToolkitError):
    """No usable answer came back."""

    url: str | None
    """The requested URL; it holds no secret."""
    section: str | None
    """The section; None for scope options and the combined view."""
    scope: Any
    """The filters; None for scope options."""
    status: int | None
    """The HTTP status, where one came."""
    excerpt: str | None
    """The beginning of the body, where one came: controls are escaped, the token is masked."""


class ConnectionFailed(FetchError):
    """There was no response: unknown host name, connection refused or broken."""


class DeadlineExceeded(ConnectionFailed):
    """The call did not end before its deadline."""

    deadline: float | None
    """The limit, in seconds."""


class NotCached(FetchError):
    """The client is offline, or a study is replayed, and has no such answer."""

    nearest: str | None
    """The most similar request that the study has."""


class DecodeError(FetchError):
    """The answer is not one JSON document."""

    problem: str | None
    """In a word: ``html``, ``truncated``, ``not_json``, ``wrong_type``, ``encoding``, ``empty``,
    ``duplicate_key``, ``not_finite``, ``too_deep``, or ``token`` if it repeats the token."""


class TooLarge(DecodeError):
    """The body of an answer is larger than the limit."""

    limit: int | None
    """The limit, in bytes."""


class StatusError(FetchError):
    """The service answered with an error status."""

    code: str | None
    """The service's own code of the error, where it gave one."""
    body: bytes | None
    """The body, with the token masked."""


class NotAuthorized(StatusError):
    """401: the token is missing or not accepted."""


class NotVisible(StatusError):
    """403: the host is not a project visible to the account."""


class NotFound(NotVisible):
    """404 or 410: there is no such thing, or it is not visible to the account."""


class BadRequest(StatusError):
    """400 or 422: the service refused a parameter."""

    parameter: str | None
    """The parameter, where the service named it."""
    suggestions: tuple[str, ...] | None
    """What the service would have accepted, where it said so."""


class RateLimited(StatusError):
    """429: too many requests."""

    retry_after: float | None
    """Seconds to wait, where the service said so."""


class ServerFailed(StatusError):
    """5xx: the service failed; for scope options the documented read failure is 502."""

    retry_after: float | None
    """Seconds to wait, where the service said so."""


class UnexpectedRedirect(StatusError):
    """3xx: a redirect was refused, so that the token is sent nowhere else."""

    target: str | None
    """The host that the redirect pointed to."""


class InternalError(AAToolkitError):
    """A fault of this package, and not of the network or the service; please report it."""

    url: str | None
    """The requested URL; it holds no secret."""
    section: str | None
    """The section, as for `FetchError`, and so are scope, status and excerpt."""
    scope: Any
    """The filters."""
    status: int | None
    """The HTTP status, where one came."""
    excerpt: str | None
    """The beginning of the body, where one came."""
    payload: Any
    """The answer, where a whole one came."""
