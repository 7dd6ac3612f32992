"""Rules: the forms in which a response states its availability, as rows of one table.

A `Form` says at which keys and kinds of value it looks, and reads what they give. The forms of the
envelope are tried in order, and the first that reads a value ends; those of many services, which
need evidence elsewhere in the response, are tried beside them.

In rows only what is about data by its name, or with evidence beside it, is believed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial, reduce
from operator import getitem
from typing import Any, NamedTuple

from aatoolkit._util.lexicon import ends, fits, fold, is_whole, names, spaced, tokens, words
from aatoolkit.availability.detect.entries import (
    read_lacks,
    read_listed,
    read_lists,
    read_object,
    read_siblings,
    read_statement,
)
from aatoolkit.availability.detect.facts import MOST_FIELDS, Facts, Member, Records, States
from aatoolkit.availability.detect.words import (
    ABSENT,
    EMPTY,
    FAILED,
    PARTIAL,
    PLAIN,
    STATED,
    STATES,
    STATUSES,
    STRONG,
    Word,
    affirms_beside,
    because,
    best,
    codes_in,
    coverage,
    denial,
    explained,
    flag,
    flag_in_series,
    flag_of_nothing,
    in_prose,
    instead_of_number,
    is_code,
    is_coverage,
    is_echo,
    is_loss,
    kind_of_entries,
    lack,
    lack_of_code,
    loss,
    measures,
    name_of,
    observed,
    reason_in,
    row_word,
    state_in,
    state_of_sibling,
    subject,
    suffix,
    sure,
    understand,
    weighed,
)
from aatoolkit.availability.status import Availability, Cause, Status
from aatoolkit.availability.subject import after
from aatoolkit.jsontree.paths import format_path, key_step

_DEEPEST = 12
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
    """Whether a text says nothing unless it has a word of a state."""


def form(name: str) -> Callable[[str], bool]:
    """Whether a key has a form of the lexicon."""
    return lambda key: fits(key, name)


def whole(concept: str) -> Callable[[str], bool]:
    """Whether a key is a word of a concept."""
    return lambda key: is_whole(key, concept)


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
        for form_ in FORMS:
            apply(answer, form_, member)


def apply(answer: Facts, rule: Form, member: Member) -> bool:
    """Read a member by a form; return whether it did."""
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
        if any(apply(answer, rule, member) for rule in ENVELOPE) or not member.is_object:
            continue
        wrapped = is_whole(key, "wrapper")
        if depth < _DEEPEST and (wrapped or ends(key, "holder")):
            _read_about(answer, member if wrapped else member._replace(pattern=""), depth + 1)
        else:
            read_object(answer, member)


# --- notices: notes, warnings, remarks and footnotes, in codes and in prose ------------------

_ASIDE = re.compile(
    r"(?i)deprecat|\b(parameter|argument|endpoint|version|browser|locale|currency|time ?zone)\b"
)
"""Notices that are about the call, and not about data."""


def _notices(answer: Facts, member: Member) -> bool:
    """Read the notes or notices under a key; return whether the key is one for them."""
    key, value = member.key, member.value
    # Remarks are about anything; where nothing was measured, they may give the reason.
    is_note, remark = fits(key, "note"), is_whole(key, "remark") and not answer.numbers
    is_read, before = is_note or remark or fits(key, "notice"), len(answer.signals)
    notices = [member]
    if isinstance(value, list):
        notices = [member.element(at, item) for at, item in enumerate(value)]
    elif isinstance(value, dict) and is_whole(key, "footnote"):
        notices = [member.inner(name, {"field": name, "text": v}) for name, v in value.items()]
    for notice in notices:
        text = reason_in(notice.value) if notice.is_object else notice.value
        if is_note and isinstance(text, str) and text.strip():
            word = understand(text) if is_code(text) else None
            cause = word.availability.cause if word else None
            state = Availability(Status.PARTIAL, cause, text)
            answer.add("section", None, state, notice.path, "note", notice.value)
        elif not is_note:
            _read_notice(answer, notice, of_whole=is_read)
    return is_read or len(answer.signals) > before


def _read_notice(answer: Facts, notice: Member, *, of_whole: bool) -> None:
    """Read a notice of its fields, or with a code; defer one in prose until all else is read."""
    given = notice.value if notice.is_object else {"": notice.value}
    texts = [text for text in given.values() if isinstance(text, str)]
    targets = [name for name in targets_of(given) if answer.is_engine(name) or answer.has(name)]
    word = sure(texts) if targets else None
    if word:
        state = word.because(next((text for text in texts if " " in text), None))
        # What holds numbers all the same is measured in part.
        part = replace(state, status=Status.PARTIAL)
        for name in targets:
            if answer.is_engine(name):
                answer.add("engine", name, state, notice.path, "notice", notice.value)
            elif of_whole or not answer.counts(name):
                own = part if answer.counts(name) else state
                answer.add("field", answer.about(name), own, notice.path, "notice", notice.value)
    if word or not of_whole:
        return
    for text in filter(lack_of_code, texts):
        scope, target = name_of(given) or ("section", None)
        target = answer.about(target) if scope == "field" and target else target
        state = because(lack_of_code(text) or ABSENT, reason_in(given) or text)
        state = weighed(state, answer.numbers)
        answer.add(scope, target, state, notice.path, "notice", notice.value)
        return
    prose = ends(notice.key, "prose") or is_whole(notice.key, "remark")
    if prose and not any(map(_ASIDE.search, texts)):
        answer.prose += [notice._replace(key=text) for text in texts]


def targets_of(given: Mapping[str, Any]) -> list[str]:
    """The fields and engines that a note names: by one name, or in a list of them."""
    named = name_of(given)
    lists = (v for k, v in given.items() if isinstance(v, list) and names(k, "target"))
    targets = [named[1]] if named else []
    targets += [name for listed in lists for name in listed if isinstance(name, str)]
    return [*dict.fromkeys(targets)]


def read_prose(answer: Facts) -> None:
    """Read the notices of prose, where nothing else is about the section."""
    for notice in () if answer.has_section else answer.prose:
        text = notice.value if isinstance(notice.value, str) else notice.key
        word = None if _ASIDE.search(text) else understand(text) or lack([text])
        # Everyday words are trusted only where they are the code.
        everyday = word and word.canonical in ("available", "unavailable", "error")
        if word and (word.is_lack or (is_code(text) and not everyday)):
            state = weighed(word.because(text), answer.numbers)
            if state.status == Status.UNAVAILABLE and True in answer.numbers:
                state = replace(state, status=Status.PARTIAL)
            answer.add("section", None, state, notice.path, "notice", notice.value)
            return


# --- errors inside a body --------------------------------------------------------------------


def word_of(texts: Iterable[str]) -> Word | None:
    """The surest word of an error's codes, or the first word of absence in its sentences."""
    listed = [*texts]
    return best(filter(is_code, listed)) or next(filter(None, map(in_prose, listed)), None)


