"""The two sides of a comparison: what pairs them, and what forbids comparing them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

import pandas as pd

from aatoolkit.errors import ArgumentError, ColumnNotFound
from aatoolkit.frame.duplicates import answer_of
from aatoolkit.frame.groupby import By, find, flattened
from aatoolkit.frame.merge import rename
from aatoolkit.metadata.attrs import FrameMetadata, metadata_of

PROMPT = "prompt_id"
WINDOWS = ("now", "before")
"""What the two sides are called, unless each is of a host of its own."""

PREVIOUS = "previous_"
"""How the columns begin in which an answer gives the window before beside this one."""


def previous_window(
    frame: pd.DataFrame, measures: Iterable[str], before: str = "previous"
) -> pd.DataFrame:
    """The rows of a frame as they were in the window before, as far as its answer says.

    Raises
    ------
    ArgumentError
        If it is another word than ``previous``.
    ColumnNotFound
        If the answer does not give one of the measures for the window before.
    """
    if before != "previous":
        raise ArgumentError(
            f"before={before!r} is no frame; give one, or before='previous' for the window before, "
            "where the frame's own columns give it",
            argument="before",
        )
    flat = flattened(frame)
    measures = [*measures]
    find(flat, measures)
    lacking = [name for name in measures if f"{PREVIOUS}{name}" not in flat.columns]
    if lacking:
        there = [str(name) for name in flat.columns if str(name).startswith(PREVIOUS)]
        raise ColumnNotFound(
            f"there is no {PREVIOUS}{lacking[0]} in this frame, so it does not say what was "
            "before; compare with a frame of an earlier window"
            + (f", or one of {', '.join(there)} without its beginning" if there else ""),
            columns={f"{PREVIOUS}{name}": "there is no such column" for name in lacking},
        )
    earlier = [name for name in flat.columns if str(name).startswith(PREVIOUS)]
    names = {name: str(name).removeprefix(PREVIOUS) for name in earlier}
    known = metadata_of(flat)
    rest = [
        name
        for name in flat.columns
        if name not in (*earlier, *names.values())
        and (name in known.key or not pd.api.types.is_numeric_dtype(flat[name].dtype))
    ]
    return rename(flat[[*rest, *earlier]], columns=names)


def _of(known: FrameMetadata, name: str) -> str | None:
    return known.columns[name].of if name in known.columns else None


def names_of(by: By) -> list[str]:
    """The columns that groups are named by.

    Raises
    ------
    ArgumentError
        If one is no name of a column.
    """
    listed = [by] if isinstance(by, str | pd.Grouper) else list(by or ())
    names = [name for name in listed if isinstance(name, str)]
    if len(names) < len(listed):
        raise ArgumentError("by= takes names of columns here; put bins into a column first")
    return names


def pairing(
    now: pd.DataFrame,
    before: pd.DataFrame,
    keys: Sequence[str],
    pair: str | None = None,
    cluster: str | None = None,
) -> tuple[str | None, str | None]:
    """Return the columns that pair and cluster rows: prompts, where both frames name them."""
    given = pair or cluster
    for frame in (now, before):
        find(flattened(frame), [given] if given else [])
    both = [flattened(frame) for frame in (now, before)]
    if given or PROMPT in keys or not all(PROMPT in frame.columns for frame in both):
        return pair, cluster
    hosts = [{source.host for source in metadata_of(each).sources} - {None} for each in both]
    if all(hosts) and not hosts[0] & hosts[1]:
        return None, PROMPT  # an id names another prompt at another host
    shared = {*both[0][PROMPT].dropna()} & {*both[1][PROMPT].dropna()}
    return (PROMPT, None) if shared else (None, PROMPT)


def side_names(now: Iterable[FrameMetadata], before: Iterable[FrameMetadata]) -> tuple[str, str]:
    """Return what the sides are called: their hosts, if each has one of its own; else windows."""
    one, two = (
        {source.host for known in side for source in known.sources} for side in (now, before)
    )
    if len(one) == len(two) == 1 and one != two and None not in one | two:
        return str(one.pop()), str(two.pop())
    return WINDOWS


def overlapping(now: pd.DataFrame, before: pd.DataFrame, measure: str) -> str | None:
    """Return why two frames cannot be compared: they share answers; None if they share none."""
    knowns = [metadata_of(frame, levels=True) for frame in (now, before)]
    if _of(knowns[1], measure) == (_of(knowns[0], measure) or "").replace(".", f".{PREVIOUS}"):
        return None
    pairs = product(knowns[0].sources, knowns[1].sources)
    meeting = [
        (answer_of(one), answer_of(two))
        for one, two in pairs
        if one.section == two.section and not answer_of(one).is_disjoint(answer_of(two))
    ]
    if not meeting or _have_other_rows(now, before, knowns):
        return None
    one, two = meeting[0]
    reasons = f"the windows overlap ({two}, and {one})" if one != two else f"both hold {one}"
    return f"{reasons}: the same answers are on both sides; read windows that do not overlap"


def _have_other_rows(
    now: pd.DataFrame, before: pd.DataFrame, knowns: Sequence[FrameMetadata]
) -> bool:
    """Whether no row of one frame is in the other, by the key of both."""
    key = [*knowns[0].key]
    if not key or [*knowns[1].key] != key:
        return False
    one, two = (flattened(frame)[key].drop_duplicates() for frame in (now, before))
    return not len(one.merge(two, on=key))
