"""Drafts: the declaration of an answer that no profile describes, made of the answer itself."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import replace
from itertools import chain
from typing import Any, TypeVar

from aatoolkit import sections
from aatoolkit.availability.detect import Signal
from aatoolkit.errors import PayloadError, SchemaDriftWarning
from aatoolkit.metadata.attrs import EMPTY
from aatoolkit.normalizer.columns import BuiltTable
from aatoolkit.normalizer.walk import DriftReport
from aatoolkit.payload import Payload
from aatoolkit.sections import Profile, Section
from aatoolkit.sections.inference.analysis import outline

T = TypeVar("T")

OWNER = "draft"
"""The name, in metadata, of the profile that a drafted declaration is of."""

_UNFITTING = ("new", "wrong type")


def resolve(section: str | Section, profile: Profile | None) -> tuple[Section | None, bool, str]:
    """The declaration of a section, whether it is only a guess, and the name of its profile.

    None for a section that a profile lacks.

    Raises
    ------
    ScopeError
        If no profile is given, and there is no such section.
    """
    if isinstance(section, Section):
        return section, False, "own" if profile is None else _owner(profile)
    known = sections.default_profile() if profile is None else profile
    found = known.section(section) if profile is None else known.get(section)
    return found, found is not None and found.name in known.tentative, _owner(known)


def _owner(profile: Profile) -> str:
    """The name of a profile in metadata; a name that drafts use is prefixed by "profile"."""
    return f"profile {OWNER}" if profile.name == OWNER else profile.name


def fits(tables: Iterable[BuiltTable], report: DriftReport, signals: Iterable[Signal]) -> bool:
    """Whether a declaration describes an answer at all.

    It is not if most of its values are in no column, and it does not state that there is nothing
    to report. A main table in which at least half of the columns have values settles it.
    """
    counts = [
        [table.size - table.array(name).null_count for name in table.table.names]
        for table in tables
    ]
    if 2 * sum(map(bool, counts[0])) >= len(counts[0]) and any(counts[0]):
        return True
    unread = sum(_leaf_count(value) for value, _, _ in report.values(*_UNFITTING))
    if not unread:
        return True
    if any(signal.scope == "section" and signal.availability.status in EMPTY for signal in signals):
        return True
    return unread <= sum(map(sum, counts))


def _leaf_count(value: Any) -> int:
    """Count the values at and below a value; null is none."""
    values, count = [value], 0
    while values:
        objects = [value for value in values if type(value) is dict]
        arrays = [value for value in values if type(value) is list]
        count += sum(value is not None for value in values) - len(objects) - len(arrays)
        values = [*chain(*map(dict.values, objects), *arrays)]
    return count


def draft_of(answer: Any, name: str, declared: Section | None) -> Section | None:
    """Draft a declaration of a section from one answer, with the service's own names.

    None if the answer holds no records, or nothing that can be made a table. An availability
    rule that is known is kept; units and rules of aggregation are open.
    """
    if isinstance(answer, Payload) and (not answer.body or answer.status >= 400):
        return None
    try:
        drawn: Section = outline(answer, name)
    except PayloadError:
        return None
    if declared is not None and all(table.rows.one for table in drawn):
        return None
    tables = (
        replace(
            table,
            columns=tuple(
                replace(
                    column, doc=f"Drafted from this response: {column.pattern or 'the response'}."
                )
                for column in table.columns
            ),
        )
        for table in drawn
    )
    rule = None if declared is None else declared.availability
    doc = "Drafted from this response; units and aggregation rules are open."
    return Section(drawn.name, doc, *tables, kept=drawn.kept, availability=rule)


def warn_of_draft() -> None:
    """Warn that answers are read by drafts: once a process, as Python's filters have it."""
    warnings.warn_explicit(
        "no declaration fits this service's answers: they are read by drafts made of the answers "
        "themselves, with its own names; aa.profile.draft(project) finds units and rules, and "
        "Client(profile=) keeps the columns the same",
        SchemaDriftWarning,
        __file__,
        1,
        __name__,
        _warned,
    )


_warned: dict[Any, Any] = {}
"""Where Python keeps that the warning was given."""
