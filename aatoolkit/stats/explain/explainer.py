"""`Explainer`: trace cells of frames back to responses.

A frame's metadata records the steps that made it (its recipe). They are repeated from the bytes of
the responses, and the cell is looked up in the recomputed frame. If the two values differ, the cell
was changed after these steps.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from aatoolkit._util.text import counted
from aatoolkit.errors import (
    AAToolkitError,
    AAToolkitWarning,
    ArgumentError,
    ItemNotFound,
    find_near_matches,
    suggest_names,
)
from aatoolkit.frame.groupby import check_columns, flatten_index
from aatoolkit.metadata.attrs import NO_METADATA, FrameMetadata, metadata_and_responses, metadata_of
from aatoolkit.metadata.column import Source
from aatoolkit.metadata.fingerprint import OVERWRITTEN_REASON, arrays_of
from aatoolkit.metadata.recipe import ARCHIVED, END, READ, VIEW, Recipe
from aatoolkit.metadata.recorded import METHOD_BY_VERB, is_column_changed
from aatoolkit.sections.aggregation import Aggregation
from aatoolkit.stats.explain.cells import (
    EXPLAIN_CELL_BY_VERB,
    AggregateCells,
    ArchivedCells,
    MethodResult,
    PlainPandasResult,
    RecomputedFrame,
    describe_cell,
)
from aatoolkit.stats.explain.explanation import (
    Explanation,
    MissingRows,
    RowChoice,
    are_equal,
    equal_cells_mask,
    key_to_text,
    to_json_value,
    to_text,
)
from aatoolkit.stats.explain.responses import ResponseFinder, TableCells, UntraceableError
from aatoolkit.stats.explain.statistics import StatisticCells, Tracer

T = TypeVar("T")

_MAX_EXPLAINED_VALUES = 200
"""The maximum number of missing values that are explained to list their causes."""

_MAX_LISTED_CAUSES = 8
"""The maximum number of causes that are listed."""


class Explainer:
    """Explains cells of frames, and reads each response only once.

    After you change a frame in place, create a new explainer.

    Parameters
    ----------
    within : Study, Archive, Tables, Dataset, or several of these, optional
        Where to look for responses, besides those that a frame holds in memory.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> tables = aa.demo().read("overview", days=7)
    >>> explainer = Explainer(tables)
    >>> kpis = tables["overview_kpis"]
    >>> explainer.explain(kpis, {"metric": "mentionRate"}, "value").is_complete
    True
    """

    def __init__(self, within: Any = None) -> None:
        self.finder = ResponseFinder(within)
        self._result_by_call: dict[Any, Any] = {}

    def explain(
        self,
        frame: pd.DataFrame,
        row: RowChoice = None,
        column: str | None = None,
    ) -> Explanation:
        """Explain where a number of a frame comes from.

        Parameters
        ----------
        frame : pandas.DataFrame
            The frame.
        row : int, label or mapping of str to object, optional
            The row: its index label, its position, or a dict of column values that identify it. By
            default the first row without a value, or else the first row.
        column : str
            The column. ``explain(frame, "rank")`` is short for ``explain(frame, column="rank")``,
            unless ``"rank"`` is a label in the index.

        Returns
        -------
        Explanation
            A tree, from the number to the values in responses that it was computed from.

        Raises
        ------
        ItemNotFound
            If there is no such column.
        ItemNotFound
            If there is no such row, or several.
        MetadataError
            If the frame's metadata is damaged, or newer than this version can read.
        """
        flat_frame, metadata = self._compute_once(_flatten_with_metadata, frame)
        if column is None and isinstance(row, str) and row not in flat_frame.index:
            row, column = None, row
        if column is None:
            raise ArgumentError(
                "explain takes a column: explain(row, column) or explain(column=...)",
                argument="column",
            )
        check_columns(flat_frame, [column])
        if row is not None:
            return self._explain_cell(frame, _find_position(flat_frame, frame, row), column)
        if len(flat_frame):
            return self._explain_first_missing(frame, column)
        availability = metadata.columns[column].availability
        cell = Explanation(
            None,
            column,
            operation="column",
            availability=str(availability),
            missing=f"the frame has no rows; {column} is {availability}",
        )
        try:
            recomputed_frame = self._replay_or_raise(frame)
        except UntraceableError as trail_end:
            return replace(cell, end=str(trail_end))
        return (
            recomputed_frame.add_column_description(cell)
            if isinstance(recomputed_frame, TableCells)
            else cell
        )

    @staticmethod
    def rows_with(frame: pd.DataFrame, value_by_column: Mapping[str, Any]) -> npt.NDArray[np.bool_]:
        """Return a boolean mask of the rows that have all the values in ``value_by_column``."""
        check_columns(frame, value_by_column)
        is_match = np.ones(len(frame), bool)
        for name, value in value_by_column.items():
            is_match &= equal_cells_mask(frame[name], value)
        return is_match

    def _compute_once(self, function: Callable[[pd.DataFrame], T], frame: pd.DataFrame) -> T:
        """Return ``function(frame)``, from a cache if it was called with this frame before."""
        call_key = function, id(frame)
        if call_key not in self._result_by_call:
            self._result_by_call[call_key] = frame, function(frame)
        return self._result_by_call[call_key][1]  # type: ignore[no-any-return]

    def _explain_cell(self, frame: pd.DataFrame, position: int, column: str) -> Explanation:
        """Explain the cell in row ``position`` of a frame.

        The frame is recomputed from its responses, and the same cell of the recomputed frame is
        explained.
        """
        flat_frame, metadata = self._compute_once(_flatten_with_metadata, frame)
        array_by_column = self._compute_once(arrays_of, frame)
        try:
            recomputed_frame = self._replay_or_raise(frame)
            recomputed_position = self._find_recomputed_row(
                frame, position, recomputed_frame, column
            )
            explanation = recomputed_frame.explain(recomputed_position, column)
        except UntraceableError as trail_end:
            return replace(
                describe_cell(flat_frame, metadata, position, column), end=str(trail_end)
            )
        recomputed_value = self._compute_once(arrays_of, recomputed_frame.frame)[column][
            recomputed_position
        ]
        stored_reason = (
            metadata_and_responses(frame)[0].columns.get(column, NO_METADATA).availability.reason
        )
        if (
            metadata.columns[column].availability.reason == OVERWRITTEN_REASON != stored_reason
            or not are_equal(recomputed_value, array_by_column[column][position])
            or is_column_changed(flat_frame, column)
        ):
            changed_value_note = (
                f"{column} was changed since by a plain pandas step: "
                f"this was {to_text(recomputed_value)}"
            )
            return replace(
                describe_cell(flat_frame, metadata, position, column),
                end=changed_value_note,
                children=(explanation,),
            )
        row_key = {
            name: to_json_value(array_by_column[name][position])
            for name in metadata.key
            if name in array_by_column
        }
        return replace(explanation, row=row_key or explanation.row)

    def _find_recomputed_row(
        self, frame: pd.DataFrame, position: int, recomputed_frame: RecomputedFrame, column: str
    ) -> int:
        """Return the position, in the recomputed frame, of the row ``frame.iloc[position]``.

        Raises `UntraceableError` if no row matches, or several do.
        """
        # Two rows match if their key columns are equal; without a key, all shared columns except
        # ``column``. If several rows match, the index label decides.
        frame_arrays, recomputed_arrays = (
            self._compute_once(arrays_of, compared_frame)
            for compared_frame in (frame, recomputed_frame.frame)
        )
        if column not in recomputed_arrays:
            raise UntraceableError(f"{column} was added or renamed by a plain pandas step")
        label_positions = np.zeros(0, np.intp)
        if frame.index.names == recomputed_frame.frame.index.names:
            label_positions = _find_label_positions(recomputed_frame.frame, frame.index[position])
        key_columns = [*recomputed_frame.metadata.key]
        has_key = bool(key_columns) and {*key_columns} <= {*frame_arrays} & {*recomputed_arrays}
        shared_columns = [
            name for name in frame_arrays if name in recomputed_arrays and name != column
        ]
        if not shared_columns and not has_key and len(label_positions) != 1:
            raise UntraceableError("no column identifies its row any longer")
        matching_positions = np.arange(len(recomputed_frame.frame))
        for compared_columns in [key_columns, shared_columns] if has_key else [shared_columns]:
            label_position = label_positions[0] if len(label_positions) == 1 else -1
            if label_position in matching_positions and all(
                are_equal(recomputed_arrays[name][label_position], frame_arrays[name][position])
                for name in compared_columns
            ):
                return int(label_position)
            for name in compared_columns:
                recomputed_cells = recomputed_arrays[name].take(matching_positions).astype(object)
                matching_positions = matching_positions[
                    [
                        are_equal(recomputed_cell, frame_arrays[name][position])
                        for recomputed_cell in recomputed_cells
                    ]
                ]
            if len(matching_positions) == 1:
                return int(matching_positions[0])
            if compared_columns is key_columns and not len(matching_positions):
                raise UntraceableError(
                    "no row that was read has its key: the key was changed since"
                )
        if len(matching_positions):
            advice = f"; keep its key: {', '.join(key_columns)}" if key_columns else ""
            raise UntraceableError(
                f"{len(matching_positions)} rows that were read could be this one{advice}"
            )
        raise UntraceableError("no row that was read is like this one: its row was changed since")

    def _replay_or_raise(self, frame: pd.DataFrame) -> RecomputedFrame:
        """Recompute a frame from its responses; raise `UntraceableError` if that fails."""
        replay_result = self._compute_once(self._try_replay, frame)
        if isinstance(replay_result, str):
            raise UntraceableError(replay_result)
        return replay_result

    def _try_replay(self, frame: pd.DataFrame) -> RecomputedFrame | str:
        """Return a frame recomputed from its responses, or the reason why that failed as text."""
        stored_metadata, responses = metadata_and_responses(frame)
        self.finder.responses_in_memory |= dict.fromkeys(responses)
        if stored_metadata.recipe is None:
            if stored_metadata.columns or stored_metadata.sources:
                return "the frame does not say how it was made"
            return "the frame has no metadata, so its origin is not known"
        try:
            return replay(stored_metadata.recipe, stored_metadata.sources, self.finder)
        except UntraceableError as trail_end:
            return str(trail_end)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            return f"what the frame says of how it was made is damaged: {error}"

    def _explain_first_missing(self, frame: pd.DataFrame, column: str) -> Explanation:
        """Explain a column's first missing value, and count the missing values by reason."""
        flat_frame, _ = self._compute_once(_flatten_with_metadata, frame)
        missing_positions = np.flatnonzero(flat_frame[column].isna().to_numpy())
        if not len(missing_positions):
            return self._explain_cell(frame, 0, column).with_notes(
                "no row was named, so this is the first: "
                f"none of {counted(len(flat_frame), 'value')} is missing"
            )
        explanations = [
            self._explain_cell(frame, position, column)
            for position in missing_positions[:_MAX_EXPLAINED_VALUES].tolist()
        ]
        missing_reasons = [
            cell.missing or cell.end or str(cell.availability) for cell in explanations
        ]
        causes = tuple(
            MissingRows(missing_count, reason, explanations[missing_reasons.index(reason)].row)
            for reason, missing_count in Counter(missing_reasons).most_common(_MAX_LISTED_CAUSES)
        )
        count_note = f"{len(missing_positions):,} of {len(flat_frame):,} have none"
        if len(missing_positions) > _MAX_EXPLAINED_VALUES:
            count_note += f", of which the first {_MAX_EXPLAINED_VALUES} were looked up"
        return replace(explanations[0], causes=causes).with_notes(
            f"no row was named, so this is the first without a value: {count_note}"
        )


