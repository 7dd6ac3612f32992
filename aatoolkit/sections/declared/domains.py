"""Domains: the sites that engines (AI assistants) cite.

Three things are counted separately: retrievals of a site, citations of it as a source, and mentions
in the answer.
"""

from aatoolkit.sections.declared._vocabulary import *

# fmt: off
_ALL_CITATIONS_COLUMN = count("all_citation_count", "Citations of all domains: the sample size of the share.",
    "$.totals.citationCount", aggregate=refused("the same citations in every row"))

SECTION = Section(
    "domains", "Source domains that engines cite.",
    Table("source_domains", "One row per cited domain.", records("domains"), key="source_domain", columns=(
        text("source_domain", "The cited domain.", "domain"),
        rank("rank", "Position by citations; lower is better, equal counts share a position."),
        category("domain_type", "Kind of site.", DOMAIN_TYPES),
        count("citation_count", "Citations of its pages; one answer may cite several."),
        fraction("citation_share", "Its share of all citations.",
            aggregate=share("shares of one whole: recompute from counts over engines or fetches",
            counts=("citation_count", "all_citation_count"))),
        count("retrieval_count", "Times an engine read a page of it, cited or not."),
        number("citation_rate", "Citations per retrieval; can exceed 1.", unit="citations per retrieval",
            aggregate=ratio("citation_count", "retrieval_count")),
        integer("answer_count", "Distinct answers that cite the domain; domains overlap.", unit="distinct answers",
            aggregate=NOT_ADDITIVE),
        fraction("retrieved_answer_share", "Share of the answers of `reporting_answer_count` that read it.",
            aggregate=refused("not additive: one answer may read several domains",
            ("retrieved_answer_count", "reporting_answer_count"))),
        count("unique_urls", "Distinct cited pages of it.", aggregate=NOT_ADDITIVE),
        words("brands_mentioned", "Brands found on its pages, if any page was examined."),
        integer("rank_change", "Positions gained since the window before; up is positive.", unit="places"),
        *mark_optional(
            _ALL_CITATIONS_COLUMN,
            integer("retrieved_answer_count", "Distinct answers that read the domain; domains overlap.",
                unit="distinct answers", aggregate=NOT_ADDITIVE),
        ),
        make_total_count("reporting_answer_count", "Answers of engines that report what they read: the sample size of that share.",
            "answers"),
    )),
    Table("source_domain_engines", "One row per cited domain and engine.", keyed("domains[].byEngine", key="engine"),
        key=("source_domain", "engine"), columns=(
        ref("source_domain", "The domain; refers to `source_domains`.", "^domain"),
        REPORTED_ENGINE_COLUMN,
        count("citation_count", "Citations of the domain in the engine's answers.", "."),
    )),
    Table("source_domain_types", "One row per domain type.", records("typeBreakdown"), key="domain_type", columns=(
        category("domain_type", "Kind of site, or unclassified.", (*DOMAIN_TYPES, "unclassified")),
        count("citation_count", "Citations of domains of the type."),
        fraction("citation_share", "Its share of all citations; sums to 1.",
            aggregate=CITATION_SHARE_RULE),
        *mark_optional(_ALL_CITATIONS_COLUMN),
    )),
    kept=("totals.uniqueDomains", "totals.answerCount", "totals.ownCitationShare"),
)
