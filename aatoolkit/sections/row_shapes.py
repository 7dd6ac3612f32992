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
        A name for the keys at each ``{}`` step of the path. A column with such a name holds these
        keys.
    positional
        For rows that are arrays: a name for each of their positions.
    one
        Whether the value at the path is a single row.
    function
        A function that computes the rows, if they have none of the other shapes.
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
        """Return the rows with a filter, such as one that drops a row of totals.

        Rows that are left out can be rows of another table, which keeps them by ``only``. Otherwise
        their values are in ``extra``, with the reason ``left out``.

        Parameters
        ----------
        without : mapping of str to tuple
            Rows are left out if they have one of these values at this source. Sources are written
            as those of columns. The value None stands for null and for an absent field.
        only : mapping of str to tuple
            Only rows that have one of these values at this source are kept.

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
    """Declare rows that are the entries of an object; with several keys, of nested objects.

    Examples
    --------
    >>> keyed("pages[].assistants", key=("engine", "capability")).path
    'pages[].assistants{}{}'
    """
    names = key_names(key)
    return Rows((*parse_pattern(path), *(Entries(),) * len(names)), names)


def pairs(path: str, *names: str) -> Rows:
    """Declare rows that are short arrays; ``names`` has the column for each of their positions.

    Examples
    --------
    >>> pairs("terms", "term", "occurrences").positional
    ('term', 'occurrences')
    """
    return Rows((*parse_pattern(path), Each()), positional=names)


def grid(rows: str, *, header: str) -> Rows:
    """Declare rows that are arrays, whose positions are named by another array, the header.

    The source of a column is ``[name]``, with a name of the header; by default it is the name of
    the column. The order of the header may differ between responses.

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

    The function is called with the decoded value and returns rows as dicts, from which columns are
    read as from records; ``^`` leads to the record around the value. The value is also kept in
    ``extra``, because the function may not use all of it.

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
    """Return the names of the columns of a key as a tuple; a single name may be passed as text."""
    return (key,) if isinstance(key, str) else (*key,)
