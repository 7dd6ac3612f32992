"""Conversions: visits that came from answer engines, and what came of them.

``totals.sessions`` are all visits of the window, whatever their source and whatever the
engine filter; ``aiSessions`` are those from the engines in scope; *other* visits are those
from no engine whose traffic can be separated.

Conversions arrive later than visits. Conversions, revenue and conversion rates are those
of the days whose conversions are complete, visits included, and the availability says so
where that leaves out days. Where it is not known up to which day they are complete, but
some are recorded, they are taken to be complete.
"""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import Any

from aatoolkit.service.answer import SectionAnswer, SectionAvailability, State, not_held, section
from aatoolkit.service.observations import Observations
from aatoolkit.service.sources import citations_are_counted, enumerate_words

# A day without any visit at all is taken for a day that was not recorded.
_VISITED = """
visited AS (
  SELECT *, day <= CAST($through AS DATE) AS complete FROM site_visits
),
listed AS (
  SELECT engine, coalesce(label, engine) AS label, referrers,
    separable_traffic IS FALSE AS inseparable,
    separable_traffic IS TRUE OR engine IN (SELECT engine FROM visited WHERE ai) AS told_apart
  FROM scoped_engines
  WHERE configured OR engine IN (SELECT engine FROM visited WHERE ai)
  UNION ALL
  SELECT DISTINCT engine, engine, NULL, FALSE, TRUE FROM visited
  WHERE ai AND engine NOT IN (SELECT engine FROM scoped_engines)
)
"""


def _made(of: str = "true") -> str:
    return f"CAST(coalesce(sum(made) FILTER (complete AND {of}), 0) AS BIGINT)"


def _conversions(of: str = "true") -> str:
    return f"CASE WHEN $measured THEN {_made(of)} END"


def _complete(of: str = "true") -> str:
    return f"CASE WHEN $measured THEN count(visit_id) FILTER (complete AND {of}) END"


def _rate(of: str = "true") -> str:
    return f"{_made(of)} / nullif(count(visit_id) FILTER (complete AND {of}), 0)"


def _revenue(of: str = "true") -> str:
    return f"""CASE WHEN $measured AND $priced THEN CASE WHEN {_made(of)} = 0 THEN 0.0
      ELSE sum(revenue ORDER BY visit_id) FILTER (complete AND {of}) END END"""


_TOTALS = f"""
WITH {_VISITED}
SELECT count(*) AS sessions, count(*) FILTER (ai) AS "aiSessions",
  count(*) FILTER (ai) / count(*) AS "aiSessionShare",
  {_conversions("ai")} AS "aiConversions", {_rate("ai")} AS "aiConversionRate",
  {_rate("other")} AS "otherConversionRate",
  {_revenue("ai")} AS "aiRevenue", {_complete("ai")} AS "aiCompleteSessions",
  {_conversions("other")} AS "otherConversions", {_complete("other")} AS "otherCompleteSessions"
FROM visited
"""

_ENGINES = f"""
WITH {_VISITED},
counted AS (
  SELECT engine, count(visit_id) AS sessions,
    CASE WHEN count(visit_id) = count(visitor_id) THEN count(DISTINCT visitor_id) END AS users,
    {_conversions()} AS conversions, {_rate()} AS rate, {_revenue()} AS revenue,
    {_complete()} AS complete_sessions, count(visit_id) FILTER (engaged) AS engaged_sessions,
    count(engaged) AS rated_sessions,
    count(visit_id) FILTER (engaged) / nullif(count(engaged), 0) AS engagement,
    avg(seconds ORDER BY visit_id) AS seconds
  FROM listed LEFT JOIN (SELECT * FROM visited WHERE ai) USING (engine)
  WHERE told_apart AND NOT inseparable GROUP BY engine
)
SELECT engine, CASE WHEN inseparable THEN [] ELSE referrers END AS referrers, sessions, users,
  conversions, rate AS "conversionRate", revenue, engagement AS "engagementRate",
  seconds AS "averageSessionSeconds", complete_sessions AS "completeSessions",
  engaged_sessions AS "engagedSessions", rated_sessions AS "ratedSessions"
FROM listed LEFT JOIN counted USING (engine) ORDER BY sessions DESC NULLS LAST, engine
"""

_PAGES = f"""
WITH {_VISITED},
cited AS (
  SELECT path, count(DISTINCT chat_id) AS n FROM citations
  JOIN (SELECT url, path FROM page_paths WHERE site IN ($host, 'www.' || $host)) USING (url)
  WHERE cited GROUP BY path
),
landed AS (
  SELECT coalesce(path, '(not set)') AS page, any_value(path) AS path, count(*) AS sessions,
    {_conversions()} AS conversions, {_complete()} AS complete_sessions, {_revenue()} AS revenue
  FROM visited WHERE ai GROUP BY page
)
SELECT page AS path, sessions, conversions, complete_sessions AS "completeSessions", revenue,
  CASE WHEN $counted AND path IS NOT NULL THEN coalesce(n, 0) END AS "citedAnswerCount"
FROM landed LEFT JOIN cited USING (path) ORDER BY sessions DESC, page
"""

_DAILY = f"""
WITH {_VISITED},
counted AS (
  SELECT day, engine, count(visit_id) AS sessions,
    CASE WHEN day <= CAST($through AS DATE)
         THEN CAST(coalesce(sum(made), 0) AS BIGINT) END AS conversions
  FROM (SELECT DISTINCT day FROM visited)
  CROSS JOIN (SELECT engine FROM listed WHERE told_apart AND NOT inseparable)
  LEFT JOIN (SELECT * FROM visited WHERE ai) USING (day, engine)
  GROUP BY day, engine
)
SELECT day AS date, map_from_entries(list(
  (engine, {{'sessions': sessions, 'conversions': conversions}}) ORDER BY engine
)) AS "byEngine"
FROM counted GROUP BY day ORDER BY day
"""

