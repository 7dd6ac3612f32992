"""Responses: found by their hash, read again, and explained cell by cell.

In reading order: `ResponseFinder` finds responses in memory, a study or an archive; `TableCells`
explains the cells of one of their tables: path, bytes, statements, why a value is missing;
`explain_path` goes from a JSON path to the cells that hold it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import pandas as pd

from aatoolkit.availability.detect import Signal
from aatoolkit.errors import AAToolkitError, ArgumentError
from aatoolkit.frame.aggregation_plan import row_units
from aatoolkit.frame.cell_status import cells_of
from aatoolkit.jsontree.byte_span import ByteIndex
from aatoolkit.jsontree.paths import (
    KEY_SIGN,
    Each,
    Entries,
    Field,
    format_json_path,
    format_path,
    parse_path,
)
from aatoolkit.metadata.attrs import HeldAnswer, metadata_of
from aatoolkit.metadata.column import Source
from aatoolkit.normalizer.column_availability import (
    INFERRED,
    WHY,
    narrowest_path,
    reach,
    target_steps,
)
from aatoolkit.normalizer.tables import Tables
from aatoolkit.sections.section import Column
from aatoolkit.stats.explain.explanation import (
    CitedResponse,
    Explanation,
    StatedAvailability,
    ValuePlace,
    plain,
    shown,
)

_NOWHERE = (
    "its response is no longer in memory; give a study or an archive that holds it, with within="
)


class TrailEnd(Exception):
    """The reason why a trail ends, raised and caught within this package only."""


@dataclass(frozen=True, eq=False)
class ReadResponse:
    """A response that was found, checked and read again.

    Parameters
    ----------
    source : Source
        Which response it is.
    tables : Tables
        Its tables.
    body : bytes
        Its bytes.
    found_in : str
        Where they were found.
    """

    source: Source
    tables: Tables
    body: bytes
    found_in: str

    @cached_property
    def cited(self) -> CitedResponse:
        """Return the response as explanations cite it."""
        payload = self.tables.payload
        digest = hashlib.sha256(self.body).hexdigest()
        return CitedResponse(
            **asdict(self.source) | {"sha256": digest},
            status=None if payload is None else payload.status,
            found_in=self.found_in,
            checked=self.source.sha256 == digest,
        )

    def place(self, path: str) -> ValuePlace:
        """The place of the value at a path, with its bytes if it is there."""
        span = self._index.span(path)
        if span is None:
            return ValuePlace(path)
        return ValuePlace(path, *span, self.body[slice(*span)].decode(errors="replace"))

    @cached_property
    def _index(self) -> ByteIndex:
        return ByteIndex(self.body)

    @cached_property
    def extra(self) -> Mapping[str, tuple[str, str]]:
        """By path, what no column took: its JSON text, and why."""
        rows = self.tables.extra[["path", "value", "why"]].itertuples(index=False, name=None)
        return {path: (value, why) for path, value, why in rows}


class ResponseFinder:
    """The responses that are at hand, each read at most once.

    Parameters
    ----------
    within : study, archive, Tables, Dataset, or several of these
        Where responses are looked for beside those that a frame still holds.
    """

    def __init__(self, within: Any = None) -> None:
        self._within = within
        self._held: dict[HeldAnswer, None] = {}
        self._read: dict[Source, ReadResponse | str] = {}

    def hold(self, responses: Iterable[HeldAnswer]) -> None:
        """Look among further responses too."""
        size = len(self._held)
        self._held |= dict.fromkeys(responses)
        if len(self._held) > size:
            self._read = {s: read for s, read in self._read.items() if not isinstance(read, str)}

    def find(self, source: Source) -> ReadResponse:
        """The response of a source.

        Raises
        ------
        TrailEnd
            If it is not at hand, or is damaged.
        """
        if source not in self._read:
            self._read[source] = self._looked_for(source)
        response = self._read[source]
        if isinstance(response, str):
            raise TrailEnd(response)
        return response

    def _looked_for(self, source: Source) -> ReadResponse | str:
        why = _NOWHERE
        for where, response in self._candidates(source):
            if isinstance(response, str):
                why = response
                continue
            try:
                body = response.body
                if body is None:
                    continue
                if source.sha256 and hashlib.sha256(body).hexdigest() != source.sha256:
                    why = f"the response in {where} does not have the SHA-256 of its source"
                    continue
                tables = response.tables()
            except AAToolkitError as error:
                why = str(error)
                continue
            if tables is not None:
                damaged = "" if why == _NOWHERE else f"; {why}"
                return ReadResponse(source, tables, body, f"{where}{damaged}")
        return why

    def _candidates(self, source: Source) -> Iterator[tuple[str, HeldAnswer | str]]:
        """The responses that may be the one of a source, or why one that should be is not."""
        yield from _within(self._within, source)
        yield from (("in memory", held) for held in self._held if _fits(held.source, source))

    def archived(self, how: str, options: Mapping[str, Any]) -> pd.DataFrame:
        """A frame of an archive, read again.

        Raises
        ------
        TrailEnd
            If there is no archive at hand, or it cannot be read.
        """
        for store in self._within if isinstance(self._within, list | tuple) else [self._within]:
            if hasattr(store, "_archived_frame"):
                try:
                    frame: pd.DataFrame = store._archived_frame(how, options)
                except AAToolkitError as error:
                    raise TrailEnd(str(error)) from None
                return frame
        raise TrailEnd("it was read from an archive, which is not at hand; give it with within=")


def _fits(held: Source, wanted: Source) -> bool:
    if wanted.sha256 is not None:
        return held.sha256 == wanted.sha256 and held.section == wanted.section
    return all(
        getattr(wanted, name) in (None, getattr(held, name))
        for name in ("host", "section", "scope")
    )


def _within(place: Any, source: Source) -> Iterator[tuple[str, HeldAnswer | str]]:
    """Look for a response in a study, archive, tables or several of these."""
    if place is None:
        return
    if isinstance(place, Tables):
        held = (response for response in place._parts.held if _fits(response.source, source))
        yield from (("in memory", response) for response in held)
    elif hasattr(place, "_stored_responses"):
        try:
            for response in place._stored_responses(source):
                yield f"in {place._store_name}", response
        except AAToolkitError as error:
            yield "", str(error)
    elif isinstance(place, Iterable) and not isinstance(place, str | bytes):
        for part in place.values() if isinstance(place, Mapping) else place:
            yield from _within(part, source)
    else:
        raise ArgumentError(
            f"within= is a study, an archive, Tables or a Dataset, not a {type(place).__name__}",
            argument="within",
        )


_KEPT = {
    WHY: "the response holds {text} here, and states that it was not measured",
    "wrong type": "the response holds {text} here, which is no {dtype}; it is kept in tables.extra",
    "missing": "the response holds {text} here, which is declared to mean that there is no value",
    "new level": "the response holds {text} here, which is no declared level; see tables.extra",
    "null key": "the response holds {text} here",
}
"""Why a value that the response holds is not in its column."""

_OF_STATE = re.compile(r"(?:^|_)(?:state|status|reason|cause|why|because)(?:_|$)", re.IGNORECASE)
"""Names of columns whose words may say why another column has no value."""


class TableCells:
    """The cells of one table of one response.

    Parameters
    ----------
    response : ReadResponse
        The response.
    name : str
        The table's name.
    """

    def __init__(self, response: ReadResponse, name: str) -> None:
        self.response, self.name, self.frame = response, name, response.tables[name]
        self.metadata = metadata_of(self.frame)
        self._rows = response.tables._parts.rows[name]
        self._key = [key for key in (*self.metadata.key, "_row") if key in self.frame.columns]
        self._computed: dict[tuple[str, str], Any] = {}

    def _once(self, what: str, column: str, compute: Callable[[], Any]) -> Any:
        """What is computed once of a column."""
        key = what, column
        if key not in self._computed:
            self._computed[key] = compute()
        return self._computed[key]

    def value(self, at: int, column: str) -> Any:
        """The value of a column in a row, by position; None where it is missing."""
        return plain(self._once("array", column, lambda: self.frame[column].array)[at])

    def explain(self, at: int, column: str, *, parts: bool = True) -> Explanation:
        """Explain the value of a column in a row, by position."""
        value = self.value(at, column)
        declared = self._declared(column)
        place = None if declared is None else self._place(at, declared)
        cells = self._once("cells", column, lambda: cells_of(self.frame, column, self.metadata))
        state = str(cells.states[int(cells.codes[at])])
        formula, children = (None, ()) if not parts else self._rate(at, column)
        why = self._why_missing(at, column, declared, place, state) if value is None else None
        return Explanation(
            value,
            column,
            self.row(at),
            unit=self._unit(at, column, declared),
            meaning=(declared and declared.doc) or None,
            operation="read",
            formula=formula,
            place=place,
            response=self.response.cited,
            availability=state,
            statements=self._statements(at, column, place),
            missing=why,
            notes=(*_notes(declared, place, value),),
            children=children,
        )

    def about(self, explanation: Explanation) -> Explanation:
        """Add to an explanation what the response states of the whole column."""
        declared = self._declared(explanation.column)
        return replace(
            explanation,
            meaning=(declared and declared.doc) or None,
            response=self.response.cited,
            statements=self._statements(None, explanation.column, None),
        )

    def row(self, at: int) -> dict[str, Any]:
        """The values of the key in a row."""
        return {name: self.value(at, name) for name in self._key}

    def path(self, at: int, column: Column) -> str | None:
        """The JSON path of a value; None where no record of the response encloses it."""
        path: str | None = self._once("path", column.name, lambda: self._rows.path_in(column))(at)
        return path

    def list_in(self, record: str) -> ValuePlace:
        """The place of the list that holds the rows of the table within another record."""
        inner = [step for step in self._rows.table.rows.steps[:-1] if isinstance(step, Field)]
        return self.response.place(f"{record}{format_json_path(inner[-1:]).removeprefix('$')}")

    def _declared(self, column: str) -> Column | None:
        table = self._rows.table
        return table[column] if column in table.names else None

    def _place(self, at: int, column: Column) -> ValuePlace | None:
        path = self.path(at, column)
        if path is None:
            return None
        return ValuePlace(path) if _is_counted(column) else self.response.place(path)

    def _unit(self, at: int, column: str, declared: Column | None) -> str | None:
        units = self._once("units", column, lambda: row_units(self.frame, self.metadata, column))
        if units is not None:
            return str(units.iloc[at])
        unit = None if declared is None else declared.unit
        other = unit.removeprefix("per ").strip("`") if unit and unit.startswith("per `") else ""
        return shown(self.value(at, other)) if other in self.frame.columns else unit

    def _rate(self, at: int, column: str) -> tuple[str | None, tuple[Explanation, ...]]:
        """Explain a rate by its numerator and denominator, if the row has both and they agree."""
        over = _counts_of(self._declared(column))
        if over is None or not {*over} <= {*self.frame.columns}:
            return None, ()
        value, above, below = (self.value(at, name) for name in (column, *over))
        if not all(isinstance(count, int | float) for count in (above, below)):
            return None, ()
        words = f"{over[0]} / {over[1]} = {above} / {below}"
        if below == 0:
            words += ": a rate of 0 answers does not exist"
        elif not isinstance(value, int | float):
            return None, ()
        elif abs(above / below - value) <= 1e-9 or round(above / below, 6) == value:
            words += ", as the response gives it"
        else:
            return None, ()
        return words, tuple(self.explain(at, part, parts=False) for part in over)

    def _statements(
        self, at: int | None, column: str, place: ValuePlace | None
    ) -> tuple[StatedAvailability, ...]:
        """What the response states about a cell of a column, or without a row about all of it."""

        def about() -> list[tuple[Signal, str | None]]:
            declared = self._declared(column)
            signals = self.response.tables._parts.signals
            return [
                (signal, _reach(signal, declared))
                for signal in signals
                if declared and signal.rule != INFERRED and _reach(signal, declared)
            ]

        return tuple(
            _stated(signal)
            for signal, reached in self._once("about", column, about)
            if self._concerns(signal, reached, at, place)
        )

    def _concerns(
        self, signal: Signal, reached: str, at: int | None, place: ValuePlace | None
    ) -> bool:
        """Whether a statement about a column is about a cell of it."""
        for condition in signal.rows:
            if at is None or condition.column not in self.frame.columns:
                continue  # any row may be meant
            if not condition.matches([self.value(at, condition.column)])[0]:
                return False
        if reached != "some":
            return True
        target = format_json_path(target_steps(signal.target or ""))
        return place is not None and bool(narrowest_path(place.path, {target: signal.availability}))

    def _why_missing(
        self,
        at: int,
        column: str,
        declared: Column | None,
        place: ValuePlace | None,
        state: str,
    ) -> str:
        """Explain why a cell has no value, by what the response holds in its place."""
        stated = "" if state.startswith(("available", "unknown")) else f"; it is {state}"
        words = self._words_of_row(at, column)
        stated += f"; {words}" if words and words.split(" is ", 1)[1] not in stated else ""
        over = _counts_of(declared)
        if over and over[1] in self.frame.columns and self.value(at, over[1]) == 0:
            stated += f"; {over[1]} is 0, and a rate of 0 answers does not exist"
        if declared is None:
            return f"it is no column of the table {self.name}{stated}"
        if place is None:
            return f"no record of the response holds this field for the row{stated}"
        if place.text is None:
            return f"the response has no such key here{stated}"
        if place.path in self.response.extra:
            kept = "the response holds {text} here, which no column takes"
            words = _KEPT.get(self.response.extra[place.path][1], kept)
            return words.format(text=shown(place.text), dtype=declared.dtype) + stated
        if place.text == "null":
            return f"the response holds null here{stated}"
        return f"the response holds {shown(place.text)} here, which is no {declared.dtype}{stated}"

    def _words_of_row(self, at: int, column: str) -> str:
        """What the row's own state or reason says, if rows with a value never say it."""
        if column not in self.frame.columns:
            return ""
        is_there = self.frame[column].notna()
        for name in self.frame.columns:
            words = self.value(at, name) if name != column and _OF_STATE.search(name) else None
            if isinstance(words, str) and not self.frame.loc[is_there, name].eq(words).any():
                return f"its {name} is {shown(words)}"
        return ""


