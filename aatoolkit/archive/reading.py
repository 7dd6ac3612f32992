"""One table of a snapshot: its rows, its history, as frames with availability, units and sources.

`overview` and `sql_tables` are about all tables; `dask_frame` is one for other machines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from aatoolkit._util.defaults import needed
from aatoolkit.archive.derive import load_states
from aatoolkit.archive.responses import USABLE, source_of
from aatoolkit.archive.schema import MOMENT, StoredTable, declaration_of, stored_tables
from aatoolkit.archive.snapshot import OWN, Selection, Snapshot, identifier, quoted
from aatoolkit.archive.store import ArchiveStore
from aatoolkit.availability import UNKNOWN, AbsentRows, Availability, Cause, Status, combine
from aatoolkit.availability.subject import Condition, Statement
from aatoolkit.errors import ArchiveError, ScopeError, did_you_mean, near_matches
from aatoolkit.frame.merge import unique_key
from aatoolkit.metadata.attrs import ColumnMetadata, FrameMetadata, attach
from aatoolkit.metadata.column import Source
from aatoolkit.metadata.recipe import Recipe
from aatoolkit.normalizer.columns import to_frame
from aatoolkit.scope import FILTERS

if TYPE_CHECKING:
    import pandas as pd

_FILTERS = tuple(f"filter_{name}" for name in FILTERS)
_PLACE = ("run", "section", "sha256", "fetched_at", "host", "days", *_FILTERS)
"""The columns by which what a response states finds the response."""

_ROWS = "rows of the table"
"""The view of a table's rows, whatever the table is called."""

_MOST_STATEMENTS = 400
"""The most statements about rows that a frame carries; more are combined over all rows."""

_MEASURED = ColumnMetadata(None, Availability(Status.AVAILABLE))


@dataclass(frozen=True)
class ResponseState:
    """The availability that one response states for a table's columns, as text, and its source."""

    host: str
    fetched_at: datetime
    states: str
    source: Source


