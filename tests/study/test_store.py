"""A study keeps responses as every store does."""

from __future__ import annotations

import pytest
from stores import StoreContract


@pytest.mark.timeout(400)  # each line of the manifest is checked whenever a study is opened
class TestStudy(StoreContract):
    opener = "open_study"
