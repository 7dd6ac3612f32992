"""`Tables`: the frames of one section, as a read returns them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from aatoolkit._util.attributes import Keyed
from aatoolkit._util.files import FileList
from aatoolkit._util.show import show_as, table_html
from aatoolkit._util.text import clipped, joined, visible, wrapped_in_ipython
from aatoolkit.errors import AAToolkitWarning, ItemNotFound, near_matches, unknown
from aatoolkit.normalizer.provenance import rebuild
from aatoolkit.payload import Payload

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from aatoolkit.availability.detect import Signal
    from aatoolkit.metadata.column import Source
    from aatoolkit.normalizer.columns import BuiltTable
    from aatoolkit.normalizer.rows import TableRows
    from aatoolkit.sections import Section
    from aatoolkit.stats.explain.explanation import Explanation

T = TypeVar("T")

_SYMBOLS = {
    "available": "●",
    "partial": "◐",
    "unavailable": "○",
    "not applicable": "–",
    "unknown": "?",
}
"""A symbol for each status of availability."""

_EMPTY = {
    "available": "available, and there is nothing",
    "unknown": "unknown: the response gives no reason why it is empty",
    "unavailable": "unavailable: the service gives no reason",
    "unknown (absent)": "unknown: the response gives nothing here",
}
"""The availability of an empty table in words, where the status alone does not explain it."""


@dataclass(eq=False)
class ResponseAtHand:
    """A response that is in memory, and the function that normalises it again.

    Parameters
    ----------
    source : Source
        The source of the response.
    response : Payload, bytes or str
        The response.
    read : callable
        A function that normalises a response in the way that this one was.
    beside : sequence of ResponseAtHand
        All responses of the same dataset. They may have the names for ids in this response, such as
        those of prompts.
    """

    source: Source
    response: Payload | bytes | str
    read: Callable[[Any], Tables]
    beside: Sequence[ResponseAtHand] = ()

    @property
    def body(self) -> bytes:
        """The bytes of the response."""
        response = self.response
        if isinstance(response, Payload):
            return response.body
        return response.encode() if isinstance(response, str) else response

    def tables(self) -> Tables:
        """Normalise the response again; return its tables."""
        return quietly(self.read, self.response)


def quietly(read: Callable[..., T], *arguments: Any, **options: Any) -> T:
    """Call a function and return its result; warnings of this package are not shown meanwhile."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AAToolkitWarning)
        return read(*arguments, **options)


class TableParts(NamedTuple):
    """The data from which the frames of a section are built, for writers and explanations.

    Parameters
    ----------
    built : mapping
        The built tables, by name.
    rows : callable
        A function that returns the rows of the tables in the response, by name.
    signals : sequence of Signal
        The statements of the response about availability.
    held : sequence
        The response, if it is in memory.
    """

    built: Mapping[str, BuiltTable] = {}
    rows: Callable[[], dict[str, TableRows]] = dict
    signals: Sequence[Signal] = ()
    held: Sequence[ResponseAtHand] = ()


