"""Gaps: sources and topics where engines name competitors rather than the own brand."""

from __future__ import annotations

from aatoolkit.sections.aggregation import (
    COUNT,
    FRACTION,
    FRACTION_CHANGE,
    NOT_ADDITIVE,
    SCORE,
    SUM,
    weighted,
)
from aatoolkit.sections.declared._vocabulary import DOMAIN_TYPES
from aatoolkit.sections.section import Column, Section, Table, keyed, records

_KINDS = ("missing", "weak", "shared", "strong", "unique")

SECTION = Section(
    "gaps",
    "Citation gaps against competitors.",
    Table(
        "gap_domains",
        "One row per source domain.",
        records("domainGaps"),
        key="source_domain",
        columns=(
            Column("source_domain", "string", "The source domain.", source="domain"),
            Column("domain_type", "category", "What kind of site it is.", levels=DOMAIN_TYPES),
            Column(
                "kind",
                "category",
                "The own citations against the competitors' mean: missing (none, theirs some), "
                "weak (below), shared (about equal), strong (above), unique (theirs none).",
                levels=_KINDS,
            ),
            Column(
                "own_citations",
                "Int64",
                "Citations of the domain in answers that mention the own brand; 0 is measured.",
                unit=COUNT,
                aggregate=SUM,
            ),
            Column(
                "prompt_count",
                "Int64",
                "Distinct prompts whose answers cite the domain.",
                unit="distinct prompts",
                aggregate=NOT_ADDITIVE,
            ),
            Column(
                "opportunity_score",
                "Float64",
                "How much there is to gain; higher is more.",
                unit=SCORE,
            ),
            Column("engines", "list<string>", "The engines whose answers cite the domain."),
            Column(
                "example_url",
                "string",
                "A page cited for competitors and not for the own brand; null = none is shown.",
            ),
        ),
    ),
    Table(
        "gap_domain_competitors",
        "One row per source domain and competitor.",
        keyed("domainGaps[].competitorCitations", key="brand"),
        key=("source_domain", "brand"),
        columns=(
            Column(
                "source_domain", "string", "The domain; refers to `gap_domains`.", source="^domain"
            ),
            Column("brand", "string", "The competitor."),
            Column(
                "citations",
                "Int64",
                "Citations of the domain in answers that mention the competitor; "
                "null = not measured, 0 = none.",
                source=".",
                unit=COUNT,
                aggregate=SUM,
            ),
        ),
    ),
    Table(
        "gap_topics",
        "One row per topic.",
        records("topicGaps"),
        key="topic",
        columns=(
            Column("topic", "string", "The topic."),
            Column(
                "own_mention_rate",
                "Float64",
                "Answers that mention the own brand, of the topic's answers.",
                unit=FRACTION,
                aggregate=weighted("answer_count"),
            ),
            Column("leader", "string", "The brand mentioned most often, the own one included."),
            Column(
                "leader_mention_rate",
                "Float64",
                "Answers that mention the leader, of the topic's answers.",
                unit=FRACTION,
            ),
            Column(
                "gap",
                "Float64",
                "The own mention rate less the leader's: 0 where the own brand leads, else less.",
                unit=FRACTION_CHANGE,
            ),
            Column("answer_count", "Int64", "The topic's answers.", unit=COUNT, aggregate=SUM),
        ),
    ),
    Table(
        "gap_counts",
        "One row per kind of gap.",
        keyed("counts", key="kind"),
        key="kind",
        columns=(
            Column(
                "kind",
                "category",
                "The own citations against the competitors' mean, as in `gap_domains`.",
                levels=_KINDS,
            ),
            Column(
                "domain_count",
                "Int64",
                "Source domains of the kind.",
                source=".",
                unit=COUNT,
                aggregate=SUM,
            ),
        ),
    ),
    kept=("ownBrand", "competitors"),
)
