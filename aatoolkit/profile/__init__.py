"""Draft, review, save and check the profile of an unknown service: what its responses mean.

The input is a project of a service that has no profile yet. The output is a draft: for each section
its tables, types, units, rules of aggregation and keys, each with its evidence and one of three
confidences (proved, likely, open). A wrong guess costs more than an open question, so a guess that
would make results wrong is applied only if it is proved.

In reading order: ``asking`` plans the requests and sends them; ``drafting`` has the draft that a
person reviews, section by section (``section_draft``); ``candidates`` finds the fields that may
state availability, and ``confirming`` asks a person about them; ``checking`` tries a rule on the
responses before it is set, and compares a service with its profile. What the responses mean is
inferred in ``aatoolkit.sections.inference``.

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
