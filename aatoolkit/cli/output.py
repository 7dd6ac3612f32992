"""What commands print and write: data on standard output, notes on standard error.

Data, CSV and JSON, is UTF-8 whatever the locale, so that a pipe gets the bytes that a file gets.
Text for people has the encoding of the terminal; letters that it lacks are escaped. A table has
the format of the options or of the file's suffix, or stands in columns: all of it in a pipe, what
fits on a terminal.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO
from unicodedata import east_asian_width

from aatoolkit._util.text import json_text, visible
from aatoolkit.errors import ArgumentError

if TYPE_CHECKING:
    import pandas as pd

_STRICT = ("strict", "surrogateescape")
"""How streams take letters that their encoding lacks, outside and within the C locale."""

_WIDEST = 32
"""The width of the widest column on a terminal."""


def prepare() -> None:
    """Let no letter that a stream's encoding lacks be an error, nor a stream that is closed."""
    for name in ("stdout", "stderr"):
        stream: TextIO | None = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper) and stream.errors in _STRICT:
            stream.reconfigure(errors="backslashreplace")


def note(text: str) -> None:
    """Print a note to standard error; that nobody reads it any more is no error."""
    try:
        print(text, file=sys.stderr, flush=True)
    except BrokenPipeError:
        discard(sys.stderr)


def discard(stream: TextIO) -> None:
    """Discard what else is written to a stream that nobody reads.

    Without this the interpreter would complain when it ends.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def write_data(content: bytes) -> None:
    """Write data to standard output, byte for byte."""
    stream = sys.stdout
    if isinstance(stream, io.TextIOWrapper):
        stream.flush()
        stream.buffer.write(content)
        stream.buffer.flush()
    else:  # a notebook's
        stream.write(content.decode())


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    write_data(f"{json_text(value, indent=2)}\n".encode())


def print_frame(frame: pd.DataFrame, as_json: bool) -> None:
    """Print a frame in columns, or as JSON records."""
    if as_json:
        print_json(records(frame))
    else:
        grid(frame.columns, frame.itertuples(index=False))


def grid(heads: Iterable[str], rows: Iterable[Iterable[Any]]) -> None:
    """Print rows in columns.

    A terminal gets the rows and columns that it has room for, and a note of what was left out; a
    file or a pipe gets everything.
    """
    text = [[*map(str, heads)], *([_cell(value) for value in row] for row in rows)]
    whole = len(text) - 1, len(text[0])
    room, height = sys.maxsize, len(text)
    if sys.stdout.isatty():
        room, height = shutil.get_terminal_size()
        text = [[_cut(cell, _WIDEST) for cell in row] for row in text[: max(height - 4, 2)]]
    widths = [max(map(_width, column)) for column in zip(*text, strict=True)]
    count = max(1, sum(end <= room + 2 for end in accumulate(width + 2 for width in widths)))
    for row in text:
        cells = zip(row[:count], widths, strict=False)
        print("  ".join(cell + " " * (width - _width(cell)) for cell, width in cells).rstrip())
    if (len(text) - 1, count) != whole:
        fits = f"{len(text) - 1} of {whole[0]} rows and {count} of {whole[1]} columns fit here"
        note(f"{fits}; --out FILE or a pipe has all")


def _cut(text: str, room: int) -> str:
    """The text, cut where a terminal has no more room for it."""
    if _width(text) <= room:
        return text
    return text[: sum(end < room for end in accumulate(map(_width, text)))] + "…"


def _width(text: str) -> int:
    """The columns of a terminal that a text takes: letters of East Asia take two each."""
    return len(text) + sum(east_asian_width(letter) in "WF" for letter in text)


def _cell(value: Any) -> str:
    from pandas import isna
    from pandas.api.types import is_scalar

    if not is_scalar(value):
        return ", ".join(map(_cell, value))
    if isna(value):
        return ""
    if getattr(value, "hour", None) == 0 and getattr(value, "tzinfo", None) is None:
        return f"{value:%Y-%m-%d}"
    return visible(f"{value:.4g}" if isinstance(value, float) else str(value))


def table_format(out: Path | None, *, as_json: bool, as_csv: bool) -> str:
    """Return the format that options and the suffix of a file ask for, ``grid`` without any.

    Raises
    ------
    ArgumentError
        If they contradict each other.
    """
    formats = ["csv"] * as_csv + ["json"] * as_json
    if out is not None and str(out) != "-":
        formats.append(out.suffix.lower().removeprefix("."))
    if len({*formats}) > 1:
        several = " and as ".join(formats)
        raise ArgumentError(
            f"the table is requested as {several}; choose one format", argument="format"
        )
    return formats[0] if formats else "grid"


def write_table(frame: pd.DataFrame, name: str, form: str, out: Path | None) -> None:
    """Write a table in a format other than ``grid`` to a file, or as data to standard output."""
    from aatoolkit._util.files import write_whole

    if out is None or str(out) == "-":
        write_data(_TEXTS[form](frame, name))
    elif form in _TEXTS:
        write_whole(out, _TEXTS[form](frame, name))
    else:
        _FILES[form](frame, out)


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows as JSON objects: each number with all its digits, days and moments in ISO 8601."""
    columns = {str(name): _json_values(frame[name]) for name in frame.columns}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _json_values(values: pd.Series) -> list[Any]:
    from pandas.api.types import is_datetime64_any_dtype

    from aatoolkit.frame.csv import as_texts

    cells = as_texts(values) if is_datetime64_any_dtype(values.dtype) else values
    present = values.notna().to_numpy(bool)
    return [
        _json_value(cell) if is_present else None
        for cell, is_present in zip(cells.to_numpy(object), present, strict=True)
    ]


def _json_value(cell: Any) -> Any:
    if isinstance(cell, str) or not hasattr(cell, "__iter__"):
        return cell.item() if hasattr(cell, "item") else cell
    return [_json_value(item) for item in cell]


def _csv(frame: pd.DataFrame, _: str) -> bytes:
    from aatoolkit.frame.csv import csv_bytes

    return csv_bytes(frame)


def _json(frame: pd.DataFrame, name: str) -> bytes:
    availability = json.loads(frame.aa.availability.to_json(orient="index"))
    facts = {"table": name, "rows": records(frame), "availability": availability}
    return f"{json_text(facts, indent=2)}\n".encode()


def _ndjson(frame: pd.DataFrame, _: str) -> bytes:
    return "".join(f"{json_text(row)}\n" for row in records(frame)).encode()


def _feather(frame: pd.DataFrame, out: Path) -> None:
    import pyarrow as pa
    from pyarrow import feather

    from aatoolkit._util.files import writing

    table = pa.table(frame.aa)
    with writing(out) as temporary:
        feather.write_feather(table, temporary)


_TEXTS: dict[str, Callable[[pd.DataFrame, str], bytes]] = {
    "csv": _csv,
    "json": _json,
    "ndjson": _ndjson,
}
_FILES: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    "parquet": lambda frame, out: frame.aa.to_parquet(out),
    "xlsx": lambda frame, out: frame.aa.to_excel(out),
    "feather": _feather,
}
SUFFIXES: Sequence[str] = (".parquet", ".xlsx", ".feather", ".csv", ".json", ".ndjson")
"""What the name of a file with a table may end in."""
