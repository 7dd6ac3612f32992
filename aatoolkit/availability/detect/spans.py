"""Spans of time: the window that was covered, outages, the day up to which data are complete."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from aatoolkit.availability import Availability, Cause, Condition, Status
from aatoolkit.availability.detect.context import AnswerContext
from aatoolkit.availability.detect.members import ObjectMember
from aatoolkit.availability.detect.parts import reason_in
from aatoolkit.availability.detect.roles import fold, spaced, tokens, words
from aatoolkit.availability.subject import after
from aatoolkit.jsontree.paths import key_step

_PENDING = Availability(Status.PARTIAL, Cause.PENDING)
_THROUGH = re.compile(
    r"(data |measured |observed |collected |complete(d)? |final )(complete )?(through|until|up to)"
)
_COVERED = words("covered observed collected measured actual")
_FROM, _TO = ("from", "start", "since", "begin"), ("to", "end", "until", "through")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


def _day(value: Any) -> str | None:
    return value[:10] if isinstance(value, str) and _DAY.match(value) else None


def _pair(given: Any) -> tuple[str | None, str | None]:
    if not isinstance(given, dict):
        return None, None
    days = {fold(name): _day(value) for name, value in given.items()}
    return (
        next((days[name] for name in _FROM if days.get(name)), None),
        next((days[name] for name in _TO if days.get(name)), None),
    )


def read_window(answer: AnswerContext, member: ObjectMember) -> None:
    """The window that was requested and the one that was covered, where that is shorter."""
    given = {fold(name): (name, value) for name, value in member.value.items()}
    wanted = next((given[name] for name in ("requested", "asked", "wanted") if name in given), None)
    covered = next((given[name] for name in given if name in _COVERED), None)
    if wanted is None or covered is None:
        return
    (start, end), (first, last) = _pair(wanted[1]), _pair(covered[1])
    path = member.path + key_step(covered[0])
    state = Availability(Status.PARTIAL)
    if start and first and first > start:
        rows = (Condition("date", "<", (first,)),)
        answer.add("section", None, state, path, "window", covered[1], rows=rows)
    if end and last and last < end:
        answer.add("section", None, _PENDING, path, "window", covered[1], rows=after(last))


_OUTAGES = words("outage outages gap gaps downtime downtimes interruption interruptions blackout")
_OF_DATA = words("data collection collector logging tracking measurement coverage known")


def read_outages(answer: AnswerContext, member: ObjectMember) -> None:
    """Spans of time without data: whole days were not measured, days in part partly."""
    parts = {*tokens(member.key)}
    if not parts & _OUTAGES or not parts <= _OUTAGES | _OF_DATA:
        return
    for at, each in enumerate(member.value):
        given = {fold(n): v for n, v in each.items()} if isinstance(each, dict) else {}
        start, end = (next((given[n] for n in ends if n in given), None) for ends in (_FROM, _TO))
        first, last = _day(start), _day(end)
        if first is None or last is None or not any(first <= day <= last for day in answer.days):
            continue
        rows = (Condition("date", ">=", (first,)), Condition("date", "<=", (last,)))
        state = Availability(Status.PARTIAL, None, reason_in(each) or _what(each))
        path = f"{member.path}[{at}]"
        answer.add("section", None, state, path, "outage", each, rows=rows)


def _what(given: Mapping[str, Any]) -> str | None:
    return next((v for v in given.values() if isinstance(v, str) and " " in v), None)


def read_through(answer: AnswerContext, member: ObjectMember) -> None:
    """The day up to which data are complete, where the answer's days go on."""
    day = _day(member.value)
    if day is None or not _THROUGH.fullmatch(spaced(member.key)):
        return
    ends = [_pair(member.beside.get(name))[1] for name in ("window", "period", "range")]
    if any(end and end > day for end in (*ends, *answer.days)):
        rows = after(str(member.value))
        answer.add(
            "section", None, _PENDING, member.path, "through", member.value, rows=rows, as_of=day
        )
