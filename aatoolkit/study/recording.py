"""Stand-ins for a client's fetcher: one that records into a study, and one that replays it."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa

from aatoolkit import __version__
from aatoolkit.client.client import Client
from aatoolkit.errors import (
    DecodeError,
    FetchError,
    NotAuthorized,
    NotCached,
    RateLimited,
    StatusError,
    StudyError,
)
from aatoolkit.jsontree.layout import MAX_NODES
from aatoolkit.payload import Payload, Request
from aatoolkit.sections import Profile
from aatoolkit.sections.profile import ProfileSource
from aatoolkit.study.record import Record

if TYPE_CHECKING:
    from aatoolkit.study.study import Study

_WORKERS = 8
"""Threads that read a replay."""

RERUN_STUDY = "AATOOLKIT_RERUN_STUDY"
"""The environment variable that names the study that this process reruns."""

RERUN_RESULTS = "AATOOLKIT_RERUN_RESULTS"
"""The environment variable that names the folder in which a rerun collects its results."""


def rerun_place(variable: str = RERUN_STUDY) -> Path | None:
    """Return the study that this process reruns; None if it reruns none."""
    place = os.environ.get(variable)
    return Path(place) if place else None


@lru_cache(maxsize=1)
def versions() -> Mapping[str, str]:
    """The versions of the software that records and reads responses."""
    return {
        "aatoolkit": __version__,
        "pandas": pd.__version__,
        "pyarrow": pa.__version__,
        "python": platform.python_version(),
    }


class Recorder:
    """A client's fetcher that stores every response before it returns it.

    Parameters
    ----------
    fetcher
        The fetcher that sends the requests.
    keep
        Called with a record and the bytes of its response.
    max_nodes
        The limit that the responses are read with; a replay reads them with the same.
    """

    def __init__(
        self, fetcher: Any, keep: Callable[[Record, bytes], object], max_nodes: int = MAX_NODES
    ) -> None:
        self._fetcher = fetcher
        self._keep = keep
        self._max_nodes = max_nodes
        self.offline: bool = fetcher.offline
        self.has_token: bool = fetcher.has_token

    def close(self) -> None:
        """Close the connections."""
        self._fetcher.close()

    def get(self, request: Request) -> Payload:
        """Send the request, store the response and return it.

        Raises
        ------
        FetchError
            If there is no usable response; an error about the request itself is stored too.
        DecodeError
            If the response contains the token; it is not stored.
        """
        failure: FetchError | None = None
        try:
            payload: Payload = self._fetcher.get(request)
        except (StatusError, DecodeError) as error:
            failure = error
        if failure is None:
            self._store(Record.of(payload, versions(), self._max_nodes), payload.body)
            return payload
        body = _body_of(failure)
        if body is not None:
            facts = {"url": str(failure.url), "status": int(failure.status or 0)}
            payload = Payload(body, fetched_at=datetime.now(UTC), **facts)  # type: ignore[arg-type]
            self._store(Record.of_error(failure, payload, versions()), body)
        raise failure

    def _store(self, record: Record, body: bytes) -> None:
        text = b"\n".join((body, record.url.encode(), *map(str.encode, record.headers.values())))
        if self._fetcher.repeats_token(text):
            raise DecodeError(
                f"the response to {record.name} contains the token, and was not stored; tell the "
                "operator of the service, and have the token replaced",
                problem="token",
            )
        self._keep(record, body)


def _body_of(error: FetchError) -> bytes | None:
    """Return the body of an error about the request itself; None for other errors."""
    if isinstance(error, StatusError):
        is_about_the_call = isinstance(error, NotAuthorized | RateLimited)
        is_redirect = 300 <= (error.status or 0) < 400
        return None if is_about_the_call or is_redirect else error.body or b""
    return b"" if getattr(error, "problem", None) == "empty" else None


class Replay:
    """A client's fetcher that answers from a study and never uses the network.

    Parameters
    ----------
    study
        The study that holds the responses.
    base_url
        The service whose responses are replayed.
    records
        The records to response with, at most one for each request.
    """

    def __init__(self, study: Study, base_url: str, records: Iterable[Record]) -> None:
        self.offline = True
        self.has_token = False
        self._base_url = base_url
        self._study = study
        self._records = {record.request.key: record for record in records}

    def get(self, request: Request) -> Payload:
        """Return the recorded response; ``refresh`` and its age are ignored.

        Raises
        ------
        FetchError
            The recorded error, or `NotCached` if the request was not recorded.
        StudyError
            If the response is missing or is not what was recorded.
        """
        request = request.at(self._base_url)
        record = self._records.get(request.key)
        if record is None:
            near = self._nearest(request)
            hint = f"; the nearest recorded request is {near.name}" if near else ""
            raise NotCached(
                f"this request was not recorded in {self._study.path}{hint}",
                url=request.url,
                section=request.section,
                scope=request.scope,
                nearest=near.name if near else None,
            )
        body = self._study._response(record)
        error = record.to_error(body)
        if error is not None:
            raise error
        return record.payload(body)

    def close(self) -> None:
        """Do nothing: no connection is open."""

    def _nearest(self, request: Request) -> Record | None:
        """Find the record whose request differs least."""
        params = request.params

        def distance(record: Record) -> tuple[int, ...]:
            own = record.request
            differing = sum(
                params.get(name) != own.params.get(name)
                for name in {*params, *own.params} - {"refresh"}
            )
            return (
                own.host != request.host,
                own.resource != request.resource,
                own.section != request.section,
                differing,
            )

        return min(self._records.values(), key=distance, default=None)


def replaying_client(
    study: Study,
    base_url: str | None,
    host: str | None = None,
    profile: ProfileSource | None = None,
) -> Client:
    """Make a client that replays the records of one service."""
    records = study._current
    services = {record.base_url for record in records if host in (None, record.host)}
    if base_url is not None:
        services = {base_url.rstrip("/")}
    if len(services) != 1:
        raise StudyError(
            f"the study at {study.path} holds responses of "
            f"{', '.join(sorted(services)) or 'no service'}; choose one with base_url=",
            path=str(study.path),
        )
    (service,) = services
    own = [record for record in records if record.base_url == service]
    max_nodes = max((record.max_nodes for record in own), default=MAX_NODES)
    known = study._profiles.get(service) if profile is None else Profile.load(profile)
    source = Replay(study, service, own)
    return Client._from_source(source, service, _WORKERS, known, max_nodes)
