"""`FrameMetadata`, and how it is stored in ``DataFrame.attrs``, which only this module touches.

The metadata is stored as one canonical JSON string under ``df.attrs["aatoolkit"]``: pandas copies a
string for free, compares it by value, writes it to Parquet, and unpickles it where this package is
not installed. The string is made when ``attrs`` is first read (`LazyAttrs`). In memory it is a
`_Text`, a string that also refers to objects which are not in the text, such as the rows as they
were read (`_MetadataInMemory`).

The metadata of a column says which declared column it is, and whether the service could measure it
in the rows that were read. A column without metadata has the status ``unknown``, and so has a
column that pandas renamed. If pandas kept the metadata but changed the values, the `Fingerprint`
detects this, and the status of the column is ``unknown``. The metadata of a column that could not
be measured holds as long as the column has no values.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Protocol

from aatoolkit._util.show import Frame
from aatoolkit._util.text import canonical_json
from aatoolkit.availability import Availability, Status
from aatoolkit.availability.status import EMPTY as EMPTY
from aatoolkit.errors import MetadataError
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
)
from aatoolkit.metadata.recipe import Recipe, dump_recipe, renumbered, unpack
from aatoolkit.sections.registry import find_table

if TYPE_CHECKING:
    import pandas as pd

VERSION = "1.0"
"""The version of the metadata text; a newer major version is refused."""

ATTRIBUTE = "aatoolkit"
"""The key in ``DataFrame.attrs``, and in the schema of a Parquet file."""


@dataclass(frozen=True)
class FrameMetadata:
    """The metadata of a frame: of its columns, its key, and the responses that it was read from.

    ``grains`` maps the name of a table to the columns of the frame that identify the table's rows,
    if they are not the declared key. ``repeated`` lists the tables whose rows may occur in the
    frame more than once. ``fingerprint`` shows whether the frame still holds the values that were
    read. ``recipe`` says how the frame was made: see `aatoolkit.metadata.recipe`.
    """

    columns: Mapping[str, ColumnMetadata] = field(default_factory=dict)
    key: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    grains: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False)
    repeated: tuple[str, ...] = field(default=(), compare=False)
    fingerprint: Fingerprint | None = field(default=None, compare=False, repr=False)
    recipe: Recipe | None = field(default=None, compare=False, repr=False)

    def grain(self, table: str) -> tuple[str, ...] | None:
        """Return the frame's columns that identify a row of ``table``; None if none are known."""
        if table in self.grains:
            return self.grains[table]
        name_by_declared_column = {column.of: name for name, column in self.columns.items()}
        return (
            tuple(
                name_by_declared_column.get(f"{table}.{name}", name) for name in declared_key(table)
            )
            or None
        )

    def holds(self, name: str) -> bool:
        """Return whether a column has metadata and still holds the values that were read."""
        column = self.columns.get(name, NOTHING)
        return bool(column.of) or column.availability.status != Status.UNKNOWN

    def is_lost(self, name: str) -> bool:
        """Return whether a column's values were overwritten, or moved to other rows."""
        return self.columns.get(name, NOTHING).availability.reason in (MOVED, OVERWRITTEN)

    def dumps(self) -> str:
        """Return the metadata as canonical JSON: equal metadata gives equal text.

        Examples
        --------
        >>> FrameMetadata.loads(FrameMetadata(key=("brand",)).dumps()).key
        ('brand',)
        """
        body = {
            "version": VERSION,
            "key": self.key,
            "columns": {
                name: [column.of, *dump_state(column.availability)]
                for name, column in self.columns.items()
            },
            "sources": [
                {name: value for name, value in vars(source).items() if value not in (None, False)}
                for source in self.sources
            ],
        }
        optional_fields = {
            "grains": self.grains,
            "repeated": sorted(self.repeated),
            "statements": dump_statements(self.columns),
            "cautions": {
                name: column.caution for name, column in self.columns.items() if column.caution
            },
            "recipe": self.recipe and dump_recipe(self.recipe),
            "fingerprint": self.fingerprint and self.fingerprint.to_dict(),
        }
        body |= {name: value for name, value in optional_fields.items() if value}
        return canonical_json(body)

    @staticmethod
    @lru_cache(maxsize=256)
    def loads(text: str) -> FrameMetadata:
        """Parse the text that `dumps` returned.

        Raises
        ------
        MetadataError
            If the text is damaged, or of a newer major version.
        """
        version = None
        try:
            body = json.loads(unpack(text))
            version = str(body["version"])
            if int(version.split(".")[0]) != int(VERSION.split(".")[0]):
                raise MetadataError(
                    f"this metadata has version {version}, newer than {VERSION}; update aatoolkit",
                    version=version,
                )
            statements = load_statements(body.get("statements", {}))
            cautions = body.get("cautions", {})
            columns = {
                name: replace(
                    ColumnMetadata(declared_name, load_state(state), *statements.get(name, ())),
                    caution=cautions.get(name),
                )
                for name, (declared_name, *state) in body["columns"].items()
            }
            source_fields = {
                source_field.name for source_field in fields(Source)
            }  # a later version may know more
            recipe, fingerprint = body.get("recipe"), body.get("fingerprint")
            if recipe is not None:
                renumbered(recipe, {})  # which reads all of it
            return FrameMetadata(
                columns,
                tuple(body["key"]),
                tuple(
                    Source(
                        **{
                            field_name: source[field_name]
                            for field_name in source_fields & source.keys()
                        }
                    )
                    for source in body["sources"]
                ),
                {table: tuple(grain) for table, grain in body.get("grains", {}).items()},
                tuple(body.get("repeated", ())),
                None if fingerprint is None else Fingerprint.from_dict(fingerprint),
                recipe,
            )
        except MetadataError:
            raise
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            raise MetadataError(
                "the frame's aatoolkit metadata is damaged; drop it with df.attrs.pop('aatoolkit')",
                version=version,
            ) from None


