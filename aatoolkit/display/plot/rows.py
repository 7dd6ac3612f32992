"""Rows with names: bars, gaps, figures, funnels, shares, counts, spans, states and texts.

One constructor, `row_panel`, draws them from cells: a mark in a row, with its interval and words.
A kind chooses rows and columns, and says what the cells are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from aatoolkit._util.numbers import count, number, numbers, signed
from aatoolkit.availability import Status
from aatoolkit.display.plot import style as look
from aatoolkit.display.plot.data import CONTEXT, Numbers, PlotData, is_category
from aatoolkit.display.plot.drawn import Drawn, Place, drawn_of
from aatoolkit.display.plot.labels import (
    axis_label,
    capitalized,
    first_of,
    humanize,
    in_words,
    joined_reasons,
    row_name,
    table_words,
)
from aatoolkit.display.plot.measured import (
    NOT_GIVEN,
    NOT_MEASURED,
    WITHOUT,
    Whiskers,
    each_once,
    ends_of_figures,
    one_row_per_mark,
    reason_at,
    style_without,
    whiskers,
    whys_missing,
)
from aatoolkit.display.plot.options import PlotOptions
from aatoolkit.display.plot.spec import (
    NONE,
    PITCH,
    Mark,
    Name,
    Panel,
    Scale,
    WordColumn,
    rows_of,
    rules,
    some,
    spans,
    ticks,
)
from aatoolkit.display.plot.style import OWN, REST, SERIES, Style
from aatoolkit.errors import AvailabilityError
from aatoolkit.sections.aggregation import FRACTION, RANK, SCORE

# --- the constructor --------------------------------------------------------------------------

NAN = float("nan")


class Cell(NamedTuple):
    """A mark in a row: a box from ``start`` to ``x`` or a dot, its interval, and words beside it.

    ``why`` is the reason for which it has no number; ``at`` is where the words begin, by default
    right of the mark and its interval.
    """

    row: int
    x: float
    style: Style = OWN
    start: float = 0.0
    low: float = NAN
    high: float = NAN
    words: str = ""
    why: str = ""
    tip: str | Callable[[], str] = ""
    place: Place | None = None
    kind: str = "boxes"
    size: float = 0.66
    at: float | None = None


def row_panel(
    kind: str, data: PlotData, title: str, names: Sequence[Name], cells: Iterable[Cell], x: Scale,
    columns: Sequence[str], *, over: Sequence[Mark] = (), said: Sequence[str] = (),
    finding: str = "", drawn: Drawn | None = None, pitch: float = 1.0, **more: Any,
) -> Panel:  # fmt: skip
    """A panel of rows with names; ``said`` is what the finding says of each row."""
    groups: dict[tuple[str, Style, float], list[Cell]] = {}
    words: dict[bool, list[Cell]] = {False: [], True: []}
    lines: dict[tuple[Style, float], list[Cell]] = {}
    for cell in cells:
        if cell.why:
            far = float("inf")
            reason = reason_at(data, columns[0] if columns else "", cell.row)
            tip = "\n".join(filter(None, (names[cell.row].text, cell.why, reason)))
            cell = cell._replace(start=-far, x=far, style=style_without(cell.why), at=-far,
                                 words=cell.why, tip=tip)  # fmt: skip
        if cell.x == cell.x:
            groups.setdefault((cell.kind, cell.style, cell.size), []).append(cell)
        if cell.low == cell.low and cell.high == cell.high:
            is_dot = cell.kind == "dots"
            line = (cell.style, 2.0) if is_dot else (look.INK, 1.1)
            lines.setdefault(line, []).append(cell)
        if cell.words:
            words[bool(cell.why)].append(cell)
    marks = [_mark(*key, group) for key, group in groups.items()]
    # Lines are over boxes, and below dots.
    strokes = [spans(*_ends(group), *key) for key, group in lines.items()]
    strokes += (
        [rules(0.0)] if x.kind == "number" and min(x.low, x.high) < 0 < max(x.low, x.high) else []
    )
    first = sum(mark.kind == "boxes" for mark in marks)
    marks.sort(key=lambda mark: mark.kind != "boxes")
    texts = [f"{name.shown}: {word}" for name, word in zip(names, said, strict=False)]
    others = f"; and {len(texts) - 8} more" if len(texts) > 8 else ""
    return Panel(
        kind, data, drawn or drawn_of(data, columns), title,
        finding or "; ".join(texts[:8]) + others,
        x, rows_of(names),
        [*marks[:first], *strokes, *marks[first:], *map(_words, words.values()), *over],
        height=PITCH * pitch * len(names), **more,
    )  # fmt: skip


def _ends(cells: Sequence[Cell]) -> tuple[Numbers, Numbers, Numbers]:
    rows = some([cell.row for cell in cells])
    return some([cell.low for cell in cells]), some([cell.high for cell in cells]), rows


def _mark(kind: str, style: Style, size: float, cells: Sequence[Cell]) -> Mark:
    start, end = some([cell.start for cell in cells]), some([cell.x for cell in cells])

    def tips() -> list[str]:
        return [cell.tip if isinstance(cell.tip, str) else cell.tip() for cell in cells]

    places = [cell.place or (cell.row, None) for cell in cells]
    is_box = kind == "boxes"
    return Mark(kind, start if is_box else end, _ends(cells)[2], style, to=end if is_box else None,
    size=size,
                tips=tips if cells[0].tip else None, places=places)  # fmt: skip


def _words(cells: Sequence[Cell]) -> Mark:
    ends = [
        cell.at if cell.at is not None else np.nanmax([cell.x, cell.start, cell.high])
        for cell in cells
    ]
    shift = 9.0 if cells and cells[0].kind == "dots" else 5.0
    return Mark("words", some(ends), _ends(cells)[2], words=[cell.words for cell in cells],
                shift=(shift, 0.0), has_paper=any(cell.why for cell in cells))  # fmt: skip


def names_of(data: PlotData, labels: Sequence[str]) -> list[Name]:
    """The names of rows, the own one and competitors marked."""
    sides = np.where(data.own(), "own", np.where(data.rivals(), "competitor", ""))
    return [Name(label, str(side)) for label, side in zip(labels, sides, strict=True)]


def reach(values: Numbers, unit: str | None = None, room: float = 1.02, **more: Any) -> Scale:
    """A scale from 0, or below it where numbers are; without ticks where there are none."""
    there = values[np.isfinite(values)]
    most, least = (float(there.max()), float(there.min())) if len(there) else (1.0, 0.0)
    most = max(most, 0.0) or (-least / 20 if least < 0 else 1.0)
    kind = "number" if len(there) else "none"
    return Scale(min(least, 0.0) * 1.05, most * room, kind, unit, **more)


def describe_mark(
    data: PlotData, name: str, row: int, label: str, low: float = NAN, high: float = NAN
) -> str:
    """Describe a mark, one line each: label, number, interval, counts and availability."""
    unit, value = data.units(name)[row], float(data.values(name)[row])
    lines = [label] if label else []
    lines.append(f"{humanize(name)}: {'no number' if np.isnan(value) else number(value, unit)}")
    if not np.isnan(low + high):
        lines.append(f"interval: {number(low, unit)} to {number(high, unit)}")
    rule = data.rule(name)
    for size in dict.fromkeys([*((rule.over or ()) if rule else ()), data.sample(name)]):
        if size in data.kinds and size is not None and size != name:
            n = float(data.values(size)[row])
            lines.append(f"{humanize(size)}: {'not measured' if np.isnan(n) else number(n)}")
    state = data.cells(name).states[int(data.cells(name).codes[row])]
    is_whole = state.status == Status.AVAILABLE and not np.isnan(value)
    known = "measured" if is_whole else str(state)
    return "\n".join([*lines, known if data.is_known else "availability unknown"])


def sizes_of(data: PlotData, name: str | None) -> list[str]:
    """The sample of each row in words; empty where none is declared."""
    sizes = data.values(name) if name else np.full(len(data), NAN)
    return ["" if n != n else f"n={number(n)}" for n in sizes.tolist()]


# --- bars and gaps ----------------------------------------------------------------------------

_MOST_LACKING = 3
"""How many rows without a number are shown beside as many others as there is room for."""

_PREFIXES = (("leader_", "own_"), ("before_", "after_"), ("previous_", ""), ("other_", "ai_"))
"""Prefixes of column pairs to compare, the reference first."""


def bars(data: PlotData, options: PlotOptions) -> Panel | None:
    """Bars of the most informative number, or of ``y``, by the label column."""
    x = options.x or data.label_column or next(iter(data.of_kind("word")), None)
    # A column that says of each row which metric it holds is the number, if there is one.
    measures = [*(n for n in data.numbers if options.kind and data.unit_column(n)), *data.measures]
    y = next(iter(options.y or [n for n in measures if n != x]), None)
    if x is None or y is None or data.kinds[y] != "number" or data.kinds[x] == "list":
        return None
    given, marks = data, [x, *filter(None, [options.color])]
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
    (data, metric), listed = data.of_one_metric(y), len(data)
    values, top, order = data.values(y), options.top or 15, data.best_first(y)
    measured = int((~np.isnan(values)).sum())
    kept, above, zeros = order[:measured][:top], int((values > 0).sum()), 0
    if 0 < above < len(kept) - _MOST_LACKING and measured > top and not (values < 0).any():
        kept, zeros = kept[: above + _MOST_LACKING], measured - above - _MOST_LACKING
    # A few unmeasured rows are shown after the largest; the finding counts the others.
    rows = data.sorted_by([*kept, *order[measured:][: max(top - len(kept), _MOST_LACKING)]])
    whys = [
        w if w in WITHOUT else NOT_MEASURED
        for w in whys_missing(data, y, order[measured:].tolist())
    ]
    missing = [f"{whys.count(w)} {words}" for w, words in WITHOUT.items() if w in whys]
    ends, unit, values = whiskers(rows, y, given, marks), rows.unit(y), rows.values(y)
    names, (looks, legend) = names_of(rows, rows.labels(x)), _looks(rows, options)
    sizes = sizes_of(rows, rows.sample(y) if unit == FRACTION else None)
    cells = [
        Cell(row, value, looks[row], 0.0, low, high, f"{words}  ({n})" if n else words, why,
             partial(describe_mark, rows, y, row, names[row].text, low, high))
        for row, (value, low, high, words, n, why) in enumerate(
            zip(values, ends.low, ends.high, numbers(values, unit), sizes, whys_missing(rows, y),
                strict=True))
    ]  # fmt: skip
    label, is_short = axis_label(data, y), bool((~np.isnan(values) & np.isnan(ends.low)).any())
    headline, finding = _ranking(names, values, unit, missing, zeros)
    notes = [f"{zeros} others are 0."] if zeros else []
    notes += [f"{listed - len(data)} rows are in other units, and not drawn."] if metric else []
    how = "Lines: 95% interval" + (", none of too few answers or prompts" if is_short else "")
    return row_panel(
        "bars", rows, capitalized(f"{humanize(y)} by {humanize(data.row_noun(x))}")
        + first_of(len(kept), measured - len(kept)), names, cells,
        reach(np.concatenate([values, ends.high]), unit,
              label="" if label == humanize(y) else label, is_whole=rows.is_count(y)),
        [y], legend=legend, shared="x", finding=finding, headline=headline,
        drawn=drawn_of(rows, [y], *marks, bounds=ends.bounds),
        how=how if ends.there else "", notes=[*ends.notes, *notes],
    )  # fmt: skip


def _looks(data: PlotData, options: PlotOptions) -> tuple[list[Style], list[Any]]:
    """The style of each row, and their legend."""
    if options.color:
        levels = look.few_levels(data.labels(options.color), options.levels)
        every = [*look.few_levels(options.levels), *levels] if options.levels else levels
        styles = look.styles_for(every, fixed=not options.palette)
        legend = [(humanize(level), style, "boxes") for level, style in styles.items()]
        return [styles[level] for level in levels], legend
    of = {"own": OWN, "competitor": look.RIVAL}
    names = names_of(data, [""] * len(data))
    plain = REST if any(name.of for name in names) else OWN
    return [of.get(name.of, plain) for name in names], []


def _ranking(
    names: Sequence[Name], values: Numbers, unit: str | None, missing: Sequence[str] = (),
    zeros: int = 0,
) -> tuple[str, str]:  # fmt: skip
    """Who has most and what the own one has, as a title and as a sentence."""
    words = [f"{name.text} {number(n, unit)}" for name, n in zip(names, values, strict=True)]
    there = np.flatnonzero(~np.isnan(values)).tolist()
    if not there:
        alike = not missing or (len(missing) == 1 and WITHOUT[NOT_MEASURED] in missing[0])
        return (
            "",
            "none of them was measured" if alike else f"none has a number: {'; '.join(missing)}",
        )
    first, last = there[0], there[-1]
    mine = next((row for row in there[1:] if names[row].of == "own"), None)
    headline = ""
    if len(there) > 1 and values[first] > values[there[1]] and unit != RANK:
        headline = f"{names[first].text} has most, {number(values[first], unit)}"
        own = "" if mine is None else f"; {names[mine].text} has {number(values[mine], unit)}"
        headline += own
    parts = [words[first] + (f", down to {words[last]}" if last != first else "")]
    parts += [f"own brand {words[mine]}"] if mine not in (None, last) else []
    parts += [f"{zeros} others are 0"] if zeros else []
    return headline, "; ".join([*parts, *missing])


def gap(data: PlotData, options: PlotOptions) -> Panel | None:
    """Two columns with paired names, or the two given as ``y``, in each row."""
    x = options.x or data.label_column
    pair = options.y if len(options.y) == 2 else pair_of(data, ranks=options.kind is not None)
    if x is None or pair is None or (options.y and len(options.y) != 2):
        return None
    if data.frame.duplicated([x]).any():
        return None
    before, now = pair
    is_past = before.startswith("previous_") or not before.startswith(
        tuple(p for p, _ in _PREFIXES)
    )
    order = data.best_first(now)
    if not is_past:
        # What is about the gap has the widest first; what is about a number has the largest.
        order = np.argsort(-np.nan_to_num(np.abs(data.values(now) - data.values(before)), nan=-1.0),
                           kind="stable")  # fmt: skip
    rows = data.sorted_by(order[: options.top or 15])
    unit, first, second = rows.unit(before), rows.values(before), rows.values(now)
    sizes = sizes_of(rows, rows.sample(now) if unit == FRACTION else None)
    names, cells, moved = names_of(rows, rows.labels(x)), [], []
    for row, (a, b, n, why) in enumerate(
        zip(first, second, sizes, whys_missing(rows, now), strict=True)
    ):
        moved.append(signed(b - a, unit) if a + b == a + b else "only one measured")
        dot = Cell(row, a, REST, low=a, high=b, kind="dots", size=7.5, place=(row, before),
                   tip=partial(describe_mark, rows, before, row, names[row].text))  # fmt: skip
        if a != a and b != b:
            cells.append(Cell(row, NAN, why=why))
            continue
        right = (np.fmin if unit == RANK else np.fmax)(a, b)
        cells += [dot, dot._replace(
            x=b, style=OWN, low=NAN, words=f"{moved[-1]}  ({n})" if n else moved[-1], at=right,
            place=(row, now), tip=partial(describe_mark, rows, now, row, names[row].text),
        )]  # fmt: skip
    scale = reach(np.concatenate([first, second]), unit, 1.03)
    scale = replace(scale, low=scale.low - (scale.high - scale.low) * 0.02)
    wide, finding = np.abs(second - first), "no row has both numbers"
    if not np.isnan(wide).all():
        row = int(np.nanargmax(wide))
        ends = [number(values[row], unit) for values in (second, first)]
        finding = f"the widest gap is {names[row].text}: {humanize(now)} {ends[0]} beside {ends[1]}"
        finding += f" ({moved[row]})"
    return row_panel(
        "gap", rows,
        capitalized(f"{humanize(now)} and {humanize(before)} by {humanize(data.row_noun(x))}")
        + first_of(len(rows), len(data) - len(rows)), names, cells,
        replace(scale, low=scale.high, high=0.9) if unit == RANK else scale, (now, before),
        legend=[(humanize(now), OWN, "dots"), (humanize(before), REST, "dots")], shared="x",
        drawn=drawn_of(rows, (now, before), x), finding=finding,
        headline=_ranking(names, second, unit)[0] if is_past else "",
    )  # fmt: skip


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


# --- key figures ------------------------------------------------------------------------------

_SIDES = (("previous_value", "value"), ("before", "after"), ("before_value", "after_value"))
_OF_RESULTS = ("low", "high", "p", "n", "clusters")
"""Of a result of statistics: what describes its numbers and is none of its own."""
_WHOLE = {FRACTION: 1.0, SCORE: 100.0}


class Figure(NamedTuple):
    """One number: its value, previous value, unit, sample, interval, and why there is none."""

    label: str
    value: float
    before: float
    unit: str | None
    n: str
    why: str
    low: float
    high: float
    metric: str
    place: Place

    def share(self, value: float) -> float:
        """A value as a part of its whole; NaN if it has none."""
        share = value / _WHOLE.get(self.unit or "", NAN)
        return share if 0 <= share <= 1 else NAN

    @property
    def moved(self) -> str:
        """The change, or the interval of a number that is no part of a whole."""
        if self.before + self.value == self.before + self.value:
            return signed(self.value - self.before, self.unit)
        has_ends = self.low + self.high == self.low + self.high
        words = f"{number(self.low, self.unit)} to {number(self.high, self.unit)}"
        return words if has_ends and np.isnan(self.share(self.value)) else ""

    @property
    def said(self) -> str:
        """It in words."""
        words = f"{self.label}: {self.metric}" if self.metric else self.label
        words += f" {self.why or number(self.value, self.unit)}"
        if self.before == self.before and self.moved:
            return f"{words} (before {number(self.before, self.unit)})"
        return f"{words} ({self.moved})" if self.moved else words


def figures(data: PlotData, options: PlotOptions) -> Panel | None:
    """The numbers of a single row, or of rows whose numbers differ in unit."""
    x, listed, notes = options.x or data.label_column, [], []
    if len(data) == 1 and not options.x:
        is_result = data.table.startswith("statistics:") and not options.y
        columns = [n for n in options.y or data.numbers if not (is_result and n in _OF_RESULTS)]
        has_ends = is_result and {"low", "high"} <= data.kinds.keys()
        # Ends stand behind the number whose they are.
        of = [name for name in data.kinds if name in (*columns, "low")]
        for name in columns:
            ends = whiskers(data, name)
            if has_ends and of[of.index("low") - 1] == name:
                ends = Whiskers(data.values("low"), data.values("high"))
            notes += ends.notes
            listed.append(Figure(
                capitalized(humanize(name)), float(data.values(name)[0]), NAN, data.unit(name),
                sizes_of(data, data.sample(name) if data.rule(name) else None)[0],
                whys_missing(data, name)[0], float(ends.low[0]), float(ends.high[0]), "", (0, name),
            ))  # fmt: skip
        what = capitalized(table_words(data) or "figures")
        what = f"{row}: {what}" if (row := row_name(data)) else what
        more = [data.text(n)[0] for n in ("why", "method") if is_result and n in data.kinds]
        notes += [f"{capitalized(in_words(words))}." for words in more if words != look.BLANK]
    else:
        sides = options.y if len(options.y) in (1, 2) else _sides(data)
        if x is None or sides is None or (options.y and not options.kind):
            return None
        now, columns = sides[-1], [*sides[::-1]]
        if data.unit_column(now) is None and not options.kind:
            return None
        ends = ends_of_figures(data, now)
        has_metric = x != "metric" and "metric" in data.kinds
        labels = data.labels(x)
        listed = [
            Figure._make((capitalized(label) if x == "metric" else label, *parts, (row, None)))
            for row, (label, *parts) in enumerate(zip(
                labels, data.values(now).tolist(),
                data.values(sides[0]) if len(sides) == 2 else [NAN] * len(data), data.units(now),
                sizes_of(data, data.sample(now)), whys_missing(data, now), ends.low, ends.high,
                map(humanize, data.text("metric")) if has_metric else [""] * len(data), strict=True,
            ))
        ]  # fmt: skip
        what = capitalized(table_words(data) or f"{humanize(now)} by {humanize(x)}")
        notes = ends.notes
    return _cards(data, columns, what, listed, options.top or 12, notes) if listed else None


def _sides(data: PlotData) -> tuple[str, ...] | None:
    """The columns of the number and the one before; of metrics without one, the number alone."""
    sides = next((s for s in _SIDES if all(name in data.numbers for name in s)), None)
    if sides is None and "metric" in data.kinds and "value" in data.numbers:
        return ("value",) if data.frame["metric"].is_unique else None
    return sides


def _cards(
    data: PlotData, columns: Sequence[str], what: str, listed: list[Figure], most: int,
    notes: Sequence[str],
) -> Panel:  # fmt: skip
    """Numbers of several units: each with its change, its sample and, of a whole, its share."""
    shown, cells = listed[:most], []
    for row, one in enumerate(shown):
        share = one.share(one.value)
        low, high = (one.share(end) if share == share else NAN for end in (one.low, one.high))
        track = Cell(row, 1.0 if share == share else NAN, Style("grid"), place=one.place, size=0.3)
        bar = track._replace(x=share, style=OWN, low=low, high=high, tip=one.said, why=one.why)
        cells += [track, bar._replace(size=0.66) if one.why else bar]
    before = some([one.share(one.before) for one in shown])
    keys = ["tick: before"] if not np.isnan(before).all() else []
    keys += ["line: 95% interval"] if any(cell.low == cell.low for cell in cells) else []
    has_track = any(cell.x == cell.x or cell.why for cell in cells)
    beside = [
        WordColumn(words, heading, align, *looks)
        for words, heading, align, *looks in (
            ([one.metric for one in shown], "", "left", False, True),
            (["" if one.why else number(one.value, one.unit) for one in shown], "value", "right",
            True),
            ([one.moved for one in shown],
             "change" if any(one.before == one.before for one in shown) else "interval", "right"),
            ([one.n for one in shown], "sample", "right", False, True),
        )
        if any(words)
    ]  # fmt: skip
    return row_panel(
        "figures", data, what + first_of(len(shown), len(listed) - len(shown)),
        [Name(f"{f.label} (lower is better)" if f.unit == RANK else f.label) for f in shown],
        cells if has_track else (), NONE, columns, beside=beside,
        over=[ticks(before, np.arange(len(shown)))] if has_track else (),
        finding="; ".join(one.said for one in shown), how=capitalized(", ".join(keys)),
        notes=notes, pitch=1.15, is_wide=True,
    )  # fmt: skip


# --- parts of a whole -------------------------------------------------------------------------

_LACKING = (NOT_MEASURED, NOT_GIVEN)
"""The levels of rows without a value."""
_FEW_ROWS = 20
"""As few rows are read more easily in a table than as counts of them."""


def shares(data: PlotData, options: PlotOptions) -> Panel | None:
    """Columns that are shares of a whole: named ``*_share``, with sum 1 in each row."""
    x = options.x or data.label_column
    columns = list(options.y) or [
        n for n in data.numbers if n.endswith("_share") and data.unit(n) == FRACTION
    ]
    if x is None or len(columns) < 2 or data.frame.duplicated([x]).any():
        return None
    parts = pd.DataFrame({name.removesuffix("_share"): data.values(name) for name in columns})
    whole = parts.sum(axis=1, skipna=False)
    if whole.isna().all() or not np.allclose(whole.dropna(), 1, atol=0.01):
        return None
    sample = data.sample(columns[0])
    order = np.argsort(-data.values(sample) if sample else np.zeros(len(data)), kind="stable")
    rows = data.sorted_by(order[: options.top or 15])
    labels = rows.text(x)
    whys = [
        why if gone else ""
        for why, gone in zip(whys_missing(rows, columns[0]), whole.isna().iloc[order], strict=False)
    ]
    names = [Name(name.text, name.of * (name.of == "own")) for name in names_of(rows, labels)]
    return _stacked(
        "shares", data, Drawn(data.frame, tuple(columns), tuple(dict.fromkeys((x, *data.keys)))),
        f"Shares by {humanize(x)}: {', '.join(map(str, parts))}" + first_of(len(rows),
        len(data) - len(rows)),
        parts.iloc[order[: len(rows)]], names, sizes_of(rows, sample), FRACTION,
        f"share; n: {humanize(sample)}" if sample else "",
        [[({x: label}, name) for name in columns] for label in labels], whys,
    )  # fmt: skip


def _stacked(
    kind: str, data: PlotData, drawn: Drawn, title: str, parts: pd.DataFrame,
    names: Sequence[Name], totals: Sequence[str], unit: str | None, label: str,
    places: Sequence[Sequence[Place]], whys: Sequence[str],
) -> Panel:  # fmt: skip
    """A box for each part of each row, one after the other."""
    pieces = [str(name) for name in parts.columns]
    styles = look.styles_for(pieces) | {p: style_without(p) for p in pieces if p in _LACKING}
    cells, texts = [], []
    for row, values in enumerate(np.nan_to_num(parts.to_numpy(np.float64))):
        said = [
            f"{piece} {number(n, unit)}" for piece, n in zip(pieces, values, strict=True) if n > 0
        ]
        texts.append(f"{names[row].shown}: {', '.join(said) or whys[row]}")
        boxes = [Cell(row, NAN, why=whys[row])]
        for at, (piece, n, end) in enumerate(zip(pieces, values, values.cumsum(), strict=True)):
            tip = f"{names[row].text}\n{humanize(piece)}: {number(n, unit)}"
            tip += f"\nof {totals[row]}" if totals[row] else ""
            if n > 0:
                boxes.append(Cell(row, end, styles[piece], end - n, tip=tip, place=places[row][at]))
        boxes = boxes[1:] or boxes
        cells += [*boxes[:-1], boxes[-1]._replace(words=totals[row] * (not whys[row]))]
    at_own = next((row for row, name in enumerate(names) if name.of), 0)
    legend = [(humanize(piece), styles[piece], "boxes") for piece in pieces]
    whole = np.nan_to_num(parts.to_numpy(np.float64)).sum(axis=1)
    scale = reach(
        whole, unit, 1.0 if unit == FRACTION else 1.02, label=label, is_whole=unit is None
    )
    return row_panel(
        kind, data, title, names, cells, scale, (), drawn=drawn, shared="x",
        finding="; ".join(texts[row] for row in dict.fromkeys((0, at_own))),
        legend=legend if len(pieces) > 1 else [],
    )  # fmt: skip


def counts(data: PlotData, options: PlotOptions) -> Panel | None:
    """Counts of rows by one column, segmented by another."""
    x = options.x or _grouping(data)
    if options.y or not len(data) or x is None or data.kinds[x] in ("list", "number"):
        return None
    by = options.color or (None if options.x else _grouping(data, x))
    is_chosen = bool(options.kind or options.x)
    if not (is_chosen or by) and data.metadata.key and len(data) <= _FEW_ROWS:
        return None
    columns = [x, *filter(None, [by])]
    whole, data = data, each_once(data, columns, columns)
    rows = pd.DataFrame({"x": _levels(data, x), "by": _levels(data, by, True) if by else "rows"})
    table = rows.value_counts(["x", "by"], sort=False).unstack(fill_value=0)
    # Bars of one length, and each of one colour, say nothing.
    is_one_length = len(table) > 1 and table.sum(axis=1).nunique() == 1
    if not is_chosen and is_one_length and (table > 0).sum(axis=1).eq(1).all():
        return None
    order = table.sum(axis=1).sort_values(ascending=False, kind="stable").index
    levels = table.sum().sort_values(ascending=False, kind="stable").index.to_list()
    # What is comes before what is not, and rows without a value are last.
    no = f"not {humanize(by)}" if by and data.kinds[by] == "flag" else None
    levels.sort(key=lambda level: (level in _LACKING, level == NOT_GIVEN, level == no))
    table = table.loc[order, levels]
    if len(levels) > len(SERIES):
        rest = table.iloc[:, len(SERIES) - 1 :].sum(axis=1)
        table = table.iloc[:, : len(SERIES) - 1].assign(**{look.REST_LEVEL: rest})
    kept = table.head(options.top or 12)
    own = {*rows["x"][data.own()]} if x in ("brand", "advertiser") else {}
    # Rows that a join repeated are no number of the things that they were rows of.
    is_repeated = data is whole and data.table in data.metadata.repeated
    is_plain = is_repeated or data.table.startswith("statistics:")
    what = f"Number of {'' if is_plain else table_words(data)}".strip().replace("of", "of", 1)
    what = "Number of rows" if what == "Number of" else what
    places: list[list[Place]] = [
        [({x: label} | ({by: look.BLANK if level in _LACKING else level} if by else {}), None)
         for level in map(str, kept)]
        for label in kept.index
    ]  # fmt: skip
    return _stacked(
        "counts", data,
        Drawn(data.frame, tuple(columns), tuple(dict.fromkeys((x, *data.keys))), counts=True),
        what + f" by {humanize(x)}" + (f" and {humanize(by)}" if by else "")
        + first_of(len(kept), len(table) - len(kept)), kept,
        [Name(str(n), "own" if n in own else "") for n in kept.index],
        [number(n) for n in kept.sum(axis=1).astype(float)], None, f"rows ({len(data):,} in all)",
        places, [""] * len(kept),
    )  # fmt: skip


def _levels(data: PlotData, name: str, says_why: bool = False) -> list[str]:
    """The levels of a column as words: a flag by its name, no value by whether it was measured."""
    words = data.labels(name)
    if data.kinds[name] == "flag":
        named = {"true": humanize(name), "false": f"not {humanize(name)}"}
        words = [named.get(word.lower(), word) for word in words]
    lacking = np.flatnonzero(data.frame[name].isna().to_numpy(bool)).tolist() if says_why else []
    for row, why in zip(lacking, whys_missing(data, name, lacking), strict=True):
        words[row] = NOT_MEASURED if why == NOT_MEASURED else NOT_GIVEN
    return words


def _grouping(data: PlotData, but: str = "") -> str | None:
    """The column that groups the rows best: the engine, else a category."""
    varied = [n for n in data.kinds if data.kinds[n] != "list" and data.frame[n].nunique() > 1]
    told = [n for n in varied if is_category(data, n)]
    told += [n for n in varied if data.kinds[n] == "flag" and n not in ("own", *told)]
    if but:
        # Segments are what is found of each row, not another part of its key; whose a row is,
        # its mark says.
        others = [name for name in told if name != but]
        return next(iter([name for name in others if name not in data.keys] or others), None)
    words = [n for n in varied if data.kinds[n] == "word" and data.frame[n].nunique() <= 12]
    listed = [
        n
        for n in ("engine", "brand")
        if n in (*words, *data.kinds) and (n == "engine" or n in words)
    ]
    only = data.keys if len(data.keys) == 1 else ()
    return next((name for name in (*listed, *told, *words) if name not in only), None)


def funnel(data: PlotData, options: PlotOptions) -> Panel | None:
    """The longest chain of counts in a row, each the whole of the next one's rate."""
    steps = (
        (options.y if options.kind and len(options.y) > 1 else ()) if options.y else _chain(data)
    )
    if len(data) != 1 or options.x or options.color or not steps:
        return None
    values = np.array([float(data.values(name)[0]) for name in steps])
    titles, cells, said = [capitalized(humanize(name)) for name in steps], [], []
    for row, (name, n, before) in enumerate(zip(steps, values, [NAN, *values], strict=False)):
        part = f" ({number(n / before, FRACTION)} of those)" if before > 0 and n == n else ""
        said.append(f"{humanize(name)} {number(n) if n == n else 'not measured'}{part}")
        cells.append(Cell(row, n, words=number(n) + part, why=whys_missing(data, name)[0],
                          tip=partial(describe_mark, data, name, 0, titles[row]), place=(0,
                          name)))  # fmt: skip
    title = f"From {humanize(steps[0])} to {humanize(steps[-1])}"
    ends = [f"{number(values[at])} {humanize(steps[at])}" for at in (0, -1)]
    return row_panel(
        "funnel", data, f"{row_of}: {title}" if (row_of := row_name(data)) else title,
        [*map(Name, titles)], cells, reach(values), steps, finding="; ".join(said), pitch=1.5,
        headline="" if np.isnan(values).any() else f"Of {ends[0]}, {ends[1]}", is_wide=True,
    )  # fmt: skip


