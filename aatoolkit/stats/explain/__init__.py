"""Explain a number: from a cell of a frame back to the bytes of the answers it was made of.

In go a frame, a row and a column; out comes an `Explanation`, a tree. Nothing is computed until it
is asked for. In reading order:

- ``explanation``: `Explanation` and its parts, as text and as HTML;
- ``answers``: finds answers and explains the cells of their tables, and the cells at a JSON path;
- ``results``: explains the cells of what verbs and plain pandas made of them;
- ``traced``: explains the results of statistics, which run once more on traced numbers;
- ``explainer``: `Explainer`, which makes a frame again, finds the row and checks its value.
"""

from __future__ import annotations

from aatoolkit.stats.explain.explainer import Explainer
from aatoolkit.stats.explain.explanation import (
    CitedAnswer,
    Explanation,
    MissingRows,
    StatedAvailability,
    ValuePlace,
)

__all__ = [
    "CitedAnswer",
    "Explainer",
    "Explanation",
    "MissingRows",
    "StatedAvailability",
    "ValuePlace",
]