def _notes(declared: Column | None, place: ValuePlace | None, value: Any) -> Iterator[str]:
    if declared is None:
        return
    if declared.name == "_row" or _is_counted(declared):
        yield "counted from its place in the array"
    elif place is not None and place.path.endswith(KEY_SIGN):
        yield "it is the key of an object"
    elif place is not None and place.text is None and value is not None:
        yield "the value is not in the response as such: it was asked for, or stands for null"
    if declared.reading is not None and place is not None and place.text is not None:
        scale = f", times {declared.scale:g}" if declared.scale is not None else ""
        yield f"read as {declared.parse or declared.dtype}{scale}"


def _is_counted(column: Column) -> bool:
    """Whether a column is the place of its row in an array."""
    return (column.source or "").lstrip("^")[:1] == "#"


def _stated(signal: Signal) -> StatedAvailability:
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


def _reach(signal: Signal, declared: Column) -> str | None:
    """Whether a statement covers all of a column, or some of it; None for nothing."""
    if signal.scope in ("section", "engine"):
        return "all"
    return reach(signal.target or "", declared.pattern)


def _counts_of(column: Column | None) -> tuple[str, str] | None:
    """The numerator and denominator of a rate, where its rule names them."""
    return None if column is None else column.aggregate.over or column.aggregate.counts


