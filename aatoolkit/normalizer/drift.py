"""Where an answer and its declaration differ, and what no column took."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import numpy as np

from aatoolkit.jsontree.chunks import count, joined
from aatoolkit.jsontree.cursor import Spot
from aatoolkit.jsontree.grouping import Places, Rows
from aatoolkit.jsontree.paths import Each, Entries, Field, Step, format_path
from aatoolkit.jsontree.vectors import leaves
from aatoolkit.normalizer.field_map import Claim, claims
from aatoolkit.sections.section import Section


@dataclass(frozen=True)
class Drift:
    """One difference between an answer and its declaration.

    Parameters
    ----------
    kind : str
        ``new``, ``absent``, ``wrong type``, ``new level``, ``null key`` or ``duplicate key``.
    path : str
        Where, with ``[]`` and ``{}`` for any of many; for keys, the table and its columns.
    count : int
        How often.
    example : str or None
        One value, as JSON text.
    """

    kind: str
    path: str
    count: int
    example: str | None = None

    def __str__(self) -> str:
        shown = f", such as {self.example[:60]}" if self.example is not None else ""
        times = f" ({self.count} times)" if self.count > 1 else ""
        return f"{self.kind}{times}{shown} @ {self._place}"

    @property
    def _place(self) -> str:
        if self.kind.endswith(" key"):
            return self.path
        return f"$.{self.path}" if self.path else "$"


@dataclass
class Ledger:
    """What a read finds beside its tables: leaves that no column took, and drift.

    Attributes
    ----------
    document : Spot
        What is read.
    kept : list of tuple
        What no column took: where it stands, in which rows, and why it is here.
    drift : dict
        The differences, by kind and path.
    """

    document: Spot
    kept: list[tuple[Spot, Places, str]] = field(default_factory=list)
    drift: dict[tuple[str, str], Drift] = field(default_factory=dict)

    def note(self, kind: str, path: str, count: int, example: str | None = None) -> None:
        """List one drift; of the same drift seen twice the larger count stays."""
        known = self.drift.get((kind, path))
        if known is None or known.count < count:
            self.drift[kind, path] = Drift(kind, path, count, example)

    def keep(self, spot: Spot, rows: Places, why: str) -> None:
        """Keep the values at some rows of a spot as extra, unless they are not the answer's own."""
        if len(rows) and not spot.level.made:
            self.kept.append((spot, rows, why))

    def report(self, spot: Spot, rows: Places, kind: str, path: str) -> None:
        """Keep values as extra and list them as one drift."""
        self.keep(spot, rows, kind)
        if len(rows):
            example = json.dumps(spot.first_leaf(int(rows[0])), ensure_ascii=False)
            self.note(kind, path, len(rows), example)

    @property
    def extra(self) -> dict[str, tuple[str, str]]:
        """By JSON path, the JSON text of each leaf that is kept, and why."""
        return {
            path: (text, why)
            for spot, rows, why in self.kept
            for row, value in zip(rows.tolist(), spot.values(rows), strict=True)
            for path, text in leaves(value, spot.path(row))
        }


def unclaimed(document: Spot, section: Section, ledger: Ledger) -> None:
    """Keep in a ledger all of a document that no column of a section takes."""
    _walk(document, claims(section), (), None, ledger)


def _walk(
    spot: Spot, claim: Claim, at: tuple[Step, ...], known: str | None, ledger: Ledger
) -> None:
    known = claim.known or known
    if claim.taken or spot.place is None:
        return
    if claim.entries is not None:
        _walk(spot.entries(), claim.entries, (*at, Entries()), known, ledger)
    else:
        for name in spot.fields() if claim.fields else ():
            below, steps = spot.field(name), (*at, Field(name))
            if name in claim.fields:
                _walk(below, claim.fields[name], steps, known, ledger)
            else:
                _put(ledger, below, below.rows, known, "new", steps)
    if claim.each is not None:
        _walk(spot.each(), claim.each, (*at, Each()), known, ledger)
    _put(ledger, spot, _unexpected(spot, claim, at), known, "wrong type", at)


def _put(
    ledger: Ledger, spot: Spot, rows: Places, known: str | None, kind: str, at: tuple[Step, ...]
) -> None:
    if known:
        ledger.keep(spot, rows, known)
    else:
        ledger.report(spot, rows, kind, format_path(at))


def _unexpected(spot: Spot, claim: Claim, at: tuple[Step, ...]) -> Places:
    """The rows whose value is of a kind that the claims below it cannot take."""
    place = spot.place
    if place is None:
        return np.empty(0, np.int64)
    takes: list[Rows] = []
    if claim.fields or claim.entries is not None:
        takes += place.record.rows if place.record else []
        takes += (rows for _, rows in (place.entries.lengths if place.entries else []))
    if claim.each is not None and place.items:
        takes += (rows for _, rows in place.items.lengths)
    # Null is expected of a field only: an element or an entry that is null has no row.
    null = not claim.known and bool(at) and isinstance(at[-1], Field) and place.null_count
    taken = count(takes) + int(null)
    if taken == count(place.rows):
        return np.empty(0, np.int64)
    if not taken:
        return spot.rows
    return np.setdiff1d(joined(place.rows), joined([*takes, place.nulls] if null else takes))
