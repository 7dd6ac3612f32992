"""Axes and variables: the structure of answers that nobody described.

Every list and every map opens an axis below those around it; every plain value is a variable over
an axis. Arrays side by side share an axis; an array elsewhere names the positions of others, or
labels an axis. What has the same axis is a table. Structure decides, so that names in any language
lead to the same tables; words only break ties.

>>> from aatoolkit.jsontree.paths import format_path
>>> trend = {"days": ["2026-11-03", "2026-11-04"], "hits": [3, 1]}
>>> structure = Structure([{"trend": trend}])
>>> [format_path(axis.steps) for axis in structure.axes]
['', 'trend.days[]']
>>> [format_path(variable.steps) for variable in structure.variables]
['trend.days[]', 'trend.hits[@0]']
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Any

from aatoolkit.jsontree.paths import Each, Entries, Field, Named, Position, Step
from aatoolkit.jsontree.vectors import MISSING, Missing
from aatoolkit.sections.inference.words import Vocabulary, is_measure_name, snake

_NUMBER = re.compile(r"\s*[+-]?(\d{1,15}|\d{1,3}(,\d{3})+)(\.\d+)?([eE][+-]?\d+)?\s*%?\s*")
_DAY = re.compile(
    r"\d{4}-\d\d|\d{4}-?W\d\d|\d\d?[/.]\d\d?[/.]\d{2,4}|(Mon|Tue|Wed|Thu|Fri|Sat|Sun)\b"
    r"|(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* "
)
_DATA_KEY = re.compile(r"\d+[!:]\w+([!:]\w+)*|[A-Z_-]*\d[A-Z0-9_-]*")
_DATA_MAP = re.compile(r"by_\w+|per_\w+")
_HEADER = re.compile(
    r"(.*_)?(columns?|cols?|fields?|headers?|schema|keys?|vars|variables|names|metadata|meta|type"
    r"|info|dimensions?|metrics?|definitions|ids)"
)
_NAME_FIELDS = (
    *("name", "key", "id", "field", "fieldname", "fieldcaption", "label", "title", "header"),
    *("column", "columnname", "datafield", "selector"),
)
_ALIKE, _EVIDENCE, _WIDEST_TUPLE, _SAMPLE, _DEEPEST = 0.55, 1.5, 12, 200, 4
_MOST_FIELDS = 64

Positions = dict[str, int]


@dataclass(eq=False)
class Axis:
    """The rows that a list or a map opens, of all answers and of all rows around it.

    Attributes
    ----------
    steps : tuple of Step
        The path to its members; empty for the answers themselves.
    parent : Axis, optional
        The axis around it.
    above : list of int
        For each row, its row of the parent.
    keys : list
        The position of each row in its list, or its key in its map.
    holder : tuple of Step
        The path to what holds it: more than its own list where arrays run side by side.
    first : int
        The position of the first row; 1 where the first element is a header.
    is_labelled : bool
        Whether a list around its rows labels their positions.
    """

    steps: tuple[Step, ...]
    parent: Axis | None
    above: list[int]
    keys: list[Any]
    holder: tuple[Step, ...]
    first: int = 0
    is_labelled: bool = False

    def __len__(self) -> int:
        return len(self.keys)

    def chain(self) -> Iterator[Axis]:
        """Yield the axis and those around it, the answers last."""
        axis: Axis | None = self
        while axis is not None:
            yield axis
            axis = axis.parent

    def rows_of(self, ancestor: Axis) -> list[int]:
        """For each row, its row of an axis around it."""
        rows, axis = list(range(len(self))), self
        while axis is not ancestor:
            rows = [axis.above[row] for row in rows]
            assert axis.parent is not None
            axis = axis.parent
        return rows


@dataclass(eq=False)
class Variable:
    """Values over an axis.

    Attributes
    ----------
    axis : Axis
        The axis.
    steps : tuple of Step
        The path to a value; one that leads past the axis says by which of its lists and maps.
    values : list
        A value for each row; `MISSING` where there is none.
    is_key : bool
        Whether the values are the keys of a map.
    """

    axis: Axis
    steps: tuple[Step, ...]
    values: list[Any]
    is_key: bool = False


@dataclass(eq=False)
class _Array:
    """The lists at one path, for each row of an axis; `MISSING` where there is none."""

    axis: Axis
    steps: tuple[Step, ...]
    lists: list[Any]
    is_used: bool = False

    @property
    def filled(self) -> list[list[Any]]:
        return [values for values in self.lists if values is not MISSING]

    @property
    def items(self) -> list[Any]:
        return [item for values in self.filled for item in values]

    @property
    def lengths(self) -> list[int | None]:
        return [None if values is MISSING else len(values) for values in self.lists]

    @property
    def longest(self) -> int:
        return max(map(len, self.filled), default=0)

    @property
    def word(self) -> str:
        return next((snake(s.name) for s in reversed(self.steps) if isinstance(s, Field)), "")


_Stream = tuple[tuple[Step, ...], list[Any]]
"""A path, and the value at it for each row of an axis."""


class Structure:
    """The axes and variables of the answers of one section.

    Parameters
    ----------
    documents : sequence
        Decoded answers; more of them show more.
    vocabulary : Vocabulary, optional
        What keys of maps may be.
    passed_over : collection of str
        Fields of the answers that are in no table.

    Attributes
    ----------
    axes : list of Axis
        Those around others first; the first is that of the answers.
    variables : list of Variable
        In the order of the answers.
    headers : set of tuple of Step
        The paths of arrays that only name positions of others.
    """

    def __init__(
        self,
        documents: Sequence[Any],
        vocabulary: Vocabulary | None = None,
        passed_over: Collection[str] = (),
    ) -> None:
        self.vocabulary = vocabulary or Vocabulary.of(None, documents)
        self.axes: list[Axis] = []
        self.variables: list[Variable] = []
        self.headers: set[tuple[Step, ...]] = set()
        self._arrays: dict[Axis, list[_Array]] = defaultdict(list)
        self._texts: set[str] = set()
        self._places: dict[frozenset[str], set[tuple[Any, ...]]] = defaultdict(set)
        for document in documents:
            if type(document) is dict or type(document) is list:
                self._collect(document, ())
        self._root = Axis((), None, [], list(range(len(documents))), ())
        whole = [
            {key: value for key, value in document.items() if key not in passed_over}
            if passed_over and isinstance(document, dict)
            else document
            for document in documents
        ]
        self._open(self._root, [((), whole)])

    def _collect(self, value: Any, path: tuple[Any, ...] | None) -> None:
        """Collect texts, and the keys of objects outside lists, which keys of maps may repeat."""
        is_object = type(value) is dict
        if is_object and path is not None and len(value) >= 3:
            self._places[frozenset(value)].add(path)
        members = value.values() if is_object else value
        self._texts |= {member for member in members if type(member) is str}
        for key, member in value.items() if is_object else enumerate(value):
            if type(member) is dict or type(member) is list:
                below = (*path, key) if is_object and path is not None else None
                self._collect(member, below)

    # --- rows -----------------------------------------------------------------------------------

    def _open(self, axis: Axis, streams: Iterable[_Stream]) -> None:
        """Add an axis: what is on it first, since that may name or label what is below."""
        self.axes.append(axis)
        arrays: list[_Array] = []
        maps: list[_Stream] = []
        for steps, values in streams:
            self._read(axis, steps, values, arrays, maps)
        self._settle(axis, arrays, maps)

    def _settle(self, axis: Axis, arrays: list[_Array], maps: list[_Stream]) -> None:
        self._arrays[axis] += arrays
        self._open_maps(axis, maps)
        self._open_arrays(axis, arrays)

    def _read(
        self,
        axis: Axis,
        steps: tuple[Step, ...],
        values: list[Any],
        arrays: list[_Array],
        maps: list[_Stream],
    ) -> None:
        """Read the values at a path: objects field by field, plain ones as a variable."""
        kinds = {*map(type, values)}
        is_row = not steps or not isinstance(steps[-1], Field)
        if is_row and kinds & {dict, list}:
            # Rows are of one kind; what else stands among them stays in ``extra``.
            kinds = {dict} if dict in kinds else {list}
        if dict in kinds:
            self._read_objects(axis, steps, _only(dict, values), arrays, maps)
        if list in kinds:
            array = _Array(axis, steps, _only(list, values))
            lengths = [*map(len, array.filled)]
            if max(lengths) <= 1 < sum(lengths) and _kinds(array.items) == {"dict"}:
                # Lists of one record at most, in row after row, are wrappers.
                inner = [MISSING if not row else row[0] for row in array.lists]
                self._read(axis, (*steps, Position(0)), inner, arrays, maps)
            elif any(lengths):
                arrays.append(array)
            else:
                self.variables.append(Variable(axis, steps, array.lists))
        plain = kinds - {dict, list, Missing}
        if plain and (plain != {NoneType} or plain == kinds - {Missing}):
            rest = values
            if plain != kinds - {Missing}:
                rest = [MISSING if type(value) in (dict, list) else value for value in values]
            self.variables.append(Variable(axis, steps, rest))

    def _read_objects(
        self,
        axis: Axis,
        steps: tuple[Step, ...],
        dicts: list[Any],
        arrays: list[_Array],
        maps: list[_Stream],
    ) -> None:
        objects = [value for value in dicts if value is not MISSING]
        if self._is_map(objects, steps):
            maps.append((steps, dicts))
            return
        for name in dict.fromkeys(name for value in objects for name in value):
            inner = [MISSING if row is MISSING else row.get(name, MISSING) for row in dicts]
            self._read(axis, (*steps, Field(name)), inner, arrays, maps)

    # --- maps -----------------------------------------------------------------------------------

    def _is_map(self, objects: list[dict[str, Any]], steps: tuple[Step, ...]) -> bool:
        """Whether the keys of objects are data: their members are alike, and there is evidence."""
        keys = list(dict.fromkeys(key for value in objects for key in value))
        members = [member for value in objects for member in value.values()]
        filled = [member for member in members if member not in (None, {}, [])]
        if not keys:
            return False
        if self.vocabulary.dimension(keys) or all(map(_DATA_KEY.fullmatch, keys)):
            return True
        if len(keys) == 1 or (steps and isinstance(steps[-1], Each)):
            # What a list holds are records, unless their keys are far too many for that.
            return _is_sparse(objects, keys) and _alike(filled) >= _ALIKE
        share = max(_alike(filled), _alike(filled, depth=1))
        if share < _ALIKE:
            return False
        known = sum(key in self._texts for key in keys) >= 0.8 * len(keys)
        known &= sum(map(is_measure_name, keys)) * 2 < len(keys)
        named = (
            steps and isinstance(steps[-1], Field) and _DATA_MAP.fullmatch(snake(steps[-1].name))
        )
        scalars = not any(isinstance(member, dict | list) for member in filled)
        records = all(isinstance(member, dict) and len(member) > 1 for member in filled)
        evidence = (
            1.5 * (known or self._is_repeated(frozenset(keys)))
            + (len({frozenset(value) for value in objects}) > 1)
            + 1.5 * bool(named)
            + 0.5 * (None in members)
            + 0.5 * any(" " in key for key in keys)
            + 0.5 * (len(keys) >= 3)
            + 1.5 * (len(keys) > _MOST_FIELDS)
            + (records and share >= 0.75 and len(filled) >= 3)
            - 0.5 * scalars
        )
        return evidence >= _EVIDENCE or _is_sparse(objects, keys)

    def _is_repeated(self, keys: frozenset[str]) -> bool:
        """Whether objects elsewhere, which are no siblings of each other, have the same keys."""
        first, *others = [*self._places.get(keys, ())][:_SAMPLE] or [()]
        return any(
            len(first) != len(other) or sum(a != b for a, b in zip(first, other, strict=True)) > 1
            for other in others
        )

    def _open_maps(self, axis: Axis, maps: list[_Stream]) -> None:
        """Open the maps of an axis; those of equal keys in every row share one."""
        waiting = [
            (steps, dicts, [None if row is MISSING else frozenset(row) for row in dicts])
            for steps, dicts in maps
        ]
        while waiting:
            steps, dicts, keys = waiting.pop(0)
            is_wide = max((len(row) for row in keys if row is not None), default=0) > 1
            group = [other for other in waiting if is_wide and other[2] == keys]
            waiting = [other for other in waiting if other not in group]
            rows = [(at, key) for at, row in enumerate(dicts) if row is not MISSING for key in row]
            labels = [key for _, key in rows]
            holder = _holder([steps, *(other for other, _, _ in group)])
            below = Axis(
                (*_through(steps), Entries()), axis, [at for at, _ in rows], labels, holder
            )
            self.variables.append(Variable(below, below.steps, labels, is_key=True))
            streams = [(below.steps, [dicts[at][key] for at, key in rows])]
            last = Entries(at=_number(below.steps))
            streams += [
                ((*bound(other), last), [members[at][key] for at, key in rows])
                for other, members, _ in group
            ]
            self._open(below, streams)

    # --- arrays ---------------------------------------------------------------------------------

    def _open_arrays(self, axis: Axis, arrays: list[_Array]) -> None:
        waiting = [array for array in arrays if not self._are_columns(axis, array)]
        waiting = [array for array in waiting if not array.is_used]
        for array in [*waiting]:
            label = self._label(axis, array)
            if label is not None:
                waiting.remove(array)
                self._open_array(axis, [array], label)
        while waiting:
            first, *rest = waiting
            group = [first]
            for other in rest:
                if _are_parallel([*group, other]) and not _are_header([*group, other]):
                    group.append(other)
            waiting = [array for array in rest if array not in group]
            if len(group) > 1 or not self._are_cells(axis, first):
                self._open_array(axis, group)

    def _open_array(self, axis: Axis, group: list[_Array], label: _Array | None = None) -> None:
        """Open an axis along arrays side by side, and along one of a record around them."""
        spine = max(group, key=lambda a: (_kinds(a.items) == {"dict"}, _kinds(a.items) == {"list"}))
        first = int(len(group) == 1 and label is None and _has_header_row(spine.filled))
        rows = [
            (at, position)
            for at, values in enumerate(spine.lists)
            if values is not MISSING
            for position in range(first, len(values))
        ]
        above, keys = [at for at, _ in rows], [position for _, position in rows]
        holder = _holder([array.steps for array in (*group, *filter(None, [label]))])
        below = Axis(
            (*_through(spine.steps), Each()), axis, above, keys, holder, first, label is not None
        )
        streams: list[_Stream] = []
        for array in group:
            array.is_used = True
            aside = (*bound(array.steps), Each(at=_number(below.steps)))
            steps = below.steps if array is spine else aside
            streams.append((steps, [array.lists[at][position] for at, position in rows]))
        if label is not None:
            label.is_used = True
            up = axis.rows_of(label.axis)
            elements = [label.lists[up[at]][position] for at, position in rows]
            streams.append(((*bound(label.steps), Each(at=_number(below.steps))), elements))
        if not first:
            self._open(below, streams)
            return
        self.axes.append(below)
        array = _Array(below, below.steps, streams[0][1])
        headers = [spine.lists[at][0] for at in above]
        index = [{name: position for position, name in enumerate(header)} for header in headers]
        self._columns(array, (*bound(spine.steps), Position(0), Each()), index)

    def _are_columns(self, axis: Axis, array: _Array) -> bool:
        """Whether the positions of an array are columns; if so, read them."""
        if axis is self._root or array.longest < 2:
            return False
        kinds = _kinds_down(array.filled)
        is_even = all(len(kind) <= 1 for kind in kinds)
        is_mixed = is_even and len(set().union(*kinds)) > 1
        header = self._header(axis, array, is_mixed=is_mixed)
        label = None if is_mixed else self._label(axis, array)
        if header is not None and label is not None:
            is_nearer = _common(label.steps, array.steps) > _common(header[0], array.steps)
            header = None if is_nearer else header
        if header is not None:
            self._columns(array, *header)
            return True
        widths = {len(values) for values in array.filled}
        is_tuple = len(widths) == 1 and len(array.filled) > 1 and array.longest <= _WIDEST_TUPLE
        if is_tuple and is_mixed and not _kinds(array.items) & {"dict", "list"}:
            self._columns(array)
            return True
        return False

    def _are_cells(self, axis: Axis, array: _Array) -> bool:
        """Whether lists belong into cells: texts do, and short tuples of many rows are columns."""
        kinds, width = _kinds(array.items), array.longest
        is_tuple = width <= _WIDEST_TUPLE and len(array.filled) >= max(4, 2 * width)
        is_tuple &= all(len(values) == width for values in array.filled)
        if is_tuple and axis is not self._root and not kinds & {"dict", "list"}:
            self._columns(array)
            return True
        if kinds and all(type(item) is str for item in array.items if item is not None):
            self.variables.append(Variable(axis, array.steps, array.lists))
            return True
        return False

    def _columns(
        self,
        array: _Array,
        header: tuple[Step, ...] | None = None,
        index: Sequence[Positions] = (),
    ) -> None:
        """Read the positions of an array, by number or by the names that a header gives them."""
        array.is_used = True
        arrays: list[_Array] = []
        maps: list[_Stream] = []
        if header is None:
            names: list[Any] = list(range(array.longest))
            index = [{at: at for at in names}] * len(array.lists)
        else:
            names = list(dict.fromkeys(name for positions in index for name in positions))
        for name in names:
            step = Position(name) if header is None else Named(header, name)
            cells = [
                values[positions[name]]
                if values is not MISSING and positions.get(name, len(values)) < len(values)
                else MISSING
                for values, positions in zip(array.lists, index, strict=True)
            ]
            self._read(array.axis, (*array.steps, step), cells, arrays, maps)
        self._settle(array.axis, arrays, maps)

    def _header(
        self, axis: Axis, array: _Array, *, is_mixed: bool
    ) -> tuple[tuple[Step, ...], list[Positions]] | None:
        """Find what names the positions of an array: texts around its rows, as many as it has."""
        wrapped = _kinds(array.items) == {"dict"}
        candidates = []
        for around in [*axis.chain()][1:]:
            up = axis.rows_of(around)
            for other in self._arrays[around]:
                field, names = _names_of(other)
                if names is None or other.steps == array.steps[: len(other.steps)]:
                    continue
                pairs = [
                    (len(values), len(names[up[at]] or ()))
                    for at, values in enumerate(array.lists)
                    if values is not MISSING
                ]
                is_exact = all(width == count for width, count in pairs)
                is_named = _HEADER.fullmatch(other.word) is not None
                is_typed = field is not None and any(len(item) > 1 for item in other.items)
                if not is_exact and not (
                    is_named and is_mixed and all(0 < width <= count for width, count in pairs)
                ):
                    continue
                if is_mixed or is_named or is_typed or wrapped:
                    shared = _common(other.steps, array.steps)
                    akin = _common(other.word, array.word) if wrapped else 0
                    rank = (is_exact, akin, shared, is_named)
                    candidates.append((rank, other, field, [names[row] or () for row in up]))
        if not candidates:
            return None
        _, other, field, names_by_row = max(candidates, key=lambda candidate: candidate[0])
        other.is_used = True
        self.headers.add(other.steps)
        inner = (Field(field),) if field is not None else ()
        index = [{name: at for at, name in enumerate(names)} for names in names_by_row]
        return (*bound(other.steps), Each(), *inner), index

    def _label(self, axis: Axis, array: _Array) -> _Array | None:
        """Find what labels the positions of an array: a list of its length around its rows."""
        if axis is self._root or array.longest < 2:
            return None
        for around in [*axis.chain()][1:]:
            up = axis.rows_of(around)
            for other in self._arrays[around]:
                lengths = other.lengths
                if other.steps == array.steps[: len(other.steps)]:
                    continue
                if not _kinds(other.items) <= {"text", "day", "number"}:
                    continue
                if all(
                    length is None or length == lengths[up[at]]
                    for at, length in enumerate(array.lengths)
                ):
                    return other
        return None


def _through(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """A path to rows: through single elements as through all of their array."""
    return tuple(Each() if isinstance(step, Position | Named) else step for step in steps)


def _number(steps: tuple[Step, ...]) -> int:
    """The number of the last list or map on a path."""
    return sum(isinstance(step, Each | Entries) for step in steps) - 1


def bound(steps: Iterable[Step]) -> tuple[Step, ...]:
    """Bind the lists and maps on a path to those of a row, in order.

    Examples
    --------
    >>> from aatoolkit.jsontree.paths import format_path
    >>> format_path(bound((Field("rows"), Each(), Field("n"))))
    'rows[@0].n'
    """
    number = 0
    path: list[Step] = []
    for step in steps:
        if isinstance(step, Each | Entries):
            path.append(type(step)(at=number))
            number += 1
        else:
            path.append(step)
    return tuple(path)


def _only(kind: type, values: list[Any]) -> list[Any]:
    return [value if type(value) is kind else MISSING for value in values]


def _kind(value: Any) -> str:
    """Name what a value is: text that looks like a number or a day is one."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "number" if _NUMBER.fullmatch(value) else "day" if _DAY.match(value) else "text"
    return type(value).__name__


