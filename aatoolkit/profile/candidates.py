"""Candidates: places of a section's responses that may state availability, for a person to confirm.

A place is scored by what the data do, words second: numbers are missing where it has a value and
there where it has another (separation), it differs between hosts and where nothing was measured
(contrast), its words deny, it names an engine that never ran; minus things of business. A place
is never applied: it is pointed out by ``tables.hints`` until a rule reads it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
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
from aatoolkit.sections.availability_rule import word_of
from aatoolkit.sections.inference.relations import Relation
from aatoolkit.sections.inference.words import meaning
from aatoolkit.sections.section import is_at

MOST = 3
"""So many places of a section are pointed out at most."""

_LEAST, _FEW_ROWS, _FEW_WORDS, _LONGEST, _DEEPEST = 3, 12, 6, 200, 6
_CODE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[a-z][a-z0-9]*(?:_[a-z0-9]+)+")
_ENUM = re.compile(r"[A-Z][A-Z0-9_]{3,}")
_STATE = re.compile(r"[A-Za-z][A-Za-z]*(?:[_ -][A-Za-z]+){0,3}")
_NUMBER = re.compile(r"(?:[A-Z]{3}|[$€£])?\s?-?\d[\d\s.,]*\s?(?:%|[A-Z]{3}|[$€£])?")

Path = tuple[Step, ...]
Rows = list[tuple[dict[str, Any], bool | None]]
"""Records, each with whether it holds numbers."""

Seen = list[tuple[Any, Any]]
"""Values of a place, each with whether numbers are beside it; of a map, for each engine."""


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
    search = _Search({*ran, *idle}, maps)
    for response in (document, *parts.values()):
        search.read(response, idle)
    for response in beside.values():
        search.read(response)
    search.read(empty, idle)
    seen = search.states()
    read = [signal.path for signal in detect(document).signals]
    measured = [part for part in parts.values() if has_numbers(part)]
    scored = []
    for path, values in seen.items():
        current, blank = value_at(document, path), value_at(empty, path)
        held = {host: value_at(other, path) for host, other in beside.items()}
        if blank is not None and blank == current:  # so it is not about the engine
            values = values[:-1]
        score, why = _score(path, values, idle, path in search.apart)
        has_states = all(map(_is_state, (current, *held.values(), blank)))
        hosts = [host for host, value in held.items() if value != current]
        is_new = blank is not None and current in (None, "", [], {})
        is_other = blank not in (None, current) and (score or has_states)
        if is_new or is_other:
            score += 2 if is_new else 3
            why = "; ".join(filter(None, [why, f"is {raw(blank)[:60]} where nothing was measured"]))
        elif hosts and score + has_states > 0:
            score += has_states
            why = "; ".join(filter(None, [why, f"differs for {', '.join(hosts)}"]))
        if current is None:  # in rows, where the rarest value says most, or in another response
            texts = {repr(value): value for value, _ in values}
            counts = Counter(repr(value) for value, _ in values)
            current = texts[min(texts, key=lambda text: (counts[text], text))]
        if score >= _LEAST and not _is_read(format_path(path), read):
            overall = word_of(value_at(document, path))
            is_mixture = any(word_of(value_at(part, path)) != overall for part in measured)
            meanings = _meanings(path, values, idle, overall if is_mixture else "")
            engine = search.engine_fields.get(path, "")
            scored.append(Candidate(format_path(path), current, why, score, held, meanings, engine))
    # Of the places inside each other the likeliest is kept.
    kept: list[Candidate] = []
    for place in sorted(scored, key=lambda place: -place.score):
        if not any(f"{place.at}.".startswith(f"{other.at}.") for other in kept):
            kept.append(place)
    return kept[:MOST]


# --- where --------------------------------------------------------------------------------------


class _Search:
    """The places of responses that hold words or flags, with whether numbers are beside each."""

    def __init__(self, engines: set[str], maps: Collection[Path]) -> None:
        self._engines, self._maps = engines, maps
        self._seen: dict[Path, Seen] = defaultdict(list)
        self._lists: dict[Path, list[Rows]] = defaultdict(list)
        self.apart: set[Path] = set()
        self.engine_fields: dict[Path, str] = {}
        self._is_counted = False
        self._measured: Collection[str] = ()
        self._idle: Collection[str] = ()

    def read(self, response: Any, idle: Collection[str] = ()) -> None:
        """Add the places of one response, in which some engines have no numbers for sure."""
        self._is_counted, self._idle = has_numbers(response), idle
        self._measured = {*_measured(response, self._engines)}
        self._fields(response, ())

    def states(self) -> dict[Path, Seen]:
        """The places outside rows, and the fields of rows that name a state or are apart."""
        for path, lists in self._lists.items():
            fields = dict.fromkeys(key for rows in lists for record, _ in rows for key in record)
            engine = self._engine_field(fields, lists)
            for key in fields:
                self._field(path, key, fields, lists, engine)
        return self._seen

    def _field(
        self, path: Path, key: str, fields: Iterable[str], lists: list[Rows], engine: str
    ) -> None:
        """Add the words of a field of rows, if they go with numbers that are missing."""
        rows = [row for rows in lists for row in rows]
        words = {word for record, _ in rows if isinstance(word := record.get(key), str | bool)}
        is_named = names(key, "place")
        if not 0 < len(words) <= _FEW_WORDS or not self._engines.isdisjoint(words):
            return
        if not is_named and not all(isinstance(word, str) for word in words):
            return
        missing = (None, 0) if engine else (None,)
        beside = next((n for n in fields if n != key and _is_apart(lists, key, n, missing)), None)
        seen, place = [], (*path, Field(key))
        for record, number in rows:
            word = record.get(key)
            if isinstance(word, str | bool):
                has_number = number if beside is None else record.get(beside) not in missing
                seen.append((word, has_number))
                if number and not engine:  # other numbers say that the row lacks a part
                    seen.append((word, True))
        lacking = words - {word for word, number in seen if number}
        denies = is_named and lacking < words and any(_denies(str(word)) for word in lacking)
        if beside is not None or denies or names(key, "place_data") or names(key, "place_reason"):
            self._seen[place] += seen
            self.engine_fields[place] = engine
            if beside is not None:
                self.apart.add(place)

    def _fields(self, document: Any, path: Path) -> None:
        if not isinstance(document, dict) or len(path) > _DEEPEST:
            return
        for key, value in document.items():
            place = (*path, Field(key))
            if is_echo(key):
                continue
            if isinstance(value, dict):
                if _is_by_engine(value, self._engines):
                    self._seen[place].append((value, self._measured_of(value)))
                elif place in self._maps:
                    of_engines = self._engines.issuperset(value)
                    above = [*self._measured_of(value).values()] if of_engines else ()
                    self._rows([*value.values()], (*place, Entries()), above)
                else:
                    self._fields(value, place)
            elif isinstance(value, list):
                texts = [item for item in value if isinstance(item, str) and len(item) <= _LONGEST]
                records = [item for item in value if isinstance(item, dict)]
                if value and len(texts) == len(value) <= _FEW_ROWS:
                    self._seen[place].append((value, self._is_counted))
                elif len(records) <= _FEW_ROWS and all(map(_is_notice, records)):
                    for name, item in (item for record in records for item in record.items()):
                        if isinstance(item, str) and _CODE.fullmatch(item):
                            at = (*place, Each(), Field(name))
                            self._seen[at].append((item, self._is_counted))
                else:
                    self._rows(records, (*place, Each()))
            elif isinstance(value, str | bool) and len(str(value)) <= _LONGEST:
                self._seen[place].append((value, self._is_counted))

    def _rows(self, items: Sequence[Any], path: Path, above: Sequence[bool | None] = ()) -> None:
        """Keep records and those below them, and add maps by engine.

        An object of words alone speaks of the row or engine that holds it; ``above`` says which of
        these have numbers.
        """
        records = [item for item in items if isinstance(item, dict)]
        texts = (value for record in records for value in record.values() if value is not None)
        is_wordy = len(above) == len(records) and all(isinstance(v, str | bool) for v in texts)
        counted = above if is_wordy else [has_numbers(record, is_mark) for record in records]
        if records:
            self._lists[path].append([*zip(records, counted, strict=True)])
        for key in dict.fromkeys(key for record in records for key in record):
            values, place = [record.get(key) for record in records], (*path, Field(key))
            objects = [value for value in values if isinstance(value, dict)]
            by_engine = [value for value in objects if _is_by_engine(value, self._engines)]
            if by_engine:
                self._seen[place].append((by_engine[0], self._measured_of(by_engine[0])))
            elif len(path) <= _DEEPEST:
                holding = [n for v, n in zip(values, counted, strict=True) if isinstance(v, dict)]
                self._rows(objects, place, holding)
                for value in values:
                    if isinstance(value, list):
                        self._rows(value, (*place, Each()))

    def _engine_field(self, fields: Iterable[str], lists: list[Rows]) -> str:
        """The field that names an engine in rows of which each in a list is of another one."""
        for key in fields:
            values = [[str(record.get(key)) for record, _ in rows] for rows in lists]
            is_named = name_of({key: ""}) == ("engine", "")
            are_engines = is_named or self._engines.issuperset(chain.from_iterable(values))
            if are_engines and all(len({*texts}) == len(texts) for texts in values):
                return key
        return ""

    def _measured_of(self, engines: Iterable[str]) -> dict[str, bool | None]:
        """Whether there are numbers of each engine; None where the response does not say."""
        if self._measured:
            return {engine: engine in self._measured for engine in engines}
        unsure = None if self._is_counted else False
        return {engine: False if engine in self._idle else unsure for engine in engines}


def _measured(value: Any, engines: Collection[str]) -> Iterator[str]:
    """Yield the engines whose records, or entries of a map, hold numbers."""
    if isinstance(value, dict):
        texts = [text for text in value.values() if isinstance(text, str) and text in engines]
        yield from texts if texts and has_numbers(value, is_mark) else ()
        yield from (key for key, item in value.items() if key in engines and has_numbers(item))
        value = [*value.values()]
    for item in value if isinstance(value, list) else ():
        yield from _measured(item, engines)


def _is_apart(lists: list[Rows], key: str, other: str, missing: tuple[Any, ...]) -> bool:
    """Whether some words of a field are where numbers of another are missing, and only there.

    Both are in one list at least, where words repeat, for names and ids differ too.
    """
    lacking, there, is_repeated = set(), set(), False
    for rows in lists:
        words = [(record.get(key), record.get(other) in missing) for record, _ in rows]
        without = {str(word) for word, is_gone in words if is_gone and word is not None}
        with_number = {str(word) for word, is_gone in words if not is_gone}
        lacking |= without
        there |= with_number
        are_both = bool(without and with_number)
        is_repeated |= are_both and len(without | with_number) < len(words)
    numbers = [record.get(other) for rows in lists for record, _ in rows]
    is_number = names(key, "place") or (not is_mark(other) and has_numbers(numbers))
    return is_repeated and is_number and lacking.isdisjoint(there)


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


def _is_by_engine(value: Mapping[str, Any], engines: Collection[str]) -> bool:
    """Whether the keys of an object are engines, each with a word."""
    is_flat = all(item is None or isinstance(item, str | bool) for item in value.values())
    return (
        is_flat
        and any(item is not None for item in value.values())
        and 0 < 0.8 * len(value) <= sum(key in engines for key in value)
    )


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


def _score(path: Path, values: Seen, idle: Collection[str], is_apart: bool) -> tuple[int, str]:
    """Score how likely a place states availability; return also the main reason."""
    keys = [step.name for step in path if isinstance(step, Field)]
    is_named = names(keys[-1], "place")
    score = 2 * is_named
    texts = [text for value, _ in values for text in _texts(value)]
    engines = sorted({name for name in idle for text in texts if name in text})
    first = values[0][0]
    if any(names(key, "business") for key in keys) or any(map(is_of_trade, texts[:1])):
        score -= 2
    why = "a name for states of data" if is_named else ""
    without = sorted(_without_numbers(values))
    reasons = (
        (3 + 2 * isinstance(first, dict), f"names {', '.join(engines)}, which never ran", engines),
        (3, "the words of an absence", any(map(_denies, texts))),
        (3, f"numbers are missing beside {', '.join(without[:3])}", without),
        (3, "numbers are missing beside some of its words", is_apart),
        (1, why or "a code", any(_CODE.fullmatch(text) for text in texts)),
        (1, why, is_named and isinstance(first, bool | list)),
    )
    for points, reason, fits in reasons:
        if fits:
            return score + points, reason
    return (score, why) if score > 1 else (0, "")


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


def _without_numbers(values: Seen) -> set[str]:
    """The words of a place that are never beside numbers, where others always are."""
    if not all(_ENUM.fullmatch(str(value)) for value, _ in values):
        return set()
    counted: dict[str, set[bool | None]] = defaultdict(set)
    for word, number in values:
        counted[word].add(number)
    lacking = {word for word, numbers in counted.items() if numbers == {False}}
    return lacking if lacking < counted.keys() else set()


def _meanings(path: Path, values: Seen, idle: Collection[str], mixture: str) -> dict[str, str]:
    """Propose what the words of a place mean: by themselves, or by the numbers beside them.

    One word at most means that all is there: the commonest that numbers are beside. A reason, a
    sentence, an entry of a list, or what stands under a key that denies never does; nor does the
    word of all engines, ``mixture``, where some engine alone has another.
    """
    lacks = any(names(step.name, "place_lack") for step in path if isinstance(step, Field))
    numbers: dict[str, list[bool | None]] = defaultdict(list)
    waiting = set()
    for value, counted in values:
        if isinstance(value, dict):
            entries = [(word, counted[engine]) for engine, word in value.items()]
            waiting |= {str(word) for engine, word in value.items() if engine in idle}
        else:
            entries = [(item, counted) for item in (value if isinstance(value, list) else [value])]
            lacks = lacks or isinstance(value, list)
        for word, number in entries:
            if isinstance(word, str | bool):
                numbers[word_of(word)].append(number)
    flags = {"true": "false", "false": "true"}
    able = [
        text
        for text, counts in numbers.items()
        if False not in counts and text.count(" ") < 3 and text != mixture and not _denies(text)
    ]
    best = max(able, key=lambda text: len(numbers[text]), default="")
    meanings = {}
    for text, counts in sorted(numbers.items()):
        word = understand(text)
        if word is not None and text not in flags:
            meanings[text] = word.canonical
        elif {*counts} == {False}:
            meanings[text] = "not_run" if text in waiting else "unavailable"
        else:
            meanings[text] = "available" if text == best and not lacks else "partial"
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
