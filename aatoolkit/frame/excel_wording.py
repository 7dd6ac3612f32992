"""How workbooks for readers say things: headers in plain words, notes, formats, the first sheet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import pandas as pd

from aatoolkit._util.text import visible
from aatoolkit.frame.row_units import row_units
from aatoolkit.metadata.arrow_schema import declared
from aatoolkit.metadata.attrs import NOTHING, Source, metadata_of
from aatoolkit.sections.aggregation import (
    FRACTION,
    FRACTION_CHANGE,
    PER_UNIT,
    PROBABILITY,
    SCORE,
)

_FORMATS = {
    FRACTION: "0.0%",
    "fraction": "0.0%",
    FRACTION_CHANGE: "+0.0%;-0.0%;0.0%",
    PROBABILITY: "0.000",
    SCORE: "0.0",
    "score": "0.0",
}
"""How numbers of a unit are shown; the cell holds all of their digits."""

_WHOLE, _BROKEN = "#,##0", "#,##0.00##"
_INITIALS = {"url": "URL", "urls": "URLs", "id": "ID", "http": "HTTP", "ai": "AI", "ttfb": "TTFB"}

_LEGEND = (
    "How to read it",
    "An empty cell is no 0: the value was not measured, does not apply, or is not there. "
    "A 0 was measured.",
    "available: everything was measured.",
    "partial: a part could not be measured; the note at the column's header says why.",
    "unavailable: nothing could be measured; the note at the column's header says why.",
    "not applicable: there is nothing to measure.",
    "unknown, nothing is said: the service does not say whether it was measured.",
    "Rates and shares are shown in per cent, other numbers rounded; each cell holds all digits.",
    "The note at a header has the column's name in the data, its unit, meaning and status. "
    "The sheet tables lists the sheets, and columns all columns.",
)


def plain_names(frame: pd.DataFrame) -> dict[str, str]:
    """Return headers in plain words for the declared columns, by name; each header is one column's.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> plain_names(aa.demo().read("urls").main)["url"]
    'URL'
    """
    known = metadata_of(frame).columns
    names = [str(name) for name in frame.columns]
    plain = {
        name: _in_words(name) if declared(known.get(name, NOTHING)) else name for name in names
    }
    often = Counter(header.casefold() for header in plain.values())
    return {
        name: header if often[header.casefold()] == 1 else name for name, header in plain.items()
    }


def _in_words(name: str) -> str:
    words = [_INITIALS.get(word, word) for word in name.split("_")]
    text = " ".join(words)
    return text[:1].upper() + text[1:]


def header_notes(frame: pd.DataFrame) -> dict[str, str]:
    """Return what the note at the header of each declared column says."""
    notes = {}
    for name, column in metadata_of(frame).columns.items():
        what = declared(column)
        if what is not None:
            unit = f"unit: {what.unit}" if what.unit else ""
            lines = (name, what.doc or "", unit, str(column.availability))
            notes[name] = "\n".join(visible(line) for line in lines if line)
    return notes


def number_formats(frame: pd.DataFrame) -> list[list[str | None]]:
    """Return how the cells of each column are shown; empty for columns without numbers."""
    known = metadata_of(frame)
    found: list[list[str | None]] = []
    for name in frame.columns:
        values = frame[name]
        numeric = pd.api.types.is_numeric_dtype(values.dtype)
        if not numeric or pd.api.types.is_bool_dtype(values.dtype):
            found.append([])
            continue
        what = declared(known.columns.get(str(name), NOTHING))
        unit = what.unit if what is not None else None
        units: Iterable[str | None] = [unit] * len(frame)
        own = row_units(frame, known, str(name))
        if own is not None:
            units = [None if pd.isna(each) else str(each) for each in own]
        elif unit == PER_UNIT and "unit" in frame.columns:
            units = [None if pd.isna(each) else str(each) for each in frame["unit"]]
        default = _default(values, is_declared=what is not None)
        usual = [default] * len(frame)
        if unit == PER_UNIT:  # a count of one row is whole, whatever the others are
            usual = [_default(values.iloc[[at]], is_declared=True) for at in range(len(frame))]
        pairs = zip(units, usual, strict=True)
        found.append([_FORMATS.get(unit or "", shown) for unit, shown in pairs])
    return found


def _default(values: pd.Series, is_declared: bool) -> str | None:
    if not is_declared:
        return None
    there = values.dropna()
    return _WHOLE if (there % 1 == 0).all() else _BROKEN


def about_lines(sources: Sequence[Source]) -> list[str]:
    """Return the lines of the first sheet: what the workbook holds, and how it is read."""
    lines = ["What AI answer engines cite, mention and show: tables of Agent Analytics"]
    for source in sources:
        facts = [source.host, source.section, source.scope]
        window = f"{source.window_start} to {source.window_end}" if source.window_start else None
        fetched = f"fetched {source.fetched_at}" if source.fetched_at else None
        known = [str(fact) for fact in (*facts, window, fetched) if fact]
        if known:
            lines.append(", ".join(known))
    return [*lines, "", *_LEGEND]
