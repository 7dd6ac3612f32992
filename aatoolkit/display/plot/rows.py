"""Pictures whose rows are named, with one or more marks per row: bars, gaps, shares and counts.

Each kind of picture chooses rows and columns, and creates a `Cell` for each box or dot.
`row_panel` makes the picture's `Spec` from the cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from aatoolkit._util.numbers import number, numbers, signed
from aatoolkit._util.text import capitalized, humanize
from aatoolkit.availability import Status
from aatoolkit.display.plot.data import (
    FEW,
    NAMES,
    NOT_GIVEN,
    NOT_MEASURED,
    Numbers,
    Options,
    PlotData,
    missing_reasons,
    one_row_per_mark,
    whiskers,
)
from aatoolkit.display.plot.spec import PITCH, Mark, Name, Scale, Spec, floats, line_segments
from aatoolkit.display.plot.style import (
    BLANK,
    INK,
    MUTED,
    NO_NUMBER,
    NO_VALUE,
    OWN,
    REST,
    STATUS_WORDS,
    UNMEASURED,
    Style,
    Texts,
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
    """A mark in one row of a picture: a box from ``start`` to ``x``, or a dot at ``x``.

    ``low`` and ``high`` are its interval, and ``words`` is its text. ``why`` is the reason if it
    has no number.
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
    columns: Texts, *, total: int = 0, over: Sequence[Mark] = (), by: Texts = (),
    which: str = "first", **more: Any,
) -> Spec:  # fmt: skip
    """Return the `Spec` (chart description) of a picture with one row per name.

    ``cells`` are the boxes and dots that are drawn in the rows.
    """
    cells_by_shape: dict[tuple[str, Style], list[Cell]] = {}
    written = []
    for cell in cells:
        if cell.why:
            style = missing_style(cell.why)
            cell = Cell(cell.row, FAR, style, -FAR, NAN, NAN, cell.why, cell.why, cell.tip, at=-FAR)
        cells_by_shape.setdefault((cell.kind, cell.style), []).append(cell)
        if cell.words:
            written.append(cell)
    marks = []
    for (shape, style), group in cells_by_shape.items():
        is_dot, measured = shape == "dots", [cell for cell in group if cell.x == cell.x]
        # Lines are drawn over boxes, but below dots.
        low, high, rows = (floats([getattr(c, n) for c in group]) for n in ("low", "high", "row"))
        looks = [(style, 2.0)] if is_dot else [(INK, 1.1), (Style("paper"), 3.0)]
        layers = [line_segments(low, high, rows, rows, *look) for look in looks]
        starts, ends = floats([c.start for c in measured]), floats([c.x for c in measured])
        layers.append(Mark(
            shape, ends if is_dot else starts, floats([cell.row for cell in measured]), style,
            to=None if is_dot else ends, size=8.0 if is_dot else 0.66,
            tips=[cell.tip for cell in measured],
        ))  # fmt: skip
        marks += [mark for mark in (layers if is_dot else layers[::-1]) if len(mark)]
    if x.kind == "number" and min(x.low, x.high) < 0 < max(x.low, x.high):
        marks.append(line_segments(0, 0, -FAR, FAR, MUTED, 0.9))
    if written:
        ends = floats(
            [np.nanmax([c.x, c.start, c.high]) if c.at != c.at else c.at for c in written]
        )
        marks.append(Mark(
            "words", ends, floats([c.row for c in written]), words=[c.words for c in written],
            shift=9.0 if written[0].kind == "dots" else 5.0,
        ))  # fmt: skip
    is_time = bool(by) and data.kinds[by[0]] == "time"
    return Spec(
        kind, data, columns, title, x,
        Scale(len(names) - 0.5, -0.5, "names", names=names), [*marks, *over],
        height=PITCH * len(names), by=by,
        extent=first_of(len(names), total, which="last" if is_time else which), **more,
    )  # fmt: skip


def missing_style(reason: str) -> Style:
    """Return the style of a mark without a number; marks that were not measured are hatched."""
    return {NOT_MEASURED: UNMEASURED, NOT_GIVEN: NO_VALUE}.get(reason, NO_NUMBER)


