"""`WideFrame`: a DataFrame that prints key and numbers where pandas would leave them out."""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit._util.result_frame import row_ranges
from aatoolkit._util.sorted_frame import SortedFrame
from aatoolkit._util.terminal import terminal_width
from aatoolkit._util.text import visible
from aatoolkit.availability import Status
from aatoolkit.errors import MetadataError
from aatoolkit.frame.cell_status import CAUSE, COVERAGE, REASON, ROW, cells_of
from aatoolkit.metadata.attrs import metadata_of

_ENDINGS = (f"_{ROW}", f"_{ROW}{CAUSE}", f"_{ROW}{REASON}", COVERAGE)
"""How the columns end that say how those before them were measured."""

_NARROW = 30
"""Of how many characters a key may be, where no metadata name it."""

_ROWS = 60
"""How many rows are looked at for that."""

_PAGE = 100
"""How many characters of a table are in sight in a notebook, beside each other."""


_REASONS = 4
"""How many different reasons of partial numbers are listed below the table."""


class WideFrame(SortedFrame):
    """A DataFrame whose key and numbers are in sight in a terminal.

    It is a `pandas.DataFrame` in all it does, and is one after a pickle. Where not all columns fit,
    pandas leaves out those in the middle; here it is what says how a number was measured. Numbers
    that are partial are marked by an asterisk, and the lines below say why.

    Examples
    --------
    >>> words = "6 of the 7 days from 2026-11-16 to 2026-11-22"
    >>> WideFrame({"day": ["2026-11-22"], "reason": [words], "cause": [words], "rate": [0.5]})
              day  rate                                         reason
    0  2026-11-22   0.5  6 of the 7 days from 2026-11-16 to 2026-11-22
    <BLANKLINE>
    not shown: cause
    """

    @property
    def _constructor(self) -> type[WideFrame]:
        return WideFrame

    def __reduce__(self) -> Any:
        return pd.DataFrame, (), self.__getstate__()

    def __repr__(self) -> str:
        return in_sight(self)

    def _repr_html_(self) -> str | None:
        plain, notes = _marked(self)
        kept = _kept(self, plain, _PAGE)
        rest = [visible(str(name)) for name in plain.columns if name not in kept]
        shown: str | None = (plain[kept] if rest else plain)._repr_html_()  # type: ignore[operator]
        if shown is None:
            return shown
        if rest:
            shown = re.sub(rf" {len(kept)} columns</p>", f" {plain.shape[1]} columns</p>", shown)
            notes = [*notes, f"not shown: {', '.join(rest)}"]
        lines = (f'<p class="tex2jax_ignore">{html.escape(note)}</p>' for note in notes)
        return "".join([shown, *lines])


def in_sight(frame: pd.DataFrame) -> str:
    """Format a frame for a terminal: key and numbers first, and which columns are not shown.

    Parameters
    ----------
    frame : pandas.DataFrame
        Any frame; where all columns fit, or names are no plain text, it is formatted by pandas.
        The partial numbers of an aggregate are marked.
    """
    plain, notes = _marked(frame) if isinstance(frame, WideFrame) else (pd.DataFrame(frame), [])
    width = terminal_width()
    kept = _kept(frame, plain, width)
    rest = [visible(name) for name in plain.columns if name not in kept]
    if rest:
        notes = [*notes, f"not shown: {', '.join(rest)}"]
    shown = repr(plain[kept]) if rest else repr(plain)
    if not notes:
        return shown
    shown = shown.replace(f" x {len(kept)} columns]", f" x {plain.shape[1]} columns]")
    gap = "" if shown.endswith("columns]") else "\n"
    return "\n".join(
        [shown + gap, *(line for note in notes for line in textwrap.wrap(note, width))]
    )


