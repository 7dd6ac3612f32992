"""Frames that were recomputed from stored responses, and the explanations of their cells.

A frame's metadata records the steps that made it. They are repeated to trace a cell to its inputs.
"""

# In reading order: `PlainPandasResult`, after plain pandas steps; `MethodResult`, of a method of
# ``df.aa`` such as ``merge``; `AggregateCells`, of ``aggregate``; `ArchivedCells`, a frame from an
# archive.

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from typing import Any, Protocol

import numpy as np
import pandas as pd

from aatoolkit._util.text import counted
from aatoolkit.frame.aggregate import PlannedCells, plan_cells
from aatoolkit.frame.aggregation_plan import ColumnPlan
from aatoolkit.frame.cell_status import is_status_column, statuses_of
from aatoolkit.frame.groupby import as_floats, flatten_index
from aatoolkit.frame.merge import names_after_merge
from aatoolkit.metadata.attrs import FrameMetadata, attach, metadata_of
from aatoolkit.metadata.column import Source
from aatoolkit.metadata.recipe import load_positions, load_values
from aatoolkit.stats.explain.explanation import (
    Explanation,
    are_equal,
    equal_cells_mask,
    sum_to_text,
    to_json_value,
    to_text,
)
from aatoolkit.stats.explain.responses import ResponseFinder, TableCells, UntraceableError
from aatoolkit.stats.results import equal_text_mask


class RecomputedFrame(Protocol):
    """The protocol of frames recomputed from their recorded steps, which can explain cells."""

    frame: pd.DataFrame
    metadata: FrameMetadata

    def explain(self, position: int, column: str) -> Explanation:
        """Return the explanation of a value by row position and column or index level."""


def describe_cell(
    frame: pd.DataFrame, metadata: FrameMetadata, position: int, column: str
) -> Explanation:
    """Explain a cell from the metadata of its frame alone, without the responses behind it.

    The explanation has the key, unit and meaning of the cell, and whether it was measured.
    """
    declaration = metadata.declaration_of(column)
    row_frame = pd.DataFrame(frame).iloc[[position]]  # without attrs, which it would copy
    cell_statuses = statuses_of(row_frame, column, metadata) if column in metadata.columns else None
    return Explanation(
        to_json_value(row_frame[column].iloc[0]),
        column,
        {
            name: to_json_value(row_frame[name].iloc[0])
            for name in metadata.key
            if name in row_frame.columns
        },
        unit=declaration.unit,
        meaning=declaration.doc or None,
        availability=str(cell_statuses.availabilities[int(cell_statuses.codes[0])])
        if cell_statuses
        else None,
    )


class PlainPandasResult:
    """A frame recomputed by plain pandas steps: selected rows, assigned values, or a new index."""

    frame: pd.DataFrame
    metadata: FrameMetadata

    def __init__(
        self,
        base_frame: RecomputedFrame | None,
        changes: Mapping[str, Any],
        unknown_base_reason: str = "",
    ) -> None:
        self._base = base_frame
        self._unknown_base_reason = unknown_base_reason
        self._unknown_columns = changes.get("unknown", ())
        if "lost" in changes or (base_frame is None and self._unknown_columns):
            raise UntraceableError(
                changes.get("lost", f"{unknown_base_reason}; it is too large to be carried along")
            )
        self.new_values = {
            name: load_values(stored_values)
            for name, stored_values in changes.get("values", {}).items()
        }
        if base_frame is None:
            frame = pd.DataFrame(index=range(changes.get("size", 0)))
        else:
            frame = flatten_index(base_frame.frame)
        if isinstance(base_frame, PlainPandasResult):
            # Metadata was attached anew before these steps, and is about the rows of that moment.
            frame = attach(frame.copy(deep=False), base_frame.metadata)
        self._base_rows = np.arange(len(frame))
        if "rows" in changes:
            self._base_rows = load_positions(changes["rows"])
            frame = frame.iloc[self._base_rows]
        new_index = changes.get("index")
        column_names = changes.get("columns", frame.columns)
        if new_index == "range":
            frame = frame.reset_index(drop=True)
        frame = frame[
            [
                name
                for name in column_names
                if name in frame.columns and name not in self._unknown_columns
            ]
        ]
        if self.new_values:
            frame = frame.assign(
                **{name: cells.set_axis(frame.index) for name, cells in self.new_values.items()}
            )
        if isinstance(new_index, list) and any(new_index):
            frame = frame.set_index([name for name in new_index if name])
        self.frame = frame
        self.metadata = metadata_of(frame)

    def explain(self, position: int, column: str) -> Explanation:
        """Return the explanation of the value in a row (by position) and a column."""
        if (
            column not in self.new_values
            and column not in self._unknown_columns
            and self._base is not None
        ):
            return self._base.explain(int(self._base_rows[position]), column)
        cell = describe_cell(flatten_index(self.frame), self.metadata, position, column)
        reason = self._unknown_base_reason or f"{column} was set by a plain pandas step"
        return Explanation(cell.value, column, cell.row, end=reason)


