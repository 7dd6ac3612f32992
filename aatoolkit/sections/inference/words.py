"""Guess the kind of values of a field from its name, and whether an object's keys are data.

>>> classify_name("citationCount").kind, Vocabulary({}).find_dimension(["2026-11-01", "2026-11-02"])
('count', 'date')
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

from aatoolkit._util.lexicon import meaning_by_word, read_text_table, words_of
from aatoolkit.sections.column import to_snake_case

_MAX_NAME_LENGTH = 80
_SUBSET_PATTERN = re.compile(
    r"(?:^(?!com )|(\w+) )(?:with|without|con|sin|mit|ohne|avec|sans|com|sem) \w"
)
STEMS_BY_FILTER = {
    name: words_of(f"{name}_stem") for name in ("engine", "topic", "category", "brand")
}
_PATTERN_BY_DIMENSION = {
    name: re.compile(form, re.I | re.S)
    for name, form in read_text_table(Path(__file__).with_name("dimensions.txt"))
}


_KINDS = [
    (kind, words.split(), excluded_words.strip("-").split())
    for kind, words, excluded_words in read_text_table(Path(__file__).with_name("kinds.txt"))
]
"""The kinds of values: the words that a name of the kind has, and those that it does not have."""


@dataclass(frozen=True)
class NameMeaning:
    """The kind of values that a field name suggests, such as counts for ``citationCount``.

    Attributes
    ----------
    words : list of str
        The words in the name.
    kind : str
        The kind, such as ``count``, ``share``, ``rank``, ``money`` or ``time``; empty if unknown.
    """

    words: list[str]
    kind: str

    def has_word_of(self, word_group: str) -> bool:
        """Return whether any word in the name belongs to a word group of the lexicon."""
        return _has_word_of(self.words, word_group)

    @property
    def is_mean(self) -> bool:
        """Whether a word in the name means an average."""
        return self.has_word_of("mean")


def split_name(name: str) -> list[str]:
    """Split a name into lower-case words, with common abbreviations written out.

    Examples
    --------
    >>> split_name("shareOfVoicePct"), split_name("cit_n"), split_name("avgTimeToConvertMs")
    (['share', 'of', 'voice', 'pct'], ['citations', 'n'], ['avg', 'time', 'to', 'convert', 'ms'])
    """
    word_by_abbreviation = meaning_by_word("short")
    return [
        word_by_abbreviation.get(word, word)
        for word in re.findall(r"[^\W\d_]+|\d+", to_snake_case(name))
    ]


@lru_cache(4096)
def classify_name(name: str) -> NameMeaning:
    """Guess the kind of values of a field from the words in its name.

    Examples
    --------
    >>> classify_name("citationCount").kind, classify_name("visibilityPct").has_word_of("percent")
    ('count', True)
    >>> classify_name("avgPosition").kind, classify_name("EstCostCents").kind
    ('position', 'money')
    >>> classify_name("orders_with_revenue").kind, classify_name("withClient").kind
    ('count', 'count')
    >>> classify_name("avg_order_cents").kind, classify_name("share_with_revenue").kind
    ('money', 'share')
    >>> classify_name("2xx").kind, classify_name("share_5xx").kind, classify_name("comScore").kind
    ('count', 'share', 'score')

    A list of points, each a time and a value, is no change in percentage points:

    >>> classify_name("points_2").kind, classify_name("liftPoints").kind
    ('', 'change')
    """
    words = split_name(name)
    return NameMeaning(words, next(_iter_kinds(words), ""))


def _iter_kinds(words: list[str]) -> Iterator[str]:
    """Yield the kinds of values that the words in a name suggest, the likeliest one first."""
    # ``orders_with_revenue`` are orders, and ``with_revenue`` is a number of them.
    subset_match = _SUBSET_PATTERN.search(" ".join(words))
    is_met_by_condition = {
        "SERIAL": is_serial_number(words),
        "VALUES": all(word.isdigit() or word in words_of("value") for word in words),
        "SUBSET": subset_match is not None and subset_match[1] in (None, *words_of("counted")),
    }

    def is_condition_met(condition_name: str) -> bool:
        """Return whether a condition of ``kinds.txt`` is true of the name.

        A condition is a key of ``is_met_by_condition``, or a group of words in the lexicon.
        """
        return (
            is_met_by_condition[condition_name]
            if condition_name in is_met_by_condition
            else _has_word_of(words, condition_name)
        )

    for kind, present_words, excluded_words in _KINDS:
        if all(map(is_condition_met, present_words)) and not any(
            map(is_condition_met, excluded_words)
        ):
            yield kind


def _has_word_of(words: list[str], word_group: str) -> bool:
    """Return whether any of some words belongs to a word group of the lexicon.

    For ``^count`` only the first word counts, for ``count$`` only the last one.
    """
    must_be_first, must_be_last = word_group[0] == "^", word_group[-1] == "$"
    tested_words = words[:1] if must_be_first else words[-1:] if must_be_last else words
    return not words_of(word_group.strip("^$")).isdisjoint(tested_words)


def is_measure_name(name: str) -> bool:
    """Return whether the words in a name suggest a count, a share or another measure.

    Examples
    --------
    >>> is_measure_name("mentionRate"), is_measure_name("GPTBot")
    (True, False)
    """
    return classify_name(name).kind not in ("", "id", "time")


def is_time_name(name: str) -> bool:
    """Return whether the words in a name suggest a date or time.

    Examples
    --------
    >>> is_time_name("lastSeenAt"), is_time_name("LastSeen"), is_time_name("citations")
    (True, True, False)
    """
    words = split_name(name)
    while words and words[-1] in words_of("second", "millisecond", "epoch_unit"):
        words.pop()
    return "time" in _iter_kinds(words)


def is_flag_name(name: str) -> bool:
    """Return whether the words in a name suggest a boolean.

    Examples
    --------
    >>> is_flag_name("isOwn"), is_flag_name("tracked"), is_flag_name("own")
    (True, True, True)
    """
    words = split_name(name)
    return _has_word_of(words[:-1], "asks") or _has_word_of(words, "yes$")


def is_id_name(name: str) -> bool:
    """Return whether the words in a name suggest an identifier.

    Examples
    --------
    >>> is_id_name("promptId"), is_id_name("sku"), is_id_name("hits")
    (True, True, False)
    """
    return not words_of("id", "address").isdisjoint(split_name(name)[-1:])


def is_serial_number(words: list[str]) -> bool:
    """Return whether the words in a name suggest a serial number.

    Examples
    --------
    >>> is_serial_number(split_name("insight_no")), is_serial_number(split_name("number_of_hits"))
    (True, False)
    """
    ends_in_number = words[1:] and words[-1] == "number" and "of" not in words
    return bool(
        ends_in_number
        and words[-2] not in words_of("count")
        and words[-2] == to_singular(words[-2])
    )


def to_singular(word: str) -> str:
    """Return the singular of an English noun, guessed from its ending.

    Examples
    --------
    >>> to_singular("queries"), to_singular("engines"), to_singular("status"), to_singular("themes")
    ('query', 'engine', 'status', 'theme')
    """
    if word.endswith("ies") and len(word) > 4 and not word.endswith("series"):
        return word[:-3] + "y"
    if re.search(r"(?:ss|sh|ch|x)es$", word):
        return word[:-2]
    return word[:-1] if re.search(r"\w(?<!s)(?<!u)(?<!i)(?<!serie)s$", word) else word


class Vocabulary:
    """The known names of engines, topics, categories and brands, to recognise them in JSON.

    Parameters
    ----------
    values_by_dimension : mapping of str to iterable of str
        Maps ``engine``, ``topic`` and so on to the known ids and names.
    field_by_text : mapping of str to str
        Maps each text in the responses to the name of its field.

    Examples
    --------
    >>> Vocabulary({"engine": ["chatgpt", "gemini"]}).find_dimension(["gemini", "chatgpt"])
    'engine'
    >>> Vocabulary({}).find_dimension(["2026-11-01", "2026-11-02"])
    'date'
    >>> Vocabulary({}).find_dimension(["mentions", "citations"]) is None
    True
    >>> Vocabulary({}).find_dimension(["chatgpt", "gemini-2.5-pro"])
    'engine'
    >>> Vocabulary({}).find_dimension(["gpt_mentions", "claude_mentions"]) is None
    True
    """

    def __init__(
        self,
        values_by_dimension: Mapping[str, Iterable[str]],
        field_by_text: Mapping[str, str] | None = None,
    ) -> None:
        self.values_by_dimension = {
            name: frozenset(known_values) for name, known_values in values_by_dimension.items()
        }
        self.field_by_text = field_by_text or {}

    @classmethod
    def from_responses(
        cls, option_documents: Iterable[Any], responses: Iterable[Any]
    ) -> Vocabulary:
        """Create a vocabulary from the names in some JSON.

        Parameters
        ----------
        option_documents : iterable
            For each host, the JSON in which the service lists the values of its filters.
        responses : iterable
            The JSON of other responses. It is used to find the field name of each text.

        Examples
        --------
        >>> options = {"models": [{"key": "otter"}, {"key": "heron"}]}
        >>> Vocabulary.from_responses([options], []).find_dimension(["heron", "otter"])
        'engine'
        >>> more_options = {"models": [{"key": "crane"}]}
        >>> Vocabulary.from_responses([options, more_options], []).find_dimension(["crane"])
        'engine'
        """
        values_by_dimension: dict[str, set[str]] = defaultdict(set)
        for field_name, field_value in chain.from_iterable(
            map(iter_named_values, option_documents)
        ):
            for dimension, field_name_stems in STEMS_BY_FILTER.items():
                if any(field_name_stem in field_name for field_name_stem in field_name_stems):
                    values_by_dimension[dimension].update(_find_ids_and_names(field_value))
                    break
        return cls(values_by_dimension, dict(iter_texts([*responses])))

    def find_dimension(self, names: Iterable[str]) -> str | None:
        """Return what kind of thing some keys are, such as ``engine``; return None if unknown.

        Most of the keys must be known names, or have the form of a date, a URL and so on.
        """
        distinct_names = list(dict.fromkeys(names))
        if not distinct_names:
            return None
        for dimension, known_values in self.values_by_dimension.items():
            if sum(name in known_values for name in distinct_names) >= 0.75 * len(distinct_names):
                return dimension
        for dimension, pattern in _PATTERN_BY_DIMENSION.items():
            if sum(map(bool, map(pattern.fullmatch, distinct_names))) >= 0.8 * len(distinct_names):
                return dimension
        return None


def iter_named_values(document: Any, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield the name in snake_case and the value of each field in JSON; nested fields, too.

    Examples
    --------
    >>> [name for name, _ in iter_named_values({"choices": {"modelList": []}})]
    ['choices', 'model_list']
    """
    for name, value in document.items() if isinstance(document, dict) and depth < 4 else ():
        yield to_snake_case(name), value
        yield from iter_named_values(value, depth + 1)


