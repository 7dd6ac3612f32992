"""Cards, funnels, states, results of statistics, and tables of text: rows of several columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from aatoolkit._util.numbers import number, signed
from aatoolkit._util.text import capitalized, counted, humanize, joined
from aatoolkit.availability import Status
from aatoolkit.display.plot.data import (
    APART,
    CONTEXT,
    Numbers,
    Options,
    PlotData,
    whiskers,
    whys_missing,
)
from aatoolkit.display.plot.rows import (
    FAR,
    NAN,
    Cell,
    names_of,
    reach,
    row_panel,
    sizes_of,
    style_without,
)
from aatoolkit.display.plot.spec import (
    NONE,
    Mark,
    Name,
    Scale,
    Spec,
    WordColumn,
    drawn_of,
    some,
    strokes,
)
from aatoolkit.display.plot.style import (
    BAD,
    BLANK,
    GOOD,
    INK,
    NO_NUMBER,
    NO_VALUE,
    OWN,
    REST,
    UNMEASURED,
    Style,
    are_states,
    first_of,
    in_words,
    styles_for,
)
from aatoolkit.sections.aggregation import FRACTION, FRACTION_CHANGE, RANK, SCORE
from aatoolkit.stats.estimate import wilson

# --- key figures ------------------------------------------------------------------------------

_SIDES = (
    ("previous_value", "value"), ("previous", "value"), ("before", "after"),
    ("before_value", "after_value"),
)  # fmt: skip
_OF_RESULTS = ("low", "high", "p", "n", "clusters")
"""Of a result of statistics: what describes its numbers and is none of its own."""
_MOST = {FRACTION: 1.0, SCORE: 100.0}


def figures(data: PlotData, options: Options) -> Spec | None:
    """The numbers of a single row, or of rows whose numbers differ in unit, as cards."""
    if len(data) == 1 and not options.x:
        is_result = data.table.startswith("statistics:") and not options.y
        sides = options.y or tuple(n for n in data.numbers if not (is_result and n in _OF_RESULTS))
        # Of a result, the interval is that of the number before it.
        order, metrics = [*data.kinds], [""] * len(sides)
        of = order[order.index("low") - 1] if is_result and "low" in order else ""
        intervals = [(data.values("low"), data.values("high")) if name == of else
                (bounds.low, bounds.high)
                for name in sides for bounds in [whiskers(data, name)]]  # fmt: skip
        cards = [
            (capitalized(humanize(name)), data.values(name)[0], NAN, data.unit(name),
             sizes_of(data, data.sample(name) if data.rule(name) else None)[0],
             whys_missing(data, name)[0], low[0], high[0])
            for name, (low, high) in zip(sides, intervals, strict=True)
        ]  # fmt: skip
        title = ": ".join(filter(None, [data.row_name, capitalized(data.table_words or "figures")]))
    else:
        x, sides = options.x or data.label_column, options.y
        if not sides:
            # The number and the one before; of metrics without one, the number alone.
            sides = next((s for s in _SIDES if {*s} <= {*data.numbers}), ())
        if x is None or len(sides) not in (1, 2) or (options.y and not options.kind):
            return None
        now = sides[-1]
        is_of_units = data.unit_column(now) is not None or x == "metric" or options.kind
        if not is_of_units or data.frame.duplicated([x, *data.apart(x)]).any():
            return None
        # Those of one metric stand together.
        data = data.sorted_by(np.argsort(pd.factorize(data.frame[x])[0], kind="stable"))
        before = data.values(sides[0])
        is_metric = x == "metric" and not data.apart(x)
        labels = [*map(capitalized if is_metric else str, data.row_labels(x))]
        has_metric = "metric" in data.kinds and x != "metric"
        metrics = [*map(humanize, data.text("metric"))] if has_metric else [""] * len(data)
        cards = [*zip(
            labels, data.values(now), before if len(sides) > 1 else before * NAN, data.units(now),
            sizes_of(data, data.sample(now)), whys_missing(data, now), *_ends_of_parts(data, now),
            strict=True,
        )]  # fmt: skip
        title = capitalized(data.table_words or f"{humanize(now)} by {humanize(x)}")
    if not cards:
        return None
    cells, row_texts, courses, moved, names = [], [], [], [], []
    texts: dict[str, list[str]] = {n: [] for n in ("", "value", "change", "95% interval", "sample")}
    for row, ((label, n, previous, unit, size, why, low, high), metric) in enumerate(
        zip(cards[: options.top or 12], metrics, strict=False)
    ):
        value, change, ends = why or number(n, unit), "", ""
        tip = f"{label}: {metric} {value}" if metric else f"{label} {value}"
        if low + high == low + high:
            ends = f"{number(low, unit)} to {number(high, unit)}"
        if previous + n == previous + n:
            change = signed(n - previous, unit)
            moved += [f"{label} {value} ({change})"] * (unit == FRACTION and not metric)
            tip += f" (before {number(previous, unit)})"
        row_texts.append(tip + f" ({ends})" * (not change and bool(ends)))
        names.append(Name(label + " (lower is better)" * (unit == RANK)))
        words = (metric, value * (not why), change, ends, size)
        for column, word in zip(texts.values(), words, strict=True):
            column.append(word)
        most = _MOST.get(unit or "", NAN)
        share, low, high = (part / most if 0 <= part <= most else NAN for part in (n, low, high))
        track = Cell(row, share / share, Style("grid"), size=0.3, tip=tip, why=why)
        cells += [track, track._replace(x=share, style=OWN, low=low, high=high, why="")]
        values = data.course(label)
        if (finite := values[~np.isnan(values)]).size > 1:
            # A line of a few numbers in the row, which breaks where there is none.
            heights = row + 0.3 - 0.6 * (values - finite.min()) / (np.ptp(finite) or 1.0)
            along = np.linspace(1.12, 2.0, len(values))
            courses.append(Mark("line", along, heights, OWN, size=1.2))
    keys = ["line: 95% interval"] * any(c.low == c.low for c in cells)
    keys += ["right: by day"] * bool(courses)
    beside = [
        WordColumn(words, heading, "right" if heading else "left", heading == "value",
                   heading in ("", "95% interval"))
        for heading, words in texts.items() if any(words)
    ]  # fmt: skip
    has_track = courses or any(cell.x == cell.x or cell.why for cell in cells)
    return row_panel(
        "figures", data, title + first_of(len(names), len(cards)), names,
        cells if has_track else (), replace(NONE, high=2.0 if courses else 1.0), sides[::-1],
        beside=beside, over=courses, finding="; ".join(row_texts), how=capitalized(", ".join(keys)),
        headline=", ".join(moved[:2]),
    )  # fmt: skip


def _ends_of_parts(data: PlotData, y: str) -> Iterable[Numbers]:
    """Wilson's interval of rates whose numerator and denominator stand beside them; else NaN."""
    if not {"numerator", "denominator"} <= data.kinds.keys():
        return np.full((2, len(data)), NAN)
    hits, of, values = (data.values(name) for name in ("numerator", "denominator", y))
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = hits / of
        fits = np.isclose(rates, values) & [unit == FRACTION for unit in data.units(y)]
    low, high = wilson(np.where(fits, rates, NAN), of, 1.959964)
    return low, high


