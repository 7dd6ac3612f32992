"""Find the paths in responses whose values may say which data are missing.

A person confirms later whether they do. Such a path is called a candidate.
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
    SILENT,
    STATES,
    STRONG,
    Word,
    find_target,
    find_word,
    find_word_in_text,
    find_word_of_parts,
    has_numbers,
    is_bookkeeping,
    is_code,
    read_absence_code,
    repeats_question,
    state_of_flag,
    state_of_named_flag,
)
from aatoolkit.availability.status import EMPTY, Availability, Status
from aatoolkit.jsontree.paths import Each, Entries, Field, Named, Step, format_path, parse_pattern
from aatoolkit.jsontree.vectors import Vector
from aatoolkit.scope import Scope
from aatoolkit.sections.availability_rule import WINDOW, as_count, as_text, extent_word, to_word
from aatoolkit.sections.inference.findings import Relation
from aatoolkit.sections.inference.words import meaning_of
from aatoolkit.sections.section import is_on_path_of_rule

_ONLY_UNMEASURED = "is there only where nothing was measured"
MAX_CANDIDATES = 4
"""The maximum number of candidates per section."""

_MIN_SCORE, _MAX_NOTICES, _MAX_WORDS, _MAX_LENGTH, _MAX_DEPTH = 3, 12, 6, 200, 12
_CODE = re.compile(
    r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[a-z][a-z0-9]*(?:_[a-z0-9]+)+|[A-Za-z][a-z]+(?:[A-Z][a-z]+)+"
)
_ENUM = re.compile(r"[A-Z][A-Z0-9_]{3,}|[A-Z]")
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d.*")
_NO_STATE = re.compile(r"[A-Z][a-z]+[ A-Z]|[A-Z][a-z]+$|\d{4}-\d\d-\d\d")
_FLAGS = {"true", "false"}
_DECIMAL = re.compile(r"-?[\d.,]+")
_NUMBER_IN_TEXT = re.compile(r"\d[\d.,:/-]*(?<![.,:])")

Path = tuple[Step, ...]


class Row(NamedTuple):
    """A row of a table in a response.

    Attributes
    ----------
    record : mapping
        The row as it is in the JSON.
    words : mapping
        Maps each field to its text or boolean; to None if it has another type.
    has_numbers : bool or None
        Whether the row has measured numbers; None if unknown.
    idle : collection of str
        The engines that never ran.
    engine : str
        The engine of the row; empty if unknown.
    outer_record : mapping
        The enclosing row, if this row is an object in it.
    """

    record: Mapping[str, Any]
    words: Mapping[str, Any]
    has_numbers: bool | None
    idle: Collection[str]
    engine: str = ""
    outer_record: Mapping[str, Any] = {}

    def number(self, field: str) -> Any:
        """Return the value of a field of the row, or else of the enclosing row."""
        return self.record.get(field, self.outer_record.get(field))


class Occurrence(NamedTuple):
    """A value that a response has at a path, and whether measured numbers are next to it.

    Attributes
    ----------
    value : object
        The value.
    has_numbers : bool or None
        Whether the object that contains the value also contains measured numbers.
    measured : mapping of str to bool or None
        Maps each engine to whether the response has numbers of it.
    idle : collection of str
        The engines that never ran.
    engine : str
        The engine that the value is about; empty if unknown.
    """

    value: Any
    has_numbers: bool | None
    measured: Mapping[str, bool | None]
    idle: Collection[str]
    engine: str = ""


class Shapes(NamedTuple):
    """The known facts about the structure of a service's responses.

    Attributes
    ----------
    labels : mapping of str to str
        Maps the label of each engine to the engine's id.
    maps : collection of tuple of Step
        The paths of objects whose keys are data, such as dates.
    headers : mapping
        Maps the path of rows that are lists to the path of their column names.
    main : tuple of Step
        The path to the rows of the main table.
    """

    labels: Mapping[str, str] = {}
    maps: Collection[Path] = ()
    headers: Mapping[Path, Path] = {}
    main: Path = ()


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
        How likely the path says it; likelier paths are listed first.
    value_by_host : mapping of str to object
        Maps each other host to its value at the path.
    words : mapping of str to str
        Maps each value at the path to its probable meaning.
    engine : str
        The field with the engine of a row; ``{}`` if engines are the keys of an object.
    is_of_section : bool
        Whether the values are about the whole section.
    total : str
        The field with the total, if the value is a count.
    alike : tuple of Candidate
        Similar candidates. The answer of a person about this candidate is used for them, too.
    """

    at: str
    value: Any
    why: str
    score: int
    value_by_host: Mapping[str, Any]
    words: Mapping[str, str]
    engine: str = ""
    is_of_section: bool = False
    total: str = ""
    alike: tuple[Candidate, ...] = ()

    @property
    def key(self) -> str:
        """The last field of the path."""
        return self.at.rpartition(".")[2]

    def with_commonest_meanings(self, counts: Counter[tuple[str, str, str]]) -> Candidate:
        """Return a copy in which each word has its commonest meaning by `count_meanings`."""
        words = {
            word: max((meaning, SILENT, *STATES), key=lambda other: counts[self.key, word, other])
            for word, meaning in self.words.items()
        }
        return replace(self, words=words)


