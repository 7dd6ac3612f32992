"""The command line as processes: pipes, terminals and signals."""

from __future__ import annotations

import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator
from fcntl import ioctl
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from serving import TOKEN, shared_client

ROOT = Path(__file__).parents[2]


def environment(base_url: str, **more: str) -> dict[str, str]:
    return {
        **{name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")},
        "PYTHONPATH": str(ROOT),
        "AATOOLKIT_BASE_URL": base_url,
        "AATOOLKIT_TOKEN": TOKEN,
        **more,
    }


def on_a_terminal(command: list[str], rows: int, columns: int, **more: str) -> tuple[str, int]:
    """What a command writes to a terminal of this size, and its exit code."""
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    child = subprocess.Popen(
        [sys.executable, "-m", "aatoolkit", *command],
        stdout=theirs,
        stderr=theirs,
        env=environment(shared_client().base_url, **more),
    )
    os.close(theirs)
    written = b""
    with open(ours, "rb", buffering=0) as terminal:
        try:
            while part := terminal.read(1 << 16):
                written += part
        except OSError:  # Linux says so at its end
            pass
    return written.decode().replace("\r\n", "\n"), child.wait(timeout=60)


@pytest.mark.thorough
def test_a_table_fits_the_terminal() -> None:
    columns = 60
    text, status = on_a_terminal(["read", "acme.example", "chats", "--no-cache"], 24, columns)
    assert status == 0
    assert len(text.splitlines()) < 24
    assert max(map(len, text.splitlines()[:-2])) <= columns
    assert "fit here" in text
    assert "\x1b" not in text


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
