"""A name in the host's place: in nothing that is written about an answer does the host stand."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from serving import shared_client

import aatoolkit as aa
from aatoolkit.errors import ArgumentError, NotCached

HOST, ALIAS = "acme.example", "client A"


def test_the_alias_takes_the_place_of_the_host(tmp_path: Path) -> None:
    project = shared_client().project(HOST, alias=ALIAS)
    assert HOST not in repr(project)
    offline = aa.Client("https://a.example", cache=tmp_path, offline=True)
    with pytest.raises(NotCached, match="domains of client A") as caught:
        offline.project(HOST, alias=ALIAS).read("domains")
    assert HOST not in str(caught.value)
    assert project.scope_options().host == ALIAS
    tables = project.read("overview", days=7)
    frame = tables["overview_trend"]
    assert frame.aa.sources["host"].tolist() == [ALIAS]
    assert HOST not in frame.attrs["aatoolkit"]
    assert frame.aa.with_context()["host"].unique().tolist() == [ALIAS]
    assert HOST not in str(frame.aa.explain(0, "mention_rate"))
    assert HOST not in repr(frame.aa.plot())
    path = frame.aa.to_parquet(tmp_path / "trend.parquet")
    assert HOST.encode() not in path.read_bytes()
    assert aa.read_parquet(path).aa.sources["host"].tolist() == [ALIAS]
    assert all(HOST.encode() not in value for value in pq.read_metadata(path).metadata.values())


def test_a_report_and_files_of_sections_name_the_alias(tmp_path: Path) -> None:
    dataset = shared_client().project(HOST, alias=ALIAS).read_all(["overview", "ranking"], days=7)
    page = dataset.report(tmp_path / "report.html").read_text()
    assert ALIAS in page
    assert HOST not in page
    dataset.to_parquet(tmp_path / "files")
    again = aa.read_dataset(tmp_path / "files")
    assert again["ranking"].main.aa.sources["host"].tolist() == [ALIAS]


def test_an_empty_alias_is_refused() -> None:
    with pytest.raises(ArgumentError, match="alias"):
        shared_client().project(HOST, alias=" ")