def _kinds(values: Iterable[Any]) -> set[str]:
    return {_kind(value) for value in values if value is not None and value is not MISSING}


def _kinds_down(rows: Sequence[Sequence[Any]]) -> list[set[str]]:
    """The kinds of the values at each position of some rows."""
    width = max(map(len, rows))
    return [_kinds(row[at] for row in rows if at < len(row)) for at in range(width)]


def _leaves(
    value: Any, depth: int, path: tuple[Any, ...] = ()
) -> Iterator[tuple[tuple[Any, ...], str]]:
    """Yield the paths of values down to a depth, with their kinds; elements of lists have one."""
    if len(path) < depth and isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, depth, (*path, key))
    elif len(path) < depth and isinstance(value, list):
        for inner in value[:3]:
            yield from _leaves(inner, depth, (*path, 0))
    elif value is not None:
        kind = _kind(value)
        yield path, "text" if kind == "day" else kind


def _alike(members: list[Any], depth: int = _DEEPEST) -> float:
    """The mean share of members that have a leaf of one path and kind, over all leaves."""
    leaves = [leaf for member in members[:_SAMPLE] if (leaf := {*_leaves(member, depth)})]
    counts = Counter(leaf for member in leaves for leaf in member)
    return counts.total() / (len(counts) * len(leaves)) if counts else 0.0


