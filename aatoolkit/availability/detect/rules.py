"""Rules: the forms in which a response states its availability, as rows of one table.

A `Form` says at which keys and kinds of value it looks, and reads what they give. The rules of a
place are tried in order, and the first that reads a value ends; the forms of many services, which
need evidence elsewhere in the response, are tried beside them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from aatoolkit._util.lexicon import ends, fits, fold, is_whole, names, spaced, tokens, words
from aatoolkit.availability.detect.entries import (
    read_abilities,
    read_lacks,
    read_listed,
    read_lists,
    read_object,
    read_reason,
    read_siblings,
    read_statement,
)
from aatoolkit.availability.detect.facts import Facts, Member
from aatoolkit.availability.detect.words import (
    ABSENT,
    PARTIAL,
    STATED,
    STATES,
    affirms_beside,
    because,
    best,
    coverage,
    denial,
    explained,
    flag,
    in_prose,
    is_code,
    is_echo,
    kind_of_entries,
    lack,
    lack_of_code,
    loss,
    name_of,
    phrase,
    reason_in,
    subject,
    suffix,
    sure,
    understand,
    weighed,
)
from aatoolkit.availability.status import Availability, Cause, Status
from aatoolkit.availability.subject import Condition, after
from aatoolkit.jsontree.paths import key_step

_DEEPEST, _LONGEST = 12, 300
_UNFINISHED, TRUNCATED = STATES["pending"], STATES["truncated"]
_LATE = replace(PARTIAL, cause=Cause.PENDING)
_WAITING = ("forbidden", "error", "pending", "not_run")
"""Words that are common for business things too; they count where nothing was measured."""

Reading = Availability | bool | None
"""A state of the whole response; True if the reader has kept what it found; else nothing."""


class Form(NamedTuple):
    """A form of availability: the keys and kinds of value that have it, and what they give."""

    name: str
    key: Callable[[str], object]
    kinds: set[type]
    read: Callable[[Facts, Member], Reading]
    by_word: bool = False
    """Whether a text says nothing unless it means a lack."""


def form(name: str) -> Callable[[str], bool]:
    """Whether a key has a form of the lexicon."""
    return lambda key: fits(key, name)


def any_key(key: str) -> bool:
    """Whether a key may be looked at: any may, as its values decide."""
    return True


def read_envelope(answer: Facts) -> None:
    """Read what the objects of a response state: the envelope, and objects of data."""
    if isinstance(answer.document, dict):
        _read_about(answer, Member("", answer.document, "$", {}), 0)


def read_forms(answer: Facts) -> None:
    """Read the forms of many services."""
    for member in answer.members:
        for rule in FORMS:
            _apply(answer, rule, member)


def _apply(answer: Facts, rule: Form, member: Member) -> bool:
    if type(member.value) not in rule.kinds or not rule.key(member.key):
        return False
    state = rule.read(answer, member)
    if isinstance(state, Availability):
        answer.add_whole(state, member, rule.name)
    return bool(state)


def _read_about(answer: Facts, about: Member, depth: int) -> None:
    """Read an object about the whole response: the response itself, or its metadata."""
    read = read_siblings(answer, about)
    for name, value in about.value.items():
        # An annotation is called by what follows its namespace: ``@odata.partial``.
        key = name.rpartition(".")[2] if name.startswith("@") else name
        if name in read or is_echo(key):
            continue
        member = about.inner(name, value)._replace(key=key)
        if any(_apply(answer, rule, member) for rule in ENVELOPE) or not isinstance(value, dict):
            continue
        wrapped = is_whole(key, "wrapper")
        shared = any(place.startswith(f"{member.path[2:]}.") for place in answer.envelope)
        if depth < _DEEPEST and (ends(key, "holder") or wrapped or shared):
            inner = member if wrapped else member._replace(pattern="")
            _read_about(answer, inner, depth + 1)
        else:
            read_object(answer, member)


# --- notices: notes, warnings, remarks and footnotes, in codes and in prose ------------------

_ASIDE = re.compile(
    r"(?i)deprecat|\b(parameter|argument|endpoint|version|browser|locale|currency|time ?zone)\b"
)
"""Notices that are about the call, and not about data."""

_OF_ENGINES = (
    *("not_run", "unavailable", "not_configured", "not_connected"),
    *("not_applicable", "pending"),
)
_SPAN = re.compile(r"(?i)\b(between|from|since|until|till|on|during|before|after|for)\b[^.]*\d")
"""A time in a sentence: what it says is of that time and not of all."""

_IDLE = ("id", "name", "key", "section", "property", "path")
"""Names in a notice that are the notice's own, not those of a field."""


