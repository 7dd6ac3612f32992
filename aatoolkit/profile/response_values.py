"""Collect from responses the values that may say which data are missing, by path.

Each value is a `ResponseValue`, which also says whether there are measured numbers next to it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from aatoolkit._util.lexicon import (
    fold,
    has_word_of,
    is_word_of,
    matches_form,
    tokens,
    words_of,
)
from aatoolkit.availability.detect.words import (
    AVAILABILITY_BY_TERM,
    echoes_request,
    find_engine_or_field,
    find_status_word,
    find_status_word_in_sentence,
    has_numbers,
    is_code_text,
    is_metadata_key,
    read_absence_code,
    read_flag_availability,
)
from aatoolkit.jsontree.paths import Elements, Entries, Field, NamedColumn, Step, format_path
from aatoolkit.jsontree.vectors import Vector
from aatoolkit.scope import Scope
from aatoolkit.sections.availability_rule import (
    DAYS_PLACEHOLDER,
    SHARE_TOTAL,
    find_tag,
    find_total,
    join_short_list,
    parse_count,
    to_completeness,
)
from aatoolkit.sections.inference.words import classify_name, is_flag_name

MAX_MESSAGE_OBJECTS = 12
"""The greatest length of a list that may have notices (objects with a message) and no rows."""

_MAX_WORDS = 6
"""How many different words a field of rows may have, if it says which data are missing."""

_MAX_WORD_LENGTH = 200
_MAX_PATH_LENGTH = 12
_CODE_PATTERN = re.compile(
    r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[a-z][a-z0-9]*(?:_[a-z0-9]+)+|[A-Za-z][a-z]+(?:[A-Z][a-z]+)+"
)
TIMESTAMP_PATTERN = re.compile(r"\d{4}-\d\d-\d\d.*")
_NAME_OR_DAY_PATTERN = re.compile(r"[A-Z][a-z]+[ A-Z]|[A-Z][a-z]+$|\d{4}-\d\d-\d\d")
_HOST_PATTERN = re.compile(r"(?:[\w-]+\.)+[a-z]{2,}")
_DECIMAL_PATTERN = re.compile(r"-?[\d.,]+[a-z%]?")

Steps = tuple[Step, ...]
"""A parsed path, step by step."""


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
    inactive_engines : collection of str
        The engines that never ran.
    engine : str
        The engine of the row; empty if unknown.
    outer_record : mapping
        The row of another table that contains this row, if there is one.
    """

    record: Mapping[str, Any]
    word_by_field: Mapping[str, Any]
    has_numbers: bool | None
    inactive_engines: Collection[str]
    engine: str = ""
    outer_record: Mapping[str, Any] = {}

    def find_value(self, field: str) -> Any:
        """Return the value of a field of the row, or else of the row that contains it."""
        return self.record.get(field, self.outer_record.get(field))


class ResponseValue(NamedTuple):
    """A value that a response has at a path, and whether measured numbers are next to it.

    Attributes
    ----------
    value : object
        The value.
    has_numbers : bool or None
        Whether the object that contains the value also contains measured numbers.
    is_measured_by_engine : mapping of str to bool or None
        Maps each engine to whether the response has numbers of it; to None if that is unknown.
    inactive_engines : collection of str
        The engines that never ran.
    engine : str
        The engine that the value is about; empty if unknown.
    """

    value: Any
    has_numbers: bool | None
    is_measured_by_engine: Mapping[str, bool | None]
    inactive_engines: Collection[str]
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


