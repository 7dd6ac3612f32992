"""Names that the modules of the declared sections import with ``*``, which only they do.

Besides the functions of ``sections``, these are values that categories of several sections share.
A service may use other values: an unknown value is no error, and is sorted after the known ones.
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
"""Kinds of sites that a source domain can be."""

INTENTS = ("informational", "navigational", "commercial", "comparison")
"""The aims that a prompt can have."""

LOW_TO_HIGH = ("low", "medium", "high")
"""Three levels, the lowest first."""

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
"""Units of these metrics: 0 to 1, 0 to 100, ranks from 1 (lower is better), whole numbers from 0."""

PURPOSES = ("training", "indexing", "live_retrieval", "agent", "unknown")
"""The purposes for which a crawler fetches pages."""

TONES = ("positive", "neutral", "negative")
"""How an answer speaks of a brand."""

NO_SAMPLE = refused("measured once, or of all there is: no sample")
JUDGED = refused("a judgement of the service, and no share of counts")
OWN_INTERVAL = refused("the service gives its own interval or verdict, with the sizes it rests on")
"""Rules, with the reason, of numbers that are not aggregated and get no confidence interval."""


def optional(*columns: Column) -> tuple[Column, ...]:
    """Return the columns as optional ones, whose fields a response may leave out."""
    return tuple(replace(column, optional=True) for column in columns)


def whole(name: str, doc: str, things: str) -> Column:
    """Return a column of the total that shares are shares of; it is the same in every row."""
    rule = refused(f"the same {things} in every row")
    return count(name, doc, aggregate=rule, optional=True)
