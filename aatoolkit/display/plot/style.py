"""The texts and colours of pictures: names and reasons in words, colours, fills and symbols.

The colours are after M. Okabe and K. Ito, "Color universal design" (2008), but darker where they
are too pale for a white background. Hatching means "not measured". Hollow dots mean "measured in
part", and hollow bars "does not apply". An engine has the same colour in all pictures.
An own brand is blue, and other brands beside it are grey.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from urllib.parse import parse_qs

import numpy as np
from matplotlib.colors import LinearSegmentedColormap, to_hex, to_rgb

from aatoolkit._util.defaults import ENGINES
from aatoolkit._util.text import capitalized, humanize
from aatoolkit.availability import Status
from aatoolkit.metadata.attrs import Source

Texts = Sequence[str]

BLANK = "(none)"
"""What pictures and reports write where a row has no value, such as a prompt without a topic."""

HATCHED, DOTTED, EMPTY = _LACKING = "hatched", "dotted", "empty"
"""The fills of marks: not measured; without a value; measured, but without a number."""
HATCHES = {HATCHED: "////", DOTTED: ".."}
"""How matplotlib names the hatches; plotly has the first letter only."""


@dataclass(frozen=True)
class Style:
    """The style of marks: a colour name, a symbol, a dash pattern, and a fill (``look``).

    A ``look`` is ``solid``, ``hollow``, ``hatched``, ``dotted`` or ``empty``.
    """

    colour: str
    symbol: str = "o"
    dash: tuple[float, ...] = ()
    look: str = "solid"

    @property
    def key(self) -> str:
        """The name of the colour in a `Palette`."""
        return "hatch" if self.look in _LACKING else self.colour

    def glyph(self, kind: str) -> str:
        """Return the character for this style in a legend; ``kind`` is, for example, ``dots``."""
        if kind == "boxes":
            return {HATCHED: "▨", DOTTED: "▒", EMPTY: "□", "hollow": "□"}.get(self.look, "■")
        return "○" if self.look == "hollow" else _GLYPHS.get(self.symbol, "●")


_SERIES = """
blue    o  ●  circle
orange  s  ■  square         5 2
green   ^  ▲  triangle-up    1 1
purple  D  ◆  diamond        5 1 1 1
black   v  ▼  triangle-down  3 1 1 1 1 1
sky     P  ✚  cross          8 2
"""
"""For each series the colour, matplotlib's symbol, its glyph, plotly's symbol, and the dashes."""

_LOOKS = [line.split() for line in _SERIES.strip().splitlines()]
_GLYPHS = {symbol: glyph for _, symbol, glyph, *_ in _LOOKS}
PLOTLY_SYMBOLS = {symbol: name for _, symbol, _, name, *_ in _LOOKS}
SERIES = tuple(Style(look[0], look[1], tuple(map(float, look[4:]))) for look in _LOOKS)
"""The styles of series, in the order in which they are assigned."""
GREYS = tuple(replace(style, colour="rest") for style in SERIES)
"""The styles of other series beside an own brand."""

OWN, REST = Style("blue"), Style("rest")
"""The project's own brand, and all others."""

GOOD, WARNING, BAD = Style("green"), Style("amber", "^", (1, 1)), Style("orange", "s")
UNKNOWN, NOT_APPLICABLE = Style("muted", "D"), Style("muted", look="hollow")
"""The styles of states: good, a warning, bad, unknown, and not applicable."""

INK, MUTED = Style("ink", ""), Style("muted")
UNMEASURED, NO_VALUE, NO_NUMBER = (Style("lack", look=look) for look in _LACKING)

STATUS_WORDS = {
    Status.AVAILABLE: "measured", Status.PARTIAL: "measured in part",
    Status.UNAVAILABLE: "not measured", Status.NOT_APPLICABLE: "not applicable",
    Status.UNKNOWN: "availability unknown",
}  # fmt: skip
"""What pictures and reports write for each status."""

