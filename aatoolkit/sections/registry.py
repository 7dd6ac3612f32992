"""Look up the tables and columns of the reference service by name.

>>> get("domains").names[0], table("crawl_bots").key
('source_domains', ('bot',))
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from aatoolkit.errors import ArgumentError, unknown
from aatoolkit.jsontree.paths import Elements, Entries, format_path, parse_pattern
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
    """Return the sorted names of the sections of the reference service.

    A section is one kind of response. The section ``scope_options``, which lists the values of
    filters, is left out.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> "domains" in names(), "scope_options" in names()
    (True, False)
    """
    return PROFILE.names


def get(name: str) -> Section:
    """Return a section (one kind of response) of the reference service, with its tables.

    Parameters
    ----------
    name : str
        The name of the section, such as ``domains``.

    Returns
    -------
    Section
        The tables, with their columns and the paths to their values.

    Raises
    ------
    ScopeError
        If no section has that name. The message suggests similar names.

    Examples
    --------
    >>> get("domains").tables[0].name
    'source_domains'
    """
    return PROFILE.section(name)


def all() -> Mapping[str, Section]:
    """Return all sections (kinds of responses) of the reference service, by name.

    The section ``scope_options``, which lists the values of filters, is included.

    Returns
    -------
    mapping of str to Section

    Examples
    --------
    >>> all()["crawl"].tables[0].name
    'crawl_bots'
    """
    return MappingProxyType({name: PROFILE[name] for name in sorted(PROFILE)})


def table(name: str) -> Table:
    """Return a table of the reference service: its columns, key and paths.

    Parameters
    ----------
    name : str
        The name of the table, such as ``crawl_bots``. A table of another service has a longer name,
        such as ``acme#1f2e3d4c:bots``. The metadata of its DataFrame has this name.

    Returns
    -------
    Table

    Raises
    ------
    ScopeError
        If no table has that name. The message suggests similar names.

    Examples
    --------
    >>> table("crawl_bots").key
    ('bot',)
    """
    return find_table(name) or PROFILE.table(name)


def find_table(name: str) -> Table | None:
    """Return the table with a name, as `table` does; return None if no table has the name.

    Examples
    --------
    >>> find_table("no_such_table") is None
    True
    """
    if not isinstance(name, str):
        return None
    return _registered_tables.get(name) or PROFILE._tables.get(name)


def propose(responses: Any, name: str | None = None) -> Proposal:
    """Guess the tables, columns, units and keys in some JSON.

    A unit or a way to aggregate is guessed only if the numbers prove or suggest it. Comments in the
    code of the result give the reasons. `aa.profile.draft` can prove more, because it requests more
    responses of the service.

    Parameters
    ----------
    responses : Payload, bytes, str, dict, or list of these
        The JSON, as text or decoded, or several documents of the same kind.
    name : str, optional
        The name of the section. The names of the tables begin with it. By default, it is taken from
        the JSON.

    Returns
    -------
    Proposal
        The guess. It prints as Python code, and its attribute ``section`` is a `Section`.

    Raises
    ------
    DecodeError
        If a response is not one JSON document.
    PayloadError
        If there is nothing in the responses that can be a table.

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
    """Return a DataFrame with one row for each column of a section: its unit, meaning and so on.

    Parameters
    ----------
    name : str
        The name of the section, such as ``domains``.

    Returns
    -------
    DataFrame
        The index has the levels ``table`` and ``column``. The columns, all text, are ``dtype``,
        ``unit``, ``aggregation`` (such as ``sum``; ``key`` for columns that identify a row) and
        ``meaning``.

    Raises
    ------
    ScopeError
        If no section has that name. The message suggests similar names.

    Examples
    --------
    >>> describe("domains").loc[("source_domains", "citation_count"), "unit"]
    'count'
    """
    import pandas as pd

    from aatoolkit._util.show import show_as

    column_by_table_and_name = {
        (table.name, column.name): column for table in get(name) for column in table.columns
    }
    column_rows = [
        (column.dtype, column.unit, str(column.aggregate), column.doc)
        for column in column_by_table_and_name.values()
    ]
    index = pd.MultiIndex.from_tuples(column_by_table_and_name, names=["table", "column"])
    property_names = ["dtype", "unit", "aggregation", "meaning"]
    return show_as(pd.DataFrame(column_rows, index, property_names, dtype="string"))


