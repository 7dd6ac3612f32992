"""Declared tables as JSON, so that a file is understood without the profile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from aatoolkit.jsontree.paths import parse_pattern
from aatoolkit.sections.aggregation import RULES, Aggregation
from aatoolkit.sections.column import Column
from aatoolkit.sections.row_shapes import Rows
from aatoolkit.sections.section import Table

_LABELS = ("labels", "positional")


def dump_table(table: Table) -> dict[str, Any]:
    """Serialize a table's declaration to JSON: grain, key, columns, and the path of its rows.

    How rows are filtered or computed is left out: it is only needed to read answers.
    """
    rows = {name: list(getattr(table.rows, name)) for name in _LABELS if getattr(table.rows, name)}
    return {
        "name": table.name,
        "doc": table.doc,
        "rows": {"path": table.rows.path, "one": table.rows.one, **rows},
        "key": list(table.key),
        "columns": [_dump(column) for column in table.columns],
    }


def load_table(facts: Mapping[str, Any]) -> Table:
    """Build a table from what `dump_table` wrote; its columns read no answers.

    Raises
    ------
    ValueError, TypeError, KeyError
        If that is no such table.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> bots = aa.sections.table("crawl_bots")
    >>> load_table(dump_table(bots))["requests"].unit == bots["requests"].unit
    True
    """
    given = facts["rows"]
    labels, positional = (tuple(map(str, given.get(name, ()))) for name in _LABELS)
    steps = parse_pattern(str(given["path"]))
    rows = Rows(steps, labels, positional=positional, one=bool(given["one"]))
    columns = tuple(_load(column) for column in facts["columns"])
    return Table(str(facts["name"]), str(facts["doc"]), rows, tuple(facts["key"]), columns)


def _dump(column: Column) -> dict[str, Any]:
    found: dict[str, Any] = {"name": column.name, "dtype": column.dtype}
    for name in ("doc", "unit", "levels", "ordered"):
        if getattr(column, name):
            found[name] = getattr(column, name)
    if column.units:
        found["units"] = dict(column.units)
    rule = {f.name: getattr(column.aggregate, f.name) for f in fields(column.aggregate)}
    return {**found, "aggregate": {name: value for name, value in rule.items() if value}}


def _load(facts: Mapping[str, Any]) -> Column:
    known = {f.name for f in fields(Aggregation)}
    rule: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in facts["aggregate"].items()
        if name in known
    }
    if rule["rule"] not in RULES:
        rule = {"rule": "none", "why": f"its rule, {rule['rule']}, is of a newer version"}
    more = {name: facts[name] for name in ("doc", "unit", "ordered", "units") if name in facts}
    return Column(
        str(facts["name"]),
        str(facts["dtype"]),
        source="$",
        levels=tuple(facts.get("levels", ())),
        aggregate=Aggregation(**rule),
        **more,
    )
