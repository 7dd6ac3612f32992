"""Find the paths in responses whose values may say which data are missing.

Such a path is called a candidate. A person decides later whether its values do say that.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, takewhile
from typing import Any, NamedTuple

from aatoolkit._util.lexicon import (
    fold,
    has_word_of,
    is_word_of,
    matches_form,
    meaning_by_word,
    spaced,
    tokens,
    words_of,
)
from aatoolkit.availability.detect import detect, raw
from aatoolkit.availability.detect.words import (
    AVAILABILITY_BY_TERM,
    NO_MEANING,
    STRONG,
    Word,
    echoes_request,
    find_target,
    find_word,
    find_word_in_text,
    find_word_of_parts,
    has_numbers,
    is_bookkeeping,
    is_code,
    read_absence_code,
    state_of_flag,
    state_of_named_flag,
)
from aatoolkit.availability.status import EMPTY, Availability, Status
from aatoolkit.jsontree.paths import Each, Entries, Field, Named, Step, format_path, parse_pattern
from aatoolkit.jsontree.vectors import Vector
from aatoolkit.scope import Scope
from aatoolkit.sections import registry
from aatoolkit.sections.availability_rule import (
    DAYS_PLACEHOLDER,
    join_short_list,
    to_count,
    to_extent,
    to_word,
)
from aatoolkit.sections.inference.findings import DraftTable
from aatoolkit.sections.inference.words import meaning_of
from aatoolkit.sections.section import is_on_path_of_rule

_ONLY_UNMEASURED_REASON = "is there only where nothing was measured"
MAX_CANDIDATES = 4
"""The maximum number of candidates that a person is asked about in each section."""

_MIN_CANDIDATE_SCORE = 3
_MAX_NOTICES = 12
"""The greatest length of a list that may have notices (objects with a message) and no rows."""

_MAX_WORDS = 6
"""How many different words a field of rows may have, if it says which data are missing."""

_MAX_WORD_LENGTH = 200
_MAX_PATH_LENGTH = 12
_CODE_PATTERN = re.compile(
    r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[a-z][a-z0-9]*(?:_[a-z0-9]+)+|[A-Za-z][a-z]+(?:[A-Z][a-z]+)+"
)
_ENUM_PATTERN = re.compile(r"[A-Z][A-Z0-9_]{3,}|[A-Z]")
_TIMESTAMP_PATTERN = re.compile(r"\d{4}-\d\d-\d\d.*")
_NAME_OR_DAY_PATTERN = re.compile(r"[A-Z][a-z]+[ A-Z]|[A-Z][a-z]+$|\d{4}-\d\d-\d\d")
_FLAG_WORDS = {"true", "false"}
_HOST_PATTERN = re.compile(r"(?:[\w-]+\.)+[a-z]{2,}")
_DECIMAL_PATTERN = re.compile(r"-?[\d.,]+[a-z%]?")
_NUMBER_IN_TEXT_PATTERN = re.compile(r"\d[\d.,:/-]*(?<![.,:])")

Steps = tuple[Step, ...]


class ResponseRow(NamedTuple):
    """A row of a table in a response.

    Attributes
    ----------
    record : mapping
        The row as it is in the JSON.
    word_by_field : mapping
        Maps each field of the row to its text or boolean, and any other field to None.
    has_numbers : bool or None
        Whether the row has measured numbers; None if unknown.
    idle_engines : collection of str
        The engines that never ran.
    engine : str
        The engine of the row; empty if unknown.
    outer_record : mapping
        The row of another table that contains this row, if there is one.
    """

    record: Mapping[str, Any]
    word_by_field: Mapping[str, Any]
    has_numbers: bool | None
    idle_engines: Collection[str]
    engine: str = ""
    outer_record: Mapping[str, Any] = {}

    def find_value(self, field: str) -> Any:
        """Return the value of a field of the row, or else of the row that contains it."""
        return self.record.get(field, self.outer_record.get(field))


class Occurrence(NamedTuple):
    """A value that a response has at a path, and whether measured numbers are next to it.

    Attributes
    ----------
    value : object
        The value.
    has_numbers : bool or None
        Whether the object that contains the value also contains measured numbers.
    is_measured_by_engine : mapping of str to bool or None
        Maps each engine to whether the response has numbers of it; to None if that is unknown.
    idle_engines : collection of str
        The engines that never ran.
    engine : str
        The engine that the value is about; empty if unknown.
    """

    value: Any
    has_numbers: bool | None
    is_measured_by_engine: Mapping[str, bool | None]
    idle_engines: Collection[str]
    engine: str = ""


class ResponseStructure(NamedTuple):
    """What is known about the structure of the responses of a section (kind of response).

    Attributes
    ----------
    engine_by_label : mapping of str to str
        Maps the label of each engine to the engine's id.
    data_key_object_paths : collection of tuple of Step
        The parsed paths of objects whose keys are data, such as dates.
    header_by_row_path : mapping
        Maps the parsed path of rows that are lists to the path of their column names.
    main_row_path : tuple of Step
        The parsed path to the rows of the main table.
    """

    engine_by_label: Mapping[str, str] = {}
    data_key_object_paths: Collection[Steps] = ()
    header_by_row_path: Mapping[Steps, Steps] = {}
    main_row_path: Steps = ()


@dataclass(frozen=True)
class Candidate:
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
    is_of_section : bool
        Whether the values are about the whole section.
    total_field : str
        The field with the total, if the value is a count.
    alike : tuple of Candidate
        Similar paths. What a person answers about this candidate is used for them, too.
    """

    at: str
    value: Any
    why: str
    score: int
    value_by_host: Mapping[str, Any]
    meaning_by_word: Mapping[str, str]
    engine_field: str = ""
    is_of_section: bool = False
    total_field: str = ""
    alike: tuple[Candidate, ...] = ()

    @property
    def key(self) -> str:
        """The last two fields of the path."""
        return ".".join(self.at.split(".")[-2:])

    def with_commonest_meanings(self, counts: Counter[tuple[str, str, str]]) -> Candidate:
        """Return a copy in which each word has its commonest meaning.

        ``counts`` is the result of `count_meanings`, for the candidates of all sections.
        """
        meaning_by_word = {
            word: max(
                (meaning, NO_MEANING, *AVAILABILITY_BY_TERM),
                key=lambda other_meaning: counts[self.key, word, other_meaning],
            )
            for word, meaning in self.meaning_by_word.items()
        }
        return replace(self, meaning_by_word=meaning_by_word)


