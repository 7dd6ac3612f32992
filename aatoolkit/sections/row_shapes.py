"""Row shapes: where the rows of a table are in a response."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from aatoolkit.errors import ArgumentError
from aatoolkit.jsontree.paths import Each, Entries, Step, format_path, parse_pattern

Scalar = str | float | bool | None
"""A plain JSON value."""

Filter = tuple[tuple[str, tuple[Scalar, ...]], ...]
"""Pairs of a column's source and the values of it that a row must, or must not, have."""


@dataclass(frozen=True)
class Rows:
    """The path to the rows of a table in a response, and their shape.

    Parameters
    ----------
    steps
        The path to the rows.
    labels
        Names for the keys of the path's ``{}`` steps, in order. A column with such a name has the
        keys.
    positional
        For rows that are arrays: a name for each position.
    one
        Whether there is a single row, whatever its value is.
    function
        The function that computes the rows, where none of the shapes fits.
    header
        For rows that are arrays: the path to the array that names their positions.
    without, only
        Filters: the rows to drop, and the only rows to keep, by values of sources.
    first
        The position of the first row in its array: 1 where the first element is a header.
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
        """The path as text."""
        return format_path(self.steps)

    def where(
        self,
        *,
        without: Mapping[str, tuple[Scalar, ...]] | None = None,
        only: Mapping[str, tuple[Scalar, ...]] | None = None,
    ) -> Rows:
        """Return the rows with a filter, such as one that drops the total among its parts.

        A row that is left out may be a row of another table, by its ``only``. If it is not, its
        values are in ``extra``, with the reason ``left out``.

        Parameters
        ----------
        without : mapping of str to tuple
            The rows to leave out: values by source, which is written like a column's. None stands
            for null and for a field that is not there.
        only : mapping of str to tuple
            The rows to take, in the same form; all others are left out.

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

    If the path has ``{}`` steps, ``key`` names the columns for their keys. If every element wraps
    its record, ``inside`` is the path to the record: columns are read from it, and ``^`` leads to
    the wrapper. ``first=1`` skips a first element that only names the columns of the others.

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
    """Declare rows that are the entries of an object, or of nested objects if there are more keys.

    Examples
    --------
    >>> keyed("pages[].assistants", key=("engine", "capability")).path
    'pages[].assistants{}{}'
    """
    names = key_names(key)
    return Rows((*parse_pattern(path), *(Entries(),) * len(names)), names)


def pairs(path: str, *names: str) -> Rows:
    """Declare rows that are short arrays, with a name for each position.

    Examples
    --------
    >>> pairs("terms", "term", "occurrences").positional
    ('term', 'occurrences')
    """
    return Rows((*parse_pattern(path), Each()), positional=names)


def grid(rows: str, *, header: str) -> Rows:
    """Declare rows that are arrays, where another array names their positions.

    A column's source is a name in the header, ``[name]``; by default the column's own name.
    The order of the header may change from response to response.

    Parameters
    ----------
    rows : str
        The path to the rows.
    header : str
        The path to the names: an array of text (``columns``), or of objects
        (``columns[].name``).

    Examples
    --------
    >>> format_path(grid("report.rows", header="report.columns").header)
    'report.columns[]'
    """
    names = parse_pattern(header)
    names = names if Each() in names else (*names, Each())
    return Rows((*parse_pattern(rows), Each()), header=names)


def single(path: str = "") -> Rows:
    """Declare a single row: the object at a path, or the response itself."""
    return Rows(parse_pattern(path), one=True)


def computed(path: str, rows: Callable[[Any], Iterable[Mapping[str, Any]]]) -> Rows:
    """Declare rows that a function computes from the value at a path.

    The function gets the value as it is in the response and returns objects, whose fields columns
    read as those of records; ``^`` leads to the record around the value. The value stays in
    ``extra``, as the function may not use all of it.

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
    """Return the names of a key, which may be a single text, as a tuple."""
    return (key,) if isinstance(key, str) else (*key,)
