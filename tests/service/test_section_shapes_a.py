"""What every section on brands owes: its shape, its sums, and silence on what was not measured."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Any

import pytest

from aatoolkit.service.answer import wire
from aatoolkit.service.availability import NO_ANSWERS, NONE_ANSWERED
from aatoolkit.service.store import Store

from .sections_a_store import RICH, SMALL, WIDE, ask, store

NAMES = ("overview", "insights", "perception", "prompts", "ranking", "impact", "actions")


@pytest.fixture(scope="module")
def small() -> Store:
    return store(SMALL)


@pytest.fixture(scope="module")
def rich_store() -> Store:
    return store(RICH)


@pytest.fixture(scope="module")
def wide() -> Store:
    return store(WIDE)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_in_scope_is_unavailable_and_unmeasured(small: Store, name: str) -> None:
    answer = ask(small, name, engine=("overviews",))
    figures = dict(leaves(answer.body))
    numbers = {path for path, value in figures.items() if isinstance(value, int | float)}
    allowed = {
        "kpis.answerCount.value",
        "kpis.answerCount.previous",
        "kpis.mentionRate.denominator",
        "kpis.mentionRate.previousDenominator",
        "topBrands[].answerCount",
        "topBrands[].previousAnswerCount",
        "trends.points[].answerCount",
        "engines[].answerCount",
        "rows[].answerCount",
        "rows[].previousAnswerCount",
    }
    of_the_project = {
        path
        for path in numbers
        if path.startswith(("account.", "paging.", "stateCounts.", "groups[]"))
        or path.endswith((".own", ".active", ".branded", ".estimate"))
    }
    assert numbers - of_the_project <= allowed
    assert all(figures[path] == 0 for path in numbers & allowed)
    if name != "actions":
        assert answer.availability.status == "unavailable"
        assert answer.availability.as_of is None
    if name not in ("actions", "impact"):
        assert answer.availability.reason == NO_ANSWERS
        assert answer.availability.engines["overviews"].reason == "This engine has not run yet."


def test_engines_that_are_silent_say_why(small: Store) -> None:
    def states(**filters: tuple[str, ...]) -> dict[str, str]:
        engines = ask(small, "overview", **filters).availability.engines
        return {engine: state.status for engine, state in engines.items()}

    # An engine that is not switched on is no gap, unless it was asked for.
    assert states() == {"overviews": "unavailable"}
    assert states(engine=("copilot",)) == {"copilot": "not_configured"}
    both = ask(small, "overview", engine=("chatgpt", "overviews")).availability
    assert (both.status, both.reason) == ("partial", "There are no answers of overviews.")


def test_runs_that_failed_are_not_answers(small: Store) -> None:
    answers = [{**row, "outcome": "error"} for row in SMALL["answers"]]
    kept = ("projects", "engines", "brands", "prompts")
    held = store({**{name: SMALL[name] for name in kept}, "answers": answers})
    availability = ask(held, "overview").availability
    assert (availability.status, availability.reason) == ("unavailable", NONE_ANSWERED)
    assert availability.as_of is not None


def test_a_store_without_answers_says_so() -> None:
    kept = ("projects", "engines", "brands", "prompts")
    for name in ("overview", "perception", "ranking", "prompts", "insights"):
        answer = ask(store({table: SMALL[table] for table in kept}), name)
        assert answer.availability.status == "unavailable"
        assert answer.availability.reason == "The store holds no answers for this project."


@pytest.mark.parametrize("filters", [{}, {"engine": ("gemini",)}, {"topic": ("Start",)}])
def test_parts_add_up(rich_store: Store, filters: dict[str, tuple[str, ...]]) -> None:
    overview = ask(rich_store, "overview", **filters).body
    ranking = ask(rich_store, "ranking", **filters).body
    rows = ask(rich_store, "prompts", **filters).body["rows"]
    rate = overview["kpis"]["mentionRate"]
    for parts in (overview["engines"], overview["trends"]["points"], rows):
        answered = [part for part in parts if part["answerCount"]]
        assert sum(part["answerCount"] for part in answered) == rate["denominator"]
        assert sum(part["mentionCount"] for part in answered) == rate["numerator"]
        for part in answered:
            assert part["mentionRate"] == part["mentionCount"] / part["answerCount"]
    shares = [row["shareOfVoice"] for row in overview["topBrands"]]
    assert sum(shares) == pytest.approx(1)
    for row in ranking["leaderboard"]:
        bands = ranking["positionCounts"].get(row["brand"], {})
        assert sum(bands.values()) == row["mentionCount"]
        if bands:
            top = sum(bands.get(band, 0) for band in "123")
            assert row["topThreeRate"] == top / row["mentionCount"]
            assert row["firstPositionRate"] == bands.get("1", 0) / row["mentionCount"]
        for name in ("mentionCount", "previousMentionCount"):
            cells = [prompt["brands"][row["brand"]][name] for prompt in ranking["byPrompt"]]
            assert sum(filter(None, cells)) == row[name]


def test_every_rate_is_the_ratio_of_its_counts(rich_store: Store) -> None:
    overview, perception, ranking, prompts = (
        ask(rich_store, name, 30).body for name in ("overview", "perception", "ranking", "prompts")
    )
    checked = [
        (row[rate], row[above], row[below])
        for rows, rate, above, below in (
            (overview["topBrands"], "mentionRate", "mentionCount", "answerCount"),
            (overview["topBrands"], "shareOfVoice", "mentionCount", "allMentionCount"),
            (overview["trends"]["points"], "shareOfVoice", "brandMentionCount", "allMentionCount"),
            (ranking["leaderboard"], "firstPositionRate", "firstPositionCount", "positionCount"),
            (ranking["leaderboard"], "topThreeRate", "topThreeCount", "positionCount"),
            (perception["sentiment"], "positive", "positiveCount", "labelledCount"),
            (perception["sentimentTrend"], "negative", "negativeCount", "labelledCount"),
            (perception["attributes"], "share", "occurrences", "brandOccurrences"),
            (prompts["rows"], "mentionRate", "mentionCount", "answerCount"),
        )
        for row in rows
    ]
    kpis = [kpi for name, kpi in overview["kpis"].items() if "numerator" in kpi]
    checked += [(kpi["value"], kpi["numerator"], kpi["denominator"]) for kpi in kpis]
    earlier = ("previous", "previousNumerator", "previousDenominator")
    checked += [(kpi[earlier[0]], kpi[earlier[1]], kpi[earlier[2]]) for kpi in kpis]
    assert sum(rate is not None for rate, _, _ in checked) > 40
    for rate, above, below in checked:
        assert rate == (above / below if below else None)


BY_DATA = {
    "attributes[].byEngine",
    "byPrompt[].brands",
    "positionCounts",
    "positionCounts<>",
    "history[].ranks",
}


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every scalar with the path it stands at."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            step = f"{path}<>" if path in BY_DATA else f"{path}.{key}".lstrip(".")
            yield from leaves(item, step)
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item, f"{path}[]")
    else:
        yield path, value


def paths(values: Iterable[Any]) -> set[str]:
    return {path for value in values for path, _ in leaves(value)}


SHAPES = {
    "overview": """
        kpis.{mentionRate,shareOfVoice,averagePosition,citationShare}.{numerator,denominator}
        kpis.{mentionRate,shareOfVoice,averagePosition,citationShare}.previousNumerator
        kpis.{mentionRate,shareOfVoice,averagePosition,citationShare}.previousDenominator
        kpis.sentimentScore.{denominator,previousDenominator}
        kpis.{visibilityScore,mentionRate,shareOfVoice,averagePosition}.{value,previous,unit}
        kpis.{sentimentScore,citationShare,answerCount}.{value,previous,unit}
        trends.granularity
        trends.points[].{date,answerCount,mentionCount,mentionRate,shareOfVoice}
        trends.points[].{averagePosition,citationCount}
        trends.points[].{positionCount,brandMentionCount,allMentionCount}
        topBrands[].{rank,brand,own,mentionCount,mentionRate,shareOfVoice,averagePosition}
        topBrands[].{mentionRateChange,answerCount,allMentionCount,positionCount}
        topBrands[].{previousMentionCount,previousAnswerCount}
        engines[].{engine,answerCount,mentionCount,mentionRate,lastRunDay}
    """,
    "insights": """
        summary.headline summary.bySeverity.{high,medium,low}
        insights[].{insightId,type,severity,confidence,title,what,why,recommendation}
        insights[].metric.{key,unit,before,after,change,changeKind}
        insights[].scope.{engine,topic,category,brand} insights[].baseline.{start,end}
        insights[].evidence.{answerCount,promptIds[],urls[]} insights[].{detectedAt,state}
    """,
    "perception": """
        sentiment[].{brand,own,score,positive,neutral,negative,scoredCount,mentionCount}
        sentiment[].{labelledCount,positiveCount,neutralCount,negativeCount}
        sentimentTrend[].{date,score,positive,neutral,negative,scoredCount}
        sentimentTrend[].{labelledCount,positiveCount,neutralCount,negativeCount}
        attributes[].{attribute,brand,polarity,occurrences,share,brandOccurrences,byEngine<>}
        claims[].{claimId,brand,text,verdict,occurrences,engines[],exampleChatId}
    """,
    "prompts": """
        account.{plan,promptAllowance,promptsUsed,promptsRemaining,engineAllowance,resetsOn}
        rows[].{promptId,prompt,topic,category,intent,branded,country,language,active}
        rows[].volume.{estimate,band} rows[].{answerCount,mentionCount,mentionRate}
        rows[].{averagePosition,sentimentScore,ownCitationCount,topBrand,createdAt}
        rows[].{positionCount,scoredCount}
        rows[].{previousAnswerCount,previousMentionCount,previousMentionRate}
        rows[].{previousAveragePosition,previousPositionCount}
        rows[].engines[].{engine,mentioned,position,lastRunDay} paging.{offset,limit,total}
        rows[].engines[].{answerCount,mentionCount,mentionRate}
        rows[].engines[].{previousAnswerCount,previousMentionCount,previousMentionRate}
    """,
    "ranking": """
        leaderboard[].{rank,previousRank,brand,own,averagePosition,firstPositionRate}
        leaderboard[].{topThreeRate,mentionCount,shareOfVoice}
        leaderboard[].{positionCount,firstPositionCount,topThreeCount,allMentionCount}
        matrix.{metric,brands[],engines[],values[][],sampleCounts[][]} positionCounts<><>
        leaderboard[].{previousShareOfVoice,previousMentionCount,previousAllMentionCount}
        history[].{date,ranks<>} byPrompt[].{promptId,mentionCount,previousMentionCount}
        byPrompt[].brands<>.{mentionCount,shareOfVoice,previousMentionCount,previousShareOfVoice}
    """,
    "impact": """
        actions[].{actionId,title,completedOn,verdict} actions[].{before,after}.{start,end}
        actions[].metrics[].{metric,unit,change,relativeChange,verdict,confidence}
        actions[].metrics[].{before,after}.{value,sampleCount,ciLow,ciHigh}
        actions[].control.{description,metric,change} annotations[].{date,label,kind}
    """,
    "actions": """
        stateCounts.{open,inProgress,done,dismissed} groups[].{group,label}
        groups[].actions[].{actionId,type,title,priority,score,effort,state,steps[]}
        groups[].actions[].target.{url,domain,topic,engine}
        groups[].actions[].expectedImpact.{metric,low,high,unit}
        groups[].actions[].evidence.{promptIds[],answerCount,competitors[]}
        groups[].actions[].{createdAt,updatedAt}
    """,
}


def expanded(shape: str) -> set[str]:
    """Every path of a shape; ``a.{b,c}`` stands for ``a.b`` and ``a.c``."""
    found = set()
    for word in shape.split():
        parts = [part.split(",") for part in re.split(r"\{([^{}]+)\}", word)]
        found |= {"".join(choice) for choice in product(*parts)}
    return found


@pytest.mark.parametrize("name", NAMES)
def test_shape(small: Store, rich_store: Store, wide: Store, name: str) -> None:
    found = paths(ask(held, name).body for held in (small, rich_store, wide))
    whole = {
        path
        for path in found
        if not any(other.startswith((path + ".", path + "[")) for other in found)
    }
    assert whole == expanded(SHAPES[name])


@pytest.mark.parametrize("name", NAMES)
def test_the_same_question_has_the_same_answer(rich_store: Store, name: str) -> None:
    first, second = (wire(ask(rich_store, name).body) for _ in range(2))
    assert json.dumps(first) == json.dumps(second)
