"""`FrameMetadata`, and where it is stored: in ``DataFrame.attrs``, which nothing else touches.

It is stored as one canonical JSON string under ``df.attrs["aatoolkit"]``: pandas copies a
string for free, compares it by value, writes it to Parquet, and unpickles it where this
package is not installed. It is made when somebody reads ``attrs`` (`LazyAttrs`), knows what stays
in memory beside it (`Carrier`, `HeldMetadata`), and is parsed through a cache.

The metadata of a column names which declared column it is, and whether the service could
measure it in the rows that were read. A column without metadata is unknown, so a column that
was renamed has none. Metadata counts only for what was read: the `Fingerprint` detects that
pandas kept the string but not the values, and then the column is unknown. The metadata of a
column that could not be measured counts as long as the column holds no value.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from copy import deepcopy
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Protocol

from aatoolkit._util.text import visible
from aatoolkit.availability import Availability, Status
from aatoolkit.errors import MetadataError
from aatoolkit.metadata.column import EMPTY as EMPTY
from aatoolkit.metadata.column import NOTHING as NOTHING
from aatoolkit.metadata.column import ColumnMetadata as ColumnMetadata
from aatoolkit.metadata.column import (
    RowStatus,
    dump_state,
    dump_statements,
    load_state,
    load_statements,
)
from aatoolkit.metadata.column import Source as Source
from aatoolkit.metadata.fingerprint import (
    MOVED,
    OVERWRITTEN,
    Fingerprint,
    FingerprintCheck,
    arrays_of,
    fingerprint_of,
    row_numbers,
)
from aatoolkit.metadata.recipe import Recipe, dump_recipe, load_recipe, read_from, unpack

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

VERSION = "1.0"
"""The version of the carrier; a newer major version is refused."""

ATTRIBUTE = "aatoolkit"
"""The key in ``DataFrame.attrs``, and in the schema of a Parquet file."""


@dataclass(frozen=True)
class FrameMetadata:
    """The metadata of a frame: its columns, its key, and the answers it was read from.

    The fingerprint shows whether the frame still holds what was read, and the recipe how it was
    made: see `aatoolkit.metadata.recipe`.
    """

    columns: Mapping[str, ColumnMetadata] = field(default_factory=dict)
    key: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    grains: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False)
    repeated: tuple[str, ...] = field(default=(), compare=False)
    fingerprint: Fingerprint | None = field(default=None, compare=False, repr=False)
    recipe: Recipe | None = field(default=None, compare=False, repr=False)

    def __repr__(self) -> str:
        key = f", key {', '.join(map(visible, self.key))}" if self.key else ""
        answers = f"{len(self.sources):,} answer{'s' * (len(self.sources) != 1)}"
        return f"<FrameMetadata of {len(self.columns):,} columns{key}, from {answers}>"

    def grain(self, table: str, key: tuple[str, ...] | None) -> tuple[str, ...] | None:
        """The columns of the frame that identify a row of a declared table.

        Parameters
        ----------
        table : str
            The declared table.
        key : tuple of str, optional
            Its declared key.
        """
        if table in self.grains:
            return self.grains[table]
        names = {column.of: name for name, column in self.columns.items()}
        return tuple(names.get(f"{table}.{name}", name) for name in key) if key else None

    def holds(self, name: str) -> bool:
        """Whether a column has metadata, and still holds what was read."""
        column = self.columns.get(name, NOTHING)
        return bool(column.of) or column.availability.status != Status.UNKNOWN

    def is_lost(self, name: str) -> bool:
        """Whether a column was read, and nothing is known of the values that it holds now."""
        return self.columns.get(name, NOTHING).availability.reason in (MOVED, OVERWRITTEN)

    def dumps(self) -> str:
        """Serialize to canonical JSON: equal metadata gives equal text.

        Examples
        --------
        >>> FrameMetadata.loads(FrameMetadata(key=("brand",)).dumps()).key
        ('brand',)
        """
        states = sorted(
            {dump_state(column.availability) for column in self.columns.values()}, key=repr
        )
        body: dict[str, Any] = {
            "version": VERSION,
            "key": list(self.key),
            "states": [list(state) for state in states],
            "columns": {
                name: [column.of, states.index(dump_state(column.availability))]
                for name, column in self.columns.items()
            },
            "sources": [
                {k: v for k, v in vars(source).items() if v not in (None, False)}
                for source in self.sources
            ],
        }
        cautions = {name: each.caution for name, each in self.columns.items() if each.caution}
        optional = {
            "grains": {table: list(grain) for table, grain in self.grains.items()},
            "repeated": sorted(self.repeated),
            "statements": dump_statements(self.columns),
            "cautions": cautions,
        }
        body |= {name: part for name, part in optional.items() if part}
        if self.recipe is not None:
            whole = [read_from(0, table) for table in tables_of(self)]
            body["recipe"] = 0 if [self.recipe] == whole else dump_recipe(self.recipe)
        if self.fingerprint is not None:
            body["fingerprint"] = _dump_fingerprint(self.fingerprint)
        return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    @staticmethod
    def loads(text: str) -> FrameMetadata:
        """Parse the JSON text.

        Raises
        ------
        MetadataError
            If it is damaged, or of a newer major version.
        """
        if not isinstance(text, str):
            raise _damaged()
        return _loads(text)


def tables_of(known: FrameMetadata) -> list[str]:
    """The declared tables that the columns of a frame are of."""
    named = (column.table for column in known.columns.values())
    return [*dict.fromkeys(filter(None, named))]


@lru_cache(maxsize=256)
def _loads(text: str) -> FrameMetadata:
    try:
        body = json.loads(unpack(text))
        version = str(body["version"])
        major = int(version.split(".")[0])
    except (ValueError, TypeError, KeyError, RecursionError):
        raise _damaged() from None
    if major != int(VERSION.split(".")[0]):
        raise MetadataError(
            f"this metadata has version {version}, newer than {VERSION}; update aatoolkit",
            version=version,
        )
    try:
        states = [load_state(state) for state in body["states"]]
        stated = load_statements(body.get("statements", []))
        cautions = body.get("cautions", {})
        return FrameMetadata(
            {
                name: replace(
                    ColumnMetadata(of, states[state], *stated.get(name, ())),
                    caution=cautions.get(name),
                )
                for name, (of, state) in body["columns"].items()
            },
            tuple(body["key"]),
            tuple(Source(**_source_fields(source)) for source in body["sources"]),
            {table: tuple(grain) for table, grain in body.get("grains", {}).items()},
            tuple(body.get("repeated", ())),
            _load_fingerprint(body.get("fingerprint")),
            load_recipe(_recipe_of(body)),
        )
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        raise _damaged(version) from None


def _recipe_of(body: Mapping[str, Any]) -> Any:
    """The recipe in a frame's metadata; 0 is short for one table, read from the first answer."""
    if body.get("recipe") != 0:
        return body.get("recipe")
    named = [of for of, _ in body["columns"].values() if of]
    return read_from(0, named[0].partition(".")[0])


