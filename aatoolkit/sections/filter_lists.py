"""Declare where a service lists the values of filters, in scope options of another shape."""

from __future__ import annotations

import re
from dataclasses import replace

from aatoolkit._util.defaults import FILTERS
from aatoolkit.errors import ArgumentError
from aatoolkit.jsontree.paths import Each, Entries, format_path, parse_pattern
from aatoolkit.sections.row_shapes import Rows
from aatoolkit.sections.section import Section, Table


def scope_options(
    *, engine: str = "", topic: str = "", category: str = "", brand: str = ""
) -> Section:
    """Declare where the scope options of a service list the values of each filter.

    The section belongs into the service's profile. What is left out is looked for where the
    reference service has it.

    Parameters
    ----------
    engine, topic, category, brand : str
        The path of the values: ``models[].key`` in objects of a list, ``themes[]`` for a list of
        text, ``makers{}`` for the keys of an object.

    Raises
    ------
    ArgumentError
        If one is no such path.

    Examples
    --------
    >>> section = scope_options(engine="models[].key", topic="themes[]")
    >>> section["scope_engines"]["engine"].pattern, section["scope_topics"]["topic"].pattern
    ('models[].key', 'themes[]')
    """
    from aatoolkit.sections.declared import PROFILE

    declared = PROFILE["scope_options"]
    paths = (engine, topic, category, brand)
    tables = map(_at, declared, FILTERS, paths)
    first = dict.fromkeys(re.split(r"[.[{]", path)[0] for path in paths if path)
    return Section(declared.name, declared.doc, *tables, kept=(*declared.kept, *first))


def _at(table: Table, name: str, path: str) -> Table:
    """Return the table with its values at a path; what else it has may be absent."""
    columns = tuple(replace(column, optional=True) for column in table.columns)
    if not path:
        return replace(table, columns=columns)
    steps = parse_pattern(path)
    many = [at for at, step in enumerate(steps, 1) if isinstance(step, Each | Entries)]
    if len(many) != 1:
        raise ArgumentError(
            f"{name}={path!r} is no list of values; write models[].key, themes[] or makers{{}}"
        )
    rows, rest = steps[: many[0]], steps[many[0] :]
    is_map = isinstance(rows[-1], Entries)
    source = format_path(rest) or ("@0" if is_map else ".")
    columns = tuple(
        replace(column, source=source) if column.name in table.key else column for column in columns
    )
    return Table(table.name, table.doc, Rows(rows, (name,) * is_map), table.key, columns)
