"""Starting and stopping the service, beside the caller and in the foreground."""

from __future__ import annotations

import os
import socket
import threading
import time

import pytest
import requests
from effort import one_in
from processes import python

from aatoolkit.service import (
    Accounts,
    RunningServer,
    Service,
    Store,
    start_server,
)

TOKEN = "a-token-of-the-tests"

SERVE = """
import os, signal, threading, time
from datetime import UTC, datetime
import pandas as pd, requests
from aatoolkit.service import Accounts, Service, Store, run_server

projects = pd.DataFrame({"host": ["acme.example"], "as_of": [datetime(2026, 11, 20, tzinfo=UTC)]})
accounts = Accounts.single("token")
before = signal.getsignal(signal.SIGINT)

path = "scope-options"

def ask(base_url):
    url = f"{base_url}/api/domains/acme.example/{path}"
    answer = requests.get(url, headers={"Authorization": "Bearer token"}, timeout=20)
    print(answer.status_code, flush=True)

def serve(on_ready):
    run_server(
        Service(Store.of({"projects": projects}), accounts),
        on_ready=lambda base_url: threading.Thread(target=on_ready, args=(base_url,)).start(),
    )
"""

ASK_AND_STOP = """
def ask_and_stop(base_url):
    ask(base_url)
    os.kill(os.getpid(), signal.SIGNAL)

serve(ask_and_stop)
print("returned", signal.getsignal(signal.SIGINT) is before)
"""

ON_POSIX = pytest.mark.skipif(
    os.name != "posix",
    reason="Windows has no SIGINT or SIGTERM, and no limit of open files to lower",
)


def ask(server: RunningServer) -> int:
    """The status of one request for scope options."""
    url = f"{server.base_url}/api/domains/acme.example/scope-options"
    headers = {"Authorization": f"Bearer {TOKEN}"}
    return requests.get(url, headers=headers, timeout=20).status_code


@pytest.fixture
def service(tiny_store: Store) -> Service:
    """A service over the tiny store, which nothing serves yet."""
    return Service(tiny_store, Accounts.single(TOKEN))


def test_it_answers_as_soon_as_it_is_started(service: Service) -> None:
    with start_server(service) as server:
        assert server.base_url.startswith("http://127.0.0.1:")
        assert ask(server) == 200
        assert TOKEN not in repr(server)
    with pytest.raises(requests.ConnectionError):
        ask(server)


def test_a_connection_kept_open_does_not_hold_up_the_end(service: Service) -> None:
    with start_server(service) as server, requests.Session() as session:
        session.headers["Authorization"] = f"Bearer {TOKEN}"
        assert session.get(f"{server.base_url}/api/domains/acme.example/scope-options").ok
        began = time.monotonic()
        server.stop()
        assert time.monotonic() - began < 3


def test_a_port_that_is_taken_is_an_error_at_once(service: Service) -> None:
    threads = threading.active_count()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        with pytest.raises(OSError, match=r"[Aa]ddress"):
            start_server(service, port=taken.getsockname()[1])
        assert threading.active_count() <= threads


@ON_POSIX
@pytest.mark.parametrize("name", one_in(2, ["SIGINT", "SIGTERM"]))
def test_a_signal_ends_the_foreground_and_nothing_else(name: str) -> None:
    done = python("-c", SERVE + ASK_AND_STOP.replace("SIGNAL", name))
    assert (done.returncode, done.stdout, done.stderr) == (0, "200\nreturned True\n", "")


def test_importing_the_service_is_light() -> None:
    done = python(
        "-c",
        "import sys, aatoolkit.service as s; before = set(sys.modules); s.Accounts;"
        "print(sorted({'duckdb', 'starlette', 'uvicorn'} & before))",
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")


@pytest.mark.thorough
@pytest.mark.parametrize("missing", ["duckdb", "starlette", "uvicorn"])
def test_a_missing_extra_says_what_to_install(missing: str) -> None:
    done = python(
        "-c",
        f"import sys; sys.modules['{missing}'] = None; import aatoolkit.service\n"
        "print('imported')\n"
        "from aatoolkit.service import start_server",
    )
    assert done.stdout == "imported\n"
    assert done.stderr.startswith("Traceback")
    assert done.stderr.strip().endswith(
        f'{missing}, which is not installed: pip install "aatoolkit[demo]"'
    )
