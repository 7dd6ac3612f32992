"""Guess what the texts at a path mean: which say that data are missing, and why."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

from aatoolkit._util.lexicon import (
    has_word_of,
    is_word_of,
    join_words,
    tokens,
)
from aatoolkit.availability.detect.words import (
    AVAILABILITY_BY_TERM,
    AVAILABLE,
    NO_MEANING,
    STRONG,
    StatusWord,
    find_status_word,
    find_status_word_in_sentence,
    find_status_word_of_parts,
    is_code_text,
    read_flag_availability,
    read_known_flag_availability,
)
from aatoolkit.availability.status import EMPTY, Availability, Status
from aatoolkit.profile.response_values import (
    TIMESTAMP_PATTERN,
    ResponseValue,
    Steps,
    is_in_rows,
    iter_texts,
    leads_into_gap_list,
    list_field_names,
    states_missing_data,
)
from aatoolkit.sections.availability_rule import to_rule_word

BOOLEAN_WORDS = {"true", "false"}
_MEANING_BY_COMPLETENESS = {"full": "available", "some": "partial", "none": "unavailable"}
_NOT_APPLICABLE = AVAILABILITY_BY_TERM["not_applicable"]
_PARTIAL_COUNT_PATTERN = re.compile(r"\* \w+ \*")
"""Matches a masked pair of numbers, such as ``* of *``."""
_NUMBER_IN_TEXT_PATTERN = re.compile(r"\d[\d.,:/-]*(?<![.,:])")

Glossary = Mapping[str, str]
"""Maps each code of a response to the text that explains it."""


def is_glossary(value: Any) -> bool:
    """Return whether a value is a dict from codes to sentences that explain them."""
    texts = [*value.values()] if isinstance(value, dict) else []
    are_texts = bool(texts) and all(isinstance(text, str) for text in texts)
    return are_texts and " " in "".join(texts) and " " not in "".join(value)


def find_glossary(response_values: list[ResponseValue], glossaries: Sequence[Glossary]) -> Glossary:
    """Return the first dict that explains all codes at a path; an empty dict if there is none."""
    codes = {
        to_rule_word(single_word_value.value)
        for response_value in response_values
        for single_word_value in _split_by_word(response_value)
    } - {"null"}
    return next((glossary for glossary in glossaries if codes and codes <= glossary.keys()), {})


class WordMeanings:
    """Guesses the meaning of each text at a path, such as ``not_run``.

    It guesses from the words in the text, and from whether there are numbers next to the text.
    ``engine_dependent_word`` is a text that the response for all engines has, but that some
    response for a single engine lacks; or "". ``glossary`` maps codes to texts that explain them.
    """

    def __init__(
        self,
        path: Steps,
        response_values: list[ResponseValue],
        engine_dependent_word: str,
        glossary: Glossary,
        *,
        is_message_field: bool,
        is_count: bool,
    ) -> None:
        self._glossary = glossary
        field_names = list_field_names(path)
        self._key = field_names[-1]
        self._is_in_rows = is_in_rows(path)
        self._is_about_data = self._is_in_rows or any(
            has_word_of(key, "place", "source", "about_data") for key in field_names
        )
        self._is_list = any(
            isinstance(response_value.value, list) for response_value in response_values
        )
        has_gap_name = leads_into_gap_list(path) or any(
            has_word_of(key, "place_lack") for key in field_names
        )
        texts = [
            text for response_value in response_values for text in iter_texts(response_value.value)
        ]
        status_words = [find_status_word(text) or _find_standard_word(text) for text in texts]
        terms = {word and word.term for word in status_words}
        has_available_word = "available" in terms
        self._is_support_table = terms <= {
            "available",
            "unavailable",
            "not_applicable",
        } and any(read_known_flag_availability(False, text) == _NOT_APPLICABLE for text in texts)
        self._may_end = any(is_word_of(text, "done") for text in texts)
        ongoing_texts = {text for text in texts if has_word_of(text, "ongoing")}
        # `running` is no passing state if it can be `paused`, or be `running_with_errors`.
        is_ongoing_permanent = len(ongoing_texts) > 1 or any(
            has_word_of(text, "paused") for text in texts
        )
        self._permanent_text = (
            min(sorted(ongoing_texts), key=len, default="") if is_ongoing_permanent else ""
        )
        self._is_message_field, self._is_count = is_message_field, is_count
        self._names_row_kind = (
            self._is_in_rows and not is_message_field and has_word_of(self._key, "class")
        )
        self._means_missing = is_message_field or (
            (self._is_list or has_gap_name) and not has_available_word
        )
        self._may_be_note = not has_gap_name
        self._has_numbers_flags_by_word: dict[str, list[bool | None]] = defaultdict(list)
        self._words_by_engine: dict[str, set[str]] = defaultdict(set)
        self._inactive_flags_by_word: dict[str, list[bool]] = defaultdict(list)
        single_word_values = [*chain.from_iterable(map(_split_by_word, response_values))]
        complete_words = set()  # of projects of which each engine ran
        for (
            value,
            has_number,
            is_measured_by_engine,
            inactive_engines,
            engine,
        ) in single_word_values:
            word = to_rule_word(value)
            complete_words |= {word} if is_measured_by_engine and not inactive_engines else set()
            self._has_numbers_flags_by_word[word].append(has_number)
            self._inactive_flags_by_word[word].append(engine in inactive_engines)
            if engine not in inactive_engines and (
                not is_measured_by_engine or True in is_measured_by_engine.values()
            ):
                self._words_by_engine[engine].add(word)
        self._are_engines_known = all(
            response_value.is_measured_by_engine for response_value in single_word_values
        )
        available_words = [
            word
            for word, has_numbers_flags in self._has_numbers_flags_by_word.items()
            if False not in has_numbers_flags
            and word.count(" ") < 3
            and word != engine_dependent_word
            if not states_missing_data(glossary.get(word, word))
            if len(self._has_numbers_flags_by_word) > 1 and not self._means_missing
        ]
        self._available_word = max(
            available_words,
            key=lambda word: (
                word not in BOOLEAN_WORDS and find_status_word(word) is not None,
                word in complete_words,
                True in self._has_numbers_flags_by_word[word],
                len(self._has_numbers_flags_by_word[word]),
            ),
            default="",
        )

    def guess_meanings(self) -> dict[str, str]:
        """Return a dict from each text at the path to its probable meaning, such as ``not_run``."""
        meaning_by_text = {
            text: meaning
            for text in sorted(self._has_numbers_flags_by_word)
            if (meaning := self._guess_meaning(text)) is not None
        }
        if [*meaning_by_text] == ["false"] and read_flag_availability(self._key, True) == AVAILABLE:
            meaning_by_text["true"] = "available"
        if [*meaning_by_text] == ["0"]:
            meaning_by_text["*"] = "partial"
        are_all_incomplete = {*meaning_by_text.values()} == {"partial", "not_applicable"}
        is_unknown_flag = not (
            BOOLEAN_WORDS.isdisjoint(meaning_by_text) or has_word_of(self._key, "place")
        )
        is_meaning_doubtful = is_unknown_flag or "not_applicable" in meaning_by_text.values()
        if are_all_incomplete or (is_meaning_doubtful and {*self._words_by_engine} == {""}):
            # That something applies, or a flag of unknown name, does not say that it was measured.
            return {
                text: NO_MEANING
                if meaning == "available"
                or (
                    meaning == "partial"
                    and (text in BOOLEAN_WORDS or find_status_word(text) is None)
                )
                else meaning
                for text, meaning in meaning_by_text.items()
            }
        return meaning_by_text

    def _guess_meaning(self, text: str) -> str | None:
        """Return the probable meaning of one text at the path, such as ``not_run``.

        Return None for ``null`` if its presence says nothing about the data.
        """
        has_numbers_flags = {*self._has_numbers_flags_by_word[text]}
        if text.endswith("UNSPECIFIED") or (text in ("", "NONE") and True in has_numbers_flags):
            return NO_MEANING  # how Protocol Buffers write that nothing is said
        if has_word_of(self._key, "waiting") and text in ("0", "*"):
            return "partial" if text == "*" else "available"
        if self._is_count and text in _MEANING_BY_COMPLETENESS:
            return _MEANING_BY_COMPLETENESS[text]
        is_flag = text in BOOLEAN_WORDS
        means_missing = self._means_missing
        key_tokens = tokens(self._key)
        text_tokens = tokens(text)
        explanation = self._glossary.get(text, text)
        if text_tokens[: len(key_tokens)] == key_tokens:  # as `KIND_NONE` under `kind`
            explanation = self._glossary.get(text, "_".join(text_tokens[len(key_tokens) :]))
        status_word = find_status_word(text)
        if (
            status_word is None or status_word.term != "available"
        ):  # a glossary knows better what is missing
            status_word = (
                find_status_word(explanation) or _find_standard_word(explanation) or status_word
            )
        engines_with_text = [
            name for name, words in self._words_by_engine.items() if name and text in words
        ]
        if (
            status_word
            and self._is_support_table
            and status_word.term in ("available", "unavailable")
        ):
            # As `none` beside `supported`: what an engine can show may not be measured.
            return NO_MEANING if status_word.term == "available" else "not_applicable"
        is_with_and_without_numbers = {False, True} <= has_numbers_flags
        if (
            is_flag
            and (flag_availability := read_flag_availability(self._key, text == "true")) is not None
        ):
            # What an engine can show may not be measured.
            is_support = read_flag_availability(self._key, False) == _NOT_APPLICABLE
            return (
                NO_MEANING
                if text == "true" and is_support and not {*self._words_by_engine} <= {""}
                else _find_term_of_availability(flag_availability)
            )
        if (
            text == "false"
            and (flag_availability := read_flag_availability(self._key, True)) is not None
        ):
            # False under `isPartial` says that all is there, under `empty` only that something is.
            return "available" if flag_availability.status == Status.PARTIAL else NO_MEANING
        if "{all}" in text and not states_missing_data(text):
            counts_data = has_word_of(text, "days", "engine", "ran")
            is_whole = counts_data and not _PARTIAL_COUNT_PATTERN.search(text)
            return "available" if is_whole else NO_MEANING
        is_negative_key = not self._may_be_note or has_word_of(self._key, "negation")
        if text == "true" and is_with_and_without_numbers and not is_negative_key:
            return NO_MEANING  # what an engine can show may be there, or not
        if text == "true" and len(self._has_numbers_flags_by_word) == 1 and not is_negative_key:
            return "available" if self._is_about_data else NO_MEANING
        if means_missing and " " in text and not engines_with_text:
            is_method_note = self._may_be_note and status_word is None and "{engine}" not in text
            if (is_method_note and not has_word_of(text, "negation")) or (
                is_with_and_without_numbers and self._are_engines_known
            ):
                return NO_MEANING  # a sentence about the method, or there whatever was measured
        if status_word is None and self._names_row_kind and {*self._words_by_engine} <= {""}:
            return "not_applicable" if has_numbers_flags == {False} else NO_MEANING
        means_available = status_word is not None and status_word.term == "available"
        if means_available and self._is_message_field and not self._may_be_note:
            return "partial"  # `buffer_full` in a list of what was lost
        if means_available and text.endswith("ing") and self._may_end:
            return "partial"  # `measuring`, where it may be `finished`
        if not engines_with_text and (
            is_word_of(text, "success") or (means_available and self._is_message_field)
        ):
            return NO_MEANING  # a task that succeeded may have read a part
        if (
            status_word
            and not is_flag
            and not (means_missing and not engines_with_text and means_available)
        ):
            has_numbers_beside = (
                True in has_numbers_flags and status_word.availability.status in EMPTY
            )
            if has_numbers_beside and text == self._permanent_text:
                return "available"
            # What does not apply to an engine is about all of its numbers.
            is_about_engine = engines_with_text and status_word.term == "not_applicable"
            # A vague word for all of the response, in which there are always numbers.
            is_vague_word = status_word.strength < STRONG or status_word.term == "unavailable"
            is_vague_for_all_data = is_vague_word and not (
                engines_with_text or is_with_and_without_numbers or self._is_count
            )
            means_partial = (
                has_numbers_beside
                and not is_about_engine
                and (means_missing or " " in text or self._is_in_rows or is_vague_for_all_data)
            )
            return "partial" if means_partial else status_word.term
        if has_numbers_flags == {False}:
            if all(self._inactive_flags_by_word[text]):
                return "not_run"
            # If several engines that ran have only this word, it does not apply to such engines.
            is_only_word = all(self._words_by_engine[name] == {text} for name in engines_with_text)
            does_not_apply = is_only_word and len(engines_with_text) > 1 and not self._is_list
            return (
                "not_applicable"
                if does_not_apply
                else _find_term_of_availability(read_known_flag_availability(False, self._key))
            )
        if text == "null":  # a reason that is not there denies nothing
            return "available" if has_numbers_flags == {True} else None
        if text == self._available_word:
            return "available" if self._is_about_data or engines_with_text else NO_MEANING
        # A kind of rows that lack nothing.
        may_be_row_kind = (
            self._is_in_rows
            and not is_with_and_without_numbers
            and not has_word_of(self._key, "place")
        )
        is_sole_word = len(self._has_numbers_flags_by_word) == 1
        # With numbers in one response and without in another, or without a contrast to other words;
        # a sentence that names no lack tells what was measured.
        is_sentence = text.count(" ") > 3
        lacks_contrast = (
            text != "false"
            if is_with_and_without_numbers
            else is_sole_word or is_flag or is_sentence
        )
        is_meaningless = may_be_row_kind or (lacks_contrast and not self._is_in_rows)
        return (
            NO_MEANING
            if is_meaningless
            and not (engines_with_text or means_missing or states_missing_data(text))
            else "partial"
        )


def _find_term_of_availability(availability: Availability) -> str:
    """Return the standard term, such as ``not_run``, that stands for an availability."""
    return next(
        term
        for term, term_availability in AVAILABILITY_BY_TERM.items()
        if term_availability == availability
    )


def _find_standard_word(text: str) -> StatusWord | None:
    """Return the standard word for the phrase on missing data in a sentence or code, or None.

    Examples
    --------
    >>> _find_standard_word("prompts_not_run").term
    'not_run'
    """
    if not is_code_text(text):
        return find_status_word_in_sentence(text)
    last_tokens = () if has_word_of(text, "negation") else tokens(text)[-1:]
    return find_status_word_in_sentence(join_words(text)) or find_status_word_of_parts(last_tokens)


def _split_by_word(response_value: ResponseValue) -> Iterator[ResponseValue]:
    """Yield a `ResponseValue` for each item if the value is a list or dict, else for the value.

    In texts, the name of an engine (AI assistant) is replaced by ``{engine}``, and numbers by
    ``*``.
    """
    value, has_number, is_measured_by_engine, inactive_engines, engine = response_value
    if isinstance(value, dict):
        number_values = [
            word_or_number
            for word_or_number in value.values()
            if type(word_or_number) in (int, float)
        ]
        max_number = max(number_values, default=0)
        for name, word_or_number in value.items():
            is_timestamp = isinstance(word_or_number, str) and TIMESTAMP_PATTERN.fullmatch(
                word_or_number
            )
            may_be_share = (
                word_or_number in number_values
                and max_number in (1.0, 100, 10_000)
                and 0 < word_or_number < max_number
            )
            word_or_number = "*" if is_timestamp or may_be_share else word_or_number
            yield ResponseValue(
                word_or_number,
                is_measured_by_engine.get(name),
                is_measured_by_engine,
                inactive_engines,
                name,
            )
    for item in value if isinstance(value, list) else () if isinstance(value, dict) else [value]:
        word_text = item
        name = ""
        if isinstance(item, str) and (isinstance(value, list) or " " in item):
            engines_by_length = sorted(is_measured_by_engine, key=len, reverse=True)
            name = next(
                (
                    engine_name
                    for engine_name in engines_by_length
                    if engine_name and compile_engine_name_pattern(engine_name).search(item)
                ),
                "",
            )
            word_text = to_rule_word(
                compile_engine_name_pattern(name).sub("{engine}", item, count=1) if name else item
            )
            may_have_numbers = " " in word_text or TIMESTAMP_PATTERN.match(word_text)
            word_text = (
                _NUMBER_IN_TEXT_PATTERN.sub("*", word_text) if may_have_numbers else word_text
            )
        yield ResponseValue(
            word_text,
            is_measured_by_engine.get(name, has_number),
            is_measured_by_engine,
            inactive_engines,
            name or engine,
        )


@lru_cache
def compile_engine_name_pattern(engine: str) -> re.Pattern[str]:
    """Return a regular expression for the name of an engine (AI assistant) as a whole word.

    It ignores case.
    """
    return re.compile(rf"\b{re.escape(engine)}\b", re.IGNORECASE)
