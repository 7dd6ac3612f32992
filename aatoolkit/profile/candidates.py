"""Candidates: places of a section's responses that may state availability, for a person to confirm.

A place is scored by what the data do, words second: numbers are missing where it has a value and
there where it has another (separation), it differs between hosts and where nothing was measured
(contrast), its words deny, it names an engine that never ran; minus things of business. A place
is never applied: it is pointed out by ``tables.hints`` until a rule reads it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aatoolkit._util.lexicon import names, tokens, words
from aatoolkit.availability.detect import detect, raw
from aatoolkit.availability.detect.words import (
    in_prose,
    is_code,
    is_echo,
    is_of_trade,
    name_of,
    understand,
)
from aatoolkit.jsontree.paths import Each, Entries, Field, Step, format_path
from aatoolkit.sections.inference.relations import Relation
from aatoolkit.sections.inference.words import meaning
from aatoolkit.sections.section import is_at

MOST = 3
"""So many places of a section are pointed out at most."""

_LEAST, _FEW_ROWS, _FEW_WORDS, _LONGEST, _DEEPEST = 3, 12, 6, 200, 6
_CODE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[a-z][a-z0-9]*(?:_[a-z0-9]+)+")
_STATE = re.compile(r"[A-Za-z][A-Za-z]*(?:[_ -][A-Za-z]+){0,3}")
_NUMBER = re.compile(r"(?:[A-Z]{3}|[$€£])?\s?-?\d[\d\s.,]*\s?(?:%|[A-Z]{3}|[$€£])?")

Path = tuple[Step, ...]
Places = Iterator[tuple[Path, Any, float | None]]
Seen = list[tuple[Any, float]]
"""Values of a place, each with how much of the numbers beside it are there, from 0 to 1."""


@dataclass(frozen=True)
class Candidate:
    """A place of a response that may state availability.

    Attributes
    ----------
    at : str
        The path, in the words of `aatoolkit.sections.Rule`.
    value : object
        What is there.
    why : str
        What speaks for it.
    score : int
        How much does; only for the order.
    beside : mapping of str to object
        What is there in the responses for other hosts.
    words : mapping of str to str
        The words that were seen there in any response, each with what it probably means.
    engine : str
        The field of its row that names an engine; empty where none does.
    """

    at: str
    value: Any
    why: str
    score: int
    beside: Mapping[str, Any]
    words: Mapping[str, str]
    engine: str = ""


def candidates(
    document: Any,
    parts: Mapping[tuple[str, ...], Any],
    ran: Collection[str],
    idle: Collection[str],
    maps: Collection[Path],
    beside: Mapping[str, Any],
    empty: Any,
) -> list[Candidate]:
    """Find the places of a response that may state availability, the likeliest first.

    Parameters
    ----------
    document : object
        The decoded response.
    parts : mapping
        The same section's responses by the engines that they were narrowed to.
    ran, idle : collection of str
        The engines of the project, and those that are not configured or never ran.
    maps : collection of tuple of Step
        Where there are objects whose keys are data.
    beside : mapping of str to object
        The same section of other hosts.
    empty : object
        The same section's response where nothing was measured, such as that of an engine that
        never ran; None without one.

    Examples
    --------
    >>> response = {"support": {"alpha": "shown", "beta": "not_run_yet"}, "rows": [{"n": 3}]}
    >>> [one] = candidates(response, {}, ["alpha"], ["beta"], (), {}, None)
    >>> one.at, one.why
    ('support', 'names beta, which never ran')
    """
    measured = {**dict.fromkeys(ran, True), **dict.fromkeys(idle, False)}
    for engines, part in parts.items():
        for engine in {*engines}.difference(idle) if len({*engines}.difference(idle)) == 1 else ():
            measured[engine] = has_numbers(part)
    walk = _Walk(measured, maps)
    seen: dict[Path, Seen] = defaultdict(list)
    told: dict[Path, set[Any]] = defaultdict(set)
    for response in (document, *parts.values(), empty, *beside.values()):
        is_counted = float(has_numbers(response))
        is_beside = any(response is other for other in beside.values())
        places = [*walk.places(response, ())]
        for path, value, level in places:
            if level is None and not (is_beside and isinstance(value, dict)):
                seen[path].append((value, is_counted))  # engines of other hosts may differ
            elif level is not None and value not in told[path]:
                seen[path].append((value, level))  # the first response with a word tells
        for path, value, level in places:
            if level is not None:
                told[path].add(value)
    read = [signal.path for signal in detect(document).signals]
    scored = []
    for path, values in seen.items():
        current, blank = value_at(document, path), value_at(empty, path)
        held = {host: value_at(other, path) for host, other in beside.items()}
        score, why = _score(path, values, idle, path in told)
        others_say = (value_at(part, path) for part in parts.values() if has_numbers(part))
        if any(value not in (None, current) for value in others_say):
            values.append((current, 0.5))  # engines alone say otherwise: the whole is a mixture
        has_states = all(map(_is_state, (current, *held.values(), blank)))
        hosts = [host for host, value in held.items() if value != current]
        is_new = current in (None, "", [], {})
        if blank not in (None, current) and (is_new or score or has_states):
            score += 2 if is_new else 3
            why = "; ".join(filter(None, [why, f"is {raw(blank)[:60]} where nothing was measured"]))
        elif hosts and score + has_states > 0:
            score += has_states
            why = "; ".join(filter(None, [why, f"differs for {', '.join(hosts)}"]))
        if current is None:  # in rows, where the rarest value says most, or in another response
            plain = [value for value, _ in values]
            current = min(plain, key=lambda value: (plain.count(value), repr(value)))
        if score >= _LEAST and not _is_read(format_path(path), read):
            meanings = _meanings(path, values, measured, idle)
            engine = walk.named.get(path[:-1], "")
            scored.append(Candidate(format_path(path), current, why, score, held, meanings, engine))
    # Of the places inside each other the likeliest is kept.
    kept: list[Candidate] = []
    for place in sorted(scored, key=lambda place: -place.score):
        if not any(f"{place.at}.".startswith(f"{other.at}.") for other in kept):
            kept.append(place)
    return kept[:MOST]


# --- where --------------------------------------------------------------------------------------


@dataclass
class _Walk:
    """A walk of responses: places outside rows, and words in rows, with the numbers beside each.

    Attributes
    ----------
    engines : mapping of str to bool
        The engines, each with whether it has numbers.
    maps : collection of tuple of Step
        Where there are objects whose keys are data.
    fields, named : dict
        The numbers that the rows at a path have, and the field of theirs that names an engine.
    """

    engines: Mapping[str, bool]
    maps: Collection[Path]
    fields: dict[Path, set[str]] = field(default_factory=lambda: defaultdict(set))
    named: dict[Path, str] = field(default_factory=dict)

    def places(self, document: Any, path: Path) -> Places:
        """Yield the places of an object."""
        items = document.items() if isinstance(document, dict) and len(path) <= _DEEPEST else ()
        for key, value in items:
            place = (*path, Field(key))
            if is_echo(key):
                continue
            if isinstance(value, dict):
                if self._is_by_engine(value):
                    yield place, value, None
                elif place in self.maps:
                    yield from self._in_rows([*value.values()], (*place, Entries()))
                else:
                    yield from self.places(value, place)
            elif isinstance(value, list):
                texts = [item for item in value if isinstance(item, str) and len(item) <= _LONGEST]
                records = [item for item in value if isinstance(item, dict)]
                if value and len(texts) == len(value) <= _FEW_ROWS:
                    yield place, value, None
                elif len(records) <= _FEW_ROWS and all(map(_is_notice, records)):
                    for name, item in (item for record in records for item in record.items()):
                        if isinstance(item, str) and _CODE.fullmatch(item):
                            yield (*place, Each(), Field(name)), item, None
                else:
                    yield from self._in_rows(records, (*place, Each()))
            elif isinstance(value, str | bool) and len(str(value)) <= _LONGEST:
                yield place, value, None

    def _in_rows(self, rows: list[Any], path: Path, above: Sequence[float] = ()) -> Places:
        """Yield fields of rows with few words, and maps by engine.

        An object of words alone speaks of the row that holds it; ``above`` has the numbers there.
        """
        records = [row for row in rows if isinstance(row, dict)]
        is_wordy = above and all(isinstance(v, str | bool) for r in records for v in r.values())
        levels = above if is_wordy else self._levels(records, path)
        for key in dict.fromkeys(key for record in records for key in record):
            values, place = [record.get(key) for record in records], (*path, Field(key))
            by_engine = [v for v in values if isinstance(v, dict) and self._is_by_engine(v)]
            if by_engine:
                yield place, by_engine[0], None
            elif len(path) <= _DEEPEST:
                holding = [n for v, n in zip(values, levels, strict=True) if isinstance(v, dict)]
                yield from self._in_rows(values, place, holding)
                inner = [item for value in values if isinstance(value, list) for item in value]
                yield from self._in_rows(inner, (*place, Each()))
            pairs = [p for p in zip(values, levels, strict=True) if isinstance(p[0], str | bool)]
            texts = {value for value, _ in pairs}
            is_word = names(key, "place") or 4 * len(texts) <= 3 * len(pairs)
            if texts & self.engines.keys() or name_of({key: ""}) == ("engine", ""):
                self.named[path] = key
            elif is_word and len(texts) <= _FEW_WORDS:
                yield from ((place, *pair) for pair in pairs)

    def _levels(self, records: list[dict[str, Any]], path: Path) -> list[float]:
        """How much of the numbers of rows each has; one that names an idle engine has none."""
        fields, levels = self.fields[path], []
        fields |= {k for record in records for k, v in record.items() if has_numbers(v, is_mark, k)}
        for record in records:
            is_idle = any(self.engines.get(str(value)) is False for value in record.values())
            is_there = has_numbers(record, is_mark) and not is_idle
            lacks = any(record.get(name) is None for name in fields)
            levels.append((0.5 if lacks else 1.0) * is_there)
        return levels

    def _is_by_engine(self, value: Mapping[str, Any]) -> bool:
        """Whether the keys of an object are engines, each with a word."""
        items = [item for item in value.values() if item is not None]
        is_flat = bool(items) and all(isinstance(item, str | bool) for item in items)
        return is_flat and 0.8 * len(value) <= sum(key in self.engines for key in value)


def _is_form(key: str) -> bool:
    """Whether a number under a key is about the response, and measures nothing."""
    return names(key, "form")


def is_mark(key: str) -> bool:
    """Whether a number under a key of a row is an id or a moment, and measures nothing."""
    return meaning(key).kind in ("id", "time")


def has_numbers(value: Any, aside: Callable[[str], bool] = _is_form, key: str = "") -> bool:
    """Whether a value holds a number other than 0, also as a text, beside those left aside."""
    if isinstance(value, dict):
        items = ((name, item) for name, item in value.items() if not is_echo(name))
        return any(has_numbers(item, aside, name) for name, item in items)
    if isinstance(value, list):
        return any(has_numbers(item, aside, key) for item in value)
    text = "" if isinstance(value, bool) else str(value).strip()
    return bool(_NUMBER.fullmatch(text) and re.search("[1-9]", text)) and not aside(key)


def _is_notice(record: Mapping[str, Any]) -> bool:
    """Whether a record gives a reason, which measurements do not."""
    reasons = any(names(key, "place_reason") for key in record)
    return reasons and not any(type(value) is float for value in record.values())


def _is_state(value: Any) -> bool:
    """Whether a value may name a state: a flag, nothing, or a few words in letters."""
    is_word = isinstance(value, str) and _STATE.fullmatch(value) is not None
    return value is None or isinstance(value, bool) or is_word


def value_at(document: Any, path: Sequence[Step]) -> Any:
    """Return the value at a path of fields; None where there is none."""
    for step in path:
        is_there = isinstance(step, Field) and isinstance(document, dict)
        document = document.get(step.name) if is_there else None  # type: ignore[union-attr]
    return document


def _is_read(at: str, read: Sequence[str]) -> bool:
    """Whether a signal has its evidence at a path, above it or below it."""
    plain = (path[1:].replace('["', ".").replace('"]', "").lstrip(".") for path in read)
    return any(path and is_at(path, at) for path in plain)


# --- how likely, and what words mean ------------------------------------------------------------


def _score(path: Path, values: Seen, idle: Collection[str], in_rows: bool) -> tuple[int, str]:
    """Score how likely a place states availability; return also the main reason."""
    keys = [step.name for step in path if isinstance(step, Field)]
    is_named = names(keys[-1], "place")
    is_separated = in_rows and _is_separated(values)
    is_of_data = names(keys[-1], "place_data") or names(keys[-1], "place_reason")
    if in_rows and not (is_separated or (is_named and is_of_data)):
        return 0, ""
    score = 2 * is_named
    texts = [text for value, _ in values for text in _texts(value)]
    engines = sorted({name for name in idle for text in texts if name in text})
    first = values[0][0]
    if any(names(key, "business") for key in keys) or any(map(is_of_trade, texts[:1])):
        score -= 2
    why = "a name for states of data" if is_named else ""
    reasons = (
        (3 + 2 * isinstance(first, dict), f"names {', '.join(engines)}, which never ran", engines),
        (3, "the words of an absence", any(map(_denies, texts))),
        (3, "goes with numbers that are lacking", is_separated),
        (1, why or "a code", any(_CODE.fullmatch(text) for text in texts)),
        (1, why, is_named and isinstance(first, bool | list)),
    )
    for points, reason, fits in reasons:
        if fits:
            return score + points, reason
    return (score, why) if score > 1 else (0, "")


def _is_separated(values: Seen) -> bool:
    """Whether some words go with all numbers, and the others never do."""
    levels: dict[str, list[float]] = defaultdict(list)
    for value, level in values:
        levels[str(value)].append(level)
    sides = [min(of) == 1 for of in levels.values() if min(of) == 1 or max(of) < 1]
    return len(sides) == len(levels) and len({*sides}) == 2


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts of a value: itself, the items of a list, keys and values of a map."""
    if isinstance(value, str):
        yield value
    for item in value if isinstance(value, list | dict) else ():
        yield from _texts(item)
    if isinstance(value, dict):
        yield from _texts([*value.values()])