def find_candidates(
    document: Any,
    response_by_engines: Mapping[tuple[str, ...], Any],
    active_engines: Collection[str],
    idle_engines: Collection[str],
    shapes: Shapes,
    response_by_host: Mapping[str, Any],
    unmeasured_response: Any,
    engines_by_host: Mapping[str, tuple[Collection[str], Collection[str]]] = {},
) -> list[Candidate]:
    """Return candidates: paths in a response whose values may say which data are missing.

    The likeliest come first.

    Examples
    --------
    >>> response = {"support": {"alpha": "shown", "beta": "not_run_yet"}, "rows": [{"n": 3}]}
    >>> [place] = find_candidates(response, {}, ["alpha"], ["beta"], Shapes(), {}, None)
    >>> place.at, place.why
    ('support', 'names beta, which never ran')
    """
    engines_of_hosts = chain.from_iterable(chain.from_iterable(engines_by_host.values()))
    search = _Search({*active_engines, *idle_engines, *engines_of_hosts}, shapes)
    other_projects = [
        (response, *engines_by_host.get(host, (active_engines, ())))
        for host, response in response_by_host.items()
    ]
    search.learn_totals(
        (response, bool(engines and Vector([response]).descend(shapes.main).values))
        for response, engines, _ in ((document, active_engines, idle_engines), *other_projects)
    )
    for response in (document, *response_by_engines.values()):
        search.read(response, idle_engines)
    for response, _, other_idle_engines in other_projects:
        search.read(response, other_idle_engines)
    search.read(unmeasured_response, idle_engines)
    responses = [document, *response_by_host.values()]
    responses_and_read_paths = [
        (response, [signal.path for signal in detect(response).signals]) for response in responses
    ]
    legends = [*filter(_is_legend, _iter_nested(responses))]
    measured_responses = [
        engine_response
        for engine_response in response_by_engines.values()
        if has_numbers(engine_response)
    ]
    candidates = []
    for path, occurrences in search.occurrences_by_path().items():
        pattern = format_path(path)
        current_value = search.word_at(document, path)
        unmeasured_value = search.word_at(unmeasured_response, path)
        value_by_host = {
            host: search.word_at(response, path) for host, response in response_by_host.items()
        }
        read_path_lists = [
            paths
            for response, paths in responses_and_read_paths
            if value_at(response, path) is not None
        ]
        is_read = all(
            _is_read(pattern, paths)
            for paths in read_path_lists or [responses_and_read_paths[0][1]]
        )
        other_values = [*value_by_host.values(), unmeasured_value or current_value]
        is_same_for_hosts = value_by_host and all(value == current_value for value in other_values)
        is_varied = current_value is None or isinstance(current_value, dict)
        is_lacking_count = bool(search.totals.get(path)) and current_value == "some"
        if is_read or (is_same_for_hosts and not is_varied and not is_lacking_count):
            continue  # what all hosts have in common says nothing about any of them
        is_null = current_value in (None, "", [], {}) and {
            occurrence.has_numbers for occurrence in occurrences
        } == {False}
        default_evidence = _ONLY_UNMEASURED if is_null and has_numbers(document) else ""
        total = search.totals.get(path, "")
        default_evidence = (
            "a part of what is due" if has_word_of(total, "due") else default_evidence
        )
        evidence = search.evidence.get(path, default_evidence)
        legend = _find_legend(occurrences, legends)
        if path in search.notices and not all(
            Vector([response]).descend(path).values for response in responses
        ):
            evidence = evidence or "notes that some responses have, and others do not"
        score, why = _score_path(path, occurrences, evidence, legend, is_count=bool(total))
        other_hosts = [host for host, value in value_by_host.items() if value != current_value]
        if score > 0 and unmeasured_value not in (None, current_value):
            score += 3
            why += f"; is {raw(unmeasured_value)[:60]} where nothing was measured"
        elif other_hosts:
            score += 1
            why += f"; differs for {', '.join(other_hosts)}"
        if score < _MIN_SCORE:
            continue
        overall_word, is_notice = to_word(current_value), path in search.notices
        is_mixture = any(
            to_word(search.word_at(engine_response, path)) != overall_word
            for engine_response in measured_responses
        )
        mixed_word = overall_word if is_mixture else ""
        meanings = _WordEvidence(
            path, occurrences, mixed_word, legend, is_notice=is_notice
        ).meanings()
        is_denied = any(map(_denies, meanings)) or _is_in_gaps(path)
        if len(meanings) > _MAX_NOTICES and not is_denied:
            continue  # names or ids
        is_of_other_rows = "available" in meanings.values() and _is_in_other_rows(path, shapes.main)
        candidate = Candidate(
            pattern,
            # In rows, or in another response, there is no current value.
            occurrences[0].value if current_value is None else current_value,
            why,
            score,
            value_by_host,
            meanings,
            search.engine_fields.get(path, ""),
            is_notice or is_of_other_rows,
            total,
        )
        candidates.append(candidate)
    return _select_likeliest(candidates, document)


def _select_likeliest(candidates: list[Candidate], document: Any) -> list[Candidate]:
    """Return the likeliest candidates (paths that may say which data are missing).

    Similar candidates are joined into one.
    """
    likeliest: list[Candidate] = []
    candidate_by_root: dict[str, Candidate] = {}
    for candidate in sorted(
        candidates,  # codes before sentences
        key=lambda item: (-item.score, isinstance(item.value, str) and " " in item.value),
    ):
        candidate_by_root.setdefault(_find_absent_root(document, candidate.at), candidate)
    candidates = [*candidate_by_root.values()]
    denying_candidates = [
        candidate
        for candidate in candidates
        if any(map(_denies, candidate.words)) and not candidate.total
    ]
    denying_parents = {candidate.at.rpartition(".")[0] for candidate in denying_candidates}
    for candidate in candidates:
        parent, _, key = candidate.at.rpartition(".")
        has_denying_sibling = (
            "[]" in parent
            and parent in denying_parents
            and candidate not in denying_candidates
            and not (candidate.total and candidate.engine)
            and not has_word_of(candidate.total, "due")
        )
        if has_denying_sibling and not has_word_of(key, "place"):
            continue  # a field beside it says why numbers are missing beside such a kind of rows
        if not any(_are_alike(candidate, other) for other in likeliest):
            likeliest.append(candidate)
    return [
        replace(
            candidate,
            alike=tuple(
                other_candidate
                for other_candidate in candidates
                if other_candidate is not candidate and _are_alike(other_candidate, candidate)
            ),
        )
        for candidate in likeliest[:MAX_CANDIDATES]
    ]


def count_meanings(candidates: Iterable[Candidate]) -> Counter[tuple[str, str, str]]:
    """Count the triples of field, word and meaning in the candidates of all sections.

    A service means the same by a word in each section, so its commonest meaning is the likeliest.
    """
    return Counter(
        (candidate.key, *item) for candidate in candidates for item in candidate.words.items()
    )


def _find_absent_root(document: Any, pattern: str) -> str:
    """Return the beginning of a path up to the first field that is missing in a response.

    If no field of the path is missing, return the whole path. Candidates with the same beginning
    come from one object, such as ``error``, so one of them is enough.

    Examples
    --------
    >>> _find_absent_root({"rows": []}, "error.cause.code"), _find_absent_root({"n": 1}, "n")
    ('error', 'n')
    """
    steps = parse_pattern(pattern)
    for count, step in enumerate(steps, start=1):
        if not isinstance(step, Field):
            break
        if value_at(document, steps[:count]) in (None, [], {}):
            return format_path(steps[:count])
    return pattern


def _are_alike(candidate: Candidate, other: Candidate) -> bool:
    """Return whether two candidates are so similar that a person need be asked about only one."""
    parent, _, key = candidate.at.rpartition(".")
    other_parent, _, other_key = other.at.rpartition(".")
    is_same_parent = parent == other_parent != "" and not candidate.total
    is_same_field = key == other_key != ""
    words = candidate.words.keys() - ({"null"} if is_same_field else {"null", *_FLAGS})
    return (is_same_field or is_same_parent) and not words.isdisjoint(other.words)


# --- where --------------------------------------------------------------------------------------


