r"""CSV that is safe to open: no formulas, no control characters, no rounded numbers.

A spreadsheet takes a text such as ``=1+1`` for a formula, and rounds numbers of more than 15
digits. An apostrophe before such a text prevents both. Control characters are written as
``\uXXXX``.
"""

from __future__ import annotations

import csv
import json
import re
from datetime import timedelta
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit._util.text import escape_text

# Matches texts that a spreadsheet takes for a formula or rounds, and the empty text.
_UNSAFE_TEXT_PATTERN = re.compile(r"(?:['=+\-@＝＋－＠﹢﹣﹦﹫−\s]|\d{16}|$)")
MIN_ROUNDED_INTEGER = 10**15
"""The smallest whole number that a spreadsheet may round."""

_MISSING_PLACEHOLDER = "\0"
"""A placeholder for missing cells, which no cell contains."""


def to_safe_text(text: str) -> str:
    r"""Return a text that spreadsheets do not take for a formula, with control characters escaped.

    Examples
    --------
    >>> to_safe_text("=1+1"), to_safe_text("1 + 1"), to_safe_text("")
    ("'=1+1", '1 + 1', "'")
    >>> to_safe_text("\x9b5m"), to_safe_text("a\rb")
    ('\\u009b5m', 'a\\u000db')
    """
    escaped_text = escape_text(text)
    return f"'{escaped_text}" if _UNSAFE_TEXT_PATTERN.match(text) else escaped_text


def csv_bytes(frame: pd.DataFrame) -> bytes:
    """Return a frame as the bytes of a CSV file; missing cells are empty."""
    safe_frame = pd.DataFrame(
        {to_safe_text(str(name)): _to_csv_cells(frame[name]) for name in frame.columns}
    )
    csv_text = safe_frame.to_csv(
        index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC, na_rep=_MISSING_PLACEHOLDER
    )
    # Some readers take "" for an empty text, and others skip empty lines.
    return csv_text.replace(
        f'"{_MISSING_PLACEHOLDER}"', '""' if len(safe_frame.columns) == 1 else ""
    ).encode()


def as_texts(values: pd.Series) -> pd.Series:
    """Convert a column to texts: times in ISO 8601 (UTC), lists as JSON; missing stays missing."""
    utc_suffix = ""
    if isinstance(values.dtype, pd.DatetimeTZDtype):
        values = values.dt.tz_convert("UTC").dt.tz_localize(None)
        utc_suffix = "Z"

    def to_text(value: Any) -> str:
        if isinstance(value, pd.Timestamp):
            iso_text = value.isoformat()
            return f"{iso_text}Z" if utc_suffix else iso_text.removesuffix("T00:00:00")
        if isinstance(value, timedelta | np.timedelta64):
            return str(pd.Timedelta(value))
        is_list = isinstance(value, (tuple, list, np.ndarray))
        return json.dumps([*value], ensure_ascii=False, default=to_json) if is_list else str(value)

    def to_json(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return [*value]
        if isinstance(value, np.generic) and value.dtype.kind in "biuf":
            return value.item()
        return None if pd.isna(value) else to_text(value)

    return values.astype("object").map(to_text, na_action="ignore")


def _to_csv_cells(values: pd.Series) -> pd.Series:
    """Return the cells of a column for a CSV file, as numbers or as safe texts."""
    dtype = values.dtype
    if dtype.kind == "b":
        return values.astype("object").map({True: "true", False: "false"}, na_action="ignore")
    if pd.api.types.is_numeric_dtype(dtype) and not (
        dtype.kind in "iu"
        and ((values >= MIN_ROUNDED_INTEGER) | (values <= -MIN_ROUNDED_INTEGER)).any()
    ):
        return values
    cell_texts = as_texts(values)
    return cell_texts if dtype.kind == "M" else cell_texts.map(to_safe_text, na_action="ignore")
