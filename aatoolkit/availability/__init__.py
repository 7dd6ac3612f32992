"""Availability: what could be measured, and why not.

``status`` defines the statuses (such as ``partial``) and causes (such as ``not_connected``), and
how several are combined into one. ``subject`` defines statements about availability, with
conditions that select the rows concerned. ``detect`` reads such statements from responses, also
from undocumented fields.
"""

from aatoolkit.availability.status import UNKNOWN, Availability, Cause, Status, combine, join
from aatoolkit.availability.subject import Condition, Statement

__all__ = [
    "UNKNOWN",
    "Availability",
    "Cause",
    "Condition",
    "Statement",
    "Status",
    "combine",
    "join",
]
