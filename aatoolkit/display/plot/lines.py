"""The course of a number: a line that breaks where nothing was measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import matplotlib.dates as mdates
import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from aatoolkit.display.plot import canvas
from aatoolkit.display.plot.bars import interval_of
from aatoolkit.display.plot.labels import axis, number, spoken, title
from aatoolkit.display.plot.options import Asked
from aatoolkit.display.plot.reduce import reduced
from aatoolkit.display.plot.roles import Numbers, Sheet
from aatoolkit.display.plot.style import MISSING, SERIES, Mark
from aatoolkit.sections.aggregation import FRACTION, RANK

FEW = 4
"""As many lines as are told apart at a glance; more make a heat map."""


@dataclass(frozen=True)
class Course:
    """One line: its name, its numbers along the picture's moments, its interval."""

    name: str
    values: Numbers
    low: Numbers
    high: Numbers


@dataclass(frozen=True)
class Lines:
    """Numbers over time, one line for each series."""

    sheet: Sheet
    x: str
    drawn: tuple[str, ...]
    by: str | None
    left_out: int
    moments: pd.DatetimeIndex
    courses: tuple[Course, ...]

    height = 3.7

    @property
    def y(self) -> str:
        """The number, or the first of several."""
        return self.drawn[0]

    @property
    def title(self) -> str:
        """What is drawn."""
        said = title(f"{', '.join(map(spoken, self.drawn))} by {spoken(self.x)}")
        if self.by:
            said += f" and {spoken(self.by)}"
        if self.left_out:
            said += f", {len(self.courses)} of {len(self.courses) + self.left_out}"
        return said

    @property
    def finding(self) -> str:
        """What the picture shows, in words."""
        unit = self.sheet.unit(self.y)
        said = []
        for course in self.courses:
            there = np.flatnonzero(~np.isnan(course.values))
            if not len(there):
                said.append(f"{course.name or spoken(self.y)} was not measured")
                continue
            first, last = course.values[there[0]], course.values[there[-1]]
            low, high = np.nanmin(course.values), np.nanmax(course.values)
            said.append(
                f"{course.name} from {number(first, unit)} to {number(last, unit)},"
                f" between {number(low, unit)} and {number(high, unit)}".strip()
            )
        gaps = int(self._gaps().sum())
        return "; ".join(said) + (
            f"; {gaps} of {len(self.moments)} moments not measured" if gaps else ""
        )

    def _gaps(self) -> npt.NDArray[np.bool_]:
        """The moments at which nothing was measured."""
        measured = np.zeros(len(self.moments), bool)
        for course in self.courses:
            measured |= ~np.isnan(course.values)
        return ~measured

    def draw(self, axes: Axes) -> list[str]:
        """Draw the lines; the notes that go with them."""
        unit, at = self.sheet.unit(self.y), mdates.date2num(self.moments)
        step = float(np.min(np.diff(at))) if len(at) > 1 else 1.0
        gaps = self._gaps()
        for first, last in _runs(gaps):
            axes.axvspan(at[first] - step / 2, at[last] + step / 2, **MISSING)
        for course, mark in zip(self.courses, SERIES, strict=False):
            self._line(axes, at, course, mark)
        axes.set_xlim(at[0] - step / 2, at[-1] + step / 2)
        self._scale(axes, unit)
        canvas.date_axis(axes, 8)
        axes.yaxis.set_major_formatter(lambda value, _: number(value, unit))
        canvas.frame(axes, "y")
        canvas.label_axes(axes, y=axis(self.sheet, self.y) if len(self.drawn) == 1 else "")
        handles: list[Any] = [
            Line2D([], [], color=m.colour, linestyle=m.dash, marker=m.marker, ms=4)
            for _, m in zip(self.courses, SERIES, strict=False)
        ]
        words = [course.name for course in self.courses]
        if len(self.courses) < 2:
            handles, words = [], []
        if gaps.any():
            handles.append(canvas.missing_patch())
            words.append("not measured")
        if handles:
            canvas.legend(axes, handles, words)
        notes = [self._samples()] if self._samples() else []
        if any((~np.isnan(course.low)).any() for course in self.courses):
            notes.append("Band: 95% interval of the rate.")
        return notes

    def _line(self, axes: Axes, at: Numbers, course: Course, mark: Mark) -> None:
        axes.plot(
            at,
            course.values,
            color=mark.colour,
            linestyle=mark.dash,
            linewidth=1.8,
            marker=mark.marker if len(at) <= 100 else "",
            markersize=4,
        )
        # A moment alone between two gaps has no line to show it, nor any width of band.
        axes.fill_between(at, course.low, course.high, color=mark.colour, alpha=0.16, linewidth=0)

    def _scale(self, axes: Axes, unit: str | None) -> None:
        values = np.concatenate([np.append(c.values, [c.low, c.high]) for c in self.courses])
        if np.isnan(values).all():
            axes.set_ylim(0, 1)
            axes.set_yticks([])
            return
        if unit == RANK:
            axes.set_ylim(float(np.nanmax(values)) + 0.5, 0.5)
            return
        least, most = float(min(np.nanmin(values), 0)), float(np.nanmax(values)) or 1.0
        most = min(most * 1.08, 1.0) if unit == FRACTION and most <= 1 else most * 1.08
        axes.set_ylim(least * 1.08, most)

    def _samples(self) -> str:
        name = self.sheet.sample(self.y)
        if name is None or self.sheet.unit(self.y) != FRACTION or self.sheet.varies_with(self.y):
            return ""
        found = self.sheet.values(name)
        found = found[found > 0]
        if not len(found):
            return ""
        each = "–".join(dict.fromkeys(number(float(n)) for n in (found.min(), found.max())))
        return f"Sample ({spoken(name)}): {each} each, {number(float(found.sum()))} in all."


