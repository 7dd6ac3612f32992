"""Declare where the rows of a table are in a response, and what shape they have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from aatoolkit.errors import ArgumentError
from aatoolkit.jsontree.paths import Each, Entries, Step, format_path, parse_pattern

Scalar = str | float | bool | None
"""A plain JSON value."""

Filter = tuple[tuple[str, tuple[Scalar, ...]], ...]
"""Pairs of a path and values; they select the rows with one of the values at the path."""


@dataclass(frozen=True)
class Rows:
    """The path to the rows of a table in a response, and their shape.

    Parameters
    ----------
    steps
        The path to the rows.
    labels
        The names of the columns for the keys of objects, one for each ``{}`` of the path.
    positional
        The names of the columns, if the rows are arrays.
    one
        Whether the value at the path is a single row.
    function
        A function that computes the rows.
    header
        The path to the array with the column names, if the rows are arrays.
    without, only
        Filters: the rows to drop, and the rows to keep.
    first
        The position of the first row in its array; 1 if the first element is a header.
    """

    steps: tuple[Step, ...]
    labels: tuple[str, ...] = ()
    positional: tuple[str, ...] = ()
    one: bool = False
    function: Callable[[Any], Iterable[Mapping[str, Any]]] | None = None
    header: tuple[Step, ...] | None = None
    without: Filter = ()
    only: Filter = ()
    first: int = 0

    @property
    def path(self) -> str:
        """The path to the rows, as text."""
        return format_path(self.steps)

    def where(
        self,
        *,
        without: Mapping[str, tuple[Scalar, ...]] | None = None,
        only: Mapping[str, tuple[Scalar, ...]] | None = None,
    ) -> Rows:
        """Return these rows with a filter, such as one that drops total rows.

        Parameters
        ----------
        without : mapping of str to tuple
            Maps a path from the row to values. Rows with one of these values are dropped. None
            stands for null and for an absent field.
        only : mapping of str to tuple
            Maps a path from the row to values. Only rows with one of these values are kept.

        Examples
        --------
        >>> records("rows").where(without={"engine": ("all", None)}).without
        (('engine', ('all', None)),)
        """
        if self.one:
            raise ArgumentError("a single row cannot be filtered; filter rows of records or keyed")
        filters = {**dict(self.without), **(without or {})}, {**dict(self.only), **(only or {})}
        for values in (*filters[0].values(), *filters[1].values()):
            if not isinstance(values, tuple):
                raise ArgumentError(
                    f"{values!r} is no tuple; filter rows by tuples, such as (None, 'all')"
                )
        return replace(self, without=tuple(filters[0].items()), only=tuple(filters[1].items()))


def records(
    path: str, key: str | tuple[str, ...] = (), *, inside: str = "", first: int = 0
) -> Rows:
    """Declare rows that are the elements of an array.

    Parameters
    ----------
    path : str
        The path to the array.
    key : str or tuple of str
        The columns for the keys of objects, if the path has ``{}``.
    inside : str
        The path from each element to the record in it, if the element is a wrapper.
    first : int
        1 to skip the first element, a header.

    Examples
    --------
    >>> records("domains").path
    'domains[]'
    >>> records("data.edges", inside="node").path
    'data.edges[].node'
    """
    steps = parse_pattern(path)
    if not steps or not isinstance(steps[-1], Each):
        steps = (*steps, Each())
    return Rows((*steps, *parse_pattern(inside)), key_names(key), first=first)


def keyed(path: str, key: str | tuple[str, ...]) -> Rows:
    """Declare rows that are the entries of an object; ``key`` names the column for its keys.

    A tuple of names is for nested objects, the outermost first.

    Examples
    --------
    >>> keyed("pages[].assistants", key=("engine", "capability")).path
    'pages[].assistants{}{}'
    """
    names = key_names(key)
    return Rows((*parse_pattern(path), *(Entries(),) * len(names)), names)


def pairs(path: str, *names: str) -> Rows:
    """Declare rows that are short arrays; ``names`` are the columns, one for each position.

    Examples
    --------
    >>> pairs("terms", "term", "occurrences").positional
    ('term', 'occurrences')
    """
    return Rows((*parse_pattern(path), Each()), positional=names)


def grid(rows: str, *, header: str) -> Rows:
    """Declare rows that are arrays, whose columns are named by another array, the header.

    Parameters
    ----------
    rows : str
        The path to the rows.
    header : str
        The path to the header: an array of names (``columns``), or of objects with names
        (``columns[].name``).

    Examples
    --------
    >>> format_path(grid("report.rows", header="report.columns").header)
    'report.columns[]'
    """
    header_steps = parse_pattern(header)
    header_steps = header_steps if Each() in header_steps else (*header_steps, Each())
    return Rows((*parse_pattern(rows), Each()), header=header_steps)


def single(path: str = "") -> Rows:
    """Declare a single row: the object at a path, or the response itself."""
    return Rows(parse_pattern(path), one=True)


def computed(path: str, rows: Callable[[Any], Iterable[Mapping[str, Any]]]) -> Rows:
    """Declare rows that a function computes from the value at a path.

    The function takes the decoded value and returns dicts, one per row.

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
    """Return one name or several as a tuple."""
    return (key,) if isinstance(key, str) else (*key,)
