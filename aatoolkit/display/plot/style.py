"""Colours, looks and markers, on light and dark paper; distinct in grey and for the colour-blind.

The colours are after M. Okabe and K. Ito, "Color universal design" (2008); those too pale for
white paper are darker. Hatched is what was not measured, and nothing else. Series differ by
colour, by marker and dash, and boxes by being solid, tinted or hollow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from typing import Any

BLANK = "(none)"
"""What pictures and reports write where a row has no value, such as a prompt without a topic."""

HATCHED, DOTTED, EMPTY = "hatched", "dotted", "empty"
"""The looks of what was not measured, has no value, and was measured and has no number."""

Dash = tuple[float, ...]


@dataclass(frozen=True)
class Style:
    """The style of marks: a colour's name, a marker, a dash, and the look of boxes."""

    colour: str
    symbol: str = "o"
    dash: Dash = ()
    look: str = "solid"


SERIES = (
    Style("blue"),
    Style("orange", "s", (5, 2), "tint"),
    Style("green", "^", (1, 1), "hollow"),
    Style("purple", "D", (5, 1, 1, 1)),
    Style("black", "v", (3, 1, 1, 1, 1, 1), "tint"),
    Style("sky", "P", (8, 2), "hollow"),
)
"""The styles of series, in the order in which they are assigned."""

OWN, REST, RIVAL = Style("blue"), Style("rest"), Style("rival", "D")
"""The project's own brand, all others, and a competitor."""

GOOD, WARNING, BAD = Style("blue"), Style("amber", "^", (1, 1), "tint"), Style("orange", "s")
EVEN, NOTHING = Style("even"), Style("even", "D", (1, 1), "hollow")
"""What states mean: good, to be looked at, bad, neither, and not known or not applicable."""

INK, MUTED = Style("ink"), Style("muted")
UNMEASURED, NO_VALUE, NO_NUMBER = (Style("lack", look=look) for look in (HATCHED, DOTTED, EMPTY))

REST_LEVEL = "all others"
"""The level of what has no style of its own; services have levels named ``other``."""

_STATES = {
    GOOD: "positive passed ok improved allowed available accurate answered strong unique high yes "
    "observed verified present active accepted connected valid healthy complete completed",
    WARNING: "warning partial limited refused truncated stale pending degraded mixed",
    BAD: "negative failed declined blocked unavailable inaccurate error missing no disallowed "
    "expired invalid disconnected",
    EVEN: "neutral unverified skipped no_detectable_change shared medium too_early empty low "
    "none_observed",
    NOTHING: "unknown not_applicable not_checked",
}
_STYLE_OF = {word: style for style, words in _STATES.items() for word in words.split()}
_LOOKS = ("solid", "tint", "hollow")

LIGHT: Mapping[str, str] = {
    "ink": "#1f2328",
    "muted": "#57606a",
    "grid": "#d8dee4",
    "paper": "#ffffff",
    "lack": "#f6f8fa",
    "hatch": "#7d8590",
    "blue": "#0072b2",
    "orange": "#d55e00",
    "green": "#009e73",
    "purple": "#7d4f8e",
    "black": "#24292f",
    "sky": "#3b9ad9",
    "amber": "#a87b00",
    "rest": "#a9b8c4",
    "rival": "#6e7d8a",
    "even": "#c3ccd4",
}
DARK: Mapping[str, str] = {
    "ink": "#e6edf3",
    "muted": "#9da7b1",
    "grid": "#30363d",
    "paper": "#0d1117",
    "lack": "#161b22",
    "hatch": "#8b949e",
    "blue": "#2f80c8",
    "orange": "#f0813a",
    "green": "#33c29a",
    "purple": "#b98acb",
    "black": "#e6edf3",
    "sky": "#8cc8f0",
    "amber": "#d9a514",
    "rest": "#66727e",
    "rival": "#8796a3",
    "even": "#4d5761",
}
"""Each colour on light paper, and on dark paper."""

_RAMPS = {
    False: ("#f7fbff", "#c6dbef", "#6baed6", "#2171b5", "#08306b"),
    True: ("#161f2b", "#1d5f94", "#8cc8f0"),
}


@dataclass(frozen=True)
class Palette:
    """The colours of one picture by name."""

    colours: Mapping[str, str]
    is_dark: bool = False

    @classmethod
    def of(cls, is_dark: bool, chosen: Sequence[str] = (), **others: str) -> Palette:
        """The colours of light or dark paper; chosen ones take the place of the series'."""
        series = {style.colour: hexed for style, hexed in zip(SERIES, chosen, strict=False)}
        return cls({**(DARK if is_dark else LIGHT), **series, **others}, is_dark)

    def __getitem__(self, name: str) -> str:
        return self.colours[name]

    def box(self, style: Style) -> tuple[str, str, float]:
        """The face of a box, its edge, and the edge's width in points."""
        if style.look in (HATCHED, DOTTED, EMPTY):
            return self["lack"], self["hatch"], 0.0
        colour = self[style.colour]
        if style.look == "solid":
            return colour, self["muted"], 0.5
        paper = self["paper"]
        return (mixed(paper, colour, 0.45) if style.look == "tint" else paper), colour, 1.1

    def ramp(self, is_rank: bool, colour: str | None = None) -> tuple[str, ...]:
        """The colours of cells, from the least to the most; the best rank is the strongest."""
        stops = _RAMPS[self.is_dark]
        stops = (stops[0], colour) if colour else stops
        return stops[::-1] if is_rank else stops


def mixed(one: str, other: str, share: float) -> str:
    """A colour between two others."""
    parts = zip(_parts(one), _parts(other), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in parts)


def along(ramp: Sequence[str], share: float) -> str:
    """The colour at a share of a ramp."""
    place = min(max(share, 0.0), 1.0) * (len(ramp) - 1)
    at = min(int(place), len(ramp) - 2)
    return mixed(ramp[at], ramp[at + 1], place - at)


def luminance(colour: str) -> float:
    """How light a colour is, from 0 to 1."""
    red, green, blue = (float((part / 255) ** 2.2) for part in _parts(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _parts(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


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


def styles_for(levels: Iterable[str], *, states: bool = False) -> dict[str, Style]:
    """Choose a style for each level: by what states mean, in turn for others.

    With ``states`` even a single level is taken for a state.

    Examples
    --------
    >>> styles_for(["negative", "positive"])["positive"] is GOOD
    True
    """
    # What remains is named last.
    listed = sorted(dict.fromkeys(levels), key=lambda level: level in (REST_LEVEL, BLANK))
    chosen = {level: REST for level in (REST_LEVEL, BLANK) if level in listed}
    chosen |= {level: EVEN for level in listed if level.startswith("not ")}
    meant = {level: _STYLE_OF[level] for level in listed if level in _STYLE_OF}
    if states and not meant:
        return dict.fromkeys(listed, REST)
    if len(meant) > 1 or states:
        for level, style in meant.items():
            # Two states of one meaning differ by their look.
            looks = [look for look in _LOOKS if replace(style, look=look) not in chosen.values()]
            first = style.look if style.look in looks else looks[0] if looks else style.look
            chosen[level] = style if first == style.look else replace(style, look=first)
    taken = {style.colour for style in chosen.values()}
    free = cycle([style for style in SERIES if style.colour not in taken] or SERIES)
    return {level: chosen.get(level) or next(free) for level in listed}
