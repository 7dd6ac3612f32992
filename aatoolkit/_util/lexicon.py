"""The lexicon: a list of words, grouped by meaning, that occur in field names of web services.

A concept is a named set of words with the same meaning, such as ``count`` and ``total``. The file
``lexicon.txt`` has the concepts, and regular expressions that are built from them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import cache, lru_cache
from pathlib import Path

_UPPER = "A-ZÀ-ÖØ-ÞĄĆČĎĘĚĞİŁŃŇŐŒŘŚŞŠŤŮŰŹŻŽ"
_LOWER = rf"[^\W\d_{_UPPER}]"
_CAMEL_CASE = re.compile(
    rf"({_LOWER})([{_UPPER}])|(\d)([{_UPPER}])|([{_UPPER}]+)([{_UPPER}]{_LOWER})"
)
_WITHOUT_ACCENT = str.maketrans("àáâãäåçèéêëìíîïñòóôõöøùúûü", "aaaaaaceeeeiiiinoooooouuuu")
_WORD = re.compile(r"[^\W_]+")
_REFERENCE = re.compile(r"<(\w+)>")
_PATTERN_LINE = re.compile(r"(state|flag|stem|form) (\w+)(?: (weak|strong|plain))?: *(.+)")


@lru_cache(maxsize=8192)
def tokens(text: str) -> tuple[str, ...]:
    """Split a name into words in lower case.

    Examples
    --------
    >>> tokens("_sentimentScoreReason"), tokens("NOT-Connected"), tokens("hasGA4Data")
    (('sentiment', 'score', 'reason'), ('not', 'connected'), ('has', 'ga4', 'data'))
    >>> tokens("EJ_MÄTT"), tokens("gültigeÄnderung")
    (('ej', 'mätt'), ('gültige', 'änderung'))
    """
    text = text[:200]
    if not text.islower():
        text = _CAMEL_CASE.sub(r"\1\3\5 \2\4\6", text).lower()
    return tuple(_WORD.findall(text))


@lru_cache(maxsize=4096)
def fold(name: str) -> str:
    """Return a name in lower case without separators: ``user_Id`` gives ``userid``."""
    return "".join(tokens(name))


@lru_cache(maxsize=4096)
def spaced(name: str, without: Collection[str] = ()) -> str:
    """Return the words of a name joined by spaces, except those in ``without``.

    Examples
    --------
    >>> spaced("isDataComplete", ("is",))
    'data complete'
    """
    return " ".join(word for word in tokens(name) if word not in without)


@cache
def words_of(*concepts: str) -> frozenset[str]:
    """Return the union of several concepts, as one set of words.

    A concept is a named set of words with the same meaning, such as ``money``.

    Examples
    --------
    >>> "umsatz" in words_of("money"), "share" in words_of("rate", "money")
    (True, True)
    """
    text = " ".join(_words_by_concept()[concept] for concept in concepts)
    return frozenset([*text.split(), *text.translate(_WITHOUT_ACCENT).split()])


@cache
def meaning_by_word(concept: str) -> Mapping[str, str]:
    """Return a dict from word to meaning, for a concept whose entries are ``word=meaning`` pairs.

    A concept is a named entry of the lexicon, such as ``short`` for abbreviations.

    Examples
    --------
    >>> meaning_by_word("short")["impr"]
    'impressions'
    """
    return dict(pair.split("=") for pair in words_of(concept))


@lru_cache(maxsize=16384)
def has_word_of(key: str, concept: str) -> bool:
    """Return whether any word of a field name belongs to a concept (a set of words).

    Examples
    --------
    >>> has_word_of("productStatus", "business"), has_word_of("rows", "business")
    (True, False)
    """
    return not words_of(concept).isdisjoint(tokens(key))


@lru_cache(maxsize=16384)
def ends_with_word_of(key: str, concept: str) -> bool:
    """Return whether the last word of a field name belongs to a concept (a set of words).

    Examples
    --------
    >>> ends_with_word_of("statusMessage", "reason"), ends_with_word_of("messageStatus", "reason")
    (True, False)
    """
    return not words_of(concept).isdisjoint(tokens(key)[-1:])


@lru_cache(maxsize=16384)
def is_word_of(key: str, concept: str) -> bool:
    """Return whether a whole field name is a word of a concept (a set of words).

    Examples
    --------
    >>> is_word_of("sample_size", "size"), is_word_of("size", "size")
    (True, False)
    """
    return fold(key) in words_of(concept)


@lru_cache(maxsize=16384)
def matches_form(key: str, form: str, without: tuple[str, ...] | frozenset[str] = ()) -> bool:
    """Return whether a field name, split into words, matches a regular expression of the lexicon.

    ``form`` is the name of the regular expression. The words in ``without`` are skipped.

    Examples
    --------
    >>> matches_form("suppressedRows", "loss"), matches_form("missingPages", "loss")
    (True, False)
    """
    return patterns("form")[form, None].fullmatch(spaced(key, without)) is not None


@cache
def patterns(kind: str) -> Mapping[tuple[str, str | None], re.Pattern[str]]:
    """Return a dict from (name, strength) to the regular expressions of one kind in the lexicon.

    ``kind`` is ``state``, ``flag``, ``stem`` or ``form``. The strength is a text such as ``weak``,
    or None.
    """
    expressions_by_name: dict[tuple[str, str | None], list[str]] = {}
    for row_kind, name, strength, expression in _read_lexicon()[1]:
        if row_kind == kind:
            expressions_by_name.setdefault((name, strength or None), []).append(
                _REFERENCE.sub(_expand_reference, expression)
            )
    return {
        name: re.compile("|".join(expressions)) for name, expressions in expressions_by_name.items()
    }


def _expand_reference(reference: re.Match[str]) -> str:
    """Return the regular expression that matches any word of a concept (a set of words).

    ``reference`` is the match of ``<concept>``, the place where the concept's words are inserted.
    """
    text = _words_by_concept()[reference[1]]
    return f"(?:{text if '|' in text else '|'.join(text.split())})"


@cache
def _words_by_concept() -> Mapping[str, str]:
    """Return a dict from the name of a concept to its words, which are joined in one text."""
    concepts = _read_lexicon()[0]
    return {
        name: _REFERENCE.sub(lambda match: concepts[match[1]], text)
        for name, text in concepts.items()
    }


def read_text_table(path: Path) -> list[list[str]]:
    """Read a table from a text file: ``|`` separates cells, and ``#`` begins a comment."""
    lines = path.read_text("utf-8").splitlines()
    return [line.split(" | ") for line in lines if not line.startswith("#")]


@cache
def _read_lexicon() -> tuple[Mapping[str, str], list[tuple[str, ...]]]:
    """Read the file ``lexicon.txt``.

    Returns a dict from the name of a concept to its words, and a list of the rows that define
    regular expressions.
    """
    concepts: dict[str, str] = {}
    pattern_rows: list[tuple[str, ...]] = []
    for line in Path(__file__).with_name("lexicon.txt").read_text("utf-8").splitlines():
        pattern = _PATTERN_LINE.fullmatch(line)
        concept, _, text = line.partition(":")
        if pattern:
            pattern_rows.append(pattern.groups(""))
        elif text and not line.startswith("#"):
            concepts[concept] = f"{concepts.get(concept, '')} {text.strip()}".strip()
    return {name: text.replace(" |", "|") for name, text in concepts.items()}, pattern_rows
