"""Where the cells of declared tables stood in their answer: what the tables alone do not say.

A placement is the answer as `aatoolkit.jsontree.arrow_tables` lays it out, with all its arrays,
objects and nulls; but in the place of each value that a column took stands the number of the row
that has it now. The values themselves are in the columns and in ``extra`` alone, and
`~aatoolkit.normalizer.reconstruct.rebuild` puts the three together again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from aatoolkit.jsontree.assemble import assemble
from aatoolkit.jsontree.chunks import Piece
from aatoolkit.jsontree.cursor import Spot
from aatoolkit.jsontree.grouping import Places
from aatoolkit.jsontree.nodes import Child, Place, Record
from aatoolkit.normalizer.field_map import Claim, claims
from aatoolkit.normalizer.formats import spellings
from aatoolkit.normalizer.reconstruct import Holder
from aatoolkit.normalizer.rows import TableRows
from aatoolkit.sections.section import Column, Section

_Taken = tuple[Spot, Holder, Places, Places]
"""A spot, the column that took values there, from which rows, and into which of its own."""


def placement(
    document: Spot, section: Section, rows: Sequence[TableRows], built: Mapping[str, pa.Table]
) -> dict[str, pa.Table]:
    """The placement of an answer, as tables like those of `~aatoolkit.jsontree.arrow_tables.shred`.

    Parameters
    ----------
    document : Spot
        The answer.
    section : Section
        Its declaration.
    rows : sequence of TableRows
        Where the rows of each table stand.
    built : mapping of str to pyarrow.Table
        The tables that were made of them.
    """
    scalars: dict[Spot, dict[str, list[Piece]]] = {}
    seen: dict[Spot, np.ndarray[tuple[int], np.dtype[np.bool_]]] = {}
    for spot, holder, there, here in _taken(rows, built):
        done = seen.setdefault(spot, np.zeros(spot.level.size, np.bool_))
        fresh = ~done[there]
        if fresh.any():
            done[there] = True
            pieces = scalars.setdefault(spot, {}).setdefault(holder.dumps(), [])
            pieces.append((pa.array(here[fresh], pa.int64()), there[fresh]))
    return assemble(_emptied(document, claims(section), scalars))


def _taken(rows: Sequence[TableRows], built: Mapping[str, pa.Table]) -> Iterator[_Taken]:
    """What columns took: those first that stand in the row itself, and not around it."""
    for around in (False, True):
        for one in rows:
            for column in one.table.columns:
                if (column.source or "")[0] in "^$" if around else _is_own(one, column):
                    yield from _of_column(one, column, built[one.table.name][column.name])


def _is_own(rows: TableRows, column: Column) -> bool:
    source = column.source or ""
    first_axis = len(rows.table.rows.labels) - len(rows.table.rows.axes)
    return source[0] not in "^$#@" or (source[0] == "@" and int(source[1:]) >= first_axis)


def _of_column(rows: TableRows, column: Column, cells: pa.ChunkedArray) -> Iterator[_Taken]:
    filled = np.asarray(cells.is_valid())
    for (spot, index), here in zip(rows.find(column.source or ""), rows.numbers, strict=True):
        there = np.arange(spot.level.size) if index is None else index
        fits = np.asarray(spot.typed(column.dtype)[0].is_valid())
        chosen = np.flatnonzero((there >= 0) & filled[here])
        chosen = chosen[fits[there[chosen]]]
        there, firsts = np.unique(there[chosen], return_index=True)
        here = here[chosen[firsts]]
        for spelling, rows_of in spellings(spot.place, column.dtype, spot.level.size):
            alike = slice(None) if rows_of is None else np.isin(there, rows_of)
            yield spot, Holder(rows.table.name, column.name, spelling), there[alike], here[alike]


def _emptied(spot: Spot, claim: Claim, scalars: Mapping[Spot, dict[str, list[Piece]]]) -> Place:
    """What stands at a spot without what is in ``extra``, and with row numbers for values."""
    place, found = spot.place, Place()
    if place is None:
        return found
    found.rows = place.rows
    found.scalars = dict(scalars.get(spot, {}))
    if claim.taken:
        return found
    if claim.each is not None and place.items is not None:
        found.items = _child(place.items, _emptied(spot.each(), claim.each, scalars))
    if claim.entries is not None and place.entries is not None:
        found.entries = _child(place.entries, _emptied(spot.entries(), claim.entries, scalars))
    if claim.fields and place.record is not None:
        known = [name for name in place.record.fields if name in claim.fields]
        found.record = Record(
            rows=place.record.rows,
            fields={
                name: _emptied(spot.field(name), claim.fields[name], scalars) for name in known
            },
        )
    return found


def _child(child: Child, place: Place) -> Child:
    return Child(child.lengths, child.parents, child.positions, child.keys, place, child.size)
