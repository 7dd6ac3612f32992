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
    Column,
    Rule,
    Section,
    Table,
)
from aatoolkit.sections.inference.draft_tables import OPEN, PROVED, DraftColumn, DraftTable
from aatoolkit.sections.inference.evidence import gather_arithmetic_evidence
from aatoolkit.sections.inference.keys import set_formats_and_keys
from aatoolkit.sections.inference.table_search import find_tables
from aatoolkit.sections.inference.units import POSITION_UNIT, set_aggregation, set_units
from aatoolkit.sections.inference.words import (
    Vocabulary,
    split_name,
    to_singular,
)

_MAX_RANKED_ROWS = 10
"""How many rows count when the most important table is chosen; more rows make no difference."""

# Only a proved rule tells these apart: positions by their weights, rates by their counts.
_MEAN_NAME_BY_WEIGHT = {
    "mention_count": "average_position", "citation_count": "average_citation_position",
}  # fmt: skip
_RATIO_NAME_BY_COUNTS = {
    ("mention_count", "answer_count"): "mention_rate",
    ("conversions", "sessions"): "conversion_rate",
}
_SCALED_UNITS = ("percent", "permille", "ppm", "basis_point", "cents", "micro", "nano")
_LEXICON_KEY_BY_UNIT = {
    COUNT: "standard_count",
    FRACTION: "standard_share",
    RANK: "standard_rank",
    CURRENCY: "standard_money",
}


@dataclass
class SectionAnalysis:
    """The tables found in the JSON of one section, and notes for a person.

    Attributes
    ----------
    section_name : str
        The name of the section, such as ``domains``.
    draft_tables : list of DraftTable
        The tables, the most important one first.
    notes : list of str
        Notes on guesses that a person should check.
    rules : tuple of Rule
        The rules, confirmed by a person, that say which data are missing.
    watched_paths, emptied_paths, optional_paths : tuple of str
        Paths, as in `Section`.
    """

    section_name: str
    draft_tables: list[DraftTable]
    notes: list[str]
    rules: tuple[Rule, ...] = ()
    watched_paths: tuple[str, ...] = ()
    emptied_paths: tuple[str, ...] = ()
    optional_paths: tuple[str, ...] = ()

    @property
    def data_key_object_paths(self) -> set[tuple[Step, ...]]:
        """A set of the parsed paths of all objects whose keys are data, such as engines."""
        return {
            table.steps[:index]
            for table in self.draft_tables
            for index, step in enumerate(table.steps)
            if isinstance(step, Entries)
        }

    @property
    def declaration(self) -> Section:
        """The tables as a `Section`.

        Columns have a unit, or a way to aggregate, only if there is evidence for it.
        """
        return Section(
            self.section_name,
            "",
            *map(declare_table, self.draft_tables),
            availability=self.rules,
            watched=self.watched_paths,
            emptied=self.emptied_paths,
            optional=self.optional_paths,
        )


def analyse_section(
    section_name: str,
    document: Any,
    response_by_engines: Mapping[tuple[str, ...], Any],
    vocabulary: Vocabulary,
    other_responses: Sequence[Any] = (),
    *,
    guesses_units: bool = True,
) -> SectionAnalysis:
    """Guess the tables, columns, dtypes, units, keys and ways to aggregate in some JSON.

    Parameters
    ----------
    section_name : str
        The name of the section. The names of the tables begin with it.
    document : object
        The decoded JSON of the section.
    response_by_engines : mapping
        Maps a tuple of engines to the JSON of the same section for these engines alone.
    vocabulary : Vocabulary
        The known names of engines, topics and so on.
    other_responses : sequence
        More JSON of the same section, such as that of other hosts.
    guesses_units : bool
        Whether to guess units and ways to aggregate, too.

    Returns
    -------
    SectionAnalysis
        The guessed tables, each with its columns.
    """
    documents = [document, *response_by_engines.values(), *other_responses]
    tables = find_tables(documents, section_name, vocabulary)
    notes = set_formats_and_keys(tables)
    tables.sort(key=_make_table_sort_key)
    if guesses_units:
        gather_arithmetic_evidence(tables, len(response_by_engines))
        set_units(tables)
        for table in tables:
            for column in table.columns:
                set_aggregation(column)
    return SectionAnalysis(section_name, tables, notes)


def _make_table_sort_key(table: DraftTable) -> float:
    """Return a sort key for tables.

    Tables with many columns, and tables that are not nested, come first. The table with the
    top-level fields of the response comes last.
    """
    # Rows beyond the limit do not count: a table with a row per day is seldom the main one.
    nesting_depth = sum(len(ancestor.steps) > 0 for ancestor, _ in table.iter_with_ancestors())
    return (
        -min(len(table), _MAX_RANKED_ROWS) * len(table.columns) / nesting_depth
        if table.steps
        else 0.0
    )


# --- declarations -------------------------------------------------------------------------------


def declare_table(table: DraftTable) -> Table:
    """Return a `Table` made from a table that was found in JSON; rows with totals are dropped."""
    total_labels = {
        table[name].source: total_values
        for name, total_values in table.total_labels_by_column.items()
    }
    row_declaration = table.rows.where(without=total_labels) if total_labels else table.rows
    declared_columns = tuple(map(declare_column, table.columns))
    return Table(table.name, "", row_declaration, table.key, declared_columns)


def declare_column(column: DraftColumn) -> Column:
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
        parse=column.format.parse,
        year=column.format.year,
        scale=None if column.scale_factor == 1.0 else column.scale_factor,
        missing=column.format.missing,
        valid=column.valid_path,
    )


