"""A study keeps responses as every store does."""

from __future__ import annotations

from stores import StoreContract


class TestStudy(StoreContract):
    opener = "open_study"
