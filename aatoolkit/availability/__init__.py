"""Whether data could be measured, and if not, why.

A count may be missing because an AI engine was never asked. That is not a count of 0. Module
``status`` defines the statuses, such as ``partial``, and the causes, such as ``not_connected``.
Module ``subject`` defines for which rows of a table a status holds. Package ``detect`` reads the
statuses from a JSON response.

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
