"""Colours, hatches and markers that are distinct in grey and for the colour-blind.

The colours are after M. Okabe and K. Ito, "Color universal design" (2008); those that are too
pale for white paper are left out or made darker. Colour is never the only cue: each
comes with its own hatch, marker and dash.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any

from aatoolkit.display.plot.roles import BLANK

INK, MUTED, GRID, PAPER = "#1f2328", "#57606a", "#d8dee4", "#ffffff"
"""Text, secondary text, grid lines and background."""

UNMEASURED_FILL: Mapping[str, Any] = {
    "facecolor": "#f6f8fa",
    "edgecolor": "#7d8590",
    "hatch": "////",
    "linewidth": 0.0,
}
"""The fill of values that were not measured."""

NO_VALUE_FILL: Mapping[str, Any] = {**UNMEASURED_FILL, "hatch": "...."}
"""The fill of cells without a value of which nobody says why."""

NOTHING_FILL: Mapping[str, Any] = {**UNMEASURED_FILL, "hatch": ""}
"""The fill of what was measured and had no number, such as the place of who was not mentioned."""


@dataclass(frozen=True)
class SeriesStyle:
    """The style of one series: colour, hatch, marker and dash."""

    colour: str
    hatch: str
    marker: str
    dash: Any


SERIES = (
    SeriesStyle("#0072b2", "", "o", "-"),
    SeriesStyle("#d55e00", "\\\\\\\\", "s", (0, (5, 2))),
    SeriesStyle("#009e73", "||||", "^", (0, (1, 1))),
    SeriesStyle("#7d4f8e", "xxxx", "D", (0, (5, 1, 1, 1))),
    SeriesStyle("#24292f", "----", "v", (0, (3, 1, 1, 1, 1, 1))),
    SeriesStyle("#3b9ad9", "++++", "P", (0, (8, 2))),
)
"""The styles of series, in the order in which they are assigned."""

OWN, REST = SERIES[0], SeriesStyle("#a9b8c4", "", "o", "-")
"""The project's own brand, and all others."""

RIVAL = SeriesStyle("#6e7d8a", "", "D", "-")
"""A competitor."""

REST_LEVEL = "all others"
"""The level of what has no style of its own; services have levels named ``other``."""

GOOD, EVEN, BAD = SERIES[0], SeriesStyle("#c3ccd4", "", "o", "-"), SERIES[1]

_TONES = {
    GOOD: "positive passed ok improved allowed available accurate answered strong unique high yes",
    EVEN: "neutral unverified skipped no_detectable_change shared unknown medium too_early",
    BAD: "negative failed declined blocked unavailable inaccurate error missing low no",
}
_TONE = {word: style for style, words in _TONES.items() for word in words.split()}


def few_levels(words: Sequence[str], order: Sequence[str] = (), shown: Any = None) -> list[str]:
    """Levels that have a style each: the most frequent ones, and one for what remains.

    Parameters
    ----------
    words : sequence of str
        The level of each row.
    order : sequence of str
        The levels of several panels, which have to agree on what remains.
    shown : array of bool, optional
        The rows that count; by default all.
    """
    counted = list(order) or [w for at, w in enumerate(words) if shown is None or shown[at]]
    levels = [level for level, _ in Counter(counted).most_common()]
    kept = set(levels if len(levels) <= len(SERIES) else levels[: len(SERIES) - 1])
    return [word if word in kept else REST_LEVEL for word in words]


def styles_for(levels: Iterable[str]) -> dict[str, SeriesStyle]:
    """Choose a style for each level: fixed for good, neutral and bad ones, in turn for others.

    Examples
    --------
    >>> styles_for(["negative", "positive"])["positive"] is GOOD
    True
    """
    # What remains is named last.
    listed = sorted(dict.fromkeys(levels), key=lambda level: level in (REST_LEVEL, BLANK))
    toned = {_TONE[level]: level for level in reversed(listed) if level in _TONE}
    if len(toned) < 2:
        toned = {}
    given = {level: style for style, level in toned.items()}
    given |= {level: REST for level in (REST_LEVEL, BLANK) if level in listed}
    free = cycle(style for style in SERIES if style not in toned)
    return {level: given.get(level) or next(free) for level in listed}
