"""The documents of a publication: a codebook, a README, a citation, a data package, an RO-Crate.

All of them describe the same columns (`column_facts`); texts stand in templates.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from string import Template
from typing import Any

import pandas as pd

from aatoolkit import __version__
from aatoolkit._util.text import json_text, visible
from aatoolkit._util.units import UNITS
from aatoolkit.frame.csv import is_guarded_number
from aatoolkit.study.publish.tables import PublishedTable
from aatoolkit.study.run_crate import NO_LICENCE

Files = Mapping[str, tuple[int, str]]
"""The size and SHA-256 of each file, by its path."""

CODES = {name: unit.code for name, unit in UNITS.items() if unit.code}
"""Unit codes: in UCUM, and the name in QUDT's vocabulary."""

_QUDT = "http://qudt.org/vocab/unit/"
_PROFILES = "https://datapackage.org/profiles/2.0"
_TYPES = {
    "Int64": "integer",
    "Float64": "number",
    "boolean": "boolean",
    "datetime64[us, UTC]": "datetime",
}
_MEDIA = {
    "zip": "application/zip",
    "parquet": "application/vnd.apache.parquet",
    "csv": "text/csv",
    "json": "application/json",
    "md": "text/markdown",
    "cff": "application/yaml",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "": "text/plain",
}

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
_SEAL = "The SHA-256 of the seal of the study."


def path_of(table: str, form: str) -> str:
    """The path of a table in a package."""
    folder = "data" if form == "parquet" else form
    return f"{folder}/{re.sub(r'[^A-Za-z0-9_-]', '_', table)}.{form}"


def column_facts(table: PublishedTable) -> list[dict[str, Any]]:
    """What each document says of a column of a table."""
    return [
        {
            "table": table.name,
            "column": name,
            "dtype": column.dtype,
            "unit": column.unit,
            "aggregation": None
            if column.aggregate.rule == "none" and not column.aggregate.why
            else str(column.aggregate),
            "key": name in table.metadata.key,
            "doc": column.doc or None,
            "availability": str(table.metadata.columns[name].availability),
            "missing": int(table.frame[name].isna().sum()),
            "rows": len(table.frame),
        }
        for name, column in table.columns.items()
    ]


def _without_none(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: fact for name, fact in facts.items() if fact}


# --- for people -------------------------------------------------------------------------------


def codebook(tables: Iterable[PublishedTable]) -> pd.DataFrame:
    """Build the codebook: one row per column, in the order of the tables."""
    frame = pd.DataFrame([facts for table in tables for facts in column_facts(table)])
    kinds = {"key": "boolean", "missing": "Int64", "rows": "Int64"}
    return frame.astype({str(name): kinds.get(str(name), "string") for name in frame})


def codebook_page(tables: Iterable[PublishedTable]) -> str:
    """Format the codebook in Markdown, one table of columns per table."""
    heads = ("dtype", "unit", "aggregation", "availability", "missing", "doc")
    parts = [_CODEBOOK]
    for table in tables:
        parts.append(f"\n## {table.name}\n\n{table.doc}\n\n")
        parts.append(_row("column", *heads[:-1], "meaning") + _row(*["---"] * 7))
        for facts in column_facts(table):
            name = f"**`{facts['column']}`**" if facts["key"] else f"`{facts['column']}`"
            parts.append(_row(name, *(cell(facts[head]) for head in heads)))
    return "".join(parts)


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |\n"


def cell(value: object) -> str:
    """Format a value as a cell of a Markdown table, with all markup escaped."""
    text = "" if value is None else visible(" ".join(str(value).split()))
    return "".join(f"\\{char}" if char in "\\|<>*_`[]" else char for char in text)


def readme(
    title: str,
    facts: Mapping[str, str],
    tables: Sequence[PublishedTable],
    notes: Sequence[str],
    forms: Sequence[str],
) -> str:
    """Write the README of a package; ``forms`` are the formats of tables beside Parquet."""
    rows = (
        _row(
            f"[`{cell(table.name)}`]({path_of(table.name, 'parquet')})",
            str(len(table.frame)),
            cell(table.doc),
        )
        for table in tables
    )
    more = [_SPREADSHEETS] if {"csv", "excel"} & {*forms} else []
    more += [_ANSWERS] if "study.zip" in forms else []
    return Template(_README).substitute(
        title=cell(title),
        notes="".join(f"{note}\n\n" for note in notes),
        facts="\n".join(f"- {name}: {cell(fact)}" for name, fact in facts.items()),
        tables="".join(rows),
        missing=ABOUT_MISSING,
        more="".join(f"{part}\n" for part in more),
        version=__version__,
    )


