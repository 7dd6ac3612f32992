"""Write DataFrames with their metadata to Parquet, and read them back.

The metadata is stored in the file, as `aatoolkit.metadata.arrow_schema` describes. Programs that
rewrite a file may drop it: DuckDB and Polars do, pandas does not.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from aatoolkit._util.files import FileList, FilePath, write_atomically
from aatoolkit.errors import AAToolkitError, FileMissing, NotRead, NotWritten, PayloadError
from aatoolkit.metadata.arrow_schema import (
    ARROW_SCHEMA_KEY,
    METADATA_KEY,
    PANDAS_KEY,
    make_file_metadata,
    read_file_metadata,
    with_metadata,
)
from aatoolkit.metadata.attrs import ATTRS_KEY, FrameMetadata, attach, metadata_of
from aatoolkit.metadata.recorded import dump_valid_metadata
from aatoolkit.metadata.table_hash import logical_hash
from aatoolkit.normalizer import provenance
from aatoolkit.normalizer.columns import as_tuples
from aatoolkit.normalizer.tables import Tables

CHECKSUMS_KEY = b"aatoolkit.sha256"
"""The key, in a file's metadata, of two checksums: of the other metadata, and of the rows."""


def write_parquet(frame: pd.DataFrame, path: FilePath) -> Path:
    """Write a frame with its metadata to a Parquet file, completely or not at all."""
    path = Path(path)
    table = to_arrow_table(frame, path)
    with write_atomically(path) as temporary_path:
        write_arrow(table, temporary_path)
    return path


def write_arrow(table: pa.Table, path: FilePath) -> None:
    """Write an Arrow table to a Parquet file, with the metadata of its columns."""
    _write_table(table, path, make_file_metadata(table.schema))


def _write_table(table: pa.Table, path: FilePath, file_metadata: Mapping[bytes, bytes]) -> None:
    """Write an Arrow table to a Parquet file, with the metadata ``file_metadata`` and checksums."""
    plain_table = table.replace_schema_metadata(None)
    writer_options = {"compression": "zstd", "store_schema": False}
    if plain_table.num_rows < 1000:  # of few rows statistics are larger than they are
        writer_options |= {"compression_level": 19, "write_statistics": False}
    with pq.ParquetWriter(path, plain_table.schema, **writer_options) as writer:
        writer.write_table(plain_table)
        writer.add_key_value_metadata(
            {**file_metadata, CHECKSUMS_KEY: _checksums(plain_table, file_metadata)}
        )


def to_arrow_table(frame: pd.DataFrame, path: Path) -> pa.Table:
    """Convert a frame to an Arrow table whose schema contains the metadata of the columns.

    ``path`` is only used in error messages.
    """
    metadata = FrameMetadata.loads(dump_valid_metadata(frame))
    try:
        table = pa.Table.from_pandas(pd.DataFrame(frame))  # without attrs
    except (pa.ArrowException, TypeError, ValueError) as error:
        problem = f"{path.name} cannot be written as Parquet: {error}"
        raise NotWritten(problem, path=path) from None
    table = table.replace_schema_metadata(_replace_unreadable_dtypes(table.schema.metadata))
    return table.cast(with_metadata(_set_list_types(table.schema, metadata), metadata))


