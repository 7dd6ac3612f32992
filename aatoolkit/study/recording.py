"""Record the responses of clients into a study, replay them, and derive their tables."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aatoolkit.client.client import Client
from aatoolkit.client.dataset import Dataset
from aatoolkit.client.reading import ReadingOptions, read_combined
from aatoolkit.errors import (
    AAToolkitError,
    DecodeError,
    FetchError,
    NotAuthorized,
    NotCached,
    RateLimited,
    ScopeError,
    StatusError,
    StudyError,
    find_near_matches,
    item_not_found,
    suggest_names,
)
from aatoolkit.metadata.column import Source
from aatoolkit.metadata.table_hash import logical_hash
from aatoolkit.normalizer.normalize import normalize
from aatoolkit.normalizer.tables import LoadedResponse, Tables, call_without_warnings
from aatoolkit.payload import Payload, Request, Response
from aatoolkit.scope import Scope
from aatoolkit.sections import Profile
from aatoolkit.sections.profile import SCOPE_OPTIONS, ProfileSource
from aatoolkit.sections.profile_json import dump_profile, load_profile
from aatoolkit.study.files import (
    JsonObject,
    Record,
    StudyWriter,
    format_json,
    parse_json,
    parse_request_url,
)

if TYPE_CHECKING:
    from aatoolkit.study.study import Study

_REPLAY_WORKERS = 8
"""The number of threads in which a client reads recorded responses."""

RERUN_STUDY_ENV = "AATOOLKIT_RERUN_STUDY"
"""The environment variable with the path of the study that a rerun of a notebook reads from."""

RERUN_RESULTS_ENV = "AATOOLKIT_RERUN_RESULTS"
"""The environment variable with the path of the folder to which a rerun writes its results."""


def read_rerun_path(variable_name: str = RERUN_STUDY_ENV) -> Path | None:
    """Return the path in an environment variable that is set only in a rerun of a notebook.

    The result is None if this process reruns no notebook.
    """
    folder_text = os.environ.get(variable_name)
    return Path(folder_text) if folder_text else None


class Recorder:
    """Fetches responses for a client, and stores each response in a study before returning it.

    ``fetcher`` sends the requests, and ``writer`` appends the responses to the study.
    """

    def __init__(self, fetcher: Any, writer: StudyWriter) -> None:
        self._fetcher = fetcher
        self._writer = writer
        self.offline: bool = fetcher.offline
        self.has_token: bool = fetcher.has_token
        self.close = fetcher.close

    def get(self, request: Request) -> Payload:
        """Fetch the response to a request, store it and return it."""
        # Most error responses are stored too; see `_find_recordable_body`.
        try:
            payload: Payload = self._fetcher.get(request)
        except (StatusError, DecodeError) as error:
            body = _find_recordable_body(error)
            if body is not None:
                retry_after = getattr(error, "retry_after", None)
                headers = {} if retry_after is None else {"retry-after": str(retry_after)}
                sent_request = parse_request_url(str(error.url))
                status = int(error.status or 0)
                response = Response(sent_request, status, headers, datetime.now(UTC), body)
                self._store_response(response, error=type(error).__name__)
            raise
        self._store_response(payload_to_response(payload), stale=payload.stale)
        return payload

    def _store_response(self, response: Response, **record_fields: Any) -> None:
        """Store a response in the study; raise `DecodeError` if it contains the client's token.

        The keyword arguments are the fields ``stale`` and ``error`` of the stored `Record`.
        """
        refuse_leaked_token(self._fetcher, response.body, response.request.url, response.headers)
        self._writer.append(Record.from_response(response, **record_fields), response.body)


def payload_to_response(payload: Payload) -> Response:
    """Convert a response from the form that clients return to the form that is stored."""
    request = parse_request_url(payload.url)
    return Response(request, payload.status, payload.headers, payload.fetched_at, payload.body)


def refuse_leaked_token(response_source: Any, body: bytes, url: str, headers: Any) -> None:
    """Raise `DecodeError` if a response contains the client's access token.

    ``response_source`` is the object from which the client gets responses, such as a `Fetcher`,
    which knows the token. ``body``, ``url`` and ``headers`` are those of the response.
    """
    contains_token = getattr(response_source, "contains_token", None)
    checked_bytes = b"\n".join((body, url.encode(), *map(str.encode, headers.values())))
    if contains_token is not None and contains_token(checked_bytes):
        raise DecodeError(
            "a response contains the token, and was not stored; tell the operator of the service, "
            "and have the token replaced",
            problem="token",
            url=url,
        )


def _find_recordable_body(error: FetchError) -> bytes | None:
    """Return the body of an error response, to record it; None if it must not be recorded."""
    # Not recorded are errors about the token or the rate limit, redirects, and bodies that cannot
    # be decoded, except empty ones.
    if isinstance(error, StatusError):
        is_client_specific = isinstance(error, NotAuthorized | RateLimited)
        is_redirect = 300 <= (error.status or 0) < 400
        return None if is_client_specific or is_redirect else error.body or b""
    return b"" if getattr(error, "problem", None) == "empty" else None


class ReplaySource:
    """A source of responses for a client: the recorded responses of a study, without a network."""

    offline = True
    has_token = False

    def __init__(self, study: Study, base_url: str, records: Iterable[Record]) -> None:
        self._study = study
        self._base_url = base_url
        self._records = {record.request.key: record for record in records}

    def get(self, request: Request) -> Payload:
        """Return the recorded response to a request, or raise the error that was recorded."""
        request = request.with_base_url(self._base_url)
        record = self._records.get(request.key)
        if record is None:
            nearest_record = min(
                self._records.values(),
                key=lambda record: request.distance(record.request),
                default=None,
            )
            hint = (
                f"; the nearest recorded request is {nearest_record.name}" if nearest_record else ""
            )
            raise NotCached(
                f"this request was not recorded in {self._study.path}{hint}",
                url=request.url,
                section=request.section,
                scope=request.scope,
                nearest=nearest_record.name if nearest_record else None,
            )
        return self._study._read_payload(record)

    def close(self) -> None:
        """Do nothing, as no connection is open."""


def make_replaying_client(
    study: Study,
    base_url: str | None,
    host: str | None = None,
    profile: ProfileSource | None = None,
) -> Client:
    """Create a client that reads recorded responses from a study instead of a service.

    ``base_url`` selects the service if the study has responses of several. ``profile`` replaces the
    recorded declarations of the columns.
    """
    records = study._current_records
    base_urls = {record.base_url for record in records if host in (None, record.host)}
    if base_url is not None:
        base_urls = {base_url.rstrip("/")}
    if len(base_urls) != 1:
        raise StudyError(
            f"the study at {study.path} holds responses of "
            f"{', '.join(sorted(base_urls)) or 'no service'}; choose one with base_url=",
            path=study.path,
        )
    (service_url,) = base_urls
    service_profile = (
        study._profile_by_url.get(service_url) if profile is None else Profile.load(profile)
    )
    replay_source = ReplaySource(
        study, service_url, (record for record in records if record.base_url == service_url)
    )
    return Client._from_source(replay_source, service_url, _REPLAY_WORKERS, service_profile)


# -- responses as tables ------------------------------------------------------------------------

TableHashes = dict[str, tuple[int, str]]
"""Of one response, the number of rows and the hash of each table, by ``section.table``."""


def payload_to_dataset(payload: Payload, reading_options: ReadingOptions) -> Dataset:
    """Convert a response to tables, and return them as a dataset (a mapping by section).

    ``reading_options`` say how responses are converted, for example by which declarations.
    """
    section_name = payload.section
    if payload.scope is None or section_name == SCOPE_OPTIONS:
        section_name = SCOPE_OPTIONS
        if reading_options.profile is not None and section_name not in reading_options.profile:
            reading_options = replace(
                reading_options, profile=None
            )  # profiles can leave them undeclared
    if section_name is None:
        return read_combined(payload, reading_options)
    return Dataset({section_name: normalize(section_name, payload, **vars(reading_options))})


def read_usable_tables(study: Study, record: Record) -> Dataset:
    """Return the tables of a recorded response as a dataset, by section.

    The dataset is empty if the response is an error or cannot be converted.
    """
    try:
        return call_without_warnings(study.tables, record)
    except StudyError:
        raise
    except AAToolkitError:
        return Dataset({})


# -- hashes and profiles -----------------------------------------------------------------------


def hash_tables(dataset: Dataset) -> TableHashes:
    """Return the row count and the hash of each table of a dataset, by ``section.table``."""
    return {
        f"{section_name}.{table_name}": (tables.rows[table_name], logical_hash(tables[table_name]))
        for section_name, tables in dataset.items()
        for table_name in tables
    }


def format_table_hashes(
    table_hash_dicts: Iterable[TableHashes], versions: Mapping[str, str]
) -> bytes:
    """Return the content of the file ``tables.json``: the hashes of the tables of each response.

    ``table_hash_dicts`` has one dict per response. ``versions`` are the versions of the software
    that converted the responses to tables.
    """
    section_dicts = []
    for hash_by_table in table_hash_dicts:
        entries_by_section: dict[str, JsonObject] = {}
        for full_table_name, (row_count, table_hash) in hash_by_table.items():
            section_name, _, table_name = full_table_name.partition(".")
            entries_by_section.setdefault(section_name, {})[table_name] = {
                "rows": row_count,
                "hash": table_hash,
            }
        section_dicts.append(entries_by_section)
    return format_json("tables", read_with=versions, records=section_dicts)


def parse_table_hashes(json_bytes: bytes) -> list[TableHashes]:
    """Parse ``tables.json`` to a list with one dict of hashes per response; [] if it is damaged."""

    def read_hashes(document: Any) -> list[TableHashes]:
        return [
            {
                f"{section_name}.{table_name}": (int(entry["rows"]), str(entry["hash"]))
                for section_name, entry_by_table in entries_by_section.items()
                for table_name, entry in entry_by_table.items()
            }
            for entries_by_section in document["records"]
        ]

    return parse_json(json_bytes, read_hashes) or []


def format_profiles(profile_by_url: Mapping[str, Profile]) -> bytes:
    """Return the content of the file ``profiles.json`` from a dict of profiles by base URL.

    A profile has the declarations of the columns in the responses of a service.
    """
    profile_json_by_url = {
        base_url: dump_profile(profile) for base_url, profile in profile_by_url.items()
    }
    return format_json("profiles", profiles=profile_json_by_url)


def parse_profiles(json_bytes: bytes) -> Mapping[str, Profile]:
    """Parse ``profiles.json`` to a dict of profiles by base URL; empty if it is damaged.

    A profile has the declarations of the columns in the responses of a service.
    """
    return (
        parse_json(
            json_bytes,
            lambda document: {
                str(base_url): load_profile(profile)
                for base_url, profile in document["profiles"].items()
            },
            "profiles",
        )
        or {}
    )


# -- responses for explanations ----------------------------------------------------------------


def find_stored_responses(study: Study, source: Source) -> Iterator[LoadedResponse]:
    """Yield the recorded responses that ``source`` may mean.

    A `Source` in the metadata of a DataFrame describes the response that its data came from.
    """
    # They have its hash or, without a hash, its host, section and filters. Responses with all
    # sections come last: their tables must be derived to compare the hash of a section.
    for record in sorted(study.records, key=lambda record: record.section is None):
        scope_query = record.scope._to_query() if record.scope else None
        if source.sha256 is None:
            is_same_request = (record.host, record.section) == (source.host, source.section)
            is_match = is_same_request and source.scope in (None, scope_query)
        else:
            is_combined = (
                bool(scope_query) and record.section is None and record.host == source.host
            )
            is_match = record.sha256 == source.sha256 or is_combined
        if record.error is not None or not is_match:
            continue
        reading_options = study._find_reading_options(record)
        dataset = call_without_warnings(
            payload_to_dataset, study._read_payload(record), reading_options
        )
        tables = dataset.get(source.section or "")
        payload = None if tables is None else tables.payload
        if payload is not None and payload.sha256 == (source.sha256 or record.sha256):
            yield LoadedResponse(source, payload, lambda _, tables=tables: tables)  # type: ignore[misc]


def find_recorded_tables(study: Study, table: str, host: str | None, scope: Scope | None) -> Tables:
    """Return the tables of the only recorded response that has a table of the name ``table``.

    The name may include the section, as ``section.table``. ``host`` and ``scope`` (the filters)
    select one of several responses. Raise `ScopeError` if no or several responses have the table.
    """
    requested_section_name, _, requested_table_name = table.rpartition(".")
    hosts = sorted({record.host for record in study._current_records if record.host})
    if host is not None and host not in hosts:
        raise item_not_found("host", host, hosts)
    known_table_names: list[str] = []
    tables_by_description = {}
    for record in study._current_records:
        is_selected = host in (None, record.host) and scope in (None, record.scope)
        if not is_selected or (
            requested_section_name and record.section not in (None, requested_section_name)
        ):
            continue
        for section_name, tables in read_usable_tables(study, record).items():
            known_table_names += (
                *tables,
                *(f"{section_name}.{table_name}" for table_name in tables),
            )
            if requested_table_name in tables and requested_section_name in ("", section_name):
                filters_text = record.scope._to_query() if record.scope else "no filters"
                tables_by_description[f"host {record.host}, {filters_text}, {section_name}"] = (
                    tables
                )
    if len(tables_by_description) == 1:
        return next(iter(tables_by_description.values()))
    if tables_by_description:
        examples_text = "; ".join([*tables_by_description][:5])
        table_count = len(tables_by_description)
        message = (
            f"{table_count} responses have a table {requested_table_name}: "
            f"name host and scope ({examples_text})"
        )
    else:
        names_with_ending = [
            known_name
            for known_name in known_table_names
            if known_name.endswith(requested_table_name)
        ]
        hint = suggest_names(find_near_matches(table, known_table_names) or names_with_ending[:3])
        filters_text = f" with {scope!r}" if scope else ""
        message = f"no response{filters_text} of this study has a table {table!r}"
        message += hint and f"; {hint}"
    raise ScopeError(message, parameter="table", unknown=(table,))