def _damaged(version: str | None = None) -> MetadataError:
    return MetadataError(
        "the frame's aatoolkit metadata is damaged; drop it with df.attrs.pop('aatoolkit')",
        version=version,
    )


def _source_fields(source: Mapping[str, Any]) -> dict[str, Any]:
    """Select the fields of a source that this version knows."""
    known = {field.name for field in fields(Source)}
    facts = {name: fact for name, fact in source.items() if name in known}
    if not all(isinstance(fact, bool if name == "stale" else str) for name, fact in facts.items()):
        raise TypeError("a fact of a source is of the wrong type")
    return facts


def _dump_fingerprint(fingerprint: Fingerprint) -> dict[str, Any]:
    """Serialize a fingerprint, its hashes as hexadecimal text."""
    # What labels are is known where they are the numbers of rows.
    labels = () if _is_numbered(fingerprint) else fingerprint.labels
    return {
        "rows": fingerprint.rows,
        "index": list(fingerprint.index),
        "span": fingerprint.span and list(fingerprint.span),
        "labels": _hexadecimal(labels, ">u4", 16),
        "keys": _hexadecimal(fingerprint.keys, ">u4", 16),
        "cells": {
            name: [missing, _hexadecimal(hashes, ">u2")]
            for name, (missing, hashes) in fingerprint.cells.items()
        },
    }


def _load_fingerprint(body: Mapping[str, Any] | None) -> Fingerprint | None:
    """Parse a fingerprint from its JSON value."""
    if body is None:
        return None
    span, rows = body["span"], int(body["rows"])
    labels = _numbers(body["labels"], ">u4", 16)
    if not len(labels) and 0 < rows < 1 << 62 and span == [0, rows - 1]:
        labels = row_numbers(rows)
    return Fingerprint(
        rows,
        tuple(body["index"]),
        span and (int(span[0]), int(span[1])),
        labels,
        _numbers(body["keys"], ">u4", 16),
        {
            name: (int(missing), _numbers(text, ">u2"))
            for name, (missing, text) in body["cells"].items()
        },
    )


