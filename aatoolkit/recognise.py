"""Reads availability out of an answer: who could be measured, how far, and the evidence.

The name and shape of this metadata are not documented. What is read here is the shape of
the reference service; every other answer is ``unknown``, never available and never zero.
A `Rule` says where a known service keeps it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from aatoolkit.availability import Availability, Cause, Status
from aatoolkit.vectors import step

WORDS: Mapping[str, tuple[Status, Cause | None]] = {
    "available": (Status.AVAILABLE, None),
    "partial": (Status.PARTIAL, None),
    "unavailable": (Status.UNAVAILABLE, None),
    "not_connected": (Status.UNAVAILABLE, Cause.NOT_CONNECTED),
    "not_configured": (Status.UNAVAILABLE, Cause.NOT_CONFIGURED),
    "not_run": (Status.UNAVAILABLE, Cause.NOT_RUN),
    "not_applicable": (Status.NOT_APPLICABLE, Cause.NOT_SUPPORTED),
    "pending": (Status.UNAVAILABLE, Cause.PENDING),
    "insufficient_sample": (Status.UNAVAILABLE, Cause.INSUFFICIENT_SAMPLE),
    "forbidden": (Status.UNAVAILABLE, Cause.WITHHELD),
    "error": (Status.UNAVAILABLE, Cause.FAILED),
}
"""The words of the wire, each with its status and cause; any other word is ``unknown``."""


@dataclass(frozen=True)
class Signal:
    """One thing an answer says about availability.

    Parameters
    ----------
    scope : str
        ``section``, ``field`` or ``engine``.
    target : str or None
        The field's path or the engine's id; None for the whole section.
    availability : Availability
        What it says.
    sample_size : int or None
        The observations behind it, where given.
    as_of : str or None
        The moment up to which it is complete, as given.
    path : str
        The JSON path of the evidence.
    rule : str
        The name of the rule that read it.
    """

    scope: str
    target: str | None
    availability: Availability
    sample_size: int | None
    as_of: str | None
    path: str
    rule: str


@dataclass(frozen=True)
class Rule:
    """Where a service keeps its availability: an object with a status, and maps of narrower ones.

    Parameters
    ----------
    name : str
        The rule's name, kept with what it reads.
    at : str
        The field that holds the object.
    status, reason, sample_size, as_of : str
        Its fields.
    fields, engines : str
        Its maps from a field's path, or an engine's id, to such an object.
    """

    name: str = "reference"
    at: str = "availability"
    status: str = "status"
    reason: str = "reason"
    sample_size: str = "sampleCount"
    as_of: str = "asOf"
    fields: str = "fields"
    engines: str = "engines"


REFERENCE = Rule()


def recognise(document: Any, rule: Rule = REFERENCE) -> list[Signal]:
    """What an answer says about its own availability; nothing found is an empty list.

    Examples
    --------
    >>> found = recognise({"availability": {"status": "not_connected", "reason": "No CNAME."}})
    >>> str(found[0].availability)
    'unavailable (not connected): No CNAME.'
    """
    stated = document.get(rule.at) if isinstance(document, dict) else None
    if not isinstance(stated, dict):
        return []
    return list(_signals(stated, rule))


def _signals(stated: Mapping[str, Any], rule: Rule) -> Iterator[Signal]:
    if rule.status in stated:
        yield _signal("section", None, stated, f"${step(rule.at)}", rule)
    for scope, name in (("field", rule.fields), ("engine", rule.engines)):
        narrower = stated.get(name)
        if isinstance(narrower, dict):
            path = f"${step(rule.at)}{step(name)}"
            for target, state in narrower.items():
                given = state if isinstance(state, dict) else {rule.status: state}
                yield _signal(scope, target, given, path + step(target), rule)


def _signal(
    scope: str, target: str | None, given: Mapping[str, Any], path: str, rule: Rule
) -> Signal:
    sample_size = given.get(rule.sample_size)
    as_of = given.get(rule.as_of)
    return Signal(
        scope,
        target,
        read_word(given.get(rule.status), given.get(rule.reason)),
        sample_size if type(sample_size) is int else None,
        as_of if isinstance(as_of, str) else None,
        path,
        rule.name,
    )


def read_word(word: object, reason: object = None) -> Availability:
    """A word of the wire as an availability; an unknown word is kept as the reason.

    Examples
    --------
    >>> read_word("available").status
    <Status.AVAILABLE: 'available'>
    >>> read_word("blue moon")
    Availability(status=<Status.UNKNOWN: 'unknown'>, cause=None, reason="'blue moon'")
    """
    said = reason if isinstance(reason, str) and reason else None
    if isinstance(word, str) and word in WORDS:
        status, cause = WORDS[word]
        return Availability(status, cause, said)
    return Availability(Status.UNKNOWN, None, said or (None if word is None else repr(word)))
