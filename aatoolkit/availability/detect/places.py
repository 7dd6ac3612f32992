"""Hints: values that may be about availability and were not read.

What is not understood stays unknown, and is pointed out. Looked at are headers and the members
of objects outside lists of records; never what repeats the question, and nothing at, above or
below the evidence of a signal. Hints are few, the surest first. Where none is sure, the one place
with most words of how data came to be is shown: an answer about business gives one false hint at
most.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain, combinations, islice
from typing import Any

from aatoolkit._util.lexicon import ends, fold, is_whole, names, tokens, words
from aatoolkit.availability.detect.facts import Facts, Hint, raw
from aatoolkit.availability.detect.notices import targets_of
from aatoolkit.availability.detect.states import loss
from aatoolkit.availability.detect.words import (
    STATED,
    denial,
    flag,
    in_prose,
    is_code,
    is_echo,
    is_word,
    phrase,
    subject,
    understand,
)
from aatoolkit.jsontree.paths import key_step

_MOST = 5
"""More hints than this are not shown: somebody is to look at each."""

_DEEPEST = 5
_LONGEST = 200
_WIDEST = 200
_FEW = 8

_TWINS = words("twin")
_TWIN_ENDS = tuple(_TWINS)
"""The last part of the name of a field that describes the field it is named after."""

_IDLE_KEYS = words("plain")
_MOMENT = re.compile(r"\d{4}-\d\d(-\d\d.*)?|https?://.*|[\d.,%\s-]*")
_STANDARD = re.compile(
    r"content-(type|length|encoding|language|location|md5)|date|server|vary|etag|age|expires|via"
    r"|cache-control|connection|keep-alive|transfer-encoding|last-modified|set-cookie|x-request-id"
    r"|strict-.*|access-control-.*|x-frame-.*|x-content-.*|x-ratelimit-.*|ratelimit.*|retry-after"
)
_ABSENT = "the words of an absence, where no rule reads them"
_KEY = "a key that is often about data"
_EMPTY = "the answer is empty, and this is beside it"
_OF_PROCESS = "words that are often about how data came to be"
_UNKNOWN = "a word under a key of availability that is not known"
_TOTAL = "a count above the rows that are given"


def find_hints(answer: Facts, headers: Mapping[str, str]) -> list[Hint]:
    """Find the hints of an answer, the surest first; none where a rule read it whole."""
    if answer.is_ruled:
        return [*_unknown(answer)]
    read = [signal.path for signal in answer.signals if signal.rule != "options"]
    found = [*_unknown(answer)]
    ranked: list[tuple[int, Hint]] = []
    is_bare = _is_empty(answer)
    for name, text in headers.items():
        rank = _header(name, text)
        if rank and not any(path == f"header {name.lower()}" for path in read):
            ranked.append((rank, Hint(f"header {name.lower()}", raw(text), _KEY)))
    marked = any(signal.rule == "footnote" for signal in answer.signals)
    for key, value, path, at_top in _members(answer.document):
        if marked and is_whole(key, "footnote"):
            continue
        if not any(_touch(path, other) for other in read):
            ranked += _judge(answer, key, value, path, at_top, is_bare=is_bare)
    sure = [hint for rank, hint in sorted(ranked, key=lambda each: -each[0]) if rank > 1]
    weak = [hint for rank, hint in ranked if rank == 1] or [*_likeliest(answer, read)]
    return (found + _outermost(sure) + ([] if sure else weak[:1]))[:_MOST]


def _likeliest(answer: Facts, read: list[str]) -> Iterator[Hint]:
    """Yield the member outside rows with most words of how data came to be, if there is one.

    No single word of these is sure, and an answer gets one such hint at most: somebody is to look.
    """
    ranked = [*_twins(answer.document)]
    members = [*_members(answer.document)]
    lists = {
        path: (not {*tokens(key)} & words("of_process", "about_data"), len(value))
        for key, value, path, _ in members
        if _are_records(value)
    }
    rows = max(lists, key=lambda path: lists[path], default="")
    for key, value, path, _ in members:
        if fold(key) in _IDLE_KEYS or value is None or value in ([], {}, ""):
            continue
        if rows == path or _is_below(rows, path):
            continue
        points = _points(answer, key, value)
        if points > 1 and not any(_touch(path, other) for other in read):
            ranked.append((points, Hint(path, raw(value), _OF_PROCESS)))
    if ranked:
        yield max(ranked, key=lambda each: each[0])[1]


def _are_records(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _points(answer: Facts, key: str, value: Any) -> int:
    """Score words of how data came to be: two points for a member's key, one per word in it."""
    own = 2 * bool({*tokens(key)} & words("of_process", "about_data"))
    is_text = isinstance(value, list) and all(isinstance(each, str) for each in value)
    if isinstance(value, bool) or (isinstance(value, list) and not own and not is_text):
        return 0
    if isinstance(value, int | float):
        return own if 0 < value < 1 else 0
    if isinstance(value, dict) and (len(value) > _WIDEST or (not own and _is_figures(value))):
        return 0
    found: set[str] = set()
    waiting, signs = [value], 0
    for given in islice(waiting, _WIDEST):  # it grows meanwhile
        if isinstance(given, dict) and len(given) <= _WIDEST:
            waiting += given.values()
            found |= {word for name in given for word in tokens(name)}
            signs += sum(map(answer.is_engine, given)) > 1
            signs += 2 * _fall_short(given) + (False in given.values()) + (None in given.values())
        elif isinstance(given, list):
            waiting += given[:_WIDEST]
        elif isinstance(given, str) and len(given) <= _LONGEST and not _MOMENT.fullmatch(given):
            found |= {*tokens(given)}
            signs += 2 * (given.count(" ") > 3) + answer.is_engine(given)
    return own + len(found & words("of_process", "about_data")) + signs


