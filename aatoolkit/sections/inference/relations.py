"""Relations: the tables found in the responses of one section, with the findings of each column.

A relation holds the path of its rows, as in a declaration, and the values of its columns, so that
types, identities and keys can be looked for without reading the responses again. A finding is a
claim about a column, such as its unit, with its confidence and its evidence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np

from aatoolkit.jsontree.paths import Step, format_path
from aatoolkit.jsontree.vectors import MISSING
from aatoolkit.sections import NONE, Aggregation, Rows
from aatoolkit.sections.inference.readings import SILENT, FieldReading, Numbers
from aatoolkit.sections.inference.words import Meaning, meaning, specific_name

T = TypeVar("T")
Places = np.ndarray[tuple[int], np.dtype[np.intp]]

PROVED, LIKELY, OPEN, SETTLED = "proved", "likely", "open", "settled"
"""The confidences of a finding. ``proved``: by an identity or an experiment; ``likely``: by name
and range; ``open``: by nothing; ``settled``: by a person."""

_TEXT = FieldReading("string")
_DO_NOT_ADD = (
    "share", "position", "rank", "score", "probability", "id", "time", "status", "change",
)  # fmt: skip


@dataclass(frozen=True)
class Finding(Generic[T]):
    """One claim about a column, such as its unit, with its confidence and its evidence.

    The value is None if nothing is claimed.
    """

    value: T | None = None
    confidence: str = OPEN
    evidence: str = ""


@dataclass(eq=False)
class Evidence:
    """What the responses show about one column of numbers.

    Attributes
    ----------
    ratios : list of Ratio
        The ratios of two counts that equal the column on every row.
    denominators : dict of str to int
        Counts that may be its denominator, and on how many rows: times the count, the column is a
        whole number on every row.
    weights : dict of str to int
        Counts that may be its weight, and on how many rows: the mean of the parts' values weighted
        by the count is the value of the whole.
    outcome : str
        How the responses of single engines compare with the whole: ``adds``, ``distinct`` (the
        whole is at least the largest part and less than the sum) or ``differs``; empty if that was
        not tested.
    tested_rows : int
        On how many rows that was tested: rows with two or more parts that are not zero.
    sums : list of str
        Sentences that say which totals its rows sum to, or which rows sum to it.
    totals : list of ColumnFinding
        The columns that its rows sum to.
    across : set of str
        Columns of the key over which it is proved to add up.
    siblings : tuple of str
        Columns that sum to 1 or 100 (``siblings_sum``) on every row, itself included.
    """

    ratios: list[Any] = field(default_factory=list)
    denominators: dict[str, int] = field(default_factory=dict)
    weights: dict[str, int] = field(default_factory=dict)
    outcome: str = ""
    tested_rows: int = 0
    sums: list[str] = field(default_factory=list)
    totals: list[ColumnFinding] = field(default_factory=list)
    across: set[str] = field(default_factory=set)
    siblings: tuple[str, ...] = ()
    siblings_sum: float = 0.0

    @property
    def is_additive(self) -> bool:
        """Whether the column is proved to add up."""
        return bool(self.sums) or self.outcome == "adds"


@dataclass(eq=False)
class ColumnFinding:
    """One column of a table that was found: its values, and the findings about them.

    Attributes
    ----------
    name : str
        The column's name, from the service's own words.
    source, path : str
        Where its values are: from the row, as in `Column.source`, and from the top of the
        response, for people.
    values : list
        One value for each row; `MISSING` where there is none.
    is_label : bool
        Whether its values name the rows: they are keys, or texts of a list beside them.
    is_inherited : bool
        Whether its values are those of the enclosing rows.
    reading : FieldReading
        How the values are parsed.
    unit, rule : Finding
        The unit of its numbers, and the rule by which rows are aggregated.
    scale : float
        The factor that its numbers are multiplied by.
    valid : str, optional
        The source of a flag that says whether there is a value.
    doc : str
        The description, as given by a person.
    facts : Evidence
        What the responses show about its numbers.
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
        """Whether the values are those of a field of the row; not keys, positions or labels."""
        return not (self.is_label or self.is_inherited or self.source.startswith("#"))

    @property
    def dtype(self) -> str:
        """The dtype of the column; ``Float64`` if its numbers have a scale."""
        return "Float64" if self.scale != 1.0 else self.reading.dtype

    @property
    def numbers(self) -> Numbers:
        """The column's numbers before scaling, one per row; NaN where there is none."""
        return self.reading.numbers

    @property
    def half_unit(self) -> float:
        """Half a unit of the last decimal of its numbers (their rounding); 0 for whole numbers."""
        return 0.5 * 10.0**-self.reading.decimals if self.reading.decimals else 0.0

    @property
    def meaning(self) -> Meaning:
        """The meaning of the column's name; of a generic one (``value``) with its parent's name.

        A field of whole numbers that is named like a count (``hits``) remains a count, even if its
        parent (``visibility``) is named like a share.
        """
        field_meaning = meaning(self.field)
        name_meaning = meaning(specific_name(self.name, self.path))
        is_share = name_meaning.kind == "share" and not name_meaning.percent
        is_count = field_meaning.kind == "count" and self.reading.dtype == "Int64"
        return field_meaning if is_share and is_count else name_meaning

    @property
    def is_measure(self) -> bool:
        """Whether the column holds numbers and is neither part of the key nor a label."""
        return self.reading.is_number and not self.is_key and not self.is_label

    @property
    def may_add(self) -> bool:
        """Whether its numbers are of a kind that may add up: whole numbers or amounts of money."""
        name_meaning, reading = self.meaning, self.reading
        is_sum = name_meaning.kind not in _DO_NOT_ADD and not name_meaning.mean
        is_whole = reading.dtype == "Int64" or name_meaning.kind == "money"
        return reading.is_number and self.is_own and not reading.percent and is_sum and is_whole

    @property
    def may_be_counted(self) -> bool:
        """Whether the column holds whole numbers from 0, which may be counts."""
        reading = self.reading
        is_plain = reading.dtype == "Int64" and reading.parse in (None, "number")
        return is_plain and self.is_own and len(self.numbers) > 0 and not (self.numbers < 0).any()

    @property
    def example(self) -> Any:
        """The first value that is not missing; None if all are."""
        missing_values = (MISSING, None, *self.reading.missing)
        return next((value for value in self.values if value not in missing_values), None)

    @property
    def aggregate(self) -> Aggregation:
        """The rule by which the column is aggregated; `NONE` while the evidence leaves it open."""
        rule = self.rule.value
        return NONE if rule is None or self.rule.confidence == OPEN else rule

    @property
    def rule_words(self) -> str | None:
        """The rule of a column of numbers in words; ``key`` in the key; None without a rule."""
        if self.is_key:
            return "key"
        is_ruled = self.reading.is_number and self.rule.value is not None
        return str(self.aggregate) if is_ruled else None

    @property
    def field(self) -> str:
        """The name of the field that holds its values."""
        return self.source.strip("[]^.").rpartition(".")[2]

    @property
    def confidence(self) -> str:
        """The confidence in the column: for a number the lower one of its unit and its rule.

        For other columns it is that of the way in which the values are parsed.
        """
        if self.is_key or not self.reading.is_number:
            evidence = self.reading.evidence
            is_open = evidence == SILENT or "may be" in evidence
            return OPEN if is_open and not self.is_key else PROVED
        order = (OPEN, LIKELY, PROVED, SETTLED)
        return min(self.unit.confidence, self.rule.confidence, key=order.index)

    @property
    def evidence(self) -> str:
        """The evidence for how the values are parsed, the unit and the rule, as text."""
        sentences = [self.reading.evidence]
        for aspect, finding in (("unit", self.unit), ("rule", self.rule)):
            if finding.evidence:
                sentences.append(f"{aspect} {finding.confidence}: {finding.evidence}")
        return "; ".join(filter(None, sentences))