def _chain(data: PlotData) -> list[str]:
    """The longest chain of counts that rates link."""
    follows = {
        rule.over[1]: rule.over[0]
        for name in reversed(data.numbers)
        if (rule := data.rule(name)) and rule.over and data.unit(name) == FRACTION
    }
    chains = [[start] for start in follows if start not in follows.values()]
    for chain in chains:
        while chain[-1] in follows and follows[chain[-1]] not in chain:
            chain.append(follows[chain[-1]])
    return max(chains, key=lambda c: (len(c), -data.numbers.index(c[0])), default=[])


# --- columns of marks -------------------------------------------------------------------------

_STAGES = ("crawled", "cited", "visited", "converted")
_STAGE = 0.7
"""The longest bar of a stage; each stage has a width of 1."""
_STATE_ROWS, _STATE_COLUMNS = 15, 4


def stages(data: PlotData, options: PlotOptions) -> Panel | None:
    """The stages from crawled to converted, each on a scale of its own; None for other frames."""
    if options.is_chosen or not data.table.startswith("statistics:funnel"):
        return None
    if not {*_STAGES, "method"} <= data.kinds.keys() or not data.keys:
        return None
    rows = data.first(options.top or (31 if data.times else 15))
    names, cells, said = names_of(rows, rows.labels(rows.keys[0])), [], [""] * len(rows)
    for at, name in enumerate(_STAGES):
        values = rows.values(name)
        most = (0.0 if np.isnan(values).all() else float(np.nanmax(values))) or 1.0
        none = "not measured" if np.isnan(values).all() else "no number"
        for row, n in enumerate(values.tolist()):
            words = none if n != n else number(n)
            said[row] += f"{', ' * (at > 0)}{name} {'not measured' if n != n else words}"
            cell = Cell(row, at + _STAGE * n / most, OWN, at, words=words, place=(row, name),
                        tip=f"{names[row].text}\n{name}: {words}")  # fmt: skip
            cells.append(
                cell if n == n else cell._replace(x=at + _STAGE, style=look.UNMEASURED, at=at)
            )
    units = [rows.unit(name) or "" for name in _STAGES]
    heads = [Name(f"{capitalized(n)} ({u})") for n, u in zip(_STAGES, units, strict=True)]
    hatch = " Hatched: no number, which is not 0."
    return row_panel(
        "stages", rows, "From crawled to converted" + first_of(len(rows), len(data) - len(rows)),
        names, cells, Scale(0.0, 4.0, "names", names=tuple(heads), is_above=True), _STAGES,
        over=[rules(range(4), size=0.6)], said=said[:5], is_wide=True,
        how="Each stage has a scale of its own." + hatch * ("not measured" in " ".join(said)),
        notes=[f"{capitalized(rows.text('method')[0])}."],
    )  # fmt: skip


