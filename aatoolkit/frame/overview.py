"""The overview of ``df.aa``: its verbs by purpose, with the first line of each docstring."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator

from aatoolkit._util.show import table_html
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
"""The verbs by what they are for; a verb that is new goes where a reader would look for it."""

_INDENT = 20
_SECOND_THOUGHT = re.compile(r";|, (?=(?:at least|beside|by|down|one|such|what|wholly|with)\b)")
_LEAST = 25
"""How many characters of a sentence can be alone."""


def lines_of(kind: type) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield each purpose with its verbs and the first line of their docstrings."""
    for purpose, verbs in PURPOSES.items():
        found = [(verb, inspect.getdoc(getattr(kind, verb)) or "") for verb in verbs]
        yield purpose, [(verb, doc.partition("\n")[0].replace("`", "")) for verb, doc in found]


def as_text(kind: type, title: str) -> str:
    """Format the overview for a terminal, within its width."""
    width = max(terminal_width(), 2 * _INDENT)
    lines = [title]
    for purpose, verbs in lines_of(kind):
        lines.append(purpose)
        for verb, doc in verbs:
            parts = textwrap.wrap(_short(doc, width - _INDENT), width - _INDENT)
            head = f"  {verb:{_INDENT - 2}}"
            lines += [f"{head if not at else ' ' * _INDENT}{part}" for at, part in enumerate(parts)]
    return "\n".join([*lines, "help(df.aa.VERB) has arguments and examples."])


def _short(doc: str, width: int) -> str:
    """The beginning of a sentence up to a second thought, where all of it takes two lines."""
    ends = [found.start() for found in _SECOND_THOUGHT.finditer(doc)]
    fitting = [end for end in ends if _LEAST <= end <= width]
    return doc[: fitting[-1]] if len(doc) > width and fitting else doc.rstrip(".")


def as_html(kind: type, title: str) -> str:
    """Format the overview for a notebook."""
    parts = "".join(
        f"<p><b>{markup(purpose)}</b></p>"
        + table_html([], [(verb, doc.rstrip(".")) for verb, doc in verbs], codes=[0], labels=1)
        for purpose, verbs in lines_of(kind)
    )
    return (
        f'<div class="tex2jax_ignore"><details><summary>{markup(title)}</summary>{parts}'
        "</details></div>"
    )
