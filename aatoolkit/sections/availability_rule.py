"""Rules that find, in a response, which data could not be measured, and why.

A rule gives the path of a value, and the status that each of its texts means.

>>> rule = Rule(at="meta.state", words={"red": "not_connected"})
>>> rule.meaning_of("red")
('not_connected', None)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

from aatoolkit.errors import ArgumentError
from aatoolkit.jsontree.paths import Elements, Entries, Field, parse_pattern


@dataclass(frozen=True)
class Rule:
    """A rule that says at which path of a service's responses, and how, missing data are reported.

    ``at`` is the path, and ``words`` gives the meaning of the values there.

    Without a rule, the whole response is searched for known words such as ``pending``. If there is
    an object at the path of the rule, only this object is read, and the response is not searched.
    If there is any other value, it is read in addition to the search.

    Parameters
    ----------
    name : str
        The name of the rule. It is shown as the origin of each status that the rule finds.
    at : str
        The path in the response at which the status is stated:

        - ``meta.dataStatus`` for an object, a text or a boolean;
        - ``$`` for the response itself, of which ``status`` is a field;
        - ``engineStates{}`` for an object whose keys are engines or fields;
        - ``rows[].quality`` for a field of each row;
        - ``header x-data-state`` for an HTTP header.
    status, reason, sample_size, as_of : str
        If ``at`` is an object: the names of its fields for the status, its reason, the number of
        samples and the time of the data.
    fields, engines : str
        If ``at`` is an object: the names of two of its fields, whose values are objects. The keys
        of these are names of fields or of engines, and the values the status of each. If ``of`` is
        ``engine``, ``engines`` is instead the field of a row that has the name of its engine, or
        the path of a list beside the list of states, such as ``axes.engine[]``.
    total : str, optional
        The name of the field with the expected count, if ``status`` is a count: 25 of 30 is read as
        the word ``some``, 30 of 30 as ``full`` and 0 of 30 as ``none``. ``{days}`` stands for the
        number of days that were requested, and ``1`` for the whole, if ``status`` is a share.
    words : mapping of str, bool or int to str
        Maps each word of the service to a status or cause of this package, as in ``{"amber":
        "partial", True: "not_run", None: "pending"}``. A word with the meaning ``nothing`` is
        ignored. In a key, ``*`` stands for any text and ``{engine}`` for the name of an engine, as
        in ``{"{engine}: late since *": "partial"}``. A count that reaches its total, such as ``30
        of 30``, is read as ``{all}``, and 1 and 0 as true and false, if these are keys. The key
        ``[]`` stands for an empty list of what is missing, beside numbers, if ``at`` leads into
        this list. An object such as ``{"Partial": {…}}`` is read as its key, if that is a key.
    of : {"engine", "field", "section"}, optional
        What each key of the object, or each row, is about. By default, keys are looked up among the
        known engines and fields.

    Raises
    ------
    ArgumentError
        If ``at`` is not a valid path, or if there is no such ``of``.

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
        meaning_by_word = {to_rule_word(word): meaning for word, meaning in self.words.items()}
        object.__setattr__(self, "words", meaning_by_word)
        if self.of not in (None, "engine", "field", "section"):
            raise ArgumentError(f"of={self.of!r} is none of 'engine', 'field' and 'section'")
        if self.kind != "header" and self.at != "$" and not parse_pattern(self.at):
            raise ArgumentError(
                f"{self.at!r} is no place of availability; give the path of a field, of a field "
                "of rows (rows[].quality), of a map (states{}), or a header (header x-state)"
            )

    @property
    def kind(self) -> Literal["object", "map", "rows", "header"]:
        """The kind of value that ``at`` leads to.

        ``object`` is a single object, text or boolean; ``map`` an object whose keys are engines (AI
        assistants) or fields; ``rows`` a field of each row; ``header`` an HTTP header.

        Examples
        --------
        >>> Rule(at="meta.state").kind, Rule(at="states{}").kind, Rule(at="rows[].state").kind
        ('object', 'map', 'rows')
        """
        if self.at.startswith("header "):
            return "header"
        wildcard_steps = [
            step for step in parse_pattern(self.at) if isinstance(step, Elements | Entries)
        ]
        if not wildcard_steps:
            return "object"
        is_map = (
            len(wildcard_steps) == 1
            and isinstance(wildcard_steps[0], Entries)
            and self.at.endswith("}")
        )
        return "map" if is_map else "rows"

    @property
    def header(self) -> str:
        """The name of the HTTP header in ``at``, in lower case.

        Examples
        --------
        >>> Rule(at="header X-Data-State").header
        'x-data-state'
        """
        return self.at.removeprefix("header ").strip().lower()

    @property
    def steps(self) -> Iterator[str]:
        """The names of the fields in the path ``at``, from the outermost to the innermost.

        Examples
        --------
        >>> [*Rule(at="meta.states{}").steps]
        ['meta', 'states']
        """
        return (step.name for step in parse_pattern(self.at) if isinstance(step, Field))

    def find(self, document: Any, window_days: int | None = None) -> dict[str, Any] | None:
        """Return the object at the path ``at`` of a decoded response; None if there is none.

        If there is a text or boolean instead, return a dict with it as the status. ``window_days``
        is the number of requested days, for the total ``{days}``.

        Examples
        --------
        >>> Rule(at="meta.state").find({"meta": {"state": "pending"}})
        {'status': 'pending'}
        """
        value = self._value_at_path(document)
        if self.is_bare(document):
            return {self.status: value}
        if not isinstance(value, dict) or (
            self.total and self.value_in(value, window_days) is None
        ):
            return None
        return value

    def value_in(self, record: Mapping[str, Any], window_days: int | None = None) -> Any:
        """Return the value of the status field in an object of a response.

        If the rule has a ``total``, the field is a count. The count is compared with the total, and
        ``none``, ``some`` or ``full`` is returned. ``window_days`` is the number of requested
        days, for the total ``{days}``.

        Examples
        --------
        >>> Rule(status="days", total="expected").value_in({"days": 25, "expected": 30})
        'some'
        """
        value = record.get(self.status)
        return (
            to_completeness(value, find_total(record, self.total, window_days))
            if self.total
            else value
        )

    def is_bare(self, document: Any) -> bool:
        """Return whether a decoded response has a text or boolean at the path ``at``.

        The result is False if there is an object. It is True for null if ``words`` has a meaning
        for null.

        Examples
        --------
        >>> Rule(at="meta.state").is_bare({"meta": {"state": "pending"}})
        True
        """
        value = self._value_at_path(document)
        return isinstance(value, str | int) or (value is None and "null" in self.words)

    def _value_at_path(self, document: Any) -> Any:
        """Return the value at the path ``at``; None for null, `Ellipsis` if there is no path."""
        for field_name in self.steps:
            document = document.get(field_name, ...) if isinstance(document, dict) else ...
        return self.find_tag(document)

    def find_tag(self, value: Any) -> Any:
        """Return the only key of an object, if it is in ``words`` and leads to an object.

        Other values are returned unchanged.

        Examples
        --------
        >>> Rule(words={"Partial": "partial"}).find_tag({"Partial": {"missing_days": 3}})
        'Partial'
        """
        tag = find_tag(value)
        return tag if isinstance(tag, str) and tag in self.words else value

    def meaning_of(self, value: object) -> tuple[str | None, str | None]:
        """Look a value up in ``words``; return its meaning, and the engine (AI assistant) in it.

        Returns
        -------
        meaning : str or None
            The meaning, such as ``partial``; None if ``words`` does not have the value.
        engine : str or None
            The name of the engine in the value, if there is one.

        Examples
        --------
        >>> rule = Rule(words={"{engine}: late by *": "partial", False: "not_run"})
        >>> rule.meaning_of("otter: late by 3 days"), rule.meaning_of(False)
        (('partial', 'otter'), ('not_run', None))
        """
        value_text = to_rule_word(value)
        flag_word = {"0": "false", "1": "true"}.get(value_text, value_text.lower())
        meaning = self.words.get(value_text, self.words.get(flag_word))
        for word in self.words if meaning is None else ():
            word_pattern = _compile_word_pattern(word)
            if word_pattern and (
                match := word_pattern.fullmatch(value_text) or word_pattern.fullmatch(str(value))
            ):
                return self.words[word], match.groupdict().get("engine")
        return meaning, None

    def is_whole(self, record: Mapping[str, Any]) -> bool:
        """Return whether an object has all four keys that the rule names, and a text as the status.

        The rule names them in ``status``, ``reason``, ``sample_size`` and ``as_of``.

        Examples
        --------
        >>> Rule().is_whole({"status": "ok", "reason": None, "sampleCount": 3, "asOf": None})
        True
        """
        field_names = (self.status, self.reason, self.sample_size, self.as_of)
        return isinstance(record.get(self.status), str) and all(
            name in record for name in field_names
        )