def find_candidate_paths(
    document: Any,
    response_by_engines: Mapping[tuple[str, ...], Any],
    active_engines: Collection[str],
    idle_engines: Collection[str],
    structure: ResponseStructure,
    response_by_host: Mapping[str, Any],
    unmeasured_response: Any,
    engines_by_host: Mapping[str, tuple[Collection[str], Collection[str]]] = {},
) -> list[Candidate]:
    """Return candidates: paths in a response whose values may say which data are missing.

    The likeliest paths come first.

    Parameters
    ----------
    document : object
        The decoded JSON of a section (kind of response).
    response_by_engines : mapping of tuple to object
        Maps tuples of engines (AI assistants) to the JSON of the section for these engines alone.
    active_engines, idle_engines : collection of str
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
    >>> [candidate] = find_candidate_paths(
    ...     response, {}, ["alpha"], ["beta"], ResponseStructure(), {}, None
    ... )
    >>> candidate.at, candidate.why
    ('support', 'names beta, which never ran')
    """
    engines_of_hosts = chain.from_iterable(chain.from_iterable(engines_by_host.values()))
    candidate_search = _CandidateSearch(
        {*active_engines, *idle_engines, *engines_of_hosts}, structure
    )
    responses_and_engines = [
        (response, *engines_by_host.get(host, (active_engines, ())))
        for host, response in response_by_host.items()
    ]
    candidate_search.find_total_fields(
        (response, bool(engines and Vector([response]).descend(structure.main_row_path).values))
        for response, engines, _ in (
            (document, active_engines, idle_engines),
            *responses_and_engines,
        )
    )
    for response in (document, *response_by_engines.values()):
        candidate_search.add_response(response, idle_engines)
    for response, _, other_idle_engines in responses_and_engines:
        candidate_search.add_response(response, other_idle_engines)
    candidate_search.add_response(unmeasured_response, idle_engines)
    responses = [document, *response_by_host.values()]
    responses_and_signal_paths = [
        (response, [signal.path for signal in detect(response).signals]) for response in responses
    ]
    legends = [*filter(_is_legend, _iter_nested_values(responses))]
    # A response may explain only the codes that it has.
    legends.append(dict(chain.from_iterable(legend.items() for legend in legends)))
    measured_responses = [
        engine_response
        for engine_response in response_by_engines.values()
        if has_numbers(engine_response)
    ]
    candidates = []
    for path, occurrences in candidate_search.collect_occurrences().items():
        path_text = format_path(path)
        current_value = candidate_search.word_at(document, path)
        unmeasured_value = candidate_search.word_at(unmeasured_response, path)
        value_by_host = {
            host: candidate_search.word_at(response, path)
            for host, response in response_by_host.items()
        }
        understood_path_lists = [
            signal_paths
            for response, signal_paths in responses_and_signal_paths
            if value_at(response, path) is not None
        ]
        is_understood = all(
            _is_understood(path_text, signal_paths)
            for signal_paths in understood_path_lists or [responses_and_signal_paths[0][1]]
        )
        other_values = [*value_by_host.values(), unmeasured_value or current_value]
        is_same_for_hosts = value_by_host and all(value == current_value for value in other_values)
        lacks_single_value = current_value is None or isinstance(current_value, dict)
        is_incomplete = bool(candidate_search.total_fields.get(path)) and current_value == "some"
        if is_understood or (is_same_for_hosts and not lacks_single_value and not is_incomplete):
            continue  # what all hosts have in common says nothing about any of them
        is_null = current_value in (None, "", [], {}) and {
            occurrence.has_numbers for occurrence in occurrences
        } == {False}
        default_evidence = _ONLY_UNMEASURED_REASON if is_null and has_numbers(document) else ""
        total_field = candidate_search.total_fields.get(path, "")
        evidence = candidate_search.evidence.get(path, default_evidence)
        legend = _find_legend(occurrences, legends)
        if path in candidate_search.notice_paths and not all(
            Vector([response]).descend(path).values for response in responses
        ):
            evidence = evidence or "notes that some responses have, and others do not"
        score, why = _score_path(path, occurrences, evidence, legend, is_count=bool(total_field))
        differing_hosts = [host for host, value in value_by_host.items() if value != current_value]
        if score > 0 and unmeasured_value not in (None, current_value):
            score += 3
            why += f"; is {raw(unmeasured_value)[:60]} where nothing was measured"
        elif differing_hosts:
            score += 1
            why += f"; differs for {', '.join(differing_hosts)}"
        if score < _MIN_CANDIDATE_SCORE:
            continue
        all_engines_word = to_word(current_value)
        is_notice = path in candidate_search.notice_paths
        differs_by_engine = any(
            to_word(candidate_search.word_at(engine_response, path)) != all_engines_word
            for engine_response in measured_responses
        )
        mixed_word = all_engines_word if differs_by_engine else ""
        meaning_by_word = _WordMeanings(
            path, occurrences, mixed_word, legend, is_notice=is_notice, is_count=bool(total_field)
        ).guess_meanings()
        is_in_gap_list = _is_in_gap_list(path)
        may_list_gaps = any(map(_says_data_missing, meaning_by_word)) or is_in_gap_list
        if len(meaning_by_word) > _MAX_NOTICES and not may_list_gaps:
            continue  # names or ids
        if meaning_by_word.keys() <= {*registry.names()} and not is_in_gap_list:
            continue  # sections that a plan includes
        is_of_other_rows = "available" in meaning_by_word.values() and _is_in_other_rows(
            path, structure.main_row_path
        )
        candidate = Candidate(
            path_text,
            # In rows, or in another response, there is no current value.
            occurrences[0].value if current_value is None else current_value,
            why,
            score,
            value_by_host,
            meaning_by_word,
            candidate_search.engine_fields.get(path, ""),
            is_notice or is_of_other_rows,
            total_field,
        )
        candidates.append(candidate)
    return _select_likeliest(candidates, document)


def _select_likeliest(candidates: list[Candidate], document: Any) -> list[Candidate]:
    """Return the likeliest candidates (paths whose values may say which data are missing).

    Of similar candidates only one is returned, which lists the others in ``alike``.
    """
    likeliest: list[Candidate] = []
    candidate_by_root: dict[str, Candidate] = {}
    for candidate in sorted(
        candidates,  # codes before sentences
        key=lambda item: (-item.score, isinstance(item.value, str) and " " in item.value),
    ):
        candidate_by_root.setdefault(_find_absent_root(document, candidate.at), candidate)
    candidates = [*candidate_by_root.values()]
    absence_candidates = [
        candidate
        for candidate in candidates
        if any(map(_says_data_missing, candidate.meaning_by_word)) and not candidate.total_field
    ]
    absence_parent_paths = {candidate.at.rpartition(".")[0] for candidate in absence_candidates}
    for candidate in candidates:
        parent_path, _, key = candidate.at.rpartition(".")
        has_absence_sibling = (
            "[]" in parent_path
            and parent_path in absence_parent_paths
            and candidate not in absence_candidates
            and not (candidate.total_field and candidate.engine_field)
            and not has_word_of(candidate.total_field, "due")
        )
        if has_absence_sibling and not has_word_of(key, "place"):
            continue  # a field beside it says why numbers are missing beside such a kind of rows
        if not any(_are_similar(candidate, chosen_candidate) for chosen_candidate in likeliest):
            likeliest.append(candidate)
    return [
        replace(
            candidate,
            alike=tuple(
                other_candidate
                for other_candidate in candidates
                if other_candidate is not candidate and _are_similar(other_candidate, candidate)
            ),
        )
        for candidate in likeliest[:MAX_CANDIDATES]
    ]


def count_meanings(candidates: Iterable[Candidate]) -> Counter[tuple[str, str, str]]:
    """Count the tuples of field, word and meaning in the candidates of all sections.

    Return a Counter. A service means the same by a word in each section, so the commonest meaning
    of the word is the likeliest.
    """
    return Counter(
        (candidate.key, *word_and_meaning)
        for candidate in candidates
        for word_and_meaning in candidate.meaning_by_word.items()
    )


def _find_absent_root(document: Any, path_text: str) -> str:
    """Return the beginning of a path, up to the first field that is missing in a response.

    If no field of the path is missing, return the whole path. Candidates with the same result are
    in one object, such as ``error``, so a person is asked about only one of them.

    Examples
    --------
    >>> _find_absent_root({"rows": []}, "error.cause.code"), _find_absent_root({"n": 1}, "n")
    ('error', 'n')
    """
    steps = parse_pattern(path_text)
    for step_count, step in enumerate(steps, start=1):
        if not isinstance(step, Field):
            break
        if value_at(document, steps[:step_count]) in (None, [], {}):
            return format_path(steps[:step_count])
    return path_text


def _are_similar(candidate: Candidate, other_candidate: Candidate) -> bool:
    """Return whether two candidates are so similar that a person is asked about only one of them.

    A candidate is a path whose values may say which data are missing.
    """
    parent_path, _, key = candidate.at.rpartition(".")
    other_parent_path, _, other_key = other_candidate.at.rpartition(".")
    is_same_parent = parent_path == other_parent_path != "" and not candidate.total_field
    is_same_field = key == other_key != ""
    words = candidate.meaning_by_word.keys() - (
        {"null"} if is_same_field else {"null", *_FLAG_WORDS}
    )
    # A sentence explains the code beside it.
    is_explanation = is_same_parent and any(" " in word for word in words)
    return is_explanation or (
        (is_same_field or is_same_parent) and not words.isdisjoint(other_candidate.meaning_by_word)
    )


# --- where --------------------------------------------------------------------------------------


