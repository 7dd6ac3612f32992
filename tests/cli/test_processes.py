"""Every suffix that a command writes, in a process of its own, which holds nothing of this one."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from processes import python
from serving import TOKEN, shared_client

READ = ["read", "acme.example", "urls", "--no-cache", "-o"]


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    service = {"AATOOLKIT_BASE_URL": shared_client().base_url, "AATOOLKIT_TOKEN": TOKEN}
    return python("-m", "aatoolkit", *command, folder=folder, **service)


@pytest.mark.parametrize(
    "command",
    [
        [*READ, "table.xlsx"],
        *(
            pytest.param(command, marks=pytest.mark.thorough)
            for command in (
                [*READ, "table.parquet"],
                [*READ, "table.feather"],
                [*READ, "table.csv"],
                [*READ, "table.json"],
                [*READ, "table.ndjson"],
                ["report", "acme.example", "--no-cache", "--section", "urls", "-o", "page.html"],
                ["report", "acme.example", "--no-cache", "--section", "urls", "-o", "page.htm"],
            )
        ),
    ],
    ids=lambda command: command[-1],
)
def test_a_file_of_each_suffix_is_written(command: list[str], tmp_path: Path) -> None:
    done = run(command, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / command[-1]).stat().st_size > 0