def _notices(answer: Facts, member: Member) -> bool:
    """Read the notes or notices under a key; return whether the key is one for them."""
    key, value = member.key, member.value
    # Remarks are about anything; where nothing was measured, they may give the reason.
    is_note, remark = fits(key, "note"), is_whole(key, "remark") and not answer.numbers
    is_read, of_engines = is_note or remark or fits(key, "notice"), False
    notices = [member]
    if isinstance(value, list):
        notices = [member.element(at, item) for at, item in enumerate(value)]
    for notice in notices:
        text = reason_in(notice.value) if isinstance(notice.value, dict) else notice.value
        if _read_engines(answer, notice, text):
            of_engines = True
        elif is_note and isinstance(text, str) and text.strip():
            word = understand(text) if is_code(text) else None
            cause = word.availability.cause if word else None
            state = Availability(Status.PARTIAL, cause, text)
            answer.add("section", None, state, notice.path, "note", notice.value)
        elif is_read and not is_note:
            _read_notice(answer, notice)
    return is_read or of_engines


def _read_engines(answer: Facts, notice: Member, text: Any) -> bool:
    """Read sentences that name engines without data; return whether one does."""
    before = len(answer.signals)
    for sentence in re.split(r"(?<=[.!?;])\s+", text) if isinstance(text, str) else ():
        word = in_prose(sentence) if " " in sentence and len(sentence) <= _LONGEST else None
        if word is None or word.canonical not in _OF_ENGINES:
            continue
        state = word.because(sentence)
        if _SPAN.search(sentence):
            state = replace(state, status=Status.PARTIAL)
        for engine in answer.engines_in(sentence):
            answer.add("engine", engine, state, notice.path, "note", notice.value)
    return len(answer.signals) > before


def _read_notice(answer: Facts, notice: Member) -> None:
    """Read a notice with a code; defer one in prose until all else is read."""
    item = notice.value
    given = item if isinstance(item, dict) else {"": item}
    texts = [text for text in given.values() if isinstance(text, str)]
    lists = {name: value for name, value in given.items() if isinstance(value, list)}
    targets = [name for name in targets_of(lists) if answer.is_engine(name) or answer.has(name)]
    word = sure(texts) if targets else None
    if word and word.canonical != "available":
        reason = next((text for text in texts if " " in text), None)
        for name in targets:
            _add_target(answer, name, word.because(reason), notice, "notice")
    if word or any(map(answer.is_engine, targets)):
        return
    for text in texts:
        state = lack_of_code(text)
        if state is not None:
            state = weighed(because(state, reason_in(given) or text), answer.numbers)
            named = name_of({name: value for name, value in given.items() if name not in _IDLE})
            scope, target = named or ("section", None)
            target = answer.about(target) if scope == "field" and target else target
            answer.add(scope, target, state, notice.path, "notice", item)
            return
    prose = ends(notice.key, "prose") or is_whole(notice.key, "remark")
    if prose and not any(map(_ASIDE.search, texts)):
        answer.prose += [notice._replace(key=text) for text in texts]


def _add_target(answer: Facts, name: str, state: Availability, note: Member, rule: str) -> None:
    """Keep what a note says of an engine or field; one with numbers is measured in part."""
    if answer.is_engine(name):
        answer.add("engine", name, state, note.path, rule, note.value)
    else:
        state = replace(state, status=Status.PARTIAL) if answer.counts(name) else state
        answer.add("field", answer.about(name), state, note.path, rule, note.value)


