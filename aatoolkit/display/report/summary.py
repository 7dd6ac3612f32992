"""The opening of a report: key figures as cards, what changed, and what cannot be said."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from aatoolkit._util.numbers import number, p_value, points, signed
from aatoolkit._util.text import visible
from aatoolkit.display.plot.data import Numbers, PlotData, plot_data
from aatoolkit.display.plot.labels import capitalized, humanize
from aatoolkit.display.report.grid import element, fold, text
from aatoolkit.display.report.outline import chapter_of, in_reading_order
from aatoolkit.display.report.wording import plain, state_words
from aatoolkit.errors import AAToolkitError
from aatoolkit.sections.aggregation import FRACTION, RANK

if TYPE_CHECKING:
    from aatoolkit.client.dataset import Dataset

_SUBJECTS = {"key figure": "", "all prompts": " over all prompts"}
_WIDE, _HIGH = 120, 28
"""The size of a line on a card."""

Row = Mapping[Any, Any]
Figure = Callable[[str, str, str], str]
"""From the table of key figures, a column and a metric to the anchor of that number's evidence."""


def summary(dataset: Dataset, before: Dataset | None, figure: Figure) -> str:
    """The opening of the page; what a service does not give is said to be lacking.

    Parameters
    ----------
    dataset : Dataset
        The sections.
    before : Dataset, optional
        An earlier dataset to compare with.
    figure : callable
        Gives the anchor of the evidence of a key figure, or an empty text.
    """
    rows: list[Row] = []
    methods: list[str] = []
    lacking = ""
    try:
        result = dataset.compare(before)
        rows = [*result.to_dict("records")]
        methods = [str(method) for method in result["method"].dropna().unique() if method]
    except AAToolkitError as error:
        lacking = element("p", f"What changed cannot be said: {text(plain(str(error)), 400)}")
    since = "the earlier dataset" if before else "the window before"
    evidence: list[str] = []
    changed, unshown = (
        [_linked(row, evidence) for verdict in verdicts for row in rows
         if row["verdict"] == verdict]
        for verdicts in (("up", "down"), ("no evidence",))
    )  # fmt: skip
    head = f"Whether anything changed since {since} cannot be said." if rows else ""
    if unshown:
        head = f"Nothing is shown to have changed since {since}; what is seen may be chance."
    head = f"Shown to have changed since {since}:" if changed else head
    untested: dict[str, list[str]] = {}
    for row in rows:
        if row["verdict"] == "cannot say":
            untested.setdefault(str(row["why"]), []).append(_name(row))
    failed = [
        f"<b>{text(chapter_of(name).title)}</b> failed: {text(str(error), 400)}"
        for name, error in dataset.errors.items()
    ]
    parts = [
        _cards(dataset, figure, rows),
        element("p", f"<b>{head}</b>") if head else "",
        _list(changed),
        _unsayable([name for names in untested.values() for name in names]),
        lacking,
        _list(failed),
        _fold("Not shown to differ; what is seen may be chance", unshown),
        _fold("Changes that cannot be tested", [
            f"{text(capitalized(', '.join(names)), 400)}: {text(plain(why), 400)}"
            for why, names in untested.items()
        ]),
        _fold("Not measured, or only in part", [*_unmeasured(dataset)]),
        _how(evidence, methods),
    ]  # fmt: skip
    return (
        '<section aria-labelledby="changed"><h2 id="changed">Summary</h2>'
        f"{''.join(parts)}</section>"
    )


def _unsayable(names: Sequence[str]) -> str:
    """One sentence on the changes that cannot be tested; empty without any."""
    listed = [*dict.fromkeys(names)]
    more = f" and {len(listed) - 3} more" if len(listed) > 3 else ""
    words = text(", ".join(listed[:3]) + more, 300)
    return element("p", f"Whether these changed cannot be tested: {words}.") if listed else ""


_VERDICTS = {
    "up": "shown to be up",
    "down": "shown to be down",
    "no evidence": "may be chance",
    "cannot say": "cannot be tested",
}


def _verdict(rows: Sequence[Row], column: str) -> str:
    """The verdict on the change of a key figure in words; empty where it was not compared."""
    for row in rows:
        is_whole = row["subject"] in _SUBJECTS or column == "share_of_voice"
        if row["measure"] == column and is_whole:
            return _VERDICTS.get(str(row["verdict"]), "")
    return ""


def _cards(dataset: Dataset, figure: Figure, rows: Sequence[Row]) -> str:
    """The key figures, each with its value, its change, its course and the verdict on it."""
    data, name = _figures(dataset)
    if data is None:
        return element("p", "The service gives no key figures.", "note")
    before = data.values("previous_value") if "previous_value" in data.numbers else None
    values, units = data.values("value"), data.units("value")
    cards = []
    for row, (metric, label) in enumerate(
        zip(data.text("metric"), data.labels("metric"), strict=True)
    ):
        if np.isnan(values[row]):
            continue
        anchor = figure(name, "value", metric)
        value = text(number(float(values[row]), units[row]))
        shown = f'<a href="#{anchor}">{value}</a>' if anchor else value
        moved = float(values[row] - before[row]) if before is not None else np.nan
        lower = " (lower is better)" if units[row] == RANK else ""
        verdict = _verdict(rows, label.replace(" ", "_"))
        change = "" if np.isnan(moved) else f"{signed(moved, units[row])} since the window before"
        change += f": {verdict}" if change and verdict else ""
        cards.append(
            element("dt", text(capitalized(label) + lower))
            + element("dd", shown + _spark(data.course(label)) + element("small", text(change)))
        )
    listed = "".join(f"<div>{card}</div>" for card in cards)
    return element("dl", listed, "cards") if cards else ""


