"""Random documents made of availability's own vocabulary, nested in all shapes.

Random JSON hardly ever meets a rule of detection; documents made of its keys, words, signs and
engines meet all of them, in combinations that nobody thought of.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from aatoolkit.availability.detect import STATUS_AND_CAUSE_BY_TERM

NOUNS = (
    *("data", "dataset", "sample", "coverage", "availability", "status", "state", "quality"),
    *("tier", "engine", "engines", "field", "fields", "metric", "metrics", "source"),
    *("sources", "connection", "sentiment", "revenue", "after", "before", "visits", "score"),
    *("runs", "rows", "answers", "value", "total", "window", "section", "result"),
    *("error", "errors", "footnote", "note", "notes", "caveat", "warning", "notices"),
    *("legend", "codes", "conditions", "progress", "job", "import", "meta", "filters"),
    *("paging", "cursor", "availableSources", "gateway", "fieldStatus", "obs", "flag"),
)
ENDINGS = (
    *("Reason", "Status", "Available", "Note", "Code", "Count", "Flag", "Since"),
    *("Through", "Until", "Missing", "Supported", "Connected", "Type", "Value", "Values"),
    *("Map", "By_Engine"),
)
BEGINNINGS = (
    *("", "_", "@", "$", "has", "is", "no", "un", "missing", "partial", "low", "next", "last"),
)
WORDING = (
    *STATUS_AND_CAUSE_BY_TERM,
    *("n/a", "-", "Q", "M", "e", "*", "", "ok", "TRUE", "False", "Unknown", "red", "amber"),
    *("OBSERVATION_WINDOW_OPEN until 2026-12-01", "not connected", "GA4_NOT_CONNECTED"),
    *("Too few answers were collected.", "Engines gemini and grok did not run.", "12 of 30 days"),
    *("2026-11-19", "2026-11-20T06:00:00Z", "in_stock", "-99 means not measured", "K-anonymity"),
    *("chatgpt", "gemini", "revenue", "rows[0].visits", "$.totals", "a.b[", "]", '["', "7", "A"),
    *('<https://a.example/?page=2>; rel="next"', "items 0-9/100", 'partial; reason="x"'),
)
SCALARS = (None, True, False, 0, 1, -1, -99, 3.5, 40, 404, 200, 10**25, 1e308, -0.0)
HEADERS = (
    *("X-Data-Availability", "X-Engines-Missing", "Warning", "Content-Range", "Link", "X-Total"),
    *("X-Total-Count", "X-Data-Coverage", "X-Job-Status", "X-Sample-Size", "X-Partial"),
)

Choose = Callable[[tuple[Any, ...]], Any]


def key(choose: Choose) -> str:
    """A key of the vocabulary: a noun, often with what is said of it before or behind."""
    noun = choose(NOUNS)
    kind = choose((0, 0, 1, 2, 3, 4))
    if kind == 1:
        return f"{noun}{choose(ENDINGS)}"
    if kind == 2:
        return f"{choose(BEGINNINGS)}{noun.capitalize()}"
    if kind == 3:
        return str(choose(WORDING))
    return str(noun)


def document(choose: Choose, depth: int = 0) -> Any:
    """A document of the vocabulary: objects, records, maps, lists and words."""
    kind = choose(("object",) * 4 + ("records", "list", "word", "word", "scalar"))
    if depth > 4:
        kind = choose(("word", "scalar"))
    if kind == "object" or depth == 0:
        return {key(choose): document(choose, depth + 1) for _ in range(choose((0, 1, 2, 3, 4, 5)))}
    if kind == "records":
        names = [key(choose) for _ in range(choose((1, 2, 3)))]
        return [
            {name: document(choose, depth + 2) for name in names if choose((True, True, False))}
            for _ in range(choose((1, 2, 3)))
        ]
    if kind == "list":
        return [document(choose, depth + 1) for _ in range(choose((0, 1, 2, 3)))]
    return choose(WORDING) if kind == "word" else choose(SCALARS)


def headers(choose: Choose) -> dict[str, str]:
    """Response headers of the vocabulary."""
    return {choose(HEADERS): str(choose(WORDING)) for _ in range(choose((0, 0, 0, 1, 2)))}


def seeded(seed: int) -> Choose:
    """Choices that a seed decides."""
    return random.Random(seed).choice


@st.composite
def documents(draw: st.DrawFn) -> tuple[Any, dict[str, str]]:
    """Documents of the vocabulary with their headers."""
    choose = seeded(draw(st.integers(0, 2**48)))
    return document(choose), headers(choose)