def names_of(data: PlotData, x: str, labels: Iterable[str] = ()) -> list[Name]:
    """Return a `Name` for each row: its label, and whether it is the project's own brand or site.

    ``labels`` are the labels to use; by default those of the column ``x``.
    """
    return [*map(Name, labels or data.row_labels(x), data.is_own(x).tolist())]


def scale_for(values: Numbers, unit: str | None = None, margin: float = 1.02, **more: Any) -> Scale:
    """Return a scale that includes 0 and all of ``values``.

    ``margin`` is the length of the scale, divided by the largest number.
    """
    finite = values[np.isfinite(values)]
    top, bottom = finite.max(initial=0.0), finite.min(initial=0.0)
    top = top or (-bottom / 20 if bottom else 1.0)
    return Scale(bottom * 1.05, top * margin, "number" if len(finite) else "none", unit, **more)


def tips_of(
    data: PlotData, name: str, labels: Iterable[Name], bounds: Bounds | None = None,
    rows: Iterable[int] | None = None,
) -> list[str]:  # fmt: skip
    """Return a tooltip per label, with the row's number, interval, counts and availability.

    ``rows`` are the positions of the labelled rows in the data, or -1 where there is no row.
    """
    values, reasons = data.values(name).tolist(), missing_reasons(data, name)
    columns = dict.fromkeys([*data.rule_columns(name), data.sample_column(name)])
    counts = [(humanize(size), data.values(size)) for size in columns if size and size != name]
    state_codes, tooltips = data.cells(name).state_codes.tolist(), []
    state_texts = [
        f"{STATUS_WORDS[state.status]}: {state.reason or ''}".removesuffix(": ")
        for state in data.cells(name).states
    ]
    units = data.units(name)
    for row, label in zip(range(len(data)) if rows is None else rows, labels, strict=True):
        if row < 0:
            tooltips.append(label.full)
            continue
        unit = units[row]
        lines = [label.full, f"{humanize(name)}: {reasons[row] or number(values[row], unit)}"]
        if bounds and not np.isnan(bounds.low[row] + bounds.high[row]):
            ends = (number(end[row], unit) for end in (bounds.low, bounds.high))
            lines.append(f"interval: {' to '.join(ends)}")
        lines += [f"{size}: {NOT_MEASURED if n[row] != n[row] else number(n[row])}"
                  for size, n in counts]  # fmt: skip
        lines.append(state_texts[state_codes[row]])
        tooltips.append("\n".join(filter(None, lines)))
    return tooltips


def interval_words(bounds: Bounds) -> str:
    """Return a short text for the subtitle that says what kind of interval is drawn."""
    return in_words(bounds.method.partition(";")[0]).removeprefix("Wilson's ")


def size_texts(data: PlotData, name: str | None) -> list[str]:
    """Return the sample size of each row as text, such as ``n=20``, from the column ``name``."""
    sample_sizes = data.values(name).tolist() if name else [NAN] * len(data)
    return ["" if size != size else f"n={number(size)}" for size in sample_sizes]


def sample_range(data: PlotData, y: str, rows: Any = None) -> str:
    """Return the range of a rate's sample sizes as text, such as ``answer count 20–30``.

    If ``rows`` are given, the text is only ``n=20–30``, for these rows.
    """
    name = data.rate_sample(y)
    sizes = np.append(data.values(name), 0.0)[rows] if name else np.empty(0)
    sizes = sizes[sizes > 0]
    if name is None or not sizes.size:
        return ""
    text = "–".join(dict.fromkeys(map(number, (sizes.min(), sizes.max()))))
    return f"{humanize(name)} {text}" if rows is None else f"n={text}"


def _bar_labels(words: Texts, data: PlotData, y: str) -> Texts:
    """Return the labels beside the bars of a rate, with the sample sizes if these differ."""
    sizes = size_texts(data, data.rate_sample(y))
    if len({*sizes}) == 1:
        return words
    return [text.removesuffix("  ()") for text in map("{}  ({})".format, words, sizes)]


