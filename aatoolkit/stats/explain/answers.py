"""Answers: found by their hash, read again, and explained cell by cell.

In reading order: `AnswerFinder` finds answers in memory, a study or an archive; `TableCells`
explains the cells of one of their tables: path, bytes, statements, why a value is missing;
`with_samples` adds sampled chats; `explain_path` goes from a JSON path to the cells that hold it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pandas as pd

from aatoolkit.availability.detect import Signal
from aatoolkit.errors import AAToolkitError, ArgumentError
from aatoolkit.frame.aggregation_plan import row_units
from aatoolkit.frame.cell_status import Cells, cells_of
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
    CitedAnswer,
    Explanation,
    StatedAvailability,
    ValuePlace,
    matching,
    plain,
    shown,
)

if TYPE_CHECKING:
    T = TypeVar("T")

_NOWHERE = (
    "its answer is no longer in memory; give a study or an archive that holds it, with within="
)


class TrailEnd(Exception):
    """The reason why a trail ends, raised and caught within this package only."""


@dataclass(frozen=True, eq=False)
class ReadAnswer:
    """An answer that was found, checked and read again.

    Parameters
    ----------
    source : Source
        Which answer it is.
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
    def cited(self) -> CitedAnswer:
        """Return the answer as explanations cite it."""
        payload = self.tables.payload
        digest = hashlib.sha256(self.body).hexdigest()
        return CitedAnswer(
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
        frame = self.tables.extra
        return {
            path: (value, why)
            for path, value, why in zip(frame["path"], frame["value"], frame["why"], strict=True)
        }


class AnswerFinder:
    """The answers that are at hand, each read at most once.

    Parameters
    ----------
    within : study, archive, Tables, Dataset, or several of these
        Where answers are looked for beside those that a frame still holds.
    """

    def __init__(self, within: Any = None) -> None:
        self._within = within
        self._held: dict[HeldAnswer, None] = {}
        self._read: dict[Source, ReadAnswer | str] = {}

    def hold(self, answers: Iterable[HeldAnswer]) -> None:
        """Look among further answers too."""
        new = {each: None for each in answers if each not in self._held}
        self._held |= new
        if new:
            self._read = {s: one for s, one in self._read.items() if isinstance(one, ReadAnswer)}

    def find(self, source: Source) -> ReadAnswer:
        """The answer of a source.

        Raises
        ------
        TrailEnd
            If it is not at hand, or is damaged.
        """
        if source not in self._read:
            self._read[source] = self._found(source)
        found = self._read[source]
        if isinstance(found, str):
            raise TrailEnd(found)
        return found

    def _found(self, source: Source) -> ReadAnswer | str:
        why = _NOWHERE
        for where, answer in self._candidates(source):
            if isinstance(answer, str):
                why = answer
                continue
            try:
                body = answer.body
                if body is None:
                    continue
                if source.sha256 and hashlib.sha256(body).hexdigest() != source.sha256:
                    why = f"the answer in {where} does not have the SHA-256 of its source"
                    continue
                tables = answer.tables()
            except AAToolkitError as error:
                why = str(error)
                continue
            if tables is not None:
                damaged = "" if why == _NOWHERE else f"; {why}"
                return ReadAnswer(source, tables, body, f"{where}{damaged}")
        return why

    def _candidates(self, source: Source) -> Iterator[tuple[str, HeldAnswer | str]]:
        """The answers that may be the one of a source, or why one that should be is not."""
        yield from _within(self._within, source)
        for each in self._held:
            if _fits(each.source, source):
                yield "in memory", each

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
                    return store._archived_frame(how, options)  # type: ignore[no-any-return]
                except AAToolkitError as error:
                    raise TrailEnd(str(error)) from None
        raise TrailEnd("it was read from an archive, which is not at hand; give it with within=")

    def sampled(self, source: Source) -> Iterator[Tables]:
        """The sampled chats about a host under the same filters, where they are at hand."""
        wanted = Source(host=source.host, section="chats", scope=source.scope)
        for _, answer in _within(self._within, wanted):
            if not isinstance(answer, str):
                tables = answer.tables()
                if tables is not None:
                    yield tables


def _fits(held: Source, wanted: Source) -> bool:
    if wanted.sha256 is not None:
        return held.sha256 == wanted.sha256 and held.section == wanted.section
    return all(
        getattr(wanted, name) in (None, getattr(held, name))
        for name in ("host", "section", "scope")
    )


def _within(place: Any, source: Source) -> Iterator[tuple[str, HeldAnswer | str]]:
    """Look for an answer in a study, archive, tables or several of these."""
    if place is None:
        return
    if isinstance(place, Tables):
        for each in place._parts.held:
            if _fits(each.source, source):
                yield "in memory", each
    elif hasattr(place, "_stored_responses"):
        try:
            for response in place._stored_responses(source):
                yield f"in {place._store_name}", response
        except AAToolkitError as error:
            yield "", str(error)
    elif isinstance(place, Mapping):
        for each in place.values():
            yield from _within(each, source)
    elif isinstance(place, Iterable) and not isinstance(place, str | bytes):
        for each in place:
            yield from _within(each, source)
    else:
        raise ArgumentError(
            f"within= is a study, an archive, Tables or a Dataset, not a {type(place).__name__}",
            argument="within",
        )


_KEPT = {
    WHY: "the answer holds {text} here, and states that it was not measured",
    "wrong type": "the answer holds {text} here, which is no {dtype}; it is kept in tables.extra",
    "missing": "the answer holds {text} here, which is declared to mean that there is no value",
    "new level": "the answer holds {text} here, which is no declared level; it is in tables.extra",
    "null key": "the answer holds {text} here",
}
"""Why a value that the answer holds is not in its column."""


_OF_STATE = re.compile(r"(?:^|_)(?:state|status|reason|cause|why|because)(?:_|$)", re.IGNORECASE)
"""Names of columns whose words may say why another column has no value."""


class TableCells:
    """The cells of one table of one answer.

    Parameters
    ----------
    answer : ReadAnswer
        The answer.
    name : str
        The table's name.
    """

    def __init__(self, answer: ReadAnswer, name: str) -> None:
        self.answer, self.name, self.frame = answer, name, answer.tables[name]
        self.known = metadata_of(self.frame)
        self._rows = answer.tables._parts.rows[name]
        self._computed: dict[tuple[str, str], Any] = {}

    def _of(self, compute: Callable[[str], T], column: str) -> T:
        """What is computed once of a column."""
        key = compute.__name__, column
        if key not in self._computed:
            self._computed[key] = compute(column)
        result: T = self._computed[key]
        return result

    def value(self, at: int, column: str) -> Any:
        """The value of a column in a row, by position; None where it is missing."""
        return plain(self._of(self._array, column)[at])

    def explain(self, at: int, column: str, *, parts: bool = True) -> Explanation:
        """Explain the value of a column in a row, by position."""
        value = self.value(at, column)
        declared = self._declared(column)
        place = None if declared is None else self._place(at, declared)
        cells = self._of(self._cells, column)
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
            answer=self.answer.cited,
            availability=state,
            statements=(*self._statements(at, column, place),),
            missing=why,
            notes=(*_notes(declared, place, value),),
            children=children,
        )

    def about(self, found: Explanation) -> Explanation:
        """Add to an explanation what the answer states of the whole column."""
        declared = self._declared(found.column)
        return replace(
            found,
            meaning=(declared and declared.doc) or None,
            answer=self.answer.cited,
            statements=(*self._statements(None, found.column, None),),
        )

    @cached_property
    def _key(self) -> list[str]:
        return [name for name in (*self.known.key, "_row") if name in self.frame.columns]

    def row(self, at: int) -> dict[str, Any]:
        """The values of the key in a row."""
        return {name: self.value(at, name) for name in self._key}

    def path(self, at: int, column: Column) -> str | None:
        """The JSON path of a value; None where no record of the answer encloses it."""
        return self._of(self._path, column.name)(at)

    def list_in(self, record: str) -> ValuePlace:
        """The place of the list that holds the rows of the table within another record."""
        inner = [step for step in self._rows.table.rows.steps[:-1] if isinstance(step, Field)]
        return self.answer.place(f"{record}{format_json_path(inner[-1:]).removeprefix('$')}")

    def _declared(self, column: str) -> Column | None:
        try:
            return self._rows.table[column]
        except KeyError:
            return None

    def _array(self, column: str) -> Any:
        return self.frame[column].array

    def _cells(self, column: str) -> Cells:
        return cells_of(self.frame, column, self.known)

    def _units(self, column: str) -> pd.Series | None:
        return row_units(self.frame, self.known, column)

    def _path(self, column: str) -> Callable[[int], str | None]:
        return self._rows.path_in(self._rows.table[column])

    def _about(self, column: str) -> list[tuple[Signal, str]]:
        """The statements about a column, and whether about all of it or some."""
        declared = self._declared(column)
        signals = [each for each in self.answer.tables._parts.signals if each.rule != INFERRED]
        found = [(each, declared and _reach(each, declared)) for each in signals]
        return [(signal, reached) for signal, reached in found if reached]

    def _place(self, at: int, column: Column) -> ValuePlace | None:
        path = self.path(at, column)
        if path is None:
            return None
        return ValuePlace(path) if _is_counted(column) else self.answer.place(path)

    def _unit(self, at: int, column: str, declared: Column | None) -> str | None:
        units = self._of(self._units, column)
        if units is not None:
            return str(units.iloc[at])
        unit = None if declared is None else declared.unit
        if unit and unit.startswith("per `") and unit.strip("per `") in self.frame.columns:
            return shown(self.value(at, unit[5:-1]))
        return unit

    def _rate(self, at: int, column: str) -> tuple[str | None, tuple[Explanation, ...]]:
        """Explain a rate by its numerator and denominator, if the row has both and they agree."""
        over = _counts_of(self._declared(column))
        if over is None or not {*over} <= {*self.frame.columns}:
            return None, ()
        value, above, below = (self.value(at, name) for name in (column, *over))
        if not all(isinstance(count, int | float) for count in (above, below)):
            return None, ()
        parts = tuple(self.explain(at, part, parts=False) for part in over)
        words = f"{over[0]} / {over[1]} = {above} / {below}"
        if below == 0:
            return f"{words}: a rate of 0 answers does not exist", parts
        if not isinstance(value, int | float):
            return None, ()
        computed = above / below
        if abs(computed - value) > 1e-9 * max(abs(value), 1e-3) and round(computed, 6) != value:
            return None, ()
        return f"{words}, as the answer gives it", parts

    def _statements(
        self, at: int | None, column: str, place: ValuePlace | None
    ) -> Iterator[StatedAvailability]:
        for signal, reached in self._of(self._about, column):
            if self._concerns(signal, reached, at, place):
                yield _stated(signal)

    def _concerns(
        self, signal: Signal, reached: str, at: int | None, place: ValuePlace | None
    ) -> bool:
        """Whether a statement about a column is about a cell of it."""
        for condition in signal.rows:
            if at is None or condition.column not in self.frame.columns:
                continue  # any row may be meant
            if not condition.matches([self.value(at, condition.column)])[0]:
                return False
        if reached == "some":
            target = format_json_path(target_steps(signal.target or ""))
            return place is not None and bool(
                narrowest_path(place.path, {target: signal.availability})
            )
        return True

    def _why_missing(
        self,
        at: int,
        column: str,
        declared: Column | None,
        place: ValuePlace | None,
        state: str,
    ) -> str:
        """Explain why a cell has no value, by what the answer holds in its place."""
        stated = "" if state.startswith(("available", "unknown")) else f"; it is {state}"
        words = self._words_of_row(at, column)
        stated += f"; {words}" if words and words.split(" is ", 1)[1] not in stated else ""
        over = _counts_of(declared)
        if over and over[1] in self.frame.columns and self.value(at, over[1]) == 0:
            stated += f"; {over[1]} is 0, and a rate of 0 answers does not exist"
        if declared is None:
            return f"it is no column of the table {self.name}{stated}"
        if place is None:
            return f"no record of the answer holds this field for the row{stated}"
        held = self.answer.extra.get(place.path)
        if held is not None and place.text is not None:
            words = _KEPT.get(held[1], "the answer holds {text} here, which no column takes")
            return words.format(text=shown(place.text), dtype=declared.dtype) + stated
        if place.text == "null":
            return f"the answer holds null here{stated}"
        if place.text is not None:
            return (
                f"the answer holds {shown(place.text)} here, which is no {declared.dtype}{stated}"
            )
        return f"the answer has no such key here{stated}"

    def _words_of_row(self, at: int, column: str) -> str:
        """What the row's own state or reason says, if rows with a value never say it."""
        if column not in self.frame.columns:
            return ""
        lacking = self.frame[column].isna()
        for name in self.frame.columns:
            if name == column or not _OF_STATE.search(name):
                continue
            words = self.value(at, name)
            if isinstance(words, str) and not self.frame.loc[~lacking, name].eq(words).any():
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
        yield "the value is not in the answer as such: it was asked for, or stands for null"
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


