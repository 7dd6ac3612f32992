"""Parameters of a request: days, sections, filters and their values, over real HTTP."""

from __future__ import annotations

import json
from typing import Any

import pytest

from aatoolkit.service import SECTIONS

NO_FILTERS = {"engine": None, "topic": None, "category": None, "brand": None}


@pytest.mark.parametrize("days", ["8", "", "030", "30.0", "-7", "+7", "%207", "٧", "7,30"])
def test_another_number_of_days_is_refused(counting: Any, days: str) -> None:
    error = counting.error_of(counting.get(f"agent-analytics?section=counts&days={days}"))
    assert (error["status"], error["code"]) == (400, "invalid_parameter")
    assert (error["parameter"], error["allowed"]) == ("days", [7, 30, 90])


@pytest.mark.parametrize("section", ["overviews", "Overview", "", "overview,domains"])
def test_an_unknown_section_is_refused(api: Any, section: str) -> None:
    error = api.error_of(api.get(f"agent-analytics?section={section}"))
    assert (error["code"], error["parameter"]) == ("invalid_parameter", "section")
    assert error["allowed"] == sorted(SECTIONS)
    assert error["unknown"] == [section]


def test_an_unknown_value_is_answered_with_what_comes_near(counting: Any) -> None:
    error = counting.error_of(counting.get("agent-analytics?engine=chatgpt,ChatGPT,perplexcity"))
    assert error["parameter"] == "engine"
    assert error["unknown"] == ["ChatGPT", "perplexcity"]
    assert error["allowed"] == ["chatgpt", "gemini", "perplexity"]
    assert error["suggestions"] == ["chatgpt", "perplexity"]


@pytest.mark.parametrize("name", ["persona", "country", "page", "Days", "refresh", ""])
def test_an_unsupported_parameter_is_refused(counting: Any, name: str) -> None:
    error = counting.error_of(counting.get(f"agent-analytics?{name}=1"))
    assert (error["status"], error["code"]) == (400, "unsupported_parameter")
    assert error["allowed"] == ["section", "days", "engine", "topic", "category", "brand"]


def test_a_parameter_given_twice_is_refused(counting: Any) -> None:
    error = counting.error_of(counting.get("agent-analytics?engine=chatgpt&engine=chatgpt"))
    assert (error["status"], error["parameter"]) == (400, "engine")


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("", 21),
        ("engine=chatgpt", 10),
        ("engine=gemini", 0),
        ("engine=chatgpt,perplexity", 21),
        ("topic=CRM%20for%20startups", 5),
        ("topic=CRM+for+startups,Sales%20%26%20quotes%3A%2050%20%25", 10),
        ("category=commercial&engine=perplexity", 5),
        ("brand=Acme%20CRM,R%26D%20%2B%20S%C3%B6hne", 21),
        ("engine=", 21),
        ("engine=,chatgpt,", 10),
    ],
)
def test_filters_narrow_the_answers(counting: Any, query: str, count: int) -> None:
    body = counting.get(f"agent-analytics?section=counts&{query}").json()
    assert body["answerCount"] == count


@pytest.mark.parametrize(
    "value",
    ["%0A", "%20", "%09", "%C2%A0", "chatgpt,%0A", "%20,chatgpt", ",", ",%20,", "%E2%80%83"],
)
@pytest.mark.parametrize("name", ["engine", "topic", "category", "brand"])
def test_a_blank_value_is_refused(counting: Any, name: str, value: str) -> None:
    error = counting.error_of(counting.get(f"agent-analytics?section=counts&{name}={value}"))
    assert (error["status"], error["code"], error["parameter"]) == (400, "invalid_parameter", name)
    assert "blank" in error["message"]


def test_lists_mean_the_same_however_they_are_written(counting: Any) -> None:
    written = [
        "chatgpt,gemini",
        "gemini,chatgpt",
        "%20gemini%20,,chatgpt,gemini",
        "gemini%2Cchatgpt",
    ]
    answers = {counting.get(f"agent-analytics?engine={engines}").content for engines in written}
    assert len(answers) == 1
    filters = json.loads(answers.pop())["filters"]
    assert filters == {**NO_FILTERS, "engine": ["chatgpt", "gemini"]}