def quoted(name: str) -> str:
    """Return a name for use in a sentence, in quotation marks if it is long."""
    return f"“{name}”" if " " in name and len(name) > 24 else name


# --- bars and gaps ----------------------------------------------------------------------------


def pairs_of(data: PlotData) -> Iterator[tuple[str, str]]:
    """Yield pairs of numeric columns whose names belong together, such as before and after.

    The pairs of beginnings of their names are declared; the first is that of the reference.
    """
    for name in data.numbers:
        for prefix, partner_prefix in NAMES["pairs"]:
            partner = partner_prefix + name.removeprefix(prefix)
            if name.startswith(prefix) and partner in data.numbers:
                yield name, partner


def bars(data: PlotData, options: Options) -> Spec | None:
    """Return a bar chart with one bar per row; None if bars cannot show the data."""
    x = options.x or data.label_column
    y = next(iter(options.y or [name for name in data.measures if name != x]), None)
    if x is None or y is None or data.kinds[x] == "list" or options.color:
        return None
    if data.is_mixed(y) or (
        (data.kinds[x] == "number" or data.is_bare_key(x)) and not (options.x or options.kind)
    ):
        return None  # several units have no common scale; positions and identifiers say nothing
    rows, by = data, [x, *data.varying_context(x)]
    # A ranking of brands has one bar per brand, not one per row.
    if options.x or (x in data.keys and len(data.keys) > 1):
        rows = one_row_per_mark(data, by, [y])
    elif data.is_repeated(y):
        rows = one_row_per_mark(data, [*by, *data.keys], [y])
    is_time, total = rows.kinds[x] == "time", len(rows)
    other_style = REST if rows.is_own(x).any() else OWN
    rows = rows.rows_at(rows.best_first(y, x)[rows.shown_slice(x, options.max_rows(15))])
    bounds, unit, values = whiskers(rows, y, data, by), rows.unit(y), rows.values(y)
    names, measure, reasons = names_of(rows, x), data.measure(y), missing_reasons(rows, y)
    # Rows with the same name cannot be told apart, and without a value there is nothing to draw.
    if not (options.is_chosen or options.kind) and (
        len({*names}) < len(names) or {*reasons} == {NOT_GIVEN}
    ):
        return None
    engine_styles = styles_for(rows.texts(x), engines=True) if rows.has_engines(x) else {}
    styles = [engine_styles.get(word) or (OWN if name.is_own else other_style)
              for name, word in zip(names, rows.texts(x), strict=True)]  # fmt: skip
    # One very wide interval is cut, for beside it all others would be short.
    limit = -1.5 * np.sort(-bounds.high)[:2][-1]
    ends = np.where(bounds.high > limit, limit, bounds.high)
    scale = scale_for(np.concatenate([values, ends]), unit, label=rows.axis_label(y),
                      is_whole=rows.is_count(y))  # fmt: skip
    has_lines = not np.isnan(bounds.low).all()
    bar_texts = map("{}{}".format, np.where(bounds.high > scale.high, "→ ", ""),
                    _bar_labels(numbers(values, unit), rows, y))  # fmt: skip
    # Beside the end of a line, a number would seem to be that of the end.
    at = scale.high if has_lines else NAN
    cells = [
        Cell(row, value, style, 0.0, *rest)._replace(at=at)
        for row, (value, style, *rest) in enumerate(zip(
            values, styles, bounds.low, bounds.high, bar_texts, reasons,
            tips_of(rows, y, names, bounds), strict=True,
        ))
    ]  # fmt: skip
    leaders = [name._replace(text=quoted(name.text)) for name in names]
    headline = leader_headline(leaders, values, unit, measure)
    headline *= not is_time and rows.stands_out(y, values == values[0], bounds)
    how = f"Lines: {interval_words(bounds)}" * has_lines
    few = rows.has_few(y)
    if not is_time and few.any() and not few.all():
        how = f"Last: n below {FEW}. {how}".strip()
    return row_panel(
        "bars", rows, data.title(measure, rows.row_noun(x)), names, cells, scale, [y], total=total,
        headline=headline, by=by, bounds=bounds.result, how=how, n=sample_range(rows, y),
        which=("best" if unit == RANK else "highest") if values[-1] == values[-1] else "first",
    )  # fmt: skip


