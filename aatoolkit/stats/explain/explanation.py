"""`Explanation`: a tree from a number to the values in responses that it was computed from."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from aatoolkit._util.text import clipped, drop_inner_stops, markup, print_wrapped
from aatoolkit.metadata.column import Source

_MAX_CHILDREN_IN_TEXT = 8
_MAX_CHILDREN_IN_HTML = 200
"""The maximum number of children of one number that are written, as text and as HTML."""

RowChoice = int | Hashable | Mapping[str, Any] | None
"""A row of a frame: its position or label, or values by column; by default one is chosen."""


def to_json_value(value: Any) -> Any:
    """Convert a cell to a JSON value: text, number, list or dict; None for a missing cell.

    Examples
    --------
    >>> import pandas as pd
    >>> to_json_value(pd.Timestamp("2026-11-20")), to_json_value([1, pd.NA])
    ('2026-11-20', [1, None])
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [to_json_value(item) for item in value]
    if isinstance(value, dict):
        return {str(name): to_json_value(item) for name, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if value is pd.NA or value is pd.NaT:
        return None
    if isinstance(value, bytes | bytearray | memoryview):
        return [*value]
    if isinstance(value, date):
        return value.isoformat().removesuffix("T00:00:00")
    return str(value)


def to_text(value: Any) -> str:
    """Return the value of a cell as text, which is "missing" for a missing cell.

    Examples
    --------
    >>> to_text(None), to_text(0.30000000000000004), to_text("Acme")
    ('missing', '0.30000000000000004', 'Acme')
    """
    json_value = to_json_value(value)
    return "missing" if json_value is None else clipped(str(json_value))


def are_equal(value: Any, other_value: Any) -> bool:
    """Return whether two cells are equal, whatever their dtypes; missing values are equal, too.

    Examples
    --------
    >>> are_equal(3, 3.0), are_equal(None, pd.NA), are_equal("3", 3), are_equal(0.1 + 0.2, 0.3)
    (True, True, False, True)
    """
    value = to_json_value(value)
    other_value = to_json_value(other_value)
    if isinstance(value, float) and isinstance(other_value, int | float):
        return abs(value - other_value) <= 1e-12 * max(abs(value), abs(other_value))
    return bool(value == other_value)


def equal_cells_mask(values: pd.Series, value: Any) -> npt.NDArray[np.bool_]:
    """Return a boolean mask of the cells that equal ``value``; it may be a number or day as text.

    Examples
    --------
    >>> equal_cells_mask(pd.Series([3.0, 4.5, None]), "3").tolist()
    [True, False, False]
    """
    expected_value = to_json_value(value)

    def is_equal_cell(cell: Any) -> bool:
        value = to_json_value(cell)
        if not isinstance(expected_value, str) or value is None or isinstance(value, str):
            return are_equal(value, expected_value)
        return expected_value in (str(value), f"{value:g}" if isinstance(value, float) else "")

    return np.array([is_equal_cell(cell) for cell in values.astype(object)], bool)


def sum_to_text(summands: list[object]) -> str:
    """Return numbers as the text of a sum, without the middle terms if there are many.

    Examples
    --------
    >>> sum_to_text([1, 2.5]), sum_to_text([*range(12)])
    ('1 + 2.5', '0 + 1 + 2 + 3 + 4 + 5 + … + 11')
    """
    number_texts = [to_text(summand) for summand in summands]
    if len(number_texts) > 8:
        number_texts = [*number_texts[:6], "…", number_texts[-1]]
    return " + ".join(number_texts)


@dataclass(frozen=True)
class CitedResponse(Source):
    """A response that a number was computed from.

    Parameters
    ----------
    status : int, optional
        The HTTP status.
    found_in : str, optional
        Where the bytes were found, such as "in memory"; None if they were not found.
    checked : bool
        Whether the bytes still have the SHA-256 that was recorded when they were fetched.
    """

    status: int | None = None
    found_in: str | None = None
    checked: bool = False

    def __str__(self) -> str:
        response_details = [
            f"response of {self.section}" if self.section else "response",
            self.host and f"about {self.host}",
            self.scope,
            self.fetched_at and f"fetched {self.fetched_at}",
            self.status and f"status {self.status}",
            "stale" if self.stale else None,
            self.sha256 and f"SHA-256 {self.sha256[:12]}",
        ]
        response_text = ", ".join(
            clipped(response_detail) for response_detail in response_details if response_detail
        )
        check_note = "checked, " if self.checked else ""
        return f"{response_text} ({check_note}{self.found_in or 'not at hand'})"


@dataclass(frozen=True)
class ValuePlace:
    """The location of a value in a response: its JSON path, byte positions and text.

    Parameters
    ----------
    path : str
        The JSON path. A path that ends in ``~`` means the key of an object, not its value.
    start, end : int, optional
        The positions of the bytes, ``body[start:end]``; None if they were not found.
    text : str, optional
        The text of the value in the response.
    """

    path: str
    start: int | None = None
    end: int | None = None
    text: str | None = None

    def __str__(self) -> str:
        byte_note = "" if self.start is None else f", bytes {self.start} to {self.end}"
        return f"at {self.path}{byte_note}{'' if self.text is None else f': {self.text}'}"


@dataclass(frozen=True)
class StatedAvailability:
    """What a response states about the availability of a value, i.e. whether it was measured.

    Parameters
    ----------
    status, cause, reason
        As in `Availability`.
    target : str, optional
        The JSON path that the statement is about.
    rows : str, optional
        The condition that selects the rows that the statement is about.
    evidence : str, optional
        The JSON path of the statement itself.
    rule : str, optional
        The name of the rule that interprets the statement.
    raw : str, optional
        The JSON text of the statement.
    sample_size : int, optional
        The number of observations that the value was computed from.
    as_of : str, optional
        The time until which the value is complete.
    """

    status: str
    cause: str | None = None
    reason: str | None = None
    target: str | None = None
    rows: str | None = None
    evidence: str | None = None
    rule: str | None = None
    raw: str | None = None
    sample_size: int | None = None
    as_of: str | None = None

    def __str__(self) -> str:
        cause_note = f" ({self.cause.replace('_', ' ')})" if self.cause else ""
        rows_condition = self.rows or ""
        target_text = (
            f" of {self.target}" if self.target and self.target not in rows_condition else ""
        )
        target_text += f" where {rows_condition}" if rows_condition else ""
        reason_note = f": {self.reason.rstrip('.')}" if self.reason else ""
        evidence_note = f", by {self.evidence}" if self.evidence else ""
        raw_note = f" = {self.raw}" if self.raw else ""
        return clipped(
            f"{self.status}{cause_note}{target_text}{reason_note}{evidence_note}{raw_note}"
        )


@dataclass(frozen=True)
class MissingRows:
    """The number of rows in which a column has no value for one reason.

    Parameters
    ----------
    rows : int
        The number of rows.
    why : str
        The reason.
    first : mapping of str to object
        The key of the first of these rows: a dict from column to value.
    """

    rows: int
    why: str
    first: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, repr=False)
