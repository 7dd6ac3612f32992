"""Sections: their declarations, and the registry of those that are known.

In: nothing but data. Out: `Section` objects, which the normalizer follows. Everything that a
declaration is made of is in ``vocabulary``, and can be imported from here too. In reading order:
``section`` has `Section` and `Table`, ``column`` has `Column` and how its values are read,
``columns`` short forms of it,
``row_shapes`` where rows are located in an answer, ``aggregation`` units and aggregation rules,
``availability_rule`` where a service states its availability, ``filter_lists`` where it lists the
values of filters; ``profile`` has `Profile`, the
declarations of one service, ``profile_json`` declarations as data,
``typed`` its names as types for editors, ``contract`` its tables as schemas of validators;
``declared`` is the profile that is shipped, one file for each section, ``registry`` the default
profile of the process; ``inference`` drafts declarations of answers that nobody described.

>>> import aatoolkit as aa
>>> aa.sections.get("domains").names[0]
'source_domains'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from aatoolkit._util.attributes import missing_attribute
from aatoolkit.sections import vocabulary
from aatoolkit.sections.vocabulary import *  # noqa: F403

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
        raise missing_attribute(f"module {__name__!r}", name, vocabulary.__all__)
