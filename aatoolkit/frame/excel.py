"""Write tables to an Excel workbook: no formula, rounding, or truncation without a note."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from aatoolkit._util.files import writing
from aatoolkit._util.text import escaped, visible
from aatoolkit.errors import ExportError
from aatoolkit.frame.csv import as_texts, needs_guard

_DIGITS = 10**15
ROWS, CELL, SHEET = 1_048_576, 32_767, 31
"""The most rows of a sheet, characters of a cell, and characters of a sheet's name."""


class SheetTable(NamedTuple):
    """A table that becomes one sheet, or several where it has more rows than a sheet."""

    name: str
    doc: str
    frame: pd.DataFrame


def write_workbook(tables: Iterable[SheetTable], path: str | os.PathLike[str]) -> Path:
    """Write tables to a workbook; the file appears whole or not at all.

    Raises
    ------
    ExportError
        If the file's name does not end in ``.xlsx``: programs would refuse to open it.
    NotWritten
        If the file cannot be written; an existing file is unchanged.
    ImportError
        If xlsxwriter is not installed.
    """
    path = Path(path)
    if path.suffix.lower() != ".xlsx":
        raise ExportError(
            f"{path.name} is no name of an Excel workbook; let it end in .xlsx", path=str(path)
        )
    with writing(path) as temporary:
        write_excel(tables, temporary)
    return path


def write_sections(
    sections: Mapping[str, Mapping[str, pd.DataFrame]], path: str | os.PathLike[str]
) -> Path:
    """Write the tables of sections, a sheet each, and a sheet that says what each column is."""
    sheets, books = [], []
    for section, tables in sections.items():
        declaration = getattr(tables, "declaration", None)
        docs = {table.name: table.doc for table in getattr(declaration, "tables", ())}
        words: Mapping[str, str] = getattr(tables, "words", {})
        for name, frame in tables.items():
            doc = f"{section}: {docs.get(name, '')} {words.get(name, '')}"
            sheets.append(SheetTable(name, doc, frame))
            book = frame.aa.codebook.reset_index()
            books.append(book.assign(section=section, table=name))
    if books:
        whole = pd.concat(books, ignore_index=True)
        first = ["section", "table", "column"]
        whole = whole[[*first, *whole.columns.difference(first, sort=False)]]
        sheets.append(SheetTable("columns", "What each column is.", whole))
    return write_workbook(sheets, path)


def write_excel(tables: Iterable[SheetTable], path: Path, created: datetime | None = None) -> None:
    """Write tables to one workbook, one sheet each, with a sheet that lists them.

    Parameters
    ----------
    tables : iterable of SheetTable
        The tables. Moments are in UTC, which is how Excel shows them.
    path : Path
        The file.
    created : datetime, optional
        The moment that the workbook names as its own, in UTC; by default now.

    Raises
    ------
    ImportError
        If xlsxwriter is not installed.
    """
    try:
        import xlsxwriter
    except ImportError:
        raise ImportError('Excel needs xlsxwriter: pip install "aatoolkit[excel]"') from None
    listed = [*tables]
    with tempfile.TemporaryDirectory() as rows_so_far:
        book = xlsxwriter.Workbook(path, {"constant_memory": True, "tmpdir": rows_so_far})
        book.set_properties({"created": (created or datetime.now(UTC)).replace(tzinfo=None)})
        _Book(book).write(listed)
        book.close()


