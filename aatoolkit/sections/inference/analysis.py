"""Guess the tables of one section (one kind of response) from its JSON, and make a `Section`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from aatoolkit._util.lexicon import meaning_by_word, words_of
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
from aatoolkit.sections.inference.evidence import gather_evidence
from aatoolkit.sections.inference.findings import OPEN, PROVED, ColumnFinding, Relation
from aatoolkit.sections.inference.keys import find_year_path, set_keys
from aatoolkit.sections.inference.shapes import find_relations
from aatoolkit.sections.inference.units import POSITION, set_rule, set_units
from aatoolkit.sections.inference.words import (
    FACTORS,
    STEMS,
    Vocabulary,
    qualify_generic_name,
    singular,
    tokens,
)

_MAX_ROWS = 10
# Only a proved rule tells these apart: positions by their weights, rates by their counts.
_MEAN_NAMES = {"mention_count": "average_position", "citation_count": "average_citation_position"}
_RATIO_NAMES = {
    ("mention_count", "answer_count"): "mention_rate",
    ("conversions", "sessions"): "conversion_rate",
}
_NAME_CONCEPTS = {
    COUNT: "standard_count",
    FRACTION: "standard_share",
    RANK: "standard_rank",
    CURRENCY: "standard_money",
}


@dataclass
class Analysis:
    """The tables found in the JSON of one section, and notes for a person.

    Attributes
    ----------
    section : str
        The name of the section, such as ``domains``.
    relations : list of Relation
        The tables, the most important one first.
    notes : list of str
        Notes on guesses that a person should check.
    rules : tuple of Rule
        The rules that find which data are missing. A person confirmed them.
    watched, emptied, optional : tuple of str
        Paths, as in `Section`.
    """

    section: str
    relations: list[Relation]
    notes: list[str]
    rules: tuple[Rule, ...] = ()
    watched: tuple[str, ...] = ()
    emptied: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()

    @property
    def map_paths(self) -> set[tuple[Step, ...]]:
        """A set of the parsed paths of all objects whose keys are data, such as engines."""
        return {
            relation.steps[:index]
            for relation in self.relations
            for index, step in enumerate(relation.steps)
            if isinstance(step, Entries)
        }

    @property
    def declaration(self) -> Section:
        """The tables as a `Section`.

        Columns have a unit, or a way to aggregate, only if there is evidence for it.
        """
        return Section(
            self.section,
            "",
            *map(declare_table, self.relations),
            availability=self.rules,
            watched=self.watched,
            emptied=self.emptied,
            optional=self.optional,
        )


def analyse(
    section: str,
    document: Any,
    engine_responses: Mapping[tuple[str, ...], Any],
    vocabulary: Vocabulary,
    other_responses: Sequence[Any] = (),
    *,
    measures: bool = True,
) -> Analysis:
    """Guess the tables, columns, dtypes, units, keys and ways to aggregate in some JSON.

    Parameters
    ----------
    section : str
        The name of the section. The names of the tables begin with it.
    document : object
        The decoded JSON of the section.
    engine_responses : mapping
        Maps a tuple of engines to the JSON of the same section for these engines alone.
    vocabulary : Vocabulary
        The known names of engines, topics and so on.
    other_responses : sequence
        More JSON of the same section, such as that of other hosts.
    measures : bool
        Whether to guess units and ways to aggregate, too.
    """
    documents = [document, *engine_responses.values(), *other_responses]
    relations = find_relations(documents, section, vocabulary)
    notes = set_keys(relations, find_year_path(documents))
    relations.sort(key=_table_sort_key)
    if measures:
        gather_evidence(relations, len(engine_responses))
        set_units(relations)
        for relation in relations:
            for column in relation.columns:
                set_rule(column)
    return Analysis(section, relations, notes)


def _table_sort_key(relation: Relation) -> float:
    """Return a sort key for tables.

    Tables with many columns, and tables that are not nested, come first. The table with the
    top-level fields of the response comes last.
    """
    # Rows beyond the limit do not count: a table with a row per day is seldom the main one.
    depth = sum(len(ancestor.steps) > 0 for ancestor, _ in relation.with_ancestors())
    return -min(len(relation), _MAX_ROWS) * len(relation.columns) / depth if relation.steps else 0.0


# --- declarations -------------------------------------------------------------------------------


def declare_table(relation: Relation) -> Table:
    """Return a `Table` made from a table that was found in JSON; rows with totals are dropped."""
    total_labels = {relation[name].source: values for name, values in relation.without.items()}
    rows = relation.rows.where(without=total_labels) if total_labels else relation.rows
    columns = tuple(map(declare_column, relation.columns))
    return Table(relation.name, "", rows, relation.key, columns)


def declare_column(column: ColumnFinding) -> Column:
    """Return a `Column` made from a column that was found in JSON.

    It has a unit, or a way to aggregate, only if there is evidence for it.
    """
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
    """Rename columns to the names in the reference service, such as ``cit`` to ``citation_count``.

    A column is renamed only if its values fit the new name, and no other column has this name.
    """
    for relation in [*analysis.relations, *analysis.relations]:
        standard_names = {
            column: name
            for column in relation.columns
            if (
                name := _find_standard_name(column)
                or _find_dimension(column, vocabulary)
                or _find_name_in_new_unit(column)
            )
        }
        name_counts, used_names = Counter(standard_names.values()), {*relation.column_names}
        for column, name in standard_names.items():
            if name not in used_names and name_counts[name] == 1:
                evidence = f"{column.reading.evidence}; the standard name for {column.name}"
                column.reading = replace(column.reading, evidence=evidence)
                rename_column(column, name)


def _find_standard_name(column: ColumnFinding) -> str | None:
    """Return the name that the reference service gives to a column like this; None if unknown."""
    unit, rule = column.unit.value or "", column.rule.value
    if column.is_key or column.unit.confidence == OPEN:
        return None
    standard_words = _to_standard_words(qualify_generic_name(column.name, column.path))
    if rule is not None and column.rule.confidence == PROVED:
        if unit == FRACTION and rule.over in _RATIO_NAMES:
            return _RATIO_NAMES[rule.over]
        if unit == POSITION and rule.by in _MEAN_NAMES and standard_words.startswith("average"):
            return _MEAN_NAMES[rule.by]
    concept = "standard_score" if unit.startswith("score") else _NAME_CONCEPTS.get(unit, "")
    return meaning_by_word(concept).get(standard_words) if concept else None


def _find_name_in_new_unit(column: ColumnFinding) -> str | None:
    """Return the name of a column without its unit, if the values are converted to another unit.

    For example, ``cost_cents`` becomes ``cost``. Return None for other columns.
    """
    name, _, unit = column.name.rpartition("_")
    is_renamed = column.scale != 1.0 and unit in words_of("percent", *FACTORS)
    return name.removesuffix("_per") if is_renamed else None


def _to_standard_words(name: str) -> str:
    """Return a name with synonyms replaced by the usual words, and without filler words."""
    words = (meaning_by_word("same").get(word, word) for word in map(singular, tokens(name)))
    return "_".join(word for word in "_".join(words).split("_") if word not in words_of("filler"))


def _find_dimension(column: ColumnFinding, vocabulary: Vocabulary) -> str | None:
    """Return the kind of names in a column, such as ``engine`` for AI assistants, or None."""
    words = [singular(word) for word in tokens(column.name) if word not in words_of("labelling")]
    if column.dtype != "string" or len(words) != 1 or words[0] not in STEMS:
        return None
    kept_values = zip(column.values, column.relation.kept_mask, strict=True)
    texts = {value for value, is_kept in kept_values if is_kept and isinstance(value, str)}
    texts.difference_update(column.reading.missing)
    return (
        words[0] if texts and texts <= vocabulary.values_by_dimension.get(words[0], set()) else None
    )


def rename_column(column: ColumnFinding, new_name: str) -> None:
    """Rename a column, also in its table's key and in references by other columns."""
    relation, old_name = column.relation, column.name
    relation.key = tuple(new_name if key == old_name else key for key in relation.key)
    relation.without = {
        new_name if column_name == old_name else column_name: labels
        for column_name, labels in relation.without.items()
    }
    column.name = new_name
    for ruled_column in relation.columns:
        if ruled_column.rule.value is not None:
            ruled_column.rule = replace(
                ruled_column.rule,
                value=_rename_in_rule(ruled_column.rule.value, old_name, new_name),
            )


