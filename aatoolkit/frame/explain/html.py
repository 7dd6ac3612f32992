"""Render an explanation as HTML: folds without a script, in the colours of its page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aatoolkit._util.text import markup
from aatoolkit.frame.explain.text import Written, facts, headline

if TYPE_CHECKING:
    from aatoolkit.frame.explain.explanation import Explanation

_MOST = 200
"""How many parts of one number a page shows."""


def page_part(one: Explanation) -> str:
    """Render an explanation as a piece of HTML.

    Examples
    --------
    >>> from aatoolkit.frame.explain.explanation import Explanation
    >>> print(page_part(Explanation(3, "n", end="a <step>")))
    <div class="tex2jax_ignore aatoolkit-explanation"><details open><summary>n: 3</summary>
    <ul><li>the trail ends here: a &lt;step&gt;</li></ul></details></div>
    """
    parts = fold(one, Written(), is_open=True)
    return f'<div class="tex2jax_ignore aatoolkit-explanation">{parts}</div>'


def fold(
    one: Explanation,
    before: Written,
    above: Explanation | None = None,
    *,
    is_open: bool = False,
) -> str:
    """Render one number as a fold: headline, facts, and its parts as folds."""
    listed = "".join(f"<li>{markup(fact)}</li>" for fact in facts(one, before, above))
    parts = "".join(f"<li>{fold(child, before, one)}</li>" for child in one.children[:_MOST])
    if len(one.children) > _MOST:
        parts += f"<li>… {len(one.children) - _MOST:,} more</li>"
    head = f"<details{' open' if is_open else ''}><summary>{markup(headline(one))}</summary>\n"
    return f"{head}<ul>{listed}{parts}</ul></details>"
