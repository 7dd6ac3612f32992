"""Types of the tables of the profile 'reference', made by aatoolkit: not to be edited.

``typed(project)`` returns the project itself, as a type that knows its sections, their tables and
the columns of those.
"""

# mypy: disable-error-code="misc, no-overload-impl, overload-overlap, override"
# pyright: reportIncompatibleMethodOverride=false, reportOverlappingOverload=false
# pyright: reportNoOverloadImplementation=false, reportInconsistentOverload=false

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, cast, overload

import aatoolkit as aa

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from aatoolkit.frame.accessor import Accessor

    # Names in a list are not checked: pyright takes it for a list of any text, and a list that was
    # computed is one.
    _Selection = (
        list[Any] | pd.Series[bool] | pd.Index[Any] | pd.DataFrame | slice
        | np.ndarray[Any, Any] | Callable[[pd.DataFrame], Any]
    )

    _Values = str | Iterable[str] | None

    class _DataFrame(pd.DataFrame):
        """A table of the profile: what gives its columns other names gives a plain DataFrame."""

        @property
        def aa(self) -> Accessor: ...
        @property
        def T(self) -> pd.DataFrame: ...
        @property
        def columns(self) -> pd.Index[Any]: ...
        @columns.setter
        def columns(self, names: Any) -> None: ...
        def __iter__(self) -> Iterator[Any]: ...
        def items(self) -> Iterator[tuple[Any, pd.Series[Any]]]: ...
        def add_prefix(self, prefix: str, axis: Any = ...) -> pd.DataFrame: ...
        def add_suffix(self, suffix: str, axis: Any = ...) -> pd.DataFrame: ...
        def assign(self, **columns: Any) -> pd.DataFrame: ...
        def join(self, other: Any, on: Any = ..., how: Any = ..., lsuffix: str = ..., rsuffix: str = ..., sort: bool = ..., validate: Any = ..., **options: Any) -> pd.DataFrame: ...
        def melt(self, id_vars: Any = ..., value_vars: Any = ..., var_name: Any = ..., value_name: Any = ..., col_level: Any = ..., ignore_index: bool = ...) -> pd.DataFrame: ...
        def merge(self, right: Any, how: Any = ..., on: Any = ..., left_on: Any = ..., right_on: Any = ..., left_index: bool = ..., right_index: bool = ..., sort: bool = ..., suffixes: Any = ..., copy: Any = ..., indicator: Any = ..., validate: Any = ...) -> pd.DataFrame: ...
        def pivot(self, *, columns: Any, index: Any = ..., values: Any = ...) -> pd.DataFrame: ...
        def pivot_table(self, values: Any = ..., index: Any = ..., columns: Any = ..., aggfunc: Any = ..., fill_value: Any = ..., margins: bool = ..., dropna: bool = ..., margins_name: Any = ..., observed: bool = ..., sort: bool = ..., **options: Any) -> pd.DataFrame: ...
        def reindex(self, labels: Any = ..., *, index: Any = ..., columns: Any = ..., axis: Any = ..., **options: Any) -> pd.DataFrame: ...
        def rename(self, mapper: Any = ..., *, index: Any = ..., columns: Any = ..., axis: Any = ..., copy: Any = ..., inplace: bool = ..., level: Any = ..., errors: Any = ...) -> pd.DataFrame: ...
        def reset_index(self, level: Any = ..., *, drop: bool = ..., inplace: bool = ..., col_level: Any = ..., col_fill: Any = ..., allow_duplicates: bool = ..., names: Any = ...) -> pd.DataFrame: ...
        def set_axis(self, labels: Any, *, axis: Any = ..., copy: Any = ...) -> pd.DataFrame: ...
        def set_index(self, keys: Any, *, drop: bool = ..., append: bool = ..., inplace: bool = ..., verify_integrity: Any = ...) -> pd.DataFrame: ...
        def transpose(self, *args: Any, copy: Any = ...) -> pd.DataFrame: ...

    class ActionsFrame(_DataFrame):
        """One row per action."""

        @overload
        def __getitem__(self, key: Literal["action_id", "group", "type", "title", "priority", "effort", "state", "target_url", "target_domain", "topic", "engine", "impact_metric", "impact_unit"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["score", "impact_low", "impact_high"]) -> pd.Series[float]: ...
        @overload
        def __getitem__(self, key: Literal["evidence_answer_count"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: Literal["created_at", "updated_at"]) -> pd.Series[pd.Timestamp]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class ActionStepsFrame(_DataFrame):
        """One row per action and step."""

        @overload
        def __getitem__(self, key: Literal["action_id", "text"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["step"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class ActionEvidenceFrame(_DataFrame):
        """One row per action and piece of evidence."""

        @overload
        def __getitem__(self, key: Literal["action_id", "kind", "value"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class AdsFrame(_DataFrame):
        """One row per observed ad."""

        @overload
        def __getitem__(self, key: Literal["ad_id", "engine", "surface", "unit", "placement", "advertiser", "advertiser_domain", "prompt_id", "chat_id"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["position"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: Literal["own", "tracked"]) -> pd.Series[bool]: ...
        @overload
        def __getitem__(self, key: Literal["observed_at"]) -> pd.Series[pd.Timestamp]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class AdCardsFrame(_DataFrame):
        """One row per ad and card."""

        @overload
        def __getitem__(self, key: Literal["ad_id", "headline", "body", "image_url", "target_url", "price_currency"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["card"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: Literal["price_amount"]) -> pd.Series[float]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class AdAdvertisersFrame(_DataFrame):
        """One row per advertiser."""

        @overload
        def __getitem__(self, key: Literal["advertiser", "advertiser_domain"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["observations", "prompt_count", "all_observations"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: Literal["ad_share"]) -> pd.Series[float]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class AdEngineSupportFrame(_DataFrame):
        """One row per engine."""

        @overload
        def __getitem__(self, key: Literal["engine", "support"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class ChatsFrame(_DataFrame):
        """One row per sampled answer."""

        @overload
        def __getitem__(self, key: Literal["chat_id", "prompt_id", "prompt", "engine", "model", "country", "outcome", "answer_text", "answer_format"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["ran_at"]) -> pd.Series[pd.Timestamp]: ...
        @overload
        def __getitem__(self, key: Literal["answer_characters"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: Literal["answer_truncated"]) -> pd.Series[bool]: ...
        @overload
        def __getitem__(self, key: Literal["features"]) -> pd.Series[Any]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class ChatMentionsFrame(_DataFrame):
        """One row per answer and brand that it mentions."""

        @overload
        def __getitem__(self, key: Literal["chat_id", "brand", "sentiment", "excerpt"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["own"]) -> pd.Series[bool]: ...
        @overload
        def __getitem__(self, key: Literal["position"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: Literal["sentiment_score"]) -> pd.Series[float]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class ChatCitationsFrame(_DataFrame):
        """One row per answer and source."""

        @overload
        def __getitem__(self, key: Literal["chat_id", "url", "source_domain", "title", "domain_type"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["n"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: Literal["cited"]) -> pd.Series[bool]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class ChatFanoutsFrame(_DataFrame):
        """One row per answer and query that the engine made of the prompt."""

        @overload
        def __getitem__(self, key: Literal["chat_id", "query"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["query_index"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class ConversionEnginesFrame(_DataFrame):
        """One row per engine."""

        @overload
        def __getitem__(self, key: Literal["engine", "currency"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["referrers"]) -> pd.Series[Any]: ...
        @overload
        def __getitem__(self, key: Literal["sessions", "users", "conversions", "complete_sessions", "engaged_sessions", "rated_sessions"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: Literal["conversion_rate", "revenue", "engagement_rate", "average_session_seconds"]) -> pd.Series[float]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class ConversionTotalsFrame(_DataFrame):
        """One row per fetch."""

        @overload
        def __getitem__(self, key: Literal["domain", "provider", "attribution", "currency"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["sessions", "ai_sessions", "ai_conversions", "ai_complete_sessions", "other_conversions", "other_complete_sessions"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: Literal["ai_session_share", "ai_conversion_rate", "other_conversion_rate", "ai_revenue"]) -> pd.Series[float]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class ConversionLandingPagesFrame(_DataFrame):
        """One row per landing path."""

        @overload
        def __getitem__(self, key: Literal["path", "currency"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["sessions", "conversions", "cited_answer_count", "complete_sessions"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: Literal["revenue"]) -> pd.Series[float]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class ConversionDailyFrame(_DataFrame):
        """One row per date and engine."""

        @overload
        def __getitem__(self, key: Literal["date"]) -> pd.Series[pd.Timestamp]: ...
        @overload
        def __getitem__(self, key: Literal["engine"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["sessions", "conversions"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class CrawlBotsFrame(_DataFrame):
        """One row per crawler."""

        @overload
        def __getitem__(self, key: Literal["bot", "operator", "purpose", "verification"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["requests", "verified_requests", "unique_paths"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: Literal["last_seen_at"]) -> pd.Series[pd.Timestamp]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class CrawlGatewayFrame(_DataFrame):
        """One row per fetch: how the domain is connected."""

        @overload
        def __getitem__(self, key: Literal["domain", "cname_state", "cname_host", "dcv_state"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["dcv_validated_at", "dcv_expires_at", "first_event_at", "last_event_at"]) -> pd.Series[pd.Timestamp]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class CrawlBotStatusesFrame(_DataFrame):
        """One row per crawler and class of HTTP status."""

        @overload
        def __getitem__(self, key: Literal["bot", "status_class"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["requests"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class CrawlTimeseriesFrame(_DataFrame):
        """One row per bucket of time and crawler."""

        @overload
        def __getitem__(self, key: Literal["bucket_start"]) -> pd.Series[pd.Timestamp]: ...
        @overload
        def __getitem__(self, key: Literal["bot"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["requests"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class CrawlPathsFrame(_DataFrame):
        """One row per path."""

        @overload
        def __getitem__(self, key: Literal["path"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["requests", "last_status", "cited_answer_count"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: Literal["last_crawled_at"]) -> pd.Series[pd.Timestamp]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class CrawlPathBotsFrame(_DataFrame):
        """One row per path and crawler."""

        @overload
        def __getitem__(self, key: Literal["path", "bot"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["requests"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class CrawlabilityScoreFrame(_DataFrame):
        """One row per fetch."""

        @overload
        def __getitem__(self, key: Literal["domain"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["checked_at"]) -> pd.Series[pd.Timestamp]: ...
        @overload
        def __getitem__(self, key: Literal["score"]) -> pd.Series[float]: ...
        @overload
        def __getitem__(self, key: Literal["passed", "failed", "warning", "skipped", "applicable"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class CrawlabilityBotAccessFrame(_DataFrame):
        """One row per crawler."""

        @overload
        def __getitem__(self, key: Literal["bot", "operator", "purpose", "access", "rule"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["explicit_rule"]) -> pd.Series[bool]: ...
        @overload
        def __getitem__(self, key: Literal["server_status"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class CrawlabilityFilesFrame(_DataFrame):
        """One row per well-known file."""

        @overload
        def __getitem__(self, key: Literal["file"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["present"]) -> pd.Series[bool]: ...
        @overload
        def __getitem__(self, key: Literal["http_status", "bytes"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class CrawlabilityPagesFrame(_DataFrame):
        """One row per page examined."""

        @overload
        def __getitem__(self, key: Literal["url"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["http_status", "ttfb_ms"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: Literal["indexable", "requires_javascript"]) -> pd.Series[bool]: ...
        @overload
        def __getitem__(self, key: Literal["visible_text_ratio"]) -> pd.Series[float]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class CrawlabilityPageAssistantsFrame(_DataFrame):
        """One row per page, engine and capability."""

        @overload
        def __getitem__(self, key: Literal["url", "engine", "capability", "result"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class CrawlabilityChecksFrame(_DataFrame):
        """One row per page and check."""

        @overload
        def __getitem__(self, key: Literal["url", "check_id", "group", "result", "detail"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class SourceDomainsFrame(_DataFrame):
        """One row per cited domain."""

        @overload
        def __getitem__(self, key: Literal["source_domain", "domain_type"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["rank", "citation_count", "retrieval_count", "answer_count", "unique_urls", "rank_change", "all_citation_count", "retrieved_answer_count", "reporting_answer_count"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: Literal["citation_share", "citation_rate", "retrieved_answer_share"]) -> pd.Series[float]: ...
        @overload
        def __getitem__(self, key: Literal["brands_mentioned"]) -> pd.Series[Any]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class SourceDomainEnginesFrame(_DataFrame):
        """One row per cited domain and engine."""

        @overload
        def __getitem__(self, key: Literal["source_domain", "engine"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["citation_count"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class SourceDomainTypesFrame(_DataFrame):
        """One row per domain type."""

        @overload
        def __getitem__(self, key: Literal["domain_type"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["citation_count", "all_citation_count"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: Literal["citation_share"]) -> pd.Series[float]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class FanoutQueriesFrame(_DataFrame):
        """One row per query."""

        @overload
        def __getitem__(self, key: Literal["query", "intent"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["occurrences", "own_organic_rank", "search_volume", "all_occurrence_count"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: Literal["share"]) -> pd.Series[float]: ...
        @overload
        def __getitem__(self, key: Literal["first_seen_on", "last_seen_on"]) -> pd.Series[pd.Timestamp]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class FanoutQueryEnginesFrame(_DataFrame):
        """One row per query and engine."""

        @overload
        def __getitem__(self, key: Literal["query", "engine"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["occurrences"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class FanoutQueryPromptsFrame(_DataFrame):
        """One row per query and prompt that it was made of."""

        @overload
        def __getitem__(self, key: Literal["query", "prompt_id"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class FanoutTermsFrame(_DataFrame):
        """One row per term."""

        @overload
        def __getitem__(self, key: Literal["term"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["occurrences"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class FanoutEngineSupportFrame(_DataFrame):
        """One row per engine."""

        @overload
        def __getitem__(self, key: Literal["engine"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["exposes_fanouts"]) -> pd.Series[bool]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class GapDomainsFrame(_DataFrame):
        """One row per source domain."""

        @overload
        def __getitem__(self, key: Literal["source_domain", "domain_type", "kind", "example_url"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["own_citations", "prompt_count"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: Literal["opportunity_score"]) -> pd.Series[float]: ...
        @overload
        def __getitem__(self, key: Literal["engines"]) -> pd.Series[Any]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class GapDomainCompetitorsFrame(_DataFrame):
        """One row per source domain and competitor."""

        @overload
        def __getitem__(self, key: Literal["source_domain", "brand"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["citations"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class GapTopicsFrame(_DataFrame):
        """One row per topic."""

        @overload
        def __getitem__(self, key: Literal["topic", "leader"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["own_mention_rate", "leader_mention_rate", "gap"]) -> pd.Series[float]: ...
        @overload
        def __getitem__(self, key: Literal["answer_count", "own_mention_count", "leader_mention_count"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class GapCountsFrame(_DataFrame):
        """One row per kind of gap."""

        @overload
        def __getitem__(self, key: Literal["kind"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["domain_count"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class ImpactActionsFrame(_DataFrame):
        """One row per completed action."""

        @overload
        def __getitem__(self, key: Literal["action_id", "title", "verdict", "control_metric"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["completed_on", "before_start", "before_end", "after_start", "after_end"]) -> pd.Series[pd.Timestamp]: ...
        @overload
        def __getitem__(self, key: Literal["control_change"]) -> pd.Series[float]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class ImpactMetricsFrame(_DataFrame):
        """One row per action and metric."""

        @overload
        def __getitem__(self, key: Literal["action_id", "metric", "unit", "verdict"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["before_value", "before_ci_low", "before_ci_high", "after_value", "after_ci_low", "after_ci_high", "change", "relative_change", "confidence"]) -> pd.Series[float]: ...
        @overload
        def __getitem__(self, key: Literal["before_n", "after_n"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class ImpactAnnotationsFrame(_DataFrame):
        """One row per annotation."""

        @overload
        def __getitem__(self, key: Literal["date"]) -> pd.Series[pd.Timestamp]: ...
        @overload
        def __getitem__(self, key: Literal["label", "kind"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class InsightsFrame(_DataFrame):
        """One row per insight."""

        @overload
        def __getitem__(self, key: Literal["insight_id", "type", "severity", "confidence", "title", "what", "why", "recommendation", "metric", "metric_unit", "change_kind", "engine", "topic", "category", "brand", "state"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["before", "after", "change"]) -> pd.Series[float]: ...
        @overload
        def __getitem__(self, key: Literal["baseline_start", "baseline_end", "detected_at"]) -> pd.Series[pd.Timestamp]: ...
        @overload
        def __getitem__(self, key: Literal["answer_count"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class InsightEvidenceFrame(_DataFrame):
        """One row per insight and piece of evidence."""

        @overload
        def __getitem__(self, key: Literal["insight_id", "kind", "value"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class OverviewKpisFrame(_DataFrame):
        """One row per metric."""

        @overload
        def __getitem__(self, key: Literal["metric", "unit"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["value", "previous_value", "numerator", "denominator", "previous_numerator", "previous_denominator"]) -> pd.Series[float]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class OverviewTrendFrame(_DataFrame):
        """One row per date."""

        @overload
        def __getitem__(self, key: Literal["date"]) -> pd.Series[pd.Timestamp]: ...
        @overload
        def __getitem__(self, key: Literal["answer_count", "mention_count", "citation_count", "position_count", "brand_mention_count", "all_mention_count"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: Literal["mention_rate", "share_of_voice", "average_position"]) -> pd.Series[float]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class OverviewTopBrandsFrame(_DataFrame):
        """One row per brand."""

        @overload
        def __getitem__(self, key: Literal["brand"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["own"]) -> pd.Series[bool]: ...
        @overload
        def __getitem__(self, key: Literal["rank", "mention_count", "answer_count", "all_mention_count", "position_count", "previous_mention_count", "previous_answer_count"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: Literal["mention_rate", "share_of_voice", "average_position", "mention_rate_change"]) -> pd.Series[float]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class OverviewEnginesFrame(_DataFrame):
        """One row per engine."""

        @overload
        def __getitem__(self, key: Literal["engine"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["answer_count", "mention_count"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: Literal["mention_rate"]) -> pd.Series[float]: ...
        @overload
        def __getitem__(self, key: Literal["last_run_day"]) -> pd.Series[pd.Timestamp]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class PerceptionSentimentFrame(_DataFrame):
        """One row per brand."""

        @overload
        def __getitem__(self, key: Literal["brand"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["own"]) -> pd.Series[bool]: ...
        @overload
        def __getitem__(self, key: Literal["sentiment_score", "positive_share", "neutral_share", "negative_share"]) -> pd.Series[float]: ...
        @overload
        def __getitem__(self, key: Literal["scored_count", "mention_count", "labelled_count", "positive_count", "neutral_count", "negative_count"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class PerceptionSentimentTrendFrame(_DataFrame):
        """One row per date, for the brand in focus."""

        @overload
        def __getitem__(self, key: Literal["date"]) -> pd.Series[pd.Timestamp]: ...
        @overload
        def __getitem__(self, key: Literal["sentiment_score", "positive_share", "neutral_share", "negative_share"]) -> pd.Series[float]: ...
        @overload
        def __getitem__(self, key: Literal["scored_count", "labelled_count", "positive_count", "neutral_count", "negative_count"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class PerceptionAttributesFrame(_DataFrame):
        """One row per brand and attribute."""

        @overload
        def __getitem__(self, key: Literal["brand", "attribute", "polarity"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["occurrences", "brand_occurrences"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: Literal["share"]) -> pd.Series[float]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class PerceptionAttributeEnginesFrame(_DataFrame):
        """One row per brand, attribute and engine."""

        @overload
        def __getitem__(self, key: Literal["brand", "attribute", "engine"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["occurrences"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class PerceptionClaimsFrame(_DataFrame):
        """One row per claim."""

        @overload
        def __getitem__(self, key: Literal["claim_id", "brand", "text", "verdict", "example_chat_id"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["occurrences"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: Literal["engines"]) -> pd.Series[Any]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class PromptsFrame(_DataFrame):
        """One row per prompt."""

        @overload
        def __getitem__(self, key: Literal["prompt_id", "prompt", "topic", "category", "intent", "country", "language", "volume_band", "top_brand"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["branded", "active"]) -> pd.Series[bool]: ...
        @overload
        def __getitem__(self, key: Literal["volume_estimate", "answer_count", "mention_count", "own_citation_count", "position_count", "scored_count", "previous_answer_count", "previous_mention_count", "previous_position_count"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: Literal["mention_rate", "average_position", "sentiment_score", "previous_mention_rate", "previous_average_position"]) -> pd.Series[float]: ...
        @overload
        def __getitem__(self, key: Literal["created_at"]) -> pd.Series[pd.Timestamp]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class PromptEnginesFrame(_DataFrame):
        """One row per prompt and engine: its latest run, and the counts of all its answers."""

        @overload
        def __getitem__(self, key: Literal["prompt_id", "engine"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["mentioned"]) -> pd.Series[bool]: ...
        @overload
        def __getitem__(self, key: Literal["position", "mention_rate", "previous_mention_rate"]) -> pd.Series[float]: ...
        @overload
        def __getitem__(self, key: Literal["last_run_day"]) -> pd.Series[pd.Timestamp]: ...
        @overload
        def __getitem__(self, key: Literal["answer_count", "mention_count", "previous_answer_count", "previous_mention_count"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class AccountAllowanceFrame(_DataFrame):
        """One row per fetch: what the account may use and has used."""

        @overload
        def __getitem__(self, key: Literal["domain", "plan"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["prompt_allowance", "prompts_used", "prompts_remaining", "engine_allowance"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: Literal["resets_on"]) -> pd.Series[pd.Timestamp]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class RankingLeaderboardFrame(_DataFrame):
        """One row per brand."""

        @overload
        def __getitem__(self, key: Literal["brand"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["own"]) -> pd.Series[bool]: ...
        @overload
        def __getitem__(self, key: Literal["rank", "previous_rank", "mention_count", "position_count", "first_position_count", "top_three_count", "all_mention_count", "previous_mention_count", "previous_all_mention_count"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: Literal["average_position", "first_position_rate", "top_three_rate", "share_of_voice", "previous_share_of_voice"]) -> pd.Series[float]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class RankingMatrixFrame(_DataFrame):
        """One row per brand and engine."""

        @overload
        def __getitem__(self, key: Literal["brand", "engine", "metric"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["value"]) -> pd.Series[float]: ...
        @overload
        def __getitem__(self, key: Literal["sample_count"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class RankingPositionsFrame(_DataFrame):
        """One row per brand and band of positions."""

        @overload
        def __getitem__(self, key: Literal["brand", "position_band"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["mention_count"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class RankingHistoryFrame(_DataFrame):
        """One row per date and brand."""

        @overload
        def __getitem__(self, key: Literal["date"]) -> pd.Series[pd.Timestamp]: ...
        @overload
        def __getitem__(self, key: Literal["brand"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["rank"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class RankingPromptsFrame(_DataFrame):
        """One row per prompt and brand, in this window and the one before."""

        @overload
        def __getitem__(self, key: Literal["prompt_id", "brand"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["mention_count", "all_mention_count", "previous_mention_count", "previous_all_mention_count"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: Literal["share_of_voice", "previous_share_of_voice"]) -> pd.Series[float]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class ShoppingProductsFrame(_DataFrame):
        """One row per product."""

        @overload
        def __getitem__(self, key: Literal["product_id", "title", "brand", "category", "currency", "stock_status"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["own"]) -> pd.Series[bool]: ...
        @overload
        def __getitem__(self, key: Literal["mention_count", "rating_count", "position_count", "first_position_count", "answer_count", "shopping_answer_count"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: Literal["visibility_rate", "average_position", "first_position_rate", "rating_value", "rating_max", "price_min", "price_max"]) -> pd.Series[float]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class ShoppingOffersFrame(_DataFrame):
        """One row per product and offer."""

        @overload
        def __getitem__(self, key: Literal["product_id", "merchant", "merchant_domain", "price_currency", "stock_status", "delivery_text", "url"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["offer_position"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: Literal["price_amount"]) -> pd.Series[float]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class ShoppingAttributesFrame(_DataFrame):
        """One row per product and attribute."""

        @overload
        def __getitem__(self, key: Literal["product_id", "attribute", "value"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class ShoppingBrandsFrame(_DataFrame):
        """One row per brand."""

        @overload
        def __getitem__(self, key: Literal["brand"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["own"]) -> pd.Series[bool]: ...
        @overload
        def __getitem__(self, key: Literal["visibility_rate", "win_rate", "share_of_shelf", "average_position"]) -> pd.Series[float]: ...
        @overload
        def __getitem__(self, key: Literal["product_count", "position_count", "answer_count", "win_count", "shopping_answer_count", "placement_count", "all_placement_count"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class ShoppingMerchantsFrame(_DataFrame):
        """One row per merchant."""

        @overload
        def __getitem__(self, key: Literal["merchant", "merchant_domain", "currency"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["offer_count", "all_offer_count"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: Literal["offer_share", "average_price"]) -> pd.Series[float]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class ShoppingTriggerFrame(_DataFrame):
        """One row per fetch: how often answers come with shopping results."""

        @overload
        def __getitem__(self, key: Literal["domain"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["answers_checked", "answers_with_shopping"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: Literal["trigger_rate"]) -> pd.Series[float]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class CitedUrlsFrame(_DataFrame):
        """One row per cited URL."""

        @overload
        def __getitem__(self, key: Literal["url", "source_domain", "title", "page_type", "domain_type"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["citation_count", "retrieval_count", "answer_count", "all_citation_count"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: Literal["citation_share", "average_citation_position"]) -> pd.Series[float]: ...
        @overload
        def __getitem__(self, key: Literal["first_cited_on", "last_cited_on"]) -> pd.Series[pd.Timestamp]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class CitedUrlPromptsFrame(_DataFrame):
        """One row per cited URL and prompt."""

        @overload
        def __getitem__(self, key: Literal["url", "prompt_id"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["citation_count"]) -> pd.Series[int]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class CitedUrlBrandsFrame(_DataFrame):
        """One row per cited URL and brand looked for on it."""

        @overload
        def __getitem__(self, key: Literal["url", "brand"]) -> pd.Series[str]: ...
        @overload
        def __getitem__(self, key: Literal["own", "mentioned"]) -> pd.Series[bool]: ...
        @overload
        def __getitem__(self, key: _Selection) -> pd.DataFrame: ...

    class ActionsTables(aa.Tables):
        """Optimisation actions that are open to the project."""

        @overload
        def __getitem__(self, name: Literal["actions"]) -> ActionsFrame: ...
        @overload
        def __getitem__(self, name: Literal["action_steps"]) -> ActionStepsFrame: ...
        @overload
        def __getitem__(self, name: Literal["action_evidence"]) -> ActionEvidenceFrame: ...

        @property
        def main(self) -> ActionsFrame: ...

    class AdsTables(aa.Tables):
        """Observed advertisements."""

        @overload
        def __getitem__(self, name: Literal["ads"]) -> AdsFrame: ...
        @overload
        def __getitem__(self, name: Literal["ad_cards"]) -> AdCardsFrame: ...
        @overload
        def __getitem__(self, name: Literal["ad_advertisers"]) -> AdAdvertisersFrame: ...
        @overload
        def __getitem__(self, name: Literal["ad_engine_support"]) -> AdEngineSupportFrame: ...

        @property
        def main(self) -> AdsFrame: ...

    class ChatsTables(aa.Tables):
        """Sampled answers."""

        @overload
        def __getitem__(self, name: Literal["chats"]) -> ChatsFrame: ...
        @overload
        def __getitem__(self, name: Literal["chat_mentions"]) -> ChatMentionsFrame: ...
        @overload
        def __getitem__(self, name: Literal["chat_citations"]) -> ChatCitationsFrame: ...
        @overload
        def __getitem__(self, name: Literal["chat_fanouts"]) -> ChatFanoutsFrame: ...

        @property
        def main(self) -> ChatsFrame: ...

    class ConversionsTables(aa.Tables):
        """Observed visits from engines and their conversions."""

        @overload
        def __getitem__(self, name: Literal["conversion_engines"]) -> ConversionEnginesFrame: ...
        @overload
        def __getitem__(self, name: Literal["conversion_totals"]) -> ConversionTotalsFrame: ...
        @overload
        def __getitem__(self, name: Literal["conversion_landing_pages"]) -> ConversionLandingPagesFrame: ...
        @overload
        def __getitem__(self, name: Literal["conversion_daily"]) -> ConversionDailyFrame: ...

        @property
        def main(self) -> ConversionEnginesFrame: ...

    class CrawlTables(aa.Tables):
        """Observed activity of AI crawlers."""

        @overload
        def __getitem__(self, name: Literal["crawl_bots"]) -> CrawlBotsFrame: ...
        @overload
        def __getitem__(self, name: Literal["crawl_gateway"]) -> CrawlGatewayFrame: ...
        @overload
        def __getitem__(self, name: Literal["crawl_bot_statuses"]) -> CrawlBotStatusesFrame: ...
        @overload
        def __getitem__(self, name: Literal["crawl_timeseries"]) -> CrawlTimeseriesFrame: ...
        @overload
        def __getitem__(self, name: Literal["crawl_paths"]) -> CrawlPathsFrame: ...
        @overload
        def __getitem__(self, name: Literal["crawl_path_bots"]) -> CrawlPathBotsFrame: ...

        @property
        def main(self) -> CrawlBotsFrame: ...

    class CrawlabilityTables(aa.Tables):
        """How well crawlers and assistants can use the site."""

        @overload
        def __getitem__(self, name: Literal["crawlability_score"]) -> CrawlabilityScoreFrame: ...
        @overload
        def __getitem__(self, name: Literal["crawlability_bot_access"]) -> CrawlabilityBotAccessFrame: ...
        @overload
        def __getitem__(self, name: Literal["crawlability_files"]) -> CrawlabilityFilesFrame: ...
        @overload
        def __getitem__(self, name: Literal["crawlability_pages"]) -> CrawlabilityPagesFrame: ...
        @overload
        def __getitem__(self, name: Literal["crawlability_page_assistants"]) -> CrawlabilityPageAssistantsFrame: ...
        @overload
        def __getitem__(self, name: Literal["crawlability_checks"]) -> CrawlabilityChecksFrame: ...

        @property
        def main(self) -> CrawlabilityScoreFrame: ...

    class DomainsTables(aa.Tables):
        """Source domains that engines cite."""

        @overload
        def __getitem__(self, name: Literal["source_domains"]) -> SourceDomainsFrame: ...
        @overload
        def __getitem__(self, name: Literal["source_domain_engines"]) -> SourceDomainEnginesFrame: ...
        @overload
        def __getitem__(self, name: Literal["source_domain_types"]) -> SourceDomainTypesFrame: ...

        @property
        def main(self) -> SourceDomainsFrame: ...

    class FanoutsTables(aa.Tables):
        """Observed query expansions."""

        @overload
        def __getitem__(self, name: Literal["fanout_queries"]) -> FanoutQueriesFrame: ...
        @overload
        def __getitem__(self, name: Literal["fanout_query_engines"]) -> FanoutQueryEnginesFrame: ...
        @overload
        def __getitem__(self, name: Literal["fanout_query_prompts"]) -> FanoutQueryPromptsFrame: ...
        @overload
        def __getitem__(self, name: Literal["fanout_terms"]) -> FanoutTermsFrame: ...
        @overload
        def __getitem__(self, name: Literal["fanout_engine_support"]) -> FanoutEngineSupportFrame: ...

        @property
        def main(self) -> FanoutQueriesFrame: ...

    class GapsTables(aa.Tables):
        """Citation gaps against competitors."""

        @overload
        def __getitem__(self, name: Literal["gap_domains"]) -> GapDomainsFrame: ...
        @overload
        def __getitem__(self, name: Literal["gap_domain_competitors"]) -> GapDomainCompetitorsFrame: ...
        @overload
        def __getitem__(self, name: Literal["gap_topics"]) -> GapTopicsFrame: ...
        @overload
        def __getitem__(self, name: Literal["gap_counts"]) -> GapCountsFrame: ...

        @property
        def main(self) -> GapDomainsFrame: ...

    class ImpactTables(aa.Tables):
        """What completed actions moved."""

        @overload
        def __getitem__(self, name: Literal["impact_actions"]) -> ImpactActionsFrame: ...
        @overload
        def __getitem__(self, name: Literal["impact_metrics"]) -> ImpactMetricsFrame: ...
        @overload
        def __getitem__(self, name: Literal["impact_annotations"]) -> ImpactAnnotationsFrame: ...

        @property
        def main(self) -> ImpactActionsFrame: ...

    class InsightsTables(aa.Tables):
        """Summaries of what changed for the brand."""

        @overload
        def __getitem__(self, name: Literal["insights"]) -> InsightsFrame: ...
        @overload
        def __getitem__(self, name: Literal["insight_evidence"]) -> InsightEvidenceFrame: ...

        @property
        def main(self) -> InsightsFrame: ...

    class OverviewTables(aa.Tables):
        """Key figures, trends and top brands."""

        @overload
        def __getitem__(self, name: Literal["overview_kpis"]) -> OverviewKpisFrame: ...
        @overload
        def __getitem__(self, name: Literal["overview_trend"]) -> OverviewTrendFrame: ...
        @overload
        def __getitem__(self, name: Literal["overview_top_brands"]) -> OverviewTopBrandsFrame: ...
        @overload
        def __getitem__(self, name: Literal["overview_engines"]) -> OverviewEnginesFrame: ...

        @property
        def main(self) -> OverviewKpisFrame: ...

    class PerceptionTables(aa.Tables):
        """Summaries of how answers speak of brands."""

        @overload
        def __getitem__(self, name: Literal["perception_sentiment"]) -> PerceptionSentimentFrame: ...
        @overload
        def __getitem__(self, name: Literal["perception_sentiment_trend"]) -> PerceptionSentimentTrendFrame: ...
        @overload
        def __getitem__(self, name: Literal["perception_attributes"]) -> PerceptionAttributesFrame: ...
        @overload
        def __getitem__(self, name: Literal["perception_attribute_engines"]) -> PerceptionAttributeEnginesFrame: ...
        @overload
        def __getitem__(self, name: Literal["perception_claims"]) -> PerceptionClaimsFrame: ...

        @property
        def main(self) -> PerceptionSentimentFrame: ...

    class PromptsTables(aa.Tables):
        """Prompts and the account's allowance."""

        @overload
        def __getitem__(self, name: Literal["prompts"]) -> PromptsFrame: ...
        @overload
        def __getitem__(self, name: Literal["prompt_engines"]) -> PromptEnginesFrame: ...
        @overload
        def __getitem__(self, name: Literal["account_allowance"]) -> AccountAllowanceFrame: ...

        @property
        def main(self) -> PromptsFrame: ...

    class RankingTables(aa.Tables):
        """How brands rank among each other."""

        @overload
        def __getitem__(self, name: Literal["ranking_leaderboard"]) -> RankingLeaderboardFrame: ...
        @overload
        def __getitem__(self, name: Literal["ranking_matrix"]) -> RankingMatrixFrame: ...
        @overload
        def __getitem__(self, name: Literal["ranking_positions"]) -> RankingPositionsFrame: ...
        @overload
        def __getitem__(self, name: Literal["ranking_history"]) -> RankingHistoryFrame: ...
        @overload
        def __getitem__(self, name: Literal["ranking_prompts"]) -> RankingPromptsFrame: ...

        @property
        def main(self) -> RankingLeaderboardFrame: ...

    class ShoppingTables(aa.Tables):
        """Observed shopping results."""

        @overload
        def __getitem__(self, name: Literal["shopping_products"]) -> ShoppingProductsFrame: ...
        @overload
        def __getitem__(self, name: Literal["shopping_offers"]) -> ShoppingOffersFrame: ...
        @overload
        def __getitem__(self, name: Literal["shopping_attributes"]) -> ShoppingAttributesFrame: ...
        @overload
        def __getitem__(self, name: Literal["shopping_brands"]) -> ShoppingBrandsFrame: ...
        @overload
        def __getitem__(self, name: Literal["shopping_merchants"]) -> ShoppingMerchantsFrame: ...
        @overload
        def __getitem__(self, name: Literal["shopping_trigger"]) -> ShoppingTriggerFrame: ...

        @property
        def main(self) -> ShoppingProductsFrame: ...

    class UrlsTables(aa.Tables):
        """Source pages that engines cite."""

        @overload
        def __getitem__(self, name: Literal["cited_urls"]) -> CitedUrlsFrame: ...
        @overload
        def __getitem__(self, name: Literal["cited_url_prompts"]) -> CitedUrlPromptsFrame: ...
        @overload
        def __getitem__(self, name: Literal["cited_url_brands"]) -> CitedUrlBrandsFrame: ...

        @property
        def main(self) -> CitedUrlsFrame: ...

    class ReferenceDataset(aa.Dataset):
        """Sections of a project, read together."""

        @overload
        def __getitem__(self, name: Literal["actions"]) -> ActionsTables: ...
        @overload
        def __getitem__(self, name: Literal["ads"]) -> AdsTables: ...
        @overload
        def __getitem__(self, name: Literal["chats"]) -> ChatsTables: ...
        @overload
        def __getitem__(self, name: Literal["conversions"]) -> ConversionsTables: ...
        @overload
        def __getitem__(self, name: Literal["crawl"]) -> CrawlTables: ...
        @overload
        def __getitem__(self, name: Literal["crawlability"]) -> CrawlabilityTables: ...
        @overload
        def __getitem__(self, name: Literal["domains"]) -> DomainsTables: ...
        @overload
        def __getitem__(self, name: Literal["fanouts"]) -> FanoutsTables: ...
        @overload
        def __getitem__(self, name: Literal["gaps"]) -> GapsTables: ...
        @overload
        def __getitem__(self, name: Literal["impact"]) -> ImpactTables: ...
        @overload
        def __getitem__(self, name: Literal["insights"]) -> InsightsTables: ...
        @overload
        def __getitem__(self, name: Literal["overview"]) -> OverviewTables: ...
        @overload
        def __getitem__(self, name: Literal["perception"]) -> PerceptionTables: ...
        @overload
        def __getitem__(self, name: Literal["prompts"]) -> PromptsTables: ...
        @overload
        def __getitem__(self, name: Literal["ranking"]) -> RankingTables: ...
        @overload
        def __getitem__(self, name: Literal["shopping"]) -> ShoppingTables: ...
        @overload
        def __getitem__(self, name: Literal["urls"]) -> UrlsTables: ...

    class ReferenceProject(aa.Project):
        """A project whose service answers as the profile says."""

        @overload
        def read(
            self,
            section: Literal["actions"],
            scope: aa.Scope | aa.ScopePicker | None = None,
            *,
            strict: bool = False,
            dtype_backend: str = "numpy_nullable",
            refresh: bool = False,
            by: str | None = None,
            days: int = ...,
            engine: _Values = ...,
            topic: _Values = ...,
            category: _Values = ...,
            brand: _Values = ...,
        ) -> ActionsTables: ...
        @overload
        def read(
            self,
            section: Literal["ads"],
            scope: aa.Scope | aa.ScopePicker | None = None,
            *,
            strict: bool = False,
            dtype_backend: str = "numpy_nullable",
            refresh: bool = False,
            by: str | None = None,
            days: int = ...,
            engine: _Values = ...,
            topic: _Values = ...,
            category: _Values = ...,
            brand: _Values = ...,
        ) -> AdsTables: ...
        @overload
        def read(
            self,
            section: Literal["chats"],
            scope: aa.Scope | aa.ScopePicker | None = None,
            *,
            strict: bool = False,
            dtype_backend: str = "numpy_nullable",
            refresh: bool = False,
            by: str | None = None,
            days: int = ...,
            engine: _Values = ...,
            topic: _Values = ...,
            category: _Values = ...,
            brand: _Values = ...,
        ) -> ChatsTables: ...
        @overload
        def read(
            self,
            section: Literal["conversions"],
            scope: aa.Scope | aa.ScopePicker | None = None,
            *,
            strict: bool = False,
            dtype_backend: str = "numpy_nullable",
            refresh: bool = False,
            by: str | None = None,
            days: int = ...,
            engine: _Values = ...,
            topic: _Values = ...,
            category: _Values = ...,
            brand: _Values = ...,
        ) -> ConversionsTables: ...
        @overload
        def read(
            self,
            section: Literal["crawl"],
            scope: aa.Scope | aa.ScopePicker | None = None,
            *,
            strict: bool = False,
            dtype_backend: str = "numpy_nullable",
            refresh: bool = False,
            by: str | None = None,
            days: int = ...,
            engine: _Values = ...,
            topic: _Values = ...,
            category: _Values = ...,
            brand: _Values = ...,
        ) -> CrawlTables: ...
        @overload
        def read(
            self,
            section: Literal["crawlability"],
            scope: aa.Scope | aa.ScopePicker | None = None,
            *,
            strict: bool = False,
            dtype_backend: str = "numpy_nullable",
            refresh: bool = False,
            by: str | None = None,
            days: int = ...,
            engine: _Values = ...,
            topic: _Values = ...,
            category: _Values = ...,
            brand: _Values = ...,
        ) -> CrawlabilityTables: ...
        @overload
        def read(
            self,
            section: Literal["domains"],
            scope: aa.Scope | aa.ScopePicker | None = None,
            *,
            strict: bool = False,
            dtype_backend: str = "numpy_nullable",
            refresh: bool = False,
            by: str | None = None,
            days: int = ...,
            engine: _Values = ...,
            topic: _Values = ...,
            category: _Values = ...,
            brand: _Values = ...,
        ) -> DomainsTables: ...
        @overload
        def read(
            self,
            section: Literal["fanouts"],
            scope: aa.Scope | aa.ScopePicker | None = None,
            *,
            strict: bool = False,
            dtype_backend: str = "numpy_nullable",
            refresh: bool = False,
            by: str | None = None,
            days: int = ...,
            engine: _Values = ...,
            topic: _Values = ...,
            category: _Values = ...,
            brand: _Values = ...,
        ) -> FanoutsTables: ...
        @overload
        def read(
            self,
            section: Literal["gaps"],
            scope: aa.Scope | aa.ScopePicker | None = None,
            *,
            strict: bool = False,
            dtype_backend: str = "numpy_nullable",
            refresh: bool = False,
            by: str | None = None,
            days: int = ...,
            engine: _Values = ...,
            topic: _Values = ...,
            category: _Values = ...,
            brand: _Values = ...,
        ) -> GapsTables: ...
        @overload
        def read(
            self,
            section: Literal["impact"],
            scope: aa.Scope | aa.ScopePicker | None = None,
            *,
            strict: bool = False,
            dtype_backend: str = "numpy_nullable",
            refresh: bool = False,
            by: str | None = None,
            days: int = ...,
            engine: _Values = ...,
            topic: _Values = ...,
            category: _Values = ...,
            brand: _Values = ...,
        ) -> ImpactTables: ...
        @overload
        def read(
            self,
            section: Literal["insights"],
            scope: aa.Scope | aa.ScopePicker | None = None,
            *,
            strict: bool = False,
            dtype_backend: str = "numpy_nullable",
            refresh: bool = False,
            by: str | None = None,
            days: int = ...,
            engine: _Values = ...,
            topic: _Values = ...,
            category: _Values = ...,
            brand: _Values = ...,
        ) -> InsightsTables: ...
        @overload
        def read(
            self,
            section: Literal["overview"],
            scope: aa.Scope | aa.ScopePicker | None = None,
            *,
            strict: bool = False,
            dtype_backend: str = "numpy_nullable",
            refresh: bool = False,
            by: str | None = None,
            days: int = ...,
            engine: _Values = ...,
            topic: _Values = ...,
            category: _Values = ...,
            brand: _Values = ...,
        ) -> OverviewTables: ...
        @overload
        def read(
            self,
            section: Literal["perception"],
            scope: aa.Scope | aa.ScopePicker | None = None,
            *,
            strict: bool = False,
            dtype_backend: str = "numpy_nullable",
            refresh: bool = False,
            by: str | None = None,
            days: int = ...,
            engine: _Values = ...,
            topic: _Values = ...,
            category: _Values = ...,
            brand: _Values = ...,
        ) -> PerceptionTables: ...
        @overload
        def read(
            self,
            section: Literal["prompts"],
            scope: aa.Scope | aa.ScopePicker | None = None,
            *,
            strict: bool = False,
            dtype_backend: str = "numpy_nullable",
            refresh: bool = False,
            by: str | None = None,
            days: int = ...,
            engine: _Values = ...,
            topic: _Values = ...,
            category: _Values = ...,
            brand: _Values = ...,
        ) -> PromptsTables: ...
        @overload
        def read(
            self,
            section: Literal["ranking"],
            scope: aa.Scope | aa.ScopePicker | None = None,
            *,
            strict: bool = False,
            dtype_backend: str = "numpy_nullable",
            refresh: bool = False,
            by: str | None = None,
            days: int = ...,
            engine: _Values = ...,
            topic: _Values = ...,
            category: _Values = ...,
            brand: _Values = ...,
        ) -> RankingTables: ...
        @overload
        def read(
            self,
            section: Literal["shopping"],
            scope: aa.Scope | aa.ScopePicker | None = None,
            *,
            strict: bool = False,
            dtype_backend: str = "numpy_nullable",
            refresh: bool = False,
            by: str | None = None,
            days: int = ...,
            engine: _Values = ...,
            topic: _Values = ...,
            category: _Values = ...,
            brand: _Values = ...,
        ) -> ShoppingTables: ...
        @overload
        def read(
            self,
            section: Literal["urls"],
            scope: aa.Scope | aa.ScopePicker | None = None,
            *,
            strict: bool = False,
            dtype_backend: str = "numpy_nullable",
            refresh: bool = False,
            by: str | None = None,
            days: int = ...,
            engine: _Values = ...,
            topic: _Values = ...,
            category: _Values = ...,
            brand: _Values = ...,
        ) -> UrlsTables: ...

        def read_all(
            self,
            sections: str | Iterable[str] | None = None,
            scope: aa.Scope | aa.ScopePicker | None = None,
            *,
            progress: bool | None = None,
            days: int = ...,
            engine: _Values = ...,
            topic: _Values = ...,
            category: _Values = ...,
            brand: _Values = ...,
        ) -> ReferenceDataset: ...


def typed(project: aa.Project) -> ReferenceProject:
    """The project itself, as a type that knows its tables."""
    return cast("ReferenceProject", project)
