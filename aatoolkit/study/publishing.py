"""Publish responses as a folder of tables that can be read without this package.

One Parquet file per table, over all hosts and scopes, with host, filters and time in each row; a
Frictionless ``datapackage.json``, an RO-Crate, a codebook, a citation, a README, checksums. The
same responses and versions give the same bytes, and the folder is written atomically.

Each row has ``response``, which refers to the table ``responses``. Tables about the responses have
the availability of each column, what each states of itself, undeclared values, and drift. What is
left out is left out of everything that may quote it.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit._util.files import writing_folder
from aatoolkit._util.text import json_text, visible
from aatoolkit.availability import Availability, Status
from aatoolkit.errors import AAToolkitWarning, NotWritten, did_you_mean, near_matches
from aatoolkit.frame.concat import concat
from aatoolkit.frame.csv import csv_bytes
from aatoolkit.frame.excel import SheetTable, write_workbook
from aatoolkit.frame.merge import rename
from aatoolkit.frame.parquet import arrow_table, write_arrow
from aatoolkit.frame.reshape import CONTEXT
from aatoolkit.metadata.arrow_schema import declared
from aatoolkit.metadata.attrs import (
    ColumnMetadata,
    FrameMetadata,
    Source,
    attach,
    metadata_of,
    stored_of,
)
from aatoolkit.normalizer.tables import Tables
from aatoolkit.payload import Payload
from aatoolkit.scope import FILTERS
from aatoolkit.sections.section import Column
from aatoolkit.study import documents

SUMS = "SHA256SUMS"
_RESERVED = ("example", "test", "invalid", "localhost", "example.com", "example.org", "example.net")
"""The domains under which there are no real hosts (RFC 2606)."""

_KEYWORDS = ("AI answer engines", "brand visibility", "citations", "agent analytics")
_MEASURED = ColumnMetadata(None, Availability(Status.AVAILABLE))

# -- tables about the responses ----------------------------------------------------------------


def _columns(text: str) -> tuple[Column, ...]:
    """Columns, one a line: name, dtype, doc and unit, with the reference to the response first."""
    parts = (line.strip().split(" | ") for line in f"{_RESPONSE}\n{text.strip()}".splitlines())
    return tuple(
        Column(name, dtype, doc, unit=unit[0] if unit else None)
        for name, dtype, doc, *unit in parts
    )


_RESPONSE = "response | Int64 | The response that the row is of; refers to `responses`."
FACTS: Mapping[str, tuple[str, tuple[Column, ...]]] = {
    "responses": (
        "One row per response that was read.",
        _columns(
            """host | string | The host that was requested.
            days | Int64 | The length of the requested window in days. | days
            window_start | date | Its first day, if the response says so.
            window_end | date | Its last day, if the response says so.
            """
            + "\n".join(
                f"filter_{name} | string | What {name} was narrowed to, if it was."
                for name in FILTERS
            )
            + """
            fetched_at | timestamp | When the service sent the response, in UTC.
            section | string | The section.
            url | string | The address of the request, without a token.
            status | Int64 | The HTTP status of the response. | HTTP status
            sha256 | string | The SHA-256 of the response's bytes.
            bytes | Int64 | The size of the response in bytes. | bytes
            stale | boolean | Whether the response came from a cache after it had expired.
            error | string | Why the response could not be used, if it could not."""
        ),
    ),
    "availability": (
        "One row per response and column: whether it could be measured.",
        _columns(
            """table | string | The table.
            column | string | The column.
            status | category | Whether the response could measure it.
            cause | string | Why not, where a reason is known.
            reason | string | The service's own words."""
        ),
    ),
    "statements": (
        "One row per statement of a response about what it measured.",
        _columns(
            """section | string | The section.
            scope | category | What it is about: the section, a field, a row or an engine.
            target | string | Which field, row or engine.
            rows | string | Which rows it is about; missing where it is about all of them.
            status | category | Whether it could be measured.
            cause | string | Why not, as one of a few causes.
            reason | string | The service's own words.
            sample_size | Int64 | The number of answers it is based on. | count
            as_of | timestamp | As of when it is valid, in UTC.
            evidence | string | Where the response states it: a JSON path.
            rule | string | The detection rule that found it.
            raw | string | The value there, as JSON."""
        ),
    ),
    "extra": (
        "One row per value of a response that is in no column.",
        _columns(
            """section | string | The section.
            path | string | Where it is in the response: a JSON path.
            value | string | The value there, as JSON.
            why | string | Why it is in no column."""
        ),
    ),
    "drift": (
        "One row per difference between a response and its declaration.",
        _columns(
            """section | string | The section.
            kind | string | The kind of difference from the declaration.
            path | string | Where: a JSON path.
            count | Int64 | How often. | count
            example | string | The value there, as JSON."""
        ),
    ),
}
"""The tables about the responses, with their columns."""

