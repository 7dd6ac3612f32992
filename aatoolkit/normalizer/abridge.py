"""Shorten what is very long in a document: objects of many keys, and its longest list.

Statements about availability are looked for under every key, which takes far longer
than to parse it. An object of thousands of keys is data: of those that no column is declared
for, the first are read, and such as have a word in them that statements are known by.
"""

from __future__ import annotations

import re
from typing import Any

from aatoolkit.jsontree.vectors import MAX_FIELDS
from aatoolkit.normalizer.field_map import FieldNode

_WORDS = re.compile(
    "avail|stat[eu]|reason|error|fail|warn|messag|notice|note|hint|caveat|data|miss|connect|config"
    "|measur|partial|complet|incomplet|pending|sampl|suppress|withh|truncat|support|enabl|cause"
    "|quality|coverage|meta|problem|issue|limit|unknown|^[@_$]",
    re.I,
)


def abridge(document: Any, layout: FieldNode | None) -> Any:
    """Shorten each object of more than `MAX_FIELDS` keys; the document itself is not changed.

    Parameters
    ----------
    document : object
        The decoded document.
    layout : FieldNode or None
        What is declared; declared fields are kept.
    """
    if isinstance(document, list):
        each = None if layout is None else layout.each
        return [abridge(one, each) for one in document]
    if not isinstance(document, dict):
        return document
    fields = {} if layout is None else layout.fields
    entries = None if layout is None else layout.entries
    if len(document) > MAX_FIELDS:
        document = {key: document[key] for key in _kept(document, fields)}
    return {key: abridge(value, fields.get(key, entries)) for key, value in document.items()}


def _kept(document: dict[str, Any], fields: dict[str, FieldNode]) -> list[str]:
    known: list[str] = []
    first: list[str] = []
    kept: list[str] = []
    for key in document:
        if key in fields:
            known.append(key)
        elif len(first) < MAX_FIELDS // 4:
            first.append(key)
        elif len(kept) < MAX_FIELDS // 4 and _WORDS.search(key):
            kept.append(key)
    return known + first + kept


_FIRST = 1000
"""How many elements of a very long list are looked at for statements."""


def longest_list(document: Any) -> tuple[str, ...]:
    """The fields that lead to the longest list that only objects enclose, if it is long."""
    longest: tuple[str, ...] = ()
    most = _FIRST
    waiting: list[tuple[tuple[str, ...], Any]] = [((), document)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, list) and len(value) > most:
            longest, most = path, len(value)
        elif isinstance(value, dict) and len(value) <= MAX_FIELDS:
            waiting += [((*path, key), inner) for key, inner in value.items()]
    return longest


def shortened(document: Any, path: tuple[str, ...]) -> Any:
    """Copy a document with no more than the first elements of the list at a path."""
    if not path:
        return document[:_FIRST]
    return {**document, path[0]: shortened(document[path[0]], path[1:])}
