"""`Explainer`: explain cells of frames.

A frame carries its recipe (`aatoolkit.metadata.recipe`), by which `replay` makes the frame again
from the bytes of the responses. The row is looked up in the replayed frame, whose value must equal
the cell.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from aatoolkit.errors import AAToolkitError, AAToolkitWarning, ArgumentError, ItemNotFound
from aatoolkit.frame.groupby import check_columns, flattened
from aatoolkit.metadata.attrs import NOTHING, FrameMetadata, metadata_of, stored_of
from aatoolkit.metadata.column import Source
from aatoolkit.metadata.fingerprint import OVERWRITTEN, arrays_of
from aatoolkit.metadata.recipe import ARCHIVED, END, READ, VIEW, Recipe
from aatoolkit.metadata.recorded import VERBS, is_changed
from aatoolkit.sections.aggregation import Aggregation
from aatoolkit.stats.explain.cells import (
    CELLS_OF,
    AggregateCells,
    ArchivedCells,
    Replayed,
    Result,
    View,
    describe_cell,
)
from aatoolkit.stats.explain.explanation import (
    Explanation,
    MissingRows,
    in_words,
    matching,
    plain,
    same,
)
from aatoolkit.stats.explain.responses import ResponseFinder, TableCells, TrailEnd
from aatoolkit.stats.explain.statistics import StatisticCells, Tracer

T = TypeVar("T")

_MAX_READ = 200
"""The maximum number of missing values that are explained to list their causes."""

_MAX_CAUSES = 8


class Explainer:
    """Explains many numbers, and reads each response once.

    It assumes that a frame does not change after its first use. After you change a frame in place,
    use a new explainer.

    Parameters
    ----------
    within : Study, Archive, Tables, Dataset, or several of these, optional
        Where responses are looked for besides those that a frame holds in memory.

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
        self.evidence = ResponseFinder(within)
        self._results: dict[Any, Any] = {}

    def explain(
        self,
        frame: pd.DataFrame,
        row: int | Hashable | Mapping[str, Any] | None = None,
        column: str | None = None,
    ) -> Explanation:
        """Explain a number of a frame.

        Parameters
        ----------
        frame : pandas.DataFrame
            The frame.
        row : int, label or mapping of str to object, optional
            The row: its label, its position, or the values of columns that identify it. By
            default the first row whose value in the column is missing, or the first row of all.
        column : str
            The column. If only one argument is given after the frame, and it names a column, it
            is the column.

        Raises
        ------
        ItemNotFound
            If there is no such column.
        ItemNotFound
            If there is no such row, or several.
        MetadataError
            If the frame's metadata is damaged, or newer than this version can read.
        """
        flat_frame, metadata = self._cached(_flattened, frame)
        if column is None and isinstance(row, str) and row not in flat_frame.index:
            row, column = None, row
        if column is None:
            raise ArgumentError(
                "explain takes a column: explain(row, column) or explain(column=...)",
                argument="column",
            )
        check_columns(flat_frame, [column])
        if row is not None:
            return self._explain_cell(frame, _position_of(flat_frame, frame, row), column)
        if len(flat_frame):
            return self._explain_first_missing(frame, column)
        state = metadata.columns[column].availability
        missing_text = f"the frame has no rows; {column} is {state}"
        cell = Explanation(
            None, column, operation="column", availability=str(state), missing=missing_text
        )
        try:
            replayed = self._replay_of(frame)
        except TrailEnd as end:
            return replace(cell, end=str(end))
        return replayed.about(cell) if isinstance(replayed, TableCells) else cell

    @staticmethod
    def rows_with(frame: pd.DataFrame, row: Mapping[str, Any]) -> npt.NDArray[np.bool_]:
        """Return the mask of the rows whose columns have the values in ``row``.

        Raises
        ------
        ItemNotFound
            If there is no such column.
        """
        check_columns(frame, row)
        mask = np.ones(len(frame), bool)
        for name, value in row.items():
            mask &= matching(frame[name], value)
        return mask

    def _cached(self, function: Callable[[pd.DataFrame], T], frame: pd.DataFrame) -> T:
        """Return ``function(frame)``, which is computed once for each frame."""
        key = function, id(frame)
        if key not in self._results:
            self._results[key] = frame, function(frame)
        result: T = self._results[key][1]
        return result

    def _explain_cell(self, frame: pd.DataFrame, position: int, column: str) -> Explanation:
        """Explain a cell by the same cell of the frame as made again by its recipe.

        If their values differ, the cell was changed since, and the explanation says so.
        """
        (flat, metadata), arrays = self._cached(_flattened, frame), self._cached(arrays_of, frame)
        try:
            replayed = self._replay_of(frame)
            replayed_position = self._matching_row(frame, position, replayed, column)
            cell = replayed.explain(replayed_position, column)
        except TrailEnd as end:
            return replace(describe_cell(flat, metadata, position, column), end=str(end))
        old_value = self._cached(arrays_of, replayed.frame)[column][replayed_position]
        stored_reason = stored_of(frame)[0].columns.get(column, NOTHING).availability.reason
        is_new = metadata.columns[column].availability.reason == OVERWRITTEN != stored_reason
        if is_new or not same(old_value, arrays[column][position]) or is_changed(flat, column):
            why = (
                f"{column} was changed since by a plain pandas step: this was {in_words(old_value)}"
            )
            cell_now = describe_cell(flat, metadata, position, column)
            return replace(cell_now, end=why, children=(cell,))
        row = {name: plain(arrays[name][position]) for name in metadata.key if name in arrays}
        return replace(cell, row=row or cell.row)

    def _matching_row(
        self, frame: pd.DataFrame, position: int, replayed: Replayed, column: str
    ) -> int:
        """Return the position in a replayed frame of the row that is at ``position`` in ``frame``.

        Rows are the same if their keys are equal; without a key, if all shared columns are
        equal, except the one to be explained. Of several such rows the one with the same label is
        returned.

        Raises
        ------
        TrailEnd
            If there is no such row, or several.
        """
        arrays, replayed_arrays = (
            self._cached(arrays_of, side) for side in (frame, replayed.frame)
        )
        if column not in replayed_arrays:
            raise TrailEnd(f"{column} was added or renamed by a plain pandas step")
        label_positions = np.zeros(0, np.intp)
        if frame.index.names == replayed.frame.index.names:
            label_positions = _positions_with_label(replayed.frame, frame.index[position])
        key = [*replayed.metadata.key]
        is_keyed = bool(key) and {*key} <= {*arrays} & {*replayed_arrays}
        names = [name for name in arrays if name in replayed_arrays and name != column]
        if not names and not is_keyed and len(label_positions) != 1:
            raise TrailEnd("no column identifies its row any longer")
        positions = np.arange(len(replayed.frame))
        for columns in [key, names] if is_keyed else [names]:
            label_position = label_positions[0] if len(label_positions) == 1 else -1
            if label_position in positions and all(
                same(replayed_arrays[name][label_position], arrays[name][position])
                for name in columns
            ):
                return int(label_position)
            for name in columns:
                cells = replayed_arrays[name].take(positions).astype(object)
                positions = positions[[same(cell, arrays[name][position]) for cell in cells]]
            if len(positions) == 1:
                return int(positions[0])
            if columns is key and not len(positions):
                raise TrailEnd("no row that was read has its key: the key was changed since")
        if len(positions):
            advice = f"; keep its key: {', '.join(key)}" if key else ""
            raise TrailEnd(f"{len(positions)} rows that were read could be this one{advice}")
        raise TrailEnd("no row that was read is like this one: its row was changed since")

    def _replay_of(self, frame: pd.DataFrame) -> Replayed:
        """Return the frame as made again by its recipe; raise `TrailEnd` if that is impossible."""
        replayed = self._cached(self._replay, frame)
        if isinstance(replayed, str):
            raise TrailEnd(replayed)
        return replayed

    def _replay(self, frame: pd.DataFrame) -> Replayed | str:
        """Return the frame as made again by its recipe, or the reason why that is impossible."""
        stored_metadata, responses = stored_of(frame)
        self.evidence.hold(responses)
        if stored_metadata.recipe is None:
            is_foreign = not stored_metadata.columns and not stored_metadata.sources
            reason = "has no metadata, so its origin is not known"
            return f"the frame {reason if is_foreign else 'does not say how it was made'}"
        try:
            return replay(stored_metadata.recipe, stored_metadata.sources, self.evidence)
        except TrailEnd as end:
            return str(end)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            return f"what the frame says of how it was made is damaged: {error}"

    def _explain_first_missing(self, frame: pd.DataFrame, column: str) -> Explanation:
        """Explain the first missing value of a column, with the causes of all missing values.

        If no value is missing, explain that of the first row.
        """
        flat_frame, _ = self._cached(_flattened, frame)
        missing_positions = np.flatnonzero(flat_frame[column].isna().to_numpy())
        if not len(missing_positions):
            note = f"none of {len(flat_frame):,} values is missing"
            cell = self._explain_cell(frame, 0, column)
            return cell.with_notes(f"no row was named, so this is the first: {note}")
        missing_cells = [
            self._explain_cell(frame, position, column)
            for position in missing_positions[:_MAX_READ].tolist()
        ]
        reasons = [cell.missing or cell.end or str(cell.availability) for cell in missing_cells]
        causes = tuple(
            MissingRows(count, reason, missing_cells[reasons.index(reason)].row)
            for reason, count in Counter(reasons).most_common(_MAX_CAUSES)
        )
        note = f"{len(missing_positions):,} of {len(flat_frame):,} have none"
        if len(missing_positions) > _MAX_READ:
            note += f", of which the first {_MAX_READ} were looked up"
        first_cell = replace(missing_cells[0], causes=causes)
        return first_cell.with_notes(
            f"no row was named, so this is the first without a value: {note}"
        )


