"""HTTP: the only package that opens connections, behind one `Fetcher`.

In comes a `Request`, out goes a `Payload` or a typed `FetchError`. In reading order:

- ``fetcher``: answer a request from the cache or from the service; ``single_flight`` joins
  identical requests of several threads, ``retry`` decides about further attempts.
- ``session``: the requests session with its cache, put together in one place.
- ``transport``: one exchange below the cache; ``response`` says what a response means,
  ``error_mapping`` what an exception means, ``body`` decompresses.
- ``deadline``: the limits of time and size of one call; ``sockets`` and ``framing`` enforce them
  and read responses strictly.
- ``cache_backend``: the requests-cache backend over one SQLite file (``database``), its size limit
  (``eviction``), its folder (``cache_dir``), and what ``aatoolkit cache`` does (``cache_admin``).
- ``secret`` holds the token and finds it in answers, ``address`` validates base URLs.
"""

from __future__ import annotations

from aatoolkit.http.address import BaseUrl
from aatoolkit.http.cache_admin import CacheInfo, cache_info, clear_cache
from aatoolkit.http.cache_dir import default_folder
from aatoolkit.http.fetcher import Fetcher
from aatoolkit.http.secret import Secret

__all__ = [
    "BaseUrl",
    "CacheInfo",
    "Fetcher",
    "Secret",
    "cache_info",
    "clear_cache",
    "default_folder",
]
