"""Rules that say where the responses of a service state whether data is available, and why not."""

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
    """A rule that says where the responses of a section state availability, and in which words.

    Availability is stated at the path ``at``: in an object, a map (an object whose keys are
    engines or fields), a field of each row, or a response header. If a rule leads to an object and
    a response has this object, availability is read only there, except for the day on which
    measuring began, such as ``logged_since``. If the response lacks this object, the package
    looks for availability at all paths and names that it knows. A rule for a map, rows or a header
    replaces this general search only at its own path.

    Parameters
    ----------
    name : str
        The name of the rule, which is stored with each availability that is read by it.
    at : str
        The path at which availability is stated. ``meta.dataStatus`` leads to an object, a text or
        a boolean, ``engineStates{}`` to a map from engines or fields to objects, texts or booleans,
        ``rows[].quality`` to a field that is about its row, and ``header x-data-state`` to a
        response header.
    status, reason, sample_size, as_of : str
        The names that the service gives to these fields of the object.
    fields, engines : str
        The names of two maps in the object, which give the availability (an object, text or
        boolean) of single fields by path, and of single engines by id. For rows with
        ``of="engine"``, ``engines`` is the field with the engine of the row.
    total : str, optional
        The name of the field with the total, if ``status`` is a count, as in ``status="actual",
        total="expected"``. The count is then read as the word ``full`` if it reaches the total,
        ``some`` if it is less, and ``none`` if it is 0. The total ``{days}`` is the number of days
        in the request's window; if the request is unknown, the count is not read.
    words : mapping of str, bool or int to str
        For each text, boolean or code of the service, a word with the same meaning that the package
        knows: ``{"amber": "partial", True: "not_run", 7: "not_connected", None: "pending"}``. The
        word ``nothing`` is for texts that say nothing about availability. Keys are stored as text.
        In a key, ``*`` stands for any text, and ``{engine}`` for the engine that the text is about:
        ``{"{engine}: late since *": "partial", "*": "available"}``. A boolean that is not among the
        keys is read only if the package knows the name of its field.
    of : str, optional
        What the entries of a map or the rows are about: ``engine``, ``field`` (of a map only) or
        ``section``, if each is a notice about the whole section. By default each key of a map is
        looked up among the known engines and fields; pass ``engine`` if the service has other
        engines. The engine of a row is in the row, or is its key in a map.

    Raises
    ------
    ArgumentError
        If ``at`` is not a valid path, or ``of`` is none of these words.

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
        if self.kind != "header" and not parse_pattern(self.at):
            raise ArgumentError(
                f"{self.at!r} is no place of availability; give the path of a field, of a field "
                "of rows (rows[].quality), of a map (states{}), or a header (header x-state)"
            )

    @property
    def kind(self) -> Literal["object", "map", "rows", "header"]:
        """What ``at`` leads to: an ``object``, a ``map``, a field of ``rows`` or a ``header``."""
        if self.at.startswith("header "):
            return "header"
        branches = [step for step in parse_pattern(self.at) if isinstance(step, Each | Entries)]
        if not branches:
            return "object"
        is_map = len(branches) == 1 and isinstance(branches[0], Entries) and self.at.endswith("}")
        return "map" if is_map else "rows"

    @property
    def header(self) -> str:
        """The name of the response header that ``at`` leads to, in lower case."""
        return self.at.removeprefix("header ").strip().lower()

    @property
    def steps(self) -> Iterator[str]:
        """The names of the fields on the path ``at``, from the outermost to the innermost."""
        return (step.name for step in parse_pattern(self.at) if isinstance(step, Field))

    def find(self, document: Any) -> dict[str, Any] | None:
        """Return the object at the path ``at`` of a response; None if there is none.

        A text, boolean or null at the path is returned as the status in an object, as in
        ``{"status": "pending"}``.
        """
        value = self._value_at_path(document)
        if self.is_bare(document):
            return {self.status: value}
        if not isinstance(value, dict) or (self.total and self.value_in(value) is None):
            return None
        return value

    def value_in(self, record: Mapping[str, Any]) -> Any:
        """Return the status in ``record``, or, if the rule has a ``total``, the word for its count.

        With a ``total``, the status is a count; `extent_word` gives the word.
        """
        value = record.get(self.status)
        return extent_word(value, record.get(self.total)) if self.total else value

    def is_bare(self, document: Any) -> bool:
        """Return whether a response has a text or boolean at the path ``at``, not an object.

        A null is treated like a text if it is among the rule's ``words``.
        """
        value = self._value_at_path(document)
        return isinstance(value, str | bool) or (value is None and "null" in self.words)

    def _value_at_path(self, document: Any) -> Any:
        """Return the value at the path ``at``; ``...`` if there is none, as None means null."""
        for name in self.steps:
            document = document.get(name, ...) if isinstance(document, dict) else ...
        return document

    def meaning_of(self, value: object) -> tuple[str | None, str | None]:
        """Return the meaning of a value in the rule's ``words``, and the engine that it names.

        The meaning is None if no key of ``words`` matches the value. The engine is None if the key
        that matches has no ``{engine}``.

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
        """Return whether an object has all four fields of the rule, and a text as its status."""
        keys = (self.status, self.reason, self.sample_size, self.as_of)
        return isinstance(value.get(self.status), str) and all(key in value for key in keys)


_DIGITS = re.compile(r"0|[1-9]\d{0,14}", re.ASCII)


def as_count(value: object) -> int | None:
    """Return an integer, or a text of its digits, as an integer; None for other values.

    Examples
    --------
    >>> as_count(3), as_count("1200"), as_count("007"), as_count(True)
    (3, 1200, None, None)
    """
    is_digits = type(value) is str and _DIGITS.fullmatch(value)
    return int(value) if type(value) is int or is_digits else None  # type: ignore[call-overload]


def extent_word(count: object, total: object) -> str | None:
    """Return whether a count is ``none``, ``some`` or all (``full``) of a total.

    Return None if the total is not above 0, or if the values are not integers. An integer may be
    written as text, as in the JSON of Protocol Buffers.

    Examples
    --------
    >>> extent_word(25, 30), extent_word(30, 30), extent_word("0", "30"), extent_word(0, 0)
    ('some', 'full', 'none', None)
    """
    count, total = as_count(count), as_count(total)
    if count is None or total is None or total <= 0:
        return None
    return "full" if count >= total else "some" if count > 0 else "none"


WINDOW = "{days}"
"""The ``total`` of a rule that stands for the number of days in the request's window."""


@lru_cache(maxsize=1024)
def _compile_word(word: str) -> re.Pattern[str] | None:
    """Return the regular expression for a key of `Rule.words` with ``*`` or ``{engine}``.

    Return None for other keys.
    """
    pattern = re.escape(word).replace(r"\*", ".*")
    pattern = pattern.replace(r"\{engine\}", r"(?P<engine>\S.*?)", 1)
    return re.compile(pattern, re.DOTALL) if pattern != re.escape(word) else None


def to_rule_tuple(rules: Rule | tuple[Rule, ...] | None) -> tuple[Rule, ...]:
    """Return ``rules``, which may be None, one rule or a tuple of rules, as a tuple.

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
    """Return a value of a response as text, as the keys of `Rule.words` are stored.

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
