"""From crawled to converted: stages meet on pages, and what was not measured is no 0."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given, strategies as st
from processes import python
from serving import demo_dataset

import aatoolkit as aa
from aatoolkit import Dataset
from aatoolkit.errors import AvailabilityError
from aatoolkit.stats.funnel import funnel, normalize_path

SECTIONS = ["crawl", "conversions", "overview", "domains"]


@pytest.fixture(scope="module")
def acme() -> Dataset:
    return demo_dataset()


@pytest.fixture(scope="module")
def globex() -> Dataset:
    return aa.demo("globex.example").read_all(sections=SECTIONS, days=30, progress=False)


def test_each_stage_is_the_number_of_its_section(acme: Dataset) -> None:
    paths = acme.funnel().set_index("path")
    crawl = acme["crawl"]["crawl_paths"].set_index("path")
    landed = acme["conversions"]["conversion_landing_pages"].set_index("path")
    row = paths.loc["/blog/crm-guide"]
    assert row["crawled"] == crawl.loc["/blog/crm-guide", "requests"]
    assert row["cited"] == crawl.loc["/blog/crm-guide", "cited_answer_count"]
    assert row["visited"] == landed.loc["/blog/crm-guide", "sessions"]
    assert row["crawl_to_refer"] == pytest.approx(row["crawled"] / row["visited"])
    low, high = (row[f"conversion_rate_{end}"] for end in ("low", "high"))
    from statsmodels.stats import proportion

    complete = landed.loc["/blog/crm-guide", "complete_sessions"]
    assert landed["complete_sessions"].sum() < landed["sessions"].sum()
    assert row["n"] == complete  # conversions of complete days are of the visits of these days
    assert row["conversion_rate"] == row["converted"] / complete
    wilson = proportion.proportion_confint(row["converted"], complete, method="wilson")
    assert (low, high) == pytest.approx(wilson, abs=1e-9)
    assert paths["crawled"].sum() == crawl["requests"].sum()


def test_each_column_has_the_statements_of_the_stages_it_rests_on(acme: Dataset) -> None:
    states = acme.funnel().aa.availability
    for name in ("path", "verdict", "method"):
        assert states.loc[name, "status"] == "available"
    crawl, visits = "Not recorded for 83 of", "Conversions are complete up to"
    assert crawl in states.loc["crawled", "reason"]
    assert visits not in states.loc["crawled", "reason"]
    assert crawl not in states.loc["conversion_rate", "reason"]


def test_what_several_engines_lack_is_stated_of_each() -> None:
    body = aa.demo().read("conversions").payload.json
    engines = {key: {"status": "unavailable", "reason": "No key."} for key in ("claude", "gemini")}
    body = {**body, "availability": {**body["availability"], "engines": engines}}
    funnel_of = aa.Dataset({"conversions": aa.normalize("conversions", body)}).funnel()
    reason = funnel_of.aa.availability.loc["visited", "reason"]
    assert all(f"{engine}: No key" in reason for engine in engines)


def test_what_no_section_lists_is_no_zero(acme: Dataset) -> None:
    paths = acme.funnel().set_index("path")
    assert pd.isna(paths.loc["/robots.txt", "visited"])
    assert pd.isna(paths.loc["/robots.txt", "crawl_to_refer"])
    assert (
        "visited and converted: the response does not list the page, which does not mean 0"
        in paths.loc["/robots.txt", "verdict"]
    )
    assert pd.isna(paths.loc["(not set)", "crawled"])
    assert paths.aa.availability.loc["visited", "status"] == "partial"


def test_a_stage_that_was_not_measured_says_why(globex: Dataset) -> None:
    paths = globex.funnel()
    assert paths["crawled"].isna().all()
    assert paths["crawl_to_refer"].isna().all()
    assert paths["verdict"].str.contains("crawled: unavailable (not connected)", regex=False).all()
    assert paths.aa.availability.loc["crawled", "status"] == "unavailable"
    assert paths["visited"].notna().any()


def test_sections_that_were_not_read_or_are_of_another_window(acme: Dataset) -> None:
    part = Dataset({"crawl": acme["crawl"]}, {})
    paths = part.funnel()
    assert paths["visited"].isna().all()
    assert paths["verdict"].str.contains("the section conversions was not read").all()
    with pytest.raises(AvailabilityError, match="no funnel: the section crawl was not read"):
        Dataset({}, {}).funnel()
    week = aa.demo().read("conversions", days=7)
    with pytest.raises(AvailabilityError, match="not of one host and window"):
        Dataset({"crawl": acme["crawl"], "conversions": week}, {}).funnel()


def test_tables_of_another_make_are_found_by_what_they_count(acme: Dataset) -> None:
    crawl = acme["crawl"]["crawl_paths"].aa.rename(columns={"requests": "hits"})
    pages = acme["conversions"]["conversion_landing_pages"]
    data = {
        "crawl": {"paths": crawl.drop(columns="cited_answer_count")},
        "conversions": {"pages": pages.drop(columns=["complete_sessions", "cited_answer_count"])},
    }
    paths = funnel(data, {}, 0.95).set_index("path")
    expected = acme.funnel().set_index("path")
    for name in ("crawled", "visited", "converted"):
        pd.testing.assert_series_equal(paths[name], expected[name], check_index_type=False)
    assert paths["cited"].isna().all()
    assert paths["verdict"].str.contains("the service gives no answers that cite a page").all()
    assert paths["method"].str.contains("conversions over all visits").all()


def test_a_section_without_the_table_says_what_it_lacks(acme: Dataset) -> None:
    bots = acme["crawl"]["crawl_bots"]
    pages = {"crawl": {"bots": bots}, "conversions": acme["conversions"]}
    verdict = funnel(pages, {}, 0.95)["verdict"].iloc[0]
    assert "crawled: the section crawl has no table of requests by page" in verdict
    assert "was not read" not in verdict


ADDED = """
import json, pathlib
read = pathlib.Path.read_bytes
stage = {"unit": "answers", "doc": "Named.", "noun": "names", "counts": {"crawl": ["names"]}}
pathlib.Path.read_bytes = lambda path: (
    json.dumps({**json.loads(read(path)), "named": stage}).encode()
    if path.name == "stages.json" else read(path)
)
import aatoolkit as aa
funnel = aa.demo().read_all(sections=["crawl", "conversions"], progress=False).funnel()
print(*funnel.columns[4:6], funnel.aa.codebook.loc["named", "unit"])
print(funnel["verdict"][0])
print(funnel.aa.availability.loc["conversion_rate", "reason"])
"""


def test_a_stage_is_declared_in_one_place() -> None:
    columns, verdict, of_rate = python("-c", ADDED).stdout.splitlines()
    assert columns == "converted named answers"
    assert verdict == "not measured: named: the service gives no names"
    assert "the service gives no names" not in of_rate


@given(st.text(max_size=30))
def test_a_path_in_one_spelling_stays_so(address: str) -> None:
    once = normalize_path(address)
    assert normalize_path(once) == once
    assert once == "(not set)" or (once.startswith("/") and not once.endswith("//"))
