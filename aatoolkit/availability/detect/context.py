"""What detection works on: one answer, what is known of it, and the signals found so far."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from aatoolkit.availability import Availability, Cause, Condition, Status
from aatoolkit.availability.detect.keys import denial, subject
from aatoolkit.availability.detect.roles import (
    fold,
    is_echo,
    is_footnotes,
    is_holder,
    is_size,
    is_when,
)
from aatoolkit.availability.detect.signals import Signal, raw
from aatoolkit.availability.detect.vocabulary import tokens
from aatoolkit.jsontree.paths import Each, Entries, Field, Step, format_path, key_step
from aatoolkit.jsontree.vectors import Vector

_DEEPEST = 24
MOST_FIELDS = 300
"""An object with more keys than this holds data by key: its keys are no field names."""

ENGINE_IDS: Mapping[str, str] = {
    fold(name): name
    for name in (
        *("chatgpt", "gpt", "openai", "gemini", "google-ai-overview", "google-ai-overviews"),
        *("ai-overview", "ai-overviews", "google-ai-mode", "ai-mode", "perplexity", "claude"),
        *("copilot", "bing-copilot", "microsoft-copilot", "grok", "deepseek", "meta-ai", "mistral"),
    )
}
"""Engines that are known whatever the answer says; others come from the scope options."""

_FORM = {
    *("days", "limit", "offset", "page", "version", "status", "code", "retry", "progress", "eta"),
    *("seconds", "after", "interval", "minimum", "required", "threshold", "needed", "percent"),
    *("percentage", "pct", "took", "elapsed", "duration", "ms", "timestamp", "id", "code"),
}
"""Numbers under such names describe the answer or the call, and measure nothing."""


class FullDocument(NamedTuple):
    """All of an answer, where its longest list is cut short in what was decoded.

    Parameters
    ----------
    values : Vector
        All of it.
    steps : tuple of str
        The fields that lead to the list.
    """

    values: Vector
    steps: tuple[str, ...]

    @property
    def path(self) -> str:
        """The JSON path of the list."""
        return "$" + "".join(map(key_step, self.steps))


class AnswerContext:
    """An answer, its field names and rows, and the signals found in it so far."""

    def __init__(
        self,
        document: Any,
        engines: Collection[str] = (),
        envelope: Collection[str] = (),
        whole: FullDocument | None = None,
    ) -> None:
        self.document = document
        self.whole = whole
        self.named = frozenset(engines)
        self.ids = {**ENGINE_IDS, **{fold(engine): engine for engine in engines}}
        self.engines = self.ids.keys()
        self.envelope = frozenset(envelope)
        self.found: list[Signal] = []
        self.prose: list[tuple[str, str, Any]] = []
        self.spoken: set[str] = set()
        self.footnotes: dict[str, str] = {}
        self.is_ruled = False

    def restart(self, document: Any, found: list[Signal]) -> None:
        """Begin again with another document, and only what was found before."""
        self.document, self.whole, self.found[:] = document, None, found
        self.prose, self.spoken = [], set()
        for name in (
            "_counting",
            "_numbers",
            "_places",
            "days",
            "is_bare",
            "is_listing",
            "vectors",
        ):
            self.__dict__.pop(name, None)

    def release(self) -> None:
        """Let go of the values that were walked, but for what is said of them as a whole."""
        _ = self.is_bare, self._numbers
        self.whole = None
        for name in ("vectors", "_counting", "_own_engines", "_places", "days"):
            self.__dict__.pop(name, None)

    def add(
        self,
        scope: str,
        target: str | None,
        state: Availability,
        path: str,
        rule: str,
        value: Any,
        *,
        size: int | None = None,
        as_of: str | None = None,
        rows: tuple[Condition, ...] = (),
    ) -> None:
        """Keep one signal, with its evidence."""
        self.found.append(Signal(scope, target, state, size, as_of, path, rule, raw(value), rows))

    @property
    def has_section(self) -> bool:
        """Whether anything was said of the section as a whole."""
        return any(signal.scope == "section" for signal in self.found)

    @property
    def section(self) -> str | None:
        """The section's own name, where the answer gives it."""
        named = self.document.get("section") if isinstance(self.document, dict) else None
        return named if isinstance(named, str) else None

    def about(self, name: str) -> str:
        """The path of a named field as columns spell it, if it stands in one place only."""
        if any(sign in name for sign in ".[{"):
            return name
        places = self._places.get(fold(name), [])
        return places[0] if len(places) == 1 else name

    def knows(self, name: str) -> bool:
        """Whether a name is that of a field of the answer, or a path into it."""
        first = re.split(r"[.\[{]", name, maxsplit=1)[0]
        return fold(name) in self._places or (first != name and fold(first) in self._places)

    def holds(self, name: str) -> bool:
        """Whether the field of a name holds a number other than 0 anywhere."""
        return fold(name.rpartition(".")[2]) in self._counting

    @cached_property
    def _counting(self) -> set[str]:
        return {
            fold(_name(steps)) for steps, vector in self.vectors if steps and True in vector.numbers
        }

    def is_engine(self, name: str) -> bool:
        """Whether a name is the id of an engine."""
        return fold(name) in self.engines

    def weighed(self, state: Availability) -> Availability:
        """A state of the whole answer: what is pending or thin is partial beside numbers."""
        return weighed(state, self._numbers)

    def unfinished(self) -> Availability:
        """The state of an answer whose work is not done: partial where it gives numbers."""
        return weighed(Availability(Status.UNAVAILABLE, Cause.PENDING), self._numbers)

    @cached_property
    def days(self) -> set[str]:
        """The days of the answer's records, as text."""
        return {
            value[:10]
            for steps, vector in self.vectors
            if Each() in steps and is_when(_name(steps))
            for value in {value for value in vector.values if type(value) is str}
            if re.match(r"\d{4}-\d\d-\d\d", value)
        }

    @cached_property
    def _own_engines(self) -> dict[str, str]:
        """Engines by their ids, as scope options or the answer's own records spell them."""
        listed = {
            value
            for steps, vector in self.vectors
            if Each() in steps and fold(_name(steps)) == "engine"
            for value in vector.values
            if type(value) is str
        }
        return {fold(name): name for name in sorted(listed | self.named)}

    def engines_in(self, text: str) -> list[str]:
        """The ids of the engines that a sentence names."""
        words, own = tokens(text), self._own_engines
        named: dict[str, None] = {}
        at = 0
        while at < len(words):
            for length in (4, 3, 2, 1):
                folded = "".join(words[at : at + length])
                spelt = (folded, folded.removesuffix("s"))
                known = next((own[name] for name in spelt if name in own), None)
                known = known or self.ids.get(spelt[1]) or self.ids.get(folded)
                if known is not None and at + length <= len(words):
                    named[known] = None
                    at += length - 1
                    break
            at += 1
        return [*named]

    @property
    def measured(self) -> bool:
        """Whether the answer gives any number that is not a count of its own form."""
        return bool(self._numbers)

    @cached_property
    def is_listing(self) -> bool:
        """Whether the answer holds records of numbers."""
        return any(Each() in steps and vector.numbers for steps, vector in self.vectors)

    @property
    def counted(self) -> bool:
        """Whether the answer gives any such number other than 0."""
        return any(self._numbers)

    @cached_property
    def is_bare(self) -> bool:
        """Whether the answer measured nothing, and a list or null stands where it would."""
        single = [
            vector
            for steps, vector in self.vectors
            if steps and not any(isinstance(step, Each) for step in steps)
        ]
        empty = [len(vector.each()) == 0 for vector in single if vector.kinds & {list, type(None)}]
        return bool(empty) and all(empty) and not self.measured

    @cached_property
    def _numbers(self) -> set[bool]:
        """Whether the numbers that the answer gives are 0 or not; empty where it gives none."""
        return {
            number
            for steps, vector in self.vectors
            if steps and not _FORM & {*tokens(_name(steps))}
            if Each() in steps or not is_size(_name(steps))
            for number in vector.numbers
        }

    @cached_property
    def vectors(self) -> list[tuple[tuple[Step, ...], Vector]]:
        """The values of the answer's data, path by path; metadata and echoes are left out."""
        return list(_vectors(self.whole.values if self.whole else Vector.of(self.document)))

    @cached_property
    def _places(self) -> dict[str, list[str]]:
        places: dict[str, list[str]] = {}
        for steps, _ in self.vectors:
            inner = [step.name for step in steps[:-1] if isinstance(step, Field)]
            if steps and isinstance(steps[-1], Field) and not any(map(_is_said, inner)):
                places.setdefault(fold(steps[-1].name), []).append(format_path(steps))
        return places


