"""An explanation as text: an indented tree, and values as they are shown and written."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from aatoolkit._util.text import clipped, joined

if TYPE_CHECKING:
    from aatoolkit.frame.explain.explanation import CitedAnswer, Explanation, StatedAvailability

AVAILABLE = "available"

_SHOWN = 8
"""How many parts of one number a tree shows."""


def plain(value: Any) -> Any:
    """A cell as a JSON value: None where it is missing.

    Examples
    --------
    >>> import pandas as pd
    >>> plain(pd.NA), plain(pd.Timestamp("2026-11-20")), plain([1, None])
    (None, '2026-11-20', [1, None])
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {str(name): plain(each) for name, each in value.items()}
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return None if math.isnan(value) else value if math.isfinite(value) else str(value)
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, datetime):
        is_day = value.tzinfo is None and value.time().isoformat() == "00:00:00"
        return value.date().isoformat() if is_day else value.isoformat()
    return value.isoformat() if isinstance(value, date) else str(value)


def shown(value: Any) -> str:
    """A cell in words.

    Examples
    --------
    >>> shown(None), shown(0.30000000000000004), shown("Acme")
    ('missing', '0.30000000000000004', 'Acme')
    """
    given = plain(value)
    return "missing" if given is None else clipped(str(given))


def sum_in_words(values: list[object]) -> str:
    """Numbers as a sum in words; the middle of a long one is left out.

    Examples
    --------
    >>> sum_in_words([1, 2.5]), sum_in_words([*range(12)])
    ('1 + 2.5', '0 + 1 + 2 + 3 + 4 + 5 + … + 11')
    """
    texts = [shown(value) for value in values]
    if len(texts) > 8:
        texts = [*texts[:6], "…", texts[-1]]
    return " + ".join(texts)


def headline(one: Explanation) -> str:
    """Write the column, the row and the value of an explanation in a line."""
    key = ", ".join(f"{name} = {shown(value)}" for name, value in one.row.items())
    unit = f" ({one.unit})" if one.unit and one.value is not None else ""
    name = f"{clipped(one.column)}{f', {clipped(key)}' if key else ''}"
    if one.value is None and one.missing is None and one.operation in ("path", "column", "rows"):
        return name
    return f"{name}: {shown(one.value)}{unit}"


def answer_line(answer: CitedAnswer) -> str:
    """An answer in one line."""
    facts = [
        f"answer of {answer.section}" if answer.section else "answer",
        answer.host and f"about {answer.host}",
        answer.scope,
        answer.fetched_at and f"fetched {answer.fetched_at}",
        answer.status and f"status {answer.status}",
        "stale" if answer.stale else None,
        answer.sha256 and f"SHA-256 {answer.sha256[:12]}",
    ]
    line = ", ".join(clipped(fact) for fact in facts if fact)
    where = answer.found_in or "not at hand"
    return f"{line} ({'checked, ' if answer.checked else ''}{where})"


def statement_line(stated: StatedAvailability) -> str:
    """A statement in one line, with its evidence."""
    parts = [stated.status, stated.cause and f"({stated.cause.replace('_', ' ')})"]
    words = " ".join(part for part in parts if part)
    about = f" of {stated.target}" if stated.target else ""
    about += f" where {stated.rows}" if stated.rows else ""
    reason = f": {stated.reason.rstrip('.')}" if stated.reason else ""
    evidence = f", by {stated.evidence}" if stated.evidence else ""
    raw = f" = {stated.raw}" if stated.raw else ""
    return clipped(f"{words}{about}{reason}{evidence}{raw}")


@dataclass
class Written:
    """The facts written with earlier numbers, which are not repeated.

    Parameters
    ----------
    lines : set of str
        Meanings and statements.
    answer : CitedAnswer, optional
        The answer that was cited last.
    """

    lines: set[str] = field(default_factory=set)
    answer: CitedAnswer | None = None

    def new(self, line: str) -> Iterator[str]:
        """The line, if it was not written before."""
        if line not in self.lines:
            self.lines.add(line)
            yield line


def facts(one: Explanation, before: Written, above: Explanation | None = None) -> Iterator[str]:
    """Write the facts of one number, a line each, without its parts and what was written before."""
    if one.meaning:
        yield from before.new(clipped(one.meaning))
    if one.formula:
        yield f"= {clipped(one.formula)}"
    if one.missing:
        yield f"missing: {clipped(joined(one.missing))}"
    if (
        one.availability
        and one.availability not in (one.missing or "")
        and (above is None or above.availability != one.availability)
    ):
        yield clipped(joined(one.availability))
    # Of a missing value those count first that say it was not measured.
    stated = sorted(one.statements, key=lambda each: bool(one.missing) and each.status == AVAILABLE)
    for each in stated:
        yield from before.new(f"stated: {statement_line(each)}")
    if one.place is not None:
        place = one.place
        where = "" if place.start is None else f", bytes {place.start} to {place.end}"
        spelled = "" if place.text is None else f": {place.text}"
        yield clipped(f"at {place.path}{where}{spelled}")
    if one.answer is not None and before.answer != one.answer:
        before.answer = one.answer
        yield answer_line(one.answer)
    yield from (clipped(note) for note in one.notes)
    for cause in one.causes:
        first = ", ".join(f"{name} = {shown(value)}" for name, value in cause.first.items())
        where = f", such as {first}" if first else ""
        why = "for this reason" if cause.why == one.missing else f"for another: {cause.why}"
        yield clipped(f"{cause.rows:,} of them {why}{where}")
    if one.samples_note:
        yield clipped(one.samples_note)
    for chat in one.samples[:3]:
        yield "  " + clipped(", ".join(f"{name} {shown(value)}" for name, value in chat.items()))
    if one.end:
        yield f"the trail ends here: {clipped(one.end)}"


def tree(one: Explanation, indent: str = "") -> str:
    """An explanation as an indented tree."""
    return "\n".join(_lines(one, indent, Written()))


def _lines(
    one: Explanation, indent: str, before: Written, above: Explanation | None = None
) -> Iterator[str]:
    yield indent + headline(one)
    inner = indent + "  "
    yield from (inner + fact for fact in facts(one, before, above))
    for child in one.children[:_SHOWN]:
        yield from _lines(child, inner, before, one)
    if len(one.children) > _SHOWN:
        yield f"{inner}… {len(one.children) - _SHOWN:,} more"