def _is_numbered(fingerprint: Fingerprint) -> bool:
    """Whether the labels are the numbers of rows from 0 on."""
    import numpy as np

    is_plain = fingerprint.index == (None,) and fingerprint.span == (0, fingerprint.rows - 1)
    return is_plain and np.array_equal(fingerprint.labels, row_numbers(fingerprint.rows))


def _hexadecimal(hashes: Any, kind: str, shift: int = 0) -> str:
    """Hashes as one text of numbers of some bytes, without low bits that are 0."""
    import numpy as np

    return (np.asarray(hashes, np.uint64) >> np.uint64(shift)).astype(kind).tobytes().hex()


def _numbers(text: str, kind: str, shift: int = 0) -> Any:
    """Parse such a text."""
    import numpy as np

    return np.frombuffer(bytes.fromhex(text), kind).astype(np.uint64) << np.uint64(shift)


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

    @cached_property
    def _names(self) -> list[str]:
        columns = self._metadata().columns
        empty = [name for name, of in columns.items() if of.availability.status in EMPTY]
        held = arrays_of(self._rows) if empty else {}
        blank = {name for name in empty if name not in held or held[name].isna().all()}
        return [name for name, of in columns.items() if of != NOTHING and name not in blank]

    @cached_property
    def sample(self) -> Fingerprint:
        """The fingerprint of some rows, which the text of the metadata holds."""
        return fingerprint_of(self._rows, self._names, self._key, sample=True)

    @cached_property
    def whole(self) -> Fingerprint:
        """The fingerprint of all cells."""
        whole = fingerprint_of(self._rows, self._names, self._key)
        if self.sample:  # which needs the rows as well
            self._rows = None
        return whole


class HeldMetadata:
    """The metadata of a frame, with what stays in memory beside it.

    Parameters
    ----------
    describe : callable
        Gives the metadata, when it is first asked for.
    rows : HashedLater
        The rows it was attached to.
    answers : iterable of HeldAnswer
        The answers that the frame was made of, as far as they are at hand.
    """

    def __init__(
        self,
        describe: Callable[[], FrameMetadata],
        rows: HashedLater,
        answers: Iterable[HeldAnswer],
    ) -> None:
        self._describe, self._rows = describe, rows
        self.answers: tuple[HeldAnswer, ...] = tuple(dict.fromkeys(answers))

    @cached_property
    def metadata(self) -> FrameMetadata:
        """The metadata, without a fingerprint."""
        metadata = self._describe()
        return replace(metadata, fingerprint=None) if metadata.fingerprint else metadata

    @property
    def fingerprint(self) -> Fingerprint:
        """The fingerprint of all cells."""
        return self._rows.whole

    @cached_property
    def text(self) -> Carrier:
        """The metadata as text, with the fingerprint of some rows."""
        text = Carrier(replace(self.metadata, fingerprint=self._rows.sample).dumps())
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


def _filled(method: Callable[..., Any]) -> Any:
    """A method of a dict that reads values, once the text is made."""

    def read(self: LazyAttrs, *arguments: Any) -> Any:
        self._fill()
        return method(self, *arguments)

    return read


