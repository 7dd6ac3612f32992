"""The summary of a report in sentences: key figures, changes, and what is not known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from aatoolkit._util.numbers import number as format_number
from aatoolkit._util.text import visible
from aatoolkit.display.plot.data import plot_data
from aatoolkit.display.plot.labels import capitalized, humanize
from aatoolkit.display.report.markup import element, text
from aatoolkit.display.report.outline import chapter_of, in_reading_order
from aatoolkit.display.report.wording import plain, state_words
from aatoolkit.sections.aggregation import FRACTION

if TYPE_CHECKING:
    from aatoolkit.client.dataset import Dataset

_MOST = 5
_KIND = {"key figure": "", "all prompts": " over all prompts"}
_RATES = ("mention_rate", "share_of_voice", "citation_share")
_FIGURES = "overview_kpis"

Row = Mapping[Any, Any]


def summary(dataset: Dataset, before: Dataset | None, figure: Callable[[str, str], str]) -> str:
    """The opening of the page.

    Parameters
    ----------
    dataset
        The sections.
    before
        An earlier dataset to compare with.
    figure
        Gives for a metric and a column of its key figure the anchor of that number's evidence, or
        an empty text.
    """
    found = dataset.compare(before)
    rows: list[Row] = [*found.to_dict("records")]
    since = "the earlier dataset" if before else "the window before"
    evidence: list[str] = []
    parts = [
        _now(dataset, figure),
        *_changed([row for row in rows if row["verdict"] in ("up", "down")], since, evidence),
        *_unshown([row for row in rows if row["verdict"] == "no evidence"], evidence),
        *_unsaid([row for row in rows if row["verdict"] == "cannot say"]),
        *_unmeasured(dataset),
        _how(evidence, [str(method) for method in found["method"].dropna().unique() if method]),
    ]
    return (
        '<section aria-labelledby="changed"><h2 id="changed">Summary</h2>'
        + "".join(part for part in parts if part)
        + "</section>"
    )


def _now(dataset: Dataset, figure: Callable[[str, str], str]) -> str:
    """One sentence with the key figures of this window."""
    if "overview" not in dataset or _FIGURES not in dataset["overview"]:
        return ""
    data = plot_data(dataset["overview"][_FIGURES], traced=False)
    if not {"metric", "value"} <= {*data.kinds} or data.kinds["value"] != "number":
        return ""
    values = data.values("value")
    parts = []
    for at, (metric, value, unit) in enumerate(
        zip(data.text("metric"), values, data.units("value"), strict=True)
    ):
        if pd.isna(value):
            continue
        shown = _leading(format_number(float(value), unit), figure(metric, "value"))
        of = _parts(data.frame, at, unit, partial(figure, metric))
        parts.append(f"{text(humanize(metric))} {shown}{of}")
    return element("p", f"In this window: {'; '.join(parts)}.", "lead") if parts else ""


def _parts(frame: pd.DataFrame, at: int, unit: str | None, anchor: Callable[[str], str]) -> str:
    """Write the counts of a rate or a mean, each with a link to its evidence."""
    names = ("numerator", "denominator")
    parts = [frame[name].iloc[at] for name in names if name in frame]
    if len(parts) < len(names) or any(pd.isna(part) for part in parts):
        return ""
    shown = [
        _leading(f"{part:,.0f}", anchor(name)) for name, part in zip(names, parts, strict=True)
    ]
    return f" ({(' of ' if unit == FRACTION else ' / ').join(shown)})"


def _leading(number: str, anchor: str) -> str:
    return f'<a href="#{anchor}">{text(number)}</a>' if anchor else text(number)


def _changed(rows: list[Row], since: str, evidence: list[str]) -> Iterable[str]:
    if not rows:
        yield element("p", f"<b>Nothing is shown to have changed since {since}.</b>")
        return
    yield element("p", f"<b>Shown to have changed since {since}:</b>")
    yield _list([_linked(row, evidence) for row in rows], 2 * _MOST)


def _unshown(rows: list[Row], evidence: list[str]) -> Iterable[str]:
    if rows:
        yield element("p", "Not shown to differ; what is seen may be chance:")
        yield _list([_linked(row, evidence) for row in rows], _MOST)


def _unsaid(rows: list[Row]) -> Iterable[str]:
    """Yield the changes that cannot be tested, grouped by the reason."""
    if not rows:
        return
    whys = dict.fromkeys(str(row["why"]) for row in rows)
    parts = []
    for why in whys:
        names = ", ".join(_name(row) for row in rows if str(row["why"]) == why)
        parts.append(f"{text(capitalized(names), 400)}: {text(plain(why), 400)}")
    yield element("p", "Whether these changed cannot be said:")
    yield _list(parts, _MOST)


def _unmeasured(dataset: Dataset) -> Iterable[str]:
    """Yield what was not wholly measured, each reason once, and the sections that failed."""
    failed = [
        f"<b>{text(chapter_of(name).title)}</b> failed: {text(str(error), 400)}"
        for name, error in dataset.errors.items()
    ]
    reasons: dict[str, dict[str, None]] = {}
    for name in in_reading_order(dataset):
        tables = dataset[name]
        for table in tables:
            words = tables.shown(table)
            if not words.startswith("●"):
                reasons.setdefault(words, {})[chapter_of(name).title] = None
    parts = [
        f"{text(state_words(words), 300)} <small>{text(', '.join(titles), 300)}</small>"
        for words, titles in reasons.items()
    ]
    if parts or failed:
        yield element(
            "p",
            'Not measured, or only in part (<a href="#measured">table by table</a>). '
            "A dash is a missing value, never a zero.",
        )
        yield _list([*failed, *parts], len(failed) + _MOST)


def _list(items: list[str], most: int) -> str:
    """A list of HTML; what is beyond the most is folded."""
    shown = "".join(f"<li>{item}</li>" for item in items[:most])
    rest = "".join(f"<li>{item}</li>" for item in items[most:])
    if not rest:
        return f"<ul>{shown}</ul>"
    more = f"<summary>and {len(items) - most:,} more</summary><ul>{rest}</ul>"
    return f'<ul>{shown}</ul><details class="rest">{more}</details>'


def _linked(row: Row, evidence: list[str]) -> str:
    """A change in words, with a link to how it was computed."""
    anchor = f"c{len(evidence) + 1}"
    evidence.append(
        f'<li id="{anchor}"><b>{text(capitalized(_name(row)))}</b>: {_numbers(row)} '
        f"{text(plain(str(row['why'])).rstrip('. '), 600)}.</li>"
    )
    moved, around = _moved(row)
    return (
        f'{text(capitalized(_name(row)), 200)} <a href="#{anchor}">{text(moved)}</a>: '
        f"{text(around, 200)}"
    )


def _numbers(row: Row) -> str:
    known = [
        ("before", row["before"], "n_before"),
        ("now", row["after"], "n"),
    ]
    parts = [
        f"{word} {float(value):.6g}" + ("" if pd.isna(row[count]) else f" of n = {row[count]:,.0f}")
        for word, value, count in known
        if not pd.isna(value)
    ]
    for word, name in (("p-value", "p"), ("adjusted", "p_adjusted")):
        if not pd.isna(row[name]):
            parts.append(f"{word} {float(row[name]):.3g}")
    return text(", ".join(parts) + ".", 400)


def _how(evidence: list[str], methods: list[str]) -> str:
    if not evidence:
        return ""
    note = (
        "Shown: adjusted p-value below 5%; when nothing changes, up to one page in twenty still "
        "names something. Intervals are of 95%, each for its row alone. "
        + " ".join(f"{capitalized(plain(method))}." for method in methods)
    )
    return (
        '<details class="why"><summary>How these changes were computed</summary>'
        + element("p", text(note, 900), "note")
        + f"<ul>{''.join(evidence)}</ul></details>"
    )


def _name(row: Row) -> str:
    subject, name = str(row["subject"]), row["name"]
    named = "" if name is None or pd.isna(name) else str(name)
    if subject == "key figure":
        return humanize(named)
    return humanize(str(row["measure"])) + (
        f" of {visible(named)}" if named else _KIND.get(subject, "")
    )


def _value(value: float, is_rate: bool) -> str:
    return f"{100 * value:.1f}%" if is_rate else f"{value:.2f}"


def _change(value: float, is_rate: bool) -> str:
    scaled, shown = (100 * value, ".1f") if is_rate else (value, ".2f")
    if value == 0:
        return f"{0:{shown}}"
    rounded = f"{scaled:+{shown}}"
    return rounded if float(rounded) else f"{scaled:+.1g}"


def _moved(row: Row) -> tuple[str, str]:
    """Format the values before and after, and the change with its interval."""
    is_rate = str(row["measure"]) in _RATES
    unit = " points" if is_rate else ""
    low, high, least = (_change(row[name], is_rate) for name in ("low", "high", "detectable"))
    around = f"{_change(row['change'], is_rate)}{unit}, likely between {low} and {high}"
    if row["verdict"] == "no evidence":
        around += f"; a change of {least.lstrip('+')}{unit} or more would likely have shown"
    moved = f"{_value(row['before'], is_rate)} to {_value(row['after'], is_rate)}"
    return moved.replace("-", "−"), around.replace("-", "−")
