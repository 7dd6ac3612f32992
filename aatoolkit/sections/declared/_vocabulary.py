"""Columns, categories and ways to aggregate that are used by several sections."""

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
"""The kinds of sites that answers cite."""

PROMPT_INTENTS = ("informational", "navigational", "commercial", "comparison")
"""The aims of people who ask a prompt."""

LEVELS_LOW_TO_HIGH = ("low", "medium", "high")
"""Three levels, the lowest first."""

METRIC_KEYS = (
    "visibilityScore",
    "mentionRate",
    "shareOfVoice",
    "averagePosition",
    "sentimentScore",
    "citationShare",
    "citationCount",
    "answerCount",
)
"""The names of metrics, as the API spells them."""

METRIC_UNITS = ("fraction", "score", "rank", "count")
"""The units that metrics can have: 0 to 1, 0 to 100, ranks from 1, whole numbers from 0."""

CRAWL_PURPOSES = ("training", "indexing", "live_retrieval", "agent", "unknown")
"""The purposes for which a crawler fetches pages."""

ANSWER_TONES = ("positive", "neutral", "negative")
"""The tones in which an answer can speak of a brand."""

NO_SAMPLE_RULE = refused("measured once, or of all there is: no sample")
JUDGEMENT_RULE = refused("a judgement of the service, and no share of counts")
SERVICE_INTERVAL_RULE = refused(
    "the service gives its own interval or verdict, with the sizes it rests on"
)
"""Rules for numbers that are not aggregated and get no confidence interval."""


def mark_optional(*columns: Column) -> tuple[Column, ...]:
    """Return copies of columns that are marked as optional: a response may lack their fields.

    Examples
    --------
    >>> [column.optional for column in mark_optional(ENGINE_COLUMN, DAY_COLUMN)]
    [True, True]
    """
    return tuple(replace(column, optional=True) for column in columns)


def make_total_count(name: str, doc: str, plural_noun: str) -> Column:
    """Declare a column whose count is repeated in every row, so that it must not be summed.

    Parameters
    ----------
    name, doc : str
        As in `Column`.
    plural_noun : str
        The things that are counted, such as ``answers``. It is used in the reason against a sum.

    Examples
    --------
    >>> str(make_total_count("answer_count", "Answers.", "answers").aggregate)
    'none (the same answers in every row)'
    """
    rule = refused(f"the same {plural_noun} in every row")
    return count(name, doc, aggregate=rule, optional=True)


# --- columns of several tables ------------------------------------------------------------------

BRAND_COLUMNS = (
    text("brand", "The brand."),
    flag("own", "Whether the brand is the project's own."),
)
BOT_COLUMNS = (
    text("bot", "The crawler."),
    text("operator", "The company or person that runs the crawler."),
    category("purpose", "The purpose for which the crawler fetches pages.", CRAWL_PURPOSES),
)
DOMAIN_COLUMN = text("domain", "The project's domain.", "$.domain")
DAY_COLUMN = date("date", "The day on which the answers were collected, in UTC.")
MEAN_POSITION_COLUMN = position(
    "average_position",
    "Mean position of the brand in answers; lower is better.",
    aggregate=weighted("position_count", otherwise="mention_count"),
)
SHARE_OF_VOICE_COLUMN = fraction(
    "share_of_voice",
    "Mentions of the brand as a share of those of all brands.",
    aggregate=share(counts=("mention_count", "all_mention_count")),
)
ALL_MENTIONS_COLUMN = make_total_count(
    "all_mention_count",
    "Mentions of all brands: the sample size of the share of voice.",
    "mentions",
)
MENTION_RATE_COLUMN = fraction(
    "mention_rate",
    "Answers that mention the brand in focus, of all.",
    over=("mention_count", "answer_count"),
)
POSITION_COUNT_COLUMN = count(
    "position_count", "Mentions with a position: the sample size of the mean."
)
CITED_ANSWERS_COLUMN = count(
    "cited_answer_count",
    "Answers that cite the path; paths overlap.",
    aggregate=refused("not additive: one answer may cite several paths"),
)
ENGINE_COLUMN = text("engine", "The engine.")
REPORTED_ENGINE_COLUMN = text("engine", "The engine; one that is absent is not reported, not 0.")
BRAND_MENTIONS_COLUMN = count(
    "mention_count", "Answers that mention the brand.", aggregate=MENTIONS
)
CITATION_SHARE_RULE = share(counts=("citation_count", "all_citation_count"))
