"""Results of statistics: one row each, a number with its interval, and a verdict in words.

Which verb gives which columns is the table `RESULTS`; a comparison and a decomposition have a
function each.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aatoolkit._util.numbers import number, signed
from aatoolkit.display.plot.data import Mask, Numbers, PlotData
from aatoolkit.display.plot.drawn import drawn_of
from aatoolkit.display.plot.labels import capitalized, first_of, humanize, in_words
from aatoolkit.display.plot.options import PlotOptions
from aatoolkit.display.plot.rows import names_of
from aatoolkit.display.plot.spec import (
    PITCH,
    Name,
    Panel,
    RowMarks,
    Scale,
    WordColumn,
    rows_of,
    rule,
)
from aatoolkit.display.plot.style import (
    BAD,
    BLANK,
    GOOD,
    INK,
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
        The columns of the number and the ends of its interval.
    title, axis, note : str
        The title, the words of the scale, and what the caption says; ``{by}`` are the columns
        that name the rows, ``{interval}`` and ``{level}`` what the lower end is declared to be.
    words : str
        What stands beside each row: ``{value}``, ``{verdict}`` or both.
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
    note: str
    words: str = "{value}  {verdict}"
    tick: str = ""
    colour: str = "all"
    around_zero: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that a result must have."""
        return tuple(n for n in (self.value, self.low, self.high, self.tick, "verdict") if n)


RESULTS = {
    "ranks": RowPlot(
        "rank", "rank", "rank_low", "rank_high",
        "Ranks, and which each may have", "rank, 1 is first",
        "Lines: the ranks that each may have; all of them hold together with {level}. Grey: more "
        "than one rank is possible.",
        "{verdict}", colour="certain",
    ),
    "overlap": RowPlot(
        "overlap", "jaccard", "jaccard_low", "jaccard_high",
        "What two have in common, and what repeats of one have", "Jaccard index",
        "Lines: {interval} over prompts. Tick: the ceiling, two answers of one. Grey: not shown "
        "to differ from it, or nothing to hold it against.",
        tick="ceiling", colour="verdict",
    ),
    "effect": RowPlot(
        "effect", "change", "low", "high",
        "The effect, and what the days before show of it", "treated less control",
        "Lines: {interval}, clustered. Pre-trend and placebos use the days before alone; one that "
        "differs takes the verdict away. Grey: not shown to differ.",
        colour="verdict", around_zero=True,
    ),
    "concentration": RowPlot(
        "concentration", "effective", "effective_low", "effective_high",
        "Effective number{by}",
        "effective number: as many equal ones would be as concentrated",
        "Lines: {interval}, the least uncertainty there is: it takes each for independent.",
        "{value}",
    ),
}  # fmt: skip
"""How the results of verbs are drawn whose rows have a number and an interval."""

_COLOURS = {"up": GOOD, "down": BAD, "differs": BAD, "no evidence": REST, "cannot say": REST}


def dots(
    kind: str,
    rows: PlotData,
    columns: Sequence[str],
    title: str,
    names: Sequence[Name],
    words: Sequence[str],
    styles: Sequence[Style],
    numbers: tuple[Numbers, Numbers, Numbers],
    scale: Scale,
    notes: Sequence[str],
    tick: Numbers | None = None,
    finding: str = "",
) -> Panel:
    """A dot a row with its interval, and the words of all rows in one column."""
    value, low, high = numbers
    of = RowMarks(lambda row: f"{names[row].text}\n{words[row]}")
    marks = [of.across(np.isnan(value) & np.isnan(low) & np.isnan(high), NO_NUMBER)]
    if scale.low < 0 < scale.high:
        marks.append(rule(0.0))
    for style in dict.fromkeys(styles):
        mask = np.array([each == style for each in styles], bool)
        marks += [RowMarks().spans(low, high, style, 2.0, mask), of.dots(value, style, mask=mask)]
    if tick is not None:
        marks.append(RowMarks().mark("ticks", ~np.isnan(tick), tick, INK, size=0.56))
    texts = [f"{name.text}: {word}" for name, word in zip(names, words, strict=True)]
    more = f"; and {len(texts) - 8} more" if len(texts) > 8 else ""
    return Panel(
        kind,
        rows,
        drawn_of(rows, columns),
        title,
        finding or "; ".join(texts[:8]) + more,
        scale,
        rows_of(names),
        marks,
        [note for note in notes if note],
        columns=(WordColumn(words),),
        height=PITCH * len(names),
        is_wide=True,
    )