class Explanation:
    """The explanation of one number: a tree whose leaves are values in responses.

    It prints as an indented tree; in a notebook its branches can be folded.

    Parameters
    ----------
    value : object
        The value; None if it is missing.
    column : str
        The column of the number, or its name in a formula.
    row : mapping of str to object
        The key of the row: a dict from column to value.
    unit, meaning : str, optional
        The unit, and the description of the column.
    operation : str, optional
        How the value was made: ``read`` from a response, or by a method such as ``aggregate``.
    formula : str, optional
        The formula, in names and in numbers: ``clicks / visits = 3 / 12``.
    rows : int, optional
        The number of rows that the value was computed from.
    place : ValuePlace, optional
        Where the value is in the response: ``place.path`` is its JSON path, ``place.text`` its
        text, and ``body[place.start:place.end]`` its bytes.
    response : CitedResponse, optional
        The response that contains the value.
    availability : str, optional
        Whether the value was measured.
    statements : tuple of StatedAvailability
        What the response states about this.
    missing : str, optional
        The reason why the value is missing.
    causes : tuple of MissingRows
        Why values of the column are missing, if ``explain`` was called without a row.
    notes : tuple of str
        Notes, such as how rows were filtered.
    children : tuple of Explanation
        The explanations of the numbers that the value was computed from.
    end : str, optional
        Why the value is not traced to the bytes of a response; None if it is.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> body = b'{"rows": [{"brand": "Acme", "mentionCount": 3}]}'
    >>> columns = (aa.Column("brand", "string"), aa.Column("mention_count", "Int64", "Mentions."))
    >>> table = aa.Table("brands", "Brands.", aa.sections.records("rows"), "brand", columns)
    >>> frame = aa.normalize(aa.Section("mine", "Mine.", table), body).main
    >>> frame.aa.explain({"brand": "Acme"}, "mention_count")
    mention_count, brand = Acme: 3
      Mentions.
      unknown
      at $.rows[0].mentionCount, bytes 44 to 45: 3
      response of mine, SHA-256 d5e76796fa17 (in memory)
    """

    value: Any
    column: str
    row: Mapping[str, Any] = field(default_factory=dict)
    unit: str | None = None
    meaning: str | None = None
    operation: str | None = None
    formula: str | None = None
    rows: int | None = None
    place: ValuePlace | None = None
    response: CitedResponse | None = None
    availability: str | None = None
    statements: tuple[StatedAvailability, ...] = ()
    missing: str | None = None
    causes: tuple[MissingRows, ...] = ()
    notes: tuple[str, ...] = ()
    children: tuple[Explanation, ...] = ()
    end: str | None = None

    def walk(self) -> Iterator[Explanation]:
        """Yield this explanation, then its children, their children and so on."""
        pending_explanations = [self]
        while pending_explanations:
            explanation = pending_explanations.pop()
            yield explanation
            pending_explanations += reversed(explanation.children)

    @property
    def sources(self) -> tuple[CitedResponse, ...]:
        """All responses that the number was computed from, without duplicates."""
        return tuple(
            dict.fromkeys(
                explanation.response for explanation in self.walk() if explanation.response
            )
        )

    @property
    def ends(self) -> tuple[str, ...]:
        """The reasons why numbers in the tree could not be traced to the bytes of a response."""
        return tuple(
            dict.fromkeys(explanation.end for explanation in self.walk() if explanation.end)
        )

    @property
    def is_complete(self) -> bool:
        """Whether every number in the tree is traced to the bytes of a response."""
        return not self.ends

    def to_dict(self) -> dict[str, Any]:
        """Convert the explanation to a dict of JSON values, without empty fields.

        Examples
        --------
        >>> Explanation(3, "n", end="a plain pandas step").to_dict()
        {'value': 3, 'column': 'n', 'end': 'a plain pandas step'}
        """
        json_fields = {name: _to_json(value) for name, value in vars(self).items()}
        return {
            name: json_field
            for name, json_field in json_fields.items()
            if name == "value" or json_field not in _EMPTY_VALUES
        }

    def with_notes(self, *notes: str) -> Explanation:
        """Return a copy of the explanation with further notes."""
        return replace(self, notes=(*self.notes, *notes))

    @property
    def headline(self) -> str:
        """The column, the row and the value as one line of text."""
        cell_label = clipped(self.column) + (
            f", {clipped(key_to_text(self.row))}" if self.row else ""
        )
        if self.value is None and self.missing is None and self.operation in _NO_VALUE_OPERATIONS:
            return cell_label
        unit_note = f" ({self.unit})" if self.unit and self.value is not None else ""
        return f"{cell_label}: {to_text(self.value)}{unit_note}"

    def __repr__(self) -> str:
        return "\n".join(_indent_tree(_build_tree(self, _MAX_CHILDREN_IN_TEXT, {})))

    _repr_pretty_ = print_wrapped

    def _repr_html_(self) -> str:
        tree_html = _tree_to_html(_build_tree(self, _MAX_CHILDREN_IN_HTML, {}), " open")
        return f'<div class="tex2jax_ignore aatoolkit-explanation">{tree_html}</div>'


