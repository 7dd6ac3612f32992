"""The page: head, availability, sections, sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from aatoolkit.display.plot.labels import describe_scope
from aatoolkit.display.report.changes import changed
from aatoolkit.display.report.grid import grid, table_of
from aatoolkit.display.report.markup import element, slug, text
from aatoolkit.display.report.style import STYLE
from aatoolkit.errors import ConfigurationError
from aatoolkit.metadata.attrs import Source, metadata_of

if TYPE_CHECKING:
    from aatoolkit.client.dataset import Dataset
    from aatoolkit.normalizer.tables import Tables

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
POLICY += "form-action 'none'"
"""The content security policy: nothing but inline styles and data images."""

_PREFERRED_KINDS = ("line", "heatmap", "gap", "funnel", "shares")
"""Kinds of pictures that show more than the table below them."""

_PICTURES = 3


def page(dataset: Dataset, rows: int, before: Dataset | None = None) -> str:
    """The page's HTML.

    Raises
    ------
    ConfigurationError
        If ``rows`` is no whole number from 1.
    ImportError
        If matplotlib is not installed; the message names what to install.
    """
    if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
        raise ConfigurationError(f"rows={rows!r} is no whole number from 1", setting="rows")
    sources = _sources(dataset)
    host = ", ".join(dict.fromkeys(source.host or "unknown host" for source in sources))
    host = host or "No answers"
    parts = [
        _head(host, sources),
        changed(dataset, before),
        _contents(dataset),
        _measured(dataset),
        *(_section(name, tables, rows, at) for at, (name, tables) in enumerate(dataset.items())),
        _foot(sources),
    ]
    return "\n".join(
        [
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            '<meta name="referrer" content="no-referrer">',
            f"{element('title', text(f'{host}: how AI answer engines treat it'))}",
            f"<style>{STYLE}</style>\n</head>\n<body>",
            *parts,
            "</body>\n</html>\n",
        ]
    )


def _head(host: str, sources: list[Source]) -> str:
    scopes = dict.fromkeys(source.scope or "" for source in sources)
    fetched = sorted(source.fetched_at for source in sources if source.fetched_at)
    notes = [f"Scope: {'; '.join(map(describe_scope, scopes))}."] if any(scopes) else []
    if fetched:
        ends = dict.fromkeys(map(_moment, (fetched[0], fetched[-1])))
        notes.append(f"Fetched: {' to '.join(ends)} UTC.")
    if any(source.stale for source in sources):
        notes.append("Some answers came from a cache after they had expired.")
    return (
        '<a class="skip" href="#sections">Skip to the sections</a>\n<header>'
        + element("h1", text(host))
        + element("p", "How AI answer engines treat the brand.", "lead")
        + element("p", text(" ".join(notes)), "note")
        + "</header>\n<main>"
    )


def _contents(dataset: Dataset) -> str:
    links = "".join(
        f'<li><a href="#{slug(name, at)}">{text(name)}</a></li>' for at, name in enumerate(dataset)
    )
    return f'<nav aria-label="Sections"><ul>{links}</ul></nav>'


def _measured(dataset: Dataset) -> str:
    """The availability of each table, and the sections that failed."""
    words = [tables.shown(table) for tables in dataset.values() for table in tables]
    kinds = Counter(_STATES.get(word[:1], "unknown") for word in words)
    counts = ", ".join(f"{kinds[state]} {state}" for state in _STATES.values() if kinds[state])
    failed = "".join(
        element("li", f"<b>{text(name)}</b> failed: {text(str(error), 400)}")
        for name, error in dataset.errors.items()
    )
    rows = [row for name, tables in dataset.items() for row in _states(name, tables)]
    heads = ("section", "tables and their rows", "availability")
    caption = f"What could be measured in {len(words)} tables, and why not"
    return (
        '<section aria-labelledby="measured"><h2 id="measured">What was measured</h2>'
        + element("p", f"Of {len(words)} tables: {counts or 'none'}. " + _KEY, "lead")
        + (f'<ul class="failed">{failed}</ul>' if failed else "")
        + grid(caption, heads, rows)
        + '</section>\n<div id="sections"></div>'
    )


def _states(name: str, tables: Tables) -> Iterator[str]:
    """A row for each availability of a section's tables."""
    states = dict.fromkeys(tables.shown(table) for table in tables)
    for at, words in enumerate(states):
        listed = [
            f"<code>{text(table)}</code> {tables.rows[table]:,}"
            for table in tables
            if tables.shown(table) == words
        ]
        head = element("th", text(name), scope="rowgroup", rowspan=len(states)) if at == 0 else ""
        yield head + element("td", ", ".join(listed)) + element("td", text(words, 400), "state")


