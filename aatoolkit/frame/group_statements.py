"""Statements about the rows of an aggregate, so that each status stays with its groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from aatoolkit.availability import Availability
from aatoolkit.availability.subject import Condition, Statement, as_text
from aatoolkit.frame.cell_status import Codes, distinct_codes
from aatoolkit.metadata.attrs import ColumnMetadata

_MOST_STATEMENTS = 64
_MOST_VALUES = 500
"""The most values that the statements of a column name; above, its status is that of all groups."""


class _Inexpressible(Exception):
    """The keys do not tell the groups of one state from those of another, or not in short."""


def with_statements(
    column: ColumnMetadata, keys: pd.DataFrame, states: Sequence[Availability], codes: Codes
) -> ColumnMetadata:
    """Return the metadata of a column of an aggregate, with the status of each group.

    Parameters
    ----------
    column : ColumnMetadata
        The column, with its status over all groups.
    keys : pandas.DataFrame
        One row a group: the values that say which group it is.
    states : sequence of Availability
        The states that occur.
    codes : array of int
        For each group, which of the states is its own.

    Returns
    -------
    ColumnMetadata
        The column as it was where its groups are of one state, or are too many to name.
    """
    numbers = {state: number for number, state in enumerate(dict.fromkeys(states))}
    own = np.array([numbers[state] for state in states], np.int64)[codes]
    distinct = [*numbers]
    missing = keys.isna().any(axis=1).to_numpy(bool)
    unnamed = {*own[missing].tolist()}
    if not len(own) or (own == own[0]).all() or len(unnamed) > 1:
        return column
    # No condition picks a missing key, so that the state of its groups is that of the others.
    base = unnamed.pop() if unnamed else Counter(own.tolist()).most_common(1)[0][0]
    coded = {str(name): pd.factorize(keys[name], use_na_sentinel=False) for name in keys.columns}
    places = pd.DataFrame({name: found for name, (found, _) in coded.items()})
    values = {
        name: [*map(as_text, pd.Series(found).astype(object))] for name, (_, found) in coded.items()
    }
    statements: list[Statement] = []
    named = 0
    try:
        for number, rows in _conditions(places, own, base, values):
            statements.append(Statement(distinct[number], rows))
            named += sum(len(condition.values) for condition in rows)
            if len(statements) > _MOST_STATEMENTS or named > _MOST_VALUES:
                return column
    except _Inexpressible:
        return column
    return ColumnMetadata(column.of, column.availability, tuple(statements), distinct[base])


def _conditions(
    places: pd.DataFrame, own: Codes, base: int, values: dict[str, list[str]]
) -> Iterator[tuple[int, tuple[Condition, ...]]]:
    """The states other than that of most groups, each with conditions that pick its groups."""
    if (own == own[0]).all():
        if own[0] != base:
            yield int(own[0]), ()
        return
    counts = {name: places[name].nunique() for name in places.columns}
    for name in sorted(counts, key=counts.__getitem__):
        kinds = int(own.max()) + 1
        pairs, _ = distinct_codes(places[name].to_numpy() * kinds + own, len(values[name]) * kinds)
        place, state = np.divmod(pairs, kinds)
        if len(pairs) == counts[name]:
            for number in sorted({*state.tolist()} - {base}):
                yield number, (_picking(name, place[state == number], values),)
            return
    if places.shape[1] < 2:
        raise _Inexpressible
    outer = min(counts, key=counts.__getitem__)
    inner = places.drop(columns=outer)
    for place in np.unique(places[outer].to_numpy()[own != base]):
        rows = places[outer].to_numpy() == place
        for number, conditions in _conditions(inner[rows], own[rows], base, values):
            yield number, (_picking(outer, np.array([place]), values), *conditions)


def _picking(name: str, places: Codes, values: dict[str, list[str]]) -> Condition:
    return Condition(name, "in", tuple(values[name][place] for place in places.tolist()))
