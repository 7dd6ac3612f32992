"""Write tables to an Excel workbook: no formula, rounding, or truncation without a note.

The first sheet has the key figures, a chart, the sheets, and how to read them.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from aatoolkit._util.defaults import needed
from aatoolkit._util.files import writing
from aatoolkit._util.text import capitalized, escaped, humanize
from aatoolkit.errors import NotWritten
from aatoolkit.frame.aggregation_plan import row_units
from aatoolkit.frame.csv import as_texts
from aatoolkit.frame.views import codebook_of
from aatoolkit.metadata.arrow_schema import declared
from aatoolkit.metadata.attrs import NOTHING, Source, metadata_of
from aatoolkit.normalizer.tables import Tables
from aatoolkit.sections.aggregation import FRACTION, FRACTION_CHANGE, PER_UNIT, PROBABILITY, SCORE

_DIGITS = 10**15
_MAX_ROWS, _MAX_CHARACTERS, _MAX_NAME = 1_048_576, 32_767, 31
"""The most rows of a sheet, characters of a cell, and characters of a sheet's name."""

_MAX_BARS = 10
"""The most bars of the chart."""

_FIRST_DAY = pd.Timestamp("1900-03-01")
"""The first day on whose number all spreadsheets agree."""

_DAY, _MOMENT = "yyyy-mm-dd", 'yyyy-mm-dd hh:mm:ss "UTC"'
_WHOLE, _DECIMAL = "#,##0", "#,##0.00##"
_FORMATS = {
    FRACTION: "0.0%",
    "fraction": "0.0%",
    FRACTION_CHANGE: "+0.0%;-0.0%;0.0%",
    PROBABILITY: "0.000",
    SCORE: "0.0",
    "score": "0.0",
}
"""The number formats by unit; the cell holds all digits."""

_CUT = " … [cut here; the Parquet file has all of it]"
_LEGEND = (
    "How to read it",
    "An empty cell is no 0: the value was not measured, does not apply, or is not there. "
    "A 0 was measured.",
    "available: everything was measured; partial: a part could not be measured; unavailable: "
    "nothing could be measured; the sheet columns says why.",
    "not applicable: there is nothing to measure; unknown: the service does not say.",
    "Rates and shares are shown in per cent, other numbers rounded; each cell holds all digits.",
    "The sheet columns has the name of each column in the data, its unit, meaning and status.",
)


class SheetTable(NamedTuple):
    """A table to write to a sheet: its name, meaning and rows, and what could be measured."""

    name: str
    doc: str
    frame: pd.DataFrame
    measured: str = ""


def write_workbook(
    tables: Iterable[SheetTable],
    path: str | os.PathLike[str],
    *,
    created: datetime | None = None,
) -> Path:
    """Write tables to a workbook; the file is complete or not there at all.

    Parameters
    ----------
    tables : iterable of SheetTable
        The tables. Moments are in UTC, which is how Excel shows them.
    path : str or path
        The file, which ends in ``.xlsx``.
    created : datetime, optional
        The time of creation that the workbook states, in UTC; by default now.

    Raises
    ------
    NotWritten
        If the file's name does not end in ``.xlsx``: programs would refuse to open it; if a table
        has more rows than a sheet; if the file cannot be written: an existing one is unchanged.
    PackageMissing
        If xlsxwriter is not installed.
    """
    path, sheets = Path(path), [*tables]
    if path.suffix.lower() != ".xlsx":
        raise NotWritten(
            f"{path.name} is no name of an Excel workbook; let it end in .xlsx", path=str(path)
        )
    for table in sheets:
        if len(table.frame) >= _MAX_ROWS:
            raise NotWritten(
                f"{table.name} has {len(table.frame):,} rows, and a sheet takes {_MAX_ROWS - 1:,}; "
                "aggregate it, or write Parquet",
                path=str(path),
            )
    with needed("Excel needs", "excel"):
        import xlsxwriter  # noqa: F401  pandas writes by it
    options = {"strings_to_formulas": False, "strings_to_urls": False}
    with (
        writing(path) as temporary,
        open(temporary, "wb") as file,
        pd.ExcelWriter(
            file,
            engine="xlsxwriter",
            date_format=_DAY,
            datetime_format=_MOMENT,
            engine_kwargs={"options": options},
        ) as writer,
    ):
        moment = (created or datetime.now(UTC)).replace(tzinfo=None)
        writer.book.set_properties({"created": moment})
        _Book(writer).write(sheets)
    return path


