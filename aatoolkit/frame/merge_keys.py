"""Keys of a merge: whether both frames have them, and what to do where they do not meet."""

from __future__ import annotations

import unicodedata
import warnings
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit._util.text import visible
from aatoolkit.errors import (
    AAToolkitWarning,
    ArgumentError,
    ItemNotFound,
    did_you_mean,
    near_matches,
)
from aatoolkit.metadata.arrow_schema import declared
from aatoolkit.metadata.attrs import NOTHING, has_metadata, metadata_of


def check_keys(left: pd.DataFrame, right: pd.DataFrame, options: Mapping[str, Any]) -> None:
    """Raise if a key is no column or level of its frame, or if none is named and measures match.

    Raises
    ------
    ItemNotFound
        If a key is not there; the message has names that look alike.
    ArgumentError
        If it is of a kind that cannot name a column.
    ArgumentError
        If no key is named, and a column that both frames have is a measure by its declaration.
    """
    _check_shared(left, right, options)
    for frame, word, names in (
        (left, "left", ("on", "left_on")),
        (right, "right", ("on", "right_on")),
    ):
        there = [*frame.columns, *(name for name in frame.index.names if name is not None)]
        for option in names:
            given = options.get(option)
            listed = [*given] if isinstance(given, list | tuple) else [given]
            for name in listed if given is not None else ():
                if isinstance(name, np.ndarray | pd.Series | pd.Index):
                    continue
                if not isinstance(name, Hashable) or name is None:
                    raise ArgumentError(
                        f"{option}={type(name).__name__} is no name of a column", argument=option
                    )
                if name not in there:
                    near = did_you_mean(near_matches(str(name), map(str, there)))
                    why = f"the {word} frame has no column {name!r}"
                    rest = near or f"it has {', '.join(map(str, there[:12]))}"
                    how = "; where the frames name it differently: left_on=, right_on="
                    raise ItemNotFound(f"{why}; {rest}{how}", columns={str(name): why})


def _check_shared(left: pd.DataFrame, right: pd.DataFrame, options: Mapping[str, Any]) -> None:
    """Raise if a merge without keys would join rows where their measures are equal."""
    named = ("on", "left_on", "right_on")
    if any(options.get(name) is not None for name in named) or options.get("how") == "cross":
        return
    if options.get("left_index") or options.get("right_index"):
        return
    known = metadata_of(left, levels=True)
    shared = [name for name in left.columns if name in {*right.columns}]
    rules = {name: declared(known.columns.get(str(name), NOTHING)) for name in shared}
    measures = [
        name
        for name, what in rules.items()
        if what is not None and what.aggregate.rule not in ("none", "key")
    ]
    if measures:
        of_either = {*known.key, *metadata_of(right, levels=True).key}
        words = [name for name in shared if not pd.api.types.is_numeric_dtype(left[name].dtype)]
        keys = [name for name in shared if name in of_either] or words
        how = f"on={keys!r}" if keys else "on=, or left_on= and right_on="
        raise ArgumentError(
            "without on= rows are joined where all shared columns are equal, and "
            f"{', '.join(map(str, measures))} are measures; name the key: {how}",
            argument="on",
        )


def keys_of(
    left: pd.DataFrame, right: pd.DataFrame, options: Mapping[str, Any]
) -> tuple[list[Any], list[Any]]:
    """For each side what it is merged on: names of columns or of levels of the index, or arrays."""
    if options.get("how") == "cross":
        return [], []
    both = [options.get(name) for name in ("left_on", "right_on")]
    if options.get("on") is not None:
        both = [options["on"]] * 2
    for side, frame in enumerate((left, right)):
        if options.get(("left_index", "right_index")[side]):
            both[side] = [*frame.index.names]
    if both == [None, None]:
        both = [[name for name in left.columns if name in {*right.columns}]] * 2
    one, two = ([*each] if isinstance(each, list | tuple | pd.Index) else [each] for each in both)
    return one, two


def dtypes_of_keys(left: pd.DataFrame, right: pd.DataFrame, options: Mapping[str, Any]) -> str:
    """A hint where the keys of both sides are of dtypes that do not meet."""
    for one, two in _pairs(left, right, options):
        kinds = left[one].dtype, right[two].dtype
        if kinds[0] != kinds[1]:
            return (
                f"{one} is {kinds[0]} on the left and {two} is {kinds[1]} on the right: "
                f"convert one, such as right.astype({{{two!r}: {str(kinds[0])!r}}})"
            )
    return ""


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
            warnings.warn(message, AAToolkitWarning, stacklevel=stacklevel + 1)
            return
    names = [[*each] for each in zip(*pairs, strict=True)]
    if len(pairs) > 1 and _are_apart(left[names[0]], right[names[1]]):
        both = ", ".join(map(str, names[0]))
        message = (
            f"no row of the right frame has the {both} of a row of the left one, though each value "
            "is on both sides; perhaps one of the columns is no part of the key: on="
        )
        warnings.warn(message, AAToolkitWarning, stacklevel=stacklevel + 1)
        return
    if pairs and not (has_metadata(left) and has_metadata(right)):
        message = _left_out(left[names[0]], right[names[1]], str(options.get("how") or "inner"))
        if message:
            warnings.warn(message, AAToolkitWarning, stacklevel=stacklevel + 1)


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
    for one, two in zip(*keys_of(left, right, options), strict=False):
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
