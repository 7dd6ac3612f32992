"""Every error and warning of the package, as one tree.

::

    AAToolkitError
    ├─ ConfigurationError (ValueError)   a base URL, token or setting that cannot be used
    ├─ ArgumentError (ValueError)        an argument has a value that cannot be used
    │  └─ ArgumentTypeError (TypeError)  an argument is of a kind that cannot be used
    ├─ PackageMissing (ImportError)      an optional package is not installed
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
    ├─ ItemNotFound (KeyError)           there is no such table, section or host
    ├─ AttributeNotFound (AttributeError)  an object has no such attribute or method
    ├─ ColumnNotFound (KeyError)         a frame has no column of this name, or several
    ├─ RowNotFound (KeyError)            a frame has no such row, or several
    ├─ AvailabilityError (LookupError)   a column that was asked for could not be measured
    ├─ MetadataError (ValueError)        the metadata of a frame or file cannot be read
    ├─ StudyError (ValueError)           a study is damaged, or cannot be used in this way
    │  └─ TokenRepeated                  an answer repeats the token, and is not stored
    ├─ ArchiveError (ValueError)         an archive is damaged, or cannot be used in this way
    │  └─ ArchiveConflict                another process changed it at the same time
    ├─ InternalError                     a fault of this package; the answer is in ``payload``
    ├─ ExportError (ValueError)          a frame cannot be written as it is
    ├─ NotRead (OSError)                 a file cannot be read, or is of another format
    │  └─ FileMissing (FileNotFoundError)  there is no such file
    └─ NotWritten (OSError)              a file or folder was not written, and nothing is changed

    AAToolkitWarning (UserWarning)
    ├─ DraftWarning                      answers are read by drafts made of themselves
    ├─ SchemaDriftWarning                an answer has fields that no declaration lists
    ├─ UnknownAvailabilityWarning        an unknown word about availability
    ├─ DetectionWarning                  availability could not be read: a fault of this package
    ├─ RedactionWarning                  what is left out of a publication is elsewhere in it
    ├─ StaleDataWarning                  an expired answer was used, as the service failed
    ├─ MergeWarning                      values of the keys of a merge do not meet
    ├─ FontWarning                       letters of a picture that no installed font has
    ├─ ScopeWarning                      a chosen value is no longer offered, or not checked
    └─ CacheWarning                      the cache cannot be used; answers come from the network

Every error has its facts as attributes, says what to do, pickles, and never holds a token.

In reading order: ``base`` holds `AAToolkitError`, ``fetching`` the errors of a request and of this
package itself, ``data`` those of arguments, answers, frames and files, ``warnings`` the warnings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from aatoolkit.errors.base import AAToolkitError as AAToolkitError
from aatoolkit.errors.data import (
    ArchiveConflict as ArchiveConflict,
)
from aatoolkit.errors.data import (
    ArchiveError as ArchiveError,
)
from aatoolkit.errors.data import (
    ArgumentError as ArgumentError,
)
from aatoolkit.errors.data import (
    ArgumentTypeError as ArgumentTypeError,
)
from aatoolkit.errors.data import (
    AttributeNotFound as AttributeNotFound,
)
from aatoolkit.errors.data import (
    AvailabilityError as AvailabilityError,
)
from aatoolkit.errors.data import (
    ColumnNotFound as ColumnNotFound,
)
from aatoolkit.errors.data import (
    ConfigurationError as ConfigurationError,
)
from aatoolkit.errors.data import (
    ExportError as ExportError,
)
from aatoolkit.errors.data import (
    FileMissing as FileMissing,
)
from aatoolkit.errors.data import (
    ItemNotFound as ItemNotFound,
)
from aatoolkit.errors.data import (
    MetadataError as MetadataError,
)
from aatoolkit.errors.data import (
    NotRead as NotRead,
)
from aatoolkit.errors.data import (
    NotWritten as NotWritten,
)
from aatoolkit.errors.data import (
    PackageMissing as PackageMissing,
)
from aatoolkit.errors.data import (
    PayloadError as PayloadError,
)
from aatoolkit.errors.data import (
    RowNotFound as RowNotFound,
)
from aatoolkit.errors.data import (
    ScopeError as ScopeError,
)
from aatoolkit.errors.data import (
    StudyError as StudyError,
)
from aatoolkit.errors.data import (
    TokenRepeated as TokenRepeated,
)
from aatoolkit.errors.data import (
    TooManyPaths as TooManyPaths,
)
from aatoolkit.errors.fetching import (
    BadRequest as BadRequest,
)
from aatoolkit.errors.fetching import (
    ConnectionFailed as ConnectionFailed,
)
from aatoolkit.errors.fetching import (
    DeadlineExceeded as DeadlineExceeded,
)
from aatoolkit.errors.fetching import (
    DecodeError as DecodeError,
)
from aatoolkit.errors.fetching import (
    FetchError as FetchError,
)
from aatoolkit.errors.fetching import (
    InternalError as InternalError,
)
from aatoolkit.errors.fetching import (
    NotAuthorized as NotAuthorized,
)
from aatoolkit.errors.fetching import (
    NotCached as NotCached,
)
from aatoolkit.errors.fetching import (
    NotFound as NotFound,
)
from aatoolkit.errors.fetching import (
    NotVisible as NotVisible,
)
from aatoolkit.errors.fetching import (
    RateLimited as RateLimited,
)
from aatoolkit.errors.fetching import (
    ServerFailed as ServerFailed,
)
from aatoolkit.errors.fetching import (
    StatusError as StatusError,
)
from aatoolkit.errors.fetching import (
    TooLarge as TooLarge,
)
from aatoolkit.errors.fetching import (
    UnexpectedRedirect as UnexpectedRedirect,
)
from aatoolkit.errors.warnings import (
    AAToolkitWarning as AAToolkitWarning,
)
from aatoolkit.errors.warnings import (
    CacheWarning as CacheWarning,
)
from aatoolkit.errors.warnings import (
    DetectionWarning as DetectionWarning,
)
from aatoolkit.errors.warnings import (
    DraftWarning as DraftWarning,
)
from aatoolkit.errors.warnings import (
    FontWarning as FontWarning,
)
from aatoolkit.errors.warnings import (
    MergeWarning as MergeWarning,
)
from aatoolkit.errors.warnings import (
    RedactionWarning as RedactionWarning,
)
from aatoolkit.errors.warnings import (
    SchemaDriftWarning as SchemaDriftWarning,
)
from aatoolkit.errors.warnings import (
    ScopeWarning as ScopeWarning,
)
from aatoolkit.errors.warnings import (
    StaleDataWarning as StaleDataWarning,
)
from aatoolkit.errors.warnings import (
    UnknownAvailabilityWarning as UnknownAvailabilityWarning,
)


def __dir__() -> list[str]:
    known = {name: kind for name, kind in globals().items() if isinstance(kind, type)}
    return [n for n, kind in known.items() if issubclass(kind, AAToolkitError | AAToolkitWarning)]


if not TYPE_CHECKING:  # type checkers go by what is declared

    def __getattr__(name: str) -> NoReturn:
        text = f"module {__name__!r} has no attribute {name!r}"
        if name.startswith("_"):
            raise AttributeError(text)
        from difflib import get_close_matches

        near = get_close_matches(name, __dir__())
        hint = " or ".join(map(repr, near)) or "one of dir(aatoolkit.errors)"
        raise AttributeNotFound(
            f"{text}; did you mean {hint}?", attribute=name, suggestions=tuple(near)
        )
