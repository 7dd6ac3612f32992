"""The vocabulary of a project: known values, to recognise objects whose keys are data.

Scope options name the engines, topics, categories and brands of a project, so an object whose
keys are engine ids is a table by engine. Days, weeks, hosts and addresses are known by their form.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

_STEMS = {
    "engine": ("engine", "model", "assistant", "platform", "llm", "provider", "source_engine"),
    "topic": ("topic", "theme", "cluster"),
    "category": ("categor", "intent", "segment"),
    "brand": ("brand", "competitor", "compan", "rival", "tracked"),
}
_FORMS = (
    ("date", r"\d{4}-\d{2}-\d{2}|(?:19|20)\d{2}[01]\d[0-3]\d"),
    ("week", r"\d{4}-?W\d{2}(?:-\d)?"),
    ("month", r"\d{4}-\d{2}"),
    ("hour", r"\d{4}-\d{2}-\d{2}[T ]\d{2}:.*|\d{10}|\d{13}"),
    ("url", r"[a-z][a-z+.-]*://.*"),
    ("path", r"/\S*"),
    ("domain", r"(?:[\w-]+\.)+[a-z]{2,}"),
    ("email", r"[^\s@]+@\S+\.\w+"),
    ("uuid", r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    ("number", r"[+-]?\d+(?:\.\d+)?"),
    # Assistants that everybody knows, for answers that come without scope options.
    (
        "engine",
        r"(?:chat[-_ ]?gpt|gpt|gemini|claude|perplexity|(?:ms|microsoft|bing)?[-_ ]?copilot|grok"
        r"|google[-_ ]?ai|ai|deepseek|mistral|meta[-_ ]?ai|bing[-_ ]?chat)"
        r"(?:[-_ .]?(?:search|ai|web|mode|overviews?|pro|sonnet|opus|haiku|flash|mini"
        r"|\d[\w.]*+))*+",
    ),
)
_PATTERNS = tuple((name, re.compile(form, re.I | re.S)) for name, form in _FORMS)
_ANY_FORM = re.compile("|".join(form for _, form in _FORMS), re.I | re.S)
_BLOCK = 64
_METRIC_FIELDS = re.compile(
    r"(?:.*_)?(?:metric|measure|kpi|field|fields|column|columns|key|header|type|sort|order"
    r"|applies_to|code|unit|label|name|status|state|reason|kind)s?"
)
_LONGEST = 80


class Vocabulary:
    """Known values by dimension, such as the engine ids of a project.

    Parameters
    ----------
    members : mapping of str to iterable of str
        The values of each dimension.
    fields : mapping of str to iterable of str
        Texts of the answers by the name of the field that holds them, to recognise keys that
        other places of the same answers spell out.

    Examples
    --------
    >>> Vocabulary({"engine": ["chatgpt", "gemini"]}).dimension(["gemini", "chatgpt"])
    'engine'
    >>> Vocabulary({}).dimension(["2026-11-01", "2026-11-02"])
    'date'
    >>> Vocabulary({}).dimension(["mentions", "citations"]) is None
    True
    >>> Vocabulary({}).dimension(["chatgpt", "gemini-2.5-pro"])
    'engine'
    >>> Vocabulary({}).dimension(["gpt_mentions", "claude_mentions"]) is None
    True
    """

    def __init__(
        self,
        members: Mapping[str, Iterable[str]],
        fields: Mapping[str, Iterable[str]] | None = None,
    ) -> None:
        self.members = {name: frozenset(values) for name, values in members.items()}
        self.fields = {
            name: frozenset(values)
            for name, values in (fields or {}).items()
            if not _METRIC_FIELDS.fullmatch(name)
        }

    @classmethod
    def of(cls, options: Any, answers: Iterable[Any] = ()) -> Vocabulary:
        """Collect the vocabulary of decoded scope options and of the answers themselves."""
        members: dict[str, set[str]] = defaultdict(set)
        for name, value in _named(options):
            dimension = next((d for d, s in _STEMS.items() if any(x in name for x in s)), None)
            if dimension is not None:
                members[dimension].update(_texts(value))
        texts: dict[str | None, set[str]] = defaultdict(set)
        for answer in answers:
            _collect(answer, None, texts)
        fields: dict[str, set[str]] = defaultdict(set)
        for field, values in texts.items():
            fields["" if field is None else snake(field)].update(values)
        return cls(members, fields)

    def dimension(self, keys: Iterable[str]) -> str | None:
        """Name the dimension of an object's keys, if they are data; None if they may be names."""
        listed = list(dict.fromkeys(keys))
        if not listed:
            return None
        for name, values in self.members.items():
            if sum(key in values for key in listed) >= 0.75 * len(listed):
                return name
        if not _mostly_match(_ANY_FORM, listed):
            return None
        return next((name for name, form in _PATTERNS if _mostly_match(form, listed)), None)

    def field_of(self, keys: Iterable[str]) -> str | None:
        """The field elsewhere in the answers whose values these keys are; None if there is none.

        Names of measures are no such values: an object of measures is not a map.
        """
        listed = set(keys)
        if len(listed) < 3:
            return None
        shared = {
            name: len(listed & values) / len(listed)
            for name, values in self.fields.items()
            if len(values) >= len(listed) * 0.9
        }
        best = max(shared, key=lambda name: shared[name], default=None)
        return best if best is not None and shared[best] >= 0.9 else None


