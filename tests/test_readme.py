"""The README is true: its code runs, its commands parse, its table lists every section."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from commands import understood

import aatoolkit as aa
from aatoolkit import sections

README = Path(__file__).parents[1] / "README.md"
TEXT = README.read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)


def listed_sections() -> str:
    """The README's table of sections, as the declarations give it."""
    rows = [
        f"| `{name}` | {section.doc} | {', '.join(f'`{table.name}`' for table in section)} |"
        for name, section in sections.all().items()
    ]
    return "\n".join(
        ["| section | what it holds | tables, the main one first |", "| --- | --- | --- |", *rows]
    )


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Run blocks of code one after the other, in an empty folder."""
    pytest.importorskip("matplotlib").use("agg")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AATOOLKIT_CACHE_FOLDER", str(tmp_path / "cache"))

    def run(blocks: Iterable[str], **names: object) -> None:
        for block in blocks:
            exec(compile(block, "README.md", "exec"), names)

    return run


LONG = r"aa\.(Study|Archive|profile\.draft)\(|aa\.(Study|Archive)\.|import polars"
FIRST = [block for block in blocks("python") if not re.search(LONG, block)]
LAST = [block for block in blocks("python") if block not in FIRST]


@pytest.mark.timeout(400)  # 8 s on an idle machine
def test_the_code_blocks_run(run: Callable[..., None], tmp_path: Path) -> None:
    run(FIRST)
    assert {path.name for path in tmp_path.glob("*.parquet")} == {
        "trend.parquet",
        "domains.parquet",
    }


@pytest.mark.thorough
@pytest.mark.timeout(400)  # 10 s on an idle machine
def test_the_blocks_that_take_long_run(run: Callable[..., None], tmp_path: Path) -> None:
    hosts = re.search(r"^hosts = (\[.*\])$", TEXT, re.MULTILINE)
    assert hosts is not None
    run(LAST, aa=aa, project=aa.demo(), client=aa.demo().client, hosts=json.loads(hosts[1]))
    assert {"study.zip", "published", "history", "acme_service.py", "boss.xlsx"} <= {
        path.name for path in tmp_path.iterdir()
    }


def commands() -> list[str]:
    lines = "".join(blocks("sh")).splitlines()
    typed = (line.split("#")[0].rpartition("&& ")[2].strip() for line in lines)
    return [line for line in typed if "aatoolkit" in line.split()[0]]


@pytest.mark.parametrize("line", commands())
def test_every_command_is_understood(line: str) -> None:
    assert understood(shlex.split(line)[1:])


def test_the_table_lists_every_section() -> None:
    start, end = "<!-- sections -->\n", "\n<!-- /sections -->"
    if os.environ.get("AATOOLKIT_UPDATE_README"):
        before, _, rest = TEXT.partition(start)
        README.write_text(
            f"{before}{start}{listed_sections()}{end}{rest.partition(end)[2]}", "utf-8"
        )
        return
    assert start + listed_sections() + end in TEXT


def test_the_windows_lines_are_the_same_as_the_others() -> None:
    unix, windows = blocks("sh")[0], blocks("bat")[0]
    expected = unix.replace("python3", "py").replace(".venv/bin/", ".venv\\Scripts\\")
    assert expected == windows
