"""Every error and warning of the package, as one tree.

::

    AAToolkitError
    ├─ ConfigurationError (ValueError)   a base URL, token or setting that cannot be used
    ├─ ScopeError (ValueError)           a filter or value that cannot be requested
    ├─ FetchError                        no usable answer came back
    │  ├─ ConnectionFailed               no response: DNS, refusal, a broken connection
    │  │  └─ DeadlineExceeded            the call did not end before its deadline
    │  ├─ NotCached                      offline, and the answer was never cached
    │  ├─ DecodeError                    the answer is not one JSON document
    │  │  └─ TooLarge                    its body is larger than the limit
    │  └─ StatusError                    the service answered with an error status
    │     ├─ NotAuthorized               401: the token is missing or not accepted
    │     ├─ NotVisible                  403: the host is not visible to the account
    │     │  └─ NotFound                 404, 410: there is no such thing, or it is not visible
    │     ├─ BadRequest                  400, 422: the service refused a parameter
    │     ├─ RateLimited                 429: too many requests
    │     ├─ ServerFailed                5xx: the service failed, 502 on scope options included
    │     └─ UnexpectedRedirect          3xx: redirects are refused, to protect the token
    ├─ PayloadError (ValueError)         an answer does not match its declaration
    │  └─ TooManyPaths                   it has values at more different paths than are allowed
    ├─ ColumnNotFound (KeyError)         a frame has no column of this name, or several
    ├─ AvailabilityError (LookupError)   a column that was asked for could not be measured
    ├─ MetadataError (ValueError)        the metadata of a frame or file cannot be read
    ├─ StudyError (ValueError)           a study is damaged, or cannot be used in this way
    │  └─ TokenRepeated                  an answer repeats the token, and is not stored
    ├─ ArchiveError (ValueError)         an archive is damaged, or cannot be used in this way
    │  └─ ArchiveConflict                another process changed it at the same time
    ├─ InternalError                     a fault of this package; the answer is in ``payload``
    ├─ ExportError (ValueError)          a frame cannot be written as it is
    └─ NotWritten (OSError)              a file or folder was not written, and nothing is changed

    AAToolkitWarning (UserWarning)
    ├─ DraftWarning                      answers are read by drafts made of themselves
    ├─ SchemaDriftWarning                an answer has fields that no declaration lists
    ├─ UnknownAvailabilityWarning        an unknown word about availability
    ├─ DetectionWarning                  availability could not be read: a fault of this package
    ├─ RedactionWarning                  what is left out of a publication is elsewhere in it
    ├─ StaleDataWarning                  an expired answer was used, as the service failed
    ├─ ScopeWarning                      a chosen value is no longer offered
    └─ CacheWarning                      the cache cannot be used; answers come from the network

Every error has its facts as attributes, says what to do, pickles, and never holds a token.
"""

from __future__ import annotations

import inspect
from typing import Any, ClassVar


class AAToolkitError(Exception):
    """Base class of all errors of this package.

    Parameters
    ----------
    message
        What went wrong and what to do about it.
    **facts
        Further facts; each becomes an attribute.

    Examples
    --------
    >>> error = ScopeError("unknown engine 'chatgbt'", parameter="engine", unknown=("chatgbt",))
    >>> error.parameter, error.unknown
    ('engine', ('chatgbt',))
    """

    facts: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        cls.facts = (*cls.facts, *inspect.get_annotations(cls))

    def __init__(self, message: str, **facts: Any) -> None:
        super().__init__(message)
        self.message = message
        unknown = set(facts) - set(self.facts)
        if unknown:
            raise TypeError(f"{type(self).__name__} has no fact {', '.join(sorted(unknown))}")
        for name in self.facts:
            setattr(self, name, facts.get(name))

    def __reduce__(self) -> tuple[Any, ...]:
        facts = {name: getattr(self, name) for name in self.facts}
        return _rebuild, (type(self), self.message, facts)


