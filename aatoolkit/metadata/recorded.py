"""Record how the result of a verb was made: its recipe, of the recipes of its inputs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from aatoolkit.metadata.attrs import (
    CHECKS,
    EMPTY,
    NOTHING,
    FrameMetadata,
    attach,
    check_of,
    describe_anew,
    fingerprint_in,
    has_metadata,
    metadata_of,
    stored_of,
    text_of,
)
from aatoolkit.metadata.fingerprint import (
    Fingerprint,
    FingerprintCheck,
    arrays_of,
    index_names,
)
from aatoolkit.metadata.recipe import (
    DO,
    VIEW,
    Recipe,
    dump_rows,
    dump_values,
    ended,
    renumbered,
)
from aatoolkit.sections.aggregation import Aggregation

if TYPE_CHECKING:
    import pandas as pd

    from aatoolkit.metadata.column import Source

P = ParamSpec("P")
R = TypeVar("R")

FOREIGN = "it is a frame of other origin: nothing is known of where it comes from"


def recorded(verb: str, *inputs: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a function of frames record how its result was made.

    Parameters
    ----------
    verb : str
        The name under which it is replayed.
    *inputs : str
        Its parameters that are frames, or several of them.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
            given = _signature(function).bind(*args, **kwargs)
            for name in inputs:  # an iterator is read once
                found = given.arguments.get(name)
                if isinstance(found, Iterable) and not hasattr(found, "attrs"):
                    kept = dict(found) if isinstance(found, Mapping) else [*found]
                    given.arguments[name] = kept
            with checked_once():
                result = function(*given.args, **given.kwargs)
                frame: Any = result
                if hasattr(frame, "attrs"):
                    record(frame, verb, given.arguments, inputs)
            return result

        return wrapper

    return decorate


@contextmanager
def checked_once() -> Iterator[None]:
    """Cache the checks of frames while a verb runs, as it changes none."""
    token = CHECKS.set({})
    try:
        yield
    finally:
        CHECKS.reset(token)


@cache
def _signature(function: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(function)


def record(
    result: pd.DataFrame, verb: str, arguments: Mapping[str, Any], inputs: Iterable[str]
) -> None:
    """Attach to a verb's result the recipe of how it was made.

    Parameters
    ----------
    result : pandas.DataFrame
        What a verb returned.
    verb : str
        Its name.
    arguments : mapping
        All its arguments; those that cannot be written down end the trail.
    inputs : iterable of str
        Which of them are frames.
    """
    frames: list[pd.DataFrame] = []
    rest = dict(arguments)
    for name in inputs:
        given = rest.pop(name, None)
        if given is None:
            continue
        listed = [given] if hasattr(given, "attrs") else [*_values(given)]
        rest[name] = [*range(len(frames), len(frames) + len(listed))]
        if hasattr(given, "attrs"):
            rest[name] = len(frames)
        frames += listed
    if any(each is result for each in frames):
        return
    rest |= {name: value for name, value in rest.pop("options", {}).items() if value}
    written = {name: _written(value) for name, value in rest.items()}
    lost = [name for name, value in written.items() if value is _LOST]
    known, _ = stored_of(result)
    if not has_metadata(result):
        known = FrameMetadata(sources=())
    views = [view_of(each) for each in frames]
    sources = dict.fromkeys((*known.sources, *(s for _, own, _ in views for s in own)))
    numbers = {source: number for number, source in enumerate(sources)}
    made: Recipe = [
        DO,
        verb,
        {name: value for name, value in written.items() if value is not _LOST},
        [renumbered(r, {n: numbers[s] for n, s in enumerate(own)}) for r, own, _ in views],
    ]
    if lost:
        made = ended(f"{verb} was given {', '.join(lost)}, which cannot be written down")
    answers = [answer for _, _, own in views for answer in own]
    describe_anew(result, replace(known, recipe=made, sources=tuple(sources)), answers)


def _values(given: Any) -> Iterable[Any]:
    return given.values() if isinstance(given, Mapping) else given


_LOST = object()


def _written(value: Any) -> Any:
    """Serialize an argument to a JSON value that a replay reads; `_LOST` if it has none."""
    if isinstance(value, Aggregation):
        facts = {k: v for k, v in asdict(value).items() if v not in (None, ())}
        return {"rule": facts}
    if type(value).__name__ in ("Grouper", "TimeGrouper") and value.key is not None:
        return _grouper(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        found = {str(name): _written(each) for name, each in value.items()}
        return _LOST if any(each is _LOST for each in found.values()) else {"map": found}
    if isinstance(value, set | frozenset):
        value = sorted(value, key=str)
    if isinstance(value, list | tuple):
        listed = [_written(each) for each in value]
        return _LOST if any(each is _LOST for each in listed) else listed
    if hasattr(value, "isoformat"):
        return {"moment": value.isoformat()}
    if hasattr(value, "tolist"):
        return _written(value.tolist())
    return _LOST


def _grouper(value: Any) -> Any:
    names = ("key", "freq", "closed", "label", "origin", "dropna", "sort", "convention")
    facts = {name: getattr(value, name, None) for name in names}
    facts["freq"] = getattr(facts["freq"], "freqstr", facts["freq"])
    plain = {k: v for k, v in facts.items() if isinstance(v, bool | str)}
    return {"grouper": plain} if set(plain) >= {"key", "freq"} else _LOST


def attach_changed(
    frame: pd.DataFrame, metadata: FrameMetadata, rows: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Replace the metadata of a frame whose rows are the same, and keep its recipe.

    Parameters
    ----------
    frame : pandas.DataFrame
        The frame.
    metadata : FrameMetadata
        Its metadata.
    rows : pandas.DataFrame, optional
        The same rows, from which how they were made is taken; the frame itself if left out.
    """
    recipe, sources, answers = view_of(frame if rows is None else rows)
    numbers = {source: number for number, source in enumerate(metadata.sources)}
    kept = renumbered(recipe, {n: numbers.get(s, -1) for n, s in enumerate(sources)})
    return attach(frame, replace(metadata, recipe=kept), answers=answers)