def _figures(dataset: Dataset) -> tuple[PlotData | None, str]:
    """The table of key figures: a row for each metric, with its value."""
    for section in in_reading_order(dataset):
        for name, frame in dataset[section].items():
            if {"metric", "value"} <= {*map(str, frame.columns)} and len(frame):
                data = plot_data(frame, traced=False)
                is_alone = len({*data.text("metric")}) == len(data) and len(data.keys) == 1
                if data.kinds["value"] == "number" and is_alone:
                    return data, name
    return None, ""


def _spark(values: Numbers) -> str:
    """A line of a few numbers, which breaks where there is none."""
    if (~np.isnan(values)).sum() < 2:
        return ""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    steps = np.linspace(2, _WIDE - 2, len(values))
    heights = 2 + (_HIGH - 4) * (1 - (values - low) / ((high - low) or 1.0))
    pieces, pen = [], "M"
    for x, y in zip(steps, heights, strict=True):
        pieces.append("" if np.isnan(y) else f"{pen}{x:.0f} {y:.0f}")
        pen = "M" if np.isnan(y) else "L"
    path = f'<path d="{"".join(pieces)}" fill="none" stroke="var(--link)" stroke-width="1.5"/>'
    return f'<svg viewBox="0 0 {_WIDE} {_HIGH}" aria-hidden="true">{path}</svg>'


def _unmeasured(dataset: Dataset) -> Iterator[str]:
    """Yield what was not wholly measured, each reason once."""
    reasons: dict[str, dict[str, None]] = {}
    for name in in_reading_order(dataset):
        tables = dataset[name]
        for table in tables:
            words = tables._shown(table)
            if not words.startswith("●"):
                reasons.setdefault(words, {})[chapter_of(name).title] = None
    for words, titles in reasons.items():
        named = text(", ".join(titles), 300)
        yield f"{text(state_words(words), 300)} <small>{named}</small>"


def _list(items: Sequence[str]) -> str:
    return element("ul", "".join(f"<li>{item}</li>" for item in items)) if items else ""


def _fold(head: str, items: Sequence[str]) -> str:
    """A folded list under what it is and how long it is."""
    return fold(f"{head} ({len(items)})", _list(items)) if items else ""


def _linked(row: Row, evidence: list[str]) -> str:
    """A change in words, with a link to how it was computed."""
    anchor, unit = f"c{len(evidence) + 1}", None if pd.isna(row.get("unit")) else str(row["unit"])
    name = text(capitalized(_name(row)), 200)
    evidence.append(
        f'<li id="{anchor}"><b>{name}</b>: {_numbers(row)} '
        f"{text(plain(str(row['why'])).rstrip('. '), 600)}.</li>"
    )

    def written(value: Any) -> str:
        return points(float(value)) if unit == FRACTION else signed(float(value), unit)

    moved = " to ".join(number(float(row[side]), unit, exact=True) for side in ("before", "after"))
    around = f"{written(row['change'])}, likely between {written(row['low'])} and "
    around += written(row["high"])
    if row["verdict"] == "no evidence" and not pd.isna(row["detectable"]):
        least = written(row["detectable"]).lstrip("+")
        around += f"; a change of {least} or more would likely have shown"
    return f'{name} <a href="#{anchor}">{text(moved)}</a>: {text(around, 200)}'


def _numbers(row: Row) -> str:
    parts = [
        f"{word} {float(row[side]):.6g}"
        + ("" if pd.isna(row[count]) else f" of n = {row[count]:,.0f}")
        for word, side, count in (("before", "before", "n_before"), ("now", "after", "n"))
        if not pd.isna(row[side])
    ]
    for word, name in (("", "p"), ("adjusted ", "p_adjusted")):
        if not pd.isna(row[name]):
            parts.append(word + p_value(float(row[name])))
    return text(", ".join(parts) + ".", 400)


def _how(evidence: Sequence[str], methods: Sequence[str]) -> str:
    if not evidence:
        return ""
    note = (
        "Shown: adjusted p-value below 5%; when nothing changes, up to one page in twenty still "
        "names something. Intervals are of 95%, each for its row alone. "
        + " ".join(f"{capitalized(plain(method))}." for method in methods)
    )
    inside = element("p", text(note, 900), "note") + element("ul", "".join(evidence))
    return fold("How these changes were computed", inside, "why")


def _name(row: Row) -> str:
    subject, name = str(row["subject"]), row["name"]
    named = "" if name is None or pd.isna(name) else str(name)
    if subject == "key figure":
        return humanize(named or str(row["measure"]))
    ending = f" of {visible(named)}" if named else _SUBJECTS.get(subject, "")
    return humanize(str(row["measure"])) + ending