def read_parquet(path: FilePath) -> pd.DataFrame:
    """Read a Parquet file, with the metadata of its columns.

    Any Parquet file can be read. A column without metadata has the availability ``unknown``.

    Parameters
    ----------
    path : str or path
        The path of the file.

    Returns
    -------
    pandas.DataFrame
        The rows, with the dtypes that they were written with.

    Raises
    ------
    NotRead
        If there is no such file (`FileMissing`), or it is no Parquet file.
    MetadataError
        If the metadata is damaged, or of a newer major version. ``pandas.read_parquet`` can still
        read the data.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_parquet(pd.DataFrame({"n": [1]}), f"{folder}/n.parquet")
    ...     read_parquet(path)
       n
    0  1
    """
    with open_parquet(path) as file:
        schema = file.schema_arrow
        file_metadata = _read_all_metadata(file)
        arrow_table = read_arrow(file)
        metadata = read_file_metadata(file_metadata, schema.names)
        arrow_table = arrow_table.cast(schema).replace_schema_metadata(
            _replace_unreadable_dtypes(file_metadata)
        )
        frame: pd.DataFrame = arrow_table.to_pandas()
        pandas_metadata = json.loads(arrow_table.schema.metadata.get(b"pandas", b'{"columns": []}'))
        dtype_by_name = {
            column["name"]: str((column.get("metadata") or {}).get("dtype") or column["numpy_type"])
            for column in pandas_metadata["columns"]
        }
        for field, column in zip(arrow_table.schema, arrow_table.columns, strict=True):
            name = field.name
            if dtype_by_name.get(name, "").endswith("[pyarrow]"):
                frame[name] = pd.Series(pd.arrays.ArrowExtensionArray(column), frame.index)
            elif pa.types.is_list(field.type):
                frame[name] = as_tuples(column)
    if metadata is None:
        return frame
    frame.attrs[ATTRS_KEY] = metadata.dumps()
    return attach(
        frame, replace(metadata_of(frame, with_index_levels=True), recipe=metadata.recipe)
    )


def read_arrow(file: pq.ParquetFile) -> pa.Table:
    """Read a Parquet file as an Arrow table; raise `NotRead` if its checksums do not match."""
    table = file.read()
    file_metadata = dict(file.metadata.metadata or {})
    stored_checksums = file_metadata.pop(CHECKSUMS_KEY, None)
    has_checksums = stored_checksums is not None or METADATA_KEY in file_metadata
    # pyarrow adds both keys to a file of ours that it writes anew.
    is_rewritten = {ARROW_SCHEMA_KEY, PANDAS_KEY} <= {*file_metadata}
    if has_checksums and not is_rewritten and stored_checksums != _checksums(table, file_metadata):
        raise NotRead(
            "the file does not hold what was written to it: it is damaged or was edited; write it "
            "again"
        )
    return table


def _checksums(table: pa.Table, file_metadata: Mapping[bytes, bytes]) -> bytes:
    """Return the base64 checksums of a file's metadata and of its rows, separated by a space.

    The second checksum is empty if ``table`` has values that cannot be hashed.
    """
    rows_hash = None
    with suppress(NotWritten):
        levels_of_columns = [  # including levels that no row has
            column.chunk(0).dictionary.to_pylist()
            for column in table.columns
            if column.length() and pa.types.is_dictionary(column.type)
        ]
        rows_digest = logical_hash(table.replace_schema_metadata(None))
        rows_hash = hashlib.sha256(f"{rows_digest} {levels_of_columns}".encode())
    metadata_hash = hashlib.sha256()
    for key in sorted(file_metadata):
        metadata_hash.update(
            b"%d %b %d %b" % (len(key), key, len(file_metadata[key]), file_metadata[key])
        )
    return b" ".join(
        base64.b64encode(rows_digest.digest() if rows_digest else b"")
        for rows_digest in (metadata_hash, rows_hash)
    )


def _read_all_metadata(file: pq.ParquetFile) -> dict[bytes, bytes]:
    """Return the metadata of a file, combined with the metadata of its Arrow schema."""
    return {**(file.metadata.metadata or {}), **(file.schema_arrow.metadata or {})}


def write_tables(sections: Iterable[Tables], folder: FilePath) -> FileList:
    """Write every table of the sections to ``folder/section/table.parquet``; return the paths."""
    folder_path = Path(folder)
    if folder_path.suffix.lower() in (".parquet", ".csv", ".xlsx"):
        raise NotWritten(
            f"{folder_path.name} is the name of a file, and many tables are written to a folder; "
            "give its name, such as 'tables'",
            path=folder_path,
        )
    return FileList(
        path for tables in sections for path in write_section(tables, folder_path / tables.section)
    )


