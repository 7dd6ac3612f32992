"""The declared sections, one module each: found by looking, never listed.

A module of this package whose name has no leading underscore declares one ``SECTION``. It
is named after the section, and is imported when it is first asked for.
"""

from __future__ import annotations

import difflib
import pkgutil
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from types import MappingProxyType

from aatoolkit.errors import ScopeError
from aatoolkit.section import Section, Table

__all__ = ["all", "get", "names", "table"]

_SCOPE_OPTIONS = "scope_options"


def names() -> tuple[str, ...]:
    """The names of the API's sections, in alphabetical order; scope options are not one.

    Examples
    --------
    >>> "domains" in names(), "scope_options" in names()
    (True, False)
    """
    return tuple(name for name in _modules() if name != _SCOPE_OPTIONS)


def get(name: str) -> Section:
    """The declaration of a section, or of ``scope_options``, also spelt ``scope-options``.

    Raises
    ------
    ScopeError
        If there is none of that name; it suggests names that look alike.

    Examples
    --------
    >>> get("domains").tables[0].name
    'source_domains'
    """
    module = name.replace("-", "_")
    if module not in _modules():
        raise _unknown("section", name, _modules())
    section: Section = import_module(f"{__name__}.{module}").SECTION
    return section


def all() -> Mapping[str, Section]:
    """Every declaration by name, scope options included.

    Examples
    --------
    >>> all()["crawl"].tables[0].name
    'crawl_bots'
    """
    return _all()


def table(name: str) -> Table:
    """The declaration of a table, whichever section it is in.

    Raises
    ------
    ScopeError
        If no section declares it; it suggests names that look alike.

    Examples
    --------
    >>> table("crawl_bots").key
    ('bot',)
    """
    tables = _tables()
    if name not in tables:
        raise _unknown("table", name, tables)
    return tables[name]


@cache
def _modules() -> tuple[str, ...]:
    found = (module.name for module in pkgutil.iter_modules(__path__))
    return tuple(sorted(name for name in found if not name.startswith("_")))


@cache
def _all() -> Mapping[str, Section]:
    return MappingProxyType({name: get(name) for name in _modules()})


@cache
def _tables() -> Mapping[str, Table]:
    return MappingProxyType({table.name: table for section in _all().values() for table in section})


def _unknown(what: str, name: str, known: Iterable[str]) -> ScopeError:
    near = tuple(difflib.get_close_matches(name, known, n=3, cutoff=0.6))
    hint = f"; did you mean {' or '.join(near)}?" if near else f"; known: {', '.join(known)}"
    return ScopeError(
        f"{name!r} is not a {what}{hint}", parameter=what, unknown=(name,), suggestions=near
    )
