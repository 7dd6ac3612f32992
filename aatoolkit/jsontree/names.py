"""Names of tables and columns: readable, never ambiguous, and fit to be file names."""

from __future__ import annotations

import hashlib
import re

DOCUMENT = "$"
"""The table of the document itself."""

PARENT, PLACE, KEY, VALUE = "_parent", "_pos", "_key", "_value"
ITEMS, ENTRIES = "[]", "{}"
KIND = "@kind"

_LONGEST = 160
_OURS = frozenset((PARENT, PLACE, KEY, VALUE))
_SPECIAL = re.compile(r'[\x00-\x1f\x7f%.\[\]{}@~/\\:*?"<>|]')


def step(key: str) -> str:
    """Escape a key as one step of a name: characters with a meaning there become ``%2E``.

    Examples
    --------
    >>> step("engine"), step("a.b"), step(""), step("_parent")
    ('engine', 'a%2Eb', '%', '%5Fparent')
    """
    if key in _OURS:
        return f"%5F{key[1:]}"
    return _SPECIAL.sub(lambda found: f"%{ord(found[0]):02X}", key) or "%"


def field(record: str, key: str) -> str:
    """The name of a field of an object; the object itself may have none."""
    return f"{record}.{step(key)}" if record else step(key)


def table(parent: str, column: str, sign: str) -> str:
    """The full name of the table of what lies below a column.

    Examples
    --------
    >>> table("$", "chats", ITEMS), table("chats[]", "byEngine", ENTRIES)
    ('chats[]', 'chats[].byEngine{}')
    """
    above = "" if parent == DOCUMENT else parent
    return f"{above}.{column}{sign}" if above and column else f"{above}{column}{sign}"


def short(name: str) -> str:
    """A table's name; a long one is truncated, with a hash of the whole at its end."""
    if len(name.encode()) <= _LONGEST:
        return name
    return f"{name[:32]}~{hashlib.blake2b(name.encode(), digest_size=12).hexdigest()}"
