"""Words of availability: what a word, a sentence, a code or the name of a key means.

A word is split where camelCase, snake_case, kebab-case or blanks split it, and its parts are
matched against the phrases of the lexicon. Each phrase has a strength, as everyday words such as
``pending`` are about data only where availability is the subject.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from aatoolkit._util.lexicon import (
    ends,
    fits,
    fold,
    is_whole,
    names,
    patterns,
    spaced,
    tokens,
    words,
)
from aatoolkit.availability.status import Availability, Cause, Status

WEAK, STRONG, PLAIN = 1, 2, 3
"""Words for availability keys only; for envelopes and fields too; unmistakable even in rows."""

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
    "truncated": (Status.PARTIAL, Cause.TRUNCATED),
    "filtered": (Status.PARTIAL, Cause.FILTERED),
}
"""The canonical words, each with its status and cause; every phrase means one of them."""

ABSENT = Availability(Status.UNAVAILABLE)
PARTIAL = Availability(Status.PARTIAL)
AVAILABLE = Availability(Status.AVAILABLE)
EMPTY = (Status.UNAVAILABLE, Status.NOT_APPLICABLE)

_STRENGTHS = {"weak": WEAK, "strong": STRONG, "plain": PLAIN}
_AFTER_SOURCE = ("not_connected", "not_configured", "insufficient_sample", "forbidden", "not_run")
_WORK = ("data", "report", "job", "query", "task", "dataset", "execution", "import", "sync", "run")
_NEGATION = re.compile(r"\b(no|not|never|without|nothing)( \w+)? $")
_CONTRACTED = (
    (re.compile(r"(?i)can(?:no|['’])t\b"), "can not"),
    (re.compile(r"(?i)n['’]t\b"), " not"),
    (re.compile(r"(?i)\b(?:do|does|did) not have\b"), "no"),
)
_MOST_PARTS, _LONGEST = 6, 60


@dataclass(frozen=True)
class Word:
    """A canonical word of availability, and its strength: how far it can be trusted."""

    canonical: str
    strength: int

    @property
    def availability(self) -> Availability:
        """The availability that the word means, without a reason."""
        return Availability(*WORDS[self.canonical])

    def because(self, reason: str | None) -> Availability:
        """The availability that the word means, with a reason."""
        return Availability(*WORDS[self.canonical], reason)

    @property
    def is_lack(self) -> bool:
        """Whether the word surely means a lack."""
        return self.strength >= STRONG and self.canonical != "available"


@cache
def _meanings() -> tuple[list[tuple[Word, re.Pattern[str]]], re.Pattern[str]]:
    """List the patterns of each word, and one of them all, as most texts fit none."""
    listed = [
        (Word(name, _STRENGTHS[strength or "weak"]), pattern)
        for (name, strength), pattern in patterns("state").items()
    ]
    return listed, re.compile("|".join(pattern.pattern for _, pattern in listed))


@cache
def _in_sentences() -> list[tuple[Word, re.Pattern[str]]]:
    return [
        (word, re.compile(rf"\b(?:{pattern.pattern})\b"))
        for word, pattern in _meanings()[0]
        if word.is_lack
    ]


@lru_cache(maxsize=4096)
def understand(text: str) -> Word | None:
    """The canonical word that a text means; None if it is not about availability.

    Examples
    --------
    >>> understand("GA4_NOT_CONNECTED"), understand("in_stock")
    (Word(canonical='not_connected', strength=2), None)
    """
    return phrase(tokens(text)) if len(text) <= _LONGEST else None


@lru_cache(maxsize=4096)
def phrase(parts: tuple[str, ...]) -> Word | None:
    """The canonical word that some parts of a name mean; None if they mean none."""
    left = [part for part in parts if part not in words("noise")]
    if not left or len(left) > _MOST_PARTS:
        return None
    listed, anything = _meanings()
    for start in range(min(4, len(left))):
        text = " ".join(left[start:])
        for word, pattern in listed if anything.fullmatch(text) else ():
            if (start == 0 or word.canonical in _AFTER_SOURCE) and pattern.fullmatch(text):
                return word
    if left[0] in _WORK and len(left) > 1:
        return phrase(tuple(left[1:]))
    return phrase(tuple(left[:-1])) if left[-1] == "data" and len(left) > 1 else None


def best(texts: Iterable[object], least: int = WEAK) -> Word | None:
    """The strongest word among some texts; None if none is strong enough."""
    listed = [word for text in texts if isinstance(text, str) and (word := understand(text))]
    trusted = [word for word in listed if word.strength >= least]
    return max(trusted, key=lambda word: word.strength, default=None)


@lru_cache(maxsize=1024)
def in_prose(text: str) -> Word | None:
    """The first strong word of absence in some sentences, if it is not negated; else None.

    One that names a cause goes before one that only means that something is missing. Contractions
    are written out: ``isn't`` as ``is not``.

    Examples
    --------
    >>> in_prose("Your logs aren't connected yet.").canonical, in_prose("No setup is required.")
    ('not_connected', None)
    """
    for pattern, full in _CONTRACTED:
        text = pattern.sub(full, text)
    vague: Word | None = None
    for sentence in re.split(r"[.!?;:](?:\s|$)", text):
        plain = " ".join(part for part in tokens(sentence) if part not in words("noise"))
        matches = [
            (match.start(), match[0], word)
            for word, pattern in _in_sentences()
            if (match := pattern.search(plain)) and not _NEGATION.search(plain[: match.start()])
        ]
        for _, matched, word in sorted(matches, key=lambda match: match[0]):
            if not (word.canonical in ("unavailable", "partial") or matched.endswith("measured")):
                return word
            vague = vague or word
    return vague


def sure(text: str) -> Word | None:
    """The word that a label, reason or sentence means, if it is surely about data."""
    return best([text], STRONG) or (None if understand(text) else in_prose(text))


def is_code(text: object) -> bool:
    """Whether a text is a code (``plan_required``) and not a sentence."""
    return isinstance(text, str) and re.fullmatch(r"\w[\w.-]{0,58}\w", text) is not None


def lack_of_code(text: str) -> Availability | None:
    """The state of a lack that a code surely means; None for sentences and other codes."""
    word = understand(text) if is_code(text) else None
    return word.availability if word and word.is_lack else None


def read_word(word: object, reason: object = None) -> Availability:
    """Parse a word of an answer as an availability; an unknown word is kept as the reason.

    Examples
    --------
    >>> read_word("Available").status
    <Status.AVAILABLE: 'available'>
    >>> read_word("unavailable", "not_connected").cause
    <Cause.NOT_CONNECTED: 'not_connected'>
    >>> read_word("blue moon")
    Availability(status=<Status.UNKNOWN: 'unknown'>, cause=None, reason="'blue moon'")
    """
    text = reason if isinstance(reason, str) and reason else None
    meant = understand(word) if isinstance(word, str) else None
    if meant is None:
        return Availability(Status.UNKNOWN, None, text or (None if word is None else repr(word)))
    return because(meant.availability, text)


def because(state: Availability, reason: str | None) -> Availability:
    """Add the service's words to a state; a code among them names the cause."""
    named = understand(reason) if reason is not None and is_code(reason) else None
    status, cause = state.status, state.cause
    if named and state == ABSENT and named.availability.status in EMPTY:
        status, cause = named.availability.status, named.availability.cause
    elif named and state == PARTIAL:
        cause = named.availability.cause
    return Availability(status, cause, reason)


