"""Record how the result of a verb was made: its recipe, of the recipes of its inputs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np
import pandas as pd

from aatoolkit.metadata.attrs import (
    CHECKS,
    EMPTY,
    FrameMetadata,
    Source,
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
    arrays_of,
    index_names,
)
from aatoolkit.metadata.recipe import (
    DO,
    END,
    VIEW,
    Recipe,
    dump_rows,
    dump_values,
    renumbered,
)
from aatoolkit.sections.aggregation import Aggregation

P = ParamSpec("P")
R = TypeVar("R")

FOREIGN = "it is a frame of other origin: nothing is known of where it comes from"


VERBS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {}
"""By verb: what it calls, and which arguments are frames."""


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
            bound = _signature(function).bind(*args, **kwargs)
            for name in inputs:  # an iterator is read once
                frames = bound.arguments.get(name)
                if isinstance(frames, Iterator):
                    bound.arguments[name] = [*frames]
            with checked_once():
                result = function(*bound.args, **bound.kwargs)
                frame: Any = result
                if hasattr(frame, "attrs"):
                    record(frame, verb, bound.arguments, inputs)
            return result

        VERBS[verb] = wrapper, inputs
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
    rest: dict[str, Any] = dict(arguments)
    for name in inputs:
        value: Any = rest.get(name)
        if hasattr(value, "attrs"):
            rest[name] = len(frames)
            frames.append(value)
        elif value is not None:
            several = [*value.values()] if isinstance(value, Mapping) else [*value]
            rest[name] = [*range(len(frames), len(frames) + len(several))]
            frames += several
    if any(frame is result for frame in frames):
        return
    rest |= {name: value for name, value in rest.pop("options", {}).items() if value}
    metadata = stored_of(result)[0] if has_metadata(result) else FrameMetadata()
    views = [view_of(frame) for frame in frames]
    sources = dict.fromkeys((*metadata.sources, *(s for _, read, _ in views for s in read)))
    numbers = {source: number for number, source in enumerate(sources)}
    written, lost = {}, []
    for name, value in rest.items():
        try:
            written[name] = _written(value)
        except TypeError:
            lost.append(name)
    parts = [renumbered(r, {n: numbers[s] for n, s in enumerate(read)}) for r, read, _ in views]
    recipe: Recipe = [DO, verb, written, parts]
    if lost:
        recipe = [END, f"{verb} was given {', '.join(lost)}, which cannot be written down"]
    responses = [response for _, _, read in views for response in read]
    describe_anew(result, replace(metadata, recipe=recipe, sources=tuple(sources)), responses)


_GROUPER = ("key", "closed", "label", "origin", "dropna", "sort", "convention")


def _written(value: Any) -> Any:
    """Serialize an argument to a JSON value that a replay reads.

    Raises
    ------
    TypeError
        If it has none.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Aggregation):
        return {"rule": {k: v for k, v in asdict(value).items() if v not in (None, ())}}
    if isinstance(value, pd.Grouper) and value.key and value.freq:
        facts = {name: getattr(value, name, None) for name in _GROUPER}
        facts["freq"] = getattr(value.freq, "freqstr", value.freq)
        return {"grouper": {k: v for k, v in facts.items() if isinstance(v, bool | str)}}
    if isinstance(value, Mapping):
        return {"map": {str(name): _written(part) for name, part in value.items()}}
    if isinstance(value, list | tuple):
        return [*map(_written, value)]
    if hasattr(value, "isoformat"):
        return {"moment": value.isoformat()}
    if not hasattr(value, "tolist"):
        raise TypeError(f"{type(value).__name__} is no value that can be written down")
    return _written(value.tolist())


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
    recipe, sources, responses = view_of(frame if rows is None else rows)
    numbers = {source: number for number, source in enumerate(metadata.sources)}
    kept = renumbered(recipe, {n: numbers.get(s, -1) for n, s in enumerate(sources)})
    return attach(frame, replace(metadata, recipe=kept), responses=responses)


def serialized(frame: pd.DataFrame) -> str:
    """Return as text the metadata of a frame that is still true of it."""
    recipe = view_of(frame)[0] if stored_of(frame)[0].recipe else None
    verified = replace(metadata_of(frame, levels=True), recipe=recipe)
    return str(text_of(attach(frame.copy(deep=False), verified)))


def view_of(frame: pd.DataFrame) -> tuple[Recipe, tuple[Source, ...], tuple[Any, ...]]:
    """Return the recipe of a frame as it is now, with its sources and the responses in memory."""
    metadata, responses = stored_of(frame)
    changes: dict[str, Any] = {}
    if metadata.recipe is None:
        why = "it does not say how it was made" if has_metadata(frame) else FOREIGN
        _set(frame, map(str, frame.columns), changes)
        return [VIEW, [END, why], {**changes, "size": len(frame)}], (), ()
    fingerprint = fingerprint_in(frame, metadata) or Fingerprint()
    check = check_of(frame)
    places, same = check.placed() or (None, set())
    if places is None:
        changes["lost"] = "which of its rows were taken cannot be seen any longer"
    elif len(places) != fingerprint.rows or (np.diff(places, prepend=-1) != 1).any():
        changes["rows"] = dump_rows(places)
    arrays = arrays_of(frame)
    columns = metadata.columns.items()
    same |= {n for n, of in columns if of.availability.status in EMPTY and check.is_empty(n)}
    changed = [name for name in arrays if name not in same]
    if {*metadata.columns} - {*arrays}:
        changes["columns"] = [name for name in arrays if name not in changed]
    if index_names(frame.index) != fingerprint.index:
        changes["index"] = [*index_names(frame.index)]
    elif "rows" in changes and frame.index.equals(pd.RangeIndex(len(frame))):
        changes["index"] = "range"
    _set(frame, changed, changes)
    recipe = [VIEW, metadata.recipe, changes] if changes else metadata.recipe
    return recipe, metadata.sources, responses


def is_changed(frame: pd.DataFrame, name: str) -> bool:
    """Whether it is sure that a column was changed since the metadata was attached."""
    check = check_of(frame)
    placed = check.placed()
    return placed is not None and name in check.hashed - placed[1]


def _set(frame: pd.DataFrame, names: Iterable[str], changes: dict[str, Any]) -> None:
    """Add columns set by plain pandas to the changes: short ones by value, others ``unknown``."""
    arrays = arrays_of(frame)
    for name in names:
        values = dump_values(pd.Series(arrays[name])) if name in arrays else None
        if values is None:
            changes.setdefault("unknown", []).append(name)
        else:
            changes.setdefault("values", {})[name] = values