def states(data: PlotData, options: PlotOptions) -> Panel | None:
    """The states of a few rows with one key and no number to compare."""
    x = options.x or data.label_column
    if x is None or options.color or options.y or not len(data):
        return None
    is_large = len(data) > _STATE_ROWS or len(data.metadata.key) != 1 or data.measures
    if (not options.kind and is_large) or data.frame.duplicated([x]).any():
        return None
    others = [name for name in data.kinds if name not in (x, *data.keys)]
    columns = [n for n in others if data.kinds[n] == "flag" or is_category(data, n)]
    if len(data) == 1 and columns:
        columns += [n for n in others if data.kinds[n] == "time" and n not in CONTEXT]
    if not columns:
        return None
    rows, columns = data.first(options.top or _STATE_ROWS), columns[:_STATE_COLUMNS]
    names, cells, said = names_of(rows, rows.labels(x)), [], [""] * len(rows)
    for at, name in enumerate(columns):
        for row, (words, style) in enumerate(_states(rows, name)):
            said[row] += f"{', ' * (at > 0)}{humanize(name)} {words}"
            cell = Cell(row, at + 0.03, style, kind="dots", size=9, words=words, at=at + 0.05,
                        tip=f"{names[row].text}\n{humanize(name)}: {words}", place=(row,
                        name))  # fmt: skip
            is_none = style in (look.UNMEASURED, look.NO_VALUE, look.NO_NUMBER)
            box = cell._replace(x=at + 0.05, start=at + 0.01, kind="boxes", size=0.5)
            cells.append(box if is_none else cell)
    few = len(columns) < 3 or not table_words(rows)
    titled = ", ".join(map(humanize, columns)) if few else table_words(rows)
    heads = tuple(Name(capitalized(humanize(name))) for name in columns)
    return row_panel(
        "verdicts", rows, capitalized(f"{titled} by {humanize(rows.row_noun(x))}"), names, cells,
        Scale(-0.02, len(columns), "names", names=heads, is_above=True), columns, said=said,
        is_wide=True,
    )  # fmt: skip


