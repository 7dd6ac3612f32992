"""Classes for the tables and columns that were found in JSON, and for the guesses about them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np

from aatoolkit.jsontree.paths import Step, format_path
from aatoolkit.jsontree.vectors import MISSING
from aatoolkit.sections import NONE, Aggregation, Rows
from aatoolkit.sections.inference.readings import NO_VALUE, FieldReading, Numbers
from aatoolkit.sections.inference.words import Meaning, meaning_of, qualify_generic_name

T = TypeVar("T")
RowPositions = np.ndarray[tuple[int], np.dtype[np.intp]]

PROVED, LIKELY, OPEN, SETTLED = "proved", "likely", "open", "settled"
"""How sure a finding is: ``proved`` by the numbers, ``likely`` by name and range, ``open`` if not
known, ``settled`` if a person set it.
"""

_TEXT = FieldReading("string")
_DO_NOT_ADD = (
    "share", "position", "rank", "score", "probability", "id", "time", "status", "change",
)  # fmt: skip


@dataclass(frozen=True)
class Finding(Generic[T]):
    """A guess about a column, such as its unit, with its confidence and its reason.

    Attributes
    ----------
    value : object
        The unit or the way to aggregate; None if it is not known.
    confidence : {"proved", "likely", "open", "settled"}
        ``proved`` by the numbers; ``likely`` by name and range; ``open`` if there is no evidence;
        ``settled`` by a person.
    evidence : str
        The reason, as text for people.
    """

    value: T | None = None
    confidence: str = OPEN
    evidence: str = ""


@dataclass(eq=False)
class Evidence:
    """The results of the tests whether a column is a sum, a ratio or a mean of other columns.

    Attributes
    ----------
    ratios : list of Ratio
        The ratios of two counts that equal the column on every row.
    denominators : dict of str to int
        Maps the name of each possible denominator to the number of rows tested.
    weights : dict of str to int
        Maps the name of each possible weight of a mean to the number of rows tested.
    engine_outcome : str
        The result of the test whether the numbers for single engines sum to those for all engines:
        ``adds``, ``distinct`` (the sum is too large), ``differs`` or empty (not known).
    tested_rows : int
        The number of rows in this test.
    sum_notes : list of str
        Notes for people on totals that the values sum to.
    total_columns : list of ColumnFinding
        The columns with these totals.
    across : set of str
        The names of the columns over which sums are allowed.
    siblings : tuple of str
        The names of columns that together sum to ``siblings_sum`` on every row.
    siblings_sum : float
        The sum, 1 or 100; 0 without such columns.
    """

    ratios: list[Any] = field(default_factory=list)
    denominators: dict[str, int] = field(default_factory=dict)
    weights: dict[str, int] = field(default_factory=dict)
    engine_outcome: str = ""
    tested_rows: int = 0
    sum_notes: list[str] = field(default_factory=list)
    total_columns: list[ColumnFinding] = field(default_factory=list)
    across: set[str] = field(default_factory=set)
    siblings: tuple[str, ...] = ()
    siblings_sum: float = 0.0

    @property
    def is_additive(self) -> bool:
        """Whether a test proved that the values may be summed."""
        return bool(self.sum_notes) or self.engine_outcome == "adds"


@dataclass(eq=False)
class ColumnFinding:
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
        Whether the values come from the row of another table in which each row is nested.
    reading : FieldReading
        How to parse the values, and the parsed numbers.
    unit, rule : Finding
        The unit, and how to aggregate the values.
    scale : float
        The factor that the numbers are multiplied by.
    valid : str, optional
        The path to a boolean that says which values are valid, as in `Column.valid`.
    doc : str
        A description, if a person set one.
    relation : Relation
        The table.
    facts : Evidence
        The results of tests whether the numbers are sums, ratios or means of others.
    """

    name: str
    source: str
    path: str
    values: list[Any]
    is_label: bool = False
    is_inherited: bool = False
    reading: FieldReading = _TEXT
    unit: Finding[str] = field(default_factory=Finding)
    rule: Finding[Aggregation] = field(default_factory=Finding)
    scale: float = 1.0
    valid: str | None = None
    doc: str = ""
    relation: Any = None
    facts: Evidence = field(default_factory=Evidence)

    @property
    def table(self) -> str:
        """The name of the column's table."""
        return str(self.relation.name)

    @property
    def is_key(self) -> bool:
        """Whether the column is in the key of its table, which identifies a row."""
        return self.name in self.relation.key

    @property
    def is_own(self) -> bool:
        """Whether the values are fields of the row itself, and not keys or positions."""
        return not (self.is_label or self.is_inherited or self.source.startswith("#"))

    @property
    def dtype(self) -> str:
        """The dtype of the column; ``Float64`` if its numbers are multiplied by a factor."""
        return "Float64" if self.scale != 1.0 else self.reading.dtype

    @property
    def numbers(self) -> Numbers:
        """The parsed numbers of the column, before scaling; NaN for rows without a number."""
        return self.reading.numbers

    @property
    def half_unit(self) -> float:
        """The largest rounding error of the numbers: half a unit of their last decimal."""
        return 0.5 * 10.0**-self.reading.decimals if self.reading.decimals else 0.0

    @property
    def meaning(self) -> Meaning:
        """The kind of values that the column's name suggests, such as ``count``."""
        field_meaning = meaning_of(self.field)
        name_meaning = meaning_of(qualify_generic_name(self.name, self.path))
        is_share = name_meaning.kind == "share" and not name_meaning.percent
        is_count = field_meaning.kind == "count" and self.reading.dtype == "Int64"
        is_field_decisive = (is_share and is_count) or not name_meaning.kind
        return field_meaning if is_field_decisive else name_meaning

    @property
    def is_measure(self) -> bool:
        """Whether the column has measured numbers, which do not identify rows."""
        return self.reading.is_number and not self.is_key and not self.is_label

    @property
    def may_be_summed(self) -> bool:
        """Whether the values could be summable by their kind: whole numbers or amounts of money."""
        name_meaning, reading = self.meaning, self.reading
        is_addable = name_meaning.kind not in _DO_NOT_ADD and not name_meaning.mean
        is_whole = reading.dtype == "Int64" or name_meaning.kind == "money"
        return reading.is_number and self.is_own and not reading.percent and is_addable and is_whole

    @property
    def may_be_counts(self) -> bool:
        """Whether the column has only whole numbers, none of them negative."""
        reading = self.reading
        is_integer = reading.dtype == "Int64" and reading.parse in (None, "number")
        return is_integer and self.is_own and len(self.numbers) > 0 and not (self.numbers < 0).any()

    @property
    def example(self) -> Any:
        """The first value that is not missing; None if all values are missing."""
        missing_values = (MISSING, None, *self.reading.missing)
        return next((value for value in self.values if value not in missing_values), None)

    @property
    def aggregate(self) -> Aggregation:
        """How to aggregate the column; `NONE`, which forbids it, if unknown."""
        rule = self.rule.value
        return NONE if rule is None or self.rule.confidence == OPEN else rule

    @property
    def rule_text(self) -> str | None:
        """How to aggregate the column, as text such as ``sum``; ``key`` if it identifies rows."""
        if self.is_key:
            return "key"
        has_rule = self.reading.is_number and self.rule.value is not None
        return str(self.aggregate) if has_rule else None

    @property
    def field(self) -> str:
        """The name of the JSON field with the values, such as ``citationCount``."""
        return self.source.strip("[]^.").rpartition(".")[2]

    @property
    def confidence(self) -> str:
        """The lower of two confidences, such as ``proved``: of the unit and of the aggregation.

        For a column of text, it is the confidence of the dtype.
        """
        if self.is_key or not self.reading.is_number:
            evidence = self.reading.evidence
            is_open = evidence == NO_VALUE or "may be" in evidence
            return OPEN if is_open and not self.is_key else PROVED
        ascending_confidences = (OPEN, LIKELY, PROVED, SETTLED)
        return min(self.unit.confidence, self.rule.confidence, key=ascending_confidences.index)

    @property
    def evidence(self) -> str:
        """The reasons for the dtype, the unit and the aggregation, as one text for people."""
        sentences = [self.reading.evidence]
        for aspect, finding in (("unit", self.unit), ("rule", self.rule)):
            if finding.evidence:
                sentences.append(f"{aspect} {finding.confidence}: {finding.evidence}")
        return "; ".join(filter(None, sentences))


