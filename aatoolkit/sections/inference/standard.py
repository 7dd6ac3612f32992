"""Standard names: columns of a known meaning are renamed as they are called everywhere.

Pictures, notebooks and comparisons look for ``citation_count``, whatever a service calls it. A
column takes such a name only if its words say so and what was found of its values agrees; the
service's own path stays in its declaration, and two columns never get one name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from aatoolkit.sections import COUNT, CURRENCY, FRACTION, RANK, Aggregation
from aatoolkit.sections.inference.findings import OPEN, PROVED, ColumnFinding
from aatoolkit.sections.inference.units import POSITION, specific_name
from aatoolkit.sections.inference.vocabulary import Vocabulary, singular, words_of
from aatoolkit.sections.inference.words import tokens

if TYPE_CHECKING:
    from aatoolkit.sections.inference.analysis import Analysis

_COUNTING = words_of("count number n num total cnt qty")
_FILLERS = words_of("of the in per pct percent percentage value")
_SAME = {
    "avg": "average", "mean": "average", "distinct": "unique", "rk": "rank", "place": "position",
    "po": "position", "slot": "position", "prev": "previous", "prior": "previous",
    "sov": "share voice", "cvr": "conversion rate", "1st": "first", "top3": "top three",
    "3": "three",
}  # fmt: skip
_COUNTS = {
    "citation": "citation_count", "mention": "mention_count", "answer": "answer_count",
    "session": "sessions", "conversion": "conversions", "unique url": "unique_urls",
    "own citation": "own_citation_count", "first position": "first_position_count",
    "top three": "top_three_count", "previous mention": "previous_mention_count",
    "previous answer": "previous_answer_count", "positive mention": "positive_count",
    "negative mention": "negative_count", "neutral mention": "neutral_count",
    "brand mention": "brand_mention_count",
}  # fmt: skip
_SHARES = {
    "mention rate": "mention_rate", "share voice": "share_of_voice",
    "citation share": "citation_share", "conversion rate": "conversion_rate",
    "positive share": "positive_share", "neutral share": "neutral_share",
    "negative share": "negative_share", "own mention rate": "own_mention_rate",
    "first position rate": "first_position_rate", "top three rate": "top_three_rate",
}  # fmt: skip
_RANKS = {"rank": "rank", "previous rank": "previous_rank"}
# What only a proved rule tells apart: positions by what weights them, rates by their parts.
_MEANS = {"mention_count": "average_position", "citation_count": "average_citation_position"}
_RATIOS = {
    ("mention_count", "answer_count"): "mention_rate",
    ("conversions", "sessions"): "conversion_rate",
}
_SCORES = {"sentiment score": "sentiment_score", "sentiment": "sentiment_score"}
_DIMENSIONS = ("engine", "topic", "category", "brand")
_LABELS = words_of("id name label code key slug")


def standard_name(column: ColumnFinding) -> str | None:
    """The standard name of a numeric column by its unit and words; None if there is none.

    Examples
    --------
    >>> from aatoolkit.sections.inference.findings import LIKELY, Finding
    >>> count = Finding("count", LIKELY, "the name")
    >>> path = "rows[].citationCount"
    >>> standard_name(ColumnFinding("t", "cit", "rows[].cit", "cit", "Int64", unit=count))
    'citation_count'
    >>> standard_name(ColumnFinding("t", "cit", "rows[].cit", "cit", "Int64")) is None
    True
    """
    unit, rule = column.unit.value or "", column.rule.value
    if column.is_key or column.unit.confidence == OPEN:
        return None
    form = _form(specific_name(column.name, column.path))
    if rule is not None and column.rule.confidence == PROVED:
        if unit == FRACTION and rule.over in _RATIOS:
            return _RATIOS[rule.over]
        if unit == POSITION and rule.by in _MEANS and form.startswith("average"):
            return _MEANS[rule.by]
    for known, names in (
        (unit == COUNT, _COUNTS),
        (unit == FRACTION, _SHARES),
        (unit == RANK, _RANKS),
        (unit.startswith("score"), _SCORES),
        (unit == CURRENCY, {"revenue": "revenue", "revenue amount": "revenue"}),
    ):
        if known:
            return names.get(form)
    return None


def take_standard_names(analysis: Analysis, vocabulary: Vocabulary) -> None:
    """Rename columns to standard names, where one column of a table has that meaning.

    Counts come first: what they weight, and what is made of them, is named after them.
    """
    for relation in [*analysis.relations, *analysis.relations]:
        columns = analysis.columns[relation.name]
        wanted = {
            column.name: name
            for column in columns
            for name in (standard_name(column), _dimension(analysis, column, vocabulary))
            if name is not None
        }
        times = Counter(wanted.values())
        taken = {column.name for column in columns}
        for column in columns:
            name = wanted.get(column.name)
            if name is None or name == column.name or times[name] > 1 or name in taken:
                continue
            column.reading = f"{column.reading}; the standard name for {column.name}"
            rename(analysis, column, name)


def rename(analysis: Analysis, column: ColumnFinding, name: str) -> None:
    """Rename a column, also in the key and the rules of its table."""
    relation = next(one for one in analysis.relations if one.name == column.table)
    relation.key = tuple(name if one == column.name else one for one in relation.key)
    relation.without = {
        name if one == column.name else one: values for one, values in relation.without.items()
    }
    relation[column.name].name = name
    for other in analysis.columns[column.table]:
        rule = other.rule.value
        if rule is not None:
            other.rule = replace(other.rule, value=_renamed(rule, column.name, name))
        if other.unit.value == f"per `{column.name}`":
            other.unit = replace(other.unit, value=f"per `{name}`")
    column.name = name


def _renamed(rule: Aggregation, old: str, new: str) -> Aggregation:
    over = tuple(new if one == old else one for one in rule.over) if rule.over else None
    across = tuple(new if one == old else one for one in rule.across)
    why = rule.why and re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", lambda _: new, rule.why)
    return replace(
        rule,
        why=why,
        by=new if rule.by == old else rule.by,
        over=over,  # type: ignore[arg-type]
        within=new if rule.within == old else rule.within,
        across=across,
    )


def _form(name: str) -> str:
    """The words of a name in their common forms, without those that mean nothing."""
    words = [singular(word) for word in tokens(name)]
    words = " ".join(_SAME.get(word, word) for word in words).split()
    kept = [word for word in words if word not in _FILLERS | _COUNTING]
    return " ".join(kept)


def _dimension(analysis: Analysis, column: ColumnFinding, vocabulary: Vocabulary) -> str | None:
    """The dimension that a text names: engine, topic, category or brand; None if not sure."""
    if column.dtype != "string":
        return None
    words = [word for word in tokens(column.name) if word not in _LABELS]
    if len(words) != 1 or singular(words[0]) not in _DIMENSIONS:
        return None
    dimension = singular(words[0])
    known = vocabulary.members.get(dimension, frozenset())
    texts = set(_texts(analysis, column))
    return dimension if texts and texts <= known else None


def _texts(analysis: Analysis, column: ColumnFinding) -> Iterator[str]:
    relation = next(one for one in analysis.relations if one.name == column.table)
    omitted = set(relation.omitted.tolist())
    for at, value in enumerate(relation[column.name].values):
        if isinstance(value, str) and value not in column.missing and at not in omitted:
            yield value
