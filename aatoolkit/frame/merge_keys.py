"""Keys of a merge: whether both frames have them, and what to do where they do not meet."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from aatoolkit.errors import ArgumentError, ColumnNotFound, did_you_mean, near_matches
from aatoolkit.metadata.arrow_schema import declared
from aatoolkit.metadata.attrs import NOTHING, metadata_of


def check_keys(left: pd.DataFrame, right: pd.DataFrame, options: Mapping[str, Any]) -> None:
    """Raise if a key is no column or level of its frame, or if none is named and measures match.

    Raises
    ------
    ColumnNotFound
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
                    raise ColumnNotFound(f"{why}; {rest}{how}", columns={str(name): why})


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
    names = [options.get("left_on") or options.get("on"), options.get("right_on")]
    names[1] = names[1] or options.get("on")
    if not all(isinstance(name, str) for name in names) or any(
        name not in frame.columns for name, frame in zip(names, (left, right), strict=True)
    ):
        return ""
    kinds = [frame[name].dtype for name, frame in zip(names, (left, right), strict=True)]
    if kinds[0] == kinds[1]:
        return ""
    return (
        f"{names[0]} is {kinds[0]} on the left and {names[1]} is {kinds[1]} on the right: "
        f"convert one, such as right.astype({{{names[1]!r}: {str(kinds[0])!r}}})"
    )
