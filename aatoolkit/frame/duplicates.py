"""Rows that an aggregate would count twice: repeats of a join, and answers that overlap.

A measure belongs to the key of the table it was declared in. Rows with one key in one group
count once if they hold the same; if not, or where the key is gone from a frame whose rows were
repeated, the aggregate is refused. Rows of several answers add only if the answers are disjoint:
of different hosts, windows, engines, topics or categories. `Duplicates` finds both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

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
from aatoolkit.metadata.fingerprint import hash_cells
from aatoolkit.scope import FILTERS, Scope

_MIXER = np.uint64(0x9E37_79B9_7F4A_7C15)
_PARTITIONS = tuple(name for name in FILTERS if name != "brand")
"""The filters of which an observation has one value; an answer may name several brands."""


IN_SEVERAL = "what is in several groups"
"""In place of the key of a table of which one row is in several groups of an aggregate."""


class DoubleCount(Exception):
    """The rows of a column would be counted twice; the message says why."""


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
        known = self.start and self.end and other.start and other.end
        if known and (str(self.end) < str(other.start) or str(other.end) < str(self.start)):
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

    def __init__(self, frame: pd.DataFrame, known: FrameMetadata, groups: Groups) -> None:
        self._frame, self._known, self._groups = frame, known, groups
        self._found: dict[str, tuple[Codes, Mask, list[Answer]]] = {}

    def of(self, table: str, parts: Sequence[str]) -> Mask | None:
        """The rows to leave out of a measure of a table; None if there are none.

        Raises
        ------
        DoubleCount
            If repeats cannot be identified, or they differ.
        """
        if table not in self._found:
            self._found[table] = self._repeats(table)
        first, repeats, overlapping = self._found[table]
        if not repeats.any():
            return None
        at = np.flatnonzero(repeats)
        for part in parts:
            values = self._frame[part].reset_index(drop=True)
            one, two = values.iloc[at], values.iloc[first[at]].set_axis(at)
            same = (one == two).fillna(False).to_numpy(bool) | (one.isna() & two.isna()).to_numpy()
            if not same.all():
                raise DoubleCount(_differing(part, overlapping))
        return repeats

    def is_in_several(self, table: str) -> bool:
        """Whether a row of a table that a join repeated is in several groups."""
        grain, missing = self._grain(table)
        if table not in self._known.repeated or missing or grain is None:
            return False
        keys = pd.concat([*(self._codes(name) for name in grain)], axis=1) if grain else None
        rows = pd.DataFrame({"group": self._groups.ids})
        if keys is None:
            return len(rows.drop_duplicates()) > 1
        keys = keys.set_axis([*range(keys.shape[1])], axis=1)
        whole = pd.concat([rows, keys], axis=1)
        return len(whole.drop_duplicates()) > len(keys.drop_duplicates())

    def _repeats(self, table: str) -> tuple[Codes, Mask, list[Answer]]:
        """For each row, the first row of its key and group, and whether it repeats that one."""
        answers, codes = self._answers(table)
        overlapping = [
            answer
            for pair in combinations(answers, 2)
            if not pair[0].is_disjoint(pair[1])
            for answer in pair
        ]
        disjoint = any(one.is_disjoint(two) for one, two in combinations(answers, 2))
        grain, missing = self._grain(table)
        nothing = np.zeros(len(self._frame), np.int64), np.zeros(len(self._frame), bool), answers
        if self._is_repeated_plainly(table) and not overlapping:
            places = [pd.Series(self._groups.ids), pd.Series(self._places)]
            return *_first_and_repeats(places), overlapping
        if missing or grain is None:
            self._check_without_key(table, missing, overlapping, codes)
            return nothing
        inner = [name for name in grain if name not in self._groups.by_value]
        if grain and self._are_distinct(inner):
            return nothing
        columns = [pd.Series(self._groups.ids), *(self._codes(name) for name in inner)]
        if codes is None and disjoint and (overlapping or table in self._known.repeated):
            if pd.concat(columns, axis=1).duplicated().any():
                raise DoubleCount(
                    "rows of several answers have one key; add df.aa.with_context() to each "
                    "frame before combining them"
                )
            return nothing
        if codes is None and disjoint:
            return nothing
        if codes is not None and not overlapping:
            columns.append(pd.Series(codes))
        first, repeats = _first_and_repeats(columns)
        if codes is not None and overlapping and disjoint and repeats.any():
            raise DoubleCount(_differing("the key", overlapping))
        return first, repeats, overlapping

    def _is_repeated_plainly(self, table: str) -> bool:
        """Whether rows of a table were repeated by plain pandas, and it is known which."""
        is_new = table in self._known.repeated and table not in stored_of(self._frame)[0].repeated
        return is_new and self._places is not None

    @cached_property
    def _places(self) -> Codes | None:
        """For each row which of the rows it is that were described; None where that is not sure."""
        placed = check_of(self._frame).placed()
        return None if placed is None else placed[0].astype(np.int64)

    def _check_without_key(
        self,
        table: str,
        missing: Sequence[str],
        overlapping: Sequence[Answer],
        codes: Codes | None,
    ) -> None:
        several = several_answers = len(self._frame) > len(self._groups)
        if codes is not None and several:
            seen = pd.DataFrame({"group": self._groups.ids, "answer": codes}).drop_duplicates()
            several_answers = len(seen) > len(self._groups)
        keep = f"keep {' and '.join(missing)} in the frame" if missing else f"{table} has no key"
        rows = f"rows of {table}"
        if is_joined(table):
            rows = f"rows of the frame with {self._column_of(table)}"
            if not missing or missing == [NO_KEY]:
                keep = "no column tells which of them are the same: aggregate before the join"
        if missing == [IN_SEVERAL] and several:
            raise DoubleCount(
                f"the groups overlap: {rows} are in several of them; aggregate the rows that "
                "were grouped, not the groups"
            )
        if table in self._known.repeated and several:
            raise DoubleCount(f"{rows} were repeated by a join or stacked twice; {keep}")
        if overlapping and several_answers:
            raise DoubleCount(f"the answers overlap: {_two(overlapping)}; {keep}")

    def _column_of(self, table: str) -> str:
        """A column of a table, by which to name a frame that has no name."""
        return [name for name, what in self._known.columns.items() if what.table == table][-1]

    def _grain(self, table: str) -> tuple[list[str] | None, list[str]]:
        """The columns that identify a row of a table, and those of them that the frame lacks."""
        grain = self._known.grain(table, declared_key(table))
        if grain is None:
            return None, []
        gone = [name for name in grain if name not in self._frame.columns]
        gone += [name for name in grain if name not in gone and not self._known.holds(name)]
        if is_joined(table):
            return [*grain], gone
        extra = [name for name in ("_row",) if name in self._frame.columns]
        return [name for name in (*grain, *extra) if name not in CONTEXT], gone

    def _answers(self, table: str) -> tuple[list[Answer], Codes | None]:
        """The answers that rows of a table are from, and which of them each row is from."""
        if is_joined(table):
            return [], None
        listed = {answer_of(each): None for each in self._known.sources if _has(each, table)}
        if len(listed) < 2 and len(self._context) < 1:
            return [*listed], None
        named = [name for name in CONTEXT if name in self._context]
        if not named:
            return [*listed], None
        rows = self._frame[named].astype("string")
        codes = rows.groupby(named, dropna=False, sort=False).ngroup().to_numpy(np.int64)
        distinct = rows.set_axis(range(len(rows))).drop_duplicates()
        return [_of_row(dict(row)) for row in distinct.to_dict("records")], np.asarray(codes)

    @cached_property
    def _context(self) -> set[str]:
        """The columns of context that the frame has, if they are those that were added."""
        return {name for name in CONTEXT if name in self._frame.columns and self._known.holds(name)}

    def _are_distinct(self, names: Sequence[str]) -> bool:
        """Whether no two rows of a group have the same values, as far as hashes can tell.

        Other hashes are other values. Equal ones may be of other values too, by chance: then
        the rows are numbered by their values, which takes longer.
        """
        whole = self._groups.ids.astype(np.uint64)
        for name in names:
            cells = hash_cells(self._frame[name].array)
            whole = (whole ^ (whole >> np.uint64(29))) * _MIXER + cells
        whole.sort()
        return not (whole[1:] == whole[:-1]).any()

    def _codes(self, name: str) -> pd.Series:
        return pd.Series(pd.factorize(self._frame[name])[0])


def once(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of a frame, without those that are there again.

    Raises
    ------
    AvailabilityError
        If rows are alike that were repeated, and no column tells whether they are the same.
    """
    (stored, _), known, check = stored_of(frame), metadata_of(frame), check_of(frame)
    grains = {name: stored.grain(name, declared_key(name)) or () for name in tables_of(stored)}
    tables = {*known.repeated}
    tables |= {name for name, key in grains.items() if key and check.exceeds_distinct(key)}
    if not tables:
        return frame
    cells = [pd.Series(hash_cells(values.array)) for _, values in frame.items()]
    placed = check.placed()
    if placed is not None:
        _, again = _first_and_repeats([*cells, pd.Series(placed[0])])
        frame, cells = frame[~again], [cell[~again].reset_index(drop=True) for cell in cells]
        tables &= {*stored.repeated}
    _, again = _first_and_repeats(cells)
    if not tables or not again.any():
        return frame
    keys = dict.fromkeys(name for table in sorted(tables) for name in grains.get(table, (NO_KEY,)))
    missing = [name for name in keys if name not in frame.columns]
    if missing:
        is_named = {NO_KEY, IN_SEVERAL}.isdisjoint(missing)
        keep = f"keep {' and '.join(missing)}" if is_named else "draw what was read before the join"
        why = "rows that are alike were repeated by a join or stacked twice, and nothing tells them"
        raise AvailabilityError(f"{why} apart; {keep}", columns=dict.fromkeys(missing, why))
    return frame[~again]


