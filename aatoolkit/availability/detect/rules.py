"""Rules: the forms in which a response states its availability, as rows of one table.

A `Form` says where it looks, at which keys and values, and what they give. The rules of a place
are tried in order, and the first that reads a value ends; the forms of many services, which need
evidence elsewhere in the response, are tried beside them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from aatoolkit._util.lexicon import ends, fits, fold, is_whole, names, spaced, tokens, words
from aatoolkit.availability.detect.entries import (
    add_entry,
    entries_in,
    read_abilities,
    read_lacks,
    read_listed_engines,
    read_lists,
    read_reason,
)
from aatoolkit.availability.detect.facts import Facts, Member
from aatoolkit.availability.detect.notices import read_footnotes, read_notices
from aatoolkit.availability.detect.statements import (
    read_object,
    read_siblings,
    read_statement,
)
from aatoolkit.availability.detect.states import coverage, explained, loss
from aatoolkit.availability.detect.words import (
    ABSENT,
    PARTIAL,
    WORDS,
    because,
    best,
    denial,
    flag,
    is_claim,
    is_echo,
    is_process,
    is_soft,
    is_stage,
    kind_of_entries,
    name_of,
    phrase,
    reason_in,
    subject,
    suffix,
    sure,
    understand,
)
from aatoolkit.availability.status import Availability, Cause, Status
from aatoolkit.availability.subject import Condition, after
from aatoolkit.jsontree.paths import key_step

_DEEPEST = 12
PENDING = Availability(Status.PARTIAL, Cause.PENDING)
TRUNCATED = Availability(Status.PARTIAL, Cause.TRUNCATED)
_WAITING = ("forbidden", "error", "pending", "not_run")
"""Words that are common for business things too; they count where nothing was measured."""

Given = Availability | bool | None
"""A state of the whole response; True if the reader has kept what it found; else nothing."""


class Form(NamedTuple):
    """A form of availability: the keys and values that have it, and what they give."""

    name: str
    key: Callable[[str], object]
    value: tuple[type, ...]
    gives: Callable[[Facts, Member], Given]


def read_envelope(answer: Facts) -> None:
    """Read what the objects of a response state: the envelope, and objects of data."""
    if isinstance(answer.document, dict):
        _read_envelope(answer, Member("", answer.document, "$", {}), 0)


def read_forms(answer: Facts) -> None:
    """Read the forms of many services."""
    for member in answer.members:
        for rule in FORMS:
            _apply(answer, rule, member)


def _apply(answer: Facts, rule: Form, member: Member) -> bool:
    if not isinstance(member.value, rule.value) or not rule.key(member.key):
        return False
    state = rule.gives(answer, member)
    if isinstance(state, Availability):
        answer.add_whole(state, member, rule.name)
    return bool(state)


def _read_envelope(answer: Facts, about: Member, depth: int) -> None:
    """Read an object about the whole response: the response itself, or its metadata."""
    read = read_siblings(answer, about.value, about.path, about.pattern)
    for name, value in about.value.items():
        # An annotation is called by what follows its namespace: ``@odata.partial``.
        key = name.rpartition(".")[2] if name.startswith("@") else name
        if name in read or is_echo(key):
            continue
        pattern = f"{about.pattern}.{name}" if about.pattern else name
        member = Member(key, value, about.path + key_step(name), about.value, pattern)
        if any(_apply(answer, rule, member) for rule in ENVELOPE) or not isinstance(value, dict):
            continue
        wrapped = is_whole(key, "wrapper")
        shared = any(place.startswith(f"{member.path[2:]}.") for place in answer.envelope)
        if depth < _DEEPEST and (ends(key, "holder") or wrapped or shared):
            inner = member._replace(pattern=pattern if wrapped else "")
            _read_envelope(answer, inner, depth + 1)
        else:
            read_object(answer, member)


# --- members of the envelope -----------------------------------------------------------------


def _any(key: str) -> bool:
    return True


def _loss(_: Facts, member: Member) -> Given:
    return loss(member.key, member.value)


def _flag(answer: Facts, member: Member) -> Given:
    key, value = member.key, member.value
    state = flag(key, value)
    if state is None or (state.status == Status.AVAILABLE and not is_claim(key)):
        return None
    if state.cause == Cause.WITHHELD and answer.numbers:
        return None
    if value and is_soft(key) and not (answer.is_listing or answer.is_bare):
        return None
    return explained(state, member.beside)


def _work(answer: Facts, member: Member) -> Given:
    """Read the word of the work that an empty response waits for: ``jobStatus``."""
    word = understand(member.value)
    if word is None or answer.numbers or answer.has_section:
        return None
    alone = len(tokens(member.key)) == 1 and word.canonical != "not_run"
    waiting = word.canonical in _WAITING and (alone or answer.is_bare)
    return explained(word.availability, member.beside) if waiting else None


def _stage(answer: Facts, member: Member) -> Given:
    """Read the state of the work behind an empty response, in an object of its own."""
    if answer.has_section:
        return None
    for name, item in member.value.items():
        inner = Member(name, item, member.path + key_step(name), member.value)
        if isinstance(item, dict) and is_stage(name):
            return _stage(answer, inner)
        word = best([item]) if is_stage(name) else None
        gathers = {*tokens(member.key)} <= words("gathering", "stage")
        certain = word and word.is_lack and gathers
        if word and word.canonical != "available" and (answer.is_bare or certain):
            answer.add_whole(explained(word.availability, member.value), inner, "status")
            return True
    return None


def _message(answer: Facts, member: Member) -> Given:
    if not answer.is_bare:
        return None
    answer.prose.append(member)
    return True


def _shared_word(answer: Facts, member: Member) -> Given:
    """Read a word in the envelope that most sections share, whatever its key."""
    word = understand(member.value) if member.path[2:] in answer.envelope else None
    if word is None or word.canonical == "available":
        return None
    return explained(word.availability, member.beside)


def _named_reason(_: Facts, member: Member) -> Given:
    """Read a reason whose key names the absence: ``emptyReason``, ``noDataReason``."""
    state = denial(" ".join(tokens(member.key)[:-1]))
    return explained(state, {"reason": member.value}) if state and member.value.strip() else None


def _coverage(_: Facts, member: Member) -> Given:
    of_data = {*tokens(member.key)} <= words("part_data")
    return coverage(member.key, member.value, listed=member.path.count(".") > 1 and of_data)


def _right(answer: Facts, member: Member) -> Given:
    """Read that the account may not see the section."""
    section = answer.section or ""
    if member.value.get(section) is not False or answer.numbers:
        return None
    path = member.path + key_step(section)
    state = Availability(Status.UNAVAILABLE, Cause.WITHHELD)
    answer.add("section", None, state, path, "flag", member.value)
    return True


def _counterpart(answer: Facts, member: Member) -> Given:
    """Read a list of engines beside one of those that could not report."""
    others = (n for n in member.beside if n != member.key and kind_of_entries(n) == "engine")
    if not any(map(denial, others)):
        return None
    inner = member._replace(value={member.key: member.value})
    return read_lists(answer, inner, paired=True)


def _source(answer: Facts, member: Member) -> Given:
    """Read that no source of data is connected, where nothing was measured."""
    named = names(member.key, "connection") or names(member.key, "stated_source")
    taken = any(signal.rule == "source" for signal in answer.signals)
    if member.value or not named or answer.numbers or taken:
        return None
    state = Availability(Status.UNAVAILABLE, Cause.NOT_CONNECTED)
    answer.add("section", None, state, member.path, "source", None)
    return True


def _sampling(_: Facts, member: Member) -> Given:
    records = member.value and all(isinstance(item, dict) for item in member.value)
    return PARTIAL if records and tokens(member.key)[:1] == ("sampling",) else None


def _ends_in_reason(key: str) -> bool:
    return (suffix(key) or ("", ""))[1] == "reason"


def _is_work(key: str) -> bool:
    return is_process(key)


_NONE = type(None)
ENVELOPE = (
    Form("footnote", lambda key: is_whole(key, "footnote"), (list, dict), read_footnotes),
    Form("count", _any, (int, float, list, str), _loss),
    Form("flag", _any, (bool,), _flag),
    Form("source", lambda key: names(key, "source"), (list, _NONE), _source),
    Form("statement", subject, (dict,), read_statement),
    Form("notice", _any, (str, list, dict), read_notices),
    Form("statement", subject, (str,), read_statement),
    Form("status", is_stage, (str,), _work),
    Form("notice", lambda key: is_whole(key, "message"), (str,), _message),
    Form("envelope", _any, (str,), _shared_word),
    Form("reason", _ends_in_reason, (str,), _named_reason),
    Form("list", _any, (dict,), read_lists),
    Form("reason", _any, (dict,), read_reason),
    Form("map", _any, (dict, list), read_lacks),
    Form("list", lambda key: kind_of_entries(key) == "engine", (list,), _counterpart),
    Form("map", kind_of_entries, (dict, list), read_listed_engines),
    Form("count", _any, (dict,), _coverage),
    Form("status", _is_work, (dict,), _stage),
    Form("map", lambda key: names(key, "ability"), (dict,), read_abilities),
    Form("flag", lambda key: names(key, "right"), (dict,), _right),
    Form("statement", subject, (list,), read_statement),
    Form("sampling", _any, (list,), _sampling),
)  # fmt: skip
"""What members of the envelope state: the first rule that reads one ends."""


# --- forms of many services ------------------------------------------------------------------

_FALSE, _TRUE = ("false", "unknown", "no"), ("true", "yes")
_OF = re.compile(r"(\d{1,9})\s*(?:of|/|out of)\s*(\d{1,9})\b")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_FROM, _TO = ("from", "start", "since", "begin"), ("to", "end", "until", "through")
_UNFINISHED = Availability(Status.UNAVAILABLE, Cause.PENDING)


def _conditions(answer: Facts, member: Member) -> Given:
    """Read conditions with a type and a status that are false, or name a problem."""
    listed = [c for c in member.value if isinstance(c, dict) and isinstance(c.get("type"), str)]
    holds = [str(condition.get("status")).lower() for condition in listed]
    if len(listed) < len(member.value) or not {*holds} <= {*_FALSE, *_TRUE}:
        return None
    for at, (condition, held) in enumerate(zip(listed, holds, strict=True)):
        state = _condition(condition, held in _TRUE)
        rest = {k: v for k, v in condition.items() if k not in ("type", "id", "name")}
        named = name_of(rest)
        inner = Member("", condition, f"{member.path}[{at}]", {})
        if state and named and (named[0] == "engine" or answer.is_engine(named[1])):
            answer.add("engine", named[1], state, inner.path, "condition", condition)
        elif state:
            answer.add_whole(state, inner, "condition")
    return None


def _condition(condition: Mapping[str, Any], holds: bool) -> Availability | None:
    kind = str(condition["type"])
    texts = [t for name in ("reason", "message") if isinstance(t := condition.get(name), str)]
    reason = next(filter(None, reversed(texts)), None)
    if holds:
        word = phrase(tokens(kind))
        return because(word.availability, reason) if word and word.is_lack else None
    meant = [word.availability for text in texts if (word := sure(text)) and word.is_lack]
    state = flag(kind, False) or next(iter(meant), None)
    if state is None and names(kind, "engine"):
        state = ABSENT
    return replace(state, reason=reason) if state else None


def _progress(_: Facts, member: Member) -> Given:
    """Read how much of the work behind the response is done, as part and whole."""
    is_job = is_whole(member.key, "job") and any(fold(name) == "total" for name in member.value)
    if not is_job and (not names(member.key, "work") or names(member.key, "business")):
        return None
    numbers = {n: v for n, v in member.value.items() if type(v) in (int, float)}
    part = next((v for n, v in numbers.items() if names(n, "done")), None)
    whole = next((v for n, v in numbers.items() if names(n, "all")), None)
    if part is not None and whole is not None and 0 <= part < whole:
        return _UNFINISHED
    texts = (v for v in member.value.values() if isinstance(v, str))
    return next(filter(None, map(_share_in_text, texts)), None)


def _share_in_text(text: str) -> Availability | None:
    share = _OF.search(text)
    return replace(_UNFINISHED, reason=text) if share and int(share[1]) < int(share[2]) else None


def _share(_: Facts, member: Member) -> Given:
    """Read how much of the work is done, as a percentage or "12 of 30 days"."""
    value = member.value
    if isinstance(value, str):
        return _share_in_text(value) if names(member.key, "work") else None
    full = 1 if isinstance(value, float) and value <= 1 else 100
    return _UNFINISHED if fits(member.key, "percent_done") and 0 <= value < full else None


def _cap(answer: Facts, member: Member) -> Given:
    """Read that there are more rows than given: a cursor, a flag, a larger total."""
    key, value = member.key.replace("@odata.", "odata "), member.value
    if isinstance(value, bool):
        more = value and fits(key, "more")
    elif isinstance(value, str | int) and value and fits(key, "next_page"):
        more = True
    elif isinstance(value, str) and value and fold(key) == "next":
        more = "links" in member.path.lower()
    elif type(value) is int and fits(key, "total"):
        counted = [
            item
            for name, item in member.beside.items()
            if type(item) is int and item in answer.lengths and fits(name, "given_rows")
        ]
        alone = len(answer.lengths) == 1 and fits(key, "row_total") and "page" not in spaced(key)
        more = any(item < value for item in counted or (answer.lengths if alone else ()))
    else:
        more = False
    return TRUNCATED if more and max(answer.lengths, default=0) > 0 else None


def _engine_runs(answer: Facts, member: Member) -> Given:
    """Read runs, answers or last moments by engine; one with 0 or null did not report."""
    parts = {*tokens(member.key)} - words("engine") - {"by", "per", "counts"}
    if len(member.value) < 2 or not all(map(answer.is_engine, member.value)):
        return None
    runs = parts and parts <= words("ran") | {"count"}
    last = names(member.key, "latest") and parts <= words("latest", "observed", "day") | {"at"}
    for entry in entries_in(member.value, member.path, "engine"):
        none = entry.value is None or (type(entry.value) is int and entry.value == 0)
        if (runs and none) or (last and entry.value is None):
            add_entry(answer, entry, Availability(*WORDS["not_run"]))
    return None


def _engine_answers(answer: Facts, member: Member) -> Given:
    """Read records of engines whose requested runs have no answers."""
    records = [item for item in member.value if isinstance(item, dict)]
    for entry in entries_in(records, member.path):
        counts = {spaced(n): v for n, v in entry.value.items() if type(v) is int}
        done = [v for name, v in counts.items() if fits(name, "answered")]
        wanted = [v for name, v in counts.items() if fits(name, "wanted")]
        is_engine = entry.scope == "engine" or answer.is_engine(entry.name)
        if is_engine and done == [0] and wanted and wanted[0] > 0:
            state = replace(ABSENT, reason=reason_in(entry.value))
            at = f"{member.path}[{member.value.index(entry.value)}]"
            answer.add("engine", entry.name, state, at, "count", entry.value)
    return None


def _day(value: Any) -> str | None:
    return value[:10] if isinstance(value, str) and _DAY.match(value) else None


def _span(given: Any) -> tuple[str | None, str | None]:
    days = {fold(n): _day(v) for n, v in given.items()} if isinstance(given, dict) else {}
    first = next((days[name] for name in _FROM if days.get(name)), None)
    return first, next((days[name] for name in _TO if days.get(name)), None)


def _window(answer: Facts, member: Member) -> Given:
    """Read a covered window that is shorter than the requested one."""
    wanted = next((v for n, v in member.value.items() if fold(n) in _WANTED), None)
    covered = next((n for n in member.value if is_whole(n, "covered")), None)
    if wanted is None or covered is None:
        return None
    value, path = member.value[covered], member.path + key_step(covered)
    (start, end), (first, last) = _span(wanted), _span(value)
    if start and first and first > start:
        rows = (Condition("date", "<", (first,)),)
        answer.add("section", None, PARTIAL, path, "window", value, rows=rows)
    if end and last and last < end:
        answer.add("section", None, PENDING, path, "window", value, rows=after(last))
    return None


_WANTED = ("requested", "asked", "wanted")


def _outages(answer: Facts, member: Member) -> Given:
    """Read spans without data: whole days are unmeasured, other days measured in part."""
    parts = {*tokens(member.key)}
    if not parts & words("outage") or not parts <= words("outage", "outage_of"):
        return None
    for at, item in enumerate(member.value):
        first, last = _span(item)
        if first is None or last is None or not any(first <= day <= last for day in answer.days):
            continue
        rows = (Condition("date", ">=", (first,)), Condition("date", "<=", (last,)))
        texts = (v for v in item.values() if isinstance(v, str) and " " in v)
        state = replace(PARTIAL, reason=reason_in(item) or next(texts, None))
        answer.add("section", None, state, f"{member.path}[{at}]", "outage", item, rows=rows)
    return None


def _through(answer: Facts, member: Member) -> Given:
    """Read the day up to which data are complete, if the response's days go on."""
    day = _day(member.value)
    if day is None:
        return None
    ends_at = [_span(member.beside.get(name))[1] for name in ("window", "period", "range")]
    if any(end and end > day for end in (*ends_at, *answer.days)):
        rows = after(member.value)
        about = {"through": day}
        answer.add(
            "section", None, PENDING, member.path, "through", member.value, rows=rows, about=about
        )
    return None


FORMS = (
    Form("condition", _any, (list,), _conditions),
    Form("count", lambda key: kind_of_entries(key) == "engine", (list,), _engine_answers),
    Form("outage", _any, (list,), _outages),
    Form("progress", _any, (dict,), _progress),
    Form("map", _any, (dict,), _engine_runs),
    Form("window", _any, (dict,), _window),
    Form("progress", _any, (str, int, float), _share),
    Form("cap", _any, (str, int), _cap),
    Form("through", lambda key: fits(key, "through"), (str,), _through),
)
"""Forms that are believed for their shape together with evidence elsewhere in the response."""