@dataclass(eq=False)
class Relation:
    """A table found in JSON: its columns, with the rows of all responses.

    If its rows are nested in rows of another table, these are called the enclosing rows.

    Attributes
    ----------
    name : str
        The name of the table.
    steps : tuple of Step
        The parsed path to the rows.
    rows : Rows
        The path and shape of the rows, as they are declared.
    columns : list of ColumnFinding
        The columns.
    response_positions : array of int
        For each row, the position of its response.
    parent : Relation, optional
        The table of the enclosing rows.
    parent_rows : array of int
        For each row, the position of its enclosing row in ``parent``.
    holder : tuple of Step
        The parsed path to the list that contains the rows.
    key : tuple of str
        The names of the columns that identify a row.
    without : dict of str to tuple
        Maps the name of a column to the texts that mark rows with totals, such as ``all``.
    total_rows : array of int
        The positions of the rows with totals.
    """

    name: str
    steps: tuple[Step, ...]
    rows: Rows
    columns: list[ColumnFinding]
    response_positions: RowPositions
    parent: Relation | None = None
    parent_rows: RowPositions = field(default_factory=lambda: np.empty(0, np.intp))
    holder: tuple[Step, ...] = ()
    key: tuple[str, ...] = ()
    without: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    total_rows: RowPositions = field(default_factory=lambda: np.empty(0, np.intp))

    def __post_init__(self) -> None:
        for column in self.columns:
            column.relation = self

    def __len__(self) -> int:
        return len(self.response_positions)

    def __getitem__(self, name: str) -> ColumnFinding:
        return self.columns[self.column_names.index(name)]

    def add(self, column: ColumnFinding, position: int | None = None) -> None:
        """Add a column, at the given position or as the last one."""
        column.relation = self
        self.columns.insert(len(self.columns) if position is None else position, column)

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.columns]

    @property
    def path(self) -> str:
        """The path to the rows as text, such as ``rows[]``; ``$`` for the whole response."""
        return format_path(self.steps) or "$"

    @property
    def kept_mask(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """A boolean array with one item per row: False for rows with totals."""
        mask = np.ones(len(self), bool)
        mask[self.total_rows] = False
        return mask

    def with_ancestors(self) -> Iterator[tuple[Relation, RowPositions]]:
        """Yield this table, then the tables in whose rows it is nested, up to the whole response.

        Yields
        ------
        Relation
            The table.
        array of int
            For each row of this table, the position of its enclosing row in that table.
        """
        relation: Relation | None = self
        ancestor_rows: RowPositions = np.arange(len(self))
        while relation is not None:
            yield relation, ancestor_rows
            if relation.parent is not None:
                ancestor_rows = relation.parent_rows[ancestor_rows]
            relation = relation.parent

    def rows_in_response(self, response_position: int) -> RowPositions:
        """Return the positions of the rows of one response, without rows with totals."""
        return np.flatnonzero((self.response_positions == response_position) & self.kept_mask)
