"""The overview of ``df.aa``: its verbs by purpose, with the first line of each docstring."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterator

from aatoolkit._util.show import block, fold, table_html
from aatoolkit._util.text import markup, terminal_width

PURPOSES = {
    "What is this, and was it measured?": ("availability", "codebook", "sources"),
    "Why is it this number, or none?": ("explain",),
    "Only what was measured": ("measured", "require"),
    "Add up and put together": (
        "aggregate",
        "complete",
        "merge",
        "rename",
        "adopt",
        "with_context",
        "to_long",
    ),
    "Is it real?": ("interval", "compare", "decompose", "changes", "stability"),
    "Who leads, and how alike are they?": ("rank", "concentration", "overlap"),
    "See it, take it along": ("plot", "plain", "to_parquet", "to_excel"),
}
"""The verbs by purpose; a new verb goes where a reader would look for it."""

_INDENT = 20


def lines_of(kind: type) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield each purpose with its verbs and the first line of their docstrings."""
    for purpose, verbs in PURPOSES.items():
        docs = (inspect.getdoc(getattr(kind, verb)) or "" for verb in verbs)
        lines = (doc.partition("\n")[0].replace("`", "").rstrip(".") for doc in docs)
        yield purpose, [*zip(verbs, lines, strict=True)]


def as_text(kind: type, title: str) -> str:
    """Format the overview for a terminal, within its width."""
    width = max(terminal_width(), 2 * _INDENT)
    lines = [title]
    for purpose, verbs in lines_of(kind):
        lines.append(purpose)
        for verb, doc in verbs:
            indent = f"  {verb:{_INDENT - 2}}"
            lines += textwrap.wrap(
                doc, width, initial_indent=indent, subsequent_indent=" " * _INDENT
            )
    return "\n".join(
        [*lines, "help(df.aa.VERB) has examples; .availability, .codebook, .sources are frames."]
    )


def as_html(kind: type, title: str) -> str:
    """Format the overview for a notebook."""
    parts = "".join(
        f"<p><b>{markup(purpose)}</b></p>{table_html([], verbs, codes=[0], labels=1)}"
        for purpose, verbs in lines_of(kind)
    )
    return block(fold(markup(title), parts))
