"""Add responses to an archive, from a service, a study or memory.

A run is one call of `Archive.add`. Its responses and tables become visible to readers all at once,
at the end of the run.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future
from concurrent.futures import wait as wait_for
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain, islice
from typing import Any

import pandas as pd

from aatoolkit._util.hosts import canonical_host
from aatoolkit._util.text import counted, visible, wrapped_in_ipython
from aatoolkit.archive.responses import (
    USABLE,
    ArchivedResponse,
    RequestKey,
    ResponseIndex,
    ResponseKey,
    read_groups,
)
from aatoolkit.archive.snapshot import Snapshot, literal, sql_in
from aatoolkit.archive.store import ArchiveStore
from aatoolkit.archive.writing import DerivedResponse, RunWriter, derive
from aatoolkit.client.client import Client, Project
from aatoolkit.client.reading import ReadingOptions, progress_bar, run_in_order
from aatoolkit.errors import AAToolkitError, ArchiveError, ArgumentError, NotAuthorized, ScopeError
from aatoolkit.payload import Payload
from aatoolkit.scope import Scope
from aatoolkit.study.recording import refuse_token
from aatoolkit.study.study import Study

PUT_RESPONSES = 340
PUT_BYTES = 1 << 25
PUT_SECONDS = 3.0
"""The number of responses, the bytes, or the seconds after which fetched responses are stored."""

Outcome = tuple[RequestKey, Payload | AAToolkitError]
Group = tuple[list[Outcome], list[DerivedResponse] | None]
"""Responses or errors of requests for one host and scope, and the tables of the responses.

The tables are None if they are not derived yet.
"""

Target = tuple[Project, Scope, list[str]]
"""A project, a scope, and the sections to request."""


@dataclass(frozen=True, repr=False)
class AddReport:
    """The result of adding responses to an archive; ``bool(report)`` is True if nothing failed.

    Attributes
    ----------
    run : str or None
        The name under which the archive logs this call; None if nothing was new.
    responses : int
        The number of responses that were added.
    resumed : int
        How many of these responses an earlier, interrupted call had fetched.
    skipped : int
        The number of requests that were not sent, as the archive had a response of today.
    failed : dict of (str, str, str) to AAToolkitError
        The errors of failed requests, by host, section and filters (such as ``days=30``).
    problems : dict of str to AAToolkitError
        The errors of responses that could not be converted to tables, and of tables that could not
        be stored. The key is the name of the response or table.
    """

    run: str | None
    responses: int = 0
    resumed: int = 0
    skipped: int = 0
    failed: dict[RequestKey, AAToolkitError] = field(default_factory=dict)
    problems: dict[str, AAToolkitError] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether every request succeeded, and the tables of all responses were stored."""
        return not self.failed and not self.problems

    def __bool__(self) -> bool:
        return self.ok

    @property
    def failures(self) -> pd.DataFrame:
        """A DataFrame with one row per error in ``failed`` and ``problems``.

        The columns are ``host``, ``section``, ``scope``, ``error`` and ``message``. For
        ``problems``, ``section`` has the name of the response or table.
        """
        errors: list[tuple[Any, AAToolkitError]] = [*self.failed.items()]
        errors += [((None, name, None), error) for name, error in self.problems.items()]
        rows = [(*request, type(error).__name__, str(error)) for request, error in errors]
        return pd.DataFrame(
            rows, columns=["host", "section", "scope", "error", "message"], dtype="string"
        )

    def __repr__(self) -> str:
        counts_by_label = {
            "of them fetched by an unfinished run": self.resumed,
            "there already today": self.skipped,
            "failed": len(self.failed),
            "stored as responses only": len(self.problems),
        }
        count_texts = [f"{counted(self.responses, 'response')} added"]
        count_texts += [f"{count} {label}" for label, count in counts_by_label.items() if count]
        messages = [*self.failures["message"].drop_duplicates()]
        lines = [*map(visible, messages[:3]), *["… more in .failures"] * (len(messages) > 3)]
        return "\n  ".join([f"<AddReport: {', '.join(count_texts)}>", *lines])

    _repr_pretty_ = wrapped_in_ipython


