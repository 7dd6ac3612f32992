"""Detection: the availability that a response states, read without documented names or shapes.

The input is a decoded response with its HTTP status and headers, a `Rule` if the service is known,
and the scope options. The output is signals (statements about availability that were read) and
hints (values that may be such statements and were not read), each with the JSON path of its
evidence. Nothing here knows sections, tables or pandas: `normalizer.column_availability` assigns
signals to columns.

``facts``
    The values of a response by path, collected once; the classes of signals and hints.
``words``
    What words, keys, values and objects mean, by the lexicon.
``rules``
    The general rules, which need no declaration: tables of the keys and values that state
    availability, and how statements, maps, lists and objects are read.
``declared``
    The rules that the profile of a known service declares.
``places``
    The hints.
``detection``
    `detect`, which runs all of these; it also reads the HTTP status and headers, and responses
    that state nothing.
"""

from aatoolkit.availability.detect.declared import state_by
from aatoolkit.availability.detect.detection import (
    Detection,
    detect,
    explains_absence,
    is_availability_header,
)
from aatoolkit.availability.detect.facts import (
    Hint,
    Signal,
    raw,
)
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
