"""`WideFrame`: a DataFrame that prints key and numbers where pandas would leave them out."""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Iterable
from typing import Any

import pandas as pd

from aatoolkit._util.terminal import terminal_width
from aatoolkit._util.text import visible
from aatoolkit.errors import MetadataError
from aatoolkit.frame.cell_status import CAUSE, COVERAGE, REASON, ROW
from aatoolkit.metadata.attrs import metadata_of

_ENDINGS = (f"_{ROW}", f"_{ROW}{CAUSE}", f"_{ROW}{REASON}", COVERAGE)
"""How the columns end that say how those before them were measured."""

_NARROW = 30
"""Of how many characters a key may be, where no metadata name it."""

_ROWS = 60
"""How many rows are looked at for that."""

_PAGE = 100
"""How many characters of a table are in sight in a notebook, beside each other."""


class WideFrame(pd.DataFrame):
    """A DataFrame whose key and numbers are in sight in a terminal.

    It is a `pandas.DataFrame` in all it does, and is one after a pickle. Where not all columns fit,
    pandas leaves out those in the middle; here it is what says how a number was measured.

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
        plain = pd.DataFrame(self)
        kept = _kept(self, _PAGE)
        rest = [visible(str(name)) for name in plain.columns if name not in kept]
        shown: str | None = (plain[kept] if rest else plain)._repr_html_()  # type: ignore[operator]
        if not rest or shown is None:
            return shown
        shown = re.sub(rf" {len(kept)} columns</p>", f" {plain.shape[1]} columns</p>", shown)
        return f'{shown}<p class="tex2jax_ignore">not shown: {html.escape(", ".join(rest))}</p>'


def in_sight(frame: pd.DataFrame) -> str:
    """Format a frame for a terminal: key and numbers first, and which columns are not shown.

    Parameters
    ----------
    frame : pandas.DataFrame
        Any frame; where all columns fit, or names are no plain text, it is formatted by pandas.
    """
    plain = pd.DataFrame(frame)
    width = terminal_width()
    kept = _kept(frame, width)
    if len(kept) == plain.shape[1]:
        return repr(plain)
    rest = [visible(name) for name in plain.columns if name not in kept]
    shown = repr(plain[kept]).replace(f" x {len(kept)} columns]", f" x {plain.shape[1]} columns]")
    gap = "" if shown.endswith("columns]") else "\n"
    return "\n".join([shown + gap, *textwrap.wrap(f"not shown: {', '.join(rest)}", width)])


def _kept(frame: pd.DataFrame, width: int) -> list[Any]:
    """Return the columns that are shown: all in their order, or the first that matter."""
    plain = pd.DataFrame(frame)
    names = [name for name in plain.columns if isinstance(name, str)]
    is_plain = len({*names}) == plain.shape[1] and pd.get_option("display.expand_frame_repr")
    if not is_plain or not len(plain) or _fits(plain, width):
        return [*plain.columns]
    kept: list[str] = []
    for name in _ordered(frame, names):
        if kept and not _fits(plain[[*kept, name]], width):
            break
        kept.append(name)
    return kept


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