def add_groups(
    store: ArchiveStore,
    options: ReadingOptions,
    groups: Iterable[Group],
    index: ResponseIndex,
    *,
    progress: bool | None,
    total: int = 0,
    resumed: Sequence[ArchivedResponse] = (),
    skipped: int = 0,
) -> AddReport:
    """Store fetched responses and their tables in an archive, and return a report.

    Parameters
    ----------
    store : ArchiveStore
        The Delta tables of the archive.
    options : ReadingOptions
        How responses are converted to tables.
    groups : iterable of Group
        The responses and errors of requests; each group is for one host and scope.
    index : ResponseIndex
        Tells which responses the archive has already.
    progress : bool or None
        Whether to show a progress bar; None shows it on a terminal.
    total : int
        The number of groups, for the progress bar.
    resumed : sequence of ArchivedResponse
        Responses that an earlier, interrupted call has fetched.
    skipped : int
        The number of requests that were not sent, for the report.
    """
    errors: dict[RequestKey, AAToolkitError] = {}

    def derive_tables(responses: Sequence[ArchivedResponse]) -> list[DerivedResponse]:
        return derive([response.payload() for response in responses], options)

    writer = RunWriter(store, index, derive_tables)
    resumed_groups = group_payloads(response.payload() for response in resumed)
    for batch in _batches(
        chain(resumed_groups, progress_bar(groups, progress, total=total, unit="host"))
    ):
        now = datetime.now(UTC)
        responses: list[ArchivedResponse] = []
        derived_by_key: dict[ResponseKey, DerivedResponse] = {}
        for outcomes, derived_responses in batch:
            tables = iter(derived_responses or ())
            for request_key, result in outcomes:
                if isinstance(result, AAToolkitError):
                    errors[request_key] = result
                    response = ArchivedResponse.of_error(writer.run, request_key, result, now)
                else:
                    response = ArchivedResponse.of(writer.run, result)
                    if derived_responses is not None:
                        derived_by_key[response.key] = next(tables)
                responses.append(response)
        new_responses = [response for response in writer.put(responses) if response.error is None]
        underived_responses = [
            response for response in new_responses if response.key not in derived_by_key
        ]
        derived_by_key |= {
            response.key: derived_response
            for response, derived_response in zip(
                underived_responses, derive_tables(underived_responses), strict=True
            )
        }
        writer.take((response, derived_by_key[response.key]) for response in new_responses)
    run = writer.commit()
    return AddReport(run, writer.responses, len(resumed), skipped, errors, writer.problems)


def _batches(groups: Iterable[Group]) -> Iterator[list[Group]]:
    """Yield lists of groups, each list large enough to be stored in one commit.

    Raise `NotAuthorized` if the token is refused in the first group.
    """
    batch: list[Group] = []
    response_count = byte_count = 0
    start = time.monotonic()
    for index, group in enumerate(groups):
        outcomes, _ = group
        auth_errors = [error for _, error in outcomes if isinstance(error, NotAuthorized)]
        # A refused token would be refused in all further requests.
        if index == 0 and auth_errors and len(auth_errors) == len(outcomes):
            raise auth_errors[0]
        batch.append(group)
        response_count += len(outcomes)
        byte_count += sum(len(result.body) for _, result in outcomes if isinstance(result, Payload))
        is_due = time.monotonic() - start > PUT_SECONDS
        if response_count >= PUT_RESPONSES or byte_count >= PUT_BYTES or is_due:
            yield batch
            batch, response_count, byte_count, start = [], 0, 0, time.monotonic()
    if batch:
        yield batch


# --- groups of outcomes -----------------------------------------------------------------------


def payloads_of(source: Any) -> Iterator[Payload]:
    """Yield the responses in a study or an iterable; a single `Payload` gives one response."""
    if isinstance(source, Study):
        for record in source.records:
            if record.section is not None and record.error is None:
                yield source._payload(record)
        return
    for payload in source if isinstance(source, Iterable) else [source]:
        if not isinstance(payload, Payload):
            raise ScopeError(
                f"{payload!r} is no response; add takes a client, a project, a study or payloads, "
                "such as [tables.payload]",
                parameter="source",
            )
        host = None if payload.host is None else canonical_host(payload.host)
        yield payload if host == payload.host else replace(payload, host=host)


def group_payloads(payloads: Iterable[Payload]) -> Iterator[Group]:
    """Yield each response as a group of one, in the form of the results of requests."""
    for payload in payloads:
        scope = payload.scope._to_query() if payload.scope else ""
        yield [((str(payload.host), str(payload.section), scope), payload)], None