def _states(rows: PlotData, name: str) -> list[tuple[str, Style]]:
    """The word of each cell, and its style by what it means."""
    lacking = np.flatnonzero(rows.frame[name].isna().to_numpy(bool)).tolist()
    levels = rows.text(name)
    styles = look.styles_for(levels, states=True)
    words = [(humanize(level), styles[level]) for level in levels]
    if rows.kinds[name] == "flag":
        values = rows.frame[name].fillna(False).to_numpy(bool)
        words = [("yes", OWN) if value else ("no", look.EVEN) for value in values]
    elif rows.kinds[name] == "time":
        words = [(level, look.EVEN) for level in levels]
    for row, why in zip(lacking, whys_missing(rows, name, lacking), strict=True):
        words[row] = why, style_without(why)
    return words


# --- times and texts --------------------------------------------------------------------------

_ENDS = (("_start", "_end"), ("first_", "last_"), ("created_at", "updated_at"))
_TEXT_ROWS, _TEXT_COLUMNS, _LONGEST = 8, 4, 160


def time_spans(data: PlotData, options: PlotOptions) -> Panel | None:
    """Pairs of start and end times, with a single time next to them."""
    times = [name for name in data.of_kind("time") if options.kind or name not in CONTEXT]
    x = options.x or data.label_column
    pairs = [
        (name, other)
        for name in times
        for one, two in _ENDS
        if one in name and (other := name.replace(one, two)) in times and other != name
    ]
    is_alone = len(data) == 1 and not options.kind
    if x is None or not pairs or options.y or not len(data):
        return None
    if is_alone and not any(start.endswith("_start") for start, _ in pairs):
        return None
    ends = [name for pair in pairs for name in pair]
    if data.frame[ends].isna().all(axis=None):
        return None
    columns = [*ends, *[name for name in times if name not in ends][:1]]
    verdict = next((name for name in ("verdict", "state") if name in data.kinds), "")
    order = data.moments(ends[0]).argsort(kind="stable").tolist()
    rows = data.sorted_by(order[: options.top or 12])
    days = {name: rows.days(name) for name in columns}
    named = [humanize(start.removesuffix("_start")) for start, _ in pairs]
    names, looks = names_of(rows, rows.labels(x)), [REST, *SERIES]
    # The last day belongs to the span.
    cells = [
        Cell(row, days[end][row] + 1, looks[at], days[start][row], size=0.42, place=(row, start),
             tip=f"{names[row].text}\n{named[at]}")
        for at, (start, end) in enumerate(pairs[: len(looks)])
        for row in range(len(rows))
        if days[start][row] == days[start][row]
    ]  # fmt: skip
    legend = [(words, looks[at], "boxes") for at, words in enumerate(named)]
    texts, mark = rows.text(columns[-1] if len(columns) > len(ends) else ends[0]), Style("ink", "D")
    if len(columns) > len(ends):
        moments = days[columns[-1]] + 0.5
        cells += [Cell(row, n, mark, kind="dots", size=8) for row, n in enumerate(moments)]
        legend.append((humanize(columns[-1]), mark, "dots"))
    everything = np.array([*days.values()])
    if verdict:
        words = [*map(humanize, rows.text(verdict))]
        right = np.fmax.reduce(everything) + 1
        cells += [Cell(row, NAN, words=word, at=right[row]) for row, word in enumerate(words)]
        texts = [f"{text}, {word}" for text, word in zip(texts, words, strict=True)]
    return row_panel(
        "spans", rows, capitalized(f"{' and '.join(named)} by {humanize(rows.row_noun(x))}")
        + first_of(len(rows), len(data) - len(rows)), names, cells,
        day_scale(float(np.nanmin(everything)), float(np.nanmax(everything)) + 1), columns,
        legend=legend, said=texts, drawn=drawn_of(rows, columns, x), pitch=1.3,
    )  # fmt: skip


