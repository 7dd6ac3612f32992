"""Estimates as dots with intervals: ranks, overlaps, effects, agreement, concentration."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes

from aatoolkit.display.plot import canvas
from aatoolkit.display.plot.labels import capitalized, format_number, humanize
from aatoolkit.display.plot.options import PlotOptions
from aatoolkit.display.plot.roles import Numbers, PlotData
from aatoolkit.display.plot.style import BAD, GOOD, OWN, REST, UNMEASURED_FILL, SeriesStyle
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

    @property
    def height(self) -> float:
        """The height in inches."""
        return 1.9 + 0.3 * max(len(self.labels), 3)

    @property
    def finding(self) -> str:
        """The main result in words, for the alternative text."""
        texts = [f"{a}: {b}" for a, b in zip(self.labels, self.words, strict=True)]
        more = f"; and {len(texts) - 8} more" if len(texts) > 8 else ""
        return "; ".join(texts[:8]) + more

    def draw(self, axes: Axes) -> list[str]:
        """Draw the dots and return the notes."""
        value, low, high, mark = self.columns
        everything = np.concatenate(self.columns)
        there = everything[~np.isnan(everything)]
        most = float(np.abs(there).max()) if len(there) else 1.0
        most = most or 1.0
        start, end = (-most * 1.08 if self.around_zero else 0.0), most * 1.04
        if self.unit == RANK:
            start, end = 0.5, most + 0.5
        if self.around_zero:
            axes.axvline(0, color=canvas.muted_colour(axes), linewidth=0.9)
        for row, (style, words) in enumerate(zip(self.styles, self.words, strict=True)):
            if np.isnan(value[row]):
                axes.barh(row, end - start, left=start, height=0.6, **UNMEASURED_FILL)
                self._note(axes, "not measured" if words == "cannot say" else words, start, row)
                continue
            axes.hlines(row, low[row], high[row], color=style.colour, linewidth=2)
            axes.plot(value[row], row, style.marker, color=style.colour, ms=7, zorder=3)
            if not np.isnan(mark[row]):
                colour = canvas.text_colour(axes)
                axes.vlines(mark[row], row - 0.28, row + 0.28, color=colour, linewidth=1.6)
            ends = [value[row], high[row], mark[row]]
            self._note(axes, words, float(np.nanmax(ends)), row)
        axes.set_xlim(start, end + (end - start) * 0.3)
        canvas.style_axes(axes, "x")
        canvas.row_labels(axes, list(self.labels), [False] * len(self.labels))
        canvas.label_axes(axes, self.axis)
        if self.unit == RANK:
            canvas.integer_axis(axes.xaxis)
        canvas.number_axis(axes.xaxis, self.unit, end)
        return list(self.notes)

    def _note(self, axes: Axes, words: str, end: float, row: int) -> None:
        boxed = np.isnan(self.columns[0][row])
        box = {"facecolor": "white", "edgecolor": "none", "pad": 1.0} if boxed else None
        colour = "black" if boxed else canvas.text_colour(axes)
        canvas.row_note(axes, words, end, row, gap=7, color=colour, bbox=box)


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
    method = next((each for each in data.text("method") if each != "(missing)"), "")
    return f"{capitalized(method)}." if method else ""


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
            f"{together[0] if together else 'the level'}. Grey: more than one.",
            _method(rows),
        ),
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
    days = [f" of {day}" if day != "(missing)" else "" for day in data.text("on")]
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
        f"As many equal ones would be as concentrated{of}",
        "effective number",
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
