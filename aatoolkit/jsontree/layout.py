"""The limit on how many different paths a document may have values at."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Protocol

from aatoolkit.errors import PayloadError
from aatoolkit.jsontree.keyed import are_keyed
from aatoolkit.jsontree.vectors import MAX_FIELDS, Vector

MAX_NODES = 100_000
"""How many paths a document may have by default; answers have some hundreds."""


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

    def check(self, place: Vector, layout: Layout | None) -> None:
        """Count the paths of the values at a place and below; keys that are data are one."""
        self.add(1)
        if list in place.kinds:
            self.check(place.each(), layout and layout.each)
        if dict not in place.kinds:
            return
        fields = layout.fields if layout else {}
        if layout and layout.entries:
            self.check(place.entries(), layout.entries)
            return
        names = place.fields()
        if (
            not fields
            and len(names) > 2
            and are_keyed([v for v in place.values if type(v) is dict])
        ):
            self.check(place.entries(), None)
            return
        if place.records:
            for name in names:
                self.check(place.field(name), fields.get(name))
            return
        below: dict[str, list[Any]] = defaultdict(list)
        are_many = len(names) - len(fields) > MAX_FIELDS
        for value in place.values:
            for name, inner in value.items() if type(value) is dict else ():
                if type(inner) is dict or type(inner) is list:
                    below["" if are_many and name not in fields else name].append(inner)
        self.add(len(fields) if are_many else len(names) - len(below))
        for name, values in below.items():
            self.check(Vector(values), fields.get(name))
