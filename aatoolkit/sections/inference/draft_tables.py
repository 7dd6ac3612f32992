"""Classes for the tables and columns that were found in JSON, and for the guesses about them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np

from aatoolkit._util.lexicon import words_of
from aatoolkit.jsontree.paths import Step, format_path
from aatoolkit.jsontree.vectors import MISSING
from aatoolkit.sections import NONE, Aggregation, Rows
from aatoolkit.sections.inference.field_formats import NO_VALUE_REASON, FieldFormat, FloatArray
from aatoolkit.sections.inference.json_structure import RowSet
from aatoolkit.sections.inference.words import NameMeaning, classify_name

T = TypeVar("T")
RowPositions = np.ndarray[tuple[int], np.dtype[np.intp]]

PROVED = "proved"
LIKELY = "likely"
OPEN = "open"
SETTLED = "settled"
"""How sure a guess is: ``proved`` by the numbers, ``likely`` by the name and the range of the
numbers, ``open`` if nothing is known, ``settled`` if a person set it.
"""

_TEXT_FORMAT = FieldFormat("string")


@dataclass(frozen=True)
class Guess(Generic[T]):
    """A guess about a column, such as its unit, with its confidence and its reason.

    Attributes
    ----------
    value : object
        The unit or the way to aggregate; None if it is not known.
    confidence : {"proved", "likely", "open", "settled"}
        ``proved`` by the numbers; ``likely`` by the name and the range of the numbers; ``open`` if
        there is no evidence; ``settled`` by a person.
    reason : str
        Why this was guessed, as text for people.
    """

    value: T | None = None
    confidence: str = OPEN
    reason: str = ""


@dataclass(eq=False)
class ArithmeticEvidence:
    """The results of tests on the numbers of one column: is it a sum, ratio or mean of others?

    Attributes
    ----------
    matching_ratios : list of Ratio
        The ratios of two counts that equal the column on every row.
    row_count_by_denominator : dict of str to int
        Maps the name of each column that may be the denominator of the numbers, if they are rates,
        to the number of rows that were tested.
    row_count_by_weight : dict of str to int
        Maps the name of each column that may have the weights of the numbers, if they are means, to
        the number of rows that were tested.
    engine_sum_outcome : str
        The result of the test whether the numbers for single engines sum to those for all engines:
        ``adds`` if they do; ``distinct`` if the sum is larger, as for counts of distinct visitors,
        some of whom use several engines; ``differs`` if neither; empty if it is not known.
    tested_row_count : int
        The number of rows in the test of ``engine_sum_outcome``.
    sum_notes : list of str
        Notes for people on totals that the numbers sum to.
    total_columns : list of DraftColumn
        The columns with the totals that the numbers sum to.
    summable_key_names : set of str
        The names of the key columns over which the values may be summed.
    sibling_names : tuple of str
        The names of columns, of which this is one, that together sum to 1 or 100 on every row.
    sibling_sum : float
        The sum of the columns in ``sibling_names``, 1 or 100; 0 if there are none.
    """

    matching_ratios: list[Any] = field(default_factory=list)
    row_count_by_denominator: dict[str, int] = field(default_factory=dict)
    row_count_by_weight: dict[str, int] = field(default_factory=dict)
    engine_sum_outcome: str = ""
    tested_row_count: int = 0
    sum_notes: list[str] = field(default_factory=list)
    total_columns: list[DraftColumn] = field(default_factory=list)
    summable_key_names: set[str] = field(default_factory=set)
    sibling_names: tuple[str, ...] = ()
    sibling_sum: float = 0.0

    @property
    def is_additive(self) -> bool:
        """Whether totals in the responses proved that the numbers of several rows may be summed."""
        return bool(self.sum_notes) or self.engine_sum_outcome == "adds"


@dataclass(eq=False)
class DraftColumn:
    """A column of a table found in JSON: its values, and the guesses about them.

    Attributes
    ----------
    name : str
        The name of the column.
    source : str
        The path from the row to the value, as in `Column.source`.
    path : str
        The path from the top of the response, such as ``rows[].hits``.
    values : list
        The values as in the JSON, one for each row.
    is_label : bool
        Whether the values are keys or positions of the rows, such as the keys of an object.
    is_inherited : bool
        Whether the values are copied from the row of another table in which each row is nested.
    format : FieldFormat
        The dtype and notation of the values, and the parsed numbers.
    unit, aggregation : Guess
        The unit, and how to aggregate the values.
    scale_factor : float
        The factor that the numbers are multiplied by.
    valid_path : str, optional
        The path to a boolean that says which values are valid, as in `Column.valid`.
    doc : str
        A description, if a person set one.
    draft_table : DraftTable
        The table of the column.
    arithmetic : ArithmeticEvidence
        The results of tests whether the numbers are sums, ratios or means of other columns.
    """

    name: str
    source: str
    path: str
    values: list[Any]
    is_label: bool = False
    is_inherited: bool = False
    format: FieldFormat = _TEXT_FORMAT
    unit: Guess[str] = field(default_factory=Guess)
    aggregation: Guess[Aggregation] = field(default_factory=Guess)
    scale_factor: float = 1.0
    valid_path: str | None = None
    doc: str = ""
    draft_table: Any = None
    arithmetic: ArithmeticEvidence = field(default_factory=ArithmeticEvidence)

    @property
    def table(self) -> str:
        """The name of the column's table."""
        return str(self.draft_table.name)

    @property
    def is_key(self) -> bool:
        """Whether the column is in the key of its table, which identifies a row."""
        return self.name in self.draft_table.key

    @property
    def is_row_field(self) -> bool:
        """Whether the values are fields of the row itself.

        Keys, positions and values that are copied from an enclosing row are not.
        """
        return not (self.is_label or self.is_inherited or self.source.startswith("#"))

    @property
    def dtype(self) -> str:
        """The dtype of the column; ``Float64`` if its numbers are multiplied by a factor."""
        return "Float64" if self.scale_factor != 1.0 else self.format.dtype

    @property
    def numbers(self) -> FloatArray:
        """The parsed numbers of the column, before scaling; NaN for rows without a number."""
        return self.format.numbers

    @property
    def rounding_error(self) -> float:
        """The largest rounding error of the numbers: half a unit of their last decimal."""
        return 0.5 * 10.0**-self.format.max_decimals if self.format.max_decimals else 0.0

    @property
    def name_meaning(self) -> NameMeaning:
        """The kind of values that the column's name suggests, such as ``count``."""
        field_meaning = classify_name(self.field_name)
        name_meaning = classify_name(self.name)
        is_share = name_meaning.kind == "share" and not name_meaning.has_word_of("percent")
        is_count = field_meaning.kind == "count" and self.format.dtype == "Int64"
        uses_field_meaning = (is_share and is_count) or not name_meaning.kind
        return field_meaning if uses_field_meaning else name_meaning

    @property
    def is_measure(self) -> bool:
        """Whether the column has measured numbers, and not numbers that identify rows."""
        return self.format.is_number and not self.is_key and not self.is_label

    @property
    def may_be_summed(self) -> bool:
        """Whether the values could be summable by their kind: whole numbers or amounts of money."""
        name_meaning = self.name_meaning
        field_format = self.format
        is_additive_kind = (
            name_meaning.kind not in words_of("not_summed_kind") and not name_meaning.is_mean
        )
        is_integer_or_money = field_format.dtype == "Int64" or name_meaning.kind == "money"
        return (
            field_format.is_number
            and self.is_row_field
            and not field_format.has_percent_sign
            and is_additive_kind
            and is_integer_or_money
        )

    @property
    def may_be_counts(self) -> bool:
        """Whether the column has only whole numbers, none of them negative."""
        field_format = self.format
        is_integer = field_format.dtype == "Int64" and field_format.parse in (None, "number")
        return (
            is_integer
            and self.is_row_field
            and len(self.numbers) > 0
            and not (self.numbers < 0).any()
        )

    @property
    def example(self) -> Any:
        """The first value that is not missing; None if all values are missing."""
        missing_values = (MISSING, None, *self.format.missing)
        return next((value for value in self.values if value not in missing_values), None)

    @property
    def aggregate(self) -> Aggregation:
        """How to aggregate the column; `NONE`, which forbids it, if unknown."""
        aggregation = self.aggregation.value
        if aggregation is None or self.aggregation.confidence == OPEN:
            return NONE
        return aggregation

    @property
    def aggregation_text(self) -> str | None:
        """How to aggregate the column, as text such as ``sum``; ``key`` if it identifies rows."""
        if self.is_key:
            return "key"
        has_aggregation = self.format.is_number and self.aggregation.value is not None
        return str(self.aggregate) if has_aggregation else None

    @property
    def field_name(self) -> str:
        """The name of the JSON field with the values, such as ``citationCount``."""
        return self.source.strip("[]^.").rpartition(".")[2]

    @property
    def confidence(self) -> str:
        """How sure the guesses are: ``open``, ``likely``, ``proved`` or ``settled``, as in `Guess`.

        For a column of numbers, it is the lower confidence of the two guesses about its unit and
        its aggregation. For other columns, it is the confidence of the dtype.
        """
        if self.is_key or not self.format.is_number:
            format_reason = self.format.reason
            is_format_open = format_reason == NO_VALUE_REASON or "may be" in format_reason
            return OPEN if is_format_open and not self.is_key else PROVED
        ascending_confidences = (OPEN, LIKELY, PROVED, SETTLED)
        return min(
            self.unit.confidence, self.aggregation.confidence, key=ascending_confidences.index
        )

    @property
    def evidence(self) -> str:
        """The reasons for the dtype, the unit and the aggregation, as one text for people."""
        reasons = [self.format.reason]
        for guess_name, guess in (("unit", self.unit), ("rule", self.aggregation)):
            if guess.reason:
                reasons.append(f"{guess_name} {guess.confidence}: {guess.reason}")
        return "; ".join(filter(None, reasons))