def write_section(tables: Tables, folder: Path) -> Iterator[Path]:
    """Write the tables of one section to ``folder``, and yield the path of each file."""
    frame_by_name = {
        **tables,
        "_extra": tables.extra,
        "_drift": tables.drift,
        "_availability": tables.availability,
    }
    for name, frame in frame_by_name.items():
        yield write_parquet(frame, folder / f"{name}.parquet")
    # The place of each value in the response, for `rebuild`.
    for name, table in tables._provenance.items():
        path = folder / "_placement" / f"{name}.parquet"
        with write_atomically(path) as temporary_path:
            file_metadata = {
                ARROW_SCHEMA_KEY: base64.b64encode(table.schema.serialize().to_pybytes())
            }
            _write_table(table, temporary_path, file_metadata)
        yield path


def rebuild(tables: Tables | FilePath) -> Any:
    """Restore the JSON value of a response from its tables.

    Parameters
    ----------
    tables : Tables, str or path
        The tables of a section, or the folder that they were written to.

    Returns
    -------
    object
        The JSON value of the response, i.e. dicts and lists, with the changes that you made in the
        frames. The keys of objects may be in another order.

    Raises
    ------
    PayloadError
        If a table, column or row is missing.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> tables = aa.demo().read("gaps")
    >>> rebuild(tables) == tables.payload.json
    True
    """
    if isinstance(tables, Tables):
        return tables.rebuild()
    frame_by_name, placement_by_table = read_section(Path(tables))
    return provenance.rebuild_response(frame_by_name, frame_by_name["_extra"], placement_by_table)


def read_section(folder: Path) -> tuple[dict[str, pd.DataFrame], dict[str, pa.Table]]:
    """Read the tables of a folder that `write_section` wrote.

    Returns two dicts by table name: the frames, and Arrow tables with the position of each value in
    the JSON response.
    """
    frame_by_name = {path.stem: read_parquet(path) for path in sorted(folder.glob("*.parquet"))}
    placement_by_table = {}
    for path in folder.glob("_placement/*.parquet"):
        with open_parquet(path) as file:
            placement_by_table[path.stem] = read_arrow(file).replace_schema_metadata(None)
    if "_extra" not in frame_by_name or not placement_by_table:
        raise PayloadError(
            f"{folder} holds no tables of one section that to_parquet wrote; give the folder of "
            "one, or read all with aa.read_dataset"
        )
    return frame_by_name, placement_by_table


def _replace_unreadable_dtypes(file_metadata: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """Return a file's metadata, in which dtype names that pandas cannot read back are replaced.

    Such names were written by pandas itself.
    """
    pandas_metadata = json.loads(file_metadata.get(b"pandas", b"{}"))
    for column in pandas_metadata.get("columns", ()):
        try:
            pd.api.types.pandas_dtype(column["numpy_type"])
        except (TypeError, ValueError, NotImplementedError):
            # Such as list<item: string>[pyarrow]; `read_parquet` uses the name.
            column |= {"numpy_type": "object", "metadata": {"dtype": column["numpy_type"]}}
    return (
        {**file_metadata, b"pandas": json.dumps(pandas_metadata, separators=(",", ":")).encode()}
        if pandas_metadata
        else dict(file_metadata)
    )


def _set_list_types(schema: pa.Schema, metadata: FrameMetadata) -> pa.Schema:
    """Return a schema with the right type for columns that are declared as lists of strings.

    Arrow cannot infer this type if all lists are empty.
    """
    for field_position, field in enumerate(schema):
        is_list = metadata.declaration_of(field.name).dtype == "list<string>"
        if is_list and field.type in (pa.null(), pa.list_(pa.null())):
            schema = schema.set(field_position, field.with_type(pa.list_(pa.string())))
    return schema


@contextmanager
def open_parquet(path: FilePath) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file in a ``with`` block; raise `NotRead` if it cannot be read."""
    path_text = os.fspath(path)
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            folder_hint = "a folder; aa.read_dataset reads those"
            raise ValueError(f"it is {folder_hint if os.path.isdir(path) else 'no ordinary file'}")
        with pq.ParquetFile(path) as file:
            yield file
    except AAToolkitError:
        raise
    except FileNotFoundError:
        raise FileMissing(f"there is no file {path_text!r}", path=path) from None
    except Exception as read_error:  # a damaged file raises whatever its readers happen to
        message = f"{path_text!r} is no Parquet file that can be read: {read_error}"
        raise NotRead(message, path=path) from None
