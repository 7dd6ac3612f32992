"""Find hints: values that may say which data could be measured, but were not understood."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from aatoolkit._util.lexicon import fold, has_word_of, is_word_of, matches_form, tokens, words_of
from aatoolkit.availability.detect.facts import Facts, Hint, Member, raw
from aatoolkit.availability.detect.words import (
    STATED,
    find_absence_word,
    find_entry_kind,
    find_word,
    find_word_of_parts,
    rate_key,
    repeats_question,
    state_of_loss,
    state_of_named_flag,
    state_of_names_under,
)
from aatoolkit.jsontree.paths import is_within

_MAX_HINTS, _MAX_DEPTH, _MAX_TEXT, _MAX_ITEMS = 5, 5, 200, 200
_NO_TEXT = re.compile(r"\d{4}-\d\d(-\d\d.*)?|https?://.*|[\d.,%\s-]*")
_STANDARD_HEADERS = re.compile(
    r"content-(type|length|encoding|language|location|md5)|date|server|vary|etag|age|expires|via"
    r"|cache-control|connection|keep-alive|transfer-encoding|last-modified|set-cookie|x-request-id"
    r"|strict-.*|access-control-.*|x-frame-.*|x-content-.*|x-ratelimit-.*|ratelimit.*|retry-after"
)
_WHY_ABSENT = "the words of an absence, where no rule reads them"
_WHY_KEY = "a key that is often about data"
_WHY_EMPTY = "the response is empty, and this is beside it"
_WHY_PROCESS = "words that are often about how data came to be"
_WHY_UNKNOWN = "a word under a key of availability that is not known"
_WHY_MORE = "there may be more than what is given"
_WHY_SENTINEL = "a value that is declared to stand for missing"
_SURE_SCORE = 100


def find_hints(facts: Facts, headers: Mapping[str, str]) -> list[Hint]:
    """Return at most five hints about a response, the likeliest first.

    A hint is a value that may say which data could be measured, but was not understood.
    """
    unknown_words = [*facts.unknown_words.values()]
    unknown_words += [
        Hint(signal.path, signal.raw, _WHY_UNKNOWN)
        for signal in facts.signals
        if signal.availability.status == "unknown"
    ]
    read_paths = [signal.path for signal in facts.signals if signal.rule != "options"]
    scored_hints = [
        scored_hint
        for scored_hint in (*_find_header_hints(headers), *_find_member_hints(facts))
        if not any(is_within(scored_hint[1].path, path) for path in read_paths)
        and (
            scored_hint[1].path == "$"
            or not any(is_within(path, scored_hint[1].path) for path in read_paths)
        )
    ]
    sorted_hints = sorted(scored_hints, key=lambda scored_hint: -scored_hint[0])
    hints = [hint for score, hint in sorted_hints if score >= _SURE_SCORE]
    paths = {hint.path for hint in hints}
    hints = [
        hint
        for hint in hints
        if not any(is_within(hint.path, path) for path in paths - {hint.path})
    ]
    return [*unknown_words, *(hints or [hint for _, hint in sorted_hints[:1]])][:_MAX_HINTS]


def _find_header_hints(headers: Mapping[str, str]) -> Iterator[tuple[int, Hint]]:
    """Yield tuples of score and `Hint` for response headers that may report missing data."""
    for name, text in headers.items():
        key = name.lower().removeprefix("x-")
        is_about_data = has_word_of(key, "about_data") or has_word_of(key, "of_process")
        is_statement = isinstance(text, str) and (
            is_about_data or rate_key(key) or state_of_names_under(key)
        )
        if name.lower() == "link" and re.search(r'rel="?next\b', str(text)):
            yield _SURE_SCORE, Hint("header link", raw(text), _WHY_MORE)
        elif is_statement and not _STANDARD_HEADERS.fullmatch(name.lower()):
            yield _SURE_SCORE, Hint(f"header {name.lower()}", raw(text), _WHY_KEY)


def _find_member_hints(facts: Facts) -> Iterator[tuple[int, Hint]]:
    """Yield tuples of score and `Hint` for keys outside of lists that may report missing data."""
    document = facts.document
    is_bare = facts.is_bare or (
        not facts.number_kinds
        and isinstance(document, dict)
        and any(value in (None, []) for value in document.values())
    )
    pending = [Member("", document, "$", {})]
    for holder in pending:  # it grows meanwhile
        is_skipped = (
            not holder.is_object or len(holder.value) > 100 or holder.path.count(".") > _MAX_DEPTH
        )
        for key, value in () if is_skipped else holder.value.items():
            member = holder.child(key, value)
            if repeats_question(key) and fold(key) not in ("window", "cursor", "paging", "schema"):
                continue
            if not has_word_of(key, "business"):
                pending.append(member)
            is_title = is_bare and fold(key) == "title" and str(value).count(" ") > 1
            if value in (None, [], {}, "") or (is_word_of(key, "plain") and not is_title):
                continue
            score = _score_member(facts, key, value)
            reason = _find_sure_reason(key, value, is_bare=is_bare)
            if reason:
                yield _SURE_SCORE + score, Hint(member.path, raw(value), reason)
            elif score > 1:
                yield score, Hint(member.path, raw(value), _WHY_PROCESS)


def _find_sure_reason(key: str, value: Any, *, is_bare: bool) -> str | None:
    """Return the reason for which a key and its value certainly report missing data, or None."""
    if matches_form(key, "sentinel"):
        return _WHY_SENTINEL
    is_percent = type(value) in (int, float) and matches_form(key, "percent_done")
    is_unfinished = is_percent and 0 <= value < (
        1 if isinstance(value, float) and value <= 1 else 100
    )
    if state_of_loss(key, value) or is_unfinished or (value and _has_more(key, value)):
        return _WHY_MORE
    if any(
        find_absence_word([text]) for text in _iter_texts(value) if len(text) <= _MAX_TEXT
    ) and not (isinstance(value, str) and has_word_of(key, "business")):
        return _WHY_ABSENT
    if (
        isinstance(value, str)
        and is_bare
        and not _NO_TEXT.fullmatch(value)
        and not _means_available(value)
    ):
        return _WHY_EMPTY
    if not (is_bare and isinstance(value, bool)) or has_word_of(key, "business"):
        return None
    is_about_data = (
        has_word_of(key, "about_data") or rate_key(key) == STATED or find_word_of_parts(tokens(key))
    )
    return _WHY_KEY if is_about_data or state_of_named_flag(key, value) else None


def _has_more(key: str, value: Any) -> bool:
    """Return whether a key and its value say that there are further pages of rows."""
    return (
        matches_form(key, "more")
        if value is True
        else type(value) in (str, int) and matches_form(key, "next_page")
    )


def _iter_texts(value: Any) -> Iterator[str]:
    """Yield the texts in a value: itself, list items, and the values of dicts in a list."""
    for item in value if isinstance(value, list) else [value]:
        texts = item.values() if isinstance(item, dict) and isinstance(value, list) else [item]
        yield from (text for text in texts if isinstance(text, str))


def _score_member(facts: Facts, key: str, value: Any) -> int:
    """Return a score from 0: how likely a key and its value report missing data."""
    data_words = words_of("of_process", "about_data")
    score = 2 * (not data_words.isdisjoint(tokens(key)))
    if isinstance(value, bool):
        return 2 * has_word_of(key, "about_data") * (not has_word_of(key, "business"))
    if isinstance(value, int | float):
        names_total = {*tokens(key)[:1]} & {"of", "total", "matched"}
        has_more = names_total and value > max(facts.list_lengths, default=value)
        return 2 if has_more else score if 0 < value < 1 else 0
    score += has_word_of(key, "trouble") or rate_key(key) == STATED
    score += 2 * (has_word_of(key, "source") and isinstance(value, list))
    if not score and isinstance(value, list) and find_entry_kind(key) != "engine":
        return 0
    word_parts = set()
    pending = [value]
    sign_count = 0
    for item in islice(pending, _MAX_ITEMS):  # it grows meanwhile
        if isinstance(item, dict):
            pending += item.values()
            word_parts |= {word for name in item for word in tokens(name)}
            sign_count += (False in item.values()) + (None in item.values())
        elif isinstance(item, list):
            pending += item
        elif isinstance(item, str) and len(item) <= _MAX_TEXT and not _NO_TEXT.fullmatch(item):
            word_parts |= {*tokens(item)}
            sign_count += 2 * (item.count(" ") > 3) + facts.is_engine(item)
    return score + len(word_parts & data_words) + sign_count


def _means_available(text: str) -> bool:
    word = find_word(text)
    return word is not None and word.canonical == "available"