class TableReader:
    """One table of a snapshot, as rows of a selection.

    Parameters
    ----------
    snapshot
        The archive as it is seen.
    section, table
        The table; the section's main table if None.
    """

    def __init__(self, snapshot: Snapshot, section: str, table: str | None) -> None:
        self.snapshot = snapshot
        there = stored_tables(snapshot.store)
        sections = list(dict.fromkeys(name for name, _ in there.values()))
        owner = section if section in sections else str(section).replace("-", "_")
        if owner not in sections:
            raise _unknown("the archive", "section", str(section), sections)
        paths = {name: path for path, (own, name) in there.items() if own == owner}
        if table is not None and table not in paths:
            raise _unknown(f"{owner} in the archive", "table", str(table), [*paths])
        self.path = paths[table or next(iter(paths))]
        self.stored = declaration_of(snapshot.store, self.path)

    def rows(self, selection: Selection) -> pa.Table:
        """The rows of a selection, ordered by host, time and key."""
        order = ["host", "fetched_at", "days", *self.stored.key, "_row"]
        return self._query(
            f"SELECT * FROM {identifier(_ROWS)} WHERE {selection.where} "
            f"ORDER BY {', '.join(map(identifier, order))}"
        )

    def history(self, selection: Selection, *, withdrawn: bool) -> pa.Table:
        """The history of a dated table."""
        return self._query(_history_sql(self.stored, selection.where, withdrawn), "frames")

    def _query(self, sql: str, *others: str) -> pa.Table:
        views: dict[str, Any] = {_ROWS: self.path}
        rows = self.snapshot.query(sql, *others, **views)
        kinds = {field.name: field.type for field in self.stored.schema()}
        fields = [
            pa.field(f.name, kinds.get(f.name, MOMENT if pa.types.is_timestamp(f.type) else f.type))
            for f in rows.schema
        ]
        return rows.cast(pa.schema(fields))

    def states(self, selection: Selection) -> tuple[list[ResponseState], int]:
        """The availability that responses state for the table, and the number that failed."""
        same = " AND ".join(f"f.{name} IS NOT DISTINCT FROM a.{name}" for name in _PLACE)
        section, table = self.stored.section, self.stored.table.name
        rows = self.snapshot.rows(
            "SELECT a.* EXCLUDE (body), f.states FROM "
            f'(SELECT * FROM frames WHERE section = $1 AND "table" = $2 AND {selection.where}) '
            f"f JOIN (SELECT * FROM responses WHERE {USABLE}) a ON {same} "
            "ORDER BY a.fetched_at, a.host, a.days",
            "frames",
            "responses",
            values=[section, table],
        )
        ((failed,),) = (
            self.snapshot.query(
                "SELECT count(*) FROM (SELECT bool_and(error IS NOT NULL) AS failed "
                f"FROM responses WHERE section = $1 AND {selection.where} "
                "GROUP BY host, scope, fetched_at::DATE) WHERE failed",
                "responses",
                values=[section],
            )
            .to_pandas()
            .to_numpy()
        )
        states = [
            ResponseState(row["host"], row["fetched_at"], row["states"], source_of(row))
            for row in rows
        ]
        return states, int(failed)

    def frame(
        self,
        rows: pa.Table,
        states: tuple[list[ResponseState], int],
        recipe: Recipe,
        *,
        context: Sequence[str],
        key: Sequence[str],
        added: Sequence[str] = (),
        moment: str = "fetched_at",
    ) -> pd.DataFrame:
        """Build a DataFrame of rows, with the metadata of its columns.

        Parameters
        ----------
        rows
            The rows: context columns, those of the table and added ones.
        states
            What the responses state that the rows are of, and how many requests failed instead.
        recipe
            How the frame is read again.
        context, added
            The columns that are not of the table, and are always measured.
        key
            The columns that identify a row together with the table's key.
        moment
            The column that says which response a row is of.
        """
        table, (responses, failed) = self.stored, states
        names = [name for name in rows.column_names if name in table.columns or name == "_row"]
        if "_row" in names and rows["_row"].null_count == rows.num_rows:
            names.remove("_row")
        frame = to_frame(_with_categories(rows.select([*context, *names, *added]), table))
        columns = self._columns([name for name in names if name != "_row"], responses, moment)
        if failed:
            why = f"{failed} of {failed + len(responses)} responses failed"
            absent = AbsentRows(Availability(Status.UNAVAILABLE, Cause.FAILED, why))
            columns = {name: column.lacking(absent) for name, column in columns.items()}
        own = dict.fromkeys((*key, *table.key, *(("_row",) if "_row" in names else ())))
        metadata = FrameMetadata(
            {name: columns.get(name, _MEASURED) for name in map(str, frame.columns)},
            unique_key(frame, tuple(own)) if table.key else (),
            tuple(dict.fromkeys(response.source for response in responses)),
            recipe=recipe,
        )
        return attach(frame, metadata)

    def _columns(
        self, names: Sequence[str], responses: Sequence[ResponseState], moment: str
    ) -> dict[str, ColumnMetadata]:
        """The metadata of columns: statements about rows where responses differ."""
        table = self.stored
        declared = {table.stored(column.name): column.name for column in table.table.columns}
        renamed = {old: new for new, old in declared.items()}
        groups: dict[str, list[ResponseState]] = {}
        for response in responses:
            groups.setdefault(response.states, []).append(response)
        parsed = {text: load_states(text, declared.values()) for text in groups}
        conditions = _conditions(groups, moment)
        columns = {}
        for name in names:
            of = f"{table.prefix}{table.table.name}.{declared[name]}"
            parts = {text: known[declared[name]].renamed(renamed) for text, known in parsed.items()}
            whole = combine(part.availability for part in parts.values()) if parts else UNKNOWN
            stated: tuple[Statement, ...] = ()
            if len({(part.elsewhere, part.statements) for part in parts.values()}) == 1:
                columns[name] = replace(next(iter(parts.values())), of=of)
                continue
            if conditions is None:
                narrow = [each.availability for part in parts.values() for each in part.statements]
                whole = combine([whole, *narrow])
            for text, listed in (conditions or {}).items():
                for rows in listed:
                    stated += parts[text].within(*rows)
            columns[name] = ColumnMetadata(of, whole, stated)
        return columns


def _conditions(
    groups: Mapping[str, Sequence[ResponseState]], moment: str
) -> dict[str, list[tuple[Condition, ...]]] | None:
    """Conditions that find the rows of each group of responses; None if there are too many.

    Rows are found by their host, and by the time of fetch where a host is in several groups.
    """
    hosts = {text: sorted({row.host for row in group}) for text, group in groups.items()}
    if len({host for group in hosts.values() for host in group}) == sum(map(len, hosts.values())):
        return {text: [(Condition("host", "in", tuple(group)),)] for text, group in hosts.items()}
    if sum(map(len, hosts.values())) > _MOST_STATEMENTS:
        return None
    found: dict[str, list[tuple[Condition, ...]]] = {}
    for text, group in groups.items():
        for host in hosts[text]:
            moments = sorted({row.fetched_at for row in group if row.host == host})
            words = tuple(one.astimezone(UTC).isoformat() for one in moments)
            of_host = Condition("host", "in", (host,)), Condition(moment, "in", words)
            found.setdefault(text, []).append(of_host)
    return found