def _flatten_with_metadata(frame: pd.DataFrame) -> tuple[pd.DataFrame, FrameMetadata]:
    """Return a copy of a frame with index levels as columns, and the metadata of the copy."""
    flat_frame = flatten_index(frame)
    return flat_frame, metadata_of(flat_frame)


def _find_position(flat_frame: pd.DataFrame, frame: pd.DataFrame, row_choice: RowChoice) -> int:
    """Return the position of a row from a dict of column values, an index label or a position."""
    # An integer that is no label is a position.
    row_count = len(frame)
    row_key = row_choice
    if isinstance(row_choice, Mapping):
        row_key = dict(row_choice)
        matching_positions = np.flatnonzero(Explainer.rows_with(flat_frame, row_choice))
        row_description = key_to_text(row_choice)
        if not len(matching_positions):
            suggestions = tuple(
                match
                for name, value in row_choice.items()
                for match in find_near_matches(value, map(str, flat_frame[name].unique()))
            )
            hint = suggest_names(suggestions, "choose values that are in one")
            message = f"no row has {row_description}; {hint}"
            raise ItemNotFound(message, key=row_key, suggestions=suggestions)
    else:
        matching_positions = _find_label_positions(frame, row_choice)
        row_description = f"the label {row_choice!r}"
        if not len(matching_positions):
            if isinstance(row_choice, int | np.integer) and -row_count <= row_choice < row_count:
                return int(row_choice) % row_count
            raise ItemNotFound(
                f"there is no row {row_choice!r} among {counted(row_count, 'row')}", key=row_choice
            )
    if len(matching_positions) == 1:
        return int(matching_positions[0])
    raise ItemNotFound(
        f"{len(matching_positions)} rows have {row_description}; name the row by the values of its "
        "key",
        key=row_key,
    )


