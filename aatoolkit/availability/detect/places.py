"""Places that may be about availability and were not read: hints, the surest first.

What is not understood stays unknown, and is pointed out. A place outside the records is sure by
the words of an absence; of all others the one with most signs of how data came to be is shown, so
that a response about business gives one false hint at most.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import combinations, islice
from typing import Any

from aatoolkit._util.lexicon import ends, fold, is_whole, names, tokens, words
from aatoolkit.availability.detect.facts import Facts, Hint, raw
from aatoolkit.availability.detect.words import (
    denial,
    flag,
    in_prose,
    is_code,
    is_echo,
    loss,
    phrase,
    subject,
    understand,
)
from aatoolkit.jsontree.paths import key_step

_MOST, _DEEPEST, _LONGEST, _WIDEST, _FEW = 5, 5, 200, 200, 8
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
_SURE = 100
_STATUSES = frozenset(
    (200, 202, 204, 400, 401, 402, 403, 404, 408, 409, 410, 422, 429, *range(500, 512))
)


def find_hints(answer: Facts, headers: Mapping[str, str]) -> list[Hint]:
    """Find the hints of a response, the surest first; none where a rule read it whole."""
    unknown = [*answer.unread.values()]
    unknown += [
        Hint(signal.path, signal.raw, _UNKNOWN)
        for signal in answer.signals
        if signal.availability.status == "unknown"
    ]
    read = [signal.path for signal in answer.signals if signal.rule != "options"]
    scored = [*_of_headers(headers), *_of_members(answer), *_of_twins(answer.document)]
    marked = any(signal.rule == "footnote" for signal in answer.signals)
    open_ones = [
        (score, hint)
        for score, hint in sorted(scored, key=lambda place: -place[0])
        if not any(_touch(hint.path, path) for path in read)
        and not (marked and is_whole(hint.path.rpartition(".")[2], "footnote"))
    ]
    sure = [hint for score, hint in open_ones if score >= _SURE]
    sure = [h for h in sure if not any(_is_below(h.path, other.path) for other in sure)]
    return [*unknown, *(sure or [hint for _, hint in open_ones[:1]])][:_MOST]


def _is_below(path: str, above: str) -> bool:
    return path.startswith(above) and path[len(above) : len(above) + 1] in (".", "[")


def _touch(path: str, other: str) -> bool:
    """Whether a path is at or below the evidence of a signal, or right above it."""
    return path == other or _is_below(path, other) or (path != "$" and _is_below(other, path))


def _of_headers(headers: Mapping[str, str]) -> Iterator[tuple[int, Hint]]:
    for name, text in headers.items():
        key = name.lower().removeprefix("x-")
        if _STANDARD.fullmatch(name.lower()) or not isinstance(text, str):
            continue
        about = names(key, "about_data") or names(key, "of_process")
        if about or subject(key) or denial(key) is not None:
            yield _SURE, Hint(f"header {name.lower()}", raw(text), _KEY)


def _of_members(answer: Facts) -> Iterator[tuple[int, Hint]]:
    """Yield the members of objects outside lists, each with its score."""
    document = answer.document
    empty = isinstance(document, dict) and any(value in (None, []) for value in document.values())
    bare = answer.is_bare or (not answer.numbers and empty)
    rows = _rows_of(document)
    waiting: list[tuple[Any, str, int]] = [(document, "$", 0)]
    while waiting:
        given, path, depth = waiting.pop(0)
        for key, value in given.items() if isinstance(given, dict) and len(given) <= 100 else ():
            at = path + key_step(key)
            if is_echo(key) and fold(key) not in ("window", "cursor", "paging"):
                continue
            if isinstance(value, dict) and depth < _DEEPEST and not names(key, "business"):
                waiting.append((value, at, depth + 1))
            titled = bare and fold(key) == "title" and str(value).count(" ") > 1
            if value in (None, [], {}, "") or (is_whole(key, "plain") and not titled):
                continue
            why = _sure(key, value, bare=bare)
            told = names(key, "about_data") or names(key, "source")
            data = (rows == at and not told) or _is_below(rows, at)
            points = 0 if data else _points(answer, key, value)
            if why:
                yield _SURE + points, Hint(at, raw(value), why)
            elif points > 1:
                yield points, Hint(at, raw(value), _OF_PROCESS)


def _rows_of(document: Any) -> str:
    """The path of the likeliest list of data, which is no place of availability itself."""
    lists: list[tuple[bool, int, str]] = [(False, 0, "")]
    waiting: list[tuple[Any, str]] = [(document, "$")]
    for given, path in islice(waiting, _WIDEST):  # it grows meanwhile
        for key, value in given.items() if isinstance(given, dict) else ():
            if isinstance(value, dict):
                waiting.append((value, path + key_step(key)))
            elif isinstance(value, list) and value and isinstance(value[0], dict):
                about = names(key, "about_data") or names(key, "of_process")
                lists.append((not about, len(value), path + key_step(key)))
    return max(lists, key=lambda one: one[:2])[2]


def _sure(key: str, value: Any, *, bare: bool) -> str | None:
    """Why a member surely is a place of availability; None if it may be business."""
    if loss(key, value):
        return _TOTAL
    about = names(key, "about_data") or subject(key) == 2
    texts = value if isinstance(value, list) else [value]
    if ends(key, "notice") or is_whole(key, "footnote"):
        texts = [
            text for item in texts for text in (item.values() if isinstance(item, dict) else [item])
        ]
    plain = [text for text in texts if isinstance(text, str) and len(text) <= _LONGEST]
    if any(map(_lacks, plain)) and not (isinstance(value, str) and names(key, "business")):
        return _ABSENT
    if isinstance(value, str) and bare and not _MOMENT.fullmatch(value) and not _is_good(value):
        return _EMPTY
    is_flag = isinstance(value, bool) and (about or flag(key, value) or phrase(tokens(key)))
    return _KEY if bare and is_flag and not names(key, "business") else None


def _points(answer: Facts, key: str, value: Any) -> int:
    """Score signs of how data came to be: two points for a member's key, one per word in it."""
    about = words("of_process", "about_data")
    own = 2 * (not about.isdisjoint(tokens(key)))
    own += (names(key, "trouble") or subject(key) == 2) * isinstance(value, dict | list | str)
    if isinstance(value, bool):
        return 2 * names(key, "about_data") * (not names(key, "business"))
    if isinstance(value, int | float):
        of_all = tokens(key)[:1] in (("of",), ("total",), ("matched",)) and value > max(
            answer.lengths, default=value
        )
        return 2 if of_all else own if 0 < value < 1 else 0
    texts = isinstance(value, list) and all(isinstance(item, str) for item in value)
    own += 2 * (names(key, "source") and isinstance(value, list))
    if isinstance(value, list) and not own and not texts:
        return 0
    figures = isinstance(value, dict) and all(type(v) in (int, float) for v in value.values())
    if figures and len(value) > 1 and _STATUSES.issuperset(value.values()):
        return own + (8 if max(value.values()) >= 400 else 0)
    if isinstance(value, dict) and (len(value) > _WIDEST or (not own and figures)):
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
    return own + len(found & about) + signs


