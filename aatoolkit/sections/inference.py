"""Draft the declaration of a section from its answers.

Arrays of objects, and objects whose keys are data, become tables; plain fields become columns,
those of nested objects too; a table below another takes over its key. Where a field is an object
here and an array there, it becomes both, and what is neither stays in ``extra``. What a number
means cannot be seen, so units and rules are left open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from aatoolkit.errors import PayloadError
from aatoolkit.jsontree import decode
from aatoolkit.jsontree.coerce import coerce_values
from aatoolkit.jsontree.grouping import ObjectBatch
from aatoolkit.jsontree.keyed import KeyTraits
from aatoolkit.jsontree.paths import Each, Entries, Field, Step, format_path, parse_pattern
from aatoolkit.jsontree.vectors import MISSING, Vector, descend
from aatoolkit.payload import Payload
from aatoolkit.sections.code import code_of
from aatoolkit.sections.section import ENVELOPE, Column, Rows, Section, Table, camel

_GUESSES = ("boolean", "Int64", "Float64", "date", "timestamp", "string", "list<string>")
_KEY_NAMES = re.compile(r"(.*_)?(id|key|name|slug|url|host|domain|date|day|label)")
_BY = re.compile(r"by(_|[A-Z])")
_FEW = 8
_KEY_DTYPES = ("string", "Int64", "date", "timestamp")


class Proposal:
    """A proposed declaration: prints as the Python that makes it.

    Attributes
    ----------
    section : Section
        The declaration itself, ready to register.
    code : str
        The Python that makes it.
    """

    def __init__(self, section: Section) -> None:
        self.section = section
        self.code = code_of(section)

    def __str__(self) -> str:
        return self.code

    __repr__ = __str__


def propose(answers: Any, name: str | None = None) -> Proposal:
    """Draft a declaration from an answer, or from several of one section.

    Parameters
    ----------
    answers : Payload, bytes, str, dict, or list of these
        The answers; more of them show more fields.
    name : str, optional
        The section's name; by default what a payload or the answer itself says.

    Raises
    ------
    DecodeError
        If an answer is not one JSON document.
    PayloadError
        If nothing in the answers can be made a table.
    """
    given = answers if isinstance(answers, list | tuple) else [answers]
    documents = [_decoded(answer) for answer in given]
    name = name or next(filter(None, map(_said, [*given, *documents])), "answer")
    enveloped = any(isinstance(document, dict) and "window" in document for document in documents)
    passed_over = frozenset(ENVELOPE if enveloped else ())
    found = sorted(_below(_Place(Vector(documents), ()), passed_over), key=lambda part: part.rank)
    names: dict[str, int] = {}
    tables = [_table(part, _fresh(f"{_snake(name)}_{part.title}", names)) for part in found]
    if not tables:
        raise PayloadError(
            f"nothing in this answer of {name} can be made a table", section=name, problems=[]
        )
    return Proposal(Section(name, f"Drawn up from answers of {name}.", *tables))


def _decoded(answer: Any) -> Any:
    if isinstance(answer, Payload):
        return answer.json
    if isinstance(answer, str):
        answer = answer.encode("utf-8", "surrogatepass")
    return decode.decode(answer) if isinstance(answer, bytes) else answer


def _said(answer: Any) -> str | None:
    """The section's name, where a payload or an answer says it."""
    said = answer.section if isinstance(answer, Payload) else None
    if isinstance(answer, dict):
        said = answer.get("section")
    return said if isinstance(said, str) else None


@dataclass(frozen=True)
class _Key:
    """A key column: below how many arrays it is, and where."""

    name: str
    dtype: str
    source: str
    depth: int


@dataclass(frozen=True)
class _Place:
    """Where rows are: their values, the path, and the keys of what encloses them."""

    vector: Vector
    steps: tuple[Step, ...]
    labels: tuple[str, ...] = ()
    keys: tuple[_Key, ...] = ()

    @property
    def depth(self) -> int:
        return sum(isinstance(step, Each) for step in self.steps)

    def source(self, key: _Key) -> str:
        """Where a key of what encloses the rows is, as seen from a row."""
        in_array = bool(self.steps) and isinstance(self.steps[-1], Each)
        return "^" * (self.depth - key.depth + (not in_array)) + key.source


