"""Start the embedded service behind ``aa.demo()``, with synthetic data."""

from __future__ import annotations

import atexit
import secrets
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aatoolkit.service import RunningServer

_lock = threading.Lock()
_running: dict[tuple[int, int], tuple[RunningServer, str]] = {}


def serve_synthetic(seed: int, answers: int) -> tuple[str, str]:
    """Return the base URL and token of a service with synthetic data, started at the first call.

    There is one service per seed and size, on a free loopback port; it stops with the process.

    Raises
    ------
    ImportError
        If the packages that the service needs are not installed; it says what to install.
    """
    with _lock:
        if (seed, answers) not in _running:
            _running[seed, answers] = _start(seed, answers)
        server, token = _running[seed, answers]
    return server.base_url, token


def _start(seed: int, answers: int) -> tuple[RunningServer, str]:
    from aatoolkit.service import Accounts, Service, Store, start_server, synthesize

    token = secrets.token_urlsafe(32)
    store = Store.of(synthesize(seed=seed, answers=answers))
    server = start_server(Service(store, Accounts.single(token)))
    atexit.register(server.stop)
    return server, token
