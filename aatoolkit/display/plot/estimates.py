"""Estimates as dots with intervals: ranks, overlaps, effects, agreement, concentration."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from aatoolkit.display.plot import canvas
from aatoolkit.display.plot.labels import capitalized, format_number, humanize, in_words
from aatoolkit.display.plot.options import PlotOptions
from aatoolkit.display.plot.roles import BLANK, Numbers, PlotData
from aatoolkit.display.plot.style import BAD, GOOD, NOTHING_FILL, OWN, REST, SeriesStyle
from aatoolkit.sections.aggregation import FRACTION, RANK

_GREY = ("no evidence", "cannot say")


@dataclass(frozen=True)
class EstimateDots:
    """One dot per estimate, with its interval and, if there is one, a reference mark."""

    data: PlotData
    drawn: tuple[str, ...]
    title: str
    axis: str
    labels: tuple[str, ...]
    words: tuple[str, ...]
    styles: tuple[SeriesStyle, ...]
    columns: tuple[Numbers, Numbers, Numbers, Numbers]
    unit: str | None
    notes: tuple[str, ...]
    around_zero: bool = False
    own: tuple[bool, ...] = ()
    rivals: tuple[bool, ...] = ()

    @property
    def height(self) -> float:
        """The height in inches."""
        return 1.9 + 0.3 * max(len(self.labels), 2)

    @property
    def finding(self) -> str:
        """The main result in words, for the alternative text."""
        texts = [f"{a}: {b}" for a, b in zip(self.labels, self.words, strict=True)]
        more = f"; and {len(texts) - 8} more" if len(texts) > 8 else ""
        return "; ".join(texts[:8]) + more

    def draw(self, axes: Axes) -> list[str]:
        """Draw the dots and return the notes."""
        value, low, high, mark = self.columns
        start, end = self._limits()
        if self.around_zero:
            axes.axvline(0, color=canvas.muted_colour(axes), linewidth=0.9)
        for row, (style, words) in enumerate(zip(self.styles, self.words, strict=True)):
            # The words of all rows are in one column, where no line meets them.
            canvas.row_note(axes, words, end, row, gap=8)
            if np.isnan([value[row], low[row], high[row]]).all():
                canvas.empty_row(axes, row, NOTHING_FILL)
                continue
            axes.hlines(row, low[row], high[row], color=style.colour, linewidth=2)
            dot: dict[str, Any] = {"color": style.colour, "ms": 7, "zorder": 3, "clip_on": False}
            axes.plot(value[row], row, style.marker, **dot)
            if not np.isnan(mark[row]):
                colour = canvas.text_colour(axes)
                axes.vlines(mark[row], row - 0.28, row + 0.28, color=colour, linewidth=1.6)
        axes.set_xlim(start, end)
        canvas.style_axes(axes, "x")
        own = list(self.own) or [False] * len(self.labels)
        canvas.row_labels(axes, list(self.labels), own, rivals=self.rivals)
        canvas.label_axes(axes, self.axis)
        if self.unit == RANK and not self.around_zero:
            canvas.rank_axis(axes.xaxis, end)
        canvas.number_axis(axes.xaxis, self.unit)
        if np.isnan([value, low, high]).all():
            axes.set_xticks([])
        return list(self.notes)

    def _limits(self) -> tuple[float, float]:
        """The ends of the axis: from 0, from the first rank, or around 0 as far as is needed."""
        everything = np.concatenate(self.columns)
        there = everything[~np.isnan(everything)]
        most = float(there.max()) if len(there) else 1.0
        if self.around_zero:
            least, most = min(float(there.min()) if len(there) else -1.0, 0.0), max(most, 0.0)
            room = 0.04 * ((most - least) or 1.0)
            return least - room, most + room
        return (0.5, most + 0.5) if self.unit == RANK else (0.0, most * 1.04 or 1.0)


def _has(data: PlotData, options: PlotOptions, table: str, *names: str) -> bool:
    """Whether the frame is the result of a verb, as its columns and its declaration say."""
    chosen = options.x or options.y or options.by
    return (
        not chosen
        and data.table.startswith(f"statistics:{table}")
        and all(name in data.kinds for name in names)
    )


def _first(data: PlotData, options: PlotOptions, most: int = 20) -> tuple[PlotData, str]:
    """Select the first rows; return also the title's words on the others."""
    most = options.top or most
    rows = PlotData(data.frame.head(most).reset_index(drop=True), data.known)
    left_out = len(data) - len(rows)
    return rows, f", the first {len(rows)} of {len(data)}" if left_out > 0 else ""


