"""``aatoolkit study``: recorded, shown, verified, compared and packed from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from serving import TOKEN

import aatoolkit as aa
from aatoolkit.cli import main

pytestmark = pytest.mark.usefixtures("at_service")

RECORD = ["study", "record", "acme.example", "mine", "--no-cache"]


def test_a_study_is_recorded_sealed_and_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*RECORD, "--title", "Mine", "--json"]) == 0
    output = json.loads(capsys.readouterr().out)
    study = aa.Study("mine")
    assert output["digest"] == study.digest
    assert len(output["records"]) == 18
    assert [row["sha256"] for row in output["records"]] == [row.sha256 for row in study.records]
    assert study.verify()
    assert main(["study", "verify", "mine"]) == 0
    printed = capsys.readouterr().out
    assert str(study.digest) in printed
    assert "domains of acme.example, Scope(days=30)" in printed
    assert [main(["study", "publish", "mine", "out"]) for _ in "12"] == [0, 1]
    assert "pass --overwrite to replace" in capsys.readouterr().err
    assert not any(TOKEN.encode() in path.read_bytes() for path in Path().rglob("*.*"))


def test_a_second_recording_goes_on_with_the_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*RECORD, "--section", "urls"]) == 0
    assert main([*RECORD, "--section", "ads", "--days", "7", "--engine", "gemini"]) == 0
    study = aa.Study("mine")
    assert {(record.section, record.scope) for record in study.records} == {
        (None, None),
        ("urls", aa.Scope()),
        ("ads", aa.Scope(days=7, engine="gemini")),
    }
    assert study.verify()
    assert "cite it by its digest" in capsys.readouterr().err


def test_diff_has_the_exit_codes_of_diff(capsys: pytest.CaptureFixture[str]) -> None:
    main([*RECORD, "--section", "urls"])
    for _ in "12":
        main(["study", "record", "acme.example", "other", "--section", "ads"])
    assert "1 response came from the cache; --no-cache" in capsys.readouterr().err
    assert main(["study", "diff", "mine", "mine"]) == 0
    assert capsys.readouterr() == ("", "the responses to 2 requests are the same\n")
    assert main(["study", "diff", "mine", "other"]) == 1
    assert "urls days=30: only before" in capsys.readouterr().out
    assert main(["study", "diff", "mine", "other", "--json"]) == 1
    changes = json.loads(capsys.readouterr().out)["changes"]
    assert [change["kind"] for change in changes] == ["response"] * 2
    assert main(["study", "diff", "mine", "nowhere"]) == 2


def test_verify_lists_what_is_damaged_in_the_manifest(capsys: pytest.CaptureFixture[str]) -> None:
    main([*RECORD, "--section", "urls"])
    with Path("mine/manifest.jsonl").open("a") as manifest:
        manifest.write("{}\n")
    capsys.readouterr()
    assert main(["study", "verify", "mine", "--json"]) == 1
    output = json.loads(capsys.readouterr().out)
    assert not output["ok"]
    assert any(problem["file"] == "manifest.jsonl" for problem in output["problems"])
