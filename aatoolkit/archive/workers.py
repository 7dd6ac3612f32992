"""Workers of an executor: they fetch and normalise, and the coordinator commits.

A task names the service, the host, the scope and the sections, and never the token: a worker takes
that from its environment or the system's key store. A task whose worker died is done by the
coordinator itself.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future
from dataclasses import dataclass
from typing import Any

from aatoolkit.archive.adding import Group, Outcome, Target, fetched, outcome
from aatoolkit.archive.derive import DerivedResponse, derive
from aatoolkit.client.client import Client
from aatoolkit.errors import AAToolkitError, ArchiveError, ArgumentError
from aatoolkit.payload import Payload
from aatoolkit.scope import Scope
from aatoolkit.sections import Profile

_AHEAD = 4
"""How many tasks for each worker are submitted before a result is taken."""

_TOGETHER_BYTES = 1 << 22
"""Groups of responses are one task until their bodies have so many bytes."""

_clients: dict[Any, Client] = {}
"""The clients of this process, one for each service and setting."""


@dataclass(frozen=True)
class FetchTask:
    """The requests that a worker sends; the task holds no token."""

    base_url: str
    settings: tuple[tuple[str, Any], ...]
    profile: Profile | None
    max_nodes: int
    host: str
    scope: Scope
    names: tuple[str, ...]


@dataclass(frozen=True)
class DeriveTask:
    """The responses that a worker normalises, by group."""

    number: int
    groups: list[list[Payload]]
    profile: Profile | None
    max_nodes: int


def fetch_groups(
    client: Client,
    targets: Sequence[Target],
    executor: Executor,
    profile: Profile | None,
    max_nodes: int,
) -> Generator[Group]:
    """Have workers ask a service; the groups come as they are done.

    Raises
    ------
    ArgumentError
        If the client does not read from a service of which workers could make their own.
    """
    if client._settings is None:
        raise ArgumentError(
            "workers cannot replay a study; add without an executor, or give the study itself",
            argument="executor",
        )
    settings = tuple(sorted(client._settings.items()))
    facts = (client.base_url, settings, profile, max_nodes)
    tasks = [FetchTask(*facts, p.host, scope, tuple(names)) for p, scope, names in targets]
    yield from _done(executor, fetch_task, tasks, lambda task: _fetch(client, task))


def fetch_task(task: FetchTask) -> Group:
    """Fetch and normalise in a worker."""
    key = (task.base_url, task.settings)
    if key not in _clients:
        _clients[key] = Client(task.base_url, profile=task.profile, **dict(task.settings))
    return _fetch(_clients[key], task)


def _fetch(client: Client, task: FetchTask) -> Group:
    project = client.project(task.host)
    outcomes: list[Outcome] = []
    for name in task.names:
        result = outcome(lambda name=name: fetched(client, project, name, task.scope))  # type: ignore[misc]
        outcomes.append(((task.host, name, task.scope._to_query()), result))
    return outcomes, derive(_usable(outcomes), task.profile, task.max_nodes)


def _usable(outcomes: Iterable[Outcome]) -> list[Payload]:
    return [result for _, result in outcomes if isinstance(result, Payload)]


def derive_groups(
    groups: Iterable[Group], executor: Executor, profile: Profile | None, max_nodes: int
) -> Iterator[Group]:
    """Have workers normalise responses that are at hand, those of several groups together."""
    sent: dict[int, list[list[Outcome]]] = {}

    def tasks() -> Iterator[DeriveTask]:
        waiting: list[list[Outcome]] = []
        size = 0
        for outcomes, _ in groups:
            waiting.append(outcomes)
            size += sum(len(payload.body) for payload in _usable(outcomes))
            if size >= _TOGETHER_BYTES:
                yield task(waiting)
                waiting, size = [], 0
        if waiting:
            yield task(waiting)

    def task(waiting: list[list[Outcome]]) -> DeriveTask:
        sent[len(sent)] = waiting
        return DeriveTask(len(sent) - 1, [*map(_usable, waiting)], profile, max_nodes)

    for number, derived in _done(executor, derive_task, tasks(), derive_task):
        yield from zip(sent[number], derived, strict=True)
        sent[number] = []


def derive_task(task: DeriveTask) -> tuple[int, list[list[DerivedResponse]]]:
    """Normalise in a worker; the responses themselves do not travel back."""
    return task.number, [derive(group, task.profile, task.max_nodes) for group in task.groups]


def _done(
    executor: Executor, work: Callable[..., Any], tasks: Iterable[Any], here: Callable[..., Any]
) -> Generator[Any]:
    """The results of tasks as they are done, a bounded number of them at a time."""
    from concurrent.futures import wait

    most = _AHEAD * int(getattr(executor, "_max_workers", 8) or 8)
    running: dict[Any, Any] = {}
    left = iter(tasks)
    orphans: list[Any] = []
    is_broken = False
    try:
        while True:
            while len(running) < most and not is_broken:
                task = next(left, None)
                if task is None:
                    break
                try:
                    running[executor.submit(work, task)] = task
                except (BrokenExecutor, RuntimeError):
                    is_broken = True
                    orphans.append(task)
            if not running:
                break
            # The futures of other packages wait when they are asked for their result.
            done = [next(iter(running))]
            if all(isinstance(future, Future) for future in running):
                done = [*wait(running, return_when=FIRST_COMPLETED).done]
            for future in done:
                task = running.pop(future)
                try:
                    yield future.result()
                except (BrokenExecutor, CancelledError):
                    is_broken = True
                    orphans.append(task)
                except AAToolkitError:
                    raise
                except Exception as error:
                    if type(error).__name__ not in _DEATHS:
                        raise ArchiveError(
                            f"a worker failed ({type(error).__name__}: {error}); its executor "
                            "must be able to import aatoolkit and pickle its results"
                        ) from None
                    orphans.append(task)
        for task in (*orphans, *left):
            yield here(task)
    finally:
        for future in running:
            future.cancel()


_DEATHS = ("KilledWorker", "FutureCancelledError", "CommClosedError")
"""The errors by which Dask says that a worker died."""
