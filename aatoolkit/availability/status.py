"""Whether data could be measured (a status), why not (a cause), and how to combine several."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import reduce
from typing import NoReturn

from aatoolkit._util.text import combine_reasons
from aatoolkit.errors import ArgumentError, find_near_matches, suggest_names


class TextEnum(StrEnum):
    """Base class of enumerations of texts.

    A text that is no member raises an `ArgumentError`, whose message suggests similar members.
    """

    @classmethod
    def _missing_(cls, value: object) -> NoReturn:
        """Raise an `ArgumentError` for a text that is no member; it suggests similar members."""
        hint = suggest_names(find_near_matches(value, map(str, cls)), f"there are {', '.join(cls)}")
        raise ArgumentError(f"{value!r} is no {cls.__name__}; {hint}", argument="value")


class Status(TextEnum):
    """Whether data could be measured.

    One of ``available``, ``partial``, ``unavailable``, ``not_applicable`` and ``unknown``. A
    measured zero is ``available``.

    Examples
    --------
    >>> Status("partial") == "partial"
    True
    """

    AVAILABLE = "available"
    PARTIAL = "partial"
    UNAVAILABLE = "unavailable"
    NOT_APPLICABLE = "not_applicable"
    UNKNOWN = "unknown"


class Cause(TextEnum):
    """The reason why data could not be measured, or only in part, such as ``not_connected``.

    Examples
    --------
    >>> Cause("not_run") is Cause.NOT_RUN
    True
    """

    NOT_CONNECTED = "not_connected"
    NOT_CONFIGURED = "not_configured"
    NOT_RUN = "not_run"
    NOT_SUPPORTED = "not_supported"
    INSUFFICIENT_SAMPLE = "insufficient_sample"
    PENDING = "pending"
    WITHHELD = "withheld"
    FAILED = "failed"
    FILTERED = "filtered"
    TRUNCATED = "truncated"
    ABSENT = "absent"
    NO_ROW = "no_row"


EMPTY = (Status.UNAVAILABLE, Status.NOT_APPLICABLE)
"""The statuses of data that were not measured at all."""


@dataclass(frozen=True)
class Availability:
    """Whether some data could be measured, and if not, why.

    Parameters
    ----------
    status : Status
        Whether the data could be measured; ``unknown`` if the service does not say so.
    cause : Cause, optional
        Why the data could not be measured, or only in part.
    reason : str, optional
        The explanation that the service gives, unchanged.

    Examples
    --------
    >>> str(Availability(Status.UNAVAILABLE, Cause.NOT_CONNECTED, "Create the CNAME."))
    'unavailable (not connected): Create the CNAME.'
    """

    status: Status = Status.UNKNOWN
    cause: Cause | None = None
    reason: str | None = None

    def __str__(self) -> str:
        text = self.status.replace("_", " ")
        if self.cause:
            text += f" ({self.cause.replace('_', ' ')})"
        return f"{text}: {self.reason}" if self.reason else text


UNKNOWN = Availability()


def join(first: Status, second: Status) -> Status:
    """Combine the statuses of two parts into the status of the whole.

    Two equal statuses give the same status, and two different ones give ``partial``. There are two
    exceptions: ``not_applicable`` gives the other status, and ``unknown`` gives ``unknown``.

    Examples
    --------
    >>> join(Status.AVAILABLE, Status.UNAVAILABLE)
    <Status.PARTIAL: 'partial'>
    >>> join(Status.NOT_APPLICABLE, Status.AVAILABLE)
    <Status.AVAILABLE: 'available'>
    """
    if first == second or second == Status.NOT_APPLICABLE:
        return first
    if first == Status.NOT_APPLICABLE:
        return second
    if Status.UNKNOWN in (first, second):
        return Status.UNKNOWN
    return Status.PARTIAL


def combine(availabilities: Iterable[Availability]) -> Availability:
    """Combine several availabilities into one, for data that consist of several parts.

    The cause is kept if all parts that were not fully measured have the same cause.

    Parameters
    ----------
    availabilities : iterable of Availability
        The availabilities of the parts.

    Returns
    -------
    Availability

    Examples
    --------
    >>> combine([Availability(Status.AVAILABLE), Availability(Status.UNAVAILABLE, Cause.NOT_RUN)])
    ... # doctest: +NORMALIZE_WHITESPACE
    Availability(status=<Status.PARTIAL: 'partial'>, cause=<Cause.NOT_RUN: 'not_run'>,
                 reason=None)
    """
    part_availabilities = list(availabilities)
    if len(part_availabilities) == 1:
        return part_availabilities[0]
    part_availabilities = [
        availability
        for availability in part_availabilities
        if availability.status != Status.NOT_APPLICABLE
    ] or part_availabilities
    status = reduce(
        join, (availability.status for availability in part_availabilities), Status.NOT_APPLICABLE
    )
    incomplete_parts = [
        availability
        for availability in part_availabilities
        if availability.status != Status.AVAILABLE
    ]
    causes = {availability.cause for availability in incomplete_parts}
    cause = causes.pop() if len(causes) == 1 else None
    return Availability(
        status, cause, combine_reasons(availability.reason for availability in incomplete_parts)
    )
