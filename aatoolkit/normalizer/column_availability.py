"""Find out, from what a response says, which columns and rows of a table could be measured.

For example, a response may say that an engine (AI assistant) has no data. The rows of this engine
then have the status ``unavailable``. A 0 next to ``hasData: false`` becomes a missing value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property, lru_cache
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from aatoolkit._util.dtypes import NUMBER_DTYPES
from aatoolkit._util.grouping import group_values
from aatoolkit.availability import (
    UNKNOWN,
    Availability,
    Cause,
    Condition,
    Statement,
    Status,
    combine,
)
from aatoolkit.availability.detect import Signal
from aatoolkit.availability.subject import as_text
from aatoolkit.jsontree.coerce import coerce_values
from aatoolkit.jsontree.paths import (
    Elements,
    Entries,
    Field,
    Position,
    Steps,
    format_json_path,
    parse_path,
)
from aatoolkit.metadata.attrs import EMPTY, ColumnMetadata, FrameMetadata
from aatoolkit.metadata.column import RowAvailability
from aatoolkit.normalizer.rows import TablePlan, frame_from_rows
from aatoolkit.sections.section import ENVELOPE_FIELDS, Column, Section

Mask = np.ndarray[tuple[int], np.dtype[np.bool_]]
PathFinder = Callable[[int], str | None]
"""Takes a row number; returns the JSON path of a column's value in this row, or None."""

ENGINE_LIST_RULE = "options"
"""The name of the rule that finds engines without data in the service's list of engines."""

DENIED_REASON = "denied"
"""The reason in ``extra`` for a number that, as the response says, was not measured."""

_MAX_STATED_ROWS = 500
"""If more rows than this have their own availability, it is only combined with the column's."""

_FULL_AVAILABILITY = Availability(Status.AVAILABLE)
_ABSENT_FIELD_AVAILABILITY = Availability(Status.UNKNOWN, Cause.ABSENT)


# The columns of the DataFrame with one row per statement of a response on missing data.
SIGNAL_COLUMNS = ("scope", "target", "rows", "status", "cause", "reason", "sample_size", "as_of",
          "evidence", "rule", "raw")  # fmt: skip


