"""The documents of a publication: a codebook, a README, a citation, a data package, an RO-Crate.

All of them describe the same columns (`column_facts`) and state the same facts; their texts stand
in templates at the end, which `filled` and `string.Template` fill.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from string import Template
from typing import TYPE_CHECKING, Any

import pandas as pd

from aatoolkit import __version__
from aatoolkit._util.text import json_text, visible
from aatoolkit._util.units import UNITS
from aatoolkit.frame.csv import is_guarded_number

if TYPE_CHECKING:
    from aatoolkit.study.publishing import PublishedTable

Files = Mapping[str, tuple[int, str]]
"""The size and SHA-256 of each file, by its path."""

Facts = Mapping[str, Any]
"""What the documents state of the whole publication, by name."""

CODES = {name: unit.code for name, unit in UNITS.items() if unit.code}
"""Unit codes: in UCUM, and the name in QUDT's vocabulary."""

_QUDT = "http://qudt.org/vocab/unit/"
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
    "ipynb": "application/x-ipynb+json",
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
NO_LICENCE = "No licence is stated; ask the creators before you use or share it."


def filled(template: str, **facts: Any) -> dict[str, Any]:
    """Fill a template of JSON with facts; what is empty is left out.

    Examples
    --------
    >>> filled('{"name": $name, "of": $of}', name="a", of=None)
    {'name': 'a'}
    """
    text = Template(template).substitute({name: json_text(fact) for name, fact in facts.items()})
    return {name: value for name, value in json.loads(text).items() if value}


def ids(names: Iterable[str]) -> Any:
    """Refer to entities of a crate; a single one is not wrapped in a list, as specified."""
    listed = [{"@id": name} for name in names]
    return listed[0] if len(listed) == 1 else listed


def file_entity(path: str, size: int, sha256: str, name: str = "", **more: Any) -> dict[str, Any]:
    """Describe a file of a crate."""
    media = _MEDIA.get(path.rpartition(".")[2], "text/plain")
    name = name or path.rpartition("/")[2]
    return filled(_FILE, path=path, name=name, size=str(size), media=media, sha256=sha256) | more


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
        parts.append(Template(_CODEBOOK_TABLE).substitute(name=table.name, doc=table.doc))
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


def readme(facts: Facts, tables: Sequence[PublishedTable], forms: Sequence[str]) -> str:
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
    more += [_RESPONSES] if "study.zip" in forms else []
    return Template(_README).substitute(
        title=cell(facts["title"]),
        notes="".join(f"{note}\n\n" for note in facts["notes"]),
        facts="\n".join(f"- {name}: {cell(fact)}" for name, fact in facts["stated"].items()),
        tables="".join(rows),
        missing=ABOUT_MISSING,
        more="".join(f"{part}\n" for part in more),
        version=__version__,
    )


