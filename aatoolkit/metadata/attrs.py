"""`FrameMetadata`, the metadata of a DataFrame, and its storage in ``DataFrame.attrs``.

The metadata is a JSON text under ``df.attrs["aatoolkit"]``, which pandas copies and writes to
files. The text is created when it is first read.

pandas may keep the text although values were changed. Columns with changed values are detected;
their status is then ``unknown``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Protocol

from aatoolkit._util.grouping import group_values
from aatoolkit._util.show import Frame, LazyAttr
from aatoolkit._util.text import canonical_json
from aatoolkit.availability import Availability, Status
from aatoolkit.availability.status import EMPTY as EMPTY
from aatoolkit.errors import MetadataError
from aatoolkit.metadata.column import (
    NO_METADATA as NO_METADATA,
    ColumnMetadata as ColumnMetadata,
    RowAvailability,
    Source as Source,
    dump_availability,
    dump_statements,
    load_availability,
    load_statements,
)
from aatoolkit.metadata.fingerprint import (
    MOVED_REASON,
    OVERWRITTEN_REASON,
    Fingerprint,
    FingerprintCheck,
    arrays_of,
    fingerprint_of,
)
from aatoolkit.metadata.recipe import Recipe, decompress_text, renumber, to_stored_recipe
from aatoolkit.sections.column import Column
from aatoolkit.sections.registry import find_table

if TYPE_CHECKING:
    import pandas as pd

METADATA_TEXT_VERSION = "1.0"
"""The version of the JSON text of metadata; text of a newer major version is refused."""

ATTRS_KEY = "aatoolkit"
"""The key of the metadata in ``DataFrame.attrs``, and in the schema of a Parquet file."""

UNDECLARED = Column("undeclared", "string")
"""The declaration that is used for undeclared columns: without unit and aggregation rule."""


@dataclass(frozen=True)
class FrameMetadata:
    """The metadata of a DataFrame: its columns, its key, and the responses it was read from.

    The key is the tuple of columns that identify a row. A DataFrame can have columns of several
    declared tables. ``key_by_table`` has the keys of the tables whose key differs from the declared
    one. ``repeated_tables`` has the names of the tables whose rows may occur several times.
    """

    columns: Mapping[str, ColumnMetadata] = field(default_factory=dict)
    key: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    # the key columns of tables, if not as declared
    key_by_table: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False)
    # tables whose rows may occur several times
    repeated_tables: tuple[str, ...] = field(default=(), compare=False)
    # hashes of the values that were read, to detect changes
    fingerprint: Fingerprint | None = field(default=None, compare=False, repr=False)
    recipe: Recipe | None = field(default=None, compare=False, repr=False)  # how it was made

    def key_of(self, table_name: str) -> tuple[str, ...] | None:
        """Return the names of the columns that identify a row of a declared table.

        The result is None if they are not known.
        """
        if table_name in self.key_by_table:
            return self.key_by_table[table_name]
        name_by_declared_name = {
            column.declared_name: name for name, column in self.columns.items()
        }
        return (
            tuple(
                name_by_declared_name.get(f"{table_name}.{name}", name)
                for name in declared_key(table_name)
            )
            or None
        )

    def has_valid_metadata(self, column_name: str) -> bool:
        """Return whether a column has valid metadata; it has none if its values were changed."""
        column_metadata = self.columns.get(column_name, NO_METADATA)
        return (
            bool(column_metadata.declared_name)
            or column_metadata.availability.status != Status.UNKNOWN
        )

    def has_lost_values(self, column_name: str) -> bool:
        """Return whether the values of a column were overwritten, or moved to other rows."""
        return self.columns.get(column_name, NO_METADATA).availability.reason in (
            MOVED_REASON,
            OVERWRITTEN_REASON,
        )

    def declaration_of(self, column_name: str) -> Column:
        """Return the declaration (unit, rule and so on) of a column of the DataFrame.

        The result is `UNDECLARED` if there is none.
        """
        return declaration_of(self.columns.get(column_name, NO_METADATA)) or UNDECLARED

    def dumps(self) -> str:
        """Convert the metadata to JSON text, which is the same for equal metadata.

        Examples
        --------
        >>> FrameMetadata.loads(FrameMetadata(key=("brand",)).dumps()).key
        ('brand',)
        """
        document = {
            "version": METADATA_TEXT_VERSION,
            "key": self.key,
            "columns": {
                name: [column.declared_name, *dump_availability(column.availability)]
                for name, column in self.columns.items()
            },
            "sources": [
                {name: value for name, value in vars(source).items() if value not in (None, False)}
                for source in self.sources
            ],
        }
        optional_fields = {
            "grains": self.key_by_table,
            "repeated": sorted(self.repeated_tables),
            "statements": dump_statements(self.columns),
            "cautions": {
                name: column.caution for name, column in self.columns.items() if column.caution
            },
            "recipe": self.recipe and to_stored_recipe(self.recipe),
            "fingerprint": self.fingerprint and self.fingerprint.to_dict(),
        }
        document |= {name: value for name, value in optional_fields.items() if value}
        return canonical_json(document)

    @staticmethod
    @lru_cache(maxsize=256)
    def loads(text: str) -> FrameMetadata:
        """Parse the text that `dumps` returned; raise `MetadataError` if it is damaged."""
        version = None
        try:
            document = json.loads(decompress_text(text))
            version = str(document["version"])
            if int(version.split(".")[0]) != int(METADATA_TEXT_VERSION.split(".")[0]):
                raise MetadataError(
                    f"this metadata has version {version}, newer than {METADATA_TEXT_VERSION}; "
                    "update aatoolkit",
                    version=version,
                )
            statements_by_column = load_statements(document.get("statements", {}))
            caution_by_column = document.get("cautions", {})
            metadata_by_column = {
                name: replace(
                    ColumnMetadata(
                        declared_name,
                        load_availability(availability_fields),
                        *statements_by_column.get(name, ()),
                    ),
                    caution=caution_by_column.get(name),
                )
                for name, (declared_name, *availability_fields) in document["columns"].items()
            }
            # a later version may know more
            source_fields = {field.name for field in fields(Source)}
            recipe = document.get("recipe")
            fingerprint = document.get("fingerprint")
            if recipe is not None:
                renumber(recipe, {})  # which reads all of it
            return FrameMetadata(
                metadata_by_column,
                tuple(document["key"]),
                tuple(
                    Source(**{name: source[name] for name in source_fields & source.keys()})
                    for source in document["sources"]
                ),
                {table: tuple(key) for table, key in document.get("grains", {}).items()},
                tuple(document.get("repeated", ())),
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


def declaration_of(column: ColumnMetadata) -> Column | None:
    """Return the declaration of a column, with unit and description; None if there is none."""
    table_name, _, column_name = (column.declared_name or "").partition(".")
    declared_table = find_table(table_name)
    try:
        return None if declared_table is None else declared_table[column_name]
    except KeyError:
        return None


def declared_key(table_name: str) -> tuple[str, ...]:
    """Return the names of the columns that identify a row of a table, as it is declared.

    The tuple is empty if no such table is declared, or if it has no key.
    """
    table_declaration = find_table(table_name)
    return () if table_declaration is None else tuple(table_declaration.key)


def columns_by_table(columns: Mapping[str, ColumnMetadata]) -> dict[str, list[str]]:
    """Group columns by the declared table that they come from.

    The result is a dict from the name of a table to the names of its columns.
    """
    return group_values((column.table, name) for name, column in columns.items() if column.table)


def table_names_of(metadata: FrameMetadata) -> list[str]:
    """Return the names of the declared tables from which the columns of a DataFrame come."""
    return [*columns_by_table(metadata.columns)]


class HeldResponse(Protocol):
    """The protocol of responses that are held in memory and can be converted to tables again."""

    @property
    def source(self) -> Source:
        """The host, section (kind of response), time and hash of the response."""

    @property
    def body(self) -> bytes | None:
        """The bytes of the response; None if they are no longer in memory."""

    def load_tables(self) -> Any:
        """Convert the response to tables again; return a `Tables` object."""


class _LazyMetadata(LazyAttr):
    """The metadata of a DataFrame in memory, computed on first access.

    ``make_frame`` is a function that returns the DataFrame as it was when the metadata was
    attached, and ``make_metadata`` one that returns the metadata. ``responses`` are the responses
    that the DataFrame was read from.
    """

    def __init__(
        self,
        make_frame: Callable[[], pd.DataFrame],
        make_metadata: Callable[[], FrameMetadata],
        responses: Iterable[HeldResponse],
    ) -> None:
        self.make_frame = make_frame
        self._make_metadata = make_metadata
        self.responses: tuple[HeldResponse, ...] = tuple(dict.fromkeys(responses))

    @cached_property
    def metadata(self) -> FrameMetadata:
        """The metadata of the DataFrame."""
        return self._make_metadata()

    @cached_property
    def text(self) -> _MetadataText:
        """The metadata as JSON text, with hashes of a sample of the rows."""
        metadata_text = _MetadataText(
            replace(self.metadata, fingerprint=self._hash_rows(is_sample=True)).dumps()
        )
        metadata_text.lazy_metadata = self
        return metadata_text

    @cached_property
    def fingerprint(self) -> Fingerprint:
        """Hashes of the cells of all rows, used to detect changed values."""
        return self._hash_rows(is_sample=False)

    def _hash_rows(self, *, is_sample: bool) -> Fingerprint:
        """Return hashes of the cells in columns with metadata, for all rows or for a sample."""
        frame = self.make_frame()
        metadata_by_column = self.metadata.columns
        arrays = arrays_of(frame)
        column_names = [
            name
            for name, column in metadata_by_column.items()
            if column != NO_METADATA
            # A column without values, because it could not be measured, needs no hashes.
            and not (
                column.availability.status in EMPTY
                and (name not in arrays or arrays[name].isna().all())
            )
        ]
        return fingerprint_of(frame, column_names, self.metadata.key, is_sample=is_sample)


class _MetadataText(str):
    """The JSON text of a DataFrame's metadata, which also refers to the lazy metadata.

    A pickle has only the text.
    """

    lazy_metadata: _LazyMetadata | None = None

    def __deepcopy__(self, memo: object) -> _MetadataText:
        return self

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)


CHECK_BY_FRAME_ID: ContextVar[dict[int, tuple[pd.DataFrame, FingerprintCheck]] | None] = ContextVar(
    "checks", default=None
)
"""A dict from the ``id`` of a frame to the frame and its check for changed values.

