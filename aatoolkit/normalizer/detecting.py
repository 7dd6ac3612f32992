"""What detection of availability is given of an answer, and hints at what it does not read.

Statements are looked for under every key, which takes far longer than to parse it. So what is
very long is shortened before: objects of thousands of keys, which are data, and the longest list.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from aatoolkit.availability.detect import Hint, Signal, raw
from aatoolkit.errors import AAToolkitError
from aatoolkit.jsontree import decode
from aatoolkit.jsontree.layout import MAX_FIELDS
from aatoolkit.jsontree.paths import Field, parse_pattern
from aatoolkit.jsontree.vectors import MISSING, Vector
from aatoolkit.normalizer.walk import FieldNode
from aatoolkit.payload import Payload
from aatoolkit.sections.section import Section

MANY_KEYS = 20_000
"""In answers of more keys the longest list is cut for detection, unless it is needed."""

_FIRST = 1000
"""How many elements of a very long list are looked at for statements."""

_WORDS = re.compile(
    "avail|stat[eu]|reason|error|fail|warn|messag|notice|note|hint|caveat|data|miss|connect|config"
    "|measur|partial|complet|incomplet|pending|sampl|suppress|withh|truncat|support|enabl|cause"
    "|quality|coverage|meta|problem|issue|limit|unknown|^[@_$]",
    re.I,
)
_SILENT = "empty without a reason: perhaps nothing was measured, so it is not read as zero"
_WHY = "the profile names this place as perhaps about availability, and no rule reads it"


def abridge(document: Any, node: FieldNode | None) -> Any:
    """Shorten each object of more than `MAX_FIELDS` keys; the document itself is not changed.

    Of the keys that no column is declared for, the first are read, and such as have a word in
    them that statements are known by.
    """
    if isinstance(document, list):
        each = None if node is None else node.each
        return [abridge(value, each) for value in document]
    if not isinstance(document, dict):
        return document
    fields: Mapping[str, FieldNode] = {} if node is None else node.fields
    keys = list(document)
    if len(keys) > MAX_FIELDS:
        others = [key for key in keys if key not in fields]
        first, rest = others[: MAX_FIELDS // 4], others[MAX_FIELDS // 4 :]
        keys = [*(fields.keys() & document), *first]
        keys += [key for key in rest if _WORDS.search(key)][: MAX_FIELDS // 4]
    entries = None if node is None else node.entries
    return {key: abridge(document[key], fields.get(key, entries)) for key in keys}


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


def watched_hints(section: Section, answer: Any, signals: list[Signal]) -> Iterator[Hint]:
    """Yield hints of the values at the watched paths; of many rows, the rarest value.

    Also where an answer without rows states nothing: it may not have been measured.
    """
    if not section.watched and not section.emptied:
        return
    try:
        document = answer.json if isinstance(answer, Payload) else decode.decode(answer)
    except AAToolkitError:
        document = None
    whole = Vector.of(document)
    is_silent = all(signal.rule == "options" for signal in signals)
    for path in section.emptied if is_silent else ():
        steps = parse_pattern(path) if path != "$" else ()
        value = whole.descend([step for step in steps if isinstance(step, Field)]).values[0]
        if value in (None, [], {}, MISSING):
            value = None if value is MISSING else value
            yield Hint("$" if path == "$" else f"$.{path}", raw(value), _SILENT)
    read = [signal.path for signal in signals if signal.path]
    for watched in section.watched:
        found = whole.descend(parse_pattern(watched))
        texts = {
            row: repr(value)
            for row, value in enumerate(found.values)
            if value is not MISSING and value not in (None, "", [], {})
        }
        counts = Counter(texts.values())
        rarest = min(texts, key=lambda row: counts[texts[row]], default=None)
        if rarest is not None:
            path = found.path(rarest)
            if not any(_touch(path, other) or _touch(other, path) for other in read):
                yield Hint(path, raw(found.values[rarest]), _WHY)


def _touch(path: str, above: str) -> bool:
    """Whether a path is another one, or below it."""
    return above != "$" and (path == above or path.startswith((f"{above}.", f"{above}[")))
