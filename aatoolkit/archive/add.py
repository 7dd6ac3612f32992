"""Add responses to an archive, of a service, a study or at hand; continue where a run ended."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any

from aatoolkit._util.hosts import canonical_host
from aatoolkit._util.show import table_html
from aatoolkit._util.text import clipped, code, visible, wrapped_in_ipython
from aatoolkit.archive.archived import USABLE, ArchivedResponse, Question, ResponseIndex, groups_of
from aatoolkit.archive.derive import DerivedResponse, derive, derive_many
from aatoolkit.archive.snapshot import Snapshot, in_list, quoted
from aatoolkit.archive.store import ArchiveStore
from aatoolkit.archive.writer import RunWriter
from aatoolkit.client.concurrency import in_order, progress_bar
from aatoolkit.errors import AAToolkitError, NotAuthorized, ScopeError
from aatoolkit.jsontree.layout import MAX_NODES
from aatoolkit.payload import Payload
from aatoolkit.scope import Scope
from aatoolkit.sections import Profile
from aatoolkit.study.recording import refuse_token
from aatoolkit.study.study import Study

if TYPE_CHECKING:
    import pandas as pd

    from aatoolkit.client.client import Client
    from aatoolkit.client.project import Project

PUT_RESPONSES = 340
PUT_BYTES = 1 << 25
PUT_SECONDS = 3.0
"""Responses are stored when so many are at hand, or so many bytes, or so long after the last."""

Outcome = tuple[Question, Payload | AAToolkitError]
Group = tuple[list[Outcome], list[DerivedResponse] | None]
"""The outcomes of one host and scope, and what was derived of the usable ones, if it was."""


@dataclass(frozen=True, repr=False)
class AddReport:
    """The result of adding responses to an archive: counts and failures; true if none failed.

    Attributes
    ----------
    run : str or None
        The run; None if nothing was new.
    responses : int
        The responses that were added.
    resumed : int
        Those of them that an earlier, unfinished run had fetched.
    skipped : int
        The questions that had a response of today already.
    failed : dict of (str, str, str) to AAToolkitError
        The requests that failed, by host, section and scope.
    problems : dict of str to AAToolkitError
        The responses and tables that are stored only as responses, and why.
    """

    run: str | None
    responses: int = 0
    resumed: int = 0
    skipped: int = 0
    failed: dict[Question, AAToolkitError] = field(default_factory=dict)
    problems: dict[str, AAToolkitError] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether nothing failed."""
        return not self.failed and not self.problems

    def __bool__(self) -> bool:
        return self.ok

    @property
    def failures(self) -> pd.DataFrame:
        """One row per failure: ``host``, ``section``, ``scope``, ``error``, ``message``."""
        import pandas as pd

        rows: list[tuple[str | None, ...]] = [
            (*request, type(error).__name__, str(error)) for request, error in self.failed.items()
        ]
        rows += [
            (None, name, None, type(error).__name__, str(error))
            for name, error in self.problems.items()
        ]
        names = ("host", "section", "scope", "error", "message")
        return pd.DataFrame(rows, columns=[*names], dtype="string")

    def __repr__(self) -> str:
        parts = [f"{self.responses} responses added"]
        if self.resumed:
            parts.append(f"{self.resumed} of them fetched by an unfinished run")
        if self.skipped:
            parts.append(f"{self.skipped} there already today")
        if self.failed:
            parts.append(f"{len(self.failed)} failed")
        if self.problems:
            parts.append(f"{len(self.problems)} stored as responses only")
        lines = [f"<AddReport: {', '.join(parts)}>"]
        shown = [(" ".join(request), error) for request, error in self.failed.items()]
        shown += [*self.problems.items()]
        lines += [f"  {visible(name)}: {visible(str(error))}" for name, error in shown[:5]]
        lines += [f"  … {len(shown) - 5} more (see .failures)"] if len(shown) > 5 else []
        return "\n".join(lines)

    _repr_pretty_ = wrapped_in_ipython

    def _repr_html_(self) -> str:
        title = repr(self).splitlines()[0]
        failures = self.failures.head(20).fillna("")
        if not len(failures):
            return code(title)
        rows = [tuple(map(clipped, row)) for row in failures.itertuples(index=False)]
        return table_html([*failures.columns], rows, caption=title[1:-1])


