"""Colours, hatches and markers that are distinct in grey and for the colour-blind.

The colours are after M. Okabe and K. Ito, "Color universal design" (2008); those that are too
pale for white paper are left out or made darker. Colour is never the only cue: each
comes with its own hatch, marker and dash.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import cycle
from typing import Any

INK, MUTED, GRID, PAPER = "#1f2328", "#57606a", "#d8dee4", "#ffffff"
"""Text, secondary text, grid lines and background."""

MISSING: Mapping[str, Any] = {
    "facecolor": "#f6f8fa",
    "edgecolor": "#7d8590",
    "hatch": "////",
    "linewidth": 0.0,
}
"""The fill of values that were not measured."""


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
    SeriesStyle("#1f2328", "----", "v", (0, (3, 1, 1, 1, 1, 1))),
    SeriesStyle("#3b9ad9", "++++", "P", (0, (8, 2))),
)
"""The styles of series, in the order in which they are assigned."""

OWN, REST = SERIES[0], SeriesStyle("#a9b8c4", "", "o", "-")
"""The project's own brand, and all others."""

GOOD, EVEN, BAD = SERIES[0], SeriesStyle("#c3ccd4", "", "o", "-"), SERIES[1]

_TONES = {
    GOOD: "positive passed ok improved allowed available accurate answered strong unique high yes",
    EVEN: "neutral unverified skipped no_detectable_change shared unknown medium too_early",
    BAD: "negative failed declined blocked unavailable inaccurate error missing low no",
}
_TONE = {word: style for style, words in _TONES.items() for word in words.split()}


def styles_for(levels: Iterable[str]) -> dict[str, SeriesStyle]:
    """A style for each level: fixed for good, neutral and bad levels, in turn for the others.

    Examples
    --------
    >>> styles_for(["negative", "positive"])["positive"] is GOOD
    True
    """
    listed = list(dict.fromkeys(levels))
    toned = {_TONE[level]: level for level in reversed(listed) if level in _TONE}
    if len(toned) < 2:
        toned = {}
    given = {level: style for style, level in toned.items()}
    free = cycle(style for style in SERIES if style not in toned)
    return {level: given.get(level) or next(free) for level in listed}
