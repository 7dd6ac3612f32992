"""The limit on how many different paths a document may have values at."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from itertools import chain
from typing import Any, Protocol

from aatoolkit.errors import PayloadError
from aatoolkit.jsontree.decode import MAX_DEPTH, Inexact
from aatoolkit.jsontree.keyed import are_keyed
from aatoolkit.jsontree.vectors import MAX_FIELDS, Vector

MAX_NODES = 100_000
"""How many paths a document may have by default; answers have some hundreds."""


_FEW = 64
_CONTAINERS = (dict, list)


class Layout(Protocol):
    """A declaration of which objects are rows with a key."""

    @property
    def fields(self) -> Mapping[str, Layout]:
        """The layouts of fields."""

    @property
    def each(self) -> Layout | None:
        """The layout of the elements of arrays."""

    @property
    def entries(self) -> Layout | None:
        """The layout of the entries of objects that are rows with a key."""


class NodeLimit:
    """Counts the paths of one document, and raises when there are too many."""

    def __init__(self, limit: int = MAX_NODES) -> None:
        self.limit = limit
        self.count = 0

    def add(self, more: int) -> None:
        """Add to the number of paths.

        Raises
        ------
        PayloadError
            If that is too many.
        """
        self.count += more
        if self.count > self.limit:
            raise PayloadError(
                f"the answer has values at more than {self.limit:,} different paths; raise "
                "the limit (max_nodes, or --max-nodes on the command line) if that is how it "
                "should be",
                limit=self.limit,
                problems=[f"more than {self.limit:,} different paths @ $"],
            )


class Survey(NodeLimit):
    """Counts what a document has before it is trusted: paths, and the keys of its objects.

    Attributes
    ----------
    keys, most_keys : int
        How many keys all objects have together, and the largest.
    """

    keys = most_keys = 0

    def walk(self, place: Vector, layout: Layout | None, depth: int = 0) -> None:
        """Count at a place and below; keys that are data are one path."""
        self.add(1)
        kinds = place.kinds
        if list not in kinds and dict not in kinds:
            return
        if depth >= MAX_DEPTH:
            raise Inexact
        if list in kinds:
            self.walk(place.each(), layout and layout.each, depth + 1)
        if dict not in kinds:
            return
        fields: Mapping[str, Layout] = layout.fields if layout else {}
        names = place.names
        self.keys += sum(names.values())
        if len(names) > self.most_keys:
            self.most_keys = max(self.most_keys, *map(len, place.of_type(dict)))
        if layout and layout.entries:
            self.walk(place.entries(), layout.entries, depth + 1)
        elif not fields and len(names) > _FEW and are_keyed(place.of_type(dict)):
            self.walk(place.entries(), None, depth + 1)
        elif place.records:
            columns = place.records
            if set(map(type, chain(*columns.values()))).isdisjoint(_CONTAINERS):
                self.add(len(columns))
                return
            for name, column in columns.items():
                if set(map(type, column)).isdisjoint(_CONTAINERS):
                    self.add(1)
                else:
                    self.walk(place.field(name), fields.get(name), depth + 1)
        else:
            self._irregular(place, names, fields, depth)

    def _irregular(
        self, place: Vector, names: Mapping[str, int], fields: Mapping[str, Layout], depth: int
    ) -> None:
        """Count below objects of different keys: of those that nobody declared, containers."""
        below: dict[str, list[Any]] = defaultdict(list)
        are_many = len(names) - len(fields) > MAX_FIELDS
        declared = fields.keys() & names.keys()
        for name in declared:
            self.walk(place.field(name), fields[name], depth + 1)
        for value in place.of_type(dict) if len(declared) < len(names) else ():
            for name in () if value.keys() <= declared else value.keys() - declared:
                if type(value[name]) in _CONTAINERS:
                    below["" if are_many else name].append(value[name])
        self.add(0 if are_many else len(names) - len(declared) - len(below))
        for values in below.values():
            self.walk(Vector(values), None, depth + 1)
