"""Results of statistics: one row each, a number with its interval, and a verdict in words.

Which verb gives which columns is the table `RESULTS`; comparisons and decompositions have units
and sides of their own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aatoolkit._util.numbers import number, signed
from aatoolkit.display.plot.data import Mask, Numbers, PlotData
from aatoolkit.display.plot.labels import capitalized, first_of, humanize, in_words
from aatoolkit.display.plot.options import PlotOptions
from aatoolkit.display.plot.rows import Series, names_of, row_panel
from aatoolkit.display.plot.spec import Mark, Name, Panel, Scale, WordColumn, some, spans, ticks
from aatoolkit.display.plot.style import (
    BAD,
    BLANK,
    GOOD,
    MUTED,
    NO_NUMBER,
    OWN,
    REST,
    UNMEASURED,
    Style,
)
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
Ends = tuple[Numbers, Numbers, Numbers]


def _dots(
    kind: str, rows: PlotData, columns: Sequence[str], title: str, names: Sequence[Name],
    words: Sequence[str], styles: Style | Sequence[Style], ends: Ends, x: Scale, *,
    tick: Numbers | None = None, **more: str | Sequence[str],
) -> Panel:  # fmt: skip
    """A dot a row with its interval, and the words of all rows in one column."""
    value, low, high = ends
    none = some(np.flatnonzero(np.isnan(value) & np.isnan(low) & np.isnan(high)))
    far = np.full(len(none), np.inf)
    said = [f"{name.text}\n{word}" for name, word in zip(names, words, strict=True)]
    dots = Series(value, styles, low=low, high=high, tip=lambda row: said[row], kind="dots", size=7)
    return row_panel(
        kind, rows, title, names, [dots], x, columns, said=words,
        before=[Mark("boxes", -far, none, NO_NUMBER, to=far)] if len(none) else (),
        after=() if tick is None else [ticks(tick, np.arange(len(names)), 0.28)],
        beside=[WordColumn(words)], is_wide=True, **more,
    )  # fmt: skip


def _scale(parts: Sequence[Numbers], unit: str | None, label: str, *, around_zero: bool) -> Scale:
    """The scale of a result: from 0, from the first rank, or around 0 as far as is needed."""
    everything = np.concatenate(parts)
    there = everything[~np.isnan(everything)]
    kind, most = ("number", float(there.max())) if len(there) else ("none", 1.0)
    if around_zero:
        least, most = min(float(there.min()) if len(there) else -1.0, 0.0), max(most, 0.0)
        room = 0.04 * ((most - least) or 1.0)
        return Scale(least - room, most + room, kind, unit, label)
    if unit == RANK:
        return Scale(0.5, most + 0.5, kind, unit, label)
    return Scale(0.0, most * 1.04 or 1.0, kind, unit, label)


def _declared(data: PlotData, column: str, pattern: str, otherwise: str) -> str:
    """What the declaration of a column says that it is, by a pattern."""
    column_of = data.column(column) if column else None
    match = re.search(pattern, column_of.doc) if column_of else None
    return match[0] if match else otherwise


def _interval(data: PlotData, column: str) -> str:
    return _declared(data, column, r"\d+% (bootstrap )?interval", "interval")


def _method(data: PlotData) -> list[str]:
    """Describe the method of the rows in a sentence."""
    methods = data.text("method") if "method" in data.kinds else []
    return [f"{capitalized(in_words(m))}." for m in methods if m not in (BLANK, "")][:1]


def _labels(data: PlotData, keys: Sequence[str], join: str = " · ") -> list[str]:
    """The names of rows by some columns."""
    if not keys:
        return ["all"] * len(data)
    rows = zip(*map(data.labels, keys), strict=True)
    return [join.join(word for word in row if word != BLANK) for row in rows]


def _of(rows: PlotData, data: PlotData) -> str:
    return first_of(len(rows), len(data) - len(rows))


def result(kind: str, data: PlotData, options: PlotOptions) -> Panel | None:
    """The result of a verb, as its row in the table says; None for other frames."""
    plot = RESULTS[kind]
    is_of_verb = data.table.startswith(f"statistics:{plot.verb}") and not options.is_chosen
    if not is_of_verb or not plot.columns <= data.kinds.keys():
        return None
    rows = data.first(options.top or 20)
    value, verdicts = rows.values(plot.value), rows.text("verdict")
    low = rows.values(plot.low) if plot.low else np.where(np.isnan(value), np.nan, 0.0)
    high, unit = rows.values(plot.high), RANK if kind == "ranks" else rows.unit(plot.value)
    keys = [name for name in rows.metadata.key if name in rows.kinds]
    named = plot.names or keys or rows.keys[: 2 if plot.tick else plot.verb == "rank"]
    styles: Style | list[Style] = OWN
    if plot.colour == "certain":
        styles = [OWN if a == b else REST for a, b in zip(low, high, strict=True)]
    elif plot.colour == "verdict":
        styles = [_COLOURS.get(verdict, BAD) for verdict in verdicts]
    more = {name: rows.text(name) for name in ("verdict", "prompts") if name in rows.kinds}
    words = [
        verdicts[row].partition(" (")[0]
        if np.isnan(n)
        else plot.words.format(value=number(n, unit), **{k: v[row] for k, v in more.items()})
        for row, n in enumerate(value.tolist())
    ]
    by = " and ".join(map(humanize, keys))
    said = {
        "interval": _interval(rows, plot.low),
        "level": _declared(rows, plot.low, r"\d+%", "the level"),
    }
    labels = _labels(rows, named, plot.join)
    if kind == "samples":
        labels = ["1 run" if runs == "1" else f"{runs} runs" for runs in labels]
    tick = rows.values(plot.tick) if plot.tick else None
    return _dots(
        kind, rows, (plot.value,),
        plot.title.format(by=f" by {by}" if by else "") + _of(rows, data),
        names_of(rows, labels), words, styles, (value, low, high),
        _scale([value, low, high, *([tick] if tick is not None else [])], unit, plot.axis,
               around_zero=plot.around_zero),
        tick=tick, how=plot.how.format(**said), notes=[*filter(None, [plot.note]), *_method(rows)],
    )  # fmt: skip


def stability(data: PlotData, options: PlotOptions) -> Panel | None:
    """The agreement of repeats and their correlation; None for other frames."""
    columns = ("agreement", "icc")
    is_of_verb = data.table.startswith("statistics:stability") and not options.is_chosen
    if not is_of_verb or not {*columns} <= data.kinds.keys() or len(data) != 1:
        return None
    value, low, high = (
        np.array([data.values(f"{name}{end}")[0] for name in columns])
        for end in ("", "_low", "_high")
    )
    verdict = data.text("verdict")[0].partition(":")[0]
    return _dots(
        "stability", data, columns, "How alike the answers are when the same is asked again",
        (Name("pairs that agree"), Name("intra-class correlation")),
        [verdict if np.isnan(n) else f"{n:.2f}" for n in value], OWN, (value, low, high),
        _scale([value, low, high], None, "", around_zero=False),
        how=f"Lines: {_interval(data, 'agreement_low')}.", notes=_method(data),
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
    labels = _labels(rows, keys) if keys else [f"row {row}" for row in range(len(rows))]
    words = [
        "no interval" if np.isnan(a + b) else f"{number(a, unit)} to {number(b, unit)}"
        for a, b in zip(low.tolist(), high.tolist(), strict=True)
    ]
    method = f"{stems[0]}_method"
    notes = [f"{capitalized(in_words(rows.text(method)[0]))}."] if method in rows.kinds else []
    return _dots(
        "interval", rows, ends, f"Interval of {humanize(stems[0])}{_of(rows, data)}",
        names_of(rows, labels), words, OWN, (np.full(len(rows), np.nan), low, high),
        _scale([low, high], unit, "", around_zero=False), notes=notes,
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
    common = Counter(groups).most_common(1)[0][0]
    one = data.sorted_by(np.flatnonzero(np.array(groups) == common))
    rows = one.first(options.top or 20)
    verdicts, units = rows.text("verdict"), _units(rows)
    decided = np.array([verdict != "cannot say" for verdict in verdicts])
    change, low, high = (
        np.where(decided, rows.values(name), np.nan) for name in ("change", "low", "high")
    )
    doc = rows.column("low")
    which = (
        doc.doc.split(" of the change")[0].removeprefix("Lower end of the ") if doc else "interval"
    )
    labels = _compared_labels(rows)
    names = [
        Name(label, "own" if mine else "competitor" if theirs else "")
        for label, mine, theirs in zip(labels, _whose(rows, 0), _whose(rows, 1), strict=True)
    ]
    words = [
        _moved(n, unit, verdict)
        for n, unit, verdict in zip(rows.values("change"), units, verdicts, strict=True)
    ]
    sure = [f"{a} {b}" for a, b, v in zip(labels, words, verdicts, strict=True) if v in _SHOWN]
    unsure = [f"{verdicts.count(v)} {v}" for v in ("no evidence", "cannot say") if v in verdicts]
    others = f"{len(data) - len(one)} of {len(data)} changes are in other units and not drawn here."
    return _dots(
        "comparison", rows, ("change",), _compared_title(rows) + _of(rows, one), names, words,
        [_change_style(v, u) for v, u in zip(verdicts, units, strict=True)], (change, low, high),
        _scale([change, low, high], FRACTION_CHANGE if common == FRACTION else None,
               _along(rows, common), around_zero=True),
        notes=[*_method(rows), *([others] if len(one) < len(data) else [])],
        how=f"Lines: {which} of each change alone. Grey: not shown to differ after correction.",
        finding="; ".join([*(sure or ["nothing is shown to have changed"]), *unsure]),
        headline=f"{len(sure)} of {len(rows)} are shown to have changed" if sure
        else "Nothing is shown to have changed",
    )  # fmt: skip


def units_apart(data: PlotData) -> list[str]:
    """Of each change the unit in which it is drawn; what cannot be said has no scale of its own."""
    units = [unit or "" for unit in _units(data)]
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


def _units(data: PlotData) -> list[str | None]:
    """The unit of what each row compares."""
    if "unit" not in data.kinds:
        is_rate = data.unit("change") == FRACTION_CHANGE
        return [FRACTION if is_rate else data.unit("change")] * len(data)
    return [None if unit == BLANK else unit for unit in data.text("unit")]


def _compared_title(data: PlotData) -> str:
    measures = [*dict.fromkeys(map(humanize, data.text("measure")))]
    if len(measures) > 1:
        return "Changes by measure"
    # The subject of each row is part of its label.
    keys = [] if "subject" in data.keys else [key for key in data.keys if key != "measure"]
    by = " and ".join(map(humanize, keys))
    return f"Change in {measures[0]}" + (f" by {by}" if by else "")


def _along(data: PlotData, unit: str | None) -> str:
    """The label of the axis: which side less which."""
    sides = [{*data.text(name)} for name in ("host", "baseline_host") if name in data.kinds]
    named = [side.pop() for side in sides if len(side) == 1]
    label = f"{named[0]} less {named[1]}" if len(named) == 2 else "change"
    return label + (", lower is better" if unit == RANK else "")


def _compared_labels(data: PlotData) -> list[str]:
    """The label of each row: what is compared, unless the title says it of all."""
    several = len({*map(humanize, data.text("measure"))}) > 1
    others = [data.labels(name) for name in data.keys if name != "measure"]
    labels = []
    for measure, *rest in zip(data.text("measure"), *others, strict=True):
        # A key figure is named after its metric, which then stands there once.
        more = [word for word in rest if word not in (BLANK, measure, humanize(measure))]
        labels.append(" · ".join([humanize(measure), *more] if several or not more else more))
    return labels


def _moved(change: float, unit: str | None, verdict: str) -> str:
    if verdict == "cannot say":
        return verdict
    worth = ", which is worse" if verdict == "up" else ", which is better"
    return f"{signed(change, unit)}  {verdict}{worth * (unit == RANK and verdict in _SHOWN)}"


def _change_style(verdict: str, unit: str | None) -> Style:
    """The colours of better and worse; of positions the lower is better."""
    if verdict not in _SHOWN:
        return REST
    return GOOD if (verdict == "up") != (unit == RANK) else BAD


def _whose(data: PlotData, side: int) -> Mask:
    """Mask of the rows of the own brand or site, or of a competitor's."""
    mask = data.own() if side == 0 else data.rivals()
    if {"subject", "name"} <= data.kinds.keys():
        subjects, names = np.array(data.text("subject"), object), data.text("name")
        for subject in {*subjects}:
            mask |= (subjects == subject) & data.named(side, str(subject), names)
    return mask


