"""Find candidates: paths in a section's responses whose values may state availability.

A person confirms or rejects each candidate. A candidate's path leads to a field outside the rows, a
map from engines to values, a list, the code or sentence of notices, or a field of rows. Its score
is higher if

- numbers are missing beside one value at the path and present beside another,
- the value differs between hosts, or in the response in which nothing was measured,
- the values deny something (``not_connected``), or name an engine that never ran.

The score is lower if the key is common in business. A path with the same value for every host is no
candidate. A candidate has no effect until a person confirms it; until then ``tables.hints``
mentions it.

Each word (text, boolean or code) at a path gets a proposed meaning, which follows from the word
itself, or from whether measured numbers are beside it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, takewhile
from typing import Any, NamedTuple

from aatoolkit._util.lexicon import has_word_of, spaced, tokens, words_of
from aatoolkit.availability.detect import detect, raw
from aatoolkit.availability.detect.words import (
    SILENT,
    STATES,
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
from aatoolkit.availability.status import EMPTY, Availability
from aatoolkit.jsontree.paths import Each, Entries, Field, Named, Step, format_path
from aatoolkit.jsontree.vectors import Vector
from aatoolkit.scope import Scope
from aatoolkit.sections.availability_rule import WINDOW, as_count, extent_word, to_word
from aatoolkit.sections.inference.relations import Relation
from aatoolkit.sections.inference.words import meaning_of
from aatoolkit.sections.section import is_on_path_of_rule

_NULL_OBJECT = "is null where nothing was measured, and has data elsewhere"
_ONLY_UNMEASURED = "is there only where nothing was measured"
MAX_CANDIDATES = 4
"""The greatest number of candidates per section."""

_MIN_SCORE, _MAX_NOTICES, _MAX_WORDS, _MAX_LENGTH, _MAX_DEPTH = 3, 12, 6, 200, 6
_CODE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[a-z][a-z0-9]*(?:_[a-z0-9]+)+")
_ENUM = re.compile(r"[A-Z][A-Z0-9_]{3,}|[A-Z]")
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d.*")
_FLAGS = {"true", "false"}
_NUMBER_IN_TEXT = re.compile(r"\d[\d.,:/-]*(?<![.,:])")

Path = tuple[Step, ...]


class Row(NamedTuple):
    """A row of a table in a response.

    Attributes
    ----------
    record : mapping
        The fields of the row and their values.
    words : mapping
        Maps each field to its text or boolean. A count whose total is in the same row has a word
        instead: ``none``, ``some`` or ``full``. Other fields have None.
    has_numbers : bool or None
        Whether the row holds measured numbers; None if that is unknown.
    idle : collection of str
        The idle engines of the response, i.e. those that never ran or are not configured.
    engine : str
        The engine that the row is about, if known, else empty.
    """

    record: Mapping[str, Any]
    words: Mapping[str, Any]
    has_numbers: bool | None
    idle: Collection[str]
    engine: str = ""


class Occurrence(NamedTuple):
    """A value that one response has at a path, and whether measured numbers come with it.

    A value that occurs only where numbers are missing may say why the numbers are missing.

    Attributes
    ----------
    value : object
        A text, boolean or code, a list of such values, or a map from engines to such values.
    has_numbers : bool or None
        Whether the record that contains the value also contains measured numbers; None if unknown.
    measured : mapping of str to bool or None
        For each engine of the response, whether the response has numbers of that engine; None if
        that is unknown.
    idle : collection of str
        The engines that never ran, or are not configured.
    engine : str
        The engine that the value is about, if its record names one, else empty.
    """

    value: Any
    has_numbers: bool | None
    measured: Mapping[str, bool | None]
    idle: Collection[str]
    engine: str = ""


class Shapes(NamedTuple):
    """The structure of a service's responses, as far as it is known.

    Attributes
    ----------
    labels : mapping of str to str
        Maps each other name of an engine, such as its label, to the engine's id.
    maps : collection of tuple of Step
        The paths of objects whose keys are data, such as dates, and not names of fields.
    headers : mapping
        For tables that are lists of lists, maps the path of the rows to the path of the list of
        column names.
    main : tuple of Step
        The path to the rows of the main table.
    """

    labels: Mapping[str, str] = {}
    maps: Collection[Path] = ()
    headers: Mapping[Path, Path] = {}
    main: Path = ()


@dataclass(frozen=True)
class Candidate:
    """A path in a section's responses whose values may state availability.

    Attributes
    ----------
    at : str
        The path, in the spelling of ``at`` of `aatoolkit.sections.Rule`.
    value : object
        The value at the path, as an example.
    why : str
        Why the values at the path may state availability.
    score : int
        How likely the values at the path state availability; the score only decides the order of
        candidates.
    value_by_host : mapping of str to object
        Maps each other host to the value at the path in its response.
    words : mapping of str to str
        Maps each word (text, boolean or code) at the path in any response to its probable meaning.
    engine : str
        The field that names the engine of a row; ``{}`` if the row is the value in a map whose keys
        are engines; empty if the engine is not known.
    is_of_section : bool
        Whether the values are about the whole section, as those in notices or a list of gaps are.
    total : str
        If the value is a count, the field beside it with the number that the count should reach;
        else empty.
    alike : tuple of Candidate
        Other candidates that share a word with this one, and also its field name or its parent
        object. One question to a person settles all of them.
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