def weighed(state: Availability, numbers: Collection[bool]) -> Availability:
    """What is pending or thin is partial where numbers are given, unavailable where not.

    ``numbers`` tells of each number whether it is other than 0: a sample may well be thin and
    its count 0, but a 0 beside what is still to come was not measured.
    """
    thin = state.cause == Cause.INSUFFICIENT_SAMPLE and len(numbers) > 0
    begun = state.cause == Cause.PENDING and any(numbers)
    if state.status == Status.UNAVAILABLE and (thin or begun):
        return Availability(Status.PARTIAL, state.cause, state.reason)
    return state


def _vectors(root: Vector) -> Iterator[tuple[tuple[Step, ...], Vector]]:
    waiting: list[tuple[tuple[Step, ...], Vector]] = [((), root)]
    while waiting:
        steps, vector = waiting.pop()
        yield steps, vector
        kinds = vector.kinds
        if len(steps) >= _DEEPEST:
            continue
        if list in kinds:
            waiting.append(((*steps, Each()), vector.each()))
        if dict in kinds:
            waiting += reversed([*_below(steps, vector)])


def _below(steps: tuple[Step, ...], vector: Vector) -> Iterator[tuple[tuple[Step, ...], Vector]]:
    names = vector.fields()
    if len(names) > MOST_FIELDS:
        yield (*steps, Entries()), vector.entries()
        return
    for name in names:
        if not (is_echo(name) or is_holder(name) or subject(name) > 1):
            yield (*steps, Field(name)), vector.field(name)


def _is_said(name: str) -> bool:
    """Whether what stands under a name is about fields, and no field itself."""
    spoken = subject(name) > 0 or denial(name) is not None or is_footnotes(name)
    return spoken or name.lower().endswith("reasons")


def _name(steps: tuple[Step, ...]) -> str:
    return next((step.name for step in reversed(steps) if isinstance(step, Field)), "")
