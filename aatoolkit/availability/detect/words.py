"""What the texts, keys and objects of a response say about the availability of its data.

For example, the text "GA4_NOT_CONNECTED" means that data are ``unavailable``, with the cause
``not_connected``. Such a cause or status is called a standard term.
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
    join_words,
    load_patterns,
    matches_form,
    meaning_by_word,
    read_text_table,
    tokens,
    words_of,
)
from aatoolkit.availability.status import EMPTY, Availability, Cause, Status
from aatoolkit.jsontree.coerce import CURRENCY_SIGNS

WEAK, STRONG, PLAIN = 1, 2, 3
"""How surely a text states the availability of data. A WEAK text counts only under a key about
availability, such as ``status``; a STRONG text counts everywhere except in the rows of a table; a
PLAIN text counts everywhere.
"""

# One row per standard term: the term, its status, its cause, "yes" if the term may follow a name
# in one text, and the HTTP statuses that mean the term.
_TERM_ROWS = read_text_table(Path(__file__).with_name("states.txt"))

STATUS_AND_CAUSE_BY_TERM: Mapping[str, tuple[Status, Cause | None]] = {
    term: (Status(status), None if cause == "-" else Cause(cause))
    for term, status, cause, *_ in _TERM_ROWS
}
"""Maps each standard term, such as ``not_connected``, to its status and cause."""

NO_MEANING = "nothing"
"""A user's rule gives this meaning to a text that says nothing about availability."""

AVAILABILITY_BY_TERM = {
    term: Availability(*meaning) for term, meaning in STATUS_AND_CAUSE_BY_TERM.items()
}
UNAVAILABLE, PARTIAL, AVAILABLE = (
    AVAILABILITY_BY_TERM["unavailable"],
    AVAILABILITY_BY_TERM["partial"],
    AVAILABILITY_BY_TERM["available"],
)
AVAILABILITY_BY_HTTP_STATUS: Mapping[int, Availability] = {
    int(code): AVAILABILITY_BY_TERM[term]
    for term, *_, codes in _TERM_ROWS
    for code in codes.strip("-").split()
}
"""Maps HTTP statuses, such as 204, to the availability that they mean."""

# The availability if the service reports an error: ``unavailable``, with the cause ``failed``.
FAILED = AVAILABILITY_BY_TERM["error"]

_STRENGTH_BY_NAME = {"weak": WEAK, "strong": STRONG, "plain": PLAIN}
# The terms that may follow a name in one text, as in ``GA4_NOT_CONNECTED``.
_SUFFIX_TERMS = {term for term, _, _, after_source, _ in _TERM_ROWS if after_source == "yes"}
_NEGATION_PATTERN = re.compile(r"\b(no|not|never|without|nothing)( \w+)? $")
_DENIAL_PATTERN = re.compile(r"(?i)\b(not|no|never|none|without|cannot)\b|n't\b")
_CONTRACTION_REPLACEMENTS = (
    (re.compile(r"(?i)can(?:no|['’])t\b"), "can not"),
    (re.compile(r"(?i)n['’]t\b"), " not"),
    (re.compile(r"(?i)\b(?:do|does|did) not have\b"), "no"),
)
# The maximum length, in characters, of a text that may mean a standard term.
_MAX_TERM_LENGTH = 60

# A day written as a number, such as 20261118, or a Unix time; Go writes no time as year 1.
_DAY_PATTERN = re.compile(r"20\d\d[01]\d[0-3]\d|1[0-9]{12}|1[5-9]\d{8}|-62135596800")
_CURRENCY_SIGN = f"[{CURRENCY_SIGNS}]"
_NUMBER_PATTERN = re.compile(
    rf"(?:[A-Z]{{3}}\s|{_CURRENCY_SIGN}\s?)?-?\d[\d\s.,]*\s?(?:%|[A-Z]{{3}}|{_CURRENCY_SIGN})?"
)