class MethodResult:
    """The recomputed result of a method of ``df.aa``, such as ``merge``."""

    def __init__(
        self,
        verb: str,
        frame: pd.DataFrame,
        input_frames: Sequence[RecomputedFrame],
        arguments: Mapping[str, Any],
    ) -> None:
        self.verb = verb
        self.frame = frame
        self.inputs = input_frames
        self.arguments = arguments
        self.metadata = metadata_of(frame, with_index_levels=True)
        self.flat_frame = flatten_index(frame)

    def explain(self, position: int, column: str) -> Explanation:
        """Return the explanation of the value in a row (by position) and a column."""
        return EXPLAIN_CELL_BY_VERB[self.verb](self, position, column)

    @cached_property
    def first_input(self) -> pd.DataFrame:
        """The first frame that the method was called with, with its index levels as columns."""
        return flatten_index(self.inputs[0].frame)

    @cached_property
    def merge_inputs(self) -> list[tuple[str, RecomputedFrame, pd.Series, dict[str, str]]]:
        """How the rows and columns of the result come from the left and the right frame.

        There is a tuple for each of the two frames: "left" or "right"; the recomputed frame; a
        Series with the position of the frame's matching row, for each row of the result; and a dict
        from columns of the result to their names in the frame.
        """
        # By row of the result, the position of the row in the side; missing without a match.
        merge_options = {
            argument_name: argument
            for argument_name, argument in self.arguments.items()
            if argument_name not in ("left", "right")
        }
        left_frame, right_frame = (input_frame.frame for input_frame in self.inputs)
        merged_frame = left_frame.assign(_left=range(len(left_frame))).merge(
            right_frame.assign(_right=range(len(right_frame))), **merge_options
        )
        old_name_by_new_of_inputs = [
            {new_name: old_name for old_name, new_name in reversed(new_name_by_old.items())}
            for new_name_by_old in names_after_merge(left_frame, right_frame, merge_options)
        ]
        input_positions = (merged_frame["_left"], merged_frame["_right"])
        return [
            *zip(
                ("left", "right"),
                self.inputs,
                input_positions,
                old_name_by_new_of_inputs,
                strict=True,
            )
        ]

    def describe(
        self, position: int, column: str, *notes: str, **explanation_fields: Any
    ) -> Explanation:
        """Explain a cell from the metadata of the result alone.

        ``notes`` are texts to add, ``explanation_fields`` other fields of `Explanation` to set.
        """
        explanation = describe_cell(self.flat_frame, self.metadata, position, column)
        return replace(explanation, operation=self.verb, notes=notes, **explanation_fields)

    def copy_cell(self, cell: Explanation, position: int, column: str, note: str) -> Explanation:
        """Explain a cell that a method copied from an input frame.

        ``cell`` is the explanation of the original cell, and ``note`` says how it was copied.
        """
        row = self.describe(position, column).row or cell.row
        rename_note = (f"{column} was {cell.column} before",) if column != cell.column else ()
        return replace(cell, column=column, row=row, notes=(*cell.notes, note, *rename_note))


def _explain_rename(result: MethodResult, position: int, column: str) -> Explanation:
    """Explain a cell after ``rename`` by the same cell under its old column name."""
    old_name_by_new = {
        new_name: old_name for old_name, new_name in result.arguments["names"].items()
    }
    cell = result.inputs[0].explain(position, old_name_by_new.get(column, column))
    return result.copy_cell(cell, position, column, "by rename")


