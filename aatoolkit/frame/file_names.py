"""Names of files and folders that Parquet is written to: one of another format is refused."""

from __future__ import annotations

import os
from pathlib import Path

from aatoolkit.errors import ExportError

_OTHERS = (".csv", ".tsv", ".json", ".jsonl", ".xlsx", ".xls", ".feather", ".arrow", ".html")
"""How names of files of other formats end."""


def check_file(path: Path) -> None:
    """Raise an `ExportError` if a name ends as files of another format do."""
    ending = path.suffix.lower()
    if ending in _OTHERS:
        more = ", or use df.aa.to_excel" if ending in (".xlsx", ".xls") else ""
        raise ExportError(
            f"{path.name} is no name of a Parquet file; let it end in .parquet{more}",
            path=str(path),
        )


def check_folder(folder: str | os.PathLike[str]) -> None:
    """Raise an `ExportError` if a folder is named as a file would be."""
    path = Path(folder)
    if path.suffix.lower() in (*_OTHERS, ".parquet", ".pq"):
        raise ExportError(
            f"{path.name} is the name of a file, and many tables are written to a folder; give "
            "its name, such as 'tables'",
            path=str(path),
        )
