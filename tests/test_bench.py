"""The benchmark runs, and its answers are what they claim to be."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

BENCHES = Path(__file__).parent / "bench"
BENCH = BENCHES / "normalise.py"


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


def test_the_benchmark_of_the_cache_compares_with_requests_and_a_stock_session() -> None:
    options = ["--answers", "20", "--latency", "0.001", "--repeats", "1", "--workers", "4"]
    done = subprocess.run(
        [sys.executable, str(BENCHES / "cache.py"), *options],
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = [line.strip() for line in done.stdout.splitlines()]
    for name, times in (("hit to frames", 1), ("aatoolkit", 2), ("stock CachedSession", 2)):
        ratios = [float(line.split()[-1]) for line in lines if line.startswith(name)]
        assert len(ratios) == times
        assert all(ratio > 0 for ratio in ratios)
