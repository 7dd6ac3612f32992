"""Write tables to an Excel workbook: no formula, rounding, or truncation without a note."""

from __future__ import annotations

import os
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from aatoolkit._util.extras import needed
from aatoolkit._util.files import writing
from aatoolkit._util.text import escaped, visible
from aatoolkit.errors import NotWritten
from aatoolkit.frame.aggregation_plan import row_units
from aatoolkit.frame.codebook import codebook_of
from aatoolkit.frame.csv import as_texts, needs_guard
from aatoolkit.metadata.arrow_schema import declared
from aatoolkit.metadata.attrs import NOTHING, Source, metadata_of
from aatoolkit.sections.aggregation import FRACTION, FRACTION_CHANGE, PER_UNIT, PROBABILITY, SCORE

_DIGITS = 10**15
ROWS, CELL, SHEET = 1_048_576, 32_767, 31
"""The most rows of a sheet, characters of a cell, and characters of a sheet's name."""


class SheetTable(NamedTuple):
    """A table that becomes one sheet, or several where it has more rows than a sheet."""

    name: str
    doc: str
    frame: pd.DataFrame
    measured: str = ""
    """What of it could be measured."""
    is_plain: bool = False
    """Whether its columns are named in plain words, with the name in a note."""


def write_workbook(
    tables: Iterable[SheetTable], path: str | os.PathLike[str], about: Sequence[Source] = ()
) -> Path:
    """Write tables to a workbook for readers; the file appears whole or not at all.

    Parameters
    ----------
    tables : iterable of SheetTable
        The tables.
    path : str or path
        The file, which ends in ``.xlsx``.
    about : sequence of Source
        The answers that they are from, which the first sheet lists.

    Raises
    ------
    NotWritten
        If the file's name does not end in ``.xlsx``: programs would refuse to open it.
    NotWritten
        If the file cannot be written; an existing file is unchanged.
    PackageMissing
        If xlsxwriter is not installed.
    """
    path = Path(path)
    if path.suffix.lower() != ".xlsx":
        raise NotWritten(
            f"{path.name} is no name of an Excel workbook; let it end in .xlsx", path=str(path)
        )
    with writing(path) as temporary:
        write_excel(tables, temporary, about=about_lines(about))
    return path


def write_sections(
    sections: Mapping[str, Mapping[str, pd.DataFrame]], path: str | os.PathLike[str]
) -> Path:
    """Write the tables of sections, a sheet each, and a sheet that says what each column is."""
    sheets, books = [], []
    sources: list[Source] = []
    for section, tables in sections.items():
        declaration = getattr(tables, "declaration", None)
        docs = {table.name: table.doc for table in getattr(declaration, "tables", ())}
        words: Mapping[str, str] = getattr(tables, "words", {})
        for name, frame in tables.items():
            measured = words.get(name, "").replace("unknown", "nothing is said")
            doc = f"{section}: {docs.get(name, '')}"
            sheets.append(SheetTable(name, doc, frame, measured, is_plain=True))
            books.append(codebook_sheet(frame).assign(section=section, table=name))
            sources += metadata_of(frame).sources
    if books:
        whole = pd.concat(books, ignore_index=True)
        first = ["section", "table", "column"]
        whole = whole[[*first, *whole.columns.difference(first, sort=False)]]
        sheets.append(SheetTable("columns", "What each column is.", whole))
    return write_workbook(sheets, path, [*dict.fromkeys(sources)])


