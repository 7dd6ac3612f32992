"""Find responses by their hash, read them again, and explain the cells of their tables."""

# In reading order: `ResponseFinder` finds responses; `TableCells` explains the cells of a table;
# `explain_path` lists the cells that hold the value at a JSON path.

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import pandas as pd

from aatoolkit._util.text import counted
from aatoolkit.availability.detect import Signal
from aatoolkit.errors import AAToolkitError, ArgumentError
from aatoolkit.frame.aggregation_plan import row_units
from aatoolkit.frame.cell_status import statuses_of
from aatoolkit.jsontree.byte_span import ByteIndex
from aatoolkit.jsontree.paths import KEY_MARKER, format_json_path, is_within, parse_path
from aatoolkit.metadata.attrs import HeldResponse, metadata_and_responses
from aatoolkit.metadata.column import Source
from aatoolkit.normalizer.column_availability import (
    DENIED_REASON,
    ENGINE_LIST_RULE,
    find_narrowest_path,
    find_path_coverage,
    parse_target,
)
from aatoolkit.normalizer.tables import Tables
from aatoolkit.stats.explain.explanation import (
    CitedResponse,
    Explanation,
    StatedAvailability,
    ValuePlace,
    to_json_value,
    to_text,
)

_NOT_IN_MEMORY_REASON = (
    "its response is no longer in memory; give a study or an archive that holds it, with within="
)


class UntraceableError(Exception):
    """Raised if a number cannot be traced to the bytes of a response; the text is the reason."""


@dataclass(frozen=True, eq=False)
class ParsedResponse:
    """A stored response, verified by its hash and parsed into tables."""

    source: Source
    tables: Tables
    body: bytes | None  # None if only the tables are left in memory
    storage_place: str  # where the response was found, such as "in memory"

    @cached_property
    def cited_response(self) -> CitedResponse:
        """The reference to this response in explanations: source, HTTP status and location."""
        if self.body is None:
            return CitedResponse(**asdict(self.source))
        payload = self.tables.payload
        digest = hashlib.sha256(self.body).hexdigest()
        return CitedResponse(
            **asdict(self.source) | {"sha256": digest},
            status=None if payload is None else payload.status,
            found_in=self.storage_place,
            checked=self.source.sha256 == digest,
        )

    def locate(self, path: str) -> ValuePlace:
        """Return the text of the value at a JSON path, and the positions of its bytes."""
        byte_range = self._byte_index.find_span(path)
        if byte_range is None:
            return ValuePlace(path)
        return ValuePlace(
            path, *byte_range, self._byte_index.body[slice(*byte_range)].decode(errors="replace")
        )

    @cached_property
    def _byte_index(self) -> ByteIndex:
        """An index of the body that returns the byte positions of the value at a JSON path."""
        return ByteIndex(self.body or b"")

    @cached_property
    def extra_value_by_path(self) -> Mapping[str, tuple[str, str]]:
        """The values that are in no column: by JSON path, the value as text and the reason."""
        extra_rows = self.tables.extra[["path", "value", "why"]].itertuples(index=False, name=None)
        return {path: (value, reason) for path, value, reason in extra_rows}


