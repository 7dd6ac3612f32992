"""Everything that can go wrong, as one tree.

::

    AAToolkitError
    ├─ ConfigurationError (ValueError)   a base URL, token or setting that cannot be used
    ├─ ScopeError (ValueError)           a filter or value that the project does not know
    ├─ FetchError                        no usable answer came back
    │  ├─ ConnectionFailed               nothing answered: DNS, refusal, a broken connection
    │  │  └─ DeadlineExceeded            the call took longer than it was allowed to
    │  ├─ NotCached                      offline, and the answer was never kept
    │  ├─ DecodeError                    an answer came back that is not one JSON document
    │  │  └─ TooLarge                    its body is larger than the limit
    │  └─ StatusError                    the service answered with an error status
    │     ├─ NotAuthorized               401: the token is missing or not accepted
    │     ├─ NotVisible                  403: the host is not visible to the account
    │     │  └─ NotFound                 404, 410: there is nothing there, or nothing to be seen
    │     ├─ BadRequest                  400, 422: the service refused a parameter
    │     ├─ RateLimited                 429: too many requests
    │     ├─ ServerFailed                5xx: the service failed, 502 on scope options included
    │     └─ UnexpectedRedirect          3xx: redirects are refused, the token stays here
    ├─ PayloadError (ValueError)         an answer is not shaped as its declaration says
    │  └─ TooManyPaths                   it has values at more different paths than are allowed
    ├─ AvailabilityError (LookupError)   a column that was asked for could not be measured
    ├─ MetadataError (ValueError)        the metadata of a frame or file cannot be read
    ├─ StudyError (ValueError)           a study is damaged, or cannot be used in this way
    │  └─ TokenRepeated                  an answer repeats the token, and is not kept
    ├─ InternalError                     a fault of this package; the answer is in ``payload``
    ├─ ExportError (ValueError)          a frame cannot be written as it is
    └─ NotWritten (OSError)              a file or folder was not written, and nothing is changed

    AAToolkitWarning (UserWarning)
    ├─ DraftWarning                      answers are read by drafts made of themselves
    ├─ SchemaDriftWarning                an answer holds what no declaration claims
    ├─ UnknownAvailabilityWarning        a word of availability that is not known
    ├─ DetectionWarning                  availability could not be read: a fault of this package
    ├─ RedactionWarning                  what is left out of a publication stands elsewhere in it
    ├─ StaleDataWarning                  an expired answer was used, as the service failed
    ├─ ScopeWarning                      a value that is chosen is no longer offered
    └─ CacheWarning                      the cache cannot be used; answers come from the network

Every error carries its facts as attributes, says what to do, pickles, and never holds a token.
"""

from __future__ import annotations

import inspect
from typing import Any, ClassVar


