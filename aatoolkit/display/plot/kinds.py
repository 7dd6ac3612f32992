"""What a column holds: numbers, times, flags, lists or words; and units by the name of a metric."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd
import pyarrow as pa

from aatoolkit.sections.aggregation import COUNT, FRACTION, RANK, SCORE

_UNITS = {
    "fraction": FRACTION,
    "rate": FRACTION,
    "share": FRACTION,
    "voice": FRACTION,
    "score": SCORE,
    "rank": RANK,
    "position": RANK,
    "count": COUNT,
}
"""Units by name, and by the last word of metric names."""


def unit_of_metric(word: str) -> str | None:
    """The unit of a metric name such as ``mentionRate``, or of ``fraction`` itself."""
    return _UNITS.get(re.split(r"_|(?=[A-Z])", word)[-1].lower())


def metric_words(word: str) -> str:
    """A metric's name such as ``mentionRate`` in words; other texts as they are."""
    if not word.isidentifier():
        return word
    return re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", word).lower()


def _is_list(value: object) -> bool:
    return isinstance(value, tuple) or not pd.api.types.is_hashable(value)


def kind_of(values: pd.Series) -> str:
    """What a column holds: ``number``, ``time``, ``flag``, ``list`` or ``word``."""
    dtype: Any = values.dtype
    if pd.api.types.is_object_dtype(dtype) and values.map(_is_list).any():
        return "list"
    if isinstance(dtype, pd.ArrowDtype):
        arrow = dtype.pyarrow_dtype
        if pa.types.is_list(arrow) or pa.types.is_large_list(arrow) or pa.types.is_struct(arrow):
            return "list"
        if pa.types.is_date(arrow) or pa.types.is_timestamp(arrow):
            return "time"
    if pd.api.types.is_bool_dtype(dtype):
        return "flag"
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return "time"
    is_number = pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_complex_dtype(dtype)
    return "number" if is_number else "word"
