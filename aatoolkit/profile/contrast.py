"""Compare answers of sections, and of scopes without data, at the same paths.

Sections that state their condition alike, and answers in which nothing was measured beside those
in which something was.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from aatoolkit.availability.detect import detect
from aatoolkit.availability.detect.words import is_echo
from aatoolkit.jsontree.paths import Each, Entries, Field, Step, format_path
from aatoolkit.sections.inference.relations import Relation

_SHARED, _FEW_WORDS = 3, 6
_WORD = re.compile(r"[A-Za-z][A-Za-z]*(?:[_ -][A-Za-z]+){0,3}")


def emptied(relations: Sequence[Relation], document: Any, empty: Any) -> tuple[str, ...]:
    """The path of a section's rows, if they are missing where nothing was measured, unexplained.

    An answer that is empty there may be one in which nothing was found, or nothing measured.

    Parameters
    ----------
    relations : sequence of Relation
        The section's tables, the main one first.
    document, empty : object
        The decoded answer, and that in which nothing was measured; None where there is none.

    Returns
    -------
    tuple of str
        The path, or ``$`` for the answer itself; nothing where the service says why.
    """
    if empty is None or not relations or detect(empty).signals:
        return ()
    path: list[Step] = []
    for step in relations[0].steps:
        if isinstance(step, Each | Entries):
            break
        path.append(step)
    there, here = value_at(document, tuple(path)), value_at(empty, tuple(path))
    if there in (None, [], {}) or here not in (None, [], {}):
        return ()
    return (format_path(tuple(path)) if path else "$",)


def shared_states(documents: Mapping[str, Any]) -> dict[tuple[Step, ...], set[str]]:
    """The paths outside rows that several sections share, with the different words there.

    Examples
    --------
    >>> q = [{"q": {"code": word}} for word in ("OK", "OK", "DEGRADED")]
    >>> {format_path(at): sorted(words) for at, words in shared_states(dict(enumerate(q))).items()}
    {'q.code': ['DEGRADED', 'OK']}
    """
    seen: dict[tuple[Step, ...], list[str]] = {}
    for document in documents.values():
        for path, value in _words(document, ()):
            seen.setdefault(path, []).append(value)
    return {
        path: set(words)
        for path, words in seen.items()
        if len(words) >= _SHARED
        and 1 < len(set(words)) <= _FEW_WORDS
        and len(set(words)) < len(words)
    }


def _words(value: Any, path: tuple[Step, ...]) -> Iterator[tuple[tuple[Step, ...], str]]:
    if isinstance(value, dict) and len(path) <= 3 and len(value) <= 100:
        for key, one in value.items():
            if isinstance(key, str) and not is_echo(key):
                yield from _words(one, (*path, Field(key)))
    elif isinstance(value, str) and is_state(value):
        yield path, value


def is_state(value: Any) -> bool:
    """Whether a value may name a state: a flag, nothing, or one word in letters."""
    return (
        value is None
        or isinstance(value, bool)
        or (isinstance(value, str) and _WORD.fullmatch(value) is not None)
    )


def value_at(document: Any, path: tuple[Step, ...]) -> Any:
    """Return the value at a path of fields; None where there is none."""
    for step in path:
        if not isinstance(step, Field) or not isinstance(document, dict):
            return None
        document = document.get(step.name)
    return document
