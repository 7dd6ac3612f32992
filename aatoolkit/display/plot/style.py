"""Colours, looks and markers, on light and dark paper; distinct in grey and for the colour-blind.

The colours are after M. Okabe and K. Ito, "Color universal design" (2008); those too pale for
white paper are darker. Hatched is what was not measured, hollow what was in part, and nothing
else is. An engine has one colour everywhere; own brands have the accent, competitors are grey.
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

    @property
    def key(self) -> str:
        """The name of its colour in a palette."""
        if self.look in (HATCHED, DOTTED, EMPTY):
            return "hatch"
        return f"{self.colour}/{self.look}" if self.look in _LIGHTER else self.colour

    def glyph(self, kind: str) -> str:
        """The sign of marks of a kind in a legend; another kind is a sign of its own."""
        if kind == "boxes":
            return {HATCHED: "▨", DOTTED: "▒", EMPTY: "□", "hollow": "□"}.get(self.look, "■")
        if kind == "line":
            return "━"
        if kind != "dots":
            return kind
        return "○" if self.look in ("hollow", "ring") else _GLYPHS.get(self.symbol, "●")


_LIGHTER = {"tint": 0.55, "pale": 0.28}
_GLYPHS = {"s": "■", "^": "▲", "D": "◆", "v": "▼", "P": "✚"}


SERIES = (
    Style("blue"),
    Style("orange", "s", (5, 2)),
    Style("green", "^", (1, 1)),
    Style("purple", "D", (5, 1, 1, 1)),
    Style("black", "v", (3, 1, 1, 1, 1, 1)),
    Style("sky", "P", (8, 2)),
)
"""The styles of series, in the order in which they are assigned."""

_ENGINES = ("chatgpt", "perplexity", "gemini", "claude", "copilot", "google-ai-overview")
"""Engines that have the same style in every picture, in the order of the series."""

OWN, REST, RIVAL = Style("blue"), Style("rest"), Style("rival", "D")
"""The project's own brand, all others, and a competitor."""

GOOD, WARNING, BAD = Style("green"), Style("amber", "^", (1, 1)), Style("orange", "s")
EVEN, NOTHING = Style("rest"), Style("rest", look="ring")
"""What states mean: good, to be looked at, bad, neither, and not known or not applicable."""

INK, MUTED = Style("ink", ""), Style("muted", "")
WITHOUT = (Style("lack", look=HATCHED), Style("lack", look=DOTTED), Style("lack", look=EMPTY))
UNMEASURED, NO_VALUE, NO_NUMBER = WITHOUT

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
    "rest": "#87939e",
    "rival": "#5f6c78",
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
    "rest": "#717d89",
    "rival": "#a3afba",
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
    ramp: tuple[str, ...]
    """The colours of cells, from the weakest to the strongest."""

    @classmethod
    def of(cls, is_dark: bool, chosen: Sequence[str] = (), **others: str) -> Palette:
        """The colours of light or dark paper; chosen ones take the place of the series'."""
        series = {style.colour: hexed for style, hexed in zip(SERIES, chosen, strict=False)}
        ramp = _RAMPS[is_dark]
        ramp = (ramp[0], chosen[0]) if chosen else ramp
        return cls({**(DARK if is_dark else LIGHT), **series, **others}, ramp)

    def __getitem__(self, name: str) -> str:
        """A colour by its name; ``blue/tint`` is a lighter one, ``ramp/0.5`` that of a cell."""
        name, _, part = name.partition("/")
        if name == "ramp":
            return along(self.ramp, float(part))
        colour = self.colours[name]
        return mixed(self.colours["paper"], colour, _LIGHTER[part]) if part else colour

    def word(self, style: Style, strength: Any, at: int) -> str:
        """The colour of a word: on a cell black or white, whichever can be read."""
        if strength is None:
            return self[style.key]
        return "#000000" if luminance(self[f"ramp/{float(strength[at])}"]) > 0.18 else "#fefefe"

    def box(self, style: Style) -> tuple[str, str, float]:
        """The face of a box, its edge or its hatch, and the edge's width in points."""
        if style.look in (HATCHED, DOTTED, EMPTY):
            return self["lack"], self["hatch"], 0.0
        if style.look in ("hollow", "ring"):
            return self["paper"], self[style.colour], 1.1
        return self[style.key], self["paper"], 0.6


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


def are_states(levels: Iterable[str]) -> bool:
    """Whether any level is a state."""
    return any(level in _STYLE_OF for level in levels)


def styles_for(
    levels: Iterable[str], *, states: bool = False, fixed: bool = True
) -> dict[str, Style]:
    """Choose a style for each level: by what states mean, in turn for others.

    With ``states`` even a single level is taken for a state; with ``fixed`` engines have their own.

    Examples
    --------
    >>> styles_for(["negative", "positive"])["positive"] == GOOD
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
            # Two states of one meaning differ by their shade.
            shades = [replace(style, look=look) for look in (style.look, *_LIGHTER)]
            chosen[level] = next((s for s in shades if s not in chosen.values()), style)
    engines = {engine: SERIES[at] for at, engine in enumerate(_ENGINES) if engine in listed}
    chosen = engines | chosen if fixed else chosen
    taken = {style.colour for style in chosen.values()}
    free = cycle([style for style in SERIES if style.colour not in taken] or SERIES)
    return {level: chosen.get(level) or next(free) for level in listed}
