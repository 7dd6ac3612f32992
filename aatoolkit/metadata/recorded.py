"""Record how the result of a method of ``df.aa`` was made, to explain its numbers later.

The record is called a recipe. It has the method, its arguments, and the recipes of the DataFrames
on which the method was called.
"""

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
    CHECK_BY_FRAME_ID,
    EMPTY,
    FrameMetadata,
    Source,
    attach,
    fingerprint_check_of,
    has_metadata,
    metadata_and_responses,
    metadata_of,
    metadata_text_of,
    original_fingerprint,
    replace_metadata,
)
from aatoolkit.metadata.fingerprint import Fingerprint, arrays_of, index_names
from aatoolkit.metadata.recipe import CALL, END, VIEW, Recipe, dump_positions, dump_values, renumber
from aatoolkit.sections.aggregation import Aggregation

P = ParamSpec("P")
R = TypeVar("R")

UNKNOWN_ORIGIN_REASON = "it is a frame of other origin: nothing is known of where it comes from"
"""The reason why it is not known how a DataFrame without metadata was made."""

_find_signature = cache(inspect.signature)

METHOD_BY_VERB: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {}
"""Maps the name of a ``df.aa`` method to its function and its parameters that are DataFrames."""


def record_call_as(verb: str, *frame_parameters: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator for a method of ``df.aa`` that records how its result was made.

    ``verb`` is the name of the method. ``frame_parameters`` are the names of its parameters that
    take DataFrames.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
            bound_call = _find_signature(function).bind(*args, **kwargs)
            for parameter_name in frame_parameters:  # an iterator is read once
                frames = bound_call.arguments.get(parameter_name)
                if isinstance(frames, Iterator):
                    bound_call.arguments[parameter_name] = [*frames]
            with cache_checks():
                result = function(*bound_call.args, **bound_call.kwargs)
                frame: Any = result
                if hasattr(frame, "attrs"):
                    record_recipe(frame, verb, bound_call.arguments, frame_parameters)
            return result

        METHOD_BY_VERB[verb] = wrapper, frame_parameters
        return wrapper

    return decorate


@contextmanager
def cache_checks() -> Iterator[None]:
    """In a ``with`` block, check each DataFrame for changed values only once, for speed.

    No DataFrame may be changed in the block.
    """
    # No frame may be changed in the block.
    context_token = CHECK_BY_FRAME_ID.set({})
    try:
        yield
    finally:
        CHECK_BY_FRAME_ID.reset(context_token)


def record_recipe(
    result_frame: pd.DataFrame,
    verb: str,
    arguments: Mapping[str, Any],
    frame_parameters: Iterable[str],
) -> None:
    """Record in a DataFrame's metadata how it was made.

    Parameters
    ----------
    result_frame : pandas.DataFrame
        The DataFrame; its metadata is changed.
    verb : str
        The name of the method of ``df.aa`` that returned it.
    arguments : mapping of str to object
        The arguments of the call, by name.
    frame_parameters : iterable of str
        The names of the arguments that are a DataFrame or several.
    """
    input_frames: list[pd.DataFrame] = []
    argument_by_parameter = dict(arguments)
    for parameter_name in frame_parameters:
        argument: Any = argument_by_parameter.get(parameter_name)
        if hasattr(argument, "attrs"):
            argument_by_parameter[parameter_name] = len(input_frames)
            input_frames.append(argument)
        elif argument is not None:
            argument_frames = [*argument.values()] if isinstance(argument, Mapping) else [*argument]
            argument_by_parameter[parameter_name] = [
                *range(len(input_frames), len(input_frames) + len(argument_frames))
            ]
            input_frames += argument_frames
    argument_by_parameter |= {
        parameter_name: argument
        for parameter_name, argument in argument_by_parameter.pop("options", {}).items()
        if argument
    }
    metadata, _ = metadata_and_responses(result_frame)
    recipe_inputs = [recipe_and_responses(frame) for frame in input_frames]
    sources = dict.fromkeys(
        (
            *metadata.sources,
            *(source for _, input_sources, _ in recipe_inputs for source in input_sources),
        )
    )
    position_by_source = {source: position for position, source in enumerate(sources)}
    json_by_parameter = {}
    refused_parameters = []
    for parameter_name, argument in argument_by_parameter.items():
        try:
            json_by_parameter[parameter_name] = _serialize(argument)
        except TypeError:
            refused_parameters.append(parameter_name)
    input_recipes = [
        renumber(
            input_recipe, {i: position_by_source[source] for i, source in enumerate(input_sources)}
        )
        for input_recipe, input_sources, _ in recipe_inputs
    ]
    recipe = [CALL, verb, json_by_parameter, input_recipes]
    if refused_parameters:
        recipe = [
            END,
            f"{verb} was given {', '.join(refused_parameters)}, which cannot be written down",
        ]
    responses = [response for _, _, held_responses in recipe_inputs for response in held_responses]
    replace_metadata(
        result_frame, replace(metadata, recipe=recipe, sources=tuple(sources)), responses
    )


_GROUPER_FIELDS = ("key", "closed", "label", "origin", "dropna", "sort", "convention")


def _serialize(value: Any) -> Any:
    """Convert an argument of a call to a JSON value; raise TypeError if that is impossible."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Aggregation):
        return {
            "rule": {
                name: field_value
                for name, field_value in asdict(value).items()
                if field_value not in (None, ())
            }
        }
    if isinstance(value, pd.Grouper) and value.key and value.freq:
        grouper_fields = {name: getattr(value, name, None) for name in _GROUPER_FIELDS}
        grouper_fields["freq"] = getattr(value.freq, "freqstr", value.freq)
        return {
            "grouper": {
                name: field_value
                for name, field_value in grouper_fields.items()
                if isinstance(field_value, bool | str)
            }
        }
    if isinstance(value, Mapping):
        return {"map": {str(name): _serialize(field_value) for name, field_value in value.items()}}
    if isinstance(value, list | tuple):
        return [*map(_serialize, value)]
    if hasattr(value, "isoformat"):
        return {"moment": value.isoformat()}
    if not hasattr(value, "tolist"):
        raise TypeError(f"{type(value).__name__} is no value that can be written down")
    return _serialize(value.tolist())


def attach_keeping_recipe(
    frame: pd.DataFrame, metadata: FrameMetadata, recipe_frame: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Attach new metadata to a DataFrame, but keep its recipe (the record of how it was made).

    If ``recipe_frame`` is not None, the recipe is taken from that DataFrame instead. Return
    ``frame``.
    """
    recipe, sources, responses = recipe_and_responses(
        frame if recipe_frame is None else recipe_frame
    )
    new_positions = {source: position for position, source in enumerate(metadata.sources)}
    new_recipe = renumber(
        recipe, {position: new_positions.get(source, -1) for position, source in enumerate(sources)}
    )
    return attach(frame, replace(metadata, recipe=new_recipe), responses=responses)


def dump_valid_metadata(frame: pd.DataFrame) -> str:
    """Return the part of a DataFrame's metadata that is still valid, as JSON text."""
    recipe = recipe_and_responses(frame)[0] if metadata_and_responses(frame)[0].recipe else None
    verified_metadata = replace(metadata_of(frame, with_index_levels=True), recipe=recipe)
    return str(metadata_text_of(attach(frame.copy(deep=False), verified_metadata)))


def recipe_and_responses(frame: pd.DataFrame) -> tuple[Recipe, tuple[Source, ...], tuple[Any, ...]]:
    """Return how a DataFrame was made (also by plain pandas), and the responses it was made from.

    Returns
    -------
    recipe : list
        The recipe: an expression that makes the DataFrame again.
    sources : tuple of Source
        The responses to which the recipe refers by number.
    responses : tuple of HeldResponse
        Those of the responses that are in memory.
    """
    metadata, responses = metadata_and_responses(frame)
    change_by_kind: dict[str, Any] = {}
    if metadata.recipe is None:
        reason_text = (
            "it does not say how it was made" if has_metadata(frame) else UNKNOWN_ORIGIN_REASON
        )
        _add_changed_values(frame, map(str, frame.columns), change_by_kind)
        return [VIEW, [END, reason_text], {**change_by_kind, "size": len(frame)}], (), ()
    fingerprint = original_fingerprint(frame, metadata) or Fingerprint()
    fingerprint_check = fingerprint_check_of(frame)
    row_positions, unchanged_columns = fingerprint_check.match_original() or (None, set())
    if row_positions is None:
        change_by_kind["lost"] = "which of its rows were taken cannot be seen any longer"
    elif (
        len(row_positions) != fingerprint.row_count
        or (np.diff(row_positions, prepend=-1) != 1).any()
    ):
        change_by_kind["rows"] = dump_positions(row_positions)
    array_by_name = arrays_of(frame)
    column_items = metadata.columns.items()
    unchanged_columns |= {
        name
        for name, column in column_items
        if column.availability.status in EMPTY and fingerprint_check.is_column_empty(name)
    }
    changed_columns = [name for name in array_by_name if name not in unchanged_columns]
    if {*metadata.columns} - {*array_by_name}:
        change_by_kind["columns"] = [name for name in array_by_name if name not in changed_columns]
    if index_names(frame.index) != fingerprint.index_names:
        change_by_kind["index"] = [*index_names(frame.index)]
    elif "rows" in change_by_kind and frame.index.equals(pd.RangeIndex(len(frame))):
        change_by_kind["index"] = "range"
    _add_changed_values(frame, changed_columns, change_by_kind)
    recipe = [VIEW, metadata.recipe, change_by_kind] if change_by_kind else metadata.recipe
    return recipe, metadata.sources, responses


def is_column_changed(frame: pd.DataFrame, column_name: str) -> bool:
    """Return whether the values of a column have certainly changed since metadata was attached."""
    fingerprint_check = fingerprint_check_of(frame)
    original_match = fingerprint_check.match_original()
    return (
        original_match is not None
        and column_name in fingerprint_check.hashed_columns - original_match[1]
    )


def _add_changed_values(
    frame: pd.DataFrame, column_names: Iterable[str], change_by_kind: dict[str, Any]
) -> None:
    """Add the values of columns that plain pandas operations set to ``change_by_kind``.

    The values are added to ``change_by_kind["values"]``. If the values of a column cannot be
    stored, its name is added to ``change_by_kind["unknown"]``.
    """
    array_by_name = arrays_of(frame)
    for column_name in column_names:
        dumped_values = (
            dump_values(pd.Series(array_by_name[column_name]))
            if column_name in array_by_name
            else None
        )
        if dumped_values is None:
            # The column is too long, or cannot be converted to JSON.
            change_by_kind.setdefault("unknown", []).append(column_name)
        else:
            change_by_kind.setdefault("values", {})[column_name] = dumped_values
