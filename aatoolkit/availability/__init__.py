"""Availability: whether data could be measured, and why not.

A number may be missing because an engine never ran, and that is no zero. ``status`` has the
statuses, such as ``partial``, and the causes, such as ``not_connected``. ``subject`` says for which
rows of a table they hold. ``detect`` finds them in a response.

>>> str(Availability(Status.UNAVAILABLE, Cause.NOT_RUN))
'unavailable (not run)'
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
