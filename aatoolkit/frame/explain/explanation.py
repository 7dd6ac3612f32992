"""`Explanation`: a tree from a number to the values of answers that it was computed from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from aatoolkit._util.terminal import wrapped_in_ipython
from aatoolkit.frame.explain.html import page_part
from aatoolkit.frame.explain.text import plain, tree


@dataclass(frozen=True)
class CitedAnswer:
    """An answer that a number rests on.

    Parameters
    ----------
    host, section, scope, url, fetched_at, sha256, stale, window_start, window_end
        As in ``df.aa.sources``; ``scope`` holds the filters, as a query.
    status : int, optional
        The HTTP status it came with; None where the answer is not at hand.
    found_in : str, optional
        Where its bytes were found; None where they were not.
    checked : bool
        Whether its bytes were hashed now and have this SHA-256.
    """

    host: str | None = None
    section: str | None = None
    scope: str | None = None
    url: str | None = None
    fetched_at: str | None = None
    sha256: str | None = None
    stale: bool = False
    window_start: str | None = None
    window_end: str | None = None
    status: int | None = None
    found_in: str | None = None
    checked: bool = False


@dataclass(frozen=True)
class ValuePlace:
    """The place of a value in an answer: its path and bytes.

    Parameters
    ----------
    path : str
        Its JSON path; that of a key ends in ``~``.
    start, end : int, optional
        Its first byte and the one after its last, counted from 0: ``body[start:end]``. None where
        the path is not in the answer, or its bytes are not at hand.
    text : str, optional
        The value as it is spelled there.
    """

    path: str
    start: int | None = None
    end: int | None = None
    text: str | None = None


@dataclass(frozen=True)
class StatedAvailability:
    """A statement of an answer about the availability of a value.

    Parameters
    ----------
    status, cause, reason
        As in `Availability`.
    target, rows : str, optional
        What it is about, and which rows.
    evidence, rule, raw : str, optional
        The JSON path of the evidence, the rule that read it, and the evidence itself as JSON text.
    sample_size : int, optional
        The observations behind it.
    as_of : str, optional
        The moment up to which it is complete.
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


@dataclass(frozen=True)
class MissingRows:
    """The number of rows of a column that have no value for one reason.

    Parameters
    ----------
    rows : int
        How many.
    why : str
        The reason.
    first : mapping of str to object
        What identifies the first of them.
    """

    rows: int
    why: str
    first: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, repr=False)
class Explanation:
    """The explanation of one number: a tree whose leaves are values in answers.

    It prints as an indented tree; in a notebook its branches fold.

    Parameters
    ----------
    value : object
        The value; None where it is missing.
    column : str
        Its column, or what it is a part of.
    row : mapping of str to object
        What identifies its row.
    unit, meaning : str, optional
        What it is, in words.
    operation : str, optional
        What made it: ``read``, or a verb such as ``aggregate``.
    formula : str, optional
        How it was computed, with the numbers in it.
    rows : int, optional
        How many rows it was made of.
    place : ValuePlace, optional
        Where in its answer it is.
    answer : CitedAnswer, optional
        The answer that holds it.
    availability : str, optional
        Whether it could be measured.
    statements : tuple of StatedAvailability
        What the answer states about its availability, with the evidence.
    missing : str, optional
        Why there is no value; None where there is one.
    causes : tuple of MissingRows
        Where no row was named: how many values of the column are missing, by reason.
    notes : tuple of str
        What else there is to know, such as what a row was filtered by.
    samples : tuple of mapping
        Sampled answers behind it, one mapping a chat: ``chat_id``, ``prompt``, ``engine`` ….
    samples_note : str, optional
        What the samples are, and which part of all.
    children : tuple of Explanation
        What it was made of.
    end : str, optional
        Why the trail ends here, where it does before the bytes of an answer.

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
      answer of mine, SHA-256 d5e76796fa17 (in memory)
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
    answer: CitedAnswer | None = None
    availability: str | None = None
    statements: tuple[StatedAvailability, ...] = ()
    missing: str | None = None
    causes: tuple[MissingRows, ...] = ()
    notes: tuple[str, ...] = ()
    samples: tuple[Mapping[str, Any], ...] = ()
    samples_note: str | None = None
    children: tuple[Explanation, ...] = ()
    end: str | None = None

    def walk(self) -> Iterator[Explanation]:
        """Yield the explanation and all its parts, each before its own parts."""
        pending = [self]
        while pending:
            one = pending.pop()
            yield one
            pending += reversed(one.children)

    @property
    def sources(self) -> tuple[CitedAnswer, ...]:
        """The answers that the number rests on, each once."""
        found = (one.answer for one in self.walk())
        return tuple(dict.fromkeys(answer for answer in found if answer is not None))

    @property
    def ends(self) -> tuple[str, ...]:
        """The reasons why the trail ends before the bytes of an answer, each once."""
        return tuple(dict.fromkeys(one.end for one in self.walk() if one.end))

    @property
    def is_complete(self) -> bool:
        """Whether every part was traced to the bytes of an answer."""
        return not self.ends

    def to_dict(self) -> dict[str, Any]:
        """Convert to JSON values; what is empty is left out.

        Examples
        --------
        >>> Explanation(3, "n", end="a plain pandas step").to_dict()
        {'value': 3, 'column': 'n', 'end': 'a plain pandas step'}
        """
        found: dict[str, Any] = {"value": plain(self.value), "column": self.column}
        for name in ("unit", "meaning", "operation", "formula", "rows", "availability"):
            found[name] = getattr(self, name)
        found["row"] = {str(name): plain(value) for name, value in self.row.items()}
        for name in ("place", "answer"):
            part = getattr(self, name)
            found[name] = part and {k: v for k, v in asdict(part).items() if v is not None}
        found["statements"] = [
            {k: v for k, v in asdict(each).items() if v is not None} for each in self.statements
        ]
        found |= {"missing": self.missing, "notes": [*self.notes], "end": self.end}
        found["causes"] = [
            {"rows": each.rows, "why": each.why, "first": dict(each.first)} for each in self.causes
        ]
        found["samples"] = [
            {str(name): plain(value) for name, value in each.items()} for each in self.samples
        ]
        found["samples_note"] = self.samples_note
        found["children"] = [each.to_dict() for each in self.children]
        return {
            name: part
            for name, part in found.items()
            if name == "value" or (part is not None and part not in ([], {}))
        }

    def with_notes(self, *notes: str) -> Explanation:
        """Return the explanation with further notes."""
        return replace(self, notes=(*self.notes, *notes))

    def __repr__(self) -> str:
        return tree(self)

    _repr_pretty_ = wrapped_in_ipython

    def _repr_html_(self) -> str:
        return page_part(self)
