"""What is read: a signal, with its evidence."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from aatoolkit.availability import Availability

_LONGEST_RAW = 500
"""Evidence longer than this is cut: it is there to be looked at, the answer itself is kept."""


@dataclass(frozen=True)
class Signal:
    """One thing an answer says about availability.

    Parameters
    ----------
    scope : str
        ``section``, ``field``, ``row`` or ``engine``.
    target : str or None
        The field's path, the row's path (``points[0]``) or the engine's id; None for the
        whole section.
    availability : Availability
        What it says.
    sample_size : int or None
        The observations behind it, where given.
    as_of : str or None
        The moment up to which it is complete, as given.
    path : str
        The JSON path of the evidence; ``status`` or ``header NAME`` for evidence outside the
        body.
    rule : str
        The name of the rule that read it.
    raw : str or None
        The evidence itself, as JSON text.
    """

    scope: str
    target: str | None
    availability: Availability
    sample_size: int | None
    as_of: str | None
    path: str
    rule: str
    raw: str | None = None


def raw(value: Any) -> str:
    """Evidence as JSON text, cut where it is long."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except RecursionError:
        text = "…"
    return text if len(text) <= _LONGEST_RAW else text[: _LONGEST_RAW - 1] + "…"
