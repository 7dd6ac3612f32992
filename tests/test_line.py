"""The whole line on a synthetic store: service, HTTP, client, tables, for every section."""

from __future__ import annotations

import warnings
from itertools import product

import pandas as pd
import pytest
from effort import one_in
from serving import shared_client, shared_dataset

import aatoolkit as aa
from aatoolkit.availability import Status

FILTERS = {
    "none": {},
    "days": {"days": 7},
    "engine": {"engine": "chatgpt"},
    "engines": {"engine": ["chatgpt", "gemini"]},
    "topic": {"topic": "first"},
    "category": {"category": "first"},
    "brand": {"brand": "first"},
    "all": {"days": 90, "engine": "chatgpt", "topic": "first", "category": "first"},
    "empty": {"engine": "copilot"},
}


@pytest.fixture(scope="module")
def client() -> aa.Client:
    return shared_client()


@pytest.fixture(scope="module")
def acme(client: aa.Client) -> aa.Project:
    return client.project("acme.example")


@pytest.fixture(scope="module")
def options(acme: aa.Project) -> aa.ScopeOptions:
    return acme.scope_options()


@pytest.fixture(scope="module")
def demo() -> aa.Dataset:
    return shared_dataset()


def scope_of(filters: dict, options: aa.ScopeOptions) -> aa.Scope:
    chosen = {
        name: options.values(name)[0] if value == "first" else value
        for name, value in filters.items()
    }
    return aa.Scope(**chosen)._check(options)


@pytest.mark.parametrize(
    ("section", "filters"), one_in(14, [*product(aa.sections.names(), FILTERS)])
)
def test_every_section_with_every_filter(
    acme: aa.Project, options: aa.ScopeOptions, demo: aa.Dataset, section: str, filters: str
) -> None:
    scope = scope_of(FILTERS[filters], options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tables = acme.read(section, scope)
    declared = aa.sections.get(section)
    assert list(tables) == [table.name for table in declared]
    for table in declared:
        frame = tables[table.name]
        assert frame.dtypes.to_dict() == demo[section][table.name].dtypes.to_dict()
        assert frame.columns.tolist() == list(table.names)
        key = list(table.key)
        assert not frame[key].isna().to_numpy().any()
        assert not frame.duplicated(key).any()
        states = frame.aa.availability
        assert states.index.tolist() == frame.columns.tolist()
        unknown = states.index[states["status"] == Status.UNKNOWN]
        assert frame[unknown].isna().all(axis=None)  # no cell says whether it was measured


def total(frame: pd.DataFrame, column: str) -> int:
    return int(frame[column].dropna().astype(int).sum())


def test_citations_agree_across_sections(acme: aa.Project, options: aa.ScopeOptions) -> None:
    for engine in ("chatgpt", "perplexity", "gemini"):
        scope = aa.Scope(days=7, engine=engine)._check(options)
        data = acme.read_all(scope=scope, sections=["domains", "urls", "chats"], progress=False)
        chats, cited = data["chats"], data["chats"]["chat_citations"]
        matched = chats.extra.set_index("path")["value"]["$.sampling.matched"]
        assert int(matched) == len(chats.main), "the sample is whole, or this compares nothing"
        cited = cited[cited["cited"]]
        assert len(cited) > 20
        urls, domains = data["urls"], data["domains"]
        assert cited["url"].value_counts().to_dict() == dict(
            zip(urls.main["url"], urls.main["citation_count"].astype(int), strict=True)
        )
        counts = dict(
            zip(
                domains.main["source_domain"],
                domains.main["citation_count"].astype(int),
                strict=True,
            )
        )
        assert cited["source_domain"].value_counts().to_dict() == counts
        assert total(domains["source_domain_types"], "citation_count") == len(cited)
        assert total(domains["source_domain_engines"], "citation_count") == len(cited)
        assert total(urls["cited_url_prompts"], "citation_count") == len(cited)


def test_a_filter_to_one_engine_is_that_engines_part(acme: aa.Project, demo: aa.Dataset) -> None:
    engines = demo["overview"]["overview_engines"].set_index("engine")
    parts = demo["domains"]["source_domain_engines"]
    for engine in ("chatgpt", "perplexity"):
        alone = acme.read_all(engine=engine, sections=["overview", "domains"], progress=False)
        kpis = alone["overview"].main.set_index("metric")
        assert kpis.loc["answerCount", "value"] == engines.loc[engine, "answer_count"]
        assert kpis.loc["mentionRate", "numerator"] == engines.loc[engine, "mention_count"]
        part = parts[parts["engine"] == engine].set_index("source_domain")["citation_count"]
        domains = alone["domains"].main.set_index("source_domain")["citation_count"]
        assert domains.to_dict() == part.to_dict()


@pytest.mark.parametrize(
    ("section", "table", "rate", "numerator", "denominator"),
    [
        ("overview", "overview_kpis", "value", "numerator", "denominator"),
        ("overview", "overview_trend", "mention_rate", "mention_count", "answer_count"),
        ("overview", "overview_engines", "mention_rate", "mention_count", "answer_count"),
        ("prompts", "prompts", "mention_rate", "mention_count", "answer_count"),
        ("domains", "source_domains", "citation_rate", "citation_count", "retrieval_count"),
        ("conversions", "conversion_totals", "ai_session_share", "ai_sessions", "sessions"),
        (
            "shopping",
            "shopping_trigger",
            "trigger_rate",
            "answers_with_shopping",
            "answers_checked",
        ),
    ],
)
def test_rates_equal_their_numerators_over_denominators(
    demo: aa.Dataset, section: str, table: str, rate: str, numerator: str, denominator: str
) -> None:
    frame = demo[section][table].dropna(subset=[numerator, denominator, rate])
    if table == "overview_kpis":
        frame = frame[frame["metric"] != "visibilityScore"]
    assert len(frame)
    computed = frame[numerator].astype(float) / frame[denominator].astype(float)
    assert (computed == frame[rate].astype(float)).all()
    # A rate over nothing is missing, not zero.
    empty = demo[section][table]
    assert empty.loc[(empty[denominator] == 0).fillna(False), rate].isna().all()


def test_an_engine_that_cannot_report_is_named_in_the_availability(demo: aa.Dataset) -> None:
    availability = demo["fanouts"].availability
    engine = availability[availability["scope"] == "engine"].set_index("target")["status"]
    support = demo["fanouts"]["fanout_engine_support"].set_index("engine")["exposes_fanouts"]
    mute = [name for name in support.index[~support.fillna(True)] if name in engine]
    assert mute
    assert (engine[mute] == Status.NOT_APPLICABLE).all()
