"""HTTP: send requests to a service, with a cache, retries and a deadline.

No other package opens connections. `Fetcher.get` takes a `Request`; it returns a `Payload` or
raises a `FetchError`. The modules, in reading order:

- ``fetcher``: fetches a response from the cache or from the service, with retries.
- ``cache``: keeps the responses in one SQLite file, and lists and clears them.
- ``transport``: one exchange with the service, below the cache, within a deadline.
- ``judge``: whether a response is data or an error, whether it may be cached, and for how long.
- ``endpoint``: the base URL; and the token, which is masked wherever a response repeats it.
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
