"""Replay: answer requests from a study instead of a service."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from aatoolkit.client.client import Client
from aatoolkit.errors import NotCached, StudyError
from aatoolkit.jsontree.layout import MAX_NODES
from aatoolkit.payload import Payload, Request
from aatoolkit.sections import Profile
from aatoolkit.sections.profile import ProfileSource
from aatoolkit.study.record import Record, request_key

if TYPE_CHECKING:
    from aatoolkit.study.reader import StudyReader

_WORKERS = 8
"""Threads that read a replay."""


class Replay:
    """A client's fetcher that answers from a study and never uses the network.

    Parameters
    ----------
    study
        The study that holds the answers.
    base_url
        The service whose answers are replayed.
    records
        The records to answer with, at most one for each request.
    """

    def __init__(self, study: StudyReader, base_url: str, records: Iterable[Record]) -> None:
        self.offline = True
        self.has_token = False
        self._base_url = base_url
        self._study = study
        self._records = {record.request_key: record for record in records}

    def get(self, request: Request) -> Payload:
        """Return the recorded answer; ``refresh`` and the age of the answer are ignored.

        Raises
        ------
        FetchError
            The recorded error, or `NotCached` if the request was not recorded.
        StudyError
            If the answer is missing or is not what was recorded.
        """
        key = request_key(self._base_url, request.host, request.resource, request.params)
        record = self._records.get(key)
        if record is None:
            near = self._nearest(request)
            hint = f"; the nearest recorded request is {near.name}" if near else ""
            raise NotCached(
                f"this request was not recorded in {self._study.path}{hint}",
                url=request.at(self._base_url).url,
                section=request.section,
                scope=request.scope,
                nearest=near.name if near else None,
            )
        body = self._study.answer(record)
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
            names = {*params, *record.params} - {"refresh"}
            differ = sum(params.get(name) != record.params.get(name) for name in names)
            same_section = record.section == params.get("section")
            same_host, same_resource = (
                record.host == request.host,
                record.resource == request.resource,
            )
            return not same_host, not same_resource, not same_section, differ

        return min(self._records.values(), key=distance, default=None)


def replaying_client(
    study: StudyReader,
    base_url: str | None,
    host: str | None = None,
    profile: ProfileSource | None = None,
) -> Client:
    """Make a client that replays the records of one service."""
    records = study.current
    services = {record.base_url for record in records if host in (None, record.host)}
    if base_url is not None:
        services = {base_url.rstrip("/")}
    if len(services) != 1:
        raise StudyError(
            f"the study at {study.path} holds answers of "
            f"{', '.join(sorted(services)) or 'no service'}; choose one with base_url=",
            path=str(study.path),
        )
    (service,) = services
    own = [record for record in records if record.base_url == service]
    max_nodes = max((record.max_nodes for record in own), default=MAX_NODES)
    known = study.profiles.get(service) if profile is None else Profile.load(profile)
    source = Replay(study, service, own)
    return Client._from_source(source, service, _WORKERS, known, max_nodes)
