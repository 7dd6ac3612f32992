"""``aatoolkit doctor``: check the installation, the settings and the connection."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from aatoolkit import __version__
from aatoolkit._util.defaults import EXTRAS
from aatoolkit.client import settings
from aatoolkit.errors import AAToolkitError

_CORE = ("pandas", "pyarrow", "requests", "requests-cache", "ipywidgets", "tqdm")
_PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY")


@dataclass(frozen=True)
class Diagnosis:
    """The result of one check; ``good`` is None for what is neither right nor wrong."""

    what: str
    good: bool | None
    finding: str


def examine(
    base_url: str | None, token: str | None, host: str | None, **limits: Any
) -> list[Diagnosis]:
    """Check the installation, the settings, the cache and, given a host, the service."""
    return [
        Diagnosis("aatoolkit", True, __version__),
        Diagnosis("python", True, f"{platform.python_version()} on {platform.system()}"),
        *_packages(),
        *_proxies(),
        _cache(),
        *_connection(base_url, token, host, limits),
    ]


def _packages() -> Iterator[Diagnosis]:
    for name in _CORE:
        found = _version(name)
        yield Diagnosis(name, found is not None, found or "missing; reinstall aatoolkit")
    for extra, names in EXTRAS.items():
        missing = [name for name in names if _version(name) is None]
        remedy = f'without {", ".join(missing)}: pip install "aatoolkit[{extra}]"'
        versions = ", ".join(f"{name} {_version(name)}" for name in names)
        yield Diagnosis(
            f"extra {extra}", None if missing else True, remedy if missing else versions
        )


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _proxies() -> Iterator[Diagnosis]:
    # A proxy's address may hold a password, so the report says only that it is set.
    found = [name for name in _PROXIES if os.environ.get(name) or os.environ.get(name.lower())]
    yield Diagnosis("proxies", None, f"set: {', '.join(found)}" if found else "none set")


def _cache() -> Diagnosis:
    from aatoolkit.http import cache_info

    try:
        info = cache_info()
    except AAToolkitError as error:
        return Diagnosis("cache", False, str(error))
    place = info.folder
    while not place.exists() and place != place.parent:
        place = place.parent
    if not os.access(place, os.W_OK):
        return Diagnosis(
            "cache",
            False,
            f"{place} cannot be written to; use --no-cache, or permit it",
        )
    return Diagnosis(
        "cache", True, f"{info.answers} answers, {info.bytes:,} bytes in {info.folder}"
    )


def _connection(
    base_url: str | None, token: str | None, host: str | None, limits: Mapping[str, Any]
) -> Iterator[Diagnosis]:
    from aatoolkit.client.client import Client

    try:
        base = settings.find_base_url(base_url)
        client = Client(base, token, cache=False, **limits)
    except AAToolkitError as error:
        # Without a service to ask, the demo still works: only a wanted one is a problem.
        yield Diagnosis("service", False if base_url or host else None, str(error))
        return
    with client:
        yield Diagnosis("service", True, client.base_url)
        yield Diagnosis("token", None, "found" if client._has_token else "none found")
        if host is None:
            yield Diagnosis("project", None, "name a HOST to connect to it")
            return
        try:
            options = client.project(host).scope_options()
        except AAToolkitError as error:
            yield Diagnosis("project", False, str(error))
            return
        yield Diagnosis("project", True, repr(options))
