"""Availability: what could be measured, and why not.

``status`` defines the statuses and causes, and how they combine. ``subject`` defines statements
about availability and the rows that a statement is about. ``detect`` reads such statements from
responses, even if their metadata has no documented name or shape.
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