class ResponseFinder:
    """Finds the response from which a cell was read, in studies, archives and memory.

    Each response is parsed at most once.
    """

    def __init__(self, within: Any = None) -> None:
        self._stores = [*_iterate_stores(within)]
        self.responses_in_memory: dict[HeldResponse, None] = {}
        self._response_by_source: dict[Source, ParsedResponse] = {}

    def find(self, source: Source) -> ParsedResponse:
        """Return the response of a `Source` record; raise `UntraceableError` if not found."""
        if source not in self._response_by_source:
            self._response_by_source[source] = self._find_in_stores(source)
        return self._response_by_source[source]

    def _find_in_stores(self, source: Source) -> ParsedResponse:
        """Return the response of a `Source` record, from a study, an archive or memory."""
        problem_text = ""
        bodyless_response = None
        for store in (*self._stores, self.responses_in_memory):
            try:
                for storage_place, response in _find_candidate_responses(store, source):
                    body = response.body
                    if body is None:
                        bodyless_response = bodyless_response or (storage_place, response)
                    elif source.sha256 not in (None, hashlib.sha256(body).hexdigest()):
                        problem_text = (
                            f"the response in {storage_place} does not have the SHA-256 of its "
                            "source"
                        )
                    else:
                        storage_place = (
                            f"{storage_place}; {problem_text}" if problem_text else storage_place
                        )
                        return ParsedResponse(source, response.load_tables(), body, storage_place)
            except AAToolkitError as error:
                problem_text = str(error)
        if bodyless_response is not None and not problem_text:
            storage_place, response = bodyless_response
            return ParsedResponse(source, response.load_tables(), None, storage_place)
        raise UntraceableError(problem_text or _NOT_IN_MEMORY_REASON)

    def read_archived_frame(self, reader_name: str, options: Mapping[str, Any]) -> pd.DataFrame:
        """Read a frame from an archive again.

        ``reader_name`` is a method of `Archive`, such as "history", and ``options`` are its
        arguments.
        """
        for store in self._stores:
            if hasattr(store, "_archived_frame"):
                try:
                    frame: pd.DataFrame = store._archived_frame(reader_name, options)
                except AAToolkitError as error:
                    raise UntraceableError(str(error)) from None
                return frame
        raise UntraceableError(
            "it was read from an archive, which is not at hand; give it with within="
        )


def _iterate_stores(within: Any) -> Iterator[Any]:
    """Yield each store to search for responses, from the explainer's argument ``within``.

    A store is a study, an archive or a list of responses.
    """
    if isinstance(within, Tables):
        yield within._origin.responses
    elif hasattr(within, "_stored_responses"):
        yield within
    elif isinstance(within, Iterable) and not isinstance(within, str | bytes):
        for store in within.values() if isinstance(within, Mapping) else within:
            yield from _iterate_stores(store)
    elif within is not None:
        raise ArgumentError(
            f"within= is a study, an archive, Tables or a Dataset, not a {type(within).__name__}",
            argument="within",
        )


def _find_candidate_responses(store: Any, source: Source) -> Iterator[tuple[str, HeldResponse]]:
    """Yield the responses in a store (a study, an archive or a list) that a `Source` may identify.

    Each response comes with a text that says where it is stored.
    """
    if hasattr(store, "_stored_responses"):
        for response in store._stored_responses(source):
            yield f"in {store._store_name}", response
        return
    for response in store:
        response_source = response.source
        if (response_source.sha256, response_source.section) == (source.sha256, source.section):
            yield "in memory", response


_EXTRA_NOTE_BY_REASON = {
    DENIED_REASON: ", and states that it was not measured",
    "wrong type": ", which is no {dtype}; it is kept in tables.extra",
    "missing": ", which is declared to mean that there is no value",
    "new level": ", which is no declared level; see tables.extra",
    "null key": "",
    "null": "",
    "no value": ", which is no {dtype}",
}
"""Texts that say why a response's value is not in its column, by reason in ``tables.extra``."""
_REASON_COLUMN_PATTERN = re.compile(
    r"(?:^|_)(?:state|status|reason|cause|why|because)(?:_|$)", re.IGNORECASE
)
"""Matches names of columns that may say why another column has no value."""