class TableAvailability:
    """Finds out which columns and rows of one table could be measured.

    That is known from signals, which are the statements of the response on missing data.
    """

    def __init__(
        self,
        table_plan: TablePlan,
        signals: Iterable[Signal],  # what the response says
        get_array: Callable[[str], pa.Array],  # returns the values of a column
        row_count: int,  # the number of rows
    ) -> None:
        self._table = table_plan.table
        self._column_name_by_dimension = table_plan.column_name_by_dimension
        self._row_count = row_count
        self._get_values = cache(lambda name: get_array(name).to_pylist())
        self._signals = [signal for signal in signals if signal.rule != ENGINE_LIST_RULE]
        self._narrow_signals = [
            signal for signal in self._signals if signal.scope in ("field", "row")
        ]
        self._section_availability = find_section_availability(self._signals) or UNKNOWN

    def make_column_metadata(
        self,
        column: Column,
        full_name: str,
        is_absent: bool,
        has_values: bool,
        find_path: PathFinder,
    ) -> ColumnMetadata:
        """Return the metadata of a column, with the availability of the column and of its rows.

        Parameters
        ----------
        column : Column
            The declaration of the column.
        full_name : str
            Its full name, such as ``source_domains.rank``.
        is_absent : bool
            Whether the response lacks the field of the column.
        has_values : bool
            Whether the column has any value.
        find_path : callable
            Takes a row number, and returns the JSON path of the row's value, or None.
        """
        if is_absent and self._section_availability.status not in EMPTY:
            return ColumnMetadata(full_name, _ABSENT_FIELD_AVAILABILITY)
        availability = self._find_availability(column)
        statements: list[Statement] = []
        if column.name not in self._table.key:
            statements, group_availabilities = self._make_group_statements(column)
            row_statements, row_availabilities = self._make_row_statements(column, find_path)
            statements += row_statements
            if (
                availability.status not in EMPTY
                and column.dtype in NUMBER_DTYPES
                and not column.is_label
            ):
                availability = _combine_with_rows(availability, group_availabilities)
            availability = _combine_with_rows(availability, row_availabilities)
            if statements and availability == UNKNOWN and has_values:
                availability = _FULL_AVAILABILITY
        if has_values and availability.status in EMPTY:
            availability = combine([availability, _FULL_AVAILABILITY])
        condition_column_names = {
            condition.column for statement in statements for condition in statement.rows
        }
        values_by_column = {
            name: np.array(self._get_values(name), object) for name in condition_column_names
        }
        availabilities, _ = RowAvailability(
            values_by_column, self._row_count, values_by_column
        ).distinct_availabilities(availability, statements)
        return ColumnMetadata(full_name, combine(availabilities), tuple(statements), availability)

    def mask_unmeasured_rows(
        self, column: Column, has_value_mask: Mask, find_path: PathFinder
    ) -> Mask:
        """Return a boolean mask of the rows whose value was not measured, as the response says.

        An example is a 0 next to ``hasData: false``. ``has_value_mask`` is a boolean mask of the
        rows with a value. ``find_path`` takes a row number, and returns the JSON path of the row's
        value.
        """
        availability_by_path = self._find_availability_by_path(column)
        unmeasured_mask = has_value_mask & self._mask_unmeasured_engines(
            self._find_availability(column).status in EMPTY
        )
        for row_number in np.flatnonzero(has_value_mask).tolist() if availability_by_path else ():
            signal_path = find_narrowest_path(find_path(row_number), availability_by_path)
            if signal_path:
                unmeasured_mask[row_number] = availability_by_path[signal_path].status in EMPTY
        return unmeasured_mask

    @property
    def may_state_unmeasured(self) -> bool:
        """Whether the response says that some numbers of the table were not measured."""
        if not any(map(states_unmeasured, self._signals)):
            return False
        is_unmeasured = self._section_availability.status in EMPTY
        return any(map(states_unmeasured, self._narrow_signals)) or bool(
            self._mask_unmeasured_engines(is_unmeasured).any()
        )

    @cached_property
    def _is_unmeasured_by_engine(self) -> dict[Any, bool]:
        """A dict from engine (AI assistant) to whether the response says that it has no data on it.

        Engines about which the response says nothing are left out.
        """
        signals = self._signals if self._column_name_by_dimension["engine"] else ()
        return {
            signal.target: states_unmeasured(signal)
            for signal in signals
            if signal.scope == "engine"
        }

    def _mask_unmeasured_engines(self, default_is_unmeasured: bool) -> Mask:
        """Return a boolean mask of the rows whose engine (AI assistant) has no data.

        That is so if the response says it. For other engines, the mask has the value
        ``default_is_unmeasured``.
        """
        if not self._is_unmeasured_by_engine:
            return np.full(self._row_count, default_is_unmeasured)
        engines = self._get_values(self._column_name_by_dimension["engine"])
        # The response may say nothing about an engine.
        return np.array(
            [
                self._is_unmeasured_by_engine.get(engine, default_is_unmeasured)
                for engine in engines
            ],
            bool,
        )

    def _find_availability_by_path(self, column: Column) -> dict[str, Availability]:
        """Return the availability of single values of a column, as a dict by JSON path.

        The dict has only the paths for which the response states the availability.
        """
        return {
            format_json_path(parse_target(signal.target or "")): signal.availability
            for signal in self._narrow_signals
            if find_path_coverage(signal.target or "", column.pattern) == "some"
        }

    def _find_availability(self, column: Column) -> Availability:
        """Return the availability of a column as a whole, ignoring statements about single rows."""
        availabilities_by_depth = group_values(
            (len(parse_target(signal.target or "")), signal.availability)
            for signal in self._narrow_signals
            if signal.scope == "field"
            and not signal.rows
            and find_path_coverage(signal.target or "", column.pattern) == "all"
        )
        # The narrowest statement counts.
        return (
            combine(availabilities_by_depth[max(availabilities_by_depth)])
            if availabilities_by_depth
            else self._section_availability
        )

    def _make_group_statements(self, column: Column) -> tuple[list[Statement], list[Availability]]:
        """Return a list of statements on the rows of single engines (AI assistants) or days.

        If the table has no column of engines or days, its numbers are sums over all of them. A
        second list then has a ``partial`` availability for each engine or day without data.
        """
        statements = []
        partial_availabilities = []
        for signal in self._signals:
            is_about_column = signal.scope in ("engine", "section") or (
                signal.scope == "field"
                and find_path_coverage(signal.target or "", column.pattern) == "all"
            )
            if not signal.rows or not is_about_column:
                continue
            availability = signal.availability
            if signal.scope == "engine":
                availability = replace(
                    availability, reason=f"{signal.target}: {availability.reason or availability}"
                )
            column_names = [
                self._column_name_by_dimension.get(condition.column, condition.column) or ""
                for condition in signal.rows
            ]
            if {*column_names} <= {*self._table.names}:
                conditions_and_names = zip(signal.rows, column_names, strict=True)
                conditions = (
                    replace(condition, column=name) for condition, name in conditions_and_names
                )
                statements.append(Statement(availability, tuple(conditions)))
            # The table has no column of engines or days; its numbers are sums over them.
            elif availability.status not in (Status.AVAILABLE, Status.UNKNOWN):
                partial_availabilities.append(replace(availability, status=Status.PARTIAL))
        return statements, list(dict.fromkeys(partial_availabilities))

    def _make_row_statements(
        self, column: Column, find_path: PathFinder
    ) -> tuple[list[Statement], list[Availability]]:
        """Return statements on whether a column was measured in single rows of the table.

        ``find_path`` takes a row number, and returns the JSON path of the column's value.

        Returns
        -------
        statements : list of Statement
            Each selects its rows by the values of the key columns. The list is empty if the key
            does not tell these rows from others.
        availabilities : list of Availability
            The distinct availabilities of the rows, if the key does not tell them from others;
            else the list is empty.
        """
        availability_by_path = self._find_availability_by_path(column)
        row_numbers_by_availability = group_values(
            (availability_by_path[signal_path], row_number)
            for row_number in range(self._row_count)
            if availability_by_path
            and (signal_path := find_narrowest_path(find_path(row_number), availability_by_path))
        )
        conditions_by_availability = {
            availability: self._make_key_conditions(row_numbers)
            for availability, row_numbers in row_numbers_by_availability.items()
        }
        # The key cannot identify the rows.
        if not all(conditions_by_availability.values()):
            return [], list(dict.fromkeys(availability_by_path.values()))
        return [
            Statement(availability, conditions)
            for availability in conditions_by_availability
            for conditions in conditions_by_availability[availability]
        ], []

    def _make_key_conditions(self, row_numbers: list[int]) -> list[tuple[Condition, ...]]:
        """Return conditions on the key columns that are met by exactly the given rows.

        Each item of the list is a tuple of conditions, all of which a row must meet. The list is
        empty if there are no such conditions.
        """
        key_columns = self._table.key
        key_column_texts = [
            [None if value is None else as_text(value) for value in self._get_values(key_column)]
            for key_column in key_columns
        ]
        row_keys = [*zip(*key_column_texts, strict=True)]
        if (
            len(row_numbers) > _MAX_STATED_ROWS
            or not row_keys
            or any(None in row_keys[row_number] for row_number in row_numbers)
        ):
            return []
        for key_column, key_texts in zip(key_columns, key_column_texts, strict=True):
            selected_texts = dict.fromkeys(key_texts[row_number] for row_number in row_numbers)
            if [
                row_number for row_number, value in enumerate(key_texts) if value in selected_texts
            ] == row_numbers:
                return [(Condition(key_column, "in", tuple(selected_texts)),)]  # type: ignore[arg-type]
        selected_row_keys = dict.fromkeys(row_keys[row_number] for row_number in row_numbers)
        if [
            row_number
            for row_number, row_key in enumerate(row_keys)
            if row_key in selected_row_keys
        ] != row_numbers:
            return []
        return [
            tuple(
                Condition(key_column, "in", (text,))
                for key_column, text in zip(key_columns, row_key, strict=True)
            )
            for row_key in selected_row_keys
        ]


