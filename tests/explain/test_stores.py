"""Explanations from studies, packed studies, publications and archives, years later."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest
from processes import python

import aatoolkit as aa
from aatoolkit.cli import main
from aatoolkit.errors import ItemNotFound, NotWritten, ScopeError, StudyError

KPI = ("overview.overview_kpis", {"metric": "mentionRate"}, "value")
IN_30 = {"host": "acme.example", "scope": aa.Scope(days=30)}
ARGUMENTS = ["--where", "metric=mentionRate", "--column", "value", "--host", "acme.example"]


@pytest.fixture(scope="module")
def small(study: aa.Study, tmp_path_factory: pytest.TempPathFactory) -> aa.Study:
    """A study of one answer and the chats beside it."""
    folder = tmp_path_factory.mktemp("small") / "mine"
    with aa.Study.create(folder) as small_study:
        for record in study._current_records:
            if record.section == "overview" and record.scope == aa.Scope(days=30):
                small_study._require_writer().append(record, study._read_body(record))
    return aa.Study(folder)


def test_a_study_explains_a_number(study: aa.Study) -> None:
    explanation = study.explain(*KPI, **IN_30)  # type: ignore[arg-type]
    assert explanation.is_complete
    assert explanation.unit == "fraction"
    response = explanation.response
    assert response is not None
    assert response.found_in == "in the study demo-study"
    assert response.checked


def test_a_study_says_what_it_lacks(study: aa.Study) -> None:
    with pytest.raises(ScopeError, match="2 responses have a table overview_kpis: name host"):
        study.explain(*KPI, host="acme.example")
    for table in ("overview.overview_kpi", "overview_kpi", "kpis"):
        with pytest.raises(ScopeError, match="did you mean"):
            study.explain(table, 0, "value")
    with pytest.raises(ItemNotFound, match="there is no host"):
        study.explain(*KPI, host="acm.example")
    with pytest.raises(ItemNotFound):
        study.explain("overview_kpis", {"metric": "x"}, "value", **IN_30)  # type: ignore[arg-type]


@pytest.mark.thorough
def test_packed_published_and_in_another_process(small: aa.Study, tmp_path: Path) -> None:
    packed = small.pack(tmp_path / "mine.zip")
    out = small.publish(tmp_path / "out", responses=True)
    with pytest.raises(NotWritten, match="hold every column"):
        small.publish(tmp_path / "no", responses=True, redact="texts")
    trend = small.project("acme.example").read("overview", days=30)["overview_trend"]
    weekly = trend.assign(week=trend["date"].dt.isocalendar().week).aa.aggregate("week")
    weekly.iloc[1:].aa.to_parquet(tmp_path / "weekly.parquet")
    code = f"""
import aatoolkit as aa, pandas as pd
studies = [aa.Study({str(packed)!r}), aa.Study({str(out / "study.zip")!r})]
frames = [aa.read_parquet({str(tmp_path / "weekly.parquet")!r})]
frames += [pd.read_parquet({str(tmp_path / "weekly.parquet")!r})]
frames += [aa.read_parquet({str(out / "data" / "overview_trend.parquet")!r})]
for study, frame in zip(studies + studies[:1], frames):
    alone = frame.aa.explain(0, "mention_rate")
    found = frame.aa.explain(0, "mention_rate", within=study)
    print(found.is_complete, found.value == frame["mention_rate"].iloc[0], *alone.ends)
