"""Named results: sealed frames that a rerun of a study's notebook is compared with."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pyarrow as pa

from aatoolkit._util.files import write_whole
from aatoolkit._util.text import visible
from aatoolkit.errors import StudyError
from aatoolkit.frame.parquet import read_parquet, write_parquet
from aatoolkit.jsontree import decode
from aatoolkit.metadata.arrow_schema import logical_hash
from aatoolkit.study.files import RESULTS, SHA256, result_file
from aatoolkit.study.record import canonical
from aatoolkit.study.recording import versions
from aatoolkit.study.tables import UNREADABLE

_FORMAT = {"format": "aatoolkit-results", "version": 1}
_LONGEST = 100


@dataclass(frozen=True, repr=False)
class SealedResult:
    """A named result.

    Attributes
    ----------
    name : str
        Its name.
    hash : str
        The logical hash of its content, as `aatoolkit.logical_hash` gives it.
    rows : int
        How many rows it has.
    columns : tuple of str
        Its columns, named levels of the index first.
    versions : mapping of str to str
        The software that computed it.
    """

    name: str
    hash: str
    rows: int
    columns: tuple[str, ...]
    versions: Mapping[str, str]

    def __repr__(self) -> str:
        size = f"{self.rows:,} rows, {len(self.columns):,} columns"
        return f"<SealedResult {visible(self.name)!r}: {size}, {self.hash[:12]}>"


def described(name: str, frame: pd.DataFrame) -> SealedResult:
    """Describe a result: name, hash, rows, columns and software versions."""
    levels = [str(level) for level in frame.index.names if level is not None]
    columns = (*levels, *map(str, frame.columns))
    return SealedResult(name, logical_hash(frame), len(frame), columns, versions())


def framed(name: str, frame: pd.DataFrame | pd.Series) -> pd.DataFrame:
    """Return a result as a frame.

    Raises
    ------
    StudyError
        If the name cannot be used, or the result is no frame.
    """
    if not isinstance(name, str) or not name.strip() or len(name) > _LONGEST:
        raise StudyError(f"a result is named by a text of 1 to {_LONGEST} characters")
    if not name.isprintable():
        raise StudyError(f"the name {visible(name)!r} of a result has signs that do not print")
    if isinstance(frame, pd.Series):
        return frame.to_frame("value" if frame.name is None else str(frame.name))
    if not isinstance(frame, pd.DataFrame):
        raise StudyError(f"a result is a DataFrame or a Series, not a {type(frame).__name__}")
    return frame


def add_result(folder: Path, name: str, frame: pd.DataFrame, replace: bool) -> SealedResult:
    """Write a result to a folder: its content, then its entry.

    Raises
    ------
    StudyError
        If the name is taken by another content.
    """
    result, file = described(name, frame), folder / RESULTS
    results = (parse_results(file.read_bytes()) or {}) if file.is_file() else {}
    before = results.get(name)
    if before is not None and before.hash == result.hash:
        return before
    if before is not None and not replace:
        raise StudyError(
            f"another result is named {name!r}; choose another name, or pass replace=True"
        )
    content = folder / result_file(result.hash)
    if not content.is_file():
        write_parquet(frame, content)
    results[name] = result
    write_whole(file, format_results(results))
    if before is not None and all(other.hash != before.hash for other in results.values()):
        (folder / result_file(before.hash)).unlink(missing_ok=True)
    return result


def format_results(results: Mapping[str, SealedResult]) -> bytes:
    """Serialize the content of ``results.json``."""
    rows = [
        {
            "name": result.name,
            "hash": result.hash,
            "rows": result.rows,
            "columns": [*result.columns],
            "computed_with": dict(result.versions),
        }
        for result in results.values()
    ]
    return canonical({**_FORMAT, "results": rows}) + b"\n"


def parse_results(text: bytes) -> dict[str, SealedResult] | None:
    """Parse named results from ``results.json``; None if they are damaged."""
    try:
        body = decode.decode(text)
        results = [
            SealedResult(
                str(row["name"]),
                str(row["hash"]),
                int(row["rows"]),
                tuple(map(str, row["columns"])),
                {str(name): str(version) for name, version in row["computed_with"].items()},
            )
            for row in body["results"]
        ]
        is_ours = {name: body[name] for name in _FORMAT} == _FORMAT
    except UNREADABLE:
        return None
    by_name = {result.name: result for result in results}
    are_hashes = all(SHA256.fullmatch(result.hash) for result in results)
    return by_name if is_ours and are_hashes and len(by_name) == len(results) else None


def frame_of(content: bytes) -> pd.DataFrame | None:
    """Parse a frame from the bytes of its file; None if they are damaged."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "result.parquet")
        file.write_bytes(content)
        try:
            return read_parquet(file)
        except (*UNREADABLE, pa.ArrowException, OSError):
            return None