def _explain_unchanged(result: MethodResult, position: int, column: str) -> Explanation:
    """Explain a cell that a method either copied unchanged or added in a new row or column."""
    is_added_row = position >= len(result.first_input)
    if column in result.first_input.columns and not is_added_row:
        return result.inputs[0].explain(position, column)
    cell = result.describe(position, column, _NOTE_BY_VERB[is_added_row or result.verb])
    is_missing = is_added_row and cell.value is None and not is_status_column(result.frame, column)
    return replace(cell, missing="no response has this row") if is_missing else cell


_NOTE_BY_VERB = {
    "with_context": "from the request that was sent, or the window it is of",
    "with_constant": "the same in all rows of its frame",
    "complete": "by complete: the row was reported",
    True: "by complete: this row was added, as no response has one for it",
}


def _explain_concat(result: MethodResult, position: int, column: str) -> Explanation:
    """Explain a cell of ``concat`` by the input cell that it was copied from."""
    end_positions = np.cumsum([len(input_frame.frame) for input_frame in result.inputs])
    frame_position = int(np.searchsorted(end_positions, position, side="right"))
    input_frame = result.inputs[frame_position]
    input_row = position - int(end_positions[frame_position] - len(input_frame.frame))
    note = f"by concat: row {input_row + 1} of frame {frame_position + 1} of {len(result.inputs)}"
    if column in flatten_index(input_frame.frame).columns:
        return result.copy_cell(input_frame.explain(input_row, column), position, column, note)
    if column in result.frame.columns:
        return result.describe(position, column, note, missing="its frame has no such column")
    return result.describe(position, column, note, end="it is a label that concat was given")


def _explain_merge(result: MethodResult, position: int, column: str) -> Explanation:
    """Explain a cell of ``merge`` by the input cell that it was copied from."""
    inputs_without_match = [
        input_name
        for input_name, _, input_positions, _ in result.merge_inputs
        if pd.isna(input_positions.iloc[position])
    ]
    inputs_with_column = [
        merge_input for merge_input in result.merge_inputs if column in merge_input[-1]
    ]
    for input_name, input_frame, input_positions, old_name_by_new in inputs_with_column:
        if input_name not in inputs_without_match:
            input_row = int(input_positions.iloc[position])
            note = f"by merge: from the {input_name} frame, its row {input_row + 1}"
            note += "; the other side has no match" * bool(inputs_without_match)
            return result.copy_cell(
                input_frame.explain(input_row, old_name_by_new[column]), position, column, note
            )
    if inputs_with_column:
        reason = f"no row of the {inputs_with_column[0][0]} frame matches this one"
        return result.describe(position, column, missing=reason)
    return result.describe(position, column, "by merge: which of the sides has the row")


def _explain_to_long(result: MethodResult, position: int, column: str) -> Explanation:
    """Explain a cell of ``to_long`` by the cell of the wide frame that it was copied from."""
    input_position = position % max(len(result.first_input), 1)
    measure = str(result.frame["variable"].iloc[position])
    note = f"by to_long: {measure} in row {input_position + 1}"
    if column == "value":
        cell = result.copy_cell(
            result.inputs[0].explain(input_position, measure), position, column, note
        )
        return replace(cell, column=f"value of {measure}")
    if column in ("variable", "unit") or is_status_column(result.frame, column):
        return result.describe(position, column, note)
    input_column = column if column in result.first_input.columns else column.removesuffix("_")
    return result.copy_cell(
        result.inputs[0].explain(input_position, input_column), position, column, note
    )