class _ColumnCells:
    """One column of a table that was read from a response: values, units and JSON paths.

    ``signals`` has what the response states on whether values were measured. Each `Signal` comes
    with a text that says which values of the column it is about, such as "all".
    """

    def __init__(self, table: TableCells, column_name: str) -> None:
        table_rows = table.response.tables._origin.built_tables[table.name].table_rows
        plain_frame = table.plain_frame
        self.values = plain_frame[column_name].array
        self.availability = statuses_of(plain_frame, column_name, table.metadata)
        self.units = row_units(plain_frame, table.metadata, column_name)
        self.declaration = (
            table_rows.table[column_name] if column_name in table_rows.table.names else None
        )
        self.count_columns: Sequence[str] = ()
        self.signals: list[tuple[Signal, str]] = []
        if self.declaration is None:
            return
        self.path_at = table_rows.make_path_finder(self.declaration)
        count_names = self.declaration.aggregate.over or self.declaration.aggregate.counts or ()
        self.count_columns = count_names if {*count_names} <= {*plain_frame.columns} else ()
        for signal in table.response.tables._origin.signals:
            covers_all_rows = signal.scope in ("section", "engine")
            coverage = (
                "all"
                if covers_all_rows
                else find_path_coverage(signal.target or "", self.declaration.pattern)
            )
            if coverage and signal.rule != ENGINE_LIST_RULE:
                self.signals.append((signal, coverage))


