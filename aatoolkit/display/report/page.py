"""The page of a report: a summary, then the sections in a fixed order, each with its tables.

The summary has the key figures, the significant changes, and the comparisons that could not be
tested.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from aatoolkit._util.defaults import LEVEL
from aatoolkit._util.numbers import number, p_value, signed
from aatoolkit._util.text import capitalized, counted, humanize, some_of, visible
from aatoolkit.display.plot.data import Options, PlotData, plot_data
from aatoolkit.display.plot.style import describe_scope, fetch_time
from aatoolkit.display.plot.tables import key_figures
from aatoolkit.display.report.evidence import SectionEvidence
from aatoolkit.display.report.html import (
    attribute,
    bullets,
    escape,
    fold,
    grid,
    image,
    sparkline,
    table_of,
)
from aatoolkit.display.report.style import STYLE
from aatoolkit.display.report.words import (
    Chapter,
    chapter_of,
    in_reading_order,
    plain_words,
    state_words,
)
from aatoolkit.errors import AAToolkitError, ArgumentError
from aatoolkit.metadata.attrs import Source
from aatoolkit.metadata.recorded import cache_checks
from aatoolkit.stats.explain import Explainer
from aatoolkit.stats.results import CANNOT_SAY, CHANGE_WORDS, NO_EVIDENCE

if TYPE_CHECKING:
    from aatoolkit.client.dataset import Dataset
    from aatoolkit.normalizer.tables import Tables

_WIDE = 260.0
"""The width of pictures in points; it fits a phone without making letters smaller."""

_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>{title}: how AI answer engines treat the brand</title>
<style>{style}</style>
</head>
<body>
<a class="skip" href="#sections">Skip to the sections</a>
<header><h1>{title}</h1><p class="lead">How AI answer engines mention, rank and cite {host}.</p>
<p class="note">{notes}</p>
<p class="note paper">Not on paper: comparisons, further tables, and where each number \
comes from.</p></header>
<main>
<section aria-labelledby="changed"><h2 id="changed">Summary</h2>{summary}</section>
<nav id="sections" aria-label="Sections"><ul>{contents}</ul></nav>
<div class="sections">
{sections}
</div>
</main>
</body>
</html>
"""


def page(dataset: Dataset, rows: int, before: Dataset | None, title: str | None) -> str:
    """Return the report of a dataset, compared with the dataset ``before``, as an HTML page.

    Tables have at most ``rows`` rows.
    """
    if rows < 1:
        raise ArgumentError(f"rows={rows!r} is no whole number from 1", argument="rows")
    with cache_checks():
        return _Page(dataset, rows).html(before, title)


