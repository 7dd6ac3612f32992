"""Run the service: in a background thread, or in the foreground until a signal."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

import uvicorn

from aatoolkit.service.app import Service
from aatoolkit.service.connections import IDLE_SECONDS, HostCheck, TimedProtocol, is_loopback

_SIGNALS: tuple[int, ...] = (signal.SIGINT, signal.SIGTERM)
_START_SECONDS = 10.0
_STOP_SECONDS = 10.0
_DRAIN_SECONDS = 5
"""How long running requests may take once the server is stopping."""


class _Server(uvicorn.Server):
    """A uvicorn server that reports when it is ready, and returns when a signal stops it."""

    def __init__(
        self, service: Service, guard: Callable[[Any], Any], on_ready: Callable[[], object]
    ) -> None:
        super().__init__(
            uvicorn.Config(
                guard(service.asgi),
                loop="asyncio",
                http=TimedProtocol,
                timeout_keep_alive=IDLE_SECONDS,
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=_DRAIN_SECONDS,
            )
        )
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        # uvicorn raises the signal again after stopping, which would end the caller as well.
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.getsignal(number) for number in _SIGNALS}

        def stop(number: int, _frame: FrameType | None) -> None:
            # The same signal again does what it would without us: nobody waits twice.
            signal.signal(number, before[number])
            self.should_exit = True

        try:
            for number in _SIGNALS:
                signal.signal(number, stop)
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


class RunningServer:
    """A server in a thread of its own; made by :func:`start_server`, a context manager.

    Attributes
    ----------
    base_url
        Where it answers, such as ``http://127.0.0.1:8765``.
    """

    def __init__(
        self, service: Service, listener: socket.socket, allowed_hosts: Iterable[str] = ()
    ) -> None:
        self.base_url = _base_url(listener)
        self._ready = threading.Event()
        self._failure: BaseException | None = None
        self._server = _Server(service, _guard(listener, allowed_hosts), self._ready.set)
        self._thread = threading.Thread(
            target=self._run, args=(listener,), name="aatoolkit-service", daemon=True
        )
        self._thread.start()
        self._ready.wait(_START_SECONDS)
        if not self._server.started:
            self.stop()
            raise RuntimeError(f"The service did not start at {self.base_url}.") from self._failure

    def __repr__(self) -> str:
        state = "running" if self._thread.is_alive() else "stopped"
        return f"<RunningServer {self.base_url} {state}>"

    def __enter__(self) -> RunningServer:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Let the requests under way finish, then close every socket; twice is harmless.

        Raises
        ------
        TimeoutError
            If the server has not ended within ten seconds.
        """
        self._server.should_exit = True
        self._thread.join(_STOP_SECONDS)
        if self._thread.is_alive():
            raise TimeoutError(f"The service at {self.base_url} did not stop.")

    def _run(self, listener: socket.socket) -> None:
        with listener:
            try:
                self._server.run([listener])
            except BaseException as error:
                # Before the start the constructor reports it, later the hook of the thread.
                if self._server.started:
                    raise
                self._failure = error
            finally:
                self._ready.set()


def start_server(
    service: Service,
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    allowed_hosts: Iterable[str] = (),
) -> RunningServer:
    """Start a server in a thread; it answers when this returns. It works inside Jupyter.

    Parameters
    ----------
    service
        What is served.
    host
        The address to listen at.
    port
        The port to listen at; 0 takes a free one.
    allowed_hosts
        Names accepted in the Host header beside those of the loopback interface; they matter
        only where the service listens there.

    Raises
    ------
    OSError
        If the address is taken or is not one of this computer.
    RuntimeError
        If the server does not start within ten seconds.
    """
    return RunningServer(service, _listen(host, port), allowed_hosts)


def run_server(
    service: Service,
    host: str = "127.0.0.1",
    port: int = 0,
    on_ready: Callable[[str], object] | None = None,
    *,
    allowed_hosts: Iterable[str] = (),
) -> None:
    """Serve until Ctrl-C or SIGTERM, then return.

    Parameters
    ----------
    service, host, port, allowed_hosts
        As for `start_server`.
    on_ready
        Called once, with the base URL, when the server answers.

    Raises
    ------
    OSError
        If the address is taken or is not one of this computer.
    """
    with _listen(host, port) as listener:
        base_url = _base_url(listener)
        guard = _guard(listener, allowed_hosts)
        _Server(service, guard, lambda: on_ready and on_ready(base_url)).run([listener])


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.create_server((host, port), family=family)
    # asyncio turns Nagle's algorithm off for sockets that say they are TCP. create_server
    # makes one of protocol 0, with which each answer on a kept connection waits 40 ms.
    return socket.socket(made.family, made.type, socket.IPPROTO_TCP, fileno=made.detach())


def _guard(listener: socket.socket, allowed_hosts: Iterable[str]) -> Callable[[Any], Any]:
    """Return the middleware for the application: on loopback, the check of hosts."""
    allowed = allowed_hosts if is_loopback(listener.getsockname()[0]) else None
    return lambda app: HostCheck(app, allowed)


def _base_url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