_DTYPES = {"date": "datetime64[us]", "timestamp": "datetime64[us, UTC]", "category": "string"}


@dataclass(frozen=True)
class About:
    """Title, description, authors, licence and seal of what is published."""

    title: str
    description: str | None = None
    creators: tuple[str, ...] = ()
    licence: str | None = None
    digest: str | None = None


@dataclass(frozen=True)
class FailedResponse:
    """A response that cannot be used, and what is wrong with it."""

    response: Payload
    why: str


@dataclass(frozen=True)
class PublishedTable:
    """One table of a publication.

    Parameters
    ----------
    name
        Its name.
    doc
        What a row is, in a sentence.
    frame
        Its rows.
    section
        Its section; None for a table about the responses.
    """

    name: str
    doc: str
    frame: pd.DataFrame
    section: str | None = None

    @cached_property
    def metadata(self) -> FrameMetadata:
        """The metadata of its columns."""
        return metadata_of(self.frame)

    @cached_property
    def columns(self) -> dict[str, Column]:
        """The declaration of each column; an undeclared one is a plain string column."""
        ours = {column.name: column for column in FACTS.get(self.name, FACTS["responses"])[1]}
        return {
            name: declared(column) or ours.get(name) or Column(name, "string")
            for name, column in self.metadata.columns.items()
        }

    @cached_property
    def key(self) -> tuple[str, ...]:
        """The primary key; empty if it is not unique."""
        key = [*self.metadata.key]
        missing = not key or self.frame[key].isna().any(axis=None)
        return () if missing or self.frame.duplicated(key).any() else tuple(key)


# -- the folder --------------------------------------------------------------------------------


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
    words = sorted({redact} if isinstance(redact, str) else {*redact})
    published = collect_tables(read, failed, words)
    payloads = [one.payload for one in read if one.payload] + [one.response for one in failed]
    facts = _facts(about, published, words, {payload.host for payload in payloads if payload.host})
    _check_place(place, overwrite=overwrite)
    forms = [form for form, wanted in (("csv", csv), ("excel", excel)) if wanted]
    forms += attached or {}
    with writing_folder(out, overwrite=overwrite) as folder:

        def put(name: str, content: str | bytes) -> None:
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)

        for table in published:
            path = folder / documents.path_of(table.name, "parquet")
            path.parent.mkdir(exist_ok=True)
            write_arrow(arrow_table(table.frame, path), path)
            if csv:
                put(documents.path_of(table.name, "csv"), csv_bytes(table.frame))
        if excel:
            sheets = (SheetTable(table.name, table.doc, table.frame) for table in published)
            write_workbook(sheets, folder / "tables.xlsx", created=facts["last"])
        for name, content in (attached or {}).items():
            put(name, content)
        put("codebook.csv", csv_bytes(documents.codebook(published)))
        put("codebook.md", documents.codebook_page(published))
        put("README.md", documents.readme(facts, published, forms))
        put("CITATION.cff", documents.citation(facts))
        # Each of these describes the files that were written before it.
        package = documents.data_package(facts, published, _sums(folder))
        put("datapackage.json", json_text(package, indent=1) + "\n")
        described = documents.crate(facts, published, _sums(folder))
        put("ro-crate-metadata.json", json_text(described, indent=1) + "\n")
        sums = (f"{sha256}  {path}\n" for path, (_, sha256) in _sums(folder).items())
        put(SUMS, "".join(sums))
    return place


def _check_place(out: Path, *, overwrite: bool) -> None:
    """Raise if a folder is not empty, or holds files that are not of a publication."""
    there = {path.relative_to(out).as_posix() for path in out.rglob("*") if not path.is_dir()}
    if there and not overwrite:
        raise NotWritten(
            f"{out} is not empty; name another folder, or pass overwrite=True to replace an "
            "earlier publication",
            path=str(out),
        )
    sums = (out / SUMS).read_text("utf-8") if SUMS in there else ""
    strange = there - {SUMS if sums else ""} - {line[66:] for line in sums.splitlines()}
    if strange:
        raise NotWritten(
            f"{out} holds files that are not of a publication ({', '.join(sorted(strange)[:3])}); "
            "choose another folder",
            path=str(out),
        )


