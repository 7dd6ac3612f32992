"""Tables about the answers: where they came from, availability, statements, extra, drift."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC
from typing import Any

import pandas as pd

from aatoolkit.availability import Availability, Status
from aatoolkit.metadata.attrs import ColumnMetadata, FrameMetadata, Source, attach
from aatoolkit.normalizer.tables import Tables
from aatoolkit.payload import Payload
from aatoolkit.scope import FILTERS
from aatoolkit.sections.section import Column

MEASURED = ColumnMetadata(None, Availability(Status.AVAILABLE))

ANSWER = Column("answer", "Int64", "The answer that the row was read from; refers to `answers`.")

ABOUT = (
    ANSWER,
    Column("host", "string", "The host that was requested."),
    Column("days", "Int64", "The length of the requested window in days.", unit="days"),
    Column("window_start", "date", "Its first day, if the answer says so."),
    Column("window_end", "date", "Its last day, if the answer says so."),
    *(
        Column(f"filter_{name}", "string", f"What {name} was narrowed to, if it was.")
        for name in FILTERS
    ),
    Column("fetched_at", "timestamp", "When the service sent the answer, in UTC."),
    Column("section", "string", "The section."),
    Column("url", "string", "The address of the request, without a token."),
    Column("status", "Int64", "The HTTP status of the answer.", unit="HTTP status"),
    Column("sha256", "string", "The SHA-256 of the answer's bytes."),
    Column("bytes", "Int64", "The size of the answer in bytes.", unit="bytes"),
    Column("stale", "boolean", "Whether the answer came from a cache after it had expired."),
    Column("error", "string", "Why the answer could not be used, if it could not."),
)
_OF_COLUMNS = (
    ANSWER,
    Column("table", "string", "The table."),
    Column("column", "string", "The column."),
    Column("status", "category", "Whether the answer could measure it."),
    Column("cause", "string", "Why not, where a reason is known."),
    Column("reason", "string", "The service's own words."),
)
_STATEMENTS = (
    ANSWER,
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
    Column("evidence", "string", "Where the answer states it: a JSON path."),
    Column("rule", "string", "The detection rule that found it."),
    Column("raw", "string", "The value there, as JSON."),
)
_EXTRA = (
    ANSWER,
    Column("section", "string", "The section."),
    Column("path", "string", "Where it is in the answer: a JSON path."),
    Column("value", "string", "The value there, as JSON."),
    Column("why", "string", "Why it is in no column."),
)
_DRIFT = (
    ANSWER,
    Column("section", "string", "The section."),
    Column("kind", "string", "The kind of difference from the declaration."),
    Column("path", "string", "Where: a JSON path."),
    Column("count", "Int64", "How often.", unit="count"),
    Column("example", "string", "The value there, as JSON."),
)

FACTS: Mapping[str, tuple[str, tuple[Column, ...]]] = {
    "answers": ("One row per answer that was read.", ABOUT),
    "availability": ("One row per answer and column: whether it could be measured.", _OF_COLUMNS),
    "statements": ("One row per statement of an answer about what it measured.", _STATEMENTS),
    "extra": ("One row per value of an answer that is in no column.", _EXTRA),
    "drift": ("One row per difference between an answer and its declaration.", _DRIFT),
}
"""The tables about the answers, with their columns."""

_DTYPES = {"date": "datetime64[us]", "timestamp": "datetime64[us, UTC]", "category": "string"}


def answers_table(
    answers: Iterable[tuple[Payload, FrameMetadata, str | None]],
) -> pd.DataFrame:
    """Build a table of the answers, one row each, numbered from 1.

    Parameters
    ----------
    answers
        Each with the metadata of its tables, and with why it could not be used.
    """
    rows = [_about(number, *answer) for number, answer in enumerate(answers, 1)]
    return attach(
        _as_declared([_records(rows, ABOUT)], ABOUT),
        FrameMetadata({column.name: MEASURED for column in ABOUT}, (ANSWER.name,)),
    )


def other_facts(
    numbered: Mapping[int, Tables], known: Mapping[tuple[int, str], FrameMetadata]
) -> dict[str, pd.DataFrame]:
    """Build the tables of availability, statements, undeclared values and drift.

    Parameters
    ----------
    numbered
        The tables of each answer, by its number.
    known
        The metadata of each table, by the answer's number and the table's name.
    """
    states = [
        {
            "answer": number,
            "table": name,
            "column": column,
            "status": str(of_column.availability.status),
            "cause": of_column.availability.cause and str(of_column.availability.cause),
            "reason": of_column.availability.reason,
        }
        for (number, name), of_table in known.items()
        for column, of_column in of_table.columns.items()
    ]
    rows = {"availability": [_records(states, _OF_COLUMNS)]}
    for name, part in (("statements", "availability"), ("extra", "extra"), ("drift", "drift")):
        rows[name] = [
            getattr(tables, part).assign(answer=number, section=tables.section)
            for number, tables in numbered.items()
        ]
    tables = {name: _as_declared(found, FACTS[name][1]) for name, found in rows.items()}
    return {
        name: attach(table, FrameMetadata(dict.fromkeys(map(str, table), MEASURED)))
        for name, table in tables.items()
    }


def _about(number: int, answer: Payload, known: FrameMetadata, error: str | None) -> dict[str, Any]:
    scope = answer.scope
    source = known.sources[0] if known.sources else Source(section=answer.section)
    filters = {} if scope is None else scope.filters
    return {
        "answer": number,
        "host": answer.host,
        "days": scope and scope.days,
        "window_start": source.window_start,
        "window_end": source.window_end,
        **{f"filter_{name}": ",".join(filters.get(name, ())) or None for name in FILTERS},
        # To the second, as in what frames say of their sources.
        "fetched_at": answer.fetched_at.astimezone(UTC).replace(microsecond=0),
        "section": source.section,
        "url": answer.url or None,
        "status": answer.status,
        "sha256": answer.sha256,
        "bytes": len(answer.body),
        "stale": answer.stale,
        "error": error,
    }


def _records(rows: Iterable[Mapping[str, Any]], columns: Iterable[Column]) -> pd.DataFrame:
    listed = [*rows]
    return pd.DataFrame(
        {
            column.name: pd.Series([row[column.name] for row in listed], dtype="object")
            for column in columns
        }
    )


def _as_declared(frames: Iterable[pd.DataFrame], columns: Sequence[Column]) -> pd.DataFrame:
    """Concatenate frames, with the declared columns and dtypes."""
    listed = [frame for frame in frames if len(frame)] or [pd.DataFrame()]
    stacked = pd.concat(listed, ignore_index=True)
    return pd.DataFrame(
        {
            column.name: stacked.get(column.name, pd.Series(dtype="object")).astype(
                pd.api.types.pandas_dtype(_DTYPES.get(column.dtype, column.dtype))
            )
            for column in columns
        }
    )