def _is_sparse(objects: list[dict[str, Any]], keys: list[str]) -> bool:
    """Whether keys are so many, and each so seldom, that as fields they would be mostly empty."""
    cells = sum(map(len, objects))
    return len(keys) > 12 and len(objects) * len(keys) > 2 * (len(keys) + cells)


def _names_of(array: _Array) -> tuple[str | None, list[list[str] | None] | None]:
    """The names that an array may give to positions: its texts, or a field of its records."""
    items = array.items
    fields: list[str | None] = [None]
    if _kinds(items) == {"dict"} and None not in items:
        fields = sorted(
            (name for name in items[0] if name.lower() in _NAME_FIELDS),
            key=lambda name: _NAME_FIELDS.index(str(name).lower()),
        )
    for field in fields:
        texts = [item if field is None else item.get(field) for item in items]
        if not texts or _kinds(texts) != {"text"} or None in texts or MISSING in texts:
            continue
        names = [
            None if values is MISSING else [v if field is None else v[field] for v in values]
            for values in array.lists
        ]
        if all(len({*row}) == len(row) for row in names if row is not None):
            return field, names
    return None, None


def _are_parallel(arrays: list[_Array]) -> bool:
    """Whether arrays run side by side: of equal lengths in every row, and not all mere texts."""
    first, *rest = arrays
    if first.longest < 2 or any(array.lengths != first.lengths for array in rest):
        return False
    kinds = [_kinds(array.items) for array in arrays]
    records, grids = kinds.count({"dict"}), kinds.count({"list"})
    if records > 1 or (records and not grids):
        return False
    if records and any(
        len(set().union(*_kinds_down(array.items))) > 1
        for array, kind in zip(arrays, kinds, strict=True)
        if kind == {"list"} and array.items
    ):
        return False
    return any(kind - {"text"} for kind in kinds) or first.longest >= _DEEPEST


