"""Whether an action worked: ``aa.stats.effect``, difference in differences within prompts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit.errors import ArgumentError, AvailabilityError
from aatoolkit.frame.groupby import find, flattened
from aatoolkit.metadata.recorded import recorded
from aatoolkit.sections.aggregation import COUNT, PROBABILITY
from aatoolkit.stats.adjust import adjusted, traced_adjusted
from aatoolkit.stats.cluster_sums import ClusterSums, Rules, cluster_sums, whole_state
from aatoolkit.stats.difference import detectable
from aatoolkit.stats.distributions import t_quantile
from aatoolkit.stats.effect_days import dated_by, day_of, outside
from aatoolkit.stats.estimate import LEAST_CLUSTERS
from aatoolkit.stats.interval import check_level
from aatoolkit.stats.panel import (
    WORDS,
    DoubleDifference,
    Mask,
    PromptDays,
    change_within,
    checks,
    double_difference,
    own_trend,
)
from aatoolkit.stats.results import amount, numbers, points, result, words
from aatoolkit.stats.trace import setting

_NAN = float("nan")
_BEYOND = 0.9
"""How sure it must be that an effect is more than a trend that goes on, one-sided."""

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
    sums = cluster_sums(dated_by(flat, date), column, date, by, rules)
    stamps = pd.to_datetime(sums.groups.keys[date])
    if stamps.isna().to_numpy()[sums.group].any():
        why = "rows with a number have none; drop them first"
        raise AvailabilityError(f"{date} names no day: {why}", columns={date: why})
    panels = [_panel(sums, rows, day, sums.y, sums.n) for rows in _sides(sums, groups)]
    estimates = _estimates(panels, day, level)
    return _described(estimates, panels, sums, column, by, level, outside(day, stamps), day)


def _sides(sums: ClusterSums, groups: Iterable[set[Any]]) -> list[Mask]:
    """The pairs of each group."""
    codes = (sums.labels.get_indexer(pd.Index(list(member))) for member in groups)
    return [np.isin(sums.cluster, each) for each in codes]


def _panel(sums: ClusterSums, rows: Mask, day: pd.Timestamp, y: Any, n: Any) -> PromptDays:
    stamps = pd.to_datetime(sums.groups.keys[stamps_of(sums)])
    days = (stamps - day).dt.days.to_numpy(np.float64)[sums.group]
    return PromptDays(sums.cluster, days, y, n, max(len(sums.labels), 1)).only(rows)


def stamps_of(sums: ClusterSums) -> str:
    """The column of days that a panel is grouped by."""
    return str(sums.groups.keys.columns[0])


def _estimates(
    panels: Sequence[PromptDays], day: pd.Timestamp, level: Any, span: Any = None
) -> list[DoubleDifference]:
    groups = [change_within(*side) for side in zip(panels, (0.0, 0.0), WORDS, strict=True)]
    effect_of = double_difference("effect", day, groups, level)
    return [effect_of, *checks(panels, day, level, span)]


def traced(cells: Any, at: int) -> dict[str, Any]:
    """The numbers of a row of `effect`, traced."""
    given = cells.arguments
    by, date = given.get("by", "prompt_id"), given.get("date", "date")
    level = setting("level", given.get("level", 0.95))
    if "estimates" not in cells.shared:
        flat, day = flattened(cells.inputs[0].frame), day_of(given["since"])
        groups = groups_of(flat, by, given["treated"], given.get("control"))
        frame, column = dated_by(flat, date), given.get("column", "mentioned")
        sums = cells.sums(0, column, date, by, given.get("rules"), frame)
        panels = []
        for rows in _sides(sums.sums, groups):
            pairs = np.flatnonzero(rows)
            plain = _panel(sums.sums, rows, day, sums.sums.y, sums.sums.n)
            days = sums.labelled("day", pairs, plain.days)
            of = (days, sums.y(pairs), sums.n(pairs))
            panels.append(PromptDays(plain.prompt, *of, plain.prompts))
        span = partial(setting, "span")
        cells.shared["estimates"] = _estimates(panels, day, level, span)
    estimates: list[DoubleDifference] = cells.shared["estimates"]
    made = estimates[at]
    tests = {row: cells.number(row, "p") for row in range(1, len(estimates))}
    tests = {row: p for row, p in tests.items() if np.isfinite(p)}
    columns = {"change": made.value, "low": made.low, "high": made.high, "p": made.p}
    for word, side in (("treated", made.treated), ("control", made.control)):
        columns |= {f"{word}_before": side.before, f"{word}_after": side.after}
    columns["n"] = made.treated.n + made.control.n
    columns["clusters"] = np.minimum(made.treated.k, made.control.k)
    if np.isfinite(cells.number(at, "p")):
        many = setting("tests", max(len(tests), 1) if at else 1)
        columns["detectable"] = detectable(made.error, made.df, level, many)
        if at in tests:
            adjusted_p = traced_adjusted(at, tests, "holm", lambda row: estimates[row].p)
            columns["p_adjusted"] = adjusted_p
    return columns


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
    """One row an estimate, with what each column says."""
    is_rate, unit = sums.is_proportion, sums.unit
    change = "absolute pp as fraction" if unit == "fraction 0-1" else unit
    tests = np.array([_NAN, *(each.p for each in estimates[1:])], np.float64)
    corrected = adjusted(tests, "holm")
    checked = max(int(np.isfinite(tests).sum()), 1)
    shown = [
        float(detectable(each.error, each.df, level, checked if at else 1))
        if np.isfinite(each.p)
        else _NAN
        for at, each in enumerate(estimates)
    ]
    failed = [
        each.kind if each.on is None else f"{each.kind} of {each.on:%Y-%m-%d}"
        for each, p in zip(estimates, corrected.tolist(), strict=True)
        if p < 1 - level
    ]
    verdicts, reasons = [], []
    for at, each in enumerate(estimates):
        p = corrected[at] if at else each.p
        verdict, why = _verdict(each, float(p), shown[at], is_rate, by)
        if not at and failed and verdict != "cannot say":
            why = f"the groups differed before already ({', '.join(failed)}); {why}"
            verdict = "cannot say"
        elif not at and verdict in ("up", "down") and len(estimates) > 1:
            trend = own_trend(panels, day, level)
            if not _is_beyond(each, trend):
                ends = f"{points(trend.value, is_rate)} of {points(each.value, is_rate)}"
                moving = f"the trend within both periods, gone on, comes to {ends}"
                why = f"the treated {by} may have been moving already: {moving}; {why}"
                verdict = "cannot say"
        elif not at and len(estimates) == 1 and verdict != "cannot say":
            why += "; too few days before to check that the groups moved alike"
        verdicts.append(verdict)
        reasons.append(why)
    notes = _notes(panels, by)
    reasons[0] = "; ".join([*limits, reasons[0], *notes])
    sides = [(each.treated, each.control) for each in estimates]
    frame = pd.DataFrame(
        {
            "kind": words(each.kind for each in estimates),
            "on": pd.Series([each.on for each in estimates], dtype="datetime64[us]"),
            "treated_before": numbers(treated.before for treated, _ in sides),
            "treated_after": numbers(treated.after for treated, _ in sides),
            "control_before": numbers(control.before for _, control in sides),
            "control_after": numbers(control.after for _, control in sides),
            "change": numbers(each.value for each in estimates),
            "low": numbers(each.low for each in estimates),
            "high": numbers(each.high for each in estimates),
            "p": numbers(each.p for each in estimates),
            "p_adjusted": numbers(corrected),
            "detectable": numbers(shown),
            "n": numbers(treated.n + control.n for treated, control in sides),
            "clusters": numbers((min(a.k, b.k) for a, b in sides), "Int64"),
            "verdict": words(verdicts),
            "why": words(reasons),
            "method": words(
                f"difference in differences within {by}, clustered, "
                f"t of {each.df:.3g} degrees of freedom"
                if each.error > 0
                else f"difference in differences within {by}"
                for each in estimates
            ),
        }
    )
    which = f"{level:.0%} interval"
    docs: dict[str, tuple[str, str | None]] = {
        "kind": ("The effect, or a check with the days before alone.", None),
        "on": ("The first day after.", None),
        "treated_before": (f"{column} of the treated {by} before, weighted as the effect.", unit),
        "treated_after": ("The same after.", unit),
        "control_before": (f"{column} of the control {by} before, weighted as the effect.", unit),
        "control_after": ("The same after.", unit),
        "change": ("The change of the treated less that of the control.", change),
        "low": (f"Lower end of its {which}, clustered by {by}.", change),
        "high": (f"Upper end of its {which}, clustered by {by}.", change),
        "p": ("Two-sided p-value of no difference.", PROBABILITY),
        "p_adjusted": ("The p-value of a check, adjusted by Holm's method.", PROBABILITY),
        "detectable": (
            "The smallest change that such a sample shows in 80% of cases; of a check after "
            "Holm's adjustment.",
            change,
        ),
        "n": ("Answers to the prompts that it uses.", COUNT),
        "clusters": (f"{by} of the smaller group that it uses.", COUNT),
        "verdict": ("up, down, no evidence or cannot say; of a check whether it differs.", None),
        "why": ("What the verdict rests on, or why there is none.", None),
        "method": ("How it was computed.", None),
    }
    return result(frame, "effect", docs, {}, sums.known.sources, whole_state(sums.states))


def _is_beyond(effect: DoubleDifference, trend: DoubleDifference) -> bool:
    """Whether an effect is more than a trend, one-sided."""
    error, df = float(np.hypot(effect.error, trend.error)), float(min(effect.df, trend.df))
    if not np.isfinite(error):
        return True
    beyond = (effect.value - trend.value) * np.sign(effect.value)
    return bool(beyond > t_quantile(_BEYOND, df) * error)


def _verdict(
    each: DoubleDifference, p: float, least: float, is_rate: bool, by: str
) -> tuple[str, str]:
    """The verdict of one estimate, and what it rests on."""
    if not np.isfinite(p):
        lacking = [
            f"{side.k} {word} {by} have answers before and after"
            for side, word in ((each.treated, "treated"), (each.control, "control"))
            if side.k < LEAST_CLUSTERS
        ]
        if lacking:
            return "cannot say", f"{' and '.join(lacking)}; it takes {LEAST_CLUSTERS}"
        return "cannot say", f"nothing differs between {by}, too few to estimate an error"
    low, high = (points(end, is_rate) for end in (each.low, each.high))
    sides = (
        f"treated {amount(each.treated.before, is_rate)} to {amount(each.treated.after, is_rate)}, "
        f"control {amount(each.control.before, is_rate)} to {amount(each.control.after, is_rate)}"
    )
    which = f"{100 * each.level:g} % interval of the difference, for this row alone"
    why = f"{sides}; {which}: {low} to {high}"
    if p >= 1 - each.level:
        shown = points(least, is_rate).lstrip("+")
        return "no evidence", f"{why}; one of {shown} would have shown in 4 of 5 such samples"
    if each.kind != "effect":
        return "differs", why
    return ("up" if each.value > 0 else "down"), why


def _notes(panels: Sequence[PromptDays], by: str) -> list[str]:
    """Return a note on the prompts that have answers in one period only."""
    once = 0
    for panel in panels:
        late = panel.of(panel.n, panel.days >= 0) > 0
        early = panel.of(panel.n, panel.days < 0) > 0
        once += int((late ^ early).sum())
    return [f"{once} {by} have answers in one period only and are left out"] if once else []
