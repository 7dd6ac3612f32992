"""Layouts: which objects of a document are rows with a key; and the limit on its nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from aatoolkit.errors import PayloadError

MAX_NODES = 100_000
"""How many nodes a document may have by default; answers have some hundreds."""


class Layout(Protocol):
    """A declaration of which objects are rows with a key."""

    @property
    def keyed(self) -> bool | None:
        """Whether objects are rows with a key, or fields; None to decide by their keys."""

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
    """Counts the nodes of one document, and raises when there are too many.

    Attributes
    ----------
    has_large_object : bool
        Whether an object has more keys than a table has columns.
    """

    __slots__ = ("count", "has_large_object", "limit")

    def __init__(self, limit: int = MAX_NODES) -> None:
        self.limit = limit
        self.count = 1  # the document itself
        self.has_large_object = False

    def add(self, more: int) -> None:
        """Add to the number of nodes, and raise `PayloadError` above the limit.

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
