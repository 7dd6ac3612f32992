"""Write tables to an Excel workbook: no formula, rounding, or truncation without a note.

The first sheet has the key figures, a chart, the sheets, and how to read them.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from aatoolkit._util.defaults import needed
from aatoolkit._util.files import writing
from aatoolkit._util.text import escaped, visible
from aatoolkit.errors import AAToolkitError, NotWritten
from aatoolkit.frame.aggregate import aggregate
from aatoolkit.frame.aggregation_plan import row_units
from aatoolkit.frame.csv import as_texts, needs_guard
from aatoolkit.frame.views import codebook_of
from aatoolkit.metadata.arrow_schema import declared
from aatoolkit.metadata.attrs import NOTHING, Source, metadata_of
from aatoolkit.sections.aggregation import FRACTION, FRACTION_CHANGE, PER_UNIT, PROBABILITY, SCORE

_DIGITS = 10**15
ROWS, CELL, SHEET = 1_048_576, 32_767, 31
"""The most rows of a sheet, characters of a cell, and characters of a sheet's name."""

OVERVIEW = "Overview"
"""The name of the first sheet."""

_FIGURES, _BARS = 8, 10
"""The most key figures, and bars of the chart."""

_FIRST_DAY = pd.Timestamp("1900-03-01")
"""Before it spreadsheets disagree on dates."""

_DAY, _MOMENT = "yyyy-mm-dd", 'yyyy-mm-dd hh:mm:ss "UTC"'
_WHOLE, _BROKEN = "#,##0", "#,##0.00##"
_FORMATS = {
    FRACTION: "0.0%",
    "fraction": "0.0%",
    FRACTION_CHANGE: "+0.0%;-0.0%;0.0%",
    PROBABILITY: "0.000",
    SCORE: "0.0",
    "score": "0.0",
}
"""How numbers of a unit are shown; the cell holds all of their digits."""

_WIDTHS = {_DAY: 12, _MOMENT: 25, "0.0%": 9}
_CUT = " … [cut here; the Parquet file has all of it]"
_INITIALS = {"url": "URL", "urls": "URLs", "id": "ID", "http": "HTTP", "ai": "AI", "ttfb": "TTFB"}

_LEGEND = (
    "How to read it",
    "An empty cell is no 0: the value was not measured, does not apply, or is not there. "
    "A 0 was measured.",
    "available: everything was measured; partial: a part could not be measured; unavailable: "
    "nothing could be measured; the note at the column's header says why.",
    "not applicable: there is nothing to measure; unknown: the service does not say.",
    "Rates and shares are shown in per cent, other numbers rounded; each cell holds all digits.",
    "The note at a header has the column's name in the data, its unit, meaning and status.",
)


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
        write_excel(tables, temporary, about=about)
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
        words: Mapping[str, str] = getattr(tables, "_words", {})
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
    about: Sequence[Source] = (),
) -> None:
    """Write tables to one workbook, one sheet each, after a sheet with an overview.

    Parameters
    ----------
    tables : iterable of SheetTable
        The tables. Moments are in UTC, which is how Excel shows them.
    path : Path
        The file.
    created : datetime, optional
        The moment that the workbook names as its own, in UTC; by default now.
    about : sequence of Source
        The answers that they are from.

    Raises
    ------
    PackageMissing
        If xlsxwriter is not installed.
    """
    with needed("Excel needs", "excel"):
        import xlsxwriter
    with (
        tempfile.TemporaryDirectory() as folder,
        xlsxwriter.Workbook(path, {"constant_memory": True, "tmpdir": folder}) as book,
    ):
        book.set_properties({"created": (created or datetime.now(UTC)).replace(tzinfo=None)})
        _Book(book).write([*tables], about)


