"""Keys of a merge: whether both frames have them, and what to do where they do not meet."""

from __future__ import annotations

import unicodedata
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from aatoolkit._util.text import visible
from aatoolkit.errors import AAToolkitWarning, ArgumentError, ItemNotFound, unknown
from aatoolkit.metadata.arrow_schema import declared
from aatoolkit.metadata.attrs import NOTHING, has_metadata, metadata_of

_NAMED = 3
"""How many values a warning names."""

_LEAVING_OUT = {"left": (1,), "right": (0,), "inner": (0, 1)}
"""By the kind of a merge the sides of which it leaves out rows without a partner."""


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
    one, two = ([*keys] if isinstance(keys, list | tuple) else [keys] for keys in both)
    return one, two


def check_keys(left: pd.DataFrame, right: pd.DataFrame, options: Mapping[str, Any]) -> None:
    """Raise if a key is no column or level of its frame, or if none is named and measures match.

    Raises
    ------
    ItemNotFound
        If a key is not there; the message has names that look alike.
    ArgumentError
        If no key is named, and a column that both frames have is a measure by its declaration.
    """
    sides = keys_of(left, right, options)
    for frame, side, keys in zip((left, right), ("left", "right"), sides, strict=True):
        names = [str(name) for name in (*frame.columns, *frame.index.names)]
        for key in keys:
            if isinstance(key, str) and key not in names:
                why = unknown(f"column of the {side} frame", key, names)
                how = "where the frames name it differently, give left_on= and right_on="
                raise ItemNotFound(f"{why}; {how}", columns={key: why})
    named = ("on", "left_on", "right_on", "left_index", "right_index")
    if any(options.get(name) is not None and options[name] is not False for name in named):
        return
    metadata, shared = metadata_of(left, levels=True), sides[0]
    rules = {name: declared(metadata.columns.get(str(name), NOTHING)) for name in shared}
    measures = [
        str(name)
        for name, what in rules.items()
        if what is not None and what.aggregate.rule not in ("none", "key")
    ]
    if measures:
        of_either = {*metadata.key, *metadata_of(right, levels=True).key}
        words = [name for name in shared if not pd.api.types.is_numeric_dtype(left[name].dtype)]
        keys = [name for name in shared if name in of_either] or words
        raise ArgumentError(
            "without on= rows are joined where all shared columns are equal, and "
            f"{', '.join(measures)} are measures; name the key: on={keys or '…'}",
            argument="on",
        )


def warn_of_unmatched(
    left: pd.DataFrame, right: pd.DataFrame, options: Mapping[str, Any], stacklevel: int = 2
) -> None:
    """Warn if no key of one frame is in the other, or if some differ by their spelling only.

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
    how = str(options.get("how") or "inner")
    pairs = zip(*keys_of(left, right, options), strict=False)
    names = [*zip(*((a, b) for a, b in pairs if a in left and b in right), strict=True)]
    if not names or how.endswith("_anti"):
        return
    try:
        sides = [_distinct(frame[[*own]]) for frame, own in zip((left, right), names, strict=True)]
    except TypeError:  # lists have no hash, and pandas makes no keys of them either
        return
    if not all(sides):
        return
    message = _misspelled(sides, names) if len(names[0]) == 1 else ""
    if not message and not sides[0] & sides[1]:
        shown = [f"{', '.join(own)}: {_listed(s)}" for own, s in zip(names, sides, strict=True)]
        message = (
            f"no key of the left frame ({shown[0]}) is in the right one ({shown[1]}); name other "
            "columns (left_on=, right_on=), or write the values alike before the merge"
        )
    if not message and not (has_metadata(left) and has_metadata(right)):
        message = _left_out(sides, how)
    if message:
        warnings.warn(message, AAToolkitWarning, stacklevel=stacklevel + 1)


def _distinct(frame: pd.DataFrame) -> set[tuple[Any, ...]]:
    return {*frame.dropna().itertuples(index=False, name=None)}


def _listed(keys: set[tuple[Any, ...]]) -> str:
    shown = sorted(visible(repr(key if len(key) > 1 else key[0])) for key in keys)
    return ", ".join([*shown[:_NAMED], *["…"] * (len(shown) > _NAMED)])


def _left_out(sides: Sequence[set[tuple[Any, ...]]], how: str) -> str:
    """Say how many keys of each side have no partner, if the merge leaves out rows of some."""
    lacking = (sides[0] - sides[1], sides[1] - sides[0])
    left_out = [side for side in _LEAVING_OUT.get(how, ()) if lacking[side]]
    words = [
        f"{len(lacking[side]):,} of {len(sides[side]):,} keys of the {('left', 'right')[side]} "
        f"frame have no partner ({_listed(lacking[side])})"
        + f", and how={how!r} leaves their rows out"
        * (side in left_out)
        for side in sorted((0, 1), key=lambda side: side not in left_out)
        if lacking[side]
    ]
    rest = "how='outer' keeps all, indicator=True says which"
    return "; ".join([*words, rest]) if left_out else ""


def _misspelled(sides: Sequence[set[tuple[Any, ...]]], names: Sequence[tuple[str, ...]]) -> str:
    """Say which texts differ by case, spaces or accents only, and how they would meet."""
    left, right = ({key for (key,) in side if isinstance(key, str)} for side in sides)
    spelled = {_folded(key): key for key in sorted(left - right)}
    alike = {key: spelled[_folded(key)] for key in sorted(right - left) if _folded(key) in spelled}
    if not alike:
        return ""
    pairs = dict([*alike.items()][:_NAMED])
    some = "; ".join(f"{visible(a)!r} is {visible(b)!r} on the left" for a, b in pairs.items())
    more = f"; {len(alike) - len(pairs)} more" * (len(alike) > len(pairs))
    return (
        f"{len(alike)} of the keys in {names[1][0]} differ from those in {names[0][0]} by case, "
        f"spaces or accents only, and did not match ({some}{more}); write them as there before "
        f"the merge: right.replace({{{names[1][0]!r}: {pairs!r}}})"
    )


def _folded(value: str) -> str:
    """A text without what people write differently: case, spaces and accents."""
    plain = unicodedata.normalize("NFKD", value.casefold())
    return "".join(sign for sign in plain if not sign.isspace() and not unicodedata.combining(sign))
