"""Candidates: places of an answer that may state availability, for a person to confirm.

Looked at are the fields outside the rows of one answer, beside the same fields where it was
narrowed to some engines, and what the scope options say of engines that never ran. A place is
never applied: it is pointed out by ``tables.hints`` until a rule reads it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from aatoolkit._util.lexicon import tokens, words
from aatoolkit.availability.detect import detect, raw
from aatoolkit.availability.detect.words import in_prose, is_code, is_echo, understand
from aatoolkit.jsontree.paths import Each, Entries, Field, Step, format_path
from aatoolkit.profile.contrast import is_state, value_at

MOST = 3
"""So many places of a section are pointed out at most."""

MOST_OF_EMPTY = 2
"""So many more that are there only where nothing was measured."""

_STATES = words("place")
_REASONS = words("place_reason")
_ABOUT_DATA = words("place_data")
_WRAPPERS = words("place_wrapper")
_ONLY_EMPTY = "is there only where nothing was measured"
_LEAST, _FEW_ROWS, _FEW_WORDS, _LONGEST, _DEEPEST = 3, 12, 6, 200, 6
_CODE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[a-z][a-z0-9]*(?:_[a-z0-9]+)+")


@dataclass(frozen=True)
class Candidate:
    """A place of an answer that may state availability.

    Attributes
    ----------
    at : str
        The path, in the words of `aatoolkit.sections.Rule`.
    value : object
        What is there.
    others : tuple
        What is there in answers that were narrowed, where that differs.
    why : str
        What speaks for it.
    score : int
        How much does; only for the order.
    beside : mapping of str to object
        What is there in the answers for other hosts.
    words : tuple of str
        The words that were seen there, in any answer.
    """

    at: str
    value: Any
    others: tuple[Any, ...]
    why: str
    score: int
    beside: Mapping[str, Any] = field(default_factory=dict, hash=False)
    words: tuple[str, ...] = ()


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
    """Find the places of an answer that may state availability, the likeliest first.

    Parameters
    ----------
    document : object
        The decoded answer.
    parts : sequence
        The same section's answers where some engines were asked for.
    engines, idle : collection of str
        The engines of the project, and those that are not configured or never ran.
    maps : collection of tuple of Step
        Where there are objects whose keys are data.
    beside : mapping of str to object
        The same section of other hosts.
    elsewhere : mapping of tuple of Step to collection of str
        Places that other sections have, too, and the words there; see `shared_states`.
    empty : object
        The same section's answer where nothing was measured, such as that of an engine that never
        ran: what is there alone comes after the places of ``document``.

    Examples
    --------
    >>> answer = {"support": {"alpha": "shown", "beta": "not_run_yet"}, "rows": [{"n": 3}]}
    >>> [(one.at, one.why) for one in candidates(answer, (), ["alpha", "beta"], ["beta"])]
    [('support', 'names beta, which never ran')]
    """
    read = [one.path for one in detect(document).signals if one.path]
    walk = _Walk(
        tuple(parts), frozenset(engines), frozenset(idle), frozenset(maps), beside or {},
        elsewhere or {}, empty,
    )  # fmt: skip
    found = _best(walk.below(document, ()))
    kept = [one for one in found.values() if one.score >= _LEAST and not _is_read(one.at, read)]
    grouped = _grouped(sorted(kept, key=lambda one: -one.score), document, beside or {})[:MOST]
    return grouped + _only_in(empty, document, walk, grouped)[:MOST_OF_EMPTY]


def _best(places: Iterable[Candidate]) -> dict[str, Candidate]:
    """For each path, the candidate with the highest score."""
    found: dict[str, Candidate] = {}
    for place in places:
        taken = found.get(place.at)
        if taken is None or place.score > taken.score:
            found[place.at] = place
    return found


def _only_in(empty: Any, document: Any, walk: _Walk, shown: Sequence[Candidate]) -> list[Candidate]:
    """Find candidates that are only in the answer in which nothing was measured."""
    if not isinstance(empty, dict):
        return []
    read = [one.path for one in detect(empty).signals if one.path]
    inside = replace(walk, parts=(), beside={}, empty=None)
    new = [
        replace(one, score=one.score + 2, why=f"{one.why}{'; ' if one.why else ''}{_ONLY_EMPTY}")
        for one in _best(inside.below(empty, ())).values()
        if set("[{").isdisjoint(one.at) and _at(document, one.at) in (None, "", [], {})
    ]
    kept = [
        one
        for one in new
        if not _is_read(one.at, read)
        and not any(f"{one.at}.".startswith(f"{other.at}.") for other in shown)
        and not (isinstance(one.value, str) and one.value in walk.engines)
    ]
    return _grouped(sorted(kept, key=lambda one: -one.score), empty, {})


def _is_read(at: str, read: Sequence[str]) -> bool:
    """Whether a signal has its evidence at a path, above it or below it."""
    path = f"$.{at}."
    plain = [one.replace('["', ".").replace('"]', "") for one in read if one != "$"]
    return any(path.startswith(f"{one}.") or f"{one}.".startswith(path) for one in plain)


def _grouped(found: list[Candidate], document: Any, beside: Mapping[str, Any]) -> list[Candidate]:
    """Merge candidates of one object into one for the object."""
    parents = Counter(_parent(one.at) for one in found)
    shown: dict[str, Candidate] = {}
    for one in found:
        above = _parent(one.at)
        bare = above.rpartition(".")[2].lower()
        if above and parents[above] > 1 and bare not in _WRAPPERS and not set(above) & set("[{"):
            value = _at(document, above)
            held = {name: _at(there, above) for name, there in beside.items()}
            one = replace(one, at=above, value=value, beside=held, words=())
        shown.setdefault(one.at, one)
    return list(shown.values())


def _parent(at: str) -> str:
    return at.rpartition(".")[0]


def _at(document: Any, path: str) -> Any:
    for name in path.split("."):
        document = document.get(name) if isinstance(document, dict) else None
    return document


@dataclass(frozen=True)
class _Walk:
    """A walk through an answer that scores the fields outside its rows, and compares parts."""

    parts: tuple[Any, ...]
    engines: frozenset[str]
    idle: frozenset[str]
    maps: frozenset[tuple[Step, ...]]
    beside: Mapping[str, Any]
    elsewhere: Mapping[tuple[Step, ...], Collection[str]]
    empty: Any = None

    def below(self, given: Any, path: tuple[Step, ...]) -> Iterator[Candidate]:
        if not isinstance(given, dict) or len(path) > _DEEPEST or len(given) > 100:
            return
        for key, value in given.items():
            here = (*path, Field(key))
            if is_echo(key):
                continue
            if isinstance(value, dict) and self._is_by_engine(value):
                yield from self._map(value, here)
            elif isinstance(value, dict) and here in self.maps:
                records = [one for one in value.values() if isinstance(one, dict)]
                yield from self._fields(records, (*here, Entries()))
            elif isinstance(value, dict):
                yield from self.below(value, here)
            elif isinstance(value, list):
                yield from self._list(value, here)
            else:
                yield from self._plain(value, here)

    def _is_by_engine(self, value: dict[str, Any]) -> bool:
        return len(value) > 1 and sum(key in self.engines for key in value) >= 0.8 * len(value)

    def _map(self, value: dict[str, Any], path: tuple[Step, ...]) -> Iterator[Candidate]:
        """Yield a candidate for a map from engines to words or flags."""
        held = list(value.values())
        if not all(one is None or isinstance(one, str | bool) for one in held):
            if all(isinstance(step, Field) for step in path):
                yield from self.below(value, path)
            return
        named = sorted(self.idle & set(value))
        score, why = self._score(path, None)
        if len(set(map(repr, held))) > 1 or named:
            score, why = score + 2, why or "a word for each engine"
        if named:
            score, why = score + 3, f"names {', '.join(named)}, which never ran"
        yield self._candidate(path, value, score, why)

    def _list(self, value: list[Any], path: tuple[Step, ...]) -> Iterator[Candidate]:
        texts = [one for one in value if isinstance(one, str) and len(one) <= _LONGEST]
        records = [one for one in value if isinstance(one, dict)]
        if texts and len(texts) == len(value) <= _FEW_ROWS:
            scored = [self._score(path, one) for one in texts]
            score, why = max(scored, key=lambda one: one[0])
            yield self._candidate(path, value, score, why)
        elif records and len(records) <= _FEW_ROWS and self._speaks(records):
            inner = [
                self._score((*path, Field(key)), one)
                for record in records
                for key, one in record.items()
                if isinstance(one, str | bool)
            ]
            score, why = max(inner, key=lambda one: one[0], default=(0, ""))
            yield self._candidate(path, value, score + 1, why or "records with reasons")
        elif records:
            yield from self._fields(records, (*path, Each()))

    def _speaks(self, records: list[dict[str, Any]]) -> bool:
        """Whether records give reasons, which measurements do not."""
        return all(set().union(*map(tokens, one)) & _REASONS for one in records) and not any(
            type(value) is float for one in records for value in one.values()
        )

    def _fields(
        self, records: list[dict[str, Any]], path: tuple[Step, ...], depth: int = 0
    ) -> Iterator[Candidate]:
        """Yield candidates for fields of rows with a name for states and few different words."""
        for key in dict.fromkeys(key for one in records for key in one):
            values = [one.get(key) for one in records]
            inner = [one for one in values if isinstance(one, dict)]
            by_engine = next(filter(self._is_by_engine, inner), None)
            if by_engine is not None:
                yield from self._map(by_engine, (*path, Field(key)))
            elif inner and depth < 2:
                yield from self._fields(inner, (*path, Field(key)), depth + 1)
            parts = {*tokens(key)}
            about = parts & _STATES and (parts & _ABOUT_DATA or parts & _REASONS)
            if not about:
                continue
            known = {one for one in values if isinstance(one, str)}
            if 0 < len(known) <= _FEW_WORDS:
                rarest = min(known, key=lambda one: (values.count(one), one))
                score, why = self._score((*path, Field(key)), rarest)
                yield self._candidate((*path, Field(key)), rarest, score + 1, why)

    def _plain(self, value: Any, path: tuple[Step, ...]) -> Iterator[Candidate]:
        if isinstance(value, str | bool) and len(str(value)) <= _LONGEST:
            score, why = self._score(path, value)
            yield self._candidate(path, value, score, why)

    def _candidate(self, path: tuple[Step, ...], value: Any, score: int, why: str) -> Candidate:
        others = tuple(value_at(one, path) for one in self.parts)
        differ = tuple(one for one in others if one is not None and one != value)
        if differ and score:
            score, why = score + 1, f"{why}; differs where some engines were asked for"
        beside = {name: value_at(there, path) for name, there in self.beside.items()}
        hosts = [name for name, there in beside.items() if there != value]
        if hosts and (score or all(map(is_state, [value, *beside.values()]))):
            score, why = score + 3, f"{why}; " if why else ""
            why += f"differs for {', '.join(hosts)}"
        blank = None if self.empty is None else value_at(self.empty, path)
        states = is_state(value) and is_state(blank)
        if blank is not None and blank != value and (score or states):
            score, why = score + 3, f"{why}; " if why else ""
            why += f"is {raw(blank)[:60]} where nothing was measured"
        words = {*self.elsewhere.get(path, ())}
        if words:
            why += f"{'; ' if why else ''}a word that other sections have, too"
            score += 3
        words |= {one for one in (value, blank, *differ, *beside.values()) if isinstance(one, str)}
        return Candidate(format_path(path), value, differ, why, score, beside, tuple(sorted(words)))

    def _score(self, path: tuple[Step, ...], value: Any) -> tuple[int, str]:
        """Score how likely a value states availability; return also the main reason."""
        names = [step.name for step in path if isinstance(step, Field)]
        score, why = 0, ""
        if {*tokens(names[-1])} & _STATES:
            score, why = 2, "a name for states of data"
        elif len(names) > 1 and {*tokens(names[-2])} & _STATES:
            score, why = 1, "below a name for states of data"
        if isinstance(value, bool):
            return (score + 1, why) if score else (0, "")
        if not isinstance(value, str):
            return score, why
        named = [one for one in self.idle if one in value]
        if named:
            return score + 3, f"names {', '.join(sorted(named))}, which never ran"
        word = understand(value) if is_code(value) else in_prose(value)
        if word is not None and word.canonical != "available":
            return score + 3, "the words of an absence"
        if _CODE.fullmatch(value):
            return score + 1, why or "a code"
        return (score, why) if score > 1 else (0, "")
