"""The lexicon: a list of words, grouped by meaning, that occur in field names of web services.

A word group is a named set of words with the same meaning: the group ``count`` has the words
``count``, ``number`` and ``total``, among others. The file ``lexicon.txt`` has the word groups, and
regular expressions that are built from them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import cache, lru_cache
from pathlib import Path

# Ranges of characters, for use in the brackets of a regular expression.
_UPPER_LETTER_RANGES = "A-ZÀ-ÖØ-ÞĄĆČĎĘĚĞİŁŃŇŐŒŘŚŞŠŤŮŰŹŻŽ"
_LOWER_LETTER_REGEX = rf"[^\W\d_{_UPPER_LETTER_RANGES}]"
_CAMEL_CASE_PATTERN = re.compile(
    rf"({_LOWER_LETTER_REGEX})([{_UPPER_LETTER_RANGES}])|(\d)([{_UPPER_LETTER_RANGES}])|([{_UPPER_LETTER_RANGES}]+)([{_UPPER_LETTER_RANGES}]{_LOWER_LETTER_REGEX})"
)
_ACCENT_TRANSLATION = str.maketrans("àáâãäåçèéêëìíîïñòóôõöøùúûü", "aaaaaaceeeeiiiinoooooouuuu")
_WORD_PATTERN = re.compile(r"[^\W_]+")
_REFERENCE_PATTERN = re.compile(r"<(\w+)>")
_DEFINITION_LINE_PATTERN = re.compile(
    r"(state|flag|stem|form) (\w+)(?: (weak|strong|plain))?: *(.+)"
)


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
        text = _CAMEL_CASE_PATTERN.sub(r"\1\3\5 \2\4\6", text).lower()
    return tuple(_WORD_PATTERN.findall(text))


@lru_cache(maxsize=4096)
def fold(name: str) -> str:
    """Return a name in lower case without separators, such as ``userid`` for ``user_Id``."""
    return "".join(tokens(name))


@lru_cache(maxsize=4096)
def join_words(name: str, skipped_words: Collection[str] = ()) -> str:
    """Return the words of a name joined by spaces, except the words in ``skipped_words``.

    Examples
    --------
    >>> join_words("isDataComplete", ("is",))
    'data complete'
    """
    return " ".join(word for word in tokens(name) if word not in skipped_words)


@cache
def words_of(*word_groups: str) -> frozenset[str]:
    """Return the words of one or several word groups of the lexicon, as one set.

    A word group is a named set of words with the same meaning, such as ``money``. Words with
    accents are included with and without them.

    Examples
    --------
    >>> "umsatz" in words_of("money"), "share" in words_of("rate", "money")
    (True, True)
    """
    words_text = " ".join(_load_words_by_group()[word_group] for word_group in word_groups)
    return frozenset([*words_text.split(), *words_text.translate(_ACCENT_TRANSLATION).split()])


@cache
def meaning_by_word(word_group: str) -> Mapping[str, str]:
    """Return a dict from word to meaning, for a word group that has ``word=meaning`` pairs.

    A word group is a named set of words in the lexicon, such as ``short`` for abbreviations.

    Examples
    --------
    >>> meaning_by_word("short")["impr"]
    'impressions'
    """
    return dict(word_and_meaning.split("=") for word_and_meaning in words_of(word_group))


@lru_cache(maxsize=16384)
def has_word_of(field_name: str, *word_groups: str) -> bool:
    """Return whether a field name contains a word of any of the given word groups of the lexicon.

    Examples
    --------
    >>> has_word_of("productStatus", "business"), has_word_of("rows", "business")
    (True, False)
    """
    return not words_of(*word_groups).isdisjoint(tokens(field_name))


@lru_cache(maxsize=16384)
def ends_with_word_of(field_name: str, word_group: str) -> bool:
    """Return whether the last word of a field name belongs to a word group of the lexicon.

    Examples
    --------
    >>> ends_with_word_of("statusMessage", "reason"), ends_with_word_of("messageStatus", "reason")
    (True, False)
    """
    return not words_of(word_group).isdisjoint(tokens(field_name)[-1:])


@lru_cache(maxsize=16384)
def is_word_of(field_name: str, *word_groups: str) -> bool:
    """Return whether a field name, without separators, is a word of any of the given word groups.

    Examples
    --------
    >>> is_word_of("sample_size", "size"), is_word_of("size", "size")
    (True, False)
    """
    return fold(field_name) in words_of(*word_groups)


@lru_cache(maxsize=16384)
def matches_form(
    field_name: str, form_name: str, skipped_words: tuple[str, ...] | frozenset[str] = ()
) -> bool:
    """Return whether a field name, split into words, matches a regular expression of the lexicon.

    ``form_name`` is the name of the regular expression. The words in ``skipped_words`` are left out
    of the field name.

    Examples
    --------
    >>> matches_form("suppressedRows", "loss"), matches_form("missingPages", "loss")
    (True, False)
    """
    return (
        load_patterns("form")[form_name, None].fullmatch(join_words(field_name, skipped_words))
        is not None
    )


@cache
def load_patterns(pattern_kind: str) -> Mapping[tuple[str, str | None], re.Pattern[str]]:
    """Return the regular expressions of one kind in the lexicon, as a dict.

    ``pattern_kind`` is ``state``, ``flag``, ``stem`` or ``form``. Each key of the dict is a tuple
    of two: the name of the meaning that a match has, and how sure this meaning is (``weak``,
    ``strong``, ``plain``, which is the surest, or None).
    """
    regexes_by_meaning_and_certainty: dict[tuple[str, str | None], list[str]] = {}
    for row_kind, meaning, certainty, regex in _read_lexicon()[1]:
        if row_kind == pattern_kind:
            regexes_by_meaning_and_certainty.setdefault((meaning, certainty or None), []).append(
                _REFERENCE_PATTERN.sub(_expand_reference, regex)
            )
    return {
        meaning_and_certainty: re.compile("|".join(regexes))
        for meaning_and_certainty, regexes in regexes_by_meaning_and_certainty.items()
    }


def _expand_reference(reference_match: re.Match[str]) -> str:
    """Replace a reference such as ``<money>`` by a regular expression for any word of the group.

    ``reference_match`` is the match of the reference: the name of a word group in angle brackets.
    """
    words_text = _load_words_by_group()[reference_match[1]]
    return f"(?:{words_text if '|' in words_text else '|'.join(words_text.split())})"


@cache
def _load_words_by_group() -> Mapping[str, str]:
    """Return a dict from the name of each word group to its words, as one text with spaces."""
    words_by_group = _read_lexicon()[0]
    return {
        word_group: _REFERENCE_PATTERN.sub(lambda match: words_by_group[match[1]], words_text)
        for word_group, words_text in words_by_group.items()
    }


def read_text_table(path: Path) -> list[list[str]]:
    """Read a table from a text file: ``|`` separates cells, and ``#`` begins a comment."""
    file_lines = path.read_text("utf-8").splitlines()
    return [line.split(" | ") for line in file_lines if not line.startswith("#")]


@cache
def _read_lexicon() -> tuple[Mapping[str, str], list[tuple[str, ...]]]:
    """Read the file ``lexicon.txt``.

    Return a dict from the name of a word group to its words, and a list of the rows that define
    regular expressions.
    """
    words_by_group: dict[str, str] = {}
    pattern_rows: list[tuple[str, ...]] = []
    for line in Path(__file__).with_name("lexicon.txt").read_text("utf-8").splitlines():
        pattern_match = _DEFINITION_LINE_PATTERN.fullmatch(line)
        word_group, _, words_text = line.partition(":")
        if pattern_match:
            pattern_rows.append(pattern_match.groups(""))
        elif words_text and not line.startswith("#"):
            words_by_group[word_group] = (
                f"{words_by_group.get(word_group, '')} {words_text.strip()}".strip()
            )
    return {
        name: words_text.replace(" |", "|") for name, words_text in words_by_group.items()
    }, pattern_rows
