"""What detection gives: signals and hints, each with its evidence; the envelope answers share."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from aatoolkit.availability import Availability, Condition
from aatoolkit.availability.subject import engine
from aatoolkit.jsontree.paths import Field, Step, format_path

_LONGEST_RAW = 500
"""Evidence longer than this is cut: it is there to be looked at, the answer itself is kept."""


@dataclass(frozen=True)
class Signal:
    """One thing an answer says about availability.

    Parameters
    ----------
    scope : str
        ``section``, ``field``, ``row`` or ``engine``.
    target : str or None
        The field's path, the row's path (``points[0]``) or the engine's id; None for the
        whole section.
    availability : Availability
        What it says.
    sample_size : int or None
        The observations behind it, where given.
    as_of : str or None
        The moment up to which it is complete, as given.
    path : str
        The JSON path of the evidence; ``status`` or ``header NAME`` for evidence outside the
        body.
    rule : str
        The name of the rule that read it.
    raw : str or None
        The evidence itself, as JSON text.
    rows : tuple of Condition
        The rows it is about, where it is about some only: those of its engine, or those after
        a day. A row's path is its target.
    """

    scope: str
    target: str | None
    availability: Availability
    sample_size: int | None
    as_of: str | None
    path: str
    rule: str
    raw: str | None = None
    rows: tuple[Condition, ...] = ()

    def __post_init__(self) -> None:
        if self.scope == "engine" and self.target is not None and not self.rows:
            object.__setattr__(self, "rows", engine(self.target))


@dataclass(frozen=True)
class Hint:
    """Something that may speak of availability and was not read.

    Parameters
    ----------
    path : str
        Its JSON path; ``header NAME`` for a header.
    value : str or None
        What is given there, as JSON text, cut where it is long.
    why : str
        Why it may speak of availability.
    """

    path: str
    value: str | None
    why: str


def raw(value: Any) -> str:
    """Evidence as JSON text, cut where it is long."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except RecursionError:
        text = "…"
    return text if len(text) <= _LONGEST_RAW else text[: _LONGEST_RAW - 1] + "…"


_DEEPEST = 8


def envelope_of(documents: Mapping[str, Any]) -> set[str]:
    """The paths that most sections have in common, though they share no schema.

    Parameters
    ----------
    documents : mapping of str to object
        The decoded answer of each section.

    Returns
    -------
    set of str
        Paths of fields outside lists, of more than half of at least three sections.

    Examples
    --------
    >>> bare = {name: {"meta": {"state": "x"}, name: []} for name in ("ads", "gaps", "urls")}
    >>> sorted(envelope_of(bare))
    ['meta', 'meta.state']
    """
    if len(documents) < 3:
        return set()
    counted = Counter(path for document in documents.values() for path in _paths(document))
    return {path for path, count in counted.items() if count * 2 > len(documents)}


def _paths(document: Any) -> Iterator[str]:
    waiting: list[tuple[tuple[Step, ...], Any]] = [((), document)]
    while waiting:
        steps, value = waiting.pop()
        if steps:
            yield format_path(steps)
        if isinstance(value, dict) and len(steps) < _DEEPEST:
            waiting += [((*steps, Field(name)), item) for name, item in value.items()]
