"""Overview, perception, prompts, ranking and actions, against hand counts."""

from __future__ import annotations

import pytest

from aatoolkit.service.answer import wire
from aatoolkit.service.availability import NO_ANSWERS
from aatoolkit.service.store import Store

from .sections_a_store import SMALL, ask, day, rows_of, store


@pytest.fixture(scope="module")
def small() -> Store:
    return store(SMALL)


def test_overview_figures(small: Store) -> None:
    answer = ask(small, "overview")
    kpis = answer.body["kpis"]
    assert kpis["mentionRate"] == {
        "value": 3 / 5,
        "previous": 1 / 2,
        "numerator": 3,
        "denominator": 5,
        "previousNumerator": 1,
        "previousDenominator": 2,
        "unit": "fraction",
    }
    assert kpis["visibilityScore"]["value"] == pytest.approx(60.0)
    assert (kpis["shareOfVoice"]["value"], kpis["shareOfVoice"]["previous"]) == (3 / 7, 1 / 2)
    assert (kpis["averagePosition"]["numerator"], kpis["averagePosition"]["denominator"]) == (3, 2)
    assert kpis["averagePosition"]["value"] == 1.5
    assert (kpis["sentimentScore"]["value"], kpis["sentimentScore"]["denominator"]) == (70.0, 2)
    assert (kpis["citationShare"]["numerator"], kpis["citationShare"]["denominator"]) == (2, 4)
    assert kpis["citationShare"]["previous"] == 1.0
    assert (kpis["answerCount"]["value"], kpis["answerCount"]["previous"]) == (5, 2)
    assert answer.availability.status == "available"
    assert answer.availability.sample_count == 5
    assert wire(answer.availability.as_of) == "2026-11-20T07:00:00Z"


def test_overview_lists_every_day_and_leaves_days_without_answers_unmeasured(
    small: Store,
) -> None:
    points = ask(small, "overview").body["trends"]["points"]
    assert [point["date"] for point in points] == [day(f"11-{n}") for n in range(14, 21)]
    assert points[0] == {
        "date": day("11-14"),
        "answerCount": 2,
        "mentionCount": 1,
        "mentionRate": 0.5,
        "shareOfVoice": 1 / 3,
        "averagePosition": 2.0,
        "positionCount": 1,
        "brandMentionCount": 1,
        "allMentionCount": 3,
        "citationCount": 1,
    }
    assert points[1] == {
        "date": day("11-15"),
        "answerCount": 0,
        "mentionCount": None,
        "mentionRate": None,
        "shareOfVoice": None,
        "averagePosition": None,
        "positionCount": None,
        "brandMentionCount": None,
        "allMentionCount": None,
        "citationCount": None,
    }
    assert points[6]["averagePosition"] is None
    assert points[6]["citationCount"] == 0


def test_overview_brands_and_engines(small: Store) -> None:
    body = ask(small, "overview").body
    brands = [(row["rank"], row["brand"], row["own"]) for row in body["topBrands"]]
    assert brands == [
        (1, "Acme", True),
        (2, "Globex", False),
        (3, "Hooli", None),
        (None, "Initech", False),
    ]
    assert body["topBrands"][0]["mentionRateChange"] == 3 / 5 - 1 / 2
    assert body["topBrands"][3]["mentionCount"] == 0
    assert body["engines"] == rows_of(
        "engine answerCount mentionCount mentionRate lastRunDay",
        ("chatgpt", 3, 3, 1.0, day("11-20")),
        ("gemini", 2, 0, 0.0, day("11-20")),
        ("overviews", 0, None, None, None),
    )


def test_the_brand_filter_changes_the_subject_but_no_denominator(small: Store) -> None:
    whole, globex = ask(small, "overview").body, ask(small, "overview", brand=("Globex",)).body
    assert globex["kpis"]["mentionRate"]["value"] == 3 / 5
    assert globex["kpis"]["shareOfVoice"]["denominator"] == 7
    assert globex["kpis"]["citationShare"]["numerator"] == 1
    assert globex["topBrands"] == [row for row in whole["topBrands"] if row["brand"] == "Globex"]
    assert ask(small, "overview", brand=("Acme",)).body["kpis"] == whole["kpis"]


