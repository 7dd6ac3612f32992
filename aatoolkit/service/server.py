"""Run the service in a background thread, or in the foreground."""

from __future__ import annotations

import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress

import uvicorn

from aatoolkit.service.app import Service

_START_STOP_TIMEOUT_SECONDS = 10.0
"""The timeout for starting and stopping, in seconds."""
_DRAIN_TIMEOUT_SECONDS = 5
"""How long requests may still run when the server stops, in seconds."""


class RunningServer:
    """A server that runs in a thread.

    In a ``with`` statement, it stops at the end of the block.

    Attributes
    ----------
    base_url : str
        The address of the service, such as ``http://127.0.0.1:8765``.
    """

    def __init__(self, service: Service, listener: socket.socket) -> None:
        host, port = listener.getsockname()[:2]
        self.base_url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
        self._server = uvicorn.Server(
            uvicorn.Config(
                service.asgi,
                loop="asyncio",
                http="h11",
                timeout_keep_alive=_DRAIN_TIMEOUT_SECONDS,
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=_DRAIN_TIMEOUT_SECONDS,
            )
        )
        self._thread = threading.Thread(
            target=self._server.run, args=([listener],), name="aatoolkit-service", daemon=True
        )
        self._thread.start()
        deadline = time.monotonic() + _START_STOP_TIMEOUT_SECONDS
        while not self._server.started:
            time.sleep(0.002)
            if not self.is_alive or time.monotonic() > deadline:
                self.stop()
                raise RuntimeError(f"The service did not start at {self.base_url}.")

    @property
    def is_alive(self) -> bool:
        """Whether the server is running."""
        return self._thread.is_alive()

    def __enter__(self) -> RunningServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Finish the running requests and stop the server.

        Raises
        ------
        TimeoutError
            If the server has not ended within ten seconds.
        """
        self._server.should_exit = True
        self._thread.join(_START_STOP_TIMEOUT_SECONDS)
        if self.is_alive:
            raise TimeoutError(f"The service at {self.base_url} did not stop.")


def start_server(service: Service, host: str = "127.0.0.1", port: int = 0) -> RunningServer:
    """Start a server in a thread, and return it when it accepts connections.

    Parameters
    ----------
    service : Service
        The service to run.
    host : str
        The IP address or name to listen at.
    port : int
        The port to listen at; 0 means any free port.

    Returns
    -------
    RunningServer
        The server, whose ``base_url`` is the address to send requests to.

    Raises
    ------
    OSError
        If the address is taken or is not an address of this computer.
    RuntimeError
        If the server does not start within ten seconds.
    """
    address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=address_family)
    # asyncio turns Nagle's algorithm off for sockets that say they are TCP. create_server
    # makes one of protocol 0, with which each answer on a kept connection waits 40 ms.
    tcp_listener = socket.socket(
        listener.family, listener.type, socket.IPPROTO_TCP, fileno=listener.detach()
    )
    return RunningServer(service, tcp_listener)


def run_server(
    service: Service,
    host: str = "127.0.0.1",
    port: int = 0,
    on_ready: Callable[[str], object] | None = None,
) -> None:
    """Run a server in the foreground until Ctrl-C or SIGTERM.

    Parameters
    ----------
    service, host, port
        As for `start_server`.
    on_ready : function, optional
        A function that is called with the base URL when the server accepts connections.

    Raises
    ------
    OSError, RuntimeError
        As for `start_server`.
    """
    previous_handler = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with suppress(KeyboardInterrupt), start_server(service, host, port) as server:
            if on_ready is not None:
                on_ready(server.base_url)
            while server.is_alive:
                time.sleep(0.1)
    finally:
        signal.signal(signal.SIGTERM, previous_handler)