@dataclass(frozen=True)
class _Part:
    """A table to be drafted: where its rows are, and the columns found there."""

    place: _Place
    columns: tuple[Column, ...]
    key: tuple[str, ...]

    @property
    def title(self) -> str:
        fields = [step.name for step in self.place.steps if isinstance(step, Field)]
        return _snake(fields[-1]) if fields else "facts"

    @property
    def rank(self) -> tuple[bool, int, int]:
        """The main table is the largest of those nearest to the top; plain facts come last."""
        size = len(self.place.vector) * len(self.columns)
        return not self.place.steps, len(self.place.steps), -size


def _below(place: _Place, passed_over: frozenset[str] = frozenset()) -> Iterator[_Part]:
    """The tables at a place and below it."""
    columns: list[Column] = []
    children: list[_Place] = []
    kinds = set(map(type, _there(place.vector)))
    if kinds == {list}:
        columns += _positions(place.vector)
        if not columns:
            inner = _Place(place.vector.each(), (*place.steps, Each()), place.labels)
            keys = place.keys
            if place.steps and isinstance(place.steps[-1], Each):
                title = _fresh("row", dict.fromkeys((key.name for key in keys), 1))
                keys = (*keys, _Key(title, "Int64", "#0", place.depth))
            yield from _below(replace(inner, keys=keys))
            return
    elif dict in kinds and _keyed(place.vector):
        children.append(_entries(place, place.vector, place.steps, "key"))
    elif dict in kinds:
        _fields(place, place.vector, (), columns, children, passed_over)
    elif kinds:
        columns += _plain("value", place.vector, ".")
    if list in kinds and kinds != {list}:
        children.append(_Place(place.vector.each(), (*place.steps, Each()), place.labels))
    inherited = tuple(
        Column(key.name, key.dtype, source=place.source(key)) for key in place.keys
    ) + tuple(Column(label, "string") for label in place.labels)
    named = tuple(column.name for column in inherited)
    taken = dict.fromkeys(named, 1)
    columns = [_renamed(column, _fresh(column.name, taken)) for column in columns]
    own = _key_of(place, columns) if place.steps else ()
    if place.steps and not own and not isinstance(place.steps[-1], Entries):
        own = (_fresh("position", taken),)
        columns.insert(0, Column(own[0], "Int64", source="#0"))
    if columns or inherited:
        key = (*named, *own) or _whole(place, columns)
        yield _Part(place, (*inherited, *columns), key)
    keys = (*place.keys, *(_as_key(place, columns, name) for name in own))
    for child in children:
        yield from _below(replace(child, keys=keys))


def _entries(place: _Place, objects: Vector, path: tuple[Step, ...], label: str) -> _Place:
    """The entries of objects whose keys are data."""
    taken = (*place.labels, *(key.name for key in place.keys))
    name = _fresh(label, dict.fromkeys(taken, 1))
    return _Place(objects.entries(), (*path, Entries()), (*place.labels, name))


def _fields(
    place: _Place,
    vector: Vector,
    above: tuple[Step, ...],
    columns: list[Column],
    children: list[_Place],
    passed_over: frozenset[str] = frozenset(),
) -> None:
    """Sort the fields of objects into columns and places of further tables."""
    for name in dict.fromkeys(chain.from_iterable(_objects(vector))):
        if name in passed_over:
            continue
        below, steps = vector.field(name), (*above, Field(name))
        kinds = set(map(type, _there(below)))
        path = (*place.steps, *steps)
        if dict in kinds and (_BY.match(name) or _keyed(below)):
            children.append(_entries(place, below, path, _label(name)))
        elif dict in kinds:
            _fields(place, below, steps, columns, children)
        if list in kinds and (kinds != {list} or set(map(type, _there(below.each()))) - {str}):
            children.append(_Place(below.each(), (*path, Each()), place.labels))
        elif dict not in kinds:
            title = "_".join(_snake(step.name) for step in steps if isinstance(step, Field))
            columns += _plain(title, below, format_path(steps))


