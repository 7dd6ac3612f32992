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
        for field_name in _PARSING_FIELD_NAMES:
            column.pop(field_name, None)
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
    column_dicts = [{**column, "source": "$"} for column in dumped_table["columns"]]
    table: Table = _load_declaration(Table, {**dumped_table, "columns": column_dicts})
    return table


def _dump_declaration(declaration: Any) -> Any:
    """Convert a declaration, such as a `Table`, to a JSON value.

    A list or mapping of declarations is converted, too. Fields of a declaration that have their
    default values are left out.
    """
    if isinstance(declaration, Section | Table | Rows | Column | Rule | Aggregation):
        dumped_fields = {}
        for field in fields(declaration):
            field_value = getattr(declaration, field.name)
            default_value = field.default
            if field.default_factory is not MISSING:
                default_value = field.default_factory()
            if field.compare and (
                field_value != default_value or type(field_value) is not type(default_value)
            ):
                dumped_fields[field.name] = (
                    _dump_path(field_value)
                    if field.name in _PATH_FIELD_NAMES
                    else _dump_declaration(field_value)
                )
        return dumped_fields
    if isinstance(declaration, Mapping):
        return {
            str(name): _dump_declaration(field_value) for name, field_value in declaration.items()
        }
    return (
        [*map(_dump_declaration, declaration)]
        if isinstance(declaration, list | tuple)
        else declaration
    )


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
    constructor_arguments = {}
    for field_name, field_value in field_values.items():
        field_class = _CLASS_BY_FIELD_NAME.get(field_name)
        if field_class is None:
            constructor_arguments[field_name] = (
                _load_path(field_value)
                if field_name in _PATH_FIELD_NAMES
                else _to_tuples(field_value)
            )
        elif isinstance(field_value, list):
            constructor_arguments[field_name] = tuple(
                _load_declaration(field_class, item) for item in field_value
            )
        else:
            constructor_arguments[field_name] = field_value and _load_declaration(
                field_class, field_value
            )
    if declaration_class is Section:
        return Section(
            constructor_arguments.pop("name"),
            constructor_arguments.pop("doc"),
            *constructor_arguments.pop("tables"),
            **constructor_arguments,
        )
    return declaration_class(**constructor_arguments)


def _dump_path(steps: Any) -> list[Any]:
    """Convert a parsed path to a list of two items: the path as text, and a dict.

    For each step ``{}`` (the values of an object) that is limited to some keys, the dict maps the
    position of the step to these keys.
    """
    only_keys_by_position = {
        str(position): [*step.only_keys]
        for position, step in enumerate(steps)
        if isinstance(step, Entries) and step.only_keys
    }
    return [format_path(steps), only_keys_by_position]


def _load_path(path_and_keys: Any) -> Any:
    """Return the parsed path from a list returned by `_dump_path`."""
    path, only_keys_by_position = path_and_keys
    steps = [*parse_pattern(path)]
    for position, only_keys in only_keys_by_position.items():
        steps[int(position)] = Entries(_to_tuples(only_keys))
    return tuple(steps)


def _to_tuples(value: Any) -> Any:
    """Convert all lists in a JSON value to tuples."""
    if isinstance(value, list):
        converted_tuple = tuple(map(_to_tuples, value))
        hash(converted_tuple)
        return converted_tuple
    return value
