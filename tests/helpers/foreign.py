"""Drafts of answers that are at hand, without a service."""

from __future__ import annotations

import json
from typing import Any

import aatoolkit as aa
from aatoolkit.profile.asking import Answers


def draft_of(
    whole: dict[str, Any],
    parts: dict[str, dict[tuple[str, ...], Any]] | None = None,
    options: Any = None,
    **more: Any,
) -> aa.profile.Draft:
    """The draft of some sections' answers, and of those that were narrowed to engines."""
    answers = Answers(options=options, whole=json.loads(json.dumps(whole)), parts=parts or {})
    return aa.profile.Draft("a.example", "https://a.example", answers, **more)


def columns_of(draft: aa.profile.Draft, section: str) -> dict[str, Any]:
    """The findings of a section's columns, by table and name."""
    return {f"{one.table}.{one.name}": one for one in draft[section].columns()}
