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
from aatoolkit._util.numbers import format_p_value, number, signed
from aatoolkit._util.show import fold_html
from aatoolkit._util.text import capitalize, counted, humanize, join_some, visible
from aatoolkit.display.plot.data import PlotData, PlotOptions, to_plot_data
from aatoolkit.display.plot.style import describe_scope, format_fetch_time
from aatoolkit.display.plot.tables import make_key_figure_cards
from aatoolkit.display.report.evidence import SectionEvidence
from aatoolkit.display.report.html import (
    escape,
    format_attribute,
    render_bullet_list,
    render_image,
    render_linked_table,
    render_scrolling_table,
    render_sparkline,
)
from aatoolkit.display.report.style import COLOURS, STYLE_SHEET
from aatoolkit.display.report.words import (
    CHAPTER_BY_SECTION,
    Chapter,
    describe_availability,
    find_chapter,
    to_plain_words,
)
from aatoolkit.errors import AAToolkitError, ArgumentError
from aatoolkit.metadata.recorded import cache_checks
from aatoolkit.stats.explain import Explainer
from aatoolkit.stats.results import CANNOT_SAY, CHANGE_WORDS, NO_EVIDENCE

if TYPE_CHECKING:
    from aatoolkit.client.dataset import Dataset
    from aatoolkit.normalizer.tables import Tables

_PICTURE_WIDTH = 260.0
"""The width of pictures in points; a phone can show it without making letters smaller."""

