"""The benchmarks run, print their figures, and write the same figures as JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

BENCHES = Path(__file__).parent / "bench"
BENCH = BENCHES / "normalise.py"


def figures(bench: str, file: Path) -> dict[str, list[dict[str, Any]]]:
    """The figures that a benchmark wrote, by what they are; each is a number of its unit."""
    found = json.loads(file.read_text())
    assert found["bench"] == bench
    assert found["machine"]["packages"]["pandas"]
    assert all(one["unit"] in ("x", "s", "bytes") for one in found["figures"])
    assert all(one["value"] > 0 for one in found["figures"])
    by_what: dict[str, list[dict[str, Any]]] = {}
    for one in found["figures"]:
        by_what.setdefault(one["what"], []).append(one)
    return by_what


@pytest.mark.thorough
def test_the_benchmark_prints_a_ratio_for_every_contender_requested(tmp_path: Path) -> None:
    options = ["--sizes", "100kB", "--repeats", "1", "--no-memory"]
    options += ["--json", str(tmp_path / "figures.json")]
    options += ["--only", "shred", "plain_loop"]
    done = subprocess.run(
        [sys.executable, str(BENCH), *options],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [line[0] for line in lines if line[0] == "shred"] == ["shred", "shred"]
    assert all(float(line[1]) > 0 for line in lines if line[0] == "shred")
    assert "plain_loop failed: AttributeError" in done.stdout
    ratios = figures("normalise", tmp_path / "figures.json")["time / orjson.loads"]
    assert {(one["contender"], one["kind"], one["bytes"]) for one in ratios} == {
        ("orjson.loads", "regular", 10**5),
        ("orjson.loads", "irregular", 10**5),
        ("shred", "regular", 10**5),
        ("shred", "irregular", 10**5),
        ("plain_loop", "regular", 10**5),
    }


def service_figures(file: Path, *options: str) -> dict[str, list[dict[str, Any]]]:
    bench = [str(BENCHES / "service.py"), "--answers", "300", "--turns", "1", "--json", str(file)]
    done = subprocess.run(
        [sys.executable, *bench, *options],
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return figures("service", file)


@pytest.mark.thorough
@pytest.mark.timeout(420)
def test_the_benchmark_of_the_service_measures_start_requests_and_sections(tmp_path: Path) -> None:
    found = service_figures(tmp_path / "figures.json")
    assert len(found["a section"]) == 17
    assert {"start", "an empty request"} <= found.keys()
