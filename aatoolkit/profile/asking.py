"""Send requests to a service; the tables in its JSON are guessed from the responses."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from aatoolkit import sections
from aatoolkit._util.lexicon import fold, tokens, words_of
from aatoolkit.availability.detect.words import STRONG, read_object_availability
from aatoolkit.availability.status import EMPTY, UNKNOWN, Cause
from aatoolkit.client.options import read_scope_options
from aatoolkit.client.reading import progress_bar, run_in_order
from aatoolkit.errors import AAToolkitError, NotAuthorized, NotVisible
from aatoolkit.jsontree.paths import Field, list_leaf_paths_and_texts
from aatoolkit.payload import Payload, Request
from aatoolkit.profile.response_values import find_value_at
from aatoolkit.scope import FILTERS, Scope
from aatoolkit.sections.column import to_snake_case
from aatoolkit.sections.inference.words import STEMS_BY_FILTER, iter_named_values
from aatoolkit.sections.profile import SCOPE_OPTIONS
from aatoolkit.sections.section import Section

if TYPE_CHECKING:
    from aatoolkit.client.client import Project


_OPTIONS_SECTION = "scope-options"
_MIN_VALUE_OVERLAP = 0.95
_MAX_DEPTH = 6
_ID_KEYS = ("id", "key", "slug", "", "code", "value", "name")
_ONE_ENGINE_PURPOSE = "one engine alone"
_UNMEASURED_PURPOSE = "what is stated where nothing was measured"
_OTHER_HOST_PURPOSE = "the same of another host"


@dataclass(frozen=True)
class PlannedRequest:
    """A request that is sent to guess the tables in a service's JSON, and its purpose.

    Attributes
    ----------
    section : str or None
        The name of the section (one kind of response), or ``scope-options`` for the list of filter
        values. None requests all sections at once.
    scope : Scope
        The filters of the request, such as engines (AI assistants).
    purpose : str
        What the response is to show, as text for people.
    host : str
        The host, if it is not that of the project; else empty.
    """

    section: str | None
    scope: Scope
    purpose: str
    host: str = ""


@dataclass
class Responses:
    """The responses of a service, from which its tables are guessed.

    A section is one kind of response, such as ``domains``.

    Attributes
    ----------
    options : object
        The JSON that lists the values of the service's filters.
    scope_options : Section, optional
        The paths of these values in ``options``, if the user declared them.
    documents : dict of str to object
        Maps each section to its decoded JSON, requested without filters.
    by_engines : dict of str to dict
        Maps each section to a dict. The dict maps a tuple of engines to the JSON requested for
        these engines only.
    payloads : dict of str to Payload
        Maps each section to its response with bytes and HTTP headers.
    errors : dict of str to AAToolkitError
        Maps each section that could not be read to its error.
    unmeasured : dict of str to object
        Maps each section to its JSON for an engine that never ran.
    by_host : dict of str to dict
        Maps each other host to a dict from sections to their JSON.
    options_by_host : dict of str to object
        Maps each other host to its ``options``.
    requests : list of PlannedRequest
        All requests, in the order of sending.
    unanswered : int
        The number of requests that were stopped before a response came.
    stopped : str
        ``interrupted`` or ``out of time`` if requests were stopped, else empty.
    """

    options: Any = None
    scope_options: Section | None = None
    documents: dict[str, Any] = field(default_factory=dict)
    by_engines: dict[str, dict[tuple[str, ...], Any]] = field(default_factory=dict)
    payloads: dict[str, Payload] = field(default_factory=dict)
    errors: dict[str, AAToolkitError] = field(default_factory=dict)
    unmeasured: dict[str, Any] = field(default_factory=dict)
    by_host: dict[str, dict[str, Any]] = field(default_factory=dict)
    options_by_host: dict[str, Any] = field(default_factory=dict)
    requests: list[PlannedRequest] = field(default_factory=list)
    unanswered: int = 0
    stopped: str = ""


def fetch_responses(
    project: Project,
    *,
    max_requests: int,
    section_names: Iterable[str] | None,
    hosts: Iterable[str],
    max_seconds: float | None,
    progress: bool | None,
) -> Responses:
    """Request the sections of a service without filters, then for single engines and other hosts.

    A section is one kind of response, such as ``domains``. An engine is an AI assistant. Ctrl-C
    ends the requests early. The responses received by then are returned.

    Parameters
    ----------
    project : Project
        A project of the service.
    max_requests : int
        How many requests to send at most.
    section_names : iterable of str or None
        The sections to request; None for those of the reference service.
    hosts : iterable of str
        The hosts of other projects of the same account, whose responses are compared.
    max_seconds : float or None
        The time limit for all requests, in seconds; None for no limit.
    progress : bool or None
        Whether to show a progress bar. None shows it on a terminal only.

    Returns
    -------
    Responses
        The responses, by section, engines and host.

    Raises
    ------
    NotAuthorized, NotVisible
        If the service refuses all of the first requests.
    """
    profile = project.client._profile
    responses = Responses(scope_options=None if profile is None else profile.get(SCOPE_OPTIONS))
    deadline = None if max_seconds is None else time.monotonic() + max_seconds
    fetch_all = partial(_fetch_all, project, responses, progress, deadline)
    empty_scope = Scope()
    hosts = dict.fromkeys(hosts)
    section_names = sections.names() if section_names is None else section_names
    first_requests = [
        PlannedRequest(_OPTIONS_SECTION, empty_scope, "the vocabulary of the project"),
        *(PlannedRequest(name, empty_scope, "the section as it is") for name in section_names),
        PlannedRequest(None, empty_scope, "whether it responds for all sections at once"),
    ][:max_requests]
    options_requests = [
        PlannedRequest(_OPTIONS_SECTION, empty_scope, _OTHER_HOST_PURPOSE, host) for host in hosts
    ][: max_requests - len(first_requests)]
    combined_document = None
    for request, payload_or_error in fetch_all([*first_requests, *options_requests]).items():
        if request.host:
            _store_results({request: payload_or_error}, responses, {})
        elif isinstance(payload_or_error, AAToolkitError):
            responses.errors[request.section or "combined"] = payload_or_error
        elif request.section == _OPTIONS_SECTION:
            responses.options = payload_or_error.json
            if responses.scope_options is not None:
                responses.options = _read_declared_values(project, payload_or_error)
        elif request.section is None:
            combined_document = payload_or_error.json
        else:
            responses.documents[request.section] = payload_or_error.json
            responses.payloads[request.section] = payload_or_error
    refusal_errors = [
        error
        for error in responses.errors.values()
        if isinstance(error, NotAuthorized | NotVisible)
    ]
    if first_requests and len(refusal_errors) == len(first_requests):
        raise refusal_errors[0]
    section_paths = _find_section_paths(combined_document, responses.documents)
    requests_left = 0 if responses.stopped else max_requests - len(responses.requests)
    # A project of which nothing was measured shows most; so its responses come first.
    hosts = sorted(
        hosts, key=lambda host: len(find_engines(responses.options_by_host.get(host))[0])
    )
    further_requests = _plan_further_requests(responses, section_paths, hosts, requests_left)
    _store_results(fetch_all(further_requests), responses, section_paths)
    # Sections that a host's combined view leaves out, such as `crawl`, are requested one by one.
    requested_sections = {(request.host, request.section) for request in further_requests}
    missing_requests = [
        PlannedRequest(name, empty_scope, _OTHER_HOST_PURPOSE, host)
        for host in hosts
        for name in responses.documents
        if name not in responses.by_host.get(host, {}) and (host, name) not in requested_sections
    ][: 0 if responses.stopped else max(requests_left - len(further_requests), 0)]
    _store_results(fetch_all(missing_requests), responses, section_paths)
    return responses


def _store_results(
    result_by_request: Mapping[PlannedRequest, Any],
    responses: Responses,
    section_paths: Mapping[str, tuple[str, ...]],
) -> None:
    """Store the responses to some requests in a `Responses` object.

    Parameters
    ----------
    result_by_request : mapping
        Maps each request to its `Payload` or its error. Errors are ignored.
    responses : Responses
        The object to change.
    section_paths : mapping of str to tuple
        The path of each section's JSON in a response for all sections at once, as field names.
    """
    for request, payload_or_error in result_by_request.items():
        if isinstance(payload_or_error, AAToolkitError) or payload_or_error.status >= 400:
            continue
        document_by_section = {request.section: payload_or_error.json}
        if request.section == _OPTIONS_SECTION:
            responses.options_by_host[request.host] = payload_or_error.json
            continue
        if request.section is None:
            combined_document = _index_by_section(payload_or_error.json, responses.documents)
            document_by_section = {
                section_name: find_value_at(combined_document, [*map(Field, path)])
                for section_name, path in section_paths.items()
            }
        for section_name, document in document_by_section.items():
            if document is None or section_name is None:
                continue
            if request.host:
                responses.by_host.setdefault(request.host, {}).setdefault(section_name, document)
            elif request.purpose == _UNMEASURED_PURPOSE:
                responses.unmeasured.setdefault(section_name, document)
            else:
                responses.by_engines.setdefault(section_name, {})[request.scope.engine] = document


def _fetch_all(
    project: Project,
    responses: Responses,
    progress: bool | None,
    deadline: float | None,
    requests: list[PlannedRequest],
) -> dict[PlannedRequest, Any]:
    """Send requests in parallel.

    Parameters
    ----------
    project : Project
        A project of the service.
    responses : Responses
        The object in which the sent requests, and an early stop, are recorded.
    progress : bool or None
        Whether to show a progress bar.
    deadline : float or None
        The time to stop at, in seconds on the clock of ``time.monotonic``.
    requests : list of PlannedRequest
        The requests.

    Returns
    -------
    dict
        Maps each request that was answered to its `Payload` or its error.
    """
    responses.requests += requests
    result_by_request: dict[PlannedRequest, Payload | AAToolkitError] = {}

    def fetch(request: PlannedRequest) -> None:
        """Send a request, and store its response or error."""
        try:
            if request.section == _OPTIONS_SECTION:
                host = request.host or project.host
                payload = project.client._source.get(Request.for_scope_options(host))
            else:
                host_project = project.client.project(request.host) if request.host else project
                payload = host_project.fetch(request.section, request.scope)
            payload.json  # noqa: B018  it may be none
            result_by_request[request] = payload
        except AAToolkitError as error:
            result_by_request[request] = error

    worker_count = max(min(project.client.workers, len(requests)), 1)
    fetch_iterator = run_in_order(fetch, requests, worker_count, deadline=deadline)
    with closing(fetch_iterator) as finished_fetches:
        try:
            progress_fetches = progress_bar(
                finished_fetches, progress, total=len(requests), unit="response"
            )
            for _, finished_fetch in progress_fetches:
                finished_fetch.result()
        except (KeyboardInterrupt, TimeoutError) as error:
            # A copy: requests that are cancelled now are no errors of the service.
            result_by_request = dict(result_by_request)
            is_interrupt = isinstance(error, KeyboardInterrupt)
            if is_interrupt and not (result_by_request or responses.documents):
                raise
            responses.stopped = "interrupted" if is_interrupt else "out of time"
            responses.unanswered = len(requests) - len(result_by_request)
    return {
        request: result_by_request[request] for request in requests if request in result_by_request
    }


# --- the combined view ------------------------------------------------------------------------


def _find_section_paths(
    combined_document: Any, documents: Mapping[str, Any]
) -> dict[str, tuple[str, ...]]:
    """Find where the JSON of each section (kind of response) is in a response for all sections.

    Parameters
    ----------
    combined_document : object
        The decoded JSON for all sections.
    documents : mapping of str to object
        The JSON of each section, requested alone, whose values are looked for in
        ``combined_document``.

    Returns
    -------
    dict of str to tuple of str
        Maps the name of a section to the path of its JSON, as field names.
    """
    path_by_section: dict[str, tuple[str, ...]] = {}
    for path, container in _iter_containers(_index_by_section(combined_document, documents), ()):
        section_name = next((key for key in reversed(path) if key in documents), None)
        if (
            section_name is not None
            and section_name not in path_by_section
            and _measure_value_overlap(container, documents[section_name]) >= _MIN_VALUE_OVERLAP
        ):
            path_by_section[section_name] = path
    return path_by_section


def _index_by_section(value: Any, section_names: Collection[str]) -> Any:
    """Replace each list that has one object per section (kind of response) by a dict.

    The dict maps the names of the sections to the objects. Nested lists are replaced, too.

    Examples
    --------
    >>> parts = [{"kind": "SECTION_URLS", "n": 1}, {"kind": "SECTION_DOMAINS", "n": 2}]
    >>> [*_index_by_section({"parts": parts}, ["urls", "domains"])["parts"]]
    ['urls', 'domains']
    >>> _index_by_section([{"engine": "google_ai_overview"}], ["overview"])
    [{'engine': 'google_ai_overview'}]
    """
    if isinstance(value, dict):
        return {key: _index_by_section(item, section_names) for key, item in value.items()}
    section_name_of_items = [
        next(
            (
                name
                for text in (item.values() if isinstance(item, dict) else ())
                for name in section_names
                if isinstance(text, str) and f"_{to_snake_case(text)}".endswith(f"_{name}")
            ),
            "",
        )
        for item in (value if isinstance(value, list) else ())
    ]
    # One item may also be the engine `google_ai_overview`.
    if "" in section_name_of_items or len({*section_name_of_items}) < max(
        len(section_name_of_items), 2
    ):
        return value
    indexed_items = (_index_by_section(item, section_names) for item in value)
    return dict(zip(section_name_of_items, indexed_items, strict=True))


def _iter_containers(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the path and the value of each object or list that is nested in an object.

    Lists are not searched.

    Examples
    --------
    >>> [path for path, _ in _iter_containers({"a": {"b": [1]}, "n": 3}, ())]
    [('a',), ('a', 'b')]
    """
    for key, item in value.items() if isinstance(value, dict) and len(path) < _MAX_DEPTH else ():
        if isinstance(item, dict | list):
            yield (*path, key), item
            yield from _iter_containers(item, (*path, key))