def _fall_short(given: Mapping[str, Any]) -> bool:
    """Whether two counts of one thing differ, as those that were planned and stored."""
    counts = {key: each for key, each in given.items() if type(each) is int}
    return any(
        {*tokens(one)} & {*tokens(other)} and counts[one] != counts[other]
        for one, other in combinations([*counts][:_FEW], 2)
    )


def _twins(document: Any) -> Iterator[tuple[int, Hint]]:
    """Yield hints of record fields that are named after another and describe a problem."""
    for _, value, path, _ in _members(document):
        listed = value[:_WIDEST] if isinstance(value, list) else []
        records = [each for each in listed if isinstance(each, dict)]
        names = dict.fromkeys(chain.from_iterable(records))
        # To look at the end of a name costs less than to split it.
        ends = ((name, name[:_LONGEST].lower()) for name in names)
        twins = [n for n, low in ends if low.endswith(_TWIN_ENDS) or not low[-1:].isalnum()]
        words = {*map(tokens, names if twins else ())}
        texts: dict[str, set[str]] = {}
        for name in twins:
            *stem, last = tokens(name) or ("",)
            if last in _TWINS and stem and tuple(stem) in words:
                texts[name] = set()
        for each in records if texts else ():
            for name in each.keys() & texts.keys():
                if isinstance(each[name], str):
                    texts[name].add(each[name])
        for name, found in texts.items():
            unwell = sorted(text for text in found if not _is_good(text))
            if unwell:
                yield 3, Hint(f"{path}[]{key_step(name)}", raw(unwell[0]), _OF_PROCESS)


def _unknown(answer: Facts) -> Iterator[Hint]:
    """Yield hints of words that a rule read as unknown, or does not know."""
    yield from answer.unread.values()
    for signal in answer.signals:
        if signal.availability.status == "unknown":
            yield Hint(signal.path, signal.raw, _UNKNOWN)


def _outermost(hints: list[Hint]) -> list[Hint]:
    """Drop hints that are below another."""
    return [
        hint
        for hint in hints
        if not any(hint is not each and _is_below(hint.path, each.path) for each in hints)
    ]


def _is_below(path: str, above: str) -> bool:
    return path.startswith(above) and path[len(above) : len(above) + 1] in (".", "[")


def _touch(path: str, other: str) -> bool:
    """Whether a path is at or below the evidence of a signal, or right above it."""
    return path == other or _is_below(path, other) or (path != "$" and _is_below(other, path))


def _members(document: Any) -> Iterator[tuple[str, Any, str, bool]]:
    """Yield the members of objects outside lists, without echoes of the question."""
    waiting = [(document, "$", 0)]
    while waiting:
        given, path, depth = waiting.pop(0)
        members = given.items() if isinstance(given, dict) and len(given) <= 100 else ()
        for key, value in members:
            at = path + key_step(key)
            if is_echo(key) and fold(key) not in ("window", "cursor", "paging"):
                continue
            yield key, value, at, depth == 0
            if isinstance(value, dict) and depth < _DEEPEST and not names(key, "business"):
                waiting.append((value, at, depth + 1))


def _header(name: str, text: object) -> int:
    key = re.sub(r"(?i)^x-", "", name)
    if _STANDARD.fullmatch(name.lower()) or not isinstance(text, str):
        return 0
    if (
        {*tokens(key)} & words("of_process", "about_data")
        or subject(key)
        or denial(key) is not None
    ):
        return 2
    return 0


