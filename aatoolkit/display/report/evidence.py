"""The evidence of a report: for each number, the explanation that its link leads to."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import pandas as pd

from aatoolkit.display.plot.data import PlotData
from aatoolkit.display.plot.style import column_title, describe_scope, fetch_time
from aatoolkit.display.plot.tables import cell_texts
from aatoolkit.display.report.html import attribute, escape, fold
from aatoolkit.display.report.words import chapter_of, path_words, plain_words, unit_words
from aatoolkit.stats.explain import CitedResponse, Explainer, Explanation


@dataclass
class TableEvidence:
    """The explanations of the numbers of one table, row by row.

    ``number`` is the table's number on the page, such as ``2-1``. ``data`` has only the rows shown.
    """

    title: str
    frame: pd.DataFrame
    number: str
    explainer: Explainer
    data: PlotData
    rows: dict[int, tuple[str, dict[str, Explanation]]] = field(default_factory=dict)

    def add_link(self, row: int, column: str, label: str, link_text: str) -> str:
        """Explain a number, store the explanation, and return an HTML link to it."""
        explanation = self.explainer.explain(self.frame, self.frame.index[row], column)
        if row not in self.rows:
            keys = [name for name in explanation.row if name in self.data.kinds and name != "_row"]
            key_texts = (readable_texts(self.data, name)[row] for name in keys)
            self.rows[row] = ", ".join(dict.fromkeys([label, *key_texts])), {}
        self.rows[row][1][column] = explanation
        aria_label = attribute("aria-label", "missing" * (link_text == "–"))
        return f'<a href="#{self.evidence_of(row, column)}"{aria_label}>{escape(link_text)}</a>'

    def anchor(self, row: int) -> str:
        """Return the HTML id of a row, or "" if none of its numbers is explained."""
        return f"r{self.number}-{row}" if row in self.rows else ""

    def evidence_of(self, row: int, column: str) -> str:
        """Return the HTML id of the explanation of a number, or "" if there is none."""
        _, numbers = self.rows.get(row, ("", {}))
        return f"e{self.number}-{row}-{[*numbers].index(column)}" if column in numbers else ""


@lru_cache(maxsize=8)
def readable_texts(data: PlotData, name: str) -> list[str]:
    """Return the values of a column as texts; underscores in identifiers become spaces."""
    texts = cell_texts(data, name)
    return [text.replace("_", " ") for text in texts] if name.endswith("_id") else texts


class SectionEvidence:
    """The explanations of the numbers of one section, collected while its tables are written."""

    def __init__(self, number: int, explainer: Explainer) -> None:
        self._number, self._explainer = number, explainer
        self.tables: dict[str, TableEvidence] = {}
        self._responses: dict[CitedResponse, str] = {}

    def add_table(
        self, name: str, title: str, frame: pd.DataFrame, data: PlotData
    ) -> TableEvidence:
        """Add an empty `TableEvidence` for a table, and return it."""
        number = f"{self._number}-{len(self.tables) + 1}"
        self.tables[name] = TableEvidence(title, frame, number, self._explainer, data)
        return self.tables[name]

    def html(self) -> str:
        """Return the explanations as foldable HTML: the responses, then each table row by row."""
        tables = [table for table in self.tables.values() if table.rows]
        if not tables:
            return ""
        folds = "\n".join(map(self._table_html, tables))  # collects the responses
        responses = "".join(
            f'<p id="{anchor}">{response_html(response)}</p>'
            for response, anchor in self._responses.items()
        )
        return fold("Where these numbers come from", f"\n{responses}\n{folds}", "why")

    def _table_html(self, table: TableEvidence) -> str:
        """Return the explanations of one table as HTML: what its columns mean, then its rows."""
        meanings = {
            name: (explanation.meaning, f" Unit: {unit}." if unit else "")
            for _, explanations in table.rows.values()
            for name, explanation in explanations.items()
            for unit in [unit_words(explanation.unit)]
            if explanation.meaning
        }
        definitions = "".join(
            f"<dt>{escape(column_title(name))}</dt><dd>{escape(plain_words(doc) + unit, 400)}</dd>"
            for name, (doc, unit) in meanings.items()
        )
        rows = "\n".join(self._row_html(table, row) for row in sorted(table.rows))
        return fold(escape(table.title), f"<dl>{definitions}</dl>\n<ul>{rows}</ul>")

    def _row_html(self, table: TableEvidence, row: int) -> str:
        """Return the explanations of one row as HTML: links to its responses, then each number."""
        label, explanations = table.rows[row]
        sources = dict.fromkeys(
            response for explanation in explanations.values() for response in explanation.sources
        )
        for response in sources:
            self._responses.setdefault(response, f"a{self._number}-{len(self._responses) + 1}")
        links = " and ".join(
            f'<a href="#{self._responses[response]}">{link_text}</a>'
            for number, response in enumerate(sources, 1)
            for link_text in ["the response" if len(sources) == 1 else f"response {number}"]
        )
        numbers = "".join(
            f'<span id="{table.evidence_of(row, row_link)}">{escape(column_title(row_link))} '
            f"{explanation_html(explanation)}</span>"
            for row_link, explanation in explanations.items()
        )
        row_link = f'<a href="#{table.anchor(row)}">{escape(label, 120)}</a>'
        return f"<li><p>{row_link}{' in ' * bool(links)}{links}:</p>{numbers}</li>"


def explanation_html(explanation: Explanation) -> str:
    """Return the explanation of one number as HTML: its value, path, formula and notes."""
    value = explanation.value
    value_text = f"{value:,}".removesuffix(".0") if isinstance(value, int | float) else str(value)
    parts = []
    if value is None:
        value_text = "missing"
        parts = [plain_words(explanation.missing or "the response has no value here")]
    if place := explanation.place:
        where = str(place).removeprefix(f"at {place.path}")
        parts.append(f"at {path_words(place.path)}{where}")
    if explanation.formula:
        parts.append(f"= {plain_words(explanation.formula)}")
    availability = explanation.availability or ""
    if value is not None and availability.startswith("partial"):
        parts.append(plain_words(availability.replace("partial", "measured in part", 1)))
    parts += map(plain_words, explanation.notes)
    if explanation.end:
        parts.append(f"the trail ends here: {plain_words(explanation.end)}")
    notes = "; ".join(part.rstrip(". ") for part in dict.fromkeys(parts))
    return f"<b>{escape(value_text)}</b>{escape(f': {notes}.' if notes else '.', 700)}"


def response_html(response: CitedResponse) -> str:
    """Return a sentence about a response as HTML: its section, host, filters, time and hash."""
    fetched = fetch_time(response.fetched_at)
    parts = (
        f"the response for <b>{escape(chapter_of(response.section or 'all sections').title)}</b>",
        response.host and f"about {escape(response.host)}",
        response.scope and escape(describe_scope(response.scope)),
        fetched and f"sent {escape(fetched)} UTC",
        response.status and f"with status {response.status}",
        response.stale and "taken from a cache after it had expired",
        response.sha256 and f"SHA-256 <code>{escape(response.sha256)}</code>",
    )
    checked_note = (
        " Its bytes were checked against it when this page was made." if response.checked else ""
    )
    return f"From {', '.join(part for part in parts if part)}.{checked_note}"