def _measure_value_overlap(document: Any, other_document: Any) -> float:
    """Return the share of values that two JSON documents have in common, from 0 to 1.

    Examples
    --------
    >>> _measure_value_overlap({"a": 1, "b": 2}, {"a": 1, "b": 3})
    0.5
    """
    count_by_leaf = Counter(list_leaf_paths_and_texts(document, "$"))
    other_count_by_leaf = Counter(list_leaf_paths_and_texts(other_document, "$"))
    return (count_by_leaf & other_count_by_leaf).total() / max(
        count_by_leaf.total(), other_count_by_leaf.total(), 1
    )


# --- what else to ask -------------------------------------------------------------------------


_OFTEN_MISSING_SECTIONS = (None, "crawl", "conversions", "shopping", "ads")
"""The sections that are requested first, because a project may lack a data source of them or not
pay for them. None stands for the response for all sections.
"""


def _plan_further_requests(
    responses: Responses, section_paths: Mapping[str, Any], hosts: Iterable[str], requests_left: int
) -> list[PlannedRequest]:
    """Plan requests for other hosts, for single AI engines, and for an engine that never ran.

    Parameters
    ----------
    responses : Responses
        The responses received so far.
    section_paths : mapping of str to tuple
        The sections whose JSON is part of a response for all sections at once, with its path there.
    hosts : iterable of str
        The other hosts.
    requests_left : int
        The maximum number of requests to plan.

    Returns
    -------
    list of PlannedRequest
    """
    uncombined_sections = [name for name in responses.documents if name not in section_paths]
    section_names = (
        [None, *uncombined_sections] if len(section_paths) > 1 else [*responses.documents]
    )
    active_engines, inactive_engines = find_engines(responses.options)
    request_groups = [
        [PlannedRequest(section_name, Scope(), _OTHER_HOST_PURPOSE, host)]
        for host in hosts
        for section_name in sorted(
            section_names, key=lambda name: name not in _OFTEN_MISSING_SECTIONS
        )
    ]
    engine_sets = _choose_engine_sets(active_engines, inactive_engines)
    all_engines = (*chain(*engine_sets),)
    engine_request_count = requests_left - len(request_groups)
    for section_name in section_names if len(engine_sets) > 1 else ():
        # Two halves of the engines show less than single engines do, but take fewer requests.
        chosen_engine_sets = (
            engine_sets
            if section_name is None or len(engine_sets) * len(section_names) <= engine_request_count
            else [all_engines[::2], all_engines[1::2]]
        )
        request_groups.append(
            [
                PlannedRequest(section_name, Scope(engine=chosen_engines), _ONE_ENGINE_PURPOSE)
                for chosen_engines in chosen_engine_sets
            ]
        )
    if inactive_engines:
        inactive_engine_scope = Scope(engine=(inactive_engines[0],))
        request_groups += [
            [PlannedRequest(section_name, inactive_engine_scope, _UNMEASURED_PURPOSE)]
            for section_name in section_names
        ]
    planned_requests: list[PlannedRequest] = []
    for request_group in request_groups:
        planned_requests += (
            request_group if len(planned_requests) + len(request_group) <= requests_left else []
        )
    return planned_requests


