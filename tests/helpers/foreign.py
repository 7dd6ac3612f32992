"""Drafts of answers that are at hand, without a service."""

from __future__ import annotations

import json
from typing import Any

from samples import payload_of

import aatoolkit as aa


def draft_of(
    answers: dict[str, Any],
    parts: dict[str, dict[tuple[str, ...], Any]] | None = None,
    options: Any = None,
    *,
    standard_names: bool = True,
    **more: Any,
) -> aa.profile.Draft:
    """The draft of some sections' responses, and of those that were narrowed to engines."""
    answers = json.loads(json.dumps(answers))
    responses = aa.profile.Responses(
        options=options, documents=answers, by_engines=parts or {}, **more
    )
    return aa.profile.Draft("a.example", responses, standard_names=standard_names)


def columns_of(draft: aa.profile.Draft, section: str) -> dict[str, Any]:
    """The findings of a section's columns, by table and name."""
    return {f"{column.table}.{column.name}": column for column in draft[section].columns()}


def proposed(body: dict[str, Any], *names: str) -> aa.Dataset:
    """Sections of acme.example that have the same answer, of which nothing is declared."""
    sections = {name: aa.sections.propose(body, name).section for name in names}
    return aa.Dataset({n: aa.normalize(of, payload_of(body)) for n, of in sections.items()})
