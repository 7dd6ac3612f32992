"""Ask a service what a draft needs: the requests, planned within a budget, and the responses.

First come the requests that any reader sends: the scope options, each section and the combined
view. Then follow requests for each single engine that ran, which show which numbers can be summed,
and for one engine that never ran, which show how the service describes what it did not measure.
Where the combined view contains the complete responses of sections, one request for it replaces
requests for each of them; the other sections are requested one by one.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any

from aatoolkit import sections
from aatoolkit._util.lexicon import fold, tokens, words
from aatoolkit.availability.detect.words import STRONG, state_in_object
from aatoolkit.availability.status import EMPTY, Cause
from aatoolkit.client.options import read_options
from aatoolkit.client.reading import in_order, progress_bar
from aatoolkit.errors import AAToolkitError, NotAuthorized, NotVisible
from aatoolkit.jsontree.paths import Field, leaf_values
from aatoolkit.payload import Payload, Request
from aatoolkit.profile.candidates import value_at
from aatoolkit.scope import FILTERS, Scope
from aatoolkit.sections.column import snake
from aatoolkit.sections.inference.words import STEMS, named
from aatoolkit.sections.profile import SCOPE_OPTIONS
from aatoolkit.sections.section import Section

if TYPE_CHECKING:
    from aatoolkit.client.client import Project

BUDGET = 60
"""How many requests a draft may send unless another number is given."""

_OPTIONS, _SAME, _DEEPEST = "scope-options", 0.95, 6
_IDS = ("id", "key", "slug", "", "code", "value", "name")
_ALONE, _EMPTY = "one engine alone", "what is stated where nothing was measured"
_OF_HOST = "the same of another host"


@dataclass(frozen=True)
class PlannedRequest:
    """One request of a draft, and what it is for.

    Attributes
    ----------
    section : str or None
        The section; None for the combined view, ``scope-options`` for the scope options.
    scope : Scope
        The filters.
    purpose : str
        What is learnt from the response.
    host : str
        The host of another project; empty for the project that is drafted.
    """

    section: str | None
    scope: Scope
    purpose: str
    host: str = ""


@dataclass
class Responses:
    """The responses that a draft is made from, by section.

    Attributes
    ----------
    options : object
        The decoded scope options; None if they could not be read. If the profile declares where
        they list the values of filters, these values by filter, and the decoded scope options as
        ``response``.
    scope_options : Section or None
        The declaration of the scope options in the project's profile.
    documents, payloads : dict of str to object
        Each section's response without filters: decoded, and as it was received.
    by_engines : dict of str to dict
        By section and tuple of engines, the decoded response filtered to these engines.
    errors : dict of str to AAToolkitError
        The error by section, for each section that could not be read.
    unmeasured : dict of str to object
        Each section's response where nothing was measured, such as that of an engine that never
        ran.
    by_host : dict of str to dict
        By host and section, the decoded responses of other hosts, without filters.
    options_by_host : dict of str to object
        The decoded scope options of other hosts.
    requests : list of PlannedRequest
        The requests, in order.
    unanswered : int
        How many of them had no response when the asking was stopped.
    stopped : str
        ``interrupted`` or ``out of time`` if the asking was stopped, else empty.
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


def ask(
    project: Project,
    *,
    requests: int = BUDGET,
    names: Iterable[str] | None = None,
    hosts: Iterable[str] = (),
    seconds: float | None = None,
    progress: bool | None = None,
) -> Responses:
    """Send the requests that a draft needs, within a budget of requests and of time.

    After an interrupt, or at the end of the time, nothing more is asked, and the responses
    received by then are returned.

    Raises
    ------
    NotAuthorized, NotVisible
        If nothing can be read for this reason.
    KeyboardInterrupt
        If it is interrupted before any response was received.
    """
    profile = project.client._profile
    responses = Responses(scope_options=None if profile is None else profile.get(SCOPE_OPTIONS))
    deadline = None if seconds is None else time.monotonic() + seconds
    no_filters, names = Scope(), sections.names() if names is None else names
    first = [
        PlannedRequest(_OPTIONS, no_filters, "the vocabulary of the project"),
        *(PlannedRequest(name, no_filters, "the section as it is") for name in names),
        PlannedRequest(None, no_filters, "whether it responds for all sections at once"),
    ][:requests]
    combined = None
    for request, outcome in _fetched(project, first, responses, progress, deadline).items():
        if isinstance(outcome, AAToolkitError):
            responses.errors[request.section or "combined"] = outcome
        elif request.section == _OPTIONS:
            responses.options = outcome.json
            if responses.scope_options is not None:
                responses.options = _declared_values(project, outcome)
        elif request.section is None:
            combined = outcome.json
        else:
            responses.documents[request.section] = outcome.json
            responses.payloads[request.section] = outcome
    refused = [
        error
        for error in responses.errors.values()
        if isinstance(error, NotAuthorized | NotVisible)
    ]
    if first and len(refused) == len(first):
        raise refused[0]
    places = _places(combined, responses.documents)
    requests_left = 0 if responses.stopped else requests - len(first)
    follow_up = _follow_up(responses, places, hosts, requests_left)
    _read_more(_fetched(project, follow_up, responses, progress, deadline), responses, places)
    # Sections that a host's combined view leaves out, such as `crawl`, are requested one by one.
    asked_sections = {(request.host, request.section) for request in follow_up}
    rest_of_hosts = [
        PlannedRequest(name, no_filters, _OF_HOST, host)
        for host in dict.fromkeys(hosts)
        for name in responses.documents
        if name not in responses.by_host.get(host, {}) and (host, name) not in asked_sections
    ][: 0 if responses.stopped else max(requests_left - len(follow_up), 0)]
    _read_more(_fetched(project, rest_of_hosts, responses, progress, deadline), responses, places)
    return responses


