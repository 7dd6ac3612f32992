"""Scopes: the filters of a request, in one canonical order, and back from text."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given, strategies as st

from aatoolkit import Scope, ScopeOptions
from aatoolkit.errors import ScopeError

FILTERS = ("engine", "topic", "category", "brand")

values = st.text(min_size=1).filter(lambda text: "," not in text and text.strip())
scopes = st.builds(
    Scope,
    days=st.sampled_from((7, 30, 90)),
    **{name: st.lists(values, max_size=4) for name in FILTERS},
)


@given(scopes)
def test_its_repr_can_be_pasted(scope: Scope) -> None:
    assert eval(repr(scope)) == scope


@given(scopes)
def test_its_query_string_reads_back(scope: Scope) -> None:
    assert Scope._from_query(scope._to_query()) == scope
    assert Scope._from_query("?" + scope._to_query()) == scope


@given(st.lists(values, max_size=6), st.randoms())
def test_order_and_repetition_never_matter(names: list[str], random: object) -> None:
    shuffled = [*names, *names[:2]]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    first, second = Scope(engine=names), Scope(engine=iter(shuffled))  # type: ignore[arg-type]
    assert (first, hash(first), first._to_query()) == (second, hash(second), second._to_query())


def test_what_is_not_narrowed_is_not_shown() -> None:
    assert repr(Scope()) == "Scope(days=30)"
    assert repr(Scope(7, brand="Acme")) == "Scope(days=7, brand=('Acme',))"
    assert Scope(engine=None)._filters == {}  # type: ignore[arg-type]


@pytest.mark.parametrize("days", [1, 0, -7, True, "30", None, 31, 30.5])
def test_only_documented_windows_are_accepted(days: object) -> None:
    with pytest.raises(ScopeError, match="choose 7, 30 or 90") as refused:
        Scope(days=days)  # type: ignore[arg-type]
    assert refused.value.parameter == "days"
    assert refused.value.suggestions == ("7", "30", "90")


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("Acme, Inc.", "holds a comma"),
        ("", "is empty"),
        (" \t", "is empty"),
        (5, "is not text"),
        (["a", None], "is not text"),
    ],
)
@pytest.mark.parametrize("name", FILTERS)
def test_what_the_api_cannot_express_is_refused_with_the_reason(
    name: str, value: object, why: str
) -> None:
    with pytest.raises(ScopeError, match=why) as refused:
        Scope(**{name: value})  # type: ignore[arg-type]
    assert refused.value.parameter == name


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("engines=chatgpt", "no filter"),
        ("engine=a&engine=b", "given twice"),
        ("days=x", "not a whole number"),
        ("days=", "not a whole number"),
        ("days=٣٠", "not a whole number"),
        ("days=8", "not a window"),
    ],
)
def test_a_query_string_that_is_no_scope_is_refused(query: str, why: str) -> None:
    with pytest.raises(ScopeError, match=why):
        Scope._from_query(query)


# --- allowed filter values ------------------------------------------------------------------

HOSTILE = "<img src=x onerror=alert(1)>"


def frame(column: str, values: list[str | None], **more: object) -> pd.DataFrame:
    return pd.DataFrame({column: pd.array(values, dtype="string"), **more})


@pytest.fixture
def options() -> ScopeOptions:
    return ScopeOptions(
        "acme.example",
        engines=frame(
            "engine", ["chatgpt", "gemini"], last_run_day=pd.to_datetime(["2026-11-19", None])
        ),
        topics=frame("topic", ["CRM", HOSTILE, "(none)"]),
        categories=frame("category", [None, "discovery"]),
        brands=frame("brand", ["Acme CRM", "Zenith"]),
        own_terms=iter(["acme", HOSTILE]),
        days=(7, 30),
    )


def test_a_scope_that_the_project_knows_is_returned(options: ScopeOptions) -> None:
    scope = Scope(7, engine="gemini", topic="CRM", category="discovery", brand="Zenith")
    assert scope._check(options) is scope


def test_an_unknown_filter_is_refused_with_near_matches() -> None:
    with pytest.raises(ScopeError, match=r"no filter 'engines'; did you mean 'engine'\?$"):
        Scope(engines="chatgpt")
    with pytest.raises(ScopeError, match="there are days, engine, topic, category, brand") as error:
        Scope()._replace(country="de")
    assert (error.value.parameter, error.value.suggestions) == ("country", ())


@pytest.mark.parametrize(
    ("wanted", "near"),
    [("chatgbt", ("chatgpt",)), ("ChatGPT", ("chatgpt",)), ("blue moon", ())],
)
def test_an_unknown_value_is_refused_with_near_matches(
    options: ScopeOptions, wanted: str, near: tuple[str, ...]
) -> None:
    with pytest.raises(ScopeError, match="unknown engine") as refused:
        Scope(engine=(wanted, "gemini"))._check(options)
    assert refused.value.parameter == "engine"
    assert refused.value.unknown == (wanted,)
    assert refused.value.suggestions == near
    assert all(repr(value) in str(refused.value) for value in near)


def test_untagged_prompts_are_counted_but_cannot_be_requested(options: ScopeOptions) -> None:
    assert options.values("engine") == ("chatgpt", "gemini")
    assert options.values("topic") == ("CRM", HOSTILE)
    assert options.topics["topic"].tolist() == ["CRM", HOSTILE]
    assert {*options.untagged} == {"topic"}
    assert options.values("category") == ("discovery",)
    assert options.values("brand") == ("Acme CRM", "Zenith")
    with pytest.raises(ScopeError, match="no filter"):
        options.values("own_terms")


def test_what_may_be_requested_in_a_line(options: ScopeOptions) -> None:
    assert repr(options) == (
        "<ScopeOptions of acme.example: 2 engines (1 have run), 2 topics, 1 categories, "
        "2 brands, 2 terms for the own brand, days 7, 30>"
    )


def test_what_steers_a_terminal_is_escaped(options: ScopeOptions) -> None:
    options.host = HOSTILE + "\x1b"
    assert repr(options).isprintable()
