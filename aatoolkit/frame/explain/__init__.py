"""Explain a number: from a cell of a frame back to the bytes of the answers it was made of.

In go a frame, a row and a column; out comes an `Explanation`, a tree. Nothing is computed until it
is asked for: a frame carries its recipe (`aatoolkit.metadata.recipe`), which is replayed over the
answers' bytes. In reading order:

- ``explanation``: `Explanation` and its parts; ``text``: as an indented tree; ``html``: with folds.
- ``explainer``: `Explainer`, which finds the row and checks that the replay gives its value.
- ``replay``: makes the frame again; ``made``: frames made again, and what plain pandas left of
  them; ``passing``: verbs that take cells over; ``aggregates``; ``statistics``; ``archived``.
- ``evidence``: finds answers by their hash, in memory, a study or an archive, and reads them again.
- ``rows``: which row of a replayed frame a row is.
- ``fields``: from the other side, a JSON path to the cells that hold it.
- ``missing``: which row is explained where none was named, and the causes of missing values.
- ``samples``: the sampled chats behind a number.
- ``cells``: a cell of an answer: its path, its bytes, the statements about it, why it is missing.
"""

from __future__ import annotations

from aatoolkit.frame.explain.explainer import Explainer
from aatoolkit.frame.explain.explanation import (
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
