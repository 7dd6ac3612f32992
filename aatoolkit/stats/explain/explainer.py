"""`Explainer`: from a cell of a frame to its explanation.

A frame carries its recipe (`aatoolkit.metadata.recipe`), which `replay` runs over the responses'
bytes; the row is found in the frame so made, whose value must be that of the cell.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from aatoolkit.errors import (
    AAToolkitError,
    AAToolkitWarning,
    ArgumentError,
    ItemNotFound,
    did_you_mean,
    near_matches,
)
from aatoolkit.frame.aggregate import aggregate
from aatoolkit.frame.cell_status import cells_of
from aatoolkit.frame.complete import complete
from aatoolkit.frame.concat import concat
from aatoolkit.frame.groupby import find, flattened
from aatoolkit.frame.merge import adopt, merge, rename
from aatoolkit.frame.reshape import to_long, with_constant, with_context
from aatoolkit.metadata.arrow_schema import declared
from aatoolkit.metadata.attrs import NOTHING, FrameMetadata, metadata_of, stored_of, text_of
from aatoolkit.metadata.column import Source
from aatoolkit.metadata.fingerprint import OVERWRITTEN, arrays_of
from aatoolkit.metadata.recipe import ARCHIVED, DO, END, READ, VIEW, Recipe
from aatoolkit.metadata.recorded import is_intact
from aatoolkit.sections.aggregation import Aggregation
from aatoolkit.stats import (
    answer_rows,
    changes,
    compare,
    funnel,
    headline,
    interval,
    members,
    overlap,
    stability,
    treatment,
)
from aatoolkit.stats.explain.cells import (
    AggregateCells,
    ArchivedCells,
    Made,
    Result,
    View,
    answers_cells,
    beside_cells,
    completed_cells,
    long_cells,
    merged_cells,
    renamed_cells,
    row_of,
    stacked_cells,
)
from aatoolkit.stats.explain.explanation import (
    Explanation,
    MissingRows,
    matching,
    plain,
    same,
    shown,
)
from aatoolkit.stats.explain.responses import ResponseFinder, TableCells, TrailEnd
from aatoolkit.stats.explain.statistics import StatisticCells, Tracer

_MOST = 5000
"""The most values among which near matches of one are looked for."""


_NO_METADATA = "the frame has no metadata, so its origin is not known"
_NO_RECIPE = "the frame has no record of how it was made"


class Explainer:
    """Explains many numbers, and reads each response once.

    It takes a frame that it has seen for unchanged: after a change in place, use a new one.

    Parameters
    ----------
    within : Study, Archive, Tables, Dataset, or several of these, optional
        Where the responses are looked for beside those that a frame still holds.

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
        self._made: dict[str, Made | str] = {}
        self._changed: dict[tuple[int, str], bool] = {}
        self._frames: dict[int, tuple[pd.DataFrame, pd.DataFrame, FrameMetadata]] = {}

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
            default the first without a value in the column, or the first of all if none is.
        column : str
            The column; a single argument that names a column is the column.

        Raises
        ------
        ItemNotFound
            If there is no such column.
        ItemNotFound
            If there is no such row, or several.
        MetadataError
            If the frame's metadata is damaged, or newer than this version can read.
        """
        _, flat, metadata = self._seen_before(frame)
        if column is None and isinstance(row, str) and row in flat.columns:
            row, column = None, row
        if column is None and isinstance(row, str) and row not in flat.index:
            find(flat, [row])
        if column is None:
            raise ArgumentError(
                "explain takes a column: explain(row, column) or explain(column=...)",
                argument="column",
            )
        find(flat, [column])
        if row is not None:
            return self._explained(frame, _position_of(flat, frame, row), column)
        if len(flat):
            name: str = column
            return _without_row(flat, name, metadata, lambda at: self._explained(frame, at, name))
        return self._of_no_rows(frame, column, metadata)

    def _of_no_rows(self, frame: pd.DataFrame, column: str, metadata: FrameMetadata) -> Explanation:
        """A column of a frame without rows: what is known of why there are none."""
        state = metadata.columns[column].availability
        found = Explanation(
            None,
            column,
            operation="column",
            availability=str(state),
            missing=f"the frame has no rows; {column} is {state}",
        )
        stored, responses = stored_of(frame)
        self.evidence.hold(responses)
        try:
            made = self._replayed(frame, stored)
        except TrailEnd as end:
            return replace(found, end=str(end))
        return made.about(found) if isinstance(made, TableCells) else found

    def _seen_before(self, frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame, FrameMetadata]:
        """A frame, flat, and its metadata; looked at once."""
        if id(frame) not in self._frames:
            flat = flattened(frame)
            self._frames[id(frame)] = frame, flat, metadata_of(flat)
        return self._frames[id(frame)]

    def _explained(self, frame: pd.DataFrame, at: int, column: str) -> Explanation:
        """Explain a number without samples."""
        _, flat, metadata = self._seen_before(frame)
        stored, responses = stored_of(frame)
        self.evidence.hold(responses)
        seen = _seen(flat, at, column, metadata)
        try:
            made = self._replayed(frame, stored)
            there = _matched(frame, at, made, column)
            found = made.explain(there, column)
        except TrailEnd as end:
            return replace(seen, end=str(end))
        value = made.frame[column].iloc[there]
        if same(value, flat[column].iloc[at]):
            if self._is_changed(flat, column, metadata, stored):
                why = f"{column} was changed by a plain pandas step; this cell is as it was"
                return replace(seen, end=why, children=(found,))
            return found if seen.row == found.row else replace(found, row=seen.row or found.row)
        why = f"the value was changed since by a plain pandas step: it was {shown(value)}"
        return replace(seen, end=why, children=(found,))

    def _is_changed(
        self, flat: pd.DataFrame, column: str, metadata: FrameMetadata, stored: FrameMetadata
    ) -> bool:
        """Whether a column was changed, be it in other cells."""
        before = stored.columns.get(column, NOTHING).availability.reason
        if metadata.columns[column].availability.reason == OVERWRITTEN != before:
            return True
        place = id(flat), column
        if place not in self._changed:
            self._changed[place] = is_intact(flat, column) is False
        return self._changed[place]

    @staticmethod
    def rows_with(frame: pd.DataFrame, row: Mapping[str, Any]) -> npt.NDArray[np.bool_]:
        """Mask of the rows that have some values.

        Raises
        ------
        ItemNotFound
            If there is no such column.
        """
        return _rows_with(frame, row)

    def _replayed(self, frame: pd.DataFrame, stored: FrameMetadata) -> Made:
        if stored.recipe is None:
            raise TrailEnd(_NO_RECIPE if stored.columns or stored.sources else _NO_METADATA)
        name = str(text_of(frame))
        if name not in self._made:
            try:
                self._made[name] = replay(stored.recipe, stored.sources, self.evidence)
            except TrailEnd as end:
                self._made[name] = str(end)
            except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
                self._made[name] = f"what the frame says of how it was made is damaged: {error}"
        made = self._made[name]
        if isinstance(made, str):
            raise TrailEnd(made)
        return made


def _seen(frame: pd.DataFrame, at: int, column: str, known: FrameMetadata) -> Explanation:
    """Explain a cell by the frame's own metadata, without its origin."""
    metadata = known.columns[column]
    what = declared(metadata)
    return Explanation(
        plain(frame[column].iloc[at]),
        column,
        row_of(known, frame, at),
        unit=what.unit if what else None,
        meaning=(what and what.doc) or None,
        availability=str(metadata.availability),
    )


