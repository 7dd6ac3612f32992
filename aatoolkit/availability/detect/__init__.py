"""Detection: the availability that an answer states, read without documented names or shapes.

In goes a decoded answer with its HTTP status and headers, a `Rule` where the service is known,
and the scope options; out come signals and hints, each with the JSON path of its evidence.
Nothing here knows sections, tables or pandas: `normalizer.column_availability` brings signals
to columns.

In reading order:

``detection``
    `detect`: the order of the rules, a service's own `Rule`, what scope options add.
``declared_rule``
    Reads an answer by the rule of a known service: an object, a map, a header, or rows.
``context``, ``fields``
    `Signal`, `Hint` and the answer that is read; its data, field by field, its records, and the
    members of the objects about all of it.
``transport``, ``errors``
    The HTTP status and headers; errors inside a body.
``objects``, ``maps``, ``statements``
    Objects outside lists of records, with notes and notices; maps and lists of fields or
    engines; statements, and fields that give their own state.
``forms``
    Forms of many services: conditions, progress, caps, engines by runs, windows and outages.
``rows``, ``codes``
    Lists of records; codes with a legend, declared sentinels, a least sample size.
``hints``
    What may be about availability and was not read.
``parts``, ``keys``, ``roles``
    The parts of a statement; what a key means by itself; the role of a key.
``vocabulary``, ``placeholders``
    What a word or phrase means; signs in place of numbers, and status codes of statistics.
"""

from __future__ import annotations

from aatoolkit.availability.detect.context import Hint, Signal
from aatoolkit.availability.detect.detection import Detection, detect, signals_of
from aatoolkit.availability.detect.fields import FullDocument, envelope_of
from aatoolkit.availability.detect.roles import is_size
from aatoolkit.availability.detect.transport import explains_absence, is_availability_header
from aatoolkit.availability.detect.vocabulary import WORDS, read_word
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
    "explains_absence",
    "is_availability_header",
    "is_size",
    "read_word",
    "signals_of",
]