# --- names --------------------------------------------------------------------------------------


def apply_standard_names(analysis: SectionAnalysis, vocabulary: Vocabulary) -> None:
    """Rename columns to the names in the reference service, such as ``cit`` to ``citation_count``.

    A column is renamed only if its values fit the new name, and no other column has this name.
    """
    for table in [*analysis.draft_tables, *analysis.draft_tables]:
        name_by_column = {
            column: name
            for column in table.columns
            if (
                name := _find_standard_name(column)
                or _find_dimension(column, vocabulary)
                or _find_name_in_new_unit(column)
            )
        }
        count_by_name = Counter(name_by_column.values())
        used_names = {*table.column_names}
        for column, name in name_by_column.items():
            if name not in used_names and count_by_name[name] == 1:
                reason = f"{column.format.reason}; the standard name for {column.name}"
                column.format = replace(column.format, reason=reason)
                rename_column(column, name)


def _find_standard_name(column: DraftColumn) -> str | None:
    """Return the reference service's name for columns of this meaning and unit, or None."""
    unit = column.unit.value or ""
    aggregation = column.aggregation.value
    if column.is_key or column.unit.confidence == OPEN:
        return None
    standard_words = _to_standard_words(column.name)
    if aggregation is not None and column.aggregation.confidence == PROVED:
        if unit == FRACTION and aggregation.over in _RATIO_NAME_BY_COUNTS:
            return _RATIO_NAME_BY_COUNTS[aggregation.over]
        if (
            unit == POSITION_UNIT
            and aggregation.by in _MEAN_NAME_BY_WEIGHT
            and standard_words.startswith("average")
        ):
            return _MEAN_NAME_BY_WEIGHT[aggregation.by]
    lexicon_key = (
        "standard_score" if unit.startswith("score") else _LEXICON_KEY_BY_UNIT.get(unit, "")
    )
    return meaning_by_word(lexicon_key).get(standard_words) if lexicon_key else None


def _find_name_in_new_unit(column: DraftColumn) -> str | None:
    """Return the name of a column without its unit, if the values are converted to another unit.

    For example, ``cost_cents`` becomes ``cost``. Return None for other columns.
    """
    name_stem, _, unit = column.name.rpartition("_")
    is_renamed = column.scale_factor != 1.0 and unit in words_of(*_SCALED_UNITS)
    return name_stem.removesuffix("_per") if is_renamed else None


def _to_standard_words(name: str) -> str:
    """Return a name with synonyms replaced by the usual words, and without filler words."""
    words = (meaning_by_word("same").get(word, word) for word in map(to_singular, split_name(name)))
    return "_".join(word for word in "_".join(words).split("_") if word not in words_of("filler"))


def _find_dimension(column: DraftColumn, vocabulary: Vocabulary) -> str | None:
    """Return what the texts of a column are names of, such as ``engine``; None if unknown."""
    name_words = [
        to_singular(word) for word in split_name(column.name) if word not in words_of("labelling")
    ]
    total_labels = column.draft_table.total_labels_by_column.get(column.name, ())
    column_texts = {value for value in column.values if isinstance(value, str)}
    column_texts.difference_update(column.format.missing, total_labels)
    dimensions = (
        dimension
        for dimension, known_texts in vocabulary.values_by_dimension.items()
        if dimension in name_words
        and (column.is_key or len(name_words) == 1)
        and column_texts <= known_texts
    )
    return next(dimensions, None) if column_texts and column.dtype == "string" else None


def rename_column(column: DraftColumn, new_name: str) -> None:
    """Rename a column, also in the key of its table and in the rules of other columns."""
    table = column.draft_table
    old_name = column.name

    def replace_name(value: Any) -> Any:
        """Return a text, or a tuple of texts, with the old name replaced."""
        if isinstance(value, tuple):
            return tuple(map(replace_name, value))
        return value and re.sub(rf"(?<!\w){re.escape(old_name)}(?!\w)", new_name, value)

    table.key = replace_name(table.key)
    table.rows = replace(table.rows, labels=replace_name(table.rows.labels))
    table.total_labels_by_column = {
        replace_name(name): total_labels
        for name, total_labels in table.total_labels_by_column.items()
    }
    column.name = new_name
    for other_column in table.columns:
        aggregation = other_column.aggregation.value
        if aggregation is None:
            continue
        renamed_fields = {
            name: replace_name(getattr(aggregation, name))
            for name in ("by", "over", "within", "across", "why")
        }
        other_column.aggregation = replace(
            other_column.aggregation, value=replace(aggregation, **renamed_fields)
        )


# --- single responses -----------------------------------------------------------------------------


def analyse_responses(
    responses: Any, name: str | None, *, guesses_units: bool = True
) -> SectionAnalysis:
    """Infer the tables of a section (kind of response) from example responses.

    Parameters
    ----------
    responses : Payload, bytes, str, dict, or list of these
        The JSON, as text or decoded, or several documents.
    name : str or None
        The name of the section; by default the name in the JSON.
    guesses_units : bool
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
    possible_names = [
        name,
        *(response.section for response in responses if isinstance(response, Payload)),
        *(document.get("section") for document in documents if isinstance(document, dict)),
    ]
    name = next((name for name in possible_names if name and isinstance(name, str)), "answer")
    analysis = analyse_section(
        name, documents[0], {}, Vocabulary.from_responses([], documents), documents[1:],
        guesses_units=guesses_units,
    )  # fmt: skip
    if not analysis.draft_tables:
        raise PayloadError(f"nothing in this response of {name} can be made a table", section=name)
    return analysis
