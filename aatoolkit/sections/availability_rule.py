"""Rules of a profile: where the responses of a service state availability."""

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
    """A rule that says where a service states availability, and by which words.

    The statement is an object, a map, a field of rows or a header. If a response has the object
    that a rule of its `Section` is about, nothing else of the response is read as availability,
    except a day on which measuring began, such as ``logged_since``. If the response lacks this
    object, the general rules of detection are tried. A rule about a map, rows or a header replaces
    the general rules only at its own path.

    Parameters
    ----------
    name : str
        The name of the rule, which is stored with each availability that the rule reads.
    at : str
        The path to the statement. ``meta.dataStatus`` leads to an object, a word or a flag,
        ``engineStates{}`` to a map from engines or fields to objects, words or flags,
        ``rows[].quality`` to a field that is about its row, and ``header x-data-state`` to a
        response header.
    status, reason, sample_size, as_of : str
        The names of the fields of the object.
    fields, engines : str
        The names of two maps in the object: from paths of fields, and from ids of engines, to
        objects, words or flags. For rows with ``of="engine"``, ``engines`` is the field with the
        engine of the row.
    total : str, optional
        The name of the field with the total, if ``status`` is a count, as in ``status="actual",
        total="expected"``. The count is then read as a word: ``full`` if it reaches the total,
        ``some`` if it is less, ``none`` if it is 0. The total ``{days}`` is the number of days in
        the request's window; without a known request the count is not read.
    words : mapping of str, bool or int to str
        The meanings of the service's words, flags or codes, in words that the package knows:
        ``{"amber": "partial", True: "not_run", 7: "not_connected", None: "pending"}``. The meaning
        ``nothing`` is for words that say nothing about availability. Keys are stored as text. In a
        key, ``*`` stands for any text, and ``{engine}`` for the engine that the text is about:
        ``{"{engine}: late since *": "partial", "*": "available"}``. A flag that is not among the
        keys is read only if the name of its field is known.
    of : str, optional
        For a map, ``engine`` or ``field``: what its keys are. By default each key is looked up
        among the known engines and fields; pass ``engine`` if the service has other engines. For
        rows, ``engine`` if each row is about one engine, which the row or its key in a map names.
        For both, ``section`` if the entries or rows are notices about the whole section.

    Raises
    ------
    ArgumentError
        If ``at`` is not a valid path, or ``of`` is another word.

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
        words = {to_word(word): meaning for word, meaning in self.words.items()}
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
        """The kind of value at the path of the rule: ``object``, ``map``, ``rows``, ``header``."""
        if self.at.startswith("header "):
            return "header"
        branches = [step for step in parse_pattern(self.at) if isinstance(step, Each | Entries)]
        if not branches:
            return "object"
        is_map = len(branches) == 1 and isinstance(branches[0], Entries) and self.at.endswith("}")
        return "map" if is_map else "rows"

    @property
    def header(self) -> str:
        """The name of the header, in lower case."""
        return self.at.removeprefix("header ").strip().lower()

    @property
    def steps(self) -> Iterator[str]:
        """The names of the fields on the path, from the outermost to the innermost."""
        return (step.name for step in parse_pattern(self.at) if isinstance(step, Field))

    def find(self, document: Any) -> dict[str, Any] | None:
        """Return the object at the path of the rule; None if there is none.

        A bare word, flag or null at the path is returned as an object, with it as the status.
        """
        value = self._value_at_path(document)
        if self.is_bare(document):
            return {self.status: value}
        if not isinstance(value, dict) or (self.total and self.value_in(value) is None):
            return None
        return value

    def value_in(self, record: Mapping[str, Any]) -> Any:
        """Return the status in an object, as the value that states its availability.

        If the rule has a ``total``, the status is a count; the word of `extent_word` is returned.
        """
        value = record.get(self.status)
        return extent_word(value, record.get(self.total)) if self.total else value

    def is_bare(self, document: Any) -> bool:
        """Whether a response has a bare word, flag or null at the path, and not an object.

        A null counts if the rule gives it a meaning.
        """
        value = self._value_at_path(document)
        return isinstance(value, str | bool) or (value is None and "null" in self.words)

    def _value_at_path(self, document: Any) -> Any:
        """Return the value at the path; an ellipsis if there is none, as it may be null."""
        for name in self.steps:
            document = document.get(name, ...) if isinstance(document, dict) else ...
        return document

    def meaning_of(self, value: object) -> tuple[str | None, str | None]:
        """Return the meaning of a value by the rule's words, and the engine that the value names.

        The meaning is None if no word matches the value; the engine is None if none is named.

        Examples
        --------
        >>> rule = Rule(words={"{engine}: late by *": "partial", False: "not_run"})
        >>> rule.meaning_of("otter: late by 3 days"), rule.meaning_of(False)
        (('partial', 'otter'), ('not_run', None))
        """
        text = to_word(value)
        meaning = self.words.get(text, self.words.get(text.lower()))
        for word in self.words if meaning is None else ():
            pattern = _compile_word(word)
            if pattern and (match := pattern.fullmatch(text)):
                return self.words[word], match.groupdict().get("engine")
        return meaning, None

    def is_whole(self, value: Mapping[str, Any]) -> bool:
        """Whether an object has all fields of the rule, with a text as its status."""
        names = (self.status, self.reason, self.sample_size, self.as_of)
        return isinstance(value.get(self.status), str) and all(name in value for name in names)


def extent_word(count: object, total: object) -> str | None:
    """Return a word for the part that a count is of a total: ``none``, ``some`` or ``full``.

    Return None if the total is not above 0, or if the values are not integers.

    Examples
    --------
    >>> extent_word(25, 30), extent_word(30, 30), extent_word(0, 30), extent_word(0, 0)
    ('some', 'full', 'none', None)
    """
    if not (isinstance(count, int) and isinstance(total, int) and total > 0):
        return None
    return "full" if count >= total else "some" if count > 0 else "none"


WINDOW = "{days}"
"""The ``total`` of a rule whose counts are numbers of days in the request's window."""


