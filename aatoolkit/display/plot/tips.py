"""The words of a mark in the interactive form: number, interval, counts, availability."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from weakref import WeakKeyDictionary

import numpy as np
from matplotlib.artist import Artist

from aatoolkit.availability import Status
from aatoolkit.display.plot.labels import format_number, humanize
from aatoolkit.display.plot.roles import PlotData

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


def describe_mark(
    data: PlotData, name: str, row: int, label: str, ends: tuple[float, float] = (np.nan, np.nan)
) -> str:
    """Describe a mark, one line each: label, number, interval, counts and availability."""
    unit, value = data.units(name)[row], float(data.values(name)[row])
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
            number = float(data.values(count)[row])
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
