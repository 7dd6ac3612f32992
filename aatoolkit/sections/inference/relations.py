"""Relations: the rows found in the responses of one section, and what was found of their columns.

A relation knows where its rows are located, in the words of a declaration, and holds what they
hold, so that types, identities and keys can be looked for without another walk of the responses.
What is claimed of a column is a finding, with its confidence and its evidence.
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
"""The confidences: an identity or an experiment, name and range, nothing, and a person."""

_TEXT = FieldReading("string")
_DO_NOT_ADD = (
    "share", "position", "rank", "score", "probability", "id", "time", "status", "change",
)  # fmt: skip


@dataclass(frozen=True)
class Finding(Generic[T]):
    """One claim, with its confidence and evidence; its value is None where it is open."""

    value: T | None = None
    confidence: str = OPEN
    evidence: str = ""


@dataclass(eq=False)
class Evidence:
    """What was seen of one column of numbers.

    Attributes
    ----------
    ratios : list of Ratio
        Ratios of counts that hold on every row.
    wholes, weights : dict of str to int
        Counts that it is whole over on every row, and those by which the parts pool to the whole,
        and on how many rows.
    outcome : str
        That of narrowing the response to single engines: ``adds``, ``distinct`` (more than the
        largest part and less than the sum), ``differs``; empty if nothing was tested.
    tested : int
        The rows that it was tested on, with two or more parts that were not zero.
    sums : list of str
        Totals that its rows, or its children's, were seen to sum to.
    equals : list of ColumnFinding
        The columns that its rows sum to.
    across : set of str
        Columns of the key over which it is proved to add up.
    siblings : tuple of str
        Columns that sum to 1 or 100 (``siblings_sum``) with it on every row.
    """

    ratios: list[Any] = field(default_factory=list)
    wholes: dict[str, int] = field(default_factory=dict)
    weights: dict[str, int] = field(default_factory=dict)
    outcome: str = ""
    tested: int = 0
    sums: list[str] = field(default_factory=list)
    equals: list[ColumnFinding] = field(default_factory=list)
    across: set[str] = field(default_factory=set)
    siblings: tuple[str, ...] = ()
    siblings_sum: float = 0.0

    @property
    def adds(self) -> bool:
        """Whether the column is proved to add up."""
        return bool(self.sums) or self.outcome == "adds"


@dataclass(eq=False)
class ColumnFinding:
    """One column of a relation: its values, and what was found of them.

    Attributes
    ----------
    name : str
        The column's name, from the service's own words.
    source, path : str
        Where its values are from the row, in the words of `Column.source`, and from the top of
        the response, for people.
    values : list
        One value a row; `MISSING` where there is none.
    label, inherited : bool
        Whether it takes keys, positions or an axis rather than values of fields, and whether the
        values are those of rows around.
    reading : FieldReading
        How the values are read.
    unit, rule : Finding
        What a number is in, and how rows of it combine.
    scale : float
        What its numbers are multiplied by.
    valid : str, optional
        Where a flag says whether there is a value.
    doc : str
        What a person said that it says.
    """

    name: str
    source: str
    path: str
    values: list[Any]
    label: bool = False
    inherited: bool = False
    reading: FieldReading = _TEXT
    unit: Finding[str] = field(default_factory=Finding)
    rule: Finding[Aggregation] = field(default_factory=Finding)
    scale: float = 1.0
    valid: str | None = None
    doc: str = ""
    relation: Any = None
    seen: Evidence = field(default_factory=Evidence)

    @property
    def table(self) -> str:
        """The name of its table."""
        return str(self.relation.name)

    @property
    def is_key(self) -> bool:
        """Whether it is part of the table's key."""
        return self.name in self.relation.key

    @property
    def is_own(self) -> bool:
        """Whether the values are fields of the row itself, and no keys, positions or labels."""
        return not (self.label or self.inherited or self.source.startswith("#"))

    @property
    def dtype(self) -> str:
        """The dtype; numbers that are multiplied are not whole."""
        return "Float64" if self.scale != 1.0 else self.reading.dtype

    @property
    def numbers(self) -> Numbers:
        """The numbers, as written; NaN where there is none."""
        return self.reading.numbers

    @property
    def half(self) -> float:
        """Half a unit of the last decimal that its numbers are written with."""
        return 0.5 * 10.0**-self.reading.decimals if self.reading.decimals else 0.0

    @property
    def meaning(self) -> Meaning:
        """The meaning of its name, or of its parent's name if that is generic.

        ``visibility.hits`` counts hits, whatever holds them.
        """
        own, named = meaning(self.field), meaning(specific_name(self.name, self.path))
        is_open = named.kind == "share" and self.reading.dtype == "Int64" and not named.percent
        return own if is_open and own.kind == "count" else named

    @property
    def is_measure(self) -> bool:
        """Whether it holds numbers that are neither key nor label."""
        return self.reading.is_number and not self.is_key and not self.label

    @property
    def may_add(self) -> bool:
        """Whether it is of a kind that may add up."""
        named, reading = self.meaning, self.reading
        is_sum = named.kind not in _DO_NOT_ADD and not named.mean
        is_whole = reading.dtype == "Int64" or named.kind == "money"
        return reading.is_number and self.is_own and not reading.percent and is_sum and is_whole

    @property
    def may_be_counted(self) -> bool:
        """Whether it holds whole numbers that may be counts."""
        reading = self.reading
        is_plain = reading.dtype == "Int64" and reading.parse in (None, "number")
        return is_plain and self.is_own and len(self.numbers) > 0 and not (self.numbers < 0).any()

    @property
    def example(self) -> Any:
        """One of its values."""
        nothing = (MISSING, None, *self.reading.missing)
        return next((value for value in self.values if value not in nothing), None)

    @property
    def aggregate(self) -> Aggregation:
        """The rule that is applied: none where it is open."""
        rule = self.rule.value
        return NONE if rule is None or self.rule.confidence == OPEN else rule

    @property
    def rule_words(self) -> str | None:
        """The rule of a number, or that it is a key; None where nothing is known."""
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
        """The lowest confidence of a number's applied findings; for others, that of the type."""
        if self.is_key or not self.reading.is_number:
            seen = self.reading.evidence
            is_open = seen == SILENT or "may be" in seen
            return OPEN if is_open and not self.is_key else PROVED
        order = (OPEN, LIKELY, PROVED, SETTLED)
        return min(self.unit.confidence, self.rule.confidence, key=order.index)

    @property
    def evidence(self) -> str:
        """The evidence for the reading, the unit and the rule."""
        parts = [self.reading.evidence]
        for what, finding in (("unit", self.unit), ("rule", self.rule)):
            if finding.evidence:
                parts.append(f"{what} {finding.confidence}: {finding.evidence}")
        return "; ".join(filter(None, parts))


