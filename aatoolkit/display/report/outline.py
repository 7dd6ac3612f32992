"""The order of the sections on a page, their plain titles, and what is shown of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from aatoolkit.display.plot.labels import capitalized, humanize


@dataclass(frozen=True)
class Chapter:
    """The tables that a report shows of one section; every other is folded below.

    Parameters
    ----------
    title : str
        Its title, in plain words.
    shown : mapping of str to str
        The columns shown of each table that stands open, separated by blanks. Without any, the
        main table stands open, with the columns that say most.
    picture : str, optional
        The table that is drawn; the main table if it is left out, none if it is empty. With the
        name of a column of it, that column is drawn as bars, which costs next to nothing.
    rows : int
        The most rows of a table that stands open.
    """

    title: str
    shown: Mapping[str, str] = field(default_factory=dict)
    picture: str | None = None
    rows: int = 10


CHAPTERS: Mapping[str, Chapter] = {
    "overview": Chapter(
        "Overview",
        {
            "overview_kpis": "metric value previous_value numerator denominator",
            "overview_engines": "engine answer_count mention_count mention_rate last_run_day",
        },
        "overview_trend",
    ),
    "ranking": Chapter(
        "Brands and share of voice",
        {
            "ranking_leaderboard": "brand rank previous_rank mention_count share_of_voice "
            "average_position first_position_rate"
        },
        "ranking_leaderboard",
    ),
    "prompts": Chapter(
        "Prompts",
        {"prompts": "prompt topic answer_count mention_count mention_rate average_position"},
        "prompts mention_rate",
    ),
    "domains": Chapter(
        "Cited domains",
        {
            "source_domains": "source_domain domain_type citation_count citation_share "
            "answer_count rank_change"
        },
        "source_domain_types",
    ),
    "urls": Chapter(
        "Cited pages",
        {"cited_urls": "url page_type citation_count citation_share answer_count"},
        "cited_urls citation_count",
        6,
    ),
    "gaps": Chapter(
        "Where others are cited or mentioned, and the brand is not",
        {
            "gap_domains": "source_domain kind own_citations prompt_count opportunity_score",
            "gap_topics": "topic own_mention_rate leader leader_mention_rate gap answer_count",
        },
        "gap_domains opportunity_score",
        5,
    ),
    "perception": Chapter(
        "How answers speak of the brands",
        {
            "perception_sentiment": "brand sentiment_score positive_share neutral_share "
            "negative_share scored_count",
            "perception_claims": "text brand verdict occurrences",
        },
        "perception_sentiment",
    ),
    "crawl": Chapter(
        "Visits of AI crawlers",
        {"crawl_bots": "bot operator purpose requests verified_requests last_seen_at"},
        "crawl_timeseries",
    ),
    "conversions": Chapter(
        "Visits from engines, and what came of them",
        {"conversion_engines": "engine sessions conversions conversion_rate revenue currency"},
        "conversion_engines sessions",
    ),
    "impact": Chapter(
        "What completed actions moved",
        {
            "impact_metrics": "action_id metric before_value after_value change verdict",
            "impact_actions": "title completed_on verdict control_change",
        },
        "",
    ),
    "insights": Chapter(
        "What the service noticed",
        {"insights": "title severity metric before after change answer_count"},
        "",
        6,
    ),
    "actions": Chapter(
        "Actions that are proposed",
        {"actions": "title priority state effort score impact_metric impact_low impact_high"},
        "actions score",
        6,
    ),
    "ads": Chapter(
        "Advertisements",
        {"ad_advertisers": "advertiser advertiser_domain observations prompt_count ad_share"},
        "ad_advertisers observations",
        6,
    ),
    "shopping": Chapter(
        "Products",
        {
            "shopping_products": "title brand mention_count visibility_rate average_position "
            "price_min price_max currency"
        },
        "shopping_products mention_count",
        6,
    ),
    "fanouts": Chapter(
        "What engines search for",
        {"fanout_queries": "query occurrences share intent own_organic_rank"},
        "fanout_queries occurrences",
        6,
    ),
    "chats": Chapter(
        "Sampled answers", {"chats": "prompt engine ran_at outcome answer_characters"}, "", 4
    ),
    "crawlability": Chapter(
        "Technical state of the site",
        {
            "crawlability_score": "checked_at score passed failed warning skipped",
            "crawlability_bot_access": "bot operator access server_status",
            "crawlability_pages": "url http_status indexable visible_text_ratio ttfb_ms",
        },
        "",
        6,
    ),
}
"""The sections in reading order."""

_TITLES: Mapping[str, str] = {
    "account_allowance": "What the account may use",
    "action_evidence": "What the actions rest on",
    "action_steps": "Steps of the actions",
    "ad_advertisers": "Advertisers",
    "ad_cards": "Texts of the advertisements",
    "ad_engine_support": "Which engines carry advertisements",
    "ads": "Advertisements seen",
    "chat_citations": "Sources of the answers",
    "chat_fanouts": "Search queries of the answers",
    "chat_mentions": "Mentions in the answers",
    "chats": "Answers",
    "cited_url_brands": "Brands on the pages",
    "cited_url_prompts": "Prompts by page",
    "cited_urls": "Pages that engines cite",
    "conversion_daily": "Visits by day and engine",
    "conversion_engines": "Visits by engine",
    "conversion_landing_pages": "Visits by page",
    "conversion_totals": "All visits",
    "crawl_bot_statuses": "Status of the replies, by crawler",
    "crawl_bots": "Crawlers",
    "crawl_gateway": "How the domain is connected",
    "crawl_path_bots": "Paths by crawler",
    "crawl_paths": "Paths",
    "crawl_timeseries": "Requests over time",
    "crawlability_bot_access": "What the site allows each crawler",
    "crawlability_checks": "Checks",
    "crawlability_files": "Well-known files",
    "crawlability_page_assistants": "Pages, and what assistants can use",
    "crawlability_pages": "Pages examined",
    "crawlability_score": "Score",
    "fanout_engine_support": "Which engines show their queries",
    "fanout_queries": "Queries",
    "fanout_query_engines": "Queries by engine",
    "fanout_query_prompts": "Prompts behind the queries",
    "fanout_terms": "Terms",
    "gap_counts": "Domains by kind of gap",
    "gap_domain_competitors": "Citations of competitors by domain",
    "gap_domains": "Domains that cite others",
    "gap_topics": "Topics in which another brand leads",
    "impact_actions": "Completed actions",
    "impact_annotations": "Events",
    "impact_metrics": "Before and after",
    "insight_evidence": "What the insights rest on",
    "insights": "Insights",
    "overview_engines": "Engines",
    "overview_kpis": "Key figures",
    "overview_top_brands": "Most mentioned brands",
    "overview_trend": "Key figures by day",
    "perception_attribute_engines": "Attributes by engine",
    "perception_attributes": "Attributes",
    "perception_claims": "Claims",
    "perception_sentiment": "Sentiment by brand",
    "perception_sentiment_trend": "Sentiment by day",
    "prompt_engines": "Prompts by engine",
    "prompts": "Prompts asked",
    "ranking_history": "Rank by day",
    "ranking_leaderboard": "Brands by rank",
    "ranking_matrix": "Brands by engine",
    "ranking_positions": "Brands by position",
    "shopping_attributes": "Attributes of products",
    "shopping_brands": "Brands by products",
    "shopping_merchants": "Merchants",
    "shopping_offers": "Offers",
    "shopping_products": "Products shown",
    "shopping_trigger": "How often answers show products",
    "source_domain_engines": "Domains by engine",
    "source_domain_types": "Types of domains",
    "source_domains": "Domains that engines cite",
}


def in_reading_order(sections: Iterable[str]) -> list[str]:
    """The sections as a reader wants them: what is known in its order, then all others.

    Examples
    --------
    >>> in_reading_order(["ads", "mine", "overview"])
    ['overview', 'ads', 'mine']
    """
    places = {name: place for place, name in enumerate(CHAPTERS)}
    return sorted(sections, key=lambda name: places.get(name, len(places)))


def chapter_of(section: str) -> Chapter:
    """Return the chapter of a section; of an unknown one, its main table under its name.

    Examples
    --------
    >>> chapter_of("share_of_shelf").title
    'Share of shelf'
    """
    return CHAPTERS.get(section) or Chapter(capitalized(humanize(section)))


def title_of(table: str) -> str:
    """The title of a table in plain words.

    Examples
    --------
    >>> title_of("overview_kpis"), title_of("my_table")
    ('Key figures', 'My table')
    """
    return _TITLES.get(table) or capitalized(humanize(table))
