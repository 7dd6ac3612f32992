"""A scripted HTTP server on loopback: it answers what a test defines, byte for byte."""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import settings

# How long an example takes says more of what else the machine does than of the code.
# The examples of a run are the same each time, so that a failure is the change's and not the day's;
# ``explore`` looks for new ones.
settings.register_profile("fast", deadline=None, max_examples=20, derandomize=True)
settings.register_profile("thorough", deadline=None, max_examples=50, derandomize=True)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile("fast")

# A shell has its background jobs ignore interrupts, and their children too; tests send some.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# What one process compiled, those that tests start need not compile again.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the garbage collector from what was collected, and from coming too often."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
        # Tests make few cycles and many objects: looking for cycles took a fifteenth of the time.
        gc.set_threshold(50_000, 20, 50)


def pytest_unconfigure() -> None:
    """Let go of it again: libraries complain at the end of what is never freed."""
    gc.unfreeze()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for doctests in the package alone: tests have none, and there are many of them."""
    modules = yield
    return [module for module in modules if not isinstance(module, DoctestModule)]


@dataclass
class ReceivedRequest:
    """One request, as the server saw it."""

    path: str
    headers: dict[str, str]

    @property
    def params(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.path).query))


@dataclass
class Reply:
    """One response: a body under a status, or raw bytes that ``write`` puts on the wire."""

    body: bytes | dict[str, Any] | list[Any] = field(default_factory=dict)
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    write: Callable[[Any, threading.Event], None] | None = None


class Scripted:
    """The server; ``script`` is one reply, a list of them, or a function of the request.

    Of a list the last one is repeated.
    """

    def __init__(self) -> None:
        self.script: Any = Reply({"ok": True})
        self.requests: list[ReceivedRequest] = []
        self.closing = threading.Event()
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                if outer.closing.is_set():
                    self.close_connection = True
                    return
                request = ReceivedRequest(
                    self.path, {k.lower(): v for k, v in self.headers.items()}
                )
                _write(self, outer._next(request), outer.closing)

            def log_message(self, *_: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 64

            def handle_error(self, *_: object) -> None:
                """A client that hangs up is part of the tests."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def stop(self) -> None:
        self.closing.set()
        self._server.shutdown()
        self._thread.join(10)
        self._server.server_close()

    def _next(self, request: ReceivedRequest) -> Reply:
        with self._lock:
            self.requests.append(request)
            if isinstance(self.script, list):
                return self.script.pop(0) if len(self.script) > 1 else self.script[0]
        reply = self.script(request) if callable(self.script) else self.script
        assert isinstance(reply, Reply)
        return reply


def _write(handler: BaseHTTPRequestHandler, reply: Reply, closing: threading.Event) -> None:
    if reply.write is not None:
        handler.close_connection = True
        reply.write(handler.wfile, closing)
        return
    body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
    headers = {"Content-Type": "application/json", "Content-Length": str(len(body))}
    handler.send_response(reply.status)
    for name, value in {**headers, **reply.headers}.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)


@pytest.fixture
def scripted() -> Iterator[Scripted]:
    """A scripted server, stopped after the test."""
    server = Scripted()
    yield server
    server.stop()


@pytest.fixture
def reply() -> type[Reply]:
    """How a scripted server's response is written."""
    return Reply


@pytest.fixture
def opened() -> Iterator[Callable[[Any], Any]]:
    """Gives back whatever it is given, and closes it after the test."""
    with ExitStack() as stack:
        yield lambda thing: stack.enter_context(closing(thing))


@pytest.fixture(autouse=True, scope="session")
def _no_settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test sees the settings, tokens, caches or proxies of whoever runs it.

    Set once: what a test itself sets, its ``monkeypatch`` takes back.
    """
    home = str(tmp_path_factory.getbasetemp() / "home")
    with pytest.MonkeyPatch.context() as patched:
        for name in ("BASE_URL", "TOKEN", "TOKEN_FILE"):
            patched.delenv(f"AATOOLKIT_{name}", raising=False)
        for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
            patched.delenv(name, raising=False)
            patched.delenv(name.upper(), raising=False)
        for name in ("HOME", "XDG_CACHE_HOME"):
            patched.setenv(name, home)
        patched.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
        yield