def _explain_answers(result: MethodResult, position: int, column: str) -> Explanation:
    """Explain a cell of ``answers`` by its source rows of chats, mentions or citations."""
    chats, mentions, citations = result.inputs
    brand = result.arguments.get("brand")
    chat_id = result.frame["chat_id"].iloc[position]
    input_frame, input_column, missing_reason = {
        "date": (chats, "ran_at", ""),
        "cited": (citations, "domain_type", "nothing says of any citation whose page it is"),
    }.get(column, (mentions, "brand" if brand else "own", "it does not mention the brand"))

    def find_chat_rows(input_frame: RecomputedFrame) -> Any:
        return np.flatnonzero(equal_text_mask(input_frame.frame["chat_id"], chat_id))

    (chat_position,) = find_chat_rows(chats).tolist()
    row_positions = find_chat_rows(input_frame)
    if column in chats.frame.columns:
        return result.copy_cell(
            chats.explain(chat_position, column), position, column, "of the answer"
        )
    cell = result.describe(position, column)
    if column == "brand":
        return replace(cell, formula="the brand that was asked for, else the own ones")
    if column == "position":
        is_of_brand = input_frame.frame[input_column].eq(brand or True).fillna(False)
        if is_of_brand.iloc[row_positions].any():
            row_positions = row_positions[is_of_brand.iloc[row_positions].to_numpy(bool)]
            input_column = column
    children = tuple(input_frame.explain(int(position), input_column) for position in row_positions)
    is_missing = cell.value is None
    return replace(
        cell,
        formula=None
        if is_missing
        else f"by {input_column}, of {counted(len(row_positions), 'row')}",
        missing=missing_reason if is_missing else None,
        rows=len(row_positions),
        children=children or (chats.explain(chat_position, "chat_id"),),
    )


EXPLAIN_CELL_BY_VERB = {
    "merge": _explain_merge,
    "concat": _explain_concat,
    "rename": _explain_rename,
    "to_long": _explain_to_long,
    "answers": _explain_answers,
    **dict.fromkeys(("adopt", "complete", "with_context", "with_constant"), _explain_unchanged),
}
"""For each verb, the function that explains a cell of its result."""


def explain_sum(
    plan: ColumnPlan,
    frame: pd.DataFrame,
    is_denominator: bool,
    row_positions: Sequence[int],
    explain_cells: Any,
    formula_name: str = "",
) -> Explanation:
    """Explain the numerator or denominator of an aggregate by the cells that it sums or counts.

    ``plan`` is the rule by which the column is aggregated. ``row_positions`` are the positions of
    the summed rows in ``frame``. The function ``explain_cells(column, rows)`` explains the single
    cells. ``formula_name`` is the name of the result in formulas.
    """
    input_columns = plan.inputs
    rule = plan.rule
    if is_denominator and not rule.over and not rule.by:
        formula = f"{counted(len(row_positions), 'row')} with {input_columns[0]}"
        cells = explain_cells(input_columns[0], row_positions)
        return Explanation(
            len(row_positions),
            formula_name or "rows",
            operation="count",
            formula=formula,
            children=cells,
        )
    summed_column = input_columns[is_denominator]
    summands = as_floats(frame[summed_column])[row_positions]
    children = explain_cells(summed_column, row_positions)
    if rule.by and not is_denominator:
        children = tuple(
            Explanation(
                cell.value * weight_cell.value,
                f"{input_columns[0]} × {input_columns[1]}",
                cell.row,
                operation="product",
                formula=f"{to_text(cell.value)} × {to_text(weight_cell.value)}",
                children=(cell, weight_cell),
            )
            for cell, weight_cell in zip(
                children, explain_cells(input_columns[1], row_positions), strict=False
            )
        )
        summands = summands * as_floats(frame[input_columns[1]])[row_positions]
        summed_column = " × ".join(input_columns)
    *leading_summands, total = (
        int(summand) if summand.is_integer() else summand
        for summand in (*summands.tolist(), float(np.sum(summands)))
    )
    return Explanation(
        total,
        formula_name or f"sum of {summed_column}",
        operation="sum",
        formula=f"sum of {summed_column} = {sum_to_text(leading_summands)}",
        rows=len(row_positions),
        children=children,
    )


_PHRASE_BY_RULE = {
    "min": "the smallest",
    "max": "the largest",
    "first": "the first",
    "last": "the last",
}


