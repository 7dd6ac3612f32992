"""Rules: where the responses of a service state availability."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

from aatoolkit.errors import ArgumentError
from aatoolkit.jsontree.paths import Each, Entries, Field, parse_pattern


@dataclass(frozen=True)
class Rule:
    """Where a service states availability: in an object, a map, a field of rows or a header.

    Given to a `Section`, a rule about an object wins over detection: where a response has the
    object, nothing else of the response is read as availability. Where a response lacks the object,
    the general rules are tried. A rule about a map, rows or a header wins for its own path only,
    and the general rules read the rest.

    Parameters
    ----------
    name : str
        The rule's name, stored with each availability that it reads.
    at : str
        The path to the object, such as ``meta.dataStatus``; a word or a flag may be there
        instead. ``engineStates{}`` is a map from engines or fields to such objects or words,
        ``rows[].quality`` a field that is about its row, ``header x-data-state`` a response
        header.
    status, reason, sample_size, as_of : str
        The names of the object's fields.
    fields, engines : str
        The names of the object's maps: from the path of a field, or from the id of an engine, to
        such an object, word or flag. For rows with ``of="engine"``, ``engines`` is the field of
        the row that names its engine.
    total : str, optional
        The field beside ``status`` that says how many there should be, where both are counts, such
        as ``status="actual", total="expected"``: as many are ``full``, fewer ``some``, and 0
        ``none``, which are the words that are read. ``{days}`` stands for the days of the request's
        window; where the request is not known, the count is not read.
    words : mapping of str, bool or int to str
        What the service's own words, flags or codes mean, in words that the package knows:
        ``{"amber": "partial", True: "not_run", 7: "not_connected", None: "pending"}``. ``nothing``
        is for a word that does not say what was measured. Keys are kept as text. In a key, ``*``
        stands for any text, and ``{engine}`` for the name of the engine that the text is about:
        ``{"{engine}: late since *": "partial", "*": "available"}``. A flag that is no key is read
        only where the name of its field is known.
    of : str, optional
        What the keys of a map are: ``engine`` or ``field``. By default each key is looked up among
        the known engines and fields; say ``engine`` if the service has engines of its own. For
        rows: ``engine`` if each row is about the engine that it names, or that is its key in a
        map. ``section`` if the entries or rows are notices about the whole section.

    Raises
    ------
    ArgumentError
        If ``at`` is no such path, or ``of`` is none of these words.

    Examples
    --------
    >>> rule = Rule("theirs", at="meta.data", status="light", words={"red": "not_connected"})
    >>> rule.find({"meta": {"data": {"light": "red"}}})
    {'light': 'red'}
    """

    name: str = "declared"
    at: str = "availability"
    status: str = "status"
    reason: str = "reason"
    sample_size: str = "sampleCount"
    as_of: str = "asOf"
    fields: str = "fields"
    engines: str = "engines"
    total: str | None = None
    words: Mapping[str, str] = field(default_factory=dict, hash=False)
    of: str | None = None

    def __post_init__(self) -> None:
        words = {word_of(word): meaning for word, meaning in self.words.items()}
        object.__setattr__(self, "words", words)
        if self.of not in (None, "engine", "field", "section"):
            raise ArgumentError(f"of={self.of!r} is none of 'engine', 'field' and 'section'")
        if self.kind == "header":
            return
        if not parse_pattern(self.at):
            raise ArgumentError(
                f"{self.at!r} is no place of availability; give the path of a field, of a field "
                "of rows (rows[].quality), of a map (states{}), or a header (header x-state)"
            )

    @property
    def kind(self) -> Literal["object", "map", "rows", "header"]:
        """What the path of the rule leads to: an object, a map, rows or a header."""
        if self.at.startswith("header "):
            return "header"
        repeated = [step for step in parse_pattern(self.at) if isinstance(step, Each | Entries)]
        if not repeated:
            return "object"
        is_map = len(repeated) == 1 and isinstance(repeated[0], Entries) and self.at.endswith("}")
        return "map" if is_map else "rows"

    @property
    def header(self) -> str:
        """The name of the header, in lower case."""
        return self.at.removeprefix("header ").strip().lower()

    @property
    def steps(self) -> Iterator[str]:
        """The names of the fields on the path to the object, one after the other."""
        return (step.name for step in parse_pattern(self.at) if isinstance(step, Field))

    def find(self, document: Any) -> dict[str, Any] | None:
        """Return the object at the path of the rule; None if there is none.

        A bare word or flag there is returned as the status of an object.
        """
        value = self._at(document)
        if isinstance(value, str | bool):
            return {self.status: value}
        if not isinstance(value, dict) or (self.total and self.value_in(value) is None):
            return None
        return value

    def value_in(self, record: Mapping[str, Any]) -> Any:
        """Return the value in an object that states its availability.

        It is the status. If the status is a count, it is a word that compares it with the total.
        """
        value = record.get(self.status)
        return extent_of(value, record.get(self.total)) if self.total else value

    def is_bare(self, document: Any) -> bool:
        """Whether a response has a word or a flag at the path of the rule, instead of an object."""
        return isinstance(self._at(document), str | bool)

    def _at(self, document: Any) -> Any:
        for name in self.steps:
            document = document.get(name) if isinstance(document, dict) else None
        return document

    def meaning_of(self, value: object) -> tuple[str | None, str | None]:
        """Return what a value means by the rule's words, and the engine that it names.

        Both are None if the words do not have the value.

        Examples
        --------
        >>> rule = Rule(words={"{engine}: late by *": "partial", False: "not_run"})
        >>> rule.meaning_of("otter: late by 3 days"), rule.meaning_of(False)
        (('partial', 'otter'), ('not_run', None))
        """
        text = word_of(value)
        meaning = self.words.get(text, self.words.get(text.lower()))
        for word in self.words if meaning is None else ():
            pattern = _pattern(word)
            if pattern and (match := pattern.fullmatch(text)):
                return self.words[word], match.groupdict().get("engine")
        return meaning, None

    def is_whole(self, value: Mapping[str, Any]) -> bool:
        """Whether an object has all fields of the rule."""
        names = (self.status, self.reason, self.sample_size, self.as_of)
        return isinstance(value.get(self.status), str) and all(name in value for name in names)


def extent_of(count: object, total: object) -> str | None:
    """Return a word for how much of a total a count is: ``none``, ``some`` or ``full``.

    Return None if the total is 0, or the values are no such counts.

    Examples
    --------
    >>> extent_of(25, 30), extent_of(30, 30), extent_of(0, 30), extent_of(0, 0)
    ('some', 'full', 'none', None)
    """
    if not (isinstance(count, int) and isinstance(total, int) and total > 0):
        return None
    return "full" if count >= total else "some" if count > 0 else "none"


WINDOW = "{days}"
"""The ``total`` of a rule whose counts are of the days of the request's window."""


