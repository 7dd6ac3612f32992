"""What a key says by itself: that it is about data, and what a flag under it means."""

from __future__ import annotations

import re
from functools import lru_cache

from aatoolkit.availability import Availability, Cause, Status
from aatoolkit.availability.detect.phrases import PLAIN, STRONG
from aatoolkit.availability.detect.roles import ENGINES, FIELDS, fold, is_notice, is_reason
from aatoolkit.availability.detect.vocabulary import phrase, tokens

STATED, MILD = 2, 1
"""A key that says availability by itself; one that does with a strong word only."""

_ABOUT = {"availability", "available", "avail", "unavailability", "completeness", "readiness"}
_DATA = {"data", "dataset", "measurement", "collection", "sample", "sampling", "ingestion"}
_KIND = {
    *("status", "state", "coverage", "health", "level", "support", "supported"),
    "freshness",
}
_GRADE = {
    *("tier", "confidence", "quality", "reliability", "evidence", "significance", "basis"),
    "accuracy",
}
_IDLE = {"x", "is", "are", "meta", "info", "by", "per", "current", "overall", "report"}
_WORDS = {"code", "grade", "kind", "result", "type"}

_DENIED: tuple[tuple[re.Pattern[str], Availability], ...] = tuple(
    (re.compile(text), Availability(status, cause))
    for text, status, cause in (
        ("(has )?(any )?data|data available|available|measured", Status.UNAVAILABLE, None),
        ("collected|captured|has (data|results)", Status.UNAVAILABLE, None),
        (r"(\w+ )?(connected|linked|integrated)", Status.UNAVAILABLE, Cause.NOT_CONNECTED),
        (r"(\w+ )?(configured|installed|set up)", Status.UNAVAILABLE, Cause.NOT_CONFIGURED),
        (
            r"supported|applicable|exposed|exposes( \w+)*",
            Status.NOT_APPLICABLE,
            Cause.NOT_SUPPORTED,
        ),
        ("(data )?(ready|computed|calculated|processed)", Status.UNAVAILABLE, Cause.PENDING),
        ("(data )?complete|(data|results|figures) (final|finali[sz]ed)", Status.PARTIAL, None),
        (
            "(job|query|task|run|import|sync|crawl|analysis|export|report|processing|collection"
            "|backfill|scan|snapshot|calculation) (complete|completed|done|finished|ready)",
            Status.UNAVAILABLE,
            Cause.PENDING,
        ),
        (r"(has )?(enough|sufficient) \w+", Status.UNAVAILABLE, Cause.INSUFFICIENT_SAMPLE),
        (
            "entitled|licensed|permitted|granted|allowed"
            "|((feature|module|section|product) )?enabled",
            Status.UNAVAILABLE,
            Cause.WITHHELD,
        ),
    )
)
"""What a flag denies by being false."""

_ASSERTED = re.compile(
    "stale|suppressed|restricted|locked|limited|pending|queued|processing|missing|empty"
    "|approximate|provisional|preliminary"
)
"""Everyday words that are flags of an envelope when they are true."""

_RESULTS = {"result", "results", "row", "rows", "response", "report", "output", "answer"}
_CUT = re.compile("(is )?timed out|terminated early|(hit|reached) (row )?limit|limit reached")
"""Flags of an answer that ended before it was whole."""

_IN_ROWS = re.compile(
    r"(has |no )?(any |enough |sufficient |insufficient |low )?(data|sample)( available| missing)?"
    r"|(in|too )?(measured|underpowered|calibrating|thin|withheld|recalculating)"
    r"|not measured|low volume|data (un)?available|unmeasured"
)
_IN_SERIES = re.compile("partial|incomplete|estimated|provisional|preliminary|sampled")
_WHOLE = re.compile("complete|final|finali[sz]ed")
_IN_PART = re.compile("approx(imate)?|estimated?|sampled|provisional|preliminary|partial")
_GATHERED = re.compile("collected|ingested|(observed|captured|recorded|reported)")
_TAKEN = re.compile("masked|suppressed|redacted|hidden|missing|absent")


