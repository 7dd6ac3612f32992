"""Rows with names: bars, gaps, figures, funnels, shares, counts, spans, states and texts.

One constructor, `row_panel`, draws them: each `Series` has a mark in each row. A kind chooses
rows and columns, and says what the series are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit._util.numbers import count, number, numbers, signed
from aatoolkit.availability import Status
from aatoolkit.display.plot.data import CONTEXT, Mask, Numbers, PlotData, is_category
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
    DOES_NOT_APPLY,
    INFINITE,
    NOT_GIVEN,
    NOT_MEASURED,
    NOT_MENTIONED,
    NOTHING,
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
from aatoolkit.display.plot.style import (
    BLANK,
    EVEN,
    INK,
    MUTED,
    NO_NUMBER,
    NO_VALUE,
    OWN,
    REST,
    REST_LEVEL,
    RIVAL,
    SERIES,
    UNMEASURED,
    Style,
    few_levels,
    styles_for,
)
from aatoolkit.errors import AvailabilityError
from aatoolkit.sections.aggregation import FRACTION, RANK, SCORE

# --- the constructor --------------------------------------------------------------------------


@dataclass(frozen=True)
class Series:
    """A mark in each row that has a number.

    Parameters
    ----------
    value : array of float
        Where the marks are, or where boxes end.
    styles : Style or sequence of Style
        The look of all, or of each.
    column : str, optional
        The column behind the marks, where it is not the first that is drawn.
    start : array of float
        Where boxes begin.
    low, high : array of float, optional
        The ends of the intervals.
    words : sequence of str
        What stands beside each mark.
    ends : array of float, optional
        Where the words begin; by default right of the mark and its interval.
    tip : callable, optional
        Gives what is said of a row where the mouse is on its mark.
    places : sequence of Place, optional
        What is behind each mark; by default its row.
    kind : str
        ``boxes`` or ``dots``.
    size : float
        The height of boxes in rows, or the size of dots in points.
    """

    value: Numbers
    styles: Style | Sequence[Style] = OWN
    column: str | None = None
    start: Any = 0.0
    low: Numbers | None = None
    high: Numbers | None = None
    words: Sequence[str] = ()
    ends: Any = None
    tip: Callable[[int], str] | None = None
    places: Sequence[Place] | None = None
    kind: str = "boxes"
    size: float = 0.66

    def marks(self) -> Iterator[Mark]:
        """Its marks, those of one look together."""
        value, is_box = some(self.value), self.kind == "boxes"
        start, rows = np.broadcast_to(self.start, value.shape), np.arange(float(len(value)))
        styles = [self.styles] * len(value) if isinstance(self.styles, Style) else self.styles
        for style in dict.fromkeys(styles):
            has_style = np.array([other == style for other in styles], bool)
            if self.low is not None and self.high is not None and not is_box:
                yield spans(self.low[has_style], self.high[has_style], rows[has_style], style, 2.0)
            there = np.flatnonzero(has_style & ~np.isnan(value)).tolist()
            if there:
                yield Mark(
                    self.kind,
                    start[there] if is_box else value[there],
                    rows[there],
                    style,
                    to=value[there] if is_box else None,
                    size=self.size,
                    tips=(lambda at=there: [self.tip(row) for row in at]) if self.tip else None,  # type: ignore[misc]
                    places=[self.places[row] if self.places else (row, self.column)
                            for row in there],
                )  # fmt: skip
        if is_box and self.low is not None and self.high is not None:
            yield spans(self.low, self.high, rows, INK)
        if self.words:
            right = value if self.high is None else np.fmax(value, self.high)
            right = np.where(np.isnan(value), np.nan, np.fmax(right, start))
            ends = right if self.ends is None else some(self.ends)
            yield words_at(ends, self.words, 9 if self.kind == "dots" else 5)


def words_at(x: Numbers, words: Sequence[str], shift: float = 5.0, **more: Any) -> Mark:
    """Words beside the rows that have any."""
    rows = [row for row, word in enumerate(words) if word and not np.isnan(x[row])]
    said = [words[row] for row in rows]
    return Mark("words", x[rows], some(rows), INK, words=said, shift=(shift, 0.0), **more)


def row_panel(
    kind: str, data: PlotData, title: str, names: Sequence[Name], series: Sequence[Series],
    x: Scale, columns: Sequence[str], *, whys: Sequence[str] = (), before: Sequence[Mark] = (),
    after: Sequence[Mark] = (), said: Sequence[str] = (), finding: str = "",
    drawn: Drawn | None = None, pitch: float = 1.0, **more: Any,
) -> Panel:  # fmt: skip
    """A panel of rows with names.

    Rows without a number have a box from end to end, and the reason of ``whys``; ``before`` and
    ``after`` are marks below and above those of the series, ``said`` what the finding says of
    each row.
    """
    marks = [*before]
    for why in dict.fromkeys(filter(None, whys)):
        rows = some([row for row, word in enumerate(whys) if word == why])
        end, column = np.full(len(rows), np.inf), columns[0] if columns else ""
        tips = [
            "\n".join(filter(None, (names[int(row)].text, why, reason_at(data, column, int(row)))))
            for row in rows
        ]
        places = [(int(row), None) for row in rows]
        marks.append(Mark("boxes", -end, rows, style_without(why), to=end, places=places,
                          tips=tips.copy))  # fmt: skip
    if x.kind == "number" and min(x.low, x.high) < 0 < max(x.low, x.high):
        marks.append(rules(0.0))
    marks += [mark for part in series for mark in part.marks()]
    if any(whys):
        marks.append(words_at(np.full(len(whys), -np.inf), whys, has_paper=True))
    texts = [f"{name.shown}: {words}" for name, words in zip(names, said, strict=False)]
    others = f"; and {len(texts) - 8} more" if len(texts) > 8 else ""
    return Panel(
        kind, data, drawn or drawn_of(data, columns), title,
        finding or "; ".join(texts[:8]) + others, x, rows_of(names), [*marks, *after],
        height=PITCH * pitch * len(names), **more,
    )  # fmt: skip


def names_of(data: PlotData, labels: Sequence[str]) -> list[Name]:
    """The names of rows, the own one and competitors marked."""
    own, rivals = data.own(), data.rivals()
    return [
        Name(label, "own" if mine else "competitor" if theirs else "")
        for label, mine, theirs in zip(labels, own, rivals, strict=True)
    ]


def reach(values: Numbers, unit: str | None = None, room: float = 1.02, **more: Any) -> Scale:
    """A scale from 0, or below it where numbers are; without ticks where there are none."""
    there = values[np.isfinite(values)]
    most, least = (float(there.max()), float(there.min())) if len(there) else (1.0, 0.0)
    most = max(most, 0.0) or (-least / 20 if least < 0 else 1.0)
    kind = "number" if len(there) else "none"
    return Scale(min(least, 0.0) * 1.05, most * room, kind, unit, **more)


def describe_mark(
    data: PlotData, name: str, row: int, label: str, low: float = np.nan, high: float = np.nan
) -> str:
    """Describe a mark, one line each: label, number, interval, counts and availability."""
    unit, value = data.units(name)[row], float(data.values(name)[row])
    lines = [label] if label else []
    lines.append(f"{humanize(name)}: {'no number' if np.isnan(value) else number(value, unit)}")
    if not np.isnan(low + high):
        lines.append(f"interval: {number(low, unit)} to {number(high, unit)}")
    rule, sample = data.rule(name), data.sample(name)
    for size in dict.fromkeys([*((rule.over or ()) if rule else ()), sample]):
        if size in data.kinds and size is not None and size != name:
            n = float(data.values(size)[row])
            lines.append(f"{humanize(size)}: {'not measured' if np.isnan(n) else number(n)}")
    cells = data.cells(name)
    state = cells.states[int(cells.codes[row])]
    is_whole = state.status == Status.AVAILABLE and not np.isnan(value)
    known = "measured" if is_whole else str(state)
    return "\n".join([*lines, known if data.is_known else "availability unknown"])


def sizes_of(data: PlotData, name: str | None) -> Numbers:
    """The sample of each row; NaN where none is declared."""
    return data.values(name) if name else np.full(len(data), np.nan)


def _with_size(words: str, size: float) -> str:
    return words if np.isnan(size) else f"{words}  (n={number(size)})"


# --- bars and gaps ----------------------------------------------------------------------------

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


def bars(data: PlotData, options: PlotOptions) -> Panel | None:
    """Bars of the most informative number, or of ``y``, by the label column."""
    x = options.x or data.label_column or next(iter(data.of_kind("word")), None)
    # A column that says of each row which metric it holds is the number, if there is one.
    measures = [*(n for n in data.numbers if options.kind and data.unit_column(n)), *data.measures]
    y = next(iter(options.y or [n for n in measures if n != x]), None)
    if x is None or y is None or data.kinds[y] != "number" or data.kinds[x] == "list":
        return None
    given, marks = data, [x, *([options.color] if options.color else [])]
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
    values, top, order = data.values(y), options.top or 15, data.best_first(y)
    measured = int((~np.isnan(values)).sum())
    kept, above, zeros = order[:measured][:top], int((values > 0).sum()), 0
    if 0 < above < len(kept) - _MOST_LACKING and measured > top and not (values < 0).any():
        kept, zeros = kept[: above + _MOST_LACKING], measured - above - _MOST_LACKING
    # A few unmeasured rows are shown after the largest; the finding counts the others.
    rows = data.sorted_by([*kept, *order[measured:][: max(top - len(kept), _MOST_LACKING)]])
    lacking = whys_missing(data, y, order[measured:].tolist())
    ends, unit, values = whiskers(rows, y, given, marks), rows.unit(y), rows.values(y)
    labels, label = rows.labels(x), axis_label(data, y)
    names, own, looks, legend = names_of(rows, labels), rows.own(), *_looks(rows, options)
    sizes = sizes_of(rows, rows.sample(y) if unit == FRACTION else None)
    notes = [f"{listed - len(data)} rows are in other units, and not drawn."]
    notes = notes[: listed > len(data)] + [f"{zeros} others are 0."][: zeros > 0]
    texts = [number(n, unit) for n in values.tolist()]
    measure = Series(
        values, looks, None, 0.0, ends.low, ends.high,
        [_with_size(t, n) for t, n in zip(numbers(values, unit), sizes, strict=True)],
        tip=lambda row: describe_mark(rows, y, row, labels[row], float(ends.low[row]),
                                      float(ends.high[row])),
    )  # fmt: skip
    return row_panel(
        "bars", rows,
        capitalized(f"{humanize(y)} by {humanize(data.row_noun(x))}")
        + first_of(len(kept), measured - len(kept)),
        names, [measure],
        reach(np.concatenate([values, ends.high]), unit,
              label="" if label == humanize(y) else label,
              is_whole=rows.is_count(y)),
        [y], whys=whys_missing(rows, y), legend=legend, shared="x",
        drawn=drawn_of(rows, [y], *marks, bounds=ends.bounds),
        finding=_ranking(names, texts, own, values, lacking, zeros),
        headline=_leader(names, texts, own, values) if unit != RANK else "",
        how=_how(ends, values), notes=[*_about(ends), *notes],
    )  # fmt: skip


def _how(ends: Whiskers, values: Numbers) -> str:
    """What thin lines over bars are, and why some have none."""
    if not ends.there:
        return ""
    is_short = bool((~np.isnan(values) & np.isnan(ends.low)).any())
    return "Lines: 95% interval" + (", none of too few answers or prompts" if is_short else "")


def _about(ends: Whiskers) -> list[str]:
    return [f"Whiskers: {in_words(ends.which)}."] if ends.which and ends.there else []


def _looks(data: PlotData, options: PlotOptions) -> tuple[list[Style], list[Any]]:
    """The style of each row, and their legend."""
    if options.color:
        levels = few_levels(data.text(options.color), options.levels)
        order = [*few_levels(options.levels), *levels] if options.levels else levels
        styles = styles_for(order, fixed=not options.palette)
        legend = [(humanize(level), style, "boxes") for level, style in styles.items()]
        return [styles[level] for level in levels], legend
    own, rivals = data.own(), data.rivals()
    plain = REST if own.any() or rivals.any() else OWN
    return [
        OWN if mine else RIVAL if theirs else plain
        for mine, theirs in zip(own, rivals, strict=True)
    ], []


def _leader(names: Sequence[Name], words: Sequence[str], own: Mask, values: Numbers) -> str:
    """Who has most, and what the own one has."""
    there = np.flatnonzero(~np.isnan(values)).tolist()
    if len(there) < 2 or values[there[0]] <= values[there[1]]:
        return ""
    text = f"{names[there[0]].text} has most, {words[there[0]]}"
    mine = next((row for row in there[1:] if own[row]), None)
    return text if mine is None else f"{text}; {names[mine].text} has {words[mine]}"


def _ranking(
    names: Sequence[Name], words: Sequence[str], own: Mask, values: Numbers,
    missing: Sequence[str], zeros: int,
) -> str:  # fmt: skip
    there = np.flatnonzero(~np.isnan(values)).tolist()
    missing = [word if word in _WITHOUT else NOT_MEASURED for word in missing]
    lacking = [
        f"{missing.count(word)} {said}" for word, said in _WITHOUT.items() if word in missing
    ]
    if not there:
        alike = {*missing} <= {NOT_MEASURED}
        return "none of them was measured" if alike else f"none has a number: {'; '.join(lacking)}"
    first, last = there[0], there[-1]
    parts = [f"{names[first].text} {words[first]}"]
    parts[0] += f", down to {names[last].text} {words[last]}" if last != first else ""
    mine = [row for row in there if own[row] and row not in (first, last)]
    parts += [f"own brand {names[row].text} {words[row]}" for row in mine[:1]]
    return "; ".join([*parts, *([f"{zeros} others are 0"] if zeros else []), *lacking])


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
        wide = np.abs(data.values(now) - data.values(before))
        order = np.argsort(np.where(np.isnan(wide), np.inf, -wide), kind="stable")
    rows = data.sorted_by(order[: options.top or 15])
    unit, (first, second) = rows.unit(before), (rows.values(name) for name in pair)
    sizes = sizes_of(rows, rows.sample(now) if unit == FRACTION else None)
    words = [
        _with_size("only one measured" if np.isnan(a + b) else signed(b - a, unit), n)
        for a, b, n in zip(first, second, sizes, strict=True)
    ]
    labels = rows.labels(x)
    names, whys = names_of(rows, labels), whys_missing(rows, now)
    whys = [why if a != a else "" for why, a in zip(whys, first, strict=True)]

    def dots(name: str, style: Style, size: float, **more: Any) -> Series:
        return Series(rows.values(name), style, name, kind="dots", size=size, **more,
                      tip=lambda row: describe_mark(rows, name, row, labels[row]))  # fmt: skip

    scale = reach(np.concatenate([first, second]), unit, 1.03)
    scale = replace(scale, low=scale.low - (scale.high - scale.low) * 0.02)
    if unit == RANK:
        scale = replace(scale, low=scale.high, high=0.9)
    ends = (np.fmin if unit == RANK else np.fmax)(first, second)
    texts = [number(n, unit) for n in second.tolist()]
    return row_panel(
        "gap", rows,
        capitalized(f"{humanize(now)} and {humanize(before)} by {humanize(data.row_noun(x))}")
        + first_of(len(rows), len(data) - len(rows)),
        names, [dots(before, REST, 7.5), dots(now, OWN, 7.5, words=words, ends=ends)], scale,
        (now, before), whys=whys, before=[spans(first, second, np.arange(len(rows)), MUTED, 2.0)],
        legend=[(humanize(now), OWN, "dots"), (humanize(before), REST, "dots")], shared="x",
        drawn=drawn_of(rows, (now, before), x), finding=_widest(rows, labels, before, now),
        headline=_leader(names, texts, rows.own(), second) if is_past and unit != RANK else "",
    )  # fmt: skip


def _widest(rows: PlotData, labels: list[str], before: str, now: str) -> str:
    first, second, unit = rows.values(before), rows.values(now), rows.unit(before)
    wide = np.abs(second - first)
    if np.isnan(wide).all():
        return "no row has both numbers"
    row = int(np.nanargmax(wide))
    a, b = float(first[row]), float(second[row])
    return (
        f"the widest gap is {labels[row]}: {humanize(now)} {number(b, unit)} "
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


# --- key figures ------------------------------------------------------------------------------

_SIDES = (("previous_value", "value"), ("before", "after"), ("before_value", "after_value"))
_OF_RESULTS = ("low", "high", "p", "n", "clusters")
"""Of a result of statistics: what describes its numbers and is none of its own."""
_WHOLE = {FRACTION: 1.0, SCORE: 100.0}


def figures(data: PlotData, options: PlotOptions) -> Panel | None:
    """The numbers of a single row, or of rows whose numbers differ in unit."""
    is_row = len(data) == 1 and not options.x
    return _of_row(data, options) if is_row else _of_rows(data, options)


def _of_row(data: PlotData, options: PlotOptions) -> Panel | None:
    is_result = data.table.startswith("statistics:") and not options.y
    columns = [n for n in options.y or data.numbers if not (is_result and n in _OF_RESULTS)]
    if not columns:
        return None
    ends = {name: whiskers(data, name) for name in columns}
    if is_result and {"low", "high"} <= data.kinds.keys():
        # They stand behind the number whose ends they are.
        of = [name for name in data.kinds if name in (*columns, "low")]
        doc = data.column("low")
        which = doc.doc.rstrip(".").partition("its ")[2] if doc else "its interval"
        ends[of[of.index("low") - 1]] = Whiskers(data.values("low"), data.values("high"), which)
    rated = {name: data.sample(name) if data.rule(name) else None for name in columns}
    table = pd.DataFrame(
        {
            "label": [capitalized(humanize(name)) for name in columns],
            "value": [float(data.values(name)[0]) for name in columns],
            "before": np.nan,
            "unit": [data.unit(name) for name in columns],
            "n": [sizes_of(data, rated[name])[0] for name in columns],
            "why": [whys_missing(data, name)[0] for name in columns],
            "low": [ends[name].low[0] for name in columns],
            "high": [ends[name].high[0] for name in columns],
            "metric": "",
        }
    )
    what = capitalized(table_words(data) or "figures")
    what = f"{row}: {what}" if (row := row_name(data)) else what
    more = [data.text(name)[0] for name in ("why", "method") if is_result and name in data.kinds]
    notes = [f"{capitalized(in_words(each))}." for each in more if each != BLANK]
    notes += [note for name in columns for note in _about(ends[name])][:1]
    return _cards(data, columns, what, table, options.top, notes)


def _of_rows(data: PlotData, options: PlotOptions) -> Panel | None:
    x = options.x or data.label_column
    sides = options.y if len(options.y) in (1, 2) else _sides(data)
    if x is None or sides is None or (options.y and not options.kind):
        return None
    now = sides[-1]
    if data.unit_column(now) is None and not options.kind:
        return None
    ends, labels, metrics = ends_of_figures(data, now), data.labels(x), [""] * len(data)
    if x == "metric":
        labels = [*map(capitalized, labels)]
    elif "metric" in data.kinds:
        metrics = [*map(humanize, data.text("metric"))]
    table = pd.DataFrame(
        {
            "label": labels, "value": data.values(now),
            "before": data.values(sides[0]) if len(sides) == 2 else np.nan,
            "unit": data.units(now), "n": sizes_of(data, data.sample(now)),
            "why": whys_missing(data, now), "low": ends.low, "high": ends.high, "metric": metrics,
        }
    )  # fmt: skip
    what = capitalized(table_words(data) or f"{humanize(now)} by {humanize(x)}")
    return _cards(data, sides[::-1], what, table, options.top, _about(ends))


def _sides(data: PlotData) -> tuple[str, ...] | None:
    """The columns of the number and the one before; of metrics without one, the number alone."""
    sides = next((s for s in _SIDES if all(name in data.numbers for name in s)), None)
    if sides is None and "metric" in data.kinds and "value" in data.numbers:
        return ("value",) if data.frame["metric"].is_unique else None
    return sides


def _cards(
    data: PlotData, columns: Sequence[str], what: str, table: pd.DataFrame, top: int | None,
    notes: Sequence[str],
) -> Panel:  # fmt: skip
    """Numbers of several units: each with its change, its sample and, of a whole, its share."""
    shown = table.head(top or 12)
    units = [unit if isinstance(unit, str) else None for unit in shown["unit"]]
    whole = np.array([_WHOLE.get(unit or "", np.nan) for unit in units])
    numbers_of = {
        name: shown[name].to_numpy(np.float64) for name in ("value", "before", "low", "high")
    }
    share, tick, low, high = (
        np.where((n / whole >= 0) & (n / whole <= 1), n / whole, np.nan)
        for n in numbers_of.values()
    )
    has_share, texts, moved, said = ~np.isnan(share), [], [], []
    for row, (value, before, least, most) in enumerate(zip(*numbers_of.values(), strict=True)):
        unit, why = units[row], shown["why"].iloc[row]
        is_change = value + before == value + before
        has_ends = least + most == least + most and not has_share[row]
        interval = f"{number(least, unit)} to {number(most, unit)}" if has_ends else ""
        texts.append("" if value != value else number(value, unit))
        moved.append(signed(value - before, unit) if is_change else interval)
        words = f"{shown['label'].iloc[row]}{': ' * bool(shown['metric'].iloc[row])}"
        words = f"{words}{shown['metric'].iloc[row]} {texts[-1] or why}"
        words += f" (before {number(before, unit)})" if is_change else ""
        said.append(words + (f" ({interval})" if interval else ""))
    sizes = ["" if n != n else f"n={number(n)}" for n in shown["n"]]
    beside = [WordColumn(list(shown["metric"]), is_muted=True)] if any(shown["metric"]) else []
    heading = "value" if any(moved) or any(sizes) else ""
    beside.append(WordColumn(texts, heading, "right", is_bold=True))
    has_before = not shown["before"].isna().all()
    if any(moved):
        beside.append(WordColumn(moved, "change" if has_before else "interval", "right"))
    if any(sizes):
        beside.append(WordColumn(sizes, "sample", "right", is_muted=True))
    keys = ["tick: before"] if not np.isnan(tick).all() else []
    keys += ["line: 95% interval"] if not np.isnan(low).all() else []
    whys = [why if not text else "" for why, text in zip(shown["why"], texts, strict=True)]
    places: list[Place] = [(row, None) for row in range(len(shown))]
    if len(data) == 1:
        places = [(0, name) for name in columns]
    tracks = [
        Series(np.where(has_share, 1.0, np.nan), Style("grid"), size=0.3, places=places),
        Series(share, OWN, low=low, high=high, size=0.3, tip=lambda row: said[row], places=places),
    ]
    has_track = bool(has_share.any()) or any(whys)
    return row_panel(
        "figures", data, what + first_of(len(shown), len(table) - len(shown)),
        [Name(f"{label} (lower is better)" if unit == RANK else label)
         for label, unit in zip(shown["label"], units, strict=True)],
        tracks if has_track else (), NONE, columns, whys=whys, beside=beside,
        after=[ticks(tick, np.arange(len(shown)))] if has_share.any() else (),
        finding="; ".join(said), how=capitalized(", ".join(keys)), notes=notes, pitch=1.15,
        is_wide=True,
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
    values = np.column_stack([data.values(name) for name in columns])
    whole = values.sum(axis=1)
    if not np.allclose(whole[~np.isnan(whole)], 1, atol=0.01) or np.isnan(whole).all():
        return None
    sample = data.sample(columns[0])
    sizes = sizes_of(data, sample)
    order = np.argsort(np.where(np.isnan(sizes), np.inf, -sizes), kind="stable")
    rows = data.sorted_by(order[: options.top or 15])
    labels = rows.text(x)
    parts = pd.DataFrame({name.removesuffix("_share"): rows.values(name) for name in columns})
    whys = whys_missing(rows, columns[0])
    title = f"Shares by {humanize(x)}: {', '.join(parts.columns)}"
    own = rows.own()
    return _stacked(
        "shares", data, Drawn(data.frame, tuple(columns), tuple(dict.fromkeys((x, *data.keys)))),
        title + first_of(len(rows), len(data) - len(rows)), parts,
        [Name(label, "own" if mine else "") for label, mine in zip(labels, own, strict=True)],
        ["" if n != n else f"n={number(n)}" for n in sizes_of(rows, sample)], FRACTION,
        f"share; n: {humanize(sample)}" if sample else "",
        [[({x: label}, name) for name in columns] for label in labels],
        [why if gone else "" for why, gone in zip(whys, parts.isna().all(axis=1), strict=True)],
    )  # fmt: skip


def _stacked(
    kind: str, data: PlotData, drawn: Drawn, title: str, parts: pd.DataFrame,
    names: Sequence[Name], words: Sequence[str], unit: str | None, label: str,
    places: Sequence[Sequence[Place]], whys: Sequence[str],
) -> Panel:  # fmt: skip
    """A box for each part of each row, one after the other."""
    pieces = [str(name) for name in parts.columns]
    styles = styles_for(pieces) | {p: style_without(p) for p in pieces if p in _LACKING}
    values = np.nan_to_num(parts.to_numpy(np.float64))
    ends = values.cumsum(axis=1)
    series = []
    for column, piece in enumerate(pieces):
        part, end = values[:, column], ends[:, column]

        def tip(row: int, piece: str = piece, part: Numbers = part) -> str:
            said = f"{names[row].text}\n{humanize(piece)}: {number(part[row], unit)}"
            return said + (f"\nof {words[row]}" if words[row] else "")

        series.append(Series(
            np.where(part > 0, end, np.nan), styles[piece], start=end - part, tip=tip,
            places=[place[column] for place in places],
        ))  # fmt: skip
    said = [
        ", ".join(
            f"{piece} {number(float(n), unit)}"
            for piece, n in zip(pieces, row, strict=True)
            if n > 0
        )
        or why
        for row, why in zip(values, whys, strict=True)
    ]
    at_own = next((row for row, name in enumerate(names) if name.of), 0)
    texts = [f"{names[row].shown}: {said[row]}" for row in dict.fromkeys((0, at_own))]
    whole = ends[:, -1]
    totals = words_at(
        whole, [word if not why else "" for word, why in zip(words, whys, strict=True)]
    )
    legend = [(humanize(piece), styles[piece], "boxes") for piece in pieces]
    scale = reach(
        whole, unit, 1.0 if unit == FRACTION else 1.02, label=label, is_whole=unit is None
    )
    return row_panel(
        kind, data, title, names, series, scale, (), whys=whys, after=[totals], drawn=drawn,
        finding="; ".join(texts), legend=legend if len(pieces) > 1 else [], shared="x",
    )  # fmt: skip


def counts(data: PlotData, options: PlotOptions) -> Panel | None:
    """Counts of rows by one column, segmented by another."""
    if options.y or not len(data):
        return None
    x = options.x or _grouping(data, ())
    if x is None or data.kinds[x] in ("list", "number"):
        return None
    by = options.color or (None if options.x else _grouping(data, (x,)))
    is_chosen = bool(options.kind or options.x)
    if not (is_chosen or by) and data.metadata.key and len(data) <= _FEW_ROWS:
        return None
    columns = [x, *([by] if by else [])]
    whole, data = data, each_once(data, columns, columns)
    rows = pd.DataFrame({"x": _levels(data, x), "by": _segments(data, by) if by else "rows"})
    table = rows.value_counts(["x", "by"], sort=False).unstack(fill_value=0)
    if not is_chosen and _says_nothing(table):
        return None
    order = table.sum(axis=1).sort_values(ascending=False, kind="stable").index
    levels = table.sum().sort_values(ascending=False, kind="stable").index.to_list()
    # What is comes before what is not, and rows without a value are last.
    no = f"not {humanize(by)}" if by and data.kinds[by] == "flag" else None
    levels.sort(key=lambda level: (level in _LACKING, level == NOT_GIVEN, level == no))
    table = table.loc[order, pd.Index(levels, dtype=table.columns.dtype)]
    if len(levels) > len(SERIES):
        rest = table.iloc[:, len(SERIES) - 1 :].sum(axis=1)
        table = table.iloc[:, : len(SERIES) - 1].assign(**{REST_LEVEL: rest})
    kept = table.head(options.top or 12)
    own = {name for name, mine in zip(rows["x"], data.own(), strict=True) if mine}
    is_owned = x in ("brand", "advertiser")
    # Rows that a join repeated are no number of the things that they were rows of.
    is_repeated = data is whole and data.table in data.metadata.repeated
    is_plain = is_repeated or data.table.startswith("statistics:")
    things = "rows" if is_plain else table_words(data) or "rows"
    what = f"Number of {things} by {humanize(x)}" + (f" and {humanize(by)}" if by else "")
    places: list[list[Place]] = [
        [
            ({x: label, **({by: BLANK if level in _LACKING else level} if by else {})}, None)
            for level in map(str, kept.columns)
        ]
        for label in kept.index
    ]
    drawn = Drawn(data.frame, tuple(columns), tuple(dict.fromkeys((x, *data.keys))), counts=True)
    return _stacked(
        "counts", data, drawn, what + first_of(len(kept), len(table) - len(kept)), kept,
        [Name(str(n), "own" if is_owned and n in own else "") for n in kept.index],
        [number(n) for n in kept.sum(axis=1).astype(float)], None,
        f"rows ({len(data):,} in all)", places, [""] * len(kept),
    )  # fmt: skip


def _says_nothing(table: pd.DataFrame) -> bool:
    """Whether all bars are of one length, and each of one colour."""
    is_one_length = len(table) > 1 and table.sum(axis=1).nunique() == 1
    return is_one_length and bool((table > 0).sum(axis=1).eq(1).all())


def _levels(data: PlotData, name: str) -> list[str]:
    """The levels of a column as words: a flag by its name."""
    words = data.labels(name)
    if data.kinds[name] != "flag":
        return words
    yes, no = humanize(name), f"not {humanize(name)}"
    return [{"true": yes, "false": no}.get(word.lower(), word) for word in words]


def _segments(data: PlotData, name: str) -> list[str]:
    """The levels of a column; those of rows without a value say whether it was measured."""
    levels, lacking = _levels(data, name), np.flatnonzero(data.frame[name].isna().to_numpy(bool))
    for row, why in zip(lacking, whys_missing(data, name, lacking.tolist()), strict=True):
        levels[row] = NOT_MEASURED if why == NOT_MEASURED else NOT_GIVEN
    return levels


def _grouping(data: PlotData, but: tuple[str, ...]) -> str | None:
    """The column that groups the rows best: the engine, else a category."""
    varied = [name for name in data.kinds if data.kinds[name] != "list"
              and data.frame[name].nunique() > 1]  # fmt: skip
    categories = [name for name in varied if is_category(data, name)]
    flags = [name for name in varied if data.kinds[name] == "flag" and name != "own"]
    if but:
        # Segments are what is found of each row, not another part of its key; whose a row is,
        # its mark says.
        others = [name for name in (*categories, *flags) if name not in (*but, "own")]
        return next(iter([name for name in others if name not in data.keys] or others), None)
    words = [n for n in varied if data.kinds[n] == "word" and data.frame[n].nunique() <= 12]
    only = data.keys if len(data.keys) == 1 else ()
    brands = [name for name in words if name == "brand"]
    engine = ["engine"] if "engine" in data.kinds else []
    listed = (*engine, *brands, *categories, *flags, *words)
    return next((name for name in listed if name not in only), None)


def funnel(data: PlotData, options: PlotOptions) -> Panel | None:
    """The longest chain of counts in a row, each the whole of the next one's rate."""
    if len(data) != 1 or options.x or options.color:
        return None
    steps = options.y if options.kind and len(options.y) > 1 else None
    if not options.y:
        steps = _chain(data)
    if not steps:
        return None
    values = np.array([float(data.values(name)[0]) for name in steps])
    of = [""] + [
        f" ({number(now / before, FRACTION)} of those)" if before > 0 and now == now else ""
        for before, now in pairwise(values)
    ]
    whys = [whys_missing(data, name)[0] for name in steps]
    titles = [capitalized(humanize(name)) for name in steps]
    words = [number(n) + part if n == n else "" for n, part in zip(values, of, strict=True)]
    boxes = Series(values, words=words, places=[(0, name) for name in steps],
                   tip=lambda row: describe_mark(data, steps[row], 0, titles[row]))  # fmt: skip
    title = capitalized(f"from {humanize(steps[0])} to {humanize(steps[-1])}")
    finding = [
        f"{humanize(name)} {words or 'not measured'}"
        for name, words in zip(steps, words, strict=True)
    ]
    headline = (
        f"Of {words[0]} {humanize(steps[0])}, {words[-1].partition(' (')[0]} {humanize(steps[-1])}"
    )
    return row_panel(
        "funnel", data, f"{row}: {title}" if (row := row_name(data)) else title,
        [*map(Name, titles)], [boxes], reach(values), steps, whys=whys, finding="; ".join(finding),
        headline="" if any(whys) else headline, pitch=1.5, is_wide=True,
    )  # fmt: skip