def _choose_engine_sets(
    active_engines: Sequence[str], inactive_engines: Sequence[str]
) -> list[tuple[str, ...]]:
    """Divide engines (AI assistants) among requests; return one tuple of engines per request.

    Each engine that ran is requested alone. Engines that never ran are added to the last request.

    Examples
    --------
    >>> _choose_engine_sets(["atlas", "boreal"], ["idle"])
    [('atlas',), ('boreal', 'idle')]
    """
    # Inactive engines have no answers, but may have visits or sales; without them nothing adds up.
    single_engines = [(engine,) for engine in active_engines]
    return (
        [*single_engines[:-1], (*single_engines[-1], *inactive_engines)] if single_engines else []
    )


def _read_declared_values(project: Project, payload: Payload) -> dict[str, Any]:
    """Return the values of the service's filters, read at the paths that the user declared.

    Returns
    -------
    dict
        Maps each filter, such as ``engine``, to a list of values. The key ``response`` has the
        whole JSON.
    """
    options = read_scope_options(project.host, payload, project.client._options)
    values_by_filter = {
        filter_name: [*options.values(filter_name)]
        for filter_name in FILTERS
        if filter_name not in options.unknown
    }
    if {*values_by_filter.get("engine", ())} == {*chain(*find_engines(payload.json))}:
        del values_by_filter["engine"]  # in the raw response they have their states
    return {**values_by_filter, "response": payload.json}


