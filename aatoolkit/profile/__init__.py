"""Draft a description of a service's JSON, correct it, and check later whether it still holds.

Such a description is called a profile. It lists the tables in the JSON of each section (one kind of
response), and the dtypes, units, keys and ways to aggregate of their columns. A draft guesses all
this from responses. For each guess it gives the reason, and whether the guess is proved, likely or
open.

The modules:

- ``asking`` sends the requests
- ``drafting`` makes the draft
- ``section_draft`` lets a person review the draft, section by section
- ``response_values`` collects the values that may say which data are missing
- ``word_meanings`` guesses what the texts among them mean
- ``possible_fields`` chooses the likeliest fields, with a reason for each
- ``confirming`` asks a person about these fields
- ``checking`` compares a service with its saved profile

The guesses themselves are made by the package ``aatoolkit.sections.inference``.

>>> import aatoolkit as aa
>>> draft = aa.profile.draft(aa.demo(), sections=["domains"], requests=9)
>>> draft["domains"].review.loc["domains", "unit"]["citation_count"]
'count'
"""

from typing import TYPE_CHECKING

from aatoolkit.errors import make_module_lookup
from aatoolkit.profile.asking import Responses as Responses
from aatoolkit.profile.checking import check as check
from aatoolkit.profile.drafting import Draft as Draft, draft as draft
from aatoolkit.profile.section_draft import SectionDraft as SectionDraft

if not TYPE_CHECKING:  # type checkers go by what is declared
    __dir__, __getattr__ = make_module_lookup(__name__, ["check", "draft"])