def _scale(parts: Sequence[Numbers], unit: str | None, label: str, *, around_zero: bool) -> Scale:
    """The scale of a result: from 0, from the first rank, or around 0 as far as is needed."""
    everything = np.concatenate(parts)
    there = everything[~np.isnan(everything)]
    kind, most = "number" if len(there) else "none", float(there.max()) if len(there) else 1.0
    if around_zero:
        least, most = min(float(there.min()) if len(there) else -1.0, 0.0), max(most, 0.0)
        room = 0.04 * ((most - least) or 1.0)
        return Scale(least - room, most + room, kind, unit, label)
    if unit == RANK:
        return Scale(0.5, most + 0.5, kind, unit, label)
    return Scale(0.0, most * 1.04 or 1.0, kind, unit, label)


def _is_chosen(options: PlotOptions) -> bool:
    return bool(options.x or options.y or options.by)


def _is_result(data: PlotData, options: PlotOptions, verb: str, *names: str) -> bool:
    """Whether the frame is the result of a verb, as its columns and its declaration say."""
    is_of_verb = data.table.startswith(f"statistics:{verb}")
    return not _is_chosen(options) and is_of_verb and all(name in data.kinds for name in names)


def _first(data: PlotData, options: PlotOptions, most: int = 20) -> tuple[PlotData, str]:
    """Select the first rows; return also the title's words on the others."""
    rows = data.sorted_by([*range(min(options.top or most, len(data)))])
    return rows, first_of(len(rows), len(data) - len(rows))


def _declared(data: PlotData, column: str, pattern: str, otherwise: str) -> str:
    """What the declaration of a column says that it is, by a pattern."""
    declared = data.column(column)
    match = re.search(pattern, declared.doc) if declared else None
    return match[0] if match else otherwise


def _method(data: PlotData) -> str:
    """Describe the method of the rows in a sentence."""
    if "method" not in data.kinds:
        return ""
    method = next((each for each in data.text("method") if each not in (BLANK, "")), "")
    return f"{capitalized(in_words(method))}." if method else ""


def _labels(data: PlotData, keys: Sequence[str]) -> list[str]:
    """The names of rows by their keys."""
    if not keys:
        return ["all"] * len(data)
    return [" · ".join(row) for row in zip(*map(data.labels, keys), strict=True)]


def result(kind: str, data: PlotData, options: PlotOptions) -> Panel | None:
    """The result of a verb, as its row in the table says; None for other frames."""
    plot = RESULTS[kind]
    if not _is_result(data, options, plot.verb, *plot.columns):
        return None
    rows, of = _first(data, options)
    value, low, high = (rows.values(name) for name in (plot.value, plot.low, plot.high))
    unit, verdicts = rows.unit(plot.value), rows.text("verdict")
    if plot.verb == "rank":
        unit = RANK
    keys = [name for name in rows.metadata.key if name in rows.kinds]
    if plot.verb == "effect":
        days = [f" of {day}" if day != BLANK else "" for day in rows.text("on")]
        labels = [f"{name}{day}" for name, day in zip(rows.text("kind"), days, strict=True)]
    elif plot.verb == "overlap":
        labels = [" and ".join(row) for row in zip(*map(rows.text, rows.keys[:2]), strict=True)]
    else:
        labels = _labels(rows, keys or rows.keys[: plot.verb == "rank"])
    if plot.colour == "certain":
        styles = [OWN if a == b else REST for a, b in zip(low, high, strict=True)]
    elif plot.colour == "verdict":
        styles = [_COLOURS.get(verdict, BAD) for verdict in verdicts]
    else:
        styles = [OWN] * len(rows)
    words = [
        verdict.partition(" (")[0]
        if np.isnan(n)
        else plot.words.format(value=number(n, unit), verdict=verdict)
        for n, verdict in zip(value.tolist(), verdicts, strict=True)
    ]
    note = plot.note.format(
        interval=_declared(rows, plot.low, r"\d+% (bootstrap )?interval", "interval"),
        level=_declared(rows, plot.low, r"\d+%", "the level"),
    )
    by = " and ".join(map(humanize, keys))
    tick = rows.values(plot.tick) if plot.tick else None
    parts = [value, low, high, *([tick] if tick is not None else [])]
    return dots(
        kind,
        rows,
        (plot.value,),
        plot.title.format(by=f" by {by}" if by else "") + of,
        names_of(rows, labels),
        words,
        styles,
        (value, low, high),
        _scale(parts, unit, plot.axis, around_zero=plot.around_zero),
        [note, _method(rows)],
        tick,
    )