def _sums(folder: Path) -> dict[str, tuple[int, str]]:
    """Compute the size and SHA-256 of every file, by its path in the folder."""
    sums = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            sums[path.relative_to(folder).as_posix()] = (path.stat().st_size, digest)
    return sums


def _facts(
    about: About, tables: Sequence[PublishedTable], redacted: list[str], hosts: Collection[str]
) -> dict[str, Any]:
    """What the documents state of the whole publication."""
    responses = next(table.frame for table in tables if table.name == "responses")
    sections = sorted({table.section for table in tables if table.section})
    read = responses["fetched_at"].dt.tz_convert("UTC")
    first, last, days = read.min(), read.max(), read.dt.tz_localize(None).dt.normalize()
    lengths = pd.to_timedelta(responses.get("days", days.isna()), unit="D")
    starts = responses.get("window_start", days - lengths).fillna(days - lengths).fillna(days)
    ends = responses.get("window_end", days).fillna(days)
    period = f"{starts.min():%Y-%m-%d}", f"{ends.max():%Y-%m-%d}"
    failed = int(responses["error"].notna().sum()) if "error" in responses else 0
    digest = f"sha256:{about.digest}" if about.digest else None
    notes = [visible(about.description)] if about.description else []
    if hosts and all(
        f".{host}".endswith(tuple(f".{name}" for name in _RESERVED)) for host in hosts
    ):
        notes.append(documents.SYNTHETIC)
    if redacted:
        notes.append(documents.REDACTED.format(", ".join(redacted)))
    keywords = [*dict.fromkeys((*_KEYWORDS, *sections))]
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
        "covered": "/".join(period),
        "digest": digest,
        "seal": [seal] if digest else [],
        "stated": {
            "hosts": ", ".join(sorted({*responses.get("host", ["left out"])})),
            "sections": ", ".join(sections),
            "responses": f"{len(responses) - failed} usable, {failed} with errors",
            "read": f"{first:%Y-%m-%d %H:%M} to {last:%Y-%m-%d %H:%M} UTC",
            "period": " to ".join(period),
            "creators": ", ".join(about.creators) or "not stated",
            "licence": about.licence or documents.NO_LICENCE,
            "study": digest or "not sealed",
        },
    }


# -- the tables --------------------------------------------------------------------------------


def collect_tables(
    tables: Iterable[Tables], failures: Iterable[FailedResponse], redact: list[str]
) -> list[PublishedTable]:
    """Build all tables of a publication, in a fixed order, without what is left out.

    Raises
    ------
    NotWritten
        If a column to leave out does not exist.

    Warns
    -----
    AAToolkitWarning
        If text that is left out of one column is also in another.
    """
    numbered = dict(enumerate(sorted(tables, key=lambda one: _order(_payload(one))), 1))
    failed = sorted(failures, key=lambda failure: _order(failure.response))
    sections: dict[str, str] = {}
    for one in sorted(numbered.values(), key=lambda one: one.section):
        sections |= dict.fromkeys(one, one.section)
    metadata = {(n, name): metadata_of(one[name]) for n, one in numbered.items() for name in one}
    rows = [
        _about(n, _payload(one), metadata[n, next(iter(one))].sources, None)
        for n, one in numbered.items()
    ]
    rows += [_about(n, f.response, (), f.why) for n, f in enumerate(failed, len(rows) + 1)]
    responses = _as_declared([pd.DataFrame(rows)], FACTS["responses"][1])
    names = [column.name for column in FACTS["availability"][1]]
    states = [
        (number, name, column, str(state.status), state.cause and str(state.cause), state.reason)
        for (number, name), facts in metadata.items()
        for column, state in ((c, of_it.availability) for c, of_it in facts.columns.items())
    ]
    parts = {"availability": [pd.DataFrame(states, columns=names, dtype="object")]}
    for name, part in (("statements", "availability"), ("extra", "extra"), ("drift", "drift")):
        parts[name] = [
            getattr(one, part).assign(response=number, section=one.section)
            for number, one in numbered.items()
        ]
    whole = []
    for name, section in sections.items():
        frame = _stacked(name, section, numbered, metadata, responses)
        whole.append(PublishedTable(name, _doc(numbered, section, name), frame, section))
    whole.append(PublishedTable("responses", FACTS["responses"][0], responses))
    whole += [
        PublishedTable(name, FACTS[name][0], _as_declared(frames, FACTS[name][1]))
        for name, frames in parts.items()
    ]
    return _redacted(whole, redact) if redact else whole