_PAGE_TEMPLATE = """\
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


def page(
    dataset: Dataset, max_rows: int, earlier_dataset: Dataset | None, title: str | None
) -> str:
    """Return the report of a dataset as an HTML page.

    The dataset is compared with ``earlier_dataset``; if that is None, with the period before the
    dataset. Tables have at most ``max_rows`` rows. ``title`` is by default the dataset's hosts.
    """
    if max_rows < 1:
        raise ArgumentError(f"rows={max_rows!r} is no whole number from 1", argument="rows")
    with cache_checks():
        return _ReportPage(dataset, max_rows).to_html(earlier_dataset, title)


class _ReportPage:
    """The page of a report while it is written: its dataset, and the explanations of numbers."""

    def __init__(self, dataset: Dataset, max_rows: int) -> None:
        self._dataset = dataset
        self._max_rows = max_rows
        # Sections that no chapter knows come last.
        self._section_names = sorted(
            dataset, key=lambda name: [*CHAPTER_BY_SECTION, name].index(name)
        )
        self._explainer = Explainer(dataset)
        self._data_by_id: dict[int, PlotData] = {}
        self._evidence_by_section: dict[str, SectionEvidence] = {}
        self._symbol_by_section: dict[str, str] = {}

    def to_html(self, earlier_dataset: Dataset | None, title: str | None) -> str:
        """Return the whole page as HTML."""
        main_data = [self._plot_data(tables.main) for tables in self._dataset.values()]
        sources = [source for data in main_data for source in data.metadata.sources]
        hosts = ", ".join(dict.fromkeys(source.host or "unknown host" for source in sources))
        # The sections first: the summary links to the evidence of their numbers.
        sections = [
            self._section_html(name, section_number)
            for section_number, name in enumerate(self._section_names)
        ]
        contents_items = (
            f'<li>{symbol} <a href="#s{section_number}">{escape(find_chapter(name).title)}</a></li>'
            for section_number, (name, symbol) in enumerate(self._symbol_by_section.items())
        )
        return _PAGE_TEMPLATE.format(
            host=escape(hosts or "the brand"),
            title=escape(title or hosts or "No responses"),
            style=COLOURS + STYLE_SHEET,
            notes=escape(" ".join(_iterate_source_sentences(main_data))),
            summary=self._summary_html(earlier_dataset),
            contents="".join(contents_items),
            sections="\n".join(sections),
        )

    def _plot_data(self, frame: pd.DataFrame) -> PlotData:
        """Return a frame of the dataset prepared for plotting; a second call reuses the result."""
        if id(frame) not in self._data_by_id:
            self._data_by_id[id(frame)] = to_plot_data(frame)
        return self._data_by_id[id(frame)]

    # -- a section -----------------------------------------------------------------------------

    def _section_html(self, section: str, section_number: int) -> str:
        """Return a section as HTML: its availability, picture, tables and explanations."""
        tables = self._dataset[section]
        chapter = find_chapter(section)
        evidence = self._evidence_by_section[section] = SectionEvidence(
            section_number, self._explainer
        )
        title_by_table = {table: capitalize(humanize(table)) for table in tables}
        state_texts = [
            describe_availability(tables._format_status(table)) for table in title_by_table
        ]
        # What was measured in part says more than what was measured as a whole.
        availability_text = min(state_texts, key=lambda state: "◐○?●–".find(state[0]))
        affected_count = state_texts.count(availability_text)
        self._symbol_by_section[section] = availability_text[0]
        availability_text += f" ({affected_count} of {len(state_texts)} tables)" * (
            affected_count < len(state_texts)
        )
        picture = self._picture_html(tables, chapter)
        columns_by_open_table = {
            table: columns for table, columns in chapter.tables.items() if table in tables
        } or {next(iter(tables)): []}
        html_parts = [
            f'<section aria-labelledby="s{section_number}">'
            f'<h2 id="s{section_number}">{escape(chapter.title)}</h2>',
            f'<p class="note">{escape(availability_text, 600)}</p>',
            picture,
        ]
        folded_tables = []
        for table in dict.fromkeys([*columns_by_open_table, *title_by_table]):
            is_open = table in columns_by_open_table
            table_heading = f"{escape(title_by_table[table])}, {counted(tables.rows[table], 'row')}"
            table_status = describe_availability(tables._format_status(table))
            if tables.rows[table]:
                data = self._plot_data(tables[table])
                max_table_rows = self._max_rows if is_open else self._max_rows // 2 or 1
                table_evidence = evidence.add_table(
                    table, title_by_table[table], tables[table], data.first_rows(max_table_rows)
                )
                table_html = render_linked_table(
                    table_evidence, data, columns_by_open_table.get(table, [])
                )
                if not is_open:
                    folded_tables.append(fold_html(table_heading, table_html))
                else:  # below a picture it is folded on screens, and open on paper
                    html_parts.append(
                        fold_html(f"Table: {table_heading}", table_html, ' class="table"')
                        if picture
                        else table_html
                    )
            elif is_open and table_status != availability_text:
                html_parts.append(
                    f'<p class="note">{escape(title_by_table[table])}: '
                    f"{escape(table_status, 600)}</p>"
                )
        further_tables_html = (
            fold_html(
                f"Further tables ({len(folded_tables)})", "".join(folded_tables), ' class="more"'
            )
            if folded_tables
            else ""
        )
        # The folds were made before the evidence, because it also explains their numbers.
        return "\n".join(
            filter(None, [*html_parts, evidence.to_html(), further_tables_html, "</section>"])
        )

    def _picture_html(self, tables: Tables, chapter: Chapter) -> str:
        """Return the picture of a section as HTML, or "" if there is nothing to draw."""
        from aatoolkit.display.plot.draw import create_picture

        candidate_names = [chapter.picture]
        if chapter.picture not in tables:
            # For an unknown section, a table over time says most, then the main table.
            candidate_names = [
                name
                for name in tables
                if tables.rows[name] > 1 and self._plot_data(tables[name]).time_keys
            ] + [*tables][:1]
        for name in candidate_names:
            picture = create_picture(self._plot_data(tables[name]), _PICTURE_WIDTH)
            if picture is not None:
                return f"<figure>{render_image(picture.svg(), picture.finding)}</figure>"
        return ""

    # -- the summary ---------------------------------------------------------------------------

    def _summary_html(self, earlier_dataset: Dataset | None) -> str:
        """Return the summary as HTML: key figures, what changed, and all comparisons."""
        baseline_text = "the earlier dataset" if earlier_dataset else "the window before"
        comparisons = []
        failure_items = [
            f"<b>{escape(find_chapter(section).title)}</b> failed: {escape(error, 400)}"
            for section, error in self._dataset.errors.items()
        ]
        try:
            comparisons = self._dataset.compare(earlier_dataset).to_dict("records")
        except AAToolkitError as error:
            failure_items.append(
                f"What changed cannot be said: {escape(to_plain_words(str(error)), 400)}"
            )
        numbered_changes = [
            (comparison_number, row)
            for comparison_number, row in enumerate(comparisons, 1)
            if row["verdict"] in CHANGE_WORDS
        ]
        untested_figures = [
            _describe_comparison(row) for row in comparisons if row["verdict"] == CANNOT_SAY
        ]
        heading = ""
        if numbered_changes:
            heading = f"Shown to have changed since {baseline_text}:"
        elif len(untested_figures) < len(comparisons):
            heading = (
                f"None of {counted(len(comparisons) - len(untested_figures), 'compared figure')}"
                f" is shown to have changed since {baseline_text}: what is seen may be chance."
            )
        return "".join([
            f"<p><b>{escape(heading, 300)}</b></p>" if heading else "",
            render_bullet_list([
                f"{escape(capitalize(_describe_comparison(row)), 200)}: "
                f'<a href="#c{comparison_number}">'
                f"{escape('{} to {}, {}'.format(*_format_numbers(row)))}</a>"
                for comparison_number, row in numbered_changes
            ]),
            self._cards_html(comparisons, earlier_dataset is None, baseline_text),
            f"<p>It cannot be said whether {escape(join_some(untested_figures), 400)} changed.</p>"
            if untested_figures else "",
            render_bullet_list(failure_items),
            _comparisons_html(comparisons, baseline_text) if comparisons else "",
        ])  # fmt: skip

    def _cards_html(
        self, comparisons: Sequence[dict[Any, Any]], has_previous: bool, baseline_text: str
    ) -> str:
        """Return the key figures as HTML cards, each with value, line chart, change and verdict.

        ``comparisons`` has a dict for each compared measure. With ``has_previous``, changes are
        since the window before, and are read from the key figures; else they are read from
        ``comparisons``. ``baseline_text`` names in words what is compared with.
        """
        cards = []
        for section in self._section_names:
            for table, frame in self._dataset[section].items():
                data = self._plot_data(frame)
                key_figure_cards, columns = make_key_figure_cards(data, PlotOptions())
                for row, card in enumerate(key_figure_cards):
                    if np.isnan(data.values(columns[0])[row]):
                        continue
                    anchor = (
                        self._evidence_by_section[section]
                        .tables[table]
                        .get_explanation_anchor(row, columns[0])
                    )
                    href = format_attribute("href", f"#{anchor}" * bool(anchor))
                    measure = card.measure
                    comparison = next((comparison for comparison in comparisons
                                   if comparison["measure"] == measure and (
                                       comparison["subject"] in _SUFFIX_BY_SUBJECT
                                       or measure == "share_of_voice")), {})  # fmt: skip
                    # Its comparison is written in the same unit.
                    comparison["unit"] = data.units(columns[0])[row]
                    change_text = card.change_text
                    if not has_previous:
                        value = comparison.get("change", pd.NA)
                        change_text = "" if pd.isna(value) else signed(value, comparison["unit"])
                    verdict = _WORDS_BY_VERDICT.get(comparison.get("verdict", ""), "not tested")
                    change_note = escape(
                        f"{_spell_out_points(change_text)}: {verdict}" if change_text else ""
                    )
                    cards.append(
                        f"<div><dt>{escape(card.label)}</dt><dd><a{href}>{escape(card.value)}</a>"
                        f"<small>{change_note}</small>{render_sparkline(data.daily_values(measure))}</dd></div>"
                    )
                if cards:
                    return (
                        f'<p class="note">Changes are since {escape(baseline_text)}. '
                        '<span class="screen">Each number leads to where it comes from.</span></p>'
                        f'<dl class="cards">{"".join(cards)}</dl>'
                    )
        return '<p class="note">No key figures; the sections say why, or have the numbers.</p>'


_SUFFIX_BY_SUBJECT = {"key figure": "", "all answers": "", "all prompts": " over all prompts"}
_WORDS_BY_VERDICT = {
    **{word: f"shown to be {word}" for word in CHANGE_WORDS},
    NO_EVIDENCE: "may be chance",
    CANNOT_SAY: "cannot be tested",
}


def _spell_out_points(change_text: str) -> str:
    """Return a text in which ``pp``, for percentage points, is written as "points"."""
    return change_text.replace("pp", "points")


def _format_numbers(comparison: Mapping[Any, Any]) -> list[str]:
    """Return before, after, change, interval and adjusted p-value of a comparison as texts."""
    unit = None if pd.isna(comparison["unit"]) else str(comparison["unit"])
    earlier_value, later_value, change_value, interval_low, interval_high, p_adjusted = (
        pd.to_numeric(
            [
                comparison[column_name]
                for column_name in ("before", "after", "change", "low", "high", "p_adjusted")
            ]
        )
    )
    interval = f"{signed(interval_low, unit)} to {signed(interval_high, unit)}".replace(
        " pp to", " to"
    )
    test_texts = ["–", "–"] if np.isnan(p_adjusted) else [interval, format_p_value(p_adjusted)]
    before_and_after = [number(value, unit, exact=True) for value in (earlier_value, later_value)]
    return [*map(_spell_out_points, (*before_and_after, signed(change_value, unit), *test_texts))]


def _comparisons_html(comparisons: Sequence[Mapping[Any, Any]], baseline_text: str) -> str:
    """Return an HTML table of all comparisons, with verdicts, sample sizes and methods.

    ``baseline_text`` names in words what is compared with, such as "the earlier dataset".
    """
    table_rows = []
    for row_number, comparison in enumerate(comparisons, 1):
        verdict = comparison["verdict"]
        reason = comparison["why"] if verdict == CANNOT_SAY else comparison["method"] or ""
        verdict_text = f"{_WORDS_BY_VERDICT[verdict]}: {to_plain_words(str(reason))}"
        number_cells = "".join(
            f'<td class="number">{escape(number_text)}</td>'
            for number_text in _format_numbers(comparison)
        )
        table_rows.append(
            f'<tr id="c{row_number}"><th scope="row">'
            f"{escape(capitalize(_describe_comparison(comparison)), 200)}</th>"
            f'{number_cells}<td class="words">{escape(verdict_text, 700)}</td></tr>'
        )
    heading = f"Comparisons with {baseline_text} ({len(comparisons)}), and how they were computed"
    note = (
        "Shown to be up or down: an adjusted p-value below 5%. When nothing changes, up to one "
        "page in twenty still names something. Intervals are each for its row alone."
    )
    column_headings = f"What,Before,Now,Change,{LEVEL:.0%} interval,Adjusted p,Verdict".split(",")
    header_cells = [f'<th scope="col">{column_heading}</th>' for column_heading in column_headings]
    table_html = render_scrolling_table("<b>Comparisons</b>", heading, header_cells, table_rows)
    return fold_html(heading, f'<p class="note">{note}</p>{table_html}')


def _describe_comparison(comparison: Mapping[Any, Any]) -> str:
    """Return what a comparison is about in words, such as "mention rate of Acme"."""
    subject = str(comparison["subject"])
    subject_name = "" if pd.isna(comparison["name"]) else str(comparison["name"])
    measure_name = humanize(str(comparison["measure"]))
    if subject == "key figure":
        return humanize(subject_name) or measure_name
    return measure_name + (
        f" of {visible(subject_name)}"
        if subject_name
        else _SUFFIX_BY_SUBJECT.get(subject, f" without a {subject}")
    )


# -- head and foot -----------------------------------------------------------------------------


def _iterate_source_sentences(main_data: Sequence[PlotData]) -> Iterator[str]:
    """Yield sentences on API responses: their days and filters, and when they were fetched.

    ``main_data`` has the main table of each section. The days are those of a host's first response:
    others may be about fewer days.
    """
    sources_and_windows = [
        (source, data.window) for data in main_data for source in data.metadata.sources
    ]
    window_by_request = {
        (source.host, source.scope or ""): window
        for source, window in reversed(sources_and_windows)
    }
    for scope, first_day, last_day in sorted(
        {(scope, *window) for (_, scope), window in window_by_request.items()}
    ):
        window = f"{first_day} to {last_day}" * bool(first_day)
        if scope_text := f"{window} · {describe_scope(scope)}".strip(" ·"):
            yield f"{capitalize(scope_text)}."
    if fetch_times := sorted(
        format_fetch_time(source.fetched_at)
        for source, _ in sources_and_windows
        if source.fetched_at
    ):
        yield f"Fetched {fetch_times[-1][:16]} UTC."
