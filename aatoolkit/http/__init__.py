"""HTTP: the only package that opens connections, behind one `Fetcher`.

In comes a `Request`, out goes a `Payload` or a typed `FetchError`. In reading order:

- ``fetcher``: a response from the cache or from the service, and further attempts.
- ``cache``: the responses in one SQLite file, and what ``aatoolkit cache`` does.
- ``transport``: one exchange with the service, below the cache, and the watchdog that ends it.
- ``judge``: what a response means, whether it may be kept, and for how long it is fresh.
- ``endpoint``: the base URL, and the token, which is found and hidden in responses.
"""

from aatoolkit.http.cache import CacheInfo, ResponseCache, cache_info, clear_cache
from aatoolkit.http.endpoint import BaseUrl, Secret
from aatoolkit.http.fetcher import Fetcher

__all__ = [
    "BaseUrl",
    "CacheInfo",
    "Fetcher",
    "ResponseCache",
    "Secret",
    "cache_info",
    "clear_cache",
]