"""
    done = python("-c", code)
    lines = [line.split(" its response")[0] for line in done.stdout.splitlines()]
    assert lines == ["True True"] * 3


def test_damage_is_named(small: aa.Study, tmp_path: Path) -> None:
    folder = tmp_path / "damaged"
    shutil.copytree(small.path, folder)
    (answer,) = (folder / "responses").iterdir()
    answer.write_bytes(answer.read_bytes().replace(b'"kpis"', b'"kpit"'))
    damaged = aa.Study(folder)
    with pytest.raises(StudyError, match="is not what was recorded"):
        damaged.explain(*KPI)
    frame = small.project("acme.example").read("overview", days=30)["overview_kpis"]
    frame.aa.to_parquet(tmp_path / "kpis.parquet")
    later = aa.read_parquet(tmp_path / "kpis.parquet").aa.explain(1, "value", within=damaged)
    assert "is not what was recorded" in str(later.end)
    assert "is not what was recorded" in str(
        frame.aa.explain(1, "value", within=damaged).sources[0].found_in
    )


@pytest.mark.thorough
def test_an_archive_explains_rows_and_histories(small: aa.Study, tmp_path: Path) -> None:
    archive = aa.Archive(tmp_path / "archive")
    archive.add(small)
    explanation = archive.explain(
        "overview.overview_trend", {"date": "2026-11-15"}, "mention_count"
    )
    assert explanation.is_complete
    history = archive.history("overview", "overview_trend", hosts="acme.example")
    alone = history.aa.explain({"date": "2026-11-15"}, "mention_count")
    assert "archive" in str(alone.end)
    total = history.aa.aggregate(columns="mention_count", skip_missing=True)
    again = total.aa.explain(0, "mention_count", within=archive)
    assert again.is_complete
    assert sum(child.value for child in again.children) == again.value


def test_the_command_line(
    small: aa.Study, study: aa.Study, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = KPI[0]
    assert main(["explain", str(small.path), table, *ARGUMENTS]) == 0
    assert capsys.readouterr().out.startswith("value, metric = mentionRate: ")
    assert main(["explain", str(small.path), table, *ARGUMENTS, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["place"]["path"] == "$.kpis.mentionRate.value"
    page = tmp_path / "page.html"
    assert main(["explain", str(small.path), table, *ARGUMENTS, "-o", str(page)]) == 0
    assert "<details open>" in page.read_text("utf-8")
    assert main(["explain", str(study.path), table, *ARGUMENTS, "--scope", "days=7"]) == 0
    capsys.readouterr()
    engines = ["explain", str(small.path), "overview_engines", "--column", "mention_rate"]
    assert main(engines) == 0
    assert "this is the first without a value: 1 of 5 have none" in capsys.readouterr().out
    wrong = [
        ["explain", str(small.path), table, "--where", "metric", "--column", "value"],
        ["explain", str(small.path), table, "--where", "metric=x", "--column", "value"],
        ["explain", str(small.path), table, "--row", "1", "--column", "valu"],
        ["explain", str(small.path), "overview_kpi", *ARGUMENTS],
        ["explain", "none", table, *ARGUMENTS],
    ]
    assert [main(arguments) for arguments in wrong] == [2] * 5
    assert "did you mean" in capsys.readouterr().err


def test_the_other_side_names_cells_and_what_no_column_took(dataset: aa.Dataset) -> None:
    tables = dataset["overview"]
    explanation = tables.explain("$.trends.points[3].mentionCount")
    (cell,) = explanation.children
    assert cell.column == "overview_trend.mention_count"
    assert cell.value == tables["overview_trend"]["mention_count"][3]
    assert explanation.place == cell.place
    point = tables.explain("$.trends.points[3]")
    assert {child.row["date"] for child in point.children} == {cell.row["date"]}
    kept = tables.explain("$.window.start")
    assert [child.operation for child in kept.children] == ["extra"]
    assert tables.explain("$.availability").statements
    assert tables.explain("$.nowhere").missing == "the response has no such path"
    for path in ("$.a[", "trends.points[].mentionCount"):
        with pytest.raises(aa.errors.ArgumentError):
            tables.explain(path)


def test_frames_of_many_answers_keep_their_trails(study: aa.Study) -> None:
    project = study.project("acme.example")
    both = [project.read("overview", days=days)["overview_trend"] for days in (7, 30)]
    stacked = aa.concat([frame.aa.with_context() for frame in both], ignore_index=True)
    at = len(both[0]) + 4
    explanation = stacked.aa.explain(at, "mention_count")
    assert explanation.response is not None
    assert explanation.response.scope == "days=30"
    assert explanation.place is not None
    assert explanation.place.path == "$.trends.points[4].mentionCount"
    assert isinstance(stacked, pd.DataFrame)
