"""Parts of statements: state, words, sample and moment; counts; footnotes.

Numbers are metrics nearly everywhere, so counts are believed only under a key that is about
data: ``dataCoverage``, ``sampling``, ``_shards``, ``suppressedRows``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from aatoolkit.availability import Availability, Status
from aatoolkit.availability.detect import keys, roles
from aatoolkit.availability.detect.context import AnswerContext
from aatoolkit.availability.detect.roles import spaced, tokens, words
from aatoolkit.availability.detect.vocabulary import (
    STRONG,
    WORDS,
    because,
    best,
    in_prose,
    understand,
)
from aatoolkit.jsontree.paths import key_step

_DEEPEST = 4
_CAUSES = ("not_connected", "not_configured", "forbidden", "pending", "insufficient_sample")
"""Causes that a sentence may name; for others it takes a word of its own."""


def state_in(given: Mapping[str, Any], least: int) -> Availability | None:
    """The state that an object gives by a word or a flag of its own; None if it gives none."""
    reason = reason_in(given)
    for name, value in given.items():
        if isinstance(value, str) and value.strip() and keys.is_absence(name):
            return because(Availability(Status.UNAVAILABLE), value)
        if isinstance(value, str) and (keys.is_word(name) or roles.fold(name) == "value"):
            known = understand(value)
            if known and known.strength >= least:
                if reason == value:
                    return known.availability
                return explained(known.availability, given)
    flags = [keys.flag(n, v) for n, v in given.items() if isinstance(v, bool)]
    states = [state for state in flags if state is not None]
    denials = [state for state in states if state.status != Status.AVAILABLE]
    return explained((denials or states)[0], given) if states else None


def words_in(value: Any, depth: int = 0) -> Iterator[str]:
    """Yield the codes in a statement, however deep: in a coding, extensions or details."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and depth < _DEEPEST:
        for item in value[:_DEEPEST]:
            yield from words_in(item, depth + 1)
    elif isinstance(value, dict) and depth < _DEEPEST:
        for name, item in value.items():
            coded = {*tokens(name)} & {"code", "reason", "status", "state"}
            if isinstance(item, dict | list) or coded or roles.is_reason(name):
                yield from words_in(item, depth + 1)


def reason_in(given: Mapping[str, Any]) -> str | None:
    """The text that gives the reason for a state, among an object's members."""
    found = [v for k, v in given.items() if isinstance(v, str) and v and roles.is_reason(k)]
    return next((text for text in found if " " in text), found[0] if found else None)


def explained(state: Availability, given: Mapping[str, Any]) -> Availability:
    """Add the words beside a state; a reason among them names the cause of a bare absence.

    Examples
    --------
    >>> denied = Availability(Status.UNAVAILABLE)
    >>> explained(denied, {"reason": "Search Console is not connected."}).cause
    <Cause.NOT_CONNECTED: 'not_connected'>
    >>> explained(denied, {"message": "Not enough data"}).cause
    """
    reason = reason_in(given)
    if state.status == Status.AVAILABLE and reason and " " in reason:
        return _doubted(state, reason)
    state = because(state, reason)
    reasons = (v for k, v in given.items() if isinstance(v, str) and roles.is_cause(k))
    for text in reasons if state.cause is None and state.status == Status.UNAVAILABLE else ():
        known = in_prose(text)
        if known and known.canonical in _CAUSES:
            return replace(state, cause=known.availability.cause)
    return state


_DENIAL = re.compile(r"(?i)\b(not|no|never|none|without|cannot)\b|n't\b")


def _doubted(state: Availability, reason: str) -> Availability:
    """Doubt an ``available`` flag beside a sentence: words of absence outweigh it.

    What an engine supports it need not have measured; where the sentence denies something else,
    nothing is sure.
    """
    known = in_prose(reason)
    if known and known.is_lack and known.canonical != "unavailable":
        return known.because(reason)
    return (
        Availability(Status.UNKNOWN, None, reason)
        if _DENIAL.search(reason)
        else because(state, reason)
    )


def size_in(given: Mapping[str, Any]) -> int | None:
    """The sample size in a statement; None if it has none."""
    sizes = (v for k, v in given.items() if roles.is_size(k) and type(v) is int)
    return next(sizes, None)


def moment_in(given: Mapping[str, Any]) -> str | None:
    """The moment up to which a statement holds; None if it gives none."""
    moments = (v for k, v in given.items() if roles.is_moment(k) and isinstance(v, str))
    return next(moments, None)


