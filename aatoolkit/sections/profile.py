"""Profiles: the tables in the responses of one service, section by section (one kind of response
each).
"""

from __future__ import annotations

import hashlib
import os
import re
import runpy
from collections.abc import Collection, Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

from aatoolkit._util.attributes import ReadOnlyMapping
from aatoolkit._util.text import TitledRepr, counted
from aatoolkit.errors import (
    AAToolkitError,
    ArgumentError,
    ScopeError,
    find_near_matches,
    item_not_found,
    unknown,
)
from aatoolkit.sections.section import Section, Table


class Profile(TitledRepr, ReadOnlyMapping[str, Section]):
    """A description of one service's JSON: a mapping from section names to `Section` objects.

    A section is one kind of response, such as ``domains``.

    Parameters
    ----------
    name : str
        The name of the profile. It may have letters, digits, ``_`` and ``-``.
    *sections : Section
        The tables of each section.
    doc : str
        A text on the service, and on how the profile was made.
    baseline : mapping, optional
        A summary of the responses that the profile was made from. `profile.check` compares later
        responses with it.
    tentative : collection of str
        The names of sections whose tables are a guess. If a response does not fit, new tables are
        guessed from this response.

    Raises
    ------
    ArgumentError
        If ``name`` has other characters, or two sections or two tables have the same name.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> section = aa.sections.propose({"items": [{"id": "a", "n": 1}]}, "things").section
    >>> acme = Profile("acme", section)
    >>> acme.names, acme["things"].names
    (('things',), ('things',))
    >>> aa.normalize("things", {"items": [{"id": "b", "n": 2}]}, profile=acme).main["n"].tolist()
    [2]
    """

    def __init__(
        self,
        name: str,
        *sections: Section,
        doc: str = "",
        baseline: Mapping[str, Any] | None = None,
        tentative: Collection[str] = (),
    ) -> None:
        if not re.fullmatch("[A-Za-z0-9][A-Za-z0-9_-]*", name):
            raise _make_profile_error(
                f"{name!r} is no name of a profile: use letters, digits, _ and -"
            )
        self.name: str = name
        self.doc: str = doc
        self.tentative: Collection[str] = tentative
        self.baseline: Mapping[str, Any] = MappingProxyType(dict(baseline or {}))
        self._items: Mapping[str, Section] = {
            _normalize_name(section.name): section for section in sections
        }
        table_count = sum(len(section.tables) for section in sections)
        if sections and (len(self) < len(sections) or len(self._tables) < table_count):
            raise _make_profile_error(
                f"the profile {name!r} has two sections or tables of one name; rename one"
            )

    @classmethod
    def over(cls, name: str, sections: Mapping[str, Section], *, doc: str = "") -> Profile:
        """Create a profile from a mapping of sections (kinds of response) whose tables are a guess.

        If a response does not fit the tables of its section, new tables are guessed from it.

        Parameters
        ----------
        name : str
            The name of the profile.
        sections : mapping of str to Section
            The sections by name. The mapping is not copied, so it may create sections on access.
        doc : str
            A description of the profile.
        """
        profile = cls(name, doc=doc, tentative=sections)
        profile._items = sections
        return profile

    @classmethod
    def load(cls, source: ProfileSource) -> Profile:
        """Load a profile from a Python file, which is run, or from a module.

        The file or module defines a `Profile` named ``PROFILE``, or only `Section` objects.

        Parameters
        ----------
        source : Profile, module, str or path
            The path of the file, or the module. Load only files that you trust, because they are
            executed. A `Profile` is returned unchanged.

        Returns
        -------
        Profile

        Raises
        ------
        ArgumentError
            If there is no such file, if running it fails, or if it defines neither a profile nor
            sections.

        Examples
        --------
        >>> from aatoolkit.sections import declared
        >>> Profile.load(declared).name
        'reference'
        """
        if isinstance(source, Profile):
            return source
        if isinstance(source, ModuleType):
            namespace = vars(source)
            name = source.__name__.rpartition(".")[2]
        else:
            path = Path(source)
            name = path.stem
            if not os.path.isfile(path):  # a pipe may never end
                raise _make_profile_error(
                    f"the profile {path} is no regular file; check the path, or draft a profile of "
                    "the service"
                )
            try:
                namespace = runpy.run_path(str(path))
            except (Exception, SystemExit) as error:
                message = error.message if isinstance(error, AAToolkitError) else str(error)
                raise _make_profile_error(
                    f"the profile {path} cannot be loaded: {type(error).__name__}: {message}"
                ) from error
        profile = namespace.get("PROFILE")
        if isinstance(profile, Profile):
            return profile
        section_by_id = {
            id(value): value for value in namespace.values() if isinstance(value, Section)
        }
        if not section_by_id:
            raise _make_profile_error(
                f"{source} defines no PROFILE and no Section; name a file that does"
            )
        return cls(
            re.sub(r"[^A-Za-z0-9_-]", "_", name).lstrip("_-") or "own", *section_by_id.values()
        )

    def __getitem__(self, name: str) -> Section:
        if name in self:
            return self._items[_normalize_name(name)]
        raise item_not_found("section", str(name)[:80], self)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and _normalize_name(name) in self._items

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the sections (kinds of response), sorted, without ``scope_options``."""
        return tuple(sorted(name for name in self if name != SCOPE_OPTIONS))

    def section(self, name: str) -> Section:
        """Return the `Section` with a name, such as ``domains``.

        Raises
        ------
        ScopeError
            If no section has that name. The message suggests similar names.
        """
        if name not in self:
            raise make_unknown_name_error("section", name, sorted(self))
        return self[name]

    def table(self, name: str) -> Table:
        """Return the `Table` with a name, such as ``source_domains``, from any section.

        Raises
        ------
        ScopeError
            If no table has that name. The message suggests similar names.
        """
        if not isinstance(name, str) or name not in self._tables:
            raise make_unknown_name_error("table", name, self._tables)
        return self._tables[name]

    @cached_property
    def _tables(self) -> dict[str, Table]:
        """A dict of all tables of all sections (kinds of response), by name."""
        return {table.name: table for section in self.values() for table in section}

    def __repr__(self) -> str:
        return f"<Profile {self.name}: {counted(len(self), 'section')}>"

    def _title_and_lines(self) -> tuple[str, list[str]]:
        """Return the title and the lines of text with which the profile is printed."""
        title = f"Profile {self.name}: {self.doc or counted(len(self), 'section')}"
        return title, [f"{name}: {', '.join(self[name].names)}" for name in self]


ProfileSource = Profile | ModuleType | str | os.PathLike[str]
"""A profile, a module, or the path of a file to load a profile from."""

SCOPE_OPTIONS = "scope_options"
"""The name of the section that lists which engines, topics and so on one can filter by."""


@lru_cache(maxsize=1024)
def fingerprint(section: Section) -> str:
    """Return a hash of a `Section`, as 8 hexadecimal digits.

    The hash changes if any property of the section changes, such as the unit of a column.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> len(fingerprint(aa.sections.get("domains")))
    8
    """
    section_text = re.sub(r" at 0x[0-9a-f]+", "", repr(section))
    return hashlib.sha256(section_text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def make_unknown_name_error(kind: str, name: object, known_names: Collection[str]) -> ScopeError:
    """Create an error for an unknown name; its message suggests similar names.

    Parameters
    ----------
    kind : str
        The kind of thing that was named, such as ``section``.
    name : object
        The unknown name.
    known_names : collection of str
        The known names.

    Examples
    --------
    >>> make_unknown_name_error("section", "domain", ["domains", "urls"]).suggestions
    ('domains',)
    """
    clipped_name = str(name)[:80]  # it may be of any kind
    suggestions = find_near_matches(clipped_name, known_names)
    message = unknown(kind, clipped_name, known_names)
    return ScopeError(message, parameter=kind, unknown=(clipped_name,), suggestions=suggestions)


def _normalize_name(name: str) -> str:
    """Return the name of a section (kind of response) with ``-`` replaced by ``_``."""
    return name.replace("-", "_")


def _make_profile_error(problem_text: str) -> ArgumentError:
    """Create an error with a message about the argument ``profile``."""
    return ArgumentError(problem_text, argument="profile")