def declared_key(table: str) -> tuple[str, ...]:
    """Return the declared key of a table; empty if the table has no key or is not declared."""
    declaration = find_table(table)
    return () if declaration is None else tuple(declaration.key)


def columns_of_tables(columns: Mapping[str, ColumnMetadata]) -> dict[str, list[str]]:
    """Return a dict from each table to the names of those ``columns`` that the table declares."""
    names_by_table: dict[str, list[str]] = {}
    for name, column in columns.items():
        if column.table:
            names_by_table.setdefault(column.table, []).append(name)
    return names_by_table


def tables_of(metadata: FrameMetadata) -> list[str]:
    """Return the names of the tables that declare the columns of a frame."""
    return [*columns_of_tables(metadata.columns)]


class HeldResponse(Protocol):
    """A response in memory that can be normalised again."""

    @property
    def source(self) -> Source:
        """The `Source` of the response: host, section, scope, time and hash."""

    @property
    def body(self) -> bytes | None:
        """The bytes of the response; None if they are no longer in memory."""

    def tables(self) -> Any:
        """Convert the response to tables again, and return them as `Tables`."""


class _MetadataInMemory:
    """The metadata of a frame, made when it is first needed, and the objects it is made from.

    Parameters
    ----------
    make_rows : callable
        A function that returns the rows as they were when the metadata was attached. The rows are
        hashed when the frame is first checked for changes.
    make_metadata : callable
        A function that returns the metadata.
    responses : iterable of HeldResponse
        The responses in memory that the frame was made of.
    """

    def __init__(
        self,
        make_rows: Callable[[], pd.DataFrame],
        make_metadata: Callable[[], FrameMetadata],
        responses: Iterable[HeldResponse],
    ) -> None:
        self.make_rows, self._make_metadata = make_rows, make_metadata
        self.responses: tuple[HeldResponse, ...] = tuple(dict.fromkeys(responses))

    @cached_property
    def metadata(self) -> FrameMetadata:
        """The metadata of the frame; it is made at the first access."""
        return self._make_metadata()

    @cached_property
    def text(self) -> _Text:
        """The metadata as text, with the fingerprint of a sample of the frame's rows."""
        text = _Text(replace(self.metadata, fingerprint=self._hash_rows(sample=True)).dumps())
        text.in_memory = self
        return text

    @cached_property
    def fingerprint(self) -> Fingerprint:
        """The fingerprint of all rows of the frame."""
        return self._hash_rows(sample=False)

    def _hash_rows(self, *, sample: bool) -> Fingerprint:
        """Return the fingerprint of the columns that have metadata.

        With ``sample``, only a sample of the rows is hashed. Columns that have no value because the
        service could not measure them are left out.
        """
        frame, columns = self.make_rows(), self.metadata.columns
        arrays = arrays_of(frame)
        names = [
            name
            for name, column in columns.items()
            if column != NOTHING
            and not (
                column.availability.status in EMPTY
                and (name not in arrays or arrays[name].isna().all())
            )
        ]
        return fingerprint_of(frame, names, self.metadata.key, sample=sample)


