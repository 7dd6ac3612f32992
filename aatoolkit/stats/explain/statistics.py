"""Explain the results of statistics: the formula of each number, down to the input cells.

To explain a result, its function is called again while the variable ``CURRENT_TRACER`` holds a
`Tracer`. The numbers are then `TracedValue` objects, which store the formula that computed them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit.stats.explain.cells import MethodResult, RecomputedFrame, explain_sum
from aatoolkit.stats.explain.explanation import Explanation, sum_to_text, to_json_value
from aatoolkit.stats.sums import ClusterSums
from aatoolkit.stats.trace import (
    CURRENT_TRACER,
    GROUP_TOTAL_OP,
    INPUT_OP,
    RANDOM_OP,
    SETTING_OP,
    TAKE_OP,
    TOTAL_OP,
    TracedValue,
    format_formula,
    named_operands,
    untrace,
)

_MAX_CELLS = 5000
"""The maximum number of cells of one result that are explained one by one."""

_TOO_MANY_CELLS_REASON = "these are too many rows to list them all here"


class Tracer:
    """Records the formulas of a statistic's numbers while the statistic is computed again."""

    def __init__(self, input_frames: Iterable[RecomputedFrame]) -> None:
        self._frames = {
            id(input_frame.frame): (input_frame.frame, input_frame.explain)
            for input_frame in input_frames
        }
        self._cells: dict[Any, Explanation] = {}
        self._traced_columns: Mapping[str, Any] = {}
        self._row_order: Any = None

    def __enter__(self) -> Tracer:
        self._token = CURRENT_TRACER.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        CURRENT_TRACER.reset(self._token)

    def record_copied_frame(
        self,
        frame: pd.DataFrame,
        source_frame: pd.DataFrame,
        row_positions: Any,
        source_name_by_column: Mapping[str, str],
    ) -> None:
        """Record that the rows of ``frame`` were copied from rows of ``source_frame``.

        ``row_positions`` has the positions of these rows in ``source_frame``; None if all were
        copied. ``source_name_by_column`` maps columns of ``frame`` to their names in
        ``source_frame``.
        """
        explain_cell = self._frames[id(source_frame)][1]
        if frame is not source_frame:
            self._frames[id(frame)] = (
                frame,
                lambda position, column: explain_cell(
                    position if row_positions is None else int(row_positions[position]),
                    source_name_by_column.get(column, column),
                ),
            )

    def record_columns(self, column_by_name: Mapping[str, Any], row_order: Any) -> dict[str, Any]:
        """Store the columns of a result for later explanations, and return them as plain numbers.

        ``row_order`` has the positions of the rows after sorting; None if they are not sorted.
        """
        self._traced_columns = column_by_name
        self._row_order = row_order
        return {
            name: [*map(untrace, column)] if isinstance(column, list | tuple) else untrace(column)
            for name, column in column_by_name.items()
        }

    def explain_number(self, position: int, column: str) -> Explanation | None:
        """Explain the number in a row and column of the result; None if no formula was recorded."""
        traced_value = self._traced_columns.get(column)
        row_position = int(position if self._row_order is None else self._row_order[position])
        if isinstance(traced_value, list | tuple):
            traced_value = traced_value[row_position]
        return (
            TracedExplainer().explain_number(traced_value, row_position)
            if isinstance(traced_value, TracedValue)
            else None
        )

    def explain_by_rows(
        self,
        name: str,
        value: Any,
        frame: pd.DataFrame,
        columns: Sequence[str],
        row_positions: Sequence[int],
        formula: str,
        row_key: Mapping[str, Any] | None = None,
    ) -> Explanation:
        """Explain a number by the cells of a frame in ``columns`` and ``row_positions``.

        ``name`` and ``value`` are those of the number. ``formula`` says in words how it was
        computed from the cells. ``row_key`` is its key, as a dict by column.
        """
        explain_cells = self._cell_explainer(frame)
        cells = tuple(
            cell
            for position in row_positions
            for column in columns
            for cell in explain_cells(column, [position])
        )
        if row_key is None and cells:
            value = cells[0].value
            row_key = cells[0].row
        return Explanation(
            to_json_value(value),
            name,
            to_json_value(row_key or {}),
            operation=RANDOM_OP,
            formula=formula,
            rows=len(row_positions),
            children=cells,
            end=_TOO_MANY_CELLS_REASON if len(row_positions) and not cells else None,
        )

    def explain_setting(self, name: str, value: Any, row_key: Mapping[str, Any]) -> Explanation:
        """Explain a number that is in no cell.

        For example, the confidence level is an argument, and the day of a row is computed.
        """
        return Explanation(to_json_value(value), name, to_json_value(row_key), operation=SETTING_OP)

    def explain_total(
        self, sums: ClusterSums, name: str, sum_position: int, is_denominator: bool
    ) -> Explanation:
        """Explain the numerator or denominator of one cluster, such as a prompt, in one group.

        ``sum_position`` is the position of the number in the arrays of ``sums``, which have an
        element per pair of group and cluster. ``name`` is its name in formulas.
        """
        cell_key = (id(sums), name, sum_position, is_denominator)
        if cell_key not in self._cells:
            row_positions = sums.row_positions[
                np.flatnonzero(sums.sum_position_of_row == sum_position)
            ].tolist()
            explain_cells = self._cell_explainer(sums.frame)
            if sums.is_count and is_denominator:
                formula = f"one {sums.cluster_column}"
                cells = explain_cells(sums.plan.inputs[0], row_positions)
                total_explanation = Explanation(
                    1, name, operation="count", formula=formula, children=cells
                )
            else:
                total_explanation = explain_sum(
                    sums.plan, sums.frame, is_denominator, row_positions, explain_cells, name
                )
            self._cells[cell_key] = replace(
                total_explanation,
                row=to_json_value(sums.cluster_of_sum(sum_position)),
                end=_TOO_MANY_CELLS_REASON
                if row_positions and not total_explanation.children
                else None,
            )
        return self._cells[cell_key]

    def _cell_explainer(self, frame: pd.DataFrame) -> Callable[..., tuple[Explanation, ...]]:
        """Return a function that explains the cells in a column and several rows of ``frame``."""
        explain_cell = self._frames[id(frame)][1]

        def explain_column(column: str, row_positions: Iterable[int]) -> tuple[Explanation, ...]:
            cell_keys = [(id(frame), column, int(row_position)) for row_position in row_positions]
            unexplained_keys = [cell_key for cell_key in cell_keys if cell_key not in self._cells]
            if len(self._cells) + len(unexplained_keys) > _MAX_CELLS:
                return ()
            self._cells |= {
                cell_key: explain_cell(cell_key[2], column) for cell_key in unexplained_keys
            }
            return tuple(self._cells[cell_key] for cell_key in cell_keys)

        return explain_column