def _rebuild(kind: type[AAToolkitError], message: str, facts: dict[str, Any]) -> AAToolkitError:
    return kind(message, **facts)


class ConfigurationError(AAToolkitError, ValueError):
    """A base URL, token or setting cannot be used."""

    setting: str | None
    """The name of the setting."""


class ScopeError(AAToolkitError, ValueError):
    """A filter or value cannot be requested."""

    parameter: str | None
    """The filter concerned, such as ``engine``."""
    unknown: tuple[str, ...] | None
    """The values that are not known."""
    suggestions: tuple[str, ...] | None
    """Known values that look alike."""


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


class PayloadError(AAToolkitError, ValueError):
    """An answer does not match its declaration, or is not JSON."""

    section: str | None
    """The section it was read as."""
    problems: list[str] | None
    """Every problem, each ending in the JSON path it was found at."""


class TooManyPaths(PayloadError):
    """An answer has values at more different JSON paths than are allowed."""

    limit: int | None
    """How many different paths are allowed."""


class ColumnNotFound(AAToolkitError, KeyError):
    """A frame has no column of this name, or several; the message holds near matches."""

    columns: dict[str, str] | None
    """The names that are no columns, each with the reason."""

    def __str__(self) -> str:
        return str(self.message)


class AvailabilityError(AAToolkitError, LookupError):
    """A required column could not be measured."""

    columns: dict[str, str] | None
    """The columns, each with the reason."""


class MetadataError(AAToolkitError, ValueError):
    """The metadata of a frame or file is damaged, or newer than this version can read."""

    version: str | None
    """The version found."""


class StudyError(AAToolkitError, ValueError):
    """A study is damaged or hostile, or cannot be used in this way."""

    path: str | None
    """The study."""
    problems: tuple[str, ...] | None
    """What is wrong with it, each with the file concerned."""


class TokenRepeated(StudyError):
    """An answer repeats the token of its request, and is not stored."""


class ArchiveError(AAToolkitError, ValueError):
    """An archive is damaged, or cannot be used in this way."""

    path: str | None
    """The archive."""
    problems: tuple[str, ...] | None
    """What is wrong with it."""


class ArchiveConflict(ArchiveError):
    """Another process changed the same part of an archive at the same time; try again."""


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


class ExportError(AAToolkitError, ValueError):
    """A frame cannot be written as it is."""

    path: str | None
    """The file that was to be written."""


class NotWritten(AAToolkitError, OSError):
    """A file or folder was not written: a full disk, a missing permission."""

    path: str | None
    """The file or folder."""
    errno: int | None
    """The system's number for the reason, as in `OSError`."""
    in_place: bool | None
    """True if the new version is in place, and only may not survive a loss of power."""


class AAToolkitWarning(UserWarning):
    """Base class of all warnings of this package."""


class DraftWarning(AAToolkitWarning):
    """No declaration fits the answers: they are read by drafts made of the answers themselves."""


class SchemaDriftWarning(AAToolkitWarning):
    """An answer has fields that its declaration does not list, or lacks declared ones."""


class UnknownAvailabilityWarning(AAToolkitWarning):
    """Words about availability are read as unknown; a `Rule` of the declaration explains them."""


class DetectionWarning(AAToolkitWarning):
    """Availability could not be read in full: a fault of this package; the answer is as it was."""


class RedactionWarning(AAToolkitWarning):
    """What is left out of one column of a publication is in another column."""


class StaleDataWarning(AAToolkitWarning):
    """An expired answer was used, as the service failed."""


class ScopeWarning(AAToolkitWarning):
    """A value that is chosen in a picker is no longer offered; it stays chosen."""


class CacheWarning(AAToolkitWarning):
    """The cache cannot be used; answers come from the network."""


def __dir__() -> list[str]:
    known = {name: kind for name, kind in globals().items() if isinstance(kind, type)}
    return [n for n, kind in known.items() if issubclass(kind, AAToolkitError | AAToolkitWarning)]