@dataclass(frozen=True)
class StatusWord:
    """What a text says on the availability of data: a standard term, and how surely it is meant.

    Attributes
    ----------
    term : str
        The standard term, such as ``partial`` or ``not_connected``.
    strength : int
        How surely the text means the term: `WEAK`, `STRONG` or `PLAIN`.
    """

    term: str
    strength: int

    @property
    def availability(self) -> Availability:
        """The `Availability` (status and cause) that the term stands for, without a reason."""
        return AVAILABILITY_BY_TERM[self.term]

    def with_reason(self, reason: str | None) -> Availability:
        """Return the `Availability` that the term stands for, with ``reason`` as its reason."""
        return replace(AVAILABILITY_BY_TERM[self.term], reason=reason)

    @property
    def means_missing(self) -> bool:
        """Whether the text with this meaning surely says that some data are missing."""
        return self.strength >= STRONG and self.term != "available"


# --- words and sentences ---------------------------------------------------------------------


@cache
def _compile_phrase_patterns() -> list[tuple[StatusWord, re.Pattern[str]]]:
    """Return tuples of a `StatusWord` (a standard term) and a pattern of phrases that mean it."""
    return [
        (StatusWord(term, _STRENGTH_BY_NAME[strength or "weak"]), pattern)
        for (term, strength), pattern in load_patterns("state").items()
    ]


@cache
def _compile_sentence_patterns() -> list[tuple[StatusWord, re.Pattern[str]]]:
    """Return tuples of a `StatusWord` for missing data and a pattern for it in a sentence."""
    return [
        (status_word, re.compile(rf"\b(?:{pattern.pattern})\b"))
        for status_word, pattern in _compile_phrase_patterns()
        if status_word.means_missing
    ]


@lru_cache(maxsize=4096)
def find_status_word(text: str) -> StatusWord | None:
    """Find the standard term for data availability that a short text means; None if none.

    Examples
    --------
    >>> find_status_word("GA4_NOT_CONNECTED"), find_status_word("in_stock")
    (StatusWord(term='not_connected', strength=2), None)
    """
    return find_status_word_of_parts(tokens(text)) if len(text) <= _MAX_TERM_LENGTH else None


@lru_cache(maxsize=4096)
def find_status_word_of_parts(name_parts: tuple[str, ...]) -> StatusWord | None:
    """Find the standard term for data availability that the words of a name mean; None if none.

    ``name_parts`` are the words of the name in lower case, such as ``("not", "connected")``.
    """
    significant_parts = [
        name_part for name_part in name_parts if name_part not in words_of("noise")
    ]
    if not significant_parts:
        return None
    for phrase_start in range(min(4, len(significant_parts))):
        phrase = " ".join(significant_parts[phrase_start:])
        for status_word, pattern in _compile_phrase_patterns():
            if (phrase_start == 0 or status_word.term in _SUFFIX_TERMS) and pattern.fullmatch(
                phrase
            ):
                return status_word
    type_word_positions = [
        position
        for position, name_part in enumerate(name_parts[:-1])
        if name_part in words_of("kind")
    ]
    if type_word_positions:  # what follows the type of an enum, as in ``COLUMN_STATE_POPULATED``
        return find_status_word_of_parts(name_parts[type_word_positions[-1] + 1 :])
    parts_without_data = (
        " ".join(significant_parts).removeprefix("data ").removesuffix(" data").split()
    )
    return (
        find_status_word_of_parts(tuple(parts_without_data))
        if len(parts_without_data) < len(significant_parts)
        else None
    )


def find_strongest_status_word(
    texts: Iterable[object], min_strength: int = WEAK
) -> StatusWord | None:
    """Return the standard term for availability that any of the texts means, or None.

    If several texts mean a term, the term that is meant most surely is returned.
    ``min_strength`` is the least strength that counts: `WEAK`, `STRONG` or `PLAIN`.
    """
    status_words = [
        status_word
        for text in texts
        if isinstance(text, str)
        and (status_word := find_status_word(text))
        and status_word.strength >= min_strength
    ]
    return max(status_words, key=lambda status_word: status_word.strength, default=None)


