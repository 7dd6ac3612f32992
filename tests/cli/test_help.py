"""The help of each command: its examples run, and it fits a narrow terminal."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from serving import TOKEN, shared_client

import aatoolkit as aa
from aatoolkit.cli import COMMANDS, main, parser


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


def help_of(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main([*command.split(), "--help"]) == 0
    return capsys.readouterr().out


def examples_of(text: str) -> list[list[str]]:
    shown = text.partition("\nexamples:\n")[2].replace("\\\n", " ")
    return [shlex.split(line)[1:] for line in shown.splitlines() if line.strip()]


@pytest.mark.parametrize("command", ["", "study", "archive", "profile", *COMMANDS])
def test_help_fits_a_narrow_terminal_in_words_of_the_shell(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    text = help_of(command, capsys)
    wide = [line for line in text.splitlines() if len(line) > 60]
    assert not [line for line in wide if "[--section NAME | --all-sections]" not in line]
    assert text.isascii()
    assert not {*text.replace(",", " ").split()} & {"None", "True", "False", "Path"}
    if command in COMMANDS:
        examples = examples_of(text)
        assert examples
        for example in examples:
            assert example[: len(command.split())] == command.split()
            parsed = parser.build(COMMANDS).parse_args(example)
            assert parsed.run is COMMANDS[command]


def test_the_sections_and_the_exit_codes_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    words = help_of("read", capsys).replace(",", " ").split()
    assert set(aa.sections.names()) <= {*words}
    text = help_of("", capsys)
    assert all(f"\n  {code}" in text for code in (0, 1, 2, 130))


@pytest.mark.thorough
def test_the_examples_run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aatoolkit.service.run_server", lambda *_, on_ready: on_ready("http://"))
    first = ["study record", "study pack", "archive add", "profile draft", "synth"]
    last = ["archive forget", "cache"]
    order = [*first, *(each for each in COMMANDS if each not in [*first, *last]), *last]
    texts = {command: help_of(command, capsys) for command in order}
    monkeypatch.setenv("AATOOLKIT_BASE_URL", shared_client().base_url)
    monkeypatch.setenv("AATOOLKIT_TOKEN", TOKEN)
    order.remove("study rerun")  # of a notebook: tests/study runs it
    for command in order:
        for example in examples_of(texts[command]):
            small = {"demo": ["--answers", "300"], "profile draft": ["--requests", "2"]}
            status = main([*example, *small.get(command, ())])
            printed = capsys.readouterr()
            assert status == 0, (example, printed.err)
            if command == "demo":
                assert printed.out.split()[:4] == ["section", "table", "rows", "availability"]
                assert len(printed.out.splitlines()) == 1 + 70
                assert "synthetic" in printed.err
                assert "Parquet files are in demo-7" in printed.err
