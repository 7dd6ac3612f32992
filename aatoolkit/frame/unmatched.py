"""Warn where keys of a merge do not meet: no value is equal, or some differ by case or spaces."""

from __future__ import annotations

import unicodedata
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from aatoolkit._util.text import visible
from aatoolkit.errors import MergeWarning, near_matches
from aatoolkit.metadata.attrs import has_metadata

_NAMED = 3
"""How many values a warning names."""

_COMPARED = 50
"""Among how many values near matches are looked for."""


_LEAVING_OUT = {"left": (1,), "right": (0,), "inner": (0, 1)}
"""By the kind of a merge the sides of which it leaves out rows without a partner."""


def warn_of_unmatched(
    left: pd.DataFrame, right: pd.DataFrame, options: Mapping[str, Any], stacklevel: int = 2
) -> None:
    """Warn if no key value of one frame is in the other, or if some differ by their spelling only.

    Beside a frame that was not read from the service also if rows are left out because their
    keys have no partner, with the number of such keys on each side.

    Parameters
    ----------
    left, right : pandas.DataFrame
        Frames that were merged.
    options : mapping
        The arguments of ``pandas.DataFrame.merge``.
    stacklevel : int
        Whose line the warning names, as of `warnings.warn`.
    """
    if not len(left) or not len(right) or str(options.get("how")).endswith("_anti"):
        return
    pairs = [*_pairs(left, right, options)]
    for one, two in pairs:
        values = [frame[name].dropna() for frame, name in ((left, one), (right, two))]
        try:
            sides = [set(each.unique()) for each in values]
        except TypeError:  # values without a hash, of which pandas makes no key either
            continue
        message = _message(sides[0], sides[1], str(one), str(two)) if all(sides) else ""
        if message:
            warnings.warn(message, MergeWarning, stacklevel=stacklevel + 1)
            return
    names = [[*each] for each in zip(*pairs, strict=True)]
    if len(pairs) > 1 and _are_apart(left[names[0]], right[names[1]]):
        both = ", ".join(map(str, names[0]))
        message = (
            f"no row of the right frame has the {both} of a row of the left one, though each value "
            "is on both sides; perhaps one of the columns is no part of the key: on="
        )
        warnings.warn(message, MergeWarning, stacklevel=stacklevel + 1)
        return
    if pairs and not (has_metadata(left) and has_metadata(right)):
        message = _left_out(left[names[0]], right[names[1]], str(options.get("how") or "inner"))
        if message:
            warnings.warn(message, MergeWarning, stacklevel=stacklevel + 1)


def _left_out(left: pd.DataFrame, right: pd.DataFrame, how: str) -> str:
    """Say how many keys of each side have no partner, if the merge leaves out rows of some.

    What a left or right merge keeps without a partner has missing values there, and says so.
    """
    one, two = _distinct(left), _distinct(right)
    if how not in _LEAVING_OUT or not (one and two):
        return ""
    found, lacking = (one, two), (one - two, two - one)
    if not any(lacking[side] for side in _LEAVING_OUT[how]):
        return ""
    parts = []
    for side in sorted((0, 1), key=lambda side: side not in _LEAVING_OUT[how]):
        few, many = len(lacking[side]), len(found[side])
        if not few:
            continue
        named = sorted(visible(repr(key if len(key) > 1 else key[0])) for key in lacking[side])
        out = f", and a merge with how={how!r} leaves {'its' if few == 1 else 'their'} rows out"
        parts.append(
            f"{few:,} of {many:,} keys of the {('left', 'right')[side]} frame "
            f"{'has' if few == 1 else 'have'} no partner on the {('right', 'left')[side]} "
            f"({', '.join(named[:_NAMED])}{', …' * (few > _NAMED)})"
            f"{out * (side in _LEAVING_OUT[how])}"
        )
    return f"{'; '.join(parts)}; how='outer' keeps all, indicator=True says which"


def _distinct(frame: pd.DataFrame) -> set[tuple[Any, ...]]:
    """The keys of a frame; none where they cannot be compared."""
    try:
        return {*frame.dropna().drop_duplicates().itertuples(index=False, name=None)}
    except TypeError:  # lists have no hash
        return set()


def _pairs(
    left: pd.DataFrame, right: pd.DataFrame, options: Mapping[str, Any]
) -> Iterable[tuple[Any, Any]]:
    """Return the columns that are compared with each other."""
    both = [options.get("left_on"), options.get("right_on")]
    if options.get("on") is not None:
        both = [options["on"]] * 2
    elif both == [None, None]:
        if options.get("left_index") or options.get("right_index") or options.get("how") == "cross":
            return
        both = [[name for name in left.columns if name in {*right.columns}]] * 2
    listed = [[*each] if isinstance(each, list | tuple) else [each] for each in both]
    if len(listed[0]) != len(listed[1]):
        return  # a key beside an index
    for one, two in zip(*listed, strict=True):
        if _is_column(left, one) and _is_column(right, two):
            yield one, two


def _are_apart(left: pd.DataFrame, right: pd.DataFrame) -> bool:
    """Whether no row of one frame is equal to a row of the other."""
    one, two = _distinct(left), _distinct(right)
    return bool(one and two and not one & two)


def _is_column(frame: pd.DataFrame, name: object) -> bool:
    return isinstance(name, str) and (frame.columns == name).sum() == 1


def _message(left: set[Any], right: set[Any], one: str, two: str) -> str:
    """Say which values do not meet, and how they would."""
    spelled: dict[str, str] = {}
    for value in left - right:
        if isinstance(value, str):
            spelled.setdefault(_folded(value), value)
    alike = [
        (value, spelled[_folded(value)])
        for value in right - left
        if isinstance(value, str) and _folded(value) in spelled
    ]
    here, there = f"{one} of the left frame", f"{two} of the right one"
    if alike:
        pairs = sorted(alike)[:_NAMED]
        some = "; ".join(f"{visible(old)!r} is {visible(new)!r} on the left" for old, new in pairs)
        many = len(alike)
        more = f"; {many - len(pairs)} more" if many > len(pairs) else ""
        what = "value differs" if many == 1 else "values differ"
        return (
            f"{many} {what} from {here} by case, spaces or accents only, and did not match "
            f"({some}{more}); write them as there before the merge: "
            f"right.replace({{{two!r}: {dict(pairs)!r}}})"
        )
    if left & right:
        return ""
    named = [sorted(map(str, values))[:_COMPARED] for values in (left, right)]
    near = [
        (value, found[0])
        for value in named[1]
        if (found := near_matches(value, named[0], cutoff=0.8))
    ]
    guess = "".join(f"; is {visible(a)!r} {visible(b)!r}?" for a, b in near[:_NAMED])
    shown = [", ".join(visible(repr(value)) for value in each[:_NAMED]) for each in named]
    return (
        f"no value of {here} is in {there}: {shown[0]} …, and {shown[1]} …{guess} Name other "
        "columns (left_on=, right_on=), or write the values alike before the merge"
    )


def _folded(value: str) -> str:
    """A text without what people write differently: case, spaces and accents."""
    plain = unicodedata.normalize("NFKD", value.casefold())
    return "".join(each for each in plain if not each.isspace() and not unicodedata.combining(each))