_DENIALS = {
    "not_applicable": ("support", "expose", "capabilit"),
    "not_connected": ("connect", "integrat"),
    "not_configured": ("configur",),
    "unavailable": ("",),
}
"""What false means under a key that holds one of some stems."""


def state_of_flag(value: bool, key: str) -> Availability:
    """The state that true or false means under a key: support, connection or availability."""
    if value:
        return Availability(Status.AVAILABLE)
    text = spaced(key)
    found = (word for word, stems in _DENIALS.items() if any(stem in text for stem in stems))
    return Availability(*WORDS[next(found)])


_PART = words(
    "observed sampled collected successful received measured processed actual read completed"
    " answered reporting reported captured present loaded returned used seen"
)
_WHOLE = words(
    "expected total required planned requested scheduled possible all space population eligible"
    " target overall"
)
_FAILED = words("failed missing lost dropped errored unavailable absent")
_FORM = words("count counts size number num n of samples sample")
_ABOUT = words(
    "sampling sample sampled shards clusters partitions collection completeness measurement"
    " ingestion"
)
_DATA = words("data dataset observations observation runs answers meta info")
_WITHOUT = words("suppression truncation redaction omission thresholding")

_LOST = (
    "missing|incomplete|unavailable|suppressed|dropped|omitted|skipped|failed|lost|delayed|partial"
    "|unmeasured|uncollected|redacted|withheld|truncated|thresholded"
)
_UNITS = (
    "rows?|records?|days?|dates?|hours?|weeks?|months?|periods?|intervals?|samples?|observations?"
    "|measurements?|points?|shards?|partitions?|runs?|buckets?"
)
_LOSS = re.compile(
    rf"({_LOST}) (data )?({_UNITS})|({_UNITS}) ({_LOST})"
    r"|(data|collection|collector|ingestion|measurement|tracking|coverage|observation|reporting"
    r"|sampling|dataset) "
    r"(gaps?|holes?|outages?|losses|interruptions?)"
)
_SINCE = re.compile(
    r"(first |last )?"
    r"(incomplete|partial|provisional|preliminary|unfinali[sz]ed|unsettled) "
    r"(date|day|hour|week|month|period|since|from|after|as of|until|through)"
)
_RATE = re.compile(r"(data )?sampl(e|ing) (rate|ratio|fraction|percent|percentage|share)")


def coverage(key: str, value: Mapping[str, Any], *, listed: bool = False) -> Availability | None:
    """The state that a part and a whole mean, ``{"observed": 22, "expected": 30}``; or None.

    ``listed`` if the object is the entry of a list that is about availability.

    Examples
    --------
    >>> coverage("_shards", {"total": 5, "failed": 2}).status
    <Status.PARTIAL: 'partial'>
    >>> coverage("brandCoverage", {"observed": 12, "total": 40})
    """
    about = {*tokens(key)}
    if about <= _WITHOUT and any((_number(item) or 0) > 0 for item in value.values()):
        return Availability(Status.PARTIAL)
    covers = "coverage" in about and about & _DATA
    if not listed and not ((about & _ABOUT or covers) and about <= _ABOUT | _DATA | {"coverage"}):
        return None
    if any(loss(f"{key} {name}", item) or loss(name, item) for name, item in value.items()):
        return Availability(Status.PARTIAL)
    parts, wholes = _numbers(value, _PART), _numbers(value, _WHOLE)
    sizes = _numbers(value, words("size n count")) if about & {"sample", "sampling"} else {}
    # A number may have the name alone of which another is the whole: ``runs``.
    named = {tokens(name): _number(item) for name, item in [*value.items()][::-1]}
    plain = {of: part for of in wholes if of and (part := named.get(of)) is not None}
    parts = {**sizes, **plain, **parts}
    for of, part in parts.items() if wholes else ():
        whole = wholes.get(of, wholes.get((), next(iter(wholes.values()))))
        if 0 <= part <= whole and whole > 0:
            return Availability(status_of_part(part, whole))
    if wholes and any(lost > 0 for lost in _numbers(value, _FAILED).values()):
        return Availability(Status.PARTIAL)
    return None


def is_data(key: str) -> bool:
    """Whether a key names observations, which within metadata are counted for their own sake."""
    return {*tokens(key)} <= _DATA