def _combine_with_rows(
    availability: Availability, row_availabilities: Sequence[Availability]
) -> Availability:
    """Combine what is stated on a whole column and on some of its rows to one availability."""
    return combine(
        row_availabilities
        if row_availabilities and availability == UNKNOWN
        else [availability, *row_availabilities]
    )


def find_section_availability(signals: Iterable[Signal]) -> Availability | None:
    """Return the availability of a response as a whole; None if the response does not state it.

    ``signals`` are the statements of the response on missing data.
    """
    section_signals = [
        signal for signal in signals if signal.scope == "section" and not signal.rows
    ]
    # What the HTTP status says counts alone.
    deciding_signals = [
        signal for signal in section_signals if signal.rule == "transport"
    ] or section_signals
    return combine(signal.availability for signal in deciding_signals) if deciding_signals else None


def is_error_response(section: Section, document: object, signals: Iterable[Signal]) -> bool:
    """Return whether a response has only an error message, and no data.

    That is so if it reports an error, and has none of the fields that the section (kind of
    response) declares.
    """
    if not any(
        signal.scope == "section"
        and signal.rule in ("transport", "error")
        and states_unmeasured(signal)
        for signal in signals
    ):
        return False
    path_prefixes = [
        parse_path(column.pattern)[:1] for table in section for column in table.columns
    ]
    field_names = {
        step.name for steps in path_prefixes for step in steps if isinstance(step, Field)
    }
    return not isinstance(document, Mapping) or field_names.isdisjoint(
        document.keys() - {*ENVELOPE_FIELDS}
    )


