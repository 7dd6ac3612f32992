"""Names of files that Parquet is written to and read from; one of another format is refused."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow.parquet as pq

from aatoolkit.errors import AAToolkitError, FileMissing, NotRead, NotWritten

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


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file; whatever goes wrong while it is read is an error of ours.

    Raises
    ------
    FileMissing
        If there is none.
    NotRead
        If it is no Parquet file, is damaged, or cannot be read.
    """
    name = os.fspath(path)
    error: NotRead | None = None
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            folder = "a folder; aa.read_dataset reads those"
            raise ValueError(f"it is {folder if os.path.isdir(path) else 'no ordinary file'}")
        with pq.ParquetFile(path) as file:
            yield file
    except AAToolkitError:
        raise
    except FileNotFoundError:
        error = FileMissing(f"there is no file {name!r}", path=str(path))
    except Exception as problem:  # a damaged file raises whatever its readers happen to
        error = NotRead(f"{name!r} is no Parquet file that can be read: {problem}", path=str(path))
    if error is not None:
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
