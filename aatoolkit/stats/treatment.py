"""``aa.stats.effect``: whether an action worked, by differences in differences of prompts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date as calendar_date
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from aatoolkit._util.text import parse_moment
from aatoolkit.availability import combine
from aatoolkit.errors import ArgumentError, AvailabilityError
from aatoolkit.frame.groupby import find, flattened
from aatoolkit.metadata.recorded import recorded
from aatoolkit.stats.estimate import (
    LEAST_CLUSTERS,
    adjusted,
    check_level,
    detectable,
    freedom,
    varies,
    verdict_of,
)
from aatoolkit.stats.results import amount, points, result
from aatoolkit.stats.sums import ClusterSums, Rules, cluster_sums
from aatoolkit.stats.trace import (
    Integers,
    Many,
    Numbers,
    One,
    derived,
    leaf,
    name_all,
    number,
    plain_value,
    setting,
    t_quantile,
    take,
    two_sided,
)

_NAN = float("nan")
_BEYOND = 0.9
"""How sure it must be that an effect is more than a trend that goes on, one-sided."""

_PLACEBOS = 3
_LEAST_DAYS = 4
"""As many days before the action are needed for the checks."""

WORDS = ("treated", "control")
Mask = npt.NDArray[np.bool_]
Groups = str | Iterable[object] | Mapping[str, object]


@recorded("effect", "series")
def effect(
    series: pd.DataFrame,
    since: object,
    treated: Groups,
    control: Groups | None = None,
    *,
    column: str = "mentioned",
    by: str = "prompt_id",
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
        The prompts that it should move: values of ``by``, or ``{"topic": [...]}``, values of
        another column of the frame.
    control : dict, str or list, optional
        The prompts that it should not; by default all others.
    column : str
        A column of true and false, or whose rule is a ratio or a mean.
    by : str
        What repeats: the cluster, and what is compared with itself.
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
    >>> found = effect(frame, since="2026-10-21", treated=names[:8])
    >>> found[["kind", "verdict"]].head(2).to_numpy().tolist()
    [['effect', 'up'], ['pre-trend', 'no evidence']]
    """
    check_level(level)
    flat = flattened(series)
    find(flat, [column, by, date])
    day = day_of(since)
    groups = groups_of(flat, by, treated, control)
    sums = cluster_sums(derived(dated_by(flat, date), series), column, date, by, rules)
    stamps = pd.to_datetime(sums.groups.keys[date])
    if stamps.isna().to_numpy()[sums.group].any():
        why = "rows with a number have none; drop them first"
        raise AvailabilityError(f"{date} names no day: {why}", columns={date: why})
    panels = [_panel(sums, names, stamps, day) for names in groups]
    sure = setting("level", level)
    changes = [change_within(*side) for side in zip(panels, (0.0, 0.0), WORDS, strict=True)]
    made = [double_difference("effect", day, changes, sure), *checks(panels, day, sure)]
    return _described(made, panels, sums, column, by, level, outside(day, stamps), day)


def _panel(sums: ClusterSums, names: set[Any], stamps: pd.Series, day: pd.Timestamp) -> PromptDays:
    """The sums of a group by prompt and day."""
    codes = sums.labels.get_indexer(pd.Index(list(names)))
    pairs = np.flatnonzero(np.isin(sums.cluster, codes))
    values = (stamps - day).dt.days.to_numpy(np.float64)[sums.group[pairs]]

    def explained(tracer: Any, at: int) -> Any:
        row = {**sums.row(int(pairs[at])), "day": values[at]}
        return tracer.setting("day", values[at], row)

    days = leaf("day", values, explained)
    return PromptDays(sums.cluster[pairs], days, *sums.of(pairs), max(len(sums.labels), 1))


def _values_of(made: DoubleDifference) -> dict[str, Any]:
    """The columns of an estimate that are numbers of its own."""
    columns = {
        f"{word}_{end}": getattr(side, end)
        for word, side in zip(WORDS, (made.treated, made.control), strict=True)
        for end in ("before", "after")
    }
    columns |= {"change": made.value, "low": made.low, "high": made.high, "p": made.p}
    clusters = np.minimum(made.treated.k, made.control.k)
    return columns | {"n": made.treated.n + made.control.n, "clusters": clusters}


