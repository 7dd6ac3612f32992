"""The lexicon: what the words of names and sentences mean, for units, names and availability.

All of it is data: ``lexicon.txt`` beside this file has a line for each concept and each state.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import cache, lru_cache
from pathlib import Path

_CAMEL_CASE = re.compile(r"([^\W\dA-Z_])([A-Z])|(\d)([A-Z])|([A-Z]+)([A-Z][a-z])")
_PART = re.compile(r"[^\W_]+")
_OTHER = re.compile(r"<(\w+)>")
_PATTERN = re.compile(r"(state|flag|stem|form) (\w+)(?: (weak|strong|plain))?: *(.+)")
_ALTERNATIVES = ("setup", "permit", "seen", "lost", "units", "rows")


@lru_cache(maxsize=8192)
def tokens(text: str) -> tuple[str, ...]:
    """Split a name into its words, in lower case.

    Examples
    --------
    >>> tokens("_sentimentScoreReason"), tokens("NOT-Connected"), tokens("hasGA4Data")
    (('sentiment', 'score', 'reason'), ('not', 'connected'), ('has', 'ga4', 'data'))
    """
    text = text[:200]
    if not text.islower():
        text = _CAMEL_CASE.sub(r"\1\3\5 \2\4\6", text).lower()
    return tuple(_PART.findall(text))


@lru_cache(maxsize=4096)
def fold(name: str) -> str:
    """Normalise a name for comparison: without case and separators."""
    return "".join(tokens(name))


@lru_cache(maxsize=4096)
def spaced(name: str, without: Collection[str] = ()) -> str:
    """Join the words of a name by blanks, without some of them.

    Examples
    --------
    >>> spaced("isDataComplete", ("is",))
    'data complete'
    """
    return " ".join(word for word in tokens(name) if word not in without)


@cache
def words(*concepts: str) -> frozenset[str]:
    """Return all words of some concepts.

    Examples
    --------
    >>> "umsatz" in words("money"), "share" in words("rate", "money")
    (True, True)
    """
    return frozenset().union(*(_concepts()[concept] for concept in concepts))


@lru_cache(maxsize=8192)
def concepts(word: str) -> frozenset[str]:
    """Return the concepts that a word may mean.

    Examples
    --------
    >>> sorted(concepts("latency")), sorted(concepts("furlong"))
    (['duration'], [])
    """
    return frozenset(concept for concept, members in _concepts().items() if word in members)


@lru_cache(maxsize=16384)
def names(key: str, concept: str) -> bool:
    """Whether any word of a key is of a concept.

    Examples
    --------
    >>> names("productStatus", "business"), names("rows", "business")
    (True, False)
    """
    return not words(concept).isdisjoint(tokens(key))


@lru_cache(maxsize=16384)
def ends(key: str, concept: str) -> bool:
    """Whether the last word of a key is of a concept.

    Examples
    --------
    >>> ends("statusMessage", "reason"), ends("messageStatus", "reason")
    (True, False)
    """
    return not words(concept).isdisjoint(tokens(key)[-1:])


@lru_cache(maxsize=16384)
def is_whole(key: str, concept: str) -> bool:
    """Whether a key as a whole is a word of a concept.

    Examples
    --------
    >>> is_whole("sample_size", "size"), is_whole("size", "size")
    (True, False)
    """
    return fold(key) in words(concept)


@lru_cache(maxsize=16384)
def fits(key: str, form: str, without: tuple[str, ...] | frozenset[str] = ()) -> bool:
    """Whether the words of a key, without some of them, have a form of the lexicon.

    Examples
    --------
    >>> fits("suppressedRows", "loss"), fits("missingPages", "loss")
    (True, False)
    """
    return patterns("form")[form, None].fullmatch(spaced(key, without)) is not None


@cache
def patterns(kind: str) -> Mapping[tuple[str, str | None], re.Pattern[str]]:
    """Return the regular expressions of a kind, by name and strength: state, flag, stem, form."""
    return {
        (name, strength): re.compile("|".join(texts))
        for (of, name, strength), texts in _data()[1].items()
        if of == kind
    }


@cache
def _concepts() -> Mapping[str, frozenset[str]]:
    given = _data()[0]
    return {
        concept: frozenset(_OTHER.sub(lambda name: given[name[1]], text).split())
        for concept, text in given.items()
    }


Patterns = dict[tuple[str, str, str | None], list[str]]


@cache
def _data() -> tuple[Mapping[str, str], Patterns]:
    """Read the file: the words of each concept, and the patterns of each kind and name."""
    listed: dict[str, str] = {}
    found: Patterns = {}
    for line in Path(__file__).with_name("lexicon.txt").read_text("utf-8").splitlines():
        pattern = _PATTERN.fullmatch(line)
        concept, _, text = line.partition(":")
        if pattern:
            found.setdefault((pattern[1], pattern[2], pattern[3]), []).append(pattern[4])
        elif text and not line.startswith("#"):
            listed[concept] = f"{listed.get(concept, '')} {text.strip()}".strip()
    others = {name: listed.pop(name).replace(" |", "|") for name in _ALTERNATIVES}
    for texts in found.values():
        texts[:] = [re.sub(r"\{([a-z]+)\}", lambda name: others[name[1]], text) for text in texts]
    return listed, found
