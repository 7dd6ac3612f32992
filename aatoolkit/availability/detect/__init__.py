"""Detection: the availability that an answer states, read without documented names or shapes.

In goes a decoded answer with its HTTP status and headers, a `Rule` where the service is known,
and the scope options; out come signals and hints, each with the JSON path of its evidence.
Nothing here knows sections, tables or pandas: `normalizer.column_availability` brings signals
to columns.

In reading order:

``detection``
    `recognise`: the order of the rules, a service's own `Rule`, what scope options add.
``declared_rule``
    Reads an answer by the rule of a known service: an object, a map, a header, or rows.
``context``
    `Signal`; `envelope_of`, what most sections share.
``transport``, ``errors``
    The HTTP status and headers; errors inside a body.
``objects``, ``maps``, ``statements``
    The walk through objects outside lists of records, with notes and notices; maps and lists
    of fields or engines; statements, and fields that give their own state.
``forms``, ``codes``
    General forms: conditions, progress, caps, engines by runs, windows; codes with a legend and
    declared sentinels.
``rows``
    Lists of records.
``hints``
    What may speak of availability and was not read.
``parts``, ``keys``, ``roles``
    The parts of a statement; what a key says by itself; the part that a key plays.
``vocabulary``, ``phrases``
    What a word, code or sign means; the phrases, with their strength.
"""

from __future__ import annotations

from aatoolkit.availability.detect.context import FullDocument
from aatoolkit.availability.detect.detection import Detection, detect, recognise
from aatoolkit.availability.detect.phrases import WORDS
from aatoolkit.availability.detect.roles import is_size
from aatoolkit.availability.detect.signals import Hint, Signal, envelope_of
from aatoolkit.availability.detect.transport import speaks, tells
from aatoolkit.availability.detect.vocabulary import read_word
from aatoolkit.sections.availability_rule import REFERENCE, Rule

__all__ = [
    "REFERENCE",
    "WORDS",
    "Detection",
    "FullDocument",
    "Hint",
    "Rule",
    "Signal",
    "detect",
    "envelope_of",
    "is_size",
    "read_word",
    "recognise",
    "speaks",
    "tells",
]
