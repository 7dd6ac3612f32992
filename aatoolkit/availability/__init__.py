"""Availability: what could be measured, and why not.

``status`` defines the statuses, the causes and how they combine; ``detect`` reads them out of an
answer whose metadata has no documented name or shape.
"""

from __future__ import annotations

from aatoolkit.availability.status import UNKNOWN, Availability, Cause, Status, combine, join

__all__ = ["UNKNOWN", "Availability", "Cause", "Status", "combine", "join"]
