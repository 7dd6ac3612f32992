"""What most sections share: the envelope, found by comparing answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from aatoolkit.jsontree.paths import Field, Step, format_path

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