def status_of_part(part: float, whole: float = 1) -> Status:
    """The status of a part measured of a whole: none, a part, or all."""
    if part == whole:
        return Status.AVAILABLE
    return Status.PARTIAL if part else Status.UNAVAILABLE


def _numbers(value: Mapping[str, Any], words: frozenset[str]) -> dict[tuple[str, ...], float]:
    """The numbers whose names contain one of some words, by the rest of their names."""
    found: dict[tuple[str, ...], float] = {}
    for name, item in value.items():
        parts = tokens(name)
        number = _number(item)
        if number is not None and {*parts} & words:
            found.setdefault(tuple(p for p in parts if p not in words | _FORM), number)
    return found


def _number(item: Any) -> float | None:
    if type(item) in (int, float):
        return float(item)
    return float(item) if isinstance(item, str) and re.fullmatch(r"\d{1,15}", item) else None


def loss(key: str, value: Any) -> Availability | None:
    """The state ``partial``, if a count, list or moment under a key means that data lack.

    Examples
    --------
    >>> loss("suppressedRows", 3).status, loss("first_incomplete_date", "2026-11-18").status
    (<Status.PARTIAL: 'partial'>, <Status.PARTIAL: 'partial'>)
    >>> loss("missingPages", ["/pricing"]), loss("suppressedRows", 0)
    (None, None)
    """
    text = spaced(key)
    number = value if type(value) in (int, float) else 0
    some = number > 0 or (isinstance(value, list) and len(value) > 0)
    sampled = _RATE.fullmatch(text) and 0 < number < (100 if "percent" in text else 1)
    lost = some and _LOSS.fullmatch(text.removesuffix(" count"))
    begun = isinstance(value, str) and value != "" and _SINCE.fullmatch(text)
    return Availability(Status.PARTIAL) if sampled or lost or begun else None


_MARKS = ("id", "mark", "marker", "symbol", "key", "ref", "code", "no", "number", "n", "sign")
_APPLIES_TO = (
    words("applies affected affects concerns targets about") | roles.FIELDS | roles.ENGINES
)


def read_footnotes(answer: AnswerContext, key: str, value: Any, path: str) -> bool:
    """Read footnotes that name their field or engine; return whether any did."""
    before = len(answer.found)
    for target, text, at, item in _targets(value, path) if roles.is_footnotes(key) else ():
        state = footnote_state(text)
        if state is not None and answer.is_engine(target):
            answer.add("engine", target, state, at, "footnote", item)
        elif state is not None and answer.knows(target) and not answer.holds(target):
            answer.add("field", answer.about(target), state, at, "footnote", item)
    return len(answer.found) > before


def footnote_state(text: str) -> Availability | None:
    """The state that a footnote means for a missing value; None if none."""
    known = best([text], STRONG) or in_prose(text)
    return known.because(text) if known and known.canonical != "available" else None


def footnote_marks(document: Any) -> dict[str, str]:
    """The footnotes of an answer by their marks."""
    notes = document.items() if isinstance(document, dict) else ()
    found: dict[str, str] = {}
    for value in (value for key, value in notes if roles.is_footnotes(key)):
        if isinstance(value, dict):
            found |= {mark: text for mark, text in value.items() if isinstance(text, str)}
        listed = value if isinstance(value, list) else ()
        for note in (note for note in listed if isinstance(note, dict)):
            mark = next((note[name] for name in _MARKS if name in note), None)
            text = reason_in(note)
            if isinstance(mark, str | int) and text:
                found[str(mark)] = text
    return found


def _targets(value: Any, path: str) -> Iterator[tuple[str, str, str, Any]]:
    """Yield the targets of footnotes, each with its text, path and value."""
    if isinstance(value, dict):
        for name, text in value.items():
            if isinstance(text, str):
                yield name, text, path + key_step(name), text
    for at, note in enumerate(value if isinstance(value, list) else ()):
        given = note if isinstance(note, dict) else {}
        text = reason_in(given) or given.get("code")
        if isinstance(text, str):
            yield from ((target, text, f"{path}[{at}]", note) for target in targets_of(given))


def targets_of(given: Mapping[str, Any]) -> list[str]:
    """The fields and engines that a note names: by one name, or in a list of them."""
    named = roles.name_of(dict(given))
    lists = (v for k, v in given.items() if isinstance(v, list) and {*tokens(k)} & _APPLIES_TO)
    targets = [named[1]] if named else []
    targets += [each for listed in lists for each in listed if isinstance(each, str)]
    return [*dict.fromkeys(targets)]
