"""Detect long tables: one row per metric, each with a unit of its own."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from aatoolkit.sections.inference.readings import FieldReading
from aatoolkit.sections.inference.relations import Relation
from aatoolkit.sections.inference.rules import Evidence
from aatoolkit.sections.inference.units import find_unit, unit_of_word
from aatoolkit.sections.inference.vocabulary import words_of
from aatoolkit.sections.inference.words import PARTICIPLES, is_measure_name, tokens

_MOST = 60
_METRIC_WORDS = words_of("metric measure kpi indicator statistic variable")
_UNIT_NAMES = ("unit", "units", "format", "value_type", "type")


_VALUES = words_of(
    """
    value values val amount number result reading measurement observation data n y count total
    now current latest before after previous prev prior baseline start end min max mean avg low
    high lower upper delta change diff control treated
    """
)


def is_value_name(name: str) -> bool:
    """Whether a name, such as ``value``, is only meaningful beside a metric's name.

    Examples
    --------
    >>> is_value_name("value"), is_value_name("prev_value"), is_value_name("score")
    (True, True, False)
    """
    return set(tokens(name)) <= _VALUES


def units_by_metric(
    relation: Relation, readings: Mapping[str, FieldReading]
) -> tuple[str, dict[str, str]]:
    """The column that names the metric of each row, and the unit of each metric.

    Returns
    -------
    str
        The column; empty where rows are no metrics.
    dict of str to str
        The unit of each metric that has one.
    """
    for column in relation.columns:
        reading = readings[column.name]
        if reading.dtype != "string" or reading.parse is not None:
            continue
        words = list(dict.fromkeys(one for one in column.values if isinstance(one, str)))
        if not 3 <= len(words) <= _MOST or column.name in ("unit", "units", "type"):
            continue
        named = bool(_METRIC_WORDS & set(tokens(column.name)))
        if not named and (column.name not in relation.key or set(words) & PARTICIPLES):
            continue
        values = (one for one in relation.columns if readings[one.name].is_number)
        if not named and not any(is_value_name(one.name) for one in values):
            # What only reads like a metric is a title where the numbers have names of their own.
            continue
        if sum(map(is_measure_name, words)) >= (0.3 if named else 0.6) * len(words):
            return column.name, _units(relation, readings, column.name, words)
    return "", {}


def _units(
    relation: Relation, readings: Mapping[str, FieldReading], metric: str, words: list[str]
) -> dict[str, str]:
    named = next((one for one in relation.columns if one.name in _UNIT_NAMES), None)
    values = [
        one
        for one in relation.columns
        if readings[one.name].is_number and one.name not in (metric,) and not one.label
    ]
    found: dict[str, str] = {}
    labels = np.array([str(one) for one in relation[metric].values], dtype=object)
    for word in words:
        rows = np.flatnonzero(labels == word)
        unit_word = unit_of_word(named.values[int(rows[0])]) if named is not None else None
        if unit_word is None and values:
            reading = readings[values[0].name]
            part = FieldReading(
                reading.dtype, percent=reading.percent, decimals=4, numbers=reading.numbers[rows]
            )
            unit, scale = find_unit(word, word, part, Evidence())
            unit_word = "percent 0-100" if scale == 0.01 and unit.value else unit.value
        if unit_word is not None:
            found[word] = unit_word
    return found