def _with_categories(rows: pa.Table, table: StoredTable) -> pa.Table:
    """Cast texts to categories: the declared levels first, after them those that are new."""
    for name, column in table.columns.items():
        if column.dtype != "category" or name not in rows.column_names:
            continue
        values = rows[name].cast(pa.string())
        levels = [*column.levels]
        if not column.ordered:
            levels += sorted({*pc.unique(values).drop_null().to_pylist()} - {*levels})
        codes = pc.index_in(values, pa.array(levels, pa.string())).combine_chunks()
        codes = codes.chunk(0) if isinstance(codes, pa.ChunkedArray) else codes
        made = pa.DictionaryArray.from_arrays(
            codes, pa.array(levels, pa.string()), ordered=column.ordered
        )
        rows = rows.set_column(rows.column_names.index(name), name, made)
    return rows


def _unknown(place: str, kind: str, name: str, names: list[str]) -> ScopeError:
    near = near_matches(name, names)
    hint = did_you_mean(near, f"there are {', '.join(names) or 'none yet'}")
    return ScopeError(
        f"there is no {kind} {name!r} in {place}; {hint}",
        parameter=kind,
        unknown=(name,),
        suggestions=near,
    )


# -- history -----------------------------------------------------------------------------------


def _history_sql(table: StoredTable, where: str, withdrawn: bool) -> str:
    """The SQL query for the history of a dated table, whose own columns begin with "aa "."""
    key = ["host", *_FILTERS, *table.key, "_row"]
    values = [name for name in table.columns if name not in key]
    over = ", ".join(map(identifier, key))
    listed = ", ".join(map(identifier, (*key, *values)))
    packed = f"row({', '.join(map(identifier, values))})" if values else "row(1)"
    is_known = " OR ".join(f"{identifier(name)} IS NOT NULL" for name in values) or "true"
    same = " AND ".join(f"c.{name} IS NOT DISTINCT FROM f.{name}" for name in ("host", *_FILTERS))
    day = f"CAST(f.{identifier(str(table.moment))} AS DATE)"
    keep = "" if withdrawn else 'WHERE "aa covered" IS NULL OR "aa covered" <= "aa last"'
    order = ", ".join(map(identifier, (*key[:1], str(table.moment), *key[1:])))
    by_value = f'PARTITION BY {over}, "aa known" ORDER BY fetched_at, days'
    return f"""
    WITH found AS (
        SELECT {listed}, fetched_at, days, ({is_known}) AS "aa known", {packed} AS "aa packed"
        FROM {identifier(_ROWS)} WHERE {where}
    ), numbered AS (
        SELECT *,
            row_number() OVER (PARTITION BY {over}
                ORDER BY "aa known" DESC, fetched_at DESC, days DESC) AS "aa place",
            min(fetched_at) OVER (PARTITION BY {over}) AS first_seen,
            max(fetched_at) OVER (PARTITION BY {over}) AS "aa last",
            row_number() OVER ({by_value}) AS "aa nth",
            lag("aa packed") OVER ({by_value}) AS "aa before"
        FROM found
    ), changed AS (
        SELECT *, "aa known" AND "aa nth" > 1 AND "aa packed" IS DISTINCT FROM "aa before"
            AS "aa change"
        FROM numbered
    ), counted AS (
        SELECT *,
            sum("aa change"::BIGINT) OVER (PARTITION BY {over}) AS "aa revised",
            max(CASE WHEN "aa change" THEN fetched_at END) OVER (PARTITION BY {over})
                AS "aa changed"
        FROM changed
    ), f AS (SELECT * FROM counted WHERE "aa place" = 1
    ), covering AS (
        SELECT * FROM frames
        WHERE "table" = {quoted(table.table.name)} AND section = {quoted(table.section)}
        AND states LIKE '{{"states":[[["available",%' AND states NOT LIKE '%"statements":%'
        AND {where}
    ), judged AS (
        SELECT f.*, (
            SELECT max(c.fetched_at) FROM covering c
            WHERE {same} AND {day} BETWEEN c.window_start AND c.window_end
        ) AS "aa covered" FROM f
    )
    SELECT {listed}, first_seen, fetched_at AS last_seen,
        coalesce("aa changed", first_seen) AS last_changed,
        CAST("aa revised" AS BIGINT) AS revisions
    FROM judged {keep} ORDER BY {order}
    """


# -- all tables --------------------------------------------------------------------------------


def sql_tables(snapshot: Snapshot) -> dict[str, Any]:
    """The tables by their names in SQL; a list where two sections have one of a name."""
    tables: dict[str, Any] = {}
    for path, (section, table) in stored_tables(snapshot.store).items():
        tables[table] = [table] if table in tables else path
        tables[f"{section}__{table}"] = path
    return {**{name: name for name in OWN}, "columns": lambda: _columns_of(snapshot), **tables}