# --- signs in place of numbers, and codes of statistics --------------------------------------

_OBSERVED = {
    **dict.fromkeys("ABDNRV", AVAILABLE),
    **dict.fromkeys("EFGIPS", PARTIAL),
    "U": Availability(Status.PARTIAL, Cause.INSUFFICIENT_SAMPLE),
    **dict.fromkeys(("H", "J", "K", "L", "O", "W", ":", "..", "…"), ABSENT),
    **dict.fromkeys("MZ", Availability(Status.NOT_APPLICABLE, Cause.NOT_SUPPORTED)),
    **dict.fromkeys("CQ*", Availability(Status.UNAVAILABLE, Cause.WITHHELD)),
}
"""The codes of CL_OBS_STATUS and of Eurostat's flags, which are the same in lower case."""

_SIGNS = {
    **dict.fromkeys(("n/a", "n.a.", "na", "#n/a"), _OBSERVED["M"]),
    **dict.fromkeys(("-", "–", "—", ":", "..", "...", "…", "nan"), ABSENT),
    **dict.fromkeys(("*", "**", "***"), _OBSERVED["Q"]),
}


def observed(code: str) -> Availability | None:
    """Return what a code of an observation's status means; None if it is not one of them.

    Examples
    --------
    >>> observed("Q").cause, observed("e").status, observed("in_stock")
    (<Cause.WITHHELD: 'withheld'>, <Status.PARTIAL: 'partial'>, None)
    """
    return _OBSERVED.get(code.strip().upper())


