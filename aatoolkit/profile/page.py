"""The page of a draft: one file of HTML for the person who reviews it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from aatoolkit._util.text import markup
from aatoolkit.availability.detect import raw
from aatoolkit.jsontree.vectors import MISSING
from aatoolkit.sections.inference.relations import OPEN, ColumnFinding, Relation

if TYPE_CHECKING:
    from aatoolkit.profile.drafting import Draft
    from aatoolkit.profile.section_draft import SectionDraft

_SAMPLE, _WIDEST = 5, 12
_STYLE = """
:root{color-scheme:light dark}small{opacity:.75}
body{font:15px/1.45 system-ui,sans-serif;margin:2em auto;max-width:75em;padding:0 1em;color:#1c1c1c}
table{border-collapse:collapse;margin:.4em 0 1.2em;font-size:13px}
th,td{border-bottom:1px solid #ddd;padding:.25em .6em;text-align:left;vertical-align:top}
th{background:#f4f4f4}.proved{color:#12632f}.likely{color:#7a5200}.open{color:#a11}
.settled{color:#1d4f91}code{font-size:12.5px}details{margin:.3em 0}.scroll{overflow-x:auto}
@media(prefers-color-scheme:dark){body{background:#181818;color:#e6e6e6}th{background:#262626}
th,td{border-color:#3a3a3a}.proved{color:#7bd69a}.likely{color:#e0b25e}.open{color:#ff8d84}
.settled{color:#9cc3f5}}
"""


def page_of(draft: Draft) -> str:
    """Render the page as HTML, with nothing loaded from elsewhere."""
    title = markup(f"Draft of {draft.host}")
    parts = [
        f'<!doctype html><html lang="en"><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>{title}</title>',
        f"<style>{_STYLE}</style><h1>{title}</h1>",
        f"<p>{len(draft)} sections from {len(draft.requests)} requests. <b>Proved</b>: an identity "
        "or an experiment held on all rows. <b>Likely</b>: name and range agree. <b>Open</b>: "
        "nothing shows it, and aggregating it is refused.</p>",
        _summary(draft),
    ]
    for section in draft.values():
        parts += _section(section)
    parts.append(_questions(draft))
    parts.append(_requests(draft))
    return "\n".join(parts)


def _summary(draft: Draft) -> str:
    rows = []
    for name, section in draft.items():
        counts = section.counts()
        cells = [f'<a href="#{markup(name)}">{markup(name)}</a>', str(len(section.tables))]
        rows.append([*cells, *(str(count) for count in counts.values())])
    table = _table(["section", "tables", "proved", "likely", "open", "settled"], rows)
    failed = "".join(
        f"<li>{markup(name)}: {markup(str(error))}</li>" for name, error in draft.errors.items()
    )
    return table + (f"<h2>Not read</h2><ul>{failed}</ul>" if failed else "")


def _section(section: SectionDraft) -> Iterator[str]:
    yield f'<h2 id="{markup(section.name)}">{markup(section.name)}</h2>'
    for note in section.notes:
        yield f"<p>{markup(note)}</p>"
    if section.candidates:
        yield "<p>These may say what could be measured; none is read so until a rule says it.</p>"
        hosts = list(dict.fromkeys(host for one in section.candidates for host in one.beside))
        rows = [
            [
                f"<code>{markup(one.at)}</code>",
                markup(raw(one.value)[:120]),
                *(markup(raw(one.beside[host])[:120]) if host in one.beside else ""
                  for host in hosts),
                markup(one.why),
                f"<code>{markup(line or '')}</code>",
            ]
            for one, line in zip(section.candidates, section.rule_lines(), strict=True)
        ]  # fmt: skip
        yield _table(["place", "value", *map(markup, hosts), "why", "to read it"], rows)
    for relation in section.analysis.relations:
        columns = relation.columns
        yield f"<h3><code>{markup(relation.name)}</code></h3>"
        key = ", ".join(relation.key) or "none"
        yield f"<p>{len(relation.rows_of(0)):,} rows at <code>{markup(relation.path)}</code>, "
        yield f"{markup(relation.shape)}; key: {markup(key)}</p>"
        yield _table(
            ["column", "dtype", "unit", "rule", "confidence", "evidence", "example"],
            [_row(column) for column in columns],
        )
        yield _sample(relation)


def _row(column: ColumnFinding) -> list[str]:
    word = column.confidence
    rule = "key" if column.is_key else str(column.aggregate) if column.rule.value else ""
    example = "" if column.example is None else str(column.example)[:60]
    return [
        f"<code>{markup(column.name)}</code><br><small>{markup(column.path)}</small>",
        markup(column.dtype),
        markup(column.unit.value or ""),
        markup(rule),
        f'<span class="{word}">{word}</span>',
        markup(column.evidence),
        markup(example),
    ]


def _sample(relation: Relation) -> str:
    columns = relation.columns[:_WIDEST]
    rows = relation.rows_of(0)[:_SAMPLE].tolist()
    cells = [[_cell(column.values[at]) for column in columns] for at in rows]
    table = _table([f"<code>{markup(column.name)}</code>" for column in columns], cells)
    return f"<details><summary>A sample of rows</summary>{table}</details>"


def _cell(value: Any) -> str:
    return "" if value is None or value is MISSING else markup(str(value)[:60])


def _questions(draft: Draft) -> str:
    """List as HTML the questions for the vendor: numbers that no evidence settles."""
    items = []
    for name, section in draft.items():
        for column in section.columns():
            if not column.reading.is_number or column.is_key:
                continue
            where = f"{markup(name)} <code>{markup(column.path)}</code>"
            if column.unit.confidence == OPEN:
                items.append(f"<li>{where}: in which unit is it?</li>")
            if column.rule.confidence == OPEN:
                items.append(
                    f"<li>{where}: how do rows of it combine? {markup(column.rule.evidence)}</li>"
                )
    return f"<h2>What to ask the vendor</h2><ul>{''.join(items)}</ul>" if items else ""


def _requests(draft: Draft) -> str:
    items = "".join(f"<li><code>{markup(str(one))}</code></li>" for one in draft.requests)
    return f"<h2>What was asked</h2><details><summary>{len(draft.requests)} requests</summary>" + (
        f"<ol>{items}</ol></details>"
    )


def _table(heads: list[str], rows: list[list[str]]) -> str:
    head = "".join(f"<th>{one}</th>" for one in heads)
    body = "".join("<tr>" + "".join(f"<td>{one}</td>" for one in row) + "</tr>" for row in rows)
    return f'<div class="scroll"><table><tr>{head}</tr>{body}</table></div>'