def read_prose(answer: Facts) -> None:
    """Read the notices of prose, where nothing else is about the section."""
    for notice in () if answer.has_section else answer.prose:
        text = notice.value if isinstance(notice.value, str) else notice.key
        word = None if _ASIDE.search(text) else understand(text) or in_prose(text)
        if word is None:
            continue
        # Everyday words are trusted only where they are the code.
        coded = is_code(text) and word.canonical not in ("available", "unavailable", "error")
        if word.is_lack or coded:
            state = weighed(word.because(text), answer.numbers)
            if state.status == Status.UNAVAILABLE and True in answer.numbers:
                state = replace(state, status=Status.PARTIAL)
            answer.add("section", None, state, notice.path, "notice", notice.value)
            return


def _footnotes(answer: Facts, member: Member) -> bool:
    """Read footnotes that name their field or engine; return whether any did."""
    before = len(answer.signals)
    for marks, text, note in footnotes_in(member):
        word = lack([text])
        for name in marks:
            is_named = answer.is_engine(name) or (answer.has(name) and not answer.counts(name))
            if word is not None and is_named:
                _add_target(answer, name, word.because(text), note, "footnote")
    return len(answer.signals) > before


def footnotes_in(member: Member) -> Iterator[tuple[list[str], str, Member]]:
    """Yield footnotes with what they are about: marks, and names of fields or engines."""
    if isinstance(member.value, dict):
        for mark, text in member.value.items():
            if isinstance(text, str):
                yield [mark], text, member.inner(mark, text)
        return
    for at, item in enumerate(member.value):
        given = item if isinstance(item, dict) else {}
        text = reason_in(given) or given.get("code")
        marks = [str(v) for k, v in given.items() if is_whole(k, "mark") and type(v) in (int, str)]
        if isinstance(text, str):
            yield [*dict.fromkeys([*targets_of(given), *marks])], text, member.element(at, item)


def targets_of(given: Mapping[str, Any]) -> list[str]:
    """The fields and engines that a note names: by one name, or in a list of them."""
    named = name_of(given)
    lists = (v for k, v in given.items() if isinstance(v, list) and names(k, "target"))
    targets = [named[1]] if named else []
    targets += [name for listed in lists for name in listed if isinstance(name, str)]
    return [*dict.fromkeys(targets)]


# --- members of the envelope -----------------------------------------------------------------


def _flag(answer: Facts, member: Member) -> Reading:
    key, value = member.key, member.value
    state = flag(key, value)
    if state is None or (state.status == Status.AVAILABLE and not fits(key, "claim")):
        return None
    if state.cause == Cause.WITHHELD and answer.numbers:
        return None
    soft = value and understand(spaced(key, ("is",)))
    if soft and soft.strength < 2 and not (answer.is_listing or answer.is_bare):
        return None
    return explained(state, member.beside)


def _work(answer: Facts, member: Member) -> Reading:
    """Read the word of the work that an empty response waits for: ``jobStatus``, ``job.state``."""
    if answer.has_section:
        return None
    if isinstance(member.value, str):
        word = understand(member.value)
        if word is None or word.canonical not in _WAITING or answer.numbers:
            return None
        alone = len(tokens(member.key)) == 1 and word.canonical != "not_run"
        return explained(word.availability, member.beside) if alone or answer.is_bare else None
    for name, item in member.value.items():
        inner = member.inner(name, item)
        if isinstance(item, dict) and fits(name, "stage"):
            return _work(answer, inner)
        word = best([item]) if fits(name, "stage") else None
        certain = word and word.is_lack and fits(member.key, "gathering")
        if word and word.canonical != "available" and (answer.is_bare or certain):
            answer.add_whole(explained(word.availability, member.value), inner, "status")
            return True
    return None


def _message(answer: Facts, member: Member) -> Reading:
    if answer.is_bare:
        answer.prose.append(member)
    return answer.is_bare


def _shared_word(answer: Facts, member: Member) -> Reading:
    """Read a word in the envelope that most sections share, whatever its key."""
    word = understand(member.value) if member.path[2:] in answer.envelope else None
    if word is None or word.canonical == "available":
        return None
    return explained(word.availability, member.beside)


