"""Escape text for HTML, and build elements."""

from __future__ import annotations

import html
import re

from aatoolkit._util.text import visible

_RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
"""Letters of scripts that are written from right to left."""


def text(words: object, most: int = 160) -> str:
    r"""Untrusted text, escaped, shortened, and isolated from the direction of its surroundings.

    Examples
    --------
    >>> text("<b>\u202e")
    '&lt;b&gt;\\u202e'
    """
    shown = visible(str(words))
    cut = f"{shown[: most - 1]}…" if len(shown) > most else shown
    escaped = html.escape(cut)
    return f"<bdi>{escaped}</bdi>" if _RIGHT_TO_LEFT.search(cut) else escaped


def element(name: str, inside: str, kind: str = "", **attributes: object) -> str:
    """An element around HTML.

    Examples
    --------
    >>> element("td", "1", "number", colspan=2)
    '<td class="number" colspan="2">1</td>'
    """
    given = {"class": kind} if kind else {}
    listed = {**given, **attributes}
    written = "".join(f' {key}="{html.escape(str(value))}"' for key, value in listed.items())
    return f"<{name}{written}>{inside}</{name}>"


def slug(name: str, at: int) -> str:
    """A name for an anchor; the number keeps it unique.

    Examples
    --------
    >>> slug("a b", 3)
    's3-a-b'
    """
    return f"s{at}-{re.sub(r'[^a-z0-9]+', '-', name.lower()).strip('-')[:40]}"