def stability(data: PlotData, options: PlotOptions) -> Panel | None:
    """The agreement of repeats and their correlation; None for other frames."""
    names = ("agreement", "icc")
    if not _is_result(data, options, "stability", *names) or len(data) != 1:
        return None
    value, low, high = (
        np.array([data.values(f"{name}{end}")[0] for name in names])
        for end in ("", "_low", "_high")
    )
    interval = _declared(data, "agreement_low", r"\d+% (bootstrap )?interval", "interval")
    verdict = data.text("verdict")[0].partition(":")[0]
    return dots(
        "stability",
        data,
        names,
        "How alike the answers are when the same is asked again",
        (Name("pairs that agree"), Name("intra-class correlation")),
        [verdict if np.isnan(each) else f"{each:.2f}" for each in value],
        (OWN, OWN),
        (value, low, high),
        _scale([value, low, high], None, "", around_zero=False),
        [f"Lines: {interval}. {_method(data)}"],
    )


def interval(data: PlotData, options: PlotOptions) -> Panel | None:
    """Intervals without the numbers that they are of; None for other frames."""
    stems = [name.removesuffix("_low") for name in data.numbers if name.endswith("_low")]
    ends = [f"{stem}_{end}" for stem in stems for end in ("low", "high")]
    if _is_chosen(options) or len(stems) != 1 or {*data.numbers} != {*ends}:
        return None
    rows, of = _first(data, options)
    (low, high), unit = (rows.values(name) for name in ends), rows.unit(ends[0])
    keys = [name for name in rows.keys if name not in ends]
    labels = _labels(rows, keys) if keys else [f"row {row}" for row in range(len(rows))]
    method = f"{stems[0]}_method"
    return dots(
        "interval",
        rows,
        ends,
        capitalized(f"interval of {humanize(stems[0])}{of}"),
        names_of(rows, labels),
        [
            "no interval" if np.isnan(a + b) else f"{number(a, unit)} to {number(b, unit)}"
            for a, b in zip(low.tolist(), high.tolist(), strict=True)
        ],
        (OWN,) * len(rows),
        (np.full(len(rows), np.nan), low, high),
        _scale([low, high], unit, "", around_zero=False),
        [f"{capitalized(in_words(rows.text(method)[0]))}."] if method in rows.kinds else [],
    )


def samples(data: PlotData, options: PlotOptions) -> Panel | None:
    """The answers that a margin takes, by runs of each prompt; None for other frames."""
    if not _is_result(data, options, "samples", "runs", "prompts", "answers", "margin"):
        return None
    margins, answers, prompts = (data.values(n) for n in ("margin", "answers", "prompts"))
    most = f" of ±{100 * np.nanmax(margins):.2g} pp" if (~np.isnan(margins)).any() else ""
    return dots(
        "samples",
        data,
        ("answers",),
        f"Answers that a margin{most} takes, by runs of each prompt",
        [Name("1 run" if runs == "1" else f"{runs} runs") for runs in data.text("runs")],
        [
            verdict if np.isnan(n) else f"{number(n)} answers to {number(k)} prompts"
            for n, k, verdict in zip(answers, prompts, data.text("verdict"), strict=True)
        ],
        (OWN,) * len(data),
        (answers, np.where(np.isnan(answers), np.nan, 0.0), answers),
        _scale([answers], None, "answers in all", around_zero=False),
        ["More runs of one prompt take fewer prompts and more answers."],
    )