def test_citations_of_a_brand_without_a_domain_are_unknown(small: Store) -> None:
    answer = ask(small, "overview", brand=("Initech",))
    assert answer.body["kpis"]["mentionRate"]["value"] == 0.0
    assert answer.body["kpis"]["citationShare"]["value"] is None
    assert answer.body["kpis"]["citationShare"]["numerator"] is None
    assert answer.body["kpis"]["citationShare"]["denominator"] == 4
    assert answer.availability.status == "partial"
    assert answer.availability.fields["kpis.citationShare"].status == "unavailable"


def test_one_engine_is_that_engines_part(small: Store) -> None:
    chatgpt = ask(small, "overview", engine=("chatgpt",)).body
    (row,) = chatgpt["engines"]
    assert row == ask(small, "overview").body["engines"][0]
    assert chatgpt["kpis"]["mentionRate"]["numerator"] == row["mentionCount"]
    assert chatgpt["kpis"]["answerCount"]["value"] == row["answerCount"]


def test_without_a_previous_window_nothing_previous_is_claimed(small: Store) -> None:
    answer = ask(small, "overview", days=30)
    assert {kpi["previous"] for kpi in answer.body["kpis"].values()} == {None}
    assert {row["mentionRateChange"] for row in answer.body["topBrands"]} == {None}
    assert answer.availability.fields["kpis.mentionRate.previous"].status == "unavailable"
    assert answer.availability.status == "partial"
    assert answer.availability.reason == "Answers were collected only since 2026-11-01."


def test_an_unknown_own_brand_leaves_its_figures_unknown() -> None:
    brands = [{**brand, "own": None} for brand in SMALL["brands"]]
    answer = ask(store({**SMALL, "brands": brands}), "overview")
    assert answer.body["kpis"]["mentionRate"]["value"] is None
    assert answer.body["kpis"]["answerCount"]["value"] == 5
    assert answer.body["kpis"]["citationShare"]["value"] == 0.5
    assert answer.body["topBrands"][0]["mentionRate"] == 3 / 5
    assert answer.availability.status == "partial"
    assert answer.availability.fields["kpis.mentionRate"].status == "unavailable"


def test_a_store_without_mentions_reports_no_zeros() -> None:
    tables = {name: rows for name, rows in SMALL.items() if name not in ("mentions", "citations")}
    held = store(tables)
    overview, ranking = ask(held, "overview"), ask(held, "ranking")
    assert overview.body["topBrands"][0]["mentionCount"] is None
    assert overview.body["engines"][0]["mentionCount"] is None
    assert overview.body["kpis"]["citationShare"]["denominator"] is None
    assert {point["citationCount"] for point in overview.body["trends"]["points"]} == {None}
    assert {row["rank"] for row in ranking.body["leaderboard"]} == {None}
    assert ranking.body["history"] == []
    assert ranking.availability.reason == "The store holds no mentions for this project."


def test_perception(small: Store) -> None:
    answer = ask(small, "perception")
    acme, globex, hooli, initech = answer.body["sentiment"]
    assert acme == {
        "brand": "Acme",
        "own": True,
        "score": 70.0,
        "positive": 0.5,
        "neutral": 0.5,
        "negative": 0.0,
        "scoredCount": 2,
        "mentionCount": 3,
        "labelledCount": 2,
        "positiveCount": 1,
        "neutralCount": 1,
        "negativeCount": 0,
    }
    assert (globex["score"], globex["scoredCount"], globex["mentionCount"]) == (60.0, 1, 3)
    assert (hooli["score"], hooli["positive"], hooli["scoredCount"]) == (None, None, 0)
    assert initech["mentionCount"] == 0
    assert [row["date"] for row in answer.body["sentimentTrend"]] == [day("11-14"), day("11-16")]
    assert answer.body["sentimentTrend"][1]["score"] == 60.0
    assert answer.body["attributes"] == [
        {
            "attribute": "easy",
            "brand": "Acme",
            "polarity": "positive",
            "occurrences": 3,
            "share": 3 / 4,
            "brandOccurrences": 4,
            "byEngine": {"chatgpt": 3},
        },
        {
            "attribute": "cheap",
            "brand": "Acme",
            "polarity": "negative",
            "occurrences": 1,
            "share": 1 / 4,
            "brandOccurrences": 4,
            "byEngine": {"chatgpt": 1},
        },
        {
            "attribute": "big",
            "brand": "Globex",
            "polarity": None,
            "occurrences": 1,
            "share": 1.0,
            "brandOccurrences": 1,
            "byEngine": {"gemini": 1},
        },
    ]
    assert answer.body["claims"] == rows_of(
        "claimId brand text verdict occurrences engines exampleChatId",
        ("k1", "Acme", "Acme is free.", "accurate", 3, ["chatgpt", "gemini"], "c5"),
    )
    assert (answer.availability.status, answer.availability.sample_count) == ("available", 3)


