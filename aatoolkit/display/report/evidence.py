"""The evidence of numbers: explanations of where they come from. Each number links to its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import pandas as pd

from aatoolkit.display.plot.data import PlotData
from aatoolkit.display.plot.style import column_title, describe_scope, fetch_time
from aatoolkit.display.plot.tables import cell_texts
from aatoolkit.display.report.html import attribute, fold, text
from aatoolkit.display.report.words import chapter_of, path_words, plain, unit_words
from aatoolkit.stats.explain import CitedResponse, Explainer, Explanation, ValuePlace


@dataclass
class TableEvidence:
    """The evidence of the numbers of one table, row by row.

    Parameters
    ----------
    title : str
        The title of the table.
    frame : pandas.DataFrame
        The rows of the table.
    number : str
        The number of the table on the page, such as ``2-1``, which is part of its HTML ids.
    explainer : Explainer
        Explains the numbers of the table.
    data : PlotData
        The rows that the page shows, with the roles of columns.
    """

    title: str
    frame: pd.DataFrame
    number: str
    explainer: Explainer
    data: PlotData
    rows: dict[int, tuple[str, dict[str, Explanation]]] = field(default_factory=dict)

    def link(self, at: int, column: str, label: str, words: str) -> str:
        """Explain a number, keep the explanation as evidence, and return an HTML link to it.

        ``at`` is the position of the number's row, ``label`` the name of the row, and ``words`` the
        text of the link.
        """
        explanation = self.explainer.explain(self.frame, self.frame.index[at], column)
        if at not in self.rows:
            keys = [name for name in explanation.row if name in self.data.kinds and name != "_row"]
            others = (words_of(self.data, name)[at] for name in keys)
            self.rows[at] = ", ".join(dict.fromkeys([label, *others])), {}
        self.rows[at][1][column] = explanation
        missing = attribute("aria-label", "missing" * (words == "–"))
        return f'<a href="#{self.evidence_of(at, column)}"{missing}>{text(words)}</a>'

    def anchor(self, at: int) -> str:
        """Return the HTML id of a row, for links back from its evidence; "" without evidence."""
        return f"r{self.number}-{at}" if at in self.rows else ""

    def evidence_of(self, at: int, column: str) -> str:
        """Return the HTML id of the evidence of a number in row ``at``; "" without evidence."""
        _, numbers = self.rows.get(at, ("", {}))
        return f"e{self.number}-{at}-{[*numbers].index(column)}" if column in numbers else ""


@lru_cache(maxsize=8)
def words_of(data: PlotData, name: str) -> list[str]:
    """Return the values of a column as texts; underscores in identifiers become spaces."""
    words = cell_texts(data, name)
    return [word.replace("_", " ") for word in words] if name.endswith("_id") else words


class SectionEvidence:
    """The evidence of the numbers of one section, collected while its tables are written."""

    def __init__(self, number: int, explainer: Explainer) -> None:
        self._number, self._explainer = number, explainer
        self.tables: dict[str, TableEvidence] = {}
        self._responses: dict[CitedResponse, str] = {}

    def of_table(self, name: str, title: str, frame: pd.DataFrame, data: PlotData) -> TableEvidence:
        """Add a `TableEvidence` for a table, and return it; it makes the links of the numbers."""
        number = f"{self._number}-{len(self.tables) + 1}"
        self.tables[name] = TableEvidence(title, frame, number, self._explainer, data)
        return self.tables[name]

    def html(self) -> str:
        """Return the evidence as an HTML fold: the responses, then each table row by row."""
        tables = [table for table in self.tables.values() if table.rows]
        if not tables:
            return ""
        folds = "\n".join(map(self._table_html, tables))  # collects the responses
        responses = "".join(
            f'<p id="{anchor}">{response_words(response)}</p>'
            for response, anchor in self._responses.items()
        )
        return fold("Where these numbers come from", f"\n{responses}\n{folds}", "why")

    def _table_html(self, table: TableEvidence) -> str:
        """Return the evidence of one table as HTML: what its columns mean, then its rows."""
        meanings = {
            name: (explanation.meaning, f" Unit: {unit}." if unit else "")
            for _, numbers in table.rows.values()
            for name, explanation in numbers.items()
            for unit in [unit_words(explanation.unit)]
            if explanation.meaning
        }
        definitions = "".join(
            f"<dt>{text(column_title(name))}</dt><dd>{text(plain(meaning) + unit, 400)}</dd>"
            for name, (meaning, unit) in meanings.items()
        )
        rows = "\n".join(self._row_html(table, at) for at in sorted(table.rows))
        return fold(text(table.title), f"<dl>{definitions}</dl>\n<ul>{rows}</ul>")

    def _row_html(self, table: TableEvidence, at: int) -> str:
        """Return the evidence of one row as HTML: links to its responses, then each number."""
        label, explanations = table.rows[at]
        sources = dict.fromkeys(
            response for explanation in explanations.values() for response in explanation.sources
        )
        for response in sources:
            self._responses.setdefault(response, f"a{self._number}-{len(self._responses) + 1}")
        links = " and ".join(
            f'<a href="#{self._responses[response]}">{words}</a>'
            for number, response in enumerate(sources, 1)
            for words in ["the response" if len(sources) == 1 else f"response {number}"]
        )
        numbers = "".join(
            f'<span id="{table.evidence_of(at, name)}">{text(column_title(name))} '
            f"{known_of(explanation)}</span>"
            for name, explanation in explanations.items()
        )
        name = f'<a href="#{table.anchor(at)}">{text(label, 120)}</a>'
        return f"<li><p>{name}{' in ' * bool(links)}{links}:</p>{numbers}</li>"


def known_of(explanation: Explanation) -> str:
    """Return the explanation of one number as HTML: its value, path, formula and notes."""
    value, place = explanation.value, explanation.place
    exact = f"{value:,}".removesuffix(".0") if isinstance(value, int | float) else str(value)
    parts = []
    if value is None:
        exact = "missing"
        parts = [plain(explanation.missing or "the response has no value here")]
    if place is not None:
        parts.append(_place_words(place, exact))
    if explanation.formula:
        parts.append(f"= {plain(explanation.formula)}")
    state = explanation.availability or ""
    if value is not None and state.startswith("partial"):
        parts.append(plain(state.replace("partial", "measured in part", 1)))
    parts += map(plain, explanation.notes)
    if explanation.end:
        parts.append(f"the trail ends here: {plain(explanation.end)}")
    words = "; ".join(part.rstrip(". ") for part in dict.fromkeys(parts))
    return f"<b>{text(exact)}</b>{text(f': {words}.' if words else '.', 700)}"


def _place_words(place: ValuePlace, exact: str) -> str:
    """Return a text that says where a value is in its response: its JSON path and its bytes.

    ``exact`` is the value as text; if the response spells it differently, the text says so.
    """
    where = path_words(place.path)
    if place.start is None:
        return f"looked for at {where}"
    spelled = f", spelled {place.text}" if place.text and place.text != exact else ""
    return f"read at {where}, bytes {place.start:,} to {place.end:,}{spelled}"


def response_words(response: CitedResponse) -> str:
    """Return a sentence about a response as HTML: its section, host, filters, time and hash."""
    fetched = fetch_time(response.fetched_at)
    parts = (
        f"the response for <b>{text(chapter_of(response.section or 'all sections').title)}</b>",
        response.host and f"about {text(response.host)}",
        response.scope and text(describe_scope(response.scope)),
        fetched and f"sent {text(fetched)} UTC",
        response.status and f"with status {response.status}",
        response.stale and "taken from a cache after it had expired",
        response.sha256 and f"SHA-256 <code>{text(response.sha256)}</code>",
    )
    checked = (
        " Its bytes were checked against it when this page was made." if response.checked else ""
    )
    return f"From {', '.join(part for part in parts if part)}.{checked}"