def leader_headline(names: Sequence[Name], values: Numbers, unit: str | None, measure: str) -> str:
    """Return a headline such as "Highest mention rate: Globex, 40%; Acme 30%".

    ``names`` and ``values`` are sorted, the best first. The second name is the own brand; if this
    is the best, the second name is its best competitor. If ``measure`` is "", the result is "".
    """
    if not measure or (values == values[0]).sum() > 1 or np.isfinite(values[:2]).sum() < 2:
        return ""
    best = "best" if unit == RANK else "most" if measure.endswith("s") else "highest"
    others = [f"; {name.text} {number(float(n), unit)}"
              for name, n in zip(names, values, strict=True)
              if name.is_own != names[0].is_own and n == n]  # fmt: skip
    return (
        f"{capitalized(best)} {measure}: {names[0].text}, {number(values[0], unit)}"
        f"{''.join(others[:1])}"
    )


def gap(data: PlotData, options: Options) -> Spec | None:
    """Return a picture with two dots per row, such as before and after; None if no columns fit."""
    # For single prompts the largest change is mostly chance.
    is_by_prompt = "prompt_id" in data.keys and not options.kind
    pairs = (pair for pair in pairs_of(data)
             if {*map(data.unit, pair)} == {FRACTION}
             and not (is_by_prompt and pair[0].startswith("previous_")))  # fmt: skip
    x, pair = options.x or data.label_column, options.y or next(pairs, ())
    if x is None or len(pair) != 2 or not data.has_one_row_per(x):
        return None
    before, now = pair
    # A picture of gaps has the widest gap first; a picture of changes the largest number.
    is_time = data.kinds[x] == "time"
    is_gap = not (is_time or before.startswith(("previous", "before")))
    negative_gaps = -np.abs(data.values(now) - data.values(before))
    order = np.argsort(negative_gaps, kind="stable") if is_gap else data.best_first(now, x)
    rows = data.rows_at(order[data.shown_slice(x, options.max_rows(15))])
    unit, earlier, later = rows.unit(now), rows.values(before), rows.values(now)
    names, reasons = names_of(rows, x), missing_reasons(rows, now)
    tips = [tips_of(rows, name, names) for name in pair]
    has_own = any(name.is_own for name in names)
    styles = [OWN if name.is_own or not has_own else MUTED for name in names]
    change_texts = [signed(n, unit) if n == n else "only one measured" for n in later - earlier]
    cells = []
    change_labels = _bar_labels(change_texts, rows, now)
    for row, (old, new, words) in enumerate(zip(earlier, later, change_labels, strict=True)):
        reason = reasons[row] * bool(old != old and new != new)
        cells += [
            Cell(row, old, REST, 0.0, old, new, "", "", tips[0][row], "dots"),
            Cell(row, new, styles[row], 0.0, NAN, NAN, words, reason, tips[1][row], "dots",
                 at=float(np.fmax(old, new))),
        ]  # fmt: skip
    now_name, before_name, headline = humanize(now), humanize(before), ""
    # The headline is about the widest gap, or about the own brand.
    own_rows = [row for row, name in enumerate(names) if name.is_own]
    for row in [0] if is_gap else own_rows[:1]:
        if np.isfinite(later[row] - earlier[row]):
            headline = f"{quoted(names[row].text)}: {now_name} {number(later[row], unit)}, "
            headline += f"{before_name} {number(earlier[row], unit)} ({change_texts[row]})"
    title = data.title(f"{now_name} and {before_name}", data.row_noun(x))
    scale = scale_for(np.concatenate([earlier, later]), unit, 1.03)
    return row_panel(
        "gap", rows, title, names, cells, scale, (now, before), total=len(data),
        legend=[(now_name, MUTED if has_own else OWN, "dots"), (before_name, REST, "dots")],
        headline=headline, by=[x, *data.varying_context(x)], n=sample_range(rows, now),
    )  # fmt: skip