_MOST_CELLS = 500
"""The most cells that are listed one by one."""

_WHY = {
    "new": "no column is declared for it",
    "wrong type": "it is not of the type of its column",
    "denied": "the response states that it was not measured, so its cell is missing",
    "missing": "it is declared to mean that there is no value",
    "left out": "a filter of the declaration leaves its row out",
    "known": "it is known, and no row holds it",
    "envelope": "it is about the response, not of its data",
    "new level": "it is no declared level of its category",
    "error response": "the response is an error, and has no rows",
}
"""Why no column took a value."""


def explain_path(tables: Tables, path: str) -> Explanation:
    """Explain where the values at a path went; see ``Tables.explain``."""
    is_key = path.endswith(KEY_SIGN)
    try:
        steps = parse_path(path.removesuffix(KEY_SIGN))
    except ValueError as error:
        raise ArgumentError(str(error), argument="path") from None
    is_pattern = any(isinstance(step, Each | Entries) for step in steps)
    target = format_path(steps) if is_pattern else format_json_path(steps) + KEY_SIGN * is_key
    held = ((part.source, part.body) for part in tables._parts.held)
    read = (ReadResponse(of, tables, body, "in memory") for of, body in held if body is not None)
    response = next(read, None)
    place = None
    if not is_pattern:
        place = response.place(target) if response else ValuePlace(target)
    signals = tables._parts.signals
    explanation = Explanation(
        place.text if place else None,
        target or "$",
        operation="path",
        place=place,
        response=response.cited if response else None,
        statements=tuple(
            _stated(signal) for signal in signals if signal.path and _is_within(signal.path, target)
        ),
    )
    if response is not None and place is not None and place.start is None:
        return replace(explanation, missing="the response has no such path")
    cells = [*_cells_at(tables, response, target, is_pattern)]
    kept = [] if is_pattern else [*_kept(tables, target)]
    notes = [f"{len(cells):,} cells hold it or a part of it"] if len(cells) != 1 else []
    if kept:
        notes.append(f"{len(kept):,} values of it are kept in tables.extra")
    return replace(
        explanation, children=(*cells[:_MOST_CELLS], *kept[:_MOST_CELLS]), notes=(*notes,)
    )