def _chain(data: PlotData) -> tuple[str, ...]:
    """The longest chain of counts that rates link."""
    follows = {
        rule.over[1]: rule.over[0]
        for name in reversed(data.numbers)
        if (rule := data.rule(name)) and rule.over and data.unit(name) == FRACTION
    }
    chains = []
    for start in (name for name in follows if name not in follows.values()):
        chain = [start]
        while chain[-1] in follows and follows[chain[-1]] not in chain:
            chain.append(follows[chain[-1]])
        chains.append(tuple(chain))
    return max(chains, key=lambda c: (len(c), -data.numbers.index(c[0])), default=())


_STAGES = ("crawled", "cited", "visited", "converted")
_STAGE = 0.76
"""The longest bar of a stage; each stage has a width of 1."""


def stages(data: PlotData, options: PlotOptions) -> Panel | None:
    """The stages from crawled to converted, each on a scale of its own; None for other frames."""
    if options.is_chosen or not data.table.startswith("statistics:funnel"):
        return None
    if not all(name in data.kinds for name in (*_STAGES, "method")) or not data.keys:
        return None
    rows = data.first(options.top or (31 if data.times else 15))
    labels, series, after = rows.labels(rows.keys[0]), [], []
    said = [""] * len(rows)
    for at, name in enumerate(_STAGES):
        values = rows.values(name)
        largest = 1.0 if np.isnan(values).all() else float(np.nanmax(values)) or 1.0
        none = "not measured" if np.isnan(values).all() else "no number"
        words = [none if n != n else number(n) for n in values.tolist()]
        said = [
            f"{text}, {name} {number(n) if n == n else 'not measured'}".removeprefix(", ")
            for text, n in zip(said, values.tolist(), strict=True)
        ]
        end = np.where(np.isnan(values), at + _STAGE, at + _STAGE * values / largest)
        series.append(Series(
            end, [UNMEASURED if n != n else OWN for n in values], name, at,
            tip=lambda row, name=name, words=words: f"{labels[row]}\n{name}: {words[row]}",  # type: ignore[misc]
        ))  # fmt: skip
        after += [
            words_at(end, [w if n == n else "" for w, n in zip(words, values, strict=True)], 3),
            words_at(0 * end + at, [w if n != n else "" for w, n in zip(words, values,
            strict=True)],
                     3, has_paper=True),
        ]  # fmt: skip
    units = [rows.unit(name) or "" for name in _STAGES]
    heads = [Name(f"{capitalized(n)} ({u})") for n, u in zip(_STAGES, units, strict=True)]
    is_missing = bool(rows.frame[list(_STAGES)].isna().any(axis=None))
    how = "Each stage has a scale of its own." + " Hatched: no number, which is not 0." * is_missing
    return row_panel(
        "stages", rows, "From crawled to converted" + first_of(len(rows), len(data) - len(rows)),
        names_of(rows, labels), series,
        Scale(0.0, 4.0, "names", names=tuple(heads), is_above=True), _STAGES,
        before=[rules(range(4), size=0.6)], after=after,
        finding="; ".join(f"{a}: {b}" for a, b in zip(labels[:5], said, strict=False)),
        how=how, notes=[f"{capitalized(rows.text('method')[0])}."], is_wide=True,
    )  # fmt: skip