# --- states -----------------------------------------------------------------------------------

_STATE_ROWS, _STATE_COLUMNS = 15, 4


def states(data: PlotData, options: Options) -> Spec | None:
    """A table of signs and words for few rows that have states but no numbers."""
    x = options.x or data.label_column
    if x is None or options.color or options.y or not len(data):
        return None
    keys, apart = [name for name in data.metadata.key if name not in APART], data.apart(x)
    is_large = len(data) > _STATE_ROWS or len(keys) != 1 or data.measures
    if not options.kind and (is_large or data.is_bare_key(x)):
        return None
    if data.frame.duplicated([x, *apart]).any():
        return None
    others = [name for name in data.kinds if name not in (x, *data.keys, *CONTEXT, *APART)]
    columns = [n for n in others if data.kinds[n] == "flag" or data.is_category(n)]
    columns.sort(key=lambda name: data.kinds[name] != "flag" and not are_states(data.text(name)))
    if not columns:
        return None
    rows, columns = data.first(options.top or _STATE_ROWS), columns[:_STATE_COLUMNS]
    labels, cells, row_texts, headline = rows.row_labels(x), [], [""] * len(rows), ""
    for at, name in enumerate(columns):
        words, texts, head = rows.text(name), cell_texts(rows, name), humanize(name)
        styles = styles_for(words, states=True) if are_states(words) else {}
        if rows.kinds[name] == "flag":
            styles = {"True": OWN, "False": REST}
        stated = []
        for row, (why, text, word) in enumerate(
            zip(whys_missing(rows, name), texts, words, strict=True)
        ):
            row_texts[row] += f"{', ' * (at > 0)}{head} {why or text}"
            is_state = word in styles and not why
            stated += [text] * is_state
            cell = Cell(row, at + 0.03 if is_state else NAN, styles.get(word, INK), at,
                        words=why or text, kind="dots", at=at + 0.05 * is_state,
                        tip=f"{labels[row]}\n{head}: {why or text}")  # fmt: skip
            if why:
                cell = cell._replace(x=at + 0.05, style=style_without(why), kind="boxes", at=NAN)
            cells.append(cell)
        # How often each state is there, of the first column that has any.
        frequencies = ", ".join(f"{n} {state}" for state, n in Counter(stated).most_common(4))
        headline = headline or f"{capitalized(head)}: {frequencies}" * bool(frequencies)
    if len(rows) == 1:
        headline = capitalized(row_texts[0]) * bool(headline)
    few = ", ".join(map(humanize, columns))
    title = few if len(columns) < 3 else data.table_words or few
    heads = tuple(Name(capitalized(humanize(name))) for name in columns)
    return row_panel(
        "verdicts", rows, capitalized(f"{title} by {humanize(rows.row_noun(x))}"),
        names_of(rows, labels), cells, Scale(-0.02, len(columns), "none", names=heads), columns,
        told=row_texts, headline=headline,
    )  # fmt: skip