_STATES = {
    GOOD: "positive passed ok improved allowed available accurate answered strong unique yes "
    "observed verified present active accepted connected valid healthy complete completed done "
    "exposed supported",
    WARNING: "warning partial limited refused truncated stale pending degraded mixed in_progress",
    BAD: "negative failed declined blocked unavailable inaccurate error missing no disallowed "
    "expired invalid disconnected",
    REST: "neutral unverified skipped no_detectable_change shared high medium low too_early empty "
    "none_observed open",
    UNKNOWN: "unknown not_checked not_run never_ran no_runs_yet",
    NOT_APPLICABLE: "not_applicable",
}
_STYLE_OF = {word: style for style, words in _STATES.items() for word in words.split()}

_COLOURS = """
ink     #1f2328  #e6edf3
muted   #57606a  #9da7b1
grid    #d8dee4  #30363d
paper   #ffffff  #0d1117
lack    #f6f8fa  #161b22
hatch   #7d8590  #8b949e
blue    #0072b2  #2f80c8
orange  #d55e00  #f0813a
green   #009e73  #33c29a
purple  #7d4f8e  #b98acb
black   #24292f  #e6edf3
sky     #3b9ad9  #8cc8f0
amber   #a87b00  #d9a514
rest    #87939e  #717d89
"""
"""Each colour on light paper, and on dark paper."""

_NAMES, *_PAPERS = zip(*map(str.split, _COLOURS.strip().splitlines()), strict=True)
LIGHT, DARK = (dict(zip(_NAMES, paper, strict=True)) for paper in _PAPERS)

_RAMPS = {
    False: ("#c6dcf0", "#9ecae1", "#6baed6", "#2171b5", "#08306b"),
    True: ("#1f4468", "#1d5f94", "#8cc8f0"),
}


class Palette(dict[str, str]):
    """A dict of the colours of one picture, by name."""

    def __init__(self, is_dark: bool = False, **others: str) -> None:
        super().__init__(DARK if is_dark else LIGHT, **others)
        self.ramp = _RAMPS[is_dark]
        """The colours of cells, from the weakest to the strongest."""

    def __missing__(self, name: str) -> str:
        """Compute a colour of heat maps that is not stored.

        The name ``ramp/0.5`` is the background of a cell halfway along the colour ramp; ``on/0.5``
        is the colour of text on it.
        """
        name, _, variant = name.partition("/")
        if name == "on":
            return "#000000" if luminance(self[f"ramp/{variant}"]) > 0.18 else "#fefefe"
        return to_hex(LinearSegmentedColormap.from_list("", self.ramp)(float(variant)))

    def boxes(
        self, style: Style, strength: Iterable[float] | None
    ) -> tuple[str | list[str], str, float]:
        """Return the fill colour, edge colour and edge width of boxes.

        With ``strength``, as for heat maps, there is one fill colour per box.
        """
        if strength is not None:
            return [self[f"ramp/{value}"] for value in strength], self["paper"], 0.5
        if style.look in _LACKING:
            return self["lack"], self["hatch"], 0.0
        if style.look == "hollow":
            return self["paper"], self[style.key], 1.2
        return self[style.key], self["paper"], 0.6


def luminance(colour: str) -> float:
    """Return the luminance of a colour, from 0 (black) to 1 (white)."""
    return float(np.dot(np.power(to_rgb(colour), 2.2), (0.2126, 0.7152, 0.0722)))


def _state_name(level: str) -> str:
    return level.lower().replace(" ", "_")


def are_states(levels: Iterable[str]) -> bool:
    """Return whether at least half of the values are states, such as ``passed``."""
    is_state = [_state_name(level) in _STYLE_OF for level in levels]
    return 2 * sum(is_state) >= max(len(is_state), 1)


