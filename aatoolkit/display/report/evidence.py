"""The explanations in a report; each number on the page links to its explanation."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from aatoolkit.display.plot.data import PlotData
from aatoolkit.display.plot.style import column_title
from aatoolkit.display.plot.tables import cell_texts
from aatoolkit.display.report.html import attribute, escape, fold
from aatoolkit.display.report.words import plain_words
from aatoolkit.stats.explain import CitedResponse, Explainer, Explanation
from aatoolkit.stats.explain.explanation import describe_number


@dataclass
class TableEvidence:
    """The explanations of the numbers of one table in a report, by row.

    ``number`` identifies the table on the page, such as ``2-1``. ``data`` has only the rows shown.
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
            key_texts = (text.replace("_", " ") if name.endswith("_id") else text
                         for name in explanation.row
                         if name in self.data.kinds and name != "_row"
                         for text in [cell_texts(self.data, name)[row]])  # fmt: skip
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


class SectionEvidence:
    """The explanations of a section's numbers, collected while its tables are written."""

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
        """Return the explanations as collapsible HTML: responses first, then tables by row."""
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
        """Return the explanations of one table as HTML, row by row."""
        written: dict[str, Any] = {}  # what a column means is said once
        rows = "\n".join(self._row_html(table, row, written) for row in sorted(table.rows))
        return fold(escape(table.title), f"<ul>{rows}</ul>")

    def _row_html(self, table: TableEvidence, row: int, written: dict[str, Any]) -> str:
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
            f"{explanation_html(explanation, written)}</span>"
            for row_link, explanation in explanations.items()
        )
        row_link = f'<a href="#{table.anchor(row)}">{escape(label, 120)}</a>'
        return f"<li><p>{row_link}{' in ' * bool(links)}{links}:</p>{numbers}</li>"


def explanation_html(explanation: Explanation, written: dict[str, Any]) -> str:
    """Return the explanation of one number as HTML, without lines already in ``written``."""
    value = explanation.value
    value_text = f"{value:,}".removesuffix(".0") if isinstance(value, int | float) else str(value)
    written[""] = explanation.response  # is named above
    lines = [*describe_number(explanation, written, None)]
    if value is None:
        value_text = "missing"
        lines = lines or ["the response has no value here"]
    notes = "; ".join(
        plain_words(re.sub("^partial", "measured in part", line.removeprefix("missing: ")))
        .rstrip(". ") for line in lines if not re.match("stated: |available$|unknown$", line)
    )  # fmt: skip
    return f"<b>{escape(value_text)}</b>{escape(f': {notes}.' if notes else '.', 700)}"


def response_html(response: CitedResponse) -> str:
    """Return a sentence about a response as HTML: its section, host, filters, time and hash."""
    text = escape(plain_words(str(response)), 400)
    return f"From {re.sub('(?<=SHA-256 )[0-9a-f]+', f'<code>{response.sha256}</code>', text)}."
