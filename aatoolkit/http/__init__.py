"""The only place that speaks HTTP: network and cache, behind one ``Fetcher``."""

from __future__ import annotations

from aatoolkit.http.address import BaseUrl
from aatoolkit.http.cache_admin import CacheInfo, cache_info, clear_cache
from aatoolkit.http.cache_dir import default_folder
from aatoolkit.http.fetcher import MAX_BODY, Fetcher
from aatoolkit.http.secret import Secret

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
