"""Send the requests of a draft to a service, within a budget, and collect the answers.

First what any reader would ask: the scope options, each section and the combined view. Then each
engine that ran, alone, to see what adds up, and one that never did, to see how the service speaks
of what it could not measure. The combined view answers for all sections at once
where its parts are the sections' own answers; the others are asked one by one.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aatoolkit.client.concurrency import in_order, progress_bar
from aatoolkit.errors import AAToolkitError, NotAuthorized, NotVisible
from aatoolkit.jsontree.paths import leaves
from aatoolkit.payload import Payload, Request
from aatoolkit.profile.planning import (
    BUDGET,
    EMPTY,
    Places,
    PlannedRequest,
    contrast,
    first_requests,
    follow_up,
    other_hosts,
)

if TYPE_CHECKING:
    from aatoolkit.client.project import Project


_SAME = 0.95


@dataclass
class Answers:
    """The answers that a draft is made from.

    Attributes
    ----------
    options : object
        The decoded scope options; None where they could not be read.
    whole : dict of str to object
        Each section's answer, without filters.
    parts : dict of str to dict
        Each section's answers by the engines that they were narrowed to.
    payloads : dict of str to Payload
        The answers without filters, as they came.
    errors : dict of str to AAToolkitError
        What could not be read, by section.
    empty : dict of str to object
        Each section's answer where nothing was measured, such as that of an engine that never ran.
    beside : dict of str to dict
        The sections' answers for other hosts, without filters, by host.
    requests : list of PlannedRequest
        What was asked, in order.
    unanswered : int
        How many requests had no answer when it was stopped.
    stopped : str
        Why it was stopped before all answers were there; empty if it was not.
    """

    options: Any = None
    whole: dict[str, Any] = field(default_factory=dict)
    parts: dict[str, dict[tuple[str, ...], Any]] = field(default_factory=dict)
    payloads: dict[str, Payload] = field(default_factory=dict)
    errors: dict[str, AAToolkitError] = field(default_factory=dict)
    empty: dict[str, Any] = field(default_factory=dict)
    beside: dict[str, dict[str, Any]] = field(default_factory=dict)
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
) -> Answers:
    """Send the requests that a draft needs, within a budget of requests and of time.

    An interrupt, or the end of the time, ends the asking; what was answered by then is returned.

    Raises
    ------
    NotAuthorized, NotVisible
        If nothing can be read for this reason.
    KeyboardInterrupt
        If it is interrupted before anything was answered.
    """
    answers = Answers()
    until = None if seconds is None else time.monotonic() + seconds
    first = first_requests(names)[:requests]
    got = _fetched(project, first, answers, progress, until)
    shut = [one for one in got.values() if isinstance(one, NotAuthorized | NotVisible)]
    if first and len(shut) == len(first):
        raise shut[0]
    for request, outcome in got.items():
        _keep(answers, request, outcome)
    combined = got.get(first[-1]) if first and first[-1].section is None else None
    places = _places(combined, answers)
    left = 0 if answers.stopped else requests - len(first)
    more = other_hosts(hosts, answers.whole, places, left)
    more += follow_up(answers.whole, answers.options, places, left - len(more))
    more += contrast(answers.whole, answers.options, places, left - len(more))
    for request, outcome in _fetched(project, more, answers, progress, until).items():
        if isinstance(outcome, AAToolkitError):
            continue
        document = _decoded(outcome)
        if request.host:
            _keep_parts(answers.beside.setdefault(request.host, {}), request, document, places)
            continue
        if request.purpose == EMPTY:
            _keep_parts(answers.empty, request, document, places)
            continue
        if request.section is not None:
            answers.parts.setdefault(request.section, {})[request.scope.engine] = document
            continue
        for name, (path, is_whole) in places.items():
            part = _at(document, path)
            if is_whole and part is not None:
                answers.parts.setdefault(name, {})[request.scope.engine] = part
    return answers


def _keep_parts(
    held: dict[str, Any],
    request: PlannedRequest,
    document: Any,
    places: Places,
) -> None:
    """Keep a section's answer, or the parts of the combined view that are sections' answers."""
    if request.section is not None:
        held[request.section] = document
        return
    for name, (path, is_whole) in places.items():
        part = _at(document, path)
        if is_whole and part is not None:
            held.setdefault(name, part)


def _fetched(
    project: Project,
    requests: list[PlannedRequest],
    answers: Answers,
    progress: bool | None,
    until: float | None,
) -> dict[PlannedRequest, Any]:
    """Send requests; return the payload of each, or its error."""
    if not requests:
        return {}
    answers.requests += requests
    results: dict[PlannedRequest, Payload | AAToolkitError] = {}

    def fetch(request: PlannedRequest) -> None:
        try:
            if request.section == "scope-options":
                options = Request.for_scope_options(project.host)
                results[request] = project.client._source.get(options)
            else:
                other = project.client.project(request.host) if request.host else project
                results[request] = other.fetch(request.section, request.scope)
        except AAToolkitError as error:
            results[request] = error

    workers = min(project.client.workers, len(requests))
    with closing(in_order(fetch, requests, workers, until=until)) as outcomes:
        try:
            for _, outcome in progress_bar(outcomes, progress, total=len(requests), unit="answer"):
                outcome.result()
            answered = results
        except (KeyboardInterrupt, TimeoutError) as error:
            # A copy: requests that are cancelled now are no errors of the service.
            answered = dict(results)
            is_interrupt = isinstance(error, KeyboardInterrupt)
            if is_interrupt and not (answered or answers.whole):
                raise
            answers.stopped = "interrupted" if is_interrupt else "out of time"
            answers.unanswered = len(requests) - len(answered)
    return {request: answered[request] for request in requests if request in answered}


def _keep(answers: Answers, request: PlannedRequest, outcome: Any) -> None:
    name = request.section or "combined"
    if isinstance(outcome, AAToolkitError):
        answers.errors[name] = outcome
        return
    try:
        document = _decoded(outcome)
    except AAToolkitError as error:
        answers.errors[name] = error
        return
    if name == "scope-options":
        answers.options = document
    elif request.section is not None:
        answers.whole[name] = document
        answers.payloads[name] = outcome


def _decoded(outcome: Any) -> Any:
    return outcome.json if isinstance(outcome, Payload) else outcome


def _places(combined: Any, answers: Answers) -> dict[str, tuple[tuple[str, ...], bool]]:
    """The path of each section's answer in the combined view, and whether it is there whole."""
    if combined is None or isinstance(combined, AAToolkitError):
        return {}
    document = _decoded(combined)
    found: dict[str, tuple[tuple[str, ...], bool]] = {}
    for path, value in _objects(document, ()):
        name = next((word for word in reversed(path) if word in answers.whole), None)
        if name is None or (path[-1] != name and len(path) - path.index(name) > 3):
            continue
        share = _alike(value, answers.whole[name])
        if share >= _SAME and (name not in found or not found[name][1]):
            found[name] = (path, True)
    return found


def _objects(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the objects and lists of a document by path, except those within lists."""
    if path:
        yield path, value
    if isinstance(value, dict) and len(path) < 6:
        for key, one in value.items():
            if isinstance(one, dict | list):
                yield from _objects(one, (*path, key))


def _alike(one: Any, other: Any) -> float:
    """The share of leaves that two documents have in common, at the same paths."""
    if type(one) is not type(other):
        return 0.0
    a, b = Counter(leaves(one, "$")), Counter(leaves(other, "$"))
    return (a & b).total() / max(a.total(), b.total(), 1)


def _at(document: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        document = document.get(name) if isinstance(document, dict) else None
    return document
