"""Codes and masks: numbers in the place of labels elsewhere, and flags for values that are none.

A label is looked up only where the codes cover all labels of the only dimensions that fit: a wrong
label is worse than a number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import compress
from math import prod
from typing import Any

import numpy as np

from aatoolkit._util.lexicon import words as lexicon
from aatoolkit._util.text import fresh, json_text
from aatoolkit.jsontree.paths import (
    Coded,
    Each,
    Entries,
    Field,
    Position,
    Step,
    format_path,
    parse_path,
)
from aatoolkit.jsontree.vectors import MISSING
from aatoolkit.sections.column import snake
from aatoolkit.sections.inference.relations import ColumnFinding, Relation
from aatoolkit.sections.inference.words import tokens
from aatoolkit.sections.section import pattern_of

_MOST_FIELDS = 60
_NOTHING = (0, "", "0", None, MISSING)

Path = tuple[Step, ...]
Labels = tuple[str, list[str], Callable[[str], str]]
"""What a dimension is called, its labels in the order of their codes, and the source of one."""

Dimensions = tuple[list[Labels], str]
"""The dimensions of a cube, in order, and the path to their sizes; empty where there is none."""


def look_up(relations: Sequence[Relation], documents: Sequence[Any]) -> None:
    """Replace codes by labels: keys such as ``0:2``, and places in the list of a cube.

    Parameters
    ----------
    relations : sequence of Relation
        Columns of labels are added to them, and those of codes removed.
    documents : sequence
        The responses.
    """
    cubes = [dict(reversed([*_cubes(document, ())])) for document in documents]
    for relation in relations if any(cubes) else ():
        own = [column.source for column in relation.columns if not column.label]
        keys = [column for column in relation.columns if column.source[0] == "@"]
        is_flat = own == ["."] and sum(isinstance(s, Each | Entries) for s in relation.steps) == 1
        candidates: list[tuple[ColumnFinding | None, bool]] = [(key, False) for key in keys]
        if is_flat and len(keys) < 2:
            candidates.append((keys[0] if keys else None, True))
        for column, is_cube in candidates:
            if column is None or column in relation.columns:
                steps = _add_labels(relation, column, cubes, is_cube)
                around = [step for step in steps if isinstance(step, Field)]
                for other in relations if around else ():
                    fields = [step for step in other.steps if isinstance(step, Field)]
                    other.is_legend |= fields[: len(around)] == around


def _add_labels(
    relation: Relation,
    column: ColumnFinding | None,
    cubes: list[dict[Path, Dimensions]],
    is_cube: bool,
) -> Path:
    """Add labels in the place of codes; return the path to the only dimensions that these cover."""
    fitting: dict[Path, list[list[str]]] = {}
    for steps, (labels, _) in cubes[0].items():
        texts: list[list[str]] = [[] for _ in labels]
        for at, inner in enumerate(cubes):
            rows = np.flatnonzero(relation.response == at).tolist()
            codes = [column.values[row] for row in rows] if column else [*range(len(rows))]
            if rows and steps in inner:
                labelled = _labelled(codes, inner[steps], is_cube)
                for values, more in zip(texts, labelled, strict=False):
                    values += more
        if {*map(len, texts)} == {len(relation)}:
            fitting[steps] = texts
    named = [steps for steps in fitting if "dim" in format_path(steps).lower()]
    named = named or [steps for steps in fitting if len(fitting[steps]) > 1]
    if len(named) != 1:
        return ()
    if column is not None:
        relation.columns.remove(column)
    labels, sizes = cubes[0][named[0]]
    end = f"/{json_text(sizes)}" if is_cube else ""
    for part, (name, _, source_of) in enumerate(labels):
        source = source_of(f"{json_text(column.source if column else '#0')}:{part}{end}")
        path, values = pattern_of(relation.rows, source), fitting[named[0]][part]
        name = fresh(snake(name), relation.names)
        relation.add(ColumnFinding(name, source, path, values, label=True), part)
    return named[0]


def _labelled(codes: list[Any], cube: Dimensions, is_cube: bool) -> list[list[str]]:
    """Return the labels that codes mean, for each dimension; none if they do not cover them."""
    labels, sizes = cube
    lengths = [len(texts) for _, texts, _ in labels]
    steps = [Coded("[", "", part) for part in range(len(labels))]
    within = lengths if is_cube else ()
    places = [[step.place(code, within) for code in codes] for step in steps]
    if is_cube:
        is_whole = type(codes[0]) is str or len(codes) == prod(lengths)
        is_fitting = is_whole and sizes != "" and -1 not in places[0]
    else:
        has_more = Coded("[", "", len(labels)).place(codes[0]) >= 0
        is_fitting = not has_more and [{*p} for p in places] == [{*range(n)} for n in lengths]
    pairs = zip(labels, places, strict=True) if is_fitting else ()
    return [[texts[place] for place in row] for (_, texts, _), row in pairs]


# --- masks --------------------------------------------------------------------------------------


def apply_masks(relation: Relation) -> None:
    """Take flags beside values, as in a validity mask, for which of these values are none.

    All that they deny must look like it: 0, or empty.
    """
    for mask in [*relation.columns]:
        around, field, inner = _field_of(mask)
        words = [word for word in tokens(field) if word not in lexicon("mask", "shell")]
        stem = [word for word in words if word not in lexicon("valid_mask", "denying_mask")]
        denies = not lexicon("denying_mask").isdisjoint(words)
        flags = (0, 1, None, MISSING) if inner else (False, True)
        is_mask = len(stem) < len(words) or (inner and tokens(field)[:1] == ["has"] and not stem)
        if not is_mask or any(type(flag) is float or flag not in flags for flag in mask.values):
            continue
        beside = [
            column
            for column in relation.columns
            for steps, name, rest in [_field_of(column)]
            if column is not mask and (steps, rest) == (around, inner)
            and (tokens(name) == stem if stem else inner)
        ]  # fmt: skip
        is_none = [flag == denies for flag in mask.values]
        hidden = [[*compress(column.values, is_none)] for column in beside]
        if beside and all(value in _NOTHING for values in hidden for value in values):
            relation.columns.remove(mask)
            for column in beside:
                column.valid, column.label = "!" * denies + mask.source, False
                pairs = zip(column.values, is_none, strict=True)
                column.values = [MISSING if none else value for value, none in pairs]


def _field_of(column: ColumnFinding) -> tuple[Path, str, Path]:
    """The last field on the path of a column, with the steps before and after it."""
    steps = parse_path(column.path)
    fields = [(at, step.name) for at, step in enumerate(steps) if isinstance(step, Field)]
    at, name = fields[-1] if fields else (0, "")
    return steps[:at], name, steps[at + 1 :]


# --- dimensions in a response -------------------------------------------------------------------


def _cubes(value: Any, path: Path) -> Iterator[tuple[Path, Dimensions]]:
    """Yield what may be the dimensions of a cube: records of labels, in order."""
    if isinstance(value, dict) and len(value) <= _MOST_FIELDS:
        for order in value.values():
            for name in value if _are_labels(order) else ():
                inner, steps = value[name], (*path, Field(name))
                if isinstance(inner, dict) and {*order} <= {*inner}:
                    yield from _cube(
                        value, path, steps, [(inner[key], Field(key), key) for key in order]
                    )
        for name, inner in value.items():
            yield from _cubes(inner, (*path, Field(name)))
    elif isinstance(value, list) and len(value) <= 12:
        yield from _cube(
            {}, path, path, [(item, Position(at), "") for at, item in enumerate(value)]
        )
        for at, item in enumerate(value):
            yield from _cubes(item, (*path, Position(at)))


def _cube(
    around: dict[str, Any], path: Path, steps: Path, members: list[Any]
) -> Iterator[tuple[Path, Dimensions]]:
    """Yield the dimensions that all of some records are, with the sizes that stand beside them."""
    labels = [_labels(item, (*steps, step), name) for item, step, name in members]
    dimensions = [inner for inner in labels if inner is not None]
    if len(dimensions) == len(labels) > 0:
        lengths = [len(texts) for _, texts, _ in dimensions]
        sizes = [
            format_path((*path, Field(key), Each())) for key in around if around[key] == lengths
        ]
        yield steps, (dimensions, next(iter(sizes), ""))


def _labels(record: Any, steps: Path, name: str, depth: int = 2) -> Labels | None:
    """Find the labels that a record holds: a list, or a map from keys to codes."""
    fields = record if isinstance(record, dict) and len(record) <= _MOST_FIELDS else {}
    words = [fields[key] for key in ("id", "code", "name") if isinstance(fields.get(key), str)]
    name = name or next(iter(words), "dimension")
    for field, inner in fields.items():
        texts: Any = inner
        signs, path = ("[", "]", ""), (*steps, Field(field))
        if isinstance(inner, list) and inner and all(isinstance(item, dict) for item in inner):
            for key in sorted(inner[0], key=lambda key: snake(key) not in lexicon("naming")):
                if not _are_labels(texts):
                    texts = [item.get(key) for item in inner]
                    signs = "[", "]", f".{format_path((Field(key),))}"
        elif isinstance(inner, dict) and {*map(type, inner.values())} == {int}:
            texts, signs = sorted(inner, key=inner.__getitem__), ("{~", "}", "")
            texts *= [inner[key] for key in texts] == [*range(len(inner))]
        if _are_labels(texts):
            for other, by_key in fields.items():
                labels: Any = isinstance(by_key, dict) and [by_key.get(text) for text in texts]
                if _are_labels(labels):
                    return name, labels, partial(_source, path, signs, (*steps, Field(other)))
            return name, texts, partial(_source, path, signs, ())
    if depth == 1:
        return None
    below = (_labels(fields[key], (*steps, Field(key)), name, depth - 1) for key in fields)
    return next((labels for labels in below if labels is not None), None)


def _source(path: Path, signs: Sequence[str], by_key: Path, code: str) -> str:
    """The source of the label of a code, perhaps by a key that has the code."""
    source = f"$.{format_path(path)}{signs[0]}={code}{signs[1]}{signs[2]}"
    return f"$.{format_path(by_key)}{{={json_text(source)}}}" if by_key else source


def _are_labels(values: Any) -> bool:
    """Whether values are a list of different texts."""
    is_text = isinstance(values, list) and values and all(type(text) is str for text in values)
    return bool(is_text) and len({*values}) == len(values)