class TableCells:
    """One table that was read from a response; it explains its cells."""

    def __init__(self, response: ParsedResponse, name: str) -> None:
        self.response = response
        self.name = name
        self.frame = response.tables[name]
        self.metadata, _ = metadata_and_responses(
            self.frame
        )  # just read, so that nothing has changed it
        self.plain_frame = pd.DataFrame(self.frame)  # without attrs, which its columns would copy
        self._key_columns = [
            key_column
            for key_column in (*self.metadata.key, "_row")
            if key_column in self.frame.columns
        ]
        self._cells_by_column: dict[str, _ColumnCells] = {}

    def cells_of_column(self, column: str) -> _ColumnCells:
        """Return a column with its units, JSON paths and availability, from a cache."""
        if column not in self._cells_by_column:
            self._cells_by_column[column] = _ColumnCells(self, column)
        return self._cells_by_column[column]

    def value_at(self, position: int, column: str) -> Any:
        """Return the value in a row and column; None if it is missing."""
        return to_json_value(self.cells_of_column(column).values[position])

    def explain(self, position: int, column: str, *, with_rate_counts: bool = True) -> Explanation:
        """Return the explanation of the value in a row and column.

        ``with_rate_counts`` says whether to explain also the two counts that a rate is made of.
        """
        column_cells = self.cells_of_column(column)
        value = self.value_at(position, column)
        explanation = self.add_column_description(
            Explanation(
                value,
                column,
                {
                    key_column: self.value_at(position, key_column)
                    for key_column in self._key_columns
                },
            )
        )
        availability_code = int(column_cells.availability.codes[position])
        availability = str(column_cells.availability.availabilities[availability_code])
        value_place = None
        note_texts = []
        end_reason = _NOT_IN_MEMORY_REASON if self.response.body is None else None
        if column_cells.declaration is not None:
            is_array_position = (column_cells.declaration.source or "").lstrip("^")[:1] == "#"
            json_path = None if end_reason else column_cells.path_at(position)
            if json_path is not None:
                value_place = (
                    ValuePlace(json_path) if is_array_position else self.response.locate(json_path)
                )
            is_text_found = value_place is not None and value_place.text is not None
            if is_array_position:
                note_texts.append("counted from its place in the array")
            elif json_path is not None and json_path.endswith(KEY_MARKER):
                note_texts.append("it is the key of an object")
            elif json_path is not None and not is_text_found and value is not None:
                note_texts.append(
                    "the value is not in the response as such: it was asked for, or stands for null"
                )
            if column_cells.declaration.reading is not None and is_text_found:
                scale_note = (
                    f", times {column_cells.declaration.scale:g}"
                    if column_cells.declaration.scale is not None
                    else ""
                )
                type_name = column_cells.declaration.parse or column_cells.declaration.dtype
                note_texts.append(f"read as {type_name}{scale_note}")
        formula, children = (
            self._explain_rate(position, column_cells, value) if with_rate_counts else (None, ())
        )
        return replace(
            explanation,
            unit=explanation.unit
            if column_cells.units is None
            else to_json_value(column_cells.units.iloc[position]),
            operation="read",
            formula=formula,
            place=value_place,
            availability=availability,
            statements=self._find_availability_statements(position, column_cells, value_place),
            missing=self._missing_reason(position, column, value_place, availability)
            if value is None
            else None,
            notes=tuple(note_texts),
            children=children,
            end=end_reason,
        )

    def add_column_description(self, explanation: Explanation) -> Explanation:
        """Return a copy of an explanation with the response, unit and meaning added."""
        column_cells = self.cells_of_column(explanation.column)
        return replace(
            explanation,
            unit=column_cells.declaration.unit if column_cells.declaration else None,
            meaning=(column_cells.declaration and column_cells.declaration.doc) or None,
            response=self.response.cited_response,
            statements=self._find_availability_statements(None, column_cells, None),
        )

    def _explain_rate(
        self, position: int, column_cells: _ColumnCells, value: Any
    ) -> tuple[str | None, tuple[Explanation, ...]]:
        """Return the formula of a rate, and the explanations of its numerator and denominator."""
        # Nothing if one of them is missing, or their quotient is not ``value``.
        rate_counts = [
            self.value_at(position, count_name) for count_name in column_cells.count_columns
        ]
        numerator, denominator = rate_counts or (None, None)
        if numerator is None or denominator is None or (value is None and denominator):
            return None, ()
        if denominator and abs(numerator / denominator - value) > 5e-7:
            return None, ()
        formula = (
            f"{' / '.join(column_cells.count_columns)} = {numerator} / {denominator}, "
            "as the response gives it"
        )
        return formula, tuple(
            self.explain(position, count_name, with_rate_counts=False)
            for count_name in column_cells.count_columns
        )

    def _find_availability_statements(
        self, position: int | None, column_cells: _ColumnCells, value_place: ValuePlace | None
    ) -> tuple[StatedAvailability, ...]:
        """Return what the response states on whether a cell, or its whole column, was measured.

        ``position`` is the position of the row; None for the whole column. ``value_place`` is the
        location of the value in the response.
        """
        return tuple(
            _convert_to_statement(signal)
            for signal, coverage in column_cells.signals
            if (
                coverage == "all"
                or (
                    value_place is not None
                    # Whether the statement on some cells covers the value at the place.
                    and find_narrowest_path(
                        value_place.path,
                        {format_json_path(parse_target(signal.target or "")): signal.availability},
                    )
                )
            )
            and (
                position is None
                or all(
                    condition.matches([self.value_at(position, condition.column)])[0]
                    for condition in signal.rows
                    if condition.column in self.frame.columns
                )
            )
        )

    def _missing_reason(
        self, position: int, column: str, value_place: ValuePlace | None, availability_text: str
    ) -> str:
        """Return the reason why a cell has no value.

        ``value_place`` is the location in the response where the value is expected.
        ``availability_text`` says whether the cell was measured.
        """
        column_cells = self.cells_of_column(column)
        if column_cells.declaration is None:
            missing_reason = f"it is no column of the table {self.name}"
        elif self.response.body is None:
            missing_reason = "its response is not at hand"
        elif value_place is None:
            missing_reason = "no record of the response holds this field for the row"
        elif value_place.text is None:
            missing_reason = "the response has no such key here"
        else:
            default_reason = "null" if value_place.text == "null" else "no value"
            _, extra_reason = self.response.extra_value_by_path.get(
                value_place.path, ("", default_reason)
            )
            extra_note = _EXTRA_NOTE_BY_REASON.get(extra_reason, ", which no column takes").format(
                dtype=column_cells.declaration.dtype
            )
            missing_reason = f"the response holds {to_text(value_place.text)} here{extra_note}"
        if (
            column_cells.count_columns
            and self.value_at(position, column_cells.count_columns[1]) == 0
        ):
            missing_reason += (
                f"; {column_cells.count_columns[1]} is 0, and there is no rate of nothing"
            )
        elif availability_text.startswith(
            "partial"
        ):  # this says of other cells why they have no value
            missing_reason += f", without a reason; it is {availability_text}"
        elif not availability_text.startswith(("available", "unknown")):
            missing_reason += f"; it is {availability_text}"
        # Add the row's own state or reason, unless rows with a value have it, too.
        rows_with_value = self.plain_frame[self.plain_frame[column].notna()]
        for reason_column in filter(_REASON_COLUMN_PATTERN.search, self.plain_frame.columns):
            stated_reason = self.value_at(position, reason_column)
            is_unstated = (
                isinstance(stated_reason, str) and to_text(stated_reason) not in missing_reason
            )
            if is_unstated and not rows_with_value[reason_column].eq(stated_reason).any():
                missing_reason += f"; its {reason_column} is {to_text(stated_reason)}"
                break
        return missing_reason


