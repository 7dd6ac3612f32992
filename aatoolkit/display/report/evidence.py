"""The explanations of the numbers in a report; each number on the page links to its own."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from aatoolkit._util.show import fold_html
from aatoolkit.display.plot.data import PlotData
from aatoolkit.display.plot.style import make_column_title
from aatoolkit.display.plot.tables import format_cells
from aatoolkit.display.report.html import escape, format_attribute
from aatoolkit.display.report.words import to_plain_words
from aatoolkit.stats.explain import CitedResponse, Explainer, Explanation
from aatoolkit.stats.explain.explanation import describe_explanation


@dataclass
class TableEvidence:
    """The explanations of the numbers of one table in a report.

    - ``frame``: the table with all rows; ``data`` has only the rows that are shown.
    - ``table_id``: identifies the table on the page, such as ``2-1``.
    - ``explanations_by_row``: maps the position of a row to its name, and to a dict of the
      explanations of its numbers by column.
    """

    title: str
    frame: pd.DataFrame
    table_id: str
    explainer: Explainer
    data: PlotData
    explanations_by_row: dict[int, tuple[str, dict[str, Explanation]]] = field(default_factory=dict)

    def add_link(self, row: int, column: str, row_label: str, link_text: str) -> str:
        """Explain a number, store the explanation, and return an HTML link to it.

        ``row_label`` names the row in the explanations. ``link_text`` is the number as text.
        """
        explanation = self.explainer.explain(self.frame, self.frame.index[row], column)
        if row not in self.explanations_by_row:
            key_texts = (cell_text.replace("_", " ") if name.endswith("_id") else cell_text
                         for name in explanation.row
                         if name in self.data.kind_by_column and name != "_row"
                         for cell_text in [format_cells(self.data, name)[row]])  # fmt: skip
            self.explanations_by_row[row] = ", ".join(dict.fromkeys([row_label, *key_texts])), {}
        self.explanations_by_row[row][1][column] = explanation
        aria_label = format_attribute("aria-label", "missing" * (link_text == "–"))
        anchor = self.get_explanation_anchor(row, column)
        return f'<a href="#{anchor}"{aria_label}>{escape(link_text)}</a>'

    def get_row_anchor(self, row: int) -> str:
        """Return the HTML id of a table row, or "" if none of its numbers is explained."""
        return f"r{self.table_id}-{row}" if row in self.explanations_by_row else ""

    def get_explanation_anchor(self, row: int, column: str) -> str:
        """Return the HTML id of the explanation of a number, or "" if there is none."""
        _, explanation_by_column = self.explanations_by_row.get(row, ("", {}))
        return (
            f"e{self.table_id}-{row}-{[*explanation_by_column].index(column)}"
            if column in explanation_by_column
            else ""
        )


class SectionEvidence:
    """The explanations of all numbers of a section, collected while its tables are written."""

    def __init__(self, section_number: int, explainer: Explainer) -> None:
        self._section_number = section_number
        self._explainer = explainer
        self.tables: dict[str, TableEvidence] = {}
        self._anchor_by_response: dict[CitedResponse, str] = {}

    def add_table(
        self, name: str, title: str, frame: pd.DataFrame, data: PlotData
    ) -> TableEvidence:
        """Add a `TableEvidence`, i.e. a collection of explanations, for a table, and return it."""
        table_id = f"{self._section_number}-{len(self.tables) + 1}"
        self.tables[name] = TableEvidence(title, frame, table_id, self._explainer, data)
        return self.tables[name]

    def to_html(self) -> str:
        """Return all explanations as collapsible HTML, or "" if there are none.

        The API responses come first, then the explanations by table and row.
        """
        tables = [table for table in self.tables.values() if table.explanations_by_row]
        if not tables:
            return ""
        tables_html = "\n".join(map(self._table_html, tables))  # collects the responses
        responses_html = "".join(
            f'<p id="{anchor}">{render_response(response)}</p>'
            for response, anchor in self._anchor_by_response.items()
        )
        return fold_html(
            "Where these numbers come from", f"\n{responses_html}\n{tables_html}", ' class="why"'
        )

    def _table_html(self, table: TableEvidence) -> str:
        """Return the explanations of one table as HTML, row by row."""
        printed_lines: dict[str, Any] = {}  # what a column means is said once
        rows_html = "\n".join(
            self._row_html(table, row, printed_lines) for row in sorted(table.explanations_by_row)
        )
        return fold_html(escape(table.title), f"<ul>{rows_html}</ul>")

    def _row_html(self, table: TableEvidence, row: int, printed_lines: dict[str, Any]) -> str:
        """Return the explanations of one row as HTML.

        First come links to the responses that have the row, then the explanation of each of its
        numbers. ``row`` is the position of the row, a key of ``table.explanations_by_row``.
        """
        row_label, explanations = table.explanations_by_row[row]
        cited_responses = dict.fromkeys(
            response for explanation in explanations.values() for response in explanation.sources
        )
        for response in cited_responses:
            self._anchor_by_response.setdefault(
                response, f"a{self._section_number}-{len(self._anchor_by_response) + 1}"
            )
        response_links = " and ".join(
            f'<a href="#{self._anchor_by_response[response]}">{link_text}</a>'
            for response_number, response in enumerate(cited_responses, 1)
            for link_text in [
                "the response" if len(cited_responses) == 1 else f"response {response_number}"
            ]
        )
        numbers_html = "".join(
            f'<span id="{table.get_explanation_anchor(row, column)}">'
            f"{escape(make_column_title(column))} "
            f"{render_explanation(explanation, printed_lines)}</span>"
            for column, explanation in explanations.items()
        )
        row_anchor_link = f'<a href="#{table.get_row_anchor(row)}">{escape(row_label, 120)}</a>'
        return (f"<li><p>{row_anchor_link}{' in ' * bool(response_links)}{response_links}:</p>"
                f"{numbers_html}</li>")  # fmt: skip


def render_explanation(explanation: Explanation, printed_lines: dict[str, Any]) -> str:
    """Return the explanation of one number as HTML.

    ``printed_lines`` has the lines written before, which are not repeated; new ones are added.
    """
    value = explanation.value
    value_text = f"{value:,}".removesuffix(".0") if isinstance(value, int | float) else str(value)
    printed_lines[""] = explanation.response  # is named above
    lines = [*describe_explanation(explanation, printed_lines, None)]
    if value is None:
        value_text = "missing"
        lines = lines or ["the response has no value here"]
    notes = "; ".join(
        to_plain_words(re.sub("^partial", "measured in part", line.removeprefix("missing: ")))
        .rstrip(". ") for line in lines if not re.match("stated: |available$|unknown$", line)
    )  # fmt: skip
    return f"<b>{escape(value_text)}</b>{escape(f': {notes}.' if notes else '.', 700)}"


def render_response(response: CitedResponse) -> str:
    """Return a sentence about a response as HTML: its section, host, filters, time and hash."""
    html_text = escape(to_plain_words(str(response)), 400)
    return f"From {re.sub('(?<=SHA-256 )[0-9a-f]+', f'<code>{response.sha256}</code>', html_text)}."