def write_sections(sections: Mapping[str, Tables], path: str | os.PathLike[str]) -> Path:
    """Write the tables of sections, a sheet each, and a sheet with the code books."""
    sheets = []
    for section, tables in sections.items():
        docs = {table.name: table.doc for table in tables.declaration or ()}
        for name, frame in tables.items():
            measured = tables._words[name].replace("unknown", "nothing is said")
            sheets.append(SheetTable(name, f"{section}: {docs.get(name, '')}", frame, measured))
    return write_workbook(sheets, path)


class _Book:
    """A workbook that is being written."""

    def __init__(self, writer: pd.ExcelWriter[Any]) -> None:
        self._writer, self._book = writer, writer.book
        self._formats: dict[str | None, Any] = {None: None}
        self._bold = self._book.add_format({"bold": True})
        self._wrapped = self._book.add_format({"text_wrap": True, "valign": "top"})
        self._title = self._book.add_format({"bold": True, "font_size": 14})

    def write(self, tables: Sequence[SheetTable]) -> None:
        overview = self._book.add_worksheet("Overview")
        names = {"overview", "history", "columns"}  # Excel has the second
        sheets: list[tuple[Any, ...]] = []
        for table in tables:
            name = _sheet_name(capitalized(humanize(table.name)), names)
            self._fill(name, table.frame)
            sheets.append((name, table.name, len(table.frame), table.doc, table.measured))
        if tables:
            books = [_codebook(table) for table in tables]
            book = pd.concat(books, ignore_index=True)
            self._fill("columns", book)
            sheets.append(("columns", "columns", len(book), "What each column is.", ""))
        self._overview(overview, tables, sheets)

    def _fill(self, name: str, frame: pd.DataFrame) -> None:
        """Write the rows, with formats by unit, widths, and notes at the headers."""
        headers = plain_names(frame)
        formats = _number_formats(frame)
        cells = [_as_excel(frame.iloc[:, i]) for i in range(frame.shape[1])]
        objects = {i: pd.Series(values, dtype=object) for i, values in enumerate(cells)}
        pd.DataFrame(objects).to_excel(
            self._writer, sheet_name=name, index=False, header=False, startrow=1
        )
        sheet = self._writer.sheets[name]
        for i, (column, values) in enumerate(zip(map(str, frame.columns), cells, strict=True)):
            header, number_formats = _fit_cell(headers[column]), formats.get(column, [])
            usual_format = max({*number_formats}, key=number_formats.count, default=None)
            sheet.write_string(0, i, header, self._bold)
            sheet.set_column(i, i, _width([header, *values[:200]]), self._format(usual_format))
            for row, (value, number_format) in enumerate(
                zip(values, number_formats, strict=False), 1
            ):
                if number_format != usual_format and value is not None:
                    sheet.write(row, i, value, self._format(number_format))
        sheet.freeze_panes(1, 0)
        if cells:
            sheet.autofilter(0, 0, len(frame), len(cells) - 1)
        _set_up_printing(sheet)
        sheet.repeat_rows(0)

    def _overview(
        self, sheet: Any, tables: Sequence[SheetTable], sheets: Sequence[tuple[Any, ...]]
    ) -> None:
        """Fill the first sheet: the sources, the key figures, a chart, the sheets, a legend."""
        lists = [metadata_of(table.frame).sources for table in tables]
        sources = [*dict.fromkeys(source for sources in lists for source in sources)]
        windows = dict.fromkeys(
            ", ".join(_source_facts(source)[: 1 + bool(source.window_start)])
            for source in sources
            if source.host
        )
        sheet.write(0, 0, "What AI answer engines cite, mention and show", self._title)
        sheet.write_column(1, 0, map(_fit_cell, windows), self._bold)
        row = len(windows) + 2
        for label, value, number_format in _key_figures([table.frame for table in tables]):
            sheet.write(row, 0, _fit_cell(label))
            sheet.write(row, 1, value, self._format(number_format))
            row += 1
        chart = self._chart(tables, sheets)
        if chart is not None:
            sheet.insert_chart(row + 1, 0, chart)
            row += 17
        sheet.write_row(row + 1, 0, ("sheet", "table", "rows", "holds", "measured"), self._bold)
        for number, (name, table, count, *texts) in enumerate(sheets, row + 2):
            link = "internal:'{}'!A1".format(name.replace("'", "''"))
            sheet.write_url(number, 0, link, string=name)
            sheet.write_row(
                number, 1, [_fit_cell(table), count, *map(_fit_cell, texts)], self._wrapped
            )
        facts = [_fit_cell(", ".join(_source_facts(source))) for source in sources]
        sheet.write_column(row + len(sheets) + 3, 0, [*_LEGEND, "", *facts])
        for column, width in enumerate((28, 26, 9, 60, 30)):
            sheet.set_column(column, column, width)
        _set_up_printing(sheet)

    def _chart(self, tables: Sequence[SheetTable], sheets: Sequence[tuple[Any, ...]]) -> Any:
        """Make a chart of the first table that fits: a line over days, or bars of rows."""
        for kind in ("line", "bar"):
            for table, (name, *_) in zip(tables, sheets, strict=False):
                positions = _chart_columns(table.frame, kind)
                if positions is None:
                    continue
                (x, y), last = positions, len(table.frame)
                last = min(last, _MAX_BARS) if kind == "bar" else last
                header = plain_names(table.frame)[table.frame.columns[y]]
                chart = self._book.add_chart({"type": kind})
                ranges = {"categories": [name, 1, x, last, x], "values": [name, 1, y, last, y]}
                chart.add_series({"name": header, **ranges})
                chart.set_title({"name": f"{header}, {humanize(table.name)}"})
                chart.set_legend({"none": True})
                chart.set_size({"width": 720, "height": 300})
                chart.show_na_as_empty_cell()
                if kind == "bar":
                    chart.set_y_axis({"reverse": True})
                return chart
        return None

    def _format(self, number_format: str | None) -> Any:
        """Return the workbook's format for a number format."""
        if number_format not in self._formats:
            self._formats[number_format] = self._book.add_format({"num_format": number_format})
        return self._formats[number_format]


