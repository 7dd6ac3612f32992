"""`Archive`: every answer of many hosts over time, and the tables that were made of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from concurrent.futures import Executor
from datetime import datetime
from pathlib import Path
from typing import Any

from aatoolkit._util.html_table import table_html
from aatoolkit._util.terminal import wrapped_in_ipython
from aatoolkit._util.text import clipped, code, visible
from aatoolkit.archive.add import (
    Adder,
    fetch_groups,
    group_payloads,
    payloads_of,
    plan,
    study_payloads,
)
from aatoolkit.archive.index import AnswerIndex
from aatoolkit.archive.reader import ArchiveReader
from aatoolkit.archive.report import AddReport
from aatoolkit.archive.runs import read_runs
from aatoolkit.archive.selection import Selection, When
from aatoolkit.archive.store import ArchiveStore, duckdb, engine, typed
from aatoolkit.archive.upkeep_methods import ArchiveKeeper
from aatoolkit.client.client import Client
from aatoolkit.client.project import Project
from aatoolkit.client.reading import known_sections
from aatoolkit.client.settings import checked_max_nodes
from aatoolkit.errors import ArchiveError, ScopeError
from aatoolkit.jsontree.layout import MAX_NODES
from aatoolkit.payload import Payload
from aatoolkit.scope import Scope
from aatoolkit.sections import Profile
from aatoolkit.sections.profile import ProfileSource
from aatoolkit.study.study import Study


class Archive(ArchiveKeeper):
    """Every answer of many hosts over time, and the tables that were made of them.

    The answers are the truth, the tables are derived from them. Both are Delta tables in one
    folder or below one prefix of an object store: several processes may add at a time, and
    DuckDB, Dask, Polars, Spark and others read them. An archive is of one service.

    Parameters
    ----------
    path : str or path
        The folder, or an address such as ``s3://bucket/history``. Nothing is written before the
        first answer is added.
    storage_options : mapping of str to str, optional
        Options of the object store, such as ``AWS_ENDPOINT_URL``. Credentials are better left in
        the environment (``AWS_ACCESS_KEY_ID`` …); they are never written.
    profile : Profile, module, str or path, optional
        What is known of the service, for answers that do not come through a client, and for
        `rebuild`.
    max_nodes : int
        How many different paths are read in an answer; more where a client that is given, or
        the one that recorded a study, reads more.

    Raises
    ------
    PackageMissing
        If the ``archive`` extra is not installed.

    Examples
    --------
    >>> import tempfile
    >>> import aatoolkit as aa
    >>> archive = aa.Archive(tempfile.mkdtemp())
    >>> client = aa.demo().client
    >>> archive.add(client, ["acme.example"], aa.Scope(days=7), ["ranking"])
    <AddReport: 1 answers added>
    >>> archive.add(client, ["acme.example"], aa.Scope(days=7), ["ranking"])
    <AddReport: 0 answers added, 1 there already today>
    >>> archive.history("ranking", "ranking_history")["revisions"].max()
    np.int64(0)
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        storage_options: Mapping[str, str] | None = None,
        *,
        profile: ProfileSource | None = None,
        max_nodes: int = MAX_NODES,
    ) -> None:
        engine(), duckdb()
        super().__init__(ArchiveStore(path, storage_options))
        self._profile = None if profile is None else Profile.load(profile)
        self._max_nodes = checked_max_nodes(max_nodes)

    # -- adding --------------------------------------------------------------------------------

    def add(
        self,
        source: Client | Project | Study | Iterable[Payload],
        hosts: str | Iterable[str] | None = None,
        scopes: Scope | Iterable[Scope] | None = None,
        sections: str | Iterable[str] | None = None,
        *,
        refresh: bool = False,
        progress: bool | None = None,
        executor: Executor | None = None,
    ) -> AddReport:
        """Add answers, in one run that is whole or not there.

        What has an answer of today (in UTC) is not asked for again, so that adding again continues
        where a run was interrupted. Requests run concurrently, and memory stays constant however
        many hosts there are.

        Parameters
        ----------
        source : Client, Project, Study or iterable of Payload
            Where the answers come from. Of a study all usable answers about sections are added.
        hosts : str or iterable of str, optional
            The projects' domains; a project's own by default.
        scopes : Scope or iterable of Scope, optional
            The filters, one or several; by default everything of the last 30 days.
        sections : str or iterable of str, optional
            The sections; by default all.
        refresh : bool
            Ask also for what has an answer of today.
        progress : bool, optional
            Whether to show a progress bar; by default on a terminal and in a notebook.
        executor : concurrent.futures.Executor, optional
            Workers that fetch and normalise: a ``ProcessPoolExecutor`` with the ``spawn``
            context, or a Dask cluster's ``client.get_executor()``. They take the token from the
            environment or the key store.

        Returns
        -------
        AddReport
            What was added, and what failed; true if nothing did.

        Raises
        ------
        ArchiveError
            If a declaration has changed so that new rows cannot stand beside the old ones.
        ArchiveConflict
            If other processes were first time and again, or answers were removed meanwhile.
        ScopeError
            If there is no such section, a host is not a domain, or nothing of this kind can be
            added; before any request.
        NotAuthorized
            If the token is not accepted.
        """
        if self._until is not None:
            raise ArchiveError("this is the archive as of a moment; add to the archive itself")
        self._check_place()
        with self._store.typed():
            runs, _ = read_runs(self._store)
        if isinstance(source, Project):
            hosts = source.host if hosts is None else hosts
            source = source.client
        if not isinstance(source, Client):
            return self._add_payloads(source, hosts, scopes, sections, progress, executor)
        if hosts is None:
            raise ScopeError("add needs the hosts to ask for", parameter="hosts")
        from aatoolkit.archive import tables, workers
        from aatoolkit.client.client import each_of

        profile = source._profile if source._profile is not None else self._profile
        names = known_sections(sections, profile)
        projects = {p.host: p for p in map(source.project, each_of(hosts, str))}
        listed = each_of(scopes, Scope) or [Scope()]
        targets = [(project, scope) for project in projects.values() for scope in listed]
        declared = [source.profile[name] for name in names if name in source.profile]
        with self._store.typed():
            tables.check(self._store, declared)
            index = AnswerIndex(self._store, runs, [*projects])
            planned = plan(self._store, runs, index, targets, names, refresh=refresh)
        max_nodes = max(self._max_nodes, source.max_nodes)
        adder = Adder(self._store, profile, progress, max_nodes)
        groups = (
            fetch_groups(source, planned.targets)
            if executor is None
            else workers.fetch_groups(source, planned.targets, executor, profile, max_nodes)
        )
        return adder.add(
            groups,
            index,
            total=len(planned.targets),
            resumed=planned.resumed,
            skipped=planned.skipped,
        )

    def _add_payloads(
        self,
        source: Study | Iterable[Payload],
        hosts: Any,
        scopes: Any,
        sections: Any,
        progress: bool | None,
        executor: Executor | None,
    ) -> AddReport:
        from aatoolkit.archive import workers
        from aatoolkit.client.client import each_of

        max_nodes = self._max_nodes
        if isinstance(source, Study):
            max_nodes = max([max_nodes, *(record.max_nodes for record in source.records)])
            source = study_payloads(source)
        wanted_hosts = None if hosts is None else set(Selection.of(hosts).hosts or ())
        wanted_scopes = None if scopes is None else set(each_of(scopes, Scope))
        names = None if sections is None else set(known_sections(sections, self._profile))
        chosen = (
            payload
            for payload in payloads_of(source)
            if (wanted_hosts is None or payload.host in wanted_hosts)
            and (wanted_scopes is None or payload.scope in wanted_scopes)
            and (names is None or payload.section in names)
        )
        runs, _ = read_runs(self._store)
        groups = group_payloads(chosen)
        if executor is not None:
            groups = workers.derive_groups(groups, executor, self._profile, max_nodes)
        adder = Adder(self._store, self._profile, progress, max_nodes)
        return adder.add(groups, AnswerIndex(self._store, runs), total=0)

    def _check_place(self) -> None:
        """Raise if a folder holds something else than an archive."""
        if not self._store.is_local:
            return
        folder = Path(self._store.root)
        problem = ""
        try:
            if folder.exists() and not folder.is_dir():
                problem = "it is not a folder"
            elif folder.is_dir() and not (folder / "runs").is_dir() and any(folder.iterdir()):
                problem = "the folder holds other files; choose a new one"
        except OSError as error:
            problem = error.strerror or type(error).__name__
        if problem:
            raise ArchiveError(
                f"no archive can be begun at {folder}: {problem}", path=self._store.root
            )

    # -- looking back --------------------------------------------------------------------------

    def as_of(self, when: When) -> Archive:
        """Return the archive as it was at a moment, read-only: later answers are not seen.

        Parameters
        ----------
        when : str, date or datetime
            The moment; a day is meant with its end, in UTC.

        Examples
        --------
        >>> import tempfile
        >>> import aatoolkit as aa
        >>> aa.Archive(tempfile.mkdtemp()).as_of("2026-10-01")  # doctest: +ELLIPSIS
        <Archive at ... as of 2026-10-01 23:59:59, empty>
        """
        found = Archive.__new__(Archive)
        ArchiveReader.__init__(found, self._store, Selection.of(until=when).until)
        found._profile, found._max_nodes = self._profile, self._max_nodes
        return found

    def __repr__(self) -> str:
        return f"<Archive at {visible(self._store.root)}{self._dated()}, {self._summary()}>"

    def _dated(self) -> str:
        when: datetime | None = self._until
        return "" if when is None else f" as of {when:%Y-%m-%d %H:%M:%S}"

    @typed
    def _summary(self) -> str:
        runs, exists = read_runs(self._store)
        if not exists:
            return "empty"
        if self._until is not None:
            return "answers fetched until then"
        committed = [row for row in runs.rows if row["state"] == "committed"]
        if not committed:
            return "no run is committed yet"
        answers = sum(row["answers"] or 0 for row in committed)
        last = max(row["at"] for row in committed)
        return f"{len(committed)} runs, {answers:,} answers added, the last {last:%Y-%m-%d %H:%M}"

    _repr_pretty_ = wrapped_in_ipython

    def _repr_html_(self) -> str:
        _, exists = read_runs(self._store)
        if not exists:
            return code(repr(self))
        heads = ("section", "table", "rows", "hosts", "first_day", "last_day", "bytes")
        rows = [
            tuple(clipped(_cell(row[name])) for name in heads)
            for row in self.tables[[*heads]].to_dict("records")
        ]
        title = f"{self._store.root}{self._dated()}: {self._summary()}"
        return table_html(heads, rows, caption=clipped(title), numbers=(2, 3, 6), codes=(1,))


def _cell(value: Any) -> str:
    import pandas as pd

    if value is None or value is pd.NaT or value is pd.NA:
        return "–"
    if isinstance(value, pd.Timestamp):
        return f"{value:%Y-%m-%d}"
    return f"{value:,}" if isinstance(value, int) else str(value)