def _judge(
    answer: Facts, key: str, value: Any, path: str, at_top: bool, *, is_bare: bool
) -> Iterator[tuple[int, Hint]]:
    """Yield a member as a hint, with its rank: 3 for words of absence, 1 for a key alone."""
    folded = fold(key)
    titled = is_bare and folded == "title" and isinstance(value, str) and value.count(" ") > 1
    if (folded in _IDLE_KEYS and not titled) or value is None or value in ([], {}, ""):
        return
    about = bool({*tokens(key)} & words("about_data")) or subject(key) == STATED
    if isinstance(value, str):
        if len(value) <= _LONGEST and not names(key, "business") and _lacks(value):
            yield 3, Hint(path, raw(value), _ABSENT)
        elif is_bare and not _MOMENT.fullmatch(value) and not _is_good(value):
            yield 2, Hint(path, raw(value), _EMPTY)
        elif about and not _MOMENT.fullmatch(value):
            yield 1, Hint(path, raw(value), _KEY)
    elif isinstance(value, bool):
        known = flag(key, value) or phrase(tokens(key))
        if (about or (known and is_bare)) and not names(key, "business"):
            yield (2 if is_bare else 1), Hint(path, raw(value), _KEY)
    elif isinstance(value, dict):
        scalars = [v for v in value.values() if not isinstance(v, dict | list)]
        engines = len(value) > 1 and all(map(answer.is_engine, value))
        if ({*tokens(key)} & _TROUBLES and value) or (len(value) > 1 and about and _differ(value)):
            yield 2, Hint(path, raw(value), _KEY)
        elif about and (scalars or engines or is_bare) and not _is_figures(value):
            yield 2 if is_bare or engines else 1, Hint(path, raw(value), _KEY)
        elif engines and at_top and any(v is None for v in value.values()):
            yield 1, Hint(path, raw(value), _KEY)
    elif isinstance(value, list):
        texts = [each for each in value if isinstance(each, str)]
        records = [each for each in value if isinstance(each, dict)]
        if any(_lacks(word) for word in texts if len(word) <= _LONGEST) or _says(key, records):
            yield 3, Hint(path, raw(value), _ABSENT)
        elif (about or names(key, "source")) and (_are_troubled(records) or _deny(value)):
            yield 2, Hint(path, raw(value), _KEY)
        elif about and (texts or any(isinstance(each, dict) for each in value)):
            yield 1, Hint(path, raw(value), _KEY)
    elif type(value) in (int, float) and loss(key, value):
        yield 3, Hint(path, raw(value), _TOTAL)
    elif type(value) is int and at_top and tokens(key)[:1] in (("of",), ("total",), ("matched",)):
        counted = [len(v) for v in answer.document.values() if isinstance(v, list)]
        if counted and 0 < max(counted) < value:
            yield 1, Hint(path, raw(value), _TOTAL)
    elif about and at_top:
        yield 1, Hint(path, raw(value), _KEY)


_TROUBLES = words("trouble")
_WELL = words("well")


def _says(key: str, records: list[dict[str, Any]]) -> bool:
    """Whether notices list what they are about, or one of their texts means a lack."""
    if not (ends(key, "notice") or is_whole(key, "footnote")):
        return False
    texts = [v for each in records for v in each.values() if isinstance(v, str)]
    lists = ({k: v for k, v in each.items() if isinstance(v, list)} for each in records)
    return any(map(targets_of, lists)) or any(
        len(text) <= _LONGEST and _lacks(text) for text in texts
    )


def _deny(values: list[Any]) -> bool:
    """Whether flags one by one deny something."""
    return False in values and all(isinstance(each, bool) for each in values)


def _are_troubled(records: list[dict[str, Any]]) -> bool:
    """Whether some of several checks, parts or spans are not well."""
    for each in records:
        for key, value in each.items():
            known = understand(value) if isinstance(value, str) else None
            if value is False and {*tokens(key)} & _WELL:
                return True
            if known is not None and known.canonical != "available" and is_word(key):
                return True
            if known is not None and known.canonical in ("error", "not_run", "not_connected"):
                return True
    return any({"from", "start", "since"} & {*map(fold, each)} for each in records)


def _differ(value: Mapping[str, Any]) -> bool:
    """Whether several objects give their states, and not the same one."""
    inner = [item for item in value.values() if isinstance(item, dict)]
    states = [next((str(v) for k, v in item.items() if is_word(k)), None) for item in inner]
    return len(inner) == len(value) and None not in states and len({*states}) > 1


def _is_empty(answer: Facts) -> bool:
    """Whether an answer measured nothing, and null or an empty list is at its top."""
    given = answer.document.values() if isinstance(answer.document, dict) else ()
    return answer.is_bare or (not answer.numbers and any(value in (None, []) for value in given))


def _is_good(text: str) -> bool:
    known = understand(text)
    return known is not None and known.canonical == "available"


def _is_figures(value: Mapping[str, Any]) -> bool:
    """Whether an object holds nothing but numbers, as metrics do."""
    return all(type(item) in (int, float) for item in value.values())


def _lacks(text: str) -> bool:
    """Whether a text surely means an absence."""
    known = understand(text) if is_code(text) else in_prose(text)
    return known is not None and known.is_lack