_EMPTY_VALUES: tuple[Any, ...] = (None, [], {})
# Explanations by these operations have no value of their own.
_NO_VALUE_OPERATIONS = ("path", "column", "rows")


def key_to_text(row: Mapping[str, Any]) -> str:
    """Return the key of a row as text, such as ``brand = Acme``."""
    return ", ".join(f"{name} = {to_text(value)}" for name, value in row.items())


def _to_json(value: Any) -> Any:
    """Convert a field of an explanation, such as its children, to a JSON value."""
    if isinstance(value, Explanation):
        return value.to_dict()
    if isinstance(value, tuple):
        return [_to_json(field_value) for field_value in value]
    if isinstance(value, MissingRows | Source | ValuePlace | StatedAvailability):
        return {
            name: field_value
            for name, field_value in asdict(value).items()
            if field_value is not None
        }
    return to_json_value(value)


ExplanationTree = tuple[str, list[str], list[Any]]
"""The first line of an explanation, its further lines, and the trees of its children."""


def _build_tree(
    explanation: Explanation,
    max_children: int,
    written_lines: dict[str, Any],
    parent: Explanation | None = None,
) -> ExplanationTree:
    """Return an explanation as a tree of text lines.

    Lines in ``written_lines`` were written before and are not repeated. Of each number, at most
    ``max_children`` of the numbers that it was computed from are listed.
    """
    detail_lines = [*describe_explanation(explanation, written_lines, parent)]
    child_trees = [
        _build_tree(child, max_children, written_lines, explanation)
        for child in explanation.children[:max_children]
    ]
    if len(explanation.children) > max_children:
        child_trees.append((f"… {len(explanation.children) - max_children:,} more", [], []))
    return explanation.headline, detail_lines, child_trees