class AggregateCells(MethodResult):
    """The recomputed result of ``aggregate``; it explains numbers by formula and input cells."""

    @cached_property
    def _planned_cells_by_column(self) -> dict[str, PlannedCells]:
        """A dict from each aggregated column to its `PlannedCells`: the rule and input cells."""
        aggregate_options = {
            name: self.arguments.get(name) for name in ("by", "columns", "rules", "observed")
        }
        return {
            planned_cells.plan.column: planned_cells
            for planned_cells in plan_cells(self.first_input, **aggregate_options)
        }

    def explain(self, position: int, column: str) -> Explanation:
        """Return the explanation of the value in a row (by position) and a column."""
        groups = next(iter(self._planned_cells_by_column.values())).groups
        cell = self.describe(position, column)
        row_positions = np.flatnonzero(groups.row_codes == position)
        if column in groups.keys.columns:
            note = f"the {len(row_positions)} rows of the group have it in common"
            return replace(cell, rows=len(row_positions), notes=(note,))
        if column in self._planned_cells_by_column:
            return self._explain_aggregate(
                cell, position, self._planned_cells_by_column[column], row_positions
            )
        measure = next(
            (name for name in self._planned_cells_by_column if column.startswith(f"{name}_")), None
        )
        if measure is not None:
            explanation = self.explain(position, measure)
            return replace(
                cell, rows=len(row_positions), children=(explanation,), notes=(f"of {measure}",)
            )
        return replace(
            cell,
            rows=len(row_positions),
            children=self._explain_cells(column, row_positions[-1:]),
            notes=("of the rows of its group",),
        )

    def _explain_cells(self, column: str, row_positions: Any) -> tuple[Explanation, ...]:
        """Explain the cells of the input frame in ``column`` and ``row_positions``."""
        return tuple(
            self.inputs[0].explain(int(row_position), column) for row_position in row_positions
        )

    def _explain_aggregate(
        self, cell: Explanation, position: int, planned_cells: PlannedCells, row_positions: Any
    ) -> Explanation:
        """Add formula, used rows and unused rows to the explanation of an aggregate.

        ``cell`` is the explanation so far. ``row_positions`` are the positions of the group's rows
        in the input frame.
        """
        plan = planned_cells.plan
        cells = planned_cells.cells
        rule = planned_cells.plan.rule
        used_row_positions = row_positions[cells.has_number[row_positions]].tolist()
        unused_row_positions = row_positions[~cells.has_number[row_positions]].tolist()
        used_count_text = counted(len(used_row_positions), "row")
        if rule.rule == "sum":
            numerator = explain_sum(
                plan, self.first_input, False, used_row_positions, self._explain_cells
            )
            formula = f"sum over {used_count_text}: {str(numerator.formula).partition(' = ')[2]}"
            children = numerator.children
        elif rule.rule in ("mean", "ratio"):
            response_count_text = ""
            denominator_row_positions = used_row_positions
            if plan.response_totals is not None:
                group_ids, first_row_positions = plan.response_totals.find_used_totals(
                    cells.has_number, planned_cells.groups
                )
                denominator_row_positions = first_row_positions[group_ids == position].tolist()
                response_count_text = f" over {len(denominator_row_positions)} responses"
            children = numerator, denominator = (
                explain_sum(plan, self.first_input, False, used_row_positions, self._explain_cells),
                explain_sum(
                    plan, self.first_input, True, denominator_row_positions, self._explain_cells
                ),
            )
            formula = (
                f"{numerator.column} / {denominator.column}{response_count_text} "
                f"over {used_count_text} "
                f"= {to_text(numerator.value)} / {to_text(denominator.value)}"
            )
        else:
            formula = f"{_PHRASE_BY_RULE.get(rule.rule, rule.rule)} of {used_count_text}"
            children = self._explain_cells(plan.inputs[0], used_row_positions)
        unused_row_reasons = pd.Series(
            [
                str(cells.availabilities[int(cells.codes[row_position])])
                for row_position in unused_row_positions
            ],
            dtype=object,
        )
        if rule.over:
            is_zero_total = (as_floats(self.first_input[plan.inputs[1]]) == 0) & cells.is_applicable
            unused_row_reasons[is_zero_total[unused_row_positions]] = (
                f"{plan.inputs[1]} is 0, and it is " + unused_row_reasons
            )
        unused_row_count_by_reason = Counter(unused_row_reasons)
        notes = [
            f"{counted(unused_row_count, 'row')} left out: {reason}"
            for reason, unused_row_count in unused_row_count_by_reason.items()
        ]
        notes += [rule.why] if rule.why else []
        missing_reason = None
        if cell.value is None:
            missing_reason = "no row is in this group"
            if unused_row_positions:
                missing_reason = (
                    f"{len(unused_row_positions)} of its {len(row_positions)} rows have no number "
                )
                missing_reason += f"({'; '.join(unused_row_count_by_reason)})"
                missing_reason += "; skip_missing=True leaves them out" * bool(used_row_positions)
            elif used_row_positions:
                missing_reason = "its denominator is 0, and there is no rate of nothing"
            children = (*children, *self._explain_cells(plan.inputs[0], unused_row_positions))
        return replace(
            cell,
            formula=None
            if missing_reason and (unused_row_positions or not used_row_positions)
            else formula,
            rows=len(used_row_positions),
            children=children,
            missing=missing_reason,
            notes=tuple(notes),
        )