def _codebook(table: SheetTable) -> pd.DataFrame:
    """Return the code book of a table, with the headers of its sheet."""
    book = pd.DataFrame(codebook_of(table.frame).reset_index())
    names = plain_names(table.frame)
    book.insert(0, "table", table.name)
    book.insert(2, "header", [names.get(str(name), str(name)) for name in book["column"]])
    return book


def _fit_cell(text: str) -> str:
    """Escape a text as in CSV and truncate it to fit a cell; Excel counts UTF-16 units."""
    text = escaped(text)
    units = text.encode("utf-16-le")
    if len(units) <= 2 * _MAX_CHARACTERS:
        return text
    return units[: 2 * (_MAX_CHARACTERS - len(_CUT))].decode("utf-16-le", "ignore") + _CUT


def _set_up_printing(sheet: Any) -> None:
    """Set up printing: A4, landscape, one page wide."""
    sheet.set_landscape()
    sheet.set_paper(9)
    sheet.fit_to_pages(1, 0)
    sheet.set_footer("&L&A&RPage &P of &N")


def _sheet_name(words: str, names: set[str]) -> str:
    """Return a name that no other sheet has, ignoring case as Excel does."""
    plain = re.sub(r"[\[\]:*?/\\]", "_", words).strip("'") or "table"
    name = plain[:_MAX_NAME]
    while name.lower() in names:
        number = f" {len(names)}"
        name = plain[: _MAX_NAME - len(number)] + number
    names.add(name.lower())
    return name


def _key_figures(frames: Sequence[pd.DataFrame]) -> Iterator[tuple[str, float, str]]:
    """Yield the key figures: the values of the first table whose rows are metrics."""
    for frame in frames:
        formats = _number_formats(frame).get("value")
        if formats and metadata_of(frame).key == ("metric",):
            for label, value, number_format in zip(
                frame["metric"], _as_excel(frame["value"]), formats, strict=True
            ):
                if value is not None:
                    yield capitalized(humanize(label)), value, number_format
            return


