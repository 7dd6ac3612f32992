"""Declarations as JSON: complete profiles, and tables without the details of reading responses.

A study stores the profile that it was recorded with in this form, so that a replay reads the same
tables without running Python code. A file of one table describes its columns in this form. A
declaration becomes a dict of the fields that differ from their defaults. A path becomes its text
and the keys that its steps are limited to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from aatoolkit.jsontree.paths import Entries, format_path, parse_pattern
from aatoolkit.sections.aggregation import RULES, Aggregation
from aatoolkit.sections.availability_rule import Rule
from aatoolkit.sections.column import Column
from aatoolkit.sections.profile import Profile
from aatoolkit.sections.row_shapes import Rows
from aatoolkit.sections.section import Section, Table

_DECLARATION_FIELDS: Mapping[str, Any] = {
    "tables": Table,
    "rows": Rows,
    "columns": Column,
    "availability": Rule,
    "aggregate": Aggregation,
}
"""The fields that hold one or several declarations, and the class of these."""

_PATH_FIELDS = ("steps", "header")
_PARSING_FIELDS = ("source", "null", "optional", "parse", "year", "scale", "missing", "valid")


def is_portable(section: Section) -> bool:
    """Whether a declaration can be stored as JSON: no function computes its rows."""
    return all(table.rows.function is None for table in section)


def dump_profile(profile: Profile) -> dict[str, Any]:
    """Convert a profile to a JSON value.

    Sections with `computed` rows are left out: a function is no data.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> dumped = dump_profile(aa.sections.default_profile())
    >>> load_profile(dumped)["domains"] == aa.sections.default_profile()["domains"]
    True
    """
    portable_sections = [section for section in profile.values() if is_portable(section)]
    return {
        "name": profile.name,
        "doc": profile.doc,
        "baseline": _dump(dict(profile.baseline)),
        "tentative": sorted({*profile.tentative} & {section.name for section in portable_sections}),
        "sections": _dump(portable_sections),
    }


def load_profile(facts: Any) -> Profile:
    """Return the profile that `dump_profile` wrote.

    Raises
    ------
    ValueError, TypeError, KeyError, AttributeError, AAToolkitError
        If the value is no such profile.
    """
    return Profile(
        facts["name"],
        *(_load(Section, section) for section in facts["sections"]),
        doc=facts["doc"],
        baseline=dict(facts["baseline"]),
        tentative=_as_tuples(facts["tentative"]),
    )


def dump_table(table: Table) -> dict[str, Any]:
    """Convert a table's declaration to a JSON value, to describe the columns of a frame.

    What only reading responses needs is left out: filters of rows, and how values are parsed.
    """
    facts = _dump(table)
    unfiltered_rows = Rows(
        table.rows.steps, table.rows.labels, table.rows.positional, table.rows.one
    )
    for column in facts["columns"]:
        for name in _PARSING_FIELDS:
            column.pop(name, None)
    return {**facts, "rows": _dump(unfiltered_rows)}


def load_table(facts: Mapping[str, Any]) -> Table:
    """Return the table that `dump_table` wrote; it cannot be used to read responses.

    Raises
    ------
    ValueError, TypeError, KeyError
        If the value is no such table.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> bots = aa.sections.table("crawl_bots")
    >>> load_table(dump_table(bots))["requests"].unit == bots["requests"].unit
    True
    """
    columns = [{**column, "source": "$"} for column in facts["columns"]]
    table: Table = _load(Table, {**facts, "columns": columns})
    return table


def _dump(value: Any) -> Any:
    if isinstance(value, Section | Table | Rows | Column | Rule | Aggregation):
        values = {}
        for field in fields(value):
            fact = getattr(value, field.name)
            default = field.default
            if field.default_factory is not MISSING:
                default = field.default_factory()
            if field.compare and (fact != default or type(fact) is not type(default)):
                values[field.name] = _dump_path(fact) if field.name in _PATH_FIELDS else _dump(fact)
        return values
    if isinstance(value, Mapping):
        return {str(name): _dump(item) for name, item in value.items()}
    return [*map(_dump, value)] if isinstance(value, list | tuple) else value


def _load(cls: Any, field_values: Any) -> Any:
    """Create a declaration, such as a `Table`, of the class ``cls`` from the dict of its fields."""
    if not isinstance(field_values, dict) or not {*field_values} <= {
        field.name for field in fields(cls)
    }:
        raise ValueError(f"no {cls.__name__}")
    if cls is Aggregation and field_values["rule"] not in RULES:
        return Aggregation("none", why=f"its rule, {field_values['rule']}, is of a newer version")
    values = {}
    for name, fact in field_values.items():
        inner_cls = _DECLARATION_FIELDS.get(name)
        if inner_cls is None:
            values[name] = _load_path(fact) if name in _PATH_FIELDS else _as_tuples(fact)
        elif isinstance(fact, list):
            values[name] = tuple(_load(inner_cls, item) for item in fact)
        else:
            values[name] = fact and _load(inner_cls, fact)
    if cls is Section:
        return Section(values.pop("name"), values.pop("doc"), *values.pop("tables"), **values)
    return cls(**values)


def _dump_path(steps: Any) -> list[Any] | None:
    if steps is None:
        return None
    keys_by_index = {
        str(index): [*step.only]
        for index, step in enumerate(steps)
        if isinstance(step, Entries) and step.only
    }
    return [format_path(steps), keys_by_index]


def _load_path(text_and_limits: Any) -> Any:
    if text_and_limits is None:
        return None
    text, keys_by_index = text_and_limits
    steps = [*parse_pattern(text)]
    for index, keys in keys_by_index.items():
        steps[int(index)] = Entries(_as_tuples(keys))
    return tuple(steps)


def _as_tuples(value: Any) -> Any:
    """Convert the arrays of a JSON value to tuples; raise TypeError if one holds an object."""
    if isinstance(value, list):
        values = tuple(map(_as_tuples, value))
        hash(values)
        return values
    return value
