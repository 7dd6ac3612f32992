"""The README is true: its code runs and prints what it shows, its commands are understood."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest
from commands import understood

from aatoolkit._util import defaults

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)


def test_it_is_short() -> None:
    assert len(TEXT.splitlines()) <= 180


@pytest.mark.timeout(400)  # 8 s on an idle machine
def test_the_code_blocks_run_and_print_what_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import matplotlib

    matplotlib.use("agg")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AATOOLKIT_CACHE_FOLDER", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "80")
    pairs = re.findall(
        r"^```python\n(.*?)^```$(?:\s*^```text\n(.*?)^```$)?", TEXT, re.DOTALL | re.MULTILINE
    )
    names: dict[str, object] = {}
    for code, output in pairs:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "README.md", "exec"), names)
        assert printed.getvalue() == output
    assert len(pairs) >= 4
    assert {path.name for path in tmp_path.iterdir()} >= {"acme.html", "acme.xlsx"}


def commands() -> list[str]:
    lines = "".join(blocks("sh")).splitlines()
    typed = (line.split("#")[0].rpartition("&& ")[2].strip() for line in lines)
    return [line for line in typed if "aatoolkit" in line.split()[0]]


@pytest.mark.parametrize("line", commands())
def test_every_command_is_understood(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert understood(shlex.split(line)[1:])


def test_every_extra_is_in_the_table() -> None:
    table = TEXT.partition("| extra |")[2].partition("\n\n")[0]
    assert {*defaults.EXTRAS} == {name for row in table.splitlines()[2:] for name in named(row)}


def named(row: str) -> list[str]:
    return re.findall(r"`(\w+)`", row.split("|")[1])


def test_every_link_leads_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", TEXT):
        assert (ROOT / target).exists(), target


def test_the_windows_lines_are_the_same_as_the_others() -> None:
    unix, windows = blocks("sh")[0], blocks("bat")[0]
    expected = unix.replace("python3", "py").replace(".venv/bin/", ".venv\\Scripts\\")
    assert expected == windows
