"""Fetchers of the scripted server, with a token and a cache of their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aatoolkit.http import Fetcher

TOKEN = "canary-7f3a9c.TOKEN_~+/=="


@pytest.fixture
def waits() -> list[float]:
    """The waits between attempts, which nobody waits for."""
    return []


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of the cache."""
    return tmp_path / "cache"


@pytest.fixture
def fetcher(scripted: Any, folder: Path, waits: list[float], opened: Any) -> Callable[..., Fetcher]:
    """Makes fetchers of the scripted server, closed after the test."""
    usual = {"base_url": scripted.url, "cache": folder, "token": TOKEN, "sleep": waits.append}
    return lambda **settings: opened(Fetcher(**{**usual, **settings}))