def states_unmeasured(signal: Signal) -> bool:
    """Return whether a signal (a statement of the response) says that some data were not measured.

    Signals inferred from the service's list of engines (AI assistants) do not count.
    """
    return signal.availability.status in EMPTY and signal.rule != ENGINE_LIST_RULE


def find_narrowest_path(
    path: str | None, availability_by_path: Mapping[str, Availability]
) -> str | None:
    """Return the longest path with a stated availability that leads to ``path``, or None.

    It is a key of ``availability_by_path`` that equals ``path`` or is its beginning.

    Examples
    --------
    >>> find_narrowest_path("$.points[0].rate", {"$.points": UNKNOWN, "$.points[0]": UNKNOWN})
    '$.points[0]'
    """
    while path and path not in availability_by_path:
        path = path[: max(path.rfind("."), path.rfind("["), 0)]
    return path


@lru_cache(maxsize=4096)
def parse_target(target: str) -> Steps:
    """Parse a JSON path to a tuple of steps; any other text is taken as the name of a field.

    Examples
    --------
    >>> parse_target("rates[0]"), parse_target("rates[")
    ((Field(name='rates'), Position(index=0)), (Field(name='rates['),))
    """
    try:
        return parse_path(target)
    except ValueError:
        return (Field(target),)


@lru_cache(maxsize=4096)
def find_path_coverage(path: str, column_pattern: str) -> str | None:
    """Return whether a path leads to ``"all"`` or ``"some"`` values of a column; None if to none.

    ``path`` may also be the name of a field. ``column_pattern`` is the path that stands for all
    values of the column.

    Examples
    --------
    >>> [find_path_coverage(path, "domains[].rank") for path in ("domains[].rank", "domains[0]")]
    ['all', 'some']
    """
    steps = parse_target(path)
    column_steps = parse_path(column_pattern)
    # A single name means all fields of this name, and the fields inside them.
    if len(steps) == 1 and isinstance(steps[0], Field) and steps[0] in column_steps:
        return "all"
    if not steps or len(steps) > len(column_steps):
        return None
    is_partial = False
    for step, column_step in zip(steps, column_steps, strict=False):
        if step == column_step:
            continue
        is_array_step = isinstance(column_step, Elements) and isinstance(step, Position)
        is_object_step = isinstance(column_step, Entries) and isinstance(step, Field)
        if not (is_array_step or is_object_step):
            return None
        is_partial = True
    return "some" if is_partial else "all"


def describe_availability(metadata: FrameMetadata, signals: list[Signal]) -> str:
    """Return the availability of a table as text, combined from its columns."""
    metadata_by_column = metadata.columns
    availabilities = [
        column.availability
        for name, column in metadata_by_column.items()
        if name not in metadata.key
    ]
    availabilities = availabilities or [
        column.availability for column in metadata_by_column.values()
    ]
    availability = combine(dict.fromkeys(availabilities))  # most columns share theirs
    section_availability = find_section_availability(signals)
    # A statement about the section with the same status has the better reason.
    has_reason = (
        section_availability is not None
        and section_availability.reason
        and section_availability.status == availability.status
    )
    return str(section_availability if has_reason else availability)


def make_signal_frame(signals: list[Signal]) -> pd.DataFrame:
    """Return a DataFrame with one row for each statement of a response on missing data."""
    signals = signals or [Signal("section", None, UNKNOWN, None, None, "", "nothing found")]
    return frame_from_rows(
        SIGNAL_COLUMNS,
        list_signal_rows(signals),
        scope=pd.CategoricalDtype(["section", "field", "row", "engine"]),
        status=pd.CategoricalDtype([*map(str, Status)]),
        sample_size="Int64",
        as_of="datetime64[us, UTC]",
    )


def list_signal_rows(signals: Sequence[Signal]) -> list[tuple[Any, ...]]:
    """Return one tuple per statement on missing data, with a value per name in `SIGNAL_COLUMNS`."""
    sample_sizes, _ = coerce_values([signal.sample_size for signal in signals], "Int64")
    as_of_times, _ = coerce_values([signal.as_of for signal in signals], "timestamp")
    return [
        (
            *(signal.scope, signal.target, " and ".join(map(str, signal.rows)) or None),
            *(
                detail and str(detail)
                for detail in (availability.status, availability.cause, availability.reason)
            ),
            *(sample_size, as_of, signal.path, signal.rule, signal.raw),
        )
        for signal, sample_size, as_of in zip(
            signals, sample_sizes.to_pylist(), as_of_times.to_pylist(), strict=True
        )
        for availability in [signal.availability]
    ]
