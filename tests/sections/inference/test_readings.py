"""Readings: numbers, dates, flags and units in every spelling, and identifiers left alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aatoolkit.sections import propose

CASES = json.loads(Path(__file__).with_name("readings.json").read_bytes())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_values_are_read_by_what_they_are(case: dict[str, Any]) -> None:
    """``readings.json``: the values of a column, its name, and what is proposed of it.

    Sentinels are those that break the range of the rest; a unit is likely where name and range
    agree.
    """
    rows = [{"host": f"h{at}", case["name"]: value} for at, value in enumerate(case["values"])]
    answer = {"rows": rows, "until": "2026-11-20"}
    column = propose(answer, "crawl").section.tables[0].columns[1]
    read = {fact: getattr(column, fact) for fact in case["expect"]}
    assert json.loads(json.dumps(read)) == case["expect"]
