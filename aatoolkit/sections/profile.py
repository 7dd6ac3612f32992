"""Profiles: the declarations of one service's sections.

A profile is a value: two clients with two profiles work side by side. `Profile.load` reads one from
the Python file in which a person keeps it.
"""

from __future__ import annotations

import hashlib
import os
import re
import runpy
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

from aatoolkit._util.text import Described
from aatoolkit.errors import (
    AAToolkitError,
    ArgumentError,
    ItemNotFound,
    ScopeError,
    near_matches,
    unknown,
)
from aatoolkit.sections.section import Section, Table


class Profile(Described, Mapping[str, Section]):
    """The declarations of one service: a mapping from a section's name to its declaration.

    Parameters
    ----------
    name : str
        The profile's name: letters, digits, ``_`` and ``-``.
    *sections : Section
        The declarations.
    doc : str
        Which service it describes, and how it was made.
    baseline : mapping, optional
        What responses looked like when the profile was made; later responses are compared with it.
    tentative : collection of str
        The sections whose declaration is only a guess. A response that does not fit it at all is
        read with a draft that is made from the response itself.

    Raises
    ------
    ArgumentError
        If the name has other characters, or two sections or two tables have the same name.

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
            raise _problem(f"{name!r} is no name of a profile: use letters, digits, _ and -")
        self.name: str = name
        self.doc: str = doc
        self.tentative: Collection[str] = tentative
        self.baseline: Mapping[str, Any] = MappingProxyType(dict(baseline or {}))
        self._sections: Mapping[str, Section] = {
            _key(section.name): section for section in sections
        }
        table_count = sum(len(section.tables) for section in sections)
        if sections and (len(self) < len(sections) or len(self._tables) < table_count):
            raise _problem(
                f"the profile {name!r} has two sections or tables of one name; rename one"
            )

    @classmethod
    def over(cls, name: str, sections: Mapping[str, Section], *, doc: str = "") -> Profile:
        """Create a profile whose sections are tentative, and read from a mapping when needed."""
        profile = cls(name, doc=doc, tentative=sections)
        profile._sections = sections
        return profile

    @classmethod
    def load(cls, source: ProfileSource) -> Profile:
        """Load a profile from a Python file, which is run, or from a module.

        The file defines a `Profile` as ``PROFILE``. If it does not, a profile is made of its
        `Section` objects and named after the file.

        Parameters
        ----------
        source : Profile, module, str or path
            Where the profile is. Run only files that you trust: they are programs.

        Raises
        ------
        ArgumentError
            If there is no such file, it fails, or has neither a profile nor sections.

        Examples
        --------
        >>> from aatoolkit.sections import declared
        >>> Profile.load(declared).name
        'reference'
        """
        if isinstance(source, Profile):
            return source
        if isinstance(source, ModuleType):
            names, name = vars(source), source.__name__.rpartition(".")[2]
        else:
            path = Path(source)
            name = path.stem
            if not os.path.isfile(path):  # a pipe may never end
                raise _problem(
                    f"the profile {path} is no regular file; check the path, or draft a profile of "
                    "the service"
                )
            try:
                names = runpy.run_path(str(path))
            except (Exception, SystemExit) as error:
                message = error.message if isinstance(error, AAToolkitError) else str(error)
                raise _problem(
                    f"the profile {path} cannot be loaded: {type(error).__name__}: {message}"
                ) from error
        profile = names.get("PROFILE")
        if isinstance(profile, Profile):
            return profile
        sections = {id(value): value for value in names.values() if isinstance(value, Section)}
        if not sections:
            raise _problem(f"{source} defines no PROFILE and no Section; name a file that does")
        return cls(re.sub(r"[^A-Za-z0-9_-]", "_", name).lstrip("_-") or "own", *sections.values())

    def __getitem__(self, name: str) -> Section:
        if name in self:
            return self._sections[_key(name)]
        raise ItemNotFound(unknown("section", str(name)[:80], self), key=name)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and _key(name) in self._sections

    def __iter__(self) -> Iterator[str]:
        return iter(self._sections)

    def __len__(self) -> int:
        return len(self._sections)

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the sections, in alphabetical order, without ``scope_options``."""
        return tuple(sorted(name for name in self if name != SCOPE_OPTIONS))

    def section(self, name: str) -> Section:
        """Return the declaration of a section.

        Raises
        ------
        ScopeError
            If no section has that name; it suggests names that look alike.
        """
        if name not in self:
            raise not_found("section", name, sorted(self))
        return self[name]

    def table(self, name: str) -> Table:
        """Return the declaration of a table of any section.

        Raises
        ------
        ScopeError
            If no section declares it; it suggests names that look alike.
        """
        if not isinstance(name, str) or name not in self._tables:
            raise not_found("table", name, self._tables)
        return self._tables[name]

    @cached_property
    def _tables(self) -> dict[str, Table]:
        return {table.name: table for section in self.values() for table in section}

    def __repr__(self) -> str:
        return f"<Profile {self.name}: {len(self)} sections>"

    def _described(self) -> tuple[str, list[str]]:
        title = f"Profile {self.name}: {self.doc or f'{len(self)} sections'}"
        return title, [f"{name}: {', '.join(self[name].names)}" for name in self]


ProfileSource = Profile | ModuleType | str | os.PathLike[str]
"""A profile, or the module or file that a profile is loaded from."""

SCOPE_OPTIONS = "scope_options"
"""The name of the section that lists the values of filters; it has an API path of its own."""


@lru_cache(maxsize=1024)
def fingerprint(section: Section) -> str:
    """Compute a short hash of a declaration: equal declarations have equal hashes.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> len(fingerprint(aa.sections.get("domains")))
    8
    """
    text = re.sub(r" at 0x[0-9a-f]+", "", repr(section))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def not_found(kind: str, name: object, names: Collection[str]) -> ScopeError:
    """Return the error for a name that is not declared; it suggests similar names."""
    text = str(name)[:80]  # it may be of any kind
    suggestions = near_matches(text, names)
    message = unknown(kind, text, names)
    return ScopeError(message, parameter=kind, unknown=(text,), suggestions=suggestions)


def _key(name: str) -> str:
    return name.replace("-", "_")


def _problem(problem: str) -> ArgumentError:
    return ArgumentError(problem, argument="profile")
