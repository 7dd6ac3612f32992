"""Candidates: places of a section's responses that may state availability, for a person to confirm.

A place is scored by what the data do, words second: numbers are missing where it has a value and
there where it has another (separation), it differs between hosts and where nothing was measured
(contrast), its words deny, it names an engine that never ran; minus things of business. A place
is never applied: it is pointed out by ``tables.hints`` until a rule reads it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aatoolkit._util.lexicon import names, tokens, words
from aatoolkit.availability.detect import detect, raw
from aatoolkit.availability.detect.words import in_prose, is_code, is_echo, is_of_trade, understand
from aatoolkit.jsontree.paths import Each, Entries, Field, Step, format_path
from aatoolkit.profile.contrast import is_state, value_at

MOST = 3
"""So many places of a section are pointed out at most."""

_LEAST, _FEW_ROWS, _FEW_WORDS, _LONGEST, _DEEPEST = 3, 12, 6, 200, 6
_CODE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[a-z][a-z0-9]*(?:_[a-z0-9]+)+")

_NUMBER = re.compile(r"-?\d[\d\s.,]*\s?%?")

Seen = list[tuple[Any, bool | None]]
"""Values of a place, each with whether numbers are beside it; None where nobody knows."""


@dataclass(frozen=True)
class Candidate:
    """A place of a response that may state availability.

    Attributes
    ----------
    at : str
        The path, in the words of `aatoolkit.sections.Rule`.
    value : object
        What is there.
    others : tuple
        What is there in responses that were narrowed, where that differs.
    why : str
        What speaks for it.
    score : int
        How much does; only for the order.
    beside : mapping of str to object
        What is there in the responses for other hosts.
    words : mapping of str to str
        The words that were seen there in any response, each with what it probably means.
    """

    at: str
    value: Any
    others: tuple[Any, ...]
    why: str
    score: int
    beside: Mapping[str, Any] = field(default_factory=dict, hash=False)
    words: Mapping[str, str] = field(default_factory=dict, hash=False)


def candidates(
    document: Any,
    parts: Sequence[Any] = (),
    engines: Collection[str] = (),
    idle: Collection[str] = (),
    maps: Collection[tuple[Step, ...]] = (),
    *,
    beside: Mapping[str, Any] | None = None,
    elsewhere: Mapping[tuple[Step, ...], Collection[str]] | None = None,
    empty: Any = None,
) -> list[Candidate]:
    """Find the places of a response that may state availability, the likeliest first.

    Parameters
    ----------
    document : object
        The decoded response.
    parts : sequence
        The same section's responses where some engines were asked for.
    engines, idle : collection of str
        The engines of the project, and those that are not configured or never ran.
    maps : collection of tuple of Step
        Where there are objects whose keys are data.
    beside : mapping of str to object
        The same section of other hosts.
    elsewhere : mapping of tuple of Step to collection of str
        Places that other sections have, too, and the words there; see `shared_states`.
    empty : object
        The same section's response where nothing was measured, such as that of an engine that
        never ran.

    Examples
    --------
    >>> response = {"support": {"alpha": "shown", "beta": "not_run_yet"}, "rows": [{"n": 3}]}
    >>> [(one.at, one.why) for one in candidates(response, (), ["alpha", "beta"], ["beta"])]
    [('support', 'names beta, which never ran')]
    """
    responses = [document, *parts, *(beside or {}).values(), *([] if empty is None else [empty])]
    measured = [_counts(response) for response in responses]
    read = [signal.path for signal in detect(document).signals]
    read += [
        s.path for s in detect(empty).signals if value_at(document, (Field(_top(s.path)),)) is None
    ]
    seen: dict[tuple[Step, ...], Seen] = defaultdict(list)
    for response, counts in zip(responses, measured, strict=True):
        for path, value, counted in _places(response, (), {*engines}, {*maps}):
            seen[path].append((value, counts if counted is None else counted))
    scored = []
    for path, values in seen.items():
        score, why = _score(path, values, {*idle})
        here = _value(document, path, values)
        held = {host: value_at(there, path) for host, there in (beside or {}).items()}
        at_parts = [value_at(part, path) for part in parts]
        others = tuple(v for v in at_parts if v is not None and v != here)
        blank = None if empty is None else value_at(empty, path)
        contrasts = [*_contrasts(here, others, held, blank, (elsewhere or {}).get(path, ()), score)]
        if blank is not None and value_at(document, path) in (None, "", [], {}):
            contrasts = [(2, "is there only where nothing was measured")]
        score += sum(points for points, _ in contrasts)
        why = "; ".join([why, *(reason for _, reason in contrasts)] if why else
                        [reason for _, reason in contrasts])  # fmt: skip
        meant = _meanings(path, values, {*idle}, (elsewhere or {}).get(path, ()))
        scored.append(Candidate(format_path(path), here, others, why, score, held, meant))
    kept = [one for one in scored if one.score >= _LEAST and not _is_read(one.at, read)]
    kept = [one for one in kept if not (isinstance(one.value, str) and one.value in engines)]
    return _grouped(sorted(kept, key=lambda one: -one.score))[:MOST]


def _value(document: Any, path: tuple[Step, ...], values: Seen) -> Any:
    """What is at a path: the value there; of rows the rarest, of another response the first."""
    here = value_at(document, path)
    if here is not None or all(isinstance(step, Field) for step in path):
        return values[0][0] if here is None else here
    listed = [value for value, _ in values]
    return min(listed, key=lambda value: (listed.count(value), repr(value)))


def _contrasts(
    here: Any,
    others: tuple[Any, ...],
    held: Mapping[str, Any],
    blank: Any,
    shared: Collection[str],
    score: int,
) -> Iterator[tuple[int, str]]:
    """Yield points and reasons for what is elsewhere in the place of a value."""
    if others and score:
        yield 1, "differs where some engines were asked for"
    hosts = [host for host, there in held.items() if there != here]
    if hosts and (score or all(map(is_state, [here, *held.values()]))):
        yield 3, f"differs for {', '.join(hosts)}"
    states = is_state(here) and is_state(blank)
    if blank is not None and blank != here and (score or states):
        yield 3, f"is {raw(blank)[:60]} where nothing was measured"
    if shared:
        yield 3, "a word that other sections have, too"


def _places(
    given: Any, path: tuple[Step, ...], engines: set[str], maps: set[tuple[Step, ...]]
) -> Iterator[tuple[tuple[Step, ...], Any, bool | None]]:
    """Yield places outside rows, and states in rows, with whether numbers are beside each."""
    if not isinstance(given, dict) or len(path) > _DEEPEST or len(given) > 100:
        return
    for key, value in given.items():
        here = (*path, Field(key))
        if is_echo(key):
            continue
        if isinstance(value, dict):
            if _is_by_engine(value, engines) and _is_flat(value):
                yield here, value, None
            elif here in maps:
                records = [item for item in value.values() if isinstance(item, dict)]
                yield from _in_rows(records, (*here, Entries()), engines)
            else:
                yield from _places(value, here, engines, maps)
        elif isinstance(value, list):
            texts = [item for item in value if isinstance(item, str) and len(item) <= _LONGEST]
            records = [item for item in value if isinstance(item, dict)]
            if value and len(texts) == len(value) <= _FEW_ROWS:
                yield here, value, None
            elif len(records) <= _FEW_ROWS and all(map(_tells, records)):
                for record in records:
                    for name, item in record.items():
                        if isinstance(item, str) and _CODE.fullmatch(item):
                            yield (*here, Each(), Field(name)), item, None
            elif records:
                yield from _in_rows(records, (*here, Each()), engines)
        elif isinstance(value, str | bool) and len(str(value)) <= _LONGEST:
            yield here, value, None


def _in_rows(
    records: list[dict[str, Any]], path: tuple[Step, ...], engines: set[str], depth: int = 0
) -> Iterator[tuple[tuple[Step, ...], Any, bool | None]]:
    """Yield fields of rows with a name for states and few words, and maps by engine."""
    for key in dict.fromkeys(key for record in records for key in record):
        values = [record.get(key) for record in records]
        inner = [value for value in values if isinstance(value, dict)]
        here = (*path, Field(key))
        by_engine = [one for one in inner if _is_by_engine(one, engines) and _is_flat(one)]
        if by_engine:
            yield here, by_engine[0], None
        elif inner and depth < 2:
            yield from _in_rows(inner, here, engines, depth + 1)
        texts = {value for value in values if isinstance(value, str)}
        if not names(key, "place") or not 0 < len(texts) <= _FEW_WORDS:
            continue
        counted = [
            any(type(v) in (int, float) and v for k, v in record.items() if k != key)
            for record in records
        ]
        about = names(key, "place_data") or names(key, "place_reason")
        lacking = {value for value, number in zip(values, counted, strict=True) if not number}
        present = {value for value, number in zip(values, counted, strict=True) if number}
        apart = bool(present) and not lacking & present and any(map(_denies, lacking & texts))
        for value, number in zip(values, counted, strict=True) if about or apart else ():
            if isinstance(value, str):
                yield here, value, number


def _top(path: str) -> str:
    return re.split(r"[.\[\]\"]+", path.removeprefix("$."))[0]


def _counts(value: Any, key: str = "") -> bool:
    """Whether a response gives a number other than 0, also as a text."""
    if isinstance(value, dict):
        return any(not is_echo(name) and _counts(item, name) for name, item in value.items())
    if isinstance(value, list):
        return any(_counts(item, key) for item in value)
    text = str(value).strip() if isinstance(value, int | float | str) else ""
    is_number = _NUMBER.fullmatch(text) is not None and not isinstance(value, bool)
    return is_number and text.strip("0.,% ") != "" and not names(key, "form")


def _is_by_engine(value: Mapping[str, Any], engines: set[str]) -> bool:
    return bool(value) and sum(key in engines for key in value) >= 0.8 * len(value)


def _is_flat(value: Mapping[str, Any]) -> bool:
    return all(item is None or isinstance(item, str | bool) for item in value.values())


def _tells(record: Mapping[str, Any]) -> bool:
    """Whether a record gives a reason, which measurements do not."""
    reasons = any(names(key, "place_reason") for key in record)
    return reasons and not any(type(value) is float for value in record.values())


def _denies(value: Any) -> bool:
    """Whether a value's words mean an absence."""
    if not isinstance(value, str):
        return False
    word = understand(value) if is_code(value) else in_prose(value)
    lacks = word is not None and word.canonical != "available"
    return lacks or (is_code(value) and not words("negation").isdisjoint(tokens(value)))


