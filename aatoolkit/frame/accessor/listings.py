"""Verbs on the members of a listing: `rank` and `concentration`."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from aatoolkit.frame.aggregation_plan import Rules


class Listings:
    """Domains, brands, pages: which lead for certain, and how few have most."""

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
        """Which places are certain: each rank with the set of ranks that it may have.

        All differences between two members are tested at once, over clusters: the total or
        rate of each is a sum over prompts, and the largest of the standardised differences is
        compared with its quantile under 999 redraws of the prompts' signs and weights (a
        multiplier bootstrap; always the same ones). A member is certainly below those that
        exceed it, and certainly above those that it exceeds: the ranks in between are its set
        (Mogstad, Romano, Shaikh & Wilhelm, "Inference for ranks", *Review of Economic Studies*
        91, 2024). The sets hold all true ranks at once, with the probability of the level.

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
        """How concentrated a count is on few members.

        The Herfindahl index without its bias, Σnᵢ(nᵢ-1)/(N(N-1)) (Simpson, *Nature* 163, 1949), the
        effective number 1/index (Hill, *Ecology* 54, 1973), the share of the largest few, and the
        Gini coefficient of those that occur. The last two depend on N: groups are rarefied to
        the smallest (Hurlbert, *Ecology* 52, 1971). Intervals are from 499 multinomial resamples,
        always the same ones, centred at the estimate.

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