class _Search:
    """Collects the values in responses that may say which data are missing, by path."""

    def __init__(self, engines: Collection[str], shapes: Shapes) -> None:
        self._engines = {*engines, *shapes.labels}
        self._shapes = shapes
        self._occurrences: dict[Path, list[Occurrence]] = defaultdict(list)
        self._row_lists: dict[Path, list[list[Row]]] = defaultdict(list)
        self.evidence: dict[Path, str] = {}
        """Maps the path of a field to what the numbers next to its values show, as a sentence."""
        self.engine_fields: dict[Path, str] = {}
        """Maps the path of a field in rows to the field with the engine; ``{}`` for keys of an
        object.
        """
        self.notices: set[Path] = set()
        self.totals: dict[Path, str] = {}
        """Maps the path of a count to the name of the field with its total."""
        self._total_by_count: dict[Path, dict[str, str]] = {}
        self._engine_map_paths: set[Path] = set()
        self._outer_engine_fields: dict[Path, str] = {}

    def learn_totals(self, responses: Iterable[tuple[Any, bool]]) -> None:
        """Find pairs of fields where one is a count and the other its total, such as 25 of 30 days.

        ``responses`` has tuples: the JSON of a response, and whether it has data.
        """
        records_by_path: dict[Path, list[tuple[Mapping[str, Any], bool]]] = defaultdict(list)
        for response, is_measured in responses:
            for path, record in self._iter_records(response, ()):
                records_by_path[path].append((record, is_measured))
        self._total_by_count = {
            path: {
                count_key: total_key
                for count_key, total_key in _find_totals(records).items()
                # In rows, one measure is often a part of another.
                if Each() not in path or any(map(_is_word_for_part, tokens(count_key)))
            }
            for path, records in records_by_path.items()
        }

    def _iter_records(self, value: Any, path: Path) -> Iterator[tuple[Path, Mapping[str, Any]]]:
        """Yield the path and value of each nested object.

        Objects whose keys are data, such as dates, are left out.
        """
        steps_and_items: list[tuple[Step, Any]] = []
        if isinstance(value, list):
            steps_and_items = [(Each(), item) for item in value]
        elif isinstance(value, dict) and (self._is_of_engines(value) or path in self._shapes.maps):
            steps_and_items = [(Entries(), item) for item in value.values()]
        elif isinstance(value, dict):
            yield path, value
            steps_and_items = [(Field(key), item) for key, item in value.items()]
        for step, item in steps_and_items:
            yield from self._iter_records(item, (*path, step))

    def _is_of_engines(self, value: Mapping[str, Any]) -> bool:
        return bool(value) and self._engines.issuperset(value)

    def read(self, response: Any, idle: Collection[str] = ()) -> None:
        """Collect the values of one response.

        ``idle`` are the engines (AI assistants) that never ran on its host.
        """
        labels = self._shapes.labels
        self._response = Vector([response])
        self._has_numbers = has_numbers(
            response, lambda key: is_bookkeeping(key) or is_id_time_or_lack(key)
        )
        self._idle = {*idle, *(label for label, engine in labels.items() if engine in idle)}
        measured_engines = {
            labels.get(name, name) for name in _find_measured_engines(response, self._engines)
        }
        default_measured = None if self._has_numbers and not measured_engines else False
        self._measured = {
            name: name not in self._idle
            and (labels.get(name, name) in measured_engines or default_measured)
            for name in self._engines
        }
        self._add_fields(response, ())

    def occurrences_by_path(self) -> dict[Path, list[Occurrence]]:
        """Return a dict from paths whose values may say which data are missing to lists of values.

        Each value is an `Occurrence`, which also says whether there are numbers next to it.
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
            for field_name in field_names:
                if field_name != engine_field:
                    self._add_field(path, field_name, number_fields, row_lists, engine_field)
        return self._occurrences

    def word_at(self, response: Any, path: Path) -> Any:
        """Return the value at a path.

        A count that has a total becomes ``none``, ``some`` or ``full``.
        """
        value = value_at(response, path)
        if not self.totals.get(path):
            return value
        return extent_word(value, value_at(response, (*path[:-1], Field(self.totals[path]))))

    def _find_count_words(self, record: Mapping[str, Any], path: Path) -> dict[str, str | None]:
        """Return a dict from each count of an object to ``none``, ``some`` or ``full``.

        The word compares the count with its total. Counts without a total are left out.
        """
        names = _field_names(path)
        is_under_data_key = any(has_word_of(name, "place") for name in names)
        number_keys = [
            key
            for key, item in record.items()
            if as_count(item) is not None
            and not (is_word_of(key, "listed") or has_word_of(key, "bound"))
            and not (item in (0, 1) and find_word(key))
        ]
        is_sample = any(has_word_of(name, "sample") for name in names[-2:])
        word_by_count_key, filler_words = {}, words_of("whole", "filler")
        for count_key in number_keys:
            nouns = {token for token in tokens(count_key) if not _is_word_for_part(token)}
            is_of_days = bool(nouns & words_of("days")) and nouns <= words_of("days", "engine")
            is_of_days &= nouns != {*tokens(count_key)}  # which is the length of the window
            concept = "whole" if is_under_data_key or is_of_days else "due"
            total_key = next(
                (
                    key
                    for key in number_keys
                    if has_word_of(key, concept)
                    and nouns in ({*tokens(key)} - words_of("whole"), {*tokens(key)} - filler_words)
                ),
                WINDOW if is_of_days else "",
            )
            is_sure = is_of_days or has_word_of(total_key, "due")
            if not total_key or (nouns == {*tokens(count_key)} and not is_sure):
                total_key = self._total_by_count.get(path, {}).get(count_key, "")
            if not total_key and len(number_keys) == 2 and is_sample:
                # Of the two counts of a sample, the greater one is what was drawn from.
                total_key = max(number_keys, key=lambda key: as_count(record[key]) or 0)
                total_key = "" if total_key == count_key else total_key
            if total_key:
                due_count = Scope().days if total_key == WINDOW else record.get(total_key)
                word_by_count_key[count_key] = extent_word(record[count_key], due_count)
                self.totals[(*path, Field(count_key))] = total_key
        return word_by_count_key

    def _add_occurrence(
        self, path: Path, value: Any, has_numbers: bool | None = None, engine: str = ""
    ) -> None:
        self._occurrences[path].append(
            Occurrence(value, has_numbers, self._measured, self._idle, engine)
        )

    def _add_field(
        self,
        path: Path,
        key: str,
        number_fields: Iterable[str],
        row_lists: list[list[Row]],
        engine_field: str,
    ) -> None:
        """Store the values of a field of rows, if they may say which numbers are missing."""
        words: set[Any] = {row.words.get(key) for row in chain.from_iterable(row_lists)} - {None}
        is_named = has_word_of(key, "place")
        is_dimension = any(
            has_word_of(key, name) for name in ("topic", "category", "brand", "finding")
        )
        is_dimension = (is_dimension and not is_named) or not self._engines.isdisjoint(words)
        if is_dimension or not 0 < len(words) <= _MAX_WORDS:
            return
        are_texts = all(isinstance(word, str) for word in words)
        are_names = are_texts and all(map(_NO_STATE.match, words)) and not any(map(_denies, words))
        if not (are_texts or is_named or engine_field) or (are_names and not is_named):
            return
        number_field = next(
            (name for name in number_fields if _marks_missing_number(row_lists, key, name)), None
        )
        occurrences, null_occurrences = [], []
        is_in_list = False
        for rows in row_lists:
            engines = [str(row.record.get(engine_field, row.engine)) for row in rows]
            measured_by_engine = {
                engine: row.has_numbers for engine, row in zip(engines, rows, strict=True)
            }
            for engine, row in zip(engines, rows, strict=True):
                word, has_number = row.words.get(key), row.has_numbers
                if word is None:
                    if engine_field and row.record.get(key, "") is None:
                        null_occurrences.append(Occurrence(None, has_number, {}, row.idle, engine))
                    continue
                if number_field is not None:
                    has_number = row.number(number_field) is not None
                measured_beside = measured_by_engine if engine else {}
                occurrences.append(Occurrence(word, has_number, measured_beside, row.idle, engine))
                # With other numbers, the row lacks only a part.
                if row.has_numbers and engine_field in ("", "{}"):
                    occurrences.append(Occurrence(word, True, {}, ()))
                is_in_list |= isinstance(row.record[key], list)
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
            and (is_named or engine_field)
        )
        total = self.totals.get((*path, Field(key)), "")
        is_counted_part = total != "" and (total != WINDOW or engine_field != "")
        is_denied = bool(engine_field) and any(map(read_absence_code, words))
        is_denied |= are_numbers_missing and all(map(_denies, map(str, words)))
        if number_field is None and not (are_words_separate or is_counted_part or is_denied):
            return
        header = self._shapes.headers.get(path)
        last_step = Field(key) if header is None else Named(header, key)
        field_path = (*path, last_step, *([Each()] if is_in_list else []))
        self.totals[field_path] = total
        self._occurrences[field_path] += occurrences
        self.engine_fields[field_path] = engine_field
        if number_field is not None or are_words_separate:
            self.evidence[field_path] = "numbers are missing beside some of its words"

    def _add_fields(self, document: Any, path: Path) -> None:
        """Store the values of an object that is not a row, and of its nested objects and lists."""
        if not isinstance(document, dict) or len(path) > _MAX_DEPTH:
            return
        word_by_count_key = self._find_count_words(document, path)
        for key, value in document.items():
            field_path = (*path, Field(key))
            names = value if isinstance(value, dict) else ()
            is_of_data = any(has_word_of(name, "drawn") for name in names)
            is_of_data |= any(map(_denies, _iter_texts(value)))
            if repeats_question(key) and not is_of_data:
                continue
            is_legend = isinstance(value, dict) and is_word_of(key, "legend")
            if is_legend or _is_axis(value, document.values()):
                continue
            if isinstance(value, dict):
                if self._is_by_engine(key, value):
                    self._add_occurrence(field_path, value)
                elif not self._add_map(value, field_path):
                    self._add_fields(value, field_path)
            elif isinstance(value, list):
                if (*field_path, Each()) not in self._shapes.headers.values():
                    self._add_items(value, field_path)
            elif word_by_count_key.get(key) is not None:
                self._add_occurrence(field_path, word_by_count_key[key], self._has_numbers)
            elif _is_word(value) and not _TIMESTAMP.fullmatch(str(value)):
                self._add_occurrence(field_path, value, self._has_numbers)

    def _add_map(self, value: Mapping[str, Any], path: Path) -> bool:
        """Store the entries of an object as rows, if its keys are data; return whether they are."""
        row_path = (*path, Entries())
        if self._is_of_engines(value):
            self._engine_map_paths.add(row_path)
            measured_and_engines = [(self._measured[engine], engine) for engine in value]
            self._add_rows([*value.values()], row_path, measured_and_engines)
        elif path in self._shapes.maps:
            self._add_rows([*value.values()], row_path)
        else:
            return False
        return True

    def _add_items(self, items: list[Any], path: Path) -> None:
        """Store the items of a list: as texts, as notices (objects with a message) or as rows."""
        row_path = (*path, Each())
        header = self._shapes.headers.get(row_path)
        if header is None and (len(items) <= _MAX_NOTICES or _is_in_gaps(row_path)):
            items = [*map(as_text, items)]
        records = [item for item in items if isinstance(item, dict)]
        are_measured = has_numbers(
            records, lambda key: is_id_time_or_lack(key) or is_word_of(key, "mark")
        )
        is_of_gaps = _is_in_gaps(row_path) and not are_measured
        is_main = row_path == self._shapes.main and are_measured
        are_notices = not is_main and all(map(_is_notice, records))
        if header is not None:
            column_names = self._response.descend(header).values
            cell_lists = [item for item in items if isinstance(item, list)]
            grid_records = [dict(zip(column_names, cells, strict=False)) for cells in cell_lists]
            self._add_rows(grid_records, row_path)
        elif items and all(map(_is_word, items)):
            self._add_occurrence(path, items, self._has_numbers)
        elif row_path not in self._row_lists and (
            (are_notices and len(records) <= _MAX_NOTICES) or is_of_gaps
        ):
            for record in records:
                engine_keys = [key for key, value in record.items() if _is_in(value, self._engines)]
                engine = record[engine_keys[0]] if engine_keys else ""
                text_keys = [key for key, value in record.items() if isinstance(value, str)]
                # A record in a list of gaps states a lack, whatever its text is.
                steps_and_codes = [*_iter_codes(record)] or [
                    ((Field(key),), "*") for key in text_keys[:is_of_gaps]
                ]
                for steps, code in steps_and_codes:
                    is_name = engine and steps == (Field(engine_keys[0]),) and code != "*"
                    if is_name or (engine and " " in code):
                        continue
                    code_path = (*path, Each(), *steps)
                    has_number = self._measured.get(engine, self._has_numbers)
                    self._add_occurrence(code_path, code, has_number, engine)
                    if engine:
                        self.engine_fields[code_path] = engine_keys[0]
                    self.notices.add(code_path)
        else:
            self._add_rows(records, row_path)

    def _add_rows(
        self,
        items: Sequence[Any],
        path: Path,
        containers: Sequence[tuple[bool | None, str]] = (),
        outer_records: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """Store rows, and the rows nested in them.

        ``containers`` has a tuple per row: whether the object around the row has numbers, and its
        engine.
        """
        records = [item for item in items if isinstance(item, dict)]
        if not records:
            return
        have_numbers: list[bool | None] = [
            has_numbers(record, is_id_time_or_lack) for record in records
        ]
        engines = [""] * len(records)
        if len(containers) == len(records):
            engines = [engine for _, engine in containers]
            have_own_numbers = any(have_numbers)
            have_numbers = [
                has_own_number and is_container_measured is not False
                if have_own_numbers
                else is_container_measured
                for has_own_number, (is_container_measured, _) in zip(
                    have_numbers, containers, strict=True
                )
            ]
        if not any(have_numbers):  # the numbers that these rows speak of are elsewhere
            is_outside_rows = not _is_in_rows(path[:-1])
            have_numbers = [
                next(
                    (
                        self._measured[cell]
                        for cell in record.values()
                        if _is_in(cell, self._measured)
                    ),
                    self._has_numbers if is_outside_rows and not containers else has_number,
                )
                for record, has_number in zip(records, have_numbers, strict=True)
            ]
        rows = [
            Row(
                record,
                {key: _take_flag_or_text(value) for key, value in record.items()}
                | self._find_count_words(record, path),
                has_number,
                self._idle,
                engine,
                outer_record,
            )
            for record, has_number, engine, outer_record in zip(
                records, have_numbers, engines, outer_records or [{}] * len(records), strict=True
            )
        ]
        self._row_lists[path].append(rows)
        engine_field = self._find_engine_field(records[0], [rows])
        for key in dict.fromkeys(chain.from_iterable(records)):
            values, field_path = [record.get(key) for record in records], (*path, Field(key))
            objects = [value for value in values if isinstance(value, dict)]
            engine_maps = [value for value in objects if self._is_by_engine(key, value)]
            if engine_maps:
                self._add_occurrence(field_path, engine_maps[0])
            elif len(path) <= _MAX_DEPTH:
                objects = [value for value in objects if not self._add_map(value, field_path)]
                if engine_field:
                    self._outer_engine_fields[field_path] = engine_field
                outer_rows = [
                    row for row in rows if any(row.record.get(key) is value for value in objects)
                ]
                row_containers = [
                    (row.has_numbers, str(row.record.get(engine_field, ""))) for row in outer_rows
                ]
                outer_records = [row.record for row in outer_rows]
                self._add_rows(objects, field_path, row_containers, outer_records)
                for value in values:
                    if isinstance(value, list) and _is_in_gaps((*field_path, Each())):
                        self._add_items(value, field_path)
                    elif isinstance(value, list):
                        self._add_rows(value, (*field_path, Each()))

    def _find_engine_field(self, field_names: Iterable[str], row_lists: list[list[Row]]) -> str:
        """Return the field with the name of each row's AI engine; "" if there is none."""
        for field_name in field_names:
            text_lists = [[str(row.record.get(field_name)) for row in rows] for rows in row_lists]
            is_named = find_target({field_name: ""}) == ("engine", "")
            are_engines = is_named or self._engines.issuperset(chain.from_iterable(text_lists))
            if are_engines and all(len({*texts}) == len(texts) for texts in text_lists):
                return field_name
        return ""

    def _is_by_engine(self, key: str, value: Mapping[str, Any]) -> bool:
        """Return whether an object maps engines (AI assistants) to texts, booleans or codes."""
        word_types = str | bool | int | float if has_word_of(key, "place") else str | bool
        numbers = {item for item in value.values() if type(item) is int}
        if len(numbers) < len(value) and numbers and min(numbers) < 0 and max(numbers) < _MAX_WORDS:
            word_types = int  # a code of each, as a count is never
        return (
            all(item is None or isinstance(item, word_types) for item in value.values())
            and any(item is not None for item in value.values())
            and 0 < 0.8 * len(value) <= sum(engine in self._engines for engine in value)
        )


