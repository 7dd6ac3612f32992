"""The benchmark runs, and its answers are what they claim to be."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).parent / "bench" / "normalise.py"


def test_the_benchmark_prints_a_ratio_for_every_contender_asked_for() -> None:
    options = ["--sizes", "100kB", "--repeats", "1", "--no-memory"]
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