def _interval(data: PlotData, column: str) -> str:
    """Describe the interval whose lower end a column is, by its declaration."""
    doc = data.column(column)
    found = re.search(r"\d+% (bootstrap )?interval", doc.doc) if doc else None
    return found[0] if found else "interval"


def _method(data: PlotData) -> str:
    """Describe the method of the rows in a sentence."""
    method = next((each for each in data.text("method") if each != BLANK), "")
    return f"{capitalized(in_words(method))}." if method else ""


def _by(data: PlotData) -> str:
    """The columns that name the rows, as words of a title."""
    names = " and ".join(humanize(name) for name in data.known.key if name in data.kinds)
    return f" by {names}" if names else ""


def _nothing(data: PlotData) -> Numbers:
    return np.full(len(data), np.nan)


def ranks(data: PlotData, options: PlotOptions) -> EstimateDots | None:
    """Plan the ranks of a ranking with their sets; None for other frames."""
    if not _has(data, options, "rank", "rank", "rank_low", "rank_high"):
        return None
    rows, of = _first(data, options)
    doc = rows.column("rank_low")
    together = re.search(r"\d+%", doc.doc) if doc else None
    sure = (rows.values("rank_low") == rows.values("rank_high")).tolist()
    return EstimateDots(
        rows,
        ("rank",),
        f"Ranks, and which each may have{of}",
        "rank, 1 is first",
        tuple(rows.text(rows.keys[0])),
        tuple(rows.text("verdict")),
        tuple(OWN if is_sure else REST for is_sure in sure),
        (
            rows.values("rank"),
            rows.values("rank_low"),
            rows.values("rank_high"),
            _nothing(rows),
        ),
        RANK,
        (
            f"Lines: the ranks that each may have; all of them hold together with "
            f"{together[0] if together else 'the level'}. Grey: more than one rank is possible.",
            _method(rows),
        ),
        own=tuple(rows.own().tolist()),
        rivals=tuple(rows.rivals().tolist()),
    )


def overlaps(data: PlotData, options: PlotOptions) -> EstimateDots | None:
    """Plan the overlaps of pairs beside their ceiling; None for other frames."""
    if not _has(data, options, "overlap", "jaccard", "ceiling", "gap"):
        return None
    rows, of = _first(data, options)
    names = [rows.text(name) for name in rows.keys[:2]]
    values, verdicts = rows.values("jaccard"), rows.text("verdict")
    return EstimateDots(
        rows,
        ("jaccard",),
        f"What two have in common, and what repeats of one have{of}",
        "Jaccard index",
        tuple(f"{a} and {b}" for a, b in zip(*names, strict=True)),
        tuple(
            f"{format_number(value, FRACTION)}  {verdict}"
            for value, verdict in zip(values, verdicts, strict=True)
        ),
        tuple(REST if verdict in _GREY else BAD for verdict in verdicts),
        (values, rows.values("jaccard_low"), rows.values("jaccard_high"), rows.values("ceiling")),
        FRACTION,
        (
            f"Lines: {_interval(rows, 'jaccard_low')} over prompts. Tick: the ceiling, two answers "
            "of one. Grey: not shown to differ from it, or nothing to hold it against.",
            _method(rows),
        ),
    )


def effects(data: PlotData, options: PlotOptions) -> EstimateDots | None:
    """Plan an effect and its checks; None for other frames."""
    if not _has(data, options, "effect", "kind", "change", "treated_before"):
        return None
    values, verdicts, unit = data.values("change"), data.text("verdict"), data.unit("change")
    colours = {"up": GOOD, "down": BAD, "differs": BAD}
    days = [f" of {day}" if day != BLANK else "" for day in data.text("on")]
    return EstimateDots(
        data,
        ("change",),
        "The effect, and what the days before show of it",
        "treated less control",
        tuple(f"{kind}{day}" for kind, day in zip(data.text("kind"), days, strict=True)),
        tuple(
            verdict if np.isnan(value) else f"{format_number(value, unit)}  {verdict}"
            for value, verdict in zip(values, verdicts, strict=True)
        ),
        tuple(colours.get(verdict, REST) for verdict in verdicts),
        (values, data.values("low"), data.values("high"), _nothing(data)),
        unit,
        (
            f"Lines: {_interval(data, 'low')}, clustered. Pre-trend and placebos use the days "
            "before alone; one that differs takes the verdict away. Grey: not shown to differ.",
            _method(data),
        ),
        around_zero=True,
    )