def find_tag(value: Any) -> Any:
    """Return the only key of an object, if it leads to an object; other values unchanged.

    Examples
    --------
    >>> find_tag({"Partial": {"days": 3}}), find_tag({"partial": False})
    ('Partial', {'partial': False})
    """
    is_tagged = isinstance(value, dict) and [*map(type, value.values())] == [dict]
    return next(iter(value)) if is_tagged else value


_MAX_SHORT_LIST_LENGTH = 5
"""The greatest length of a list that is read as a statement on missing data.

A longer list is a row of data.
"""

_COUNT_PATTERN = re.compile(r"0|[1-9]\d{0,14}", re.ASCII)
_FULL_COUNT_PATTERN = re.compile(
    r"(?<![\d.,])([1-9]\d*) (?:of|von|de|sur|di|van|av) \1(?![.,\s]?\d)\b"
)


def parse_count(value: object) -> int | None:
    """Convert a whole number to int, even if it is written as text; return None for other values.

    Examples
    --------
    >>> parse_count(3), parse_count("1200"), parse_count("007"), parse_count(True)
    (3, 1200, None, None)
    """
    is_digits = type(value) is str and _COUNT_PATTERN.fullmatch(value)
    return int(value) if type(value) is int or is_digits else None  # type: ignore[call-overload]


