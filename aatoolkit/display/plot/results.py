"""Results of statistics: one row each, a number with its interval, and a verdict in words.

Which verb gives which columns is the table `RESULTS`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from aatoolkit._util.numbers import signed
from aatoolkit.display.plot.data import Numbers, Options, PlotData
from aatoolkit.display.plot.labels import capitalized, first_of, humanize
from aatoolkit.display.plot.rows import NAN, Cell, cell_texts, names_of, row_panel
from aatoolkit.display.plot.spec import Panel, Scale, WordColumn, ticks
from aatoolkit.display.plot.style import BAD, BLANK, GOOD, OWN, REST, Style
from aatoolkit.sections.aggregation import COUNT, FRACTION, FRACTION_CHANGE, RANK, SCORE

_COMPARED = ("measure", "change", "low", "high", "verdict", "method")
_SHOWN = ("up", "down")


class RowPlot(NamedTuple):
    """How the result of a verb is drawn, one row each.

    ``value``, ``low``, ``high`` and ``tick`` are columns; ``names`` those that name the rows, by
    default the key; ``days`` the ends of a scale of days. ``words`` stand beside a row, made of
    its columns. What has a colour is ``all``, the ``certain`` or what a ``verdict`` says.
    """

    verb: str
    value: str
    low: str
    high: str
    title: str
    axis: str
    how: str
    words: str = "{change}  {verdict}"
    names: tuple[str, ...] = ()
    join: str = " · "
    colour: str = "all"
    tick: str = ""
    around_zero: bool = False
    days: tuple[str, ...] = ()


RESULTS = {
    "ranks": RowPlot(
        "rank", "rank", "rank_low", "rank_high",
        "Ranks, and which each may have", "rank, 1 is first",
        "Lines: the ranks that each may have, all together with {level}. Grey: not sure",
        words="{verdict}", colour="certain",
    ),
    "overlap": RowPlot(
        "overlap", "jaccard", "jaccard_low", "jaccard_high",
        "What two share, beside what repeats of one share", "Jaccard index",
        "Lines: {level} interval. Tick: the ceiling, two answers of one. Grey: not shown to differ",
        words="{jaccard}  {verdict}", join=" and ", colour="verdict", tick="ceiling",
    ),
    "effect": RowPlot(
        "effect", "change", "low", "high",
        "The effect, and what the days before show of it", "treated less control",
        "Lines: {level} interval, clustered. Grey: not shown to differ",
        names=("kind", "on"), join=" of ", colour="verdict", around_zero=True,
    ),
    "concentration": RowPlot(
        "concentration", "effective", "effective_low", "effective_high",
        "Effective number{by}", "effective number: so many equal members are as concentrated",
        "Lines: {level} interval, as if counts were independent",
        words="{effective}",
    ),
    "decomposition": RowPlot(
        "decompose", "effect", "low", "high",
        "Why it moved: other answers, or other questions", "contribution to the change",
        "Line: {level} interval of the rate alone", words="{effect}", names=("part",),
        around_zero=True,
    ),
    "interval": RowPlot(
        "", "", "", "", "Interval{by}", "", "Lines: {level} interval",
    ),
    "changes": RowPlot(
        "changes", "day", "first_day", "last_day", "When the rate changed", "",
        "Lines: the days that hold the change with {level}",
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

_COLOURS = {"up": GOOD, "down": BAD, "differs": BAD, "no evidence": REST, "cannot say": REST}


def _dots(
    kind: str, rows: PlotData, columns: Sequence[str], title: str, labels: Sequence[str],
    words: Sequence[str], styles: Sequence[Style], ends: Sequence[Numbers], x: Scale, **more: Any,
) -> Panel:  # fmt: skip
    """A dot a row with its interval, and the words of all rows in one column."""
    cells = [
        Cell(row, value, style, 0.0, low, high, kind="dots", size=7,
             tip=f"{labels[row]}\n{words[row]}")
        for row, (style, value, low, high) in enumerate(zip(styles, *ends, strict=True))
    ]  # fmt: skip
    return row_panel(
        kind, rows, title, names_of(rows, labels), cells, x, columns, said=words,
        beside=[WordColumn(words)], is_wide=True, **more,
    )  # fmt: skip


def _scale(parts: Sequence[Numbers], unit: str | None, label: str, *, around_zero: bool) -> Scale:
    """The scale of a result: from 0, from the first rank, or around 0 as far as is needed."""
    there = np.concatenate(parts)
    there = there[~np.isnan(there)]
    kind, most = ("number", float(there.max())) if len(there) else ("none", 1.0)
    if around_zero:
        least, most = float(min([*there, 0.0])) if len(there) else -1.0, max(most, 0.0)
        room = 0.04 * ((most - least) or 1.0)
        return Scale(least - room, most + room, kind, unit, label)
    low = 0.5 if unit == RANK else 0.0
    return Scale(low, most + low if low else most * 1.04 or 1.0, kind, unit, label)


def _level(data: PlotData, column: str) -> str:
    """The level of an interval, as the declaration of its end says it."""
    declared = data.column(column) if column else None
    match = re.search(r"\d+%", declared.doc) if declared else None
    return match[0] if match else ""


def _labels(data: PlotData, keys: Sequence[str], join: str = " · ") -> list[str]:
    """The names of rows by some columns."""
    rows = zip(*map(data.labels, keys), strict=True) if keys else [("all",)] * len(data)
    return [join.join(word for word in row if word != BLANK) for row in rows]


def result(kind: str, data: PlotData, options: Options) -> Panel | None:
    """The result of a verb, as its row in the table says; None for other frames."""
    plot = RESULTS[kind]
    if kind == "interval":
        stems = [name.removesuffix("_low") for name in data.numbers if name.endswith("_low")]
        ends = [f"{stem}_{end}" for stem in stems[:1] or [""] for end in ("low", "high")]
        plot = plot._replace(low=ends[0], high=ends[1], words="{{{}}} to {{{}}}".format(*ends))
        if {*data.numbers} != {*ends}:
            return None
    needed = {*filter(None, [plot.value, plot.low, plot.high, plot.tick])}
    is_of_verb = not plot.verb or data.table.startswith(f"statistics:{plot.verb}")
    if options.is_chosen or not is_of_verb or not needed <= data.kinds.keys():
        return None
    rows = data.first(options.top or 20)

    def along(name: str) -> Numbers:
        if not name:
            return np.full(len(rows), NAN)
        return rows.days(name) if rows.kinds[name] == "time" else rows.values(name)

    value, low, high, tick = map(along, (plot.value, plot.low, plot.high, plot.tick))
    texts = {name: cell_texts(rows, name) for name in rows.kinds}
    verdicts = texts.get("verdict") or ["no interval"] * len(rows)
    keys = [name for name in rows.metadata.key or rows.keys[:2]
            if name in rows.kinds and name not in ("verdict", "method")]  # fmt: skip
    styles = [_COLOURS.get(v, BAD) if plot.colour == "verdict" else OWN for v in verdicts]
    if plot.colour == "certain":
        styles = [OWN if a == b else REST for a, b in zip(low, high, strict=True)]
    words = [
        plot.words.format(**{name: text[row] for name, text in texts.items()})
        if np.isfinite([value[row], low[row], high[row]]).any()
        else verdicts[row].partition(" (")[0]
        for row in range(len(rows))
    ]
    parts, by = [value, low, high, tick], f" by {' and '.join(map(humanize, keys))}" if keys else ""
    scale = _scale(parts, RANK if kind == "ranks" else rows.unit(plot.value or plot.low),
                   plot.axis, around_zero=plot.around_zero)  # fmt: skip
    if plot.days:
        scale = day_scale(*(np.nan_to_num(end(rows.days(day))) for end, day in
                            zip((np.min, np.max), plot.days, strict=True)))  # fmt: skip
    return _dots(
        kind, rows, (*filter(None, [plot.value]),) or (plot.low, plot.high),
        plot.title.format(by=by) + first_of(len(rows), len(data)),
        _labels(rows, plot.names or keys, plot.join), words, styles, (value, low, high), scale,
        over=[ticks(tick, np.arange(len(tick)), 0.28)] if plot.tick else [],
        how=plot.how.format(level=_level(rows, plot.low)),
        headline="" if keys or plot.names else capitalized(verdicts[0].partition(" (")[0]),
    )  # fmt: skip


def day_scale(first: float, last: float) -> Scale:
    """A scale of days."""
    return Scale(first, last, "time", days=tuple(np.arange(np.floor(first), last).tolist()))


# --- comparisons ------------------------------------------------------------------------------


def is_comparison(data: PlotData, options: Options) -> bool:
    """Whether a frame is the result of a comparison, and no columns were chosen."""
    return len(data) > 0 and not options.is_chosen and {*_COMPARED} <= data.kinds.keys()


def comparison(data: PlotData, options: Options) -> Panel | None:
    """The changes of a comparison, those in one unit; None for other frames."""
    if not is_comparison(data, options):
        return None
    groups = units_apart(data)
    unit = Counter(groups).most_common(1)[0][0]
    one = data.only(np.array(groups) == unit)
    rows = one.first(options.top or 20)
    verdicts, measures = rows.text("verdict"), [*map(humanize, rows.text("measure"))]
    decided = np.array(verdicts, object) != "cannot say"
    ends = [np.where(decided, rows.values(name), NAN) for name in ("change", "low", "high")]
    keys = [name for name in rows.keys if name != "measure"]
    labels, title = _labels(rows, keys) if keys else measures, "Changes by measure"
    if len({*measures}) > 1:
        # A key figure is named after its metric, which then stands there once.
        pairs = zip(measures, labels, strict=True)
        labels = [" · ".join(dict.fromkeys(filter(None, pair))) for pair in pairs]
    else:
        by = " and ".join(map(humanize, keys if "subject" not in keys else []))
        title = f"Change in {measures[0]}" + (f" by {by}" if by else "")
    words, styles = [], []
    for n, verdict in zip(ends[0].tolist(), verdicts, strict=True):
        is_shown, is_better = verdict in _SHOWN, (verdict == "up") != (unit == RANK)
        worth = f", which is {'better' if is_better else 'worse'}" * (unit == RANK and is_shown)
        words.append(f"{signed(n, unit)}  {verdict}{worth}" if n == n else verdict)
        styles.append((GOOD if is_better else BAD) if is_shown else REST)
    sure = [f"{a} {b}" for a, b, v in zip(labels, words, verdicts, strict=True) if v in _SHOWN]
    unsure = [f"{verdicts.count(v)} {v}" for v in ("no evidence", "cannot say") if v in verdicts]
    sides = [{*rows.text(name)} for name in ("host", "baseline_host") if name in rows.kinds]
    two = len(sides) == 2 and all(len(side) == 1 for side in sides)
    axis = " less ".join(side.pop() for side in sides) if two else "change"
    others = f"{len(data) - len(one)} of {len(data)} changes are in other units and not drawn here"
    return _dots(
        "comparison", rows, ("change",), title + first_of(len(rows), len(one)), labels, words,
        styles, ends,
        _scale(ends, FRACTION_CHANGE if unit == FRACTION else None,
               axis + ", lower is better" * (unit == RANK), around_zero=True),
        how=f"Lines: {_level(rows, 'low')} interval of each. Grey: not shown after correction",
        n=others if len(one) < len(data) else "",
        finding="; ".join([*(sure or ["nothing is shown to have changed"]), *unsure]),
        headline=f"{len(sure)} of {len(rows)} are shown to have changed" if sure
        else "Nothing is shown to have changed",
    )  # fmt: skip


def units_apart(data: PlotData) -> list[str]:
    """Of each change the unit in which it is drawn; what cannot be said has no scale of its own."""
    units = data.text("unit") if "unit" in data.kinds else [data.unit("change") or ""] * len(data)
    units = [{FRACTION_CHANGE: FRACTION, BLANK: ""}.get(unit, unit) for unit in units]
    verdicts = data.text("verdict")
    decided = Counter(u for u, v in zip(units, verdicts, strict=True) if v != "cannot say")
    common = decided.most_common(1)[0][0] if decided else units[0]
    return [unit if unit in decided else common for unit in units]


def unit_words(data: PlotData, unit: str) -> str:
    """What the changes of a panel are of: its measure if there is one, else its unit."""
    pairs = zip(data.text("measure"), units_apart(data), strict=True)
    measures = {capitalized(humanize(name)) for name, of in pairs if of == unit}
    names = {FRACTION: "Rates", SCORE: "Scores", RANK: "Positions", COUNT: "Counts"}
    words = measures.pop() if len(measures) == 1 else names.get(unit) or capitalized(unit)
    return words + " (lower is better)" * (unit == RANK)
