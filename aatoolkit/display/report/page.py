"""The page: head, summary, the sections in reading order, what was measured, sources.

The summary is key figures as cards, what changed, and what cannot be said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from aatoolkit._util.numbers import number, p_value, signed
from aatoolkit._util.text import capitalized, counted, humanize, some_of, visible
from aatoolkit.display.plot.style import describe_scope
from aatoolkit.display.report.evidence import CellExplainer, SectionEvidence, moment
from aatoolkit.display.report.html import (
    bullets,
    element,
    fold,
    grid,
    image,
    spark,
    table_of,
    text,
)
from aatoolkit.display.report.style import STYLE
from aatoolkit.display.report.words import (
    Chapter,
    RowNames,
    chapter_of,
    in_reading_order,
    plain,
    state_words,
    title_of,
)
from aatoolkit.errors import AAToolkitError, ArgumentError
from aatoolkit.metadata.attrs import Source
from aatoolkit.sections.aggregation import RANK
from aatoolkit.stats.sums import previous_names

if TYPE_CHECKING:
    from aatoolkit.client.dataset import Dataset
    from aatoolkit.normalizer.tables import Tables

_WIDE = 280.0
"""The width of pictures in points: that of a phone, for which letters are not made smaller."""

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
<header><h1>{title}</h1><p class="lead">How AI answer engines treat {host}.</p>
<p class="note">{notes}</p>
<p class="note screen">Each number leads to where it comes from.</p>
<p class="note paper">What is folded on the page is not printed: where each number comes from, \
and all further tables.</p></header>
<main>
<section aria-labelledby="changed"><h2 id="changed">Summary</h2>{summary}</section>
<nav id="sections" aria-label="Sections"><ul>{contents}</ul></nav>
{sections}
<section aria-labelledby="measured"><h2 id="measured">What was measured</h2>{measured}</section>
</main>
<footer>{sources}</footer>
</body>
</html>
"""


def page(dataset: Dataset, rows: int, before: Dataset | None, title: str | None) -> str:
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
    return _Page(dataset, rows).html(before, title)