_MAX_SEARCHED_RESPONSES = 50
"""The maximum number of responses that are searched for an archived value."""


class ArchivedCells(MethodResult):
    """A frame that was read from an archive; its rows may come from different responses."""

    def __init__(
        self, frame: pd.DataFrame, sources: Sequence[Source], finder: ResponseFinder
    ) -> None:
        super().__init__("read", frame, [], {})
        self._sources = sources
        self._finder = finder

    def explain(self, position: int, column: str) -> Explanation:
        """Return the explanation of the value in a row (by position) and a column."""
        declared_name = self.metadata.columns[column].declared_name
        if declared_name is None:
            return self.describe(position, column, "from the responses in which the row was seen")
        cell = self.describe(position, column)
        end_reason = "the archive names no response for this row"
        table_name, _, column_name = declared_name.rpartition(":")[2].partition(".")
        for source in islice(self._find_sources(position), _MAX_SEARCHED_RESPONSES):
            try:
                response = self._finder.find(source)
            except UntraceableError as trail_end:
                end_reason = str(trail_end)
                continue
            if table_name not in response.tables:
                continue
            table_cells = TableCells(response, table_name)
            matching_positions = self._find_matching_rows(position, table_name, table_cells)
            if len(matching_positions) == 1 and are_equal(
                table_cells.frame[column_name].iloc[matching_positions[0]], cell.value
            ):
                return self.copy_cell(
                    table_cells.explain(matching_positions[0], column_name),
                    position,
                    column,
                    "kept in the archive",
                )
            end_reason = f"no response at hand has {to_text(cell.value)} in this row"
        return replace(cell, end=end_reason)

    def _find_sources(self, position: int) -> Any:
        """Yield the responses that a row may come from, as `Source` records, newest first."""
        value_by_column = {
            str(column_name): to_json_value(value)
            for column_name, value in self.frame.iloc[position].items()
        }
        latest_fetch_time = str(value_by_column.get("fetched_at") or value_by_column["last_seen"])[
            :19
        ]
        days_filter = f"days={value_by_column.get('days')}"
        for source in sorted(
            self._sources, key=lambda source: source.fetched_at or "", reverse=True
        ):
            fetched_at = (source.fetched_at or "")[:19]
            has_same_days = days_filter in ("days=None", *(source.scope or days_filter).split("&"))
            is_candidate = (
                fetched_at == latest_fetch_time and has_same_days
                if "fetched_at" in value_by_column
                else fetched_at <= latest_fetch_time
            )
            if source.host == value_by_column["host"] and is_candidate:
                yield source

    def _find_matching_rows(
        self, position: int, table_name: str, table_cells: TableCells
    ) -> list[int]:
        """Return the positions of the rows in a response's table that have the key of a given row.

        The given row is that at ``position`` in the frame that was read from the archive.
        ``table_cells`` are the cells of the response's table, and ``table_name`` is its name.
        """
        column_by_declared_name = {
            (column.declared_name or "").rpartition(":")[2]: key_column
            for key_column, column in self.metadata.columns.items()
        }
        is_match = np.ones(len(table_cells.frame), bool)
        for key_column in table_cells.metadata.key:
            frame_column = column_by_declared_name.get(f"{table_name}.{key_column}")
            if frame_column is None:
                return []
            is_match &= equal_cells_mask(
                table_cells.frame[key_column], self.frame[frame_column].iloc[position]
            )
        return np.flatnonzero(is_match).tolist()