def to_completeness(count_value: object, total_value: object) -> str | None:
    """Compare a count with a total; return ``none``, ``some`` or ``full`` as text.

    ``none`` is for a count of 0, ``full`` for another count that reaches the total. Return None if
    one of the arguments is no whole number, or if the total is negative. A share of 1 is ``full``.

    Examples
    --------
    >>> [to_completeness(count, 30) for count in (25, 30, "0")], to_completeness(0, 0)
    (['some', 'full', 'none'], 'none')
    >>> to_completeness(0.87, 1), to_completeness(1.0, 1)
    ('some', 'full')
    """
    count_value = count_value if type(count_value) is float else parse_count(count_value)
    total_value = parse_count(total_value)
    if count_value is None or total_value is None or total_value < 0:
        return None
    return "none" if count_value <= 0 else "full" if count_value >= total_value else "some"


EMPTY_LIST_WORD = "[]"
"""As a word of a `Rule`, this text stands for an empty list in a response that has numbers."""

DAYS_PLACEHOLDER = "{days}"
"""As the ``total`` of a `Rule`, this text stands for the number of requested days."""

SHARE_TOTAL = "1"
"""As the ``total`` of a `Rule`, this text says that the status is a share, such as 0.87."""


def find_total(json_object: Any, total_field: str, window_days: int | None) -> Any:
    """Return the total of a count in an object: a field's value, the requested days, or 1.

    Only the days and 1 are totals of a count that is in no object.

    Examples
    --------
    >>> find_total({"due": 30}, "due", 7), find_total({}, "{days}", 7), find_total({}, "1", 7)
    (30, 7, 1)
    """
    default_total = window_days if total_field == DAYS_PLACEHOLDER else parse_count(total_field)
    is_object = isinstance(json_object, Mapping)
    return json_object.get(total_field, default_total) if is_object else default_total