def instead_of_number(text: str) -> Availability | None:
    """Return what a text in place of a number means; None if it is not known.

    Examples
    --------
    >>> instead_of_number("n/a").status, instead_of_number("suppressed").cause
    (<Status.NOT_APPLICABLE: 'not_applicable'>, <Cause.WITHHELD: 'withheld'>)
    """
    word = understand(text)
    if word and (word.is_lack or word.canonical in ("forbidden", "pending")):
        return word.availability
    return _SIGNS.get(text.strip().lower())


# --- keys ------------------------------------------------------------------------------------

STATED, MILD = 2, 1
"""A key that means availability by itself; one that does with a strong word only."""

_IS = ("is",)
_FLAGGING = ("is", "are", "was", "currently", "contains", "includes")
_APART = re.compile(r"__|(?<=\w)[@.]")


@lru_cache(maxsize=8192)
def subject(key: str) -> int:
    """Rate how surely a key is about data availability: `STATED`, `MILD` or 0.

    Examples
    --------
    >>> subject("dataAvailability"), subject("engineSupport"), subject("brandCoverage")
    (2, 1, 0)
    """
    parts = {*tokens(key)} - words("idle", "field", "engine")
    graded = parts & words("kind", "grade")
    if not parts or not parts <= words("availability", "data", "kind", "grade"):
        return 0
    if parts & words("availability") or (parts & words("data") and graded):
        return STATED
    return MILD if graded else 0


def wants_word(key: str) -> bool:
    """Whether a word that is not known under a key leaves the availability unknown."""
    return subject(key) == STATED and (names(key, "availability") or names(key, "state"))


@lru_cache(maxsize=4096)
def is_word(key: str) -> bool:
    """Whether a key inside a statement holds its word."""
    return spaced(key) in words("valued") or subject(key) > 0


@lru_cache(maxsize=4096)
def flag(key: str, value: bool) -> Availability | None:
    """The state that a flag means; None if it states none, as one that denies a problem.

    Examples
    --------
    >>> str(flag("isConnected", False)), flag("isRecalculating", False)
    ('unavailable (not connected)', None)
    """
    text = spaced(key, _FLAGGING)
    for (word, _), pattern in patterns("flag").items():
        if pattern.fullmatch(text):
            return AVAILABLE if value else Availability(*WORDS[word])
    if value and fits(text, "cut"):
        return Availability(*WORDS["truncated"])
    parts = tuple(text.split())
    meant = phrase(parts) or phrase(tuple(part for part in parts if part not in words("result")))
    if not value or meant is None or meant.canonical == "available":
        return None
    return meant.availability if meant.strength >= STRONG or fits(text, "asserted") else None


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
    text = spaced(key, words("field", "engine", "idle"))
    of_engines = kind_of_entries(key) == "engine"
    if fits(text, "denies") or (text == "skipped" and of_engines):
        return ABSENT
    word = phrase(tuple(text.split()))
    if word is None or word.canonical == "available":
        return None
    return None if word.canonical == "error" and not of_engines else word.availability