class _Text(str):
    """The text of a frame's metadata, with a reference to the metadata object in memory.

    pandas copies it like any text. In a pickle or a file, only the text is left.
    """

    in_memory: _MetadataInMemory | None = None

    def __deepcopy__(self, memo: object) -> _Text:
        return self

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)


_PENDING = FrameMetadata().dumps()
"""The text of empty metadata: a placeholder until the text of the frame's metadata is made."""


class LazyAttrs(dict[Any, Any]):
    """A dict for ``attrs`` that makes the text of the metadata only when the dict is first read.

    Comparing or copying the dict reads it, too. Copies and pickles are plain dicts. Compiled code
    that bypasses the dict's methods sees a placeholder: the text of empty metadata.

    Parameters
    ----------
    other_attrs : mapping
        The items of ``DataFrame.attrs`` other than the metadata.
    in_memory : _MetadataInMemory
        The metadata whose text is the value of ``aatoolkit``.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> lazy = LazyAttrs({"title": "Domains"}, SimpleNamespace(text="made"))
    >>> lazy.is_pending, lazy["aatoolkit"], lazy.is_pending
    (True, 'made', False)
    """

    def __init__(self, other_attrs: Mapping[Any, Any], in_memory: _MetadataInMemory) -> None:
        super().__init__({**other_attrs, ATTRIBUTE: _PENDING})
        self.in_memory = in_memory

    @property
    def is_pending(self) -> bool:
        """Whether the text was not made yet, so that the dict still has the placeholder."""
        return super().get(ATTRIBUTE) is _PENDING

    def __iter__(self) -> Iterator[Any]:
        # Because this is defined, `dict`, `update` and `**` call the methods of this class.
        return super().__iter__()

    def __reduce_ex__(self, protocol: Any) -> tuple[type[dict[Any, Any]], tuple[dict[Any, Any]]]:
        return dict, (self.copy(),)


def _make_text_first(method: Callable[..., Any]) -> Any:
    """Return a method of dict, wrapped so that the text of the metadata is made before the call."""

    def wrapper(*dicts: Any) -> Any:
        for attrs in dicts:
            if isinstance(attrs, LazyAttrs) and attrs.is_pending:
                dict.__setitem__(attrs, ATTRIBUTE, attrs.in_memory.text)
        return method(*dicts)

    return wrapper


_READERS = """
__getitem__ get items values pop popitem setdefault copy __eq__ __ne__ __or__ __ror__ __repr__
"""
for _name in _READERS.split():
    setattr(LazyAttrs, _name, _make_text_first(getattr(dict, _name)))