def _rows_with(frame: pd.DataFrame, row: Mapping[str, Any]) -> npt.NDArray[np.bool_]:
    """Mask of the rows that have some values."""
    find(frame, row)
    mask = np.ones(len(frame), bool)
    for name, value in row.items():
        mask &= matching(frame[name], value)
    return mask


_MOST_READ = 200
"""The most rows whose cause is looked up one by one; of more, one for each state."""

_MOST_CAUSES = 8


def _without_row(
    flat: pd.DataFrame,
    column: str,
    metadata: FrameMetadata,
    explained: Callable[[int], Explanation],
) -> Explanation:
    """Explain the first value of a column that is missing, with the causes of all that are.

    Where none is missing it is the first row's value.
    """
    lacking = np.flatnonzero(flat[column].isna().to_numpy())
    if not len(lacking):
        return explained(0).with_notes(
            f"no row was named: none of {len(flat):,} values is missing, and this is the first"
        )
    cells = cells_of(flat, column, metadata)
    codes = cells.codes[lacking]
    first, numbers = lacking, np.ones(len(lacking), int)
    if len(lacking) > _MOST_READ:
        codes, first, numbers = np.unique(codes, return_index=True, return_counts=True)
        first = lacking[first]
    counts: Counter[str] = Counter()
    rows: dict[str, int] = {}
    for at, code, number in zip(first.tolist(), codes.tolist(), numbers.tolist(), strict=True):
        found = explained(at)
        why = found.missing or found.end or str(cells.states[code])
        counts[why] += number
        rows.setdefault(why, at)
    causes = [
        MissingRows(count, why, row_of(metadata, flat, rows[why]))
        for why, count in counts.most_common(_MOST_CAUSES)
    ]
    count = f"{len(lacking):,} of {len(flat):,} values are missing"
    found = explained(int(lacking[0])).with_notes(
        f"no row was named: {count}, and this is the first"
    )
    return replace(found, causes=tuple(causes))