def citation(facts: Mapping[str, Any], digest: str | None) -> str:
    """Write ``CITATION.cff``, version 1.2.0."""
    seal = {"type": "other", "value": f"sha256:{digest}", "description": _SEAL}
    body = {
        "cff-version": "1.2.0",
        "message": "If you use this data, please cite it as below.",
        "type": "dataset",
        **facts,
        "identifiers": [seal] if digest else None,
    }
    # JSON, with the characters escaped that YAML refuses or folds.
    odd = re.compile(r"[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
    lines = (f"{name}: {json_text(value)}\n" for name, value in body.items() if value)
    return odd.sub(lambda char: f"\\u{ord(char[0]):04x}", "".join(lines))


# --- for machines -----------------------------------------------------------------------------


def data_package(
    about: Mapping[str, Any], tables: Sequence[PublishedTable], files: Files
) -> dict[str, Any]:
    """Describe the tables as specified by Data Package 2.0."""
    resources = [
        _resource(table, form, path, *files[path])
        for form in ("parquet", "csv")
        for table in tables
        if (path := path_of(table.name, form)) in files
    ]
    return {"$schema": f"{_PROFILES}/datapackage.json", **about, "resources": resources}


def _resource(
    table: PublishedTable, form: str, path: str, size: int, sha256: str
) -> dict[str, Any]:
    is_csv = form == "csv"
    name = re.sub(r"[^a-z0-9._-]", "_", table.name.lower())
    answers = "answers.csv" if is_csv else "answers"
    refers = {"fields": ["answer"], "reference": {"resource": answers, "fields": ["answer"]}}
    schema = {
        "$schema": f"{_PROFILES}/tableschema.json",
        "fields": [_field(table, facts, is_csv) for facts in column_facts(table)],
        "missingValues": [""],
        "primaryKey": [*table.key],
        "foreignKeys": [refers] if "answer" in table.columns and table.name != "answers" else [],
    }
    # Validators cannot check ``bytes`` and ``hash`` of binary files.
    sums = {"bytes": size, "hash": f"sha256:{sha256}"} if is_csv else {"sha256": sha256}
    return _without_none(
        {
            "$schema": f"{_PROFILES}/dataresource.json",
            "name": f"{name}.csv" if is_csv else name,
            "type": "table",
            "title": table.name,
            "description": table.doc,
            "path": path,
            "format": form,
            "mediatype": _MEDIA[form],
            "dialect": {"delimiter": ","} if is_csv else None,
            "encoding": "utf-8" if is_csv else None,
            **sums,
            "schema": _without_none(schema),
        }
    )


def _field(table: PublishedTable, facts: Mapping[str, Any], is_csv: bool) -> dict[str, Any]:
    values = table.frame[facts["column"]]
    if facts["dtype"] == "list<string>":
        # Frictionless does not accept a Parquet list as an array, nor as any other type.
        kind = "array" if is_csv else "any"
    elif pd.api.types.is_datetime64_dtype(values.dtype):
        kind = "date" if is_csv else "datetime"
    elif is_csv and is_guarded_number(values):
        kind = "string"
    else:
        kind = _TYPES.get(str(values.dtype), "string")
    ucum, qudt = CODES.get(facts["unit"], (None, None))
    return _without_none(
        {
            "name": facts["column"],
            "type": kind,
            "description": facts["doc"],
            "unit": facts["unit"],
            "ucumCode": ucum,
            "unitCode": qudt and _QUDT + qudt,
            "aggregation": facts["aggregation"],
            "availability": facts["availability"],
        }
    )


def crate(
    about: Mapping[str, Any],
    creators: Sequence[str],
    licence: str | None,
    tables: Sequence[PublishedTable],
    files: Files,
) -> dict[str, Any]:
    """Describe the package and its provenance as an RO-Crate 1.1.

    Parameters
    ----------
    about
        The properties of the dataset, named as in schema.org.
    creators, licence
        Their names, and the SPDX identifier.
    tables, files
        The tables, and all files.
    """
    answers = next(table.frame for table in tables if table.name == "answers")
    numbers = answers.groupby("section")["answer"].agg(list).to_dict()
    by_path = {path_of(table.name, form): table for table in tables for form in ("parquet", "csv")}
    people = [
        {"@id": f"#creator-{at}", "@type": "Person", "name": name}
        for at, name in enumerate(creators, 1)
    ]
    address = f"https://spdx.org/licenses/{licence}"
    licences = [{"@id": address, "@type": "CreativeWork", "name": licence}] if licence else []
    parts = []
    for path, (size, sha256) in sorted(files.items()):
        table = by_path.get(path)
        sources = [] if table is None else numbers.get(table.section, answers["answer"].tolist())
        part = {
            "@id": path,
            "@type": "File",
            "name": table.name if table else path.rpartition("/")[2],
            "contentSize": str(size),
            "encodingFormat": _MEDIA[path.rpartition(".")[2] if "." in path else ""],
            "sha256": sha256,
            "description": table and table.doc,
            "isBasedOn": _ids({"@id": f"#answer-{number}"} for number in sources),
        }
        parts.append(_without_none(part))
    measured = [
        _without_none(
            {
                "@id": f"#{table.name}.{facts['column']}",
                "@type": "PropertyValue",
                "name": f"{table.name}.{facts['column']}",
                "description": facts["doc"],
                "unitText": facts["unit"],
                "unitCode": _QUDT + CODES[facts["unit"]][1] if facts["unit"] in CODES else None,
            }
        )
        for table in tables
        for facts in (column_facts(table) if table.section else ())
        if facts["unit"]
    ]
    sources = [_source(row) for row in answers.to_dict("records")]
    root = {
        "@id": "./",
        "@type": "Dataset",
        **about,
        "author": _ids(people),
        "license": _ids(licences) or NO_LICENCE,
        "hasPart": _ids(parts),
        "variableMeasured": _ids(measured),
        "mentions": {"@id": "#publication"},
    }
    graph = [
        {
            "@id": "ro-crate-metadata.json",
            "@type": "CreativeWork",
            "about": {"@id": "./"},
            "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"},
        },
        _without_none(root),
        {
            "@id": "#publication",
            "@type": "CreateAction",
            "name": "Responses of the Agent Analytics API made into tables",
            "instrument": {"@id": "#aatoolkit"},
            "object": _ids(sources),
            "result": _ids(parts),
        },
        {
            "@id": "#aatoolkit",
            "@type": "SoftwareApplication",
            "name": "aatoolkit",
            "version": __version__,
        },
    ]
    return {
        "@context": [
            "https://w3id.org/ro/crate/1.1/context",
            {"sha256": "https://w3id.org/ro/terms/workflow-run#sha256"},
        ],
        "@graph": [*graph, *people, *licences, *parts, *sources, *measured],
    }