@lru_cache(maxsize=1024)
def _compile_word(word: str) -> re.Pattern[str] | None:
    """Return the regular expression of a word with ``*`` or ``{engine}``; None for other words."""
    pattern = re.escape(word).replace(r"\*", ".*")
    pattern = pattern.replace(r"\{engine\}", r"(?P<engine>\S.*?)", 1)
    return re.compile(pattern, re.DOTALL) if pattern != re.escape(word) else None


def to_rule_tuple(rules: Rule | tuple[Rule, ...] | None) -> tuple[Rule, ...]:
    """Return the rules as a tuple, whether there is none, one or several.

    Examples
    --------
    >>> to_rule_tuple(None), to_rule_tuple(Rule(at="meta.state"))[0].at
    ((), 'meta.state')
    """
    return (rules,) if isinstance(rules, Rule) else tuple(rules or ())


def with_rule(rules: tuple[Rule, ...], rule: Rule) -> tuple[Rule, ...]:
    """Return the rules with ``rule`` added; it replaces an earlier rule with the same path ``at``.

    Examples
    --------
    >>> rules = Rule(at="meta.state"), Rule(at="rows[].q")
    >>> [rule.at for rule in with_rule(rules, Rule(at="rows[].q", words={"x": "pending"}))]
    ['meta.state', 'rows[].q']
    """
    return tuple({**{old_rule.at: old_rule for old_rule in rules}, rule.at: rule}.values())


def to_word(value: object) -> str:
    """Return a value of a response as text, in the spelling of the keys of a rule's `words`.

    Examples
    --------
    >>> to_word("Red"), to_word(True), to_word(1.0), to_word(None)
    ('Red', 'true', '1', 'null')
    """
    if isinstance(value, float):
        return f"{value:g}"
    return (
        "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    )


REFERENCE = Rule("reference")
"""The rule of the reference service; responses with all its fields are read only by it."""