@lru_cache(maxsize=1024)
def find_status_word_in_sentence(text: str) -> StatusWord | None:
    """Return the first standard term for missing data that a sentence contains, or None.

    Examples
    --------
    >>> find_status_word_in_sentence("Your logs aren't connected yet.").term
    'not_connected'
    >>> find_status_word_in_sentence("No setup is required.")
    """
    for pattern, replacement in _CONTRACTION_REPLACEMENTS:
        text = pattern.sub(replacement, text)
    first_vague_word: StatusWord | None = None
    for sentence in re.split(r"[.!?;:](?:\s|$)", text):
        spaced_words = " ".join(word for word in tokens(sentence) if word not in words_of("noise"))
        phrase_matches = [
            (match.start(), match[0], status_word)
            for status_word, pattern in _compile_sentence_patterns()
            if (match := pattern.search(spaced_words))
            and not _NEGATION_PATTERN.search(spaced_words[: match.start()])
        ]
        for _, phrase, status_word in sorted(
            phrase_matches, key=lambda phrase_match: phrase_match[0]
        ):
            if not (status_word.term in ("unavailable", "partial") or phrase.endswith("measured")):
                return status_word
            first_vague_word = first_vague_word or status_word
    return first_vague_word


def find_strong_status_word(texts: Iterable[object]) -> StatusWord | None:
    """Return the standard term for availability that one of the texts surely means, or None.

    A standard term is a cause or status, such as ``not_run``. Codes such as ``plan_required`` are
    searched before sentences.
    """
    status_texts = [text for text in texts if isinstance(text, str)]
    sentences = (text for text in status_texts if find_status_word(text) is None)
    return find_strongest_status_word(status_texts, STRONG) or next(
        filter(None, map(find_status_word_in_sentence, sentences)), None
    )


def find_absence_status_word(texts: Iterable[object]) -> StatusWord | None:
    """Return the standard term for missing data that one of the texts surely means, or None.

    A standard term is a cause or status, such as ``not_run``. Return None also if the term is
    ``available``.
    """
    status_word = find_strong_status_word(texts)
    return status_word if status_word and status_word.means_missing else None


def is_code_text(text: object) -> bool:
    """Return whether a text is a code such as ``plan_required``, without spaces."""
    return isinstance(text, str) and re.fullmatch(r"\w[\w.-]{0,58}\w", text) is not None


def read_absence_code(text: str) -> Availability | None:
    """Return the `Availability` (a status and cause) that a code such as ``plan_required`` means.

    Return None if the text is no code, or does not mean missing data.
    """
    status_word = find_status_word(text) if is_code_text(text) else None
    return status_word.availability if status_word and status_word.means_missing else None


def read_status_text(status_text: object, reason: object = None) -> Availability:
    """Return the availability that a status text means; ``unknown`` if the text is not known.

    ``reason`` is the explanation, or the code of a cause, that belongs to the status.

    Examples
    --------
    >>> read_status_text("Available").status
    <Status.AVAILABLE: 'available'>
    >>> read_status_text("unavailable", "not_connected").cause
    <Cause.NOT_CONNECTED: 'not_connected'>
    >>> read_status_text("blue moon")
    Availability(status=<Status.UNKNOWN: 'unknown'>, cause=None, reason="'blue moon'")
    """
    reason_text = reason if isinstance(reason, str) and reason else None
    status_word = find_status_word(status_text) if isinstance(status_text, str) else None
    if status_word is None:
        unknown_text = None if status_text is None else repr(status_text)
        return Availability(Status.UNKNOWN, None, reason_text or unknown_text)
    return replace_reason(status_word.availability, reason_text)