def _named_reason(_: Facts, member: Member) -> Reading:
    """Read a reason whose key names the absence: ``emptyReason``, ``noDataReason``."""
    state = denial(" ".join(tokens(member.key)[:-1]))
    return explained(state, {"reason": member.value}) if state and member.value.strip() else None


def _coverage(_: Facts, member: Member) -> Reading:
    of_data = {*tokens(member.key)} <= words("part_data")
    return coverage(member.key, member.value, listed=member.path.count(".") > 1 and of_data)


def _right(answer: Facts, member: Member) -> Reading:
    """Read that the account may not see the section."""
    section = answer.section or ""
    if member.value.get(section) is not False or answer.numbers:
        return None
    path = member.path + key_step(section)
    answer.add("section", None, STATES["forbidden"], path, "flag", member.value)
    return True


def _source(answer: Facts, member: Member) -> Reading:
    """Read that no source of data is connected, where nothing was measured."""
    taken = any(signal.rule == "source" for signal in answer.signals)
    return None if member.value or answer.numbers or taken else STATES["not_connected"]


def _sampling(_: Facts, member: Member) -> Reading:
    records = member.value and all(isinstance(item, dict) for item in member.value)
    return PARTIAL if records and tokens(member.key)[:1] == ("sampling",) else None


def _is_flag(key: str) -> bool:
    return flag(key, True) is not None or flag(key, False) is not None


def _is_loss(key: str) -> bool:
    text = spaced(key).removesuffix(" count")
    return fits(text, "loss") or fits(key, "since") or fits(key, "sample_rate")


def _is_coverage(key: str) -> bool:
    parts = {*tokens(key)}
    return bool(parts) and (
        parts <= words("without") or parts <= words("part_data") or fits(key, "part_of_data")
    )


def _is_noted(key: str) -> bool:
    noted = any(is_whole(key, concept) for concept in ("remark", "footnote", "message"))
    return noted or fits(key, "note") or fits(key, "notice")


def _is_named_reason(key: str) -> bool:
    return ends(key, "reason") and (suffix(key) or ("", ""))[1] == "reason"


def is_lacking(key: str) -> bool:
    """Whether a map or list under a key may be about what lacks, or what does not."""
    faults = names(key, "failure") or fits(key, "reasons")
    return (
        denial(key) is not None
        or faults
        or (kind_of_entries(key) == "engine" and affirms_beside(key))
    )


Kinds = set[type]
_TEXT: Kinds = {str}
_LIST: Kinds = {list}
_DICT: Kinds = {dict}
_BOOL: Kinds = {bool}
_NUMBER: Kinds = {int, float}
ENVELOPE = (
    Form("footnote", lambda key: is_whole(key, "footnote"), _LIST | _DICT, _footnotes),
    Form("count", _is_loss, _NUMBER | _LIST | _TEXT, lambda _, m: loss(m.key, m.value)),
    Form("flag", _is_flag, _BOOL, _flag),
    Form("source", form("no_source"), _LIST | {type(None)}, _source),
    Form("statement", subject, _DICT, read_statement),
    Form("notice", _is_noted, _TEXT | _LIST | _DICT, _notices),
    Form("statement", lambda key: subject(key) == STATED, _TEXT, read_statement),
    Form("statement", subject, _TEXT, read_statement, by_word=True),
    Form("status", form("stage"), _TEXT, _work, by_word=True),
    Form("notice", lambda key: is_whole(key, "message"), _TEXT, _message, by_word=True),
    Form("envelope", any_key, _TEXT, _shared_word),
    Form("reason", _is_named_reason, _TEXT, _named_reason),
    Form("list", any_key, _DICT, read_lists),
    Form("reason", is_lacking, _DICT, read_reason),
    Form("map", is_lacking, _DICT | _LIST, read_lacks),
    Form("map", kind_of_entries, _DICT | _LIST, read_listed),
    Form("count", _is_coverage, _DICT, _coverage),
    Form("status", form("process"), _DICT, _work),
    Form("map", form("ability"), _DICT, read_abilities),
    Form("flag", form("right"), _DICT, _right),
    Form("statement", subject, _LIST, read_statement),
    Form("sampling", lambda key: tokens(key)[:1] == ("sampling",), _LIST, _sampling),
)  # fmt: skip
"""What members of the envelope state: the first rule that reads one ends."""