def _find_totals(records: Sequence[tuple[Mapping[str, Any], bool]]) -> dict[str, str]:
    """Return a dict from the name of each field with a count to the field with its total."""
    number_keys = dict.fromkeys(
        key
        for record, _ in records
        for key, item in record.items()
        if as_count(item) is not None
        and not any(has_word_of(key, name) for name in ("lack_count", "negation", "previous"))
    )
    total_keys = [key for key in number_keys if not has_word_of(key, "ceiling")]
    total_by_count: dict[str, str] = {}
    for count_key in number_keys if len(records) > 1 else ():
        other_keys = (key for key in total_keys if key != count_key)
        total_key = next((key for key in other_keys if _is_part_of(records, count_key, key)), None)
        if total_key is not None and not is_id_time_or_lack(count_key):
            total_by_count[count_key] = total_key
    return total_by_count


def _is_part_of(
    records: Sequence[tuple[Mapping[str, Any], bool]], count_field: str, total_field: str
) -> bool:
    """Return whether the values of two fields look like a count and its total.

    ``records`` has tuples: an object, and whether its response has data.
    """
    pair_count = full_count = positive_count = 0
    names_part = has_word_of(count_field, "part")
    is_window = True  # days of the window are known, so fewer of them need to be complete
    for record, is_measured in records:
        count, total = as_count(record.get(count_field)), as_count(record.get(total_field))
        if count is None or total is None or total <= 0:
            continue
        is_window &= total == Scope().days
        is_full = count == total > 2
        # Pages may be read, and allowances used up, before any engine ran.
        if not 0 <= count <= total or (is_full and not (is_measured or names_part)):
            return False
        pair_count += 1
        full_count += is_full
        positive_count += count > 0
    is_often_full = is_window or positive_count <= 2 * full_count
    return is_often_full and 0 < full_count < pair_count


