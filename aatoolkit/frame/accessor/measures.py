"""Verbs that compute: `aggregate`, `complete`."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from aatoolkit.frame import aggregate, complete
from aatoolkit.frame.aggregation_plan import Rules
from aatoolkit.frame.groupby import By
from aatoolkit.frame.periods import by_period


class Measures:
    """Methods that compute numbers from numbers; missing ones never become numbers."""

    _frame: pd.DataFrame

    def aggregate(
        self,
        by: By = None,
        columns: str | Iterable[str] | None = None,
        skip_missing: bool = False,
        *,
        freq: str | None = None,
        rules: Rules | None = None,
        observed: bool = True,
    ) -> pd.DataFrame:
        """Aggregate rows by each column's declared rule; what was not measured stays missing.

        Counts add up, exactly; a rate is recomputed from its summed numerator and denominator;
        a mean is weighted by its count; money adds up within one currency; a share or a rate of one
        brand over several answers is that of their counts, where the frame holds them. Every cell
        that holds a value is used, and a partial one makes the result ``partial``. A rate or mean
        over rows that were not all measured is that of the rows that were: it is ``partial``, and a
        column ``x_coverage`` says which fraction of the rows that is. A sum of which a cell was not
        measured is missing, with the reason. Rows to which a column does not apply, and those whose
        denominator is 0, add nothing.

        Parameters
        ----------
        by : str, pandas.Grouper or list of them, optional
            What to group by: columns or named levels of the index. A missing key is a group.
            By default all rows are one group, also where there are none.
        columns : str or list of str, optional
            The columns wanted. By default all that have a rule; ``df.aa.codebook`` shows the
            rules, and why a column has none.
        skip_missing : bool
            Whether a sum (or a smallest, largest, first or last value) leaves out cells that
            were not measured. It is then ``partial``, and every column has its ``x_coverage``.
        freq : str, optional
            Periods to group by as well, of the frame's column of days or times: an offset alias
            of pandas, such as ``W`` (weeks, each named by the Sunday on which it ends) or ``MS``
            (months, each named by its first day). A period of which the frame has some days only
            is ``partial``, and says how many.
        rules : dict, optional
            Rules for columns that have none, or other ones: ``sum``, ``mean``, ``min``,
            ``max``, ``first``, ``last``, ``count`` (of the rows that hold a value) or an
            `aatoolkit.sections.aggregation.Aggregation`. A column of true and false that is named
            in ``columns`` needs none: it becomes the share of rows that are true.
            A column that ``df.aa.merge`` took from another frame counts once for each row of
            that frame. Of other columns a sum is refused where their values are repeated, as
            after a plain merge: one value for each value of a text or day, over several rows.
        observed : bool
            Whether to leave out levels of categories that no row has. Otherwise their groups
            are unknown.

        Returns
        -------
        pandas.DataFrame
            One row a group, with the key as columns, and what is known of each column over
            all groups. Where the groups differ in it, ``x_availability``,
            ``x_availability_cause`` and ``x_availability_reason`` beside ``x`` say it of each.
            The result can be aggregated further as its rows could have been.

        Raises
        ------
        ColumnNotFound
            If there is no such column.
        ArgumentError
            If ``by`` is a rate, pandas knows no such ``freq``, or the frame has no one column of
            times.
        AvailabilityError
            If a column that was asked for has no rule, or cannot
            follow it here (``.columns`` says why); if none has one; if a sum of integers does
            not fit 64 bits.

        Warns
        -----
        AAToolkitWarning
            If a column was left out that has a rule and cannot follow it in this frame.

        Examples
        --------
        >>> frame = pd.DataFrame({"engine": ["a", "a", "b"], "n": [1, None, 0]})
        >>> frame.aa.aggregate("engine", rules={"n": "sum"})
          engine     n
        0      a  <NA>
        1      b   0.0
        >>> days = pd.DataFrame({"date": pd.date_range("2026-11-02", periods=10), "n": 1})
        >>> days.aa.aggregate(freq="W", rules={"n": "sum"}).iloc[:, :2]
                date  n
        0 2026-11-08  7
        1 2026-11-15  3
        >>> frame.aa.aggregate("engine", skip_missing=True, rules={"n": "sum"})["n_coverage"]
        ... # doctest: +NORMALIZE_WHITESPACE
        0    0.5
        1    1.0
        Name: n_coverage, dtype: Float64
        """
        if freq is not None:
            by = by_period(self._frame, by, freq)
        return aggregate.aggregate(self._frame, by, columns, skip_missing, rules or {}, observed)

    def complete(
        self, *, availability: pd.DataFrame | None = None, **levels: object
    ) -> pd.DataFrame:
        """Add explicit rows for what was not reported, with the reason.

        The levels are crossed with the rest of the frame's key. Rows that are there come
        first, in their order; in the others all that is no key is missing. What is known of a
        row is stored in its columns ``availability``, ``availability_cause`` and
        ``availability_reason``, which `aggregate` reads: a row that was not reported is
        unknown, never zero. Where nothing is known of it but that it was not reported, it
        takes nothing from the sum of rows that were; alone, it stays unknown.

        Parameters
        ----------
        availability : pandas.DataFrame, optional
            ``tables.availability`` of the answer. The rows of an engine that cannot report
            are then ``not_applicable``, and what holds of one engine no longer concerns the
            rows of the others.
        **levels
            The values that a column should have: ``engine=options.engines["engine"]``.

        Returns
        -------
        pandas.DataFrame
            The rows, numbered anew; named levels of the index are columns.

        Raises
        ------
        ColumnNotFound
            If there is no such column.
        AvailabilityError
            If a level does not fit its column.

        Examples
        --------
        >>> frame = pd.DataFrame({"engine": ["chatgpt"], "n": [3]})
        >>> frame.aa.complete(engine=["chatgpt", "claude"]).iloc[:, :4]
            engine     n availability availability_cause
        0  chatgpt     3    available               <NA>
        1   claude  <NA>      unknown             no_row
        """
        return complete.complete(self._frame, levels, availability)