class Adder:
    """Adds the responses of some source to an archive, in one run.

    Parameters
    ----------
    store
        The archive.
    profile
        What is known of the service.
    progress
        Whether to show a bar.
    max_nodes
        The number of different paths that are read in a response.
    """

    def __init__(
        self,
        store: ArchiveStore,
        profile: Profile | None,
        progress: bool | None,
        max_nodes: int = MAX_NODES,
    ) -> None:
        self._store, self._profile, self._progress = store, profile, progress
        self._max_nodes = max_nodes
        self._failed: dict[Question, AAToolkitError] = {}
        self._problems: dict[str, AAToolkitError] = {}
        self._waiting: list[Group] = []
        self._count = self._bytes = 0
        self._put_at = time.monotonic()
        self._writer: RunWriter | None = None
        self._index: ResponseIndex | None = None

    def _rederive(self, responses: Sequence[ArchivedResponse]) -> list[DerivedResponse]:
        payloads = [response.payload() for response in responses]
        return derive(payloads, self._profile, self._max_nodes)

    def add(
        self,
        groups: Iterable[Group],
        index: ResponseIndex,
        *,
        total: int,
        resumed: Iterable[list[ArchivedResponse]] = (),
        skipped: int = 0,
    ) -> AddReport:
        """Store groups of outcomes as they come, derive their tables and commit the run."""
        self._index = index
        carried = 0
        for responses in resumed:
            carried += len(responses)
            self._take(([(a.question, a.payload()) for a in responses], None))
        watched = progress_bar(groups, self._progress, total=total, unit="host")
        for group in watched:
            self._take(group)
        self._store_waiting()
        writer = self._writer
        if writer is None:
            return AddReport(None, 0, 0, skipped, self._failed, self._problems)
        run = writer.commit()
        self._problems |= writer.problems
        return AddReport(run, writer.responses, carried, skipped, self._failed, self._problems)

    def _take(self, group: Group) -> None:
        outcomes, _ = group
        first = self._writer is None and not self._waiting
        refused = [error for _, error in outcomes if isinstance(error, NotAuthorized)]
        if first and refused and len(refused) == len(outcomes):
            raise refused[0]
        self._waiting.append(group)
        self._count += len(outcomes)
        self._bytes += sum(len(got.body) for _, got in outcomes if isinstance(got, Payload))
        late = time.monotonic() - self._put_at > PUT_SECONDS
        if self._count >= PUT_RESPONSES or self._bytes >= PUT_BYTES or late:
            self._store_waiting()

    def _store_waiting(self) -> None:
        """Store the responses at hand, and then take their tables."""
        waiting, self._waiting = self._waiting, []
        self._count = self._bytes = 0
        if not waiting:
            return
        if self._writer is None:
            assert self._index is not None
            self._writer = RunWriter(self._store, self._index, self._rederive)
        writer, now = self._writer, datetime.now(UTC)
        rows: list[ArchivedResponse] = []
        usable: list[list[ArchivedResponse]] = []
        for outcomes, _ in waiting:
            usable.append([])
            for question, got in outcomes:
                if isinstance(got, Payload):
                    usable[-1].append(ArchivedResponse.of(writer.run, got))
                    rows.append(usable[-1][-1])
                else:
                    self._failed[question] = got
                    rows.append(ArchivedResponse.of_error(writer.run, question, got, now))
        kept = {
            response.identity: response for response in writer.put(rows) if response.error is None
        }
        fresh = [any(response.identity in kept for response in listed) for listed in usable]
        given = [
            [got for _, got in outcomes if isinstance(got, Payload)]
            for (outcomes, derived), is_fresh in zip(waiting, fresh, strict=True)
            if derived is None and is_fresh
        ]
        made = iter(derive_many(given, self._profile, self._max_nodes))
        for (_, derived), responses, is_fresh in zip(waiting, usable, fresh, strict=True):
            if not is_fresh:
                continue
            found = next(made) if derived is None else derived
            pairs = [
                (kept.pop(response.identity), one)
                for response, one in zip(responses, found, strict=True)
                if response.identity in kept
            ]
            for response, one in pairs:
                if one.error is not None:
                    self._problems[response.name] = one.error
            writer.take([a for a, _ in pairs], [one for _, one in pairs])
        self._put_at = time.monotonic()


# --- what groups are made of ------------------------------------------------------------------


