"""Studies keep the profile they were recorded with: replays read by it, and run no file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import aatoolkit as aa
from aatoolkit.errors import SchemaDriftWarning, StudyError
from aatoolkit.sections import (
    COUNT,
    SUM,
    Column,
    Profile,
    Section,
    Table,
    computed,
    fraction,
    records,
    text,
)

RESPONSE = {"sites": [{"d": "a.example", "pct": "34.5%", "hits": 5}, {"d": "b.example", "hits": 2}]}
COLUMNS = (
    text("domain", "The site.", source="d"),
    fraction("rate", "The share.", source="pct", parse="number", scale=0.01),
    Column("hits", "Int64", unit=COUNT, aggregate=SUM),
)
SITES = Table("sites", "One row per site.", records("sites"), "domain", COLUMNS)
PROFILE = Profile("acme", Section("domains", "Sites.", SITES))


@pytest.fixture
def client(scripted: Any, reply: Any) -> Iterator[aa.Client]:
    scripted.script = reply(RESPONSE)
    with aa.Client(scripted.url, token="t", cache=False, profile=PROFILE) as client:
        yield client


@pytest.fixture
def study(client: aa.Client, tmp_path: Path) -> aa.Study:
    with aa.Study.create(tmp_path / "mine") as study:
        study.record(client.project("acme.example")).read("domains")
    return aa.Study(tmp_path / "mine")


def test_a_replay_reads_by_the_profile_of_the_recording(study, client):
    live = client.project("acme.example").read("domains")
    again = study.project("acme.example").read("domains")
    assert again.main.equals(live.main)
    assert again.main["rate"].tolist()[0] == pytest.approx(0.345)
    assert again.main.aa.codebook.loc["hits", "aggregation"] == "sum"
    assert study.project("acme.example").client.profile.name == "acme"
    (record,) = study.records
    assert set(study.tables(record)["domains"]) == {"sites"}
    assert study.verify(replay=True)


def test_a_newer_profile_takes_the_place_of_the_older(study, client):
    newer = Table("found", "Rows.", records("sites"), "domain", COLUMNS)
    digest = study.digest
    with aa.Study.resume(study.path) as resumed:
        better = aa.Client(
            client.base_url,
            token="t",
            cache=False,
            profile=Profile("acme", Section("domains", "D.", newer)),
        )
        with better:
            resumed.record(better.project("acme.example"))
    assert resumed.digest != digest
    assert resumed.verify(replay=True)
    assert set(aa.Study(study.path).project("acme.example").read("domains")) == {"found"}


def test_a_profile_that_was_altered_is_found(study):
    file = study.path / "profiles.json"
    held = json.loads(file.read_text())
    (facts,) = held["profiles"].values()
    facts["sections"][0]["tables"][0]["columns"][1]["scale"] = 1.0
    file.write_text(json.dumps(held))
    assert not study.verify()
    with pytest.raises(StudyError, match="does not match the seal"):
        aa.Study(study.path).project("acme.example")


def test_rows_that_a_function_makes_cannot_be_stored_which_is_reported(scripted, reply, tmp_path):
    scripted.script = reply(RESPONSE)
    table = Table("t", "Rows.", computed("sites", list), "d", (Column("d", "string"),))
    profile = Profile("acme", Section("domains", "D.", table))
    with (
        aa.Study.create(tmp_path / "mine") as study,
        aa.Client(scripted.url, token="t", cache=False, profile=profile) as client,
        pytest.warns(SchemaDriftWarning, match=r"domains: replay with profile="),
    ):
        study.record(client.project("acme.example")).fetch("domains")
    replayed = aa.Study(study.path).project("acme.example", profile=profile)
    assert set(replayed.read("domains")) == {"t"}
