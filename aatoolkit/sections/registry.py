"""The default profile of the process: the reference shapes, and what a user registers."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping
from importlib import import_module
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from aatoolkit._util.show import table_html
from aatoolkit._util.text import clipped, markup, wrapped_in_ipython
from aatoolkit.errors import ArgumentError
from aatoolkit.sections.declared import PROFILE
from aatoolkit.sections.profile import Profile, fingerprint, unknown
from aatoolkit.sections.section import Column, Section, Table

if TYPE_CHECKING:
    from aatoolkit.sections.inference.source import Proposal

__all__ = [
    "all",
    "default_profile",
    "describe",
    "get",
    "names",
    "propose",
    "register",
    "table",
    "unregister",
]


def names() -> tuple[str, ...]:
    """The names of the API's sections, in alphabetical order; scope options are not one.

    Examples
    --------
    >>> "domains" in names(), "scope_options" in names()
    (True, False)
    """
    return _default.profile.names


def get(name: str) -> Section:
    """Return the declaration of a section, or of ``scope_options``, also spelt ``scope-options``.

    Raises
    ------
    ScopeError
        If there is none of that name; it suggests names that look alike.

    Examples
    --------
    >>> get("domains").tables[0].name
    'source_domains'
    """
    return _default.profile.section(name)


def all() -> Mapping[str, Section]:
    """Every declaration by name, scope options included.

    Examples
    --------
    >>> all()["crawl"].tables[0].name
    'crawl_bots'
    """
    profile = _default.profile
    return MappingProxyType({name: profile[name] for name in sorted(profile)})


def table(name: str) -> Table:
    """Return the declaration of a table, whichever section it is in.

    Metadata of frames names tables of other profiles than the default one as
    ``profile#fingerprint:table``; they are found too.

    Raises
    ------
    ScopeError
        If no section declares it; it suggests names that look alike.

    Examples
    --------
    >>> table("crawl_bots").key
    ('bot',)
    """
    found = find_table(name)
    return _default.profile.table(name) if found is None else found


def find_table(name: str) -> Table | None:
    """Return the declaration of a table; None if no section declares it.

    Examples
    --------
    >>> find_table("no_such_table") is None
    True
    """
    if not isinstance(name, str):
        return None
    found = _seen.get(name)
    return _default.profile._tables.get(name) if found is None else found


def register(section: Section) -> None:
    """Register a declaration, in place of a shipped one of its name.

    It holds for this process, for every read from now on.

    Raises
    ------
    ArgumentError
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
    >>> aa.normalize("mine", {"items": [], "meta": {"light": "red"}})._words
    {'mine': 'unavailable (not connected)'}
    >>> aa.sections.unregister("mine")
    """
    if not isinstance(section, Section):
        raise ArgumentError(
            f"a {type(section).__name__} is no Section; a proposal has one: proposal.section",
            argument="section",
        )
    for declared in section:
        owner = next((s.name for s in _default.profile.values() if declared.name in s.names), None)
        if owner is not None and owner != section.name:
            raise ArgumentError(
                f"the section {owner} has a table {declared.name!r} already; name it otherwise",
                argument="section",
            )
    _default.registered[section.name.replace("-", "_")] = section
    _default.change()


def unregister(name: str) -> None:
    """Remove a registered declaration; a shipped one of that name is used again.

    Raises
    ------
    ScopeError
        If none of that name is registered.
    """
    if _default.registered.pop(str(name).replace("-", "_"), None) is None:
        raise unknown("registered section", name, tuple(_default.registered))
    _default.change()


def propose(responses: Any, name: str | None = None) -> Proposal:
    """Draft a declaration from a response, or from several; it prints as Python to start from.

    Units and rules of aggregation are in it where one response proves or suggests them, with
    the evidence in comments; `aa.profile.draft` asks a service for more.

    Parameters
    ----------
    responses : Payload, bytes, str, dict, or list of these
        Responses of one section, as they came or decoded.
    name : str, optional
        The section's name; by default what a payload or the response itself says.

    Returns
    -------
    Proposal
        Prints as code; ``.section`` is the declaration, ready for `register`.

    Raises
    ------
    DecodeError
        If a response is not one JSON document.
    PayloadError
        If nothing in the responses can be made a table.

    Examples
    --------
    >>> propose({"items": [{"itemId": "a", "byEngine": {"x-1": 1, "y-2": 2, "z-3": 3}}]}, "things")
    ... # doctest: +ELLIPSIS
    from aatoolkit import sections
    ...
        Table('things', '', records('items'), key='item_id', columns=(text('item_id'),)),
    ...
    """
    # Looked for when asked for: declarations alone need neither pyarrow nor numpy.
    drawn: Proposal = import_module("aatoolkit.sections.inference.source").propose(responses, name)
    return drawn


def describe(name: str) -> Description:
    """Describe a section: its tables, their grain and key, their columns and meanings.

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
    """The description of a section, as text and as HTML."""

    def __init__(self, section: Section) -> None:
        self.section = section

    def __str__(self) -> str:
        lines = [f"{self.section.name}: {self.section.doc}"]
        for declared in self.section:
            lines += ["", f"{declared.name} (key: {', '.join(declared.key)})", f"  {declared.doc}"]
            width = max(map(len, declared.names))
            kinds = max(len(_kind(column)) for column in declared.columns)
            lines += [
                f"  {column.name:<{width}}  {_kind(column):<{kinds}}  {column.doc}".rstrip()
                for column in declared.columns
            ]
        return "\n".join(lines)

    __repr__ = __str__
    _repr_pretty_ = wrapped_in_ipython

    def _repr_html_(self) -> str:
        parts = [f"<p><b>{markup(self.section.name)}</b>: {markup(self.section.doc)}</p>"]
        for declared in self.section:
            rows = [
                (clipped(column.name), _kind(column), clipped(column.doc))
                for column in declared.columns
            ]
            title = f"{declared.name}: {declared.doc} Key: {', '.join(declared.key)}"
            heads = ("column", "type and unit", "meaning")
            parts.append(table_html(heads, rows, caption=clipped(title), codes=[0], labels=1))
        return f'<div class="tex2jax_ignore">{"".join(parts)}</div>'


