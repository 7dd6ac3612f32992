"""`Archive`: the responses of many hosts over time, and the tables derived from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from copy import copy
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from aatoolkit._util.attributes import ShortHelpMeta
from aatoolkit._util.defaults import RETENTION_HOURS
from aatoolkit._util.files import FilePath
from aatoolkit._util.show import show_as
from aatoolkit._util.text import Names, code, counted, print_wrapped, visible
from aatoolkit.archive import upkeep
from aatoolkit.archive.adding import (
    AddReport,
    OutcomeGroup,
    add_outcome_groups,
    fetch_by_workers,
    fetch_outcome_groups,
    iterate_payloads,
    make_outcome_groups,
    plan_requests,
)
from aatoolkit.archive.reading import (
    TableReader,
    list_sql_tables,
    read_dask_frame,
    summarize_tables,
)
from aatoolkit.archive.responses import (
    USABLE_SQL,
    ArchivedResponse,
    ResponseIndex,
    read_response_groups,
)
from aatoolkit.archive.schema import CHANGES_SCHEMA, CHANGES_TABLE, list_stored_tables
from aatoolkit.archive.snapshot import DayOrMoment, Selection, Snapshot, quote_value, to_moment
from aatoolkit.archive.store import (
    ArchiveStore,
    import_deltalake,
    import_duckdb,
    raise_package_errors,
    read_run_log,
)
from aatoolkit.archive.upkeep import ArchiveCheck, UpkeepReport
from aatoolkit.client.client import Client, Project
from aatoolkit.client.reading import ReadingOptions, as_unique_list, check_sections
from aatoolkit.errors import ArchiveError, ArgumentError, ScopeError, StudyError
from aatoolkit.metadata.column import Source
from aatoolkit.normalizer.columns import to_frame
from aatoolkit.normalizer.tables import LoadedResponse
from aatoolkit.payload import Payload
from aatoolkit.scope import Scope
from aatoolkit.sections import Profile
from aatoolkit.sections.profile import ProfileSource
from aatoolkit.stats.explain import Explainer, Explanation, RowChoice
from aatoolkit.study.files import Record
from aatoolkit.study.recording import payload_to_response
from aatoolkit.study.study import Study


class Archive(metaclass=ShortHelpMeta):
    """The responses of many hosts over time, and the tables made from them.

    Responses and tables are Delta tables in one folder or object store. Several processes can add
    responses at the same time. DuckDB, Dask, Polars, Spark and others can read the tables.

    An archive is for one service. Start processes that use it with the method ``spawn``, not
    ``fork``: the libraries for Delta tables do not work in a forked process.

    Parameters
    ----------
    path : str or path
        The folder, or an address such as ``s3://bucket/history``. It must not contain ``%25``,
        ``[``, ``|`` or ``^``.
    storage_options : mapping of str to str, optional
        Options of the object store, such as ``AWS_ENDPOINT_URL``; they are never stored.
    profile : Profile, module, str or path, optional
        A description of the tables and columns in the service's responses. By default that of the
        client, or that of this package.

    Examples
    --------
    >>> import tempfile
    >>> import aatoolkit as aa
    >>> archive = aa.Archive(tempfile.mkdtemp())
    >>> client = aa.demo().client
    >>> archive.add(client, ["acme.example"], aa.Scope(days=7), ["ranking"])
    <AddReport: 1 response added>
    >>> archive.add(client, ["acme.example"], aa.Scope(days=7), ["ranking"])
    <AddReport: 0 responses added, 1 there already today>
    >>> archive.read("ranking")["host"].unique().tolist()
    ['acme.example']
    """

    def __init__(
        self,
        path: FilePath,
        storage_options: Mapping[str, str] | None = None,
        *,
        profile: ProfileSource | None = None,
    ) -> None:
        import_deltalake(), import_duckdb()
        self._store = ArchiveStore(path, storage_options)
        self._until: datetime | None = None
        self._options = ReadingOptions(None if profile is None else Profile.load(profile))

    # -- adding --------------------------------------------------------------------------------

    def add(
        self,
        source: Client | Project | Study | Iterable[Payload],
        hosts: Names | None = None,
        scopes: Scope | Iterable[Scope] | None = None,
        sections: Names | None = None,
        *,
        refresh: bool = False,
        progress: bool | None = None,
        executor: Executor | None = None,
    ) -> AddReport:
        """Fetch responses, and add them and their tables to the archive.

        Other processes see all of the new rows, or none. A request is not sent if the archive has a
        response to it from today (UTC). After an interruption, the same call continues.

        Parameters
        ----------
        source : Client, Project, Study or iterable of Payload
            A client or project fetches the responses from the service. A study has recorded
            responses, and payloads are responses in memory; those that match ``hosts``, ``scopes``
            and ``sections`` are added.
        hosts : str or iterable of str, optional
            The projects' domains. A client needs them; a project has its own host.
        scopes : Scope or iterable of Scope, optional
            The days and filters of the requests; by default the last 30 days without filters.
        sections : str or iterable of str, optional
            The sections, such as ``["domains", "ranking"]``; by default those that the profile
            declares, without a profile all.
        refresh : bool
            Whether to send every request, even if the archive or the cache has a response.
        progress : bool, optional
            Whether to show a progress bar; by default on a terminal.
        executor : concurrent.futures.Executor, optional
            Workers that fetch the responses and convert them to tables. Use a
            ``ProcessPoolExecutor`` with the ``spawn`` context, or Dask's ``client.get_executor()``.
            Workers take the token from the environment or the key store.

        Returns
        -------
        AddReport
            The numbers of added and skipped responses, and the errors. Its truth value is True if
            nothing failed.

        Raises
        ------
        ArchiveError
            If the archive is read-only (see `as_of`) or being rebuilt, its folder holds other
            files, or a worker fails.
        ArchiveConflict
            If another process changes the archive meanwhile. Call `add` again.
        ScopeError
            If a section, host or source is not valid, or hosts are missing.
        NotAuthorized
            If the token is not accepted.
        """
        if self._until is not None:
            raise ArchiveError("this is the archive as of a moment; add to the archive itself")
        self._check_folder()
        if isinstance(source, Project):
            hosts = source.host if hosts is None else hosts
            source = source.client
        profile = self._options.profile
        outcome_groups: Iterable[OutcomeGroup]
        group_count = skipped_count = 0
        resumed_responses: Sequence[ArchivedResponse] = ()
        if isinstance(source, Client):
            if hosts is None:
                raise ScopeError(
                    "name the hosts, such as archive.add(client, ['acme.example'])",
                    parameter="hosts",
                )
            profile = source._profile if source._profile is not None else profile
            requested_section_names = check_sections(sections, profile)
            projects = [*map(source.project, as_unique_list(hosts, str))]
            projects_and_scopes = product(projects, as_unique_list(scopes, Scope) or [Scope()])
            with self._store.convert_unexpected_errors():
                response_index = ResponseIndex(self._store, {project.host for project in projects})
                fetch_targets, resumed_responses, skipped_count = plan_requests(
                    self._store,
                    response_index,
                    projects_and_scopes,
                    requested_section_names,
                    refresh=refresh,
                )
            if executor is None:
                group_count = sum(len(section_names) for *_, section_names in fetch_targets)
                outcome_groups = fetch_outcome_groups(source, fetch_targets, refresh)
            else:
                group_count = len(fetch_targets)
                outcome_groups = fetch_by_workers(
                    source, fetch_targets, executor, ReadingOptions(profile), refresh
                )
        else:
            selected_by_attribute = {
                "host": Selection.from_args(hosts).hosts,
                "scope": None if scopes is None else as_unique_list(scopes, Scope),
                "section": None if sections is None else check_sections(sections, profile),
            }
            if executor is not None:
                raise ArgumentError(
                    "workers fetch from a service, and these responses are at hand; leave "
                    "executor= out",
                    argument="executor",
                )
            outcome_groups = make_outcome_groups(
                payload
                for payload in iterate_payloads(source)
                if all(
                    allowed_values is None or getattr(payload, attribute_name) in allowed_values
                    for attribute_name, allowed_values in selected_by_attribute.items()
                )
            )
            with self._store.convert_unexpected_errors():
                response_index = ResponseIndex(self._store)
        return add_outcome_groups(
            self._store,
            ReadingOptions(profile),
            outcome_groups,
            response_index,
            shows_progress=progress,
            group_count=group_count,
            resumed_responses=resumed_responses,
            skipped_count=skipped_count,
        )

    def _check_folder(self) -> None:
        """Raise `ArchiveError` if the folder has files, but is no archive."""
        folder = Path(self._store.root)
        problem = ""
        try:
            lacks_archive = (
                self._store.is_local and folder.exists() and not (folder / "runs").is_dir()
            )
            if lacks_archive and any(folder.iterdir()):
                problem = "the folder holds other files"
        except OSError as error:
            problem = error.strerror or type(error).__name__
        if problem:
            raise ArchiveError(
                f"no archive can be begun at {folder}: {problem}; name another folder",
                path=self._store.root,
            )

    # -- reading -------------------------------------------------------------------------------

    def _snapshot(self) -> Snapshot:
        """Return the tables as of now; raise `ArchiveError` if there is no archive yet."""
        snapshot = Snapshot(self._store)
        if not snapshot.run_log.table_exists:
            raise ArchiveError(
                f"there is no archive at {self._store.root} yet; adding responses begins one",
                path=self._store.root,
            )
        return snapshot

    @raise_package_errors
    def read(
        self,
        section: str,
        table: str | None = None,
        *,
        hosts: Names | None = None,
        since: DayOrMoment | None = None,
        until: DayOrMoment | None = None,
        scope: Scope | None = None,
    ) -> pd.DataFrame:
        """Read one table, with the rows of all responses that were fetched in a period.

        A response covers several days, such as the last 30, so the same day may be in several
        responses. `df.aa.aggregate` never counts it twice. For one row per day, use `history`.

        Parameters
        ----------
        section : str
            The section, such as ``"domains"``.
        table : str, optional
            The table; by default the first table of the section.
        hosts : str or iterable of str, optional
            The hosts; by default all.
        since, until : str, date or datetime, optional
            The first and last day (UTC) or moment at which responses were fetched.
        scope : Scope, optional
            Read only responses to requests with exactly these filters; by default all responses.

        Returns
        -------
        pandas.DataFrame
            First the columns ``host``, ``days``, ``window_start``, ``window_end``, one per filter
            (such as ``filter_engine``) and ``fetched_at``, then those of the table. A column of the
            table with such a name gets an underscore (``host_``). Units and availability are in
            ``df.aa``.

        Raises
        ------
        ArchiveError
            If there is no archive, or it cannot be read.
        ScopeError
            If the archive has no such section, table, host or scope, or no response until
            ``until``. Also if a day cannot be parsed.
        """
        reader = TableReader(self._snapshot(), section, table)
        selection = Selection.from_args(hosts, since, until, scope).restrict_until(self._until)
        return reader.read(selection)

    @raise_package_errors
    def history(
        self,
        section: str,
        table: str | None = None,
        *,
        hosts: Names | None = None,
        since: DayOrMoment | None = None,
        until: DayOrMoment | None = None,
        scope: Scope | None = None,
        as_of: DayOrMoment | None = None,
    ) -> pd.DataFrame:
        """Read a table by day, such as ``overview_trend``, with the newest value of each day.

        If a day is in several responses, its row is taken from the newest response in which the row
        has any value. Rows that the service no longer reports are left out. For a table without
        days, the result is that of `read`.

        Parameters
        ----------
        section, table, hosts, scope
            As for `read`.
        since, until : str, date or datetime, optional
            The first and the last day of the result. For tables without days, the first and the
            last day on which responses were fetched.
        as_of : str, date or datetime, optional
            Use only responses fetched until this moment, or until the end of this day.

        Returns
        -------
        pandas.DataFrame
            One row per host, filters, key and day. The columns are ``host``, the filters of the
            requests, the columns of the table, and four more: ``first_seen`` (when the row was
            first fetched), ``last_seen`` (when its value was last fetched), ``last_changed`` (when
            its value last changed) and ``revisions`` (how often its value changed).

        Raises
        ------
        ArchiveError, ScopeError
            As for `read`.
        """
        reader = TableReader(self._snapshot(), section, table)
        selection = Selection.from_args(hosts, since, until, scope)
        as_of_moment = to_moment(as_of, "as_of", is_end_of_day=True)
        if reader.stored_table.time_column is None:
            return reader.read(selection.restrict_until(as_of_moment).restrict_until(self._until))
        fetch_selection = Selection(selection.hosts, scope=scope).restrict_until(self._until)
        return reader.history(fetch_selection.restrict_until(as_of_moment), selection)

    @raise_package_errors
    def sql(self, query: str) -> Any:
        """Run an SQL query over the tables with DuckDB, read-only.

        A table has its own name, such as ``source_domains``. If two sections have a table of the
        same name, write ``SECTION__TABLE``. There are also these tables:

        - ``responses``: the responses;
        - ``runs``: the calls that changed the archive;
        - ``availability``: which data each response could measure, and why not;
        - ``frames``: for each response and table, the number of rows, and metadata of the columns;
        - ``changes``: new and changed columns and units;
        - ``columns``: unit, aggregation rule and meaning of every column.

        A query cannot read or write other files, change settings, or load extensions.

        Parameters
        ----------
        query : str
            One SELECT.

        Returns
        -------
        duckdb.DuckDBPyRelation
            The rows in memory. Convert them by ``.df()``, ``.fetchall()`` or ``.pl()``.

        Raises
        ------
        ArgumentError
            If the query is wrong: it is not one SELECT, names what is not there, or computes what
            cannot be computed.
        ArchiveError
            If the query tries to use anything but the tables, or they cannot be read.

        Examples
        --------
        >>> import tempfile
        >>> import aatoolkit as aa
        >>> archive = aa.Archive(tempfile.mkdtemp())
        >>> report = archive.add(aa.demo().client, ["acme.example"], sections=["domains"])
        >>> archive.sql("SELECT count(DISTINCT host) FROM source_domains").fetchall()
        [(1,)]
        """
        snapshot = self._snapshot()
        return snapshot.run_user_query(query, list_sql_tables(snapshot), self._until)

    def _sql_frame(self, query: str) -> Any:
        """Run an SQL query over the tables, and return the rows as a DataFrame."""
        with self._snapshot().convert_query_errors(()):
            return self.sql(query).df()

    @raise_package_errors
    def dask(self, section: str, table: str | None = None) -> Any:
        """Return a table as a Dask DataFrame; Dask's workers read its files.

        Parameters
        ----------
        section, table
            As for `read`.

        Returns
        -------
        dask.dataframe.DataFrame
            The rows of all responses, with one partition per file and Arrow dtypes.

        Raises
        ------
        PackageMissing
            If Dask is not installed.
        """
        snapshot = self._snapshot()
        return read_dask_frame(snapshot, TableReader(snapshot, section, table).path, self._until)

    @property
    @raise_package_errors
    def tables(self) -> pd.DataFrame:
        """A DataFrame with one row per table of the archive, and its size.

        The columns are ``section``, ``table``, ``rows``, ``responses``, ``hosts``, ``first_day``
        and ``last_day`` (on which responses were fetched), ``files`` and ``bytes``.
        """
        return show_as(summarize_tables(self._snapshot(), self._until))

    @property
    @raise_package_errors
    def declaration_changes(self) -> pd.DataFrame:
        """A DataFrame with one row per new or changed table, column or unit.

        The columns are ``at`` (the time), ``section``, ``table``, ``column``, ``change`` (such as
        "new column"), ``before`` and ``after``. For changes of measured values see `history`.
        """
        change_rows = self._snapshot().store.read_rows(CHANGES_TABLE) or []
        change_rows.sort(key=lambda row: row["at"])
        return show_as(to_frame(pa.Table.from_pylist(change_rows, CHANGES_SCHEMA)))

    # -- looking back --------------------------------------------------------------------------

    def as_of(self, when: DayOrMoment) -> Archive:
        """Return a read-only view of the archive as it was at a moment.

        Responses fetched later are ignored.

        Parameters
        ----------
        when : str, date or datetime
            The moment, such as ``"2026-10-01"``; a day means its end in UTC.

        Returns
        -------
        Archive
            The view. Its `read`, `history` and `sql` use the earlier responses only.

        Examples
        --------
        >>> import tempfile
        >>> import aatoolkit as aa
        >>> repr(aa.Archive(tempfile.mkdtemp()).as_of("2026-10-01"))[-34:]
        ' as of 2026-10-01 23:59:59, empty>'
        """
        archive_view = copy(self)
        archive_view._until = to_moment(when, "when", is_end_of_day=True)
        return archive_view

    # -- explaining ----------------------------------------------------------------------------

    @property
    def _store_name(self) -> str:
        """How explanations call the archive."""
        return "the archive"

    def _stored_responses(self, source: Source) -> Iterator[LoadedResponse]:
        """Yield the archived responses that a frame's `Source` (in its metadata) identifies."""
        condition_sqls = [USABLE_SQL]
        for column_name in ("sha256", "host", "section", "scope"):
            source_value = getattr(source, column_name)
            if source_value is not None:
                condition_sqls.append(f"{column_name} = {quote_value(source_value)}")
        for response_group in read_response_groups(self._snapshot(), " AND ".join(condition_sqls)):
            for response in response_group:
                derive_tables = partial(self._options.tables, response.section)
                yield LoadedResponse(source, response.payload(), derive_tables)

    def _archived_frame(self, method_name: str, arguments: Mapping[str, Any]) -> pd.DataFrame:
        """Read a DataFrame again, with the method and arguments that its metadata recorded."""
        scope = arguments.get("scope")
        arguments = {**arguments, "scope": None if scope is None else Scope._from_query(scope)}
        return self.history(**arguments) if method_name == "history" else self.read(**arguments)

    @raise_package_errors
    def explain(
        self,
        table: str,
        row: RowChoice = None,
        column: str | None = None,
        *,
        host: str | None = None,
        scope: Scope | None = None,
        since: DayOrMoment | None = None,
        until: DayOrMoment | None = None,
    ) -> Explanation:
        """Explain where a number in a table comes from, down to the bytes of the response.

        Parameters
        ----------
        table : str
            The table, such as ``source_domains`` or ``domains.source_domains``. The name of a
            section means its first table.
        row : int, label or mapping of str to object, optional
            The row, as for ``df.aa.explain``; by default the first row in which the column has no
            value. A mapping can have ``host`` and ``fetched_at`` too. If several rows match, the
            newest is explained.
        column : str
            The column.
        host, scope, since, until
            The responses to search for the row, as for `read`.

        Returns
        -------
        Explanation
            A tree of steps: print it. Each step has ``.value``, ``.formula`` and ``.children``.

        Raises
        ------
        ArchiveError
            If the archive is damaged.
        ScopeError
            If the archive has no such table.
        ItemNotFound
            If the table has no such column or row.
        """
        section, _, requested_table = table.rpartition(".")
        if not section:
            section_names = [
                section_name
                for section_name, table_name in list_stored_tables(self._store).values()
                if table_name == requested_table
            ]
            section, requested_table = (
                (section_names[0], requested_table)
                if len(section_names) == 1
                else (requested_table, "")
            )
        table_frame = self.read(
            section, requested_table or None, hosts=host, scope=scope, since=since, until=until
        )
        if isinstance(row, Mapping) and "fetched_at" not in row and len(table_frame):
            row_mask = Explainer.rows_with(table_frame, row)
            last_fetched_at = table_frame.loc[row_mask, "fetched_at"].max()
            table_frame = (
                table_frame[table_frame["fetched_at"] == last_fetched_at]
                if row_mask.any()
                else table_frame
            )
        return Explainer(self).explain(table_frame, row, column)

    # -- keeping -------------------------------------------------------------------------------

    @raise_package_errors
    def compact(self, *, keep_hours: float = RETENTION_HOURS) -> UpkeepReport:
        """Join small files, sort their rows by host, and delete old files.

        Rows of calls that were interrupted over a day ago are removed. Other processes can read and
        add meanwhile.

        Parameters
        ----------
        keep_hours : float
            For how many hours replaced files are kept, as other processes may still read them. With
            0, such processes fail.

        Returns
        -------
        UpkeepReport
            The number of files and bytes, before and after.

        Raises
        ------
        ArchiveError
            If there is no archive, or it cannot be written to.
        """
        self._check_writable()
        return upkeep.compact(self._store, keep_hours=keep_hours)

    @raise_package_errors
    def forget(
        self, hosts: Names | None = None, *, before: DayOrMoment | None = None
    ) -> UpkeepReport:
        """Delete responses, and the rows of tables that were made from them.

        On an object store, log entries of the last 30 days remain. They may contain the name of a
        deleted host.

        Parameters
        ----------
        hosts : str or iterable of str, optional
            The hosts whose responses are deleted; by default all hosts, if ``before`` is set.
        before : str, date or datetime, optional
            Delete only responses fetched before this day or moment; by default all.

        Returns
        -------
        UpkeepReport
            The number of removed rows, of files and bytes before and after, and of hosts left.

        Raises
        ------
        ArchiveError
            If neither ``hosts`` nor ``before`` is set, or there is no archive.
        ArchiveConflict
            If another process changed the same rows; call it again.
        """
        self._check_writable()
        return upkeep.forget(
            self._store, Selection.from_args(hosts).hosts, to_moment(before, "before")
        )

    @raise_package_errors
    def verify(self, *, replay: bool = False) -> ArchiveCheck:
        """Check all files and responses by their hashes, and count the rows of each table.

        The SHA-256 of every data file, log file and response body is compared with the recorded
        SHA-256. Missing files are found too.

        Parameters
        ----------
        replay : bool
            Whether to also make the tables again from the responses, and compare every row. A newer
            version of the package may make other rows, although nothing is damaged.

        Returns
        -------
        ArchiveCheck
            The problems that were found. Its truth value is True if there are none.

        Raises
        ------
        ArchiveError
            If there is no archive.
        """
        return upkeep.verify(self._store, self._options, replay=replay)

    @raise_package_errors
    def rebuild(
        self, *, profile: ProfileSource | None = None, progress: bool | None = None
    ) -> AddReport:
        """Make all tables again from the responses, because their declared columns changed.

        `declaration_changes` lists the changes. A call of `add` that runs at the same time fails;
        call it again.

        Parameters
        ----------
        profile : Profile, module, str or path, optional
            A description of the tables and columns in the service's responses; by default the
            archive's own.
        progress : bool, optional
            Whether to show a progress bar.

        Returns
        -------
        AddReport
            Its ``problems`` are the errors of responses that could not be converted to tables.
        """
        self._check_writable()
        reading_options = self._options
        if profile is not None:
            reading_options = replace(reading_options, profile=Profile.load(profile))
        error_by_response_name = upkeep.rebuild(self._store, reading_options, progress)
        return AddReport(None, problems=error_by_response_name)

    def study(
        self,
        path: FilePath,
        *,
        hosts: Names | None = None,
        since: DayOrMoment | None = None,
        until: DayOrMoment | None = None,
        scope: Scope | None = None,
        **about: Any,
    ) -> Study:
        """Copy selected responses into a study: a folder with checksums, to cite and publish.

        Parameters
        ----------
        path : str or path
            A new or empty folder.
        hosts, since, until, scope
            The responses to copy, as for `read`; by default all.
        **about
            ``title``, ``description`` and ``creators``, as for `Study.create`.

        Returns
        -------
        Study
            The new study.

        Raises
        ------
        StudyError
            If the folder is not empty.
        """
        selection = Selection.from_args(hosts, since, until, scope).restrict_until(self._until)
        with self._store.convert_unexpected_errors():
            snapshot = self._snapshot()
            study = Study.create(path, **about)
            if study.records:
                raise StudyError(
                    f"a study is in {study.path}; name another folder, or merge the two by "
                    "study.merge",
                    path=study.path,
                )
            writer = study._require_writer()
            with study:
                for response_group in read_response_groups(
                    snapshot, f"{USABLE_SQL} AND {selection.where_sql}"
                ):
                    for payload in (response.payload() for response in response_group):
                        record = Record.from_response(
                            payload_to_response(payload), stale=payload.stale
                        )
                        writer.append(record, payload.body)
            return study

    def _check_writable(self) -> None:
        """Raise `ArchiveError` if there is no archive, or if this is a view of an earlier one."""
        self._snapshot()
        if self._until is not None:
            raise ArchiveError("an archive as of a moment is read-only; change the archive itself")

    def __repr__(self) -> str:
        as_of_note = f" as of {self._until:%Y-%m-%d %H:%M:%S}" if self._until else ""
        return f"<Archive at {visible(self._store.root)}{as_of_note}, {self._summarize_runs()}>"

    @raise_package_errors
    def _summarize_runs(self) -> str:
        run_log = read_run_log(self._store)
        commit_rows = [
            commit_row for commit_row in run_log.log_rows if commit_row["state"] == "committed"
        ]
        if not commit_rows:
            return "no run is committed yet" if run_log.table_exists else "empty"
        response_count = sum(commit_row["responses"] or 0 for commit_row in commit_rows)
        last_commit_time = max(commit_row["at"] for commit_row in commit_rows)
        return (
            f"{counted(len(commit_rows), 'run')}, {counted(response_count, 'response')} added, "
            f"the last {last_commit_time:%Y-%m-%d %H:%M}"
        )

    _repr_pretty_ = print_wrapped

    def _repr_html_(self) -> str:
        return code(repr(self))