def _is_axis(names: Any, siblings: Iterable[Any]) -> bool:
    """Return whether a list has one label per column of a matrix in a sibling field.

    Examples
    --------
    >>> [_is_axis(names, [[[3, 4], [5, 6]]]) for names in (["gemini", "grok"], ["gemini"])]
    [True, False]
    """
    matrices = [value for value in siblings if isinstance(value, list) and value is not names]
    rows = [row for matrix in matrices for row in matrix if isinstance(row, list)]
    return isinstance(names, list) and any(len(row) == len(names) for row in rows)


def _is_word(value: Any) -> bool:
    is_short = isinstance(value, str | bool) and len(str(value)) <= _MAX_LENGTH
    return is_short and "://" not in str(value)


def _is_in(value: Any, texts: Collection[str]) -> bool:
    return isinstance(value, str) and value in texts


def _find_measured_engines(response: Any, engines: Collection[str]) -> Iterator[str]:
    """Yield those of the engines (AI assistants) for which a response has numbers."""
    for record in _iter_nested(response):
        if isinstance(record, dict):
            texts = [text for text in record.values() if _is_in(text, engines)]
            yield from texts if texts and has_numbers(record, is_id_time_or_lack) else ()
            yield from (key for key, item in record.items() if key in engines and has_numbers(item))