def comparison(data: PlotData, options: PlotOptions) -> Panel | None:
    """The changes of a comparison, those in one unit; None for other frames."""
    if not is_comparison(data, options):
        return None
    listed, groups = len(data), units_apart(data)
    common = Counter(groups).most_common(1)[0][0]
    data = data.sorted_by(np.flatnonzero(np.array(groups) == common))
    rows, of = _first(data, options)
    verdicts, units = rows.text("verdict"), _units(rows)
    decided = np.array([verdict != "cannot say" for verdict in verdicts])
    unit = next((u for u, is_decided in zip(units, decided, strict=True) if is_decided), None)
    change, low, high = (
        np.where(decided, rows.values(each), np.nan) for each in ("change", "low", "high")
    )
    doc = rows.column("low")
    which = doc.doc.split(" of the change")[0].removeprefix("Lower end of the ") if doc else ""
    notes = [
        f"Lines: {which} of each change alone." if which else "",
        _method(rows),
        "Grey: not shown to differ after correction. Band without a dot: cannot be said.",
    ]
    if listed > len(data):
        others = f"{listed - len(data)} of {listed} changes are in other units"
        notes.append(f"{others} and not drawn here.")
    own, rivals = (_whose(rows, side) for side in (0, 1))
    labels = _compared_labels(rows)
    names = [
        Name(label, "own" if mine else "competitor" if theirs else "")
        for label, mine, theirs in zip(labels, own, rivals, strict=True)
    ]
    words = [
        _moved(each, unit_of, verdict)
        for each, unit_of, verdict in zip(rows.values("change"), units, verdicts, strict=True)
    ]
    sure = [f"{a} {b}" for a, b, v in zip(labels, words, verdicts, strict=True) if v in _SHOWN]
    counts = [
        f"{verdicts.count(word)} {word}"
        for word in ("no evidence", "cannot say")
        if word in verdicts
    ]
    return dots(
        "comparison",
        rows,
        ("change",),
        _compared_title(rows) + of,
        names,
        words,
        [_change_style(v, u) for v, u in zip(verdicts, units, strict=True)],
        (change, low, high),
        _scale(
            [change, low, high],
            FRACTION_CHANGE if unit == FRACTION else None,
            _along(rows, unit),
            around_zero=True,
        ),
        notes,
        finding="; ".join([*(sure or ["nothing is shown to have changed"]), *counts]),
    )


def is_comparison(data: PlotData, options: PlotOptions) -> bool:
    """Whether a frame is the result of a comparison, and no columns were chosen."""
    has_columns = all(name in data.kinds for name in _COMPARED)
    return len(data) > 0 and not _is_chosen(options) and has_columns


def units_apart(data: PlotData) -> list[str]:
    """Of each change the unit in which it is drawn; what cannot be said has no scale of its own."""
    units = [unit or "" for unit in _units(data)]
    verdicts = data.text("verdict")
    decided = Counter(u for u, v in zip(units, verdicts, strict=True) if v != "cannot say")
    common = decided.most_common(1)[0][0] if decided else units[0]
    return [unit if unit in decided else common for unit in units]


def unit_words(data: PlotData, unit: str) -> str:
    """What the changes of a panel are of: its measure if there is one, else its unit."""
    rows = np.array(units_apart(data)) == unit
    measures = {word for word, here in zip(data.text("measure"), rows, strict=True) if here}
    words = {FRACTION: "Rates", SCORE: "Scores", COUNT: "Counts", RANK: "Positions"}
    named = humanize(measures.pop()) if len(measures) == 1 else words.get(unit, unit or "others")
    return capitalized(named) + (" (lower is better)" if unit == RANK else "")