@dataclass(eq=False)
class DraftTable:
    """A table found in JSON: its columns, with the rows of all responses.

    If its rows are nested in rows of another table, these are called the enclosing rows.

    Attributes
    ----------
    name : str
        The name of the table.
    row_set : RowSet
        The rows.
    rows : Rows
        The declaration of the path and form of the rows, as in `Table`.
    columns : list of DraftColumn
        The columns.
    key : tuple of str
        The names of the columns that identify a row.
    total_labels_by_column : dict of str to tuple
        Maps the name of a column to the texts in it that mark rows with totals, such as ``all``.
    total_row_positions : array of int
        The positions of the rows with totals.
    """

    name: str
    row_set: RowSet
    rows: Rows
    columns: list[DraftColumn]
    key: tuple[str, ...] = ()
    total_labels_by_column: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    total_row_positions: RowPositions = field(default_factory=lambda: np.empty(0, np.intp))

    def __post_init__(self) -> None:
        for column in self.columns:
            column.draft_table = self

    def __len__(self) -> int:
        return len(self.row_set)

    def __getitem__(self, name: str) -> DraftColumn:
        return self.columns[self.column_names.index(name)]

    def add_column(self, column: DraftColumn, position: int | None = None) -> None:
        """Add a column, at the given position or as the last one."""
        column.draft_table = self
        self.columns.insert(len(self.columns) if position is None else position, column)

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.columns]

    @property
    def steps(self) -> tuple[Step, ...]:
        """The parsed path to the rows."""
        return self.row_set.steps

    @property
    def path(self) -> str:
        """The path to the rows as text, such as ``rows[]``; ``$`` for the whole response."""
        return format_path(self.steps) or "$"

    @property
    def data_row_mask(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """A boolean array with one item per row of the table: False for rows with totals."""
        row_mask = np.ones(len(self), bool)
        row_mask[self.total_row_positions] = False
        return row_mask

    def iter_with_ancestors(self) -> Iterator[tuple[DraftTable, RowPositions]]:
        """Yield this table, then the tables in whose rows it is nested, up to the whole response.

        Yields
        ------
        DraftTable
            The table.
        array of int
            For each row of this table, the position of its enclosing row in that table.
        """
        for row_set in self.row_set.iter_with_ancestors():
            if row_set.table is not None:
                yield (
                    row_set.table,
                    np.array(self.row_set.find_enclosing_positions(row_set), np.intp),
                )

    @property
    def is_nested(self) -> bool:
        """Whether the rows are nested in rows of another table that is not the whole response."""
        return any(table.steps for table, _ in self.iter_with_ancestors() if table is not self)

    @cached_property
    def response_positions(self) -> RowPositions:
        """For each row of the table, the position of its response."""
        *_, response_row_set = self.row_set.iter_with_ancestors()
        return np.array(self.row_set.find_enclosing_positions(response_row_set), np.intp)

    @property
    def response_count(self) -> int:
        """The number of responses, with or without rows of the table."""
        *_, response_row_set = self.row_set.iter_with_ancestors()
        return len(response_row_set)

    def rows_of_response(self, response_position: int) -> RowPositions:
        """Return the positions of the rows of one response, without rows with totals."""
        return np.flatnonzero((self.response_positions == response_position) & self.data_row_mask)
