"""Rows that an aggregate would count twice: repeats of a join, and answers that overlap.

A measure belongs to the key of the table it was declared in. Rows with one key in one group
count once if they hold the same; if not, or where the key is gone from a frame whose rows were
repeated, the aggregate is refused. Rows of several answers add only if the answers are disjoint:
of different hosts, windows, engines, topics or categories. `Duplicates` finds both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit import sections
from aatoolkit.errors import AvailabilityError, ScopeError
from aatoolkit.frame.cell_status import Codes, Mask, is_status_column
from aatoolkit.frame.groupby import Groups
from aatoolkit.frame.merge import NO_KEY, is_joined
from aatoolkit.frame.reshape import CONTEXT
from aatoolkit.metadata.arrow_schema import declared_key
from aatoolkit.metadata.attrs import (
    FrameMetadata,
    Source,
    check_of,
    metadata_of,
    stored_of,
    tables_of,
)
from aatoolkit.metadata.fingerprint import hash_cells, row_hashes
from aatoolkit.scope import FILTERS, Scope

_PARTITIONS = tuple(name for name in FILTERS if name != "brand")
"""The filters of which an observation has one value; an answer may name several brands."""


IN_SEVERAL = "what is in several groups"
"""In place of the key of a table of which one row is in several groups of an aggregate."""


class Refused(Exception):
    """A column cannot be aggregated here, or would be counted twice; the message says why."""


@dataclass(frozen=True)
class Answer:
    """The host, window and filters of an answer, to detect whether two overlap."""

    host: str | None
    start: str | None
    end: str | None
    days: str | None
    filters: tuple[frozenset[str], ...]

    def is_disjoint(self, other: Answer) -> bool:
        """Whether two answers share nothing: other hosts, days, engines, topics or categories."""
        if self.host and other.host and self.host != other.host:
            return True
        are_dated = self.start and self.end and other.start and other.end
        if are_dated and (str(self.end) < str(other.start) or str(other.end) < str(self.start)):
            return True
        pairs = zip(FILTERS, self.filters, other.filters, strict=True)
        return any(one and two and not one & two for name, one, two in pairs if name in _PARTITIONS)

    def __str__(self) -> str:
        window = f"{self.start} to {self.end}" if self.start else f"{self.days or '?'} days"
        chosen = "; ".join(
            f"{name}={','.join(sorted(values))}"
            for name, values in zip(FILTERS, self.filters, strict=True)
            if values
        )
        return " ".join(part for part in (self.host, window, chosen) if part)


class Duplicates:
    """The rows of a frame that measures of its tables would count twice.

    Parameters
    ----------
    frame : pandas.DataFrame
        The frame.
    known : FrameMetadata
        Its metadata.
    groups : Groups
        The groups that its rows become.
    """

    def __init__(self, frame: pd.DataFrame, metadata: FrameMetadata, groups: Groups) -> None:
        self._frame, self._metadata, self._groups = frame, metadata, groups
        self._seen: dict[str, tuple[Codes, list[Answer]]] = {}
        self._context = [name for name in CONTEXT if name in frame.columns and metadata.holds(name)]

    def of(self, table: str, parts: Sequence[str]) -> Mask | None:
        """The rows to leave out of a measure of a table; None if there are none.

        Raises
        ------
        Refused
            If repeats cannot be identified, or they differ.
        """
        if table not in self._seen:
            self._seen[table] = self._first_rows(table)
        first, overlapping = self._seen[table]
        is_repeat: Mask = first != np.arange(len(first))
        repeats = np.flatnonzero(is_repeat)
        if not len(repeats):
            return None
        for part in parts:
            cells = hash_cells(self._frame[part].array)
            if (cells[repeats] != cells[first[repeats]]).any():
                raise Refused(_differing(part, overlapping))
        return is_repeat

    def is_in_several(self, table: str) -> bool:
        """Whether a row of a table that a join repeated is in several groups."""
        grain, missing = self._grain(table)
        if table not in self._metadata.repeated or missing or grain is None:
            return False
        keys = _alike([np.zeros(len(self._frame), np.int64), *self._columns(grain)])
        pairs = _alike([self._groups.ids, keys])
        return len(np.unique(pairs)) > len(np.unique(keys))

    def _columns(self, names: Iterable[str]) -> list[Any]:
        return [self._frame[name].array for name in names]

    def _first_rows(self, table: str) -> tuple[Codes, list[Answer]]:
        """For each row, the first row of its key and group; and the answers that overlap."""
        answers, codes = self._answers(table)
        pairs = [*combinations(answers, 2)]
        overlapping = [
            answer for pair in pairs if not pair[0].is_disjoint(pair[1]) for answer in pair
        ]
        is_disjoint = len(pairs) * 2 > len(overlapping)
        grain, missing = self._grain(table)
        ids, every = self._groups.ids, np.arange(len(self._frame))
        is_repeated = table in self._metadata.repeated
        placed = check_of(self._frame).placed() if is_repeated else None
        if placed and not overlapping and table not in stored_of(self._frame)[0].repeated:
            return _alike([ids, placed[0]]), overlapping  # by plain pandas, and it is known which
        if missing or grain is None:
            self._check_without_key(table, missing, overlapping, codes)
            return every, answers
        columns = [ids, *self._columns(name for name in grain if name not in self._groups.by_value)]
        first = _alike(columns)
        if (first == every).all() and grain:
            return every, answers
        if codes is None and is_disjoint:
            if (overlapping or is_repeated) and (first != every).any():
                raise Refused(
                    "rows of several answers have one key; add df.aa.with_context() to each "
                    "frame before combining them"
                )
            return every, answers
        if codes is not None and not overlapping:
            first = _alike([*columns, codes])
        elif codes is not None and is_disjoint and (first != every).any():
            raise Refused(_differing("the key", overlapping))
        return first, overlapping

    def _check_without_key(
        self,
        table: str,
        missing: Sequence[str],
        overlapping: Sequence[Answer],
        codes: Codes | None,
    ) -> None:
        is_summed = is_of_several = len(self._frame) > len(self._groups)
        if codes is not None and is_summed:
            seen = _alike([self._groups.ids, codes])
            is_of_several = len(np.unique(seen)) > len(self._groups)
        keep = f"keep {' and '.join(missing)} in the frame" if missing else f"{table} has no key"
        rows = f"rows of {table}"
        if is_joined(table):
            named = [name for name, what in self._metadata.columns.items() if what.table == table]
            rows = f"rows of the frame with {named[-1]}"
            if not missing or missing == [NO_KEY]:
                keep = "no column tells which of them are the same: aggregate before the join"
        if missing == [IN_SEVERAL] and is_summed:
            raise Refused(
                f"the groups overlap: {rows} are in several of them; aggregate the rows that "
                "were grouped, not the groups"
            )
        if table in self._metadata.repeated and is_summed:
            raise Refused(f"{rows} were repeated by a join or stacked twice; {keep}")
        if overlapping and is_of_several:
            raise Refused(f"the answers overlap: {_two(overlapping)}; {keep}")

    def _grain(self, table: str) -> tuple[list[str] | None, list[str]]:
        """The columns that identify a row of a table, and those of them that the frame lacks."""
        grain = self._metadata.grain(table, declared_key(table))
        if grain is None:
            return None, []
        columns = self._frame.columns
        gone = [n for n in grain if n not in columns or not self._metadata.holds(n)]
        if is_joined(table):
            return [*grain], gone
        extra = [name for name in ("_row",) if name in columns]
        return [name for name in (*grain, *extra) if name not in CONTEXT], gone

    def _answers(self, table: str) -> tuple[list[Answer], Codes | None]:
        """The answers that rows of a table are from, and which of them each row is from."""
        if is_joined(table):
            return [], None
        if not self._context:
            sources = [source for source in self._metadata.sources if _has(source, table)]
            return [*dict.fromkeys(map(answer_of, sources))], None
        rows = self._frame[self._context].astype("string")
        codes = rows.groupby(self._context, dropna=False, sort=False).ngroup().to_numpy(np.int64)
        distinct = rows.drop_duplicates().to_dict("records")
        return [_of_row({**row}) for row in distinct], np.asarray(codes)


def once(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of a frame, without those that are there again.

    Raises
    ------
    AvailabilityError
        If rows are alike that were repeated, and no column tells whether they are the same.
    """
    (stored, _), metadata, check = stored_of(frame), metadata_of(frame), check_of(frame)
    grains = {name: stored.grain(name, declared_key(name)) or () for name in tables_of(stored)}
    tables = {*metadata.repeated}
    tables |= {name for name, key in grains.items() if key and check.exceeds_distinct(key)}
    if not tables:
        return frame
    cells = [hash_cells(values.array) for _, values in frame.items()]
    placed = check.placed()
    if placed is not None:
        first = _alike([*cells, placed[0]]) == np.arange(len(frame))
        frame, cells = frame[first], [cell[first] for cell in cells]
        tables &= {*stored.repeated}
    first = _alike(cells) == np.arange(len(frame))
    if not tables or first.all():
        return frame
    keys = dict.fromkeys(name for table in sorted(tables) for name in grains.get(table, (NO_KEY,)))
    missing = [name for name in keys if name not in frame.columns]
    if missing:
        is_named = {NO_KEY, IN_SEVERAL}.isdisjoint(missing)
        keep = f"keep {' and '.join(missing)}" if is_named else "draw what was read before the join"
        why = "rows that are alike were repeated by a join or stacked twice, and nothing tells them"
        raise AvailabilityError(f"{why} apart; {keep}", columns=dict.fromkeys(missing, why))
    distinct: pd.DataFrame = frame.loc[first]
    return distinct