class LazyAttrs(dict[Any, Any]):
    """A dict that makes one of its values when it is first read, compared, copied or pickled.

    Copies and pickles are plain dicts. Compiled code that reads the dict past its methods finds
    ``instead`` in place of the value.

    Parameters
    ----------
    others : mapping
        The other items.
    source : HeldMetadata
        What the value is the text of.
    instead : str
        What stands in its place until then.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> lazy = LazyAttrs({"title": "Domains"}, SimpleNamespace(text="made"), "not yet")
    >>> lazy.is_pending, lazy["aatoolkit"], lazy.is_pending
    (True, 'made', False)
    """

    def __init__(self, others: Mapping[Any, Any], source: HeldMetadata, instead: str) -> None:
        super().__init__(others)
        super().__setitem__(ATTRIBUTE, instead)
        self.source = source
        self._instead = instead

    @property
    def is_pending(self) -> bool:
        """Whether the value was not made yet, nor replaced, nor removed."""
        return super().get(ATTRIBUTE) is self._instead

    def others(self) -> dict[Any, Any]:
        """The items beside the value."""
        get = super().get
        return {key: get(key) for key in self if key != ATTRIBUTE}

    def _fill(self) -> None:
        if self.is_pending:
            super().__setitem__(ATTRIBUTE, self.source.text)

    def __iter__(self) -> Iterator[Any]:
        # That it is defined makes `dict`, `update` and `**` ask the methods of this class.
        return super().__iter__()

    __getitem__ = _filled(dict.__getitem__)
    get = _filled(dict.get)
    items = _filled(dict.items)
    values = _filled(dict.values)
    pop = _filled(dict.pop)
    popitem = _filled(dict.popitem)
    setdefault = _filled(dict.setdefault)
    copy = _filled(dict.copy)

    def __eq__(self, other: object) -> bool:
        self._fill()
        return super().__eq__(other.copy() if isinstance(other, LazyAttrs) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None

    def __or__(self, other: Any) -> Any:
        return self.copy() | (other.copy() if isinstance(other, LazyAttrs) else other)

    def __ror__(self, other: Any) -> Any:
        return other | self.copy()

    def __repr__(self) -> str:
        return repr(self.copy())

    def __copy__(self) -> dict[Any, Any]:
        plain: dict[Any, Any] = self.copy()
        return plain

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[Any, Any]:
        return deepcopy(self.copy(), memo)

    def __reduce_ex__(self, protocol: Any) -> tuple[type[dict[Any, Any]], tuple[dict[Any, Any]]]:
        return dict, (self.copy(),)


_NOTHING_KNOWN = FrameMetadata().dumps()
"""What stands in the place of a text that was not made yet."""

CHECKS: ContextVar[dict[int, tuple[pd.DataFrame, FingerprintCheck]] | None] = ContextVar(
    "checks", default=None
)
"""The frames checked while a verb runs, which changes none of them, so that it checks each once."""


def attach(
    frame: pd.DataFrame,
    metadata: FrameMetadata,
    table: pa.Table | None = None,
    answers: Iterable[HeldAnswer] = (),
) -> pd.DataFrame:
    """Put metadata on a frame, with a fingerprint of its rows, and return the frame.

    The ``table`` is the Arrow table that a new frame was made of, if it was made of one; the
    ``answers`` are those it was read from, as far as they are at hand.
    """
    others = _other_attrs(frame)
    rows: pd.DataFrame | pa.Table = table
    if table is None:
        frame.attrs = {}
        rows = frame.copy(deep=False)
    hashed = HashedLater(rows, lambda: metadata, metadata.key)
    _put(frame, others, HeldMetadata(lambda: metadata, hashed, answers))
    return frame


def attach_later(
    frame: pd.DataFrame,
    metadata: Callable[[], FrameMetadata],
    key: tuple[str, ...],
    table: pa.Table,
    answers: Iterable[HeldAnswer],
) -> pd.DataFrame:
    """Put metadata on a new frame that is made when somebody asks for it; see `attach`."""
    _put(frame, {}, HeldMetadata(metadata, HashedLater(table, metadata, key), answers))
    return frame


def attach_unchecked(frame: pd.DataFrame, metadata: FrameMetadata) -> pd.DataFrame:
    """Put metadata on a frame without hashing its rows again, and return the frame."""
    frame.attrs[ATTRIBUTE] = metadata.dumps()
    return frame


def metadata_of(frame: pd.DataFrame, *, levels: bool = False) -> FrameMetadata:
    """Return the metadata of a frame, checked: one entry per column, in their order.

    Columns without metadata are unknown. So is a column that no longer holds what was read.

    Parameters
    ----------
    frame : pandas.DataFrame
        The frame.
    levels : bool
        Whether named levels of the index are included, after the columns.

    Raises
    ------
    MetadataError
        If the metadata is damaged, or of a newer major version.
    """
    known, _ = stored_of(frame)
    names = [str(name) for name in frame.columns]
    inside = [str(name) for name in frame.index.names if name is not None]
    is_hashed = fingerprint_in(frame, known) is not None
    check = check_of(frame, anew=True)
    columns = {
        name: _verified(known, name, check, is_hashed) for name in dict.fromkeys((*names, *inside))
    }
    columns = over_rows(frame, columns)
    for name in {*inside} - {*names} if not levels else ():
        del columns[name]
    key = tuple(name for name in known.key if name in names or name in inside)
    repeated = {*known.repeated, *check.repeated(columns_of_tables(columns))}
    return FrameMetadata(columns, key, known.sources, known.grains, tuple(sorted(repeated)))


def check_of(frame: pd.DataFrame, *, anew: bool = False) -> FingerprintCheck:
    """Return the check of a frame against its fingerprint; while a verb runs, that made before."""
    shared = CHECKS.get()
    if shared is not None and id(frame) in shared and not anew:
        return shared[id(frame)][1]
    known, _ = stored_of(frame)
    check = FingerprintCheck(frame, fingerprint_in(frame, known) or Fingerprint(), known.key)
    if shared is not None:
        shared[id(frame)] = frame, check
    return check


def columns_of_tables(columns: Mapping[str, ColumnMetadata]) -> dict[str, list[str]]:
    """The columns of a frame by the table that they are of."""
    tables: dict[str, list[str]] = {}
    for name, column in columns.items():
        if column.table:
            tables.setdefault(column.table, []).append(name)
    return tables


def has_metadata(frame: pd.DataFrame) -> bool:
    """Whether a frame carries metadata, damaged or not."""
    return ATTRIBUTE in frame.attrs


def text_of(frame: pd.DataFrame) -> str | None:
    """Return the metadata of a frame as the text that it carries; None where it carries none."""
    text: str | None = frame.attrs.get(ATTRIBUTE)
    return text


def description_of(frame: pd.DataFrame) -> HeldMetadata | None:
    """Return the metadata of a frame with what is in memory beside it; None where that is lost."""
    attrs = frame.attrs
    if isinstance(attrs, LazyAttrs) and attrs.is_pending:
        return attrs.source
    text = attrs.get(ATTRIBUTE)
    return text.description if isinstance(text, Carrier) else None


def describe_anew(
    frame: pd.DataFrame, metadata: FrameMetadata, answers: Iterable[HeldAnswer]
) -> None:
    """Replace the metadata of a frame whose rows are still those that it was attached to."""
    known = description_of(frame)
    if known is None:
        attach(frame, metadata, answers=answers)
    else:
        _put(frame, _other_attrs(frame), known.rewritten(metadata, answers))


def fingerprint_in(frame: pd.DataFrame, known: FrameMetadata) -> Fingerprint | None:
    """Return the fingerprint of all rows, or the sample that the stored metadata holds."""
    found = description_of(frame)
    return known.fingerprint if found is None else found.fingerprint


def stored_of(frame: pd.DataFrame) -> tuple[FrameMetadata, tuple[HeldAnswer, ...]]:
    """Return the metadata as it was attached, unchecked, and the answers held in memory.

    Raises
    ------
    MetadataError
        If it is damaged, or of a newer major version.
    """
    found = description_of(frame)
    if found is not None:
        return found.metadata, found.answers
    text = frame.attrs.get(ATTRIBUTE)
    return (FrameMetadata() if text is None else FrameMetadata.loads(text)), ()


def _put(frame: pd.DataFrame, others: Mapping[Any, Any], description: HeldMetadata) -> None:
    """Put a description on a frame, whose text is made when somebody reads it."""
    lazy = LazyAttrs(others, description, _NOTHING_KNOWN)
    object.__setattr__(frame, "_attrs", lazy)  # the property would copy it to a plain dict
    if frame.attrs is not lazy:  # pandas keeps it elsewhere
        frame.attrs = {**others, ATTRIBUTE: description.text}


def _other_attrs(frame: pd.DataFrame) -> dict[Any, Any]:
    attrs = frame.attrs
    if isinstance(attrs, LazyAttrs):
        return attrs.others()
    return {name: value for name, value in attrs.items() if name != ATTRIBUTE}


def _verified(
    known: FrameMetadata, name: str, check: FingerprintCheck, is_hashed: bool
) -> ColumnMetadata:
    column = known.columns.get(name, NOTHING)
    if column == NOTHING:
        return column
    if column.availability.status in EMPTY and name not in check.hashed:
        change = None if check.is_empty(name) else OVERWRITTEN
    else:
        change = check.change(name) if is_hashed else None
    if change is None:
        return column
    return ColumnMetadata(None, Availability(Status.UNKNOWN, None, change))


def over_rows(
    frame: pd.DataFrame, columns: Mapping[str, ColumnMetadata]
) -> dict[str, ColumnMetadata]:
    """Recompute the columns' availability over the rows that the frame has."""
    if not any(column.statements or column.absent for column in columns.values()):
        return {**columns}
    rows = rows_of(frame, FrameMetadata(columns))
    return {
        name: rows.over(column) if column.statements or column.absent else column
        for name, column in columns.items()
    }


def rows_of(frame: pd.DataFrame, known: FrameMetadata) -> RowStatus:
    """Build the `RowStatus` of a frame, from columns that still hold what was read."""
    trusted = [*filter(known.holds, known.columns)]
    return RowStatus(arrays_of(frame), len(frame), trusted)
