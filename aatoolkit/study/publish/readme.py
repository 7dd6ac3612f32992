"""The README and the citation of a publication."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from aatoolkit import __version__
from aatoolkit._util.text import json_text
from aatoolkit.study.publish.codebook import cell
from aatoolkit.study.publish.descriptor import path_of
from aatoolkit.study.publish.stacking import PublishedTable

ABOUT_MISSING = (
    "A missing value is null in Parquet and an empty cell in CSV and Excel. It is never zero: a"
    " zero was measured. Why a column has no values is in `data/availability.parquet`: it was"
    " not measured (`unavailable`), does not apply, or is not known."
)
SYNTHETIC = (
    "This data is synthetic: the hosts have names that are reserved for examples, and no such"
    " brand, answer or visit exists."
)


REDACTED = (
    "Left out of this publication: {}. Of the sections concerned, the service's notes on"
    " availability, undeclared fields and the examples of drift are left out too, as they may"
    " quote it."
)


def citation(
    title: str,
    creators: Sequence[str],
    date: str,
    *,
    abstract: str,
    keywords: Sequence[str],
    licence: str | None,
    digest: str | None,
) -> str:
    """Write ``CITATION.cff``, version 1.2.0."""
    body = {
        "cff-version": "1.2.0",
        "message": "If you use this data, please cite it as below.",
        "type": "dataset",
        "title": title,
        "authors": [{"name": name} for name in creators or ["The authors of this study"]],
        "date-released": date,
        "keywords": [*keywords],
        "abstract": abstract,
        "license": licence,
        "identifiers": [{"type": "other", "value": f"sha256:{digest}", "description": _SEAL}]
        if digest
        else None,
    }
    return "".join(f"{name}: {_yaml(value)}\n" for name, value in body.items() if value)


_SEAL = "The SHA-256 of the seal of the study."


def _yaml(value: Any) -> str:
    """Format a value in YAML: JSON, with the characters escaped that YAML refuses or folds."""
    return re.sub(
        r"[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]",
        lambda found: f"\\u{ord(found[0]):04x}",
        json_text(value),
    )


def readme(
    title: str,
    about: Mapping[str, str],
    tables: Sequence[PublishedTable],
    notes: Sequence[str],
    forms: Sequence[str],
) -> str:
    """Write the README of a package.

    Parameters
    ----------
    title
        Its title.
    about
        Facts by name.
    tables
        The tables.
    notes
        Paragraphs.
    forms
        The formats of the tables beside Parquet.
    """
    parts = [f"# {cell(title)}\n"]
    parts += [f"{note}\n" for note in notes]
    parts.append("\n".join(f"- {name}: {cell(fact)}" for name, fact in about.items()) + "\n")
    parts.append(_TABLES)
    rows = [
        f"| [`{cell(table.name)}`]({path_of(table.name, 'parquet')}) | {len(table.frame)} "
        f"| {cell(table.doc)} |"
        for table in tables
    ]
    parts.append("\n".join(["| table | rows | holds |", "| --- | --- | --- |", *rows]) + "\n")
    parts.append(f"## Missing values\n\n{ABOUT_MISSING}\n")
    parts.append(_READING)
    if "csv" in forms or "excel" in forms:
        parts.append(_SPREADSHEETS)
    if "study.zip" in forms:
        parts.append(_ANSWERS)
    parts.append(_FILES.format(version=__version__))
    return "\n".join(parts)


_TABLES = """\
## Tables

Each table has the rows of all answers. `answer` refers to the table `answers`; `host`, the
window (`days`), the filters and `fetched_at` are columns too.
"""
_READING = """\
## Reading it

```python
import pandas as pd

df = pd.read_parquet("data/answers.parquet")
```

```sql
SELECT * FROM 'data/answers.parquet';  -- DuckDB
```

With `aatoolkit`, `aa.read_parquet(path).aa.codebook` describes each column, and
`.aa.availability` what could be measured. The same is in `codebook.md`, `codebook.csv`,
and in each file's metadata.
"""
_SPREADSHEETS = """\
## Spreadsheets

The CSV files and the workbook are safe to open: no cell is a formula. In CSV, a text that begins
with `=`, `+`, `-`, `@`, one of their full-width forms, white space or an apostrophe, one that
begins with more than 15 digits, and an empty one, has an apostrophe before it: remove one
apostrophe from each text that begins with one to restore it. Characters that control a terminal
or the direction of text are written as in JSON, such as `\\u202e`. A column with whole numbers of
more than 15 digits is text. Times are in UTC, as ISO 8601. In Excel, text that does not fit a cell
is cut and marked, and a table that does not fit a sheet continues in the next; the sheet `tables`
lists them. For analyses, use the Parquet files.
"""
_ANSWERS = """\
## Every number down to its bytes

`study.zip` holds the answers themselves, byte for byte, under their SHA-256. With `aatoolkit`,
`aa.Study("study.zip").explain("SECTION.TABLE", {"COLUMN": "VALUE"}, "COLUMN")` goes from a number
to the bytes it was read from; `aatoolkit explain --help` does so on the command line.
"""
_FILES = """\
## Files

`datapackage.json` (Frictionless Data Package) and `ro-crate-metadata.json` (RO-Crate) describe
the package for machines, `CITATION.cff` is the citation, and `sha256sum -c SHA256SUMS` verifies
that nothing has changed. Made with aatoolkit {version}.
"""
