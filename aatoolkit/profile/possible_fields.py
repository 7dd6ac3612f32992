"""Find the paths in responses whose values may say which data are missing.

Such a path is called a possible field here. A person decides later whether its values do say that.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, filterfalse, takewhile
from typing import Any

from aatoolkit._util.lexicon import has_word_of, is_word_of
from aatoolkit.availability.detect import Signal, detect, to_json_text
from aatoolkit.availability.detect.words import (
    AVAILABILITY_BY_TERM,
    AVAILABLE,
    NO_MEANING,
    has_numbers,
    is_code_text,
    is_status_key,
    read_flag_availability,
)
from aatoolkit.availability.status import Status
from aatoolkit.jsontree.paths import Elements, Field, format_path, parse_pattern
from aatoolkit.jsontree.vectors import Vector
from aatoolkit.profile.response_values import (
    MAX_MESSAGE_OBJECTS,
    ResponseStructure,
    ResponseValue,
    ResponseValueSearch,
    Steps,
    find_value_at,
    iter_nested_values,
    iter_texts,
    leads_into_gap_list,
    list_field_names,
    states_missing_data,
)
from aatoolkit.profile.word_meanings import (
    BOOLEAN_WORDS,
    Glossary,
    WordMeanings,
    compile_engine_name_pattern,
    find_glossary,
    is_glossary,
)
from aatoolkit.sections import registry
from aatoolkit.sections.availability_rule import EMPTY_LIST_WORD, to_rule_word
from aatoolkit.sections.inference.draft_tables import DraftTable
from aatoolkit.sections.section import is_on_path_of_rule

_ONLY_UNMEASURED_REASON = "is there only where nothing was measured"
MAX_POSSIBLE_FIELDS = 4
"""The maximum number of possible fields that a person is asked about in each section."""

_MIN_FIELD_SCORE = 3
_ENUM_PATTERN = re.compile(r"[A-Z][A-Z0-9_]{3,}|[A-Z]")


@dataclass(frozen=True)
class PossibleStatusField:
    """A path in the responses of a section whose values may say which data are missing.

    A section is one kind of response, such as ``domains``.

    Attributes
    ----------
    at : str
        The path, as in `aatoolkit.sections.Rule`.
    value : object
        An example of the value at the path.
    why : str
        The reason to ask a person about the path.
    score : int
        How likely the values say which data are missing; a higher score is likelier.
    value_by_host : mapping of str to object
        Maps each other host to its value at the path.
    meaning_by_word : mapping of str to str
        Maps each value at the path, as text, to its probable meaning, such as ``not_run``.
    engine_field : str
        The field with the engine of a row; ``{}`` if engines are the keys of an object.
    is_about_section : bool
        Whether the values are about the whole section.
    total_field : str
        The field with the total, if the value is a count.
    similar_fields : tuple of PossibleStatusField
        Similar paths. What a person answers about this field is used for them, too.
    """

    at: str
    value: Any
    why: str
    score: int
    value_by_host: Mapping[str, Any]
    meaning_by_word: Mapping[str, str]
    engine_field: str = ""
    is_about_section: bool = False
    total_field: str = ""
    similar_fields: tuple[PossibleStatusField, ...] = ()

    @property
    def short_path(self) -> str:
        """The last two fields of the path."""
        return ".".join(self.at.split(".")[-2:])

    def with_commonest_meanings(
        self, meaning_counts: Counter[tuple[str, str, str]]
    ) -> PossibleStatusField:
        """Return a copy in which each word has its commonest meaning.

        ``meaning_counts`` is the result of `count_meanings`, for the fields of all sections.
        """
        meaning_by_word = {
            word: max(
                (meaning, NO_MEANING, *AVAILABILITY_BY_TERM),
                key=lambda other_meaning: meaning_counts[self.short_path, word, other_meaning],
            )
            for word, meaning in self.meaning_by_word.items()
        }
        return replace(self, meaning_by_word=meaning_by_word)


def find_possible_fields(
    document: Any,
    response_by_engines: Mapping[tuple[str, ...], Any],
    active_engines: Collection[str],
    inactive_engines: Collection[str],
    structure: ResponseStructure,
    response_by_host: Mapping[str, Any],
    unmeasured_response: Any,
    engines_by_host: Mapping[str, tuple[Collection[str], Collection[str]]] = {},
) -> list[PossibleStatusField]:
    """Return the paths in a response whose values may say which data are missing.

    The likeliest paths come first.

    Parameters
    ----------
    document : object
        The decoded JSON of a section (kind of response).
    response_by_engines : mapping of tuple to object
        Maps tuples of engines (AI assistants) to the JSON of the section for these engines alone.
    active_engines, inactive_engines : collection of str
        The engines that ran, and those that never ran.
    structure : ResponseStructure
        What is known about the structure of the responses.
    response_by_host : mapping of str to object
        Maps other hosts to their JSON of the section.
    unmeasured_response : object
        The JSON of the section for an engine that never ran; None if it was not requested.
    engines_by_host : mapping of str to tuple
        Maps other hosts to two collections: the engines that ran there, and those that never ran.

    Examples
    --------
    >>> response = {"support": {"alpha": "shown", "beta": "not_run_yet"}, "rows": [{"n": 3}]}
    >>> [possible_field] = find_possible_fields(
    ...     response, {}, ["alpha"], ["beta"], ResponseStructure(), {}, None
    ... )
    >>> possible_field.at, possible_field.why
    ('support', 'names beta, which never ran')
    """
    engines_of_hosts = chain.from_iterable(chain.from_iterable(engines_by_host.values()))
    value_search = ResponseValueSearch(
        {*active_engines, *inactive_engines, *engines_of_hosts}, structure
    )
    responses_and_engines = [
        (response, *engines_by_host.get(host, (active_engines, ())))
        for host, response in response_by_host.items()
    ]
    value_search.store_total_fields(
        (response, bool(engines and Vector([response]).descend(structure.main_row_path).values))
        for response, engines, _ in (
            (document, active_engines, inactive_engines),
            *responses_and_engines,
        )
    )
    for response in (document, *response_by_engines.values()):
        value_search.add_response(response, inactive_engines)
    for response, _, inactive_engines_of_host in responses_and_engines:
        value_search.add_response(response, inactive_engines_of_host)
    value_search.add_response(unmeasured_response, inactive_engines)
    responses = [document, *response_by_host.values()]
    responses_and_signals = [(response, detect(response).signals) for response in responses]
    glossaries = [*filter(is_glossary, iter_nested_values(responses))]
    # A response may explain only the codes that it has.
    glossaries.append(dict(chain.from_iterable(glossary.items() for glossary in glossaries)))
    measured_responses = [
        engine_response
        for engine_response in response_by_engines.values()
        if has_numbers(engine_response)
    ]
    possible_fields = []
    for path, response_values in value_search.collect_values_by_path().items():
        path_text = format_path(path)
        total_field = value_search.total_field_by_path.get(path, "")
        is_message_field = path in value_search.message_paths
        current_value = value_search.find_value_or_completeness(document, path)
        unmeasured_value = value_search.find_value_or_completeness(unmeasured_response, path)
        value_by_host = {
            host: value_search.find_value_or_completeness(response, path)
            for host, response in response_by_host.items()
        }
        lists_of_signals = [
            signals
            for response, signals in responses_and_signals
            if find_value_at(response, path) is not None
        ] or [responses_and_signals[0][1]]
        is_path_understood = all(
            _is_path_understood(path_text, signals) for signals in lists_of_signals
        )
        # Where only incomplete data were seen, what says that they are complete is not understood.
        lacks_complete_state = _may_state_completeness(path, current_value) and not any(
            signal.availability.status == Status.AVAILABLE for signal in chain(*lists_of_signals)
        )
        is_path_understood &= not lacks_complete_state
        compared_values = [*value_by_host.values(), unmeasured_value or current_value]
        is_same_for_hosts = value_by_host and all(
            value == current_value for value in compared_values
        )
        lacks_single_value = current_value is None or isinstance(current_value, dict)
        is_count_incomplete = total_field and current_value == "some"
        is_common_to_hosts = is_same_for_hosts and not (
            lacks_single_value or is_count_incomplete or lacks_complete_state
        )
        if is_path_understood or is_common_to_hosts:
            continue  # what all hosts have in common says nothing about any of them
        is_null_without_numbers = current_value in (None, "", [], {}) and {
            response_value.has_numbers for response_value in response_values
        } == {False}
        default_reason = (
            _ONLY_UNMEASURED_REASON if is_null_without_numbers and has_numbers(document) else ""
        )
        numbers_reason = value_search.evidence_by_path.get(path, default_reason)
        glossary = find_glossary(response_values, glossaries)
        if is_message_field and not all(
            Vector([response]).descend(path).values for response in responses
        ):
            numbers_reason = numbers_reason or "notes that some responses have, and others do not"
        score, reason = _score_path(
            path, response_values, numbers_reason, glossary, is_count=bool(total_field)
        )
        differing_hosts = [host for host, value in value_by_host.items() if value != current_value]
        if score > 0 and unmeasured_value not in (None, current_value):
            score += 3
            reason += f"; is {to_json_text(unmeasured_value)[:60]} where nothing was measured"
        elif differing_hosts:
            score += 1
            reason += f"; differs for {', '.join(differing_hosts)}"
        if score < _MIN_FIELD_SCORE:
            continue
        all_engines_word = to_rule_word(current_value)
        differs_by_engine = any(
            to_rule_word(value_search.find_value_or_completeness(engine_response, path))
            != all_engines_word
            for engine_response in measured_responses
        )
        engine_dependent_word = all_engines_word if differs_by_engine else ""
        meaning_by_word = WordMeanings(
            path,
            response_values,
            engine_dependent_word,
            glossary,
            is_message_field=is_message_field,
            is_count=bool(total_field),
        ).guess_meanings()
        list_path = path[: path.index(Elements())] if Elements() in path else path
        is_list = list_path != path or isinstance(current_value, list)
        if is_list and has_word_of(list_field_names(list_path)[-1], "negation", "gaps"):
            meaning_by_word[EMPTY_LIST_WORD] = "available"  # where nothing is listed
        informational_codes = {*filterfalse(states_missing_data, value_search.informational_codes)}
        meaning_by_word |= dict.fromkeys(informational_codes & meaning_by_word.keys(), NO_MEANING)
        is_in_gap_list = leads_into_gap_list(path)
        may_list_gaps = any(map(states_missing_data, meaning_by_word)) or is_in_gap_list
        if len(meaning_by_word) > MAX_MESSAGE_OBJECTS and not may_list_gaps:
            continue  # names or ids
        if meaning_by_word.keys() <= {*registry.names()} and not is_in_gap_list:
            continue  # sections that a plan includes
        possible_field = PossibleStatusField(
            path_text,
            # In rows, or in another response, there is no current value.
            response_values[0].value if current_value is None else current_value,
            reason,
            score,
            value_by_host,
            meaning_by_word,
            value_search.engine_field_by_path.get(path, ""),
            is_message_field,
            total_field,
        )
        possible_fields.append(possible_field)
    return _select_possible_fields(possible_fields, document)


def _select_possible_fields(
    possible_fields: list[PossibleStatusField], document: Any
) -> list[PossibleStatusField]:
    """Return the likeliest possible fields (paths whose values may say which data are missing).

    Of similar fields, only one is returned, which lists the others in ``similar_fields``.
    """
    chosen_fields: list[PossibleStatusField] = []
    field_by_absent_parent_path: dict[str, PossibleStatusField] = {}
    for possible_field in sorted(
        possible_fields,  # codes before sentences
        key=lambda item: (-item.score, isinstance(item.value, str) and " " in item.value),
    ):
        field_by_absent_parent_path.setdefault(
            _find_absent_parent_path(document, possible_field.at), possible_field
        )
    possible_fields = [*field_by_absent_parent_path.values()]
    absence_fields = [
        possible_field
        for possible_field in possible_fields
        if any(map(states_missing_data, possible_field.meaning_by_word))
        and not possible_field.total_field
    ]
    absence_parent_paths = {
        possible_field.at.rpartition(".")[0] for possible_field in absence_fields
    }
    for possible_field in possible_fields:
        parent_path, _, key = possible_field.at.rpartition(".")
        has_absence_sibling = (
            "[]" in parent_path
            and parent_path in absence_parent_paths
            and possible_field not in absence_fields
            and not (possible_field.total_field and possible_field.engine_field)
            and not has_word_of(possible_field.total_field, "due")
        )
        if has_absence_sibling and not has_word_of(key, "place"):
            continue  # a field beside it says why numbers are missing beside such a kind of rows
        if not any(_are_similar(possible_field, chosen_field) for chosen_field in chosen_fields):
            chosen_fields.append(possible_field)
    return [
        replace(
            possible_field,
            similar_fields=tuple(
                other_field
                for other_field in possible_fields
                if other_field is not possible_field and _are_similar(other_field, possible_field)
            ),
        )
        for possible_field in chosen_fields[:MAX_POSSIBLE_FIELDS]
    ]


def count_meanings(possible_fields: Iterable[PossibleStatusField]) -> Counter[tuple[str, str, str]]:
    """Count the tuples of field, word and meaning in the possible fields of all sections.

    Return a Counter. A service means the same by a word in each section, so the commonest meaning
    of the word is the likeliest.
    """
    return Counter(
        (possible_field.short_path, *word_and_meaning)
        for possible_field in possible_fields
        for word_and_meaning in possible_field.meaning_by_word.items()
    )


def _find_absent_parent_path(document: Any, path_text: str) -> str:
    """Return the beginning of a path, up to the first field that is missing in a response.

    If no field of the path is missing, return the whole path. Candidates with the same result are
    in one object, such as ``error``, so a person is asked about only one of them.

    Examples
    --------
    >>> _find_absent_parent_path({"rows": []}, "error.cause.code")
    'error'
    >>> _find_absent_parent_path({"n": 1}, "n")
    'n'
    """
    steps = parse_pattern(path_text)
    for step_count, step in enumerate(steps, start=1):
        if not isinstance(step, Field):
            break
        if find_value_at(document, steps[:step_count]) in (None, [], {}):
            return format_path(steps[:step_count])
    return path_text


def _are_similar(possible_field: PossibleStatusField, other_field: PossibleStatusField) -> bool:
    """Return whether two fields are so similar that a person is asked about only one of them.

    Such a field is a path whose values may say which data are missing.
    """
    parent_path, _, key = possible_field.at.rpartition(".")
    other_parent_path, _, other_key = other_field.at.rpartition(".")
    is_same_parent = parent_path == other_parent_path != "" and not possible_field.total_field
    is_same_field = key == other_key != ""
    words = possible_field.meaning_by_word.keys() - {
        "null", EMPTY_LIST_WORD, *([] if is_same_field else BOOLEAN_WORDS)
    }  # fmt: skip
    # A sentence explains the code beside it.
    is_sentence_beside_code = is_same_parent and any(" " in word for word in words)
    return is_sentence_beside_code or (
        (is_same_field or is_same_parent) and not words.isdisjoint(other_field.meaning_by_word)
    )


def _may_state_completeness(path: Steps, value: Any) -> bool:
    """Return whether a value at a path is a state, of which another says that nothing is missing.

    An example is ``false`` at ``complete``.
    """
    key = list_field_names(path)[-1]
    is_status_code = is_code_text(value) and is_status_key(key)
    return is_status_code or (value is False and read_flag_availability(key, True) == AVAILABLE)


def _is_path_understood(path_text: str, signals: Sequence[Signal]) -> bool:
    """Return whether the toolkit understands the values at a path without a rule by the user.

    ``signals`` are the statements on missing data that it finds in a response without a rule.
    """
    signal_paths = (
        signal.path[1:].replace('["', ".").replace('"]', "").lstrip(".") for signal in signals
    )
    return any(
        signal_path and is_on_path_of_rule(signal_path, path_text) for signal_path in signal_paths
    )


def _score_path(
    path: Steps,
    response_values: list[ResponseValue],
    numbers_reason: str,
    glossary: Glossary,
    *,
    is_count: bool,
) -> tuple[int, str]:
    """Score how likely the values at a path say which data are missing.

    Return the score (a higher score is likelier), and the main reason for it as text.
    ``numbers_reason`` says what the numbers next to the values show, as in "counts what is still to
    come"; it is empty if they show nothing. ``glossary`` maps codes to texts that explain them.
    ``is_count`` says whether the values are counts that have a total.
    """
    field_names = list_field_names(path)
    is_status_name = has_word_of(field_names[-1], "place")
    score = 2 * is_status_name
    value_texts = [
        value_text
        for response_value in response_values
        for value_text in iter_texts(response_value.value)
    ]
    says_data_missing = any(
        states_missing_data(glossary.get(value_text, value_text), is_status_name)
        for value_text in value_texts
    )
    inactive_engines = {
        engine
        for response_value in response_values
        for engine in response_value.inactive_engines
        if engine != response_value.engine
        and any(map(compile_engine_name_pattern(engine).search, iter_texts(response_value.value)))
    }
    if any(map(_lists_engines_that_ran, response_values)):
        inactive_engines = set()  # such a list does not say which engines lack data
    first_value = response_values[0].value
    are_codes = all(
        _ENUM_PATTERN.fullmatch(str(response_value.value))
        for response_value in response_values
        if response_value.value is not None
    )
    are_codes |= {type(response_value.value) for response_value in response_values} == {bool}
    has_numbers_flags_by_word: dict[Any, list[bool]] = defaultdict(list)
    for response_value in response_values if are_codes else ():
        has_numbers_flags_by_word[response_value.value].append(
            response_value.has_numbers is not False
        )
    # An engine that ran on a few days may have the word of those that never ran.
    max_share = 0.25 if response_values[0].engine else 0.0
    words_without_numbers = {
        word
        for word, has_numbers_flags in has_numbers_flags_by_word.items()
        if sum(has_numbers_flags) <= max_share * len(has_numbers_flags)
    }
    words_with_numbers = has_numbers_flags_by_word.keys() - words_without_numbers
    is_row_label = is_word_of(field_names[-1], "row_label") and not (
        says_data_missing or has_word_of(".".join(field_names[-2:]), "place")
    )
    score -= 2 * (is_row_label or has_word_of(field_names[-1], "trade"))
    # What a plan enables is its own business.
    is_flag = isinstance(first_value, bool) and read_flag_availability(
        field_names[-1], False
    ) not in (
        None,
        AVAILABILITY_BY_TERM["forbidden"],
    )
    is_gap_list = isinstance(first_value, list) and has_word_of(field_names[-1], "negation")
    is_gap_list |= leads_into_gap_list(path)
    is_surely_about_data = is_count or inactive_engines or is_flag or is_gap_list
    is_business_name_flags = [has_word_of(name, "business") for name in field_names[-3:]]
    if not (
        is_surely_about_data or any(response_value.engine for response_value in response_values)
    ):
        score -= 3 * any(is_business_name_flags) + any(is_business_name_flags[-2:])
    named_inactive_engines = inactive_engines & {*response_values[0].inactive_engines}
    name_reason = "a name for states of data" if is_status_name else ""
    scored_reasons = (
        (
            3 + 2 * isinstance(first_value, dict),
            f"names {_join_words(named_inactive_engines or inactive_engines)}, which never ran",
            inactive_engines,
        ),
        (3, "the words of an absence", says_data_missing),
        (
            3,
            f"numbers are missing beside {_join_words(words_without_numbers)}",
            words_without_numbers and words_with_numbers,
        ),
        (3, numbers_reason, numbers_reason),
        (3, "a list under a name for what lacks", is_gap_list),
        (3, "a count and its total, by engine", is_count and response_values[0].engine),
        (1, name_reason, is_status_name and isinstance(first_value, bool | list)),
    )
    for reason_score, reason, is_applicable in scored_reasons:
        if is_applicable:
            return score + reason_score, reason
    return (score, name_reason) if score > 1 else (0, "")


def _lists_engines_that_ran(response_value: ResponseValue) -> bool:
    """Return whether a value lists engines (AI assistants), several of which ran.

    Such a list does not say which data are missing.
    """
    listed_names = {*response_value.value} if isinstance(response_value.value, list) else set()
    active_engines = response_value.is_measured_by_engine.keys() - response_value.inactive_engines
    return len(listed_names & active_engines) > 1


def _join_words(words: Collection[object]) -> str:
    """Return the first three words in alphabetical order as text, joined by commas."""
    return ", ".join(sorted(map(to_rule_word, words))[:3])


def find_emptied_paths(
    draft_tables: Sequence[DraftTable], document: Any, unmeasured_response: Any
) -> tuple[str, ...]:
    """Return the path of the main table's rows, if they are absent where nothing was measured.

    ``document`` has rows at the path, and ``unmeasured_response``, of an engine that never ran, has
    none. The result is a tuple of one path, or an empty tuple.
    """
    if unmeasured_response is None or detect(unmeasured_response).signals:
        return ()
    path = tuple(takewhile(lambda step: isinstance(step, Field), draft_tables[0].steps))
    empty_values: tuple[Any, ...] = (None, [], {})
    becomes_empty = (
        find_value_at(document, path) not in empty_values
        and find_value_at(unmeasured_response, path) in empty_values
    )
    return (format_path(path) or "$",) if becomes_empty else ()
