"""Row shapes: where the rows of a table are in an answer, and what labels them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from aatoolkit.jsontree.paths import Each, Entries, Step, format_path, parse_pattern


@dataclass(frozen=True)
class Rows:
    """Where the rows of a table are in an answer.

    Parameters
    ----------
    steps
        The path to the rows.
    labels
        Names for what labels the rows: the keys of its
        ``{}`` steps, in order, then the row and column labels of a matrix or the axis of
        parallel arrays. A column of that name takes them.
    axes
        Paths to arrays that label positions of the last ``[]`` steps, in order.
    positional
        Names for the positions of rows that are arrays.
    one
        Whether there is one row, whatever value is there.
    function
        What makes the rows, where none of the shapes fits.
    """

    steps: tuple[Step, ...]
    labels: tuple[str, ...] = ()
    axes: tuple[tuple[Step, ...], ...] = ()
    positional: tuple[str, ...] = ()
    one: bool = False
    function: Callable[[Any], Iterable[Mapping[str, Any]]] | None = None

    @property
    def path(self) -> str:
        """The path as text."""
        return format_path(self.steps)


def records(path: str, key: str | tuple[str, ...] = ()) -> Rows:
    """Rows are the elements of an array; ``key`` names the keys of ``{}`` steps on the way.

    Examples
    --------
    >>> records("domains").path
    'domains[]'
    """
    steps = parse_pattern(path)
    if not steps or not isinstance(steps[-1], Each):
        steps = (*steps, Each())
    return Rows(steps, key_names(key))


def keyed(path: str, key: str | tuple[str, ...]) -> Rows:
    """Rows are the entries of an object, or of objects in an object, one level for each key.

    Examples
    --------
    >>> keyed("pages[].assistants", key=("engine", "capability")).path
    'pages[].assistants{}{}'
    """
    names = key_names(key)
    return Rows((*parse_pattern(path), *(Entries(),) * len(names)), names)


def parallel(path: str, *, axis: str, key: str, name: str) -> Rows:
    """Rows are arrays side by side, one for each ``key``, along an array ``axis``.

    Examples
    --------
    >>> parallel("series.requests", axis="series.timestamps", key="bot", name="hour").labels
    ('bot', 'hour')
    """
    return Rows((*parse_pattern(path), Entries(), Each()), (key, name), (parse_pattern(axis),))


def matrix(path: str, *, rows: str, columns: str, names: tuple[str, str]) -> Rows:
    """Rows are the cells of an array of arrays, labelled by two arrays.

    Examples
    --------
    >>> matrix("m.values", rows="m.brands", columns="m.engines", names=("brand", "engine")).path
    'm.values[][]'
    """
    axes = (parse_pattern(rows), parse_pattern(columns))
    return Rows((*parse_pattern(path), Each(), Each()), names, axes)


def pairs(path: str, *names: str) -> Rows:
    """Rows are short arrays whose positions have a meaning.

    Examples
    --------
    >>> pairs("terms", "term", "occurrences").positional
    ('term', 'occurrences')
    """
    return Rows((*parse_pattern(path), Each()), positional=names)


def single(path: str = "") -> Rows:
    """One row an answer: the object at a path, or the whole answer."""
    return Rows(parse_pattern(path), one=True)


def computed(path: str, rows: Callable[[Any], Iterable[Mapping[str, Any]]]) -> Rows:
    """Rows are what a function makes of the value at a path: for shapes that are none of these.

    The function gets the value as it is in the answer and gives objects, whose fields
    columns read as those of records; ``^`` leads to the record around the value. What the
    function reads stays in ``extra``, for nobody knows what it left out.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> def bands(text):
    ...     return ({"band": band} for band in text.split("|"))
    >>> columns = (aa.Column("band", "string"),)
    >>> table = aa.Table("bands", "One row per band.", computed("bands", bands), "band", columns)
    >>> section = aa.Section("mine", "Bands.", table)
    >>> aa.normalize(section, {"bands": "top|rest"}).main["band"].tolist()
    ['top', 'rest']
    """
    return Rows(parse_pattern(path), function=rows)


def key_names(key: str | tuple[str, ...]) -> tuple[str, ...]:
    """The names of a key, which may be one."""
    return (key,) if isinstance(key, str) else key
