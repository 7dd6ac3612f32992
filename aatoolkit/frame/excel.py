"""Write tables to an Excel workbook, in which no text is a formula and no number is rounded.

The first sheet has the key figures, a chart, a list of the sheets, and notes for readers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from aatoolkit._util.defaults import require_package
from aatoolkit._util.files import FilePath, write_atomically
from aatoolkit._util.text import capitalize, escape_text, humanize
from aatoolkit.errors import NotWritten
from aatoolkit.frame.aggregation_plan import row_units
from aatoolkit.frame.csv import MIN_ROUNDED_INTEGER, as_texts
from aatoolkit.frame.merge import sources_of
from aatoolkit.frame.views import codebook_of
from aatoolkit.metadata.attrs import UNDECLARED, Source, metadata_of
from aatoolkit.normalizer.tables import Tables
from aatoolkit.sections.aggregation import FRACTION, FRACTION_CHANGE, PER_UNIT, PROBABILITY, SCORE

_MAX_ROWS = 1_048_576
_MAX_CELL_CHARS = 32_767
_MAX_SHEET_NAME_LENGTH = 31
"""Limits of Excel: rows of a sheet, characters of a cell, characters of a sheet's name."""

_MAX_CHART_BARS = 10
_MAX_COLUMN_WIDTH = 60
_PAGE_WIDTH = 220
"""The maximum number of bars in a chart; the maximum width of a column, and the width of a page, in
characters.
"""

_FIRST_EXCEL_DAY = pd.Timestamp("1900-03-01")
"""Spreadsheets disagree about earlier days, which are therefore written as text."""

_DAY_FORMAT = "yyyy-mm-dd"
_DATETIME_FORMAT = 'yyyy-mm-dd hh:mm:ss "UTC"'
_INTEGER_FORMAT = "#,##0"
_FRACTION_FORMAT = "#,##0.00##"
_NUMBER_FORMAT_BY_UNIT = {
    FRACTION: "0.0%",
    "fraction": "0.0%",
    FRACTION_CHANGE: "+0.0%;-0.0%;0.0%",
    PROBABILITY: "0.000",
    SCORE: "0.0",
    "score": "0.0",
}
"""The number format of each unit; the cells hold all digits."""

_TRUNCATION_NOTE = " … [cut here; the Parquet file has all of it]"
_LEGEND_LINES = (
    "How to read it",
    "An empty cell is no 0: the value was not measured, does not apply, or is not there. "
    "A 0 was measured.",
    "available: everything was measured; partial: a part could not be measured; unavailable: "
    "nothing could be measured; the sheet Columns says why.",
    "not applicable: there is nothing to measure; unknown: the service does not say.",
    "Rates and shares are shown in per cent, other numbers rounded; each cell holds all digits.",
    "The sheet Columns has the name of each column in the data, its unit, meaning and status.",
)


class SheetTable(NamedTuple):
    """A table to write as a sheet; ``availability_text`` says in words how much was measured."""

    name: str
    doc: str
    frame: pd.DataFrame
    availability_text: str = ""


def write_workbook(
    tables: Iterable[SheetTable], path: FilePath, *, created_at: datetime | None = None
) -> Path:
    """Write tables to an Excel workbook, one sheet each, and return its path.

    ``created_at`` is the creation time in the properties of the workbook; by default, it is now.
    """
    path = Path(path)
    sheet_tables = [*tables]
    if path.suffix.lower() != ".xlsx":
        raise NotWritten(
            f"{path.name} is no name of an Excel workbook; let it end in .xlsx", path=path
        )
    for table in sheet_tables:
        if len(table.frame) >= _MAX_ROWS:
            raise NotWritten(
                f"{table.name} has {len(table.frame):,} rows, and a sheet takes {_MAX_ROWS - 1:,}; "
                "aggregate it, or write Parquet",
                path=path,
            )
    with require_package("Excel needs", "excel"):
        import xlsxwriter  # noqa: F401  pandas writes with it
    options = {"strings_to_formulas": False, "strings_to_urls": False}
    with (
        write_atomically(path) as temporary_path,
        open(temporary_path, "wb") as workbook_file,
        pd.ExcelWriter(
            workbook_file,
            engine="xlsxwriter",
            date_format=_DAY_FORMAT,
            datetime_format=_DATETIME_FORMAT,
            engine_kwargs={"options": options},
        ) as writer,
    ):
        creation_time = (created_at or datetime.now(UTC)).replace(tzinfo=None)
        writer.book.set_properties({"created": creation_time})
        _Workbook(writer).write(sheet_tables)
    return path


