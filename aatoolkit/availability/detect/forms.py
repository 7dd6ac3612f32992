"""Forms in which services of all kinds state availability, whatever the names of their keys.

``conditions`` with type, status and reason; progress and cap pairs; cursors and
``Content-Range``; engines named in a map; the window that was covered, the day up to which data
are complete. Each form is believed for its shape together with evidence in the answer (rows that
are counted, days after that day), not for the name of a key alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from aatoolkit.availability import Availability, Cause, Condition, Status
from aatoolkit.availability.detect import keys, roles
from aatoolkit.availability.detect.context import AnswerContext
from aatoolkit.availability.detect.fields import ObjectMember, members
from aatoolkit.availability.detect.parts import reason_in
from aatoolkit.availability.detect.roles import (
    ENGINES,
    fold,
    kind_of_entries,
    spaced,
    tokens,
    words,
)
from aatoolkit.availability.detect.transport import TRUNCATED, read_counts
from aatoolkit.availability.detect.vocabulary import (
    STRONG,
    Word,
    because,
    best,
    in_prose,
    phrase,
    understand,
)
from aatoolkit.availability.subject import after
from aatoolkit.jsontree.paths import Each, key_step

_PENDING = Availability(Status.PARTIAL, Cause.PENDING)

_FALSE, _TRUE = ("false", "unknown", "no"), ("true", "yes")

_WORK = words(
    "progress backfill collection ingestion import sync processing calculation computation"
    " completion"
)
_DONE = words("done completed processed loaded collected finished ready current")
_ALL = words("total expected all planned target of overall")
_PERCENT = re.compile(
    r"(percent|pct|percentage) (complete|completed|done|collected|processed|loaded)"
    r"|(progress|completion|collection|backfill) (percent|pct|percentage)"
    r"|(complete|completed|collected|processed|loaded|ingested|imported) (percent|pct|percentage)"
)
_JOBS = words("job run export query load build")
"""Work whose part and whole are its own, where an object holds both and names nothing else."""

_OF = re.compile(r"(\d{1,9})\s*(?:of|/|out of)\s*(\d{1,9})\b")

_ROWS = "rows?|records?|results?|items?|hits?|elements?|matches|entries"
_TOTAL = re.compile(
    rf"(total|matched|matching|overall|full|available|all) ?({_ROWS})? ?(count|total)?"
    rf"|({_ROWS}) (total|matched|available)|odata count"
)
_ROW_TOTAL = re.compile(rf"(total|matched|matching) ({_ROWS})( count)?|({_ROWS}) total")
_GIVEN = re.compile(rf"({_ROWS}|returned|shown|listed|displayed) ?({_ROWS})? ?(count|returned)?")
_NEXT = re.compile(
    r"(odata )?next (page )?(cursor|page|token|link|url|href|marker|page token)"
    r"|continuation( token)?|(odata )?next link"
)
_MORE = re.compile(r"(has |is )?(more|next)( page)?( available)?|more (results|rows|available)")

_RUNS = words("run runs answers samples observations responses collected executed")
_LAST = words("last latest fresh freshness newest")
_SEEN = words("run ran observed collected updated crawled synced measured")
_ANSWERED = re.compile(r"(answered|collected|completed|successful|received)( runs| answers)?")
_WANTED = ("asked", "expected", "planned", "requested")


def read_forms(answer: AnswerContext, headers: Mapping[str, str]) -> None:
    """Read the forms of an answer and its headers."""
    lengths = _lengths(answer)
    read_counts(answer, headers, lengths)
    for member in members(answer.document):
        if isinstance(member.value, list):
            _conditions(answer, member)
            _runs(answer, member)
            _outages(answer, member)
        elif isinstance(member.value, dict):
            _progress(answer, member)
            _engine_map(answer, member)
            _window(answer, member)
        _share(answer, member)
        _cap(answer, member, lengths)
        _through(answer, member)


def _add(answer: AnswerContext, state: Availability, member: ObjectMember, rule: str) -> None:
    answer.add("section", None, state, member.path, rule, member.value)


def meaning(text: str) -> Word | None:
    """The word that a label, reason or sentence means, if it is surely about data."""
    return best([text], STRONG) or (None if understand(text) else in_prose(text))


# --- conditions ------------------------------------------------------------------------------


def _conditions(answer: AnswerContext, member: ObjectMember) -> None:
    """Read conditions with a type and a status that are false, or name a problem."""
    listed = member.value
    if not all(isinstance(each, dict) and isinstance(each.get("type"), str) for each in listed):
        return
    for at, each in enumerate(listed if None not in map(_holds, listed) else ()):
        state = _condition(each)
        if state is None:
            continue
        named = roles.name_of({k: v for k, v in each.items() if k not in ("type", "id", "name")})
        path = f"{member.path}[{at}]"
        if named and (named[0] == "engine" or answer.is_engine(named[1])):
            answer.add("engine", named[1], state, path, "condition", each)
        else:
            answer.add("section", None, answer.weighed(state), path, "condition", each)


def _holds(condition: Mapping[str, Any]) -> bool | None:
    status = condition.get("status")
    text = str(status).lower() if isinstance(status, bool | str) else ""
    return True if text in _TRUE else False if text in _FALSE else None


def _condition(condition: Mapping[str, Any]) -> Availability | None:
    kind = str(condition["type"])
    texts = [text for name in ("reason", "message") if isinstance(text := condition.get(name), str)]
    known = [word for text in texts if (word := meaning(text))]
    reason = next(filter(None, reversed(texts)), None)
    if _holds(condition):
        word = phrase(tokens(kind))
        return because(word.availability, reason) if word and word.is_lack else None
    denied = keys.flag(kind, False)
    lacking = [word.availability for word in known if word.canonical != "available"]
    if denied is None and lacking:
        denied = lacking[0]
    elif denied is None and ENGINES & {*tokens(kind)}:
        denied = Availability(Status.UNAVAILABLE)
    return replace(denied, reason=reason) if denied else None


# --- progress and caps -----------------------------------------------------------------------


def _progress(answer: AnswerContext, member: ObjectMember) -> None:
    """Read how much of the work behind the answer is done, as part and whole."""
    is_job = fold(member.key) in _JOBS and any(fold(n) == "total" for n in member.value)
    if not is_job and (not {*tokens(member.key)} & _WORK or roles.is_business(member.key)):
        return
    numbers = {n: v for n, v in member.value.items() if type(v) in (int, float)}
    part = next((v for n, v in numbers.items() if {*tokens(n)} & _DONE), None)
    whole = next((v for n, v in numbers.items() if {*tokens(n)} & _ALL), None)
    texts = [v for v in member.value.values() if isinstance(v, str) and _OF.search(v)]
    if part is not None and whole is not None and 0 <= part < whole:
        _add(answer, answer.unfinished(), member, "progress")
    elif texts:
        _share(answer, member._replace(value=texts[0]))


def _share(answer: AnswerContext, member: ObjectMember) -> None:
    """Read how much of the work is done, as a percentage or "12 of 30 days"."""
    text, value = spaced(member.key), member.value
    if type(value) in (int, float) and _PERCENT.fullmatch(text):
        full = 1 if isinstance(value, float) and value <= 1 else 100
        if 0 <= value < full:
            _add(answer, answer.unfinished(), member, "progress")
    elif isinstance(value, str) and {*tokens(member.key)} & _WORK:
        found = _OF.search(value)
        if found and int(found[1]) < int(found[2]):
            _add(answer, replace(answer.unfinished(), reason=value), member, "progress")


def _lengths(answer: AnswerContext) -> set[int]:
    """The lengths of the answer's outermost lists of records."""
    return {
        len(each.values) for each in answer.fields if each.is_list and each.steps.count(Each()) == 1
    }


