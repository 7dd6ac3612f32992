"""Profiles: what the answers of an unknown service mean, found out and written down.

In goes a project of a service that nobody described; out comes a draft: for each section its
tables, types, units, rules and keys, each with its evidence and one of three confidences. Wrong
guesses cost more than open questions, so what a wrong one would break is applied only if proved.

In reading order: ``vocabulary`` and ``maps`` say which keys are data; ``shapes`` with ``charts``
and ``series`` finds the tables, as ``relations``; ``readings`` types their values; ``totals``,
``keys`` and ``inherit`` settle what rows are and what identifies them; ``words``, ``identities``
and ``experiments`` are the evidence, from which ``units``, ``metrics`` and ``rules`` follow, in
``findings``; ``analysis`` does all this for one section. ``asking`` plans the requests;
``drafting`` holds the draft that a person reviews, ``declare`` makes declarations of it,
``source`` the file and ``page`` the page; ``checking`` compares a service with its profile.

>>> import aatoolkit as aa
>>> draft = aa.profile.draft(aa.demo(), sections=["domains"])
>>> draft["domains"].review.loc["domains", "unit"]["citation_count"]
'count'
"""

from __future__ import annotations

from aatoolkit.profile.asking import BUDGET, PlannedRequest
from aatoolkit.profile.asking import first_requests as plan
from aatoolkit.profile.checking import check
from aatoolkit.profile.drafting import Draft, SectionDraft, draft

__all__ = ["BUDGET", "Draft", "PlannedRequest", "SectionDraft", "check", "draft", "plan"]


def __dir__() -> list[str]:
    return __all__