def find_engines(options_json: Any) -> tuple[list[str], list[str]]:
    """Find the engines (AI assistants) in the JSON that lists the values of a service's filters.

    Returns
    -------
    list of str
        The engines that ran.
    list of str
        The engines that did not run; those that are not configured come last.

    Examples
    --------
    >>> find_engines({"engines": [{"id": "a", "configured": False}, "b", {"id": "c", "run": None}]})
    (['b'], ['c', 'a'])
    >>> find_engines({"x": {"modelList": [{"modelId": "a"}, {"modelId": "b", "state": "not run"}]}})
    (['a'], ['b'])
    >>> find_engines({"engines": [{"id": "a", "configured": False, "lastRunDay": "2026-11-08"}]})
    (['a'], [])
    """
    active_engines: list[str] = []
    inactive_engines: list[str] = []
    unconfigured_engines: list[str] = []
    for engine_record in _find_engine_records(options_json):
        engines_of_same_state = active_engines
        run_values = [value for key, value in engine_record.items() if "run" in to_snake_case(key)]
        availability = read_object_availability(engine_record, STRONG) or UNKNOWN
        if availability.cause == Cause.NOT_CONFIGURED and any(run_values):
            availability = UNKNOWN  # it was switched off after it had run
        if availability.cause == Cause.NOT_CONFIGURED:
            engines_of_same_state = unconfigured_engines
        elif availability.status in EMPTY or (
            run_values and all(value is None for value in run_values)
        ):
            engines_of_same_state = inactive_engines
        engines_of_same_state += _list_engine_names(engine_record)[:1]
    return active_engines, inactive_engines + unconfigured_engines