def test_perception_says_what_the_store_lacks(small: Store) -> None:
    tables = {name: rows for name, rows in SMALL.items() if not name.startswith("claim")}
    availability = ask(store(tables), "perception").availability
    assert availability.status == "partial"
    assert set(availability.fields) == {"claims"}


def test_prompts(small: Store) -> None:
    answer = ask(small, "prompts")
    assert answer.body["account"] == {
        "plan": "growth",
        "promptAllowance": 100,
        "promptsUsed": 2,
        "promptsRemaining": 98,
        "engineAllowance": 5,
        "resetsOn": day("12-01"),
    }
    first, second, third = answer.body["rows"]
    assert (first["answerCount"], first["mentionCount"], first["mentionRate"]) == (3, 2, 2 / 3)
    assert (first["averagePosition"], first["sentimentScore"]) == (2.0, 80.0)
    assert (first["ownCitationCount"], first["topBrand"]) == (1, "Acme")
    assert first["volume"] == {"estimate": 720, "band": "100-1K"}
    before = ("previousAnswerCount", "previousMentionCount", "previousMentionRate")
    assert [first[name] for name in before] == [1, 0, 0.0]
    assert first["engines"] == rows_of(
        "engine mentioned position lastRunDay answerCount mentionCount mentionRate "
        + " ".join(before),
        ("chatgpt", True, None, day("11-20"), 2, 2, 1.0, 1, 0, 0.0),
        ("gemini", False, None, day("11-14"), 1, 0, 0.0, 0, None, None),
    )
    assert second["volume"] is None
    assert second["topBrand"] == "Acme"
    assert second["engines"][1] == {
        "engine": "gemini",
        "mentioned": None,
        "position": None,
        "lastRunDay": day("11-20"),
        "answerCount": 1,
        "mentionCount": 0,
        "mentionRate": 0.0,
        **dict(zip(before, (1, 1, 1.0), strict=True)),
    }
    assert third["answerCount"] == 0
    assert [third[name] for name in ("mentionCount", "mentionRate", "ownCitationCount")] == [
        None,
        None,
        None,
    ]
    assert (third["engines"], third["topBrand"]) == ([], None)
    assert answer.body["paging"] == {"offset": 0, "limit": 100, "total": 3}
    assert answer.availability.sample_count == 5


def test_prompts_filters_do_not_narrow_the_account(small: Store) -> None:
    answer = ask(small, "prompts", topic=("Sales",))
    assert [row["promptId"] for row in answer.body["rows"]] == ["p3"]
    assert answer.body["account"]["promptsUsed"] == 2
    assert (answer.availability.status, answer.availability.reason) == ("unavailable", NO_ANSWERS)


def test_prompts_used_is_unknown_while_any_prompts_state_is() -> None:
    prompts = [{**prompt, "active": None} for prompt in SMALL["prompts"][:1]]
    held = store({**SMALL, "prompts": prompts + SMALL["prompts"][1:]})
    answer = ask(held, "prompts")
    assert answer.body["account"]["promptsUsed"] is None
    assert answer.body["account"]["promptsRemaining"] is None
    assert "account.promptsUsed" in answer.availability.fields