def _marked(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The frame with its partial numbers as texts with an asterisk, and why they are partial."""
    plain = pd.DataFrame(frame)
    names = [name for name in plain.columns if isinstance(name, str)]
    try:
        metadata = metadata_of(frame)
    except MetadataError:
        return plain, []
    if not len(plain) or len({*names}) < plain.shape[1]:
        return plain, []
    limit = pd.get_option("display.max_rows") or len(plain)
    places = np.arange(len(plain))
    in_reach = (places < limit) | (places >= len(plain) - limit)
    reasons: dict[str, np.ndarray] = {}
    texts: dict[str, pd.Series] = {}
    for name in (name for name in names if _is_number(plain[name])):
        cells = cells_of(frame, name, metadata)
        partial = cells.given & cells.having(Status.PARTIAL)
        if not partial.any():
            continue
        for code in np.unique(cells.codes[partial]).tolist():
            reason = cells.states[code].reason or ""
            rows = partial & (cells.codes == code)
            reasons[reason] = reasons.get(reason, np.zeros(len(plain), bool)) | rows
        lines = plain[name][in_reach].to_string(header=False, index=False).splitlines()
        marks = np.where(partial[in_reach], "*", " ")
        column = np.full(len(plain), "", object)
        column[in_reach] = [
            f"{line.strip()}{mark}" for line, mark in zip(lines, marks, strict=True)
        ]
        texts[name] = pd.Series(column, index=plain.index, dtype=object)
    notes = [
        f"* partial ({row_ranges(plain.index, rows)}){': ' if reason else ''}{visible(reason)}"
        for reason, rows in [*reasons.items()][:_REASONS]
    ]
    if len(reasons) > _REASONS:
        notes.append(
            f"* partial: {len(reasons) - _REASONS} more reasons, in the columns of reasons"
        )
    return (plain.assign(**texts) if texts else plain), notes


def _kept(frame: pd.DataFrame, plain: pd.DataFrame, width: int) -> list[Any]:
    """Return the columns that are shown: all in their order, or the first that matter."""
    names = [name for name in plain.columns if isinstance(name, str)]
    is_plain = len({*names}) == plain.shape[1] and pd.get_option("display.expand_frame_repr")
    if not is_plain or not len(plain) or _fits(plain, width):
        return [*plain.columns]
    order = [name for name in getattr(frame, "_sorted_by", ()) if name in names]
    kept: list[str] = []
    for name in _ordered(frame, names):
        some = [*dict.fromkeys([*kept, name, *order])]
        if (kept or order) and not _fits(plain[some], width):
            break
        kept.append(name)
    return [*dict.fromkeys([*kept, *order])]


def _fits(frame: pd.DataFrame, width: int) -> bool:
    """Whether pandas shows all columns side by side."""
    limit = pd.get_option("display.max_rows") or len(frame)
    some = (
        frame
        if len(frame) <= limit
        else pd.concat([frame.head(limit // 2), frame.tail(limit // 2)])
    )
    lines = some.to_string(max_colwidth=pd.get_option("display.max_colwidth")).splitlines()
    most = pd.get_option("display.max_columns")
    # pandas keeps a character free.
    return max(map(len, lines)) < width and (not most or frame.shape[1] <= most)


def _ordered(frame: pd.DataFrame, names: Iterable[str]) -> list[str]:
    """Return the names: the key, numbers and what else there is; last, how they were measured."""
    names = [*names]
    try:
        key = [name for name in metadata_of(frame).key if name in names]
    except MetadataError:
        key = []
    stems = {f"{name}{ending}" for name in names for ending in _ENDINGS}
    numbers = [name for name in names if _is_number(frame[name]) and name not in stems]
    if not key and numbers:
        before = names[: names.index(numbers[0])]
        key = [name for name in before if name not in stems and _is_narrow(frame[name])]
    words = [name for name in names if name not in stems]
    return [*dict.fromkeys([*key, *numbers, *words, *names])]


def _is_narrow(values: pd.Series) -> bool:
    return max(map(len, map(str, values.head(_ROWS)))) <= _NARROW


def _is_number(values: pd.Series) -> bool:
    kind = values.dtype
    return pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind)