def _first_and_repeats(columns: Sequence[pd.Series]) -> tuple[Codes, Mask]:
    """For each row the first that is like it in some columns, and whether that is another one."""
    whole = pd.concat(columns, axis=1).set_axis([*range(len(columns))], axis=1)
    kinds = whole.groupby([*whole], dropna=False, sort=False).ngroup()
    starts = kinds.drop_duplicates()
    first = pd.Series(starts.index, index=starts.array).reindex(kinds)
    return first.to_numpy(np.int64), whole.duplicated().to_numpy()


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


_CHANCE, _PERHAPS = 0.01, 0.3
"""Below which chance of being alike by accident values are repeats, and below which perhaps."""

_MOST_COLUMNS = 8
"""Among how many columns pairs are looked for that identify the repeated rows."""

_SUFFIXES = ("_x", "_y")


def why_no_rule(frame: pd.DataFrame, known: FrameMetadata, name: str) -> str:
    """Return why a column has no declared rule, and what to do about it.

    A rule is suggested only for columns that never had one, or of which a merge has kept which
    rows they belong to.
    """
    column = known.columns[name]
    if known.is_lost(name):
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


@dataclass(frozen=True)
class RepeatedValues:
    """Columns whose every value has one value of another column, over several rows of a group."""

    name: str
    columns: tuple[str, ...]
    rows: int
    chance: float

    @property
    def is_sure(self) -> bool:
        """Whether the values would hardly be the same by chance."""
        return self.chance < _CHANCE

    def __str__(self) -> str:
        several = "would count" if self.is_sure else "may count"
        return (
            f"{self.name} has one value per {' and '.join(self.columns)} over {self.rows:,} rows, "
            f"so that a sum {several} it several times; aggregate before the merge, or join with "
            "df.aa.merge, which counts each once"
        )


