"""Writers that are killed or meet each other: nothing is corrupt, lost or there twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from effort import explores

HELPERS = Path(__file__).parents[1] / "helpers"

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.timeout(900),
    pytest.mark.skipif(
        not hasattr(os, "fork"), reason="Windows cannot fork the process that is killed"
    ),
]


def run(*arguments: Any) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, str(HELPERS / "archive_crashing.py"), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        cwd=HELPERS,
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_a_writer_that_is_killed_leaves_whole_runs_and_loses_none(tmp_path: Path) -> None:
    kills = 100 if explores() else 8
    report = run("kill", tmp_path / "history", kills)
    assert report["problems"] == [], report
    assert report["days"] >= kills


def test_writers_that_meet_commit_all_or_are_refused(tmp_path: Path) -> None:
    writers, days = (4, 20) if explores() else (3, 4)
    report = run("writers", tmp_path / "history", writers, days)
    assert report["problems"] == [], report
    assert report["done"] + report.get("refused", 0) == 2 * writers * days