_STATES = {
    "●": "measured",
    "◐": "measured in part",
    "○": "not measured",
    "–": "not applicable",
    "?": "unknown",
}

_KEY = "A dash in a cell is a missing value, never a zero."


def _section(name: str, tables: Tables, rows: int, at: int) -> str:
    doc = "" if tables.declaration is None else tables.declaration.doc
    anchor = slug(name, at)
    main = next(iter(tables))
    others = [table for table in tables if table != main and len(tables[table])]
    notes = "".join(element("li", note) for note in _statements(tables))
    body = [
        f'<section aria-labelledby="{anchor}"><h2 id="{anchor}">{text(name)}</h2>',
        element("p", text(doc), "lead"),
        element("p", text(tables.shown(main), 600), "state"),
        f'<ul class="statements">{notes}</ul>' if notes else "",
        *_pictures(tables, at),
        table_of(main, tables[main], rows) if len(tables[main]) else "",
        *(
            f"<details><summary>{text(table)}, {tables.rows[table]:,} rows</summary>"
            f"{table_of(table, tables[table], rows)}</details>"
            for table in others
        ),
        "</section>",
    ]
    return "\n".join(part for part in body if part)


def _statements(tables: Tables) -> list[str]:
    """The statements of an answer about its fields, rows and engines, each once."""
    stated = tables.availability
    stated = stated[(stated["scope"] != "section") & (stated["status"] != "available")]
    stated = stated.drop_duplicates(["target", "status", "reason"])
    rows = stated.head(_MOST_STATEMENTS)
    listed = [
        f"<code>{text(target or scope)}</code>: {text(str(status).replace('_', ' '))}"
        + (f": {text(reason, 300)}" if isinstance(reason, str) else "")
        for scope, target, status, reason in rows[
            ["scope", "target", "status", "reason"]
        ].itertuples(index=False)
    ]
    more = len(stated) - len(rows)
    return [*listed, f"and {more:,} more statements"] if more > 0 else listed


_MOST_STATEMENTS = 8


def _pictures(tables: Tables, at: int) -> Iterator[str]:
    """Pictures of the main table, and of others if they show more than a ranking."""
    from aatoolkit.display.report.picture import drawn

    shown = 0
    for number, table in enumerate(tables):
        frame = tables[table]
        if not len(frame) or shown == _PICTURES:
            continue
        made = drawn(frame, f"p{at}-{number}", _PREFERRED_KINDS if number else ())
        if made:
            shown += 1
            yield made


def _foot(sources: list[Source]) -> str:
    rows = [
        element("td", text(source.section or ""))
        + element("td", f"<code>{text((source.sha256 or '')[:16])}</code>")
        + element("td", text(_moment(source.fetched_at or "")))
        for source in sources
    ]
    table = grid(
        "The answers that this page was made from", ("section", "SHA-256", "fetched"), rows
    )
    return f"</main>\n<footer><h2>Sources</h2>{table}</footer>"


def _moment(moment: str) -> str:
    return moment[:19].replace("T", " ")


def _sources(dataset: Dataset) -> list[Source]:
    """The answers that the main tables were read from, each once."""
    found = [source for tables in dataset.values() for source in metadata_of(tables.main).sources]
    return list(dict.fromkeys(found))
