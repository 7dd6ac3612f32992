"""Codes and masks: numbers in the place of labels elsewhere, and flags for values that are none.

A label is looked up only where the codes cover all labels of the only dimensions that fit: a wrong
label is worse than a number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from math import prod
from typing import Any

import numpy as np

from aatoolkit._util.lexicon import words as lexicon
from aatoolkit._util.text import fresh
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

_MOST_DIMENSIONS, _MOST_FIELDS = 12, 60
_NOTHING = (0, "", "0", None, MISSING)

Path = tuple[Step, ...]


@dataclass(frozen=True)
class Labels:
    """The labels of a dimension, in the order of their codes.

    Attributes
    ----------
    name : str
        What the dimension is called.
    steps, inside : tuple of Step
        The path to the list, or the map from keys to codes, and that from an item to its text.
    texts : list of str
        The labels.
    form : str
        As for `Coded`.
    by_key : tuple of Step, optional
        The path to a map from these keys to labels.
    """

    name: str
    steps: Path
    inside: Path
    texts: list[str]
    form: str = "["
    by_key: Path | None = None

    def source(self, codes: str, part: int | None, sizes: str | None) -> str:
        """The source of the label of a code."""
        step = Coded(self.form, codes, part, sizes)
        source = f"$.{format_path((*self.steps, step, *self.inside))}"
        if self.by_key is not None:
            source = f"$.{format_path((*self.by_key, Coded('{', source)))}"
        return source


@dataclass(frozen=True)
class Dimensions:
    """The dimensions of a cube, in order, and where it says their sizes, if it does."""

    steps: Path
    labels: list[Labels]
    sizes: str
    is_stated: bool

    def places(self, codes: list[list[Any]], *, is_cube: bool) -> list[list[int]]:
        """Which label of each dimension codes mean; nothing if they do not cover all of them."""
        sizes, count = [len(labels.texts) for labels in self.labels], len(self.labels)
        is_tuple = len(codes) > 1
        steps = [Coded("[", "", 0 if is_tuple else part) for part in range(count)]
        codes = codes[:count] if is_tuple else codes * count
        places = [
            [step.place(code, sizes if is_cube else ()) for code in values]
            for step, values in zip(steps, codes, strict=False)
        ]
        ranges = [{*range(size)} for size in sizes]
        is_full = [{*row} for row in places] == ranges
        if is_cube:
            is_full = sum(size > 1 for size in sizes) > 1 and -1 not in places[0]
            is_full &= self.is_stated or (bool(self.sizes) and len(places[0]) == prod(sizes))
        elif is_tuple:
            is_full &= len({*sizes}) == count and len({*zip(*places, strict=True)}) == len(
                places[0]
            )
        else:
            is_full &= Coded("[", "", count).place(codes[0][0]) < 0
        return places if is_full else []


def look_up(relations: Sequence[Relation], documents: Sequence[Any]) -> None:
    """Replace codes by labels: keys such as ``0:2``, places in tuples, and in the list of a cube.

    Parameters
    ----------
    relations : sequence of Relation
        Columns of labels are added to them, and those of codes removed.
    documents : sequence
        The responses.
    """
    cubes = [[*_cubes(document, ())] for document in documents]
    shapes = [{cube.steps: cube for cube in reversed(inner)} for inner in cubes]
    for relation in relations if any(shapes) else ():
        own = [column.source for column in relation.columns if not column.label]
        for column in [*relation.columns]:
            if column.source[0] == "@" and column.label:
                _add_labels(relations, relation, [column], shapes)
        places = [c for c in relation.columns if c.source in ("[0]", "[1]")]
        if len(places) == 2:
            _add_labels(relations, relation, places, shapes)
        keys = [column for column in relation.columns if column.label]
        is_single = sum(isinstance(step, Each | Entries) for step in relation.steps) == 1
        if own == ["."] and is_single and [key.source for key in keys] in ([], ["@0"]):
            _add_labels(relations, relation, keys, shapes, is_cube=True)


def _add_labels(
    relations: Sequence[Relation],
    relation: Relation,
    columns: list[ColumnFinding],
    shapes: list[dict[Path, Dimensions]],
    *,
    is_cube: bool = False,
) -> None:
    """Add the labels of the only dimensions that codes cover, in the place of the codes."""
    fitting: dict[Path, list[list[str]]] = {}
    for steps, first in shapes[0].items():
        texts: list[list[str]] = [[] for _ in first.labels]
        for at, cubes in enumerate(shapes):
            rows = np.flatnonzero(relation.response == at).tolist()
            cube = cubes.get(steps, first)
            codes = [[c.values[row] for row in rows] for c in columns] or [[*range(len(rows))]]
            is_there = steps in cubes and len(cube.labels) == len(first.labels)
            places = cube.places(codes, is_cube=is_cube) if rows and is_there else []
            for part, row in enumerate(places):
                texts[part] += [cube.labels[part].texts[place] for place in row]
        if len(texts[0]) == len(relation):
            fitting[steps] = texts
    named = [steps for steps in fitting if "dim" in format_path(steps).lower()]
    named = named or [steps for steps in fitting if len(fitting[steps]) > 1]
    if len(named) != 1:
        return
    cube = shapes[0][named[0]]
    around = [step for step in cube.steps if isinstance(step, Field)]
    for other in relations:
        fields = [step for step in other.steps if isinstance(step, Field)]
        other.is_legend |= fields[: len(around)] == around != []
    is_tuple = len(columns) > 1
    for column in columns:
        relation.columns.remove(column)
    for part, (labels, values) in enumerate(zip(cube.labels, fitting[named[0]], strict=True)):
        code = columns[part if is_tuple else 0].source if columns else "#0"
        sizes = cube.sizes if is_cube else None
        source = labels.source(code, None if is_tuple else part, sizes)
        path = format_path((*labels.steps, Each(), *labels.inside))
        name = fresh(snake(labels.name), relation.names)
        relation.add(ColumnFinding(name, source, path, values, label=True), part)


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


def _cubes(value: Any, path: Path) -> Iterator[Dimensions]:
    """Yield what may be the dimensions of a cube: records of labels, in order."""
    if isinstance(value, dict) and len(value) <= _MOST_FIELDS:
        named = {name: _labels(inner, (*path, Field(name)), name) for name, inner in value.items()}
        axes = [labels for labels in named.values() if labels is not None]
        if len(axes) == 2:
            yield Dimensions(path, axes, "", False)
        for name, order in value.items():
            yield from _in_order(value, path, order)
            yield from _cubes(value[name], (*path, Field(name)))
    elif isinstance(value, list) and len(value) <= _MOST_DIMENSIONS:
        members = [_labels(item, (*path, Position(at)), "") for at, item in enumerate(value)]
        labels = [member for member in members if member is not None]
        if labels and len(labels) == len(value):
            inner = {format_path((*path, Each(), *each.steps[len(path) + 1 :])) for each in labels}
            sizes = inner.pop()
            yield Dimensions(path, labels, "" if inner else sizes, False)
        for at, item in enumerate(value):
            yield from _cubes(item, (*path, Position(at)))


def _in_order(value: dict[str, Any], path: Path, order: Any) -> Iterator[Dimensions]:
    """Yield the dimensions that a list of names puts in order."""
    if not _are_labels(order) or len(order) < 2:
        return
    for name, holder in [("", value), *value.items()]:
        steps = (*path, Field(name)) if name else path
        if isinstance(holder, dict) and {*order} <= {*holder}:
            labels = [_labels(holder[key], (*steps, Field(key)), key) for key in order]
            lengths = [len(each.texts) if each is not None else 0 for each in labels]
            for size in [key for key, sizes in value.items() if sizes == lengths and all(lengths)]:
                sizes = format_path((*path, Field(size), Each()))
                yield Dimensions(steps, [each for each in labels if each], sizes, True)


def _labels(record: Any, steps: Path, name: str, depth: int = 2) -> Labels | None:
    """Find the labels that a record holds: a list, or a map from keys to codes."""
    is_small = depth and isinstance(record, dict) and len(record) <= _MOST_FIELDS
    fields = record if is_small else {}
    names = [fields[key] for key in ("id", "code", "name") if isinstance(fields.get(key), str)]
    name = name or next(iter(names), "dimension")
    for field, inner in fields.items():
        path, keys, form = (*steps, Field(field)), inner, "["
        if isinstance(inner, list) and inner and all(isinstance(item, dict) for item in inner):
            for key in sorted(inner[0], key=lambda key: snake(key) not in lexicon("naming")):
                texts = [item.get(key) for item in inner]
                if _are_labels(texts):
                    return Labels(name, path, (Field(key),), texts)
        if isinstance(inner, dict) and {*map(type, inner.values())} == {int}:
            keys, form = sorted(inner, key=inner.__getitem__), "{~"
            keys *= [inner[key] for key in keys] == [*range(len(keys))]
        if _are_labels(keys):
            for other, map_ in fields.items():
                labels = [map_.get(key) for key in keys] if isinstance(map_, dict) else []
                if _are_labels(labels):
                    return Labels(name, path, (), labels, form, (*steps, Field(other)))
            return Labels(name, path, (), keys, form)
    deeper = (
        _labels(inner, (*steps, Field(field)), name, depth - 1)
        for field, inner in fields.items()
        if depth > 1
    )
    return next((labels for labels in deeper if labels is not None), None)


def _are_labels(values: Any) -> bool:
    """Whether values are a list of different texts."""
    is_text = isinstance(values, list) and values and all(type(text) is str for text in values)
    return bool(is_text) and len({*values}) == len(values)
