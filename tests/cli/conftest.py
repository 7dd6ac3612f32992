"""Each test of the command line has a folder, a home and settings of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from serving import TOKEN, shared_client


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AATOOLKIT_BASE_URL", "AATOOLKIT_TOKEN", "AATOOLKIT_TOKEN_FILE"):
        monkeypatch.delenv(name, raising=False)
    # The cache of this test alone: that of the process holds what others read.
    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def at_service(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AATOOLKIT_BASE_URL", shared_client().base_url)
    monkeypatch.setenv("AATOOLKIT_TOKEN", TOKEN)