def groups_of(
    flat: pd.DataFrame, by: str, treated: Groups, control: Groups | None
) -> tuple[set[Any], set[Any]]:
    """The prompts of both groups."""
    chosen = _members(flat, by, treated, "treated")
    rest = (
        _members(flat, by, control, "control")
        if control is not None
        else {*flat[by].dropna()} - chosen
    )
    if shared := chosen & rest:
        names = ", ".join(sorted(map(str, shared))[:3])
        raise ArgumentError(f"{len(shared)} {by} are both treated and control, such as {names}")
    return chosen, rest


def _members(flat: pd.DataFrame, by: str, given: Groups, word: str) -> set[Any]:
    chosen = given if isinstance(given, Mapping) else {by: given}
    find(flat, [str(name) for name in chosen])
    use = np.ones(len(flat), bool)
    for name, values in chosen.items():
        listed = [values] if isinstance(values, str) or not isinstance(values, Iterable) else values
        use &= flat[name].isin(list(listed)).to_numpy(bool)
    found = {*flat[by][use].dropna()}
    if split := found & {*flat[by][~use].dropna()}:
        raise ArgumentError(f"{len(split)} {by} are {word} in some rows only, such as {min(split)}")
    if not found:
        raise ArgumentError(f"{word}={given!r} names no {by} that is in the frame")
    return found


def _described(
    estimates: list[DoubleDifference],
    panels: Sequence[PromptDays],
    sums: ClusterSums,
    column: str,
    by: str,
    level: float,
    limits: Sequence[str],
    day: pd.Timestamp,
) -> pd.DataFrame:
    """One row an estimate, with its verdict."""
    is_rate = sums.is_rate
    tests = [_NAN, *(made.p for made in estimates[1:])]
    corrected = adjusted(tests, "holm")
    many = max(sum(np.isfinite(number(test)) for test in tests), 1)
    sure = setting("level", level)
    least = [
        detectable(made.error, made.df, sure, setting("tests", many if at else 1))
        if np.isfinite(number(made.p))
        else _NAN
        for at, made in enumerate(estimates)
    ]
    listed = [
        _verdict(made, number(corrected[at] if at else made.p), number(least[at]), is_rate, by)
        for at, made in enumerate(estimates)
    ]
    doubt = _doubt(estimates, [*map(number, corrected)], panels, day, by, is_rate)
    verdict, why = listed[0]
    if verdict != "cannot say" and doubt:
        verdict, why = "cannot say", f"{doubt}; {why}"
    elif verdict != "cannot say" and len(estimates) == 1:
        why += "; too few days before to check that the groups moved alike"
    listed[0] = verdict, "; ".join([*limits, why, *_notes(panels, by)])
    verdicts, reasons = zip(*listed, strict=True)
    parts = [_values_of(made) for made in estimates]
    values = {name: [part[name] for part in parts] for name in parts[0]}
    tail = {name: values.pop(name) for name in ("n", "clusters")}
    method = f"difference in differences within {by}"
    return result(
        "effect",
        {
            "kind": [made.kind for made in estimates],
            "on": [made.on for made in estimates],
            **values,
            "p_adjusted": corrected,
            "detectable": least,
            **tail,
            "verdict": verdicts,
            "why": reasons,
            "method": [
                f"{method}, clustered, t of {number(made.df):.3g} degrees of freedom"
                if number(made.error) > 0
                else method
                for made in estimates
            ],
        },
        None,
        sums.metadata.sources,
        combine(sums.states),
        unit=sums.unit,
        level=level,
        column=column,
        by=by,
    )