OF_ANSWERS = ("overview", "prompts", "domains", "urls", "perception", "ranking", "fanouts", "gaps")
"""The sections whose numbers are counted from the answers of engines."""

_SHOWN = ("chat_id", "engine", "prompt", "ran_at", "outcome", "answer_text")
_MOST_CHATS = 20

_OWN = ("engine", "prompt_id", "prompt")
_BESIDE = {
    "brand": ("chat_mentions", "brand"),
    "source_domain": ("chat_citations", "source_domain"),
    "url": ("chat_citations", "url"),
}
"""By column of a row, the table of chats and the column that say which chats it is about."""


def with_samples(found: Explanation, finder: AnswerFinder) -> Explanation:
    """Add the sampled chats that an explanation's row is about, where they are at hand."""
    answer = found.answer or next(iter(found.sources), None)
    if answer is None or answer.section not in OF_ANSWERS:
        return found
    wanted = Source(host=answer.host, section=answer.section, scope=answer.scope)
    for tables in finder.sampled(wanted):
        if "chats" in tables:
            chats, used = _chosen(tables, found.row, "retriev" in found.column)
            return replace(found, samples=_listed(chats), samples_note=_note(tables, chats, used))
    return found


def _chosen(
    tables: Tables, row: Mapping[str, Any], retrieved: bool
) -> tuple[pd.DataFrame, list[str]]:
    """Select the chats that a row is about; return also the columns used.

    A source counts where it is cited; where it was ``retrieved`` only, if that is what is asked.
    """
    chats = tables["chats"]
    mask, used = np.ones(len(chats), bool), []
    for name, value in row.items():
        if name in _OWN and name in chats.columns:
            mask &= matching(chats[name], value)
        elif name == "date" and "ran_at" in chats.columns:
            mask &= np.array([str(plain(ran))[:10] == str(value)[:10] for ran in chats["ran_at"]])
        elif name in _BESIDE and _BESIDE[name][0] in tables:
            beside, column = _BESIDE[name]
            if column not in tables[beside].columns:
                continue
            about = matching(tables[beside][column], value)
            if "cited" in tables[beside].columns and not retrieved:
                about &= tables[beside]["cited"].fillna(False).to_numpy(bool)
            ids = tables[beside].loc[about, "chat_id"]
            mask &= chats["chat_id"].isin(ids).to_numpy(bool)
        else:
            continue
        used.append(f"{name} = {value}")
    return chats[mask], used


