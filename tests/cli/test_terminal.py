"""The command line as processes: pipes, terminals and signals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from serving import TOKEN

ROOT = Path(__file__).parents[2]


def environment(base_url: str) -> dict[str, str]:
    return {
        **{name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")},
        "PYTHONPATH": str(ROOT),
        "AATOOLKIT_BASE_URL": base_url,
        "AATOOLKIT_TOKEN": TOKEN,
    }


@pytest.fixture
def silent() -> Iterator[tuple[str, threading.Event]]:
    """A service that takes requests and never answers."""
    arrived, over = threading.Event(), threading.Event()

    class Silent(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            arrived.set()
            over.wait(60)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Silent)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", arrived
    over.set()
    server.shutdown()
    server.server_close()


@pytest.mark.thorough
@pytest.mark.parametrize(
    "command",
    [
        ["collect", "acme.example", "-o", "all"],
        ["archive", "add", "acme.example", "--dir", "history"],
    ],
)
def test_an_interrupted_run_ends_with_one_line_and_leaves_nothing(
    command: list[str], silent: tuple[str, threading.Event], tmp_path: Path
) -> None:
    base_url, arrived = silent
    child = subprocess.Popen(
        [sys.executable, "-m", "aatoolkit", *command, "--no-cache", "--section", "urls"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=environment(base_url),
    )
    assert arrived.wait(60)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert (out, err) == ("", "aatoolkit: interrupted\n")
    # An interpreter that was within an import ends by the signal itself, which shells call 130.
    assert child.returncode in (130, -signal.SIGINT)
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith(".tmp-")]
