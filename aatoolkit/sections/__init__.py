"""Sections: their declarations, and the registry of those that are known.

In: nothing but data. Out: `Section` objects, which the normalizer follows. Everything that a
declaration is made of is imported from here. In reading order: ``section`` has `Section` and
`Table`, ``column`` has `Column` and how its values are read, ``columns`` short forms of it,
``row_shapes`` where rows are located in an answer, ``aggregation`` units and aggregation rules,
``availability_rule`` where a service states its availability, ``filter_lists`` where it lists the
values of filters; ``profile`` has `Profile`, the
declarations of one service, ``portable`` its tables in files, ``profile_json`` all of it as data,
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
from aatoolkit.jsontree.paths import parse_pattern
from aatoolkit.sections.aggregation import (
    BYTES,
    CHARACTERS,
    CHECKS,
    COUNT,
    CURRENCY,
    FRACTION,
    FRACTION_CHANGE,
    HTTP_STATUS,
    KEY,
    LAST,
    MAX,
    MEAN,
    MILLISECONDS,
    MIN,
    NONE,
    NOT_ADDITIVE,
    PROBABILITY,
    RANK,
    REQUESTS,
    RULES,
    SCORE,
    SEARCHES,
    SECONDS,
    SUM,
    Aggregation,
    ratio,
    refused,
    share,
    weighted,
)
from aatoolkit.sections.availability_rule import Rule
from aatoolkit.sections.columns import (
    category,
    count,
    date,
    flag,
    fraction,
    integer,
    number,
    position,
    rank,
    ref,
    score,
    text,
    timestamp,
    words,
)
from aatoolkit.sections.contract import frictionless_schema, pandera_schema
from aatoolkit.sections.filter_lists import scope_options
from aatoolkit.sections.profile import Profile
from aatoolkit.sections.registry import (
    Description,
    all,
    default_profile,
    describe,
    get,
    names,
    propose,
    register,
    table,
    unregister,
)
from aatoolkit.sections.row_shapes import (
    Rows,
    chart,
    columnar,
    computed,
    grid,
    keyed,
    matrix,
    pairs,
    parallel,
    records,
    single,
)
from aatoolkit.sections.section import Column, Section, Table
from aatoolkit.sections.typed import typed_module

__all__ = [
    "BYTES",
    "CHARACTERS",
    "CHECKS",
    "COUNT",
    "CURRENCY",
    "FRACTION",
    "FRACTION_CHANGE",
    "HTTP_STATUS",
    "KEY",
    "LAST",
    "MAX",
    "MEAN",
    "MILLISECONDS",
    "MIN",
    "NONE",
    "NOT_ADDITIVE",
    "PROBABILITY",
    "RANK",
    "REQUESTS",
    "RULES",
    "SCORE",
    "SEARCHES",
    "SECONDS",
    "SUM",
    "Aggregation",
    "Column",
    "Description",
    "Profile",
    "Rows",
    "Rule",
    "Section",
    "Table",
    "all",
    "category",
    "chart",
    "columnar",
    "computed",
    "count",
    "date",
    "default_profile",
    "describe",
    "flag",
    "fraction",
    "frictionless_schema",
    "get",
    "grid",
    "integer",
    "keyed",
    "matrix",
    "names",
    "number",
    "pairs",
    "pandera_schema",
    "parallel",
    "parse_pattern",
    "position",
    "propose",
    "rank",
    "ratio",
    "records",
    "ref",
    "refused",
    "register",
    "scope_options",
    "score",
    "share",
    "single",
    "table",
    "text",
    "timestamp",
    "typed_module",
    "unregister",
    "weighted",
    "words",
]


def __dir__() -> list[str]:
    return __all__


if not TYPE_CHECKING:  # type checkers go by what is declared

    def __getattr__(name: str) -> NoReturn:
        raise missing_attribute(f"module {__name__!r}", name, __all__)