class _Book:
    """A workbook that is being written."""

    def __init__(self, book: Any) -> None:
        self._book = book
        self._head = book.add_format({"bold": True})
        self._day = book.add_format({"num_format": "yyyy-mm-dd"})
        self._instant = book.add_format({"num_format": 'yyyy-mm-dd hh:mm:ss "UTC"'})
        self._text = book.add_format({"quote_prefix": True})
        self._names: set[str] = {"history", "tables"}
        self._cut = 0

    def write(self, tables: list[SheetTable]) -> None:
        index = self._book.add_worksheet("tables")
        listed: list[tuple[object, ...]] = [("sheet", "table", "rows", "cut cells", "holds")]
        for table in tables:
            for frame in _fitting(table.frame):
                self._cut = 0
                name = self._name(table.name)
                self._fill(self._book.add_worksheet(name), frame)
                listed.append((name, table.name, len(frame), self._cut, table.doc))
        for number, row in enumerate(listed):
            for at, value in enumerate(row):
                self._put(index, number, at, value)

    def _name(self, table: str) -> str:
        """A unique sheet name; Excel ignores case in them."""
        plain = re.sub(r"[\[\]:*?/\\]", "_", visible(table)).strip("'") or "table"
        name, number = plain[:SHEET], 1
        while name.lower() in self._names:
            number += 1
            name = f"{plain[: SHEET - len(str(number)) - 1]} {number}"
        self._names.add(name.lower())
        return name

    def _fill(self, sheet: Any, frame: pd.DataFrame) -> None:
        sheet.freeze_panes(1, 0)
        for at, name in enumerate(frame.columns):
            sheet.write_string(0, at, self._fitted(str(name)), self._head)
        columns = [_as_excel(frame[name]) for name in frame.columns]
        for number, row in enumerate(zip(*columns, strict=True), 1):
            for at, value in enumerate(row):
                if value is not None:
                    self._put(sheet, number, at, value)

    def _put(self, sheet: Any, row: int, column: int, value: Any) -> None:
        """Write a cell with its own type; text is not parsed for formulas, links or numbers."""
        if isinstance(value, bool):
            sheet.write_boolean(row, column, value)
        elif isinstance(value, datetime):
            form = self._instant if value.tzinfo else self._day
            sheet.write_datetime(row, column, value.replace(tzinfo=None), form)
        elif isinstance(value, str):
            form = self._text if needs_guard(value) else None
            sheet.write_string(row, column, self._fitted(value), form)
        else:
            sheet.write_number(row, column, value)

    def _fitted(self, text: str) -> str:
        """A text escaped as in CSV, truncated to fit a cell; Excel counts UTF-16 units."""
        text = escaped(text)
        if len(text) * 2 <= CELL or len(text.encode("utf-16-le")) <= 2 * CELL:
            return text
        self._cut += 1
        room = 2 * (CELL - len(_CUT))
        return text.encode("utf-16-le")[:room].decode("utf-16-le", "ignore") + _CUT


_CUT = " … [cut here; the Parquet file has all of it]"


def _fitting(frame: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Yield a frame in parts that fit a sheet."""
    for start in range(0, max(len(frame), 1), ROWS - 1):
        yield frame.iloc[start : start + ROWS - 1]


def _as_excel(values: pd.Series) -> list[Any]:
    """Convert the cells of a column for Excel; None where missing."""
    dtype = values.dtype
    if pd.api.types.is_bool_dtype(dtype):
        return [None if value is pd.NA else bool(value) for value in values]
    if pd.api.types.is_numeric_dtype(dtype):
        return [None if pd.isna(value) else _number(value) for value in values]
    if pd.api.types.is_datetime64_dtype(dtype):
        return [None if pd.isna(value) else _moment(value) for value in values]
    if isinstance(dtype, pd.DatetimeTZDtype):
        moments = values.dt.tz_convert("UTC")
        return [None if pd.isna(value) else _moment(value) for value in moments]
    return [None if pd.isna(value) else value for value in as_texts(values)]


def _number(value: Any) -> Any:
    """Convert a number for Excel; text where a spreadsheet would round it, or for infinity."""
    if float(value) in (float("inf"), float("-inf")) or (
        value == int(value) and abs(value) >= _DIGITS
    ):
        return str(value)
    return value.item() if hasattr(value, "item") else value


def _moment(value: pd.Timestamp) -> Any:
    """Convert a day or moment for Excel; text where it would be rounded, or before 1900-03-01."""
    if value.tz_localize(None) < _FIRST_DAY or value.microsecond or value.nanosecond:
        return value.isoformat().replace("+00:00", "Z")
    return value.to_pydatetime()


_FIRST_DAY = pd.Timestamp("1900-03-01")
"""Before it spreadsheets disagree on dates."""
