"""`Carrier`: the text of a frame's metadata, and what stays in memory beside it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol

from aatoolkit.metadata.fingerprint import Fingerprint, whole_fingerprint, whole_table_fingerprint

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from aatoolkit.metadata.attrs import FrameMetadata
    from aatoolkit.metadata.column import Source


class HeldAnswer(Protocol):
    """An answer in memory that can be normalised again."""

    @property
    def source(self) -> Source:
        """The answer's source: its host, section, scope, time of fetch and hash."""

    @property
    def body(self) -> bytes | None:
        """The answer's bytes; None once nobody holds them."""

    def tables(self) -> Any:
        """The answer's tables, normalised again."""


class Carrier(str):
    """The text of a frame's metadata, and in memory the hashes by which its cells are checked.

    pandas passes it on as it does text; a pickle or a file holds the text alone.
    """

    answers: tuple[HeldAnswer, ...] = ()
    """The answers that the frame was made of, as far as they are at hand."""

    described: FrameMetadata | None = None
    """What the text says, where it was not read from text."""

    _snapshot: tuple[pd.DataFrame | pa.Table, list[str], tuple[str, ...]] | None = None
    _fingerprint: Fingerprint | None = None

    def hash_later(
        self, rows: pd.DataFrame | pa.Table, names: list[str], key: tuple[str, ...]
    ) -> None:
        """Keep a snapshot of the rows, to be hashed when they are first checked."""
        if hasattr(rows, "attrs"):
            rows = rows.copy(deep=False)
            rows.attrs = {}
        self._snapshot = (rows, names, key)

    @property
    def fingerprint(self) -> Fingerprint | None:
        """The fingerprint of all cells; the rows are released once it is computed."""
        snapshot = self._snapshot
        if snapshot is not None:
            rows, names, key = snapshot
            whole = whole_fingerprint if hasattr(rows, "attrs") else whole_table_fingerprint
            self._fingerprint = whole(rows, names, key)
            self._snapshot = None
        return self._fingerprint

    def holding(self, answers: Iterable[HeldAnswer]) -> Carrier:
        """Keep answers in memory beside the text, and return this carrier."""
        self.answers = tuple(dict.fromkeys(answers))
        return self

    def rewritten(self, described: FrameMetadata) -> Carrier:
        """Return a carrier of other metadata for the same rows."""
        other = Carrier(described.dumps())
        other.described = described
        other.answers = self.answers
        other._snapshot, other._fingerprint = self._snapshot, self._fingerprint
        return other

    def __copy__(self) -> Carrier:
        return self

    def __deepcopy__(self, memo: object) -> Carrier:
        return self

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)