def _score(path: tuple[Step, ...], values: Seen, idle: set[str]) -> tuple[int, str]:
    """Score how likely a place states availability; return also the main reason."""
    keys = [step.name for step in path if isinstance(step, Field)]
    score, why = 0, ""
    if names(keys[-1], "place"):
        score, why = 2, "a name for states of data"
    elif len(keys) > 1 and names(keys[-2], "place"):
        score, why = 1, "below a name for states of data"
    listed = [text for value, _ in values for text in _texts(value)]
    named = sorted({name for name in idle for text in listed if name in text})
    flags = [value for value, _ in values if isinstance(value, bool)]
    if any(names(key, "business") for key in keys) or any(map(is_of_trade, listed[:1])):
        score -= 2
    if named:
        extra = 2 if isinstance(values[0][0], dict) else 0
        return score + 3 + extra, f"names {', '.join(named)}, which never ran"
    if any(map(_denies, listed)):
        return score + 3, "the words of an absence"
    if isinstance(values[0][0], dict) and len({*map(repr, values[0][0].values())}) > 1:
        return score + 2, why or "a word for each engine"
    if any(_CODE.fullmatch(text) for text in listed):
        return score + 1, why or "a code"
    if flags:
        return (score + 1, why) if score else (0, "")
    is_list = isinstance(values[0][0], list) and score
    return (score + bool(is_list), why) if score > 1 else (0, "")


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts of a value: itself, the items of a list, keys and values of a map."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from (item.values() if isinstance(item, dict) else [item])
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _texts(item)


