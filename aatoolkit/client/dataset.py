"""`Dataset`, the tables of one host, and `Collection`, the datasets of many hosts."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from aatoolkit._util.attributes import ReadOnlyMapping
from aatoolkit._util.defaults import LEVEL
from aatoolkit._util.files import FileList, FilePath, write_bytes
from aatoolkit._util.show import Frame, fold_html, show_as, wrap_html
from aatoolkit._util.text import counted, markup, print_wrapped, visible
from aatoolkit.availability import Status
from aatoolkit.errors import AAToolkitError, ItemNotFound, NotWritten, item_not_found
from aatoolkit.normalizer.rows import frame_from_rows
from aatoolkit.normalizer.tables import Tables
from aatoolkit.scope import Scope


class Dataset(ReadOnlyMapping[str, Tables]):
    """The tables of one host, by section: a mapping from section names to `Tables`.

    All tables were read with the same days and filters.

    Attributes
    ----------
    errors : dict of str to AAToolkitError
        The errors of sections that could not be read, by section name.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> dataset = aa.demo().read_all(sections=["overview"], progress=False)
    >>> dataset["overview"]["overview_engines"]["engine"].tolist()[:2]
    ['chatgpt', 'claude']
    >>> dataset.errors
    {}
    """

    def __init__(
        self, results: Mapping[str, Tables], errors: Mapping[str, AAToolkitError] | None = None
    ) -> None:
        self._items: dict[str, Tables] = dict(results)
        self.errors = dict(errors or {})
        loaded_responses = [
            response for tables in self._items.values() for response in tables._origin.responses
        ]
        for response in loaded_responses:
            response.related_responses = loaded_responses

    def __getitem__(self, section: str) -> Tables:
        if isinstance(section, str) and section in self.errors:
            error = self.errors[section]
            raise ItemNotFound(f"{section} failed: {error}", key=section) from error
        if section not in self._items:
            raise item_not_found("section", section, self)
        return self._items[section]

    def _hint_on_unknown_name(self, name: str) -> str:
        if name in self:
            return f"it has a section of that name: write dataset[{name!r}]"
        section = next((section for section, tables in self.items() if name in tables), None)
        return f"it is a table: write dataset[{section!r}][{name!r}]" if section else ""

    @property
    def summary(self) -> Frame:
        """A DataFrame with one row per table: its number of rows, and whether it was measured.

        The columns are ``section``, ``table``, ``rows``, ``status`` (such as ``partial``) and
        ``availability`` (the status with its reason). A section that could not be read has one row,
        in which ``table`` is missing.
        """
        rows = [
            (section, table, tables.rows[table], str(status), availability_text)
            for section, tables in self.items()
            for table, availability_text in tables._availability_texts.items()
            for status in Status
            if availability_text.startswith(status.replace("_", " "))
        ]
        failure_rows = [
            (section, None, None, None, f"failed: {error}")
            for section, error in self.errors.items()
        ]
        column_names = ("section", "table", "rows", "status", "availability")
        return show_as(frame_from_rows(column_names, [*rows, *failure_rows], rows="Int64"))

    def compare(self, baseline: Dataset | None = None, level: float = LEVEL) -> pd.DataFrame:
        """Compare mention rates with an earlier dataset, or with the period before.

        The first row of the result compares the mention rate over all prompts. It is the only test
        that was planned beforehand, so its p-value is not adjusted. The other rows compare the mean
        position, the share of voice of the project's own brand, and the mention rate by topic,
        engine and brand. The p-values of these rows are adjusted together by Holm's method.

        If both periods have counts by prompt (sections ``prompts`` and ``ranking``), each prompt is
        compared with itself. Otherwise days are compared (section ``overview``). The column
        ``method`` says which. For totals, such as those of a brand, it is not known how much
        answers to the same prompt resemble each other. For them, the design effect of the first row
        is used, which may be too small. Other key figures have the verdict "cannot say".

        Parameters
        ----------
        baseline : Dataset, optional
            The dataset to compare with, such as last month's; the periods must not overlap. By
            default, the responses' own values of the period before.
        level : float
            The confidence level, such as 0.95.

        Returns
        -------
        pandas.DataFrame
            One row per ``measure``, ``subject`` (``all prompts``, ``topic``, ``engine``, ``brand``
            or ``key figure``) and ``name``. The columns are those of ``df.aa.compare``, such as
            ``before``, ``after``, ``change``, ``low``, ``high`` and ``verdict``. The column
            ``family`` says together with which other tests the p-value is adjusted.

        Raises
        ------
        ValueError
            If the level is not between 0 and 1.

        Examples
        --------
        >>> import aatoolkit as aa
        >>> dataset = aa.demo().read_all(sections=["overview", "prompts"], progress=False)
        >>> changed = dataset.compare()
        >>> changed[["subject", "measure", "verdict", "family"]].iloc[0].tolist()
        ['all prompts', 'mention_rate', 'no evidence', 'planned: it stands alone']
        """
        from aatoolkit.stats.headline import compare_datasets

        return compare_datasets(self, baseline, level)

    def funnel(self, level: float = LEVEL) -> pd.DataFrame:
        """Return how often each page was crawled, cited, visited and converted, one row per page.

        The section ``crawl`` counts requests of AI crawlers, and answers that cite the page. The
        section ``conversions`` counts citing answers, visits and conversions. Pages are joined by
        path, without host, query, fragment, trailing slash and index file. A number that was not
        measured is missing, not 0.

        ``conversion_rate`` is conversions per visit. On recent days, further conversions may still
        be recorded. If the service counts the visits of these days separately, they are left out.
        Otherwise they are included, and the rate is too low. The confidence interval (Wilson)
        assumes that visits are independent.

        ``crawl_to_refer`` is the number of crawlers' requests per visit, like the ratio of
        Cloudflare Radar ("HTML page crawl requests to HTML page referrals by platform", 2025). Here
        all requests count, not only those for HTML pages. It is missing for files without visits,
        such as ``robots.txt``.

        The stages are not linked by cause and effect: a page may be visited without being crawled,
        and crawls of one month influence answers of later months.

        Parameters
        ----------
        level : float
            The confidence level of the interval of ``conversion_rate``, such as 0.95.

        Returns
        -------
        pandas.DataFrame
            One row per ``path``, the most crawled first. The columns are ``crawled`` (requests),
            ``cited`` (answers), ``visited``, ``converted``, ``crawl_to_refer``, ``conversion_rate``
            with ``_low`` and ``_high``, ``n`` (the number of visits in that rate), ``verdict``
            (which stages were not measured, and why) and ``method``.

        Raises
        ------
        AvailabilityError
            If no stage was measured, or the sections are not of one host and window.
        ValueError
            If the level cannot be used.

        Examples
        --------
        >>> import aatoolkit as aa
        >>> dataset = aa.demo().read_all(sections=["crawl", "conversions"], progress=False)
        >>> dataset.funnel()[["path", "crawled", "cited", "visited", "converted"]].head(3)
                      path  crawled  cited  visited  converted
        0         /pricing      880     34       32          0
        1  /compare/globex      668     21       17          0
        2      /robots.txt      658      0     <NA>       <NA>
        """
        from aatoolkit.stats.funnel import funnel

        return funnel(self, self.errors, level)

    def to_parquet(self, folder: FilePath) -> FileList:
        """Write every table to ``folder/SECTION/TABLE.parquet``, with units and availability.

        Further files have the values of the responses that are in no table. With them,
        `aatoolkit.rebuild` can restore each response.

        Parameters
        ----------
        folder : str or path
            The folder; it is created if it is missing. Files of the same names are replaced.

        Returns
        -------
        list of Path
            The paths of the files. When the list is printed, it shows only their number and folder.

        Raises
        ------
        NotWritten
            If a file cannot be written, or ``folder`` is named like a file (``.parquet``, ``.csv``,
            ``.xlsx``). Existing files are then unchanged.

        Examples
        --------
        >>> import tempfile
        >>> import aatoolkit as aa
        >>> dataset = aa.demo().read_all(sections=["gaps"], progress=False)
        >>> dataset.to_parquet(tempfile.mkdtemp())[0].name
        'gap_domains.parquet'
        """
        from aatoolkit.frame.parquet import write_tables

        return write_tables(self.values(), folder)

    def to_excel(self, path: FilePath) -> Path:
        """Write all tables to one Excel workbook, with one sheet per table.

        The name of a sheet is that of its table in plain words: ``source_domains`` is in the sheet
        "Source domains".

        The sheet "Overview" has the key figures and a chart. The sheet "Columns" says what could
        not be measured, and why. Values are not rounded, times are in UTC, and missing values are
        empty cells.

        Parameters
        ----------
        path : str or path
            The file, ending in ``.xlsx``; its folder is created if it is missing.

        Returns
        -------
        Path
            The path of the file.

        Raises
        ------
        NotWritten
            If the file's name does not end in ``.xlsx``, or the file cannot be written. An existing
            file is then unchanged.
        PackageMissing
            If xlsxwriter is not installed; the message says what to install.

        Examples
        --------
        >>> import tempfile
        >>> import aatoolkit as aa
        >>> dataset = aa.demo().read_all(sections=["gaps"], progress=False)
        >>> dataset.to_excel(Path(tempfile.mkdtemp(), "acme.xlsx")).name
        'acme.xlsx'
        """
        from aatoolkit.frame.excel import write_sections

        return write_sections(self, path)

    def report(
        self,
        path: FilePath,
        *,
        rows: int = 8,
        baseline: Dataset | None = None,
        title: str | None = None,
    ) -> Path:
        """Write one HTML page with pictures and tables, for readers without Python.

        The page begins with the key figures and their changes since an earlier window. The sections
        follow, each with a picture and its tables. Each number links to its formula, its path in
        the response, and the SHA-256 of the response.

        The page is one file that can be read offline: it loads nothing and runs no script. The same
        data give the same bytes.

        Parameters
        ----------
        path : str or path
            The file, ending in ``.html``; missing folders are created.
        rows : int
            The maximum number of rows of a section's first table. Other tables have up to half as
            many rows.
        baseline : Dataset, optional
            An earlier dataset to compare with; the days of the two must not overlap. By default,
            the responses' own values of the period before.
        title : str, optional
            The title of the page; by default the hosts, or their aliases. An alias does not change
            the rows: sources, brands and the account's own domain stay in the tables.

        Returns
        -------
        Path
            The path of the file.

        Raises
        ------
        ArgumentError
            If ``rows`` is not a positive whole number.
        NotWritten
            If the name ends in neither ``.html`` nor ``.htm``, or the file cannot be written. An
            existing file is then unchanged. For a PDF, print the page with a browser.
        PackageMissing
            If matplotlib is not installed; the message says what to install.

        Examples
        --------
        >>> import tempfile
        >>> import aatoolkit as aa
        >>> page = Path(tempfile.mkdtemp(), "acme.html")
        >>> aa.demo().read_all(sections=["ranking"], progress=False).report(page) == page
        True
        """
        from aatoolkit.display.report.page import page

        if Path(path).suffix.lower() not in (".html", ".htm"):
            problem = f"{path} would be a page of HTML; let it end in .html, and print that to PDF"
            raise NotWritten(problem, path=path)
        was_gc_enabled = gc.isenabled()
        gc.disable()  # searching for garbage takes a fifth of the time, and frees 20 MB
        try:
            html = page(self, rows, baseline, title)
        finally:
            if was_gc_enabled:
                gc.enable()
        return write_bytes(path, html.encode())

    def __repr__(self) -> str:
        failure_note = f", {len(self.errors)} failed" if self.errors else ""
        lines = [f"  {visible(name)}: {_size_text(tables)}" for name, tables in self.items()]
        lines += [
            f"  {visible(name)}: failed: {visible(str(error))}"
            for name, error in self.errors.items()
        ]
        hint_count = sum(len(tables.hints) for tables in self.values())
        hint_note = f", {counted(hint_count, 'hint')} (see .hints of tables)" if hint_count else ""
        return "\n".join(
            [f"<Dataset of {counted(len(self), 'section')}{failure_note}{hint_note}>", *lines]
        )

    _repr_pretty_ = print_wrapped

    def _repr_html_(self) -> str:
        html_blocks = [
            fold_html(
                f"<code>{markup(name)}</code> {_size_text(tables)} "
                + "".join(tables._format_status(table)[0] for table in tables),
                tables._repr_html_(),
            )
            for name, tables in self.items()
        ]
        html_blocks += [
            f"<div><code>{markup(name)}</code> failed: {markup(str(error))}</div>"
            for name, error in self.errors.items()
        ]
        return wrap_html(f"<b>{counted(len(self), 'section')}</b>{''.join(html_blocks)}")


def _size_text(tables: Tables) -> str:
    """Return the size of the tables of a section in words, such as "3 tables, 181 rows"."""
    return f"{counted(len(tables), 'table')}, {counted(sum(tables.rows.values()), 'row')}"


HostScope = tuple[str, Scope]


class Collection(ReadOnlyMapping[HostScope, Dataset]):
    """The tables of many hosts: a mapping from ``(host, scope)`` to `Dataset`.

    A scope is the days and filters of a request. If all requests have the same scope, write the
    host alone: ``collected["acme.example"]``.

    Attributes
    ----------
    hosts : tuple of str
        The hosts, each once.
    scopes : tuple of Scope
        The scopes, each once.
    errors : dict of (str, Scope, str) to AAToolkitError
        The errors of failed requests, by host, scope and section.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> client = aa.demo().client
    >>> collected = client.collect(["acme.example", "globex.example"], sections=["domains"])
    >>> collected.hosts, collected.errors
    (('acme.example', 'globex.example'), {})
    >>> len(collected["acme.example"]["domains"].main) > 0
    True
    """

    def __init__(self, results: Iterable[tuple[str, Scope, Dataset]]) -> None:
        self._items: dict[Any, Dataset] = {
            (host, scope): dataset for host, scope, dataset in results
        }
        self.hosts: tuple[str, ...] = tuple(dict.fromkeys(host for host, _ in self._items))
        self.scopes: tuple[Scope, ...] = tuple(dict.fromkeys(scope for _, scope in self._items))

    @property
    def errors(self) -> dict[tuple[str, Scope, str], AAToolkitError]:
        """The errors of failed requests, by host, scope (days and filters) and section."""
        return {
            (*host_and_scope, section): error
            for host_and_scope, dataset in self.items()
            for section, error in dataset.errors.items()
        }

    def __getitem__(self, host_or_key: str | HostScope) -> Dataset:
        host_and_scope = host_or_key
        if isinstance(host_or_key, str) and host_or_key in self.hosts:
            if len(self.scopes) > 1:
                raise ItemNotFound(
                    f"{host_or_key} was asked for {len(self.scopes)} scopes; write "
                    f"collected[{host_or_key!r}, scope], with one of collected.scopes",
                    key=host_or_key,
                )
            host_and_scope = host_or_key, self.scopes[0]
        if not isinstance(host_and_scope, str | tuple) or host_and_scope not in self._items:
            raise item_not_found("dataset", host_or_key, self.hosts)
        return self._items[host_and_scope]

    __contains__ = Mapping.__contains__  # the host alone will do

    def _hint_on_unknown_name(self, name: str) -> str:
        is_member = hasattr(Dataset, name)
        return f"each value is a Dataset: write collected[host, scope].{name}" if is_member else ""

    def _ipython_key_completions_(self) -> list[Any]:
        return list(self.hosts)

    def concat(self, section: str, table: str | None = None) -> pd.DataFrame:
        """Concatenate one table of a section, over all hosts and scopes (days and filters).

        If a request failed, ``df.aa.availability`` marks every column as ``partial``.

        Parameters
        ----------
        section : str
            The section.
        table : str, optional
            A table of the section; by default its first table.

        Returns
        -------
        pandas.DataFrame
            The rows of all responses. The first columns are ``host``, ``days``, one column per
            filter, such as ``filter_engine``, and ``fetched_at``.

        Raises
        ------
        ItemNotFound
            If no response has the section, or the section has no such table.

        Examples
        --------
        >>> import aatoolkit as aa
        >>> client = aa.demo().client
        >>> collected = client.collect(["acme.example", "globex.example"], sections=["domains"])
        >>> collected.concat("domains").groupby("host").size().index.tolist()
        ['acme.example', 'globex.example']
        """
        from aatoolkit.frame.merge import concat
        from aatoolkit.frame.reshape import with_context
        from aatoolkit.metadata.attrs import metadata_of
        from aatoolkit.metadata.column import with_failed_responses
        from aatoolkit.metadata.recorded import attach_keeping_recipe

        section_tables = [dataset[section] for dataset in self.values() if section in dataset]
        if not section_tables:
            error_texts = [
                f"; {error}"
                for (*_, section_name), error in self.errors.items()
                if section_name == section
            ]
            section_names = dict.fromkeys(
                section_name for dataset in self.values() for section_name in dataset
            )
            raise item_not_found("section", section, section_names, "".join(error_texts))
        frames = [
            with_context(tables.main if table is None else tables[table])
            for tables in section_tables
        ]
        combined_frame = concat(frames, ignore_index=True)
        failed_hosts = [host for (host, _), dataset in self.items() if section in dataset.errors]
        if not failed_hosts:
            return combined_frame
        metadata = metadata_of(combined_frame)
        metadata_by_column = with_failed_responses(
            metadata.columns, len(failed_hosts), len(section_tables)
        )
        return attach_keeping_recipe(combined_frame, replace(metadata, columns=metadata_by_column))

    def _make_overview(self) -> Frame:
        """Return a DataFrame with one row per dataset: host, filters, number of rows, failures."""
        return show_as(
            [
                {
                    "host": host,
                    "scope": scope._to_query(),
                    "sections": len(dataset),
                    "rows": sum(sum(tables.rows.values()) for tables in dataset.values()),
                    "failed": ", ".join(
                        f"{section}: {type(error).__name__}"
                        for section, error in dataset.errors.items()
                    ),
                }
                for (host, scope), dataset in self.items()
            ]
        )

    def __repr__(self) -> str:
        return f"<Collection of {self._title()}>\n{self._make_overview()!r}"

    def _repr_html_(self) -> str:
        return f"<b>{self._title()}</b>{self._make_overview()._repr_html_()}"

    def _title(self) -> str:
        scope_note = f", {len(self.scopes)} scopes" if len(self.scopes) > 1 else ""
        failure_note = f", {counted(len(self.errors), 'response')} failed" if self.errors else ""
        return f"{counted(len(self.hosts), 'host')}{scope_note}{failure_note}"
