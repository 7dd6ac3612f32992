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
from functools import partial
from typing import Any, NamedTuple

from aatoolkit._util.lexicon import ends, fits, fold, is_whole, names, spaced, tokens, words
from aatoolkit.availability.detect.entries import (
    read_lacks,
    read_listed,
    read_object,
    read_siblings,
    read_statement,
)
from aatoolkit.availability.detect.facts import MOST_FIELDS, Facts, Member, Records, States
from aatoolkit.availability.detect.words import (
    ABSENT,
    FAILED,
    PARTIAL,
    PLAIN,
    STATED,
    STATES,
    STATUSES,
    STRONG,
    Word,
    because,
    best,
    codes_in,
    coverage,
    denial,
    explained,
    flag,
    flag_in_series,
    in_prose,
    is_code,
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
    if key == "errors" and _has_paths(value):
        return None  # each is about a field, or a page
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


def _has_paths(value: Any) -> bool:
    items = value if isinstance(value, list) else []
    return any(isinstance(item, dict) and "path" in item for item in items)


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
    """Read the word of the work that an empty response waits for: ``jobStatus``."""
    word = understand(member.value)
    if word is None or word.canonical not in _WAITING or answer.numbers:
        return None
    alone = len(tokens(member.key)) == 1 and word.canonical != "not_run"
    return explained(word.availability, member.beside) if alone or answer.is_bare else None


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


def _through(answer: Facts, member: Member) -> Reading:
    """Read the day up to which data are complete, if the response's days go on."""
    as_of = member.value[:10]
    if re.match(r"\d{4}-\d\d-\d\d", as_of) and max(answer.days, default="") > as_of:
        late = replace(PARTIAL, cause=Cause.PENDING)
        rows = after(member.value)
        answer.add(
            "section", None, late, member.path, "through", member.value, rows=rows, as_of=as_of
        )
        return True
    return None


def _named_reason(answer: Facts, member: Member) -> Reading:
    """Read a reason whose key names the absence, ``emptyReason``, or that is an object of it."""
    given = member.value if member.is_object else {"reason": member.value}
    of = " ".join(tokens(member.key) if member.is_object else tokens(member.key)[:-1])
    listed = any(isinstance(item, list) for item in given.values())
    state = denial(of) if reason_in(given) and not listed else None
    if state and member.is_object and state.status == Status.UNAVAILABLE and answer.numbers:
        state = replace(state, status=Status.PARTIAL)
    return explained(state, given) if state else None


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
    faults = names(key, "failure") or fits(key, "reasons")
    return denial(key) is not None or faults


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
    Form("through", form("through"), _TEXT, _through),
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
    Form("reason", denial, _DICT, _named_reason),
    Form("map", is_lacking, _DICT | _LIST, read_lacks),
    Form("map", kind_of_entries, _DICT | _LIST, read_listed),
    Form("count", form("part_of_data"), _DICT, lambda _, m: coverage(m.key, m.value)),
    Form("statement", subject, _LIST, read_statement),
)  # fmt: skip
"""What members of the envelope state: the first form that reads one ends."""


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
                    about = _beside(records, name) if rule.name == "cell" else None
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


def _observed(records: Records, name: str) -> States:
    """Read the codes that statistics give observations."""
    return records.states(name, observed)


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


def _words(records: Records, name: str) -> States:
    """Read words of a state, also in lists of texts."""
    states = records.states(name, partial(row_word, name))
    for at, value in records.given(name) if list in records.kinds(name) else ():
        texts = [text for text in value if isinstance(text, str)] if type(value) is list else []
        states += [(at, s) for s in [row_word(name, text) for text in texts] if s][:1]
    return _weighed(records, states)


def _weighed(records: Records, states: States) -> States:
    return [(at, weighed(state, measures(records.rows.values[at]))) for at, state in states]


def _may_be_word(key: str) -> bool:
    return subject(key) > 0 or fits(key, "notice") or names(key, "state")


def _is_row_flag(key: str) -> bool:
    in_series = any(flag_in_series(key, value) for value in (True, False))
    return in_series or fits(key, "row_flag", ("is",))


ROWS = (
    RowRule("row flag", _is_row_flag, {bool}, _flags),
    RowRule("row code", form("observation_status"), {str}, _observed),
    RowRule("cell", lambda n: suffix(n) is not None, {bool, str}, _cells),
    RowRule("row word", _may_be_word, {str, list}, _words, by_word=True),
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