def _doubt(
    estimates: Sequence[DoubleDifference],
    corrected: Sequence[float],
    panels: Sequence[PromptDays],
    day: pd.Timestamp,
    by: str,
    is_rate: bool,
) -> str | None:
    """Why an effect may be none: the groups moved apart before, or one of them moves by itself."""
    effect, *rest = estimates
    failed = [
        made.kind if made.on is None else f"{made.kind} of {made.on:%Y-%m-%d}"
        for made, p in zip(rest, corrected[1:], strict=True)
        if p < 1 - number(made.level)
    ]
    if failed:
        return f"the groups differed before already ({', '.join(failed)})"
    if not rest or not number(effect.p) < 1 - number(effect.level):
        return None
    trend = own_trend(panels, day, effect.level)
    error = float(np.hypot(number(effect.error), number(trend.error)))
    df = min(number(effect.df), number(trend.df))
    value, moved = number(effect.value), number(trend.value)
    beyond = (value - moved) * np.sign(value)
    if not np.isfinite(error) or beyond > t_quantile(_BEYOND, df) * error:
        return None
    ends = f"{points(moved, is_rate)} of {points(value, is_rate)}"
    moving = f"the trend within both periods, gone on, comes to {ends}"
    return f"the treated {by} may have been moving already: {moving}"


def _verdict(
    made: DoubleDifference, p: float, least: float, is_rate: bool, by: str
) -> tuple[str, str]:
    """The verdict of one estimate, and what it rests on."""
    if not np.isfinite(p):
        lacking = [
            f"{number(side.k):.0f} {word} {by} have answers before and after"
            for side, word in ((made.treated, "treated"), (made.control, "control"))
            if number(side.k) < LEAST_CLUSTERS
        ]
        if lacking:
            return "cannot say", f"{' and '.join(lacking)}; it takes {LEAST_CLUSTERS}"
        return "cannot say", f"nothing differs between {by}, too few to estimate an error"
    low, high = (points(number(end), is_rate) for end in (made.low, made.high))
    level = number(made.level)
    sides = ", ".join(
        f"{word} {amount(number(side.before), is_rate)} to {amount(number(side.after), is_rate)}"
        for word, side in zip(WORDS, (made.treated, made.control), strict=True)
    )
    which = f"{100 * level:g} % interval of the difference, for this row alone"
    why = f"{sides}; {which}: {low} to {high}"
    names = ("up", "down") if made.kind == "effect" else ("differs", "differs")
    verdict = verdict_of(p, number(made.value), level, names)
    if verdict == "no evidence":
        shown = points(least, is_rate).lstrip("+")
        why += f"; one of {shown} would have shown in 4 of 5 such samples"
    return verdict, why


def _notes(panels: Sequence[PromptDays], by: str) -> list[str]:
    """Return a note on the prompts that have answers in one period only."""
    once = 0
    for panel in panels:
        late = plain_value(panel.of(panel.n, panel.days >= 0)) > 0
        early = plain_value(panel.of(panel.n, panel.days < 0)) > 0
        once += int((late ^ early).sum())
    return [f"{once} {by} have answers in one period only and are left out"] if once else []


@dataclass(frozen=True)
class PromptDays:
    """The sums Σy and Σn by prompt and day: one entry per pair with answers."""

    prompt: Integers
    day: Any
    y: Any
    n: Any
    prompts: int

    def only(self, rows: Mask) -> PromptDays:
        """Select some of the entries."""
        at = np.flatnonzero(rows)
        day, y, n = (take(values, at) for values in (self.day, self.y, self.n))
        return PromptDays(self.prompt[rows], day, y, n, self.prompts)

    @property
    def days(self) -> Numbers:
        """The day of each entry, from that of the action."""
        days: Numbers = plain_value(self.day)
        return days

    def of(self, values: Any, rows: Mask | None = None) -> Any:
        """Sum values by prompt, over some of the entries."""
        if rows is None:
            return Many(self.prompt, self.prompts).total(values)
        return Many(self.prompt[rows], self.prompts).total(take(values, np.flatnonzero(rows)))


@dataclass(frozen=True)
class GroupChange:
    """The mean change within the prompts of a group, and its variance.

    In formulas ``z`` are the residuals of prompts, and ``m`` their weights.
    """

    before: Any = _NAN
    after: Any = _NAN
    variance: Any = _NAN
    df: Any = _NAN
    k: Any = 0
    n: Any = 0.0