CHECKS: ContextVar[dict[int, tuple[pd.DataFrame, FingerprintCheck]] | None] = ContextVar(
    "checks", default=None
)
"""Maps the ``id`` of each frame to the frame and its check, while a verb runs; else None.

The checks can be cached because a verb changes no frame.
"""


def attach(
    frame: pd.DataFrame, metadata: FrameMetadata, *, responses: Iterable[HeldResponse] = ()
) -> pd.DataFrame:
    """Attach metadata to a frame, with a fingerprint of its rows, and return the frame.

    ``responses`` are the responses in memory that the frame was read from.
    """
    other_attrs = _copy_other_attrs(frame)
    frame.attrs = {}
    frame_copy = frame.copy(deep=False)
    _set_attrs(
        frame, other_attrs, _MetadataInMemory(lambda: frame_copy, lambda: metadata, responses)
    )
    return frame


def frame_with(
    make_frame: Callable[[], pd.DataFrame],
    make_metadata: Callable[[], FrameMetadata],
    responses: Iterable[HeldResponse],
) -> pd.DataFrame:
    """Return a frame whose metadata and fingerprint are made when they are first needed.

    The function ``make_frame`` makes the frame, and the function ``make_metadata`` makes the
    metadata of the frame. For the fingerprint ``make_frame`` is called again, because the first
    frame may have been changed by then.
    """
    frame = make_frame()
    _set_attrs(frame, {}, _MetadataInMemory(make_frame, make_metadata, responses))
    return frame


def metadata_of(frame: pd.DataFrame, *, levels: bool = False) -> FrameMetadata:
    """Return the part of a frame's metadata that still holds: one entry per column, in order.

    Columns without metadata have the status ``unknown``, and so have columns whose values were
    changed since they were read.

    Parameters
    ----------
    frame : pandas.DataFrame
        The frame.
    levels : bool
        Whether to include the named levels of the index, after the columns.

    Raises
    ------
    MetadataError
        If the metadata is damaged, or of a newer major version.
    """
    metadata, _ = stored_of(frame)
    names = [str(name) for name in frame.columns]
    level_names = [str(name) for name in frame.index.names if name is not None]
    fingerprint_check = check_of(frame, anew=True)
    columns = {}
    for name in dict.fromkeys((*names, *level_names)):
        column, reason = metadata.columns.get(name, NOTHING), None
        if column.availability.status in EMPTY and name not in fingerprint_check.hashed_columns:
            reason = None if fingerprint_check.is_empty(name) else OVERWRITTEN
        elif column != NOTHING:
            reason = fingerprint_check.change(name)
        unknown_column = ColumnMetadata(None, Availability(Status.UNKNOWN, None, reason))
        columns[name] = unknown_column if reason else column
    columns = with_row_states(frame, columns)
    key = tuple(name for name in metadata.key if name in columns)
    for name in {*level_names} - {*names} if not levels else ():
        del columns[name]
    repeated_tables = {
        *metadata.repeated,
        *fingerprint_check.repeated(columns_of_tables(columns)),
    }
    return FrameMetadata(
        columns, key, metadata.sources, metadata.grains, tuple(sorted(repeated_tables))
    )


def check_of(frame: pd.DataFrame, *, anew: bool = False) -> FingerprintCheck:
    """Return the `FingerprintCheck` of a frame, which finds the columns that were changed.

    It is cached while a method of ``df.aa`` runs; with ``anew``, a new one is always made.
    """
    cached_checks = CHECKS.get()
    if cached_checks is not None and id(frame) in cached_checks and not anew:
        return cached_checks[id(frame)][1]
    metadata, _ = stored_of(frame)
    check = FingerprintCheck(frame, fingerprint_in(frame, metadata) or Fingerprint(), metadata.key)
    if cached_checks is not None:
        cached_checks[id(frame)] = frame, check
    return check


def has_metadata(frame: pd.DataFrame) -> bool:
    """Return whether a frame has metadata, even if the metadata is damaged."""
    return ATTRIBUTE in frame.attrs