@lru_cache(maxsize=1024)
def _pattern(word: str) -> re.Pattern[str] | None:
    """Return the regular expression for a word with ``*`` or ``{engine}``; None for other words."""
    pattern = re.escape(word).replace(r"\*", ".*")
    pattern = pattern.replace(r"\{engine\}", r"(?P<engine>\S.*?)", 1)
    return re.compile(pattern, re.DOTALL) if pattern != re.escape(word) else None


def rules_of(rules: Rule | tuple[Rule, ...] | None) -> tuple[Rule, ...]:
    """Return no rule, one rule or several rules as a tuple.

    Examples
    --------
    >>> rules_of(None), rules_of(Rule(at="meta.state"))[0].at
    ((), 'meta.state')
    """
    return (rules,) if isinstance(rules, Rule) else tuple(rules or ())


def with_rule(rules: tuple[Rule, ...], rule: Rule) -> tuple[Rule, ...]:
    """Return the rules with one more, which replaces a rule with the same path.

    Examples
    --------
    >>> rules = Rule(at="meta.state"), Rule(at="rows[].q")
    >>> [rule.at for rule in with_rule(rules, Rule(at="rows[].q", words={"x": "pending"}))]
    ['meta.state', 'rows[].q']
    """
    return tuple({**{old_rule.at: old_rule for old_rule in rules}, rule.at: rule}.values())


def word_of(value: object) -> str:
    """Return a value of a response as a key of a rule's `words`: text as it is, others as JSON.

    Examples
    --------
    >>> word_of("Red"), word_of(True), word_of(1.0), word_of(None)
    ('Red', 'true', '1', 'null')
    """
    if isinstance(value, float):
        return f"{value:g}"
    return (
        "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    )


REFERENCE = Rule("reference")
"""The rule of the reference service; a response with all its fields is read by no other rule."""