It is set only while a ``df.aa`` method runs.
"""


def attach(
    frame: pd.DataFrame, metadata: FrameMetadata, *, responses: Iterable[HeldResponse] = ()
) -> pd.DataFrame:
    """Attach metadata to a DataFrame, and return the same DataFrame.

    Changes of values are detected from now on. ``responses`` are the responses that the DataFrame
    was read from. They are kept in memory, so that numbers can be traced to them later.
    """
    user_attrs = _copy_user_attrs(frame)
    frame.attrs = {}
    frame_copy = frame.copy(deep=False)
    _set_attrs(frame, user_attrs, _LazyMetadata(lambda: frame_copy, lambda: metadata, responses))
    return frame


def make_lazy_frame(
    make_frame: Callable[[], pd.DataFrame],
    make_metadata: Callable[[], FrameMetadata],
    responses: Iterable[HeldResponse],
) -> pd.DataFrame:
    """Return a DataFrame whose metadata is computed on first access.

    ``make_frame`` is a function that returns the DataFrame, and ``make_metadata`` one that returns
    the metadata. ``responses`` are the responses that the DataFrame was read from. They are kept in
    memory, so that numbers can be traced to them later.
    """
    frame = make_frame()
    # The frame is made again for its hashes, as its values may have been changed.
    _set_attrs(frame, {}, _LazyMetadata(make_frame, make_metadata, responses))
    return frame


def metadata_of(frame: pd.DataFrame, *, with_index_levels: bool = False) -> FrameMetadata:
    """Return the part of a DataFrame's metadata that is still valid.

    Columns whose values were changed have the status ``unknown``. If ``with_index_levels`` is true,
    the result also has the named levels of the index.
    """
    metadata, _ = metadata_and_responses(frame)
    column_names = [str(name) for name in frame.columns]
    level_names = [str(name) for name in frame.index.names if name is not None]
    fingerprint_check = fingerprint_check_of(frame, ignores_cache=True)
    metadata_by_column = {}
    for name in dict.fromkeys((*column_names, *level_names)):
        column_metadata = metadata.columns.get(name, NO_METADATA)
        change_reason = None
        if (
            column_metadata.availability.status in EMPTY
            and name not in fingerprint_check.hashed_columns
        ):
            change_reason = None if fingerprint_check.is_column_empty(name) else OVERWRITTEN_REASON
        elif column_metadata != NO_METADATA:
            change_reason = fingerprint_check.change_reason(name)
        unknown_metadata = ColumnMetadata(None, Availability(Status.UNKNOWN, None, change_reason))
        metadata_by_column[name] = unknown_metadata if change_reason else column_metadata
    metadata_by_column = recompute_availabilities(frame, metadata_by_column)
    key_columns = tuple(name for name in metadata.key if name in metadata_by_column)
    for name in {*level_names} - {*column_names} if not with_index_levels else ():
        del metadata_by_column[name]
    repeated_tables = {
        *metadata.repeated_tables,
        *fingerprint_check.find_repeated_tables(columns_by_table(metadata_by_column)),
    }
    return FrameMetadata(
        metadata_by_column,
        key_columns,
        metadata.sources,
        metadata.key_by_table,
        tuple(sorted(repeated_tables)),
    )


def fingerprint_check_of(frame: pd.DataFrame, *, ignores_cache: bool = False) -> FingerprintCheck:
    """Return an object that finds the columns that changed since the metadata was attached.

    While a method of ``df.aa`` runs, the object is cached. If ``ignores_cache`` is true, a new one
    is returned.
    """
    # Cached while a method of df.aa runs.
    check_by_frame_id = CHECK_BY_FRAME_ID.get()
    if check_by_frame_id is not None and id(frame) in check_by_frame_id and not ignores_cache:
        return check_by_frame_id[id(frame)][1]
    metadata, _ = metadata_and_responses(frame)
    fingerprint_check = FingerprintCheck(
        frame, original_fingerprint(frame, metadata) or Fingerprint(), metadata.key
    )
    if check_by_frame_id is not None:
        check_by_frame_id[id(frame)] = frame, fingerprint_check
    return fingerprint_check


def has_metadata(frame: pd.DataFrame) -> bool:
    """Return whether a DataFrame has metadata; damaged metadata counts, too."""
    return ATTRS_KEY in frame._attrs


def metadata_text_of(frame: pd.DataFrame) -> str | None:
    """Return the metadata of a DataFrame as JSON text; None if it has none."""
    return frame.attrs.get(ATTRS_KEY)


def _find_lazy_metadata(frame: pd.DataFrame) -> _LazyMetadata | None:
    """Return the lazy metadata of a DataFrame, which is computed when it is first needed.

    The result is None if the DataFrame has only the text of the metadata, or no metadata.
    """
    metadata_text = frame._attrs.get(ATTRS_KEY)
    if isinstance(metadata_text, _MetadataText):
        return metadata_text.lazy_metadata
    return metadata_text if isinstance(metadata_text, _LazyMetadata) else None


def replace_metadata(
    frame: pd.DataFrame, metadata: FrameMetadata, responses: Iterable[HeldResponse]
) -> None:
    """Replace the metadata of a DataFrame without hashing its cells again.

    The caller guarantees that the cells are those to which the old metadata was attached.
    ``responses`` are those that the cells come from.
    """
    lazy_metadata = _find_lazy_metadata(frame)
    if lazy_metadata is None:
        attach(frame, metadata, responses=responses)
    else:
        _set_attrs(
            frame,
            _copy_user_attrs(frame),
            _LazyMetadata(lazy_metadata.make_frame, lambda: metadata, responses),
        )


def original_fingerprint(frame: pd.DataFrame, metadata: FrameMetadata) -> Fingerprint | None:
    """Return the hashes of a DataFrame's cells from when its metadata was attached.

    If the DataFrame was read from a file or pickle, there are hashes of only a sample of rows.
    The result is None if there are no hashes.
    """
    lazy_metadata = _find_lazy_metadata(frame)
    # Of a frame from a file or pickle there are only hashes of some rows.
    return metadata.fingerprint if lazy_metadata is None else lazy_metadata.fingerprint


def metadata_and_responses(frame: pd.DataFrame) -> tuple[FrameMetadata, tuple[HeldResponse, ...]]:
    """Return the metadata that was attached to a DataFrame, and those responses kept in memory.

    The values may have changed since then; `metadata_of` returns only the valid part.
    """
    lazy_metadata = _find_lazy_metadata(frame)
    if lazy_metadata is not None:
        return lazy_metadata.metadata, lazy_metadata.responses
    metadata_text = metadata_text_of(frame)
    return (FrameMetadata() if metadata_text is None else FrameMetadata.loads(metadata_text)), ()


def _set_attrs(
    frame: pd.DataFrame, user_attrs: Mapping[Any, Any], lazy_metadata: _LazyMetadata
) -> None:
    """Set the ``attrs`` of a DataFrame to the user's own items and the metadata.

    ``user_attrs`` are the user's own items.
    """
    if not isinstance(frame, Frame):
        frame.__class__ = Frame
    frame._attrs = {**user_attrs, ATTRS_KEY: lazy_metadata}  # type: ignore[attr-defined]


def _copy_user_attrs(frame: pd.DataFrame) -> dict[Any, Any]:
    """Return a copy of a DataFrame's ``attrs`` without the metadata of this package."""
    return {name: value for name, value in frame._attrs.items() if name != ATTRS_KEY}


def recompute_availabilities(
    frame: pd.DataFrame, metadata_by_column: Mapping[str, ColumnMetadata]
) -> dict[str, ColumnMetadata]:
    """Return metadata of columns, with the availability recomputed for the rows of a DataFrame.

    The availability says whether a column could be measured. If only some rows could be measured,
    it depends on which rows the DataFrame has now.
    """
    partial_metadata_by_column = {
        name: column
        for name, column in metadata_by_column.items()
        if column.statements or column.absence_reasons
    }
    if not partial_metadata_by_column:
        return {**metadata_by_column}
    row_availability = make_row_availability(frame, FrameMetadata(metadata_by_column))
    return {
        **metadata_by_column,
        **{
            name: row_availability.recompute_availability(column)
            for name, column in partial_metadata_by_column.items()
        },
    }


def make_row_availability(frame: pd.DataFrame, metadata: FrameMetadata) -> RowAvailability:
    """Return an object that finds for each row of a DataFrame whether it was measured."""
    unchanged_columns = [*filter(metadata.has_valid_metadata, metadata.columns)]
    return RowAvailability(arrays_of(frame), len(frame), unchanged_columns)