def _cells_at(
    tables: Tables, response: ReadResponse | None, path: str, is_pattern: bool
) -> Iterator[Explanation]:
    """Yield the cells that hold the value at a path, or values below it."""
    inside = path.removesuffix(KEY_SIGN)
    is_whole = not inside.removeprefix("$").removeprefix(".")
    for name, rows in tables._parts.rows.items():
        cells = None if response is None else TableCells(response, name)
        for column in rows.table.columns:
            label = f"{name}.{column.name}"
            if not is_whole and reach(inside, column.pattern) is None:
                continue
            if cells is None or is_pattern or is_whole:
                doc = (cells and column.doc) or None
                yield Explanation(None, label, meaning=doc, operation="column")
                continue
            for at in range(len(cells.frame)):
                there = cells.path(at, column)
                if there is not None and _is_within(there, path):
                    yield replace(cells.explain(at, column.name, parts=False), column=label)


def _is_within(path: str, outer: str) -> bool:
    bare = path.removesuffix(KEY_SIGN)
    if outer.endswith(KEY_SIGN):
        return path == outer
    return bare == outer or bare.startswith((f"{outer}.", f"{outer}["))


def _kept(tables: Tables, path: str) -> Iterator[Explanation]:
    """Yield the values at a path that no column took, and why."""
    extra = tables.extra
    for there, value, why in zip(extra["path"], extra["value"], extra["why"], strict=True):
        if _is_within(there, path):
            note = _WHY.get(why, str(why))
            yield Explanation(
                value, "tables.extra", {"path": there}, operation="extra", notes=(note,)
            )