# --- forms of many services ------------------------------------------------------------------

_FALSE, _TRUE = ("false", "unknown", "no"), ("true", "yes")
_OF = re.compile(r"(\d{1,9})\s*(?:of|/|out of)\s*(\d{1,9})\b")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


def _conditions(answer: Facts, member: Member) -> Reading:
    """Read conditions with a type and a status that are false, or name a problem."""
    listed = [c for c in member.value if isinstance(c, dict) and isinstance(c.get("type"), str)]
    holds = [str(condition.get("status")).lower() for condition in listed]
    if len(listed) < len(member.value) or not {*holds} <= {*_FALSE, *_TRUE}:
        return None
    for at, (condition, held) in enumerate(zip(listed, holds, strict=True)):
        kind, inner = condition["type"], member.element(at, condition)
        texts = [t for name in ("reason", "message") if isinstance(t := condition.get(name), str)]
        word = phrase(tokens(kind)) if held in _TRUE else lack(texts)
        state = word.availability if word and word.is_lack else None
        if held in _FALSE:
            state = flag(kind, False) or state or (ABSENT if names(kind, "engine") else None)
        named = name_of({k: v for k, v in condition.items() if k not in ("type", "id", "name")})
        if state:
            state = because(state, next(filter(None, reversed(texts)), None))
            if named and (named[0] == "engine" or answer.is_engine(named[1])):
                answer.add("engine", named[1], state, inner.path, "condition", condition)
            else:
                answer.add_whole(state, inner, "condition")
    return None


def _progress(_: Facts, member: Member) -> Reading:
    """Read how much of the work is done: part and whole, a percentage, or "12 of 30 days"."""
    value = member.value
    if isinstance(value, dict):
        numbers = {n: v for n, v in value.items() if type(v) in (int, float)}
        part = next((v for n, v in numbers.items() if names(n, "done")), None)
        whole = next((v for n, v in numbers.items() if names(n, "all")), None)
        if part is not None and whole is not None and 0 <= part < whole:
            return _UNFINISHED
    for text in value.values() if isinstance(value, dict) else [value]:
        share = _OF.search(text) if isinstance(text, str) else None
        if share and int(share[1]) < int(share[2]):
            return replace(_UNFINISHED, reason=text)
    return None


def _percent(_: Facts, member: Member) -> Reading:
    full = 1 if isinstance(member.value, float) and member.value <= 1 else 100
    return _UNFINISHED if 0 <= member.value < full else None


def _more(answer: Facts, member: Member) -> Reading:
    """Read that there are more rows than given: a cursor, or a flag."""
    links = fold(member.key) != "next" or "links" in member.path.lower()
    return TRUNCATED if member.value and links and max(answer.lengths, default=0) > 0 else None


def _total(answer: Facts, member: Member) -> Reading:
    """Read a total above the rows that are given, or are said to be."""
    counted = [
        item
        for name, item in member.beside.items()
        if type(item) is int and item in answer.lengths and fits(name, "given_rows")
    ]
    alone = (
        len(answer.lengths) == 1
        and fits(member.key, "row_total")
        and "page" not in tokens(member.key)
    )
    rows = counted or (answer.lengths if alone else ())
    return TRUNCATED if any(0 < item < member.value for item in rows) else None


def _engine_runs(answer: Facts, member: Member) -> Reading:
    """Read runs, answers or last moments by engine; one with 0 or null did not report."""
    if len(member.value) < 2 or not all(map(answer.is_engine, member.value)):
        return None
    runs = fits(member.key, "runs_by_engine")
    for name, item in member.value.items():
        if item is None or (runs and type(item) is int and item == 0):
            path = member.inner(name, item).path
            answer.add("engine", name, STATES["not_run"], path, "map", item)
    return None


