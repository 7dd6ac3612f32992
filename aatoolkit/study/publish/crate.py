"""``ro-crate-metadata.json``: the package as an RO-Crate 1.1, with its provenance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from aatoolkit import __version__
from aatoolkit.study.publish.codebook import CODES, QUDT
from aatoolkit.study.publish.descriptor import MEDIA, path_of
from aatoolkit.study.publish.stacking import PublishedTable

_CONTEXT = "https://w3id.org/ro/crate/1.1/context"
_PROFILE = "https://w3id.org/ro/crate/1.1"
_SOFTWARE = "#aatoolkit"
NO_LICENCE = "No licence is stated; ask the creators before you use or share it."


def crate(
    about: Mapping[str, Any],
    creators: Sequence[str],
    licence: str | None,
    tables: Iterable[PublishedTable],
    files: Mapping[str, tuple[int, str]],
) -> dict[str, Any]:
    """Build the metadata of an RO-Crate.

    Parameters
    ----------
    about
        The properties of the dataset, named as in schema.org.
    creators
        The names of the creators.
    licence
        The SPDX identifier of its licence.
    tables
        The tables.
    files
        The size and SHA-256 of each file, by its path.
    """
    listed = [*tables]
    answers = next(table.frame for table in listed if table.name == "answers")
    people = [
        {"@id": f"#creator-{at}", "@type": "Person", "name": name}
        for at, name in enumerate(creators, 1)
    ]
    licences = [
        {"@id": f"https://spdx.org/licenses/{name}", "@type": "CreativeWork", "name": name}
        for name in ([licence] if licence else [])
    ]
    measured = [*_measured(listed)]
    of_table = {path_of(table.name, form): table for table in listed for form in ("parquet", "csv")}
    numbers = answers.groupby("section")["answer"].agg(list).to_dict()
    whole = answers["answer"].tolist()
    entities = [
        _file(path, *files[path], table, numbers.get(table.section, whole) if table else ())
        for path, table in ((path, of_table.get(path)) for path in sorted(files))
    ]
    sources = [_answer(row) for row in answers.to_dict("records")]
    root = {
        "@id": "./",
        "@type": "Dataset",
        **about,
        **({"author": _ids(people)} if people else {}),
        "license": _ids(licences) if licences else NO_LICENCE,
        "hasPart": _ids(entities),
        "variableMeasured": _ids(measured),
        "mentions": {"@id": "#publication"},
    }
    made = {
        "@id": "#publication",
        "@type": "CreateAction",
        "name": "Answers of the Agent Analytics API made into tables",
        "instrument": {"@id": _SOFTWARE},
        "object": _ids(sources),
        "result": _ids(entities),
    }
    software = {
        "@id": _SOFTWARE,
        "@type": "SoftwareApplication",
        "name": "aatoolkit",
        "version": __version__,
    }
    itself = {
        "@id": "ro-crate-metadata.json",
        "@type": "CreativeWork",
        "about": {"@id": "./"},
        "conformsTo": {"@id": _PROFILE},
    }
    graph = [itself, root, made, software, *people, *licences, *entities, *sources, *measured]
    return {
        "@context": [_CONTEXT, {"sha256": "https://w3id.org/ro/terms/workflow-run#sha256"}],
        "@graph": graph,
    }


def _ids(entities: Iterable[Mapping[str, Any]]) -> Any:
    """Make references to entities; a single one is not wrapped in a list, as specified."""
    found = [{"@id": entity["@id"]} for entity in entities]
    return found[0] if len(found) == 1 else found


def _file(
    path: str, size: int, sha256: str, table: PublishedTable | None, numbers: Iterable[int]
) -> dict[str, Any]:
    ending = path.rpartition(".")[2] if "." in path else ""
    found: dict[str, Any] = {
        "@id": path,
        "@type": "File",
        "name": path.rpartition("/")[2],
        "contentSize": str(size),
        "encodingFormat": MEDIA[ending],
        "sha256": sha256,
    }
    if table is not None:
        found |= {"name": table.name, **({"description": table.doc} if table.doc else {})}
        found["isBasedOn"] = _ids({"@id": f"#answer-{number}"} for number in numbers)
    return found


def _answer(row: Mapping[Any, Any]) -> dict[str, Any]:
    """Describe one answer as an entity, with the facts that are published."""
    known = {name: fact for name, fact in row.items() if not pd.isna(fact)}
    words = [known.get("section", "answer")] + ([f"of {known['host']}"] if "host" in known else [])
    facts = {
        "@id": f"#answer-{row['answer']}",
        "@type": "CreativeWork",
        "name": " ".join(words),
        "url": known.get("url"),
        "sha256": known.get("sha256"),
        "contentSize": str(known["bytes"]) if "bytes" in known else None,
        "dateCreated": known["fetched_at"].isoformat() if "fetched_at" in known else None,
    }
    return {name: fact for name, fact in facts.items() if fact is not None}


def _measured(tables: Iterable[PublishedTable]) -> Iterable[dict[str, Any]]:
    """Yield the variables measured: every column with a unit."""
    for table in tables:
        for column in table.columns.values() if table.section else ():
            if column.unit and column.name in table.frame.columns:
                code = {"unitCode": QUDT + CODES[column.unit][1]} if column.unit in CODES else {}
                yield {
                    "@id": f"#{table.name}.{column.name}",
                    "@type": "PropertyValue",
                    "name": f"{table.name}.{column.name}",
                    "description": column.doc,
                    "unitText": column.unit,
                    **code,
                }
