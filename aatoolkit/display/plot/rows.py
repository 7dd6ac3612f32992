"""Pictures of named rows with one or more marks each: bars, gaps, shares and counts.

Each kind of picture chooses rows and columns, and makes a `Cell` for each box or dot in a row.
`row_panel` makes the picture from the cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from aatoolkit._util.numbers import number, numbers, signed
from aatoolkit._util.text import capitalized, humanize
from aatoolkit.display.plot.data import (
    NOT_GIVEN,
    NOT_MEASURED,
    Numbers,
    Options,
    PlotData,
    one_row_per_mark,
    whiskers,
    whys_missing,
)
from aatoolkit.display.plot.spec import PITCH, Mark, Name, Scale, Spec, some, strokes
from aatoolkit.display.plot.style import (
    BLANK,
    INK,
    MUTED,
    NO_NUMBER,
    NO_VALUE,
    OWN,
    REST,
    REST_LEVEL,
    SERIES,
    STATUS_WORDS,
    UNMEASURED,
    Style,
    are_states,
    first_of,
    in_words,
    styles_for,
)
from aatoolkit.sections.aggregation import FRACTION, RANK
from aatoolkit.stats.interval import Bounds

# --- the constructor --------------------------------------------------------------------------

NAN, FAR = float("nan"), float("inf")


class Cell(NamedTuple):
    """A box from ``start`` to ``x``, or a dot at ``x``, in a row, with an interval and a text.

    ``low`` and ``high`` are the interval, ``words`` is the text. ``why`` says why there is no
    number; it is empty if there is one. ``at`` is where the text begins, by default right of the
    box or dot and its interval.
    """

    row: int
    x: float
    style: Style = OWN
    start: float = 0.0
    low: float = NAN
    high: float = NAN
    words: str = ""
    why: str = ""
    tip: str = ""
    kind: str = "boxes"
    at: float = NAN


def row_panel(
    kind: str, data: PlotData, title: str, names: Sequence[Name], cells: Iterable[Cell], x: Scale,
    columns: Sequence[str], *, total: int = 0, over: Sequence[Mark] = (), by: Sequence[str] = (),
    **more: Any,
) -> Spec:  # fmt: skip
    """Return the `Spec` of a picture with a row for each of ``names``, and ``cells`` in these rows.

    If there are more rows in ``total``, the title says that these are the first, or the last if the
    first column of ``by`` holds times. ``over`` are further marks, drawn above the cells.
    """
    shapes: dict[tuple[str, Style], list[Cell]] = {}
    written = []
    for cell in cells:
        if cell.why:
            style = style_without(cell.why)
            cell = Cell(cell.row, FAR, style, -FAR, NAN, NAN, cell.why, cell.why, cell.tip, at=-FAR)
        shapes.setdefault((cell.kind, cell.style), []).append(cell)
        if cell.words:
            written.append(cell)
    marks = []
    for (form, style), group in shapes.items():
        is_dot, valid = form == "dots", [cell for cell in group if cell.x == cell.x]
        # Lines are over boxes, and below dots.
        low, high, rows = (some([getattr(c, n) for c in group]) for n in ("low", "high", "row"))
        layers = [strokes(low, high, rows, rows, *((style, 2.0) if is_dot else (INK, 1.1)))]
        starts, ends = some([cell.start for cell in valid]), some([cell.x for cell in valid])
        layers.append(Mark(
            form, ends if is_dot else starts, some([cell.row for cell in valid]), style,
            to=None if is_dot else ends, size=8.0 if is_dot else 0.66,
            tips=[cell.tip for cell in valid],
        ))  # fmt: skip
        marks += [mark for mark in (layers if is_dot else layers[::-1]) if len(mark)]
    if x.kind == "number" and min(x.low, x.high) < 0 < max(x.low, x.high):
        marks.append(strokes(0, 0, -FAR, FAR, MUTED, 0.9))
    if written:
        ends = some([np.nanmax([c.x, c.start, c.high]) if c.at != c.at else c.at for c in written])
        marks.append(Mark(
            "words", ends, some([cell.row for cell in written]), words=[c.words for c in written],
            shift=9.0 if written[0].kind == "dots" else 5.0,
        ))  # fmt: skip
    is_time = bool(by) and data.kinds[by[0]] == "time"
    return Spec(
        kind, data, columns, title + first_of(len(names), total, is_last=is_time), x,
        Scale(len(names) - 0.5, -0.5, "names", names=tuple(names)), [*marks, *over],
        height=PITCH * len(names), by=by, **more,
    )  # fmt: skip


def style_without(reason: str) -> Style:
    """Return the style of a box or dot without a number; if it was not measured, it is hatched."""
    return {NOT_MEASURED: UNMEASURED, NOT_GIVEN: NO_VALUE}.get(reason, NO_NUMBER)


def names_of(data: PlotData, labels: Iterable[str]) -> list[Name]:
    """Return a `Name` for each row: its label, and whether it is about the own brand or site."""
    return [Name(label, bool(is_own)) for label, is_own in zip(labels, data.own(), strict=True)]


def reach(values: Numbers, unit: str | None = None, room: float = 1.02, **more: Any) -> Scale:
    """Return a scale that includes 0 and all of ``values``; without numbers it has no ticks.

    ``room`` is the factor by which the scale is longer than the largest number.
    """
    finite = values[np.isfinite(values)]
    most, least = finite.max(initial=0.0), finite.min(initial=0.0)
    most = most or (-least / 20 if least else 1.0)
    return Scale(least * 1.05, most * room, "number" if len(finite) else "none", unit, **more)


def tips_of(
    data: PlotData, name: str, labels: Sequence[Name], ends: Bounds | None = None
) -> list[str]:
    """Return a tooltip per row: lines with label, number, interval, counts and availability."""
    values, whys = data.values(name).tolist(), whys_missing(data, name)
    sizes = dict.fromkeys([*data.parts(name), data.sample(name)])
    counts = [(humanize(size), data.values(size)) for size in sizes if size and size != name]
    codes, tooltips = data.cells(name).codes.tolist(), []
    states = [
        ": ".join(filter(None, (STATUS_WORDS[state.status], state.reason)))
        for state in data.cells(name).states
    ]
    for row, (label, value, unit) in enumerate(zip(labels, values, data.units(name), strict=True)):
        lines = [label.full, f"{humanize(name)}: {whys[row] or number(value, unit)}"]
        if ends and not np.isnan(ends.low[row] + ends.high[row]):
            low, high = float(ends.low[row]), float(ends.high[row])
            lines.append(f"interval: {number(low, unit)} to {number(high, unit)}")
        for size, amounts in counts:
            n = float(amounts[row])
            lines.append(f"{size}: {'not measured' if n != n else number(n)}")
        lines.append(states[codes[row]])
        tooltips.append("\n".join(filter(None, lines)))
    return tooltips


def sizes_of(data: PlotData, name: str | None) -> list[str]:
    """Return the sample size of each row as text, such as ``n=20``; "" if it is not known.

    ``name`` is the column of sample sizes, or None if there is none.
    """
    sample_sizes = data.values(name).tolist() if name else [NAN] * len(data)
    return ["" if n != n else f"n={number(n)}" for n in sample_sizes]


def _bar_labels(words: Iterable[str], data: PlotData, y: str) -> list[str]:
    """Return the labels to write beside bars; the label of a rate has its sample size added."""
    sizes = sizes_of(data, data.sample(y) if data.unit(y) == FRACTION else None)
    return [f"{word}  ({n})" if n else word for word, n in zip(words, sizes, strict=True)]


def quoted(name: str) -> str:
    """Return a name for use in a sentence: in quotes if it is long."""
    return f"“{name}”" if " " in name and len(name) > 24 else name


# --- bars and gaps ----------------------------------------------------------------------------

_PAIRS = (
    ("leader_", "own_"), ("previous_", ""), ("previous", "value"), ("prior", "value"),
    ("before", "after"),
)  # fmt: skip
"""Pairs of beginnings of the names of two columns to compare; the first is the reference."""


def pairs_of(data: PlotData) -> Iterator[tuple[str, str]]:
    """Yield pairs of numeric columns whose names belong together, such as before and after."""
    for name in data.numbers:
        for prefix, other in _PAIRS:
            second = other + name.removeprefix(prefix)
            if name.startswith(prefix) and second in data.numbers:
                yield name, second


def bars(data: PlotData, options: Options) -> Spec | None:
    """Return a bar chart with one bar per row: of ``y``, else of the most informative numbers.

    Return None if bars cannot show these data: there is no label or no number, the numbers have
    several units, or the options ask for colors.
    """
    x = options.x or data.label_column
    y = next(iter(options.y or [name for name in data.measures if name != x]), None)
    if x is None or y is None or data.kinds[x] == "list" or options.color:
        return None
    if data.is_mixed(y) or (
        (data.kinds[x] == "number" or data.is_bare_key(x)) and not (options.x or options.kind)
    ):
        return None  # numbers of several units have no scale; places and identifiers say nothing
    rows, by = data, [x, *data.apart(x)]
    # Many rows of one brand are no ranking of brands; what each brand has is.
    if options.x or (x in data.keys and len(data.keys) > 1):
        rows = one_row_per_mark(data, by, [y])
    elif data.is_repeated(y):
        rows = one_row_per_mark(data, [*by, *data.keys], [y])
    # Beside those with a number a few are drawn that have none.
    is_time, top = rows.kinds[x] == "time", options.most(15)
    measured = len(rows) if is_time else int((~np.isnan(rows.values(y))).sum())
    order = rows.best_first(y, x)
    kept = order[:measured][rows.shown(x, top)]
    without = order[measured:]
    hidden = len(without) - len(without := without[: max(top - len(kept), min(top // 2, 3))])
    others = REST if rows.own().any() else OWN
    rows = rows.sorted_by([*kept, *without])
    ends, unit, values = whiskers(rows, y, data, by), rows.unit(y), rows.values(y)
    names = names_of(rows, rows.row_labels(x))
    # A very wide interval goes on beyond the scale, and does not squeeze all others.
    limit = max(1.5 * np.nanmax([*values, 0]), 2 * np.quantile(np.nan_to_num(ends.high), 0.75))
    words = [
        f"→ {word}" if end > limit else word
        for end, word in zip(ends.high, _bar_labels(numbers(values, unit), rows, y), strict=True)
    ]
    highs = np.minimum(ends.high, limit)
    details = zip(values, ends.low, highs, words,
                  whys_missing(rows, y), tips_of(rows, y, names, ends), strict=True)  # fmt: skip
    hues = styles_for(rows.text(x)) if rows.has_engines(x) else {}
    styles = [hues.get(word) or (OWN if name.is_own else others)
              for name, word in zip(names, rows.text(x), strict=True)]  # fmt: skip
    cells = [Cell(row, n, styles[row], 0.0, *rest) for row, (n, *rest) in enumerate(details)]
    what, part = data.measure(y), first_of(len(kept), measured, is_last=is_time)
    headline = leader(names, values, unit, what)
    headline *= not is_time and rows.stands_out(y, values == values[0], ends)
    return row_panel(
        "bars", rows, data.title(what, rows.row_noun(x)) + part, names, cells,
        reach(np.concatenate([values, highs]), unit, label=rows.axis_label(y),
              is_whole=rows.is_count(y)),
        [y], headline=headline, by=by, bounds=ends.result,
        n=f"{hidden} more without a number" * bool(hidden),
        how=f"Lines: {in_words(ends.method.partition(';')[0])}" * (not np.isnan(ends.low).all()),
    )  # fmt: skip


def leader(names: Sequence[Name], values: Numbers, unit: str | None, what: str) -> str:
    """Return a headline such as "Acme has the highest mention rate, 40%; Globex 30%".

    ``values`` are sorted, the best first. The part after the semicolon is about the user's own
    brand, if it has less. The headline is empty if the first row ties with another, or if one of
    the first two rows has no number.
    """
    if (values == values[0]).sum() > 1 or np.isfinite(values[:2]).sum() < 2:
        return ""
    most = f"{'best' if unit == RANK else 'most' if what.endswith('s') else 'highest'} {what}"
    own = [f"; {quoted(name.text)} {number(float(n), unit)}"
           for name, n in zip(names, values, strict=True)
           if name.is_own and n < values[0]]  # fmt: skip
    return (
        f"{quoted(names[0].text)} has the {most.strip()}, {number(values[0], unit)}"
        f"{''.join(own[:1])}"
    )


def gap(data: PlotData, options: Options) -> Spec | None:
    """Return a picture of rows with two dots each, for two columns such as before and after.

    They are the columns in ``y``, else the first pair. Return None if there is no such pair.
    """
    # Between single prompts the widest change is mostly chance.
    is_chance = "prompt_id" in data.keys and not options.kind
    pairs = (pair for pair in pairs_of(data)
             if {*map(data.unit, pair)} == {FRACTION}
             and not (is_chance and pair[0].startswith("previous_")))  # fmt: skip
    x, pair = options.x or data.label_column, options.y or next(pairs, ())
    if x is None or len(pair) != 2 or not data.has_one_row_per(x):
        return None
    before, now = pair
    # What is about the gap has the widest first; what is about a number has the largest.
    is_time = data.kinds[x] == "time"
    is_gap = not (is_time or before.startswith(("previous", "before")))
    negative_gaps = -np.abs(data.values(now) - data.values(before))
    order = np.argsort(negative_gaps, kind="stable") if is_gap else data.best_first(now, x)
    rows = data.sorted_by(order[data.shown(x, options.most(15))])
    unit, first, second = rows.unit(now), rows.values(before), rows.values(now)
    names, whys = names_of(rows, rows.row_labels(x)), whys_missing(rows, now)
    tips = [tips_of(rows, name, names) for name in pair]
    has_own = any(name.is_own for name in names)
    inks = [OWN if name.is_own or not has_own else MUTED for name in names]
    moves = [signed(n, unit) if n == n else "only one measured" for n in second - first]
    cells = []
    for row, (a, b, words) in enumerate(
        zip(first, second, _bar_labels(moves, rows, now), strict=True)
    ):
        why = whys[row] * bool(a != a and b != b)
        cells += [
            Cell(row, a, REST, 0.0, a, b, "", "", tips[0][row], "dots"),
            Cell(row, b, inks[row], 0.0, NAN, NAN, words, why, tips[1][row], "dots",
                 at=float(np.fmax(a, b))),
        ]  # fmt: skip
    what, other, headline = humanize(now), humanize(before), ""
    # The widest gap, or that of the own brand.
    owned = [row for row, name in enumerate(names) if name.is_own]
    for row in [0] if is_gap else owned[:1]:
        if np.isfinite(second[row] - first[row]):
            headline = f"{quoted(names[row].text)}: {what} {number(second[row], unit)}, {other} "
            headline += f"{number(first[row], unit)} ({moves[row]})"
    title = data.title(f"{what} and {other}", data.row_noun(x))
    scale = reach(np.concatenate([first, second]), unit, 1.03)
    return row_panel(
        "gap", rows, title, names, cells, scale, (now, before), total=len(data),
        legend=[(what, MUTED if has_own else OWN, "dots"), (other, REST, "dots")],
        headline=headline, by=[x, *data.apart(x)],
    )  # fmt: skip


# --- parts of a whole -------------------------------------------------------------------------

_LACKING = (NOT_MEASURED, NOT_GIVEN)
"""The levels of rows without a value."""
_FEW_ROWS = 20
"""Up to this number rows are read more easily in a table than counted by a picture."""


def shares(data: PlotData, options: Options) -> Spec | None:
    """Return stacked bars of the columns ``*_share``; None unless they add up to 1 in each row."""
    x = options.x or data.label_column
    columns = options.y or [
        n for n in data.numbers if n.endswith("_share") and data.unit(n) == FRACTION
    ]
    if x is None or len(columns) < 2 or not data.has_one_row_per(x):
        return None
    sample = data.sample(columns[0])
    order = data.best_first(sample or columns[0], x)
    rows = data.sorted_by(order[data.shown(x, options.most(15))])
    parts = pd.DataFrame({name.removesuffix("_share"): rows.values(name) for name in columns})
    sums = parts.sum(axis=1, skipna=False)
    if sums.isna().all() or not np.allclose(sums.dropna(), 1, atol=0.01):
        return None
    names = names_of(rows, rows.row_labels(x))
    own = [f"{names[at].text}: " + ", ".join(f"{part} {number(n, FRACTION)}"
                                            for part, n in parts.iloc[at].items())
           for at in np.flatnonzero(sums.notna()) if names[at].is_own]  # fmt: skip
    return _stacked_bars(
        "shares", rows, columns, [x, *data.apart(x)],
        f"Shares by {humanize(data.row_noun(x))}: {', '.join(map(str, parts))}",
        parts, names, sizes_of(rows, sample), FRACTION, whys_missing(rows, columns[0]),
        n=f"n: {humanize(sample)}" if sample else "", headline="".join(own[:1]), total=len(data),
    )  # fmt: skip


def _stacked_bars(
    kind: str, data: PlotData, columns: Sequence[str], by: Sequence[str], title: str,
    parts: pd.DataFrame, names: Sequence[Name], totals: Sequence[str], unit: str | None,
    whys: Sequence[str], **more: Any,
) -> Spec:  # fmt: skip
    """Return the `Spec` of stacked bars: a row of boxes for each row of the frame ``parts``.

    ``totals`` are written beside the rows; ``whys`` say why a row has no boxes.
    """
    pieces, filled = [*map(str, parts.columns)], np.nan_to_num(parts.to_numpy(np.float64))
    styles = styles_for(pieces) | {p: style_without(p) for p in pieces if p in _LACKING}
    cells = []
    for row, (name, why, total, values) in enumerate(zip(names, whys, totals, filled, strict=True)):
        words = [f"{p} {number(n, unit)}" for p, n in zip(pieces, values, strict=True)]
        ends = values.cumsum()
        cells += [
            Cell(row, end, styles[piece], end - n, words=total if end == ends[-1] else "",
                 tip=f"{name.full}\n{word}\nof {total}")
            for piece, n, end, word in zip(pieces, values, ends, words, strict=True) if n > 0
        ] or [Cell(row, NAN, why=why, tip=f"{name.full}\n{why}")]  # fmt: skip
    has_parts = (filled > 0).sum(axis=1).max(initial=0) > 1
    scale = reach(
        filled.sum(axis=1), unit, 1.0 if unit == FRACTION else 1.02, is_whole=unit is None
    )
    return row_panel(
        kind, data, title, names, cells, scale, columns, by=by,
        legend=[(humanize(p), styles[p], "boxes") for p in pieces if has_parts], **more,
    )  # fmt: skip


def counts(data: PlotData, options: Options) -> Spec | None:
    """Return bars that count rows by a column, in segments by another; None if no column fits."""
    x = options.x or _grouping(data)
    if options.y or x is None or data.kinds[x] in ("list", "number"):
        return None
    by = options.color or (None if options.x else _grouping(data, x))
    is_chosen = bool(options.kind or options.x)
    is_small = data.metadata.key and len(data) <= _FEW_ROWS
    if is_small and not (is_chosen or by):
        return None
    columns = [*data.apart(x, by), x, *filter(None, [by])]
    # Rows that a join repeated are no number of the things that they were rows of.
    if any(map(data.is_repeated, columns)):
        return None
    names = data.row_labels(x, by, words=_levels(data, x))
    rows = pd.DataFrame({"x": names, "by": names})
    if by or not data.has_engines(x):  # whose bars have each a colour of its own
        rows["by"] = _levels(data, by) if by else "rows"
    table = rows.value_counts(["x", "by"], sort=False).unstack(fill_value=0)
    # Bars of one length, and each of one colour, say nothing.
    totals = table.sum(axis=1)
    is_flat = totals.nunique() == 1 and (table > 0).sum(axis=1).eq(1).all() and len(table) > 1
    if is_flat and not is_chosen:
        return None
    levels = table.sum().sort_values(ascending=False, kind="stable").index.to_list()
    # What is comes before what is not, and rows without a value are last.
    levels.sort(key=lambda level: (level in _LACKING, level == NOT_GIVEN, level[:4] == "not "))
    order = np.lexsort([-table[levels[0]], -totals])
    table = table.sort_index() if data.kinds[x] == "time" else table.iloc[order]
    kept = table[levels][data.shown(x, options.most(12))]
    if len(levels) > len(SERIES):
        few = len(SERIES) - 1
        kept = kept.iloc[:, :few].assign(**{REST_LEVEL: kept.iloc[:, few:].sum(axis=1)})
    own_names = {*rows["x"][data.own()]} if x in ("brand", "advertiser") else {}
    noun, what, totals = data.table_words or "rows", data.row_noun(x), kept.sum(axis=1)
    first, most, headline = quoted(str(kept.index[0])), int(totals.iloc[0]), ""
    if by and are_states(levels):
        sums = (f"{int(table[level].sum()):,} {humanize(str(level))}" for level in levels)
        headline = f"{capitalized(noun)}: {', '.join(sums)}"
    elif most > totals.iloc[1:].max() and first != BLANK and data.kinds[x] != "time":
        headline = f"{first} has the most {noun}, {most:,} of {len(data):,}"
    return _stacked_bars(
        "counts", data, columns, [x],
        data.title(f"Number of {noun}", what, by), kept,
        [Name(str(n), n in own_names) for n in kept.index], [number(float(n)) for n in totals],
        None, [""] * len(kept), n=f"n = {len(data):,}", headline=headline, total=len(table),
    )  # fmt: skip


def _levels(data: PlotData, name: str) -> list[str]:
    """Return a column's values in words; a missing one is "not measured" or "no value given"."""
    words = data.labels(name)
    if data.kinds[name] == "flag":
        noun = humanize(name.removeprefix("is_"))
        flags = {"true": noun, "false": f"not {noun}"}
        words = [flags.get(word.lower(), word) for word in words]
    for row, why in enumerate(whys_missing(data, name)):
        if why:
            words[row] = NOT_MEASURED if why == NOT_MEASURED else NOT_GIVEN
    return words


def _grouping(data: PlotData, but: str = "") -> str | None:
    """Return the column to group rows by: the engine or brand, else a category, else None.

    With ``but``, the column that rows are already grouped by, return a second one: a category.
    """
    names = [
        name for name, kind in data.kinds.items()
        if kind in ("word", "flag") and name not in ("own", but)
        and 1 < data.frame[name].nunique() <= 12
    ]  # fmt: skip
    stated = [n for n in names if data.kinds[n] == "flag" or data.is_category(n)]
    if but:
        # Segments are what is found of each row, not another part of its key; whose a row is,
        # its mark says.
        return next(iter(sorted(stated, key=data.keys.__contains__)), None)
    names = [n for n in ("engine", "brand") if n in names] + stated + names
    return next((name for name in names if data.keys != [name]), None)
