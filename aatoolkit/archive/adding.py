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
from aatoolkit._util.text import visible, wrapped_in_ipython
from aatoolkit.archive.derive import DerivedResponse, derive
from aatoolkit.archive.responses import (
    USABLE,
    ArchivedResponse,
    Question,
    ResponseIndex,
    groups_of,
)
from aatoolkit.archive.snapshot import Snapshot, in_list, quoted
from aatoolkit.archive.store import ArchiveStore
from aatoolkit.archive.writing import RunWriter
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

Target = tuple["Project", Scope, list[str]]
"""The requests to send of a project and scope: its sections."""


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
        The requests that had a response of today already.
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

        places: list[tuple[Any, AAToolkitError]] = [*self.failed.items()]
        places += [((None, name, None), error) for name, error in self.problems.items()]
        rows = [(*place, type(error).__name__, str(error)) for place, error in places]
        names = ["host", "section", "scope", "error", "message"]
        return pd.DataFrame(rows, columns=names, dtype="string")

    def __repr__(self) -> str:
        parts = {
            "of them fetched by an unfinished run": self.resumed,
            "there already today": self.skipped,
            "failed": len(self.failed),
            "stored as responses only": len(self.problems),
        }
        counts = [f"{count} {words}" for words, count in parts.items() if count]
        lines = [f"<AddReport: {', '.join([f'{self.responses} responses added', *counts])}>"]
        failures = [(" ".join(request), error) for request, error in self.failed.items()]
        failures += [*self.problems.items()]
        lines += [f"  {visible(name)}: {visible(str(error))}" for name, error in failures[:5]]
        lines += [f"  … {len(failures) - 5} more (see .failures)"] if len(failures) > 5 else []
        return "\n".join(lines)

    _repr_pretty_ = wrapped_in_ipython


class Adder:
    """Adds the responses of some source to an archive, in one run.

    Parameters
    ----------
    store
        The archive.
    profile
        What is known of the service.
    max_nodes
        The number of different paths that are read in a response.
    """

    def __init__(
        self, store: ArchiveStore, profile: Profile | None, max_nodes: int = MAX_NODES
    ) -> None:
        self._store, self._profile, self._max_nodes = store, profile, max_nodes
        self._failed: dict[Question, AAToolkitError] = {}
        self._waiting: list[Group] = []
        self._put_at = time.monotonic()
        self._writer: RunWriter | None = None

    def _derive(self, responses: Sequence[ArchivedResponse]) -> list[DerivedResponse]:
        payloads = [response.payload() for response in responses]
        return derive(payloads, self._profile, self._max_nodes)

    def add(
        self,
        groups: Iterable[Group],
        index: ResponseIndex,
        *,
        progress: bool | None = None,
        total: int = 0,
        resumed: Iterable[list[ArchivedResponse]] = (),
        skipped: int = 0,
    ) -> AddReport:
        """Store groups of outcomes as they come, derive their tables and commit the run."""
        carried = 0
        for rows in resumed:
            carried += len(rows)
            self._take(([(row.question, row.payload()) for row in rows], None), index)
        for group in progress_bar(groups, progress, total=total, unit="host"):
            self._take(group, index)
        self._store_waiting(index)
        writer = self._writer
        if writer is None:
            return AddReport(None, 0, 0, skipped, self._failed)
        run = writer.commit()
        return AddReport(run, writer.responses, carried, skipped, self._failed, writer.problems)

    def _take(self, group: Group, index: ResponseIndex) -> None:
        refused = [error for _, error in group[0] if isinstance(error, NotAuthorized)]
        is_first = self._writer is None and not self._waiting
        if is_first and refused and len(refused) == len(group[0]):
            raise refused[0]
        self._waiting.append(group)
        outcomes = [result for listed, _ in self._waiting for _, result in listed]
        size = sum(len(result.body) for result in outcomes if isinstance(result, Payload))
        is_late = time.monotonic() - self._put_at > PUT_SECONDS
        if len(outcomes) >= PUT_RESPONSES or size >= PUT_BYTES or is_late:
            self._store_waiting(index)

    def _store_waiting(self, index: ResponseIndex) -> None:
        """Store the responses at hand, and then take their tables."""
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        writer = self._writer = self._writer or RunWriter(self._store, index, self._derive)
        now = datetime.now(UTC)
        rows: list[ArchivedResponse] = []
        usable: list[list[ArchivedResponse]] = [[] for _ in waiting]
        for (outcomes, _), listed in zip(waiting, usable, strict=True):
            for question, result in outcomes:
                if isinstance(result, Payload):
                    listed.append(ArchivedResponse.of(writer.run, result))
                    rows.append(listed[-1])
                else:
                    self._failed[question] = result
                    rows.append(ArchivedResponse.of_error(writer.run, question, result, now))
        fresh = {row.identity: row for row in writer.put(rows) if row.error is None}
        for (_, derived), listed in zip(waiting, usable, strict=True):
            kept = [fresh.pop(row.identity, None) for row in listed]
            if any(kept):
                tables = self._derive(listed) if derived is None else derived
                pairs = [(row, made) for row, made in zip(kept, tables, strict=True) if row]
                writer.take([row for row, _ in pairs], [made for _, made in pairs])
        self._put_at = time.monotonic()


