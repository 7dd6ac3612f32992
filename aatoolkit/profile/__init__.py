"""Draft, review, save and check the profile of an unknown service, i.e. what its responses mean.

A draft proposes tables, types, units, keys and ways to aggregate, each with its evidence. The
confidence of each proposal is proved, likely or open.

``asking`` sends the requests, and ``drafting`` makes the draft. A person reviews the draft of each
section (``section_draft``). ``candidates`` finds fields that may say what was not measured.
``confirming`` asks a person about these fields. ``checking`` compares a service with its saved
profile. The package ``aatoolkit.sections.inference`` infers what the responses mean.

>>> import aatoolkit as aa
>>> draft = aa.profile.draft(aa.demo(), sections=["domains"])
>>> draft["domains"].review.loc["domains", "unit"]["citation_count"]
'count'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from aatoolkit._util.defaults import BUDGET as BUDGET
from aatoolkit.errors import missing_attribute
from aatoolkit.profile.asking import PlannedRequest as PlannedRequest
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