def _flattened(frame: pd.DataFrame) -> tuple[pd.DataFrame, FrameMetadata]:
    """Return a frame with its index levels as columns, and its metadata."""
    flat_frame = flattened(frame)
    return flat_frame, metadata_of(flat_frame)


def _position_of(
    flat: pd.DataFrame, frame: pd.DataFrame, row: int | Hashable | Mapping[str, Any]
) -> int:
    """Return the position of a row, which is given by position, label or values of columns.

    A mapping is matched by value. A whole number is a label, as in ``df.loc``, if the index has
    that label, and otherwise a position. In a frame as it was read the two are the same.

    Raises
    ------
    ItemNotFound
        If there is no such row, or several.
    """
    size = len(frame)
    key = row
    if isinstance(row, Mapping):
        key = dict(row)
        positions = np.flatnonzero(Explainer.rows_with(flat, row))
        description = ", ".join(f"{name} = {in_words(value)}" for name, value in row.items())
    else:
        positions, description = _positions_with_label(frame, row), f"the label {row!r}"
        if not len(positions):
            if isinstance(row, int | np.integer) and -size <= row < size:
                return int(row) % size
            raise ItemNotFound(f"there is no row {row!r} among {size} rows", key=row)
    if len(positions) == 1:
        return int(positions[0])
    if len(positions):
        raise ItemNotFound(
            f"{len(positions)} rows have {description}; name the row by the values of its key",
            key=key,
        )
    raise ItemNotFound(f"no row has {description}", key=key)


