"""Start the embedded service behind ``aa.demo()``, with synthetic data."""

from __future__ import annotations

import atexit
import secrets
import threading
from typing import TYPE_CHECKING

from aatoolkit._util.extras import needed
from aatoolkit.errors import ArgumentError

if TYPE_CHECKING:
    from aatoolkit.service import RunningServer

_MOST = 10_000_000
"""The largest number of answers; a million take some minutes to make."""

_lock = threading.Lock()
_running: dict[tuple[int, int, float], tuple[RunningServer, str]] = {}


def serve_synthetic(seed: int, answers: int, icc: float) -> tuple[str, str]:
    """Return the base URL and token of a service with synthetic data, started at the first call.

    There is one service per seed, size and correlation, on a free loopback port; it stops with
    the process.

    Raises
    ------
    ArgumentError
        If a number cannot be used.
    PackageMissing
        If the packages that the service needs are not installed; it says what to install.
    """
    if seed < 0 or answers < 0 or not 0 <= icc < 1:
        raise ArgumentError(
            f"synthetic data take a seed and a number of answers from 0, not {seed} and "
            f"{answers}, and a correlation (icc) from 0 to below 1, not {icc}",
            argument="demo",
        )
    if answers > _MOST:
        raise ArgumentError(
            f"answers={answers} is more than fit; give {_MOST:,} at most", argument="demo"
        )
    with _lock:
        if (seed, answers, icc) not in _running:
            _running[seed, answers, icc] = _start(seed, answers, icc)
        server, token = _running[seed, answers, icc]
    return server.base_url, token


def synthetic_hosts() -> tuple[str, ...]:
    """The hosts that synthetic data have."""
    from aatoolkit.service.synth.world import HOSTS

    return tuple(plan.host for plan in HOSTS)


def _start(seed: int, answers: int, icc: float) -> tuple[RunningServer, str]:
    with needed("the demo needs", "demo"):
        from aatoolkit.service import Accounts, Service, Store, start_server, synthesize

    token = secrets.token_urlsafe(32)
    store = Store.of(synthesize(seed=seed, answers=answers, icc=icc))
    server = start_server(Service(store, Accounts.single(token)))
    # Last in, first out: nobody asks the store when it is closed, and nothing keeps it then.
    atexit.register(_running.clear)
    atexit.register(store.close)
    atexit.register(server.stop)
    return server, token
