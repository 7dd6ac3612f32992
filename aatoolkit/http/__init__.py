"""HTTP: the only package that opens connections, behind one `Fetcher`.

In comes a `Request`, out goes a `Payload` or a typed `FetchError`. In reading order:

- ``fetcher``: a response from the cache or from the service; ``policy`` decides what is
  kept and what is fresh, ``retry`` about further attempts and identical requests.
- ``cache``: the responses in one SQLite file, and what ``aatoolkit cache`` does.
- ``transport``: one exchange with the service, below the cache; ``attempt`` is the thread that it
  runs in, with the watchdog that ends it, and ``judge`` says what a response means.
- ``secret`` holds the token and finds it in responses, ``address`` validates base URLs.
"""

from __future__ import annotations

from aatoolkit.http.address import BaseUrl
from aatoolkit.http.cache import CacheInfo, ResponseCache, cache_info, clear_cache, default_folder
from aatoolkit.http.fetcher import Fetcher
from aatoolkit.http.secret import Secret

__all__ = [
    "BaseUrl",
    "CacheInfo",
    "Fetcher",
    "ResponseCache",
    "Secret",
    "cache_info",
    "clear_cache",
    "default_folder",
]
