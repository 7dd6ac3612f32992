"""Codes of statistics and signs that stand where a number should."""

from __future__ import annotations

from collections.abc import Mapping

from aatoolkit.availability import Availability, Cause, Status
from aatoolkit.availability.detect.phrases import STRONG
from aatoolkit.availability.detect.vocabulary import tokens, understand

_AVAILABLE = Availability(Status.AVAILABLE)
_PARTIAL = Availability(Status.PARTIAL)
_THIN = Availability(Status.PARTIAL, Cause.INSUFFICIENT_SAMPLE)
_LACKING = Availability(Status.UNAVAILABLE)
_NEVER = Availability(Status.NOT_APPLICABLE, Cause.NOT_SUPPORTED)
_WITHHELD = Availability(Status.UNAVAILABLE, Cause.WITHHELD)

OBSERVED: Mapping[str, Availability] = {
    **dict.fromkeys(("A", "B", "D", "N", "R", "V"), _AVAILABLE),
    **dict.fromkeys(("E", "F", "G", "I", "P", "S"), _PARTIAL),
    "U": _THIN,
    **dict.fromkeys(("H", "J", "K", "L", "O", "W", ":", "..", "…"), _LACKING),
    **dict.fromkeys(("M", "Z"), _NEVER),
    **dict.fromkeys(("C", "Q", "*"), _WITHHELD),
}
"""The codes of CL_OBS_STATUS and of Eurostat's flags, which are the same in lower case."""

_SIGNS: Mapping[str, Availability] = {
    **dict.fromkeys(("n/a", "n.a.", "na", "#n/a", "not applicable"), _NEVER),
    **dict.fromkeys(("-", "–", "—", ":", "..", "...", "…", "nan"), _LACKING),
    **dict.fromkeys(("*", "**", "***"), _WITHHELD),
}


def is_observation_status(key: str) -> bool:
    """Whether a key holds the status of an observation, as SDMX calls it.

    Examples
    --------
    >>> is_observation_status("OBS_STATUS"), is_observation_status("orderStatus")
    (True, False)
    """
    parts = {*tokens(key)}
    return bool(parts & {"obs", "observation"}) and bool(parts & {"status", "flag", "flags"})


def is_observation(key: str) -> bool:
    """Whether a key of a record holds its one value, of which a flag beside it speaks."""
    return tokens(key) in (("value",), ("obs", "value"), ("observation",), ("v",), ("val",))


def observed(code: str) -> Availability | None:
    """What a code of an observation's status means; of several letters the first that is known.

    Examples
    --------
    >>> observed("Q").cause, observed("e").status, observed("in_stock")
    (<Cause.WITHHELD: 'withheld'>, <Status.PARTIAL: 'partial'>, None)
    """
    return OBSERVED.get(code.strip().upper()) if len(code.strip()) <= 2 else None


def instead_of_number(text: str) -> Availability | None:
    """What a text says that stands where a number should.

    Examples
    --------
    >>> instead_of_number("n/a").status, instead_of_number("suppressed").cause
    (<Status.NOT_APPLICABLE: 'not_applicable'>, <Cause.WITHHELD: 'withheld'>)
    """
    sign = _SIGNS.get(text.strip().lower())
    if sign is not None:
        return sign
    known = understand(text)
    if known is None or known.canonical == "available":
        return None
    sure = known.strength >= STRONG or known.canonical in ("forbidden", "pending")
    return known.availability if sure else None
