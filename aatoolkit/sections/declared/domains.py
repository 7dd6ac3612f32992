"""Domains: the sites that engines cite. Retrieved, cited and mentioned are three things."""

from __future__ import annotations

from aatoolkit.sections.aggregation import COUNT, FRACTION, NOT_ADDITIVE, RANK, SUM, ratio, share
from aatoolkit.sections.declared._vocabulary import DOMAIN_TYPES
from aatoolkit.sections.section import Column, Section, Table, keyed, records

SECTION = Section(
    "domains",
    "Source domains that engines cite.",
    Table(
        "source_domains",
        "One row per cited domain.",
        records("domains"),
        key="source_domain",
        columns=(
            Column("source_domain", "string", "The cited domain.", source="domain"),
            Column(
                "rank",
                "Int64",
                "Its place by citations; lower is better, equal counts share a place.",
                unit=RANK,
            ),
            Column("domain_type", "category", "What kind of site it is.", levels=DOMAIN_TYPES),
            Column(
                "citation_count",
                "Int64",
                "Citations of its pages; one answer may cite several.",
                unit=COUNT,
                aggregate=SUM,
            ),
            Column(
                "citation_share",
                "Float64",
                "Its citations, of the citations of all domains.",
                unit=FRACTION,
                aggregate=share(
                    "shares of one whole: recompute from counts over engines or fetches"
                ),
            ),
            Column(
                "retrieval_count",
                "Int64",
                "Times an engine read a page of it, cited or not; null = engines do not tell.",
                unit=COUNT,
                aggregate=SUM,
            ),
            Column(
                "citation_rate",
                "Float64",
                "Citations for each retrieval. CAN EXCEED 1: one retrieval may be cited often.",
                unit="citations per retrieval",
                aggregate=ratio("citation_count", "retrieval_count"),
            ),
            Column(
                "answer_count",
                "Int64",
                "Distinct answers that cite it; one answer may cite several domains.",
                unit="distinct answers",
                aggregate=NOT_ADDITIVE,
            ),
            Column(
                "retrieved_answer_share",
                "Float64",
                "Answers for which it was read, of the answers of engines that tell.",
                unit=FRACTION,
            ),
            Column(
                "unique_urls",
                "Int64",
                "Distinct pages of it that are cited.",
                unit=COUNT,
                aggregate=NOT_ADDITIVE,
            ),
            Column(
                "brands_mentioned",
                "list<string>",
                "Brands found on its pages; null = no page was examined.",
            ),
            Column(
                "rank_change",
                "Int64",
                "Places gained since the window before; upwards is positive, null = none before.",
                unit="places",
            ),
        ),
    ),
    Table(
        "source_domain_engines",
        "One row per cited domain and engine.",
        keyed("domains[].byEngine", key="engine"),
        key=("source_domain", "engine"),
        columns=(
            Column(
                "source_domain",
                "string",
                "The domain; refers to `source_domains`.",
                source="^domain",
            ),
            Column("engine", "string", "The engine; one that is absent is not reported, not 0."),
            Column(
                "citation_count",
                "Int64",
                "Citations of the domain in the engine's answers.",
                source=".",
                unit=COUNT,
                aggregate=SUM,
            ),
        ),
    ),
    Table(
        "source_domain_types",
        "One row per domain type.",
        records("typeBreakdown"),
        key="domain_type",
        columns=(
            Column(
                "domain_type",
                "category",
                "What kind of site it is; unclassified where that is not known.",
                levels=(*DOMAIN_TYPES, "unclassified"),
            ),
            Column(
                "citation_count",
                "Int64",
                "Citations of domains of the type.",
                unit=COUNT,
                aggregate=SUM,
            ),
            Column(
                "citation_share",
                "Float64",
                "Its citations, of all citations; the types sum to 1.",
                unit=FRACTION,
                aggregate=share(),
            ),
        ),
    ),
    kept=("totals",),
)
