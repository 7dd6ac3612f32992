"""The tables found in the responses of one section, with findings (claims) about each column."""

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
"""The confidences of a finding: ``proved`` by the numbers, ``likely`` by name and range, ``open``
without evidence, ``settled`` by a person.
"""

_TEXT = FieldReading("string")
_DO_NOT_ADD = (
    "share", "position", "rank", "score", "probability", "id", "time", "status", "change",
)  # fmt: skip


@dataclass(frozen=True)
class Finding(Generic[T]):
    """A claim about a column, such as its unit, with a confidence and the evidence."""

    value: T | None = None
    confidence: str = OPEN
    evidence: str = ""


@dataclass(eq=False)
class Evidence:
    """What the responses show about a column of numbers.

    Attributes
    ----------
    ratios : list of Ratio
        The ratios of two counts that equal the column on every row.
    denominators : dict of str to int
        Maps each possible denominator to the number of rows that prove it.
    weights : dict of str to int
        Maps each possible weight of a mean to the number of rows that prove it.
    engine_outcome : str
        Whether single engines sum to all engines: ``adds``, ``distinct`` (less than the sum),
        ``differs`` or empty (unknown).
    tested_rows : int
        The number of rows that were compared for ``engine_outcome``.
    sum_notes : list of str
        Sentences that say which totals the rows sum to.
    total_columns : list of ColumnFinding
        The columns of these totals.
    across : set of str
        The columns of the key over which the column adds up.
    siblings : tuple of str
        The columns that sum to ``siblings_sum`` (1 or 100) on every row.
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
        """Whether the responses prove that the column may be summed."""
        return bool(self.sum_notes) or self.engine_outcome == "adds"


@dataclass(eq=False)
class ColumnFinding:
    """A column of a table found in responses: its values and the findings about it.

    Attributes
    ----------
    source, path : str
        The path to the values, from the row and from the top of the response.
    is_label : bool
        Whether the values name the rows, such as keys of an object.
    is_inherited : bool
        Whether the values come from the enclosing rows.
    reading : FieldReading
        How the values are parsed.
    unit, rule : Finding
        The unit, and how rows are aggregated.
    scale : float
        The factor that the numbers are multiplied by.
    valid : str, optional
        The path to a boolean for valid values, as in `Column.valid`.
    doc : str
        The description by a person.
    facts : Evidence
        What the responses show about the numbers.
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
        """Whether the column is part of the table's key."""
        return self.name in self.relation.key

    @property
    def is_own(self) -> bool:
        """Whether the values come from a field of the row, instead of keys, positions or labels."""
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
        """What kind of values the column's name announces."""
        field_meaning = meaning_of(self.field)
        name_meaning = meaning_of(qualify_generic_name(self.name, self.path))
        is_share = name_meaning.kind == "share" and not name_meaning.percent
        is_count = field_meaning.kind == "count" and self.reading.dtype == "Int64"
        is_field_decisive = (is_share and is_count) or not name_meaning.kind
        return field_meaning if is_field_decisive else name_meaning

    @property
    def is_measure(self) -> bool:
        """Whether the column holds numbers and is neither part of the key nor a label."""
        return self.reading.is_number and not self.is_key and not self.is_label

    @property
    def may_be_summed(self) -> bool:
        """Whether the column holds numbers that may add up: whole numbers or amounts of money."""
        name_meaning, reading = self.meaning, self.reading
        is_addable = name_meaning.kind not in _DO_NOT_ADD and not name_meaning.mean
        is_whole = reading.dtype == "Int64" or name_meaning.kind == "money"
        return reading.is_number and self.is_own and not reading.percent and is_addable and is_whole

    @property
    def may_be_counts(self) -> bool:
        """Whether the column holds only whole numbers from 0 up."""
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
        """The rule by which the column is aggregated; `NONE` (not at all) if the rule is open."""
        rule = self.rule.value
        return NONE if rule is None or self.rule.confidence == OPEN else rule

    @property
    def rule_text(self) -> str | None:
        """The aggregation rule as text; ``key`` for columns of the key; None without a rule."""
        if self.is_key:
            return "key"
        has_rule = self.reading.is_number and self.rule.value is not None
        return str(self.aggregate) if has_rule else None

    @property
    def field(self) -> str:
        """The name of the field that holds the values."""
        return self.source.strip("[]^.").rpartition(".")[2]

    @property
    def confidence(self) -> str:
        """The lower confidence of the unit and the rule; for texts that of the parsing."""
        if self.is_key or not self.reading.is_number:
            evidence = self.reading.evidence
            is_open = evidence == NO_VALUE or "may be" in evidence
            return OPEN if is_open and not self.is_key else PROVED
        ascending_confidences = (OPEN, LIKELY, PROVED, SETTLED)
        return min(self.unit.confidence, self.rule.confidence, key=ascending_confidences.index)

    @property
    def evidence(self) -> str:
        """The evidence for the parsing of the values, the unit and the rule, as one text."""
        sentences = [self.reading.evidence]
        for aspect, finding in (("unit", self.unit), ("rule", self.rule)):
            if finding.evidence:
                sentences.append(f"{aspect} {finding.confidence}: {finding.evidence}")
        return "; ".join(filter(None, sentences))


@dataclass(eq=False)
class Relation:
    """A table found in the responses of a section, with its rows from all responses.

    Attributes
    ----------
    steps : tuple of Step
        The path to the rows.
    holder : tuple of Step
        The path to the list that holds the rows.
    rows : Rows
        The declaration of the rows.
    response_positions : array of int
        The position of the response of each row.
    parent : Relation, optional
        The table whose rows enclose these rows.
    parent_rows : array of int
        The position in ``parent`` of the row around each row.
    key : tuple of str
        The names of the columns that identify a row.
    without : dict of str to tuple
        Maps a column to the texts, such as ``all``, that mark total rows.
    total_rows : array of int
        The positions of the total rows.
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
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)

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
        """The path to the rows as text, to be shown to people."""
        return format_path(self.steps) or "$"

    @property
    def kept_mask(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """A mask that is False for total rows."""
        mask = np.ones(len(self), bool)
        mask[self.total_rows] = False
        return mask

    def with_ancestors(self) -> Iterator[tuple[Relation, RowPositions]]:
        """Yield this table and its enclosing tables, each with the positions of the rows around
        each row.
        """
        relation: Relation | None = self
        ancestor_rows: RowPositions = np.arange(len(self))
        while relation is not None:
            yield relation, ancestor_rows
            if relation.parent is not None:
                ancestor_rows = relation.parent_rows[ancestor_rows]
            relation = relation.parent

    def rows_in_response(self, response_position: int) -> RowPositions:
        """Return the positions of the rows in one response, without total rows."""
        return np.flatnonzero((self.response_positions == response_position) & self.kept_mask)