class AAToolkitError(Exception):
    """The root of every error this package raises.

    Parameters
    ----------
    message
        What went wrong and what to do about it.
    **facts
        The facts of the case; each becomes an attribute.

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
        return _rebuild, (
            type(self),
            self.message,
            {name: getattr(self, name) for name in self.facts},
        )


def _rebuild(kind: type[AAToolkitError], message: str, facts: dict[str, Any]) -> AAToolkitError:
    return kind(message, **facts)


class ConfigurationError(AAToolkitError, ValueError):
    """A base URL, token or setting cannot be used.

    Attributes
    ----------
    setting : str
        The name of the setting.
    """

    setting: str | None


class ScopeError(AAToolkitError, ValueError):
    """A filter or value that cannot be asked for.

    Attributes
    ----------
    parameter : str
        The filter concerned, such as ``engine``.
    unknown : tuple of str
        The values that are not known.
    suggestions : tuple of str
        Known values that look alike.
    """

    parameter: str | None
    unknown: tuple[str, ...] | None
    suggestions: tuple[str, ...] | None


class FetchError(AAToolkitError):
    """No usable answer came back.

    Attributes
    ----------
    url : str
        What was asked for; it holds no secret.
    section : str or None
        The section asked for; None for scope options and the combined view.
    scope : aatoolkit.Scope or None
        The scope asked for.
    status : int or None
        The HTTP status, where one came.
    excerpt : str or None
        The beginning of the body, where one came: what does not print is escaped, and the
        token masked.
    """

    url: str | None
    section: str | None
    scope: Any
    status: int | None
    excerpt: str | None


class ConnectionFailed(FetchError):
    """Nothing answered: the name is not known, the connection was refused or broke off."""


class DeadlineExceeded(ConnectionFailed):
    """The call took longer than it was allowed to.

    Attributes
    ----------
    deadline : float
        The limit, in seconds.
    """

    deadline: float | None


class NotCached(FetchError):
    """The client is offline, or a study is replayed, and this answer was never kept.

    Attributes
    ----------
    nearest : str or None
        The request a study does hold that comes nearest.
    """

    nearest: str | None


class DecodeError(FetchError):
    """An answer came back that is not one JSON document.

    Attributes
    ----------
    problem : str
        What is wrong with it, in a word: ``html``, ``truncated``, ``not_json``, ``wrong_type``,
        ``encoding``, ``duplicate_key``, ``not_finite``, ``too_deep``, ``empty``, or ``token``
        if it repeats the token.
    """

    problem: str | None


class TooLarge(DecodeError):
    """The body of an answer is larger than the limit.

    Attributes
    ----------
    limit : int
        The limit, in bytes.
    """

    limit: int | None


class StatusError(FetchError):
    """The service answered with an error status.

    Attributes
    ----------
    code : str or None
        The service's own word for it, where it gave one.
    body : bytes
        The whole body, with the token masked should it be there.
    """

    code: str | None
    body: bytes | None


class NotAuthorized(StatusError):
    """401: the token is missing or not accepted."""


class NotVisible(StatusError):
    """403: the host is not a project visible to the account."""


class NotFound(NotVisible):
    """404 or 410: there is no such thing, or none that the account may see."""


class BadRequest(StatusError):
    """400 or 422: the service refused a parameter.

    Attributes
    ----------
    parameter : str or None
        The parameter, where the service named it.
    suggestions : tuple of str
        What the service would have accepted, where it said so.
    """

    parameter: str | None
    suggestions: tuple[str, ...] | None


class RateLimited(StatusError):
    """429: too many requests.

    Attributes
    ----------
    retry_after : float or None
        Seconds to wait, where the service said so.
    """

    retry_after: float | None


class ServerFailed(StatusError):
    """5xx: the service failed; for scope options the documented read failure is 502.

    Attributes
    ----------
    retry_after : float or None
        Seconds to wait, where the service said so.
    """

    retry_after: float | None


class UnexpectedRedirect(StatusError):
    """3xx: a redirect was refused, so that the token goes nowhere else.

    Attributes
    ----------
    target : str
        The host that the redirect pointed to.
    """

    target: str | None


class PayloadError(AAToolkitError, ValueError):
    """An answer is not shaped as its declaration says, or is not JSON.

    Attributes
    ----------
    section : str
        The section it was read as.
    problems : list of str
        Every problem, each ending in the JSON path it was found at.
    """

    section: str | None
    problems: list[str] | None


class TooManyPaths(PayloadError):
    """An answer has values at more different JSON paths than are allowed.

    Attributes
    ----------
    limit : int
        How many different paths are allowed.
    """

    limit: int | None


class AvailabilityError(AAToolkitError, LookupError):
    """A column that was asked for could not be measured.

    Attributes
    ----------
    columns : dict of str to str
        The columns, each with the reason.
    """

    columns: dict[str, str] | None


class MetadataError(AAToolkitError, ValueError):
    """The metadata of a frame or file is damaged, or newer than this version can read.

    Attributes
    ----------
    version : str or None
        The version found.
    """

    version: str | None


class StudyError(AAToolkitError, ValueError):
    """A study is damaged or hostile, or cannot be used in this way.

    Attributes
    ----------
    path : str
        The study.
    problems : tuple of str
        What is wrong with it, each with the file concerned.
    """

    path: str | None
    problems: tuple[str, ...] | None


class TokenRepeated(StudyError):
    """An answer repeats the token that it was asked with, and is not kept."""


class InternalError(AAToolkitError):
    """A fault of this package, and not of the network or the service; please report it.

    Attributes
    ----------
    url, section, scope, status, excerpt : as for `FetchError`
        What is known of the response.
    payload : Payload or None
        The answer, where a whole one came.
    """

    url: str | None
    section: str | None
    scope: Any
    status: int | None
    excerpt: str | None
    payload: Any


class ExportError(AAToolkitError, ValueError):
    """A frame cannot be written as it is.

    Attributes
    ----------
    path : str
        The file that was to be written.
    """

    path: str | None


class NotWritten(AAToolkitError, OSError):
    """A file or folder was not written: a full disk, a missing permission.

    Attributes
    ----------
    path : str
        The file or folder.
    errno : int or None
        The system's number for the reason, as in `OSError`.
    in_place : bool or None
        True if the new version is in place, and only may not survive a loss of power.
    """

    path: str | None
    errno: int | None
    in_place: bool | None


class AAToolkitWarning(UserWarning):
    """The root of every warning this package gives."""


class DraftWarning(AAToolkitWarning):
    """No declaration fits the answers: they are read by drafts made of the answers themselves."""


class SchemaDriftWarning(AAToolkitWarning):
    """An answer holds what no declaration claims, or lacks what one declares."""


class UnknownAvailabilityWarning(AAToolkitWarning):
    """An answer says of its availability what is not understood; it is read as unknown.

    The words are in ``tables.availability``, verbatim. Where they are known to you, a
    declaration says what they mean: ``Section(..., availability=Rule(words={...}))``.
    """


class DetectionWarning(AAToolkitWarning):
    """Availability could not be read in full: a fault of this package; the answer is as it was."""


class RedactionWarning(AAToolkitWarning):
    """What is left out of one column of a publication stands in another."""


class StaleDataWarning(AAToolkitWarning):
    """An expired answer was used, as the service failed."""


class ScopeWarning(AAToolkitWarning):
    """A value that is chosen in a picker is no longer offered; it stays chosen."""


class CacheWarning(AAToolkitWarning):
    """The cache cannot be used; answers come from the network."""


def __dir__() -> list[str]:
    kinds = (AAToolkitError, AAToolkitWarning)
    return [
        name
        for name, found in globals().items()
        if isinstance(found, type) and issubclass(found, kinds)
    ]