def _read_more(
    outcomes: Mapping[PlannedRequest, Any],
    responses: Responses,
    places: Mapping[str, tuple[str, ...]],
) -> None:
    """Store responses for other hosts and for single engines in ``responses``, by section.

    ``places`` has the path of each section in the combined view.
    """
    for request, outcome in outcomes.items():
        if isinstance(outcome, AAToolkitError) or outcome.status >= 400:
            continue
        document_by_section = {request.section: outcome.json}
        if request.section == _OPTIONS:
            responses.options_by_host[request.host] = outcome.json
            continue
        if request.section is None:
            document_by_section = {
                name: value_at(outcome.json, [*map(Field, path)]) for name, path in places.items()
            }
        for name, document in document_by_section.items():
            if document is None or name is None:
                continue
            if request.host:
                responses.by_host.setdefault(request.host, {}).setdefault(name, document)
            elif request.purpose == _EMPTY:
                responses.unmeasured.setdefault(name, document)
            else:
                responses.by_engines.setdefault(name, {})[request.scope.engine] = document


def _fetched(
    project: Project,
    requests: list[PlannedRequest],
    responses: Responses,
    progress: bool | None,
    deadline: float | None,
) -> dict[PlannedRequest, Any]:
    """Send requests; return the payload or the error of each that was answered."""
    responses.requests += requests
    results: dict[PlannedRequest, Payload | AAToolkitError] = {}

    def fetch(request: PlannedRequest) -> None:
        try:
            if request.section == _OPTIONS:
                host = request.host or project.host
                payload = project.client._source.get(Request.for_scope_options(host))
            else:
                host_project = project.client.project(request.host) if request.host else project
                payload = host_project.fetch(request.section, request.scope)
            payload.json  # noqa: B018  it may be none
            results[request] = payload
        except AAToolkitError as error:
            results[request] = error

    workers = max(min(project.client.workers, len(requests)), 1)
    with closing(in_order(fetch, requests, workers, deadline=deadline)) as outcomes:
        try:
            bar = progress_bar(outcomes, progress, total=len(requests), unit="response")
            for _, outcome in bar:
                outcome.result()
        except (KeyboardInterrupt, TimeoutError) as error:
            # A copy: requests that are cancelled now are no errors of the service.
            results = dict(results)
            is_interrupt = isinstance(error, KeyboardInterrupt)
            if is_interrupt and not (results or responses.documents):
                raise
            responses.stopped = "interrupted" if is_interrupt else "out of time"
            responses.unanswered = len(requests) - len(results)
    return {request: results[request] for request in requests if request in results}


# --- the combined view ------------------------------------------------------------------------


