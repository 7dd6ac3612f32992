"""Rows with names: bars, gaps, figures, funnels, shares, counts, verdicts and texts.

One constructor, `row_panel`, draws them from cells: a mark in a row, with its interval and words.
A kind chooses rows and columns, and says what the cells are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from aatoolkit._util.numbers import number, numbers, signed
from aatoolkit._util.text import counted
from aatoolkit.availability import Status
from aatoolkit.display.plot import style as look
from aatoolkit.display.plot.data import CONTEXT, Numbers, Options, PlotData
from aatoolkit.display.plot.labels import capitalized, first_of, humanize, in_words, joined_reasons
from aatoolkit.display.plot.measured import (
    NOT_GIVEN,
    NOT_MEASURED,
    WITHOUT,
    Whiskers,
    each_once,
    ends_of_parts,
    one_row_per_mark,
    style_without,
    whiskers,
    whys_missing,
)  # fmt: skip
from aatoolkit.display.plot.spec import (
    NONE,
    PITCH,
    Drawn,
    Mark,
    Name,
    Panel,
    Place,
    Scale,
    WordColumn,
    drawn_of,
    rows_of,
    rules,
    some,
    spans,
)  # fmt: skip
from aatoolkit.display.plot.style import OWN, REST, SERIES, Style
from aatoolkit.errors import AvailabilityError
from aatoolkit.sections.aggregation import FRACTION, RANK, SCORE

# --- the constructor --------------------------------------------------------------------------

NAN, FAR = float("nan"), float("inf")


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
    shapes: dict[Any, list[Cell]] = {}
    strokes: dict[Any, list[Cell]] = {}
    words: dict[Any, list[Cell]] = {}
    for cell in cells:
        if cell.why:
            tip = f"{names[cell.row].text}\n{cell.why}\n{_reason(data, columns, cell.row)}".rstrip()
            cell = cell._replace(start=-FAR, x=FAR, style=style_without(cell.why), at=-FAR,
                                 words=cell.why, tip=tip)  # fmt: skip
        is_dot = cell.kind == "dots"
        if cell.x == cell.x:
            shapes.setdefault((is_dot, cell.style, cell.size), []).append(cell)
        if cell.low + cell.high == cell.low + cell.high:
            stroke = (is_dot, *((cell.style, 2.0) if is_dot else (look.INK, 1.1)))
            strokes.setdefault(stroke, []).append(cell)
        if cell.words:
            words.setdefault(bool(cell.why), []).append(cell)
    # Lines are over boxes, and below dots.
    layers = [(*key[:1], 0, _mark(key, group)) for key, group in shapes.items()]
    layers += [
        (key[0], -1 if key[0] else 1, spans(*_ends(group), *key[1:]))
        for key, group in strokes.items()
    ]
    marks = [mark for _, _, mark in sorted(layers, key=lambda layer: layer[:2])]
    if x.kind == "number" and min(x.low, x.high) < 0 < max(x.low, x.high):
        marks.append(rules(0.0))
    texts = [f"{name.shown}: {word}" for name, word in zip(names, said, strict=False)]
    others = f"; and {len(texts) - 8} more" if len(texts) > 8 else ""
    return Panel(
        kind, data, drawn or drawn_of(data, columns), title,
        finding or "; ".join(texts[:8]) + others, x, rows_of(names),
        [*marks, *map(_words, words.values()), *over], height=PITCH * pitch * len(names), **more,
    )  # fmt: skip


def _reason(data: PlotData, columns: Sequence[str], row: int) -> str:
    """The stated reason why a cell has no number; empty without one."""
    if not columns or data.kinds.get(columns[0]) != "number" or row >= len(data):
        return ""
    return data.cells(columns[0]).states[int(data.cells(columns[0]).codes[row])].reason or ""


def _ends(cells: Sequence[Cell]) -> tuple[Numbers, Numbers, Numbers]:
    low, high, rows = zip(*((cell.low, cell.high, cell.row) for cell in cells), strict=True)
    return some(low), some(high), some(rows)


def _mark(look: tuple[bool, Style, float], cells: Sequence[Cell]) -> Mark:
    is_dot, style, size = look
    start, end = some([cell.start for cell in cells]), some([cell.x for cell in cells])

    def tips() -> list[str]:
        return [cell.tip() if callable(cell.tip) else cell.tip for cell in cells]

    return Mark(
        "dots" if is_dot else "boxes", end if is_dot else start, _ends(cells)[2], style,
        to=None if is_dot else end, size=size, tips=tips if cells[0].tip else None,
        places=[cell.place or (cell.row, None) for cell in cells],
    )  # fmt: skip


def _words(cells: Sequence[Cell]) -> Mark:
    ends = [
        np.nanmax([cell.x, cell.start, cell.high]) if cell.at is None else cell.at for cell in cells
    ]
    shift = 9.0 if cells[0].kind == "dots" else 5.0
    return Mark("words", some(ends), _ends(cells)[2], words=[cell.words for cell in cells],
                shift=(shift, 0.0), has_paper=bool(cells[0].why))  # fmt: skip


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
    lines = [label, f"{humanize(name)}: {'no number' if value != value else number(value, unit)}"]
    if low + high == low + high:
        lines.append(f"interval: {number(low, unit)} to {number(high, unit)}")
    for size in dict.fromkeys([*data.parts(name), data.sample(name)]):
        if size and size != name:
            n = float(data.values(size)[row])
            lines.append(f"{humanize(size)}: {'not measured' if n != n else number(n)}")
    state = data.cells(name).states[int(data.cells(name).codes[row])]
    is_whole = state.status == Status.AVAILABLE and value == value
    status = "measured" if is_whole else str(state)
    return "\n".join([*filter(None, lines), status if data.is_known else "availability unknown"])


def _sizes(data: PlotData, name: str | None) -> list[str]:
    """The sample of each row in words; empty where none is declared."""
    sizes = data.values(name).tolist() if name else [NAN] * len(data)
    return ["" if n != n else f"n={number(n)}" for n in sizes]


def _with_sizes(words: Iterable[str], sizes: Iterable[str]) -> list[str]:
    return [f"{word}  ({n})" if n else word for word, n in zip(words, sizes, strict=True)]


# --- bars and gaps ----------------------------------------------------------------------------

_MOST_LACKING = 3
"""How many rows without a number are shown beside as many others as there is room for."""

_PREFIXES = (("leader_", "own_"), ("before_", "after_"), ("previous_", ""), ("other_", "ai_"))
"""Prefixes of column pairs to compare, the reference first."""


def bars(data: PlotData, options: Options) -> Panel | None:
    """Bars of the most informative number, or of ``y``, by the label column."""
    x = options.x or data.label_column or next(iter(data.of_kind("word")), None)
    # A column that says of each row which metric it holds is the number, if there is one.
    measures = [*(n for n in data.numbers if options.kind and data.unit_column(n)), *data.measures]
    y = next(iter(options.y or [n for n in measures if n != x]), None)
    if x is None or y is None or data.kinds[y] != "number" or data.kinds[x] == "list":
        return None
    whole, marks = data, [x, *filter(None, [options.color])]
    # Many rows of one brand are no ranking of brands; what each brand has is.
    is_ranking = x in data.keys and len(data.keys) > 1 and not data.unit_column(y)
    try:
        data = (
            one_row_per_mark(data, marks, [y])
            if options.x or is_ranking
            else each_once(data, [*marks, *data.keys], [y])
        )
    except AvailabilityError:
        if options.x or not is_ranking:
            raise
        return None
    one = data.of_one_metric(y)
    values, order, top = one.values(y), one.best_first(y), options.top or 15
    measured = int((~np.isnan(values)).sum())
    kept = order[:measured][:top]
    rows = one.sorted_by([*kept, *order[measured:][: max(top - len(kept), _MOST_LACKING)]])
    whys = [w if w in WITHOUT else NOT_MEASURED for w in whys_missing(one, y) if w]
    missing = [f"{whys.count(w)} {words}" for w, words in WITHOUT.items() if w in whys]
    ends, unit, values = whiskers(rows, y, whole, marks), rows.unit(y), rows.values(y)
    names, (looks, legend) = names_of(rows, rows.labels(x)), _looks(rows, options)
    sizes = _sizes(rows, rows.sample(y) if unit == FRACTION else None)
    cells = [
        Cell(row, value, looks[row], 0.0, low, high, words, why,
             partial(describe_mark, rows, y, row, names[row].text, low, high))
        for row, (value, low, high, words, why) in enumerate(
            zip(values, ends.low, ends.high, _with_sizes(numbers(values, unit), sizes),
                whys_missing(rows, y), strict=True))
    ]  # fmt: skip
    label = rows.axis_label(y)
    headline, finding = _ranking(names, values, unit, humanize(y), missing)
    lost = len(data) - len(one)
    return row_panel(
        "bars", rows, capitalized(f"{humanize(y)} by {humanize(one.row_noun(x))}")
        + first_of(len(kept), measured), names, cells,
        reach(np.concatenate([values, ends.high]), unit,
              label="" if label == humanize(y) else label, is_whole=rows.is_count(y)),
        [y], legend=legend, shared="x", finding=finding, headline=headline,
        drawn=drawn_of(rows, [y], *marks, bounds=ends.bounds),
        how=f"Lines: {in_words(ends.which.partition(';')[0])}" if ends.there else "",
        n=f"{lost} rows are in other units, and not drawn" if lost else "",
    )  # fmt: skip


def _looks(data: PlotData, options: Options) -> tuple[list[Style], list[Any]]:
    """The style of each row, and their legend."""
    if options.color:
        levels = look.few_levels(data.labels(options.color), options.levels)
        every = [*look.few_levels(options.levels), *levels] if options.levels else levels
        styles = look.styles_for(every, fixed=not options.palette)
        legend = [(humanize(level), style, "boxes") for level, style in styles.items()]
        return [styles[level] for level in levels], legend
    own, rivals = data.own(), data.rivals()
    plain = REST if own.any() or rivals.any() else OWN
    sides = zip(own, rivals, strict=True)
    return [OWN if mine else look.RIVAL if theirs else plain for mine, theirs in sides], []


def _ranking(
    names: Sequence[Name], values: Numbers, unit: str | None, what: str,
    missing: Sequence[str] = (),
) -> tuple[str, str]:  # fmt: skip
    """Who has most and what the own one has, as a title and as a sentence."""
    words = [f"{name.text} {number(n, unit)}" for name, n in zip(names, values, strict=True)]
    there = np.flatnonzero(~np.isnan(values)).tolist()
    if not there:
        alike = not missing or (len(missing) == 1 and WITHOUT[NOT_MEASURED] in missing[0])
        none = f"none has a number: {'; '.join(missing)}"
        return "", "none of them was measured" if alike else none
    first, last = there[0], there[-1]
    mine = next((row for row in there[1:] if names[row].of == "own"), None)
    headline = ""
    if len(there) > 1 and values[first] > values[there[1]] and unit != RANK:
        most = f"most {what}" if what.endswith("s") else f"the highest {what}"
        headline = f"{quoted(names[first].text)} has {most}, {number(values[first], unit)}"
        headline += (
            "" if mine is None else f"; {quoted(names[mine].text)} {number(values[mine], unit)}"
        )
    parts = [words[first] + (f", down to {words[last]}" if last != first else "")]
    parts += [f"own brand {words[mine]}"] if mine not in (None, last) else []
    return headline, "; ".join([*parts, *missing])


def gap(data: PlotData, options: Options) -> Panel | None:
    """Two columns with paired names, or the two given as ``y``, in each row."""
    x = options.x or data.label_column
    pair = options.y or _pair(data, ranks=options.kind is not None)
    if x is None or pair is None or len(pair) != 2 or data.frame.duplicated([x]).any():
        return None
    before, now = pair
    # What is about the gap has the widest first; what is about a number has the largest.
    is_gap = before.startswith(tuple(p for p, _ in _PREFIXES if p != "previous_"))
    wide = -np.nan_to_num(np.abs(data.values(now) - data.values(before)), nan=-1.0)
    order = np.argsort(wide, kind="stable") if is_gap else data.best_first(now)
    rows = data.sorted_by(order[: options.top or 15])
    unit, first, second = rows.unit(before), rows.values(before), rows.values(now)
    names, cells = names_of(rows, rows.labels(x)), []
    moved = [
        signed(b - a, unit) if a + b == a + b else "only one measured"
        for a, b in zip(first.tolist(), second.tolist(), strict=True)
    ]
    sizes = _sizes(rows, rows.sample(now) if unit == FRACTION else None)
    beside, whys = _with_sizes(moved, sizes), whys_missing(rows, now)
    for row, (a, b) in enumerate(zip(first, second, strict=True)):
        dot = Cell(row, a, REST, low=a, high=b, kind="dots", size=7.5, place=(row, before),
                   tip=partial(describe_mark, rows, before, row, names[row].text))  # fmt: skip
        if a != a and b != b:
            cells.append(Cell(row, NAN, why=whys[row]))
            continue
        cells += [dot, dot._replace(
            x=b, style=OWN, low=NAN, words=beside[row],
            at=(np.fmin if unit == RANK else np.fmax)(a, b), place=(row, now),
            tip=partial(describe_mark, rows, now, row, names[row].text),
        )]  # fmt: skip
    scale = reach(np.concatenate([first, second]), unit, 1.03)
    scale = replace(scale, low=scale.low - (scale.high - scale.low) * 0.02)
    headline, finding = _ranking(names, second, unit, humanize(now))[0], "no row has both numbers"
    width = np.abs(second - first)
    if not np.isnan(width).all():
        row = int(np.nanargmax(width))
        ends = [number(values[row], unit) for values in (second, first)]
        finding = f"the widest gap is {names[row].text}: {humanize(now)} {ends[0]} beside {ends[1]}"
        headline = capitalized(f"{finding}") if is_gap else headline
        finding += f" ({moved[row]})"
    return row_panel(
        "gap", rows,
        capitalized(f"{humanize(now)} and {humanize(before)} by {humanize(data.row_noun(x))}")
        + first_of(len(rows), len(data)), names, cells,
        replace(scale, low=scale.high, high=0.9) if unit == RANK else scale, (now, before),
        legend=[(humanize(now), OWN, "dots"), (humanize(before), REST, "dots")], shared="x",
        drawn=drawn_of(rows, (now, before), x), finding=finding, headline=headline,
    )  # fmt: skip


def quoted(name: str) -> str:
    """A name in a sentence: a long one in quotes, and without its middle."""
    name = name if len(name) <= 48 else f"{name[:30]}…{name[-16:]}"
    return f"“{name}”" if " " in name and len(name) > 24 else name


def _pair(data: PlotData, *, ranks: bool) -> tuple[str, str] | None:
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
    """One number: its value, the one before, unit, sample, interval, and why there is none."""

    label: str
    metric: str
    value: float
    before: float
    unit: str | None
    n: str
    why: str
    low: float
    high: float
    place: Place

    @property
    def words(self) -> tuple[str, str, str]:
        """Its value, its change and its interval in words."""
        value, change, ends = self.why or number(self.value, self.unit), "", ""
        if self.before + self.value == self.before + self.value:
            change = signed(self.value - self.before, self.unit)
        if self.low + self.high == self.low + self.high:
            ends = f"{number(self.low, self.unit)} to {number(self.high, self.unit)}"
        return value, change, ends


def figures(data: PlotData, options: Options) -> Panel | None:
    """The numbers of a single row, or of rows whose numbers differ in unit."""
    if len(data) == 1 and not options.x:
        return _figures_of_row(data, options)
    x, sides = options.x or data.label_column, options.y or _sides(data)
    if x is None or not 1 <= len(sides) <= 2 or (options.y and not options.kind):
        return None
    now = sides[-1]
    if data.unit_column(now) is None and not options.kind:
        return None
    ends, labels, metrics = ends_of_parts(data, now), data.labels(x), [""] * len(data)
    if x == "metric":
        labels = [*map(capitalized, labels)]
    elif "metric" in data.kinds:
        metrics = [*map(humanize, data.text("metric"))]
    before = data.values(sides[0]).tolist() if len(sides) == 2 else [NAN] * len(data)
    listed = [*map(
        Figure, labels, metrics, data.values(now).tolist(), before, data.units(now),
        _sizes(data, data.sample(now)), whys_missing(data, now), ends.low.tolist(),
        ends.high.tolist(), [(row, None) for row in range(len(data))],
    )]  # fmt: skip
    what = capitalized(data.table_words or f"{humanize(now)} by {humanize(x)}")
    return _cards(data, sides[::-1], what, listed, options)


def _figures_of_row(data: PlotData, options: Options) -> Panel | None:
    """The numbers of a single row; of a result of statistics with the interval of the first."""
    is_result = data.table.startswith("statistics:") and not options.y
    columns = [n for n in options.y or data.numbers if not (is_result and n in _OF_RESULTS)]
    order = [name for name in data.kinds if name in (*columns, "low")]
    of = order[order.index("low") - 1] if is_result and {"low", "high"} <= {*data.kinds} else ""
    listed = []
    for name in columns:
        ends = whiskers(data, name)
        if name == of:
            ends = Whiskers(data.values("low"), data.values("high"))
        sample = data.sample(name) if data.rule(name) else None
        listed.append(Figure(
            capitalized(humanize(name)), "", float(data.values(name)[0]), NAN, data.unit(name),
            _sizes(data, sample)[0], whys_missing(data, name)[0], float(ends.low[0]),
            float(ends.high[0]), (0, name),
        ))  # fmt: skip
    what = ": ".join(filter(None, [data.row_name, capitalized(data.table_words or "figures")]))
    return _cards(data, columns, what, listed, options) if listed else None


def _sides(data: PlotData) -> tuple[str, ...]:
    """The columns of the number and the one before; of metrics without one, the number alone."""
    sides = next((s for s in _SIDES if {*s} <= {*data.numbers}), ())
    if not sides and "metric" in data.kinds and "value" in data.numbers:
        return ("value",) if data.frame["metric"].is_unique else ()
    return sides


def _cards(
    data: PlotData, columns: Sequence[str], what: str, listed: list[Figure], options: Options
) -> Panel:
    """Numbers of several units: each with its course, its value, change, interval and sample."""
    shown = listed[: options.top or 12]
    cells, said, courses = [], [], []
    for row, one in enumerate(shown):
        value, change, ends = one.words
        words = " ".join(filter(None, [f"{one.label}:" if one.metric else one.label, one.metric]))
        words += f" {value}"
        if change:
            words += f" (before {number(one.before, one.unit)})"
        said.append(f"{words} ({ends})" if ends and not change else words)
        whole = _WHOLE.get(one.unit or "", NAN)
        share, low, high, before = (
            n / whole if 0 <= n <= whole else NAN
            for n in (one.value, one.low, one.high, one.before)
        )
        track = Cell(row, 1.0 if share == share else NAN, Style("grid"), place=one.place, size=0.3)
        bar = track._replace(x=share, style=OWN, low=low, high=high, tip=words, why=one.why)
        tick = track._replace(x=before, start=before - 0.012, style=look.INK, size=0.6)
        cells += [track, bar._replace(size=0.66) if one.why else bar, tick]
        courses.append(_course(row, data.course(one.label)))
    has_course = any(len(mark) for mark in courses)
    keys = ["tick: before"] * any(cell.style is look.INK and cell.x == cell.x for cell in cells)
    keys += ["line: 95% interval"] * any(cell.low == cell.low for cell in cells)
    keys += ["right: by day"] * has_course
    beside = [
        WordColumn(words, heading, align, heading == "value", heading in ("", "95% interval"))
        for words, heading, align in (
            ([one.metric for one in shown], "", "left"),
            (["" if one.why else one.words[0] for one in shown], "value", "right"),
            ([one.words[1] for one in shown], "change", "right"),
            ([one.words[2] for one in shown], "95% interval", "right"),
            ([one.n for one in shown], "sample", "right"),
        )
        if any(words)
    ]  # fmt: skip
    moved = [f"{one.label} {one.words[0]} ({one.words[1]})" for one in shown
             if one.words[1] and one.unit == FRACTION and not one.metric]  # fmt: skip
    has_track = has_course or any(cell.x == cell.x or cell.why for cell in cells)
    return row_panel(
        "figures", data, what + first_of(len(shown), len(listed)),
        [Name(f"{f.label} (lower is better)" if f.unit == RANK else f.label) for f in shown],
        cells if has_track else (), replace(NONE, high=2.0 if has_course else 1.0), columns,
        beside=beside, over=courses if has_course else (), finding="; ".join(said),
        how=capitalized(", ".join(keys)), pitch=1.15, is_wide=True,
        headline=", ".join(moved[:2]),
    )  # fmt: skip


def _course(row: int, values: Numbers) -> Mark:
    """A line of a few numbers in a row, which breaks where there is none."""
    there = values[~np.isnan(values)]
    if len(there) < 2:
        values = values[:0]
    low, high = (there.min(), there.max()) if len(there) else (0.0, 1.0)
    heights = row + 0.3 - 0.6 * (values - low) / ((high - low) or 1.0)
    return Mark("line", np.linspace(1.12, 2.0, len(values)), heights, OWN, size=1.2)


# --- parts of a whole -------------------------------------------------------------------------

_LACKING = (NOT_MEASURED, NOT_GIVEN)
"""The levels of rows without a value."""
_FEW_ROWS = 20
"""As few rows are read more easily in a table than as counts of them."""


def shares(data: PlotData, options: Options) -> Panel | None:
    """Columns that are shares of a whole: named ``*_share``, with sum 1 in each row."""
    x = options.x or data.label_column
    columns = options.y or [
        n for n in data.numbers if n.endswith("_share") and data.unit(n) == FRACTION
    ]
    if x is None or len(columns) < 2 or data.frame.duplicated([x]).any():
        return None
    sample = data.sample(columns[0])
    rows = (data.sorted_by(data.best_first(sample)) if sample else data).first(options.top or 15)
    parts = pd.DataFrame({name.removesuffix("_share"): rows.values(name) for name in columns})
    whole = parts.sum(axis=1, skipna=False)
    if whole.isna().all() or not np.allclose(whole.dropna(), 1, atol=0.01):
        return None
    labels, whys = rows.text(x), whys_missing(rows, columns[0])
    return _stacked(
        "shares", data, Drawn(data.frame, tuple(columns), tuple(dict.fromkeys((x, *data.keys)))),
        f"Shares by {humanize(x)}: {', '.join(map(str, parts))}" + first_of(len(rows), len(data)),
        parts, names_of(rows, labels), _sizes(rows, sample), FRACTION,
        f"share; n: {humanize(sample)}" if sample else "",
        [[({x: label}, name) for name in columns] for label in labels],
        [why * bool(gone) for why, gone in zip(whys, whole.isna(), strict=True)],
    )  # fmt: skip


def _stacked(
    kind: str, data: PlotData, drawn: Drawn, title: str, parts: pd.DataFrame,
    names: Sequence[Name], totals: Sequence[str], unit: str | None, label: str,
    places: Sequence[Sequence[Place]], whys: Sequence[str], headline: str = "",
) -> Panel:  # fmt: skip
    """A box for each part of each row, one after the other."""
    pieces, filled = [*map(str, parts.columns)], np.nan_to_num(parts.to_numpy(np.float64))
    styles = look.styles_for(pieces) | {p: style_without(p) for p in pieces if p in _LACKING}
    cells, texts = [], []
    for row, values in enumerate(filled):
        said, boxes = [], [Cell(row, NAN, why=whys[row])]
        for at, (piece, n, end) in enumerate(zip(pieces, values, values.cumsum(), strict=True)):
            tip = f"{names[row].text}\n{humanize(piece)}: {number(n, unit)}"
            tip += f"\nof {totals[row]}" if totals[row] else ""
            if n > 0:
                said.append(f"{piece} {number(n, unit)}")
                boxes.append(Cell(row, end, styles[piece], end - n, tip=tip, place=places[row][at]))
        texts.append(f"{names[row].shown}: {', '.join(said) or whys[row]}")
        boxes = boxes[1:] or boxes
        cells += [*boxes[:-1], boxes[-1]._replace(words=totals[row] * (not whys[row]))]
    at_own = next((row for row, name in enumerate(names) if name.of == "own"), 0)
    legend = [(humanize(piece), styles[piece], "boxes") for piece in pieces]
    scale = reach(filled.sum(axis=1), unit, 1.0 if unit == FRACTION else 1.02, label=label,
                  is_whole=unit is None)  # fmt: skip
    return row_panel(
        kind, data, title, names, cells, scale, (), drawn=drawn, shared="x",
        finding="; ".join(texts[row] for row in dict.fromkeys((0, at_own))),
        headline=headline or texts[at_own] * (unit == FRACTION and names[at_own].of == "own"),
        legend=legend if len(pieces) > 1 else [],
    )  # fmt: skip


def counts(data: PlotData, options: Options) -> Panel | None:
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
    levels = table.sum().sort_values(ascending=False, kind="stable").index.to_list()
    # What is comes before what is not, and rows without a value are last.
    levels.sort(key=lambda level: (level in _LACKING, level == NOT_GIVEN, level[:4] == "not "))
    totals = table.sum(axis=1)
    order = np.lexsort([-table[levels[0]], -totals])
    table = table.iloc[order][levels]
    if len(levels) > len(SERIES):
        rest = table.iloc[:, len(SERIES) - 1 :].sum(axis=1)
        table = table.iloc[:, : len(SERIES) - 1].assign(**{look.REST_LEVEL: rest})
    kept = table.head(options.top or 12)
    own = {*rows["x"][data.own()]} if x in ("brand", "advertiser") else {}
    # Rows that a join repeated are no number of the things that they were rows of.
    is_repeated = data is whole and data.table in data.metadata.repeated
    is_plain = is_repeated or data.table.startswith("statistics:")
    noun = (not is_plain and data.table_words) or "rows"
    what, top = f"Number of {noun} by {humanize(x)}", totals.iloc[order]
    headline = f"{quoted(str(table.index[0]))} has most {noun}, {top.iloc[0]:,} of {top.sum():,}"
    if by and is_one_length:
        first = int(table[levels[0]].iloc[0])
        headline = f"{quoted(str(table.index[0]))}: {first:,} of {top.iloc[0]:,} {levels[0]}"
    elif len(table) < 2 or top.iloc[0] == top.iloc[1]:
        headline = ""
    places: list[list[Place]] = [
        [({x: label} | ({by: look.BLANK if level in _LACKING else level} if by else {}), None)
         for level in map(str, kept)]
        for label in kept.index
    ]  # fmt: skip
    return _stacked(
        "counts", data,
        Drawn(data.frame, tuple(columns), tuple(dict.fromkeys((x, *data.keys))), counts=True),
        what + (f" and {humanize(by)}" if by else "") + first_of(len(kept), len(table)), kept,
        [Name(str(n), "own" if n in own else "") for n in kept.index],
        [number(n) for n in kept.sum(axis=1).astype(float)], None, f"rows ({len(data):,} in all)",
        places, [""] * len(kept), headline,
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
    told = [n for n in varied if data.is_category(n)]
    told += [n for n in varied if data.kinds[n] == "flag" and n not in ("own", *told)]
    if but:
        # Segments are what is found of each row, not another part of its key; whose a row is,
        # its mark says.
        others = [name for name in told if name != but]
        return next(iter([name for name in others if name not in data.keys] or others), None)
    words = [n for n in varied if data.kinds[n] == "word" and data.frame[n].nunique() <= 12]
    first = [n for n in ("engine", "brand") if n in words or (n == "engine" and n in data.kinds)]
    only = data.keys if len(data.keys) == 1 else ()
    return next((name for name in (*first, *told, *words) if name not in only), None)


def funnel(data: PlotData, options: Options) -> Panel | None:
    """The longest chain of counts in a row, each the whole of the next one's rate."""
    steps = options.y if options.kind and len(options.y) > 1 else () if options.y else _chain(data)
    if len(data) != 1 or options.x or options.color or not steps:
        return None
    values = np.array([float(data.values(name)[0]) for name in steps])
    titles, cells, said = [capitalized(humanize(name)) for name in steps], [], []
    for row, (name, n, before) in enumerate(zip(steps, values, [NAN, *values], strict=False)):
        part = f" ({number(n / before, FRACTION)} of those)" if before > 0 and n == n else ""
        said.append(f"{humanize(name)} {number(n) if n == n else 'not measured'}{part}")
        cells.append(Cell(row, n, words=number(n) + part, why=whys_missing(data, name)[0],
                          tip=partial(describe_mark, data, name, 0, titles[row]),
                          place=(0, name)))  # fmt: skip
    title = f"From {humanize(steps[0])} to {humanize(steps[-1])}"
    ends = [f"{number(values[at])} {humanize(steps[at])}" for at in (0, -1)]
    return row_panel(
        "funnel", data, ": ".join(filter(None, [data.row_name, title])),
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


# --- tables -----------------------------------------------------------------------------------

_STAGES = ("crawled", "cited", "visited", "converted")
_STATE_ROWS, _STATE_COLUMNS = 15, 4
_TEXT_ROWS, _TEXT_COLUMNS, _LONGEST = 8, 4, 160

Entry = tuple[str, Style, float]
"""The words of a cell, its look, and its share of the longest bar of the column, or NaN."""


def _grid(
    kind: str, rows: PlotData, title: str, labels: Sequence[str],
    columns: Sequence[tuple[str, str, Sequence[Entry]]], **more: Any,
) -> Panel:  # fmt: skip
    """Columns, each with its name, its heading and its entries: bars or signs, and words."""
    names, cells, said = names_of(rows, labels), [], [""] * len(rows)
    for at, (name, _, entries) in enumerate(columns):
        for row, (words, style, share) in enumerate(entries):
            said[row] += f"{', ' * (at > 0)}{humanize(name)} {words}"
            is_sign = share != share
            cell = Cell(row, at + 0.03, style, at, words=words, kind="dots", size=9.0, at=at + 0.05,
                        tip=f"{names[row].text}\n{humanize(name)}: {words}",
                        place=(row, name))  # fmt: skip
            if style == look.INK:
                cell = cell._replace(x=NAN, at=at + 0.0)
            elif not is_sign or style in look.WITHOUT:
                wide = 0.05 if is_sign else 0.7 * share
                cell = cell._replace(x=at + wide, kind="boxes", size=0.66, at=None)
            cells.append(cell)
    heads = tuple(Name(capitalized(heading)) for _, heading, _ in columns)
    return row_panel(
        kind, rows, title, names, cells, Scale(-0.02, len(columns), "names", names=heads,
        is_above=True), [name for name, _, _ in columns], said=said, is_wide=True, **more,
    )  # fmt: skip


def stages(data: PlotData, options: Options) -> Panel | None:
    """The stages from crawled to converted, each on a scale of its own; None for other frames."""
    is_funnel = data.table.startswith("statistics:funnel") and {*_STAGES} <= data.kinds.keys()
    if options.is_chosen or not is_funnel or not data.keys:
        return None
    rows = data.first(options.top or (31 if data.times else 15))
    columns = []
    for name in _STAGES:
        values = rows.values(name)
        most = np.nanmax([*values, 0.0]) or 1.0
        none = NOT_MEASURED if np.isnan(values).all() else "no number"
        columns.append((name, f"{name} ({rows.unit(name) or ''})", [
            (number(n), OWN, n / most) if n == n else (none, look.UNMEASURED, 1.0) for n in values
        ]))  # fmt: skip
    return _grid(
        "stages", rows, "From crawled to converted" + first_of(len(rows), len(data)),
        rows.labels(rows.keys[0]), columns,
        how="Each stage has a scale of its own. Hatched: no number, which is not 0.",
    )  # fmt: skip


def states(data: PlotData, options: Options) -> Panel | None:
    """The states of a few rows with one key and no number to compare."""
    x = options.x or data.label_column
    if x is None or options.color or options.y or not len(data):
        return None
    is_large = len(data) > _STATE_ROWS or len(data.metadata.key) != 1 or data.measures
    if (not options.kind and is_large) or data.frame.duplicated([x]).any():
        return None
    others = [name for name in data.kinds if name not in (x, *data.keys)]
    columns = [n for n in others if data.kinds[n] == "flag" or data.is_category(n)]
    if len(data) == 1 and columns:
        columns += [n for n in others if data.kinds[n] == "time" and n not in CONTEXT]
    if not columns:
        return None
    rows, columns = data.first(options.top or _STATE_ROWS), columns[:_STATE_COLUMNS]
    few = len(columns) < 3 or not data.table_words
    titled = ", ".join(map(humanize, columns)) if few else data.table_words
    entries = [(name, humanize(name), _states(rows, name)) for name in columns]
    return _grid(
        "verdicts", rows, capitalized(f"{titled} by {humanize(rows.row_noun(x))}"), rows.labels(x),
        entries, headline=_states_in_short(entries) if len(rows) > 1 else "",
    )  # fmt: skip


def _states_in_short(columns: Sequence[tuple[str, str, Sequence[Entry]]]) -> str:
    """How often each state is there, of the first column that has any."""
    for _, heading, entries in columns:
        counted = Counter(
            words for words, style, _ in entries if style not in (look.INK, *look.WITHOUT)
        )
        if counted:
            states = ", ".join(f"{n} {word}" for word, n in counted.most_common(4))
            return f"{capitalized(heading)}: {states}"
    return ""


def _states(rows: PlotData, name: str) -> list[Entry]:
    """The word of each cell, and its style by what it means."""
    levels = rows.text(name)
    styles = look.styles_for(levels, states=True)
    if rows.kinds[name] == "flag":
        values = rows.frame[name].fillna(False).to_numpy(bool)
        entries = [("yes", OWN) if value else ("no", look.EVEN) for value in values]
    elif rows.kinds[name] == "time":
        entries = [(level, look.INK) for level in levels]
    elif not look.are_states(levels):
        entries = [(humanize(level), look.INK) for level in levels]
    else:
        entries = [(humanize(level), styles[level]) for level in levels]
    lacking = np.flatnonzero(rows.frame[name].isna().to_numpy(bool)).tolist()
    for row, why in zip(lacking, whys_missing(rows, name, lacking), strict=True):
        entries[row] = why, style_without(why)
    return [(*entry, NAN) for entry in entries]


def empty(data: PlotData) -> Panel:
    """A few rows of text as they are, or why there are none; hatched where nothing was measured."""
    title = capitalized(data.table_words) or "A frame"
    if len(data):
        return _texts(data, title)
    names = [name for name in data.metadata.columns if name not in data.keys]
    state = data.state(names or data.metadata.columns)
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
    far, middle = some(np.inf), some(0.5)
    return [
        Mark("boxes", -far, middle, style, to=far, size=np.inf),
        Mark("words", middle, middle, words=[words], align="center", shift=(0, 0), has_paper=True),
    ]


def _texts(data: PlotData, title: str) -> Panel:
    """The first rows of what is no number to compare, under the names of the columns."""
    rows = data.first(_TEXT_ROWS)
    gone = {*CONTEXT, *(() if "host" in data.kinds and data.varies("host") else ("host",))}
    columns = [
        name for name in data.kinds
        if name not in gone and not name.startswith("filter_") and data.frame[name].notna().any()
    ] or [*data.kinds]  # fmt: skip
    # Text first, and identifiers that nothing stands for last.
    columns.sort(key=rows.is_bare_key)
    numbers_ = [name for name in columns if data.kinds[name] == "number"][:2]
    columns = [n for n in columns if data.kinds[n] != "number"][: _TEXT_COLUMNS - 1] + numbers_
    size = f"{counted(len(data), 'row')} and {counted(data.frame.shape[1], 'column')}"
    beside = [
        WordColumn(cell_texts(rows, name), capitalized(humanize(name.removesuffix("_id"))),
                   "right" if rows.kinds[name] == "number" else "left", is_muted=at > 0)
        for at, name in enumerate(columns)
    ]  # fmt: skip
    return row_panel(
        "table", rows, title + first_of(len(rows), len(data)), [Name("")] * len(rows), (), NONE,
        columns, finding=f"a table of {size}, with nothing to compare",
        beside=beside, is_wide=True,
    )  # fmt: skip


def cell_texts(data: PlotData, name: str) -> list[str]:
    """The cells of a column as short texts."""
    if data.kinds[name] == "number":
        return [number(n, u) for n, u in zip(data.values(name), data.units(name), strict=True)]
    texts = data.labels(name)
    if data.kinds[name] == "flag":
        return [{"True": "yes", "False": "no"}.get(text, text) for text in texts]
    if data.is_category(name):
        texts = [*map(humanize, texts)]
    if data.kinds[name] == "list":
        texts = [
            text if isinstance(value, str) or not np.iterable(value) else ", ".join(map(str, value))
            for text, value in zip(texts, data.frame[name], strict=True)
        ]
    return [text[:_LONGEST] for text in texts]
