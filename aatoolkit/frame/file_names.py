"""Names of files that Parquet is written to and read from; one of another format is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from aatoolkit.errors import FileMissing, NotRead, NotWritten

_OTHERS = (".csv", ".tsv", ".json", ".jsonl", ".xlsx", ".xls", ".feather", ".arrow", ".html")
"""How names of files of other formats end."""


def check_file(path: Path) -> None:
    """Raise an `NotWritten` if a name ends as files of another format do."""
    ending = path.suffix.lower()
    if ending in _OTHERS:
        more = ", or use df.aa.to_excel" if ending in (".xlsx", ".xls") else ""
        raise NotWritten(
            f"{path.name} is no name of a Parquet file; let it end in .parquet{more}",
            path=str(path),
        )


def opened(path: str | os.PathLike[str]) -> pq.ParquetFile:
    """Open a Parquet file.

    Raises
    ------
    FileMissing
        If there is none.
    NotRead
        If it is no Parquet file, or cannot be read.
    """
    error: NotRead | None = None
    try:
        return pq.ParquetFile(path)
    except FileNotFoundError:
        error = FileMissing(f"there is no file {os.fspath(path)!r}", path=str(path))
    except (pa.ArrowException, OSError) as problem:
        why = "it is a folder; aa.read_dataset reads those" if os.path.isdir(path) else problem
        error = NotRead(f"{os.fspath(path)!r} is no Parquet file: {why}", path=str(path))
    raise error


def check_folder(folder: str | os.PathLike[str]) -> None:
    """Raise an `NotWritten` if a folder is named as a file would be."""
    path = Path(folder)
    if path.suffix.lower() in (*_OTHERS, ".parquet", ".pq"):
        raise NotWritten(
            f"{path.name} is the name of a file, and many tables are written to a folder; give "
            "its name, such as 'tables'",
            path=str(path),
        )