def candidates(
    document: Any,
    parts: Mapping[tuple[str, ...], Any],
    ran: Collection[str],
    idle: Collection[str],
    shapes: Shapes,
    by_host: Mapping[str, Any],
    empty: Any,
    engines_by_host: Mapping[str, tuple[Collection[str], Collection[str]]] = {},
) -> list[Candidate]:
    """Return the paths in a response that may state availability, the likeliest first.

    Parameters
    ----------
    document : object
        The decoded response.
    parts : mapping
        Maps each tuple of engines to the same section's response filtered to these engines.
    ran, idle : collection of str
        The project's engines: ``ran`` has those that ran, ``idle`` those that never ran or are not
        configured.
    shapes : Shapes
        The structure of the service's responses, as far as it is known.
    by_host : mapping of str to object
        Maps each other host to its response of the same section.
    empty : object
        The same section's response for an engine that never ran, or another in which nothing was
        measured; None if there is no such response.
    engines_by_host : mapping of str to pair, optional
        Maps each other host to its engines that ran and its idle engines.

    Examples
    --------
    >>> response = {"support": {"alpha": "shown", "beta": "not_run_yet"}, "rows": [{"n": 3}]}
    >>> [place] = candidates(response, {}, ["alpha"], ["beta"], Shapes(), {}, None)
    >>> place.at, place.why
    ('support', 'names beta, which never ran')
    """
    engines_of_hosts = chain.from_iterable(chain.from_iterable(engines_by_host.values()))
    search = _Search({*ran, *idle, *engines_of_hosts}, shapes)
    other_projects = [
        (response, *engines_by_host.get(host, (ran, ()))) for host, response in by_host.items()
    ]
    search.learn_totals(
        (response, bool(engines and Vector([response]).descend(shapes.main).values))
        for response, engines, _ in ((document, ran, idle), *other_projects)
    )
    for response in (document, *parts.values()):
        search.read(response, idle)
    for response, _, idle_engines in (*other_projects, (empty, ran, idle)):
        search.read(response, idle_engines)
    responses = [document, *by_host.values()]
    read_paths = [
        (response, [signal.path for signal in detect(response).signals]) for response in responses
    ]
    legends = [*filter(_is_legend, _iter_nested(responses))]
    measured_parts = [part for part in parts.values() if has_numbers(part)]
    found_candidates = []
    for path, occurrences in search.occurrences_by_path().items():
        pattern = format_path(path)
        current, unmeasured = search.word_at(document, path), search.word_at(empty, path)
        value_by_host = {host: search.word_at(response, path) for host, response in by_host.items()}
        holding_paths = [
            paths for response, paths in read_paths if value_at(response, path) is not None
        ]
        is_null_object = search.evidence.get(path) == _NULL_OBJECT
        if is_null_object and any(
            paths for response, paths in read_paths if value_at(response, path) is None
        ):
            continue  # what is read in these responses explains it
        is_read = all(_is_read(pattern, paths) for paths in holding_paths or [read_paths[0][1]])
        other_values = [*value_by_host.values(), unmeasured or current]
        is_same = value_by_host and all(value == current for value in other_values)
        if is_read or (is_same and current is not None and not isinstance(current, dict)):
            continue  # what all hosts have in common says nothing about any of them
        is_null = current in (None, "", [], {}) and {s.has_numbers for s in occurrences} == {False}
        only_unmeasured = _ONLY_UNMEASURED if is_null and has_numbers(document) else ""
        evidence = search.evidence.get(path, only_unmeasured)
        total = search.totals.get(path, "")
        legend = _find_legend(occurrences, legends)
        score, why = _score_path(path, occurrences, evidence, legend, is_count=bool(total))
        other_hosts = [host for host, value in value_by_host.items() if value != current]
        if score > 0 and unmeasured not in (None, current):
            score, why = score + 3, f"{why}; is {raw(unmeasured)[:60]} where nothing was measured"
        elif other_hosts:
            score, why = score + 1, f"{why}; differs for {', '.join(other_hosts)}"
        if score < _MIN_SCORE:
            continue
        overall_word, is_notice = to_word(current), path in search.notices
        is_mixture = any(
            to_word(search.word_at(part, path)) != overall_word for part in measured_parts
        )
        mixed_word = overall_word if is_mixture else ""
        meanings = _WordEvidence(
            path, occurrences, mixed_word, legend, is_notice=is_notice
        ).meanings()
        is_denied = any(map(_denies, meanings)) or _is_in_gaps(path)
        if len(meanings) > _MAX_NOTICES and not is_denied:
            continue  # names or ids
        is_of_parts = "available" in meanings.values() and _is_in_other_rows(path, shapes.main)
        candidate = Candidate(
            pattern,
            # In rows, in another response, or null elsewhere, there is no current value.
            occurrences[0].value if current is None or is_null_object else current,
            why,
            score,
            value_by_host,
            meanings,
            search.engine_fields.get(path, ""),
            is_notice or is_of_parts,
            total,
        )
        found_candidates.append(candidate)
    stated = [candidate for candidate in found_candidates if _NULL_OBJECT not in candidate.why]
    return _select_likeliest(stated or found_candidates)


def _select_likeliest(candidates: list[Candidate]) -> list[Candidate]:
    """Return at most `MAX_CANDIDATES` candidates, the likeliest first.

    Of several candidates that are alike, only the likeliest is returned; its ``alike`` has the
    others.
    """
    likeliest: list[Candidate] = []
    denying = [candidate for candidate in candidates if any(map(_denies, candidate.words))]
    parents = {candidate.at.rpartition(".")[0] for candidate in denying}
    for candidate in sorted(candidates, key=lambda candidate: -candidate.score):
        parent, _, key = candidate.at.rpartition(".")
        is_stated = "[]" in parent and parent in parents and candidate not in denying
        if is_stated and not has_word_of(key, "place"):
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


def _are_alike(candidate: Candidate, other: Candidate) -> bool:
    """Return whether two candidates share a word, and also a field name or a parent object."""
    pairs = zip(candidate.at.rpartition(".")[::2], other.at.rpartition(".")[::2], strict=True)
    is_same_parent, is_same_key = (part == other_part != "" for part, other_part in pairs)
    is_same_field = is_same_key or (is_same_parent and not candidate.total)
    return is_same_field and not candidate.words.keys().isdisjoint(other.words)


# --- where --------------------------------------------------------------------------------------


