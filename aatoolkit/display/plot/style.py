"""The wording and the styles of pictures: plain words for names, and colours, fills and symbols.

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
from aatoolkit._util.text import capitalize, humanize
from aatoolkit.availability import Status
from aatoolkit.metadata.attrs import Source

Texts = Sequence[str]

NO_VALUE_TEXT = "(none)"
"""What pictures and reports write instead of a missing value, such as that of no topic."""

_STYLE_SETTINGS = json.loads(Path(__file__).with_name("looks.json").read_bytes())
"""The content of ``looks.json``:

- ``series``: for each series (line) of a chart its colour name, matplotlib symbol and dashes;
- ``glyphs``, ``plotly``: by matplotlib symbol, a Unicode character and the name in plotly;
- ``plotly_arguments``: two dicts, for the layout of plotly figures and for horizontal lines;
- ``light``, ``dark``: by colour name, the colour on a light or a dark background;
- ``ramps``: for a light and a dark background, the colours of heat maps, the weakest first;
- ``fills``: by fill, a Unicode character for the legend;
- ``words``: by availability status, how pictures say it;
- ``states``: styles of states, such as "good", each with all words that have this meaning.
"""

_MISSING_VALUE_FILLS = "hatched", "dotted", "empty"
"""The fills of marks without a number: not measured, no value given, and any other reason."""
HATCH_BY_FILL = {"hatched": "////", "dotted": ".."}
"""The hatch pattern of a fill in matplotlib; plotly uses only its first character."""


@dataclass(frozen=True)
class Style:
    """The style of marks (bars, dots or lines).

    - ``colour``: the name of a colour in a `Palette`.
    - ``symbol``: the matplotlib marker of dots.
    - ``dash``: the lengths of the dashes of lines and of the gaps between them.
    - ``fill``: ``solid``, ``hollow``, ``hatched``, ``dotted`` or ``empty``.
    """

    colour: str
    symbol: str = "o"
    dash: tuple[float, ...] = ()
    fill: str = "solid"

    @property
    def colour_key(self) -> str:
        """The name of the colour in a `Palette` with which marks of this style are drawn."""
        return "hatch" if self.fill in _MISSING_VALUE_FILLS else self.colour

    def glyph(self, kind: str) -> str:
        """Return the character that stands for this style in a legend.

        ``kind`` is the kind of mark, such as ``boxes`` or ``dots``.
        """
        if kind == "boxes":
            return str(_STYLE_SETTINGS["fills"][self.fill])
        return "○" if self.fill == "hollow" else _STYLE_SETTINGS["glyphs"].get(self.symbol, "●")


PLOTLY_NAME_BY_SYMBOL = _STYLE_SETTINGS["plotly"]
"""The plotly name of each matplotlib marker."""
PLOTLY_LAYOUT, PLOTLY_RULE = _STYLE_SETTINGS["plotly_arguments"]
"""Arguments for the layout of all plotly figures, and for horizontal lines in them."""
_ALL_SERIES_STYLES = tuple(
    Style(colour, symbol, tuple(dash)) for colour, symbol, dash in _STYLE_SETTINGS["series"]
)
SERIES_STYLES = _ALL_SERIES_STYLES[: len(ENGINES)]
"""The styles of series (lines) in the order in which they are assigned; also those of `ENGINES`."""
_OTHER_ENGINE_STYLES = _ALL_SERIES_STYLES[len(ENGINES) :]
"""The styles of engines (AI assistants) that are not in `ENGINES`."""
_CATEGORY_STYLES = (*SERIES_STYLES[::5], *SERIES_STYLES[4:0:-1])
"""The styles of other categories: green and orange, which mean good and bad, come last."""
GREY_STYLES = tuple(replace(style, colour="rest") for style in SERIES_STYLES)
"""The styles of series (lines) of other brands in a chart that has an own brand."""

OWN_STYLE = Style("blue")
"""The style of own brands and sites, and of all marks if a picture has no other brands."""
INK_STYLE = Style("ink", "")
MUTED_STYLE = Style("muted")
UNMEASURED_STYLE, NO_VALUE_STYLE, NO_NUMBER_STYLE = (
    Style("lack", fill=fill) for fill in _MISSING_VALUE_FILLS
)

_STATE_NAMES_BY_STYLE = {
    Style(colour, symbol, tuple(dash), fill): words
    for colour, symbol, dash, fill, words in _STYLE_SETTINGS["states"]
}
GOOD_STYLE, _, BAD_STYLE, NEUTRAL_STYLE, _, _ = _STATE_NAMES_BY_STYLE
"""The styles of states by their meaning.

