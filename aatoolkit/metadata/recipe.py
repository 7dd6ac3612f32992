"""Recipes: how DataFrames were made, as JSON expressions that can be run again.

======================================  ==========================================================
``["read", 0, "source_domains"]``       a table of a response: the number of the response among
                                        the sources of the DataFrame, and the name of the table
``["do", verb, arguments, [inputs]]``   the result of a method of ``df.aa``; ``inputs`` are the
                                        recipes of the DataFrames that it was called with
``["view", input, {…}]``                a DataFrame after operations of pandas: the rows, columns
                                        and index that are left, and the values that were set
``["archived", "read", {…}]``           a DataFrame of an archive: the method and its arguments
``["end", why]``                        a DataFrame of unknown origin, and the reason
======================================  ==========================================================
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

Positions = npt.NDArray[np.intp]

PACKED = "zlib:"
"""The prefix of compressed text."""

_MAX_BYTES = 1 << 26
"""The maximum number of bytes that are decompressed, more than any metadata has."""


def pack(text: str) -> str:
    """Compress a text to ASCII characters.

    Examples
    --------
    >>> unpack(pack("text")), unpack("text")
    ('text', 'text')
    """
    return PACKED + base64.b85encode(zlib.compress(text.encode(), 9)).decode()


def unpack(text: str) -> str:
    """Decompress the result of `pack`; any other text is returned unchanged."""
    if not text.startswith(PACKED):
        return text
    stream = zlib.decompressobj()
    with suppress(zlib.error):
        data = stream.decompress(base64.b85decode(text[len(PACKED) :]), _MAX_BYTES)
        if stream.eof:
            return data.decode()
    raise ValueError("packed text is damaged")


Recipe = list[Any]
"""A list whose first element is its kind, such as ``"read"``."""

READ, DO, VIEW, ARCHIVED, END = "read", "do", "view", "archived", "end"

MAX_LENGTH = 4000
"""The maximum number of characters of a recipe in the text of a frame's metadata."""


def renumbered(recipe: Recipe, new_positions: Mapping[int, int]) -> Recipe:
    """Return a recipe (how a DataFrame was made) in which the responses have other numbers.

    ``new_positions`` maps old to new numbers.

    Examples
    --------
    >>> renumbered(["do", "concat", {}, [["read", 0, "t"]]], {0: 3})
    ['do', 'concat', {}, [['read', 3, 't']]]
    """
    kind, *fields = recipe
    if kind == READ:
        return [READ, new_positions.get(fields[0], -1), fields[1]]
    if kind == DO:
        return [DO, fields[0], fields[1], [renumbered(child, new_positions) for child in fields[2]]]
    return [VIEW, renumbered(fields[0], new_positions), fields[1]] if kind == VIEW else recipe


def dump_recipe(recipe: Recipe) -> Recipe:
    """Return a recipe (how a DataFrame was made) unchanged, for storing it in a file.

    A recipe that is too long is replaced by ``["end", why]``.
    """
    if len(json.dumps(recipe)) <= MAX_LENGTH:
        return recipe
    return [END, "how it was made is too large for a frame to carry along"]


_MAX_CELLS = 4000


def dump_rows(positions: Positions) -> list[int]:
    """Compress row positions to a list of numbers: alternately a step and how often it occurs.

    Examples
    --------
    >>> import numpy as np
    >>> dump_rows(np.array([2, 3, 4])), load_rows(dump_rows(np.array([5, 1, 1]))).tolist()
    ([2, 1, 1, 2], [5, 1, 1])
    """
    steps = np.diff(positions, prepend=0)
    run_starts = np.flatnonzero(np.diff(steps, prepend=steps[:1] + 1))
    repeat_counts = np.diff(run_starts, append=len(steps))
    return np.column_stack([steps[run_starts], repeat_counts]).ravel().tolist()


def load_rows(runs: Sequence[int]) -> Positions:
    """Decompress the row positions in the result of `dump_rows`."""
    steps, repeat_counts = np.array(runs, np.intp).reshape(-1, 2).T
    return np.cumsum(np.repeat(steps, repeat_counts))


def dump_values(values: pd.Series) -> list[Any] | None:
    """Return the dtype and values of a column as a JSON value; None if it could not be restored.

    Examples
    --------
    >>> import pandas as pd
    >>> dump_values(pd.Series(["a", None], dtype="string"))
    ['string', ['a', None]]
    """
    if len(values) > _MAX_CELLS:
        return None
    cells = values.astype(object).where(values.notna(), None).tolist()
    cells = [
        cell if isinstance(cell, bool | int | float | str | None) else str(cell) for cell in cells
    ]
    body = [str(values.dtype), cells]
    try:
        parsed_values = load_values(json.loads(json.dumps(body)))
        is_same = parsed_values.dtype == values.dtype and parsed_values.equals(
            values.reset_index(drop=True)
        )
    except (TypeError, ValueError):
        return None
    return body if is_same else None


def load_values(body: list[Any]) -> pd.Series:
    """Create a Series from a value returned by `dump_values`."""
    dtype, cells = body
    return pd.Series(cells, dtype=dtype)  # type: ignore[no-any-return]