def styles_for(levels: Iterable[str], *, states: bool = False) -> dict[str, Style]:
    """Return a dict from value to style; states have fixed colours, others colours in turn.

    With ``states``, even a single state, such as ``failed``, gets its fixed colour.

    Examples
    --------
    >>> styles_for(["negative", "positive"])["positive"] == GOOD
    True
    """
    # "(none)" comes last.
    ordered = sorted(dict.fromkeys(levels), key=lambda level: level == BLANK)
    state_levels = [level for level in ordered if _state_name(level) in _STYLE_OF]
    state_levels = state_levels if states or len(state_levels) > 1 else []
    engines = {name: style for name in ordered for style in [engine_style(name)] if style}
    styles = dict(engines)
    for level in state_levels:
        # If two states have the same meaning, the second is hollow.
        style = _STYLE_OF[_state_name(level)]
        styles[level] = replace(style, look="hollow") if style in styles.values() else style
    for level in ordered:
        if level == BLANK or level.startswith(("not ", "not_")):
            styles.setdefault(level, REST)
    used = {style.colour for style in styles.values()}
    unused = [style for style in SERIES if style.colour not in used] or SERIES
    # An engine without its own colour does not get the colour of another engine.
    remaining = cycle([REST] if states else GREYS if engines else unused)
    return {level: styles.get(level) or next(remaining) for level in ordered}


def engine_style(name: str) -> Style | None:
    """Return the style that an engine has in all pictures; None if ``name`` is no known engine."""
    engines, slug = zip(ENGINES, SERIES, strict=True), re.sub("[ _]", "-", f"-{name.lower()}")
    # A crawler such as ChatGPT-User is no engine.
    return next(
        (
            style
            for engine, style in engines
            if slug.endswith(f"-{engine}") or name.startswith(f"{engine}-")
        ),
        None,
    )


# --- words ------------------------------------------------------------------------------------

_COLUMN = re.compile(
    r"(?<![\w/.“])(?:[a-z][a-z0-9]*(?:_[a-z0-9]+)+|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?![\w/])"
)


def in_words(text: str) -> str:
    """Return a text in which words replace the names of columns and codes.

    Examples
    --------
    >>> in_words("paired by prompt_id, of the mention_rate: TOO_FEW")
    'paired by prompt, of the mention rate: too few'
    """
    return _COLUMN.sub(lambda match: humanize(match[0].lower().removesuffix("_id")), text)


def source_phrases(sources: tuple[Source, ...]) -> list[str]:
    """Return a frame's sources as phrases: host, section, and the time of the request."""
    hosts = ", ".join(dict.fromkeys(source.host or "unknown host" for source in sources))
    if len(sources) != 1:
        return [f"{len(sources)} responses", hosts] if sources else ["Source unknown"]
    (source,) = sources
    fetched, stale_note = fetch_time(source.fetched_at)[:16], ", expired cache" * bool(source.stale)
    return [hosts, source.section or "", fetched and f"fetched {fetched} UTC{stale_note}"]


def fetch_time(fetched_at: str | None) -> str:
    """Return an ISO time in the form ``2026-11-18 09:30:00``, or "" for None."""
    return (fetched_at or "")[:19].replace("T", " ")


def column_title(name: str) -> str:
    """Return the heading of a column in plain words.

    Examples
    --------
    >>> column_title("mention_rate"), column_title("action_id"), column_title("url")
    ('Mention rate', 'Action', 'URL')
    """
    return capitalized(humanize(re.sub("^(meta|totals|data|attributes)_|_id$", "", name) or name))


def describe_scope(query: str | None) -> str:
    """Return a query string such as ``days=30&engine=x`` in words: ``last 30 days, engine x``."""
    filters = parse_qs(query or "")
    window = [f"last {days} days" for days in filters.pop("days", [])[:1]]
    return ", ".join([*window, *(f"{name} {', '.join(texts)}" for name, texts in filters.items())])


def first_of(count: int, total: int, noun: str = "", *, which: str = "first") -> str:
    """Return a phrase that says how many of all rows or columns are drawn; "" if all are.

    Examples
    --------
    >>> first_of(3, 3), first_of(15, 42, which="last"), first_of(3, 9, " columns")
    ('', 'the last 15 of 42', 'the first 3 of 9 columns')
    """
    return f"the {which} {count} of {total}{noun}" * (count < total)