def write_sections(sections: Mapping[str, Tables], path: FilePath) -> Path:
    """Write each table of the sections to a sheet of a workbook, and return its path."""
    sheet_tables = []
    for tables in sections.values():
        doc_by_table = {table.name: table.doc for table in tables.declaration or ()}
        for name, frame in tables.items():
            availability_text = tables._availability_texts[name].replace(
                "unknown", "nothing is said"
            )
            sheet_tables.append(
                SheetTable(name, doc_by_table.get(name, ""), frame, availability_text)
            )
    return write_workbook(sheet_tables, path)


class _Workbook:
    """A workbook that is being written, and a cache of its cell formats."""

    def __init__(self, writer: pd.ExcelWriter[Any]) -> None:
        self._writer = writer
        self._book = writer.book
        self._format_by_number_format: dict[str | None, Any] = {None: None}
        self._bold_format = self._book.add_format({"bold": True})
        self._right_aligned = self._book.add_format({"bold": True, "align": "right"})
        self._wrapped_text = self._book.add_format({"text_wrap": True, "valign": "top"})
        self._link_format = self._book.add_format(
            {"underline": 1, "color": "blue", "valign": "top"}
        )
        self._title_format = self._book.add_format({"bold": True, "font_size": 14})

    def write(self, tables: Sequence[SheetTable]) -> None:
        """Write all sheets: an overview, one per table, and one that describes the columns."""
        overview_sheet = self._book.add_worksheet("Overview")
        used_names = {"overview", "history", "columns"}  # Excel has the second
        table_by_sheet_name = {
            _sheet_name(capitalize(humanize(table.name)), used_names): table for table in tables
        }
        if tables:
            codebook = pd.concat(map(_codebook, tables), ignore_index=True)
            codebook_doc = "What each column is, and its status."
            table_by_sheet_name["Columns"] = SheetTable("columns", codebook_doc, codebook)
        for name, table in table_by_sheet_name.items():
            self._write_sheet(name, table.frame)
        self._write_overview(overview_sheet, table_by_sheet_name)

    def _write_sheet(self, sheet_name: str, frame: pd.DataFrame) -> None:
        """Write a frame to a new sheet, and format each number by its unit."""
        headers = header_by_name(frame)
        number_formats_by_column = _number_formats(frame)
        cell_values_of_columns = [
            _to_excel_values(frame.iloc[:, position]) for position in range(frame.shape[1])
        ]
        pd.DataFrame(dict(enumerate(cell_values_of_columns)), dtype=object).to_excel(
            self._writer, sheet_name=sheet_name, index=False, header=False, startrow=1
        )
        sheet = self._writer.sheets[sheet_name]
        column_widths = []
        for position, (column, values) in enumerate(
            zip(map(str, frame.columns), cell_values_of_columns, strict=True)
        ):
            header = _to_cell_text(headers[column])
            number_formats = number_formats_by_column.get(column, [])
            column_format = max({*number_formats}, key=number_formats.count, default=None)
            sheet.write_string(
                0, position, header, self._right_aligned if number_formats else self._bold_format
            )
            cell_texts = (
                f"{cell:,.2f}"
                if isinstance(cell, int | float)
                else f"{cell} UTC"
                if isinstance(cell, datetime)
                else str(cell)
                for cell in (header, *values[:200])
            )
            column_widths.append(max(8, min(2 + max(map(len, cell_texts)), _MAX_COLUMN_WIDTH)))
            sheet.set_column(
                position, position, column_widths[-1], self._cell_format(column_format)
            )
            for sheet_row, (value, number_format) in enumerate(
                zip(values, number_formats, strict=False), 1
            ):
                if number_format != column_format and value is not None:
                    sheet.write(sheet_row, position, value, self._cell_format(number_format))
        sheet.freeze_panes(1, 0)
        if cell_values_of_columns:
            sheet.autofilter(0, 0, len(frame), len(cell_values_of_columns) - 1)
        sheet.repeat_rows(0)
        _set_print_layout(sheet, sum(column_widths), len(metadata_of(frame).key))

    def _write_overview(self, sheet: Any, table_by_sheet_name: Mapping[str, SheetTable]) -> None:
        """Fill the first sheet: sources, key figures, a chart, the list of sheets and a legend."""
        frames = [table.frame for table in table_by_sheet_name.values()]
        sources = sources_of(map(metadata_of, frames))
        window_texts = dict.fromkeys(
            ", ".join(_source_texts(source)[: 1 + bool(source.window_start)])
            for source in sources
            if source.host
        )
        sheet.write(0, 0, "What AI answer engines cite, mention and show", self._title_format)
        sheet.write_column(1, 0, map(_to_cell_text, window_texts), self._bold_format)
        last_row = len(window_texts) + 2
        key_figures = [*_key_figures(frames)]
        if key_figures:
            sheet.write(last_row, 0, "Key figure", self._bold_format)
            sheet.write_row(last_row, 1, ("Value", "Before"), self._right_aligned)
        for label, number_format, *cell_values in key_figures:
            last_row += 1
            sheet.write(last_row, 0, _to_cell_text(label))
            for column_position, value in enumerate(cell_values, 1):
                sheet.write(last_row, column_position, value, self._cell_format(number_format))
        chart = self._add_chart(table_by_sheet_name)
        if chart is not None:
            sheet.insert_chart(last_row + 2, 0, chart)
            last_row += 18
        sheet.write_row(
            last_row + 2, 0, ("Sheet", "Rows", "", "What it has", "Measured"), self._bold_format
        )
        for sheet_row, (sheet_name, table) in enumerate(table_by_sheet_name.items(), last_row + 3):
            texts = table.doc, table.availability_text
            sheet_link = "internal:'{}'!A1".format(sheet_name.replace("'", "''"))
            sheet.write_url(sheet_row, 0, sheet_link, self._link_format, sheet_name)
            sheet.write_row(
                sheet_row, 1, [len(table.frame), "", *map(_to_cell_text, texts)], self._wrapped_text
            )
            sheet.set_row(
                sheet_row, 15 * max(1, *(-(-len(text) // _MAX_COLUMN_WIDTH) for text in texts))
            )
        source_texts = [_to_cell_text(", ".join(_source_texts(source))) for source in sources]
        sheet.write_column(
            last_row + len(table_by_sheet_name) + 4, 0, [*_LEGEND_LINES, "", *source_texts]
        )
        for column_position, width in enumerate((28, 11, 11, _MAX_COLUMN_WIDTH, _MAX_COLUMN_WIDTH)):
            sheet.set_column(column_position, column_position, width)
        _set_print_layout(sheet)

    def _add_chart(self, table_by_sheet_name: Mapping[str, SheetTable]) -> Any:
        """Return a line chart of a table with days, else a bar chart; None if no table fits."""
        for chart_type in ("line", "bar"):
            for sheet_name, table in table_by_sheet_name.items():
                frame = table.frame
                label_and_value_positions = _chart_columns(frame, chart_type)
                if label_and_value_positions is None:
                    continue
                label_position, value_position = label_and_value_positions
                last_row = min(len(frame), _MAX_CHART_BARS) if chart_type == "bar" else len(frame)
                column = frame.columns[value_position]
                header = header_by_name(frame)[column]
                number_format = _number_formats(frame)[column][0].replace(".0%", "%")
                value_axis_options: dict[str, Any] = {"num_format": number_format}
                chart = self._book.add_chart({"type": chart_type})
                chart.add_series(
                    {
                        "name": header,
                        "categories": [sheet_name, 1, label_position, last_row, label_position],
                        "values": [sheet_name, 1, value_position, last_row, value_position],
                    }
                )
                chart.set_title({"name": f"{header} ({sheet_name})", "name_font": {"size": 12}})
                chart.set_legend({"none": True})
                chart.set_size({"width": 720, "height": 320})
                chart.show_na_as_empty_cell()
                if chart_type == "bar":
                    chart.set_x_axis(value_axis_options)
                    chart.set_y_axis({"reverse": True})
                else:
                    chart.set_x_axis(
                        {"date_axis": True, "num_format": "d mmm", "major_unit": 1 + last_row // 8}
                    )
                    chart.set_y_axis(value_axis_options)
                return chart
        return None

    def _cell_format(self, number_format: str | None) -> Any:
        """Return the cell format for a number format such as ``0.0%``."""
        if number_format not in self._format_by_number_format:
            self._format_by_number_format[number_format] = self._book.add_format(
                {"num_format": number_format}
            )
        return self._format_by_number_format[number_format]


def _codebook(table: SheetTable) -> pd.DataFrame:
    """Return a frame with one row per column of a table: its sheet header, unit and meaning."""
    codebook = pd.DataFrame(codebook_of(table.frame).reset_index())
    header_by_column = header_by_name(table.frame)
    codebook.insert(0, "table", table.name)
    codebook.insert(
        2, "header", [header_by_column.get(str(name), str(name)) for name in codebook["column"]]
    )
    return codebook


def _to_cell_text(text: str) -> str:
    """Escape control characters in a text, and cut it to the length that a cell can hold."""
    text = escape_text(text)
    encoded_text = text.encode("utf-16-le")
    if len(encoded_text) <= 2 * _MAX_CELL_CHARS:
        return text
    return (
        encoded_text[: 2 * (_MAX_CELL_CHARS - len(_TRUNCATION_NOTE))].decode("utf-16-le", "ignore")
        + _TRUNCATION_NOTE
    )


def _set_print_layout(sheet: Any, width: float = 0.0, key_count: int = 0) -> None:
    """Set up a sheet to print on A4 in landscape, if possible one page wide."""
    sheet.set_landscape()
    sheet.set_paper(9)
    sheet.set_footer("&L&A&RPage &P of &N")
    if width > _PAGE_WIDTH:
        sheet.set_print_scale(60)
        sheet.repeat_columns(0, max(key_count - 1, 0))
    else:
        sheet.fit_to_pages(1, 0)


def _sheet_name(title: str, used_names: set[str]) -> str:
    """Return an unused sheet name made of ``title``, and add it to ``used_names``."""
    valid_title = re.sub(r"[\[\]:*?/\\]", "_", title).strip("'") or "table"
    name = valid_title[:_MAX_SHEET_NAME_LENGTH]
    # Excel ignores case in the names of sheets.
    while name.lower() in used_names:
        suffix = f" {len(used_names)}"
        name = valid_title[: _MAX_SHEET_NAME_LENGTH - len(suffix)] + suffix
    used_names.add(name.lower())
    return name


def _key_figures(frames: Sequence[pd.DataFrame]) -> Iterator[tuple[str, str, Any, Any]]:
    """Yield the label, number format, current value and previous value of each key figure.

    The key figures are the rows of the first table that has one row per metric.
    """
    for frame in frames:
        value_formats = _number_formats(frame).get("value")
        # The first table that has one row per metric.
        if value_formats and metadata_of(frame).key == ("metric",):
            previous_column = next(
                (name for name in frame if str(name).startswith("previous")), None
            )
            value_columns = [
                _to_excel_values(frame[name]) if name else [None] * len(frame)
                for name in ("value", previous_column)
            ]
            for label, number_format, *cell_values in zip(
                frame["metric"], value_formats, *value_columns, strict=True
            ):
                if cell_values[0] is not None:
                    yield capitalize(humanize(label)), number_format, *cell_values
            return


def _chart_columns(frame: pd.DataFrame, chart_type: str) -> tuple[int, int] | None:
    """Return the positions of the label column and the number column of a chart; None if none fit.

    ``chart_type`` is "line" to use a column of days as labels, and "bar" to use other labels.
    """
    metadata = metadata_of(frame)
    column_names = [*map(str, frame.columns)]
    if len(metadata.key) != 1 or metadata.key[0] not in column_names or len(frame) < 2:
        return None
    has_time_labels = frame[metadata.key[0]].dtype.kind == "M"
    rule_by_column = {
        name: metadata.declaration_of(name).aggregate.rule
        for name in _number_formats(frame)
        if frame[name].fillna(0).any()
    }
    measure_columns = [
        name for rule in ("ratio", "sum") for name in rule_by_column if rule_by_column[name] == rule
    ]
    if has_time_labels != (chart_type == "line") or not measure_columns:
        return None
    return column_names.index(metadata.key[0]), column_names.index(measure_columns[0])


def _to_excel_values(values: pd.Series) -> list[Any]:
    """Convert a column to values that Excel can hold; None for missing cells."""
    convert_value: Any = _to_cell_text
    if values.dtype.kind == "b":
        convert_value = bool
    elif pd.api.types.is_numeric_dtype(values.dtype):
        convert_value = _to_excel_number
    elif values.dtype.kind == "M":
        # Excel has no time zones.
        values = values.dt.tz_convert("UTC") if values.dt.tz is not None else values
        convert_value = _to_excel_time
    else:
        values = as_texts(values)
    return [None if pd.isna(value) else convert_value(value) for value in values]


def _to_excel_number(value: Any) -> Any:
    """Return a number unchanged, or as text if Excel would round it."""
    if not np.isfinite(float(value)) or (value == int(value) and abs(value) >= MIN_ROUNDED_INTEGER):
        return str(value)
    return value.item() if hasattr(value, "item") else value


def _to_excel_time(value: pd.Timestamp) -> Any:
    """Return a date or time for Excel, as text if Excel would round it."""
    naive_time = value.tz_localize(None)
    is_day = value.tz is None and naive_time == naive_time.normalize()
    is_naive_time = value.tz is None and not is_day
    if naive_time < _FIRST_EXCEL_DAY or value.microsecond or value.nanosecond or is_naive_time:
        return value.isoformat().replace("+00:00", "Z")
    return naive_time.date() if is_day else naive_time.to_pydatetime()


def header_by_name(frame: pd.DataFrame) -> dict[str, str]:
    """Return a dict from column name to header: declared columns in words, others by their name.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> header_by_name(aa.demo().read("urls").main)["url"]
    'URL'
    """
    metadata = metadata_of(frame)
    header_by_name = {
        name: name if metadata.declaration_of(name) is UNDECLARED else capitalize(humanize(name))
        for name in map(str, frame.columns)
    }
    header_counts = Counter(map(str.casefold, header_by_name.values()))
    return {
        name: header if header_counts[header.casefold()] == 1 else name
        for name, header in header_by_name.items()
    }


def _number_formats(frame: pd.DataFrame) -> dict[str, list[str]]:
    """Return a dict from each declared number column to the number formats of its cells."""
    metadata = metadata_of(frame)
    formats_by_column: dict[str, list[str]] = {}
    for name, values in frame.select_dtypes("number").items():
        column = metadata.declaration_of(str(name))
        if column is UNDECLARED:
            continue
        unit_of_row = row_units(frame, metadata, str(name))
        if unit_of_row is None:
            unit_of_row = pd.Series(column.unit, frame.index, dtype=object)
        is_whole = (values.isna() | (values % 1 == 0)).to_numpy(bool)
        if (
            column.unit != PER_UNIT and not column.aggregate.within
        ):  # otherwise each row has its own unit
            is_whole[:] = is_whole.all()
        default_formats = np.where(is_whole, _INTEGER_FORMAT, _FRACTION_FORMAT).tolist()
        formats_by_column[str(name)] = [
            _NUMBER_FORMAT_BY_UNIT.get(unit, default_format)
            for unit, default_format in zip(unit_of_row, default_formats, strict=True)
        ]
    return formats_by_column


def _source_texts(source: Source) -> list[str]:
    """Return a response's host, days, section, filters and time of request, as texts."""
    window_text = f"{source.window_start} to {source.window_end}" if source.window_start else None
    time_text = f"fetched {source.fetched_at}" if source.fetched_at else None
    source_fields = (source.host, window_text, source.section, source.scope, time_text)
    return [str(text) for text in source_fields if text]