# --- times, states and texts ------------------------------------------------------------------

_ENDS = (("_start", "_end"), ("first_", "last_"), ("created_at", "updated_at"))
_STATE_ROWS, _STATE_COLUMNS = 15, 4
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
    if x is None or not pairs or options.y or not len(data):
        return None
    if len(data) == 1 and not options.kind and not any(p[0].endswith("_start") for p in pairs):
        return None
    if all(data.frame[name].isna().all() for pair in pairs for name in pair):
        return None
    ends = [name for pair in pairs for name in pair]
    moment = next((name for name in times if name not in ends), None)
    verdict = next((name for name in ("verdict", "state") if name in data.kinds), None)
    order = data.moments(pairs[0][0]).argsort(kind="stable").tolist()
    rows = data.sorted_by(order[: options.top or 12])
    columns, labels = (*ends, *([moment] if moment else [])), rows.labels(x)
    days = {name: rows.days(name) for name in columns}
    # The last day belongs to the span.
    series = [
        Series(days[end] + 1, style, start, days[start], size=0.42,
               tip=lambda row, name=start: f"{labels[row]}\n{humanize(name)}")  # type: ignore[misc]
        for (start, end), style in zip(pairs, (REST, *SERIES), strict=False)
    ]  # fmt: skip
    named = [humanize(pair[0].removesuffix("_start")) for pair in pairs]
    legend = [(name, part.styles, "boxes") for name, part in zip(named, series, strict=False)]
    if moment:
        look = Style("ink", "D")
        series.append(Series(days[moment] + 0.5, look, kind="dots", size=8))
        legend.append((humanize(moment), look, "dots"))
    everything = np.array([*days.values()])
    texts = rows.text(moment or pairs[0][0])
    after = []
    if verdict:
        words = [*map(humanize, rows.text(verdict))]
        right = np.fmax.reduce(everything) + 1
        after = [words_at(right, words)]
        texts = [f"{text}, {word}" for text, word in zip(texts, words, strict=True)]
    first, last = float(np.nanmin(everything)), float(np.nanmax(everything)) + 1
    return row_panel(
        "spans", rows,
        capitalized(f"{' and '.join(named)} by {humanize(rows.row_noun(x))}")
        + first_of(len(rows), len(data) - len(rows)),
        names_of(rows, labels), series, day_scale(first, last), columns, after=after, legend=legend,
        said=texts, drawn=drawn_of(rows, columns, x), pitch=1.3,
    )  # fmt: skip


