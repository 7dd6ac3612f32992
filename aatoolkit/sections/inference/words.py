"""Read the words of names and keys: the kind of numbers under a name, and keys that are data.

The words are in the lexicon, by concept. Names alone prove nothing: a unit is likely if the words
of the name and the range of the values agree, and open otherwise. The scope options list the
engines, topics, categories and brands of a project, so an object whose keys are ids of engines is a
table by engine. Days, weeks, hosts and addresses are recognised by their syntax.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from aatoolkit._util.lexicon import pairs
from aatoolkit._util.lexicon import words as lexicon
from aatoolkit.sections.column import snake

_MAX_LENGTH = 80
STEMS = {name: lexicon(f"{name}_stem") for name in ("engine", "topic", "category", "brand")}
_KEY_FORMATS = {
    "date": r"\d{4}-\d{2}-\d{2}|(?:19|20)\d{2}[01]\d[0-3]\d",
    "week": r"\d{4}-?W\d{2}(?:-\d)?",
    "month": r"\d{4}-\d{2}",
    "hour": r"\d{4}-\d{2}-\d{2}[T ]\d{2}:.*|\d{10}|\d{13}",
    "url": r"[a-z][a-z+.-]*://.*",
    "path": r"/\S*",
    "domain": r"(?:[\w-]+\.)+[a-z]{2,}",
    "email": r"[^\s@]+@\S+\.\w+",
    "uuid": r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    "number": r"[+-]?\d+(?:\.\d+)?",
    # Assistants that everybody knows, for responses that come without scope options.
    "engine": r"(?:chat[-_ ]?gpt|gpt|gemini|claude|perplexity|(?:ms|microsoft|bing)?[-_ ]?copilot"
    r"|grok|google[-_ ]?ai|ai|deepseek|mistral|meta[-_ ]?ai|bing[-_ ]?chat)"
    r"(?:[-_ .]?(?:search|ai|web|mode|overviews?|pro|sonnet|opus|haiku|flash|mini|\d[\w.]*+))*+",
}
_PATTERNS = {name: re.compile(form, re.I | re.S) for name, form in _KEY_FORMATS.items()}
FACTORS = {
    "cents": 0.01, "micro": 1e-6, "nano": 1e-9, "permille": 1e-3, "ppm": 1e-6, "basis_point": 1e-4,
}  # fmt: skip


@dataclass(frozen=True)
class Meaning:
    """The kind of numbers that a name announces, judged by the words in the name.

    Attributes
    ----------
    kind : str
        ``count``, ``share``, ``probability``, ``position``, ``rank``, ``score``, ``money``,
        ``seconds``, ``milliseconds``, ``bytes``, ``change``, ``status``, ``id``, ``time`` or empty.
    mean, percent, points, places : bool
        Whether the name has a word for an average (``mean``), per cent (``percent``), percentage
        points (``points``) or ranks (``places``).
    factor : float
        The factor of the unit in the name: 0.01 for cents, 1e-6 for ppm; 1 for other names.
    has_counted_noun : bool
        Whether the name has a noun for countable items, such as ``citations``.
    """

    kind: str = ""
    mean: bool = False
    percent: bool = False
    points: bool = False
    places: bool = False
    factor: float = 1.0
    has_counted_noun: bool = False


def tokens(name: str) -> list[str]:
    """Return the words of a name in lower case, with common short forms spelt out.

    Examples
    --------
    >>> tokens("shareOfVoicePct"), tokens("cit_n"), tokens("avgTimeToConvertMs")
    (['share', 'of', 'voice', 'pct'], ['citations', 'n'], ['avg', 'time', 'to', 'convert', 'ms'])
    """
    short_forms = pairs("short")
    return [short_forms.get(word, word) for word in re.findall(r"[^\W\d_]+|\d+", snake(name))]


@lru_cache(4096)
def meaning(name: str) -> Meaning:
    """Return the kind of numbers that a name announces, judged by the words in the name.

    Examples
    --------
    >>> meaning("citationCount").kind, meaning("visibilityPct").percent
    ('count', True)
    >>> meaning("avgPosition").kind, meaning("EstCostCents").factor, meaning("ctrPpm").factor
    ('position', 0.01, 1e-06)
    """
    words = tokens(name) or [""]
    word_set = set(words)
    last_word = words[-1]

    def has(*concepts: str) -> bool:
        return not lexicon(*concepts).isdisjoint(word_set)

    def ends(*concepts: str) -> bool:
        return last_word in lexicon(*concepts)

    is_mean = has("mean")
    # Without a word for a mean, ``pos`` may stand for positive.
    single_words = (word_set if is_mean else word_set - {"pos"}) | {
        singular(word) for word in words
    }
    has_places = bool(single_words & lexicon("position", "rank"))
    factor = next((multiplier for concept, multiplier in FACTORS.items() if has(concept)), 1.0)
    # A part of a rate, such as its numerator, may be a sum of anything.
    is_rate = has("rate") and not ends("rate_part")
    is_place = singular(last_word) in lexicon("position", "rank")
    is_score = last_word in lexicon("participle") and words[-2:-1] and words[-2] in lexicon("score")
    is_counted = _is_counted(last_word) or _is_counted(words[0])
    kinds = (
        (
            "id",
            is_numbered(words) or (ends("id") and not word_set & {"http", "per", "this", "by"}),
        ),
        ("milliseconds", ends("millisecond")),
        ("seconds", ends("second") and (len(words) > 1 or last_word != "s")),
        ("bytes", (ends("byte") and last_word != "size") or ("bytes" in word_set and not is_rate)),
        ("change", has("change")),
        ("money", has("money") and not is_rate and not ends("count")),
        ("share", has("ppm", "permille", "basis_point")),
        (
            "count",
            bool({last_word, singular(last_word)} & lexicon("count")) and last_word != "volume",
        ),
        # Several of them, as in ``firstPositions``.
        ("count", not is_mean and has("ordinal") and is_place and last_word.endswith("s")),
        ("status", bool(word_set & {"http", "status"}) and last_word in ("status", "code", "http")),
        ("count", is_score),
        ("probability", {"p", "value"} <= word_set or has("probability")),
        ("share", is_rate),
        ("rank", bool(single_words & lexicon("rank")) and not is_mean and last_word != "places"),
        ("position", has_places and last_word != "places"),
        ("score", has("score") and not _is_counted(last_word)),
        ("time", _is_time(words) and words != ["seen"]),
        ("count", is_counted or has("count", "participle")),
    )
    kind = next((kind for kind, is_kind in kinds if is_kind), "")
    has_counted_noun = has("count") or any(map(_is_counted, words))
    return Meaning(
        kind, is_mean, has("percent"), has("point"), has_places, factor, has_counted_noun
    )


def specific_name(name: str, path: str) -> str:
    """Return a field's name, with the parent's name before it if it is generic, such as ``value``.

    Examples
    --------
    >>> specific_name("value", "trend.visibility.value")
    'visibility_value'
    >>> specific_name("citations", "rows[].citations")
    'citations'
    """
    words = tokens(name)
    if words and not set(words) <= lexicon("value"):
        return name
    parent_names = [
        part for part in path.replace("{}", "").replace("[]", "").split(".")[:-1] if part
    ]
    return f"{parent_names[-1]}_{name}" if parent_names else name


def is_measure_name(name: str) -> bool:
    """Whether the words in a name announce a count, a share or another measure.

    Examples
    --------
    >>> is_measure_name("mentionRate"), is_measure_name("GPTBot")
    (True, False)
    """
    return meaning(name).kind not in ("", "id", "time")


def is_time_name(name: str) -> bool:
    """Whether the words in a name announce a date or time.

    Examples
    --------
    >>> is_time_name("lastSeenAt"), is_time_name("LastSeen"), is_time_name("citations")
    (True, True, False)
    """
    words = tokens(name)
    while words and words[-1] in lexicon("second", "millisecond", "epoch_unit"):
        words.pop()
    return _is_time(words)


def is_flag_name(name: str) -> bool:
    """Whether the words in a name announce a flag.

    Examples
    --------
    >>> is_flag_name("isOwn"), is_flag_name("tracked"), is_flag_name("own")
    (True, True, True)
    """
    words = tokens(name) or [""]
    return words[0] in lexicon("asks") or words[-1] in lexicon("yes")


def is_id_name(name: str) -> bool:
    """Whether the words in a name announce an identifier.

    Examples
    --------
    >>> is_id_name("promptId"), is_id_name("sku"), is_id_name("hits")
    (True, True, False)
    """
    return not lexicon("id", "address").isdisjoint(tokens(name)[-1:])


def is_numbered(words: list[str]) -> bool:
    """Whether the words in a name announce a serial number, as in ``insight_no``."""
    is_number = words[-1] == "number" and len(words) > 1 and "of" not in words
    return is_number and words[-2] not in lexicon("count") and words[-2] == singular(words[-2])


def _is_counted(word: str) -> bool:
    is_plural = word.endswith("s") and singular(word) in lexicon("counted")
    return is_plural or word in lexicon("counted_other")


def _is_time(words: list[str]) -> bool:
    edges = {*words[:1], *words[-1:]}
    is_edge = not edges.isdisjoint({"first", "last"}) and not edges.isdisjoint(lexicon("time"))
    return is_edge or not lexicon("time_end").isdisjoint(words[-1:])


def singular(word: str) -> str:
    """Return the singular of a noun, judged by its ending; other words are returned unchanged.

    Examples
    --------
    >>> singular("queries"), singular("engines"), singular("status"), singular("themes")
    ('query', 'engine', 'status', 'theme')
    """
    if word.endswith("ies") and len(word) > 4 and not word.endswith("series"):
        return word[:-3] + "y"
    if re.search(r"(?:ss|sh|ch|x)es$", word):
        return word[:-2]
    return word[:-1] if re.search(r"\w(?<!s)(?<!u)(?<!i)(?<!serie)s$", word) else word


class Vocabulary:
    """The known values of each dimension, such as the ids of a project's engines.

    Parameters
    ----------
    members : mapping of str to iterable of str
        The values of each dimension.
    texts : mapping of str to str
        The name of the field by each text in the responses. Keys of objects that equal such texts
        are taken for data, and their column is named after the field.

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
        self, members: Mapping[str, Iterable[str]], texts: Mapping[str, str] | None = None
    ) -> None:
        self.members = {name: frozenset(values) for name, values in members.items()}
        self.texts = texts or {}

    @classmethod
    def of(cls, options: Any, responses: Iterable[Any]) -> Vocabulary:
        """Create a vocabulary from decoded scope options and the texts of decoded responses."""
        members: dict[str, set[str]] = defaultdict(set)
        for name, value in named(options):
            dimension = next(
                (
                    dimension
                    for dimension, stems in STEMS.items()
                    if any(stem in name for stem in stems)
                ),
                None,
            )
            if dimension is not None:
                members[dimension].update(_labels(value))
        return cls(members, dict(pair for response in responses for pair in texts(response)))

    def dimension(self, keys: Iterable[str]) -> str | None:
        """Return the dimension of an object's keys if they are data; None if they may be fields."""
        unique_keys = list(dict.fromkeys(keys))
        for name, values in self.members.items() if unique_keys else ():
            if sum(key in values for key in unique_keys) >= 0.75 * len(unique_keys):
                return name
        for name, pattern in _PATTERNS.items() if unique_keys else ():
            if sum(map(bool, map(pattern.fullmatch, unique_keys))) >= 0.8 * len(unique_keys):
                return name
        return None