class _Book:
    """A workbook that is being written."""

    def __init__(self, book: Any) -> None:
        self._book = book
        self._formats: dict[str, Any] = {}
        self._bold = self._book.add_format({"bold": True})
        self._title = self._book.add_format({"bold": True, "font_size": 14})
        self._quoted = self._book.add_format({"quote_prefix": True})
        self._cut = 0

    def write(self, tables: Sequence[SheetTable], about: Sequence[Source]) -> None:
        first = self._book.add_worksheet(OVERVIEW)
        names: set[str] = {OVERVIEW.lower(), "history"}
        rows: list[tuple[Any, ...]] = []
        for table in tables:
            for start in range(0, max(len(table.frame), 1), ROWS - 1):
                frame = table.frame.iloc[start : start + ROWS - 1]
                name = _sheet_name(table, names)
                self._cut = 0
                self._fill(self._book.add_worksheet(name), frame, table.is_plain)
                rows.append((name, table.name, len(frame), table.doc, table.measured, self._cut))
        self._overview(first, tables, about, rows)

    def _overview(
        self,
        sheet: Any,
        tables: Sequence[SheetTable],
        about: Sequence[Source],
        rows: Sequence[tuple[Any, ...]],
    ) -> None:
        """Fill the first sheet: the sources, the key figures, a chart, the sheets, a legend."""
        plain = [table for table in tables if table.is_plain]
        windows = dict.fromkeys(", ".join(_facts(of)[:2]) for of in about if of.host)
        lines = ["What AI answer engines cite, mention and show", *windows]
        for at, line in enumerate(lines):
            self._put(sheet, at, 0, line, self._bold if at else self._title)
        at = len(lines) + 1
        for label, value, shown in _figures(plain):
            self._put(sheet, at, 0, label)
            sheet.write_number(at, 1, value, self._format(shown))
            at += 1
        chart = self._chart(plain, rows)
        if chart is not None:
            sheet.insert_chart(at + 1, 0, chart)
            at += 17
        heads = ("sheet", "table", "rows", "holds", "measured", "shortened cells")
        used = [
            place for place in range(len(heads)) if place < 4 or any(row[place] for row in rows)
        ]
        for number, row in enumerate([heads, *rows]):
            for column, place in enumerate(used):
                self._put(
                    sheet, at + 1 + number, column, row[place], None if number else self._bold
                )
            if number:
                link = "internal:'{}'!A1".format(str(row[0]).replace("'", "''"))
                sheet.write_url(at + 1 + number, 0, link, string=str(row[0]))
        read = [", ".join(_facts(of)) for of in about]
        for number, line in enumerate([*_LEGEND, "", *read], at + len(rows) + 3):
            self._put(sheet, number, 0, line)
        for column, width in enumerate((28, 26, 9, 60, 30, 16)):
            sheet.set_column(column, column, width)
        _for_print(sheet)

    def _chart(self, tables: Sequence[SheetTable], rows: Sequence[tuple[Any, ...]]) -> Any:
        """A line over days, or bars of the largest rows, of the first table that has them."""
        sheets = {row[1]: row[0] for row in reversed(rows)}
        for kind in ("line", "bar"):
            for table in tables:
                place = _drawn(table.frame, kind)
                if place is None:
                    continue
                (x, y), last = place, len(table.frame)
                if kind == "bar":
                    last = min(last, _BARS)
                name, header = sheets[table.name], plain_names(table.frame)[table.frame.columns[y]]
                chart = self._book.add_chart({"type": kind})
                chart.add_series(
                    {
                        "name": header,
                        "categories": [name, 1, x, last, x],
                        "values": [name, 1, y, last, y],
                    }
                )
                chart.set_title({"name": f"{header}, {_in_words(table.name).lower()}"})
                chart.set_legend({"none": True})
                chart.set_size({"width": 720, "height": 300})
                chart.show_na_as_empty_cell()
                if kind == "bar":
                    chart.set_y_axis({"reverse": True})
                return chart
        return None

    def _fill(self, sheet: Any, frame: pd.DataFrame, is_plain: bool) -> None:
        plain = plain_names(frame) if is_plain else {}
        notes = header_notes(frame) if is_plain else {}
        shown = number_formats(frame) if is_plain else {}
        columns = []
        for at, name in enumerate(map(str, frame.columns)):
            values = _as_excel(frame.iloc[:, at])
            formats = shown.get(name) or [_format_of(value) for value in values]
            usual = max({*formats}, key=formats.count, default=None)
            header = self._fitted(plain.get(name, name))
            sheet.set_column(at, at, _width([header, *values[:200]], usual))
            sheet.write_string(0, at, header, self._bold)
            if name in notes:
                sheet.write_comment(0, at, notes[name], {"x_scale": 2.5, "y_scale": 1.5})
            columns.append([*zip(values, formats, strict=True)])
        for row, cells in enumerate(zip(*columns, strict=True), 1):
            for at, (value, form) in enumerate(cells):
                if value is not None:
                    self._put(sheet, row, at, value, self._format(form))
        sheet.freeze_panes(1, 0)
        if columns:
            sheet.autofilter(0, 0, len(frame), len(columns) - 1)
        _for_print(sheet)
        sheet.repeat_rows(0)

    def _format(self, shown: str | None) -> Any:
        """The format of cells that are shown in a way."""
        if shown is None:
            return None
        if shown not in self._formats:
            self._formats[shown] = self._book.add_format({"num_format": shown})
        return self._formats[shown]

    def _put(self, sheet: Any, row: int, column: int, value: Any, form: Any = None) -> None:
        """Write a cell with its own type; text is not parsed for formulas, links or numbers."""
        if isinstance(value, datetime):
            sheet.write_datetime(row, column, value.replace(tzinfo=None), form)
        elif isinstance(value, str):
            text = self._fitted(value)
            sheet.write_string(row, column, text, self._quoted if needs_guard(value) else form)
        else:
            sheet.write(row, column, value, form)

    def _fitted(self, text: str) -> str:
        """A text escaped as in CSV, truncated to fit a cell; Excel counts UTF-16 units."""
        text = escaped(text)
        if len(text) * 2 <= CELL or len(text.encode("utf-16-le")) <= 2 * CELL:
            return text
        self._cut += 1
        room = 2 * (CELL - len(_CUT))
        return text.encode("utf-16-le")[:room].decode("utf-16-le", "ignore") + _CUT