def codebook_sheet(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the code book of a frame, with the headers that its sheet has."""
    book: pd.DataFrame = pd.DataFrame(codebook_of(frame).reset_index())
    names = plain_names(frame)
    book.insert(1, "header", [names.get(str(name), str(name)) for name in book["column"]])
    return book


def write_excel(
    tables: Iterable[SheetTable],
    path: Path,
    created: datetime | None = None,
    about: Sequence[str] = (),
) -> None:
    """Write tables to one workbook, one sheet each, with a sheet that lists them.

    Parameters
    ----------
    tables : iterable of SheetTable
        The tables. Moments are in UTC, which is how Excel shows them.
    path : Path
        The file.
    created : datetime, optional
        The moment that the workbook names as its own, in UTC; by default now.
    about : sequence of str
        Lines of a first sheet; without any there is none.

    Raises
    ------
    PackageMissing
        If xlsxwriter is not installed.
    """
    with needed("Excel needs", "excel"):
        import xlsxwriter
    listed = [*tables]
    with tempfile.TemporaryDirectory() as rows_so_far:
        book = xlsxwriter.Workbook(path, {"constant_memory": True, "tmpdir": rows_so_far})
        book.set_properties({"created": (created or datetime.now(UTC)).replace(tzinfo=None)})
        _Book(book).write(listed, about)
        book.close()


class _Book:
    """A workbook that is being written."""

    def __init__(self, book: Any) -> None:
        self._book = book
        self._head = book.add_format({"bold": True})
        self._day = book.add_format({"num_format": "yyyy-mm-dd"})
        self._instant = book.add_format({"num_format": 'yyyy-mm-dd hh:mm:ss "UTC"'})
        self._text = book.add_format({"quote_prefix": True})
        self._wrapped = book.add_format({"text_wrap": True, "valign": "top"})
        self._formats: dict[str, Any] = {}
        self._names: set[str] = {"history", "tables", "about"}
        self._cut = 0

    def write(self, tables: list[SheetTable], about: Sequence[str] = ()) -> None:
        if about:
            first = self._book.add_worksheet("about")
            first.set_column(0, 0, 100)
            for number, line in enumerate(about):
                form = self._wrapped if number else self._head
                first.write_string(number, 0, self._fitted(line), form)
        index = self._book.add_worksheet("tables")
        heads = ("sheet", "table", "rows", "holds", "measured", "shortened cells")
        listed: list[tuple[object, ...]] = []
        for table in tables:
            for frame in _fitting(table.frame):
                self._cut = 0
                name = self._name(table.name)
                self._fill(self._book.add_worksheet(name), frame, table.is_plain)
                facts = (table.doc, table.measured, self._cut)
                listed.append((name, table.name, len(frame), *facts))
        used = [at for at in range(len(heads)) if at < 4 or any(row[at] for row in listed)]
        for place, at in enumerate(used):
            texts = [heads[at], *(row[at] for row in listed)]
            index.set_column(place, place, _width(map(str, texts)))
        for number, row in enumerate([heads, *listed]):
            for place, at in enumerate(used):
                self._put(index, number, place, row[at])
            if number:
                link = "internal:'{}'!A1".format(str(row[0]).replace("'", "''"))
                index.write_url(number, 0, link, string=str(row[0]))
        index.freeze_panes(1, 0)

    def _name(self, table: str) -> str:
        """A unique sheet name; Excel ignores case in them."""
        plain = re.sub(r"[\[\]:*?/\\]", "_", visible(table)).strip("'") or "table"
        name, number = plain[:SHEET], 1
        while name.lower() in self._names:
            number += 1
            name = f"{plain[: SHEET - len(str(number)) - 1]} {number}"
        self._names.add(name.lower())
        return name

    def _fill(self, sheet: Any, frame: pd.DataFrame, is_plain: bool) -> None:
        sheet.freeze_panes(1, 0)
        plain = plain_names(frame) if is_plain else {}
        notes = header_notes(frame) if is_plain else {}
        columns = [_as_excel(frame[name]) for name in frame.columns]
        shown = number_formats(frame) if is_plain else [[]] * len(columns)
        for at, name in enumerate(frame.columns):
            header = plain.get(str(name), str(name))
            sheet.write_string(0, at, self._fitted(header), self._head)
            if str(name) in notes:
                sheet.write_comment(0, at, notes[str(name)], {"x_scale": 2.5, "y_scale": 1.5})
            texts = (_as_shown(value) for value in columns[at][:_LOOKED_AT])
            sheet.set_column(at, at, _width([header, *texts]))
        if columns:
            sheet.autofilter(0, 0, len(frame), len(columns) - 1)
        for number, row in enumerate(zip(*columns, strict=True), 1):
            for at, value in enumerate(row):
                if value is not None:
                    form = shown[at][number - 1] if shown[at] else None
                    self._put(sheet, number, at, value, form)

    def _format(self, shown: str | None) -> Any:
        """The format of numbers that are shown in a way."""
        if shown is None:
            return None
        if shown not in self._formats:
            self._formats[shown] = self._book.add_format({"num_format": shown})
        return self._formats[shown]

    def _put(self, sheet: Any, row: int, column: int, value: Any, shown: str | None = None) -> None:
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
            sheet.write_number(row, column, value, self._format(shown))

    def _fitted(self, text: str) -> str:
        """A text escaped as in CSV, truncated to fit a cell; Excel counts UTF-16 units."""
        text = escaped(text)
        if len(text) * 2 <= CELL or len(text.encode("utf-16-le")) <= 2 * CELL:
            return text
        self._cut += 1
        room = 2 * (CELL - len(_CUT))
        return text.encode("utf-16-le")[:room].decode("utf-16-le", "ignore") + _CUT


_LOOKED_AT = 200
"""How many cells a column's width goes by."""


def _width(texts: Iterable[str]) -> int:
    """The width of a column in characters, of which the longest text fits if it is short."""
    return min(max(map(len, texts), default=8) + 2, 60)


def _as_shown(value: Any) -> str:
    """About what a cell shows: dates and numbers that do not fit are shown as ########."""
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M:%S UTC}" if value.tzinfo else f"{value:%Y-%m-%d}"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:,.4f}" if value % 1 else f"{value:,.0f}"
    return "" if value is None else str(value)


_CUT = " … [cut here; the Parquet file has all of it]"


