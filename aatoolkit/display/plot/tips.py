"""The words of a mark in the interactive form: number, interval, counts, availability."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from weakref import WeakKeyDictionary

import numpy as np
from matplotlib.artist import Artist

from aatoolkit.availability import Status
from aatoolkit.display.plot.labels import format_number, humanize
from aatoolkit.display.plot.roles import Numbers, PlotData

_NUMBERS: WeakKeyDictionary[PlotData, dict[str, Numbers]] = WeakKeyDictionary()
"""The measured numbers of columns, taken once for all marks."""

_TIPS: WeakKeyDictionary[Artist, Callable[[], Sequence[str]]] = WeakKeyDictionary()


def set_tips(artist: Artist, words: Callable[[], Sequence[str]]) -> None:
    """Set the words of an artist: one for each of its points or cells, or one for all.

    They are computed when they are read: a picture that is not interactive needs none.
    """
    _TIPS[artist] = words


def tips_of(artist: Artist) -> list[str]:
    """Return the words of an artist; empty if it has none."""
    words = _TIPS.get(artist)
    return list(words()) if words else []


def _number(data: PlotData, name: str, row: int) -> float:
    numbers = _NUMBERS.setdefault(data, {})
    if name not in numbers:
        numbers[name] = data.values(name)
    return float(numbers[name][row])


def describe_mark(
    data: PlotData, name: str, row: int, label: str, ends: tuple[float, float] = (np.nan, np.nan)
) -> str:
    """Describe a mark, one line each: label, number, interval, counts and availability."""
    per_row = data.unit_column(name) is not None
    unit = data.units(name)[row] if per_row else data.unit(name)
    value = _number(data, name, row)
    lines = [label] if label else []
    if np.isnan(value):
        lines.append(f"{humanize(name)}: no number")
    else:
        lines.append(f"{humanize(name)}: {format_number(value, unit)}")
    if not np.isnan(sum(ends)):
        low, high = (format_number(end, unit) for end in ends)
        lines.append(f"interval: {low} to {high}")
    rule, sample = data.rule(name), data.sample(name)
    counts = dict.fromkeys([*((rule.over or ()) if rule else ()), *([sample] if sample else [])])
    for count in counts:
        if count in data.kinds and count != name:
            number = _number(data, count, row)
            words = "not measured" if np.isnan(number) else format_number(number)
            lines.append(f"{humanize(count)}: {words}")
    cells = data.cells(name)
    state = cells.states[int(cells.codes[row])]
    if not data.is_known:
        lines.append("availability unknown")
    elif state.status != Status.AVAILABLE or np.isnan(value):
        lines.append(str(state))
    else:
        lines.append("measured")
    return "\n".join(lines)