def _for_print(sheet: Any) -> None:
    """Set up pages: A4, across, as wide as a page."""
    sheet.set_landscape()
    sheet.set_paper(9)
    sheet.fit_to_pages(1, 0)
    sheet.set_footer("&L&A&RPage &P of &N")


def _sheet_name(table: SheetTable, names: set[str]) -> str:
    """A unique name in plain words; Excel ignores case in them."""
    words = _in_words(table.name) if table.is_plain else visible(table.name)
    plain = re.sub(r"[\[\]:*?/\\]", "_", words).strip("'") or "table"
    name, number = plain[:SHEET], 1
    while name.lower() in names:
        number += 1
        name = f"{plain[: SHEET - len(str(number)) - 1]} {number}"
    names.add(name.lower())
    return name


def _figures(tables: Sequence[SheetTable]) -> Iterator[tuple[str, float, str | None]]:
    """Yield the key figures: rows that are metrics, else the first table's totals by its rules."""
    for table in tables:
        frame, known = table.frame, metadata_of(table.frame)
        for name, shown in number_formats(frame).items():
            what = declared(known.columns[name])
            if what is None or len(known.key) != 1 or not (what.units or what.unit == PER_UNIT):
                continue
            rows = zip(
                frame[known.key[0]].astype("string"), _as_excel(frame[name]), shown, strict=True
            )
            for label, value, form in [row for row in rows if _is_number(row[1])][:_FIGURES]:
                words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", str(label)).lower()
                yield _in_words(words), value, form
            return
    for table in tables[:1]:
        try:
            total = aggregate(table.frame, None, None, True, {}, True)
        except AAToolkitError:
            return
        formats, names = number_formats(total), plain_names(total)
        for name in [name for name, form in formats.items() if form][:_FIGURES]:
            (value,) = _as_excel(total[name])
            if _is_number(value) and name in table.frame.columns:
                yield names[name], value, formats[name][0]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _drawn(frame: pd.DataFrame, kind: str) -> tuple[int, int] | None:
    """The positions of the columns of a chart: days, or texts, and the first measure."""
    known, names = metadata_of(frame), [*map(str, frame.columns)]
    if len(known.key) != 1 or known.key[0] not in names or len(frame) < 2:
        return None
    is_time = pd.api.types.is_datetime64_any_dtype(frame[known.key[0]].dtype)
    ruled = [
        name
        for name, form in number_formats(frame).items()
        if form
        and (what := declared(known.columns[name]))
        and what.aggregate.rule in ("sum", "ratio")
    ]
    if is_time != (kind == "line") or not ruled:
        return None
    return names.index(known.key[0]), names.index(ruled[0])


