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

COMPRESSED_PREFIX = "zlib:"
"""The prefix of a compressed text."""

_MAX_UNPACKED_BYTES = 1 << 26
"""The maximum number of bytes that are decompressed, more than any metadata has."""


def compress_text(text: str) -> str:
    """Compress a text to ASCII characters.

    Examples
    --------
    >>> decompress_text(compress_text("text")), decompress_text("text")
    ('text', 'text')
    """
    return COMPRESSED_PREFIX + base64.b85encode(zlib.compress(text.encode(), 9)).decode()


def decompress_text(text: str) -> str:
    """Decompress the result of `compress_text`; any other text is returned unchanged."""
    if not text.startswith(COMPRESSED_PREFIX):
        return text
    decompressor = zlib.decompressobj()
    with suppress(zlib.error):
        decompressed_bytes = decompressor.decompress(
            base64.b85decode(text[len(COMPRESSED_PREFIX) :]), _MAX_UNPACKED_BYTES
        )
        if decompressor.eof:
            return decompressed_bytes.decode()
    raise ValueError("packed text is damaged")


Recipe = list[Any]
"""How a DataFrame was made: a list whose first element is its kind, such as ``"read"``."""

READ = "read"
CALL = "do"
VIEW = "view"
ARCHIVED = "archived"
END = "end"
"""The kinds of recipes; see the beginning of this module."""

MAX_RECIPE_LENGTH = 4000
"""The maximum number of characters of a recipe in the text of a frame's metadata."""


def renumber(recipe: Recipe, new_positions: Mapping[int, int]) -> Recipe:
    """Return a recipe (how a DataFrame was made) in which the responses have new numbers.

    The number of a response is its position among the sources of the DataFrame. ``new_positions``
    maps old to new numbers; a response that it lacks gets the number -1.

    Examples
    --------
    >>> renumber(["do", "concat", {}, [["read", 0, "t"]]], {0: 3})
    ['do', 'concat', {}, [['read', 3, 't']]]
    """
    step_kind, *step_fields = recipe
    if step_kind == READ:
        return [READ, new_positions.get(step_fields[0], -1), step_fields[1]]
    if step_kind == CALL:
        return [
            CALL,
            step_fields[0],
            step_fields[1],
            [renumber(input_recipe, new_positions) for input_recipe in step_fields[2]],
        ]
    return (
        [VIEW, renumber(step_fields[0], new_positions), step_fields[1]]
        if step_kind == VIEW
        else recipe
    )


def to_stored_recipe(recipe: Recipe) -> Recipe:
    """Return a recipe (how a DataFrame was made) as it is stored in the text of the metadata.

    A recipe that is too long is replaced by ``["end", reason]``.
    """
    if len(json.dumps(recipe)) <= MAX_RECIPE_LENGTH:
        return recipe
    return [END, "how it was made is too large for a frame to carry along"]


_MAX_STORED_CELLS = 4000
"""The length of the longest column whose values are stored in a recipe."""


def dump_positions(positions: Positions) -> list[int]:
    """Compress row positions to a list of numbers: alternately a step and its number of repeats.

    A step is the difference between a position and the one before it; the first step starts at 0.

    Examples
    --------
    >>> import numpy as np
    >>> dump_positions(np.array([2, 3, 4]))
    [2, 1, 1, 2]
    >>> load_positions(dump_positions(np.array([5, 1, 1]))).tolist()
    [5, 1, 1]
    """
    position_differences = np.diff(positions, prepend=0)
    run_start_positions = np.flatnonzero(
        np.diff(position_differences, prepend=position_differences[:1] + 1)
    )
    repeat_counts = np.diff(run_start_positions, append=len(position_differences))
    return (
        np.column_stack([position_differences[run_start_positions], repeat_counts]).ravel().tolist()
    )


def load_positions(difference_runs: Sequence[int]) -> Positions:
    """Decompress the result of `dump_positions` to an array of row positions."""
    position_differences, repeat_counts = np.array(difference_runs, np.intp).reshape(-1, 2).T
    return np.cumsum(np.repeat(position_differences, repeat_counts))


def dump_values(column_values: pd.Series) -> list[Any] | None:
    """Return the dtype and values of a column as a JSON value; None if it could not be restored.

    Examples
    --------
    >>> import pandas as pd
    >>> dump_values(pd.Series(["a", None], dtype="string"))
    ['string', ['a', None]]
    """
    if len(column_values) > _MAX_STORED_CELLS:
        return None
    cell_values = column_values.astype(object).where(column_values.notna(), None).tolist()
    cell_values = [
        cell if isinstance(cell, bool | int | float | str | None) else str(cell)
        for cell in cell_values
    ]
    dtype_and_cells = [str(column_values.dtype), cell_values]
    try:
        restored_values = load_values(json.loads(json.dumps(dtype_and_cells)))
        is_restorable = restored_values.dtype == column_values.dtype and restored_values.equals(
            column_values.reset_index(drop=True)
        )
    except (TypeError, ValueError):
        return None
    return dtype_and_cells if is_restorable else None


def load_values(dtype_and_cells: list[Any]) -> pd.Series:
    """Create a Series from the list (dtype and values) that `dump_values` returned."""
    dtype, cells = dtype_and_cells
    return pd.Series(cells, dtype=dtype)  # type: ignore[no-any-return]
