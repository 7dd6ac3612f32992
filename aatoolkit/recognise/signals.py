"""What is read: a signal, with its evidence; and where a known service keeps such statements."""

from __future__ import annotations

import json
from collections.abc import Mapping
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


@dataclass(frozen=True)
class Rule:
    """Where a service keeps its availability: an object with a status, and maps of narrower ones.

    Parameters
    ----------
    name : str
        The rule's name, kept with what it reads.
    at : str
        The field that holds the object.
    status, reason, sample_size, as_of : str
        Its fields.
    fields, engines : str
        Its maps from a field's path, or an engine's id, to such an object.
    """

    name: str = "reference"
    at: str = "availability"
    status: str = "status"
    reason: str = "reason"
    sample_size: str = "sampleCount"
    as_of: str = "asOf"
    fields: str = "fields"
    engines: str = "engines"

    def find(self, document: Any) -> dict[str, Any] | None:
        """The object that the rule reads, if a document has it."""
        stated = document.get(self.at) if isinstance(document, dict) else None
        return stated if isinstance(stated, dict) else None

    def is_whole(self, stated: Mapping[str, Any]) -> bool:
        """Whether an object has all the fields of the rule: then it can be nothing else."""
        names = (self.status, self.reason, self.sample_size, self.as_of)
        return isinstance(stated.get(self.status), str) and all(name in stated for name in names)


REFERENCE = Rule()
"""The reference service's own rule; an answer that fits it whole is read by it alone."""


def raw(value: Any) -> str:
    """Evidence as JSON text, cut where it is long."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except RecursionError:
        text = "…"
    return text if len(text) <= _LONGEST_RAW else text[: _LONGEST_RAW - 1] + "…"