def _as_excel(values: pd.Series) -> list[Any]:
    """Convert the cells of a column for Excel; None where missing."""
    dtype = values.dtype
    if pd.api.types.is_bool_dtype(dtype):
        convert: Any = bool
    elif pd.api.types.is_numeric_dtype(dtype):
        convert = _number
    elif pd.api.types.is_datetime64_any_dtype(dtype):
        values = values.dt.tz_convert("UTC") if values.dt.tz is not None else values
        convert = _moment
    else:
        values, convert = as_texts(values), str
    return [None if pd.isna(value) else convert(value) for value in values]


def _number(value: Any) -> Any:
    """Convert a number for Excel; text where a spreadsheet would round it, or for infinity."""
    if not np.isfinite(float(value)) or (value == int(value) and abs(value) >= _DIGITS):
        return str(value)
    return value.item() if hasattr(value, "item") else value


def _moment(value: pd.Timestamp) -> Any:
    """Convert a day or moment for Excel; text where it would be rounded, or before 1900-03-01."""
    if value.tz_localize(None) < _FIRST_DAY or value.microsecond or value.nanosecond:
        return value.isoformat().replace("+00:00", "Z")
    return value.to_pydatetime()


def _format_of(value: Any) -> str | None:
    """How a cell of no declared unit is shown."""
    if not isinstance(value, datetime):
        return None
    return _MOMENT if value.tzinfo else _DAY


def _width(cells: Sequence[Any], shown: str | None) -> int:
    """The width of a column in characters, of which the longest text fits if it is short."""
    texts = (
        f"{cell:,.4f}"
        if isinstance(cell, float) and cell % 1
        else f"{cell:,.0f}"
        if isinstance(cell, int | float)
        else str(cell)
        for cell in cells
        if cell is not None and not isinstance(cell, datetime)
    )
    return max(_WIDTHS.get(shown or "", 8), min(max(map(len, texts), default=8) + 2, 60))


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
    words = [_INITIALS.get(word, word) for word in visible(name).split("_")]
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


def number_formats(frame: pd.DataFrame) -> dict[str, list[str | None]]:
    """Return how the cells of each column of numbers are shown."""
    known = metadata_of(frame)
    shown: dict[str, list[str | None]] = {}
    for name, values in frame.items():
        what = declared(known.columns.get(str(name), NOTHING))
        is_flag = pd.api.types.is_bool_dtype(values.dtype)
        if what is None or is_flag or not pd.api.types.is_numeric_dtype(values.dtype):
            continue
        units = row_units(frame, known, str(name))
        if units is None:
            is_by_row = what.unit == PER_UNIT and "unit" in frame.columns
            units = frame["unit"] if is_by_row else pd.Series(what.unit, frame.index, dtype=object)
        is_whole = (values.isna() | (values % 1 == 0)).to_numpy(bool)
        if what.unit != PER_UNIT:  # a count of one row is whole, whatever the others are
            is_whole = np.full(len(frame), is_whole.all())
        usual = (_WHOLE if flag else _BROKEN for flag in is_whole)
        shown[str(name)] = [_FORMATS.get(of, by) for of, by in zip(units, usual, strict=True)]
    return shown


def _facts(source: Source) -> list[str]:
    """What a response was about, when it covers, what was asked and when it was fetched."""
    window = f"{source.window_start} to {source.window_end}" if source.window_start else None
    fetched = f"fetched {source.fetched_at}" if source.fetched_at else None
    facts = (source.host, window, source.section, source.scope, fetched)
    return [str(fact) for fact in facts if fact]
