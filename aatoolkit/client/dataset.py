"""`Dataset`: the tables of several sections of one host and scope."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from aatoolkit._util.attributes import NamesNear
from aatoolkit._util.files import FileList, write_whole
from aatoolkit._util.show import Shown
from aatoolkit._util.text import markup, visible, wrapped_in_ipython
from aatoolkit.errors import AAToolkitError, ArgumentError, ItemNotFound, near_matches, unknown
from aatoolkit.normalizer.tables import Tables, summarised

if TYPE_CHECKING:
    import pandas as pd

    from aatoolkit.errors import AAToolkitError, ArgumentError, ItemNotFound, near_matches, unknown


class Dataset(Mapping[str, Tables], NamesNear):
    """Several sections of one host and scope: a mapping from section to its `Tables`.

    Attributes
    ----------
    errors : dict of str to AAToolkitError
        The sections that failed, with their errors; they are not in the mapping.

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
        self._results = dict(results)
        self.errors = dict(errors or {})

    def __getitem__(self, section: str) -> Tables:
        if isinstance(section, str) and section in self.errors:
            failure = self.errors[section]
            raise ItemNotFound(f"{section} failed: {failure}", key=section) from failure
        if section not in self._results:
            near = near_matches(str(section), self)
            raise ItemNotFound(unknown("section", section, self), key=section, suggestions=near)
        return self._results[section]

    def __contains__(self, section: object) -> bool:
        return section in self._results

    def _item_named(self, name: str) -> str:
        if name in self:
            return f"it has a section of that name: write dataset[{name!r}]"
        section = next((each for each, tables in self.items() if name in tables), None)
        return f"it is a table: write dataset[{section!r}][{name!r}]" if section else ""

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    @property
    def summary(self) -> Shown:
        """One row per table: ``section``, ``table``, ``rows``, ``availability`` in words.

        A section that failed has one row with no table and no count.
        """
        rows = [
            (name, table, tables.rows[table], tables._words[table])
            for name, tables in self.items()
            for table in tables
        ]
        failed = [(name, None, None, f"failed: {error}") for name, error in self.errors.items()]
        names = ("section", "table", "rows", "availability")
        return summarised(names, [*rows, *failed])

    def compare(self, baseline: Dataset | None = None, level: float = 0.95) -> pd.DataFrame:
        """Compare mention rates and positions with another dataset, or with the window before.

        The mention rate over all prompts is the comparison that was planned: it stands alone, at
        its level. The rest is a family, adjusted by Holm's method: the mean position, the rate
        by topic, engine and brand, and the share of voice of the own brand. ``family`` says which
        is which. Everything that ``df.aa.compare`` says of intervals, detectable changes and
        refusals holds here.

        **Whatever can be paired is paired**: by prompt, wherever both windows have counts by
        prompt (the sections ``prompts`` and ``ranking``), of which ``method`` tells. Without the
        section ``prompts``, two datasets are compared by day, as the trend of ``overview`` has
        them. Brands are counted in whole windows: they are given the design effect of the own
        mention rate's change within prompts, which for them may be too small. Key figures of
        which nothing is counted by prompt have their values, and cannot say.

        Without another dataset, this window is compared with the one before, as far as the
        responses count it. What is compared is found by the standard names and rules of columns, so
        that a service of another make is compared in what it has.

        Parameters
        ----------
        baseline : Dataset, optional
            What it is compared with, such as an earlier dataset; the change is this one less the
            baseline. Their windows do not overlap.
        level : float
            The confidence level.

        Returns
        -------
        pandas.DataFrame
            One row a measure, ``subject`` (``all prompts``, ``topic``, ``engine``, ``brand`` or
            ``key figure``) and ``name``, with the columns of ``df.aa.compare`` and ``family``;
            the planned comparison first.

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
        from aatoolkit.stats.headline import headline

        if baseline is not None and not isinstance(baseline, Dataset):
            raise ArgumentError(
                f"baseline is a {type(baseline).__name__}; give a Dataset of an earlier window",
                argument="baseline",
            )
        return headline(self, baseline, level)

    def funnel(self, by: str | None = "path", level: float = 0.95) -> pd.DataFrame:
        """Join the stages of each page, day or platform: crawled, cited, visited, converted.

        Four stages, each from the section that counts it: requests of AI crawlers (``crawl``),
        answers that cite the page (``crawl`` and ``conversions``; citations by day and platform:
        ``overview``, ``domains``), visits from engines and their conversions (``conversions``).
        They are joined on paths in one spelling: without host, query, fragment, trailing slash
        and index file. A stage that was not measured says so, and a page that a section does not
        list has no number there: neither is 0. Sums of which a part is missing are missing.

        Only conversions are a part of the stage before, visits: ``conversion_rate`` is of the
        visits of the days whose conversions are complete, where the service counts them (else of
        all, and too low), with a Wilson interval, which takes visits for independent. Requests,
        answers and visits count different things; their quotients are no rates.

        ``crawl_to_refer`` is requests of crawlers over visits from engines, after the ratio of
        Cloudflare Radar ("HTML page crawl requests to HTML page referrals by platform", 2025):
        with ``by="platform"`` the crawlers of an operator over the visits from its engines.
        Unlike there, all requests count and visits are sessions; by path it is of pages alone,
        not of files such as ``robots.txt``. It is missing where there is no visit.

        Do not read it as cause and effect: a page may be visited without ever being crawled, and
        crawls of one month feed answers of others. By day nothing is lagged, and days of visits are
        those of the analytics property's time zone.

        Parameters
        ----------
        by : {"path", "day", "platform", None}
            What the stages are joined on; None for the totals of the window.
        level : float
            The confidence level of ``conversion_rate``.

        Returns
        -------
        pandas.DataFrame
            One row a path, day or platform, the most crawled first (days in their order): the
            key, ``crawled`` (requests), ``cited`` (answers by path, else citations), ``visited``,
            ``converted``, ``crawl_to_refer`` (requests per visit), ``conversion_rate`` with
            ``_low`` and ``_high``, ``n`` (the visits it is of), ``verdict`` (which stages were not
            measured, and why) and ``method``. The availability of each stage is at its column.

        Raises
        ------
        AvailabilityError
            If no stage was measured, or the sections are not of one host and window.
        ValueError
            If ``by`` or the level cannot be used.

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

        return funnel(self, self.errors, by, level)

    def to_parquet(self, folder: str | os.PathLike[str]) -> FileList:
        """Write every table to ``folder/SECTION/TABLE.parquet``, with its metadata.

        Beside them is what no table took, so that `aatoolkit.rebuild` makes each response again.

        Parameters
        ----------
        folder : str or path
            The folder; it is made where it is missing. Files of the same names are replaced.

        Returns
        -------
        list of Path
            The files; it prints how many there are.

        Raises
        ------
        NotWritten
            If the name is that of a file of another format, or a column cannot be written.
        NotWritten
            If a file cannot be written; an existing file is unchanged.

        Examples
        --------
        >>> import tempfile
        >>> import aatoolkit as aa
        >>> dataset = aa.demo().read_all(sections=["gaps"], progress=False)
        >>> dataset.to_parquet(tempfile.mkdtemp())[0].name
        'gap_domains.parquet'
        """
        from aatoolkit.frame.parquet import check_folder, write_tables

        check_folder(folder)
        return FileList(path for tables in self.values() for path in write_tables(tables, folder))

    def to_excel(self, path: str | os.PathLike[str]) -> Path:
        """Write every table to a sheet of one workbook, and a sheet that describes all columns.

        As ``df.aa.to_excel`` writes one table: no formulas, nothing rounded, moments in UTC, and
        an empty cell for what is missing. The sheet ``about`` says how to read it, ``tables`` of
        each table how many rows it has and what could be measured.

        Parameters
        ----------
        path : str or path
            The file, ending in ``.xlsx``; its folder is made where it is missing.

        Raises
        ------
        NotWritten
            If the file's name does not end in ``.xlsx``.
        NotWritten
            If the file cannot be written; an existing file is unchanged.
        PackageMissing
            If xlsxwriter is not installed; it says what to install.

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
        self, path: str | os.PathLike[str], *, rows: int = 12, baseline: Dataset | None = None
    ) -> Path:
        """Write one HTML page for readers who know neither Python nor JSON.

        It opens with a summary in sentences: the key figures, what is shown to have changed since
        the window before, or since an earlier dataset, and what cannot be said, as `compare`
        finds it. Then come the sections in reading order. Each number leads to where it comes
        from: its formula, its place in the response, the response with its SHA-256. Of each section
        the columns that say most stand open; other tables are folded, and not printed.

        The page is self-contained: it opens offline, loads nothing, runs no script, prints, fits
        a phone, and follows the reader's light or dark setting. Nothing in a response can run or
        restyle it. The same data gives the same bytes.

        Parameters
        ----------
        path : str or path
            The file; missing folders are created. It is written atomically.
        rows : int
            The most rows of a table, of which fewer may stand open; where more exist the page
            says how many.
        baseline : Dataset, optional
            An earlier dataset, whose windows do not overlap with those of this one.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        ArgumentError
            If ``rows`` is no whole number from 1.
        NotWritten
            If the file cannot be written; an existing file is unchanged.
        PackageMissing
            If matplotlib is not installed; it says what to install.

        Examples
        --------
        >>> import tempfile
        >>> import aatoolkit as aa
        >>> page = Path(tempfile.mkdtemp(), "acme.html")
        >>> aa.demo().read_all(sections=["ranking"], progress=False).report(page) == page
        True
        """
        from aatoolkit.display.report.page import page

        if baseline is not None and not isinstance(baseline, Dataset):
            raise ArgumentError(
                f"baseline is a {type(baseline).__name__}; give a Dataset of an earlier window",
                argument="baseline",
            )
        return write_whole(path, page(self, rows, baseline).encode())

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def __repr__(self) -> str:
        failed = f", {len(self.errors)} failed" if self.errors else ""
        lines = [
            f"  {visible(name)}: {len(tables)} tables, {sum(tables.rows.values()):,} rows"
            for name, tables in self.items()
        ]
        lines += [
            f"  {visible(name)}: failed: {visible(str(e))}" for name, e in self.errors.items()
        ]
        hints = sum(len(tables.hints) for tables in self.values())
        noted = f", {hints} hint{'s' if hints > 1 else ''} (see .hints of tables)" if hints else ""
        return "\n".join([f"<Dataset of {len(self)} sections{failed}{noted}>", *lines])

    _repr_pretty_ = wrapped_in_ipython

    def _repr_html_(self) -> str:
        parts = [
            f"<details><summary><code>{markup(name)}</code> {len(tables)} tables, "
            f"{sum(tables.rows.values()):,} rows {tables._marks}</summary>"
            f"{tables._repr_html_()}</details>"
            for name, tables in self.items()
        ]
        parts += [
            f"<div><code>{markup(name)}</code> failed: {markup(str(error))}</div>"
            for name, error in self.errors.items()
        ]
        title = f"<b>{len(self)} sections</b>"
        return f'<div class="tex2jax_ignore">{title}{"".join(parts)}</div>'