def _find_label_positions(frame: pd.DataFrame, label: Any) -> npt.NDArray[np.intp]:
    """Return the positions of the rows whose index label equals ``label``."""
    try:
        label_location = frame.index.get_loc(label)
    except (KeyError, TypeError):
        return np.zeros(0, np.intp)
    return np.atleast_1d(np.arange(len(frame))[label_location])


def replay(recipe: Recipe, sources: Sequence[Source], finder: ResponseFinder) -> RecomputedFrame:
    """Recompute a frame from responses, by repeating the recorded steps that made it.

    ``recipe`` is the last step; it contains the steps that made its inputs. ``sources`` identify
    the responses.
    """
    step_kind, *step_fields = recipe
    if step_kind == READ:
        source_position, table_name = step_fields
        if not 0 <= source_position < len(sources):
            raise UntraceableError("its metadata does not name the response it was read from")
        response = finder.find(sources[source_position])
        table_name = table_name.rpartition(":")[2]
        if table_name not in response.tables:
            raise UntraceableError(f"the response has no table {table_name} as it is declared now")
        return TableCells(response, table_name)
    if step_kind == VIEW:
        base_recipe, changes = step_fields
        if base_recipe[0] == END:
            return PlainPandasResult(None, changes, base_recipe[1])
        return PlainPandasResult(replay(base_recipe, sources, finder), changes)
    if step_kind == END:
        raise UntraceableError(step_fields[0])
    if step_kind == ARCHIVED:
        return ArchivedCells(
            finder.read_archived_frame(step_fields[0], step_fields[1]), sources, finder
        )
    # Each module of frames and statistics registers its verbs in `VERBS` when it is imported.
    for package_name in ("aatoolkit.frame", "aatoolkit.stats"):
        for module in iter_modules(import_module(package_name).__path__, f"{package_name}."):
            import_module(module.name)
    if step_fields[0] not in METHOD_BY_VERB:
        raise UntraceableError(f"{step_fields[0]} cannot be replayed by this version")
    verb, stored_arguments, input_recipes = step_fields
    input_frames = [replay(input_recipe, sources, finder) for input_recipe in input_recipes]
    replayed_function, frame_argument_names = METHOD_BY_VERB[verb]
    argument_by_name = {
        argument_name: [input_frames[position].frame for position in argument]
        if argument_name in frame_argument_names and isinstance(argument, list)
        else input_frames[argument].frame
        if argument_name in frame_argument_names and argument is not None
        else _restore_argument(argument)
        for argument_name, argument in stored_arguments.items()
    }
    try:
        with warnings.catch_warnings(), Tracer(input_frames) as tracer:
            warnings.simplefilter("ignore", AAToolkitWarning)
            result_frame = replayed_function(**argument_by_name)
    except (AAToolkitError, LookupError, TypeError, ValueError) as error:
        raise UntraceableError(f"{verb} cannot be replayed: {error}") from None
    if verb == "aggregate":
        return AggregateCells(verb, result_frame, input_frames, argument_by_name)
    if verb in EXPLAIN_CELL_BY_VERB:
        return MethodResult(verb, result_frame, input_frames, argument_by_name)
    return StatisticCells(verb, result_frame, input_frames, argument_by_name, tracer=tracer)


def _restore_argument(json_value: Any) -> Any:
    """Restore a method's argument from JSON; ``{"moment": "2026-11-20"}`` becomes a timestamp."""
    if isinstance(json_value, list):
        return [_restore_argument(json_item) for json_item in json_value]
    if not isinstance(json_value, dict):
        return json_value
    (type_name, json_content), *_ = json_value.items()
    if type_name == "rule":
        rule_fields: Any = {
            name: tuple(field_value) if isinstance(field_value, list) else field_value
            for name, field_value in json_content.items()
        }
        return Aggregation(**rule_fields)
    if type_name == "grouper":
        return pd.Grouper(**json_content)
    if type_name == "moment":
        return pd.Timestamp(json_content)
    return {name: _restore_argument(json_item) for name, json_item in json_content.items()}