def _alike(columns: Sequence[Any]) -> Codes:
    """For each row the first that is like it, as far as hashes of 64 bits can tell."""
    hashes = [
        hash_cells(pd.array(values)) if isinstance(values, np.ndarray) else hash_cells(values)
        for values in columns
    ]
    codes, distinct = pd.factorize(row_hashes(hashes))
    first = np.empty(len(distinct), np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    return first[codes]


def _has(source: Source, table: str) -> bool:
    """Whether an answer may hold rows of a table."""
    try:
        return any(each.name == table for each in sections.get(source.section or ""))
    except (ScopeError, KeyError):
        return True


def answer_of(source: Source) -> Answer:
    """The host, window and filters of an answer."""
    scope = None if source.scope is None else Scope._from_query(source.scope)
    return Answer(
        source.host,
        source.window_start,
        source.window_end,
        str(scope.days) if scope else None,
        tuple(frozenset(scope._filters.get(name, ()) if scope else ()) for name in FILTERS),
    )


def _of_row(row: dict[object, object]) -> Answer:
    """Build an `Answer` from the context columns of a row."""

    def word(name: str) -> str | None:
        value = row.get(name)
        return value if isinstance(value, str) else None

    listed = [(word(f"filter_{name}") or "").split(",") for name in FILTERS]
    filters = [frozenset(filter(None, values)) for values in listed]
    start, end = word("window_start"), word("window_end")
    return Answer(word("host"), start, end, word("days"), tuple(filters))


def _two(answers: Iterable[Answer]) -> str:
    listed = [*dict.fromkeys(map(str, answers))]
    return " and ".join(listed[:2]) if len(listed) > 1 else f"two of {listed[0]}"


def _differing(name: str, overlapping: Sequence[Answer]) -> str:
    if overlapping:
        return (
            f"the answers overlap and {name} differs in them: {_two(overlapping)}; aggregate "
            "each alone, or by a column that tells them apart"
        )
    return f"rows of one key differ in {name}; aggregate before you join"


_CHANCE = 0.01
"""Below which chance of being alike by accident values are repeats."""

_SUFFIXES = ("_x", "_y")


def why_no_rule(frame: pd.DataFrame, metadata: FrameMetadata, name: str) -> str:
    """Return why a column has no declared rule, and what to do about it.

    A rule is suggested only for columns that never had one, or of which a merge has kept which
    rows they belong to.
    """
    column = metadata.columns[name]
    if metadata.is_lost(name):
        return (
            "its values are not those that were read (a plain groupby, pivot or assignment makes "
            "new ones): use df.aa.aggregate on the frame that was read, or say what they are: "
            f"rules={{{name!r}: 'sum'}}"
        )
    bare = name
    for suffix in _SUFFIXES:
        bare = bare.removesuffix(suffix)
    tables = [] if column.of else _tables_with(bare)
    if not tables:
        rule = "sum" if pd.api.types.is_numeric_dtype(frame[name].dtype) else "count"
        return f"it has no declared rule; give one, such as rules={{{name!r}: {rule!r}}}"
    lost = "a plain pandas step lost its declaration"
    names = [str(each) for each in frame.columns]
    if bare == name and any({*names} <= columns for columns in tables):
        how = "stack the frames that were read with aatoolkit.concat in place of pd.concat"
    else:
        how = (
            "write left.aa.merge(right, on=…) in place of left.merge, or add "
            ".aa.adopt(left, right) to what was merged"
        )
    return f"{lost}: {how}"


def _tables_with(name: str) -> list[set[str]]:
    """The columns of each declared table that has a measure of a name."""
    found = []
    for section in sections.names():
        for table in sections.get(section):
            for column in table.columns:
                if column.name == name and column.aggregate.rule not in ("none", "key"):
                    found.append({each.name for each in table.columns})
    return found


def check_repeats(frame: pd.DataFrame, groups: Groups, name: str) -> None:
    """Refuse a sum of values that seem to be repeated within groups, as after a plain merge.

    Parameters
    ----------
    frame : pandas.DataFrame
        The rows.
    groups : Groups
        The groups in which a sum would add them.
    name : str
        A column of numbers of which it is not known which rows they belong to.
    """
    there = frame[name].notna().to_numpy(bool)
    held, ids = frame.loc[there, name], groups.ids[there]
    if held.nunique() < 2 or held.isin([0, 1]).all():  # counts of rows, and flags
        return
    values = _alike([held.array])
    coded: dict[str, Codes] = {}
    for other, kind in frame.dtypes.items():
        is_number = pd.api.types.is_numeric_dtype(kind) or pd.api.types.is_bool_dtype(kind)
        if other != name and not is_number and not is_status_column(frame, str(other)):
            coded[str(other)] = _alike([frame[other].array[there]])
    for names in (*((other,) for other in coded), *combinations([*coded][:8], 2)):
        if _chance(_alike([coded[other] for other in names]), values, ids) < _CHANCE:
            raise Refused(
                f"{name} has one value per {' and '.join(names)} over {len(values):,} rows, so "
                "that a sum would count it several times; aggregate before the merge, or join with "
                "df.aa.merge, which counts each once"
            )


def _chance(keys: Codes, values: Codes, ids: Codes) -> float:
    """How likely rows of one key have one value by chance; 1 where they do not, or add nothing.

    Each further row of a key would have its value with the chance that two keys have the same.
    """
    count, distinct = len(keys), len(np.unique(keys))
    _, first, codes = np.unique(values, return_index=True, return_inverse=True)
    pairs = np.unique(_alike([keys, values]))
    is_alone = len(np.unique(_alike([ids, keys]))) == count
    if not 1 < distinct < count or distinct < len(pairs) or is_alone:
        return 1.0
    shares = np.bincount(codes[pairs], minlength=len(first)) / distinct
    return float((shares**2).sum() ** (count - distinct))
