"""The benchmarks run, print their figures, and write the same figures as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from processes import python

BENCHES = Path(__file__).parent / "bench"
SMALL = {
    "normalise": "--sizes 100kB --repeats 1 --no-memory --only shred plain_loop",
    "frames": "--rows 500 --repeats 1",
    "cache": "--responses 34 --latency 0 --repeats 1",
    "service": "--answers 300 --turns 1",
}


def run(bench: str, folder: Path) -> tuple[str, list[dict[str, Any]]]:
    """What a benchmark printed on its smallest input, and the figures that it wrote."""
    options = [*SMALL[bench].split(), "--json", folder / "figures.json"]
    process = python("-W", "ignore", BENCHES / f"{bench}.py", *options)
    assert process.returncode == 0, process.stderr
    document = json.loads((folder / "figures.json").read_text())
    assert document["bench"] == bench
    return process.stdout, document["figures"]


@pytest.mark.thorough
@pytest.mark.parametrize("bench", SMALL)
def test_every_figure_is_a_number_of_its_unit(bench: str, tmp_path: Path) -> None:
    printed, figures = run(bench, tmp_path)
    assert ("plain_loop failed: AttributeError" in printed) == (bench == "normalise")
    assert figures
    assert all(figure["unit"] in ("x", "s", "bytes") for figure in figures)
    assert all(figure["value"] > 0 for figure in figures)
    sections = [figure for figure in figures if figure["what"] == "a section"]
    assert len(sections) == (17 if bench == "service" else 0)