def _ids(entities: Iterable[Mapping[str, Any]]) -> Any:
    """Make references to entities; a single one is not wrapped in a list, as specified."""
    ids = [{"@id": entity["@id"]} for entity in entities]
    return ids[0] if len(ids) == 1 else ids


def _source(row: Mapping[Any, Any]) -> dict[str, Any]:
    """Describe one response as an entity, with the facts that are published."""
    known = {name: fact for name, fact in row.items() if not pd.isna(fact)}
    of = f" of {known['host']}" if "host" in known else ""
    return _without_none(
        {
            "@id": f"#answer-{row['answer']}",
            "@type": "CreativeWork",
            "name": f"{known.get('section', 'answer')}{of}",
            "url": known.get("url"),
            "sha256": known.get("sha256"),
            "contentSize": str(known.get("bytes", "")),
            "dateCreated": known["fetched_at"].isoformat() if "fetched_at" in known else None,
        }
    )


# --- texts ------------------------------------------------------------------------------------

_CODEBOOK = """\
# Codebook

Key columns are bold. *Missing* counts the rows without a value. *Availability* is whether the
column could be measured, over all answers; the table `availability` has it for each answer.
"""
_README = """\
# $title

$notes$facts

## Tables

Each table has the rows of all answers. `answer` refers to the table `answers`; `host`, the
window (`days`), the filters and `fetched_at` are columns too.

| table | rows | holds |
| --- | --- | --- |
$tables
## Missing values

$missing

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

$more## Files

`datapackage.json` (Frictionless Data Package) and `ro-crate-metadata.json` (RO-Crate) describe
the package for machines, `CITATION.cff` is the citation, and `sha256sum -c SHA256SUMS` verifies
that nothing has changed. Made with aatoolkit $version.
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