def _about(
    number: int, payload: Payload, sources: Sequence[Source], why: str | None
) -> dict[str, Any]:
    """The row of a response in the table ``responses``."""
    scope, source = payload.scope, (*sources, Source(section=payload.section))[0]
    filters = {} if scope is None else scope._filters
    return {
        "response": number,
        "host": payload.host,
        "days": scope and scope.days,
        "window_start": source.window_start,
        "window_end": source.window_end,
        **{f"filter_{name}": ",".join(filters.get(name, ())) or None for name in FILTERS},
        # To the second, as in what frames say of their sources.
        "fetched_at": payload.fetched_at.astimezone(UTC).replace(microsecond=0),
        "section": source.section,
        "url": payload.url or None,
        "status": payload.status,
        "sha256": payload.sha256,
        "bytes": len(payload.body),
        "stale": payload.stale,
        "error": why,
    }


def _as_declared(frames: Iterable[pd.DataFrame], columns: Sequence[Column]) -> pd.DataFrame:
    """Concatenate frames, with the declared columns and dtypes."""
    parts = [frame for frame in frames if len(frame)] or [pd.DataFrame()]
    whole, nothing = pd.concat(parts, ignore_index=True), pd.Series(dtype="object")
    dtypes = {column.name: _DTYPES.get(column.dtype, column.dtype) for column in columns}
    frame = pd.DataFrame(
        {
            name: whole.get(name, nothing).astype(pd.api.types.pandas_dtype(dtype))
            for name, dtype in dtypes.items()
        }
    )
    key = ("response",) if frame["response"].is_unique and "url" in frame else ()
    return attach(frame, FrameMetadata(dict.fromkeys(map(str, frame), _MEASURED), key))


def _payload(tables: Tables) -> Payload:
    if tables.payload is None:
        raise NotWritten(f"the tables of {tables.section} do not say which response they are of")
    return tables.payload


def _order(payload: Payload) -> tuple[str, ...]:
    """The sort key of a response: its request, then its time."""
    scope = "" if payload.scope is None else payload.scope._to_query()
    parts = (payload.host, payload.section, scope, payload.fetched_at.isoformat(), payload.sha256)
    return tuple(part or "" for part in parts)


def _doc(numbered: Mapping[int, Tables], section: str, table: str) -> str:
    """Describe a row of a table; empty for an undeclared table."""
    read = (one for one in numbered.values() if one.section == section and table in one)
    return next((one.declaration[table].doc for one in read if one.declaration is not None), "")


def _stacked(
    name: str,
    section: str,
    numbered: Mapping[int, Tables],
    metadata: Mapping[tuple[int, str], FrameMetadata],
    responses: pd.DataFrame,
) -> pd.DataFrame:
    """Concatenate one table of all responses that have it, with host, filters and time."""
    parts = {
        number: tables[name]
        for number, tables in numbered.items()
        if tables.section == section and name in tables
    }
    rows = concat(parts.values(), ignore_index=True)
    places = np.repeat([number - 1 for number in parts], [len(part) for part in parts.values()])
    context = responses[["response", *CONTEXT]].take(places).reset_index(drop=True)
    taken = {str(name): f"{name}_" for name in rows if name in context}
    rows = rename(rows, columns=taken) if taken else rows
    known, recorded = metadata_of(rows), stored_of(rows)[0]
    keys = {metadata[number, name].key for number in parts}
    own = keys.pop() if len(keys) == 1 else ()
    unique = ("_row",) if "_row" in rows else tuple(taken.get(key, key) for key in own)
    return attach(
        pd.concat([context, rows], axis=1),
        FrameMetadata(
            {**dict.fromkeys(map(str, context), _MEASURED), **known.columns},
            ("response", *unique) if unique else (),
            recorded.sources,
            recipe=recorded.recipe,
        ),
    )


# -- what is left out --------------------------------------------------------------------------

TEXTS = "texts"
"""The group of all text columns: prompts, answers, and notes on them."""

_WORDS = frozenset(
    {
        *("answer_text", "excerpt", "prompt", "query", "term", "text", "title"),
        *("headline", "body", "what", "why", "recommendation", "detail", "delivery_text"),
    }
)
_NEEDED = frozenset({"response", "section", "fetched_at"})
"""The columns that identify responses, and cannot be left out."""

_FIXED = frozenset(FACTS) - {"responses"}
"""The tables whose columns are only left out as ``table.column``: their names are common."""