def serialized(frame: pd.DataFrame) -> str:
    """Return the metadata of a frame as text: what was attached, if all of it still holds."""
    (known, _), verified = stored_of(frame), metadata_of(frame, levels=True)
    recipe = view_of(frame)[0] if known.recipe else None
    facts = (known.columns, known.key, known.repeated)
    if recipe is known.recipe and facts == (verified.columns, verified.key, verified.repeated):
        return text_of(frame) or known.dumps()
    bare = frame.copy(deep=False)
    attach(bare, replace(verified, recipe=recipe))
    return str(text_of(bare))


def view_of(frame: pd.DataFrame) -> tuple[Recipe, tuple[Source, ...], tuple[Any, ...]]:
    """Return the recipe of a frame as it is now, with its sources and the answers in memory."""
    import numpy as np

    known, answers = stored_of(frame)
    if known.recipe is None:
        why = FOREIGN if not has_metadata(frame) else "it does not say how it was made"
        names = [str(name) for name in frame.columns]
        return _view(ended(why), _set(frame, names, {"size": len(frame)})), (), ()
    fingerprint = fingerprint_in(frame, known) or Fingerprint()
    check = check_of(frame)
    changes: dict[str, Any] = {}
    placed = check.placed()
    places, same = placed or (None, set())
    if places is None:
        changes["lost"] = "which of its rows were taken cannot be seen any longer"
    elif len(places) != fingerprint.rows or (np.diff(places, prepend=-1) != 1).any():
        changes["rows"] = dump_rows(places)
    there = arrays_of(frame)
    changed = [name for name in there if name not in same and not _is_empty(name, known, check)]
    if {*known.columns} - {*there}:
        changes["columns"] = [name for name in there if name not in changed]
    if index_names(frame.index) != fingerprint.index:
        changes["index"] = [*index_names(frame.index)]
    elif frame.index.name is None and frame.index.nlevels == 1:
        labels = frame.index.equals(_range(len(frame)))
        if labels and "rows" in changes:
            changes["index"] = "range"
    return _view(known.recipe, _set(frame, changed, changes)), known.sources, answers


def is_intact(frame: pd.DataFrame, name: str) -> bool | None:
    """Whether a column is as it was when the metadata was attached; None if that is not sure."""
    known, _ = stored_of(frame)
    check = check_of(frame)
    placed = check.placed()
    if placed is None:
        return None
    if name not in check.hashed:
        return _is_empty(name, known, check) or None
    return name in placed[1]


def _range(size: int) -> pd.Index:
    import pandas as pd

    return pd.RangeIndex(size)


def _is_empty(name: str, known: FrameMetadata, check: FingerprintCheck) -> bool:
    """Whether a column that held no values when it was read still holds none."""
    column = known.columns.get(name, NOTHING)
    return column.availability.status in EMPTY and check.is_empty(name)


def _set(frame: pd.DataFrame, names: Iterable[str], changes: dict[str, Any]) -> dict[str, Any]:
    """Add columns set by plain pandas to the changes: short ones by value, others ``unknown``."""
    import pandas as pd

    arrays = arrays_of(frame)
    for name in names:
        values = dump_values(pd.Series(arrays[name])) if name in arrays else None
        if values is None:
            changes.setdefault("unknown", []).append(name)
        else:
            changes.setdefault("values", {})[name] = values
    return changes


def _view(recipe: Recipe, changes: dict[str, Any]) -> Recipe:
    return [VIEW, recipe, changes] if changes else recipe