def plan_requests(
    store: ArchiveStore,
    index: ResponseIndex,
    targets: Iterable[tuple[Project, Scope]],
    sections: Sequence[str],
    *,
    refresh: bool,
) -> tuple[list[Target], list[ArchivedResponse], int]:
    """Decide which requests to send, because the archive has no response from today.

    Returns
    -------
    tuple of (list of Target, list of ArchivedResponse, int)
        The requests to send, the responses that an interrupted call has fetched already, and the
        number of requests that need not be sent.
    """
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    requests = {
        (project.host, section, scope._to_query()): (project, scope)
        for project, scope in targets
        for section in sections
    }
    open_requests = {
        request_key
        for request_key in requests
        if refresh or not index.is_archived(request_key, today.date())
    }
    resumed_responses: dict[RequestKey, ArchivedResponse] = {}
    unfinished = index.runs.unfinished
    if unfinished and not refresh:
        where = f"{USABLE} AND {sql_in('run', unfinished)} AND fetched_at >= {literal(today)}"
        for group in read_groups(Snapshot(store, index.runs.begun), where):
            resumed_responses |= {
                response.request_key: response
                for response in group
                if response.body is not None and response.request_key in open_requests
            }
    pending_requests = open_requests - resumed_responses.keys()
    pending_sections: dict[tuple[Project, Scope], list[str]] = {}
    for request_key, project_and_scope in requests.items():
        if request_key in pending_requests:
            pending_sections.setdefault(project_and_scope, []).append(request_key[1])
    return (
        [(*project_and_scope, names) for project_and_scope, names in pending_sections.items()],
        [*resumed_responses.values()],
        len(requests) - len(open_requests),
    )


def fetch_groups(client: Client, targets: Sequence[Target], refresh: bool) -> Generator[Group]:
    """Fetch the sections of hosts in threads, and yield the results in order."""
    requests = [
        (project, section, scope, refresh)
        for project, scope, sections in targets
        for section in sections
    ]
    with closing(
        run_in_order(lambda request: fetch(*request), requests, client.workers)
    ) as results:
        for _, future in results:
            yield [future.result()], None


def fetch(project: Project, section: str, scope: Scope, refresh: bool) -> Outcome:
    """Fetch one section of a host; return the response, or the error instead of raising it."""
    request_key = project.host, section, scope._to_query()
    try:
        payload = project.fetch(section, scope, refresh=refresh)
        refuse_token(project.client._source, payload.body, payload.url, payload.headers)
    except AAToolkitError as error:
        return request_key, error
    return request_key, payload


# --- workers of an executor --------------------------------------------------------------------
# A task names the service, the host, the scope and the sections, and never the token: a worker
# takes that from its environment or the system's key store.

_TASKS_PER_WORKER = 4
"""The number of tasks submitted per worker at a time."""

_clients: dict[Any, Client] = {}
"""The clients of this process, by their settings."""


def fetch_by_workers(
    client: Client,
    targets: Sequence[Target],
    executor: Executor,
    options: ReadingOptions,
    refresh: bool,
) -> Generator[Group]:
    """Fetch the sections of hosts in the workers of an executor, and yield the results.

    The workers also convert the responses to tables.
    """
    if client._settings is None:
        raise ArgumentError(
            "workers cannot replay a study; add without an executor, or give the study itself",
            argument="executor",
        )
    client_settings = client.base_url, tuple(sorted(client._settings.items()))
    tasks = (
        (options, refresh, project.host, scope, sections) for project, scope, sections in targets
    )
    max_running = _TASKS_PER_WORKER * int(getattr(executor, "_max_workers", 8) or 8)
    futures: set[Any] = set()
    try:
        while True:
            futures |= {
                executor.submit(fetch_task, client_settings, *task)
                for task in islice(tasks, max_running - len(futures))
            }
            if not futures:
                break
            # Futures of other packages can only be waited for one by one, by their result.
            finished_futures: Iterable[Any] = [next(iter(futures))]
            if all(isinstance(future, Future) for future in futures):
                finished_futures = wait_for(futures, return_when=FIRST_COMPLETED).done
            for future in finished_futures:
                futures.remove(future)
                yield future.result()
    except AAToolkitError:
        raise
    except Exception as error:
        raise ArchiveError(
            f"a worker failed ({type(error).__name__}: {error}); its executor must be able to "
            "import aatoolkit and pickle its results; add again, which continues"
        ) from None
    finally:
        for future in futures:
            future.cancel()


def fetch_task(
    client_settings: Any,
    options: ReadingOptions,
    refresh: bool,
    host: str,
    scope: Scope,
    sections: list[str],
) -> Group:
    """Fetch sections of one host, and convert them to tables; this runs in a worker.

    ``client_settings`` are the base URL and the arguments of `Client`, without the token.
    """
    if client_settings not in _clients:
        _clients[client_settings] = Client(
            client_settings[0], profile=options.profile, **dict(client_settings[1])
        )
    project = _clients[client_settings].project(host)
    outcomes = [fetch(project, section, scope, refresh) for section in sections]
    return outcomes, derive(
        [result for _, result in outcomes if isinstance(result, Payload)], options
    )
