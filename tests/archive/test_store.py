"""An archive keeps responses as every store does; each of them is a run of its own."""

from __future__ import annotations

import pytest
from stores import StoreContract


@pytest.mark.thorough
@pytest.mark.timeout(600)
class TestArchive(StoreContract):
    opener = "open_archive"
    pause, puts = 8.0, 6
    refuses_all = True
