"""Codes and masks: numbers in the place of labels elsewhere, and flags for values that are none.

A label is looked up only where the codes cover all labels of the only dimensions that fit: a wrong
label is worse than a number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain, compress
from math import prod
from typing import Any

import numpy as np

from aatoolkit._util.lexicon import words as lexicon
from aatoolkit._util.text import fresh, json_text
from aatoolkit.jsontree.paths import Coded, Each, Entries, Field, Position, Step, format_path
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
    cubes = [dict(_cubes(document, (), {})) for document in documents]
    legends: set[str] = set()
    for relation in relations if any(cubes) else ():
        own = [column.source for column in relation.columns if not column.label]
        keys = [column for column in relation.columns if column.source[0] == "@"]
        for key in keys:
            legends |= _add_labels(relation, key, cubes, is_cube=False)
        is_flat = own == ["."] and sum(isinstance(s, Each | Entries) for s in relation.steps) == 1
        if is_flat and all(key in relation.columns for key in keys):
            legends |= _add_labels(relation, keys[0] if keys else None, cubes, is_cube=True)
    for relation in relations:
        relation.is_legend = any(relation.path.startswith(path) for path in legends)


def _add_labels(
    relation: Relation,
    key: ColumnFinding | None,
    cubes: list[dict[Path, Dimensions]],
    *,
    is_cube: bool,
) -> set[str]:
    """Add labels in the place of codes; return the path to the only dimensions that these cover."""
    rows = [np.flatnonzero(relation.response == at).tolist() for at in range(len(cubes))]
    fitting = {}
    for steps in cubes[0]:
        labels = [
            _labels_of([key.values[row] for row in at] if key else [*range(len(at))], cube, is_cube)
            for at, cube in zip(rows, (cube.get(steps) for cube in cubes), strict=True)
            if at
        ]
        if labels and all(labels):
            fitting[steps] = [[*chain(*values)] for values in zip(*labels, strict=True)]
    named = [steps for steps in fitting if "dim" in format_path(steps).lower()]
    named = named or [
        steps for steps, texts in fitting.items() if sum(len({*row}) > 1 for row in texts) > 1
    ]
    if len(named) != 1:
        return set()
    if key is not None:
        relation.columns.remove(key)
    dimensions, sizes = cubes[0][named[0]]
    for part, (name, _, source_of) in enumerate(dimensions):
        code = f"{json_text(key.source if key else '#0')}:{part}"
        source = source_of(f"{code}/{json_text(sizes)}" if is_cube else code)
        path, values = pattern_of(relation.rows, source), fitting[named[0]][part]
        label = ColumnFinding(fresh(name, relation.names), source, path, values, label=True)
        relation.add(label, part)
    return {format_path(step for step in named[0] if isinstance(step, Field))} - {""}


def _labels_of(codes: list[Any], cube: Dimensions | None, is_cube: bool) -> list[list[str]]:
    """Return the labels that codes mean, for each dimension; none if they do not cover them."""
    labels, sizes = cube or ([], "")
    lengths = [len(texts) for _, texts, _ in labels]
    steps = [Coded("[", "", part) for part in range(len(labels))]
    if is_cube:
        places = [[step.place(code, lengths) for code in codes] for step in steps]
        is_whole = type(codes[0]) is str or len(codes) == prod(lengths)
        is_fitting = is_whole and sizes != "" and -1 not in places[0]
    else:
        places = [[step.place(code) for code in codes] for step in steps]
        has_more = Coded("[", "", len(labels)).place(codes[0]) >= 0
        is_fitting = not has_more and [{*p} for p in places] == [{*range(n)} for n in lengths]
    pairs = zip(labels, places, strict=True) if is_fitting else ()
    return [[texts[place] for place in row] for (_, texts, _), row in pairs]


# --- dimensions in a response -------------------------------------------------------------------


def _cubes(value: Any, path: Path, around: dict[str, Any]) -> Iterator[tuple[Path, Dimensions]]:
    """Yield what may be the dimensions of a cube: records that hold labels, in an order."""
    members: list[tuple[Step, Any]] = []
    if isinstance(value, dict) and len(value) <= _MOST_FIELDS:
        members = [(Field(name), inner) for name, inner in value.items()]
    elif isinstance(value, list) and len(value) <= _MOST_FIELDS:
        members = [(Position(at), inner) for at, inner in enumerate(value)]
    is_ordered = isinstance(value, list) or [*value] in around.values() if members else False
    results = [_labels(inner, (*path, step)) for step, inner in members] if is_ordered else []
    labels = [result for result in results if result is not None]
    if labels and len(labels) == len(members):
        lengths = [len(texts) for _, texts, _ in labels]
        beside = [name for name, sizes in around.items() if sizes == lengths]
        sizes = [format_path((*path[:-1], Field(name), Each())) for name in beside]
        yield path, (labels, next(iter(sizes), ""))
    for step, inner in members:
        yield from _cubes(inner, (*path, step), value if isinstance(value, dict) else {})


def _labels(record: Any, steps: Path) -> Labels | None:
    """Find the labels that a record holds: a list, or a map from keys to codes."""
    records = [(steps, record)] if isinstance(record, dict) else []
    records += [
        ((*steps, Field(n)), v) for _, r in records for n, v in r.items() if type(v) is dict
    ]
    last, words = steps[-1], [record.get(name) for name in ("id", "name")] if records else []
    name = snake(last.name if isinstance(last, Field) else str(next(filter(None, words), "code")))
    for above, fields in records:
        for field, inner in fields.items():
            path, texts, signs = (*above, Field(field)), inner, ("[", "]")
            if type(inner) is list and {*map(type, inner)} == {dict}:
                keys = sorted(inner[0], key=lambda key: snake(key) not in lexicon("naming"))
                for key in reversed(keys):
                    labels = [item.get(key) for item in inner]
                    if _are_labels(labels):
                        texts, signs = labels, ("[", f"].{format_path((Field(key),))}")
            elif type(inner) is dict and {*map(type, inner.values())} == {int}:
                texts, signs = sorted(inner, key=inner.__getitem__), ("{~", "}")
                texts *= [inner[key] for key in texts] == [*range(len(inner))]
            if _are_labels(texts):
                for other, by_key in fields.items():
                    names: Any = type(by_key) is dict and [by_key.get(text) for text in texts]
                    if _are_labels(names):
                        return name, names, partial(_source, path, signs, (*above, Field(other)))
                return name, texts, partial(_source, path, signs, ())
    return None


def _source(path: Path, signs: Sequence[str], by_key: Path, code: str) -> str:
    """The source of the label of a code, perhaps by a key that has the code."""
    source = f"$.{format_path(path)}{signs[0]}={code}{signs[1]}"
    return f"$.{format_path(by_key)}{{={json_text(source)}}}" if by_key else source


def _are_labels(values: Any) -> bool:
    """Whether values are a list of different texts."""
    is_text = isinstance(values, list) and {*map(type, values)} == {str}
    return is_text and len({*values}) == len(values)


# --- masks --------------------------------------------------------------------------------------


def apply_masks(relation: Relation) -> None:
    """Take flags beside values, as in a validity mask, for which of these values are none.

    All that they deny must look like it: 0, or empty.
    """
    for mask in [*relation.columns]:
        holder, field, is_list = _field_of(mask)
        words = [word for word in tokens(field) if word not in lexicon("mask", "shell")]
        stem = [word for word in words if word not in lexicon("valid_mask", "denying_mask")]
        denies = not lexicon("denying_mask").isdisjoint(words)
        flags = (0, 1, None, MISSING) if is_list else (False, True)
        is_mask = len(stem) < len(words) or (is_list and field[:3] == "has" and not stem)
        if not is_mask or any(type(flag) is float or flag not in flags for flag in mask.values):
            continue
        beside = [
            column
            for column in relation.columns
            for around, name, is_item in [_field_of(column)]
            if column is not mask and (around, is_item) == (holder, is_list)
            and (list(tokens(name)) == stem if stem else is_list)
        ]  # fmt: skip
        is_none = [flag == denies for flag in mask.values]
        hidden = chain(*(compress(column.values, is_none) for column in beside))
        if beside and all(value in _NOTHING for value in hidden):
            relation.columns.remove(mask)
            for column in beside:
                column.valid, column.label = "!" * denies + mask.source, False
                pairs = zip(column.values, is_none, strict=True)
                column.values = [MISSING if none else value for value, none in pairs]


def _field_of(column: ColumnFinding) -> tuple[str, str, bool]:
    """Where the last field on the path of a column is, its name, and whether it is a list."""
    holder, _, name = column.path.rpartition(".")
    return holder, name.removesuffix("[]"), name.endswith("[]")