@dataclass(frozen=True)
class DoubleDifference:
    """A difference in differences; without error where a group has too few prompts."""

    kind: str
    on: pd.Timestamp | None
    treated: GroupChange
    control: GroupChange
    level: float
    value: Any
    error: Any
    df: Any
    low: Any
    high: Any
    p: Any


def double_difference(
    kind: str, on: pd.Timestamp | None, groups: Sequence[GroupChange], level: Any
) -> DoubleDifference:
    """Compute the difference of two changes, with Welch's degrees of freedom."""
    treated, control = groups
    for word, side in zip(WORDS, groups, strict=True):
        name_all(**{f"{word}_{end}": getattr(side, end) for end in ("before", "after")})
        name_all(**{f"v_{word}": side.variance, f"df_{word}": side.df})
        name_all(**{f"k_{word}": side.k, f"n_{word}": side.n})
    with np.errstate(divide="ignore", invalid="ignore"):
        value = (treated.after - treated.before) - (control.after - control.before)
        variance = treated.variance + control.variance
        spread = treated.variance**2 / treated.df + control.variance**2 / control.df
        df: Any = np.where(
            spread > 0, np.maximum(variance**2 / np.maximum(spread, 1e-300), 1.0), 1.0
        )
        error = np.sqrt(variance)
        name_all(change=value, error=error, df=df)
        ends = [plain_value(end) for side in groups for end in (side.before, side.after)]
        enough = min(int(plain_value(side.k)) for side in groups) >= LEAST_CLUSTERS
        if not (enough and varies(plain_value(variance), np.max(np.abs(ends)))):
            nothing = dict.fromkeys(("error", "low", "high", "p"), _NAN)
            df = float(plain_value(df))
            return DoubleDifference(kind, on, treated, control, level, value, df=df, **nothing)
        half = t_quantile((1 + level) / 2, df) * error
        p = two_sided(value / error, df)
    low, high = value - half, value + half
    return DoubleDifference(kind, on, treated, control, level, value, error, df, low, high, p)


def change_within(panel: PromptDays, at: float, word: str = "group") -> GroupChange:
    """Compute the mean change within prompts that have answers before and after a day."""
    late = panel.days >= at
    sums = [panel.of(values, rows) for rows in (late, ~late) for values in (panel.y, panel.n)]
    both = np.flatnonzero((plain_value(sums[1]) > 0) & (plain_value(sums[3]) > 0))
    k = len(both)
    if not k:
        return GroupChange()
    y1, n1, y0, n0 = (take(values, both) for values in sums)
    name_all(y1=y1, n1=n1, y0=y0, n0=n0)
    weight = n1 * n0 / (n1 + n0)
    name_all(m=weight)
    whole = One.total(weight)
    name_all(whole=whole)
    # What is shown as before and after is the mean with the same weights.
    before, after = (One.total(weight * y / n) / whole for y, n in ((y0, n0), (y1, n1)))
    name_all(**{f"{word}_before": before, f"{word}_after": after})
    z = weight * (y1 / n1 - y0 / n0 - (after - before)) / whole
    name_all(z=z)
    return _group(before, after, z, weight, One.count(weight), One.total(n1) + One.total(n0))


def _group(before: Any, after: Any, z: Any, m: Any, k: Any, n: Any) -> GroupChange:
    variance = k / (k - 1) * One.total(z**2) if plain_value(k) > 1 else _NAN
    return GroupChange(before, after, variance, freedom(m, z), k, n)