@lru_cache(maxsize=4096)
def subject(key: str) -> int:
    """How far a key is about data availability: `STATED`, `MILD` or 0.

    Examples
    --------
    >>> subject("dataAvailability"), subject("engineSupport"), subject("brandCoverage")
    (2, 1, 0)
    """
    parts = set(tokens(key)) - _IDLE - FIELDS - ENGINES
    if not parts or not parts <= _ABOUT | _DATA | _KIND | _GRADE:
        return 0
    if parts & _ABOUT or (parts & _DATA and parts & (_KIND | _GRADE)):
        return STATED
    return MILD if parts & (_KIND | _GRADE) else 0


def wants_word(key: str) -> bool:
    """Whether a word that is not known under a key leaves the availability unknown."""
    parts = {*tokens(key)}
    return subject(key) == STATED and bool(parts & (_ABOUT | {"status", "state"}))


def is_ability(key: str) -> bool:
    """Whether a key is about what somebody can do: ``capabilities``, ``featureSupport``."""
    return bool({*tokens(key)} & {"capability", "capabilities", "support", "supports", "exposes"})


def is_word(key: str) -> bool:
    """Whether a key inside a statement holds its word."""
    parts = tokens(key)
    return (len(parts) == 1 and parts[0] in _WORDS) or subject(key) > 0


@lru_cache(maxsize=4096)
def flag(key: str, value: bool) -> Availability | None:
    """What a flag says; a denial that does not hold says nothing.

    Examples
    --------
    >>> str(flag("isConnected", False)), flag("isRecalculating", False)
    ('unavailable (not connected)', None)
    """
    idle = ("is", "are", "was", "currently", "contains", "includes")
    parts = tuple(part for part in tokens(key) if part not in idle)
    text = " ".join(parts)
    for pattern, denied in _DENIED:
        if pattern.fullmatch(text):
            return Availability(Status.AVAILABLE) if value else denied
    word = phrase(parts)
    bare = tuple(part for part in parts if part not in _RESULTS)
    word = word or (phrase(bare) if bare != parts else None)
    if value and _CUT.fullmatch(text):
        return Availability(Status.PARTIAL, Cause.TRUNCATED)
    if not value or word is None or word.canonical == "available":
        return None
    return word.availability if word.strength >= STRONG or _ASSERTED.fullmatch(text) else None


def is_soft(key: str) -> bool:
    """Whether a flag is an everyday word, of numbers as of other things: ``provisional``."""
    parts = tuple(part for part in tokens(key) if part != "is")
    word = phrase(parts)
    return word is not None and word.strength < STRONG


def is_claim(key: str) -> bool:
    """Whether a flag says by being true that there are data; others only say that there are not."""
    return bool({*tokens(key)} & {"available", "data", "measured"})


def denial(key: str) -> Availability | None:
    """What a list or map under a key denies its entries: ``unavailable``, ``missingFields`` …"""
    parts = tuple(part for part in tokens(key) if part not in FIELDS | ENGINES | _IDLE)
    if parts in (("excluded",), ("omitted",), ("nulls",), ("null",), ("nulled",)):
        return Availability(Status.UNAVAILABLE)
    engines = bool({*tokens(key)} & ENGINES)
    if parts == ("skipped",) and engines:
        return Availability(Status.UNAVAILABLE)
    word = phrase(parts)
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
    text = " ".join(part for part in tokens(key) if part not in FIELDS | ENGINES | _IDLE)
    return (_PRESENT if alone else _CHOSEN).fullmatch(text) is not None


def is_row_flag(key: str) -> bool:
    """Whether a flag inside a record is about its data and cannot be business."""
    return _IN_ROWS.fullmatch(" ".join(part for part in tokens(key) if part != "is")) is not None


def series_flag(key: str, value: bool) -> Availability | None:
    """What a flag inside a record says of its data where the record is a point in time.

    Examples
    --------
    >>> str(series_flag("final", False)), str(series_flag("isProvisional", True))
    ('partial', 'partial')
    """
    text = " ".join(part for part in tokens(key) if part != "is")
    if _WHOLE.fullmatch(text):
        return Availability(Status.AVAILABLE if value else Status.PARTIAL)
    return Availability(Status.PARTIAL) if value and _IN_SERIES.fullmatch(text) else None


