"""Check a frame against its fingerprint: which columns still hold what was read.

A row is matched by its label, or by its key once labels were made anew. A column is accepted if
the matched rows hold what they held, and if no row is a new one. Selecting, sorting, repeating
and dropping rows, dropping columns, moving the key into the index and converting to a dtype of
the same values all leave it accepted.

What cannot be detected: a change of rows outside the sample of a frame that went through a
pickle, and numbers alone that equal by chance, one by one, as many that were read. Rows without
their key might be sums; they are accepted only where sums cannot look like them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from aatoolkit.metadata.cell_hash import hash_cells
from aatoolkit.metadata.fingerprint import (
    MOVED,
    OVERWRITTEN,
    Fingerprint,
    HashedRows,
    arrays_of,
    has_more,
    index_levels,
    index_names,
    is_over,
    label_span,
    mixed,
    row_hashes,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

    from aatoolkit.metadata.cell_hash import Hashes
    from aatoolkit.metadata.fingerprint import Places

    Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class RowMatch:
    """A match between the rows of a frame and the rows that were hashed.

    Parameters
    ----------
    hashes : array of uint64
        The hashes of the frame's rows.
    known : HashedRows
        The rows that were read.
    places : array of intp
        The number of the row that each is; -1 where it is none of them.
    """

    hashes: Hashes
    known: HashedRows
    places: Places

    @cached_property
    def found(self) -> Mask:
        """Mask of the frame's rows that are among the hashed ones."""
        return self.places >= 0