# --- tables of text ---------------------------------------------------------------------------

_TEXT_ROWS, _TEXT_COLUMNS, _LONGEST = 8, 4, 160


def empty(data: PlotData) -> Spec:
    """A few rows of text as they are, or why there are none; hatched where nothing was measured."""
    title = capitalized(data.table_words) or "A frame"
    if len(data):
        return _texts(data, title)
    names = [name for name in data.metadata.columns if name not in data.keys]
    state = data.state(names or data.metadata.columns)
    reason = joined(state.reason or "")
    finding, style = {
        Status.AVAILABLE: ("Measured, with no rows.", NO_NUMBER),
        Status.UNKNOWN: ("No rows; the reason is not known.", NO_VALUE),
        Status.PARTIAL: (f"No rows. What was read was measured in part: {reason}", UNMEASURED),
    }.get(state.status, (f"Not measured. {reason}", UNMEASURED))
    far, middle = some(FAR), some(0.5)
    marks = [
        Mark("boxes", -far, middle, style, to=far, size=FAR),
        Mark("words", middle, middle, words=[finding], shift=0, has_paper=True),
    ]
    return Spec("empty", data, drawn_of(data, ()), title, finding, NONE, NONE, marks,
                 height=90.0)  # fmt: skip


def _texts(data: PlotData, title: str) -> Spec:
    """The first rows of text columns, under the names of the columns."""
    rows = data.first(_TEXT_ROWS)
    columns = [
        name for name in data.kinds
        if name not in CONTEXT and data.frame[name].notna().any()
    ] or [*data.kinds]  # fmt: skip
    # Text first, and identifiers that nothing stands for last.
    columns.sort(key=rows.is_bare_key)
    columns = [*{tuple(cell_texts(rows, name)): name for name in columns}.values()]
    amounts = [name for name in columns if data.kinds[name] == "number"][:2]
    columns = [n for n in columns if data.kinds[n] != "number"][: _TEXT_COLUMNS - 1] + amounts
    beside = [
        WordColumn(cell_texts(rows, name), capitalized(humanize(name.removesuffix("_id"))),
                   "right" if rows.kinds[name] == "number" else "left", is_muted=at > 0)
        for at, name in enumerate(columns)
    ]  # fmt: skip
    return row_panel(
        "table", rows, title + first_of(len(rows), len(data)), [Name("")] * len(rows), (), NONE,
        columns, beside=beside, finding=f"a table of {counted(len(data), 'row')} and "
        f"{counted(data.frame.shape[1], 'column')}, with nothing to compare",
    )  # fmt: skip