def _engine_answers(answer: Facts, member: Member) -> Reading:
    """Read records of engines whose requested runs have no answers."""
    for at, record in enumerate(member.value):
        named = name_of(record) if isinstance(record, dict) else None
        counts = {spaced(n): v for n, v in record.items() if type(v) is int} if named else {}
        done = [v for name, v in counts.items() if fits(name, "answered")]
        wanted = [v for name, v in counts.items() if fits(name, "wanted")]
        if named is None or not (named[0] == "engine" or answer.is_engine(named[1])):
            continue
        if done == [0] and any(wanted):
            state = replace(ABSENT, reason=reason_in(record))
            answer.add("engine", named[1], state, f"{member.path}[{at}]", "count", record)
    return None


def _day(value: Any) -> str | None:
    return value[:10] if isinstance(value, str) and _DAY.match(value) else None


def _span(given: Any) -> tuple[str | None, str | None]:
    """The first and the last day of a window."""
    days = {k: day for k, v in given.items() if (day := _day(v))} if isinstance(given, dict) else {}
    first = next((day for name, day in days.items() if is_whole(name, "span_from")), None)
    return first, next((day for name, day in days.items() if is_whole(name, "span_to")), None)


def _window(answer: Facts, member: Member) -> Reading:
    """Read a covered window that is shorter than the requested one."""
    wanted = next((v for n, v in member.value.items() if is_whole(n, "asked_for")), None)
    name = next((n for n in member.value if is_whole(n, "covered")), "")
    covered = member.inner(name, member.value.get(name))
    (start, end), (first, last) = _span(wanted), _span(covered.value)
    if start and first and first > start:
        rows = (Condition("date", "<", (first,)),)
        answer.add("section", None, PARTIAL, covered.path, "window", covered.value, rows=rows)
    if end and last and last < end:
        answer.add("section", None, _LATE, covered.path, "window", covered.value, rows=after(last))
    return None


def _outages(answer: Facts, member: Member) -> Reading:
    """Read spans without data: whole days are unmeasured, other days measured in part."""
    for at, item in enumerate(member.value):
        first, last = _span(item)
        if first is None or last is None or not any(first <= day <= last for day in answer.days):
            continue
        rows = (Condition("date", ">=", (first,)), Condition("date", "<=", (last,)))
        texts = (v for v in item.values() if isinstance(v, str) and " " in v)
        state = replace(PARTIAL, reason=reason_in(item) or next(texts, None))
        answer.add("section", None, state, f"{member.path}[{at}]", "outage", item, rows=rows)
    return None


def _through(answer: Facts, member: Member) -> Reading:
    """Read the day up to which data are complete, if the response's days go on."""
    day = _day(member.value)
    ends_at = [_span(member.beside.get(name))[1] for name in ("window", "period", "range")]
    if day and any(end and end > day for end in (*ends_at, *answer.days)):
        rows, value = after(member.value), member.value
        answer.add("section", None, _LATE, member.path, "through", value, rows=rows, as_of=day)
    return None


def is_engines(key: str) -> bool:
    """Whether a list under a key holds engines."""
    return kind_of_entries(key) == "engine"


def is_spanning(key: str) -> bool:
    """Whether an object under a key is a window of time."""
    return fits(key, "spanning")


FORMS = (
    Form("condition", lambda key: key == "conditions", _LIST, _conditions),
    Form("count", is_engines, _LIST, _engine_answers),
    Form("outage", form("outages"), _LIST, _outages),
    Form("progress", form("working"), _DICT | _TEXT, _progress),
    Form("progress", form("percent_done"), _NUMBER, _percent),
    Form("map", form("by_engine"), _DICT, _engine_runs),
    Form("window", is_spanning, _DICT, _window),
    Form("cap", form("more"), _BOOL, _more),
    Form("cap", form("next_page"), _TEXT | {int}, _more),
    Form("cap", form("total"), {int}, _total),
    Form("through", form("through"), _TEXT, _through),
)  # fmt: skip
"""Forms that are believed for their shape together with evidence elsewhere in the response."""