@lru_cache(maxsize=1024)
def _compile_word_pattern(word: str) -> re.Pattern[str] | None:
    """Return a regular expression for a word with the placeholder ``*`` or ``{engine}``.

    ``*`` stands for any text, and ``{engine}`` for the name of an AI assistant. Return None for a
    word without a placeholder.

    Examples
    --------
    >>> _compile_word_pattern("{engine}: late by *").fullmatch("otter: late by 3 days")["engine"]
    'otter'
    """
    word_regex = re.escape(word).replace(r"\*", ".*")
    word_regex = word_regex.replace(r"\{engine\}", r"(?P<engine>\S.*?)", 1)
    return re.compile(word_regex, re.DOTALL) if word_regex != re.escape(word) else None


def to_rule_tuple(rules: Rule | tuple[Rule, ...] | None) -> tuple[Rule, ...]:
    """Return a tuple of rules from one rule, a tuple of rules or None.

    Examples
    --------
    >>> to_rule_tuple(None), to_rule_tuple(Rule(at="meta.state"))[0].at
    ((), 'meta.state')
    """
    return (rules,) if isinstance(rules, Rule) else tuple(rules or ())


def with_rule(rules: tuple[Rule, ...], rule: Rule) -> tuple[Rule, ...]:
    """Return a tuple of rules with a rule added.

    The added rule replaces an earlier rule with the same path ``at``.

    Examples
    --------
    >>> rules = Rule(at="meta.state"), Rule(at="rows[].q")
    >>> [rule.at for rule in with_rule(rules, Rule(at="rows[].q", words={"x": "pending"}))]
    ['meta.state', 'rows[].q']
    """
    return tuple({**{old_rule.at: old_rule for old_rule in rules}, rule.at: rule}.values())


def to_rule_word(value: object) -> str:
    """Return a JSON scalar as text, in the form of the keys of `Rule.words`.

    Examples
    --------
    >>> to_rule_word("Red"), to_rule_word(True), to_rule_word(1.0), to_rule_word(None)
    ('Red', 'true', '1', 'null')

    A count and its total become the word that `to_completeness` returns:

    >>> to_rule_word("23/30")
    'some'

    In a sentence, such a pair of equal numbers becomes ``{all}``:

    >>> to_rule_word("30 of 30 days and 5 of 6 engines")
    '{all} days and 5 of 6 engines'
    """
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, str) and value.count("/") == 1:
        return to_completeness(*value.split("/")) or value
    return (
        "null" if value is None else str(value).lower() if isinstance(value, bool)
        else _FULL_COUNT_PATTERN.sub("{all}", str(value))
    )  # fmt: skip


def join_short_list(value: Any) -> Any:
    """Join a list of up to 5 texts and numbers with spaces; return any other value unchanged.

    At least one item must be a text. Items with a slash, such as the path of a page, are replaced
    by ``*``.

    Examples
    --------
    >>> join_short_list(["gemini", "late", 3]), join_short_list(["/pricing", "timeout"])
    ('gemini late 3', '* timeout')
    >>> join_short_list([1, 2])
    [1, 2]
    """
    has_text = isinstance(value, list) and any(isinstance(item, str) for item in value)
    if not has_text or len(value) > _MAX_SHORT_LIST_LENGTH:
        return value
    if any(isinstance(item, list | dict) for item in value):
        return value
    return " ".join("*" if "/" in to_rule_word(item) else to_rule_word(item) for item in value)


REFERENCE_RULE = Rule("reference")
"""The rule for responses of the reference service.

If the object ``availability`` of a response has all fields of this rule, nothing else in the
response is searched for missing data.
"""