class _Page:
    def __init__(self, dataset: Dataset, max_rows: int) -> None:
        self._dataset, self._max_rows = dataset, max_rows
        self._names = in_reading_order(dataset)
        self._explainer = Explainer(dataset)
        self._data_by_id: dict[int, PlotData] = {}
        self._evidence: dict[str, SectionEvidence] = {}
        self._states: dict[str, str] = {}

    def html(self, before: Dataset | None, title: str | None) -> str:
        per_table = (self._data(tables.main).metadata.sources for tables in self._dataset.values())
        sources = [*dict.fromkeys(source for sources in per_table for source in sources)]
        hosts = ", ".join(dict.fromkeys(source.host or "unknown host" for source in sources))
        # The sections first: the summary links to the evidence of their numbers.
        sections = [self._section_html(name, number) for number, name in enumerate(self._names)]
        contents = (
            f'<li>{state} <a href="#s{number}">{escape(chapter_of(name).title)}</a></li>'
            for number, (name, state) in enumerate(self._states.items())
        )
        return _PAGE.format(
            host=escape(hosts or "the brand"),
            title=escape(title or hosts or "No responses"),
            style=STYLE,
            notes=escape(" ".join(_source_sentences(sources))),
            summary=self._summary_html(before),
            contents="".join(contents),
            sections="\n".join(sections),
        )

    def _data(self, frame: pd.DataFrame) -> PlotData:
        """Return a frame of the dataset prepared for plotting, from a cache if possible."""
        if id(frame) not in self._data_by_id:
            self._data_by_id[id(frame)] = plot_data(frame)
        return self._data_by_id[id(frame)]

    # -- a section -----------------------------------------------------------------------------

    def _section_html(self, name: str, number: int) -> str:
        tables, chapter = self._dataset[name], chapter_of(name)
        evidence = self._evidence[name] = SectionEvidence(number, self._explainer)
        titles = {table: capitalized(humanize(table)) for table in tables}
        states = [state_words(tables._status(table)) for table in titles]
        # What was measured in part says more than what was measured as a whole.
        availability = min(states, key=lambda state: "◐○?●–".find(state[0]))
        same_count, self._states[name] = states.count(availability), availability[0]
        availability += f" ({same_count} of {len(states)} tables)" * (same_count < len(states))
        picture = self._picture_html(tables, chapter)
        unfolded = {table: columns for table, columns in chapter.tables.items() if table in tables}
        unfolded = unfolded or {next(iter(titles)): []}
        body = [
            f'<section aria-labelledby="s{number}"><h2 id="s{number}">{escape(chapter.title)}</h2>',
            f'<p class="note">{escape(availability, 600)}</p>',
            picture,
        ]
        folded = []
        for table in dict.fromkeys([*unfolded, *titles]):
            head = f"{escape(titles[table])}, {counted(tables.rows[table], 'row')}"
            status = state_words(tables._status(table))
            if tables.rows[table]:
                data = self._data(tables[table])
                limit = self._max_rows if table in unfolded else self._max_rows // 2 or 1
                shown = evidence.add_table(table, titles[table], tables[table], data.first(limit))
                html = table_of(shown, data, unfolded.get(table, []))
                numbers = [data.values(name) for name in data.numbers]
                if table not in unfolded or (numbers and np.isnan(numbers).all()):
                    folded.append(fold(head, html))
                else:  # below a picture it is folded on screens, and open on paper
                    body.append(fold(f"Table: {head}", html, "table") if picture else html)
            elif table in unfolded and status != availability:
                body.append(f'<p class="note">{escape(titles[table])}: {escape(status, 600)}</p>')
        more = fold(f"Further tables ({len(folded)})", "".join(folded), "more") if folded else ""
        # The folds were made before the evidence, because it also explains their numbers.
        return "\n".join(filter(None, [*body, evidence.html(), more, "</section>"]))

    def _picture_html(self, tables: Tables, chapter: Chapter) -> str:
        """Return the picture of a section as HTML, or "" if there is nothing to draw."""
        from aatoolkit.display.plot.draw import picture_of

        candidates = [chapter.picture]
        if chapter.picture not in tables:
            # For an unknown section, a table over time says most, then the main table.
            timed = (n for n in tables if tables.rows[n] > 1 and self._data(tables[n]).time_keys)
            candidates = [*timed, next(iter(tables))]
        for name in candidates:
            picture = picture_of(self._data(tables[name]), _WIDE)
            if picture is not None:
                return f"<figure>{image(picture.svg(), picture.finding)}</figure>"
        return ""

    # -- the summary ---------------------------------------------------------------------------

    def _summary_html(self, before: Dataset | None) -> str:
        since = "the earlier dataset" if before else "the window before"
        comparisons = []
        failed = [
            f"<b>{escape(chapter_of(name).title)}</b> failed: {escape(error, 400)}"
            for name, error in self._dataset.errors.items()
        ]
        try:
            comparisons = [*self._dataset.compare(before).to_dict("records")]
        except AAToolkitError as error:
            failed.append(f"What changed cannot be said: {escape(plain_words(str(error)), 400)}")
        changed = {n: row for n, row in enumerate(comparisons, 1) if row["verdict"] in CHANGE_WORDS}
        untested = [_figure_name(row) for row in comparisons if row["verdict"] == CANNOT_SAY]
        head = ""
        if changed:
            head = f"Shown to have changed since {since}:"
        elif len(untested) < len(comparisons):
            head = (f"None of {counted(len(comparisons) - len(untested), 'compared figure')} is "
                    f"shown to have changed since {since}: what is seen may be chance."
                    )  # fmt: skip
        return "".join([
            self._cards_html(comparisons, before is None, since),
            f"<p><b>{escape(head, 300)}</b></p>" if head else "",
            bullets([f'{escape(capitalized(_figure_name(row)), 200)}: <a href="#c{n}">'
                     f"{escape('{} to {}, {}'.format(*_number_texts(row)))}</a>"
                     for n, row in changed.items()]),
            f"<p>It cannot be said whether {escape(some_of(untested), 400)} changed.</p>"
            if untested else "",
            bullets(failed),
            _comparisons_html(comparisons, since) if comparisons else "",
        ])  # fmt: skip

    def _cards_html(
        self, comparisons: Sequence[dict[Any, Any]], has_previous: bool, since: str
    ) -> str:
        """Return the key figures as HTML cards, each with value, line chart, change and verdict.

        ``comparisons`` has a dict per key figure. ``has_previous`` says whether there is an earlier
        period to compare with, and ``since`` is its name in words.
        """
        cards = []
        for name in self._names:
            for table, frame in self._dataset[name].items():
                data = self._data(frame)
                figures, columns = key_figures(data, Options())
                for row, card in enumerate(figures):
                    if np.isnan(data.values(columns[0])[row]):
                        continue
                    anchor = self._evidence[name].tables[table].evidence_of(row, columns[0])
                    href = attribute("href", f"#{anchor}" * bool(anchor))
                    measure = card.measure
                    result = next((result for result in comparisons
                                   if result["measure"] == measure and (
                                       result["subject"] in _SUBJECTS
                                       or measure == "share_of_voice")), {})  # fmt: skip
                    # Its comparison is written in the same unit.
                    result["unit"] = data.units(columns[0])[row]
                    change = card.change
                    if not has_previous:
                        value = result.get("change", pd.NA)
                        change = "" if pd.isna(value) else signed(value, result["unit"])
                    verdict = _VERDICTS.get(result.get("verdict", ""), "not tested")
                    small = escape(f"{_points(change)}: {verdict}" if change else "")
                    cards.append(
                        f"<div><dt>{escape(card.label)}</dt><dd><a{href}>{escape(card.value)}</a>"
                        f"<small>{small}</small>{sparkline(data.daily_values(measure))}</dd></div>"
                    )
                if cards:
                    return (
                        f'<p class="note">Changes are since {escape(since)}. <span class="screen">'
                        "Each number leads to where it comes from.</span></p>"
                        f'<dl class="cards">{"".join(cards)}</dl>'
                    )
        return '<p class="note">No key figures; the sections say why, or have the numbers.</p>'