class ResponseValueSearch:
    """Collects the values in responses that may say which data are missing, by path."""

    def __init__(self, engines: Collection[str], structure: ResponseStructure) -> None:
        self._engines = {*engines, *structure.engine_by_label}
        self._structure = structure
        self._values_by_path: dict[Steps, list[ResponseValue]] = defaultdict(list)
        self._lists_of_rows: dict[Steps, list[list[ResponseRow]]] = defaultdict(list)
        self.evidence_by_path: dict[Steps, str] = {}
        """Maps the path of a field to a text on what the numbers next to its values show."""
        self.engine_field_by_path: dict[Steps, str] = {}
        """Maps the path of a field in rows to the field with the engine; to ``{}`` if engines are
        the keys of an object.
        """
        self.message_paths: set[Steps] = set()
        self.informational_codes: set[str] = set()
        """The codes of notices of the severity ``info``."""
        self.total_field_by_path: dict[Steps, str] = {}
        """Maps the path of a count to the name of the field with its total."""
        self._total_fields_by_path: dict[Steps, dict[str, str]] = {}
        self._engine_map_paths: set[Steps] = set()
        self._outer_engine_field_by_path: dict[Steps, str] = {}

    def store_total_fields(self, responses: Iterable[tuple[Any, bool]]) -> None:
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
                for count_key, total_key in _find_total_keys(records).items()
                # In rows, one measure is often a part of another.
                if Elements() not in path or any(map(_means_completed_part, tokens(count_key)))
            }
            for path, records in records_by_path.items()
        }

    def _iter_records(self, value: Any, path: Steps) -> Iterator[tuple[Steps, Mapping[str, Any]]]:
        """Yield the path and value of each nested object.

        Objects whose keys are data, such as dates, are left out.
        """
        steps_and_children: list[tuple[Step, Any]] = []
        if isinstance(value, list):
            steps_and_children = [(Elements(), child) for child in value]
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

    def add_response(self, response: Any, inactive_engines: Collection[str] = ()) -> None:
        """Collect the values of one response that may say which data are missing.

        ``inactive_engines`` are the engines (AI assistants) that never ran on the response's host.
        """
        engine_by_label = self._structure.engine_by_label
        self._response = Vector([response])
        self._has_numbers = has_numbers(
            response, lambda key: is_metadata_key(key) or is_non_measure_key(key)
        )
        inactive_labels = {
            label for label, engine in engine_by_label.items() if engine in inactive_engines
        }
        self._inactive_engines = {*inactive_engines, *inactive_labels}
        measured_engines = {
            engine_by_label.get(engine_name, engine_name)
            for engine_name in _find_measured_engines(response, self._engines)
        }
        default_is_measured = None if self._has_numbers and not measured_engines else False
        self._is_measured_by_engine = {
            engine_name: engine_name not in self._inactive_engines
            and (
                engine_by_label.get(engine_name, engine_name) in measured_engines
                or default_is_measured
            )
            for engine_name in self._engines
        }
        self._engines_by_list_path = {
            (*path, Field(key)): value
            for path, record in self._iter_records(response, ())
            for key, value in ({} if is_in_rows(path) else record).items()
            if isinstance(value, list)
            and value
            and all(_is_text_in(engine_text, self._engines) for engine_text in value)
        }
        self._add_fields(response, ())

    def collect_values_by_path(self) -> dict[Steps, list[ResponseValue]]:
        """Return the values that may say which data are missing, as lists by their paths.

        Each value is a `ResponseValue`, which also says whether numbers are next to it.
        """
        for path, lists_of_rows in self._lists_of_rows.items():
            field_names = dict.fromkeys(
                field_name for rows in lists_of_rows for row in rows for field_name in row.record
            )
            outer_field_names = (
                outer_field_name
                for rows in lists_of_rows
                for row in rows
                for outer_field_name in row.outer_record
            )
            number_fields = dict.fromkeys((*field_names, *outer_field_names))
            engine_field = (
                "{}"
                if path in self._engine_map_paths
                else self._find_engine_field(field_names, lists_of_rows)
            )
            engine_field = engine_field or self._outer_engine_field_by_path.get(path, "")
            # Numbers elsewhere in a response are not those that a row lacks.
            if any(
                has_numbers(row.record, is_non_measure_key)
                for row in chain.from_iterable(lists_of_rows)
            ):
                lists_of_rows = [
                    [
                        row
                        if has_numbers(row.record, is_non_measure_key)
                        else row._replace(has_numbers=False)
                        for row in rows
                    ]
                    for rows in lists_of_rows
                ]
            for field_name in field_names:
                if field_name != engine_field:
                    self._add_field(path, field_name, number_fields, lists_of_rows, engine_field)
        return self._values_by_path

    def find_value_or_completeness(self, response: Any, path: Steps) -> Any:
        """Return the value that a response has at a path; None if there is none.

        If the value is a count that has a total, return ``none``, ``some`` or ``full`` (how much of
        the total was counted) instead.
        """
        value = find_tag(find_value_at(response, path))
        total_field = self.total_field_by_path.get(path)
        if not total_field:
            return value
        json_object = find_value_at(response, path[:-1])
        return to_completeness(value, find_total(json_object, total_field, Scope().days))

    def _find_count_completeness(
        self, record: Mapping[str, Any], path: Steps
    ) -> dict[str, str | None]:
        """Compare the counts in an object with their totals.

        Return a dict from the field of each count to ``none``, ``some`` or ``full`` (how much of
        the total was counted). Counts without a total are left out. ``path`` leads to the object.
        """
        field_names = list_field_names(path)
        is_about_data = any(has_word_of(name, "place") for name in field_names)
        is_about_sample = any(has_word_of(name, "sample") for name in field_names[-2:])
        number_keys = [
            key
            for key, value in record.items()
            if parse_count(value) is not None
            and (
                (is_about_sample and fold(key) == "size")
                or not (is_word_of(key, "listed") or has_word_of(key, "bound"))
            )
            and not (value in (0, 1) and find_status_word(key))
        ]
        completeness_by_count_key = {}
        filler_words = words_of("whole", "filler")
        for count_key in number_keys:
            count_key_words = {
                token for token in tokens(count_key) if not _means_completed_part(token)
            }
            is_day_count = bool(count_key_words & words_of("days")) and count_key_words <= words_of(
                "days", "engine"
            )
            # Without a word for a part, it is the length of the window.
            is_day_count &= count_key_words != {*tokens(count_key)}
            lexicon_key = "whole" if is_about_data or is_day_count else "due"
            total_key = next(
                (
                    key
                    for key in number_keys
                    if has_word_of(key, lexicon_key)
                    and count_key_words
                    in ({*tokens(key)} - words_of("whole"), {*tokens(key)} - filler_words)
                ),
                DAYS_PLACEHOLDER if is_day_count else "",
            )
            is_total_certain = is_day_count or has_word_of(total_key, "due")
            if not total_key or (count_key_words == {*tokens(count_key)} and not is_total_certain):
                total_key = self._total_fields_by_path.get(path, {}).get(count_key, "")
            are_counts_different = len({parse_count(record[key]) for key in number_keys}) == 2
            if not total_key and len(number_keys) == 2 and is_about_sample and are_counts_different:
                # Of the two counts of a sample, the greater one is what was drawn from.
                total_key = max(number_keys, key=lambda key: parse_count(record[key]) or 0)
                total_key = "" if total_key == count_key else total_key
            if total_key:
                total = find_total(record, total_key, Scope().days)
                completeness_by_count_key[count_key] = to_completeness(record[count_key], total)
                self.total_field_by_path[(*path, Field(count_key))] = total_key
        for key, value in record.items() if is_in_rows(path) else ():
            is_share = type(value) is float or type(value) is int
            if is_share and 0 <= value <= 1 and matches_form(key, "completed_share"):
                completeness_by_count_key[key] = to_completeness(value, 1)
                self.total_field_by_path[(*path, Field(key))] = SHARE_TOTAL
        return completeness_by_count_key

    def _add_value(
        self, path: Steps, value: Any, has_numbers: bool | None = None, engine: str = ""
    ) -> None:
        """Store a value of the current response at a path, as a `ResponseValue`."""
        self._values_by_path[path].append(
            ResponseValue(
                value, has_numbers, self._is_measured_by_engine, self._inactive_engines, engine
            )
        )

    def _add_field(
        self,
        path: Steps,
        field_name: str,
        number_fields: Iterable[str],
        lists_of_rows: list[list[ResponseRow]],
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
        lists_of_rows : list of list of ResponseRow
            The rows: one list for each list in the responses.
        engine_field : str
            The field with the engine of a row; ``{}`` if engines are the keys of an object; or "".
        """
        words: set[Any] = {
            row.word_by_field.get(field_name) for row in chain.from_iterable(lists_of_rows)
        } - {None}
        is_status_name = has_word_of(field_name, "place")
        is_category_field = has_word_of(field_name, "topic", "category", "brand", "finding")
        is_category_field = (
            is_category_field and not is_status_name
        ) or not self._engines.isdisjoint(words)
        is_category_field |= any(
            is_word_of(str(word), "passed") for word in words
        )  # results of tests
        if is_category_field or not 0 < len(words) <= _MAX_WORDS:
            return
        are_texts = all(isinstance(word, str) for word in words)
        are_proper_names = (
            are_texts
            and all(map(_NAME_OR_DAY_PATTERN.match, words))
            and not any(map(states_missing_data, words))
        )
        is_connection_flag = False in words and (
            read_flag_availability(field_name, False) == AVAILABILITY_BY_TERM["not_connected"]
        )
        if not (are_texts or is_status_name or engine_field or is_connection_flag) or (
            are_proper_names and not is_status_name
        ):
            return
        number_field = next(
            (
                key
                for key in number_fields
                if _indicates_missing_number(lists_of_rows, field_name, key)
            ),
            None,
        )
        response_values = []
        null_values = []
        contains_lists = False
        for rows in lists_of_rows:
            engines = [str(row.record.get(engine_field, row.engine)) for row in rows]
            is_measured_by_engine = {
                engine: row.has_numbers for engine, row in zip(engines, rows, strict=True)
            }
            for engine, row in zip(engines, rows, strict=True):
                word = row.word_by_field.get(field_name)
                has_number = row.has_numbers
                if word is None:
                    if engine_field and row.record.get(field_name, "") is None:
                        null_values.append(
                            ResponseValue(None, has_number, {}, row.inactive_engines, engine)
                        )
                    continue
                if number_field is not None:
                    has_number = row.find_value(number_field) is not None
                measured_by_engine = is_measured_by_engine if engine else {}
                response_values.append(
                    ResponseValue(
                        word, has_number, measured_by_engine, row.inactive_engines, engine
                    )
                )
                # With other numbers, the row lacks only a part.
                if row.has_numbers:
                    response_values.append(ResponseValue(word, True, {}, ()))
                contains_lists |= isinstance(row.record[field_name], list)
        response_values += null_values
        # For an engine that ran it may be unknown (None) whether it has numbers here.
        words_with_numbers = {
            response_value.value
            for response_value in response_values
            if response_value.has_numbers or (engine_field and response_value.has_numbers is None)
        }
        words_without_numbers = words - words_with_numbers
        are_numbers_missing = {
            response_value.has_numbers
            for response_value in response_values
            if response_value.value in words_without_numbers
        } == {False}
        do_words_tell_numbers = bool(
            words_with_numbers
            and words_without_numbers
            and are_numbers_missing
            and (is_status_name or engine_field)
        )
        total_field = self.total_field_by_path.get((*path, Field(field_name)), "")
        is_part_of_total = total_field != "" and (
            total_field not in (DAYS_PLACEHOLDER, SHARE_TOTAL) or engine_field != ""
        )
        if total_field == SHARE_TOTAL:  # what is rarely whole is a measure
            row_words = [
                row.word_by_field.get(field_name) for row in chain.from_iterable(lists_of_rows)
            ]
            is_part_of_total &= row_words.count("full") >= row_words.count("some")
        says_data_missing = bool(engine_field) and any(map(read_absence_code, words))
        says_data_missing |= are_numbers_missing and all(map(states_missing_data, map(str, words)))
        is_small_table = path != self._structure.main_row_path and not (
            is_in_rows(path[:-1])
            or any(has_numbers(row.record) for row in chain.from_iterable(lists_of_rows))
        )
        says_data_missing |= is_small_table and (
            is_connection_flag
            or any(
                states_missing_data(word) and is_code_text(word)
                for word in words
                if isinstance(word, str)
            )
        )
        if number_field is None and not (
            do_words_tell_numbers or is_part_of_total or says_data_missing
        ):
            return
        header_path = self._structure.header_by_row_path.get(path)
        last_step = (
            Field(field_name) if header_path is None else NamedColumn(header_path, field_name)
        )
        field_path = (*path, last_step, *([Elements()] if contains_lists else []))
        self.total_field_by_path[field_path] = total_field
        self._values_by_path[field_path] += response_values
        self.engine_field_by_path[field_path] = engine_field
        if number_field is not None or do_words_tell_numbers:
            self.evidence_by_path[field_path] = "numbers are missing beside some of its words"

    def _add_fields(self, json_object: Any, path: Steps) -> None:
        """Collect the values in an object that is not a row of a table, and in its nested values.

        Each value that may say which data are missing becomes a `ResponseValue`. ``path`` leads to
        the object; a ``json_object`` that is no object is ignored.
        """
        if not isinstance(json_object, dict) or len(path) > _MAX_PATH_LENGTH:
            return
        completeness_by_count_key = self._find_count_completeness(json_object, path)
        for key, value_or_digit in json_object.items():
            value = _to_flag(value_or_digit, key)
            field_path = (*path, Field(key))
            nested_names = value if isinstance(value, dict) else ()
            is_about_data = any(has_word_of(name, "drawn") for name in nested_names)
            is_about_data |= any(
                isinstance(text, str) and states_missing_data(text)
                for text in iter_nested_values(value)
            )
            if echoes_request(key) and not is_about_data:
                continue
            # Whether figures may be revised does not say that any are missing.
            is_legend_or_revision = is_word_of(key, "legend", "revision")
            if isinstance(value, dict) and is_legend_or_revision:
                continue
            if isinstance(value, dict):
                if self._maps_engines_to_words(key, value):
                    completeness_by_engine = {
                        engine: self._find_count_completeness({key: word}, path).get(key, word)
                        for engine, word in value.items()
                    }
                    self._add_value(field_path, completeness_by_engine)
                elif not self._add_keyed_rows(value, field_path):
                    self._add_fields(value, field_path)
                    if isinstance(tag := find_tag(value), str):
                        self._add_value(field_path, tag, self._has_numbers)
            elif isinstance(value, list):
                header_paths = self._structure.header_by_row_path.values()
                if all(path[: len(field_path)] != field_path for path in header_paths):
                    self._add_items(value, field_path)
            elif completeness_by_count_key.get(key) is not None:
                self._add_value(field_path, completeness_by_count_key[key], self._has_numbers)
            elif parse_count(value) is not None and _is_backlog_key(key):
                self._add_value(field_path, "*" if parse_count(value) else "0", self._has_numbers)
                self.evidence_by_path[field_path] = "counts what is still to come"
            elif _is_flag_or_short_text(value) and not TIMESTAMP_PATTERN.fullmatch(str(value)):
                self._add_value(field_path, value, self._has_numbers)

    def _add_keyed_rows(self, value: Mapping[str, Any], path: Steps) -> bool:
        """Store the values of an object as rows, if its keys are data, such as dates.

        Return whether the keys are data. ``path`` leads to the object.
        """
        row_path = (*path, Entries())
        if self._has_engine_keys(value):
            self._engine_map_paths.add(row_path)
            container_rows = [
                ResponseRow({}, {}, self._is_measured_by_engine[engine], (), engine)
                for engine in value
            ]
            self._add_rows([*value.values()], row_path, container_rows)
        elif path in self._structure.data_key_object_paths and not all(
            map(is_code_text, value.values())
        ):
            self._add_rows([*value.values()], row_path)
        else:
            return False
        return True

    def _add_items(self, items: list[Any], path: Steps) -> None:
        """Store the items of a list as texts, rows, or notices (objects with a message).

        ``path`` leads to the list.
        """
        row_path = (*path, Elements())
        are_shares = matches_form(list_field_names(path)[-1], "completed_share") and all(
            type(item) in (int, float) and 0 <= item <= 1 for item in items
        )
        states = [to_completeness(float(item), 1) for item in items] if are_shares else items
        engine_list_path = next(
            (
                list_path
                for list_path, engines in self._engines_by_list_path.items()
                if _is_parallel_to_engines(states, engines)
            ),
            None,
        )
        if engine_list_path is not None:
            engines = self._engines_by_list_path[engine_list_path]
            self.total_field_by_path[row_path] = SHARE_TOTAL * are_shares
            self.engine_field_by_path[row_path] = format_path((*engine_list_path, Elements()))
            for state, engine in zip(states, engines, strict=True):
                self._add_value(row_path, state, self._is_measured_by_engine[engine], engine)
            return
        header_path = self._structure.header_by_row_path.get(row_path)
        if header_path is None and (
            len(items) <= MAX_MESSAGE_OBJECTS or leads_into_gap_list(row_path)
        ):
            items = [*map(join_short_list, items)]
        records = [item for item in items if isinstance(item, dict)]
        have_numbers = has_numbers(
            records, lambda key: is_non_measure_key(key) or is_word_of(key, "mark")
        )
        is_gap_list = leads_into_gap_list(row_path) and not have_numbers
        is_main_table = row_path == self._structure.main_row_path and have_numbers
        are_message_objects = not is_main_table and all(map(_is_message_object, records))
        if header_path is not None:
            column_names = self._response.descend(header_path).values
            cell_lists = [item for item in items if isinstance(item, list)]
            grid_records = [dict(zip(column_names, cells, strict=False)) for cells in cell_lists]
            self._add_rows(grid_records, row_path)
        elif items and all(map(_is_flag_or_short_text, items)):
            self._add_value(path, items, self._has_numbers)
        elif row_path not in self._lists_of_rows and (
            (are_message_objects and len(records) <= MAX_MESSAGE_OBJECTS) or is_gap_list
        ):
            for record in records:
                engine_key, engine = next(
                    (item for item in record.items() if _is_text_in(item[1], self._engines)),
                    ("", ""),
                )
                text_by_key = {
                    key: value
                    for key, value in record.items()
                    if key != engine_key and isinstance(value, str | dict)
                }
                # A record in a list of gaps states a lack, whatever its text is.
                severity_words = {
                    str(value) for key, value in record.items() if is_word_of(key, "severity")
                }
                steps_and_codes = [*_iter_codes(text_by_key)] or [
                    ((Field(key),), "*") for key in [*text_by_key][:is_gap_list]
                ]
                has_code = any(" " not in code for _, code in steps_and_codes)
                if any(
                    is_word_of(severity_word, "informational") for severity_word in severity_words
                ):
                    self.informational_codes.update(code for _, code in steps_and_codes)
                for steps, code in steps_and_codes:
                    if engine and has_code and " " in code:
                        continue
                    code_path = (*path, Elements(), *steps)
                    has_number = self._is_measured_by_engine.get(engine, self._has_numbers)
                    self._add_value(code_path, code, has_number, engine)
                    if engine:
                        self.engine_field_by_path[code_path] = engine_key
                    self.message_paths.add(code_path)
        else:
            self._add_rows(records, row_path)

    def _add_rows(
        self, row_objects: Sequence[Any], path: Steps, container_rows: Sequence[ResponseRow] = ()
    ) -> None:
        """Store rows of a table, and the rows nested in them.

        ``container_rows`` has, for each of ``row_objects``, the object around it, as a row: whether
        it has numbers, and the engine (AI assistant) that it is about.
        """
        records_and_container_rows = [
            (item, container_row)
            for item, container_row in zip(
                row_objects,
                container_rows or [ResponseRow({}, {}, None, ())] * len(row_objects),
                strict=True,
            )
            if isinstance(item, dict)
        ]
        if not records_and_container_rows:
            return
        records = [record for record, _ in records_and_container_rows]
        has_number_flags: list[bool | None] = [
            has_numbers(record, is_non_measure_key) for record in records
        ]
        if container_rows:
            have_own_numbers = any(has_number_flags)
            has_number_flags = [
                has_own_number and container_row.has_numbers is not False
                if have_own_numbers
                else container_row.has_numbers
                for has_own_number, (_, container_row) in zip(
                    has_number_flags, records_and_container_rows, strict=True
                )
            ]
        if not any(has_number_flags):  # the numbers that these rows speak of are elsewhere
            is_outside_rows = not is_in_rows(path[:-1])
            has_number_flags = [
                next(
                    (
                        self._is_measured_by_engine[cell]
                        for cell in record.values()
                        if _is_text_in(cell, self._is_measured_by_engine)
                    ),
                    self._has_numbers if is_outside_rows and not container_rows else has_number,
                )
                for record, has_number in zip(records, has_number_flags, strict=True)
            ]
        rows = [
            ResponseRow(
                record,
                {key: _to_flag_or_text(field_value, key) for key, field_value in record.items()}
                | self._find_count_completeness(record, path),
                has_number,
                self._inactive_engines,
                container_row.engine,
                container_row.record,
            )
            for (record, container_row), has_number in zip(
                records_and_container_rows, has_number_flags, strict=True
            )
        ]
        self._lists_of_rows[path].append(rows)
        engine_field = self._find_engine_field(records[0], [rows])
        inner_container_rows = [
            row._replace(engine=str(row.record.get(engine_field, ""))) for row in rows
        ]
        for key in dict.fromkeys(chain.from_iterable(records)):
            field_values = [record.get(key) for record in records]
            field_path = (*path, Field(key))
            engine_maps = [
                field_value
                for field_value in field_values
                if isinstance(field_value, dict) and self._maps_engines_to_words(key, field_value)
            ]
            if engine_maps:
                self._add_value(field_path, engine_maps[0])
            elif len(path) <= _MAX_PATH_LENGTH:
                if engine_field:
                    self._outer_engine_field_by_path[field_path] = engine_field
                nested_objects = [
                    field_value
                    if isinstance(field_value, dict)
                    and not self._add_keyed_rows(field_value, field_path)
                    else None
                    for field_value in field_values
                ]
                self._add_rows(nested_objects, field_path, inner_container_rows)
                for field_value in field_values:
                    if isinstance(field_value, list) and leads_into_gap_list(
                        (*field_path, Elements())
                    ):
                        self._add_items(field_value, field_path)
                    elif isinstance(field_value, list):
                        self._add_rows(field_value, (*field_path, Elements()))

    def _find_engine_field(
        self, field_names: Iterable[str], lists_of_rows: list[list[ResponseRow]]
    ) -> str:
        """Return the field with the name of each row's AI engine; "" if there is none."""
        for field_name in field_names:
            lists_of_texts = [
                [str(row.record.get(field_name)) for row in rows] for rows in lists_of_rows
            ]
            is_engine_name_field = find_engine_or_field({field_name: ""}) == ("engine", "") and all(
                isinstance(row.record.get(field_name, ""), str)
                for rows in lists_of_rows
                for row in rows
            )
            are_engines = is_engine_name_field or self._engines.issuperset(
                chain.from_iterable(lists_of_texts)
            )
            if are_engines and all(len({*texts}) == len(texts) for texts in lists_of_texts):
                return field_name
        return ""

    def _maps_engines_to_words(self, key: str, value: Mapping[str, Any]) -> bool:
        """Return whether an object maps engines (AI assistants) to texts, booleans or codes."""
        allowed_types = str | bool | int | float if has_word_of(key, "place") else str | bool
        return (
            all(item is None or isinstance(item, allowed_types) for item in value.values())
            and not any(map(_is_number_text, value.values()))
            and any(item is not None for item in value.values())
            and 0 < 0.8 * len(value) <= sum(engine in self._engines for engine in value)
        )


def _find_total_keys(records: Sequence[tuple[Mapping[str, Any], bool]]) -> dict[str, str]:
    """Return a dict from each field that has a count to the field that has its total.

    ``records`` has tuples: an object with the fields, and whether its response has data.
    """
    number_keys = dict.fromkeys(
        key
        for record, _ in records
        for key, item in record.items()
        if parse_count(item) is not None
        and not has_word_of(key, "lack_count", "negation", "previous")
    )
    total_keys = [key for key in number_keys if not has_word_of(key, "ceiling")]
    total_key_by_count_key: dict[str, str] = {}
    for count_key in number_keys if len(records) > 1 else ():
        other_total_keys = (key for key in total_keys if key != count_key)
        total_key = next(
            (key for key in other_total_keys if _is_count_of_total(records, count_key, key)), None
        )
        if total_key is not None and not is_non_measure_key(count_key):
            total_key_by_count_key[count_key] = total_key
    return total_key_by_count_key


def _is_count_of_total(
    records: Sequence[tuple[Mapping[str, Any], bool]], count_field: str, total_field: str
) -> bool:
    """Return whether the values of two fields look like a count and its total.

    ``records`` has tuples: an object with the fields, and whether its response has data.
    """
    record_count = full_record_count = positive_count = 0
    is_part_name = has_word_of(count_field, "part")
    is_day_count = True  # days of the window are known, so fewer of them need to be complete
    for record, is_measured in records:
        count = parse_count(record.get(count_field))
        total = parse_count(record.get(total_field))
        if count is None or total is None or total <= 0:
            continue
        is_day_count &= total == Scope().days
        is_full_count = count == total > 2
        # Pages may be read, and allowances used up, before any engine ran.
        if not 0 <= count <= total or (is_full_count and not (is_measured or is_part_name)):
            return False
        record_count += 1
        full_record_count += is_full_count
        positive_count += count > 0
    is_often_full = is_day_count or positive_count <= 2 * full_record_count
    return is_often_full and 0 < full_record_count < record_count


def _is_flag_or_short_text(value: Any) -> bool:
    """Return whether a value is a boolean or a short text, and not the address of a site."""
    is_short_text = isinstance(value, str | bool) and len(str(value)) <= _MAX_WORD_LENGTH
    return is_short_text and "://" not in str(value) and not _HOST_PATTERN.fullmatch(str(value))


def _is_text_in(value: Any, texts: Collection[str]) -> bool:
    """Return whether a value is one of some texts."""
    return isinstance(value, str) and value in texts


def _is_parallel_to_engines(items: list[Any], engines: list[str]) -> bool:
    """Return whether a list has a state of each engine (AI assistant) in another list.

    States are booleans and texts, of which several engines have the same, or null.
    """
    if any(isinstance(item, list | dict) for item in items):
        return False
    distinct_items = {item for item in items if item is not None}
    are_flags = {*map(type, distinct_items)} == {bool}
    are_repeated_texts = {*map(type, distinct_items)} == {str} and (
        2 * len(distinct_items) <= len(items) or distinct_items <= {"full", "some", "none"}
    )
    return len(items) == len(engines) == len({*engines}) > 1 and (are_flags or are_repeated_texts)


def _find_measured_engines(response: Any, engines: Collection[str]) -> Iterator[str]:
    """Yield those of the engines (AI assistants) for which a response has numbers."""
    for record in iter_nested_values(response):
        if isinstance(record, dict):
            engine_texts = [
                engine_text for engine_text in record.values() if _is_text_in(engine_text, engines)
            ]
            yield from (
                engine_texts if engine_texts and has_numbers(record, is_non_measure_key) else ()
            )
            yield from (key for key, item in record.items() if key in engines and has_numbers(item))


def _to_flag(value: Any, key: str) -> Any:
    """Return a boolean for 1 and 0 under a name such as ``is_paused``; other values unchanged."""
    return value == 1 if type(value) is int and value in (0, 1) and is_flag_name(key) else value


def _to_flag_or_text(value: Any, key: str) -> Any:
    """Return a text or boolean unchanged; for a list, its first text; for other values, None."""
    value = find_tag(_to_flag(value, key))
    if isinstance(value, list):
        return next((item for item in value if isinstance(item, str)), None)
    return value if isinstance(value, str | bool) and not _is_number_text(value) else None


def _is_number_text(value: Any) -> bool:
    """Return whether a value is a number that is written as text."""
    return isinstance(value, str) and bool(_DECIMAL_PATTERN.fullmatch(value))


def _indicates_missing_number(
    lists_of_rows: list[list[ResponseRow]], field_name: str, number_field: str
) -> bool:
    """Return whether the texts of rows that lack a number differ from those of rows that have one.

    ``field_name`` has the texts. ``number_field`` has the numbers, and null where one is missing.
    ``lists_of_rows`` has the rows of each list in the responses.
    """
    words_by_absence: dict[bool, set[Any]] = {False: set(), True: set()}
    is_word_repeated = False
    for rows in lists_of_rows:
        words_and_absences = [
            (row.word_by_field.get(field_name), row.find_value(number_field) is None)
            for row in rows
        ]
        distinct_words_and_absences = {*words_and_absences} - {(None, True)}
        for word, is_absent in distinct_words_and_absences:
            words_by_absence[is_absent].add(word)
        is_word_repeated |= len(
            {is_absent for _, is_absent in distinct_words_and_absences}
        ) == 2 and (len({word for word, _ in distinct_words_and_absences}) < len(rows))
    number_values = [row.find_value(number_field) for row in chain.from_iterable(lists_of_rows)]
    is_measured_field = has_word_of(field_name, "place") or (
        not is_non_measure_key(number_field) and has_numbers(number_values)
    )
    may_be_measured = all(
        _to_flag_or_text(number, number_field) is None for number in number_values
    ) and not (has_word_of(number_field, "lack_count", "place_lack", "due"))
    return (
        is_word_repeated
        and is_measured_field
        and may_be_measured
        and words_by_absence[True].isdisjoint(words_by_absence[False])
    )


def _iter_codes(
    record: Mapping[str, Any], are_messages: bool = False
) -> Iterator[tuple[Steps, str]]:
    """Yield the path and the text of each reason in a notice and in the objects in it.

    A reason is a code, such as ``engine_failing``, or a sentence under a key such as ``message``.
    With ``are_messages``, sentences under all keys are reasons, as in ``{"en": …, "fr": …}``.
    """
    for key, value in record.items():
        is_message = are_messages or has_word_of(key, "place_reason")
        if isinstance(value, dict):
            nested_codes = _iter_codes(value, is_message)
            yield from (((Field(key), *steps), code) for steps, code in nested_codes)
        elif isinstance(value, str) and (is_message or _CODE_PATTERN.fullmatch(value)):
            yield (Field(key),), value


def is_non_measure_key(key: str) -> bool:
    """Return whether numbers under a key are ids, times, or counts of missing data."""
    return (
        classify_name(key).kind in ("id", "time")
        or has_word_of(key, "lack_count", "due")
        # The length of the window.
        or (has_word_of(key, "days") and {*tokens(key)} <= words_of("days", "whole", "filler"))
    )


def _means_completed_part(token: str) -> bool:
    """Return whether a word means that a part is completed, such as ``scanned``.

    Such a word is in the name of a count, as in ``scannedPages``.
    """
    means_done = token in words_of("part") or token.endswith("ed")
    return means_done and token not in words_of("whole", "lack_count")


def _is_backlog_key(key: str) -> bool:
    """Return whether a key names what is still to be measured, as ``answersBacklog`` does.

    A single word, such as ``pending``, may be a state of the section's own business.
    """
    return has_word_of(key, "waiting") and not is_word_of(key, "waiting")


def _is_message_object(record: Mapping[str, Any]) -> bool:
    """Return whether an object is a notice: it has a message, such as why data are missing."""
    return any(value and has_word_of(key, "place_reason") for key, value in record.items())


def find_value_at(document: Any, path: Sequence[Step]) -> Any:
    """Return the value at a path of field names; None if the document has no such path."""
    for step in path:
        if not isinstance(step, Field) or not isinstance(document, dict):
            return None
        document = document.get(step.name)
    return document


def leads_into_gap_list(path: Steps) -> bool:
    """Return whether a path leads into a list with a name for missing data, such as ``gaps``."""
    if path.count(Elements()) > 1:  # rows of gaps may be the business of the section
        path = path[path.index(Elements()) + 1 :]
    keys = list_field_names(path)
    return Elements() in path and any(has_word_of(key, "gaps") for key in keys)


def list_field_names(path: Steps) -> list[str]:
    """Return the names of the fields on a path, the outermost first."""
    return [step.name for step in path if isinstance(step, Field | NamedColumn)]


def is_in_rows(path: Steps) -> bool:
    """Return whether a path leads into a list, or into an object whose keys are data."""
    return any(isinstance(step, Elements | Entries) for step in path)


def iter_nested_values(value: Any) -> Iterator[Any]:
    """Yield a JSON value and all values nested in it."""
    yield value
    for item in (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    ):
        yield from iter_nested_values(item)


def iter_texts(value: Any) -> Iterator[str]:
    """Yield all texts in a JSON value, including the keys of objects."""
    for item in iter_nested_values(value):
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            yield from item


def states_missing_data(text: str, is_status_name: bool = True) -> bool:
    """Return whether a text says that something is missing or was not done.

    ``is_status_name`` says whether the name of the field suggests a state of data. If it does not,
    the word "not" in a sentence is not enough.
    """
    word = find_status_word(text) if is_code_text(text) else find_status_word_in_sentence(text)
    is_missing_word = word is not None and word.term != "available"
    return is_missing_word or (
        has_word_of(text, "negation") and (is_status_name or is_code_text(text))
    )