class FingerprintCheck:
    """Check a frame against its fingerprint: which columns still hold what was read.

    Rows are matched by label or by key, whichever leaves the fewest columns changed: a column
    that was overwritten differs alone, and with new labels nearly all differ.
    """

    def __init__(self, frame: pd.DataFrame, fingerprint: Fingerprint, key: tuple[str, ...]) -> None:
        self._index = frame.index
        self._arrays = arrays_of(frame)
        self._fingerprint = fingerprint
        self._key = key
        self._hashed: dict[str, Hashes] = {}
        self._differing: dict[tuple[bool, str], bool] = {}

    @property
    def hashed(self) -> set[str]:
        """The columns whose cells were hashed."""
        return {*self._fingerprint.cells}

    def placed(self) -> tuple[Places, set[str]] | None:
        """Each row's position when it was hashed, and the unchanged columns; None if not sure.

        Rows found by their key are sure even where `change` is not: what they hold is compared
        with what they held.
        """
        import numpy as np

        known = self._fingerprint
        there = [name for name in known.cells if name in self._arrays]
        if len(self._index) == 0:
            return np.empty(0, np.intp), {*there}
        moved = any(why == MOVED for why in self._changes.values())
        best: tuple[Places, set[str]] | None = None
        for match in self._row_matches():
            by_key = match.known is known.by_key
            if not (known.whole and match.known.distinct and match.found.all()):
                continue
            if moved and not by_key:
                continue
            same = {name for name in there if not self._differs(name, match)}
            same |= {*self._key} if by_key else set()
            if best is None or len(same) > len(best[1]):
                best = match.places, same
            if len(same) == len(there):
                break
        if best is not None or known.whole or moved:
            return best
        is_numbered = known.span == (0, known.rows - 1) and _within(
            label_span(self._index), known.span
        )
        if not is_numbered or index_names(self._index) != known.index:
            return None
        same = {name for name in there if self.change(name) is None}
        return self._index.to_numpy().astype(np.intp), same

    def repeated(self, tables: Mapping[str, Sequence[str]]) -> set[str]:
        """The tables of which the frame holds a row more often than the rows that were hashed.

        Parameters
        ----------
        tables : mapping of str to sequence of str
            By table the columns of the frame that are its own.
        """
        import numpy as np

        if not tables or not len(self._index):
            return set()
        placed = self.placed()
        if placed is not None:
            return {*tables} if np.bincount(placed[0]).max() > 1 else set()
        if not self._fingerprint.whole:
            is_repeated = len(self._index) > self._fingerprint.rows or not self._index.is_unique
            return {*tables} if is_repeated else set()
        return {table for table, names in tables.items() if self._exceeds(names)}

    def exceeds_distinct(self, key: Collection[str]) -> bool:
        """Whether a row is here more often than different ones like it were read.

        Asked of what is left of rows that were read with their key, whether or not they match.
        """
        known = self._fingerprint
        if not known.whole or not {*key} <= {*known.cells}:
            return False
        left = [name for name in known.cells if name in self._arrays]
        if not left or not len(self._index):
            return False
        return is_over([self._hashes(name) for name in left], known, left)

    def _exceeds(self, names: Sequence[str]) -> bool:
        """Whether rows of some columns, as far as they are unchanged, are more than were hashed."""
        names = [name for name in names if self.change(name) is None]
        now = [self._hashes(name) for name in names]
        return bool(names) and has_more(now, [self._fingerprint.rows_of(names)])

    def _hashes(self, name: str) -> Hashes:
        """The hashes of a column's cells, computed once."""
        if name not in self._hashed:
            self._hashed[name] = hash_cells(self._arrays[name])
        return self._hashed[name]

    def is_empty(self, name: str) -> bool:
        """Whether a column, or level of the index, is there and holds no value."""
        values = self._arrays.get(name)
        return values is not None and bool(values.isna().all())

    def change(self, name: str) -> str | None:
        """Return the reason why a column is not accepted; None if it is."""
        return self._changes.get(name) if name in self._fingerprint.cells else MOVED

    @cached_property
    def _changes(self) -> Mapping[str, str]:
        cells = self._fingerprint.cells
        there = [name for name in cells if name in self._arrays]
        alike = dict.fromkeys({*cells}.difference(there), "not one column of this name")
        if len(self._index) == 0:
            return alike
        found: dict[str, str] | None = None
        for match in self._row_matches():
            changes = {name: OVERWRITTEN for name in there if self._differs(name, match)}
            changes |= self._possible_sums(match.found, changes)
            if found is None or len(changes) < len(found):
                found = changes
            if not found:
                break
        return alike | (dict.fromkeys(there, MOVED) if found is None else found)

    def _possible_sums(self, matched: Mask, changes: Mapping[str, str]) -> Mapping[str, str]:
        """The columns that may hold sums of rows which agree with the hashes only by chance.

        Sums have numbers as labels too. As many rows are accepted if text agrees, or all
        columns; fewer or more if both, in the columns of which no value was missing: a sum
        over missing values would else pass for what was read beside it.
        """
        cells = {
            name: cell for name, cell in self._fingerprint.cells.items() if name in self._arrays
        }
        agreeing = {*cells} - {*changes}
        if self._key and agreeing >= {*self._key}:
            return {}
        has_text = any(self._arrays[name].dtype.kind not in "biuf" for name in agreeing)
        if len(self._index) == self._fingerprint.rows:
            return {} if has_text or not changes else dict.fromkeys(cells, MOVED)
        if changes or not has_text or not matched.any():
            return dict.fromkeys(cells, MOVED)
        return {name: MOVED for name, (missing, _) in cells.items() if missing}

    def _differs(self, name: str, match: RowMatch) -> bool:
        """Whether a matched row holds something else, or other rows were filled or emptied."""
        place = match.known is self._fingerprint.by_key, name
        if place not in self._differing:
            self._differing[place] = self._is_differing(name, match)
        return self._differing[place]

    def _is_differing(self, name: str, match: RowMatch) -> bool:
        import numpy as np

        values, (missing, hashes) = self._arrays[name], self._fingerprint.cells[name]
        if not self._lacks_as_before(name, missing):
            return True
        known, found = np.asarray(hashes, dtype=np.uint64), match.found
        whole = self._fingerprint.whole or found.all()
        kept = self._hashes(name)[found] if whole else hash_cells(values[found])
        kept = kept & np.uint64(self._fingerprint.bits)
        if match.known.distinct:
            return not np.array_equal(known[match.places[found]], kept)
        read = mixed(match.known.hashes, known)
        return not np.isin(mixed(match.hashes[found], kept), read).all()

    def _lacks_as_before(self, name: str, missing: int) -> bool:
        """Whether the number of missing values fits rows that were only dropped or repeated."""
        if self._fingerprint.whole:
            return True
        now, before = len(self._index), self._fingerprint.rows
        lacking = int(self._arrays[name].isna().sum())
        if now == before:
            return lacking == missing
        if missing - lacking > before - now > 0 and self._index.is_unique:
            return False  # more were missing than rows are gone: some were filled
        return lacking * before <= missing * max(now, before)

    def _row_matches(self) -> Iterator[RowMatch]:
        """Yield the ways to match the frame's rows with hashed ones, without any new row."""
        if self._by_label is not None:
            yield self._by_label
        if self._by_key is not None:
            yield self._by_key

    @cached_property
    def _by_label(self) -> RowMatch | None:
        known = self._fingerprint
        beside = [name for name in known.beside if name in self._arrays]
        if index_names(self._index) != known.index or len(beside) < len(known.beside):
            return None
        labels = [hash_cells(level) for level in index_levels(self._index)]
        match = self._row_match([*labels, *map(self._hashes, beside)], known.by_label)
        if known.span is not None and not known.whole:
            return match if _within(label_span(self._index), known.span) else None
        return match if self._matches(match) else None

    @cached_property
    def _by_key(self) -> RowMatch | None:
        known = self._fingerprint
        if not len(known.keys) or not all(self._is_filled(name) for name in self._key):
            return None
        match = self._row_match([*map(self._hashes, self._key)], known.by_key)
        return match if self._matches(match) else None

    def _row_match(self, parts: list[Hashes], known: HashedRows) -> RowMatch:
        hashes = row_hashes(parts, self._fingerprint.row_bits)
        return RowMatch(hashes, known, known.places(hashes, self._numbers))

    @cached_property
    def _numbers(self) -> Places | None:
        """Labels that may be the numbers that all rows had: the first places to look at."""
        import numpy as np

        known = self._fingerprint
        if not (known.whole and known.span == (0, known.rows - 1)):
            return None
        is_within = _within(label_span(self._index), known.span)
        return self._index.to_numpy().astype(np.intp) if is_within else None

    def _matches(self, match: RowMatch) -> bool:
        """Whether rows match the sample: every row if all were sampled, else at least one."""
        return bool(match.found.all() if self._fingerprint.whole else match.found.any())

    def _is_filled(self, name: str) -> bool:
        """Whether a key column is there, with no more values missing than when it was read."""
        missing, _ = self._fingerprint.cells.get(name, (0, ()))
        return name in self._arrays and self._lacks_as_before(name, missing)


def _within(inner: tuple[int, int] | None, outer: tuple[int, int] | None) -> bool:
    return bool(inner and outer and outer[0] <= inner[0] and inner[1] <= outer[1])
