"""Missing values of a column: the row that is explained, and the number of rows by cause."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd

from aatoolkit.frame.cell_status import cells_of
from aatoolkit.frame.explain.explanation import Explanation, MissingRows
from aatoolkit.frame.explain.text import plain
from aatoolkit.metadata.attrs import FrameMetadata

_MOST_READ = 200
"""The most rows whose cause is looked up one by one; of more, one for each state."""

_MOST_CAUSES = 8


def without_row(
    flat: pd.DataFrame,
    column: str,
    known: FrameMetadata,
    explained: Callable[[int], Explanation],
) -> Explanation:
    """The first value of a column that is missing, with the causes of all that are.

    Where none is missing it is the first row's value.

    Parameters
    ----------
    flat : pandas.DataFrame
        The frame, with the levels of its index as columns; it has rows.
    column : str
        The column.
    known : FrameMetadata
        Its metadata.
    explained : callable
        Explains the value in the row at a position.
    """
    lacking = np.flatnonzero(flat[column].isna().to_numpy())
    if not len(lacking):
        return explained(0).with_notes(
            f"no row was named: none of {len(flat):,} values is missing, and this is the first"
        )
    found = explained(int(lacking[0]))
    count = f"{len(lacking):,} of {len(flat):,} values are missing"
    note = f"no row was named: {count}, and this is the first"
    causes = _causes(flat, column, known, lacking, explained)
    return replace(found, notes=(*found.notes, note), causes=causes)


def _causes(
    flat: pd.DataFrame,
    column: str,
    known: FrameMetadata,
    lacking: np.ndarray[tuple[int], np.dtype[np.intp]],
    explained: Callable[[int], Explanation],
) -> tuple[MissingRows, ...]:
    cells = cells_of(flat, column, known)
    codes = cells.codes[lacking]
    if len(lacking) <= _MOST_READ:
        each = [explained(int(at)) for at in lacking]
        words = [_why(one, str(cells.states[code])) for one, code in zip(each, codes, strict=True)]
        names, first, counts = _counted(words)
    else:
        states, at, numbers = np.unique(codes, return_index=True, return_counts=True)
        names = [
            _why(explained(int(lacking[place])), str(cells.states[state]))
            for state, place in zip(states, at, strict=True)
        ]
        first, counts = at.tolist(), numbers.tolist()
    found = [
        MissingRows(
            count,
            name,
            {key: plain(flat[key].iloc[lacking[place]]) for key in known.key if key in flat},
        )
        for name, place, count in zip(names, first, counts, strict=True)
    ]
    return tuple(sorted(found, key=lambda one: -one.rows)[:_MOST_CAUSES])


def _why(one: Explanation, state: str) -> str:
    return one.missing or one.end or state


def _counted(words: list[str]) -> tuple[list[str], list[int], list[int]]:
    names = [*dict.fromkeys(words)]
    return names, [words.index(name) for name in names], [words.count(name) for name in names]
