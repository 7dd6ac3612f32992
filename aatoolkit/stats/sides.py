"""The two sides of a comparison: their names, what is paired, and windows that overlap.

The window before is also what a frame's own columns say of it, such as ``previous_rank``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

import pandas as pd

from aatoolkit.errors import ArgumentError, ItemNotFound
from aatoolkit.frame.duplicates import extent_of
from aatoolkit.frame.groupby import By, find, flattened
from aatoolkit.frame.merge import rename
from aatoolkit.metadata.arrow_schema import declared
from aatoolkit.metadata.attrs import FrameMetadata, metadata_of
from aatoolkit.stats.cluster_sums import Rules
from aatoolkit.stats.trace import derived

PROMPT = "prompt_id"
WINDOWS = ("now", "before")
"""What the two sides are called, unless each is of a host of its own."""

_BEFORE = frozenset(("previous", "prev", "prior", "before", "last"))
_COUNTING = frozenset(("count", "number", "num", "total"))
"""Words of names that say of which window a number is, and that it is a count."""


def _stem(name: str) -> tuple[bool, tuple[str, ...]]:
    """Whether a name says that it is of the window before, and what it says beside."""
    words = name.lower().split("_")
    rest = tuple(w.removesuffix("s") for w in words if w not in _BEFORE and w not in _COUNTING)
    return len({*words} & _BEFORE) > 0, rest


def previous_names(frame: pd.DataFrame) -> dict[str, str]:
    """The columns that hold the window before, and the column of which each does.

    Examples
    --------
    >>> columns = ["citation_count", "citations_previous", "value", "previous", "previous_rank"]
    >>> previous_names(pd.DataFrame(columns=columns))
    {'citations_previous': 'citation_count', 'previous': 'value'}
    """
    names = [str(name) for name in frame.columns]
    now = {stem: name for name in names for is_before, stem in [_stem(name)] if not is_before}
    value = now.get(("value",))
    pairs = {}
    for name in names:
        is_before, stem = _stem(name)
        measure = now.get(stem) if stem else value
        exact = name.removeprefix("previous_")
        if is_before and measure is not None:
            pairs[name] = exact if exact in names and exact != name else measure
    return pairs


def previous_window(
    frame: pd.DataFrame, measures: Iterable[str], before: str = "previous"
) -> pd.DataFrame:
    """The rows of a frame as they were in the window before, as far as its answer says.

    Raises
    ------
    ArgumentError
        If it is another word than ``previous``.
    ItemNotFound
        If the answer does not give one of the measures for the window before.
    """
    if before != "previous":
        raise ArgumentError(
            f"baseline={before!r} is no frame; give one, or baseline='previous' for the window "
            "before, where the frame's own columns give it",
            argument="baseline",
        )
    flat = flattened(frame)
    measures = [*measures]
    find(flat, measures)
    names = previous_names(flat)
    lacking = [name for name in measures if name not in names.values()]
    if lacking:
        raise ItemNotFound(
            f"there is no previous_{lacking[0]} in this frame, so it does not say what was "
            "before; compare with a frame of an earlier window"
            + (f", or one of {', '.join(names.values())}" if names else ""),
            columns={f"previous_{name}": "there is no such column" for name in lacking},
        )
    metadata = metadata_of(flat)
    rest = [
        name
        for name in flat.columns
        if name not in names
        and name not in names.values()
        and (name in metadata.key or not pd.api.types.is_numeric_dtype(flat[name].dtype))
    ]
    window = rename(flat[[*rest, *names]], columns=names)
    return derived(window, frame, names={measure: name for name, measure in names.items()})


def _of(metadata: FrameMetadata, name: str) -> str | None:
    return metadata.columns[name].of if name in metadata.columns else None


def _is_previous(now: str | None, before: str | None) -> bool:
    """Whether a declared column holds the window before of another one, in the same table."""
    tables = [(of or "").rpartition(".")[0] for of in (now, before)]
    if not now or not before or tables[0] != tables[1]:
        return False
    (is_before, stem), (is_now_before, own) = (_stem(of.rpartition(".")[2]) for of in (before, now))
    return is_before and not is_now_before and stem in ((), own)


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
    by: str = PROMPT,
) -> tuple[str | None, str | None]:
    """Return the columns that pair and cluster rows: prompts, where both frames name them."""
    given = pair or cluster
    for frame in (now, before):
        find(flattened(frame), [given] if given else [])
    both = [flattened(frame) for frame in (now, before)]
    if given or by in keys or not all(by in frame.columns for frame in both):
        return pair, cluster
    hosts = [{source.host for source in metadata_of(each).sources} - {None} for each in both]
    if all(hosts) and not hosts[0] & hosts[1]:
        return None, by  # an id names another prompt at another host
    shared = {*both[0][by].dropna()} & {*both[1][by].dropna()}
    return (by, None) if shared else (None, by)


def side_names(now: Iterable[FrameMetadata], before: Iterable[FrameMetadata]) -> tuple[str, str]:
    """Return what the sides are called: their hosts, if each has one of its own; else windows."""
    one, two = (
        {source.host for metadata in side for source in metadata.sources} for side in (now, before)
    )
    if len(one) == len(two) == 1 and one != two and None not in one | two:
        return str(one.pop()), str(two.pop())
    return WINDOWS


def overlapping(now: pd.DataFrame, before: pd.DataFrame, measure: str) -> str | None:
    """Return why two frames cannot be compared: they share answers; None if they share none."""
    knowns = [metadata_of(frame, levels=True) for frame in (now, before)]
    if _is_previous(*(_of(metadata, measure) for metadata in knowns)):
        return None
    pairs = product(knowns[0].sources, knowns[1].sources)
    meeting = [
        (extent_of(one), extent_of(two))
        for one, two in pairs
        if one.section == two.section and not extent_of(one).is_disjoint(extent_of(two))
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


def rules_of(
    frames: Sequence[pd.DataFrame], measure: str, rules: Rules | None
) -> tuple[Rules | None, Rules | None]:
    """The rules of both sides: the window before adds up as the column does of which it is.

    A count and the same count of the window before may be declared with different rules, where the
    answers that the profile was drafted from proved more of one than of the other.
    """
    now, before = (metadata_of(frame, levels=True) for frame in frames)
    if measure in (rules or {}) or not _is_previous(_of(now, measure), _of(before, measure)):
        return rules, rules
    column = declared(now.columns[measure])
    if column is None or column.aggregate.rule != "sum":
        return rules, rules
    return rules, {**(rules or {}), measure: column.aggregate}
