"""Workers of an executor: they fetch and normalise, and the coordinator commits.

A task names the service, the host, the scope and the sections, and never the token: a worker takes
that from its environment or the system's key store. A task whose worker died is done by the
coordinator itself.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future
from concurrent.futures import wait as wait_for
from typing import Any

from aatoolkit.archive.adding import Group, Target, fetched, outcome, outcomes_of
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

_DEATHS = ("KilledWorker", "FutureCancelledError", "CommClosedError")
"""The errors by which Dask says that a worker died."""

_clients: dict[Any, Client] = {}
"""The clients of this process, one for each service and setting."""

Reading = tuple[Profile | None, int]
"""The profile, and the number of different paths that are read in a response."""


def fetch_groups(
    client: Client, targets: Sequence[Target], executor: Executor, reading: Reading
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
    service = (client.base_url, tuple(sorted(client._settings.items())))
    tasks = ((service, reading, p.host, scope, names) for p, scope, names in targets)
    for _, group in _done(executor, fetch_task, tasks, lambda _, *task: _fetch(client, *task)):
        yield group


def fetch_task(service: Any, *task: Any) -> Group:
    """Fetch and normalise in a worker."""
    if service not in _clients:
        _clients[service] = Client(service[0], profile=task[0][0], **dict(service[1]))
    return _fetch(_clients[service], *task)


def _fetch(client: Client, reading: Reading, host: str, scope: Scope, names: list[str]) -> Group:
    project = client.project(host)
    results = [outcome(lambda name=name: fetched(client, project, name, scope)) for name in names]  # type: ignore[misc]
    outcomes = [
        ((host, name, scope._to_query()), result)
        for name, result in zip(names, results, strict=True)
    ]
    usable = [result for result in results if isinstance(result, Payload)]
    return outcomes, derive(usable, *reading)


def derive_groups(
    groups: Iterable[list[Payload]], executor: Executor, reading: Reading
) -> Iterator[Group]:
    """Have workers normalise responses that are at hand, those of several groups together."""

    def tasks() -> Iterator[tuple[Any, ...]]:
        waiting: list[list[Payload]] = []
        size = 0
        for group in groups:
            waiting.append(group)
            size += sum(len(payload.body) for payload in group)
            if size >= _TOGETHER_BYTES:
                yield waiting, *reading
                waiting, size = [], 0
        if waiting:
            yield waiting, *reading

    for (payloads, *_), derived in _done(executor, derive_task, tasks(), derive_task):
        yield from zip(map(outcomes_of, payloads), derived, strict=True)


def derive_task(groups: list[list[Payload]], *reading: Any) -> list[list[DerivedResponse]]:
    """Normalise in a worker; the responses themselves do not travel back."""
    return [derive(group, *reading) for group in groups]


def _done(
    executor: Executor,
    work: Callable[..., Any],
    tasks: Iterable[tuple[Any, ...]],
    here: Callable[..., Any],
) -> Generator[tuple[tuple[Any, ...], Any]]:
    """Tasks with their results as they are done, a bounded number of them at a time."""
    most = _AHEAD * int(getattr(executor, "_max_workers", 8) or 8)
    running: dict[Any, tuple[Any, ...]] = {}
    left = iter(tasks)
    orphans: list[tuple[Any, ...]] = []
    is_broken = False
    try:
        while True:
            while len(running) < most and not is_broken:
                task = next(left, None)
                if task is None:
                    break
                try:
                    running[executor.submit(work, *task)] = task
                except (BrokenExecutor, RuntimeError):
                    is_broken = True
                    orphans.append(task)
            if not running:
                break
            # The futures of other packages wait when they are asked for their result.
            done: Iterable[Any] = [next(iter(running))]
            if all(isinstance(future, Future) for future in running):
                done = wait_for(running, return_when=FIRST_COMPLETED).done
            for future in done:
                task = running.pop(future)
                try:
                    yield task, future.result()
                except AAToolkitError:
                    raise
                except Exception as error:
                    is_broken = is_broken or isinstance(error, BrokenExecutor | CancelledError)
                    if not is_broken and type(error).__name__ not in _DEATHS:
                        raise ArchiveError(
                            f"a worker failed ({type(error).__name__}: {error}); its executor "
                            "must be able to import aatoolkit and pickle its results"
                        ) from None
                    orphans.append(task)
        for task in (*orphans, *left):
            yield task, here(*task)
    finally:
        for future in running:
            future.cancel()