def _chart_columns(frame: pd.DataFrame, kind: str) -> tuple[int, int] | None:
    """Return the positions of the columns of a chart: days or texts, and the first measure."""
    metadata, names = metadata_of(frame), [*map(str, frame.columns)]
    if len(metadata.key) != 1 or metadata.key[0] not in names or len(frame) < 2:
        return None
    is_time = frame[metadata.key[0]].dtype.kind == "M"
    measures = [
        name
        for name in _number_formats(frame)
        if (declaration := declared(metadata.columns[name]))
        and declaration.aggregate.rule in ("sum", "ratio")
        if frame[name].fillna(0).any()
    ]
    if is_time != (kind == "line") or not measures:
        return None
    return names.index(metadata.key[0]), names.index(measures[0])


def _as_excel(values: pd.Series) -> list[Any]:
    """Convert the cells of a column for Excel; None where missing."""
    convert: Any = _fit_cell
    if values.dtype.kind == "b":
        convert = bool
    elif pd.api.types.is_numeric_dtype(values.dtype):
        convert = _number
    elif values.dtype.kind == "M":
        values = values.dt.tz_convert("UTC") if values.dt.tz is not None else values
        convert = _moment
    else:
        values = as_texts(values)
    return [None if pd.isna(value) else convert(value) for value in values]


def _number(value: Any) -> Any:
    """Convert a number for Excel; to text if a spreadsheet would round it, or it is infinite."""
    if not np.isfinite(float(value)) or (value == int(value) and abs(value) >= _DIGITS):
        return str(value)
    return value.item() if hasattr(value, "item") else value


def _moment(value: pd.Timestamp) -> Any:
    """Convert a time for Excel; to text if it would be rounded, or is before 1900-03-01."""
    plain = value.tz_localize(None)
    is_day = value.tz is None and plain == plain.normalize()
    is_local = value.tz is None and not is_day
    if plain < _FIRST_DAY or value.microsecond or value.nanosecond or is_local:
        return value.isoformat().replace("+00:00", "Z")
    return plain.date() if is_day else plain.to_pydatetime()


def _width(cells: Sequence[Any]) -> int:
    """Return the width of a column in characters, which fits its longest cell up to a limit."""
    texts = (
        f"{cell:,.2f}"
        if isinstance(cell, int | float)
        else f"{cell} UTC"
        if isinstance(cell, datetime)
        else str(cell)
        for cell in cells
    )
    return max(8, min(2 + max(map(len, texts)), 60))


def plain_names(frame: pd.DataFrame) -> dict[str, str]:
    """Return headers in plain words for the declared columns, by name; no two are alike.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> plain_names(aa.demo().read("urls").main)["url"]
    'URL'
    """
    metadata = metadata_of(frame).columns
    plain = {
        name: capitalized(humanize(name)) if declared(metadata.get(name, NOTHING)) else name
        for name in map(str, frame.columns)
    }
    uses = Counter(header.casefold() for header in plain.values())
    return {
        name: header if uses[header.casefold()] == 1 else name for name, header in plain.items()
    }


def _number_formats(frame: pd.DataFrame) -> dict[str, list[str]]:
    """Return the number format of each cell of the declared columns of numbers."""
    metadata = metadata_of(frame)
    formats: dict[str, list[str]] = {}
    for name, values in frame.select_dtypes("number").items():
        what = declared(metadata.columns.get(str(name), NOTHING))
        if what is None:
            continue
        units = row_units(frame, metadata, str(name))
        if units is None:
            units = pd.Series(what.unit, frame.index, dtype=object)
        is_whole = (values.isna() | (values % 1 == 0)).to_numpy(bool)
        if what.unit != PER_UNIT and not what.aggregate.within:  # else of its row alone
            is_whole[:] = is_whole.all()
        usual = np.where(is_whole, _WHOLE, _DECIMAL).tolist()
        formats[str(name)] = [_FORMATS.get(of, by) for of, by in zip(units, usual, strict=True)]
    return formats


def _source_facts(source: Source) -> list[str]:
    """Return the host, window, section, scope and time of a response as texts."""
    window = f"{source.window_start} to {source.window_end}" if source.window_start else None
    fetched = f"fetched {source.fetched_at}" if source.fetched_at else None
    facts = (source.host, window, source.section, source.scope, fetched)
    return [str(fact) for fact in facts if fact]
