"""``aa.stats.effect``: whether an action worked, by differences in differences of prompts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date as calendar_date
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit._util.text import parse_moment
from aatoolkit.availability import combine
from aatoolkit.errors import ArgumentError
from aatoolkit.frame.groupby import find, flattened
from aatoolkit.stats.estimate import (
    LEAST_CLUSTERS,
    NAN,
    Change,
    Comparison,
    Sample,
    check_level,
    estimate_sample,
    judge,
    two_sample_change,
    varies,
)
from aatoolkit.stats.results import amount, points, result
from aatoolkit.stats.sums import ClusterSums, Rules, cluster_sums, refuse_missing
from aatoolkit.stats.trace import (
    GroupSums,
    Integers,
    Numbers,
    leaf,
    name_all,
    number,
    plain_value,
    setting,
    statistic,
    t_quantile,
    take,
    total_of,
    trace_frame,
)

_BEYOND = 0.9
"""How sure it must be that an effect is more than a trend that goes on, one-sided."""

_LEAST_DAYS = 4
"""As many days before the action are needed for the checks."""

WORDS = ("treated", "control")
Groups = str | Iterable[object] | Mapping[str, object]


@statistic("effect", "series")
def effect(
    series: pd.DataFrame,
    since: object,
    treated: Groups,
    control: Groups | None = None,
    *,
    column: str = "mentioned",
    cluster: str = "prompt_id",
    date: str = "date",
    level: float = 0.95,
    rules: Rules | None = None,
) -> pd.DataFrame:
    """Whether a rate moved more where something was done than where nothing was.

    Difference in differences within prompts: with the rates r of a prompt i before and after the
    day and its answers n, each prompt is compared with itself, and the mean change of the control
    group is what would have happened anyway:

        effect = Σ_T wᵢ(rᵢ₁ - rᵢ₀) / Σ_T wᵢ - Σ_C wᵢ(rᵢ₁ - rᵢ₀) / Σ_C wᵢ
        wᵢ = nᵢ₁nᵢ₀/(nᵢ₁ + nᵢ₀)

    which is the regression of answers on prompts, period, and treated after (Angrist & Pischke,
    *Mostly Harmless Econometrics*, 2009, 5.2). Its variance is clustered by prompt
    (Bertrand, Duflo & Mullainathan, *Quarterly Journal of Economics* 119, 2004): k/(k-1) ·
    Σwᵢ²(dᵢ-d)²/(Σwᵢ)² of each group with dᵢ = rᵢ₁ - rᵢ₀, added; Student's t has Welch's degrees
    of freedom, fewer where few prompts carry the answers or the variance.

    It rests on one assumption that no data after the day can show: that without the action both
    groups would have moved alike. What can be checked, with the days before alone, stands below
    the effect, adjusted by Holm's method:

    - ``pre-trend``: the difference of the linear trends within prompts, over as many days as lie
      between the middles of the two periods: what the effect would be if it merely went on.
    - ``placebo``: the same estimate as if something had been done on an earlier day.

    Where one of them differs from 0 the verdict is "cannot say". So it is where a steady trend of
    the treated prompts' own is not excluded: the effect must be more than what the trends within
    both periods come to when they go on, by a one-sided test at 10 % (in the spirit of Rambachan
    & Roth, *Review of Economic Studies* 90, 2023). A step of 10 points passes that test where some
    thousands of answers show it; a trend of its own in 8 % of cases at most. Intervals that are
    read only where the checks pass no longer have exactly their level (Roth, *American Economic
    Review: Insights* 4, 2022), and an effect that builds up slowly is taken for a trend.

    Do not use it where the treated prompts were chosen because they had just done badly (they
    recover by themselves), where the action also reaches the control prompts, with a window in
    which something else happened to one group alone. Do not use it where all treated prompts are
    of one topic: a shock to that topic looks like an effect, and no number of prompts shows it.
    With fewer than 5 prompts in a group nothing is said.

    Parameters
    ----------
    series : pandas.DataFrame
        Answers or counts with their day, such as `answers` gives; the window around the day.
    since : str, date or pandas.Timestamp
        The day of the action: the first day after, in the time zone of ``date``.
    treated : dict, str or list
        The prompts that it should move: values of ``cluster``, or ``{"topic": [...]}``, values of
        another column of the frame.
    control : dict, str or list, optional
        The prompts that it should not; by default all others.
    column : str
        A column of true and false, or whose rule is a ratio or a mean.
    cluster : str
        What repeats, such as ``prompt_id``, and is compared with itself.
    date : str
        The column of days.
    level : float
        The confidence level.
    rules : dict, optional
        As for ``df.aa.aggregate``.

    Returns
    -------
    pandas.DataFrame
        The effect first, then its checks: ``kind``, ``on``, ``treated_before``,
        ``treated_after``, ``control_before``, ``control_after`` (means over the answers of
        prompts with both periods), ``change`` (the difference in differences), ``low``, ``high``,
        ``p``, ``p_adjusted`` (of the checks), ``detectable`` (of a check after its adjustment),
        ``n``, ``clusters`` (prompts of the smaller group), ``verdict`` ("up", "down", "no
        evidence", "cannot say"; of checks "differs", "no evidence" or "cannot say"), ``why`` and
        ``method``.

    Raises
    ------
    ItemNotFound
        If there is no such column.
    AvailabilityError
        If the column is no rate or mean, or a row with a number has no prompt or day.
    ArgumentError
        If a group names no prompt that is there, the groups share one, a prompt is in a group
        in part, or the level is not between 0 and 1.

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
    flat, day = flattened(series), _day_of(since)
    find(flat, [column, cluster, date])
    names = [_members(flat, cluster, treated, "treated")]
    names.append({*flat[cluster].dropna()} - names[0])
    if control is not None:
        names[1] = _members(flat, cluster, control, "control")
    if shared := names[0] & names[1]:
        few = ", ".join(sorted(map(str, shared))[:3])
        raise ArgumentError(f"{len(shared)} {cluster} are both treated and control, such as {few}")
    days = pd.to_datetime(flat[date])
    days = (days.dt.tz_localize(None) if days.dt.tz is not None else days).dt.normalize()
    dated = trace_frame(flat.assign(**{date: days}), series)
    sums = cluster_sums(dated, column, date, cluster, rules)
    stamps = pd.to_datetime(sums.groups.keys[date])
    refuse_missing(date, stamps.isna().to_numpy()[sums.group[sums.pair]])
    panels = [_panel(sums, group, stamps, day) for group in names]
    confidence = setting("level", level)
    groups = [change_within(*side) for side in zip(panels, (0.0, 0.0), WORDS, strict=True)]
    estimates = [_difference("effect", day, groups, confidence)]
    estimates += _checks(panels, day, confidence)
    rows = [_row(estimate, cluster, sums.is_rate) for estimate in estimates]
    judgements = judge(rows, level, noun="difference")
    first = judgements[0]
    if plain_value(first["verdict"]) != "cannot say":
        p_values = [number(row["p_adjusted"]) for row in judgements]
        if doubt := _doubt(estimates, p_values, panels, cluster, sums.is_rate, level):
            first |= {"verdict": "cannot say", "why": f"{doubt}; {first['why']}"}
        elif len(estimates) == 1:
            first["why"] += "; too few days before to check that the groups moved alike"
    if once := sum(group.once for group in groups):
        first["why"] += f"; {once} {cluster} have answers in one period only and are left out"
    for estimate, row in zip(estimates, judgements, strict=True):
        row |= {"kind": estimate.kind, "on": estimate.on}
        for word, side in estimate.sides.items():
            row |= {f"{word}_before": side.before, f"{word}_after": side.after}
    return result(
        "effect",
        judgements,
        [sums.metadata],
        combine(sums.states),
        unit=sums.unit,
        level=level,
        column=column,
        by=cluster,
    )


def _row(estimate: DoubleDifference, cluster: str, is_rate: bool) -> Comparison:
    """Turn an estimate into a row to be judged: the effect alone, the checks as a family."""
    few = [
        f"{number(side.moved.clusters):.0f} {word} {cluster} have answers before and after"
        for word, side in estimate.sides.items()
        if number(side.moved.clusters) < LEAST_CLUSTERS
    ]
    is_untested = not math.isfinite(number(estimate.change.p))
    why = f"nothing differs between {cluster}, one has most answers, or numbers are too large"
    ends = (
        (word, *(amount(number(end), is_rate) for end in (side.before, side.after)))
        for word, side in estimate.sides.items()
    )
    is_effect = estimate.kind == "effect"
    return Comparison(
        change=estimate.change,
        text=", ".join(f"{word} {before} to {after}" for word, before, after in ends),
        method=f"difference in differences within {cluster}, clustered",
        why=f"{' and '.join(few)}; it takes {LEAST_CLUSTERS}" if few else why * is_untested,
        is_rate=is_rate,
        is_planned=is_effect,
        words=("up", "down") if is_effect else ("differs", "differs"),
    )


def _members(flat: pd.DataFrame, cluster: str, chosen: Groups, word: str) -> set[Any]:
    """The prompts that a group names, wholly."""
    conditions = chosen if isinstance(chosen, Mapping) else {cluster: chosen}
    find(flat, [str(name) for name in conditions])
    use = np.ones(len(flat), bool)
    for name, values in conditions.items():
        several = isinstance(values, Iterable) and not isinstance(values, str)
        use &= flat[name].isin([*values] if several else [values]).to_numpy(bool)  # type: ignore[misc]
    members = {*flat[cluster][use].dropna()}
    if split := members & {*flat[cluster][~use].dropna()}:
        raise ArgumentError(
            f"{len(split)} {cluster} are {word} in some rows only, such as {min(split)}"
        )
    if not members:
        raise ArgumentError(f"{word}={chosen!r} names no {cluster} that is in the frame")
    return members


def _day_of(since: object) -> pd.Timestamp:
    """The day of an action.

    Raises
    ------
    ArgumentError
        If it is none, or written in a way that can be read as another day.
    """
    day = parse_moment(since) if isinstance(since, str) else since
    if not isinstance(day, calendar_date | np.datetime64) or pd.isna(day):
        raise ArgumentError(
            f"since={since!r} is no day in ISO 8601; write it as 2026-11-05", argument="since"
        )
    return pd.Timestamp(day).tz_localize(None).normalize()


# --- differences in differences ---------------------------------------------------------------


@dataclass(frozen=True)
class PromptDays:
    """The sums Σy and Σn by prompt and day: one entry per pair with answers."""

    prompt: Integers
    day: Any
    y: Any
    n: Any
    prompts: int

    def only(self, rows: Any) -> PromptDays:
        """Select some of the entries."""
        at = np.flatnonzero(rows)
        day, y, n = (take(values, at) for values in (self.day, self.y, self.n))
        return PromptDays(self.prompt[rows], day, y, n, self.prompts)

    @property
    def days(self) -> Numbers:
        """The day of each entry, from that of the action."""
        days: Numbers = plain_value(self.day)
        return days

    def by_prompt(self, values: Any) -> Any:
        """Return the sum of some values of each prompt."""
        return GroupSums(self.prompt, self.prompts).total(values)


@dataclass(frozen=True)
class GroupChange:
    """The mean change within a group's prompts, its means before and after, and its answers.

    In formulas ``m`` are the weights of prompts; ``once`` says how many have one period only.
    """

    moved: Sample = Sample()  # noqa: RUF009
    before: Any = NAN
    after: Any = NAN
    n: Any = 0.0
    once: int = 0


@dataclass(frozen=True)
class DoubleDifference:
    """A difference in differences; without error where a group has too few prompts."""

    kind: str
    on: pd.Timestamp | None
    sides: dict[str, GroupChange]
    change: Change


def _panel(sums: ClusterSums, names: set[Any], stamps: pd.Series, day: pd.Timestamp) -> PromptDays:
    """The sums of a group by prompt and day."""
    codes = sums.labels.get_indexer(pd.Index(list(names)))
    pairs = np.flatnonzero(np.isin(sums.cluster, codes))
    values = (stamps - day).dt.days.to_numpy(np.float64)[sums.group[pairs]]

    def explained(tracer: Any, at: int) -> Any:
        row = {**sums.row(int(pairs[at])), "day": values[at]}
        return tracer.setting("day", values[at], row)

    days = leaf("day", values, explained)
    return PromptDays(sums.cluster[pairs], days, *sums.parts(pairs), max(len(sums.labels), 1))


def _difference(
    kind: str, on: pd.Timestamp | None, groups: Sequence[GroupChange], level: Any
) -> DoubleDifference:
    """Compute the difference of two changes, with Welch's degrees of freedom."""
    sides = dict(zip(WORDS, groups, strict=True))
    for word, side in sides.items():
        name_all(
            **{f"{word}_before": side.before, f"{word}_after": side.after, f"n_{word}": side.n}
        )
    treated, control = (side.moved for side in groups)
    change = two_sample_change(treated, control, level)
    ends = [plain_value(end) for side in groups for end in (side.before, side.after)]
    k = np.minimum(treated.clusters, control.clusters)
    if number(k) < LEAST_CLUSTERS or not varies(number(change.error), np.max(np.abs(ends))):
        change = Change(change.change)
    n = groups[0].n + groups[1].n
    change = replace(change, before=NAN, size_after=n, clusters=k)
    return DoubleDifference(kind, on, sides, change)


def change_within(panel: PromptDays, at: float, word: str = "group") -> GroupChange:
    """Compute the mean change within prompts that have answers before and after a day."""
    sides = [panel.only(panel.days >= at), panel.only(panel.days < at)]
    sums = [side.by_prompt(values) for side in sides for values in (side.y, side.n)]
    late, early = (plain_value(sums[at]) > 0 for at in (1, 3))
    both, once = np.flatnonzero(late & early), int((late ^ early).sum())
    if not len(both):
        return GroupChange(once=once)
    y1, n1, y0, n0 = (take(values, both) for values in sums)
    m = n1 * n0 / (n1 + n0)
    weight = total_of(m)
    name_all(y1=y1, n1=n1, y0=y0, n0=n0, m=m, weight=weight)
    # What is shown as before and after is the mean with the same weights.
    before, after = (total_of(m * y / n) / weight for y, n in ((y0, n0), (y1, n1)))
    moved = estimate_sample(m * (y1 / n1 - y0 / n0), m, word)
    return GroupChange(moved, before, after, total_of(n1) + total_of(n0), once)


def _checks(panels: Sequence[PromptDays], day: pd.Timestamp, level: Any) -> list[DoubleDifference]:
    """Compute the pre-trend and the placebo effects, from the days before alone."""
    early = [panel.only(panel.days < 0) for panel in panels]
    days = np.unique(np.concatenate([panel.days for panel in panels]))
    earlier, later = days[days < 0], days[days >= 0]
    if len(earlier) < _LEAST_DAYS:
        return []
    length = setting("span", float(later.mean() - earlier.mean()) if len(later) else NAN)
    trend = [slope_within([side], length, word) for side, word in zip(early, WORDS, strict=True)]
    estimates = [_difference("pre-trend", None, trend, level)]
    quarters = (2,) if len(earlier) < 16 else (1, 2, 3)
    for place in dict.fromkeys(quarter * len(earlier) // 4 for quarter in quarters):
        at = float(earlier[place])
        groups = [change_within(*side) for side in zip(early, (at, at), WORDS, strict=True)]
        estimates.append(_difference("placebo", day + pd.Timedelta(days=at), groups, level))
    return estimates


def slope_within(panels: Sequence[PromptDays], span: Any, word: str = "group") -> GroupChange:
    """Compute the linear trend within prompts, over so many days.

    Of several panels of the same prompts, such as two periods, it is the trend within each.
    """
    sums = []
    for panel in panels:
        size, total = panel.by_prompt(panel.n), panel.by_prompt(panel.y)
        middle = panel.by_prompt(panel.n * panel.day) / size
        off = panel.day - take(middle, panel.prompt)
        name_all(size=size, total=total, middle=middle, off=off)
        sums.append(
            (panel.by_prompt(panel.n * off**2), panel.by_prompt(off * panel.y), size, total)
        )
    spread, moved, size, total = (reduce(add, parts) for parts in zip(*sums, strict=True))
    name_all(spread=spread, move=moved)
    used = np.flatnonzero(plain_value(spread) > 0)
    if not len(used):
        return GroupChange()
    m, moved = take(spread, used), take(moved, used)
    usable = np.flatnonzero(plain_value(size) > 0)
    total, size = take(total, usable), take(size, usable)
    name_all(m=m, moved=moved, y=total, n=size)
    start = total_of(total) / total_of(size)
    slope = estimate_sample(moved * span, m, word)
    return GroupChange(slope, start, start + slope.value, total_of(size))


# --- whether it is one ------------------------------------------------------------------------


def _doubt(
    estimates: Sequence[DoubleDifference],
    p_values: Sequence[float],
    panels: Sequence[PromptDays],
    cluster: str,
    is_rate: bool,
    level: float,
) -> str:
    """Reasons to doubt an effect: the groups diverged before it, or one changes by itself."""
    first, *rest = estimates
    failed = [
        estimate.kind + (f" of {estimate.on:%Y-%m-%d}" if estimate.on is not None else "")
        for estimate, p in zip(rest, p_values[1:], strict=True)
        if p < 1 - level
    ]
    if failed:
        return f"the groups differed before already ({', '.join(failed)})"
    if not rest or not p_values[0] < 1 - level:
        return ""
    # What the difference of the trends within both periods comes to between their middles.
    days = np.unique(np.concatenate([panel.days for panel in panels]))
    span = float(days[days >= 0].mean() - days[days < 0].mean())
    periods = [(panel.only(panel.days < 0), panel.only(panel.days >= 0)) for panel in panels]
    slopes = [slope_within(side, span) for side in periods]
    trend = _difference("trend", None, slopes, level).change
    error = float(np.hypot(number(first.change.error), number(trend.error)))
    df = min(number(first.change.df), number(trend.df))
    value, moved = number(first.change.change), number(trend.change)
    beyond = (value - moved) * np.sign(value)
    if not np.isfinite(error) or beyond > number(t_quantile(_BEYOND, df)) * error:
        return ""
    ends = f"{points(moved, is_rate)} of {points(value, is_rate)}"
    moving = f"the trend within both periods, continued, comes to {ends}"
    return f"the treated {cluster} may have been moving already: {moving}"
