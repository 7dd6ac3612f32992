"""Responses of a few days, made of what the demo responses once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

import pytest

import aatoolkit as aa
from aatoolkit.payload import Payload

HOSTS = ("acme.example", "globex.example")
SECTIONS = ("domains", "ranking")
FIRST = date(2026, 9, 28)
FOLDER = "our history? 100% täglich * #1"
"""A folder's name that is no URL, as people's folders have."""

Days = Callable[..., list[Payload]]


@pytest.fixture(scope="session")
def base() -> list[Payload]:
    """One response for each host and section."""
    client = aa.demo().client
    return [client.project(host).fetch(name, days=7) for host in HOSTS for name in SECTIONS]


@pytest.fixture(scope="session")
def days(base: list[Payload]) -> Days:
    """The same responses as if they had been fetched on some days."""

    def fetched(count: int, first: date = FIRST) -> list[Payload]:
        return [
            replace(payload, fetched_at=datetime.combine(day, time(6), UTC))
            for day in (first + timedelta(days=number) for number in range(count))
            for payload in base
        ]

    return fetched


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory, days: Days) -> aa.Archive:
    """An archive of six days in two runs; not to be changed."""
    archive = aa.Archive(tmp_path_factory.mktemp("archive") / FOLDER)
    assert archive.add(days(3))
    assert archive.add(days(3, FIRST + timedelta(days=3)))
    return archive


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where a new archive may be."""
    return tmp_path / FOLDER
