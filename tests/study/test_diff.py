"""What changed between two studies: reported whole and tidily, and nothing that did not change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from samples import sample

import aatoolkit as aa
from aatoolkit import errors

HOST = "acme.example"

Record = Callable[..., aa.Study]


@pytest.fixture
def record(scripted: Any, reply: Any, tmp_path: Path) -> Record:
    """Records one section of a server that answers with a sample, changed as the test says."""

    def make(
        name: str,
        change: Callable[[Any], Any] = lambda body: body,
        section: str = "domains",
    ) -> aa.Study:
        response = sample(section)
        changed = change(response)
        scripted.script = reply(response if changed is None else changed)
        with (
            aa.Study.create(tmp_path / name) as study,
            study.project(HOST, base_url=scripted.url, cache=False) as project,
        ):
            project.fetch(section)
        return study

    return make


def test_a_number_that_changed_is_one_row(record: Record) -> None:
    def more(response: Any) -> None:
        response["domains"][0]["citationCount"] += 5

    before, after = record("a"), record("b", more)
    diff = before.diff(after)
    domain = sample("domains")["domains"][0]
    response, row = diff.changes.to_dict("records")
    assert response["kind"] == "response"
    assert row == {
        "kind": "cell",
        "host": HOST,
        "section": "domains",
        "scope": "days=30",
        "table": "source_domains",
        "key": f"source_domain={domain['domain']}",
        "column": "citation_count",
        "before": str(domain["citationCount"]),
        "after": str(domain["citationCount"] + 5),
        "change": 5,
    }
    assert "(+5)" in repr(diff)
    assert after.diff(before).changes["change"].dropna().tolist() == [-5]


def test_the_largest_change_of_a_number_comes_first(record: Record) -> None:
    def more(response: Any) -> None:
        for domain, step in zip(response["domains"], (1, 50), strict=False):
            domain["citationCount"] += step

    text = repr(record("a").diff(record("b", more)))
    assert "changed: 1 response, 2 cells" in text
    assert text.index("(+50)") < text.index("(+1)")


def test_rows_texts_and_lists(record: Record) -> None:
    def edit(response: Any) -> None:
        response["domains"][0]["brandsMentioned"] = ["Zeta", "Acme"]
        gone = response["domains"].pop(1)
        response["domains"].append({**gone, "domain": "new.example"})

    diff = record("a").diff(record("b", edit))
    main = diff.changes[diff.changes["table"] == "source_domains"]
    rows = main[main["kind"] == "row"]
    assert rows["before"].isna().tolist() == [False, True]
    assert rows["key"].iloc[1] == "source_domain=new.example"
    (text,) = main[main["kind"] == "cell"].to_dict("records")
    assert (text["column"], text["after"]) == ("brands_mentioned", '["Zeta", "Acme"]')


@pytest.mark.filterwarnings("ignore::aatoolkit.errors.SchemaDriftWarning")
def test_drift_and_availability(record: Record) -> None:
    def drift(response: Any) -> None:
        response["domains"][0]["brandNew"] = 1

    def pending(response: Any) -> None:
        response["availability"] = {"status": "unavailable", "reason": "not_connected"}

    diff = record("a").diff(record("b", drift))
    drifts = diff.changes[diff.changes["kind"] == "drift"]
    assert drifts[["before", "after"]].to_numpy().tolist() == [[pd.NA, "new"]]
    assert "brandNew" in drifts["column"].iloc[0]
    other = record("c", section="crawl").diff(record("d", pending, section="crawl"))
    stated = other.changes[other.changes["kind"] == "availability"]
    assert len(stated) > 5
    assert (stated["before"] != stated["after"]).all()


def test_a_response_that_became_an_error_is_reported(
    record: Record, scripted: Any, reply: Any, tmp_path: Path
) -> None:
    before = record("a")
    scripted.script = reply({}, 404)
    with aa.Study.create(tmp_path / "b") as after:
        project = after.project(HOST, base_url=scripted.url, cache=False)
        with pytest.raises(errors.NotVisible):
            project.fetch("domains")
    (row,) = before.diff(after).changes.to_dict("records")
    assert (row["kind"], row["before"][:4], row["after"][:4]) == ("response", "200 ", "404 ")
