"""The command line: what it prints where, what it writes, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from shlex import split
from typing import Any

import pandas as pd
import pytest
from serving import TOKEN, shared_client

import aatoolkit as aa
from aatoolkit.cli import main

pytestmark = pytest.mark.usefixtures("at_service")

ROOT = Path(__file__).parents[2]
REFUSALS = json.loads(Path(__file__).with_name("refusals.json").read_bytes())
"""Command lines that are refused, and what is said of each."""


def test_without_a_section_the_values_of_the_filters_are_printed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["read", "acme.example", "--no-cache", "--json"]) == 0
    output = json.loads(capsys.readouterr().out)
    parts = {"days", "engines", "topics", "categories", "brands", "own_terms"}
    assert {*output} - {"host", "untagged"} == parts
    assert output["days"] == [7, 30, 90]
    assert any(engine["last_run_day"] is None for engine in output["engines"])
    assert main(["read", "acme.example", "--no-cache", "--refresh"]) == 0
    text = capsys.readouterr().out
    assert all(f"{part}:" in text for part in parts)


def test_read_prints_csv_json_and_parquet(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["read", "acme.example", "domains", "--no-cache", "--engine", "chatgpt"]
    assert main([*command, "--csv", "-o", "-"]) == 0
    csv = capsys.readouterr().out
    assert main([*command, "--json"]) == 0
    output = json.loads(capsys.readouterr().out)
    assert main([*command, "--out", "domains.parquet"]) == 0
    frame = pd.read_parquet("domains.parquet")
    assert len(frame) == len(output["rows"]) == len(csv.splitlines()) - 1
    assert output["availability"]["citation_count"]["status"] == "available"
    assert frame.aa.sources.loc[0, "scope"] == "days=30&engine=chatgpt"
    assert main([*command, "--table", "source_domain_types"]) == 0
    assert capsys.readouterr().out.startswith("domain_type")


@pytest.mark.parametrize(("command", "message"), REFUSALS)
def test_what_is_requested_is_never_ignored_and_what_is_wrong_is_printed_on_standard_error(
    command: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command += " --no-cache" * command.startswith("read")
    assert main(split(command)) == 2
    printed = capsys.readouterr()
    assert message in printed.err
    assert printed.out == ""
    assert "Traceback" not in printed.err
    assert not [*Path().iterdir()]


SECRET = "canary-9f31c07a5d"


@pytest.mark.parametrize(
    "command",
    [
        f"read acme.example urls --token {SECRET}",
        f"read acme.example urls --token={SECRET}",
        f"read acme.example urls --tok {SECRET}",
        f"read acme.example urls --token-f={SECRET}",
        f"read acme.example urls --token-file {SECRET}",
        f"serve store --token-file {SECRET}",
        f"read acme.example urls --TOKEN {SECRET}",
        f"read acme.example urls -- {SECRET}",
        f"read acme.example urls --token-file x\0{SECRET}",
        f"read acme.example urls --token-file {SECRET * 400}",
        f"serve store --accounts {SECRET}",
        f"profile draft acme.example -o x.py --tok={SECRET}",
        f"study {SECRET}",
        SECRET,
        f"read acme.example urls {SECRET} {SECRET}",
        f"read acme.example urls --days {SECRET}",
        f"serve store --port {SECRET}",
    ],
    ids=lambda command: command[:40],
)
def test_no_error_repeats_a_token_given_by_mistake(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("store").mkdir()
    assert main(split(command)) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert SECRET not in printed.err
    remedies = ("--token-file", "--help", "there are", "--accounts", "takes a whole number")
    assert any(remedy in printed.err for remedy in remedies)


def test_options_are_not_abbreviated(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--answer", "600"]) == 2
    assert "there is no option '--answer'; did you mean '--answers'?" in capsys.readouterr().err
    for option in (f"--token:{SECRET}", f"--{SECRET}", f"-{SECRET}", f"--{SECRET}=1"):
        assert main(["demo", option]) == 2
        assert SECRET not in capsys.readouterr().err


def test_a_host_that_is_not_there_is_a_wrong_value(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["read", "acme.example", "urls"]) == 0
    for command in ("read acne.example", "report acne.example --section urls -o x.html"):
        assert main(split(command)) == 2
        assert "did you mean 'acme.example'?" in capsys.readouterr().err
    assert main(split("report acme.example --alias A. --section urls -o x.html")) == 0
    assert "acme.example" not in Path("x.html").read_text().split("</h1>")[0]


def test_the_sections_of_a_profile_are_those_that_are_read(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = "from aatoolkit.sections import Profile, get\nPROFILE = Profile('few', get('urls'))\n"
    Path("few.py").write_text(code)
    assert main(split("report acme.example --profile few.py -o x.html --json")) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["sections"] == ["urls"]
    assert "the profile declares urls; --section reads others" in printed.err


def test_a_column_that_a_pipeline_requires_was_measured_or_the_exit_code_says_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = "crawl --csv --require requests --require bot"
    assert main(split(f"read acme.example {arguments}")) == 0
    assert "GPTBot" in capsys.readouterr().out
    assert main(split(f"read globex.example {arguments}")) == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert "requests" in output.err


def test_a_host_that_was_read_and_is_refused_is_no_slip(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], scripted: Any, reply: Any
) -> None:
    assert main(["read", "acme.example", "urls"]) == 0
    scripted.script = lambda request: reply({"error": "no such host"}, status=404)
    monkeypatch.setenv("AATOOLKIT_BASE_URL", scripted.url)
    for host in ("acme.example", "ACME.example."):
        assert main(["read", host, "urls"]) == 2
        assert "did you mean" not in capsys.readouterr().err


def test_a_warning_is_a_note_without_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(Path("cache").resolve()))
    Path("cache").write_text("a file where a folder should be")
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        assert main(["read", "acme.example", "urls"]) == 0
    stderr = capsys.readouterr().err
    assert stderr.count("aatoolkit: warning: the cache in") == 1
    assert "AAToolkitWarning" not in stderr
    assert ".py" not in stderr


def test_doctor_tries_the_service(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "acme.example"]) == 0
    text = capsys.readouterr()
    assert "engines" in text.out
    assert TOKEN not in text.out + text.err
    assert main(["doctor", "hooli.example", "--json"]) == 1
    findings = {finding["what"]: finding for finding in json.loads(capsys.readouterr().out)}
    assert findings["project"]["good"] is False
    assert findings["pandas"]["finding"] == pd.__version__


def test_many_hosts_are_collected_into_folders(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hosts = ["acme.example", "Globex.example", "hooli.example"]
    command = ["collect", *hosts, "--section", "crawl", "--section", "urls", "--no-cache"]
    assert main([*command, "--out", "all", "--json"]) == 1, "one host is not visible"
    printed = capsys.readouterr()
    acme, globex, hooli = json.loads(printed.out)["hosts"]
    assert (acme["files"] > 2, acme["errors"], globex["host"]) == (True, {}, "globex.example")
    assert (hooli["files"], set(hooli["errors"])) == (0, {"crawl", "urls"})
    assert "hooli.example crawl failed" in printed.err
    for host in ("acme.example", "globex.example"):
        (path,) = (tmp_path / "all" / host).glob("*/urls/cited_urls.parquet")
        assert aa.read_parquet(path).aa.sources.loc[0, "host"] == host
    assert not (tmp_path / "all" / "hooli.example").exists()


def test_a_day_in_dated_folders_replaces_no_other_nor_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["collect", "acme.example", "-o", "all", "--no-cache", "--days", "7"]
    urls, both = ["--section", "urls"], ["--section", "urls", "--section", "crawl"]

    def state() -> dict[Path, int]:
        return {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.parquet")}

    assert main([*command, *urls]) == 0
    first = state()
    assert main([*command, *urls]) == 0
    assert main([*command, *both]) == 0
    assert "1 section of today kept" in capsys.readouterr().err
    assert main([*command[:-1], "30", *urls]) == 0
    assert {path: at for path, at in state().items() if path in first} == first
    assert len(state()) > 2 * len(first)
    assert main([*command, *urls, "--force"]) == 0
    assert all(state()[path] > at for path, at in first.items())


def test_the_cache_is_reported_and_cleared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for host in ("acme.example", "globex.example"):
        assert main(["read", host, "urls", "--csv"]) == 0
    assert main(["read", "acme.example", "ads", "--csv"]) == 0
    capsys.readouterr()
    assert main(["cache", "--json"]) == 0
    output = json.loads(capsys.readouterr().out)
    assert (output["responses"], output["bytes"] > 0) == (3, True)
    assert [(host["origin"], host["host"], host["responses"]) for host in output["hosts"]] == [
        (shared_client().base_url, "acme.example", 2),
        (shared_client().base_url, "globex.example", 1),
    ]
    assert main(["cache"]) == 0
    printed = capsys.readouterr()
    assert "globex.example" in printed.out
    assert "3 responses" in printed.err
    assert main(["cache", "--clear", "--host", "Acme.example", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["removed"] == 2
    assert main(["cache", "--clear"]) == 0
    assert "1 response removed; 0 responses" in capsys.readouterr().err
    assert main(["cache", "--folder", str(tmp_path / "none"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["responses"] == 0
    (tmp_path / "responses.sqlite").write_text("no database at all" * 100)
    assert main(["cache", "--folder", str(tmp_path)]) == 2
    assert "clear it" in capsys.readouterr().err


def test_a_synthetic_store_is_served(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("a-token-from-a-file\n")
    command = [sys.executable, "-m", "aatoolkit", "serve", "store", "--port", "0", "--synth"]
    command += ["--seed", "5", "--answers", "300"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [*command, "--token-file", str(token)], stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            line = process.stderr.readline()
            url = next(word for word in line.split() if word.startswith("http://"))
            with aa.Client(url, "a-token-from-a-file", cache=False) as client:
                assert client.project("acme.example").read("overview").rows["overview_kpis"] == 7
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=20) == 0
        finally:
            process.kill()