@dataclass(eq=False)
class Relation:
    """Rows of one kind in the responses of one section.

    Attributes
    ----------
    name : str
        The table's name.
    steps, holder : tuple of Step
        The path to the rows, and to what they are named by.
    rows : Rows
        The declaration of the rows.
    columns : list of ColumnFinding
        The columns, labels first.
    response : array of int
        For each row, the number of the response that holds it.
    parent : Relation, optional
        The relation whose rows enclose these; ``above`` has the row there of each row here.
    key : tuple of str
        The columns that identify a row.
    without : dict of str to tuple
        Rows that are totals, by the column that names them; ``omitted`` has their numbers.
    """

    name: str
    steps: tuple[Step, ...]
    rows: Rows
    columns: list[ColumnFinding]
    response: Places
    parent: Relation | None = None
    above: Places = field(default_factory=lambda: np.empty(0, np.intp))
    holder: tuple[Step, ...] = ()
    key: tuple[str, ...] = ()
    without: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    omitted: Places = field(default_factory=lambda: np.empty(0, np.intp))

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
    def kept(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """For each row, whether it is no total of others."""
        kept = np.ones(len(self), bool)
        kept[self.omitted] = False
        return kept

    def chain(self) -> Iterator[tuple[Relation, Places]]:
        """Yield the relation and those around it, each with the row there of every row here."""
        relation: Relation | None = self
        places: Places = np.arange(len(self))
        while relation is not None:
            yield relation, places
            if relation.parent is not None:
                places = relation.above[places]
            relation = relation.parent

    def rows_of(self, response: int) -> Places:
        """Return the rows that one response holds, without those left out as totals."""
        return np.flatnonzero((self.response == response) & self.kept)
