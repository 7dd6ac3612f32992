"""Show the filter values of a project as HTML."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from aatoolkit._util.text import clipped, markup

if TYPE_CHECKING:
    import pandas as pd


def options_html(
    host: str,
    frames: Mapping[str, pd.DataFrame],
    unknown: Collection[str],
    own_terms: Iterable[str],
    days: Iterable[int],
) -> str:
    """Format scope options as HTML: the tables, folded, and the two lists.

    Parameters
    ----------
    host : str
        The project's domain.
    frames : mapping of str to DataFrame
        The tables of filter values.
    unknown : collection of str
        Those of them whose values are not known.
    own_terms, days : iterable
        The lists.
    """
    parts = [
        f"<p><b>Filter values of {markup(host)}</b></p>",
        *(
            f"<p><b>{name}</b>: not known</p>"
            if name in unknown
            else f"<details><summary>{name} ({len(frame):,})</summary>{_head(frame)}</details>"
            for name, frame in frames.items()
        ),
        f"<p><b>own_terms</b>: {markup(', '.join(own_terms))}</p>",
        f"<p><b>days</b>: {', '.join(map(str, days))}</p>",
    ]
    return f'<div class="tex2jax_ignore">{"".join(parts)}</div>'


def _head(frame: pd.DataFrame) -> str:
    """The first rows of a table from an answer, as HTML."""
    cells = frame.head(20).astype(object)
    safe = cells.map(lambda cell: clipped(cell) if isinstance(cell, str) else cell)
    return str(safe.to_html(index=False, na_rep="–"))