def describe_explanation(
    explanation: Explanation, written_lines: dict[str, Any], parent: Explanation | None
) -> Iterator[str]:
    """Yield lines of text about an explained number, without the numbers it was computed from.

    Lines in ``written_lines`` were written before and are not repeated. ``parent`` explains the
    number that was computed from this one.
    """
    if (
        explanation.meaning
        and written_lines.setdefault(explanation.meaning, explanation) is explanation
    ):
        yield clipped(explanation.meaning)
    if explanation.formula:
        yield f"= {clipped(explanation.formula)}"
    if explanation.missing:
        yield f"missing: {clipped(drop_inner_stops(explanation.missing))}"
    availability = explanation.availability
    if (
        availability
        and availability not in (explanation.missing or "")
        and not (parent and parent.availability == availability)
    ):
        yield clipped(drop_inner_stops(availability))
    # For a missing value, the statements that it was not measured come first.
    for statement in sorted(
        explanation.statements,
        key=lambda statement: bool(explanation.missing) and statement.status == "available",
    ):
        if written_lines.setdefault(str(statement), explanation) is explanation:
            yield f"stated: {statement}"
    if explanation.place is not None:
        yield clipped(str(explanation.place))
    if explanation.response is not None and written_lines.get("") != explanation.response:
        written_lines[""] = explanation.response
        yield str(explanation.response)
    yield from map(clipped, explanation.notes)
    for cause in explanation.causes:
        example_text = f", such as {clipped(key_to_text(cause.first))}" if cause.first else ""
        predicate = (
            "are missing for the same reason"
            if cause.why == explanation.missing
            else f"are missing: {cause.why}"
        )
        yield clipped(f"{cause.rows:,} of them {predicate}{example_text}")
    if explanation.end:
        yield f"the trail ends here: {clipped(explanation.end)}"


def _indent_tree(tree: ExplanationTree, indent: str = "") -> Iterator[str]:
    """Yield the lines of a tree as text; children are indented below their parent."""
    headline, detail_lines, child_trees = tree
    yield indent + headline
    yield from (f"{indent}  {line}" for line in detail_lines)
    for child_tree in child_trees:
        yield from _indent_tree(child_tree, indent + "  ")


def _tree_to_html(tree: ExplanationTree, details_attribute: str = "") -> str:
    """Convert a tree to HTML with foldable branches; ``details_attribute`` is for the outermost."""
    headline, detail_lines, child_trees = tree
    if not detail_lines and not child_trees:
        return markup(headline)
    items_html = "".join(
        f"<li>{item_html}</li>"
        for item_html in (*map(markup, detail_lines), *map(_tree_to_html, child_trees))
    )
    summary_html = f"<summary>{markup(headline)}</summary>"
    return f"<details{details_attribute}>{summary_html}\n<ul>{items_html}</ul></details>"
