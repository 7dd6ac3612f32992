"""The tables of the reference service, with one module per section (one kind of response)."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib import import_module

from aatoolkit.sections.profile import Profile
from aatoolkit.sections.section import Section


class _SectionModules(Mapping[str, Section]):
    """A mapping from the name of each module of this package to the `Section` in it.

    A module is imported when its `Section` is first accessed.
    """

    @cached_property
    def _names(self) -> list[str]:
        """The sorted names of the modules of this package that do not begin with ``_``."""
        module_names = (module.name for module in pkgutil.iter_modules(__path__))
        return sorted(name for name in module_names if not name.startswith("_"))

    def __getitem__(self, name: str) -> Section:
        if name not in self._names:
            raise KeyError(name)
        section: Section = import_module(f"{__name__}.{name}").SECTION
        return section

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


_SECTION_BY_NAME = _SectionModules()

PROFILE = Profile.over("reference", _SECTION_BY_NAME, doc="The shapes of the reference service.")
