"""Layouts in which the world's APIs deliver tables, as far as they are at hand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from processes import python

LAYOUTS = Path(__file__).parents[4] / "shared" / "layouts"


@pytest.mark.skipif(not LAYOUTS.exists(), reason="the public layouts are not beside this checkout")
def test_most_tables_of_public_layouts_are_found_and_all_is_kept() -> None:
    done = python("-W", "ignore", LAYOUTS / "score.py", LAYOUTS)
    score = dict(re.findall(r"(main tables|failed) (\d+)", done.stdout))
    assert int(score["main tables"]) >= 43, done.stdout
    assert score["failed"] == "0", done.stdout