def _fall_short(given: Mapping[str, Any]) -> bool:
    """Whether two counts of one thing differ, as those that were planned and stored."""
    counts = {key: value for key, value in given.items() if type(value) is int}
    return any(
        {*tokens(one)} & {*tokens(other)} and counts[one] != counts[other]
        for one, other in combinations([*counts][:_FEW], 2)
    )


def _of_twins(document: Any) -> Iterator[tuple[int, Hint]]:
    """Yield record fields that are named after another and describe a problem."""
    waiting: list[tuple[Any, str]] = [(document, "$")]
    for given, path in islice(waiting, _WIDEST):  # it grows meanwhile
        if isinstance(given, dict):
            waiting += [(value, path + key_step(key)) for key, value in given.items()]
        records = (
            [one for one in given[:_WIDEST] if isinstance(one, dict)]
            if isinstance(given, list)
            else []
        )
        fields = dict.fromkeys(name for record in records for name in record)
        stems = {tokens(name) for name in fields}
        for name in fields:
            *stem, last = tokens(name) or ("",)
            if last not in words("twin") or not stem or tuple(stem) not in stems:
                continue
            texts = {value for record in records if isinstance(value := record.get(name), str)}
            unwell = sorted(text for text in texts if not _is_good(text))
            if unwell:
                yield 3, Hint(f"{path}[]{key_step(name)}", raw(unwell[0]), _OF_PROCESS)


def _is_good(text: str) -> bool:
    word = understand(text)
    return word is not None and word.canonical == "available"


def _lacks(text: str) -> bool:
    """Whether a text surely means an absence."""
    word = understand(text) if is_code(text) else in_prose(text)
    return word is not None and word.is_lack