def texts_of(body: Any, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield the texts of an error body, also of an error object nested in it."""
    if isinstance(body, list) and body:
        body = body[0]
    if not isinstance(body, dict) or depth > 3:
        return
    for key, value in body.items():
        if is_whole(key, "error"):
            if isinstance(value, str):
                yield "detail" if " " in value else "code", value
            yield from texts_of(value, depth + 1)
    for key, value in body.items():
        if isinstance(value, str) and key != "type":
            yield key, value


def is_error_key(key: str) -> bool:
    """Whether a key may be a part of an error, or that of a failure."""
    flat = re.match(r"(error|fault)(code|message|detail)", fold(key))
    return flat is not None or key in ("success", "ok", "code", "status")


def _error(answer: Facts, member: Member) -> Reading:
    """Read an error in the body of a response that came with a good status."""
    key, value, beside = member.key, member.value, member.beside
    texts = [text for text in beside.values() if isinstance(text, str)]
    if member.path.count(".") > 2 or answer.has_section:
        return None
    if key == "errors" and isinstance(value, list) and _read_located(answer, value):
        return True
    error: Any = None
    if is_whole(key, "error"):
        error = value if _is_error(value) else None
    elif key in ("success", "ok"):
        error = beside if value is False else None
    elif key == "status":
        titled = type(value) is int and value >= 400 and isinstance(beside.get("title"), str)
        failed = isinstance(value, str) and understand(value) == understand("error")
        named = failed and len(beside) <= 6 and reason_in(beside)
        error = beside if titled or named else None
    elif lack(texts):
        parts = {fold(name): part for name, part in beside.items()}
        if key != "code":
            parts = {name[5:]: v for name, v in parts.items() if re.match("error|fault", name)}
        error = (beside if key == "code" else parts) if _is_error(parts) else None
    if error is None:
        return None
    texts_by = dict(texts_of(error if isinstance(error, dict) else {"error": error}))
    codes = (text for text in (*texts_by.values(), *codes_in(error)) if is_code(text))
    word = best(codes) or word_of(texts_by.values())
    given = error[0] if isinstance(error, list) else error
    numbers = given.values() if isinstance(given, dict) else ()
    state = next((STATUSES[v] for v in numbers if type(v) is int and v in STATUSES), FAILED)
    state = word.availability if word and word.is_lack else state
    state = replace(state, status=Status.PARTIAL) if answer.numbers else state
    reason = reason_in(texts_by) or (error if isinstance(error, str) else None)
    answer.add("section", None, replace(state, reason=reason), member.path, "error", error)
    return True


def _is_error(value: Any) -> bool:
    if isinstance(value, str):
        return bool(value.strip())
    if isinstance(value, list):
        return bool(value) and all(isinstance(v, str | dict) and _is_error(v) for v in value)
    if not isinstance(value, dict):
        return False
    parts = {fold(name) for name in value}
    worded = parts & {"message", "detail", "title", "description"}
    return bool(parts & {"message", "code", "detail"}) and (
        parts <= words("error_field")
        or bool(worded and parts & {"code", "type", "status", "reason"})
    )


def _read_located(answer: Facts, errors: list[Any]) -> bool:
    """Read errors that have the path of their field; return whether there are any."""
    located = [error for error in errors if isinstance(error, dict) and error.get("path")]
    for error in located if all(isinstance(error["path"], list) for error in located) else ():
        path, word = error["path"], sure([*codes_in(error), reason_in(error)])
        state = replace(word.availability if word else FAILED, reason=reason_in(error))
        certain = word is not None or path[0] in ("data", "result")
        for root in ([], ["data"], ["result"])[0 if certain else 1 :]:
            try:
                holder = reduce(getitem, (*root, *path[:-1]), answer.document)
            except (LookupError, TypeError):
                continue
            if isinstance(holder, dict) and holder.get(path[-1]) in (None, []):
                steps = (f"[{s}]" if isinstance(s, int) else key_step(s) for s in (*root, *path))
                scope = "row" if any(isinstance(step, int) for step in path) else "field"
                target, at = "".join(steps).removeprefix("."), errors.index(error)
                answer.add(scope, target, state, f"$.errors[{at}]", "error", error)
                break
    return bool(located)


# --- members of the envelope -----------------------------------------------------------------


def _flag(answer: Facts, member: Member) -> Reading:
    key, value = member.key, member.value
    state = flag(key, value)
    if state is None or (state.status == Status.AVAILABLE and not fits(key, "claim")):
        return None
    if state.cause == Cause.WITHHELD and answer.numbers:
        return None
    soft = value and understand(spaced(key, ("is",)))
    if soft and not soft.is_lack and not (answer.is_listing or answer.is_bare):
        return None
    return explained(state, member.beside)


def _work(answer: Facts, member: Member) -> Reading:
    """Read the word of the work that an empty response waits for: ``jobStatus``, ``job.state``."""
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
    """Defer a message of an empty response; an object for one is the reason in any words."""
    if not answer.is_bare:
        return None
    if isinstance(member.value, str):
        answer.prose.append(member)
        return True
    texts = [text for text in member.value.values() if isinstance(text, str)]
    word, reason = lack(texts), reason_in(member.value)
    return replace(word.availability if word else ABSENT, reason=reason) if reason else None


def _named_reason(answer: Facts, member: Member) -> Reading:
    """Read a reason whose key names the absence, ``emptyReason``, or that is an object of it."""
    given = member.value if member.is_object else {"reason": member.value}
    of = " ".join(tokens(member.key) if member.is_object else tokens(member.key)[:-1])
    state = denial(of) if reason_in(given) else None
    if state and member.is_object and state.status == Status.UNAVAILABLE and answer.numbers:
        state = replace(state, status=Status.PARTIAL)
    return explained(state, given) if state else None


def _coverage(_: Facts, member: Member) -> Reading:
    return coverage(member.key, member.value, listed=member.path.count(".") > 1)


def _source(answer: Facts, member: Member) -> Reading:
    """Read that no source of data is connected, where nothing was measured."""
    taken = any(signal.rule == "source" for signal in answer.signals)
    return None if member.value or answer.numbers or taken else STATES["not_connected"]


def _is_flag(key: str) -> bool:
    return flag(key, True) is not None or flag(key, False) is not None


def _is_noted(key: str) -> bool:
    noted = any(is_whole(key, concept) for concept in ("remark", "footnote"))
    return noted or fits(key, "note") or fits(key, "notice")


def _ends_in_reason(key: str) -> bool:
    return (suffix(key) or ("", ""))[1] == "reason"


def is_lacking(key: str) -> bool:
    """Whether a map or list under a key may be about what lacks, or what does not."""
    affirmed = kind_of_entries(key) == "engine" and affirms_beside(key)
    faults = names(key, "failure") or fits(key, "reasons")
    return denial(key) is not None or faults or affirmed


Kinds = set[type]
_TEXT: Kinds = {str}
_LIST: Kinds = {list}
_DICT: Kinds = {dict}
_BOOL: Kinds = {bool}
_NUMBER: Kinds = {int, float}
ENVELOPE = (
    Form("error", whole("error"), _TEXT | _LIST | _DICT, _error),
    Form("error", is_error_key, _BOOL | {int}, _error),
    Form("error", is_error_key, _TEXT, _error, by_word=True),
    Form("count", is_loss, _NUMBER | _LIST | _TEXT, lambda _, m: loss(m.key, m.value)),
    Form("flag", _is_flag, _BOOL, _flag),
    Form("source", form("no_source"), _LIST | {type(None)}, _source),
    Form("statement", subject, _DICT, read_statement),
    Form("notice", _is_noted, _TEXT | _LIST | _DICT, _notices),
    Form("statement", lambda key: subject(key) == STATED, _TEXT, read_statement),
    Form("statement", subject, _TEXT, read_statement, by_word=True),
    Form("status", form("stage"), _TEXT, _work, by_word=True),
    Form("reason", whole("message"), _TEXT, _message, by_word=True),
    Form("reason", whole("message"), _DICT, _message),
    Form("reason", _ends_in_reason, _TEXT, _named_reason),
    Form("list", any_key, _DICT, read_lists),
    Form("reason", denial, _DICT, _named_reason),
    Form("map", is_lacking, _DICT | _LIST, read_lacks),
    Form("map", kind_of_entries, _DICT | _LIST, read_listed),
    Form("count", is_coverage, _DICT, _coverage),
    Form("status", form("process"), _DICT, _work),
    Form("statement", subject, _LIST, read_statement),
)  # fmt: skip
"""What members of the envelope state: the first form that reads one ends."""


# --- forms of many services ------------------------------------------------------------------

_OF = re.compile(r"(\d{1,9})\s*(?:of|/|out of)\s*(\d{1,9})\b")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


def _progress(_: Facts, member: Member) -> Reading:
    """Read how much of the work is done: part and whole, a percentage, or "12 of 30 days"."""
    value = member.value
    if isinstance(value, dict):
        numbers = {n: v for n, v in value.items() if type(v) in (int, float)}
        part = next((v for n, v in numbers.items() if names(n, "done")), None)
        total = next((v for n, v in numbers.items() if names(n, "all")), None)
        if part is not None and total is not None and 0 <= part < total:
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
    alone = len(answer.lengths) == 1 and fits(member.key, "row_total")
    rows = counted or (answer.lengths if alone else ())
    return TRUNCATED if any(0 < item < member.value for item in rows) else None


def _through(answer: Facts, member: Member) -> Reading:
    """Read the day up to which data are complete, if the response's days go on."""
    value = member.value
    ends_at = [
        day
        for name in ("window", "period", "range")
        if isinstance(span := member.beside.get(name), dict)
        for key, day in span.items()
        if is_whole(key, "span_to") and isinstance(day, str)
    ]
    if _DAY.match(value) and any(day[:10] > value[:10] for day in (*ends_at, *answer.days)):
        rows, as_of = after(value), value[:10]
        answer.add("section", None, _LATE, member.path, "through", value, rows=rows, as_of=as_of)
    return None


def _sentinels(answer: Facts, member: Member) -> Reading:
    """Read the values that a response declares to mean missing, and the cells that hold them."""
    if isinstance(member.value, dict):
        words_of = {code: lack([text]) for code, text in member.value.items()}
        codes = {code: w.because(member.value[code]) for code, w in words_of.items() if w}
    else:
        listed = member.value if isinstance(member.value, list) else [member.value]
        codes = dict.fromkeys(map(str, listed), ABSENT)
    for fact in answer.facts:
        values = fact.values.values if fact.steps and not fact.is_list else ()
        if names(fact.key, "when") or not any(map(_is_number, values)):
            continue
        for at, value in enumerate(values):
            state = codes.get(f"{value:.0f}" if type(value) is float else str(value))
            if state is not None and type(value) in (int, float, str):
                path = fact.values.path(at)
                scope = "row" if fact.in_list else "field"
                target = path.removeprefix("$.") if fact.in_list else format_path(fact.steps)
                answer.add(scope, target, state, path, "sentinel", value)
    return None


def _is_number(value: object) -> bool:
    text = value if isinstance(value, str) else ""
    return type(value) in (int, float) or re.fullmatch(r"-?\d+([.,]\d+)*%?", text) is not None


FORMS = (
    Form("progress", form("working"), _DICT | _TEXT, _progress),
    Form("progress", form("percent_done"), _NUMBER, _percent),
    Form("cap", form("more"), _BOOL, _more),
    Form("cap", form("next_page"), _TEXT | {int}, _more),
    Form("cap", form("total"), {int}, _total),
    Form("through", form("through"), _TEXT, _through),
    Form("sentinel", form("sentinel"), _TEXT | _NUMBER | _LIST | _DICT, _sentinels),
)  # fmt: skip
"""Forms that are believed for their shape together with evidence elsewhere in the response."""


# --- rows: what the records of a list state about their own data -----------------------------


class RowRule(NamedTuple):
    """A form of a field of records: its name, the keys and kinds of values, and what it gives."""

    name: str
    key: Callable[[str], object]
    kinds: set[type]
    read: Callable[[Records, str], States | None]
    by_word: bool = False
    """Whether a text says nothing unless it means a lack."""


def read_rows(answer: Facts) -> None:
    """Read what the records of every list state about their own data."""
    for records in answer.records:
        for name in records.names if len(records.names) <= MOST_FIELDS else ():
            kinds = records.kinds(name)
            for rule in ROWS:
                if rule.kinds & kinds and rule.key(name):
                    states = rule.read(records, name)
                    about = {"cell": _beside(records, name), "sign": name}.get(rule.name)
                    for at, state in states or ():
                        records.add(name, at, state, rule.name, about)
                    if states is not None:
                        break
            if dict in kinds and not fits(name, "absence"):
                _read_statements(records, name)


def _flags(records: Records, name: str) -> States | None:
    """Read flags which need no evidence beside them, or only a day."""
    if fits(name, "row_flag", ("is",)):
        return records.states(name, partial(flag, name), bool)
    dated = records.are_dated
    return records.states(name, partial(flag_in_series, name), bool) if dated else None


def _flags_of_nothing(records: Records, name: str) -> States:
    """Read flags of denial, if no denied row holds a number but 0."""
    zero = records.are_dated or bool({*tokens(name)[-1:]} & {"collected", "ingested"})
    states = records.states(name, partial(flag_of_nothing, name), bool)
    lacking = [at for at, state in states if state.status in EMPTY]
    idle = lacking and all(records.is_idle(at, zero=zero) for at in lacking)
    return states if idle else []


def _observed(records: Records, name: str) -> States | None:
    """Read the codes that statistics give observations.

    Under a name such as ``flag`` letters may be anything: they are codes where each value that
    is null has one that gives the reason.
    """
    states = records.states(name, observed)
    if fits(name, "observation_status"):
        return states
    value = next((n for n in records.names if is_whole(n, "one_value")), None)
    read = dict(states)
    null = [at for at, item in enumerate(records.column(value)) if item is None] if value else []
    marks = [at for at, mark in records.given(name) if type(mark) is str and mark]
    explained = all(at in read and read[at].status in EMPTY for at in null)
    return states if null and explained and len(read) == len(marks) else None


def _absences(records: Records, name: str) -> States:
    """Read reasons for an absence that are objects of codes, such as a data-absent-reason."""
    listed = ((at, best(codes_in(v))) for at, v in records.given(name) if type(v) in (dict, list))
    return [(at, w.availability) for at, w in listed if w and w.canonical != "available"]


def _beside(records: Records, name: str) -> str | None:
    """The field of records that another is about by its name."""
    about, _ = suffix(name) or ("", "")
    other = next((n for n in records.names if fold(n) == about), None) if about else None
    return other if other != name else None


def _cells(records: Records, name: str) -> States | None:
    """Read a key about another of its record, where that other is null."""
    beside = _beside(records, name)
    if beside is None:
        return None
    of, kind = records.column(beside), (suffix(name) or ("", ""))[1]
    given = [(at, v, of[at]) for at, v in records.given(name) if isinstance(v, bool | str)]
    # A text that is there exactly where the other is null can only be the reason for that.
    texts = [type(v) is str and bool(v.strip()) for v in records.column(name)]
    apart = kind == "reason" and texts == [item is None for item in of]
    states = []
    for at, value, item in given:
        state = state_of_sibling(kind, value, item if isinstance(item, str | int | float) else None)
        certain = apart or isinstance(value, bool) or best([value], STRONG)
        zero = item == 0 and isinstance(value, str) and best([value], PLAIN)
        fine = state and (item is None) != (state.status == Status.AVAILABLE)
        if state and (zero or (fine and certain)):
            states.append((at, state))
    return states if any(state.status != Status.AVAILABLE for _, state in states) else []


def _reasons(records: Records, name: str) -> States:
    """Read codes of a record's reason, where a number that others have is null."""
    states = records.states(name, lack_of_code)
    certain = fits(name, "absence")
    return _weighed(records, [pair for pair in states if certain or records.lacking(pair[0])])


def _words(records: Records, name: str) -> States:
    """Read words of a state, also in lists of texts."""
    states = records.states(name, partial(row_word, name))
    for at, value in records.given(name) if list in records.kinds(name) else ():
        texts = [text for text in value if isinstance(text, str)] if type(value) is list else []
        states += [(at, s) for s in [row_word(name, text) for text in texts] if s][:1]
    return _weighed(records, states)


def _weighed(records: Records, states: States) -> States:
    return [(at, weighed(state, measures(records.rows.values[at]))) for at, state in states]


def _signs(records: Records, name: str) -> States:
    is_numeric = records.kinds(name) & {int, float}
    return records.states(name, instead_of_number) if is_numeric else []


def _may_be_word(key: str) -> bool:
    return subject(key) > 0 or fits(key, "notice") or names(key, "state")


def _is_row_flag(key: str) -> bool:
    in_series = any(flag_in_series(key, value) for value in (True, False))
    return in_series or fits(key, "row_flag", ("is",))


def _is_denial(key: str) -> bool:
    return any(flag_of_nothing(key, value) for value in (True, False))


ROWS = (
    RowRule("row flag", _is_row_flag, {bool}, _flags),
    RowRule("row flag", _is_denial, {bool}, _flags_of_nothing),
    RowRule("row code", form("observation_status"), {str}, _observed),
    RowRule("row code", form("flagging"), {str}, _observed, by_word=True),
    RowRule("row reason", lambda n: fits(n, "absence"), {dict, list}, _absences),
    RowRule("cell", lambda n: suffix(n) is not None, {bool, str}, _cells),
    RowRule("row reason", lambda n: ends(n, "reason"), {str}, _reasons, by_word=True),
    RowRule("row word", _may_be_word, {str, list}, _words, by_word=True),
    RowRule("sign", any_key, {str}, _signs),
)  # fmt: skip
"""What fields of records state: the first rule that has something to read of a field ends."""


def _read_statements(records: Records, name: str) -> None:
    """Read statements in records: beside a null value, or under a key that names them."""
    stated = subject(name) == STATED
    for at, value in records.given(name):
        if type(value) is not dict or not (stated or value.get("value", 0) is None):
            continue
        state = state_in(value, STRONG)
        if state is not None and (stated or state.status != Status.AVAILABLE):
            records.add(name, at, state, "row statement", None if stated else name)