def _plain(name: str, vector: Vector, source: str) -> list[Column]:
    """A column of plain values; none where they are of several kinds."""
    for dtype in _GUESSES:
        if not coerce_values(vector.values, dtype)[1]:
            dtype = dtype if _there(vector) else "string"
            return [Column(name, dtype, source=None if source == camel(name) else source)]
    return []


def _positions(vector: Vector) -> list[Column]:
    """Columns of short arrays whose positions have a meaning; none where they have not."""
    arrays = _there(vector)
    lengths = set(map(len, arrays))
    if len(lengths) != 1 or not 1 < max(lengths) <= _FEW:
        return []
    columns = [
        column
        for place, values in enumerate(zip(*arrays, strict=True))
        for column in _plain(f"value_{place + 1}", Vector(list(values)), f"[{place}]")
    ]
    dtypes = {column.dtype for column in columns}
    return columns if len(columns) == max(lengths) and len(dtypes) > 1 else []


def _key_of(place: _Place, columns: list[Column]) -> tuple[str, ...]:
    """The column that identifies rows within what encloses them; key-like names come first."""
    if isinstance(place.steps[-1], Entries):
        return ()
    groups = place.vector.rows
    for column in sorted(columns, key=lambda column: not _KEY_NAMES.fullmatch(column.name)):
        if column.dtype not in _KEY_DTYPES or column.source == ".":
            continue
        values = _values(place.vector, column)
        rows = list(values if groups is None else zip(groups.tolist(), values, strict=True))
        if all(value not in (None, MISSING) for value in values) and len(set(rows)) == len(rows):
            return (column.name,)
    return ()


def _renamed(column: Column, name: str) -> Column:
    """A column under another name, from the same source."""
    return replace(column, name=name, source=column.source or camel(column.name))


def _whole(place: _Place, columns: list[Column]) -> tuple[str, ...]:
    """The first column without gaps, as a key of whole answers; none where there is none."""
    for column in columns:
        gaps = {None, MISSING}.intersection
        if column.dtype in _KEY_DTYPES and not gaps(_values(place.vector, column)):
            return (column.name,)
    return ()


def _values(vector: Vector, column: Column) -> list[Any]:
    source = column.source or camel(column.name)
    if source.startswith("["):
        at = int(source[1:-1])
        return [row[at] if type(row) is list else MISSING for row in vector.values]
    if source == ".":
        return vector.values
    return descend(vector, parse_pattern(source)).values


def _as_key(place: _Place, columns: list[Column], name: str) -> _Key:
    column = next(column for column in columns if column.name == name)
    return _Key(name, column.dtype, column.source or camel(name), place.depth)


def _there(vector: Vector) -> list[Any]:
    return [value for value in vector.values if value is not None and value is not MISSING]


def _objects(vector: Vector) -> list[dict[str, Any]]:
    return [value for value in vector.values if type(value) is dict]


def _keyed(vector: Vector) -> bool:
    """Whether the keys of objects are data."""
    objects = _objects(vector)
    traits = KeyTraits()
    if objects:
        traits.update(ObjectBatch(objects))
    return traits.are_keyed()


def _table(part: _Part, name: str) -> Table:
    place = part.place
    what = format_path(place.steps) or "answer"
    positional = tuple(c.name for c in part.columns if (c.source or "").startswith("["))
    rows = Rows(place.steps, place.labels, positional=positional, one=not place.steps)
    return Table(name, f"One row per {what}.", rows, part.key, part.columns)


def _label(name: str) -> str:
    """What the keys of an object are called: ``engine`` for ``byEngine``."""
    snake = _snake(name)
    return snake.removeprefix("by_") if snake.startswith("by_") else f"{snake}_key"


def _snake(name: str) -> str:
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return re.sub(r"\W+", "_", split).strip("_").lower() or "field"


def _fresh(name: str, taken: dict[str, int]) -> str:
    """A name that is not taken yet; it is taken from now on."""
    found, number = name, taken.get(name, 1)
    while found in taken:
        number += 1
        found = f"{name}_{number}"
    taken[name] = number
    taken.setdefault(found, 1)
    return found
