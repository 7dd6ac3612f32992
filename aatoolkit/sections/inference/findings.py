"""Findings: claims about a column, each with its confidence and evidence."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from aatoolkit.sections import NONE, Aggregation

T = TypeVar("T")

PROVED, LIKELY, OPEN, SETTLED = "proved", "likely", "open", "settled"
"""The confidences: an identity or an experiment, name and range, nothing, and a person."""


@dataclass(frozen=True)
class Finding(Generic[T]):
    """One claim, with its confidence and evidence.

    Attributes
    ----------
    value : object
        What was found; None where it is open.
    confidence : str
        ``proved``, ``likely`` or ``open``.
    evidence : str
        What speaks for it, or what would settle it.
    """

    value: T | None = None
    confidence: str = OPEN
    evidence: str = ""


@dataclass
class ColumnFinding:
    """The findings of one column.

    Attributes
    ----------
    table, name : str
        The table and the column.
    path : str
        Where its values are in the answer.
    source : str
        The same from the row, in the words of `Column.source`.
    dtype, parse, year, missing, scale
        How values are read, in the words of `Column`.
    reading : str
        What the type was seen by.
    unit : Finding of str
        The unit.
    rule : Finding of Aggregation
        How rows combine.
    doc : str
        What it says, in words.
    is_key : bool
        Whether it is part of the table's key.
    example : object
        One of its values.
    """

    table: str
    name: str
    path: str
    source: str
    dtype: str
    parse: str | None = None
    missing: tuple[Any, ...] = ()
    scale: float = 1.0
    year: str | None = None
    reading: str = ""
    unit: Finding[str] = field(default_factory=Finding)
    rule: Finding[Aggregation] = field(default_factory=Finding)
    units: dict[str, str] = field(default_factory=dict)
    doc: str = ""
    is_key: bool = False
    example: Any = None
    settled: bool = False

    @property
    def aggregate(self) -> Aggregation:
        """The rule that is applied: none unless it is proved, or was settled by hand."""
        rule = self.rule
        return rule.value if rule.value is not None and rule.confidence != OPEN else NONE

    @property
    def confidence(self) -> str:
        """The lowest confidence of a number's applied findings; for others, that of the type."""
        if self.is_key or self.dtype not in ("Int64", "Float64"):
            is_open = self.reading == "no value in any answer" or "may be" in self.reading
            return OPEN if is_open and not self.is_key else PROVED
        order = (OPEN, LIKELY, PROVED, SETTLED)
        return order[min(order.index(self.unit.confidence), order.index(self.rule.confidence))]

    @property
    def evidence(self) -> str:
        """The evidence for the reading, the unit and the rule."""
        parts = [self.reading]
        if self.unit.evidence:
            parts.append(f"unit {self.unit.confidence}: {self.unit.evidence}")
        if self.rule.evidence:
            parts.append(f"rule {self.rule.confidence}: {self.rule.evidence}")
        return "; ".join(part for part in parts if part)
