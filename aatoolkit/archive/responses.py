"""An archive as a store of responses: what was asked is looked up, and whatever comes is added."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from aatoolkit.archive.archived import RESPONSES, USABLE, ArchivedResponse, groups_of
from aatoolkit.archive.checksums import Checksums
from aatoolkit.archive.runs import RUNS
from aatoolkit.archive.snapshot import Snapshot, in_list
from aatoolkit.errors import AAToolkitWarning, ArchiveError
from aatoolkit.payload import Payload, Request, Response
from aatoolkit.scope import Scope
from aatoolkit.sections.profile import SCOPE_OPTIONS
from aatoolkit.study.recording import response_of

if TYPE_CHECKING:
    from aatoolkit.archive.archive import Archive


class ArchiveResponses:
    """An archive as a `aatoolkit.payload.ResponseStore`.

    Parameters
    ----------
    archive : Archive
        The archive.
    """

    def __init__(self, archive: Archive) -> None:
        self._archive, self._store = archive, archive._store
        self._checked: tuple[int, ...] = ()
        self._lock = threading.Lock()

    def get(self, request: Request) -> Response | None:
        """Return the latest usable response to a request, or None."""
        return self._latest(f"{USABLE} AND {in_list('host', [request.host])}").get(request.key)

    def put(self, response: Response) -> None:
        """Add a response, in a run of its own."""
        payload = Payload._of(response)
        if payload.section is None:
            payload = replace(payload, section=SCOPE_OPTIONS, scope=payload.scope or Scope())
        with self._lock, warnings.catch_warnings():  # runs of one process need not meet
            # What a body lacks is said when it is read.
            warnings.simplefilter("ignore", AAToolkitWarning)
            self._archive.add([payload], progress=False)

    def __iter__(self) -> Iterator[Response]:
        """Yield the latest usable response to each request."""
        yield from self._latest().values()

    def verify(self) -> list[str]:
        """Return a sentence for each problem."""
        if not Snapshot(self._store).exists:
            return []
        return [": ".join(problem) for problem in self._archive.verify().found]

    def _latest(self, where: str = USABLE) -> dict[tuple[str, ...], Response]:
        with self._store.typed():
            snapshot = Snapshot(self._store)
            if not snapshot.exists or not snapshot.has(RESPONSES):
                return {}
            self._check()
            rows = [row for group in groups_of(snapshot, where) for row in group]
            rows.sort(key=lambda row: (row.fetched_at, row.run))
            return {response.key: response for response in map(_response, rows)}

    def _check(self) -> None:
        """Raise if the files that responses are read from are not what was written."""
        tables = (RUNS, RESPONSES)
        versions = tuple(self._store.peek(name).version() for name in tables)  # type: ignore[union-attr]
        if versions == self._checked:
            return
        checksums = Checksums(self._store)
        for name in tables:
            for problem in checksums.problems(name):
                raise ArchiveError(f"{name}: {problem}", path=self._store.root)
        self._checked = versions


def _response(row: ArchivedResponse) -> Response:
    return response_of(row.payload())
