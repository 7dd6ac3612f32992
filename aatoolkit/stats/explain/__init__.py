"""Explain a number: from a cell of a frame back to the bytes of the responses it was made of.

In go a frame, a row and a column; out comes an `Explanation`, a tree. Nothing is computed until it
is asked for. In reading order:

- ``explanation``: `Explanation` and its parts, as text and as HTML;
- ``responses``: finds responses, explains the cells of their tables and those at a JSON path;
- ``cells``: explains the cells of what verbs and plain pandas made of them;
- ``statistics``: explains the results of statistics by what they record when they run once more;
- ``explainer``: `Explainer`, which makes a frame again, finds the row and checks its value.
"""

from aatoolkit.stats.explain.explainer import Explainer
from aatoolkit.stats.explain.explanation import (
    CitedResponse,
    Explanation,
    MissingRows,
    StatedAvailability,
    ValuePlace,
)

__all__ = [
    "CitedResponse",
    "Explainer",
    "Explanation",
    "MissingRows",
    "StatedAvailability",
    "ValuePlace",
]
