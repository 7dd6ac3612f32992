"""Convert profiles (descriptions of a service's JSON) and tables to JSON, and back.

A study stores the profile of its service as JSON. A Parquet file stores the declaration of its
table.
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

_CLASS_BY_FIELD_NAME: Mapping[str, Any] = {
    "tables": Table,
    "rows": Rows,
    "columns": Column,
    "availability": Rule,
    "aggregate": Aggregation,
}
"""Maps the name of a field, such as ``columns``, to the class of the objects in it."""

_PATH_FIELD_NAMES = ("steps", "header")
_PARSING_FIELD_NAMES = ("source", "null", "optional", "parse", "year", "scale", "missing", "valid")


def is_json_storable(section: Section) -> bool:
    """Return whether a section (kind of response) can be stored as JSON.

    It cannot if the rows of a table are computed by a Python function.
    """
    return all(table.rows.function is None for table in section)


def dump_profile(profile: Profile) -> dict[str, Any]:
    """Convert a profile to dicts and lists that can be written as JSON.

    Sections whose rows are computed by a Python function are left out.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> dumped = dump_profile(aa.sections.default_profile())
    >>> load_profile(dumped)["domains"] == aa.sections.default_profile()["domains"]
    True
    """
    storable_sections = [section for section in profile.values() if is_json_storable(section)]
    return {
        "name": profile.name,
        "doc": profile.doc,
        "baseline": _dump_declaration(dict(profile.baseline)),
        "tentative": sorted({*profile.tentative} & {section.name for section in storable_sections}),
        "sections": _dump_declaration(storable_sections),
    }


def load_profile(dumped_profile: Any) -> Profile:
    """Create a profile from a dict returned by `dump_profile`."""
    return Profile(
        dumped_profile["name"],
        *(_load_declaration(Section, section) for section in dumped_profile["sections"]),
        doc=dumped_profile["doc"],
        baseline=dict(dumped_profile["baseline"]),
        tentative=_to_tuples(dumped_profile["tentative"]),
    )


def dump_table(table: Table) -> dict[str, Any]:
    """Convert a table to dicts and lists that can be written as JSON.

    The paths to its values are left out. The result describes only the columns.
    """
    dumped_table = _dump_declaration(table)
    unfiltered_rows = Rows(
        table.rows.steps, table.rows.labels, table.rows.positional, table.rows.one
    )
    for column in dumped_table["columns"]:
        for name in _PARSING_FIELD_NAMES:
            column.pop(name, None)
    return {**dumped_table, "rows": _dump_declaration(unfiltered_rows)}


def load_table(dumped_table: Mapping[str, Any]) -> Table:
    """Create a table from a dict returned by `dump_table`.

    The table describes its columns. It cannot be used to read responses, because it has no paths.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> bots = aa.sections.table("crawl_bots")
    >>> load_table(dump_table(bots))["requests"].unit == bots["requests"].unit
    True
    """
    columns = [{**column, "source": "$"} for column in dumped_table["columns"]]
    table: Table = _load_declaration(Table, {**dumped_table, "columns": columns})
    return table


def _dump_declaration(value: Any) -> Any:
    """Convert a declaration, such as a `Table`, to a JSON value.

    A list or mapping of declarations is converted, too. Fields of a declaration that have their
    default values are left out.
    """
    if isinstance(value, Section | Table | Rows | Column | Rule | Aggregation):
        dumped_fields = {}
        for field in fields(value):
            item = getattr(value, field.name)
            default = field.default
            if field.default_factory is not MISSING:
                default = field.default_factory()
            if field.compare and (item != default or type(item) is not type(default)):
                dumped_fields[field.name] = (
                    _dump_path(item) if field.name in _PATH_FIELD_NAMES else _dump_declaration(item)
                )
        return dumped_fields
    if isinstance(value, Mapping):
        return {str(name): _dump_declaration(item) for name, item in value.items()}
    return [*map(_dump_declaration, value)] if isinstance(value, list | tuple) else value


def _load_declaration(declaration_class: Any, field_values: Any) -> Any:
    """Create an object of a class, such as `Table`, from a dict returned by `_dump_declaration`.

    Raises
    ------
    ValueError
        If the argument is no dict, or has a field that the class does not have.
    """
    if not isinstance(field_values, dict) or not {*field_values} <= {
        field.name for field in fields(declaration_class)
    }:
        raise ValueError(f"no {declaration_class.__name__}")
    if declaration_class is Aggregation and field_values["rule"] not in RULES:
        return Aggregation("none", why=f"its rule, {field_values['rule']}, is of a newer version")
    arguments = {}
    for name, value in field_values.items():
        inner_class = _CLASS_BY_FIELD_NAME.get(name)
        if inner_class is None:
            arguments[name] = _load_path(value) if name in _PATH_FIELD_NAMES else _to_tuples(value)
        elif isinstance(value, list):
            arguments[name] = tuple(_load_declaration(inner_class, item) for item in value)
        else:
            arguments[name] = value and _load_declaration(inner_class, value)
    if declaration_class is Section:
        return Section(
            arguments.pop("name"), arguments.pop("doc"), *arguments.pop("tables"), **arguments
        )
    return declaration_class(**arguments)


def _dump_path(steps: Any) -> list[Any]:
    """Convert a parsed path to a list of two items: the path as text, and a dict.

    For each step ``{}`` (the values of an object) that is limited to some keys, the dict maps the
    position of the step to these keys.
    """
    keys_by_position = {
        str(position): [*step.only_keys]
        for position, step in enumerate(steps)
        if isinstance(step, Entries) and step.only_keys
    }
    return [format_path(steps), keys_by_position]


def _load_path(path_and_keys: Any) -> Any:
    """Return the parsed path from a list returned by `_dump_path`."""
    path, keys_by_position = path_and_keys
    steps = [*parse_pattern(path)]
    for position, allowed_keys in keys_by_position.items():
        steps[int(position)] = Entries(_to_tuples(allowed_keys))
    return tuple(steps)


def _to_tuples(value: Any) -> Any:
    """Convert all lists in a JSON value to tuples."""
    if isinstance(value, list):
        converted_items = tuple(map(_to_tuples, value))
        hash(converted_items)
        return converted_items
    return value