def test_ranking(small: Store) -> None:
    body = ask(small, "ranking").body
    acme, globex, hooli, initech = body["leaderboard"]
    assert acme == {
        "rank": 1,
        "previousRank": 1,
        "brand": "Acme",
        "own": True,
        "averagePosition": 1.5,
        "firstPositionRate": 0.5,
        "topThreeRate": 1.0,
        "mentionCount": 3,
        "shareOfVoice": 3 / 7,
        "positionCount": 2,
        "firstPositionCount": 1,
        "topThreeCount": 2,
        "allMentionCount": 7,
        "previousShareOfVoice": 0.5,
        "previousMentionCount": 1,
        "previousAllMentionCount": 2,
    }
    assert (globex["rank"], globex["previousRank"], globex["firstPositionRate"]) == (2, 2, 2 / 3)
    assert (hooli["rank"], hooli["previousRank"], hooli["topThreeRate"]) == (3, None, 0.0)
    assert (initech["rank"], initech["shareOfVoice"]) == (None, 0.0)
    assert body["matrix"] == {
        "metric": "averagePosition",
        "brands": ["Acme", "Globex", "Hooli", "Initech"],
        "engines": ["chatgpt", "gemini"],
        "values": [[1.5, None], [1.5, 1.0], [12.0, None], [None, None]],
        "sampleCounts": [[2, 0], [2, 1], [1, 0], [0, 0]],
    }
    assert body["positionCounts"] == {
        "Acme": {"1": 1, "2": 1},
        "Globex": {"1": 2, "2": 1},
        "Hooli": {"11+": 1},
    }
    assert body["history"] == [
        {"date": day("11-14"), "ranks": {"Globex": 1, "Acme": 2}},
        {"date": day("11-16"), "ranks": {"Acme": 1, "Globex": 2, "Hooli": 3}},
        {"date": day("11-20"), "ranks": {"Acme": 1}},
    ]
    first, second = body["byPrompt"]
    assert [(each["promptId"], each["mentionCount"]) for each in (first, second)] == [
        ("p1", 4),
        ("p2", 3),
    ]
    assert first["brands"]["Acme"] == {
        "mentionCount": 2,
        "shareOfVoice": 0.5,
        "previousMentionCount": 0,
        "previousShareOfVoice": 0.0,
    }
    assert [cell["mentionCount"] for cell in second["brands"].values()] == [1, 1, 1, 0]


def test_a_prompt_without_answers_has_no_mentions_to_count(small: Store) -> None:
    (only,) = ask(small, "ranking", engine=("gemini",), topic=("Start",)).body["byPrompt"]
    assert (only["mentionCount"], only["previousMentionCount"]) == (1, None)
    assert only["brands"]["Acme"]["previousMentionCount"] is None


def test_ranks_do_not_depend_on_the_brand_filter(small: Store) -> None:
    body = ask(small, "ranking", brand=("Hooli",)).body
    assert [row["rank"] for row in body["leaderboard"]] == [3]
    assert body["history"] == [
        {"date": day("11-14"), "ranks": {}},
        {"date": day("11-16"), "ranks": {"Hooli": 3}},
        {"date": day("11-20"), "ranks": {}},
    ]


def test_actions(small: Store) -> None:
    answer = ask(small, "actions")
    assert answer.body["stateCounts"] == {"open": 1, "inProgress": 1, "done": 0, "dismissed": 0}
    offsite, onsite = answer.body["groups"]
    assert (offsite["group"], onsite["group"]) == ("offsite", "onsite")
    (listed,) = offsite["actions"]
    assert listed["evidence"] == {"promptIds": ["p1"], "answerCount": 3, "competitors": ["Globex"]}
    assert listed["expectedImpact"]["low"] == 0.005
    (allowed,) = onsite["actions"]
    assert allowed["evidence"]["answerCount"] is None
    assert allowed["expectedImpact"] is None
    assert answer.availability.sample_count == 2


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"engine": ("gemini",)}, ["a2"]),
        ({"topic": ("Sales",)}, ["a1"]),
        ({"topic": ("Start",), "engine": ("chatgpt",)}, ["a2", "a1"]),
        ({"topic": ("Sales",), "engine": ("gemini",)}, []),
    ],
)
def test_actions_filters(
    small: Store, filters: dict[str, tuple[str, ...]], expected: list[str]
) -> None:
    answer = ask(small, "actions", **filters)
    found = [row["actionId"] for group in answer.body["groups"] for row in group["actions"]]
    assert found == expected
    assert answer.availability.status == "available"
    assert sum(answer.body["stateCounts"].values()) == len(expected)


def test_actions_of_a_store_without_them_are_not_zero() -> None:
    answer = ask(store({**SMALL, "actions": []}), "actions")
    assert set(answer.body["stateCounts"].values()) == {None}
    assert answer.availability.status == "unavailable"


@pytest.mark.parametrize("name", ["<b>Bold</b> & Sons", 'Hooli "Sales"', "O'Neil; DROP TABLE"])
def test_names_like_markup_come_through_as_they_are(name: str) -> None:
    brands = [row if row["brand"] != "Hooli" else {**row, "brand": name} for row in SMALL["brands"]]
    mentions = [
        row if row["brand"] != "Hooli" else {**row, "brand": name} for row in SMALL["mentions"]
    ]
    body = ask(store({**SMALL, "brands": brands, "mentions": mentions}), "ranking", brand=(name,))
    assert [row["brand"] for row in body.body["leaderboard"]] == [name]
    assert body.body["leaderboard"][0]["mentionCount"] == 1