def replace_reason(availability: Availability, reason: str | None) -> Availability:
    """Return a copy of an `Availability` (a status, cause and reason) with another reason.

    If the availability has no cause, and the reason is a code such as ``not_connected``, the copy
    has this cause.
    """
    status_word = find_status_word(reason) if reason is not None and is_code_text(reason) else None
    if status_word and availability == UNAVAILABLE and status_word.availability.status in EMPTY:
        availability = status_word.availability
    elif status_word and availability == PARTIAL:
        availability = replace(availability, cause=status_word.availability.cause)
    return replace(availability, reason=reason)


def read_observation_code(code: str) -> Availability | None:
    """Return the availability that a code of official statistics means, or None.

    In official statistics, such a code stands beside a number; "e" means "estimated".

    Examples
    --------
    >>> [str(read_observation_code(code)) for code in ("Q", "e", "in_stock")]
    ['unavailable (withheld)', 'partial', 'None']
    """
    term = meaning_by_word("observation").get(code.strip().lower())
    return None if term is None else AVAILABILITY_BY_TERM[term]


# --- keys ------------------------------------------------------------------------------------

STATED, MILD = 2, 1
"""How surely a key is about the availability of data: STATED (surely) or MILD (perhaps)."""

_FLAG_PREFIXES = ("is", "contains")
_KEY_SEPARATOR_PATTERN = re.compile(r"__|(?<=\w)[@.]")


@lru_cache(maxsize=8192)
def score_availability_key(key: str) -> int:
    """Return how surely a key is about the availability of data.

    The result is 2 (`STATED`, surely), 1 (`MILD`, perhaps) or 0 (no).

    Examples
    --------
    >>> keys = ("dataAvailability", "engineSupport", "brandCoverage")
    >>> [*map(score_availability_key, keys)]
    [2, 1, 0]
    """
    significant_key_words = {*tokens(key)} - words_of("idle", "field", "engine")
    status_words = significant_key_words & words_of("kind", "grade")
    if not significant_key_words or not significant_key_words <= words_of(
        "availability", "data", "kind", "grade"
    ):
        return 0
    if significant_key_words & words_of("availability") or (
        significant_key_words & words_of("data") and status_words
    ):
        return STATED
    return MILD if status_words else 0


@lru_cache(maxsize=4096)
def is_status_key(key: str) -> bool:
    """Return whether a key, such as ``status``, may hold the status of data."""
    return join_words(key) in words_of("valued") or score_availability_key(key) > 0


@lru_cache(maxsize=4096)
def read_flag_availability(key: str, value: bool) -> Availability | None:
    """Return the availability that a boolean under a key such as ``isConnected`` means, or None.

    Examples
    --------
    >>> str(read_flag_availability("isConnected", False))
    'unavailable (not connected)'
    >>> read_flag_availability("isRecalculating", False)
    """
    flag_text = join_words(key, _FLAG_PREFIXES)
    for (term, _), pattern in load_patterns("flag").items():
        if pattern.fullmatch(flag_text):
            return AVAILABLE if value else AVAILABILITY_BY_TERM[term]
    if value and matches_form(flag_text, "cut"):
        return AVAILABILITY_BY_TERM["truncated"]
    status_word = find_status_word_of_parts(tuple(flag_text.split()))
    if not value or status_word is None or status_word.term == "available":
        return None
    return (
        status_word.availability
        if status_word.strength >= STRONG or matches_form(flag_text, "asserted")
        else None
    )


@lru_cache(maxsize=4096)
def read_day_flag_availability(key: str, value: bool) -> Availability | None:
    """Return the availability of a day's data that a boolean such as ``final`` means, or None.

    Examples
    --------
    >>> str(read_day_flag_availability("final", False))
    'partial'
    >>> str(read_day_flag_availability("isProvisional", True))
    'partial'
    """
    if matches_form(key, "series_whole", ("is",)):
        return AVAILABLE if value else PARTIAL
    return PARTIAL if value and matches_form(key, "series_part", ("is",)) else None


