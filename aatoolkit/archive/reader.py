"""Read an archive: frames, histories, SQL, Arrow, Dask and plain files."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from aatoolkit.archive.explaining import ArchiveExplanations, recipe_of
from aatoolkit.archive.frames import frame_of
from aatoolkit.archive.schema import ADDED, StoredTable
from aatoolkit.archive.selection import Selection, When
from aatoolkit.archive.snapshot import Snapshot, changes_of
from aatoolkit.archive.store import ArchiveStore, typed
from aatoolkit.archive.table_reader import TableReader
from aatoolkit.errors import ArchiveError
from aatoolkit.frame.reshape import CONTEXT
from aatoolkit.scope import FILTERS, Scope

if TYPE_CHECKING:
    import pandas as pd

_FILTERS = tuple(f"filter_{name}" for name in FILTERS)


class ArchiveReader(ArchiveExplanations):
    """The methods that only read an archive; see `aatoolkit.Archive`."""

    def __init__(self, store: ArchiveStore, until: datetime | None = None) -> None:
        self._store, self._until = store, until

    def _snapshot(self) -> Snapshot:
        found = Snapshot(self._store)
        if not found.exists:
            raise ArchiveError(
                f"there is no archive at {self._store.root} yet; adding answers begins one",
                path=self._store.root,
            )
        return found

    @typed
    def read(
        self,
        section: str,
        table: str | None = None,
        *,
        hosts: str | Iterable[str] | None = None,
        since: When | None = None,
        until: When | None = None,
        scope: Scope | None = None,
    ) -> pd.DataFrame:
        """Read the rows of a table, of every answer that was fetched in a time.

        Windows of answers overlap; `df.aa.aggregate` adds rows of answers only where they are
        disjoint. One row a day, from all answers about it, gives `history`.

        Parameters
        ----------
        section : str
            The section.
        table : str, optional
            The table; by default the section's main table.
        hosts : str or iterable of str, optional
            The hosts; by default all.
        since, until : str, date or datetime, optional
            The first and the last day, or moment, of fetch, in UTC.
        scope : Scope, optional
            The filters that were asked for; by default all.

        Returns
        -------
        pandas.DataFrame
            The context (``host``, ``days``, ``window_start``, ``window_end``, ``filter_…``,
            ``fetched_at``) and the columns of the table, with availability, units and sources. A
            column of the table with a name of the context has an underscore behind it
            (``host_``), and in tables by day one with a name that `history` adds.

        Raises
        ------
        ArchiveError
            If there is no archive, or it cannot be read.
        ScopeError
            If it has no such section or table, or a day cannot be read.
        """
        reader = TableReader(self._snapshot(), section, table)
        selection = Selection.of(hosts, since, until, scope).before(self._until)
        answers, failed = reader.answers(selection)
        rows = reader.rows(selection)
        key = ("host", "days", *_FILTERS, "fetched_at")
        made = recipe_of(
            "read",
            section=section,
            table=reader.stored.table.name,
            hosts=[*selection.hosts] if selection.hosts else None,
            since=selection.since,
            until=selection.until,
            scope=scope,
        )
        return frame_of(
            rows, reader.stored, answers, context=CONTEXT, key=key, failed=failed, recipe=made
        )

    @typed
    def history(
        self,
        section: str,
        table: str | None = None,
        *,
        hosts: str | Iterable[str] | None = None,
        since: When | None = None,
        until: When | None = None,
        scope: Scope | None = None,
        as_of: When | None = None,
        withdrawn: bool = False,
    ) -> pd.DataFrame:
        """Read what is known of each day: one row a key and day, however often it was seen.

        For tables whose key has a day or moment, such as ``overview_trend``. Windows overlap, so
        that a day is seen in many answers: the newest known value counts. Days that no answer had
        are missing. Tables without a day give one row per fetch, as `read` does.

        Parameters
        ----------
        section, table, hosts, scope
            As for `read`. Of scopes that differ in ``days`` alone, each day counts once.
        since, until : str, date or datetime, optional
            The first and the last day that rows are about; of undated tables, of fetch.
        as_of : str, date or datetime, optional
            Read it as it was known then; a day is meant with its end.
        withdrawn : bool
            Whether to keep rows that the newest answer about their day no longer has.

        Returns
        -------
        pandas.DataFrame
            ``host``, filters where some were set, the columns of the table, and ``first_seen``,
            ``last_seen``, ``last_changed`` (the fetches that first, last and newly had the
            value) and ``revisions`` (how often it changed).

        Raises
        ------
        ArchiveError, ScopeError
            As for `read`.
        """
        reader = TableReader(self._snapshot(), section, table)
        limit = Selection.of(until=as_of).until
        if reader.stored.moment is None:
            return self.read(
                section,
                reader.stored.table.name,
                hosts=hosts,
                since=since,
                until=Selection.of(until=until).before(limit).until,
                scope=scope,
            )
        selection = Selection.of(hosts, None, None, scope).before(self._until).before(limit)
        answers, failed = reader.answers(selection)
        rows = reader.history(selection, withdrawn=withdrawn)
        rows = _between(rows, reader.stored, Selection.of(since=since, until=until))
        context = ["host", *(n for n in _FILTERS if rows[n].null_count < rows.num_rows)]
        return frame_of(
            rows,
            reader.stored,
            answers,
            context=context,
            added=ADDED,
            key=context,
            failed=failed,
            moment="last_seen",
            recipe=recipe_of(
                "history",
                section=section,
                table=reader.stored.table.name,
                hosts=[*selection.hosts] if selection.hosts else None,
                since=since,
                until=until,
                scope=scope,
                as_of=selection.until,
                withdrawn=withdrawn,
            ),
        )

    @typed
    def arrow(
        self,
        section: str,
        table: str | None = None,
        *,
        hosts: str | Iterable[str] | None = None,
        since: When | None = None,
        until: When | None = None,
        scope: Scope | None = None,
    ) -> pa.Table:
        """Read the same rows as `read`, as an Arrow table with every stored column.

        Parameters
        ----------
        section, table, hosts, since, until, scope
            As for `read`.
        """
        reader = TableReader(self._snapshot(), section, table)
        return reader.rows(Selection.of(hosts, since, until, scope).before(self._until))

    @typed
    def paths(self, section: str, table: str | None = None) -> list[str]:
        """Return the Parquet files of a table that hold rows of committed runs alone.

        The partition column ``month`` is in their folders' names.

        Raises
        ------
        ArchiveError
            If a file mixes rows of committed and of unfinished runs, or this is the archive as of
            an earlier moment, of which there are no files.
        """
        if self._until is not None:
            raise ArchiveError("the archive as of a moment has no files of its own; use arrow()")
        snapshot = self._snapshot()
        found = snapshot.files(TableReader(snapshot, section, table).path)
        if found.hidden:
            raise ArchiveError("a run is being committed; try again in a moment")
        return [*found.files]

    @typed
    def sql(self, query: str) -> Any:
        """Run an SQL query over the tables with DuckDB, which changes nothing.

        The declared tables are views of their names (``SECTION__TABLE`` where two sections have
        one), and so are ``answers``, ``runs``, ``frames``, ``availability``, ``drift``, ``hints``,
        ``changes`` and ``columns`` (unit, rule and meaning of every column). A query reads those
        that it names, and what it computes itself. DuckDB is locked down for it: no other file is
        read or written, no setting is changed, nothing is attached, installed or loaded.

        Parameters
        ----------
        query : str
            One SELECT.

        Returns
        -------
        duckdb.DuckDBPyRelation
            The result, computed when it is asked for: ``.df()``, ``.fetchall()``, ``.pl()`` …
            What fails then is a ``duckdb.Error``.

        Raises
        ------
        ArchiveError
            If the query is not valid, or reaches for anything else.

        Examples
        --------
        >>> import tempfile
        >>> import aatoolkit as aa
        >>> archive = aa.Archive(tempfile.mkdtemp())
        >>> report = archive.add(aa.demo().client, ["acme.example"], sections=["domains"])
        >>> archive.sql("SELECT count(DISTINCT host) FROM source_domains").fetchall()
        [(1,)]
        """
        from aatoolkit.archive.query import relation

        return relation(self._snapshot(), query, self._until)

    def _sql_frame(self, query: str) -> pd.DataFrame:
        """The rows of a query, whose errors are all typed."""
        from aatoolkit.archive.query import frame_of_query

        return frame_of_query(self._snapshot(), query, self._until)

    @typed
    def dask(self, section: str, table: str | None = None) -> Any:
        """Return a table as a Dask DataFrame; its workers read the files themselves.

        Raises
        ------
        PackageMissing
            If Dask is not installed.
        """
        from aatoolkit.archive.query import dask_frame

        snapshot = self._snapshot()
        return dask_frame(snapshot, TableReader(snapshot, section, table).path, self._until)

    @property
    @typed
    def tables(self) -> pd.DataFrame:
        """The tables of the archive, one row each: rows, answers, hosts, days, files, bytes.

        ``section``, ``table``, ``rows``, ``answers``, ``hosts``, ``first_day`` and ``last_day``
        (of fetch), ``files`` and ``bytes``.
        """
        from aatoolkit._util.listing import Listing
        from aatoolkit.archive.query import overview

        return Listing(overview(self._snapshot(), self._until))

    @property
    @typed
    def changes(self) -> pd.DataFrame:
        """The changes of tables and their columns, and when: one row each."""
        import pandas as pd

        from aatoolkit._util.listing import Listing

        rows = sorted(changes_of(self._snapshot()), key=lambda row: row["at"])
        names = ("section", "table", "column", "change", "before", "after")
        frame = pd.DataFrame({"at": pd.array([row["at"] for row in rows], "datetime64[us, UTC]")})
        for name in names:
            frame[name] = pd.array([row[name] for row in rows], "string")
        return Listing(frame)

    @property
    @typed
    def columns(self) -> pd.DataFrame:
        """The unit, rule and meaning of every column, one row each."""
        from aatoolkit._util.listing import Listing
        from aatoolkit.archive.query import columns_of
        from aatoolkit.normalizer.to_pandas import to_frame

        return Listing(to_frame(columns_of(self._snapshot()))).fold_by("table", "column")

    @property
    def path(self) -> str:
        """The folder, or the address in an object store."""
        return self._store.root


def _between(rows: pa.Table, table: StoredTable, selection: Selection) -> pa.Table:
    """The rows that are about a time."""
    days = rows[str(table.moment)].cast(pa.timestamp("us", tz="UTC"))
    keep = pa.array([True] * rows.num_rows, pa.bool_())
    for limit, compare in ((selection.since, pc.greater_equal), (selection.until, pc.less_equal)):
        if limit is not None:
            bound = pa.scalar(limit, pa.timestamp("us", tz="UTC"))
            keep = pc.and_(keep, pc.fill_null(compare(days, bound), False))
    return rows.filter(keep)
