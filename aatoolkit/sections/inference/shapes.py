"""Find the tables of a section: rows in lists, in maps, in grids and in chart blocks."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from aatoolkit.jsontree.paths import Each, Entries, Field, Step, format_path
from aatoolkit.jsontree.vectors import MISSING, Vector
from aatoolkit.sections.inference import charts, series
from aatoolkit.sections.inference.maps import map_key, root_key
from aatoolkit.sections.inference.relations import (
    Located,
    Measure,
    Relation,
    RowsCall,
    fresh,
    places_of,
    rows_call,
)
from aatoolkit.sections.inference.vocabulary import Vocabulary, snake, words_of

_WRAPPERS = words_of(
    """
    data items item rows row results result records record list entries edges edge node nodes
    attributes values value elements response payload content body
    """
)
_WIDEST_TUPLE = 8


def find_relations(
    documents: Sequence[Any],
    section: str,
    vocabulary: Vocabulary,
    passed_over: Collection[str] = (),
) -> list[Relation]:
    """Find every table that the answers of a section hold, enclosing ones first.

    Parameters
    ----------
    documents : sequence
        Decoded answers of one section; more of them show more fields.
    section : str
        The section's name, from which tables are named.
    vocabulary : Vocabulary
        What the keys of maps may be.
    passed_over : collection of str
        Fields of the answers that are in no table.

    Examples
    --------
    >>> answer = {"rows": [{"host": "a.example", "hits": 3}], "at": 1}
    >>> [(one.name, one.path) for one in find_relations([answer], "crawl", Vocabulary({}))]
    [('crawl_facts', '$'), ('crawl', 'rows[]')]
    """
    finder = Finder(section, vocabulary, list(documents), passed_over)
    root = Vector(list(documents))
    numbers = np.arange(len(documents))
    finder.rows(Located(root, (), (), None, np.empty(0, np.intp), numbers))
    return finder.found


class Finder:
    """The search for relations in the answers of one section; ``found`` holds them."""

    def __init__(
        self,
        section: str,
        vocabulary: Vocabulary,
        documents: list[Any],
        passed_over: Collection[str] = (),
    ) -> None:
        self.passed_over = frozenset(passed_over)
        self.section = section
        self.vocabulary = vocabulary
        self.found: list[Relation] = []
        self.taken: set[str] = set()
        self.headers = {
            path: value for one in documents for path, value in charts.headers(one) if value
        }

    def rows(self, rows: Located, title: str = "") -> None:
        """Dispatch rows by their type: objects, maps, lists or plain values."""
        values = [one for one in rows.vector.values if one is not MISSING and one is not None]
        kinds = set(map(type, values))
        if dict in kinds:
            objects = [one for one in values if type(one) is dict]
            # What holds the objects named their keys already, if it named any.
            if rows.steps:
                key = map_key(objects, "", self.vocabulary, top=False)
            else:
                key = root_key(objects, self.vocabulary)
            if key is not None:
                self.rows(self._entries(rows, rows.vector, rows.steps, key, None), title)
            else:
                self._objects(self._only(rows, dict), title)
        if list in kinds:
            inner = rows.vector.each()
            below = self._each(rows, inner, rows.steps)
            held = {type(one) for one in inner.values if one is not None}
            if held and not held & {dict, list} and rows.steps:
                if not self._tuples(rows, values, title):
                    self.rows(below, title)
            else:
                self.rows(below, title)
        if kinds and not kinds & {dict, list}:
            # Plain values beside objects or lists are no table; they stay in ``extra``.
            relation = self.relation(rows, "values", title)
            name = snake(title) if title else "value"
            relation.columns.append(Measure(name, ".", relation.path, rows.vector.values))

    def _only(self, rows: Located, kind: type) -> Located:
        """Select the rows of one type."""
        keep = [at for at, value in enumerate(rows.vector.values) if type(value) is kind]
        if len(keep) == len(rows.vector.values) or not rows.steps:
            return rows
        places = np.array(keep, np.intp)
        return replace(
            rows,
            vector=Vector([rows.vector.values[at] for at in keep]),
            labels=tuple((name, tuple(held[at] for at in keep)) for name, held in rows.labels),
            above=rows.above[places] if len(rows.above) else rows.above,
            answer=rows.answer[places],
        )

    def _each(
        self, rows: Located, inner: Vector, steps: tuple[Step, ...], parent: Relation | None = None
    ) -> Located:
        at = places_of(inner)
        above = at if parent is not None else (rows.above[at] if len(rows.above) else at)
        return Located(
            inner,
            (*steps, Each()),
            tuple((name, tuple(held[i] for i in at.tolist())) for name, held in rows.labels),
            parent or rows.parent,
            above,
            rows.answer[at],
        )

    def _entries(
        self,
        rows: Located,
        objects: Vector,
        steps: tuple[Step, ...],
        key: str,
        parent: Relation | None,
    ) -> Located:
        inner = objects.entries()
        at = places_of(inner)
        above = at if parent is not None else (rows.above[at] if len(rows.above) else at)
        labels = tuple((name, tuple(held[i] for i in at.tolist())) for name, held in rows.labels)
        name = fresh(key, {label for label, _ in labels})
        labels = (*labels, (name, tuple(inner.labels or ())))
        relation = parent or rows.parent
        return Located(inner, (*steps, Entries()), labels, relation, above, rows.answer[at])

    def relation(self, rows: Located, shape: str, title: str) -> Relation:
        """Make a relation of rows, with the keys of maps as its first columns."""
        code = rows_call(rows.steps, tuple(name for name, _ in rows.labels))
        relation = Relation(
            self.title(rows.steps, title),
            shape if shape != "objects" else _shape(rows.steps),
            rows.steps,
            code,
            [
                Measure(name, f"@{number}", f"{format_path(rows.steps)}~", list(held), label=True)
                for number, (name, held) in enumerate(rows.labels)
            ],
            rows.answer,
            rows.parent,
            rows.above,
        )
        self.found.append(relation)
        return relation

    def title(self, steps: tuple[Step, ...], title: str) -> str:
        """Make a name for a table from the fields on the way to its rows."""
        words = [snake(step.name) for step in steps if isinstance(step, Field)]
        specific = [word for word in words if word not in _WRAPPERS and word != self.section]
        if not steps:
            name = f"{self.section}_facts"
        elif not specific:
            name = self.section
        else:
            name = f"{self.section}_{specific[-1]}"
            if name in self.taken and len(specific) > 1:
                name = f"{self.section}_{specific[-2]}_{specific[-1]}"
        name = fresh(name, self.taken)
        self.taken.add(name)
        return name

    def _objects(self, rows: Located, title: str) -> None:
        relation = self.relation(rows, "objects", title)
        self._fields(rows, relation, rows.vector, (), title)

    def _fields(
        self,
        rows: Located,
        relation: Relation,
        vector: Vector,
        inner: tuple[Field, ...],
        title: str,
    ) -> None:
        """Split the fields of objects into columns and further relations."""
        objects = [one for one in vector.values if type(one) is dict]
        steps = (*rows.steps, *inner)
        taken: set[str] = set()
        for block in charts.blocks(objects):
            taken.update(series.find_block(self, rows, relation, vector, steps, block))
        for name in vector.fields():
            if name in taken or (not steps and name in self.passed_over):
                continue
            below = vector.field(name)
            kinds = {type(one) for one in below.values if one is not None and one is not MISSING}
            path = (*inner, Field(name))
            here = replace(rows, vector=below)
            if dict in kinds:
                maps = [one for one in below.values if type(one) is dict]
                key = map_key(maps, name, self.vocabulary, top=not rows.steps)
                if key is not None:
                    whole = (*rows.steps, *path)
                    self.rows(self._entries(here, below, whole, key, relation), name)
                else:
                    self._fields(rows, relation, below, path, name)
            if list in kinds:
                self._list(here, relation, path, name)
            if kinds - {dict, list} or not kinds:
                plain = [MISSING if type(one) in (dict, list) else one for one in below.values]
                self._column(relation, path, plain)

    def _column(
        self, relation: Relation, path: tuple[Field, ...], values: list[Any], source: str = ""
    ) -> None:
        words = [snake(step.name) for step in path]
        specific = [word for word in words if word not in _WRAPPERS] or words[-1:]
        taken = {column.name for column in relation.columns}
        name = specific[-1]
        if len(specific) > 1 or name in taken:
            name = "_".join(specific)
        source = source or format_path(path)
        where = format_path((*relation.steps, *path))
        relation.columns.append(Measure(fresh(name, taken), source, where, values))

    def _list(self, rows: Located, relation: Relation, path: tuple[Field, ...], name: str) -> None:
        inner = rows.vector.each()
        kinds = {type(one) for one in inner.values if one is not None}
        steps = (*rows.steps, *path)
        if kinds <= {str}:
            lists = [one if type(one) is list else MISSING for one in rows.vector.values]
            self._column(relation, path, lists)
        elif kinds == {list} and self._grid(rows, relation, steps, inner):
            return
        else:
            self.rows(self._each(rows, inner, steps, relation), name)

    def _grid(
        self, rows: Located, relation: Relation, steps: tuple[Step, ...], inner: Vector
    ) -> bool:
        """Add a relation for arrays with a header elsewhere; return whether one was added."""
        widths = {len(one) if one is not None else 0 for one in inner.values}
        if len(widths) != 1 or widths == {0} or not all(isinstance(step, Field) for step in steps):
            return False
        path = tuple(step.name for step in steps if isinstance(step, Field))
        width = widths.pop()
        fitting = {at: one for at, one in self.headers.items() if len(one) == width}
        near = max(fitting, key=lambda at: (_shared(at, path), -len(at)), default=None)
        if near is None:
            return False
        words = charts.header_words(fitting[near]) or []
        field = None if isinstance(fitting[near][0], str) else charts.header_field(fitting[near])
        header = format_path(tuple(map(Field, near))) + (f"[].{field}" if field else "")
        below = self._each(rows, inner, steps, relation)
        grid = self.relation(below, "grid", "")
        grid.rows = RowsCall("grid", (format_path(steps),), {"header": header})
        for number, word in enumerate(words):
            cells = [one[number] for one in inner.values]
            plain = [MISSING if type(one) in (dict, list) else one for one in cells]
            if any(one is not MISSING for one in plain):
                self._column(grid, (Field(word),), plain, f"[{word}]")
        return True

    def _tuples(self, rows: Located, values: list[Any], title: str) -> bool:
        """Add a relation for short arrays of mixed types; return whether one was added."""
        arrays = [one for one in values if type(one) is list]
        widths = {len(one) for one in arrays}
        if len(widths) != 1 or not 2 <= max(widths) <= _WIDEST_TUPLE or len(arrays) < 2:
            return False
        width = max(widths)
        kinds = [{_kind(one[at]) for one in arrays} - {None} for at in range(width)]
        if not isinstance(rows.steps[-1], Each) or all(one == kinds[0] for one in kinds):
            return False
        rows = self._only(rows, list)
        relation = self.relation(rows, "tuples", title)
        names = [f"{snake(title)}_{at + 1}" for at in range(width)]
        relation.rows = RowsCall("pairs", (format_path(rows.steps[:-1]), *names))
        for at, name in enumerate(names):
            held = [one[at] for one in rows.vector.values]
            relation.columns.append(Measure(name, f"[{at}]", f"{relation.path}[{at}]", held))
        return True


def _shape(steps: tuple[Step, ...]) -> str:
    if not steps:
        return "single"
    return "records" if isinstance(steps[-1], Each) else "keyed"


def _shared(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    """Count the leading steps that two paths share."""
    count = 0
    for a, b in zip(one[:-1], other[:-1], strict=False):
        if a != b:
            break
        count += 1
    return count


def _kind(value: Any) -> str | None:
    if value is None:
        return None
    return "number" if type(value) in (int, float) else type(value).__name__