def study_payloads(study: Study) -> Iterator[Payload]:
    """The usable responses about sections that a study holds, in the order of recording."""
    for record in study.records:
        if record.section is not None and record.error is None:
            yield record.payload(study._body(record))


def payloads_of(source: Any) -> Iterator[Payload]:
    """The responses that something iterable gives.

    Raises
    ------
    ScopeError
        If it gives anything else, or the host of one is not a domain.
    """
    hosts: dict[str, str] = {}
    for payload in source if isinstance(source, Iterable) else [source]:
        if not isinstance(payload, Payload):
            raise ScopeError(
                f"{payload!r} is no response; add takes a client, a project, a study or payloads, "
                "such as [tables.payload]",
                parameter="source",
            )
        if payload.host is not None:
            if payload.host not in hosts:
                hosts[payload.host] = canonical_host(payload.host)
            if hosts[payload.host] != payload.host:
                payload = replace(payload, host=hosts[payload.host])
        yield payload


def group_payloads(payloads: Iterable[Payload]) -> Iterator[Group]:
    """Responses at hand, those of one host, scope and day together if they follow each other."""

    def place(payload: Payload) -> tuple[Any, ...]:
        return payload.host, payload.scope, payload.fetched_at.date()

    for _, group in groupby(payloads, key=place):
        listed = [*group]
        questions = [
            (str(p.host), str(p.section), p.scope._to_query() if p.scope else "") for p in listed
        ]
        yield [*zip(questions, listed, strict=True)], None


@dataclass(frozen=True)
class AddPlan:
    """The requests to send: for each project and scope, the sections without a response."""

    targets: list[tuple[Project, Scope, list[str]]]
    resumed: list[list[ArchivedResponse]]
    skipped: int


def plan(
    store: ArchiveStore,
    index: ResponseIndex,
    targets: Sequence[tuple[Project, Scope]],
    names: Sequence[str],
    *,
    refresh: bool,
) -> AddPlan:
    """Plan the requests: without those answered today or fetched by an unfinished run."""
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    wanted = {
        (project.host, name, scope._to_query()): (project, scope)
        for project, scope in targets
        for name in names
    }
    runs = index.runs
    skipped = set()
    carried: dict[Question, ArchivedResponse] = {}
    if not refresh:
        skipped = {question for question in wanted if index.is_answered(question, today.date())}
        where = f"{USABLE} AND {in_list('run', runs.unfinished)} AND fetched_at >= {quoted(today)}"
        for group in groups_of(Snapshot(store, runs.begun), where) if runs.unfinished else ():
            for response in group:
                if (
                    response.question in wanted
                    and response.question not in skipped
                    and response.body
                ):
                    carried[response.question] = response
    left: dict[tuple[Project, Scope], list[str]] = {}
    for question, place in wanted.items():
        if question not in skipped and question not in carried:
            left.setdefault(place, []).append(question[1])
    ordered = sorted(carried.values(), key=lambda a: (a.host, a.scope, a.section))
    groups = [[*group] for _, group in groupby(ordered, key=lambda a: (a.host, a.scope))]
    return AddPlan([(*place, listed) for place, listed in left.items()], groups, len(skipped))


def fetch_groups(
    client: Client, targets: Sequence[tuple[Project, Scope, list[str]]]
) -> Generator[Group]:
    """Ask a service concurrently; the outcomes of each host and scope, in order."""
    calls = [(at, name) for at, (_, _, names) in enumerate(targets) for name in names]

    def ask(call: tuple[int, str]) -> Payload:
        project, scope, _ = targets[call[0]]
        return checked(client, project.fetch(call[1], scope))

    if not calls:
        return
    with closing(in_order(ask, calls, min(client.workers, len(calls)))) as responses:
        for at, group in groupby(responses, key=lambda response: response[0][0]):
            project, scope, _ = targets[at]
            outcomes = [
                ((project.host, name, scope._to_query()), outcome(future.result))
                for (_, name), future in group
            ]
            yield outcomes, None


def outcome(result: Callable[[], Payload]) -> Payload | AAToolkitError:
    """Return the response of a request, or the error that it raises."""
    try:
        return result()
    except AAToolkitError as error:
        return error


def checked(client: Client, payload: Payload) -> Payload:
    """Return a response that does not repeat the token of its request; raise if it does."""
    refuse_token(client._source, payload.body, payload.url, payload.headers)
    return payload