def _meanings(
    path: tuple[Step, ...], values: Seen, idle: set[str], shared: Collection[str]
) -> dict[str, str]:
    """Propose what the words of a place mean: by themselves, or by the numbers beside them.

    A reason, or what stands under a key that denies, never means that all is there.
    """
    lacks = any(names(step.name, "place_lack") for step in path if isinstance(step, Field))
    numbers: dict[str, set[bool | None]] = {word: set() for word in shared}
    waits: set[str] = set()
    for value, counted in values:
        entries = value.items() if isinstance(value, dict) else [("", value)]
        for engine, item in entries:
            if isinstance(item, list):
                for one in item:
                    numbers.setdefault(str(one), set()).add(counted)
            elif isinstance(item, str | bool):
                text = str(item).lower() if isinstance(item, bool) else item
                numbers.setdefault(text, set()).add(engine not in idle if engine else counted)
                waits |= {text} if engine in idle else set()
    meant = {}
    for text, counted_by in sorted(numbers.items()):
        word = understand(text)
        if word is not None and text not in ("true", "false"):
            meant[text] = word.canonical
        elif True in counted_by:
            part = lacks or _denies(text) or False in counted_by
            meant[text] = "partial" if part else "available"
        else:
            meant[text] = "not_run" if text in waits else "unavailable"
    for seen, other in (("true", "false"), ("false", "true")):
        if seen in meant and other not in meant:
            meant[other] = "partial" if meant[seen] == "available" else "available"
    return meant


def _is_read(at: str, read: Sequence[str]) -> bool:
    """Whether a signal has its evidence at a path, above it or below it."""
    path = f"$.{at}."
    plain = [one.replace('["', ".").replace('"]', "") for one in read if one != "$"]
    return any(path.startswith(f"{one}.") or f"{one}.".startswith(path) for one in plain)


def _grouped(listed: list[Candidate]) -> list[Candidate]:
    """Keep of the places of one object the likeliest, and none inside another."""
    shown: dict[str, Candidate] = {}
    for one in listed:
        above = one.at.rpartition(".")[0]
        wrapper = not above or names(above.rpartition(".")[2], "place_wrapper")
        inside = any(f"{one.at}.".startswith(f"{other.at}.") for other in shown.values())
        if not inside:
            shown.setdefault(one.at if wrapper or "[" in above or "{" in above else above, one)
    return [*shown.values()]
