"""Parse the scope-options answer: four tables and two lists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from aatoolkit.client.reading import ReadingOptions
from aatoolkit.jsontree.paths import Each, Field
from aatoolkit.normalizer.normalize import normalize
from aatoolkit.payload import Payload
from aatoolkit.scope import DAYS, FILTERS, ScopeOptions
from aatoolkit.sections import Section, Table, get
from aatoolkit.sections.profile import SCOPE_OPTIONS

_TABLES = ("scope_engines", "scope_topics", "scope_categories", "scope_brands")


def read_options(
    host: str, payload: Payload, options: ReadingOptions | None = None
) -> ScopeOptions:
    """Return the scope options of an answer.

    Raises
    ------
    DecodeError
        If the answer is not one JSON document.
    """
    reading = options or ReadingOptions()
    profile = reading.profile
    declared = get(SCOPE_OPTIONS) if profile is None else profile.get(SCOPE_OPTIONS)
    if declared is None or not {*_TABLES} <= {*declared.names}:
        # A declaration that names the tables otherwise is no help in finding them.
        declared = get(SCOPE_OPTIONS)
    declared = _as_values(declared, payload)
    unknown = [name for name, at in zip(FILTERS, _TABLES, strict=True)
               if not _is_recognised(declared[at], payload.json)]  # fmt: skip
    tables = normalize(declared, payload, max_nodes=reading.max_nodes)
    named = tuple(days for days in _listed(payload, "days") if type(days) is int)
    result = ScopeOptions(
        host,
        engines=tables["scope_engines"],
        topics=tables["scope_topics"],
        categories=tables["scope_categories"],
        brands=tables["scope_brands"],
        own_terms=(term for term in _listed(payload, "ownTerms") if isinstance(term, str)),
        # Without windows in the answer, the documented ones apply.
        days=named or DAYS,
        unknown=unknown,
    )
    engines = declared["scope_engines"]
    result.has_runs = _is_recognised(replace(engines, key=("last_run_day",)), payload.json)
    return result


def _is_recognised(table: Table, document: Any) -> bool:
    """Whether an answer has the list of a filter's values: an empty one, or one with its key."""
    keys = [table[name].source or "." for name in table.key]
    found = [document]
    for step in table.rows.steps:
        if isinstance(step, Field):
            found = [one[step.name] for one in found if isinstance(one, dict) and step.name in one]
        elif not any(map(_is_listing, found)):
            return False
        elif not any(found):
            return True
        elif isinstance(step, Each):
            found = [one for each in found if isinstance(each, list) for one in each]
        else:
            return all(isinstance(one, dict) for one in found)
    return any(
        one is not None if key == "." else isinstance(one, dict) and key.split(".")[0] in one
        for one in found
        for key in keys
    )


def _is_listing(value: Any) -> bool:
    return isinstance(value, list | dict)


def _as_values(declared: Section, payload: Payload) -> Section:
    """Return the declaration with tables of plain values where the answer lists them so."""
    tables = list(declared)
    for at, table in enumerate(tables):
        listed = _listed(payload, table.rows.path.removesuffix("[]"))
        # One that is no text, such as null, is reported as of a wrong type; the others are values.
        if any(isinstance(one, str) for one in listed) and not any(
            isinstance(one, Mapping) for one in listed
        ):
            columns = (
                replace(column, source="." if column.name in table.key else column.source)
                for column in table.columns
            )
            tables[at] = replace(table, columns=tuple(columns))
    if tables == list(declared):
        return declared
    return Section(
        declared.name,
        declared.doc,
        *tables,
        kept=declared.kept,
        availability=declared.availability,
        watched=declared.watched,
        emptied=declared.emptied,
    )


def _listed(payload: Payload, name: str) -> list[Any]:
    document = payload.json
    found = document.get(name) if isinstance(document, Mapping) else None
    return found if isinstance(found, list) else []
