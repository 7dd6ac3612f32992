"""Detect what a response says about the availability of its data, even in undocumented fields.

The input is a decoded response with its HTTP status and headers, the scope options (the service's
list of engines and other filter values), and a `Rule` if the service is known. The output is
signals and hints, each with the JSON path of its evidence. A signal is a statement about
availability that was read; a hint points out a value that may be such a statement, but was not
read. This package does not use sections, tables or pandas: `normalizer.column_availability` assigns
the signals to columns.

``facts``
    The values of a response by path, collected once; the classes `Signal` and `Hint`.
``words``
    What texts, keys, values and objects mean for availability.
``general_rules``
    The general rules, which apply to any service: tables of the keys and values that state
    availability, and the functions that read such values.
``declared_rules``
    Reading by the rules that the profile of a known service declares.
``hints``
    The search for hints.
``detection``
    `detect`, which calls all of these, and also reads the HTTP status and headers.
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