def _listed(chats: pd.DataFrame) -> tuple[Mapping[str, Any], ...]:
    names = [name for name in _SHOWN if name in chats.columns]
    rows = chats[names].head(_MOST_CHATS).itertuples(index=False, name=None)
    return tuple(dict(zip(names, map(plain, row), strict=True)) for row in rows)


def _note(tables: Tables, chats: pd.DataFrame, used: list[str]) -> str:
    about = f" with {', '.join(used)}" if used else ""
    listed = f", the first {_MOST_CHATS} listed" if len(chats) > _MOST_CHATS else ""
    return (
        f"{len(chats):,} of {len(tables['chats']):,} sampled chats{about}{listed}; the service "
        "samples and caps them: they are examples, and not all that was counted"
    )


_MOST_CELLS = 500
"""The most cells that are listed one by one."""

_WHY = {
    "new": "no column is declared for it",
    "wrong type": "it is not of the type of its column",
    "denied": "the answer states that it was not measured, so its cell is missing",
    "missing": "it is declared to mean that there is no value",
    "left out": "a filter of the declaration leaves its row out",
    "known": "it is known, and no row holds it",
    "envelope": "it is about the answer, not of its data",
    "new level": "it is no declared level of its category",
    "no answer": "the answer is an error, and has no rows",
}
"""Why no column took a value."""