class _Page:
    def __init__(self, dataset: Dataset, rows: int) -> None:
        self._dataset, self._rows = dataset, rows
        self._order = in_reading_order(dataset)
        self._names, self._explain = RowNames(dataset), CellExplainer(dataset)
        self._evidence: dict[str, SectionEvidence] = {}

    def html(self, before: Dataset | None, title: str | None) -> str:
        mains = (self._names.data(of.main).metadata.sources for of in self._dataset.values())
        sources = [*dict.fromkeys(source for sources in mains for source in sources)]
        hosts = dict.fromkeys(source.host or "unknown host" for source in sources)
        # The sections first: the summary links to the evidence of their numbers.
        sections = [self._section(name, at) for at, name in enumerate(self._order)]
        contents = (
            f'<li><a href="#s{at}">{text(chapter_of(name).title)}</a></li>'
            for at, name in enumerate(self._order)
        )
        return _PAGE.format(
            host=text(", ".join(hosts) or "the brand"),
            title=text(title or ", ".join(hosts) or "No responses"),
            style=STYLE,
            notes=text(" ".join(_notes(sources))),
            summary=self._summary(before),
            contents="".join(contents),
            sections="\n".join(sections),
            measured=self._measured(),
            sources=_sources(sources),
        )

    # -- a section -----------------------------------------------------------------------------

    def _section(self, name: str, at: int) -> str:
        tables, chapter = self._dataset[name], chapter_of(name)
        evidence = self._evidence[name] = SectionEvidence(at, self._explain, self._names)
        doc = "" if tables.declaration is None else plain(tables.declaration.doc)
        main = next(iter(tables))
        opened = {
            table: names.split() for table, names in chapter.tables.items() if table in tables
        }
        opened, picture = opened or {main: []}, self._picture(tables, chapter)
        body = [
            f'<section aria-labelledby="s{at}"><h2 id="s{at}">{text(chapter.title)}</h2>',
            element("p", text(doc), "lead") if doc else "",
            element("p", text(state_words(tables._state(main)), 600), "state"),
            picture,
        ]

        def written(table: str, rows: int, columns: Sequence[str] | None = None) -> str:
            return table_of(evidence.of_table(table, tables[table]), rows, columns)

        for table, columns in opened.items():
            if not tables.rows[table]:
                state = text(state_words(tables._state(table)), 600)
                if state not in body[2]:
                    body.append(element("p", f"<b>{text(title_of(table))}</b>: {state}"))
                continue
            rows = written(table, min(self._rows, chapter.rows), columns)
            # Below a picture a table is folded on screens, and open on paper.
            body.append(fold(f"Table: {text(title_of(table))}", rows, "table") if picture else rows)
        others = [table for table in tables if tables.rows[table] and table not in opened]
        folds = [
            fold(f"{text(title_of(table))}, {counted(tables.rows[table], 'row')}",
                 written(table, self._rows))
            for table in others
        ]  # fmt: skip
        more = text(f"More: {', '.join(title_of(table).lower() for table in others)}", 300)
        # The folds before the evidence, which is of their numbers too.
        body += [evidence.html(), fold(more, "".join(folds), "more") if folds else "", "</section>"]
        return "\n".join(filter(None, body))

    def _picture(self, tables: Tables, chapter: Chapter) -> str:
        """The picture of a section; empty where no number of the table is other than 0."""
        from aatoolkit.display.plot.draw import picture_of

        names = [chapter.picture]
        if chapter.picture not in tables:
            # Of what nobody described, a course over time says most, and the main table next.
            courses = [name for name in tables if self._names.data(tables[name]).times]
            names = [*courses, next(iter(tables))]
        for name in names:
            data = self._names.data(tables[name])
            numbers = [np.nan_to_num(data.values(column)) for column in data.numbers]
            if numbers and not any(values.any() for values in numbers):
                continue
            picture = picture_of(tables[name], _WIDE)
            if picture is not None:
                return element("figure", image(picture.svg(name), picture.finding))
        return ""

    def _measured(self) -> str:
        """What was measured: how many tables, and each reason once with what it is of."""
        states: dict[str, dict[str, None]] = {}
        counts: Counter[str] = Counter()
        for name in self._order:
            for table in self._dataset[name]:
                words = state_words(self._dataset[name]._state(table))
                counts[words.partition(":")[0]] += 1
                states.setdefault(words, {})[title_of(table)] = None
        total = f"Of {counts.total()} tables: "
        total += ", ".join(f"{count} {words[2:].lower()}" for words, count in counts.most_common())
        items = [
            f"{text(words, 400)} <small>{text(', '.join(titles), 1000)}</small>"
            for words, titles in states.items()
        ]
        return element("p", text(total, 400), "lead") + bullets(items, "Reason by reason")

    # -- the summary ---------------------------------------------------------------------------

    def _summary(self, before: Dataset | None) -> str:
        since = "the earlier dataset" if before else "the window before"
        rows: list[dict[Any, Any]] = []
        methods = []
        failed = [
            f"<b>{text(chapter_of(name).title)}</b> failed: {text(error, 400)}"
            for name, error in self._dataset.errors.items()
        ]
        try:
            result = self._dataset.compare(before)
            rows = [*result.to_dict("records")]
            methods = [*map(str, filter(None, result["method"].dropna().unique()))]
        except AAToolkitError as error:
            failed.append(f"What changed cannot be said: {text(plain(str(error)), 400)}")
        evidence: list[str] = []
        changed, unchanged = (
            [_change(row, evidence) for row in rows if row["verdict"] in verdicts]
            for verdicts in (("up", "down"), ("no evidence",))
        )
        reasons: dict[str, list[str]] = {}
        for row in rows:
            if row["verdict"] == "cannot say":
                reasons.setdefault(str(row["why"]), []).append(_name(row))
        head = f"It cannot be said whether anything changed since {since}." if rows else ""
        if unchanged:
            head = f"Nothing is shown to have changed since {since}; what is seen may be chance."
        if changed:
            head = f"Shown to have changed since {since}:"
        untested = [
            f"{text(capitalized(', '.join(names)), 400)}: {text(plain(why), 400)}"
            for why, names in reasons.items()
        ]
        names = [*dict.fromkeys(name for names in reasons.values() for name in names)]
        parts = [
            self._cards(rows),
            element("p", f"<b>{head}</b>") if head else "",
            bullets(changed),
            bullets(failed),
            bullets(unchanged, "Compared, and not shown to differ"),
            bullets(
                untested, text(f"Whether {some_of(names)} changed cannot be tested; reasons", 300)
            ),
        ]
        if evidence:
            note = element("p", text(_METHOD + " ".join(
                f"{capitalized(plain(method))}." for method in methods), 900), "note")  # fmt: skip
            parts.append(
                fold("How these changes were computed", note + element("ul", "".join(evidence)))
            )
        return "".join(parts)

    def _cards(self, rows: Sequence[Mapping[Any, Any]]) -> str:
        """The key figures, each with its value, its change, its course and the verdict on it."""
        cards, lack = [], "No section has a table of key figures, each with its value."
        for name, table, data in self._figures():
            values, units = data.values("value"), data.units("value")
            names = {of: column for column, of in previous_names(data.frame).items()}
            before = data.values(names["value"]) if "value" in names else None
            anchors = self._evidence[name].tables[table]
            for at, (label, value) in enumerate(zip(data.labels("metric"), values, strict=True)):
                if np.isnan(value):
                    continue
                anchor, figure = anchors.evidence_of(at, "value"), text(number(value, units[at]))
                link = element("a", figure, href=f"#{anchor}") if anchor else figure
                moved = np.nan if before is None else value - before[at]
                change = ""
                if not np.isnan(moved):
                    change = f"{signed(moved, units[at])} since the window before"
                    change += _verdict(rows, label.replace(" ", "_"))
                lower = " (lower is better)" if units[at] == RANK else ""
                small = element("small", text(change))
                title, line = text(capitalized(label) + lower), spark(data.course(label))
                cards.append(f"<div><dt>{title}</dt><dd>{link}{line}{small}</dd></div>")
            if cards:
                return element("dl", "".join(cards), "cards")
            state = state_words(self._dataset[name]._state(table))
            lack = f"No key figure has a value. {state}"
        return element("p", text(lack, 600), "note")

    def _figures(self) -> Iterator[tuple[str, str, Any]]:
        """The tables of key figures: a row for each metric, with its value."""
        for section in self._order:
            for name, frame in self._dataset[section].items():
                data = self._names.data(frame)
                if data.keys == ["metric"] and data.kinds.get("value") == "number":
                    yield section, name, data


