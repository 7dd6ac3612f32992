"""``%load_ext aatoolkit``: show below each frame which columns could not be measured.

The extension is optional. It changes how IPython shows frames, not the frames; and it lets
IPython evaluate items of a `Dataset`, so that ``dataset["crawl"]["<tab>`` completes.
"""

from __future__ import annotations

from typing import Any

import pandas as pd
from IPython.core.guarded_eval import EVALUATION_POLICIES

from aatoolkit._util.text import markup, visible
from aatoolkit.availability import Status
from aatoolkit.errors import MetadataError
from aatoolkit.frame.cell_status import in_sight
from aatoolkit.metadata.attrs import metadata_of

_NAMED = 6
"""How many columns per status are named."""

_MAPPINGS = ("aatoolkit.client.dataset", "Dataset")


def load(shell: Any) -> None:
    """Load the extension into a shell."""
    for formatter, show in _formatters(shell, html=_html, plain=_plain):
        formatter.for_type(pd.DataFrame, show)
    _looked_into().add(_MAPPINGS)


def unload(shell: Any) -> None:
    """Unload the extension from a shell."""
    for formatter, _ in _formatters(shell, html=None, plain=None):
        formatter.pop(pd.DataFrame, None)
    _looked_into().discard(_MAPPINGS)


def not_measured(frame: pd.DataFrame) -> str:
    """A line on the columns that could not be measured; empty for a frame without metadata.

    Examples
    --------
    >>> not_measured(pd.DataFrame({"n": [1]}))
    ''
    """
    try:
        metadata = metadata_of(frame)
    except MetadataError:
        return "availability: the frame's metadata cannot be read"
    if not metadata.sources:
        return ""
    columns: dict[Status, list[str]] = {}
    for name, column in metadata.columns.items():
        columns.setdefault(column.availability.status, []).append(name)
    states = [
        f"{len(columns[status])} {str(status).replace('_', ' ')} ({_named(columns[status])})"
        for status in (Status.UNAVAILABLE, Status.PARTIAL, Status.NOT_APPLICABLE, Status.UNKNOWN)
        if status in columns
    ]
    return f"availability: {'; '.join(states) or 'every column was measured'}"


def _named(names: list[str]) -> str:
    more = [f"… {len(names) - _NAMED} more"] if len(names) > _NAMED else []
    return ", ".join([*names[:_NAMED], *more])


def _html(frame: pd.DataFrame) -> str | None:
    shown: str | None = frame._repr_html_()  # type: ignore[operator]
    note = not_measured(frame)
    return f'{shown}<p class="tex2jax_ignore"><small>{markup(note)}</small></p>' if note else shown


def _plain(frame: pd.DataFrame, printer: Any, cycle: bool) -> None:
    note = not_measured(frame)
    shown = in_sight(frame) if note and type(frame) is pd.DataFrame else repr(frame)
    printer.text(f"{shown}\n{visible(note)}" if note else shown)


def _formatters(shell: Any, html: Any, plain: Any) -> list[tuple[Any, Any]]:
    formatters = shell.display_formatter.formatters
    return [(formatters["text/html"], html), (formatters["text/plain"], plain)]


def _looked_into() -> set[tuple[str, ...]]:
    policy: Any = EVALUATION_POLICIES["limited"]
    found: set[tuple[str, ...]] = policy.allowed_getitem_external
    return found
