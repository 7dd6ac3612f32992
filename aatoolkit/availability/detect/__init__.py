"""Detection: the availability that a response states, read without documented names or shapes.

In goes a decoded response with its HTTP status and headers, a `Rule` where the service is known,
and the scope options; out come signals and hints, each with the JSON path of its evidence.
Nothing here knows sections, tables or pandas: `normalizer.column_availability` brings signals
to columns.

``facts``
    The response, flattened once; signals and hints.
``words``
    What words, keys, values and objects mean, by the lexicon.
``rules``
    The tables of forms: members of the envelope, forms of many services, fields of records; and
    how statements, maps, lists and objects are read.
``declared``
    The rules of a known service.
``places``
    What may be about availability and was not read.
``detection``
    `detect`, which runs them; the HTTP status and headers; responses that say nothing.
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