def _redacted(whole: list[PublishedTable], redact: list[str]) -> list[PublishedTable]:
    """Drop the columns that are left out, and everything that may quote them."""
    hidden, named = _hidden(whole, redact)
    scope = {*CONTEXT} - {"host", "fetched_at"}
    if hidden & {("responses", name) for name in scope}:
        hidden.add(("responses", "scope"))
    if hidden & {("responses", name) for name in ("host", "scope")}:
        hidden.add(("responses", "url"))
    facts = {name for table, name in hidden if table == "responses"}
    # Of a section with such a column the service's notes are left out: they may quote it.
    is_everywhere = TEXTS in redact or any(name in redact for name in (*CONTEXT, *FILTERS))
    silent = {
        t.section for t in whole if is_everywhere or any(t.name == name for name, _ in hidden)
    }
    quiet = {table.name for table in whole if table.section in silent - {None}}
    left = []
    for table in whole:
        frame, known = table.frame, table.metadata
        if table.name in ("statements", "extra", "drift"):
            frame = frame[~frame["section"].isin(silent)].reset_index(drop=True)
        elif table.name == "availability":
            frame = frame.assign(reason=frame["reason"].mask(frame["table"].isin(quiet)))
        elif table.name == "responses":
            # An error message may quote anything.
            frame = frame.assign(error=frame["error"].mask(frame["error"].notna(), "left out"))
        kept = [name for name in map(str, frame) if (table.name, name) not in hidden]
        columns = {name: known.columns[name] for name in kept}
        if table.name in quiet:
            columns = {
                name: replace(column, availability=replace(column.availability, reason=None))
                for name, column in columns.items()
            }
        sources = tuple(
            Source(**{name: fact for name, fact in vars(source).items() if name not in facts})
            for source in known.sources
        )
        key = tuple(name for name in known.key if name in kept)
        rest = frame[kept].copy(deep=False)
        left.append(replace(table, frame=attach(rest, FrameMetadata(columns, key, sources))))
    _warn_of_copies(whole, left, named)
    return left


def _hidden(
    whole: list[PublishedTable], redact: list[str]
) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """The columns that are left out, by table; and those of them that were named."""
    full = [(t.name, c) for t in whole for c in map(str, t.frame) if c not in _NEEDED]
    dtypes = {(t.name, str(c)): str(dtype) for t in whole for c, dtype in t.frame.dtypes.items()}
    names = {c for t, c in full if t not in _FIXED} | {*FILTERS}
    texts, named = set[tuple[str, str]](), set[tuple[str, str]]()
    for word in redact:
        if word == TEXTS:
            texts |= {(t, c) for t, c in full if c in _WORDS and _holds_words(dtypes[t, c])}
        elif word in names:
            same = (word, f"filter_{word}")
            named |= {(t, c) for t, c in full if c in same and t not in _FIXED}
        elif tuple(word.split(".", 1)) in full:
            named.add(tuple(word.split(".", 1)))  # type: ignore[arg-type]
        else:
            known = [TEXTS, *sorted(names), *sorted(map(".".join, full))]
            hint = did_you_mean(near_matches(word, known), "check its spelling")
            raise NotWritten(f"there is no column {word!r} to leave out; {hint}")
    return texts | named, named


def _warn_of_copies(
    whole: list[PublishedTable], left: list[PublishedTable], named: Collection[tuple[str, str]]
) -> None:
    """Warn if text that is left out of one column is also in another.

    Of columns left out as ``texts``, only longer texts count: the title of a page may be just
    the name of a brand.
    """
    hidden: set[str] = set()
    for before, after in zip(whole, left, strict=True):
        for name in {*before.frame} - {*after.frame}:
            is_named = (before.name, name) in named
            words = _texts_of(before.frame[name])
            hidden |= {word for word in words if is_named or word.count(" ") > 2}
    places = [
        f"{table.name}.{name}"
        for table in (left if hidden else ())
        for name in table.frame
        if not hidden.isdisjoint(_texts_of(table.frame[name]))
    ]
    if places:
        warnings.warn(
            f"text that is left out is also in {', '.join(places)}; leave that out too",
            AAToolkitWarning,
            stacklevel=5,
        )


def _texts_of(column: pd.Series) -> Iterator[str]:
    """Yield the texts of a column, also those within lists."""
    dtype = str(column.dtype)
    if _holds_words(dtype):
        words = column.dropna()
        if dtype.startswith("list<"):
            words = words.astype("object").explode().dropna()
        yield from (word for word in words.unique() if isinstance(word, str))


def _holds_words(dtype: str) -> bool:
    return dtype in ("string", "category") or dtype.startswith("list<")
