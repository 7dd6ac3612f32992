"""Detect what a response says about the availability of its data, even in undocumented fields.

The results are signals and hints. A signal is a statement about availability, such as
``unavailable``. A hint is a value that may be a statement about availability.

``facts``
    The values of a response by path; the classes `Signal` and `Hint`.
``words``
    What texts, keys, values and objects mean for availability.
``general_rules``
    Rules that apply to the responses of any service.
``declared_rules``
    Reading by the rules that the profile of a known service declares.
``hints``
    The search for hints.
``detection``
    `detect`, which calls all of these.
"""

from aatoolkit.availability.detect.declared_rules import state_by
from aatoolkit.availability.detect.detection import (
    Detection,
    detect,
    explains_absence,
    is_availability_header,
)
from aatoolkit.availability.detect.facts import Hint, Signal, raw
from aatoolkit.availability.detect.words import WORDS, is_sample_size, read_word
from aatoolkit.sections.availability_rule import REFERENCE, Rule

__all__ = [
    "REFERENCE",
    "WORDS",
    "Detection",
    "Hint",
    "Rule",
    "Signal",
    "detect",
    "explains_absence",
    "is_availability_header",
    "is_sample_size",
    "raw",
    "read_word",
    "state_by",
]
