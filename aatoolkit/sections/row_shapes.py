"""Declare the path to the rows of a table in a response, and the form of the rows.

The rows can be the elements of an array, the entries of an object, or a single object.

>>> records("domains").path, keyed("domains[].byEngine", key="engine").path
('domains[]', 'domains[].byEngine{}')
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from aatoolkit.errors import ArgumentError
from aatoolkit.jsontree.paths import Elements, Entries, Steps, format_path, parse_pattern
from aatoolkit.sections.aggregation import to_name_tuple

JsonScalar = str | float | bool | None
"""A plain JSON value."""

RowFilter = tuple[tuple[str, tuple[JsonScalar, ...]], ...]
"""Conditions that select rows: pairs of a path and a tuple of values.

The path leads from the row to a field, which must have one of the values.
"""


@dataclass(frozen=True)
class Rows:
    """The path to the rows of a table in a response, and the form of the rows in the JSON.

    The rows are the elements of an array, the entries of an object, or a single object. Create this
    by functions such as `records` and `keyed`.

    Parameters
    ----------
    steps : tuple of Step
        The parsed path to the rows.
    labels : tuple of str
        The names of the columns for the keys of objects: one name for each ``{}`` in the path.
    positional : tuple of str
        If each row is an array: the names of the columns, in the order of the elements.
    one : bool
        Whether the value at the path is a single row.
    function : callable, optional
        Computes the rows, as dicts, from the value at the path.
    header : tuple of Step, optional
        If each row is an array: the parsed path to another array with the names of the columns.
    without, only : tuple
        Conditions for the rows to drop, and for the rows to keep. A condition is a tuple of the
        path from the row to a field, and a tuple of values of this field.
    first : int
        The position of the first row in its array; 1 if the first element has column names.
    """

    steps: Steps
    labels: tuple[str, ...] = ()
    positional: tuple[str, ...] = ()
    one: bool = False
    function: Callable[[Any], Iterable[Mapping[str, Any]]] | None = None
    header: Steps | None = None
    without: RowFilter = ()
    only: RowFilter = ()
    first: int = 0

    @property
    def path(self) -> str:
        """The path to the rows as text, such as ``domains[]``."""
        return format_path(self.steps)

    def where(
        self,
        *,
        without: Mapping[str, tuple[JsonScalar, ...]] | None = None,
        only: Mapping[str, tuple[JsonScalar, ...]] | None = None,
    ) -> Rows:
        """Return a copy that drops some rows, such as rows with totals.

        Parameters
        ----------
        without : mapping of str to tuple
            Maps the path of a field to values. Rows with one of these values are dropped. None
            means null or an absent field.
        only : mapping of str to tuple
            Maps the path of a field to values. Only rows with one of these values are kept.

        Returns
        -------
        Rows
            The changed copy.

        Raises
        ------
        ArgumentError
            If these are a `single` row, or if values are not given as a tuple.

        Examples
        --------
        >>> records("rows").where(without={"engine": ("all", None)}).without
        (('engine', ('all', None)),)
        """
        if self.one:
            raise ArgumentError("a single row cannot be filtered; filter rows of records or keyed")
        dropped_values = {**dict(self.without), **(without or {})}
        kept_values = {**dict(self.only), **(only or {})}
        for filter_values in (*dropped_values.values(), *kept_values.values()):
            if not isinstance(filter_values, tuple):
                raise ArgumentError(
                    f"{filter_values!r} is no tuple; filter rows by tuples, such as (None, 'all')"
                )
        return replace(self, without=tuple(dropped_values.items()), only=tuple(kept_values.items()))


def records(
    path: str, key: str | tuple[str, ...] = (), *, inside: str = "", first: int = 0
) -> Rows:
    """Declare rows that are the elements of an array.

    Parameters
    ----------
    path : str
        The path to the array, such as ``domains`` or ``chats[].citations``.
    key : str or tuple of str
        The names of the columns for the keys of objects: one for each ``{}`` in the path.
    inside : str
        The path from each element to the object that is the row, if it is not the element itself.
    first : int
        The position of the first row; pass 1 if the first element has column names.

    Returns
    -------
    Rows
        The declaration; pass it to `Table`.

    Examples
    --------
    >>> records("domains").path
    'domains[]'
    >>> records("data.edges", inside="node").path
    'data.edges[].node'
    """
    steps = parse_pattern(path)
    if not steps or not isinstance(steps[-1], Elements):
        steps = (*steps, Elements())
    return Rows((*steps, *parse_pattern(inside)), to_name_tuple(key), first=first)


def keyed(path: str, key: str | tuple[str, ...]) -> Rows:
    """Declare rows that are the entries of an object whose keys are data, such as engines.

    Parameters
    ----------
    path : str
        The path to the object, such as ``domains[].byEngine``, or ``brands{}.byEngine`` for objects
        in an object.
    key : str or tuple of str
        The name of the column for the keys. If objects are nested, one name for each, from the
        outermost to the innermost.

    Returns
    -------
    Rows
        The declaration; pass it to `Table`.

    Examples
    --------
    >>> keyed("pages[].assistants", key=("engine", "capability")).path
    'pages[].assistants{}{}'
    """
    key_column_names = to_name_tuple(key)
    steps = parse_pattern(path)
    entries_step_count = sum(isinstance(step, Entries) for step in steps)
    return Rows(
        (*steps, *(Entries(),) * (len(key_column_names) - entries_step_count)), key_column_names
    )


def pairs(path: str, *names: str) -> Rows:
    """Declare rows that are short arrays, such as ``["price", 12]``.

    Parameters
    ----------
    path : str
        The path to the array of rows.
    *names : str
        The names of the columns, in the order of the elements of a row.

    Returns
    -------
    Rows
        The declaration; pass it to `Table`.

    Examples
    --------
    >>> pairs("terms", "term", "occurrences").positional
    ('term', 'occurrences')
    """
    return Rows((*parse_pattern(path), Elements()), positional=names)


def grid(rows: str, *, header: str) -> Rows:
    """Declare rows that are arrays, whose column names are in another array.

    Parameters
    ----------
    rows : str
        The path to the array of rows.
    header : str
        The path to the names: ``columns`` for an array of texts, ``columns[].name`` for an array of
        objects.

    Returns
    -------
    Rows
        The declaration; pass it to `Table`.

    Examples
    --------
    >>> format_path(grid("report.rows", header="report.columns").header)
    'report.columns[]'
    """
    header_steps = parse_pattern(header)
    header_steps = header_steps if Elements() in header_steps else (*header_steps, Elements())
    return Rows((*parse_pattern(rows), Elements()), header=header_steps)


def single(path: str = "") -> Rows:
    """Declare a table of one row: the object at a path; by default the whole response.

    Examples
    --------
    >>> single("gateway").path, single("gateway").one
    ('gateway', True)
    """
    return Rows(parse_pattern(path), one=True)


def computed(path: str, rows: Callable[[Any], Iterable[Mapping[str, Any]]]) -> Rows:
    """Declare rows that your own function computes from the value at a path.

    Parameters
    ----------
    path : str
        The path to the value.
    rows : callable
        A function that takes the decoded value, and returns an iterable of dicts, one for each row.

    Returns
    -------
    Rows
        The declaration; pass it to `Table`.

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
