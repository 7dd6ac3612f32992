"""The analysis of one section, and the declaration that is made of it.

Proved and likely findings are applied, others are left open. A column of a known meaning is
called as it is everywhere: pictures, notebooks and comparisons look for ``citation_count``,
whatever a service calls it. Its path stays in the declaration, and two columns never get one name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from aatoolkit._util.lexicon import pairs
from aatoolkit._util.lexicon import words as lexicon
from aatoolkit.errors import PayloadError
from aatoolkit.jsontree.decode import decode
from aatoolkit.jsontree.paths import Entries, Step
from aatoolkit.payload import Payload
from aatoolkit.sections import (
    COUNT,
    CURRENCY,
    FRACTION,
    RANK,
    Aggregation,
    Column,
    Rule,
    Section,
    Table,
)
from aatoolkit.sections.inference.evidence import gather
from aatoolkit.sections.inference.keys import settle_keys, year_path
from aatoolkit.sections.inference.relations import OPEN, PROVED, ColumnFinding, Relation
from aatoolkit.sections.inference.shapes import find_relations
from aatoolkit.sections.inference.units import POSITION, settle_rule, settle_units
from aatoolkit.sections.inference.words import Vocabulary, singular, specific_name, tokens

_ROWS = 10
_DIMENSIONS = ("engine", "topic", "category", "brand")
# What only a proved rule tells apart: positions by what weights them, rates by their parts.
_MEANS = {"mention_count": "average_position", "citation_count": "average_citation_position"}
_RATIOS = {
    ("mention_count", "answer_count"): "mention_rate",
    ("conversions", "sessions"): "conversion_rate",
}
_STANDARD = {
    COUNT: "standard_count",
    FRACTION: "standard_share",
    RANK: "standard_rank",
    CURRENCY: "standard_money",
}


@dataclass
class Analysis:
    """The findings of one section.

    Attributes
    ----------
    section : str
        Its name.
    relations : list of Relation
        Its tables, the main one first, with the findings of their columns.
    notes : list of str
        What a person should look at.
    rules : tuple of Rule
        Where the service states the section's availability, as far as a person said so.
    watched, emptied : tuple of str
        Places that may be about availability, and where the rows are gone without a word when
        nothing was measured.
    """

    section: str
    relations: list[Relation]
    notes: list[str]
    rules: tuple[Rule, ...] = ()
    watched: tuple[str, ...] = ()
    emptied: tuple[str, ...] = ()

    @property
    def maps(self) -> set[tuple[Step, ...]]:
        """The paths at which there are objects whose keys are data."""
        return {
            relation.steps[:at]
            for relation in self.relations
            for at, step in enumerate(relation.steps)
            if isinstance(step, Entries)
        }

    @property
    def declared(self) -> Section:
        """The declaration, as far as it is known.

        Raises
        ------
        ValueError
            If there is nothing that can be made a table.
        """
        return Section(
            self.section,
            "",
            *map(table_of, self.relations),
            availability=self.rules,
            watched=self.watched,
            emptied=self.emptied,
        )


def analyse(
    section: str,
    document: Any,
    parts: Mapping[tuple[str, ...], Any],
    vocabulary: Vocabulary,
    others: Sequence[Any] = (),
    *,
    measures: bool = True,
) -> Analysis:
    """Analyse the responses of a section: tables, types, units, rules and keys.

    Parameters
    ----------
    section : str
        The section's name.
    document : object
        Its decoded response without filters.
    parts : mapping
        Its responses by the engines they were narrowed to; together they are all that ran.
    vocabulary : Vocabulary
        What the keys of maps may be.
    others : sequence
        Further responses, of other windows or hosts.
    measures : bool
        Whether to look for units and rules; without, all of them are left open.
    """
    documents = [document, *parts.values(), *others]
    relations = find_relations(documents, section, vocabulary)
    notes = settle_keys(relations, year_path(documents))
    relations.sort(key=_rank)
    if measures:
        gather(relations, len(parts))
        settle_units(relations)
        for relation in relations:
            for column in relation.columns:
                settle_rule(column)
    return Analysis(section, relations, notes)


def _rank(relation: Relation) -> float:
    """Sort key of tables: many columns first, deep ones later, single-row tables last.

    Rows beyond some are no reason: what has a row each day is seldom what a section is about.
    """
    depth = sum(len(around.steps) > 0 for around, _ in relation.chain())
    return -min(len(relation), _ROWS) * len(relation.columns) / depth if relation.steps else 0.0


# --- declarations -------------------------------------------------------------------------------


def table_of(relation: Relation) -> Table:
    """Build the declaration of a table; rows that are totals are left out."""
    without = {relation[name].source: values for name, values in relation.without.items()}
    rows = relation.rows.where(without=without) if without else relation.rows
    columns = tuple(map(column_of, relation.columns))
    return Table(relation.name, "", rows, relation.key, columns)


def column_of(column: ColumnFinding) -> Column:
    """Build the declaration of a column."""
    return Column(
        column.name,
        column.dtype,
        column.doc,
        source=column.source,
        unit=column.unit.value if column.unit.confidence != OPEN else None,
        aggregate=column.aggregate,
        parse=column.reading.parse,
        year=column.reading.year,
        scale=None if column.scale == 1.0 else column.scale,
        missing=column.reading.missing,
        valid=column.valid,
    )


# --- names --------------------------------------------------------------------------------------


def take_standard_names(analysis: Analysis, vocabulary: Vocabulary) -> None:
    """Rename columns to standard names, where one column of a table has that meaning.

    Counts come first: what they weight, and what is made of them, is named after them.
    """
    for relation in [*analysis.relations, *analysis.relations]:
        wanted = {
            column: name
            for column in relation.columns
            if (name := _standard_name(column) or _dimension(column, vocabulary)) is not None
        }
        times, taken = Counter(wanted.values()), {*relation.names}
        for column, name in wanted.items():
            if name not in taken and times[name] == 1:
                evidence = f"{column.reading.evidence}; the standard name for {column.name}"
                column.reading = replace(column.reading, evidence=evidence)
                rename(column, name)


def _standard_name(column: ColumnFinding) -> str | None:
    """The standard name of a number by its unit and words; None if there is none."""
    unit, rule = column.unit.value or "", column.rule.value
    if column.is_key or column.unit.confidence == OPEN:
        return None
    form = _form(specific_name(column.name, column.path))
    if rule is not None and column.rule.confidence == PROVED:
        if unit == FRACTION and rule.over in _RATIOS:
            return _RATIOS[rule.over]
        if unit == POSITION and rule.by in _MEANS and form.startswith("average"):
            return _MEANS[rule.by]
    concept = "standard_score" if unit.startswith("score") else _STANDARD.get(unit, "")
    return pairs(concept).get(form) if concept else None


def _form(name: str) -> str:
    """The words of a name in their common forms, without those that mean nothing."""
    words = (pairs("same").get(word, word) for word in map(singular, tokens(name)))
    return "_".join(w for w in "_".join(words).split("_") if w not in lexicon("filler"))


def _dimension(column: ColumnFinding, vocabulary: Vocabulary) -> str | None:
    """The dimension that a text names: engine, topic, category or brand; None if not sure."""
    words = [singular(word) for word in tokens(column.name) if word not in lexicon("labelling")]
    if column.dtype != "string" or len(words) != 1 or words[0] not in _DIMENSIONS:
        return None
    kept, missing = column.relation.kept, column.reading.missing
    values = {v for at, v in enumerate(column.values) if isinstance(v, str) and kept[at]}
    texts = values.difference(missing)
    return words[0] if texts and texts <= vocabulary.members.get(words[0], set()) else None


def rename(column: ColumnFinding, name: str) -> None:
    """Rename a column, also in the key and the rules of its table."""
    relation, old = column.relation, column.name
    relation.key = tuple(name if key == old else key for key in relation.key)
    relation.without = {name if k == old else k: v for k, v in relation.without.items()}
    column.name = name
    for other in relation.columns:
        if other.rule.value is not None:
            other.rule = replace(other.rule, value=_renamed(other.rule.value, old, name))


def _renamed(rule: Aggregation, old: str, new: str) -> Aggregation:
    def named(fact: Any) -> Any:
        if isinstance(fact, tuple):
            return tuple(map(named, fact))
        return new if fact == old else fact

    facts = {name: named(getattr(rule, name)) for name in ("by", "over", "within", "across")}
    why = rule.why and re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", lambda _: new, rule.why)
    return replace(rule, why=why, **facts)


# --- single responses -----------------------------------------------------------------------------


def of_responses(responses: Any, name: str | None, *, measures: bool = True) -> Analysis:
    """Analyse a response, or several of one section, without a service to ask.

    Raises
    ------
    DecodeError
        If a response is not one JSON document.
    PayloadError
        If nothing in the responses can be made a table, or an object is no JSON value.
    """
    responses = responses if isinstance(responses, list | tuple) else [responses]
    documents = [
        response.json if isinstance(response, Payload) else decode(response)
        for response in responses
    ] or [None]
    sections = [response.section for response in responses if isinstance(response, Payload)]
    sections += [document.get("section") for document in documents if isinstance(document, dict)]
    names = (section for section in (name, *sections) if section and isinstance(section, str))
    name = next(names, "answer")
    analysis = analyse(
        name, documents[0], {}, Vocabulary.of(None, documents), documents[1:],
        measures=measures,
    )  # fmt: skip
    if not analysis.relations:
        raise PayloadError(
            f"nothing in this response of {name} can be made a table", section=name, problems=[]
        )
    return analysis


def outline(response: Any, name: str) -> Section:
    """Draft the declaration of one response as it is written; units and rules stay open.

    Raises
    ------
    DecodeError, PayloadError
        As `of_responses`.
    """
    return of_responses(response, name, measures=False).declared
