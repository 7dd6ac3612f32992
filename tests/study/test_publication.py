"""Publishing a study: what is recorded, and nothing else; the digest that it was sealed with."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest
import yaml

import aatoolkit as aa
from aatoolkit.errors import StudyError

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "data" / "demo-study"


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The study under ``data/``, published."""
    folder = tmp_path_factory.mktemp("published") / "out"
    return aa.Study(FOLDER).publish(folder, licence="CC0-1.0")


@pytest.mark.thorough
def test_its_rows_are_those_of_a_replay(out: Path) -> None:
    study = aa.Study(FOLDER)
    for host in study._hosts:
        scopes = {
            r.scope for r in study._current_records if r.host == host and r.section == "domains"
        }
        for scope in scopes:
            replayed = study.project(host).read("domains", scope).main
            full = aa.read_parquet(out / "data" / "source_domains.parquet")
            expected = replayed.aa.with_context()
            same = full["host"].eq(host) & full["fetched_at"].eq(expected["fetched_at"].iloc[0])
            rows = full[same][[*expected.columns]].reset_index(drop=True)
            pd.testing.assert_frame_equal(rows, expected, check_dtype=False)


@pytest.mark.thorough
def test_it_cites_the_study_by_its_digest(out: Path) -> None:
    study = aa.Study(FOLDER)
    cited = yaml.safe_load((out / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["identifiers"][0]["value"] == f"sha256:{study.digest}"
    assert cited["title"] == study._title
    assert [author["name"] for author in cited["authors"]] == [*study.about["creators"]] or (
        not study.about["creators"]
    )
    described = json.loads((out / "datapackage.json").read_bytes())
    assert described["study"] == {"digest": f"sha256:{study.digest}"}
    assert str(study.digest) in (out / "README.md").read_text(encoding="utf-8")


def test_only_a_sound_study_is_published(tmp_path: Path) -> None:
    shutil.copytree(FOLDER, tmp_path / "study")
    altered = min((tmp_path / "study" / "responses").iterdir())
    altered.write_bytes(altered.read_bytes() + b" ")
    with pytest.raises(StudyError, match="only a study that verifies can be published"):
        aa.Study(tmp_path / "study").publish(tmp_path / "out")
    unsealed = aa.Study.create(tmp_path / "new")
    with pytest.raises(StudyError, match="only a study that verifies can be published"):
        unsealed.publish(tmp_path / "out")
    assert not (tmp_path / "out").exists()