class Tables(Keyed[str, "pd.DataFrame"]):
    """The tables of one section: a mapping from a table's name to its DataFrame.

    Attributes
    ----------
    main : pandas.DataFrame
        The section's main table.
    extra : pandas.DataFrame
        Every value of the response that no column has: ``path`` (its JSON path), ``value`` (as JSON
        text) and ``why`` (``envelope``, ``known``, ``new``, ``wrong type`` …).
    availability : pandas.DataFrame
        The statements of the response about availability: ``scope``, ``target``, ``rows``,
        ``status``, ``cause``, ``reason``, ``sample_size``, ``as_of``, ``evidence``, ``rule``,
        ``raw``.
    drift : pandas.DataFrame
        The differences between response and declaration: ``kind``, ``path``, ``count``,
        ``example``.
    hints : pandas.DataFrame
        Values that may be about availability, which no rule reads: ``path``, ``value``, ``why``.
        `Section.with_rule` adds a rule.
    payload : Payload or None
        The response, if it was fetched.
    declaration : Section or None
        The declaration by which the response was normalised.
    drafted : bool
        Whether the declaration was drafted from this response; another may have other columns.

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
        loaders: Mapping[str, Callable[[], pd.DataFrame]],
        *,
        rows: Mapping[str, int],
        payload: Payload | None = None,
        declaration: Section | None = None,
        drafted: bool = False,
        prefix: str = "",
        parts: TableParts | None = None,
        **listings: Callable[[], Any],
    ) -> None:
        self.section, self.payload = section, payload
        self.declaration, self.drafted = declaration, drafted
        self.rows: dict[str, int] = dict(rows)
        self._prefix, self._parts = prefix, parts or TableParts()
        self._items, self._listings = dict(loaders), listings
        self._frames: dict[str, pd.DataFrame] = {}

    def __getitem__(self, name: str) -> pd.DataFrame:
        if not isinstance(name, str) or name not in self._items:
            problem = unknown(f"table of {self.section}", name, self)
            raise ItemNotFound(problem, key=name, suggestions=near_matches(name, self))
        if name not in self._frames:
            self._frames[name] = self._items[name]()
        return self._frames[name]

    def __eq__(self, other: object) -> bool:
        """Whether another mapping has the same tables with the same values."""
        if not isinstance(other, Mapping):
            return NotImplemented
        same = self is other or self.keys() == other.keys()
        return same and all(frame.equals(other[name]) for name, frame in self.items())

    def __getstate__(self) -> dict[str, Any]:
        names = ("extra", "availability", "drift", "hints", "_words", "_provenance")
        state = vars(self) | {name: getattr(self, name) for name in names}
        loaders = dict.fromkeys(self)
        parts = TableParts()
        return state | {"_frames": {**self}, "_items": loaders, "_listings": {}, "_parts": parts}

    def _item_named(self, name: str) -> str:
        if name in self:
            return f"it has a table of that name: write tables[{name!r}]"
        if name in self.main:
            return f"its main table has a column of that name: write tables.main[{name!r}]"
        if hasattr(getattr(self.main, "aa", None), name):
            return f"its tables have: write tables.main.aa.{name}"
        if hasattr(self.main, name):
            return f"its tables have: write tables.main.{name}"
        tables_by_ending = {
            table.split("_", count)[-1]: table for count in (2, 1, 0) for table in self
        }
        endings = near_matches(name, tables_by_ending)
        return f"did you mean tables[{tables_by_ending[endings[0]]!r}]?" if endings else ""

    @property
    def main(self) -> pd.DataFrame:
        """The section's main table."""
        return self[next(iter(self))]

    @cached_property
    def _words(self) -> dict[str, str]:
        """The availability of each table in words."""
        return self._listings["words"]()  # type: ignore[no-any-return]

    @cached_property
    def extra(self) -> pd.DataFrame:
        """The values of the response that no column has, one row each."""
        return self._listings["extra"]()  # type: ignore[no-any-return]

    @cached_property
    def availability(self) -> pd.DataFrame:
        """The statements of the response about its availability, one row each."""
        return self._listing("availability")

    @cached_property
    def drift(self) -> pd.DataFrame:
        """The differences between response and declaration, one row each."""
        return self._listing("drift")

    @cached_property
    def hints(self) -> pd.DataFrame:
        """Values that may be about availability, which no rule reads, one row each."""
        return self._listing("hints")

    @cached_property
    def _provenance(self) -> dict[str, pa.Table]:
        """The JSON path of every cell, for `rebuild`; see `aatoolkit.normalizer.provenance`."""
        return self._listings.get("provenance", dict)()  # type: ignore[no-any-return]

    def _listing(self, name: str) -> pd.DataFrame:
        return show_as(self._listings[name]())

    def explain(self, path: str) -> Explanation:
        """Explain a value of the response: the cells that have it, or why none does.

        Parameters
        ----------
        path : str
            A JSON path, such as ``$.domains[0].citationCount``.

        Returns
        -------
        Explanation
            The value with its bytes; its children are the cells that have it or parts of it, and
            the values in ``extra`` with their reasons.

        Raises
        ------
        ArgumentError
            If it is not the path of one value.

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
        """Rebuild the response from the tables and ``extra`` as they are now.

        Returns
        -------
        object
            The JSON value. Values that were changed in a frame are changed in it; keys of
            objects may come in another order.

        Raises
        ------
        PayloadError
            If a frame has lost rows or columns.
        """
        return rebuild(self, self.extra, self._provenance)

    def to_parquet(self, folder: str | os.PathLike[str]) -> FileList:
        """Write every table to ``folder/SECTION/TABLE.parquet``, as ``Dataset.to_parquet`` does.

        Parameters
        ----------
        folder : str or path
            The folder; it is created if it does not exist. Files of the same names are replaced.

        Returns
        -------
        list of Path
            The files; it prints how many there are.

        Raises
        ------
        NotWritten
            If the name is that of a file of another format, or a column or file cannot be written;
            an existing file is unchanged.

        Examples
        --------
        >>> import tempfile
        >>> import aatoolkit as aa
        >>> aa.demo().read("gaps").to_parquet(tempfile.mkdtemp())[0].name
        'gap_domains.parquet'
        """
        from aatoolkit.frame.parquet import check_folder, write_tables

        check_folder(folder)
        return FileList(write_tables(self, folder))

    def to_excel(self, path: str | os.PathLike[str]) -> Path:
        """Write every table to a sheet of one workbook, as ``Dataset.to_excel`` does.

        Parameters
        ----------
        path : str or path
            The file, ending in ``.xlsx``; its folder is created if it does not exist.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        NotWritten
            If the file's name does not end in ``.xlsx``, or the file cannot be written; an existing
            file is unchanged.
        PackageMissing
            If xlsxwriter is not installed; it says what to install.

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
        width = max(len(visible(name)) for name in self)
        lines = [
            f"  {visible(name):<{width}}  {self.rows[name]:>7,} rows  {visible(self._state(name))}"
            for name in self
        ]
        return "\n".join([f"<Tables of {visible(self.section)}{self._notes()}>", *lines])

    _repr_pretty_ = wrapped_in_ipython

    def _repr_html_(self) -> str:
        rows = [
            (clipped(name), f"{self.rows[name]:,}", clipped(self._state(name))) for name in self
        ]
        return table_html(
            ("table", "rows", "availability"),
            rows,
            caption=clipped(f"{self.section}{self._notes()}"),
            numbers=[1],
            codes=[0],
            labels=1,
        )

    def _state(self, name: str) -> str:
        """Return the availability of a table as text with a symbol; if it is empty, the reason."""
        words = joined(self._words[name])
        symbols = (symbol for status, symbol in _SYMBOLS.items() if words.startswith(status))
        return f"{next(symbols, '?')} {words if self.rows[name] else _EMPTY.get(words, words)}"

    @property
    def _symbols(self) -> str:
        """The symbols of the availability of all tables, in their order."""
        return "".join(self._state(name)[0] for name in self)

    def _notes(self) -> str:
        """Return the end of the repr, with numbers of drifts and hints.

        Drifts are differences from the declaration; hints are values that may be about
        availability. It also says whether the declaration was drafted from this response.
        """
        draft_note = ", drafted from this response" if self.drafted else ""
        drift_note = f", {len(self.drift)} drifts (see .drift)" if len(self.drift) else ""
        plural = "s" if len(self.hints) > 1 else ""
        hint_note = f", {len(self.hints)} hint{plural} (see .hints)" if len(self.hints) else ""
        return draft_note + drift_note + hint_note
