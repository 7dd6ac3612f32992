"""Workers of an executor: they fetch and normalise, and the coordinator commits.

A task names the service, the host, the scope and the sections, and never the token: a worker takes
that from its environment or the system's key store. A task whose worker died is done by the
coordinator itself.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aatoolkit.archive.add import Group, Outcome, checked, outcome
from aatoolkit.archive.derive import DerivedResponse, derive, derive_many, in_batches
from aatoolkit.client.client import Client
from aatoolkit.errors import AAToolkitError, ArchiveError, ArgumentError
from aatoolkit.payload import Payload
from aatoolkit.scope import Scope
from aatoolkit.sections import Profile

if TYPE_CHECKING:
    from aatoolkit.client.project import Project

_AHEAD = 4
"""How many tasks for each worker are submitted before a result is taken."""

DeriveTask = tuple[int, list[list[Payload]], Profile | None, int]
"""The number of a task, the usable responses of each of its groups, and how they are read."""

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


def fetch_groups(
    client: Client,
    targets: Sequence[tuple[Project, Scope, list[str]]],
    executor: Executor,
    profile: Profile | None,
    max_nodes: int,
) -> Generator[Group]:
    """Have workers ask a service; the groups come as they are done.

    Raises
    ------
    ArgumentError
        If the client does not response from a service of which workers could make their own.
    """
    settings = client._settings
    if settings is None:
        raise ArgumentError(
            "workers cannot replay a study; add without an executor, or give the study itself",
            argument="executor",
        )
    tasks = [
        FetchTask(
            client.base_url,
            tuple(sorted(settings.items())),
            profile,
            max_nodes,
            p.host,
            scope,
            tuple(names),
        )
        for p, scope, names in targets
    ]

    def here(task: FetchTask) -> Group:
        return _fetched(client, task)

    yield from _done(executor, fetch_task, tasks, here)


def fetch_task(task: FetchTask) -> Group:
    """Fetch and normalise in a worker."""
    key = (task.base_url, task.settings)
    if key not in _clients:
        _clients[key] = Client(task.base_url, profile=task.profile, **dict(task.settings))
    return _fetched(_clients[key], task)


def _fetched(client: Client, task: FetchTask) -> Group:
    project = client.project(task.host)
    outcomes: list[Outcome] = []
    for name in task.names:
        got = outcome(lambda name=name: checked(client, project.fetch(name, task.scope)))  # type: ignore[misc]
        outcomes.append(((task.host, name, task.scope._to_query()), got))
    return derived(outcomes, task.profile, task.max_nodes)


def derived(outcomes: list[Outcome], profile: Profile | None, max_nodes: int) -> Group:
    """Pair the outcomes of one host and scope with what is derived of the usable ones."""
    usable = [got for _, got in outcomes if isinstance(got, Payload)]
    return outcomes, derive(usable, profile, max_nodes)


def derive_groups(
    groups: Iterable[Group], executor: Executor, profile: Profile | None, max_nodes: int
) -> Iterator[Group]:
    """Have workers normalise responses that are at hand, those of several groups together."""
    outcomes: dict[int, list[list[Outcome]]] = {}

    def tasks() -> Iterator[DeriveTask]:
        listed = (found for found, _ in groups)
        for number, some in enumerate(in_batches(listed, _size)):
            outcomes[number] = some
            payloads = [[got for _, got in one if isinstance(got, Payload)] for one in some]
            yield number, payloads, profile, max_nodes

    for number, found in _done(executor, derive_task, tasks(), derive_task):
        yield from zip(outcomes.pop(number), found, strict=True)


def _size(pair: Outcome) -> int:
    return len(pair[1].body) if isinstance(pair[1], Payload) else 0


def derive_task(task: DeriveTask) -> tuple[int, list[list[DerivedResponse]]]:
    """Normalise in a worker; the responses themselves do not travel back."""
    number, groups, profile, max_nodes = task
    return number, derive_many(groups, profile, max_nodes)


def _done(executor: Executor, work: Any, tasks: Iterable[Any], here: Any) -> Generator[Any]:
    """The results of tasks as they are done, a bounded number of them at a time."""
    from concurrent.futures import wait

    most = _AHEAD * int(getattr(executor, "_max_workers", 8) or 8)
    running: dict[Any, Any] = {}
    left = iter(tasks)
    orphans: deque[Any] = deque()
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
            for future in _first(running, wait):
                task = running.pop(future)
                try:
                    yield future.result()
                except (BrokenExecutor, CancelledError):
                    is_broken = True
                    orphans.append(task)
                except AAToolkitError:
                    raise
                except Exception as error:
                    if not _is_death(error):
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


def _first(running: Mapping[Any, Any], wait: Any) -> list[Any]:
    """Wait until a future is done, and return those that are."""
    if all(isinstance(future, Future) for future in running):
        return list(wait(running, return_when=FIRST_COMPLETED).done)
    future = next(iter(running))
    return [future]


def _is_death(error: Exception) -> bool:
    """Whether a worker died, as Dask says it."""
    return type(error).__name__ in ("KilledWorker", "FutureCancelledError", "CommClosedError")
