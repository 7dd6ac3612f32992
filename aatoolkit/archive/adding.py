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
    read_response_groups,
)
from aatoolkit.archive.snapshot import Snapshot, make_in_condition, quote_value
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
        keys_and_errors: list[tuple[Any, AAToolkitError]] = [*self.failed.items()]
        keys_and_errors += [
            ((None, failed_name, None), error) for failed_name, error in self.problems.items()
        ]
        error_rows = [
            (*request_key, type(error).__name__, str(error))
            for request_key, error in keys_and_errors
        ]
        return pd.DataFrame(
            error_rows, columns=["host", "section", "scope", "error", "message"], dtype="string"
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
        message_lines = [
            *map(visible, error_messages[:3]),
            *["… more in .failures"] * (len(error_messages) > 3),
        ]
        return "\n  ".join([f"<AddReport: {', '.join(count_texts)}>", *message_lines])

    _repr_pretty_ = print_wrapped


def add_outcome_groups(
    store: ArchiveStore,
    reading_options: ReadingOptions,
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
    reading_options : ReadingOptions
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
        return derive_responses([response.payload() for response in responses], reading_options)

    run_writer = RunWriter(store, response_index, derive_tables)
    resumed_groups = make_outcome_groups(response.payload() for response in resumed_responses)
    for group_batch in _batch_groups(
        chain(
            resumed_groups,
            progress_bar(outcome_groups, shows_progress, total=group_count, unit="host"),
        )
    ):
        failed_at = datetime.now(UTC)
        responses: list[ArchivedResponse] = []
        derived_by_response_key: dict[ResponseKey, DerivedResponse] = {}
        for request_outcomes, derived_responses in group_batch:
            derived_response_iterator = iter(derived_responses or ())
            for request_key, payload_or_error in request_outcomes:
                if isinstance(payload_or_error, AAToolkitError):
                    error_by_request[request_key] = payload_or_error
                    response = ArchivedResponse.from_error(
                        run_writer.run_name, request_key, payload_or_error, failed_at
                    )
                else:
                    response = ArchivedResponse.from_payload(run_writer.run_name, payload_or_error)
                    if derived_responses is not None:
                        derived_by_response_key[response.response_key] = next(
                            derived_response_iterator
                        )
                responses.append(response)
        new_responses = [
            response for response in run_writer.store_responses(responses) if response.error is None
        ]
        unconverted_responses = [
            response
            for response in new_responses
            if response.response_key not in derived_by_response_key
        ]
        derived_by_response_key |= {
            response.response_key: derived_response
            for response, derived_response in zip(
                unconverted_responses, derive_tables(unconverted_responses), strict=True
            )
        }
        run_writer.buffer_tables(
            (response, derived_by_response_key[response.response_key]) for response in new_responses
        )
    run_name = run_writer.commit()
    return AddReport(
        run_name,
        run_writer.response_count,
        len(resumed_responses),
        skipped_count,
        error_by_request,
        run_writer.error_by_name,
    )


def _batch_groups(outcome_groups: Iterable[OutcomeGroup]) -> Iterator[list[OutcomeGroup]]:
    """Yield batches (lists) of groups of responses; each batch is stored in one commit.

    A batch ends when it has many responses or bytes, or after some seconds. Raise `NotAuthorized`
    if the token is refused for all requests of the first group.
    """
    group_batch: list[OutcomeGroup] = []
    response_count = byte_count = 0
    batch_start_time = time.monotonic()
    for group_index, outcome_group in enumerate(outcome_groups):
        request_outcomes, _ = outcome_group
        auth_errors = [error for _, error in request_outcomes if isinstance(error, NotAuthorized)]
        # A refused token would be refused in all further requests.
        if group_index == 0 and auth_errors and len(auth_errors) == len(request_outcomes):
            raise auth_errors[0]
        group_batch.append(outcome_group)
        response_count += len(request_outcomes)
        byte_count += sum(
            len(payload_or_error.body)
            for _, payload_or_error in request_outcomes
            if isinstance(payload_or_error, Payload)
        )
        is_time_up = time.monotonic() - batch_start_time > MAX_BATCH_SECONDS
        if response_count >= MAX_BATCH_RESPONSES or byte_count >= MAX_BATCH_BYTES or is_time_up:
            yield group_batch
            group_batch = []
            response_count = 0
            byte_count = 0
            batch_start_time = time.monotonic()
    if group_batch:
        yield group_batch


# --- groups of outcomes -----------------------------------------------------------------------


def iterate_payloads(source: Any) -> Iterator[Payload]:
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
        canonical_host_name = None if payload.host is None else canonical_host(payload.host)
        yield (
            payload
            if canonical_host_name == payload.host
            else replace(payload, host=canonical_host_name)
        )


def make_outcome_groups(payloads: Iterable[Payload]) -> Iterator[OutcomeGroup]:
    """Yield an `OutcomeGroup`, as if from a single request, for each response."""
    for payload in payloads:
        scope_query = payload.scope._to_query() if payload.scope else ""
        yield [((str(payload.host), str(payload.section), scope_query), payload)], None


def plan_requests(
    store: ArchiveStore,
    response_index: ResponseIndex,
    projects_and_scopes: Iterable[tuple[Project, Scope]],
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
    today_start = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    project_and_scope_by_request = {
        (project.host, section_name, scope._to_query()): (project, scope)
        for project, scope in projects_and_scopes
        for section_name in section_names
    }
    missing_request_keys = {
        request_key
        for request_key in project_and_scope_by_request
        if refresh or not response_index.has_response_of_day(request_key, today_start.date())
    }
    resumed_response_by_request: dict[RequestKey, ArchivedResponse] = {}
    unfinished_run_names = response_index.run_log.unfinished_run_names
    if unfinished_run_names and not refresh:
        run_sql = make_in_condition("run", unfinished_run_names)
        condition_sql = f"{USABLE_SQL} AND {run_sql} AND fetched_at >= {quote_value(today_start)}"
        for response_group in read_response_groups(
            Snapshot(store, response_index.run_log.begun_run_names), condition_sql
        ):
            resumed_response_by_request |= {
                response.request_key: response
                for response in response_group
                if response.body is not None and response.request_key in missing_request_keys
            }
    pending_request_keys = missing_request_keys - resumed_response_by_request.keys()
    section_names_by_target = group_values(
        (project_and_scope, request_key[1])
        for request_key, project_and_scope in project_and_scope_by_request.items()
        if request_key in pending_request_keys
    )
    return (
        [
            (*project_and_scope, pending_section_names)
            for project_and_scope, pending_section_names in section_names_by_target.items()
        ],
        [*resumed_response_by_request.values()],
        len(project_and_scope_by_request) - len(missing_request_keys),
    )


def fetch_outcome_groups(
    client: Client, fetch_targets: Sequence[FetchTarget], refresh: bool
) -> Generator[OutcomeGroup]:
    """Fetch sections of hosts in threads; yield a group for each request, in order.

    If ``refresh`` is true, the service computes the values again.
    """
    argument_tuples = [
        (project, section_name, scope, refresh)
        for project, scope, section_names in fetch_targets
        for section_name in section_names
    ]
    with closing(
        run_in_order(
            lambda argument_tuple: fetch_outcome(*argument_tuple), argument_tuples, client.workers
        )
    ) as arguments_and_futures:
        for _, future in arguments_and_futures:
            yield [future.result()], None


def fetch_outcome(
    project: Project, section_name: str, scope: Scope, refresh: bool
) -> RequestOutcome:
    """Fetch one section of a host; return the response, or the error instead of raising it."""
    request_key = project.host, section_name, scope._to_query()
    try:
        payload = project.fetch(section_name, scope, refresh=refresh)
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
    fetch_targets: Sequence[FetchTarget],
    executor: Executor,
    reading_options: ReadingOptions,
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
    fetch_tasks = (
        (reading_options, refresh, project.host, scope, section_names)
        for project, scope, section_names in fetch_targets
    )
    max_future_count = _TASKS_PER_WORKER * int(getattr(executor, "_max_workers", 8) or 8)
    futures: set[Any] = set()
    try:
        while True:
            futures |= {
                executor.submit(run_fetch_task, client_settings, *fetch_task)
                for fetch_task in islice(fetch_tasks, max_future_count - len(futures))
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
    request_outcomes = [
        fetch_outcome(project, section_name, scope, refresh) for section_name in section_names
    ]
    return request_outcomes, derive_responses(
        [
            payload_or_error
            for _, payload_or_error in request_outcomes
            if isinstance(payload_or_error, Payload)
        ],
        reading_options,
    )
