"""Numbers, units, names and sources as text: short, safe, in their unit."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from urllib.parse import parse_qsl

from aatoolkit._util.text import visible
from aatoolkit.display.plot.data import PlotData
from aatoolkit.metadata.arrow_schema import declared_key
from aatoolkit.metadata.attrs import Source
from aatoolkit.sections.aggregation import (
    COUNT,
    FRACTION,
    FRACTION_CHANGE,
    RANK,
    SCORE,
)

_AXIS: dict[str | None, str] = {
    SCORE: "0 to 100",
    RANK: "1 is best",
    FRACTION_CHANGE: "percentage points",
}
_SPELT = {
    **{word: word.upper() for word in ("ai", "ci", "url", "ttfb", "http", "cname", "dcv", "icc")},
    "kpis": "KPIs",
    "urls": "URLs",
}


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


def row_name(data: PlotData) -> str:
    """The name of a single row: the values of its key, or the title that it has for it."""
    names = data.metadata.key or declared_key(data.table) or (() if data.is_known else data.keys)
    named = [
        data.label_column if name.endswith("_id") and name == data.keys[-1] else name
        for name in names
        if name in data.kinds and not name.startswith("filter_")
    ]
    words = [data.text(name)[0] for name in named if name is not None]
    return ", ".join(word for word in words if word != "(missing)")


def table_words(data: PlotData) -> str:
    """The table of a frame in words; of a result of statistics, what was computed."""
    table = re.sub(r"^statistics:(.*)_[0-9a-f]{8}$", r"\1", data.table)
    return humanize(re.sub(r"^[^:]*#[0-9a-f]+:", "", table))


def joined_reasons(reasons: Iterable[str]) -> str:
    """Join reasons to one text, without repeats.

    Examples
    --------
    >>> joined_reasons(["Claude has none; claude: Claude has none", "Too few."])
    'Claude has none; Too few.'
    """
    parts: list[str] = []
    for reason in reasons:
        for part in reason.split("; "):
            part = part.strip().removesuffix(".")
            sentence = rf"(?<!\w){re.escape(part.partition(': ')[2] or part)}(?!\w)"
            known = any(
                re.search(sentence, other) or part.endswith(f": {other}") for other in parts
            )
            if part and not known:
                parts.append(part)
    return f"{'; '.join(parts)}." if parts else ""


def plain_doc(doc: str, noun: str | None = None) -> str:
    """Convert a column's description to a caption: no reference, no day where rows are weeks.

    Examples
    --------
    >>> plain_doc("The action; refers to `actions`.")
    'The action.'
    >>> plain_doc("Visits of the day.", "week"), plain_doc("Answers on the day.", "month")
    ('Visits of the week.', 'Answers in the month.')
    """
    doc = in_words(re.sub(r"; refers to `\w+`", "", doc).replace("`", ""))
    if noun and noun != "day":
        doc = re.sub(r"\bon the (day|bucket)\b", f"in the {noun}", doc)
    return (
        re.sub(r"\bthe (day|bucket)\b", f"the {noun}", doc)
        if noun
        else doc.replace("bucket", "day")
    )


def in_words(text: str) -> str:
    """Replace the names of columns in a text by words.

    Examples
    --------
    >>> in_words("paired by prompt_id, of the mention_rate")
    'paired by prompt, of the mention rate'
    """
    names = re.compile(r"(?<![\w/.])[a-z]+(?:_[a-z]+)+(?![\w/])")
    return names.sub(lambda found: humanize(found[0].removesuffix("_id")), text)


def capitalized(text: str) -> str:
    """Convert the first letter of a text to upper case."""
    return text[:1].upper() + text[1:]


def axis_label(data: PlotData, name: str) -> str:
    """Make the label of a numeric axis."""
    unit = data.unit(name)
    label = humanize(name)
    if unit in (None, FRACTION, COUNT) or data.unit_column(name):
        return label
    if unit not in _AXIS and (unit in label or label in unit):
        return max(label, unit, key=len)
    return f"{label} ({_AXIS.get(unit, unit)})"


def source_line(sources: tuple[Source, ...]) -> str:
    """Describe the source of a frame: host, section, scope, time."""
    if not sources:
        return "Source unknown"
    if len(sources) > 1:
        hosts = dict.fromkeys(source.host or "unknown" for source in sources)
        return visible(f"{len(sources)} responses of {', '.join(hosts)}")
    (source,) = sources
    parts = [source.host or "unknown host", source.section or "", describe_scope(source.scope)]
    if source.fetched_at:
        parts.append(f"fetched {_moment(source.fetched_at)}")
    if source.stale:
        parts.append("expired cache")
    return visible(" · ".join(part for part in parts if part))


def caption_source(sources: tuple[Source, ...]) -> str:
    """The source in as few words as a line below a picture has: without the time of day."""
    return re.sub(r" · fetched (\S+) \S+ UTC", r" · \1", source_line(sources))


def describe_scope(query: str | None) -> str:
    """Describe the window and the filters of a scope in words."""
    filters: dict[str, list[str]] = {}
    for name, value in parse_qsl(query or ""):
        filters.setdefault(name, []).append(value)
    days = filters.pop("days", None)
    window = [f"last {days[0]} days"] if days else []
    return ", ".join([*window, *(f"{name} {', '.join(v)}" for name, v in filters.items())])


def _moment(text: str) -> str:
    try:
        return f"{datetime.fromisoformat(text):%Y-%m-%d %H:%M} UTC"
    except ValueError:
        return text


def first_of(shown: int, left_out: int) -> str:
    """What a title says of the rows that are not drawn.

    Examples
    --------
    >>> first_of(15, 27), first_of(3, 0)
    (', the first 15 of 42', '')
    """
    return f", the first {shown} of {shown + left_out}" if left_out > 0 else ""
