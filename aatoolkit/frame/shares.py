"""Rates and shares of several answers: counts over the wholes of the answers, each once.

A share of one answer's whole, such as a domain's of all citations, and a rate whose rows overlap,
such as that of the answers that mention a brand, are computed over several answers if the frame
holds their counts: the numerator adds over rows, the denominator is one number for each answer. An
answer without a row of a group is zero only if its rows are known to be all there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from aatoolkit import sections
from aatoolkit.frame.cell_status import Codes, Mask
from aatoolkit.frame.groupby import Groups, as_floats
from aatoolkit.frame.reshape import CONTEXT
from aatoolkit.metadata.arrow_schema import declared
from aatoolkit.metadata.attrs import FrameMetadata

_MOST_PAIRS = 1_000_000


@dataclass(frozen=True)
class Wholes:
    """The denominators of groups: one row of each answer that a group is a part of.

    Parameters
    ----------
    answers : array of int
        For each row of the frame, its answer.
    groups, rows : array of int
        Pairs of a group and the first row of an answer, whose whole is part of its denominator.
    lacking : array of int
        For each group how many answers have no row of it, of which it is not known that it is 0.
    total : array of int
        For each group how many answers there are.
    """

    answers: Codes
    groups: Codes
    rows: Codes
    lacking: Codes
    total: Codes

    def kept(self, used: Mask, ids: Codes) -> tuple[Codes, Codes]:
        """The pairs of group and row, without answers of which rows of the group are left out."""
        kinds = int(self.answers.max(initial=0)) + 1
        left_out = ids[~used] * kinds + self.answers[~used]
        keep = ~np.isin(self.groups * kinds + self.answers[self.rows], left_out)
        return self.groups[keep], self.rows[keep]

    def sums(
        self, values: npt.NDArray[np.float64], used: Mask, ids: Codes
    ) -> npt.NDArray[np.float64]:
        """The denominator of each group."""
        groups, rows = self.kept(used, ids)
        found = np.bincount(groups, values[rows], minlength=len(self.lacking))
        return found.astype(np.float64)


def wholes_of(
    frame: pd.DataFrame, known: FrameMetadata, groups: Groups, name: str, counts: Sequence[str]
) -> Wholes | None:
    """Find the wholes of a rate or share over several answers; None if they are not sure.

    Parameters
    ----------
    frame : pandas.DataFrame
        The rows.
    known : FrameMetadata
        Their metadata.
    groups : Groups
        The groups that they become.
    name : str
        The column.
    counts : sequence of str
        Its numerator and denominator, in the names of the frame.
    """
    table = known.columns[name].table
    apart = [part for part in known.key if known.columns[part].table != table]
    apart += [part for part in CONTEXT if part in frame.columns and known.holds(part)]
    apart = [*dict.fromkeys(part for part in apart if part in frame.columns)]
    grouped = [part for part in groups.keys.columns if part in apart]
    if not apart or not {*grouped} <= groups.by_value:
        return None
    if not _add_up(known, name) and not _has_one_key(frame, known, groups, table):
        return None
    answers = frame.groupby(apart, dropna=False, sort=False, observed=True).ngroup()
    codes: Codes = np.asarray(answers, np.int64)
    whole = pd.Series(as_floats(frame[counts[1]]))
    if (whole.groupby(codes).nunique(dropna=False) != 1).any():
        return None
    first = pd.Series(codes).drop_duplicates().index.to_numpy(np.int64)
    if len(groups) * len(first) > _MOST_PAIRS:
        return None
    place = groups.keys[grouped].assign(_group=np.arange(len(groups)))
    row = frame[grouped].iloc[first].assign(_row=first)
    pairs = place.merge(row, on=grouped) if grouped else place.merge(row, how="cross")
    group, rows = (pairs[part].to_numpy(np.int64) for part in ("_group", "_row"))
    kinds = len(first)
    has_row = np.isin(group * kinds + codes[rows], groups.ids * kinds + codes)
    is_sure = has_row | _are_all(frame, known, table, counts[0], codes)[codes[rows]]
    total = np.bincount(group, minlength=len(groups))
    lacking = np.bincount(group[~is_sure], minlength=len(groups))
    return Wholes(codes, group[is_sure], rows[is_sure], lacking, total)


def _add_up(known: FrameMetadata, name: str) -> bool:
    """Whether the rows of one answer add up."""
    column = declared(known.columns[name])
    return column is not None and column.aggregate.rule == "sum"


def _has_one_key(frame: pd.DataFrame, known: FrameMetadata, groups: Groups, table: str) -> bool:
    """Whether each group is of one thing, such as one brand, so that its rows do not overlap."""
    names = {column.of: name for name, column in known.columns.items()}
    key = [names.get(f"{table}.{part}", "") for part in sections.table(table).key]
    if not key or not all(part in frame.columns and known.holds(part) for part in key):
        return False
    rows = frame[key].assign(_group=groups.ids).drop_duplicates()
    return not rows["_group"].duplicated().any()


def _are_all(
    frame: pd.DataFrame, known: FrameMetadata, table: str, count: str, codes: Codes
) -> Mask:
    """By answer whether its rows are all there are: their counts come to the whole of a share."""
    names = {column.of: name for name, column in known.columns.items()}
    sums = pd.Series(as_floats(frame[count])).groupby(codes).sum(min_count=1)
    found = np.zeros(len(sums), bool)
    for column in sections.table(table).columns:
        rule = column.aggregate
        if rule.rule != "sum" or rule.counts is None:
            continue
        parts = [names.get(f"{table}.{part}") for part in rule.counts]
        if parts[0] == count and parts[1] in frame.columns:
            wholes = pd.Series(as_floats(frame[parts[1]])).groupby(codes).first()
            found |= (sums == wholes).to_numpy(bool)
    return found
