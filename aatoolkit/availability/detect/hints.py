"""Find hints: values that may say which data could be measured, but were not understood."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from aatoolkit._util.lexicon import fold, has_word_of, is_word_of, matches_form, tokens, words_of
from aatoolkit.availability.detect.response_scan import Hint, Member, ResponseScan, to_json_text
from aatoolkit.availability.detect.words import (
    STATED,
    echoes_request,
    find_absence_status_word,
    find_availability_of_listed,
    find_kind_of_listed_names,
    find_status_word,
    find_status_word_of_parts,
    read_flag_availability,
    read_loss_availability,
    score_availability_key,
)
from aatoolkit.jsontree.paths import is_within

_MAX_HINTS, _MAX_DEPTH, _MAX_CHARS, _MAX_SCORED_ITEMS = 5, 5, 200, 200
_NON_PROSE_PATTERN = re.compile(r"\d{4}-\d\d(-\d\d.*)?|https?://.*|[\d.,%\s-]*")
_STANDARD_HEADER_PATTERN = re.compile(
    r"content-(type|length|encoding|language|location|md5)|date|server|vary|etag|age|expires|via"
    r"|cache-control|connection|keep-alive|transfer-encoding|last-modified|set-cookie|x-request-id"
    r"|strict-.*|access-control-.*|x-frame-.*|x-content-.*|x-ratelimit-.*|ratelimit.*|retry-after"
)
_ABSENCE_REASON = "the words of an absence, where no rule reads them"
_KEY_REASON = "a key that is often about data"
_EMPTY_RESPONSE_REASON = "the response is empty, and this is beside it"
_PROCESS_REASON = "words that are often about how data came to be"
_UNKNOWN_WORD_REASON = "a word under a key of availability that is not known"
_MORE_DATA_REASON = "there may be more than what is given"
_SENTINEL_REASON = "a value that is declared to stand for missing"
# The score from which a value surely reports missing data; all such hints are returned.
_CERTAIN_SCORE = 100


def find_hints(response_scan: ResponseScan, headers: Mapping[str, str]) -> list[Hint]:
    """Return at most five hints about a response; those most likely to matter come first.

    A hint is a value that may say which data could be measured, but was not understood.
    """
    unknown_word_hints = [*response_scan.unknown_words.values()]
    unknown_word_hints += [
        Hint(signal.path, signal.raw, _UNKNOWN_WORD_REASON)
        for signal in response_scan.signals
        if signal.availability.status == "unknown"
    ]
    understood_paths = [signal.path for signal in response_scan.signals if signal.rule != "options"]
    scored_hints = [
        scored_hint
        for scored_hint in (*_find_header_hints(headers), *_find_nested_hints(response_scan))
        if not any(is_within(scored_hint[1].path, path) for path in understood_paths)
        and (
            scored_hint[1].path == "$"
            or not any(is_within(path, scored_hint[1].path) for path in understood_paths)
        )
    ]
    sorted_hints = sorted(scored_hints, key=lambda scored_hint: -scored_hint[0])
    hints = [hint for score, hint in sorted_hints if score >= _CERTAIN_SCORE]
    hint_paths = {hint.path for hint in hints}
    hints = [
        hint
        for hint in hints
        if not any(is_within(hint.path, path) for path in hint_paths - {hint.path})
    ]
    return [*unknown_word_hints, *(hints or [hint for _, hint in sorted_hints[:1]])][:_MAX_HINTS]


def _find_header_hints(headers: Mapping[str, str]) -> Iterator[tuple[int, Hint]]:
    """Yield a tuple of a score and a `Hint` per response header that may report missing data.

    A higher score means that the header is more likely to report missing data.
    """
    for header_name, header_value in headers.items():
        key = header_name.lower().removeprefix("x-")
        is_about_data = has_word_of(key, "about_data", "of_process")
        may_report_status = isinstance(header_value, str) and (
            is_about_data or score_availability_key(key) or find_availability_of_listed(key)
        )
        if header_name.lower() == "link" and re.search(r'rel="?next\b', str(header_value)):
            yield _CERTAIN_SCORE, Hint("header link", to_json_text(header_value), _MORE_DATA_REASON)
        elif may_report_status and not _STANDARD_HEADER_PATTERN.fullmatch(header_name.lower()):
            yield (
                _CERTAIN_SCORE,
                Hint(f"header {header_name.lower()}", to_json_text(header_value), _KEY_REASON),
            )


def _find_nested_hints(response_scan: ResponseScan) -> Iterator[tuple[int, Hint]]:
    """Yield a tuple of a score and a `Hint` per key that may report missing data.

    Keys in lists are left out. A higher score means that the key is more likely to report missing
    data.
    """
    document = response_scan.document
    has_no_data = response_scan.has_no_data or (
        not response_scan.nonzero_flags
        and isinstance(document, dict)
        and any(value in (None, []) for value in document.values())
    )
    unvisited_members = [Member("", document, "$", {})]
    for parent_member in unvisited_members:  # it grows meanwhile
        is_leaf = (
            not parent_member.is_dict
            or len(parent_member.value) > 100
            or parent_member.path.count(".") > _MAX_DEPTH
        )
        for key, value in () if is_leaf else parent_member.value.items():
            member = parent_member.make_child(key, value)
            if echoes_request(key) and fold(key) not in ("window", "cursor", "paging", "schema"):
                continue
            if not has_word_of(key, "business"):
                unvisited_members.append(member)
            is_title = has_no_data and fold(key) == "title" and str(value).count(" ") > 1
            if value in (None, [], {}, "") or (is_word_of(key, "plain") and not is_title):
                continue
            score = _score_key_and_value(response_scan, key, value)
            reason = _find_hint_reason(key, value, has_no_data=has_no_data)
            if reason:
                yield _CERTAIN_SCORE + score, Hint(member.path, to_json_text(value), reason)
            elif score > 1:
                yield score, Hint(member.path, to_json_text(value), _PROCESS_REASON)


def _find_hint_reason(key: str, value: Any, *, has_no_data: bool) -> str | None:
    """Return the reason why a key and its value surely report missing data; None if they do not.

    ``has_no_data`` says whether the whole response has no data.
    """
    if matches_form(key, "sentinel"):
        return _SENTINEL_REASON
    is_progress_number = type(value) in (int, float) and matches_form(key, "percent_done")
    is_unfinished = is_progress_number and 0 <= value < (
        1 if isinstance(value, float) and value <= 1 else 100
    )
    if (
        read_loss_availability(key, value)
        or is_unfinished
        or (value and _has_more_pages(key, value))
    ):
        return _MORE_DATA_REASON
    if any(
        find_absence_status_word([value_text])
        for value_text in _iter_texts(value)
        if len(value_text) <= _MAX_CHARS
    ) and not (isinstance(value, str) and has_word_of(key, "business")):
        return _ABSENCE_REASON
    if (
        isinstance(value, str)
        and has_no_data
        and not _NON_PROSE_PATTERN.fullmatch(value)
        and not _means_available(value)
    ):
        return _EMPTY_RESPONSE_REASON
    if not (has_no_data and isinstance(value, bool)) or has_word_of(key, "business"):
        return None
    is_about_data = (
        has_word_of(key, "about_data")
        or score_availability_key(key) == STATED
        or find_status_word_of_parts(tokens(key))
    )
    return _KEY_REASON if is_about_data or read_flag_availability(key, value) else None


def _has_more_pages(key: str, value: Any) -> bool:
    """Return whether a key and its value say that there are further pages of rows."""
    return (
        matches_form(key, "more")
        if value is True
        else type(value) in (str, int) and matches_form(key, "next_page")
    )


def _iter_texts(value: Any) -> Iterator[str]:
    """Yield the texts in a JSON value.

    These are the value itself, the items of a list, and the values of the dicts in a list.
    """
    for item in value if isinstance(value, list) else [value]:
        nested_values = (
            item.values() if isinstance(item, dict) and isinstance(value, list) else [item]
        )
        yield from (text for text in nested_values if isinstance(text, str))


def _score_key_and_value(response_scan: ResponseScan, key: str, value: Any) -> int:
    """Return how likely it is that a key and its value report missing data, as a score.

    The score is 0 if it is unlikely; it has no upper limit.
    """
    data_words = words_of("of_process", "about_data")
    score = 2 * (not data_words.isdisjoint(tokens(key)))
    if isinstance(value, bool):
        return 2 * has_word_of(key, "about_data") * (not has_word_of(key, "business"))
    if isinstance(value, int | float):
        is_total_key = {*tokens(key)[:1]} & {"of", "total", "matched"}
        exceeds_lists = is_total_key and value > max(response_scan.list_lengths, default=value)
        return 2 if exceeds_lists else score if 0 < value < 1 else 0
    score += has_word_of(key, "trouble") or score_availability_key(key) == STATED
    score += 2 * (has_word_of(key, "source") and isinstance(value, list))
    if not score and isinstance(value, list) and find_kind_of_listed_names(key) != "engine":
        return 0
    value_words = set()
    unvisited_values = [value]
    clue_count = 0
    for item in islice(unvisited_values, _MAX_SCORED_ITEMS):  # it grows meanwhile
        if isinstance(item, dict):
            unvisited_values += item.values()
            value_words |= {word for name in item for word in tokens(name)}
            clue_count += (False in item.values()) + (None in item.values())
        elif isinstance(item, list):
            unvisited_values += item
        elif (
            isinstance(item, str)
            and len(item) <= _MAX_CHARS
            and not _NON_PROSE_PATTERN.fullmatch(item)
        ):
            value_words |= {*tokens(item)}
            clue_count += 2 * (item.count(" ") > 3) + response_scan.is_engine(item)
    return score + len(value_words & data_words) + clue_count


def _means_available(text: str) -> bool:
    """Return whether a text means the status ``available``."""
    status_word = find_status_word(text)
    return status_word is not None and status_word.term == "available"