@dataclass(eq=False)
class Relation:
    """One table found in the responses of a section: its rows in all responses.

    Attributes
    ----------
    name : str
        The table's name.
    steps : tuple of Step
        The path to the rows.
    holder : tuple of Step
        The path to what holds the rows, after which the table is named.
    rows : Rows
        The declaration of the rows.
    columns : list of ColumnFinding
        The columns, labels first.
    response : array of int
        For each row, the number of the response that it is in, from 0.
    parent : Relation, optional
        The relation whose rows enclose these rows.
    parent_rows : array of int
        For each row, the number of the row of ``parent`` that encloses it.
    key : tuple of str
        The columns that identify a row.
    without : dict of str to tuple
        The labels of rows that are totals, by the column that has these labels.
    total_rows : array of int
        The numbers of the rows that are totals.
    """

    name: str
    steps: tuple[Step, ...]
    rows: Rows
    columns: list[ColumnFinding]
    response: Places
    parent: Relation | None = None
    parent_rows: Places = field(default_factory=lambda: np.empty(0, np.intp))
    holder: tuple[Step, ...] = ()
    key: tuple[str, ...] = ()
    without: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    total_rows: Places = field(default_factory=lambda: np.empty(0, np.intp))

    def __post_init__(self) -> None:
        for column in self.columns:
            column.relation = self

    def __len__(self) -> int:
        return len(self.response)

    def __getitem__(self, name: str) -> ColumnFinding:
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)

    def add(self, column: ColumnFinding, at: int | None = None) -> None:
        """Add a column, by default as the last one."""
        column.relation = self
        self.columns.insert(len(self.columns) if at is None else at, column)

    @property
    def names(self) -> list[str]:
        """The names of its columns."""
        return [column.name for column in self.columns]

    @property
    def path(self) -> str:
        """The path to the rows, for people."""
        return format_path(self.steps) or "$"

    @property
    def is_kept(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """For each row, whether it is kept, i.e. is no total of other rows."""
        is_kept = np.ones(len(self), bool)
        is_kept[self.total_rows] = False
        return is_kept

    def chain(self) -> Iterator[tuple[Relation, Places]]:
        """Yield the relation and its ancestors, innermost first, each with an array of rows.

        The array has, for each row of this relation, the row of the ancestor that encloses it.
        """
        relation: Relation | None = self
        ancestor_rows: Places = np.arange(len(self))
        while relation is not None:
            yield relation, ancestor_rows
            if relation.parent is not None:
                ancestor_rows = relation.parent_rows[ancestor_rows]
            relation = relation.parent

    def rows_of(self, response: int) -> Places:
        """Return the rows of one response, by its number, without the rows that are totals."""
        return np.flatnonzero((self.response == response) & self.is_kept)
