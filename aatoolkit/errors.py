"""Every error and warning of the package, as one tree.

::

    AAToolkitError
    ├─ ArgumentError (ValueError)        an argument or setting has a value that cannot be used
    ├─ PackageMissing (ImportError)      an optional package is not installed
    ├─ ScopeError (ValueError)           a filter or value that cannot be requested
    ├─ FetchError                        no usable response came back
    │  ├─ ConnectionFailed               no response: DNS, refusal, a broken connection
    │  │  └─ DeadlineExceeded            the call did not end before its deadline
    │  ├─ NotCached                      offline, and the response was never cached
    │  ├─ DecodeError                    the response is not one JSON document
    │  └─ StatusError                    the service responded with an error status
    │     ├─ NotAuthorized               401: the token is missing or not accepted
    │     ├─ NotVisible                  403, 404, 410: no such host, or it is not visible
    │     ├─ BadRequest                  400, 422: the service refused a parameter
    │     ├─ RateLimited                 429: too many requests
    │     └─ ServerFailed                5xx: the service failed, 502 on scope options included
    ├─ PayloadError (ValueError)         a response does not match its declaration
    ├─ ItemNotFound (KeyError)           there is no such table, column, section, host or row
    ├─ AvailabilityError (LookupError)   a column that was asked for could not be measured
    ├─ MetadataError (ValueError)        the metadata of a frame or file cannot be read
    ├─ StudyError (ValueError)           a study is damaged, or cannot be used in this way
    ├─ ArchiveError (ValueError)         an archive is damaged, or cannot be used in this way
    │  └─ ArchiveConflict                another process changed it at the same time
    ├─ InternalError                     a fault of this package; the response is in ``payload``
    ├─ NotRead (OSError)                 a file cannot be read, or is of another format
    │  └─ FileMissing (FileNotFoundError)  there is no such file
    └─ NotWritten (OSError)              a file or folder was not written, and nothing is changed

    AAToolkitWarning (UserWarning)
    ├─ SchemaDriftWarning                a response is not as declared, or is read by a draft
    └─ StaleDataWarning                  an expired response was used, as the service failed

The message of every error says what to do. Its details, such as the URL, are attributes of the
error. Errors can be pickled, and never hold a token.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn


class AAToolkitError(Exception):
    """Base class of all errors of this package.

    Parameters
    ----------
    message
        What went wrong and what to do about it.
    **details
        The values of the error's attributes, such as ``url``; those that are left out are None.

    Examples
    --------
    >>> from aatoolkit.errors import ScopeError
    >>> error = ScopeError("unknown engine 'chatgbt'", parameter="engine", unknown=("chatgbt",))
    >>> error.parameter, error.unknown
    ('engine', ('chatgbt',))
    """

    facts: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        cls.facts = (*cls.facts, *cls.__annotations__)

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        unknown_names = set(details) - set(self.facts)
        if unknown_names:
            raise TypeError(f"{type(self).__name__} has no fact {', '.join(sorted(unknown_names))}")
        for fact_name in self.facts:
            fact_value = details.get(fact_name)
            setattr(
                self,
                fact_name,
                str(fact_value) if isinstance(fact_value, os.PathLike) else fact_value,
            )

    def __reduce__(self) -> tuple[Any, ...]:
        details = {name: getattr(self, name) for name in self.facts}
        return partial(type(self), self.message, **details), ()


class ArgumentError(AAToolkitError, ValueError):
    """Raised if an argument or setting has an invalid value; the message says which are valid."""

    argument: str | None
    """The name of the argument or setting."""


class PackageMissing(AAToolkitError, ImportError):
    """Raised if an optional package is not installed; the message has the command to install it."""

    package: str | None
    """The package that could not be imported."""
    extra: str | None
    """The extra to install: ``pip install "aatoolkit[extra]"``."""


class ItemNotFound(AAToolkitError, KeyError):
    """Raised if a table, column, section, host or row does not exist; suggests similar names.

    The similar names are in the message and in the attribute ``suggestions``.
    """

    key: object
    """The key or name that was asked for."""
    suggestions: tuple[str, ...] | None
    """Similar keys that exist."""
    columns: dict[str, str] | None
    """Names that are not columns of the DataFrame, each with the reason."""

    def __str__(self) -> str:
        return str(self.message)


class ScopeError(AAToolkitError, ValueError):
    """Raised if a filter or section does not exist, or a filter cannot have the given value."""

    parameter: str | None
    """The name of the filter, such as ``engine``."""
    unknown: tuple[str, ...] | None
    """The values that do not exist."""
    suggestions: tuple[str, ...] | None
    """Similar values that exist."""


class PayloadError(AAToolkitError, ValueError):
    """Raised if a response is not JSON, or lacks the fields that its tables are made of."""

    section: str | None
    """The section that was read."""
    problems: list[str] | None
    """All problems, with their JSON paths."""
    limit: int | None
    """The maximum number of different JSON paths in a response, if this one has more."""

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message, **{"problems": [message], **details})


class AvailabilityError(AAToolkitError, LookupError):
    """Raised if a requested column or operation needs values that could not be measured."""

    columns: dict[str, str] | None
    """The columns that could not be measured, each with the reason."""


class MetadataError(AAToolkitError, ValueError):
    """Raised if the metadata of a DataFrame or file is damaged, or in a newer format."""

    version: str | None
    """The version of the metadata."""


class StudyError(AAToolkitError, ValueError):
    """Raised if a study (a folder of recorded responses) is damaged or does not allow an action."""

    path: str | None
    """The path of the study."""
    problems: tuple[str, ...] | None
    """The problems of the study, with the names of files."""


class ArchiveError(AAToolkitError, ValueError):
    """Raised if an archive (responses over time) is damaged or does not allow an action."""

    path: str | None
    """The path of the archive."""
    problems: tuple[str, ...] | None
    """The problems of the archive."""


class ArchiveConflict(ArchiveError):
    """Raised if another process changed the same part of an archive at the same time; try again."""


class NotRead(AAToolkitError, OSError):
    """Raised if a file cannot be read, or does not have the expected format."""

    path: str | None
    """The path of the file."""


class FileMissing(NotRead, FileNotFoundError):
    """Raised if a file does not exist."""


class NotWritten(AAToolkitError, OSError):
    """Raised if a file or folder could not be written."""

    path: str | None
    """The path of the file or folder."""
    errno: int | None
    """The operating system's error number, as in `OSError`."""


