"""Tables as CSV, JSON and files: the format is that of the options, or of the file's suffix."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aatoolkit._util.text import json_text
from aatoolkit.cli.streams import write_data
from aatoolkit.errors import ConfigurationError

if TYPE_CHECKING:
    import pandas as pd

STDOUT = Path("-")
"""The name of standard output, as an output."""


def table_format(out: Path | None, *, json: bool, csv: bool) -> str:
    """Return the format that options and the suffix of a file ask for, ``grid`` without any.

    Raises
    ------
    ConfigurationError
        If they contradict each other, or the suffix is none of a format.
    """
    formats = [name for name, is_given in (("csv", csv), ("json", json)) if is_given]
    if out not in (None, STDOUT):
        check_suffix(out, *_FORMATS)
        formats.append(out.suffix.lower().removeprefix("."))
    if len({*formats}) > 1:
        several = " and as ".join(dict.fromkeys(formats))
        raise ConfigurationError(
            f"the table is requested as {several}; choose one format", setting="format"
        )
    return formats[0] if formats else "grid"


def check_suffix(path: Path, *suffixes: str) -> None:
    """Raise a `ConfigurationError` if a file has none of these suffixes."""
    if path.suffix.lower() not in suffixes:
        *others, last = suffixes
        listed = f"{', '.join(others)} or {last}" if others else last
        raise ConfigurationError(
            f"{path.name or 'a file without a name'} does not end in {listed}, which says its "
            "format; rename it",
            setting="out",
        )


def write_table(frame: pd.DataFrame, name: str, form: str, out: Path | None) -> None:
    """Write a table in a format other than ``grid`` to a file, or as data to standard output."""
    from aatoolkit._util.files import write_whole

    if out is None or out == STDOUT:
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
    there = values.notna().to_numpy(bool)
    return [
        _json_value(cell) if known else None
        for cell, known in zip(cells.to_numpy(object), there, strict=True)
    ]


def _json_value(cell: Any) -> Any:
    if isinstance(cell, str) or not hasattr(cell, "__iter__"):
        return cell.item() if hasattr(cell, "item") else cell
    return [_json_value(item) for item in cell]


def _csv(frame: pd.DataFrame, _: str) -> bytes:
    from aatoolkit.frame.csv import csv_bytes

    return csv_bytes(frame)


def _json(frame: pd.DataFrame, name: str) -> bytes:
    from aatoolkit.frame.accessor import Accessor

    availability = json.loads(Accessor(frame).availability.to_json(orient="index"))
    facts = {"table": name, "rows": records(frame), "availability": availability}
    return f"{json_text(facts, indent=2)}\n".encode()


def _ndjson(frame: pd.DataFrame, _: str) -> bytes:
    return "".join(f"{json_text(row)}\n" for row in records(frame)).encode()


def _parquet(frame: pd.DataFrame, out: Path) -> None:
    from aatoolkit.frame.parquet import write_parquet

    write_parquet(frame, out)


def _feather(frame: pd.DataFrame, out: Path) -> None:
    from pyarrow import feather

    from aatoolkit._util.files import writing
    from aatoolkit.frame.accessor import Accessor

    table = Accessor(frame).to_arrow()
    with writing(out) as temporary:
        feather.write_feather(table, temporary)


def _excel(frame: pd.DataFrame, out: Path) -> None:
    from aatoolkit.frame.accessor import Accessor

    Accessor(frame).to_excel(out)


_TEXTS: dict[str, Callable[[pd.DataFrame, str], bytes]] = {
    "csv": _csv,
    "json": _json,
    "ndjson": _ndjson,
}
_FILES: dict[str, Callable[[pd.DataFrame, Path], None]] = {
    "parquet": _parquet,
    "xlsx": _excel,
    "feather": _feather,
}
_FORMATS = tuple(f".{form}" for form in (*_FILES, *_TEXTS))