def plan(sheet: Sheet, asked: Asked) -> Lines | None:
    """The course of the best number along the time in the key."""
    x = asked.x or next(iter(sheet.times), None)
    if x is None or sheet.kinds[x] != "time":
        return None
    others = [name for name in sheet.keys if name not in (*sheet.times, x)]
    by = asked.by or (others[0] if len(others) == 1 and not asked.x else None)
    ys = asked.y or tuple([*sheet.measures, *sheet.numbers][:1])
    if not ys or (by and len(ys) > 1) or len({sheet.unit(name) for name in ys}) > 1:
        return None
    names = sheet.text(by) if by else [""] * len(sheet)
    levels = list(dict.fromkeys(names))
    most = asked.top or (len(SERIES) if asked.kind else FEW)
    if len(levels) > most and not asked.kind:
        return None
    if asked.x or asked.by:
        sheet = reduced(sheet, [x, *([by] if by else [])], list(ys))
        names = sheet.text(by) if by else [""] * len(sheet)
    rows = pd.DataFrame({"at": sheet.moments(x), "name": names})
    moments = moments_between(rows["at"])
    if not len(moments):
        return None
    if by:
        courses = _of_series(sheet, ys[0], rows, moments, min(most, len(SERIES)))
    else:
        courses = [_course(sheet, name, rows, moments, spoken(name)) for name in ys[: len(SERIES)]]
    left_out = (len(levels) if by else len(ys)) - len(courses)
    return Lines(sheet, x, ys, by, left_out, moments, tuple(courses))


def _of_series(
    sheet: Sheet, y: str, rows: pd.DataFrame, moments: pd.DatetimeIndex, most: int
) -> list[Course]:
    """The series that matter most: the own brand's, then those with the largest numbers."""
    weights = pd.DataFrame({"name": rows["name"], "n": sheet.values(y), "own": sheet.own()})
    mean = weights.groupby("name", sort=False)["n"].mean()
    ranked = mean.sort_values(ascending=sheet.unit(y) == RANK, kind="stable", na_position="last")
    own = weights.loc[weights["own"], "name"].unique().tolist()
    chosen = list(dict.fromkeys([*own, *ranked.index]))[:most]
    return [
        _course(sheet.only(here), y, rows[here], moments, name)
        for name in chosen
        if (here := (rows["name"] == name).to_numpy()).any()
    ]


def _course(
    sheet: Sheet, y: str, rows: pd.DataFrame, moments: pd.DatetimeIndex, name: str
) -> Course:
    low, high = interval_of(sheet, y)
    frame = pd.DataFrame(
        {"values": sheet.values(y), "low": low, "high": high}, index=pd.Index(rows["at"])
    )
    frame = frame[frame.index.notna() & ~frame.index.duplicated()].reindex(moments)
    return Course(name, *(frame[part].to_numpy(np.float64) for part in frame))


def moments_between(moments: pd.Series) -> pd.DatetimeIndex:
    """Every moment from the first to the last, at the smallest step between two of them."""
    found = pd.DatetimeIndex(moments.dropna().unique()).sort_values()
    if len(found) < 3:
        return found
    step = (found[1:] - found[:-1]).min()
    whole = pd.date_range(found[0], found[-1], freq=step)
    return whole if found.isin(whole).all() and len(whole) <= 50 * len(found) else found


def _runs(mask: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """The first and last place of each run of true."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    return [(int(a), int(b) - 1) for a, b in zip(edges[::2], edges[1::2], strict=True)]
