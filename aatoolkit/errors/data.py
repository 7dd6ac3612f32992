"""Errors of arguments, answers, frames, files, studies and archives."""

from __future__ import annotations

from aatoolkit.errors.base import AAToolkitError


class ConfigurationError(AAToolkitError, ValueError):
    """A base URL, token or setting cannot be used."""

    setting: str | None
    """The name of the setting."""


class ArgumentError(AAToolkitError, ValueError):
    """An argument has a value that cannot be used; the message says which ones can."""

    argument: str | None
    """The name of the argument."""


class ArgumentTypeError(ArgumentError, TypeError):
    """An argument is of a kind that cannot be used, such as a number where a name belongs."""


class PackageMissing(AAToolkitError, ImportError):
    """An optional package is not installed; the message names the command that installs it."""

    package: str | None
    """The package that could not be imported."""
    extra: str | None
    """The extra that installs it: ``pip install "aatoolkit[extra]"``."""


class ItemNotFound(AAToolkitError, KeyError):
    """A mapping has no such table, section or host; the message holds near matches."""

    key: object
    """What was asked for."""
    suggestions: tuple[str, ...] | None
    """Keys that look alike."""

    def __str__(self) -> str:
        return str(self.message)


class AttributeNotFound(AAToolkitError, AttributeError):
    """An object has no such attribute or method; the message holds near matches."""

    attribute: str | None
    """The name that was asked for."""
    suggestions: tuple[str, ...] | None
    """Names that look alike."""


class ScopeError(AAToolkitError, ValueError):
    """A filter or value cannot be requested."""

    parameter: str | None
    """The filter concerned, such as ``engine``."""
    unknown: tuple[str, ...] | None
    """The values that are not known."""
    suggestions: tuple[str, ...] | None
    """Known values that look alike."""


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


class RowNotFound(AAToolkitError, KeyError):
    """A frame has no such row, or several."""

    row: object
    """The row that was asked for."""

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


class ExportError(AAToolkitError, ValueError):
    """A frame cannot be written as it is."""

    path: str | None
    """The file that was to be written."""


class NotRead(AAToolkitError, OSError):
    """A file cannot be read, or is not of the format that it should be."""

    path: str | None
    """The file."""


class FileMissing(NotRead, FileNotFoundError):
    """There is no such file."""


class NotWritten(AAToolkitError, OSError):
    """A file or folder was not written: a full disk, a missing permission."""

    path: str | None
    """The file or folder."""
    errno: int | None
    """The system's number for the reason, as in `OSError`."""
    in_place: bool | None
    """True if the new version is in place, and only may not survive a loss of power."""
