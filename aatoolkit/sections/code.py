"""Declarations as the Python that makes them."""

from __future__ import annotations

from aatoolkit.jsontree.paths import Each, Entries, format_path
from aatoolkit.sections.section import Column, Rows, Section, camel


def code_of(section: Section) -> str:
    """The Python that makes a section and registers it."""
    lines = [
        "from aatoolkit import sections",
        "from aatoolkit.sections import Column, Rows, Section, Table",
        "from aatoolkit.sections import keyed, pairs, parse_pattern, records, single",
        "",
        "SECTION = Section(",
        f"    {section.name!r},",
        f"    {section.doc!r},",
    ]
    for table in section:
        lines += [
            "    Table(",
            f"        {table.name!r},",
            f"        {table.doc!r},",
            f"        {_rows_code(table.rows)},",
            f"        key={table.key!r},",
            "        columns=(",
            *(f"            {_column_code(column)}," for column in table.columns),
            "        ),",
            "    ),",
        ]
    return "\n".join([*lines, ")", "sections.register(SECTION)"])


def _rows_code(rows: Rows) -> str:
    if rows.one:
        return "single()"
    if rows.positional and not rows.labels:
        return f"pairs({format_path(rows.steps[:-1])!r}, {', '.join(map(repr, rows.positional))})"
    maps = sum(isinstance(step, Entries) for step in rows.steps)
    if isinstance(rows.steps[-1], Each):
        key = f", key={rows.labels!r}" if rows.labels else ""
        nested = isinstance(rows.steps[-2:][0], Each) and len(rows.steps) > 1
        return f"records({format_path(rows.steps if nested else rows.steps[:-1])!r}{key})"
    if maps == len(rows.labels) == 1:
        return f"keyed({format_path(rows.steps[:-1])!r}, key={rows.labels[0]!r})"
    return f"Rows(parse_pattern({rows.path!r}), {rows.labels!r}, positional={rows.positional!r})"


def _column_code(column: Column) -> str:
    source = column.source or ""
    plain = source.startswith("@") or source == camel(column.name)
    return f"Column({column.name!r}, {column.dtype!r}{'' if plain else f', source={source!r}'})"