def affirms(key: str, form: str = "affirms") -> bool:
    """Whether a list under a key names engines that did report: ``enginesWithData``."""
    return fits(key, form, words("field", "engine", "idle"))


@lru_cache(maxsize=4096)
def kind_of_entries(key: str) -> str | None:
    """The kind of entries that a key names: ``engine``, ``field`` or None."""
    if not {*"[]$.*"}.isdisjoint(key):
        return None
    return "engine" if names(key, "engine") else "field" if names(key, "field") else None


@lru_cache(maxsize=4096)
def series_flag(key: str, value: bool) -> Availability | None:
    """The state that a flag in a point in time means for its data; None if it is not about data.

    Examples
    --------
    >>> str(series_flag("final", False)), str(series_flag("isProvisional", True))
    ('partial', 'partial')
    """
    if fits(key, "series_whole", _IS):
        return AVAILABLE if value else PARTIAL
    return PARTIAL if value and fits(key, "series_part", _IS) else None


@lru_cache(maxsize=4096)
def flag_of_nothing(key: str, value: bool) -> Availability | None:
    """The state that a flag means in a record without numbers other than 0; None if none.

    Examples
    --------
    >>> str(flag_of_nothing("collected", False)), str(flag_of_nothing("isMasked", True))
    ('unavailable', 'unavailable (withheld)')
    """
    text = spaced(key, ("is", "was"))
    if fits(text, "gathered"):
        return AVAILABLE if value else ABSENT
    word = phrase(tuple(text.split())) if value and fits(text, "taken") else None
    return word.availability if word else None


def row_word(key: str, text: str) -> Availability | None:
    """The state that a word in a record means for its data; None if it may be business.

    Examples
    --------
    >>> row_word("tier", "underpowered").cause, row_word("status", "failed")
    (<Cause.INSUFFICIENT_SAMPLE: 'insufficient_sample'>, None)
    """
    word = understand(text)
    if word is None:
        return None
    parts = {*tokens(key)}
    about = (
        (subject(key) == STATED and names(key, "data"))
        or (names(key, "grade") and word.canonical == "insufficient_sample")
        or (
            word.strength == PLAIN
            and (parts <= words("state") or subject(key) > 0 or ends(key, "notice"))
        )
    )
    return word.availability if about else None


def is_absence(key: str) -> bool:
    """Whether a key holds the reason for an absence that it names itself: ``nullReason``.

    Examples
    --------
    >>> is_absence("dataAbsentReason"), is_absence("statusReason")
    (True, False)
    """
    return ends(key, "reason") and names(key, "absence")


@lru_cache(maxsize=8192)
def suffix(key: str) -> tuple[str, str] | None:
    """Split a key that is about another field: that field's name and what is stated.

    Examples
    --------
    >>> suffix("sentimentScoreReason"), suffix("has_revenue"), suffix("reason")
    (('sentimentscore', 'reason'), ('revenue', 'available'), None)
    """
    name, _, note = _APART.sub("\0", key, count=1).partition("\0")
    if note and name:
        kind = next((kind for n in (2, 1) if (kind := _ending(tokens(note)[-n:]))), None)
        return (fold(name), kind) if kind else None
    parts = tokens(key)
    if len(parts) > 1 and parts[0] == "has":
        return "".join(parts[1:]), "available"
    parts = parts[1:] if parts[:1] == _IS else parts
    for length in (2, 1):
        kind = _ending(parts[-length:]) if len(parts) > length else None
        if kind is not None:
            return "".join(parts[:-length]), kind
    return None