def _convert_to_statement(signal: Signal) -> StatedAvailability:
    """Convert a `Signal`, found in a response, to a `StatedAvailability`, shown to users."""
    availability = signal.availability
    return StatedAvailability(
        str(availability.status),
        availability.cause and str(availability.cause),
        availability.reason,
        signal.target,
        " and ".join(map(str, signal.rows)) or None,
        signal.path,
        signal.rule,
        signal.raw,
        signal.sample_size,
        signal.as_of,
    )


_MAX_CELLS = 500
"""The maximum number of cells that are explained one by one."""


def explain_path(tables: Tables, path: str) -> Explanation:
    """Explain the value at a JSON path of a response by the table cells that hold it.

    This is ``Tables.explain``.
    """
    response = None
    for held_response in tables._origin.responses:  # one at most
        response = ParsedResponse(held_response.source, tables, held_response.body, "in memory")
    try:
        json_path = format_json_path(parse_path(path.removesuffix(KEY_MARKER)))
        json_path += KEY_MARKER * path.endswith(KEY_MARKER)
        value_place = response.locate(json_path) if response else ValuePlace(json_path)
    except ValueError as error:
        raise ArgumentError(str(error), argument="path") from None
    explanation = Explanation(
        value_place.text,
        json_path,
        operation="path",
        place=value_place,
        response=response.cited_response if response else None,
        statements=tuple(
            _convert_to_statement(signal)
            for signal in tables._origin.signals
            if signal.path and is_within(signal.path, json_path)
        ),
    )
    if response is None or response.body is None:
        return replace(explanation, end="the bytes of the response are no longer in memory")
    if value_place.start is None:
        return replace(explanation, missing="the response has no such path")
    cell_explanations = [*_explain_cells_at_path(tables, response, json_path)]
    extra_explanations = [
        Explanation(value, "tables.extra", {"path": extra_path}, operation="extra", notes=(reason,))
        for extra_path, (value, reason) in response.extra_value_by_path.items()
        if is_within(extra_path, json_path)
    ]
    return replace(
        explanation,
        children=(*cell_explanations[:_MAX_CELLS], *extra_explanations[:_MAX_CELLS]),
        notes=(
            f"in {counted(len(cell_explanations), 'cell')}, and "
            f"{counted(len(extra_explanations), 'value')} of tables.extra",
        ),
    )


def _explain_cells_at_path(
    tables: Tables, response: ParsedResponse, path: str
) -> Iterator[Explanation]:
    """Yield an explanation of each cell whose value is at a JSON path or below it."""
    for table_name, built_table in tables._origin.built_tables.items():
        table_cells = TableCells(response, table_name)
        for column in built_table.table.columns:
            if (
                path != "$"
                and find_path_coverage(path.removesuffix(KEY_MARKER), column.pattern) is None
            ):
                continue
            for position in range(len(table_cells.frame)):
                cell_path = table_cells.cells_of_column(column.name).path_at(position)
                if cell_path is not None and is_within(cell_path, path):
                    explanation = table_cells.explain(position, column.name, with_rate_counts=False)
                    yield replace(explanation, column=f"{table_name}.{column.name}")
