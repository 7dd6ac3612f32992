"""The profile ``reference``: the sections of the reference service, with one module per section."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib import import_module

from aatoolkit.sections.profile import Profile
from aatoolkit.sections.section import Section


class _Modules(Mapping[str, Section]):
    """Maps the name of each module of this package to the section that the module declares."""

    @cached_property
    def _names(self) -> list[str]:
        names = (module.name for module in pkgutil.iter_modules(__path__))
        return sorted(name for name in names if not name.startswith("_"))

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


_SECTIONS = _Modules()

PROFILE = Profile.over("reference", _SECTIONS, doc="The shapes of the reference service.")
