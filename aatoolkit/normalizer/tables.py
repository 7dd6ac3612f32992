"""The class `Tables`: the DataFrames of one section (one kind of response), by table name."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from aatoolkit._util.attributes import ReadOnlyMapping
from aatoolkit._util.files import FileList, FilePath
from aatoolkit._util.show import make_table_html, show_as
from aatoolkit._util.text import clipped, counted, drop_inner_stops, print_wrapped, visible
from aatoolkit.errors import AAToolkitWarning, find_near_matches, item_not_found
from aatoolkit.normalizer.provenance import rebuild_response
from aatoolkit.payload import Payload

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from aatoolkit.availability.detect import Signal
    from aatoolkit.metadata.column import Source
    from aatoolkit.normalizer.columns import BuiltTable
    from aatoolkit.sections import Section
    from aatoolkit.stats.explain.explanation import Explanation

T = TypeVar("T")

_SYMBOL_BY_STATUS = {
    "available": "●",
    "partial": "◐",
    "unavailable": "○",
    "not applicable": "–",
    "unknown": "?",
}
"""A symbol for each status of availability."""

_TEXT_IF_EMPTY = {
    "available": "available, and there is nothing",
    "unknown": "unknown: the response gives no reason why it is empty",
    "unavailable": "unavailable: the service gives no reason",
    "unknown (absent)": "unknown: the response gives nothing here",
}
"""Maps the status of an empty table to a text that explains it better than the status alone."""


@dataclass(eq=False)
class LoadedResponse:
    """A response in memory, or read from files, with the function that converts it to tables.

    ``related_responses`` are responses that may have names for the ids in this one.
    """

    source: Source  # host, section, URL and so on
    response: Payload | bytes | str | None  # None if only its tables were read, from files
    make_tables: Callable[[Any], Tables]  # converts a response to tables
    related_responses: Sequence[LoadedResponse] = ()  # responses that may have names for its ids

    @property
    def body(self) -> bytes | None:
        """The bytes of the response; None if only its tables are in memory."""
        response = self.response
        if isinstance(response, Payload):
            return response.body
        return response.encode() if isinstance(response, str) else response

    def load_tables(self) -> Tables:
        """Convert the response to tables again, without warnings."""
        return call_without_warnings(self.make_tables, self.response)


def call_without_warnings(function: Callable[..., T], *arguments: Any, **keywords: Any) -> T:
    """Call a function, ignore warnings of this package, and return the function's result."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AAToolkitWarning)
        return function(*arguments, **keywords)


class TablesOrigin(NamedTuple):
    """What the DataFrames of a `Tables` are made from: typed tables, signals and the response.

    A signal is a statement of the response on whether data were measured.
    """

    built_tables: Mapping[str, BuiltTable] = {}  # tables with typed columns
    signals: Sequence[Signal] = ()  # what the response says about availability
    responses: Sequence[LoadedResponse] = ()  # the response, if it is in memory


_NO_ORIGIN = TablesOrigin()