class FetchError(AAToolkitError):
    """Raised if a request got no usable response."""

    url: str | None
    """The requested URL, which holds no secret."""
    section: str | None
    """The section; None if all sections, or the values that filters may have, were requested."""
    scope: Any
    """The days and filters; None if the values that filters may have were requested."""
    status: int | None
    """The HTTP status; None if no response arrived."""
    excerpt: str | None
    """The beginning of the body; the token is masked."""


class ConnectionFailed(FetchError):
    """Raised if no response came: unknown host name, connection refused or broken."""


class DeadlineExceeded(ConnectionFailed):
    """Raised if a request, together with its retries, did not end before its deadline."""

    deadline: float | None
    """The time limit of the call, in seconds."""


class NotCached(FetchError):
    """Raised if the client is offline, and the response is not in its cache or study."""

    nearest: str | None
    """The most similar request in the study, or of this host in the cache."""


class DecodeError(FetchError):
    """Raised if a response is not one JSON document."""

    problem: str | None
    """The kind of problem: ``html``, ``truncated``, ``not_json``, ``wrong_type``, ``encoding``,
    ``empty``, ``duplicate_key``, ``not_finite``, ``too_deep``, ``too_large``, or ``token`` if the
    response repeats the token."""
    limit: int | None
    """The size limit in bytes that the body exceeds."""


class StatusError(FetchError):
    """Raised if the service responded with an error status."""

    code: str | None
    """The service's own code for the error, if it has one."""
    body: bytes | None
    """The body of the response, with the token masked."""
    target: str | None
    """The host that the service redirects to; it is not asked, as it would get the token."""


class NotAuthorized(StatusError):
    """Raised for HTTP status 401: the token is missing or not accepted."""


class NotVisible(StatusError):
    """Raised for 403, 404 and 410: the project does not exist, or the account may not see it."""


class BadRequest(StatusError):
    """Raised for HTTP status 400 and 422: the service refused a parameter."""

    parameter: str | None
    """The refused parameter, if the service named it."""
    suggestions: tuple[str, ...] | None
    """The values that the service accepts, if it listed them."""


class RateLimited(StatusError):
    """Raised for HTTP status 429: the account sent too many requests."""

    retry_after: float | None
    """Seconds to wait, if the service said so."""


class ServerFailed(StatusError):
    """Raised for HTTP status 5xx: the service failed.

    Status 502 is common when the values that filters may have are requested.
    """

    retry_after: float | None
    """Seconds to wait, if the service said so."""


class InternalError(AAToolkitError):
    """Raised because of a bug in this package; please report it."""

    url: str | None
    """The requested URL; it holds no secret."""
    section: str | None
    """The section, as for `FetchError`."""
    scope: Any
    """The filters, as for `FetchError`."""
    status: int | None
    """The HTTP status; None if no response arrived."""
    excerpt: str | None
    """The beginning of the body, as for `FetchError`."""
    payload: Any
    """The response, if it arrived completely."""


class AAToolkitWarning(UserWarning):
    """Base class of all warnings of this package."""


class SchemaDriftWarning(AAToolkitWarning):
    """Issued if a response has fields that are not declared, or its tables had to be inferred."""


class StaleDataWarning(AAToolkitWarning):
    """Issued if an expired response was used because the service failed."""


