"""Declare the sections of a service, and the profiles that these declarations belong to.

Everything that a declaration consists of can be imported from here. In reading order: ``section``,
``column``, ``row_shapes`` (where rows are in a response), ``aggregation`` (units and rules),
``availability_rule``; ``profile`` (the sections of one service), ``profile_json`` (profiles as
JSON), ``typed`` (profiles as Python types); ``declared`` (the declarations of the reference
service), ``registry`` (declarations by name), ``inference`` (drafts of declarations).

>>> get("domains").names[0]
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
from aatoolkit.sections.typed import typed_module as typed_module

_HELPERS = {"annotations", "missing_attribute", "ModuleType", "NoReturn", "TYPE_CHECKING"}
VOCABULARY = [
    name
    for name, value in globals().items()
    if name[0] != "_" and name not in _HELPERS and not isinstance(value, ModuleType)
]
"""The public names of this module, which Tab completes."""


def __dir__() -> list[str]:
    return VOCABULARY


if not TYPE_CHECKING:  # type checkers go by what is declared

    def __getattr__(name: str) -> NoReturn:
        raise missing_attribute(f"module {__name__!r}", name, VOCABULARY)