def _find_ids_and_names(list_or_dict: Any) -> set[str]:
    """Return the ids and names of the items in a list, or the keys of a dict of items.

    Examples
    --------
    >>> sorted(_find_ids_and_names([{"id": "a", "label": "Atlas"}, {"id": "b", "label": "Boreal"}]))
    ['Atlas', 'Boreal', 'a', 'b']
    """
    if isinstance(list_or_dict, dict):
        if all(isinstance(item, dict) for item in list_or_dict.values()):
            return {*list_or_dict}
        lists_of_names = (item for item in list_or_dict.values() if isinstance(item, list))
        return set().union(*map(_find_ids_and_names, lists_of_names))
    list_items = list_or_dict if isinstance(list_or_dict, list) else []
    ids_and_names = {item for item in list_items if isinstance(item, str)}
    objects = [item for item in list_items if isinstance(item, dict)]
    for field_name in objects[0] if objects else ():
        name_texts = {
            name_text for record in objects if isinstance(name_text := record.get(field_name), str)
        }
        are_days = any(map(_PATTERN_BY_DIMENSION["date"].match, name_texts))
        if len(name_texts) == len(objects) and not are_days:
            ids_and_names |= name_texts - {""}
    return ids_and_names


def iter_texts(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield each short text in a JSON value, with the name of its field.

    Examples
    --------
    >>> [*iter_texts({"rows": [{"host": "a.example"}]})]
    [('a.example', 'host')]
    """
    if type(value) is str and len(value) <= _MAX_NAME_LENGTH:
        yield value, name
    elif isinstance(value, dict):
        for key, nested_value in value.items():
            yield from iter_texts(nested_value, key)
    elif isinstance(value, list):
        for nested_value in value:
            yield from iter_texts(nested_value, name)
