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
"""Pairs of a source, as of a column, and the values there by which rows are selected."""


@dataclass(frozen=True)
class Rows:
    """The path to the rows of a table in a response, and their shape.

    Parameters
    ----------
    steps
        The path to the rows.
    labels
        One name for each ``{}`` step of the path. The column with this name holds the keys at this
        step.
    positional
        For rows that are arrays: a name for each of their positions.
    one
        Whether the value at the path is a single row.
    function
        A function that computes the rows; None for rows that are read as they are.
    header
        For rows that are arrays: the path to the array with the names of their positions.
    without, only
        Filters: ``without`` selects the rows to drop, ``only`` the rows to keep.
    first
        The position of the first row in its array: 1 if the element before it is a header.
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
        """Return the same declaration of rows with a filter, such as one that drops total rows.

        Another table can have the dropped rows, by means of ``only``. If none has them, their
        values are in ``tables.extra``, with the reason ``left out``.

        Parameters
        ----------
        without : mapping of str to tuple
            Maps a source, written as that of a column, to values. Rows that have one of these
            values at the source are dropped. None stands for null and for an absent field.
        only : mapping of str to tuple
            Maps a source to values, too. Only rows that have one of these values at the source are
            kept.

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

    If the path has ``{}`` steps, ``key`` names the columns for their keys. If each element is a
    wrapper around a record, ``inside`` is the path to this record: columns are read from the
    record, and ``^`` leads to the wrapper. ``first=1`` skips the first element, if it is a header.

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
    """Declare rows that are the entries of an object, or of nested objects if ``key`` is a tuple.

    ``key`` names the column for the keys of the object, or the columns from the outermost to the
    innermost object.

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
    """Declare rows that are arrays, whose positions are named by another array, the header.

    The source of a column is ``[name]``, where ``name`` is a name in the header, by default the
    column's name. The order of the names in the header may differ between responses.

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

    The function ``rows`` is called with the decoded value and returns dicts, from which columns are
    read as from the records of a response. In their sources, ``^`` leads to the record that
    contains the value. The value itself is kept in ``tables.extra``, because the function may not
    use all of it.

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
    """Return ``key``, which is the name of one column or a tuple of names, as a tuple."""
    return (key,) if isinstance(key, str) else (*key,)
