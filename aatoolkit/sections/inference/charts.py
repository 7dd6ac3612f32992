"""Grids and chart blocks: rows that are spread over arrays side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_SCALARS = (str, int, float, bool, type(None))
_HEADER_FIELDS = ("name", "key", "id", "field", "label", "title", "header")
_WIDEST = 200


@dataclass(frozen=True)
class Block:
    """Fields of one object whose values together make rows.

    Attributes
    ----------
    shape : str
        ``chart`` (series of points along an axis), ``parallel`` (the series in a map) or
        ``columnar`` (one array a column).
    axis : str
        The field that holds the axis.
    series : str
        The field that holds the series; empty where it is the object itself.
    data : str
        The field of a series that holds its points.
    fields : tuple of str
        The fields that are taken together.
    """

    shape: str
    axis: str
    series: str = ""
    data: str = ""
    fields: tuple[str, ...] = ()


def blocks(objects: list[dict[str, Any]]) -> Iterator[Block]:
    """Yield the blocks of the objects at one path; each field is in at most one.

    Examples
    --------
    >>> chart = {"labels": ["a", "b"], "series": [{"name": "x", "data": [1, 2]}]}
    >>> [(block.shape, block.axis, block.data) for block in blocks([chart])]
    [('chart', 'labels', 'data')]
    """
    filled = [one for one in objects if one]
    names = list(dict.fromkeys(name for one in filled for name in one))
    arrays = [name for name in names if _all_hold(filled, name, _is_plain_array)]
    for axis in arrays:
        for series in names:
            data = _series_data(filled, axis, series)
            if data is not None:
                yield Block("chart", axis, series, data, (axis, series))
                return
        for series in names:
            if series != axis and _is_map_of_arrays(filled, axis, series):
                yield Block("parallel", axis, series, "", (axis, series))
                return
    if len(arrays) >= 2:
        beside = [name for name in arrays if _as_long_as(filled, arrays[0], name)]
        numbers = [name for name in beside if _holds_numbers(filled, name)]
        axes = [name for name in beside if name not in numbers]
        if len(beside) >= 2 and numbers and axes:
            yield Block("columnar", axes[0], fields=tuple(beside))


def header_words(value: Any) -> list[str] | None:
    """The words of a header: texts, or objects with a name; None if it is no header."""
    if not isinstance(value, list) or not 2 <= len(value) <= _WIDEST:
        return None
    if all(isinstance(one, str) for one in value):
        words = list(value)
    else:
        field = header_field(value)
        if field is None:
            return None
        words = [one[field] for one in value]
    return words if len(set(words)) == len(words) else None


def header_field(value: list[Any]) -> str | None:
    """The field of header objects that names the column; None where there is none."""
    if not all(isinstance(one, dict) for one in value):
        return None
    for field in _HEADER_FIELDS:
        texts = [one.get(field) for one in value]
        if all(isinstance(text, str) for text in texts) and len(set(texts)) == len(texts):
            return field
    return None


def headers(document: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The lists of a document, outside of other lists, that may be the header of a grid."""
    if isinstance(document, dict) and len(path) < 5:
        for name, value in document.items():
            if header_words(value) is not None:
                yield (*path, name), value
            elif isinstance(value, dict):
                yield from headers(value, (*path, name))


def _is_plain_array(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, _SCALARS) for one in value)


def _all_hold(objects: list[dict[str, Any]], name: str, test: Any) -> bool:
    found = [one[name] for one in objects if one.get(name) is not None]
    return bool(found) and all(map(test, found)) and any(found)


def _series_data(objects: list[dict[str, Any]], axis: str, series: str) -> str | None:
    """The field of the series that holds as many points as the axis has labels."""
    if series == axis:
        return None
    found: set[str] | None = None
    for one in objects:
        listed = one.get(series)
        if listed is None:
            continue
        if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
            return None
        length = len(one.get(axis) or [])
        for each in listed:
            fits = {
                name
                for name, value in each.items()
                if _is_plain_array(value) and len(value) == length
            }
            found = fits if found is None else found & fits
    return min(found) if found else None


def _is_map_of_arrays(objects: list[dict[str, Any]], axis: str, series: str) -> bool:
    seen = False
    for one in objects:
        inner = one.get(series)
        if inner is None:
            continue
        length = len(one.get(axis) or [])
        if not isinstance(inner, dict) or not all(
            _is_plain_array(value) and len(value) == length for value in inner.values()
        ):
            return False
        seen = seen or (bool(inner) and length > 0)
    return seen


def _as_long_as(objects: list[dict[str, Any]], first: str, other: str) -> bool:
    lengths = [(len(one.get(first) or []), len(one.get(other) or [])) for one in objects]
    return all(a == b for a, b in lengths) and any(a >= 2 for a, _ in lengths)


def _holds_numbers(objects: list[dict[str, Any]], name: str) -> bool:
    kinds = {type(value) for one in objects for value in one.get(name) or []}
    return bool(kinds & {int, float}) and not kinds & {str, bool}