def _positions_with_label(frame: pd.DataFrame, label: Any) -> npt.NDArray[np.intp]:
    """Return the positions of the rows that have a label in the index."""
    try:
        location = frame.index.get_loc(label)
    except (KeyError, TypeError):
        return np.zeros(0, np.intp)
    return np.atleast_1d(np.arange(len(frame))[location])


def replay(recipe: Recipe, sources: Sequence[Source], finder: ResponseFinder) -> Replayed:
    """Make a frame again by its recipe, which says how it was made.

    Parameters
    ----------
    recipe : list
        The recipe.
    sources : sequence of Source
        The responses that the recipe refers to by position.
    finder : ResponseFinder
        Finds responses.

    Raises
    ------
    TrailEnd
        If the frame cannot be made again, with the reason.
    """
    kind, *details = recipe
    if kind == READ:
        position, name = details
        if not 0 <= position < len(sources):
            raise TrailEnd("its metadata does not name the response it was read from")
        response = finder.find(sources[position])
        table = name.rpartition(":")[2]
        if table not in response.tables:
            raise TrailEnd(f"the response has no table {table} as it is declared now")
        return TableCells(response, table)
    if kind == VIEW:
        recipe_below, changes = details
        if recipe_below[0] == END:
            return View(None, changes, recipe_below[1])
        return View(replay(recipe_below, sources, finder), changes)
    if kind == ARCHIVED:
        return ArchivedCells(finder.archived(details[0], details[1]), sources, finder)
    # Each module of frames and statistics registers its verbs in `VERBS` when it is imported.
    for package in ("aatoolkit.frame", "aatoolkit.stats"):
        for module in iter_modules(import_module(package).__path__, f"{package}."):
            import_module(module.name)
    if kind == END or details[0] not in VERBS:
        raise TrailEnd(
            details[0] if kind == END else f"{details[0]} cannot be replayed by this version"
        )
    verb, arguments, input_recipes = details
    inputs = [replay(input_recipe, sources, finder) for input_recipe in input_recipes]
    function, names = VERBS[verb]
    options = {
        name: _frames(value, inputs) if name in names else _argument(value)
        for name, value in arguments.items()
    }
    try:
        with warnings.catch_warnings(), Tracer(inputs) as tracer:
            warnings.simplefilter("ignore", AAToolkitWarning)
            frame = function(**options)
    except (AAToolkitError, LookupError, TypeError, ValueError) as error:
        raise TrailEnd(f"{verb} cannot be replayed: {error}") from None
    if verb == "aggregate":
        return AggregateCells(verb, frame, inputs, options)
    if verb in CELLS_OF:
        return Result(verb, frame, inputs, options)
    return StatisticCells(verb, frame, inputs, options, tracer=tracer)


def _frames(value: Any, inputs: Sequence[Replayed]) -> Any:
    """Return the frame or frames at the positions in ``inputs`` that an argument holds, or None."""
    if isinstance(value, list):
        return [inputs[position].frame for position in value]
    return None if value is None else inputs[value].frame


def _argument(value: Any) -> Any:
    """Return an argument of a verb, restored from the JSON value that it was recorded as."""
    if isinstance(value, list):
        return [_argument(item) for item in value]
    if not isinstance(value, dict):
        return value
    (kind, body), *_ = value.items()
    if kind == "rule":
        parameters: Any = {
            name: tuple(fact) if isinstance(fact, list) else fact for name, fact in body.items()
        }
        return Aggregation(**parameters)
    if kind == "grouper":
        return pd.Grouper(**body)
    if kind == "moment":
        return pd.Timestamp(body)
    return {name: _argument(item) for name, item in body.items()}