def cell_texts(data: PlotData, name: str) -> list[str]:
    """The cells of a column as short texts."""
    if data.kinds[name] == "number":
        return [number(n, u) for n, u in zip(data.values(name), data.units(name), strict=True)]
    texts = data.labels(name)
    if data.kinds[name] == "flag":
        return [{"True": "yes", "False": "no"}.get(text, text) for text in texts]
    if data.is_category(name):
        return [*map(humanize, texts)]
    if data.kinds[name] == "list":
        texts = [", ".join(map(str, value)) if np.iterable(value) and not isinstance(value, str)
                 else str(value) for value in data.frame[name]]  # fmt: skip
    return [text[:_LONGEST] for text in texts]


# --- results of statistics --------------------------------------------------------------------


class RowPlot(NamedTuple):
    """How the result of a verb is drawn, one row each: a number, its interval, and words.

    ``value``, ``low``, ``high`` and ``tick`` are columns; ``names`` those that name the rows, by
    default the key; ``days`` the ends of a scale of days. ``words`` stand beside a row, made of
    its columns. What has a colour is ``all``, the ``certain`` or what a ``verdict`` says. ``needs``
    are further columns that a frame has.
    """

    verb: str
    value: str
    low: str
    high: str
    title: str
    axis: str = ""
    how: str = "Lines: {level} interval"
    words: str = "{change}  {verdict}"
    names: tuple[str, ...] = ()
    join: str = " · "
    colour: str = "all"
    tick: str = ""
    is_change: bool = False
    days: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


RESULTS = {
    "comparison": RowPlot(
        "", "change", "low", "high", "Change in {measure}{by}",
        "change", "Lines: {level} interval of each. Grey: no evidence after correction",
        colour="verdict", is_change=True, needs=("measure", "verdict", "method"),
    ),
    "ranks": RowPlot(
        "rank", "rank", "rank_low", "rank_high", "Ranks, and the ranks that remain possible",
        "rank, 1 is first",
        "Lines: the ranks that remain possible, all together with {level}. Grey: not sure",
        words="{verdict}", colour="certain",
    ),
    "overlap": RowPlot(
        "overlap", "jaccard", "jaccard_low", "jaccard_high",
        "What two share, beside what repeats of one share", "Jaccard index",
        "Lines: {level} interval. Tick: the ceiling, two answers of one. Grey: not shown to differ",
        words="{jaccard}  {verdict}", join=" and ", colour="verdict", tick="ceiling",
    ),
    "effect": RowPlot(
        "effect", "change", "low", "high", "The effect, and what the days before show of it",
        "treated less control", "Lines: {level} interval, clustered. Grey: not shown to differ",
        names=("kind", "on"), join=" of ", colour="verdict", is_change=True,
    ),
    "concentration": RowPlot(
        "concentration", "effective", "effective_low", "effective_high", "Effective number{by}",
        "effective number: as concentrated as so many equal members",
        "Lines: {level} interval, as if counts were independent", words="{effective}",
    ),
    "decomposition": RowPlot(
        "decompose", "effect", "low", "high", "Why it moved: other answers, or other questions",
        "contribution to the change", "Line: {level} interval of the rate alone",
        words="{effect}", names=("part",), is_change=True,
    ),
    "changes": RowPlot(
        "changes", "day", "first_day", "last_day", "When the rate changed",
        how="Lines: interval of the day, with {level}",
        words="{before} to {after}  {verdict}", names=("day",), days=("from_day", "to_day"),
    ),
    "samples": RowPlot(
        "samples", "answers", "", "answers",
        "Answers needed for a margin, by runs of each prompt", "answers in all",
        "More runs of one prompt take fewer prompts and more answers",
        words="{answers} answers to {prompts} prompts", names=("runs",),
    ),
}  # fmt: skip
"""How the results of verbs are drawn whose rows have a number and an interval."""

_COLOURS = {"up": GOOD, "down": BAD, "no evidence": REST, "cannot say": REST, "no interval": REST}