def needs_null(key: str) -> bool:
    """Whether such a flag is believed beside null only, as a 0 could well be measured."""
    text = " ".join(part for part in tokens(key) if part not in ("is", "was"))
    gathered = _GATHERED.fullmatch(text)
    return gathered is None or gathered[1] is not None


def flag_of_nothing(key: str, value: bool) -> Availability | None:
    """What a flag says inside a record that holds no number but 0, if it is about data.

    Examples
    --------
    >>> str(flag_of_nothing("collected", False)), str(flag_of_nothing("isMasked", True))
    ('unavailable', 'unavailable (withheld)')
    """
    parts = tuple(part for part in tokens(key) if part not in ("is", "was"))
    if _GATHERED.fullmatch(" ".join(parts)):
        return Availability(Status.AVAILABLE if value else Status.UNAVAILABLE)
    word = phrase(parts) if value and _TAKEN.fullmatch(" ".join(parts)) else None
    return word.availability if word else None


def is_flags(key: str) -> bool:
    """Whether a key inside a record may hold the flag of its one value."""
    return {*tokens(key)} <= {"flag", "flags", "status", "footnote", "marker", "symbol"}


def may_be_row_word(key: str) -> bool:
    """Whether a word inside a record may be about its data."""
    return subject(key) > 0 or is_notice(key) or bool({*tokens(key)} & {"status", "state"})


def row_word(key: str, text: str) -> Availability | None:
    """What a word inside a record says of its data, if it cannot be business.

    Examples
    --------
    >>> row_word("tier", "underpowered").cause, row_word("status", "failed")
    (<Cause.INSUFFICIENT_SAMPLE: 'insufficient_sample'>, None)
    """
    parts = set(tokens(key))
    word = phrase(tokens(text)) if len(text) <= 60 else None
    if word is None:
        return None
    if subject(key) == STATED and parts & _DATA:
        return word.availability
    if parts & _GRADE and word.canonical == "insufficient_sample":
        return word.availability
    spoken = parts <= {"status", "state"} or subject(key) > 0 or is_notice(key)
    return word.availability if word.strength == PLAIN and spoken else None


def is_absence(key: str) -> bool:
    """Whether a key holds the reason for an absence that it names itself: ``nullReason``.

    Examples
    --------
    >>> is_absence("dataAbsentReason"), is_absence("statusReason")
    (True, False)
    """
    parts = {*tokens(key)}
    named = parts & {"null", "missing", "absent", "absence", "empty", "na", "nodata", "unavailable"}
    return bool(named) and is_reason(key)


def suffix(key: str) -> tuple[str, str] | None:
    """A key that speaks of another: that other's name and what is said of it.

    Examples
    --------
    >>> suffix("sentimentScoreReason"), suffix("has_revenue"), suffix("reason")
    (('sentimentscore', 'reason'), ('revenue', 'available'), None)
    """
    name, _, note = re.sub(r"__|(?<=\w)[@.]", "\0", key, count=1).partition("\0")
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
    """What the last parts of a key say of what the first ones name."""
    if not parts:
        return None
    if is_reason(parts[-1]) and (len(parts) == 1 or is_absence(" ".join(parts))):
        return "reason"
    if len(parts) == 1 and _IN_PART.fullmatch(parts[0]):
        return "part"
    said = {*parts}
    if said <= _KIND | _ABOUT | _DATA and said & (_KIND | _ABOUT):
        return "available" if "available" in said else "status"
    word = phrase(parts)
    if word and word.strength >= STRONG and word.canonical != "available":
        return "denial"
    if parts in (("missing",), ("hidden",), ("masked",), ("suppressed",), ("redacted",)):
        return "denial"
    known = " ".join(parts) in ("supported", "connected", "measured", "has data", "ready")
    return "available" if known else None
