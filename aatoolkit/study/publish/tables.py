"""The tables of a publication: those of all responses on each other, and tables about these.

Each row has ``response``, which refers to the table ``responses``, and host, filters and time.
Tables about the responses have the availability of each column, what each states of itself,
undeclared values, and drift.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit.availability import Availability, Status
from aatoolkit.errors import AAToolkitWarning, NotWritten
from aatoolkit.frame.concat import concat
from aatoolkit.frame.merge import rename
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
from aatoolkit.study.publish.redaction import Redaction, texts_of

MEASURED = ColumnMetadata(None, Availability(Status.AVAILABLE))

RESPONSE = Column("response", "Int64", "The response that the row is of; refers to `responses`.")

ABOUT = (
    RESPONSE,
    Column("host", "string", "The host that was requested."),
    Column("days", "Int64", "The length of the requested window in days.", unit="days"),
    Column("window_start", "date", "Its first day, if the response says so."),
    Column("window_end", "date", "Its last day, if the response says so."),
    *(
        Column(f"filter_{name}", "string", f"What {name} was narrowed to, if it was.")
        for name in FILTERS
    ),
    Column("fetched_at", "timestamp", "When the service sent the response, in UTC."),
    Column("section", "string", "The section."),
    Column("url", "string", "The address of the request, without a token."),
    Column("status", "Int64", "The HTTP status of the response.", unit="HTTP status"),
    Column("sha256", "string", "The SHA-256 of the response's bytes."),
    Column("bytes", "Int64", "The size of the response in bytes.", unit="bytes"),
    Column("stale", "boolean", "Whether the response came from a cache after it had expired."),
    Column("error", "string", "Why the response could not be used, if it could not."),
)
_OF_COLUMNS = (
    RESPONSE,
    Column("table", "string", "The table."),
    Column("column", "string", "The column."),
    Column("status", "category", "Whether the response could measure it."),
    Column("cause", "string", "Why not, where a reason is known."),
    Column("reason", "string", "The service's own words."),
)
_STATEMENTS = (
    RESPONSE,
    Column("section", "string", "The section."),
    Column(
        "scope",
        "category",
        "What the statement is about: the section, a field, a row or an engine.",
    ),
    Column("target", "string", "Which field, row or engine."),
    Column("rows", "string", "Which rows it is about; missing where it is about all of them."),
    Column("status", "category", "Whether it could be measured."),
    Column("cause", "string", "Why not, as one of a few causes."),
    Column("reason", "string", "The service's own words."),
    Column("sample_size", "Int64", "The number of answers it is based on.", unit="count"),
    Column("as_of", "timestamp", "As of when it is valid, in UTC."),
    Column("evidence", "string", "Where the response states it: a JSON path."),
    Column("rule", "string", "The detection rule that found it."),
    Column("raw", "string", "The value there, as JSON."),
)
_EXTRA = (
    RESPONSE,
    Column("section", "string", "The section."),
    Column("path", "string", "Where it is in the response: a JSON path."),
    Column("value", "string", "The value there, as JSON."),
    Column("why", "string", "Why it is in no column."),
)
_DRIFT = (
    RESPONSE,
    Column("section", "string", "The section."),
    Column("kind", "string", "The kind of difference from the declaration."),
    Column("path", "string", "Where: a JSON path."),
    Column("count", "Int64", "How often.", unit="count"),
    Column("example", "string", "The value there, as JSON."),
)

FACTS: Mapping[str, tuple[str, tuple[Column, ...]]] = {
    "responses": ("One row per response that was read.", ABOUT),
    "availability": ("One row per response and column: whether it could be measured.", _OF_COLUMNS),
    "statements": ("One row per statement of a response about what it measured.", _STATEMENTS),
    "extra": ("One row per value of a response that is in no column.", _EXTRA),
    "drift": ("One row per difference between a response and its declaration.", _DRIFT),
}
"""The tables about the responses, with their columns."""

_DTYPES = {"date": "datetime64[us]", "timestamp": "datetime64[us, UTC]", "category": "string"}


@dataclass(frozen=True)
class FailedResponse:
    """A request without a usable response.

    Parameters
    ----------
    response : Payload
        The response.
    why : str
        What is wrong with it.
    """

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
        ours = {column.name: column for column in FACTS.get(self.name, ("", ABOUT))[1]}
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


def collect_tables(
    tables: Iterable[Tables], failures: Iterable[FailedResponse], redact: str | Iterable[str]
) -> tuple[list[PublishedTable], Redaction]:
    """Build all tables of a publication, in a fixed order, after redaction.

    Raises
    ------
    NotWritten
        If a column to leave out does not exist.

    Warns
    -----
    AAToolkitWarning
        If text that is left out of one column is also in another.
    """
    read = sorted(tables, key=lambda one: _order(_payload(one)))
    failed = sorted(failures, key=lambda failure: _order(failure.response))
    numbered = dict(enumerate(read, 1))
    sections: dict[str, str] = {}
    for one in sorted(read, key=lambda one: one.section):
        sections |= dict.fromkeys(one, one.section)
    metadata = {(n, name): metadata_of(one[name]) for n, one in numbered.items() for name in one}
    rows = [
        _about(n, _payload(one), metadata[n, next(iter(one))], None) for n, one in numbered.items()
    ]
    for failure in failed:
        rows.append(_about(len(rows) + 1, failure.response, FrameMetadata(), failure.why))
    responses = attach(
        _as_declared([pd.DataFrame(rows, dtype="object")], ABOUT),
        FrameMetadata({column.name: MEASURED for column in ABOUT}, (RESPONSE.name,)),
    )
    whole = [
        PublishedTable(
            name,
            _doc(read, section, name),
            _stacked(name, section, numbered, metadata, responses),
            section,
        )
        for name, section in sections.items()
    ]
    facts = {"responses": responses, **_facts(numbered, metadata)}
    whole += [PublishedTable(name, FACTS[name][0], frame) for name, frame in facts.items()]
    dtypes = {table.name: _dtypes(table.frame) for table in whole}
    redaction = Redaction.of(redact, dtypes)
    columns_of: dict[str, dict[str, Any]] = {}
    for name, section in sections.items():
        columns_of.setdefault(section, {})[name] = dtypes[name]
    quoting = {name for name, of_it in columns_of.items() if redaction.hides_texts_of(of_it)}
    silent = {name: section for name, section in sections.items() if section in quoting}
    left = [_redacted(table, redaction, silent) for table in whole]
    _warn_of_copies(whole, left, by_name=redaction.names)
    return left, redaction


def _about(number: int, payload: Payload, known: FrameMetadata, why: str | None) -> dict[str, Any]:
    """The row of a response in the table ``responses``."""
    scope = payload.scope
    source = known.sources[0] if known.sources else Source(section=payload.section)
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


def _facts(
    numbered: Mapping[int, Tables], metadata: Mapping[tuple[int, str], FrameMetadata]
) -> dict[str, pd.DataFrame]:
    """Build the tables of availability, statements, undeclared values and drift."""
    states = [
        (number, name, column, str(state.status), state.cause and str(state.cause), state.reason)
        for (number, name), known in metadata.items()
        for column, state in ((c, of_it.availability) for c, of_it in known.columns.items())
    ]
    names = [column.name for column in FACTS["availability"][1]]
    frames = {"availability": [pd.DataFrame(states, columns=names, dtype="object")]}
    for name, part in (("statements", "availability"), ("extra", "extra"), ("drift", "drift")):
        frames[name] = [
            getattr(tables, part).assign(response=number, section=tables.section)
            for number, tables in numbered.items()
        ]
    tables = {name: _as_declared(parts, FACTS[name][1]) for name, parts in frames.items()}
    return {
        name: attach(table, FrameMetadata(dict.fromkeys(map(str, table), MEASURED)))
        for name, table in tables.items()
    }


def _as_declared(frames: Iterable[pd.DataFrame], columns: Sequence[Column]) -> pd.DataFrame:
    """Concatenate frames, with the declared columns and dtypes."""
    parts = [frame for frame in frames if len(frame)] or [pd.DataFrame()]
    whole = pd.concat(parts, ignore_index=True)
    dtypes = {column.name: _DTYPES.get(column.dtype, column.dtype) for column in columns}
    return pd.DataFrame(
        {
            name: whole.get(name, pd.Series(dtype="object")).astype(
                pd.api.types.pandas_dtype(dtype)
            )
            for name, dtype in dtypes.items()
        }
    )


def _payload(tables: Tables) -> Payload:
    if tables.payload is None:
        raise NotWritten(f"the tables of {tables.section} do not say which response they are of")
    return tables.payload


def _order(payload: Payload) -> tuple[str, ...]:
    """The sort key of a response: its request, then its time."""
    scope = "" if payload.scope is None else payload.scope._to_query()
    parts = (payload.host, payload.section, scope, payload.fetched_at.isoformat(), payload.sha256)
    return tuple(part or "" for part in parts)


def _doc(read: Iterable[Tables], section: str, table: str) -> str:
    """Describe a row of a table; empty for an undeclared table."""
    declarations = (one.declaration for one in read if one.section == section and table in one)
    return next((one[table].doc for one in declarations if one is not None), "")


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
    context = responses[[RESPONSE.name, *CONTEXT]].take(places).reset_index(drop=True)
    taken = {str(name): f"{name}_" for name in rows if name in context}
    rows = rename(rows, columns=taken) if taken else rows
    known, recorded = metadata_of(rows), stored_of(rows)[0]
    keys = {metadata[number, name].key for number in parts}
    own = keys.pop() if len(keys) == 1 else ()
    unique = ("_row",) if "_row" in rows else tuple(taken.get(key, key) for key in own)
    return attach(
        pd.concat([context, rows], axis=1),
        FrameMetadata(
            {**dict.fromkeys(map(str, context), MEASURED), **known.columns},
            (RESPONSE.name, *unique) if unique else (),
            recorded.sources,
            recipe=recorded.recipe,
        ),
    )


def _dtypes(frame: pd.DataFrame) -> dict[str, str]:
    return {str(name): str(dtype) for name, dtype in frame.dtypes.items()}


def _redacted(
    table: PublishedTable, redaction: Redaction, silent: Mapping[str, str]
) -> PublishedTable:
    """Drop from a table the columns left out, and notes that may quote them.

    Parameters
    ----------
    table
        The table.
    redaction
        The columns left out.
    silent
        The tables of the sections that may quote them, each with its section.
    """
    frame, known = table.frame, table.metadata
    if table.name in ("statements", "extra", "drift"):
        frame = frame[~frame["section"].isin({*silent.values()})].reset_index(drop=True)
    if table.name == "availability":
        frame = frame.assign(reason=frame["reason"].mask(frame["table"].isin({*silent})))
    if table.name == "responses" and redaction.requested:
        # An error message may quote anything.
        frame = frame.assign(error=frame["error"].mask(frame["error"].notna(), "left out"))
        frame = frame.drop(
            columns=[name for name in frame if redaction.hides_of_responses(str(name))]
        )
    if frame is not table.frame:
        known = replace(known, columns={name: known.columns[name] for name in frame.columns})
        frame = attach(frame, known)
    rest = redaction.applied(table.name, frame, silent=table.name in silent)
    return replace(table, frame=rest)


def _warn_of_copies(
    whole: Iterable[PublishedTable], left: Iterable[PublishedTable], by_name: Collection[str]
) -> None:
    """Warn if text that is left out of one column is also in another.

    Of columns left out as ``texts``, only longer texts count: the title of a page may be just
    the name of a brand.
    """
    hidden: set[str] = set()
    for before, after in zip(whole, left, strict=True):
        for name in {*before.frame.columns} - {*after.frame.columns}:
            texts = texts_of(before.frame[name])
            named = not {name, f"{before.name}.{name}"}.isdisjoint(by_name)
            hidden |= texts if named else {word for word in texts if word.count(" ") > 2}
    places = [
        f"{table.name}.{name}"
        for table in (left if hidden else ())
        for name in table.frame.columns
        if not hidden.isdisjoint(texts_of(table.frame[name]))
    ]
    if places:
        warnings.warn(
            f"text that is left out is also in {', '.join(places)}; leave that out too",
            AAToolkitWarning,
            stacklevel=4,
        )
