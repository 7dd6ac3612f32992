"""URLs: the pages that engines cite, for which prompts, and which brands they mention."""

from __future__ import annotations

from aatoolkit.sections.aggregation import (
    COUNT,
    FRACTION,
    MAX,
    MIN,
    NOT_ADDITIVE,
    RANK,
    SUM,
    share,
    weighted,
)
from aatoolkit.sections.declared._vocabulary import DOMAIN_TYPES
from aatoolkit.sections.section import Column, Section, Table, records

SECTION = Section(
    "urls",
    "Source pages that engines cite.",
    Table(
        "cited_urls",
        "One row per cited URL.",
        records("items"),
        key="url",
        columns=(
            Column("url", "string", "The page's address, as the engine gave it."),
            Column(
                "source_domain",
                "string",
                "Its domain; refers to `source_domains`.",
                source="domain",
            ),
            Column("title", "string", "Its title; null = the engine gave none."),
            Column(
                "page_type",
                "category",
                "What kind of page it is.",
                levels=(
                    "homepage",
                    "category",
                    "product",
                    "listicle",
                    "comparison",
                    "profile",
                    "discussion",
                    "how_to",
                    "article",
                    "alternative",
                    "other",
                ),
            ),
            Column("domain_type", "category", "What kind of site it is on.", levels=DOMAIN_TYPES),
            Column("citation_count", "Int64", "Citations of it.", unit=COUNT, aggregate=SUM),
            Column(
                "citation_share",
                "Float64",
                "Its citations, of the citations of all pages.",
                unit=FRACTION,
                aggregate=share(),
            ),
            Column(
                "retrieval_count",
                "Int64",
                "Times an engine read it, cited or not; null = engines do not tell.",
                unit=COUNT,
                aggregate=SUM,
            ),
            Column(
                "answer_count",
                "Int64",
                "Distinct answers that cite it; one answer may cite several pages.",
                unit="distinct answers",
                aggregate=NOT_ADDITIVE,
            ),
            Column(
                "average_citation_position",
                "Float64",
                "Mean place among the sources of the answers that cite it; lower is better.",
                unit=RANK,
                aggregate=weighted("citation_count"),
            ),
            Column(
                "first_cited_on",
                "date",
                "The first day it was cited, be it before the window.",
                aggregate=MIN,
            ),
            Column("last_cited_on", "date", "The last day it was cited.", aggregate=MAX),
        ),
    ),
    Table(
        "cited_url_prompts",
        "One row per cited URL and prompt.",
        records("items[].prompts"),
        key=("url", "prompt_id"),
        columns=(
            Column("url", "string", "The page; refers to `cited_urls`.", source="^url"),
            Column("prompt_id", "string", "The prompt; refers to `prompts`."),
            Column(
                "citation_count",
                "Int64",
                "Citations of the page in answers to the prompt.",
                unit=COUNT,
                aggregate=SUM,
            ),
        ),
    ),
    Table(
        "cited_url_brands",
        "One row per cited URL and brand looked for on it.",
        records("items[].brands"),
        key=("url", "brand"),
        columns=(
            Column("url", "string", "The page; refers to `cited_urls`.", source="^url"),
            Column("brand", "string", "The brand; one that is absent was not looked for."),
            Column("own", "boolean", "Whether it is the project's own; null = not known."),
            Column("mentioned", "boolean", "Whether the page mentions it."),
        ),
    ),
    kept=("paging",),
)
