"""The accessor ``df.aa``: the methods that every DataFrame gets, grouped by purpose.

This module has the signatures and the documentation of the methods. Other modules implement them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from aatoolkit._util.attributes import NameSuggestionMixin, members_of
from aatoolkit._util.defaults import LEVEL, require_package
from aatoolkit._util.files import FilePath
from aatoolkit._util.show import fold_html, show_as
from aatoolkit._util.text import Names, TitledRepr, wrap_lines
from aatoolkit.errors import ArgumentError
from aatoolkit.frame import merge, reshape, views
from aatoolkit.frame.aggregate import aggregate
from aatoolkit.frame.aggregation_plan import Rules
from aatoolkit.frame.excel import SheetTable, write_workbook
from aatoolkit.frame.groupby import By, flatten_names, period_groupers
from aatoolkit.frame.parquet import to_arrow_table, write_parquet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from aatoolkit.stats.explain.explanation import Explanation, RowChoice


def _baseline_frame(baseline: pd.DataFrame | str) -> pd.DataFrame | None:
    """Return the frame to compare with, or None if the argument is ``"previous"``."""
    if not isinstance(baseline, str):
        return baseline
    if baseline != "previous":
        raise ArgumentError(
            f"baseline={baseline!r} is no frame; give one, or baseline='previous' for the window "
            "before, where the frame's own columns give it",
            argument="baseline",
        )
    return None


class Accessor(NameSuggestionMixin, TitledRepr):
    """The methods of ``df.aa``; ``print(df.aa)`` lists them.

    The methods use the metadata that aatoolkit stores with a frame. They also accept a frame
    without metadata; its availability (whether the data were measured) is then ``unknown``. No
    method changes the frame or needs a network. ``help(df.aa.merge)`` shows the arguments and
    examples of one method.

    Examples
    --------
    >>> frame = pd.DataFrame({"n": [1]})
    >>> frame.aa.availability["status"].tolist()
    ['unknown']
    """

    _name_in_errors = "df.aa"

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame

    def _hint_on_unknown_name(self, name: str) -> str:
        if name in self._frame.columns:
            return f"it is a column: write df[{name!r}]"
        return f"pandas has it: write df.{name}" if hasattr(pd.DataFrame, name) else ""

    @property
    def availability(self) -> pd.DataFrame:
        """A frame that says whether each column could be measured, and if not, why.

        It has one row per column of this frame; the index has the names of the columns. Its columns
        are ``status``, ``cause`` and ``reason``. A cause such as ``not_run`` is what the service
        states as a code or status; where it gives only a sentence, that is the reason, and no cause
        is guessed from it. ``status`` is ``available``, ``partial``,
        ``unavailable``, ``not_applicable`` or ``unknown``, as it was when the frame was read. If
        you filter rows later, the status stays the same. An ``available`` column may have missing
        cells of which the service says nothing, or where it sent a text instead of a number, which
        is in ``tables.drift``: ``isna().sum()`` counts them, and `explain` says what is known of
        one. Columns that pandas makes, as in a pivot, are ``unknown``: pivot the availabilities of
        `to_long` too.

        Raises
        ------
        MetadataError
            If the frame's metadata is damaged, or newer than this version can read.
        """
        return views.availability_table(self._frame)

    @property
    def codebook(self) -> pd.DataFrame:
        """A frame with the meaning, unit and aggregation rule of each column.

        It has one row per column of this frame; the index has the names of the columns.

        - ``dtype``: the pandas dtype.
        - ``unit``: such as ``count``; missing if rows have different units.
        - ``aggregation``: the rule by which `aggregate` combines rows, such as ``sum``. After
          ``over`` are the columns whose values may be combined; by default all.
        - ``doc``: the meaning.
        - ``availability``: whether the column was measured, and if not, why.
        - ``caution``: why an aggregate would be only approximate, or is not possible.
        - ``of``: the column of the API that the values come from, as ``table.column``. If it is
          missing, so are unit, rule and meaning.

        Raises
        ------
        MetadataError
            If the frame's metadata is damaged, or newer than this version can read.
        """
        return views.codebook_of(self._frame)

    @property
    def sources(self) -> pd.DataFrame:
        """A frame of the API responses that this frame was read from, one row each.

        - ``host``, ``section``, ``url``: what was requested.
        - ``scope``: the days and filters of the request.
        - ``fetched_at``: when the response was fetched, in UTC, to the second. Whether the cache
          answered is in ``tables.payload.from_cache``.
        - ``sha256``: the hash of its body.
        - ``stale``: whether it came from the cache after it had expired.
        - ``window_start``, ``window_end``: the days that the response says it covers.

        Raises
        ------
        MetadataError
            If the frame's metadata is damaged, or newer than this version can read.
        """
        return views.source_table(self._frame)

    def _title_and_lines(self) -> tuple[str, Sequence[str]]:
        count_by_status = self.availability["status"].value_counts()
        status_text = ", ".join(
            f"{count} {status}" for status, count in count_by_status.items() if count
        )
        lines = [
            f"{method:16} {method_description}"
            for method, method_description in members_of(type(self))
        ]
        return f"<df.aa of {self._frame.shape[1]} columns: {status_text or 'none'}>", lines

    def __repr__(self) -> str:
        return wrap_lines(str(self))

    def _repr_html_(self) -> str:
        availability_html = show_as(self.availability)._repr_html_() or ""
        return availability_html + fold_html(
            "df.aa: what can be done with this frame", super()._repr_html_()
        )

    def explain(
        self,
        row: RowChoice = None,
        column: str | None = None,
        *,
        within: Any = None,
    ) -> Explanation:
        """Explain where a number comes from, or why it is missing.

        The explanation leads down to the bytes of the API responses. The value is computed again
        from these bytes, and compared with the value in the frame. If the two differ, the
        explanation says so; a change with plain pandas can cause that.

        ``df.aa.explain("mention_rate")``, without a row, is about missing values. It explains the
        first missing value of the column, and counts all of them by cause.

        The responses stay in memory as long as the frame does. A frame from a file or another
        process has none in memory: pass a study or archive that has the responses as ``within``.

        Parameters
        ----------
        row : int, label or mapping of str to object, optional
            The row, as a mapping from columns to values, such as ``{"engine": "chatgpt"}``. Or its
            label in the index, as in ``df.loc``; or its position, if there is no such label. By
            default the first row in which the column is missing, else the first row.
        column : str
            The column. If you pass only the name of a column, it is taken as ``column``.
        within : Study, Archive, Tables, Dataset, or a list of these, optional
            Where to look for the responses, besides memory.

        Returns
        -------
        Explanation
            A tree: value, unit, meaning, formula, JSON path and bytes, response, availability. Of
            a value that was read, ``.place.path`` is the JSON path, and ``.place.start`` and
            ``.place.end`` are its positions in the bytes ``tables.payload.body``. ``help`` of the
            explanation lists all fields.

        Raises
        ------
        ItemNotFound
            If there is no such column or row, or several such rows.
        MetadataError
            If the frame's metadata is damaged, or newer than this version can read.
        TypeError
            If no column is given.

        Examples
        --------
        >>> pd.DataFrame({"n": [1]}).aa.explain(0, "n")
        n: 1
          unknown
          the trail ends here: the frame has no metadata, so its origin is not known
        >>> import aatoolkit as aa
        >>> engines = aa.demo().read("overview", days=7)["overview_engines"]
        >>> found = engines.aa.explain("mention_rate")
        >>> found.row, found.missing.partition(";")[0]
        ({'engine': 'google-ai-overview'}, 'the response holds null here')
        """
        from aatoolkit.stats.explain.explainer import Explainer

        return Explainer(within).explain(self._frame, row, column)

    def require(self, *columns: Names) -> pd.DataFrame:
        """Return the frame itself, or raise if one of the columns was not measured.

        No error is raised for a column that was measured in part, or that has unknown availability
        but some values. To accept only complete columns, check the status:
        ``df.aa.availability.loc["mention_rate", "status"] == "available"``.

        Parameters
        ----------
        *columns : str
            The names of the columns.

        Returns
        -------
        pandas.DataFrame
            The frame itself.

        Raises
        ------
        ItemNotFound
            If a column is not in the frame.
        AvailabilityError
            If a column holds no measurement, or was overwritten. The error's ``.columns`` says why.

        Examples
        --------
        >>> pd.DataFrame({"n": [0]}).aa.require("n")
           n
        0  0
        """
        return views.require(self._frame, flatten_names(columns))

    def measured(self, *columns: Names, drop: bool = False) -> pd.DataFrame:
        """Return the rows in which these columns were measured, wholly or in part.

        A row whose value is a measured 0 is kept. A row is dropped if the service reports 0 but
        says that nothing was measured.

        Parameters
        ----------
        *columns : str
            The names of the columns. A row stays if all of them were measured. By default all
            numeric columns that are not part of the key; a row then stays if any of them was
            measured.
        drop : bool, default False
            Also leave out columns that are unavailable or not applicable. Key columns stay.

        Returns
        -------
        pandas.DataFrame
            The rows, in their order and with their index.

        Raises
        ------
        ItemNotFound
            If there is no such column.

        Examples
        --------
        >>> pd.DataFrame({"n": [0, None, 2]}).aa.measured("n")["n"].tolist()
        [0.0, 2.0]
        """
        return views.measured(self._frame, flatten_names(columns), drop)

    def aggregate(
        self,
        by: By = None,
        columns: Names | None = None,
        skip_missing: bool = False,
        *,
        freq: str | None = None,
        rules: Rules | None = None,
        observed: bool = True,
        status: bool = False,
    ) -> pd.DataFrame:
        """Aggregate rows by group; each column has its own rule, such as ``sum``.

        Counts are added. A rate is computed again from its summed numerator and denominator. A mean
        is weighted by its count. Money is added only within one currency. The codebook,
        ``df.aa.codebook``, shows each rule.

        What was not measured stays missing. If some rows of a group were not measured:

        - a sum is missing, and its reason is recorded;
        - a rate or mean ``x`` is computed from the measured rows. Its status is ``partial``, and a
          column ``x_coverage`` has the fraction of rows that were measured.

        A coverage counts the rows of this frame to which the column applies, not answers. In a
        frame that was read with ``split="engine"``, each engine has rows of its own, so that one
        that never ran or is not configured lowers it; without ``split``, an engine that is missing
        in a row is in the row's reason, and the row counts as measured. Leave out engines that
        should not count before you aggregate.

        A value that was measured in part is used, and makes the result ``partial``. Rows to which a
        column does not apply, and rows whose denominator is 0, add nothing.

        Parameters
        ----------
        by : str, pandas.Grouper or list of them, optional
            What to group by: columns or named levels of the index. Rows with a missing key form a
            group. By default all rows are one group.
        columns : str or list of str, optional
            The columns to aggregate. By default all columns with a rule. ``df.aa.interval`` and
            ``df.aa.compare`` of a rate also need the counts that it is made of, which its rule in
            the codebook names: leave out ``columns``, or name them, as in
            ``columns=["mention_rate", "mention_count", "answer_count"]``.
        skip_missing : bool
            Whether sums leave out cells that were not measured, instead of being missing. Such a
            sum is ``partial``, and every column has its ``x_coverage``. The same holds for the
            rules ``min``, ``max``, ``first`` and ``last``.
        freq : str, optional
            Also group days or times into periods. This is an offset alias of pandas: ``W`` (weeks,
            each named by the Sunday on which it ends) or ``MS`` (months, each named by its first
            day). A period is ``partial`` if the frame has only some of its days. ``x_coverage`` is
            then the share of its days: .29 for 9 of 31 days.
        rules : dict, optional
            A rule for each column that has none, or whose rule you replace: ``sum``, ``mean``,
            ``min``, ``max``, ``first``, ``last``, ``count`` (of the rows that hold a value) or an
            `aatoolkit.sections.aggregation.Aggregation`. A column of true and false that is named
            in ``columns`` needs no rule: it becomes the share of rows that are true.

            If ``df.aa.merge`` repeated rows of a frame, each original row is still counted once. A
            plain pandas merge does not record repeated rows. So a sum raises an error if the
            numbers look repeated, that is, if they are equal in all rows with the same text or
            day. If they are not, give the rule as ``aa.sections.Aggregation("sum")``.
        observed : bool
            Whether to leave out categories that occur in no row. Otherwise each of them has a
            group, whose values are ``unknown``.
        status : bool
            Whether every column ``x`` has its status, cause and reason in columns beside it, even
            if all groups have the same. The status is missing if the service states none.

        Returns
        -------
        pandas.DataFrame
            One row per group, with the keys as columns, and with metadata. If groups differ in
            availability, or a period is partial, three columns beside ``x`` say so:
            ``x_availability``, ``x_availability_cause`` and ``x_availability_reason``. The result
            can be aggregated again.

        Raises
        ------
        ItemNotFound
            If there is no such column.
        ArgumentError
            If pandas knows no such ``freq``, or the frame has no single column of times.
        AvailabilityError
            If a column in ``columns`` has no rule, or its rule cannot be applied; the error's
            ``.columns`` says why. If no column has a rule. If a sum of integers does not fit 64
            bits.

        Warns
        -----
        AAToolkitWarning
            If a column was left out because its rule cannot be applied in this frame.

        Examples
        --------
        >>> frame = pd.DataFrame({"engine": ["a", "a", "b"], "n": [1, None, 0]})
        >>> frame.aa.aggregate("engine", rules={"n": "sum"})["n"].tolist()
        [<NA>, 0.0]
        >>> days = pd.DataFrame({"date": pd.date_range("2026-11-02", periods=10), "n": 1})
        >>> days.aa.aggregate(freq="W", rules={"n": "sum"}).iloc[:, :2]
                date  n
        0 2026-11-08  7
        1 2026-11-15  3
        >>> sums = frame.aa.aggregate("engine", skip_missing=True, rules={"n": "sum"})
        >>> sums["n"].tolist(), sums["n_coverage"].tolist()
        ([1.0, 0.0], [0.5, 1.0])
        """
        if freq is not None:
            by = period_groupers(self._frame, by, freq)
        return aggregate(self._frame, by, columns, skip_missing, rules or {}, observed, status)

    def complete(
        self, *, availability: pd.DataFrame | None = None, **levels: object
    ) -> pd.DataFrame:
        """Add a row for each combination of key values that the frame lacks.

        For example, ``complete(engine=["chatgpt", "claude"])`` combines both engines with all
        values of the other key columns. The added rows come last. Their other columns are missing.

        Three new columns say for each row whether it was measured, and if not, why:
        ``availability``, ``availability_cause`` and ``availability_reason``. `aggregate` reads
        these columns and never counts an added row as 0. A sum skips added rows of unknown
        availability; the sum of a group with only such rows is missing, with status ``unknown``.

        Parameters
        ----------
        availability : pandas.DataFrame, optional
            ``tables.availability`` of the response that the frame is from. Rows without a
            measurement then have the availability that the response states for their engine, such
            as ``not_applicable``.
        **levels
            For each column to complete, the values that it should have, such as
            ``engine=options.engines["engine"]``.

        Returns
        -------
        pandas.DataFrame
            The rows, numbered from 0; named levels of the index are columns.

        Raises
        ------
        ItemNotFound
            If there is no such column.
        AvailabilityError
            If a value in ``levels`` does not fit its column.

        Examples
        --------
        >>> frame = pd.DataFrame({"engine": ["chatgpt"], "n": [3]})
        >>> frame.aa.complete(engine=["chatgpt", "claude"]).iloc[:, :4]
            engine     n availability availability_cause
        0  chatgpt     3    available               <NA>
        1   claude  <NA>      unknown             no_row
        """
        return reshape.complete(self._frame, levels, availability)

    def merge(
        self, right: pd.DataFrame, how: str = "inner", on: Any = None, **options: Any
    ) -> pd.DataFrame:
        """Merge like `pandas.DataFrame.merge`, and keep the metadata of both frames.

        The plain ``left.merge(right)`` of pandas keeps the metadata of ``left`` only if ``right``
        has none.

        Each column keeps its metadata under its new name, suffixes included. The sources of both
        frames are kept. If some rows have no match, the columns from the other frame are
        ``partial`` with the cause ``no_row``. If no row has a match, a warning says so.

        If the merge repeats rows of a frame, `aggregate` still counts each of them once.

        Parameters
        ----------
        right : pandas.DataFrame
            The other frame, such as one read from a CSV file; it need not have metadata.
        how, on, **options
            As in `pandas.DataFrame.merge`, such as ``left_on``, ``right_on`` and ``validate``.

        Returns
        -------
        pandas.DataFrame
            A new frame.

        Raises
        ------
        ArgumentError
            If pandas refuses the merge. If no key is named and pandas would join on measured
            numbers.
        ItemNotFound
            If a key is no column of its frame.
        MetadataError
            If a frame's metadata is damaged, or newer than this version can read.

        Examples
        --------
        >>> left, right = pd.DataFrame({"k": [1, 2]}), pd.DataFrame({"k": [1], "n": [5]})
        >>> left.aa.merge(right, how="left", on="k")
           k    n
        0  1  5.0
        1  2  NaN
        """
        return merge.merge(self._frame, right, how=how, on=on, **options)

    def rename(self, mapper: Any = None, **options: Any) -> pd.DataFrame:
        """Rename like `pandas.DataFrame.rename`; each column keeps its metadata.

        Parameters
        ----------
        mapper, **options
            As in `pandas.DataFrame.rename`, such as ``columns`` and ``errors``.

        Returns
        -------
        pandas.DataFrame
            A new frame.

        Raises
        ------
        KeyError
            If ``errors="raise"`` and the frame lacks a column to rename.
        MetadataError
            If the frame's metadata is damaged, or newer than this version can read.

        Examples
        --------
        >>> pd.DataFrame({"n": [1]}).aa.rename(columns={"n": "m"}).columns.tolist()
        ['m']
        """
        return merge.rename(self._frame, mapper, **options)

    def adopt(self, *frames: pd.DataFrame) -> pd.DataFrame:
        """Restore the metadata of columns after steps that lost it.

        Pass the frames from before those steps. For each column without metadata, the first of
        these frames is used that has a column with the same name and the same values. Rows are
        matched by their key, or by their index labels. A column that was overwritten or summed has
        other values, and so gets no metadata.

        If some rows have no match and no value in a column, the column's status is ``partial``,
        with the cause ``no_row``.

        Parameters
        ----------
        *frames : pandas.DataFrame
            The frames before those steps.

        Returns
        -------
        pandas.DataFrame
            A new frame with the same data.

        Raises
        ------
        MetadataError
            If a frame's metadata is damaged, or newer than this version can read.

        Examples
        --------
        >>> frame = pd.DataFrame({"n": [1]})
        >>> frame.merge(pd.DataFrame({"n": [1], "m": [2]})).aa.adopt(frame).columns.tolist()
        ['n', 'm']
        """
        return merge.adopt(self._frame, frames)

    def to_long(self, columns: Names | None = None) -> pd.DataFrame:
        """Reshape to one row per number, with its value, unit and availability.

        To pivot a table, pivot this: once with ``values="value"``, and once with
        ``values="availability"``, which says of each cell whether it was measured.

        Parameters
        ----------
        columns : str or list of str, optional
            The numeric columns to reshape. By default all that are not part of the key. The other
            columns identify the rows. If one of them has the name of an added column, such as
            ``value``, it is renamed to ``value_``.

        Returns
        -------
        pandas.DataFrame
            The identifying columns, then ``variable``, ``value``, ``unit``, ``availability``,
            ``availability_cause`` and ``availability_reason``. Values are Int64 if all the columns
            are of integers, else Float64.

        Raises
        ------
        ItemNotFound
            If there is no such column.
        AvailabilityError
            If a column holds no numbers.
        NotWritten
            If an integer is too large for Float64 to hold exactly.

        Examples
        --------
        >>> frame = pd.DataFrame({"engine": ["chatgpt"], "n": [3], "m": [4]})
        >>> frame.aa.to_long()[["engine", "variable", "value", "availability"]]
            engine variable  value availability
        0  chatgpt        n      3      unknown
        1  chatgpt        m      4      unknown
        """
        return reshape.to_long(self._frame, columns)

    def with_context(self) -> pd.DataFrame:
        """Return the frame with new columns for the host, window (days) and filters of the request.

        Returns
        -------
        pandas.DataFrame
            The frame with these columns before its own:

            - ``host`` and ``days``;
            - ``window_start`` and ``window_end``, missing where the response does not give them;
            - ``filter_engine``, ``filter_topic``, ``filter_category`` and ``filter_brand``, missing
              where nothing was filtered;
            - ``fetched_at``.

        Raises
        ------
        AvailabilityError
            If the frame was not read from exactly one response, or already has such a column.
        """
        return reshape.with_context(self._frame)

    def interval(
        self,
        column: str,
        by: By = None,
        cluster: str | None = None,
        panel: str | None = None,
        level: float = LEVEL,
        *,
        rules: Rules | None = None,
    ) -> pd.DataFrame:
        """Compute confidence intervals of a rate or mean.

        With ``cluster="prompt_id"``, the rows of each group give one estimate, with an interval
        that answers one of two questions:

        - ``panel="sampled"`` (the default): what is the rate for *prompts like these*? The prompts
          are a sample, so their differences are part of the error.
        - ``panel="fixed"``: what is the rate for exactly *these prompts*? Only the answers to each
          prompt are a sample, so the interval is usually narrower than Wilson's.

        Without ``cluster``, each row has its own interval: Wilson's score interval. It assumes that
        the counted answers are independent, but repeated answers to one prompt are not. For
        *prompts like these* Wilson's interval is then too narrow. In simulations (25 prompts, 30
        answers each) the 95 % interval covered the true rate in only 30 to 68 % of samples.

        Clusters must not depend on each other: paraphrases of one prompt belong in one cluster. Do
        not use this method for counts that have no denominator. To compare two windows, use
        `compare`; do not look whether their intervals overlap.

        Parameters
        ----------
        column : str
            A column whose aggregation rule is a ratio or a mean, or a column of true and false.
        by : str, pandas.Grouper or list of them, optional
            What to group by, with one estimate per group; needs ``cluster``. By default all rows
            are one group.
        cluster : str, optional
            The column of clusters, i.e. of rows that belong together. For example, ``prompt_id``
            joins all answers to one prompt.
        panel : {"sampled", "fixed"}, optional
            Which of the two questions to answer; ``sampled`` by default.
        level : float
            The confidence level.
        rules : dict, optional
            As for `aggregate`.

        Returns
        -------
        pandas.DataFrame
            For a column ``x``, with ``cluster``, one row per group: the key, ``x``, ``x_low``,
            ``x_high``, ``x_n`` (Σn), ``x_deff`` (missing for means), ``x_clusters``, ``x_method``
            and ``x_verdict``. The verdict is the interval in words, or "cannot say" and why, such
            as fewer than 5 prompts.

            Without ``cluster``: ``x_low`` and ``x_high``, with the frame's index. They are missing
            where the numerator or denominator was not measured, the denominator is 0, or the
            numerator exceeds it.

        Raises
        ------
        ItemNotFound
            If there is no such column.
        AvailabilityError
            If the column is no rate or mean. If a row with a number has no cluster. If the
            numerator exceeds the denominator in every row. If no group has enough clusters.
        ValueError
            If the level is not between 0 and 1. If the panel is unknown. If ``by`` or ``panel`` is
            given without ``cluster``.

        Notes
        -----
        Prompt i of the k prompts has nᵢ answers, of which yᵢ are hits (for a mean, yᵢ is their
        sum). The estimate of a group is ŷ = Σyᵢ/Σnᵢ.

        Sampled prompts: the linearised variance V = k/(k-1) · Σ(yᵢ-ŷnᵢ)²/(Σnᵢ)² gives the design
        effect deff = V·Σn/(ŷ(1-ŷ)) (Kish, *Survey Sampling*, 1965). The interval of a rate is
        Wilson's on the effective sample size Σn/deff, with a quantile t of Student's t distribution
        (Kott & Carr, *Journal of Official Statistics* 13, 1997; compared by Franco, Little, Louis &
        Slud, *Journal of Survey Statistics and Methodology* 7, 2019). The interval of a mean, such
        as an average position, is ŷ ± t·√V.

        The degrees of freedom are k-1. They are fewer if few prompts have most of the answers,
        hits, misses or variance. For each x of these four, (Σx)²/Σx² is an effective number of
        prompts (for answers, less 1). The smallest of the four is taken (Carter, Schnepel &
        Steigerwald, *Review of Economics and Statistics* 99, 2017).

        Fixed prompts: each prompt is a stratum, and V = Σ(nᵢ/Σn)²·p̃ᵢ(1-p̃ᵢ)/nᵢ. Here p̃ᵢ is the
        rate of prompt i with one more answer, which counts as much as the overall rate.

        Simulations used beta-binomial prompts: 5 to 200 prompts, equal and very unequal numbers of
        answers, correlations from 0 to 0.8, rates from 2 to 98 %. The 95 % interval of sampled
        prompts covers 93 % or more. It covers more than 97.5 % where few prompts have any hit or
        there are only 5 prompts.

        Examples
        --------
        >>> frame = pd.DataFrame({"prompt_id": [*"aabbccddee"], "named": [True] * 4 + [False] * 6})
        >>> found = frame.aa.interval("named", cluster="prompt_id")
        >>> found[["named", "named_low", "named_high", "named_clusters"]].round(2)
           named  named_low  named_high  named_clusters
        0    0.4       0.03        0.93               5
        """
        from aatoolkit.stats.interval import interval

        return interval(
            self._frame, column, level, by=by, cluster=cluster, panel=panel, rules=rules
        )

    def compare(
        self,
        baseline: pd.DataFrame | Literal["previous"],
        column: str | Sequence[str],
        by: By = None,
        pair: str | None = None,
        cluster: str | None = None,
        correct: str | None = "holm",
        level: float = LEVEL,
        *,
        rules: Rules | None = None,
    ) -> pd.DataFrame:
        """Compare a rate or mean with that of another frame, such as an earlier window.

        The test depends on the prompts:

        - Paired (``pair="prompt_id"``): each prompt that both frames have is compared with itself.
        - Two samples (``cluster="prompt_id"``): for frames with different prompts or hosts.
        - Two samples of days (``cluster="date"``): rates by day, without prompts, where a column of
          days is in the key. Neighbouring days may be alike; fewer than 5 days cannot say.
        - Neither, for frames with no prompts or days: all answers are assumed to be independent,
          and ``why`` and ``method`` say so. Answers to repeated prompts are not: expect false
          alarms.

        The verdict is "up", "down", "no evidence" or "cannot say". "No evidence" does not mean that
        nothing changed: a change smaller than ``detectable`` may be missed. The verdict is "cannot
        say" with fewer than 5 prompts, or if one prompt has most of the answers. A verdict says
        that a rate changed, not why.

        Some frames cannot be compared: one was not measured, their windows (days) overlap, or their
        prompts differ. The column ``why`` then says so.

        A prompt id is of its host: prompts of two hosts (by the column ``host``, else by the
        responses) are never paired, and rows of several hosts have clusters by host and prompt.

        To look for differences in many subsets, compare all of them in one call. Their p-values are
        then adjusted together.

        Parameters
        ----------
        baseline : pandas.DataFrame or "previous"
            The frame to compare with; it has the same columns. The change is the value of this
            frame minus that of the baseline. With ``"previous"``, the baseline is in this frame's
            own columns ``previous_…``, which ``ranking_prompts`` has, for example.
        column : str or list of str
            What is compared: columns whose rule is a ratio or a mean, columns of true and false, or
            counts. Counts have a verdict only if their rows are paired or clustered.
        by : str or list of str, optional
            What to group by, with one comparison per group. A group that only one frame has cannot
            be compared.
        pair, cluster : str, optional
            ``pair`` is the column by which rows are paired. ``cluster`` is the column of clusters
            of two samples. By default ``prompt_id``, if both frames have this column: as ``pair``
            if any prompt is in both frames, else as ``cluster``. Otherwise, for a rate or mean, the
            days of the key. For counts name them, as in ``cluster="date"``: the means of a day are
            then compared, not the totals.
        correct : {"holm", "bh", None}
            How p-values are adjusted over all rows of the result. Holm's method limits the
            probability of at least one false alarm. Benjamini and Hochberg's method (``bh``) limits
            the expected share of false alarms. None does not adjust them.
        level : float
            The confidence level; "up" and "down" need an adjusted p-value below 1 - level.
        rules : dict, optional
            As for `aggregate`.

        Returns
        -------
        pandas.DataFrame
            One row per measure and group: ``measure``, the key, ``before``, ``after``, ``change``
            (this frame less the baseline), ``low`` and ``high`` (its interval), ``p``,
            ``p_adjusted``, ``n_before``, ``n``, ``clusters``, ``detectable``, ``verdict``
            ("up", "down", "no evidence" or "cannot say"), ``why`` and ``method``.

            With pairs, ``before`` and ``after`` cover only the prompts on both sides.

            If two hosts, brands or engines are compared, their names replace ``before`` and
            ``after`` as column names. There are then columns ``host``, ``brand`` or ``engine``,
            ``baseline_…`` and ``n_baseline``; "up" means higher than the baseline, "down" lower.

        Raises
        ------
        AvailabilityError
            If the column is no rate, mean or count.
        ValueError
            If the level is not between 0 and 1. If the correction is unknown. If both ``pair`` and
            ``cluster`` are given.
        ItemNotFound
            If there is no such column, or no column ``previous_…`` beside it.

        Notes
        -----
        Prompt i of the k prompts has nᵢ answers, of which yᵢ count (for a mean, yᵢ is their sum).
        The rate or mean of a frame is R = Σyᵢ/Σnᵢ, a ratio estimator.

        - Paired: zᵢ is (yᵢ-Rnᵢ)/Σn in this frame less the same in the baseline. The variance of the
          change is k/(k-1)·Σzᵢ² (Kish, *Survey Sampling*, 1965), and Student's t tests it.
        - Two samples: the variances of both ratio estimators are added, for Welch's t test.
        - Days: the same, with the long-run variance of the days where it is the larger.
        - Neither: Newcombe's interval (*Statistics in Medicine* 17, 1998) and the z test of two
          proportions; for means over rows, Welch's t test.

        The degrees of freedom are the effective number of prompts that carry the answers and the
        variance (Satterthwaite), at most k-1.

        ``detectable`` is the change that the same t test finds in 80 % of such samples (Miller,
        "Adding Error Bars to Evals", 2024). If p-values are adjusted, it is computed with α divided
        by the number of rows. It is larger with few prompts, because then the standard error is
        uncertain. It is also larger with paired prompts of different rates, because a rate near 0
        or 1 changes less than a rate near 0.5. If some prompts have 2.7 times the answers of
        others, the test finds such a change in only 70 to 80 % of samples. ``detectable`` is
        missing if no rate can change so far.

        To show a change of 5 percentage points, you need (``detectable`` / 0.05)² times as many
        answers. With paired prompts that have equally many answers, ask the same prompts more
        often, as in longer windows. With two samples, ask more prompts.

        Examples
        --------
        >>> before = pd.DataFrame({"prompt_id": [*range(8)] * 10, "named": [False, True] * 40})
        >>> now = before.assign(named=[False, True, True, True] * 20)
        >>> found = now.aa.compare(before, "named").iloc[0]
        >>> float(found["before"]), float(found["after"]), found["verdict"]
        (0.5, 0.75, 'no evidence')
        """
        from aatoolkit.stats.compare import compare

        return compare(
            self._frame,
            _baseline_frame(baseline),
            column,
            by,
            pair=pair,
            cluster=cluster,
            correct=correct,
            level=level,
            rules=rules,
        )

    def decompose(
        self,
        baseline: pd.DataFrame | Literal["previous"],
        column: str,
        by: str = "prompt_id",
        level: float = LEVEL,
        *,
        rules: Rules | None = None,
    ) -> pd.DataFrame:
        """Split a change of a rate into changed rates and changed numbers of answers per prompt.

        The change is the sum of four parts:

        - ``rate``: the rates of the prompts changed.
        - ``mix``: the same prompts were asked more or less often.
        - ``entered``: some prompts are in this frame only.
        - ``left``: some prompts are in the baseline only.

        Only ``rate`` has a sampling error. Its interval is for exactly these prompts, and assumes
        that answers to one prompt are independent. A changed mix of engines within a prompt is part
        of ``rate``. The other parts only depend on which prompts were asked, and how often. For
        conclusions about other prompts than these, use `compare`.

        Parameters
        ----------
        baseline : pandas.DataFrame or "previous"
            The frame to compare with, as for `compare`.
        column : str
            A column whose rule is a ratio or a mean.
        by : str
            The column whose values the change is split over, such as prompts.
        level : float
            The confidence level.
        rules : dict, optional
            As for `aggregate`.

        Returns
        -------
        pandas.DataFrame
            One row per part (``rate``, ``mix``, ``entered``, ``left``, ``total``): ``effect``,
            ``low``, ``high``, ``p``, ``n``, ``clusters``, ``verdict``, ``why``, ``method``.

        Raises
        ------
        AvailabilityError
            If there is no such column, or it is no rate or mean.
        ValueError
            If the level is not between 0 and 1.

        Notes
        -----
        Let wᵢ be the share of a prompt in all answers, rᵢ its rate, and R̄ the mean of both overall
        rates. A prime marks a value of this frame, after the change.

        - ``rate``: Σ ½(wᵢ+wᵢ')·(rᵢ'-rᵢ) over the prompts in both frames;
        - ``mix``: Σ (½(rᵢ+rᵢ')-R̄)·(wᵢ'-wᵢ) over the same prompts;
        - ``entered``: Σ wᵢ'(rᵢ'-R̄) over the prompts in this frame only;
        - ``left``: -Σ wᵢ(rᵢ-R̄) over the prompts in the baseline only.

        The method is that of Kitagawa, *Journal of the American Statistical Association* 50, 1955.
        Subtracting R̄ measures the rate of each entering or leaving prompt relative to the overall
        rate.

        Examples
        --------
        >>> before = pd.DataFrame({"prompt_id": [*"aabb"], "named": [True, False, True, True]})
        >>> now = pd.DataFrame({"prompt_id": [*"aaab"], "named": [True, False, True, True]})
        >>> now.aa.decompose(before, "named")[["part", "effect"]].round(3)
              part  effect
        0     rate   0.104
        1      mix  -0.104
        2  entered     0.0
        3     left     0.0
        4    total     0.0
        """
        from aatoolkit.stats.compare import decompose

        return decompose(
            self._frame, _baseline_frame(baseline), column, by, level=level, rules=rules
        )

    def stability(
        self,
        column: str = "mentioned",
        by: Sequence[str] = ("prompt_id", "engine"),
        level: float = LEVEL,
    ) -> pd.DataFrame:
        """Measure how often repeated answers to the same prompt agree.

        Answers of one engine to one prompt are repeats, and form a cell. ``by`` has the columns
        that define cells.

        - ``agreement``: the share of pairs of answers in a cell that have the same outcome,
          averaged over cells with two or more answers.
        - ``icc``: the intra-class correlation of the answers in a cell.

        If the agreement is near 1, the correlation says little, because there is hardly any
        variance.

        Do not use this method for a period in which the rate changed, because a change lowers the
        agreement.

        `aatoolkit.stats.samples` needs the correlation of answers to one prompt. Compute it here
        with ``by=["prompt_id"]``, and try both ends of its interval, too.

        Parameters
        ----------
        column : str
            A column of true and false, such as `aatoolkit.stats.answers` has.
        by : sequence of str
            The columns in which two answers must be equal to be repeats of each other.
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
            If there is no such column, or it does not hold true and false.
        ValueError
            If the level is not between 0 and 1.

        Notes
        -----
        ``icc`` is computed by analysis of variance (Ridout, Demétrio & Firth, *Biometrics* 55,
        1999). The clusters of both intervals are the values of the first column of ``by``. The
        interval of ``agreement`` is computed as `interval` does for a rate. The interval of ``icc``
        is from the jackknife over clusters, on Fisher's scale, with Student's t. In simulations of
        10 to 60 prompts it covers 95 to 98 %.

        Examples
        --------
        >>> import aatoolkit as aa
        >>> found = aa.stats.answers(aa.demo().read("chats")).aa.stability()
        >>> bool(0.5 < found["agreement"].item() < 1)
        True
        """
        from aatoolkit.stats.interval import stability

        return stability(self._frame, column, by, level)

    def changes(
        self, column: str, date: str = "date", level: float = LEVEL, *, rules: Rules | None = None
    ) -> pd.DataFrame:
        """Detect the days on which a rate, mean or count changed.

        The days are split into segments of five days or more, each with one rate. A change is the
        first day of a new segment. It is significant if splits fit the days much better than they
        fit the same days in shuffled order. If neighbouring days are correlated, steps also arise
        by chance. The verdict is then "cannot say", unless the p-value is very small.

        Do not use this method for series with a strong weekly pattern or a slow trend: it reports
        false changes in them, or misses true ones. A change does not prove that an action worked.
        Something else may have changed that day, such as the mix of prompts or engines.
        `aatoolkit.stats.effect` compares with prompts or brands that the action did not concern.

        Parameters
        ----------
        column : str
            A rate with a declared numerator and denominator, a mean, or a count. For a count, a day
            without a row, or with a missing cell, is a gap.
        date : str
            The column of days, such as ``bucket_start``; at least 20 of them.
        level : float
            The confidence level.
        rules : dict, optional
            As for `aggregate`.

        Returns
        -------
        pandas.DataFrame
            One row per change, or one row that says that there is none:

            - ``day``: the first day with the new rate; ``first_day`` and ``last_day`` are its
              interval;
            - ``before``, ``after`` and ``change``;
            - ``p``, ``n`` and ``clusters``;
            - ``from_day`` and ``to_day``: the first day with the old rate, and the last with the
              new rate;
            - ``verdict``, ``why`` and ``method``.

        Raises
        ------
        AvailabilityError
            If there is no such column. If it is no rate, mean or count. If there are too many days.
        ValueError
            If the level is not between 0 and 1.

        Notes
        -----
        The cost of a segment is -2 times the log likelihood of its counts, which is binomial for a
        rate. So days with many answers weigh more, and days without answers have no weight.

        The test: a split reduces the cost; this reduction is its gain. The gains of the best split
        and of the best two splits are each divided by the long-run variance of the days about their
        segments. This variance depends on how much days vary and how alike neighbouring days are
        (Newey & West, *Econometrica* 55, 1987). The larger of the two ratios is compared with that
        of 499 shuffled series, the same in every call. Shuffling keeps blocks of neighbouring days
        (∛days long) together.

        The number of segments: a further segment must have a minimum gain. It is the quantile of
        the gain of one split in the shuffled series, times the remaining variance. For each number
        of segments, the best ones are found exactly (Auger & Lawrence, *Bulletin of Mathematical
        Biology* 51, 1989).

        The interval of a day is a credible interval: with a flat prior, it contains 95 % (the
        level) of the likelihood, which is tempered by the long-run variance. The neighbouring
        changes are held fixed. Its coverage was checked only roughly. ``before`` and ``after`` are
        the rates of the best split, so the change is somewhat overstated.

        Simulations of flat series (independent and overdispersed answers, rates of 1 and 99 %,
        growing and weekly numbers of answers): mostly at most 6.7 % of them are called changed.
        Series of a year were simulated less closely. Fewer than 150 days do not show well how
        correlated they are, and need a clearer step. Of series of 60 to 120 days with an
        autocorrelation of 0.8 or 0.9, some 2 to 10 % are called changed. A step of 12 points amid
        90 independent days of 15 answers is detected in some 55 %. Ups and downs that two changes
        cannot describe may hide each other.

        Examples
        --------
        >>> import aatoolkit as aa
        >>> trend = aa.demo().read("overview", days=90)["overview_trend"]
        >>> found = trend.aa.changes("mention_rate")
        >>> set(found["verdict"]) <= {"up", "down", "no evidence", "cannot say"}
        True
        """
        from aatoolkit.stats.changes import changes

        return changes(self._frame, column, date, level, rules)

    def rank(
        self,
        column: str,
        by: str,
        cluster: str = "prompt_id",
        level: float = LEVEL,
        *,
        rules: Rules | None = None,
    ) -> pd.DataFrame:
        """Rank members (groups such as brands), and give each an interval of ranks.

        A member ranks below all members that significantly exceed it, and above all members that it
        significantly exceeds. The ranks in between are its interval. All differences are tested
        together, so the confidence level holds for all intervals together.

        A table lists only members that answers contain, so a member without a row for a prompt
        counts as 0 for that prompt. Use complete tables, not their first rows. Do not use this
        method if you selected the members by their high values.

        Parameters
        ----------
        column : str
            A count, or a rate with a declared numerator and denominator.
        by : str
            The column of the members to rank.
        cluster : str
            The column of clusters, such as prompts; it needs at least 5 different values.
        level : float
            The confidence level of all intervals together.
        rules : dict, optional
            As for `aggregate`.

        Returns
        -------
        pandas.DataFrame
            One row per member, by rank: the key, ``value``, ``rank``, ``rank_low``, ``rank_high``,
            ``n``, ``clusters``, ``verdict`` and ``method``.

        Raises
        ------
        AvailabilityError
            If there is no such column. If it is no count or rate. If there are more than 500
            members, or too few clusters.
        ValueError
            If the level is not between 0 and 1.

        Notes
        -----
        The total or rate of a member is a sum over clusters such as prompts. The largest
        standardised difference between two members is compared with its quantile in 999 random
        choices of signs and weights of the prompts, a multiplier bootstrap. The choices are the
        same in every call. This is the method of Mogstad, Romano, Shaikh & Wilhelm, "Inference for
        ranks", *Review of Economic Studies* 91, 2024.

        If there are few prompts, that quantile is replaced by the quantile of Student's t with the
        same tail probability. The intervals are then wide. In simulations of 8 to 100 prompts, ties
        included, all intervals together hold the true ranks in 95 % of samples or more.

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
        from aatoolkit.stats.members import rank

        return rank(self._frame, column, by, cluster, level, rules)

    def concentration(
        self,
        column: str,
        by: str | Sequence[str] | None = None,
        *,
        top: int = 5,
        level: float = LEVEL,
    ) -> pd.DataFrame:
        """Measure how concentrated a count is on few members (groups such as brands).

        - ``hhi``: the Herfindahl index, without its bias; it is 1 if one member has everything.
        - ``effective``: the effective number of members, 1 divided by the index.
        - ``top_share``: the share of the largest few members. It depends on the total, so compare
          it only between groups of similar totals.

        The intervals assume that the counted items, such as citations, are independent. Citations
        in one answer, and answers to one prompt, are not: the true intervals are at least as wide.
        Do not use this method on the first rows of a longer table.

        Parameters
        ----------
        column : str
            The column of counts, with one row per member.
        by : str or list of str, optional
            What to group by, with one result per group. By default all rows are one group.
        top : int
            How many members ``top_share`` adds up.
        level : float
            The confidence level.

        Returns
        -------
        pandas.DataFrame
            One row per group: ``hhi``, ``effective``, ``top_share``, each with ``_low`` and
            ``_high``, ``n``, ``members``, ``verdict``, ``method``. If the total is below 20, the
            verdict is "cannot say".

        Raises
        ------
        AvailabilityError
            If there is no such column, or it is no count.
        ValueError
            If ``top`` is not positive, or the level is not between 0 and 1.

        Notes
        -----
        Let nᵢ be the count of a member and N the total. ``hhi`` is Σnᵢ(nᵢ-1)/(N(N-1)) (Simpson,
        *Nature* 163, 1949). ``effective`` is 1/``hhi`` (Hill, *Ecology* 54, 1973).

        Intervals are from 499 multinomial resamples, the same in every call, centred at the
        estimate. The ends of ``effective`` are 1 divided by the ends of the index. The largest
        members of a sample lead in part by luck, the more so the more members tie. So the lower end
        of ``top_share`` takes the leaders of one half of the sample, and is their share in the
        other half.

        Examples
        --------
        >>> frame = pd.DataFrame({"site": [*"abcd"], "n": [50, 50, 50, 50]})
        >>> float(round(frame.aa.concentration("n")["effective"].item(), 1))
        4.1
        """
        from aatoolkit.stats.members import concentration

        return concentration(self._frame, column, by, top=top, level=level)

    def overlap(
        self,
        column: str,
        between: str = "engine",
        cluster: str = "prompt_id",
        *,
        repeat: str = "chat_id",
        level: float = LEVEL,
    ) -> pd.DataFrame:
        """Measure how much the lists of two engines overlap, such as the sources they cite.

        Two answers of the same engine to one question do not cite the same sources either. To tell
        engines apart, their overlap must be compared with the overlap of repeated answers.
        Therefore two overlaps are returned:

        - ``jaccard``: the overlap of two answers by different engines.
        - ``ceiling``: the overlap of two answers by the same engine, the mean of the two engines.
        - ``gap``: the first overlap minus the ceiling, over the prompts that have both.

        The verdict is about the gap. "No evidence" does not prove that the gap is 0: a gap smaller
        than ``detectable`` may be missed.

        An answer that lists nothing has no row, and is left out. Do not compare engines that were
        asked at different times, as the gap may then come from the times.

        Parameters
        ----------
        column : str
            The column of the entries of the lists, such as ``source_domain``; one row per entry.
        between : str
            The column of what is compared in pairs.
        cluster : str
            The column of clusters, such as prompts, over which the intervals are computed.
        repeat : str
            The column that identifies a single answer, i.e. a list.
        level : float
            The confidence level.

        Returns
        -------
        pandas.DataFrame
            One row per pair: the key, ``jaccard`` with ``_low`` and ``_high``, ``ceiling``, ``gap``
            with ``_low`` and ``_high``, ``p``, ``p_adjusted``, ``detectable``, ``n`` (answers),
            ``clusters``, ``verdict``, ``why`` and ``method``. Overlaps are fractions from 0 to 1.
            The verdict is "less alike" or "more alike" than repeats, "no evidence" or "cannot say".

        Raises
        ------
        ItemNotFound
            If there is no such column.
        AvailabilityError
            If a row has no engine, prompt or answer. If an answer is of several engines or prompts.
            If there are more than 40 engines.
        ValueError
            If the level cannot be used.

        Notes
        -----
        ``jaccard`` is |A∩B| / |A∪B| of the sets of two answers (Jaccard, *New Phytologist* 11,
        1912): the mean over all pairs of answers to a prompt, then over prompts with equal weights.
        ``ceiling`` and ``gap`` use only the prompts that both engines answered twice or more. If an
        engine gave more than 20 answers to a prompt, 20 are used, evenly spaced.

        The intervals are Student's t over k prompts (at least 5), mean ± t(k-1)·s/√k. They are for
        prompts like these, i.e. the prompts are a sample. P-values are adjusted over all pairs of
        engines by Holm's method.

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
        from aatoolkit.stats.members import overlap

        return overlap(self._frame, column, between, cluster, repeat=repeat, level=level)

    def plot(
        self,
        kind: str | None = None,
        *,
        x: str | None = None,
        y: Names | None = None,
        color: str | None = None,
        freq: str | None = None,
        top: int | None = None,
        ax: Axes | None = None,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
        theme: str = "auto",
        interactive: bool = False,
    ) -> Any:
        """Draw the picture that fits the frame: a trend, a ranking, shares, a heat map, a gap ….

        The metadata of the columns decide the kind of picture. Values that were not measured are
        hatched, or leave a gap in a line; they are never drawn as zero. Units, sample sizes and the
        source are written into the picture.

        Parameters
        ----------
        kind : str, optional
            ``line``, ``bars``, ``shares``, ``heatmap``, ``gap``, ``figures``, ``metrics``,
            ``verdicts``, ``counts``. For results of statistics: ``comparison``,
            ``decomposition``, ``ranks``, ``overlap``, ``effect``, ``concentration``, ``samples``,
            ``changes``, ``stability``, ``association`` or ``stages``. By default the first kind
            that fits.
        x : str, optional
            The column along the axis, such as a time, a brand or an engine. Each of its values has
            one mark (a bar, a point or a column of cells). Rows that share a mark are aggregated as
            by ``aggregate(skip_missing=True)``; the picture says what is partial.
        y : str or list of str, optional
            The column to draw. Two columns make a gap; several of one unit make lines.
        color : str, optional
            The column whose values are the lines, the segments of bars, or the rows of a heat map.
        freq : str, optional
            First aggregate by periods, such as ``W`` (weeks) or ``MS`` (months), as
            ``aggregate(freq=…, skip_missing=True)`` does. The periods are along x. A column given
            as ``x`` or ``color`` splits each period. If rows are events, such as answers, they are
            counted. Rates of days with few answers are drawn by week by default; ``D`` draws the
            days.
        top : int, optional
            How many bars, rows or series to draw at most. The title says how many there are.
        ax : matplotlib.axes.Axes, optional
            Where to draw. By default a new figure, which a notebook shows without pyplot;
            ``ax.figure.savefig("it.png")`` saves it.
        title : str, optional
            The title, instead of the default one.
        figsize : tuple of float, optional
            Width and height of the new figure in inches. With only a few rows it is less high.
        theme : {"auto", "light", "dark"}
            ``auto`` is the theme set by ``aa.set_theme``. If none was set, it is dark if the
            background of matplotlib's style is dark. With ``ax``, the background of the axes
            decides.
        interactive : bool, default False
            Whether to return a plotly figure with the same content (``pip install
            "aatoolkit[interactive]"``). A mark under the mouse shows its number, interval, counts
            and availability. The figure needs no network.

        Returns
        -------
        matplotlib.axes.Axes or plotly.graph_objects.Figure
            The axes given as ``ax``, or new axes; with ``interactive`` a plotly figure. The
            attribute ``kind`` is the kind that was chosen, and ``finding`` says in words what the
            picture shows. A plotly figure has both in ``layout.meta``. The method ``explain(mark)``
            of the axes explains where the number of a mark comes from. If you draw several pictures
            on one ``ax``, it explains the last one.

        Raises
        ------
        ItemNotFound
            If there is no such column.
        AvailabilityError
            If the columns do not fit that kind of picture, or rows that share a mark cannot be
            aggregated.
        ArgumentError
            If there is no such kind or theme, or ``top``, ``ax`` or ``figsize`` cannot be used.
        PackageMissing
            If matplotlib, or plotly for an interactive picture, is not installed; it says what to
            install.

        Notes
        -----
        To title the axes of bars, write ``ax.set_xlabel("Share", labelpad=24)``, which stands below
        the source, and ``ax.set_ylabel("Topic")``. Save with ``bbox_inches="tight"``, so that
        neither is cut.

        In an SVG by ``savefig``, letters are outlines, unless ``matplotlib.rcParams`` has
        ``"none"`` as ``"svg.fonttype"``. In that by ``svg()`` of new axes, text can be selected.

        Examples
        --------
        >>> frame = pd.DataFrame({"engine": ["chatgpt", "claude"], "n": [3, None]})
        >>> frame.aa.plot(y="n")
        <Picture: N by engine: chatgpt: n 3; claude: n no value given>
        """
        with require_package("pictures need", "interactive" if interactive else "plot"):
            from aatoolkit.display.plot.draw import plot

            if interactive:
                from aatoolkit.display.plot.interactive import to_interactive
        if interactive and ax is not None:
            raise ArgumentError(
                "interactive=True draws a figure of its own; leave out ax=", argument="interactive"
            )
        axes = plot(self._frame, kind, x, y, color, freq, top, ax, title, figsize, theme)
        return to_interactive(axes) if interactive else axes

    def to_parquet(self, path: FilePath) -> Path:
        """Write the frame with its metadata to a Parquet file.

        The write is atomic: if it fails, no incomplete file is left.

        Parameters
        ----------
        path : str or path
            The file; its folder is created if it is missing.

        Returns
        -------
        Path
            The file. ``aatoolkit.read_parquet`` and ``pandas.read_parquet`` read it back.

        Raises
        ------
        NotWritten
            If a column cannot be stored as Parquet, or the file cannot be written. An existing file
            then stays as it was.
        """
        return write_parquet(self._frame, path)

    def to_excel(self, path: FilePath) -> Path:
        """Write the frame to a workbook of three sheets: an overview, the data, their columns.

        - ``Overview``: the key figures, a chart, the source, and how to read the data.
        - ``Data``: the rows; ``pd.read_excel(path, sheet_name="Data")`` reads them, if openpyxl is
          installed.
        - ``Columns``: what was not measured, and why.

        Headers of the API's columns are in plain words, such as "Mention rate". Rates are fractions
        in per cent format, and times are in UTC. A missing value is an empty cell. No cell is a
        formula or a link. No number is rounded: if a spreadsheet cannot hold it exactly, it is
        written as text.

        Parameters
        ----------
        path : str or path
            The file, ending in ``.xlsx``; its folder is created if it is missing.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        NotWritten
            If the file's name does not end in ``.xlsx``, or the file cannot be written. An existing
            file then stays as it was.
        PackageMissing
            If xlsxwriter is not installed; it says what to install.

        Examples
        --------
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "n.xlsx")
        >>> pd.read_excel(pd.DataFrame({"n": [1]}).aa.to_excel(path), sheet_name="Data")
           n
        0  1
        """
        return write_workbook([SheetTable("data", "The rows.", self._frame)], path)

    def plain(self) -> pd.DataFrame:
        """Return the frame with ordinary NumPy dtypes, for seaborn, scikit-learn or ``to_sql``.

        - Numbers become ``int64``, or ``float64`` if some are missing.
        - Booleans become ``bool``.
        - Times become ``datetime64`` in UTC without a zone.
        - All other columns become text, with lists as JSON and None for missing values.

        Two kinds of columns become Python objects, with None for missing values: booleans with
        missing values, and integers with missing values that are too large for a float.

        Named levels of the index become columns, and rows are numbered from 0. The result has no
        metadata.

        Examples
        --------
        >>> frame = pd.DataFrame({"k": pd.Categorical(["a", None]), "n": pd.array([1, None])})
        >>> frame.aa.plain().dtypes.astype(str).tolist(), frame.aa.plain()["k"].tolist()
        (['object', 'float64'], ['a', None])
        """
        return views.plain(self._frame)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Export the frame with its metadata as an Arrow stream (the PyCapsule interface).

        Libraries that read Arrow take the accessor itself: ``pyarrow.table(df.aa)``,
        ``polars.DataFrame(df.aa)``, DuckDB. The schema has the same metadata keys as a file of
        `to_parquet`.

        Raises
        ------
        NotWritten
            If a column holds values that Arrow cannot hold.

        Examples
        --------
        >>> import pyarrow as pa
        >>> pa.table(pd.DataFrame({"n": [1]}).aa).column("n").to_pylist()
        [1]
        """
        table = to_arrow_table(self._frame, Path("the frame"))
        return table.__arrow_c_stream__(requested_schema)
