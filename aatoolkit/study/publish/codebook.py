"""The codebook: every column of a publication, in Markdown for people and CSV for tools."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from aatoolkit._util.text import visible
from aatoolkit.sections.section import Column
from aatoolkit.study.publish.stacking import PublishedTable

CODES = {
    "count": ("1", "NUM"),
    "fraction 0-1": ("1", "UNITLESS"),
    "absolute pp as fraction": ("1", "UNITLESS"),
    "probability 0-1": ("1", "UNITLESS"),
    "HTTP requests": ("{request}", "NUM"),
    "characters": ("{character}", "NUM"),
    "checks": ("{check}", "NUM"),
    "bytes": ("By", "BYTE"),
    "seconds": ("s", "SEC"),
    "milliseconds": ("ms", "MilliSEC"),
    "days": ("d", "DAY"),
}
"""Unit codes: in UCUM, and the name in QUDT's vocabulary."""

QUDT = "http://qudt.org/vocab/unit/"


def codebook(tables: Iterable[PublishedTable]) -> pd.DataFrame:
    """Build the codebook: one row per column, in the order of the tables."""
    rows = [
        {
            "table": table.name,
            "column": name,
            "dtype": column.dtype,
            "unit": column.unit,
            "aggregation": rule_of(column),
            "key": name in table.known.key,
            "doc": column.doc or None,
            "availability": str(table.known.columns[name].availability),
            "missing": int(table.frame[name].isna().sum()),
            "rows": len(table.frame),
        }
        for table in tables
        for name, column in table.columns.items()
    ]
    kinds = {"key": "boolean", "missing": "Int64", "rows": "Int64"}
    return pd.DataFrame(
        {
            name: pd.Series([row[name] for row in rows], dtype="object").astype(
                pd.api.types.pandas_dtype(kinds.get(name, "string"))
            )
            for name in rows[0]
        }
    )


def rule_of(column: Column) -> str | None:
    """Describe the aggregation rule of a column; None if it has none."""
    rule = column.aggregate
    return None if rule.rule == "none" and not rule.why else str(rule)


def as_markdown(tables: Iterable[PublishedTable], book: pd.DataFrame) -> str:
    """Format the codebook in Markdown, one table of columns per table."""
    parts = [_HEAD]
    heads = ("column", "dtype", "unit", "aggregation", "availability", "missing", "meaning")
    for table in tables:
        rows = book[book["table"] == table.name]
        lines = [
            f"\n## {table.name}\n\n{table.doc}\n",
            f"| {' | '.join(heads)} |",
            f"| {' | '.join('---' for _ in heads)} |",
        ]
        for row in rows.itertuples(index=False):
            name = f"**`{row.column}`**" if row.key else f"`{row.column}`"
            cells = (row.dtype, row.unit, row.aggregation, row.availability, row.missing, row.doc)
            lines.append(f"| {' | '.join([name, *map(cell, cells)])} |")
        parts.append("\n".join(lines) + "\n")
    return "".join(parts)


def cell(value: object) -> str:
    """Format a value as a cell of a Markdown table, with all markup escaped."""
    if value is None or value is pd.NA:
        return ""
    text = visible(" ".join(str(value).split()))
    return "".join(f"\\{char}" if char in "\\|<>*_`[]" else char for char in text)


_HEAD = """\
# Codebook

Key columns are bold. *Missing* counts the rows without a value. *Availability* is whether the
column could be measured, over all answers; the table `availability` has it for each answer.
"""