class _Search:
    """Collects the values in responses that may state availability, by path.

    Each value is recorded as an `Occurrence`, which also says whether measured numbers are beside
    the value.
    """

    def __init__(self, engines: Collection[str], shapes: Shapes) -> None:
        self._engines = {*engines, *shapes.labels}
        self._shapes = shapes
        self._occurrences: dict[Path, list[Occurrence]] = defaultdict(list)
        self._lists: dict[Path, list[list[Row]]] = defaultdict(list)
        self._columns: set[Path] = set()
        self.evidence: dict[Path, str] = {}
        """Maps the path of a field to what the numbers beside its values show, as a sentence."""
        self.engine_fields: dict[Path, str] = {}
        """Maps the path of a field of rows to the name of the field with the engine of the row.

        The name is ``{}`` if the rows are the values of a map whose keys are engines.
        """
        self.notices: set[Path] = set()
        self.totals: dict[Path, str] = {}
        """Maps the path of a count to the name of the field with its total."""
        self._total_by_count: dict[Path, dict[str, str]] = {}
        self._objects: dict[Path, set[bool | None]] = defaultdict(set)
        self._maps_of_engines: set[Path] = set()
        self._outer_engines: dict[Path, str] = {}

    def learn_totals(self, responses: Iterable[tuple[Any, bool]]) -> None:
        """Find, by their values, the pairs of fields that hold a count and its total.

        The count is of what was measured, such as days. In no record is the count above the total.
        The two are equal in at least half of the records with a count above 0, but not in all
        records, and never in a response in which nothing was measured. ``responses`` has pairs of a
        response and whether anything was measured.
        """
        records: dict[Path, list[tuple[Mapping[str, Any], bool]]] = defaultdict(list)
        for response, is_measured in responses:
            for path, record in self._iter_records(response, ()):
                records[path].append((record, is_measured))
        self._total_by_count = {path: _find_totals(pairs) for path, pairs in records.items()}

    def _iter_records(self, value: Any, path: Path) -> Iterator[tuple[Path, Mapping[str, Any]]]:
        """Yield each object in a value with its path, if the object's keys are names of fields.

        Maps, whose keys are data such as dates, are no such objects, but their values can be. All
        records of a list, or of a map, have the same path.
        """
        items: list[tuple[Step, Any]] = []
        if isinstance(value, list):
            items = [(Each(), item) for item in value]
        elif isinstance(value, dict) and (self._is_of_engines(value) or path in self._shapes.maps):
            items = [(Entries(), item) for item in value.values()]
        elif isinstance(value, dict):
            yield path, value
            items = [(Field(key), item) for key, item in value.items()]
        for step, item in items:
            yield from self._iter_records(item, (*path, step))

    def _is_of_engines(self, value: Mapping[str, Any]) -> bool:
        return bool(value) and self._engines.issuperset(value)

    def read(self, response: Any, idle: Collection[str] = ()) -> None:
        """Collect the values of one response; ``idle`` are its engines that never ran."""
        labels = self._shapes.labels
        self._response = Vector([response])
        self._has_numbers = has_numbers(
            response, lambda key: is_bookkeeping(key) or is_id_time_or_lack(key)
        )
        self._idle = {*idle, *(label for label, engine in labels.items() if engine in idle)}
        measured_engines = {
            labels.get(name, name) for name in _find_measured_engines(response, self._engines)
        }
        unsure = None if self._has_numbers and not measured_engines else False
        self._measured = {
            name: name not in self._idle and (labels.get(name, name) in measured_engines or unsure)
            for name in self._engines
        }
        self._add_fields(response, ())

    def occurrences_by_path(self) -> dict[Path, list[Occurrence]]:
        """Return a dict from each path that may state availability to its occurrences.

        A path leads to a field outside rows, or to a field of rows whose words tell rows with and
        without numbers apart.
        """
        for path, lists in self._lists.items():
            fields = dict.fromkeys(key for rows in lists for row in rows for key in row.record)
            engine = (
                "{}" if path in self._maps_of_engines else self._find_engine_field(fields, lists)
            )
            engine = engine or self._outer_engines.get(path, "")
            for key in fields:
                if key != engine:
                    self._add_field(path, key, fields, lists, engine)
        for path, have_numbers in self._objects.items():
            if path not in self._occurrences and have_numbers == {None, False}:
                self._occurrences[path] = [Occurrence(None, False, {}, self._idle)]
                self.evidence[path] = _NULL_OBJECT
        return self._occurrences

    def word_at(self, response: Any, path: Path) -> Any:
        """Return the value at a path of fields; a count with a total becomes a word like ``full``.

        Return None if the response has no such path.
        """
        value = value_at(response, path)
        if not self.totals.get(path):
            return value
        return extent_word(value, value_at(response, (*path[:-1], Field(self.totals[path]))))

    def _find_count_words(self, record: Mapping[str, Any], path: Path) -> dict[str, str | None]:
        """Return a dict from each field with a count whose total is known to a word for the count.

        The word says how much of the total the count is: ``none``, ``some`` or ``full``. The total
        is in another field of the record, or is the number of days asked for.
        """
        is_under_data_key = any(
            has_word_of(step.name, "place") for step in path if isinstance(step, Field)
        )
        numbers = [key for key, item in record.items() if as_count(item) is not None]
        count_words, fillers = {}, words_of("whole", "filler")
        for count in numbers:
            nouns = {token for token in tokens(count) if not _is_word_for_part(token)}
            concept = "whole" if is_under_data_key or nouns == {"days"} else "due"
            total = next(
                (
                    key
                    for key in numbers
                    if has_word_of(key, concept)
                    and nouns in ({*tokens(key)} - words_of("whole"), {*tokens(key)} - fillers)
                ),
                WINDOW if nouns == {"days"} else "",
            )
            if not total or nouns == {*tokens(count)}:
                total = self._total_by_count.get(path, {}).get(count, "")
            if total:
                due = Scope().days if total == WINDOW else record.get(total)
                count_words[count] = extent_word(record[count], due)
                self.totals[(*path, Field(count))] = total
        return count_words

    def _add_occurrence(
        self, path: Path, value: Any, has_numbers: bool | None = None, engine: str = ""
    ) -> None:
        self._occurrences[path].append(
            Occurrence(value, has_numbers, self._measured, self._idle, engine)
        )

    def _add_field(
        self, path: Path, key: str, fields: Iterable[str], lists: list[list[Row]], engine: str
    ) -> None:
        """Add occurrences of the field ``key`` of rows, if its words may state availability.

        They may if some words occur only beside missing numbers, if the field is a count of what
        was measured, or if words deny that something was measured.
        """
        words: set[Any] = {row.words.get(key) for row in chain.from_iterable(lists)} - {None}
        is_named = has_word_of(key, "place")
        if not 0 < len(words) <= _MAX_WORDS or not self._engines.isdisjoint(words):
            return
        are_texts = all(isinstance(word, str) for word in words)
        if not (are_texts or is_named or engine):
            return
        number_field = next((name for name in fields if _words_lack_number(lists, key, name)), None)
        occurrences, absent_reasons, in_list = [], [], path in self._columns
        for rows in lists:
            engines = [str(row.record.get(engine, row.engine)) for row in rows]
            measured = {name: row.has_numbers for name, row in zip(engines, rows, strict=True)}
            for name, row in zip(engines, rows, strict=True):
                word, has_number = row.words.get(key), row.has_numbers
                if word is None:
                    if engine and row.record.get(key, "") is None:
                        absent_reasons.append(Occurrence(None, has_number, {}, row.idle, name))
                    continue
                if number_field is not None:
                    has_number = row.record.get(number_field) is not None
                beside = measured if name else {}
                occurrences.append(Occurrence(word, has_number, beside, row.idle, name))
                if row.has_numbers and engine in ("", "{}"):  # other numbers: the row lacks a part
                    occurrences.append(Occurrence(word, True, {}, ()))
                in_list |= isinstance(row.record[key], list)
        occurrences += absent_reasons
        # For an engine that ran it may be unknown (None) whether it has numbers here.
        with_numbers = {
            s.value for s in occurrences if s.has_numbers or (engine and s.has_numbers is None)
        }
        without_numbers = words - with_numbers
        is_sure = {s.has_numbers for s in occurrences if s.value in without_numbers} == {False}
        is_separate = bool(with_numbers and without_numbers and is_sure and (is_named or engine))
        total = self.totals.get((*path, Field(key)), "")
        is_counted_part = total != "" and (total != WINDOW or engine != "")
        is_denied = bool(engine) and any(map(read_absence_code, words))
        if are_texts and is_named and _is_in_other_rows((*path, Field(key)), self._shapes.main):
            is_denied |= any(map(_denies, words))
        if number_field is None and not (is_separate or is_counted_part or is_denied):
            return
        header = self._shapes.headers.get(path)
        last = Field(key) if header is None else Named(header, key)
        field_path = (*path, last, *([Each()] if in_list else []))
        self.totals[field_path] = total
        self._occurrences[field_path] += occurrences
        self.engine_fields[field_path] = engine
        if number_field is not None or is_separate:
            self.evidence[field_path] = "numbers are missing beside some of its words"

    def _add_fields(self, document: Any, path: Path) -> None:
        """Add the values of an object outside rows, and of its nested objects and lists."""
        if not isinstance(document, dict) or len(path) > _MAX_DEPTH:
            return
        count_words = self._find_count_words(document, path)
        for key, value in document.items():
            field_path = (*path, Field(key))
            if repeats_question(key) and not any(map(_denies, _iter_texts(value))):
                continue
            if value is None or (isinstance(value, dict) and value):
                self._objects[field_path].add(None if value else self._has_numbers)
            if isinstance(value, dict):
                if self._is_by_engine(key, value):
                    self._add_occurrence(field_path, value)
                elif _find_table_columns(value):
                    self._add_rows([value], field_path)
                elif not self._add_map(value, field_path):
                    self._add_fields(value, field_path)
            elif isinstance(value, list):
                self._add_items(value, field_path)
            elif _is_word(value) and not _TIMESTAMP.fullmatch(str(value)):
                self._add_occurrence(field_path, value, self._has_numbers)
            elif count_words.get(key) is not None:
                self._add_occurrence(field_path, count_words[key], self._has_numbers)

    def _add_map(self, value: Mapping[str, Any], path: Path) -> bool:
        """Add the values of an object as rows if its keys are data; return whether they are data.

        Keys are data, and not names of fields, if they are engines or dates, for example.
        """
        path_of_rows = (*path, Entries())
        if self._is_of_engines(value):
            self._maps_of_engines.add(path_of_rows)
            engines = [(self._measured[engine], engine) for engine in value]
            self._add_rows([*value.values()], path_of_rows, engines)
        elif path in self._shapes.maps:
            self._add_rows([*value.values()], path_of_rows)
        else:
            return False
        return True

    def _add_items(self, items: list[Any], path: Path) -> None:
        """Add the items of a list, which are texts or booleans, notices, or rows."""
        records = [item for item in items if isinstance(item, dict)]
        header = self._shapes.headers.get((*path, Each()))
        is_of_gaps = _is_in_gaps((*path, Each())) and not has_numbers(records, is_id_time_or_lack)
        if header is not None:
            names = self._response.descend(header).values
            lists = [item for item in items if isinstance(item, list)]
            grid = [dict(zip(names, cells, strict=False)) for cells in lists]
            self._add_rows(grid, (*path, Each()))
        elif items and all(map(_is_word, items)):
            self._add_occurrence(path, items, self._has_numbers)
        elif (*path, Each()) not in self._lists and (
            (len(records) <= _MAX_NOTICES and all(map(_is_notice, records))) or is_of_gaps
        ):
            for record in records:
                keys = [key for key, value in record.items() if _is_in(value, self._engines)]
                engine = record[keys[0]] if keys else ""
                texts = [key for key, value in record.items() if isinstance(value, str)]
                # A record in a list of gaps states a lack, whatever its text is.
                codes = [*_iter_codes(record)] or [
                    ((Field(key),), "*") for key in texts[:is_of_gaps]
                ]
                for steps, code in codes:
                    if engine and (" " in code or steps == (Field(keys[0]),)):
                        continue
                    code_path = (*path, Each(), *steps)
                    has_number = self._measured.get(engine, self._has_numbers)
                    self._add_occurrence(code_path, code, has_number, engine)
                    if engine:
                        self.engine_fields[code_path] = keys[0]
                    self.notices.add(code_path)
        else:
            self._add_rows(records, (*path, Each()))

    def _add_rows(
        self, items: Sequence[Any], path: Path, outer: Sequence[tuple[bool | None, str]] = ()
    ) -> None:
        """Store the rows among ``items``, and the rows and the maps from engines nested in them.

        ``outer`` describes what contains each row (an outer row, or an engine in a map): whether
        the container has numbers, and the name of its engine. A row that has only texts and
        booleans is taken to be about its container.
        """
        records = [item for item in items if isinstance(item, dict)]
        if tables := [table for record in records if (table := _find_table_columns(record))]:
            self._columns.add(path)
            records = [
                dict(zip(table, cells, strict=True))
                for table in tables
                for cells in zip(*table.values(), strict=True)
            ]
        if not records:
            return
        have_numbers: list[bool | None] = [
            has_numbers(record, is_id_time_or_lack) for record in records
        ]
        engines = [""] * len(records)
        if len(outer) == len(records):
            engines = [engine for _, engine in outer]
            cells = chain.from_iterable(record.values() for record in records)
            has_words_only = all(isinstance(cell, str | bool | None) for cell in cells)
            have_numbers = [
                is_measured if has_words_only else own and is_measured is not False
                for own, (is_measured, _) in zip(have_numbers, outer, strict=True)
            ]
        if not any(have_numbers):  # the numbers that these rows speak of are elsewhere
            is_outside = not any(isinstance(step, Each | Entries) for step in path[:-1])
            have_numbers = [
                next(
                    (self._measured[v] for v in record.values() if _is_in(v, self._measured)),
                    self._has_numbers if is_outside and not outer else has_number,
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
            )
            for record, has_number, engine in zip(records, have_numbers, engines, strict=True)
        ]
        self._lists[path].append(rows)
        engine_field = self._find_engine_field(records[0], [rows])
        for key in dict.fromkeys(chain.from_iterable(records)):
            values, field_path = [record.get(key) for record in records], (*path, Field(key))
            objects = [value for value in values if isinstance(value, dict)]
            by_engine = [value for value in objects if self._is_by_engine(key, value)]
            if by_engine:
                self._add_occurrence(field_path, by_engine[0])
            elif len(path) <= _MAX_DEPTH:
                objects = [value for value in objects if not self._add_map(value, field_path)]
                if engine_field:
                    self._outer_engines[field_path] = engine_field
                outer_rows = [
                    (row.has_numbers, str(row.record.get(engine_field, "")))
                    for row in rows
                    if any(row.record.get(key) is value for value in objects)
                ]
                self._add_rows(objects, field_path, outer_rows)
                for value in values:
                    if isinstance(value, list) and _is_in_gaps((*field_path, Each())):
                        self._add_items(value, field_path)
                    elif isinstance(value, list):
                        self._add_rows(value, (*field_path, Each()))

    def _find_engine_field(self, fields: Iterable[str], lists: list[list[Row]]) -> str:
        """Return the field that names the engine of each row; an empty text if there is none.

        No two rows of a list may have the same engine.
        """
        for key in fields:
            values = [[str(row.record.get(key)) for row in rows] for rows in lists]
            is_named = find_target({key: ""}) == ("engine", "")
            are_engines = is_named or self._engines.issuperset(chain.from_iterable(values))
            if are_engines and all(len({*texts}) == len(texts) for texts in values):
                return key
        return ""

    def _is_by_engine(self, key: str, value: Mapping[str, Any]) -> bool:
        """Return whether an object maps engines to texts, booleans or codes.

        At least 80 % of the keys must be known engines.
        """
        words = str | bool | int | float if has_word_of(key, "place") else str | bool
        numbers = {item for item in value.values() if type(item) is int}
        if len(numbers) < len(value) and numbers and min(numbers) < 0 and max(numbers) < _MAX_WORDS:
            words = int  # a code of each, as a count is never
        return (
            all(item is None or isinstance(item, words) for item in value.values())
            and any(item is not None for item in value.values())
            and 0 < 0.8 * len(value) <= sum(engine in self._engines for engine in value)
        )


