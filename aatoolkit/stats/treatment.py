"""``aa.stats.effect``: the effect of an action, by difference in differences within prompts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date as calendar_date
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit._util.defaults import LEVEL
from aatoolkit._util.text import parse_datetime
from aatoolkit.availability import combine
from aatoolkit.errors import ArgumentError
from aatoolkit.frame.groupby import check_columns, flatten_index
from aatoolkit.stats.estimate import (
    MIN_CLUSTERS,
    NAN,
    Change,
    Comparison,
    Sample,
    check_level,
    estimate_sample,
    has_variation,
    judge_comparisons,
    two_sample_change,
)
from aatoolkit.stats.results import (
    CANNOT_SAY,
    CHANGE_WORDS,
    format_amount,
    format_points,
    make_result,
)
from aatoolkit.stats.sums import ClusterSums, Rules, cluster_sums, refuse_missing_keys, row_clusters
from aatoolkit.stats.trace import (
    FloatArray,
    GroupSums,
    IntArray,
    as_float,
    name_traced_values,
    name_traced_variables,
    record_statistic,
    t_quantile,
    take,
    total_of,
    trace_copy,
    trace_inputs,
    trace_setting,
    untrace,
)

_TREND_TEST_LEVEL = 0.9
"""The one-sided level of the test that an effect is more than a continued trend."""

_MIN_DAYS = 4
"""The minimum number of days before the action for checks of the effect."""

GROUP_NAMES = ("treated", "control")
# Prompt ids, or values by column, which the user gives to select prompts.
PromptSelection = str | Iterable[object] | Mapping[str, object]


@record_statistic("effect", "series")
def effect(
    series: pd.DataFrame,
    since: object,
    treated: PromptSelection,
    control: PromptSelection | None = None,
    *,
    column: str = "mentioned",
    cluster: str = "prompt_id",
    date: str = "date",
    level: float = LEVEL,
    rules: Rules | None = None,
) -> pd.DataFrame:
    """Estimate the effect of an action on a rate, by difference in differences.

    Each prompt is compared with itself. The mean change of the control group stands for what would
    have happened without the action. With the rates r of a prompt i before (0) and after (1) the
    day, and its numbers of answers n:

        effect = Σ_T wᵢ(rᵢ₁ - rᵢ₀) / Σ_T wᵢ - Σ_C wᵢ(rᵢ₁ - rᵢ₀) / Σ_C wᵢ
        wᵢ = nᵢ₁nᵢ₀/(nᵢ₁ + nᵢ₀)

    Σ_T is the sum over treated prompts, Σ_C over control prompts. This is the coefficient of
    "treated and after" in the regression of answers on prompts, period and this indicator (Angrist
    & Pischke, *Mostly Harmless Econometrics*, 2009, 5.2).

    The variance is clustered by prompt (Bertrand, Duflo & Mullainathan, *Quarterly Journal of
    Economics* 119, 2004). It is the sum of the variances of both groups. With dᵢ = rᵢ₁ - rᵢ₀ and
    their weighted mean d, a group of k prompts has the variance k/(k-1) · Σwᵢ²(dᵢ-d)²/(Σwᵢ)². The
    test is Student's t with Welch's degrees of freedom, or fewer if few prompts have most answers.

    The estimate assumes that without the action both groups would have changed alike. No data after
    the day can prove that. Two checks use only the days before. They are the rows below the effect,
    with p-values adjusted by Holm's method:

    - ``pre-trend``: the difference between the linear trends of the two groups, as the effect that
      would be found if these trends merely went on.
    - ``placebo``: the same estimate for an earlier day, on which nothing was done.

    If a check differs significantly from 0, the verdict is "cannot say". It is also "cannot say" if
    a steady trend of the treated prompts may explain the effect. To rule this out, the effect must
    be larger than the continued trends within both periods, by a one-sided test at 10 % (in the
    spirit of Rambachan & Roth, *Review of Economic Studies* 90, 2023). A step of 10 points passes
    this test with some thousands of answers; a mere trend passes it in 8 % of cases at most. An
    effect that builds up slowly looks like a trend. The coverage of intervals is not exactly
    ``level``, as they are read only if the checks pass (Roth, *American Economic Review: Insights*
    4, 2022).

    Do not use it if

    - the treated prompts were chosen because they had just done badly: they recover by themselves;
    - the action also reaches the control prompts;
    - something else happened to one group alone in the window;
    - all treated prompts are of one topic: a shock to this topic looks like an effect.

    With fewer than 5 prompts in a group the verdict is "cannot say".

    Parameters
    ----------
    series : pandas.DataFrame
        Answers or counts with their day, before and after the action, such as `answers` returns.
    since : str, date or pandas.Timestamp
        The day of the action: the first day after, in the time zone of ``date``.
    treated : dict, str or list
        The prompts that the action should move: values of ``cluster``, or values of another
        column, as in ``{"topic": ["pricing"]}``.
    control : dict, str or list, optional
        The prompts that the action should not move; by default all others.
    column : str
        A column of booleans, or a column whose aggregation rule is a ratio or a mean.
    cluster : str
        The column whose values are compared with themselves, such as ``prompt_id``.
    date : str
        The column of days.
    level : float
        The confidence level.
    rules : dict, optional
        Aggregation rules by column, as for ``df.aa.aggregate``.

    Returns
    -------
    pandas.DataFrame
        The effect first, then its checks, with these columns:

        - ``kind``, ``on``: the effect or the check, and its day;
        - ``treated_before``, ``treated_after``, ``control_before``, ``control_after``: means over
          the prompts with answers in both periods, weighted by w;
        - ``change``, ``low``, ``high``: the difference in differences and its interval;
        - ``p``, ``p_adjusted``: p-value, and that of a check after adjustment;
        - ``detectable``: the smallest change that 80 % of such samples show;
        - ``n``, ``clusters``: answers, and prompts of the smaller group;
        - ``verdict``: "up", "down", "no evidence" or "cannot say"; of a check "differs", "no
          evidence" or "cannot say";
        - ``why``, ``method``: texts.

    Raises
    ------
    ItemNotFound
        If there is no such column.
    AvailabilityError
        If the column is no rate or mean, or a row with a number has no prompt or day.
    ArgumentError
        If a group names no prompt of the frame, or the groups share a prompt.
    ArgumentError
        If a group has only some rows of a prompt.
    ArgumentError
        If the level is not between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(3)
    >>> names = [f"p{number}" for number in range(16)]
    >>> index = pd.MultiIndex.from_product([names, pd.date_range("2026-10-01", periods=40)])
    >>> frame = index.to_frame(index=False, name=["prompt_id", "date"])
    >>> acted = frame["prompt_id"].isin(names[:8]) & (frame["date"] >= "2026-10-21")
    >>> frame["mentioned"] = rng.random(len(frame)) < 0.3 + 0.4 * acted
    >>> result = effect(frame, since="2026-10-21", treated=names[:8])
    >>> result[["kind", "verdict"]].head(2).to_numpy().tolist()
    [['effect', 'up'], ['pre-trend', 'no evidence']]
    """
    check_level(level)
    since_day = parse_datetime(since) if isinstance(since, str) else since
    if not isinstance(since_day, calendar_date | np.datetime64) or pd.isna(since_day):
        raise ArgumentError(
            f"since={since!r} is no day in ISO 8601; write it as 2026-11-05", argument="since"
        )
    flat_frame = flatten_index(series)
    action_day = pd.Timestamp(since_day).tz_localize(None).normalize()
    check_columns(flat_frame, [column, cluster, date])
    row_days = pd.to_datetime(flat_frame[date]).dt.tz_localize(None).dt.normalize()
    dated_frame = trace_copy(flat_frame.assign(**{date: row_days}), series)
    prompt_sets = [_select_prompts(dated_frame, cluster, treated, "treated")]
    all_prompts = {*row_clusters(dated_frame, cluster).dropna()}
    prompt_sets.append(all_prompts - prompt_sets[0])
    if control is not None:
        prompt_sets[1] = _select_prompts(dated_frame, cluster, control, "control")
    if shared_prompts := prompt_sets[0] & prompt_sets[1]:
        example_ids = ", ".join(sorted(map(str, shared_prompts))[:3])
        raise ArgumentError(
            f"{len(shared_prompts)} {cluster} are both treated and control, such as {example_ids}"
        )
    sums = cluster_sums(dated_frame, column, date, cluster, rules)
    group_dates = pd.to_datetime(sums.groups.keys[date])
    refuse_missing_keys(
        date, group_dates.isna().to_numpy()[sums.group_ids[sums.sum_position_of_row]]
    )
    group_prompt_days = [
        _prompt_days_of_group(sums, *group_and_prompts, group_dates, action_day)
        for group_and_prompts in zip(GROUP_NAMES, prompt_sets, strict=True)
    ]
    traced_level = trace_setting("level", level)
    group_changes = [change_within_prompts(prompt_days, 0.0) for prompt_days in group_prompt_days]
    diff_in_diffs = [_difference_of_groups("effect", action_day, group_changes, traced_level)]
    diff_in_diffs += _placebo_checks(group_prompt_days, action_day, traced_level)
    comparisons = [
        _make_comparison(diff_in_diff, cluster, sums.is_rate) for diff_in_diff in diff_in_diffs
    ]
    judgements = judge_comparisons(comparisons, level, change_noun="difference")
    effect_row = judgements[0]
    if untrace(effect_row["verdict"]) != CANNOT_SAY:
        p_values = [as_float(row["p_adjusted"]) for row in judgements]
        if doubt_reason := _reason_to_doubt(
            diff_in_diffs, p_values, group_prompt_days, cluster, sums.is_rate, level
        ):
            effect_row |= {"verdict": CANNOT_SAY, "why": f"{doubt_reason}; {effect_row['why']}"}
        elif len(diff_in_diffs) == 1:
            effect_row["why"] += "; too few days before to check that the groups moved alike"
    if excluded_prompt_count := sum(
        group_change.excluded_prompt_count for group_change in group_changes
    ):
        effect_row["why"] += (
            f"; {excluded_prompt_count} {cluster} have answers in one period only and are left out"
        )
    for diff_in_diff, row in zip(diff_in_diffs, judgements, strict=True):
        row |= {"kind": diff_in_diff.kind, "on": diff_in_diff.first_day_after}
        for group_name, group_change in diff_in_diff.change_by_group.items():
            row |= {
                f"{group_name}_before": group_change.before,
                f"{group_name}_after": group_change.after,
            }
    return make_result(
        "effect",
        judgements,
        [sums.metadata],
        combine(sums.availabilities),
        unit=sums.unit,
        level=level,
        column=column,
        by=cluster,
    )


def _make_comparison(diff_in_diff: DiffInDiff, cluster: str, is_rate: bool) -> Comparison:
    """Convert an effect, or the check of its earlier trend, to a `Comparison`.

    `judge_comparisons` then gives it a verdict. ``cluster`` is the name of the column whose values,
    such as prompts, group the rows that depend on each other.
    """
    small_group_texts = [
        f"{group_change.mean_change.clusters:.0f} {group_name} {cluster} have answers before and "
        "after"
        for group_name, group_change in diff_in_diff.change_by_group.items()
        if group_change.mean_change.clusters < MIN_CLUSTERS
    ]
    untested_reason = ""
    if small_group_texts:
        untested_reason = f"{' and '.join(small_group_texts)}; it takes {MIN_CLUSTERS}"
    elif not np.isfinite(diff_in_diff.change.p):
        untested_reason = (
            f"nothing differs between {cluster}, one has most answers, or numbers are too large"
        )
    is_effect_estimate = diff_in_diff.kind == "effect"
    return Comparison(
        change=diff_in_diff.change,
        change_text=", ".join(
            f"{group_name} {format_amount(group_change.before, is_rate)} to "
            f"{format_amount(group_change.after, is_rate)}"
            for group_name, group_change in diff_in_diff.change_by_group.items()
        ),
        method=f"difference in differences within {cluster}, clustered",
        untested_reason=untested_reason,
        is_rate=is_rate,
        is_planned=is_effect_estimate,
        verdict_words=CHANGE_WORDS if is_effect_estimate else ("differs", "differs"),
    )


def _select_prompts(
    flat_frame: pd.DataFrame, cluster: str, selection: PromptSelection, group_name: str
) -> set[Any]:
    """Return the set of prompts that the user's argument ``treated`` or ``control`` selects.

    ``selection`` is that argument; ``group_name`` is the name of the group in errors.
    """
    values_by_column = selection if isinstance(selection, Mapping) else {cluster: selection}
    check_columns(flat_frame, [str(column_name) for column_name in values_by_column])
    is_selected = np.ones(len(flat_frame), bool)
    for column_name, selection_values in values_by_column.items():
        selected_values: Any = (
            selection_values if pd.api.types.is_list_like(selection_values) else [selection_values]
        )
        is_selected &= flat_frame[column_name].isin([*selected_values]).to_numpy(bool)
    prompt_of_row = row_clusters(flat_frame, cluster)
    prompts = {*prompt_of_row[is_selected].dropna()}
    if partly_selected_prompts := prompts & {*prompt_of_row[~is_selected].dropna()}:
        raise ArgumentError(
            f"{len(partly_selected_prompts)} {cluster} are {group_name} in some rows only, such as "
            f"{min(partly_selected_prompts)}; give cluster= a column with other values in the "
            "other rows, such as prompt and engine"
        )
    if not prompts:
        raise ArgumentError(f"{group_name}={selection!r} names no {cluster} that is in the frame")
    return prompts


# --- differences in differences ---------------------------------------------------------------


@dataclass(frozen=True)
class PromptDays:
    """The panel of one group: a numerator y and a denominator n for each prompt and day."""

    group_name: str
    prompt_positions: IntArray  # for each entry, the number of its prompt
    days_from_action: Any  # for each entry, the number of days since the action
    y: Any
    n: Any
    prompt_count: int  # the number of all prompts

    def select(self, is_selected: Any) -> PromptDays:
        """Return a copy with the entries where the boolean ``is_selected`` is True."""
        entry_positions = np.flatnonzero(is_selected)
        days_from_action, y, n = (
            take(entry_values, entry_positions)
            for entry_values in (self.days_from_action, self.y, self.n)
        )
        return PromptDays(
            self.group_name,
            self.prompt_positions[is_selected],
            days_from_action,
            y,
            n,
            self.prompt_count,
        )

    @property
    def days(self) -> FloatArray:
        """The day of each element of the arrays, as the number of days since the action."""
        return untrace(self.days_from_action)  # type: ignore[no-any-return]

    def sum_by_prompt(self, values: Any) -> Any:
        """Return an array with the sum of ``values`` over the entries of each prompt."""
        return GroupSums(self.prompt_positions, self.prompt_count).total(values)


@dataclass(frozen=True)
class GroupChange:
    """How the prompts of a group changed on average, and the means before and after."""

    mean_change: Sample = Sample()  # noqa: RUF009
    before: Any = NAN
    after: Any = NAN
    answer_count: Any = 0.0
    excluded_prompt_count: int = 0  # prompts with answers only before or only after


@dataclass(frozen=True)
class DiffInDiff:
    """The change of the treated group minus the change of the control group."""

    kind: str  # "effect", or the name of a check
    first_day_after: pd.Timestamp | None  # the first day after the change
    change_by_group: dict[str, GroupChange]  # by "treated" and "control"
    change: Change


def _prompt_days_of_group(
    sums: ClusterSums,
    group_name: str,
    prompts: set[Any],
    group_dates: pd.Series,
    action_day: pd.Timestamp,
) -> PromptDays:
    """Return a group's numerators and denominators by prompt and day.

    ``group_dates`` has the date of each group of ``sums``. ``action_day`` is the day of the action,
    from which days are counted.
    """
    prompt_positions = sums.cluster_labels.get_indexer(pd.Index(list(prompts)))
    sum_positions = np.flatnonzero(np.isin(sums.cluster_ids, prompt_positions))
    days_from_action = (group_dates - action_day).dt.days.to_numpy(np.float64)[
        sums.group_ids[sum_positions]
    ]

    def explain(tracer: Any, position: int) -> Any:
        entry_key = {
            **sums.cluster_of_sum(int(sum_positions[position])),
            "day": days_from_action[position],
        }
        return tracer.explain_setting("day", days_from_action[position], entry_key)

    traced_days = trace_inputs("day", days_from_action, explain)
    y_and_n = sums.y_and_n(sum_positions)
    return PromptDays(
        group_name,
        sums.cluster_ids[sum_positions],
        traced_days,
        *y_and_n,
        max(len(sums.cluster_labels), 1),
    )


def _difference_of_groups(
    difference_kind: str,
    first_day_after: pd.Timestamp | None,
    group_changes: Sequence[GroupChange],
    confidence_level: Any,
) -> DiffInDiff:
    """Return the difference between the changes of two groups, with Welch's test.

    ``difference_kind`` is "effect", or the name of a check such as "placebo".
    """
    change_by_group = dict(zip(GROUP_NAMES, group_changes, strict=True))
    for group_name, group_change in change_by_group.items():
        name_traced_values(
            **{
                f"{group_name}_before": group_change.before,
                f"{group_name}_after": group_change.after,
                f"n_{group_name}": group_change.answer_count,
            }
        )
    treated, control = (group_change.mean_change for group_change in group_changes)
    change = two_sample_change(treated, control, confidence_level)
    group_means = [
        untrace(mean)
        for group_change in group_changes
        for mean in (group_change.before, group_change.after)
    ]
    smaller_cluster_count = np.minimum(treated.clusters, control.clusters)
    if smaller_cluster_count < MIN_CLUSTERS or not has_variation(
        change.error, np.max(np.abs(group_means))
    ):
        change = Change(change.value)
    total_answer_count = group_changes[0].answer_count + group_changes[1].answer_count
    change = replace(
        change, value_before=NAN, size_after=total_answer_count, clusters=smaller_cluster_count
    )
    return DiffInDiff(difference_kind, first_day_after, change_by_group, change)


def change_within_prompts(prompt_days: PromptDays, split_day: float) -> GroupChange:
    """Return the mean change within prompts, from the days before ``split_day`` to those since."""
    after_and_before = [
        prompt_days.select(prompt_days.days >= split_day),
        prompt_days.select(prompt_days.days < split_day),
    ]
    sums = [
        period.sum_by_prompt(y_or_n)
        for period in after_and_before
        for y_or_n in (period.y, period.n)
    ]
    has_answers_after, has_answers_before = (untrace(sums[position]) > 0 for position in (1, 3))
    used_prompts = np.flatnonzero(has_answers_after & has_answers_before)
    excluded_prompt_count = int((has_answers_after ^ has_answers_before).sum())
    if not len(used_prompts):
        return GroupChange(excluded_prompt_count=excluded_prompt_count)
    y1, n1, y0, n0 = (take(y_or_n, used_prompts) for y_or_n in sums)
    m = n1 * n0 / (n1 + n0)
    weight = total_of(m)
    name_traced_variables()
    # The values before and after are means with the same weights.
    mean_before, mean_after = (total_of(m * y / n) / weight for y, n in ((y0, n0), (y1, n1)))
    mean_change = estimate_sample(m * (y1 / n1 - y0 / n0), m, prompt_days.group_name)
    return GroupChange(
        mean_change, mean_before, mean_after, total_of(n1) + total_of(n0), excluded_prompt_count
    )


def _placebo_checks(
    group_prompt_days: Sequence[PromptDays], action_day: pd.Timestamp, confidence_level: Any
) -> list[DiffInDiff]:
    """Return the checks that use only the days before the action: trend and placebo effects.

    ``action_day`` is the day of the action.
    """
    prompt_days_before = [
        prompt_days.select(prompt_days.days < 0) for prompt_days in group_prompt_days
    ]
    all_days = np.unique(np.concatenate([prompt_days.days for prompt_days in group_prompt_days]))
    days_before = all_days[all_days < 0]
    days_after = all_days[all_days >= 0]
    if len(days_before) < _MIN_DAYS:
        return []
    days_between = trace_setting(
        "span", float(days_after.mean() - days_before.mean()) if len(days_after) else NAN
    )
    group_trends = [
        slope_within_prompts([prompt_days], days_between) for prompt_days in prompt_days_before
    ]
    check_diff_in_diffs = [_difference_of_groups("pre-trend", None, group_trends, confidence_level)]
    quartile_numbers = (2,) if len(days_before) < 16 else (1, 2, 3)
    for day_position in dict.fromkeys(
        quartile * len(days_before) // 4 for quartile in quartile_numbers
    ):
        placebo_day = float(days_before[day_position])
        group_changes = [
            change_within_prompts(prompt_days, placebo_day) for prompt_days in prompt_days_before
        ]
        check_diff_in_diffs.append(
            _difference_of_groups(
                "placebo",
                action_day + pd.Timedelta(days=placebo_day),
                group_changes,
                confidence_level,
            )
        )
    return check_diff_in_diffs


def slope_within_prompts(periods: Sequence[PromptDays], days_between: Any) -> GroupChange:
    """Return the mean linear trend within the prompts of a group, over ``days_between`` days.

    ``periods`` are the periods of the group. In the fit, each prompt has its own level in each
    period, and one slope in all periods.
    """
    sums_of_periods = []
    for period in periods:
        size = period.sum_by_prompt(period.n)
        total = period.sum_by_prompt(period.y)
        middle = period.sum_by_prompt(period.n * period.days_from_action) / size
        offset = period.days_from_action - take(middle, period.prompt_positions)
        name_traced_variables()
        sums_of_periods.append(
            (
                period.sum_by_prompt(period.n * offset**2),
                period.sum_by_prompt(offset * period.y),
                size,
                total,
            )
        )
    spread, products, size, total = (
        reduce(add, prompt_sums) for prompt_sums in zip(*sums_of_periods, strict=True)
    )
    name_traced_variables()
    used_prompts = np.flatnonzero(untrace(spread) > 0)
    if not len(used_prompts):
        return GroupChange()
    m = take(spread, used_prompts)
    used_products = take(products, used_prompts)
    usable_prompts = np.flatnonzero(untrace(size) > 0)
    y = take(total, usable_prompts)
    n = take(size, usable_prompts)
    name_traced_variables()
    start_mean = total_of(y) / total_of(n)
    slope = estimate_sample(used_products * days_between, m, periods[0].group_name)
    return GroupChange(slope, start_mean, start_mean + slope.value, total_of(n))


# --- whether it is one ------------------------------------------------------------------------


def _reason_to_doubt(
    diff_in_diffs: Sequence[DiffInDiff],
    p_values: Sequence[float],
    group_prompt_days: Sequence[PromptDays],
    cluster: str,
    is_rate: bool,
    confidence_level: float,
) -> str:
    """Return why an effect is doubtful, e.g. as the groups differed before; "" if it is not.

    ``diff_in_diffs`` has the effect, followed by its checks: the changes of the days before the
    action. ``p_values`` has the p-value of each.
    """
    effect_diff_in_diff, *check_diff_in_diffs = diff_in_diffs
    failed_checks = [
        check_diff_in_diff.kind
        + (
            f" of {check_diff_in_diff.first_day_after:%Y-%m-%d}"
            if check_diff_in_diff.first_day_after is not None
            else ""
        )
        for check_diff_in_diff, p in zip(check_diff_in_diffs, p_values[1:], strict=True)
        if p < 1 - confidence_level
    ]
    if failed_checks:
        return f"the groups differed before already ({', '.join(failed_checks)})"
    if not check_diff_in_diffs or not p_values[0] < 1 - confidence_level:
        return ""
    # The difference of the trends within both periods, from the middle of one to the other.
    distinct_days = np.unique(
        np.concatenate([prompt_days.days for prompt_days in group_prompt_days])
    )
    days_between = float(
        distinct_days[distinct_days >= 0].mean() - distinct_days[distinct_days < 0].mean()
    )
    periods = [
        (prompt_days.select(prompt_days.days < 0), prompt_days.select(prompt_days.days >= 0))
        for prompt_days in group_prompt_days
    ]
    group_slopes = [
        slope_within_prompts(period_prompt_days, days_between) for period_prompt_days in periods
    ]
    trend_change = _difference_of_groups("trend", None, group_slopes, confidence_level).change
    standard_error = np.hypot(effect_diff_in_diff.change.error, trend_change.error)
    df = min(effect_diff_in_diff.change.df, trend_change.df)
    effect_change = effect_diff_in_diff.change.value
    change_by_trend = trend_change.value
    excess_over_trend = (effect_change - change_by_trend) * np.sign(effect_change)
    if (
        not np.isfinite(standard_error)
        or excess_over_trend > t_quantile(_TREND_TEST_LEVEL, df) * standard_error
    ):
        return ""
    return (
        f"the treated {cluster} may have been moving already: the trend within both periods, "
        f"continued, comes to {format_points(change_by_trend, is_rate)} of "
        f"{format_points(effect_change, is_rate)}"
    )