def day_scale(first: float, last: float) -> Scale:
    """A scale of days."""
    return Scale(first, last, "time", days=tuple(np.arange(np.floor(first), last).tolist()))


def empty(data: PlotData) -> Panel:
    """A few rows of text as they are, or why there are none; hatched where nothing was measured."""
    title = capitalized(table_words(data)) or "A frame"
    if len(data):
        return _texts(data, title)
    known = [name for name in data.metadata.columns if name not in data.keys]
    state = data.state(known or data.metadata.columns)
    state = replace(state, reason=joined_reasons([state.reason or ""]) or None)
    words = {
        Status.AVAILABLE: "Measured, with no rows.",
        Status.UNKNOWN: "No rows; the reason is not known.",
        Status.PARTIAL: f"No rows. What was read was measured in part: {state.reason}",
    }
    finding = words.get(state.status) or f"Not measured. {capitalized(str(state))}"
    looks = {Status.AVAILABLE: look.NO_NUMBER, Status.UNKNOWN: look.NO_VALUE}
    return Panel(
        "empty", data, drawn_of(data, ()), title, finding, NONE, NONE,
        notice(finding, looks.get(state.status, look.UNMEASURED)), height=90.0, is_wide=True,
    )  # fmt: skip


def notice(words: str, style: Style) -> list[Mark]:
    """Words in the middle of a panel without marks."""
    none, middle = some(np.inf), some(0.5)
    return [
        Mark("boxes", -none, middle, style, to=none, size=np.inf),
        Mark("words", middle, middle, words=[words], align="center", shift=(0, 0), has_paper=True),
    ]