class StatisticCells(MethodResult):
    """The result of a statistic, computed again while a `Tracer` recorded the formulas."""

    def __init__(self, *arguments: Any, tracer: Tracer) -> None:
        super().__init__(*arguments)
        self._tracer = tracer

    def explain(self, position: int, column: str) -> Explanation:
        """Return the explanation of the value in a row (by position) and a column."""
        cell = self.describe(position, column)
        text_by_name = {
            text_name: next(
                (
                    to_json_value(self.flat_frame[column_name].iloc[position])
                    for column_name in map(str, self.flat_frame.columns)
                    if f"_{column_name}".endswith(f"_{text_name}")
                ),
                None,
            )
            for text_name in ("method", "verdict", "why")
        }
        notes = [
            f"{text_name}: {text_by_name[text_name]}"
            for text_name in ("method", "verdict")
            if text_by_name[text_name] and text_name != column
        ]
        number_cell = None if cell.value is None else self._tracer.explain_number(position, column)
        if number_cell is None:
            missing_reason = (
                text_by_name["why"] or text_by_name["verdict"] or "it could not be computed"
            )
            return replace(
                cell,
                missing=str(missing_reason) if cell.value is None else None,
                notes=tuple(notes),
            )
        field_names = ("formula", "rows", "place", "response", "statements", "children", "end")
        explanation_fields = {
            field_name: getattr(number_cell, field_name) for field_name in field_names
        }
        return replace(cell, **explanation_fields, notes=(*number_cell.notes, *notes))