def find_engine_labels(options_json: Any) -> dict[str, str]:
    """Return a dict from the label of each engine (AI assistant) to its id.

    Engines whose label is the same as the id are left out.

    Examples
    --------
    >>> find_engine_labels({"engines": [{"id": "copilot", "label": "Microsoft Copilot"}]})
    {'Microsoft Copilot': 'copilot'}
    """
    return {
        label: engine_names[0]
        for engine_names in map(_list_engine_names, _find_engine_records(options_json))
        for label in engine_names[1:]
        if fold(label) != fold(engine_names[0])
    }


def _list_engine_names(engine_record: dict[str, Any]) -> list[str]:
    """Return the id, label and title of an engine (AI assistant) from the object about it.

    Examples
    --------
    >>> _list_engine_names({"label": "Microsoft Copilot", "engineId": "copilot"})
    ['copilot', 'Microsoft Copilot']
    """
    name_by_key = {
        " ".join(word for word in tokens(key) if word not in words_of("engine")): name
        for key, name in reversed(engine_record.items())
        if isinstance(name, str)
    }
    return [name_by_key[key] for key in (*_ID_KEYS, "label", "title") if key in name_by_key]


def _find_engine_records(options_json: Any) -> list[dict[str, Any]]:
    """Return the objects that describe the engines (AI assistants) of a service, one for each.

    ``options_json`` is the JSON that lists the values of the service's filters.

    Examples
    --------
    >>> _find_engine_records({"models": ["atlas", {"id": "boreal", "runs": 3}]})
    [{'id': 'atlas'}, {'id': 'boreal', 'runs': 3}]
    """
    for field_name, value in iter_named_values(options_json):
        records = value if isinstance(value, list) else []
        if isinstance(value, dict) and all(
            isinstance(engine_record, dict) for engine_record in value.values()
        ):
            records = [{"id": key, **engine_record} for key, engine_record in value.items()]
        if records and any(stem in field_name for stem in STEMS_BY_FILTER["engine"]):
            return [record if isinstance(record, dict) else {"id": record} for record in records]
    return []