def _cap(answer: AnswerContext, member: ObjectMember, lengths: set[int]) -> None:
    """Read that there are more rows than given: a cursor, a flag, a larger total."""
    key = member.key.replace("@odata.", "odata ")
    text, value = spaced(key), member.value
    linked = fold(text) == "next" and "links" in member.path.lower()
    if isinstance(value, bool):
        more = value and _MORE.fullmatch(text) is not None
    elif isinstance(value, str | int) and value and (_NEXT.fullmatch(text) or linked):
        more = True
    elif type(value) is int and _TOTAL.fullmatch(text):
        counted = [
            item
            for name, item in member.beside.items()
            if type(item) is int and item in lengths and _GIVEN.fullmatch(spaced(name))
        ]
        alone = len(lengths) == 1 and _ROW_TOTAL.fullmatch(text) and "page" not in text
        more = any(item < value for item in counted or (lengths if alone else ()))
    else:
        more = False
    if more and lengths and max(lengths) > 0:
        _add(answer, TRUNCATED, member, "cap")


# --- engines ---------------------------------------------------------------------------------


def _engine_map(answer: AnswerContext, member: ObjectMember) -> None:
    """Read runs, answers or last moments by engine; one with 0 or null did not report."""
    value, parts = member.value, {*tokens(member.key)} - ENGINES - {"by", "per", "counts"}
    if len(value) < 2 or not all(map(answer.is_engine, value)):
        return
    runs = parts and parts <= _RUNS | {"count"}
    last = bool(parts & _LAST) and parts <= _LAST | _SEEN | {"at", "date", "day"}
    for name, item in value.items():
        none = item is None or (type(item) is int and item == 0)
        if (runs and none) or (last and item is None):
            state = Availability(Status.UNAVAILABLE, Cause.NOT_RUN)
            answer.add("engine", name, state, member.path + key_step(name), "map", item)


def _runs(answer: AnswerContext, member: ObjectMember) -> None:
    """Read records of engines whose requested runs have no answers."""
    if kind_of_entries(member.key) != "engine":
        return
    for at, each in enumerate(member.value):
        named = roles.name_of(each) if isinstance(each, dict) else None
        if named is None or not (named[0] == "engine" or answer.is_engine(named[1])):
            continue
        numbers = {spaced(n): v for n, v in each.items() if type(v) is int}
        done = [v for n, v in numbers.items() if _ANSWERED.fullmatch(n)]
        wanted = [v for n, v in numbers.items() if n in _WANTED]
        if done == [0] and wanted and wanted[0] > 0:
            state = Availability(Status.UNAVAILABLE, None, reason_in(each))
            answer.add("engine", named[1], state, f"{member.path}[{at}]", "count", each)


# --- spans of time -----------------------------------------------------------------------------

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


def _window(answer: AnswerContext, member: ObjectMember) -> None:
    """Read a covered window that is shorter than the requested one."""
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


def _outages(answer: AnswerContext, member: ObjectMember) -> None:
    """Read spans without data: whole days are unmeasured, other days measured in part."""
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


def _through(answer: AnswerContext, member: ObjectMember) -> None:
    """Read the day up to which data are complete, if the answer's days go on."""
    day = _day(member.value)
    if day is None or not _THROUGH.fullmatch(spaced(member.key)):
        return
    ends = [_pair(member.beside.get(name))[1] for name in ("window", "period", "range")]
    if any(end and end > day for end in (*ends, *answer.days)):
        rows = after(str(member.value))
        answer.add(
            "section", None, _PENDING, member.path, "through", member.value, rows=rows, as_of=day
        )