def named(options: Any, depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield pairs of snake_case name and value for all fields in scope options, also nested."""
    for name, value in options.items() if isinstance(options, dict) and depth < 4 else ():
        yield snake(name), value
        yield from named(value, depth + 1)


def _labels(value: Any) -> set[str]:
    """Return the texts that may be the labels of the items in a list or map of scope options.

    For example, these are the engines' names in a list of engines.
    """
    if isinstance(value, dict):
        if value and all(isinstance(member, dict) for member in value.values()):
            return {key for key in value if len(key) <= _MAX_LENGTH}
        return set().union(*(_labels(inner) for inner in value.values() if type(inner) is list))
    members = value if isinstance(value, list) else []
    labels = {member for member in members if isinstance(member, str)}
    objects = [member for member in members if isinstance(member, dict)]
    for name in dict.fromkeys(name for record in objects for name in record):
        texts = {text for record in objects if isinstance(text := record.get(name), str)}
        is_day = any(map(_PATTERNS["date"].match, texts))
        labels |= {*filter(None, texts)} if len(texts) == len(objects) and not is_day else set()
    return labels


def texts(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield pairs of text and field name for the short texts in a JSON value."""
    if type(value) is str and len(value) <= _MAX_LENGTH:
        yield value, name
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from texts(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner, name)
