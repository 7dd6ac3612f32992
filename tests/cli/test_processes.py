"""Every suffix that a command writes, in a process of its own, which holds nothing of this one."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from processes import python
from serving import TOKEN, shared_client


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    service = {"AATOOLKIT_BASE_URL": shared_client().base_url, "AATOOLKIT_TOKEN": TOKEN}
    return python("-m", "aatoolkit", *command, folder=folder, **service)


SUFFIXES = ("parquet", "csv", "json", "ndjson", "html", "htm")


@pytest.mark.parametrize(
    "suffix", ["xlsx", *(pytest.param(suffix, marks=pytest.mark.thorough) for suffix in SUFFIXES)]
)
def test_a_file_of_each_suffix_is_written(suffix: str, tmp_path: Path) -> None:
    words = "report acme.example --section urls" if "htm" in suffix else "read acme.example urls"
    done = run([*words.split(), "--no-cache", "-o", f"table.{suffix}"], tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / f"table.{suffix}").stat().st_size > 0
