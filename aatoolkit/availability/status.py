"""Statuses and causes: what could be measured, why not, and how they combine."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import reduce
from typing import NoReturn

from aatoolkit._util.text import combined_reason
from aatoolkit.errors import ArgumentError, did_you_mean, near_matches


class Words(StrEnum):
    """Words of which no other may be used: one that is mistyped is refused with near matches."""

    @classmethod
    def _missing_(cls, value: object) -> NoReturn:
        hint = did_you_mean(near_matches(value, map(str, cls)), f"there are {', '.join(cls)}")
        raise ArgumentError(f"{value!r} is no {cls.__name__}; {hint}", argument="value")


class Status(Words):
    """The status of a measurement; a measured zero is ``available``.

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


class Cause(Words):
    """The reason why something was not, or not wholly, measured."""

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
"""The statuses of columns that hold no value."""


@dataclass(frozen=True)
class Availability:
    """The status of one thing, the cause, and the service's own words.

    Parameters
    ----------
    status : Status
        ``unknown`` unless there is evidence.
    cause : Cause, optional
        Why.
    reason : str, optional
        The service's words, verbatim.

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
    """Join two statuses: that of both things taken together.

    ``not_applicable`` is the identity; equals stay; anything with ``unknown`` is
    ``unknown``; every other pair is ``partial``. Commutative, associative, idempotent.

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


def combine(parts: Iterable[Availability]) -> Availability:
    """Combine several availabilities: the joined status, the common cause, all the words.

    The cause is that of the parts which were not fully measured, where they agree; nothing
    to combine gives ``not_applicable``, the identity of the join; one alone stays as it is.

    Examples
    --------
    >>> combine([Availability(Status.AVAILABLE), Availability(Status.UNAVAILABLE, Cause.NOT_RUN)])
    ... # doctest: +NORMALIZE_WHITESPACE
    Availability(status=<Status.PARTIAL: 'partial'>, cause=<Cause.NOT_RUN: 'not_run'>,
                 reason=None)
    """
    states = list(parts)
    if len(states) == 1:
        return states[0]
    status = reduce(join, (state.status for state in states), Status.NOT_APPLICABLE)
    incomplete = [state for state in states if state.status != Status.AVAILABLE]
    if status != Status.NOT_APPLICABLE:
        incomplete = [state for state in incomplete if state.status != Status.NOT_APPLICABLE]
    causes = {state.cause for state in incomplete}
    cause = causes.pop() if len(causes) == 1 else None
    return Availability(status, cause, combined_reason(state.reason for state in incomplete))