def _ending(parts: tuple[str, ...]) -> str | None:
    """The statement that the last parts of a key make about the field that the first ones name."""
    text = " ".join(parts)
    if not parts:
        return None
    if ends(text, "reason") and (len(parts) == 1 or is_absence(text)):
        return "reason"
    if fits(text, "approximate"):
        return "part"
    about = words("kind", "availability")
    if {*parts} <= about | words("data") and {*parts} & about:
        return "available" if "available" in parts else "status"
    word = phrase(parts)
    if (word and word.is_lack) or fits(text, "hidden_word"):
        return "denial"
    return "available" if fits(text, "ready_word") else None


# --- roles of keys ---------------------------------------------------------------------------


@lru_cache(maxsize=8192)
def is_echo(key: str) -> bool:
    """Whether an object repeats the question or describes the form of the answer."""
    return ends(key, "echo") or tokens(key)[:1] in (("requested",), ("applied",))


@lru_cache(maxsize=8192)
def is_process(key: str) -> bool:
    """Whether a key names the work that an answer comes from, or holds its state."""
    return bool(tokens(key)) and {*tokens(key)} <= words("process", "stage")


def is_stage(key: str) -> bool:
    """Whether a key holds the state of the work that an answer comes from: ``jobStatus``.

    Examples
    --------
    >>> is_stage("phase"), is_stage("importState"), is_stage("orderStatus")
    (True, True, False)
    """
    return is_process(key) and names(key, "stage")


@lru_cache(maxsize=8192)
def is_note(key: str) -> bool:
    """Whether a key holds the limits of an answer, in prose: any text there means ``partial``."""
    return ends(key, "limit") or (ends(key, "note") and names(key, "noted"))


def is_observation_status(key: str) -> bool:
    """Whether a key holds the status of an observation, as SDMX calls it.

    Examples
    --------
    >>> is_observation_status("OBS_STATUS"), is_observation_status("orderStatus")
    (True, False)
    """
    parts = {*tokens(key)}
    return bool(parts & {"obs", "observation"}) and bool(parts & {"status", "flag", "flags"})


@lru_cache(maxsize=8192)
def is_statement(key: str) -> bool:
    """Whether a list under a key is a statement, or notices, and no data."""
    return (
        subject(key) > 0
        or is_note(key)
        or ends(key, "notice")
        or denial(key) is not None
        or key in ("errors", "error")
    )


def name_of(record: Mapping[str, object]) -> tuple[str, str] | None:
    """The kind and name that a record of statements is about: an engine or a field."""
    for kind, concept in (("engine", "engine"), ("field", "named")):
        for key, value in record.items():
            if isinstance(value, str) and key.lower() in words(concept):
                return kind, value
    return None


def is_of_trade(text: str) -> bool:
    """Whether a text is no word of a state: of goods in stock, a number, or too long."""
    wordless = not any(part.isalpha() for part in tokens(text))
    return wordless or fits(text, "stock") or len(text) > _LONGEST


def is_size(key: str) -> bool:
    """Whether a key holds the size of a sample."""
    return is_whole(key, "size")


def size_in(record: Mapping[str, object]) -> int | None:
    """The sample size in a statement; None if it has none."""
    sizes = (v for k, v in record.items() if type(v) is int and is_whole(k, "size"))
    return next(sizes, None)


def moment_in(record: Mapping[str, object]) -> str | None:
    """The moment up to which a statement holds; None if it gives none."""
    moments = (v for k, v in record.items() if isinstance(v, str) and is_whole(k, "moment"))
    return next(moments, None)


def reason_in(record: Mapping[str, object]) -> str | None:
    """The text that gives the reason for a state, among an object's members."""
    texts = [v for k, v in record.items() if isinstance(v, str) and v and ends(k, "reason")]
    return next((text for text in texts if " " in text), texts[0] if texts else None)
