"""Explain a JSON path of an answer: which cells hold its values, or why none does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from aatoolkit.errors import ArgumentError
from aatoolkit.frame.explain.cells import TableCells
from aatoolkit.frame.explain.evidence import ReadAnswer
from aatoolkit.frame.explain.explanation import Explanation, StatedAvailability, ValuePlace
from aatoolkit.jsontree.paths import (
    KEY_SIGN,
    Each,
    Entries,
    format_json_path,
    format_path,
    parse_path,
)
from aatoolkit.metadata.attrs import metadata_of
from aatoolkit.normalizer.column_availability import reach
from aatoolkit.normalizer.tables import Tables

_MOST = 500
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
    shown = format_path(steps) if is_pattern else format_json_path(steps) + KEY_SIGN * is_key
    answer = _answer(tables)
    place = None if is_pattern else _place(answer, shown)
    found = Explanation(
        place.text if place else None,
        shown or "$",
        operation="path",
        place=place,
        answer=answer.cited if answer else None,
        statements=(*_statements(tables, shown),),
    )
    if answer is not None and place is not None and place.start is None:
        return replace(found, missing="the answer has no such path")
    cells = [*_cells(tables, answer, shown, is_pattern)]
    kept = [] if is_pattern else [*_kept(tables, shown)]
    notes = [f"{len(cells):,} cells hold it or a part of it"] if len(cells) != 1 else []
    if kept:
        notes.append(f"{len(kept):,} values of it are kept in tables.extra")
    return replace(found, children=(*cells[:_MOST], *kept[:_MOST]), notes=(*notes,))


def _answer(tables: Tables) -> ReadAnswer | None:
    for each in tables._parts.held:
        body = each.body
        if body is not None:
            return ReadAnswer(each.source, tables, body, "in memory")
    return None


def _place(answer: ReadAnswer | None, path: str) -> ValuePlace:
    span = None if answer is None else answer.span(path)
    if span is None or answer is None:
        return ValuePlace(path)
    return ValuePlace(path, *span, answer.body[slice(*span)].decode(errors="replace"))


def _cells(
    tables: Tables, answer: ReadAnswer | None, path: str, is_pattern: bool
) -> Iterator[Explanation]:
    """Yield the cells that hold the value at a path, or values below it."""
    inside = path.removesuffix(KEY_SIGN)
    target = inside.removeprefix("$").removeprefix(".")
    for name, rows in tables._parts.rows.items():
        frame = tables[name]
        cells = TableCells(answer, name, frame, metadata_of(frame)) if answer else None
        for column in rows.table.columns:
            if target and reach(inside, column.pattern) is None:
                continue
            if cells is None:
                yield Explanation(None, f"{name}.{column.name}", operation="column")
                continue
            if is_pattern or not target:
                doc = column.doc or None
                yield Explanation(None, f"{name}.{column.name}", meaning=doc, operation="column")
                continue
            for at in range(len(frame)):
                there = cells.path(at, column)
                if there is not None and _is_within(there, path):
                    found = cells.explain(at, column.name, parts=False)
                    yield replace(found, column=f"{name}.{column.name}")


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


def _statements(tables: Tables, path: str) -> Iterator[StatedAvailability]:
    """Yield the statements whose evidence is at a path or below it."""
    for signal in tables._parts.signals:
        if signal.path and _is_within(signal.path, path):
            state = signal.availability
            yield StatedAvailability(
                str(state.status),
                state.cause and str(state.cause),
                state.reason,
                signal.target,
                " and ".join(map(str, signal.rows)) or None,
                signal.path,
                signal.rule,
                signal.raw,
            )
