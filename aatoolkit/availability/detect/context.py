"""The context of detection: an answer, its fields, and the signals found in it."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from aatoolkit.availability import Availability, Cause, Condition, Status
from aatoolkit.availability.detect.fields import DataField, FullDocument, walk
from aatoolkit.availability.detect.keys import denial, subject
from aatoolkit.availability.detect.roles import (
    fold,
    is_footnotes,
    is_size,
    is_when,
    tokens,
    words,
)
from aatoolkit.availability.subject import engine
from aatoolkit.jsontree.paths import Field, format_path
from aatoolkit.jsontree.vectors import Vector

ENGINE_IDS: Mapping[str, str] = {
    fold(name): name
    for name in words(
        "chatgpt gpt openai gemini google-ai-overview google-ai-overviews ai-overview ai-overviews"
        " google-ai-mode ai-mode perplexity claude copilot bing-copilot microsoft-copilot grok"
        " deepseek meta-ai mistral"
    )
}
"""Engines that are known whatever an answer holds; others come from the scope options."""

_FORM = words(
    "days limit offset page version status code retry progress eta seconds after interval minimum"
    " required threshold needed percent percentage pct took elapsed duration ms timestamp id"
)
"""Numbers under such names describe the answer or the call, and measure nothing."""

_LONGEST_RAW = 500
"""Evidence longer than this is cut: it is there to be looked at, the answer itself is kept."""


@dataclass(frozen=True)
class Signal:
    """One statement of an answer about availability.

    Parameters
    ----------
    scope : str
        ``section``, ``field``, ``row`` or ``engine``.
    target : str or None
        The field's path, the row's path (``points[0]``) or the engine's id; None for the
        whole section.
    availability : Availability
        What it states.
    sample_size : int or None
        The observations behind it, where given.
    as_of : str or None
        The moment up to which it is complete, as given.
    path : str
        The JSON path of the evidence; ``status`` or ``header NAME`` for evidence outside the
        body.
    rule : str
        The name of the rule that read it.
    raw : str or None
        The evidence itself, as JSON text.
    rows : tuple of Condition
        The rows it is about, where it is about some only: those of its engine, or those after
        a day. A row's path is its target.
    """

    scope: str
    target: str | None
    availability: Availability
    sample_size: int | None
    as_of: str | None
    path: str
    rule: str
    raw: str | None = None
    rows: tuple[Condition, ...] = ()

    def __post_init__(self) -> None:
        if self.scope == "engine" and self.target is not None and not self.rows:
            object.__setattr__(self, "rows", engine(self.target))


@dataclass(frozen=True)
class Hint:
    """A value that may be about availability and was not read.

    Parameters
    ----------
    path : str
        Its JSON path; ``header NAME`` for a header.
    value : str or None
        What is given there, as JSON text, cut where it is long.
    why : str
        Why it may be about availability.
    """

    path: str
    value: str | None
    why: str


def raw(value: Any) -> str:
    """Format evidence as JSON text, cut where it is long."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except RecursionError:
        text = "…"
    return text if len(text) <= _LONGEST_RAW else text[: _LONGEST_RAW - 1] + "…"


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
        self.read_lists: set[str] = set()
        self.footnotes: dict[str, str] = {}
        self.unread: dict[tuple[str, str], Hint] = {}
        self.is_ruled = False

    def restart(self, document: Any, found: list[Signal]) -> None:
        """Restart with another document, and with only the signals given."""
        self.document, self.whole, self.found[:] = document, None, found
        self.prose, self.read_lists = [], set()
        self._forget()

    def release(self) -> None:
        """Release the values of the answer, except what hints need."""
        kept = {"is_bare": self.is_bare, "_numbers": self._numbers}
        self.whole = None
        self._forget()
        self.__dict__ |= kept

    def _forget(self) -> None:
        for name in _COMPUTED:
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
        """Whether there is a signal about the section as a whole."""
        return any(signal.scope == "section" for signal in self.found)

    @property
    def section(self) -> str | None:
        """The section's own name, where the answer gives it."""
        named = self.document.get("section") if isinstance(self.document, dict) else None
        return named if isinstance(named, str) else None

    def about(self, name: str) -> str:
        """The path of a named field as columns spell it, if there is only one of the name."""
        if any(sign in name for sign in ".[{"):
            return name
        places = self._places.get(fold(name), [])
        return places[0] if len(places) == 1 else name

    def knows(self, name: str) -> bool:
        """Whether the answer has a field of a name, or the first field of a path."""
        first = re.split(r"[.\[{]", name, maxsplit=1)[0]
        return fold(name) in self._places or (first != name and fold(first) in self._places)

    def holds(self, name: str) -> bool:
        """Whether a field of the name holds a number other than 0 anywhere."""
        return fold(name.rpartition(".")[2]) in self._counting

    @cached_property
    def _counting(self) -> set[str]:
        return {fold(each.name) for each in self.fields if True in each.values.numbers}

    def is_null(self, name: str, apart: str) -> bool:
        """Whether a field of a name is null somewhere, but at or below a path."""
        return any(
            fold(each.name) == fold(name)
            and type(None) in each.values.kinds
            and not f"$.{format_path(each.steps)}".startswith(f"{apart}.")
            for each in self.fields
            if each.steps
        )

    def is_engine(self, name: str) -> bool:
        """Whether a name is the id of an engine."""
        return fold(name) in self.engines

    def weighed(self, state: Availability) -> Availability:
        """Turn a state of the whole answer, pending or thin, into ``partial`` beside numbers."""
        return weighed(state, self._numbers)

    def unfinished(self) -> Availability:
        """The state of an answer whose work is not done: partial where it gives numbers."""
        return weighed(Availability(Status.UNAVAILABLE, Cause.PENDING), self._numbers)

    @cached_property
    def days(self) -> set[str]:
        """The days of the answer's records, as text."""
        return {
            value[:10]
            for each in self.fields
            if each.in_list and is_when(each.name)
            for value in {value for value in each.values.values if type(value) is str}
            if re.match(r"\d{4}-\d\d-\d\d", value)
        }

    @cached_property
    def _own_engines(self) -> dict[str, str]:
        """Engines by their ids, as scope options or the answer's own records spell them."""
        listed = {
            value
            for each in self.fields
            if each.in_list and fold(each.name) == "engine"
            for value in each.values.values
            if type(value) is str
        }
        return {fold(name): name for name in sorted(listed | self.named)}

    def engines_in(self, text: str) -> list[str]:
        """The ids of the engines that a sentence names."""
        parts, own = tokens(text), self._own_engines
        named: dict[str, None] = {}
        at = 0
        while at < len(parts):
            for length in (4, 3, 2, 1):
                folded = "".join(parts[at : at + length])
                spelt = (folded, folded.removesuffix("s"))
                known = next((own[name] for name in spelt if name in own), None)
                known = known or self.ids.get(spelt[1]) or self.ids.get(folded)
                if known is not None and at + length <= len(parts):
                    named[known] = None
                    at += length - 1
                    break
            at += 1
        return [*named]

    @property
    def measured(self) -> bool:
        """Whether the answer gives any number that is not a count of its own form."""
        return bool(self._numbers)

    @property
    def counted(self) -> bool:
        """Whether the answer gives a number other than 0 that is not a count of its own form."""
        return True in self._numbers

    @cached_property
    def is_listing(self) -> bool:
        """Whether the answer holds records of numbers."""
        return any(each.in_list and each.values.numbers for each in self.fields)

    @cached_property
    def is_bare(self) -> bool:
        """Whether the answer measured nothing and has only null or empty lists outside records."""
        single = [each.values for each in self.fields if each.steps and not each.in_list]
        empty = [len(vector.each()) == 0 for vector in single if vector.kinds & {list, type(None)}]
        return bool(empty) and all(empty) and not self.measured

    @cached_property
    def _numbers(self) -> set[bool]:
        """The truth values that the answer's numbers have: whether any is not 0, and any is 0."""
        return {
            number
            for each in self.fields
            if each.steps and (each.in_list or not is_size(each.name))
            if _FORM.isdisjoint(tokens(each.name))
            for number in each.values.numbers
        }

    @cached_property
    def fields(self) -> list[DataField]:
        """The values of the answer's data, path by path; metadata and echoes are left out."""
        return list(walk(self.whole.values if self.whole else Vector.of(self.document)))

    @cached_property
    def _places(self) -> dict[str, list[str]]:
        places: dict[str, list[str]] = {}
        for each in self.fields:
            is_field = bool(each.steps) and isinstance(each.steps[-1], Field)
            if is_field and not any(map(_is_about_fields, each.names[:-1])):
                places.setdefault(fold(each.name), []).append(format_path(each.steps))
        return places


_COMPUTED = [
    name for name, member in vars(AnswerContext).items() if isinstance(member, cached_property)
]


def weighed(state: Availability, numbers: Collection[bool]) -> Availability:
    """Turn a pending or thin state into ``partial`` where numbers were given.

    ``numbers`` holds for each number whether it is other than 0: a sample may well be thin and
    its count 0, but a 0 beside what is still to come was not measured.
    """
    thin = state.cause == Cause.INSUFFICIENT_SAMPLE and len(numbers) > 0
    begun = state.cause == Cause.PENDING and any(numbers)
    if state.status == Status.UNAVAILABLE and (thin or begun):
        return Availability(Status.PARTIAL, state.cause, state.reason)
    return state


@lru_cache(maxsize=4096)
def _is_about_fields(name: str) -> bool:
    """Whether the value of a field is about other fields, and no data itself."""
    stated = subject(name) > 0 or denial(name) is not None or is_footnotes(name)
    return stated or name.lower().endswith("reasons")
