"""What declarations are written with: all of it is imported by a star, here alone.

The words that categories of several sections share are those of the reference shapes and of the
reference service. A service may use others: an unknown value is no error, it follows the known ones.
"""

from __future__ import annotations

from dataclasses import replace

from aatoolkit.sections.aggregation import *
from aatoolkit.sections.aggregation import refused
from aatoolkit.sections.column import *
from aatoolkit.sections.column import Column, count
from aatoolkit.sections.section import *

DOMAIN_TYPES = (
    "owned",
    "competitor",
    "editorial",
    "ugc",
    "reference",
    "institutional",
    "corporate",
    "social",
    "other",
)
"""What kind of site a source domain is."""

INTENTS = ("informational", "navigational", "commercial", "comparison")
"""What somebody who asks is after."""

LOW_TO_HIGH = ("low", "medium", "high")
"""Three degrees, the lowest first."""

METRICS = (
    "visibilityScore",
    "mentionRate",
    "shareOfVoice",
    "averagePosition",
    "sentimentScore",
    "citationShare",
    "citationCount",
    "answerCount",
)
"""Metrics that a row can be about, as the API spells them."""

METRIC_UNITS = ("fraction", "score", "rank", "count")
"""Units of such metrics: 0-1, 0-100, 1-based with lower better, and integers from 0."""

PURPOSES = ("training", "indexing", "live_retrieval", "agent", "unknown")
"""What a crawler fetches pages for."""

TONES = ("positive", "neutral", "negative")
"""How an answer speaks of a brand."""

NO_SAMPLE = refused("measured once, or of all there is: no sample")
JUDGED = refused("a judgement of the service, and no share of counts")
OWN_INTERVAL = refused("the service gives its own interval or verdict, with the sizes it rests on")
"""Rules of numbers that neither combine nor have an interval, and why."""


def optional(*columns: Column) -> tuple[Column, ...]:
    """Columns whose field an answer may leave out."""
    return tuple(replace(column, optional=True) for column in columns)


def whole(name: str, doc: str, things: str) -> Column:
    """A count of all there are, the same in every row: the sample size of shares."""
    rule = refused(f"the same {things} in every row")
    return count(name, doc, aggregate=rule, optional=True)