def agreement(data: PlotData, options: PlotOptions) -> EstimateDots | None:
    """Plan the agreement of repeats and their correlation; None for other frames."""
    if not _has(data, options, "stability", "agreement", "icc") or len(data) != 1:
        return None
    names = ("agreement", "icc")
    value, low, high = (
        np.array([data.values(f"{name}{end}")[0] for name in names])
        for end in ("", "_low", "_high")
    )
    return EstimateDots(
        data,
        names,
        "How alike the answers are when the same is asked again",
        "",
        ("pairs that agree", "intra-class correlation"),
        tuple(
            data.text("verdict")[0].partition(":")[0] if np.isnan(each) else f"{each:.2f}"
            for each in value
        ),
        (OWN, OWN),
        (value, low, high, np.full(2, np.nan)),
        None,
        (f"Lines: {_interval(data, 'agreement_low')}. {_method(data)}",),
    )


def concentration(data: PlotData, options: PlotOptions) -> EstimateDots | None:
    """Plan the effective numbers of groups; None for other frames."""
    if not _has(data, options, "concentration", "effective", "hhi"):
        return None
    rows, of = _first(data, options)
    groups = [rows.text(name) for name in rows.known.key if name in rows.kinds]
    labels = [" · ".join(each) for each in zip(*groups, strict=True)] if groups else ["all"]
    values, verdicts = rows.values("effective"), rows.text("verdict")
    return EstimateDots(
        rows,
        ("effective",),
        capitalized(f"effective number{_by(rows)}{of}"),
        "effective number: as many equal ones would be as concentrated",
        tuple(map(humanize, labels)) if groups else ("all",) * len(rows),
        tuple(
            verdict.partition(" (")[0] if np.isnan(value) else format_number(value)
            for value, verdict in zip(values, verdicts, strict=True)
        ),
        (OWN,) * len(rows),
        (values, rows.values("effective_low"), rows.values("effective_high"), _nothing(rows)),
        None,
        (
            f"Lines: {_interval(rows, 'effective_low')}, the least uncertainty there is: it takes "
            "each for independent.",
            _method(rows),
        ),
    )


def intervals(data: PlotData, options: PlotOptions) -> EstimateDots | None:
    """Plan intervals without the numbers that they are of; None for other frames."""
    stems = [name.removesuffix("_low") for name in data.numbers if name.endswith("_low")]
    ends = [f"{stem}_{end}" for stem in stems for end in ("low", "high")]
    chosen = options.x or options.y or options.by
    if chosen or len(stems) != 1 or {*data.numbers} != {*ends}:
        return None
    rows, of = _first(data, options)
    (low, high), unit = (rows.values(name) for name in ends), rows.unit(ends[0])
    names = [name for name in rows.keys if name not in ends]
    labels = [" · ".join(row) for row in zip(*map(rows.text, names), strict=True)]
    method = f"{stems[0]}_method"
    notes = (f"{capitalized(in_words(rows.text(method)[0]))}.",) if method in rows.kinds else ()
    return EstimateDots(
        rows,
        tuple(ends),
        capitalized(f"interval of {humanize(stems[0])}{of}"),
        humanize(stems[0]),
        tuple(labels) or tuple(f"row {at}" for at in range(len(rows))),
        tuple(
            "no interval"
            if np.isnan(a + b)
            else f"{format_number(a, unit)} to {format_number(b, unit)}"
            for a, b in zip(low, high, strict=True)
        ),
        (OWN,) * len(rows),
        (_nothing(rows), low, high, _nothing(rows)),
        unit,
        notes,
        own=tuple(rows.own().tolist()),
        rivals=tuple(rows.rivals().tolist()),
    )


def needed(data: PlotData, options: PlotOptions) -> EstimateDots | None:
    """Plan the answers that a margin takes, by runs of each prompt; None for other frames."""
    if not _has(data, options, "samples", "runs", "prompts", "answers", "margin"):
        return None
    margins = data.values("margin")
    answers, prompts = data.values("answers"), data.values("prompts")
    most = f" of ±{100 * np.nanmax(margins):.2g} pp" if (~np.isnan(margins)).any() else ""
    return EstimateDots(
        data,
        ("answers",),
        f"Answers that a margin{most} takes, by runs of each prompt",
        "answers in all",
        tuple("1 run" if runs == "1" else f"{runs} runs" for runs in data.text("runs")),
        tuple(
            verdict if np.isnan(n) else f"{format_number(n)} answers to {format_number(k)} prompts"
            for n, k, verdict in zip(answers, prompts, data.text("verdict"), strict=True)
        ),
        (OWN,) * len(data),
        (answers, np.where(np.isnan(answers), np.nan, 0.0), answers, _nothing(data)),
        None,
        ("More runs of one prompt take fewer prompts and more answers.",),
    )
