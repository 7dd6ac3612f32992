"""The only place that speaks HTTP: network and cache, behind one ``Fetcher``."""

from __future__ import annotations

from aatoolkit.http.address import BaseUrl
from aatoolkit.http.fetcher import MAX_BODY, Fetcher
from aatoolkit.http.place import default_folder
from aatoolkit.http.secret import Secret
from aatoolkit.http.upkeep import CacheInfo, cache_info, clear_cache

__all__ = [
    "MAX_BODY",
    "BaseUrl",
    "CacheInfo",
    "Fetcher",
    "Secret",
    "cache_info",
    "clear_cache",
    "default_folder",
]