def repeats_of(frame: pd.DataFrame, groups: Groups, name: str) -> RepeatedValues | None:
    """Find by which columns the values of a column seem to be repeated within groups.

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
    held = frame.loc[there, name]
    values, kinds = _codes(held)
    if kinds < 2 or held.isin([0, 1]).all():  # counts of rows, and flags
        return None
    ids = groups.ids[there]
    coded: dict[str, Codes] = {}
    for other in frame.columns:
        if other != name and isinstance(other, str) and _is_word(frame, other):
            codes, kinds = _codes(frame.loc[there, other])
            if 1 < kinds < len(values):
                coded[other] = codes
    for names in ((other,) for other in coded):
        chance = _chance(coded[names[0]], values, ids)
        if chance < _PERHAPS:
            return RepeatedValues(name, names, len(values), chance)
    for one, two in combinations([*coded][:_MOST_COLUMNS], 2):
        keys = coded[one] * (int(coded[two].max()) + 1) + coded[two]
        chance = _chance(keys, values, ids)
        if chance < _CHANCE:
            return RepeatedValues(name, (one, two), len(values), chance)
    return None


def _is_word(frame: pd.DataFrame, name: str) -> bool:
    """Whether a column could be a key: a text, a category or a day, named once, and no status."""
    if (frame.columns == name).sum() != 1 or is_status_column(frame, name):
        return False
    kind = frame[name].dtype
    return not (pd.api.types.is_numeric_dtype(kind) or pd.api.types.is_bool_dtype(kind))


def _codes(values: pd.Series) -> tuple[Codes, int]:
    try:
        codes, levels = pd.factorize(values, use_na_sentinel=False)
    except TypeError:  # lists have no hash
        return np.arange(len(values), dtype=np.int64), len(values)
    return codes.astype(np.int64), len(levels)


def _chance(keys: Codes, values: Codes, ids: Codes) -> float:
    """How likely rows of one key have one value by chance; 1 where they do not, or add nothing.

    Each further row of a key would have its value with the chance that two keys have the same.
    """
    count = len(keys)
    pairs = np.unique(keys * (int(values.max()) + 1) + values)
    distinct = len(np.unique(keys))
    if distinct < len(pairs) or len(np.unique(ids * (int(keys.max()) + 1) + keys)) == count:
        return 1.0
    shares = np.bincount(pairs % (int(values.max()) + 1)) / distinct
    return float((shares**2).sum() ** (count - distinct))