def text_of(frame: pd.DataFrame) -> str | None:
    """Return the metadata of a frame as JSON text; None if the frame has no metadata."""
    return frame.attrs.get(ATTRIBUTE)


def _find_in_memory(frame: pd.DataFrame) -> _MetadataInMemory | None:
    """Return the metadata object that a frame has in memory; None if it has none, or only text."""
    attrs = frame.attrs
    if isinstance(attrs, LazyAttrs) and attrs.is_pending:
        return attrs.in_memory
    text = attrs.get(ATTRIBUTE)
    return text.in_memory if isinstance(text, _Text) else None


def replace_metadata(
    frame: pd.DataFrame, metadata: FrameMetadata, responses: Iterable[HeldResponse]
) -> None:
    """Replace the metadata of a frame whose rows were not changed since metadata was attached."""
    in_memory = _find_in_memory(frame)
    if in_memory is None:
        attach(frame, metadata, responses=responses)
    else:
        _set_attrs(
            frame,
            _copy_other_attrs(frame),
            _MetadataInMemory(in_memory.make_rows, lambda: metadata, responses),
        )


def fingerprint_in(frame: pd.DataFrame, metadata: FrameMetadata) -> Fingerprint | None:
    """Return the fingerprint of all rows of a frame, as they were read.

    For a frame that was pickled or read from a file, return the fingerprint in ``metadata``: of a
    sample of its rows, or None.
    """
    in_memory = _find_in_memory(frame)
    return metadata.fingerprint if in_memory is None else in_memory.fingerprint


def stored_of(frame: pd.DataFrame) -> tuple[FrameMetadata, tuple[HeldResponse, ...]]:
    """Return the metadata attached to a frame, not checked for changes, and the held responses.

    The held responses are those in memory that the frame was read from.

    Raises
    ------
    MetadataError
        If the metadata is damaged, or of a newer major version.
    """
    in_memory = _find_in_memory(frame)
    if in_memory is not None:
        return in_memory.metadata, in_memory.responses
    text = text_of(frame)
    return (FrameMetadata() if text is None else FrameMetadata.loads(text)), ()


def _set_attrs(
    frame: pd.DataFrame, other_attrs: Mapping[Any, Any], in_memory: _MetadataInMemory
) -> None:
    """Set the attrs of a frame to ``other_attrs`` and the metadata; the text is made when read."""
    if not isinstance(frame, Frame):
        frame.__class__ = Frame
    # the property would copy it to a plain dict
    object.__setattr__(frame, "_attrs", LazyAttrs(other_attrs, in_memory))


def _copy_other_attrs(frame: pd.DataFrame) -> dict[Any, Any]:
    """Return a dict with the attrs of a frame other than the metadata."""
    # the method of dict, as those of `LazyAttrs` would make the text
    return {name: value for name, value in dict.items(frame.attrs) if name != ATTRIBUTE}


def with_row_states(
    frame: pd.DataFrame, columns: Mapping[str, ColumnMetadata]
) -> dict[str, ColumnMetadata]:
    """Return ``columns`` with availability recomputed for the rows that ``frame`` has now."""
    partial_columns = {
        name: column for name, column in columns.items() if column.statements or column.absent
    }
    if not partial_columns:
        return {**columns}
    row_status = row_status_of(frame, FrameMetadata(columns))
    return {
        **columns,
        **{name: row_status.recompute(column) for name, column in partial_columns.items()},
    }


def row_status_of(frame: pd.DataFrame, metadata: FrameMetadata) -> RowStatus:
    """Return a `RowStatus`, which computes the availability of the rows of a frame.

    A statement selects rows only by columns that, by ``metadata``, still hold the values that were
    read.
    """
    trusted_columns = [*filter(metadata.holds, metadata.columns)]
    return RowStatus(arrays_of(frame), len(frame), trusted_columns)