def _kind(column: Column) -> str:
    return f"{column.dtype}, {column.unit}" if column.unit else column.dtype


def default_profile() -> Profile:
    """Return the profile used where none is given: reference shapes and registered sections.

    Examples
    --------
    >>> default_profile().name
    'reference'
    """
    return _default.profile


class _Default:
    """The default profile of this process, and the declarations that were registered in it."""

    def __init__(self) -> None:
        self.registered: dict[str, Section] = {}
        self.profile = PROFILE

    def change(self) -> None:
        """Rebuild the default profile from the registered declarations."""
        sections = ChainMap(dict(self.registered), PROFILE)  # type: ignore[arg-type]
        tentative = [name for name in PROFILE if name not in self.registered]
        self.profile = Profile.over(PROFILE.name, sections, doc=PROFILE.doc, tentative=tentative)


_default = _Default()


def qualifier(section: Section, owner: str) -> str:
    """The prefix of a section's tables in metadata, so that `table` finds them; maybe empty.

    Nothing where the default profile has the section; else the owner's name and a fingerprint.

    Examples
    --------
    >>> qualifier(get("domains"), "reference")
    ''
    >>> import aatoolkit as aa
    >>> mine = aa.sections.propose({"items": [{"id": "a"}]}, "mine").section
    >>> table(qualifier(mine, "acme") + "mine").key
    ('id',)
    """
    if _default.profile.get(section.name) is section:
        return ""
    before = f"{owner}#{fingerprint(section)}:"
    for declared in section:
        remember(before + declared.name, declared)
    return before


def remember(name: str, declared: Table) -> None:
    """Keep a table of another profile by its qualified name; the oldest are evicted."""
    if name not in _seen:
        with _changing:
            while len(_seen) >= _MOST:
                _seen.pop(next(iter(_seen)))
            _seen[name] = declared


_seen: dict[str, Table] = {}
"""The tables of profiles other than the default one, by qualified name: what frames refer to."""

_MOST = 8192
_changing = Lock()
