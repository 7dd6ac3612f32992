"""Keys: whether one is about data, and what a flag under it states."""

from __future__ import annotations

import re
from functools import lru_cache

from aatoolkit.availability import Availability, Cause, Status
from aatoolkit.availability.detect.roles import (
    ENGINES,
    FIELDS,
    fold,
    is_notice,
    is_reason,
    kind_of_entries,
    spaced,
    tokens,
    words,
)
from aatoolkit.availability.detect.vocabulary import PLAIN, STRONG, WORDS, phrase

STATED, MILD = 2, 1
"""A key that means availability by itself; one that does with a strong word only."""

_ABOUT = words("availability available avail unavailability completeness readiness")
_DATA = words("data dataset measurement collection sample sampling ingestion")
_KIND = words("status state coverage health level support supported freshness")
_GRADE = words("tier confidence quality reliability evidence significance basis accuracy")
_IDLE = words("x is are meta info by per current overall report")
_STATE = words("status state")
_VALUE = words("code grade kind result type")
_IS, _IS_OR_WAS = ("is",), ("is", "was")

_DENIED = [
    (re.compile(text), Availability(*WORDS[word]))
    for word, text in {
        "unavailable": (
            "(has )?(any )?data|data available|available|measured|collected|captured"
            "|has (data|results)"
        ),
        "not_connected": r"(\w+ )?(connected|linked|integrated)",
        "not_configured": r"(\w+ )?(configured|installed|set up)",
        "not_applicable": r"supported|applicable|exposed|exposes( \w+)*",
        "pending": (
            "(data )?(ready|computed|calculated|processed)|(job|query|task|run|import|sync|crawl"
            "|analysis|export|report|processing|collection|backfill|scan|snapshot|calculation)"
            " (complete|completed|done|finished|ready)"
        ),
        "partial": "(data )?complete|(data|results|figures) (final|finali[sz]ed)",
        "insufficient_sample": r"(has )?(enough|sufficient) \w+",
        "forbidden": (
            "entitled|licensed|permitted|granted|allowed"
            "|((feature|module|section|product) )?enabled"
        ),
    }.items()
]
"""What a flag denies by being false."""

_ASSERTED = re.compile(
    "stale|suppressed|restricted|locked|limited|pending|queued|processing|missing|empty"
    "|approximate|provisional|preliminary"
)
"""Everyday words that are flags of an envelope when they are true."""

_RESULTS = words("result results row rows response report output answer")
_CUT = re.compile("(is )?timed out|terminated early|(hit|reached) (row )?limit|limit reached")
"""Flags of an answer that ended before it was whole."""

_IN_ROWS = re.compile(
    r"(has |no )?(any |enough |sufficient |insufficient |low )?(data|sample)( available| missing)?"
    r"|(in|too )?(measured|underpowered|calibrating|thin|withheld|recalculating)"
    r"|not measured|low volume|data (un)?available|unmeasured"
)
_IN_SERIES = re.compile("partial|incomplete|estimated|provisional|preliminary|sampled")
_WHOLE = re.compile("complete|final|finali[sz]ed")
_ABSENT = words("null missing absent absence empty na nodata unavailable")
_HIDDEN = words("missing hidden masked suppressed redacted")
_READY = ("supported", "connected", "measured", "has data", "ready")
_IN_PART = re.compile("approx(imate)?|estimated?|sampled|provisional|preliminary|partial")
_SEPARATOR = re.compile(r"__|(?<=\w)[@.]")
_GATHERED = re.compile("collected|ingested|(observed|captured|recorded|reported)")
_TAKEN = re.compile("masked|suppressed|redacted|hidden|missing|absent")


@lru_cache(maxsize=4096)
def subject(key: str) -> int:
    """Rate how surely a key is about data availability: `STATED`, `MILD` or 0.

    Examples
    --------
    >>> subject("dataAvailability"), subject("engineSupport"), subject("brandCoverage")
    (2, 1, 0)
    """
    parts = {*tokens(key)} - _IDLE - FIELDS - ENGINES
    if not parts or not parts <= _ABOUT | _DATA | _KIND | _GRADE:
        return 0
    if parts & _ABOUT or (parts & _DATA and parts & (_KIND | _GRADE)):
        return STATED
    return MILD if parts & (_KIND | _GRADE) else 0


