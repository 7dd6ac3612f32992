"""The help of each command: its examples run, it fits a narrow terminal, and costs little."""

from __future__ import annotations

import shlex

import pytest
from commands import commands, understood
from processes import python
from serving import TOKEN, shared_client

import aatoolkit as aa
from aatoolkit.cli import main

COMMANDS = [name for name, _ in commands()]


def help_of(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main([*command.split(), "--help"]) == 0
    return capsys.readouterr().out


def examples_of(text: str) -> list[list[str]]:
    examples = text.partition("\n  examples:\n")[2].replace("\\\n", " ")
    return [shlex.split(line)[1:] for line in examples.splitlines() if line.strip()]


def test_there_are_no_more_than_can_be_learned() -> None:
    assert len(COMMANDS) <= 20


@pytest.mark.parametrize("command", ["", "study", "archive", "profile", *COMMANDS])
def test_help_fits_a_narrow_terminal_in_words_of_the_shell(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "64")
    text = help_of(command, capsys)
    assert not [line for line in text.splitlines() if len(line) > 64]
    assert text.isascii()
    assert not {*text.replace(",", " ").split()} & {"None", "True", "False", "Path"}
    if command in COMMANDS:
        examples = examples_of(text)
        assert examples
        assert {understood(example) for example in examples} == {command}


def test_the_sections_and_the_exit_codes_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    words = help_of("read", capsys).replace(",", " ").replace(".", " ").split()
    assert set(aa.sections.names()) <= {*words}
    text = help_of("", capsys)
    assert all(f"\n    {code}" in text for code in (0, 1, 2, 130))


@pytest.mark.parametrize("command", ["read", "profile"])
def test_it_says_that_a_profile_is_executed(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "executed" in help_of(command, capsys)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_commands_and_options(
    shell: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_AATOOLKIT_COMPLETE", f"{shell}_source")
    if shell != "bash":  # which is asked for its version
        main([])
        assert "_AATOOLKIT_COMPLETE" in capsys.readouterr().out
    monkeypatch.setenv("_AATOOLKIT_COMPLETE", f"{shell}_complete")
    for words, completion in (("re", "report"), ("read --eng", "--engine")):
        monkeypatch.setenv("COMP_WORDS", f"aatoolkit {words}")
        monkeypatch.setenv(
            "COMP_CWORD", words.split()[-1] if shell == "fish" else str(len(words.split()))
        )
        main([])
        assert completion in capsys.readouterr().out


@pytest.mark.thorough
def test_it_takes_a_tenth_of_a_second() -> None:
    code = (
        "import resource, sys; from aatoolkit.cli import main; main(['read', '--help']); "
        "used = resource.getrusage(resource.RUSAGE_SELF); "
        "print(used.ru_utime + used.ru_stime, file=sys.stderr)"
    )
    times = [
        float(python("-c", f"import sys; sys.argv[0] = 'aatoolkit'; {code}").stderr)
        for _ in range(5)
    ]
    # On an idle machine 0.07 s; a busy one takes longer for the same work.
    assert min(times) < 0.2


@pytest.mark.thorough
def test_the_examples_run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aatoolkit.service.run_server", lambda *_, on_ready: on_ready("http://"))
    first = ["study record", "archive add", "profile draft"]
    last = ["archive tidy", "cache"]
    order = [*first, *(name for name in COMMANDS if name not in [*first, *last]), *last]
    texts = {command: help_of(command, capsys) for command in order}
    monkeypatch.setenv("AATOOLKIT_BASE_URL", shared_client().base_url)
    monkeypatch.setenv("AATOOLKIT_TOKEN", TOKEN)
    order.remove("study rerun")  # of a notebook: tests/study runs it
    for command in order:
        for example in examples_of(texts[command]):
            small = {"demo": ["--answers", "300"], "profile draft": ["--requests", "2"]}
            if "--answers" in example:
                small = {}
            status = main([*example, *small.get(command, ())])
            printed = capsys.readouterr()
            assert status == 0, (example, printed.err)
            if command == "profile draft":
                assert "not drafted: " in printed.err
            if command == "demo":
                assert printed.out.split()[:4] == ["section", "table", "rows", "status"]
                assert len(printed.out.splitlines()) == 1 + 70
                assert "70 tables, as Parquet files" in printed.err
