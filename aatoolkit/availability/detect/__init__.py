"""Detection: the availability that an answer states, read without documented names or shapes.

In goes a decoded answer with its HTTP status and headers, a `Rule` where the service is known,
and the scope options; out come `Signal` s, each with the JSON path of its evidence. Nothing here
knows sections, tables or pandas; `normalizer.column_availability` brings signals to columns.

In reading order:

``detection``
    `recognise`: the order of the rules, a service's own `Rule`, what scope options add.
``context``
    `Signal`; `AnswerContext`, one answer while it is read; `envelope_of`, what most sections share.
``transport``, ``errors``
    The HTTP status and headers; errors inside a body.
``objects``, ``maps``, ``statements``
    The walk through objects outside lists of records, with notes and notices; maps and lists
    of fields or engines; statements, and fields that give their own state.
``rows``
    Lists of records.
``parts``, ``keys``, ``roles``
    The parts of a statement; what a key says by itself; the part that a key plays.
``vocabulary``, ``phrases``
    What a word, code or sign means; the phrases, with their strength.
"""

from __future__ import annotations

from aatoolkit.availability.detect.context import FullDocument, Signal, envelope_of
from aatoolkit.availability.detect.detection import recognise
from aatoolkit.availability.detect.phrases import WORDS
from aatoolkit.availability.detect.roles import is_size
from aatoolkit.availability.detect.transport import speaks, tells
from aatoolkit.availability.detect.vocabulary import read_word
from aatoolkit.sections.availability_rule import REFERENCE, Rule

__all__ = [
    "REFERENCE",
    "WORDS",
    "FullDocument",
    "Rule",
    "Signal",
    "envelope_of",
    "is_size",
    "read_word",
    "recognise",
    "speaks",
    "tells",
]
