"""The registry of sections: the declared ones, and those that a user registers."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from aatoolkit._util.suggest import did_you_mean, near_matches
from aatoolkit._util.text import markup
from aatoolkit.errors import ConfigurationError, ScopeError
from aatoolkit.sections import declared as _declared
from aatoolkit.sections.section import Column, Section, Table

if TYPE_CHECKING:
    from aatoolkit.sections.inference import Proposal

__all__ = ["all", "describe", "get", "names", "propose", "register", "table", "unregister"]

_SCOPE_OPTIONS = "scope_options"


def names() -> tuple[str, ...]:
    """The names of the API's sections, in alphabetical order; scope options are not one.

    Examples
    --------
    >>> "domains" in names(), "scope_options" in names()
    (True, False)
    """
    return tuple(name for name in _known() if name != _SCOPE_OPTIONS)


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
    key = name.replace("-", "_")
    if key in _registered:
        return _registered[key]
    if key not in _modules():
        raise _unknown("section", name, _known())
    section: Section = import_module(f"{_declared.__name__}.{key}").SECTION
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


def register(section: Section) -> None:
    """Add a declaration of one's own, or put it in the place of a shipped one.

    It holds for this process, for every read from now on.

    Raises
    ------
    ConfigurationError
        If it is no `Section`, or has a table whose name another section has already.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> aa.sections.register(aa.sections.propose({"items": [{"id": "a", "n": 1}]}, "mine").section)
    >>> aa.normalize("mine", {"items": [{"id": "b", "n": 2}]}).main["n"].tolist()
    [2]
    >>> aa.sections.unregister("mine")

    With a rule, for a service that says what it could measure in words of its own:

    >>> from aatoolkit.sections import Rule
    >>> mine = aa.sections.propose({"items": [{"id": "a", "n": 1}]}, "mine").section
    >>> rule = Rule("ours", at="meta.light", words={"red": "not_connected"})
    >>> aa.sections.register(Section("mine", mine.doc, *mine, availability=rule))
    >>> aa.normalize("mine", {"items": [], "meta": {"light": "red"}}).words
    {'mine_items': 'unavailable (not connected)'}
    >>> aa.sections.unregister("mine")
    """
    if not isinstance(section, Section):
        raise ConfigurationError(
            f"a {type(section).__name__} is no Section; a proposal has one: proposal.section",
            setting="section",
        )
    for declared in section:
        owner = next((s.name for s in _all().values() if declared.name in s.names), None)
        if owner is not None and owner != section.name:
            raise ConfigurationError(
                f"the section {owner} has a table {declared.name!r} already; name it otherwise",
                setting="section",
            )
    _registered[section.name.replace("-", "_")] = section
    _forget()


def unregister(name: str) -> None:
    """Take a registered declaration back; a shipped one of that name holds again.

    Raises
    ------
    ScopeError
        If none of that name is registered.
    """
    if _registered.pop(name.replace("-", "_"), None) is None:
        raise _unknown("registered section", name, _registered)
    _forget()


def propose(answers: Any, name: str | None = None) -> Proposal:
    """Draft a declaration from an answer, or from several; it prints as Python to start from.

    Parameters
    ----------
    answers : Payload, bytes, str, dict, or list of these
        Answers of one section, as they came or decoded.
    name : str, optional
        The section's name; by default what a payload or the answer itself says.

    Returns
    -------
    Proposal
        Prints as code; ``.section`` is the declaration, ready for `register`.

    Raises
    ------
    DecodeError
        If an answer is not one JSON document.
    PayloadError
        If nothing in the answers can be made a table.

    Examples
    --------
    >>> propose({"items": [{"itemId": "a", "byEngine": {"x-1": 1, "y-2": 2, "z-3": 3}}]}, "things")
    ... # doctest: +ELLIPSIS
    from aatoolkit import sections
    ...
            'things_by_engine',
            'One row per items[].byEngine{}.',
            keyed('items[].byEngine', key='engine'),
            key=('item_id', 'engine'),
    ...
    """
    # Looked for when asked for: declarations alone need neither pyarrow nor numpy.
    drawn: Proposal = import_module("aatoolkit.sections.inference").propose(answers, name)
    return drawn


def describe(name: str) -> Description:
    """What a section holds: its tables, their grain and key, their columns and meanings.

    Raises
    ------
    ScopeError
        If there is no such section.

    Examples
    --------
    >>> str(describe("fanouts")).splitlines()[0]
    'fanouts: Observed query expansions.'
    """
    return Description(get(name))


class Description:
    """A section in words, as text and as HTML."""

    def __init__(self, section: Section) -> None:
        self.section = section

    def __str__(self) -> str:
        lines = [f"{self.section.name}: {self.section.doc}"]
        for declared in self.section:
            lines += ["", f"{declared.name} (key: {', '.join(declared.key)})", f"  {declared.doc}"]
            width = max(map(len, declared.names))
            lines += [
                f"  {column.name:<{width}}  {_kind(column):<24}  {column.doc}".rstrip()
                for column in declared.columns
            ]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        parts = [f"<h4>{markup(self.section.name)}: {markup(self.section.doc)}</h4>"]
        for declared in self.section:
            rows = "".join(
                f"<tr><td><code>{markup(column.name)}</code></td><td>{markup(_kind(column))}</td>"
                f'<td style="text-align:left">{markup(column.doc)}</td></tr>'
                for column in declared.columns
            )
            parts.append(
                f"<h5><code>{markup(declared.name)}</code>: {markup(declared.doc)} "
                f"Key: {markup(', '.join(declared.key))}</h5><table>{rows}</table>"
            )
        return f'<div class="tex2jax_ignore">{"".join(parts)}</div>'


def _kind(column: Column) -> str:
    return f"{column.dtype}, {column.unit}" if column.unit else column.dtype


def _known() -> tuple[str, ...]:
    return tuple(sorted({*_modules(), *_registered}))


def _forget() -> None:
    """Clear the cached look-ups after the declarations changed."""
    _all.cache_clear()
    _tables.cache_clear()


_registered: dict[str, Section] = {}


@cache
def _modules() -> tuple[str, ...]:
    found = (module.name for module in pkgutil.iter_modules(_declared.__path__))
    return tuple(sorted(name for name in found if not name.startswith("_")))


@cache
def _all() -> Mapping[str, Section]:
    return MappingProxyType({name: get(name) for name in _known()})


@cache
def _tables() -> Mapping[str, Table]:
    return MappingProxyType({table.name: table for section in _all().values() for table in section})


def _unknown(what: str, name: str, known: Iterable[str]) -> ScopeError:
    near = near_matches(name, known)
    hint = did_you_mean(near, f"known: {', '.join(known)}")
    return ScopeError(
        f"{name!r} is not a {what}; {hint}", parameter=what, unknown=(name,), suggestions=near
    )