def _find_totals(records: Sequence[tuple[Mapping[str, Any], bool]]) -> dict[str, str]:
    """Return a dict from each field with a count to the field with its total.

    The pairs are found as described at `_Search.learn_totals`.
    """
    fields = dict.fromkeys(
        key
        for record, _ in records
        for key, item in record.items()
        if as_count(item) is not None
        and not (has_word_of(key, "lack_count") or has_word_of(key, "negation"))
    )
    wholes = [key for key in fields if not has_word_of(key, "ceiling")]
    totals: dict[str, str] = {}
    for count in fields if len(records) > 1 else ():
        others = (key for key in wholes if key != count)
        total = next((key for key in others if _is_part_of(records, count, key)), None)
        if total is not None and not is_id_time_or_lack(count):
            totals[count] = total
    return totals


def _is_part_of(
    records: Sequence[tuple[Mapping[str, Any], bool]], count_field: str, total_field: str
) -> bool:
    """Return whether ``total_field`` has the total of the count in ``count_field``.

    The conditions are those of `_Search.learn_totals`.
    """
    pair_count = full_count = positive_count = 0
    is_window = True  # days of the window are known, so fewer of them need to be complete
    for record, is_measured in records:
        count, total = as_count(record.get(count_field)), as_count(record.get(total_field))
        if count is None or total is None or total <= 0:
            continue
        is_window &= total == Scope().days
        is_full = count == total > 2
        if not 0 <= count <= total or (is_full and not is_measured):
            return False
        pair_count, full_count = pair_count + 1, full_count + is_full
        positive_count += count > 0
    are_many = is_window or positive_count <= 2 * full_count
    return are_many and 0 < full_count < pair_count


