"""The page: head, summary, the sections in reading order, what was measured, sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from aatoolkit._util.text import counted
from aatoolkit.display.plot.labels import describe_scope
from aatoolkit.display.report.evidence import CellExplainer, SectionEvidence
from aatoolkit.display.report.grid import bars, element, fold, grid, image, slug, table_of, text
from aatoolkit.display.report.outline import Chapter, chapter_of, in_reading_order, title_of
from aatoolkit.display.report.style import STYLE
from aatoolkit.display.report.summary import summary
from aatoolkit.display.report.wording import (
    RowNames,
    column_title,
    path_words,
    plain,
    state_words,
    value_words,
)
from aatoolkit.errors import ArgumentError
from aatoolkit.metadata.attrs import Source, metadata_of

if TYPE_CHECKING:
    from aatoolkit.client.dataset import Dataset
    from aatoolkit.normalizer.tables import Tables

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
POLICY += "form-action 'none'"
"""The content security policy: nothing but inline styles and data images."""

_PICTURES, _WIDE = 7, 345.0
"""The most pictures of a page, each of which takes a sixth of a second, and how wide they are."""


def page(dataset: Dataset, rows: int, before: Dataset | None = None) -> str:
    """The page's HTML.

    Raises
    ------
    ArgumentError
        If ``rows`` is no whole number from 1.
    PackageMissing
        If matplotlib is not installed; the message names what to install.
    """
    if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
        raise ArgumentError(f"rows={rows!r} is no whole number from 1", argument="rows")
    return _Page(dataset, rows, before).html()


class _Page:
    def __init__(self, dataset: Dataset, rows: int, before: Dataset | None) -> None:
        self._dataset, self._rows, self._before = dataset, rows, before
        self._names = RowNames(dataset)
        self._explain = CellExplainer(dataset)
        self._evidence: dict[str, SectionEvidence] = {}
        self._drawn = 0

    def html(self) -> str:
        sources = _sources(self._dataset)
        host = ", ".join(dict.fromkeys(source.host or "unknown host" for source in sources))
        host = host or "No responses"
        order = in_reading_order(self._dataset)
        # The sections first: the summary links to the evidence of their numbers.
        sections = [self._section(name, at) for at, name in enumerate(order)]
        parts = [
            _head(host, sources),
            summary(self._dataset, self._before, self._figure),
            _contents(order),
            *sections,
            measured(self._dataset),
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

    def _figure(self, table: str, column: str, metric: str) -> str:
        """The anchor of the evidence of a key figure."""
        (label,) = self._names.words("metric", [metric])
        anchors = (each.anchor(table, column, label) for each in self._evidence.values())
        return next((anchor for anchor in anchors if anchor), "")

    def _section(self, name: str, at: int) -> str:
        tables, chapter = self._dataset[name], chapter_of(name)
        anchor = slug(name, at)
        evidence = self._evidence[name] = SectionEvidence(at, self._explain, self._names)
        doc = "" if tables.declaration is None else plain(tables.declaration.doc)
        main = next(iter(tables))
        opened = {table: cols.split() for table, cols in chapter.shown.items() if table in tables}
        opened, picture = opened or {main: []}, self._picture(tables, chapter)
        body = [
            f'<section aria-labelledby="{anchor}"><h2 id="{anchor}">{text(chapter.title)}</h2>',
            element("p", text(doc), "lead"),
            element("p", text(state_words(tables._shown(main)), 600), "state"),
            picture,
        ]
        for table, columns in opened.items():
            if not tables.rows[table]:
                state = text(state_words(tables._shown(table)))
                body.append(element("p", f"<b>{text(title_of(table))}</b>: {state}"))
                continue
            shown = self._table(tables, table, evidence, min(self._rows, chapter.rows), columns)
            # Below a picture a table is folded on screens, and open on paper.
            head = f"Table: {text(title_of(table))}"
            body.append(fold(head, shown, "table") if picture else shown)
        others = [table for table in tables if tables.rows[table] and table not in opened]
        folds = [
            fold(f"{text(title_of(table))}, {counted(tables.rows[table], 'row')}",
                 self._table(tables, table, evidence, self._rows, ()))
            for table in others
        ]  # fmt: skip
        if notes := statements(tables):
            listed = "".join(element("li", note) for note in notes)
            folds.append(fold("What the service says of these figures", f"<ul>{listed}</ul>"))
        names = ", ".join(title_of(table).lower() for table in others)
        more = fold(text(f"More{f': {names}' if names else ''}", 300), "".join(folds), "more")
        # The folds before the evidence, which is of their numbers too.
        body += [evidence.html(), more if folds else "", "</section>"]
        return "\n".join(part for part in body if part)

    def _table(
        self, tables: Tables, table: str, evidence: SectionEvidence, rows: int,
        columns: Sequence[str],
    ) -> str:  # fmt: skip
        """A table of a section."""
        frame = tables[table]
        links = evidence.of_table(table, frame)
        return table_of(self._names.data(frame), table, rows, self._names, columns, links)

    def _picture(self, tables: Tables, chapter: Chapter) -> str:
        """The picture of a section, as far as the page has time for it."""
        table, _, column = (chapter.picture or "").partition(" ")
        if chapter.picture is None or (table and not tables.keys() & chapter.shown.keys()):
            table, column = next(iter(tables)), ""  # a service with tables of its own
        if table not in tables or not len(tables[table]):
            return ""
        if column in tables[table]:
            return bars(self._names.data(tables[table]), table, column, self._names)
        if self._drawn == _PICTURES:
            return ""
        from aatoolkit.display.plot.draw import picture_of

        picture = picture_of(tables[table], _WIDE)
        if picture is None:
            return ""
        self._drawn += 1
        return element("figure", image(picture.svg(table), picture.finding))


def _head(host: str, sources: list[Source]) -> str:
    scopes = dict.fromkeys(source.scope or "" for source in sources)
    fetched = sorted(source.fetched_at for source in sources if source.fetched_at)
    notes = [f"Scope: {'; '.join(map(describe_scope, scopes))}."] if any(scopes) else []
    if fetched:
        ends = dict.fromkeys(map(_moment, (fetched[0], fetched[-1])))
        notes.append(f"Fetched: {' to '.join(ends)} UTC.")
    if any(source.stale for source in sources):
        notes.append("Some responses came from a cache after they had expired.")
    return (
        '<a class="skip" href="#sections">Skip to the sections</a>\n<header>'
        + element("h1", text(host))
        + element("p", "How AI answer engines treat the brand.", "lead")
        + element("p", text(" ".join(notes)), "note")
        + element("p", "Each number leads to where it comes from.", "note screen")
        + element(
            "p",
            "What is folded on the page is not printed: where each number comes from, and all "
            "further tables.",
            "note paper",
        )
        + "</header>\n<main>"
    )


def _contents(order: Sequence[str]) -> str:
    links = "".join(
        f'<li><a href="#{slug(name, at)}">{text(chapter_of(name).title)}</a></li>'
        for at, name in enumerate(order)
    )
    return f'<nav id="sections" aria-label="Sections"><ul>{links}</ul></nav>'


def _foot(sources: list[Source]) -> str:
    rows = [
        element("th", text(chapter_of(source.section or "").title), scope="row")
        + element("td", f"<code>{text((source.sha256 or '')[:16])}</code>")
        + element("td", text(_moment(source.fetched_at or "")))
        for source in sources
    ]
    table = grid(
        "The responses that this page was made from", ("Section", "SHA-256", "Fetched"), rows
    )
    folded = fold(f"Sources: {counted(len(sources), 'response')}", table)
    return f"</main>\n<footer>{folded}</footer>"


def _moment(moment: str) -> str:
    return moment[:19].replace("T", " ")


def _sources(dataset: Dataset) -> list[Source]:
    """The responses that the main tables were read from, each once."""
    found = [source for tables in dataset.values() for source in metadata_of(tables.main).sources]
    return list(dict.fromkeys(found))


# --- what was measured -------------------------------------------------------------------------

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
        + (fold("Table by table", table) if rows else "")
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
