"""Detect the availability that a response states, without documented names or shapes.

The input is a decoded response with its HTTP status and headers, the scope options, and a `Rule` if
the service is known. The output is signals and hints, each with the JSON path of its evidence. A
signal is a statement about availability that was read; a hint points out a value that may be such a
statement, but was not read. This package knows no sections, tables or pandas:
`normalizer.column_availability` assigns signals to columns.

``facts``
    The values of a response by path, collected once; the classes of signals and hints.
``words``
    The meanings of words, keys, values and objects, by the lexicon.
``rules``
    The general rules, which apply to any service: tables of the keys and values that state
    availability, and the functions that read statements, maps, lists and objects.
``declared``
    The rules that the profile of a known service declares.
``places``
    The search for hints.
``detection``
    `detect`, which calls all of these, and also reads the HTTP status and headers.
"""

from aatoolkit.availability.detect.declared import state_by
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