def _texts(data: PlotData, title: str) -> Panel:
    """The first rows of what is no number to compare, under the names of the columns."""
    rows = data.first(_TEXT_ROWS)
    shown = [name for name in data.kinds if name not in (*CONTEXT, "host")]
    # Text first, and identifiers that nothing stands for last.
    shown.sort(key=lambda name: (rows.is_bare_key(name), data.kinds[name] not in ("word", "list")))
    shown = shown[:_TEXT_COLUMNS]
    finding = f"{count(len(data), 'row')} and {count(data.frame.shape[1], 'column')}"
    return row_panel(
        "table", rows, title + first_of(len(rows), len(data) - len(rows)), [Name("")] * len(rows),
        (), NONE, shown, finding=f"a table of {finding}, with nothing to compare",
        beside=[
            WordColumn(_cell_texts(rows, name), capitalized(humanize(name.removesuffix("_id"))),
                       "right" if rows.kinds[name] == "number" else "left", is_muted=at > 0)
            for at, name in enumerate(shown)
        ], is_wide=True,
    )  # fmt: skip


def _cell_texts(data: PlotData, name: str) -> list[str]:
    """The cells of a column as short texts."""
    if data.kinds[name] == "number":
        return [number(n, u) for n, u in zip(data.values(name), data.units(name), strict=True)]
    if data.kinds[name] != "list":
        return [text[:_LONGEST] for text in data.labels(name)]
    return [
        ", ".join(map(str, value))[:_LONGEST]
        if isinstance(value, list | tuple | np.ndarray)
        else look.BLANK
        for value in data.frame[name]
    ]
