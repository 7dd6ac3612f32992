"""Declare how the JSON of a service becomes tables: columns, units and ways to aggregate.

A section is one kind of response, such as ``domains``. A `Section` lists the tables in its JSON.
Each `Table` has rows (such as `records`) and columns (such as `count`). Each `Column` has a way to
aggregate it (such as `ratio`). The package ``inference`` guesses such declarations from responses.

>>> get("domains").names[0]
'source_domains'
"""

from types import ModuleType
from typing import TYPE_CHECKING

from aatoolkit.errors import make_module_lookup
from aatoolkit.jsontree.paths import parse_pattern as parse_pattern
from aatoolkit.sections.aggregation import *  # noqa: F403
from aatoolkit.sections.availability_rule import Rule as Rule
from aatoolkit.sections.column import *  # noqa: F403
from aatoolkit.sections.profile import Profile as Profile
from aatoolkit.sections.registry import *  # noqa: F403
from aatoolkit.sections.section import *  # noqa: F403
from aatoolkit.sections.type_stubs import typed_module as typed_module

_HELPER_NAMES = {"make_module_lookup", "ModuleType", "TYPE_CHECKING"}
VOCABULARY = [
    name
    for name, value in globals().items()
    if name[0] != "_" and name not in _HELPER_NAMES and not isinstance(value, ModuleType)
]
"""The public names of this module, which Tab completes."""

if not TYPE_CHECKING:  # type checkers go by what is declared
    __dir__, __getattr__ = make_module_lookup(__name__, VOCABULARY)
