"""Ask a service what a draft needs: the requests, planned within a budget, and the answers.

First what any reader would ask: the scope options, each section and the combined view. Then each
engine that ran, alone, to see what adds up, and one that never did, to see how the service speaks
of what it could not measure. The combined view answers for all sections at once where its parts
are the sections' own answers; the others are asked one by one.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any

from aatoolkit import sections
from aatoolkit.client.concurrency import in_order, progress_bar
from aatoolkit.errors import AAToolkitError, NotAuthorized, NotVisible
from aatoolkit.jsontree.paths import leaves
from aatoolkit.payload import Payload, Request
from aatoolkit.scope import Scope
from aatoolkit.sections.inference.words import snake

if TYPE_CHECKING:
    from aatoolkit.client.project import Project

BUDGET = 60
"""How many requests a draft may send unless another number is given."""

_OPTIONS, _SAME, _MOST_ENGINES, _DEEPEST = "scope-options", 0.95, 6, 6
_LEARNT = {
    "alone": "one engine alone",
    "empty": "what is stated where nothing was measured",
    "beside": "the same of another host",
}


@dataclass(frozen=True)
class PlannedRequest:
    """One request of a draft, and what it is for.

    Attributes
    ----------
    section : str or None
        The section; None for the combined view, ``scope-options`` for those.
    scope : Scope
        The filters.
    purpose : str
        What is learnt from it.
    host : str
        Another project's host; empty for the one that is drafted.
    """

    section: str | None
    scope: Scope
    purpose: str
    host: str = ""

    def __str__(self) -> str:
        of = f" of {self.host}" if self.host else ""
        return f"{self.section or 'combined view'}{of}?{self.scope._to_query()}  {self.purpose}"


@dataclass
class Answers:
    """The answers that a draft is made from.

    Attributes
    ----------
    options : object
        The decoded scope options; None where they could not be read.
    whole, payloads : dict of str to object
        Each section's answer, without filters, decoded and as it came.
    parts : dict of str to dict
        Each section's answers by the engines that they were narrowed to.
    errors : dict of str to AAToolkitError
        What could not be read, by section.
    empty : dict of str to object
        Each section's answer where nothing was measured, such as that of an engine that never ran.
    beside : dict of str to dict
        The sections' answers for other hosts, without filters, by host.
    requests : list of PlannedRequest
        What was asked, in order; ``unanswered`` of them had no answer when it was ``stopped``.
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


def first_requests(names: Iterable[str] | None = None) -> list[PlannedRequest]:
    """Plan the requests that every draft begins with.

    Examples
    --------
    >>> len(first_requests())
    19
    """
    listed, plain = sections.names() if names is None else tuple(names), Scope()
    return [
        PlannedRequest(_OPTIONS, plain, "the vocabulary of the project"),
        *(PlannedRequest(name, plain, "the section as it is") for name in listed),
        PlannedRequest(None, plain, "whether it answers for all sections at once"),
    ]


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
    shut = [error for error in got.values() if isinstance(error, NotAuthorized | NotVisible)]
    if first and len(shut) == len(first):
        raise shut[0]
    for request, outcome in got.items():
        name = request.section or "combined"
        if isinstance(outcome, AAToolkitError):
            answers.errors[name] = outcome
        elif name == _OPTIONS:
            answers.options = outcome[0]
        elif request.section is not None:
            answers.whole[name], answers.payloads[name] = outcome
    combined = got.get(first[-1]) if first and first[-1].section is None else None
    places = _places(combined[0], answers.whole) if isinstance(combined, tuple) else {}
    left = 0 if answers.stopped else requests - len(first)
    more = _follow_up(answers, places, [*dict.fromkeys(hosts)], left)
    for request, outcome in _fetched(project, more, answers, progress, until).items():
        if not isinstance(outcome, tuple):
            continue
        held = {request.section: outcome[0]} if request.section else {}
        if request.section is None:
            held = {name: _at(outcome[0], path) for name, path in places.items()}
        for name, document in held.items():
            if document is None or name is None:
                continue
            if request.host:
                answers.beside.setdefault(request.host, {}).setdefault(name, document)
            elif request.purpose == _LEARNT["empty"]:
                answers.empty.setdefault(name, document)
            else:
                answers.parts.setdefault(name, {})[request.scope.engine] = document
    return answers