@lru_cache(maxsize=4096)
def find_availability_of_listed(key: str) -> Availability | None:
    """Return the availability of the data that are listed under a key such as ``missingFields``.

    The list has the names of fields or of engines (AI assistants), which have this availability.
    Return None for a key that is not about missing data.
    """
    key_text = join_words(key, words_of("field", "engine", "idle"))
    if matches_form(key_text, "denies"):
        return UNAVAILABLE
    status_word = find_status_word_of_parts(tuple(key_text.split()))
    return (
        status_word.availability
        if status_word and status_word.term not in ("available", "error")
        else None
    )


@lru_cache(maxsize=4096)
def find_kind_of_listed_names(key: str) -> str | None:
    """Return ``"field"`` for a key such as ``missingFields``, ``"engine"`` for ``idleEngines``.

    The value of such a key may list names of fields or of engines (AI assistants). Return None for
    a key that names neither.
    """
    return (
        "engine" if has_word_of(key, "engine") else "field" if has_word_of(key, "field") else None
    )


@lru_cache(maxsize=8192)
def split_key(key: str) -> tuple[str, str]:
    """Split a key such as ``revenueReason`` into the name of a field and the kind of statement.

    The kind is what the key says about the field: ``reason``, ``status``, ``available``, ``part``
    (it is incomplete) or ``denial`` (it is missing). Name and kind are empty for a key such as
    ``reason``, which names no other field. The name is in lower case, without separators.

    Examples
    --------
    >>> split_key("sentimentScoreReason"), split_key("has_revenue"), split_key("reason")
    (('sentimentscore', 'reason'), ('revenue', 'available'), ('', ''))
    """
    field_name, _, key_ending = _KEY_SEPARATOR_PATTERN.sub("\0", key, count=1).partition("\0")
    key_words = tokens(key_ending if key_ending and field_name else key)
    if key_ending and field_name:
        statement_kind = _read_key_ending(key_words[-2:]) or _read_key_ending(key_words[-1:])
        return (fold(field_name), statement_kind) if statement_kind else ("", "")
    if len(key_words) > 1 and key_words[0] == "has":
        return "".join(key_words[1:]), "available"
    key_words = key_words[1:] if key_words[:1] == ("is",) else key_words
    for ending_word_count in (2, 1):
        statement_kind = (
            _read_key_ending(key_words[-ending_word_count:])
            if len(key_words) > ending_word_count
            else None
        )
        if statement_kind is not None:
            return "".join(key_words[:-ending_word_count]), statement_kind
    return "", ""


def _read_key_ending(ending_words: tuple[str, ...]) -> str | None:
    """Return the kind of statement (see `split_key`) that the last words of a key mean, or None.

    For example, ``("reason",)`` are the last words of ``revenueReason``; the kind is ``reason``.
    """
    ending_text = " ".join(ending_words)
    if ends_with_word_of(ending_text, "reason") and (
        len(ending_words) == 1 or matches_form(ending_text, "absence")
    ):
        return "reason"
    if matches_form(ending_text, "approximate"):
        return "part"
    availability_words = words_of("kind", "availability")
    if {*ending_words} <= availability_words | words_of("data") and {
        *ending_words
    } & availability_words:
        return "available" if "available" in ending_words else "status"
    status_word = find_status_word_of_parts(ending_words)
    if (status_word and status_word.means_missing) or matches_form(ending_text, "hidden_word"):
        return "denial"
    return "available" if matches_form(ending_text, "ready_word") else None


def echoes_request(key: str) -> bool:
    """Return whether a key, such as ``filters``, holds a copy of the request's parameters.

    The result is also True for a key that holds a description of the response's structure.
    """
    return matches_form(key, "echo")


@lru_cache(maxsize=8192)
def is_metadata_key(key: str) -> bool:
    """Return whether a number under a key describes the response itself, such as its page size.

    Return False for a measured number.

    Examples
    --------
    >>> [is_metadata_key(key) for key in ("totalCount", "pageLimit", "citationCount")]
    [True, True, False]
    """
    return (
        has_word_of(key, "form")
        or is_word_of(key, "listed")
        or ends_with_word_of(key, "form_end")
        or not words_of("asks").isdisjoint(tokens(key)[:1])
    )


