"""Placeholders: signs and words in place of a number, and the status codes of observations."""

from __future__ import annotations

from collections.abc import Mapping

from aatoolkit.availability import Availability, Cause, Status
from aatoolkit.availability.detect.vocabulary import understand


def _meanings(*given: tuple[str, Status, Cause | None]) -> Mapping[str, Availability]:
    return {
        code: Availability(status, cause)
        for codes, status, cause in given
        for code in codes.split()
    }


_OBSERVED = _meanings(
    ("A B D N R V", Status.AVAILABLE, None),
    ("E F G I P S", Status.PARTIAL, None),
    ("U", Status.PARTIAL, Cause.INSUFFICIENT_SAMPLE),
    ("H J K L O W : .. …", Status.UNAVAILABLE, None),
    ("M Z", Status.NOT_APPLICABLE, Cause.NOT_SUPPORTED),
    ("C Q *", Status.UNAVAILABLE, Cause.WITHHELD),
)
"""The codes of CL_OBS_STATUS and of Eurostat's flags, which are the same in lower case."""

_PLACEHOLDERS = _meanings(
    ("n/a n.a. na #n/a", Status.NOT_APPLICABLE, Cause.NOT_SUPPORTED),
    ("- – — : .. ... … nan", Status.UNAVAILABLE, None),
    ("* ** ***", Status.UNAVAILABLE, Cause.WITHHELD),
)
"""What a sign in place of a number states. Which texts a draft reads as missing, also those that
give no reason (``null``, ``?``), is in ``sections/inference/text_formats.py``."""


def observed(code: str) -> Availability | None:
    """Return what a code of an observation's status means; None if it is not one of them.

    Examples
    --------
    >>> observed("Q").cause, observed("e").status, observed("in_stock")
    (<Cause.WITHHELD: 'withheld'>, <Status.PARTIAL: 'partial'>, None)
    """
    return _OBSERVED.get(code.strip().upper()) if len(code.strip()) <= 2 else None


def instead_of_number(text: str) -> Availability | None:
    """Return what a text in place of a number means; None if it is not known.

    Examples
    --------
    >>> instead_of_number("n/a").status, instead_of_number("suppressed").cause
    (<Status.NOT_APPLICABLE: 'not_applicable'>, <Cause.WITHHELD: 'withheld'>)
    """
    known = understand(text)
    if known and (known.is_lack or known.canonical in ("forbidden", "pending")):
        return known.availability
    return _PLACEHOLDERS.get(text.strip().lower())