def wants_word(key: str) -> bool:
    """Whether a word that is not known under a key leaves the availability unknown."""
    return subject(key) == STATED and not (_ABOUT | _STATE).isdisjoint(tokens(key))


def is_ability(key: str) -> bool:
    """Whether a key is about what somebody can do: ``capabilities``, ``featureSupport``."""
    return bool({*tokens(key)} & {"capability", "capabilities", "support", "supports", "exposes"})


@lru_cache(maxsize=4096)
def is_word(key: str) -> bool:
    """Whether a key inside a statement holds its word."""
    return spaced(key) in _VALUE or subject(key) > 0


@lru_cache(maxsize=4096)
def flag(key: str, value: bool) -> Availability | None:
    """The state that a flag means; None if it states none, as one that denies a problem.

    Examples
    --------
    >>> str(flag("isConnected", False)), flag("isRecalculating", False)
    ('unavailable (not connected)', None)
    """
    text = spaced(key, ("is", "are", "was", "currently", "contains", "includes"))
    for pattern, denied in _DENIED:
        if pattern.fullmatch(text):
            return Availability(Status.AVAILABLE) if value else denied
    parts = tuple(text.split())
    word = phrase(parts) or phrase(tuple(part for part in parts if part not in _RESULTS))
    if value and _CUT.fullmatch(text):
        return Availability(Status.PARTIAL, Cause.TRUNCATED)
    if not value or word is None or word.canonical == "available":
        return None
    return word.availability if word.strength >= STRONG or _ASSERTED.fullmatch(text) else None


def is_soft(key: str) -> bool:
    """Whether a flag is an everyday word, of numbers as of other things: ``provisional``."""
    word = phrase(tuple(spaced(key, _IS).split()))
    return word is not None and word.strength < STRONG


def is_claim(key: str) -> bool:
    """Whether a flag that is true means that there are data; others mean the lack alone."""
    return bool({*tokens(key)} & {"available", "data", "measured"})


@lru_cache(maxsize=4096)
def denial(key: str) -> Availability | None:
    """The state that a key such as ``missingFields`` denies the entries of its list or map."""
    text, engines = spaced(key, FIELDS | ENGINES | _IDLE), kind_of_entries(key) == "engine"
    if text in ("excluded", "omitted", "nulls", "null", "nulled") or (
        text == "skipped" and engines
    ):
        return Availability(Status.UNAVAILABLE)
    word = phrase(tuple(text.split()))
    if word is None or word.canonical == "available" or (word.canonical == "error" and not engines):
        return None
    return word.availability


_PRESENT = re.compile(
    "with data|reporting|responding|measured|observed|covered|with (answers|results|runs)"
)
_CHOSEN = re.compile("with|available|included|present|active|supported|connected|ok|complete")


def affirms(key: str, *, alone: bool = True) -> bool:
    """Whether a list under a key names engines that did report: ``enginesWithData``.

    Beside a list of those that did not, plainer names do: ``available``, ``included``.
    """
    text = spaced(key, FIELDS | ENGINES | _IDLE)
    return (_PRESENT if alone else _CHOSEN).fullmatch(text) is not None


def is_row_flag(key: str) -> bool:
    """Whether a flag inside a record is about its data and cannot be business."""
    return _IN_ROWS.fullmatch(spaced(key, _IS)) is not None


@lru_cache(maxsize=4096)
def series_flag(key: str, value: bool) -> Availability | None:
    """The state that a flag in a point in time means for its data; None if it is not about data.

    Examples
    --------
    >>> str(series_flag("final", False)), str(series_flag("isProvisional", True))
    ('partial', 'partial')
    """
    text = spaced(key, _IS)
    if _WHOLE.fullmatch(text):
        return Availability(Status.AVAILABLE if value else Status.PARTIAL)
    return Availability(Status.PARTIAL) if value and _IN_SERIES.fullmatch(text) else None