def _take_flag_or_text(value: Any) -> Any:
    """Return ``value`` if it is a text or boolean, the first text if it is a list, else None."""
    if isinstance(value, list):
        return next((item for item in value if isinstance(item, str)), None)
    return value if isinstance(value, str | bool) else None


def _marks_missing_number(row_lists: list[list[Row]], key: str, number_field: str) -> bool:
    """Return whether a field tells rows with a missing number apart from the other rows.

    That is so if its texts differ between rows where ``number_field`` is null and rows where it is
    not.
    """
    words_without, words_with, is_repeated = set(), set(), False
    for rows in row_lists:
        words_and_missing = [(row.words.get(key), row.number(number_field) is None) for row in rows]
        list_words_without = {
            word for word, is_missing in words_and_missing if is_missing and word is not None
        }
        list_words_with = {word for word, is_missing in words_and_missing if not is_missing}
        words_without |= list_words_without
        words_with |= list_words_with
        if list_words_without and list_words_with:
            is_repeated |= len(list_words_without | list_words_with) < len(words_and_missing)
    numbers = [row.number(number_field) for rows in row_lists for row in rows]
    is_number = has_word_of(key, "place") or (
        not is_id_time_or_lack(number_field) and has_numbers(numbers)
    )
    is_number &= not any(
        isinstance(number, bool) or (isinstance(number, str) and not _DECIMAL.fullmatch(number))
        for number in numbers
    )
    is_number &= words_of("lack_count", "place_lack", "due").isdisjoint(tokens(number_field))
    return is_repeated and is_number and words_without.isdisjoint(words_with)


