"""Defaults and constants that several packages name: each is stated here and nowhere else."""

from __future__ import annotations

from typing import Final

EXPIRE_AFTER: Final = 3600.0
"""The age, in seconds, up to which a cached answer is used."""

CACHE_SIZE: Final = 2 * 10**9
"""The bytes that the cache may take on disk."""

DEADLINE: Final = 60.0
"""The seconds after which a call ends, retries included."""

MAX_BODY: Final = 64 * 2**20
"""The bytes of the largest answer that is read."""

WORKERS: Final = 8
"""The requests that run concurrently."""

FILTERS: Final = ("engine", "topic", "category", "brand")
"""The filters whose values the scope options list, in the order of the API's document."""

DAYS: Final = (7, 30, 90)
"""The documented windows, in days."""

DEMO_HOST: Final = "acme.example"
"""The project of the demonstration; a host of the synthetic store."""
