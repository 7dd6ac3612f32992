"""Availability: what could be measured, and why not.

``status`` has the statuses, such as ``partial``, and the causes, such as ``not_connected``.
``subject`` has statements about the availability of some rows. ``detect`` reads the availability
from a response.
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