class _CandidateSearch:
    """Collects the values in responses that may say which data are missing, by path."""

    def __init__(self, engines: Collection[str], structure: ResponseStructure) -> None:
        self._engines = {*engines, *structure.engine_by_label}
        self._structure = structure
        self._occurrences: dict[Steps, list[Occurrence]] = defaultdict(list)
        self._row_lists: dict[Steps, list[list[ResponseRow]]] = defaultdict(list)
        self.evidence: dict[Steps, str] = {}
        """Maps the path of a field to what numbers next to its values show, as text for people."""
        self.engine_fields: dict[Steps, str] = {}
        """Maps the path of a field in rows to the field with the engine; to ``{}`` if engines are
        the keys of an object.
        """
        self.notice_paths: set[Steps] = set()
        self.total_fields: dict[Steps, str] = {}
        """Maps the path of a count to the name of the field with its total."""
        self._total_fields_by_path: dict[Steps, dict[str, str]] = {}
        self._engine_map_paths: set[Steps] = set()
        self._outer_engine_fields: dict[Steps, str] = {}

    def find_total_fields(self, responses: Iterable[tuple[Any, bool]]) -> None:
        """Find pairs of fields: one has a count, and the other its total, such as 25 of 30 days.

        The pairs are kept for `add_response`. ``responses`` has tuples: the JSON of a response, and
        whether the response has data.
        """
        records_by_path: dict[Steps, list[tuple[Mapping[str, Any], bool]]] = defaultdict(list)
        for response, is_measured in responses:
            for path, record in self._iter_records(response, ()):
                records_by_path[path].append((record, is_measured))
        self._total_fields_by_path = {
            path: {
                count_key: total_key
                for count_key, total_key in _find_total_by_count(records).items()
                # In rows, one measure is often a part of another.
                if Each() not in path or any(map(_is_word_for_part, tokens(count_key)))
            }
            for path, records in records_by_path.items()
        }

    def _iter_records(self, value: Any, path: Steps) -> Iterator[tuple[Steps, Mapping[str, Any]]]:
        """Yield the path and value of each nested object.

        Objects whose keys are data, such as dates, are left out.
        """
        steps_and_children: list[tuple[Step, Any]] = []
        if isinstance(value, list):
            steps_and_children = [(Each(), child) for child in value]
        elif isinstance(value, dict) and (
            self._has_engine_keys(value) or path in self._structure.data_key_object_paths
        ):
            steps_and_children = [(Entries(), child) for child in value.values()]
        elif isinstance(value, dict):
            yield path, value
            steps_and_children = [(Field(key), child) for key, child in value.items()]
        for step, child in steps_and_children:
            yield from self._iter_records(child, (*path, step))

    def _has_engine_keys(self, value: Mapping[str, Any]) -> bool:
        """Return whether all keys of an object are engines (AI assistants)."""
        return bool(value) and self._engines.issuperset(value)

    def add_response(self, response: Any, idle_engines: Collection[str] = ()) -> None:
        """Collect the values of one response that may say which data are missing.

        ``idle_engines`` are the engines (AI assistants) that never ran on the host of the response.
        """
        engine_by_label = self._structure.engine_by_label
        self._response = Vector([response])
        self._has_numbers = has_numbers(
            response, lambda key: is_bookkeeping(key) or is_id_time_or_lack(key)
        )
        idle_labels = {label for label, engine in engine_by_label.items() if engine in idle_engines}
        self._idle_engines = {*idle_engines, *idle_labels}
        measured_engines = {
            engine_by_label.get(engine_name, engine_name)
            for engine_name in _find_measured_engines(response, self._engines)
        }
        default_is_measured = None if self._has_numbers and not measured_engines else False
        self._is_measured_by_engine = {
            engine_name: engine_name not in self._idle_engines
            and (
                engine_by_label.get(engine_name, engine_name) in measured_engines
                or default_is_measured
            )
            for engine_name in self._engines
        }
        self._add_fields(response, ())

    def collect_occurrences(self) -> dict[Steps, list[Occurrence]]:
        """Return the values that may say which data are missing, as lists by their paths.

        Each value is an `Occurrence`, which also says whether there are numbers next to the value.
        """
        for path, row_lists in self._row_lists.items():
            field_names = dict.fromkeys(
                field_name for rows in row_lists for row in rows for field_name in row.record
            )
            outer_names = (name for rows in row_lists for row in rows for name in row.outer_record)
            number_fields = dict.fromkeys((*field_names, *outer_names))
            engine_field = (
                "{}"
                if path in self._engine_map_paths
                else self._find_engine_field(field_names, row_lists)
            )
            engine_field = engine_field or self._outer_engine_fields.get(path, "")
            measured_flag_lists = [
                [has_numbers(row.record, is_id_time_or_lack) for row in rows] for rows in row_lists
            ]
            # Numbers elsewhere in a response are not those that a row lacks.
            if any(map(any, measured_flag_lists)):
                row_lists = [
                    [
                        row if is_measured else row._replace(has_numbers=False)
                        for row, is_measured in zip(rows, measured_flags, strict=True)
                    ]
                    for rows, measured_flags in zip(row_lists, measured_flag_lists, strict=True)
                ]
            for field_name in field_names:
                if field_name != engine_field:
                    self._add_field(path, field_name, number_fields, row_lists, engine_field)
        return self._occurrences

    def word_at(self, response: Any, path: Steps) -> Any:
        """Return the value that a response has at a path; None if there is none.

        If the value is a count that has a total, return ``none``, ``some`` or ``full`` (how much of
        the total was counted) instead.
        """
        value = value_at(response, path)
        if not self.total_fields.get(path):
            return value
        return to_extent(value, value_at(response, (*path[:-1], Field(self.total_fields[path]))))

    def _find_count_extents(self, record: Mapping[str, Any], path: Steps) -> dict[str, str | None]:
        """Compare the counts in an object with their totals.

        Return a dict from the field of each count to ``none``, ``some`` or ``full`` (how much of
        the total was counted). Counts without a total are left out. ``path`` leads to the object.
        """
        field_names = _field_names(path)
        is_about_data = any(has_word_of(name, "place") for name in field_names)
        is_about_sample = any(has_word_of(name, "sample") for name in field_names[-2:])
        number_keys = [
            key
            for key, value in record.items()
            if to_count(value) is not None
            and (
                (is_about_sample and fold(key) == "size")
                or not (is_word_of(key, "listed") or has_word_of(key, "bound"))
            )
            and not (value in (0, 1) and find_word(key))
        ]
        extent_by_count_key = {}
        filler_words = words_of("whole", "filler")
        for count_key in number_keys:
            count_key_words = {token for token in tokens(count_key) if not _is_word_for_part(token)}
            counts_days = bool(count_key_words & words_of("days")) and count_key_words <= words_of(
                "days", "engine"
            )
            # Without a word for a part, it is the length of the window.
            counts_days &= count_key_words != {*tokens(count_key)}
            lexicon_key = "whole" if is_about_data or counts_days else "due"
            total_key = next(
                (
                    key
                    for key in number_keys
                    if has_word_of(key, lexicon_key)
                    and count_key_words
                    in ({*tokens(key)} - words_of("whole"), {*tokens(key)} - filler_words)
                ),
                DAYS_PLACEHOLDER if counts_days else "",
            )
            is_certain = counts_days or has_word_of(total_key, "due")
            if not total_key or (count_key_words == {*tokens(count_key)} and not is_certain):
                total_key = self._total_fields_by_path.get(path, {}).get(count_key, "")
            if not total_key and len(number_keys) == 2 and is_about_sample:
                # Of the two counts of a sample, the greater one is what was drawn from.
                total_key = max(number_keys, key=lambda key: to_count(record[key]) or 0)
                total_key = "" if total_key == count_key else total_key
            if total_key:
                total = Scope().days if total_key == DAYS_PLACEHOLDER else record.get(total_key)
                extent_by_count_key[count_key] = to_extent(record[count_key], total)
                self.total_fields[(*path, Field(count_key))] = total_key
        return extent_by_count_key

    def _add_occurrence(
        self, path: Steps, value: Any, has_numbers: bool | None = None, engine: str = ""
    ) -> None:
        """Store a value of the current response at a path, as an `Occurrence`."""
        self._occurrences[path].append(
            Occurrence(value, has_numbers, self._is_measured_by_engine, self._idle_engines, engine)
        )

    def _add_field(
        self,
        path: Steps,
        field_name: str,
        number_fields: Iterable[str],
        row_lists: list[list[ResponseRow]],
        engine_field: str,
    ) -> None:
        """Store the values of one field of some rows, if they may say which numbers are missing.

        Parameters
        ----------
        path : tuple of Step
            The parsed path to the rows.
        field_name : str
            The name of the field.
        number_fields : iterable of str
            The names of fields of the rows that may have numbers.
        row_lists : list of list of ResponseRow
            The rows: one list for each list in the responses.
        engine_field : str
            The field with the engine of a row; ``{}`` if engines are the keys of an object; or "".
        """
        words: set[Any] = {
            row.word_by_field.get(field_name) for row in chain.from_iterable(row_lists)
        } - {None}
        is_status_name = has_word_of(field_name, "place")
        is_dimension = any(
            has_word_of(field_name, name) for name in ("topic", "category", "brand", "finding")
        )
        is_dimension = (is_dimension and not is_status_name) or not self._engines.isdisjoint(words)
        is_dimension |= any(is_word_of(str(word), "passed") for word in words)  # results of tests
        if is_dimension or not 0 < len(words) <= _MAX_WORDS:
            return
        are_texts = all(isinstance(word, str) for word in words)
        are_names = (
            are_texts
            and all(map(_NAME_OR_DAY_PATTERN.match, words))
            and not any(map(_says_data_missing, words))
        )
        if not (are_texts or is_status_name or engine_field) or (are_names and not is_status_name):
            return
        number_field = next(
            (key for key in number_fields if _tells_missing_number(row_lists, field_name, key)),
            None,
        )
        occurrences = []
        null_occurrences = []
        holds_lists = False
        for rows in row_lists:
            engines = [str(row.record.get(engine_field, row.engine)) for row in rows]
            is_measured_by_engine = {
                engine: row.has_numbers for engine, row in zip(engines, rows, strict=True)
            }
            for engine, row in zip(engines, rows, strict=True):
                word = row.word_by_field.get(field_name)
                has_number = row.has_numbers
                if word is None:
                    if engine_field and row.record.get(field_name, "") is None:
                        null_occurrences.append(
                            Occurrence(None, has_number, {}, row.idle_engines, engine)
                        )
                    continue
                if number_field is not None:
                    has_number = row.find_value(number_field) is not None
                measured_by_engine = is_measured_by_engine if engine else {}
                occurrences.append(
                    Occurrence(word, has_number, measured_by_engine, row.idle_engines, engine)
                )
                # With other numbers, the row lacks only a part.
                if row.has_numbers:
                    occurrences.append(Occurrence(word, True, {}, ()))
                holds_lists |= isinstance(row.record[field_name], list)
        occurrences += null_occurrences
        # For an engine that ran it may be unknown (None) whether it has numbers here.
        words_with_numbers = {
            occurrence.value
            for occurrence in occurrences
            if occurrence.has_numbers or (engine_field and occurrence.has_numbers is None)
        }
        words_without_numbers = words - words_with_numbers
        are_numbers_missing = {
            occurrence.has_numbers
            for occurrence in occurrences
            if occurrence.value in words_without_numbers
        } == {False}
        are_words_separate = bool(
            words_with_numbers
            and words_without_numbers
            and are_numbers_missing
            and (is_status_name or engine_field)
        )
        total_field = self.total_fields.get((*path, Field(field_name)), "")
        is_part_of_total = total_field != "" and (
            total_field != DAYS_PLACEHOLDER or engine_field != ""
        )
        says_data_missing = bool(engine_field) and any(map(read_absence_code, words))
        says_data_missing |= are_numbers_missing and all(map(_says_data_missing, map(str, words)))
        is_small_table = path != self._structure.main_row_path and not (
            _is_in_rows(path[:-1])
            or any(has_numbers(row.record) for row in chain.from_iterable(row_lists))
        )
        says_data_missing |= is_small_table and any(
            _says_data_missing(word) and is_code(word) for word in words if isinstance(word, str)
        )
        if number_field is None and not (
            are_words_separate or is_part_of_total or says_data_missing
        ):
            return
        header_path = self._structure.header_by_row_path.get(path)
        last_step = Field(field_name) if header_path is None else Named(header_path, field_name)
        field_path = (*path, last_step, *([Each()] if holds_lists else []))
        self.total_fields[field_path] = total_field
        self._occurrences[field_path] += occurrences
        self.engine_fields[field_path] = engine_field
        if number_field is not None or are_words_separate:
            self.evidence[field_path] = "numbers are missing beside some of its words"

    def _add_fields(self, document: Any, path: Steps) -> None:
        """Store the values of an object, and of its nested objects and lists.

        The object is not a row of a table.
        """
        if not isinstance(document, dict) or len(path) > _MAX_PATH_LENGTH:
            return
        extent_by_count_key = self._find_count_extents(document, path)
        for key, value in document.items():
            field_path = (*path, Field(key))
            inner_names = value if isinstance(value, dict) else ()
            is_about_data = any(has_word_of(name, "drawn") for name in inner_names)
            is_about_data |= any(map(_says_data_missing, _iter_texts(value)))
            if echoes_request(key) and not is_about_data:
                continue
            is_legend = isinstance(value, dict) and is_word_of(key, "legend")
            if is_legend or _are_matrix_labels(value, document.values()):
                continue
            if isinstance(value, dict):
                if self._maps_engines_to_words(key, value):
                    self._add_occurrence(field_path, value)
                elif not self._add_map(value, field_path):
                    self._add_fields(value, field_path)
            elif isinstance(value, list):
                header_paths = self._structure.header_by_row_path.values()
                if all(path[: len(field_path)] != field_path for path in header_paths):
                    self._add_items(value, field_path)
            elif extent_by_count_key.get(key) is not None:
                self._add_occurrence(field_path, extent_by_count_key[key], self._has_numbers)
            elif _is_word(value) and not _TIMESTAMP_PATTERN.fullmatch(str(value)):
                self._add_occurrence(field_path, value, self._has_numbers)

    def _add_map(self, value: Mapping[str, Any], path: Steps) -> bool:
        """Store the values of an object as rows, if its keys are data, such as dates.

        Return whether the keys are data. ``path`` leads to the object.
        """
        row_path = (*path, Entries())
        if self._has_engine_keys(value):
            self._engine_map_paths.add(row_path)
            flags_and_engines = [(self._is_measured_by_engine[engine], engine) for engine in value]
            self._add_rows([*value.values()], row_path, flags_and_engines)
        elif path in self._structure.data_key_object_paths:
            self._add_rows([*value.values()], row_path)
        else:
            return False
        return True

    def _add_items(self, items: list[Any], path: Steps) -> None:
        """Store the items of a list as texts, rows, or notices (objects with a message).

        ``path`` leads to the list.
        """
        row_path = (*path, Each())
        header_path = self._structure.header_by_row_path.get(row_path)
        if header_path is None and (len(items) <= _MAX_NOTICES or _is_in_gap_list(row_path)):
            items = [*map(join_short_list, items)]
        records = [item for item in items if isinstance(item, dict)]
        are_measured = has_numbers(
            records, lambda key: is_id_time_or_lack(key) or is_word_of(key, "mark")
        )
        is_gap_list = _is_in_gap_list(row_path) and not are_measured
        is_main_table = row_path == self._structure.main_row_path and are_measured
        are_notices = not is_main_table and all(map(_is_notice, records))
        if header_path is not None:
            column_names = self._response.descend(header_path).values
            cell_lists = [item for item in items if isinstance(item, list)]
            grid_records = [dict(zip(column_names, cells, strict=False)) for cells in cell_lists]
            self._add_rows(grid_records, row_path)
        elif items and all(map(_is_word, items)):
            self._add_occurrence(path, items, self._has_numbers)
        elif row_path not in self._row_lists and (
            (are_notices and len(records) <= _MAX_NOTICES) or is_gap_list
        ):
            for record in records:
                engine_keys = [
                    key for key, value in record.items() if _is_text_in(value, self._engines)
                ]
                engine = record[engine_keys[0]] if engine_keys else ""
                text_keys = [key for key, value in record.items() if isinstance(value, str)]
                # A record in a list of gaps states a lack, whatever its text is.
                steps_and_codes = [*_iter_codes(record)] or [
                    ((Field(key),), "*") for key in text_keys[:is_gap_list]
                ]
                if engine:
                    steps_and_codes = [
                        (steps, code)
                        for steps, code in steps_and_codes
                        if steps != (Field(engine_keys[0]),) or code == "*"
                    ]
                has_code = any(" " not in code for _, code in steps_and_codes)
                for steps, code in steps_and_codes:
                    if engine and has_code and " " in code:
                        continue
                    code_path = (*path, Each(), *steps)
                    has_number = self._is_measured_by_engine.get(engine, self._has_numbers)
                    self._add_occurrence(code_path, code, has_number, engine)
                    if engine:
                        self.engine_fields[code_path] = engine_keys[0]
                    self.notice_paths.add(code_path)
        else:
            self._add_rows(records, row_path)

    def _add_rows(
        self,
        items: Sequence[Any],
        path: Steps,
        flags_and_engines: Sequence[tuple[bool | None, str]] = (),
        outer_records: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """Store rows of a table, and the rows nested in them.

        ``flags_and_engines`` has a tuple per row: whether the object around the row has numbers,
        and the name of the engine (AI assistant) of this object. ``outer_records`` are these
        objects.
        """
        records = [item for item in items if isinstance(item, dict)]
        if not records:
            return
        number_flags: list[bool | None] = [
            has_numbers(record, is_id_time_or_lack) for record in records
        ]
        engines = [""] * len(records)
        if len(flags_and_engines) == len(records):
            engines = [engine for _, engine in flags_and_engines]
            have_own_numbers = any(number_flags)
            number_flags = [
                has_own_number and is_container_measured is not False
                if have_own_numbers
                else is_container_measured
                for has_own_number, (is_container_measured, _) in zip(
                    number_flags, flags_and_engines, strict=True
                )
            ]
        if not any(number_flags):  # the numbers that these rows speak of are elsewhere
            is_outside_rows = not _is_in_rows(path[:-1])
            number_flags = [
                next(
                    (
                        self._is_measured_by_engine[cell]
                        for cell in record.values()
                        if _is_text_in(cell, self._is_measured_by_engine)
                    ),
                    self._has_numbers if is_outside_rows and not flags_and_engines else has_number,
                )
                for record, has_number in zip(records, number_flags, strict=True)
            ]
        rows = [
            ResponseRow(
                record,
                {key: _take_flag_or_text(value) for key, value in record.items()}
                | self._find_count_extents(record, path),
                has_number,
                self._idle_engines,
                engine,
                outer_record,
            )
            for record, has_number, engine, outer_record in zip(
                records, number_flags, engines, outer_records or [{}] * len(records), strict=True
            )
        ]
        self._row_lists[path].append(rows)
        engine_field = self._find_engine_field(records[0], [rows])
        for key in dict.fromkeys(chain.from_iterable(records)):
            values = [record.get(key) for record in records]
            field_path = (*path, Field(key))
            objects = [value for value in values if isinstance(value, dict)]
            engine_maps = [value for value in objects if self._maps_engines_to_words(key, value)]
            if engine_maps:
                self._add_occurrence(field_path, engine_maps[0])
            elif len(path) <= _MAX_PATH_LENGTH:
                objects = [value for value in objects if not self._add_map(value, field_path)]
                if engine_field:
                    self._outer_engine_fields[field_path] = engine_field
                outer_rows = [
                    row for row in rows if any(row.record.get(key) is value for value in objects)
                ]
                outer_flags_and_engines = [
                    (row.has_numbers, str(row.record.get(engine_field, ""))) for row in outer_rows
                ]
                outer_records = [row.record for row in outer_rows]
                self._add_rows(objects, field_path, outer_flags_and_engines, outer_records)
                for value in values:
                    if isinstance(value, list) and _is_in_gap_list((*field_path, Each())):
                        self._add_items(value, field_path)
                    elif isinstance(value, list):
                        self._add_rows(value, (*field_path, Each()))

    def _find_engine_field(
        self, field_names: Iterable[str], row_lists: list[list[ResponseRow]]
    ) -> str:
        """Return the field with the name of each row's AI engine; "" if there is none."""
        for field_name in field_names:
            text_lists = [[str(row.record.get(field_name)) for row in rows] for rows in row_lists]
            is_engine_name = find_target({field_name: ""}) == ("engine", "")
            are_engines = is_engine_name or self._engines.issuperset(
                chain.from_iterable(text_lists)
            )
            if are_engines and all(len({*texts}) == len(texts) for texts in text_lists):
                return field_name
        return ""

    def _maps_engines_to_words(self, key: str, value: Mapping[str, Any]) -> bool:
        """Return whether an object maps engines (AI assistants) to texts, booleans or codes."""
        allowed_types = str | bool | int | float if has_word_of(key, "place") else str | bool
        numbers = {item for item in value.values() if type(item) is int}
        if len(numbers) < len(value) and numbers and min(numbers) < 0 and max(numbers) < _MAX_WORDS:
            allowed_types = int  # a code of each, as a count is never
        return (
            all(item is None or isinstance(item, allowed_types) for item in value.values())
            and not any(map(_is_number_text, value.values()))
            and any(item is not None for item in value.values())
            and 0 < 0.8 * len(value) <= sum(engine in self._engines for engine in value)
        )


def _find_total_by_count(records: Sequence[tuple[Mapping[str, Any], bool]]) -> dict[str, str]:
    """Return a dict from each field that has a count to the field that has its total.

    ``records`` has tuples: an object with the fields, and whether its response has data.
    """
    number_keys = dict.fromkeys(
        key
        for record, _ in records
        for key, item in record.items()
        if to_count(item) is not None
        and not any(has_word_of(key, name) for name in ("lack_count", "negation", "previous"))
    )
    total_keys = [key for key in number_keys if not has_word_of(key, "ceiling")]
    total_by_count: dict[str, str] = {}
    for count_key in number_keys if len(records) > 1 else ():
        other_keys = (key for key in total_keys if key != count_key)
        total_key = next(
            (key for key in other_keys if _is_count_of_total(records, count_key, key)), None
        )
        if total_key is not None and not is_id_time_or_lack(count_key):
            total_by_count[count_key] = total_key
    return total_by_count


def _is_count_of_total(
    records: Sequence[tuple[Mapping[str, Any], bool]], count_field: str, total_field: str
) -> bool:
    """Return whether the values of two fields look like a count and its total.

    ``records`` has tuples: an object with the fields, and whether its response has data.
    """
    record_count = full_count = positive_count = 0
    is_part_name = has_word_of(count_field, "part")
    is_day_count = True  # days of the window are known, so fewer of them need to be complete
    for record, is_measured in records:
        count = to_count(record.get(count_field))
        total = to_count(record.get(total_field))
        if count is None or total is None or total <= 0:
            continue
        is_day_count &= total == Scope().days
        is_full = count == total > 2
        # Pages may be read, and allowances used up, before any engine ran.
        if not 0 <= count <= total or (is_full and not (is_measured or is_part_name)):
            return False
        record_count += 1
        full_count += is_full
        positive_count += count > 0
    is_often_full = is_day_count or positive_count <= 2 * full_count
    return is_often_full and 0 < full_count < record_count


def _are_matrix_labels(names: Any, sibling_values: Iterable[Any]) -> bool:
    """Return whether a list has one label per column of a matrix in a sibling field.

    Examples
    --------
    >>> matrix = [[3, 4], [5, 6]]
    >>> _are_matrix_labels(["gemini", "grok"], [matrix]), _are_matrix_labels(["gemini"], [matrix])
    (True, False)
    """
    matrices = [value for value in sibling_values if isinstance(value, list) and value is not names]
    rows = [row for matrix in matrices for row in matrix if isinstance(row, list)]
    return isinstance(names, list) and any(len(row) == len(names) for row in rows)


def _is_word(value: Any) -> bool:
    """Return whether a value is a boolean or a short text, and not the address of a site."""
    is_short = isinstance(value, str | bool) and len(str(value)) <= _MAX_WORD_LENGTH
    return is_short and "://" not in str(value) and not _HOST_PATTERN.fullmatch(str(value))


def _is_text_in(value: Any, texts: Collection[str]) -> bool:
    """Return whether a value is one of some texts."""
    return isinstance(value, str) and value in texts


def _find_measured_engines(response: Any, engines: Collection[str]) -> Iterator[str]:
    """Yield those of the engines (AI assistants) for which a response has numbers."""
    for record in _iter_nested_values(response):
        if isinstance(record, dict):
            texts = [text for text in record.values() if _is_text_in(text, engines)]
            yield from texts if texts and has_numbers(record, is_id_time_or_lack) else ()
            yield from (key for key, item in record.items() if key in engines and has_numbers(item))


def _take_flag_or_text(value: Any) -> Any:
    """Return a text or boolean unchanged; for a list, its first text; for other values, None."""
    if isinstance(value, list):
        return next((item for item in value if isinstance(item, str)), None)
    return value if isinstance(value, str | bool) and not _is_number_text(value) else None


def _is_number_text(value: Any) -> bool:
    """Return whether a value is a number that is written as text."""
    return isinstance(value, str) and bool(_DECIMAL_PATTERN.fullmatch(value))


def _tells_missing_number(
    row_lists: list[list[ResponseRow]], field_name: str, number_field: str
) -> bool:
    """Return whether the texts of rows that lack a number differ from those of rows that have one.

    ``field_name`` has the texts. ``number_field`` has the numbers, and null where one is missing.
    ``row_lists`` has the rows of each list in the responses.
    """
    words_without_number = set()
    words_with_number = set()
    is_repeated = False
    for rows in row_lists:
        words_and_missing = [
            (row.word_by_field.get(field_name), row.find_value(number_field) is None)
            for row in rows
        ]
        list_words_without_number = {
            word for word, is_missing in words_and_missing if is_missing and word is not None
        }
        list_words_with_number = {word for word, is_missing in words_and_missing if not is_missing}
        words_without_number |= list_words_without_number
        words_with_number |= list_words_with_number
        if list_words_without_number and list_words_with_number:
            is_repeated |= len(list_words_without_number | list_words_with_number) < len(
                words_and_missing
            )
    numbers = [row.find_value(number_field) for rows in row_lists for row in rows]
    is_measured_field = has_word_of(field_name, "place") or (
        not is_id_time_or_lack(number_field) and has_numbers(numbers)
    )
    is_measured_field &= not any(
        isinstance(number, bool)
        or (isinstance(number, str) and not _DECIMAL_PATTERN.fullmatch(number))
        for number in numbers
    )
    is_measured_field &= words_of("lack_count", "place_lack", "due").isdisjoint(
        tokens(number_field)
    )
    return is_repeated and is_measured_field and words_without_number.isdisjoint(words_with_number)


def _iter_codes(
    record: Mapping[str, Any], are_messages: bool = False
) -> Iterator[tuple[Steps, str]]:
    """Yield the path and the text of each code or message in an object and the objects in it.

    ``are_messages`` says whether all texts are messages, such as one message in two languages.
    """
    for key, value in record.items():
        is_message = are_messages or has_word_of(key, "place_reason")
        if isinstance(value, dict):
            inner_codes = _iter_codes(value, is_message)
            yield from (((Field(key), *steps), code) for steps, code in inner_codes)
        elif isinstance(value, str) and (is_message or _CODE_PATTERN.fullmatch(value)):
            yield (Field(key),), value


def is_id_time_or_lack(key: str) -> bool:
    """Return whether numbers under a key are ids, times, or counts of missing data."""
    return (
        meaning_of(key).kind in ("id", "time")
        or has_word_of(key, "lack_count")
        or has_word_of(key, "due")
        # The length of the window.
        or (has_word_of(key, "days") and {*tokens(key)} <= words_of("days", "whole", "filler"))
    )


def _is_word_for_part(token: str) -> bool:
    """Return whether a word means that a part is completed, such as ``scanned``.

    Such a word is in the name of a count, as in ``scannedPages``.
    """
    means_done = token in words_of("part") or token.endswith("ed")
    return means_done and token not in words_of("whole", "lack_count")


def _is_notice(record: Mapping[str, Any]) -> bool:
    """Return whether an object is a notice: it has a message, such as why data are missing."""
    return any(value and has_word_of(key, "place_reason") for key, value in record.items())


def value_at(document: Any, path: Sequence[Step]) -> Any:
    """Return the value at a path of field names; None if the document has no such path."""
    for step in path:
        if not isinstance(step, Field) or not isinstance(document, dict):
            return None
        document = document.get(step.name)
    return document


def _is_understood(path_text: str, understood_paths: Sequence[str]) -> bool:
    """Return whether the toolkit understands the values at a path without a rule by the user.

    ``understood_paths`` are the JSON paths of all such values.
    """
    paths = (path[1:].replace('["', ".").replace('"]', "").lstrip(".") for path in understood_paths)
    return any(path and is_on_path_of_rule(path, path_text) for path in paths)


# --- how likely, and what words mean ------------------------------------------------------------


Legend = Mapping[str, str]
"""Maps each code of a response to the text that explains it."""


def _is_legend(value: Any) -> bool:
    """Return whether a value is a dict from codes to sentences that explain them."""
    texts = [*value.values()] if isinstance(value, dict) else []
    are_texts = bool(texts) and all(isinstance(text, str) for text in texts)
    return are_texts and " " in "".join(texts) and " " not in "".join(value)


def _find_legend(occurrences: list[Occurrence], legends: Sequence[Legend]) -> Legend:
    """Return the first dict that explains all codes at a path; an empty dict if there is none."""
    codes = {
        to_word(word_occurrence.value)
        for occurrence in occurrences
        for word_occurrence in _split_by_word(occurrence)
    } - {"null"}
    return next((legend for legend in legends if codes and codes <= legend.keys()), {})


def _score_path(
    path: Steps,
    occurrences: list[Occurrence],
    numbers_reason: str,
    legend: Legend,
    *,
    is_count: bool,
) -> tuple[int, str]:
    """Score how likely the values at a path say which data are missing.

    Return the score (a higher score is likelier), and the main reason for it as text.
    ``numbers_reason`` is what numbers next to the values show, as text. ``legend`` maps codes to
    texts that explain them. ``is_count`` says whether the values are counts that have a total.
    """
    path_fields = _field_names(path)
    is_status_name = has_word_of(path_fields[-1], "place")
    score = 2 * is_status_name
    texts = [text for occurrence in occurrences for text in _iter_texts(occurrence.value)]
    says_data_missing = any(
        _says_data_missing(legend.get(text, text), is_status_name) for text in texts
    )
    idle_engines = {
        engine
        for occurrence in occurrences
        for engine in occurrence.idle_engines
        if any(map(_engine_name_pattern(engine).search, _iter_texts(occurrence.value)))
    }
    if any(map(_lists_measured_engines, occurrences)):
        idle_engines = set()  # such a list does not say which engines lack data
    first_value = occurrences[0].value
    are_codes = all(
        _ENUM_PATTERN.fullmatch(str(occurrence.value))
        for occurrence in occurrences
        if occurrence.value is not None
    )
    are_codes |= {type(occurrence.value) for occurrence in occurrences} == {bool}
    words_with_numbers = {
        occurrence.value
        for occurrence in occurrences
        if are_codes and occurrence.has_numbers is not False
    }
    words_without_numbers = {
        occurrence.value for occurrence in occurrences if are_codes
    } - words_with_numbers
    score -= 2 * has_word_of(path_fields[-1], "trade")
    is_flag = (
        isinstance(first_value, bool) and state_of_named_flag(path_fields[-1], False) is not None
    )
    is_gap_list = isinstance(first_value, list) and has_word_of(path_fields[-1], "negation")
    is_gap_list |= _is_in_gap_list(path)
    is_certain = is_count or idle_engines or is_flag or is_gap_list
    if not (is_certain or any(occurrence.engine for occurrence in occurrences)):
        score -= 3 * any(has_word_of(key, "business") for key in path_fields[-3:])
    name_reason = "a name for states of data" if is_status_name else ""
    scored_reasons = (
        (
            3 + 2 * isinstance(first_value, dict),
            f"names {_join_words(idle_engines & {*occurrences[0].idle_engines} or idle_engines)}, "
            "which never ran",
            idle_engines,
        ),
        (3, "the words of an absence", says_data_missing),
        (
            3,
            f"numbers are missing beside {_join_words(words_without_numbers)}",
            words_without_numbers and words_with_numbers,
        ),
        (3, numbers_reason, numbers_reason),
        (3, "a list under a name for what lacks", is_gap_list),
        (3, "a count and its total, by engine", is_count and occurrences[0].engine),
        (1, name_reason, is_status_name and isinstance(first_value, bool | list)),
    )
    for points, reason, applies in scored_reasons:
        if applies:
            return score + points, reason
    return (score, name_reason) if score > 1 else (0, "")


def _lists_measured_engines(occurrence: Occurrence) -> bool:
    """Return whether a value lists engines (AI assistants) with data, or those that ran.

    Such a list does not say which data are missing.
    """
    value, _, is_measured_by_engine, idle_engines, _ = occurrence
    names = {*value} if isinstance(value, list) else set()
    measured_engines = {
        engine for engine, is_measured in is_measured_by_engine.items() if is_measured
    }
    are_engines_that_ran = (
        names <= is_measured_by_engine.keys() and len(names.difference(idle_engines)) > 1
    )
    return are_engines_that_ran or (len(measured_engines) > 1 and measured_engines <= names)


def _is_in_gap_list(path: Steps) -> bool:
    """Return whether a path leads into a list with a name for missing data, such as ``gaps``."""
    if path.count(Each()) > 1:  # rows of gaps may be the business of the section
        path = path[path.index(Each()) + 1 :]
    keys = _field_names(path)
    return Each() in path and any(has_word_of(key, "gaps") for key in keys)


def _join_words(words: Collection[object]) -> str:
    """Return the first three words in alphabetical order as text, joined by commas."""
    return ", ".join(sorted(map(to_word, words))[:3])


def _field_names(path: Steps) -> list[str]:
    """Return the names of the fields on a path, the outermost first."""
    return [step.name for step in path if isinstance(step, Field | Named)]


def _is_in_rows(path: Steps) -> bool:
    """Return whether a path leads into a list, or into an object whose keys are data."""
    return any(isinstance(step, Each | Entries) for step in path)


def _is_in_other_rows(path: Steps, main_path: Steps) -> bool:
    """Return whether a path leads into rows outside the object that contains the main table."""
    main_object_path = tuple(takewhile(lambda step: isinstance(step, Field), main_path))
    return _is_in_rows(path[:-1]) and path[: len(main_object_path)] != main_object_path


def _iter_nested_values(value: Any) -> Iterator[Any]:
    """Yield a JSON value and all values nested in it."""
    yield value
    for item in (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    ):
        yield from _iter_nested_values(item)


def _iter_texts(value: Any) -> Iterator[str]:
    """Yield all texts in a JSON value, including the keys of objects."""
    for item in _iter_nested_values(value):
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            yield from item


def _says_data_missing(text: str, is_status_name: bool = True) -> bool:
    """Return whether a text says that something is missing or was not done.

    ``is_status_name`` says whether the name of the field suggests a state of data. If it does not,
    the word "not" in a sentence is not enough.
    """
    word = find_word(text) if is_code(text) else find_word_in_text(text)
    is_missing_word = word is not None and word.canonical != "available"
    return is_missing_word or (has_word_of(text, "negation") and (is_status_name or is_code(text)))


class _WordMeanings:
    """Guesses the meaning of each text at a path, such as ``not_run``.

    It guesses from the words in the text, and from whether there are numbers next to the text.
    ``mixed_word`` is a text that the response for all engines has, but that some response for a
    single engine lacks; or "". ``legend`` maps codes to texts that explain them.
    """

    def __init__(
        self,
        path: Steps,
        occurrences: list[Occurrence],
        mixed_word: str,
        legend: Legend,
        *,
        is_notice: bool,
        is_count: bool,
    ) -> None:
        self._legend = legend
        field_names = _field_names(path)
        self._key = field_names[-1]
        self._is_in_rows = _is_in_rows(path)
        lexicon_keys = ("place", "source", "about_data")
        self._is_about_data = self._is_in_rows or any(
            has_word_of(key, lexicon_key) for key in field_names for lexicon_key in lexicon_keys
        )
        self._is_list = any(isinstance(occurrence.value, list) for occurrence in occurrences)
        has_gap_name = _is_in_gap_list(path) or any(
            has_word_of(key, "place_lack") for key in field_names
        )
        texts = [text for occurrence in occurrences for text in _iter_texts(occurrence.value)]
        words = [find_word(text) or _find_standard_word(text) for text in texts]
        canonical_words = {word and word.canonical for word in words}
        says_available = "available" in canonical_words
        self._is_support_table = canonical_words <= {
            "available",
            "unavailable",
            "not_applicable",
        } and any(
            state_of_flag(False, text) == AVAILABILITY_BY_TERM["not_applicable"] for text in texts
        )
        self._may_end = any(is_word_of(text, "done") for text in texts)
        ongoing_texts = {text for text in texts if has_word_of(text, "ongoing")}
        # `running` is no passing state if it can be `paused`, or be `running_with_errors`.
        is_lasting = len(ongoing_texts) > 1 or any(has_word_of(text, "paused") for text in texts)
        self._lasting_text = min(ongoing_texts, key=len, default="") if is_lasting else ""
        self._is_notice, self._is_count = is_notice, is_count
        self._names_row_kind = (
            self._is_in_rows and not is_notice and has_word_of(self._key, "class")
        )
        self._says_missing = is_notice or ((self._is_list or has_gap_name) and not says_available)
        self._may_be_note = not has_gap_name
        self._number_flags_by_word: dict[str, list[bool | None]] = defaultdict(list)
        self._words_by_engine: dict[str, set[str]] = defaultdict(set)
        self._idle_flags_by_word: dict[str, list[bool]] = defaultdict(list)
        word_occurrences = [*chain.from_iterable(map(_split_by_word, occurrences))]
        complete_words = set()  # of projects of which each engine ran
        for value, has_number, is_measured_by_engine, idle_engines, engine in word_occurrences:
            word = to_word(value)
            complete_words |= {word} if is_measured_by_engine and not idle_engines else set()
            self._number_flags_by_word[word].append(has_number)
            self._idle_flags_by_word[word].append(engine in idle_engines)
            if engine not in idle_engines and (
                not is_measured_by_engine or True in is_measured_by_engine.values()
            ):
                self._words_by_engine[engine].add(word)
        self._are_engines_known = all(
            occurrence.is_measured_by_engine for occurrence in word_occurrences
        )
        available_words = [
            word
            for word, number_flags in self._number_flags_by_word.items()
            if False not in number_flags and word.count(" ") < 3 and word != mixed_word
            if not _says_data_missing(legend.get(word, word))
            if len(self._number_flags_by_word) > 1 and not self._says_missing
        ]
        self._available_word = max(
            available_words,
            key=lambda word: (
                word not in _FLAG_WORDS and find_word(word) is not None,
                word in complete_words,
                True in self._number_flags_by_word[word],
                len(self._number_flags_by_word[word]),
            ),
            default="",
        )

    def guess_meanings(self) -> dict[str, str]:
        """Return a dict from each text at the path to its probable meaning, such as ``not_run``."""
        meanings = {
            text: meaning
            for text in sorted(self._number_flags_by_word)
            if (meaning := self._guess_meaning(text)) is not None
        }
        is_only_lack = {*meanings.values()} == {"partial", "not_applicable"}
        is_unknown_flag = not (_FLAG_WORDS.isdisjoint(meanings) or has_word_of(self._key, "place"))
        is_doubtful = is_unknown_flag or "not_applicable" in meanings.values()
        if is_only_lack or (is_doubtful and {*self._words_by_engine} == {""}):
            # That something applies, or a flag of unknown name, does not say that it was measured.
            return {
                text: NO_MEANING
                if meaning == "available"
                or (meaning == "partial" and (text in _FLAG_WORDS or find_word(text) is None))
                else meaning
                for text, meaning in meanings.items()
            }
        return meanings

    def _guess_meaning(self, text: str) -> str | None:
        """Return the probable meaning of one text at the path, such as ``not_run``.

        Return None for ``null`` if its presence says nothing about the data.
        """
        number_flags = {*self._number_flags_by_word[text]}
        if text.endswith("UNSPECIFIED") or (text in ("", "NONE") and True in number_flags):
            return NO_MEANING  # how Protocol Buffers write that nothing is said
        is_flag = text in _FLAG_WORDS
        says_missing = self._says_missing
        key_tokens = tokens(self._key)
        text_tokens = tokens(text)
        explanation = self._legend.get(text, text)
        if text_tokens[: len(key_tokens)] == key_tokens:  # as `KIND_NONE` under `kind`
            explanation = self._legend.get(text, "_".join(text_tokens[len(key_tokens) :]))
        word = find_word(text)
        if word is None or word.canonical != "available":  # a legend knows better what is missing
            word = find_word(explanation) or _find_standard_word(explanation) or word
        if word is None and matches_form(self._key, "observation_status"):
            code = meaning_by_word("observation").get(text.lower())
            word = Word(code, STRONG) if code else None
        engines = [name for name, words in self._words_by_engine.items() if name and text in words]
        if word and self._is_support_table and word.canonical in ("available", "unavailable"):
            # As `none` beside `supported`: what an engine can show may not be measured.
            return NO_MEANING if word.canonical == "available" else "not_applicable"
        is_mixed = {False, True} <= number_flags
        if is_flag and (flag_state := state_of_named_flag(self._key, text == "true")) is not None:
            return _term_of_availability(flag_state)
        if text == "false" and (flag_state := state_of_named_flag(self._key, True)) is not None:
            # False under `isPartial` says that all is there, under `empty` only that something is.
            return "available" if flag_state.status == Status.PARTIAL else NO_MEANING
        is_denial = not self._may_be_note or has_word_of(self._key, "negation")
        if text == "true" and is_mixed and not is_denial:
            return NO_MEANING  # what an engine can show may be there, or not
        if text == "true" and len(self._number_flags_by_word) == 1 and not is_denial:
            return "available" if self._is_about_data else NO_MEANING
        if says_missing and " " in text and not engines:
            is_method_note = self._may_be_note and word is None and "{engine}" not in text
            if (is_method_note and not has_word_of(text, "negation")) or (
                is_mixed and self._are_engines_known
            ):
                return NO_MEANING  # a sentence about the method, or there whatever was measured
        if word is None and self._names_row_kind and {*self._words_by_engine} <= {""}:
            return "not_applicable" if number_flags == {False} else NO_MEANING
        is_positive = word is not None and word.canonical == "available"
        if is_positive and text.endswith("ing") and self._may_end:
            return "partial"  # `measuring`, where it may be `finished`
        if not engines and (is_word_of(text, "success") or (is_positive and self._is_notice)):
            return NO_MEANING  # a task that succeeded may have read a part
        if word and not is_flag and not (says_missing and not engines and is_positive):
            has_numbers_beside = True in number_flags and word.availability.status in EMPTY
            if has_numbers_beside and text == self._lasting_text:
                return "available"
            # What does not apply to an engine is about all of its numbers.
            is_about_engine = engines and word.canonical == "not_applicable"
            # A vague word for all of the response, in which there are always numbers.
            is_vague = word.strength < STRONG or word.canonical == "unavailable"
            is_contradicted = is_vague and not (engines or is_mixed or self._is_count)
            is_partial = (
                has_numbers_beside
                and not is_about_engine
                and (says_missing or " " in text or self._is_in_rows or is_contradicted)
            )
            return "partial" if is_partial else word.canonical
        if number_flags == {False}:
            if all(self._idle_flags_by_word[text]):
                return "not_run"
            # If several engines that ran have only this word, it does not apply to such engines.
            is_only_word = all(self._words_by_engine[name] == {text} for name in engines)
            is_inapplicable = is_only_word and len(engines) > 1 and not self._is_list
            return (
                "not_applicable"
                if is_inapplicable
                else _term_of_availability(state_of_flag(False, self._key))
            )
        is_about_all = has_word_of(text, "universal") and not has_word_of(text, "exception")
        if word is None and is_about_all and not (engines or _says_data_missing(text)):
            return "available"  # as `All values are published.`
        if text == "null":  # a reason that is not there denies nothing
            return "available" if number_flags == {True} else None
        if text == self._available_word:
            return "available" if self._is_about_data or engines else NO_MEANING
        # A kind of rows that lack nothing.
        may_be_row_kind = self._is_in_rows and not is_mixed and not has_word_of(self._key, "place")
        is_sole_word = len(self._number_flags_by_word) == 1
        # With numbers in one response and without in another, or without a contrast to other words;
        # a sentence that names no lack tells what was measured.
        is_sentence = text.count(" ") > 3
        lacks_contrast = text != "false" if is_mixed else is_sole_word or is_flag or is_sentence
        says_nothing = may_be_row_kind or (lacks_contrast and not self._is_in_rows)
        return (
            NO_MEANING
            if says_nothing and not (engines or says_missing or _says_data_missing(text))
            else "partial"
        )


def _term_of_availability(availability: Availability) -> str:
    """Return the standard term, such as ``not_run``, that stands for an availability."""
    return next(term for term, meaning in AVAILABILITY_BY_TERM.items() if meaning == availability)


def _find_standard_word(text: str) -> Word | None:
    """Return the standard word for missing data that a sentence or code contains, or None."""
    if not is_code(text):
        return find_word_in_text(text)
    last_tokens = () if has_word_of(text, "negation") else tokens(text)[-1:]
    return find_word_in_text(spaced(text)) or find_word_of_parts(last_tokens)


def _split_by_word(occurrence: Occurrence) -> Iterator[Occurrence]:
    """Yield an `Occurrence` for each item if the value is a list or dict, else for the value.

    In texts, the name of an engine (AI assistant) is replaced by ``{engine}``, and numbers by
    ``*``.
    """
    value, has_number, engine_flags, idle_engines, engine = occurrence
    if isinstance(value, dict):
        numbers = [word for word in value.values() if type(word) in (int, float)]
        maximum = max(numbers, default=0)
        for name, word in value.items():
            is_timestamp = isinstance(word, str) and _TIMESTAMP_PATTERN.fullmatch(word)
            is_share = word in numbers and maximum in (1.0, 100, 10_000) and 0 < word < maximum
            word = "*" if is_timestamp or is_share else word
            yield Occurrence(word, engine_flags.get(name), engine_flags, idle_engines, name)
    for item in value if isinstance(value, list) else () if isinstance(value, dict) else [value]:
        text = item
        name = ""
        if isinstance(item, str) and (isinstance(value, list) or " " in item):
            engines_by_length = sorted(engine_flags, key=len, reverse=True)
            name = next(
                (
                    engine_name
                    for engine_name in engines_by_length
                    if engine_name and _engine_name_pattern(engine_name).search(item)
                ),
                "",
            )
            text = _engine_name_pattern(name).sub("{engine}", item, count=1) if name else item
            may_have_numbers = " " in text or _TIMESTAMP_PATTERN.match(text)
            text = _NUMBER_IN_TEXT_PATTERN.sub("*", text) if may_have_numbers else text
        yield Occurrence(
            text, engine_flags.get(name, has_number), engine_flags, idle_engines, name or engine
        )


@lru_cache
def _engine_name_pattern(engine: str) -> re.Pattern[str]:
    """Return a regular expression for the name of an engine (AI assistant) as a whole word.

    It ignores case.
    """
    return re.compile(rf"\b{re.escape(engine)}\b", re.IGNORECASE)


# --- beside other responses ---------------------------------------------------------------------


def find_emptied_paths(
    draft_tables: Sequence[DraftTable], document: Any, unmeasured_response: Any
) -> tuple[str, ...]:
    """Return the path of the main table's rows, if an engine that never ran has no rows there.

    The result is a tuple of one path, or an empty tuple.
    """
    if unmeasured_response is None or detect(unmeasured_response).signals:
        return ()
    path = tuple(takewhile(lambda step: isinstance(step, Field), draft_tables[0].steps))
    empty_values: tuple[Any, ...] = (None, [], {})
    is_emptied = (
        value_at(document, path) not in empty_values
        and value_at(unmeasured_response, path) in empty_values
    )
    return (format_path(path) or "$",) if is_emptied else ()
