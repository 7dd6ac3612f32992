"""Rows of an archive as DataFrames with availability, units and sources, like any other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from aatoolkit.archive.derive import load_states
from aatoolkit.archive.schema import StoredTable
from aatoolkit.availability import UNKNOWN, AbsentRows, Availability, Cause, Status, combine
from aatoolkit.availability.subject import Condition, Statement
from aatoolkit.frame.merge import unique_key
from aatoolkit.metadata.attrs import ColumnMetadata, FrameMetadata, attach
from aatoolkit.metadata.column import Source
from aatoolkit.metadata.recipe import Recipe
from aatoolkit.normalizer.to_pandas import to_frame

if TYPE_CHECKING:
    import pandas as pd

MOST_STATEMENTS = 400
"""The most statements about rows that a frame carries; more are combined over all rows."""

MEASURED = ColumnMetadata(None, Availability(Status.AVAILABLE))


@dataclass(frozen=True)
class ResponseStates:
    """The availability that one response states for a table's columns, as text, and its source."""

    host: str
    fetched_at: datetime
    states: str
    source: Source


def frame_of(
    rows: pa.Table,
    table: StoredTable,
    responses: Sequence[ResponseStates],
    *,
    context: Sequence[str],
    added: Sequence[str] = (),
    key: Sequence[str] = (),
    failed: int = 0,
    moment: str = "fetched_at",
    recipe: Recipe | None = None,
) -> pd.DataFrame:
    """Build a DataFrame of rows, with the metadata of its columns.

    Parameters
    ----------
    rows
        The rows: context columns, those of the table and added ones.
    table
        The declaration.
    responses
        The responses that the rows are of.
    context, added
        The columns that are not of the table, and are always measured.
    key
        The columns that identify a row together with the table's key.
    failed
        The number of requests that failed instead.
    moment
        The column that says which response a row is of.
    recipe
        How the frame is read again.
    """
    names = [name for name in rows.column_names if name in table.columns or name == "_row"]
    if "_row" in names and rows["_row"].null_count == rows.num_rows:
        names.remove("_row")
    whole = rows.select([*context, *names, *added])
    frame = to_frame(_with_categories(whole, table))
    columns = _columns(table, [name for name in names if name != "_row"], responses, moment)
    if failed:
        columns = {
            name: _lacking(column, failed, len(responses)) for name, column in columns.items()
        }
    other = [name for name in whole.column_names if name not in columns]
    known = {name: columns.get(name, MEASURED) for name in whole.column_names} if other else columns
    own = (*key, *table.key, *(("_row",) if "_row" in names else ()))
    metadata = FrameMetadata(
        known,
        unique_key(frame, tuple(dict.fromkeys(own))) if table.key else (),
        tuple(dict.fromkeys(response.source for response in responses)),
        recipe=recipe,
    )
    return attach(frame, metadata)


def _columns(
    table: StoredTable, names: Sequence[str], responses: Sequence[ResponseStates], moment: str
) -> dict[str, ColumnMetadata]:
    """The metadata of columns over responses: statements about rows where responses differ."""
    declared = {table.stored(column.name): column.name for column in table.table.columns}
    of = {name: f"{table.prefix}{table.table.name}.{declared[name]}" for name in names}
    groups: dict[str, list[ResponseStates]] = {}
    for response in responses:
        groups.setdefault(response.states, []).append(response)
    parsed = {text: load_states(text, declared.values()) for text in groups}
    renamed = {old: new for new, old in declared.items()}
    conditions = _conditions(groups, moment)
    found = {}
    for name in names:
        parts = {text: known[declared[name]].renamed(renamed) for text, known in parsed.items()}
        distinct = {(part.elsewhere, part.statements) for part in parts.values()}
        whole = combine(part.availability for part in parts.values()) if parts else UNKNOWN
        if len(distinct) == 1:
            column = next(iter(parts.values()))
            found[name] = replace(column, of=of[name])
        elif conditions is None:
            narrower = [each.availability for part in parts.values() for each in part.statements]
            found[name] = ColumnMetadata(of[name], combine([whole, *narrower]))
        else:
            stated: tuple[Statement, ...] = ()
            for text, listed in conditions.items():
                for rows in listed:
                    stated += parts[text].within(*rows)
            found[name] = ColumnMetadata(of[name], whole, stated)
    return found


def _conditions(
    groups: Mapping[str, Sequence[ResponseStates]], moment: str
) -> dict[str, list[tuple[Condition, ...]]] | None:
    """Conditions that find the rows of each group of responses; None if there are too many."""
    if len(groups) < 2:
        return {text: [()] for text in groups}
    hosts = [{response.host for response in group} for group in groups.values()]
    if sum(map(len, hosts)) == len(set().union(*hosts)) <= MOST_STATEMENTS:
        return {
            text: [(Condition("host", "in", tuple(sorted(there))),)]
            for text, there in zip(groups, hosts, strict=True)
        }
    moments = [{response.fetched_at for response in group} for group in groups.values()]
    total = len(set().union(*moments))
    if sum(map(len, moments)) == total:
        if len(groups) > MOST_STATEMENTS or total > 20 * MOST_STATEMENTS:
            return None
        return {text: [(_at(moment, there),)] for text, there in zip(groups, moments, strict=True)}
    found: dict[str, list[tuple[Condition, ...]]] = {}
    for text, group in groups.items():
        by_host: dict[str, set[datetime]] = {}
        for response in group:
            by_host.setdefault(response.host, set()).add(response.fetched_at)
        found[text] = [
            (Condition("host", "in", (host,)), _at(moment, there))
            for host, there in by_host.items()
        ]
    return found if sum(map(len, found.values())) <= MOST_STATEMENTS else None


def _at(column: str, moments: set[datetime]) -> Condition:
    listed = tuple(moment.astimezone(UTC).isoformat() for moment in sorted(moments))
    return Condition(column, "in", listed)


def _lacking(column: ColumnMetadata, failed: int, read: int) -> ColumnMetadata:
    why = f"{failed} of {failed + read} responses failed"
    lacking = Availability(Status.UNAVAILABLE, Cause.FAILED, why)
    return column.lacking(AbsentRows(lacking))


def _with_categories(rows: pa.Table, table: StoredTable) -> pa.Table:
    """Cast texts to categories: the declared levels first, after them those that are new."""
    for name, column in table.columns.items():
        if column.dtype != "category" or name not in rows.column_names:
            continue
        values = rows[name].combine_chunks()
        if isinstance(values, pa.ChunkedArray):
            values = pa.concat_arrays(values.chunks) if values.num_chunks else pa.array([], "str")
        levels = [*column.levels]
        if not column.ordered:
            there = pc.unique(values).drop_null().to_pylist()
            levels += sorted({*there} - {*levels})
        codes = pc.index_in(values, pa.array(levels, pa.string()))
        made = pa.DictionaryArray.from_arrays(
            codes, pa.array(levels, pa.string()), ordered=column.ordered
        )
        rows = rows.set_column(rows.column_names.index(name), name, made)
    return rows


def source_of(row: Mapping[str, Any]) -> Source:
    """The source that a response's row describes."""
    moment = row["fetched_at"].astimezone(UTC)
    return Source(
        row["host"],
        row["section"],
        row["scope"],
        row["url"],
        moment.isoformat(timespec="seconds").replace("+00:00", "Z"),
        row["sha256"],
        bool(row["stale"]),
        row["window_start"] and row["window_start"].isoformat(),
        row["window_end"] and row["window_end"].isoformat(),
    )