def citation(facts: Facts) -> str:
    """Write ``CITATION.cff``, version 1.2.0."""
    people = [{"name": name} for name in facts["creators"] or ["The authors of this study"]]
    body = filled(_CITATION, people=people, **facts)
    # JSON, with the characters escaped that YAML refuses or folds.
    odd = re.compile(r"[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
    lines = "".join(f"{name}: {json_text(value)}\n" for name, value in body.items())
    return odd.sub(lambda char: f"\\u{ord(char[0]):04x}", lines)


# --- for machines -----------------------------------------------------------------------------


def data_package(facts: Facts, tables: Sequence[PublishedTable], files: Files) -> dict[str, Any]:
    """Describe the tables as specified by Data Package 2.0."""
    resources = [
        _resource(table, form, path, *files[path])
        for form in ("parquet", "csv")
        for table in tables
        if (path := path_of(table.name, form)) in files
    ]
    return filled(
        _PACKAGE,
        **facts,
        short="-".join(re.findall(r"[a-z0-9]+", facts["title"].lower())) or "study",
        people=[{"title": name, "roles": ["creator"]} for name in facts["creators"]],
        licences=[{"name": facts["licence"]}] if facts["licence"] else [],
        study={"digest": facts["digest"]} if facts["digest"] else None,
        resources=resources,
    )


def _resource(
    table: PublishedTable, form: str, path: str, size: int, sha256: str
) -> dict[str, Any]:
    is_csv = form == "csv"
    name = re.sub(r"[^a-z0-9._-]", "_", table.name.lower())
    responses = "responses.csv" if is_csv else "responses"
    refers = {"fields": ["response"], "reference": {"resource": responses, "fields": ["response"]}}
    schema = filled(
        _SCHEMA,
        fields=[_field(table, facts, is_csv) for facts in column_facts(table)],
        key=table.key,
        refers=[refers] if "response" in table.columns and table.name != "responses" else [],
    )
    # Validators cannot check ``bytes`` and ``hash`` of binary files.
    sums = {"bytes": size, "hash": f"sha256:{sha256}"} if is_csv else {"sha256": sha256}
    shape = {"dialect": {"delimiter": ","}, "encoding": "utf-8"} if is_csv else {}
    name = f"{name}.csv" if is_csv else name
    facts = {"name": name, "table": table.name, "doc": table.doc, "path": path, "form": form}
    resource = filled(_RESOURCE, **facts, media=_MEDIA[form])
    return {**resource, **shape, **sums, "schema": schema}


def _field(table: PublishedTable, facts: dict[str, Any], is_csv: bool) -> dict[str, Any]:
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
    return filled(_FIELD, **facts, kind=kind, ucum=ucum, qudt=qudt and _QUDT + qudt)


def crate(facts: Facts, tables: Sequence[PublishedTable], files: Files) -> dict[str, Any]:
    """Describe the package and its provenance as an RO-Crate 1.1."""
    responses = next(table.frame for table in tables if table.name == "responses")
    numbers = responses.groupby("section")["response"].agg(list).to_dict()
    by_path = {path_of(table.name, form): table for table in tables for form in ("parquet", "csv")}
    licence = facts["licence"]
    entities: dict[str, list[dict[str, Any]]] = {
        "people": [
            {"@id": f"#creator-{at}", "@type": "Person", "name": name}
            for at, name in enumerate(facts["creators"], 1)
        ],
        "licences": [
            {"@id": f"https://spdx.org/licenses/{name}", "@type": "CreativeWork", "name": name}
            for name in ([licence] if licence else [])
        ],
        "parts": [],
        "sources": [_source(row) for row in responses.to_dict("records")],
        "measured": [
            filled(
                _MEASURED,
                id=f"#{table.name}.{about['column']}",
                name=f"{table.name}.{about['column']}",
                code=_QUDT + CODES[about["unit"]][1] if about["unit"] in CODES else None,
                **about,
            )
            for table in tables
            for about in (column_facts(table) if table.section else ())
            if about["unit"]
        ],
    }
    for path, (size, sha256) in sorted(files.items()):
        table = by_path.get(path)
        based = [] if table is None else numbers.get(table.section, responses["response"].tolist())
        more = {"isBasedOn": ids(f"#response-{number}" for number in based)} if based else {}
        more |= {"description": table.doc} if table and table.doc else {}
        entities["parts"].append(
            file_entity(path, size, sha256, table.name if table else "", **more)
        )
    refers = {name: ids(one["@id"] for one in listed) for name, listed in entities.items()}
    whole = filled(_CRATE, **facts, **refers, version=__version__)
    whole["@graph"] = [
        *({name: value for name, value in one.items() if value} for one in whole["@graph"]),
        *(one for listed in entities.values() for one in listed),
    ]
    whole["@graph"][1].setdefault("license", NO_LICENCE)
    return whole


def _source(row: Mapping[Any, Any]) -> dict[str, Any]:
    """Describe one response as an entity, with the facts that are published."""
    known = {name: fact for name, fact in row.items() if not pd.isna(fact)}
    of = f" of {known['host']}" if "host" in known else ""
    return filled(
        _SOURCE,
        id=f"#response-{row['response']}",
        name=f"{known.get('section', 'response')}{of}",
        url=known.get("url"),
        sha256=known.get("sha256"),
        size=str(known.get("bytes", "")),
        moment=known["fetched_at"].isoformat() if "fetched_at" in known else None,
    )


# --- templates --------------------------------------------------------------------------------

_CITATION = """{
"cff-version": "1.2.0",
"message": "If you use this data, please cite it as below.",
"type": "dataset",
"title": $title,
"authors": $people,
"date-released": $day,
"keywords": $keywords,
"abstract": $abstract,
"license": $licence,
"identifiers": $seal
}"""
_PACKAGE = """{
"$$schema": "https://datapackage.org/profiles/2.0/datapackage.json",
"name": $short,
"title": $title,
"description": $description,
"created": $created,
"keywords": $keywords,
"contributors": $people,
"licenses": $licences,
"study": $study,
"resources": $resources
}"""
_RESOURCE = """{
"$$schema": "https://datapackage.org/profiles/2.0/dataresource.json",
"name": $name,
"type": "table",
"title": $table,
"description": $doc,
"path": $path,
"format": $form,
"mediatype": $media
}"""
_SCHEMA = """{
"$$schema": "https://datapackage.org/profiles/2.0/tableschema.json",
"fields": $fields,
"missingValues": [""],
"primaryKey": $key,
"foreignKeys": $refers
}"""
_FIELD = """{
"name": $column,
"type": $kind,
"description": $doc,
"unit": $unit,
"ucumCode": $ucum,
"unitCode": $qudt,
"aggregation": $aggregation,
"availability": $availability
}"""
_FILE = """{
"@id": $path,
"@type": "File",
"name": $name,
"contentSize": $size,
"encodingFormat": $media,
"sha256": $sha256
}"""
_SOURCE = """{
"@id": $id,
"@type": "CreativeWork",
"name": $name,
"url": $url,
"sha256": $sha256,
"contentSize": $size,
"dateCreated": $moment
}"""
_MEASURED = """{
"@id": $id,
"@type": "PropertyValue",
"name": $name,
"description": $doc,
"unitText": $unit,
"unitCode": $code
}"""
_CRATE = """{
"@context": [
  "https://w3id.org/ro/crate/1.1/context",
  {"sha256": "https://w3id.org/ro/terms/workflow-run#sha256"}
],
"@graph": [
  {
    "@id": "ro-crate-metadata.json",
    "@type": "CreativeWork",
    "about": {"@id": "./"},
    "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"}
  },
  {
    "@id": "./",
    "@type": "Dataset",
    "name": $title,
    "description": $abstract,
    "datePublished": $day,
    "keywords": $words,
    "temporalCoverage": $covered,
    "identifier": $digest,
    "author": $people,
    "license": $licences,
    "hasPart": $parts,
    "variableMeasured": $measured,
    "mentions": {"@id": "#publication"}
  },
  {
    "@id": "#publication",
    "@type": "CreateAction",
    "name": "Responses of the Agent Analytics API made into tables",
    "instrument": {"@id": "#aatoolkit"},
    "object": $sources,
    "result": $parts
  },
  {
    "@id": "#aatoolkit",
    "@type": "SoftwareApplication",
    "name": "aatoolkit",
    "version": $version
  }
]
}"""
_CODEBOOK = """\
# Codebook

Key columns are bold. *Missing* counts the rows without a value. *Availability* is whether the
column could be measured, over all responses; the table `availability` has it for each response.
"""
_CODEBOOK_TABLE = """
## $name

$doc

| column | dtype | unit | aggregation | availability | missing | meaning |
| --- | --- | --- | --- | --- | --- | --- |
"""
_README = """\
# $title

$notes$facts

## Tables

Each table has the rows of all responses. `response` refers to the table `responses`; `host`, the
window (`days`), the filters and `fetched_at` are columns too.

| table | rows | holds |
| --- | --- | --- |
$tables
## Missing values

$missing

## Reading it

```python
import pandas as pd

df = pd.read_parquet("data/responses.parquet")
```

```sql
SELECT * FROM 'data/responses.parquet';  -- DuckDB
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
_RESPONSES = """\
## Every number down to its bytes

`study.zip` holds the responses themselves, byte for byte, under their SHA-256. With `aatoolkit`,
`aa.Study("study.zip").explain("SECTION.TABLE", {"COLUMN": "VALUE"}, "COLUMN")` goes from a number
to the bytes it was read from; `aatoolkit explain --help` does so on the command line.
"""