def checks(panels: Sequence[PromptDays], day: pd.Timestamp, level: Any) -> list[DoubleDifference]:
    """Compute the pre-trend and the placebo effects, from the days before alone."""
    early = [panel.only(panel.days < 0) for panel in panels]
    there = np.unique(np.concatenate([panel.days for panel in early]))
    if len(there) < _LEAST_DAYS:
        return []
    late = np.unique(np.concatenate([panel.days[panel.days >= 0] for panel in panels]))
    length = setting("span", float(late.mean() - there.mean()) if len(late) else _NAN)
    trend = [slope_within([side], length, word) for side, word in zip(early, WORDS, strict=True)]
    made = [double_difference("pre-trend", None, trend, level)]
    middle = len(there) // 2
    places = sorted({middle} if len(there) < 16 else {len(there) // 4, middle, 3 * len(there) // 4})
    for place in places[:_PLACEBOS]:
        at = float(there[place])
        groups = [change_within(*side) for side in zip(early, (at, at), WORDS, strict=True)]
        made.append(double_difference("placebo", day + pd.Timedelta(days=at), groups, level))
    return made


def _about_middle(panel: PromptDays) -> tuple[Any, Any, Any, Any]:
    """Sum by prompt the squares and products of days about their middle; Σn and Σy."""
    size, total = panel.of(panel.n), panel.of(panel.y)
    name_all(size=size, total=total)
    middle = panel.of(panel.n * panel.day) / size
    name_all(middle=middle)
    off = panel.day - take(middle, panel.prompt)
    name_all(off=off)
    return panel.of(panel.n * off**2), panel.of(off * panel.y), size, total


def own_trend(panels: Sequence[PromptDays], day: pd.Timestamp, level: Any) -> DoubleDifference:
    """Compute what the difference of trends within both periods comes to between their middles."""
    days = np.unique(np.concatenate([panel.days for panel in panels]))
    span = setting("span", float(days[days >= 0].mean() - days[days < 0].mean()))
    periods = [(panel.only(panel.days < 0), panel.only(panel.days >= 0)) for panel in panels]
    return double_difference("trend", day, [slope_within(side, span) for side in periods], level)


def slope_within(panels: Sequence[PromptDays], span: Any, word: str = "group") -> GroupChange:
    """Compute the linear trend within prompts, over so many days.

    Of several panels of the same prompts, such as two periods, it is the trend within each.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        sums = [_about_middle(panel) for panel in panels]
        spread, moved, size, total = (reduce(add, parts) for parts in zip(*sums, strict=True))
        name_all(spread=spread, move=moved)
        used = np.flatnonzero(plain_value(spread) > 0)
        if not len(used):
            return GroupChange()
        m, moved = take(spread, used), take(moved, used)
        name_all(m=m, moved=moved)
        whole = One.total(m)
        slope = One.total(moved) / whole
        there = np.flatnonzero(plain_value(size) > 0)
        total, size = take(total, there), take(size, there)
        name_all(y=total, n=size)
        start = One.total(total) / One.total(size)
        name_all(**{"whole": whole, "slope": slope, f"{word}_before": start})
        z = (moved - slope * m) / whole * span
        name_all(z=z)
    return _group(start, start + slope * span, z, m, One.count(m), One.total(size))


def dated_by(flat: pd.DataFrame, date: str) -> pd.DataFrame:
    """The frame with whole days in the column of days."""
    days = pd.to_datetime(flat[date])
    if days.dt.tz is not None:
        days = days.dt.tz_localize(None)
    return flat.assign(**{date: days.dt.normalize()})


def day_of(on: object) -> pd.Timestamp:
    """The day of an action.

    Raises
    ------
    ArgumentError
        If it is none, or written in a way that can be read as another day.
    """
    given = parse_moment(on) if isinstance(on, str) else on
    if not isinstance(given, calendar_date | np.datetime64) or pd.isna(given):
        raise ArgumentError(
            f"on={on!r} is no day in ISO 8601; write it as 2026-11-05", argument="on"
        )
    return pd.Timestamp(given).tz_localize(None).normalize()


def outside(day: pd.Timestamp, stamps: pd.Series) -> list[str]:
    """Say that the day of an action is not among the days of a frame, if it is not."""
    first, last = stamps.min(), stamps.max()
    if pd.isna(first) or first <= day <= last:
        return []
    return [f"{day:%Y-%m-%d} is outside the days of the frame, {first:%Y-%m-%d} to {last:%Y-%m-%d}"]