class TracedExplainer:
    """Converts each `TracedValue`, which stores its formula, to an explanation, only once."""

    def __init__(self) -> None:
        self._explained_numbers: set[tuple[int, int | None]] = set()

    def explain_number(self, traced_value: TracedValue, position: int | None = None) -> Explanation:
        """Explain the number ``traced_value``; of an array, the element at ``position``."""
        position = position if traced_value.is_vector else None
        value = to_json_value(
            traced_value.value if position is None else traced_value.value[position]
        )
        input_explanation: Explanation | None = None
        if traced_value.operation == INPUT_OP and traced_value.describe_at is not None:
            input_explanation = traced_value.describe_at(position or 0)
        if traced_value.operation == SETTING_OP or (
            input_explanation is not None and input_explanation.operation == SETTING_OP
        ):
            return input_explanation or Explanation(value, traced_value.name, operation=SETTING_OP)
        row_key = _find_row_key(traced_value, position) if position is not None else {}
        if (id(traced_value), position) in self._explained_numbers:
            return Explanation(value, traced_value.name, row_key, operation="above")
        self._explained_numbers.add((id(traced_value), position))
        if input_explanation is not None:
            return replace(input_explanation, column=traced_value.name)
        children = tuple(self._explain_operands(traced_value, position))
        operation = RANDOM_OP
        formula = traced_value.description
        if traced_value.operation != RANDOM_OP:
            operation = "formula"
            numbers_text = format_formula(traced_value, position, with_numbers=True)
            if traced_value.operation == TOTAL_OP and traced_value.operands[0].name:
                numbers_text = (
                    sum_to_text(
                        [float(f"{summand:.12g}") for summand in traced_value.operands[0].value]
                    )
                    or "0"
                )
            formula = f"{format_formula(traced_value, position)} = {numbers_text}"
        return Explanation(
            value,
            traced_value.name,
            row_key,
            operation=operation,
            formula=formula,
            rows=sum(child.rows or 1 for child in children) or None,
            children=children,
        )

    def _explain_operands(
        self, traced_value: TracedValue, position: int | None
    ) -> Iterable[Explanation]:
        """Yield an explanation of each number in the formula of ``traced_value``.

        ``position`` selects the element if ``traced_value`` is an array.
        """
        for operand, operand_position in named_operands(traced_value, position):
            if operand.is_vector and operand_position is None:
                yield from (
                    self.explain_number(operand, element_position)
                    for element_position in range(len(operand.value))
                )
            else:
                yield self.explain_number(operand, operand_position)


def _find_row_key(traced_value: TracedValue, position: int) -> dict[str, Any]:
    """Return the key of the element at ``position`` of an array.

    The key is a dict such as ``{"prompt_id": "p1"}``.
    """
    if traced_value.describe_at is not None:
        element = traced_value.describe_at(position)
        return dict(element.row) if traced_value.operation == INPUT_OP else to_json_value(element)
    if traced_value.operation == GROUP_TOTAL_OP:
        keys = [
            _find_row_key(traced_value.operands[0], int(position_in_array))
            for position_in_array in np.flatnonzero(traced_value.positions == position)[:1]
        ]
        return {name: value for key in keys for name, value in key.items() if name != "day"}
    if traced_value.operation == TAKE_OP:
        position = int(traced_value.positions[position])
    array_operands = (
        operand
        for operand in traced_value.operands
        if isinstance(operand, TracedValue) and operand.is_vector
    )
    return next((_find_row_key(operand, position) for operand in array_operands), {})