def _position_of(
    flat: pd.DataFrame, frame: pd.DataFrame, row: int | Hashable | Mapping[str, Any]
) -> int:
    """Find the position of a row given by position, label, or the values of some columns.

    A mapping is matched by value. A whole number is the label of a row where the index has it, as
    in ``df.loc``, and else its position; in a frame as it was read the two are the same.

    Raises
    ------
    ItemNotFound
        If there is no such row, or several.
    """
    if isinstance(row, Mapping):
        return _of_key(flat, row)
    places = _labelled(frame, row)
    if len(places) == 1:
        return int(places[0])
    if len(places):
        raise ItemNotFound(
            f"{len(places)} rows have the label {row!r}; name the row by the values of its key",
            key=row,
        )
    size = len(frame)
    if isinstance(row, int | np.integer) and not isinstance(row, bool) and -size <= row < size:
        return int(row) % size
    raise ItemNotFound(f"there is no row {row!r} among {size} rows", key=row)


def _labelled(frame: pd.DataFrame, label: Any) -> npt.NDArray[np.intp]:
    """The positions of the rows with a label."""
    try:
        place = frame.index.get_loc(label)
    except (KeyError, TypeError):
        return np.zeros(0, np.intp)
    return np.atleast_1d(np.arange(len(frame))[place])


def _of_key(flat: pd.DataFrame, row: Mapping[str, Any]) -> int:
    places = np.flatnonzero(_rows_with(flat, row))
    if len(places) == 1:
        return int(places[0])
    described = ", ".join(f"{name} = {shown(value)}" for name, value in row.items())
    if len(places):
        raise ItemNotFound(f"{len(places)} rows have {described}", key=dict(row))
    near = did_you_mean(
        [
            match
            for name, value in row.items()
            if isinstance(value, str) and not matching(flat[name], value).any()
            for match in near_matches(value, map(str, flat[name].dropna().unique()[:_MOST]))
        ]
    )
    raise ItemNotFound(f"no row has {described}{f', {near}' if near else ''}", key=dict(row))


def _matched(frame: pd.DataFrame, at: int, made: Made, column: str) -> int:
    """Find the row of a replayed frame that is a row of a frame.

    Rows are the same where their keys are; without a key, where all columns are that both have,
    except the one to be explained, and the label decides between several.

    Raises
    ------
    TrailEnd
        If there is none, or several.
    """
    now, then = arrays_of(frame), arrays_of(made.frame)
    if column not in made.frame.columns:
        raise TrailEnd(f"{column} was added or renamed by a plain pandas step")
    alike = frame.index.names == made.frame.index.names
    labels = _labelled(made.frame, frame.index[at]) if alike else np.zeros(0, np.intp)
    label = int(labels[0]) if len(labels) == 1 else None
    key = [*made.metadata.key]
    is_keyed = bool(key) and all(name in now and name in then for name in key)
    names = [name for name in now if name in then and name != column]
    if not names and not is_keyed and label is None:
        raise TrailEnd("no column identifies its row any longer")
    places = np.arange(len(made.frame))
    for columns in [key, names] if is_keyed else [names]:
        for name in columns:
            wanted, cells = now[name][at], then[name].take(places).astype(object)
            places = places[[same(cell, wanted) for cell in cells]]
        if columns is key and not len(places):
            raise TrailEnd("no row that was read has its key: the key was changed since")
        if columns is key and (len(places) == 1 or label in places):
            return int(places[0]) if label is None or label not in places else label
    if label is not None and label in places:
        return label
    if len(places) == 1:
        return int(places[0])
    if len(places):
        keep = f"; keep its key: {', '.join(key)}" if key else ""
        raise TrailEnd(f"{len(places)} rows that were read could be this one{keep}")
    raise TrailEnd("no row that was read is like this one: its row was changed since")


