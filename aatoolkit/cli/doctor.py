"""``aatoolkit doctor``: check the installation, the settings and the connection."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from aatoolkit import __version__
from aatoolkit._util.defaults import EXTRAS
from aatoolkit._util.text import counted
from aatoolkit.client import settings
from aatoolkit.errors import AAToolkitError

_CORE = ("pandas", "pyarrow", "requests", "requests-cache", "ipywidgets", "tqdm")
_PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY")

Diagnosis = tuple[str, bool | None, str]
"""What was checked, whether it is good (None for neither right nor wrong), and the finding."""


def examine(
    base_url: str | None, token: str | None, host: str | None, **limits: Any
) -> Iterator[Diagnosis]:
    """Check the installation, the settings, the cache and, given a host, the service."""
    yield "aatoolkit", True, __version__
    yield "python", True, f"{platform.python_version()} on {platform.system()}"
    for name in _CORE:
        number = _version(name)
        yield name, number is not None, number or "missing; reinstall aatoolkit"
    for extra, names in EXTRAS.items():
        missing = [name for name in names if _version(name) is None]
        versions = ", ".join(f"{name} {_version(name)}" for name in names)
        remedy = f'without {", ".join(missing)}: pip install "aatoolkit[{extra}]"'
        yield f"extra {extra}", None if missing else True, remedy if missing else versions
    # A proxy's address may hold a password, so the report says only that it is set.
    proxies = [name for name in _PROXIES if os.environ.get(name) or os.environ.get(name.lower())]
    yield "proxies", None, f"set: {', '.join(proxies)}" if proxies else "none set"
    yield _cache()
    yield from _connection(base_url, token, host, limits)


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _cache() -> Diagnosis:
    from aatoolkit.http import cache_info

    try:
        info = cache_info()
    except AAToolkitError as error:
        return "cache", False, str(error)
    place = info.folder
    while not place.exists() and place != place.parent:
        place = place.parent
    if not os.access(place, os.W_OK):
        return "cache", False, f"{place} cannot be written to; use --no-cache, or permit it"
    size = f"{counted(info.responses, 'response')}, {info.bytes:,} bytes"
    return "cache", True, f"{size} in {info.folder}"


def _connection(
    base_url: str | None, token: str | None, host: str | None, limits: dict[str, Any]
) -> Iterator[Diagnosis]:
    from aatoolkit.client.client import Client

    try:
        base = settings.find_base_url(base_url)
        client = Client(base, token, cache=False, **limits)
    except AAToolkitError as error:
        # Without a service to ask, the demo still works: only a wanted one is a problem.
        yield "service", False if base_url or host else None, str(error)
        return
    with client:
        yield "service", True, client.base_url
        yield "token", None, "found" if client._has_token else "none found"
        if host is None:
            yield "project", None, "name a HOST to connect to it"
            return
        try:
            yield "project", True, repr(client.project(host).scope_options())
        except AAToolkitError as error:
            yield "project", False, str(error)
