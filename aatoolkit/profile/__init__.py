"""Draft the description of a service that nobody described, and check it later.

Such a description, a profile, says which tables are in the JSON of a service, and which dtypes,
units, keys and ways to aggregate their columns have. A draft guesses all this from responses, and
says for each guess why, and whether it is proved, likely or open.

``asking`` sends the requests, and ``drafting`` makes the draft. A person reviews it section by
section (``section_draft``). ``candidates`` finds fields that may say what was not measured, and
``confirming`` asks a person about them. ``checking`` compares a service with its saved profile.
The guesses themselves are made by the package ``aatoolkit.sections.inference``.

>>> import aatoolkit as aa
>>> draft = aa.profile.draft(aa.demo(), sections=["domains"], requests=9)
>>> draft["domains"].review.loc["domains", "unit"]["citation_count"]
'count'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from aatoolkit.errors import missing_attribute
from aatoolkit.profile.asking import Responses as Responses
from aatoolkit.profile.checking import check as check
from aatoolkit.profile.drafting import Draft as Draft
from aatoolkit.profile.drafting import draft as draft
from aatoolkit.profile.section_draft import SectionDraft as SectionDraft

_PUBLIC = ["check", "draft"]


def __dir__() -> list[str]:
    return _PUBLIC


if not TYPE_CHECKING:  # type checkers go by what is declared

    def __getattr__(name: str) -> NoReturn:
        raise missing_attribute(f"module {__name__!r}", name, _PUBLIC)
