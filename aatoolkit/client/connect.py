"""The entry points of the package: `project`, `collect` and `demo`."""

from __future__ import annotations

import atexit
import secrets
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aatoolkit._util.defaults import DEMO_HOST, needed
from aatoolkit._util.hosts import canonical_host
from aatoolkit.client.client import Client
from aatoolkit.client.project import Project
from aatoolkit.client.settings import has_stand_in
from aatoolkit.errors import ArgumentError, did_you_mean, near_matches

if TYPE_CHECKING:
    from aatoolkit.http import Secret
    from aatoolkit.service import RunningServer


def project(
    host: str,
    *,
    base_url: str | None = None,
    token: str | Secret | None = None,
    cache: bool | str | Path = True,
    offline: bool = False,
    alias: str | None = None,
    **more: Any,
) -> Project:
    """Connect to a project, at a service named here or in the environment.

    Parameters
    ----------
    host : str
        The project's domain.
    base_url, token, cache, offline, **more
        As for `Client`.
    alias : str, optional
        A name that takes the host's place in captions, metadata, sources, explanations, files and
        reports, such as ``"client A"``. The host in a response's own rows is data, and stays there.

    Raises
    ------
    ArgumentError
        If a setting is missing or cannot be used.
    ScopeError
        If the host is not a domain.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> aa.project("acme.example", base_url="https://api.example", cache=False)
    <Project acme.example at https://api.example>
    """
    from aatoolkit.http import Secret

    token = Secret.wrap(token)
    return Client(base_url, token, cache=cache, offline=offline, **more).project(host, alias=alias)


def demo(
    host: str = DEMO_HOST,
    *,
    seed: int = 0,
    answers: int = 5000,
    icc: float = 0.3,
    cache: bool | str | Path = False,
    alias: str | None = None,
    **more: Any,
) -> Project:
    """Connect to a project with synthetic data, served by this process.

    Needs the ``demo`` extra. The service listens on a free port of this machine and stops with
    the process; calls with the same data share it.

    Parameters
    ----------
    host : str
        The project's domain: ``acme.example``, ``globex.example``, ``initech.example`` or
        ``newco.example``.
    seed : int
        The seed of the random data.
    answers : int
        The number of engine answers in the data.
    icc : float
        How much answers to one prompt resemble each other: the intra-class correlation of "a
        brand is mentioned", from 0 to below 1.
    cache : bool or path
        As for `Client`; the demo has another port and token in every process, so that
        responses of an earlier process would not be found.
    alias, **more
        As for `aatoolkit.project`.

    Raises
    ------
    PackageMissing
        If the ``demo`` extra is not installed.
    ArgumentError
        If ``seed`` or ``answers`` is negative, or ``icc`` is not from 0 to below 1.
    ArgumentError
        If the demo has no such host.

    Examples
    --------
    >>> import aatoolkit as aa
    >>> aa.demo().host
    'acme.example'
    """
    from aatoolkit.http import Secret

    if has_stand_in():
        return Client(**more).project(host, alias=alias)
    base_url, token = serve_synthetic(seed, answers, icc)
    if isinstance(host, str) and canonical_host(host) not in synthetic_hosts():
        near = near_matches(host, synthetic_hosts())
        hint = did_you_mean(near, f"there are {', '.join(synthetic_hosts())}")
        raise ArgumentError(f"the demo has no project {host!r}; {hint}", argument="host")
    return project(host, base_url=base_url, token=Secret(token), cache=cache, alias=alias, **more)


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