def _are_header(arrays: list[_Array]) -> bool:
    """Whether one of some arrays names the columns of another, whose rows are arrays."""
    grids = [array for array in arrays if _kinds(array.items) == {"list"}]
    names = [array for array in arrays if _names_of(array)[1] is not None]
    return any(
        {*map(len, grid.items)} == {array.longest}
        and (len({*map(frozenset, _kinds_down(grid.items))}) > 1 or _HEADER.fullmatch(array.word))
        for grid in grids
        for array in names
    )


def _has_header_row(tables: list[list[Any]]) -> bool:
    """Whether the first row of each table names the columns of the others."""
    for rows in tables:
        if len(rows) < 3 or _kinds(rows) != {"list"}:
            return False
        header, *rest = rows
        if len(header) < 2 or _kinds(header) != {"text"} or None in header:
            return False
        if len({*header}) < len(header) or any(len(row) > len(header) for row in rest):
            return False
        if all(kinds <= {"text"} for kinds in _kinds_down(rest)):
            return False
    return bool(tables)


def _holder(paths: list[tuple[Step, ...]]) -> tuple[Step, ...]:
    """The longest path that some paths share."""
    first, *others = paths
    return first[: min((_common(first, other) for other in others), default=len(first))]


def _common(one: Sequence[Any], other: Sequence[Any]) -> int:
    """Count the leading members that two sequences share."""
    return next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )
