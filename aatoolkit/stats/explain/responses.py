"""Responses: find them by their hash, read them again, explain the cells of their tables.

In reading order: `ResponseFinder` finds responses in memory, a study or an archive; `TableCells`
explains the cells of a table: their path and bytes in the response, what it states about them, and
why a value is missing; `explain_path` explains which cells hold the value at a JSON path.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import pandas as pd

from aatoolkit.availability.detect import Signal
from aatoolkit.errors import AAToolkitError, ArgumentError
from aatoolkit.frame.aggregation_plan import row_units
from aatoolkit.frame.cell_status import cells_of
from aatoolkit.jsontree.byte_span import ByteIndex
from aatoolkit.jsontree.paths import KEY_SIGN, format_json_path, is_within, parse_path
from aatoolkit.metadata.attrs import HeldResponse, stored_of
from aatoolkit.metadata.column import Source
from aatoolkit.normalizer.column_availability import (
    INFERRED,
    WHY,
    narrowest_path,
    reach,
    target_steps,
)
from aatoolkit.normalizer.tables import Tables
from aatoolkit.stats.explain.explanation import (
    CitedResponse,
    Explanation,
    StatedAvailability,
    ValuePlace,
    in_words,
    plain,
)

_NOT_IN_MEMORY = (
    "its response is no longer in memory; give a study or an archive that holds it, with within="
)


class TrailEnd(Exception):
    """The reason why a number cannot be traced further; raised and caught in this package only."""


@dataclass(frozen=True, eq=False)
class ReadResponse:
    """A response that was found, checked and read again.

    Parameters
    ----------
    source : Source
        The source that names the response.
    tables : Tables
        The tables of the response.
    body : bytes or None
        The bytes of the response; None if only its tables are at hand.
    found_in : str
        Where it was found, in words, such as "in memory".
    """

    source: Source
    tables: Tables
    body: bytes | None
    found_in: str

    @cached_property
    def cited(self) -> CitedResponse:
        """The response as a `CitedResponse`, i.e. as explanations show it."""
        if self.body is None:
            return CitedResponse(**asdict(self.source))
        payload = self.tables.payload
        digest = hashlib.sha256(self.body).hexdigest()
        return CitedResponse(
            **asdict(self.source) | {"sha256": digest},
            status=None if payload is None else payload.status,
            found_in=self.found_in,
            checked=self.source.sha256 == digest,
        )

    def place(self, path: str) -> ValuePlace:
        """Return where the value at a path is in the body: its first and last byte, and its text.

        If the response lacks the path, the result has only the path.
        """
        span = self._index.span(path)
        if span is None:
            return ValuePlace(path)
        return ValuePlace(path, *span, self._index.body[slice(*span)].decode(errors="replace"))

    @cached_property
    def _index(self) -> ByteIndex:
        return ByteIndex(self.body or b"")

    @cached_property
    def extra(self) -> Mapping[str, tuple[str, str]]:
        """The values that are in no column, by JSON path: each as JSON text, and the reason."""
        rows = self.tables.extra[["path", "value", "why"]].itertuples(index=False, name=None)
        return {path: (value, reason) for path, value, reason in rows}


class ResponseFinder:
    """Finds responses in stores and in memory, and reads each at most once.

    Parameters
    ----------
    within : study, archive, Tables, Dataset, or several of these
        Where responses are looked for besides those that a frame holds in memory.
    """

    def __init__(self, within: Any = None) -> None:
        self._stores = [*_stores(within)]
        self._held: dict[HeldResponse, None] = {}
        self._read: dict[Source, ReadResponse] = {}

    def hold(self, responses: Iterable[HeldResponse]) -> None:
        """Add responses in memory to those that `find` searches."""
        self._held |= dict.fromkeys(responses)

    def find(self, source: Source) -> ReadResponse:
        """Return the response that a source names.

        Raises
        ------
        TrailEnd
            If the response is in no store, or is damaged.
        """
        if source not in self._read:
            self._read[source] = self._search(source)
        return self._read[source]

    def _search(self, source: Source) -> ReadResponse:
        """Return the response that a source names, read again; else raise `TrailEnd`."""
        reason = ""
        for store in (*self._stores, self._held):
            try:
                for place, response in _candidates(store, source):
                    body = response.body
                    digest = source.sha256 if body is None else hashlib.sha256(body).hexdigest()
                    if source.sha256 and digest != source.sha256:
                        reason = f"the response in {place} does not have the SHA-256 of its source"
                        continue
                    tables = response.tables()
                    if tables is not None:
                        place = f"{place}; {reason}" if reason else place
                        return ReadResponse(source, tables, body, place)
            except AAToolkitError as error:
                reason = str(error)
        raise TrailEnd(reason or _NOT_IN_MEMORY)

    def archived(self, method: str, options: Mapping[str, Any]) -> pd.DataFrame:
        """Read a frame again from an archive, by the method and options that it was read with.

        Raises
        ------
        TrailEnd
            If no store is an archive, or the archive cannot be read.
        """
        for store in self._stores:
            if hasattr(store, "_archived_frame"):
                try:
                    frame: pd.DataFrame = store._archived_frame(method, options)
                except AAToolkitError as error:
                    raise TrailEnd(str(error)) from None
                return frame
        raise TrailEnd("it was read from an archive, which is not at hand; give it with within=")


def _stores(within: Any) -> Iterator[Any]:
    """Yield the stores of responses in ``within``: studies, archives, and responses in memory."""
    if isinstance(within, Tables):
        yield within._parts.held
    elif hasattr(within, "_stored_responses"):
        yield within
    elif isinstance(within, Iterable) and not isinstance(within, str | bytes):
        for source in within.values() if isinstance(within, Mapping) else within:
            yield from _stores(source)
    elif within is not None:
        raise ArgumentError(
            f"within= is a study, an archive, Tables or a Dataset, not a {type(within).__name__}",
            argument="within",
        )


def _candidates(store: Any, source: Source) -> Iterator[tuple[str, HeldResponse]]:
    """Yield the responses of a store that may be the one that a source names.

    Each comes after a description of the store in words, such as "in memory".
    """
    if hasattr(store, "_stored_responses"):
        for response in store._stored_responses(source):
            yield f"in {store._store_name}", response
        return
    for response in store:
        held_source = response.source
        if (held_source.sha256, held_source.section) == (source.sha256, source.section):
            yield "in memory", response


_WHY_NOT_TAKEN = {
    WHY: ", and states that it was not measured",
    "wrong type": ", which is no {dtype}; it is kept in tables.extra",
    "missing": ", which is declared to mean that there is no value",
    "new level": ", which is no declared level; see tables.extra",
    "null key": "",
    "null": "",
    "no value": ", which is no {dtype}",
}
"""For each reason in ``tables.extra``, the text on why a value is not in its column."""
_REASON_COLUMNS = re.compile(
    r"(?:^|_)(?:state|status|reason|cause|why|because)(?:_|$)", re.IGNORECASE
)
"""Matches names of columns that may say why another column has no value."""


class _ColumnCells:
    """The cells of one column: values, units, paths, and what is said of their availability."""

    def __init__(self, table: TableCells, name: str) -> None:
        rows = table.response.tables._parts.built[table.name].rows
        frame = table.rows
        self.values = frame[name].array
        self.availability = cells_of(frame, name, table.metadata)
        self.units = row_units(frame, table.metadata, name)
        self.declared = rows.table[name] if name in rows.table.names else None
        self.over: Sequence[str] = ()
        self.signals: list[tuple[Signal, str]] = []
        if self.declared is None:
            return
        self.path = rows.path_finder(self.declared)
        count_names = self.declared.aggregate.over or self.declared.aggregate.counts or ()
        self.over = count_names if {*count_names} <= {*frame.columns} else ()
        for signal in table.response.tables._parts.signals:
            is_of_all = signal.scope in ("section", "engine")
            extent = "all" if is_of_all else reach(signal.target or "", self.declared.pattern)
            if extent and signal.rule != INFERRED:
                self.signals.append((signal, extent))


class TableCells:
    """Explains the cells of one table of a response.

    Parameters
    ----------
    response : ReadResponse
        The response.
    name : str
        The name of the table.
    """

    def __init__(self, response: ReadResponse, name: str) -> None:
        self.response, self.name, self.frame = response, name, response.tables[name]
        self.metadata, _ = stored_of(self.frame)  # just read, so that nothing has changed it
        self.rows = pd.DataFrame(self.frame)  # without attrs, which its columns would copy
        self._key = [key for key in (*self.metadata.key, "_row") if key in self.frame.columns]
        self._columns: dict[str, _ColumnCells] = {}

    def column(self, column: str) -> _ColumnCells:
        """Return the cells of a column."""
        if column not in self._columns:
            self._columns[column] = _ColumnCells(self, column)
        return self._columns[column]

    def value(self, position: int, column: str) -> Any:
        """Return the value of a column in the row at a position; None if it is missing."""
        return plain(self.column(column).values[position])

    def explain(self, position: int, column: str, *, parts: bool = True) -> Explanation:
        """Explain the value of a column in the row at a position."""
        cells, value = self.column(column), self.value(position, column)
        cell = self.about(
            Explanation(value, column, {name: self.value(position, name) for name in self._key})
        )
        code = int(cells.availability.codes[position])
        state, place, notes = str(cells.availability.states[code]), None, []
        end = _NOT_IN_MEMORY if self.response.body is None else None
        if cells.declared is not None:
            is_counted = (cells.declared.source or "").lstrip("^")[:1] == "#"
            path = None if end else cells.path(position)
            if path is not None:
                place = ValuePlace(path) if is_counted else self.response.place(path)
            is_spelled = place is not None and place.text is not None
            if is_counted:
                notes.append("counted from its place in the array")
            elif path is not None and path.endswith(KEY_SIGN):
                notes.append("it is the key of an object")
            elif path is not None and not is_spelled and value is not None:
                notes.append(
                    "the value is not in the response as such: it was asked for, or stands for null"
                )
            if cells.declared.reading is not None and is_spelled:
                scale_note = (
                    f", times {cells.declared.scale:g}" if cells.declared.scale is not None else ""
                )
                notes.append(f"read as {cells.declared.parse or cells.declared.dtype}{scale_note}")
        formula, children = self._rate(position, cells, value) if parts else (None, ())
        return replace(
            cell,
            unit=cell.unit if cells.units is None else plain(cells.units.iloc[position]),
            operation="read",
            formula=formula,
            place=place,
            availability=state,
            statements=self._statements(position, cells, place),
            missing=self._why_missing(position, column, place, state) if value is None else None,
            notes=tuple(notes),
            children=children,
            end=end,
        )

    def about(self, explanation: Explanation) -> Explanation:
        """Return an explanation with the unit, meaning and availability of its column added."""
        cells = self.column(explanation.column)
        return replace(
            explanation,
            unit=cells.declared.unit if cells.declared else None,
            meaning=(cells.declared and cells.declared.doc) or None,
            response=self.response.cited,
            statements=self._statements(None, cells, None),
        )

    def _rate(
        self, position: int, cells: _ColumnCells, value: Any
    ) -> tuple[str | None, tuple[Explanation, ...]]:
        """Return the formula of a rate, and the explanations of its two counts.

        Return (None, ()) unless the row has both counts and their quotient is the rate.
        """
        numerator, denominator = (
            (self.value(position, count_name) for count_name in cells.over)
            if cells.over
            else (None, None)
        )
        if numerator is None or denominator is None or (value is None and denominator):
            return None, ()
        if denominator and abs(numerator / denominator - value) > 5e-7:
            return None, ()
        count_names = " / ".join(cells.over)
        formula = f"{count_names} = {numerator} / {denominator}, as the response gives it"
        return formula, tuple(
            self.explain(position, count_name, parts=False) for count_name in cells.over
        )

    def _statements(
        self, position: int | None, cells: _ColumnCells, place: ValuePlace | None
    ) -> tuple[StatedAvailability, ...]:
        """Return what the response says of the availability of a cell.

        If ``position`` is None, return what it says of the whole column.

        ``place`` is the place of the cell's value in the response.
        """
        return tuple(
            _as_statement(signal)
            for signal, extent in cells.signals
            if (extent == "all" or _is_about(signal, place)) and self._concerns(signal, position)
        )

    def _concerns(self, signal: Signal, position: int | None) -> bool:
        """Return whether a signal of availability is, or may be, about the row at a position."""
        return position is None or all(
            condition.matches([self.value(position, condition.column)])[0]
            for condition in signal.rows
            if condition.column in self.frame.columns
        )

    def _why_missing(self, position: int, column: str, place: ValuePlace | None, state: str) -> str:
        """Return why a cell has no value, as text.

        The reason is taken from what the response has at the path of the cell (``place``), and from
        what the response says about the availability of the cell (``state``).
        """
        cells = self.column(column)
        if cells.declared is None:
            why = f"it is no column of the table {self.name}"
        elif self.response.body is None:
            why = "its response is not at hand"
        elif place is None:
            why = "no record of the response holds this field for the row"
        elif place.text is None:
            why = "the response has no such key here"
        else:
            default = "null" if place.text == "null" else "no value"
            _, reason = self.response.extra.get(place.path, ("", default))
            text = _WHY_NOT_TAKEN.get(reason, ", which no column takes").format(
                dtype=cells.declared.dtype
            )
            why = f"the response holds {in_words(place.text)} here{text}"
        if not state.startswith(("available", "unknown")):
            why += f"; it is {state}"
        # Add the row's own state or reason, unless rows with a value have it, too.
        rows_with_value = self.rows[self.rows[column].notna()]
        for name in filter(_REASON_COLUMNS.search, self.rows.columns):
            text = self.value(position, name)
            is_new = isinstance(text, str) and in_words(text) not in why
            if is_new and not rows_with_value[name].eq(text).any():
                why += f"; its {name} is {in_words(text)}"
                break
        if cells.over and self.value(position, cells.over[1]) == 0:
            why += f"; {cells.over[1]} is 0, and there is no rate of nothing"
        return why


def _is_about(signal: Signal, place: ValuePlace | None) -> bool:
    """Return whether a signal about part of a column is about the value at a path."""
    target = format_json_path(target_steps(signal.target or ""))
    return place is not None and bool(narrowest_path(place.path, {target: signal.availability}))


def _as_statement(signal: Signal) -> StatedAvailability:
    state = signal.availability
    return StatedAvailability(
        str(state.status),
        state.cause and str(state.cause),
        state.reason,
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
    """Explain which cells hold the values at a JSON path; see ``Tables.explain``."""
    read_responses = (
        ReadResponse(held.source, tables, held.body, "in memory") for held in tables._parts.held
    )
    response = next(read_responses, None)
    try:
        steps = parse_path(path.removesuffix(KEY_SIGN))
        target = format_json_path(steps) + KEY_SIGN * path.endswith(KEY_SIGN)
        place = response.place(target) if response else ValuePlace(target)
    except ValueError as error:
        raise ArgumentError(str(error), argument="path") from None
    explanation = Explanation(
        place.text,
        target,
        operation="path",
        place=place,
        response=response.cited if response else None,
        statements=tuple(
            _as_statement(signal)
            for signal in tables._parts.signals
            if signal.path and is_within(signal.path, target)
        ),
    )
    if response is None or response.body is None:
        return replace(explanation, end="the bytes of the response are no longer in memory")
    if place.start is None:
        return replace(explanation, missing="the response has no such path")
    cells = [*_cells_at(tables, response, target)]
    extra_values = [
        Explanation(value, "tables.extra", {"path": extra_path}, operation="extra", notes=(reason,))
        for extra_path, (value, reason) in response.extra.items()
        if is_within(extra_path, target)
    ]
    note = f"in {len(cells):,} cells, and {len(extra_values):,} values of tables.extra"
    return replace(
        explanation, children=(*cells[:_MAX_CELLS], *extra_values[:_MAX_CELLS]), notes=(note,)
    )


def _cells_at(tables: Tables, response: ReadResponse, path: str) -> Iterator[Explanation]:
    """Yield the explanations of the cells whose values are at a JSON path or below it."""
    for name, built_table in tables._parts.built.items():
        cells = TableCells(response, name)
        for column in built_table.table.columns:
            if path != "$" and reach(path.removesuffix(KEY_SIGN), column.pattern) is None:
                continue
            for position in range(len(cells.frame)):
                cell_path = cells.column(column.name).path(position)
                if cell_path is not None and is_within(cell_path, path):
                    cell = cells.explain(position, column.name, parts=False)
                    yield replace(cell, column=f"{name}.{column.name}")