def warn(
    message: str, category: type[Warning] = AAToolkitWarning, registry: dict[Any, Any] | None = None
) -> None:
    """Issue a warning that points to the user's line of code, not to a line of this package.

    ``registry`` is the dict in which Python stores the warnings that were already shown, such as
    the ``__warningregistry__`` of a module. By default, the one of the user's module is used, so
    that a warning is shown once for each line of code.
    """
    stack_frame = sys._getframe()
    package_names = ("aatoolkit", "contextlib")  # whose decorators are between
    while (
        stack_frame.f_back
        and stack_frame.f_globals.get("__name__", "").partition(".")[0] in package_names
    ):
        stack_frame = stack_frame.f_back
    # Python shows a warning once for each line, so that later lines stand for the first.
    line_number = next(
        (registry_key[2] for registry_key in registry or () if message in registry_key),
        stack_frame.f_lineno,
    )
    if registry is None:
        registry = stack_frame.f_globals.setdefault("__warningregistry__", {})
    file_path = stack_frame.f_code.co_filename
    module_name = stack_frame.f_globals.get("__name__", "")
    warnings.warn_explicit(message, category, file_path, line_number, module_name, registry)


def find_near_matches(name: object, known_names: Iterable[str]) -> tuple[str, ...]:
    """Return those of the known names that are similar to ``name``, the most similar first.

    Examples
    --------
    >>> find_near_matches("Chatgbt", ["chatgpt", "gemini"])
    ('chatgpt',)
    """
    import difflib  # only errors need it

    name_by_folded_name: dict[str, str] = {}
    for known_name in known_names:
        name_by_folded_name.setdefault(str(known_name).casefold(), known_name)
    folded_matches = difflib.get_close_matches(
        str(name).casefold()[:_MAX_NAME_LENGTH], name_by_folded_name
    )
    return tuple(name_by_folded_name[folded_match] for folded_match in folded_matches)


_MAX_NAME_LENGTH = 200
"""The longest name to search for similar names; longer texts would be slow."""


def suggest_names(suggestions: Sequence[str], fallback: str = "") -> str:
    """Return "did you mean …?" for an error message, or ``fallback`` if there are no suggestions.

    Examples
    --------
    >>> suggest_names(["chatgpt", "claude"])
    "did you mean 'chatgpt' or 'claude'?"
    >>> suggest_names([], "there are gemini, claude")
    'there are gemini, claude'
    """
    return f"did you mean {' or '.join(map(repr, suggestions))}?" if suggestions else fallback


def unknown(kind: str, name: object, names: Iterable[str]) -> str:
    """Return an error message about an unknown name; it lists similar names, or else all names.

    ``kind`` is what the message calls the named thing, such as ``section``.

    Examples
    --------
    >>> unknown("section", "domain", ["domains", "urls"])
    "there is no section 'domain'; did you mean 'domains'?"
    >>> unknown("theme", "pink", ["dark", "light"])
    "there is no theme 'pink'; there are dark, light"
    """
    names = [*map(str, names)]
    fallback = f"there are {', '.join(names)}" if names else "there are none"
    return f"there is no {kind} {name!r}; {suggest_names(find_near_matches(name, names), fallback)}"


def item_not_found(kind: str, name: object, names: Collection[str], hint: str = "") -> ItemNotFound:
    """Return the error about an unknown name; it has similar names in its ``suggestions``, too.

    ``kind`` and ``names`` are as for `unknown`. ``hint`` is the end of the message.
    """
    message = unknown(kind, name, names) + hint
    return ItemNotFound(message, key=name, suggestions=find_near_matches(name, names))


def make_attribute_error(
    owner: str, name: str, names: Sequence[str], hint: str = ""
) -> AttributeError:
    """Return the `AttributeError` for an attribute that does not exist; it lists similar names.

    ``owner`` describes the object, ``name`` is the missing attribute, and ``names`` are the
    existing ones. ``hint`` replaces the similar names in the message.

    Examples
    --------
    >>> print(make_attribute_error("module 'aatoolkit'", "demoo", ["demo", "read_parquet"]))
    module 'aatoolkit' has no attribute 'demoo'; did you mean 'demo'?
    """
    message = f"{owner} has no attribute {name!r}"
    if name.startswith("_"):  # asked for by Python and its tools
        return AttributeError(message)
    hint = hint or suggest_names(find_near_matches(name, names), f"there are {', '.join(names)}")
    return AttributeError(
        f"{message}; {hint}", name=name
    )  # so Python adds no suggestion of its own


__all__: list[str] = []  # ``help`` would print every class in full after the tree of them


def make_module_lookup(
    module: str, public_names: Sequence[str]
) -> tuple[Callable[[], Sequence[str]], Callable[[str], NoReturn]]:
    """Return the ``__dir__`` and ``__getattr__`` of a module with these public names."""

    def raise_unknown_attribute(name: str) -> NoReturn:
        raise make_attribute_error(f"module {module!r}", name, public_names)

    return lambda: public_names, raise_unknown_attribute


if not TYPE_CHECKING:  # type checkers go by what is declared
    __dir__, __getattr__ = make_module_lookup(
        __name__,
        [
            name
            for name, value in globals().items()
            if isinstance(value, type) and issubclass(value, AAToolkitError | AAToolkitWarning)
        ],
    )