def _fetched(
    project: Project,
    requests: list[PlannedRequest],
    answers: Answers,
    progress: bool | None,
    until: float | None,
) -> dict[PlannedRequest, Any]:
    """Send requests; return the decoded answer of each and the payload, or its error."""
    answers.requests += requests
    results: dict[PlannedRequest, tuple[Any, Payload] | AAToolkitError] = {}

    def fetch(request: PlannedRequest) -> None:
        try:
            if request.section == _OPTIONS:
                payload: Any = project.client._source.get(Request.for_scope_options(project.host))
            else:
                other = project.client.project(request.host) if request.host else project
                payload = other.fetch(request.section, request.scope)
            results[request] = payload.json, payload
        except AAToolkitError as error:
            results[request] = error

    workers = max(min(project.client.workers, len(requests)), 1)
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


# --- the combined view ------------------------------------------------------------------------


def _places(combined: Any, whole: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """The path in the combined view at which each section's answer is whole."""
    places: dict[str, tuple[str, ...]] = {}
    for path, value in _objects(combined, ()):
        name = next((word for word in reversed(path) if word in whole), None)
        if name is None or (path[-1] != name and len(path) - path.index(name) > 3):
            continue
        if name not in places and _alike(value, whole[name]) >= _SAME:
            places[name] = path
    return places


def _objects(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the objects and lists of a document by path, except those within lists."""
    if path:
        yield path, value
    for key, inner in value.items() if isinstance(value, dict) and len(path) < _DEEPEST else ():
        if isinstance(inner, dict | list):
            yield from _objects(inner, (*path, key))


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


# --- what else to ask -------------------------------------------------------------------------


def _follow_up(
    answers: Answers, places: Mapping[str, Any], hosts: Iterable[str], left: int
) -> list[PlannedRequest]:
    """Plan further requests within what is left: other hosts, engines alone, and none that ran."""
    read, rest = [*answers.whole], [name for name in answers.whole if name not in places]

    def everywhere(what: str, scope: Scope, host: str = "") -> list[PlannedRequest]:
        wanted = [None, *rest] if places else rest
        return [PlannedRequest(name, scope, _LEARNT[what], host) for name in wanted]

    listed = [one for host in hosts for one in everywhere("beside", Scope(), host)][: max(left, 0)]
    left -= len(listed)
    sets = engine_sets(answers.options)
    if len(sets) > _MOST_ENGINES:
        sets = _grouped(sets, _MOST_ENGINES)
    alone: list[PlannedRequest] = []
    if len(sets) > 1 and len(places) >= 2 and left >= len(sets):
        alone = [PlannedRequest(None, Scope(engine=one), _LEARNT["alone"]) for one in sets]
    single = rest if alone else read
    room = left - len(alone)
    sets = _grouped(sets, 2) if room < len(single) * len(sets) else sets
    for name in single if len(sets) > 1 else ():
        if room >= len(sets):
            alone += [PlannedRequest(name, Scope(engine=one), _LEARNT["alone"]) for one in sets]
            room -= len(sets)
    empty = empty_scope(answers.options)
    idle = everywhere("empty", empty) if empty is not None else []
    return [*listed, *alone, *idle[: max(left - len(alone), 0)]]


def _grouped(sets: list[tuple[str, ...]], count: int) -> list[tuple[str, ...]]:
    """Divide the engines into a few disjoint sets."""
    names = [name for one in sets for name in one]
    return [tuple(names[at::count]) for at in range(count) if names[at::count]]


def engine_sets(options: Any) -> list[tuple[str, ...]]:
    """Return sets of one engine each that ran; engines that never ran join the last set.

    They have no answers, and may have visits or sales: without them the parts are not the whole.

    Examples
    --------
    >>> engine_sets({"engines": [{"id": "a", "lastRunDay": "2026-11-01"}, {"id": "b",
    ...     "lastRunDay": None}, {"id": "c", "lastRunDay": "2026-11-02"}]})
    [('a',), ('c', 'b')]
    """
    ran, idle = engines_of(options)
    single = [(name,) for name in ran]
    return [*single[:-1], (*single[-1], *idle)] if single else []


def engines_of(options: Any) -> tuple[list[str], list[str]]:
    """Return the engines of scope options: those that ran, and those that never did or are off.

    Examples
    --------
    >>> engines_of({"engines": [{"id": "a", "configured": False}, "b"]})
    (['b'], ['a'])
    """
    ran: list[str] = []
    idle: list[str] = []
    for name, engine in _engines(options):
        runs = [value for key, value in engine.items() if "run" in snake(key)]
        never = bool(runs) and all(value is None for value in runs)
        (idle if never or _is_off(engine) else ran).append(name)
    return ran, idle


def empty_scope(options: Any) -> Scope | None:
    """Return a scope that the service lists and for which nothing was measured; None without one.

    An engine that never ran, or one whose last run is before the shortest window. What an answer
    has then, and has not otherwise, is how the service speaks of what it could not measure.

    Examples
    --------
    >>> empty_scope({"engines": [{"id": "a", "lastRunDay": "2026-11-01"}, {"id": "b",
    ...     "configured": True, "lastRunDay": None}]}).engine
    ('b',)
    >>> empty_scope({"engines": [{"id": "a", "lastRunDay": "2026-11-01"}]}) is None
    True
    >>> empty_scope({"days": [7, 30], "engines": [{"id": "a", "lastRunDay": "2026-11-20"},
    ...     {"id": "b", "lastRunDay": "2026-11-01"}]})
    Scope(days=7, engine=('b',))
    """
    idle, listed = engines_of(options)[1], dict(_engines(options))
    for name in sorted(idle, key=lambda name: _is_off(listed[name])):
        return Scope(engine=(name,))
    days = options.get("days") if isinstance(options, dict) else None
    windows = [day for day in days if type(day) is int] if isinstance(days, list) else []
    last = {name: max(_days(engine), default=None) for name, engine in listed.items()}
    known = sorted((day, name) for name, day in last.items() if day is not None)
    if not windows or len(known) < 2 or (known[-1][0] - known[0][0]).days <= min(windows):
        return None
    return Scope(engine=(known[0][1],), days=min(windows))


def unvaried(options: Any) -> tuple[str, ...]:
    """Return the filters that a draft varies, and whose values scope options do not show.

    Examples
    --------
    >>> unvaried({"moottorit": [{"tunnus": "a"}]}), unvaried({"engines": ["a"]})
    (('engine',), ())
    """
    lists = options.get("engines") if isinstance(options, dict) else None
    is_known = options is None or lists == [] or any(True for _ in _engines(options))
    return () if is_known else ("engine",)


def _days(engine: Mapping[str, Any]) -> Iterator[date]:
    """Yield the days on which an engine ran, by scope options."""
    for key, value in engine.items():
        if "run" in snake(key) and isinstance(value, str):
            with suppress(ValueError):
                yield date.fromisoformat(value[:10])


def _is_off(engine: Mapping[str, Any]) -> bool:
    return any(value is False for key, value in engine.items() if "configured" in snake(key))


def _engines(options: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the engines that scope options list, by name."""
    for name, value in options.items() if isinstance(options, dict) else ():
        if any(word in snake(name) for word in ("engine", "model", "assistant")):
            listed = value
            if isinstance(value, dict) and all(isinstance(one, dict) for one in value.values()):
                listed = [{"id": key, **one} for key, one in value.items()]
            for one in listed if isinstance(listed, list) else ():
                engine = one if isinstance(one, dict) else {"id": one}
                keys = ("id", "key", "slug", "engine", "code", "value", "name")
                names = (engine[key] for key in keys if isinstance(engine.get(key), str))
                yield from ((name, engine) for name in [*names][:1])
            if isinstance(listed, list):
                return
    for value in options.values() if isinstance(options, dict) else ():
        yield from _engines(value)
