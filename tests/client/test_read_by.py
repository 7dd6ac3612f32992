"""One section read once for each value of a filter."""

from __future__ import annotations

import pandas as pd
import pytest
from carried import metadata_of
from helpers.serving import TOKEN, shared_client

import aatoolkit as aa
from aatoolkit.errors import AAToolkitWarning, AvailabilityError, ScopeError


@pytest.fixture(scope="module")
def project() -> aa.Project:
    return aa.demo()


def test_the_rows_are_those_of_each_read_and_add_up_to_the_whole(project: aa.Project) -> None:
    tables = project.read("domains", split="engine", days=7)
    frame = tables.main
    assert frame.columns[0] == "engine"
    for engine in project.scope_options().values("engine"):
        rows = frame.loc[frame["engine"] == engine].drop(columns="engine").reset_index(drop=True)
        pd.testing.assert_frame_equal(
            rows, project.read("domains", engine=engine, days=7).main, check_dtype=False
        )
    domains = project.read("domains", days=7).main
    total = frame.aa.aggregate("source_domain", "citation_count")
    expected = domains.set_index("source_domain")["citation_count"].sort_index()
    assert total.set_index("source_domain")["citation_count"].to_dict() == expected.to_dict()
    assert tables.rows["source_domains"] == len(frame)
    assert {*tables.extra["filter_engine"]} <= {*project.scope_options().values("engine")}


def test_the_rows_of_another_profile_add_up_too() -> None:
    engines, reference = ["chatgpt", "claude"], shared_client().project("acme.example")
    parts = [reference.read("domains", engine=engine) for engine in engines]
    section = aa.sections.propose([tables.payload for tables in parts]).section
    profile = aa.sections.Profile("own", section)
    with aa.Client(reference.client.base_url, TOKEN, cache=False, profile=profile) as client:
        frame = client.project("acme.example").read("domains", split="engine", engine=engines).main
    total = frame.aa.aggregate(None, "citation_count", rules={"citation_count": "sum"})
    counts = (tables.main["citation_count"].sum() for tables in parts)
    assert total["citation_count"].item() == sum(counts)


def test_an_engine_that_could_not_report_is_named_and_its_cells_are_not_zero(
    project: aa.Project,
) -> None:
    tables = project.read("overview", split="engine", engine=["chatgpt", "google-ai-overview"])
    kpis = tables.main
    lacking = kpis.loc[kpis["engine"] == "google-ai-overview"]
    assert "google-ai-overview" in repr(tables)
    assert lacking.empty or lacking["value"].isna().all()
    assert kpis.aa.availability.loc["value", "status"] == "partial"


@pytest.mark.thorough
def test_the_value_is_part_of_the_key_and_a_trend_is_drawn_as_lines(project: aa.Project) -> None:
    tables = project.read("overview", split="engine")
    assert metadata_of(tables["overview_trend"]).key == ("engine", "date")
    assert metadata_of(tables["overview_engines"]).key == ("filter_engine", "engine")
    import matplotlib

    matplotlib.use("agg")
    for chosen in ({}, {"color": "engine"}):
        axes = tables["overview_trend"].aa.plot(**chosen)
        assert axes.finding.startswith("Mention rate by week and engine"), axes.finding


@pytest.mark.thorough
def test_answers_about_several_brands_are_not_added(project: aa.Project) -> None:
    frame = project.read("domains", split="brand", days=7).main
    with pytest.raises(AvailabilityError, match="overlap"):
        frame.aa.aggregate(None, "citation_count")
    assert len(frame.aa.aggregate("brand", "citation_count")) == frame["brand"].nunique()


def test_a_product_that_two_engines_show_is_not_added(project: aa.Project) -> None:
    engines, name = ["chatgpt", "gemini"], "shopping_brands"
    reads = [project.read("shopping", engine=engine)[name] for engine in engines]
    for frame in (project.read("shopping", split="engine")[name], aa.concat(reads)):
        with pytest.raises(AvailabilityError, match="nothing shows that it adds over engine"):
            frame.aa.aggregate("brand", "product_count")
        assert len(frame.aa.aggregate("brand", "placement_count"))


def test_a_filter_that_a_section_ignores_is_pointed_out(project: aa.Project) -> None:
    with pytest.warns(AAToolkitWarning, match=r"crawl has the same counts .* read it without"):
        tables = project.read("crawl", split="topic")
    assert tables.main["topic"].nunique() > 1


def test_what_cannot_be_read_by_is_refused_with_what_can(project: aa.Project) -> None:
    with pytest.raises(ScopeError, match="did you mean 'engine'"):
        project.read("domains", split="engines")
    with pytest.raises(ScopeError, match=r"no filter to split by .*there are engine, topic"):
        project.read("ranking", split=["engine", "topic"])
    with pytest.raises(ScopeError, match="no section 'domain'"):
        project.read("domain", split="engine")


def test_what_an_answer_states_concerns_the_rows_of_its_value(project: aa.Project) -> None:
    trend = project.read("overview", split="engine", days=90)["overview_trend"]
    own = trend[trend["engine"] == "chatgpt"].aa.availability
    assert own.loc["mention_count", "status"] == "available"
    silent = trend[trend["engine"] == "google-ai-overview"].aa.availability
    assert silent.loc["mention_count", "status"] == "unavailable"
    assert trend.aa.availability.loc["mention_count", "status"] == "partial"