def result(kind: str, data: PlotData, options: Options) -> Spec | None:
    """The result of a verb, as its row in the table says; None for other frames."""
    plot = RESULTS[kind]
    needed = {*filter(None, [plot.value, plot.low, plot.high, plot.tick]), *plot.needs}
    is_of_verb = data.table.startswith(f"statistics:{plot.verb}" if plot.verb else "")
    if options.is_chosen or not is_of_verb or not needed <= data.kinds.keys():
        return None
    unit, left_out = data.unit(plot.value), 0
    if "unit" in data.kinds and plot.needs:
        # Changes in several units have no scale in common.
        units = np.array(data.text("unit"), object)
        unit = Counter(units).most_common(1)[0][0]
        left_out = int((units != unit).sum())
        data = data.only(units == unit)
    rows = data.first(options.top or 20)
    texts = {name: cell_texts(rows, name) for name in rows.kinds}
    for name in {"measure", "name"} & texts.keys():
        texts[name] = [*map(in_words, texts[name])]
    verdicts = texts.get("verdict") or ["no interval"] * len(rows)
    is_unsaid = np.array(verdicts) == "cannot say"
    value, low, high, tick = (
        np.where(is_unsaid, NAN, np.nan if not name else
                 rows.days(name) if rows.kinds[name] == "time" else rows.values(name))
        for name in (plot.value, plot.low, plot.high, plot.tick)
    )  # fmt: skip
    if plot.is_change:
        texts[plot.value] = [signed(n, unit) for n in value]
    keys = [n for n in rows.metadata.key or rows.keys[:2] if n in rows.kinds and n != "verdict"]
    several = [*filter(rows.varies, keys)] or keys
    columns = zip(*(texts[name] for name in plot.names or several), strict=True)
    labels = [plot.join.join(dict.fromkeys(word for word in row if word != BLANK)) or "all"
              for row in columns]  # fmt: skip
    labels = labels or ["all"] * len(rows)
    cells, words = [], []
    for row, verdict in enumerate(verdicts):
        ends = value[row], low[row], high[row]
        text = plot.words.format(**{name: column[row] for name, column in texts.items()})
        style = _COLOURS.get(verdict, BAD) if plot.colour == "verdict" else OWN
        if unit == RANK and plot.is_change and verdict in ("up", "down"):
            # A higher position is worse.
            style, worth = (BAD, "worse") if verdict == "up" else (GOOD, "better")
            text += f", which is {worth}"
        if plot.colour == "certain" and ends[1] != ends[2]:
            style = REST
        words.append(text if np.isfinite(ends).any() else verdict.partition(" (")[0])
        cells.append(Cell(row, ends[0], style, 0.0, *ends[1:], kind="dots",
                          tip=f"{labels[row]}\n{words[row]}"))  # fmt: skip
    finding, headline = (
        "",
        "" if keys or plot.names else capitalized(verdicts[0].partition(" (")[0]),
    )
    if plot.needs:
        changes = [f"{label} {word}" for label, word, v in zip(labels, words, verdicts, strict=True)
                if v in ("up", "down")]  # fmt: skip
        finding = "; ".join(changes) or "nothing is shown to have changed"
        headline = f"{len(changes)} of {len(rows)} are shown to have changed"
        headline = headline if changes else capitalized(finding)
    measures = {*texts.get("measure", ())}
    by = [humanize(n) for n in several if n != "measure"]
    title = plot.title.format(
        by=f" by {' and '.join(by)}" * bool(by),
        measure=measures.pop() if len(measures) == 1 else "measures",
    )  # fmt: skip
    parts, middle = np.concatenate([value, low, high, tick]), np.arange(len(rows))
    label = plot.axis + ", lower is better" * (unit == RANK and plot.is_change)
    of = {FRACTION: FRACTION_CHANGE, RANK: None}.get(unit or "", unit) if plot.is_change else unit
    scale = reach(parts, of, 1.04, label=label)
    if plot.value == "rank":
        scale = replace(scale, low=0.5, high=np.nanmax(parts) + 0.5, unit=RANK)
    elif plot.days:
        first, last = rows.days(plot.days[0]).min(), rows.days(plot.days[1]).max()
        days = tuple(np.arange(np.floor(first), last).tolist())
        scale = Scale(first, last, "time", days=days) if len(days) else NONE
    declared = data.column(plot.low) if plot.low else None
    level = re.search(r"\d+%", declared.doc if declared else "")
    return row_panel(
        kind, rows, title + first_of(len(rows), len(data)), names_of(rows, labels), cells, scale,
        [plot.value], told=words, finding=finding, headline=headline, beside=[WordColumn(words)],
        over=[strokes(tick, tick, middle - 0.28, middle + 0.28, INK, 1.6)],
        how=plot.how.format(level=level[0] if level else ""),
        n=f"not drawn, in other units: {counted(left_out, 'change')}" * bool(left_out),
    )  # fmt: skip