def _is_word(value: Any) -> bool:
    return isinstance(value, str | bool) and len(str(value)) <= _MAX_LENGTH


def _is_in(value: Any, names: Collection[str]) -> bool:
    return isinstance(value, str) and value in names


def _find_measured_engines(response: Any, engines: Collection[str]) -> Iterator[str]:
    """Yield the engines that have numbers: in a record with their name, or under their own key."""
    for record in _iter_nested(response):
        if isinstance(record, dict):
            texts = [text for text in record.values() if _is_in(text, engines)]
            yield from texts if texts and has_numbers(record, is_id_time_or_lack) else ()
            yield from (key for key, item in record.items() if key in engines and has_numbers(item))


def _find_table_columns(record: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the lists of an object that are the columns of a table, by key; else ``{}``."""
    columns = {key: value for key, value in record.items() if isinstance(value, list)}
    cells = [item for column in columns.values() for item in column]
    lengths = {len(column) for column in columns.values()}
    is_table = len(columns) > 1 and len(lengths) == 1 and has_numbers(cells)
    is_table &= not any(isinstance(item, dict) for item in cells)
    return columns if is_table else {}


def _take_flag_or_text(value: Any) -> Any:
    """Return ``value`` if it is a text or boolean; for a list its first text; else None."""
    if isinstance(value, list):
        return next((item for item in value if isinstance(item, str)), None)
    return value if isinstance(value, str | bool) else None


def _words_lack_number(lists: list[list[Row]], key: str, number_field: str) -> bool:
    """Return whether words of the field ``key`` tell rows with and without ``number_field`` apart.

    No word may occur both in rows with and in rows without the number. At least one list must have
    both kinds of rows, and words must repeat in this list: names and ids, which differ from row to
    row, prove nothing.
    """
    words_without, words_with, is_repeated = set(), set(), False
    for rows in lists:
        cells = [(row.words.get(key), row.record.get(number_field) is None) for row in rows]
        list_words_without = {word for word, is_gone in cells if is_gone and word is not None}
        list_words_with = {word for word, is_gone in cells if not is_gone}
        words_without |= list_words_without
        words_with |= list_words_with
        if list_words_without and list_words_with:
            is_repeated |= len(list_words_without | list_words_with) < len(cells)
    numbers = [row.record.get(number_field) for rows in lists for row in rows]
    is_number = has_word_of(key, "place") or (
        not is_id_time_or_lack(number_field) and has_numbers(numbers)
    )
    is_number &= not any(isinstance(number, bool | str) for number in numbers)
    is_number &= words_of("lack_count", "place_lack").isdisjoint(tokens(number_field))
    return is_repeated and is_number and words_without.isdisjoint(words_with)


def _iter_codes(record: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """Yield the path and text of each code or sentence in a notice and its nested objects."""
    for key, value in record.items():
        is_sentence = isinstance(value, str) and " " in value and has_word_of(key, "place_reason")
        if isinstance(value, dict):
            yield from (((Field(key), *steps), code) for steps, code in _iter_codes(value))
        elif is_sentence or (isinstance(value, str) and _CODE.fullmatch(value)):
            yield (Field(key),), value


def is_id_time_or_lack(key: str) -> bool:
    """Return whether numbers under a key are ids, times, or counts of missing or expected data.

    Such numbers are no measurements.
    """
    return (
        meaning_of(key).kind in ("id", "time")
        or has_word_of(key, "lack_count")
        or has_word_of(key, "due")
    )


def _is_word_for_part(token: str) -> bool:
    """Return whether a word in the name of a count, such as ``scanned``, says what was done."""
    is_done = token in words_of("part") or token.endswith("ed")
    return is_done and token not in words_of("whole", "lack_count")


def _is_notice(record: Mapping[str, Any]) -> bool:
    """Return whether a record is a notice: unlike a record of measurements, it gives a reason."""
    return any(value and has_word_of(key, "place_reason") for key, value in record.items())


def value_at(document: Any, path: Sequence[Step]) -> Any:
    """Return the value at a path of fields; None if the document has no such path."""
    for step in path:
        if not isinstance(step, Field) or not isinstance(document, dict):
            return None
        document = document.get(step.name)
    return document


def _is_read(pattern: str, read_paths: Sequence[str]) -> bool:
    """Return whether availability is already detected, without a rule, at the path ``pattern``.

    ``read_paths`` are the paths at which it is detected. A path above or below ``pattern`` counts.
    """
    paths = (path[1:].replace('["', ".").replace('"]', "").lstrip(".") for path in read_paths)
    return any(path and is_on_path_of_rule(path, pattern) for path in paths)


# --- how likely, and what words mean ------------------------------------------------------------


Legend = Mapping[str, str]
"""Maps each code of a response to the text that explains it."""


def _is_legend(value: Any) -> bool:
    """Return whether a value is an object that explains codes: it maps codes to sentences."""
    texts = [*value.values()] if isinstance(value, dict) else []
    are_texts = len(texts) > 1 and all(isinstance(text, str) for text in texts)
    return are_texts and " " in "".join(texts) and " " not in "".join(value)


def _find_legend(occurrences: list[Occurrence], legends: Sequence[Legend]) -> Legend:
    """Return the first legend that explains all codes at a path; an empty legend if none does."""
    words = {
        to_word(entry.value) for occurrence in occurrences for entry in _split_by_word(occurrence)
    }
    codes = words - {"null"}
    return next((legend for legend in legends if codes and codes <= legend.keys()), {})


def _score_path(
    path: Path, occurrences: list[Occurrence], evidence: str, legend: Legend, *, is_count: bool
) -> tuple[int, str]:
    """Return a score for how likely a path states availability, and the main reason for the score.

    The reason is a text. The score is 0, and the reason empty, if nothing speaks for the path.
    """
    keys = [step.name for step in path if isinstance(step, Field | Named)]
    is_named = has_word_of(keys[-1], "place")
    score = 2 * is_named
    texts = [text for occurrence in occurrences for text in _iter_texts(occurrence.value)]
    idle = {
        engine
        for occurrence in occurrences
        for engine in occurrence.idle
        if not _names_all_measured(occurrence)
        and any(map(_name_pattern(engine).search, _iter_texts(occurrence.value)))
    }
    first_value = occurrences[0].value
    are_codes = all(_ENUM.fullmatch(str(s.value)) for s in occurrences if s.value is not None)
    are_codes |= {type(occurrence.value) for occurrence in occurrences} == {bool}
    with_numbers = {s.value for s in occurrences if are_codes and s.has_numbers is not False}
    without_numbers = {s.value for s in occurrences if are_codes} - with_numbers
    if not (is_count or any(occurrence.engine for occurrence in occurrences)):
        score -= 2 * any(has_word_of(key, "business") for key in keys) + 2 * has_word_of(
            keys[-1], "trade"
        )
    why = "a name for states of data" if is_named else ""
    reasons = (
        (
            3 + 2 * isinstance(first_value, dict),
            f"names {_join_words(idle.intersection(occurrences[0].idle) or idle)}, which never ran",
            idle,
        ),
        (3, "the words of an absence", any(_denies(legend.get(text, text)) for text in texts)),
        (
            3,
            f"numbers are missing beside {_join_words(without_numbers)}",
            without_numbers and with_numbers,
        ),
        (3, evidence, evidence),
        (
            3,
            "a list under a name for what lacks",
            (isinstance(first_value, list) and has_word_of(keys[-1], "negation"))
            or _is_in_gaps(path),
        ),
        (1, why, is_named and isinstance(first_value, bool | list)),
    )
    for points, reason, fits in reasons:
        if fits:
            return score + points, reason
    return (score, why) if score > 1 else (0, "")


def _names_all_measured(occurrence: Occurrence) -> bool:
    """Return whether a value is a list with all engines that have data, like a table's header.

    Such a list does not say which engines lack data.
    """
    measured = {engine for engine, is_measured in occurrence.measured.items() if is_measured}
    return (
        isinstance(occurrence.value, list) and len(measured) > 1 and measured <= {*occurrence.value}
    )


def _is_in_gaps(path: Path) -> bool:
    """Return whether a path leads into a list whose name means missing data, such as ``gaps``."""
    keys = [step.name for step in path if isinstance(step, Field)]
    return Each() in path and any(has_word_of(key, "gaps") for key in keys)


def _join_words(names: Collection[object]) -> str:
    return ", ".join(sorted(map(to_word, names))[:3])


def _is_in_other_rows(path: Path, main: Path) -> bool:
    """Return whether a path leads to a field of rows outside the object with the main table.

    ``main`` is the path to the rows of the main table.
    """
    container = tuple(takewhile(lambda step: isinstance(step, Field), main))
    is_in_rows = any(isinstance(step, Each | Entries) for step in path[:-1])
    return is_in_rows and path[: len(container)] != container


def _iter_nested(value: Any) -> Iterator[Any]:
    """Yield a value and all values nested in it."""
    yield value
    for item in (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    ):
        yield from _iter_nested(item)


def _iter_texts(value: Any) -> Iterator[str]:
    """Yield all texts in a value: the value itself, items of lists, keys and values of objects."""
    for item in _iter_nested(value):
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            yield from item


def _denies(text: str) -> bool:
    """Return whether a text says that something is absent or not done."""
    word = find_word(text) if is_code(text) else find_word_in_text(text)
    lacks = word is not None and word.canonical != "available"
    return lacks or (is_code(text) and not words_of("negation").isdisjoint(tokens(text)))


class _WordEvidence:
    """The words (texts, booleans, codes) at a path, with the evidence for what each word means.

    ``occurrences`` has each word with its evidence: the engines that it is about, and whether
    numbers are beside it. ``mixed_word`` is the word in the response for all engines, if a response
    for some of the engines has a different word; otherwise it is empty. ``is_notice`` says whether
    the path is in notices, i.e. messages to the reader of the response.
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
        keys = [step.name for step in path if isinstance(step, Field | Named)]
        self._key = keys[-1]
        self._is_in_rows = any(isinstance(step, Each | Entries) for step in path)
        concepts = ("place", "source", "about_data")
        self._is_named = self._is_in_rows or any(
            has_word_of(key, concept) for key in keys for concept in concepts
        )
        self._is_list = any(isinstance(occurrence.value, list) for occurrence in occurrences)
        names_lack = _is_in_gaps(path) or any(has_word_of(key, "place_lack") for key in keys)
        self._lacks, self._is_note = is_notice or self._is_list or names_lack, not names_lack
        self._numbers: dict[str, list[bool | None]] = defaultdict(list)
        self._words_by_engine: dict[str, set[str]] = defaultdict(set)
        self._is_idle: dict[str, list[bool]] = defaultdict(list)
        entries = [entry for occurrence in occurrences for entry in _split_by_word(occurrence)]
        for value, number, measured, idle, engine in entries:
            text = to_word(value)
            self._numbers[text].append(number)
            self._is_idle[text].append(engine in idle)
            if engine not in idle and (not measured or True in measured.values()):
                self._words_by_engine[engine].add(text)
        self._is_everywhere = all(entry.measured for entry in entries)
        available_words = [
            text
            for text, counts in self._numbers.items()
            if False not in counts and text.count(" ") < 3 and text != mixed_word
            if not _denies(legend.get(text, text))
            if len(self._numbers) > 1 and not self._lacks
        ]
        self._best = max(
            available_words,
            key=lambda text: (
                text not in _FLAGS and find_word(text) is not None,
                True in self._numbers[text],
                len(self._numbers[text]),
            ),
            default="",
        )

    def meanings(self) -> dict[str, str]:
        """Return a dict from each word at the path to its probable meaning, such as ``not_run``.

        A known word means what its name says. The meaning of an unknown word depends on whether
        numbers are beside it: as a rule, ``available`` is proposed for one unknown word only, the
        commonest of those that are never beside a missing number. It is not proposed for unknown
        words that are sentences, notices or items of a list, that are under a key such as
        ``missing``, or that are the ``mixed_word``.
        """
        meanings = {
            text: meaning
            for text in sorted(self._numbers)
            if (meaning := self._meaning_of(text)) is not None
        }
        is_odd_flag = not (_FLAGS.isdisjoint(meanings) or has_word_of(self._key, "place"))
        is_doubtful = is_odd_flag or "not_applicable" in meanings.values()
        if is_doubtful and {*self._words_by_engine} == {""}:
            # That something applies, or a flag of unknown name, does not say that it was measured.
            return {
                text: SILENT
                if word == "available" or (word == "partial" and text in _FLAGS)
                else word
                for text, word in meanings.items()
            }
        return meanings

    def _meaning_of(self, text: str) -> str | None:
        """Return the probable meaning of a word; None if the word is ``null`` and means nothing."""
        counts, is_flag, lacks = {*self._numbers[text]}, text in _FLAGS, self._lacks
        explanation = self._legend.get(text, text)
        word = find_word(explanation) or _find_word_in(explanation)
        engines = [name for name, texts in self._words_by_engine.items() if name and text in texts]
        is_mixed = {False, True} <= counts
        if is_flag and (named := state_of_named_flag(self._key, text == "true")) is not None:
            return _word_of_state(named)
        is_denial = not self._is_note or has_word_of(self._key, "negation")
        if text == "true" and len(self._numbers) == 1 and not is_denial:
            return "available" if self._is_named else SILENT
        if lacks and " " in text and not engines:
            is_vague = self._is_note and word is None and "{engine}" not in text
            if (is_vague and words_of("negation").isdisjoint(tokens(text))) or (
                is_mixed and self._is_everywhere and self._is_note
            ):
                return SILENT  # a sentence about the method, or there whatever was measured
        if word and not is_flag and not (lacks and word.canonical == "available"):
            is_beside = True in counts and word.availability.status in EMPTY
            return "partial" if is_beside and lacks else word.canonical
        if counts == {False}:
            if all(self._is_idle[text]):
                return "not_run"
            # If several engines that ran have only this word, it does not apply to such engines.
            are_alone = all(self._words_by_engine[name] == {text} for name in engines)
            is_nature = are_alone and len(engines) > 1 and not self._is_list
            return (
                "not_applicable" if is_nature else _word_of_state(state_of_flag(False, self._key))
            )
        if text == "null":  # a reason that is not there denies nothing
            return "available" if counts == {True} else None
        if text == self._best:
            return "available" if self._is_named or engines else SILENT
        # A kind of rows that lack nothing, or a word of a section with and without numbers.
        is_kind = self._is_in_rows and not is_mixed and not has_word_of(self._key, "place")
        is_silent = is_kind or (is_mixed and not self._is_in_rows and text != "false")
        return SILENT if is_silent and not (engines or lacks or _denies(text)) else "partial"


def _word_of_state(state: Availability) -> str:
    return next(word for word, meaning in STATES.items() if meaning == state)


def _find_word_in(text: str) -> Word | None:
    """Return the `Word` (a standard term) that a sentence or code means; None if it means none."""
    if not is_code(text):
        return find_word_in_text(text)
    return find_word_in_text(spaced(text)) or find_word_of_parts(tokens(text)[-1:])


def _split_by_word(occurrence: Occurrence) -> Iterator[Occurrence]:
    """Split an occurrence whose value is a list or map into one per word, with its engine.

    The words are spelt like the ``words`` of a `Rule`: in sentences and items of lists, the name of
    an engine becomes ``{engine}``, and in sentences, numbers become ``*``.
    """
    value, has_number, measured, idle, engine = occurrence
    if isinstance(value, dict):
        for name, word in value.items():
            is_moment = isinstance(word, str) and _TIMESTAMP.fullmatch(word)
            yield Occurrence("*" if is_moment else word, measured.get(name), measured, idle, name)
    for item in value if isinstance(value, list) else () if isinstance(value, dict) else [value]:
        text, name = item, ""
        if isinstance(item, str) and (isinstance(value, list) or " " in item):
            by_length = sorted(measured, key=len, reverse=True)
            name = next((n for n in by_length if n and _name_pattern(n).search(item)), "")
            text = _name_pattern(name).sub("{engine}", item, count=1) if name else item
            text = _NUMBER_IN_TEXT.sub("*", text) if " " in text else text
        yield Occurrence(text, measured.get(name, has_number), measured, idle, name or engine)


@lru_cache
def _name_pattern(engine: str) -> re.Pattern[str]:
    """Return a regular expression for the name of an engine as a whole word, in any case."""
    return re.compile(rf"\b{re.escape(engine)}\b", re.IGNORECASE)


# --- beside other responses ---------------------------------------------------------------------


def find_emptied_paths(relations: Sequence[Relation], document: Any, empty: Any) -> tuple[str, ...]:
    """Return the path of the main table's rows if they are missing when nothing was measured.

    An empty list of rows in any other response then does not show whether nothing was found or
    nothing was measured.

    Parameters
    ----------
    relations : sequence of Relation
        The section's tables, the main one first.
    document : object
        The decoded response.
    empty : object
        The response in which nothing was measured; None if there is no such response.

    Returns
    -------
    tuple of str
        The path of the rows, or ``$`` for the response itself. The tuple is empty if ``empty`` is
        None, has rows or states a reason, or if ``document`` has no rows either.
    """
    if empty is None or detect(empty).signals:
        return ()
    steps = relations[0].steps
    path = steps[: next((i for i, s in enumerate(steps) if not isinstance(s, Field)), None)]
    nothing: tuple[Any, ...] = (None, [], {})
    is_gone = value_at(document, path) not in nothing and value_at(empty, path) in nothing
    return (format_path(path) or "$",) if is_gone else ()
