"""Results of statistics: one row each, a number with its interval, and a verdict in words.

Which verb gives which columns is the table `RESULTS`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aatoolkit._util.numbers import number, signed
from aatoolkit.display.plot.data import Numbers, PlotData
from aatoolkit.display.plot.labels import capitalized, first_of, humanize, in_words
from aatoolkit.display.plot.options import PlotOptions
from aatoolkit.display.plot.rows import NAN, Cell, names_of, row_panel
from aatoolkit.display.plot.spec import Name, Panel, Scale, WordColumn, ticks
from aatoolkit.display.plot.style import BAD, BLANK, GOOD, OWN, REST, Style
from aatoolkit.sections.aggregation import COUNT, FRACTION, FRACTION_CHANGE, RANK, SCORE

_COMPARED = ("measure", "change", "low", "high", "verdict", "method")
_PARTS = ("part", "effect", "low", "high", "verdict", "method")
_SHOWN = ("up", "down")


@dataclass(frozen=True)
class RowPlot:
    """How the result of a verb is drawn, one row each.

    Parameters
    ----------
    verb : str
        What its table is called.
    value, low, high : str
        The columns of the number and the ends of its interval; none of a fixed end.
    title, axis, how, note : str
        The title, the words of the scale, how it is read, and what else is to be said; ``{by}``
        are the columns that name the rows, ``{interval}`` and ``{level}`` what the lower end is
        declared to be.
    words : str
        What stands beside each row, of its columns; ``{value}`` is the number as it is written.
    names : tuple of str
        The columns that name the rows; by default those of the key.
    join : str
        What stands between their words.
    tick : str
        The column of a mark to hold the number against.
    colour : str
        What has a colour: ``all``, the ``certain`` or what a ``verdict`` says.
    around_zero : bool
        Whether numbers are changes.
    """

    verb: str
    value: str
    low: str
    high: str
    title: str
    axis: str
    how: str
    note: str = ""
    words: str = "{value}  {verdict}"
    names: tuple[str, ...] = ()
    join: str = " · "
    tick: str = ""
    colour: str = "all"
    around_zero: bool = False

    @property
    def columns(self) -> set[str]:
        """The columns that a result must have."""
        return {n for n in (self.value, self.low, self.high, self.tick, "verdict") if n}


RESULTS = {
    "ranks": RowPlot(
        "rank", "rank", "rank_low", "rank_high",
        "Ranks, and which each may have", "rank, 1 is first",
        "Lines: the ranks that each may have; all of them hold together with {level}. Grey: more "
        "than one rank is possible.",
        words="{verdict}", colour="certain",
    ),
    "overlap": RowPlot(
        "overlap", "jaccard", "jaccard_low", "jaccard_high",
        "What two share, beside what repeats of one share", "Jaccard index",
        "Lines: {interval} over prompts. Tick: the ceiling, two answers of one. Grey: not shown "
        "to differ from it.",
        join=" and ", tick="ceiling", colour="verdict",
    ),
    "effect": RowPlot(
        "effect", "change", "low", "high",
        "The effect, and what the days before show of it", "treated less control",
        "Lines: {interval}, clustered. Grey: not shown to differ.",
        "Pre-trend and placebos use the days before alone; one that differs takes the verdict "
        "away.",
        names=("kind", "on"), join=" of ", colour="verdict", around_zero=True,
    ),
    "concentration": RowPlot(
        "concentration", "effective", "effective_low", "effective_high",
        "Effective number{by}",
        "effective number: so many equal members are as concentrated",
        "Lines: {interval}.",
        "The interval takes what is counted for independent; the uncertainty is larger.",
        words="{value}",
    ),
    "samples": RowPlot(
        "samples", "answers", "", "answers",
        "Answers needed for a margin, by runs of each prompt", "answers in all",
        "More runs of one prompt take fewer prompts and more answers.",
        words="{value} answers to {prompts} prompts", names=("runs",),
    ),
}  # fmt: skip
"""How the results of verbs are drawn whose rows have a number and an interval."""

_COLOURS = {"up": GOOD, "down": BAD, "differs": BAD, "no evidence": REST, "cannot say": REST}


def _dots(
    kind: str, rows: PlotData, columns: Sequence[str], title: str, names: Sequence[Name],
    words: Sequence[str], styles: Sequence[Style], ends: Sequence[Numbers], x: Scale, *,
    tick: Numbers | None = None, **more: Any,
) -> Panel:  # fmt: skip
    """A dot a row with its interval, and the words of all rows in one column."""
    cells = [
        Cell(row, *values, kind="dots", size=7, tip=f"{names[row].text}\n{words[row]}")
        for row, (value, style, low, high) in enumerate(zip(ends[0], styles, *ends[1:],
        strict=True))
        for values in [(value, style, 0.0, low, high)]
    ]  # fmt: skip
    return row_panel(
        kind, rows, title, names, cells, x, columns, said=words, beside=[WordColumn(words)],
        over=[] if tick is None else [ticks(tick, np.arange(len(names)), 0.28)], is_wide=True,
        **more,
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


def _declared(data: PlotData, column: str, pattern: str, otherwise: str) -> str:
    """What the declaration of a column says that it is, by a pattern."""
    declared = data.column(column) if column else None
    match = re.search(pattern, declared.doc) if declared else None
    return match[0] if match else otherwise


def _method(data: PlotData) -> list[str]:
    """Describe the method of the rows in a sentence."""
    methods = data.text("method") if "method" in data.kinds else []
    return [f"{capitalized(in_words(m))}." for m in methods if m not in (BLANK, "")][:1]


def _labels(data: PlotData, keys: Sequence[str], join: str = " · ") -> list[str]:
    """The names of rows by some columns."""
    rows = zip(*map(data.labels, keys), strict=True) if keys else [("all",)] * len(data)
    return [join.join(word for word in row if word != BLANK) for row in rows]


def result(kind: str, data: PlotData, options: PlotOptions) -> Panel | None:
    """The result of a verb, as its row in the table says; None for other frames."""
    plot = RESULTS[kind]
    is_of_verb = data.table.startswith(f"statistics:{plot.verb}") and not options.is_chosen
    if not is_of_verb or not plot.columns <= data.kinds.keys():
        return None
    rows = data.first(options.top or 20)
    value, verdicts = rows.values(plot.value), rows.text("verdict")
    low = rows.values(plot.low) if plot.low else np.where(np.isnan(value), NAN, 0.0)
    high, unit = rows.values(plot.high), RANK if kind == "ranks" else rows.unit(plot.value)
    keys = [name for name in rows.metadata.key if name in rows.kinds]
    named = plot.names or keys or rows.keys[: 2 if plot.tick else plot.verb == "rank"]
    if plot.colour == "certain":
        styles = [OWN if a == b else REST for a, b in zip(low, high, strict=True)]
    else:
        styles = [_COLOURS.get(v, BAD) if plot.colour == "verdict" else OWN for v in verdicts]
    texts = [
        {n: rows.text(n)[row] for n in ("verdict", "prompts") if n in rows.kinds}
        for row in range(len(rows))
    ]
    words = [
        verdicts[row].partition(" (")[0]
        if np.isnan(n)
        else plot.words.format(value=number(n, unit), **texts[row])
        for row, n in enumerate(value.tolist())
    ]
    by = " and ".join(map(humanize, keys))
    how = plot.how.format(
        interval=_declared(rows, plot.low, r"\d+% (bootstrap )?interval", "interval"),
        level=_declared(rows, plot.low, r"\d+%", "the level"),
    )
    labels = _labels(rows, named, plot.join)
    if kind == "samples":
        labels = ["1 run" if runs == "1" else f"{runs} runs" for runs in labels]
    tick = rows.values(plot.tick) if plot.tick else None
    return _dots(
        kind, rows, (plot.value,), plot.title.format(by=f" by {by}" if by else "")
        + first_of(len(rows), len(data) - len(rows)), names_of(rows, labels), words, styles,
        (value, low, high),
        _scale([value, low, high, *([] if tick is None else [tick])], unit, plot.axis,
               around_zero=plot.around_zero),
        tick=tick, how=how, notes=[*filter(None, [plot.note]), *_method(rows)],
    )  # fmt: skip


def interval(data: PlotData, options: PlotOptions) -> Panel | None:
    """Intervals without the numbers that they are of; None for other frames."""
    stems = [name.removesuffix("_low") for name in data.numbers if name.endswith("_low")]
    ends = [f"{stem}_{end}" for stem in stems for end in ("low", "high")]
    if options.is_chosen or len(stems) != 1 or {*data.numbers} != {*ends}:
        return None
    rows = data.first(options.top or 20)
    (low, high), unit = (rows.values(name) for name in ends), rows.unit(ends[0])
    keys = [name for name in rows.keys if name not in ends]
    words = [
        "no interval" if np.isnan(a + b) else f"{number(a, unit)} to {number(b, unit)}"
        for a, b in zip(low.tolist(), high.tolist(), strict=True)
    ]
    method = f"{stems[0]}_method"
    notes = [f"{capitalized(in_words(rows.text(method)[0]))}."] if method in rows.kinds else []
    return _dots(
        "interval", rows, ends,
        f"Interval of {humanize(stems[0])}" + first_of(len(rows), len(data) - len(rows)),
        names_of(rows, _labels(rows, keys)), words, [OWN] * len(rows),
        (np.full(len(rows), NAN), low, high), _scale([low, high], unit, "", around_zero=False),
        notes=notes,
    )  # fmt: skip


# --- comparisons ------------------------------------------------------------------------------


def is_comparison(data: PlotData, options: PlotOptions) -> bool:
    """Whether a frame is the result of a comparison, and no columns were chosen."""
    return len(data) > 0 and not options.is_chosen and {*_COMPARED} <= data.kinds.keys()


def comparison(data: PlotData, options: PlotOptions) -> Panel | None:
    """The changes of a comparison, those in one unit; None for other frames."""
    if not is_comparison(data, options):
        return None
    groups = units_apart(data)
    unit = Counter(groups).most_common(1)[0][0]
    one = data.sorted_by(np.flatnonzero(np.array(groups) == unit))
    rows = one.first(options.top or 20)
    verdicts = rows.text("verdict")
    decided = np.array([verdict != "cannot say" for verdict in verdicts])
    change, low, high = (
        np.where(decided, rows.values(name), NAN) for name in ("change", "low", "high")
    )
    measures = [*map(humanize, rows.text("measure"))]
    keys = [name for name in rows.keys if name != "measure"]
    several = len({*measures}) > 1
    # A key figure is named after its metric, which then stands there once.
    labels = [
        " · ".join(
            dict.fromkeys([measure, *filter(None, [label])] if several or not label else [label])
        )
        for measure, label in zip(measures, _labels(rows, keys) if keys else measures, strict=True)
    ]
    words, styles = [], []
    for n, verdict in zip(change.tolist(), verdicts, strict=True):
        is_shown, is_better = verdict in _SHOWN, (verdict == "up") != (unit == RANK)
        worth = f", which is {'better' if is_better else 'worse'}" * (unit == RANK and is_shown)
        words.append(f"{signed(n, unit)}  {verdict}{worth}" if n == n else verdict)
        styles.append((GOOD if is_better else BAD) if is_shown else REST)
    sure = [f"{a} {b}" for a, b, v in zip(labels, words, verdicts, strict=True) if v in _SHOWN]
    unsure = [f"{verdicts.count(v)} {v}" for v in ("no evidence", "cannot say") if v in verdicts]
    sides = [{*rows.text(name)} for name in ("host", "baseline_host") if name in rows.kinds]
    axis = (
        " less ".join(side.pop() for side in sides if len(side) == 1)
        if len(sides) == 2
        else "change"
    )
    by = " and ".join(map(humanize, [] if "subject" in keys else keys))
    title = (
        "Changes by measure"
        if several
        else f"Change in {measures[0]}" + (f" by {by}" if by else "")
    )
    doc = rows.column("low")
    which = (
        doc.doc.split(" of the change")[0].removeprefix("Lower end of the ") if doc else "interval"
    )
    others = f"{len(data) - len(one)} of {len(data)} changes are in other units and not drawn here."
    return _dots(
        "comparison", rows, ("change",), title + first_of(len(rows), len(one) - len(rows)),
        names_of(rows, labels), words, styles, (change, low, high),
        _scale([change, low, high], FRACTION_CHANGE if unit == FRACTION else None,
               axis + ", lower is better" * (unit == RANK), around_zero=True),
        how=f"Lines: {which} of each change alone. Grey: not shown to differ after correction.",
        notes=[*_method(rows), *([others] if len(one) < len(data) else [])],
        finding="; ".join([*(sure or ["nothing is shown to have changed"]), *unsure]),
        headline=f"{len(sure)} of {len(rows)} are shown to have changed" if sure
        else "Nothing is shown to have changed",
    )  # fmt: skip


def units_apart(data: PlotData) -> list[str]:
    """Of each change the unit in which it is drawn; what cannot be said has no scale of its own."""
    unit = FRACTION if data.unit("change") == FRACTION_CHANGE else data.unit("change") or ""
    units = data.text("unit") if "unit" in data.kinds else [unit] * len(data)
    units = ["" if unit == BLANK else unit for unit in units]
    verdicts = data.text("verdict")
    decided = Counter(u for u, v in zip(units, verdicts, strict=True) if v != "cannot say")
    common = decided.most_common(1)[0][0] if decided else units[0]
    return [unit if unit in decided else common for unit in units]


def unit_words(data: PlotData, unit: str) -> str:
    """What the changes of a panel are of: its measure if there is one, else its unit."""
    pairs = zip(data.text("measure"), units_apart(data), strict=True)
    measures = {measure for measure, of in pairs if of == unit}
    words = {FRACTION: "Rates", SCORE: "Scores", COUNT: "Counts", RANK: "Positions"}
    named = humanize(measures.pop()) if len(measures) == 1 else words.get(unit, unit or "others")
    return capitalized(named) + (" (lower is better)" if unit == RANK else "")


def waterfall(data: PlotData, options: PlotOptions) -> Panel | None:
    """The parts of a decomposition, each beginning where the one before ends."""
    if options.is_chosen or not {*_PARTS} <= data.kinds.keys():
        return None
    parts, unit = data.text("part"), data.unit("effect")
    value, low, high = (data.values(name) for name in ("effect", "low", "high"))
    cells, left, ends = [], 0.0, []
    words = [number(n, unit) for n in value.tolist()]
    for row, (part, n) in enumerate(zip(parts, value.tolist(), strict=True)):
        start = 0.0 if part == "total" else left
        left = start + n if n == n else left
        style = REST if part == "total" else GOOD if n > 0 else BAD
        cells.append(Cell(row, start + n, style, start, start + low[row], start + high[row],
                          words[row] * (n == n), "not measured" * (n != n),
                          f"{part}\n{words[row]}"))  # fmt: skip
        ends += [start, start + n, start + low[row], start + high[row]]
    return row_panel(
        "waterfall", data, "Why it moved: other answers, or other questions",
        [Name(capitalized(part)) for part in parts], cells,
        _scale([np.array(ends)], unit, "contribution to the change", around_zero=True), ("effect",),
        how="" if np.isnan(low).all() else "Line: interval of the rate alone.", notes=_method(data),
        finding="; ".join(f"{a} {b}" for a, b in zip(parts, words, strict=True)), pitch=1.3,
        is_wide=True,
    )  # fmt: skip
