"""Publish responses as a folder of tables that can be read without this package.

One Parquet file per table, over all hosts and scopes, with host, filters and time in each row; a
Frictionless ``datapackage.json``, an RO-Crate, a codebook, a citation, a README, checksums. The
same responses and versions give the same bytes, and the folder is written atomically. In come the
`Tables` of responses; in reading order:

- ``tables``: the tables of all responses on each other, and tables about the responses.
- ``redaction``: columns that are left out, and everything that may quote them.
- ``documents``: the codebook, the data package, the RO-Crate, the README and the citation.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from aatoolkit._util.files import writing_folder
from aatoolkit._util.text import json_text, visible
from aatoolkit.errors import NotWritten
from aatoolkit.frame.csv import csv_bytes
from aatoolkit.frame.excel import SheetTable, write_workbook
from aatoolkit.frame.parquet import arrow_table, write_arrow
from aatoolkit.normalizer.tables import Tables
from aatoolkit.study.publish import documents
from aatoolkit.study.publish.documents import path_of
from aatoolkit.study.publish.redaction import Redaction
from aatoolkit.study.publish.tables import FailedResponse, PublishedTable, collect_tables

__all__ = ["About", "FailedResponse", "publish"]

SUMS = "SHA256SUMS"
_RESERVED = ("example", "test", "invalid", "localhost", "example.com", "example.org", "example.net")
"""The domains under which there are no real hosts (RFC 2606)."""

_KEYWORDS = ("AI answer engines", "brand visibility", "citations", "agent analytics")


@dataclass(frozen=True)
class About:
    """Title, authors, licence and keywords of a publication.

    Parameters
    ----------
    title : str
        Its title.
    description : str, optional
        An abstract.
    creators : tuple of str
        Who made it.
    licence : str, optional
        The SPDX identifier of the licence, such as ``CC-BY-4.0``.
    keywords : tuple of str
        Keywords, in addition to the standard ones.
    digest : str, optional
        The SHA-256 of the seal of the study.
    """

    title: str
    description: str | None = None
    creators: tuple[str, ...] = ()
    licence: str | None = None
    keywords: tuple[str, ...] = ()
    digest: str | None = None


def publish(
    tables: Iterable[Tables],
    out: str | os.PathLike[str],
    about: About,
    *,
    failures: Iterable[FailedResponse] = (),
    redact: str | Iterable[str] = (),
    excel: bool = False,
    csv: bool = False,
    overwrite: bool = False,
    attached: Mapping[str, bytes] | None = None,
) -> Path:
    """Write responses to a folder that people and machines can read without this package.

    Parameters
    ----------
    tables : iterable of Tables
        Tables of any hosts, sections and scopes, each with its response.
    out : str or path
        The folder; it must be new or empty.
    about : About
        Title, creators, licence.
    failures : iterable of FailedResponse
        The requests without a usable response; they are listed.
    redact, excel, csv, overwrite
        As for `aatoolkit.Study.publish`.
    attached : mapping of str to bytes, optional
        Further files, by their names.
    """
    read, failed, place = [*tables], [*failures], Path(out)
    if not read:
        raise NotWritten("there is no response to publish", path=str(out))
    published, redaction = collect_tables(read, failed, redact)
    payloads = [one.payload for one in read if one.payload] + [one.response for one in failed]
    hosts = {payload.host for payload in payloads if payload.host}
    facts = _facts(about, published, redaction, hosts)
    if overwrite:
        _check_ours(place)
    elif place.is_dir() and any(place.iterdir()):
        raise NotWritten(
            f"{place} is not empty; name another folder, or pass overwrite=True to replace an "
            "earlier publication",
            path=str(place),
        )
    forms = [form for form, wanted in (("csv", csv), ("excel", excel)) if wanted]
    with writing_folder(out, overwrite=overwrite) as folder:
        for table in published:
            path = _new(folder, path_of(table.name, "parquet"))
            write_arrow(arrow_table(table.frame, path), path)
            if csv:
                _new(folder, path_of(table.name, "csv")).write_bytes(csv_bytes(table.frame))
        if excel:
            sheets = (SheetTable(table.name, table.doc, table.frame) for table in published)
            write_workbook(sheets, folder / "tables.xlsx", created=facts["last"])
        forms += [*(attached or {})]
        written: dict[str, str | bytes] = {
            **(attached or {}),
            "codebook.csv": csv_bytes(documents.codebook(published)),
            "codebook.md": documents.codebook_page(published),
            "README.md": documents.readme(facts, published, forms),
            "CITATION.cff": documents.citation(facts),
        }
        for name, content in written.items():
            _put(folder, name, content)
        # Each of these describes the files that were written before it.
        package = documents.data_package(facts, published, _sums(folder))
        _put(folder, "datapackage.json", json_text(package, indent=1) + "\n")
        described = documents.crate(facts, published, _sums(folder))
        _put(folder, "ro-crate-metadata.json", json_text(described, indent=1) + "\n")
        sums = "".join(f"{sha256}  {path}\n" for path, (_, sha256) in _sums(folder).items())
        _put(folder, SUMS, sums)
    return place


def _facts(
    about: About, tables: Sequence[PublishedTable], redaction: Redaction, hosts: Collection[str]
) -> dict[str, Any]:
    """What the documents state of the whole publication."""
    responses = next(table.frame for table in tables if table.name == "responses")
    sections = sorted({table.section for table in tables if table.section})
    read = responses["fetched_at"].dt.tz_convert("UTC").sort_values()
    first, last = read.iloc[0], read.iloc[-1]
    begins, ends = _period(responses)
    failed = int(responses["error"].notna().sum()) if "error" in responses else 0
    digest = f"sha256:{about.digest}" if about.digest else None
    notes = [visible(about.description)] if about.description else []
    if hosts and all(map(_is_reserved, hosts)):
        notes.append(documents.SYNTHETIC)
    if redaction.requested:
        notes.append(documents.REDACTED.format(", ".join(redaction.requested)))
    keywords = [*dict.fromkeys((*_KEYWORDS, *sections, *about.keywords))]
    seal = {"type": "other", "value": digest, "description": "The SHA-256 of the study's seal."}
    return {
        "title": about.title,
        "creators": about.creators,
        "licence": about.licence,
        "notes": notes,
        "abstract": " ".join([*notes, documents.ABOUT_MISSING]),
        "description": "\n\n".join([*notes, documents.ABOUT_MISSING]),
        "keywords": keywords,
        "words": ", ".join(keywords),
        "last": last.to_pydatetime(),
        "day": f"{last:%Y-%m-%d}",
        "created": last.isoformat(timespec="seconds"),
        "covered": f"{begins}/{ends}",
        "digest": digest,
        "seal": [seal] if digest else [],
        "stated": {
            "hosts": ", ".join(sorted({*responses["host"]})) if "host" in responses else "left out",
            "sections": ", ".join(sections),
            "responses": f"{len(responses) - failed} usable, {failed} with errors",
            "read": f"{first:%Y-%m-%d %H:%M} to {last:%Y-%m-%d %H:%M} UTC",
            "period": f"{begins} to {ends}",
            "creators": ", ".join(about.creators) or "not stated",
            "licence": about.licence or documents.NO_LICENCE,
            "study": digest or "not sealed",
        },
    }


def _period(responses: pd.DataFrame) -> tuple[str, str]:
    """Compute the first and last day of all windows: from the responses, else the requests."""
    days = responses["fetched_at"].dt.tz_convert("UTC").dt.tz_localize(None).dt.normalize()
    begins = ends = days
    if "days" in responses:
        begins = (days - pd.to_timedelta(responses["days"], unit="D")).fillna(days)
    if "window_start" in responses and "window_end" in responses:
        begins = responses["window_start"].fillna(begins)
        ends = responses["window_end"].fillna(ends)
    return f"{begins.min():%Y-%m-%d}", f"{ends.max():%Y-%m-%d}"


def _is_reserved(host: str) -> bool:
    return any(host == name or host.endswith(f".{name}") for name in _RESERVED)


def _check_ours(out: Path) -> None:
    """Raise if a folder to be replaced holds files that are not of a publication."""
    if not out.exists():
        return
    listed = {SUMS}
    with_sums = out / SUMS
    if with_sums.is_file():
        listed |= {line.partition("  ")[2] for line in with_sums.read_text("utf-8").splitlines()}
    there = {path.relative_to(out).as_posix() for path in out.rglob("*") if not path.is_dir()}
    if there and (there - listed or not with_sums.is_file()):
        strange = ", ".join(sorted(there - listed)[:3]) or SUMS
        raise NotWritten(
            f"{out} holds files that are not of a publication ({strange}); choose another folder",
            path=str(out),
        )


def _sums(folder: Path) -> dict[str, tuple[int, str]]:
    """Compute the size and SHA-256 of every file, by its path in the folder."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            found[path.relative_to(folder).as_posix()] = (path.stat().st_size, digest)
    return found


def _new(folder: Path, name: str) -> Path:
    """Return the path of a file, and create its folder."""
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    return path


def _put(folder: Path, name: str, content: str | bytes) -> None:
    (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