_SUBJECTS = {"key figure": "", "all answers": "", "all prompts": " over all prompts"}
_VERDICTS = {
    **{word: f"shown to be {word}" for word in CHANGE_WORDS},
    NO_EVIDENCE: "may be chance",
    CANNOT_SAY: "cannot be tested",
}


def _points(change: str) -> str:
    return change.replace("pp", "points")


def _number_texts(row: Mapping[Any, Any]) -> list[str]:
    unit = None if pd.isna(row["unit"]) else str(row["unit"])
    before, after, change, low, high, p = pd.to_numeric(
        [row[name] for name in ("before", "after", "change", "low", "high", "p_adjusted")]
    )
    interval = f"{signed(low, unit)} to {signed(high, unit)}".replace(" pp to", " to")
    test_texts = ["–", "–"] if np.isnan(p) else [interval, p_value(p)]
    numbers = [number(value, unit, exact=True) for value in (before, after)]
    return [*map(_points, (*numbers, signed(change, unit), *test_texts))]


def _comparisons_html(comparisons: Sequence[Mapping[Any, Any]], since: str) -> str:
    """Return an HTML table of all comparisons, with verdicts, sample sizes and methods.

    ``since`` names the earlier period in words.
    """
    table_rows = []
    for i, row in enumerate(comparisons, 1):
        verdict = row["verdict"]
        reason = row["why"] if verdict == CANNOT_SAY else row["method"] or ""
        verdict_text = f"{_VERDICTS[verdict]}: {plain_words(str(reason))}"
        number_cells = "".join(
            f'<td class="number">{escape(text)}</td>' for text in _number_texts(row)
        )
        table_rows.append(
            f'<tr id="c{i}"><th scope="row">{escape(capitalized(_figure_name(row)), 200)}</th>'
            f'{number_cells}<td class="words">{escape(verdict_text, 700)}</td></tr>'
        )
    heading = f"Comparisons with {since} ({len(comparisons)}), and how they were computed"
    note = (
        "Shown to be up or down: an adjusted p-value below 5%. When nothing changes, up to one "
        "page in twenty still names something. Intervals are each for its row alone."
    )
    names = f"What,Before,Now,Change,{LEVEL:.0%} interval,Adjusted p,Verdict".split(",")
    header_cells = [f'<th scope="col">{name}</th>' for name in names]
    table = grid("<b>Comparisons</b>", heading, header_cells, table_rows)
    return fold(heading, f'<p class="note">{note}</p>{table}')


def _figure_name(row: Mapping[Any, Any]) -> str:
    subject, name = str(row["subject"]), "" if pd.isna(row["name"]) else str(row["name"])
    measure = humanize(str(row["measure"]))
    if subject == "key figure":
        return humanize(name) or measure
    return measure + (
        f" of {visible(name)}" if name else _SUBJECTS.get(subject, f" without a {subject}")
    )


# -- head and foot -----------------------------------------------------------------------------


def _source_sentences(sources: Sequence[Source]) -> Iterator[str]:
    """Yield sentences on the sources: their days and filters, and when they were fetched."""
    for scope, start, end in dict.fromkeys(
        (source.scope or "", source.window_start, source.window_end) for source in sources
    ):
        window = f"{start} to {end}" * bool(start)
        if scope_text := f"{window} · {describe_scope(scope)}".strip(" ·"):
            yield f"{capitalized(scope_text)}."
    if fetched := sorted(fetch_time(source.fetched_at) for source in sources if source.fetched_at):
        yield f"Fetched {fetched[-1][:16]} UTC."
