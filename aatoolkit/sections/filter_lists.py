"""Declare where a service lists the values of filters, in scope options of another shape."""

from __future__ import annotations

from dataclasses import replace

from aatoolkit._util.defaults import FILTERS
from aatoolkit.errors import ArgumentError
from aatoolkit.jsontree.paths import Each, Entries, Field, format_path, parse_pattern
from aatoolkit.sections.column import Column
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
    from aatoolkit.sections.registry import get

    declared = get("scope_options")
    places = dict(zip(FILTERS, (engine, topic, category, brand), strict=True))
    tables = (
        _at(table, name, place)
        for table, (name, place) in zip(declared, places.items(), strict=True)
    )
    first = dict.fromkeys(place.replace("[", ".").replace("{", ".").split(".")[0]
                          for place in places.values() if place)  # fmt: skip
    return Section(declared.name, declared.doc, *tables, kept=(*declared.kept, *first))


def _at(table: Table, name: str, place: str) -> Table:
    """Return the table with its values at a path; what else it has may be absent."""
    columns = [replace(one, optional=True) for one in table.columns]
    if not place:
        return replace(table, columns=tuple(columns))
    steps = parse_pattern(place)
    many = [at for at, step in enumerate(steps) if isinstance(step, Each | Entries)]
    if len(many) != 1 or not all(isinstance(step, Field) for step in steps[: many[0]]):
        raise ArgumentError(
            f"{name}={place!r} is no list of values; write models[].key, themes[] or makers{{}}"
        )
    (at,) = many
    rows, rest = steps[: at + 1], steps[at + 1 :]
    is_map = isinstance(rows[-1], Entries)
    source = format_path(rest) or ("@0" if is_map else ".")
    labels = (name,) if is_map else ()
    found: list[Column] = [
        replace(one, source=source) if one.name in table.key else one for one in columns
    ]
    return Table(table.name, table.doc, Rows(rows, labels), table.key, tuple(found))
