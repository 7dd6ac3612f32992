"""Names, units and values in the words of a reader who knows neither Python nor JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from aatoolkit._util.dtypes import DTYPES
from aatoolkit._util.units import UNITS
from aatoolkit.display.plot.data import PlotData, plot_data
from aatoolkit.display.plot.labels import capitalized, humanize
from aatoolkit.display.plot.style import BLANK
from aatoolkit.jsontree.paths import Field, Position, parse_path

if TYPE_CHECKING:
    from aatoolkit.client.dataset import Dataset

_QUOTED = re.compile(r"`+([^`]*)`+")
_PATH = re.compile(
    r"\$(?:\.\w+|\[\d*\]|\{\})+|\b\w+(?:\.\w+)*(?:\[\d*\]|\{\})(?:\.\w+|\[\d*\]|\{\})*"
)
_DTYPE = re.compile(r"\bFloat64\b|\bInt64\b|\bboolean\b|\blist<string>")
_SNAKE = re.compile(r"(?<!“)\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b")
_TOKEN = re.compile(r"[a-z][a-z0-9]*(?:_[A-Za-z0-9]+)+|[a-z]+[a-z0-9]*(?:[A-Z][a-z0-9]*)+")


def column_title(name: str) -> str:
    """The head of a column.

    Examples
    --------
    >>> column_title("mention_rate"), column_title("action_id"), column_title("url")
    ('Mention rate', 'Action', 'URL')
    """
    return capitalized(humanize(name.removesuffix("_id") or name))


def unit_words(unit: str | None) -> str:
    """A unit in words; empty if the number shows it by itself, or rows differ.

    Examples
    --------
    >>> unit_words("score 0-100"), unit_words("per `unit`"), unit_words("`currency` units")
    ('0 to 100', '', '')
    """
    if unit is None or "`" in unit or "_" in unit or unit == "currency":
        return ""
    words = UNITS[unit].words if unit in UNITS else None
    return unit if words is None else words


def plain(words: str) -> str:
    """Documentation without marks of code and names of columns.

    Examples
    --------
    >>> plain("The action; refers to `impact_actions`.")
    'The action; refers to impact actions.'
    >>> plain("as $.rows[0].hitCount, which is no Int64")
    'as “rows” › entry 1 › “hitCount”, which is no whole number'
    """
    unquoted = _QUOTED.sub(lambda found: humanize(found[1]), words)
    unquoted = _PATH.sub(lambda found: path_words(found[0]), unquoted)
    unquoted = _DTYPE.sub(lambda found: DTYPES[found[0]].words, unquoted)
    return _SNAKE.sub(lambda found: humanize(found[0]), unquoted)


def path_words(path: str) -> str:
    """A place in a response in words: its fields, and which entry of a list.

    Examples
    --------
    >>> path_words("$.brands[0].mentionRate")
    '“brands” › entry 1 › “mentionRate”'
    """
    try:
        steps = parse_path(path.removesuffix("~"))
    except ValueError:
        return path
    words = [
        f"“{step.name}”"
        if isinstance(step, Field)
        else f"entry {step.number + 1}"
        if isinstance(step, Position)
        else "all entries"
        for step in steps
    ]
    return " › ".join(words) or "the whole response"


def value_words(value: str) -> str:
    """Format a value of a fixed set in words; other text stays as it is.

    Examples
    --------
    >>> value_words("not_applicable"), value_words("mentionRate"), value_words("google-ai-overview")
    ('not applicable', 'mention rate', 'google-ai-overview')
    """
    return humanize(value) if _TOKEN.fullmatch(value) else value


_STATES = {
    "available": "Measured",
    "partial": "Measured in part",
    "unavailable": "Not measured",
    "not applicable": "Not applicable",
    "unknown": "Unknown",
}


def state_words(shown: str) -> str:
    """The availability of a table, as ``Tables`` gives it, in plain words.

    Examples
    --------
    >>> state_words("◐ partial: Claude was not asked.")
    '◐ Measured in part: Claude was not asked.'
    """
    mark, _, words = shown.partition(" ")
    status = next((status for status in _STATES if words.startswith(status)), "")
    written = f"{mark} {_STATES.get(status, '')}{words.removeprefix(status)}"
    return plain(written)


class RowNames:
    """The tables of a dataset, and the names of rows that others refer to by an identifier.

    Parameters
    ----------
    dataset : Dataset
        The sections that are at hand.
    """

    def __init__(self, dataset: Dataset) -> None:
        self._names: dict[str, Mapping[str, str]] = {}
        self._data: dict[int, PlotData] = {}
        for tables in dataset.values():
            for frame in tables.values():
                self._learn(frame)

    def data(self, frame: pd.DataFrame) -> PlotData:
        """A frame of the dataset with what is known of it."""
        if id(frame) not in self._data:
            self._data[id(frame)] = plot_data(frame, traced=False)
        return self._data[id(frame)]

    def _learn(self, frame: pd.DataFrame) -> None:
        first = str(frame.columns[0]) if len(frame.columns) else ""
        if not first.endswith("_id") or first in self._names or not len(frame):
            return
        data = self.data(frame)
        label = data.label_column
        if data.keys == [first] and label not in (None, first) and label in _LABELS:
            names = zip(data.text(first), data.text(label), strict=True)
            self._names[first] = {key: name for key, name in names if name != BLANK}

    def texts(self, data: PlotData, column: str) -> list[str]:
        """A column of words as a reader wants them: names for identifiers, words for tokens."""
        values = data.text(column)
        declared = data.column(column)
        is_token = isinstance(data.frame[column].dtype, pd.CategoricalDtype) or (
            declared is not None and declared.dtype == "category"
        )
        if column == "value" and data.kinds.get("kind") == "word":
            return [self._of_any(value) for value in values]
        return [*map(value_words, values)] if is_token else self.words(column, values)

    def words(self, column: str, values: Sequence[str]) -> list[str]:
        """The values of a column in words, judged by the column's name alone."""
        names = self._names.get(column.rpartition("example_")[2], {})
        if column.endswith("_id"):
            return [names.get(value) or value.replace("_", " ") for value in values]
        if column in ("metric", "unit"):
            return [value_words(value) for value in values]
        return [*values]

    def _of_any(self, value: str) -> str:
        return next((names[value] for names in self._names.values() if value in names), value)


_LABELS = ("title", "prompt", "text", "label", "name")