def _units(data: PlotData) -> list[str | None]:
    """The unit of what each row compares."""
    if "unit" not in data.kinds:
        is_rate = data.unit("change") == FRACTION_CHANGE
        return [FRACTION if is_rate else data.unit("change")] * len(data)
    return [None if unit == BLANK else unit for unit in data.text("unit")]


def _measures(data: PlotData) -> list[str]:
    """What is compared, in words."""
    return list(dict.fromkeys(map(humanize, data.text("measure"))))


def _compared_title(data: PlotData) -> str:
    measures = _measures(data)
    if len(measures) > 1:
        return "Changes by measure"
    # The subject of each row is part of its label.
    keys = [] if "subject" in data.keys else [key for key in data.keys if key != "measure"]
    by = " and ".join(map(humanize, keys))
    return f"Change in {measures[0]}" + (f" by {by}" if by else "")


def _along(data: PlotData, unit: str | None) -> str:
    """The label of the axis: which side less which."""
    sides = [
        {*data.text(name)} if name in data.kinds else set() for name in ("host", "baseline_host")
    ]
    named = [side.pop() for side in sides if len(side) == 1]
    label = f"{named[0]} less {named[1]}" if len(named) == 2 else "change"
    return label + (", lower is better" if unit == RANK else "")


def _compared_labels(data: PlotData) -> list[str]:
    """The label of each row: what is compared, unless the title says it of all."""
    several = len(_measures(data)) > 1
    others = [data.text(name) for name in data.keys if name != "measure"]
    labels = []
    for measure, *rest in zip(data.text("measure"), *others, strict=True):
        # A key figure is named after its metric, which then stands there once.
        more = [word for word in rest if word not in (BLANK, measure)]
        labels.append(" · ".join([humanize(measure), *more] if several or not more else more))
    return labels


def _moved(change: float, unit: str | None, verdict: str) -> str:
    if verdict == "cannot say":
        return verdict
    worth = ""
    if unit == RANK and verdict in _SHOWN:
        worth = ", which is worse" if verdict == "up" else ", which is better"
    return f"{signed(change, unit)}  {verdict}{worth}"


def _change_style(verdict: str, unit: str | None) -> Style:
    """Blue for better and orange for worse; of positions the lower is better."""
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
    if _is_chosen(options) or not all(name in data.kinds for name in _PARTS):
        return None
    parts, unit, values = data.text("part"), data.unit("effect"), data.values("effect")
    low, high = (data.values(name) for name in ("low", "high"))
    is_total = np.array([part == "total" for part in parts])
    steps = np.where(is_total, 0.0, np.nan_to_num(values))
    left = np.where(is_total, 0.0, np.cumsum(steps) - steps)
    ends = left + values
    rows = RowMarks(lambda row: f"{parts[row]}\n{number(values[row], unit)}")
    there, right = ~np.isnan(values), np.fmax(left + np.where(np.isnan(high), values, high), ends)
    marks = [
        rule(0.0),
        rows.boxes(there & is_total, ends, REST, left, 0.6),
        rows.boxes(there & ~is_total & (values > 0), ends, GOOD, left, 0.6),
        rows.boxes(there & ~is_total & (values <= 0), ends, BAD, left, 0.6),
        rows.across(~there, UNMEASURED),
        RowMarks().spans(left + low, left + high, MUTED, 1.4),
        rows.words(there, np.fmax(right, left), [number(value, unit) for value in values]),
    ]
    everything = [left, ends, left + low, left + high]
    note = "Whisker: interval of the rate alone. " if not np.isnan(low[0]) else ""
    return Panel(
        "waterfall",
        data,
        drawn_of(data, ("effect",)),
        "Why it moved: other answers, or other questions",
        "; ".join(f"{p} {number(v, unit)}" for p, v in zip(parts, values, strict=True)),
        _scale(everything, unit, "contribution to the change", around_zero=True),
        rows_of([Name(capitalized(part)) for part in parts]),
        marks,
        [note + _method(data)],
        height=PITCH * 1.3 * len(parts),
        is_wide=True,
    )