# --- parts of a whole -------------------------------------------------------------------------

_LACKING = (NOT_MEASURED, NOT_GIVEN)
"""The names of segments for rows without a value."""
_FEW_ROWS = 20
"""With at most this many rows, a table is easier to read than a picture of counts."""


def shares(data: PlotData, options: Options) -> Spec | None:
    """Return stacked bars of the columns ``*_share``; None if these do not add up to 1."""
    x = options.x or data.label_column
    columns = options.y or [
        n for n in data.numbers if n.endswith("_share") and data.unit(n) == FRACTION
    ]
    if x is None or len(columns) < 2 or not data.has_one_row_per(x):
        return None
    sample = data.sample_column(columns[0])
    order = data.best_first(sample or columns[0], x)
    rows = data.rows_at(order[data.shown_slice(x, options.max_rows(15))])
    parts = pd.DataFrame({name.removesuffix("_share"): rows.values(name) for name in columns})
    sums = parts.sum(axis=1, skipna=False)
    if sums.isna().all() or not np.allclose(sums.dropna(), 1, atol=0.01):
        return None
    names = names_of(rows, x)
    headline = ""
    for row in np.flatnonzero(sums.notna() & rows.is_own(x))[:1]:
        texts = map("{} {}".format, parts, numbers(parts.iloc[row], FRACTION))
        headline = f"{names[row].text}: {', '.join(texts)}"
    return _stacked_bars(
        "shares", rows, columns, [x, *data.varying_context(x)],
        f"Shares by {humanize(data.row_noun(x))}: {', '.join(map(str, parts))}",
        parts, names, size_texts(rows, sample), FRACTION, missing_reasons(rows, columns[0]),
        n=sample_range(rows, columns[0]), headline=headline,
        total=len(data),
    )  # fmt: skip


def _stacked_bars(
    kind: str, data: PlotData, columns: Texts, by: Texts, title: str,
    parts: pd.DataFrame, names: Sequence[Name], totals: Texts, unit: str | None,
    reasons: Texts, **more: Any,
) -> Spec:  # fmt: skip
    """Return the `Spec` (chart description) of stacked bars: one bar per row of ``parts``.

    ``reasons`` has for each row the reason why it has no bar, or "".
    """
    levels, sizes = [*map(str, parts.columns)], np.nan_to_num(parts.to_numpy(np.float64))
    styles = styles_for(levels, engines=data.has_engines(columns[-1]))
    styles |= {p: missing_style(p) for p in levels if p in _LACKING}
    cells = []
    for row, (name, why, total, values) in enumerate(
        zip(names, reasons, totals, sizes, strict=True)
    ):
        ends = values.cumsum()
        cells += [
            Cell(row, end, styles[level], end - n, words=total if end == ends[-1] else "",
                 tip=f"{name.full}\n{level} {number(n, unit)}\nof {total}")
            for level, n, end in zip(levels, values, ends, strict=True) if n > 0
        ] or [Cell(row, NAN, why=why, tip=f"{name.full}\n{why}")]  # fmt: skip
    has_parts = (sizes > 0).sum(axis=1).max(initial=0) > 1
    scale = scale_for(sizes.sum(axis=1), unit, is_whole=unit is None)
    return row_panel(
        kind, data, title, names, cells, scale, columns, by=by,
        legend=[(humanize(p), styles[p], "boxes") for p in levels if has_parts], **more,
    )  # fmt: skip


