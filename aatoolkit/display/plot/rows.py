"""Rows with one number each, or two: ranked bars with their intervals, and gaps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from aatoolkit._util.numbers import number, numbers, signed
from aatoolkit.availability import Status
from aatoolkit.display.plot.data import Numbers, PlotData
from aatoolkit.display.plot.drawn import drawn_of
from aatoolkit.display.plot.labels import axis_label, capitalized, first_of, humanize, in_words
from aatoolkit.display.plot.options import PlotOptions
from aatoolkit.display.plot.reasons import (
    DOES_NOT_APPLY,
    INFINITE,
    NOT_MEASURED,
    NOT_MENTIONED,
    NOTHING,
    style_without,
    whys_missing,
)
from aatoolkit.display.plot.reduce import each_once, one_row_per_mark
from aatoolkit.display.plot.spec import (
    PITCH,
    Mark,
    Name,
    Panel,
    RowMarks,
    Scale,
    rows_of,
    rule,
    some,
)
from aatoolkit.display.plot.style import MUTED, OWN, REST, RIVAL, Style, few_levels, styles_for
from aatoolkit.display.plot.whiskers import whiskers
from aatoolkit.errors import AvailabilityError
from aatoolkit.sections.aggregation import FRACTION, RANK

_MOST_LACKING = 3
"""How many rows without a number are shown beside as many others as there is room for."""

_WITHOUT = {
    NOT_MEASURED: "not measured",
    NOT_MENTIONED: "not mentioned",
    NOTHING: "with nothing to count",
    DOES_NOT_APPLY: "to which it does not apply",
    INFINITE: "infinite, and not drawn",
}
"""Of rows without a number the reasons, as they are counted in words."""

_PREFIXES = (("leader_", "own_"), ("before_", "after_"), ("previous_", ""), ("other_", "ai_"))
"""Prefixes of column pairs to compare, the reference first."""


def names_of(data: PlotData, labels: Sequence[str]) -> tuple[Name, ...]:
    """The names of rows, the own one and competitors marked."""
    own, rivals = data.own(), data.rivals()
    return tuple(
        Name(label, "own" if mine else "competitor" if theirs else "")
        for label, mine, theirs in zip(labels, own, rivals, strict=True)
    )


def without_number(rows: RowMarks, whys: Sequence[str]) -> Iterator[Mark]:
    """Rows that have no number: a box from end to end, and why there is none."""
    for why in dict.fromkeys(filter(None, whys)):
        mask = [word == why for word in whys]
        yield rows.across(mask, style_without(why))
        yield rows.words(mask, -np.inf, whys, has_paper=True)


def lacking(data: PlotData, name: str) -> list[str]:
    """Why each row has no number; empty where it has one."""
    missing = np.flatnonzero(np.isnan(data.values(name))).tolist()
    whys = dict(zip(missing, whys_missing(data, name, missing), strict=True))
    return [whys.get(row, "") for row in range(len(data))]


def reach(values: Numbers, unit: str | None, room: float = 1.02) -> tuple[float, float]:
    """The ends of a scale from 0, or below it where numbers are."""
    there = values[np.isfinite(values)]
    most, least = (float(there.max()), float(there.min())) if len(there) else (1.0, 0.0)
    most = max(most, 0.0) or (-least / 20 if least < 0 else 1.0)
    return min(least, 0.0) * 1.05, most * room


def describe_mark(
    data: PlotData, name: str, row: int, label: str, ends: tuple[float, float] = (np.nan, np.nan)
) -> str:
    """Describe a mark, one line each: label, number, interval, counts and availability."""
    unit = data.units(name)[row] if data.unit_column(name) else data.unit(name)
    value = float(data.values(name)[row])
    lines = [label] if label else []
    lines.append(f"{humanize(name)}: {'no number' if np.isnan(value) else number(value, unit)}")
    if not np.isnan(sum(ends)):
        lines.append("interval: " + " to ".join(number(end, unit) for end in ends))
    rule, sample = data.rule(name), data.sample(name)
    counts = dict.fromkeys([*((rule.over or ()) if rule else ()), *([sample] if sample else [])])
    for count in counts:
        if count in data.kinds and count != name:
            size = float(data.values(count)[row])
            lines.append(f"{humanize(count)}: {'not measured' if np.isnan(size) else number(size)}")
    cells = data.cells(name)
    state = cells.states[int(cells.codes[row])]
    if not data.is_known:
        lines.append("availability unknown")
    else:
        is_whole = state.status == Status.AVAILABLE and not np.isnan(value)
        lines.append("measured" if is_whole else str(state))
    return "\n".join(lines)


def bars(data: PlotData, options: PlotOptions) -> Panel | None:
    """Bars of the most informative number, or of ``y``, by the label column."""
    x = options.x or data.label_column or next(iter(data.of_kind("word")), None)
    # A column that says of each row which metric it holds is the number, if there is one.
    measures = [*(n for n in data.numbers if options.kind and data.unit_column(n)), *data.measures]
    y = next(iter(options.y or [n for n in measures if n != x]), None)
    if x is None or y is None or data.kinds[y] != "number" or data.kinds[x] == "list":
        return None
    rows, marks = data, [x, *([options.by] if options.by else [])]
    # Many rows of one brand are no ranking of brands; what each brand has is.
    is_ranking = x in data.keys and len(data.keys) > 1 and not data.unit_column(y)
    if options.x or is_ranking:
        try:
            data = one_row_per_mark(data, marks, [y])
        except AvailabilityError:
            if options.x:
                raise
            return None
    else:
        data = each_once(data, [*marks, *data.keys], [y])
    listed = len(data)
    if data.unit_column(y):
        words = pd.Series(data.text(data.unit_column(y) or ""))
        data = data.only((words == words.mode()[0]).to_numpy())
    values, top = data.values(y), options.top or 15
    order = data.best_first(y)
    missing = int(np.isnan(values).sum())
    measured = len(order) - missing
    kept, zeros = order[:measured][:top], 0
    above = int((values > 0).sum())
    if 0 < above < len(kept) - _MOST_LACKING and measured > top and not (values < 0).any():
        kept, zeros = kept[: above + _MOST_LACKING], measured - above - _MOST_LACKING
    # A few unmeasured rows are shown after the largest; the finding counts the others.
    shown = data.sorted_by([*kept, *order[measured:][: max(top - len(kept), _MOST_LACKING)]])
    ends = whiskers(shown, y, rows, marks)
    whys = whys_missing(data, y, order[measured:].tolist())
    left_out = measured - len(kept)
    counted = [word if word in _WITHOUT else NOT_MEASURED for word in whys]
    title = f"{humanize(y)} by {humanize(data.row_noun(x))}" + first_of(len(kept), left_out)
    notes = (
        [f"Whiskers: {in_words(ends.which)}."]
        if ends.which and not np.isnan(ends.low).all()
        else []
    )
    if (~np.isnan(shown.values(y)) & np.isnan(ends.low)).any() and notes:
        notes = [notes[0][:-1] + "; bars without any have too few answers or prompts for one."]
    if zeros:
        notes.append(f"{zeros} others are 0.")
    if listed > len(data):
        notes.append(f"{listed - len(data)} rows are in other units, and not drawn.")
    return Panel(
        "bars",
        shown,
        drawn_of(shown, [y], *marks, bounds=ends.bounds),
        capitalized(title),
        _finding_of_bars(shown, x, y, counted, zeros),
        *_scales(shown, x, y, ends.high),
        _marks_of_bars(shown, x, y, options, (ends.low, ends.high)),
        notes,
        _legend_of_bars(shown, options),
        height=PITCH * len(shown),
        shared="x",
    )


def _scales(data: PlotData, x: str, y: str, high: Numbers) -> tuple[Scale, Scale]:
    low, most = reach(np.concatenate([data.values(y), high]), data.unit(y))
    is_none = np.isnan(data.values(y)).all()
    label = axis_label(data, y)
    across = Scale(
        low,
        most,
        "none" if is_none else "number",
        data.unit(y),
        "" if label == humanize(y) else label,
        is_whole=data.is_count(y),
    )
    return across, rows_of(names_of(data, data.labels(x)))


def _levels(data: PlotData, options: PlotOptions) -> tuple[list[str], dict[str, Style]]:
    """The level of each row, and the style of each level."""
    if not options.by:
        return [], {}
    levels = few_levels(data.text(options.by), options.levels)
    return levels, styles_for([*few_levels(options.levels), *levels] if options.levels else levels)


def _legend_of_bars(data: PlotData, options: PlotOptions) -> list[tuple[str, Mark]]:
    _, styles = _levels(data, options)
    return [(humanize(level), key(style)) for level, style in styles.items()]


def key(style: Style, kind: str = "boxes") -> Mark:
    """What stands for a style in a legend."""
    return Mark(kind, some([]), some([]), style)


def _marks_of_bars(
    data: PlotData, x: str, y: str, options: PlotOptions, ends: tuple[Numbers, Numbers]
) -> list[Mark]:
    values, labels = data.values(y), data.text(x)
    (levels, styles), (low, high) = _levels(data, options), ends
    own, rivals = data.own(), data.rivals()
    plain = REST if own.any() or rivals.any() else OWN
    looks = [
        styles[levels[row]] if levels else OWN if own[row] else RIVAL if rivals[row] else plain
        for row in range(len(data))
    ]
    rows = RowMarks(
        lambda row: describe_mark(data, y, row, labels[row], (float(low[row]), float(high[row])))
    )
    there = ~np.isnan(values)
    marks = [
        rows.boxes(there & [look == style for look in looks], values, style)
        for style in dict.fromkeys(
            look for look, is_there in zip(looks, there, strict=True) if is_there
        )
    ]
    if (values[there] < 0).any():
        marks.append(rule(0.0))
    marks += without_number(rows, lacking(data, y))
    sure = there & ~np.isnan(low + high)
    marks.append(RowMarks().spans(low, high, mask=sure, has_caps=True))
    sample = data.sample(y) if data.unit(y) == FRACTION else None
    sizes = data.values(sample) if sample else np.full(len(data), np.nan)
    words = [
        text + ("" if np.isnan(size) else f"  (n={number(size)})")
        for text, size in zip(numbers(values, data.unit(y)), sizes.tolist(), strict=True)
    ]
    return [*marks, rows.words(there, np.where(sure, high, np.fmax(values, 0)), words)]


def _finding_of_bars(data: PlotData, x: str, y: str, missing: Sequence[str], zeros: int) -> str:
    values, labels, unit = data.values(y), data.labels(x), data.unit(y)
    there = np.flatnonzero(~np.isnan(values))
    lacking = "; ".join(
        f"{missing.count(words)} {shown}" for words, shown in _WITHOUT.items() if words in missing
    )
    if not len(there):
        alike = {*missing} <= {NOT_MEASURED}
        return "none of them was measured" if alike else f"none has a number: {lacking}"
    first, last = there[0], there[-1]
    text = f"{labels[first]} {number(values[first], unit)}"
    if last != first:
        text += f", down to {labels[last]} {number(values[last], unit)}"
    own = [row for row in there if data.own()[row] and row not in (first, last)]
    if own:
        text += f"; own brand {labels[own[0]]} {number(values[own[0]], unit)}"
    text += f"; {zeros} others are 0" if zeros else ""
    return text + (f"; {lacking}" if lacking else "")


def gap(data: PlotData, options: PlotOptions) -> Panel | None:
    """Two columns with paired names, or the two given as ``y``, in each row."""
    x = options.x or data.label_column
    pair = options.y if len(options.y) == 2 else pair_of(data, ranks=options.kind is not None)
    if x is None or pair is None or (options.y and len(options.y) != 2):
        return None
    if data.frame.duplicated([x]).any():
        return None
    before, now = pair
    order = data.best_first(now)
    if any(before.startswith(prefix) and prefix != "previous_" for prefix, _ in _PREFIXES):
        # What is about the gap has the widest first; what is about a number has the largest.
        wide = np.abs(data.values(now) - data.values(before))
        order = np.argsort(np.where(np.isnan(wide), np.inf, -wide), kind="stable")
    rows = data.sorted_by(order[: options.top or 15])
    unit, (first, second) = rows.unit(before), (rows.values(name) for name in pair)
    there = ~(np.isnan(first) & np.isnan(second))
    sample = rows.sample(now) if unit == FRACTION else None
    sizes = rows.values(sample) if sample else np.full(len(rows), np.nan)
    words = [
        ("only one measured" if np.isnan(a + b) else signed(b - a, unit))
        + ("" if np.isnan(n) else f"  (n={number(n)})")
        for a, b, n in zip(first, second, sizes, strict=True)
    ]
    labels, styles = rows.text(x), (Style("blue"), Style("orange", "s", look="hollow"))
    whys = [
        "" if is_there else why for is_there, why in zip(there, lacking(rows, now), strict=True)
    ]

    def of(column: str) -> RowMarks:
        return RowMarks(lambda row: describe_mark(rows, column, row, labels[row]), column)

    ends = np.fmin(first, second) if unit == RANK else np.fmax(first, second)
    marks = [
        *without_number(of(now), whys),
        RowMarks().spans(first, second, MUTED, 2.0),
        of(before).dots(first, styles[1], 8.5),
        of(now).dots(second, styles[0], 6.5),
        RowMarks().words(there, ends, words, 9),
    ]
    low, most = reach(np.concatenate([first, second]), unit, 1.03)
    scale = Scale(low - (most - low) * 0.02, most, unit=unit)
    if unit == RANK:
        scale = Scale(most, 0.9, unit=unit)
    title = f"{humanize(now)} and {humanize(before)} by {humanize(data.row_noun(x))}"
    return Panel(
        "gap",
        rows,
        drawn_of(rows, (now, before), x),
        capitalized(title) + first_of(len(rows), len(data) - len(rows)),
        _finding_of_gap(rows, x, before, now),
        scale,
        rows_of(names_of(rows, labels)),
        marks,
        legend=[(humanize(n), key(s, "dots")) for n, s in zip((now, before), styles, strict=True)],
        height=PITCH * len(rows),
        shared="x",
    )


def _finding_of_gap(rows: PlotData, x: str, before: str, now: str) -> str:
    first, second, unit = rows.values(before), rows.values(now), rows.unit(before)
    wide = np.abs(second - first)
    if np.isnan(wide).all():
        return "no row has both numbers"
    row = int(np.nanargmax(wide))
    a, b = float(first[row]), float(second[row])
    return (
        f"the widest gap is {rows.text(x)[row]}: {humanize(now)} {number(b, unit)} "
        f"beside {number(a, unit)} ({signed(b - a, unit)})"
    )


def pair_of(data: PlotData, *, ranks: bool) -> tuple[str, str] | None:
    """Find the first two columns with paired names and the same unit."""
    for name in data.numbers:
        for one, other in _PREFIXES:
            second = other + name.removeprefix(one)
            if not name.startswith(one) or second not in data.numbers:
                continue
            if one == "previous_" and "prompt_id" in data.keys and not ranks:
                continue  # between single prompts the widest change is mostly chance
            unit = data.unit(name)
            if unit is not None and unit == data.unit(second) and (ranks or unit == FRACTION):
                return name, second
    return None
