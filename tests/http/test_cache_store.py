"""The cache keeps to the laws of every store of responses."""

from __future__ import annotations

from stores import StoreContract


class TestCache(StoreContract):
    opener = "open_cache"