# --- what groups are made of ------------------------------------------------------------------


def payloads_of(source: Any) -> Iterator[Payload]:
    """The responses that a study or something iterable gives.

    Raises
    ------
    ScopeError
        If it gives anything else, or the host of one is not a domain.
    """
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
    """Responses at hand, those of one host, scope and day together if they follow each other."""
    for _, group in groupby(payloads, key=lambda p: (p.host, p.scope, p.fetched_at.date())):
        yield (
            [
                ((str(p.host), str(p.section), p.scope._to_query() if p.scope else ""), p)
                for p in group
            ],
            None,
        )


def plan(
    store: ArchiveStore,
    index: ResponseIndex,
    places: Sequence[tuple[Project, Scope]],
    names: Sequence[str],
    *,
    refresh: bool,
) -> tuple[list[Target], list[list[ArchivedResponse]], int]:
    """The requests to send, what an unfinished run has fetched of them, and how many are skipped.

    Those that have a response of today are not sent again.
    """
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    wanted = {
        (project.host, name, scope._to_query()): (project, scope)
        for project, scope in places
        for name in names
    }
    unfinished = index.runs.unfinished
    skipped: set[Question] = set()
    carried: dict[Question, ArchivedResponse] = {}
    if not refresh:
        skipped = {question for question in wanted if index.is_archived(question, today.date())}
        where = f"{USABLE} AND {in_list('run', unfinished)} AND fetched_at >= {quoted(today)}"
        for group in groups_of(Snapshot(store, index.runs.begun), where) if unfinished else ():
            carried |= {row.question: row for row in group if row.body is not None}
        carried = {q: row for q, row in carried.items() if q in wanted and q not in skipped}
    left: dict[tuple[Project, Scope], list[str]] = {}
    for question, place in wanted.items():
        if question not in skipped and question not in carried:
            left.setdefault(place, []).append(question[1])
    ordered = sorted(carried.values(), key=lambda row: (row.host, row.scope, row.section))
    groups = [[*group] for _, group in groupby(ordered, key=lambda row: (row.host, row.scope))]
    return [(*place, listed) for place, listed in left.items()], groups, len(skipped)


def fetch_groups(client: Client, targets: Sequence[Target]) -> Generator[Group]:
    """Ask a service concurrently; the outcomes of each host and scope, in order."""
    calls = [(at, name) for at, (_, _, names) in enumerate(targets) for name in names]

    def ask(call: tuple[int, str]) -> Payload:
        project, scope, _ = targets[call[0]]
        return fetched(client, project, call[1], scope)

    if not calls:
        return
    with closing(in_order(ask, calls, min(client.workers, len(calls)))) as results:
        for at, group in groupby(results, key=lambda result: result[0][0]):
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


def fetched(client: Client, project: Project, name: str, scope: Scope) -> Payload:
    """Fetch a response; raise DecodeError if it repeats the token of its request."""
    payload = project.fetch(name, scope)
    refuse_token(client._source, payload.body, payload.url, payload.headers)
    return payload