def _mostly_match(form: re.Pattern[str], keys: list[str]) -> bool:
    """Whether four fifths of the keys have a form; no more are looked at than that takes."""
    least = 0.8 * len(keys)
    found = 0
    for start in range(0, len(keys), _BLOCK):
        found += sum(map(bool, map(form.fullmatch, keys[start : start + _BLOCK])))
        if found + len(keys) - start - _BLOCK < least:
            break
    return found >= least


def _named(options: Any, depth: int = 0) -> list[tuple[str, Any]]:
    """The lists and maps of scope options, with the names of their fields in small letters."""
    if not isinstance(options, dict) or depth > 3:
        return []
    found: list[tuple[str, Any]] = []
    for name, value in options.items():
        found.append((snake(name), value))
        if isinstance(value, dict):
            found += _named(value, depth + 1)
    return found


def _texts(value: Any) -> set[str]:
    """The names by which the members of a list or map of options may be known."""
    if isinstance(value, dict):
        inner = value.values()
        if value and all(isinstance(one, dict) for one in inner):
            return {key for key in value if len(key) <= _LONGEST}
        return set().union(*(_texts(one) for one in inner if isinstance(one, list)))
    if not isinstance(value, list):
        return set()
    if all(isinstance(one, str) for one in value):
        return set(value)
    objects = [_flat(one) for one in value if isinstance(one, dict)]
    columns: dict[str, list[str]] = defaultdict(list)
    for one in objects:
        for name, text in one.items():
            if isinstance(text, str):
                columns[name].append(text)
    unique = [texts for texts in columns.values() if len(set(texts)) == len(texts) == len(objects)]
    dates = _PATTERNS[0][1]
    return {text for texts in unique for text in texts if not dates.match(text) and text}


def _flat(value: Mapping[str, Any]) -> dict[str, Any]:
    """Merge the fields of nested objects into those of an object."""
    found: dict[str, Any] = {}
    for name, one in value.items():
        if isinstance(one, dict):
            found.update(_flat(one))
        else:
            found.setdefault(name, one)
    return found


def _collect(value: Any, name: str | None, fields: dict[str | None, set[str]]) -> None:
    """Collect short texts by the name of the field that holds them; None for no field."""
    if isinstance(value, str):
        if len(value) <= _LONGEST:
            fields[name].add(value)
    elif isinstance(value, dict):
        for key, one in value.items():
            if isinstance(one, str | dict | list):
                _collect(one, key, fields)
    elif isinstance(value, list):
        for one in value:
            if isinstance(one, str | dict | list):
                _collect(one, name, fields)


@lru_cache(8192)
def snake(name: str) -> str:
    """Convert a field's name to snake_case.

    Examples
    --------
    >>> snake("shareOfVoicePct"), snake("AdRows"), snake("HTTPStatus")
    ('share_of_voice_pct', 'ad_rows', 'http_status')
    """
    name = name[:_LONGEST]
    if name.isascii() and name.isalnum() and name.islower():
        return name
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return re.sub(r"\W+|__+", "_", split).strip("_").lower() or "field"


def singular(word: str) -> str:
    """Convert a plural noun to the singular, as far as its ending shows it.

    Examples
    --------
    >>> singular("queries"), singular("engines"), singular("status"), singular("themes")
    ('query', 'engine', 'status', 'theme')
    """
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if re.search(r"(?:ss|sh|ch|x)es$", word):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def words_of(text: str) -> frozenset[str]:
    """Split a text into its set of words.

    Examples
    --------
    >>> sorted(words_of("rate share"))
    ['rate', 'share']
    """
    return frozenset(text.split())