def day_scale(first: float, last: float) -> Scale:
    """A scale of days."""
    return Scale(first, last, "time", days=tuple(np.arange(np.floor(first), last).tolist()))


def states(data: PlotData, options: PlotOptions) -> Panel | None:
    """The states of a few rows with one key and no number to compare."""
    x = options.x or data.label_column
    if x is None or options.color or options.y or not len(data):
        return None
    is_large = len(data) > _STATE_ROWS or len(data.metadata.key) != 1 or data.measures
    if (not options.kind and is_large) or data.frame.duplicated([x]).any():
        return None
    columns = [name for name in data.kinds if name not in (x, *data.keys)
               and (data.kinds[name] == "flag" or is_category(data, name))]  # fmt: skip
    if len(data) == 1 and columns:
        columns += [n for n in data.of_kind("time") if n not in (*data.keys, *CONTEXT)]
    if not columns:
        return None
    rows = data.first(options.top or _STATE_ROWS)
    columns, labels = columns[:_STATE_COLUMNS], rows.labels(x)
    series, after, said = [], [], [""] * len(rows)
    for at, name in enumerate(columns):
        words, styles = zip(*_states(rows, name), strict=True)
        said = [f"{text}, {humanize(name)} {word}".removeprefix(", ")
                for text, word in zip(said, words, strict=True)]  # fmt: skip
        is_none = np.array([style in (UNMEASURED, NO_VALUE, NO_NUMBER) for style in styles])

        def tip(row: int, name: str = name, words: Sequence[str] = words) -> str:
            return f"{labels[row]}\n{humanize(name)}: {words[row]}"

        dots, boxes = (
            np.where(mask, at + wide, np.nan) for mask, wide in ((~is_none, 0.03), (is_none, 0.05))
        )
        series += [
            Series(dots, styles, name, kind="dots", size=9, tip=tip),
            Series(boxes, styles, name, at + 0.01, size=0.5, tip=tip),
        ]
        after.append(words_at(np.full(len(rows), at + 0.05), words, 6))
    few = len(columns) < 3 or not table_words(rows)
    titled = ", ".join(map(humanize, columns)) if few else table_words(rows)
    heads = tuple(Name(capitalized(humanize(name))) for name in columns)
    return row_panel(
        "verdicts", rows, capitalized(f"{titled} by {humanize(rows.row_noun(x))}"), names_of(rows,
        labels),
        series, Scale(-0.02, len(columns), "names", names=heads, is_above=True), columns,
        after=after, said=said, is_wide=True,
    )  # fmt: skip


def _states(rows: PlotData, name: str) -> list[tuple[str, Style]]:
    """The word of each cell, and its style by what it means."""
    lacking = np.flatnonzero(rows.frame[name].isna().to_numpy(bool)).tolist()
    if rows.kinds[name] == "flag":
        values = rows.frame[name].fillna(False).to_numpy(bool)
        words = [("yes", OWN) if value else ("no", EVEN) for value in values]
    elif rows.kinds[name] == "time":
        words = [(text, EVEN) for text in rows.text(name)]
    else:
        levels = rows.text(name)
        styles = styles_for(levels, states=True)
        words = [(humanize(level), styles[level]) for level in levels]
    for row, why in zip(lacking, whys_missing(rows, name, lacking), strict=True):
        words[row] = why, style_without(why)
    return words


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
    looks = {Status.AVAILABLE: NO_NUMBER, Status.UNKNOWN: NO_VALUE}
    return Panel(
        "empty", data, drawn_of(data, ()), title, finding, NONE, NONE,
        notice(finding, looks.get(state.status, UNMEASURED)), height=90.0, is_wide=True,
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
        else BLANK
        for value in data.frame[name]
    ]
