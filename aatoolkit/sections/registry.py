"""Look up the sections and tables of the reference service by name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from aatoolkit.errors import ArgumentError, unknown
from aatoolkit.jsontree.paths import Each, Entries, format_path, parse_pattern
from aatoolkit.scope import FILTERS
from aatoolkit.sections.declared import PROFILE
from aatoolkit.sections.profile import Profile, fingerprint
from aatoolkit.sections.row_shapes import Rows
from aatoolkit.sections.section import Section, Table

if TYPE_CHECKING:
    import pandas as pd

    from aatoolkit.sections.inference.profile_code import Proposal

__all__ = [
    "all",
    "default_profile",
    "describe",
    "get",
    "names",
    "propose",
    "scope_options",
    "table",
]


def names() -> tuple[str, ...]:
    """Return the names of the reference service's sections, sorted.

    Examples
    --------
    >>> "domains" in names(), "scope_options" in names()
    (True, False)
    """
    return PROFILE.names


def get(name: str) -> Section:
    """Return the declaration of a section: its tables, with their columns and paths.

    Raises
    ------
    ScopeError
        If no section has that name; the message suggests similar names.

    Examples
    --------
    >>> get("domains").tables[0].name
    'source_domains'
    """
    return PROFILE.section(name)


def all() -> Mapping[str, Section]:
    """Return the declarations of all sections by name.

    This includes ``scope_options``, the section that lists the values of filters.

    Examples
    --------
    >>> all()["crawl"].tables[0].name
    'crawl_bots'
    """
    return MappingProxyType({name: PROFILE[name] for name in sorted(PROFILE)})


def table(name: str) -> Table:
    """Return the declaration of a table by its name.

    A table of another service has the name ``profile#fingerprint:table``, as in the metadata of
    frames.

    Raises
    ------
    ScopeError
        If no section has such a table; the message suggests similar names.

    Examples
    --------
    >>> table("crawl_bots").key
    ('bot',)
    """
    return find_table(name) or PROFILE.table(name)


def find_table(name: str) -> Table | None:
    """Return the declaration of a table by its name, or None.

    Examples
    --------
    >>> find_table("no_such_table") is None
    True
    """
    if not isinstance(name, str):
        return None
    return _other_tables.get(name) or PROFILE._tables.get(name)


def propose(responses: Any, name: str | None = None) -> Proposal:
    """Draft the declaration of a section from its responses.

    The draft has the units and aggregation rules that the responses prove or suggest, with the
    evidence in comments. `aa.profile.draft` requests more responses, which prove more.

    Parameters
    ----------
    responses : Payload, bytes, str, dict, or list of these
        Responses of one section, as received or decoded.
    name : str, optional
        The name of the section; by default the name in the responses.

    Returns
    -------
    Proposal
        The draft. It prints as Python code; its attribute ``section`` is the declaration.

    Raises
    ------
    DecodeError
        If a response is not one JSON document.
    PayloadError
        If no part of the responses can be made into a table.

    Examples
    --------
    >>> propose({"items": [{"itemId": "a", "byEngine": {"x-1": 1, "y-2": 2, "z-3": 3}}]}, "things")
    ... # doctest: +ELLIPSIS
    from aatoolkit.sections import ...
        Table('things', '', records('items'), key='item_id', columns=(text('item_id'),)))
    """
    # Looked for when asked for: declarations alone need neither pyarrow nor numpy.
    from aatoolkit.sections.inference.analysis import analyse_responses
    from aatoolkit.sections.inference.profile_code import Proposal

    return Proposal(analyse_responses(responses, name))


def describe(name: str) -> pd.DataFrame:
    """Return a DataFrame with one row per column of a section's tables.

    The index has the table and the column. The columns are ``dtype``, ``unit``, ``aggregation``
    (``key`` for columns that identify a row) and ``meaning``.

    Raises
    ------
    ScopeError
        If there is no such section.

    Examples
    --------
    >>> describe("domains").loc[("source_domains", "citation_count"), "unit"]
    'count'
    """
    import pandas as pd

    from aatoolkit._util.show import show_as

    columns = {(table.name, column.name): column for table in get(name) for column in table.columns}
    rows = [
        (column.dtype, column.unit, str(column.aggregate), column.doc)
        for column in columns.values()
    ]
    index = pd.MultiIndex.from_tuples(columns, names=["table", "column"])
    headers = ["dtype", "unit", "aggregation", "meaning"]
    return show_as(pd.DataFrame(rows, index, headers, dtype="string"))


def default_profile() -> Profile:
    """Return the profile of the reference service, which is used by default.

    Examples
    --------
    >>> default_profile().name
    'reference'
    """
    return PROFILE


def qualifier(section: Section, owner: str) -> str:
    """Register a section's tables; return the prefix of their names in the metadata of frames.

    Examples
    --------
    >>> qualifier(get("domains"), "reference")
    ''
    >>> import aatoolkit as aa
    >>> mine = aa.sections.propose({"items": [{"id": "a"}]}, "mine").section
    >>> table(qualifier(mine, "acme") + "mine").key
    ('id',)
    """
    if PROFILE.get(section.name) is section:
        return ""
    prefix = f"{owner}#{fingerprint(section)}:"
    for table in section:
        remember(prefix + table.name, table)
    return prefix


def remember(name: str, declaration: Table) -> None:
    """Store a table of another service, for `table` to find it by its name in metadata."""
    if name not in _other_tables:
        with _lock:
            while len(_other_tables) >= _MAX_TABLES:
                _other_tables.pop(next(iter(_other_tables)))
            _other_tables[name] = declaration


_other_tables: dict[str, Table] = {}
"""The tables of other services, by their names in metadata."""

_MAX_TABLES = 8192
_lock = Lock()


# --- scope options of another shape ---------------------------------------------------------------


def scope_options(**paths: str) -> Section:
    """Declare where a service lists the values of filters, such as its engines.

    Put the result into the profile of the service.

    Parameters
    ----------
    **paths : str
        The path to the values of each filter (``engine``, ``topic``, ``category`` or ``brand``):
        ``models[].key`` for a field of the objects in a list, ``themes[]`` for a list of text,
        ``makers{}`` for the keys of an object. By default, the path is that of the reference
        service.

    Raises
    ------
    ArgumentError
        If there is no such filter, or a path does not lead to a list of values.

    Examples
    --------
    >>> section = scope_options(engine="models[].key", topic="themes[]")
    >>> section["scope_engines"]["engine"].pattern, section["scope_topics"]["topic"].pattern
    ('models[].key', 'themes[]')
    """
    for name in paths:
        if name not in FILTERS:
            raise ArgumentError(unknown("filter", name, FILTERS), argument=name)
    section = PROFILE["scope_options"]
    tables = [
        _move_table(section[f"scope_{FILTERS[name]}"], name, paths.get(name, ""))
        for name in FILTERS
    ]
    first_fields = dict.fromkeys(re.split(r"[.[{]", path)[0] for path in paths.values() if path)
    return Section(section.name, section.doc, *tables, kept=(*section.kept, *first_fields))


def _move_table(table: Table, name: str, path: str) -> Table:
    """Return a table of filter values, read from another path and with optional columns."""
    columns = tuple(replace(column, optional=True) for column in table.columns)
    if not path:
        return replace(table, columns=columns)
    steps = parse_pattern(path)
    row_path_lengths = [
        length for length, step in enumerate(steps, 1) if isinstance(step, Each | Entries)
    ]
    if len(row_path_lengths) != 1:
        raise ArgumentError(
            f"{name}={path!r} is no list of values; write models[].key, themes[] or makers{{}}"
        )
    row_steps, steps_to_value = steps[: row_path_lengths[0]], steps[row_path_lengths[0] :]
    is_map = isinstance(row_steps[-1], Entries)
    source = format_path(steps_to_value) or ("@0" if is_map else ".")
    columns = tuple(
        replace(column, source=source) if column.name in table.key else column for column in columns
    )
    return Table(table.name, table.doc, Rows(row_steps, (name,) * is_map), table.key, columns)