def _places(combined: Any, documents: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return, by section, the path in the combined view at which its complete response is."""
    places: dict[str, tuple[str, ...]] = {}
    for path, value in _objects(combined, ()):
        name = next((word for word in reversed(path) if word in documents), None)
        if name is not None and name not in places and _alike(value, documents[name]) >= _SAME:
            places[name] = path
    return places


def _objects(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the path and value of each object and list in a document, except those in lists."""
    for key, item in value.items() if isinstance(value, dict) and len(path) < _DEEPEST else ():
        if isinstance(item, dict | list):
            yield (*path, key), item
            yield from _objects(item, (*path, key))


def _alike(first: Any, second: Any) -> float:
    """Return the share of leaves (0 to 1) that two documents have in common at the same paths."""
    a, b = Counter(leaf_values(first, "$")), Counter(leaf_values(second, "$"))
    return (a & b).total() / max(a.total(), b.total(), 1)


# --- what else to ask -------------------------------------------------------------------------


def _follow_up(
    responses: Responses, places: Mapping[str, Any], hosts: Iterable[str], requests_left: int
) -> list[PlannedRequest]:
    """Return the requests for other hosts, single engines and an engine that never ran.

    They are at most as many as the budget has left.
    """
    rest = [name for name in responses.documents if name not in places]
    views = [None, *rest] if len(places) > 1 else [*responses.documents]
    ran, idle = engines_of(responses.options)
    groups = [
        [PlannedRequest(view, Scope(), _OF_HOST, host)]
        for host in dict.fromkeys(hosts)
        for view in (_OPTIONS, *views)
    ]
    sets = _engine_sets(ran, idle)
    budget = requests_left - len(groups)
    for view in views if len(sets) > 1 else ():
        # Two halves of the engines show less than single engines do, but take fewer requests.
        used_sets = sets if view is None or len(sets) * len(views) <= budget else _halves(sets)
        groups.append([PlannedRequest(view, Scope(engine=names), _ALONE) for names in used_sets])
    if idle:
        scope = Scope(engine=(idle[0],))
        groups += [[PlannedRequest(view, scope, _EMPTY)] for view in views]
    planned: list[PlannedRequest] = []
    for group in groups:
        planned += group if len(planned) + len(group) <= requests_left else []
    return planned


def _engine_sets(ran: Sequence[str], idle: Sequence[str]) -> list[tuple[str, ...]]:
    """Return a tuple for each engine that ran; the engines that never ran are added to the last.

    An engine that never ran has no answers, but it may have visits or sales. Without these the
    responses for the tuples would not add up to the response for all engines.
    """
    single_engines = [(name,) for name in ran]
    return [*single_engines[:-1], (*single_engines[-1], *idle)] if single_engines else []


def _halves(sets: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return two tuples of about equal length that together have every engine once."""
    names = [name for names in sets for name in names]
    return [tuple(names[::2]), tuple(names[1::2])]


def _declared_values(project: Project, payload: Payload) -> dict[str, Any]:
    """Return the values of each filter, as the profile declares them, and the raw ``response``.

    ``engine`` is left out if the search without a profile finds the same engines, because that
    search also gives their states.
    """
    options = read_options(project.host, payload, project.client._options)
    values = {name: [*options.values(name)] for name in FILTERS if name not in options.unknown}
    if {*values.get("engine", ())} == {*chain(*engines_of(payload.json))}:
        del values["engine"]  # in the raw response they have their states
    return {**values, "response": payload.json}


def engines_of(options: Any) -> tuple[list[str], list[str]]:
    """Return two lists of engines from scope options: those that ran, and those that never ran.

    Engines that are not configured are at the end of the second list.

    Examples
    --------
    >>> engines_of({"engines": [{"id": "a", "configured": False}, "b", {"id": "c", "run": None}]})
    (['b'], ['c', 'a'])
    >>> engines_of({"x": {"modelList": [{"modelId": "a"}, {"modelId": "b", "state": "never ran"}]}})
    (['a'], ['b'])
    """
    ran: list[str] = []
    never_ran: list[str] = []
    not_configured: list[str] = []
    for engine in _engines(options):
        name = next(_names(engine), None)
        runs = [value for key, value in engine.items() if "run" in snake(key)]
        state = state_in_object(engine, STRONG)
        lacks = state is not None and state.status in EMPTY
        lacks_run = lacks or (bool(runs) and all(value is None for value in runs))
        is_off = state is not None and state.cause == Cause.NOT_CONFIGURED
        if name is not None:
            (not_configured if is_off else never_ran if lacks_run else ran).append(name)
    return ran, [*never_ran, *not_configured]


def engine_labels(options: Any) -> dict[str, str]:
    """Return a mapping from other names of engines, such as labels, to their ids.

    Examples
    --------
    >>> engine_labels({"engines": [{"id": "copilot", "label": "Microsoft Copilot"}]})
    {'Microsoft Copilot': 'copilot'}
    """
    names = [[*_names(engine)] for engine in _engines(options)]
    return {
        label: engine_names[0]
        for engine_names in names
        for label in engine_names[1:]
        if fold(label) != fold(engine_names[0])
    }


def _names(engine: dict[str, Any]) -> Iterator[str]:
    """Yield the names in an engine's record: its id first, then its label and title."""
    texts = {
        " ".join(word for word in tokens(key) if word not in words("engine")): text
        for key, text in reversed(engine.items())
        if isinstance(text, str)
    }
    yield from (texts[key] for key in (*_IDS, "label", "title") if key in texts)


def _engines(options: Any) -> list[dict[str, Any]]:
    """Return the engines listed in scope options, each as a dict."""
    for name, value in named(options):
        records = value if isinstance(value, list) else []
        if isinstance(value, dict) and all(isinstance(engine, dict) for engine in value.values()):
            records = [{"id": key, **engine} for key, engine in value.items()]
        if records and any(stem in name for stem in STEMS["engine"]):
            return [record if isinstance(record, dict) else {"id": record} for record in records]
    return []
