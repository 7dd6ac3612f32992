"""Declarations of sections, and the profiles that they belong to.

In: nothing but data. Out: `Section` objects, which the normalizer follows. Everything that a
declaration is made of can be imported from here. In reading order: ``section`` has `Section` and
`Table`, ``column`` has `Column`, its short forms and how its values are read, ``row_shapes`` where
rows are located in a response, ``aggregation`` units and aggregation rules, ``availability_rule``
where a service states its availability; ``profile`` has `Profile`, the declarations of one service,
``profile_json`` declarations as data, ``typed`` its names as types for editors, and its tables as
schemas of validators; ``declared`` is the profile that is shipped, one file for each section,
``registry`` looks tables up by name, and declares where else values of filters are; ``inference``
drafts declarations from responses.

>>> import aatoolkit as aa
>>> aa.sections.get("domains").names[0]
'source_domains'
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, NoReturn

from aatoolkit.errors import missing_attribute
from aatoolkit.jsontree.paths import parse_pattern as parse_pattern
from aatoolkit.sections.aggregation import *  # noqa: F403
from aatoolkit.sections.availability_rule import Rule as Rule
from aatoolkit.sections.column import *  # noqa: F403
from aatoolkit.sections.profile import Profile as Profile
from aatoolkit.sections.registry import *  # noqa: F403
from aatoolkit.sections.section import *  # noqa: F403
from aatoolkit.sections.typed import pandera_schema as pandera_schema
from aatoolkit.sections.typed import typed_module as typed_module

_HELPERS = {"annotations", "missing_attribute", "ModuleType", "NoReturn", "TYPE_CHECKING"}
VOCABULARY = [
    name
    for name, value in globals().items()
    if name[0] != "_" and name not in _HELPERS and not isinstance(value, ModuleType)
]
"""What declarations are written in, and their registry."""

_PUBLIC = [
    "Column",
    "Profile",
    "Section",
    "Table",
    "default_profile",
    "describe",
    "get",
    "names",
]


def __dir__() -> list[str]:
    return _PUBLIC


if not TYPE_CHECKING:  # type checkers go by what is declared

    def __getattr__(name: str) -> NoReturn:
        raise missing_attribute(f"module {__name__!r}", name, VOCABULARY)
