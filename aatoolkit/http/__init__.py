"""HTTP: send requests to a service, with a cache, retries and a deadline.

No other package opens connections. `Fetcher.get` takes a `Request`; it returns a `Payload` (the
response) or raises a `FetchError`. The modules, in reading order:

- ``fetcher``: fetches a response from the cache or from the service, with retries.
- ``cache``: stores the responses in one SQLite file, and lists and clears them.
- ``transport``: sends one request to the service, without cache, within a deadline.
- ``judge``: decides whether a response is data or an error, and whether and how long to cache it.
- ``endpoint``: the base URL, and the token, which is masked wherever a response repeats it.
"""

from aatoolkit.http.cache import (
    ResponseCache as ResponseCache,
    cache_info as cache_info,
    clear_cache as clear_cache,
)
from aatoolkit.http.endpoint import BaseUrl as BaseUrl, Secret as Secret
from aatoolkit.http.fetcher import Fetcher as Fetcher
