"""Add responses to an archive, from a service, a study or memory.

A run is one call of `Archive.add`. Its responses and tables become visible to readers all at once,
at the end of the run.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait as wait_for
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain, islice
from typing import Any

import pandas as pd

from aatoolkit._util.grouping import group_values
from aatoolkit._util.hosts import canonical_host
from aatoolkit._util.text import counted, print_wrapped, visible
from aatoolkit.archive.responses import (
    USABLE_SQL,
    ArchivedResponse,
    RequestKey,
    ResponseIndex,
    ResponseKey,
    response_groups,
)
from aatoolkit.archive.snapshot import Snapshot, quote_value, sql_in
from aatoolkit.archive.store import ArchiveStore
from aatoolkit.archive.writing import DerivedResponse, RunWriter, derive_responses
from aatoolkit.client.client import Client, Project
from aatoolkit.client.reading import ReadingOptions, progress_bar, run_in_order
from aatoolkit.errors import AAToolkitError, ArchiveError, ArgumentError, NotAuthorized, ScopeError
from aatoolkit.payload import Payload
from aatoolkit.scope import Scope
from aatoolkit.study.recording import refuse_leaked_token
from aatoolkit.study.study import Study

MAX_BATCH_RESPONSES = 340
MAX_BATCH_BYTES = 1 << 25
MAX_BATCH_SECONDS = 3.0
"""Fetched responses are stored after so many responses, so many bytes, or so many seconds."""

RequestOutcome = tuple[RequestKey, Payload | AAToolkitError]
"""A request (host, section, scope), and its response or error."""

OutcomeGroup = tuple[list[RequestOutcome], list[DerivedResponse] | None]
"""Requests for one host and scope with their responses or errors, and the responses' tables.

