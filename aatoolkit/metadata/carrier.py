"""`HeldMetadata`: the metadata of a frame in memory, and `Carrier`: its text."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from aatoolkit.metadata.column import EMPTY, NOTHING
from aatoolkit.metadata.fingerprint import (
    Fingerprint,
    arrays_of,
    fingerprint_of,
)

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from aatoolkit.metadata.column import Source
    from aatoolkit.metadata.frame_metadata import FrameMetadata


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


_NOT_YET = Fingerprint()


class HashedLater:
    """The rows of a frame as they were when it was described, hashed when they are first checked.

    Parameters
    ----------
    rows : pandas.DataFrame or pyarrow.Table
        The rows, which nothing changes.
    metadata : callable
        Gives the metadata of the columns to hash; those that are stated to be empty are hashed
        only if they hold a value.
    key : tuple of str
        The key of the frame.
    """

    def __init__(
        self,
        rows: pd.DataFrame | pa.Table,
        metadata: Callable[[], FrameMetadata],
        key: tuple[str, ...],
    ) -> None:
        self._rows: pd.DataFrame | pa.Table | None = rows
        self._metadata, self._key = metadata, key
        self._sample = self._whole = _NOT_YET

    @cached_property
    def _names(self) -> list[str]:
        columns = self._metadata().columns
        empty = [name for name, what in columns.items() if what.availability.status in EMPTY]
        held = arrays_of(self._rows) if empty else {}
        blank = {name for name in empty if name not in held or held[name].isna().all()}
        return [name for name, what in columns.items() if what != NOTHING and name not in blank]

    def sample(self) -> Fingerprint:
        """The fingerprint of some rows, which the text of the metadata holds."""
        rows = self._rows
        if self._sample is _NOT_YET:
            self._sample = (
                self._whole.sampled()
                if rows is None
                else fingerprint_of(rows, self._names, self._key, sample=True)
            )
        return self._sample

    def whole(self) -> Fingerprint:
        """The fingerprint of all cells; the rows are released once it is computed."""
        rows = self._rows
        if rows is not None:
            self._whole = fingerprint_of(rows, self._names, self._key)
            if self._whole.beside:
                self.sample()  # which has labels alone
            self._rows = None  # last, for other threads
        return self._whole


class HeldMetadata:
    """The metadata of a frame, with what stays in memory beside it.

    Parameters
    ----------
    metadata : callable
        Gives the metadata, when it is first asked for.
    rows : HashedLater
        The rows it was attached to.
    answers : tuple of HeldAnswer
        The answers that the frame was made of, as far as they are at hand.
    """

    def __init__(
        self,
        metadata: Callable[[], FrameMetadata],
        rows: HashedLater,
        answers: Iterable[HeldAnswer],
    ) -> None:
        self._describe = metadata
        self.answers: tuple[HeldAnswer, ...] = tuple(dict.fromkeys(answers))
        self._rows = rows

    @cached_property
    def metadata(self) -> FrameMetadata:
        """The metadata, without a fingerprint."""
        metadata = self._describe()
        return replace(metadata, fingerprint=None) if metadata.fingerprint else metadata

    @property
    def fingerprint(self) -> Fingerprint:
        """The fingerprint of all cells."""
        return self._rows.whole()

    @cached_property
    def text(self) -> Carrier:
        """The metadata as text, with the fingerprint of some rows."""
        text = Carrier(replace(self.metadata, fingerprint=self._rows.sample()).dumps())
        text.description = self
        return text

    def rewritten(self, metadata: FrameMetadata, answers: Iterable[HeldAnswer]) -> HeldMetadata:
        """Return other metadata of the same rows."""
        return HeldMetadata(lambda: metadata, self._rows, answers)


class Carrier(str):
    """The text of a frame's metadata, which knows what is in memory beside it.

    pandas passes it on as it does text; a pickle or a file holds the text alone.
    """

    description: HeldMetadata | None = None

    def __copy__(self) -> Carrier:
        return self

    def __deepcopy__(self, memo: object) -> Carrier:
        return self

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)