def _rename_in_rule(rule: Aggregation, old_name: str, new_name: str) -> Aggregation:
    """Return a copy of an `Aggregation` in which the name of a column is replaced.

    Examples
    --------
    >>> str(_rename_in_rule(Aggregation("mean", by="n"), "n", "hits"))
    'mean weighted by hits'
    """

    def rename(value: Any) -> Any:
        """Return a name, or a tuple of names, with the old name replaced."""
        if isinstance(value, tuple):
            return tuple(map(rename, value))
        return new_name if value == old_name else value

    new_fields = {name: rename(getattr(rule, name)) for name in ("by", "over", "within", "across")}
    why = rule.why and re.sub(rf"(?<!\w){re.escape(old_name)}(?!\w)", lambda _: new_name, rule.why)
    return replace(rule, why=why, **new_fields)


# --- single responses -----------------------------------------------------------------------------


def analyse_responses(responses: Any, name: str | None, *, measures: bool = True) -> Analysis:
    """Guess the tables in some responses of one section (kind of response).

    Parameters
    ----------
    responses : Payload, bytes, str, dict, or list of these
        The JSON, as text or decoded, or several documents.
    name : str or None
        The name of the section; by default the name in the JSON.
    measures : bool
        Whether to look for units and ways to aggregate.

    Raises
    ------
    DecodeError
        If a response is not one JSON document.
    PayloadError
        If there is nothing in the responses that can be a table.
    """
    responses = responses if isinstance(responses, list | tuple) else [responses]
    documents = [
        response.json if isinstance(response, Payload) else decode(response)
        for response in responses
    ] or [None]
    names = [
        name,
        *(response.section for response in responses if isinstance(response, Payload)),
        *(document.get("section") for document in documents if isinstance(document, dict)),
    ]
    name = next((name for name in names if name and isinstance(name, str)), "answer")
    analysis = analyse(
        name, documents[0], {}, Vocabulary.from_responses([], documents), documents[1:],
        measures=measures,
    )  # fmt: skip
    if not analysis.relations:
        raise PayloadError(f"nothing in this response of {name} can be made a table", section=name)
    return analysis