def _columns_of(snapshot: Snapshot) -> pa.Table:
    """Unit, rule and meaning of every column of the declared tables."""
    names = ("section", "table", "column", "dtype", "unit", "aggregation", "is_key", "description")
    rows = []
    for path in stored_tables(snapshot.store):
        if not snapshot.has(path):
            continue
        stored = declaration_of(snapshot.store, path)
        rows += [
            (
                *(stored.section, stored.table.name, name, column.dtype, column.unit),
                *(str(column.aggregate), name in stored.key, column.doc),
            )
            for name, column in stored.columns.items()
        ]
    kinds = {name: pa.bool_() if name == "is_key" else pa.string() for name in names}
    listed = [dict(zip(names, row, strict=True)) for row in rows]
    return pa.Table.from_pylist(listed, pa.schema(kinds))


def overview(snapshot: Snapshot, until: datetime | None) -> pd.DataFrame:
    """One row per table: rows, responses, hosts, days, files and bytes."""
    counted: dict[tuple[str, str], Mapping[str, Any]] = {}
    if snapshot.has("frames"):
        rows = snapshot.rows(
            'SELECT section, "table", sum(rows)::BIGINT AS rows, count(*) AS responses, '
            "count(DISTINCT host) AS hosts, min(fetched_at)::DATE AS first_day, "
            "max(fetched_at)::DATE AS last_day FROM frames "
            f"WHERE {Selection(until=until).where} GROUP BY ALL",
            "frames",
        )
        counted = {(row["section"], row["table"]): row for row in rows}
    listed = []
    for path, place in stored_tables(snapshot.store).items():
        files = snapshot.files(path)
        if files.table is None:
            # The first run was killed before the table was made; adding again makes it.
            continue
        # A table of which no response was added has no rows, and no days.
        facts = {"section": place[0], "table": place[1], "rows": 0, "responses": 0, "hosts": 0}
        size = {"files": len(files.paths), "bytes": files.size}
        listed.append(facts | dict(counted.get(place, {})) | size)
    kinds = dict.fromkeys(("section", "table"), pa.string())
    kinds |= dict.fromkeys(("rows", "responses", "hosts"), pa.int64())
    kinds |= dict.fromkeys(("first_day", "last_day"), pa.date32())
    kinds |= dict.fromkeys(("files", "bytes"), pa.int64())
    return to_frame(pa.Table.from_pylist(listed, pa.schema(kinds)), "numpy_nullable")


def dask_frame(snapshot: Snapshot, path: str, until: datetime | None) -> Any:
    """A table as a Dask DataFrame, one partition a file."""
    with needed("a Dask DataFrame needs", "scale"):
        import dask.dataframe as dd
    files = snapshot.files(path)
    if files.table is None:
        raise ArchiveError(f"the archive has no table {path}", path=snapshot.store.root)
    empty = to_frame(files.schema.empty_table(), "pyarrow")
    if not files.paths:
        return dd.from_pandas(empty, npartitions=1)
    condition = ~ds.field("run").isin(pa.array(sorted(files.hidden), pa.string()))
    if until is not None:
        condition &= ds.field("fetched_at") <= pa.scalar(until, MOMENT)
    how = {"store": snapshot.store, "schema": files.schema, "condition": condition}
    return dd.from_map(_read_file, list(files.paths), **how, meta=empty)


def _read_file(
    file: str, *, store: ArchiveStore, schema: pa.Schema, condition: ds.Expression
) -> pd.DataFrame:
    """One file, in whichever process; only an object store needs its table opened there."""
    part = ds.dataset(
        file if store.is_local else file.removeprefix(f"{store.root}/"),
        schema=schema,
        format="parquet",
        filesystem=None if store.is_local else store.files,
        partitioning=ds.partitioning(pa.schema([pa.field("month", pa.string())]), flavor="hive"),
    )
    return to_frame(part.to_table(filter=condition), "pyarrow")


def between(rows: pa.Table, column: str, selection: Selection) -> pa.Table:
    """The rows whose day or moment is in the time of a selection."""
    days, keep = rows[column].cast(MOMENT), pa.array([True] * rows.num_rows, pa.bool_())
    for limit, compare in ((selection.since, pc.greater_equal), (selection.until, pc.less_equal)):
        if limit is not None:
            keep = pc.and_(keep, pc.fill_null(compare(days, pa.scalar(limit, MOMENT)), False))
    return rows.filter(keep)


def recipe_of(how: str, **options: Any) -> list[Any]:
    """The recipe of a frame that is read from an archive."""
    scope = options.pop("scope", None)
    written = {
        name: value.isoformat() if hasattr(value, "isoformat") else value
        for name, value in options.items()
        if value not in (None, False)
    }
    if scope is not None:
        written["scope"] = scope._to_query()
    return ["archived", how, written]