def _iter_codes(record: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """Yield the path and text of each code or message in a notice (an object with a message)."""
    for key, value in record.items():
        if isinstance(value, dict):
            yield from (((Field(key), *steps), code) for steps, code in _iter_codes(value))
        elif isinstance(value, str) and (
            has_word_of(key, "place_reason") or _CODE.fullmatch(value)
        ):
            yield (Field(key),), value


def is_id_time_or_lack(key: str) -> bool:
    """Return whether numbers under a key are ids, times, or counts of missing data."""
    return (
        meaning_of(key).kind in ("id", "time")
        or has_word_of(key, "lack_count")
        or has_word_of(key, "due")
    )


def _is_word_for_part(token: str) -> bool:
    """Return whether a word in the name of a count means a completed part, such as ``scanned``."""
    is_done = token in words_of("part") or token.endswith("ed")
    return is_done and token not in words_of("whole", "lack_count")


def _is_notice(record: Mapping[str, Any]) -> bool:
    """Return whether an object has a message, such as the reason for missing data."""
    return any(value and has_word_of(key, "place_reason") for key, value in record.items())


def value_at(document: Any, path: Sequence[Step]) -> Any:
    """Return the value at a path of field names; None if the document has no such path."""
    for step in path:
        if not isinstance(step, Field) or not isinstance(document, dict):
            return None
        document = document.get(step.name)
    return document


def _is_read(pattern: str, read_paths: Sequence[str]) -> bool:
    """Return whether the values at a path are already understood without a rule of the user.

    ``read_paths`` are the paths of values that are understood.
    """
    paths = (path[1:].replace('["', ".").replace('"]', "").lstrip(".") for path in read_paths)
    return any(path and is_on_path_of_rule(path, pattern) for path in paths)


# --- how likely, and what words mean ------------------------------------------------------------


Legend = Mapping[str, str]
"""Maps each code of a response to the text that explains it."""


def _is_legend(value: Any) -> bool:
    """Return whether a value is a dict from codes to sentences that explain them."""
    texts = [*value.values()] if isinstance(value, dict) else []
    are_texts = len(texts) > 1 and all(isinstance(text, str) for text in texts)
    return are_texts and " " in "".join(texts) and " " not in "".join(value)


def _find_legend(occurrences: list[Occurrence], legends: Sequence[Legend]) -> Legend:
    """Return the first dict that explains all codes at a path; an empty dict if there is none."""
    codes = {
        to_word(entry.value) for occurrence in occurrences for entry in _split_by_word(occurrence)
    } - {"null"}
    return next((legend for legend in legends if codes and codes <= legend.keys()), {})


def _score_path(
    path: Path, occurrences: list[Occurrence], evidence: str, legend: Legend, *, is_count: bool
) -> tuple[int, str]:
    """Return a score for how likely the values at a path say which data are missing.

    The second result is the main reason, as text.
    """
    keys = _field_names(path)
    is_named = has_word_of(keys[-1], "place")
    score = 2 * is_named
    texts = [text for occurrence in occurrences for text in _iter_texts(occurrence.value)]
    is_denied = any(_denies(legend.get(text, text), is_named) for text in texts)
    idle_engines = {
        engine
        for occurrence in occurrences
        for engine in occurrence.idle
        if any(map(_name_pattern(engine).search, _iter_texts(occurrence.value)))
    }
    if any(map(_lists_engines_with_data, occurrences)):
        idle_engines = set()  # such a list does not say which engines lack data
    first_value = occurrences[0].value
    are_codes = all(
        _ENUM.fullmatch(str(occurrence.value))
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
    score -= 2 * has_word_of(keys[-1], "trade")
    is_flag = isinstance(first_value, bool) and state_of_named_flag(keys[-1], False) is not None
    lists_lacks = isinstance(first_value, list) and has_word_of(keys[-1], "negation")
    lists_lacks |= _is_in_gaps(path)
    is_sure = is_count or idle_engines or is_flag or lists_lacks
    if not (is_sure or any(occurrence.engine for occurrence in occurrences)):
        score -= 3 * any(has_word_of(key, "business") for key in keys[-3:])
    name_reason = "a name for states of data" if is_named else ""
    scored_reasons = (
        (
            3 + 2 * isinstance(first_value, dict),
            f"names {_join_words(idle_engines.intersection(occurrences[0].idle) or idle_engines)}, "
            "which never ran",
            idle_engines,
        ),
        (3, "the words of an absence", is_denied),
        (
            3,
            f"numbers are missing beside {_join_words(words_without_numbers)}",
            words_without_numbers and words_with_numbers,
        ),
        (3, evidence, evidence),
        (3, "a list under a name for what lacks", lists_lacks),
        (3, "a count and its total, by engine", is_count and occurrences[0].engine),
        (1, name_reason, is_named and isinstance(first_value, bool | list)),
    )
    for points, reason, applies in scored_reasons:
        if applies:
            return score + points, reason
    return (score, name_reason) if score > 1 else (0, "")


def _lists_engines_with_data(occurrence: Occurrence) -> bool:
    """Return whether a value lists engines (AI assistants) with data, or those that ran.

    Such a list does not say which data are missing.
    """
    value, _, measured, idle, _ = occurrence
    names = {*value} if isinstance(value, list) else set()
    measured_engines = {engine for engine, is_measured in measured.items() if is_measured}
    have_run = names <= measured.keys() and len(names.difference(idle)) > 1
    return have_run or (len(measured_engines) > 1 and measured_engines <= names)


def _is_in_gaps(path: Path) -> bool:
    """Return whether a path leads into a list of missing data, by its name, such as ``gaps``."""
    if path.count(Each()) > 1:  # rows of gaps may be the business of the section
        path = path[path.index(Each()) + 1 :]
    keys = _field_names(path)
    return Each() in path and any(has_word_of(key, "gaps") for key in keys)


def _join_words(words: Collection[object]) -> str:
    return ", ".join(sorted(map(to_word, words))[:3])


def _field_names(path: Path) -> list[str]:
    """Return the names of the fields on a path, the outermost first."""
    return [step.name for step in path if isinstance(step, Field | Named)]


def _is_in_rows(path: Path) -> bool:
    """Return whether a path leads into a list, or into an object whose keys are data."""
    return any(isinstance(step, Each | Entries) for step in path)


def _is_in_other_rows(path: Path, main_path: Path) -> bool:
    """Return whether a path leads into rows outside the object that contains the main table."""
    main_object_path = tuple(takewhile(lambda step: isinstance(step, Field), main_path))
    return _is_in_rows(path[:-1]) and path[: len(main_object_path)] != main_object_path


def _iter_nested(value: Any) -> Iterator[Any]:
    """Yield a value and all values nested in it."""
    yield value
    for item in (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    ):
        yield from _iter_nested(item)


def _iter_texts(value: Any) -> Iterator[str]:
    """Yield all texts in a value, including keys of objects."""
    for item in _iter_nested(value):
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            yield from item


def _denies(text: str, is_named: bool = True) -> bool:
    """Return whether a text says that something is missing or was not done.

    If ``is_named`` is False, the word "not" in a sentence is not enough.
    """
    word = find_word(text) if is_code(text) else find_word_in_text(text)
    lacks = word is not None and word.canonical != "available"
    return lacks or (has_word_of(text, "negation") and (is_named or is_code(text)))


class _WordEvidence:
    """The texts at a path, with the evidence from which the meaning of each text is guessed.

    The evidence is, for example, whether there are numbers next to a text.
    """

    def __init__(
        self,
        path: Path,
        occurrences: list[Occurrence],
        mixed_word: str,
        legend: Legend,
        *,
        is_notice: bool,
    ) -> None:
        self._legend = legend
        keys = _field_names(path)
        self._key = keys[-1]
        self._is_in_rows = _is_in_rows(path)
        concepts = ("place", "source", "about_data")
        self._is_named = self._is_in_rows or any(
            has_word_of(key, concept) for key in keys for concept in concepts
        )
        self._is_list = any(isinstance(occurrence.value, list) for occurrence in occurrences)
        names_lack = _is_in_gaps(path) or any(has_word_of(key, "place_lack") for key in keys)
        texts = [text for occurrence in occurrences for text in _iter_texts(occurrence.value)]
        words = [find_word(text) or _find_word_in(text) for text in texts]
        canonical_words = {word and word.canonical for word in words}
        names_states = "available" in canonical_words
        self._is_support = canonical_words <= {
            "available",
            "unavailable",
            "not_applicable",
        } and any(state_of_flag(False, text) == STATES["not_applicable"] for text in texts)
        self._is_notice = is_notice
        self._is_kind = self._is_in_rows and not is_notice and has_word_of(self._key, "class")
        self._lacks = is_notice or ((self._is_list or names_lack) and not names_states)
        self._is_note = not names_lack
        self._number_flags_by_word: dict[str, list[bool | None]] = defaultdict(list)
        self._words_by_engine: dict[str, set[str]] = defaultdict(set)
        self._is_idle: dict[str, list[bool]] = defaultdict(list)
        word_occurrences = [*chain.from_iterable(map(_split_by_word, occurrences))]
        complete_words = set()  # of projects of which each engine ran
        for value, has_number, measured, idle, engine in word_occurrences:
            word = to_word(value)
            complete_words |= {word} if measured and not idle else set()
            self._number_flags_by_word[word].append(has_number)
            self._is_idle[word].append(engine in idle)
            if engine not in idle and (not measured or True in measured.values()):
                self._words_by_engine[engine].add(word)
        self._is_everywhere = all(occurrence.measured for occurrence in word_occurrences)
        available_words = [
            word
            for word, number_flags in self._number_flags_by_word.items()
            if False not in number_flags and word.count(" ") < 3 and word != mixed_word
            if not _denies(legend.get(word, word))
            if len(self._number_flags_by_word) > 1 and not self._lacks
        ]
        self._available_word = max(
            available_words,
            key=lambda word: (
                word not in _FLAGS and find_word(word) is not None,
                word in complete_words,
                True in self._number_flags_by_word[word],
                len(self._number_flags_by_word[word]),
            ),
            default="",
        )

    def meanings(self) -> dict[str, str]:
        """Return a dict from each text at the path to its probable meaning, such as ``not_run``."""
        meanings = {
            text: meaning
            for text in sorted(self._number_flags_by_word)
            if (meaning := self._meaning_of(text)) is not None
        }
        is_odd_flag = not (_FLAGS.isdisjoint(meanings) or has_word_of(self._key, "place"))
        is_doubtful = is_odd_flag or "not_applicable" in meanings.values()
        if is_doubtful and {*self._words_by_engine} == {""}:
            # That something applies, or a flag of unknown name, does not say that it was measured.
            return {
                text: SILENT
                if meaning == "available" or (meaning == "partial" and text in _FLAGS)
                else meaning
                for text, meaning in meanings.items()
            }
        return meanings

    def _meaning_of(self, text: str) -> str | None:
        """Return the probable meaning of one text at the path, such as ``not_run``.

        Return None for ``null`` if it has no meaning here.
        """
        number_flags = {*self._number_flags_by_word[text]}
        if text.endswith("UNSPECIFIED") or (text in ("", "NONE") and True in number_flags):
            return SILENT  # how Protocol Buffers write that nothing is said
        is_flag, lacks = text in _FLAGS, self._lacks
        key_parts, parts = tokens(self._key), tokens(text)
        explanation = self._legend.get(text, text)
        if parts[: len(key_parts)] == key_parts:  # as `KIND_NONE` under `kind`
            explanation = self._legend.get(text, "_".join(parts[len(key_parts) :]))
        word = find_word(text)
        if word is None or word.canonical != "available":  # a legend knows better what is missing
            word = find_word(explanation) or _find_word_in(explanation) or word
        if word is None and matches_form(self._key, "observation_status"):
            code = meaning_by_word("observation").get(text.lower())
            word = Word(code, STRONG) if code else None
        engines = [name for name, words in self._words_by_engine.items() if name and text in words]
        if word and self._is_support and word.canonical in ("available", "unavailable"):
            # As `none` beside `supported`: what an engine can show may not be measured.
            return SILENT if word.canonical == "available" else "not_applicable"
        is_mixed = {False, True} <= number_flags
        if is_flag and (flag_state := state_of_named_flag(self._key, text == "true")) is not None:
            return _word_of_state(flag_state)
        if text == "false" and (flag_state := state_of_named_flag(self._key, True)) is not None:
            # False under `isPartial` says that all is there, under `empty` only that something is.
            return "available" if flag_state.status == Status.PARTIAL else SILENT
        is_denial = not self._is_note or has_word_of(self._key, "negation")
        if text == "true" and is_mixed and not is_denial:
            return SILENT  # what an engine can show may be there, or not
        if text == "true" and len(self._number_flags_by_word) == 1 and not is_denial:
            return "available" if self._is_named else SILENT
        if lacks and " " in text and not engines:
            is_vague = self._is_note and word is None and "{engine}" not in text
            if (is_vague and not has_word_of(text, "negation")) or (
                is_mixed and self._is_everywhere
            ):
                return SILENT  # a sentence about the method, or there whatever was measured
        if word is None and self._is_kind and {*self._words_by_engine} <= {""}:
            return "not_applicable" if number_flags == {False} else SILENT
        is_positive = word is not None and word.canonical == "available"
        if is_positive and not engines and (self._is_notice or is_word_of(text, "success")):
            return SILENT  # a task that succeeded may have read a part
        if word and not is_flag and not (lacks and not engines and is_positive):
            has_numbers_beside = True in number_flags and word.availability.status in EMPTY
            is_of_part = has_numbers_beside and (lacks or " " in text)
            return "partial" if is_of_part else word.canonical
        if number_flags == {False}:
            if all(self._is_idle[text]):
                return "not_run"
            # If several engines that ran have only this word, it does not apply to such engines.
            are_alone = all(self._words_by_engine[name] == {text} for name in engines)
            is_inapplicable = are_alone and len(engines) > 1 and not self._is_list
            return (
                "not_applicable"
                if is_inapplicable
                else _word_of_state(state_of_flag(False, self._key))
            )
        is_of_all = has_word_of(text, "universal") and not has_word_of(text, "exception")
        if word is None and is_of_all and not (engines or _denies(text)):
            return "available"  # as `All values are published.`
        if text == "null":  # a reason that is not there denies nothing
            return "available" if number_flags == {True} else None
        if text == self._available_word:
            return "available" if self._is_named or engines else SILENT
        # A kind of rows that lack nothing.
        is_kind_of_rows = self._is_in_rows and not is_mixed and not has_word_of(self._key, "place")
        is_sole_word = len(self._number_flags_by_word) == 1
        # With numbers in one response and without in another, or without a contrast to other words.
        says_nothing = text != "false" if is_mixed else is_sole_word or is_flag
        is_silent = is_kind_of_rows or (says_nothing and not self._is_in_rows)
        return SILENT if is_silent and not (engines or lacks or _denies(text)) else "partial"


def _word_of_state(state: Availability) -> str:
    return next(word for word, meaning in STATES.items() if meaning == state)


def _find_word_in(text: str) -> Word | None:
    """Return the standard term for missing data that a sentence or code contains, or None."""
    if not is_code(text):
        return find_word_in_text(text)
    last_parts = () if has_word_of(text, "negation") else tokens(text)[-1:]
    return find_word_in_text(spaced(text)) or find_word_of_parts(last_parts)


def _split_by_word(occurrence: Occurrence) -> Iterator[Occurrence]:
    """Yield an `Occurrence` for each item of a list or dict, or one for any other value.

    In texts, the name of an engine (AI assistant) is replaced by ``{engine}``, and numbers by
    ``*``.
    """
    value, has_number, measured, idle, engine = occurrence
    if isinstance(value, dict):
        numbers = [word for word in value.values() if type(word) in (int, float)]
        largest = max(numbers, default=0)
        for name, word in value.items():
            is_moment = isinstance(word, str) and _TIMESTAMP.fullmatch(word)
            is_part = word in numbers and largest in (1.0, 100, 10_000) and 0 < word < largest
            word = "*" if is_moment or is_part else word
            yield Occurrence(word, measured.get(name), measured, idle, name)
    for item in value if isinstance(value, list) else () if isinstance(value, dict) else [value]:
        text, name = item, ""
        if isinstance(item, str) and (isinstance(value, list) or " " in item):
            engines_by_length = sorted(measured, key=len, reverse=True)
            name = next(
                (
                    engine_name
                    for engine_name in engines_by_length
                    if engine_name and _name_pattern(engine_name).search(item)
                ),
                "",
            )
            text = _name_pattern(name).sub("{engine}", item, count=1) if name else item
            text = _NUMBER_IN_TEXT.sub("*", text) if " " in text or _TIMESTAMP.match(text) else text
        yield Occurrence(text, measured.get(name, has_number), measured, idle, name or engine)


@lru_cache
def _name_pattern(engine: str) -> re.Pattern[str]:
    """Return a regular expression for the name of an engine (AI assistant) as a whole word.

    It ignores case.
    """
    return re.compile(rf"\b{re.escape(engine)}\b", re.IGNORECASE)


# --- beside other responses ---------------------------------------------------------------------


def find_emptied_paths(
    relations: Sequence[Relation], document: Any, unmeasured_response: Any
) -> tuple[str, ...]:
    """Return the path of the main table's rows, if a response without data has no rows there.

    The result is a tuple of one path, or an empty tuple.
    """
    if unmeasured_response is None or detect(unmeasured_response).signals:
        return ()
    path = tuple(takewhile(lambda step: isinstance(step, Field), relations[0].steps))
    empty_values: tuple[Any, ...] = (None, [], {})
    is_emptied = (
        value_at(document, path) not in empty_values
        and value_at(unmeasured_response, path) in empty_values
    )
    return (format_path(path) or "$",) if is_emptied else ()