def has_numbers(
    value: Any, ignores_key: Callable[[str], bool] = is_metadata_key, key: str = ""
) -> bool:
    """Return whether a JSON value is a number other than 0, or contains such a number.

    ``ignores_key`` is a function that takes a key, and returns True if numbers under this key do
    not count. ``key`` is the key under which the response has ``value``.

    Examples
    --------
    >>> has_numbers({"revenue": "₹5.00"}), has_numbers({"revenue": "₹0.00"})
    (True, False)
    """
    if isinstance(value, dict):
        keys_and_items = ((name, item) for name, item in value.items() if not echoes_request(name))
        return any(has_numbers(item, ignores_key, name) for name, item in keys_and_items)
    if isinstance(value, list):
        return any(has_numbers(item, ignores_key, key) for item in value)
    number_text = "" if isinstance(value, bool) else str(value).strip()
    is_number = (
        _NUMBER_PATTERN.fullmatch(number_text)
        and re.search("[1-9]", number_text)
        and not _DAY_PATTERN.fullmatch(number_text)
    )
    return bool(is_number) and not ignores_key(key)


def find_engine_or_field(record: Mapping[str, object]) -> tuple[str, str] | None:
    """Return what an object is about, such as ``("engine", "gemini")``, or None.

    The first item of the tuple is ``engine`` or ``field``, the second its name.
    """
    for name_kind, word_group in (("engine", "engine"), ("field", "named")):
        for key, value in record.items():
            is_label_key = has_word_of(key, word_group) and {*tokens(key)} <= words_of(
                word_group, "labelling"
            )
            if isinstance(value, str) and (is_word_of(key, word_group) or is_label_key):
                return name_kind, value
    return None


def cannot_be_status_text(text: str) -> bool:
    """Return whether a text cannot be a status of data, for example because it is too long."""
    has_no_letters = not any(token.isalpha() for token in tokens(text))
    return has_no_letters or matches_form(text, "stock") or len(text) > _MAX_TERM_LENGTH


def is_sample_size_key(key: str) -> bool:
    """Return whether a key is for the size of a sample, such as ``sampleSize``."""
    return is_word_of(key, "size")


# --- objects ---------------------------------------------------------------------------------


def find_reason(record: Mapping[str, object]) -> str | None:
    """Return the explanation in an object: its text under a key such as ``reason``, or None."""
    reason_texts = [
        reason_text
        for key, reason_text in record.items()
        if isinstance(reason_text, str) and reason_text and ends_with_word_of(key, "reason")
    ]
    return next(
        (reason_text for reason_text in reason_texts if " " in reason_text),
        reason_texts[0] if reason_texts else None,
    )


def read_object_availability(
    record: Mapping[str, Any], min_strength: int = WEAK
) -> Availability | None:
    """Return the availability that a text or boolean in a JSON object states, or None.

    ``min_strength`` is how surely the text must mean the availability: `WEAK`, `STRONG` or `PLAIN`.
    """
    reason = find_reason(record)
    has_limit_flag = any(value and has_word_of(key, "limit") for key, value in record.items())
    for key, value in record.items():
        if not isinstance(value, str):
            continue
        status_word = (
            find_status_word(value) if is_status_key(key) or is_word_of(key, "one_value") else None
        )
        if status_word and status_word.strength >= min_strength:
            stated_availability = (
                PARTIAL
                if has_limit_flag and status_word.term == "available"
                else status_word.availability
            )
            return (
                stated_availability
                if reason == value
                else add_stated_reason(stated_availability, record)
            )
    flag_availabilities = [
        availability
        for key, value in record.items()
        if isinstance(value, bool) and (availability := read_flag_availability(key, value))
    ]
    if flag_availabilities and has_limit_flag:
        flag_availabilities.append(PARTIAL)
    incomplete_availabilities = sorted(
        (
            availability
            for availability in flag_availabilities
            if availability.status != Status.AVAILABLE
        ),
        key=lambda availability: availability.status != Status.NOT_APPLICABLE,
    )
    return (
        add_stated_reason((incomplete_availabilities or flag_availabilities)[0], record)
        if flag_availabilities
        else None
    )


