"""The texts and colours of pictures: names and reasons in words, colours, fills and symbols.

The colours are after M. Okabe and K. Ito, "Color universal design" (2008), but darker where they
are too pale for a white background. Hatching means "not measured". Hollow dots mean "measured in
part", and hollow bars "does not apply". An engine has the same colour in all pictures, also one
that no list names.
An own brand is blue, and other brands beside it are grey.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import parse_qs
from zlib import crc32

import numpy as np
from matplotlib.colors import LinearSegmentedColormap, to_hex, to_rgb

from aatoolkit._util.defaults import ENGINES
from aatoolkit._util.text import capitalized, humanize
from aatoolkit.availability import Status
from aatoolkit.metadata.attrs import Source

Texts = Sequence[str]

BLANK = "(none)"
"""What pictures and reports write where a row has no value, such as a prompt without a topic."""

_LOOKS = json.loads(Path(__file__).with_name("looks.json").read_bytes())
"""What is chosen rather than computed:

- ``series``: the colour, matplotlib's symbol and the dashes of each series;
- ``glyphs``, ``plotly``: the glyph and plotly's name of each symbol;
- ``light``, ``dark``: the colours on light and on dark paper;
- ``ramps``: the colours of cells on both, from the weakest to the strongest;
- ``fills``, ``words``: the glyph of each fill, and the words of each status;
- ``states``: the style of each meaning, and the states that have this meaning.
"""

_LACKING = "hatched", "dotted", "empty"
"""The fills of marks: not measured; without a value; measured, but without a number."""
HATCHES = {"hatched": "////", "dotted": ".."}
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
            return str(_LOOKS["fills"][self.look])
        return "○" if self.look == "hollow" else _LOOKS["glyphs"].get(self.symbol, "●")


PLOTLY_SYMBOLS = _LOOKS["plotly"]
_STYLES = tuple(Style(colour, symbol, tuple(dash)) for colour, symbol, dash in _LOOKS["series"])
SERIES, _OTHER_ENGINES = _STYLES[: len(ENGINES)], _STYLES[len(ENGINES) :]
"""The styles of series, in the order in which they are assigned; and of unlisted engines."""
GREYS = tuple(replace(style, colour="rest") for style in SERIES)
"""The styles of other series beside an own brand."""

OWN, INK, MUTED = Style("blue"), Style("ink", ""), Style("muted")
UNMEASURED, NO_VALUE, NO_NUMBER = (Style("lack", look=look) for look in _LACKING)

_STATES = {
    Style(colour, symbol, tuple(dash), look): words
    for colour, symbol, dash, look, words in _LOOKS["states"]
}
GOOD, WARNING, BAD, REST, UNKNOWN, NOT_APPLICABLE = _STATES
"""The styles of states: good, a warning, bad, neutral (as brands beside the own one), unknown, and
not applicable."""
_STYLE_OF = {word: style for style, words in _STATES.items() for word in words}

STATUS_WORDS = {status: str(_LOOKS["words"][status]) for status in Status}
"""What pictures and reports write for each status."""

LIGHT, DARK = _LOOKS["light"], _LOOKS["dark"]


class Palette(dict[str, str]):
    """A dict of the colours of one picture, by name."""

    def __init__(self, is_dark: bool = False, **others: str) -> None:
        super().__init__(DARK if is_dark else LIGHT, **others)
        self.ramp = _LOOKS["ramps"][is_dark]
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


def styles_for(
    levels: Iterable[str], *, states: bool = False, engines: bool = False
) -> dict[str, Style]:
    """Return a dict from value to style; states have fixed colours, others colours in turn.

    With ``states``, even a single state, such as ``failed``, gets its fixed colour. With
    ``engines``, or if the name of one is known, the others are engines too.

    Examples
    --------
    >>> styles_for(["negative", "positive"])["positive"] == GOOD
    True
    """
    # "(none)" comes last.
    ordered = sorted(dict.fromkeys(levels), key=lambda level: level == BLANK)
    has_states = states or sum(_state_name(level) in _STYLE_OF for level in ordered) > 1
    engines |= any(map(engine_style, ordered))

    def candidates(level: str) -> Sequence[Style]:
        """Return the styles that a value may have; one that no other value has is preferred."""
        if engine := engine_style(level):
            return [engine]
        if has_states and (state := _STYLE_OF.get(_state_name(level))):
            # If two states have the same meaning, the second is hollow.
            return [state, replace(state, look="hollow")]
        if states or level == BLANK or level.startswith(("not ", "not_")):
            return [REST]
        # The name of an engine that no list names determines its colour.
        others = sorted(_OTHER_ENGINES, key=lambda style: crc32(f"{style.symbol}{level}".encode()))
        return [*others, *SERIES] if engines else SERIES

    styles: dict[str, Style] = {}
    for level in sorted(ordered, key=lambda level: len(candidates(level)) > 2):
        colours = [(style.colour, style.look) for style in styles.values()]
        styles[level] = min(
            candidates(level), key=lambda style: colours.count((style.colour, style.look))
        )
    return {level: styles[level] for level in ordered}


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
    fetched = fetch_time(source.fetched_at)[:16]
    stale_note = ", expired cache" if source.stale else ""
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
