"""What is shown to have changed since the window before, in a few sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from aatoolkit._util.text import visible
from aatoolkit.display.report.markup import element, text

if TYPE_CHECKING:
    from aatoolkit.client.dataset import Dataset

_MOST = 5
_KIND = {"key figure": "", "all prompts": " over all prompts"}


def changed(dataset: Dataset, before: Dataset | None) -> str:
    """The opening of the page: what is shown, what is not, and what cannot be said."""
    found = dataset.compare(before)
    rows = found.to_dict("records")
    if not before:
        # The key figure says it already.
        rows = [row for row in rows if not _is_repeated(row, rows)]
    sure = [row for row in rows if row["verdict"] in ("up", "down")]
    unsure = [row for row in rows if row["verdict"] == "no evidence"]
    unknown = [row for row in rows if row["verdict"] == "cannot say"]
    since = "the earlier dataset" if before else "the window before"
    shown = [
        f"Shown to have changed since {since}: {_listed(sure, _moved)}."
        if sure
        else f"Nothing is shown to have changed since {since}.",
    ]
    if unsure:
        shown.append(f"Not shown to differ: {_listed(unsure, _unmoved)}.")
    if unknown:
        shown.append(f"Cannot be said: {_listed(unknown, _undecided)}.")
    methods = [method for method in found["method"].dropna().unique() if method]
    note = (
        "Shown: adjusted p-value below 5 %; when nothing changes, up to one page in twenty still "
        "names something. Intervals are of 95 %, each for its row alone."
    )
    if methods:
        note += f" {methods[0][0].upper()}{methods[0][1:]}."
    return (
        '<section aria-labelledby="changed"><h2 id="changed">What is shown to have changed</h2>'
        + "".join(element("p", text(sentence, 1200), "lead") for sentence in shown)
        + element("p", text(note, 600), "note")
        + "</section>"
    )


def _is_repeated(row: dict[Any, Any], rows: list[dict[Any, Any]]) -> bool:
    figures = [each for each in rows if each["name"] == "mentionRate"]
    return bool(
        figures
        and row["subject"] == "brand"
        and not pd.isna(row["after"])
        and row["after"] == figures[0]["after"]
        and row["before"] == figures[0]["before"]
    )


def _listed(rows: list[dict[Any, Any]], words: Any) -> str:
    listed = [words(row) for row in rows[:_MOST]]
    more = len(rows) - len(listed)
    return "; ".join(listed) + (f"; and {more} more" if more > 0 else "")


def _name(row: dict[Any, Any]) -> str:
    subject, name = str(row["subject"]), row["name"]
    named = "" if name is None or pd.isna(name) else str(name)
    if subject == "key figure":
        return _spaced(named)
    return _spaced(str(row["measure"])) + (
        f" of {visible(named)}" if named else _KIND.get(subject, "")
    )


def _spaced(name: str) -> str:
    words = "".join(f" {char.lower()}" if char.isupper() else char for char in name)
    return words.replace("_", " ").strip()


def _is_rate(row: dict[Any, Any]) -> bool:
    return str(row["measure"]) in ("mention_rate", "mentionRate", "shareOfVoice", "citationShare")


def _value(value: float, is_rate: bool) -> str:
    return f"{100 * value:.1f} %" if is_rate else f"{value:.2f}"


def _change(value: float, is_rate: bool) -> str:
    return f"{100 * value:+.1f}" if is_rate else f"{value:+.2f}"


def _moved(row: dict[Any, Any]) -> str:
    is_rate = _is_rate(row)
    ends = f"{_change(row['low'], is_rate)} to {_change(row['high'], is_rate)}"
    unit = " points" if is_rate else ""
    return (
        f"{_name(row)} {_value(row['before'], is_rate)} to {_value(row['after'], is_rate)} "
        f"({_change(row['change'], is_rate)}{unit}, interval {ends}, n = {_whole(row['n'])})"
    )


def _unmoved(row: dict[Any, Any]) -> str:
    is_rate = _is_rate(row)
    least = _change(row["detectable"], is_rate).lstrip("+")
    return f"{_moved(row)[:-1]}; a change of {least} would likely have shown)"


def _undecided(row: dict[Any, Any]) -> str:
    return f"{_name(row)} ({row['why']})"


def _whole(value: object) -> str:
    return "unknown" if value is None or value is pd.NA else f"{float(value):,.0f}"  # type: ignore[arg-type]
