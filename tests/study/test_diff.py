"""What changed between two studies: reported whole and tidily, and nothing that did not change."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import aatoolkit as aa
from aatoolkit import errors

HOST = "acme.example"
SAMPLES = Path(__file__).parents[2] / "data" / "samples"

Record = Callable[..., aa.Study]


@pytest.fixture
def record(scripted: Any, reply: Any, tmp_path: Path) -> Record:
    """Records one section of a server that answers with a sample, changed as the test says."""

    def make(
        name: str,
        change: Callable[[Any], Any] = lambda body: body,
        section: str = "domains",
    ) -> aa.Study:
        response = json.loads((SAMPLES / f"{section}.json").read_bytes())
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
    found = before.diff(after)
    domain = json.loads((SAMPLES / "domains.json").read_bytes())["domains"][0]
    (row,) = found.numbers.to_dict("records")
    assert row == {
        "host": HOST,
        "section": "domains",
        "scope": "days=30",
        "table": "source_domains",
        "key": f"source_domain={domain['domain']}",
        "column": "citation_count",
        "before": domain["citationCount"],
        "after": domain["citationCount"] + 5,
        "change": 5,
    }
    assert len(found.requests) == 1
    assert {name for name, count in found.counts.items() if count} == {"requests", "numbers"}
    assert "(+5)" in repr(found)
    assert after.diff(before).numbers["change"].tolist() == [-5]


def test_rows_texts_and_lists(record: Record) -> None:
    def edit(response: Any) -> None:
        response["domains"][0]["brandsMentioned"] = ["Zeta", "Acme"]
        gone = response["domains"].pop(1)
        response["domains"].append({**gone, "domain": "new.example"})

    found = record("a").diff(record("b", edit))
    main = found.rows[found.rows["table"] == "source_domains"]
    assert sorted(main["change"]) == ["only after", "only before"]
    assert "source_domain=new.example" in set(main["key"])
    (text,) = found.texts.to_dict("records")
    assert (text["column"], text["after"]) == ("brands_mentioned", "Zeta, Acme")


@pytest.mark.filterwarnings("ignore::aatoolkit.errors.SchemaDriftWarning")
def test_drift_and_availability(record: Record) -> None:
    def drift(response: Any) -> None:
        response["domains"][0]["brandNew"] = 1

    def pending(response: Any) -> None:
        response["availability"] = {"status": "unavailable", "reason": "not_connected"}

    found = record("a").diff(record("b", drift))
    (row,) = found.drift.to_dict("records")
    assert (row["change"], row["kind"]) == ("only after", "new")
    assert "brandNew" in row["path"]
    other = record("c", section="crawl").diff(record("d", pending, section="crawl"))
    assert len(other.availability) > 5
    assert (other.availability["before"] != other.availability["after"]).all()


def test_a_response_that_became_an_error_is_reported(
    record: Record, scripted: Any, reply: Any, tmp_path: Path
) -> None:
    before = record("a")
    scripted.script = reply({}, 404)
    with aa.Study.create(tmp_path / "b") as after:
        project = after.project(HOST, base_url=scripted.url, cache=False)
        with pytest.raises(errors.NotVisible):
            project.fetch("domains")
    (row,) = before.diff(after).requests.to_dict("records")
    assert (row["change"], row["before_status"], row["after_status"]) == ("response", 200, 404)
