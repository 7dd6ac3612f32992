"""The meaning of texts, keys and objects of a response for the availability of its data.

For example, "GA4_NOT_CONNECTED" means ``unavailable`` with the cause ``not_connected``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from aatoolkit._util.lexicon import (
    ends_with_word_of,
    fold,
    has_word_of,
    is_word_of,
    matches_form,
    meaning_by_word,
    patterns,
    read_text_table,
    spaced,
    tokens,
    words_of,
)
from aatoolkit.availability.status import EMPTY, Availability, Cause, Status
from aatoolkit.jsontree.coerce import CURRENCY_SIGNS

WEAK, STRONG, PLAIN = 1, 2, 3
"""How surely a word means an availability: WEAK only under a key about availability, STRONG also
outside of rows, PLAIN everywhere.
"""

_STATES = read_text_table(Path(__file__).with_name("states.txt"))
WORDS: Mapping[str, tuple[Status, Cause | None]] = {
    word: (Status(status), None if cause == "-" else Cause(cause))
    for word, status, cause, *_ in _STATES
}
"""Maps each standard term, such as ``not_connected``, to its status and cause."""

SILENT = "nothing"
"""The meaning that a rule gives to words that say nothing about availability."""

STATES = {word: Availability(*meaning) for word, meaning in WORDS.items()}
ABSENT, PARTIAL, AVAILABLE = STATES["unavailable"], STATES["partial"], STATES["available"]
STATUSES: Mapping[int, Availability] = {
    int(code): STATES[word] for word, *_, codes in _STATES for code in codes.strip("-").split()
}
"""Maps HTTP statuses, such as 204, to an availability."""

FAILED = STATES["error"]

_STRENGTHS = {"weak": WEAK, "strong": STRONG, "plain": PLAIN}
_AFTER_SOURCE = {word for word, _, _, after_source, _ in _STATES if after_source == "yes"}
_NEGATION = re.compile(r"\b(no|not|never|without|nothing)( \w+)? $")
_DENIAL = re.compile(r"(?i)\b(not|no|never|none|without|cannot)\b|n't\b")
_CONTRACTED = (
    (re.compile(r"(?i)can(?:no|['’])t\b"), "can not"),
    (re.compile(r"(?i)n['’]t\b"), " not"),
    (re.compile(r"(?i)\b(?:do|does|did) not have\b"), "no"),
)
_MAX_LENGTH = 60
_DAY = re.compile(r"20\d\d[01]\d[0-3]\d|1[0-9]{12}|1[5-9]\d{8}")
_SIGN = f"[{CURRENCY_SIGNS}]"
_NUMBER = re.compile(rf"(?:[A-Z]{{3}}\s|{_SIGN}\s?)?-?\d[\d\s.,]*\s?(?:%|[A-Z]{{3}}|{_SIGN})?")


@dataclass(frozen=True)
class Word:
    """A standard term for the availability of data, and how surely a text means it.

    Attributes
    ----------
    canonical : str
        The term, such as ``partial`` or ``not_connected``.
    strength : int
        How surely the text means the term; larger is surer.
    """

    canonical: str
    strength: int

    @property
    def availability(self) -> Availability:
        """The `Availability` (status and cause) that the term stands for, without a reason."""
        return STATES[self.canonical]

    def because(self, reason: str | None) -> Availability:
        """Return the `Availability` that the term stands for, with ``reason`` as its reason."""
        return replace(STATES[self.canonical], reason=reason)

    @property
    def is_lack(self) -> bool:
        """Whether the text surely means that some data are missing."""
        return self.strength >= STRONG and self.canonical != "available"


# --- words and sentences ---------------------------------------------------------------------


@cache
def _compile_words() -> list[tuple[Word, re.Pattern[str]]]:
    """Return tuples of a standard term and a regular expression for the phrases that mean it."""
    return [
        (Word(name, _STRENGTHS[strength or "weak"]), pattern)
        for (name, strength), pattern in patterns("state").items()
    ]


@cache
def _compile_sentence_patterns() -> list[tuple[Word, re.Pattern[str]]]:
    return [
        (word, re.compile(rf"\b(?:{pattern.pattern})\b"))
        for word, pattern in _compile_words()
        if word.is_lack
    ]


@lru_cache(maxsize=4096)
def find_word(text: str) -> Word | None:
    """Return the standard term for missing data that a short text means, or None.

    Examples
    --------
    >>> find_word("GA4_NOT_CONNECTED"), find_word("in_stock")
    (Word(canonical='not_connected', strength=2), None)
    """
    return find_word_of_parts(tokens(text)) if len(text) <= _MAX_LENGTH else None


@lru_cache(maxsize=4096)
def find_word_of_parts(parts: tuple[str, ...]) -> Word | None:
    """Return the standard term for missing data that some words mean together, or None.

    The words are the parts of one name, such as ``("not", "connected")``.
    """
    meaningful_parts = [part for part in parts if part not in words_of("noise")]
    if not meaningful_parts:
        return None
    for start in range(min(4, len(meaningful_parts))):
        text = " ".join(meaningful_parts[start:])
        for word, pattern in _compile_words():
            if (start == 0 or word.canonical in _AFTER_SOURCE) and pattern.fullmatch(text):
                return word
    kinds = [index for index, part in enumerate(parts[:-1]) if part in words_of("kind")]
    if kinds:  # what follows the type of an enum, as in ``COLUMN_STATE_POPULATED``
        return find_word_of_parts(parts[kinds[-1] + 1 :])
    inner_parts = " ".join(meaningful_parts).removeprefix("data ").removesuffix(" data").split()
    return (
        find_word_of_parts(tuple(inner_parts)) if len(inner_parts) < len(meaningful_parts) else None
    )


def find_strongest_word(texts: Iterable[object], min_strength: int = WEAK) -> Word | None:
    """Return the standard term that any of the texts means, or None.

    If several texts have a meaning, the surest one is returned.
    """
    strong_words = [
        word
        for text in texts
        if isinstance(text, str) and (word := find_word(text)) and word.strength >= min_strength
    ]
    return max(strong_words, key=lambda word: word.strength, default=None)


@lru_cache(maxsize=1024)
def find_word_in_text(text: str) -> Word | None:
    """Return the first standard term for missing data that a sentence contains, or None.

    Examples
    --------
    >>> find_word_in_text("Your logs aren't connected yet.").canonical
    'not_connected'
    >>> find_word_in_text("No setup is required.")
    """
    for pattern, full_form in _CONTRACTED:
        text = pattern.sub(full_form, text)
    vague_word: Word | None = None
    for sentence in re.split(r"[.!?;:](?:\s|$)", text):
        spaced_words = " ".join(part for part in tokens(sentence) if part not in words_of("noise"))
        matches = [
            (match.start(), match[0], word)
            for word, pattern in _compile_sentence_patterns()
            if (match := pattern.search(spaced_words))
            and not _NEGATION.search(spaced_words[: match.start()])
        ]
        for _, phrase, word in sorted(matches, key=lambda match: match[0]):
            if not (word.canonical in ("unavailable", "partial") or phrase.endswith("measured")):
                return word
            vague_word = vague_word or word
    return vague_word


def find_strong_word(texts: Iterable[object]) -> Word | None:
    """Return the standard term that one of the texts surely means, or None.

    Codes such as ``plan_required`` are searched before sentences.
    """
    codes = [text for text in texts if isinstance(text, str)]
    other_texts = (text for text in codes if find_word(text) is None)
    return find_strongest_word(codes, STRONG) or next(
        filter(None, map(find_word_in_text, other_texts)), None
    )


def find_absence_word(texts: Iterable[object]) -> Word | None:
    """Return the term, such as ``not_run``, of the first text about missing data, or None."""
    word = find_strong_word(texts)
    return word if word and word.is_lack else None


def is_code(text: object) -> bool:
    """Return whether a text is a code such as ``plan_required``, without spaces."""
    return isinstance(text, str) and re.fullmatch(r"\w[\w.-]{0,58}\w", text) is not None


def read_absence_code(text: str) -> Availability | None:
    """Return the `Availability` (a status and cause) that a code such as ``plan_required`` means.

    Return None if the text is no code, or does not mean missing data.
    """
    word = find_word(text) if is_code(text) else None
    return word.availability if word and word.is_lack else None


def read_word(word: object, reason: object = None) -> Availability:
    """Return the availability that a text means; its status is ``unknown`` for an unknown text.

    Examples
    --------
    >>> read_word("Available").status
    <Status.AVAILABLE: 'available'>
    >>> read_word("unavailable", "not_connected").cause
    <Cause.NOT_CONNECTED: 'not_connected'>
    >>> read_word("blue moon")
    Availability(status=<Status.UNKNOWN: 'unknown'>, cause=None, reason="'blue moon'")
    """
    reason_text = reason if isinstance(reason, str) and reason else None
    known_word = find_word(word) if isinstance(word, str) else None
    if known_word is None:
        return Availability(
            Status.UNKNOWN, None, reason_text or (None if word is None else repr(word))
        )
    return with_reason(known_word.availability, reason_text)


def with_reason(state: Availability, reason: str | None) -> Availability:
    """Return a copy of an `Availability` (a status, cause and reason) with another reason.

    If it has no cause, and the reason is a code such as ``not_connected``, it also gets this cause.
    """
    word = find_word(reason) if reason is not None and is_code(reason) else None
    if word and state == ABSENT and word.availability.status in EMPTY:
        state = word.availability
    elif word and state == PARTIAL:
        state = replace(state, cause=word.availability.cause)
    return replace(state, reason=reason)


def state_of_observation_code(code: str) -> Availability | None:
    """Return the availability that an observation code of official statistics means, or None.

    Examples
    --------
    >>> [str(state_of_observation_code(code)) for code in ("Q", "e", "in_stock")]
    ['unavailable (withheld)', 'partial', 'None']
    """
    meaning = meaning_by_word("observation").get(code.strip().lower())
    return None if meaning is None else STATES[meaning]


# --- keys ------------------------------------------------------------------------------------

STATED, MILD = 2, 1
"""How surely a key is about availability: STATED (surely) or MILD (perhaps)."""

_FLAG_PREFIXES = ("is", "contains")
_SEPARATOR = re.compile(r"__|(?<=\w)[@.]")


@lru_cache(maxsize=8192)
def rate_key(key: str) -> int:
    """Return how surely a key is about the availability of data.

    The result is 2 (`STATED`, surely), 1 (`MILD`, perhaps) or 0 (no).

    Examples
    --------
    >>> rate_key("dataAvailability"), rate_key("engineSupport"), rate_key("brandCoverage")
    (2, 1, 0)
    """
    parts = {*tokens(key)} - words_of("idle", "field", "engine")
    kind_parts = parts & words_of("kind", "grade")
    if not parts or not parts <= words_of("availability", "data", "kind", "grade"):
        return 0
    if parts & words_of("availability") or (parts & words_of("data") and kind_parts):
        return STATED
    return MILD if kind_parts else 0


@lru_cache(maxsize=4096)
def is_state_key(key: str) -> bool:
    """Return whether a key, such as ``status``, may hold the status of data."""
    return spaced(key) in words_of("valued") or rate_key(key) > 0


@lru_cache(maxsize=4096)
def state_of_named_flag(key: str, value: bool) -> Availability | None:
    """Return the availability that a boolean under a key such as ``isConnected`` means, or None.

    Examples
    --------
    >>> str(state_of_named_flag("isConnected", False))
    'unavailable (not connected)'
    >>> state_of_named_flag("isRecalculating", False)
    """
    text = spaced(key, _FLAG_PREFIXES)
    for (name, _), pattern in patterns("flag").items():
        if pattern.fullmatch(text):
            return AVAILABLE if value else STATES[name]
    if value and matches_form(text, "cut"):
        return STATES["truncated"]
    word = find_word_of_parts(tuple(text.split()))
    if not value or word is None or word.canonical == "available":
        return None
    return word.availability if word.strength >= STRONG or matches_form(text, "asserted") else None


@lru_cache(maxsize=4096)
def state_of_series_flag(key: str, value: bool) -> Availability | None:
    """Return the availability of a day's data from a boolean such as ``final``, or None.

    Examples
    --------
    >>> str(state_of_series_flag("final", False)), str(state_of_series_flag("isProvisional", True))
    ('partial', 'partial')
    """
    if matches_form(key, "series_whole", ("is",)):
        return AVAILABLE if value else PARTIAL
    return PARTIAL if value and matches_form(key, "series_part", ("is",)) else None


@lru_cache(maxsize=4096)
def state_of_names_under(key: str) -> Availability | None:
    """Return the availability of whatever is listed under a key such as ``missingFields``.

    The list has names of fields or engines (AI assistants). Return None for a key that is not about
    missing data.
    """
    text = spaced(key, words_of("field", "engine", "idle"))
    if matches_form(text, "denies"):
        return ABSENT
    word = find_word_of_parts(tuple(text.split()))
    return word.availability if word and word.canonical not in ("available", "error") else None


@lru_cache(maxsize=4096)
def find_entry_kind(key: str) -> str | None:
    """Return ``"engine"`` or ``"field"`` if the value of a key lists such names, else None."""
    return (
        "engine" if has_word_of(key, "engine") else "field" if has_word_of(key, "field") else None
    )


@lru_cache(maxsize=8192)
def split_key(key: str) -> tuple[str, str]:
    """Split a key such as ``revenueReason`` into the name of another field and a kind.

    The kind says what the key states about the field, such as ``reason``. Both are empty for a key
    that is not about another field.

    Examples
    --------
    >>> split_key("sentimentScoreReason"), split_key("has_revenue"), split_key("reason")
    (('sentimentscore', 'reason'), ('revenue', 'available'), ('', ''))
    """
    name, _, suffix = _SEPARATOR.sub("\0", key, count=1).partition("\0")
    parts = tokens(suffix if suffix and name else key)
    if suffix and name:
        kind = _read_key_ending(parts[-2:]) or _read_key_ending(parts[-1:])
        return (fold(name), kind) if kind else ("", "")
    if len(parts) > 1 and parts[0] == "has":
        return "".join(parts[1:]), "available"
    parts = parts[1:] if parts[:1] == ("is",) else parts
    for length in (2, 1):
        kind = _read_key_ending(parts[-length:]) if len(parts) > length else None
        if kind is not None:
            return "".join(parts[:-length]), kind
    return "", ""


def _read_key_ending(parts: tuple[str, ...]) -> str | None:
    """Return the kind that the last words of a key name, or None.

    An example is ``reason`` for the last word of ``revenueReason``.
    """
    text = " ".join(parts)
    if ends_with_word_of(text, "reason") and (len(parts) == 1 or matches_form(text, "absence")):
        return "reason"
    if matches_form(text, "approximate"):
        return "part"
    availability_words = words_of("kind", "availability")
    if {*parts} <= availability_words | words_of("data") and {*parts} & availability_words:
        return "available" if "available" in parts else "status"
    word = find_word_of_parts(parts)
    if (word and word.is_lack) or matches_form(text, "hidden_word"):
        return "denial"
    return "available" if matches_form(text, "ready_word") else None


def repeats_question(key: str) -> bool:
    """Return whether a key's value repeats the request or describes the response's structure."""
    return matches_form(key, "echo")


@lru_cache(maxsize=8192)
def is_bookkeeping(key: str) -> bool:
    """Return whether a number under a key describes the response itself, such as its page size.

    Return False for a measured number.

    Examples
    --------
    >>> is_bookkeeping("totalCount"), is_bookkeeping("pageLimit"), is_bookkeeping("citationCount")
    (True, True, False)
    """
    return (
        has_word_of(key, "form") or is_word_of(key, "listed") or ends_with_word_of(key, "form_end")
    )


def has_numbers(
    value: Any, is_ignored: Callable[[str], bool] = is_bookkeeping, key: str = ""
) -> bool:
    """Return whether a value is a measured number other than 0, or contains one.

    ``is_ignored`` is a function that takes a key, and returns whether its numbers do not count.

    Examples
    --------
    >>> has_numbers({"revenue": "₹5.00"}), has_numbers({"revenue": "₹0.00"})
    (True, False)
    """
    if isinstance(value, dict):
        items = ((name, item) for name, item in value.items() if not repeats_question(name))
        return any(has_numbers(item, is_ignored, name) for name, item in items)
    if isinstance(value, list):
        return any(has_numbers(item, is_ignored, key) for item in value)
    text = "" if isinstance(value, bool) else str(value).strip()
    is_number = _NUMBER.fullmatch(text) and re.search("[1-9]", text) and not _DAY.fullmatch(text)
    return bool(is_number) and not is_ignored(key)


def find_target(record: Mapping[str, object]) -> tuple[str, str] | None:
    """Return the engine or field of an object, such as ``("engine", "gemini")``, or None."""
    for kind, concept in (("engine", "engine"), ("field", "named")):
        for key, value in record.items():
            is_label = has_word_of(key, concept) and {*tokens(key)} <= words_of(
                concept, "labelling"
            )
            if isinstance(value, str) and (is_word_of(key, concept) or is_label):
                return kind, value
    return None


def names_no_state(text: str) -> bool:
    """Return whether a text cannot be a status, for example because it is too long."""
    has_no_letters = not any(part.isalpha() for part in tokens(text))
    return has_no_letters or matches_form(text, "stock") or len(text) > _MAX_LENGTH


def is_sample_size(key: str) -> bool:
    """Return whether a key is for the size of a sample, such as ``sampleSize``."""
    return is_word_of(key, "size")


# --- objects ---------------------------------------------------------------------------------


def find_reason(record: Mapping[str, object]) -> str | None:
    """Return the explanation in an object: its text under a key such as ``reason``, or None."""
    texts = [
        text
        for key, text in record.items()
        if isinstance(text, str) and text and ends_with_word_of(key, "reason")
    ]
    return next((text for text in texts if " " in text), texts[0] if texts else None)


def read_object_state(record: Mapping[str, Any], min_strength: int = WEAK) -> Availability | None:
    """Return the availability that a text or boolean among the values of an object states, or None.

    ``min_strength`` is how surely a text must mean it.
    """
    reason = find_reason(record)
    for name, value in record.items():
        if not isinstance(value, str):
            continue
        word = find_word(value) if is_state_key(name) or is_word_of(name, "one_value") else None
        if word and word.strength >= min_strength:
            return (
                word.availability
                if reason == value
                else with_explanation(word.availability, record)
            )
    known_states = [
        state
        for name, value in record.items()
        if isinstance(value, bool) and (state := state_of_named_flag(name, value))
    ]
    lacking_states = [state for state in known_states if state.status != Status.AVAILABLE]
    return with_explanation((lacking_states or known_states)[0], record) if known_states else None


def state_of_entry(value: Any, key: str) -> Availability | None:
    """Return the availability that a value of a dict means, such as ``"not_run"``, or None.

    The dict has one value for each engine (AI assistant) or field. ``key`` is the key of the dict.
    """
    if isinstance(value, bool):
        return state_of_flag(value, key)
    if isinstance(value, str):
        word = find_word(value)
        return word.availability if word else None
    if isinstance(value, dict):
        return read_object_state(value)
    return None


def state_of_flag(value: bool, key: str) -> Availability:
    """Return the `Availability` (a status and cause) that a boolean means under a key.

    True means ``available``. The meaning of False depends on the key, such as ``connected``.
    """
    if value:
        return AVAILABLE
    stems = ((word, stem) for (word, _), stem in patterns("stem").items())
    return STATES[next(word for word, stem in stems if stem.match(spaced(key)))]


def with_explanation(state: Availability, record: Mapping[str, Any]) -> Availability:
    """Return ``state`` with the reason that the object ``record`` gives, and its cause if known.

    Examples
    --------
    >>> with_explanation(ABSENT, {"reason": "Search Console is not connected."}).cause
    <Cause.NOT_CONNECTED: 'not_connected'>
    >>> with_explanation(ABSENT, {"message": "Not enough data"}).cause
    """
    reason = find_reason(record)
    if state.status == Status.AVAILABLE and reason and " " in reason:
        word = find_word_in_text(reason)
        if word and word.canonical != "unavailable":
            return word.because(reason)
        doubtful_state = Availability(Status.UNKNOWN, None, reason)
        return doubtful_state if _DENIAL.search(reason) else with_reason(state, reason)
    state = with_reason(state, reason)
    for key, text in (
        record.items() if state.cause is None and state.status == "unavailable" else ()
    ):
        if isinstance(text, str) and ends_with_word_of(key, "cause"):
            word = find_word_in_text(text)
            if word and word.availability.status in EMPTY:
                return word.because(state.reason)
    return state


def partial_if_measured(state: Availability, number_kinds: Collection[bool]) -> Availability:
    """Return an `Availability`, in which ``unavailable`` becomes ``partial`` if there are numbers.

    This is done only for the causes ``pending`` (if a number is not 0) and ``insufficient_sample``.
    ``number_kinds`` has True if there is a number other than 0, and False if there is a 0.
    """
    # A 0 of pending data may not be measured yet.
    is_small_sample = state.cause == Cause.INSUFFICIENT_SAMPLE and len(number_kinds) > 0
    has_begun = state.cause == Cause.PENDING and any(number_kinds)
    is_partial = state.status == Status.UNAVAILABLE and (is_small_sample or has_begun)
    return replace(state, status=Status.PARTIAL) if is_partial else state


def find_number_kinds(record: Mapping[str, Any]) -> set[bool]:
    """Return which kinds of numbers an object has, as a set.

    The set has True if there is a number other than 0, and False if there is a 0.
    """
    return {
        item != 0
        for name, item in record.items()
        if type(item) in (int, float) and not is_sample_size(name)
    }


def state_of_sibling(kind: str, value: Any, sibling_value: Any) -> Availability | None:
    """Return the availability of a field as another field states it, or None.

    For example, ``revenueReason`` states that of ``revenue``. ``kind`` is the kind of the other
    field, such as ``reason``; ``value`` is its value. ``sibling_value`` is the value of the first
    field.
    """
    if isinstance(value, dict):
        state = read_object_state(value)
        reason = find_reason(value)
        explains_null = state is None and kind == "reason" and sibling_value is None and reason
        return replace(ABSENT, reason=reason) if explains_null else state
    if isinstance(value, bool):
        if kind in ("part", "denial"):
            agrees_with_sibling = value and (sibling_value is None) == (kind == "denial")
            return (ABSENT if sibling_value is None else PARTIAL) if agrees_with_sibling else None
        return AVAILABLE if value else ABSENT
    word = find_word(value)
    if word and (word.strength >= STRONG or sibling_value is None):
        number_kinds = set() if sibling_value is None else {sibling_value != 0}
        return partial_if_measured(
            word.because(value if " " in value.strip() else None), number_kinds
        )
    if kind == "reason" and sibling_value is None and value.strip():
        return with_explanation(ABSENT, {"reason": value})
    return None


def read_state_beside_value(record: Mapping[str, Any]) -> Availability | None:
    """Return the availability that an object states for its own value, or None.

    Such an object is ``{"value": null, "status": "not_connected"}``.
    """
    value_key = next(
        (value_key for value_key in ("value", "amount", "current") if value_key in record), None
    )
    if value_key is None:
        return None
    siblings = {key: item for key, item in record.items() if key != value_key}
    state = read_object_state(siblings)
    reason = find_reason(siblings)
    if state is None and record[value_key] is None and reason:
        state = with_reason(ABSENT, reason)
    return state and partial_if_measured(
        state, set() if record[value_key] is None else {record[value_key] != 0}
    )


# --- parts and wholes ------------------------------------------------------------------------


def may_state_loss(key: str) -> bool:
    """Return whether a key may say that some data are missing, such as ``suppressedRows``."""
    text = spaced(key).removesuffix(" count")
    return matches_form(text, "loss") or matches_form(key, "since")


def state_of_loss(key: str, value: Any) -> Availability | None:
    """Return ``partial`` if a key and its value say that some data are missing, else None.

    Examples
    --------
    >>> str(state_of_loss("suppressedRows", 3))
    'partial'
    >>> str(state_of_loss("first_incomplete_date", "2026-11-18"))
    'partial'
    >>> state_of_loss("missingPages", ["/pricing"]), state_of_loss("suppressedRows", 0)
    (None, None)
    """
    number = value if type(value) in (int, float) else 0
    is_present = number > 0 or (isinstance(value, list) and len(value) > 0)
    is_lost = is_present and matches_form(spaced(key).removesuffix(" count"), "loss")
    has_begun = isinstance(value, str) and value != "" and matches_form(key, "since")
    return PARTIAL if is_lost or has_begun else None