def needs_null(key: str) -> bool:
    """Whether a flag of this name counts only beside null, because a 0 may be a measurement."""
    gathered = _GATHERED.fullmatch(spaced(key, _IS_OR_WAS))
    return gathered is None or gathered[1] is not None


@lru_cache(maxsize=4096)
def flag_of_nothing(key: str, value: bool) -> Availability | None:
    """The state that a flag means in a record without numbers other than 0; None if none.

    Examples
    --------
    >>> str(flag_of_nothing("collected", False)), str(flag_of_nothing("isMasked", True))
    ('unavailable', 'unavailable (withheld)')
    """
    text = spaced(key, _IS_OR_WAS)
    if _GATHERED.fullmatch(text):
        return Availability(Status.AVAILABLE if value else Status.UNAVAILABLE)
    word = phrase(tuple(text.split())) if value and _TAKEN.fullmatch(text) else None
    return word.availability if word else None


def is_flags(key: str) -> bool:
    """Whether a key inside a record may hold the flag of its one value."""
    return {*tokens(key)} <= {"flag", "flags", "status", "footnote", "marker", "symbol"}


@lru_cache(maxsize=4096)
def may_be_row_word(key: str) -> bool:
    """Whether a word inside a record may be about its data."""
    return subject(key) > 0 or is_notice(key) or not _STATE.isdisjoint(tokens(key))


def row_word(key: str, text: str) -> Availability | None:
    """The state that a word in a record means for its data; None if it may be business.

    Examples
    --------
    >>> row_word("tier", "underpowered").cause, row_word("status", "failed")
    (<Cause.INSUFFICIENT_SAMPLE: 'insufficient_sample'>, None)
    """
    parts = set(tokens(key))
    word = phrase(tokens(text)) if len(text) <= 60 else None
    if word is None:
        return None
    about = (
        (subject(key) == STATED and parts & _DATA)
        or (parts & _GRADE and word.canonical == "insufficient_sample")
        or (word.strength == PLAIN and (parts <= _STATE or subject(key) > 0 or is_notice(key)))
    )
    return word.availability if about else None


@lru_cache(maxsize=4096)
def is_absence(key: str) -> bool:
    """Whether a key holds the reason for an absence that it names itself: ``nullReason``.

    Examples
    --------
    >>> is_absence("dataAbsentReason"), is_absence("statusReason")
    (True, False)
    """
    return is_reason(key) and not _ABSENT.isdisjoint(tokens(key))


@lru_cache(maxsize=4096)
def suffix(key: str) -> tuple[str, str] | None:
    """Split a key that is about another field: that field's name and what is stated.

    Examples
    --------
    >>> suffix("sentimentScoreReason"), suffix("has_revenue"), suffix("reason")
    (('sentimentscore', 'reason'), ('revenue', 'available'), None)
    """
    name, _, note = _SEPARATOR.sub("\0", key, count=1).partition("\0")
    if note and name:
        kind = next((k for n in (2, 1) if (k := _ending(tokens(note)[-n:]))), None)
        return (fold(name), kind) if kind else None
    parts = tokens(key)
    if len(parts) > 1 and parts[0] == "has":
        return fold(parts[1:]), "available"
    parts = parts[1:] if parts[:1] == ("is",) else parts
    for length in (2, 1):
        kind = _ending(parts[-length:]) if len(parts) > length else None
        if kind is not None:
            return fold(parts[:-length]), kind
    return None


def _ending(parts: tuple[str, ...]) -> str | None:
    """The statement that the last parts of a key make about the field that the first ones name."""
    if not parts:
        return None
    if is_reason(parts[-1]) and (len(parts) == 1 or is_absence(" ".join(parts))):
        return "reason"
    if len(parts) == 1 and _IN_PART.fullmatch(parts[0]):
        return "part"
    distinct = {*parts}
    if distinct <= _KIND | _ABOUT | _DATA and distinct & (_KIND | _ABOUT):
        return "available" if "available" in distinct else "status"
    word = phrase(parts)
    text = " ".join(parts)
    if (word and word.is_lack) or text in _HIDDEN:
        return "denial"
    return "available" if text in _READY else None
