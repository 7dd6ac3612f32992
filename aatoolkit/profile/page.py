"""The page of a draft: one file of HTML for the person who reviews it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from aatoolkit._util.text import markup
from aatoolkit.jsontree.vectors import MISSING
from aatoolkit.sections.inference.relations import OPEN, Relation

if TYPE_CHECKING:
    import pandas as pd

    from aatoolkit.profile.drafting import Draft
    from aatoolkit.profile.section_draft import SectionDraft

_SAMPLE, _WIDEST, _LONGEST = 5, 12, 120
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
    import pandas as pd

    title = markup(f"Draft of {draft.host}")
    counts = {name: {"tables": len(one.tables), **one.counts()} for name, one in draft.items()}
    summary = pd.DataFrame.from_dict(counts, orient="index")
    failed = [f"{markup(name)}: {markup(str(error))}" for name, error in draft.errors.items()]
    asked = [f"<code>{markup(str(request))}</code>" for request in draft.requests]
    open_ = [question for section in draft.values() for question in _questions(section)]
    return "\n".join(
        [
            f'<!doctype html><html lang="en"><meta charset="utf-8">'
            f'<meta name="viewport" content="width=device-width"><title>{title}</title>',
            f"<style>{_STYLE}</style><h1>{title}</h1>",
            f"<p>{len(draft)} sections from {len(asked)} requests. <b>Proved</b>: an identity or "
            "an experiment held on all rows. <b>Likely</b>: name and range agree. <b>Open</b>: "
            "nothing shows it, and aggregating it is refused.</p>",
            _table(summary, index=True),
            _listed("Not read", failed),
            *(part for section in draft.values() for part in _section(section)),
            _listed("What to ask the vendor", open_),
            f"<h2>What was asked</h2><details><summary>{len(asked)} requests</summary>"
            f"{_listed('', asked)}</details>",
        ]
    )


def _section(section: SectionDraft) -> Iterator[str]:
    yield f'<h2 id="{markup(section.name)}">{markup(section.name)}</h2>'
    yield from (f"<p>{markup(note)}</p>" for note in section.notes)
    if section.candidates:
        yield "<p>These may say what could be measured; none is read so until a rule says it.</p>"
        yield _table(section.availability)
    for relation in section.analysis.relations:
        rows = relation.rows_of(0)
        yield f"<h3><code>{markup(relation.name)}</code></h3>"
        yield f"<p>{len(rows):,} rows at <code>{markup(relation.path)}</code>; key: "
        yield f"{markup(', '.join(relation.key) or 'none')}</p>"
        yield _table(section.review.loc[[relation.name]].reset_index("column"))
        yield f"<details><summary>A sample of rows</summary>{_sample(relation)}</details>"


def _sample(relation: Relation) -> str:
    import pandas as pd

    rows = relation.rows_of(0)[:_SAMPLE].tolist()
    cells: dict[str, list[Any]] = {
        column.name: [
            "" if column.values[row] in (None, MISSING) else str(column.values[row]) for row in rows
        ]
        for column in relation.columns[:_WIDEST]
    }
    return _table(pd.DataFrame(cells))


def _questions(section: SectionDraft) -> Iterator[str]:
    """Yield as HTML the questions for the vendor: numbers that no evidence settles."""
    for column in section.columns():
        if column.is_key or not column.reading.is_number:
            continue
        where = f"{markup(section.name)} <code>{markup(column.path)}</code>"
        if column.unit.confidence == OPEN:
            yield f"{where}: in which unit is it?"
        if column.rule.confidence == OPEN:
            yield f"{where}: how do rows of it combine? {markup(column.rule.evidence)}"


def _listed(title: str, items: list[str]) -> str:
    head = f"<h2>{title}</h2>" if title else ""
    listed = "".join(f"<li>{item}</li>" for item in items)
    return f"{head}<ol>{listed}</ol>" if items else ""


def _table(frame: pd.DataFrame, *, index: bool = False) -> str:
    text = frame.astype(object).map(lambda cell: "" if cell is None else str(cell)[:_LONGEST])
    return f'<div class="scroll">{text.to_html(index=index, border=0, na_rep="")}</div>'
