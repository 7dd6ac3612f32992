"""Rules that say where the responses of a service state which data could be measured, and why
not.
"""

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
    """A rule that says where a section's responses state availability, and in which words.

    Availability says whether data could be measured, and why not. It may be stated in an object, in
    a map (an object whose keys are engines or fields), in a field of each row, or in a header.

    If a response has the object of a rule, availability is read only there. A rule for a text, a
    boolean, a count, a map, rows or a header adds to the general search in the whole response.

    Parameters
    ----------
    name : str
        The name of the rule, which is stored with each availability that it reads.
    at : str
        The path at which availability is stated:

        - ``meta.dataStatus``, an object, text or boolean;
        - ``engineStates{}``, a map from engines or fields to objects, texts or booleans;
        - ``rows[].quality``, a field of each row;
        - ``header x-data-state``, a response header.
    status, reason, sample_size, as_of : str
        The service's names of these fields in the object.
    fields, engines : str
        The service's names of two maps in the object: from fields and from engines to their
        availability. With ``of="engine"``, ``engines`` is the field with the engine of a row.
    total : str, optional
        The field with the expected count, if ``status`` is a count. The count is then read as the
        word ``full``, ``some`` or ``none``. ``{days}`` stands for the number of days asked for.
    words : mapping of str, bool or int to str
        Maps the service's words to those of this package, as in ``{"amber": "partial", True:
        "not_run", None: "pending"}``. The meaning ``nothing`` is for words that say nothing about
        availability. In a key, ``*`` stands for any text and ``{engine}`` for an engine:
        ``{"{engine}: late since *": "partial"}``.
    of : str, optional
        What the entries of a map or the rows are about: ``engine``, ``field`` or ``section``. By
        default, the keys of a map are looked up among the known engines and fields.

    Raises
    ------
    ArgumentError
        If ``at`` is not a valid path, or ``of`` is not one of these words.

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
        """The names of the fields on the path ``at``, the outermost first."""
        return (step.name for step in parse_pattern(self.at) if isinstance(step, Field))

    def find(self, document: Any) -> dict[str, Any] | None:
        """Return the object at the path ``at`` of a response, or None.

        A text or boolean is returned as an object, as in ``{"status": "pending"}``.
        """
        value = self._value_at_path(document)
        if self.is_bare(document):
            return {self.status: value}
        if not isinstance(value, dict) or (self.total and self.value_in(value) is None):
            return None
        return value

    def value_in(self, record: Mapping[str, Any]) -> Any:
        """Return the status in an object; a count with a total becomes a word such as ``full``."""
        value = record.get(self.status)
        return extent_word(value, record.get(self.total)) if self.total else value

    def is_bare(self, document: Any) -> bool:
        """Return whether a response has a text or boolean at the path ``at``, and not an object."""
        value = self._value_at_path(document)
        return isinstance(value, str | bool) or (value is None and "null" in self.words)

    def _value_at_path(self, document: Any) -> Any:
        """Return the value at the path ``at``; ``...`` if there is none, as None means null."""
        for name in self.steps:
            document = document.get(name, ...) if isinstance(document, dict) else ...
        return document

    def meaning_of(self, value: object) -> tuple[str | None, str | None]:
        """Return the meaning of a value in the rule's ``words``, and the engine that the value
        names.

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
    """Return an integer, or a text of digits, as an integer; None for other values.

    Examples
    --------
    >>> as_count(3), as_count("1200"), as_count("007"), as_count(True)
    (3, 1200, None, None)
    """
    is_digits = type(value) is str and _DIGITS.fullmatch(value)
    return int(value) if type(value) is int or is_digits else None  # type: ignore[call-overload]


def extent_word(count: object, total: object) -> str | None:
    """Return whether a count is ``none``, ``some`` or all (``full``) of a total.

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
"""The ``total`` of a rule that stands for the number of days asked for."""


@lru_cache(maxsize=1024)
def _compile_word(word: str) -> re.Pattern[str] | None:
    """Return the regular expression for a word with ``*`` or ``{engine}``, else None."""
    pattern = re.escape(word).replace(r"\*", ".*")
    pattern = pattern.replace(r"\{engine\}", r"(?P<engine>\S.*?)", 1)
    return re.compile(pattern, re.DOTALL) if pattern != re.escape(word) else None


def to_rule_tuple(rules: Rule | tuple[Rule, ...] | None) -> tuple[Rule, ...]:
    """Return rules as a tuple.

    Examples
    --------
    >>> to_rule_tuple(None), to_rule_tuple(Rule(at="meta.state"))[0].at
    ((), 'meta.state')
    """
    return (rules,) if isinstance(rules, Rule) else tuple(rules or ())


def with_rule(rules: tuple[Rule, ...], rule: Rule) -> tuple[Rule, ...]:
    """Return the rules and one more, which replaces an earlier rule with the same path.

    Examples
    --------
    >>> rules = Rule(at="meta.state"), Rule(at="rows[].q")
    >>> [rule.at for rule in with_rule(rules, Rule(at="rows[].q", words={"x": "pending"}))]
    ['meta.state', 'rows[].q']
    """
    return tuple({**{old_rule.at: old_rule for old_rule in rules}, rule.at: rule}.values())


def to_word(value: object) -> str:
    """Return a JSON value as text.

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


def as_text(value: Any) -> Any:
    """Return a list of texts and numbers as one text; other values as they are.

    A text with a slash, such as the path of a page, becomes ``*``.

    Examples
    --------
    >>> as_text(["gemini", "late", 3]), as_text(["/pricing", "timeout"]), as_text([1, 2])
    ('gemini late 3', '* timeout', [1, 2])
    """
    is_tuple = isinstance(value, list) and any(isinstance(item, str) for item in value)
    if not is_tuple or any(isinstance(item, list | dict) for item in value):
        return value
    return " ".join("*" if "/" in to_word(item) else to_word(item) for item in value)


REFERENCE = Rule("reference")
"""The rule of the reference service; responses with all its fields are read only by it."""