_RECORDED = """
SELECT count(DISTINCT day) AS days, max(day) AS last_day,
  count(*) FILTER (day <= CAST($through AS DATE)) > 0 AS measured
FROM site_visits
"""

_BY_ENGINE = f"WITH {_VISITED} SELECT * FROM listed ORDER BY engine"

_REVENUE_FIELDS = ("totals.aiRevenue", "engines[].revenue", "landingPages[].revenue")
_CONVERSION_FIELDS = (
    "totals.aiConversions",
    "totals.aiConversionRate",
    "totals.otherConversionRate",
    "totals.aiCompleteSessions",
    "totals.otherConversions",
    "totals.otherCompleteSessions",
    "engines[].completeSessions",
    "engines[].conversions",
    "engines[].conversionRate",
    "landingPages[].completeSessions",
    "landingPages[].conversions",
    "daily[].byEngine{}.conversions",
)
_SOURCE = ("provider", "property", "attribution", "currency", "timezone")
_TOTALS_NAMES = (
    "sessions",
    "aiSessions",
    "aiSessionShare",
    "aiConversions",
    "aiConversionRate",
    "otherConversionRate",
    "aiRevenue",
    "aiCompleteSessions",
    "otherConversions",
    "otherCompleteSessions",
)


@section("conversions", filters=("engine",))
def conversions(o: Observations) -> SectionAnswer:
    """Give the visits and conversions of the window, by engine, landing page and day."""
    source = next(iter(o.rows("SELECT * FROM store.analytics WHERE host = $host")), None)
    body: dict[str, Any] = {
        "source": {name: source[name] if source else None for name in _SOURCE},
        "totals": dict.fromkeys(_TOTALS_NAMES),
        "engines": [],
        "landingPages": [],
        "daily": [],
    }
    if source is None or source["provider"] == "none":
        reason = "No web analytics is connected."
        return SectionAnswer(
            body, SectionAvailability("not_connected", reason, requires=("analytics",))
        )
    if not o.observed("visits"):
        return SectionAnswer(body, SectionAvailability("unavailable", not_held("visits")))
    through = _through(o, source["conversions_through"])
    recorded = o.row(_RECORDED, through=through)
    if not recorded["days"]:
        reason = "No visits were recorded in this window."
        return SectionAnswer(body, SectionAvailability("unavailable", reason))
    priced = source["currency"] is not None
    known = {"through": through, "priced": priced, "measured": recorded["measured"]}
    body["totals"] = o.row(_TOTALS, **known)
    body["engines"] = o.rows(_ENGINES, **known)
    body["landingPages"] = o.rows(_PAGES, **known, counted=citations_are_counted(o))
    body["daily"] = o.rows(_DAILY, through=through)
    engines = o.rows(_BY_ENGINE, through=through)
    reasons = _reasons(o, through, recorded, engines)
    availability = SectionAvailability(
        status="partial" if reasons else "available",
        reason=" ".join(reasons) or None,
        sample_count=body["totals"]["aiSessions"],
        as_of=_as_of(o, recorded["last_day"]),
        fields=_fields(through, recorded, priced),
        engines=_states(engines),
    )
    return SectionAnswer(body, availability)


def _through(o: Observations, complete_through: date | None) -> date | None:
    """The last day whose conversions count; None if conversions are not recorded."""
    if complete_through is None and o.observed("conversions"):
        return o.window.end
    return complete_through


def _as_of(o: Observations, last_day: date) -> datetime:
    if last_day >= o.as_of.date():
        return o.as_of
    return datetime.combine(last_day + timedelta(days=1), time(), tzinfo=o.as_of.tzinfo)


def _reasons(
    o: Observations,
    through: date | None,
    recorded: dict[str, Any],
    engines: list[dict[str, Any]],
) -> list[str]:
    reasons = []
    if recorded["days"] < o.window.days:
        missing = o.window.days - recorded["days"]
        reasons.append(f"{missing} of {o.window.days} days in the window have no record.")
    if through is None or through < recorded["last_day"]:
        reasons.append(_lag(through, recorded))
    mixed = [engine["label"] for engine in engines if engine["inseparable"]]
    if mixed:
        reasons.append(f"{enumerate_words(mixed)} traffic cannot be separated from other traffic.")
    return reasons


def _lag(through: date | None, recorded: dict[str, Any]) -> str:
    if through is None:
        return "Conversions are not recorded."
    if not recorded["measured"]:
        return "Conversions are not complete yet for any day of the window."
    return f"Conversions are complete up to {through.isoformat()}; later days are left out."


def _fields(through: date | None, recorded: dict[str, Any], priced: bool) -> dict[str, State]:
    states: dict[str, State] = {}
    if through is None or through < recorded["last_day"]:
        state = State("partial" if recorded["measured"] else "unavailable", _lag(through, recorded))
        states |= dict.fromkeys((*_CONVERSION_FIELDS, *_REVENUE_FIELDS), state)
    if not priced:
        state = State("unavailable", "The analytics property records no revenue.")
        states |= dict.fromkeys(_REVENUE_FIELDS, state)
    return states


def _states(engines: list[dict[str, Any]]) -> dict[str, State]:
    states = {}
    for engine in engines:
        label = engine["label"]
        if engine["inseparable"]:
            reason = f"{label} traffic cannot be separated from other traffic."
            states[engine["engine"]] = State("not_applicable", reason)
        elif not engine["told_apart"]:
            reason = f"It is not known whether {label} traffic can be distinguished."
            states[engine["engine"]] = State("unavailable", reason)
    return states
