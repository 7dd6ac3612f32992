"""The report's section on availability: of each table, and what answers state themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from aatoolkit.display.report.grid import element, grid, text
from aatoolkit.display.report.outline import chapter_of, in_reading_order, title_of
from aatoolkit.display.report.wording import column_title, path_words, state_words, value_words

if TYPE_CHECKING:
    from aatoolkit.client.dataset import Dataset
    from aatoolkit.normalizer.tables import Tables

_STATES = {
    "●": "measured",
    "◐": "measured in part",
    "○": "not measured",
    "–": "not applicable",
    "?": "unknown",
}

_MOST_STATEMENTS = 8


def measured(dataset: Dataset) -> str:
    """Render the availability of each table as HTML."""
    words = [tables._shown(table) for tables in dataset.values() for table in tables]
    kinds = Counter(_STATES.get(word[:1], "unknown") for word in words)
    counts = ", ".join(f"{kinds[state]} {state}" for state in _STATES.values() if kinds[state])
    rows = [row for name in in_reading_order(dataset) for row in _states(name, dataset[name])]
    heads = ("Section", "Tables and their rows", "Availability")
    caption = f"What could be measured in {len(words)} tables, and why not"
    table = grid(caption, heads, rows)
    return (
        '<section aria-labelledby="measured"><h2 id="measured">What was measured</h2>'
        + element("p", f"Of {len(words)} tables: {counts or 'none'}.", "lead")
        + (f"<details><summary>Table by table</summary>{table}</details>" if rows else "")
        + "</section>"
    )


def _states(name: str, tables: Tables) -> Iterator[str]:
    """A row for each availability of a section's tables."""
    states = dict.fromkeys(tables._shown(table) for table in tables)
    for at, words in enumerate(states):
        listed = [
            f"{text(title_of(table))} ({tables.rows[table]:,})"
            for table in tables
            if tables._shown(table) == words
        ]
        title = text(chapter_of(name).title)
        head = element("th", title, scope="rowgroup", rowspan=len(states)) if at == 0 else ""
        shown = element("td", text(state_words(words), 400), "state")
        yield head + element("td", ", ".join(listed)) + shown


def statements(tables: Tables) -> list[str]:
    """The statements of an answer about its fields, rows and engines, each once, as HTML."""
    stated = tables.availability
    stated = stated[(stated["scope"] != "section") & (stated["status"] != "available")]
    stated = stated.drop_duplicates(["target", "status", "reason"])
    rows = stated.head(_MOST_STATEMENTS)
    listed = [
        f"{text(_subject(str(scope), target))}: {text(str(status).replace('_', ' '))}"
        + (f": {text(reason, 300)}" if isinstance(reason, str) else "")
        for scope, target, status, reason in rows[
            ["scope", "target", "status", "reason"]
        ].itertuples(index=False)
    ]
    more = len(stated) - len(rows)
    return [*listed, f"and {more:,} more statements"] if more > 0 else listed


def _subject(scope: str, target: object) -> str:
    """Describe the subject of a statement: an engine, a field or a row."""
    if not isinstance(target, str):
        return scope
    if scope == "engine":
        return target
    words = path_words(target) if any(sign in target for sign in ".[{$") else value_words(target)
    return column_title(words) if scope == "field" and words == target else words
