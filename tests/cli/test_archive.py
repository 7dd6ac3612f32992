"""``aatoolkit archive`` from the first answer to the last that is forgotten."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import aatoolkit as aa
from aatoolkit.cli import main


def output(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["archive", *words]) == 0
    return capsys.readouterr().out


@pytest.mark.thorough
def test_an_archive_from_the_command_line(
    at_service: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ("--dir", str(tmp_path / "history"))
    hosts = tmp_path / "hosts.txt"
    hosts.write_text("# ours\nacme.example\n\nglobex.example  # theirs\n")
    add = ("add", "--hosts", str(hosts), "--days", "7", "--section", "domains")
    done: Any = json.loads(output(capsys, *add, *where, "--json"))
    assert (done["responses"], done["skipped"], done["failures"]) == (2, 0, [])
    assert json.loads(output(capsys, *add, *where, "--json"))["skipped"] == 2
    assert json.loads(output(capsys, *add, "--refresh", *where, "--json"))["responses"] == 2
    tables = json.loads(output(capsys, "sql", *where, "--json"))
    assert {row["table"] for row in tables} == {table.name for table in aa.sections.get("domains")}
    query = "SELECT count(DISTINCT host) AS hosts FROM source_domains"
    assert json.loads(output(capsys, "sql", query, *where, "--json")) == [{"hosts": 2}]
    assert output(capsys, "sql", query, *where, "--csv").splitlines()[-1] == "2"
    blob = "SELECT 'ab'::BLOB AS b"
    assert json.loads(output(capsys, "sql", blob, *where, "--json")) == [{"b": [97, 98]}]
    assert output(capsys, "verify", *where, "--replay") == ""
    assert main(["explain", where[1], "source_domains", "--column", "citation_count"]) == 0
    assert "files" in output(capsys, "tidy", *where, "--keep-hours", "0")
    assert "rows removed" in output(capsys, "tidy", *where, "--forget", "globex.example")
    assert json.loads(output(capsys, "sql", query, *where, "--json")) == [{"hosts": 1}]
    assert json.loads(output(capsys, "verify", *where, "--json"))["ok"]


def test_what_fails_is_seen_by_a_scheduler(
    at_service: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ("--dir", str(tmp_path / "history"))
    host = "nobody.example"
    assert main(["archive", "add", host, "--section", "domains", "--no-cache", *where]) == 1
    assert "nobody.example domains" in capsys.readouterr().err
    assert main(["archive", "add", *where]) == 2
    assert "name hosts" in capsys.readouterr().err
    for command in ("sql", "verify", "tidy"):
        assert main(["archive", command, "--dir", str(tmp_path / "none")]) == 2
        assert "no archive at" in capsys.readouterr().err
