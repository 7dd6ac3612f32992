"""Pictures and statistics take frames of an archive as any other."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

import pytest

import aatoolkit as aa
from aatoolkit.payload import Payload

WEEKS, MISSED = 52, (20, 21)
FIRST = date(2026, 1, 4)


def week(number: int, response: Payload) -> Payload:
    """A response about the seven days of a week, fetched the day after."""
    end = FIRST + timedelta(weeks=number)
    body = json.loads(response.body)
    body["window"] |= {"start": f"{end - timedelta(days=6)}", "end": f"{end}"}
    fetched = datetime.combine(end + timedelta(days=1), time(6), UTC)
    return replace(response, body=json.dumps(body).encode(), fetched_at=fetched)


@pytest.mark.thorough
def test_a_year_by_week_and_engine_has_its_gaps_hatched(place: Path) -> None:
    pytest.importorskip("matplotlib").use("agg")
    response = aa.demo().fetch("overview", days=7)
    archive = aa.Archive(place)
    archive.add(
        (week(number, response) for number in range(WEEKS) if number not in MISSED), progress=False
    )
    weeks = archive.read("overview", "overview_engines")
    silent = weeks["mention_rate"].isna().groupby(weeks["engine"]).all()
    unmeasured = int(silent.sum()) * WEEKS + int((~silent).sum()) * len(MISSED)
    picture = weeks.aa.plot(kind="heatmap", x="window_end", y="mention_rate", color="engine")
    cells = WEEKS * len(silent)
    assert f"{unmeasured} of {cells} cells not measured" in picture.finding
    measured = weeks[weeks["engine"].isin(silent.index[~silent])]
    lines = measured.aa.plot(x="window_end", y="mention_rate", color="engine")
    assert lines.kind == "line"
    assert f"{len(MISSED)} of {WEEKS} times not measured" in lines.finding
    last = measured[measured["window_end"] == measured["window_end"].max()]
    found = last.aa.interval("mention_rate")
    assert (found["mention_rate_low"] <= last["mention_rate"]).all()
    assert (found["mention_rate_high"] >= last["mention_rate"]).all()