def read_item_availability(value: Any, key: str) -> Availability | None:
    """Return the availability that a value in a dict such as ``{"gemini": "not_run"}`` means.

    The dict has one value for each engine (AI assistant) or field. ``key`` is the key under which
    the response has the dict. Return None if the value says nothing about availability.
    """
    if isinstance(value, bool):
        return read_known_flag_availability(value, key)
    if isinstance(value, str):
        status_word = find_status_word(value)
        return status_word.availability if status_word else None
    if isinstance(value, dict):
        return read_object_availability(value)
    return None


def read_known_flag_availability(value: bool, key: str) -> Availability:
    """Return the `Availability` (a status and cause) that a boolean means under a key.

    True means ``available``. What False means depends on the key: ``not_connected`` under the key
    ``connected``.
    """
    if value:
        return AVAILABLE
    terms_and_patterns = ((term, pattern) for (term, _), pattern in load_patterns("stem").items())
    return AVAILABILITY_BY_TERM[
        next(term for term, pattern in terms_and_patterns if pattern.match(join_words(key)))
    ]


def add_stated_reason(availability: Availability, record: Mapping[str, Any]) -> Availability:
    """Return an availability with the reason that the object ``record`` states.

    A `Cause` is added if the text of the reason names a known one. If the status is ``available``
    but the reason says that data are missing, the status that the reason means is returned.

    Examples
    --------
    >>> add_stated_reason(UNAVAILABLE, {"reason": "Search Console is not connected."}).cause
    <Cause.NOT_CONNECTED: 'not_connected'>
    >>> add_stated_reason(UNAVAILABLE, {"message": "Not enough data"}).cause
    """
    reason = find_reason(record)
    if availability.status == Status.AVAILABLE and reason and " " in reason:
        status_word = find_status_word_in_sentence(reason)
        if status_word and status_word.term != "unavailable":
            return status_word.with_reason(reason)
        unknown_availability = Availability(Status.UNKNOWN, None, reason)
        return (
            unknown_availability
            if _DENIAL_PATTERN.search(reason)
            else replace_reason(availability, reason)
        )
    availability = replace_reason(availability, reason)
    for key, cause_text in (
        record.items()
        if availability.cause is None and availability.status == "unavailable"
        else ()
    ):
        if isinstance(cause_text, str) and ends_with_word_of(key, "cause"):
            status_word = find_status_word_in_sentence(cause_text)
            if status_word and status_word.availability.status in EMPTY:
                return status_word.with_reason(availability.reason)
    return availability


def make_partial_if_measured(
    availability: Availability, nonzero_flags: Collection[bool]
) -> Availability:
    """Change the status of an `Availability` from ``unavailable`` to ``partial`` if numbers exist.

    That is done only for the cause ``insufficient_sample``, and for ``pending`` if there is a
    number other than 0. ``nonzero_flags`` is a set of booleans: it has True if there is a number
    other than 0, and False if there is a 0.
    """
    # A 0 of pending data may not be measured yet.
    is_small_sample = availability.cause == Cause.INSUFFICIENT_SAMPLE and len(nonzero_flags) > 0
    is_partly_measured = availability.cause == Cause.PENDING and any(nonzero_flags)
    is_partial = availability.status == Status.UNAVAILABLE and (
        is_small_sample or is_partly_measured
    )
    return replace(availability, status=Status.PARTIAL) if is_partial else availability