The tables are None if the responses are not converted yet.
"""

FetchTarget = tuple[Project, Scope, list[str]]
"""A project, a scope (days and filters), and the sections to request."""


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
        rows = [(*request_key, type(error).__name__, str(error)) for request_key, error in errors]
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
        error_messages = [*self.failures["message"].drop_duplicates()]
        lines = [
            *map(visible, error_messages[:3]),
            *["… more in .failures"] * (len(error_messages) > 3),
        ]
        return "\n  ".join([f"<AddReport: {', '.join(count_texts)}>", *lines])

    _repr_pretty_ = print_wrapped


def add_outcome_groups(
    store: ArchiveStore,
    options: ReadingOptions,
    outcome_groups: Iterable[OutcomeGroup],
    response_index: ResponseIndex,
    *,
    shows_progress: bool | None,
    group_count: int = 0,
    resumed_responses: Sequence[ArchivedResponse] = (),
    skipped_count: int = 0,
) -> AddReport:
    """Store fetched responses and their tables in an archive, and return a report.

    Parameters
    ----------
    store : ArchiveStore
        The Delta tables of the archive.
    options : ReadingOptions
        How responses are converted to tables.
    outcome_groups : iterable of OutcomeGroup
        The responses and errors of requests; each group is for one host and scope.
    response_index : ResponseIndex
        Tells which responses the archive has already.
    shows_progress : bool or None
        Whether to show a progress bar; None shows it on a terminal.
    group_count : int
        The number of groups, for the progress bar.
    resumed_responses : sequence of ArchivedResponse
        Responses that an earlier, interrupted call has fetched; they are stored, too.
    skipped_count : int
        The number of requests that were not sent, for the report.
    """
    error_by_request: dict[RequestKey, AAToolkitError] = {}

    def derive_tables(responses: Sequence[ArchivedResponse]) -> list[DerivedResponse]:
        return derive_responses([response.payload() for response in responses], options)

    writer = RunWriter(store, response_index, derive_tables)
    resumed_groups = group_payloads(response.payload() for response in resumed_responses)
    for batch in _batch_groups(
        chain(
            resumed_groups,
            progress_bar(outcome_groups, shows_progress, total=group_count, unit="host"),
        )
    ):
        failed_at = datetime.now(UTC)
        responses: list[ArchivedResponse] = []
        derived_by_key: dict[ResponseKey, DerivedResponse] = {}
        for outcomes, derived_responses in batch:
            derived_iterator = iter(derived_responses or ())
            for request_key, payload_or_error in outcomes:
                if isinstance(payload_or_error, AAToolkitError):
                    error_by_request[request_key] = payload_or_error
                    response = ArchivedResponse.from_error(
                        writer.run_name, request_key, payload_or_error, failed_at
                    )
                else:
                    response = ArchivedResponse.from_payload(writer.run_name, payload_or_error)
                    if derived_responses is not None:
                        derived_by_key[response.key] = next(derived_iterator)
                responses.append(response)
        new_responses = [
            response for response in writer.store_responses(responses) if response.error is None
        ]
        underived_responses = [
            response for response in new_responses if response.key not in derived_by_key
        ]
        derived_by_key |= {
            response.key: derived_response
            for response, derived_response in zip(
                underived_responses, derive_tables(underived_responses), strict=True
            )
        }
        writer.buffer_tables((response, derived_by_key[response.key]) for response in new_responses)
    run_name = writer.commit()
    return AddReport(
        run_name,
        writer.response_count,
        len(resumed_responses),
        skipped_count,
        error_by_request,
        writer.error_by_name,
    )


def _batch_groups(outcome_groups: Iterable[OutcomeGroup]) -> Iterator[list[OutcomeGroup]]:
    """Yield batches (lists) of groups of responses; each batch is stored in one commit.

    A batch ends when it has many responses or bytes, or after some seconds. Raise `NotAuthorized`
    if the token is refused for all requests of the first group.
    """
    batch: list[OutcomeGroup] = []
    response_count = byte_count = 0
    batch_start = time.monotonic()
    for group_number, group in enumerate(outcome_groups):
        outcomes, _ = group
        auth_errors = [error for _, error in outcomes if isinstance(error, NotAuthorized)]
        # A refused token would be refused in all further requests.
        if group_number == 0 and auth_errors and len(auth_errors) == len(outcomes):
            raise auth_errors[0]
        batch.append(group)
        response_count += len(outcomes)
        byte_count += sum(len(result.body) for _, result in outcomes if isinstance(result, Payload))
        is_time_up = time.monotonic() - batch_start > MAX_BATCH_SECONDS
        if response_count >= MAX_BATCH_RESPONSES or byte_count >= MAX_BATCH_BYTES or is_time_up:
            yield batch
            batch = []
            response_count = 0
            byte_count = 0
            batch_start = time.monotonic()
    if batch:
        yield batch


# --- groups of outcomes -----------------------------------------------------------------------


def payloads_of(source: Any) -> Iterator[Payload]:
    """Yield the responses in ``source``: a study, an iterable of `Payload`, or one `Payload`."""
    if isinstance(source, Study):
        for record in source.records:
            if record.section is not None and record.error is None:
                yield source._read_payload(record)
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


def group_payloads(payloads: Iterable[Payload]) -> Iterator[OutcomeGroup]:
    """Yield an `OutcomeGroup`, as if from a single request, for each response."""
    for payload in payloads:
        scope_query = payload.scope._to_query() if payload.scope else ""
        yield [((str(payload.host), str(payload.section), scope_query), payload)], None


def plan_requests(
    store: ArchiveStore,
    response_index: ResponseIndex,
    project_scopes: Iterable[tuple[Project, Scope]],
    section_names: Sequence[str],
    *,
    refresh: bool,
) -> tuple[list[FetchTarget], list[ArchivedResponse], int]:
    """Decide which requests to send: those to which the archive has no response from today.

    If ``refresh`` is true, all requests are sent.

    Returns
    -------
    tuple of (list of FetchTarget, list of ArchivedResponse, int)
        The requests to send, the responses that an interrupted call has fetched already, and the
        number of requests to which the archive has a response.
    """
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    target_by_request = {
        (project.host, section, scope._to_query()): (project, scope)
        for project, scope in project_scopes
        for section in section_names
    }
    missing_requests = {
        request_key
        for request_key in target_by_request
        if refresh or not response_index.has_response_of_day(request_key, today.date())
    }
    resumed_responses: dict[RequestKey, ArchivedResponse] = {}
    open_runs = response_index.run_log.unfinished_runs
    if open_runs and not refresh:
        sql = f"{USABLE_SQL} AND {sql_in('run', open_runs)} AND fetched_at >= {quote_value(today)}"
        for group in response_groups(Snapshot(store, response_index.run_log.begun_runs), sql):
            resumed_responses |= {
                response.request_key: response
                for response in group
                if response.body is not None and response.request_key in missing_requests
            }
    pending_requests = missing_requests - resumed_responses.keys()
    sections_by_target = group_values(
        (project_scope, request_key[1])
        for request_key, project_scope in target_by_request.items()
        if request_key in pending_requests
    )
    return (
        [(*project_scope, sections) for project_scope, sections in sections_by_target.items()],
        [*resumed_responses.values()],
        len(target_by_request) - len(missing_requests),
    )


def fetch_outcome_groups(
    client: Client, targets: Sequence[FetchTarget], refresh: bool
) -> Generator[OutcomeGroup]:
    """Fetch sections of hosts in threads; yield a group for each request, in order.

    If ``refresh`` is true, the service computes the values again.
    """
    fetch_arguments = [
        (project, section, scope, refresh)
        for project, scope, sections in targets
        for section in sections
    ]
    with closing(
        run_in_order(lambda arguments: fetch_outcome(*arguments), fetch_arguments, client.workers)
    ) as finished_fetches:
        for _, future in finished_fetches:
            yield [future.result()], None


def fetch_outcome(project: Project, section: str, scope: Scope, refresh: bool) -> RequestOutcome:
    """Fetch one section of a host; return the response, or the error instead of raising it."""
    request_key = project.host, section, scope._to_query()
    try:
        payload = project.fetch(section, scope, refresh=refresh)
        refuse_leaked_token(project.client._source, payload.body, payload.url, payload.headers)
    except AAToolkitError as error:
        return request_key, error
    return request_key, payload


# --- workers of an executor --------------------------------------------------------------------
# A task names the service, the host, the scope and the sections, and never the token: a worker
# takes that from its environment or the system's key store.

_TASKS_PER_WORKER = 4
"""The number of tasks per worker that are submitted at a time."""

_client_by_settings: dict[Any, Client] = {}
"""The clients that this process has created, by their base URL and settings."""


def fetch_by_workers(
    client: Client,
    targets: Sequence[FetchTarget],
    executor: Executor,
    options: ReadingOptions,
    refresh: bool,
) -> Generator[OutcomeGroup]:
    """Fetch sections of hosts in the workers of an executor; yield a group per host and scope.

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
    max_futures = _TASKS_PER_WORKER * int(getattr(executor, "_max_workers", 8) or 8)
    futures: set[Any] = set()
    try:
        while True:
            futures |= {
                executor.submit(run_fetch_task, client_settings, *task)
                for task in islice(tasks, max_futures - len(futures))
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


def run_fetch_task(
    client_settings: Any,
    reading_options: ReadingOptions,
    refresh: bool,
    host: str,
    scope: Scope,
    section_names: list[str],
) -> OutcomeGroup:
    """Fetch sections of one host, and convert them to tables; this runs in a worker.

    ``client_settings`` are the base URL and the arguments of `Client`, without the token.
    """
    if client_settings not in _client_by_settings:
        _client_by_settings[client_settings] = Client(
            client_settings[0], profile=reading_options.profile, **dict(client_settings[1])
        )
    project = _client_by_settings[client_settings].project(host)
    outcomes = [fetch_outcome(project, section, scope, refresh) for section in section_names]
    return outcomes, derive_responses(
        [result for _, result in outcomes if isinstance(result, Payload)], reading_options
    )
