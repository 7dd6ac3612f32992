"""Availability: what could be measured, and why not.

``status`` defines the statuses, the causes and how they combine. ``subject`` says which rows a
statement is about. ``detect`` reads statements from responses whose metadata has no documented name
or shape.
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