def _denies(text: str) -> bool:
    """Whether words mean an absence."""
    word = understand(text) if is_code(text) else in_prose(text)
    lacks = word is not None and word.canonical != "available"
    return lacks or (is_code(text) and not words("negation").isdisjoint(tokens(text)))


def _meanings(
    path: Path, values: Seen, measured: Mapping[str, bool], idle: Collection[str]
) -> dict[str, str]:
    """Propose what the words of a place mean: by themselves, or by the numbers beside them.

    A reason, a notice, what stands under a key that denies or in a map that leaves out engines
    that were measured, never means that all is there.
    """
    first = values[0][0]
    lacks = isinstance(first, list) or any(
        names(step.name, "place_lack") for step in path if isinstance(step, Field)
    )
    lacks |= isinstance(first, dict) and not {*measured} - {*idle} <= first.keys()
    levels: dict[str, set[float]] = {}
    waiting = set()
    for value, level in values:
        items = [(None, item) for item in (value if isinstance(value, list) else [value])]
        for engine, item in value.items() if isinstance(value, dict) else items:
            if isinstance(item, str | bool):
                text = str(item).lower() if isinstance(item, bool) else item
                beside = level if engine is None else float(measured.get(engine, True))
                levels.setdefault(text, set()).add(beside)
                waiting |= {text} if engine in idle else set()
    flags = {"true": "false", "false": "true"}
    meanings = {}
    for text, of_text in sorted(levels.items()):
        word = understand(text)
        if word is not None and text not in flags:
            meanings[text] = word.canonical
        elif max(of_text) == 0:
            meanings[text] = "not_run" if text in waiting else "unavailable"
        else:
            part = lacks or min(of_text) < 1 or _denies(text)
            meanings[text] = "partial" if part else "available"
    for text in flags.keys() & meanings.keys():
        other = "partial" if meanings[text] == "available" else "available"
        meanings.setdefault(flags[text], other)
    return meanings


# --- beside other responses ---------------------------------------------------------------------


def emptied(relations: Sequence[Relation], document: Any, empty: Any) -> tuple[str, ...]:
    """The path of a section's rows that are absent without a reason where nothing was measured.

    A response that is empty there may be one in which nothing was found, or nothing measured.

    Parameters
    ----------
    relations : sequence of Relation
        The section's tables, the main one first.
    document, empty : object
        The decoded response, and that in which nothing was measured; None where there is none.

    Returns
    -------
    tuple of str
        The path, or ``$`` for the response itself; nothing where the service says why.
    """
    if empty is None or detect(empty).signals:
        return ()
    steps = relations[0].steps
    path = steps[: next((at for at, s in enumerate(steps) if not isinstance(s, Field)), None)]
    nothing: tuple[Any, ...] = (None, [], {})
    is_gone = value_at(document, path) not in nothing and value_at(empty, path) in nothing
    return (format_path(path) or "$",) if is_gone else ()