def find_nonzero_flags(record: Mapping[str, Any]) -> set[bool]:
    """Return a set of booleans: for each number among the values of an object, whether it is not 0.

    The set has True if there is a number other than 0, and False if there is a 0. Sample sizes do
    not count.
    """
    return {
        item != 0
        for key, item in record.items()
        if type(item) in (int, float) and not is_sample_size_key(key)
    }


def read_sibling_availability(
    statement_kind: str, explaining_value: Any, sibling_value: Any
) -> Availability | None:
    """Return the availability that a field states for another field beside it, or None.

    For example, ``revenueReason`` states the availability of ``revenue``.

    Parameters
    ----------
    statement_kind : str
        What the field beside it states, such as ``reason``; see `split_key`.
    explaining_value : object
        The value of the field that states the availability, such as ``revenueReason``.
    sibling_value : object
        The value of the field whose availability is stated, such as ``revenue``.
    """
    if isinstance(explaining_value, dict):
        availability = read_object_availability(explaining_value)
        reason = find_reason(explaining_value)
        is_reason_for_null = (
            availability is None and statement_kind == "reason" and sibling_value is None and reason
        )
        return replace(UNAVAILABLE, reason=reason) if is_reason_for_null else availability
    if isinstance(explaining_value, bool):
        if statement_kind in ("part", "denial"):
            is_consistent = explaining_value and (sibling_value is None) == (
                statement_kind == "denial"
            )
            return (UNAVAILABLE if sibling_value is None else PARTIAL) if is_consistent else None
        return AVAILABLE if explaining_value else UNAVAILABLE
    status_word = find_status_word(explaining_value)
    if status_word and (status_word.strength >= STRONG or sibling_value is None):
        nonzero_flags = set() if sibling_value is None else {sibling_value != 0}
        return make_partial_if_measured(
            status_word.with_reason(explaining_value if " " in explaining_value.strip() else None),
            nonzero_flags,
        )
    if statement_kind == "reason" and sibling_value is None and explaining_value.strip():
        return add_stated_reason(UNAVAILABLE, {"reason": explaining_value})
    return None


def read_availability_beside_value(record: Mapping[str, Any]) -> Availability | None:
    """Return the availability that an object states for the value in it, or None.

    An example of such an object is ``{"value": null, "status": "not_connected"}``.
    """
    value_key = next(
        (value_key for value_key in ("value", "amount", "current") if value_key in record), None
    )
    if value_key is None:
        return None
    other_fields = {key: item for key, item in record.items() if key != value_key}
    availability = read_object_availability(other_fields)
    reason = find_reason(other_fields)
    if availability is None and record[value_key] is None and reason:
        availability = replace_reason(UNAVAILABLE, reason)
    return availability and make_partial_if_measured(
        availability, set() if record[value_key] is None else {record[value_key] != 0}
    )


# --- parts and wholes ------------------------------------------------------------------------


def may_report_lost_data(key: str) -> bool:
    """Return whether a key may say that some data are missing, such as ``suppressedRows``."""
    return matches_form(key, "loss") or matches_form(key, "since")


def read_loss_availability(key: str, value: Any) -> Availability | None:
    """Return ``partial`` if a key and its value say that some data are missing, else None.

    The key must name units in which data are counted, such as rows or days. Pages do not count: a
    list of missing pages of a website may be a result. A value of 0 says that nothing is missing.

    Examples
    --------
    >>> str(read_loss_availability("suppressedRows", 3))
    'partial'
    >>> str(read_loss_availability("first_incomplete_date", "2026-11-18"))
    'partial'
    >>> read_loss_availability("missingPages", ["/pricing"])
    >>> read_loss_availability("suppressedRows", 0)
    """
    lost_count = value if type(value) in (int, float) else 0
    has_lost_items = lost_count > 0 or (isinstance(value, list) and len(value) > 0)
    has_lost_data = has_lost_items and matches_form(key, "loss")
    has_first_day = isinstance(value, str) and value != "" and matches_form(key, "since")
    return PARTIAL if has_lost_data or has_first_day else None