`NEUTRAL_STYLE` is also that of other brands beside an own brand.
"""
_STYLE_BY_STATE = {word: style for style, words in _STATE_NAMES_BY_STYLE.items() for word in words}

WORDS_BY_STATUS = {status: str(_STYLE_SETTINGS["words"][status]) for status in Status}
"""How pictures and reports write each availability status."""

LIGHT_COLOURS = _STYLE_SETTINGS["light"]
DARK_COLOURS = _STYLE_SETTINGS["dark"]


class Palette(dict[str, str]):
    """A dict from the names of colours to the colours (hex codes) of one picture.

    The arguments after ``is_dark`` replace colours by name.
    """

    def __init__(self, is_dark: bool = False, **colour_overrides: str) -> None:
        super().__init__(DARK_COLOURS if is_dark else LIGHT_COLOURS, **colour_overrides)
        self.ramp = _STYLE_SETTINGS["ramps"][is_dark]
        """The colours of the cells of heat maps, from the weakest to the strongest."""

    def __missing__(self, name: str) -> str:
        """Compute a colour of a heat map, which is not stored in the dict.

        The name ``ramp/0.5`` is the background of a cell halfway along the colour ramp; ``on/0.5``
        is the colour of text on it.
        """
        name, _, strength = name.partition("/")
        if name == "on":
            return "#000000" if compute_luminance(self[f"ramp/{strength}"]) > 0.18 else "#fefefe"
        return to_hex(LinearSegmentedColormap.from_list("", self.ramp)(float(strength)))

    def mark_colours(
        self, style: Style, strength: Iterable[float] | None
    ) -> tuple[str | list[str], str, float]:
        """Return the fill colour, edge colour and edge width (in points) of boxes or dots.

        ``strength`` has for each box of a heat map how strong its colour is, from 0 to 1. For a
        heat map, the first result is a list with one fill colour per box.
        """
        if strength is not None:
            return [self[f"ramp/{box_strength}"] for box_strength in strength], self["paper"], 0.5
        if style.fill in _MISSING_VALUE_FILLS:
            return self["lack"], self["hatch"], 0.0
        if style.fill == "hollow":
            return self["paper"], self[style.colour_key], 1.2
        return self[style.colour_key], self["paper"], 0.6


def compute_luminance(colour: str) -> float:
    """Return the luminance of a colour, from 0 (black) to 1 (white)."""
    return float(np.dot(np.power(to_rgb(colour), 2.2), (0.2126, 0.7152, 0.0722)))


def _state_key(state_text: str) -> str:
    """Return the key of a text in the dict of known states: ``Not run`` becomes ``not_run``."""
    return state_text.lower().replace(" ", "_")


def are_states(texts: Iterable[str]) -> bool:
    """Return whether at least half of the texts are known states, such as ``passed``."""
    is_known_state = [_state_key(state_text) in _STYLE_BY_STATE for state_text in texts]
    return 2 * sum(is_known_state) >= max(len(is_known_state), 1)


def choose_styles(
    texts: Iterable[str], *, as_states: bool = False, as_engines: bool = False
) -> dict[str, Style]:
    """Return a dict from text to style.

    Texts that are states, such as ``failed``, have fixed colours if there are at least two of them,
    or one with ``as_states``. If at least one text is a known engine (AI assistant), or with
    ``as_engines``, all texts that are no states are engines, and the name of each determines its
    colour. Otherwise the colours of the palette are used in turn.

    Examples
    --------
    >>> choose_styles(["negative", "positive"])["positive"] == GOOD_STYLE
    True
    """
    # "(none)" comes last.
    ordered_texts = sorted(dict.fromkeys(texts), key=lambda text: text == NO_VALUE_TEXT)
    has_states = (
        as_states
        or sum(_state_key(category_text) in _STYLE_BY_STATE for category_text in ordered_texts) > 1
    )
    as_engines |= any(map(find_engine_style, ordered_texts))

    def candidate_styles(text: str) -> Sequence[Style]:
        """Return the styles that a text may have; a style that no other text has is preferred."""
        if known_engine_style := find_engine_style(text):
            return [known_engine_style]
        if has_states and (state_style := _STYLE_BY_STATE.get(_state_key(text))):
            # Of two states with the same meaning the second is hollow, but not beside its word.
            return (
                [state_style] if as_states else [state_style, replace(state_style, fill="hollow")]
            )
        if as_states or text == NO_VALUE_TEXT or text.startswith(("not ", "not_")):
            return [NEUTRAL_STYLE]
        # The name of an engine that no list names determines its colour.
        other_styles = sorted(
            _OTHER_ENGINE_STYLES, key=lambda style: crc32(f"{style.symbol}{text}".encode())
        )
        return [*other_styles, *SERIES_STYLES] if as_engines else _CATEGORY_STYLES

    style_by_text: dict[str, Style] = {}
    for category_text in sorted(ordered_texts, key=lambda text: len(candidate_styles(text)) > 2):
        used_colours_and_fills = [(style.colour, style.fill) for style in style_by_text.values()]
        style_by_text[category_text] = min(
            candidate_styles(category_text),
            key=lambda style: used_colours_and_fills.count((style.colour, style.fill)),
        )
    return {category_text: style_by_text[category_text] for category_text in ordered_texts}


def find_engine_style(name: str) -> Style | None:
    """Return the style of a known engine (AI assistant), the same in all pictures; else None."""
    slug = re.sub("[ _]", "-", f"-{name.lower()}").removesuffix("s")
    # A crawler such as ChatGPT-User is no engine.
    return next(
        (
            style
            for engine, style in zip(ENGINES, SERIES_STYLES, strict=True)
            if slug.endswith(f"-{engine}") or name.startswith(f"{engine}-")
        ),
        None,
    )


# --- words ------------------------------------------------------------------------------------

_IDENTIFIER_PATTERN = re.compile(
    r"(?<![\w/.“])(?:[a-z][a-z0-9]*(?:_[a-z0-9]+)+|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?![\w/])"
)


def humanize_identifiers(text: str) -> str:
    """Return a text in which names of columns and codes are written as plain words.

    Examples
    --------
    >>> humanize_identifiers("paired by prompt_id, of the mention_rate: TOO_FEW")
    'paired by prompt, of the mention rate: too few'
    """
    return _IDENTIFIER_PATTERN.sub(
        lambda match: humanize(match[0].lower().removesuffix("_id")), text
    )


def describe_sources(sources: tuple[Source, ...]) -> list[str]:
    """Return phrases for a caption: the host, section and fetch time of a response.

    ``sources`` are the API responses. For several responses, the phrases are only their number and
    hosts.
    """
    hosts = ", ".join(dict.fromkeys(source.host or "unknown host" for source in sources))
    if len(sources) != 1:
        return [f"{len(sources)} responses", hosts] if sources else ["Source unknown"]
    (source,) = sources
    fetched_minute = format_fetch_time(source.fetched_at)[:16]
    expired_note = ", expired cache" if source.stale else ""
    return [
        hosts,
        source.section or "",
        fetched_minute and f"fetched {fetched_minute} UTC{expired_note}",
    ]


def format_fetch_time(fetched_at: str | None) -> str:
    """Return an ISO 8601 time in the form ``2026-11-18 09:30:00``, or "" for None."""
    return (fetched_at or "")[:19].replace("T", " ")


def make_column_title(name: str) -> str:
    """Return the name of a column in plain words, as a heading.

    Examples
    --------
    >>> make_column_title("mention_rate"), make_column_title("action_id"), make_column_title("url")
    ('Mention rate', 'Action', 'URL')
    """
    return capitalize(humanize(re.sub("^(meta|totals|data|attributes)_|_id$", "", name) or name))


def describe_scope(scope_query: str | None) -> str:
    """Return a query string such as ``days=30&engine=x`` in words: ``last 30 days, engine x``."""
    filters = parse_qs(scope_query or "")
    window_phrases = [f"last {days} days" for days in filters.pop("days", [])[:1]]
    filter_phrases = [
        f"{name} {', '.join(filter_values)}" for name, filter_values in filters.items()
    ]
    return ", ".join(window_phrases + filter_phrases)


def describe_extent(
    count: int, total_count: int, noun: str = "", *, row_selection: str = "first"
) -> str:
    """Return a phrase that says how many of all rows or columns are drawn; "" if all are.

    ``row_selection`` says which of them are drawn, such as "first"; ``noun`` follows the numbers.

    Examples
    --------
    >>> describe_extent(15, 42, row_selection="last"), describe_extent(3, 3)
    ('the last 15 of 42', '')
    >>> describe_extent(3, 9, " columns")
    'the first 3 of 9 columns'
    """
    return f"the {row_selection} {count} of {total_count}{noun}" * (count < total_count)
