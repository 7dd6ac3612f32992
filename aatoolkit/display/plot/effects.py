"""Comparisons as dots with intervals, and the parts of a change as a waterfall."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from aatoolkit.display.plot import canvas, fonts
from aatoolkit.display.plot.estimates import EstimateDots
from aatoolkit.display.plot.labels import (
    capitalized,
    format_number,
    format_signed,
    humanize,
    in_words,
)
from aatoolkit.display.plot.options import PlotOptions
from aatoolkit.display.plot.roles import BLANK, PlotData
from aatoolkit.display.plot.style import BAD, GOOD, MUTED, REST, UNMEASURED_FILL, SeriesStyle
from aatoolkit.sections.aggregation import COUNT, FRACTION, FRACTION_CHANGE, RANK, SCORE

_COMPARED = ("measure", "change", "low", "high", "verdict", "method")
_PARTS = ("part", "effect", "low", "high", "verdict", "method")
_SHOWN = ("up", "down")


@dataclass(frozen=True)
class ChangeDots(EstimateDots):
    """One dot a comparison with its interval; what is not shown to differ is grey."""

    @property
    def finding(self) -> str:
        """The main result in words, for the alternative text."""
        verdicts = self.data.text("verdict")
        sure = [
            f"{label} {words}"
            for label, words, verdict in zip(self.labels, self.words, verdicts, strict=True)
            if verdict in _SHOWN
        ]
        counts = [
            f"{verdicts.count(word)} {word}"
            for word in ("no evidence", "cannot say")
            if word in verdicts
        ]
        return "; ".join([*(sure or ["nothing is shown to have changed"]), *counts])


@dataclass(frozen=True)
class Waterfall:
    """The parts of a change, each beginning where the one before ends."""

    data: PlotData

    @property
    def drawn(self) -> tuple[str, ...]:
        """The columns that are drawn."""
        return ("effect",)

    @property
    def height(self) -> float:
        """The height in inches."""
        return 3.4

    @property
    def title(self) -> str:
        """The title."""
        return "Why it moved: other answers, or other questions"

    @property
    def finding(self) -> str:
        """The main result in words, for the alternative text."""
        unit = self.data.unit("effect")
        return "; ".join(
            f"{part} {format_number(value, unit)}"
            for part, value in zip(self.data.text("part"), self.data.values("effect"), strict=True)
        )

    def draw(self, axes: Axes) -> list[str]:
        """Draw the parts and return the notes."""
        parts, unit = self.data.text("part"), self.data.unit("effect")
        values = self.data.values("effect")
        low, high = (self.data.values(name) for name in ("low", "high"))
        start = 0.0
        for row, (part, value) in enumerate(zip(parts, values, strict=True)):
            if np.isnan(value):
                axes.barh(row, 1.0, height=0.6, **UNMEASURED_FILL)
                continue
            left = 0.0 if part == "total" else start
            style = REST if part == "total" else GOOD if value > 0 else BAD
            face: dict[str, Any] = {"color": style.colour, "hatch": style.hatch, "edgecolor": MUTED}
            axes.barh(row, value, left=left, height=0.6, linewidth=0.6, **face)
            if not np.isnan(low[row] + high[row]):
                axes.hlines(row, left + low[row], left + high[row], color=MUTED, linewidth=1.4)
            ends = [left, left + value, left + np.nan_to_num(high[row], nan=value)]
            axes.annotate(
                format_number(value, unit),
                (max(ends), row),
                xytext=(6, 0),
                textcoords="offset points",
                va="center",
                **fonts.literal_text(fontsize=9, color=canvas.text_colour(axes)),
            )
            start = left + value if part != "total" else start
        axes.axvline(0, color=canvas.muted_colour(axes), linewidth=0.9)
        axes.margins(x=0.2)
        canvas.style_axes(axes, "x")
        canvas.row_labels(axes, [capitalized(part) for part in parts], [False] * len(parts))
        canvas.label_axes(axes, "contribution to the change")
        canvas.number_axis(axes.xaxis, unit)
        method = in_words(self.data.text("method")[0])
        sure = not np.isnan(low[0])
        return [f"Whisker: interval of the rate alone. {method}."] if sure else [f"{method}."]


def comparison(data: PlotData, options: PlotOptions) -> ChangeDots | None:
    """Plan the changes of a comparison, those in one unit; None for other frames."""
    if not is_comparison(data, options):
        return None
    most = options.top or 20
    listed, groups = len(data), units_apart(data)
    common = Counter(groups).most_common(1)[0][0]
    data = _of(data, np.array(groups) == common)
    rows = _of(data, np.arange(len(data)) < most)
    verdicts, units = rows.text("verdict"), _units(rows)
    decided = np.array([verdict != "cannot say" for verdict in verdicts])
    unit = next((u for u, is_decided in zip(units, decided, strict=True) if is_decided), None)
    columns = [np.where(decided, rows.values(each), np.nan) for each in ("change", "low", "high")]
    method = next((words for words in rows.text("method") if words not in ("", BLANK)), "")
    doc = rows.column("low")
    which = doc.doc.split(" of the change")[0].removeprefix("Lower end of the ") if doc else ""
    method = f" {capitalized(in_words(method))}." if method else ""
    notes = [f"Lines: {which} of each change alone.{method}" if which else method.strip()]
    notes.append("Grey: not shown to differ after correction. Band without a dot: cannot be said.")
    notes = [note for note in notes if note]
    if listed > len(data):
        others = f"{listed - len(data)} of {listed} changes are in other units"
        notes.append(f"{others} and not drawn here.")
    left_out = f", the first {len(rows)} of {len(data)}" if len(data) > len(rows) else ""
    return ChangeDots(
        rows,
        ("change",),
        _title(rows) + left_out,
        _along(rows, unit),
        tuple(_labels(rows)),
        tuple(map(_words, rows.values("change"), units, verdicts)),
        tuple(_style(verdict, unit) for verdict, unit in zip(verdicts, units, strict=True)),
        (columns[0], columns[1], columns[2], np.full(len(rows), np.nan)),
        FRACTION_CHANGE if unit == FRACTION else None,
        tuple(notes),
        around_zero=True,
        own=tuple(_own(rows, 0).tolist()),
        rivals=tuple(_own(rows, 1).tolist()),
    )


def _of(data: PlotData, rows: npt.NDArray[np.bool_]) -> PlotData:
    """Some of the rows, numbered anew."""
    return PlotData(data.frame.loc[rows].reset_index(drop=True), data.known)


def is_comparison(data: PlotData, options: PlotOptions) -> bool:
    """Whether a frame is the result of a comparison, and no columns were chosen."""
    chosen = options.x or options.y or options.by
    return len(data) > 0 and not chosen and all(name in data.kinds for name in _COMPARED)


def units_apart(data: PlotData) -> list[str]:
    """Of each change the unit in which it is drawn; what cannot be said has no scale of its own."""
    units = [unit or "" for unit in _units(data)]
    decided = Counter(
        unit
        for unit, verdict in zip(units, data.text("verdict"), strict=True)
        if verdict != "cannot say"
    )
    common = next(iter(decided or units))
    common = decided.most_common(1)[0][0] if decided else common
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


def _title(data: PlotData) -> str:
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
        {*data.text(name)} if name in data.kinds else set()
        for name in ("after_host", "before_host")
    ]
    named = [side.pop() for side in sides if len(side) == 1]
    label = f"{named[0]} less {named[1]}" if len(named) == 2 else "change"
    return label + (", lower is better" if unit == RANK else "")


def _labels(data: PlotData) -> list[str]:
    """The label of each row: what is compared, unless the title says it of all."""
    several = len(_measures(data)) > 1
    others = [data.text(name) for name in data.keys if name != "measure"]
    labels = []
    for measure, *rest in zip(data.text("measure"), *others, strict=True):
        # A key figure is named after its metric, which then stands there once.
        more = [word for word in rest if word not in (BLANK, measure)]
        labels.append(" · ".join([humanize(measure), *more] if several or not more else more))
    return labels


def _words(change: float, unit: str | None, verdict: str) -> str:
    if verdict == "cannot say":
        return verdict
    worth = ""
    if unit == RANK and verdict in _SHOWN:
        worth = ", which is worse" if verdict == "up" else ", which is better"
    return f"{format_signed(change, unit)}  {verdict}{worth}"


def _style(verdict: str, unit: str | None) -> SeriesStyle:
    """Blue for better and orange for worse; of positions the lower is better."""
    if verdict not in _SHOWN:
        return REST
    return GOOD if (verdict == "up") != (unit == RANK) else BAD


def _own(data: PlotData, side: int) -> npt.NDArray[np.bool_]:
    """Mask of the rows of the own brand or site, or of a competitor's."""
    found = data.own() if side == 0 else data.rivals()
    if {"subject", "name"} <= data.kinds.keys():
        for at, (subject, name) in enumerate(
            zip(data.text("subject"), data.text("name"), strict=True)
        ):
            found[at] |= name in data.owners.get(subject, (frozenset(), frozenset()))[side]
    return found


def waterfall(data: PlotData, options: PlotOptions) -> Waterfall | None:
    """Plan the parts of a decomposition; None for other frames."""
    if options.x or options.y or options.by or not all(name in data.kinds for name in _PARTS):
        return None
    return Waterfall(data)
