"""Find out from a response which of its data could be measured.

This also works for responses with undocumented fields. The results are signals and hints. A signal
is a statement of the response about its data, such as ``"status": "unavailable"``. A hint is a
value that may be such a statement, but was not understood.

``response_scan``
    The values of a response by path; the classes `Signal` and `Hint`.
``words``
    What texts, keys and objects mean, such as the text ``not_connected``.
``general_rules``
    Rules that apply to the responses of any service.
``declared_rules``
    Rules that the user declares for one service.
``hints``
    The search for hints.
``detection``
    The function `detect`, which calls all of these.
"""

from aatoolkit.availability.detect.detection import (
    Detection,
    detect,
    explains_absence,
    is_availability_header,
)
from aatoolkit.availability.detect.response_scan import Hint, Signal, to_json_text
from aatoolkit.availability.detect.words import (
    STATUS_AND_CAUSE_BY_TERM,
    is_sample_size_key,
    read_status_text,
)
from aatoolkit.sections.availability_rule import REFERENCE_RULE, Rule

__all__ = [
    "REFERENCE_RULE",
    "STATUS_AND_CAUSE_BY_TERM",
    "Detection",
    "Hint",
    "Rule",
    "Signal",
    "detect",
    "explains_absence",
    "is_availability_header",
    "is_sample_size_key",
    "read_status_text",
    "to_json_text",
]
