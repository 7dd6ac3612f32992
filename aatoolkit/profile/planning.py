"""Plans: the requests of a draft, listed before they are sent, within a budget."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from typing import Any

from aatoolkit import sections
from aatoolkit.scope import Scope
from aatoolkit.sections.inference.words import snake

BUDGET = 60
"""How many requests a draft may send unless another number is given."""

_MOST_ENGINES = 6

EMPTY = "what is stated where nothing was measured"
"""What a request is for that is expected to give an answer without data."""

Places = Mapping[str, tuple[tuple[str, ...], bool]]
"""Where the combined view has each section's own answer, and whether it has all of it."""


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
        return f"{self.section or 'combined view'}{of}?{self.scope.to_query()}  {self.purpose}"


def first_requests(names: Iterable[str] | None = None) -> list[PlannedRequest]:
    """Plan the requests that every draft begins with.

    Examples
    --------
    >>> len(first_requests())
    19
    """
    listed = sections.names() if names is None else tuple(names)
    plain = Scope()
    return [
        PlannedRequest("scope-options", plain, "the vocabulary of the project"),
        *(PlannedRequest(name, plain, "the section as it is") for name in listed),
        PlannedRequest(None, plain, "whether it answers for all sections at once"),
    ]


def empty_scope(options: Any) -> Scope | None:
    """A scope that the service lists and for which nothing was measured; None without one.

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
    idle = engines_of(options)[1]
    listed = [one for one in _engines(options) if _name_of(one)]
    waiting = [one for one in listed if _name_of(one) in idle and not _is_off(one)]
    for engine in [*waiting, *(one for one in listed if _name_of(one) in idle)]:
        return Scope(engine=(str(_name_of(engine)),))
    days = options.get("days") if isinstance(options, dict) else None
    windows = [one for one in days if type(one) is int] if isinstance(days, list) else []
    last = {_name_of(one): max(_days_in(one), default=None) for one in listed}
    known = {name: day for name, day in last.items() if name and day is not None}
    if not windows or len(known) < 2:
        return None
    newest, (name, oldest) = max(known.values()), min(known.items(), key=lambda one: one[1])
    if (newest - oldest).days <= min(windows):
        return None
    return Scope(engine=(str(name),), days=min(windows))


def _days_in(engine: Mapping[str, Any]) -> Iterator[date]:
    """Yield the days on which an engine ran, by scope options."""
    for key, value in engine.items():
        if "run" in snake(key) and isinstance(value, str):
            with suppress(ValueError):
                yield date.fromisoformat(value[:10])


def contrast(
    read: Collection[str], options: Any, places: Places, budget: int
) -> list[PlannedRequest]:
    """Plan requests for answers in which nothing was measured, within what is left."""
    scope = empty_scope(options)
    if scope is None:
        return []
    covered = {name for name, (_, is_whole) in places.items() if is_whole}
    rest: list[str | None] = [name for name in read if name not in covered]
    wanted = [None, *rest] if covered else rest
    return [PlannedRequest(name, scope, EMPTY) for name in wanted][: max(budget, 0)]


def engine_sets(options: Any) -> list[tuple[str, ...]]:
    """Sets of one engine each that ran; engines that never ran join the last set.

    They have no answers, and may have visits or sales: without them the parts are not the whole.

    Examples
    --------
    >>> engine_sets({"engines": [{"id": "a", "lastRunDay": "2026-11-01"}, {"id": "b",
    ...     "lastRunDay": None}, {"id": "c", "lastRunDay": "2026-11-02"}]})
    [('a',), ('c', 'b')]
    """
    ran, idle = engines_of(options)
    found = [(name,) for name in ran]
    return [*found[:-1], (*found[-1], *idle)] if found else []


def engines_of(options: Any) -> tuple[list[str], list[str]]:
    """The engines of scope options: those that ran, and those that never did or are off.

    Examples
    --------
    >>> engines_of({"engines": [{"id": "a", "configured": False}, "b"]})
    (['b'], ['a'])
    """
    ran: list[str] = []
    idle: list[str] = []
    for engine in _engines(options):
        name = _name_of(engine)
        runs = [value for key, value in engine.items() if "run" in snake(key)]
        if name is None:
            continue
        never = bool(runs) and all(one is None for one in runs)
        (idle if _is_off(engine) or never else ran).append(name)
    return ran, idle


def unvaried(options: Any) -> tuple[str, ...]:
    """The filters that a draft varies, and whose values scope options do not show.

    Examples
    --------
    >>> unvaried({"moottorit": [{"tunnus": "a"}]}), unvaried({"engines": ["a"]})
    (('engine',), ())
    """
    lists = options.get("engines") if isinstance(options, dict) else None
    is_known = options is None or lists == [] or any(map(_name_of, _engines(options)))
    return () if is_known else ("engine",)


def _name_of(engine: Mapping[str, Any]) -> str | None:
    keys = ("id", "key", "slug", "engine", "code", "value", "name")
    return next((engine[key] for key in keys if isinstance(engine.get(key), str)), None)


def _is_off(engine: Mapping[str, Any]) -> bool:
    return any(value is False for key, value in engine.items() if "configured" in snake(key))


def other_hosts(
    hosts: Iterable[str],
    read: Collection[str],
    places: Places,
    budget: int,
) -> list[PlannedRequest]:
    """Plan the requests for other hosts: one each if the combined view holds the sections."""
    listed: list[PlannedRequest] = []
    for host in dict.fromkeys(hosts):
        covered = {name for name, (_, is_whole) in places.items() if is_whole}
        rest = [name for name in read if name not in covered]
        wanted = [None, *rest] if covered else rest
        purpose = "the same of another host"
        listed += [PlannedRequest(name, Scope(), purpose, host) for name in wanted]
    return listed[: max(budget, 0)]


def follow_up(
    read: Collection[str], options: Any, places: Places, budget: int
) -> list[PlannedRequest]:
    """Plan the requests that test whether values add up, within what is left."""
    sets = engine_sets(options)
    if len(sets) < 2 or budget <= 0:
        return []
    if len(sets) > _MOST_ENGINES:
        sets = _grouped(sets, _MOST_ENGINES)
    covered = {name for name, (_, is_whole) in places.items() if is_whole}
    rest = [name for name in read if name not in covered]
    listed: list[PlannedRequest] = []
    if len(covered) >= 2 and budget >= len(sets):
        listed += [PlannedRequest(None, Scope(engine=one), "one engine alone") for one in sets]
    else:
        rest = list(read)
    left = budget - len(listed)
    if left < len(rest) * len(sets):
        sets = _grouped(sets, 2)
    for name in rest:
        if left >= len(sets):
            listed += [
                PlannedRequest(name, Scope(engine=one), "some engines alone") for one in sets
            ]
            left -= len(sets)
    return listed


def _grouped(sets: list[tuple[str, ...]], count: int) -> list[tuple[str, ...]]:
    """Divide the engines into a few disjoint sets."""
    names = [name for one in sets for name in one]
    return [tuple(names[at::count]) for at in range(count) if names[at::count]]


def _engines(options: Any) -> Iterator[dict[str, Any]]:
    """The engines that scope options list, as objects."""
    if not isinstance(options, dict):
        return
    for name, value in options.items():
        if "engine" in snake(name) or "model" in snake(name) or "assistant" in snake(name):
            if isinstance(value, list):
                for one in value:
                    yield one if isinstance(one, dict) else {"id": one}
                return
            if isinstance(value, dict) and all(isinstance(one, dict) for one in value.values()):
                for key, one in value.items():
                    yield {"id": key, **one}
                return
    for value in options.values():
        if isinstance(value, dict):
            yield from _engines(value)