class Tables(ReadOnlyMapping[str, "pd.DataFrame"]):
    """The tables of one section (one kind of response): a mapping from table names to DataFrames.

    Attributes
    ----------
    main : pandas.DataFrame
        The first table of the section.
    extra : pandas.DataFrame
        The values of the response that no column has. The columns are ``path`` (the JSON path),
        ``value`` (JSON text) and ``why``, such as ``new`` or ``wrong type``.
    availability : pandas.DataFrame
        One row per statement of the response on whether data were measured. The columns are
        ``scope``, ``target``, ``rows``, ``status``, ``cause``, ``reason``, ``sample_size``,
        ``as_of``, ``evidence`` (the JSON path), ``rule`` and ``raw``.
    drift : pandas.DataFrame
        The fields that differ from the declared columns. The columns are ``kind``, ``path``,
        ``count`` and ``example``.
    hints : pandas.DataFrame
        Values that may say whether data were measured, but are not used. The columns are ``path``,
        ``value`` and ``why``. To use one, add a rule with `Section.with_rule`.
    payload : Payload or None
        The response, if it was fetched.
    declaration : Section or None
        The description of the tables and columns.
    drafted : bool
        Whether the tables were inferred from this response. If so, other responses may give other
        columns.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> columns = (aa.Column("site", "string"),)
    >>> sites = aa.Table("sites", "Sites.", aa.sections.records("rows"), "site", columns)
    >>> tables = aa.normalize(aa.Section("mine", "Mine.", sites), {"rows": [{"site": "a.example"}]})
    >>> list(tables), tables.main["site"].tolist()
    (['sites'], ['a.example'])
    """

    def __init__(
        self,
        section: str,
        frame_loaders: Mapping[str, Callable[[], pd.DataFrame]],
        *,
        rows: Mapping[str, int],
        payload: Payload | None = None,
        declaration: Section | None = None,
        drafted: bool = False,
        prefix: str = "",
        origin: TablesOrigin = _NO_ORIGIN,
        **frame_makers: Callable[[], Any],
    ) -> None:
        self.section = section
        self.payload = payload
        self.declaration = declaration
        self.drafted = drafted
        self.rows: dict[str, int] = dict(rows)
        self._prefix = prefix
        self._origin = origin
        self._items = dict(frame_loaders)
        self._frame_makers = frame_makers
        self._frames: dict[str, pd.DataFrame] = {}

    def __getitem__(self, name: str) -> pd.DataFrame:
        if not isinstance(name, str) or name not in self._items:
            raise item_not_found(f"{self.section} table", name, self)
        if name not in self._frames:
            self._frames[name] = self._items[name]()
        return self._frames[name]

    def __eq__(self, other: object) -> bool:
        """Return whether another mapping has tables of the same names with the same values."""
        if not isinstance(other, Mapping):
            return NotImplemented
        return self.keys() == other.keys() and all(
            frame.equals(other[name]) for name, frame in self.items()
        )

    def __getstate__(self) -> dict[str, Any]:
        property_names = (
            "extra",
            "availability",
            "drift",
            "hints",
            "_availability_texts",
            "_provenance",
        )
        return {
            **vars(self),
            **{name: getattr(self, name) for name in property_names},
            "_frames": {**self},
            "_items": dict.fromkeys(self),
            "_frame_makers": {},
            "_origin": _NO_ORIGIN,
        }

    def _hint_on_unknown_name(self, name: str) -> str:
        """Return a hint for the error message on a missing attribute; empty if there is none."""
        if name in self:
            return f"it has a table of that name: write tables[{name!r}]"
        if name in self.main:
            return f"its main table has a column of that name: write tables.main[{name!r}]"
        if hasattr(getattr(self.main, "aa", None), name):
            return f"its tables have: write tables.main.aa.{name}"
        if hasattr(self.main, name):
            return f"its tables have: write tables.main.{name}"
        table_name_by_ending = {
            table_name.split("_", split_count)[-1]: table_name
            for split_count in (2, 1, 0)
            for table_name in self
        }
        near_endings = find_near_matches(name, table_name_by_ending)
        return (
            f"did you mean tables[{table_name_by_ending[near_endings[0]]!r}]?"
            if near_endings
            else ""
        )

    @property
    def main(self) -> pd.DataFrame:
        """The DataFrame of the first table."""
        return self[next(iter(self))]

    @cached_property
    def _availability_texts(self) -> dict[str, str]:
        """A dict from table name to its availability as text, such as ``partial: …``."""
        return self._frame_makers["availability_texts"]()  # type: ignore[no-any-return]

    @cached_property
    def extra(self) -> pd.DataFrame:
        """A DataFrame with one row per value of the response that no column has.

        The columns are ``path``, ``value`` (JSON text) and ``why``, such as ``wrong type``.
        """
        return self._frame_makers["extra"]()  # type: ignore[no-any-return]

    @cached_property
    def availability(self) -> pd.DataFrame:
        """A DataFrame with one row per statement of the response on whether data were measured.

        An example of a statement is ``"status": "not_run"`` for an engine. The column ``evidence``
        has its JSON path, and ``target`` the engine (AI assistant) or field. ``status``, ``cause``
        and ``reason`` say what it means.
        """
        return self._make_frame("availability")

    @cached_property
    def drift(self) -> pd.DataFrame:
        """A DataFrame with one row per field that differs from the declared columns.

        The columns are ``kind`` (such as ``new``), ``path``, ``count`` and ``example``.
        """
        return self._make_frame("drift")

    @cached_property
    def hints(self) -> pd.DataFrame:
        """A DataFrame of values that may say whether data were measured, but are not used.

        The columns are ``path``, ``value`` and ``why``.
        """
        return self._make_frame("hints")

    @cached_property
    def _provenance(self) -> dict[str, pa.Table]:
        """A dict with one Arrow table, which records the JSON path of each cell's value.

        `rebuild` restores the response by it.
        """
        return self._frame_makers.get("provenance", dict)()  # type: ignore[no-any-return]

    def _make_frame(self, name: str) -> pd.DataFrame:
        """Make the DataFrame of a property, such as ``drift``, to be shown without truncation."""
        return show_as(self._frame_makers[name]())

    def explain(self, path: str) -> Explanation:
        """Find the cells of the tables that have the value at a JSON path of the response.

        Parameters
        ----------
        path : str
            A JSON path, such as ``$.domains[0].citationCount``.

        Returns
        -------
        Explanation
            ``.value`` is the value, and ``.place`` says where its bytes are in the response.
            ``.children`` are the cells that have the value; for an object or array, the cells that
            have its parts. A part without a cell is listed with the reason.

        Raises
        ------
        ArgumentError
            If ``path`` is not the path of one value.

        Examples
        --------
        >>> import aatoolkit as aa
        >>> columns = (aa.Column("brand", "string"), aa.Column("mention_count", "Int64"))
        >>> table = aa.Table("brands", "Brands.", aa.sections.records("rows"), "brand", columns)
        >>> body = b'{"rows": [{"brand": "Acme", "mentionCount": 3}]}'
        >>> tables = aa.normalize(aa.Section("mine", "Mine.", table), body)
        >>> [cell.column for cell in tables.explain("$.rows[0]").children]
        ['brands.brand', 'brands.mention_count']
        """
        from aatoolkit.stats.explain.responses import explain_path

        return explain_path(self, path)

    def rebuild(self) -> Any:
        """Restore the JSON response from the tables and ``extra``.

        Returns
        -------
        object
            The response as a JSON value. Changes that you made in the DataFrames are included. The
            keys of objects may be in another order.

        Raises
        ------
        PayloadError
            If a DataFrame lacks rows or columns that it had.
        """
        return rebuild_response(self, self.extra, self._provenance)

    def to_parquet(self, folder: FilePath) -> FileList:
        """Write every table to ``folder/SECTION/TABLE.parquet``.

        Parameters
        ----------
        folder : str or path
            The folder; it is created if necessary. Files of the same names are replaced.

        Returns
        -------
        list of Path
            The paths of the files; the list prints as their number.

        Raises
        ------
        NotWritten
            If ``folder`` is named like a file, or a table cannot be written. Existing files are
            then unchanged.

        Examples
        --------
        >>> import tempfile
        >>> import aatoolkit as aa
        >>> aa.demo().read("gaps").to_parquet(tempfile.mkdtemp())[0].name
        'gap_domains.parquet'
        """
        from aatoolkit.frame.parquet import write_tables

        return write_tables([self], folder)

    def to_excel(self, path: FilePath) -> Path:
        """Write every table to a sheet of one Excel workbook.

        The name of a sheet is that of its table in plain words: ``source_domains`` is in the sheet
        "Source domains".

        Parameters
        ----------
        path : str or path
            The file, ending in ``.xlsx``; its folder is created if necessary.

        Returns
        -------
        Path
            The path of the file.

        Raises
        ------
        NotWritten
            If the name does not end in ``.xlsx``, or the file cannot be written. An existing file
            is then unchanged.
        PackageMissing
            If xlsxwriter is not installed; the message says what to install.

        Examples
        --------
        >>> import tempfile
        >>> import aatoolkit as aa
        >>> aa.demo().read("gaps").to_excel(Path(tempfile.mkdtemp(), "gaps.xlsx")).name
        'gaps.xlsx'
        """
        from aatoolkit.frame.excel import write_sections

        return write_sections({self.section: self}, path)

    def __repr__(self) -> str:
        name_width = max(len(visible(name)) for name in self)
        table_lines = [
            f"  {visible(name):<{name_width}}  {self.rows[name]:>7,} rows  "
            f"{visible(self._format_status(name))}"
            for name in self
        ]
        return "\n".join(
            [f"<Tables of {visible(self.section)}{self._format_notes()}>", *table_lines]
        )

    _repr_pretty_ = print_wrapped

    def _repr_html_(self) -> str:
        row_cells = [
            (clipped(name), f"{self.rows[name]:,}", clipped(self._format_status(name)))
            for name in self
        ]
        return make_table_html(
            ("table", "rows", "availability"),
            row_cells,
            caption=clipped(f"{self.section}{self._format_notes()}"),
            number_columns=[1],
            code_columns=[0],
            row_header_count=1,
        )

    def _format_status(self, name: str) -> str:
        """Return the availability of a table as a symbol and text, such as ``● available``."""
        availability_text = drop_inner_stops(self._availability_texts[name])
        matching_symbols = [
            symbol
            for status, symbol in _SYMBOL_BY_STATUS.items()
            if availability_text.startswith(status)
        ]
        if not self.rows[name]:
            availability_text = _TEXT_IF_EMPTY.get(availability_text, availability_text)
        return f"{matching_symbols[0] if matching_symbols else '?'} {availability_text}"

    def _format_notes(self) -> str:
        """Return the notes for the first line of the repr, such as ``, 2 drifts (see .drift)``."""
        draft_note = ", drafted from this response" if self.drafted else ""
        drift_count = len(self.drift)
        hint_count = len(self.hints)
        drift_note = f", {counted(drift_count, 'drift')} (see .drift)" if drift_count else ""
        hint_note = f", {counted(hint_count, 'hint')} (see .hints)" if hint_count else ""
        return draft_note + drift_note + hint_note