def _fitting(frame: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Yield a frame in parts that fit a sheet."""
    for start in range(0, max(len(frame), 1), ROWS - 1):
        yield frame.iloc[start : start + ROWS - 1]


def _as_excel(values: pd.Series) -> list[Any]:
    """Convert the cells of a column for Excel; None where missing."""
    convert: Callable[[Any], Any] = str
    dtype = values.dtype
    if pd.api.types.is_bool_dtype(dtype):
        convert = bool
    elif pd.api.types.is_numeric_dtype(dtype):
        convert = _number
    elif pd.api.types.is_datetime64_dtype(dtype):
        convert = _moment
    elif isinstance(dtype, pd.DatetimeTZDtype):
        values, convert = values.dt.tz_convert("UTC"), _moment
    else:
        values = as_texts(values)
    return [None if pd.isna(value) else convert(value) for value in values]


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


_FORMATS = {
    FRACTION: "0.0%",
    "fraction": "0.0%",
    FRACTION_CHANGE: "+0.0%;-0.0%;0.0%",
    PROBABILITY: "0.000",
    SCORE: "0.0",
    "score": "0.0",
}
"""How numbers of a unit are shown; the cell holds all of their digits."""

_WHOLE, _BROKEN = "#,##0", "#,##0.00##"
_INITIALS = {"url": "URL", "urls": "URLs", "id": "ID", "http": "HTTP", "ai": "AI", "ttfb": "TTFB"}

_LEGEND = (
    "How to read it",
    "An empty cell is no 0: the value was not measured, does not apply, or is not there. "
    "A 0 was measured.",
    "available: everything was measured.",
    "partial: a part could not be measured; the note at the column's header says why.",
    "unavailable: nothing could be measured; the note at the column's header says why.",
    "not applicable: there is nothing to measure.",
    "unknown, nothing is said: the service does not say whether it was measured.",
    "Rates and shares are shown in per cent, other numbers rounded; each cell holds all digits.",
    "The note at a header has the column's name in the data, its unit, meaning and status. "
    "The sheet tables lists the sheets, and columns all columns.",
)


def plain_names(frame: pd.DataFrame) -> dict[str, str]:
    """Return headers in plain words for the declared columns, by name; each header is one column's.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> plain_names(aa.demo().read("urls").main)["url"]
    'URL'
    """
    known = metadata_of(frame).columns
    names = [str(name) for name in frame.columns]
    plain = {
        name: _in_words(name) if declared(known.get(name, NOTHING)) else name for name in names
    }
    often = Counter(header.casefold() for header in plain.values())
    return {
        name: header if often[header.casefold()] == 1 else name for name, header in plain.items()
    }


def _in_words(name: str) -> str:
    words = [_INITIALS.get(word, word) for word in name.split("_")]
    text = " ".join(words)
    return text[:1].upper() + text[1:]


def header_notes(frame: pd.DataFrame) -> dict[str, str]:
    """Return what the note at the header of each declared column says."""
    notes = {}
    for name, column in metadata_of(frame).columns.items():
        what = declared(column)
        if what is not None:
            unit = f"unit: {what.unit}" if what.unit else ""
            lines = (name, what.doc or "", unit, str(column.availability))
            notes[name] = "\n".join(visible(line) for line in lines if line)
    return notes


def number_formats(frame: pd.DataFrame) -> list[list[str | None]]:
    """Return how the cells of each column are shown; empty for columns without numbers."""
    known = metadata_of(frame)
    shown: list[list[str | None]] = []
    for name, values in frame.items():
        what = declared(known.columns.get(str(name), NOTHING))
        if not pd.api.types.is_numeric_dtype(values.dtype) or pd.api.types.is_bool_dtype(values):
            shown.append([])
            continue
        unit = what.unit if what is not None else None
        units = row_units(frame, known, str(name))
        if units is None:
            is_by_row = unit == PER_UNIT and "unit" in frame.columns
            units = frame["unit"] if is_by_row else pd.Series(unit, frame.index, dtype="object")
        is_whole = (values.isna() | (values % 1 == 0)).to_numpy(bool)
        if unit != PER_UNIT:  # a count of one row is whole, whatever the others are
            is_whole = np.full(len(frame), is_whole.all())
        usual = [(_WHOLE if flag else _BROKEN) if what is not None else None for flag in is_whole]
        pairs = zip(units, usual, strict=True)
        shown.append([_FORMATS.get(unit, default) for unit, default in pairs])
    return shown


def about_lines(sources: Sequence[Source]) -> list[str]:
    """Return the lines of the first sheet: what the workbook holds, and how it is read."""
    lines = ["What AI answer engines cite, mention and show: tables of Agent Analytics"]
    for source in sources:
        facts = [source.host, source.section, source.scope]
        window = f"{source.window_start} to {source.window_end}" if source.window_start else None
        fetched = f"fetched {source.fetched_at}" if source.fetched_at else None
        known = [str(fact) for fact in (*facts, window, fetched) if fact]
        if known:
            lines.append(", ".join(known))
    return [*lines, "", *_LEGEND]
