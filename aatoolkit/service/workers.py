"""Bounded, cancellable work: computations in threads, shared by identical requests."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from math import ceil
from typing import Any, Protocol

import anyio
import anyio.to_thread


class Cancelled(Exception):
    """The computation was cancelled, as nobody waits for it any more."""


MAX_WAIT_SECONDS = 20.0
"""How long a computation may be expected to wait for a thread. Clients give up at some time:
rather than wait in vain they learn when to come back."""

_WEIGHT = 1 / 16
"""How much one computation counts in the mean duration."""


class Busy(Exception):
    """Too many computations run and wait already.

    Parameters
    ----------
    seconds
        After how many whole seconds another attempt should succeed.
    """

    def __init__(self, seconds: int = 1) -> None:
        super().__init__(f"busy for {seconds} s")
        self.seconds = seconds


class Interruptible(Protocol):
    """A database cursor whose running query can be interrupted from another thread."""

    def interrupt(self) -> object:
        """Stop the query that is running."""


class Cancellation:
    """The state of a computation that can be cancelled, and its cursors to interrupt."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cursors: list[Interruptible] = []
        self.cancelled = False

    def cancel(self) -> None:
        """Interrupt the running query; whoever checks later raises :class:`Cancelled`."""
        with self._lock:
            self.cancelled = True
            for cursor in self._cursors:
                cursor.interrupt()

    def check(self) -> None:
        """Raise :class:`Cancelled` if the computation was cancelled."""
        if self.cancelled:
            raise Cancelled

    @contextmanager
    def running(self, cursor: Interruptible) -> Iterator[None]:
        """Run a query that is interrupted if the computation is cancelled.

        Raises
        ------
        Cancelled
            In place of whatever the interrupted query raises.
        """
        with self._lock:
            self.check()
            self._cursors.append(cursor)
        try:
            yield
        except Exception:
            self.check()
            raise
        finally:
            with self._lock:
                self._cursors.remove(cursor)


class _Job:
    """One computation and the number of requests that wait for it."""

    def __init__(self) -> None:
        self.cancellation = Cancellation()
        self.waiting = 0
        self.task: asyncio.Task[Any] | None = None


class Workers:
    """A pool of threads for one event loop, with a bounded queue before it.

    Parameters
    ----------
    running
        Computations at the same time.
    waiting
        Computations that may wait for a thread; one more is refused, and so is one that would
        wait longer than `MAX_WAIT_SECONDS` if those before it take as long as recent ones did.
    """

    def __init__(self, running: int, waiting: int) -> None:
        self._limiter = anyio.CapacityLimiter(running)
        self._running = running
        self._most = running + waiting
        self._seconds = 0.0
        self._unfinished: set[asyncio.Task[Any]] = set()
        self._jobs: dict[Hashable, _Job] = {}

    async def run(self, key: Hashable, compute: Callable[[Cancellation], Any]) -> Any:
        """Run a computation, shared with whoever requests the same key meanwhile.

        A computation that nobody waits for any more is cancelled.

        Raises
        ------
        Busy
            If the queue is full, or too long for what each computation takes.
        """
        job = self._jobs.get(key)
        if job is None:
            self._check_queue()
            job = self._jobs[key] = self._start(key, compute)
        assert job.task is not None
        job.waiting += 1
        try:
            return await asyncio.shield(job.task)
        finally:
            job.waiting -= 1
            if not job.waiting and not job.task.done():
                self._forget(key, job)
                job.task.cancel()
                self._interrupt(job.task, job.cancellation)

    def _check_queue(self) -> None:
        count = len(self._unfinished)
        wait = count * self._seconds / self._running
        if count >= self._most or (count > self._running and wait > MAX_WAIT_SECONDS):
            # Those refused together come back spread over the time in which the queue empties.
            raise Busy(max(1, ceil(random.uniform(wait / 2, wait))))

    def _timed(self, compute: Callable[[Cancellation], Any], cancellation: Cancellation) -> Any:
        cancellation.check()
        began = time.monotonic()
        try:
            return compute(cancellation)
        finally:
            spent = time.monotonic() - began
            self._seconds += (spent - self._seconds) * (_WEIGHT if self._seconds else 1)

    def _interrupt(self, task: asyncio.Task[Any], cancellation: Cancellation) -> None:
        """Interrupt a computation repeatedly: an interrupt before a query starts is lost."""
        cancellation.cancel()
        if not task.done():
            asyncio.get_running_loop().call_later(0.05, self._interrupt, task, cancellation)

    def _start(self, key: Hashable, compute: Callable[[Cancellation], Any]) -> _Job:
        job = _Job()
        work = anyio.to_thread.run_sync(
            self._timed, compute, job.cancellation, limiter=self._limiter
        )
        job.task = asyncio.ensure_future(work)
        self._unfinished.add(job.task)

        def finished(task: asyncio.Task[Any]) -> None:
            self._unfinished.discard(task)
            self._forget(key, job)
            if not task.cancelled():
                task.exception()  # where nobody waits any more, nobody else reads it

        job.task.add_done_callback(finished)
        return job

    def _forget(self, key: Hashable, job: _Job) -> None:
        if self._jobs.get(key) is job:
            del self._jobs[key]
