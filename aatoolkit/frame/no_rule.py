"""Columns without a declared rule: what would have kept it, and sums that would count twice.

What plain pandas joined or stacked has lost its declarations, so that nobody knows which rows of
which frame a value belongs to. A sum that is asked for nevertheless is refused where the values
show that a join repeated them: where they have one value for each value of another column, over
several rows, and would hardly have it by chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from aatoolkit import sections
from aatoolkit.frame.cell_status import Codes, is_status_column
from aatoolkit.frame.groupby import Groups
from aatoolkit.metadata.attrs import FrameMetadata

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
            "its values are not those that were read (a plain groupby, pivot or assignment "
            "makes new ones): use df.aa.aggregate on the frame that was read"
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
        how = "write left.aa.merge(right), or add .aa.adopt(left, right) to what was merged"
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
