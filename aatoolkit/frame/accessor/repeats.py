"""Verbs on repeated answers: `stability` between repeats, `changes` between days."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from aatoolkit.frame.aggregation_plan import Rules


class Repeats:
    """Methods for repeated answers: to one prompt, and day after day."""

    _frame: pd.DataFrame

    def stability(
        self,
        column: str = "mentioned",
        by: Sequence[str] = ("prompt_id", "engine"),
        level: float = 0.95,
    ) -> pd.DataFrame:
        """Measure how often repeated answers to the same prompt agree.

        ``agreement``: of the pairs of answers to one combination, the share with the same
        outcome, averaged over combinations that were asked twice or more. ``icc``: their
        intra-class correlation, by analysis of variance (Ridout, Demétrio & Firth, *Biometrics*
        55, 1999). The interval of the agreement is from 999 resamples of the first name's values
        (Davison & Hinkley, *Bootstrap Methods*, 1997), always the same ones. That of the
        correlation is from the jackknife over them, on Fisher's scale, with Student's t: in
        simulations of 10 to 60 prompts it covers 95 to 98 %.

        `aatoolkit.stats.samples` takes the correlation of answers to one prompt, which is that of
        ``by=["prompt_id"]``. Try both ends of its interval too.

        Do not use it over a time in which the rate changed: a change counts as disagreement.
        With agreement near 1 the correlation says little: there is nothing to correlate.

        Parameters
        ----------
        column : str
            A column of true and false, such as `aatoolkit.stats.answers` has.
        by : sequence of str
            What makes two answers repeats of each other.
        level : float
            The confidence level.

        Returns
        -------
        pandas.DataFrame
            One row: ``agreement``, ``icc``, each with ``_low`` and ``_high``, ``n``, ``cells``,
            ``clusters``, ``verdict`` and ``method``.

        Raises
        ------
        AvailabilityError
            If there is no such column, or it is not of true and false.
        ValueError
            If the level is not between 0 and 1.

        Examples
        --------
        >>> import aatoolkit as aa
        >>> found = aa.stats.answers(aa.demo().read("chats")).aa.stability()
        >>> bool(0.5 < found["agreement"].item() < 1)
        True
        """
        from aatoolkit.stats.stability import stability

        return stability(self._frame, column, by, level)

    def changes(
        self,
        column: str,
        date: str = "date",
        level: float = 0.95,
        *,
        rules: Rules | None = None,
    ) -> pd.DataFrame:
        """Detect the days on which a rate changed.

        A segment of days has one rate; its cost is twice the negative binomial log likelihood
        of its counts, so that days with many answers weigh more, and days without are no part of
        it. What the best split gains, and what the best two gain, is divided by the long-run
        variance of days about them: by how much they vary, and how alike neighbouring days are
        (Newey & West, *Econometrica* 55, 1987). It is compared with the same of the days in 499
        other orders, always the same ones, in which blocks of neighbours stay together (∛days
        long); the better of the two counts, as it does in those. The quantile of one split, times
        the variance that is left, is what each further segment must gain. The best of so many
        segments, of five days or more, are found exactly (Auger & Lawrence, *Bulletin of
        Mathematical Biology* 51, 1989). The interval of a day is a set of 95 % (the level) of the
        likelihood with a flat prior, the neighbouring changes fixed, flattened by that variance;
        how often it covers is checked roughly. Before and after are those of the best split, so
        that the change is somewhat overstated.

        In simulations of flat series (answers as independent, overdispersed, with rates of 1 and
        99 %, growing and weekly numbers) mostly 6.7 % at most are called changed, and 8 % where
        days are autocorrelated with 0.8 or their numbers grow tenfold; series of a year were not
        measured so closely. That caution costs: of 30 days with 15 answers each, a step of 20
        points in the middle is found in 7 of 10 cases. Many ups and downs that no two changes
        describe may hide each other.

        Do not use it for series with a strong weekly pattern or a slow drift, which it takes for
        changes or misses; nor to prove that an action worked: something else may have changed
        that day, such as the mix of prompts or engines. `aatoolkit.stats.effect` compares with what
        was not treated.

        Parameters
        ----------
        column : str
            A rate with a declared numerator and denominator.
        date : str
            The column of days; 20 to 1,100 of them.
        level : float
            The confidence level.
        rules : dict, optional
            As for `aggregate`.

        Returns
        -------
        pandas.DataFrame
            One row a change, or one that says that there is none: ``day`` (the first of the new
            rate), ``first_day`` and ``last_day`` (its interval), ``before``, ``after``,
            ``change``, ``p``, ``n``, ``clusters``, ``from_day`` and ``to_day`` (the stretches
            of both rates), ``verdict``, ``why`` and ``method``.

        Raises
        ------
        AvailabilityError
            If there is no such column, it is no rate, or there are too many days.
        ValueError
            If the level is not between 0 and 1.

        Examples
        --------
        >>> import aatoolkit as aa
        >>> trend = aa.demo().read("overview", days=90)["overview_trend"]
        >>> found = trend.aa.changes("mention_rate")
        >>> set(found["verdict"]) <= {"up", "down", "no evidence"}
        True
        """
        from aatoolkit.stats.changes import changes

        return changes(self._frame, column, date, level, rules)
