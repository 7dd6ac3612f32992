"""Verbs on the members of a listing: `rank`, `concentration` and `overlap`."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from aatoolkit.frame.aggregation_plan import Rules


class Listings:
    """Methods for lists of domains, brands or pages: ranks, concentration, overlap."""

    _frame: pd.DataFrame

    def rank(
        self,
        column: str,
        by: str,
        cluster: str = "prompt_id",
        level: float = 0.95,
        *,
        rules: Rules | None = None,
    ) -> pd.DataFrame:
        """Rank members, each with the set of ranks that it may have given the sample.

        All differences between two members are tested at once, over clusters: the total or
        rate of each is a sum over prompts, and the largest of the standardised differences is
        compared with its quantile under 999 redraws of the prompts' signs and weights (a
        multiplier bootstrap; always the same ones). A member is taken to be below those
        that exceed it, and above those that it exceeds: the ranks in between are its set
        (Mogstad, Romano, Shaikh & Wilhelm, "Inference for ranks", *Review of Economic Studies*
        91, 2024). Of few prompts the quantile is that of Student's t, as far out in its tail, so
        that the sets are wide. They hold all true ranks at once: in simulations of 8 to 100
        prompts, ties included, 95 % or more.

        A member without a row for a prompt counts as 0 there, as a listing holds only what was
        found: use whole listings, not their first rows. Do not use it with members that were
        chosen because they lead.

        Parameters
        ----------
        column : str
            A count, or a rate with a declared numerator and denominator.
        by : str
            The members that are ranked.
        cluster : str
            What repeats; 5 different ones at least.
        level : float
            The confidence level of all sets together.
        rules : dict, optional
            As for `aggregate`.

        Returns
        -------
        pandas.DataFrame
            One row a member, the first first: the key, ``value``, ``rank``, ``rank_low``,
            ``rank_high``, ``n``, ``clusters``, ``verdict`` and ``method``.

        Raises
        ------
        AvailabilityError
            If there is no such column, it is no count or rate, there are more than 500
            members, or too few clusters.
        ValueError
            If the level is not between 0 and 1.

        Examples
        --------
        >>> frame = pd.DataFrame({"prompt_id": sorted([*range(8)] * 2), "site": [*"ab"] * 8})
        >>> frame["n"] = [9, 1, 8, 2] * 4
        >>> found = frame.aa.rank("n", "site", rules={"n": "sum"})
        >>> found[["site", "rank", "rank_low", "rank_high"]]
          site  rank  rank_low  rank_high
        0    a     1         1          1
        1    b     2         2          2
        """
        from aatoolkit.stats.rank import rank

        return rank(self._frame, column, by, cluster, level, rules)

    def concentration(
        self,
        column: str,
        by: str | Sequence[str] | None = None,
        *,
        top: int = 5,
        rarefy: bool = True,
        level: float = 0.95,
    ) -> pd.DataFrame:
        """Measure how concentrated a count is on few members.

        The Herfindahl index without its bias, Σnᵢ(nᵢ-1)/(N(N-1)) (Simpson, *Nature* 163, 1949), the
        effective number 1/index (Hill, *Ecology* 54, 1973), the share of the largest few, and the
        Gini coefficient of those that occur. The last two depend on N: groups are rarefied to
        the smallest (Hurlbert, *Ecology* 52, 1971). Intervals are from 499 multinomial resamples,
        always the same ones, centred at the estimate; of groups of more than 2,000 members fewer
        (49 at least), and from 5,000 on the interval is ± t times their standard deviation. The
        largest few of a sample have luck among their merits, the more of it the more members tie:
        the lower end of their share is that of the leaders of one half in the other half. The
        ends of the effective number are 1 over those of the index.

        The resamples take each citation for independent. Citations of one answer, and answers to
        one prompt, are not: read the intervals as the least uncertainty there is. Do not use it
        on the first rows of a longer listing.

        Parameters
        ----------
        column : str
            A count, one row a member.
        by : str or list of str, optional
            One result a group.
        top : int
            How many are "the largest few".
        rarefy : bool
            Whether groups are rarefied to the size of the smallest.
        level : float
            The confidence level.

        Returns
        -------
        pandas.DataFrame
            One row a group: ``hhi``, ``effective``, ``top_share``, ``gini``, each with ``_low``
            and ``_high``, ``n``, ``members``, ``depth``, ``verdict``, ``method``. Groups of less
            than 20 cannot say.

        Raises
        ------
        AvailabilityError
            If there is no such column, or it is no count.
        ValueError
            If ``top`` or the level cannot be used.

        Examples
        --------
        >>> frame = pd.DataFrame({"site": [*"abcd"], "n": [50, 50, 50, 50]})
        >>> float(round(frame.aa.concentration("n")["effective"].item(), 1))
        4.1
        """
        from aatoolkit.stats.concentration import concentration

        return concentration(self._frame, column, by, top=top, rarefy=rarefy, level=level)

    def overlap(
        self,
        column: str,
        between: str = "engine",
        by: str = "prompt_id",
        *,
        repeat: str = "chat_id",
        order: str | None = None,
        p: float = 0.9,
        depth: int = 10,
        level: float = 0.95,
    ) -> pd.DataFrame:
        """Measure how much the lists of two engines overlap, beside the overlap of repeats of each.

        An engine that is asked the same twice does not cite the same sources twice: two engines
        that share a third of their sources may be as alike as each is to itself. So the overlap
        of pairs of answers, one of each engine, stands beside that of pairs of answers of one.

        - ``jaccard``: |A∩B| / |A∪B| of the sets of two answers (Jaccard, *New Phytologist* 11,
          1912), mean over all pairs of answers to a prompt, then over prompts, each with the
          same weight.
        - ``ceiling``: the same between different answers of one engine, mean of the two engines,
          over the prompts that both answered twice or more; ``gap`` is the index less it there.
        - ``rbo``: rank-biased overlap, which weighs the first places most: the agreement at
          depth d has the weight (1-p)·pᵈ⁻¹, extrapolated beyond the lists (Webber, Moffat &
          Zobel, *ACM Transactions on Information Systems* 28, 2010, equation 32). With p = 0.9 the
          first 10 places have 86 % of the weight. Lists are cut at ``depth``.

        The intervals are Student's t over k prompts, mean ± t(k-1)·s/√k: of prompts like
        these, which are taken for a sample; 5 at least. Verdicts are on the gap, with Holm's method
        over all pairs. "No evidence" is not "as alike as repeats": ``detectable`` is the gap
        that the sample could have shown.

        Answers that list nothing are no rows, and so no part of it. Of more than 20 answers of one
        engine to a prompt 20 are used, evenly spaced. Do not use it on lists that were cut, such
        as the first rows of a table: their overlap depends on where; nor to compare engines that
        were asked at different times, as then the gap may be that of the times.

        Parameters
        ----------
        column : str
            What the lists hold, such as ``source_domain``; one row an entry.
        between : str
            What is compared.
        by : str
            What repeats, and is the unit of the intervals.
        repeat : str
            What names a single answer, and so a list.
        order : str, optional
            The place of an entry in its list, from 1; without it there is no ``rbo``.
        p : float
            The persistence of rank-biased overlap, between 0 and 1.
        depth : int
            How many places of each list it uses.
        level : float
            The confidence level.

        Returns
        -------
        pandas.DataFrame
            One row a pair: the key, ``jaccard`` with ``_low`` and ``_high``, ``ceiling``, ``gap``
            with ``_low`` and ``_high``, ``p``, ``p_adjusted``, ``detectable``, ``rbo`` with
            ``_low`` and ``_high``, ``rbo_ceiling``, ``n`` (answers), ``clusters``, ``verdict``
            ("less alike" or "more alike" than repeats, "no evidence" or "cannot say"), ``why``
            and ``method``. Fractions from 0 to 1.

        Raises
        ------
        ColumnNotFound
            If there is no such column.
        AvailabilityError
            If a row has no engine, prompt, answer or place, an answer is of several engines or
            prompts, or there are more than 40 engines.
        ValueError
            If ``p``, ``depth`` or the level cannot be used.

        Examples
        --------
        >>> rows = [
        ...     (prompt, engine, f"{prompt}{engine}{run}", site)
        ...     for prompt in range(6)
        ...     for engine, sites in (("x", "abc"), ("y", "cde"))
        ...     for run in range(2)
        ...     for site in sites[: 3 - run * (prompt % 3)]
        ... ]
        >>> frame = pd.DataFrame(rows, columns=["prompt_id", "engine", "chat_id", "site"])
        >>> frame.aa.overlap("site")[["jaccard", "ceiling", "gap", "verdict"]].round(2)
           jaccard  ceiling   gap     verdict
        0     0.15     0.67 -0.52  less alike
        """
        from aatoolkit.stats.overlap import overlap

        return overlap(
            self._frame,
            column,
            between,
            by,
            repeat=repeat,
            order=order,
            p=p,
            depth=depth,
            level=level,
        )
