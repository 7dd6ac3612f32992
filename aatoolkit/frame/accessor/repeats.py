"""Verbs on what was asked again: `stability` between repeats, `changes` between days."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from aatoolkit.frame.aggregation_plan import Rules


class Repeats:
    """Repeats of a prompt, and days one after the other."""

    _frame: pd.DataFrame

    def stability(
        self,
        column: str = "mentioned",
        by: Sequence[str] = ("prompt_id", "engine"),
        level: float = 0.95,
    ) -> pd.DataFrame:
        """How alike the answers are when the same is asked again.

        ``agreement``: of the pairs of answers to one combination, the share with the same
        outcome, averaged over combinations that were asked twice or more. ``icc``: their
        intra-class correlation, by analysis of variance (Ridout, Demétrio & Firth, *Biometrics*
        55, 1999); `aatoolkit.samples` takes it. The intervals are from 999 resamples of the first
        name's values (Davison & Hinkley, *Bootstrap Methods*, 1997), always the same ones.

        Do not use it over a time in which the rate changed: a change counts as disagreement.
        With agreement near 1 the correlation says little: there is nothing to correlate.

        Parameters
        ----------
        column : str
            A column of true and false, such as `aatoolkit.answers` has.
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
        >>> found = aa.answers(aa.demo().read("chats")).aa.stability()
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
        """On which days a rate changed, if on any.

        A segment of days has one rate; its cost is twice the negative binomial log likelihood
        of its counts, so that days with many answers weigh more, and days without are no part of
        it. The penalty of a change is the quantile of what the best split gains when the days
        are shuffled 999 times, always the same ones: it holds however much days vary. Under it
        the best segmentation is found exactly (Jackson et al., *IEEE Signal Processing Letters*
        12, 2005), of segments of five days or more. The interval of a day is that of its
        likelihood with the neighbouring changes fixed, flattened by the dispersion of days.

        Do not use it for series with a weekly pattern or a slow drift, which shuffling takes for
        changes; nor to prove that an action worked: something else may have changed that day.

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
            ``change``, ``p``, ``n``, ``clusters``, ``verdict``, ``why`` and ``method``.

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