def explain_path(tables: Tables, path: str) -> Explanation:
    """Explain where the values at a path went; see ``Tables.explain``."""
    is_key = path.endswith(KEY_SIGN)
    try:
        steps = parse_path(path.removesuffix(KEY_SIGN))
    except ValueError as error:
        problem = str(error)
    else:
        problem = ""
    if problem:
        raise ArgumentError(problem, argument="path")
    is_pattern = any(isinstance(step, Each | Entries) for step in steps)
    target = format_path(steps) if is_pattern else format_json_path(steps) + KEY_SIGN * is_key
    held = ((each.source, each.body) for each in tables._parts.held)
    answers = (ReadAnswer(of, tables, body, "in memory") for of, body in held if body is not None)
    answer = next(answers, None)
    place = None
    if not is_pattern:
        place = answer.place(target) if answer else ValuePlace(target)
    signals = tables._parts.signals
    found = Explanation(
        place.text if place else None,
        target or "$",
        operation="path",
        place=place,
        answer=answer.cited if answer else None,
        statements=tuple(
            _stated(each) for each in signals if each.path and _is_within(each.path, target)
        ),
    )
    if answer is not None and place is not None and place.start is None:
        return replace(found, missing="the answer has no such path")
    cells = [*_cells_at(tables, answer, target, is_pattern)]
    kept = [] if is_pattern else [*_kept(tables, target)]
    notes = [f"{len(cells):,} cells hold it or a part of it"] if len(cells) != 1 else []
    if kept:
        notes.append(f"{len(kept):,} values of it are kept in tables.extra")
    return replace(found, children=(*cells[:_MOST_CELLS], *kept[:_MOST_CELLS]), notes=(*notes,))


def _cells_at(
    tables: Tables, answer: ReadAnswer | None, path: str, is_pattern: bool
) -> Iterator[Explanation]:
    """Yield the cells that hold the value at a path, or values below it."""
    inside = path.removesuffix(KEY_SIGN)
    is_whole = not inside.removeprefix("$").removeprefix(".")
    for name, rows in tables._parts.rows.items():
        cells = None if answer is None else TableCells(answer, name)
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