_METHOD = (
    "Shown: adjusted p-value below 5%; when nothing changes, up to one page in twenty still "
    "names something. Intervals are of 95%, each for its row alone. "
)
_SUBJECTS = {"key figure": "", "all answers": "", "all prompts": " over all prompts"}
_VERDICTS = {
    "up": ": shown to be up",
    "down": ": shown to be down",
    "no evidence": ": may be chance",
    "cannot say": ": cannot be tested",
}


def _verdict(rows: Sequence[Mapping[Any, Any]], column: str) -> str:
    """The verdict on the change of a key figure in words; empty where it was not compared."""
    for row in rows:
        is_total = row["subject"] in _SUBJECTS or column == "share_of_voice"
        if row["measure"] == column and is_total:
            return _VERDICTS.get(str(row["verdict"]), "")
    return ""


def _change(row: Mapping[Any, Any], evidence: list[str]) -> str:
    """A change in words, with a link to how it was computed."""
    unit = None if pd.isna(row["unit"]) else str(row["unit"])

    def difference(name: str) -> str:
        value = float(row[name])
        return signed(value, unit).replace("pp", "points")

    name, anchor = text(capitalized(_name(row)), 200), f"c{len(evidence) + 1}"
    sides = (("before", "before", "n_before"), ("now", "after", "n"))
    facts = [
        f"{word} {float(row[side]):.6g}"
        + ("" if pd.isna(row[count]) else f" of n = {row[count]:,.0f}")
        for word, side, count in sides
        if not pd.isna(row[side])
    ]
    tests = (("", "p"), ("adjusted ", "p_adjusted"))
    facts += [word + p_value(row[test]) for word, test in tests if not pd.isna(row[test])]
    why = plain(str(row["why"])).rstrip(". ")
    words = f"<b>{name}</b>: {text(', '.join(facts), 400)}. {text(why, 600)}."
    evidence.append(element("li", words, id=anchor))
    moved = " to ".join(number(float(row[side]), unit, exact=True) for _, side, _ in sides)
    around = f"{difference('change')}, likely between {difference('low')} and {difference('high')}"
    if row["verdict"] == "no evidence" and not pd.isna(row["detectable"]):
        least = difference("detectable").lstrip("+")
        around += f"; a change of {least} or more would likely have shown"
    return f'{name} <a href="#{anchor}">{text(moved)}</a>: {text(around, 200)}'


def _name(row: Mapping[Any, Any]) -> str:
    subject, name = str(row["subject"]), "" if pd.isna(row["name"]) else str(row["name"])
    measure = humanize(str(row["measure"]))
    if subject == "key figure":
        return humanize(name) or measure
    return measure + (f" of {visible(name)}" if name else _SUBJECTS.get(subject, ""))


# -- head and foot -----------------------------------------------------------------------------


def _notes(sources: Sequence[Source]) -> Iterator[str]:
    scopes = dict.fromkeys(source.scope or "" for source in sources)
    if any(scopes):
        yield f"Scope: {'; '.join(map(describe_scope, scopes))}."
    if fetched := sorted(moment(source) for source in sources if source.fetched_at):
        yield f"Fetched: {' to '.join(dict.fromkeys((fetched[0], fetched[-1])))} UTC."
    if any(source.stale for source in sources):
        yield "Some responses came from a cache after they had expired."


def _sources(sources: Sequence[Source]) -> str:
    rows = (
        f'<tr><th scope="row">{text(chapter_of(source.section or "").title)}</th>'
        f"<td><code>{text((source.sha256 or '')[:16])}</code></td>"
        f"<td>{text(moment(source))}</td></tr>"
        for source in sources
    )
    heads = (element("th", head, scope="col") for head in ("Section", "SHA-256", "Fetched"))
    caption = "The responses that this page was made from"
    table = grid(caption, caption, heads, rows, 3)
    return fold(f"Sources: {counted(len(sources), 'response')}", table)