def default_profile() -> Profile:
    """Return the profile of the reference service, which is used by default.

    Returns
    -------
    Profile
        A mapping from the name of each section (kind of response), such as ``domains``, to its
        `Section`.

    Examples
    --------
    >>> default_profile().name
    'reference'
    """
    return PROFILE


def register_section(section: Section, profile_name: str) -> str:
    """Register the tables of a section (kind of response), so that `find_table` finds them.

    Parameters
    ----------
    section : Section
        The section.
    profile_name : str
        The name of its profile.

    Returns
    -------
    str
        The prefix of the registered names, such as ``acme#1f2e3d4c:``. It is empty for the
        sections of the reference service, which need not be registered.

    Examples
    --------
    >>> register_section(get("domains"), "reference")
    ''
    >>> import aatoolkit as aa
    >>> mine = aa.sections.propose({"items": [{"id": "a"}]}, "mine").section
    >>> table(register_section(mine, "acme") + "mine").key
    ('id',)
    """
    if PROFILE.get(section.name) is section:
        return ""
    name_prefix = f"{profile_name}#{fingerprint(section)}:"
    for table in section:
        register_table(name_prefix + table.name, table)
    return name_prefix


def register_table(name: str, table: Table) -> None:
    """Register a table under a name, so that `find_table` can find it.

    Only the last 8,192 registered tables are kept.
    """
    with _registry_lock:
        _registered_tables.setdefault(name, table)
        if len(_registered_tables) > _MAX_REGISTERED_TABLES:
            del _registered_tables[next(iter(_registered_tables))]


_registered_tables: dict[str, Table] = {}
"""Maps names to tables of services other than the reference service."""

_MAX_REGISTERED_TABLES = 8192
_registry_lock = Lock()


# --- values of filters at other paths -------------------------------------------------------------


def scope_options(**paths: str) -> Section:
    """Declare the paths at which a service lists the values of its filters, such as its engines.

    Parameters
    ----------
    **paths : str
        For each filter (``engine``, ``topic``, ``category`` or ``brand``) the path to its values:
        ``models[].key`` for a field of the objects in a list, ``themes[]`` for a list of text,
        ``makers{}`` for the keys of an object. By default, it is the path in the reference service.

    Returns
    -------
    Section
        The declaration; pass it to `Profile`.

    Raises
    ------
    ArgumentError
        If there is no such filter, or if a path does not lead to a list of values.

    Examples
    --------
    >>> section = scope_options(engine="models[].key", topic="themes[]")
    >>> section["scope_engines"]["engine"].pattern, section["scope_topics"]["topic"].pattern
    ('models[].key', 'themes[]')
    """
    for filter_name in paths:
        if filter_name not in FILTERS:
            raise ArgumentError(unknown("filter", filter_name, FILTERS), argument=filter_name)
    section = PROFILE["scope_options"]
    tables = [
        _make_filter_table(section[f"scope_{FILTERS[name]}"], name, paths.get(name, ""))
        for name in FILTERS
    ]
    first_field_names = dict.fromkeys(
        re.split(r"[.[{]", path)[0] for path in paths.values() if path
    )
    return Section(section.name, section.doc, *tables, kept=(*section.kept, *first_field_names))


def _make_filter_table(table: Table, filter_name: str, path: str) -> Table:
    """Return a copy of a table of filter values with another path; its columns become optional.

    Parameters
    ----------
    table : Table
        The table in the reference service, such as ``scope_engines``.
    filter_name : str
        The name of the filter, such as ``engine``.
    path : str
        The path to the values, such as ``models[].key``. If empty, the path of ``table`` is kept.
    """
    columns = tuple(replace(column, optional=True) for column in table.columns)
    if not path:
        return replace(table, columns=columns)
    steps = parse_pattern(path)
    row_path_step_counts = [
        step_count
        for step_count, step in enumerate(steps, 1)
        if isinstance(step, Elements | Entries)
    ]
    if len(row_path_step_counts) != 1:
        raise ArgumentError(
            f"{filter_name}={path!r} is no list of values; write models[].key, themes[] or "
            "makers{}"
        )
    row_steps = steps[: row_path_step_counts[0]]
    steps_to_value = steps[row_path_step_counts[0] :]
    are_rows_entries = isinstance(row_steps[-1], Entries)
    value_path = format_path(steps_to_value) or ("@0" if are_rows_entries else ".")
    columns = tuple(
        replace(column, source=value_path) if column.name in table.key else column
        for column in columns
    )
    return Table(
        table.name,
        table.doc,
        Rows(row_steps, (filter_name,) * are_rows_entries),
        table.key,
        columns,
    )
