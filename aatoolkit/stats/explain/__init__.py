"""Explain a number: trace a cell of a frame back to the bytes of the responses it came from.

The input is a frame, a row and a column. The output is an `Explanation`, a tree of numbers.
"""

# In reading order:
#
#   - explanation: `Explanation` and its parts, as text and as HTML
#   - responses: finds responses; explains the cells of their tables, and JSON paths
#   - cells: explains the cells of frames from methods of df.aa or plain pandas
#   - statistics: runs a statistic again and records how it computes its numbers
#   - explainer: `Explainer`, which makes a frame again, finds the row and checks its value

from aatoolkit.stats.explain.explainer import Explainer
from aatoolkit.stats.explain.explanation import (
    CitedResponse,
    Explanation,
    MissingRows,
    RowChoice,
    StatedAvailability,
    ValuePlace,
)

__all__ = [
    "CitedResponse",
    "Explainer",
    "Explanation",
    "MissingRows",
    "RowChoice",
    "StatedAvailability",
    "ValuePlace",
]