def counts(data: PlotData, options: Options) -> Spec | None:
    """Return bars that count the rows by one column, split by another; None if no column fits."""
    x = options.x or _grouping_column(data)
    if options.y or x is None or data.kinds[x] in ("list", "number"):
        return None
    by = options.color or (None if options.x else _grouping_column(data, x))
    is_chosen = options.kind or options.x
    is_small = data.metadata.key and len(data) <= _FEW_ROWS and not by
    # What a row of a drafted table is, is not known.
    is_drafted = "#" in data.table
    if (is_small or is_drafted) and not is_chosen:
        return None
    columns = [*data.varying_context(x, by), x, *filter(None, [by])]
    # Rows that a merge repeated must not be counted.
    if any(map(data.is_repeated, columns)):
        return None
    labels = data.row_labels(x, by, texts=_levels(data, x))
    parts = _levels(data, by) if by else labels if data.has_engines(x) else "rows"
    rows = pd.DataFrame({"x": labels, "by": parts})
    table = rows.value_counts(["x", "by"], sort=False).unstack(fill_value=0)
    # Bars of equal length and without segments say nothing.
    totals = table.sum(axis=1)
    is_flat = totals.nunique() == 1 and (table > 0).sum(axis=1).eq(1).all() and len(table) > 1
    if is_flat and not is_chosen:
        return None
    levels = table.sum().sort_values(ascending=False, kind="stable").index.to_list()
    # Segments such as "own" come before "not own"; rows without a value are last.
    levels.sort(key=lambda level: (level in _LACKING, level == NOT_GIVEN, level[:4] == "not "))
    order = np.lexsort([-table[levels[0]], -totals])
    table = table.sort_index() if data.kinds[x] == "time" else table.iloc[order]
    shown = table[levels][data.shown_slice(x, options.max_rows(12))]
    own_names = {*rows["x"][data.is_own(x)]}
    noun = data.table_words * (not is_drafted) or "rows"
    row_noun, totals = data.row_noun(x), shown.sum(axis=1)
    top_name, top_count, headline = quoted(str(shown.index[0])), int(totals.iloc[0]), ""
    if by and are_states(levels):
        level_counts = (f"{int(table[level].sum()):,} {humanize(str(level))}" for level in levels)
        headline = f"{capitalized(noun)}: {', '.join(level_counts)}"
    elif not (
        # Rows of two kinds make no sum, and in a sample the order is another.
        is_drafted or data.kinds.get(by or "") == "flag" or data.kinds[x] == "time"
        or data.combined_availability(columns).status == Status.PARTIAL
        or top_name == BLANK or top_count <= totals.iloc[1:].max()
    ):  # fmt: skip
        headline = f"Most {noun}: {top_name}, {top_count:,} of {len(data):,}"
    return _stacked_bars(
        "counts", data, columns, [x],
        data.title(f"Number of {noun}", row_noun, by), shown,
        [Name(str(n), n in own_names) for n in shown.index], [number(float(n)) for n in totals],
        None, [""] * len(shown), n=f"n = {len(data):,} {noun}", headline=headline, total=len(table),
    )  # fmt: skip


def _levels(data: PlotData, name: str) -> list[str]:
    """Return a column's values in words; a missing value is "not measured" or "no value given"."""
    texts = [*data.labels(name)]
    if data.kinds[name] == "flag":
        noun = humanize(name.removeprefix("is_"))
        flags = {"true": noun, "false": f"not {noun}"}
        texts = [flags.get(text.lower(), text) for text in texts]
    for row, reason in enumerate(missing_reasons(data, name)):
        if reason:
            texts[row] = NOT_MEASURED if reason == NOT_MEASURED else NOT_GIVEN
    return texts


def _grouping_column(data: PlotData, excluded: str = "") -> str | None:
    """Return the best column to group rows by, e.g. the engine, other than ``excluded``."""
    names = [
        name for name, kind in data.kinds.items()
        if kind in ("word", "flag") and name not in ("own", excluded)
        and 1 < data.frame[name].nunique() <= 12
    ]  # fmt: skip
    categories = [n for n in names if data.kinds[n] == "flag" or data.is_category(n)]
    if excluded:
        # Segments are by measured categories rather than key columns, and never by "own".
        return next(iter(sorted(categories, key=data.keys.__contains__)), None)
    names = [n for n in ("engine", "brand") if n in names] + categories + names
    return next((name for name in names if data.keys != [name]), None)
