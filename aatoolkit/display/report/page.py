"""The page: head, summary, the sections in reading order, what was measured, sources."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from aatoolkit._util.text import counted
from aatoolkit.display.plot.labels import describe_scope
from aatoolkit.display.report.evidence import CellExplainer, SectionEvidence
from aatoolkit.display.report.grid import bars, element, grid, slug, table_of, text
from aatoolkit.display.report.measured import measured, statements
from aatoolkit.display.report.outline import Chapter, chapter_of, in_reading_order, title_of
from aatoolkit.display.report.style import STYLE
from aatoolkit.display.report.summary import summary
from aatoolkit.display.report.wording import RowNames, plain, state_words
from aatoolkit.errors import ArgumentError
from aatoolkit.metadata.attrs import Source, metadata_of

if TYPE_CHECKING:
    from aatoolkit.client.dataset import Dataset
    from aatoolkit.normalizer.tables import Tables

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
POLICY += "form-action 'none'"
"""The content security policy: nothing but inline styles and data images."""

_PICTURES = 6
"""The most pictures of a page; each takes a third of a second to draw."""


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
        opened = opened or {main: []}
        body = [
            f'<section aria-labelledby="{anchor}"><h2 id="{anchor}">{text(chapter.title)}</h2>',
            element("p", text(doc), "lead"),
            element("p", text(state_words(tables._shown(main)), 600), "state"),
            *(pictures := [*filter(None, self._pictures(tables, chapter, at, evidence))]),
            *(
                self._open(tables, table, cols, evidence, chapter, is_folded=bool(pictures))
                for table, cols in opened.items()
            ),
        ]
        # The folds before the evidence, which is of their numbers too.
        folded = self._folded(tables, [*opened], evidence)
        body += [evidence.html(), folded, "</section>"]
        return "\n".join(part for part in body if part)

    def _open(
        self,
        tables: Tables,
        table: str,
        columns: Sequence[str],
        evidence: SectionEvidence,
        chapter: Chapter,
        *,
        is_folded: bool,
    ) -> str:
        """A table of a section; below a picture it is folded on screens, and open on paper."""
        frame = tables[table]
        if not len(frame):
            return element(
                "p", f"<b>{text(title_of(table))}</b>: {text(state_words(tables._shown(table)))}"
            )
        most = min(self._rows, chapter.rows)
        data = self._names.data(frame)
        columns = [name for name in columns if name in data.kinds] or [*data.kinds]
        links = evidence.of_table(table, frame)
        shown = table_of(data, table, most, self._names, columns, links)
        head = f"<summary>Table: {text(title_of(table))}</summary>"
        return f'<details class="table">{head}{shown}</details>' if is_folded else shown

    def _folded(self, tables: Tables, opened: Sequence[str], evidence: SectionEvidence) -> str:
        """Everything else of a section: its other tables, and the open ones with all columns."""
        notes = "".join(element("li", note) for note in statements(tables))
        listed = [table for table in tables if tables.rows[table]]
        folds = [
            f"<details><summary>{text(title_of(table))}, "
            f"{counted(tables.rows[table], 'row')}</summary>"
            + table_of(
                self._names.data(tables[table]),
                table,
                self._rows,
                self._names,
                links=evidence.of_table(table, tables[table]),
            )
            + "</details>"
            for table in listed
        ]
        if notes:
            folds.append(
                "<details><summary>What the service says of these figures</summary>"
                f'<ul class="statements">{notes}</ul></details>'
            )
        others = ", ".join(title_of(table).lower() for table in listed if table not in opened)
        head = f"All tables and columns{f': {others}' if others else ''}"
        return (
            f'<details class="more"><summary>{text(head, 300)}</summary>{"".join(folds)}</details>'
            if folds
            else ""
        )

    def _pictures(
        self, tables: Tables, chapter: Chapter, at: int, evidence: SectionEvidence
    ) -> Iterator[str]:
        """The picture of a section, as far as the page has room for it."""
        from aatoolkit.display.report.picture import drawn

        table, _, column = (chapter.picture or "").partition(" ")
        table = next(iter(tables)) if chapter.picture is None else table
        if column and table in tables and column in tables[table]:
            yield bars(self._names.data(tables[table]), table, column, self._names)
            return
        if table and table not in tables and not tables.keys() & chapter.shown.keys():
            table = next(iter(tables))  # a service with tables of its own
        if table not in tables or not len(tables[table]) or self._drawn == _PICTURES:
            return
        made = drawn(tables[table], f"p{at}", link=evidence.drawn)
        if made:
            self._drawn += 1
            yield made


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
            "further tables and columns.",
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
    head = f"<summary>Sources: {counted(len(sources), 'response')}</summary>"
    return f"</main>\n<footer><details>{head}{table}</details></footer>"


def _moment(moment: str) -> str:
    return moment[:19].replace("T", " ")


def _sources(dataset: Dataset) -> list[Source]:
    """The responses that the main tables were read from, each once."""
    found = [source for tables in dataset.values() for source in metadata_of(tables.main).sources]
    return list(dict.fromkeys(found))