def _adopt(frame: pd.DataFrame, frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    return adopt(frame, *frames)


def _rename(frame: pd.DataFrame, names: dict[str, str]) -> pd.DataFrame:
    return rename(frame, columns=names)


_OF_REQUEST = "from the request that was sent, or the window it answers"
_OF_FRAME = "the same in all rows of its frame"


def _same(result: Result, at: int, column: str) -> Explanation:
    return result.inputs[0].explain(at, column)


VERBS: dict[str, tuple[Any, Any, tuple[str, ...]]] = {
    "aggregate": (aggregate, None, ("frame",)),
    "merge": (merge, merged_cells, ("left", "right")),
    "concat": (concat, stacked_cells, ("frames",)),
    "complete": (complete, completed_cells, ("frame", "availability")),
    "rename": (_rename, renamed_cells, ("frame",)),
    "adopt": (_adopt, _same, ("frame", "frames")),
    "to_long": (to_long, long_cells, ("frame",)),
    "with_context": (with_context, partial(beside_cells, _OF_REQUEST), ("frame",)),
    "with_constant": (with_constant, partial(beside_cells, _OF_FRAME), ("frame",)),
    "answers": (answer_rows.answers_of, answers_cells, ("whole", "mentions", "citations")),
}
"""By verb: what it calls, what explains a cell of its result, and which arguments are frames."""

STATISTICS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "interval": (interval.interval, ("frame",)),
    "compare": (compare.compare, ("now", "before")),
    "decompose": (compare.decompose, ("now", "before")),
    "changes": (changes.changes, ("frame",)),
    "rank": (members.rank, ("frame",)),
    "concentration": (members.concentration, ("frame",)),
    "overlap": (overlap.overlap, ("frame",)),
    "stability": (stability.stability, ("frame",)),
    "effect": (treatment.effect, ("series",)),
    "cited_and_mentioned": (answer_rows.association, ("rows",)),
    "funnel": (funnel.funnel_of, ("frames",)),
    "headline": (headline.headline_of, ("frames",)),
}
"""By verb: what it calls, and which arguments are frames; it records what its numbers are of."""


def replay(recipe: Recipe, sources: Sequence[Source], finder: ResponseFinder) -> Made:
    """Make a frame again.

    Parameters
    ----------
    recipe : list
        How it was made.
    sources : sequence of Source
        The responses that the recipe names by number.
    finder : ResponseFinder
        Finds them.

    Raises
    ------
    TrailEnd
        If it cannot be made again, with the reason.
    """
    kind, *rest = recipe
    if kind == READ:
        return _read(rest[0], rest[1], sources, finder)
    if kind == VIEW:
        inner, changes_made = rest
        base = None if inner[0] == END else replay(inner, sources, finder)
        return View(base, changes_made, inner[1] if inner[0] == END else None)
    if kind == ARCHIVED:
        return ArchivedCells(finder.archived(rest[0], rest[1]), sources, finder)
    if kind == DO and rest[0] in {**VERBS, **STATISTICS}:
        inputs = [replay(part, sources, finder) for part in rest[2]]
        return _done(rest[0], rest[1], inputs)
    raise TrailEnd(rest[0] if kind == END else f"{rest[0]} cannot be replayed by this version")


def _read(number: int, name: str, sources: Sequence[Source], finder: ResponseFinder) -> Made:
    if not 0 <= number < len(sources):
        raise TrailEnd("its metadata does not name the response it was read from")
    response = finder.find(sources[number])
    table = name.rpartition(":")[2]
    if table not in response.tables:
        raise TrailEnd(f"the response has no table {table} as it is declared now")
    return TableCells(response, table)


def _done(verb: str, arguments: dict[str, Any], inputs: Sequence[Made]) -> Made:
    """The result of a verb, replayed on the frames that went into it."""
    if verb in STATISTICS:
        function, names = STATISTICS[verb]
    else:
        function, explains, names = VERBS[verb]
    options = {
        name: _frames(value, inputs) if name in names else _argument(value)
        for name, value in arguments.items()
    }
    if verb == "complete":
        options.setdefault("availability", None)
    try:
        with warnings.catch_warnings(), Tracer(inputs) as tracer:
            warnings.simplefilter("ignore", AAToolkitWarning)
            frame = function(**options)
    except (AAToolkitError, LookupError, TypeError, ValueError) as error:
        raise TrailEnd(f"{verb} cannot be replayed: {error}") from None
    if verb in STATISTICS:
        return StatisticCells(verb, frame, inputs, options, tracer=tracer)
    if verb == "aggregate":
        return AggregateCells(verb, frame, inputs, options)
    return Result(verb, frame, inputs, options, explains)


def _frames(value: Any, inputs: Sequence[Made]) -> Any:
    if isinstance(value, list):
        return [inputs[number].frame for number in value]
    return None if value is None else inputs[value].frame


def _argument(value: Any) -> Any:
    """An argument as it was given, from its JSON value."""
    if isinstance(value, list):
        return [_argument(part) for part in value]
    if not isinstance(value, dict):
        return value
    (kind, body), *_ = value.items()
    if kind == "rule":
        facts: Any = {k: tuple(v) if isinstance(v, list) else v for k, v in body.items()}
        return Aggregation(**facts)
    if kind == "grouper":
        return pd.Grouper(**body)
    if kind == "moment":
        return pd.Timestamp(body)
    return {name: _argument(part) for name, part in body.items()}
