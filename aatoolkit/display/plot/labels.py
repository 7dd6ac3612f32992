"""Names, reasons and sources as text: short, safe, in words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import parse_qsl

from aatoolkit._util.text import visible
from aatoolkit.metadata.attrs import Source

_SPELT = {
    **{word: word.upper() for word in ("ai", "ci", "url", "ttfb", "http", "cname", "dcv", "icc")},
    "kpis": "KPIs",
    "urls": "URLs",
}
_COLUMN = re.compile(r"(?<![\w/.])[a-z]+(?:_[a-z]+)+(?![\w/])")


def humanize(name: str) -> str:
    """Convert a column's name to words.

    Examples
    --------
    >>> humanize("ai_session_share"), humanize("averagePosition")
    ('AI session share', 'average position')
    """
    if name.isidentifier() and "_" not in name:
        name = "".join(f"_{c.lower()}" if c.isupper() else c for c in name)
    return " ".join(_SPELT.get(word, word) for word in visible(name).split("_")).strip()


def capitalized(text: str) -> str:
    """Convert the first letter of a text to upper case."""
    return text[:1].upper() + text[1:]


def in_words(text: str) -> str:
    """Replace the names of columns in a text by words.

    Examples
    --------
    >>> in_words("paired by prompt_id, of the mention_rate")
    'paired by prompt, of the mention rate'
    """
    return _COLUMN.sub(lambda match: humanize(match[0].removesuffix("_id")), text)


def joined_reasons(reasons: Iterable[str]) -> str:
    """Join reasons to one text, without repeats.

    Examples
    --------
    >>> joined_reasons(["Claude has none; claude: Claude has none", "Too few."])
    'Claude has none; Too few.'
    """
    parts: list[str] = []
    for part in (part.strip().removesuffix(".") for why in reasons for part in why.split("; ")):
        sentence = rf"(?<!\w){re.escape(part.partition(': ')[2] or part)}(?!\w)"
        if part and not any(re.search(sentence, other) for other in parts):
            parts.append(part)
    return f"{'; '.join(parts)}." if parts else ""


def source_line(sources: tuple[Source, ...]) -> str:
    """Describe the source of a frame: host, section, scope, time."""
    if len(sources) != 1:
        hosts = ", ".join(dict.fromkeys(source.host or "unknown" for source in sources))
        return visible(f"{len(sources)} responses of {hosts}") if sources else "Source unknown"
    (source,) = sources
    fetched = (source.fetched_at or "")[:16].replace("T", " ")
    parts = [
        source.host or "unknown host", source.section, describe_scope(source.scope),
        fetched and f"fetched {fetched} UTC", "expired cache" if source.stale else "",
    ]  # fmt: skip
    return visible(" · ".join(filter(None, parts)))


def describe_scope(query: str | None) -> str:
    """Describe the window and the filters of a scope in words."""
    filters: dict[str, list[str]] = {}
    for name, value in parse_qsl(query or ""):
        filters.setdefault(name, []).append(value)
    days = filters.pop("days", None)
    window = [f"last {days[0]} days"] if days else []
    return ", ".join([*window, *(f"{name} {', '.join(v)}" for name, v in filters.items())])


def first_of(shown: int, total: int) -> str:
    """What a title says of the rows that are not drawn.

    Examples
    --------
    >>> first_of(15, 42), first_of(3, 3)
    (', the first 15 of 42', '')
    """
    return f", the first {shown} of {total}" if shown < total else ""