def waterfall(data: PlotData, options: PlotOptions) -> Panel | None:
    """The parts of a decomposition, each beginning where the one before ends."""
    if options.is_chosen or not {*_PARTS} <= data.kinds.keys():
        return None
    parts, unit, value = data.text("part"), data.unit("effect"), data.values("effect")
    is_total = np.array([part == "total" for part in parts])
    steps = np.where(is_total, 0.0, np.nan_to_num(value))
    left = np.where(is_total, 0.0, np.cumsum(steps) - steps)
    low, high = (left + data.values(name) for name in ("low", "high"))
    styles = [REST if t else GOOD if n > 0 else BAD for t, n in zip(is_total, value, strict=True)]
    words = [number(n, unit) for n in value]
    boxes = Series(left + value, styles, start=left, words=["" if n != n else w for n,
    w in zip(value, words, strict=True)],
                   ends=np.fmax(np.fmax(left, left + value), np.nan_to_num(high, nan=-np.inf)),
                   tip=lambda row: f"{parts[row]}\n{words[row]}", size=0.6)  # fmt: skip
    none = some(np.flatnonzero(np.isnan(value)))
    far = np.full(len(none), np.inf)
    return row_panel(
        "waterfall", data, "Why it moved: other answers, or other questions",
        [Name(capitalized(part)) for part in parts], [boxes],
        _scale([left, left + value, low, high], unit, "contribution to the change",
        around_zero=True),
        ("effect",), before=[Mark("boxes", -far, none, UNMEASURED, to=far)],
        after=[spans(low, high, np.arange(len(parts)), MUTED, 1.4)],
        how="" if np.isnan(low).all() else "Line: interval of the rate alone.", notes=_method(data),
        finding="; ".join(f"{a} {b}" for a, b in zip(parts, words, strict=True)), pitch=1.3,
        is_wide=True,
    )  # fmt: skip
