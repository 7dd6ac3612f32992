"""Statistics of a dataset: changes between windows, and the funnel from crawled to converted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from aatoolkit.errors import ArgumentError
from aatoolkit.normalizer.tables import Tables

if TYPE_CHECKING:
    import pandas as pd

    from aatoolkit.errors import AAToolkitError


class DatasetStatistics(Mapping[str, Tables]):
    """The methods of a dataset that compute over several sections."""

    errors: dict[str, AAToolkitError]

    def compare(
        self, baseline: DatasetStatistics | None = None, level: float = 0.95
    ) -> pd.DataFrame:
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
        answers count it. What is compared is found by the standard names and rules of columns, so
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

        if baseline is not None and not isinstance(baseline, DatasetStatistics):
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
